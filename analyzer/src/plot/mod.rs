//! Plots as SVG and PNG. Each is laid out once, as a [`Picture`] of lines, markers and words, and
//! then drawn by both backends, so that the two show the same.

mod axis;
mod calibration;
mod drift;
mod frame;
mod glyphs;
mod palette;
mod pareto;
pub(crate) mod picture;
mod ranking;

pub(crate) use axis::Axis;
pub use calibration::calibration;
pub use drift::drift;
pub(crate) use frame::frame;
pub(crate) use palette::{GREY, INK, NEW, OLD};
pub(crate) use pareto::pareto;
pub use picture::{FONT_FAMILY, Picture};
pub use ranking::ranking;
