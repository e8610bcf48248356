//! What the machine gives, in words for a person.

use target_api::Machine;

use crate::harness::MachineReport;
use crate::machine::facts;

/// Pairs for which the smallest visible difference is told: the finalists' of the shipped definitions.
const PAIRS: f64 = 28.0;

/// Name and figure, each with its label. Empty where the machine's facts can't be read.
pub(crate) fn describe(machine: &Machine) -> Vec<(String, String)> {
    let Ok(report) = facts(machine) else { return Vec::new() };
    let mut lines = Vec::new();
    let mut line = |name: &str, text: String| lines.push((name.to_owned(), text));
    let cores: Vec<String> = report.physical_cores.iter().map(ToString::to_string).collect();
    line("workers", format!("one pinned to each of cores {}", cores.join(", ")));
    for peak in &report.fma {
        line(
            &format!("FMA peak, {}", peak.isa),
            format!(
                "{:.1} GFLOP/s float32 on core {} (measured)",
                peak.gflops, report.measured_core
            ),
        );
    }
    line("core clock", format!("{:.2} GHz (measured)", report.core_hz / 1e9));
    line(
        "time-stamp counter",
        format!("{:.2} GHz (measured)", report.tsc_hz / 1e9),
    );
    let knees = &report.knees;
    line(
        "L1 that a program gets",
        format!("{} KiB (derived: {})", knees.l1_bytes / 1024, knees.rule),
    );
    line(
        "L2 that a program gets",
        format!("{} KiB (derived likewise)", knees.l2_bytes / 1024),
    );
    line(
        "L3 that a program gets",
        format!("{} KiB (derived likewise)", knees.l3_bytes / 1024),
    );
    line(
        "read bandwidth",
        curve(report.read_bandwidth.iter().map(|p| (p.bytes, p.gb_per_s)), "GB/s"),
    );
    line(
        "load latency",
        curve(report.load_latency.iter().map(|p| (p.bytes, p.ns)), "ns"),
    );
    line("huge pages", huge_pages(&report));
    let noise = &report.noise;
    line(
        "noise",
        format!(
            "{} short probes: median {:.1}, deciles {:.1} to {:.1} GFLOP/s, a spread of {:.1} % (measured)",
            noise.probes,
            noise.median_gflops,
            noise.q10_gflops,
            noise.q90_gflops,
            100.0 * noise.relative_spread
        ),
    );
    line(
        "smallest difference",
        format!(
            "about {:.1} % between case and control after {PAIRS} pairs, if the noise stays like this (derived)",
            100.0 * smallest_difference(noise.relative_spread, PAIRS)
        ),
    );
    lines
}

/// Half-width of a 95 % interval of the median of `pairs` ratios of two values, each with the given distance of the
/// deciles over the median: the deciles of a normal distribution lie 2.563 standard deviations apart, the median of n
/// values varies by sqrt(pi / (2 n)) of one, and a ratio has the noise of both sides.
fn smallest_difference(relative_spread: f64, pairs: f64) -> f64 {
    let deviation = relative_spread / 2.563 * std::f64::consts::SQRT_2;
    1.96 * deviation * (std::f64::consts::FRAC_PI_2 / pairs).sqrt()
}

fn curve(points: impl Iterator<Item = (u64, f64)>, unit: &str) -> String {
    let points: Vec<String> = points
        .map(|(bytes, value)| format!("{} {value:.1}", size(bytes)))
        .collect();
    format!("{} {unit} (measured)", points.join(", "))
}

fn size(bytes: u64) -> String {
    if bytes >= 1 << 20 {
        format!("{} MiB:", bytes >> 20)
    } else {
        format!("{} KiB:", bytes >> 10)
    }
}

fn huge_pages(report: &MachineReport) -> String {
    match report.huge_page_bytes {
        None => "the system does not tell".to_owned(),
        Some(granted) if granted >= 0.9 * report.mapped_bytes => "granted".to_owned(),
        Some(granted) => format!(
            "granted for {:.0} % of what was asked for",
            100.0 * granted / report.mapped_bytes
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::smallest_difference;

    #[test]
    fn more_pairs_see_more() {
        let few = smallest_difference(0.1, 7.0);
        assert!((few / smallest_difference(0.1, 28.0) - 2.0).abs() < 1e-12);
        assert!((0.04..0.07).contains(&few), "{few}");
    }
}
