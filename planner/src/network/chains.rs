//! Layers that follow one another and that a target may compute together.

use std::collections::BTreeMap;

use super::layer::Layer;
use super::tree::{Model, Node, NodeKind};

/// The MLPs of a model with how often each stands in it: two products over the same rows with a function between them.
#[must_use]
pub fn chains(model: &Model) -> BTreeMap<Layer, u128> {
    let mut found = BTreeMap::new();
    collect(&model.nodes, 1, &mut found);
    found
}

fn collect(nodes: &[Node], times: u128, found: &mut BTreeMap<Layer, u128>) {
    for three in nodes.windows(3) {
        let [NodeKind::Layer(up), NodeKind::Layer(between), NodeKind::Layer(down)] =
            [0, 1, 2].map(|at| &three[at].kind)
        else {
            continue;
        };
        if three.iter().all(|node| node.repeat == 1)
            && let Some(mlp) = mlp(up, between, down)
        {
            *found.entry(mlp).or_default() += times;
        }
    }
    for node in nodes {
        if let NodeKind::Group { nodes, .. } = &node.kind {
            collect(nodes, times.saturating_mul(u128::from(node.repeat)), found);
        }
    }
}

fn mlp(up: &Layer, between: &Layer, down: &Layer) -> Option<Layer> {
    let (
        Layer::Linear {
            rows,
            inner,
            columns,
            bias,
        },
        Layer::Activation { function, .. },
    ) = (up, between)
    else {
        return None;
    };
    let Layer::Linear {
        rows: after,
        inner: hidden,
        columns: outputs,
        bias: own,
    } = down
    else {
        return None;
    };
    let fits = rows == after && hidden == columns && between.outputs() == u128::from(*rows) * u128::from(*columns);
    fits.then_some(Layer::Mlp {
        tokens: *rows,
        features: *inner,
        hidden: *hidden,
        outputs: *outputs,
        function: *function,
        bias: *bias || *own,
    })
}
