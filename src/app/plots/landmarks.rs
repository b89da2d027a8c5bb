//! Points with names among others that have none: each name beside its point, where it covers no other name.

use crate::app::theme::{self, palette};
use egui::{Color32, Galley, Painter, Pos2, Rect, Stroke, Ui, Vec2, pos2, vec2};
use std::sync::Arc;

/// Radius of a named point.
const RADIUS: f32 = 4.5;
/// Between a point and its name.
const GAP: f32 = 8.0;

/// Where a name may stand, as its middle seen from the point, in halves of its own size: what is read easiest first.
const SIDES: [Vec2; 6] = [
    vec2(1.0, 0.0),
    vec2(-1.0, 0.0),
    vec2(0.0, -1.0),
    vec2(0.0, 1.0),
    vec2(1.0, -1.0),
    vec2(1.0, 1.0),
];

/// Paints the points, and the names that have room within the bounds. A name without room is left out: its point shows
/// what it is when it is pointed at.
pub(super) fn paint<'a>(
    ui: &Ui,
    painter: &Painter,
    bounds: Rect,
    named: impl Iterator<Item = (Pos2, &'a str, Color32)>,
) {
    let font = theme::small_strong().resolve(ui.style());
    let named: Vec<(Pos2, Arc<Galley>, Color32)> = named
        .map(|(at, name, color)| {
            let galley = painter.layout_no_wrap(name.to_owned(), font.clone(), color);
            (at, galley, color)
        })
        .collect();
    for (at, _, color) in &named {
        let edge = Stroke::new(1.5, *color);
        painter.circle(*at, RADIUS, palette(ui).background, edge);
    }
    let points: Vec<Pos2> = named.iter().map(|(at, ..)| *at).collect();
    let sizes: Vec<Vec2> = named.iter().map(|(_, galley, _)| galley.size()).collect();
    for ((_, galley, color), place) in named.into_iter().zip(places(&points, &sizes, bounds)) {
        let Some(place) = place else { continue };
        let fill = palette(ui).panel.gamma_multiply(0.8);
        painter.rect_filled(place.expand(1.0), 2.0, fill);
        painter.galley(place.min, galley, color);
    }
}

/// Where each name stands: within the bounds, and on no name before it nor on any point.
fn places(points: &[Pos2], sizes: &[Vec2], bounds: Rect) -> Vec<Option<Rect>> {
    let mut taken: Vec<Rect> = points
        .iter()
        .map(|at| Rect::from_center_size(*at, Vec2::splat(2.0 * RADIUS)))
        .collect();
    let mut out = Vec::with_capacity(points.len());
    for (at, size) in points.iter().zip(sizes) {
        let beside = SIDES.iter().map(|side| {
            let way = *side * (*size / 2.0 + Vec2::splat(GAP));
            Rect::from_center_size(pos2(at.x + way.x, at.y + way.y), *size)
        });
        let place = beside
            .into_iter()
            .find(|rect| bounds.contains_rect(*rect) && !taken.iter().any(|t| t.intersects(*rect)));
        taken.extend(place);
        out.push(place);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    const BOUNDS: Rect = Rect {
        min: pos2(0.0, 0.0),
        max: pos2(300.0, 100.0),
    };

    #[test]
    fn names_of_points_that_lie_together_cover_neither_each_other_nor_a_point() {
        let points = [pos2(100.0, 50.0), pos2(106.0, 50.0), pos2(110.0, 52.0)];
        let placed = places(&points, &[vec2(60.0, 12.0); 3], BOUNDS);
        let rects: Vec<Rect> = placed.into_iter().flatten().collect();
        assert!(rects.len() >= 2, "{rects:?}");
        for (idx, rect) in rects.iter().enumerate() {
            assert!(BOUNDS.contains_rect(*rect));
            assert!(points.iter().all(|at| !rect.contains(*at)));
            assert!(rects[..idx].iter().all(|other| !other.intersects(*rect)));
        }
    }

    #[test]
    fn a_name_stands_to_the_left_where_the_right_has_no_room_and_nowhere_without_any() {
        let placed = places(&[pos2(280.0, 50.0)], &[vec2(60.0, 12.0)], BOUNDS);
        assert!(placed[0].is_some_and(|rect| rect.right() < 280.0));
        assert_eq!(
            places(&[pos2(150.0, 50.0)], &[vec2(400.0, 12.0)], BOUNDS),
            [None]
        );
    }
}
