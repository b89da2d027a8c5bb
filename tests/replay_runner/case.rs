//! A replay case: a recorded conversation and what a system's own code sent at every call of it.

use plimsoll::engine::ReportedUsage;
use plimsoll::json::Value;
use plimsoll::units::Tokens;

/// A case file.
pub(crate) struct ReplayCase {
    /// Name of the system.
    pub(crate) system: String,
    /// Name of the preset that reproduces it.
    pub(crate) preset: String,
    /// Version of the system whose code made the case.
    pub(crate) version: Version,
    /// Settings by the system's own names.
    pub(crate) config: Value,
    /// Context window in tokens.
    pub(crate) window: u64,
    /// Maximum answer in tokens.
    pub(crate) max_output: u64,
    /// The recorded conversation.
    pub(crate) messages: Vec<Value>,
    /// Usage of each call's answer; empty if the case has none.
    pub(crate) usage: Vec<Option<ReportedUsage>>,
    /// Text of every summary.
    pub(crate) summary: String,
    /// The expected calls.
    pub(crate) calls: Vec<ExpectedCall>,
    /// Requests that the provider rejected, in order.
    pub(crate) rejected: Vec<RejectedRequest>,
    /// Reason why the system stopped.
    pub(crate) halt: Option<String>,
    /// Numbers of the summary requests that failed, from 1, if the configuration lists them.
    pub(crate) configured_failures: Vec<usize>,
}

/// A version or commit of a system, ordered by its numbers.
#[derive(Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Version {
    numbers: Vec<u64>,
    pub(crate) name: String,
}

/// Length of a commit in a preset.
const COMMIT: usize = 8;

impl Version {
    fn of(upstream: &Value) -> Self {
        let commit =
            || upstream["commit"].as_str().map(|commit| &commit[..COMMIT.min(commit.len())]);
        let name = upstream["version"].as_str().or_else(commit).unwrap_or_default();
        let numbers = name.split('.').map_while(|part| part.parse().ok()).collect();
        Self { numbers, name: name.to_owned() }
    }
}

/// A request that the provider rejected.
pub(crate) struct RejectedRequest {
    /// Index of the call.
    pub(crate) call: usize,
    /// Its messages without `from`.
    pub(crate) sent: Vec<Value>,
    /// Count that the system had compared with its limit, if the case has it.
    pub(crate) believed: Option<Value>,
}

/// The request that the system sent for one call.
pub(crate) struct ExpectedCall {
    /// Messages without `from`.
    pub(crate) sent: Vec<Value>,
    /// Indices of the recorded messages that each sent message came from; empty if the system wrote it.
    pub(crate) from: Vec<Vec<Option<usize>>>,
    /// Names of the mechanisms that acted before the call.
    pub(crate) fired: Vec<String>,
    /// Count that the system compared with its limit, or null; `None` if it could not be observed.
    pub(crate) believed: Option<Value>,
    /// Summary requests.
    pub(crate) asked: Vec<Value>,
}

impl ReplayCase {
    /// Parses a case file.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let whole: Value = serde_json::from_str(text).map_err(|e| e.to_string())?;
        let text_of = |key: &str| {
            let text = whole[key].as_str().map(str::to_owned);
            text.ok_or_else(|| format!("no `{key}`"))
        };
        let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
        Ok(Self {
            system: text_of("system")?,
            preset: text_of("preset")?,
            version: Version::of(&whole["upstream"]),
            config: whole["config"].clone(),
            window: whole["window"].as_u64().ok_or("no `window`")?,
            max_output: whole["max_output"].as_u64().ok_or("no `max_output`")?,
            messages: list(&whole["input"]["messages"]),
            usage: list(&whole["input"]["usage"]).iter().map(usage).collect(),
            summary: text_of("summary")?,
            calls: list(&whole["calls"]).iter().map(call).collect(),
            rejected: {
                let listed = list(&whole["rejected"]).iter().map(rejected).collect();
                with_refused(listed, &list(&whole["calls"]))
            },
            halt: whole["halt"].as_str().map(str::to_owned),
            configured_failures: configured_failures(&whole["config"]),
        })
    }
}

/// Places of a configuration that list the requests that failed.
const FAILURES: [&str; 3] =
    ["/summarizer_fails_at", "/compaction_strategy/1/fail", "/compaction/fails_at"];

fn configured_failures(config: &Value) -> Vec<usize> {
    let lists = FAILURES.iter().filter_map(|at| config.pointer(at)?.as_array());
    let numbers = lists.flatten().filter_map(Value::as_u64);
    numbers.map(|nth| nth as usize).collect()
}

fn usage(value: &Value) -> Option<ReportedUsage> {
    Some(ReportedUsage {
        input: Tokens(value["input"].as_u64()?),
        output: Tokens(value["output"].as_u64()?),
    })
}

fn call(value: &Value) -> ExpectedCall {
    let list = |key: &str| value[key].as_array().cloned().unwrap_or_default();
    let (sent, from) = sent(value);
    // Mechanisms that acted before the request that was refused, then those before the one that was accepted.
    let fired = [&value["refused"]["fired"], &value["fired"]];
    let fired = fired.iter().filter_map(|names| names.as_array()).flatten();
    ExpectedCall {
        from,
        sent,
        fired: fired.map(|name| name.as_str().unwrap_or_default().to_owned()).collect(),
        believed: value.get("believed").cloned(),
        asked: list("asked"),
    }
}

/// Returns the messages of a request, and the indices of the recorded messages that each came from.
fn sent(value: &Value) -> (Vec<Value>, Vec<Vec<Option<usize>>>) {
    let mut sent = value["sent"].as_array().cloned().unwrap_or_default();
    let from = sent.iter_mut().map(|message| {
        let from = message.as_object_mut().and_then(|m| m.shift_remove("from"));
        match from.unwrap_or_default() {
            Value::Array(all) => all.iter().map(index).collect(),
            one => vec![index(&one)],
        }
    });
    let from = from.collect();
    (sent, from)
}

fn rejected(value: &Value) -> RejectedRequest {
    let call = value["call"].as_u64().unwrap_or(0) as usize;
    RejectedRequest { call: call.saturating_sub(1), sent: sent(value).0, believed: None }
}

/// Adds the requests that a case has at the calls for which they were made.
fn with_refused(mut rejected: Vec<RejectedRequest>, calls: &[Value]) -> Vec<RejectedRequest> {
    let of_calls = calls.iter().enumerate().filter_map(|(call, value)| {
        let refused = value.get("refused")?;
        Some(RejectedRequest {
            call,
            sent: sent(refused).0,
            believed: refused.get("believed").cloned(),
        })
    });
    rejected.extend(of_calls);
    rejected.sort_by_key(|request| request.call);
    rejected
}

fn index(value: &Value) -> Option<usize> {
    value.as_u64().map(|index| index as usize)
}
