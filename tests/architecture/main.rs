//! Checks rules that the compiler does not enforce inside a crate: allowed imports, pure layers, folders without circles,
//! complete tables.
//!
//! Each rule is a function that returns the violations of a file. Each rule has tests with texts that violate it.

mod cycles;
mod host;
mod imports;
mod source;
mod window;

use cycles::folder_circles;
use imports::Modules;
use plimsoll::formats::FORMATS;
use plimsoll::presets::PRESETS;
use rayon::prelude::*;
use source::{Source, code_of, paths_of};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;
use window::{drawing_in_state, wrong_in_window};

/// The layers that each layer may import. `lib.rs` declares them and is not a layer.
const LAYERS: [(&str, &[&str]); 25] = [
    ("units", &[]),
    ("figure", &["units"]),
    ("safe_text", &[]),
    ("names", &[]),
    ("progress", &["units"]),
    ("json", &[]),
    ("languages", &["json"]),
    ("session", &["units"]),
    ("formats", &["units", "progress", "json", "session"]),
    ("token_counter", &[]),
    ("tokens", &["units", "progress", "session", "token_counter"]),
    ("chat", &["json", "session"]),
    ("engine", &["units", "names", "json", "session", "chat", "tokens"]),
    ("systems", &["units", "json", "languages", "session", "chat", "tokens", "engine"]),
    ("presets", &["units", "json", "session", "chat", "tokens", "engine", "systems"]),
    (
        "analysis",
        &[
            "units", "figure", "names", "progress", "json", "session", "chat", "tokens", "engine",
            "presets",
        ],
    ),
    ("providers", &["units", "json", "session", "chat"]),
    (
        "report",
        &["units", "figure", "safe_text", "session", "tokens", "engine", "presets", "analysis"],
    ),
    (
        "live",
        &[
            "units", "names", "progress", "json", "session", "formats", "chat", "tokens", "engine",
            "presets",
        ],
    ),
    (
        "exec",
        &[
            "units",
            "figure",
            "progress",
            "json",
            "session",
            "formats",
            "tokens",
            "chat",
            "engine",
            "presets",
            "analysis",
            "providers",
        ],
    ),
    (
        "cli",
        &[
            "units",
            "figure",
            "safe_text",
            "names",
            "progress",
            "json",
            "session",
            "formats",
            "tokens",
            "engine",
            "presets",
            "analysis",
            "providers",
            "report",
            "exec",
        ],
    ),
    (
        "app",
        &[
            "units",
            "figure",
            "safe_text",
            "names",
            "progress",
            "json",
            "session",
            "formats",
            "tokens",
            "engine",
            "presets",
            "analysis",
            "providers",
            "report",
            "exec",
        ],
    ),
    ("main", &["cli", "app"]),
    ("python", &["units", "session", "live"]),
    ("node", &["units", "session", "live"]),
];

/// Layers without side effects and without access to files, network, clock, environment and threads.
const PURE: [&str; 19] = [
    "units",
    "figure",
    "safe_text",
    "names",
    "progress",
    "json",
    "languages",
    "session",
    "formats",
    "token_counter",
    "tokens",
    "chat",
    "engine",
    "systems",
    "presets",
    "analysis",
    "providers",
    "report",
    "live",
];

/// Names that a pure layer may not use, by the start of their path.
const IMPURE_PATHS: [&str; 15] = [
    "std::env",
    "std::fs",
    "std::io::Stderr",
    "std::io::Stdin",
    "std::io::Stdout",
    "std::io::stderr",
    "std::io::stdin",
    "std::io::stdout",
    "std::os",
    "std::process",
    "std::thread",
    "std::time::Instant",
    "std::time::SystemTime",
    "etcetera",
    "tempfile",
];

/// Names that use the network, by the start of their path; only `exec/model` uses them.
const NETWORK: [&str; 3] = ["std::net", "reqwest", "rustls"];

/// Names of libraries for concurrent requests; only `exec/model` and the server on standard input use them.
const CONCURRENT: [&str; 2] = ["rmcp", "tokio"];

