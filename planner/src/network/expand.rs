//! Templates and their uses become nodes.

use std::cell::Cell;
use std::ops::Range;

use super::document::{Document, Item, Template};
use super::fields::{FieldDefault, FieldKind, OPERATIONS, OperationAbout};
use super::layer::Layer;
use super::parameters::MOST_EXTENT;
use super::scope::Scope;
use super::tree::{Node, NodeKind};
use crate::definition::{DefinitionError, Located, Source};
use crate::expression::is_name;
use crate::value::Value;

/// More nodes than this are an error.
const MOST_NODES: usize = 200_000;
/// More multiplications in one layer are an error.
const MOST_MACS: u128 = 1 << 60;
/// Keys that are no fields of an operation.
const OWN: [&str; 5] = ["op", "use", "name", "repeat", "when"];

/// What all uses of templates need.
pub(super) struct Expander<'a> {
    source: &'a Source,
    document: &'a Document,
    nodes: Cell<usize>,
}

fn find<'a>(item: &'a Item, key: &str) -> Option<(&'a Located<String>, &'a Located<Value>)> {
    item.iter().find(|(name, _)| name.value == key)
}

fn listed<'a>(names: impl Iterator<Item = &'a str>) -> String {
    let names: Vec<String> = names.map(|name| format!("`{name}`")).collect();
    names.join(", ")
}

impl<'a> Expander<'a> {
    /// Checks the heads of all templates.
    pub(super) fn new(source: &'a Source, document: &'a Document) -> Result<Self, DefinitionError> {
        for (_, template) in document.template.iter() {
            let defaults = template.defaults.iter().map(|(name, _)| name);
            for name in template.parameters.iter().chain(defaults) {
                if !is_name(name) || OWN.contains(&name.as_str()) {
                    let message = format!("a parameter can't be called `{}`: expected another word", name.value);
                    return Err(source.error(&name.span, message));
                }
            }
        }
        Ok(Self {
            source,
            document,
            nodes: Cell::new(0),
        })
    }

    fn error(&self, span: &Range<usize>, message: impl Into<String>) -> DefinitionError {
        self.source.error(span, message)
    }

    /// The nodes of a body; `inside` are the templates whose uses it stands in.
    pub(super) fn body(
        &self,
        items: &[Located<Item>],
        scope: &Scope,
        inside: &[&str],
    ) -> Result<Vec<Node>, DefinitionError> {
        let mut nodes: Vec<Node> = Vec::new();
        for item in items {
            let Some(mut node) = self.item(item, scope, inside)? else {
                continue;
            };
            node.name = free(&node.name, |name| nodes.iter().all(|other| other.name != name));
            nodes.push(node);
        }
        Ok(nodes)
    }

    fn item(&self, item: &Located<Item>, scope: &Scope, inside: &[&str]) -> Result<Option<Node>, DefinitionError> {
        if let Some((_, when)) = find(item, "when")
            && !scope.flag(self.source, "when", when)?
        {
            return Ok(None);
        }
        let repeat = match find(item, "repeat") {
            Some((_, written)) => scope.whole(self.source, "repeat", written, 0)?,
            None => 1,
        };
        if repeat == 0 {
            return Ok(None);
        }
        self.nodes.set(self.nodes.get() + 1);
        if self.nodes.get() > MOST_NODES {
            return Err(self.error(
                &item.span,
                format!("the network has more than {MOST_NODES} groups and layers"),
            ));
        }
        let (kind, word) = match (find(item, "op"), find(item, "use")) {
            (Some((_, op)), None) => (NodeKind::Layer(self.layer(item, op, scope)?), self.word("op", op)?),
            (None, Some((_, used))) => {
                let name = self.word("use", used)?;
                (self.group(item, used, name, scope, inside)?, name)
            }
            _ => {
                let message = "expected one of `op` (a layer) and `use` (a template)";
                return Err(self.error(&item.span, message));
            }
        };
        let name = match find(item, "name") {
            Some((_, written)) => self.word("name", written)?,
            None => word,
        };
        if name.contains('/') || name.trim().is_empty() {
            return Err(self.error(&item.span, "`name`: expected words without `/`"));
        }
        Ok(Some(Node {
            name: name.to_owned(),
            repeat: repeat.unsigned_abs(),
            kind,
        }))
    }

