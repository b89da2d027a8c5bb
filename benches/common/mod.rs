//! A generated session for benchmarks: a user message every 20 messages, otherwise calls with results of 10 to 1,500
//! words.

mod record;

/// The allocator of the program.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Number of messages of the usual session.
pub(crate) const MESSAGES: usize = 10_000;

const WORDS: [&str; 12] = [
    "let",
    "payment",
    "=",
    "ledger.post(entry)?;",
    "//",
    "rounds",
    "half",
    "to",
    "even",
    "fn",
    "settle",
    "{}",
];

/// Returns a Claude Code session with this number of messages. Every call reports usage.
pub(crate) fn file_of(messages: usize) -> Vec<u8> {
    file_with(messages, 1_500)
}

/// Returns [`file_of`] with results of up to `most_words` words.
pub(crate) fn file_with(messages: usize, most_words: usize) -> Vec<u8> {
    let mut text = String::new();
    let mut context = 20_000;
    for idx in 0..messages {
        let message = match idx % 20 {
            0 => r#"{"role":"user","content":"please go on with the next task"}"#.to_owned(),
            n if n % 2 == 1 => call(idx, context),
            _ => {
                let (result, words) = result(idx, most_words);
                context += words * 2;
                result
            }
        };
        record::add(&mut text, idx, &message);
    }
    text.into_bytes()
}

fn call(idx: usize, context: usize) -> String {
    format!(
        r#"{{"role":"assistant","id":"msg-{idx}","model":"claude-sonnet-4-5","content":[{{"type":"tool_use","id":"t{idx}","name":"Read","input":{{"file_path":"src/file_{idx}.rs"}}}}],"usage":{{"input_tokens":4,"cache_read_input_tokens":{context},"cache_creation_input_tokens":0,"output_tokens":40}}}}"#
    )
}

fn result(idx: usize, most_words: usize) -> (String, usize) {
    let words = 10 + ((idx as u32).wrapping_mul(2_654_435_761) >> 16) as usize % (most_words - 10);
    let content: Vec<_> = (0..words).map(|n| WORDS[(n * 7 + idx) % WORDS.len()]).collect();
    let content = content.join(" ");
    let id = idx - 1;
    let message = format!(
        r#"{{"role":"user","content":[{{"type":"tool_result","tool_use_id":"t{id}","content":"{content}"}}]}}"#
    );
    (message, words)
}
