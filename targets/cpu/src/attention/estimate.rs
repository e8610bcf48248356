//! What an attention plan will cost: a roofline for screening, and a model of every phase.

use planner::{Plan, Refusal, Workload};

use super::attributes::plan_from;
use super::facts::{Context, Facts};
use super::geometry::{AttentionGeometry, Exponential, Inside, Layout, Maximum, Merge, Packing, Scores, Split};
use super::problem::{Extents, attention};
use crate::estimate::kernel::Call;
use crate::estimate::{Constants, Hardware};
use crate::geometry::Deal;
use crate::isa::Isa;

const FLOAT: f64 = 4.0;
/// Bytes of a cache line: what a strided step brings in, however little it uses.
const LINE: f64 = 64.0;
/// Cycles per vector of weights beside the polynomial: load, subtract, clamp, round, shift, add up, store. Counted
/// from the instructions, not fitted.
const WEIGHT_CYCLES: f64 = 3.0;
/// Cycles per vector and degree of the polynomial: one multiply-add, half of it hidden.
const DEGREE_CYCLES: f64 = 0.5;
/// Cycles per vector of a pass for the maximum: one load, two per cycle, and the latency of a running maximum.
const MAXIMUM_CYCLES: f64 = 1.0;
/// Cycles per vector that turns on its way into panels or rows. Assumed: a dozen shuffles for eight vectors, loads, stores.
const TURN_CYCLES: f64 = 5.0;

