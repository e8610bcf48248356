//! Walks of a descriptor: up to four dimensions of stride and bound, the first one fastest.

use super::image::Word;
use crate::machine::{DIMENSIONS, STRIDE_LIMIT, WORD_BYTES};

/// One dimension of a walk.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Dimension {
    /// Words from one step to the next.
    pub stride: i64,
    /// Steps.
    pub bound: usize,
}

/// The walk through these words, relative to the first of them; `None` if it takes more than four dimensions, or a
/// stride that the descriptor can't hold.
///
/// Each dimension takes the longest run of equal strides that divides what is left.
#[must_use]
pub fn walk(words: &[Word]) -> Option<Vec<Dimension>> {
    let mut dimensions = Vec::new();
    let mut spacing = 1;
    let mut left = words.len();
    while left > 1 {
        if dimensions.len() == DIMENSIONS {
            return None;
        }
        let at = |i: usize| i64::from(words[i * spacing]);
        let stride = at(1) - at(0);
        let equal = (1..left).take_while(|&i| at(i) - at(i - 1) == stride).count() + 1;
        let bound = (2..=equal).rev().find(|&bound| {
            left.is_multiple_of(bound)
                && (0..left)
                    .step_by(bound)
                    .all(|run| (1..bound).all(|i| at(run + i) - at(run + i - 1) == stride))
        })?;
        if (stride * i64::try_from(WORD_BYTES).ok()?).abs() >= STRIDE_LIMIT {
            return None;
        }
        dimensions.push(Dimension { stride, bound });
        spacing *= bound;
        left /= bound;
    }
    Some(dimensions)
}

/// The words of a walk, relative to its first.
#[must_use]
pub(super) fn steps(dimensions: &[Dimension]) -> Vec<i64> {
    let mut steps = vec![0];
    for dimension in dimensions {
        let mut all = Vec::with_capacity(steps.len() * dimension.bound);
        let mut shift = 0;
        for _ in 0..dimension.bound {
            all.extend(steps.iter().map(|step| step + shift));
            shift += dimension.stride;
        }
        steps = all;
    }
    steps
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn walks_step_through_the_words_that_they_were_made_from() {
        let words: Vec<Word> = (0..64).map(|i| i % 4 * 16 + i / 4 % 4 * 4 + i / 16).collect();
        let dimensions = walk(&words).unwrap();
        assert_eq!(dimensions.len(), 3);
        let again: Vec<i64> = steps(&dimensions);
        assert!(again.iter().zip(&words).all(|(step, word)| *step == i64::from(*word)));
        assert_eq!(walk(&[5]), Some(Vec::new()));
        assert_eq!(walk(&[0, 1, 3]), None, "no run of equal strides divides three words");
        assert_eq!(
            walk(&[0, 4096]),
            None,
            "a stride of 2^17 bytes has 19 bits with its sign"
        );
        assert!(walk(&[0, 4095]).is_some());
    }
}
