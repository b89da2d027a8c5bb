//! Creates a small session and a policy from bytes: a bundled preset, a changed one, or a random one.

use libfuzzer_sys::arbitrary::{Result, Unstructured};
use plimsoll::engine::{
    Case, KnobValues, ManualEdits, Policy, ProviderError, WindowPlan, WindowSource,
};
use plimsoll::presets::{self, PRESETS};
use plimsoll::progress::Progress;
use plimsoll::session::{
    Body, CallDraft, Draft, MediaKind, ModelVendor, Part, Role, Session, SessionBuilder, Source,
    Usage,
};
use plimsoll::tokens::TokenLedger;
use plimsoll::units::{Millis, Tokens};
use std::sync::{Arc, LazyLock};

/// A session and a policy to replay.
#[derive(Debug)]
pub struct RandomCase {
    /// The session.
    pub case: Case,
    /// The policy.
    pub policy: Policy,
    /// Values of its settings.
    pub values: KnobValues,
}

/// Creates a session and a policy.
///
/// # Errors
/// Returns an error if the bytes do not describe a policy.
pub fn random_case(u: &mut Unstructured<'_>) -> Result<RandomCase> {
    let policy = policy(u)?;
    let values = values(u, &policy)?;
    Ok(RandomCase {
        case: case(u)?,
        policy,
        values,
    })
}

/// The bundled presets, parsed once because that takes longer than a replay.
static BUNDLED: LazyLock<Vec<Policy>> = LazyLock::new(|| {
    let policies = PRESETS.iter().map(|preset| preset.policy());
    policies
        .collect::<std::result::Result<_, _>>()
        .expect("bundled presets are valid")
});

fn policy(u: &mut Unstructured<'_>) -> Result<Policy> {
    let idx = u.choose_index(PRESETS.len())?;
    let text = match u.int_in_range(0..=3)? {
        0 => return Ok(BUNDLED[idx].clone()),
        1 => changed(u, PRESETS[idx].toml)?,
        _ => own(u)?,
    };
    presets::parse(&text).map_err(|_| libfuzzer_sys::arbitrary::Error::IncorrectFormat)
}

/// Returns each setting at its default or at a value in its range.
fn values(u: &mut Unstructured<'_>, policy: &Policy) -> Result<KnobValues> {
    let mut values = policy.defaults();
    for knob in &policy.knobs {
        let [low, high] = knob.range;
        let share = f64::from(u.arbitrary::<u8>()?) / 255.0;
        let value = low + (high - low) * share.powi(4);
        let value = if knob.step >= 1.0 {
            value.round()
        } else {
            value
        };
        if u.arbitrary()? {
            // A range of fractions may not contain a whole number.
            let _ = policy.set(&mut values, &knob.name, value.clamp(low, high));
        }
    }
    Ok(values)
}

const HOOKS: [&str; 9] = [
    "tool_result",
    "resume",
    "turn_start",
    "after_tools",
    "before_call",
    "overflow_error",
    "after_call",
    "turn_end",
    "manual",
];

/// Returns a bundled preset with moved, changed or repeated stages.
fn changed(u: &mut Unstructured<'_>, toml: &str) -> Result<String> {
    let mut table: toml::Table = toml::from_str(toml).expect("a bundled preset");
    let stages = table.get_mut("stage").and_then(toml::Value::as_array_mut);
    let Some(stages) = stages.filter(|stages| !stages.is_empty()) else {
        return Ok(toml.to_owned());
    };
    for _ in 0..u.int_in_range(1..=4)? {
        let at = u.choose_index(stages.len())?;
        let mut new = stages[at].clone();
        let Some(stage) = new.as_table_mut() else {
            continue;
        };
        let (key, value) = match u.int_in_range(0..=6)? {
            0 => ("at", (*u.choose(&HOOKS)?).to_owned()),
            1 => ("when", truth(u, 2)?),
            2 => ("mutates", (*u.choose(&["store", "view"])?).to_owned()),
            3 => ("repair", "none".to_owned()),
            4 => ("delay", u.int_in_range(0..=4)?.to_string()),
            5 => {
                stage.insert("guard".to_owned(), toml::Table::new().into());
                ("when", "true".to_owned())
            }
            _ => {
                stage.insert("id".to_owned(), "twice".into());
                stages.insert(at, new);
                continue;
            }
        };
        stage.insert(key.to_owned(), value.into());
        stages[at] = new;
    }
    Ok(toml::to_string(&table).expect("the table was parsed from text"))
}

