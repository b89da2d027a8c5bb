//! `plimsoll sweep`: tries many settings of policies over sessions and recommends one.

mod csv;
mod json_output;
mod options;
mod swept;
mod text;

use super::args::GlobalOptions;
use super::output::{json, print, print_wrapped, progress};
use super::status::Status;
use super::targets::{Skipped, Targets};
use crate::analysis::tune::{Point, Robust, Subject, SweptSession, changed_settings, plan, robust};
use crate::units::Share;
pub(super) use json_output::Sweep;
use options::Options;
use std::path::PathBuf;
use swept::Swept;

/// Try many settings of policies over sessions and recommend one
#[derive(Debug, clap::Args)]
#[command(
    after_help = "In the table, > marks the recommendation, = the current settings, and * each setting that no other beats in cost, risk and peak. docs/numbers.md defines the figures. A file with several sessions is swept session by session, each named FILE#N; --conversation N selects one."
)]
pub(super) struct Args {
    /// Session files or folders
    #[arg(value_name = "FILE|FOLDER")]
    targets: Vec<PathBuf>,
    #[command(flatten)]
    options: Options,
}

/// The result of the command, for text, JSON and CSV.
struct Findings {
    subjects: Vec<Subject>,
    /// The policies as `--policy` names them.
    named: Vec<String>,
    weight: Share,
    sessions: Vec<Swept>,
    robust: Option<Robust>,
    skipped: Skipped,
}

impl Args {
    pub(super) fn run(mut self, shared: &GlobalOptions) -> anyhow::Result<Status> {
        // Options are checked before a large file is read.
        let (subjects, named) = self.options.subjects(shared)?;
        let targets = Targets::new("sweep", &self.targets, shared)?;
        let prices = self.options.billing.prices()?;
        let billing = self.options.billing.billing(&prices)?;
        let plan = plan(&subjects, self.options.points(&subjects));
        let mut sessions = Vec::new();
        let skipped = targets.each(shared, |place, case| {
            let report = |text: &str| progress(&format!("{place}: {text}"));
            let swept = Swept::new(
                place,
                case,
                (&subjects, &plan),
                (billing, &self.options),
                &report,
            );
            progress("");
            sessions.push(swept?);
            Ok(())
        })?;
        let robust = (sessions.len() > 1).then(|| {
            let all = sessions.iter().map(|swept| SweptSession {
                points: &swept.points,
                preference: swept.taste(self.options.weight()),
            });
            robust(&all.collect::<Vec<_>>())
        });
        let findings = Findings {
            subjects,
            named,
            weight: self.options.weight(),
            sessions,
            robust: robust.flatten(),
            skipped,
        };
        if shared.json {
            json(&findings.json_output())?;
        } else if self.options.csv {
            print(&findings.csv())?;
        } else {
            print_wrapped(&findings.text(
                self.options.all,
                targets.are_many() || findings.sessions.len() > 1,
            ))?;
        }
        Ok(Status::Done)
    }
}

impl Findings {
    /// Returns the settings of a point that differ from the policy's defaults, as `--set` takes them.
    fn set(&self, point: &Point) -> Vec<String> {
        let subject = &self.subjects[point.subject];
        let differing = changed_settings(&subject.policy, &subject.policy.defaults(), &point.knobs);
        differing.iter().map(ToString::to_string).collect()
    }
}
