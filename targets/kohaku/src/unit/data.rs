//! Numbers to compute with.

use planner::space::SplitMix64;

use crate::numerics::half;

/// A seeded generator: the same numbers on every machine.
#[derive(Debug, Clone)]
pub struct Random(SplitMix64);

impl Random {
    /// The generator of a seed; different streams of one seed are independent.
    #[must_use]
    pub fn new(seed: u64, stream: &str) -> Self {
        let mixed = stream.bytes().fold(seed ^ 0x9e37_79b9_7f4a_7c15, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
        });
        Self(SplitMix64::new(mixed))
    }

    /// Uniform between 0 and 1, neither included.
    fn uniform(&mut self) -> f64 {
        ((self.0.next_u64() >> 12) as f64 + 0.5) / (1_u64 << 52) as f64
    }

    /// Standard normal numbers times `scale`, rounded to float16.
    #[must_use]
    pub fn normal(&mut self, count: usize, scale: f64) -> Vec<f32> {
        let mut values = Vec::with_capacity(count + 1);
        while values.len() < count {
            let radius = (-2.0 * libm::log(self.uniform())).sqrt();
            let angle = std::f64::consts::TAU * self.uniform();
            values.push(half(scale * radius * libm::cos(angle)));
            values.push(half(scale * radius * libm::sin(angle)));
        }
        values.truncate(count);
        values
    }
}
