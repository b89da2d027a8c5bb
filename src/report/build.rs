//! Puts a report together: facts of the session, the verdict, and each lane ([`super::lane`]).

use super::curve::{Curve, CurveKind, CurveLane, draw};
use super::known::{basis_sentence, window_source};
use super::lane::lane_report;
use super::shown::{Shown, Teller, What};
use super::{About, Item, LaneReport, Report};
use crate::analysis::{Finding, Link, MessageName, PlayedLane, Trigger, tokens_by_tool, verdict};
use crate::engine::{Case, KnobValues, Outcome, Policy};
use crate::safe_text::clean;
use crate::session::{CallsFrom, Kind};
use crate::tokens::Basis;
use crate::units::{Share, Tokens};

/// A lane that was played.
#[derive(Clone, Debug)]
pub struct Played {
    /// Name of the lane.
    pub lane: String,
    /// What was played; none for what really happened.
    pub policy: Option<Policy>,
    /// Its settings.
    pub knobs: KnobValues,
    /// Room that it keeps for the answer.
    pub output_reserve: Tokens,
    /// What came of it.
    pub outcome: Outcome,
    /// What that shows.
    pub findings: Vec<Finding>,
}

/// What a report is about.
#[derive(Clone, Copy, Debug)]
pub struct Subject<'a> {
    /// The session.
    pub case: &'a Case,
    /// What did not read as it should.
    pub warnings: &'a [String],
    /// Name of the format, for people.
    pub format: &'static str,
    /// Room kept for the answer.
    pub output_reserve: Tokens,
    /// The lanes; the first is what really happened.
    pub lanes: &'a [Played],
    /// The file could tell of its program's own compactions.
    pub records_compactions: bool,
}

/// Tools and messages listed as the heaviest.
const HEAVIEST: usize = 12;
/// Triggers drawn; more would only be confusing.
const TRIGGERS: usize = 2;

impl Played {
    /// What kind of line it is, at its position among the lanes.
    fn kind(&self, policies_before: usize) -> CurveKind {
        match &self.policy {
            None => CurveKind::Recorded,
            Some(policy) if policy.stages.is_empty() => CurveKind::Unmanaged,
            Some(_) => CurveKind::Policy(policies_before),
        }
    }

    /// The lane as its policy played it; none for what was recorded.
    pub fn lane(&self) -> Option<PlayedLane<'_>> {
        Some(PlayedLane {
            name: &self.lane,
            policy: self.policy.as_ref()?,
            knobs: &self.knobs,
            outcome: &self.outcome,
        })
    }
}

impl Report {
    /// A report; if it `redacts`, no text of the session or the person goes into it.
    pub fn new(subject: &Subject<'_>, redacts: bool) -> Self {
        let mut teller = Teller::new(redacts);
        let (verdict, severity) = sentence(subject, &mut teller);
        let about = about(subject, &mut teller);
        let kinds = subject.kinds();
        let lanes: Vec<LaneReport> = subject
            .lanes
            .iter()
            .zip(&kinds)
            .map(|(lane, kind)| {
                let mut told = lane_report(subject.case, lane, *kind, &mut teller);
                let is_known = *kind != CurveKind::Recorded || subject.records_compactions;
                told.figures.compactions = told.figures.compactions.filter(|_| is_known);
                told
            })
            .collect();
        let names = lanes.iter().map(|lane| lane.name.to_string());
        let curve = draw(&subject.curve(&kinds, names.collect()));
        let of_windows = &subject.case.windows.warnings;
        let warnings = subject.warnings.iter().chain(of_windows);
        Self {
            is_redacted: teller.redacts(),
            about,
            verdict,
            severity,
            curve,
            warnings: warnings.map(|warning| teller.said(warning)).collect(),
            lanes,
        }
    }
}

