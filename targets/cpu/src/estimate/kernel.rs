//! The micro-kernel: cycles as a function of its shape and depth.

use super::constants::Constants;
use super::hardware::Hardware;
use super::shape::Shape;
use crate::geometry::{GemmGeometry, Staging};

/// What one call of the micro-kernel is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Call {
    /// Rows of the micro-kernel.
    pub height: f64,
    /// Columns of the micro-kernel.
    pub width: f64,
    /// Inner steps per iteration of its loop.
    pub unroll: f64,
    /// Inner steps.
    pub depth: f64,
    /// Segments of the inner axis that are walked side by side, each with sums of its own.
    pub segments: f64,
    /// Share of calls that add to a result instead of beginning one.
    pub adding: f64,
    /// Bytes of both operands that each step brings into L1 from beyond.
    pub bytes_per_step: f64,
}

impl Call {
    /// The calls of a product, whose inner axis is walked in so many segments side by side. Blocks of a streamed sum but the
    /// first add to what is there.
    #[must_use]
    pub fn of(geometry: &GemmGeometry, shape: &Shape, segments: u32, bytes_per_step: f64) -> Self {
        let adding = if geometry.staging == Staging::Streamed {
            1.0 - 1.0 / f64::from(geometry.inner)
        } else {
            0.0
        };
        Self {
            height: f64::from(geometry.height),
            width: f64::from(geometry.width),
            unroll: f64::from(geometry.unroll),
            depth: shape.depth,
            segments: f64::from(segments),
            adding,
            bytes_per_step,
        }
    }

    /// Cycles of one inner step.
    ///
    /// Multiply-adds, loads (`height` broadcasts and `vectors` vectors) and the fills of L1 each bound it; the bounds are
    /// joined by a 6-norm, which lies 1.4 % above the largest when the next is 2/3 of it and 12 % when two are equal.
    /// Measured with operands in L1, as shares of peak: 6x16 0.98, 8x8 0.85, 12x8 0.82, 14x8 0.89. With operands in L2,
    /// time against 6x16: 2x32 1.26, 2x48 1.16, 3x24 1.09, 3x32 1.02. With too few accumulators the latency of the
    /// dependent sums binds instead; each segment has sums of its own.
    #[must_use]
    pub fn step_cycles(&self, hardware: &Hardware, constants: &Constants) -> f64 {
        let vectors = self.width / hardware.lanes;
        let arithmetic = self.height * vectors / hardware.fma_per_cycle;
        let loads = (self.height + vectors) / constants.loads_per_cycle;
        let fills = self.bytes_per_step * hardware.fill[0];
        norm6([arithmetic, loads, fills]).max(constants.fma_latency / self.segments)
    }

    /// Cycles of one step's multiply-adds where the kernel is one vector wide, so that each needs a load of its own; else 0.
    #[must_use]
    pub fn single_vector_cycles(&self, hardware: &Hardware) -> f64 {
        if self.width <= hardware.lanes {
            self.height / hardware.fma_per_cycle
        } else {
            0.0
        }
    }

    /// By how much one inner step takes longer when so many of its `lines` come into L1 from rows whose lines all meet in
    /// one set: they evict each other, and each is asked for at L2's latency.
    ///
    /// Measured on Zen 4, row-major weights at multiples of 4 KiB, in cycles per step with and without: 4x16 10.6 and 5.4,
    /// 8x16 12.6 and 10.8, 4x32 17 and 8.1, 14x32 30.9 and 28.6: less than what this says, by what prefetching hides.
    #[must_use]
    pub fn aliased_cycles(&self, hardware: &Hardware, constants: &Constants, lines: f64) -> f64 {
        if lines <= 0.0 {
            return 0.0;
        }
        let step = self.step_cycles(hardware, constants);
        norm6([step, lines * hardware.latency[0], 0.0]) - step
    }

    /// By how much one inner step takes longer when its operands come in at `fill` cycles for each step from beyond L2, while
    /// it computes: the longer of both, and something where they are alike.
    ///
    /// Measured on Zen 4, weights out of DRAM once, in units of their own stream: 1x32 1.05 to 1.15 (its steps 0.29), 4x32 1.1
    /// (0.56), 8x32 1.3 (1.13), 8x48 1.23 (1.13).
    #[must_use]
    pub fn streamed_cycles(&self, hardware: &Hardware, constants: &Constants, fill: f64) -> f64 {
        let step = self.step_cycles(hardware, constants);
        norm6([step, fill, 0.0]) - step
    }

    /// Cycles of the whole call: the loop, its iterations, the call itself, and the accumulators stored (and loaded
    /// before, when the call adds to a result).
    #[must_use]
    pub fn cycles(&self, hardware: &Hardware, constants: &Constants) -> f64 {
        let step = self.step_cycles(hardware, constants) + constants.iteration_cycles / self.unroll;
        let tile = self.height * self.width / hardware.lanes;
        self.depth * step + constants.call_cycles + tile * (1.0 + self.adding)
    }
}

/// `(sum of x^6)^(1/6)`, with roots that are the same on every machine.
fn norm6(terms: [f64; 3]) -> f64 {
    let sixth = |x: f64| x * x * x * x * x * x;
    libm::cbrt(libm::sqrt(terms.into_iter().map(sixth).sum()))
}
