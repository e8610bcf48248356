//! How instances are dealt to units.

/// Cycles of the busiest of `units` units: `n` instances go to `min(n, units)` of them in contiguous blocks, instance
/// `i` to unit `i live / n`.
#[must_use]
pub fn busiest(costs: &[usize], units: usize) -> usize {
    let live = costs.len().min(units).max(1);
    let mut sums = vec![0; live];
    for (i, cost) in costs.iter().enumerate() {
        sums[i * live / costs.len()] += cost;
    }
    sums.into_iter().max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::busiest;

    #[test]
    fn blocks_are_contiguous() {
        assert_eq!(busiest(&[], 4), 0);
        assert_eq!(busiest(&[5, 5], 4), 5);
        assert_eq!(
            busiest(&[1, 2, 3, 4, 5], 2),
            9,
            "the first unit has three, the second two"
        );
        assert_eq!(busiest(&[7; 320], 6), 54 * 7);
    }
}
