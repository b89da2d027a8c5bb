//! The program without a display.

use crate::program::command;
use crate::support::{folder, stderr, write_conversation};

#[test]
#[cfg(target_os = "linux")]
fn a_window_without_a_display_prints_what_works_without_one() {
    let here = folder();
    write_conversation(here.path(), "talk.json");
    for args in [&[][..], &["talk.json"]] {
        let mut command = command(here.path(), args);
        for variable in ["DISPLAY", "WAYLAND_DISPLAY", "WAYLAND_SOCKET"] {
            command.env_remove(variable);
        }
        let output = command.output().expect("the program starts");
        assert_eq!(output.status.code(), Some(2));
        assert_eq!(output.stdout, b"");
        let text = stderr(&output);
        assert!(text.starts_with("plimsoll: there is no display"), "{text}");
        for part in ["--screenshot OUT.png", "xvfb-run", "Commands:", "  replay "] {
            assert!(text.contains(part), "{part}: {text}");
        }
    }
}

#[test]
#[cfg(target_os = "linux")]
fn a_window_that_cannot_be_opened_names_no_place_in_source_code() {
    let here = folder();
    let mut command = command(here.path(), &["--no-state"]);
    for variable in ["WAYLAND_DISPLAY", "WAYLAND_SOCKET"] {
        command.env_remove(variable);
    }
    // No server has this number.
    let output = command.env("DISPLAY", ":64999").output().expect("the program starts");
    assert_eq!(output.status.code(), Some(2));
    let text = stderr(&output);
    assert!(text.starts_with("plimsoll: cannot open the window"), "{text}");
    assert!(!text.contains(".rs") && text.lines().count() == 1, "{text}");
}