/// Names in them that use the network.
const CONCURRENT_NETWORK: [&str; 1] = ["tokio::net"];

/// Names that access files, by the start of their path; only `exec` uses them.
const FILES: [&str; 4] = ["std::fs", "tempfile", "image::open", "image::save_buffer"];

/// Methods that access files.
const FILE_METHODS: [&str; 10] = [
    "canonicalize",
    "exists",
    "is_dir",
    "is_file",
    "read_dir",
    "read_link",
    "save_with_format",
    "symlink_metadata",
    "tempfile_in",
    "try_exists",
];

/// Names that only the window may use.
const WINDOW: [&str; 7] =
    ["eframe", "egui", "egui_extras", "egui_plot", "poll_promise", "rfd", "winit"];

/// Macros that print. `cli/output.rs` prints without them.
const PRINTING: [&str; 5] = ["dbg", "eprint", "eprintln", "print", "println"];

/// Maximum number of lines of a file other than tests.
const MAX_LINES: usize = 600;

/// Returns the layer of a file under `src` or `src/core`.
fn layer_of(path: &str) -> &str {
    let first = path.split('/').next().unwrap_or(path);
    match first.strip_suffix(".rs").unwrap_or(first) {
        // `main.rs` and `window.rs` are the program.
        "window" => "main",
        layer => layer,
    }
}

/// Returns the imports of layers that the file's layer may not import.
fn forbidden_layers(source: &Source) -> Vec<String> {
    let path = &source.path;
    let layer = layer_of(path);
    let Some((_, allowed)) = LAYERS.iter().find(|(name, _)| *name == layer) else {
        return if layer == "lib" {
            Vec::new()
        } else {
            vec![format!("{path}: `{layer}` is not in the table of layers")]
        };
    };
    let is_layer = |name: &str| LAYERS.iter().any(|(layer, _)| *layer == name);
    let imported = source.paths.iter().filter_map(|p| layer_named(path, p));
    let forbidden =
        imported.filter(|name| *name != layer && is_layer(name) && !allowed.contains(name));
    let mut violations: Vec<String> =
        forbidden.map(|name| format!("{path}: `{layer}` may not import `{name}`")).collect();
    violations.dedup();
    violations
}

/// Returns the top module of a path that leads to the crate's root. `file` is the file that contains it.
fn layer_named<'a>(file: &str, path: &'a str) -> Option<&'a str> {
    let mut names = path.split("::");
    let first = names.next()?;
    if ["crate", "plimsoll", "plimsoll_core"].contains(&first) {
        return names.next();
    }
    // `super` from a file `a/b.rs` is `a`, from `a/mod.rs` the root.
    let is_mod = file.ends_with("/mod.rs");
    let depth = file.split('/').count() - usize::from(is_mod);
    let ups = path.split("::").take_while(|name| *name == "super").count();
    (ups > 0 && ups == depth).then(|| path.split("::").nth(ups)).flatten()
}

/// Whether a path is `prefix` or continues it.
fn is_under(path: &str, prefix: &str) -> bool {
    let rest = path.strip_prefix(prefix);
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with("::"))
}

/// Returns the impure paths, and paths of the network and the window, that the file may not use.
fn forbidden_paths(source: &Source) -> Vec<String> {
    let path = &source.path;
    let layer = layer_of(path);
    let is_pure = PURE.contains(&layer);
    let is_window = matches!(layer, "app" | "main");
    let is_client = path.starts_with("exec/model/");
    let is_concurrent = is_client || path == "exec/mcp.rs";
    let wrong = source.paths.iter().filter(|p| {
        (is_pure && IMPURE_PATHS.iter().any(|impure| is_under(p, impure)))
            || (!is_window && WINDOW.iter().any(|library| is_under(p, library)))
            || (!is_client && NETWORK.iter().any(|library| is_under(p, library)))
            || (!is_client && CONCURRENT_NETWORK.iter().any(|library| is_under(p, library)))
            || (!is_concurrent && CONCURRENT.iter().any(|library| is_under(p, library)))
    });
    wrong.map(|p| format!("{path}: `{layer}` may not use `{p}`")).collect()
}

