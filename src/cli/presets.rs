//! `plimsoll presets`: the systems we know, as data.

mod native;
mod own;

use super::args::{Shared, Word, Words, unknown_option};
use super::lanes::LaneArgs;
use super::output::{clean, json, plain, print};
use super::{Status, Verb};
use crate::engine::{
    Action, Boundary, Cut, Hook, Keep, Knob, KnobRole, Mutates, Policy, Stage, Unit, What,
};
use crate::exec::{OwnPresets, policy_text};
use crate::presets::{self, PRESETS};
use anyhow::bail;
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::path::Path;

pub(super) const VERB: Verb = Verb {
    name: "presets",
    summary: "List the presets, or show one: knobs, stages, sources.",
    help: "\
plimsoll presets [list] [--json]
plimsoll presets show NAME [--json]
plimsoll presets export NAME [--set KNOB=VALUE]... [--json]
plimsoll presets import FILE [-o OUT.toml] [--json]
plimsoll presets save NAME|FILE.toml --as NAME [--set KNOB=VALUE]... [--json]
plimsoll presets remove NAME [--json]

export writes the settings in the system's own form (environment variables, YAML, a Python dict, JSON), ready to paste;
import reads such a configuration and says which preset and knobs it means; -o writes it as a policy of its own.
save keeps a tuned policy as a preset of your own, for the command line and the window; remove takes it away.

JSON of list: [{name, label, help, knobs[], stages[], path|null}] with names only; path where it is your own.
JSON of show: name, label, help, knobs[{name, value, range[], step, unit, help, role, key}], let[{name, expression}],
stages[{id, at, when, take, do, size_only, guard, mutates, delay, sentence}], sources[], unknowns[], differences[], toml.
JSON of export: preset, file, text, notes[]. JSON of import: preset, knobs{}, set[], unread[], notes[], options, toml.
JSON of save and remove: name, path.
",
    run,
};

fn run(words: &mut Words, mut shared: Shared) -> anyhow::Result<Status> {
    let mut operands = Vec::new();
    let mut lanes = LaneArgs::default();
    let mut output = None;
    let mut own_name = None;
    while let Some(word) = words.next()? {
        match word {
            Word::Operand(operand) => operands.push(operand.to_string_lossy().into_owned()),
            Word::Option(option)
                if shared.take(&option, words)?
                    || option == "--set" && lanes.take(&option, words)? => {}
            Word::Option(option) if option == "-o" => output = Some(words.raw_value(&option)?),
            Word::Option(option) if option == "--as" => own_name = Some(words.value(&option)?),
            Word::Option(option) => return Err(unknown_option(VERB.name, &option)),
        }
    }
    match operands.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [] | ["list"] => list(shared.json)?,
        ["show", name] => show(name, shared.json)?,
        ["show"] => bail!("presets show needs a NAME; there are {}", names()),
        ["export", name] => native::export(name, lanes, &shared)?,
        ["export"] => bail!("presets export needs a NAME; there are {}", names()),
        ["import", file] => native::import(file, output.as_deref(), &shared)?,
        ["import"] => bail!("presets import needs a FILE"),
        ["save", name] => own::save(name, own_name, lanes, &shared)?,
        ["save"] => bail!("presets save needs the NAME of a preset or a FILE.toml, and --as NAME"),
        ["remove", name] => own::remove(name, &shared)?,
        ["remove"] => bail!("presets remove needs the NAME of a preset of your own"),
        _ => bail!(
            "presets {}: say presets list, show NAME, export NAME, import FILE, save NAME or remove NAME",
            operands.join(" ")
        ),
    }
    Ok(Status::Done)
}

fn names() -> String {
    PRESETS
        .iter()
        .map(|p| p.name)
        .collect::<Vec<_>>()
        .join(", ")
}