/// Cycles of each phase of one worker, by the harness's names without the operation.
type Phases = Vec<(&'static str, f64)>;

/// Instruction set with so many lanes: facts need one to count vectors.
fn isa_of(hardware: &Hardware) -> Isa {
    let fits = |isa: &Isa| (f64::from(isa.lanes()) - hardware.lanes).abs() < 0.5;
    Isa::ALL.into_iter().find(fits).unwrap_or(Isa::Plain)
}

/// Share of all query-key pairs that the busiest worker computes, padding of panels and tiles included, times all of them.
pub(super) fn busiest_pairs(facts: &Facts<'_>) -> f64 {
    let Context {
        threads,
        extents: e,
        geometry: g,
        ..
    } = facts.context;
    let splits = if g.merge == Merge::Complete { g.key_splits } else { 1 };
    let per_block: Vec<f64> = (0..g.query_blocks)
        .flat_map(|block| (0..splits).map(move |split| (block, split)))
        .map(|(block, split)| pairs_of(facts, block, split, splits))
        .collect();
    let threads = u64::from(threads.max(1));
    let mut load = vec![0.0; usize::try_from(threads).unwrap_or(1)];
    let heads = u64::from(e.heads);
    let blocks = per_block.len() as u64;
    for t in 0..facts.tasks {
        let own = match g.split {
            Split::Heads => t % blocks,
            // Splits of one block stay together, heads between blocks.
            Split::Queries => t / u64::from(splits) / heads * u64::from(splits) + t % u64::from(splits),
        };
        let worker = match g.deal {
            Deal::Contiguous => ((t + 1) * threads - 1) / facts.tasks,
            Deal::RoundRobin => t % threads,
        };
        let pairs = usize::try_from(own).ok().and_then(|at| per_block.get(at));
        if let Some(load) = usize::try_from(worker).ok().and_then(|at| load.get_mut(at)) {
            *load += pairs.copied().unwrap_or_default();
        }
    }
    load.into_iter().fold(0.0, f64::max)
}

/// Query-key pairs of one block of queries and one split (of `splits`) of the keys, whole panels.
fn pairs_of(facts: &Facts<'_>, block: u32, split: u32, splits: u32) -> f64 {
    let g = facts.context.geometry;
    let at = |parts: u32| facts.key_start[parts as usize];
    let step = g.key_splits / splits * g.key_blocks;
    let (first, last) = (at(split * step), at((split + 1) * step));
    let panels = facts.query_start[block as usize]..facts.query_start[block as usize + 1];
    let width = g.query_panel;
    let seen = |panel: u32| {
        let end = if facts.context.extents.causal {
            last.min((panel + 1) * width)
        } else {
            last
        };
        f64::from(end.saturating_sub(first)) * f64::from(width)
    };
    panels.map(seen).sum()
}

/// The larger of what multiply-adds and what fills of L1 and L2 take, and the softmax: cycles of the busiest worker.
#[must_use]
pub fn roofline(
    extents: Extents,
    geometry: &AttentionGeometry,
    threads: u32,
    hardware: &Hardware,
    constants: &Constants,
) -> Phases {
    let (e, g) = (extents, geometry);
    let tasks = f64::from(e.heads) * f64::from(g.query_blocks);
    let splits = if g.merge == Merge::Complete {
        f64::from(g.key_splits)
    } else {
        1.0
    };
    let threads = f64::from(threads.max(1));
    let share = libm::ceil(tasks * splits / threads) / (tasks * splits);
    let panel = f64::from(g.query_panel);
    let padded = libm::ceil(f64::from(e.queries) / panel) * panel / f64::from(e.queries);
    let pairs = f64::from(e.heads) * e.visible() * padded * share;
    let (width, value_width) = (f64::from(e.width), f64::from(e.value_width));
    let vectors = panel / hardware.lanes;
    // A kernel does at most what its loads allow: so many per multiply-add.
    let efficiency = |height: u32| {
        let rows = f64::from(height);
        let loads = (rows + vectors) / (rows * vectors) / constants.loads_per_cycle;
        libm::fmax(1.0 / hardware.fma_per_cycle, loads)
    };
    let arithmetic =
        pairs / hardware.lanes * (width * efficiency(g.key_height) + value_width * efficiency(g.value_height));
    // Keys and values pass through L1 once for each panel of queries, the kept scores twice more where they exceed it.
    let keys = f64::from(e.keys) / f64::from(g.key_splits);
    let kept = if g.scores == Scores::Online {
        keys / f64::from(g.key_blocks)
    } else {
        keys
    };
    let streamed = (width + value_width) * FLOAT / panel;
    let spilled = if kept * panel * FLOAT > hardware.capacity[0] {
        3.0 * FLOAT
    } else {
        0.0
    };
    let mut bytes = streamed + spilled;
    let block = kept * panel * FLOAT * libm::ceil(f64::from(e.queries) / panel / f64::from(g.query_blocks));
    if block > hardware.capacity[1] {
        bytes += 3.0 * FLOAT;
    }
    let fills = pairs * bytes * hardware.fill[0];
    vec![
        ("products", libm::fmax(arithmetic, fills)),
        ("softmax", pairs / hardware.lanes * softmax_cycles(g)),
    ]
}

fn softmax_cycles(g: &AttentionGeometry) -> f64 {
    let degree = match g.exponential {
        Exponential::Degree4 => 4.0,
        Exponential::Degree5 => 5.0,
        Exponential::Degree6 => 6.0,
    };
    let maximum = if g.maximum == Maximum::Pass {
        MAXIMUM_CYCLES
    } else {
        0.0
    };
    WEIGHT_CYCLES + DEGREE_CYCLES * degree + maximum
}

/// Cycles of every phase of the busiest worker.
#[must_use]
pub fn model(context: Context<'_>, hardware: &Hardware, constants: &Constants) -> Phases {
    let facts = Facts::new(context);
    let pairs = busiest_pairs(&facts);
    let model = Model {
        facts,
        pairs,
        hardware,
        constants,
    };
    let Extents { width, value_width, .. } = context.extents;
    let key_share = f64::from(width) / f64::from(width + value_width);
    let again = model.read_again();
    let mut phases = vec![
        ("pack", model.pack()),
        ("scores", model.scores() + again * key_share),
        ("softmax", model.softmax()),
        ("values", model.values() + again * (1.0 - key_share)),
        (
            "finish",
            model.rows() * f64::from(value_width) * TURN_CYCLES / hardware.lanes,
        ),
    ];
    if context.geometry.key_splits > 1 {
        phases.push(("merge", model.merge()));
    }
    phases.push(("wait", model.wait()));
    phases
}

/// What the phases are computed from.
struct Model<'a> {
    facts: Facts<'a>,
    /// Query-key pairs of the busiest worker.
    pairs: f64,
    hardware: &'a Hardware,
    constants: &'a Constants,
}