/// Returns paths and methods that access files outside of `exec`. [`forbidden_paths`] checks the pure layers.
fn file_access(source: &Source) -> Vec<String> {
    let path = &source.path;
    let layer = layer_of(path);
    if !matches!(layer, "cli" | "app" | "main") {
        return Vec::new();
    }
    let wrong = source.paths.iter().filter(|p| {
        let last = p.rsplit("::").next().unwrap_or(p);
        FILES.iter().any(|file| is_under(p, file)) || FILE_METHODS.contains(&last)
    });
    wrong.map(|p| format!("{path}: `{p}`; only exec accesses files")).collect()
}

/// Returns macros and streams that print outside of `cli/output.rs`.
fn printing(source: &Source) -> Vec<String> {
    let path = &source.path;
    let macros = source.macros.iter().filter(|m| PRINTING.contains(&m.as_str()));
    let streams = source.paths.iter().filter(|p| {
        path != "cli/output.rs"
            && ["stdout", "stderr"].iter().any(|s| p.ends_with(&format!("io::{s}")))
    });
    macros
        .map(|m| format!("{m}!"))
        .chain(streams.cloned())
        .map(|what| format!("{path}: `{what}`; only cli/output.rs prints"))
        .collect()
}

/// Returns the file if it has too many lines.
fn too_long(source: &Source) -> Vec<String> {
    let path = &source.path;
    let lines = source.text.lines().count();
    let is_tests = path.ends_with("tests.rs") || path.contains("/tests/");
    if lines > MAX_LINES && !is_tests {
        vec![format!("{path}: {lines} lines, at most {MAX_LINES}")]
    } else {
        Vec::new()
    }
}

/// Returns the rows (`const NAME: Row = …`) of a file that are missing from the table in the `mod.rs` of its folder.
///
/// `child` is the file's module in the folder, `row` the type of the rows, and `table` the text of `mod.rs`.
fn missing_rows(child: &str, text: &str, row: &str, table: &str) -> Vec<String> {
    let code = code_of(text);
    let code = code.split_whitespace().collect::<Vec<_>>().join(" ");
    let (table, marker) = (code_of(table), format!(": {row} ="));
    let names = code.match_indices(&marker).filter_map(|(at, _)| code[..at].rsplit(' ').next());
    let missing = names.filter(|name| !paths_of(&table).contains(&format!("{child}::{name}")));
    missing.map(|name| format!("the table of {row}s has no row {child}::{name}")).collect()
}

/// Returns a module that the `mod.rs` of its folder does not declare. Such a file is not compiled.
fn undeclared(child: &str, table: &str) -> Vec<String> {
    let code = code_of(table);
    let words: Vec<&str> = code.split_whitespace().collect();
    let is_declared =
        words.windows(2).any(|w| w[0] == "mod" && w[1].trim_end_matches(';') == child);
    if is_declared { Vec::new() } else { vec![format!("`mod {child};` is missing")] }
}

/// Returns the formats that code outside of `formats` names. It uses the properties of [`Format`] instead.
///
/// [`Format`]: plimsoll::formats::Format
fn formats_named(source: &Source) -> Vec<String> {
    let path = &source.path;
    if path.starts_with("formats/") {
        return Vec::new();
    }
    let code = source.text.split("#[cfg(test)]").next().unwrap_or_default();
    // Names of one word are also names of presets.
    let names = FORMATS.iter().map(|format| format.name);
    let names = names.filter(|name| name.contains('_') && code.contains(&format!("\"{name}\"")));
    names
        .map(|name| format!("{path}: code outside of `formats` may not name the format {name}"))
        .collect()
}

fn src() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src")
}

/// The source files. Examples are programs of their own.
static SOURCES: LazyLock<Vec<Source>> = LazyLock::new(|| {
    let below_core = |path: &str| path.strip_prefix("core/").unwrap_or(path).to_owned();
    let mut files = files_under(&src());
    files.retain(|(path, _)| !path.starts_with("core/examples/"));
    let files = files.into_par_iter();
    files.map(|(path, text)| Source::new(below_core(&path), text)).collect()
});

