//! The result of `plimsoll presets show` as JSON.

use super::stage_words::{boundary, hook, kept, objects, role_name, sentence};
use crate::cli::json_values::JsonNumber;
use crate::engine::{Expr, Guard, Knob, Mutates, Policy, PolicyKind, Proof, Stage, Take};
use schemars::JsonSchema;
use serde::Serialize;

/// A preset with its settings, stages and sources.
#[derive(Serialize, JsonSchema)]
pub(crate) struct PresetOutput<'a> {
    /// Name that `--policy` takes.
    name: &'a str,
    /// Name for display.
    label: &'a str,
    /// Description as a sentence.
    help: &'a str,
    /// Kind of system; null for a preset of your own that names none.
    kind: Option<PolicyKind>,
    /// Evidence for the behaviour; null for strategies of Plimsoll and for your own presets.
    proof: Option<Proof>,
    /// Settings with their default values.
    settings: Vec<SettingEntry<'a>>,
    /// Named expressions.
    #[serde(rename = "let")]
    lets: Vec<NamedExpression<'a>>,
    /// Stages, in the order in which they run.
    stages: Vec<StageEntry<'a>>,
    /// Sources of the preset's rules.
    sources: &'a [String],
    /// Unknown facts about the system.
    unknowns: &'a [String],
    /// Differences of the system's documentation from its code.
    documentation_differences: &'a [String],
    /// Differences of the replay from the system.
    differences: &'a [String],
    /// Text of the preset's file.
    toml: &'a str,
}

/// A setting.
#[derive(Serialize, JsonSchema)]
struct SettingEntry<'a> {
    /// Name that `--set` takes.
    name: &'a str,
    /// Default value; for a setting with choices, the position of the choice, from 0.
    value: JsonNumber,
    /// Smallest and largest value.
    range: [JsonNumber; 2],
    /// Distance between neighboring values in the window.
    increment: JsonNumber,
    /// Unit, such as `tokens` or `messages`; empty for a number without one.
    unit: &'a str,
    /// Description.
    help: &'a str,
    /// Role that several presets share, such as `keep_recent`; null if the setting has none.
    role: Option<&'a str>,
    /// Key in the system's own configuration; null if the setting has none.
    key: Option<&'a str>,
    /// Whether users of the system can set it. Sweeps do not vary constants of its code and facts about model or machine.
    offered: bool,
    /// Values that the system's own documentation advises; null if it advises none.
    sensible: Option<SensibleEntry<'a>>,
    /// Why the system's shipped code ignores the setting; null if it does not.
    ignored: Option<&'a str>,
    /// Names of the values; empty for a number.
    choices: Vec<&'a str>,
}

/// Values that a system's own documentation advises. A sweep rules out all others.
#[derive(Serialize, JsonSchema)]
struct SensibleEntry<'a> {
    /// Smallest and largest value.
    range: [JsonNumber; 2],
    /// The documentation, and what it advises.
    source: &'a str,
}

/// A named expression.
#[derive(Serialize, JsonSchema)]
struct NamedExpression<'a> {
    /// Name in other expressions.
    name: &'a str,
    /// The expression as written.
    expression: &'a str,
}

/// A stage of a policy.
#[derive(Serialize, JsonSchema)]
struct StageEntry<'a> {
    /// Id of the stage, as in events.
    id: &'a str,
    /// Point of a call at which the stage is tried, such as `before_call`.
    at: &'a str,
    /// Trigger as an expression.
    when: &'a str,
    /// Content that the stage acts on.
    take: TakeEntry<'a>,
    /// Name of the action.
    #[serde(rename = "do")]
    action: &'a str,
    /// Whether the summary is encrypted by the provider, so that only its size is known.
    size_only: bool,
    /// Conditions that prevent the action, as expressions.
    guard: GuardEntry<'a>,
    /// Object that the stage changes.
    mutates: MutatesName,
    /// Number of calls until the action takes effect, as an expression; null if at once.
    delay: Option<&'a str>,
    /// The stage as a sentence.
    sentence: String,
}

