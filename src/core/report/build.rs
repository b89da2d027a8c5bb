//! Builds a report: facts of the session, the verdict, and each lane ([`super::lane`]).

use super::accuracy::{accuracy_sentence, window_source};
use super::curve::{Curve, CurveKind, CurveLane, draw};
use super::item::item;
use super::lane::lane_report;
use super::played::Played;
use super::redaction::{NameKind, Redactor, ReportText};
use super::tree::{TreeReport, TreeSubject};
use super::{About, LaneReport, MessageNote, Report, ReportMessage, RereadsReport, SurvivalReport};
use crate::analysis::cost::{Billing, Bills};
use crate::analysis::rereads::{
    ExpectedRereads, FileReads, RereadMeasure, RereadModel, RereadPrices,
};
use crate::analysis::tools::tokens_by_tool;
use crate::analysis::{Link, MessageName, Severity, Trigger, verdict};
use crate::engine::{Case, Outcome};
use crate::presets::prices::Prices;
use crate::safe_text::clean;
use crate::session::{CallsFrom, Kind};
use crate::units::{Share, Tokens};
use rayon::prelude::*;
use std::collections::BTreeMap;

/// Input of a report.
#[derive(Clone, Copy, Debug)]
pub struct ReportSubject<'a> {
    /// The session.
    pub case: &'a Case,
    /// Warnings of the reader.
    pub warnings: &'a [String],
    /// Label of the format.
    pub format: &'static str,
    /// Output reserve.
    pub output_reserve: Tokens,
    /// The lanes, `recorded` first.
    pub lanes: &'a [Played],
    /// True if the format records compactions.
    pub records_compactions: bool,
    /// Coefficients of expected re-reads.
    pub reread_model: &'a RereadModel,
    /// The session with its sub-agents and branches; `None` without any.
    pub tree: Option<TreeSubject<'a>>,
    /// Notes of the user on messages.
    pub notes: &'a BTreeMap<usize, String>,
}

/// Number of listed tools and messages.
const HEAVIEST: usize = 12;
/// Maximum number of drawn triggers. With more, none is drawn: the lines would hide the curves, and each lane states
/// its trigger in its settings.
const TRIGGERS: usize = 2;

impl Report {
    /// Creates a report. If it `redacts`, it contains no text of the session or the user.
    pub fn new(subject: &ReportSubject<'_>, redacts: bool) -> Self {
        let mut redactor = Redactor::new(redacts);
        let (verdict, severity) = sentence(subject, &mut redactor);
        let about = about(subject, &mut redactor);
        let kinds = subject.kinds();
        let files = FileReads::new(subject.case);
        let expected = subject.expected_rereads(&files);
        let lanes: Vec<LaneReport> = subject
            .lanes
            .iter()
            .zip(&kinds)
            .zip(&expected)
            .map(|((lane, kind), expected)| {
                let rereads = RereadsReport::new(expected, &files, &mut redactor);
                let mut report = lane_report(subject.case, lane, *kind, rereads, &mut redactor);
                let is_known = *kind != CurveKind::Recorded || subject.records_compactions;
                let compactions = report.figures.compactions;
                report.figures.compactions = compactions.filter(|_| is_known);
                report
            })
            .collect();
        let names = lanes.iter().map(|lane| lane.name.to_string());
        let curve = draw(&subject.curve(&kinds, names.collect()));
        let of_windows = &subject.case.windows.warnings;
        let warnings = subject.warnings.iter().chain(of_windows);
        let outcomes: Vec<&Outcome> = subject.lanes.iter().map(|lane| &lane.outcome).collect();
        let message_notes = subject.message_notes(&mut redactor);
        Self {
            is_redacted: redactor.redacts(),
            omitted_notes: subject.notes.len() - message_notes.len(),
            message_notes,
            about,
            verdict,
            severity,
            survival: SurvivalReport::new(subject.case, &outcomes, &redactor),
            tree: subject.tree.map(|tree| TreeReport::new(tree, &redactor)),
            curve,
            warnings: warnings.map(|warning| redactor.sentence(warning)).collect(),
            lanes,
        }
    }
}