/// Returns the source files except tests. Files named `tests.rs` or `*_tests.rs` are compiled for tests only and may import
/// any layer.
fn tested_sources() -> impl Iterator<Item = &'static Source> {
    assert!(SOURCES.len() > 20, "found only {} files", SOURCES.len());
    let is_tests = |path: &str| path.ends_with("/tests.rs") || path.ends_with("_tests.rs");
    SOURCES.iter().filter(move |source| !is_tests(&source.path))
}

/// Returns every source file under a folder with its relative path.
fn files_under(folder: &Path) -> Vec<(String, String)> {
    let mut files = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        for entry in fs::read_dir(&next).expect("the folder is there") {
            let path = entry.expect("its entries can be read").path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|e| e == "rs") {
                let name = path
                    .strip_prefix(folder)
                    .expect("the path starts with the folder")
                    .to_string_lossy()
                    .replace('\\', "/");
                files.push((name, fs::read_to_string(&path).expect("sources are UTF-8")));
            }
        }
    }
    files.sort();
    files
}

/// Fails with the violations, one per line.
fn assert_none(violations: &[String]) {
    assert!(violations.is_empty(), "{}", violations.join("\n"));
}

/// Checks that no source file violates a rule.
fn check_all(rule: fn(&Source) -> Vec<String>) {
    let wrong: Vec<String> = tested_sources().flat_map(rule).collect();
    assert_none(&wrong);
}

/// Checks that the `mod.rs` of a folder declares every file and lists every row in its table. Returns the number of files
/// with a row.
fn check_table(folder: &str, row: &str) -> usize {
    let files = files_under(&src().join("core").join(folder));
    let table =
        &files.iter().find(|(path, _)| path == "mod.rs").expect("the folder has a mod.rs").1;
    let (mut wrong, mut rows) = (Vec::new(), 0);
    for (path, text) in
        files.iter().filter(|(path, _)| path != "mod.rs" && !path.ends_with("/tests.rs"))
    {
        let child = path.split('/').next().unwrap_or(path).trim_end_matches(".rs");
        let found = [undeclared(child, table), missing_rows(child, text, row, table)].concat();
        wrong.extend(found.iter().map(|what| format!("src/core/{folder}/mod.rs: {what}")));
        rows += usize::from(text.contains(&format!(": {row} =")));
    }
    assert_none(&wrong);
    rows
}

#[test]
fn layers_do_not_import_higher_layers() {
    check_all(forbidden_layers);
}

#[test]
fn pure_layers_are_pure_and_only_the_window_imports_its_libraries() {
    check_all(forbidden_paths);
}

#[test]
fn only_exec_accesses_files() {
    check_all(file_access);
}

#[test]
fn only_the_output_of_the_command_line_prints() {
    check_all(printing);
}

#[test]
fn only_formats_name_a_format() {
    check_all(formats_named);
}

#[test]
fn no_file_has_too_many_lines() {
    check_all(too_long);
}

/// Returns the resolved modules except the roots of crates.
fn modules() -> Modules<'static> {
    let is_root = |source: &&Source| matches!(&*source.path, "main.rs" | "lib.rs");
    Modules::new(tested_sources().filter(|source| !is_root(source)))
}

#[test]
fn folders_form_no_circles() {
    let circles = folder_circles(&modules().imports()).into_iter();
    let circles: Vec<String> = circles.map(|circle| circle.to_string()).collect();
    assert!(circles.is_empty(), "{}", circles.join("\n"));
}

#[test]
fn the_window_has_floors_and_its_panels_do_not_know_each_other() {
    let modules = modules();
    let found: Vec<String> = modules.imports().iter().filter_map(wrong_in_window).collect();
    assert_none(&found);
}

#[test]
fn the_state_of_the_window_does_not_draw() {
    check_all(drawing_in_state);
}

#[test]
fn every_format_counter_and_api_is_in_its_table() {
    assert!(check_table("formats", "Format") >= 4);
    assert!(check_table("providers", "Api") >= 3);
    assert!(check_table("tokens", "Counter") >= 2);
}

