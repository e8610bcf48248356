//! From a plan to the work of its phases: what the cost table prices.

use planner::{GemmExtents, Workload};

use super::constants::Constants;
use super::hardware::Hardware;
use super::kernel::Call;
use super::reuse::{LINE, LOOPS, Loop, Nest, OPERANDS, crowding, meeting};
use super::shape::{Shape, Share, busiest};
use crate::costs::Kernel;
use crate::costs::kernel::Work;
use crate::facts::segments;
use crate::geometry::{
    Activation, Activations, CpuPlan, GemmGeometry, Inside, Order, Orientation, Output, Staging, Weights,
};
use crate::problem::InputLayout;

const FLOAT: f64 = 4.0;
/// Of what fits L3 so many times, a call finds its arrays there: between two calls of a plan its control runs, whose arrays
/// take about as much, and a walk over more than two thirds of a cache finds little of itself. Fitted: with 1 and 2, kernel
/// samples of plans whose weights take 7 to 15 MB (L3: 16 MB) come out at half of what was measured.
const RETURNS: f64 = 3.0;
/// Vectors of accumulators that a core stores while it begins the next call, where the result is larger than half of L3 and
/// its lines come from DRAM. Measured on Zen 4, 4096 x 64 x 640, cycles of a call beside its bound: 3x32 (6 vectors) 10, 6x64
/// (24) 140, 12x32 (24) 172, 14x32 (28) 213.
const STORED_BESIDE: f64 = 8.0;
/// What a stream of rows at a stride out of DRAM takes of one in panels, without prefetch and with it: no stream detector
/// follows it. Measured on Zen 4, weights read once, cycles for a line: 14 to 40, half of the plans below 20; with prefetch 7
/// to 17, half below 10; panels take 7.5.
const SCATTERED: [f64; 2] = [2.7, 1.35];

/// One phase of a plan.
#[derive(Debug, Clone, PartialEq)]
pub struct PhaseWork<'a> {
    /// The name that the harness prints.
    pub name: String,
    /// The product that it belongs to.
    pub operation: &'a str,
    /// Extents of that product.
    pub extents: GemmExtents,
    /// Geometry of that product.
    pub geometry: &'a GemmGeometry,
    /// What its busiest worker does.
    pub work: Work,
}

/// What a product finds when it begins.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Surroundings {
    /// Workers.
    threads: u32,
    /// Where activations lie.
    input: InputLayout,
    /// Whether all arrays of the workload stay in L3 from call to call: nothing comes from DRAM.
    resident: bool,
    /// Whether the rows that a worker carries leave its activations in L3.
    carried: bool,
}

/// What the phases of a plan are made of, on one machine.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Works<'a> {
    /// What was measured.
    pub hardware: &'a Hardware,
    /// What bounds a step, and how workers share memory.
    pub constants: &'a Constants,
}

