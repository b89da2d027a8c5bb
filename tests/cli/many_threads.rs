//! Replays with more threads than the machine has.

use crate::program::command;
use crate::support::folder;
use std::path::Path;
use std::process::Stdio;
use std::thread;
use std::time::{Duration, Instant};

/// Lanes of real systems wait for each other through rayon only, so no run may block, whatever the number of threads.
#[test]
#[ignore = "takes minutes; .ci/run runs it"]
fn a_thousand_runs_on_eight_threads_all_end() {
    const RUNS: usize = 200;
    const LIMIT: Duration = Duration::from_mins(1);
    let lanes = ["holmesgpt", "digitorn", "baseagent", "cowagent", "picoclaw"];
    let lanes = lanes.map(|lane| ["--policy", lane]).concat();
    let verbs: [(&str, &str, &[&str]); 5] = [
        ("compacted.jsonl", "replay", &[]),
        ("images-and-cjk.json", "report", &["-o", "-"]),
        ("images-and-cjk.json", "diagnose", &[]),
        ("images-and-cjk.json", "gate", &["--max-peak", "2"]),
        ("images-and-cjk.json", "sweep", &["--points", "10"]),
    ];
    let folder = folder();
    for (sample, verb, options) in verbs {
        let sample = Path::new(env!("CARGO_MANIFEST_DIR")).join("sample_sessions").join(sample);
        let run = |number: usize| {
            let mut child = command(folder.path(), &[verb, sample.to_str().expect("UTF-8")])
                .args(options)
                .args(&lanes)
                .env("RAYON_NUM_THREADS", "8")
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .spawn()
                .expect("the program starts");
            let begun = Instant::now();
            let status = loop {
                if let Some(status) = child.try_wait().expect("the program can be waited for") {
                    break status;
                }
                if begun.elapsed() > LIMIT {
                    child.kill().expect("the program can be ended");
                    panic!("run {number} of {verb} does not end");
                }
                thread::sleep(Duration::from_millis(5));
            };
            assert!(status.success(), "run {number} of {verb}: {status}");
        };
        // Two at a time: a run seldom keeps more than one core busy.
        thread::scope(|scope| {
            for half in [0..RUNS / 2, RUNS / 2..RUNS] {
                let run = &run;
                scope.spawn(move || half.for_each(run));
            }
        });
    }
}
