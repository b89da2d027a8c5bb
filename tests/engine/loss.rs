//! Loss: exact expectations on small sessions.

use crate::conversation::{Talk, case, part, text};
use plimsoll_core::analysis::insight::{InsightKind, loss_insights};
use plimsoll_core::analysis::loss::Kept::{Gone, Partly, Verbatim};
use plimsoll_core::analysis::loss::{
    AtRisk, Fault, Loss, Names, blind_edits, references_at_risk, standing, survival,
};
use plimsoll_core::analysis::rereads::{
    ExpectedRereads, FileReads, RereadMeasure, RereadModel, RereadPrices, TokensFetched,
};
use plimsoll_core::engine::{
    Answer, Case, EntryBody, Left, Outcome, PartStatus, PartVisibility, Reply, Request, Schedule,
    TextKind, Visibility, drive, recorded, simulate,
};
use plimsoll_core::presets;
use plimsoll_core::session::{Body, Role};
use plimsoll_core::units::Tokens;
use std::ops::Range;
use std::sync::Arc;

/// Adds a tool call with its result.
fn tool(talk: &mut Talk, id: &str, arguments: &str, result: &str) {
    let call = Body::ToolCall { call: id.into(), tool: "tool".into(), arguments: arguments.into() };
    let result = Body::ToolResult {
        call: id.into(),
        tool: "tool".into(),
        is_error: false,
        text: result.into(),
    };
    talk.message(Role::Assistant, vec![part(call)]);
    talk.message(Role::Tool, vec![part(result)]);
}

/// Returns a session with instructions (0), a request (1), and a call whose result (3) is this text.
fn session_with(result: &str) -> Talk {
    let mut talk = Talk::new();
    talk.message(Role::User, vec![text("Please look.")]);
    tool(&mut talk, "a", "{}", result);
    talk
}

fn says(talk: &mut Talk, answer: &str) {
    talk.message(Role::Assistant, vec![text(answer)]);
}

/// Adds calls and results without names, two messages each.
fn idle(talk: &mut Talk, calls: usize) {
    for idx in 0..calls {
        tool(talk, &format!("idle{idx}"), "{}", "nothing new");
    }
}

fn play(case: &Case, stage: &str) -> Outcome {
    play_with(case, stage, &mut plimsoll_core::engine::Estimator)
}

fn play_with(case: &Case, stage: &str, answers: &mut dyn Answer) -> Outcome {
    let toml = format!("name = \"t\"\nlabel = \"T\"\nhelp = \"\"\n{stage}");
    let policy = presets::parse(&toml).unwrap_or_else(|why| panic!("{why}"));
    let knobs = policy.defaults();
    drive(case, &policy, &knobs, Schedule::Replay, None, answers)
}

/// Returns a stage that drops everything except instructions and the newest message before this call.
fn drop_at(call: usize) -> String {
    stage(call, "do = { drop = {} }")
}

fn stage(call: usize, rest: &str) -> String {
    format!(
        "[[stage]]\nid = \"d\"\nat = \"before_call\"\nwhen = \"call == {}\"\ntake = {{ what = \"messages\", keep = [\"system\", \"last_messages(1)\"] }}\n{rest}",
        call + 1
    )
}

fn at_risk(case: &Case, outcome: &Outcome) -> AtRisk {
    references_at_risk(&Names::new(&case.session), case, outcome)
}

/// Returns call, source and name of each reference at risk.
fn faults(case: &Case, outcome: &Outcome) -> Vec<(usize, usize, String)> {
    let names = Names::new(&case.session);
    let found = references_at_risk(&names, case, outcome);
    let described = |f: &Fault| (f.call, f.source, names.word(f.name).to_owned());
    found.faults.iter().map(described).collect()
}

fn fault(call: usize, source: usize, word: &str) -> (usize, usize, String) {
    (call, source, word.to_owned())
}

#[test]
fn a_name_used_after_its_only_copy_was_dropped_is_at_risk() {
    // Message 3 contains the name, 4 and 5 do not, 6 uses it at call 2 (index).
    let mut talk = session_with("fn parse_amount stands in /home/dev/src/ledger/money.rs");
    idle(&mut talk, 1);
    says(&mut talk, "I change parse_amount now.");
    let case = case(&talk, 100_000);
    let outcome = play(&case, &drop_at(2));
    let found = at_risk(&case, &outcome);
    let refetch = case.ledger.message(3);
    assert_eq!(
        found,
        AtRisk {
            uses: 1,
            faults: vec![Fault { call: 2, message: 6, source: 3, name: 0, refetch }],
            horizon: Some(2),
            refetch,
            fewest: 1,
            ..AtRisk::default()
        }
    );
    // Without a compaction, and before it, nothing is missing.
    assert_eq!(faults(&case, &recorded(&case, Tokens(0), None)), []);
    assert_eq!(faults(&case, &play(&case, &drop_at(9))), []);
}

