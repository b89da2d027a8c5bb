//! A plot item drawn by a function.

use egui::{Color32, Shape, Ui};
use egui_plot::{PlotBounds, PlotGeometry, PlotItem, PlotItemBase, PlotTransform};
use std::ops::RangeInclusive;

/// A plot item that adds its shapes with a function. The pointer does not find it, and it does not affect the axes.
pub struct Layer<F> {
    base: PlotItemBase,
    draw: F,
}

impl<F: Fn(&Ui, &PlotTransform, &mut Vec<Shape>)> Layer<F> {
    /// Creates a layer with a name that is unique in its plot.
    pub fn new(name: &str, draw: F) -> Self {
        Self { base: PlotItemBase::new(name.to_owned()), draw }
    }
}

impl<F: Fn(&Ui, &PlotTransform, &mut Vec<Shape>)> PlotItem for Layer<F> {
    fn shapes(&self, ui: &Ui, transform: &PlotTransform, shapes: &mut Vec<Shape>) {
        (self.draw)(ui, transform, shapes);
    }

    fn initialize(&mut self, _x_range: RangeInclusive<f64>) {}

    fn color(&self) -> Color32 {
        Color32::PLACEHOLDER
    }

    fn geometry(&self) -> PlotGeometry<'_> {
        PlotGeometry::None
    }

    fn bounds(&self) -> PlotBounds {
        PlotBounds::NOTHING
    }

    fn base(&self) -> &PlotItemBase {
        &self.base
    }

    fn base_mut(&mut self) -> &mut PlotItemBase {
        &mut self.base
    }
}