impl<'a> Subject<'a> {
    /// The curve alone, with the lanes' names as they are.
    pub fn plain_curve(&self) -> Curve<'a> {
        let lanes = self.lanes.iter();
        let names = lanes.map(|lane| clean(&lane.lane).into_owned());
        self.curve(&self.kinds(), names.collect())
    }

    fn curve(&self, kinds: &[CurveKind], names: Vec<String>) -> Curve<'a> {
        let lanes = self.lanes.iter().zip(kinds).zip(names);
        let lanes = lanes.map(|((lane, kind), name)| CurveLane {
            name,
            kind: *kind,
            samples: &lane.outcome.samples,
            events: &lane.outcome.events,
        });
        Curve {
            lanes: lanes.collect(),
            windows: &self.case.windows,
            output_reserve: self.output_reserve,
            triggers: self.triggers(),
        }
    }

    fn kinds(&self) -> Vec<CurveKind> {
        let mut policies = 0;
        let kind = |lane: &Played| {
            let kind = lane.kind(policies);
            policies += usize::from(matches!(kind, CurveKind::Policy(_)));
            kind
        };
        self.lanes.iter().map(kind).collect()
    }

    /// The different triggers of the lanes, if they are few enough to be drawn.
    fn triggers(&self) -> Vec<Share> {
        let mut all: Vec<Share> = Vec::new();
        for lane in self.lanes.iter().filter_map(Played::lane) {
            let trigger = Trigger::of_lane(self.case, self.output_reserve, lane);
            if let Some(Trigger { share, .. }) = trigger
                && !all.contains(&share)
            {
                all.push(share);
            }
        }
        if all.len() > TRIGGERS {
            all.clear();
        }
        all
    }
}

/// The verdict over what really happened; a piece that leads to a message is that message's name.
fn sentence(subject: &Subject<'_>, teller: &mut Teller) -> (Vec<Shown>, crate::analysis::Severity) {
    let Some(really) = subject.lanes.first() else {
        return (Vec::new(), crate::analysis::Severity::Ok);
    };
    let lanes = subject.lanes.iter().filter_map(Played::lane);
    let trigger = Trigger::of_lanes(subject.case, subject.output_reserve, lanes);
    let verdict = verdict(
        subject.case,
        &really.outcome,
        subject.output_reserve,
        &trigger,
    );
    let clauses = verdict.clauses.iter().map(|clause| match clause.link {
        Some(Link::Message(message)) => teller.message(&MessageName::of(subject.case, message)),
        Some(_) | None => teller.said(&clause.text),
    });
    (clauses.collect(), verdict.severity)
}

fn about(subject: &Subject<'_>, teller: &mut Teller) -> About {
    let case = subject.case;
    let session = &case.session;
    let file = teller.numbered(What::File, &session.source.name);
    let has_title = session.title != session.source.name && !session.title.is_empty();
    let title = has_title.then(|| teller.text(&session.title));
    let by_kind = case.ledger.by_kind(session);
    let kinds = Kind::ALL.into_iter().zip(by_kind);
    let by_tool = tokens_by_tool(case).into_iter().take(HEAVIEST);
    About {
        file,
        title,
        format: subject.format,
        messages: session.messages.iter().filter(|m| m.in_history).count(),
        turns: session.turns as usize,
        steps: session.calls.len(),
        steps_recorded: session.calls_from == CallsFrom::Recorded,
        models: session.models.iter().map(|m| teller.model(m)).collect(),
        window: case.windows.largest(),
        window_source: window_source(case),
        output_reserve: subject.output_reserve,
        total: case.ledger.total(),
        basis: basis_sentence(case),
        is_estimate: case.ledger.basis == Basis::Estimated,
        calls_reported: session.calls.iter().filter(|s| s.usage.is_some()).count(),
        by_kind: kinds.filter(|(_, tokens)| *tokens > Tokens::ZERO).collect(),
        by_tool: by_tool
            .map(|(tool, tokens)| (teller.tool(&tool), tokens))
            .collect(),
        heaviest: heaviest(case, teller),
    }
}

fn heaviest(case: &Case, teller: &mut Teller) -> Vec<Item> {
    let messages = case.session.messages.iter().enumerate();
    let mut all: Vec<(usize, Tokens)> = messages
        .filter(|(_, m)| m.in_history)
        .map(|(idx, _)| (idx, case.ledger.message(idx)))
        .collect();
    all.sort_by_key(|(idx, tokens)| (std::cmp::Reverse(*tokens), *idx));
    all.truncate(HEAVIEST);
    all.into_iter()
        .map(|(message, tokens)| item(case, message, tokens, teller))
        .collect()
}

/// A message in a list.
pub(super) fn item(case: &Case, message: usize, tokens: Tokens, teller: &mut Teller) -> Item {
    Item {
        message,
        name: teller.message(&MessageName::of(case, message)),
        tokens,
    }
}
