//! Executes commands of the dialog that saves a lane's policy as a preset.

use crate::app::shell::App;
use crate::app::state::settings_panel::preset_saving::{PresetCommand, PresetSaving};
use crate::exec::policy_text;
use crate::presets::own::{TunedPreset, own};

impl App {
    /// Executes a command of the preset dialog.
    pub(crate) fn execute_preset(&mut self, command: PresetCommand) {
        match command {
            PresetCommand::Start(_) if !self.own_presets.can_save() => {
                let text = "Cannot save presets with --no-state.";
                self.warn(Some(text.to_owned()));
            }
            PresetCommand::Start(lane) => self.start_saving(lane),
            PresetCommand::Name(label) => {
                if let Some(saving) = &mut self.saving {
                    saving.label = label;
                    saving.problem = None;
                }
            }
            PresetCommand::Save => self.save_preset(),
            PresetCommand::Close => self.saving = None,
        }
    }

    fn start_saving(&mut self, lane: usize) {
        let Some(config) = self.session.config.lanes.get(lane) else {
            return;
        };
        let policy = self.policies.get(&config.policy);
        let label = if self.policies.is_saved(&policy.name) {
            policy.label.clone()
        } else {
            format!("My {}", policy.label)
        };
        self.saving = Some(PresetSaving { lane, label, problem: None });
    }

    fn save_preset(&mut self) {
        let Some(mut saving) = self.saving.take() else {
            return;
        };
        match self.write_preset(&saving) {
            Ok(own) => {
                let text = format!("{} is saved and set for the lane.", own.policy.label);
                self.policies.add_saved(own.policy);
                if let Some(lane) = self.session.config.lanes.get_mut(saving.lane) {
                    lane.policy = own.name;
                }
                self.toasts.info(text);
            }
            Err(problem) => {
                saving.problem = Some(problem);
                self.saving = Some(saving);
            }
        }
    }

    /// Writes the preset of a lane.
    fn write_preset(&self, saving: &PresetSaving) -> Result<TunedPreset, String> {
        let runs = self.session.derived.runs();
        let run = runs.and_then(|runs| runs.lanes.get(saving.lane));
        let run = run.ok_or("the lane is not replayed yet; try again")?;
        let name = self.policies.command_line_name(&run.policy.name);
        let toml = policy_text(name, &self.own_presets).map_err(|error| error.to_string())?;
        let own = own(&toml, &run.knobs, &saving.label)?;
        self.own_presets.save(&own).map_err(|e| e.to_string())?;
        Ok(own)
    }
}
