//! The table `[kohaku]` of a definition.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use target_api::OptionError;

use crate::machine::{Converting, Drain, Machine, Prices};

/// Options in force: the machine, and which price revision counts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct KohakuOptions {
    /// `real-span` or `published`.
    pub prices: Prices,
    /// The machine; its defaults are the published mesh.
    pub machine: Machine,
    /// Whether a softmax with a fixed maximum is offered: a what-if, right only for bounded scores.
    pub fixed_max: bool,
}

impl Default for KohakuOptions {
    fn default() -> Self {
        Self {
            prices: Prices::RealSpan,
            machine: Machine::default(),
            fixed_max: false,
        }
    }
}

const KEYS: &str = "`prices`, `clusters`, `cores`, `accumulator`, `drain`, `conversions`, `softmax`, \
                    `full_shape_epilogue`, `staging`";

struct Entry<'a> {
    key: &'a str,
    value: &'a toml::Value,
}

impl Entry<'_> {
    fn wrong(&self, expected: &str) -> OptionError {
        OptionError {
            key: format!("kohaku.{}", self.key),
            message: format!("found {}, expected {expected}", self.value),
        }
    }

    /// The choice that the word stands for.
    fn choice<T: Copy>(&self, choices: &[(&str, T)]) -> Result<T, OptionError> {
        let word = self.value.as_str();
        let found = choices.iter().find(|(name, _)| Some(*name) == word);
        found.map(|(_, choice)| *choice).ok_or_else(|| {
            let names: Vec<String> = choices.iter().map(|(name, _)| format!("\"{name}\"")).collect();
            self.wrong(&names.join(" or "))
        })
    }

    fn count(&self, most: i64) -> Result<usize, OptionError> {
        let n = self.value.as_integer().filter(|n| (1..=most).contains(n));
        n.and_then(|n| usize::try_from(n).ok())
            .ok_or_else(|| self.wrong(&format!("a whole number from 1 to {most}")))
    }

    fn truth(&self) -> Result<bool, OptionError> {
        self.value.as_bool().ok_or_else(|| self.wrong("true or false"))
    }
}

impl KohakuOptions {
    /// Reads the table; what it does not name is as published.
    pub fn parse(table: &toml::Table) -> Result<Self, OptionError> {
        let mut options = Self::default();
        let machine = &mut options.machine;
        for (key, value) in table {
            let entry = Entry { key, value };
            match key.as_str() {
                "prices" => {
                    options.prices = entry.choice(&[
                        (Prices::RealSpan.word(), Prices::RealSpan),
                        (Prices::Published.word(), Prices::Published),
                    ])?;
                }
                "clusters" => machine.clusters = entry.count(64)?,
                "cores" => machine.cores = entry.count(64)?,
                "accumulator" => machine.tiles = entry.count(4096)?,
                "drain" => machine.drain = entry.choice(&[("tile", Drain::Tiles), ("rows", Drain::Rows)])?,
                "conversions" => {
                    machine.converting =
                        entry.choice(&[("one-core", Converting::OneCore), ("all-cores", Converting::AllCores)])?;
                }
                "softmax" => options.fixed_max = entry.choice(&[("online", false), ("fixed-max", true)])?,
                "full_shape_epilogue" => machine.full_shape_epilogue = entry.truth()?,
                "staging" => machine.staging = entry.truth()?,
                _ => {
                    return Err(OptionError {
                        key: format!("kohaku.{key}"),
                        message: format!("there is no such option: expected {KEYS}"),
                    });
                }
            }
        }
        Ok(options)
    }

    /// As people see them.
    #[must_use]
    pub fn words(&self) -> BTreeMap<String, String> {
        let m = &self.machine;
        let drain = if m.drain == Drain::Tiles { "tile" } else { "rows" };
        let converting = if m.converting == Converting::OneCore {
            "one-core"
        } else {
            "all-cores"
        };
        let softmax = if self.fixed_max { "fixed-max" } else { "online" };
        [
            ("prices", self.prices.word().to_owned()),
            ("clusters", m.clusters.to_string()),
            ("cores", m.cores.to_string()),
            ("accumulator", m.tiles.to_string()),
            ("drain", drain.to_owned()),
            ("conversions", converting.to_owned()),
            ("softmax", softmax.to_owned()),
            ("full_shape_epilogue", m.full_shape_epilogue.to_string()),
            ("staging", m.staging.to_string()),
        ]
        .map(|(name, word)| (name.to_owned(), word))
        .into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_named_is_as_published() {
        let parse = |text: &str| KohakuOptions::parse(&text.parse().unwrap());
        assert_eq!(parse("").unwrap(), KohakuOptions::default());
        let other = parse("drain = \"rows\"\nclusters = 8\nprices = \"published\"").unwrap();
        assert_eq!((other.machine.drain, other.machine.clusters), (Drain::Rows, 8));
        assert_eq!(other.words()["prices"], "published");
        for (text, word) in [
            ("drain = \"columns\"", "\"tile\" or \"rows\""),
            ("cores = 0", "from 1 to 64"),
            ("staging = 1", "true or false"),
            ("meshes = 4", "no such option"),
        ] {
            let message = parse(text).unwrap_err().to_string();
            assert!(message.contains(word), "{message}");
        }
    }
}
