//! The result of `plimsoll sweep` as text: the settings of each session. [`super::several_text`] sums up several sessions.

use super::{Findings, Swept, Verb};
use crate::analysis::tune::{
    CostUnit, Point, Recommendation, Risk, RiskAxis, Subject, changed_settings, cost_unit, front,
    ruled_out_counts, trade_off,
};
use crate::cli::output::{clean, counted, percent, tokens};
use crate::engine::Budget;
use crate::exec::shell::quoted_path;
use crate::figure::{grouped, usd};
use crate::units::{Share, Tokens};
use std::fmt::Write as _;

/// Maximum number of rows of the front that are listed without `--all`.
const MAX_ROWS: usize = 24;

impl Findings {
    /// Returns the text; `all` lists every setting, of several sessions too.
    pub(super) fn text(&self, all: bool) -> String {
        let mut text = String::new();
        if all || !self.are_many {
            for swept in &self.sessions {
                self.session_text(&mut text, swept, all);
                text.push('\n');
            }
        }
        if self.are_many {
            self.many(&mut text);
        }
        text
    }

    fn session_text(&self, text: &mut String, swept: &Swept, all: bool) {
        let usable = Budget {
            window: swept.window,
            output_reserve: swept.reserve,
        };
        let _ = writeln!(
            text,
            "{} · {} · {} · window {} ({}), reserve {}, usable {} · {}",
            clean(&swept.title),
            swept.format,
            counted(swept.calls, "call"),
            tokens(swept.window),
            swept.window_source,
            tokens(swept.reserve),
            tokens(usable.usable()),
            swept.accuracy_sentence,
        );
        self.tried(text, &swept.points);
        let recommended = swept.recommended.as_ref().ok();
        let rows = rows(&swept.points, recommended, all);
        if !rows.is_empty() {
            self.table(text, swept, &rows);
        }
        let mut hidden = front(&swept.points);
        hidden.retain(|idx| !rows.contains(idx));
        if !hidden.is_empty() {
            let _ = writeln!(
                text,
                "  and {} more that trade cost or risk for a lower peak (--all lists every setting)",
                hidden.len()
            );
        }
        if rows.iter().any(|idx| swept.fewest.contains_key(idx)) {
            text.push_str("At risk: from predicted summaries that contain the names used most to empty ones. Settings are compared by the higher number.\n");
        }
        Self::recorded(text, swept);
        text.push('\n');
        match &swept.recommended {
            Err(why) => {
                let _ = writeln!(text, "{why}");
                if let Some(other) = &swept.alternative {
                    let file = quoted_path(&swept.id.file);
                    let _ = writeln!(text, "{}", clean(&other.text));
                    let _ = writeln!(
                        text,
                        "  plimsoll replay {} --policy {}",
                        clean(&file),
                        other.policy
                    );
                }
            }
            Ok(found) => self.recommended(text, swept, found),
        }
    }

    fn recommended(&self, text: &mut String, swept: &Swept, found: &Recommendation) {
        let _ = writeln!(text, "Recommended: {}", clean(&found.text));
        if let Some(others) = &found.others {
            let _ = writeln!(text, "{}", clean(others));
        }
        if let Some(saved) = swept.saved {
            let _ = writeln!(text, "{}", saved_text(saved));
        }
        let id = Some(&swept.id);
        if found.never_acts {
            text.push_str("It never compacts this session, so there is nothing to write.\n");
        } else {
            let command = self.command(&swept.points[found.point], id, Verb::Compact);
            let _ = writeln!(text, "  {}", clean(&command));
        }
        if let Some(acting) = &found.acting {
            let reason = clean(&acting.text);
            let command = self.command(&swept.points[acting.point], id, Verb::Replay);
            let _ = writeln!(text, "The best setting that acts: {reason}");
            let _ = writeln!(text, "  {}", clean(&command));
        }
    }

