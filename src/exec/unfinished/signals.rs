//! The signals that end the program: they remove what is unfinished first.

/// Watches them from the first unfinished file on. A signal that the program was started to ignore (by `nohup`, or in the
/// background of a script) stays ignored.
#[cfg(unix)]
pub(super) fn watch() {
    use std::sync::Once;
    static STARTED: Once = Once::new();
    STARTED.call_once(|| {
        // Without it the program is interrupted as any other.
        let _ = start();
    });
}

#[cfg(unix)]
fn start() -> std::io::Result<()> {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
    use signal_hook::iterator::Signals;
    use signal_hook::low_level::emulate_default_handler;
    let signals = [SIGHUP, SIGINT, SIGTERM].into_iter();
    let mut signals = Signals::new(signals.filter(|signal| !is_ignored(*signal)))?;
    let end = move || {
        for signal in signals.forever() {
            let _held = super::remove_all();
            // Whoever started the program sees which signal ended it.
            let _ = emulate_default_handler(signal);
        }
    };
    std::thread::Builder::new()
        .name("signals".into())
        .spawn(end)?;
    Ok(())
}

/// Whether the program was started to ignore a signal. Only Linux says so; elsewhere `nohup` is to be expected.
#[cfg(unix)]
fn is_ignored(signal: i32) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    mask.map_or(signal == signal_hook::consts::SIGHUP, |mask| {
        mask >> (signal - 1) & 1 == 1
    })
}

/// Other systems end a process without asking it.
#[cfg(not(unix))]
pub(super) fn watch() {}
