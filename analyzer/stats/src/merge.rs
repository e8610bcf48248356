//! A merge sort that says what passes what: all pairs that stand in falling order, in O(n log n) and their number.

/// Sorts, merging from runs of one upwards; equal items keep their order. `turned` gets, for each item that passes
/// others, those that it passes and itself; its error ends the sort.
pub(crate) fn merge_sort<T: Copy, E>(
    items: &mut Vec<T>,
    precedes: impl Fn(&T, &T) -> bool,
    mut turned: impl FnMut(&[T], T) -> Result<(), E>,
) -> Result<(), E> {
    let mut merged = Vec::with_capacity(items.len());
    let mut run = 1;
    while run < items.len() {
        merged.clear();
        for both in items.chunks(2 * run) {
            let (mut left, mut right) = both.split_at(run.min(both.len()));
            while let (Some(l), Some(r)) = (left.first(), right.first()) {
                if precedes(r, l) {
                    turned(left, *r)?;
                    merged.push(*r);
                    right = &right[1..];
                } else {
                    merged.push(*l);
                    left = &left[1..];
                }
            }
            merged.extend_from_slice(left);
            merged.extend_from_slice(right);
        }
        std::mem::swap(items, &mut merged);
        run *= 2;
    }
    Ok(())
}
