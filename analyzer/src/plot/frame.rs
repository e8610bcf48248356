//! Where points are plotted: ticks with their numbers, a grid, and a border.

use super::axis::Axis;
use super::palette::{GRID, INK};
use super::picture::{Anchor, Picture};

/// Draws both axes around a plot; `plot` is its left, top, right and bottom in the picture.
pub(crate) fn frame(picture: &mut Picture, plot: (f64, f64, f64, f64), x: &Axis, y: &Axis) {
    let (left, top, right, bottom) = plot;
    for (value, label) in x.ticks(70.0) {
        let at = x.at(value);
        picture.line((at, top), (at, bottom), 1.0, GRID);
        picture.words((at, bottom + 18.0), &label, 14.0, Anchor::Middle, INK);
    }
    for (value, label) in y.ticks(50.0) {
        let at = y.at(value);
        picture.line((left, at), (right, at), 1.0, GRID);
        picture.words((left - 8.0, at), &label, 14.0, Anchor::End, INK);
    }
    let corners = [(left, top), (right, top), (right, bottom), (left, bottom), (left, top)];
    for ends in corners.windows(2) {
        picture.line(ends[0], ends[1], 1.0, INK);
    }
}
