//! Stages as sentences, and the names of their options as policy files write them.

use crate::engine::{Action, Boundary, Cut, Hook, Keep, KnobRole, Mutates, Stage, TakeKind, Unit};

/// Formats a stage as a sentence: "before call, when used >= …: drop messages; keeps system; …".
pub(super) fn sentence(stage: &Stage) -> String {
    let hook = hook(stage.at).replace('_', " ");
    let mut clauses = vec![format!("{hook}, when {}: {}", stage.when.text, action(stage))];
    if !stage.take.keep.is_empty() {
        let keep: Vec<_> = stage.take.keep.iter().map(kept).collect();
        clauses.push(format!("keeps {}", keep.join(", ")));
    }
    let results = &stage.take.results;
    for (word, tools) in [("only of", &results.only), ("not of", &results.except)] {
        if !tools.is_empty() {
            clauses.push(format!("{word} {}", tools.join(", ")));
        }
    }
    if results.repeated {
        clauses.push("only results that an identical later call returned again".to_owned());
    }
    if let Some(most) = &stage.take.oldest {
        clauses.push(format!("no more than the oldest {}", most.text));
    }
    if stage.action.takes() == Some(TakeKind::Messages) {
        clauses.push(format!("cuts at {}", boundary(stage.take.boundary)));
    }
    if stage.mutates == Mutates::View {
        clauses.push("for this call only".to_owned());
    }
    if let Some(calls) = &stage.delay {
        clauses.push(format!("takes effect {} calls later", calls.text));
    }
    if let Some(least) = &stage.guard.min_saved {
        clauses.push(format!("only if more than {} tokens are saved", least.text));
    }
    if stage.guard.must_shrink {
        clauses.push("only if the context shrinks".to_owned());
    }
    if stage.guard.cooldown.text != "0" {
        clauses.push(format!("then pauses for {} calls", stage.guard.cooldown.text));
    }
    if let Some(minutes) = &stage.guard.cold {
        clauses.push(format!("only after {} minutes without a call, or at overflow", minutes.text));
    }
    clauses.join("; ")
}

/// Formats the stage's action and its objects.
fn action(stage: &Stage) -> String {
    let objects = objects(stage.take.what).replace('_', " ");
    match &stage.action {
        Action::Clear(clear) => {
            format!("clear {objects}, leaving \"{}\"", clear.marker.escape_debug())
        }
        Action::Drop(drop) => match &drop.notice {
            Some(notice) => format!("drop {objects}, leaving \"{}\"", notice.escape_debug()),
            None => format!("drop {objects}"),
        },
        Action::Summarize(s) => {
            let size_only =
                if s.is_opaque { " (size only: encrypted for the provider)" } else { "" };
            format!(
                "replace {objects} with a summary of at most {} tokens{size_only}",
                s.max_tokens.text
            )
        }
        Action::Cut(cut) => cut_action(cut),
        Action::Dedupe(dedupe) => format!(
            "replace {objects} that a later identical one repeats, leaving \"{}\"",
            dedupe.pointer.escape_debug()
        ),
        Action::Log(_) => "write a line to the system's own log".to_owned(),
        Action::Named(named) => {
            let numbers = named.numbers.iter();
            let numbers = numbers.map(|(name, expr)| format!("{name} = {}", expr.text));
            let numbers: Vec<_> = numbers.collect();
            format!("{} ({}): {}", named.spec.name, numbers.join(", "), named.spec.help)
        }
    }
}

/// Formats the action of a cut.
fn cut_action(cut: &Cut) -> String {
    let unit = match cut.unit {
        Unit::Chars => "characters",
        Unit::Bytes => "bytes",
    };
    let lines = cut.lines.as_ref();
    let lines = lines.map_or_else(String::new, |n| format!(" or {} lines", n.text));
    let whole = if cut.spills { "; saves the whole result to a file" } else { "" };
    let (over, keep, head) = (&cut.over.text, &cut.keep.text, 100.0 * cut.head);
    format!(
        "cut results of more than {over} {unit}{lines} to {keep}, {head} % of it from the start{whole}"
    )
}

/// Returns the name of a role.
pub(super) fn role_name(role: KnobRole) -> &'static str {
    match role {
        KnobRole::CompressionTrigger => "compression_trigger",
        KnobRole::KeepRecent => "keep_recent",
        KnobRole::PruneProtect => "prune_protect",
        KnobRole::PruneMinimum => "prune_minimum",
        KnobRole::SpareTurns => "spare_turns",
        KnobRole::OutputReserve => "output_reserve",
        KnobRole::SummaryMaxTokens => "summary_max_tokens",
        KnobRole::Cooldown => "cooldown",
    }
}

/// Returns the name of a hook.
pub(super) fn hook(hook: Hook) -> &'static str {
    match hook {
        Hook::ToolResult => "tool_result",
        Hook::Resume => "resume",
        Hook::TurnStart => "turn_start",
        Hook::AfterTools => "after_tools",
        Hook::BeforeCall => "before_call",
        Hook::OverflowError => "overflow_error",
        Hook::AfterCall => "after_call",
        Hook::TurnEnd => "turn_end",
        Hook::Manual => "manual",
    }
}

/// Returns the name of the objects that a stage takes.
pub(super) fn objects(what: TakeKind) -> &'static str {
    match what {
        TakeKind::Messages => "messages",
        TakeKind::ToolResults => "tool_results",
    }
}

/// Returns the name of a boundary.
pub(super) fn boundary(boundary: Boundary) -> &'static str {
    match boundary {
        Boundary::None => "none",
        Boundary::Pair => "pair",
        Boundary::Turn => "turn",
        Boundary::NextTurn => "next_turn",
    }
}

/// Returns a rule for keeping, as policy files write it.
pub(super) fn kept(keep: &Keep) -> String {
    match keep {
        Keep::System => "system".to_owned(),
        Keep::FirstUser => "first_user".to_owned(),
        Keep::LastMessages(n) => format!("last_messages({})", n.text),
        Keep::LastTurns(n) => format!("last_turns({})", n.text),
        Keep::LastAnswers(n) => format!("last_answers({})", n.text),
        Keep::LastTokens(n) => format!("last_tokens({})", n.text),
        Keep::LastToolTokens(n) => format!("last_tool_tokens({})", n.text),
        Keep::LastResults(n) => format!("last_results({})", n.text),
        Keep::FirstMessages(n) => format!("first_messages({})", n.text),
        Keep::LastUser => "last_user".to_owned(),
        Keep::UserTokens(n) => format!("user_tokens({})", n.text),
    }
}
