//! Kernel formulas against every published kernel measurement that they cover.

use std::collections::BTreeMap;

use stats::order::median;

use crate::formulas::formula;
use crate::{Section, error, table};

pub(crate) fn section() -> Section {
    let mut errors: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
    for line in include_str!("../../tests/fixtures/kernels.csv").lines().skip(1) {
        let [family, arguments, cycles] = line.split(',').collect::<Vec<_>>()[..] else {
            return Err(format!("`{line}`: expected three fields").into());
        };
        let arguments: Vec<usize> = arguments.split('x').map(str::parse).collect::<Result<_, _>>()?;
        let predicted = formula(family, &arguments).ok_or_else(|| format!("no formula for {family}"))?;
        errors
            .entry(family)
            .or_default()
            .push(error(predicted, cycles.parse()?));
    }
    let rows: Vec<Vec<String>> = errors
        .iter()
        .map(|(family, errors)| {
            let sizes: Vec<f64> = errors.iter().map(|error| error.abs()).collect();
            let exact = sizes.iter().filter(|error| **error == 0.0).count();
            let largest = errors
                .iter()
                .copied()
                .fold(0.0, |a: f64, b| if b.abs() > a.abs() { b } else { a });
            vec![
                (*family).to_owned(),
                errors.len().to_string(),
                exact.to_string(),
                format!("{:.2} %", median(&sizes).unwrap_or(0.0)),
                format!("{largest:+.2} %"),
            ]
        })
        .collect();
    let count: usize = errors.values().map(Vec::len).sum();
    Ok(format!(
        "\n## Kernels\n\n{count} published measurements, formulas from the same documents (modelled against published; \
         the measurements that a formula was made from are among them).\n{}",
        table(
            &["family", "measurements", "exact", "median error", "largest error"],
            &rows
        )
    ))
}
