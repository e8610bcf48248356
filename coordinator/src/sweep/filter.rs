//! Which cases a run works on.

use std::collections::HashSet;
use std::convert::Infallible;
use std::str::FromStr;

use cohort::{Outcome, State};

/// What was asked for means nothing.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FilterError {
    /// A name that is not there.
    #[error("`{option} {pattern}`: the cohort has no such case{nearest}")]
    Unknown {
        /// The option.
        option: &'static str,
        /// What it was given.
        pattern: String,
        /// A case that may be meant, as the end of the sentence.
        nearest: String,
    },
    /// A pattern where a name is expected.
    #[error("`{option} {pattern}`: expected whole names of cases, no pattern")]
    Pattern {
        /// The option.
        option: &'static str,
        /// What it was given.
        pattern: String,
    },
    /// Nothing passes.
    #[error("`--only` and `--exclude` together leave no case")]
    Nothing,
    /// A difference of another name than any that can be accepted.
    #[error("`--accept {0}`: expected `machine.NAME` or `tool.NAME`, as the message about the difference says")]
    Accept(String),
}

/// What to begin again: attempt n + 1 of each.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Retry {
    /// Cases whose build or run failed.
    Failed,
    /// Cases that took too long.
    TimedOut,
    /// Cases with wrong results.
    Incorrect,
    /// Cases of this name or pattern, whatever became of them.
    Case(String),
}

impl FromStr for Retry {
    type Err = Infallible;

    fn from_str(word: &str) -> Result<Self, Infallible> {
        Ok(match word {
            "failed" => Self::Failed,
            "timed-out" => Self::TimedOut,
            "incorrect" => Self::Incorrect,
            name => Self::Case(name.to_owned()),
        })
    }
}

impl Retry {
    fn wants(&self, name: &str, outcome: Option<Outcome>) -> bool {
        match self {
            Self::Failed => matches!(outcome, Some(Outcome::BuildFailed | Outcome::RunFailed)),
            Self::TimedOut => outcome == Some(Outcome::TimedOut),
            Self::Incorrect => outcome == Some(Outcome::Incorrect),
            Self::Case(pattern) => matches(pattern, name),
        }
    }

    fn words(&self) -> &str {
        match self {
            Self::Failed => "failed",
            Self::TimedOut => "timed-out",
            Self::Incorrect => "incorrect",
            Self::Case(pattern) => pattern,
        }
    }
}

/// `--only` and `--exclude`, and the cases of a shard.
#[derive(Debug, Clone, Copy)]
pub(super) struct Filter<'a> {
    only: &'a [String],
    exclude: &'a [String],
    shard: Option<&'a HashSet<String>>,
}

impl<'a> Filter<'a> {
    /// Checks that every pattern means something.
    pub(super) fn new(
        only: &'a [String],
        exclude: &'a [String],
        shard: Option<&'a HashSet<String>>,
        state: &State<'_>,
    ) -> Result<Self, FilterError> {
        known("--only", only, state)?;
        known("--exclude", exclude, state)?;
        let filter = Self { only, exclude, shard };
        if !state.cases().iter().any(|case| filter.takes(&case.case.name)) {
            return Err(FilterError::Nothing);
        }
        Ok(filter)
    }

    /// Whether it lets everything pass.
    pub(super) fn is_open(&self) -> bool {
        self.only.is_empty() && self.exclude.is_empty() && self.shard.is_none()
    }

    pub(super) fn takes(&self, name: &str) -> bool {
        self.owns(name) && passes(self.only, self.exclude, name)
    }

    /// Whether records of this case are for this worker to write.
    pub(super) fn owns(&self, name: &str) -> bool {
        self.shard.is_none_or(|own| own.contains(name))
    }
}

/// Whether a case of this name is among `only` (or that is empty) and not among `exclude`.
#[must_use]
pub fn passes(only: &[String], exclude: &[String], name: &str) -> bool {
    let among = |patterns: &[String]| patterns.iter().any(|pattern| matches(pattern, name));
    (only.is_empty() || among(only)) && !among(exclude)
}

/// `(case, next attempt, what was asked for)` of everything to begin again. A case that has not come to an end needs no
/// retry, and gets none.
pub(super) fn retries(wanted: &[Retry], state: &State<'_>) -> Result<Vec<(String, u32, String)>, FilterError> {
    for retry in wanted {
        if let Retry::Case(pattern) = retry {
            known("--retry", std::slice::from_ref(pattern), state)?;
        }
    }
    let cases = state.cases().iter().filter_map(|case| {
        let outcome = case.outcome()?;
        let retry = wanted
            .iter()
            .find(|retry| retry.wants(&case.case.name, Some(outcome)))?;
        let because = format!("`--retry {}` after {}", retry.words(), outcome.as_str());
        Some((case.case.name.clone(), case.attempt() + 1, because))
    });
    Ok(cases.collect())
}

/// Checks that each is the name of a case: a wrong result is accepted by its name, never by a pattern.
pub(super) fn named(option: &'static str, names: &[String], state: &State<'_>) -> Result<(), FilterError> {
    match names.iter().find(|name| state.get(name).is_none()) {
        None => Ok(()),
        Some(name) if name.contains('*') => Err(FilterError::Pattern {
            option,
            pattern: name.clone(),
        }),
        Some(_) => known(option, names, state),
    }
}

pub(super) fn known(option: &'static str, patterns: &[String], state: &State<'_>) -> Result<(), FilterError> {
    let names = || state.cases().iter().map(|case| case.case.name.as_str());
    match patterns
        .iter()
        .find(|pattern| !names().any(|name| matches(pattern, name)))
    {
        None => Ok(()),
        Some(pattern) => {
            // The usual slip is a part of a name without its stars.
            let nearest = names().find(|name| name.contains(pattern.trim_matches('*')));
            Err(FilterError::Unknown {
                option,
                pattern: pattern.clone(),
                nearest: nearest.map_or_else(String::new, |name| format!("; `{name}` is one")),
            })
        }
    }
}

/// Whether `name` is `pattern`, where `*` stands for any characters.
#[must_use]
pub fn matches(pattern: &str, name: &str) -> bool {
    let mut parts = pattern.split('*');
    let Some(rest) = name.strip_prefix(parts.next().unwrap_or_default()) else {
        return false;
    };
    let Some(last) = parts.next_back() else {
        return rest.is_empty();
    };
    let Some(mut middle) = rest.strip_suffix(last) else {
        return false;
    };
    for part in parts {
        match middle.split_once(part) {
            Some((_, after)) => middle = after,
            None => return false,
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns() {
        for (pattern, name, yes) in [
            ("a", "a", true),
            ("a", "ab", false),
            ("a*", "ab", true),
            ("*b", "ab", true),
            ("a*c", "abc", true),
            ("a*c", "ac", true),
            ("a*a", "a", false),
            ("*x*y*", "1x2y3", true),
            ("*y*x*", "1x2y3", false),
            ("*", "", true),
            ("", "a", false),
        ] {
            assert_eq!(matches(pattern, name), yes, "{pattern} {name}");
        }
    }

    #[test]
    fn words_of_retry() {
        assert_eq!("failed".parse(), Ok(Retry::Failed));
        assert_eq!("timed-out".parse(), Ok(Retry::TimedOut));
        assert_eq!("up-1".parse(), Ok(Retry::Case("up-1".to_owned())));
    }
}
