//! The curve of another session in the visible part of the plot.

use crate::app::ui::timeline::plot::axis::CallAxis;
use crate::app::ui::timeline::plot::input::{ComparedCurve, TimelineInput};
use crate::app::ui::timeline::plot::reduce;
use crate::app::ui::timeline::plot::reduce::{Columns, Curve};

/// Returns the positions of the other session per position of the open one.
pub(crate) fn scale(axis: CallAxis<'_>, other: &ComparedCurve<'_>) -> f64 {
    if other.is_by_share { axis.of_compared(other).end() / axis.end() } else { 1.0 }
}

/// Returns the visible part of the curve.
pub(crate) fn curve(input: &TimelineInput<'_>, axis: CallAxis<'_>, columns: &Columns) -> Curve {
    let Some(other) = input.compared_session else {
        return Curve::new();
    };
    let scale = scale(axis, other);
    let columns = Columns { from: columns.from * scale, to: columns.to * scale, ..*columns };
    let contexts = other.contexts;
    let points = reduce::curve_of(contexts, |tokens| *tokens, axis.of_compared(other), &columns);
    let point = |[x, tokens]: [f64; 2]| [x / scale, tokens];
    points.into_iter().map(point).collect()
}
