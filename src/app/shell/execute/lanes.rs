//! Executes commands that change the lanes.

use crate::app::shell::App;
use crate::app::state::lanes::command::LanesCommand;
use crate::app::state::model::config::{LaneConfig, MAX_LANES};
use crate::app::state::model::policies::NONE;
use crate::exec::policy_text;
use crate::presets::forms::{Form, Tuned};
use std::fmt::Write as _;
use std::ops::RangeInclusive;
use std::sync::Arc;

impl App {
    /// Executes a command that changes the lanes.
    pub(crate) fn execute_lanes(&mut self, ctx: &egui::Context, command: LanesCommand) {
        match command {
            LanesCommand::Add => self.add_lane(),
            LanesCommand::Compare(policy) => self.compare_with(&policy),
            LanesCommand::Remove(lane) => self.remove_lane(lane),
            LanesCommand::SetPolicy(lane, policy) => {
                if let Some(lane) = self.session.config.lanes.get_mut(lane) {
                    lane.policy = policy;
                }
            }
            LanesCommand::CopyPolicy(lane, form) => self.copy_policy(ctx, lane, form),
            LanesCommand::ToggleFold(messages) => self.toggle_fold(&messages),
        }
    }

    /// Adds a policy that is not compared yet, `none` first. If all are compared, adds the least used active one with
    /// its own settings.
    fn add_lane(&mut self) {
        let lanes = &self.session.config.lanes;
        if lanes.len() >= MAX_LANES {
            return;
        }
        let is_new = |name: &str| lanes.iter().all(|l| l.policy != name);
        let none = [NONE].into_iter();
        let names = none.chain(self.policies.iter().map(|p| p.name.as_str()));
        let new = names.into_iter().find(|name| is_new(name)).map(LaneConfig::new);
        let again = || {
            let n_lanes = |name: &str| lanes.iter().filter(|l| l.policy == name).count();
            let acting = self.policies.iter().filter(|p| !p.stages.is_empty());
            let least = acting.min_by_key(|p| n_lanes(&p.name));
            LaneConfig {
                policy: least.map_or_else(|| NONE.to_owned(), |p| p.name.clone()),
                own: Some(self.session.config.knobs.clone()),
            }
        };
        let added = new.unwrap_or_else(again);
        self.session.config.lanes.push(added);
    }

    /// Adds a policy to the comparison and focuses its lane.
    fn compare_with(&mut self, policy: &str) {
        let lanes = &mut self.session.config.lanes;
        let focused = self.session.selection.lane.unwrap_or(0);
        let focused = focused.min(lanes.len() - 1);
        let at = if lanes.len() < MAX_LANES {
            lanes.push(LaneConfig::new(policy));
            lanes.len() - 1
        } else {
            lanes[focused] = LaneConfig::new(policy);
            focused
        };
        self.session.selection.lane = Some(at);
    }

    /// Removes a lane, but not the last one.
    fn remove_lane(&mut self, lane: usize) {
        let lanes = &mut self.session.config.lanes;
        if lane < lanes.len() && lanes.len() > 1 {
            lanes.remove(lane);
            self.limit_selected_lane();
        }
    }

    /// Copies a lane's policy with its settings in a form that runs it.
    fn copy_policy(&mut self, ctx: &egui::Context, lane: usize, form: Form) {
        let Some(runs) = self.session.derived.shared_runs().map(Arc::clone) else {
            return;
        };
        let Some(lane) = runs.lanes.get(lane) else {
            return;
        };
        let name = self.policies.command_line_name(&lane.policy.name);
        let toml = match form {
            Form::Settings => Ok(String::new()),
            _ => policy_text(name, &self.own_presets).map_err(|error| error.to_string()),
        };
        let window = lane.outcome.samples.last().map(|sample| sample.window.0);
        let exported = toml.and_then(|toml| {
            form.write(Tuned { policy: &lane.policy, toml: &toml, knobs: &lane.knobs, window })
        });
        match exported {
            Ok(exported) => {
                self.copy(ctx, &format!("the policy for {}", exported.place), exported.text);
                if !exported.notes.is_empty() {
                    self.toasts.info(few(&exported.notes));
                }
            }
            Err(why) => self.warn(Some(why)),
        }
    }

    fn toggle_fold(&mut self, messages: &RangeInclusive<u32>) {
        let unfolded = &mut self.session.view.unfolded;
        let n_before = unfolded.len();
        unfolded.retain(|message| !messages.contains(message));
        if unfolded.len() == n_before {
            unfolded.insert(*messages.start());
        }
    }
}

/// Returns the first lines and the number of remaining ones.
fn few(lines: &[String]) -> String {
    const MAX_LINES: usize = 3;
    let mut text = lines[..lines.len().min(MAX_LINES)].join("\n");
    if lines.len() > MAX_LINES {
        let _ = write!(text, "\nand {} more; the copied text marks them", lines.len() - MAX_LINES);
    }
    text
}
