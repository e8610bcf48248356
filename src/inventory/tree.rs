//! The module tree as text.

use planner::network::{Network, Node, NodeKind};

use super::show::{grouped, heading};
use crate::output::print;

/// Prints the tree down to `depth` levels below the models.
pub(super) fn show(network: &Network, depth: usize) {
    heading("module tree", "MAC of one pass");
    for model in &network.models {
        print(&format!(
            "{} x{} passes: {}",
            model.name,
            model.passes,
            grouped(model.macs())
        ));
        nodes(&model.nodes, 1, depth);
    }
}

fn nodes(nodes_of: &[Node], level: usize, depth: usize) {
    if level > depth {
        return;
    }
    for node in nodes_of {
        let indent = "  ".repeat(level);
        let times = if node.repeat == 1 {
            String::new()
        } else {
            format!(" x{}", node.repeat)
        };
        let line = match &node.kind {
            NodeKind::Group { template, nodes } => {
                let used = template.as_ref().filter(|template| **template != node.name);
                let used = used.map_or_else(String::new, |template| format!(" ({template})"));
                let macs = macs(nodes).saturating_mul(u128::from(node.repeat));
                format!("{}{used}{times}: {}", node.name, grouped(macs))
            }
            NodeKind::Layer(layer) => format!("{}{times}: {layer}", node.name),
        };
        print(&format!("{indent}{line}"));
        if let NodeKind::Group { nodes: inner, .. } = &node.kind {
            nodes(inner, level + 1, depth);
        }
    }
}

fn macs(nodes: &[Node]) -> u128 {
    let own = |node: &Node| match &node.kind {
        NodeKind::Group { nodes, .. } => macs(nodes),
        NodeKind::Layer(layer) => layer.macs(),
    };
    nodes
        .iter()
        .map(|node| own(node).saturating_mul(u128::from(node.repeat)))
        .fold(0, u128::saturating_add)
}
