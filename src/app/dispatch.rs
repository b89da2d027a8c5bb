//! Dispatches UI commands: the only code that changes window state, starts work and calls the system.

use crate::app::policy_panel::commands::{edit_config, set_knob};
use crate::app::shell::file_dialog::Wanted;

use crate::app::background::task;
use crate::app::command::Command;
use crate::app::cost::billing::PriceChoice;
use crate::app::derived::Derived;
use crate::app::open::document::{Document, Origin};
use crate::app::open::loading::Loading;
use crate::app::open::paste::{self, Wish};
use crate::app::policy_panel::knobs::KnobKey;
use crate::app::policy_panel::policies::NONE;
use crate::app::runs::copy_command;
use crate::app::runs::replays::resumes;
use crate::app::state::{LaneConfig, MAX_LANES, Selection, Tab, View, lane};
use crate::app::theme::fonts;
use crate::app::{App, dropped};
use crate::exec::LoadOptions;
use crate::presets::native;
use crate::tokens;
use std::fmt::Write as _;
use std::sync::Arc;

impl App {
    /// Executes one command.
    pub(super) fn carry_out(&mut self, ctx: &egui::Context, command: Command) {
        match command {
            Command::OpenDialog => self.ask_for_file(ctx, Wanted::Session),
            Command::OpenPath(path) => self.open_path(ctx, path),
            Command::OpenOneOf(path, number) => self.open(ctx, Origin::Path(path), number),
            Command::Sessions(wish) => self.sessions_wish(ctx, wish),
            Command::OpenExample(name) => self.open(ctx, Origin::Example(name), 0),
            Command::Paste => self.pasting = Some(Wish::new(ctx)),
            Command::OpenConversation(conversation) => self.open_conversation(ctx, conversation),
            Command::CancelLoad => {
                self.cancel_load();
                self.toasts.info("Opening was cancelled.");
            }
            Command::CloseDocument => self.close(),
            Command::DismissProblem => self.problem = None,
            Command::AskPath(asks) => self.view.asks_path = asks,
            Command::EditPath(path) => self.view.path = path,
            Command::SelectStep(step) => self.select_step(step),
            Command::SelectMessage(message) => self.select_message(message),
            Command::SelectWritten(lane, place) => self.select_written(lane, place),
            Command::Deselect => self.deselect(),
            Command::ExtendSelection(message) => self.extend_selection(message),
            Command::LookAt(place) => self.look_at(place),
            Command::SelectEvent(event) => self.select_event(event),
            Command::GoToMessage(number) => self.go_to_message(number),
            Command::FocusLane(lane) => {
                self.selection.lane = lane.filter(|l| *l < self.config.lanes.len());
            }
            Command::Undo => self.travel(true),
            Command::Redo => self.travel(false),
            Command::ShowTab(tab) => {
                // The table does not know about selections made while it was hidden.
                self.once.reveals_message |= tab == Tab::Messages && self.view.tab != tab;
                self.view.tab = tab;
                self.once.reveals_event = true;
                self.once.reveals_insight = true;
            }
            Command::SetAxis(axis) => self.view.axis = axis,
            Command::SetArea(area) => self.view.area = area,
            Command::SetSort(sort) => {
                self.view.sort = sort;
                // The rows in between would differ.
                self.selection.anchor = None;
                self.once.reorders_messages = true;
            }
            Command::SetFilter(filter) => {
                self.view.filter = filter;
                self.selection.anchor = None;
                self.once.reorders_messages = true;
            }
            Command::SetEventFilter(filter) => {
                self.view.events = filter;
                self.once.reveals_event = true;
            }
            Command::SetInsightFilter(filter) => self.view.insights = filter,
            Command::OpenInsight(key) => self.view.insight = Some(key),
            Command::SetCostView(view) => self.view.cost = view,
            Command::SetLossView(view) => self.view.loss = view,
            Command::SetTuneView(view) => self.view.tune = *view,
            Command::StartSweep => self.start_sweep(ctx),
            Command::CancelSweep => self.cancel_sweep(),
            Command::AdoptPoint(point) => self.adopt(point),
            Command::FocusFilter => self.once.focuses_filter = true,
            Command::EditJump(text) => self.view.jump = text,
            Command::SetDetail(detail) => self.view.detail = detail,
            Command::Unfold(first, last) => self.unfold(first, last),
            Command::SetKnob(key, value) => {
                let lane = self.lane_of(&key);
                set_knob(&mut self.config, lane, key, Some(value));
            }
            Command::AddLane => self.add_lane(),
            Command::CompareWith(policy) => self.compare_with(&policy),
            Command::ShowKeys(is_shown) => self.view.shows_keys = is_shown,
            Command::SetTheme(theme) => self.set_theme(ctx, theme),
            Command::CopyText(what, text) => self.copy(ctx, what, text),
            Command::CopyAsCommand => self.copy_as_command(ctx),
            Command::CopyConfig(lane) => self.copy_config(ctx, lane),
            Command::Convert(wish) => self.convert_wish(ctx, wish),
            Command::Preset(wish) => self.preset_wish(wish),
            Command::ToggleRestart(step) => self.toggle_restart(step),
            Command::SetError(step, text) => self.config.set_error(step, text),
            Command::SetMark(messages, mark) => self.set_mark(&messages, mark),
            Command::ToggleMark(messages, mark) => self.toggle_mark(&messages, mark),
            Command::ResetMarks => self.reset_marks(),
            command => {
                edit_config(&mut self.config, command.clone());
                self.export_command(ctx, command);
                // The lane may have been removed.
                self.selection.lane = self
                    .selection
                    .lane
                    .map(|l| l.min(self.config.lanes.len() - 1));
            }
        }
        // A command may need another frame even if no input arrives.
        ctx.request_repaint();
    }

