//! Downsamples a curve to pixel columns. Each column keeps its minimum and maximum, so that the peak of a single call stays
//! visible.

/// Downsamples points with ascending `x` in pixels. A fall is drawn vertically, at the lower point: the context falls only
/// by a compaction before a call.
pub(super) fn downsampled(points: impl Iterator<Item = [f64; 2]>) -> Vec<[f64; 2]> {
    let mut out = Vec::new();
    let mut column = Column::default();
    let mut before: Option<[f64; 2]> = None;
    for point in points {
        if let Some(before) = before.filter(|b| point[1] < b[1]) {
            column.put([point[0], before[1]], &mut out);
        }
        column.put(point, &mut out);
        before = Some(point);
    }
    column.end(&mut out);
    out.dedup();
    out
}

/// The points of one column so far.
#[derive(Default)]
struct Column {
    at: i64,
    first: Option<[f64; 2]>,
    least: [f64; 2],
    greatest: [f64; 2],
    last: [f64; 2],
    /// True if the maximum came before the minimum.
    is_falling: bool,
}

impl Column {
    fn put(&mut self, point: [f64; 2], out: &mut Vec<[f64; 2]>) {
        let at = point[0].floor() as i64;
        if at != self.at {
            self.end(out);
            self.at = at;
        }
        if self.first.is_none() {
            self.first = Some(point);
            (self.least, self.greatest) = (point, point);
        }
        if point[1] < self.least[1] {
            (self.least, self.is_falling) = (point, true);
        } else if point[1] > self.greatest[1] {
            (self.greatest, self.is_falling) = (point, false);
        }
        self.last = point;
    }

    fn end(&mut self, out: &mut Vec<[f64; 2]>) {
        let Some(first) = self.first.take() else {
            return;
        };
        let [one, other] = if self.is_falling {
            [self.greatest, self.least]
        } else {
            [self.least, self.greatest]
        };
        for point in [first, one, other, self.last] {
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
        let points = (0..10_000).map(|step| {
            let height = if step == 7_777 { 500.0 } else { 10.0 };
            [f64::from(step) * 0.07, height]
        });
        let curve = downsampled(points);
        assert!(curve.len() < 3_000, "{} points", curve.len());
        assert!(curve.iter().any(|point| point[1] == 500.0));
    }

    #[test]
    fn a_fall_is_upright_and_a_rise_is_not() {
        let curve = downsampled([[0.0, 1.0], [10.0, 5.0], [20.0, 2.0]].into_iter());
        assert_eq!(curve, [[0.0, 1.0], [10.0, 5.0], [20.0, 5.0], [20.0, 2.0]]);
    }
}
