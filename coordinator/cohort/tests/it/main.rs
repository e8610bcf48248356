//! Tests of the cohort crate from outside, with real files.
#![allow(clippy::unwrap_used, clippy::too_many_lines, reason = "tests")]

mod chained;
mod format;
mod freezing;
mod full_disk;
mod growing;
mod killed;
mod made;
mod parts;
mod profiles;
mod properties;
mod recording;
mod scale;
mod simulated;
mod states;
mod verifying;
