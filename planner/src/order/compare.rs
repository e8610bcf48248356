//! What two orders have in common.

use super::traits::{ByteOrder, PADDING};

/// Words of `word` elements of `there` that stand whole in `here`: the same elements at the same places of one word.
/// Words of nothing but padding are not counted.
#[must_use]
pub fn whole_words(here: &dyn ByteOrder, there: &dyn ByteOrder, word: usize) -> usize {
    let mut at = vec![usize::MAX; here.elements()];
    here.walk(&mut |element, offset| at[element] = offset);
    let (from, to) = (here.image(), there.image());
    let whole = |wanted: &&[u32]| {
        let Some((lane, &element)) = wanted.iter().enumerate().find(|(_, element)| **element != PADDING) else {
            return false;
        };
        let place = at.get(element as usize).copied().unwrap_or(usize::MAX);
        // The copy found may stand at another lane; then the word is not whole there.
        place != usize::MAX
            && place % word == lane
            && from.get(place - lane..place - lane + wanted.len()) == Some(*wanted)
    };
    to.chunks(word).filter(whole).count()
}

/// Offsets at which two images of one size hold different elements.
#[must_use]
pub fn differing(a: &dyn ByteOrder, b: &dyn ByteOrder) -> usize {
    a.image().iter().zip(b.image()).filter(|(x, y)| **x != *y).count()
}

/// Longest run along `axis`: elements that follow each other both in the tensor and in memory.
#[must_use]
pub fn longest_run(order: &dyn ByteOrder, axis: usize) -> usize {
    let extents = order.extents();
    let step: usize = extents.iter().skip(axis + 1).product();
    let extent = extents.get(axis).copied().unwrap_or(1);
    let mut at = vec![0; order.elements()];
    order.walk(&mut |element, offset| at[element] = offset);
    let lines = (0..at.len()).filter(|element| (element / step).is_multiple_of(extent));
    let longest = |first: usize| {
        let (mut longest, mut run) = (1, 1);
        for i in 1..extent {
            let (before, here) = (at[first + (i - 1) * step], at[first + i * step]);
            run = if here == before + 1 { run + 1 } else { 1 };
            longest = longest.max(run);
        }
        longest
    };
    lines.map(longest).max().unwrap_or(0)
}

/// Whether the images of `parts`, back to back, are the image of `whole`, where the parts are consecutive slices of its
/// last axis.
#[must_use]
pub fn concatenated(parts: &[&dyn ByteOrder], whole: &dyn ByteOrder) -> bool {
    let (Some(&last), image) = (whole.extents().last(), whole.image()) else {
        return false;
    };
    let (mut first, mut base) = (0, 0);
    for part in parts {
        let own = part.extents().last().copied().unwrap_or(0);
        // Numbers of the part's elements, as the whole numbers them.
        let rename = |element: u32| {
            let element = element as usize;
            let renamed = element / own.max(1) * last + first + element % own.max(1);
            u32::try_from(renamed).unwrap_or(PADDING)
        };
        let matches = |(offset, element): (usize, u32)| {
            let expected = if element == PADDING { PADDING } else { rename(element) };
            image.get(base + offset) == Some(&expected)
        };
        if !part.image().into_iter().enumerate().all(matches) {
            return false;
        }
        first += own;
        base += part.size();
    }
    first == last && base == image.len()
}

/// Whether as many images of `part` as fill it, back to back, are the image of `whole`, where the parts are consecutive slices
/// of its first axis.
#[must_use]
pub fn stacked(part: &dyn ByteOrder, whole: &dyn ByteOrder) -> bool {
    let (own, image) = (part.image(), whole.image());
    if own.is_empty() || part.extents().get(1..) != whole.extents().get(1..) {
        return false;
    }
    let of_part = |(at, held): (usize, &[u32])| {
        let first = at * part.elements();
        let renamed = own.iter().map(|element| match *element {
            PADDING => PADDING,
            element => u32::try_from(element as usize + first).unwrap_or(PADDING),
        });
        held.iter().copied().eq(renamed)
    };
    let parts = whole.elements() / part.elements().max(1);
    image.len() == parts * own.len() && image.chunks(own.len()).enumerate().all(of_part)
}

/// Whether the image of `slice`, the first entries of the last axis of `whole`, is the beginning of its image.
#[must_use]
pub fn is_prefix(slice: &dyn ByteOrder, whole: &dyn ByteOrder) -> bool {
    let own = slice.extents().last().copied().unwrap_or(1).max(1);
    let last = whole.extents().last().copied().unwrap_or(1);
    let image = whole.image();
    let matches = |(offset, element): (usize, u32)| {
        let element = element as usize;
        let expected = element / own * last + element % own;
        image.get(offset).is_some_and(|found| *found as usize == expected)
    };
    let elements = slice.image().into_iter().enumerate();
    elements.filter(|(_, element)| *element != PADDING).all(matches)
}
