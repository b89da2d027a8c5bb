//! Exports that are interrupted or started together: a signal leaves a complete export or nothing, and each process takes
//! its own name.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// Creates a folder with a long session.
fn session() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().expect("the test has a folder and a program of its own");
    let sample = Path::new(env!("CARGO_MANIFEST_DIR")).join("sample_sessions/slow-growth.jsonl");
    let source = folder.path().join("a.jsonl");
    fs::copy(sample, &source).expect("the test has a folder and a program of its own");
    (folder, source)
}

fn compact(source: &Path) -> Child {
    Command::new(env!("CARGO_BIN_EXE_plimsoll"))
        .arg("compact")
        .arg(source)
        .args(["--policy", "truncate", "--force", "--no-state"])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("the test has a folder and a program of its own")
}

/// Returns the names of the files in a folder, sorted.
fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).expect("the test has a folder and a program of its own");
    let names = entries.map(|entry| {
        entry
            .expect("the test has a folder and a program of its own")
            .file_name()
            .to_string_lossy()
            .into_owned()
    });
    let mut names: Vec<String> = names.collect();
    names.sort();
    names
}

/// Returns the names of the files of `n` exports.
fn exports(n: usize) -> Vec<String> {
    let export = |n: usize| {
        let ends = ["jsonl", "manifest.json", "removed.jsonl"];
        ends.map(|end| format!("a-managed-{n}.{end}"))
    };
    let mut names: Vec<String> = (1..=n).flat_map(export).collect();
    names.push("a.jsonl".to_owned());
    names.sort();
    names
}

#[test]
fn exports_started_together_take_the_next_numbers() {
    let (folder, source) = session();
    let all: Vec<Child> = (0..8).map(|_| compact(&source)).collect();
    for mut one in all {
        assert!(one.wait().expect("the test has a folder and a program of its own").success());
    }
    assert_eq!(names(folder.path()), exports(8));
}

#[cfg(unix)]
#[test]
fn a_signal_leaves_a_complete_export_or_nothing() {
    use std::time::Instant;
    let (folder, source) = session();
    let begun = Instant::now();
    compact(&source).wait().expect("the test has a folder and a program of its own");
    let mut delay = begun.elapsed();
    let (mut whole, mut interrupted) = (1, 0);
    for round in 0..24 {
        let mut one = compact(&source);
        std::thread::sleep(delay);
        let signal = ["-INT", "-TERM", "-HUP"][round % 3];
        let mut kill = Command::new("kill");
        kill.args([signal, &one.id().to_string()]);
        kill.stderr(Stdio::null())
            .status()
            .expect("the test has a folder and a program of its own");
        // Closes in on the end of a run, when its files are written.
        if one.wait().expect("the test has a folder and a program of its own").success() {
            delay = delay.mul_f64(0.85);
        } else {
            interrupted += 1;
            delay = delay.mul_f64(1.05);
        }
        let next = folder.path().join(format!("a-managed-{}.jsonl", whole + 1));
        whole += usize::from(next.exists());
        assert_eq!(names(folder.path()), exports(whole), "{signal}");
    }
    assert!(interrupted > 0);
}
