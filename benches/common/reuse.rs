//! Generated sessions in which the model reuses files, names and lines of earlier results, mostly recent ones.

mod record;

/// A generator of reproducible numbers.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % bound.max(1)
    }

    /// Returns an earlier call; recent ones are more likely.
    fn earlier(&mut self, call: usize) -> usize {
        let reach = 1 << self.below(11);
        call.saturating_sub(1 + self.below(reach))
    }
}

/// Returns a Claude Code session with this number of messages.
pub(crate) fn file(messages: usize) -> Vec<u8> {
    let mut random = Random(7);
    let mut text = String::new();
    for idx in 0..messages {
        let call = idx / 2;
        let message = match idx % 20 {
            0 => r#"{"role":"user","content":"please go on, and never push to main"}"#.to_owned(),
            n if n % 2 == 1 => call_message(call, &mut random),
            _ => result_message(call - 1, &mut random),
        };
        record::add(&mut text, idx, &message);
    }
    text.into_bytes()
}

/// Returns a call that reads a file, or edits a line of one read earlier.
fn call_message(call: usize, random: &mut Random) -> String {
    let file = random.earlier(call);
    let item = format!("item_{file}_{}", random.below(8));
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

/// Returns the result of a call: lines of code, each with a name.
fn result_message(call: usize, random: &mut Random) -> String {
    let lines: Vec<_> = (0..4 + random.below(16)).map(|n| line(call, n)).collect();
    let content = lines.join("\\n");
    format!(
        r#"{{"role":"user","content":[{{"type":"tool_result","tool_use_id":"t{call}","content":"{content}"}}]}}"#
    )
}

fn line(call: usize, n: usize) -> String {
    format!("    let total_{n} = item_{call}_{n}.settle(ledger, round_half_even)?;")
}
