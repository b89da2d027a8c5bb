//! Agreement on the next action: a lane's disagreement with the full context beyond the disagreement of the full
//! context with itself, since the same context gives different actions in each sample.

use super::facts::call_target;
use super::statistics::{ClusteredValue, Estimate, mean};
use crate::json::Value;
use serde::Serialize;

/// Fewest samples of each context. They are three pairs of the full context with itself, so that its agreement is more
/// than yes or no.
pub const MIN_SAMPLES: usize = 3;

/// Tools that only read.
const READING_TOOLS: [&str; 14] = [
    "cat", "fetch", "find", "glob", "grep", "head", "list", "ls", "open", "read", "search", "tail",
    "tree", "view",
];
/// Commands that only read.
const READING_COMMANDS: [&str; 15] = [
    "cat", "cd", "echo", "file", "find", "grep", "head", "less", "ls", "pwd", "rg", "stat", "tail",
    "wc", "which",
];

/// An action that a model names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NextAction {
    /// It only reads: such actions count as equal.
    Reads,
    /// Another tool with its normalized target.
    Acts(String, String),
}

impl NextAction {
    /// Parses an answer: a JSON object with `tool` and `target`. `None` if it names no tool.
    pub fn parse(text: &str) -> Option<Self> {
        let object: Value =
            crate::json::from_str(text.get(text.find('{')?..=text.rfind('}')?)?).ok()?;
        let target = object["target"].as_str().unwrap_or_default();
        Self::new(object["tool"].as_str()?, target)
    }

    /// Returns the action of a tool call. Its target is the command or the path, otherwise all arguments.
    pub fn of_call(tool: &str, arguments: &str) -> Option<Self> {
        let target = crate::json::from_str(arguments).ok();
        let target = target.and_then(|object: Value| call_target(&object));
        Self::new(tool, target.as_deref().unwrap_or(arguments))
    }

    fn new(tool: &str, target: &str) -> Option<Self> {
        let (tool, target) = (tool.trim().to_lowercase(), normalized(target));
        if tool.is_empty() {
            return None;
        }
        Some(if reads(&tool, &target) { Self::Reads } else { Self::Acts(tool, target) })
    }
}

/// Returns a target without case, quotes, spaces and the folders above the last two components of a path.
fn normalized(target: &str) -> String {
    let words: Vec<String> = target
        .split_whitespace()
        .map(|word| {
            let word = word.trim_matches(['"', '\'', '`']).trim_start_matches("./");
            let pieces: Vec<&str> = word.rsplit('/').take(2).collect();
            pieces.into_iter().rev().collect::<Vec<_>>().join("/").to_lowercase()
        })
        .collect();
    words.join(" ")
}

fn reads(tool: &str, target: &str) -> bool {
    let names = tool.split(|c: char| !c.is_alphanumeric());
    let writes =
        ["write", "edit", "create", "patch", "replace"].iter().any(|word| tool.contains(word));
    let is_reading = names.into_iter().any(|name| READING_TOOLS.contains(&name));
    let mut commands =
        target.split(['|', ';', '&']).map(str::trim).filter(|c| !c.is_empty()).peekable();
    let is_shell = ["bash", "sh", "shell", "exec", "command", "terminal"]
        .iter()
        .any(|word| tool.contains(word));
    let has_command = commands.peek().is_some();
    let only_reads = commands.all(|command| {
        let first = command.split(' ').next().unwrap_or_default();
        READING_COMMANDS.contains(&first) && !command.contains('>')
    });
    (is_reading && !writes && !is_shell) || (is_shell && has_command && only_reads)
}

/// Returns the text that is sent to the model after the context.
pub fn request_text(tools: &[&str]) -> String {
    format!(
        "Do not continue the work yet. Name the single tool call that you would make next. Tools: {}.\n\nAnswer with one JSON object and \
         nothing else: {{\"tool\": \"NAME\", \"target\": \"the file, command or query that it acts on\"}}",
        tools.join(", ")
    )
}

/// Next actions at a point: one of each sample; `None` where the answer names none.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ActionPoint {
    /// By lane: its compaction, unique over all sessions.
    pub clusters: Vec<usize>,
    /// With the full context.
    pub full: Vec<Option<NextAction>>,
    /// By lane and sample.
    pub lanes: Vec<Vec<Option<NextAction>>>,
}

/// Numbers of sessions by how the model is asked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ActionSessions {
    /// Their tool definitions are sent.
    pub with_definitions: usize,
    /// The file has none: the model names a tool in a text.
    pub asked_in_text: usize,
    /// No tool is known.
    pub without_tools: usize,
}

/// Results of the next action.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ActionOutcome {
    /// Number of points.
    pub points: usize,
    /// Number of sessions whose tool definitions were sent, so that the model could call the tools.
    pub sessions_with_definitions: usize,
    /// Number of sessions whose file has no tool definitions: the model was asked to name a tool and its target in a text.
    pub sessions_asked_in_text: usize,
    /// Number of sessions that are left out because no tool is known.
    pub sessions_without_tools: usize,
    /// Number of answers that call or name no tool.
    pub unusable_answers: usize,
    /// Agreement of two samples with the full context.
    pub full_agreement: Estimate,
    /// Results by lane.
    pub lanes: Vec<ActionLane>,
}

/// Result of a lane.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ActionLane {
    /// Name of the lane.
    pub lane: String,
    /// Agreement of lane and full context minus agreement of the full context with itself.
    pub excess: Estimate,
}

