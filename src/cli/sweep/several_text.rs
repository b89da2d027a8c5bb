//! The result of `plimsoll sweep` over several sessions as text.

use super::text::{cost, write_ruled_out};
use super::{SweepFindings, Swept, Verb};
use crate::analysis::tune::{CostUnit, Point, Score, cost_unit};
use crate::cli::output::{clean, counted, percent};
use crate::figure::usd;
use crate::units::{Share, Usd};
use std::fmt::Write as _;

/// Characters of a session's name in the table, which fits 80 columns.
const NAME: usize = 21;

impl SweepFindings {
    /// Returns the text for several sessions: the best setting of each, and one setting for all.
    pub(super) fn many(&self, text: &mut String) {
        let Some(first) = self.sessions.first() else {
            return;
        };
        let _ = writeln!(
            text,
            "{}, {} of {}\n",
            counted(self.sessions.len(), "session"),
            counted(first.points.len(), "setting"),
            self.subjects.iter().map(|s| clean(&s.lane)).collect::<Vec<_>>().join(", ")
        );
        let ids: Vec<_> = self.sessions.iter().map(|s| s.id.to_string()).collect();
        let names = short_names(&ids);
        let _ = writeln!(
            text,
            "{:NAME$} {:>5} {:>17} {:>17} {:>7} {:>8}",
            "session", "calls", "best", "one for all", "regret", "left out"
        );
        for (idx, swept) in self.sessions.iter().enumerate() {
            self.row(text, idx, swept, &names[idx]);
        }
        text.push_str("  Cost with the price of the expected re-reads, and their number.\n\n");
        let all = self.sessions.iter().flat_map(|swept| &swept.points);
        if all.clone().any(|point| point.ruled_out.is_some()) {
            text.push_str("Counted in each session:\n");
            write_ruled_out(text, all);
        }
        let Some(robust) = &self.robust else {
            if self.sessions.len() > 1 {
                text.push_str("No setting works in any of these sessions.\n");
            }
            return;
        };
        let point = &first.points[robust.setting];
        let lane = clean(&self.subjects[point.subject].lane);
        let _ = writeln!(text, "One for all: {lane} with {}", self.settings(point));
        self.compare_with_recorded(text, robust.setting);
        if let Some(worst) = robust.worst() {
            let _ = writeln!(
                text,
                "  worst regret {} ({})",
                regret(worst.regret),
                clean(&self.sessions[worst.session].id.to_string())
            );
        }
        if let Some(worst) = robust.worst_left_out() {
            let session = self.sessions[worst.session].id.to_string();
            let session = clean(&session);
            let _ = match worst.regret {
                Some(_) => writeln!(
                    text,
                    "  chosen from the other sessions: regret up to {} ({session})",
                    regret(worst.regret)
                ),
                None => {
                    writeln!(text, "  chosen from the other sessions, a setting fails in {session}")
                }
            };
        }
        let command = self.command(point, None, Verb::Compact);
        let _ = writeln!(text, "  {}", clean(&command));
    }

    /// Writes how the setting for all sessions compares with their recorded runs.
    fn compare_with_recorded(&self, text: &mut String, setting: usize) {
        let runs = self.sessions.iter().filter_map(|swept| {
            let score = swept.points[setting].valid()?;
            Some((swept.recorded?, score))
        });
        let costs = runs
            .clone()
            .filter_map(|(was, is)| Some((was.cost?.0, is.cost.map(|_| CostUnit::Usd.of(is))?)));
        let (was, is) = costs.fold((0.0, 0.0), |(was, is), run| (was + run.0, is + run.1));
        if was > 0.0 {
            let [now, before] = [is, was].map(|cost| usd(Usd(cost)));
            let share = percent(Share((is / was - 1.0).abs()));
            let line = if now == before {
                format!("costs {now}, as the recorded runs")
            } else if is < was {
                format!("saves {share} of {before} (recorded runs) and costs {now}")
            } else {
                format!("costs {now}, {share} more than the recorded runs ({before})")
            };
            let _ = writeln!(text, "  {line}");
        }
        let n = |holds: &dyn Fn(&Score, &Score) -> bool| {
            runs.clone().filter(|(was, is)| holds(was, is)).count()
        };
        let of_all = |n: usize| format!("{n} of {}", counted(self.sessions.len(), "session"));
        let (idle, worse) =
            (n(&|_, is| !is.acts), n(&|was, is| is.rereads.files.low > was.rereads.files.high));
        if idle > 0 {
            let _ = writeln!(text, "  never acts in {}, which fit", of_all(idle));
        }
        if worse > 0 {
            let _ = writeln!(
                text,
                "  more re-reads are expected than after the recorded compactions in {}",
                of_all(worse)
            );
        }
    }

    fn row(&self, text: &mut String, idx: usize, swept: &Swept, name: &str) {
        let unit = cost_unit(&swept.points);
        // Sessions of a folder may differ in the unit of the cost, so each figure names it.
        let paid = |point: &Point| match unit {
            CostUnit::Usd => cost(unit, point),
            CostUnit::Tokens => format!("{} tokens", cost(unit, point)),
        };
        let figures = |point: usize| match swept.points[point].valid() {
            Some(score) => format!("{}, {}", paid(&swept.points[point]), score.rereads.number()),
            None => "does not work".to_owned(),
        };
        let best = swept
            .recommended
            .as_ref()
            .map_or_else(|_| "no setting works".to_owned(), |found| figures(found.point));
        let robust = self.robust.as_ref();
        let own = robust.and_then(|r| r.regrets.iter().find(|r| r.session == idx));
        let without = robust.and_then(|r| r.left_out.iter().find(|l| l.session == idx));
        let _ = writeln!(
            text,
            "{:NAME$} {:>5} {best:>17} {:>17} {:>7} {:>8}",
            clean(name),
            swept.calls,
            robust.filter(|_| own.is_some()).map_or_else(String::new, |r| figures(r.setting)),
            own.map_or_else(String::new, |own| regret(own.regret)),
            without.map_or_else(String::new, |l| regret(l.regret)),
        );
    }
}

/// Returns names of paths for a table: without the folder of all of them, and long ones without their beginning.
fn short_names(paths: &[String]) -> Vec<String> {
    let folder = |path: &String| path.rfind(std::path::is_separator).map_or(0, |at| at + 1);
    let shared = paths.first().map_or("", |first| &first[..folder(first)]);
    let is_shared = paths.iter().all(|path| path.starts_with(shared));
    let short = |path: &String| {
        let name = if is_shared { &path[shared.len()..] } else { path };
        match name.char_indices().nth_back(NAME - 1) {
            Some((at, _)) if at > 0 => {
                let end: String = name[at..].chars().skip(1).collect();
                format!("…{end}")
            }
            _ => name.to_owned(),
        }
    };
    paths.iter().map(short).collect()
}

fn regret(regret: Option<f64>) -> String {
    regret.map_or_else(|| "fails".to_owned(), |regret| percent(Share(regret)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_in_the_table_are_short() {
        let short = |paths: [&str; 2]| short_names(&paths.map(str::to_owned));
        assert_eq!(short(["all/a.jsonl", "all/b.jsonl"]), ["a.jsonl", "b.jsonl"]);
        assert_eq!(short(["all/a.jsonl", "b.jsonl"]), ["all/a.jsonl", "b.jsonl"]);
        let long = "a-name-of-twenty-2.md";
        assert_eq!(short([long, "a-name-of-more-than-twenty.md"]), [long, "…-more-than-twenty.md"]);
    }
}
