//! Figures about networks, counted in the module tree of SDXL.

use std::collections::BTreeSet;

use planner::Value as Parameter;
use planner::network::{BUILT_IN, FigureValue, Inventory, Layer, Network, NodeKind, parse};
use serde_json::{Value, json};
use target_kohaku::machine::DRAM_BYTES;

use crate::figure::{Figure, Found};

/// Parts of the `UNet` with a level each, downwards.
const LEVELS: [&str; 4] = ["unet/input 128/", "unet/input 64/", "unet/input 32/", "unet/mid 32/"];
/// Published words for what the network file sums: ours are its names.
const COUNTS: &[(&str, &str)] = &[
    ("ResnetBlock2D", "residual blocks"),
    ("Transformer2DModel", "transformers"),
    ("BasicTransformerBlock", "transformer blocks"),
    ("Downsample2D", "downsamplings"),
    ("Upsample2D", "upsamplings"),
    ("conv3x3", "3x3 convolutions"),
    ("conv1x1", "1x1 convolutions"),
    ("Linear", "linear layers"),
    ("LayerNorm", "layer norms"),
    ("GroupNorm", "group norms"),
    ("SiLU", "SiLU"),
    ("GELU", "GELU"),
    ("softmax", "softmax"),
    ("residual add", "residual additions, embeddings included"),
    ("channel concat", "channel concatenations"),
];

struct Sdxl {
    network: Network,
    inventory: Inventory,
}

impl Sdxl {
    fn new() -> Self {
        let file = BUILT_IN
            .iter()
            .find(|file| file.name == "sdxl")
            .expect("it is built in");
        let network = parse(file.path, file.text, &[]).expect("a network");
        let inventory = Inventory::new(&network);
        Self { network, inventory }
    }

    fn value(&self, name: &str) -> FigureValue {
        let found = self.inventory.figures.iter().find(|figure| figure.name == name);
        found.unwrap_or_else(|| panic!("no figure `{name}`")).value
    }

    /// A figure that the network file asks for.
    fn figure(&self, name: &str) -> f64 {
        self.value(name).number()
    }

    /// The same where it is a count.
    fn count(&self, name: &str) -> i64 {
        match self.value(name) {
            FigureValue::Whole(n) => n,
            FigureValue::Number(x) => panic!("`{name}` is {x}, no count"),
        }
    }

    fn counts(&self, names: &[&str]) -> Value {
        json!(names.iter().map(|name| self.count(name)).collect::<Vec<_>>())
    }

    fn parameter(&self, name: &str) -> i64 {
        match self.inventory.parameters.get(name) {
            Some(Parameter::Integer(n)) => *n,
            other => panic!("`{name}` is {other:?}"),
        }
    }

    /// Parameters, and their size as fp16 and as MXFP7.
    fn footprint(&self, model: &str) -> Value {
        let of = |what: &str| self.figure(&format!("{model}: {what}"));
        json!([of("parameters"), of("fp16"), of("MXFP7")])
    }

    /// Distinct layers of a model, by what `of` makes of them.
    fn distinct<T: Ord>(&self, model: &str, of: impl Fn(&Layer) -> Option<T>) -> BTreeSet<T> {
        let model = self
            .network
            .models
            .iter()
            .find(|own| own.name == model)
            .expect("a model");
        model.layers().filter_map(|(layer, _)| of(&layer)).collect()
    }

    /// Side, channels, heads and transformer blocks of each level.
    fn levels(&self) -> Value {
        let unet = &self
            .network
            .models
            .iter()
            .find(|own| own.name == "unet")
            .expect("a model");
        let walked = unet.walk();
        let level = |part: &&str| {
            let own = || walked.iter().filter(|found| found.path.starts_with(part));
            // A level's own channels are those that its residual blocks end with.
            let mut plane = own().filter_map(|found| match found.layer() {
                Some(Layer::Conv {
                    height,
                    outputs,
                    stride: 1,
                    ..
                }) => Some([*height, *outputs]),
                _ => None,
            });
            let [side, channels] = plane.next_back().expect("a convolution");
            let heads = own().find_map(|found| match found.layer() {
                Some(Layer::Attention { heads, .. }) => Some(*heads),
                _ => None,
            });
            let uses = |name: &str| {
                let groups = own().filter(
                    |found| matches!(&found.node.kind, NodeKind::Group { template: Some(own), .. } if own == name),
                );
                groups.map(|found| found.times).sum::<u128>()
            };
            let depth = uses("block").checked_div(uses("transformer")).unwrap_or(0);
            json!([side, channels, heads, depth])
        };
        json!(LEVELS.iter().map(level).collect::<Vec<_>>())
    }
}

