//! Estimates of moment `plan`.

use planner::{Plan, Workload};
use target_api::{Estimate, Estimator, Limit, Moment, NoEstimate, Quantity};

use crate::compile::compile;
use crate::configured::typed;
use crate::machine::{CLUSTER_MACS, Machine, Prices};
use crate::timing::timing;
use crate::work::program;

/// The sum of stages and conversions in one price revision.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Priced {
    /// The machine.
    pub machine: Machine,
    /// The revision.
    pub prices: Prices,
}

/// Multiplications over the rate of all clusters: what no plan can beat.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bound {
    /// The machine.
    pub machine: Machine,
}

fn estimate(name: &str, parts: &[(&str, usize)], value: f64) -> Estimate {
    Estimate {
        name: name.to_owned(),
        value,
        unit: "cycles".to_owned(),
        moment: Moment::Plan,
        parts: parts
            .iter()
            .map(|(part, cycles)| ((*part).to_owned(), *cycles as f64))
            .collect(),
    }
}

impl Estimator for Priced {
    fn name(&self) -> &'static str {
        self.prices.word()
    }

    fn about(&self) -> &'static str {
        match self.prices {
            Prices::Published => {
                "the published formula: a pass that folds rows is priced as one part, conversions run on one core"
            }
            Prices::RealSpan => "the same sum at the elements that every pass really covers",
        }
    }

    /// The compiler refuses some plans: they have no price.
    fn is_partial(&self) -> bool {
        true
    }

    fn estimate(&self, workload: &Workload, plan: &Plan) -> Result<Estimate, NoEstimate> {
        let plans = typed(workload, &plan.attributes)?;
        let compiled = compile(program(workload, &plans)?, &self.machine)?;
        let t = timing(&compiled, self.prices);
        let parts = [
            ("clusters", t.matrix()),
            ("cores", t.vector()),
            ("conversions", t.conversion()),
        ];
        Ok(estimate(self.name(), &parts, t.total() as f64))
    }
}

impl Estimator for Bound {
    fn name(&self) -> &'static str {
        "arithmetic"
    }

    fn about(&self) -> &'static str {
        "multiplications of the workload that no mask hides over 512 per cycle and cluster: a lower bound"
    }

    fn estimate(&self, workload: &Workload, _: &Plan) -> Result<Estimate, NoEstimate> {
        let limit = self.limit(workload);
        Ok(estimate(self.name(), &[], limit.amount / limit.rate))
    }
}

impl Bound {
    /// The same as amount and rate, in operations per cycle.
    pub(crate) fn limit(&self, workload: &Workload) -> Limit {
        let clusters = self.machine.clusters;
        let each = 2 * CLUSTER_MACS;
        Limit {
            resource: "operations".to_owned(),
            quantity: Quantity::Operations,
            amount: workload.least_flops() as f64,
            rate: (each * clusters) as f64,
            label: "published",
            about: format!("{clusters} clusters, each {each} FLOP in a cycle"),
        }
    }
}
