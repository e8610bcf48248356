//! The machine as the models see it.

use crate::harness::MachineReport;
use crate::isa::Isa;

/// Cache levels that traffic is counted for: into L1, into L2, into L3 (out of DRAM).
pub const LEVELS: usize = 3;

/// Rates and capacities in core cycles and bytes, all derived from measurements.
#[derive(Debug, Clone, PartialEq)]
pub struct Hardware {
    /// Instruction set of the kernels whose peak was measured.
    pub isa: Isa,
    /// Floats in one vector.
    pub lanes: f64,
    /// Vector multiply-adds per cycle: peak / (clock x 2 x lanes).
    pub fma_per_cycle: f64,
    /// Core clock in GHz: cycles per nanosecond.
    pub clock_ghz: f64,
    /// Bytes that L1, L2 and L3 really hold (measured knees).
    pub capacity: [f64; LEVELS],
    /// Cycles per byte of one core's stream into L1, L2, L3, nothing overlapped.
    pub fill: [f64; LEVELS],
    /// Cycles until a dependent load arrives from L2, L3, DRAM.
    pub latency: [f64; LEVELS],
}

impl Hardware {
    /// Derives the rates from what was measured, for kernels of `isa`; `None` when their peak was not measured or a
    /// figure is not positive and finite.
    ///
    /// A level's rate is read off the curves in the middle (on a logarithmic scale) between the knees around it. The
    /// latency of L3 is a mean over its part of the curve: in a guest it jumps sixfold within it.
    #[must_use]
    pub fn new(report: &MachineReport, isa: Isa) -> Option<Self> {
        let lanes = f64::from(isa.lanes());
        let clock_ghz = report.core_hz / 1e9;
        let peak_gflops = report.fma.iter().find(|peak| peak.lanes == isa.lanes())?.gflops;
        let knees = &report.knees;
        let capacity = [knees.l1_bytes as f64, knees.l2_bytes as f64, knees.l3_bytes as f64];
        let between = |low: f64, high: f64| libm::sqrt(low * high);
        let bandwidth: Vec<_> = report
            .read_bandwidth
            .iter()
            .map(|p| (p.bytes as f64, p.gb_per_s))
            .collect();
        let latency: Vec<_> = report.load_latency.iter().map(|p| (p.bytes as f64, p.ns)).collect();
        let second = between(capacity[0], capacity[1]);
        let third = between(capacity[1], capacity[2]);
        // Four times what L3 holds: nearly every line comes from DRAM.
        let beyond = 4.0 * capacity[2];
        let hardware = Self {
            isa,
            lanes,
            fma_per_cycle: peak_gflops / (clock_ghz * 2.0 * lanes),
            clock_ghz,
            capacity,
            fill: [
                clock_ghz / interpolate(&bandwidth, second)?,
                clock_ghz / interpolate(&bandwidth, third)?,
                clock_ghz / report.dram_gb_per_s?,
            ],
            latency: [
                clock_ghz * interpolate(&latency, second)?,
                clock_ghz * mean(&latency, capacity[1], capacity[2])?,
                clock_ghz * interpolate(&latency, beyond)?,
            ],
        };
        let figures = [hardware.fma_per_cycle, clock_ghz].into_iter().chain(capacity);
        let mut figures = figures.chain(hardware.fill).chain(hardware.latency);
        figures
            .all(|figure| figure.is_finite() && figure > 0.0)
            .then_some(hardware)
    }
}

/// Geometric mean of the points above `low` and up to `high` bytes; of the point after `low` when there are none.
fn mean(curve: &[(f64, f64)], low: f64, high: f64) -> Option<f64> {
    let within = |size: f64| size > low && size <= high;
    let logs: Vec<f64> = curve
        .iter()
        .filter(|(size, _)| within(*size))
        .map(|(_, value)| libm::log(*value))
        .collect();
    if logs.is_empty() {
        return interpolate(curve, 2.0 * low);
    }
    Some(libm::exp(logs.iter().sum::<f64>() / logs.len() as f64))
}

/// Value at `bytes` of a measured curve of `(bytes, value)`: linear between points over the logarithm of the size,
/// constant beyond the ends. `None` for an empty curve.
fn interpolate(curve: &[(f64, f64)], bytes: f64) -> Option<f64> {
    match curve.iter().position(|(size, _)| *size >= bytes) {
        Some(0) => curve.first().map(|(_, value)| *value),
        Some(at) => {
            let ((low, below), (high, above)) = (curve[at - 1], curve[at]);
            let share = (libm::log(bytes) - libm::log(low)) / (libm::log(high) - libm::log(low));
            Some(below + share * (above - below))
        }
        None => curve.last().map(|(_, value)| *value),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn curves_are_read_between_their_points() {
        let curve = [(1024.0, 10.0), (4096.0, 30.0)];
        let read = |bytes: f64| interpolate(&curve, bytes).unwrap();
        assert!((read(2048.0) - 20.0).abs() < 1e-9);
        assert!((read(1.0) - 10.0).abs() < 1e-9 && (read(1e9) - 30.0).abs() < 1e-9);
        assert!((read(1024.0) - 10.0).abs() < 1e-9 && (read(4096.0) - 30.0).abs() < 1e-9);
        assert_eq!(interpolate(&[], 1.0), None);
        let steps = [(1.0, 5.0), (2.0, 4.0), (4.0, 16.0), (8.0, 99.0)];
        assert!((mean(&steps, 1.0, 4.0).unwrap() - 8.0).abs() < 1e-9);
        assert!((mean(&steps, 4.0, 5.0).unwrap() - 99.0).abs() < 1e-9);
    }
}
