//! Where the values of a target's options stand in the file, by their paths.

use std::collections::BTreeMap;
use std::ops::Range;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::error::{DefinitionError, Source};

/// Paths such as `command.build[3]` with the bytes of their values; of tables, the bytes of their keys.
#[derive(Debug, Clone, Default)]
pub(crate) struct Places(BTreeMap<String, Range<usize>>);

impl Places {
    /// All values of a table, under `prefix`.
    pub(crate) fn add_table(&mut self, prefix: &str, table: &DeTable<'_>) {
        for (key, value) in table {
            let path = if prefix.is_empty() {
                key.get_ref().to_string()
            } else {
                format!("{prefix}.{}", key.get_ref())
            };
            self.add(path, key.span(), value);
        }
    }

    /// One value.
    pub(crate) fn add(&mut self, path: String, key: Range<usize>, value: &Spanned<DeValue<'_>>) {
        match value.get_ref() {
            DeValue::Table(table) => {
                self.add_table(&path, table);
                self.0.insert(path, key);
            }
            DeValue::Array(items) => {
                for (index, item) in items.iter().enumerate() {
                    self.add(format!("{path}[{index}]"), item.span(), item);
                }
                self.0.insert(path, value.span());
            }
            _ => _ = self.0.insert(path, value.span()),
        }
    }

    /// The keys of a table of options only: messages about an option point at its name.
    pub(crate) fn add_keys(&mut self, table: &DeTable<'_>) {
        for (key, _) in table {
            self.0.insert(key.get_ref().to_string(), key.span());
        }
    }

    /// The bytes that a path means: of itself, else of what it is part of. A path may end in `:start..end`, which are
    /// bytes of the text that stands there.
    pub(crate) fn find(&self, source: &Source, path: &str) -> Option<Range<usize>> {
        let (path, part) = split(path);
        if let (Some(span), Some(part)) = (self.0.get(path), part) {
            return Some(within(source, span, part));
        }
        let mut path = path;
        loop {
            if let Some(span) = self.0.get(path) {
                return Some(span.clone());
            }
            path = &path[..path.rfind(['.', '['])?];
        }
    }
}

/// A path, and the part of its text that is meant.
fn split(path: &str) -> (&str, Option<Range<usize>>) {
    let parts = || {
        let (path, part) = path.rsplit_once(':')?;
        let (start, end) = part.split_once("..")?;
        Some((path, start.parse().ok()?..end.parse().ok()?))
    };
    parts().map_or((path, None), |(path, part)| (path, Some(part)))
}

/// Some bytes of a text in the file; all of it where escapes stand in the way.
fn within(source: &Source, span: &Range<usize>, part: Range<usize>) -> Range<usize> {
    let literal = source.text.get(span.clone()).unwrap_or_default();
    let quote = match literal.get(..3) {
        Some("\"\"\"" | "'''") => 3,
        _ => 1,
    };
    let plain = literal.starts_with('\'') || !literal.contains('\\');
    let start = span.start + quote + part.start;
    let end = span.start + quote + part.end;
    // A text of several lines may begin with a line end that doesn't count.
    if plain && !literal.contains('\n') && end <= span.end {
        start..end.max(start)
    } else {
        span.clone()
    }
}

/// Takes the place that an expression's own error names along, and its help; the excerpt and the carets are the
/// definition's.
pub(crate) fn about_expression(
    source: &Source,
    places: &Places,
    path: &str,
    lead: &str,
    text: &str,
    error: &crate::expression::ExpressionError,
) -> DefinitionError {
    let shown = error.to_string();
    let carets = shown
        .lines()
        .find(|line| line.starts_with("  | ") && line.ends_with('^'));
    let width = carets.map_or(1, |line| line.chars().filter(|c| *c == '^').count());
    let before = error.column() - 1;
    let bytes = |characters: usize| text.chars().take(characters).map(char::len_utf8).sum::<usize>();
    let path = format!("{path}:{}..{}", bytes(before), bytes(before + width));
    let span = places.find(source, &path).unwrap_or(0..0);
    let message = format!("{lead}{}", error.kind().to_string().trim_end_matches(','));
    let wrong = source.error(&span, message);
    match shown.split_once("\nhelp: ") {
        Some((_, help)) => wrong.help(help),
        None => wrong,
    }
}
