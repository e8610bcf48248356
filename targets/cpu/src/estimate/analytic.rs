//! The analytic model: cycles of every phase of a plan, in nanoseconds.
//!
//! A phase costs what its busiest worker does: micro-kernel calls, traffic per cache level weighted by how much of it
//! prefetching hides, and results that arrive late. The shape follows a formula whose weights were fitted on random
//! plans (rank correlation 0.7 to 0.75 on plans it had not seen, where repeated measurements reach 0.88).

use planner::{GemmExtents, Plan, Workload};
use target_api::{Estimate, Estimator, NoEstimate};

use super::constants::Constants;
use super::hardware::Hardware;
use super::kernel::Call;
use super::reuse::{LOOPS, Loop, Nest, OPERANDS, crowding};
use super::shape::{Shape, Share, busiest};
use crate::attention::estimate as attention;
use crate::attention::problem::attends;
use crate::attributes::plan_from;
use crate::geometry::{
    Activation, Activations, CpuPlan, GemmGeometry, Inside, Order, Orientation, Output, Staging, Weights,
};

const FLOAT: f64 = 4.0;

/// The analytic model of one machine.
#[derive(Debug, Clone, PartialEq)]
pub struct Analytic {
    /// What was measured.
    pub hardware: Hardware,
    /// What was fitted or assumed.
    pub constants: Constants,
}

/// What a product finds when it begins.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Surroundings {
    /// Workers.
    threads: u32,
    /// Whether activations lie in rows (not in panels or tiles that the product before left).
    input_rows: bool,
    /// Whether all arrays of the workload fit L3 together: nothing comes from DRAM between two calls.
    resident: bool,
    /// Whether the rows that a worker carries leave its activations in L3.
    carried: bool,
}

impl Analytic {
    /// Nanoseconds of each phase, in the order of execution, under the names that the harness prints.
    #[must_use]
    pub fn phases(&self, workload: &Workload, plan: &CpuPlan) -> Vec<(String, f64)> {
        let mut phases = Vec::new();
        let resident = footprint(workload) <= self.hardware.capacity[2];
        let mut previous: Option<&GemmGeometry> = None;
        let mut carried = false;
        for ((name, extents), (_, geometry)) in workload.gemms().zip(&plan.gemms) {
            let input_rows = previous.is_none_or(|before| before.output == Output::RowMajor);
            let around = Surroundings {
                threads: plan.threads,
                input_rows,
                resident,
                carried,
            };
            let mut push = |name: String, cycles: f64, barriers: bool| {
                let wait = if barriers && plan.threads > 1 && !plan.carry {
                    self.constants.barrier_ns
                } else {
                    0.0
                };
                phases.push((name, cycles / self.hardware.clock_ghz + wait));
            };
            if geometry.activations == Activations::Packed {
                push(format!("{name}.pack"), self.pack(extents, around), true);
            }
            push(name.to_owned(), self.compute(extents, geometry, around), true);
            if geometry.staging != Staging::Streamed {
                push(format!("{name}.reduce"), self.reduce(extents, geometry, around), true);
            }
            if let (Some(Activation::Pass), Some((step, _))) = (geometry.activation, workload.elementwise_after(name)) {
                push(step.to_owned(), self.pass(extents, around), true);
            }
            // A worker's block of rows of this result, while it is carried on.
            let rows = extents.rows as f64 / f64::from(geometry.rows);
            let block = rows * extents.columns as f64 * FLOAT * f64::from(plan.threads);
            carried = plan.carry && block <= self.hardware.capacity[2];
            previous = Some(geometry);
        }
        phases
    }

    /// Cycles per byte out of DRAM, for one of several workers.
    fn dram(&self, around: Surroundings) -> f64 {
        let sharing = 1.0 + self.constants.dram_sharing * f64::from(around.threads - 1);
        if around.resident {
            0.0
        } else {
            self.hardware.fill[2] * sharing
        }
    }

    fn pack(&self, extents: GemmExtents, around: Surroundings) -> f64 {
        let bytes = extents.rows as f64 * extents.inner as f64 * FLOAT;
        self.constants.pack_cycles_per_byte * bytes / f64::from(around.threads)
    }

    fn gelu(&self, elements: f64) -> f64 {
        self.constants.gelu_cycles_per_vector * elements / self.hardware.lanes
    }

    /// An element-wise step over the whole result: each element is read and written.
    fn pass(&self, extents: GemmExtents, around: Surroundings) -> f64 {
        let elements = extents.rows as f64 * extents.columns as f64 / f64::from(around.threads);
        let bytes = 2.0 * elements * FLOAT;
        self.gelu(elements) + bytes * (self.hardware.fill[0] + self.constants.pass_exposed * self.dram(around))
    }

