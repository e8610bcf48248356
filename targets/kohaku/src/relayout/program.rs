//! Programs of one vector core.

use super::walk::Dimension;
use crate::machine::LANES;

/// An instruction, as far as conversions need one. Registers hold `vl` elements; words are those of the core's memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Instruction {
    /// A constant into a scalar register.
    Constant(u32),
    /// A mode of the core.
    Mode(u32),
    /// Words of memory, by the descriptor, into the core.
    Fill {
        /// First word of the core's memory.
        to: usize,
    },
    /// The table of masks into the core.
    FillMasks {
        /// First word of the core's memory.
        to: usize,
    },
    /// Waits for the fills.
    Barrier,
    /// Words `word, word + stride, ...` into a register.
    Load {
        /// Register.
        to: usize,
        /// First word.
        word: usize,
        /// Words from one to the next.
        stride: usize,
    },
    /// Rotates every word of a register to the right by so many lanes.
    Rotate {
        /// Register.
        to: usize,
        /// Register.
        from: usize,
        /// Lanes.
        lanes: usize,
    },
    /// Takes lanes of `from` where the mask is set.
    Select {
        /// Register.
        to: usize,
        /// Register.
        from: usize,
        /// Register of the mask.
        mask: usize,
    },
    /// A register into words `word, word + stride, ...`.
    Store {
        /// Register.
        from: usize,
        /// First word.
        word: usize,
        /// Words from one to the next.
        stride: usize,
    },
    /// Words of the core, by the descriptor, to memory.
    Drain,
    /// The end of a run.
    Halt,
}

impl Instruction {
    /// Cycles at this vector length.
    #[must_use]
    pub fn cycles(self, vl: usize) -> usize {
        match self {
            Self::Load { .. } | Self::Rotate { .. } | Self::Select { .. } | Self::Store { .. } | Self::Halt => {
                vl.div_ceil(LANES)
            }
            _ => 1,
        }
    }

    /// Words of the image: a constant brings its value along. Published are only the sums (8 for whole words, 20 around
    /// the lane pass), which this gives.
    #[must_use]
    pub fn words(self) -> usize {
        if matches!(self, Self::Constant(_)) { 2 } else { 1 }
    }
}

/// A program, and what it is run on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CoreProgram {
    /// Elements of a register.
    pub vl: usize,
    /// Words of one run.
    pub width: usize,
    /// Instructions.
    pub instructions: Vec<Instruction>,
    /// Flits that set descriptors up, and reset them.
    pub descriptor_flits: usize,
    /// Walk of the fill, relative to the run's start in words.
    pub fill: Vec<Dimension>,
    /// Walk of the drain.
    pub drain: Vec<Dimension>,
    /// For each run: first word of the fill and of the drain, over all batch elements, in one batch element's words.
    pub runs: Vec<(usize, usize)>,
}

impl CoreProgram {
    /// Words of the image.
    #[must_use]
    pub fn image(&self) -> usize {
        self.instructions.iter().map(|instruction| instruction.words()).sum()
    }
}
