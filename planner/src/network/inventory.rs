//! What follows from a network: counts, shapes, multiplications, parameters, sizes. All of it is derived.

use std::collections::BTreeMap;

use serde::Serialize;

use super::figures::Figure;
use super::layer::{Layer, ParameterCount};
use super::tree::{Model, Network};
use crate::value::Value;

/// How numbers are stored.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct StorageFormat {
    /// Its name.
    pub name: &'static str,
    /// Bytes per element, shared scales included.
    pub bytes_per_element: f64,
    /// What from.
    pub from: &'static str,
}

/// The formats that footprints are given in.
pub static STORAGE_FORMATS: &[StorageFormat] = &[
    StorageFormat {
        name: "fp16",
        bytes_per_element: 2.0,
        from: "16 bits",
    },
    StorageFormat {
        name: "mxfp7",
        bytes_per_element: 0.906_25,
        from: "(32 x 7 + 8) bits for 32 elements",
    },
];

/// Bytes of all weights in one format.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Footprint {
    /// The format.
    pub format: &'static str,
    /// Bytes.
    pub bytes: f64,
}

/// How often a class of layers stands in a model.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ClassCount {
    /// `conv3x3`, `linear`.
    pub class: String,
    /// How many, in one pass.
    pub count: u128,
    /// Their multiplications, in one pass.
    pub macs: u128,
    /// Their parameters.
    pub parameters: u128,
}

/// One model's figures.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ModelInventory {
    /// Its name.
    pub name: String,
    /// One sentence.
    pub about: String,
    /// How often it runs.
    pub passes: u64,
    /// The model whose weights it uses.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub weights_of: Option<String>,
    /// Multiplications of one pass.
    pub macs: u128,
    /// Of all passes.
    pub macs_all: u128,
    /// What it holds; nothing where it uses another model's.
    pub parameters: ParameterCount,
    /// Elements of weights that one pass reads.
    pub weights_read: u128,
    /// What the parameters take.
    pub footprints: Vec<Footprint>,
    /// Counts by class, by multiplications.
    pub classes: Vec<ClassCount>,
    /// Uses of templates.
    pub templates: BTreeMap<String, u128>,
}

/// A distinct layer with all its uses.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Shape {
    /// The layer.
    pub layer: Layer,
    /// In words.
    pub shape: String,
    /// Its class.
    pub class: String,
    /// Multiplications of one.
    pub macs: u128,
    /// How often, by model and pass.
    pub uses: BTreeMap<String, u128>,
    /// How often in all passes of all models.
    pub times: u128,
    /// Multiplications of all of these.
    pub macs_all: u128,
}

/// A size of results.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ActivationSize {
    /// Elements.
    pub elements: u128,
    /// Bytes as fp16.
    pub fp16_bytes: u128,
    /// What is so large: the model, and the shape of the first layer that leaves it.
    pub of: String,
    /// How many layers of a pass leave this size.
    pub count: u128,
}

/// What attention costs where results change their byte order through the host.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct AttentionBytes {
    /// The model.
    pub model: String,
    /// The call.
    pub shape: String,
    /// Calls in one pass.
    pub count: u128,
    /// Blocks of keys: `ceil(keys / value width)`.
    pub key_blocks: u128,
    /// Bytes of one intermediate of all heads: `heads Lq D 2`.
    pub temporary_bytes: u128,
    /// Bytes of one call: `3 blocks 2 temporary`.
    pub call_bytes: u128,
    /// Bytes of all calls in one pass.
    pub pass_bytes: u128,
    /// Bytes of all passes.
    pub all_bytes: u128,
}

/// Everything that follows from a network alone.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Inventory {
    /// The network's name.
    pub network: String,
    /// One sentence.
    pub about: String,
    /// The label of every figure here.
    pub label: &'static str,
    /// Its parameters.
    pub parameters: BTreeMap<String, Value>,
    /// Its models, in order.
    pub models: Vec<ModelInventory>,
    /// Multiplications of all passes of all models.
    pub macs_all: u128,
    /// All parameters, shared ones once.
    pub parameters_all: u128,
    /// What all parameters take.
    pub footprints: Vec<Footprint>,
    /// Distinct layers, by multiplications of all passes, then as they compare.
    pub shapes: Vec<Shape>,
    /// Distinct sizes of results, scores of attention among them, largest first.
    pub activations: Vec<ActivationSize>,
    /// Attention calls whose intermediates change byte order through the host.
    pub attention: Vec<AttentionBytes>,
    /// Figures that the network's file asks for.
    pub figures: Vec<Figure>,
}

fn footprints(parameters: u128) -> Vec<Footprint> {
    let of = |format: &StorageFormat| Footprint {
        format: format.name,
        bytes: parameters as f64 * format.bytes_per_element,
    };
    STORAGE_FORMATS.iter().map(of).collect()
}

