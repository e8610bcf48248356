//! Selection: which plans become cases, and why each.

mod board;
mod context;
mod cross;
mod explicit;
mod joint;
mod list;
mod names;
mod plan_file;
mod run;
mod screen;
mod trace;
mod types;
mod vary;
mod whole;

pub use cross::crosses;
pub use names::prefix;
pub use plan_file::{assignment_from_toml, plan_to_toml};
pub use run::select;
pub use trace::{Step, Trace, trace};
pub use types::{Chosen, Refused, SelectError, SelectedWorkload, Selection};
