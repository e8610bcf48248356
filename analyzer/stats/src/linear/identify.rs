//! What the data can't decide, whatever was measured.

use super::design::Design;
use super::svd::svd;

/// Singular values below this share of the largest are zero but for rounding.
const RANK: f64 = 1e-10;
/// A term takes part in a direction with at least this share of its unit length.
const SHARE: f64 = 0.05;

/// Rank, condition and collinear terms of a design whose columns are scaled to unit length.
#[derive(Debug, Clone, PartialEq)]
pub struct Identifiability {
    /// Number of terms that can be told apart.
    pub rank: usize,
    /// Largest over smallest singular value of the scaled columns (Belsley, Kuh and Welsch 1980 call 30 and more
    /// harmful); infinite where the rank is not full.
    pub condition: f64,
    /// Terms that are zero in every row: nothing is known of them.
    pub absent: Vec<usize>,
    /// Groups of terms, each of which can only be told together: one for each direction in which coefficients may move
    /// without changing any prediction.
    pub collinear: Vec<Vec<usize>>,
}

/// Examines a design; every row is divided by its scale, as [`robust`](super::robust()) does it.
#[must_use]
pub fn identify(design: &Design) -> Identifiability {
    let rows = design.rows();
    let column = |term: usize| -> Vec<f64> {
        (0..rows)
            .map(|row| design.row(row)[term] / design.scale()[row])
            .collect()
    };
    let length = |column: &[f64]| column.iter().map(|x| x * x).sum::<f64>().sqrt();
    let columns: Vec<Vec<f64>> = (0..design.terms()).map(column).collect();
    let (present, absent): (Vec<usize>, Vec<usize>) =
        (0..columns.len()).partition(|term| length(&columns[*term]) > 0.0);
    let scaled = present.iter().map(|term| {
        let size = length(&columns[*term]);
        columns[*term].iter().map(|x| x / size).collect()
    });
    let found = svd(scaled.collect());
    let largest = found.first().map_or(0.0, |(value, _)| *value);
    let (full, null): (Vec<_>, Vec<_>) = found.iter().partition(|(value, _)| *value > RANK * largest);
    let directions = reduced(null.iter().map(|(_, direction)| direction.clone()).collect());
    let collinear = directions.iter().map(|direction| {
        let taking_part = direction.iter().enumerate().filter(|(_, x)| x.abs() > SHARE);
        taking_part.map(|(at, _)| present[at]).collect()
    });
    let collinear = merged(collinear.collect());
    let condition = match full.last() {
        Some((smallest, _)) if null.is_empty() && absent.is_empty() => largest / smallest,
        _ => f64::INFINITY,
    };
    Identifiability {
        rank: full.len(),
        condition,
        absent,
        collinear,
    }
}

/// The same directions by Gauss and Jordan: each has its own term that no other has, so that groups of terms which have
/// nothing to do with each other come apart.
fn reduced(mut directions: Vec<Vec<f64>>) -> Vec<Vec<f64>> {
    for at in 0..directions.len() {
        let direction = &mut directions[at];
        let largest = (0..direction.len()).max_by(|a, b| direction[*a].abs().total_cmp(&direction[*b].abs()));
        let Some(pivot) = largest.filter(|pivot| direction[*pivot] != 0.0) else {
            continue;
        };
        let scale = direction[pivot];
        for x in direction.iter_mut() {
            *x /= scale;
        }
        let own = directions[at].clone();
        for (other, direction) in directions.iter_mut().enumerate() {
            let factor = direction[pivot];
            if other != at {
                for (x, own) in direction.iter_mut().zip(&own) {
                    *x -= factor * own;
                }
            }
        }
    }
    directions
}

/// Groups that share a term are one group.
fn merged(groups: Vec<Vec<usize>>) -> Vec<Vec<usize>> {
    let mut all: Vec<Vec<usize>> = Vec::new();
    for group in groups {
        let (touching, apart): (Vec<_>, Vec<_>) = all
            .into_iter()
            .partition(|other| other.iter().any(|t| group.contains(t)));
        let mut joined: Vec<usize> = touching.into_iter().flatten().chain(group).collect();
        joined.sort_unstable();
        joined.dedup();
        all = apart;
        all.push(joined);
    }
    all.sort();
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    fn design(rows: &[&[f64]]) -> Design {
        let mut design = Design::new(rows[0].len());
        for row in rows {
            design.push(row, 1.0).unwrap();
        }
        design
    }

    #[test]
    fn what_can_not_be_told_is_named() {
        // The third term is twice the first plus the second; the fourth never occurs; the fifth stands alone.
        let found = identify(&design(&[
            &[1.0, 1.0, 3.0, 0.0, 5.0],
            &[2.0, 1.0, 5.0, 0.0, 1.0],
            &[3.0, 7.0, 13.0, 0.0, 2.0],
            &[1.0, 4.0, 6.0, 0.0, 8.0],
        ]));
        assert_eq!((found.rank, &found.absent), (3, &vec![3]));
        assert_eq!(found.collinear, [vec![0, 1, 2]]);
        assert!(found.condition.is_infinite());
    }

    #[test]
    fn groups_that_have_nothing_in_common_come_apart() {
        let found = identify(&design(&[
            &[1.0, 2.0, 3.0, 6.0, 1.0],
            &[2.0, 4.0, 1.0, 2.0, 7.0],
            &[5.0, 10.0, 2.0, 4.0, 3.0],
            &[4.0, 8.0, 7.0, 14.0, 2.0],
        ]));
        assert_eq!((found.rank, found.collinear), (3, vec![vec![0, 1], vec![2, 3]]));
    }

    #[test]
    fn orthogonal_terms_have_condition_one() {
        let found = identify(&design(&[&[3.0, 0.0], &[0.0, 500.0]]));
        assert_eq!((found.rank, found.collinear.len()), (2, 0));
        assert!((found.condition - 1.0).abs() < 1e-12);
        // Fewer rows than terms can't tell them apart.
        assert_eq!(identify(&design(&[&[3.0, 1.0]])).collinear, [vec![0, 1]]);
    }
}