impl Inventory {
    /// The inventory of a network.
    #[must_use]
    pub fn new(network: &Network) -> Self {
        let models: Vec<ModelInventory> = network.models.iter().map(model).collect();
        let parameters_all = models
            .iter()
            .map(|model| model.parameters.total())
            .fold(0, u128::saturating_add);
        Self {
            network: network.name.clone(),
            about: network.about.clone(),
            label: "derived",
            parameters: network.parameters.iter().cloned().collect(),
            macs_all: models.iter().map(|model| model.macs_all).fold(0, u128::saturating_add),
            parameters_all,
            footprints: footprints(parameters_all),
            shapes: shapes(network),
            activations: activations(network),
            attention: attention(network),
            figures: network.figures.clone(),
            models,
        }
    }
}

fn model(model: &Model) -> ModelInventory {
    let mut classes: BTreeMap<String, ClassCount> = BTreeMap::new();
    let mut parameters = ParameterCount::default();
    for (layer, times) in model.layers() {
        let own = layer.parameters().times(times);
        parameters = parameters.plus(own);
        let class = classes.entry(layer.class()).or_insert_with(|| ClassCount {
            class: layer.class(),
            count: 0,
            macs: 0,
            parameters: 0,
        });
        class.count = class.count.saturating_add(times);
        class.macs = class.macs.saturating_add(layer.macs().saturating_mul(times));
        class.parameters = class.parameters.saturating_add(own.total());
    }
    let mut templates: BTreeMap<String, u128> = BTreeMap::new();
    for found in model.walk() {
        if let super::tree::NodeKind::Group {
            template: Some(name), ..
        } = &found.node.kind
        {
            *templates.entry(name.clone()).or_default() += found.times;
        }
    }
    let mut classes: Vec<ClassCount> = classes.into_values().collect();
    classes.sort_by_key(|class| std::cmp::Reverse(class.macs));
    let read = parameters.total();
    let held = if model.weights_of.is_some() {
        ParameterCount::default()
    } else {
        parameters
    };
    ModelInventory {
        name: model.name.clone(),
        about: model.about.clone(),
        passes: model.passes,
        weights_of: model.weights_of.clone(),
        macs: model.macs(),
        macs_all: model.macs().saturating_mul(u128::from(model.passes)),
        parameters: held,
        weights_read: read,
        footprints: footprints(held.total()),
        classes,
        templates,
    }
}

/// The distinct layers of a network, by multiplications of all passes.
fn shapes(network: &Network) -> Vec<Shape> {
    let mut all: BTreeMap<Layer, Shape> = BTreeMap::new();
    for model in &network.models {
        for (layer, times) in model.layers() {
            let shape = all.entry(layer.clone()).or_insert_with(|| Shape {
                shape: layer.to_string(),
                class: layer.class(),
                macs: layer.macs(),
                uses: BTreeMap::new(),
                times: 0,
                macs_all: 0,
                layer,
            });
            *shape.uses.entry(model.name.clone()).or_default() += times;
            shape.times = shape
                .times
                .saturating_add(times.saturating_mul(u128::from(model.passes)));
        }
    }
    let mut shapes: Vec<Shape> = all.into_values().collect();
    for shape in &mut shapes {
        shape.macs_all = shape.macs.saturating_mul(shape.times);
    }
    shapes.sort_by_key(|shape| std::cmp::Reverse(shape.macs_all));
    shapes
}

fn activations(network: &Network) -> Vec<ActivationSize> {
    let mut sizes: BTreeMap<(u128, usize), ActivationSize> = BTreeMap::new();
    for (at, model) in network.models.iter().enumerate() {
        let mut add = |elements: u128, what: String, times: u128| {
            let size = sizes.entry((elements, at)).or_insert_with(|| ActivationSize {
                elements,
                fp16_bytes: elements.saturating_mul(2),
                of: format!("{}: {what}", model.name),
                count: 0,
            });
            size.count = size.count.saturating_add(times);
        };
        for (layer, times) in model.layers() {
            if let Layer::Attention {
                heads, queries, keys, ..
            } = layer
            {
                let scores = u128::from(heads) * u128::from(queries) * u128::from(keys);
                add(scores, format!("scores of {layer}"), times);
            }
            if layer.outputs() > 0 {
                add(layer.outputs(), layer.to_string(), times);
            }
        }
    }
    sizes.into_values().rev().collect()
}

fn attention(network: &Network) -> Vec<AttentionBytes> {
    let mut calls: BTreeMap<(usize, Layer), u128> = BTreeMap::new();
    for (at, model) in network.models.iter().enumerate() {
        for (layer, times) in model.layers() {
            if matches!(layer, Layer::Attention { .. }) {
                *calls.entry((at, layer)).or_default() += times;
            }
        }
    }
    let bytes = calls.into_iter().filter_map(|((at, layer), count)| {
        let model = network.models.get(at)?;
        let Layer::Attention {
            heads,
            queries,
            keys,
            value_width,
            ..
        } = layer
        else {
            return None;
        };
        let key_blocks = u128::from(keys.div_ceil(value_width));
        let temporary_bytes = 2 * u128::from(heads) * u128::from(queries) * u128::from(value_width);
        let call_bytes = 6 * key_blocks * temporary_bytes;
        Some(AttentionBytes {
            model: model.name.clone(),
            shape: layer.to_string(),
            count,
            key_blocks,
            temporary_bytes,
            call_bytes,
            pass_bytes: call_bytes * count,
            all_bytes: call_bytes * count * u128::from(model.passes),
        })
    });
    bytes.collect()
}
