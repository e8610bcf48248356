//! What to try: workloads, geometries, definitions, enumeration and selection.
//!
//! Nothing here does I/O or reads a clock: the same input gives the same bytes on every machine.

pub mod costs;
pub mod definition;
pub mod expression;
pub mod network;
pub mod numbers;
pub mod order;
pub mod parameters;
pub mod plan;
pub mod refusal;
pub mod rules;
pub mod select;
pub mod space;
pub mod value;
pub mod workload;
pub mod workloads;

pub use definition::{Definition, DefinitionError};
pub use numbers::{counted, grouped};
pub use plan::Plan;
pub use refusal::Refusal;
pub use rules::Rules;
pub use select::{Chosen, Refused, SelectError, SelectedWorkload, Selection, select};
pub use space::{Assignment, Constraint, Domain, Parameter, Space};
pub use value::{Attributes, Value};
pub use workload::{AttentionExtents, Elementwise, GemmExtents, Operation, OperationKind, Workload, seen};
