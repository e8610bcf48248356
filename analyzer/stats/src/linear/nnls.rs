//! Least squares, with coefficients that may not be below zero.

use super::design::Design;

/// What a coefficient may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sign {
    /// Anything.
    Free,
    /// Zero or more.
    NonNegative,
}

/// Columns whose part that no other column explains is shorter than this share of the column are left out: they can't be
/// told from the others.
const DEPENDENT: f64 = 1e-11;

/// Coefficients that minimise the sum of squared, weighted differences, `sum_i (w_i (measured_i - predicted_i))^2`, under
/// the signs: the active-set method of Lawson and Hanson, "Solving Least Squares Problems" (1974), chapter 23, where free
/// coefficients are never active. Least squares by QR with column pivoting; of columns that depend on others the later
/// pivots get 0.
///
/// One weight for each row, one sign for each term. O(terms^2 rows) for each step of the active set. Without rows all
/// coefficients are zero.
#[must_use]
pub fn solve(design: &Design, weights: &[f64], signs: &[Sign]) -> Vec<f64> {
    let n = design.terms();
    let columns: Vec<Vec<f64>> = (0..n)
        .map(|term| {
            weights
                .iter()
                .enumerate()
                .map(|(row, w)| w * design.row(row)[term])
                .collect()
        })
        .collect();
    let target: Vec<f64> = weights.iter().zip(design.measured()).map(|(w, y)| w * y).collect();
    let scale: Vec<f64> = columns.iter().map(|column| length(column)).collect();
    let sign = |term: usize| signs.get(term).copied().unwrap_or(Sign::Free);
    let mut passive: Vec<bool> = (0..n)
        .map(|term| sign(term) == Sign::Free && scale[term] > 0.0)
        .collect();
    let mut x = least_squares(&columns, &target, &passive);
    // Each step makes the residual smaller, so that no set comes twice; the limit guards against rounding only.
    for _ in 0..3 * n + 3 {
        let residual = residual(&columns, &target, &x);
        let slope = |term: usize| dot(&columns[term], &residual) / scale[term];
        let most = length(&target);
        let enter = (0..n)
            .filter(|term| !passive[*term] && scale[*term] > 0.0 && slope(*term) > 1e-12 * most)
            .max_by(|a, b| slope(*a).total_cmp(&slope(*b)));
        let Some(enter) = enter else { break };
        passive[enter] = true;
        let mut next = least_squares(&columns, &target, &passive);
        if next[enter] <= 0.0 && sign(enter) == Sign::NonNegative {
            // Rounding alone made it look useful.
            passive[enter] = false;
            break;
        }
        loop {
            let leaving = (0..n)
                .filter(|term| passive[*term] && sign(*term) == Sign::NonNegative && next[*term] <= 0.0)
                .map(|term| (term, x[term] / (x[term] - next[term])))
                .min_by(|a, b| a.1.total_cmp(&b.1));
            let Some((leaving, step)) = leaving else { break };
            let step = if step.is_finite() { step.clamp(0.0, 1.0) } else { 0.0 };
            for (x, next) in x.iter_mut().zip(&next) {
                *x += step * (next - *x);
            }
            x[leaving] = 0.0;
            passive[leaving] = false;
            next = least_squares(&columns, &target, &passive);
        }
        x = next;
    }
    x
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}

fn length(a: &[f64]) -> f64 {
    dot(a, a).sqrt()
}

fn residual(columns: &[Vec<f64>], target: &[f64], x: &[f64]) -> Vec<f64> {
    let mut left = target.to_vec();
    for (column, x) in columns.iter().zip(x) {
        for (left, value) in left.iter_mut().zip(column) {
            *left -= x * value;
        }
    }
    left
}

/// Least squares over the columns that are `used`, all others zero: modified Gram-Schmidt with column pivoting, and one
/// step of iterative refinement, which makes exact data give exact coefficients to about the last bit.
fn least_squares(columns: &[Vec<f64>], target: &[f64], used: &[bool]) -> Vec<f64> {
    let mut x = vec![0.0; columns.len()];
    for _ in 0..2 {
        let left = residual(columns, target, &x);
        for (x, more) in x.iter_mut().zip(once(columns, left, used)) {
            *x += more;
        }
    }
    x
}

