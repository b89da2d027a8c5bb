//! Python's monotonic clock, as a value.

/// A simulated monotonic clock: returns its readings in order, then repeats the last one.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Clock {
    readings: Vec<f64>,
    next: usize,
}

impl Clock {
    /// Makes a clock that returns these seconds in order.
    pub fn new(readings: Vec<f64>) -> Self {
        Self { readings, next: 0 }
    }

    /// Makes a clock that does not advance.
    pub fn at(seconds: f64) -> Self {
        Self::new(vec![seconds])
    }

    /// Returns the next reading.
    pub(super) fn read(&mut self) -> f64 {
        let reading = self.readings.get(self.next).or(self.readings.last());
        self.next += 1;
        reading.copied().unwrap_or(0.0)
    }
}
