//! The table `[ipu21]` of a definition.

use std::collections::BTreeMap;

use planner::costs::CostTable as Families;
use target_api::OptionError;

use crate::costs::{CostTable, builtin, builtin_names};

/// Options in force.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IpuOptions {
    /// Prices of estimates and of the unit model.
    pub costs: CostTable,
}

impl IpuOptions {
    /// Reads the table. Its only key is `costs`: the name of a built-in table (default `after`), or a table in place.
    pub fn parse(table: &toml::Table) -> Result<Self, OptionError> {
        let mut costs = builtin("after");
        let names: Vec<String> = builtin_names().map(|name| format!("\"{name}\"")).collect();
        let expected = format!("expected {} or a cost table in place", names.join(", "));
        for (key, value) in table {
            let wrong = |message: String| OptionError {
                key: format!("ipu21.{key}"),
                message,
            };
            match (key.as_str(), value) {
                ("costs", toml::Value::String(name)) => {
                    costs = Some(builtin(name).ok_or_else(|| wrong(format!("found \"{name}\", {expected}")))?);
                }
                ("costs", toml::Value::Table(inner)) => {
                    costs = Some(
                        Families::of_toml(inner)
                            .and_then(CostTable::try_from)
                            .map_err(|error| wrong(error.to_string()))?,
                    );
                }
                ("costs", other) => return Err(wrong(format!("found {other}, {expected}"))),
                _ => return Err(wrong("there is no such option: expected `costs`".to_owned())),
            }
        }
        let costs = costs.ok_or_else(|| OptionError {
            key: "ipu21.costs".to_owned(),
            message: expected,
        })?;
        Ok(Self { costs })
    }

    /// As people see them.
    #[must_use]
    pub fn words(&self) -> BTreeMap<String, String> {
        BTreeMap::from([("costs".to_owned(), self.costs.name().to_owned())])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_are_chosen_by_name_or_given_in_place() {
        let parse = |text: &str| IpuOptions::parse(&text.parse().unwrap());
        assert_eq!(parse("").unwrap().costs.name(), "after");
        assert_eq!(parse("costs = \"sweep\"").unwrap().costs.name(), "sweep");
        let (own, beside) = (include_str!("costs/before.toml"), include_str!("costs/beside.toml"));
        let own = format!("[costs]\n{own}{beside}").replace("\n[", "\n[costs.");
        assert_eq!(parse(&own).unwrap().costs, builtin("before").unwrap());
        for (text, word) in [
            ("costs = \"later\"", "later"),
            ("costs = 3", "found 3"),
            ("tiles = 3", "no such option"),
        ] {
            let message = parse(text).unwrap_err().to_string();
            assert!(message.contains(word), "{message}");
        }
    }
}
