//! Lists of formats and presets in `README.md` and `docs`, compared with the tables of the program.

use crate::repository::repository;
use plimsoll_core::engine::{Policy, PolicyKind};
use plimsoll_core::formats::{self, FORMATS, Format};
use plimsoll_core::presets::{self, PRESETS};

fn page(name: &str) -> String {
    let path = repository().join(name);
    std::fs::read_to_string(path).expect("the page exists")
}

/// Returns the cells of each table row of a page or section.
fn rows(text: &str) -> Vec<Vec<&str>> {
    let rows = text.lines().filter_map(|line| line.strip_prefix("| "));
    rows.map(|row| row.trim_end_matches('|').split('|').map(str::trim).collect()).collect()
}

/// Returns the texts between backticks.
fn names(cell: &str) -> Vec<&str> {
    cell.split('`').skip(1).step_by(2).collect()
}

/// Returns the section of a page below this heading.
fn section<'a>(page: &'a str, heading: &str) -> &'a str {
    let (_, rest) = page
        .split_once(&format!("\n## {heading}\n"))
        .unwrap_or_else(|| panic!("no section {heading}"));
    rest.split("\n## ").next().unwrap_or_default()
}

/// Checks that a page lists each of these names once.
fn assert_lists(page: &str, mut listed: Vec<&str>, known: impl Iterator<Item = &'static str>) {
    let mut wrong = Vec::new();
    for name in known {
        match listed.iter().filter(|found| **found == name).count() {
            0 => wrong.push(format!("`{name}` is missing")),
            1 => (),
            n => wrong.push(format!("`{name}` is listed {n} times")),
        }
        listed.retain(|found| *found != name);
    }
    wrong.extend(listed.iter().map(|name| format!("`{name}` does not exist")));
    assert!(wrong.is_empty(), "{page}:\n{}", wrong.join("\n"));
}

#[test]
fn the_page_of_formats_lists_each_format_once_and_what_is_written() {
    let page = page("docs/formats.md");
    let mut listed = Vec::new();
    for row in rows(&page) {
        let [_, named, _, written] = row[..] else {
            continue;
        };
        let found: Vec<&Format> = names(named).iter().filter_map(|n| formats::by_name(n)).collect();
        if found.is_empty() {
            continue;
        }
        assert_eq!(found.len(), names(named).len(), "docs/formats.md: unknown format in {named}");
        let is_writable = found.iter().any(|format| format.is_writable());
        assert_eq!(written != "–", is_writable, "docs/formats.md: {named} is written: {written}");
        let accepts_any = found.iter().all(|format| format.accepts_any_source());
        assert_eq!(written == "any source", accepts_any, "docs/formats.md: {named}: {written}");
        listed.extend(found.iter().map(|format| format.name));
    }
    assert_lists("docs/formats.md", listed, FORMATS.iter().map(|format| format.name));
}

#[test]
fn the_readme_counts_and_names_the_formats() {
    let readme = page("README.md");
    let count = format!("Opens {} session formats", FORMATS.len());
    assert!(readme.contains(&count), "README.md does not say: {count}");
    let section = section(&readme, "Formats");
    for format in FORMATS {
        let program = format.label.split([' ', ',']).next().unwrap_or_default();
        let (name, label) = (format.name, format.label);
        assert!(section.contains(program), "README.md, Formats: {label} ({name}) is missing");
    }
}

#[test]
fn the_readme_counts_and_lists_the_presets_by_kind() {
    let readme = page("README.md");
    let section = section(&readme, "Presets");
    let mut listed: Vec<Policy> = Vec::new();
    for row in rows(section) {
        let Some(kind) =
            PolicyKind::ALL.into_iter().find(|kind| kind.title().to_lowercase() == row[0])
        else {
            continue;
        };
        for name in names(row[1]) {
            let policy = presets::by_name(name);
            let policy = policy.unwrap_or_else(|| panic!("README.md, Presets: no preset {name}"));
            assert_eq!(policy.kind, Some(kind), "README.md, Presets: {name} is in another row");
            listed.push(policy);
        }
    }
    // Variants begin with the name of their system.
    for preset in PRESETS {
        let is_of = |policy: &Policy| {
            let rest = preset.name.strip_prefix(&*policy.name);
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
        };
        let kind = preset.policy().expect("bundled").kind.map_or("none", PolicyKind::title);
        let row = kind.to_lowercase();
        let name = preset.name;
        assert!(listed.iter().any(is_of), "README.md, Presets: {name} is missing in the row {row}");
    }
    let is_system = |policy: &&Policy| {
        !matches!(policy.kind, Some(PolicyKind::Strategy | PolicyKind::Provider))
    };
    let n = listed.iter().filter(is_system).count();
    let count = format!("policies of {n} agents");
    assert!(readme.contains(&count), "README.md does not say: {count}");
}

#[test]
fn each_action_of_stages_is_documented_and_sampled_by_the_fuzzer() {
    let preset = "name = \"a\"\nlabel = \"A\"\nhelp = \"\"\n[[stage]]\nid = \"s\"\nat = \"before_call\"\nwhen = \"true\"\ndo = { none = 1 }";
    let error = presets::parse(preset).expect_err("the action is unknown").to_string();
    let (_, known) = error.split_once("expected one of ").expect("the error lists the actions");
    let (documented, sampled) = (page("docs/presets.md"), page("tests/fuzz/src/random_case.rs"));
    let actions = names(known);
    assert!(actions.contains(&"summarize"), "{error}");
    for action in actions {
        assert!(
            documented.contains(&format!("\n| `{action} = ")),
            "{action} is not in docs/presets.md"
        );
        assert!(sampled.contains(&format!("name: \"{action}\"")), "the fuzzer has no {action}");
    }
}
