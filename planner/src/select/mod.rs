//! Selection: which plans become cases, and why each.

mod types;

pub use types::{Chosen, Refused, SelectError, SelectedWorkload, Selection};
