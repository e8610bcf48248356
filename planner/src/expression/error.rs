//! What is wrong with the text of an expression, where, and what was expected.

use std::fmt;

use super::tree::{Kind, Span};

/// An expression that can't be read or makes no sense, shown with a caret below the place.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub struct ExpressionError {
    kind: Box<ExpressionErrorKind>,
    /// The line of the expression that holds the place.
    line: String,
    /// Line of the place, from 1.
    line_number: usize,
    /// First character of the place in its line, from 1.
    column: usize,
    /// Characters of the place, at least 1.
    width: usize,
}

/// Kinds of [`ExpressionError`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ExpressionErrorKind {
    /// The text is longer than any that is accepted.
    TooLong {
        /// How long.
        bytes: usize,
        /// How long it may be.
        limit: usize,
    },
    /// Brackets or operators are nested too deeply.
    TooDeep {
        /// Levels that are accepted.
        limit: u32,
    },
    /// A character that is no part of the language.
    UnknownSign {
        /// The sign.
        sign: String,
        /// What is written instead, if known.
        help: Option<&'static str>,
    },
    /// A number that is none, or that doesn't fit.
    BadNumber {
        /// As written.
        written: String,
    },
    /// A backslash before something that has no meaning there.
    UnknownEscape {
        /// The character after the backslash.
        escaped: char,
    },
    /// A text without an end.
    UnclosedText {
        /// The quote it began with.
        quote: char,
    },
    /// Something else was expected here.
    Unexpected {
        /// What stands there.
        found: String,
        /// What could.
        expected: &'static str,
        /// A hint, if there is one.
        help: Option<&'static str>,
    },
    /// A call of something that is no function.
    UnknownFunction {
        /// What was called.
        name: String,
        /// A function with a name like it.
        near: Option<String>,
    },
    /// A function with too few or too many arguments.
    Arity {
        /// The function.
        function: &'static str,
        /// How many it takes.
        expected: &'static str,
        /// How many were given.
        found: usize,
    },
    /// A name that nothing was declared for.
    UnknownName {
        /// The name.
        name: String,
        /// A declared name like it.
        near: Option<String>,
        /// All declared names.
        known: Vec<String>,
    },
    /// A value of the wrong kind.
    Type {
        /// Who wants it, as in `` `and` takes ``.
        context: String,
        /// What is wanted.
        expected: &'static str,
        /// What was given.
        found: &'static str,
        /// A hint, if there is one.
        help: Option<String>,
    },
    /// Two values of kinds that can't be compared.
    Comparison {
        /// The comparison.
        sign: &'static str,
        /// Kind on its left.
        left: Kind,
        /// Kind on its right.
        right: Kind,
    },
    /// `in` with a list of nothing.
    EmptyList,
}

impl ExpressionError {
    pub(super) fn new(text: &str, span: Span, kind: ExpressionErrorKind) -> Self {
        let start = (span.start as usize).min(text.len());
        let before = text.get(..start).unwrap_or_default();
        let line_start = before.rfind('\n').map_or(0, |at| at + 1);
        let line = text[line_start..].lines().next().unwrap_or_default();
        let column = before[line_start..].chars().count();
        // Where the place goes on in the next line, the carets end with this one.
        let width = span.of(text).lines().next().unwrap_or_default().chars().count();
        Self {
            kind: Box::new(kind),
            // One column per character: a tab would move the caret.
            line: line.chars().map(|c| if c.is_control() { ' ' } else { c }).collect(),
            line_number: before.matches('\n').count() + 1,
            column: column + 1,
            width: width.max(1),
        }
    }

    /// What is wrong.
    #[must_use]
    pub fn kind(&self) -> &ExpressionErrorKind {
        &self.kind
    }

    /// Line in the expression, from 1.
    #[must_use]
    pub fn line(&self) -> usize {
        self.line_number
    }

    /// Character in that line, from 1.
    #[must_use]
    pub fn column(&self) -> usize {
        self.column
    }
}

/// Characters of a line that are shown.
const SHOWN: usize = 100;

impl fmt::Display for ExpressionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let place = match self.line_number {
            1 => format!("column {}", self.column),
            line => format!("line {line}, column {}", self.column),
        };
        writeln!(f, "{} at {place}", self.kind)?;
        // Of a long line the surroundings are shown, so that the caret stays below its place in a terminal.
        let skipped = if self.column > SHOWN {
            self.column - SHOWN / 2
        } else {
            0
        };
        let line: String = self.line.chars().skip(skipped).take(SHOWN).collect();
        let before = self.column - 1 - skipped;
        writeln!(f, "  | {line}")?;
        write!(
            f,
            "  | {}{}",
            " ".repeat(before),
            "^".repeat(self.width.min(SHOWN.saturating_sub(before)).max(1))
        )?;
        match self.kind.help() {
            Some(help) => write!(f, "\nhelp: {help}"),
            None => Ok(()),
        }
    }
}