fn list(as_json: bool) -> anyhow::Result<()> {
    let bundled = PRESETS.iter().filter_map(|p| presets::by_name(p.name));
    let own = OwnPresets::here().all();
    if as_json {
        let shape = |policy: &Policy, path: Option<&Path>| {
            let knobs: Vec<_> = policy.knobs.iter().map(|k| k.name.clone()).collect();
            let stages: Vec<_> = policy.stages.iter().map(|s| s.id.clone()).collect();
            let path = path.map(|path| path.to_string_lossy());
            json!({
                "name": policy.name, "label": policy.label, "help": policy.help,
                "knobs": knobs, "stages": stages, "path": path,
            })
        };
        let bundled = bundled.map(|policy| shape(&policy, None));
        let own = own
            .iter()
            .filter_map(|own| Some(shape(own.policy.as_ref().ok()?, Some(&own.path))));
        return json(&Value::Array(bundled.chain(own).collect()));
    }
    let mut text = String::new();
    for policy in bundled {
        let _ = writeln!(text, "{:<20} {}", policy.name, policy.help);
    }
    if !own.is_empty() {
        text.push_str("\nYour own:\n");
    }
    for own in &own {
        let name = own.name().unwrap_or("?");
        let said = own.policy.as_ref().map_or_else(|e| e, |p| &p.label);
        let _ = writeln!(text, "{:<20} {}", clean(name), clean(said));
    }
    print(&text)
}

fn show(name: &str, as_json: bool) -> anyhow::Result<()> {
    let own = OwnPresets::here();
    let is_known = PRESETS.iter().any(|p| p.name == name) || own.file(name).is_some();
    if !is_known {
        bail!("no preset is named {name:?}; there are {}", names());
    }
    let toml = policy_text(name, &own)?;
    let policy = presets::parse(&toml)?;
    if as_json {
        json(&shape(&policy, &toml))
    } else {
        print(&text(&policy))
    }
}

fn shape(policy: &Policy, toml: &str) -> Value {
    json!({
        "name": policy.name,
        "label": policy.label,
        "help": policy.help,
        "knobs": policy.knobs.iter().map(knob_shape).collect::<Vec<_>>(),
        "let": policy.lets.iter().map(|(name, e)| json!({ "name": name, "expression": e.text })).collect::<Vec<_>>(),
        "stages": policy.stages.iter().map(stage_shape).collect::<Vec<_>>(),
        "sources": policy.sources,
        "unknowns": policy.unknowns,
        "differences": policy.differences,
        "toml": toml,
    })
}

fn knob_shape(knob: &Knob) -> Value {
    json!({
        "name": knob.name,
        "value": plain(knob.value),
        "range": knob.range.map(plain),
        "step": plain(knob.step),
        "unit": knob.unit,
        "help": knob.help,
        "role": knob.role.map(role),
        "key": knob.key,
        "ignored": knob.ignored,
        "choices": knob.choices,
    })
}

fn stage_shape(stage: &Stage) -> Value {
    json!({
        "id": stage.id,
        "at": hook(stage.at),
        "when": stage.when.text,
        "take": {
            "what": what(stage.take.what),
            "keep": stage.take.keep.iter().map(kept).collect::<Vec<_>>(),
            "boundary": boundary(stage.take.boundary),
            "oldest": stage.take.oldest.as_ref().map(|e| e.text.clone()),
            "only": stage.take.results.only,
            "except": stage.take.results.except,
            "repeated": stage.take.results.repeated,
        },
        "do": stage.action.name(),
        "size_only": matches!(&stage.action, Action::Summarize(s) if s.is_opaque),
        "guard": {
            "min_saved": stage.guard.min_saved.as_ref().map(|e| e.text.clone()),
            "must_shrink": stage.guard.must_shrink,
            "cooldown": stage.guard.cooldown.text,
            "cold": stage.guard.cold.as_ref().map(|e| e.text.clone()),
        },
        "mutates": match stage.mutates {
            Mutates::Store => "store",
            Mutates::View => "view",
        },
        "delay": stage.delay.as_ref().map(|e| e.text.clone()),
        "sentence": sentence(stage),
    })
}

