//! The answer of a target that has said nothing of its own about networks: its workload kinds are asked.

use std::collections::BTreeMap;

use planner::network::{Form, Function, Layer};
use planner::order::{self, Digits, concatenated, differing, is_prefix};
use planner::workloads::{ExtentDefault, KINDS, WorkloadKind, kind};
use planner::{Refusal, Workload};

use crate::network::{Level, Price, Runs, Status, Support};
use crate::target::Configured;

/// What `target` makes of `layer`, by workload kinds: linear layers and 1x1 convolutions are `gemm`, two products with a
/// tanh GELU between them are `mlp`. Of what no kind computes, convolutions and attention are priced as the products they
/// consist of.
pub fn by_workload_kinds<C: Configured + ?Sized>(target: &C, layer: &Layer) -> Support {
    match *layer {
        Layer::Linear {
            rows,
            inner,
            columns,
            bias,
        } => {
            let mut found = gemm(target, rows, inner, columns);
            if bias {
                without_bias(&mut found, &format!("{columns} values to each of {rows} rows"));
            }
            found
        }
        Layer::Conv {
            height,
            width,
            inputs,
            outputs,
            kernel: 1,
            stride: 1,
            bias,
        } => {
            let rows = height.saturating_mul(width);
            let mut found = gemm(target, rows, inputs, outputs);
            if found.runs.is_some() {
                found.words = format!(
                    "{}, its rows being pixels with their channels side by side",
                    found.words
                );
            }
            if bias {
                without_bias(&mut found, &format!("{outputs} values to each of {rows} pixels"));
            }
            found
        }
        Layer::Mlp {
            tokens,
            features,
            hidden,
            outputs,
            function: Function::GeluTanh,
            bias,
        } => {
            let extents = [
                ("tokens", tokens),
                ("features", features),
                ("hidden", hidden),
                ("outputs", outputs),
            ];
            let mut found = ask(target, "mlp", &extents);
            if bias {
                without_bias(
                    &mut found,
                    &format!("{hidden} and {outputs} values to each of {tokens} rows"),
                );
            }
            found
        }
        Layer::Mlp { .. } => Support::new(
            Status::Refused,
            Some(Level::Kernel),
            "kind `mlp` computes gelu-tanh between its products, no other function",
        ),
        Layer::Activation {
            function: Function::GeluTanh,
            ..
        } => Support::new(
            Status::Partial,
            Some(Level::Kernel),
            "only between two products, as a part of kind `mlp`",
        ),
        Layer::Host { .. } => Support::new(Status::Host, None, "stays on the host"),
        Layer::Attention { .. } => by_its_products(target, layer, attention(target, layer)),
        Layer::Conv { .. } => by_its_products(target, layer, no_kind(target, layer, Level::Kernel)),
        Layer::Concat { .. } | Layer::Rearrange { .. } | Layer::Upsample { .. } => {
            in_place(layer).unwrap_or_else(|| no_kind(target, layer, Level::Compiler))
        }
        _ => no_kind(target, layer, Level::Kernel),
    }
}

/// By the kinds that compute it, if there are any.
fn attention<C: Configured + ?Sized>(target: &C, layer: &Layer) -> Support {
    let Layer::Attention {
        heads,
        queries,
        keys,
        width,
        value_width,
        key_heads,
        causal,
    } = *layer
    else {
        return no_kind(target, layer, Level::Kernel);
    };
    let Some(own) = kind(if causal { "causal-attention" } else { "attention" }) else {
        return no_kind(target, layer, Level::Kernel);
    };
    let extents = [
        ("heads", heads),
        ("kv_heads", key_heads),
        ("queries", queries),
        ("keys", keys),
        ("width", width),
        ("value_width", value_width),
    ];
    ask(target, own.name, &extents)
}

/// What is refused may be priced as the products that it consists of.
fn by_its_products<C: Configured + ?Sized>(target: &C, layer: &Layer, mut found: Support) -> Support {
    if found.status != Status::Refused {
        return found;
    }
    match as_products(target, layer) {
        Ok(price) => found.unlocks = price,
        Err(refusal) => {
            found.words = format!("{}; its products are refused too: {}", found.words, refusal.message);
            found.rule = found.rule.or(Some(refusal.rule));
        }
    }
    found
}

