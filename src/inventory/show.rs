//! An inventory as tables for people.

use planner::network::{FigureValue, Footprint, Inventory, Layer, STORAGE_FORMATS};

use super::MachineBounds;
use crate::output::{print, table};
pub(super) use planner::grouped;

/// A number with four digits.
pub(super) fn short(x: f64) -> String {
    let magnitude = x.abs();
    if x == 0.0 {
        "0".to_owned()
    } else if (0.01..1e5).contains(&magnitude) {
        let decimals = (3.0 - magnitude.log10().floor()).clamp(0.0, 6.0);
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "between 0 and 6")]
        let decimals = decimals as usize;
        format!("{x:.decimals$}")
    } else {
        format!("{x:.3e}")
    }
}

/// A heading with the label of what follows.
pub(super) fn heading(title: &str, what: &str) {
    print(&format!("\n{title} (derived; {what})"));
}

/// What was left out of a long table.
pub(super) fn left_out(shown: usize, all: usize) {
    if all > shown {
        print(&format!(
            "... and {} more: --rows {all}, or --format json or csv",
            all - shown
        ));
    }
}

fn gigabytes(footprints: &[Footprint]) -> Vec<String> {
    footprints.iter().map(|own| short(own.bytes / 1e9)).collect()
}

/// Name, parameters, and one row for each model.
pub(super) fn models(inventory: &Inventory) {
    print(&format!("{}: {}", inventory.network, inventory.about));
    let parameters: Vec<String> = inventory
        .parameters
        .iter()
        .map(|(name, value)| format!("{name} = {value}"))
        .collect();
    print(&format!("with {}", parameters.join(", ")));
    let formats: Vec<String> = STORAGE_FORMATS
        .iter()
        .map(|f| format!("{}: {} B each, {}", f.name, f.bytes_per_element, f.from))
        .collect();
    heading("models", &format!("batch 1; {}", formats.join("; ")));
    let mut head = vec!["model", "passes", "MAC per pass", "MAC, all passes", "parameters"];
    let names: Vec<String> = STORAGE_FORMATS
        .iter()
        .map(|format| format!("GB {}", format.name))
        .collect();
    head.extend(names.iter().map(String::as_str));
    head.push("what it does");
    let mut rows: Vec<Vec<String>> = inventory
        .models
        .iter()
        .map(|model| {
            let parameters = match &model.weights_of {
                Some(other) => format!("those of {other}"),
                None => grouped(model.parameters.total()),
            };
            let mut row = vec![
                model.name.clone(),
                model.passes.to_string(),
                grouped(model.macs),
                short(model.macs_all as f64),
                parameters,
            ];
            row.extend(gigabytes(&model.footprints));
            row.push(model.about.clone());
            row
        })
        .collect();
    let mut total = vec![
        "all".to_owned(),
        String::new(),
        String::new(),
        short(inventory.macs_all as f64),
        grouped(inventory.parameters_all),
    ];
    total.extend(gigabytes(&inventory.footprints));
    total.push(String::new());
    rows.push(total);
    print(&table(&head, rows));
}

/// Counts, shapes, sizes, attention, host, figures.
pub(super) fn rest(inventory: &Inventory, most: usize) {
    counts(inventory);
    shapes(inventory, most);
    activations(inventory, most);
    attention(inventory);
    host(inventory);
    figures(inventory);
}

fn counts(inventory: &Inventory) {
    heading("counts", "of one pass");
    let mut rows = Vec::new();
    for model in &inventory.models {
        for (template, count) in &model.templates {
            rows.push(vec![
                model.name.clone(),
                format!("{template} (template)"),
                count.to_string(),
                String::new(),
                String::new(),
            ]);
        }
        for class in &model.classes {
            rows.push(vec![
                model.name.clone(),
                class.class.clone(),
                class.count.to_string(),
                grouped(class.macs),
                grouped(class.parameters),
            ]);
        }
    }
    print(&table(&["model", "class", "count", "MAC", "parameters"], rows));
}

fn shapes(inventory: &Inventory, most: usize) {
    let products: Vec<_> = inventory.shapes.iter().filter(|shape| shape.macs > 0).collect();
    heading(
        "distinct layers with multiplications",
        &format!(
            "{} of {} distinct layers; by MAC of all passes",
            products.len(),
            inventory.shapes.len()
        ),
    );
    let rows = products.iter().take(most).map(|shape| {
        let uses: Vec<String> = shape.uses.iter().map(|(model, n)| format!("{n} in {model}")).collect();
        let share = 100.0 * shape.macs_all as f64 / (inventory.macs_all.max(1)) as f64;
        vec![
            shape.shape.clone(),
            uses.join(", "),
            grouped(shape.macs),
            format!("{share:.2} %"),
        ]
    });
    print(&table(
        &["layer", "uses per pass", "MAC each", "of all MAC"],
        rows.collect(),
    ));
    left_out(most, products.len());
}

