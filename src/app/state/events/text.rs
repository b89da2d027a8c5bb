//! Text of an event: its cause with the value of each term, and its result.

use crate::app::state::wording;
use crate::engine::{Effect, Event, Outcome};
use crate::safe_text;
use std::fmt::Write as _;

/// Maximum number of characters of a text from the file or the system.
// Chosen: more than the widest row of the list shows.
const MAX_CHARS: usize = 240;

/// Returns the number of the call at which an event happened; `end` if it came after the last call.
pub fn call(event: &Event, n_calls: usize) -> String {
    if event.call < n_calls { wording::number(event.call) } else { "end".to_owned() }
}

/// Returns the cause with values in place of names: `used 130,212 ≥ trigger 126,000`. For a log event, returns its
/// text.
pub fn why(event: &Event, outcome: &Outcome) -> String {
    let halt = halt(event, outcome);
    if event.effect == Effect::Logged
        && let Some(line) = event.log.first().map(String::as_str).or(halt)
    {
        return safe_text::one_line(line, MAX_CHARS);
    }
    let mut why = filled_in(event);
    if let Some(request) = event.request {
        let (sent, received) = (wording::short(request.sent), wording::short(request.answer));
        let _ = write!(why, " · summary request: {sent} sent, {received} received");
    }
    if event.orphans > 0 {
        let _ = write!(why, " · {}", wording::count(event.orphans, "orphan"));
    }
    if let Some(line) = event.log.first() {
        let _ = write!(why, " · “{}”", safe_text::one_line(line, MAX_CHARS));
    }
    why
}

/// Returns the error with which the system stops here, if this event caused it.
pub fn halt<'a>(event: &Event, outcome: &'a Outcome) -> Option<&'a str> {
    let halts = &outcome.halts;
    let at = halts.partition_point(|halt| halt.call < event.call);
    let halt = halts.get(at).filter(|halt| halt.call == event.call)?;
    // After a stage that made a change, the system continued.
    (event.effect == Effect::Logged).then_some(&*halt.why)
}

/// Returns the trigger with the value after each name; for a recorded compaction, the text from the file.
pub fn filled_in(event: &Event) -> String {
    if event.stage == Event::RECORDED {
        return match &*event.cause.when {
            "" => "the file states no reason".to_owned(),
            trigger => format!("recorded as {}", safe_text::one_line(trigger, MAX_CHARS)),
        };
    }
    event.cause.filled_in(wording::quantity)
}

/// Returns a short description of the result.
pub fn result(event: &Event) -> String {
    let action = event.action.name();
    let messages = || wording::count(event.n_messages(), "message");
    match event.effect {
        Effect::Removed => format!("{action} of {}", messages()),
        Effect::Changed if event.n_messages() > 0 => {
            format!("{action} in {}, nothing removed", messages())
        }
        Effect::Changed => format!("{action}, nothing removed"),
        Effect::Nothing => "ran and changed nothing".to_owned(),
        Effect::Logged if event.log.is_empty() => "gave up".to_owned(),
        Effect::Logged => "logged a message, changed nothing".to_owned(),
    }
}

/// Returns the full text for the clipboard; `call` is the call of the event.
pub fn whole(event: &Event, outcome: &Outcome, lane: &str, call: &str) -> String {
    let mut out =
        format!("call {call} · {lane} · {} ({})\n{}\n", event.stage, event.action, result(event));
    let _ = writeln!(out, "when {}", event.cause.when);
    for (name, value) in &event.cause.terms {
        let _ = writeln!(out, "  {name} = {value}");
    }
    let _ = writeln!(
        out,
        "tokens {} to {}, {} left, {}",
        event.before.0,
        event.after.0,
        wording::count(event.left, "message"),
        wording::count(event.orphans, "orphan")
    );
    if let Some(request) = event.request {
        let _ = writeln!(
            out,
            "summary request: {} sent, {} received",
            request.sent.0, request.answer.0
        );
    }
    let halt = halt(event, outcome);
    for line in event.log.iter().map(String::as_str).chain(halt) {
        let _ = writeln!(out, "{line}");
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::{ActionKind, Cause, Halt, OwnMeasure};
    use crate::units::Tokens;

    fn event(when: &str, terms: &[(&str, f64)], effect: Effect) -> Event {
        Event {
            call: 0,
            is_after_request: false,
            stage: "cut".to_owned(),
            action: ActionKind::Drop,
            cause: Cause {
                when: when.to_owned(),
                terms: terms.iter().map(|(n, v)| ((*n).to_owned(), *v)).collect(),
            },
            before: Tokens(10),
            after: Tokens(5),
            messages: std::iter::once(3..5).collect(),
            request: None,
            effect,
            measured: OwnMeasure::default(),
            orphans: 0,
            forgotten: 0,
            left: 2,
            log: Vec::new(),
            files: Vec::new(),
            error: None,
        }
    }

    #[test]
    fn quantities_follow_their_names() {
        let event = event("used >= limit", &[("used", 12_000.0), ("limit", 0.5)], Effect::Removed);
        let outcome = Outcome::default();
        assert_eq!(why(&event, &outcome), "used 12,000 ≥ limit 0.5");
        assert_eq!(result(&event), "drop of 2 messages");
    }

    #[test]
    fn recorded_compactions_name_their_cause_and_call() {
        let mut event = event("auto", &[], Effect::Removed);
        event.stage = Event::RECORDED.to_owned();
        assert_eq!(why(&event, &Outcome::default()), "recorded as auto");
        event.cause.when.clear();
        let why = why(&event, &Outcome::default());
        assert_eq!(why, "the file states no reason");
        assert_eq!((call(&event, 1), call(&event, 0)), ("1".to_owned(), "end".to_owned()));
    }

    #[test]
    fn a_trigger_that_is_always_met_shows_only_its_terms() {
        let mut event = event("true", &[("cut", 3.0)], Effect::Nothing);
        event.log.push("No compaction needed".to_owned());
        event.orphans = 1;
        let mut outcome = Outcome::default();
        let text = "cut 3 · 1 orphan · “No compaction needed”";
        assert_eq!(why(&event, &outcome), text);
        event.effect = Effect::Logged;
        assert_eq!(why(&event, &outcome), "No compaction needed");
        event.log.clear();
        let error = "prompt is too long".to_owned();
        outcome.halts.push(Halt { call: 0, why: error.clone() });
        assert_eq!(why(&event, &outcome), error);
    }
}
