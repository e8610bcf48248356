//! Where blocks begin: boundaries fall on whole panels, and parts that divide one another nest.

/// Panels of `size` elements that cover `extent`.
#[must_use]
pub fn panels(extent: u32, size: u32) -> u32 {
    extent.div_ceil(size)
}

/// The `parts + 1` boundaries of `parts` blocks over `panels`: block `i` is `[floor(i P / parts), floor((i+1) P / parts))`.
///
/// Floors make boundaries of `parts` a subset of those of any multiple of `parts`. No block is empty while
/// `parts <= panels`.
#[must_use]
pub fn boundaries(panels: u32, parts: u32) -> Vec<u32> {
    (0..=parts).map(|i| floor_share(i, panels, parts)).collect()
}

/// Boundaries in elements of `parts` blocks over `extent` in grains of `grain`; the last one is `extent`.
#[must_use]
pub fn grain_boundaries(extent: u32, grain: u32, parts: u32) -> Vec<u32> {
    let grains = panels(extent, grain);
    (0..=parts)
        .map(|i| u64::from(floor_share(i, grains, parts)) * u64::from(grain))
        .map(|at| u32::try_from(at).unwrap_or(u32::MAX).min(extent))
        .collect()
}

/// `floor(i * total / parts)`.
#[must_use]
pub fn floor_share(i: u32, total: u32, parts: u32) -> u32 {
    let at = u64::from(i) * u64::from(total) / u64::from(parts.max(1));
    u32::try_from(at).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_cover_exactly_and_differ_by_at_most_one_panel() {
        for panels in 1..60 {
            for parts in 1..=panels {
                let at = boundaries(panels, parts);
                assert_eq!((at[0], at[parts as usize]), (0, panels));
                let sizes: Vec<u32> = at.windows(2).map(|w| w[1] - w[0]).collect();
                let (low, high) = (sizes.iter().min().unwrap(), sizes.iter().max().unwrap());
                assert!(*low >= 1 && high - low <= 1, "{panels} panels in {parts}: {sizes:?}");
            }
        }
    }

    #[test]
    fn parts_that_divide_one_another_nest() {
        for panels in 1..80 {
            for few in 1..=panels {
                for many in (few..=panels).step_by(few as usize) {
                    let fine = boundaries(panels, many);
                    assert!(
                        boundaries(panels, few).iter().all(|at| fine.contains(at)),
                        "{panels}: {few} in {many}"
                    );
                }
            }
        }
    }

    #[test]
    fn inner_blocks_end_at_the_extent() {
        assert_eq!(grain_boundaries(21, 8, 3), [0, 8, 16, 21]);
        assert_eq!(grain_boundaries(21, 8, 1), [0, 21]);
        assert_eq!(grain_boundaries(4304, 8, 4), [0, 1072, 2152, 3224, 4304]);
        for extent in 1..70 {
            for grain in 1..9 {
                for parts in 1..=panels(extent, grain) {
                    let at = grain_boundaries(extent, grain, parts);
                    assert!(
                        at.windows(2).all(|w| w[0] < w[1]),
                        "{extent} by {grain} in {parts}: {at:?}"
                    );
                    assert_eq!(at.last(), Some(&extent));
                }
            }
        }
    }
}
