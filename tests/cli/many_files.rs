//! Lists of paths, archives and standard input of commands that read many files, and their progress.

use crate::gate::{folder_with_samples, parse_json, run_with_exit_code};
use crate::program::{command, plimsoll};
use crate::support::{names_in, stderr, stdout};
use flate2::Compression;
use flate2::write::GzEncoder;
use plimsoll::json::Value;
use ruzstd::encoding::{CompressionLevel, compress_to_vec};
use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::{Output, Stdio};

/// Checks that every session passes.
const RULES: [&str; 4] = ["--policy", "recorded", "--max-peak", "9"];

/// Runs a command with this standard input.
fn with_input(folder: &Path, args: &[&str], input: &[u8]) -> Output {
    let mut command = command(folder, args);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("the program starts");
    let mut stdin = child.stdin.take().expect("a pipe");
    std::thread::scope(|scope| {
        scope.spawn(move || {
            // The program may end before it has read everything.
            let _ = stdin.write_all(input);
        });
        child.wait_with_output().expect("it ends")
    })
}

/// Returns the files that a gate judged, and those that it skipped with the reason and whether they are damaged.
fn judged(gate: &Value) -> (Vec<&str>, Vec<(&str, &str, bool)>) {
    fn file(entry: &Value) -> &str {
        entry["file"].as_str().expect("a path")
    }
    let list = |key: &str| gate[key].as_array().expect("a list").iter();
    let mut files: Vec<&str> = list("sessions").map(file).collect();
    files.sort_unstable();
    let skipped = list("skipped").map(|entry| {
        let reason = entry["reason"].as_str().expect("a reason");
        (file(entry), reason, entry["damaged"] == true)
    });
    (files, skipped.collect())
}

fn gate(folder: &Path, code: i32, args: &[&str]) -> Value {
    let args = [&["gate"], args, &RULES, &["--json"]].concat();
    parse_json(&run_with_exit_code(folder, code, &args))
}

#[test]
fn paths_of_a_list_are_read_and_a_missing_one_does_not_end_the_run() {
    let here = folder_with_samples();
    let write = |name: &str, list: &str| fs::write(here.path().join(name), list).expect("written");
    write("lines", "kept/handoff.json\r\nkept/compacted.jsonl\n\n");
    write("nul", "kept/handoff.json\0kept/compacted.jsonl\0");
    write("folders", "kept\n");
    write("missing", "kept/gone.json\nkept/handoff.json\n");
    let both = ["kept/compacted.jsonl", "kept/handoff.json"];
    for list in ["lines", "nul", "folders"] {
        let result = gate(here.path(), 0, &["--files-from", list]);
        assert_eq!(judged(&result), (both.to_vec(), vec![]), "{list}");
    }
    // With an operand, and from standard input.
    write("one", "kept/handoff.json");
    let result = gate(here.path(), 0, &["kept/compacted.jsonl", "--files-from", "one"]);
    assert_eq!(judged(&result).0, both);
    let args = [&["gate", "--files-from", "-"][..], &RULES, &["--json"]].concat();
    let output = with_input(here.path(), &args, b"kept/handoff.json\0kept/compacted.jsonl");
    assert_eq!(judged(&parse_json(&stdout(&output))).0, both);

    let result = gate(here.path(), 1, &["--files-from", "missing"]);
    let (files, skipped) = judged(&result);
    assert_eq!(files, ["kept/handoff.json"]);
    let [(file, reason, is_damaged)] = skipped[..] else {
        panic!("{skipped:?}");
    };
    assert_eq!((file, is_damaged), ("kept/gone.json", true));
    assert!(reason.contains("no such file"), "{reason}");
    gate(here.path(), 0, &["--files-from", "missing", "--allow-damaged"]);

    // The other commands go on, too.
    for verb in ["evaluate", "sweep"] {
        let args = [verb, "--files-from", "missing", "--policy", "truncate", "--json"];
        let args =
            if verb == "sweep" { [&args[..], &["--points", "2"]].concat() } else { args.to_vec() };
        let result = parse_json(&run_with_exit_code(here.path(), 0, &args));
        assert_eq!(result["sessions"].as_array().map(Vec::len), Some(1), "{verb}");
        assert_eq!(result["skipped"][0]["file"], "kept/gone.json", "{verb}");
    }
    let sessions =
        run_with_exit_code(here.path(), 0, &["sessions", "--files-from", "missing", "--json"]);
    let sessions = parse_json(&sessions);
    assert_eq!(sessions["sessions"].as_array().map(Vec::len), Some(1));
    assert_eq!(sessions["unreadable"][0]["path"], "kept/gone.json");
    let usage = run_with_exit_code(here.path(), 0, &["usage", "--files-from", "missing", "--json"]);
    let usage = parse_json(&usage);
    assert_eq!((&usage["total"]["sessions"], &usage["unreadable"]), (&1.into(), &1.into()));
}

