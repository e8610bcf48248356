//! What each parameter may be, and the plan that is taken where nothing is said.

use planner::{Domain, Value};

use crate::blocks::panels;
use crate::geometry::{
    Activation, Activations, CpuPlan, Deal, GemmGeometry, Inside, Order, Orientation, Output, Split, Staging, Weights,
};
use crate::isa::Isa;
use crate::options::Settings;
use crate::problem::Product;

/// Most row blocks of a product; 32 x 32 x 64 tiles are as many as a schedule may have.
pub const MOST_ROW_BLOCKS: u32 = 32;
/// Most column blocks of a product.
pub const MOST_COLUMN_BLOCKS: u32 = 32;
/// Most inner blocks of a product.
pub const MOST_INNER_BLOCKS: u32 = 64;

/// Most vectors in a row of a micro-kernel.
pub(crate) const MOST_VECTORS: u32 = 6;
pub(crate) const UNROLLS: [u32; 5] = [1, 2, 4, 8, 16];
const BATCHES: [u32; 4] = [1, 2, 4, 8];
const FACTORS: [u32; 4] = [1, 2, 4, 8];
const TRANSPOSES: [u32; 6] = [1, 2, 3, 4, 6, 8];

pub(crate) fn words(words: &[&str]) -> Domain {
    Domain::List(words.iter().map(|word| Value::text(word)).collect())
}

pub(crate) fn counts(values: impl IntoIterator<Item = u32>) -> Domain {
    Domain::List(values.into_iter().map(Value::from).collect())
}

pub(crate) fn up_to(stop: u32) -> Domain {
    Domain::Range {
        start: 1,
        stop: i64::from(stop),
    }
}

fn truths() -> Domain {
    Domain::List(vec![false.into(), true.into()])
}

/// `carry` means something from two products on.
pub(super) fn carry(products: usize) -> Domain {
    if products > 1 {
        truths()
    } else {
        Domain::List(vec![false.into()])
    }
}

/// Order of the first product's parameters.
///
/// Counting walks parameters in some order and remembers what rules still look at. In this one, what a product shares
/// with the next (its kernel, its row blocks) comes last here and first there, and what it shares with none is done in
/// between: 6.5 million steps for two products, where the order of the attributes takes 300 times as many.
const FIRST: [&str; 21] = [
    "prefetch_c",
    "prefetch_b",
    "activation",
    "order",
    "inside",
    "weights",
    "split",
    "deal",
    "staging",
    "inner",
    "result_rows",
    "result_columns",
    "unroll",
    "columns",
    "transpose",
    "width",
    "orientation",
    "activations",
    "height",
    "output",
    "rows",
];

/// Order of the parameters of every further product, for the same reason.
const FURTHER: [&str; 21] = [
    "rows",
    "orientation",
    "result_rows",
    "height",
    "width",
    "activations",
    "unroll",
    "inner",
    "staging",
    "result_columns",
    "columns",
    "transpose",
    "split",
    "deal",
    "output",
    "weights",
    "inside",
    "order",
    "activation",
    "prefetch_b",
    "prefetch_c",
];

/// Parameters of one product, in the order in which they count fastest.
pub(super) fn gemm(product: &Product, is_first: bool, is_last: bool, isa: Isa) -> Vec<(&'static str, Domain)> {
    let mut list = in_order_of_attributes(product, is_last, isa);
    let order = if is_first { FIRST } else { FURTHER };
    list.sort_by_key(|(name, _)| order.iter().position(|own| own == name));
    list
}

fn in_order_of_attributes(product: &Product, is_last: bool, isa: Isa) -> Vec<(&'static str, Domain)> {
    let longest = product.extents.tokens.max(product.extents.features);
    let blocks = |most: u32, size: u32| panels(longest, size).min(most);
    let (row_blocks, column_blocks) = (blocks(MOST_ROW_BLOCKS, 1), blocks(MOST_COLUMN_BLOCKS, isa.lanes()));
    let staging = [Staging::Streamed, Staging::Complete]
        .into_iter()
        .chain(BATCHES.map(Staging::Batch));
    let mut list = vec![
        ("orientation", words(Orientation::WORDS)),
        ("rows", up_to(row_blocks)),
        ("columns", up_to(column_blocks)),
        ("inner", up_to(product.extents.inner.min(MOST_INNER_BLOCKS))),
        // A kernel of one vector needs two registers beside its accumulators.
        ("height", counts(1..=isa.registers() - 2)),
        ("width", counts((1..=MOST_VECTORS).map(|vectors| vectors * isa.lanes()))),
        ("unroll", counts(UNROLLS)),
        ("order", words(Order::WORDS)),
        ("inside", words(Inside::WORDS)),
        ("weights", words(Weights::WORDS)),
        ("activations", words(Activations::WORDS)),
        (
            "output",
            if is_last {
                words(&[Output::RowMajor.word()])
            } else {
                words(Output::WORDS)
            },
        ),
        (
            "staging",
            Domain::List(staging.map(|staging| Value::Text(staging.to_string())).collect()),
        ),
        ("result_rows", counts(FACTORS)),
        ("result_columns", counts(FACTORS)),
        ("split", words(Split::WORDS)),
        ("deal", words(Deal::WORDS)),
        (
            "transpose",
            counts(TRANSPOSES.into_iter().filter(|n| *n <= column_blocks)),
        ),
        ("prefetch_c", truths()),
        ("prefetch_b", truths()),
    ];
    if product.activation.is_some() {
        list.push(("activation", words(Activation::WORDS)));
    }
    list
}

/// The plan that is taken where nothing is said: the usual kernel of the instruction set with as many rows as leave no panel
/// half empty, one block for each worker, all inner steps at once, packed operands, no prefetch, element-wise steps as passes. Legal for every workload that has a space.
#[must_use]
pub fn default_plan(products: &[Product], settings: &Settings) -> CpuPlan {
    let gemms = products
        .iter()
        .map(|product| (product.name.clone(), default_gemm(product, settings)));
    CpuPlan {
        threads: settings.threads,
        carry: false,
        gemms: gemms.collect(),
    }
}

fn default_gemm(product: &Product, settings: &Settings) -> GemmGeometry {
    let height = settings.isa.usual_height(product.extents.tokens);
    let rows = panels(product.extents.tokens, height)
        .min(settings.threads)
        .clamp(1, MOST_ROW_BLOCKS);
    GemmGeometry {
        orientation: Orientation::Normal,
        rows,
        columns: 1,
        inner: 1,
        height,
        width: settings.isa.usual_width(),
        unroll: 8,
        order: Order::Rkc,
        inside: Inside::Cr,
        weights: Weights::Panels,
        activations: Activations::Packed,
        output: Output::RowMajor,
        staging: Staging::Streamed,
        result_rows: 1,
        result_columns: 1,
        split: Split::Rows,
        deal: Deal::Contiguous,
        transpose: 1,
        prefetch_c: false,
        prefetch_b: false,
        activation: product.activation.as_ref().map(|_| Activation::Pass),
    }
}
