//! Signals that end the program: unfinished files are removed first.

/// Watches the signals from the first unfinished file on. A signal that the program was started to ignore (by `nohup`,
/// or in the background of a script) stays ignored.
#[cfg(unix)]
pub(super) fn watch<T: 'static>(clean_up: fn() -> T) {
    use std::sync::Once;
    static STARTED: Once = Once::new();
    STARTED.call_once(|| {
        // If this fails, a signal ends the program as usual.
        let _ = start(clean_up);
    });
}

#[cfg(unix)]
fn start<T: 'static>(clean_up: fn() -> T) -> std::io::Result<()> {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
    use signal_hook::iterator::Signals;
    use signal_hook::low_level::emulate_default_handler;
    let signals = [SIGHUP, SIGINT, SIGTERM].into_iter();
    let mut signals = Signals::new(signals.filter(|signal| !is_ignored(*signal)))?;
    let end = move || {
        for signal in signals.forever() {
            let _held = clean_up();
            // The parent process sees which signal ended the program.
            let _ = emulate_default_handler(signal);
        }
    };
    std::thread::Builder::new().name("signals".into()).spawn(end)?;
    Ok(())
}

/// Returns true if the program was started to ignore a signal. Only Linux shows it; elsewhere `nohup` is assumed.
#[cfg(unix)]
fn is_ignored(signal: i32) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    mask.map_or(signal == signal_hook::consts::SIGHUP, |mask| mask >> (signal - 1) & 1 == 1)
}

/// Other systems end a process without notice.
#[cfg(not(unix))]
pub(super) fn watch<T>(_clean_up: fn() -> T) {}