    /// Receives results since the last frame: dropped files, dialog answers, finished work.
    pub(super) fn receive(&mut self, ctx: &egui::Context) {
        if let Some(path) = dropped(ctx) {
            self.open_path(ctx, path);
        }
        self.receive_paste(ctx);
        if let Some(sessions) = &mut self.sessions {
            sessions.poll();
        }
        self.receive_dialog(ctx);
        if let Some(loading) = self.loading.take() {
            match loading.take() {
                Ok(Ok(document)) => {
                    self.watch(ctx, &document);
                    let texts = document.facts.iter().map(|facts| &*facts.preview);
                    let missing = texts.take(1_000).find_map(|text| fonts::missing(ctx, text));
                    self.complain(missing);
                    self.show_document(document);
                }
                Ok(Err(problem)) => self.problem = Some(problem),
                Err(loading) => {
                    // The progress bar advances while bytes are counted.
                    ctx.request_repaint_after(std::time::Duration::from_millis(50));
                    self.loading = Some(*loading);
                }
            }
        }
        self.receive_files();
        if let Some(tuning) = &mut self.tuning {
            tuning.poll(self.view.tune.weight);
        }
    }

    /// Starts to open a session and cancels the one being opened.
    pub(super) fn open(&mut self, ctx: &egui::Context, origin: Origin, conversation: usize) {
        self.cancel_load();
        if let Some(sessions) = &mut self.sessions {
            sessions.is_shown = false;
        }
        self.problem = None;
        let counter = tokens::by_name(self.config.counter).unwrap_or_else(tokens::default_counter);
        let options = LoadOptions {
            counter,
            window: None,
            conversation,
        };
        self.loading = Some(Loading::start(ctx, self.work, origin, options));
    }

    /// Opens pasted text, unless a modal dialog is open.
    fn receive_paste(&mut self, ctx: &egui::Context) {
        let is_covered = self.is_covered() && self.list().is_none();
        let is_in_vain = self.paste_keys.are_in_vain(ctx);
        if let Some(pasted) = paste::pasted(ctx).filter(|_| !is_covered) {
            self.pasting = None;
            self.open(ctx, Origin::Pasted(pasted), 0);
        } else if let Some(wish) = self.pasting.take() {
            self.pasting = wish.later(ctx);
            if self.pasting.is_none() {
                self.toasts.info(paste::NOTHING);
            }
        } else if is_in_vain && !is_covered && !ctx.text_edit_focused() {
            self.toasts.info(paste::NOTHING);
        }
    }

    fn open_conversation(&mut self, ctx: &egui::Context, conversation: usize) {
        if let Some(document) = &self.document {
            self.open(ctx, document.origin.clone(), conversation);
        }
    }

    fn show_document(&mut self, document: Document) {
        if let Origin::Path(path) = &document.origin {
            let complaint = self.memory.opened(path);
            self.complain(complaint);
        }
        self.derived.clear(&document);
        self.selection = Selection {
            step: document.last_step(),
            lane: self.selection.lane.or(Some(0)),
            ..Selection::default()
        };
        if self.document.is_some() {
            // This was set for the model and the calls of another session.
            self.config.window = None;
            self.config.billing.price = PriceChoice::default();
            self.config.restarts.clear();
            self.config.errors.clear();
        }
        self.config.by_hand = self.first_marks(&document);
        let n_steps = document.session().calls.len();
        self.config.restarts.retain(|step| *step < n_steps);
        self.config.errors.retain(|error| error.step < n_steps);
        self.history = crate::app::shell::history::History::new(self.config.clone());
        let View {
            axis, area, tab, ..
        } = self.view;
        self.view = View {
            axis,
            area,
            tab,
            ..View::default()
        };
        self.put_dialogs_away();
        self.tuning = None;
        task::let_go(self.document.replace(Arc::new(document)));
    }

    fn close(&mut self) {
        let derived = std::mem::replace(&mut self.derived, Derived::new(self.work));
        task::let_go((self.document.take(), derived));
        self.live = None;
        self.tuning = None;
        self.sessions = None;
        self.put_dialogs_away();
        self.problem = None;
    }

