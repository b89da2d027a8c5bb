//! The result of `plimsoll sweep` as text: the settings of each session. [`super::several_text`] sums up several
//! sessions.

use super::{SweepFindings, Swept, Verb};
use crate::analysis::tune::{
    CostUnit, LostRules, Point, Recommendation, SweepSubject, changed_settings, cost_unit, front,
    ruled_out_counts, trade_off,
};
use crate::cli::output::{clean, counted, percent, tokens};
use crate::engine::Budget;
use crate::exec::shell::quoted_path;
use crate::figure::usd;
use crate::units::{Tokens, Usd};
use std::fmt::Write as _;

/// Maximum number of rows of the front that are listed without `--all`: a terminal of usual height.
const MAX_ROWS: usize = 24;

impl SweepFindings {
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
        let usable = Budget { window: swept.window, output_reserve: swept.reserve };
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
        recorded(text, swept);
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
                "  and {} more that trade cost for a lower peak or fewer lost rules (--all lists every setting)",
                hidden.len()
            );
        }
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
        if found.as_good > 1 {
            let n = counted(found.as_good, "setting");
            let _ = writeln!(
                text,
                "{n} are equally good: the intervals of their costs overlap, or they differ by less than 1 %."
            );
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

    /// Writes `Tried 300 settings of truncate and prune: 212 work.`, and the numbers that are ruled out for each
    /// reason.
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
        for SweepSubject { lane, policy, axes, .. } in &self.subjects {
            let is_varied = |name: &str| axes.iter().any(|axis| axis.knob == name);
            let fixed = policy.knobs.iter().filter(|knob| !knob.is_offered);
            let fixed = fixed.map(|knob| &*knob.name).filter(|name| !is_varied(name));
            let fixed: Vec<&str> = fixed.collect();
            if !fixed.is_empty() {
                let (lane, fixed) = (clean(lane), fixed.join(", "));
                let _ =
                    writeln!(text, "  not varied, because {lane} offers no such setting: {fixed}");
            }
        }
    }

    fn table(&self, text: &mut String, swept: &Swept, rows: &[usize]) {
        let unit = cost_unit(&swept.points);
        let lanes = self.subjects.iter().map(|s| clean(&s.lane).chars().count());
        let width = lanes.max().unwrap_or(0).max(4);
        let cost = if unit == CostUnit::Usd { "cost" } else { "tokens sent" };
        let _ = writeln!(
            text,
            "    {:width$} {cost:>13} {:>8} {:>9} {:>10} {:>11}  settings",
            "lane", "re-reads", "of usable", "lost rules", "compactions"
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
            let figures = figures(point, unit);
            let settings = self.settings(point);
            let why = point.ruled_out.map_or_else(String::new, |why| {
                let policy = &self.subjects[point.subject].policy;
                format!("  ({})", clean(&why.text(policy)))
            });
            let _ = writeln!(text, "{marks} {lane:width$} {figures}  {settings}{why}");
        }
        text.push_str("  > recommended, = current settings (defaults and --set), * no other is better in cost, peak and lost rules\n");
        text.push_str(match unit {
            CostUnit::Usd => "  The cost includes the price of the expected re-reads.\n",
            CostUnit::Tokens => "  The tokens include those of the expected re-reads.\n",
        });
        text.push_str("  Lost rules: constraints and decisions of the user that the last call lacks, such as 0/2; 0-2/2 if only a predicted summary may hold them.\n");
    }

    /// Formats the settings of a point that vary, with their values.
    pub(super) fn settings(&self, point: &Point) -> String {
        let subject = &self.subjects[point.subject];
        let mut all =
            changed_settings(&subject.policy, &crate::engine::KnobValues::default(), &point.knobs);
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

/// Writes `Recorded run: $4.82 by the same cache model, $74.16 as billed; re-reads about 1.3 files (0.8 to 1.9), 8.2k
/// tokens, $0.03 expected after 2 compactions.`
fn recorded(text: &mut String, swept: &Swept) {
    /// Minimum difference between the two costs that is shown. A smaller one is below the error of the counts.
    const MIN_DIFFERENCE: f64 = 0.01;
    let Some(recorded) = swept.recorded else {
        return;
    };
    let cost = recorded.cost.map(|cost| {
        let differs = |billed: &Usd| (billed.0 - cost.0).abs() > MIN_DIFFERENCE * cost.0;
        let billed = swept.billed.filter(differs);
        let billed = billed.map_or_else(String::new, |sum| format!(", {} as billed", usd(sum)));
        format!("{} by the same cache model{billed}", usd(cost))
    });
    let rereads = (recorded.compactions > 0).then(|| {
        let (words, n) = (recorded.rereads.words(), recorded.compactions);
        let expected = if recorded.rereads.is_none() { "" } else { " expected" };
        format!("{words}{expected} after {}", counted(n, "compaction"))
    });
    let figures: Vec<String> = cost.into_iter().chain(rereads).collect();
    if !figures.is_empty() {
        let _ = writeln!(text, "Recorded run: {}.", figures.join("; "));
    }
}

/// Returns the points to list: the front, those that the recommendation names and the current settings.
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
    let named = recommended.map(|found| [found.point, found.cheapest]);
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

fn figures(point: &Point, unit: CostUnit) -> String {
    let score = point.score;
    let of_stated = |rules: LostRules| match rules.unknown {
        0 => format!("{}/{}", rules.lost, rules.stated),
        n => format!("{}-{}/{}", rules.lost, rules.lost + n, rules.stated),
    };
    let or_dash = |text: Option<String>| text.unwrap_or_else(|| "–".to_owned());
    format!(
        "{:>13} {:>8} {:>9} {:>10} {:>11}",
        cost(unit, point),
        or_dash(score.map(|s| s.rereads.number())),
        or_dash(score.map(|s| percent(s.peak_share))),
        or_dash(score.and_then(|s| s.user_rules).map(of_stated)),
        or_dash(score.map(|s| s.compactions.to_string())),
    )
}

/// Formats the cost of a point, with its expected re-reads.
pub(super) fn cost(unit: CostUnit, point: &Point) -> String {
    let Some(score) = point.score else {
        return "–".to_owned();
    };
    match unit {
        CostUnit::Usd => usd(Usd(unit.of(&score))),
        CostUnit::Tokens => tokens(Tokens(unit.of(&score) as u64)),
    }
}
