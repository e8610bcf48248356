//! What is exchanged: every transfer of every phase, before it has a time.

mod build;
mod gather;
mod reduction;
mod stats;
mod transfer;
mod weights;

pub use build::{Phase, PhaseKind, phases};
pub use gather::{Piece, pieces};
pub use reduction::{Intersection, intersections};
pub use stats::{Stats, paired_eligible};
pub use transfer::{Buffer, Place, Transfer};
pub use weights::{Delivery, deliveries};
