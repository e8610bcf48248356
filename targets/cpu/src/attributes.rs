//! A CPU plan as named attributes: what everybody outside this crate sees of it.

use planner::{Attributes, Refusal, Value, Workload};

use crate::geometry::{
    Activation, Activations, CpuPlan, Deal, GemmGeometry, Inside, Order, Orientation, Output, Split, Staging, Weights,
};

/// Attributes of one product, in order, with one sentence each; they are called `<operation>.<attribute>`.
pub const GEMM_ATTRIBUTES: [(&str, &str); 21] = [
    (
        "orientation",
        "which product is computed: `normal`, or `swapped` (the transposed one)",
    ),
    ("rows", "row blocks of the computed product"),
    ("columns", "column blocks of the computed product"),
    ("inner", "blocks of the axis that is summed over"),
    ("height", "rows of the micro-kernel"),
    ("width", "columns of the micro-kernel"),
    ("unroll", "inner steps per iteration of the micro-kernel's loop"),
    (
        "order",
        "loops over blocks of rows (r), columns (c) and inner (k), slowest first",
    ),
    (
        "inside",
        "loops over panels inside a block: `cr` columns outer, `rc` rows outer",
    ),
    (
        "weights",
        "byte order of the weights: `row-major` as given, or `panels` packed when the model is loaded",
    ),
    (
        "activations",
        "how activations reach the micro-kernel: `in-place`, or `packed` inside the timed span",
    ),
    (
        "output",
        "byte order in which the result is left: `row-major`, `panels` or `tiles`",
    ),
    (
        "staging",
        "when partial sums are added: `streamed`, `complete` or `batch-N`",
    ),
    (
        "result_rows",
        "result factor over rows: so many shards of a row block are reduced by their own workers",
    ),
    ("result_columns", "result factor over columns"),
    (
        "split",
        "the axis by which tiles are listed, hence what a worker owns: `rows` or `columns`",
    ),
    (
        "deal",
        "how the list of tiles is dealt to workers: `contiguous` or `round-robin`",
    ),
    (
        "transpose",
        "tile mapping: groups of so many tiles are transposed in the list before dealing; 1 keeps the order",
    ),
    (
        "prefetch_c",
        "whether the tile of the result is prefetched when the micro-kernel starts",
    ),
    (
        "prefetch_b",
        "whether the next panel of the vector operand is prefetched to L2",
    ),
    (
        "activation",
        "the element-wise step that follows: `fused` into the last inner step, or a `pass` of its own",
    ),
];

/// The attribute of the whole plan that says whether row blocks are carried through all products.
pub const CARRY: &str = "carry";
/// The attribute of the whole plan that says how many workers there are.
pub const THREADS: &str = "threads";

/// What [`CARRY`] means.
pub const CARRY_ABOUT: &str = "a worker takes its row blocks through all products, without barriers between them";

/// What an attribute of one product means, in one sentence; `name` without its operation.
#[must_use]
pub fn about(name: &str) -> &'static str {
    GEMM_ATTRIBUTES
        .iter()
        .find(|(own, _)| *own == name)
        .map_or("", |(_, about)| about)
}

/// Attributes of one product, named `<operation>.<attribute>`.
#[must_use]
pub fn gemm_attributes(operation: &str, geometry: &GemmGeometry) -> Vec<(String, Value)> {
    let g = geometry;
    let mut list = vec![
        ("orientation", Value::text(g.orientation.word())),
        ("rows", g.rows.into()),
        ("columns", g.columns.into()),
        ("inner", g.inner.into()),
        ("height", g.height.into()),
        ("width", g.width.into()),
        ("unroll", g.unroll.into()),
        ("order", Value::text(g.order.word())),
        ("inside", Value::text(g.inside.word())),
        ("weights", Value::text(g.weights.word())),
        ("activations", Value::text(g.activations.word())),
        ("output", Value::text(g.output.word())),
        ("staging", Value::Text(g.staging.to_string())),
        ("result_rows", g.result_rows.into()),
        ("result_columns", g.result_columns.into()),
        ("split", Value::text(g.split.word())),
        ("deal", Value::text(g.deal.word())),
        ("transpose", g.transpose.into()),
        ("prefetch_c", g.prefetch_c.into()),
        ("prefetch_b", g.prefetch_b.into()),
    ];
    if let Some(activation) = g.activation {
        list.push(("activation", Value::text(activation.word())));
    }
    list.into_iter()
        .map(|(name, value)| (format!("{operation}.{name}"), value))
        .collect()
}

