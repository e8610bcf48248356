//! Where the time goes: measured times of phases beside what the plan does in them.

use analyzer::Dataset;
use cohort::{Case, Snapshot};
use serde::Serialize;
use target_api::PlanAmounts;

use crate::output::table;
use crate::planning::Planning;

/// One level of the memory in one phase.
#[derive(Debug, Serialize)]
pub(crate) struct Moved {
    /// `L1 from L2`.
    level: String,
    /// Bytes of the busiest worker. Modelled.
    bytes: f64,
    /// These over the time of the phase, in 10^9 bytes per second. Derived.
    gb_per_s: f64,
    /// What one worker by itself could read. Measured.
    measured_gb_per_s: f64,
}

/// One phase of a case.
#[derive(Debug, Serialize)]
pub(crate) struct Row {
    phase: String,
    /// Mean over workers, the median of the case's own calls: not scaled by any ratio. Measured.
    ns: f64,
    /// Operations of all workers over that time. Derived.
    gflops: Option<f64>,
    /// The same over the peak that was probed beside the case. Derived.
    share_of_peak: Option<f64>,
    /// Calls of the micro-kernel by the busiest worker. Derived.
    calls: Option<f64>,
    /// Core cycles of the phase for each of them: measured time times measured clock over calls. Derived.
    cycles_per_call: Option<f64>,
    traffic: Vec<Moved>,
}

/// What the phases of `case` do; `None` for targets that do not tell, and where the frozen definition makes no plan here.
pub(crate) fn amounts(snapshot: &Snapshot, case: &Case) -> Option<PlanAmounts> {
    let manifest = snapshot.frozen.manifest();
    if manifest.imported.is_some() {
        return None;
    }
    let planning = Planning::of_frozen(manifest).ok()?;
    let workload = crate::freezing::workload(&planning, &case.workload).ok()?;
    planning.configured.amounts(workload, &case.plan)
}

/// The peak of all workers that was probed beside the cases of a workload, in GFLOP/s; the median.
pub(crate) fn peak(dataset: &Dataset, workload: &str) -> Option<f64> {
    let found = dataset.workloads.iter().find(|own| own.name == workload);
    found.and_then(analyzer::dataset::WorkloadData::median_peak)
}

/// Rows for phases of so many nanoseconds. A phase that the plan does not tell of has its time only.
pub(crate) fn rows(amounts: &PlanAmounts, times: &[(String, f64)], peak: Option<f64>) -> Vec<Row> {
    let row = |(phase, ns): &(String, f64)| {
        let own = amounts.phases.iter().find(|own| own.phase == *phase);
        // Operations per nanosecond are GFLOP/s, bytes per nanosecond are 10^9 bytes per second.
        let gflops = own.and_then(|own| own.flops).map(|flops| flops / ns);
        let calls = own.and_then(|own| own.calls);
        let traffic = own.into_iter().flat_map(|own| &own.traffic);
        Row {
            phase: phase.clone(),
            ns: *ns,
            gflops,
            share_of_peak: gflops.zip(peak).map(|(gflops, peak)| gflops / peak),
            calls,
            cycles_per_call: calls.map(|calls| ns * amounts.clock_ghz / calls),
            traffic: traffic
                .map(|own| Moved {
                    level: own.level.clone(),
                    bytes: own.bytes,
                    gb_per_s: own.bytes / ns,
                    measured_gb_per_s: own.gb_per_s,
                })
                .collect(),
        }
    };
    times.iter().filter(|(_, ns)| *ns > 0.0).map(row).collect()
}

/// The rows of each case under its name, and what its columns are.
pub(crate) fn show(cases: &[(&str, &[Row])]) -> String {
    let levels: Vec<&str> = {
        let mut names: Vec<&str> = Vec::new();
        for own in cases
            .iter()
            .flat_map(|(_, rows)| rows.iter())
            .flat_map(|row| &row.traffic)
        {
            if !names.contains(&own.level.as_str()) {
                names.push(&own.level);
            }
        }
        names.sort_unstable();
        names
    };
    let mut header = vec!["case", "phase", "GFLOP/s", "of peak", "calls", "cycles/call"];
    header.extend(&levels);
    let dash = |value: Option<f64>, shown: fn(f64) -> String| value.map_or_else(|| "-".to_owned(), shown);
    let mut lines = Vec::new();
    for (case, rows) in cases {
        for row in *rows {
            let mut line = vec![
                (*case).to_owned(),
                row.phase.clone(),
                dash(row.gflops, |v| format!("{v:.1}")),
                dash(row.share_of_peak, |v| format!("{:.1} %", 100.0 * v)),
                dash(row.calls, |v| format!("{v:.0}")),
                dash(row.cycles_per_call, |v| format!("{v:.0}")),
            ];
            for level in &levels {
                let own = row.traffic.iter().find(|own| own.level == *level);
                line.push(own.map_or_else(
                    || "-".to_owned(),
                    |own| format!("{:.1} of {:.0}", own.gb_per_s, own.measured_gb_per_s),
                ));
            }
            lines.push(line);
        }
    }
    format!(
        "\nWhere the time goes. Rates are derived: operations and calls from the plan, over measured times, each the median of\n\
         the case's own calls, scaled by no ratio; the peak is that probed beside the cases (measured). Of each level:\n\
         modelled bytes over measured time, in GB/s, of what one worker could read (measured).\n{}",
        table(&header, lines)
    )
}
