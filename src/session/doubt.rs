//! Reports of usage that cannot be right, told from the calls around them and from what the file holds.

use super::{Body, Part, Session};
use crate::units::Tokens;

/// What was reported of a call and is gone by nowhere, since it cannot be right.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LeftOut {
    /// The context that was reported.
    pub reported: Tokens,
    /// So many times what the calls around it report.
    pub times: f64,
}

/// Twice as much as the calls before and after, or nearly, counts something twice.
const SPIKE: f64 = 1.8;
/// Contexts of neighbours below this are not compared so closely.
const LEAST: f64 = 20_000.0;
/// What was said since the call before may explain this part of its context.
const STEADY: f64 = 0.3;
/// Bytes of text to a token, at the least that is usual.
const BYTES: f64 = 3.0;
/// So many times what is usual around it is absurd, unless the file holds that much.
const ABSURD: f64 = 10.0;
/// Calls on either side that say what is usual.
const AROUND: usize = 4;
/// Tokens of what a file may not hold: instructions, tools, attachments.
const UNSEEN: f64 = 200_000.0;
/// More than most windows hold: nobody need look for a call on both sides.
const LARGEST: f64 = 2_000_000.0;
/// What a picture or a document weighs at most.
const MEDIA: u64 = 20_000;

/// Takes out what calls report that cannot be right ([`super::Step::left_out`]): a context that jumps to about twice the size
/// and back although next to nothing was said, or one many times as large as those around it and larger than all text so
/// far (a token is a byte at least).
pub fn leave_out_impossible(session: &mut Session) {
    let reported = |session: &Session, step: usize| {
        let usage = session.steps[step].usage;
        usage.map_or(0.0, |usage| usage.input.as_f64())
    };
    let calls: Vec<usize> = (0..session.steps.len())
        .filter(|step| reported(session, *step) > 0.0)
        .collect();
    if calls.len() < 2 {
        return;
    }
    let inputs: Vec<f64> = calls.iter().map(|step| reported(session, *step)).collect();
    let said = said_before(session);
    let ends: Vec<u64> = calls
        .iter()
        .map(|step| said[session.steps[*step].context_end.min(said.len() - 1)])
        .collect();
    let mut before: Option<usize> = None;
    for at in 0..calls.len() {
        let (now, after) = (inputs[at], inputs.get(at + 1));
        let spike = before.zip(after).and_then(|(before, after)| {
            let around = inputs[before].max(*after);
            let added = (ends[at] - ends[before]) as f64 / BYTES;
            let is_steady = inputs[before] >= LEAST && added <= STEADY * inputs[before];
            (is_steady && now > SPIKE * around).then_some(now / around)
        });
        let absurd = || {
            let usual = usual(&inputs, at);
            let is_held = now <= ends[at] as f64 + UNSEEN;
            // The last call may really have been given much that the file does not hold.
            let is_between = at > 0 && at + 1 < calls.len() || now > LARGEST;
            (now > ABSURD * usual && !is_held && is_between).then_some(now / usual.max(1.0))
        };
        let Some(times) = spike.or_else(absurd) else {
            before = Some(at);
            continue;
        };
        let step = &mut session.steps[calls[at]];
        let reported = step.usage.take().unwrap_or_default().input;
        step.left_out = Some(LeftOut { reported, times });
    }
}

/// The middle of what the calls around one report.
fn usual(inputs: &[f64], at: usize) -> f64 {
    let around = at.saturating_sub(AROUND)..(at + 1 + AROUND).min(inputs.len());
    let mut others: Vec<f64> = around
        .filter(|other| *other != at)
        .map(|other| inputs[other])
        .collect();
    others.sort_by(f64::total_cmp);
    others[others.len() / 2]
}

/// Bytes before each message that may be tokens, and in all.
fn said_before(session: &Session) -> Vec<u64> {
    let mut all = 0;
    let mut before = vec![0];
    for message in &session.messages {
        all += session.parts_of(message).iter().map(weight).sum::<u64>();
        before.push(all);
    }
    before
}

fn weight(part: &Part) -> u64 {
    let beside = match &part.body {
        Body::Media { .. } => MEDIA,
        Body::Thinking { sealed_bytes, .. } => u64::from(*sealed_bytes),
        _ => 0,
    };
    beside + part.body.text().len() as u64
}

#[cfg(test)]
mod tests {
    use super::LeftOut;
    use crate::session::{
        Body, Draft, Part, Role, Session, SessionBuilder, Source, StepDraft, Usage,
    };
    use crate::units::Tokens;

    /// Calls that report these contexts; before each so many bytes are said.
    fn session(calls: &[(u64, usize)]) -> Session {
        let mut builder = SessionBuilder::new(Source {
            name: "talk".to_owned(),
            format: "openai_chat",
            bytes: Vec::new().into(),
        });
        let say = |text: String| Part {
            body: Body::Text(text.into()),
            record: 0,
            block: 0,
        };
        for (input, bytes) in calls {
            builder.message(Draft::new(Role::User, vec![say("x".repeat(*bytes))]));
            let usage = Some(Usage {
                input: Tokens(*input),
                ..Usage::default()
            });
            builder.step(StepDraft {
                usage,
                ..StepDraft::default()
            });
            builder.message(Draft::new(Role::Assistant, vec![say("Done.".to_owned())]));
        }
        builder.finish()
    }

    fn left_out(calls: &[(u64, usize)]) -> Vec<(usize, LeftOut)> {
        let session = session(calls);
        let steps = session.steps.iter().enumerate();
        steps
            .filter_map(|(idx, step)| Some((idx, step.left_out?)))
            .collect()
    }

    #[test]
    fn a_report_many_times_as_large_as_those_around_it_is_left_out_wherever_it_stands() {
        for at in 0..5 {
            let mut calls = [(100_000, 40); 5];
            calls[at].0 = 9_000_000;
            let reported = Tokens(9_000_000);
            assert_eq!(
                left_out(&calls),
                [(
                    at,
                    LeftOut {
                        reported,
                        times: 90.0
                    }
                )]
            );
        }
        let two = [
            (5_000, 9),
            (9_000_000, 9),
            (8_000_000, 9),
            (5_000, 9),
            (5_100, 9),
            (5_200, 9),
        ];
        assert_eq!(left_out(&two).len(), 2);
    }

    #[test]
    fn what_the_file_explains_and_what_stays_is_believed() {
        // A small call of another model between large ones.
        let small = [
            (150_000, 400_000),
            (300, 9),
            (150_100, 9),
            (310, 9),
            (150_200, 9),
        ];
        assert_eq!(left_out(&small), []);
        // Much was said.
        assert_eq!(left_out(&[(40_000, 9), (90_000, 200_000), (30_000, 9)]), []);
        // It does not go back.
        assert_eq!(left_out(&[(40_000, 9), (90_000, 9), (91_000, 9)]), []);
        assert_eq!(left_out(&[(9_000_000, 9)]), []);
        // It may have been given what the file does not hold.
        assert_eq!(left_out(&[(1_000, 9), (5_000, 9), (300_000, 9)]), []);
    }
}