/// Operands of workload kinds come row after row: what leaves every element where it lies takes nothing.
fn in_place(layer: &Layer) -> Option<Support> {
    /// As many rows, columns and parts as show what any number does.
    const SHOWN: u64 = 2;
    let extent = |n: u64| usize::try_from(n).unwrap_or(usize::MAX);
    let flat = |rows: u64, columns: u64| Digits::flat(extent(rows.min(SHOWN)), extent(columns));
    // Two axes, and what stays together inside both, change places.
    let exchanged = |outer: u64, inner: u64, within: u64| {
        let counts = [outer, inner, within].map(|n| extent(n.min(SHOWN)));
        let laid = |axes: [usize; 3]| {
            let levels = axes.map(|axis| order::Level {
                axis,
                count: counts[axis],
            });
            Digits::new(String::new(), counts.to_vec(), levels.to_vec())
        };
        differing(&laid([0, 1, 2]), &laid([1, 0, 2])) == 0
    };
    let same = match *layer {
        Layer::Rearrange {
            form: Form::Reshape, ..
        } => true,
        Layer::Rearrange {
            form: Form::SplitHeads | Form::JoinHeads,
            rows,
            columns,
            parts,
        } => exchanged(rows, parts, columns / parts.max(1)),
        Layer::Rearrange {
            form: Form::Transpose | Form::PlaneToTokens | Form::TokensToPlane,
            rows,
            columns,
            ..
        } => exchanged(rows, columns, 1),
        Layer::Rearrange {
            form: Form::Slice,
            rows,
            columns,
            parts,
        } => {
            let columns = columns.min(SHOWN);
            is_prefix(&flat(rows, columns), &flat(rows, columns * parts.min(SHOWN)))
        }
        Layer::Concat { rows, first, second } => {
            let (first, second) = (first.min(SHOWN), second.min(SHOWN));
            concatenated(&[&flat(rows, first), &flat(rows, second)], &flat(rows, first + second))
        }
        _ => false,
    };
    same.then(|| {
        Support::new(
            Status::Free,
            None,
            "operands lie row after row: every element stays where it is",
        )
    })
}

fn no_kind<C: Configured + ?Sized>(target: &C, layer: &Layer, level: Level) -> Support {
    let names: Vec<String> = kinds(target).map(|kind| format!("`{}`", kind.name)).collect();
    let plans = if names.is_empty() {
        "it makes no plans for any kind".to_owned()
    } else {
        format!("plans are made for {}", names.join(", "))
    };
    let words = format!(
        "no workload kind of `{}` computes {}: {plans}",
        target.target(),
        layer.class()
    );
    Support::new(Status::Refused, Some(level), words)
}

/// The workload kinds that a target has plans for: those that have a space at small extents.
fn kinds<C: Configured + ?Sized>(target: &C) -> impl Iterator<Item = &'static WorkloadKind> {
    /// Every extent of the workload that is asked about.
    const SMALL: i64 = 64;
    let has_plans = move |kind: &WorkloadKind| {
        let required = kind.extents.iter().filter(|key| key.default == ExtentDefault::Required);
        let extents: BTreeMap<&str, i64> = required.map(|key| (key.name, SMALL)).collect();
        // What has nothing to give is another kind with fixed extents.
        !extents.is_empty()
            && kind.operations(&extents, None).is_ok_and(|operations| {
                let workload = Workload {
                    name: kind.name.to_owned(),
                    operations,
                };
                target.space(&workload).is_ok()
            })
    };
    KINDS.iter().filter(move |kind| has_plans(kind))
}

/// The bias is left over.
fn without_bias(found: &mut Support, what: &str) {
    if found.status == Status::Supported {
        found.status = Status::Partial;
        found.level = Some(Level::Kernel);
        found.words = format!("{}; its bias is left over: no workload kind adds {what}", found.words);
    }
}

fn gemm<C: Configured + ?Sized>(target: &C, rows: u64, inner: u64, columns: u64) -> Support {
    ask(
        target,
        "gemm",
        &[("rows", rows), ("inner", inner), ("columns", columns)],
    )
}

