//! From the text of a network file to a network.

use super::document::{Document, ModelEntry};
use super::expand::Expander;
use super::figures;
use super::parameters::parameters;
use super::scope::Scope;
use super::tree::{Model, Network, Node, NodeKind};
use crate::definition::{DefinitionError, Source};

/// Reads a network file. `path` is only shown in messages; `given` are parameters that take other values than the file's
/// own.
///
/// # Errors
/// The first thing that can't be read or makes no sense, with file, line and field.
pub fn parse(path: &str, text: &str, given: &[(String, i64)]) -> Result<Network, DefinitionError> {
    let source = Source {
        path: path.to_owned(),
        text: text.to_owned(),
    };
    let document = toml::from_str::<Document>(text).map_err(|error| {
        let message = error
            .message()
            .replace("expected i64", "expected a whole number")
            .replace("expected a string", "expected a text");
        source.error(&error.span().unwrap_or(0..0), message)
    })?;
    let (parameters, settings) = parameters(&source, &document, given)?;
    build(&source, &document, parameters).map_err(|error| settings.noted(error))
}

fn build(source: &Source, document: &Document, parameters: Scope) -> Result<Network, DefinitionError> {
    if document.model.is_empty() {
        let message = "the network has no model: expected at least one `[[model]]` table";
        return Err(source.error(&document.name.span, message));
    }
    let expander = Expander::new(source, document)?;
    let mut models: Vec<Model> = Vec::new();
    for entry in &document.model {
        if models.iter().any(|model| model.name == entry.name.value) {
            let message = format!("a model called `{}` stands already above", entry.name.value);
            return Err(source.error(&entry.name.span, message));
        }
        let model = model(source, &expander, entry, &parameters, &models)?;
        models.push(model);
    }
    let mut network = Network {
        name: document.name.value.clone(),
        about: document.about.clone(),
        parameters: parameters.values().to_vec(),
        models,
        figures: Vec::new(),
    };
    network.figures = figures::figures(source, document, &network, parameters)?;
    Ok(network)
}

fn model(
    source: &Source,
    expander: &Expander<'_>,
    entry: &ModelEntry,
    parameters: &Scope,
    before: &[Model],
) -> Result<Model, DefinitionError> {
    let passes = match &entry.passes {
        Some(written) => parameters.whole(source, "passes", written, 1)?,
        None => 1,
    };
    if let Some(other) = &entry.weights_of
        && before.iter().all(|model| model.name != other.value)
    {
        let message = format!("`weights_of`: no model above is called `{}`", other.value);
        return Err(source.error(&other.span, message));
    }
    let mut nodes = expander.body(&entry.body, parameters, &[])?;
    for part in &entry.part {
        let inner = expander.body(&part.body, parameters, &[])?;
        if nodes.iter().any(|node| node.name == part.name.value) {
            let message = format!("a part called `{}` stands already in this model", part.name.value);
            return Err(source.error(&part.name.span, message));
        }
        nodes.push(Node {
            name: part.name.value.clone(),
            repeat: 1,
            kind: NodeKind::Group {
                template: None,
                nodes: inner,
            },
        });
    }
    if nodes.is_empty() {
        let message = format!(
            "model `{}` is empty: expected `body` or `[[model.part]]`",
            entry.name.value
        );
        return Err(source.error(&entry.name.span, message));
    }
    Ok(Model {
        name: entry.name.value.clone(),
        about: entry.about.clone(),
        passes: passes.unsigned_abs(),
        weights_of: entry.weights_of.as_ref().map(|name| name.value.clone()),
        nodes,
    })
}
