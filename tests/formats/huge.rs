//! Very large sessions are opened within limits of memory. The largest takes minutes and is ignored by default:
//! `cargo test --release --test formats -- --ignored huge`.

use plimsoll::formats::{Input, parse};
use rayon::prelude::*;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

/// Returns the output of `inspect` and its peak memory in bytes, if the system reports it.
fn inspected(path: &Path) -> (String, Option<u64>) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_plimsoll"));
    command.arg("inspect").arg(path).args(["--no-state", "--counter", "chars/4"]);
    let measured = Path::new("/usr/bin/time").is_file();
    if measured {
        let args: Vec<_> = command.get_args().map(ToOwned::to_owned).collect();
        command = Command::new("/usr/bin/time");
        command.args(["-f", "%M"]).arg(env!("CARGO_BIN_EXE_plimsoll")).args(args);
    }
    let Ok(output) = command.stdin(Stdio::null()).output() else {
        return (String::new(), None);
    };
    let [out, err] =
        [&output.stdout, &output.stderr].map(|b| String::from_utf8_lossy(b).into_owned());
    let kilobytes = err.trim_end().lines().last().and_then(|line| line.parse::<u64>().ok());
    (out + &err, kilobytes.map(|n| n << 10).filter(|_| measured))
}

/// Memory of the program itself and of a file's ends, in bytes.
const OVERHEAD: u64 = 200_000_000;

/// Checks that a file is rejected or read with `says` in the output, in at most `times` its size of memory.
fn takes(name: &str, bytes: &[u8], times: u64, says: &str) {
    takes_at_most(name, bytes, bytes.len() as u64 * times, says);
}

/// Checks like [`takes`], with a limit of `most` bytes in addition to [`OVERHEAD`].
fn takes_at_most(name: &str, bytes: &[u8], most: u64, says: &str) {
    let here = tempfile::tempdir().expect("a folder");
    let path = here.path().join(name);
    fs::write(&path, bytes).expect("room for the file");
    let (output, memory) = inspected(&path);
    assert!(output.contains(says), "{name}: {output}");
    if let Some(memory) = memory {
        assert!(memory <= most + OVERHEAD, "{name} of {} bytes took {memory}", bytes.len());
    }
}

#[test]
fn a_line_of_50_megabytes_and_a_picture_of_20_are_read() {
    let long = "word ".repeat(10 << 20);
    let line = |kind: &str, id: &str, content: &str| {
        format!(
            r#"{{"type":"{kind}","uuid":"{id}","parentUuid":null,"sessionId":"s","message":{{"role":"{kind}","content":{content}}}}}"#
        )
    };
    let session = [line("user", "a", &format!("\"{long}\"")), line("assistant", "b", "\"Yes.\"")];
    takes("line.jsonl", session.join("\n").as_bytes(), 4, "messages     2 ");
    let data = "QUJD".repeat(5 << 20);
    let image = format!(
        r#"[{{"role":"user","content":[{{"type":"image","source":{{"type":"base64","media_type":"image/png","data":"{data}"}}}}]}},{{"role":"assistant","content":"A cat."}}]"#
    );
    takes("picture.json", image.as_bytes(), 4, "messages     2 ");
}

#[test]
fn rejects_endless_small_values_before_they_fill_the_memory() {
    let lines = "{\"role\":\"user\",\"content\":\"\"}\n".repeat(5_100_000);
    let list = format!("[{}{{}}]", "{},".repeat(17_000_000));
    let within = format!(
        "{{\"messages\":[{{\"role\":\"user\",\"content\":[{}1]}}]}}",
        "1,".repeat(17_000_000)
    );
    let files = [
        ("lines.jsonl", lines, "more than 5 million lines"),
        ("list.json", list, "more than 16 million values"),
        ("within.json", within, "more than 16 million values"),
    ];
    files.par_iter().for_each(|(name, text, says)| takes(name, text.as_bytes(), 2, says));
}

#[test]
#[ignore = "half a gigabyte, minutes without optimization"]
fn half_a_gigabyte_and_100_000_messages_open_in_three_times_their_text() {
    let bytes = crate::bench_sessions::file_with(100_000, 3_800);
    assert!(bytes.len() > 500 << 20, "only {} bytes", bytes.len());
    let parsed = parse(&Input { name: "huge.jsonl".to_owned(), bytes: bytes.clone().into() });
    let parts = &parsed.unwrap().sessions[0].parts;
    let text: usize = parts.iter().map(|part| part.body.text().len()).sum();
    assert!(text < bytes.len(), "{text} bytes of text");
    let most = text as u64 * 3;
    takes_at_most("huge.jsonl", &bytes, most, "messages     100,000 ");
}
