//! A network held against a target: every distinct operation and shape is asked about.

use std::collections::BTreeMap;

use coordinator::ExitCode;
use planner::network::{Inventory, Layer, Network, chains};
use serde::Serialize;
use target_api::{Configured, Facility, Options, Price, Status, Support};

use super::show::{grouped, heading, left_out, short};
use super::spreadsheet;
use crate::failure::Failure;
use crate::output::{print, table};
use crate::planning::{machine, machine_failure};
use crate::registry;

/// A network on a target.
#[derive(Serialize)]
pub(super) struct Against {
    /// The target.
    pub(super) target: String,
    /// The unit of its estimates.
    pub(super) unit: &'static str,
    /// One for each distinct layer and chain, what would unlock most first.
    pub(super) rows: Vec<Row>,
    /// Share of the network's multiplications by what becomes of them, chains not counted twice.
    macs_by_status: BTreeMap<Status, u128>,
    /// What the machine has besides operations, and what this network could do with it.
    facilities: Vec<Facility>,
}

/// One distinct layer, or layers that follow one another and may be computed together.
#[derive(Serialize)]
pub(super) struct Row {
    pub(super) layer: Layer,
    shape: String,
    class: String,
    /// It consists of other rows.
    pub(super) chain: bool,
    /// In all passes of all models.
    pub(super) times: u128,
    pub(super) macs_all: u128,
    #[serde(flatten)]
    pub(super) support: Support,
    /// Of all calls, in the target's unit (modelled).
    #[serde(skip_serializing_if = "Option::is_none")]
    cost_all: Option<f64>,
    /// Of all calls, in the target's unit (modelled).
    #[serde(skip_serializing_if = "Option::is_none")]
    unlocks_all: Option<f64>,
}

/// The target `id` with default options on this machine.
pub(super) fn configured(id: &str) -> Result<Box<dyn Configured>, Failure> {
    let target = registry::target(id).ok_or_else(|| {
        let names: Vec<String> = registry::TARGETS
            .iter()
            .map(|target| format!("`{}`", target.id()))
            .collect();
        Failure::usage(format!("no target is called `{id}`: expected {}", names.join(", ")))
    })?;
    let options = Options::new();
    let without = |error: target_api::OptionError| {
        Failure::usage(format!("target `{id}` says nothing without options: {error}"))
            .help("a network is held against a target with its default options")
    };
    target.tools(&options).map_err(without)?;
    let machine = machine(target, &options, false).map_err(|error| machine_failure(error, None))?;
    target.configure(&options, &machine).map_err(without)
}

/// Asks `target` about everything in `network`.
pub(super) fn against(network: &Network, inventory: &Inventory, target: &dyn Configured) -> Result<Against, Failure> {
    let mut rows: Vec<Row> = inventory
        .shapes
        .iter()
        .map(|shape| row(target, shape.layer.clone(), shape.times, false))
        .collect();
    let mut macs_by_status: BTreeMap<Status, u128> = BTreeMap::new();
    for row in &rows {
        *macs_by_status.entry(row.support.status).or_default() += row.macs_all;
    }
    let mut found: BTreeMap<Layer, u128> = BTreeMap::new();
    for model in &network.models {
        for (chain, times) in chains(model) {
            *found.entry(chain).or_default() += times.saturating_mul(u128::from(model.passes));
        }
    }
    rows.extend(found.into_iter().map(|(chain, times)| row(target, chain, times, true)));
    if let Some(wrong) = rows
        .iter()
        .find(|row| row.cost_all.is_some_and(|cost| !cost.is_finite()))
    {
        let message = format!("the estimate of {} is not finite", wrong.shape);
        return Err(Failure::new(ExitCode::Failure, message));
    }
    rows.sort_by(|a, b| {
        let unlocks = |row: &Row| row.unlocks_all.unwrap_or(-1.0);
        unlocks(b)
            .total_cmp(&unlocks(a))
            .then_with(|| a.support.status.cmp(&b.support.status))
            .then_with(|| b.macs_all.cmp(&a.macs_all))
    });
    let layers: Vec<(Layer, u128)> = inventory
        .shapes
        .iter()
        .map(|shape| (shape.layer.clone(), shape.times))
        .collect();
    Ok(Against {
        facilities: target.facilities(&layers),
        target: target.target().to_owned(),
        unit: target.objective().unit,
        rows,
        macs_by_status,
    })
}

fn row(target: &dyn Configured, layer: Layer, times: u128, chain: bool) -> Row {
    let support = target.express(&layer);
    let all = |price: &Option<Price>| price.as_ref().map(|price| price.value * times as f64);
    Row {
        shape: layer.to_string(),
        class: layer.class(),
        chain,
        times,
        macs_all: layer.macs().saturating_mul(times),
        cost_all: all(&support.cost),
        unlocks_all: all(&support.unlocks),
        support,
        layer,
    }
}

fn word(choice: &impl Serialize) -> String {
    match serde_json::to_value(choice) {
        Ok(serde_json::Value::String(word)) => word,
        _ => String::new(),
    }
}

/// The words of an answer, behind the rule that they are about.
fn in_words(support: &Support) -> String {
    let rule = support.rule.as_ref();
    rule.map_or_else(|| support.words.clone(), |rule| format!("`{rule}`: {}", support.words))
}

