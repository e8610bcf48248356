//! Tile mappings: where planned tiles lie.

use crate::device::TILES;
use crate::program::identity;

/// Reads `identity`, `transpose:W`, `block:B:W` or `explicit:LIST`: the execution tile of each planned tile.
///
/// `transpose:W` puts tile `t` at `(t mod W) * (1472 / W) + t / W`; `block:B:W` does the same within each whole block of
/// `B` tiles and leaves an incomplete last block as it is. A list names the execution tiles of planned tiles 0, 1, ...:
/// numbers and ascending runs `0-45`, separated by commas ([`explicit`] writes it).
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
        ["explicit", list] => return listed(list),
        ["transpose", width] => (TILES, number(width)?),
        ["block", block, width] => (number(block)?, number(width)?),
        _ => {
            return Err(format!(
                "mapping `{text}`: expected `identity`, `transpose:W`, `block:B:W` or `explicit:LIST`"
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

/// The canonical name of a mapping that is given as a list of execution tiles.
pub fn explicit(tiles: &[usize]) -> Result<String, String> {
    if tiles == identity() {
        return Ok("identity".to_owned());
    }
    let runs = tiles.chunk_by(|a, b| a + 1 == *b).map(|run| match run {
        [first, .., last] => format!("{first}-{last}"),
        [only] => only.to_string(),
        [] => String::new(),
    });
    let text = format!("explicit:{}", runs.collect::<Vec<_>>().join(","));
    parse(&text).map(|_| text)
}

/// Reads the tiles of a mapping file: whole numbers, as a JSON list or separated by white space or commas.
pub fn read(content: &str) -> Result<Vec<usize>, String> {
    let numbers = content.split(|c: char| c.is_whitespace() || ",[]".contains(c));
    numbers
        .filter(|word| !word.is_empty())
        .map(|word| {
            word.parse()
                .map_err(|_| format!("expected execution tiles as whole numbers, found `{word}`"))
        })
        .collect()
}

fn listed(list: &str) -> Result<Vec<usize>, String> {
    let tile = |word: &str| {
        let n = word.parse::<usize>().ok().filter(|n| *n < TILES);
        n.ok_or_else(|| format!("mapping: expected tiles from 0 to {}, found `{word}`", TILES - 1))
    };
    let mut tiles = Vec::new();
    for word in list.split(',') {
        match word.split_once('-') {
            Some((first, last)) => tiles.extend(tile(first)?..=tile(last)?),
            None => tiles.push(tile(word)?),
        }
    }
    let mut places = vec![None; TILES];
    for (planned, &tile) in tiles.iter().enumerate() {
        if let Some(before) = places[tile].replace(planned) {
            return Err(format!(
                "mapping: planned tiles {before} and {planned} both lie on tile {tile}: it is no bijection"
            ));
        }
    }
    if tiles.len() == TILES {
        Ok(tiles)
    } else {
        Err(format!("mapping: {} tiles are listed, expected {TILES}", tiles.len()))
    }
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
    fn any_bijection_has_a_name() {
        let block = parse("block:92:2").unwrap();
        let name = explicit(&block).unwrap();
        assert!(name.starts_with("explicit:0,46,1,47,"), "{}", &name[..40]);
        assert_eq!(parse(&name), Ok(block));
        let reversed: Vec<usize> = identity().into_iter().rev().collect();
        assert_eq!(parse(&explicit(&reversed).unwrap()), Ok(reversed));
        let mut swapped = identity();
        swapped.swap(0, 1);
        assert_eq!(explicit(&swapped).unwrap(), "explicit:1,0,2-1471");
        assert_eq!(explicit(&identity()).unwrap(), "identity");
        assert_eq!(read("[1, 0,\n2]"), Ok(vec![1, 0, 2]));
        assert!(explicit(&[0, 1]).unwrap_err().contains("2 tiles are listed"));
        let twice = explicit(&[3; TILES]).unwrap_err();
        assert!(twice.contains("planned tiles 0 and 1 both lie on tile 3"), "{twice}");
    }

    #[test]
    fn slips_are_named() {
        for (text, word) in [
            ("turn", "expected"),
            ("transpose:0", "`0`"),
            ("block:92:3", "does not divide"),
            ("explicit:0-2000", "`2000`"),
        ] {
            let message = parse(text).unwrap_err();
            assert!(message.contains(word), "{message}");
        }
    }
}
