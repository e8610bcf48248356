//! How one conversion is done.

use std::collections::BTreeMap;
use std::sync::{LazyLock, Mutex};

use super::image::{Word, transposed, word_map};
use super::walk::{Dimension, walk};
use crate::layout::{Layout, Shape};
use crate::machine::{WALK_WORDS, WORD};

/// What is moved.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// Whole words.
    Word,
    /// Granules: every aligned group of 4 words is transposed in the core on the way.
    Granule,
}

/// Which side of a conversion is walked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Mode {
    /// Runs are filled contiguously and drained by a walk.
    Drain,
    /// Runs are filled by a walk and drained contiguously.
    Fill,
}

/// A conversion as runs of one vector core.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Relayout {
    /// What is moved.
    pub kind: Kind,
    /// Which side is walked.
    pub mode: Mode,
    /// Words of one run.
    pub width: usize,
    /// Words of one batch element.
    pub words: usize,
    /// Batch elements.
    pub batch: usize,
    /// Whether every run permutes its own words.
    pub in_place: bool,
    /// The walk, relative to the first word of a run.
    pub walk: Vec<Dimension>,
    /// For each run of one batch element, the word at which its walk begins; the other side begins at `run * width`.
    pub starts: Vec<Word>,
}

impl Relayout {
    /// Runs over all batch elements (R).
    #[must_use]
    pub fn runs(&self) -> usize {
        self.words / self.width * self.batch
    }

    /// Words of one copy home, for a conversion that is not done in place.
    #[must_use]
    pub fn copy_width(&self) -> usize {
        (1..=WALK_WORDS.min(self.words))
            .rev()
            .find(|width| self.words.is_multiple_of(*width))
            .unwrap_or(1)
    }
}

type Key = (Layout, Layout, Shape, usize);

/// Plans depend on nothing but their arguments, and the same few are asked for again by every case of a sweep.
static KNOWN: LazyLock<Mutex<BTreeMap<Key, Option<Relayout>>>> = LazyLock::new(Mutex::default);
/// More plans than this are not kept.
const KEPT: usize = 4096;

/// Plans the conversion of `batch` elements of one shape. `None` where there is padding, or no walk of four dimensions:
/// then only the host could convert.
///
/// Whole words are tried first, then granules; runs in place first, then the fewest flits.
#[must_use]
pub fn plan(from: Layout, to: Layout, shape: Shape, batch: usize) -> Option<Relayout> {
    let key = (from, to, shape, batch);
    if let Ok(known) = KNOWN.lock()
        && let Some(plan) = known.get(&key)
    {
        return plan.clone();
    }
    let plan = search(from, to, shape, batch);
    if let Ok(mut known) = KNOWN.lock()
        && known.len() < KEPT
    {
        known.insert(key, plan.clone());
    }
    plan
}

fn search(from: Layout, to: Layout, shape: Shape, batch: usize) -> Option<Relayout> {
    let part = periodic(from, to, shape).unwrap_or((from, to, shape));
    let image = |layout: Layout| layout.over(part.2).ok().map(|order| order.image());
    let (source, destination) = (image(part.0)?, image(part.1)?);
    if source.len() != part.2.elements() || source.len() != destination.len() {
        return None;
    }
    let best = |kind, mode, map: Vec<Word>| best(kind, mode, &map, shape.elements() / WORD, batch);
    if let Some(map) = word_map(&source, &destination) {
        let found = best(Kind::Word, Mode::Drain, map);
        let found = found.or_else(|| best(Kind::Word, Mode::Fill, word_map(&destination, &source)?));
        if found.is_some() {
            return found;
        }
    }
    let drain = transposed(&source).and_then(|turned| word_map(&turned, &destination));
    let found = drain.and_then(|map| best(Kind::Granule, Mode::Drain, map));
    found.or_else(|| {
        let fill = transposed(&destination).and_then(|turned| word_map(&turned, &source));
        fill.and_then(|map| best(Kind::Granule, Mode::Fill, map))
    })
}