impl Works<'_> {
    /// The phases in the order of execution.
    #[must_use]
    pub fn phases<'a>(&self, workload: &'a Workload, plan: &'a CpuPlan) -> Vec<PhaseWork<'a>> {
        let mut phases = Vec::new();
        let resident = RETURNS * footprint(workload, plan) <= self.hardware.capacity[2];
        let mut previous: Option<&GemmGeometry> = None;
        let mut carried = false;
        for ((operation, extents), (_, geometry)) in workload.gemms().zip(&plan.gemms) {
            let around = Surroundings {
                threads: plan.threads,
                input: InputLayout::after(previous),
                resident,
                carried,
            };
            let mut push = |name: String, work: Work| {
                phases.push(PhaseWork {
                    name,
                    operation,
                    extents,
                    geometry,
                    work,
                });
            };
            if geometry.activations == Activations::Packed {
                push(format!("{operation}.pack"), self.pack(extents, around));
            }
            push(operation.to_owned(), self.gemm(extents, geometry, around));
            if geometry.staging != Staging::Streamed {
                push(format!("{operation}.reduce"), self.sum(extents, geometry, around));
            }
            let after = workload.elementwise_after(operation);
            if let (Some(Activation::Pass), Some((step, _))) = (geometry.activation, after) {
                push(step.to_owned(), self.pass(extents, around));
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

    /// Cycles that `bytes` of a linear pass over `footprint` bytes take into L1, beyond L2, and out of DRAM.
    fn linear(&self, bytes: f64, footprint: f64, around: Surroundings) -> [f64; 3] {
        let beyond = if footprint > self.hardware.capacity[1] {
            bytes * self.hardware.fill[1]
        } else {
            0.0
        };
        [bytes * self.hardware.fill[0], beyond, bytes * self.dram(around)]
    }

    fn pack(&self, extents: GemmExtents, around: Surroundings) -> Work {
        let bytes = extents.rows as f64 * extents.inner as f64 * FLOAT / f64::from(around.threads);
        let [_, l2, dram] = self.linear(2.0 * bytes, 2.0 * bytes, around);
        Work::new(Kernel::Pack, [bytes, l2, dram])
    }

    /// An element-wise step over the whole result: each element is read and written.
    fn pass(&self, extents: GemmExtents, around: Surroundings) -> Work {
        let elements = extents.rows as f64 * extents.columns as f64 / f64::from(around.threads);
        let [l1, l2, dram] = self.linear(2.0 * elements * FLOAT, elements * FLOAT, around);
        Work::new(Kernel::Gelu, [elements / self.hardware.lanes, l1, l2, dram])
    }

    /// Reading all partials, writing (and between batches reading) the result; shards are dealt whole.
    fn sum(&self, extents: GemmExtents, geometry: &GemmGeometry, around: Surroundings) -> Work {
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
        let bytes = own * (inner + 2.0 * batches - 1.0) * elements * FLOAT;
        let [l1, l2, dram] = self.linear(bytes, own * (inner + 1.0) * elements * FLOAT, around);
        let fused = geometry.activation == Some(Activation::Fused);
        let gelu = if fused {
            own * elements / self.hardware.lanes
        } else {
            0.0
        };
        let tile = f64::from(geometry.height) * f64::from(geometry.width);
        let kernel = if geometry.inner == 1 {
            Kernel::Copy
        } else {
            Kernel::Reduce
        };
        Work::new(kernel, [own * batches * elements / tile, l1, l2, dram, gelu])
    }

    fn gemm(&self, extents: GemmExtents, geometry: &GemmGeometry, around: Surroundings) -> Work {
        let hw = self.hardware;
        let shape = Shape::new(extents, geometry);
        let share = busiest(geometry, around.threads);
        let streamed = geometry.staging == Staging::Streamed;
        let calls = shape.block_rows * shape.block_columns * share.rows * share.columns * share.inner;
        let operands = operands(extents, geometry, around.input);
        let [into_l1, into_l2, into_l3]: [[f64; OPERANDS]; 3] = std::array::from_fn(|level| {
            // Workers share L3: each gets its part.
            let parts = if level == 2 { f64::from(around.threads) } else { 1.0 };
            nest(&shape, share, geometry, &operands, hw.capacity[level]).traffic(hw.capacity[level] / parts)
        });

        let segments = segments(hw.isa, geometry, around.input);
        let call = Call::of(
            geometry,
            &shape,
            segments,
            (into_l1[0] + into_l1[1]) / (calls * shape.depth),
        );
        let steps = calls * shape.depth;
        let step_cycles = steps * call.step_cycles(hw, self.constants);
        let in_place = if operands.rows_in_place { step_cycles } else { 0.0 };
        let aliased = operands.aliased_bytes(&into_l1, hw.capacity[0]) / LINE / steps;

        // Each operand's fill by how it lies: in panels, or at a stride.
        let mut l2 = [0.0; 2];
        let mut dram = [0.0; 2];
        let mut prefetched = 0.0;
        // What streams from beyond L2: out of DRAM, and in panels out of L3 what does not come from there.
        let mut stream = 0.0;
        for operand in 0..2 {
            let strided = operands.strided[operand];
            l2[usize::from(strided)] += hw.fill[1] * into_l2[operand];
            let from_dram = if operand == 0 && around.carried {
                0.0
            } else {
                into_l3[operand]
            };
            let fill = self.dram(around) * from_dram;
            let beyond_l3 = if fill > 0.0 { from_dram } else { 0.0 };
            stream += if strided {
                SCATTERED[usize::from(operand == 1 && geometry.prefetch_b)] * fill
            } else {
                fill + hw.fill[1] * (into_l2[operand] - beyond_l3).max(0.0)
            };
            if operand == 1 && geometry.prefetch_b && !strided {
                prefetched += fill;
            } else {
                dram[usize::from(strided)] += fill;
            }
        }

        let tile = call.height * call.width;
        let result = extents.rows as f64 * extents.columns as f64 * FLOAT;
        let waiting = if result > hw.capacity[2] / 2.0 {
            (tile / hw.lanes - STORED_BESIDE).max(0.0)
        } else {
            0.0
        };
        let passes = if call.adding > 0.0 { 2.0 } else { 1.0 };
        let mut late = [0.0; 2];
        if !geometry.prefetch_c {
            // Tiles that come from L3, and those of them that come from DRAM, each late by the latency.
            let beyond = (hw.latency[2] - hw.latency[1]).max(0.0);
            let from_dram = if around.resident { 0.0 } else { into_l3[2] * beyond };
            late = [into_l2[2] * hw.latency[1], from_dram].map(|cycles| cycles / (tile * FLOAT));
        }
        let tiles = shape.block_rows * shape.block_columns * share.rows * share.columns;
        let turned = if transposed(geometry) && streamed {
            tiles * tile
        } else {
            0.0
        };
        let fused = geometry.activation == Some(Activation::Fused) && streamed;
        let gelu = if fused { tiles * tile / hw.lanes } else { 0.0 };
        Work::new(
            Kernel::Gemm,
            [
                calls,
                steps,
                step_cycles,
                in_place,
                steps / f64::from(geometry.unroll),
                calls * tile / hw.lanes * (1.0 + call.adding),
                hw.fill[0] * (into_l1[0] + into_l1[1]),
                l2[0],
                l2[1],
                dram[0],
                prefetched,
                dram[1],
                passes * into_l2[2],
                call.adding * late[0],
                call.adding * late[1],
                (1.0 - call.adding) * late[0],
                (1.0 - call.adding) * late[1],
                turned,
                gelu,
                steps * call.single_vector_cycles(hw),
                steps * call.aliased_cycles(hw, self.constants, aliased),
                steps * call.streamed_cycles(hw, self.constants, stream / steps),
                calls * waiting,
            ],
        )
    }
}

/// Bytes of all arrays of a plan: input, weights, every result, the partials that lie side by side before their sum.
fn footprint(workload: &Workload, plan: &CpuPlan) -> f64 {
    let size = |a: u64, b: u64| a as f64 * b as f64 * FLOAT;
    let input = workload.gemms().next().map_or(0.0, |(_, e)| size(e.rows, e.inner));
    let products = workload.gemms().zip(&plan.gemms).map(|((_, e), (_, geometry))| {
        let partials = match geometry.staging {
            Staging::Streamed => 0,
            Staging::Complete => geometry.inner,
            Staging::Batch(n) => n.min(geometry.inner),
        };
        size(e.inner, e.columns) + (1.0 + f64::from(partials)) * size(e.rows, e.columns)
    });
    input + products.sum::<f64>()
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

impl Operands {
    /// Bytes into L1 of `capacity` bytes out of rows whose lines all meet in one of its sets.
    fn aliased_bytes(&self, into_l1: &[f64; OPERANDS], capacity: f64) -> f64 {
        let meet = meeting(self.weights_stride, capacity).all;
        let strided = self
            .strided
            .iter()
            .zip(into_l1)
            .filter(|(strided, _)| meet && **strided);
        strided.map(|(_, bytes)| bytes).sum()
    }
}

fn operands(extents: GemmExtents, geometry: &GemmGeometry, input: InputLayout) -> Operands {
    let weights = geometry.weights == Weights::RowMajor;
    let swapped = geometry.orientation == Orientation::Swapped;
    Operands {
        strided: [weights && swapped, weights && !swapped],
        rows_in_place: geometry.activations == Activations::InPlace && input == InputLayout::RowMajor,
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
