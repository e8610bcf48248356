//! Convolutions of 3 x 3 with padding 1.

use super::linear::Tiling;
use crate::layout::{PAD, Shape};
use crate::program::{BufferId, Conv, Program, Role, Taps, Work};

/// Extents of a convolution.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Padded {
    /// Height, width, channels of the input.
    pub plane: [usize; 3],
    /// Channels of the result.
    pub channels: usize,
    /// Its step.
    pub step: usize,
}

impl Padded {
    /// Height and width of the result.
    #[must_use]
    pub fn result(&self) -> (usize, usize) {
        (self.plane[0].div_ceil(self.step), self.plane[1].div_ceil(self.step))
    }

    /// Positions of one row of the padded plane: output (oy, ox) is result row `oy * row + ox`.
    #[must_use]
    pub fn row(&self) -> usize {
        self.result().1 + 2 * PAD
    }

    /// Rows of the result as the clusters write it, the ones between lines included.
    #[must_use]
    pub fn rows(&self) -> usize {
        (self.result().0 - 1) * self.row() + self.result().1
    }
}

fn stage(program: &mut Program, input: BufferId, taps: Taps, c: &Padded, tiling: Tiling, name: &str) {
    let length = taps.offsets().len() * c.plane[2];
    let own = |what: &str| {
        if name.is_empty() {
            what.to_owned()
        } else {
            format!("{what}-{name}")
        }
    };
    let weights = program.buffer(&own("w"), Role::Input, 1, Shape::matrix(c.channels, length));
    let out = program.buffer(&own("y"), Role::Output, 1, Shape::matrix(c.rows(), c.channels));
    let conv = Conv {
        input,
        weights,
        out,
        plane: c.plane,
        channels: c.channels,
        taps,
        step: c.step,
        tile: tiling.tile,
    };
    program.stage(&own("conv"), Work::Conv(conv));
}

fn plane(program: &mut Program, [height, width, channels]: [usize; 3]) -> BufferId {
    let shape = Shape::Plane {
        height,
        width,
        channels,
    };
    program.buffer("x", Role::Input, 1, shape)
}

/// One convolution; weights are `[out channels][tap][in channels]`.
#[must_use]
pub fn convolution(c: &Padded, tiling: Tiling) -> Program {
    let mut program = Program::default();
    let x = plane(&mut program, c.plane);
    stage(&mut program, x, Taps::Nine, c, tiling, "");
    program
}

/// A convolution behind a nearest upsampling by two: four convolutions of 2 x 2 on the plane as it is. Phase `ab` gives
/// the outputs `(2 y + a, 2 x + b)`.
#[must_use]
pub fn upsampled(c: &Padded, tiling: Tiling) -> Program {
    let mut program = Program::default();
    let x = plane(&mut program, c.plane);
    for (a, b) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
        stage(&mut program, x, Taps::Four(a, b), c, tiling, &format!("{a}{b}"));
    }
    program
}
