//! The result of `plimsoll sweep` as JSON.

use super::{SweepFindings, Swept, Verb};
use crate::analysis::rereads::Expected;
use crate::analysis::tune::{
    CostUnit, Point, Robust, RuledOut, Score, cost_unit, front, ruled_out_counts,
};
use crate::cli::figures::FiguresEntry;
use crate::cli::json_values::Settings;
use crate::cli::lazy_list::LazyList;
use crate::cli::targets::SkippedEntry;
use crate::engine::Policy;
use crate::units::{Tokens, Usd};
use schemars::JsonSchema;
use serde::Serialize;

/// All settings tried in every session, and the recommended ones.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Sweep<'a> {
    /// Number of settings tried in each session.
    tried: usize,
    /// Swept sessions.
    sessions: Vec<SessionEntry<'a>>,
    /// The setting that is never far from the best of a session; null for one session, or if no setting works.
    robust: Option<RobustEntry<'a>>,
    /// Sessions that were not swept.
    skipped: Vec<SkippedEntry<'a>>,
}

/// All settings tried in a session.
#[derive(Serialize, JsonSchema)]
struct SessionEntry<'a> {
    /// Path of the file.
    file: &'a str,
    /// Number of the conversation, from 1; null if the file holds only one.
    conversation: Option<usize>,
    /// Detected format.
    format: &'a str,
    /// Title of the session.
    title: &'a str,
    /// Number of model calls.
    calls: usize,
    /// Context window in tokens, the largest if it changes.
    window: Tokens,
    /// Tokens of the context window that are kept for the answer, as of the first policy.
    output_reserve: Tokens,
    /// How exactly token counts are known: `reported`, `exact`, `calibrated` or `estimated`.
    accuracy: &'a str,
    /// Unit in which settings are compared: their cost with expected re-reads.
    cost_unit: CostUnit,
    /// Cost of the recorded run in USD, with the provider's cache modelled as for the settings; null if it is unknown.
    recorded_modelled_cost: Option<Usd>,
    /// Cost of the recorded run in USD, by its recorded cache counts; null if it is unknown. Equal to
    /// `recorded_modelled_cost` if the file records none.
    recorded_billed_cost: Option<Usd>,
    /// Number of re-reads expected after the compactions of the recorded run; null if it is unknown.
    recorded_expected_rereads: Option<Expected>,
    /// The settings. Other fields refer to them by position, from 0.
    points: LazyList<'a, PointEntry<'a>>,
    /// Numbers of settings that are ruled out, by reason, the most frequent first.
    ruled_out: Vec<RuledOutCountEntry>,
    /// The recommended setting; null if no setting works.
    recommended: Option<RecommendationEntry<'a>>,
    /// Why no setting is recommended; null if one is.
    no_recommendation: Option<&'a str>,
    /// Another policy, with its defaults, if no setting works; null otherwise, and if no other works.
    alternative: Option<AlternativeEntry<'a>>,
}

/// A policy that works with its defaults.
#[derive(Serialize, JsonSchema)]
struct AlternativeEntry<'a> {
    /// Name of the policy.
    policy: &'a str,
    /// Reason in sentences.
    text: &'a str,
}

/// The number of settings that are ruled out for a reason.
#[derive(Serialize, JsonSchema)]
struct RuledOutCountEntry {
    /// The reason, as in the settings.
    reason: &'static str,
    /// Number of settings.
    settings: usize,
    /// The number and the reason as text.
    text: String,
}

/// A setting and its figures.
#[derive(Serialize, JsonSchema)]
struct PointEntry<'a> {
    /// Name of the lane.
    lane: &'a str,
    /// Name of the policy.
    policy: &'a str,
    /// Values of the policy's settings.
    settings: Settings,
    /// Settings that differ from the policy's defaults, as `--set` takes them.
    set: Vec<String>,
    /// Whether these are the current settings.
    current: bool,
    /// Whether no other setting is better in cost with expected re-reads, peak, and lost rules of the user.
    on_front: bool,
    /// Figures of the replay; null if the setting was ruled out without one.
    figures: Option<FiguresEntry>,
    /// Cost with the price of the expected re-reads, in `cost_unit`; null without figures. Settings are compared by it.
    cost_with_rereads: Option<Expected>,
    /// Why the setting is ruled out; null if it is not.
    ruled_out: Option<RuledOutEntry>,
}