fn common_multiple(a: usize, b: usize) -> usize {
    let (mut x, mut y) = (a, b);
    while y > 0 {
        (x, y) = (y, x % y);
    }
    a / x.max(1) * b
}

/// The same conversion over the fewest rows that say everything about it.
///
/// In the orders of matrices, rows that are a whole number of tiles (or fills) apart lie the same number of elements
/// apart on both sides: the permutation of words repeats. A width must be judged over a whole number of its own runs and
/// of these periods. `None` where the rows are no multiple of the period, or all are needed.
fn periodic(from: Layout, to: Layout, shape: Shape) -> Option<(Layout, Layout, Shape)> {
    let Shape::Matrix { rows, columns } = shape else {
        return None;
    };
    let period = |layout: Layout| match layout {
        Layout::Flat => Some(1),
        Layout::Entry { groups, .. } => Some(4 * groups),
        Layout::Tile { tile, .. } => Some(4 * tile.0),
        Layout::Conv { .. } | Layout::ChannelBias { .. } => None,
    };
    // A group of four words must not straddle two periods.
    let rows_of_groups = common_multiple(columns, 4 * WORD) / columns.max(1);
    let period = common_multiple(common_multiple(period(from)?, period(to)?), rows_of_groups);
    let all = rows * columns / WORD;
    let widths = (8..=WALK_WORDS).step_by(8).filter(|width| all.is_multiple_of(*width));
    let words = widths.fold(period * columns / WORD, common_multiple);
    let fewer = words * WORD / columns.max(1);
    if !rows.is_multiple_of(period) || fewer >= rows || !rows.is_multiple_of(fewer) {
        return None;
    }
    let shrunk = |layout: Layout| match layout {
        Layout::Tile { grid, tile } if 4 * grid.0 * tile.0 == rows => Some(Layout::Tile {
            grid: (fewer / (4 * tile.0), grid.1),
            tile,
        }),
        Layout::Tile { .. } => None,
        other => Some(other),
    };
    Some((shrunk(from)?, shrunk(to)?, Shape::matrix(fewer, columns)))
}

/// The best width for a map from the contiguous side's words to the walked side's. The map is that of all `words`, or
/// of a first part of them that repeats.
fn best(kind: Kind, mode: Mode, map: &[Word], words: usize, batch: usize) -> Option<Relayout> {
    let step = match kind {
        Kind::Word => 8,
        Kind::Granule => 16,
    };
    let widths = (step..=WALK_WORDS.min(map.len())).step_by(step);
    let plans = widths
        .filter(|width| map.len().is_multiple_of(*width))
        .filter_map(|width| {
            let first = &map[..width];
            let same = map.chunks_exact(width).all(|run| {
                let like = |(word, like): (&Word, &Word)| word.wrapping_sub(run[0]) == like.wrapping_sub(first[0]);
                run.iter().zip(first).all(like)
            });
            let walk = if same { walk(first)? } else { return None };
            let start = |run: usize| {
                let (word, repeats) = (run * width % map.len(), run * width / map.len());
                map[word] + Word::try_from(repeats * map.len()).unwrap_or(Word::MAX)
            };
            Some(Relayout {
                kind,
                mode,
                width,
                words,
                batch,
                in_place: in_place(map, width),
                walk,
                starts: (0..words / width).map(start).collect(),
            })
        });
    plans.min_by_key(|plan| (!plan.in_place, super::price::flits(plan)))
}

/// Whether every run permutes exactly its own words.
fn in_place(map: &[Word], width: usize) -> bool {
    let mut seen = vec![false; width];
    map.chunks_exact(width).enumerate().all(|(run, words)| {
        seen.fill(false);
        words.iter().all(|word| {
            let own = (*word as usize).checked_sub(run * width).filter(|own| *own < width);
            own.is_some_and(|own| !std::mem::replace(&mut seen[own], true))
        })
    })
}
