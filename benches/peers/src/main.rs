//! One measurement of a peer, or of ours, in a process of its own: counting a corpus cold, or parsing a session file.
//! `../peers.sh` runs them in turns.
//!
//!     peers count ours|toktok-rs|tiktoken|bpe-openai|tiktoken-rs CORPUS
//!     peers parse ours|simd-json FILE
//!
//! A corpus holds texts with NUL between them. Prints seconds and what was found: tokens, or messages (lines).

use plimsoll_core::{formats, tokens};
use std::error::Error;
use std::time::Instant;

fn main() -> Result<(), Box<dyn Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [what, whose, path] = args.as_slice() else {
        return Err("give what, whose and a file".into());
    };
    let (seconds, found) = match what.as_str() {
        "count" => count(whose, &std::fs::read_to_string(path)?)?,
        "parse" => parse(whose, std::fs::read(path)?)?,
        _ => return Err(format!("{what} is not measured").into()),
    };
    println!("{seconds:.4} {found}");
    Ok(())
}

/// Seconds of the first pass over all texts once the vocabulary is loaded, and their tokens.
fn count(whose: &str, corpus: &str) -> Result<(f64, usize), Box<dyn Error>> {
    let texts: Vec<&str> = corpus.split('\0').collect();
    let timed = |count: &dyn Fn(&str) -> usize| {
        count("load");
        let begun = Instant::now();
        let tokens = texts.iter().map(|text| count(text)).sum();
        (begun.elapsed().as_secs_f64(), tokens)
    };
    Ok(match whose {
        "ours" => {
            let counter = tokens::default_counter();
            timed(&|text| (counter.count)(text) as usize)
        }
        "bpe-openai" => timed(&|text| bpe_openai::o200k_base().count(text)),
        "tiktoken-rs" => timed(&|text| tiktoken_rs::o200k_base_singleton().count_ordinary(text)),
        "tiktoken" => {
            let encoding = tiktoken::get_encoding("o200k_base").ok_or("no o200k_base")?;
            timed(&|text| encoding.count(text))
        }
        "toktok-rs" => {
            let tokenizer = toktok::Tokenizer::builtin("o200k_base")?;
            timed(&|text| tokenizer.count(text.as_bytes()))
        }
        _ => return Err(format!("{whose} is not known").into()),
    })
}

/// Seconds to parse a file that is in memory, and what was found: ours parses it to a session, on the threads of rayon,
/// and counts messages; simd-json parses each line to a value that borrows from it, and counts lines.
fn parse(whose: &str, bytes: Vec<u8>) -> Result<(f64, usize), Box<dyn Error>> {
    match whose {
        "ours" => {
            let input = formats::Input {
                name: "session.jsonl".to_owned(),
                bytes: bytes.into(),
            };
            let begun = Instant::now();
            let parsed = formats::parse(&input).map_err(|unread| unread.to_string())?;
            let seconds = begun.elapsed().as_secs_f64();
            let messages = parsed.sessions.iter().map(|s| s.messages.len()).sum();
            Ok((seconds, messages))
        }
        "simd-json" => each_line(bytes, |line| {
            let value = simd_json::to_borrowed_value(line)?;
            std::hint::black_box(&value);
            Ok(())
        }),
        _ => Err(format!("{whose} is not known").into()),
    }
}

/// Seconds to do something to every line, and how many there are.
fn each_line(
    bytes: Vec<u8>,
    parse: impl Fn(&mut [u8]) -> Result<(), Box<dyn Error>>,
) -> Result<(f64, usize), Box<dyn Error>> {
    let lines = bytes.split(|byte| *byte == b'\n');
    let mut lines: Vec<Vec<u8>> = lines.map(<[u8]>::to_vec).collect();
    lines.retain(|line| !line.is_empty());
    let begun = Instant::now();
    for line in &mut lines {
        parse(line)?;
    }
    Ok((begun.elapsed().as_secs_f64(), lines.len()))
}