fn text(policy: &Policy) -> String {
    let mut text = format!(
        "{} ({})\n{}\n\nKnobs\n",
        policy.label, policy.name, policy.help
    );
    for knob in &policy.knobs {
        let ([low, high], value) = (knob.range.map(plain), plain(knob.value));
        let key = knob
            .key
            .as_ref()
            .map_or_else(String::new, |key| format!(" [{key}]"));
        let range = if knob.choices.is_empty() {
            format!("{value} {} ({low} to {high})", knob.unit)
        } else {
            let chosen = knob.choices.get(knob.value as usize);
            format!("{} ({})", chosen.map_or("", |c| c), knob.choices.join(", "))
        };
        let _ = writeln!(text, "  {} = {range}{key}\n      {}", knob.name, knob.help);
        if let Some(why) = &knob.ignored {
            let _ = writeln!(text, "      The shipped code ignores it: {}", clean(why));
        }
    }
    if !policy.lets.is_empty() {
        text.push_str("\nNamed expressions\n");
        policy
            .lets
            .iter()
            .for_each(|(name, e)| _ = writeln!(text, "  {name} = {}", e.text));
    }
    text.push_str("\nStages\n");
    if policy.stages.is_empty() {
        text.push_str("  none\n");
    }
    policy
        .stages
        .iter()
        .for_each(|stage| _ = writeln!(text, "  {}: {}", stage.id, sentence(stage)));
    for (title, lines) in [
        ("Sources", &policy.sources),
        ("Not known", &policy.unknowns),
        ("Other than documented", &policy.differences),
    ] {
        if !lines.is_empty() {
            let _ = writeln!(text, "\n{title}");
            for line in lines {
                let _ = writeln!(text, "  {}", clean(line));
            }
        }
    }
    text
}

/// A stage as a sentence: "before call, when used >= …: drop messages; keeps system; …".
fn sentence(stage: &Stage) -> String {
    let hook = hook(stage.at).replace('_', " ");
    let mut clauses = vec![format!("{hook}, when {}: {}", stage.when.text, deed(stage))];
    if !stage.take.keep.is_empty() {
        let keep: Vec<_> = stage.take.keep.iter().map(kept).collect();
        clauses.push(format!("keeps {}", keep.join(", ")));
    }
    let results = &stage.take.results;
    for (word, tools) in [("only of", &results.only), ("not of", &results.except)] {
        if !tools.is_empty() {
            clauses.push(format!("{word} {}", tools.join(", ")));
        }
    }
    if results.repeated {
        clauses.push("only what the very same call returned again later".to_owned());
    }
    if let Some(most) = &stage.take.oldest {
        clauses.push(format!("no more than the oldest {}", most.text));
    }
    if matches!(stage.take.what, What::Messages)
        && !matches!(
            stage.action,
            Action::Named(_) | Action::Log(_) | Action::Cut(_)
        )
    {
        clauses.push(format!("cuts at {}", boundary(stage.take.boundary)));
    }
    if stage.mutates == Mutates::View {
        clauses.push("for this call only".to_owned());
    }
    if let Some(steps) = &stage.delay {
        clauses.push(format!("lands {} steps later", steps.text));
    }
    if let Some(least) = &stage.guard.min_saved {
        clauses.push(format!("only if more than {} tokens are saved", least.text));
    }
    if stage.guard.must_shrink {
        clauses.push("only if the context shrinks".to_owned());
    }
    if stage.guard.cooldown.text != "0" {
        clauses.push(format!("then rests {} steps", stage.guard.cooldown.text));
    }
    if let Some(minutes) = &stage.guard.cold {
        clauses.push(format!(
            "once no call was made for {} minutes, or all is full",
            minutes.text
        ));
    }
    clauses.join("; ")
}