#[test]
fn every_file_of_the_window_is_declared() {
    let files = files_under(&src().join("app"));
    assert!(files.len() > 100, "found only {} files", files.len());
    for (path, _) in
        files.iter().filter(|(path, _)| path != "mod.rs" && !path.ends_with("/tests.rs"))
    {
        let module = path.trim_end_matches(".rs").trim_end_matches("/mod");
        let (folder, child) = module.rsplit_once('/').unwrap_or(("", module));
        let parent =
            if folder.is_empty() { "mod.rs".to_owned() } else { format!("{folder}/mod.rs") };
        let (_, declarations) =
            files.iter().find(|(path, _)| *path == parent).expect("a folder has a mod.rs");
        let found = undeclared(child, declarations).into_iter();
        assert_none(&found.map(|what| format!("src/app/{parent}: {what}")).collect::<Vec<_>>());
    }
}

#[test]
fn every_preset_file_is_in_the_table_under_its_own_name() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/core/assets/presets");
    let names =
        fs::read_dir(folder).expect("the presets are there").map(|e| e.expect("readable").path());
    let has_row = |name: &str| PRESETS.iter().any(|preset| preset.name == name);
    // A row without a file does not compile.
    let mut wrong: Vec<String> = names
        .map(|path| path.file_stem().expect("files have names").to_string_lossy().into_owned())
        .filter(|name| !has_row(name))
        .map(|name| format!("src/core/presets/mod.rs: PRESETS has no row `{name}`"))
        .collect();
    for preset in PRESETS {
        let (row, stated) = (preset.name, preset.policy().expect("a bundled preset is right").name);
        if stated != row {
            wrong.push(format!("src/core/assets/presets/{row}.toml: `name` is `{stated}`"));
        }
    }
    assert_none(&wrong);
}

#[test]
fn imports_of_higher_layers_are_found_in_every_notation() {
    let wrong = |path: &str, text: &str| forbidden_layers(&Source::new(path, text)).len();
    assert_eq!(wrong("session/mod.rs", "use crate::tokens::Fit;"), 1);
    assert_eq!(wrong("session/mod.rs", "use crate::{units::Tokens, formats::{self, Input}};"), 1);
    assert_eq!(wrong("session/part.rs", "fn f() { crate::engine::drive() }"), 1);
    assert_eq!(wrong("session/mod.rs", "use plimsoll_core::tokens::Fit;"), 1);
    assert_eq!(wrong("session/mod.rs", "use super::tokens;"), 1);
    assert_eq!(wrong("session/a/b.rs", "use super::super::super::tokens;"), 1);
    assert_eq!(wrong("cli/mod.rs", "use crate::app::App;"), 1);
    assert_eq!(wrong("main.rs", "use plimsoll::engine::Case;"), 1);
    assert_eq!(wrong("newcomer/mod.rs", ""), 1);
}

#[test]
fn allowed_imports_are_accepted() {
    let wrong = |path: &str, text: &str| forbidden_layers(&Source::new(path, text));
    let none = Vec::<String>::new();
    assert_eq!(wrong("engine/mod.rs", "use crate::{session::Session, tokens};"), none);
    assert_eq!(
        wrong(
            "session/mod.rs",
            "// crate::engine\n/* crate::app */ const A: &str = \"crate::cli\";"
        ),
        none
    );
    assert_eq!(
        wrong(
            "session/mod.rs",
            "const A: &str = r#\"\" crate::cli\"#; fn f<'a>() -> char { '\"' }"
        ),
        none
    );
    assert_eq!(wrong("session/part.rs", "use super::tokens;"), none);
    assert_eq!(
        wrong("session/mod.rs", "#[cfg(test)]\nmod tests { use crate::engine::drive; fn f() {} }"),
        none
    );
    assert_eq!(wrong("session/mod.rs", "#[cfg(test)]\nmod tests;\nuse crate::cli::run;").len(), 1);
    assert_eq!(wrong("main.rs", "use plimsoll::{app, cli};"), none);
}

