//! What changed between two texts of a definition.

use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// The first line that differs: its number (from 1), the old line and the new one; a missing line is empty. `None` when
/// all lines are the same.
#[must_use]
pub fn changed_line(old: &str, new: &str) -> Option<(usize, String, String)> {
    let (mut before, mut after) = (old.lines(), new.lines());
    for number in 1.. {
        match (before.next(), after.next()) {
            (None, None) => return None,
            (a, b) if a == b => {}
            (a, b) => {
                return Some((
                    number,
                    a.unwrap_or_default().to_owned(),
                    b.unwrap_or_default().to_owned(),
                ));
            }
        }
    }
    None
}

/// Whether two definitions say the same: the same values under the same keys in the same order, however they are spaced,
/// quoted and commented. Order counts: parameters are enumerated and cases are made in the order of the file. Texts that
/// are no TOML say nothing.
#[must_use]
pub fn same_meaning(old: &str, new: &str) -> bool {
    match (said(old), said(new)) {
        (Some(old), Some(new)) => old == new,
        _ => false,
    }
}

/// Every value with its key, in the order of the file.
fn said(text: &str) -> Option<Vec<(String, String)>> {
    let root = DeTable::parse(text).ok()?;
    let mut leaves = Vec::new();
    table(root.get_ref(), "", &mut leaves);
    leaves.sort_by_key(|(start, ..)| *start);
    Some(leaves.into_iter().map(|(_, key, value)| (key, value)).collect())
}

type Leaf = (usize, String, String);

fn table(table: &DeTable<'_>, key: &str, leaves: &mut Vec<Leaf>) {
    for (name, value) in table {
        // Quoted, so that no name can be read as two.
        leaf(value, format!("{key}.{:?}", name.get_ref()), leaves);
    }
}

fn leaf(value: &Spanned<DeValue<'_>>, key: String, leaves: &mut Vec<Leaf>) {
    match value.get_ref() {
        DeValue::Table(inner) if !inner.is_empty() => table(inner, &key, leaves),
        DeValue::Array(inner) if !inner.is_empty() => {
            for (number, value) in inner.iter().enumerate() {
                leaf(value, format!("{key}[{number}]"), leaves);
            }
        }
        other => leaves.push((value.span().start, key, format!("{other:?}"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_spaces_and_quotes_mean_nothing_and_order_does() {
        let old = "target = \"cpu\" # why\n[explore]\nvary = [\"a\", 1]\n[[case]]\nname = \"x\"\n";
        let same = [
            "# more\n\ntarget='cpu'\r\n[explore]\n  vary = [\n 'a', # one\n 1 ]\n\n[[case]]\nname = \"x\"",
            "target = \"cpu\"\nexplore = { vary = [\"a\", 1] }\n[[case]]\nname = \"x\"\n",
        ];
        for new in same {
            assert!(same_meaning(old, new), "{new}");
        }
        let other = [
            old.replace("cpu", "cpu "),
            old.replace("1]", "1.0]"),
            old.replace("1]", "1, 2]"),
            old.replace("\"a\", 1", "1, \"a\""),
            old.replace("vary", "\"vary\".x"),
            "target = \"cpu\"\n[[case]]\nname = \"x\"\n[explore]\nvary = [\"a\", 1]\n".to_owned(),
            old.replace("[[case]]", "[other]\n[[case]]"),
            old.replace("= \"x\"", "= "),
        ];
        for new in other {
            assert!(!same_meaning(old, &new), "{new}");
        }
    }
}
