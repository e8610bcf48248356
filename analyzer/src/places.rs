//! Which place a case has: one rule for report, page, `explain` and `compare`.

use crate::dataset::{Chosen, WorkloadData};
use crate::evaluate::ratio_to_control;

/// The place of each case of a workload, from 1, in the order of its cases: by the ratio to the control, of equal ones the
/// control first, then in the cohort's order. `None` for confirmations, which repeat others, and for what was not measured.
///
/// Errors: a ratio that is not finite, which is a bug: the dataset was checked when it was collected.
pub(crate) fn places(workload: &WorkloadData) -> Result<Vec<Option<usize>>, stats::error::SampleError> {
    let mut order: Vec<(usize, f64)> = Vec::new();
    for (index, case) in workload.cases.iter().enumerate() {
        if case.chosen != Chosen::Confirmation {
            order.extend(ratio_to_control(workload, case)?.map(|ratio| (index, ratio.median)));
        }
    }
    let is_other = |index: usize| workload.cases[index].name != workload.control;
    // Stable: equal ones keep the cohort's order.
    order.sort_by(|a, b| a.1.total_cmp(&b.1).then(is_other(a.0).cmp(&is_other(b.0))));
    let mut places = vec![None; workload.cases.len()];
    for (place, (index, _)) in (1..).zip(order) {
        places[index] = Some(place);
    }
    Ok(places)
}
