//! Singular values and right singular vectors of a small matrix.

/// Sweeps after which the rotations have converged to the last bit for any matrix of a few dozen columns.
const SWEEPS: usize = 60;

/// Singular values, the largest first, each with its right singular vector of unit length.
///
/// One-sided Jacobi (Hestenes 1958; Golub and Van Loan, "Matrix Computations", 4th edition, section 8.6.3): columns are
/// rotated in pairs until all are orthogonal; their lengths are the singular values. It is accurate for small singular
/// values too, which is what rank and condition ask for. `columns` has one list per column, all of one length.
pub(super) fn svd(mut columns: Vec<Vec<f64>>) -> Vec<(f64, Vec<f64>)> {
    let n = columns.len();
    let mut right: Vec<Vec<f64>> = (0..n)
        .map(|i| (0..n).map(|j| f64::from(u8::from(i == j))).collect())
        .collect();
    for _ in 0..SWEEPS {
        let mut rotated = false;
        for p in 0..n {
            for q in p + 1..n {
                let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(x, y)| x * y).sum::<f64>();
                let (alpha, beta) = (dot(&columns[p], &columns[p]), dot(&columns[q], &columns[q]));
                let gamma = dot(&columns[p], &columns[q]);
                if gamma.abs() <= f64::EPSILON * (alpha * beta).sqrt() || gamma == 0.0 {
                    continue;
                }
                rotated = true;
                let zeta = (beta - alpha) / (2.0 * gamma);
                let t = zeta.signum() / (zeta.abs() + (1.0 + zeta * zeta).sqrt());
                let c = 1.0 / (1.0 + t * t).sqrt();
                rotate(&mut columns, p, q, c, c * t);
                rotate(&mut right, p, q, c, c * t);
            }
        }
        if !rotated {
            break;
        }
    }
    let mut found: Vec<(f64, Vec<f64>)> = columns
        .iter()
        .map(|column| column.iter().map(|x| x * x).sum::<f64>().sqrt())
        .zip(right)
        .collect();
    found.sort_by(|a, b| b.0.total_cmp(&a.0));
    found
}

fn rotate(columns: &mut [Vec<f64>], p: usize, q: usize, c: f64, s: f64) {
    let (left, right) = columns.split_at_mut(q);
    for (x, y) in left[p].iter_mut().zip(&mut right[0]) {
        (*x, *y) = (c * *x - s * *y, s * *x + c * *y);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn worked_by_hand() {
        // [[3, 0], [4, 5]]: singular values sqrt(45) and sqrt(5), right vectors (1, 1) and (1, -1) over sqrt(2).
        let found = svd(vec![vec![3.0, 4.0], vec![0.0, 5.0]]);
        assert!((found[0].0 - 45_f64.sqrt()).abs() < 1e-12 && (found[1].0 - 5_f64.sqrt()).abs() < 1e-12);
        assert!((found[0].1[0].abs() - 0.5_f64.sqrt()).abs() < 1e-12, "{found:?}");
        let found = svd(vec![vec![1.0, 2.0, 3.0], vec![2.0, 4.0, 6.0]]);
        assert!(found[1].0 < 1e-14 * found[0].0, "{found:?}");
        // The direction that has no length: twice the first less the second.
        assert!((found[1].1[0] / found[1].1[1] + 2.0).abs() < 1e-12);
    }
}
