//! What enumeration and selection ask of the CPU.

use planner::{Assignment, Attributes, GemmExtents, Refusal, Rules, Space, Value, Workload};

use crate::attention::planning as attention;
use crate::attention::problem::attends;
use crate::attributes::{THREADS, gemm_from, plan_attributes, plan_from};
use crate::chain::products;
use crate::configured::Configuration;
use crate::estimate::shape::Shape;
use crate::geometry::GemmGeometry;
use crate::space::{default_plan, space};
use crate::text::{gemm_text, plan_text};

/// Bytes of a float32.
const FLOAT: f64 = 4.0;

impl Configuration {
    /// Footprints and extents of one product's blocks: the largest ones, rounded up.
    fn derived_of(&self, operation: &str, extents: GemmExtents, g: &GemmGeometry) -> Vec<(String, Value)> {
        let shape = Shape::new(extents, g);
        let (height, width) = (f64::from(g.height), f64::from(g.width));
        let depth = libm::ceil(shape.depth);
        let rows = (libm::ceil(shape.block_rows) * height).min(shape.rows);
        let columns = (libm::ceil(shape.block_columns) * width).min(shape.columns);
        let registers = self.settings.isa.needed(g.height, g.width);
        let list = [
            ("registers", registers as f64),
            ("block_rows", rows),
            ("block_columns", columns),
            ("depth", depth),
            ("vector_panel_bytes", width * depth * FLOAT),
            ("broadcast_panel_bytes", height * depth * FLOAT),
            ("vector_block_bytes", columns * depth * FLOAT),
            ("broadcast_block_bytes", rows * depth * FLOAT),
            ("result_block_bytes", rows * columns * FLOAT),
        ];
        list.into_iter()
            .map(|(name, value)| (format!("{operation}.{name}"), whole(value)))
            .collect()
    }
}

/// A whole number below 2^53.
#[expect(clippy::cast_possible_truncation, reason = "counts are whole and far below 2^53")]
pub(crate) fn whole(value: f64) -> Value {
    Value::Integer(value as i64)
}

impl Rules for Configuration {
    fn space(&self, workload: &Workload) -> Result<Space, Refusal> {
        space(workload, &self.settings)
    }

    fn defaults(&self, workload: &Workload) -> Result<Assignment, Refusal> {
        if attends(workload) {
            return attention::defaults(workload, &self.settings);
        }
        let plan = default_plan(&products(workload)?, &self.settings);
        // Workers are an option of the target, not a choice of the plan.
        let all = plan_attributes(&plan);
        Ok(all
            .iter()
            .filter(|(name, _)| *name != THREADS)
            .map(|(name, value)| (name.to_owned(), value.clone()))
            .collect())
    }

    fn text(&self, workload: &Workload, assignment: &Assignment) -> String {
        if attends(workload) {
            return attention::text(workload, assignment, self.settings.threads);
        }
        match plan_from(workload, assignment, self.settings.threads) {
            Ok(plan) => plan_text(&plan),
            Err(_) => assignment.words(None),
        }
    }

    fn operation_text(&self, workload: &Workload, operation: &str, assignment: &Assignment) -> String {
        if attends(workload) {
            return attention::operation_text(operation, assignment);
        }
        match gemm_from(operation, assignment) {
            Ok(geometry) => gemm_text(operation, &geometry),
            Err(_) => assignment.words(Some(operation)),
        }
    }

    fn derived(&self, workload: &Workload, assignment: &Assignment) -> Attributes {
        if attends(workload) {
            return attention::derived(workload, assignment, &self.settings);
        }
        let threads = (THREADS.to_owned(), Value::from(self.settings.threads));
        let gemms = workload.gemms().filter_map(|(name, extents)| {
            let geometry = gemm_from(name, assignment).ok()?;
            Some(self.derived_of(name, extents, &geometry))
        });
        gemms.flatten().chain([threads]).collect()
    }

    fn proxy(&self, workload: &Workload, operation: &str, assignment: &Assignment) -> Option<f64> {
        if attends(workload) {
            let models = (&self.analytic.hardware, &self.analytic.constants);
            return attention::proxy(workload, operation, assignment, &self.settings, models);
        }
        let extents = workload
            .gemms()
            .find(|(name, _)| *name == operation)
            .map(|(_, extents)| extents);
        let geometry = gemm_from(operation, assignment).ok()?;
        Some(self.proxy.score(extents?, &geometry))
    }
}
