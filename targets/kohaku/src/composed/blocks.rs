//! Blocks of SDXL as calls. Values that come from outside are asked for by name and count.

use super::{Call, Picked, Source};
use crate::kernels::{self, Flash, Gelu, Norm, Padded, Tiling, flash};
use crate::layout::Shape;
use crate::machine::PART;
use crate::program::{Expr, Program, Role};
use planner::Refusal;

/// Gives the values of a name: `count` of them.
pub type Give<'a> = &'a dyn Fn(&str, usize) -> Vec<f32>;

/// Groups of a group norm.
pub const GROUPS: usize = 32;

fn whole(name: &str) -> Source {
    Source::Whole(name.to_owned())
}

fn call(name: &str, program: Program, inputs: Vec<(&str, Source)>) -> Call {
    Call {
        name: name.to_owned(),
        program,
        inputs: inputs
            .into_iter()
            .map(|(input, source)| (input.to_owned(), source))
            .collect(),
    }
}

/// `y = a + b`, both `rows x columns`.
fn add(rows: usize, columns: usize) -> Program {
    let mut program = Program::default();
    let shape = Shape::matrix(rows, columns);
    let [a, b] = ["a", "b"].map(|name| program.buffer(name, Role::Input, 1, shape));
    let y = program.buffer("y", Role::Output, 1, shape);
    program.pass("add", y, PART, Expr::read(a).plus(Expr::read(b)));
    program
}

/// Groups of channels one behind the other, each as its channels' planes, from pixels with all channels.
fn gathered(pixels: usize, channels: usize) -> Picked {
    let planes = (0..channels).flat_map(|channel| (0..pixels).map(move |pixel| (channel, pixel)));
    planes
        .map(|(channel, pixel)| Some(pixel * channels + channel))
        .collect()
}

/// Pixels with all channels, from planes of channels.
fn scattered(pixels: usize, channels: usize) -> Picked {
    let each = (0..pixels).flat_map(|pixel| (0..channels).map(move |channel| channel * pixels + pixel));
    each.map(Some).collect()
}

/// Pixels one behind the other, from the rows that a convolution leaves: those of the padded plane stand between them.
fn compact(c: Padded) -> Picked {
    let (height, width) = c.result();
    let row = |pixel: usize| pixel / width * c.row() + pixel % width;
    let each = (0..height * width).flat_map(|pixel| (0..c.channels).map(move |channel| (pixel, channel)));
    each.map(|(pixel, channel)| Some(row(pixel) * c.channels + channel))
        .collect()
}

/// A residual block on a plane of `side x side`: group norm and `SiLU`, convolution, the embedding (given, one row for each
/// channel), again norm and convolution, and the skip: the input itself, or, where the channels change, what a 1 x 1
/// convolution outside of the block gives. Sums are formed over pixels one behind the other, as the input and the result
/// stand. `before` is the call before it.
fn residual(prefix: &str, side: usize, [from, to]: [usize; 2], before: Option<&str>, give: Give) -> Vec<Call> {
    let own = |name: &str| format!("{prefix}{name}");
    let pixels = side * side;
    let plane = |channels: usize, out: usize| Padded {
        plane: [side, side, channels],
        channels: out,
        step: 1,
    };
    let (first, second) = (plane(from, to), plane(to, to));
    let norm = |channels: usize| Norm::wide(GROUPS, channels / GROUPS * pixels, 1e-5, true);
    let tables = |name: &str, channels: usize| {
        let per_channel = give(&own(name), channels);
        let table: Vec<f32> = per_channel
            .iter()
            .flat_map(|value| std::iter::repeat_n(*value, pixels))
            .collect();
        Source::Given(table)
    };
    let weights = |name: &str, c: &Padded| Source::Given(give(&own(name), c.channels * 9 * c.plane[2]));
    let embedding = give(&own("embedding"), to);
    let embedding = (0..pixels).flat_map(|_| embedding.iter().copied()).collect();
    let input = || give(&own("x"), pixels * from);
    let gathered_input = before.map_or_else(
        || Source::Laid(input(), gathered(pixels, from)),
        |name| Source::Picked(name.to_owned(), gathered(pixels, from)),
    );
    let skip = match before {
        _ if from != to => Source::Given(give(&own("skip"), pixels * to)),
        Some(name) => whole(name),
        None => Source::Given(input()),
    };
    vec![
        call(
            &own("norm1"),
            kernels::norm(&norm(from)),
            vec![
                ("x", gathered_input),
                ("gain", tables("gain1", from)),
                ("shift", tables("shift1", from)),
            ],
        ),
        call(
            &own("conv1"),
            kernels::convolution(&first, Tiling::default()),
            vec![
                ("x", Source::Picked(own("norm1"), scattered(pixels, from))),
                ("w", weights("w1", &first)),
            ],
        ),
        call(
            &own("embedded"),
            add(pixels, to),
            vec![
                ("a", Source::Picked(own("conv1"), compact(first))),
                ("b", Source::Given(embedding)),
            ],
        ),
        call(
            &own("norm2"),
            kernels::norm(&norm(to)),
            vec![
                ("x", Source::Picked(own("embedded"), gathered(pixels, to))),
                ("gain", tables("gain2", to)),
                ("shift", tables("shift2", to)),
            ],
        ),
        call(
            &own("conv2"),
            kernels::convolution(&second, Tiling::default()),
            vec![
                ("x", Source::Picked(own("norm2"), scattered(pixels, to))),
                ("w", weights("w2", &second)),
            ],
        ),
        call(
            &own("sum"),
            add(pixels, to),
            vec![("a", Source::Picked(own("conv2"), compact(second))), ("b", skip)],
        ),
    ]
}

