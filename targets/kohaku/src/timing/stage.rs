//! Cycles of one stage.

use super::deal::busiest;
use crate::compile::{Compiled, Fused, grid};
use crate::layout::PAD;
use crate::machine::{BATCH_STRIDE, BLOCK, GROUP, LANES, Prices};
use crate::program::{Conv, Gemm, Lane, Vector, Work};

/// Which units a stage runs on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Unit {
    /// Matrix clusters.
    Cluster,
    /// Vector cores.
    Core,
}

/// What one stage takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StageTime {
    /// On which units.
    pub unit: Unit,
    /// Cycles of the busiest unit.
    pub cycles: usize,
    /// Instances.
    pub instances: usize,
    /// Cycles that would be hidden if fills ran beside products: all fills over the units in use.
    pub fills: usize,
    /// Flits to clusters; those to vector cores are not modelled here.
    pub flits: usize,
}

/// Cycles and flits of one instance, and how many of the cycles are fills.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Instance {
    /// Cycles.
    pub cycles: usize,
    /// Of them, fills.
    pub fills: usize,
    /// Flits.
    pub flits: usize,
}

/// An instance of a product: per step two fills of 8 cycles per entry and `gm gn nk` cycles of products, three flits;
/// a drain of `gm gn` cycles and one flit.
#[must_use]
pub fn gemm_instance(gemm: &Gemm) -> Instance {
    let (gm, gn) = gemm.tile;
    let chunks: usize = gemm
        .terms
        .iter()
        .map(|term| term.inner.div_ceil(BLOCK).div_ceil(gemm.nk))
        .sum();
    steps(chunks, (gm, gn), gemm.nk)
}

fn steps(count: usize, (gm, gn): (usize, usize), nk: usize) -> Instance {
    let fills = 8 * nk * (gm + gn);
    Instance {
        cycles: count * (fills + gm * gn * nk) + gm * gn,
        fills: count * fills,
        flits: 3 * count + 1,
    }
}

/// An instance of a convolution, one step per tap and block of input channels; and how many there are.
#[must_use]
pub fn conv_instance(conv: &Conv) -> (Instance, usize) {
    let [height, width, channels] = conv.plane;
    let (hs, ws) = (height.div_ceil(conv.step), width.div_ceil(conv.step));
    let groups = ((hs - 1) * (ws + 2 * PAD) + ws).div_ceil(GROUP);
    let instances = groups.div_ceil(conv.tile.0) * conv.channels.div_ceil(GROUP).div_ceil(conv.tile.1);
    let count = conv.taps.offsets().len() * channels.div_ceil(BLOCK);
    (steps(count, conv.tile, 1), instances)
}

/// The time of stage `at`.
#[must_use]
pub fn stage_time(compiled: &Compiled, at: usize, prices: Prices) -> StageTime {
    match &compiled.program.stages[at].work {
        Work::Gemm(gemm) => {
            let (gi, gj) = grid(gemm.rows, gemm.columns, gemm.tile);
            let mut time = clusters(gemm_instance(gemm), gi * gj * gemm.batch, compiled.machine.clusters);
            if let Some(epilogue) = &gemm.epilogue {
                // The busiest unit of either kind decides.
                let cost = fused(Lane::new(&epilogue.value).operations(), gemm.tile);
                time.cycles = time
                    .cycles
                    .max(busiest(&vec![cost; time.instances], compiled.machine.cores));
            }
            time
        }
        Work::Conv(conv) => {
            let (instance, instances) = conv_instance(conv);
            clusters(instance, instances, compiled.machine.clusters)
        }
        Work::Vector(vector) => {
            let single = vector.single(&compiled.program);
            let costs = vector_instances(vector, single, &compiled.vectors[at], prices);
            StageTime {
                unit: Unit::Core,
                cycles: busiest(&costs, compiled.machine.cores),
                instances: costs.len(),
                fills: 0,
                flits: 0,
            }
        }
    }
}

fn clusters(instance: Instance, instances: usize, units: usize) -> StageTime {
    let live = instances.min(units).max(1);
    StageTime {
        unit: Unit::Cluster,
        cycles: instances.div_ceil(live) * instance.cycles,
        instances,
        fills: instances * instance.fills / live,
        flits: instances * instance.flits,
    }
}

/// A fused epilogue over one tile: `u max(1, S) + u`.
fn fused(operations: usize, (gm, gn): (usize, usize)) -> usize {
    let u = (gm * gn * 16).div_ceil(LANES);
    u * operations + u
}

/// Cycles of every instance: parts of each batch element, or all of it where that is `single`.
fn vector_instances(vector: &Vector, single: bool, programs: &[Fused], prices: Prices) -> Vec<usize> {
    let elements = (vector.rows * vector.columns).next_multiple_of(if single { 1 } else { BATCH_STRIDE });
    let part = vector.part.max(1);
    let rate: usize = programs.iter().map(Fused::rate).sum();
    let cost = |span: usize| span.div_ceil(LANES) * rate;
    let one: Vec<usize> = if single {
        let span = match prices {
            Prices::Published => elements.min(part),
            Prices::RealSpan => elements,
        };
        vec![cost(span)]
    } else {
        (0..elements)
            .step_by(part)
            .map(|start| cost(part.min(elements - start)))
            .collect()
    };
    one.repeat(vector.batch)
}
