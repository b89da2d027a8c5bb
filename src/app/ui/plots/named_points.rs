//! Named points among unnamed ones. Each name is placed next to its point without covering another name.

use crate::app::ui::theme;
use crate::app::ui::theme::palette;
use egui::epaint::CircleShape;
use egui::{Color32, Galley, Pos2, Rect, Shape, Stroke, Ui, Vec2, vec2};
use std::sync::Arc;

/// Radius of a named point.
const RADIUS: f32 = 4.5;
/// Distance from a point to its name.
const GAP: f32 = 8.0;

/// Larger distances from a point to its name, for crowded plots; a line then joins the two.
const FARTHER: [f32; 5] = [0.0, 10.0, 22.0, 36.0, 52.0];

/// Positions of a name, as its center relative to the point in half sizes; the most readable first.
const SIDES: [Vec2; 8] = [
    vec2(1.0, 0.0),
    vec2(-1.0, 0.0),
    vec2(0.0, -1.0),
    vec2(0.0, 1.0),
    vec2(1.0, -1.0),
    vec2(1.0, 1.0),
    vec2(-1.0, -1.0),
    vec2(-1.0, 1.0),
];

/// Obstacles for names.
pub(crate) struct Obstacles<'a> {
    /// Unnamed points: covered only if unavoidable.
    pub(crate) points: &'a [Pos2],
    /// Other texts: never covered.
    pub(crate) texts: &'a [Rect],
}

/// Draws the points, and the names that fit within the bounds. A name that does not fit is omitted; hovering the point
/// shows it.
pub(crate) fn draw<'a>(
    ui: &Ui,
    bounds: Rect,
    obstacles: &Obstacles<'_>,
    named: impl Iterator<Item = (Pos2, &'a str, Color32)>,
    shapes: &mut Vec<Shape>,
) {
    let font = theme::small_strong().resolve(ui.style());
    let layout =
        |name: &str, color| ui.painter().layout_no_wrap(name.to_owned(), font.clone(), color);
    let named: Vec<(Pos2, Arc<Galley>, Color32)> =
        named.map(|(at, name, color)| (at, layout(name, color), color)).collect();
    let points: Vec<Pos2> = named.iter().map(|(at, ..)| *at).collect();
    let sizes: Vec<Vec2> = named.iter().map(|(_, galley, _)| galley.size()).collect();
    let places = places(&points, &sizes, bounds, obstacles);
    for ((at, _, color), place) in named.iter().zip(&places) {
        if let Some(end) = place.map(|place| place.clamp(*at))
            && end.distance(*at) > 1.5 * GAP
        {
            let stroke = Stroke::new(1.0, color.gamma_multiply(0.6));
            shapes.push(Shape::line_segment([*at, end], stroke));
        }
        shapes.push(Shape::Circle(CircleShape {
            center: *at,
            radius: RADIUS,
            fill: palette(ui).background,
            stroke: Stroke::new(1.5, *color),
        }));
    }
    for ((_, galley, color), place) in named.into_iter().zip(places) {
        let Some(place) = place else { continue };
        let fill = palette(ui).panel.gamma_multiply(0.8);
        shapes.push(Shape::rect_filled(place.expand(1.0), 2.0, fill));
        shapes.push(Shape::galley(place.min, galley, color));
    }
}

/// Returns the positions of the names: within the bounds, clear of other texts and named points, over as few other
/// points as possible, then as near as possible.
fn places(
    points: &[Pos2],
    sizes: &[Vec2],
    bounds: Rect,
    obstacles: &Obstacles<'_>,
) -> Vec<Option<Rect>> {
    let of_point = |at: &Pos2| Rect::from_center_size(*at, Vec2::splat(2.0 * RADIUS));
    let mut taken: Vec<Rect> = points.iter().map(of_point).collect();
    taken.extend(obstacles.texts);
    let covered = |rect: &Rect| {
        let rect = rect.expand(RADIUS);
        let is_covered = |at: &&Pos2| rect.contains(**at);
        obstacles.points.iter().filter(is_covered).count()
    };
    let mut out = Vec::with_capacity(points.len());
    for (at, size) in points.iter().zip(sizes) {
        let candidates = FARTHER.iter().flat_map(|farther| {
            SIDES.iter().map(move |side| {
                let way = *side * (*size / 2.0 + Vec2::splat(GAP + farther));
                Rect::from_center_size(*at + way, *size)
            })
        });
        let is_free =
            |rect: &Rect| bounds.contains_rect(*rect) && !taken.iter().any(|t| t.intersects(*rect));
        let place = candidates.filter(is_free).min_by_key(covered);
        taken.extend(place);
        out.push(place);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use egui::pos2;

    const NOTHING: Obstacles<'static> = Obstacles { points: &[], texts: &[] };
    const BOUNDS: Rect = Rect { min: pos2(0.0, 0.0), max: pos2(300.0, 100.0) };

    #[test]
    fn names_of_close_points_cover_neither_each_other_nor_a_point() {
        let points = [pos2(100.0, 50.0), pos2(106.0, 50.0), pos2(110.0, 52.0)];
        let placed = places(&points, &[vec2(60.0, 12.0); 3], BOUNDS, &NOTHING);
        let rects: Vec<Rect> = placed.into_iter().flatten().collect();
        assert!(rects.len() >= 2, "{rects:?}");
        for (idx, rect) in rects.iter().enumerate() {
            assert!(BOUNDS.contains_rect(*rect));
            assert!(points.iter().all(|at| !rect.contains(*at)));
            assert!(rects[..idx].iter().all(|other| !other.intersects(*rect)));
        }
    }

    #[test]
    fn a_name_is_left_of_its_point_if_it_does_not_fit_right_of_it_and_omitted_if_it_fits_nowhere() {
        let placed = places(&[pos2(280.0, 50.0)], &[vec2(60.0, 12.0)], BOUNDS, &NOTHING);
        assert!(placed[0].is_some_and(|rect| rect.right() < 280.0));
        assert_eq!(places(&[pos2(150.0, 50.0)], &[vec2(400.0, 12.0)], BOUNDS, &NOTHING), [None]);
    }

    #[test]
    fn a_name_is_placed_farther_away_rather_than_over_points_or_texts() {
        let crowd: Vec<Pos2> = (0..40)
            .map(|nth| pos2(90.0 + (nth % 10) as f32 * 9.0, 38.0 + (nth / 10) as f32 * 6.0))
            .collect();
        let text = Rect::from_min_max(pos2(0.0, 0.0), pos2(120.0, 30.0));
        let obstacles = Obstacles { points: &crowd, texts: &[text] };
        let placed = places(&[pos2(130.0, 47.0)], &[vec2(60.0, 12.0)], BOUNDS, &obstacles);
        let place = placed[0].expect("the name fits");
        assert!(!crowd.iter().any(|at| place.contains(*at)), "{place:?}");
        assert!(!place.intersects(text), "{place:?}");
    }
}