/// A residual block of `from` to `to` channels; its result is pixels one behind the other.
pub fn resnet(side: usize, channels: [usize; 2], give: Give) -> Vec<Call> {
    residual("", side, channels, None, give)
}

/// Two residual blocks and a convolution with step 2, whose result stands in the rows that it leaves.
pub fn down(side: usize, channels: usize, give: Give) -> Vec<Call> {
    let mut calls = residual("first-", side, [channels; 2], None, give);
    calls.extend(residual("second-", side, [channels; 2], Some("first-sum"), give));
    let plane = Padded {
        plane: [side, side, channels],
        channels,
        step: 2,
    };
    calls.push(call(
        "down",
        kernels::convolution(&plane, Tiling::default()),
        vec![
            ("x", whole("second-sum")),
            ("w", Source::Given(give("w-down", channels * 9 * channels))),
        ],
    ));
    calls
}

/// Extents of a transformer block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Transformer {
    /// Tokens.
    pub tokens: usize,
    /// Features of a token.
    pub width: usize,
    /// Heads of 64.
    pub heads: usize,
    /// Tokens of the context that are real; padded to blocks of 64 keys.
    pub context: usize,
    /// Features of a token of the context.
    pub context_width: usize,
    /// Features between the two products of the last part.
    pub hidden: usize,
}

impl Transformer {
    /// Keys of the cross attention, padding included.
    #[must_use]
    pub fn padded_context(&self) -> usize {
        self.context.next_multiple_of(64)
    }
}

/// A whole transformer block: layer norm, self attention, its join with the residual; the same over the context; layer norm,
/// a gated product (the second half gates, GELU with erf as SDXL has it), a product and the residual. Weights of queries come
/// scaled by `log2(e) / 8`.
///
/// Errors: an attention that the kernel has no form for.
pub fn transformer(t: &Transformer, give: Give) -> Result<Vec<Call>, Refusal> {
    let (m, d) = (t.tokens, t.width);
    let mut calls = Vec::new();
    let given = |name: &str, count: usize| Source::Given(give(name, count));
    let norm = |name: &str, x: Source| {
        let n = Norm::wide(m, d, 1e-5, false);
        let table = |own: &str| {
            let row = give(&format!("{name}-{own}"), d);
            Source::Given((0..m).flat_map(|_| row.iter().copied()).collect())
        };
        call(
            name,
            kernels::norm(&n),
            vec![("x", x), ("gain", table("gain")), ("shift", table("shift"))],
        )
    };
    let tiling = Tiling::default();
    let mut residual = given("x", m * d);
    for (part, keys, padded, key_width) in [
        ("self", m, m, d),
        ("cross", t.context, t.padded_context(), t.context_width),
    ] {
        let own = |name: &str| format!("{part}-{name}");
        calls.push(norm(&own("norm"), residual.clone()));
        let normal = whole(&own("norm"));
        let memory = || match part {
            "self" => normal.clone(),
            _ => given("context", padded * key_width),
        };
        let projection = |name: &str, rows: usize, width: usize, x: Source| {
            let program = kernels::per_head([rows, width, d], t.heads, tiling);
            call(
                &own(name),
                program,
                vec![("x", x), ("w", given(&own(&format!("w-{name}")), d * width))],
            )
        };
        calls.push(projection("q", m, d, normal.clone()));
        calls.push(projection("k", padded, key_width, memory()));
        // Values are wanted transposed: the weights are the rows of that product.
        let values = kernels::matmul([d, key_width, padded], tiling);
        calls.push(call(
            &own("v"),
            values,
            vec![("x", given(&own("w-v"), d * key_width)), ("w", memory())],
        ));
        let f = Flash {
            keys,
            ..Flash::published(t.heads, m, padded)
        };
        let mut inputs = vec![
            ("q", whole(&own("q"))),
            ("k", whole(&own("k"))),
            ("v", whole(&own("v"))),
        ];
        inputs.extend(f.mask_table().map(|table| ("mask", Source::Given(table))));
        calls.push(call(&own("attention"), flash(&f)?, inputs));
        calls.push(call(
            &own("join"),
            kernels::join([m, d, d], t.heads, tiling, true),
            vec![
                ("x", whole(&own("attention"))),
                ("w", given(&own("w-o"), d * d)),
                ("residual", residual),
            ],
        ));
        residual = whole(&own("join"));
    }
    calls.push(norm("norm", residual.clone()));
    calls.push(call(
        "gated",
        kernels::geglu([m, d, t.hidden], Gelu::Erf, true, tiling),
        vec![
            ("x", whole("norm")),
            ("w0", given("w0", t.hidden * d)),
            ("w1", given("w1", t.hidden * d)),
        ],
    ));
    calls.push(call(
        "result",
        kernels::residual([m, t.hidden, d], tiling),
        vec![
            ("x", whole("gated")),
            ("w", given("w-down", d * t.hidden)),
            ("residual", residual),
        ],
    ));
    Ok(calls)
}
