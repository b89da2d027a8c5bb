//! Runs the stages for tool results.

use super::Run;
use super::plan::Edit;
use super::shorten::shorten;
use crate::engine::policy::stages::{Action, Hook};

impl Run<'_> {
    /// Runs the stages for tool results on the newest entry. They cannot make requests.
    pub(super) fn run_result_stages(&mut self) {
        let newest = self.working.context.entries.len().saturating_sub(1);
        for stage in 0..self.triggers.len() {
            let is_for_results = self.triggers.stage(stage).at == Hook::ToolResult;
            if is_for_results && self.fires(stage) {
                match &self.triggers.bound(stage).action {
                    Action::Cut(_) => self.cut(stage),
                    _ => self.start_action(stage, newest),
                }
                self.waiting = None;
            }
        }
    }

    /// Shortens the results of the newest message for a stage at `tool_result`.
    fn cut(&mut self, idx: usize) {
        let stage = self.triggers.bound(idx);
        let live = &self.working.live;
        let (Action::Cut(cut), Some(newest)) = (&stage.action, live.last()) else {
            return;
        };
        let places = live.partition_point(|r| r.message < newest.message)..live.len();
        let moment = &self.triggers.moment;
        let shortened = shorten(self.case, &self.working, (stage, cut), places, moment);
        if !shortened.results.is_empty() {
            self.triggers.tried(idx, self.step);
            self.apply(idx, Edit::Shorten(shortened), None);
        }
    }
}