#[test]
fn input_and_output_in_a_pure_layer_are_found() {
    let wrong = |path: &str, text: &str| forbidden_paths(&Source::new(path, text)).len();
    assert_eq!(wrong("engine/mod.rs", "use std::fs;"), 1);
    assert_eq!(wrong("engine/mod.rs", "use std::{fmt, thread};"), 1);
    assert_eq!(wrong("formats/mod.rs", "use std::time::{Duration, Instant};"), 1);
    assert_eq!(wrong("tokens/mod.rs", "fn f() { std::env::var(\"A\"); }"), 1);
    assert_eq!(wrong("analysis/mod.rs", "use std::io::{self, stdin as s};"), 1);
    assert_eq!(wrong("exec/mod.rs", "use eframe::egui;"), 1);
    assert_eq!(wrong("cli/mod.rs", "fn f(c: egui::Context) {}"), 1);
    assert_eq!(wrong("exec/mod.rs", "use std::{fs, thread};"), 0);
    assert_eq!(wrong("app/mod.rs", "use eframe::egui;"), 0);
    assert_eq!(wrong("cli/mod.rs", "use reqwest::Client;"), 1);
    assert_eq!(wrong("exec/load.rs", "use std::net::TcpStream;"), 1);
    assert_eq!(wrong("exec/model/ask.rs", "use reqwest::Client;"), 0);
    assert_eq!(wrong("engine/mod.rs", "use std::time::Duration; use std::io::Read as _;"), 0);
}

#[test]
fn file_access_outside_exec_is_found() {
    let wrong = |path: &str, text: &str| file_access(&Source::new(path, text)).len();
    assert_eq!(wrong("app/mod.rs", "use std::{fmt, fs};"), 1);
    assert_eq!(wrong("cli/mod.rs", "fn f() { std::fs::write(\"a\", \"b\"); }"), 1);
    assert_eq!(wrong("app/picture.rs", "fn f(i: RgbaImage) { i.save_with_format(p, f) }"), 1);
    assert_eq!(wrong("main.rs", "fn f(p: &Path) -> bool { p.exists() }"), 1);
    assert_eq!(wrong("exec/mod.rs", "use std::fs; use tempfile::NamedTempFile;"), 0);
    assert_eq!(
        wrong(
            "app/mod.rs",
            "#[cfg(test)]\nmod tests { use std::fs; }\nconst A: &str = \"std::fs\"; fn f() { include_bytes!(\"a\"); }"
        ),
        0
    );
}

#[test]
fn printing_outside_of_the_output_module_is_found() {
    let wrong = |path: &str, text: &str| printing(&Source::new(path, text)).len();
    assert_eq!(wrong("engine/mod.rs", "fn f() { println!(\"{}\", 1) }"), 1);
    assert_eq!(wrong("cli/mod.rs", "fn f() { std::io::stdout().lock(); }"), 1);
    assert_eq!(wrong("cli/output.rs", "fn f() { io::stdout().lock(); }"), 0);
    assert_eq!(wrong("cli/mod.rs", "// println!(1)\nfn f(println: bool) -> bool { !println }"), 0);
}

#[test]
fn a_file_of_more_than_600_lines_is_found() {
    let wrong = |path, lines| too_long(&Source::new(path, "\n".repeat(lines))).len();
    assert_eq!(wrong("engine/run.rs", MAX_LINES + 1), 1);
    assert_eq!(wrong("engine/run.rs", MAX_LINES), 0);
    assert_eq!(wrong("engine/tests.rs", MAX_LINES + 1), 0);
}

#[test]
fn missing_rows_and_undeclared_files_are_found() {
    let table = "mod pi; mod qwen;\nstatic FORMATS: &[Format] = &[pi::FORMAT];";
    let file = "pub(super) const FORMAT: Format = Format { };";
    assert_eq!(missing_rows("pi", file, "Format", table).len(), 0);
    assert_eq!(missing_rows("qwen", file, "Format", table).len(), 1);
    assert_eq!(
        missing_rows("pi", "pub const OTHER: Format =\n Format {};", "Format", table).len(),
        1
    );
    assert_eq!(undeclared("qwen", table).len(), 0);
    assert_eq!(undeclared("goose", table).len(), 1);
}
