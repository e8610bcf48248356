//! Spearman's rank correlation.

use super::ranks::doubled_mid_ranks;
use crate::order::normal_zero;

/// Spearman's rho: Pearson's correlation of the mid-ranks (Spearman 1904; with mid-ranks, Kendall 1945). In `-1..=1`.
///
/// Same order in both lists. O(n log n). Sums run over whole numbers, so a perfect order gives exactly 1 and any
/// strictly increasing transform of either side gives the same bits. Undefined, `None`: fewer than 3 samples, lists of
/// different lengths, a value that is not finite, or either side constant.
#[must_use]
pub fn spearman(a: &[f64], b: &[f64]) -> Option<f64> {
    if a.len() != b.len() || a.len() < 3 {
        return None;
    }
    let (a, b) = (doubled_mid_ranks(a)?, doubled_mid_ranks(b)?);
    // Twice the mean rank is n + 1, tied or not.
    let centre = a.len() as i128 + 1;
    let (mut aa, mut bb, mut ab) = (0_i128, 0_i128, 0_i128);
    for (x, y) in a.iter().zip(&b) {
        let (x, y) = (i128::from(*x) - centre, i128::from(*y) - centre);
        aa += x * x;
        bb += y * y;
        ab += x * y;
    }
    if aa == 0 || bb == 0 {
        return None;
    }
    let rho = ab as f64 / (aa as f64 * bb as f64).sqrt();
    Some(normal_zero(rho.clamp(-1.0, 1.0)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn worked_by_hand() {
        // Centred ranks -1.5, 0, 0, 1.5 against -1.5, -0.5, 0.5, 1.5: 4.5 / sqrt(4.5 * 5) = 3 / sqrt(10).
        let rho = spearman(&[1.0, 2.0, 2.0, 4.0], &[1.0, 2.0, 3.0, 4.0]).unwrap();
        assert!((rho - 0.948_683_298_050_513_8).abs() < 1e-15);
        assert_eq!(spearman(&[1.0, 2.0, 3.0], &[10.0, 200.0, 3_000.0]), Some(1.0));
        assert_eq!(spearman(&[1.0, 2.0, 3.0], &[5.0, 4.0, -9.0]), Some(-1.0));
        // Squared differences of ranks 1, 1, 4 sum to 6: 1 - 6 * 6 / (3 * 8).
        assert_eq!(spearman(&[1.0, 2.0, 3.0], &[2.0, 3.0, 1.0]), Some(-0.5));
    }

    #[test]
    fn an_uncorrelated_pair_gives_plain_zero() {
        let rho = spearman(&[1.0, 2.0, 3.0], &[-2.0, -9.0, -2.0]).unwrap();
        assert_eq!(rho.to_bits(), 0.0_f64.to_bits());
    }

    #[test]
    fn agrees_with_scipy_on_ties() {
        // scipy 1.17.1, `scipy.stats.spearmanr`.
        let a = [12.5, 11.0, 13.0, 11.0, 19.5, 12.5, 12.5, 8.0, 15.0, 17.25, 8.0, 30.0];
        let b = [3.0, 2.0, 4.0, 3.0, 7.0, 3.0, 5.0, 1.0, 4.0, 9.0, 2.0, 6.0];
        assert!((spearman(&a, &b).unwrap() - 0.907_142_857_142_857_1).abs() < 1e-12);
    }

    #[test]
    fn undefined() {
        assert_eq!(spearman(&[1.0, 2.0], &[1.0, 2.0]), None);
        assert_eq!(spearman(&[1.0, 1.0, 1.0], &[1.0, 2.0, 3.0]), None);
        assert_eq!(spearman(&[1.0, 2.0, 3.0], &[0.0, -0.0, 0.0]), None);
        assert_eq!(spearman(&[1.0, 2.0, f64::NAN], &[1.0, 2.0, 3.0]), None);
        assert_eq!(spearman(&[1.0, 2.0, 3.0], &[1.0, f64::INFINITY, 3.0]), None);
        assert_eq!(spearman(&[1.0, 2.0, 3.0], &[1.0, 2.0, 3.0, 4.0]), None);
    }
}