impl ActionOutcome {
    /// Computes the results of lanes with these names.
    pub fn new(points: &[ActionPoint], lanes: &[String], sessions: ActionSessions) -> Self {
        let answers = points.iter().flat_map(|p| p.full.iter().chain(p.lanes.iter().flatten()));
        let own = points.iter().enumerate().filter_map(|(cluster, point)| {
            let value = within(&point.full)?;
            Some(ClusteredValue { cluster, value })
        });
        let lanes = lanes.iter().enumerate().map(|(lane, name)| {
            let excess = points.iter().filter_map(|point| {
                let value = between(&point.lanes[lane], &point.full)? - within(&point.full)?;
                let cluster = point.clusters[lane];
                Some(ClusteredValue { cluster, value })
            });
            ActionLane { lane: name.clone(), excess: mean(&excess.collect::<Vec<_>>()) }
        });
        Self {
            points: points.len(),
            sessions_with_definitions: sessions.with_definitions,
            sessions_asked_in_text: sessions.asked_in_text,
            sessions_without_tools: sessions.without_tools,
            unusable_answers: answers.filter(|answer| answer.is_none()).count(),
            full_agreement: mean(&own.collect::<Vec<_>>()),
            lanes: lanes.collect(),
        }
    }
}

/// Returns the share of equal pairs of two sets of samples; `None` with fewer than three samples in either.
fn between(first: &[Option<NextAction>], second: &[Option<NextAction>]) -> Option<f64> {
    let (first, second): (Vec<_>, Vec<_>) =
        (first.iter().flatten().collect(), second.iter().flatten().collect());
    let is_enough = first.len().min(second.len()) >= MIN_SAMPLES;
    let equal = first.iter().map(|a| second.iter().filter(|b| a == *b).count()).sum::<usize>();
    is_enough.then(|| equal as f64 / (first.len() * second.len()) as f64)
}

/// Returns the share of equal pairs of different samples.
fn within(samples: &[Option<NextAction>]) -> Option<f64> {
    let samples: Vec<_> = samples.iter().flatten().collect();
    let n = samples.len();
    let equal = (0..n)
        .flat_map(|i| (i + 1..n).map(move |j| (i, j)))
        .filter(|(i, j)| samples[*i] == samples[*j])
        .count();
    (n >= MIN_SAMPLES).then(|| equal as f64 / (n * (n - 1) / 2) as f64)
}

#[cfg(test)]
mod tests {
    use super::super::statistics::Conclusion;
    use super::*;

    fn action(tool: &str, target: &str) -> Option<NextAction> {
        NextAction::parse(&format!(
            "```json\n{{\"tool\": \"{tool}\", \"target\": \"{target}\"}}\n```"
        ))
    }

    #[test]
    fn exploration_is_equal_and_targets_are_compared_without_their_folders() {
        let reads = Some(NextAction::Reads);
        assert_eq!(
            [
                action("Read", "src/a.rs"),
                action("bash", "ls -l | head"),
                action("grep_search", "x")
            ],
            [reads.clone(), reads.clone(), reads.clone()]
        );
        assert_eq!(action("Edit", "/home/dev/app/src/a.rs"), action("edit", "./src/A.rs"));
        assert_ne!(action("edit", "src/a.rs"), action("edit", "src/b.rs"));
        assert_ne!(action("bash", "cargo test"), reads);
        assert_ne!(action("bash", "echo x > a.rs"), reads, "a redirection writes");
        assert_ne!(action("bash", "ls; rm a"), reads);
        for text in ["", "I would run the tests.", "{\"target\": \"x\"}", "{\"tool\": \"\"}", "}{"]
        {
            assert_eq!(NextAction::parse(text), None, "{text}");
        }
    }

    #[test]
    fn a_tool_call_is_compared_by_its_command_or_path() {
        let call = |tool: &str, arguments: &str| NextAction::of_call(tool, arguments);
        assert_eq!(
            call("Edit", r#"{"new_string":"x","file_path":"/home/dev/app/src/a.rs"}"#),
            action("edit", "src/a.rs")
        );
        assert_eq!(
            call("bash", r#"{"command":["bash","-lc","cargo test"]}"#),
            action("bash", "cargo test")
        );
        assert_eq!(call("bash", r#"{"command":"ls"}"#), Some(NextAction::Reads));
        assert_eq!(call("send", "{half"), action("send", "{half"));
        assert_eq!(call("", "{}"), None);
    }

    #[test]
    fn only_disagreement_beyond_that_of_the_full_context_counts() {
        let (a, b) = (action("edit", "a.rs"), action("edit", "b.rs"));
        let full = vec![a.clone(), a.clone(), b.clone()];
        let point = |cluster: usize| ActionPoint {
            clusters: vec![cluster; 3],
            full: full.clone(),
            lanes: vec![
                vec![a.clone(), a.clone(), b.clone()],
                vec![action("bash", "make"); 3],
                vec![a.clone(), a.clone(), None],
            ],
        };
        let points: Vec<_> = (0..10).map(point).collect();
        let names = ["same", "other", "few"].map(str::to_owned);
        let outcome = ActionOutcome::new(&points, &names, ActionSessions::default());
        let excess = |lane: usize| outcome.lanes[lane].excess;
        // 5 of 9 pairs against 1 of 3.
        assert!((excess(0).value.unwrap() - 2.0 / 9.0).abs() < 1e-9);
        assert!((excess(1).value.unwrap() + 1.0 / 3.0).abs() < 1e-9);
        assert_eq!(excess(1).conclusion, Conclusion::Below);
        assert_eq!(excess(2).value, None, "two samples are too few");
        assert_eq!(outcome.unusable_answers, 10);
        assert!((outcome.full_agreement.value.unwrap() - 1.0 / 3.0).abs() < 1e-9);
    }
}
