//! What cases are made of: the phases of their time, the attributes of their plans.

use std::collections::{BTreeMap, BTreeSet};

use planner::Value;
use serde::Serialize;

use super::columns::{Words, short};
use crate::analysis::CaseRow;

/// One phase.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PhaseColumn {
    /// Its name.
    pub name: String,
    /// Its kind.
    pub kind: String,
    /// Its median in the shown unit, one per case of the workload. The columns stand in the order of time.
    pub values: Vec<Option<f64>>,
}

/// One attribute.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct AttributeColumn {
    /// Its name.
    pub name: String,
    /// Whether its values are numbers.
    pub numeric: bool,
    /// Its values in their order (numbers by value), and the value of each case of the workload.
    pub values: Words,
}

/// Phases of all cases, each case's own order kept as far as they agree. `one` is what one of the shown unit is in the
/// objective's.
pub(crate) fn phases(cases: &[CaseRow], one: f64) -> Vec<PhaseColumn> {
    let mut columns: Vec<PhaseColumn> = Vec::new();
    for (row, case) in cases.iter().enumerate() {
        let mut last = 0;
        for phase in &case.phases {
            let place = columns.iter().position(|column| column.name == phase.name);
            let place = place.unwrap_or_else(|| {
                // Right after the one that precedes it in this case, so that the columns keep the order of time.
                let column = PhaseColumn {
                    name: phase.name.clone(),
                    kind: phase.kind.clone(),
                    values: vec![None; cases.len()],
                };
                columns.insert(last, column);
                last
            });
            columns[place].values[row] = short(Some(phase.median / one));
            last = place + 1;
        }
    }
    columns
}

/// Attributes that take at least two values among the cases, in the order of the plans.
pub(crate) fn attributes(cases: &[CaseRow]) -> Vec<AttributeColumn> {
    let mut names: Vec<&str> = Vec::new();
    let mut seen = BTreeSet::new();
    for (name, _) in cases.iter().flat_map(|case| case.attributes.iter()) {
        if seen.insert(name) {
            names.push(name);
        }
    }
    let columns = names.into_iter().map(|name| {
        let rows: Vec<Option<&Value>> = cases.iter().map(|case| case.attributes.get(name)).collect();
        let values: BTreeSet<&Value> = rows.iter().flatten().copied().collect();
        let numeric = values.iter().all(|value| value.as_float().is_some());
        let codes: BTreeMap<&Value, u32> = values.iter().copied().zip(0..).collect();
        AttributeColumn {
            name: name.to_owned(),
            numeric,
            values: Words {
                words: values.iter().map(ToString::to_string).collect(),
                codes: rows.iter().map(|row| row.map(|value| codes[value])).collect(),
            },
        }
    });
    let varies = |column: &AttributeColumn| column.values.words.len() > 1;
    columns.filter(varies).collect()
}
