//! One number for each case.

use crate::dataset::{CaseData, WorkloadData};
use crate::error::AnalyzeError;
use crate::evaluate::{normalised_median, ratio_to_control};

/// What a case takes, in the objective's unit: its median paired ratio to the control times one time of the control, so
/// that drift cancels. `None` without a measurement. Derived.
pub fn value(workload: &WorkloadData, case: &CaseData) -> Result<Option<f64>, AnalyzeError> {
    let ratio = ratio_to_control(workload, case).map_err(|source| AnalyzeError::Statistic {
        workload: workload.name.clone(),
        statistic: "the ratio to the control".to_owned(),
        source: Box::new(source),
    })?;
    let pairs: Vec<_> = workload
        .cases
        .iter()
        .flat_map(|case| case.pairs.iter().copied())
        .collect();
    let control = normalised_median(&pairs, workload.median_peak(), |pair| pair.control);
    Ok(ratio.zip(control).map(|(ratio, control)| ratio.median * control))
}