    fn word<'v>(&self, field: &str, written: &'v Located<Value>) -> Result<&'v str, DefinitionError> {
        written.value.as_text().ok_or_else(|| {
            let message = format!(
                "`{field}`: expected a text, found the {} {}",
                written.kind(),
                written.value
            );
            self.error(&written.span, message)
        })
    }

    fn template(&self, used: &Located<Value>, name: &str) -> Result<&'a Template, DefinitionError> {
        let found = self.document.template.iter().find(|(own, _)| own.value == name);
        found.map(|(_, template)| &template.value).ok_or_else(|| {
            let known = listed(self.document.template.iter().map(|(name, _)| name.as_str()));
            let expected = if known.is_empty() {
                "none is there".to_owned()
            } else {
                format!("expected {known}")
            };
            self.error(&used.span, format!("no template is called `{name}`: {expected}"))
        })
    }

    fn group(
        &self,
        item: &Located<Item>,
        used: &Located<Value>,
        name: &str,
        scope: &Scope,
        inside: &[&str],
    ) -> Result<NodeKind, DefinitionError> {
        let template = self.template(used, name)?;
        if inside.contains(&name) {
            let chain = listed(inside.iter().copied());
            return Err(self.error(
                &used.span,
                format!("template `{name}` uses itself: {chain} stand around it"),
            ));
        }
        let required = || template.parameters.iter().map(|name| name.as_str());
        let optional = || template.defaults.iter().map(|(name, _)| name.as_str());
        let mut inner = scope.clone();
        for (key, written) in item.iter().filter(|(key, _)| !OWN.contains(&key.as_str())) {
            if !required().chain(optional()).any(|name| name == key.value) {
                let known = listed(required().chain(optional()));
                let message = format!("template `{name}` has no parameter `{}`: expected {known}", key.value);
                return Err(self.error(&key.span, message));
            }
            inner.set(key, scope.evaluate(self.source, key, written)?);
        }
        let given = |name: &str| find(item, name).is_some();
        if let Some(missing) = required().find(|name| !given(name)) {
            let message = format!("template `{name}` needs `{missing}`: expected {}", listed(required()));
            return Err(self.error(&item.span, message));
        }
        // Defaults may use the parameters that stand before them.
        for (key, written) in template.defaults.iter().filter(|(key, _)| !given(key)) {
            let value = inner.evaluate(self.source, key, written)?;
            inner.set(key, value);
        }
        let chain: Vec<&str> = inside.iter().copied().chain([name]).collect();
        let nodes = self.body(&template.body, &inner, &chain).map_err(|error| {
            if error.help.as_ref().is_some_and(|help| help.contains("used in line")) {
                return error;
            }
            let (line, _) = self.source.position(item.span.start);
            let known = |key: &&str| inner.get(key).map(|value| format!("{key} = {value}"));
            let values: Vec<String> = required().chain(optional()).filter_map(|key| known(&key)).collect();
            let own = error.help.clone().map_or_else(String::new, |help| format!("{help}; "));
            error.help(format!(
                "{own}`{name}` is used in line {line} with {}",
                values.join(", ")
            ))
        })?;
        Ok(NodeKind::Group {
            template: Some(name.to_owned()),
            nodes,
        })
    }

    fn layer(&self, item: &Located<Item>, op: &Located<Value>, scope: &Scope) -> Result<Layer, DefinitionError> {
        let word = self.word("op", op)?;
        let Some(about) = OPERATIONS.iter().find(|about| about.name == word) else {
            let known = listed(OPERATIONS.iter().map(|about| about.name));
            return Err(self.error(&op.span, format!("no operation is called `{word}`: expected {known}")));
        };
        for (key, _) in item.iter() {
            let known = about.fields.iter().any(|field| field.name == key.value);
            if !known && !OWN.contains(&key.as_str()) {
                let fields = listed(about.fields.iter().map(|field| field.name));
                let message = format!("`{word}` has no field `{}`: expected {fields}", key.value);
                return Err(self.error(&key.span, message));
            }
        }
        let fields = self.fields(item, about, scope)?;
        let layer: Layer = serde_json::from_value(serde_json::Value::Object(fields))
            .map_err(|error| self.error(&item.span, format!("`{word}`: {error}")))?;
        if let Err(message) = layer.check() {
            return Err(self.error(&item.span, message));
        }
        if layer.macs() > MOST_MACS {
            let message = format!("{layer} takes {} multiplications, expected at most 2^60", layer.macs());
            return Err(self.error(&item.span, message));
        }
        Ok(layer)
    }

    fn fields(
        &self,
        item: &Located<Item>,
        about: &OperationAbout,
        scope: &Scope,
    ) -> Result<serde_json::Map<String, serde_json::Value>, DefinitionError> {
        let mut fields = serde_json::Map::new();
        fields.insert("op".to_owned(), about.name.into());
        for field in about.fields {
            let name = field.name;
            let value: serde_json::Value = match (find(item, name), field.kind, field.default) {
                (Some((_, written)), FieldKind::Extent, _) => {
                    let n = scope.whole(self.source, name, written, 1)?;
                    if n > MOST_EXTENT {
                        let message = format!("`{name}` is {n}: expected at most 2^40");
                        return Err(self.error(&written.span, message));
                    }
                    n.into()
                }
                (Some((_, written)), FieldKind::Flag, _) => scope.flag(self.source, name, written)?.into(),
                (Some((_, written)), FieldKind::Text, _) => self.word(name, written)?.into(),
                (Some((_, written)), FieldKind::Word(words), _) => {
                    let word = self.word(name, written)?;
                    if !words.contains(&word) {
                        let expected = listed(words.iter().copied());
                        let message = format!("`{name}`: expected one of {expected}, found `{word}`");
                        return Err(self.error(&written.span, message));
                    }
                    word.into()
                }
                (None, _, FieldDefault::Extent(n)) => n.into(),
                (None, _, FieldDefault::Flag(flag)) => flag.into(),
                (None, _, FieldDefault::Word(word)) => word.into(),
                (None, _, FieldDefault::SameAs(other)) => fields.get(other).cloned().unwrap_or_default(),
                (None, _, FieldDefault::Required) => {
                    let all: Vec<String> = about.fields.iter().map(super::fields::FieldAbout::words).collect();
                    let message = format!("`{}` needs `{name}`: its fields are {}", about.name, all.join(", "));
                    return Err(self.error(&item.span, message));
                }
            };
            fields.insert(name.to_owned(), value);
        }
        Ok(fields)
    }
}

/// The name, with a number where it is taken.
fn free(name: &str, is_free: impl Fn(&str) -> bool) -> String {
    if is_free(name) {
        return name.to_owned();
    }
    let numbered = (2..).map(|n: usize| format!("{name}-{n}"));
    numbered
        .into_iter()
        .find(|name| is_free(name))
        .unwrap_or_else(|| name.to_owned())
}
