//! The report of a calibration: `calibration.md`, `calibration.json` and its pictures.

mod markdown;
mod pictures;
mod write;

pub use markdown::render;
pub use write::{schema, write};