#[test]
fn a_repeated_name_is_not_at_risk() {
    let mut talk = session_with("parse_amount rounds down");
    idle(&mut talk, 1);
    talk.message(Role::User, vec![text("What about parse_amount?")]);
    says(&mut talk, "parse_amount rounds down.");
    let case = case(&talk, 100_000);
    // The request that repeats the name is the newest message, which is kept.
    assert_eq!(faults(&case, &play(&case, &drop_at(2))), []);
}

#[test]
fn a_missed_name_counts_as_read_again_for_forty_messages() {
    let mut talk = session_with("parse_amount and round_half_even and post_entry");
    talk.message(Role::User, vec![text("Go on.")]); // 4
    says(&mut talk, "First parse_amount."); // 5, call 1
    idle(&mut talk, 19); // 6 to 43
    talk.message(Role::User, vec![text("Go on.")]); // 44
    says(&mut talk, "Then round_half_even."); // 45, call 21
    says(&mut talk, "Then post_entry."); // 46, call 22
    let case = case(&talk, 100_000);
    let outcome = play(&case, &drop_at(1));
    let expected = [fault(1, 3, "parse_amount"), fault(22, 3, "post_entry")];
    assert_eq!(faults(&case, &outcome), expected);
}

#[test]
fn two_names_of_one_message_are_one_reference() {
    let mut talk = session_with("parse_amount and round_half_even");
    idle(&mut talk, 1);
    says(&mut talk, "round_half_even belongs into parse_amount.");
    let case = case(&talk, 100_000);
    let found = at_risk(&case, &play(&case, &drop_at(2)));
    assert_eq!((found.uses, found.faults.len()), (2, 1));
}

