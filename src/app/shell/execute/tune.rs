//! Executes commands that start and stop a sweep and apply one of its settings.

use crate::app::shell::App;
use crate::app::state::model::knobs::KnobKey;
use crate::app::state::model::tab::Tab;
use crate::app::state::tune::command::TuneCommand;
use crate::app::state::tune::sweep::Sweep;
use crate::app::ui::repaint::repaint_of;
use crate::engine::{KnobValues, Policy};
use std::sync::Arc;

impl App {
    /// Executes a command of the tab Tune.
    pub(crate) fn execute_tune(&mut self, ctx: &egui::Context, command: TuneCommand) {
        match command {
            TuneCommand::Start => self.start_sweep(ctx),
            TuneCommand::Cancel => self.cancel_sweep(),
            TuneCommand::Apply(point) => self.apply_point(point),
        }
    }

    /// Starts a sweep and stops the one in progress.
    fn start_sweep(&mut self, ctx: &egui::Context) {
        self.session.view.tab = Tab::TUNE;
        let (document, derived) = (self.session.document.as_ref(), &self.session.derived);
        let ready = derived.shared_runs().zip(derived.shared_index());
        let of_document = |id: u64| document.is_some_and(|document| document.id == id);
        let Some((runs, index)) = ready.filter(|(runs, _)| of_document(runs.document)) else {
            self.toasts.info("The session is still being analyzed. Try again in a moment.");
            return;
        };
        if self.session.view.tune().subjects(runs).0.is_empty() {
            self.toasts.info("No settings to try: select a lane with an active policy.");
            return;
        }
        self.session.view.tune_mut().hovered = None;
        let (view, policies) = (self.session.view.tune(), &self.policies);
        self.session.sweep =
            Some(Sweep::start(&repaint_of(ctx), self.work, runs, index, view, policies));
    }

    /// Stops a sweep and keeps its results.
    fn cancel_sweep(&self) {
        if let Some(sweep) = &self.session.sweep {
            sweep.cancel();
        }
    }

    /// Applies the settings of a point to a lane.
    fn apply_point(&mut self, point: usize) {
        let Some(sweep) = &self.session.sweep else {
            return;
        };
        let Some(lane) = sweep.lane_of(point, &self.session.config) else {
            self.toasts.info("This lane now has another policy. Sweep again to try its settings.");
            return;
        };
        let found = &sweep.points[point];
        let policy = Arc::new(sweep.subjects[found.subject].policy.clone());
        let name = sweep.subjects[found.subject].lane.clone();
        let mut own = self.session.config.lane_settings(lane).clone();
        for (key, value) in settings(&policy, &found.knobs) {
            match value {
                Some(value) => own.insert(key, value),
                None => own.remove(&key),
            };
        }
        self.session.config.lanes[lane].own = Some(own);
        self.session.selection.lane = Some(lane);
        self.toasts
            .info(format!("{name} now has these settings. Undo restores the previous ones."));
    }
}

/// Returns a setting for every knob; `None` for those at their defaults.
fn settings<'a>(
    policy: &'a Policy,
    knobs: &'a KnobValues,
) -> impl Iterator<Item = (KnobKey, Option<f64>)> + 'a {
    policy.knobs.iter().map(|knob| {
        let value = knobs.get(&knob.name).filter(|value| *value != knob.value);
        (KnobKey::of(policy, knob), value)
    })
}
