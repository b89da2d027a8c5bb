//! Errors of a window that cannot be opened.

use crate::exec::missing_libraries;
use std::panic::{self, AssertUnwindSafe};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Libraries that a window needs on X11 and on Wayland, with their Debian packages.
const BOTH: [(&str, &str); 2] =
    [("libxkbcommon.so.0", "libxkbcommon0"), ("libEGL.so.1", "libegl1")];
const X11: [(&str, &str); 5] = [
    ("libX11.so.6", "libx11-6"),
    ("libX11-xcb.so.1", "libx11-xcb1"),
    ("libXcursor.so.1", "libxcursor1"),
    ("libXi.so.6", "libxi6"),
    ("libxkbcommon-x11.so.0", "libxkbcommon-x11-0"),
];
const WAYLAND: [(&str, &str); 2] =
    [("libwayland-client.so.0", "libwayland-client0"), ("libwayland-egl.so.1", "libwayland-egl1")];

/// Opens a window. A panic before it is open, such as that of a missing library, becomes an error.
///
/// `open` receives a function to call once the window is open.
pub(crate) fn opened(open: impl FnOnce(Arc<dyn Fn()>) -> eframe::Result) -> Result<(), String> {
    let is_open = Arc::new(AtomicBool::new(false));
    let (in_hook, usual) = (Arc::clone(&is_open), panic::take_hook());
    panic::set_hook(Box::new(move |info| {
        if in_hook.load(Ordering::Relaxed) {
            usual(info);
        }
    }));
    let in_window = Arc::clone(&is_open);
    let opened = panic::catch_unwind(AssertUnwindSafe(|| {
        open(Arc::new(move || in_window.store(true, Ordering::Relaxed)))
    }));
    match opened {
        Ok(Ok(())) => Ok(()),
        Ok(Err(error)) => Err(explained(&error.to_string())),
        Err(panic) if is_open.load(Ordering::Relaxed) => panic::resume_unwind(panic),
        Err(panic) => {
            let text = panic.downcast_ref::<String>().map(String::as_str);
            let text = text.or_else(|| panic.downcast_ref::<&str>().copied());
            Err(explained(text.unwrap_or("the window system failed")))
        }
    }
}

/// Returns an error without places in source code, with the packages of missing libraries.
fn explained(error: &str) -> String {
    let is_wayland = ["WAYLAND_DISPLAY", "WAYLAND_SOCKET"]
        .iter()
        .any(|name| std::env::var_os(name).is_some_and(|value| !value.is_empty()));
    let own = if is_wayland { &WAYLAND[..] } else { &X11[..] };
    let needed: Vec<_> = BOTH.iter().chain(own).collect();
    let names: Vec<&str> = needed.iter().map(|(name, _)| *name).collect();
    let missing = if cfg!(target_os = "linux") { missing_libraries(&names) } else { Vec::new() };
    let packages = needed.iter().filter(|(name, _)| missing.contains(name));
    let packages: Vec<&str> = packages.map(|(_, package)| *package).collect();
    with_packages(&without_places(error), &missing, &packages)
}

fn with_packages(error: &str, missing: &[&str], packages: &[&str]) -> String {
    if missing.is_empty() {
        return error.to_owned();
    }
    format!(
        "{} missing; on Debian or Ubuntu: apt-get install {}",
        missing.join(", "),
        packages.join(" ")
    )
}

/// Removes places in source code: `os error at /home/…/x11.rs:12: no server` becomes `no server`.
fn without_places(error: &str) -> String {
    let is_place = |word: &str| word.contains(".rs:");
    let words: Vec<&str> = error.split_whitespace().collect();
    let Some(last) = words.iter().rposition(|word| is_place(word)) else {
        return words.join(" ");
    };
    let rest = words[last + 1..].join(" ");
    if rest.is_empty() {
        let before = words.iter().take_while(|word| !is_place(word));
        let before: Vec<&str> = before.copied().collect();
        return before.join(" ").trim_end_matches(" at").to_owned();
    }
    rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_in_source_code_are_removed() {
        let error =
            "winit EventLoopError: os error at /home/me/winit-0.30.13/src/x11/mod.rs:12: no server";
        assert_eq!(without_places(error), "no server");
        assert_eq!(without_places("failed at /home/me/a.rs:1:2"), "failed");
        assert_eq!(without_places("no EGL display"), "no EGL display");
    }

    #[test]
    fn missing_libraries_are_named_with_their_packages() {
        let text = with_packages("x", &["libXi.so.6"], &["libxi6"]);
        assert_eq!(text, "libXi.so.6 missing; on Debian or Ubuntu: apt-get install libxi6");
    }
}