impl Model<'_> {
    fn geometry(&self) -> &AttentionGeometry {
        self.facts.context.geometry
    }

    fn panel(&self) -> f64 {
        f64::from(self.geometry().query_panel)
    }

    /// Bytes of one panel's kept scores.
    fn scores_panel(&self) -> f64 {
        f64::from(self.facts.kept_keys()) * self.panel() * FLOAT
    }

    /// Cycles for so many bytes of scores, where those of a block of queries exceed L2.
    fn beyond_l2(&self, bytes: f64) -> f64 {
        let block = self.scores_panel() * f64::from(self.facts.most_panels());
        if block > self.hardware.capacity[1] {
            bytes * self.hardware.fill[1] * self.constants.l2_exposed
        } else {
            0.0
        }
    }

    fn call(&self, height: u32, depth: f64, adding: f64, bytes_per_step: f64) -> f64 {
        let call = Call {
            height: f64::from(height),
            width: self.panel(),
            unroll: f64::from(self.geometry().unroll),
            depth,
            adding,
            bytes_per_step,
        };
        call.cycles(self.hardware, self.constants)
    }

    /// Keys stream past a panel of queries that stays, or the reverse.
    fn scores(&self) -> f64 {
        let (e, g) = (self.facts.context.extents, self.geometry());
        let (width, panel, height) = (f64::from(e.width), self.panel(), f64::from(g.key_height));
        let l1 = self.hardware.capacity[0];
        let keys = f64::from(self.facts.most_keys());
        let row = if g.keys == Layout::Transposed {
            LINE
        } else {
            height * FLOAT
        };
        let (staying, streaming, step) = match g.inside {
            Inside::Qk => (panel, keys, row),
            Inside::Kq => (height, f64::from(self.facts.most_panels()) * panel, panel * FLOAT),
        };
        let from_beyond = if (staying + streaming) * width * FLOAT > l1 {
            step
        } else {
            0.0
        };
        let mut call = self.call(g.key_height, width, 0.0, from_beyond);
        if self.scores_panel() > l1 / 2.0 {
            call += height * panel * FLOAT * self.constants.result_cycles_per_byte;
        }
        self.pairs / (panel * height) * call + self.beyond_l2(self.pairs * FLOAT)
    }

    /// A panel of weights stays while columns of values stream, or the reverse. A last tile of fewer rows takes as long as
    /// a whole one.
    fn values(&self) -> f64 {
        let (e, g) = (self.facts.context.extents, self.geometry());
        let l1 = self.hardware.capacity[0];
        let keys = f64::from(self.facts.most_keys());
        let weights = keys * self.panel() * FLOAT;
        let strip = if g.values == Layout::RowMajor {
            LINE / 2.0
        } else {
            f64::from(g.value_height) * FLOAT
        };
        let mut bytes = 0.0;
        if weights + keys * f64::from(e.value_width) * FLOAT > l1 {
            bytes += strip;
        }
        if g.inside == Inside::Kq || weights > l1 / 2.0 {
            bytes += self.panel() * FLOAT;
        }
        let adding = 1.0 - 1.0 / f64::from(g.key_blocks);
        let calls = self.pairs / (self.panel() * keys) * f64::from(self.facts.value_tiles);
        calls * self.call(g.value_height, keys, adding, bytes) + self.beyond_l2(self.pairs * FLOAT)
    }

    fn softmax(&self) -> f64 {
        let bytes = 2.0 * self.pairs * FLOAT;
        let own = self.pairs / self.hardware.lanes * softmax_cycles(self.geometry());
        let from_l2 = if self.scores_panel() > self.hardware.capacity[0] / 2.0 {
            bytes * self.hardware.fill[0] * self.constants.l2_exposed
        } else {
            0.0
        };
        own + from_l2 + self.beyond_l2(bytes)
    }

    fn read_again(&self) -> f64 {
        read_again_bytes(&self.facts, self.pairs, self.hardware) * self.hardware.fill[1] * self.constants.l2_exposed
    }

    /// Query rows of the busiest worker; a causal row sees half of the keys.
    fn rows(&self) -> f64 {
        let e = self.facts.context.extents;
        let all = f64::from(e.heads) * f64::from(e.queries);
        all * self.pairs / (f64::from(e.heads) * e.visible())
    }

    /// Queries of every task, keys and values of every head that the worker packs.
    fn pack(&self) -> f64 {
        let (e, g) = (self.facts.context.extents, self.geometry());
        let again = if g.merge == Merge::Complete {
            f64::from(g.key_splits)
        } else {
            1.0
        };
        let queries = self.rows() * f64::from(e.width) * TURN_CYCLES / self.hardware.lanes * again;
        let heads = match (g.packing, g.split) {
            // Each worker comes to every head.
            (Packing::Own, Split::Queries) => f64::from(e.kv_heads),
            _ => libm::ceil(f64::from(e.kv_heads) / f64::from(self.facts.context.threads.max(1))),
        };
        queries + heads * self.facts.packed_head() as f64 * FLOAT * self.constants.pack_cycles_per_byte
    }

    fn merge(&self) -> f64 {
        let (e, g) = (self.facts.context.extents, self.geometry());
        let states = f64::from(g.key_splits - 1) * self.rows();
        states * f64::from(e.value_width) * 2.0 / self.hardware.lanes
    }

    fn wait(&self) -> f64 {
        let g = self.geometry();
        let ahead = g.packs() && g.packing == Packing::Ahead;
        let barriers = f64::from(u8::from(g.merge == Merge::Complete)) + f64::from(u8::from(ahead));
        if self.facts.context.threads > 1 {
            barriers * self.constants.barrier_ns * self.hardware.clock_ghz
        } else {
            0.0
        }
    }
}

