//! Reading tables.

use toml::de::DeTable;

use super::error::CostError;
use super::table::CostTable;
use crate::definition::{DefinitionError, Places, Source, about_expression};

impl CostTable {
    /// Reads a table and checks it.
    pub fn parse(text: &str) -> Result<Self, CostError> {
        let table: Self = toml::from_str(text).map_err(|error| CostError::Form(error.to_string()))?;
        table.check()?;
        Ok(table)
    }

    /// A table from its parsed form, as it stands in a definition.
    pub fn of_toml(table: &toml::Table) -> Result<Self, CostError> {
        let table: Self = table
            .clone()
            .try_into()
            .map_err(|error: toml::de::Error| CostError::Form(error.message().to_owned()))?;
        table.check()?;
        Ok(table)
    }

    /// Its parsed form, as it may stand in a definition.
    pub fn to_toml(&self) -> Result<toml::Table, CostError> {
        toml::Table::try_from(self).map_err(|error| CostError::Form(error.to_string()))
    }

    /// Reads a table from a file; errors show the place. `path` is only shown in messages.
    pub fn parse_file(path: &str, text: &str) -> Result<Self, DefinitionError> {
        let source = Source {
            path: path.to_owned(),
            text: text.to_owned(),
        };
        let shown = |error: &toml::de::Error| source.error(&error.span().unwrap_or(0..0), error.message());
        let root = DeTable::parse(text).map_err(|error| shown(&error))?;
        let mut places = Places::default();
        places.add_table("", root.get_ref());
        let table: Self = toml::from_str(text).map_err(|error| shown(&error))?;
        table.check().map_err(|error| match error {
            CostError::Form(message) => source.error(&(0..0), message),
            CostError::Key { key, message } => {
                let span = places.find(&source, &key).unwrap_or(0..0);
                source.error(&span, format!("`{key}`: {message}"))
            }
            CostError::Expression { key, text, error } => {
                about_expression(&source, &places, &key, &format!("`{key}`: "), &text, &error)
            }
        })?;
        Ok(table)
    }
}