/// The target's own answer for a workload: space, default plan, constraints, sources.
fn ask<C: Configured + ?Sized>(target: &C, of_kind: &'static str, extents: &[(&'static str, u64)]) -> Support {
    match planned(target, of_kind, extents) {
        Ok((runs, cost)) => Support {
            cost,
            runs: Some(runs),
            ..Support::new(Status::Supported, None, format!("kind `{of_kind}`"))
        },
        Err(refusal) => {
            let level = target.refusal_level(&refusal.rule);
            let near = refusal
                .nearest
                .map_or_else(String::new, |nearest| format!("; nearest legal: {nearest}"));
            Support {
                rule: Some(refusal.rule),
                ..Support::new(Status::Refused, Some(level), format!("{}{near}", refusal.message))
            }
        }
    }
}

fn planned<C: Configured + ?Sized>(
    target: &C,
    of_kind: &'static str,
    extents: &[(&'static str, u64)],
) -> Result<(Runs, Option<Price>), Refusal> {
    let own = kind(of_kind).ok_or_else(|| Refusal::new("workload-kind", format!("there is no kind `{of_kind}`")))?;
    let given: BTreeMap<&str, i64> = extents
        .iter()
        .map(|(name, n)| (*name, i64::try_from(*n).unwrap_or(i64::MAX)))
        .collect();
    let operations = own
        .operations(&given, None)
        .map_err(|error| Refusal::new("workload-extents", error.to_string()))?;
    let workload = Workload {
        name: of_kind.to_owned(),
        operations,
    };
    let space = target.space(&workload)?;
    let assignment = target.defaults(&workload)?;
    space.check(&assignment).map_err(|mut refusal| {
        let near = space.nearest_legal(&assignment);
        refusal.nearest = refusal
            .nearest
            .or_else(|| near.map(|near| space.changes(&assignment, &near)));
        refusal
    })?;
    target.legal(&workload, &assignment)?;
    let plan = target.plan(&workload, &assignment);
    target.build(&workload, &plan)?;
    let unit = target.objective().unit;
    let estimates = target
        .estimators()
        .into_iter()
        .filter_map(|model| model.estimate(&workload, &plan).ok());
    let estimate = estimates.into_iter().find(|estimate| estimate.unit == unit);
    let price = estimate.map(|estimate| Price {
        value: estimate.value,
        unit: estimate.unit,
        estimate: estimate.name,
        of: "the target's default plan".to_owned(),
        label: "modelled",
    });
    let runs = Runs {
        kind: of_kind,
        extents: extents.to_vec(),
        workload,
        plan: assignment,
    };
    Ok((runs, price))
}

/// What the products that a layer consists of would take, as if each were a plan of its own. Fails where the target
/// refuses one of them.
fn as_products<C: Configured + ?Sized>(target: &C, layer: &Layer) -> Result<Option<Price>, Refusal> {
    let price = |rows, inner, columns| {
        let (_, price) = planned(
            target,
            "gemm",
            &[("rows", rows), ("inner", inner), ("columns", columns)],
        )?;
        Ok(price)
    };
    match *layer {
        Layer::Conv {
            height,
            width,
            inputs,
            outputs,
            kernel,
            stride,
            ..
        } => {
            let rows = height.div_ceil(stride).saturating_mul(width.div_ceil(stride));
            let inner = inputs.saturating_mul(kernel).saturating_mul(kernel);
            let of =
                format!("the product {rows} rows {inner} -> {outputs} by its default plan; gathering is not counted");
            let price: Option<Price> = price(rows, inner, outputs)?;
            Ok(price.map(|price| Price { of, ..price }))
        }
        Layer::Attention {
            heads,
            queries,
            keys,
            width,
            value_width,
            ..
        } => {
            let (scores, values) = (price(queries, width, keys)?, price(queries, keys, value_width)?);
            Ok(scores.zip(values).map(|(scores, values)| Price {
                value: heads as f64 * (scores.value + values.value),
                of: format!(
                    "two products for each of {heads} heads by their default plans; the softmax is not counted"
                ),
                ..scores
            }))
        }
        _ => Ok(None),
    }
}
