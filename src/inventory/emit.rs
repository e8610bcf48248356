//! A sweep definition of a network's most expensive shapes, each weighted by how often it occurs.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use coordinator::ExitCode;
use planner::network::{Inventory, Layer};
use planner::{Assignment, Domain, Space, Value};
use target_api::{Configured, Runs};

use super::against::Against;
use super::show::short;
use crate::failure::Failure;

/// Other values of one attribute that are tried.
const OTHERS: usize = 2;

/// A workload with what it stands for.
struct Weighted {
    runs: Runs,
    /// How often it occurs in all passes.
    times: u128,
    /// Multiplications of one.
    macs: u128,
    /// What one call takes, where an estimate says so.
    price: Option<f64>,
}

impl Weighted {
    fn name(&self) -> String {
        let extents: Vec<String> = self.runs.extents.iter().map(|(_, n)| n.to_string()).collect();
        format!("{}-{}", self.runs.kind, extents.join("x"))
    }

    fn macs_all(&self) -> u128 {
        self.macs.saturating_mul(self.times)
    }

    /// By which the most expensive are chosen.
    fn weight(&self) -> f64 {
        self.price.map_or(self.macs as f64, |price| price) * self.times as f64
    }
}

/// Writes `DIR/NETWORK-TARGET.toml` and gives its path and a line about it.
pub(super) fn emit(
    folder: &Path,
    inventory: &Inventory,
    against: &Against,
    target: &dyn Configured,
    most: usize,
) -> Result<(PathBuf, String), Failure> {
    let mut all = weighted(against);
    if all.is_empty() {
        let message = format!(
            "`{}` computes nothing of `{}`: there is nothing to sweep",
            against.target, inventory.network
        );
        return Err(Failure::usage(message).help("the same command without `--emit` says why"));
    }
    // Where not all have a price, multiplications decide for all.
    if all.iter().any(|own| own.price.is_none()) {
        for own in &mut all {
            own.price = None;
        }
    }
    all.sort_by(|a, b| b.weight().total_cmp(&a.weight()).then_with(|| a.name().cmp(&b.name())));
    let kinds = all.len();
    all.truncate(most);
    let covered: u128 = all.iter().map(Weighted::macs_all).sum();
    let share = 100.0 * covered as f64 / inventory.macs_all.max(1) as f64;
    let said = format!(
        "{} of {kinds} distinct workloads, {share:.1} % of the multiplications of `{}` (derived)",
        all.len(),
        inventory.network
    );
    let text = definition(inventory, against, target, &all, &said)?;
    let path = folder.join(format!("{}-{}.toml", file_stem(&inventory.network), against.target));
    if path.exists() {
        return Err(Failure::usage(format!("`{}` is there already", path.display()))
            .help("a definition belongs to its cohort: write into another folder, or remove it"));
    }
    let wrong = |error| Failure::because(ExitCode::Failure, "the definition can't be written", error);
    fs_err::create_dir_all(folder).map_err(wrong)?;
    fs_err::write(&path, text).map_err(wrong)?;
    Ok((path, said))
}

/// A network's name may hold anything; a file's name may not.
fn file_stem(name: &str) -> String {
    name.chars()
        .map(|c| if c.is_alphanumeric() || c == '-' { c } else { '-' })
        .collect()
}

/// What the target can run: chains first, and of their products only what stands elsewhere too.
fn weighted(against: &Against) -> Vec<Weighted> {
    type Key = (&'static str, Vec<(&'static str, u64)>);
    let key = |runs: &Runs| -> Key { (runs.kind, runs.extents.clone()) };
    let mut found: BTreeMap<Key, Weighted> = BTreeMap::new();
    for row in &against.rows {
        let Some(runs) = &row.support.runs else { continue };
        let entry = found.entry(key(runs)).or_insert_with(|| Weighted {
            runs: runs.clone(),
            times: 0,
            macs: row.layer.macs(),
            price: row.support.cost.as_ref().map(|price| price.value),
        });
        entry.times = entry.times.saturating_add(row.times);
    }
    for row in against
        .rows
        .iter()
        .filter(|row| row.chain && row.support.runs.is_some())
    {
        let Layer::Mlp {
            tokens,
            features,
            hidden,
            outputs,
            ..
        } = row.layer
        else {
            continue;
        };
        for (inner, columns) in [(features, hidden), (hidden, outputs)] {
            let product: Key = ("gemm", vec![("rows", tokens), ("inner", inner), ("columns", columns)]);
            if let Some(own) = found.get_mut(&product) {
                own.times = own.times.saturating_sub(row.times);
            }
        }
    }
    found.into_values().filter(|own| own.times > 0).collect()
}

