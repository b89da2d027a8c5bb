//! Python's monotonic clock, as a value.

/// A monotonic clock as a value: its readings in order, the last one from then on.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Clock {
    readings: Vec<f64>,
    next: usize,
}

impl Clock {
    /// A clock that shows these seconds, one after another.
    pub fn new(readings: Vec<f64>) -> Self {
        Self { readings, next: 0 }
    }

    /// A clock that stands still.
    pub fn at(seconds: f64) -> Self {
        Self::new(vec![seconds])
    }

    /// The next reading.
    pub(super) fn read(&mut self) -> f64 {
        let reading = self.readings.get(self.next).or(self.readings.last());
        self.next += 1;
        reading.copied().unwrap_or(0.0)
    }
}
