//! Mid-ranks.

use crate::order::normal_zero;

/// Ranks from 1, in the order of `values`; equal values share the mean of the ranks they occupy (mid-ranks, Kendall
/// 1945). Zero and negative zero are equal.
///
/// O(n log n). `None` if a value is not finite; an empty list has no ranks, which is an empty list.
#[must_use]
pub fn mid_ranks(values: &[f64]) -> Option<Vec<f64>> {
    let doubled = doubled_mid_ranks(values)?;
    Some(doubled.into_iter().map(|rank| rank as f64 / 2.0).collect())
}

/// Twice the mid-ranks, which are whole numbers: sums over them are exact.
pub(super) fn doubled_mid_ranks(values: &[f64]) -> Option<Vec<u64>> {
    if !values.iter().all(|value| value.is_finite()) {
        return None;
    }
    let mut order: Vec<(f64, usize)> = values.iter().map(|value| normal_zero(*value)).zip(0..).collect();
    order.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
    let mut ranks = vec![0; values.len()];
    let mut before = 0_u64;
    for group in order.chunk_by(|a, b| a.0.total_cmp(&b.0).is_eq()) {
        let size = group.len() as u64;
        for &(_, index) in group {
            // Ranks before + 1 ..= before + size; first plus last is twice their mean.
            ranks[index] = 2 * before + size + 1;
        }
        before += size;
    }
    Some(ranks)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ties_share_the_mean_rank() {
        assert_eq!(mid_ranks(&[1.0, 2.0, 2.0, 4.0]), Some(vec![1.0, 2.5, 2.5, 4.0]));
        assert_eq!(mid_ranks(&[5.0, 5.0, 5.0]), Some(vec![2.0, 2.0, 2.0]));
        assert_eq!(mid_ranks(&[0.0, -0.0, -1.0]), Some(vec![2.5, 2.5, 1.0]));
        assert_eq!(mid_ranks(&[]), Some(vec![]));
        assert_eq!(mid_ranks(&[1.0, f64::NAN]), None);
        // scipy 1.17.1, `scipy.stats.rankdata`.
        let values = [12.5, 11.0, 13.0, 11.0, 19.5, 12.5, 12.5, 8.0, 15.0, 17.25, 8.0, 30.0];
        let expected = [6.0, 3.5, 8.0, 3.5, 11.0, 6.0, 6.0, 1.5, 9.0, 10.0, 1.5, 12.0];
        assert_eq!(mid_ranks(&values), Some(expected.to_vec()));
    }
}
