//! What no plan of a workload can beat on a machine: least amounts beside the most that the machine gives, the roofline
//! of Williams, Waterman and Patterson (2009).

/// What is counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Quantity {
    /// Floating-point operations of matrix products: a multiply-add counts as two.
    Operations,
    /// Bytes that are read.
    Bytes,
}

/// One resource of a machine, and what a workload needs of it at least.
#[derive(Debug, Clone, PartialEq)]
pub struct Limit {
    /// What it is: `operations`, or where bytes go to and come from, as in [`crate::Traffic::level`].
    pub resource: String,
    /// What is counted.
    pub quantity: Quantity,
    /// The least that any plan needs of it. Derived.
    pub amount: f64,
    /// The most of it that the machine gives in one unit of the objective (a nanosecond, a cycle).
    pub rate: f64,
    /// What the rate is: `measured`, `published`, `derived`.
    pub label: &'static str,
    /// Whose rate it is, in words.
    pub about: String,
}
