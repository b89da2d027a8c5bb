//! Invariants of every parsed session.

use plimsoll::session::Session;
use plimsoll::units::Tokens;

/// Panics if an invariant does not hold.
pub(crate) fn keeps_the_rules(session: &Session) {
    let mut parts = 0;
    for message in &session.messages {
        assert_eq!(message.parts.start, parts, "parts are contiguous");
        assert!(message.parts.end >= parts);
        parts = message.parts.end;
        assert!(message.turn <= session.turns);
        assert!(message.call.is_none_or(|call| call < session.calls.len()));
        for span in &message.raw {
            assert!(span.start <= span.end && span.end <= session.source.bytes.len());
        }
    }
    assert_eq!(parts, session.parts.len());
    let turns = session.messages.windows(2).all(|m| m[0].turn <= m[1].turn);
    assert!(turns, "turns follow one another");
    let mut end = 0;
    for call in &session.calls {
        assert!(call.context_end >= end && call.context_end <= session.messages.len());
        end = call.context_end;
        assert!((1..=session.turns).contains(&call.turn), "turn {}", call.turn);
        assert!(call.model.is_none_or(|model| model < session.models.len()));
        let counts =
            call.usage.map(|u| [Some(u.input), u.cache_read, u.cache_write, u.output, u.reasoning]);
        let counts = counts.into_iter().flatten().flatten().chain(call.window);
        assert!(counts.into_iter().all(|tokens| tokens <= Tokens(100_000_000)));
        assert!(call.time.is_none_or(|time| time.0 >= 0));
    }
    for compaction in &session.compactions {
        assert!(compaction.before_message <= session.messages.len());
        assert!(compaction.call <= session.calls.len());
        assert!(compaction.kept.iter().all(|m| *m < session.messages.len()));
        let counts = [compaction.tokens_before, compaction.tokens_after];
        assert!(counts.into_iter().flatten().all(|t| t <= Tokens(100_000_000)));
    }
}