/// Why a setting is ruled out.
#[derive(Serialize, JsonSchema)]
struct RuledOutEntry {
    /// `cannot_get_below_trigger`, `overflows`, `thrashes`, `wipes`, `request_too_long`, `gives_up`, `cuts_unread`,
    /// `edits_blindly`, `not_advised`, or a kind of finding as in `replay`.
    reason: &'static str,
    /// First call that shows the reason; 1 for `not_advised`, which needs no call.
    call: usize,
    /// Description with figures.
    text: String,
}

/// The recommended setting of a session.
#[derive(Serialize, JsonSchema)]
struct RecommendationEntry<'a> {
    /// Position in `points`.
    point: usize,
    /// Position of the cheapest setting that could have been recommended.
    cheapest: usize,
    /// Number of settings that are as good as the cheapest: the intervals of `cost_with_rereads` overlap, or the costs
    /// differ by less than 1 %. Of these, one with the fewest changes is recommended.
    as_good: usize,
    /// Settings that differ from the policy's defaults, as `--set` takes them.
    set: Vec<String>,
    /// Command that writes the managed conversation with this setting; `FILE` takes the place of standard input. Null if
    /// the setting never acts.
    command: Option<String>,
    /// Reason in sentences, compared with the recorded run.
    text: &'a str,
    /// Whether the session fits without any action of the setting.
    never_acts: bool,
    /// The best setting that acts, if the recommended one never does; null if that acts or no other does.
    acting: Option<ActingEntry<'a>>,
    /// The cheapest setting as a sentence; null if it is the recommended one.
    others: Option<&'a str>,
}

/// The best setting that acts.
#[derive(Serialize, JsonSchema)]
struct ActingEntry<'a> {
    /// Position in `points`.
    point: usize,
    /// Settings that differ from the policy's defaults, as `--set` takes them.
    set: Vec<String>,
    /// Command that replays the session with this setting.
    command: String,
    /// Reason in sentences.
    text: &'a str,
}

/// The setting that is never far from the best of a session.
#[derive(Serialize, JsonSchema)]
struct RobustEntry<'a> {
    /// Name of the lane.
    lane: &'a str,
    /// Name of the policy.
    policy: &'a str,
    /// Values of the policy's settings.
    settings: Settings,
    /// Settings that differ from the policy's defaults, as `--set` takes them.
    set: Vec<String>,
    /// Regret of the setting in each session. Sessions in which no setting works are omitted.
    sessions: Vec<RegretEntry<'a>>,
    /// The choice by all other sessions, tested on each session.
    cross_validation: Vec<CrossValidationEntry<'a>>,
}

/// The regret of the robust setting in a session.
#[derive(Serialize, JsonSchema)]
struct RegretEntry<'a> {
    /// Path of the file.
    file: &'a str,
    /// Number of the conversation, from 1; null if the file holds only one.
    conversation: Option<usize>,
    /// Position of the session's best setting in `points`.
    best: usize,
    /// Cost with expected re-reads of the robust setting divided by the smallest one, minus 1 (0 is the best); null if the
    /// setting is ruled out in this session.
    regret: Option<f64>,
}

/// The choice by all other sessions, tested on this one.
#[derive(Serialize, JsonSchema)]
struct CrossValidationEntry<'a> {
    /// Path of the file.
    file: &'a str,
    /// Number of the conversation, from 1; null if the file holds only one.
    conversation: Option<usize>,
    /// The settings chosen, as `--set` takes them.
    set: Vec<String>,
    /// Regret of these settings in this session; null if they are ruled out in it.
    regret: Option<f64>,
}