fn definition(
    inventory: &Inventory,
    against: &Against,
    target: &dyn Configured,
    all: &[Weighted],
    said: &str,
) -> Result<String, Failure> {
    let mut out = String::new();
    let network = &inventory.network;
    let parameters: Vec<String> = inventory
        .parameters
        .iter()
        .map(|(name, value)| format!("{name} = {value}"))
        .collect();
    let _ = writeln!(
        out,
        "# The most expensive products of `{network}` on `{}`: {said}.",
        against.target
    );
    let _ = writeln!(out, "# With {}.", parameters.join(", "));
    let _ = writeln!(
        out,
        "# A weight is how often a product occurs in all passes of all models: times it, times add up."
    );
    let _ = writeln!(out, "target = \"{}\"\ncontrol = \"plain\"\n", against.target);
    for own in all {
        let price = own.price.map_or_else(String::new, |price| {
            format!(", {} {} by the default plan (modelled)", short(price), against.unit)
        });
        let _ = writeln!(out, "# {} MAC each{price}", short(own.macs as f64));
        let _ = writeln!(
            out,
            "[[workload]]\nname = \"{}\"\nkind = \"{}\"",
            own.name(),
            own.runs.kind
        );
        let _ = writeln!(out, "weight = {}", own.times);
        for (name, n) in &own.runs.extents {
            let _ = writeln!(out, "{name} = {n}");
        }
        out.push('\n');
    }
    out.push_str("[[case]]\nname = \"plain\"\nfamily = \"control\"\nreason = \"the target's default plan\"\n\n");
    out.push_str("# Other values of one attribute of one operation at a time, legal in every workload that has it.\n");
    out.push_str("[explore]\nvary = [\n");
    for (attribute, values) in changes(target, all)? {
        let values: Vec<String> = values.iter().map(literal).collect();
        let _ = writeln!(
            out,
            "  {{ from = \"plain\", attribute = \"{attribute}\", values = [{}] }},",
            values.join(", ")
        );
    }
    out.push_str("]\nadaptive = { cross = 2 }\n");
    Ok(out)
}

fn literal(value: &Value) -> String {
    match value {
        Value::Text(word) => toml::Value::String(word.clone()).to_string(),
        other => other.to_string(),
    }
}

/// For each attribute the values next to the default that are legal by themselves, in every workload that has it.
fn changes(target: &dyn Configured, all: &[Weighted]) -> Result<Vec<(String, Vec<Value>)>, Failure> {
    let mut spaces: Vec<(Space, &Assignment)> = Vec::new();
    for own in all {
        let space = target
            .space(&own.runs.workload)
            .map_err(|refusal| Failure::because(ExitCode::Failure, "a space that was there is refused", refusal))?;
        spaces.push((space, &own.runs.plan));
    }
    let mut found: Vec<(String, Vec<Value>)> = Vec::new();
    for (space, plan) in &spaces {
        for parameter in &space.parameters {
            let name = &parameter.name;
            let Some(now) = plan.get(name).filter(|_| found.iter().all(|(known, _)| known != name)) else {
                continue;
            };
            let everywhere = |value: &Value| {
                let having = spaces.iter().filter(|(_, plan)| plan.get(name).is_some());
                having
                    .into_iter()
                    .all(|(space, plan)| changed(space, plan, name, value))
            };
            let values = others(&parameter.domain, now).into_iter().filter(everywhere);
            found.push((name.clone(), values.take(OTHERS).collect()));
        }
    }
    found.retain(|(_, values)| !values.is_empty());
    Ok(found)
}

fn changed(space: &Space, plan: &Assignment, name: &str, value: &Value) -> bool {
    let mut other = plan.clone();
    other.set(name, value.clone());
    space.check(&other).is_ok()
}

/// Other values of a domain, nearest first; of numbers in a range the double and the half.
fn others(domain: &Domain, now: &Value) -> Vec<Value> {
    match (domain, now) {
        (Domain::Range { start, stop }, Value::Integer(n)) => {
            let mut near: Vec<i64> = Vec::new();
            for other in [n.saturating_mul(2), n / 2, n.saturating_add(1), n.saturating_sub(1)] {
                if other != *n && (*start..=*stop).contains(&other) && !near.contains(&other) {
                    near.push(other);
                }
            }
            near.into_iter().map(Value::Integer).collect()
        }
        (Domain::List(values), now) => {
            let at = values.iter().position(|value| value == now).unwrap_or(0);
            let mut near: Vec<(usize, &Value)> = values.iter().enumerate().filter(|(_, value)| *value != now).collect();
            near.sort_by_key(|(position, _)| position.abs_diff(at));
            near.into_iter().map(|(_, value)| value.clone()).collect()
        }
        _ => Vec::new(),
    }
}
