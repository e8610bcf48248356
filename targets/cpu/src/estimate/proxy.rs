//! The screening proxy: one product's geometry in well under a microsecond.
//!
//! It looks at padding, the micro-kernel's efficiency at its depth, and for each operand at the smallest measured cache
//! that holds what is used again. No reuse beyond the block, no workers, nothing of neighbouring products.

use planner::{GemmExtents, Plan, Workload};
use target_api::{Estimate, Estimator, NoEstimate};

use super::constants::Constants;
use super::hardware::Hardware;
use super::kernel::Call;
use super::shape::Shape;
use crate::attention::estimate as attention;
use crate::attention::problem::attends;
use crate::attributes::plan_from;
use crate::facts::segments;
use crate::geometry::{Activation, Activations, GemmGeometry, Inside, Staging, Weights};
use crate::problem::InputLayout;

const FLOAT: f64 = 4.0;

/// The proxy for one machine.
#[derive(Debug, Clone, PartialEq)]
pub struct Proxy {
    /// What was measured.
    pub hardware: Hardware,
    /// Micro-kernel constants.
    pub constants: Constants,
}

impl Proxy {
    /// Exposed cycles per byte that is fetched again out of the smallest level that holds `footprint` bytes; what comes
    /// from L2 is part of the micro-kernel's step.
    fn rate(&self, footprint: f64, prefetched: bool) -> f64 {
        let (fill, c) = (&self.hardware.fill, &self.constants);
        let [_, l2, l3] = self.hardware.capacity;
        if footprint <= l2 {
            0.0
        } else if footprint <= l3 {
            fill[1] * c.l2_exposed
        } else {
            let dram = if prefetched { c.dram_prefetched } else { c.dram_exposed };
            fill[1] * c.l2_exposed + fill[2] * dram
        }
    }

    /// Cycles that the product would take on one core, roughly; positive and finite, smaller is better.
    #[must_use]
    pub fn score(&self, extents: GemmExtents, geometry: &GemmGeometry) -> f64 {
        let c = &self.constants;
        let shape = Shape::new(extents, geometry);
        let (height, width) = (f64::from(geometry.height), f64::from(geometry.width));
        let inner = f64::from(geometry.inner);
        let tiles = shape.row_panels * shape.column_panels;
        // Bytes of one panel of each operand, and of all panels of a block.
        let (a, b) = (height * shape.depth * FLOAT, width * shape.depth * FLOAT);
        let (a_block, b_block) = (a * shape.block_rows, b * shape.block_columns);
        let calls = tiles * inner;
        // The panel that stays is read by every call next to the one that streams, which comes from where its block
        // fits; the staying one is exchanged once per pass over the streaming block.
        let (stay, stream, streams, passes, stay_prefetched, stream_prefetched) = match geometry.inside {
            Inside::Cr => (b, a, a_block, shape.block_rows, geometry.prefetch_b, false),
            Inside::Rc => (a, b, b_block, shape.block_columns, false, geometry.prefetch_b),
        };
        let total_stay = match geometry.inside {
            Inside::Cr => shape.inner * shape.columns * FLOAT,
            Inside::Rc => shape.inner * shape.rows * FLOAT,
        };
        let l1 = self.hardware.capacity[0];
        let staying = if stay + stream <= l1 { stay / passes } else { stay };
        let streaming = if stay + streams <= l1 { 0.0 } else { stream };
        let segments = segments(self.hardware.isa, geometry, InputLayout::RowMajor);
        let call = Call::of(geometry, &shape, segments, (staying + streaming) / shape.depth);
        let mut cycles = calls * call.cycles(&self.hardware, c);
        cycles += calls * stay * self.rate(stay + stream, stay_prefetched);
        cycles += calls * stream * self.rate(streams + stay, stream_prefetched);
        cycles += calls / passes * stay * self.rate(total_stay, stay_prefetched);

        // The result passes through L2 once per inner block.
        let tile = height * width * FLOAT;
        cycles += calls * tile * c.result_cycles_per_byte * (1.0 + call.adding);
        if !geometry.prefetch_c {
            let result_block = tile * shape.block_rows * shape.block_columns;
            let level = usize::from(result_block > self.hardware.capacity[1]);
            cycles += calls * call.adding * c.result_read_exposed * self.hardware.latency[level];
        }
        if geometry.weights == Weights::RowMajor {
            cycles *= 1.4;
        }
        if geometry.activations == Activations::Packed {
            cycles += c.pack_cycles_per_byte * shape.rows.min(extents.rows as f64) * shape.inner * FLOAT;
        } else {
            cycles *= c.in_place_factor;
        }
        if geometry.staging != Staging::Streamed {
            cycles += calls * tile * self.hardware.fill[2] * c.pass_exposed;
        }
        if geometry.activation == Some(Activation::Pass) {
            cycles += 2.0 * tiles * tile * self.hardware.fill[2] * c.pass_exposed;
        }
        cycles
    }
}

impl Estimator for Proxy {
    fn name(&self) -> &'static str {
        "proxy"
    }

    fn about(&self) -> &'static str {
        "padding, micro-kernel efficiency at its depth, and footprints per measured cache level, product by product"
    }

    fn estimate(&self, workload: &Workload, plan: &Plan) -> Result<Estimate, NoEstimate> {
        if attends(workload) {
            return super::estimate(
                self.name(),
                "score",
                attention::bounds(workload, plan, &self.hardware, &self.constants),
            );
        }
        let parts = plan_from(workload, &plan.attributes, 1).map(|plan| {
            let gemms = workload.gemms().zip(&plan.gemms);
            gemms
                .map(|((name, extents), (_, geometry))| (name.to_owned(), self.score(extents, geometry)))
                .collect()
        });
        super::estimate(self.name(), "score", parts)
    }
}