    /// Reading all partials, writing (and between batches reading) the result; shards are dealt whole.
    fn reduce(&self, extents: GemmExtents, geometry: &GemmGeometry, around: Surroundings) -> f64 {
        let elements = extents.rows as f64 * extents.columns as f64;
        let shards = f64::from(geometry.rows * geometry.columns)
            * f64::from(geometry.result_rows)
            * f64::from(geometry.result_columns);
        let own = libm::ceil(shards / f64::from(around.threads)) / shards;
        let inner = f64::from(geometry.inner);
        let batches = match geometry.staging {
            Staging::Streamed | Staging::Complete => 1.0,
            Staging::Batch(n) => libm::ceil(inner / f64::from(n)),
        };
        let passes = inner + 2.0 * batches - 1.0;
        let rate = self.hardware.fill[0] + self.constants.pass_exposed * self.dram(around);
        let fused = if geometry.activation == Some(Activation::Fused) {
            self.gelu(elements)
        } else {
            0.0
        };
        own * (passes * elements * FLOAT * rate + fused)
    }

    fn compute(&self, extents: GemmExtents, geometry: &GemmGeometry, around: Surroundings) -> f64 {
        let (c, hw) = (&self.constants, &self.hardware);
        let shape = Shape::new(extents, geometry);
        let share = busiest(geometry, around.threads);
        let (height, width) = (f64::from(geometry.height), f64::from(geometry.width));
        let calls = shape.block_rows * shape.block_columns * share.rows * share.columns * share.inner;
        let streamed = geometry.staging == Staging::Streamed;
        // Streamed blocks but the first add to what is there.
        let adding = if streamed {
            1.0 - 1.0 / f64::from(geometry.inner)
        } else {
            0.0
        };
        let operands = operands(extents, geometry, around.input_rows);
        let in_place = if operands.rows_in_place { c.in_place_factor } else { 1.0 };
        let traffic: [[f64; OPERANDS]; 3] = std::array::from_fn(|level| {
            // Workers share L3: each gets its part.
            let parts = if level == 2 { f64::from(around.threads) } else { 1.0 };
            let capacity = hw.capacity[level] / parts;
            nest(&shape, share, geometry, &operands, hw.capacity[level]).traffic(capacity)
        });
        let [into_l1, into_l2, into_l3] = traffic;

        let call = Call {
            height,
            width,
            unroll: f64::from(geometry.unroll),
            depth: shape.depth,
            adding,
            bytes_per_step: (into_l1[0] + into_l1[1]) / (calls * shape.depth),
        };
        let kernel = calls * call.cycles(hw, c) * in_place;

        let exposed = |strided: bool| if strided { c.l2_exposed_strided } else { c.l2_exposed };
        let l2 = hw.fill[1] * (into_l2[0] * exposed(operands.strided[0]) + into_l2[1] * exposed(operands.strided[1]));

        let dram_a = if around.carried { 0.0 } else { into_l3[0] };
        let rate = |strided: bool, prefetched: bool| match (strided, prefetched) {
            (true, _) => c.dram_exposed_strided,
            (false, true) => c.dram_prefetched,
            (false, false) => c.dram_exposed,
        };
        let dram = self.dram(around)
            * (dram_a * rate(operands.strided[0], false) + into_l3[1] * rate(operands.strided[1], geometry.prefetch_b));
        // Prefetched bytes hide behind the arithmetic only while there is enough of it.
        let hidden = self.dram(around) * (1.0 - c.dram_prefetched) * into_l3[1];
        let beyond = if geometry.prefetch_b {
            (hidden - kernel).max(0.0)
        } else {
            0.0
        };

        let tile = height * width;
        let passes = if adding > 0.0 { 2.0 } else { 1.0 };
        let mut result = c.result_cycles_per_byte * passes * into_l2[2];
        if !geometry.prefetch_c {
            // Tiles that come from L3, and those of them that come from DRAM, each late by the latency.
            let beyond = (hw.latency[2] - hw.latency[1]).max(0.0) * c.result_dram_exposed;
            let from_dram = if around.resident { 0.0 } else { into_l3[2] * beyond };
            let late = (into_l2[2] * hw.latency[1] + from_dram) / (tile * FLOAT);
            result += late * (adding * c.result_read_exposed + (1.0 - adding) * c.result_write_exposed);
        }
        let tiles = shape.block_rows * shape.block_columns * share.rows * share.columns;
        if transposed(geometry) && streamed {
            result += tiles * tile * c.transposed_cycles_per_element;
        }
        let fused = geometry.activation == Some(Activation::Fused) && streamed;
        let gelu = if fused { self.gelu(tiles * tile) } else { 0.0 };
        kernel + l2 + dram + beyond + result + gelu
    }
}