    /// Writes `Recorded run: $3.66 by the same cache model; 12 at risk after 1 compaction (noise floor).`
    fn recorded(text: &mut String, swept: &Swept) {
        let Some(recorded) = swept.preference.recorded else {
            return;
        };
        let compactions = counted(recorded.compactions, "compaction");
        let cost = recorded
            .cost
            .map(|cost| format!("{} by the same cache model", usd(cost)));
        let noise = (recorded.compactions > 0 && recorded.risk.lost.is_none()).then(|| {
            let noise = swept.preference.noise();
            format!("{noise} at risk after {compactions} (noise floor)")
        });
        let figures: Vec<String> = cost.into_iter().chain(noise).collect();
        if !figures.is_empty() {
            let _ = writeln!(text, "Recorded run: {}.", figures.join("; "));
        }
    }

    /// Writes `Tried 300 settings of truncate and prune: 212 work.`, and the numbers that are ruled out for each reason.
    fn tried(&self, text: &mut String, points: &[Point]) {
        let lanes: Vec<_> = self.subjects.iter().map(|s| clean(&s.lane)).collect();
        let works = points.iter().filter(|p| p.valid().is_some()).count();
        let _ = write!(
            text,
            "Tried {} of {}: {works} {}",
            counted(points.len(), "setting"),
            lanes.join(", "),
            if works == 1 { "works" } else { "work" }
        );
        text.push_str(".\n");
        write_ruled_out(text, points);
        self.not_varied(text);
        if cost_unit(points) == CostUnit::Tokens && works > 0 {
            text.push_str("Tokens sent are listed instead of the cost: no price is known for this model (--price-as MODEL or --prices FILE gives one).\n");
        }
        text.push('\n');
    }

    /// Writes the settings that the systems do not offer to their users.
    fn not_varied(&self, text: &mut String) {
        for Subject {
            lane, policy, axes, ..
        } in &self.subjects
        {
            let is_varied = |name: &str| axes.iter().any(|axis| axis.knob == name);
            let fixed = policy.knobs.iter().filter(|knob| !knob.is_offered);
            let fixed = fixed
                .map(|knob| &*knob.name)
                .filter(|name| !is_varied(name));
            let fixed: Vec<&str> = fixed.collect();
            if !fixed.is_empty() {
                let (lane, fixed) = (clean(lane), fixed.join(", "));
                let _ = writeln!(
                    text,
                    "  not varied, because {lane} offers no such setting: {fixed}"
                );
            }
        }
    }

    fn table(&self, text: &mut String, swept: &Swept, rows: &[usize]) {
        let unit = cost_unit(&swept.points);
        let lanes = self.subjects.iter().map(|s| clean(&s.lane).chars().count());
        let width = lanes.max().unwrap_or(0).max(4);
        let cost = if unit == CostUnit::Usd {
            "cost"
        } else {
            "tokens sent"
        };
        let _ = writeln!(
            text,
            "    {:width$} {cost:>13} {:>8} {:>9} {:>12}  settings",
            "lane",
            if swept.risk == RiskAxis::References {
                "at risk"
            } else {
                "lost"
            },
            "of usable",
            "compactions"
        );
        let front = front(&swept.points);
        let picked = swept.recommended.as_ref().ok().map(|found| found.point);
        for idx in rows {
            let point = &swept.points[*idx];
            let mark = |is_set: bool, mark: char| if is_set { mark } else { ' ' };
            let marks: String = [
                mark(picked == Some(*idx), '>'),
                mark(point.is_now, '='),
                mark(front.contains(idx), '*'),
            ]
            .iter()
            .collect();
            let lane = clean(&self.subjects[point.subject].lane);
            let fewest = swept.fewest.get(idx);
            let figures = figures(point, unit, fewest);
            let settings = self.settings(point);
            let why = point.ruled_out.map_or_else(String::new, |why| {
                let policy = &self.subjects[point.subject].policy;
                format!("  ({})", clean(&why.text(policy)))
            });
            let _ = writeln!(text, "{marks} {lane:width$} {figures}  {settings}{why}");
        }
        text.push_str("  > recommended, = current settings (defaults and --set), * no other is better in cost, risk and peak\n");
    }

