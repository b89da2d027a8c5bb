//! Tests that the contexts of all calls consist of what each of them consists of.

use crate::repository::repository;
use crate::session_files::case_in;
use plimsoll_core::analysis::attribution::{Sources, context_items, groups_over_time};
use plimsoll_core::engine::recorded;
use plimsoll_core::units::Tokens;
use std::collections::BTreeMap;

#[test]
fn the_groups_of_every_call_are_those_of_its_context() {
    let files = [
        "sample_sessions/compacted.jsonl",
        "sample_sessions/many-tool-results.jsonl",
        "tests/pairs/claude-code/two-compactions/session.jsonl",
    ];
    for file in files {
        let case = case_in(&repository().join(file));
        let sources = Sources::new(&case);
        let groups = groups_over_time(&case, &sources);
        assert!(groups.len() > 2, "{file}");
        for call in 0..case.session.calls.len() {
            let context = recorded(&case, Tokens::ZERO, Some(call)).context;
            let mut expected: BTreeMap<&str, Tokens> = BTreeMap::new();
            let items = context_items(&case, &sources, &context);
            for item in &items {
                *expected.entry(&item.group).or_default() += item.tokens;
            }
            expected.retain(|_, tokens| *tokens > Tokens::ZERO);
            let found = groups.iter().map(|group| (&*group.group, group.tokens[call]));
            let found: BTreeMap<&str, Tokens> =
                found.filter(|(_, tokens)| *tokens > Tokens::ZERO).collect();
            assert_eq!(found, expected, "{file}, call {}", call + 1);
        }
    }
}
