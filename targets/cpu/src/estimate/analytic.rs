//! The analytic model: cycles of every phase of a plan, in nanoseconds.
//!
//! A phase costs what its busiest worker does: micro-kernel calls, traffic per cache level weighted by how much of it
//! prefetching hides, and results that arrive late. How much of each there is follows from the plan and the machine's
//! measured levels ([`Works`]); what each costs stands in a cost table. The shape follows a formula whose weights were
//! fitted on random plans (rank correlation 0.7 to 0.75 on plans it had not seen, where repeated measurements reach 0.88).

use planner::{Plan, Refusal, Workload};
use target_api::{Estimate, Estimator, NoEstimate};

use super::constants::Constants;
use super::hardware::Hardware;
use super::works::{PhaseWork, Works};
use crate::attention::estimate as attention;
use crate::attention::problem::attends;
use crate::attributes::plan_from;
use crate::costs::{CostTable, is_shipped};
use crate::geometry::CpuPlan;

/// The analytic model of one machine.
#[derive(Debug, Clone, PartialEq)]
pub struct Analytic {
    /// What was measured.
    pub hardware: Hardware,
    /// What was fitted or assumed.
    pub constants: Constants,
    /// Prices.
    pub costs: CostTable,
}

impl Analytic {
    /// The work of each phase, in the order of execution.
    #[must_use]
    pub fn works<'a>(&self, workload: &'a Workload, plan: &'a CpuPlan) -> Vec<PhaseWork<'a>> {
        let works = Works {
            hardware: &self.hardware,
            constants: &self.constants,
        };
        works.phases(workload, plan)
    }

    /// Nanoseconds of each phase, in the order of execution, under the names that the harness prints.
    ///
    /// # Errors
    /// Where the table has no price for one: the rule `price`.
    pub fn phases(&self, workload: &Workload, plan: &CpuPlan) -> Result<Vec<(String, f64)>, Refusal> {
        let wait = if plan.threads > 1 && !plan.carry {
            self.constants.barrier_ns
        } else {
            0.0
        };
        let works = self.works(workload, plan).into_iter();
        works
            .map(|phase| {
                Ok((
                    phase.name,
                    phase.work.cycles(&self.costs)? / self.hardware.clock_ghz + wait,
                ))
            })
            .collect()
    }
}

impl Estimator for Analytic {
    fn name(&self) -> &'static str {
        "analytic"
    }

    fn about(&self) -> &'static str {
        "micro-kernel cycles by depth, traffic per measured cache level with and without prefetch, packing, reduction, \
         element-wise steps, workers"
    }

    fn is_partial(&self) -> bool {
        !is_shipped(&self.costs)
    }

    fn estimate(&self, workload: &Workload, plan: &Plan) -> Result<Estimate, NoEstimate> {
        if attends(workload) {
            return super::estimate(
                self.name(),
                "ns",
                attention::phases(workload, plan, &self.hardware, &self.constants, &self.costs),
            );
        }
        let parts = plan_from(workload, &plan.attributes, 1).and_then(|plan| self.phases(workload, &plan));
        super::estimate(self.name(), "ns", parts)
    }
}