#[test]
fn arguments_are_decoded() {
    // Undecoded, the tab before the name would be the letter t.
    let mut talk = session_with("\tthis.agent = 1;");
    idle(&mut talk, 1);
    tool(&mut talk, "b", r#"{"code":"\n\tthis.agent = 2;"}"#, "done");
    let case = case(&talk, 100_000);
    let outcome = play(&case, &drop_at(2));
    assert_eq!(faults(&case, &outcome), [fault(2, 3, "this.agent")]);
}

#[test]
fn absolute_and_relative_paths_are_one_name() {
    let mut talk = session_with("found in /home/dev/project/src/ledger/money.rs");
    idle(&mut talk, 1);
    tool(&mut talk, "b", r#"{"path":"src/ledger/money.rs"}"#, "empty");
    let case = case(&talk, 100_000);
    let outcome = play(&case, &drop_at(2));
    assert_eq!(faults(&case, &outcome), [fault(2, 3, "ledger/money.rs")]);
}

#[test]
fn a_common_name_is_ignored() {
    let mut talk = session_with("main_loop");
    for idx in 0..12 {
        tool(&mut talk, &format!("m{idx}"), "{}", "main_loop");
    }
    says(&mut talk, "main_loop");
    let case = case(&talk, 100_000);
    assert_eq!(at_risk(&case, &play(&case, &drop_at(13))).uses, 0);
}

#[test]
fn a_view_affects_only_its_call() {
    let mut talk = session_with("parse_amount and round_half_even");
    idle(&mut talk, 1);
    says(&mut talk, "parse_amount"); // call 2
    let view = stage(2, "do = { drop = {} }\nmutates = \"view\"");
    talk.message(Role::User, vec![text("Go on.")]);
    says(&mut talk, "round_half_even"); // call 3
    let case = case(&talk, 100_000);
    let expected = [fault(2, 3, "parse_amount")];
    assert_eq!(faults(&case, &play(&case, &view)), expected);
    // If the store had changed too, the next call would also miss it, except for the forty messages.
    let found = at_risk(&case, &play(&case, &drop_at(2)));
    assert_eq!(found.faults.len(), 1);
}

/// Answers every request with this text.
struct Says(&'static str);

impl Answer for Says {
    fn answer(&mut self, _: &Case, _: &Request) -> Reply {
        Reply::Summary(self.0.into())
    }
}

#[test]
fn a_summary_keeps_names_and_a_predicted_one_gives_a_range() {
    let mut talk = session_with("parse_amount stands beside round_half_even");
    idle(&mut talk, 1);
    says(&mut talk, "parse_amount"); // call 2
    talk.message(Role::User, vec![text("Go on.")]);
    says(&mut talk, "round_half_even"); // call 3
    let case = case(&talk, 100_000);
    let stage = stage(
        2,
        "do = { summarize = { max_tokens = \"50\", prefix = \"\", prompt = \"summarize\" } }",
    );
    let real = play_with(&case, &stage, &mut Says("We found parse_amount."));
    assert_eq!(faults(&case, &real), [fault(3, 3, "round_half_even")]);
    assert_eq!(at_risk(&case, &real).fewest, 1);
    let predicted = play(&case, &stage);
    let found = at_risk(&case, &predicted);
    assert_eq!((found.faults.len(), found.fewest), (1, 0));
    assert_eq!(found.horizon, Some(2));
}

#[test]
fn the_remainder_of_a_result_keeps_names() {
    let mut talk = session_with(&format!("parse_amount {}round_half_even", "line ".repeat(400)));
    says(&mut talk, "parse_amount"); // call 1
    talk.message(Role::User, vec![text("Go on.")]);
    says(&mut talk, "round_half_even"); // call 2
    let case = case(&talk, 100_000);
    let cut = "[[stage]]\nid = \"c\"\nat = \"tool_result\"\nwhen = \"true\"\ndo = { cut = { unit = \"chars\", over = \"100\", keep = \"50\", head = 1.0, marker = \"[cut]\" } }";
    let outcome = play(&case, cut);
    assert_eq!(faults(&case, &outcome), [fault(2, 3, "round_half_even")]);
}

const CODE: &str = "fn settle(entry: Entry) {\n    ledger.post(entry);\n    ledger.close();\n}\n";

/// Returns a session that reads a file (3) and edits it two calls later with this call (6).
fn edited(arguments: &str) -> Case {
    let mut talk = session_with(CODE);
    idle(&mut talk, 1);
    tool(&mut talk, "edit", arguments, "ok");
    case(&talk, 100_000)
}

#[test]
fn an_edit_of_removed_lines_is_blind_for_every_tool() {
    let old = "    ledger.post(entry);\\n    ledger.close();";
    let patch = "*** Begin Patch\\n*** Update File: a.rs\\n@@\\n-    ledger.post(entry);\\n+    x();\\n     ledger.close();\\n*** End Patch";
    let search = "------- SEARCH\\n    ledger.post(entry);\\n    ledger.close();\\n=======\\n    x();\\n+++++++ REPLACE";
    for arguments in [
        format!(r#"{{"old_string":"{old}","new_string":"x();"}}"#),
        format!(r#"{{"oldText":"{old}","newText":"x();"}}"#),
        format!(r#"{{"edits":[{{"old_str":"{old}","new_str":"x();"}}]}}"#),
        format!(r#"{{"command":["apply_patch","{patch}"]}}"#),
        format!(r#"{{"diff":"{search}"}}"#),
        patch.replace("\\n", "\n"),
    ] {
        let case = edited(&arguments);
        let found = at_risk(&case, &play(&case, &drop_at(2)));
        let blind: Vec<_> = found.blind_edits.iter().map(|e| (e.call, e.lines, e.seen)).collect();
        assert_eq!((found.edits, blind), (1, vec![(2, 2, 0)]), "{arguments}");
        let alone = blind_edits(&Names::new(&case.session), &case, &play(&case, &drop_at(2)));
        assert_eq!(alone, found.blind_edits);
        assert_eq!(found.horizon, Some(2));
        let whole = at_risk(&case, &play(&case, &drop_at(9)));
        assert_eq!((whole.edits, whole.blind_edits.len()), (1, 0));
    }
}

#[test]
fn an_edit_of_unseen_lines_is_not_judged() {
    let case = edited(r#"{"old_string":"    something_else(entirely);","new_string":"x();"}"#);
    assert_eq!(at_risk(&case, &play(&case, &drop_at(2))).edits, 0);
    // A search is not an edit, although its argument has the name of an edit's argument.
    let case = edited(r#"{"search":"    ledger.post(entry);"}"#);
    assert_eq!(at_risk(&case, &play(&case, &drop_at(2))).edits, 0);
}

#[test]
fn names_in_a_recorded_summary_are_not_at_risk() {
    let mut talk = session_with("parse_amount beside round_half_even");
    idle(&mut talk, 1);
    says(&mut talk, "parse_amount"); // call 2
    talk.message(Role::User, vec![text("Go on.")]);
    says(&mut talk, "round_half_even"); // call 3
    talk.compact_before(4, "We know parse_amount.");
    let case = case(&talk, 100_000);
    let really = recorded(&case, Tokens(0), None);
    // The summary is message 4 of the file.
    assert_eq!(faults(&case, &really), [fault(3, 3, "round_half_even")]);
}

/// Returns the visible text of each message in a context, and the policy's own texts, including replacements of parts.
#[derive(Debug, PartialEq)]
struct Shown {
    messages: Vec<Vec<Option<Arc<str>>>>,
    texts: Vec<Arc<str>>,
}

/// Placeholder for an unchanged part.
fn kept() -> Arc<str> {
    "kept".into()
}

fn of_context(case: &Case, outcome: &Outcome) -> Shown {
    let session = &case.session;
    let missing = |m: &plimsoll_core::session::Message| vec![None; m.parts.len()];
    let mut messages: Vec<_> = session.messages.iter().map(missing).collect();
    let mut texts = Vec::new();
    for entry in &outcome.context.entries {
        match &entry.body {
            EntryBody::Original(m) => messages[*m as usize].fill(Some(kept())),
            EntryBody::Written(written) => texts.push(Arc::clone(&written.text)),
            EntryBody::Edited(edited) => {
                let parts = messages[edited.message as usize].iter_mut();
                for (part, status) in parts.zip(edited.parts.as_slice()) {
                    *part = match status {
                        PartStatus::Kept => Some(kept()),
                        PartStatus::Removed { .. } => None,
                        PartStatus::Cleared { marker } => {
                            let marker = &outcome.context.markers[*marker as usize];
                            match marker.left {
                                Left::All => Some(kept()),
                                Left::Some => Some(Arc::clone(&marker.text)),
                                Left::Nothing | Left::Elsewhere => {
                                    texts.push(Arc::clone(&marker.text));
                                    Some(Arc::clone(&marker.text))
                                }
                            }
                        }
                    };
                }
            }
        }
    }
    sorted(messages, texts)
}

fn sorted(messages: Vec<Vec<Option<Arc<str>>>>, mut texts: Vec<Arc<str>>) -> Shown {
    texts.sort();
    texts.dedup();
    Shown { messages, texts }
}

fn of_seen(case: &Case, outcome: &Outcome, call: usize) -> Shown {
    let (session, received) = (&case.session, &outcome.received);
    let end = session.calls[call].context_end;
    let of = |(idx, m): (usize, &plimsoll_core::session::Message)| {
        let is_there = m.in_history && idx < end;
        vec![is_there.then(kept); m.parts.len()]
    };
    let mut messages: Vec<_> = session.messages.iter().enumerate().map(of).collect();
    for change in received.changes.iter().filter(|c| c.call as usize <= call) {
        for message in change.messages.clone() {
            let parts = &mut messages[message as usize];
            match change.now {
                Visibility::Whole => parts.fill(Some(kept())),
                Visibility::Gone => parts.fill(None),
                Visibility::Partly(first) => {
                    let states = received.parts_from(first, parts.len());
                    for (part, sight) in parts.iter_mut().zip(states) {
                        *part = match sight {
                            PartVisibility::Kept => Some(kept()),
                            PartVisibility::Gone => None,
                            PartVisibility::Text(text) => {
                                Some(Arc::clone(&received.texts[*text as usize].text))
                            }
                        };
                    }
                }
            }
        }
    }
    let mut is_there = vec![false; received.texts.len()];
    for change in received.text_changes.iter().filter(|c| c.call as usize <= call) {
        assert_ne!(is_there[change.text as usize], change.is_there, "no change");
        is_there[change.text as usize] = change.is_there;
    }
    let texts = received.texts.iter().zip(is_there).filter(|(_, is)| *is);
    assert!(texts.clone().all(|(text, _)| text.kind != TextKind::Remainder));
    sorted(messages, texts.map(|(text, _)| Arc::clone(&text.text)).collect())
}

/// Returns a session on which every policy acts: long results, and a window for a third of them.
fn crowded() -> Case {
    let mut talk = Talk::new();
    for turn in 0..12 {
        talk.turn(5, 40 + 90 * (turn % 3));
    }
    case(&talk, 4_000)
}

#[test]
fn the_record_of_a_call_equals_its_context() {
    let case = crowded();
    let mut changes = 0;
    for preset in presets::PRESETS {
        let policy = presets::by_name(preset.name).expect("bundled");
        let mut knobs = policy.defaults();
        for knob in &policy.knobs {
            if knob.name == "output_reserve" {
                policy.set(&mut knobs, "output_reserve", 500.0).ok();
            }
        }
        let outcome = simulate(&case, &policy, &knobs, None);
        changes += outcome.received.changes.len();
        for call in (0..case.session.calls.len()).step_by(3) {
            let until = simulate(&case, &policy, &knobs, Some(call));
            assert_eq!(
                of_seen(&case, &outcome, call),
                of_context(&case, &until),
                "{} at {call}",
                preset.name
            );
        }
    }
    assert!(changes > 100, "{changes}");
}

#[test]
fn an_instruction_is_missing_until_it_is_repeated() {
    let mut talk = Talk::new();
    talk.message(
        Role::User,
        vec![text("Fix the parser. Never push to main! Why do you never ask?")],
    );
    idle(&mut talk, 3); // calls 0 to 2
    talk.message(Role::User, vec![text("Once more: Never push to main!")]); // 8
    idle(&mut talk, 1); // call 3
    let case = case(&talk, 100_000);
    let names = Names::new(&case.session);
    let described: Vec<_> = names.instructions().iter().map(|i| (i.message, &*i.text)).collect();
    let again = (8, "Once more: Never push to main!");
    assert_eq!(described, [(1, "Never push to main!"), again]);
    let missing = |outcome: &Outcome| standing(&names, &case, outcome).remove(0).gone;
    assert_eq!(missing(&play(&case, &drop_at(1))), [Range { start: 1, end: 3 }]);
    assert!(missing(&play(&case, &drop_at(9))).is_empty());
    assert!(missing(&recorded(&case, Tokens(0), None)).is_empty());
}

#[test]
fn text_that_programs_write_as_the_user_is_no_instruction() {
    let mut talk = Talk::new();
    talk.message(
        Role::User,
        vec![text("<system-reminder>\nYou must be brief.\n</system-reminder>\nHello there")],
    );
    tool(&mut talk, "a", "{}", "You must never do that.");
    let session = talk.session();
    assert!(Names::new(&session).instructions().is_empty());
}

#[test]
fn survival_is_compared_at_the_same_call_as_the_recorded_summary() {
    let mut talk = Talk::new();
    talk.message(Role::User, vec![text("Never touch the generated parser tables.")]);
    talk.message(Role::User, vec![text("Always answer in German.")]);
    tool(
        &mut talk,
        "a",
        r#"{"path":"/w/src/ledger/money.rs","content":"parse_amount round_half_even"}"#,
        "ok",
    );
    tool(&mut talk, "b", r#"{"path":"src/app/main.rs","content":"x"}"#, "ok");
    idle(&mut talk, 1);
    talk.message(Role::User, vec![text("Go on.")]);
    says(&mut talk, "parse_amount in ledger/money.rs, round_half_even in app/main.rs");
    talk.compact_before(
        9,
        "We wrote parse_amount in money.rs. Do not ever touch generated tables of the parser.",
    );
    let case = case(&talk, 100_000);
    let names = Names::new(&case.session);
    let kept = |outcome: &Outcome| {
        let found = survival(&names, &case, outcome, 0).expect("a call came after");
        let mut words: Vec<_> =
            found.names.iter().map(|(name, kept)| (names.word(*name).to_owned(), *kept)).collect();
        words.sort();
        let instructions: Vec<_> = found.instructions.iter().map(|(_, kept)| *kept).collect();
        (found.call, words, instructions, found.files)
    };
    let word = |word: &str, kept| (word.to_owned(), kept);
    let (call, words, instructions, files) = kept(&recorded(&case, Tokens(0), None));
    assert_eq!(call, 3);
    assert_eq!(
        words,
        [
            word("app/main.rs", Gone),
            word("ledger/money.rs", Partly),
            word("parse_amount", Verbatim),
            word("round_half_even", Gone),
        ]
    );
    assert_eq!(instructions, [Partly, Gone]);
    assert_eq!(files, [("ledger/money.rs".into(), Partly), ("app/main.rs".into(), Gone)]);
    let (_, words, instructions, files) = kept(&play(&case, &drop_at(9)));
    assert!(words.iter().all(|(_, kept)| *kept == Verbatim));
    assert_eq!(instructions, [Verbatim, Verbatim]);
    assert!(files.iter().all(|(_, kept)| *kept == Verbatim));
}

/// Returns coefficients that are easy to calculate with: half of the files that left the context (40 to 60 %) are read
/// again and fetch twice their tokens. None of those that stay is read again.
fn half_is_read_again() -> RereadModel {
    let mut covariance = [[0.0; 8]; 8];
    // p (1 - p) x 1.96 standard errors of 0.2 on each side of p = 0.5 are 0.098.
    covariance[0][0] = 0.04;
    RereadModel {
        source: "a test".to_owned(),
        removed: [0.0; 4],
        removed_known: [0.0; 5],
        held: [-40.0, 0.0, 0.0, 0.0],
        covariance,
        most_uses: 25,
        tokens: TokensFetched { factor: 2.0, low: 1.0, high: 4.0 },
    }
}

#[test]
fn diagnose_reports_blind_edits_and_expected_rereads_of_a_lane() {
    let mut talk = Talk::new();
    talk.message(Role::User, vec![text("Please look.")]);
    tool(&mut talk, "a", r#"{"path":"src/ledger.rs"}"#, CODE); // 2 and 3, call 0
    idle(&mut talk, 1);
    let edit = r#"{"path":"src/ledger.rs","old_string":"    ledger.post(entry);\n    ledger.close();","new_string":"x();"}"#;
    tool(&mut talk, "b", edit, "ok"); // call 2
    let case = case(&talk, 100_000);
    let (names, files) = (Names::new(&case.session), FileReads::new(&case));
    let measure = RereadMeasure {
        model: &half_is_read_again(),
        files: &files,
        prices: &RereadPrices::unknown(case.session.calls.len()),
    };
    let of = |outcome: &Outcome| {
        let loss = Loss::of(&names, &case, outcome);
        (loss, measure.rereads(&case, outcome))
    };
    let ((lane, expected), (floor, none)) =
        (of(&play(&case, &drop_at(2))), of(&recorded(&case, Tokens(0), None)));
    let insights = |lane: Option<&str>, loss: (&Loss, &ExpectedRereads), floor: &Loss| {
        loss_insights(&case, (&names, &files), lane, loss, floor)
    };
    let mine = Some("mine");
    let found = insights(mine, (&lane, &expected), &floor);
    let kinds: Vec<_> =
        found.iter().map(|i| (i.kind, i.lane.as_deref(), i.call, i.message)).collect();
    assert_eq!(
        kinds,
        [
            (InsightKind::BlindEdits, mine, Some(2), Some(6)),
            (InsightKind::ExpectedRereads, mine, Some(2), Some(3)),
        ]
    );
    assert_eq!(
        found[0].text,
        "1 of 1 edit would have failed: the text to replace was no longer in the context."
    );
    // Twice the tokens of the file, of half a file.
    let read = case.session.messages[3].parts.start;
    let tokens = case.ledger.part(read).short();
    assert_eq!(
        found[1].text,
        format!(
            "Expected: the agent re-reads about 0.5 files (0.4 to 0.6), {tokens} tokens; up to call 2 (67 % of the session) the lane had every file that it read."
        )
    );
    assert_eq!(
        found[1].evidence,
        "1 removal of a file's content; most likely read again: src/ledger.rs (50 %, removed at call 3)"
    );
    // Blind edits that the recorded context has too are not reported. Its re-reads do not excuse those of a lane.
    let same = insights(mine, (&lane, &expected), &lane);
    assert_eq!(same, found[1..]);
    assert_eq!(insights(mine, (&floor, &none), &floor), []);
    assert_eq!(insights(None, (&lane, &expected), &floor), []);
}

#[test]
fn an_instruction_that_left_the_context_is_reported() {
    let mut talk = Talk::new();
    talk.message(Role::User, vec![text("Never push to main!")]);
    idle(&mut talk, 3);
    let case = case(&talk, 100_000);
    let (names, files) = (Names::new(&case.session), FileReads::new(&case));
    let loss = Loss::of(&names, &case, &play(&case, &drop_at(1)));
    let none = ExpectedRereads::default();
    let found =
        loss_insights(&case, (&names, &files), Some("mine"), (&loss, &none), &Loss::default());
    assert_eq!(found.len(), 1);
    assert_eq!((found[0].kind, found[0].message), (InsightKind::InstructionGone, Some(1)));
    assert_eq!(
        found[0].text,
        "1 of 1 standing instruction is no longer verbatim in the context: “Never push to main!”."
    );
    assert_eq!(
        found[0].evidence,
        "given in message 2, first missing at call 2, missing at 2 of 3 calls"
    );
}