/// Bytes of keys and values that pass once for each block of queries, from L3 where they and the scores exceed L2.
pub(super) fn read_again_bytes(facts: &Facts<'_>, pairs: f64, hardware: &Hardware) -> f64 {
    let (e, panel) = (facts.context.extents, f64::from(facts.context.geometry.query_panel));
    let panels = f64::from(facts.most_panels());
    let head = f64::from(e.keys) * f64::from(e.width + e.value_width) * FLOAT;
    let scores = f64::from(facts.kept_keys()) * panel * FLOAT * panels;
    if head + scores <= hardware.capacity[1] {
        return 0.0;
    }
    pairs / (f64::from(e.keys) * panel * panels) * head
}

/// Parts of the screening proxy.
pub(crate) fn bounds(
    workload: &Workload,
    plan: &Plan,
    hardware: &Hardware,
    constants: &Constants,
) -> Result<Vec<(String, f64)>, Refusal> {
    let own = attention(workload)?;
    let typed = plan_from(&own.name, &plan.attributes, 1)?;
    let parts = roofline(own.extents, &typed.geometry, typed.threads, hardware, constants);
    Ok(parts
        .into_iter()
        .map(|(name, cycles)| (name.to_owned(), cycles))
        .collect())
}

/// Parts of the analytic model in nanoseconds, under the names that the harness prints.
pub(crate) fn phases(
    workload: &Workload,
    plan: &Plan,
    hardware: &Hardware,
    constants: &Constants,
) -> Result<Vec<(String, f64)>, Refusal> {
    let own = attention(workload)?;
    let typed = plan_from(&own.name, &plan.attributes, 1)?;
    let context = Context {
        isa: isa_of(hardware),
        threads: typed.threads,
        extents: own.extents,
        geometry: &typed.geometry,
    };
    let named = |(name, cycles): (&'static str, f64)| {
        let name = if name == "wait" {
            name.to_owned()
        } else {
            format!("{}.{name}", own.name)
        };
        (name, cycles / hardware.clock_ghz)
    };
    Ok(model(context, hardware, constants).into_iter().map(named).collect())
}
