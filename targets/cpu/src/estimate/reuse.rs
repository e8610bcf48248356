//! Traffic into a cache level: what five nested loops over panels fetch again.

/// The operands: broadcast (A), vector (B), result (C).
pub const OPERANDS: usize = 3;
/// Loops around a call of the micro-kernel: two over panels inside a block, three over blocks.
pub const LOOPS: usize = 5;

/// One loop: how often it turns, and whether it moves on in each operand.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Loop {
    /// Number of iterations, at least 1.
    pub trips: f64,
    /// Whether its index selects another part of the operand.
    pub moves: [bool; OPERANDS],
}

/// A nest around the micro-kernel.
#[derive(Debug, Clone, PartialEq)]
pub struct Nest {
    /// Bytes of each operand that one call touches.
    pub call: [f64; OPERANDS],
    /// Loops, innermost first.
    pub loops: [Loop; LOOPS],
    /// By how much more cache than its size each operand takes in the sub-nest of so many loops: strided operands
    /// collide in few sets.
    pub crowding: [[f64; OPERANDS]; LOOPS + 1],
}

impl Nest {
    /// Bytes of each operand that pass into a level of `capacity` bytes while the whole nest runs.
    ///
    /// The largest sub-nest whose three footprints fit together is found from inside out. Outside it, an operand is
    /// fetched again in every iteration of a loop that moves on in it. A loop that doesn't leaves the operand in place
    /// if it directly encloses the sub-nest that fits; further out it lies behind more than the cache holds and is
    /// fetched again. When not even one call fits, everything is fetched by every call.
    ///
    /// Falling capacity or growing trips never lower the result.
    #[must_use]
    pub fn traffic(&self, capacity: f64) -> [f64; OPERANDS] {
        let mut footprint = self.call;
        let crowded = |footprint: &[f64; OPERANDS], crowding: &[f64; OPERANDS]| -> f64 {
            footprint
                .iter()
                .zip(crowding)
                .map(|(bytes, factor)| bytes * factor)
                .sum()
        };
        if crowded(&footprint, &self.crowding[0]) > capacity {
            let calls: f64 = self.loops.iter().map(|own| own.trips).product();
            return footprint.map(|bytes| bytes * calls);
        }
        let mut fitting = 0;
        for (own, crowding) in self.loops.iter().zip(&self.crowding[1..]) {
            let grown = grow(footprint, own);
            if crowded(&grown, crowding) > capacity {
                break;
            }
            footprint = grown;
            fitting += 1;
        }
        let mut traffic = footprint;
        for (at, own) in self.loops.iter().enumerate().skip(fitting) {
            for (bytes, moves) in traffic.iter_mut().zip(own.moves) {
                if moves || at > fitting {
                    *bytes *= own.trips;
                }
            }
        }
        traffic
    }
}

fn grow(footprint: [f64; OPERANDS], own: &Loop) -> [f64; OPERANDS] {
    let mut grown = footprint;
    for (bytes, moves) in grown.iter_mut().zip(own.moves) {
        if moves {
            *bytes *= own.trips;
        }
    }
    grown
}

/// Bytes of a line.
pub const LINE: f64 = 64.0;

/// Where lines at one distance from each other go in a cache.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Meeting {
    /// Of so many sets they find one.
    pub common: f64,
    /// Whether that is every set: all of them meet in a single one.
    pub all: bool,
}

/// Where lines at a distance of `stride_bytes` go in a cache of `capacity` bytes with eight ways.
#[must_use]
pub fn meeting(stride_bytes: f64, capacity: f64) -> Meeting {
    const WAYS: f64 = 8.0;
    // A measured knee need not be a power of two; the sets are.
    let sets = libm::exp2(libm::floor(libm::log2((capacity / (LINE * WAYS)).max(1.0))));
    if stride_bytes % LINE != 0.0 {
        return Meeting {
            common: 1.0,
            all: false,
        };
    }
    let mut common = sets;
    while (stride_bytes / LINE) % common != 0.0 {
        common /= 2.0;
    }
    Meeting {
        common,
        all: common >= sets,
    }
}

/// By how much more of a cache rows of `row_bytes` at a distance of `stride_bytes` take than their size: lines whose
/// distance shares a factor with the number of sets meet in few of them.
#[must_use]
pub fn crowding(stride_bytes: f64, row_bytes: f64, capacity: f64) -> f64 {
    if row_bytes >= stride_bytes {
        return 1.0;
    }
    let lines = libm::ceil(row_bytes / LINE);
    (meeting(stride_bytes, capacity).common / lines).max(1.0)
}

#[cfg(test)]
#[expect(clippy::float_cmp, reason = "small whole numbers are exact")]
mod tests {
    use super::*;

    const A: [bool; 3] = [true, false, true];
    const B: [bool; 3] = [false, true, true];
    const K: [bool; 3] = [true, true, false];

    /// A call of 10 + 20 + 5 bytes; then 4 row panels, 3 column panels, 2 inner blocks, 1 row block, 1 column block.
    fn nest() -> Nest {
        let of = |trips: f64, moves| Loop { trips, moves };
        Nest {
            call: [10.0, 20.0, 5.0],
            loops: [of(4.0, A), of(3.0, B), of(2.0, K), of(1.0, A), of(1.0, B)],
            crowding: [[1.0; 3]; 6],
        }
    }

    #[test]
    fn worked_by_hand() {
        // Nothing fits: 24 calls.
        assert_eq!(nest().traffic(34.0), [240.0, 480.0, 120.0]);
        // One call fits: the vector panel stays through the row panels.
        assert_eq!(nest().traffic(35.0), [240.0, 120.0, 120.0]);
        // 40 + 20 + 20 fit: the rows of the block stay through its columns.
        assert_eq!(nest().traffic(80.0), [80.0, 120.0, 120.0]);
        // 40 + 60 + 60 fit: the result stays through the inner blocks.
        assert_eq!(nest().traffic(160.0), [80.0, 120.0, 60.0]);
        // Everything fits: once each.
        assert_eq!(nest().traffic(1e9), [80.0, 120.0, 60.0]);
    }

    #[test]
    fn a_larger_cache_never_needs_more() {
        let mut last = [f64::INFINITY; 3];
        for capacity in 1..400 {
            let now = nest().traffic(f64::from(capacity));
            assert!(
                now.iter().zip(last).all(|(now, last)| *now <= last),
                "{capacity}: {now:?} after {last:?}"
            );
            last = now;
        }
    }

    #[test]
    fn strides_that_meet_in_few_sets_crowd() {
        // 4608 bytes are 72 lines: 8 in common with 64 sets of a 32 KiB cache. 17216 bytes are 269: nothing in common.
        assert_eq!(crowding(4608.0, 64.0, 32768.0), 8.0);
        assert_eq!(crowding(17216.0, 64.0, 32768.0), 1.0);
        // Rows of four lines fill the gaps by that much; contiguous rows leave none.
        assert_eq!(crowding(4608.0, 256.0, 32768.0), 2.0);
        assert_eq!(crowding(4608.0, 4608.0, 32768.0), 1.0);
        assert_eq!(crowding(4096.0, 64.0, 32768.0), 64.0);
        // 4 KiB is what one way of it holds: all lines at multiples of that are in one set. Half of that finds two.
        assert!(meeting(12288.0, 32768.0).all && meeting(4096.0, 49152.0).all);
        assert!(!meeting(2048.0, 32768.0).all && !meeting(4100.0, 32768.0).all);
    }
}
