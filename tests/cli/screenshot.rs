//! `plimsoll FILE --screenshot`: pictures of the window.

use crate::program::plimsoll;
use crate::support::{folder, names_in, rejected, stderr, write_conversation};
use std::fs;

#[test]
fn a_screenshot_replaces_no_file() {
    let here = folder();
    write_conversation(here.path(), "v.json");
    let source = fs::read(here.path().join("v.json")).expect("it is there");
    fs::write(here.path().join("notes.png"), "a diary").expect("it can be written");
    for (output, message) in [
        ("v.json", "the session itself"),
        ("./v.json", "the session itself"),
        ("notes.png", "already exists and is never overwritten"),
        ("no/such.png", "is not a folder"),
        ("", "is empty"),
    ] {
        let error = rejected(here.path(), &["v.json", "--screenshot", output]);
        assert!(error.contains(message), "{error}");
    }
    assert_eq!(fs::read(here.path().join("v.json")).expect("it is there"), source);
    let args = ["v.json", "--screenshot", "out.png"];
    let output = plimsoll(here.path(), &args);
    assert!(output.status.success(), "{}", stderr(&output));
    let first = fs::read(here.path().join("out.png")).expect("it was written");
    assert!(first.starts_with(b"\x89PNG"));
    assert!(rejected(here.path(), &args).contains("already exists"));
    assert_eq!(fs::read(here.path().join("out.png")).expect("it is there"), first);
    assert_eq!(names_in(here.path()), ["notes.png", "out.png", "v.json"]);
}

#[test]
fn the_window_opens_the_given_lanes() {
    let here = folder();
    write_conversation(here.path(), "c.json");
    let screenshot = |name: &str, args: &[&str]| {
        let output = plimsoll(
            here.path(),
            &[&["c.json", "--size", "900x560", "--screenshot", name][..], args].concat(),
        );
        assert!(output.status.success(), "{args:?}: {}", stderr(&output));
        fs::read(here.path().join(name)).expect("it was written")
    };
    let window = ["--window", "8k", "--output-reserve", "1k"];
    let plain = screenshot("a.png", &window);
    let one = screenshot("b.png", &[&window[..], &["--policy", "truncate"]].concat());
    let set = [&window[..], &["--policy", "truncate", "--set", "keep_recent=4"]].concat();
    let set = screenshot("c.png", &set);
    assert!(plain != one && one != set);
    // The window has one slider for both lanes.
    let args = [
        "c.json",
        "--screenshot",
        "d.png",
        "--policy",
        "truncate",
        "--policy",
        "summarize",
        "--set",
        "truncate.keep_recent=4",
    ];
    assert!(rejected(here.path(), &args).contains("plimsoll replay"));
}
