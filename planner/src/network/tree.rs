//! A network with all its extents.

use serde::Serialize;

use super::figures::Figure;
use super::layer::Layer;
use crate::value::Value;

/// A network.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Network {
    /// Its name.
    pub name: String,
    /// One sentence.
    pub about: String,
    /// Its parameters with their values.
    pub parameters: Vec<(String, Value)>,
    /// At least one.
    pub models: Vec<Model>,
    /// Figures that its file asks for, with their values.
    pub figures: Vec<Figure>,
}

/// A part of a network that runs as a whole.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Model {
    /// Its name, unique in the network.
    pub name: String,
    /// One sentence.
    pub about: String,
    /// How often it runs.
    pub passes: u64,
    /// The model whose weights it uses.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub weights_of: Option<String>,
    /// What it consists of, in order of execution.
    pub nodes: Vec<Node>,
}

/// A group or a layer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Node {
    /// Unique among its siblings.
    pub name: String,
    /// How often it stands there, one after another, each with weights of its own.
    pub repeat: u64,
    /// Which of both.
    #[serde(flatten)]
    pub kind: NodeKind,
}

/// What a node is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum NodeKind {
    /// Nodes, in order.
    Group {
        /// The template that it is a use of.
        #[serde(skip_serializing_if = "Option::is_none")]
        template: Option<String>,
        /// What it consists of.
        nodes: Vec<Node>,
    },
    /// A layer.
    Layer(Layer),
}

/// A node of a model with its surroundings.
#[derive(Debug, Clone)]
pub struct Found<'a> {
    /// `unet/input 64/res/conv1`.
    pub path: String,
    /// The templates it stands in, outermost first; its own, if it is a use of one, is the last.
    pub templates: Vec<&'a str>,
    /// How often it stands in the model.
    pub times: u128,
    /// The node.
    pub node: &'a Node,
}

impl Found<'_> {
    /// The layer, if it is one.
    #[must_use]
    pub fn layer(&self) -> Option<&Layer> {
        match &self.node.kind {
            NodeKind::Layer(layer) => Some(layer),
            NodeKind::Group { .. } => None,
        }
    }
}

impl Model {
    /// All nodes, each before what it consists of.
    #[must_use]
    pub fn walk(&self) -> Vec<Found<'_>> {
        let mut found = Vec::new();
        walk(&self.nodes, &self.name, &[], 1, &mut found);
        found
    }

    /// All layers with how often each stands in the model.
    pub fn layers(&self) -> impl Iterator<Item = (Layer, u128)> {
        self.walk()
            .into_iter()
            .filter_map(|found| Some((found.layer()?.clone(), found.times)))
    }

    /// Multiplications of one pass.
    #[must_use]
    pub fn macs(&self) -> u128 {
        self.layers()
            .map(|(layer, times)| layer.macs().saturating_mul(times))
            .fold(0, u128::saturating_add)
    }
}

fn walk<'a>(nodes: &'a [Node], path: &str, templates: &[&'a str], times: u128, found: &mut Vec<Found<'a>>) {
    for node in nodes {
        let path = format!("{path}/{}", node.name);
        let times = times.saturating_mul(u128::from(node.repeat));
        let mut templates = templates.to_vec();
        if let NodeKind::Group {
            template: Some(template),
            ..
        } = &node.kind
        {
            templates.push(template);
        }
        found.push(Found {
            path: path.clone(),
            templates: templates.clone(),
            times,
            node,
        });
        if let NodeKind::Group { nodes, .. } = &node.kind {
            walk(nodes, &path, &templates, times, found);
        }
    }
}
