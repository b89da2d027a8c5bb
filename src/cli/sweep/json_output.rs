//! The result of `plimsoll sweep` as JSON.

use super::{Findings, Swept, Verb};
use crate::analysis::tune::{
    CostUnit, Point, RiskAxis, Robust, RuledOut, cost_unit, front, ruled_out_counts,
};
use crate::cli::figures::FiguresEntry;
use crate::cli::json_values::Settings;
use crate::cli::lazy_list::LazyList;
use crate::cli::targets::SkippedEntry;
use crate::engine::Policy;
use crate::units::{Share, Tokens, Usd};
use schemars::JsonSchema;
use serde::Serialize;

/// All settings tried in every session, and the recommended ones.
#[derive(Serialize, JsonSchema)]
pub(in crate::cli) struct Sweep<'a> {
    /// Number of settings tried in each session.
    tried: usize,
    /// Weight of risk against cost: 0 for cost only, 1 for risk only.
    weight: Share,
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
    /// Unit by which settings are compared.
    cost_unit: CostUnit,
    /// References at risk of the recorded run: smaller numbers are noise. Null if the risk is lost facts.
    noise_floor: Option<usize>,
    /// Cost of the recorded run in USD, with the provider's cache modelled as for the settings; null if it is unknown.
    recorded_modelled_cost: Option<Usd>,
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
    /// Whether no other setting is better in cost, risk and peak.
    on_front: bool,
    /// Figures of the replay; null if the setting was ruled out without one.
    figures: Option<FiguresEntry>,
    /// References at risk if predicted summaries contained what was used most; null without figures. Computed for listed
    /// settings only, otherwise equal to `figures.at_risk`.
    fewest_at_risk: Option<usize>,
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
    /// Position of the setting with the lowest risk that could have been recommended.
    safest: usize,
    /// Settings that differ from the policy's defaults, as `--set` takes them.
    set: Vec<String>,
    /// Command that writes the managed conversation with this setting; `FILE` takes the place of standard input. Null if
    /// the setting never acts.
    command: Option<String>,
    /// Reason in sentences, compared with the recorded run. It counts predicted summaries as empty.
    text: &'a str,
    /// Whether the session fits without any action of the setting.
    never_acts: bool,
    /// The best setting that acts, if the recommended one never does; null if that acts or no other does.
    acting: Option<ActingEntry<'a>>,
    /// The alternatives as a sentence; null if there are none.
    others: Option<&'a str>,
    /// Tokens saved as a share of the lossless maximum; null if nothing could be saved.
    saved_share: Option<Share>,
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
    /// Score of the robust setting divided by the smallest score, minus 1 (0 is the best); null if the setting is ruled
    /// out in this session.
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

impl Findings {
    /// Returns the JSON output.
    pub(super) fn json_output(&self) -> Sweep<'_> {
        let first = self.sessions.first();
        let robust = self.robust.as_ref().zip(first);
        Sweep {
            tried: first.map_or(0, |swept| swept.points.len()),
            weight: self.weight,
            sessions: self.sessions.iter().map(|s| self.session(s)).collect(),
            robust: robust.map(|(robust, first)| self.robust(robust, &first.points)),
            skipped: self.skipped.json_output(),
        }
    }

    fn session<'a>(&'a self, swept: &'a Swept) -> SessionEntry<'a> {
        let front = front(&swept.points);
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
            cost_unit: cost_unit(&swept.points),
            noise_floor: (swept.risk == RiskAxis::References).then(|| swept.preference.noise()),
            recorded_modelled_cost: swept.preference.recorded.and_then(|score| score.cost),
            points: LazyList::new(points.map(move |(idx, point)| PointEntry {
                on_front: front.contains(&idx),
                fewest_at_risk: swept.fewest.get(&idx).copied().or(at_risk(point)),
                ..self.point(point)
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
            alternative: swept.alternative.as_ref().map(|other| AlternativeEntry {
                policy: &other.policy,
                text: &other.text,
            }),
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
            safest: found.safest,
            set: self.set(point),
            command: point.acts().then(command),
            text: &found.text,
            never_acts: found.never_acts,
            acting,
            others: found.others.as_deref(),
            saved_share: swept.saved,
        })
    }

    fn point(&self, point: &Point) -> PointEntry<'_> {
        let subject = &self.subjects[point.subject];
        PointEntry {
            lane: &subject.lane,
            policy: &subject.policy.name,
            settings: Settings::from(&point.knobs),
            set: self.set(point),
            current: point.is_now,
            on_front: false,
            figures: point.score.map(FiguresEntry::from),
            fewest_at_risk: at_risk(point),
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

/// Returns the references at risk of a setting, with predicted summaries as empty.
fn at_risk(point: &Point) -> Option<usize> {
    Some(point.score?.risk.references)
}

fn ruled_out(ruled_out: RuledOut, policy: &Policy) -> RuledOutEntry {
    RuledOutEntry {
        reason: ruled_out.reason.name(),
        call: ruled_out.call + 1,
        text: ruled_out.text(policy),
    }
}
