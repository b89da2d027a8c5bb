//! The samples of the setting under the pointer.

use crate::app::state::model::background::repaint::Repaint;
use crate::app::state::model::derived::{Derived, DerivedResult, SlowFor};
use crate::app::state::tune::sweep::Sweep;
use crate::engine::{Sample, simulate};

/// The samples of the setting under the pointer.
#[derive(Debug)]
pub struct TriedSetting(Vec<Sample>);

/// Inputs of the samples.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TriedSettingKey {
    sweep: u64,
    /// Index of the point.
    point: usize,
}

impl DerivedResult for TriedSetting {
    type Key = TriedSettingKey;

    const THREAD: &'static str = "tried setting";
    const SLOW_FOR: SlowFor = SlowFor::None;
}

impl Derived {
    /// Returns the curve of the setting under the pointer, once it was replayed.
    pub fn hovered_setting(
        &self,
        sweep: Option<&Sweep>,
        point: Option<usize>,
    ) -> Option<&[Sample]> {
        let key = TriedSettingKey { sweep: sweep?.id, point: point? };
        self.of::<TriedSetting>(&key).map(|samples| samples.0.as_slice())
    }

    /// Replays the setting under the pointer.
    pub fn update_tried_setting(
        &mut self,
        repaint: &Repaint,
        sweep: Option<&Sweep>,
        point: Option<usize>,
    ) {
        let (Some(sweep), Some(idx)) = (sweep, point) else {
            return;
        };
        let (Some(runs), Some(point)) = (self.runs(), sweep.points.get(idx)) else {
            return;
        };
        let key = TriedSettingKey { sweep: sweep.id, point: idx };
        if self.of::<TriedSetting>(&key).is_some() {
            return;
        }
        let (case, knobs) = (runs.case.clone(), point.knobs.clone());
        let policy = sweep.subjects[point.subject].policy.clone();
        self.request(repaint, &key, move |_| {
            TriedSetting(simulate(&case, &policy, &knobs, None).samples)
        });
    }
}