#[test]
fn an_unreadable_or_empty_list_is_an_error() {
    let here = folder_with_samples();
    fs::write(here.path().join("empty"), "\n\n").expect("written");
    let refused =
        |args: &[&str]| run_with_exit_code(here.path(), 2, &[&["gate"], args, &RULES].concat());
    assert!(refused(&["--files-from", "gone"]).contains("no such file"));
    assert!(refused(&["--files-from", "empty"]).contains("--files-from names no file"));
    assert!(refused(&["-", "--files-from", "-"]).contains("standard input can be read once"));
}

#[test]
fn short_runs_print_no_progress() {
    let here = folder_with_samples();
    for args in
        [&["sessions", "kept"][..], &["usage", "kept"], &["evaluate", "kept", "--policy", "none"]]
    {
        let output = plimsoll(here.path(), args);
        assert!(output.status.success());
        assert_eq!(stderr(&output), "", "{args:?}");
    }
}

/// A file of an archive: name and content.
type Member<'a> = (&'a str, &'a [u8]);

/// Writes a ZIP archive of stored files.
fn zip(files: &[Member<'_>]) -> Vec<u8> {
    let u16 = |n: usize| u16::try_from(n).expect("short").to_le_bytes();
    let u32 = |n: usize| u32::try_from(n).expect("short").to_le_bytes();
    let (mut out, mut directory) = (Vec::new(), Vec::new());
    for (name, content) in files {
        let start = out.len();
        let mut checksum = flate2::Crc::new();
        checksum.update(content);
        let lens = [u32(content.len()), u32(content.len())].concat();
        let fields = [&u16(20)[..], &[0; 8], &checksum.sum().to_le_bytes(), &lens].concat();
        let fields = [&fields[..], &u16(name.len()), &u16(0)].concat();
        out.extend([&b"PK\x03\x04"[..], &fields, name.as_bytes(), content].concat());
        let rest = [&[0; 10][..], &u32(start), name.as_bytes()].concat();
        directory.extend([&b"PK\x01\x02"[..], &u16(20), &fields, &rest].concat());
    }
    let (n, at, len) = (files.len(), out.len(), directory.len());
    out.extend(directory);
    let counts = [&[0; 4][..], &u16(n), &u16(n), &u32(len), &u32(at), &[0; 2]].concat();
    out.extend([&b"PK\x05\x06"[..], &counts].concat());
    out
}

/// Returns the header of an entry of a tar archive, whose name may be hostile.
fn tar_header(name: &str, len: u64, kind: tar::EntryType) -> tar::Header {
    let mut header = tar::Header::new_ustar();
    let field = &mut header.as_mut_bytes()[..100];
    field[..name.len()].copy_from_slice(name.as_bytes());
    header.set_mode(0o644);
    header.set_mtime(1_790_000_000);
    header.set_size(len);
    header.set_entry_type(kind);
    header.set_cksum();
    header
}

/// Writes a tar archive.
fn tar(files: &[Member<'_>]) -> Vec<u8> {
    let mut out = Vec::new();
    for (name, content) in files {
        let header = tar_header(name, content.len() as u64, tar::EntryType::Regular);
        out.extend(header.as_bytes());
        out.extend(*content);
        out.resize(out.len().next_multiple_of(512), 0);
    }
    out.resize(out.len() + 1024, 0);
    out
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(bytes).expect("writes to memory");
    encoder.finish().expect("writes to memory")
}

fn zstd(bytes: &[u8]) -> Vec<u8> {
    compress_to_vec(bytes, CompressionLevel::Fastest)
}

/// Returns both sessions of the folder, as files of an archive.
fn members(folder: &Path) -> [(&'static str, Vec<u8>); 3] {
    let read = |name: &str| fs::read(folder.join("kept").join(name)).expect("a session");
    [
        ("talks/handoff.json", read("handoff.json")),
        ("compacted.jsonl", read("compacted.jsonl")),
        ("talks/notes.txt", b"no session".to_vec()),
    ]
}

/// Returns every kind of archive of these files, with its name.
fn archives(files: &[Member<'_>]) -> [(&'static str, Vec<u8>); 5] {
    [
        ("a.zip", zip(files)),
        ("b.tar", tar(files)),
        ("c.tar.gz", gzip(&tar(files))),
        ("d.tgz", gzip(&tar(files))),
        ("e.tar.zst", zstd(&tar(files))),
    ]
}

/// Runs with a temporary folder inside `folder`, which must be empty afterwards.
fn gate_with_temporary_folder(folder: &Path, args: &[&str], input: &[u8]) -> Output {
    let temporary = folder.join("temporary");
    fs::create_dir_all(&temporary).expect("a folder");
    let all = [&["gate"], args, &RULES, &["--json"]].concat();
    let mut command = command(folder, &all);
    command.env("TMPDIR", &temporary).env("TMP", &temporary);
    fs::write(folder.join("input"), input).expect("written");
    command.stdin(fs::File::open(folder.join("input")).expect("a file"));
    let output = command.output().expect("the program starts");
    let (text, note) = (stdout(&output), stderr(&output));
    assert!(!text.contains("temporary") && !note.contains("temporary/"), "{text}{note}");
    assert_eq!(names_in(&temporary), Vec::<String>::new());
    output
}

#[test]
fn the_sessions_of_an_archive_count_like_those_of_a_folder() {
    let here = folder_with_samples();
    let files = members(here.path());
    let files = files.each_ref().map(|(name, bytes)| (*name, &bytes[..]));
    let of_folder = gate(here.path(), 0, &["kept"]);
    fs::create_dir(here.path().join("packed")).expect("a folder");
    for (name, bytes) in archives(&files) {
        let path = here.path().join(name);
        fs::write(&path, &bytes).expect("written");
        let shown =
            ["compacted.jsonl", "talks/handoff.json"].map(|inner| format!("{name}/{inner}"));
        let output = gate_with_temporary_folder(here.path(), &[name], b"");
        let result = parse_json(&stdout(&output));
        let (found, skipped) = judged(&result);
        assert_eq!(found, shown, "{name}");
        assert_eq!(skipped, vec![], "{name}");
        for session in result["sessions"].as_array().expect("a list") {
            let same = of_folder["sessions"].as_array().expect("a list").iter();
            let mut same = same.filter(|other| other["sha256"] == session["sha256"]);
            assert_eq!(same.next().expect("the same content")["lanes"], session["lanes"]);
        }
        // By content from standard input, and by name in a folder.
        let output = gate_with_temporary_folder(here.path(), &["-"], &bytes);
        let result = parse_json(&stdout(&output));
        assert_eq!(judged(&result).0, ["-/compacted.jsonl", "-/talks/handoff.json"], "{name}");
        fs::rename(&path, here.path().join("packed").join(name)).expect("moved");
    }
    let result = gate(here.path(), 0, &["packed"]);
    assert_eq!(result["sessions"].as_array().map(Vec::len), Some(10), "{:?}", judged(&result));
    assert!(judged(&result).0.contains(&"packed/c.tar.gz/talks/handoff.json"));

    let listed = run_with_exit_code(here.path(), 0, &["sessions", "packed/a.zip", "--json"]);
    let listed = parse_json(&listed);
    let paths =
        listed["sessions"].as_array().expect("a list").iter().map(|one| one["path"].as_str());
    let mut paths: Vec<&str> = paths.map(|path| path.expect("a path")).collect();
    paths.sort_unstable();
    assert_eq!(paths, ["packed/a.zip/compacted.jsonl", "packed/a.zip/talks/handoff.json"]);
    let cache = here.path().join(".local/share/plimsoll/sessions.json");
    let cached = fs::read_to_string(cache).unwrap_or_default();
    assert!(!cached.contains("handoff.json"), "temporary files are not cached: {cached}");
    let found = ["sessions", "packed/a.zip", "--search", "the", "--json"];
    let found = parse_json(&run_with_exit_code(here.path(), 0, &found));
    assert!(found["sessions_with_matches"].as_u64() > Some(0), "{found}");
    for session in found["sessions"].as_array().expect("a list") {
        assert!(
            session["path"].as_str().expect("a path").starts_with("packed/a.zip/"),
            "{session}"
        );
    }
    let usage = |path: &str| {
        let usage = parse_json(&run_with_exit_code(here.path(), 0, &["usage", path, "--json"]));
        usage["total"].clone()
    };
    assert_eq!(usage("packed/b.tar"), usage("kept"));
}

#[test]
fn a_session_on_standard_input_is_still_one() {
    let here = folder_with_samples();
    let session = fs::read(here.path().join("kept/handoff.json")).expect("a session");
    for input in [session.clone(), gzip(&session), zstd(&session)] {
        let output = gate_with_temporary_folder(here.path(), &["-"], &input);
        assert_eq!(judged(&parse_json(&stdout(&output))).0, ["-"]);
    }
    let output = with_input(here.path(), &["sessions", "-", "--json"], &session);
    assert_eq!(parse_json(&stdout(&output))["sessions"][0]["path"], "-");
    let cut = gate_with_temporary_folder(here.path(), &["-"], &session[..session.len() / 2]);
    assert_eq!(cut.status.code(), Some(1), "a damaged file fails: {}", stderr(&cut));
    assert_eq!(judged(&parse_json(&stdout(&cut))).1[0].0, "-");
}

#[test]
fn an_archive_that_is_one_session_stays_one() {
    let here = folder_with_samples();
    let log = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases/inspect.eval");
    fs::copy(log, here.path().join("log.zip")).expect("a copy");
    let result = gate(here.path(), 0, &["log.zip"]);
    assert_eq!(judged(&result).0, ["log.zip", "log.zip"]);
}

#[test]
fn names_links_and_devices_of_a_hostile_archive_do_not_leave_its_folder() {
    let here = folder_with_samples();
    let [(_, session), ..] = members(here.path());
    let absolute = "/plimsoll-outside.json";
    let names = ["../outside.json", "a/../../../outside.json", absolute, "safe.json"];
    let files = names.map(|name| (name, &session[..]));
    let mut with_links = tar(&files);
    let end = with_links.len() - 1024;
    let kinds = [
        ("link.json", tar::EntryType::Symlink),
        ("hard.json", tar::EntryType::Link),
        ("pipe.json", tar::EntryType::Fifo),
        ("device.json", tar::EntryType::Block),
    ];
    for (nth, (name, kind)) in kinds.into_iter().enumerate() {
        let mut header = tar_header(name, 0, kind);
        header.set_link_name("/etc/hostname").expect("short");
        header.set_cksum();
        let at = end + nth * 512;
        drop(with_links.splice(at..at, header.as_bytes().iter().copied()));
    }
    for (name, bytes, left_out) in [("a.zip", zip(&files), 3), ("b.tar.gz", gzip(&with_links), 7)] {
        fs::write(here.path().join(name), bytes).expect("written");
        let output = gate_with_temporary_folder(here.path(), &[name], b"");
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        assert_eq!(judged(&parse_json(&stdout(&output))).0, [format!("{name}/safe.json")]);
        let note = stderr(&output);
        assert!(note.contains(&format!("{name}: {left_out} items are left out")), "{note}");
        assert!(!Path::new(absolute).exists(), "{name}");
        // The folder of the archive is three folders below.
        let temporary = here.path().join("temporary");
        assert!(
            !temporary.join("outside.json").exists() && !here.path().join("outside.json").exists()
        );
    }
}

#[test]
fn damaged_archives_and_bombs_are_reported_and_what_was_read_counts() {
    let here = folder_with_samples();
    let files = members(here.path());
    let files = files.each_ref().map(|(name, bytes)| (*name, &bytes[..]));
    let whole = gzip(&tar(&files));
    let spaces = vec![b' '; 200 << 20];
    let bomb = gzip(&tar(&[("good.json", files[0].1), ("bomb.json", &spaces)]));
    drop(spaces);
    let packed = here.path().join("packed");
    fs::create_dir(&packed).expect("a folder");
    fs::write(packed.join("bomb.tar.gz"), bomb).expect("written");
    fs::write(packed.join("cut.tar.gz"), &whole[..whole.len() - 9]).expect("written");
    fs::write(packed.join("cut.zip"), &zip(&files)[..900]).expect("written");
    fs::write(packed.join("other.zip"), zip(&[("read.me", b"no session")])).expect("written");
    let output = gate_with_temporary_folder(here.path(), &["packed"], b"");
    assert_eq!(output.status.code(), Some(1));
    let result = parse_json(&stdout(&output));
    let (files, skipped) = judged(&result);
    assert!(files.contains(&"packed/bomb.tar.gz/good.json"), "{files:?}");
    assert!(files.contains(&"packed/cut.tar.gz/talks/handoff.json"), "{files:?}");
    assert!(!files.iter().any(|file| file.ends_with("bomb.json")), "{files:?}");
    let mut damaged: Vec<&str> =
        skipped.iter().filter(|(.., is)| *is).map(|(file, ..)| *file).collect();
    damaged.sort_unstable();
    assert_eq!(damaged, ["packed/bomb.tar.gz", "packed/cut.tar.gz", "packed/cut.zip"]);
    let reason =
        |name: &str| skipped.iter().find(|(file, ..)| file.ends_with(name)).expect("skipped").1;
    assert!(reason("bomb.tar.gz").contains("400 times its size"), "{}", reason("bomb.tar.gz"));
    assert!(reason("other.zip").contains("holds no session file"));

    // Named, they end the commands that do not report damage.
    let named = ["evaluate", "packed/cut.zip", "--policy", "none"];
    let error = run_with_exit_code(here.path(), 2, &named);
    assert!(error.contains("cannot unpack packed/cut.zip"), "{error}");
    let named = ["evaluate", "packed/other.zip", "--policy", "none"];
    let error = run_with_exit_code(here.path(), 2, &named);
    assert!(error.contains("packed/other.zip holds no session file"), "{error}");
}

#[test]
fn long_names_of_gnu_and_posix_are_read() {
    let here = folder_with_samples();
    let [(_, session), ..] = members(here.path());
    let folder = "a-folder-with-a-long-name/".repeat(6);
    let names = ["gnu", "posix"].map(|kind| format!("{folder}{kind}.json"));
    let mut out = Vec::new();
    let mut add = |name: &str, bytes: &[u8], kind| {
        out.extend(tar_header(name, bytes.len() as u64, kind).as_bytes());
        out.extend(bytes);
        out.resize(out.len().next_multiple_of(512), 0);
    };
    let gnu_name = [names[0].as_bytes(), b"\0"].concat();
    add("././@LongLink", &gnu_name, tar::EntryType::GNULongName);
    add("short.json", &session, tar::EntryType::Regular);
    // A record begins with its own length in digits.
    let record = |len: usize| format!("{len} path={}\n", names[1]);
    let record = record(record(record(100).len()).len());
    add("PaxHeaders/x", record.as_bytes(), tar::EntryType::XHeader);
    add("short.json", &session, tar::EntryType::Regular);
    out.resize(out.len() + 1024, 0);
    fs::write(here.path().join("a.tar"), out).expect("written");
    let result = gate(here.path(), 0, &["a.tar"]);
    assert_eq!(judged(&result).0, names.map(|name| format!("a.tar/{name}")));
}
