//! The estimates of moment `plan` as other crates see them.

use planner::{Plan, Workload};
use target_api::{Estimate, Estimator, Moment, NoEstimate};

use super::{compact, expanded};
use crate::attributes;
use crate::costs::CostTable;
use crate::mapping;
use crate::program::{Program, unplaced};
use crate::traffic::phases;
use crate::work::segments;

/// The compact estimate with a cost table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CompactModel {
    /// Its prices.
    pub costs: CostTable,
}

/// The expanded estimate with a cost table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExpandedModel {
    /// Its prices.
    pub costs: CostTable,
    /// Whether the sends of a pair of tiles are summed, as the planner of the sweep did.
    pub shared: bool,
}

fn estimate(name: &str, parts: &[(&str, usize)]) -> Estimate {
    let parts: Vec<(String, f64)> = parts
        .iter()
        .map(|(part, cycles)| ((*part).to_owned(), *cycles as f64))
        .collect();
    Estimate {
        name: name.to_owned(),
        value: parts.iter().map(|(_, cycles)| cycles).sum(),
        unit: "cycles".to_owned(),
        moment: Moment::Plan,
        parts,
    }
}

impl Estimator for CompactModel {
    fn name(&self) -> &'static str {
        "compact"
    }

    fn about(&self) -> &'static str {
        "one step after another, each with the largest local shape; exchange by bytes and assumed fragments"
    }

    fn is_partial(&self) -> bool {
        !self.costs.is_builtin()
    }

    fn estimate(&self, workload: &Workload, plan: &Plan) -> Result<Estimate, NoEstimate> {
        let typed = attributes::plan(workload, &plan.attributes)?;
        let products = unplaced(workload, &typed.geometries)?;
        let c = compact(&products, &self.costs)?;
        Ok(estimate(
            self.name(),
            &[
                ("exchange", c.exchange),
                ("copies", c.copies),
                ("gemm", c.gemm),
                ("reduction", c.reduction),
                ("elementwise", c.elementwise),
            ],
        ))
    }
}

impl Estimator for ExpandedModel {
    fn name(&self) -> &'static str {
        if self.shared { "expanded-shared" } else { "expanded" }
    }

    fn about(&self) -> &'static str {
        "all work of all tiles with a barrier at every phase; a plan that can't be expanded has the compact estimate"
    }

    fn is_partial(&self) -> bool {
        !self.costs.is_builtin()
    }

    fn estimate(&self, workload: &Workload, plan: &Plan) -> Result<Estimate, NoEstimate> {
        let program = attributes::plan(workload, &plan.attributes).and_then(|typed| {
            let mapping = mapping::parse(&typed.mapping).unwrap_or_default();
            Program::new(workload, &typed.geometries, mapping)
        });
        let Ok(program) = program else {
            let fallback = CompactModel {
                costs: self.costs.clone(),
            }
            .estimate(workload, plan)?;
            let parts = vec![("compact".to_owned(), fallback.value)];
            return Ok(Estimate {
                name: self.name().to_owned(),
                parts,
                ..fallback
            });
        };
        let e = expanded(&phases(&program), &segments(&program), &self.costs, self.shared)?;
        Ok(estimate(
            self.name(),
            &[("exchange", e.exchange.iter().sum()), ("work", e.work.iter().sum())],
        ))
    }
}
