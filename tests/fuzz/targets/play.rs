//! Replays of random policies over small random sessions: every message is accounted for at every call.
#![no_main]

use libfuzzer_sys::arbitrary::Unstructured;
use libfuzzer_sys::fuzz_target;
use plimsoll::engine::{
    Answer, Case, ExecutedContext, Reply, Request, Schedule, digest, drive, simulate,
};
use plimsoll_fuzz::{RandomCase, random_case};

/// Answers from the bytes of the fuzzer.
struct Answers<'a, 'b>(&'a mut Unstructured<'b>);

impl Answer for Answers<'_, '_> {
    fn answer(&mut self, case: &Case, request: &Request) -> Reply {
        match self.0.int_in_range(0..=5).unwrap_or(0) {
            0 => Reply::Failed("no".to_owned()),
            1 => Reply::ToolCall,
            2 => Reply::Summary("".into()),
            3 => Reply::Summary("word ".repeat(300).into()),
            _ => Reply::Summary(digest(case, request).into()),
        }
    }
}

fuzz_target!(|bytes: &[u8]| {
    let mut u = Unstructured::new(bytes);
    let Ok(RandomCase {
        case,
        policy,
        values,
    }) = random_case(&mut u)
    else {
        return;
    };
    let whole = simulate(&case, &policy, &values, None);
    whole
        .context
        .check(&case)
        .expect("every message is accounted for");
    for until in 0..case.session.calls.len() {
        let part = simulate(&case, &policy, &values, Some(until));
        part.context
            .check(&case)
            .expect("every message is accounted for");
        assert!(part.samples == whole.samples[..part.samples.len()]);
    }
    let force = u.arbitrary().unwrap_or(true);
    for schedule in [Schedule::Replay, Schedule::Now { force }] {
        let outcome = drive(
            &case,
            &policy,
            &values,
            schedule,
            None,
            &mut Answers(&mut u),
        );
        outcome
            .context
            .check(&case)
            .expect("every message is accounted for");
        if let Ok(executed) = ExecutedContext::new(outcome.context) {
            let managed = executed.managed(&case.session);
            assert_eq!(managed.entries.len(), executed.context().entries.len());
        }
    }
});