/// Bytes of all arrays of a workload: input, weights, every result.
fn footprint(workload: &Workload) -> f64 {
    let size = |a: u64, b: u64| a as f64 * b as f64 * FLOAT;
    let input = workload.gemms().next().map_or(0.0, |(_, e)| size(e.rows, e.inner));
    input
        + workload
            .gemms()
            .map(|(_, e)| size(e.inner, e.columns) + size(e.rows, e.columns))
            .sum::<f64>()
}

/// Whether a tile turns on its way into memory.
fn transposed(geometry: &GemmGeometry) -> bool {
    matches!(
        (geometry.orientation, geometry.output),
        (Orientation::Normal, Output::Panels) | (Orientation::Swapped, Output::RowMajor)
    )
}

/// How the two operands of the micro-kernel lie in memory.
struct Operands {
    /// Whether lines of the broadcast and of the vector operand lie at a stride for each inner step.
    strided: [bool; 2],
    /// Whether activations are read row by row.
    rows_in_place: bool,
    /// Bytes between rows of the weights as given.
    weights_stride: f64,
    /// Bytes between rows of the activations as given.
    activations_stride: f64,
}

fn operands(extents: GemmExtents, geometry: &GemmGeometry, input_rows: bool) -> Operands {
    let weights = geometry.weights == Weights::RowMajor;
    let swapped = geometry.orientation == Orientation::Swapped;
    Operands {
        strided: [weights && swapped, weights && !swapped],
        rows_in_place: geometry.activations == Activations::InPlace && input_rows,
        weights_stride: extents.columns as f64 * FLOAT,
        activations_stride: extents.inner as f64 * FLOAT,
    }
}

/// The loops of one worker around the micro-kernel.
fn nest(shape: &Shape, share: Share, geometry: &GemmGeometry, operands: &Operands, capacity: f64) -> Nest {
    let (height, width) = (f64::from(geometry.height), f64::from(geometry.width));
    let streamed = geometry.staging == Staging::Streamed;
    let rows = |trips: f64| Loop {
        trips,
        moves: [true, false, true],
    };
    let columns = |trips: f64| Loop {
        trips,
        moves: [false, true, true],
    };
    // Partials of their own: the result moves on with the inner block.
    let inner = |trips: f64| Loop {
        trips,
        moves: [true, true, !streamed],
    };
    let (in_rows, in_columns) = (rows(shape.block_rows), columns(shape.block_columns));
    let (r, c, k) = (rows(share.rows), columns(share.columns), inner(share.inner));
    let [first, second] = match geometry.inside {
        Inside::Cr => [in_rows, in_columns],
        Inside::Rc => [in_columns, in_rows],
    };
    let [slow, middle, fast] = match geometry.order {
        Order::Rkc => [r, k, c],
        Order::Rck => [r, c, k],
        Order::Krc => [k, r, c],
        Order::Kcr => [k, c, r],
        Order::Crk => [c, r, k],
        Order::Ckr => [c, k, r],
    };
    let loops = [first, second, fast, middle, slow];
    // Panels and steps that the sub-nest of so many loops spans along each axis.
    let mut span = [height * FLOAT, width * FLOAT, shape.depth * FLOAT];
    let crowding = std::array::from_fn::<_, { LOOPS + 1 }, _>(|level| {
        if level > 0 {
            let own = &loops[level - 1];
            match own.moves {
                [true, false, _] => span[0] *= own.trips,
                [false, true, _] => span[1] *= own.trips,
                _ => span[2] *= own.trips,
            }
        }
        let [row_bytes, column_bytes, inner_bytes] = span;
        let of = |strided: bool, bytes: f64| {
            if strided {
                crowding(operands.weights_stride, bytes, capacity)
            } else {
                1.0
            }
        };
        let a = if operands.rows_in_place && geometry.orientation == Orientation::Normal {
            crowding(operands.activations_stride, inner_bytes, capacity)
        } else {
            of(operands.strided[0], row_bytes)
        };
        [a, of(operands.strided[1], column_bytes), 1.0]
    });
    let depth = shape.depth * FLOAT;
    Nest {
        call: [height * depth, width * depth, height * width * FLOAT],
        loops,
        crowding,
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

    fn estimate(&self, workload: &Workload, plan: &Plan) -> Result<Estimate, NoEstimate> {
        if attends(workload) {
            return super::estimate(
                self.name(),
                "ns",
                attention::phases(workload, plan, &self.hardware, &self.constants),
            );
        }
        let parts = plan_from(workload, &plan.attributes, 1).map(|plan| self.phases(workload, &plan));
        super::estimate(self.name(), "ns", parts)
    }
}
