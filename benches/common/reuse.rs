//! Made-up sessions in which the model comes back to what it read: files, names and lines, mostly from a few messages
//! ago and now and then from long before.

use std::fmt::Write as _;

/// Reproducible numbers below a bound.
struct Dice(u64);

impl Dice {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % bound.max(1)
    }

    /// An earlier call, near ones more often.
    fn earlier(&mut self, call: usize) -> usize {
        let reach = 1 << self.below(11);
        call.saturating_sub(1 + self.below(reach))
    }
}

/// A session of so many messages as Claude Code writes one.
pub(crate) fn file(messages: usize) -> Vec<u8> {
    let mut dice = Dice(7);
    let mut text = String::new();
    for idx in 0..messages {
        let call = idx / 2;
        let message = match idx % 20 {
            0 => r#"{"role":"user","content":"please go on, and never push to main"}"#.to_owned(),
            n if n % 2 == 1 => asked(call, &mut dice),
            _ => told(call - 1, &mut dice),
        };
        let kind = ["user", "assistant"][idx % 2];
        let parent = match idx {
            0 => "null".to_owned(),
            _ => format!("\"u-{}\"", idx - 1),
        };
        writeln!(
            text,
            r#"{{"type":"{kind}","uuid":"u-{idx}","parentUuid":{parent},"sessionId":"s","version":"2.1.99","isSidechain":false,"timestamp":"2026-11-01T10:{:02}:{:02}.000Z","message":{message}}}"#,
            idx / 60 % 60,
            idx % 60
        )
        .expect("a string takes all");
    }
    text.into_bytes()
}

/// A call that reads a file, or edits a line of one that was read.
fn asked(call: usize, dice: &mut Dice) -> String {
    let file = dice.earlier(call);
    let item = format!("item_{file}_{}", dice.below(8));
    let input = if call % 5 == 4 {
        format!(
            r#""name":"Edit","input":{{"file_path":"/w/src/file_{file}.rs","old_string":"{}","new_string":"{item}();"}}"#,
            line(file, 3)
        )
    } else {
        format!(r#""name":"Read","input":{{"file_path":"src/file_{call}.rs"}}"#)
    };
    format!(
        r#"{{"role":"assistant","id":"msg-{call}","model":"claude-sonnet-4-5","content":[{{"type":"text","text":"I come back to {item}."}},{{"type":"tool_use","id":"t{call}",{input}}}]}}"#
    )
}

/// What a call brought: lines of code, each with a name.
fn told(call: usize, dice: &mut Dice) -> String {
    let lines: Vec<_> = (0..4 + dice.below(16)).map(|n| line(call, n)).collect();
    let content = lines.join("\\n");
    format!(
        r#"{{"role":"user","content":[{{"type":"tool_result","tool_use_id":"t{call}","content":"{content}"}}]}}"#
    )
}

fn line(call: usize, n: usize) -> String {
    format!("    let total_{n} = item_{call}_{n}.settle(ledger, round_half_even)?;")
}
