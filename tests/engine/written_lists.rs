//! Lists of formats and presets in `README.md` and `docs`, compared with the tables of the program.

use plimsoll::engine::{Policy, PolicyKind};
use plimsoll::formats::{self, FORMATS, Format};
use plimsoll::presets::{self, PRESETS};
use std::path::Path;

fn page(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(name);
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
        assert_eq!(found.len(), names(named).len(), "unknown format in {named}");
        let is_writable = found.iter().any(|format| format.is_writable());
        assert_eq!(written != "–", is_writable, "{named}: {written}");
        let accepts_any = found.iter().all(|format| format.accepts_any_source());
        assert_eq!(written == "any source", accepts_any, "{named}: {written}");
        listed.extend(found.iter().map(|format| format.name));
    }
    listed.sort_unstable();
    let mut known: Vec<&str> = FORMATS.iter().map(|format| format.name).collect();
    known.sort_unstable();
    assert_eq!(listed, known);
}

#[test]
fn the_readme_counts_and_names_the_formats() {
    let readme = page("README.md");
    let count = format!("Opens {} session formats", FORMATS.len());
    assert!(readme.contains(&count), "{count}");
    let section = section(&readme, "Formats");
    for format in FORMATS {
        let program = format.label.split([' ', ',']).next().unwrap_or_default();
        assert!(section.contains(program), "{} is missing", format.label);
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
            let policy = presets::by_name(name).unwrap_or_else(|| panic!("no preset {name}"));
            assert_eq!(policy.kind, Some(kind), "{name}");
            listed.push(policy);
        }
    }
    // Variants begin with the name of their system.
    for preset in PRESETS {
        let is_of = |policy: &Policy| {
            let rest = preset.name.strip_prefix(&*policy.name);
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
        };
        assert!(listed.iter().any(is_of), "{} is missing", preset.name);
    }
    let is_system = |policy: &&Policy| {
        !matches!(policy.kind, Some(PolicyKind::Strategy | PolicyKind::Provider))
    };
    let n = listed.iter().filter(is_system).count();
    let count = format!("policies of {n} agents");
    assert!(readme.contains(&count), "{count}");
}