    /// Returns the lane a knob belongs to: the focused lane if it has the knob, else the first lane that does.
    fn lane_of(&self, key: &KnobKey) -> usize {
        let has_it = |lane: &usize| {
            let policy = self.policies.get(&self.config.lanes[*lane].policy);
            policy
                .knobs
                .iter()
                .any(|knob| KnobKey::of(&policy, knob) == *key)
        };
        let n = self.config.lanes.len();
        let focused = self.selection.lane.filter(|lane| *lane < n).filter(has_it);
        focused.or_else(|| (0..n).find(has_it)).unwrap_or(0)
    }

    /// Adds a policy that is not compared yet, `none` first. If all are compared, adds the least used active one with
    /// its own settings.
    fn add_lane(&mut self) {
        let lanes = &self.config.lanes;
        if lanes.len() >= MAX_LANES {
            return;
        }
        let is_new = |name: &str| lanes.iter().all(|l| l.policy != name);
        let none = [NONE].into_iter();
        let names = none.chain(self.policies.iter().map(|p| p.name.as_str()));
        let new = names.into_iter().find(|name| is_new(name)).map(lane);
        let again = || {
            let n_lanes = |name: &str| lanes.iter().filter(|l| l.policy == name).count();
            let acting = self.policies.iter().filter(|p| !p.stages.is_empty());
            let least = acting.min_by_key(|p| n_lanes(&p.name));
            LaneConfig {
                policy: least.map_or_else(|| NONE.to_owned(), |p| p.name.clone()),
                own: Some(self.config.knobs.clone()),
            }
        };
        let added = new.unwrap_or_else(again);
        self.config.lanes.push(added);
    }

    /// Adds a policy to the comparison and focuses its lane.
    fn compare_with(&mut self, policy: &str) {
        let lanes = &mut self.config.lanes;
        let focused = self.selection.lane.unwrap_or(0).min(lanes.len() - 1);
        let at = if lanes.len() < MAX_LANES {
            lanes.push(lane(policy));
            lanes.len() - 1
        } else {
            lanes[focused] = lane(policy);
            focused
        };
        self.selection.lane = Some(at);
    }

    fn cancel_load(&mut self) {
        if let Some(loading) = self.loading.take() {
            loading.cancel();
        }
    }

    /// Adds or removes a restart mark before a call. Reports when the mark has no effect.
    fn toggle_restart(&mut self, step: usize) {
        let Some(document) = &self.document else {
            return;
        };
        if step >= document.session().calls.len() {
            return;
        }
        self.config.toggle_restart(step);
        let is_placed = self.config.restarts.contains(&step);
        let mut policies = self
            .config
            .lanes
            .iter()
            .map(|l| self.policies.get(&l.policy));
        if is_placed && !policies.any(|policy| resumes(&policy)) {
            self.toasts
                .info("Restart mark placed. No lane's policy reacts to a restart.");
        }
    }

    fn set_theme(&mut self, ctx: &egui::Context, theme: egui::ThemePreference) {
        ctx.set_theme(theme);
        let complaint = self.memory.set_theme(theme);
        self.complain(complaint);
    }

    /// Saves typed prices, but not during a drag.
    pub(super) fn keep_price(&mut self) {
        let own = match &self.config.billing.price {
            PriceChoice::Own(own) => Some(own),
            PriceChoice::Recorded | PriceChoice::Model(_) => None,
        };
        let complaint = self.memory.set_price(own);
        self.complain(complaint);
    }

    pub(super) fn complain(&mut self, complaint: Option<String>) {
        if let Some(complaint) = complaint {
            self.toasts.warning(complaint);
        }
    }

    fn copy(&mut self, ctx: &egui::Context, what: &str, text: String) {
        ctx.copy_text(text);
        self.toasts.done(format!("Copied {what}"));
    }

    fn copy_as_command(&mut self, ctx: &egui::Context) {
        if let (Some(document), Some(runs)) = (&self.document, self.derived.runs()) {
            let command = copy_command::command(document, runs, &self.policies);
            self.copy(ctx, "the command", command);
        }
    }

    /// Copies a lane's settings in the configuration format of its system.
    fn copy_config(&mut self, ctx: &egui::Context, lane: usize) {
        let Some(runs) = self.derived.runs().map(Arc::clone) else {
            return;
        };
        let Some(lane) = runs.lanes.get(lane) else {
            return;
        };
        match native::export(&lane.policy, &lane.knobs) {
            Ok(exported) => {
                self.copy(
                    ctx,
                    &format!("the settings for {}", exported.file),
                    exported.text,
                );
                if !exported.notes.is_empty() {
                    self.toasts.info(few(&exported.notes));
                }
            }
            Err(why) => self.complain(Some(why)),
        }
    }
}

/// Returns the first lines and the number of remaining ones.
fn few(lines: &[String]) -> String {
    const SHOWN: usize = 3;
    let mut text = lines[..lines.len().min(SHOWN)].join("\n");
    if lines.len() > SHOWN {
        let _ = write!(
            text,
            "\nand {} more; the copied text marks them",
            lines.len() - SHOWN
        );
    }
    text
}
