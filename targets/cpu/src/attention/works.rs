//! From an attention plan to the work of its phases: what the cost table prices.

use super::estimate::degree;
use super::facts::{Context, Facts};
use super::geometry::{AttentionGeometry, Inside, Layout, Maximum, Merge, Packing, Split};
use crate::costs::Kernel;
use crate::costs::kernel::Work;
use crate::estimate::kernel::Call;
use crate::estimate::{Constants, Hardware};
use crate::geometry::Deal;

const FLOAT: f64 = 4.0;
/// Bytes of a cache line: what a strided step brings in, however little it uses.
const LINE: f64 = 64.0;

/// The work of every phase of the busiest worker, by the harness's names without the operation.
#[must_use]
pub fn works(context: Context<'_>, hardware: &Hardware, constants: &Constants) -> Vec<(&'static str, Work)> {
    let facts = Facts::new(context);
    let pairs = busiest_pairs(&facts);
    let model = Model {
        facts,
        pairs,
        hardware,
        constants,
    };
    let mut works = vec![
        ("pack", model.pack()),
        ("scores", model.scores()),
        ("softmax", model.softmax()),
        ("values", model.values()),
        ("finish", model.finish()),
    ];
    if context.geometry.key_splits > 1 {
        works.push(("merge", model.merge()));
    }
    works
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

    /// Cycles that so many bytes of scores take into L2, where those of a block of queries exceed it.
    fn beyond_l2(&self, bytes: f64) -> f64 {
        let block = self.scores_panel() * f64::from(self.facts.most_panels());
        if block > self.hardware.capacity[1] {
            bytes * self.hardware.fill[1]
        } else {
            0.0
        }
    }

    /// Cycles that so many bytes take out of DRAM; none where all operands and the result fit L3 together.
    fn dram(&self, bytes: f64) -> f64 {
        let e = self.facts.context.extents;
        let of = |heads: u32, rows: u32, width: u32| f64::from(heads) * f64::from(rows) * f64::from(width) * FLOAT;
        let all = of(e.heads, e.queries, e.width + e.value_width) + of(e.kv_heads, e.keys, e.width + e.value_width);
        if all <= self.hardware.capacity[2] {
            return 0.0;
        }
        let sharing = 1.0 + self.constants.dram_sharing * f64::from(self.facts.context.threads.max(1) - 1);
        bytes * self.hardware.fill[2] * sharing
    }

    /// Calls of one of both kernels: maxima and bytes of scores for each vector of their tiles, and what they bring into L2 and
    /// out of DRAM, in cycles.
    fn product(&self, kernel: Kernel, calls: f64, call: Call, of_tile: [f64; 2], fills: [f64; 2]) -> Work {
        let ([maxima, spilled], [l2, dram]) = (of_tile, fills);
        let steps = calls * call.depth;
        let tile = call.height * call.width / self.hardware.lanes;
        Work::new(
            kernel,
            [
                calls,
                steps,
                steps * call.step_cycles(self.hardware, self.constants),
                steps / call.unroll,
                calls * tile * (1.0 + call.adding),
                maxima * calls * tile,
                spilled * calls * tile,
                l2,
                dram,
                steps * call.single_vector_cycles(self.hardware),
            ],
        )
    }

    /// Keys stream past a panel of queries that stays, or the reverse.
    fn scores(&self) -> Work {
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
        let call = Call {
            height,
            width: panel,
            unroll: f64::from(g.unroll),
            depth: width,
            segments: 1.0,
            adding: 0.0,
            bytes_per_step: if (staying + streaming) * width * FLOAT > l1 {
                step
            } else {
                0.0
            },
        };
        let maxima = f64::from(u8::from(g.maximum == Maximum::Tile));
        let spilled = if self.scores_panel() > l1 / 2.0 {
            FLOAT * self.hardware.lanes
        } else {
            0.0
        };
        let again = self.read_again() * self.key_share();
        let first = if g.keys == Layout::RowMajor {
            self.heads() * f64::from(e.keys) * width * FLOAT
        } else {
            0.0
        };
        self.product(
            Kernel::AttentionScores,
            self.pairs / (panel * height),
            call,
            [maxima, spilled],
            [self.beyond_l2(self.pairs * FLOAT) + again, self.dram(first)],
        )
    }

    /// A panel of weights stays while columns of values stream, or the reverse. A last tile of fewer rows takes as long as
    /// a whole one.
    fn values(&self) -> Work {
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
        let call = Call {
            height: f64::from(g.value_height),
            width: self.panel(),
            unroll: f64::from(g.unroll),
            depth: keys,
            segments: 1.0,
            adding: 1.0 - 1.0 / f64::from(g.key_blocks),
            bytes_per_step: bytes,
        };
        let again = self.read_again() * (1.0 - self.key_share());
        let first = if g.values == Layout::RowMajor {
            self.heads() * f64::from(e.keys) * f64::from(e.value_width) * FLOAT
        } else {
            0.0
        };
        self.product(
            Kernel::AttentionValues,
            self.pairs / (self.panel() * keys) * f64::from(self.facts.value_tiles),
            call,
            [0.0; 2],
            [self.beyond_l2(self.pairs * FLOAT) + again, self.dram(first)],
        )
    }

    fn softmax(&self) -> Work {
        let g = self.geometry();
        let bytes = 2.0 * self.pairs * FLOAT;
        let vectors = self.pairs / self.hardware.lanes;
        let rows = self.pairs / self.panel();
        let pass = f64::from(u8::from(g.maximum == Maximum::Pass));
        let from_l2 = if self.scores_panel() > self.hardware.capacity[0] / 2.0 {
            bytes * self.hardware.fill[0]
        } else {
            0.0
        };
        Work::new(
            Kernel::AttentionSoftmax,
            [
                rows,
                vectors,
                vectors * degree(g.exponential),
                vectors * pass,
                rows / f64::from(self.facts.most_keys()),
                from_l2,
                self.beyond_l2(bytes),
            ],
        )
    }

    /// Keys' part of what keys and values take together.
    fn key_share(&self) -> f64 {
        let e = self.facts.context.extents;
        f64::from(e.width) / f64::from(e.width + e.value_width)
    }

    /// Cycles into L2 of keys and values that are read again.
    fn read_again(&self) -> f64 {
        read_again_bytes(&self.facts, self.pairs, self.hardware) * self.hardware.fill[1]
    }

    /// Query rows of the busiest worker; a causal row sees half of the keys.
    fn rows(&self) -> f64 {
        let e = self.facts.context.extents;
        let all = f64::from(e.heads) * f64::from(e.queries);
        all * self.pairs / (f64::from(e.heads) * e.visible())
    }

    /// Heads of keys and values that the worker comes to.
    fn heads(&self) -> f64 {
        let (e, g) = (self.facts.context.extents, self.geometry());
        match (g.packing, g.split) {
            // Each worker comes to every head.
            (Packing::Own, Split::Queries) => f64::from(e.kv_heads),
            _ => libm::ceil(f64::from(e.kv_heads) / f64::from(self.facts.context.threads.max(1))),
        }
    }

    /// Queries of every task, keys and values of every head that the worker packs.
    fn pack(&self) -> Work {
        let (e, g) = (self.facts.context.extents, self.geometry());
        let again = if g.merge == Merge::Complete {
            f64::from(g.key_splits)
        } else {
            1.0
        };
        let queries = self.rows() * f64::from(e.width) * again;
        let heads = self.heads();
        let keys = heads * self.facts.packed_keys() as f64;
        let values = heads * (self.facts.packed_head() - self.facts.packed_keys()) as f64;
        let of = |wanted: bool, floats: f64| if wanted { floats } else { 0.0 };
        let turned = of(g.keys == Layout::Transposed, keys) + of(g.values == Layout::Transposed, values);
        Work::new(
            Kernel::AttentionPack,
            [
                queries / self.hardware.lanes,
                of(g.keys == Layout::Panels, keys),
                turned,
                of(g.values == Layout::Panels, values) * FLOAT,
                self.dram((queries + keys + values) * FLOAT),
            ],
        )
    }

    fn finish(&self) -> Work {
        let elements = self.rows() * f64::from(self.facts.context.extents.value_width);
        Work::new(
            Kernel::AttentionFinish,
            [elements / self.hardware.lanes, self.dram(elements * FLOAT)],
        )
    }

    fn merge(&self) -> Work {
        let states = f64::from(self.geometry().key_splits - 1) * self.rows();
        let elements = states * f64::from(self.facts.context.extents.value_width);
        Work::new(Kernel::AttentionMerge, [elements / self.hardware.lanes])
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
