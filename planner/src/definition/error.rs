//! Errors of a definition: file, line, the line itself, and what was expected.

use std::fmt;
use std::ops::Range;

/// A definition's text and the path that it was read from, as the person gave it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Source {
    /// Shown in messages; nothing is read from it.
    pub path: String,
    /// All of the file.
    pub text: String,
}

impl Source {
    /// Line and column of a byte offset, both from 1; the column counts characters.
    #[must_use]
    pub fn position(&self, offset: usize) -> (usize, usize) {
        let mut at = offset.min(self.text.len());
        while !self.text.is_char_boundary(at) {
            at -= 1;
        }
        let before = &self.text[..at];
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        let line = before.matches('\n').count() + 1;
        (line, before[line_start..].chars().count() + 1)
    }

    /// An error about these bytes.
    #[must_use]
    pub fn error(&self, span: &Range<usize>, message: impl Into<String>) -> DefinitionError {
        let (line, column) = self.position(span.start);
        let excerpt = self.text.lines().nth(line - 1).unwrap_or_default().to_owned();
        let left = excerpt.chars().count() + 1 - column.min(excerpt.chars().count() + 1);
        let wanted = self.text.get(span.clone()).map_or(1, |bytes| bytes.chars().count());
        DefinitionError {
            path: self.path.clone(),
            line,
            column,
            width: wanted.min(left).max(1),
            excerpt,
            message: message.into(),
            help: None,
        }
    }
}

/// What is wrong with a definition, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DefinitionError {
    /// The definition's path, as given.
    pub path: String,
    /// From 1.
    pub line: usize,
    /// From 1, in characters.
    pub column: usize,
    /// How many characters of the line are meant.
    pub width: usize,
    /// The line itself.
    pub excerpt: String,
    /// What is wrong and what was expected.
    pub message: String,
    /// What to do, where that is known.
    pub help: Option<String>,
}

impl DefinitionError {
    /// Adds what to do.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }
}

impl fmt::Display for DefinitionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let margin = " ".repeat(self.line.to_string().len());
        writeln!(f, "`{}:{}:{}`: {}", self.path, self.line, self.column, self.message)?;
        writeln!(f, "{margin} |")?;
        writeln!(f, "{} | {}", self.line, self.excerpt)?;
        // Tabs stay tabs, so that the marks stand under what they mean.
        let indent: String = self
            .excerpt
            .chars()
            .take(self.column - 1)
            .map(|c| if c == '\t' { '\t' } else { ' ' })
            .collect();
        write!(f, "{margin} | {indent}{}", "^".repeat(self.width))?;
        match &self.help {
            Some(help) => write!(f, "\nhelp: {help}"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for DefinitionError {}
