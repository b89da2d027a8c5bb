//! Questions of every template.

use super::{KnownFacts, SelectedProbes, write};
use crate::analysis::facts::{Fact, FactKind};
use crate::session::{Body, Draft, ModelVendor, Part, Role, Session, SessionBuilder, Source};

fn part(body: Body) -> Part {
    Part { body, record: 0, block: 0 }
}

/// Makes a session: a request, then pairs of a tool call and its result, and an answer.
fn session(n_pairs: usize) -> Session {
    let mut builder = SessionBuilder::new(Source {
        name: "talk".to_owned(),
        format: "openai_chat",
        bytes: Vec::new().into(),
    });
    builder.default_vendor(ModelVendor::OpenAi);
    let text = |text: &str| vec![part(Body::Text(text.into()))];
    builder.message(Draft::new(Role::User, text("Begin.")));
    for idx in 0..n_pairs {
        let (call, tool) = (format!("c{idx}"), "bash");
        let call_body = Body::ToolCall {
            call: call.as_str().into(),
            tool: tool.into(),
            arguments: "{}".into(),
        };
        let result = Body::ToolResult {
            call: call.into(),
            tool: tool.into(),
            is_error: false,
            text: "output".into(),
        };
        builder.message(Draft::new(Role::Assistant, vec![part(call_body)]));
        builder.message(Draft::new(Role::Tool, vec![part(result)]));
    }
    builder.message(Draft::new(Role::Assistant, text("Done.")));
    builder.finish()
}

/// A fact in the call or result (`offset` 0 or 1) of a pair.
fn fact(kind: FactKind, pair: u32, offset: u32, text: &str, detail: &str) -> Fact {
    let idx = 1 + 2 * pair + offset;
    Fact {
        kind,
        message: idx,
        part: idx,
        nth_part: 0,
        span: 0..1,
        text: text.into(),
        detail: detail.into(),
        until: None,
        uses: Box::default(),
    }
}

fn replaced(fact: Fact, pair: u32) -> Fact {
    Fact { until: Some(1 + 2 * pair), ..fact }
}

fn written(facts: &[Fact], n_pairs: usize, call: usize) -> SelectedProbes {
    let session = session(n_pairs);
    write(&KnownFacts::new(&session, facts, call), 100, |_| true)
}

fn question<'a>(written: &'a SelectedProbes, template: &str) -> Vec<(&'a str, &'a str)> {
    let own = written.probes.iter().filter(|p| p.template == template);
    own.map(|p| (&*p.truth, &*p.distractor)).collect()
}

#[test]
fn every_template_asks_about_the_state_at_the_call() {
    use FactKind::{Command, Constraint, Error, File, Plan, Value};
    let facts = [
        fact(Constraint, 0, 0, "Never push to main.", ""),
        fact(File, 0, 0, "src/read.rs", "read"),
        fact(File, 1, 0, "src/edited.rs", "edited"),
        replaced(fact(Command, 2, 0, "cargo test", "failed (exit code 101)"), 4),
        fact(Error, 2, 1, "error[E0308]: mismatched types", "error[E0308]"),
        fact(Command, 3, 0, "npm run lint", "failed"),
        fact(Error, 3, 1, "TypeError: x is not a function", "TypeError"),
        fact(Command, 4, 0, "cargo test", "passed"),
        fact(Plan, 5, 0, "write the docs", "open"),
        fact(Plan, 5, 0, "fix the parser", "done"),
        fact(Value, 6, 1, "max_size = 4096", "4096"),
        fact(Value, 6, 1, "timeout: 3000", "3000"),
        fact(Value, 7, 1, "n_workers = 12", "12"),
        fact(Value, 8, 1, "unseen = 7777", "7777"),
    ];
    // The last call but one: everything before pair 8.
    let all = written(&facts, 9, 8);
    let of = |template| question(&all, template);
    assert_eq!(of("constraint"), [("Never push to main.", "Always push to main.")]);
    assert_eq!(of("modified"), [("src/edited.rs", "src/read.rs")]);
    assert_eq!(of("plan"), [("write the docs", "fix the parser")]);
    let mut outcomes: Vec<_> = all.probes.iter().filter(|p| p.template == "outcome").collect();
    outcomes.sort_by_key(|probe| probe.message);
    assert!(outcomes[0].question.contains("`npm run lint`"));
    assert_eq!(outcomes[0].truth, "It failed.");
    assert!(outcomes[1].question.contains("`cargo test`"));
    assert_eq!(outcomes[1].truth, "It passed.");
    let errors = of("error");
    let types = ("error[E0308]: mismatched types", "TypeError: x is not a function");
    assert!(errors.len() == 2 && errors.contains(&types), "{errors:?}");
    let values = of("value");
    assert!(values.contains(&("4096", "3000")) && values.contains(&("3000", "4096")), "{values:?}");
    assert_eq!(values.len(), 3, "what comes later is unknown: {values:?}");
    for (truth, other) in of("order") {
        assert!(truth != other);
    }
    assert_eq!(of("order").len(), 2, "the first action has no earlier one");
    assert!(all.probes.iter().all(|p| p.call == 8 && p.message < 17));
}

#[test]
fn facts_without_a_plausible_false_option_are_counted() {
    let facts = [
        fact(FactKind::Plan, 0, 0, "write the docs", "open"),
        fact(FactKind::Value, 0, 1, "size: 4096", "4096"),
        fact(FactKind::Constraint, 0, 0, "用中文回答", ""),
        fact(FactKind::File, 0, 0, "src/edited.rs", "edited"),
    ];
    let all = written(&facts, 2, 2);
    assert_eq!(all.probes, []);
    assert_eq!(all.without_distractor, 4);
    assert_eq!(written(&[], 0, 0), SelectedProbes::default());
}

#[test]
fn probes_are_selected_evenly_and_the_rest_is_counted() {
    let mut facts: Vec<_> =
        (0..20).map(|n| fact(FactKind::Command, n, 0, &format!("run {n}"), "passed")).collect();
    facts.push(fact(FactKind::Constraint, 0, 0, "Never push to main.", ""));
    let session = session(21);
    let known = KnownFacts::new(&session, &facts, 21);
    let some = write(&known, 5, |_| true);
    assert_eq!(some.probes.len(), 5);
    assert_eq!(question(&some, "constraint").len(), 1);
    assert_eq!(question(&some, "outcome").len(), 2);
    // 20 outcomes, 19 orders and a constraint.
    assert_eq!(some.above_maximum, 35);
    assert_eq!(some, write(&known, 5, |_| true), "the same in every run");
    let none = write(&known, 5, |probe| probe.message == 999);
    assert_eq!((none.probes.len(), none.above_maximum), (0, 0));
}