impl SweepFindings {
    /// Returns the JSON output.
    pub(super) fn json_output(&self) -> Sweep<'_> {
        let first = self.sessions.first();
        let robust = self.robust.as_ref().zip(first);
        Sweep {
            tried: first.map_or(0, |swept| swept.points.len()),
            sessions: self.sessions.iter().map(|s| self.session(s)).collect(),
            robust: robust.map(|(robust, first)| self.robust(robust, &first.points)),
            skipped: self.skipped.json_output(),
        }
    }

    fn session<'a>(&'a self, swept: &'a Swept) -> SessionEntry<'a> {
        let (front, unit) = (front(&swept.points), cost_unit(&swept.points));
        let points = swept.points.iter().enumerate();
        SessionEntry {
            file: &swept.id.file,
            conversation: swept.id.number(),
            format: swept.format,
            title: &swept.title,
            calls: swept.calls,
            window: swept.window,
            output_reserve: swept.reserve,
            accuracy: swept.accuracy,
            cost_unit: unit,
            recorded_modelled_cost: swept.recorded.and_then(|score| score.cost),
            recorded_billed_cost: swept.billed,
            recorded_expected_rereads: swept.recorded.map(|score| score.rereads.files),
            points: LazyList::new(points.map(move |(idx, point)| PointEntry {
                on_front: front.contains(&idx),
                ..self.point(point, unit)
            })),
            ruled_out: ruled_out_counts(&swept.points)
                .iter()
                .map(|count| RuledOutCountEntry {
                    reason: count.reason.name(),
                    settings: count.n,
                    text: count.sentence(),
                })
                .collect(),
            recommended: self.recommendation(swept),
            no_recommendation: swept.recommended.as_ref().err().map(String::as_str),
            alternative: swept
                .alternative
                .as_ref()
                .map(|other| AlternativeEntry { policy: &other.policy, text: &other.text }),
        }
    }

    fn recommendation<'a>(&self, swept: &'a Swept) -> Option<RecommendationEntry<'a>> {
        let found = swept.recommended.as_ref().ok()?;
        let point = &swept.points[found.point];
        let command = || self.command(point, Some(&swept.id), Verb::Compact);
        let acting = found.acting.as_ref().map(|acting| {
            let point = &swept.points[acting.point];
            ActingEntry {
                point: acting.point,
                set: self.set(point),
                command: self.command(point, Some(&swept.id), Verb::Replay),
                text: &acting.text,
            }
        });
        Some(RecommendationEntry {
            point: found.point,
            cheapest: found.cheapest,
            as_good: found.as_good,
            set: self.set(point),
            command: point.acts().then(command),
            text: &found.text,
            never_acts: found.never_acts,
            acting,
            others: found.others.as_deref(),
        })
    }

    fn point(&self, point: &Point, unit: CostUnit) -> PointEntry<'_> {
        let subject = &self.subjects[point.subject];
        PointEntry {
            lane: &subject.lane,
            policy: &subject.policy.name,
            settings: Settings::from(&point.knobs),
            set: self.set(point),
            current: point.is_now,
            on_front: false,
            figures: point.score.map(FiguresEntry::from),
            cost_with_rereads: point.score.map(|score| with_rereads(&score, unit)),
            ruled_out: point.ruled_out.map(|why| ruled_out(why, &subject.policy)),
        }
    }

    fn robust(&self, robust: &Robust, points: &[Point]) -> RobustEntry<'_> {
        let point = &points[robust.setting];
        let subject = &self.subjects[point.subject];
        let id = |session: usize| &self.sessions[session].id;
        let sessions = robust.regrets.iter().map(|regret| RegretEntry {
            file: &id(regret.session).file,
            conversation: id(regret.session).number(),
            best: regret.best,
            regret: regret.regret,
        });
        let tested = robust.left_out.iter().map(|tested| CrossValidationEntry {
            file: &id(tested.session).file,
            conversation: id(tested.session).number(),
            set: self.set(&points[tested.setting]),
            regret: tested.regret,
        });
        RobustEntry {
            lane: &subject.lane,
            policy: &subject.policy.name,
            settings: Settings::from(&point.knobs),
            set: self.set(point),
            sessions: sessions.collect(),
            cross_validation: tested.collect(),
        }
    }
}

/// Returns the cost of a setting with its expected re-reads.
fn with_rereads(score: &Score, unit: CostUnit) -> Expected {
    let interval = unit.interval(score);
    Expected { value: unit.of(score), low: interval.low, high: interval.high }
}

fn ruled_out(ruled_out: RuledOut, policy: &Policy) -> RuledOutEntry {
    RuledOutEntry {
        reason: ruled_out.reason.name(),
        call: ruled_out.call + 1,
        text: ruled_out.text(policy),
    }
}
