//! Tile mappings by name, as permutations.

/// Why a mapping does not exist.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("no mapping of {tiles} tiles is called `{name}`: {reason}")]
pub struct MappingError {
    /// The name.
    pub name: String,
    /// How many tiles there are.
    pub tiles: u32,
    /// What was expected.
    pub reason: String,
}

/// Planned tile -> physical tile, for all `tiles` planned tiles. A bijection.
///
/// * `identity`: t -> t;
/// * `transpose-W`: t -> (t mod W)(tiles / W) + t div W, where W divides `tiles`;
/// * `block-B-W`: the transposition of width W (which divides B) inside every complete block of B tiles; the tiles of
///   the last, incomplete block stay.
///
/// The names and formulas are those of the published sweep of alternatives.
pub fn permutation(name: &str, tiles: u32) -> Result<Vec<u32>, MappingError> {
    let wrong = |reason: &str| MappingError {
        name: name.to_owned(),
        tiles,
        reason: reason.to_owned(),
    };
    let (block, width) = match *name.split('-').collect::<Vec<_>>() {
        ["identity"] => return Ok((0..tiles).collect()),
        ["transpose", width] => (Some(tiles), width.parse::<u32>().ok()),
        ["block", block, width] => (block.parse().ok(), width.parse().ok()),
        _ => (None, None),
    };
    let (Some(block), Some(width)) = (block, width) else {
        return Err(wrong("expected `identity`, `transpose-W` or `block-B-W`"));
    };
    if block == 0 || width == 0 || block > tiles || !block.is_multiple_of(width) {
        return Err(wrong(
            "expected a width that divides the block, and a block that is no larger than all tiles",
        ));
    }
    let map = |tile: u32| {
        let (base, local) = (tile / block * block, tile % block);
        if base + block > tiles {
            tile
        } else {
            base + (local % width) * (block / width) + local / width
        }
    };
    Ok((0..tiles).map(map).collect())
}

/// The file that `{mapping}` names.
pub(crate) fn file(permutation: &[u32]) -> String {
    let numbers: Vec<String> = permutation.iter().map(u32::to_string).collect();
    format!("[{}]\n", numbers.join(","))
}

#[cfg(test)]
mod tests {
    use super::permutation;

    #[test]
    fn mappings_follow_their_published_formulas() {
        assert_eq!(permutation("identity", 4).unwrap(), [0, 1, 2, 3]);
        assert_eq!(permutation("transpose-2", 6).unwrap(), [0, 3, 1, 4, 2, 5]);
        assert_eq!(permutation("block-4-2", 6).unwrap(), [0, 2, 1, 3, 4, 5]);
        for width in [2, 4, 16, 32, 46, 92, 184, 368] {
            let map = permutation(&format!("transpose-{width}"), 1472).unwrap();
            for t in 0..1472_u32 {
                assert_eq!(map[t as usize], (t % width) * (1472 / width) + t / width);
            }
        }
        // The winner of the published alternatives.
        let map = permutation("block-92-2", 1472).unwrap();
        for t in 0..1472_u32 {
            assert_eq!(map[t as usize], 92 * (t / 92) + 46 * (t % 2) + (t % 92) / 2);
        }
    }

    #[test]
    fn mappings_are_bijections_or_refused() {
        for name in ["transpose-4", "block-368-92", "block-360-24", "block-360-15"] {
            let mut map = permutation(name, 1472).unwrap();
            map.sort_unstable();
            assert!(map.into_iter().eq(0..1472), "{name}");
        }
        for name in [
            "",
            "transpose",
            "transpose-3",
            "transpose-0",
            "block-1473-1",
            "block-8-3",
            "other",
            "transpose--4",
        ] {
            assert!(permutation(name, 1472).is_err(), "{name}");
        }
    }
}
