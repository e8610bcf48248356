//! What tiles compute between exchange phases.

use crate::beyond::Sum;
use crate::costs::{CostTable, Cycles};
use crate::device::{ELEMENT_BYTES, PANEL, ROW_BLOCK, TILES};
use crate::program::Program;
use crate::traffic::{Intersection, deliveries, intersections, pieces};

/// One step of one tile.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Call {
    /// A product of local extents, padding included.
    Gemm {
        /// Rows.
        rows: usize,
        /// The axis that is summed over.
        inner: usize,
        /// Columns.
        columns: usize,
    },
    /// A copy inside the tile.
    Copy(Copy),
    /// A sum of partials, the seed included.
    Reduce {
        /// Elements of one partial.
        elements: usize,
        /// Partials.
        partials: usize,
    },
    /// GELU in place.
    Gelu {
        /// Elements, padding included.
        elements: usize,
    },
    /// Clearing a contiguous run.
    Fill {
        /// Bytes.
        bytes: usize,
    },
}

/// A copy of panels inside a tile.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Copy {
    /// Panels.
    pub panels: usize,
    /// Bytes of each.
    pub panel_bytes: usize,
}

/// What tiles compute between two phases.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Segment {
    /// Place of its product in the chain.
    pub product: usize,
    /// Calls of each execution tile, in order.
    pub calls: Vec<Vec<Call>>,
}

/// Fewest rows of a strided copy that is done in one call even when it is large.
const STRIDED_ROWS: usize = 6;
/// Most bytes of a strided copy that is always done in one call.
const STRIDED_BYTES: usize = 512;

impl Copy {
    /// Calls that it takes: one for each panel when they are few and large. Panels that lie directly behind each other
    /// are not merged first, on the machine or by the planner, although the published span rule merges adjacent spans: with
    /// merging, the work of the published control's expanded estimate (142,799 cycles, published) comes out 1,662 low,
    /// without it 996. Chosen in sight of that figure, which therefore says less for the model than one it never saw.
    #[must_use]
    pub fn calls(&self) -> usize {
        if self.panels < STRIDED_ROWS && self.panels * self.panel_bytes > STRIDED_BYTES {
            self.panels
        } else {
            1
        }
    }

    /// Cycles under the price of one call in bytes.
    fn cycles(&self, price: impl Fn(usize) -> Cycles) -> Cycles {
        let calls = self.calls();
        Ok(calls * price(self.panels * self.panel_bytes / calls)?)
    }
}

/// Whose prices of copies count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pricing {
    /// The planner's.
    Planned,
    /// The machine's.
    Executed,
}

impl Call {
    /// Cycles of the call.
    pub fn cycles(&self, costs: &CostTable, pricing: Pricing) -> Cycles {
        match (self, pricing) {
            (Self::Gemm { rows, inner, columns }, _) => costs.gemm(*rows, *inner, *columns),
            (Self::Copy(copy), Pricing::Planned) => copy.cycles(|bytes| costs.copy(bytes)),
            (Self::Copy(copy), Pricing::Executed) => copy.cycles(|bytes| costs.copy_executed(bytes)),
            (Self::Reduce { elements, partials }, _) => costs.reduction(*elements, *partials),
            (Self::Gelu { elements }, _) => costs.gelu(*elements),
            (Self::Fill { bytes }, _) => costs.fill(*bytes),
        }
    }
}

impl Segment {
    fn new(product: usize) -> Self {
        Self {
            product,
            calls: vec![Vec::new(); TILES],
        }
    }

    /// Cycles of each execution tile.
    pub fn cycles(&self, costs: &CostTable, pricing: Pricing) -> impl Iterator<Item = Cycles> {
        self.calls
            .iter()
            .map(move |calls| calls.iter().map(|call| call.cycles(costs, pricing)).sum())
    }
}

/// All segments: one after each phase, in the order of [`crate::traffic::phases`].
#[must_use]
pub fn segments(program: &Program) -> Vec<Segment> {
    let mut segments = Vec::new();
    for at in 0..program.products.len() {
        segments.push(gemm(program, at));
        let all = intersections(program, at);
        let geometry = program.products[at].geometry;
        let stages = geometry.staging.stages(geometry.inner - 1).len();
        for stage in 0..stages {
            let mut segment = reduce(program, at, &all, stage);
            if stage + 1 == stages {
                finish(program, at, &all, &mut segment);
            }
            segments.push(segment);
        }
    }
    segments
}

