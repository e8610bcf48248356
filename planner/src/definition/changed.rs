//! What changed between two texts of a definition.

use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// The first line whose meaning differs: its number in the new text (from 1; of a line that is gone, in the old one), the old
/// line and the new one; a missing line is empty. Comments, blank lines and the way in which a value is written count only
/// where nothing else differs. `None` when all lines are the same.
#[must_use]
pub fn changed_line(old: &str, new: &str) -> Option<(usize, String, String)> {
    let by_meaning = changed_value(old, new).filter(|(_, old, new)| old != new);
    by_meaning
        .or_else(|| first_line(old, new, without_comment))
        .or_else(|| first_line(old, new, |line| line))
}

/// The lines of the first value that differs.
fn changed_value(old: &str, new: &str) -> Option<(usize, String, String)> {
    let (before, after) = (leaves(old)?, leaves(new)?);
    let at = (0..before.len().max(after.len())).find(|at| said(before.get(*at)) != said(after.get(*at)))?;
    let (was, is) = (before.get(at), after.get(at));
    let lacks = |leaves: &[Leaf], leaf: &Leaf| leaves.iter().all(|other| other.key != leaf.key);
    // Whatever stands before both, in a line that was continued.
    let beside = |own: &[Leaf], text: &str, other: &[Leaf], other_text: &str| {
        let previous = at.checked_sub(1)?;
        let is_continued = line_of(text, own.get(previous)?).0 == line_of(text, own.get(at)?).0;
        is_continued.then(|| line_of(other_text, &other[previous]).1.to_owned())
    };
    Some(match (was, is) {
        // Changed, under another name, or in another order.
        (Some(was), Some(is)) if lacks(&after, was) == lacks(&before, is) => {
            let (line, text) = line_of(new, is);
            (line, line_of(old, was).1.to_owned(), text.to_owned())
        }
        (Some(was), other) if other.is_none() || lacks(&after, was) => {
            let (line, text) = line_of(old, was);
            let is = beside(&before, old, &after, new).unwrap_or_default();
            (line, text.to_owned(), is)
        }
        (_, is) => {
            let (line, text) = line_of(new, is?);
            let was = beside(&after, new, &before, old).unwrap_or_default();
            (line, was, text.to_owned())
        }
    })
}

/// The line in which a value begins, with its number.
fn line_of<'t>(text: &'t str, leaf: &Leaf) -> (usize, &'t str) {
    let number = text[..leaf.start].matches('\n').count();
    (number + 1, text.lines().nth(number).unwrap_or_default())
}

/// The first line in which `what` of two texts differs; lines of which nothing is left are passed over.
fn first_line(old: &str, new: &str, what: impl Fn(&str) -> &str) -> Option<(usize, String, String)> {
    let numbered = |text: &'_ str| -> Vec<(usize, String, String)> {
        let lines = (1..).zip(text.lines());
        lines
            .map(|(number, line)| (number, what(line).to_owned(), line.to_owned()))
            .filter(|(_, what, _)| !what.is_empty())
            .collect()
    };
    let (before, after) = (numbered(old), numbered(new));
    let at = (0..before.len().max(after.len()))
        .find(|at| before.get(*at).map(|(_, what, _)| what) != after.get(*at).map(|(_, what, _)| what))?;
    let (was, is) = (before.get(at), after.get(at));
    let line = |found: Option<&(usize, String, String)>| found.map(|(_, _, line)| line.clone()).unwrap_or_default();
    Some((is.or(was)?.0, line(was), line(is)))
}

/// A line without what follows a `#` that stands in no quotes, and without spaces at its ends.
fn without_comment(line: &str) -> &str {
    let (mut quote, mut is_escaped) = (None, false);
    for (at, c) in line.char_indices() {
        match (quote, c) {
            (None, '#') => return line[..at].trim(),
            (None, '"' | '\'') => quote = Some(c),
            (Some('"'), '\\') if !is_escaped => {
                is_escaped = true;
                continue;
            }
            (Some(open), c) if c == open && !is_escaped => quote = None,
            _ => {}
        }
        is_escaped = false;
    }
    line.trim()
}

/// Whether two definitions say the same: the same values under the same keys in the same order, however they are spaced,
/// quoted and commented. Order counts: parameters are enumerated and cases are made in the order of the file. Texts that
/// are no TOML say nothing.
#[must_use]
pub fn same_meaning(old: &str, new: &str) -> bool {
    let (Some(before), Some(after)) = (leaves(old), leaves(new)) else {
        return false;
    };
    before.len() == after.len() && before.iter().zip(&after).all(|(a, b)| said(Some(a)) == said(Some(b)))
}

/// A value with its key, and where it begins in the text.
struct Leaf {
    start: usize,
    key: String,
    value: String,
}

/// What a value says, wherever it stands.
fn said(leaf: Option<&Leaf>) -> Option<(&str, &str)> {
    leaf.map(|leaf| (leaf.key.as_str(), leaf.value.as_str()))
}

/// Every value with its key, in the order of the file.
fn leaves(text: &str) -> Option<Vec<Leaf>> {
    let root = DeTable::parse(text).ok()?;
    let mut leaves = Vec::new();
    table(root.get_ref(), "", &mut leaves);
    leaves.sort_by_key(|leaf| leaf.start);
    Some(leaves)
}

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
        other => leaves.push(Leaf {
            start: value.span().start,
            key,
            value: format!("{other:?}"),
        }),
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

    #[test]
    fn the_line_whose_meaning_differs_is_named() {
        let old = "# a sweep\ntarget = \"cpu\"\n\n[measure]\nrounds = 4 # few\npairs = 2\n";
        let line = |new: &str| changed_line(old, new).unwrap();
        let text = |line: usize, old: &str, new: &str| (line, old.to_owned(), new.to_owned());
        // Comments were edited, too, and lines added before.
        let new = "# another sweep\n# of mine\ntarget = 'cpu'\n\n[measure]\nrounds = 8 # few\npairs = 2\n";
        assert_eq!(line(new), text(6, "rounds = 4 # few", "rounds = 8 # few"));
        // Added, removed, in another order.
        assert_eq!(line(&format!("# more\n{old}seed = 7")), text(8, "", "seed = 7"));
        assert_eq!(
            line(&old.replace("rounds = 4 # few\n", "").replace('#', "# #")),
            text(5, "rounds = 4 # few", "")
        );
        assert_eq!(
            line(&old.replace("rounds = 4 # few\npairs = 2", "pairs = 2\nrounds = 4")),
            text(5, "rounds = 4 # few", "pairs = 2")
        );
        // A table under another name: its values stand in lines that are the same.
        assert_eq!(
            line(&old.replace("# a", "# the").replace("[measure]", "[measured]")),
            text(4, "[measure]", "[measured]")
        );
        // A list that got longer or shorter in its line.
        let (short, long) = ("a = 1 # x\nb = [1, 2]\nc = 3", "a = 1\nb = [1, 2, 3]\nc = 3");
        assert_eq!(changed_line(short, long), Some(text(2, "b = [1, 2]", "b = [1, 2, 3]")));
        assert_eq!(changed_line(long, short), Some(text(2, "b = [1, 2, 3]", "b = [1, 2]")));
        // Only comments, or no TOML.
        assert_eq!(
            changed_line("a = 1 # x", "a = 1 # y"),
            Some(text(1, "a = 1 # x", "a = 1 # y"))
        );
        assert_eq!(
            changed_line("a = \"#\" # x\nb\n", "a = \"#\" # y\nc\n"),
            Some(text(2, "b", "c"))
        );
        assert_eq!(changed_line(old, old), None);
    }
}
