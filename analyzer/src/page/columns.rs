//! Columns of the page's data: short in bytes, quick to read in a script.

use std::cmp::Ordering;
use std::collections::HashMap;

use serde::Serialize;

/// Significant digits of numbers in the page. All digits are in `summary.csv`.
const DIGITS: usize = 6;

/// A number with six significant digits; `None` for what is missing or not finite.
#[must_use]
pub fn short(value: Option<f64>) -> Option<f64> {
    let value = value.filter(|value| value.is_finite())?;
    format!("{value:.places$e}", places = DIGITS - 1).parse().ok()
}

/// A column of words that repeat: each word once, and which one it is.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Words {
    /// Different words, in order of appearance.
    pub words: Vec<String>,
    /// For each row the index of its word; `null` where there is none.
    pub codes: Vec<Option<u32>>,
}

impl Words {
    /// From one word per row.
    pub fn of<'a>(rows: impl IntoIterator<Item = Option<&'a str>>) -> Self {
        let mut column = Self::default();
        // For look-ups only; order never comes from it.
        let mut known: HashMap<&str, u32> = HashMap::new();
        for word in rows {
            let code = word.map(|word| {
                *known.entry(word).or_insert_with(|| {
                    column.words.push(word.to_owned());
                    u32::try_from(column.words.len() - 1).unwrap_or(u32::MAX)
                })
            });
            column.codes.push(code);
        }
        column
    }

    /// The word of a row.
    #[must_use]
    pub fn get(&self, row: usize) -> Option<&str> {
        let code = (*self.codes.get(row)?)?;
        self.words.get(code as usize).map(String::as_str)
    }
}

/// Rank of each text in natural order: numbers inside of names by value, so that `up-2` comes before `up-10`. Equal texts
/// keep their order.
#[must_use]
pub fn natural_ranks(texts: &[String]) -> Vec<u32> {
    let mut order: Vec<usize> = (0..texts.len()).collect();
    order.sort_by(|a, b| natural(&texts[*a], &texts[*b]));
    let mut ranks = vec![0; texts.len()];
    for (rank, index) in (0..).zip(order) {
        ranks[index] = rank;
    }
    ranks
}

/// Natural order of two texts; those that differ only in leading zeros by bytes.
#[must_use]
pub fn natural(a: &str, b: &str) -> Ordering {
    let (mut left, mut right) = (a, b);
    loop {
        let (x, y) = (piece(left), piece(right));
        if x.is_empty() || y.is_empty() {
            return x.len().cmp(&y.len()).then_with(|| a.cmp(b));
        }
        let number = |text: &str| text.as_bytes()[0].is_ascii_digit();
        let order = if number(x) && number(y) {
            let (p, q) = (x.trim_start_matches('0'), y.trim_start_matches('0'));
            p.len().cmp(&q.len()).then_with(|| p.cmp(q))
        } else {
            x.cmp(y)
        };
        if order.is_ne() {
            return order;
        }
        (left, right) = (&left[x.len()..], &right[y.len()..]);
    }
}

/// The longest beginning that is all digits, or has none.
fn piece(text: &str) -> &str {
    let Some(first) = text.bytes().next() else {
        return "";
    };
    let end = text.find(|c: char| c.is_ascii_digit() != first.is_ascii_digit());
    &text[..end.unwrap_or(text.len())]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_in_names_count() {
        let names = ["up-10", "up-2", "up", "up-02", "größe 3", "größe 20", "", "1e9"].map(str::to_owned);
        let ranks = natural_ranks(&names);
        let mut sorted: Vec<(u32, &String)> = ranks.into_iter().zip(&names).collect();
        sorted.sort();
        let sorted: Vec<&str> = sorted.iter().map(|(_, name)| name.as_str()).collect();
        assert_eq!(
            sorted,
            ["", "1e9", "größe 3", "größe 20", "up", "up-02", "up-2", "up-10"]
        );
    }

    #[test]
    fn numbers_are_shortened() {
        assert_eq!(short(Some(123_456_789.0)), Some(123_457_000.0));
        assert_eq!(short(Some(0.1 + 0.2)), Some(0.3));
        assert_eq!(short(Some(f64::NAN)), None);
        assert_eq!(short(Some(0.0)), Some(0.0));
    }

    #[test]
    fn words_stand_once() {
        let column = Words::of([Some("a"), None, Some("b"), Some("a")]);
        assert_eq!(column.words, ["a", "b"]);
        assert_eq!(column.codes, [Some(0), None, Some(1), Some(0)]);
        assert_eq!((column.get(3), column.get(1), column.get(9)), (Some("a"), None, None));
    }
}
