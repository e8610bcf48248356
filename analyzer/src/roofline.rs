//! How far cases are from what no plan can beat: least operations and bytes of the workload over what the machine gives
//! (the roofline of Williams, Waterman and Patterson 2009).

use schemars::JsonSchema;
use serde::Serialize;
use target_api::{Limit, PlanAmounts, Quantity};

use crate::analysis::{CaseRow, WorkloadRow};
use crate::analyze::Known;
use crate::dataset::{MOST_SHARE, Setup, WorkloadData};

/// Name of the limit that counts operations.
pub(crate) const OPERATIONS: &str = "operations";

/// What one case makes of one limit.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Reached {
    /// The case.
    pub case: String,
    /// The limit's least time over the case's median time; of a probed peak the share of it, pair by pair
    /// ([`CaseRow::share_of_peak`]). Derived; `null` without a time.
    pub share: Option<f64>,
    /// Bytes that the case's busiest worker moves there in all phases. Modelled; `null` where no model knows.
    pub moved_bytes: Option<f64>,
    /// What these bytes take at what one worker by itself reads, in the objective's unit. Derived.
    pub moved_time: Option<f64>,
}

/// One resource of the machine.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct LimitRow {
    /// What it is: `operations` of matrix products, or where bytes go to and come from, such as `L3 from DRAM`.
    pub resource: String,
    /// What is counted: `FLOP`, `bytes`.
    pub unit: String,
    /// The least of it that any plan needs: operations that no mask hides; operands, each read once, less what caches may
    /// hold when a call begins. Derived.
    pub amount: f64,
    /// The most of it that the machine gives in one unit of the objective.
    pub rate: f64,
    /// What the rate is: `measured`, `published`, `derived`.
    pub label: String,
    /// Whose rate it is.
    pub about: String,
    /// `amount / rate`, in the objective's unit. Derived.
    pub least: f64,
    /// The case that took least, where that is less than this allows by more than 5 %: then the rate is not the most that the
    /// machine gives, and this is no limit. `null` where no case shows that.
    pub beaten_by: Option<String>,
    /// The winner, then the control if that is another case.
    pub reached: Vec<Reached>,
}

/// What no plan of a workload can beat.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Roofline {
    /// The limit with the largest least time of those that no case beats; `null` where none is left.
    pub binds: Option<String>,
    /// Its least time, in the objective's unit: no plan takes less, as far as amounts and rates are right. Derived.
    pub least: Option<f64>,
    /// All limits that are known, operations first, then memory from the nearest level on.
    pub limits: Vec<LimitRow>,
}

impl Roofline {
    /// The limit that binds.
    #[must_use]
    pub fn binding(&self) -> Option<&LimitRow> {
        let is_it = |limit: &&LimitRow| Some(&limit.resource) == self.binds.as_ref();
        self.limits.iter().find(is_it)
    }
}

/// Adds the roofline to a workload and its cases, where the least number of operations and a peak for them are known.
/// Bytes alone bound too little to be called the limit.
pub(crate) fn add(workload: &mut WorkloadRow, data: &WorkloadData, setup: &Setup, known: &Known<'_>) {
    // Memory was measured on the frozen machine; another class has its probes only.
    let told = known.limits.get(&workload.name).filter(|_| setup.class == 0);
    let probed_peak = probed_peak(workload, data, setup);
    let probed = probed_peak.is_some();
    let limits: Vec<Limit> = probed_peak
        .into_iter()
        .chain(told.into_iter().flatten().cloned())
        .collect();
    let operations = limits.iter().any(|limit| limit.resource == OPERATIONS);
    if !operations || setup.objective.larger_is_better {
        return;
    }
    let winner = workload.winner.as_ref().map(|winner| winner.case.clone());
    let control = Some(workload.control.clone()).filter(|control| Some(control) != winner.as_ref());
    let sides: Vec<(&CaseRow, Option<PlanAmounts>)> = winner
        .iter()
        .chain(&control)
        .filter_map(|name| workload.case(name))
        .map(|case| (case, (known.amounts)(&case.name)))
        .collect();
    let rows = limits.into_iter().map(|limit| row(limit, &sides, probed));
    let rows = rows.map(|limit| LimitRow {
        beaten_by: beaten_by(&workload.cases, &limit, probed),
        ..limit
    });
    let roofline = of_rows(rows.collect());
    if let Some(binding) = roofline.as_ref().and_then(Roofline::binding) {
        for case in &mut workload.cases {
            case.share_of_limit = share(case, binding, probed);
        }
    }
    workload.roofline = roofline;
}

