//! Instruction sets that kernels are written for.

use std::fmt;

use crate::blocks::panels;

/// An instruction set: how many floats a vector holds, how many vectors there are, what the compiler must be told.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Isa {
    /// x86-64 with AVX2 and FMA: 16 registers of 8 floats.
    Avx2,
    /// x86-64 with AVX-512F: 32 registers of 16 floats.
    Avx512,
    /// `AArch64`: 32 registers of 4 floats.
    Neon,
    /// What every machine of the family has: 16 registers of 4 floats, multiplication and addition apart on x86-64.
    Plain,
}

impl Isa {
    /// Every instruction set.
    pub const ALL: [Self; 4] = [Self::Avx2, Self::Avx512, Self::Neon, Self::Plain];

    /// The word in definitions and in the harness's output.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Avx2 => "avx2",
            Self::Avx512 => "avx512",
            Self::Neon => "neon",
            Self::Plain => "plain",
        }
    }

    /// The instruction set that `word` names.
    #[must_use]
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|isa| isa.word() == word)
    }

    /// Floats in one vector.
    #[must_use]
    pub fn lanes(self) -> u32 {
        match self {
            Self::Avx2 => 8,
            Self::Avx512 => 16,
            Self::Neon | Self::Plain => 4,
        }
    }

    /// Vector registers.
    #[must_use]
    pub fn registers(self) -> u32 {
        match self {
            Self::Avx2 | Self::Plain => 16,
            Self::Avx512 | Self::Neon => 32,
        }
    }

    /// The usual micro-kernel: rows and vectors. It nearly fills the registers, with rows enough that a step loads less than
    /// it multiplies. Measured for both x86 sets; for NEON it is the 8 x 12 of BLIS, published.
    #[must_use]
    pub fn usual_kernel(self) -> (u32, u32) {
        match self {
            Self::Avx2 | Self::Plain => (6, 2),
            Self::Avx512 => (14, 2),
            Self::Neon => (8, 3),
        }
    }

    /// Rows of the usual micro-kernel over `extent` rows: as few panels as the usual height makes, all nearly full.
    #[must_use]
    pub fn usual_height(self, extent: u32) -> u32 {
        let (most, _) = self.usual_kernel();
        extent.div_ceil(panels(extent, most).max(1)).max(1)
    }

    /// Floats of a row of the usual micro-kernel.
    #[must_use]
    pub fn usual_width(self) -> u32 {
        let (_, vectors) = self.usual_kernel();
        vectors * self.lanes()
    }

    /// Segments of the inner axis that a micro-kernel of few accumulators walks side by side, each with sums of its own: a
    /// power of two that divides `unroll`, with sums in no more than half the registers. Eight only where each takes one step
    /// in an iteration: with two, a compiler has too few registers for addresses (gcc 12 keeps the counter on the stack).
    ///
    /// One chain of dependent sums waits for the latency of a multiply-add, and one stream of operands for that of memory:
    /// a core reads 40 MB of weights from DRAM 1.2 times as fast in eight streams as in one (measured, Ice Lake).
    #[must_use]
    pub fn segments(self, height: u32, width: u32, unroll: u32) -> u32 {
        let sums = height * (width / self.lanes());
        let fits = |segments: &u32| unroll.is_multiple_of(*segments) && segments * sums <= self.registers() / 2;
        let most = if unroll == 8 { 8 } else { 4 };
        [8, 4, 2]
            .into_iter()
            .filter(|segments| *segments <= most)
            .find(fits)
            .unwrap_or(1)
    }

    /// What the compiler is told.
    #[must_use]
    pub fn flags(self) -> &'static [&'static str] {
        match self {
            Self::Avx2 => &["-mavx2", "-mfma"],
            Self::Avx512 => &["-mavx512f", "-mfma"],
            // gcc for AArch64 reorders before it allocates registers and then has too few; clang does not know the flag.
            Self::Neon => &["-fno-schedule-insns", "-Wno-ignored-optimization-argument"],
            Self::Plain => &[],
        }
    }

    /// Vector registers that a micro-kernel of `height x width` needs: its accumulators, the shorter of the two operand
    /// vector held, and one for the operand that streams; without fused multiply-add one more for the product.
    #[must_use]
    pub fn needed(self, height: u32, width: u32) -> u64 {
        let vectors = u64::from(width / self.lanes());
        let height = u64::from(height);
        height * vectors + height.min(vectors) + 1 + u64::from(self == Self::Plain)
    }
}

impl fmt::Display for Isa {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}