/// All attributes of a plan: those of its products, then `carry` and `threads`.
#[must_use]
pub fn plan_attributes(plan: &CpuPlan) -> Attributes {
    let own = [
        (CARRY.to_owned(), plan.carry.into()),
        (THREADS.to_owned(), plan.threads.into()),
    ];
    let gemms = plan
        .gemms
        .iter()
        .flat_map(|(name, geometry)| gemm_attributes(name, geometry));
    gemms.chain(own).collect()
}

fn wrong(name: &str, value: &Value, expected: &str) -> Refusal {
    let message = format!("`{name}` is {} `{value}`; expected {expected}", value.kind());
    Refusal::new("attribute-value", message)
}

pub(crate) fn count(name: &str, value: &Value) -> Result<u32, Refusal> {
    value
        .as_integer()
        .and_then(|n| u32::try_from(n).ok())
        .filter(|n| *n >= 1)
        .ok_or_else(|| wrong(name, value, "a whole number of at least 1"))
}

pub(crate) fn truth(name: &str, value: &Value) -> Result<bool, Refusal> {
    value
        .as_boolean()
        .ok_or_else(|| wrong(name, value, "`true` or `false`"))
}

pub(crate) fn word<T>(
    name: &str,
    value: &Value,
    parse: impl Fn(&str) -> Option<T>,
    words: &[&str],
) -> Result<T, Refusal> {
    value
        .as_text()
        .and_then(parse)
        .ok_or_else(|| wrong(name, value, &format!("one of {}", words.join(", "))))
}

/// What has been read of one product.
#[derive(Default)]
struct Draft {
    orientation: Option<Orientation>,
    /// rows, columns, inner, height, width, unroll, result rows, result columns, transpose.
    counts: [Option<u32>; 9],
    order: Option<Order>,
    inside: Option<Inside>,
    weights: Option<Weights>,
    activations: Option<Activations>,
    output: Option<Output>,
    staging: Option<Staging>,
    split: Option<Split>,
    deal: Option<Deal>,
    prefetch_c: Option<bool>,
    prefetch_b: Option<bool>,
    activation: Option<Activation>,
}

/// Positions in [`Draft::counts`].
const COUNTS: [&str; 9] = [
    "rows",
    "columns",
    "inner",
    "height",
    "width",
    "unroll",
    "result_rows",
    "result_columns",
    "transpose",
];

impl Draft {
    fn read(&mut self, name: &str, short: &str, value: &Value) -> Result<(), Refusal> {
        match short {
            "orientation" => self.orientation = Some(word(name, value, Orientation::parse, Orientation::WORDS)?),
            "order" => self.order = Some(word(name, value, Order::parse, Order::WORDS)?),
            "inside" => self.inside = Some(word(name, value, Inside::parse, Inside::WORDS)?),
            "weights" => self.weights = Some(word(name, value, Weights::parse, Weights::WORDS)?),
            "activations" => self.activations = Some(word(name, value, Activations::parse, Activations::WORDS)?),
            "output" => self.output = Some(word(name, value, Output::parse, Output::WORDS)?),
            "staging" => {
                self.staging = Some(word(name, value, Staging::parse, &["streamed", "complete", "batch-N"])?);
            }
            "split" => self.split = Some(word(name, value, Split::parse, Split::WORDS)?),
            "deal" => self.deal = Some(word(name, value, Deal::parse, Deal::WORDS)?),
            "prefetch_c" => self.prefetch_c = Some(truth(name, value)?),
            "prefetch_b" => self.prefetch_b = Some(truth(name, value)?),
            "activation" => self.activation = Some(word(name, value, Activation::parse, Activation::WORDS)?),
            // Derived attributes stand beside the chosen ones; they decide nothing.
            _ => {
                if let Some(at) = COUNTS.iter().position(|count| *count == short) {
                    self.counts[at] = Some(count(name, value)?);
                }
            }
        }
        Ok(())
    }

