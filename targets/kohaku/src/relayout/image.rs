//! Two images as permutations of words.

use planner::order::PADDING;

use crate::machine::{GRANULE, WORD};

/// Number of a word of 16 elements.
pub type Word = u32;

/// Which word of `to` each word of `from` is; `None` if any word is not whole there, or there is padding.
#[must_use]
pub fn word_map(from: &[u32], to: &[u32]) -> Option<Vec<Word>> {
    if from.len() != to.len() || !from.len().is_multiple_of(WORD) {
        return None;
    }
    // Element -> its offset in `to`. Images without padding hold every number below their length once.
    let mut at = vec![u32::MAX; to.len()];
    for (offset, &element) in to.iter().enumerate() {
        if element == PADDING {
            return None;
        }
        *at.get_mut(element as usize)? = u32::try_from(offset).ok()?;
    }
    let mut map = Vec::with_capacity(from.len() / WORD);
    for word in from.chunks_exact(WORD) {
        let first = *at.get(*word.first()? as usize)? as usize;
        if !first.is_multiple_of(WORD) || to.get(first..first + WORD) != Some(word) {
            return None;
        }
        map.push(u32::try_from(first / WORD).ok()?);
    }
    Some(map)
}

/// The image with the 4 x 4 granules of every aligned group of 4 words transposed. The images' elements are a whole
/// number of such groups, else `None`.
#[must_use]
pub(super) fn transposed(image: &[u32]) -> Option<Vec<u32>> {
    const GROUP: usize = 4 * WORD;
    if !image.len().is_multiple_of(GROUP) {
        return None;
    }
    let mut turned = Vec::with_capacity(image.len());
    for group in image.chunks_exact(GROUP) {
        for word in 0..4 {
            for granule in 0..4 {
                let from = granule * WORD + word * GRANULE;
                turned.extend_from_slice(&group[from..from + GRANULE]);
            }
        }
    }
    Some(turned)
}