impl ExpressionErrorKind {
    fn help(&self) -> Option<String> {
        match self {
            Self::UnknownSign { help, .. } | Self::Unexpected { help, .. } => help.map(str::to_owned),
            Self::UnknownName {
                near: None,
                name,
                known,
            } if !known.is_empty() => Some(format!("a text stands in quotes: `'{name}'`")),
            Self::UnknownFunction { near, .. } | Self::UnknownName { near, .. } => {
                near.as_ref().map(|near| format!("there is `{near}`"))
            }
            Self::Type { help, .. } => help.clone(),
            Self::UnknownEscape { .. } => Some("a backslash itself is written twice".to_owned()),
            Self::BadNumber { .. } => {
                Some("integers have at most 64 bits, without a leading zero; floats are finite".to_owned())
            }
            Self::EmptyList => Some("nothing is in an empty list, so the condition is always false".to_owned()),
            Self::Comparison { left, right, .. } if left == right => {
                Some("booleans are compared with `==` and `!=`, or used as they are".to_owned())
            }
            Self::TooLong { .. }
            | Self::TooDeep { .. }
            | Self::UnclosedText { .. }
            | Self::Arity { .. }
            | Self::Comparison { .. } => None,
        }
    }
}

impl fmt::Display for ExpressionErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooLong { bytes, limit } => write!(f, "expression of {bytes} bytes, at most {limit} are read,"),
            Self::TooDeep { limit } => write!(f, "more than {limit} levels of nesting"),
            Self::UnknownSign { sign, .. } => write!(f, "unknown sign `{}`", sign.escape_debug()),
            Self::BadNumber { written } => write!(f, "`{written}` is no number that can be used here,"),
            Self::UnknownEscape { escaped } => write!(f, "unknown escape `\\{}`", escaped.escape_debug()),
            Self::UnclosedText { quote } => write!(f, "text without a closing `{quote}`, begun"),
            Self::Unexpected { found, expected, .. } => write!(f, "expected {expected}, found {found}"),
            Self::UnknownFunction { name, .. } => {
                write!(f, "unknown function `{name}`, expected `min`, `max` or `ceil_div`,")
            }
            Self::Arity {
                function,
                expected,
                found,
            } => {
                write!(f, "`{function}` takes {expected} arguments, found {found},")
            }
            Self::UnknownName { name, known, .. } => {
                write!(f, "unknown name `{name}`, expected {},", listed(known))
            }
            Self::Type {
                context,
                expected,
                found,
                ..
            } => write!(f, "{context} {expected}, found {found},"),
            Self::Comparison { sign, left, right } => {
                write!(
                    f,
                    "`{sign}` can't compare {} with {},",
                    with_article(*left),
                    with_article(*right)
                )
            }
            Self::EmptyList => f.write_str("expected a list with members, found an empty one,"),
        }
    }
}

/// A kind as a noun.
pub(super) fn with_article(kind: Kind) -> &'static str {
    match kind {
        Kind::Boolean => "a boolean",
        Kind::Integer => "an integer",
        Kind::Float => "a float",
        Kind::Text => "a text",
    }
}

/// Some names as a phrase; a long list is cut.
fn listed(names: &[String]) -> String {
    const SHOWN: usize = 12;
    let quoted: Vec<String> = names.iter().take(SHOWN).map(|name| format!("`{name}`")).collect();
    match (names.len(), quoted.split_last()) {
        (0, _) | (_, None) => "none, as none is declared".to_owned(),
        (1, Some((only, _))) => only.clone(),
        (n, Some((last, others))) if n <= SHOWN => format!("{} or {last}", others.join(", ")),
        (n, _) => format!("{} or one of {} more", quoted.join(", "), n - SHOWN),
    }
}

/// The candidate that differs least from `name`, if it differs in no more than a third of its characters (or in one).
pub(crate) fn closest<'a>(name: &str, candidates: impl Iterator<Item = &'a str>) -> Option<String> {
    let plain = |text: &str| -> Vec<char> { text.to_lowercase().chars().filter(|c| *c != '_').collect() };
    let name = plain(name);
    candidates
        .map(|candidate| (distance(&name, &plain(candidate)), candidate))
        .min_by_key(|(distance, _)| *distance)
        .filter(|(distance, _)| *distance <= (name.len() / 3).max(1))
        .map(|(_, candidate)| candidate.to_owned())
}

/// Edits between two texts: insertions, deletions, replacements and swaps of neighbours (optimal string alignment).
fn distance(a: &[char], b: &[char]) -> usize {
    let mut rows: Vec<Vec<usize>> = vec![(0..=b.len()).collect()];
    for i in 1..=a.len() {
        let mut row = vec![i; b.len() + 1];
        for j in 1..=b.len() {
            let replaced = rows[i - 1][j - 1] + usize::from(a[i - 1] != b[j - 1]);
            row[j] = replaced.min(rows[i - 1][j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                row[j] = row[j].min(rows[i - 2][j - 2] + 1);
            }
        }
        rows.push(row);
    }
    rows[a.len()][b.len()]
}
