//! Executes commands of the dialog that measures with a model.

use crate::app::shell::App;
use crate::app::shell::file_dialog::DialogPurpose;
use crate::app::state::measure::command::MeasureCommand;
use crate::app::state::measure::draft::MeasurePath;
use crate::app::state::measure::job::{MeasureInputs, Measurement};
use crate::app::ui::repaint::repaint_of;

impl App {
    /// Executes a command. Without replayed lanes, only *Browse* does something.
    pub(crate) fn execute_measure(&mut self, ctx: &egui::Context, command: MeasureCommand) {
        if let MeasureCommand::Browse(path) = command {
            return self.ask_for_file(ctx, DialogPurpose::Measure(path));
        }
        let Some(runs) = self.session.derived.shared_runs() else {
            return;
        };
        let keeps_state = self.saved.keeps_state();
        if command == MeasureCommand::Open {
            let new = || Measurement::new(keeps_state);
            self.session.measurement.get_or_insert_with(new).is_open = true;
            return;
        }
        let repaint = repaint_of(ctx);
        let Some(measurement) = &mut self.session.measurement else {
            return;
        };
        match command {
            MeasureCommand::Open | MeasureCommand::Browse(_) => {}
            MeasureCommand::Edit(draft) => measurement.edit(*draft),
            MeasureCommand::SetKey(key) => measurement.set_key(key),
            MeasureCommand::Run => measurement.plan(MeasureInputs {
                runs,
                costs: self.session.derived.costs(),
                repaint: &repaint,
                work: self.work,
            }),
            MeasureCommand::ShowProbe(probe) => measurement.probe = probe,
            MeasureCommand::Send => measurement.send(&repaint, self.work),
            MeasureCommand::Stop => measurement.stop(),
            MeasureCommand::Back => measurement.back(),
            MeasureCommand::Close => measurement.close(),
        }
    }

    /// Receives a path chosen in the system's dialog.
    pub(crate) fn measure_path_chosen(&mut self, path: MeasurePath, text: String) {
        if let Some(measurement) = &mut self.session.measurement {
            let mut draft = measurement.draft.clone();
            *path.of_mut(&mut draft) = text;
            measurement.edit(draft);
        }
    }
}