fn once(columns: &[Vec<f64>], mut target: Vec<f64>, used: &[bool]) -> Vec<f64> {
    let full: Vec<f64> = columns.iter().map(|column| length(column)).collect();
    let mut left: Vec<usize> = (0..columns.len()).filter(|i| used[*i] && full[*i] > 0.0).collect();
    // Columns of equal length, so that pivots and dependence do not hang on units.
    let mut q: Vec<Vec<f64>> = columns
        .iter()
        .zip(&full)
        .map(|(column, full)| {
            column
                .iter()
                .map(|value| if *full > 0.0 { value / full } else { 0.0 })
                .collect()
        })
        .collect();
    let mut done: Vec<(usize, f64)> = Vec::new();
    // Above the diagonal: part of column j along the k-th pivot.
    let mut r = vec![vec![0.0; columns.len()]; columns.len()];
    while let Some(place) = (0..left.len()).max_by(|a, b| length(&q[left[*a]]).total_cmp(&length(&q[left[*b]]))) {
        let pivot = left.remove(place);
        let size = length(&q[pivot]);
        if size < DEPENDENT {
            break;
        }
        let unit: Vec<f64> = q[pivot].iter().map(|value| value / size).collect();
        let k = done.len();
        r[k][pivot] = size;
        for other in &left {
            let along = dot(&unit, &q[*other]);
            r[k][*other] = along;
            for (value, u) in q[*other].iter_mut().zip(&unit) {
                *value -= along * u;
            }
        }
        let along = dot(&unit, &target);
        for (value, u) in target.iter_mut().zip(&unit) {
            *value -= along * u;
        }
        done.push((pivot, along));
    }
    let mut x = vec![0.0; columns.len()];
    for (k, (pivot, along)) in done.iter().enumerate().rev() {
        let known: f64 = done[k + 1..].iter().map(|(later, _)| r[k][*later] * x[*later]).sum();
        x[*pivot] = (along - known) / r[k][*pivot];
    }
    for (x, full) in x.iter_mut().zip(&full) {
        if *full > 0.0 {
            *x /= full;
        }
    }
    x
}

#[cfg(test)]
mod tests {
    use super::*;

    fn design(rows: &[(&[f64], f64)]) -> Design {
        let mut design = Design::new(rows[0].0.len());
        for (values, measured) in rows {
            design.push(values, *measured).unwrap();
        }
        design
    }

    #[test]
    fn worked_by_hand() {
        // y = 2 x + 1 with one point off: least squares of (0, 1), (1, 3), (2, 6) is 5/2 x + 5/6.
        let points = design(&[(&[1.0, 0.0], 1.0), (&[1.0, 1.0], 3.0), (&[1.0, 2.0], 6.0)]);
        let x = solve(&points, &[1.0; 3], &[Sign::Free; 2]);
        assert!((x[0] - 5.0 / 6.0).abs() < 1e-12 && (x[1] - 2.5).abs() < 1e-12, "{x:?}");
        // Without the last point's weight the line goes through the first two.
        let x = solve(&points, &[1.0, 1.0, 0.0], &[Sign::Free; 2]);
        assert!((x[0] - 1.0).abs() < 1e-12 && (x[1] - 2.0).abs() < 1e-12, "{x:?}");
    }

    #[test]
    fn a_coefficient_that_would_be_negative_is_zero() {
        // y = -1 + 2 x; without a negative constant the best slope is sum xy / sum xx.
        let points = design(&[(&[1.0, 1.0], 1.0), (&[1.0, 2.0], 3.0), (&[1.0, 3.0], 5.0)]);
        let x = solve(&points, &[1.0; 3], &[Sign::NonNegative; 2]);
        assert!(x[0].abs() < 1e-15 && (x[1] - 22.0 / 14.0).abs() < 1e-12, "{x:?}");
        let x = solve(&points, &[1.0; 3], &[Sign::Free, Sign::NonNegative]);
        assert!((x[0] + 1.0).abs() < 1e-12 && (x[1] - 2.0).abs() < 1e-12, "{x:?}");
    }

    #[test]
    fn the_conditions_of_the_minimum_hold() {
        // Karush, Kuhn and Tucker: no slope towards smaller residuals where a coefficient may grow, none at all where
        // it is above zero.
        let mut rng = crate::random::SplitMix64::new(5);
        let mut uniform = move || (rng.next_u64() >> 11) as f64 / (1_u64 << 53) as f64 - 0.5;
        for _ in 0..200 {
            let mut design = Design::new(5);
            for _ in 0..9 {
                let row: Vec<f64> = (0..5).map(|_| uniform()).collect();
                design.push(&row, uniform()).unwrap();
            }
            let x = solve(&design, &[1.0; 9], &[Sign::NonNegative; 5]);
            for term in 0..5 {
                let slope: f64 = (0..9)
                    .map(|row| design.row(row)[term] * (design.measured()[row] - design.predict(row, &x)))
                    .sum();
                assert!(
                    x[term] >= 0.0 && slope < 1e-9 && (x[term] <= 0.0 || slope > -1e-9),
                    "{x:?} {slope}"
                );
            }
        }
    }

    #[test]
    fn columns_of_very_different_size_give_exact_coefficients() {
        let mut points = Design::new(3);
        for (rows, panels) in [(184.0, 54.0), (182.0, 54.0), (146.0, 72.0), (120.0, 85.0), (7.0, 1.0)] {
            points
                .push(&[1.0, panels, panels * rows], 294.0 + panels * (160.0 + 4.0 * rows))
                .unwrap();
        }
        let x = solve(&points, &[1.0; 5], &[Sign::NonNegative; 3]);
        for (found, exact) in x.iter().zip([294.0, 160.0, 4.0]) {
            assert!((found / exact - 1.0).abs() < 1e-11, "{x:?}");
        }
    }
}