/// The content that a stage acts on.
#[derive(Serialize, JsonSchema)]
struct TakeEntry<'a> {
    /// Kind of objects: `messages` or `tool_results`.
    objects: &'a str,
    /// Rules for the objects that are kept.
    keep: Vec<String>,
    /// Boundary at which messages are cut: `none`, `pair`, `turn` or `next_turn`.
    boundary: &'a str,
    /// Maximum number of the oldest objects, as an expression; null without a limit.
    oldest: Option<&'a str>,
    /// Tools whose results are taken; empty for all.
    only: &'a [String],
    /// Tools whose results are not taken.
    except: &'a [String],
    /// Whether only results are taken that an identical later call returned again.
    repeated: bool,
}

/// Conditions that prevent a stage from acting, as expressions.
#[derive(Serialize, JsonSchema)]
struct GuardEntry<'a> {
    /// Minimum of tokens to save; null without a minimum.
    min_saved: Option<&'a str>,
    /// Whether the context has to shrink.
    must_shrink: bool,
    /// Number of calls for which the stage pauses after an attempt.
    cooldown: &'a str,
    /// Minutes without a call after which the cache counts as expired; null if the stage does not wait for that.
    cold: Option<&'a str>,
}

/// The object that a stage changes.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum MutatesName {
    /// The conversation, for all later calls.
    Store,
    /// The context of this call only.
    View,
}

/// Returns the JSON output.
pub(super) fn json_output<'a>(policy: &'a Policy, toml: &'a str) -> PresetOutput<'a> {
    let lets =
        policy.lets.iter().map(|(name, expr)| NamedExpression { name, expression: &expr.text });
    PresetOutput {
        name: &policy.name,
        label: &policy.label,
        help: &policy.help,
        kind: policy.kind,
        proof: policy.proof.clone(),
        settings: policy.knobs.iter().map(setting).collect(),
        lets: lets.collect(),
        stages: policy.stages.iter().map(stage).collect(),
        sources: &policy.sources,
        unknowns: &policy.unknowns,
        documentation_differences: &policy.documentation_differences,
        differences: &policy.differences,
        toml,
    }
}

fn setting(knob: &Knob) -> SettingEntry<'_> {
    SettingEntry {
        name: &knob.name,
        value: JsonNumber(knob.value),
        range: knob.range.map(JsonNumber),
        increment: JsonNumber(knob.step),
        unit: &knob.unit,
        help: &knob.help,
        role: knob.role.map(role_name),
        key: knob.key.as_deref(),
        offered: knob.is_offered,
        sensible: knob.sensible.as_ref().map(|sensible| SensibleEntry {
            range: sensible.range.map(JsonNumber),
            source: &sensible.source,
        }),
        ignored: knob.ignored.as_deref(),
        choices: knob.choices.iter().map(|choice| &**choice).collect(),
    }
}

fn stage(stage: &Stage) -> StageEntry<'_> {
    StageEntry {
        id: &stage.id,
        at: hook(stage.at),
        when: &stage.when.text,
        take: take(&stage.take),
        action: stage.action.kind().name(),
        size_only: stage.action.is_size_only(),
        guard: guard(&stage.guard),
        mutates: match stage.mutates {
            Mutates::Store => MutatesName::Store,
            Mutates::View => MutatesName::View,
        },
        delay: stage.delay.as_ref().map(expression_text),
        sentence: sentence(stage),
    }
}

fn take(take: &Take) -> TakeEntry<'_> {
    TakeEntry {
        objects: objects(take.what),
        keep: take.keep.iter().map(kept).collect(),
        boundary: boundary(take.boundary),
        oldest: take.oldest.as_ref().map(expression_text),
        only: &take.results.only,
        except: &take.results.except,
        repeated: take.results.repeated,
    }
}

fn guard(guard: &Guard) -> GuardEntry<'_> {
    GuardEntry {
        min_saved: guard.min_saved.as_ref().map(expression_text),
        must_shrink: guard.must_shrink,
        cooldown: &guard.cooldown.text,
        cold: guard.cold.as_ref().map(expression_text),
    }
}

/// Returns an expression as written.
fn expression_text(expr: &Expr) -> &str {
    &expr.text
}