    /// Formats the settings of a point that vary, with their values.
    pub(super) fn settings(&self, point: &Point) -> String {
        let subject = &self.subjects[point.subject];
        let mut all = changed_settings(
            &subject.policy,
            &crate::engine::KnobValues::default(),
            &point.knobs,
        );
        all.retain(|changed| subject.axes.iter().any(|axis| axis.knob == changed.knob));
        let all: Vec<String> = all.iter().map(ToString::to_string).collect();
        clean(&all.join(" ")).into_owned()
    }
}

/// Writes a line for each reason with the number of settings that it rules out.
pub(super) fn write_ruled_out<'a>(text: &mut String, points: impl IntoIterator<Item = &'a Point>) {
    for count in ruled_out_counts(points) {
        let _ = writeln!(text, "  {}", count.sentence());
    }
}

/// Returns the points to list: the front of cost and risk, those that the recommendation names and the current settings.
fn rows(points: &[Point], recommended: Option<&Recommendation>, all: bool) -> Vec<usize> {
    if all {
        return (0..points.len()).collect();
    }
    let mut rows = front(points);
    if rows.len() > MAX_ROWS {
        rows = trade_off(points);
        // Picks rows evenly if there are too many.
        let n = rows.len();
        let is_one = |nth: usize| n <= MAX_ROWS || nth * MAX_ROWS / n != (nth + 1) * MAX_ROWS / n;
        let mut nth = 0..;
        rows.retain(|_| is_one(nth.next().unwrap_or(0)));
    }
    let named = recommended.map(|found| [found.point, found.cheapest, found.safest]);
    let acting = recommended.and_then(|found| found.acting.as_ref());
    let named = named.into_iter().flatten();
    let others = named.chain(acting.map(|acting| acting.point));
    let others = others.chain((0..points.len()).filter(|idx| points[*idx].is_now));
    for other in others {
        if !rows.contains(&other) {
            rows.push(other);
        }
    }
    let unit = cost_unit(points);
    let cost = |idx: &usize| points[*idx].score.map_or(f64::INFINITY, |s| unit.of(&s));
    rows.sort_by(|a, b| cost(a).total_cmp(&cost(b)));
    rows
}

fn figures(point: &Point, unit: CostUnit, fewest: Option<&usize>) -> String {
    let score = point.score;
    let at_risk = |risk: Risk| match fewest {
        Some(fewest) => format!(
            "{}-{}",
            grouped(*fewest as u64),
            grouped(risk.references as u64)
        ),
        None if risk.is_judged() => grouped(risk.count() as u64),
        None => "-".to_owned(),
    };
    let or_dash = |text: Option<String>| text.unwrap_or_else(|| "–".to_owned());
    format!(
        "{:>13} {:>8} {:>9} {:>12}",
        cost(unit, point),
        or_dash(score.map(|s| at_risk(s.risk))),
        or_dash(score.map(|s| percent(s.peak_share))),
        or_dash(score.map(|s| s.compactions.to_string())),
    )
}

pub(super) fn cost(unit: CostUnit, point: &Point) -> String {
    let Some(score) = point.score else {
        return "–".to_owned();
    };
    match (unit, score.cost) {
        (CostUnit::Usd, Some(cost)) => usd(cost),
        _ => tokens(Tokens(score.total.0)),
    }
}

/// Formats the tokens that a setting saves, as a share of the lossless maximum.
fn saved_text(saved: Share) -> String {
    /// Maximum share that is printed. Higher ones mean that almost nothing could be saved without loss.
    const MAX_SHARE: f64 = 10.0;
    let share = percent(saved);
    if saved.0 > MAX_SHARE {
        "Saves many times the lossless maximum: it also removes content that is used later."
            .to_owned()
    } else if saved.0 > 1.0 {
        format!(
            "Saves {share} of the lossless maximum: it also removes content that is used later."
        )
    } else {
        format!("Saves {share} of the lossless maximum.")
    }
}