/// MB (of 1,048,576 bytes) of a transformer block of this width with a context of the same, as fp16.
fn toy_block(width: i64) -> f64 {
    let file = BUILT_IN
        .iter()
        .find(|file| file.name == "sdxl")
        .expect("it is built in");
    let templates = file.text.split("[[model]]").next().expect("some text");
    let text = format!(
        "{templates}\n[[model]]\nname = \"toy\"\nbody = [{{ use = \"block\", rows = {width}, width = {width} }}]\n"
    );
    // The context is as wide as both encoders together.
    let context = ["clip_width", "bigg_width"].map(|name| (name.to_owned(), width / 2));
    let toy = Inventory::new(&parse("toy.toml", &text, &context).expect("a network"));
    2.0 * toy.parameters_all as f64 / f64::from(1 << 20)
}

/// A number to two digits.
fn two_digits(x: f64) -> f64 {
    let unit = 10_f64.powf(x.log10().floor() - 1.0);
    (x / unit).round() * unit
}

/// Elements of a tensor, and its MB as fp16.
fn tensor(elements: f64) -> Value {
    json!([elements, 2.0 * elements / 1e6])
}

/// Rows of tables that say after a colon what they are about.
fn row_of_table(sdxl: &Sdxl, name: &str) -> Option<Value> {
    if let Some(count) = name.strip_prefix("UNet count: ") {
        let (_, ours) = COUNTS.iter().find(|(published, _)| *published == count)?;
        return Some(json!(sdxl.count(&format!("UNet: {ours}"))));
    }
    if let Some(part) = name.strip_prefix("MAC per UNet forward: ") {
        return Some(json!(sdxl.figure(match part {
            "3x3 and 1x1 convolutions" => "UNet: 3x3 and 1x1 convolutions",
            "level 1 transformer (4 blocks)" => "UNet: level 1, way down (4 blocks)",
            "mid transformer (10 blocks)" => "UNet: middle (10 blocks)",
            "output level 2 transformer (30 blocks)" => "UNet: level 2, way up (30 blocks)",
            "output level 1 transformer (6 blocks)" => "UNet: level 1, way up (6 blocks)",
            "UNet total" => "UNet: one pass",
            _ => return None,
        })));
    }
    if let Some(model) = name.strip_prefix("parameters, fp16 GB, MXFP7 GB: ") {
        return match model {
            "OpenCLIP bigG" => Some(sdxl.footprint("CLIP bigG")),
            "total" => None,
            other => Some(sdxl.footprint(other)),
        };
    }
    if let Some(name) = name.strip_prefix("elements, fp16 MB: ") {
        return Some(tensor(sdxl.figure(match name {
            "UNet level 0 128x128x320" => "elements: UNet, level 0",
            "9 skip tensors summed" => "elements: the nine that are kept on the way down",
            "VAE 1024x1024x128" => "elements: VAE, 1024 x 1024 x 128",
            "VAE 512x512x256" => "elements: VAE, 512 x 512 x 256",
            "level 1 self scores 10x4096x4096" => "elements: scores of level 1",
            "VAE mid scores 16384x16384" => "elements: scores of the VAE's middle",
            _ => return None,
        })));
    }
    None
}

/// Sums over the whole network.
fn sum(sdxl: &Sdxl, name: &str) -> Option<Value> {
    Some(match name {
        "MAC UNet 30 steps x CFG 2" => json!(sdxl.figure("UNet: all passes")),
        // Printed as 1.1e11: two digits.
        "MAC text encoders 2 prompts" => json!(two_digits(sdxl.figure("text encoders, all prompts"))),
        "MAC VAE decoder" => json!(sdxl.figure("VAE decoder")),
        "MAC whole image" => json!(sdxl.figure("image")),
        "VAE / UNet forward ratio" => json!(sdxl.figure("VAE decoder over UNet pass")),
        "NCHW<->tokens permutes per forward" => json!(sdxl.count("UNet: between plane and tokens")),
        "toy block parameters MB" => json!(toy_block(256)),
        "DRAM per mesh GB / left after MXFP7 UNet" => {
            let memory = DRAM_BYTES >> 30;
            json!([memory, memory as f64 - sdxl.figure("UNet: MXFP7")])
        }
        _ => return None,
    })
}