/// What it does to what.
fn deed(stage: &Stage) -> String {
    let what = what(stage.take.what).replace('_', " ");
    match &stage.action {
        Action::Clear(clear) => {
            format!("clear {what}, leaving \"{}\"", clear.marker.escape_debug())
        }
        Action::Drop(drop) => match &drop.notice {
            Some(notice) => format!("drop {what}, leaving \"{}\"", notice.escape_debug()),
            None => format!("drop {what}"),
        },
        Action::Summarize(s) => {
            let size_only = if s.is_opaque {
                " (size only: nobody but its provider can read it)"
            } else {
                ""
            };
            format!(
                "put a summary of at most {} tokens in the place of {what}{size_only}",
                s.max_tokens.text
            )
        }
        Action::Cut(cut) => cut_deed(cut),
        Action::Log(_) => "say a line, as the system's own log does".to_owned(),
        Action::Named(named) => {
            let numbers = named.numbers.iter();
            let numbers = numbers.map(|(name, expr)| format!("{name} = {}", expr.text));
            let numbers: Vec<_> = numbers.collect();
            format!(
                "{} ({}): {}",
                named.spec.name,
                numbers.join(", "),
                named.spec.help
            )
        }
    }
}

/// What a cut does.
fn cut_deed(cut: &Cut) -> String {
    let unit = match cut.unit {
        Unit::Chars => "characters",
        Unit::Bytes => "bytes",
    };
    let lines = cut.lines.as_ref();
    let lines = lines.map_or_else(String::new, |n| format!(" or {} lines", n.text));
    let whole = if cut.spills {
        "; the whole goes to a file"
    } else {
        ""
    };
    let (over, keep, head) = (&cut.over.text, &cut.keep.text, 100.0 * cut.head);
    format!(
        "cut results of more than {over} {unit}{lines} to {keep}, {head} % of it from the start{whole}"
    )
}

fn role(role: KnobRole) -> &'static str {
    match role {
        KnobRole::CompressionTrigger => "compression_trigger",
        KnobRole::KeepRecent => "keep_recent",
        KnobRole::PruneProtect => "prune_protect",
        KnobRole::PruneMinimum => "prune_minimum",
        KnobRole::SpareTurns => "spare_turns",
        KnobRole::OutputReserve => "output_reserve",
        KnobRole::SummaryMaxTokens => "summary_max_tokens",
        KnobRole::Cooldown => "cooldown",
    }
}

fn hook(hook: Hook) -> &'static str {
    match hook {
        Hook::ToolResult => "tool_result",
        Hook::Resume => "resume",
        Hook::TurnStart => "turn_start",
        Hook::AfterTools => "after_tools",
        Hook::BeforeCall => "before_call",
        Hook::OverflowError => "overflow_error",
        Hook::AfterCall => "after_call",
        Hook::TurnEnd => "turn_end",
        Hook::Manual => "manual",
    }
}

fn what(what: What) -> &'static str {
    match what {
        What::Messages => "messages",
        What::ToolResults => "tool_results",
    }
}

fn boundary(boundary: Boundary) -> &'static str {
    match boundary {
        Boundary::None => "none",
        Boundary::Pair => "pair",
        Boundary::Turn => "turn",
        Boundary::NextTurn => "next_turn",
    }
}

fn kept(keep: &Keep) -> String {
    match keep {
        Keep::System => "system".to_owned(),
        Keep::FirstUser => "first_user".to_owned(),
        Keep::LastMessages(n) => format!("last_messages({})", n.text),
        Keep::LastTurns(n) => format!("last_turns({})", n.text),
        Keep::LastTokens(n) => format!("last_tokens({})", n.text),
        Keep::LastToolTokens(n) => format!("last_tool_tokens({})", n.text),
        Keep::LastResults(n) => format!("last_results({})", n.text),
        Keep::FirstMessages(n) => format!("first_messages({})", n.text),
        Keep::LastUser => "last_user".to_owned(),
        Keep::UserTokens(n) => format!("user_tokens({})", n.text),
    }
}
