//! Hooks of agents: programs that an agent runs at its events. They carry the user's constraints through a compaction.
//!
//! Agents differ in the order of events, in what each event may print, and in when the summary is known: see the module
//! of each agent. All follow these rules: nothing blocks the agent, an event takes at most two seconds, and a failure
//! is written to the log and nowhere else.

mod agents;
mod claude_code;
mod codex;
mod constraints;
mod event;
mod install;
mod keys;
mod location;
mod log;
mod opencode;
mod reply;
mod store;

pub use agents::{HOOKED_AGENTS, HookedAgent};
pub use constraints::constraints_of;
pub use install::{FileAction, HookChange, install, uninstall};
pub use log::{hook_log_path, read_hook_log};

use event::Event;
use reply::Reply;
use std::any::Any;
use std::fs;
use std::io::{self, Read};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread;
use std::time::{Duration, Instant};

/// Maximum time of an event, below the 2 s after which agents end the process, so that there is time to log it.
const LIMIT: Duration = Duration::from_millis(1_700);
/// Time to write a line to the log after the limit.
const LOG_TIME: Duration = Duration::from_millis(100);

/// Handles an event of an agent. `print` prints the reply; `is_kept` is false with `--no-state`. Never fails and never
/// takes longer than the limit: an unfinished event ends with the process.
pub fn handle_event(
    agent: &'static HookedAgent,
    stream: impl Read + Send + 'static,
    is_kept: bool,
    print: impl FnOnce(&str) -> io::Result<()>,
) {
    let started = Instant::now();
    // A panic would print to standard error.
    std::panic::set_hook(Box::new(|_| {}));
    let (send, replies) = mpsc::channel();
    let (printed, is_printed) = mpsc::channel();
    let work = move || {
        let work =
            AssertUnwindSafe(|| process(agent, stream, is_kept, started, &send, &is_printed));
        if let Err(panic) = catch_unwind(work) {
            note(agent.name, is_kept, &format!("failed: {}", panic_text(&*panic)));
        }
    };
    if thread::Builder::new().spawn(work).is_err() {
        return;
    }
    let left = || LIMIT.saturating_sub(started.elapsed());
    match replies.recv_timeout(left()) {
        Ok(output) => {
            // If the agent does not read the reply, the state is not kept.
            if output.is_empty() || print(&output).is_ok() {
                let _ = printed.send(());
            }
            drop(printed);
            // The thread hangs up when the state is kept.
            let _ = replies.recv_timeout(left().max(LOG_TIME));
        }
        Err(mpsc::RecvTimeoutError::Timeout) => {
            let (done, is_done) = mpsc::channel();
            let log = move || {
                note(agent.name, is_kept, "failed: it took too long, so nothing was printed");
                let _ = done.send(());
            };
            if thread::Builder::new().spawn(log).is_ok() {
                let _ = is_done.recv_timeout(LOG_TIME);
            }
        }
        Err(mpsc::RecvTimeoutError::Disconnected) => {}
    }
}

/// Reads an event, sends the output, and keeps the state after it was printed.
fn process(
    agent: &HookedAgent,
    stream: impl Read,
    is_kept: bool,
    started: Instant,
    send: &Sender<String>,
    is_printed: &Receiver<()>,
) {
    let event = match Event::read(stream) {
        Ok(event) => event,
        Err(error) => return note(agent.name, is_kept, &format!("failed: {error}")),
    };
    let session = &event.session_id[..event.session_id.floor_char_boundary(8)];
    let label = format!("{} {} {session}", agent.name, event.hook_event_name);
    let reply: Result<Reply, String> = (agent.handle)(&event, is_kept);
    let reply = reply.and_then(|reply| {
        let is_sent = send.send(reply.output.clone()).is_ok();
        if is_sent && is_printed.recv().is_ok() {
            reply.keep()?;
        } else {
            return Err("the agent did not read the reply".to_owned());
        }
        Ok(reply)
    });
    let took = started.elapsed().as_millis();
    match reply {
        Ok(Reply { note: Some(text), .. }) => note(&label, is_kept, &format!("{text} ({took} ms)")),
        Ok(_) => {}
        Err(error) => note(&label, is_kept, &format!("failed: {error} ({took} ms)")),
    }
}

/// Adds a line to the log. A log that cannot be written is no reason to disturb the agent.
fn note(label: &str, is_kept: bool, text: &str) {
    if is_kept {
        let _ = log::note(&format!("{label}: {text}"));
    }
}

fn panic_text(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    let text = text.or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    text.unwrap_or("internal error")
}

/// Returns the files that hooks keep: the record of the installations, the log, and the constraints of sessions that were
/// compacted in the last days, with their locks.
pub fn kept_hook_files() -> Vec<PathBuf> {
    kept_hook_record().into_iter().chain(removable_files()).collect()
}

/// Returns the record of the installed hooks, by which an uninstallation restores files byte for byte; `None` if none is
/// installed.
pub fn kept_hook_record() -> Option<PathBuf> {
    install::records_path().filter(|path| path.is_file())
}

fn removable_files() -> Vec<PathBuf> {
    let log = hook_log_path().filter(|path| path.is_file());
    log.into_iter().chain(store::files()).collect()
}

/// Removes the files that hooks keep and returns their number. Hooks stay installed, and so does their record.
///
/// # Errors
/// Returns an error if a file cannot be removed.
pub fn clear_hook_files() -> io::Result<usize> {
    let files = removable_files();
    for file in &files {
        match fs::remove_file(file) {
            // Another process removed it.
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            removed => removed?,
        }
    }
    Ok(files.len())
}
