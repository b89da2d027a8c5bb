//! Downsamples a curve to pixel columns. Each column keeps its minimum and maximum, so that the peak of a single call
//! stays visible.

/// Downsamples points with ascending `x` in pixels. Draws a fall as a vertical line at the lower point, because the
/// context falls only by a compaction before a call.
pub(super) fn downsampled(points: impl Iterator<Item = [f64; 2]>) -> Vec<[f64; 2]> {
    let mut out = Vec::new();
    let mut column = PixelColumn::default();
    let mut previous: Option<[f64; 2]> = None;
    for point in points {
        if let Some(higher) = previous.filter(|previous| point[1] < previous[1]) {
            column.add([point[0], higher[1]], &mut out);
        }
        column.add(point, &mut out);
        previous = Some(point);
    }
    column.flush(&mut out);
    out.dedup();
    out
}

/// The points of a pixel column so far.
#[derive(Default)]
struct PixelColumn {
    x: i64,
    first: Option<[f64; 2]>,
    minimum: [f64; 2],
    maximum: [f64; 2],
    last: [f64; 2],
    /// Whether the maximum precedes the minimum.
    is_falling: bool,
}

impl PixelColumn {
    /// Adds a point. Writes the column to `out` first if the point belongs to another one.
    fn add(&mut self, point: [f64; 2], out: &mut Vec<[f64; 2]>) {
        let x = point[0].floor() as i64;
        if x != self.x {
            self.flush(out);
            self.x = x;
        }
        if self.first.is_none() {
            self.first = Some(point);
            (self.minimum, self.maximum) = (point, point);
        }
        if point[1] < self.minimum[1] {
            (self.minimum, self.is_falling) = (point, true);
        } else if point[1] > self.maximum[1] {
            (self.maximum, self.is_falling) = (point, false);
        }
        self.last = point;
    }

    /// Writes the column to `out` and empties it.
    fn flush(&mut self, out: &mut Vec<[f64; 2]>) {
        let Some(first) = self.first.take() else {
            return;
        };
        let extremes = if self.is_falling {
            [self.maximum, self.minimum]
        } else {
            [self.minimum, self.maximum]
        };
        for point in [first, extremes[0], extremes[1], self.last] {
            if out.last() != Some(&point) {
                out.push(point);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_peak_of_one_call_among_ten_thousand_stays() {
        let points = (0..10_000).map(|call| {
            let height = if call == 7_777 { 500.0 } else { 10.0 };
            [f64::from(call) * 0.07, height]
        });
        let curve = downsampled(points);
        assert!(curve.len() < 3_000, "{} points", curve.len());
        assert!(curve.iter().any(|point| point[1] == 500.0));
    }

    #[test]
    fn falls_are_vertical_and_rises_are_not() {
        let curve = downsampled([[0.0, 1.0], [10.0, 5.0], [20.0, 2.0]].into_iter());
        assert_eq!(curve, [[0.0, 1.0], [10.0, 5.0], [20.0, 5.0], [20.0, 2.0]]);
    }
}