fn activations(inventory: &Inventory, most: usize) {
    heading(
        "sizes of results",
        "largest first; scores of attention as if they were kept",
    );
    let rows = inventory.activations.iter().take(most.min(12)).map(|size| {
        vec![
            grouped(size.elements),
            format!("{} MB", short(size.fp16_bytes as f64 / 1e6)),
            size.count.to_string(),
            size.of.clone(),
        ]
    });
    print(&table(
        &["elements", "as fp16", "layers", "first of them"],
        rows.collect(),
    ));
}

fn attention(inventory: &Inventory) {
    if inventory.attention.is_empty() {
        return;
    }
    heading(
        "attention whose intermediates change byte order through the host",
        "3 for each block of keys, out and back as fp16, blocks as long as a head is wide",
    );
    let gigabytes = |bytes: u128| short(bytes as f64 / 1e9);
    let rows = inventory.attention.iter().map(|own| {
        vec![
            own.model.clone(),
            own.shape.clone(),
            own.count.to_string(),
            own.key_blocks.to_string(),
            gigabytes(own.temporary_bytes),
            gigabytes(own.call_bytes),
            gigabytes(own.pass_bytes),
            gigabytes(own.all_bytes),
        ]
    });
    let head = [
        "model",
        "call",
        "calls",
        "key blocks",
        "GB one of 3",
        "GB per call",
        "GB per pass",
        "GB all passes",
    ];
    print(&table(&head, rows.collect()));
}

fn host(inventory: &Inventory) {
    let host = inventory.shapes.iter().filter_map(|shape| match &shape.layer {
        Layer::Host { task, bytes } => Some(vec![task.clone(), bytes.to_string(), shape.times.to_string()]),
        _ => None,
    });
    let rows: Vec<Vec<String>> = host.collect();
    if !rows.is_empty() {
        heading("what stays on the host", "bytes that cross");
        print(&table(&["task", "bytes", "times"], rows));
    }
}

fn figures(inventory: &Inventory) {
    if inventory.figures.is_empty() {
        return;
    }
    heading(
        "figures of the network's file",
        "published values beside them, and how they stand to ours",
    );
    let rows = inventory.figures.iter().map(|figure| {
        let value = match figure.value {
            FigureValue::Whole(n) => u128::try_from(n).map_or_else(|_| n.to_string(), grouped),
            FigureValue::Number(x) => short(x),
        };
        let published = figure.published.as_ref();
        vec![
            figure.name.clone(),
            format!("{value} {}", figure.unit).trim_end().to_owned(),
            published.map_or_else(String::new, |own| own.value.clone()),
            published.map_or_else(String::new, |own| own.agreement.to_string()),
            published.map_or_else(String::new, |own| own.reason.clone().unwrap_or_default()),
        ]
    });
    print(&table(&["figure", "ours", "published", "", "why"], rows.collect()));
    let mut places: Vec<&str> = inventory
        .figures
        .iter()
        .filter_map(|f| Some(f.published.as_ref()?.at.as_str()))
        .collect();
    places.sort_unstable();
    if let Some(first) = places.first() {
        let source = first.split(", section").next().unwrap_or(first);
        print(&format!("published: {source}; sections and formulas: --format json"));
    }
}

/// Bounds on a machine.
pub(super) fn bounds(own: &MachineBounds) {
    let machine = &own.machine;
    heading(
        &format!("bounds on {}", machine.name),
        &format!("no run takes less; {}", machine.about),
    );
    let mut rows: Vec<Vec<String>> = Vec::new();
    for bound in &own.bounds {
        rows.push(vec![
            bound.of.clone(),
            format!("{} MHz", short(bound.clock_hz / 1e6)),
            format!("{:.1} %", 100.0 * bound.efficiency),
            bound.format.to_owned(),
            short(bound.arithmetic_s),
            bound.weights_s.map_or_else(|| "-".to_owned(), short),
            short(bound.seconds),
        ]);
    }
    let head = [
        "model",
        "clock",
        "of the peak",
        "weights as",
        "s of MAC",
        "s of reading weights",
        "s at least",
    ];
    print(&table(&head, rows));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_for_people() {
        for (x, expected) in [
            (0.0, "0"),
            (2.3268, "2.327"),
            (33.88, "33.88"),
            (1e-4, "1.000e-4"),
            (2.08e14, "2.080e14"),
        ] {
            assert_eq!(short(x), expected);
        }
    }
}