/// The peak that was probed beside the calls, as a limit.
fn probed_peak(workload: &WorkloadRow, data: &WorkloadData, setup: &Setup) -> Option<Limit> {
    let rate = workload.median_peak_gflops?;
    // Operations per nanosecond are 10^9 per second.
    let amount = data.least_flops(&setup.objective.unit)?;
    Some(Limit {
        resource: OPERATIONS.to_owned(),
        quantity: Quantity::Operations,
        amount,
        rate,
        label: "measured",
        about: "the median peak probed beside the calls".to_owned(),
    })
}

fn row(limit: Limit, sides: &[(&CaseRow, Option<PlanAmounts>)], probed: bool) -> LimitRow {
    let mut row = LimitRow {
        unit: match limit.quantity {
            Quantity::Operations => "FLOP".to_owned(),
            Quantity::Bytes => "bytes".to_owned(),
        },
        amount: limit.amount,
        rate: limit.rate,
        label: limit.label.to_owned(),
        about: limit.about,
        least: limit.amount / limit.rate,
        resource: limit.resource,
        beaten_by: None,
        reached: Vec::new(),
    };
    let reached = sides.iter().map(|(case, amounts)| {
        let moved = amounts.as_ref().and_then(|amounts| moved(amounts, &row.resource));
        Reached {
            case: case.name.clone(),
            share: share(case, &row, probed),
            moved_bytes: moved.map(|(bytes, _)| bytes),
            moved_time: moved.map(|(_, time)| time),
        }
    });
    row.reached = reached.collect();
    row
}

/// Bytes that the busiest worker moves at a level in all phases, and what they take in nanoseconds; `None` where no phase
/// tells.
fn moved(amounts: &PlanAmounts, level: &str) -> Option<(f64, f64)> {
    let own = amounts.phases.iter().flat_map(|phase| &phase.traffic);
    own.filter(|traffic| traffic.level == level)
        .map(|traffic| (traffic.bytes, traffic.bytes / traffic.gb_per_s))
        .reduce(|sum, one| (sum.0 + one.0, sum.1 + one.1))
}

/// Which part of a case's time the limit alone would take: pair by pair where the peak was probed beside the calls.
fn share(case: &CaseRow, limit: &LimitRow, probed: bool) -> Option<f64> {
    if probed && limit.resource == OPERATIONS {
        return case.share_of_peak;
    }
    case.value.filter(|value| *value > 0.0).map(|value| limit.least / value)
}

/// The case that comes furthest beyond a limit, by more than what a probe may miss.
fn beaten_by(cases: &[CaseRow], limit: &LimitRow, probed: bool) -> Option<String> {
    let shares = cases
        .iter()
        .filter_map(|case| Some((share(case, limit, probed)?, case)));
    let (_, case) = shares
        .filter(|(share, _)| *share > MOST_SHARE)
        .max_by(|a, b| a.0.total_cmp(&b.0))?;
    Some(case.name.clone())
}

/// The limits with that which takes longest; `None` where none takes any time.
fn of_rows(limits: Vec<LimitRow>) -> Option<Roofline> {
    let takes_time = |limit: &&LimitRow| limit.least.is_finite() && limit.least > 0.0;
    let mut known = limits.iter().filter(takes_time).peekable();
    known.peek()?;
    // Of equal ones the first.
    let standing = known.filter(|limit| limit.beaten_by.is_none());
    let binding = standing.reduce(|most, one| if one.least > most.least { one } else { most });
    Some(Roofline {
        binds: binding.map(|limit| limit.resource.clone()),
        least: binding.map(|limit| limit.least),
        limits,
    })
}
