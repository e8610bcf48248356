//! Choosing a plan without running any: shortlists of geometries, a beam of whole plans, finalists that are expanded,
//! their memories and mappings, and finalists that are placed and scheduled.

mod beam;
mod finalists;
mod geometries;
mod run;
mod shortlist;
mod steps;

pub use run::search;
