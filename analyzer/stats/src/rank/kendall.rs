//! Kendall's tau-b.

use crate::merge::merge_sort;
use crate::order::normal_zero;

/// Kendall's tau-b: concordant minus discordant pairs, over the root of the pairs untied in `a` times the pairs untied
/// in `b` (Kendall 1945). In `-1..=1`.
///
/// Same order in both lists. O(n log n): the discordant pairs are the exchanges of a merge sort (Knight 1966).
/// Undefined, `None`: fewer than 3 samples, lists of different lengths, a value that is not finite, or either side
/// constant.
#[must_use]
pub fn kendall_tau_b(a: &[f64], b: &[f64]) -> Option<f64> {
    let usable = a.len() == b.len() && a.len() >= 3 && a.iter().chain(b).all(|value| value.is_finite());
    if !usable {
        return None;
    }
    let mut pairs: Vec<(f64, f64)> = a
        .iter()
        .zip(b)
        .map(|(x, y)| (normal_zero(*x), normal_zero(*y)))
        .collect();
    pairs.sort_unstable_by(|p, q| p.0.total_cmp(&q.0).then(p.1.total_cmp(&q.1)));
    let tied_a = tied_pairs(&pairs, |p, q| p.0.total_cmp(&q.0).is_eq());
    let tied_both = tied_pairs(&pairs, |p, q| {
        p.0.total_cmp(&q.0).is_eq() && p.1.total_cmp(&q.1).is_eq()
    });

    let mut b_in_order_of_a: Vec<f64> = pairs.iter().map(|pair| pair.1).collect();
    let discordant = sort_counting_exchanges(&mut b_in_order_of_a);
    let tied_b = tied_pairs(&b_in_order_of_a, |p, q| p.total_cmp(q).is_eq());

    let all = pairs_among(pairs.len());
    if tied_a == all || tied_b == all {
        return None;
    }
    let concordant = all + tied_both - tied_a - tied_b - discordant;
    let score = i128::from(concordant) - i128::from(discordant);
    let tau = score as f64 / ((all - tied_a) as f64 * (all - tied_b) as f64).sqrt();
    Some(normal_zero(tau.clamp(-1.0, 1.0)))
}

/// Number of pairs among `n` items.
const fn pairs_among(n: usize) -> u64 {
    let n = n as u64;
    n * n.saturating_sub(1) / 2
}

/// Pairs that `same` joins, where equal items stand side by side.
fn tied_pairs<T>(sorted: &[T], same: impl FnMut(&T, &T) -> bool) -> u64 {
    sorted.chunk_by(same).map(|group| pairs_among(group.len())).sum()
}

/// Sorts by merging from runs of one upwards, and counts the pairs that stood in falling order.
fn sort_counting_exchanges(values: &mut Vec<f64>) -> u64 {
    let mut exchanges = 0;
    let Ok(()) = merge_sort(
        values,
        |a, b| a.total_cmp(b).is_lt(),
        |passed, _| {
            exchanges += passed.len() as u64;
            Ok::<(), std::convert::Infallible>(())
        },
    );
    exchanges
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn worked_by_hand() {
        // Six pairs, five concordant, one tied in a: 5 / sqrt(5 * 6).
        let tau = kendall_tau_b(&[1.0, 2.0, 2.0, 4.0], &[1.0, 2.0, 3.0, 4.0]).unwrap();
        assert!((tau - (5.0_f64 / 6.0).sqrt()).abs() < 1e-15);
        // Pairs: two discordant, one concordant.
        assert!((kendall_tau_b(&[1.0, 2.0, 3.0], &[2.0, 3.0, 1.0]).unwrap() + 1.0 / 3.0).abs() < 1e-15);
        assert_eq!(kendall_tau_b(&[3.0, 1.0, 2.0], &[30.0, 10.0, 20.0]), Some(1.0));
        assert_eq!(
            kendall_tau_b(&[3.0, 1.0, 2.0, 2.0], &[-3.0, -1.0, -2.0, -2.0]),
            Some(-1.0)
        );
        let none = kendall_tau_b(&[1.0, 2.0, 3.0], &[-2.0, -9.0, -2.0]).unwrap();
        assert_eq!(none.to_bits(), 0.0_f64.to_bits());
    }

    #[test]
    fn agrees_with_scipy_on_ties() {
        // scipy 1.17.1, `scipy.stats.kendalltau` (variant b).
        let a = [12.5, 11.0, 13.0, 11.0, 19.5, 12.5, 12.5, 8.0, 15.0, 17.25, 8.0, 30.0];
        let b = [3.0, 2.0, 4.0, 3.0, 7.0, 3.0, 5.0, 1.0, 4.0, 9.0, 2.0, 6.0];
        assert!((kendall_tau_b(&a, &b).unwrap() - 0.770_491_803_278_688_6).abs() < 1e-12);
    }

    #[test]
    fn undefined() {
        assert_eq!(kendall_tau_b(&[1.0, 2.0], &[1.0, 2.0]), None);
        assert_eq!(kendall_tau_b(&[1.0, 1.0, 1.0], &[1.0, 2.0, 3.0]), None);
        assert_eq!(kendall_tau_b(&[1.0, 2.0, 3.0], &[0.0, -0.0, 0.0]), None);
        assert_eq!(kendall_tau_b(&[1.0, 2.0, f64::NAN], &[1.0, 2.0, 3.0]), None);
        assert_eq!(kendall_tau_b(&[1.0, 2.0, 3.0], &[1.0, 2.0]), None);
    }
}