fn gemm(program: &Program, at: usize) -> Segment {
    let mut segment = Segment::new(at);
    let s = &program.products[at].shards;
    for delivery in deliveries(program, at)
        .into_iter()
        .filter(|delivery| delivery.local_copy)
    {
        let bytes = ELEMENT_BYTES * s.inner.range(delivery.inner).len() * s.columns.range(delivery.column).len();
        segment.calls[delivery.owner].push(Call::Copy(Copy {
            panels: 1,
            panel_bytes: bytes,
        }));
    }
    for cell in s.cells() {
        segment.calls[program.mapping[s.compute_tile(cell)]].push(Call::Gemm {
            rows: s.rows.range(cell.row).len(),
            inner: s.inner.range(cell.inner).len(),
            columns: s.columns.range(cell.column).len(),
        });
    }
    segment
}

fn reduce(program: &Program, at: usize, all: &[Intersection], stage: usize) -> Segment {
    let mut segment = Segment::new(at);
    for x in all {
        let calls = &mut segment.calls[x.owner];
        if stage == 0 && x.seed_is_local {
            calls.push(Call::Copy(copy(x)));
        }
        let elements = x.elements();
        let partials = x.stages[stage].len() + 1;
        match program.products[at].geometry.beyond.sum {
            Sum::Chain => calls.push(Call::Reduce { elements, partials }),
            // No kernel keeps a tree's sums: each addition is a call.
            Sum::Tree => calls.extend((1..partials).map(|_| Call::Reduce { elements, partials: 2 })),
        }
    }
    segment
}

/// A copy of the panels of an intersection.
fn copy(x: &Intersection) -> Copy {
    Copy {
        panels: x.panels(),
        panel_bytes: x.rows.len() * PANEL * ELEMENT_BYTES,
    }
}

fn finish(program: &Program, at: usize, all: &[Intersection], segment: &mut Segment) {
    let product = &program.products[at];
    let s = &product.shards;
    for x in all {
        segment.calls[x.owner].push(Call::Copy(copy(x)));
    }
    if product.gelu {
        for row in 0..s.result_rows.parts() {
            for column in 0..s.result_columns.parts() {
                let elements = s.result_rows.range(row).len() * s.result_columns.range(column).len();
                segment.calls[program.mapping[s.owner_tile(row, column)]].push(Call::Gelu { elements });
            }
        }
    }
    if at + 1 < program.products.len() {
        clear(program, at + 1, segment);
        keep_local(program, at, segment);
    }
}

/// Clears what no piece of the gather covers: panels past the end of the inner axis, and the padding row.
fn clear(program: &Program, next: usize, segment: &mut Segment) {
    let s = &program.products[next].shards;
    for cell in s.cells() {
        let calls = &mut segment.calls[program.mapping[s.compute_tile(cell)]];
        let panels = s.inner.logical(cell.inner).len().div_ceil(PANEL);
        let rows = s.rows.range(cell.row).len();
        let line = PANEL * ELEMENT_BYTES;
        let tail = s.inner.range(cell.inner).len() / PANEL - panels;
        if tail > 0 {
            calls.push(Call::Fill {
                bytes: tail * rows * line,
            });
        }
        let padding = rows - s.rows.logical(cell.row).len();
        debug_assert!(padding < ROW_BLOCK, "only the last row block is padded");
        if padding > 0 {
            calls.extend((0..panels + tail).map(|_| Call::Fill { bytes: line * padding }));
        }
    }
}

/// Copies the pieces of the gather that their owner needs itself.
fn keep_local(program: &Program, at: usize, segment: &mut Segment) {
    let all = pieces(program, at);
    let local: Vec<_> = all.iter().filter(|piece| piece.local).collect();
    for run in local.chunk_by(|a, b| (a.source, a.row, a.inner) == (b.source, b.row, b.inner)) {
        let [first, ..] = run else { continue };
        segment.calls[first.source].push(Call::Copy(Copy {
            panels: run.len(),
            panel_bytes: first.rows * PANEL * ELEMENT_BYTES,
        }));
    }
}
