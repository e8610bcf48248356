//! Softmax, the merge of attention parts, and F16 addition.

use super::WORKERS;

/// Softmax over rows of `keys` keys, stored in rows of `padded`; `group` is the cost of 16 keys: 47, later 43.
///
/// Whole rows per worker, or each row split between workers where that is cheaper.
#[must_use]
pub fn softmax(rows: usize, keys: usize, padded: usize, group: usize) -> usize {
    let whole = whole_rows(rows, keys, padded, group);
    if keys < 128 {
        return whole;
    }
    let split = 408 + 6 * rows.div_ceil(2) * (group * padded.div_ceil(48) + 128) + 126 * rows.div_ceil(WORKERS);
    whole.min(split)
}

fn whole_rows(rows: usize, keys: usize, padded: usize, group: usize) -> usize {
    let (full, tail) = (keys / 16, keys % 16);
    let (launch, row) = if keys == padded {
        (216, 31 + group * full + 7)
    } else {
        let pairs = tail / 2;
        let zero_pairs = 8 - tail.div_ceil(2);
        let zero_panels = (padded / 16).saturating_sub(full + 1);
        let any = usize::from(full > 0);
        let row = 31
            + group * full
            + (5 + 6 * any)
            + 21
            + if full > 0 { 4 } else { 2 }
            + 2 * usize::from(pairs > 0)
            + 12 * pairs
            + 12 * (keys % 2)
            + usize::from(zero_pairs > 0)
            + 2 * zero_pairs
            + usize::from(zero_panels > 0)
            + 10 * zero_panels;
        (234, row)
    };
    launch + 6 * rows.div_ceil(WORKERS) * row
}

/// Which part of a merge a call is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MergePart {
    /// The first part: there is nothing to merge with.
    pub initial: bool,
    /// The last part: the result is scaled.
    pub last: bool,
}

/// Merges one part of an attention result of `rows` x `values` with those before it, in F32.
#[must_use]
pub fn merge(rows: usize, values: usize, part: MergePart) -> usize {
    let start = if part.initial { 27 } else { 34 };
    let pair = if part.initial { 4 } else { 6 };
    let end = match (part.last, part.initial) {
        (false, _) => 0,
        (true, true) => 3,
        (true, false) => 5,
    };
    let row = start + usize::from(values >= 16) + 3 * (values / 16) + values.div_ceil(2) * pair + end;
    222 + 6 * rows.div_ceil(WORKERS) * row
}

/// F16 addition of `rows` x `columns` elements, dense or with one operand repeated for each row.
#[must_use]
pub fn add(rows: usize, columns: usize) -> usize {
    492 + rows * 24 * columns.div_ceil(24) + 234 * rows.saturating_sub(1)
}
