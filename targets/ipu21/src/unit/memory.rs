//! What each tile holds, and whether it fits.

use planner::Refusal;

use crate::device::{
    DATA_BYTES, ELEMENT_BYTES, INTERLEAVED_BYTES, INTERLEAVED_ELEMENT, LEFT_TAIL_BYTES, STANDARD_BYTES,
    STANDARD_ELEMENT, SUPPORT_BYTES, TILES,
};
use crate::geometry::Memory;
use crate::program::Program;
use crate::traffic::{Phase, deliveries, intersections};

/// Most that one tile holds at any time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Peak {
    /// Bytes in the interleaved region.
    pub interleaved: usize,
    /// Bytes in the standard region, or in what is left of the interleaved one.
    pub standard: usize,
    /// Largest contiguous run of these.
    pub largest_standard: usize,
}

/// Bytes of the values of one product on one tile.
#[derive(Debug, Clone, Copy, Default)]
struct Held {
    weights: usize,
    left: usize,
    partial: usize,
    scratch: usize,
    result: usize,
}

/// The peak of each execution tile.
#[must_use]
pub fn peaks(program: &Program) -> Vec<Peak> {
    let mut resident = vec![Peak::default(); TILES];
    let products: Vec<Vec<Held>> = (0..program.products.len())
        .map(|at| held(program, at, &mut resident))
        .collect();
    let mut peaks = resident.clone();
    for (tile, peak) in peaks.iter_mut().enumerate() {
        let mut before = Held::default();
        for product in &products {
            let h = product[tile];
            // Exchange, product, reduction; what was there before is the result that is gathered.
            peak.raise(resident[tile], before.result + h.weights, h.left, h.left);
            peak.raise(resident[tile], h.weights + h.partial, h.left, h.left);
            peak.raise(resident[tile], h.partial + h.result, h.scratch, h.scratch);
            before = h;
        }
    }
    peaks
}

impl Peak {
    fn raise(&mut self, resident: Self, interleaved: usize, standard: usize, largest: usize) {
        self.interleaved = self.interleaved.max(resident.interleaved + interleaved);
        self.standard = self.standard.max(resident.standard + standard);
        self.largest_standard = self.largest_standard.max(largest);
    }
}

/// Values of one product on each tile. Adds its resident weights to `resident`.
///
/// A left operand has a tail that is read past its end; it and a partial occupy whole memory elements.
fn held(program: &Program, at: usize, resident: &mut [Peak]) -> Vec<Held> {
    let product = &program.products[at];
    let s = &product.shards;
    let mut tiles = vec![Held::default(); TILES];
    for delivery in deliveries(program, at) {
        let bytes = ELEMENT_BYTES * s.inner.range(delivery.inner).len() * s.columns.range(delivery.column).len();
        let home = &mut resident[delivery.owner];
        match product.geometry.memory {
            Memory::Interleaved => home.interleaved += bytes,
            Memory::Standard => {
                home.standard += bytes;
                home.largest_standard = home.largest_standard.max(bytes);
            }
        }
        for &tile in delivery.destinations.iter() {
            tiles[tile].weights = bytes;
        }
        if delivery.local_copy {
            tiles[delivery.owner].weights = bytes;
        }
    }
    for cell in s.cells() {
        let rows = s.rows.range(cell.row).len();
        let tile = &mut tiles[program.mapping[s.compute_tile(cell)]];
        let left = ELEMENT_BYTES * rows * s.inner.range(cell.inner).len() + LEFT_TAIL_BYTES;
        tile.left = left.next_multiple_of(STANDARD_ELEMENT);
        let partial = ELEMENT_BYTES * rows * s.columns.range(cell.column).len();
        tile.partial = partial.next_multiple_of(INTERLEAVED_ELEMENT);
    }
    for x in intersections(program, at) {
        let stage = x.stages.iter().map(Vec::len).max().unwrap_or(0);
        // The seed and, for the next stage, a second accumulator.
        tiles[x.owner].scratch += x.slot_bytes() * (stage + 2);
        tiles[x.owner].result += x.slot_bytes();
    }
    tiles
}

/// Whether everything fits; the first tile and rule that say no.
pub fn check(program: &Program, phases: &[Phase]) -> Result<(), Refusal> {
    let table = table_bytes(phases);
    for (tile, peak) in peaks(program).into_iter().enumerate() {
        let no = |rule: &str, message: String| Err(Refusal::new(rule, format!("tile {tile}: {message}")));
        if peak.interleaved > INTERLEAVED_BYTES {
            return no(
                "sram-interleaved",
                format!(
                    "{} interleaved bytes at once, there are {INTERLEAVED_BYTES}",
                    peak.interleaved
                ),
            );
        }
        let interleaved = peak.interleaved.next_multiple_of(INTERLEAVED_ELEMENT);
        let all = peak.standard + table[tile] + interleaved + SUPPORT_BYTES;
        if all > DATA_BYTES {
            return no(
                "sram",
                format!(
                    "standard {} + exchange tables {} + interleaved {interleaved} + support {SUPPORT_BYTES} = {all} \
                     bytes at once, there are {DATA_BYTES}",
                    peak.standard, table[tile]
                ),
            );
        }
        let low = STANDARD_BYTES.saturating_sub(SUPPORT_BYTES + table[tile]);
        let run = low.max(INTERLEAVED_BYTES.saturating_sub(interleaved));
        if peak.largest_standard > run {
            return no(
                "sram-contiguous",
                format!(
                    "a buffer of {} contiguous bytes, the longest free run has {run}",
                    peak.largest_standard
                ),
            );
        }
    }
    Ok(())
}

/// Estimated bytes of each tile's exchange tables: a word for each phase, nine for each transfer at either end.
#[must_use]
pub fn table_bytes(phases: &[Phase]) -> Vec<usize> {
    let mut bytes = vec![4 * phases.len(); TILES];
    for t in phases.iter().flat_map(|phase| &phase.transfers) {
        bytes[t.source] += 36;
        for &tile in t.destinations.iter() {
            bytes[tile] += 36;
        }
    }
    bytes
}
