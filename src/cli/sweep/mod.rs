//! `plimsoll sweep`: tries many settings of some policies over sessions, and says which would have been better.

mod options;
mod shape;
mod swept;
mod text;

use super::args::{Shared, Words};
use super::output::{json, print, progress};
use super::targets::{LeftOut, Targets};
use super::{Status, Verb};
use crate::analysis::tune::{Point, Robust, Subject, plan, robust, words};
use crate::units::Share;
use options::Wanted;
use swept::Swept;

pub(super) const VERB: Verb = Verb {
    name: "sweep",
    summary: "Try many settings of policies over sessions, and say which would have been better.",
    help: "\
plimsoll sweep FILE|FOLDER... [--policy NAME|FILE.toml]... [--vary KNOB=VALUES]... [--points N] [--json|--csv]

Plays each setting over each session and weighs what it costs, how many references it puts at risk (uses by the recorded
agent of what the policy had removed) and how deep the context sat. What overflows, thrashes, gives up, or leaves next to
nothing of the conversation is out of the question, and says why. Without --policy: truncate, prune and summarize. Without --vary: when they act and what they keep.

  --policy NAME[@LANE] a preset, or a FILE.toml; again for more; LANE tells two of one preset apart
  --set KNOB=VALUE     the present settings, which are always among those that are tried
  --vary KNOB=VALUES   A,B,C (these), MIN..MAX (by ratio where that is wide), MIN..MAX:STEP, MIN..MAX:log,
                       MIN..MAX:linear; LANE.KNOB=VALUES for one lane
  --points N           settings in all; 300 unless told, or all where every --vary lists its values
  --weight W           what is preferred, from 0 (cost alone) to 1 (fewest references at risk alone); 0.5 unless told
  --prices FILE.toml, --price-as MODEL, --cache-time usual|long, --bill-rejected   as in diagnose
  --tokens-only        counts tokens alone, many times faster: tokens sent stand for the cost, and nothing is said of risk
  --all                lists every setting
  --csv                one line a session and setting

A file that holds many sessions (a database, a log of many) is swept session by session, each named FILE#N; --conversation N
sweeps one.

In the table * marks what no other setting tried beats in cost, references at risk and peak together, > what is
recommended, = the present settings. References at risk count a summary that is only predicted as holding nothing; 3-12 means
that 3 would be left if it held what was asked for most. Where a price is not known, tokens sent stand for the cost.

Cost and references at risk are multiplied, each to the power of its weight. (Ten are added to all, and fewer than are found on
the session as it was really sent count as so many: that much is noise.) Of several sessions one setting for all is picked: the one whose worst regret is smallest. A regret is how much worse it
does in a session than the best tried there. Every session is also left out once: what would the others have picked for it, and
how much worse would that have been?

JSON: tried, weight, sessions[{file, conversation|null, format, title, calls, window, output_reserve, basis, cost_in (usd or tokens),
noise_floor|null (references at risk on the recorded lane), points[{lane, policy, knobs{}, set[], now, front, usd|null,
tokens_sent, tokens_total, at_risk|null, fewest_at_risk|null, blind_edits|null, refetch|null, peak, peak_share, compactions, overflows,
rejected|null {reason, step, text}}], recommended|null {point, cheapest, safest, set[], text, others|null, saved|null (of what
could have been left unsent without loss)}, no_recommendation|null}], robust|null {lane, policy, knobs{}, set[], sessions[{file, conversation|null, best,
regret|null}], left_out[{file, conversation|null, set[], regret|null}]}, left_out[{file, conversation|null, why}]. A point that was not played has null figures; points are numbered
from 0. rejected.reason is cannot_get_below_trigger, gives_up, overflows, wipes, request_too_long,
thrashes, never_again, unrelated_error or orphaned_pairs.
",
    run,
};

/// Everything there is to say, once for all forms.
struct Findings {
    subjects: Vec<Subject>,
    /// What names them behind `--policy`.
    named: Vec<String>,
    weight: Share,
    sessions: Vec<Swept>,
    robust: Option<Robust>,
    left_out: LeftOut,
}

fn run(words: &mut Words, mut shared: Shared) -> anyhow::Result<Status> {
    let mut wanted = Wanted::default();
    let operands = words.read(VERB.name, &mut shared, |option, words| {
        wanted.take(option, words)
    })?;
    if wanted.csv && shared.json {
        anyhow::bail!("--csv and --json are two forms of the result; choose one");
    }
    // What was typed is checked before a long file is read.
    let (subjects, named) = wanted.subjects(&shared)?;
    let targets = Targets::new(VERB.name, operands, &shared)?;
    let prices = wanted.billing.prices()?;
    let billing = wanted.billing.billing(&prices)?;
    let plan = plan(&subjects, wanted.points(&subjects));
    let mut sessions = Vec::new();
    let left_out = targets.each(&shared, |place, case| {
        let told = |text: &str| progress(&format!("{place}: {text}"));
        let swept = Swept::new(place, case, (&subjects, &plan), (billing, &wanted), &told);
        progress("");
        sessions.push(swept?);
        Ok(())
    })?;
    let robust = (sessions.len() > 1).then(|| {
        let taste = |swept: &Swept| swept.taste(wanted.weight());
        let all: Vec<_> = sessions.iter().map(|s| (&*s.points, taste(s))).collect();
        robust(&all)
    });
    let findings = Findings {
        subjects,
        named,
        weight: wanted.weight(),
        sessions,
        robust: robust.flatten(),
        left_out,
    };
    if shared.json {
        json(&findings.shape())?;
    } else if wanted.csv {
        print(&findings.csv())?;
    } else {
        print(&findings.text(
            wanted.all,
            targets.are_many() || findings.sessions.len() > 1,
        ))?;
    }
    Ok(Status::Done)
}

impl Findings {
    /// The settings of a point as `--set` takes them: what differs from the policy's own defaults.
    fn set(&self, point: &Point) -> Vec<String> {
        let subject = &self.subjects[point.subject];
        let differing = words(&subject.policy, &subject.policy.defaults(), &point.knobs);
        let set = differing.into_iter();
        set.map(|(knob, value)| format!("{knob}={value}")).collect()
    }
}
