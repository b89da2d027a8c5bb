//! Layout of a treemap: rectangles whose areas are proportional to sizes.
//!
//! Squarified (Bruls, Huizing, van Wijk 2000): a row along the shorter side of the free space takes the next item as long as
//! this makes the worst side ratio of the row better.

/// A rectangle: left, top, width and height.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Area {
    /// Left side.
    pub x: f32,
    /// Top side.
    pub y: f32,
    /// Width.
    pub width: f32,
    /// Height.
    pub height: f32,
}

/// Returns the rectangle of each size in an area. Sizes must be in descending order; a size of 0 has an empty rectangle.
pub fn layout(sizes: &[f32], area: Area) -> Vec<Area> {
    let total: f32 = sizes.iter().sum();
    if total <= 0.0 || area.width <= 0.0 || area.height <= 0.0 {
        return vec![Area { width: 0.0, height: 0.0, ..area }; sizes.len()];
    }
    let scale = area.width * area.height / total;
    let areas: Vec<f32> = sizes.iter().map(|size| size * scale).collect();
    let (mut free, mut found, mut from) = (area, Vec::with_capacity(sizes.len()), 0);
    while from < areas.len() {
        let side = free.width.min(free.height);
        let (mut n, mut sum) = (1, areas[from]);
        while let Some(next) = areas.get(from + n) {
            let (first, last) = (areas[from], areas[from + n - 1]);
            let is_better = worst(first, *next, sum + next, side) <= worst(first, last, sum, side);
            if !is_better {
                break;
            }
            sum += next;
            n += 1;
        }
        place(&areas[from..from + n], sum, &mut free, &mut found);
        from += n;
    }
    found
}

/// Returns the worst side ratio of a row with this largest and smallest area along a side.
fn worst(largest: f32, smallest: f32, sum: f32, side: f32) -> f32 {
    if smallest <= 0.0 || sum <= 0.0 {
        return f32::INFINITY;
    }
    let (sum, side) = (sum * sum, side * side);
    (side * largest / sum).max(sum / (side * smallest))
}

/// Places a row along the shorter side of the free space and shrinks that space.
fn place(row: &[f32], sum: f32, free: &mut Area, found: &mut Vec<Area>) {
    let is_column = free.width >= free.height;
    let (length, limit) =
        if is_column { (free.height, free.width) } else { (free.width, free.height) };
    let depth = if length > 0.0 { (sum / length).min(limit) } else { 0.0 };
    let mut at = 0.0;
    for area in row {
        let extent = if depth > 0.0 { area / depth } else { 0.0 };
        found.push(if is_column {
            Area { x: free.x, y: free.y + at, width: depth, height: extent }
        } else {
            Area { x: free.x + at, y: free.y, width: extent, height: depth }
        });
        at += extent;
    }
    if is_column {
        free.x += depth;
        free.width -= depth;
    } else {
        free.y += depth;
        free.height -= depth;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn areas_are_proportional_and_stay_inside() {
        let area = Area { x: 10.0, y: 20.0, width: 600.0, height: 400.0 };
        let sizes = [6.0, 6.0, 4.0, 3.0, 2.0, 2.0, 1.0];
        let found = layout(&sizes, area);
        for (size, rect) in sizes.iter().zip(&found) {
            assert!((rect.width * rect.height - size * 10_000.0).abs() < 10.0, "{rect:?}");
            assert!(rect.x >= 9.9 && rect.x + rect.width <= 610.1, "{rect:?}");
            assert!(rect.y >= 19.9 && rect.y + rect.height <= 420.1, "{rect:?}");
            let ratio = (rect.width / rect.height).max(rect.height / rect.width);
            assert!(ratio < 4.0, "{rect:?}");
        }
        assert_eq!(layout(&[], area), []);
        assert_eq!(layout(&[0.0, 0.0], area).len(), 2);
        assert_eq!(layout(&[1.0, 0.0], area)[1].width * layout(&[1.0, 0.0], area)[1].height, 0.0);
    }
}