    fn finish(self, operation: &str) -> Result<GemmGeometry, Refusal> {
        fn need<T>(operation: &str, name: &str, value: Option<T>) -> Result<T, Refusal> {
            let missing = || Refusal::new("missing-attribute", format!("`{operation}.{name}` is not given"));
            value.ok_or_else(missing)
        }
        let counted = |at: usize| need(operation, COUNTS[at], self.counts[at]);
        Ok(GemmGeometry {
            orientation: need(operation, "orientation", self.orientation)?,
            rows: counted(0)?,
            columns: counted(1)?,
            inner: counted(2)?,
            height: counted(3)?,
            width: counted(4)?,
            unroll: counted(5)?,
            order: need(operation, "order", self.order)?,
            inside: need(operation, "inside", self.inside)?,
            weights: need(operation, "weights", self.weights)?,
            activations: need(operation, "activations", self.activations)?,
            output: need(operation, "output", self.output)?,
            staging: need(operation, "staging", self.staging)?,
            result_rows: counted(6)?,
            result_columns: counted(7)?,
            split: need(operation, "split", self.split)?,
            deal: need(operation, "deal", self.deal)?,
            transpose: counted(8)?,
            prefetch_c: need(operation, "prefetch_c", self.prefetch_c)?,
            prefetch_b: need(operation, "prefetch_b", self.prefetch_b)?,
            activation: self.activation,
        })
    }
}

/// Reads the geometry of the product `operation`, in one pass: screening does this for every candidate.
///
/// Fails with the rule `missing-attribute` or `attribute-value`.
pub fn gemm_from(operation: &str, attributes: &Attributes) -> Result<GemmGeometry, Refusal> {
    let mut draft = Draft::default();
    for (name, value) in attributes.iter() {
        if let Some(short) = name.strip_prefix(operation).and_then(|rest| rest.strip_prefix('.')) {
            draft.read(name, short, value)?;
        }
    }
    draft.finish(operation)
}

/// Reads the plan of all products of `workload`; `threads` holds where the attribute is not given.
///
/// Fails with the rule `missing-attribute` or `attribute-value`, or `activation` when a product says how an element-wise
/// step is executed that the workload doesn't have.
pub fn plan_from(workload: &Workload, attributes: &Attributes, threads: u32) -> Result<CpuPlan, Refusal> {
    let gemms = workload
        .gemms()
        .map(|(name, _)| {
            let geometry = gemm_from(name, attributes)?;
            match (workload.elementwise_after(name), geometry.activation) {
                (Some(_), None) => Err(Refusal::new(
                    "missing-attribute",
                    format!("`{name}.activation` is not given"),
                )),
                (None, Some(_)) => {
                    let message = format!("`{name}.activation` is given, but no element-wise step follows `{name}`");
                    Err(Refusal::new("activation", message))
                }
                _ => Ok((name.to_owned(), geometry)),
            }
        })
        .collect::<Result<Vec<_>, Refusal>>()?;
    let carry = attributes.get(CARRY);
    Ok(CpuPlan {
        threads: attributes
            .get(THREADS)
            .map_or(Ok(threads), |value| count(THREADS, value))?,
        carry: carry.map_or(Ok(false), |value| truth(CARRY, value))?,
        gemms,
    })
}
