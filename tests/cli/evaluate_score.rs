//! `evaluate --score`: the same facts and tokens as the lane that wrote the conversation.

use crate::program::plimsoll;
use crate::support::{folder, json, sample, stdout};
use plimsoll::json::Value;

/// Returns the number of facts of each kind in each state.
fn states(lane: &Value) -> Vec<Value> {
    let kinds = lane["survival"].as_array().expect("a list").iter();
    let fields = ["kind", "stated", "verbatim", "partial", "gone", "unknown"];
    kinds.map(|kind| fields.map(|field| kind[field].clone()).into()).collect()
}

#[test]
fn a_managed_conversation_scores_with_the_tokens_that_compact_counted() {
    let here = folder();
    let source = sample("compacted.jsonl");
    let args = "--policy truncate --schedule replay -o managed.jsonl --json";
    let compact = ["compact", &source].into_iter().chain(args.split(' '));
    let compacted = json(&plimsoll(here.path(), &compact.collect::<Vec<_>>()));
    let score = ["evaluate", "--score", "managed.jsonl", "--source", &source, "--json"];
    let scored = json(&plimsoll(here.path(), &score));
    let tokens = &scored["sessions"][0]["lanes"][0]["context_tokens"];
    assert_eq!(*tokens, compacted["tokens_after"]);
}

#[test]
fn a_managed_conversation_scores_as_its_lane() {
    let here = folder();
    let source = sample("many-tool-results.jsonl");
    for policy in ["truncate", "prune"] {
        let managed = format!("{policy}.jsonl");
        let compact = ["compact", &source, "--policy", policy, "--schedule", "replay"];
        stdout(&plimsoll(here.path(), &[&compact[..], &["-o", &managed]].concat()));
        let lanes = ["evaluate", &source, "--policy", policy, "--json"];
        let lanes = json(&plimsoll(here.path(), &lanes));
        let lanes = lanes["sessions"][0]["lanes"].as_array().expect("a list");
        let lane = lanes.iter().find(|lane| lane["lane"] == policy);
        let lane = lane.expect("the lane of the policy");
        let score = ["evaluate", "--score", &managed, "--source", &source];
        let json_score = json(&plimsoll(here.path(), &[&score[..], &["--json"]].concat()));
        let scored = &json_score["sessions"][0]["lanes"][0];
        assert_eq!(states(scored), states(lane), "{policy}");
        assert_eq!(scored["partial"], lane["partial"], "{policy}");
        // The conversation also has the answer of the last call.
        let tokens = |lane: &Value| lane["context_tokens"].as_u64().expect("a number");
        let answer = tokens(scored) - tokens(lane);
        assert!((1..200).contains(&answer), "{policy}: {answer}");

        let n_partial = lane["partial"].as_array().expect("a list").len();
        let absolute = here.path().join(&managed);
        let score = ["evaluate", "--score", &*absolute.to_string_lossy(), "--source", &source];
        let text = stdout(&plimsoll(here.path(), &[&score[..], &["--all"]].concat()));
        let column = format!(" {managed}\n");
        assert!(policy == "truncate" || text.contains(&column), "{text}");
        assert_eq!(text.matches("kept partly: ").count(), n_partial, "{text}");
        assert_eq!(n_partial > 0, policy == "prune");
    }
}