/// Counts by region, and extents.
fn shape(sdxl: &Sdxl, name: &str) -> Option<Value> {
    Some(match name {
        "tokens per prompt" => json!(sdxl.parameter("keys")),
        "context width" => json!(sdxl.parameter("context")),
        "conditioning vector width" => json!(sdxl.parameter("pooled")),
        "latent shape" => {
            let side = sdxl.parameter("latent");
            let channels = sdxl.distinct("unet", |layer| match layer {
                Layer::Conv {
                    inputs: 320,
                    outputs,
                    kernel: 3,
                    ..
                } if *outputs < 320 => Some(*outputs),
                _ => None,
            });
            json!([side, side, channels.first()])
        }
        "levels (side, channels, heads, depth)" => sdxl.levels(),
        "head dim" => {
            let widths = sdxl.distinct("unet", |layer| match layer {
                Layer::Attention { width, .. } => Some(*width),
                _ => None,
            });
            assert_eq!(widths.len(), 1, "all heads are as wide");
            json!(widths.first())
        }
        "resnets by region down/mid/up" => sdxl.counts(&[
            "UNet: residual blocks on the way down",
            "UNet: residual blocks in the middle",
            "UNet: residual blocks on the way up",
        ]),
        "transformer blocks by region" => {
            let regions = ["input 64", "input 32", "mid 32", "output 32", "output 64"];
            let names = regions.map(|region| format!("UNet: transformer blocks, {region}"));
            sdxl.counts(&names.each_ref().map(String::as_str))
        }
        "Linear by region: blocks, proj, resnet emb, embeddings" => {
            let of = |name: &str| sdxl.count(&format!("UNet: linear layers{name}"));
            let (blocks, residual, embeddings) = (
                of(" in transformer blocks"),
                of(" of residual blocks"),
                of(" of the embeddings"),
            );
            json!([blocks, of("") - blocks - residual - embeddings, residual, embeddings])
        }
        "GroupNorm by region: resnet(eps 1e-5), transformer(eps 1e-6), final" => sdxl.counts(&[
            "UNet: group norms of residual blocks",
            "UNet: group norms of transformers",
            "UNet: group norm at the end",
        ]),
        "conv weight matrices [N][9C]" => json!(sdxl.distinct("unet", |layer| match layer {
            Layer::Conv {
                inputs,
                outputs,
                kernel: 3,
                stride: 1,
                ..
            } if inputs == outputs => {
                Some([*outputs, 9 * inputs])
            }
            _ => None,
        })),
        "token activations" => {
            let shapes = sdxl.distinct("unet", |layer| match layer {
                Layer::Attention {
                    heads, queries, width, ..
                } => Some([*queries, heads * width]),
                _ => None,
            });
            json!(shapes.into_iter().rev().collect::<Vec<_>>())
        }
        "VAE mid attention tokens / width / heads" => {
            let shapes = sdxl.distinct("vae", |layer| match layer {
                Layer::Attention {
                    heads, queries, width, ..
                } => Some([*queries, *width, *heads]),
                _ => None,
            });
            json!(shapes.first())
        }
        _ => return None,
    })
}

pub(crate) fn find(figure: &Figure) -> Option<Found> {
    let sdxl = Sdxl::new();
    let other = match figure.name.as_str() {
        "MAC per UNet forward: level 2 transformer (20 blocks)" => Some((
            json!(sdxl.figure("UNet: level 2, way down (20 blocks)")),
            "rounded twice: 6.765e11, then 6.77e11",
        )),
        "parameters, fp16 GB, MXFP7 GB: total" => Some((
            sdxl.footprint("all"),
            "the published 3.10 GB are the sum of the rounded rows; the rest agrees",
        )),
        "VAE share at planes 512 and 1024" => Some((
            json!(sdxl.figure("VAE decoder: share of planes of 512 and 1024")),
            "two thirds of the multiplications are not almost all",
        )),
        _ => None,
    };
    if let Some((value, reason)) = other {
        return Some(Found::Other(value, reason));
    }
    match figure.name.as_str() {
        "VAE scale factor" => Some(Found::Never(
            "a constant of the network's configuration, from which nothing follows here",
        )),
        "host moves: resnet, resnet wide, down block; load-time; per call" => {
            Some(Found::Value(crate::blocks::moves()))
        }
        name => row_of_table(&sdxl, name)
            .or_else(|| sum(&sdxl, name))
            .or_else(|| shape(&sdxl, name))
            .map(Found::Value),
    }
}
