//! Everything about an attention that follows from its geometry: panels, boundaries, strides, memory. Nothing is a choice.

use super::geometry::{AttentionGeometry, Layout, Merge, Packing, Scores};
use super::problem::Extents;
use crate::blocks::{boundaries, grain_boundaries, panels};
use crate::isa::Isa;

/// Floats of one cache line: buffers of different use begin on lines of their own.
const LINE: u64 = 16;

/// What the source of one object is a function of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Context<'a> {
    /// Instruction set.
    pub isa: Isa,
    /// Workers.
    pub threads: u32,
    /// Extents.
    pub extents: Extents,
    /// Geometry.
    pub geometry: &'a AttentionGeometry,
}

/// How a kernel walks its broadcast operand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Walk {
    /// Floats from one row of the kernel to the next.
    pub row: u64,
    /// Floats from one inner step to the next.
    pub step: u64,
    /// Floats from one tile (of keys, or of columns of values) to the next.
    pub tile: u64,
    /// Floats of one head.
    pub head: u64,
}

/// Where a worker's buffers begin in its scratch, in floats.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Scratch {
    /// Packed queries: panels `[element][query]`.
    pub queries: u64,
    /// Scores: panels `[key][query]`.
    pub scores: u64,
    /// State of the running result: panels `[element of a value][query]`, then maxima and sums.
    pub state: u64,
    /// State of one further split that is merged into it.
    pub further: u64,
    /// Factors by which an online softmax rescales, one per query, and as much room for maxima that nobody wants.
    pub factors: u64,
    /// Keys and values of one head in their order, where a worker packs its own.
    pub packed: u64,
    /// All of it.
    pub floats: u64,
}

/// See the module.
#[derive(Debug, Clone, PartialEq)]
pub struct Facts<'a> {
    /// What all of it follows from.
    pub context: Context<'a>,
    /// Vectors of a query panel.
    pub vectors: u32,
    /// Panels of queries of a head.
    pub query_panels: u32,
    /// Boundaries of the query blocks, in panels.
    pub query_start: Vec<u32>,
    /// Boundaries of the key blocks of all splits, in keys.
    pub key_start: Vec<u32>,
    /// Tiles of the columns of values.
    pub value_tiles: u32,
    /// Tasks that are dealt.
    pub tasks: u64,
    /// How keys are walked.
    pub keys: Walk,
    /// How values are walked.
    pub values: Walk,
    /// Floats of one panel's state.
    pub state: u64,
    /// A worker's memory.
    pub scratch: Scratch,
}

impl<'a> Facts<'a> {
    /// The facts of a legal geometry.
    #[must_use]
    pub fn new(context: Context<'a>) -> Self {
        let Context {
            isa,
            extents: e,
            geometry: g,
            ..
        } = context;
        let query_panels = panels(e.queries, g.query_panel);
        let query_start = boundaries(query_panels, g.query_blocks);
        let key_start = grain_boundaries(e.keys, g.key_height, g.key_splits * g.key_blocks);
        let own_splits = if g.merge == Merge::Complete { g.key_splits } else { 1 };
        let lengths = [e.width, e.value_width, g.query_panel].map(u64::from);
        let [_, value_width, panel] = lengths;
        let mut facts = Self {
            context,
            vectors: g.query_panel / isa.lanes(),
            query_panels,
            query_start,
            key_start,
            value_tiles: panels(e.value_width, g.value_height),
            tasks: u64::from(e.heads) * u64::from(g.query_blocks) * u64::from(own_splits),
            keys: walk(g.keys, Along::Keys, g.key_height, e.keys, e.width),
            values: walk(g.values, Along::Elements, g.value_height, e.keys, e.value_width),
            state: (value_width + 2) * panel,
            scratch: Scratch {
                queries: 0,
                scores: 0,
                state: 0,
                further: 0,
                factors: 0,
                packed: 0,
                floats: 0,
            },
        };
        facts.scratch = facts.lay_out(lengths);
        facts
    }

