//! Buffers.

use crate::layout::Shape;

/// Index of a buffer in its program.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BufferId(pub usize);

/// Who writes a buffer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Role {
    /// The caller, before the call: activations and weights, in the order that the program wants.
    Input,
    /// The program, for itself.
    Temporary,
    /// The program, for the caller.
    Output,
}

/// A buffer: `batch` elements of one shape at a common stride.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Buffer {
    /// Its name, unique in the program.
    pub name: String,
    /// Who writes it.
    pub role: Role,
    /// Batch elements; 1 is shared by all.
    pub batch: usize,
    /// Extents of one.
    pub shape: Shape,
}
