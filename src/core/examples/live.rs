//! Manages a conversation with a model that is made up: `cargo run -p plimsoll-core --example live`

#![expect(clippy::print_stdout, reason = "an example prints")]

use plimsoll_core::Manager;
use plimsoll_core::json::{Value, json};
use plimsoll_core::live::{Entry, LiveError, Options, Step};

fn main() -> Result<(), LiveError> {
    let mut manager = Manager::new("summarize", Options::new(4_000))?;
    let mut history: Vec<Value> = Vec::new();
    for turn in 1..=12 {
        let question = format!("Step {turn}. {}", "Read the next part of the log. ".repeat(40));
        say(&mut manager, &mut history, json!({"role": "user", "content": question}))?;
        let request = request(&mut manager, &history)?;
        println!("turn {turn}: {} of {} messages are sent", request.len(), history.len());
        let answer = format!("Part {turn} has no error.");
        say(&mut manager, &mut history, json!({"role": "assistant", "content": answer}))?;
    }
    Ok(())
}

/// Adds a message to the history.
fn say(manager: &mut Manager, history: &mut Vec<Value>, message: Value) -> Result<(), LiveError> {
    manager.push(&message.to_string())?;
    history.push(message);
    Ok(())
}

/// Returns the messages of the next request.
fn request(manager: &mut Manager, history: &[Value]) -> Result<Vec<Value>, LiveError> {
    let ready = loop {
        match manager.step()? {
            Step::Ready(ready) => break ready,
            Step::Summarize(ask) => {
                println!("a summary of at most {} tokens is written", ask.max_tokens);
                manager.answer("The user reads a log, step by step. No part had an error.")?;
            }
        }
    };
    let message = |entry| match entry {
        Entry::Keep { keep } => history[keep].clone(),
        Entry::Edit { message, .. } | Entry::Add { add: message } => (*message).clone(),
    };
    Ok(ready.entries.into_iter().map(message).collect())
}
