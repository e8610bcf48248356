//! Tile mappings: where planned tiles lie.

use crate::device::TILES;
use crate::program::identity;

/// Reads `identity`, `transpose:W` or `block:B:W`: the execution tile of each planned tile.
///
/// `transpose:W` puts tile `t` at `(t mod W) * (1472 / W) + t / W`; `block:B:W` does the same within each whole block of
/// `B` tiles and leaves an incomplete last block as it is.
pub fn parse(text: &str) -> Result<Vec<usize>, String> {
    let fields: Vec<&str> = text.split(':').collect();
    let number = |word: &str| {
        word.parse::<usize>()
            .ok()
            .filter(|n| (1..=TILES).contains(n))
            .ok_or_else(|| format!("mapping `{text}`: expected a whole number from 1 to {TILES}, found `{word}`"))
    };
    let (block, width) = match fields[..] {
        ["identity"] => return Ok(identity()),
        ["transpose", width] => (TILES, number(width)?),
        ["block", block, width] => (number(block)?, number(width)?),
        _ => {
            return Err(format!(
                "mapping `{text}`: expected `identity`, `transpose:W` or `block:B:W`"
            ));
        }
    };
    if !block.is_multiple_of(width) {
        return Err(format!("mapping `{text}`: {width} does not divide {block}"));
    }
    let place = |t: usize| {
        let (base, local) = (t / block * block, t % block);
        if base + block > TILES {
            t
        } else {
            base + local % width * (block / width) + local / width
        }
    };
    Ok((0..TILES).map(place).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mappings_are_the_published_ones() {
        let transpose = parse("transpose:92").unwrap();
        assert!((0..TILES).all(|t| transpose[t] == t % 92 * 16 + t / 92));
        let block = parse("block:92:2").unwrap();
        assert!((0..TILES).all(|t| block[t] == 92 * (t / 92) + 46 * (t % 2) + t % 92 / 2));
        let incomplete = parse("block:360:24").unwrap();
        assert_eq!(incomplete[1440..], identity()[1440..]);
    }

    #[test]
    fn every_mapping_is_a_bijection() {
        for text in ["identity", "transpose:4", "block:368:92", "block:360:15", "block:92:2"] {
            let mut tiles = parse(text).unwrap();
            tiles.sort_unstable();
            assert_eq!(tiles, identity(), "{text}");
        }
    }

    #[test]
    fn slips_are_named() {
        for (text, word) in [
            ("turn", "expected"),
            ("transpose:0", "`0`"),
            ("block:92:3", "does not divide"),
        ] {
            let message = parse(text).unwrap_err();
            assert!(message.contains(word), "{message}");
        }
    }
}
