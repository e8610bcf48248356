//! A network file as TOML has it.

use serde::Deserialize;

use crate::definition::{Located, Named};
use crate::value::Value;

/// Keys of an operation or of the use of a template, as written.
pub(super) type Item = Named<Value>;

/// A network file.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Document {
    pub(super) name: Located<String>,
    pub(super) about: String,
    /// Where published figures stand.
    pub(super) source: Option<String>,
    #[serde(default)]
    pub(super) parameters: Named<Value>,
    /// What must hold of the parameters.
    #[serde(default)]
    pub(super) constraint: Vec<ConstraintEntry>,
    #[serde(default)]
    pub(super) template: Named<Template>,
    #[serde(default)]
    pub(super) model: Vec<Located<ModelEntry>>,
    #[serde(default)]
    pub(super) figure: Vec<Located<FigureEntry>>,
}

/// `[[constraint]]`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ConstraintEntry {
    /// A condition over the parameters.
    pub(super) holds: Located<String>,
    /// Why, for who set them.
    pub(super) because: String,
}

/// `[template.NAME]`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Template {
    #[serde(default)]
    pub(super) parameters: Vec<Located<String>>,
    #[serde(default)]
    pub(super) defaults: Named<Value>,
    pub(super) body: Vec<Located<Item>>,
}

/// `[[model]]`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ModelEntry {
    pub(super) name: Located<String>,
    #[serde(default)]
    pub(super) about: String,
    /// How often it runs. Default 1.
    pub(super) passes: Option<Located<Value>>,
    /// The model whose weights it uses, where it has none of its own.
    pub(super) weights_of: Option<Located<String>>,
    #[serde(default)]
    pub(super) body: Vec<Located<Item>>,
    #[serde(default)]
    pub(super) part: Vec<Located<PartEntry>>,
}

/// `[[model.part]]`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PartEntry {
    pub(super) name: Located<String>,
    pub(super) body: Vec<Located<Item>>,
}

/// `[[figure]]`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct FigureEntry {
    /// The name that later formulas know it by.
    pub(super) id: Option<Located<String>>,
    pub(super) name: Located<String>,
    #[serde(default)]
    pub(super) unit: String,
    /// What is summed over the chosen layers of one pass.
    pub(super) sum: Option<Located<String>>,
    /// Paths: `unet/**`.
    pub(super) at: Option<Located<String>>,
    /// Only layers of this operation.
    pub(super) op: Option<Located<String>>,
    /// Only uses of this template (what is counted), or layers inside of one.
    pub(super) template: Option<Located<String>>,
    /// What else must hold of a layer.
    #[serde(rename = "where")]
    pub(super) condition: Option<Located<String>>,
    /// Instead of a sum.
    pub(super) formula: Option<Located<String>>,
    pub(super) published: Option<Located<String>>,
    /// Where in the source.
    pub(super) section: Option<String>,
    /// Why ours and the published one differ.
    pub(super) reason: Option<String>,
}