impl Against {
    /// Prints it as tables: a summary, then what stands in the way, then the rest.
    pub(super) fn show(&self, most: usize) {
        let all: u128 = self.macs_by_status.values().sum();
        print(&format!(
            "\non {} (asked of the target; {} modelled)",
            self.target, self.unit
        ));
        let rows = self.macs_by_status.iter().map(|(status, macs)| {
            let own = self
                .rows
                .iter()
                .filter(|row| row.support.status == *status && !row.chain);
            let own: Vec<&Row> = own.collect();
            vec![
                word(status),
                own.len().to_string(),
                format!("{:.2} %", 100.0 * *macs as f64 / all.max(1) as f64),
                sum(own.iter().map(|row| row.cost_all)),
                sum(own.iter().map(|row| row.unlocks_all)),
            ]
        });
        let cost = format!("{} they take (modelled)", self.unit);
        let unlocks = format!("{} they would add (modelled)", self.unit);
        print(&table(
            &["status", "distinct layers", "of all MAC", &cost, &unlocks],
            rows.collect(),
        ));
        heading(
            "every distinct layer and chain",
            "what would unlock most first; all passes",
        );
        let rows = self.rows.iter().take(most).map(|row| {
            let price = row.unlocks_all.map(|all| format!("unlocks {}", short(all)));
            let price = price.or_else(|| row.cost_all.map(|all| format!("takes {}", short(all))));
            vec![
                word(&row.support.status),
                row.support.level.as_ref().map_or_else(String::new, word),
                row.shape.clone(),
                grouped(row.times),
                price.unwrap_or_default(),
                in_words(&row.support),
            ]
        });
        let head = [
            "status",
            "level",
            "layer",
            "times",
            &format!("{} in all", self.unit),
            "in the target's words",
        ];
        print(&table(&head, rows.collect()));
        left_out(most, self.rows.len());
        self.beside();
        self.orders();
    }

    /// What the machine has besides operations.
    fn beside(&self) {
        if self.facilities.is_empty() {
            return;
        }
        heading("besides operations", "what this network could do with it; all passes");
        let rows = self.facilities.iter().map(|facility| {
            let own = &facility.support;
            let unlocks = own
                .unlocks
                .as_ref()
                .map_or_else(String::new, |price| short(price.value));
            vec![
                word(&own.status),
                own.level.as_ref().map_or_else(String::new, word),
                facility.name.clone(),
                unlocks,
                in_words(own),
            ]
        });
        let unlocks = format!("{} it would save (modelled)", self.unit);
        let head = ["status", "level", "what", &unlocks, "in the target's words"];
        print(&table(&head, rows.collect()));
    }

    /// Byte orders by class, where the target has several.
    fn orders(&self) {
        let mut orders: BTreeMap<(String, String), std::collections::BTreeSet<String>> = BTreeMap::new();
        for row in &self.rows {
            for own in &row.support.orders {
                orders
                    .entry((row.class.clone(), own.operand.clone()))
                    .or_default()
                    .insert(own.order.clone());
            }
        }
        if orders.is_empty() {
            return;
        }
        heading("byte orders that layers want", "by class");
        let rows = orders
            .into_iter()
            .map(|((class, operand), orders)| vec![class, operand, orders.into_iter().collect::<Vec<_>>().join(", ")]);
        print(&table(&["class", "operand", "order"], rows.collect()));
    }

    /// One line for each distinct layer and chain.
    pub(super) fn csv(&self) -> Result<String, Failure> {
        let number = |x: Option<f64>| x.map_or_else(String::new, |x| x.to_string());
        let rows: Vec<Vec<String>> = self
            .rows
            .iter()
            .map(|row| {
                let support = &row.support;
                vec![
                    word(&support.status),
                    support.level.as_ref().map_or_else(String::new, word),
                    row.class.clone(),
                    row.shape.clone(),
                    row.chain.to_string(),
                    row.times.to_string(),
                    row.macs_all.to_string(),
                    number(row.cost_all),
                    number(row.unlocks_all),
                    self.unit.to_owned(),
                    support.rule.clone().unwrap_or_default(),
                    support.words.clone(),
                ]
            })
            .collect();
        let head = [
            "status",
            "level",
            "class",
            "shape",
            "chain",
            "times",
            "macs_all",
            "cost_all_modelled",
            "unlocks_all_modelled",
            "unit",
            "rule",
            "words",
        ];
        spreadsheet::csv(&head, &rows)
    }
}

/// What layers take together; where some have no price, of how many it is.
fn sum(each: impl ExactSizeIterator<Item = Option<f64>>) -> String {
    let all = each.len();
    let known: Vec<f64> = each.flatten().collect();
    let figure = short(known.iter().sum());
    match known.len() {
        0 => "-".to_owned(),
        priced if priced == all => figure,
        priced => format!("{figure} ({priced} priced)"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sum_without_every_price_says_of_how_many_it_is() {
        let shown = |each: &[Option<f64>]| sum(each.iter().copied());
        let whole = short(3.0);
        assert_eq!(shown(&[Some(1.0), Some(2.0)]), whole);
        assert_eq!(shown(&[Some(1.0), None, Some(2.0)]), format!("{whole} (2 priced)"));
        assert_eq!(shown(&[None, None]), "-");
        assert_eq!(shown(&[]), "-");
    }
}