/// Returns a random policy.
fn own(u: &mut Unstructured<'_>) -> Result<String> {
    let mut text = String::from("name = \"random\"\nlabel = \"Random\"\nhelp = \"\"\n");
    if u.arbitrary()? {
        text.push_str(&format!("output_reserve = \"{}\"\n", number(u, 1)?));
    }
    text.push_str(
        "[settings.k]\nvalue = 3\nrange = [0, 40]\nstep = 1\nunit = \"messages\"\nhelp = \"\"\n",
    );
    text.push_str(&format!("[let]\nx = \"{}\"\n", number(u, 2)?));
    if u.arbitrary()? {
        let count = u.choose(&["true", "chars/4", "bytes/4"])?;
        text.push_str(&format!(
            "[meter]\ncount = \"{count}\"\nbelieved_fill = \"used / window\"\n"
        ));
    }
    for idx in 0..u.int_in_range(1..=3)? {
        text.push_str(&stage(u, idx)?);
    }
    Ok(text)
}

/// An action of random stages.
struct SampledAction {
    name: &'static str,
    /// The kind of content that it takes; empty if none.
    what: &'static str,
    /// Returns its settings.
    settings: fn(&mut Unstructured<'_>) -> Result<String>,
}

const CUT: SampledAction = SampledAction {
    name: "cut",
    what: "tool_results",
    settings: cut,
};

/// The actions of stages, except named ones.
const ACTIONS: [SampledAction; 6] = [
    SampledAction {
        name: "clear",
        what: "tool_results",
        settings: |_| Ok("{ marker = \"[gone]\" }".to_owned()),
    },
    CUT,
    SampledAction {
        name: "drop",
        what: "messages",
        settings: |u| {
            let drops = ["{}", "{ notice = \"[{messages} {tokens}]\" }"];
            Ok((*u.choose(&drops)?).to_owned())
        },
    },
    SampledAction {
        name: "log",
        what: "",
        settings: |_| Ok("\"at {used}\"".to_owned()),
    },
    SampledAction {
        name: "dedupe",
        what: "tool_results",
        settings: |_| Ok("{ pointer = \"[same as {call}]\" }".to_owned()),
    },
    SampledAction {
        name: "summarize",
        what: "messages",
        settings: summarize,
    },
];

fn stage(u: &mut Unstructured<'_>, idx: usize) -> Result<String> {
    let hook = u.choose(&HOOKS)?;
    let is_incoming = *hook == "tool_result";
    let when = truth(u, 2)?;
    let mut text = format!("[[stage]]\nid = \"s{idx}\"\nat = \"{hook}\"\nwhen = \"{when}\"\n");
    let action = if is_incoming {
        &CUT
    } else {
        u.choose(&ACTIONS)?
    };
    let (what, settings) = (action.what, (action.settings)(u)?);
    if !what.is_empty() && !is_incoming {
        text.push_str(&take(u, what)?);
    }
    text.push_str(&format!("do = {{ {} = {settings} }}\n", action.name));
    if u.arbitrary()? {
        let (saved, rest, shrink) = (number(u, 1)?, number(u, 1)?, u.arbitrary::<bool>()?);
        text.push_str(&format!(
            "guard = {{ min_saved = \"{saved}\", cooldown = \"{rest}\", must_shrink = {shrink} }}\n"
        ));
    }
    match u.int_in_range(0..=5)? {
        0 => text.push_str("mutates = \"view\"\n"),
        1 => text.push_str("repair = \"none\"\n"),
        2 => text.push_str(&format!("delay = \"{}\"\n", number(u, 1)?)),
        _ => {}
    }
    Ok(text)
}

fn cut(u: &mut Unstructured<'_>) -> Result<String> {
    let unit = u.choose(&["chars", "bytes"])?;
    let (over, keep) = (number(u, 1)?, number(u, 1)?);
    let head = u.choose(&["0", "0.3", "1"])?;
    let lines = match (*head, u.arbitrary()?) {
        ("1", true) => format!(", lines = \"{}\"", number(u, 1)?),
        _ => String::new(),
    };
    let spill: bool = u.arbitrary()?;
    Ok(format!(
        "{{ unit = \"{unit}\", over = \"{over}\", keep = \"{keep}\", head = {head}{lines}, marker = \"[cut]\", spill = {spill} }}"
    ))
}

fn summarize(u: &mut Unstructured<'_>) -> Result<String> {
    let (most, opaque) = (number(u, 1)?, u.arbitrary::<bool>()?);
    let place = u.choose(&["", ", place = \"last\"", ", place = \"first\""])?;
    Ok(format!(
        "{{ max_tokens = \"{most}\", prefix = \"[S]\", opaque = {opaque}{place} }}"
    ))
}

fn take(u: &mut Unstructured<'_>, what: &str) -> Result<String> {
    let rules: &[&str] = match what {
        "messages" => &[
            "system",
            "first_user",
            "last_user",
            "first_messages",
            "last_messages",
            "last_turns",
            "last_tokens",
            "user_tokens",
        ],
        _ => &[
            "last_messages",
            "last_turns",
            "last_tokens",
            "last_results",
            "last_tool_tokens",
        ],
    };
    let mut keep = Vec::new();
    for _ in 0..u.int_in_range(0..=3)? {
        let rule = *u.choose(rules)?;
        keep.push(match rule {
            "system" | "first_user" | "last_user" => format!("\"{rule}\""),
            _ => format!("\"{rule}({})\"", number(u, 1)?),
        });
    }
    let boundary = u.choose(&["none", "pair", "turn", "next_turn"])?;
    let extra = match (what, u.int_in_range(0..=3)?) {
        ("messages", 0) => format!(", oldest = \"{}\"", number(u, 1)?),
        ("tool_results", 0) => ", repeated = true".to_owned(),
        ("tool_results", 1) => ", except = [\"read\"]".to_owned(),
        _ => String::new(),
    };
    Ok(format!(
        "take = {{ what = \"{what}\", keep = [{}], boundary = \"{boundary}\"{extra} }}\n",
        keep.join(", ")
    ))
}

/// Returns an expression with a number as its value.
fn number(u: &mut Unstructured<'_>, deep: usize) -> Result<String> {
    let names = [
        "used",
        "window",
        "input",
        "output_reserve",
        "msgs",
        "turns",
        "call",
        "tools",
        "model_window",
        "model_output",
        "attempt",
        "call_in_turn",
        "last_input",
        "last_total",
        "sent",
        "idle",
        "k",
        "x",
        "since(s0)",
    ];
    Ok(match u.int_in_range(0..=if deep == 0 { 1 } else { 4 })? {
        0 => u.int_in_range(0..=400_u32)?.to_string(),
        1 => (*u.choose(&names)?).to_owned(),
        2 => {
            let op = u.choose(&["+", "-", "*", "/"])?;
            format!("({} {op} {})", number(u, deep - 1)?, number(u, deep - 1)?)
        }
        3 => {
            let name = u.choose(&["min", "max"])?;
            format!("{name}({}, {})", number(u, deep - 1)?, number(u, deep - 1)?)
        }
        _ => format!("if({}, {}, -1)", truth(u, deep - 1)?, number(u, deep - 1)?),
    })
}

/// Returns an expression with a condition as its value.
fn truth(u: &mut Unstructured<'_>, deep: usize) -> Result<String> {
    Ok(match u.int_in_range(0..=if deep == 0 { 1 } else { 4 })? {
        0 => format!("used > {}", u.int_in_range(0..=2_000_u32)?),
        1 => (*u.choose(&[
            "call > 1",
            "msgs >= 3",
            "not fired(s0)",
            "call_in_turn == 0",
        ])?)
        .to_owned(),
        2 => format!("not ({})", truth(u, deep - 1)?),
        3 => {
            let op = u.choose(&["and", "or"])?;
            format!("({} {op} {})", truth(u, deep - 1)?, truth(u, deep - 1)?)
        }
        _ => {
            let op = u.choose(&["<", "<=", ">", ">=", "==", "!="])?;
            format!("{} {op} {}", number(u, deep - 1)?, number(u, deep - 1)?)
        }
    })
}

fn case(u: &mut Unstructured<'_>) -> Result<Case> {
    let session = session(u)?;
    let ledger = TokenLedger::count(&session, crate::counter(), &Progress::default());
    let ledger = ledger.expect("the progress is not cancelled");
    let window = Tokens(u.int_in_range(1..=4_000)?);
    let n = session.calls.len();
    let windows = WindowPlan::constant(window, n, WindowSource::User);
    let mut case = Case::new(Arc::new(session), ledger, windows);
    if u.ratio(1, 4)? {
        case = case.with_restarts(&[u.int_in_range(0..=n)?]);
    }
    if u.ratio(1, 4)? {
        let call = u.int_in_range(0..=n)?;
        let text = "context_length_exceeded: maximum context length is 100 tokens".into();
        case = case.with_errors(&[ProviderError { call, text }]);
    }
    if u.ratio(1, 4)? {
        let most = case.session.messages.len();
        let mut marks = || -> Result<Vec<usize>> {
            let mut marks = Vec::new();
            for _ in 0..u.int_in_range(0..=3)? {
                marks.push(u.int_in_range(0..=most)?);
            }
            Ok(marks)
        };
        let (pinned, cleared, dropped) = (marks()?, marks()?, marks()?);
        case = case.with_manual_edits(ManualEdits {
            pinned,
            cleared,
            dropped,
        });
    }
    Ok(case)
}

/// Returns a conversation of up to thirty messages, some of them malformed.
fn session(u: &mut Unstructured<'_>) -> Result<Session> {
    let source = Source {
        name: "random".to_owned(),
        format: "openai_chat",
        bytes: Vec::new().into(),
    };
    let mut builder = SessionBuilder::new(source);
    builder.default_vendor(ModelVendor::OpenAi);
    let is_recorded: bool = u.arbitrary()?;
    let mut open: Vec<String> = Vec::new();
    for idx in 0..u.int_in_range(0..=30)? {
        let kind = u.int_in_range(0..=9)?;
        if kind == 9 {
            let kept: Vec<usize> = (0..builder.len()).filter(|m| m % 3 == 0).collect();
            builder.compaction(
                "auto",
                None,
                u.arbitrary::<Option<u8>>()?.map(|n| Tokens(n.into())),
                kept,
            );
            continue;
        }
        let mut draft = message(u, kind, idx, &mut open)?;
        if u.ratio(1, 12)? {
            (draft.is_injected, draft.in_history) = (u.arbitrary()?, u.arbitrary()?);
        }
        draft.time = u
            .arbitrary::<Option<u16>>()?
            .map(|time| Millis(i64::from(time) * 1_000));
        if is_recorded && draft.role == Role::Assistant && draft.in_history {
            builder.call(CallDraft {
                model: Some((*u.choose(&["gpt-4o", "claude-sonnet-4-5", ""])?).to_owned()),
                usage: u.arbitrary::<Option<u16>>()?.map(|input| Usage {
                    input: Tokens(input.into()),
                    ..Usage::default()
                }),
                ..CallDraft::default()
            });
        }
        builder.message(draft);
    }
    Ok(builder.finish())
}

fn message(
    u: &mut Unstructured<'_>,
    kind: u8,
    idx: usize,
    open: &mut Vec<String>,
) -> Result<Draft> {
    let words = words(u)?;
    let text = |text: String| part(Body::Text(text.into()));
    Ok(match kind {
        0 => Draft::new(Role::System, vec![text(words)]),
        1 | 2 => Draft::new(Role::User, vec![text(words)]),
        3 => {
            let thinking = Body::Thinking {
                text: words.clone().into(),
                sealed_bytes: 40,
                reported: None,
            };
            Draft::new(Role::Assistant, vec![part(thinking), text(words)])
        }
        4..=6 => {
            let mut parts = Vec::new();
            for n in 0..u.int_in_range(1..=3)? {
                let id = format!("call_{idx}_{n}");
                open.push(id.clone());
                parts.push(part(Body::ToolCall {
                    call: id.into(),
                    tool: (*u.choose(&["read", "bash"])?).into(),
                    arguments: (*u.choose(&["{\"path\":\"a\"}", "", "not json"])?).into(),
                }));
            }
            Draft::new(Role::Assistant, parts)
        }
        _ => {
            let n = u.int_in_range(0..=open.len())?;
            let mut parts = Vec::new();
            for id in open.drain(..n) {
                parts.push(result(&id, &words));
                if u.ratio(1, 6)? {
                    parts.push(picture(&id));
                }
            }
            if parts.is_empty() || u.ratio(1, 8)? {
                parts.push(result("nobody asked", &words));
            }
            Draft::new(*u.choose(&[Role::Tool, Role::User])?, parts)
        }
    })
}

fn words(u: &mut Unstructured<'_>) -> Result<String> {
    let n = u.int_in_range(0..=60)?;
    let word = u.choose(&["word ", "漢字", "line\n", "\u{1f469}\u{200d}", "", "\r\n"])?;
    Ok(word.repeat(n))
}

fn part(body: Body) -> Part {
    Part {
        body,
        record: 0,
        block: 0,
    }
}

fn result(call: &str, text: &str) -> Part {
    part(Body::ToolResult {
        call: call.into(),
        tool: "read".into(),
        is_error: text.is_empty(),
        text: text.into(),
    })
}

fn picture(call: &str) -> Part {
    part(Body::Media {
        media: MediaKind::Image,
        mime: "image/png".into(),
        bytes: 9_000,
        pixels: Some((800, 600)),
        detail: plimsoll::session::ImageDetail::Auto,
        within: Some(call.into()),
    })
}
