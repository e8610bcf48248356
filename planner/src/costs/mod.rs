//! Cost tables: what kernels cost, as data.
//!
//! A table holds families; a family prices one kernel as a sum of named terms, each an expression over the kernel's
//! arguments times a coefficient that stands beside it:
//!
//! ```toml
//! name = "after"
//! about = "the kernels after the loop upgrade"
//!
//! [gemm]
//! arguments = ["rows", "inner", "columns"]
//!
//! [gemm.terms]
//! launch = { of = "1", cycles = 294 }
//! panels = { of = "ceil_div(inner, 16) * ceil_div(columns, 16)", cycles = 160 }
//! rows = { of = "ceil_div(inner, 16) * ceil_div(columns, 16) * rows", cycles = 4 }
//! ```
//!
//! Prices are linear in the coefficients; terms may be anything that [`crate::expression`] can say. A family is compiled
//! once ([`Family::compile`]) and then evaluated fast; where all coefficients and terms are whole numbers, so is the price,
//! exactly.

mod compiled;
mod error;
mod family;
mod number;
mod price_list;
mod read;
mod table;
#[cfg(test)]
mod tests;
mod write;

pub use compiled::{Compiled, Priced};
pub use error::CostError;
pub use family::{Arguments, Family, Term};
pub use number::Number;
pub use price_list::{Kernels, PriceList};
pub use table::{CostTable, Provenance, SourceOf};