    fn lay_out(&self, [width, _, panel]: [u64; 3]) -> Scratch {
        let g = self.context.geometry;
        let block = u64::from(self.most_panels());
        let mut floats = 0;
        let mut take = |wanted: bool, size: u64| {
            let at = floats;
            floats += if wanted { size.next_multiple_of(LINE) } else { 0 };
            at
        };
        let streamed = g.merge == Merge::Streamed;
        Scratch {
            queries: take(true, block * width * panel),
            scores: take(true, block * u64::from(self.kept_keys()) * panel),
            state: take(streamed, block * self.state),
            further: take(streamed && g.key_splits > 1, block * self.state),
            factors: take(true, 2 * block * panel),
            packed: take(g.packing == Packing::Own, self.packed_head()),
            floats,
        }
    }

    /// Panels of the largest query block.
    #[must_use]
    pub fn most_panels(&self) -> u32 {
        largest(&self.query_start)
    }

    /// Keys of the largest key block.
    #[must_use]
    pub fn most_keys(&self) -> u32 {
        largest(&self.key_start)
    }

    /// Keys whose scores are kept at once.
    #[must_use]
    pub fn kept_keys(&self) -> u32 {
        let g = self.context.geometry;
        if g.scores == Scores::Online {
            return self.most_keys();
        }
        let splits: Vec<u32> = self.key_start.iter().copied().step_by(g.key_blocks as usize).collect();
        largest(&splits)
    }

    /// Floats of the packed keys and values of one head; 0 where both are read as given.
    #[must_use]
    pub fn packed_head(&self) -> u64 {
        self.packed_keys() + self.packed_values()
    }

    /// Floats of the packed keys of one head.
    #[must_use]
    pub fn packed_keys(&self) -> u64 {
        if self.context.geometry.keys == Layout::RowMajor {
            0
        } else {
            self.keys.head
        }
    }

    fn packed_values(&self) -> u64 {
        if self.context.geometry.values == Layout::RowMajor {
            0
        } else {
            self.values.head
        }
    }

    /// Floats of what all workers pack ahead.
    #[must_use]
    pub fn packed_floats(&self) -> u64 {
        let ahead = self.context.geometry.packing == Packing::Ahead;
        u64::from(self.context.extents.kv_heads) * if ahead { self.packed_head() } else { 0 }
    }

    /// Floats of the states of all splits, where these lie side by side.
    #[must_use]
    pub fn partial_floats(&self) -> u64 {
        let g = self.context.geometry;
        if g.merge == Merge::Streamed {
            return 0;
        }
        let panels = u64::from(self.context.extents.heads) * u64::from(self.query_panels);
        panels * u64::from(g.key_splits) * self.state
    }

    /// Keys that the last tile of keys has, and columns of values that the last tile of these has.
    #[must_use]
    pub fn last_heights(&self) -> (u32, u32) {
        let Context {
            extents: e,
            geometry: g,
            ..
        } = self.context;
        let last = |extent: u32, height: u32| (extent - 1) % height.max(1) + 1;
        (last(e.keys, g.key_height), last(e.value_width, g.value_height))
    }
}

fn largest(boundaries: &[u32]) -> u32 {
    boundaries.windows(2).map(|w| w[1] - w[0]).max().unwrap_or(0)
}

/// Which axis of `[key][element]` the rows of a kernel run along; the inner steps go along the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Along {
    Keys,
    Elements,
}

/// How a kernel of `height` rows walks an operand of `keys` rows of `width` elements that lies in `layout`.
fn walk(layout: Layout, along: Along, height: u32, keys: u32, width: u32) -> Walk {
    let [height, keys, width] = [height, keys, width].map(u64::from);
    let line = keys.next_multiple_of(LINE);
    if layout == Layout::Panels {
        let (rows, inner) = match along {
            Along::Keys => (keys, width),
            Along::Elements => (width, keys),
        };
        return Walk {
            row: 1,
            step: height,
            tile: height * inner,
            head: (rows.next_multiple_of(height) * inner).next_multiple_of(LINE),
        };
    }
    // Floats from one key to the next, and from one element to the next.
    let (key, element, head) = if layout == Layout::Transposed {
        (1, line, width * line)
    } else {
        (width, 1, keys * width)
    };
    let (row, step) = match along {
        Along::Keys => (key, element),
        Along::Elements => (element, key),
    };
    Walk {
        row,
        step,
        tile: height * row,
        head,
    }
}
