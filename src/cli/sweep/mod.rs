//! `plimsoll sweep`: tries many settings of policies over sessions and recommends one.

mod csv;
mod json_output;
mod options;
mod several_text;
mod swept;
mod text;

use super::args::{GlobalOptions, InputArgs};
use super::output::{json, print, print_wrapped};
use super::status::Status;
use super::targets::{SessionId, Skipped, Targets};
use crate::analysis::tune::{
    Point, Robust, SweepSubject, SweptSession, changed_settings, plan, robust,
};
use crate::exec::is_taken;
use crate::exec::shell::{quoted, quoted_path};
use crate::presets::prices::Prices;
pub(super) use json_output::Sweep;
use options::{Policies, SweepOptions};
use std::fmt::Write as _;
use std::path::Path;
use swept::{SweepJob, Swept};

/// Try many settings of policies over sessions and recommend one
#[derive(Debug, clap::Args)]
#[command(
    after_help = "In the table, > marks the recommendation, = the current settings, and * each setting that no other beats in cost, peak and lost rules: constraints and decisions of the user, which no agent fetches again. docs/numbers.md defines the figures. Sessions of a file with several are named FILE#N; --conversation N selects one.\n\nExamples:\n  plimsoll sweep sample_sessions/compacted.jsonl --policy prune\n  plimsoll sweep sample_sessions/compacted.jsonl --policy truncate --vary keep_recent=5..80"
)]
pub(super) struct Args {
    #[command(flatten)]
    inputs: InputArgs,
    #[command(flatten)]
    options: SweepOptions,
}

/// A command that runs the settings of a point.
#[derive(Clone, Copy)]
enum Verb {
    /// Writes the managed conversation.
    Compact,
    /// Prints what the settings do.
    Replay,
}

/// The result of the command, for text, JSON and CSV.
struct SweepFindings {
    subjects: Vec<SweepSubject>,
    /// The policies as `--policy` names them.
    words: Vec<String>,
    /// Options of the command that apply to every session.
    shared: GlobalOptions,
    sessions: Vec<Swept>,
    robust: Option<Robust>,
    /// Several files or several sessions of a file.
    are_many: bool,
    skipped: Skipped,
}

impl Args {
    pub(super) fn run(mut self, shared: &GlobalOptions) -> anyhow::Result<Status> {
        // Options are checked before a large file is read.
        let Policies { subjects, words } = self.options.policies(shared)?;
        let targets = Targets::new("sweep", &self.inputs, shared)?;
        let prices = Prices::in_use();
        let billing = self.options.billing.billing(prices)?;
        let plan = plan(&subjects, self.options.points(&subjects));
        let job =
            SweepJob { subjects: &subjects, plan: &plan, billing, model: shared.reread_model() };
        let mut sessions = Vec::new();
        let skipped = targets.each(shared, |id, case| {
            let report = |text: &str| targets.progress().set_detail(format!("{id}: {text}"));
            sessions.push(Swept::new(id, case, &job, &report)?);
            Ok(())
        })?;
        let robust = (sessions.len() > 1).then(|| {
            let all = sessions.iter().map(|swept| SweptSession { points: &swept.points });
            robust(&all.collect::<Vec<_>>())
        });
        let findings = SweepFindings {
            subjects,
            words,
            shared: shared.clone(),
            are_many: targets.are_many() || sessions.len() > 1,
            sessions,
            robust: robust.flatten(),
            skipped,
        };
        if shared.json {
            json(&findings.json_output())?;
        } else if self.options.csv {
            print(&findings.csv())?;
        } else {
            print_wrapped(&findings.text(self.options.all))?;
        }
        Ok(Status::Done)
    }
}

impl SweepFindings {
    /// Returns the command that runs the settings of a point on a session. Without a session, or for standard input and a file
    /// of an archive, the word `FILE` takes the place of the path.
    fn command(&self, point: &Point, session: Option<&SessionId>, verb: Verb) -> String {
        let file = session.filter(|id| is_taken(Path::new(&id.file)));
        let file = file.map_or_else(|| "FILE".to_owned(), |id| quoted_path(&id.file));
        let (name, schedule) = match verb {
            Verb::Compact => ("compact", Some(("--schedule", "replay".to_owned()))),
            Verb::Replay => ("replay", None),
        };
        let mut command = format!("plimsoll {name} {file}");
        let given = || self.shared.conversation.map(|number| number + 1);
        let conversation = session.map_or_else(given, SessionId::number);
        let policy = ("--policy", self.words[point.subject].clone());
        let options = conversation
            .map(|number| ("--conversation", number.to_string()))
            .into_iter()
            .chain(schedule)
            .chain([policy])
            .chain(self.set(point).into_iter().map(|set| ("--set", set)))
            .chain(self.shared.session_options());
        for (option, value) in options {
            let _ = write!(command, " {option} {}", quoted(&value));
        }
        command
    }

    /// Returns the settings of a point that differ from the policy's defaults, as `--set` takes them.
    fn set(&self, point: &Point) -> Vec<String> {
        let subject = &self.subjects[point.subject];
        let differing = changed_settings(&subject.policy, &subject.policy.defaults(), &point.knobs);
        differing.iter().map(ToString::to_string).collect()
    }
}