impl<'a> ReportSubject<'a> {
    /// Returns the curve with the lanes' names, not redacted.
    pub fn plain_curve(&self) -> Curve<'a> {
        let lanes = self.lanes.iter();
        let names = lanes.map(|lane| clean(&lane.lane).into_owned());
        self.curve(&self.kinds(), names.collect())
    }

    /// Returns the expected re-reads of each lane, at list prices.
    fn expected_rereads(&self, files: &FileReads) -> Vec<ExpectedRereads> {
        let bills = Bills::new(self.case, Billing::at(Prices::in_use()));
        let measure = RereadMeasure {
            model: self.reread_model,
            files,
            prices: &RereadPrices::new(&bills, self.case.session.calls.len()),
        };
        let lanes = self.lanes.par_iter();
        lanes.map(|lane| measure.rereads(self.case, &lane.outcome)).collect()
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

    /// Returns the notes on messages; none if the report redacts.
    fn message_notes(&self, redactor: &mut Redactor) -> Vec<MessageNote> {
        let n_messages = self.case.session.messages.len();
        let is_listed = |message: usize| !redactor.redacts() && message < n_messages;
        let notes: Vec<_> = self.notes.iter().filter(|(m, _)| is_listed(**m)).collect();
        let notes = notes.into_iter().map(|(message, note)| {
            let tokens = self.case.ledger.message(*message);
            MessageNote {
                item: item(self.case, *message, tokens, redactor),
                text: redactor.text(note),
            }
        });
        notes.collect()
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

    /// Returns the different triggers of the lanes; none if there are too many to draw.
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

/// Returns the verdict about the recorded run, with its severity.
fn sentence(subject: &ReportSubject<'_>, redactor: &mut Redactor) -> (Vec<ReportText>, Severity) {
    let Some(recorded) = subject.lanes.first() else {
        return (Vec::new(), Severity::Ok);
    };
    let lanes = subject.lanes.iter().filter_map(Played::lane);
    let trigger = Trigger::of_lanes(subject.case, subject.output_reserve, lanes);
    let verdict = verdict(subject.case, &recorded.outcome, subject.output_reserve, &trigger);
    let clauses = verdict.clauses.iter().map(|clause| match clause.link {
        Some(Link::Message(message)) => redactor.message(&MessageName::of(subject.case, message)),
        Some(_) | None => redactor.sentence(&clause.text),
    });
    (clauses.collect(), verdict.severity)
}

fn about(subject: &ReportSubject<'_>, redactor: &mut Redactor) -> About {
    let case = subject.case;
    let session = &case.session;
    let file = redactor.numbered(NameKind::File, &session.source.name);
    let has_title = session.title != session.source.name && !session.title.is_empty();
    let title = has_title.then(|| redactor.text(&session.title));
    let mut by_kind = case.ledger.by_kind(session);
    // The ledger counts tokens that are not recorded as system.
    let system = &mut by_kind[Kind::System.index()];
    *system = *system - case.ledger.overhead;
    let kinds = Kind::ALL.into_iter().zip(by_kind);
    let by_tool = tokens_by_tool(case).into_iter().take(HEAVIEST);
    About {
        file,
        title,
        format: subject.format,
        messages: session.n_history(),
        turns: session.turns as usize,
        calls: session.calls.len(),
        calls_recorded: session.calls_from == CallsFrom::Recorded,
        models: session.models.iter().map(|m| redactor.model(m)).collect(),
        window: case.windows.largest(),
        window_source: window_source(case),
        output_reserve: subject.output_reserve,
        total: case.ledger.total(),
        accuracy: accuracy_sentence(case),
        accuracy_mark: case.ledger.accuracy.mark(),
        calls_reported: session.calls.iter().filter(|s| s.usage.is_some()).count(),
        not_recorded: case.ledger.overhead,
        by_kind: kinds.filter(|(_, tokens)| *tokens > Tokens::ZERO).collect(),
        by_tool: by_tool.map(|(tool, tokens)| (redactor.tool(&tool), tokens)).collect(),
        heaviest: heaviest(case, redactor),
    }
}

fn heaviest(case: &Case, redactor: &mut Redactor) -> Vec<ReportMessage> {
    let messages = case.session.messages.iter().enumerate();
    let mut all: Vec<(usize, Tokens)> = messages
        .filter(|(_, m)| m.in_history)
        .map(|(idx, _)| (idx, case.ledger.message(idx)))
        .collect();
    all.sort_by_key(|(idx, tokens)| (std::cmp::Reverse(*tokens), *idx));
    all.truncate(HEAVIEST);
    all.into_iter().map(|(message, tokens)| item(case, message, tokens, redactor)).collect()
}
