//! A replay case: a recorded conversation and what a system's own code sent at every call of it.

use plimsoll::engine::ReportedUsage;
use plimsoll::units::Tokens;
use serde_json::Value;

/// A case file.
pub(crate) struct ReplayCase {
    /// Name of the system.
    pub(crate) system: String,
    /// Name of the preset that reproduces it.
    pub(crate) preset: String,
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
    /// Requests that the provider rejected: index of the call and messages, in order.
    pub(crate) rejected: Vec<(usize, Vec<Value>)>,
    /// Reason why the system stopped.
    pub(crate) halt: Option<String>,
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
            config: whole["config"].clone(),
            window: whole["window"].as_u64().ok_or("no `window`")?,
            max_output: whole["max_output"].as_u64().ok_or("no `max_output`")?,
            messages: list(&whole["input"]["messages"]),
            usage: list(&whole["input"]["usage"]).iter().map(usage).collect(),
            summary: text_of("summary")?,
            calls: list(&whole["calls"]).iter().map(call).collect(),
            rejected: list(&whole["rejected"]).iter().map(rejected).collect(),
            halt: whole["halt"].as_str().map(str::to_owned),
        })
    }
}

fn usage(value: &Value) -> Option<ReportedUsage> {
    Some(ReportedUsage {
        input: Tokens(value["input"].as_u64()?),
        output: Tokens(value["output"].as_u64()?),
    })
}

fn call(value: &Value) -> ExpectedCall {
    let list = |key: &str| value[key].as_array().cloned().unwrap_or_default();
    let mut sent = list("sent");
    let from = sent.iter_mut().map(|message| {
        let from = message.as_object_mut().and_then(|m| m.shift_remove("from"));
        match from.unwrap_or_default() {
            Value::Array(all) => all.iter().map(index).collect(),
            one => vec![index(&one)],
        }
    });
    ExpectedCall {
        from: from.collect(),
        sent,
        fired: list("fired")
            .iter()
            .map(|name| name.as_str().unwrap_or_default().to_owned())
            .collect(),
        believed: value.get("believed").cloned(),
        asked: list("asked"),
    }
}

fn rejected(value: &Value) -> (usize, Vec<Value>) {
    let call = value["call"].as_u64().unwrap_or(0) as usize;
    let sent = value["sent"].as_array().cloned().unwrap_or_default();
    (call.saturating_sub(1), sent)
}

fn index(value: &Value) -> Option<usize> {
    value.as_u64().map(|index| index as usize)
}
