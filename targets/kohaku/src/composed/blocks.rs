//! Blocks of SDXL as calls. Values that come from outside are asked for by name and count.

use super::{Call, Picked, Source};
use crate::kernels::{self, Flash, Gelu, LOWEST, Norm, Padded, Tiling, flash};
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

/// Where pixels of a plane of `side x side` stand: one behind the other, or in the rows that a convolution leaves.
#[derive(Debug, Clone, Copy)]
enum Pixels {
    Raster(usize),
    Spread(Padded),
}

impl Pixels {
    fn row(self, pixel: usize) -> usize {
        match self {
            Self::Raster(_) => pixel,
            Self::Spread(c) => pixel / c.result().1 * c.row() + pixel % c.result().1,
        }
    }

    fn count(self) -> usize {
        match self {
            Self::Raster(count) => count,
            Self::Spread(c) => c.result().0 * c.result().1,
        }
    }
}

/// Groups of channels one behind the other, each as its channels' planes, from pixels with all channels.
fn gathered(pixels: Pixels, channels: usize) -> Picked {
    let planes = (0..channels).flat_map(|channel| (0..pixels.count()).map(move |pixel| (channel, pixel)));
    planes
        .map(|(channel, pixel)| Some(pixels.row(pixel) * channels + channel))
        .collect()
}

/// Pixels with all channels, from planes of channels.
fn scattered(pixels: usize, channels: usize) -> Picked {
    let each = (0..pixels).flat_map(|pixel| (0..channels).map(move |channel| channel * pixels + pixel));
    each.map(Some).collect()
}

/// Pixels one behind the other, from the rows that a convolution leaves.
fn compact(c: Padded) -> Picked {
    let pixels = Pixels::Spread(c);
    let each = (0..pixels.count()).flat_map(|pixel| (0..c.channels).map(move |channel| (pixel, channel)));
    each.map(|(pixel, channel)| Some(pixels.row(pixel) * c.channels + channel))
        .collect()
}

/// A residual block on a plane of `side x side`: group norm and `SiLU`, convolution, the embedding (given, one row for each
/// channel), again norm and convolution, and the skip: the input itself, or, where the channels change, what a 1 x 1
/// convolution outside of the block gives. `before` is the call before it with how its pixels stand.
fn residual(
    prefix: &str,
    side: usize,
    [from, to]: [usize; 2],
    before: Option<(&str, Padded)>,
    give: Give,
) -> Vec<Call> {
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
    let input = |map: &dyn Fn(Pixels) -> Picked| {
        if let Some((name, c)) = before {
            return Source::Picked(name.to_owned(), map(Pixels::Spread(c)));
        }
        Source::Laid(give(&own("x"), pixels * from), map(Pixels::Raster(pixels)))
    };
    let weights = |name: &str, c: &Padded| Source::Given(give(&own(name), c.channels * 9 * c.plane[2]));
    let rows = first.rows();
    let embedding = give(&own("embedding"), to);
    let embedding = (0..rows).flat_map(|_| embedding.iter().copied()).collect();
    // The rows that a convolution leaves, from pixels as they stand.
    let spread = |stand: Pixels| {
        let mut spread: Picked = vec![None; rows * to];
        for pixel in 0..pixels {
            let (row, at) = (Pixels::Spread(second).row(pixel), stand.row(pixel));
            (0..to).for_each(|channel| spread[row * to + channel] = Some(at * to + channel));
        }
        spread
    };
    let skip = if from == to {
        input(&spread)
    } else {
        Source::Laid(give(&own("skip"), pixels * to), spread(Pixels::Raster(pixels)))
    };
    vec![
        call(
            &own("norm1"),
            kernels::norm(&norm(from)),
            vec![
                ("x", input(&|stand| gathered(stand, from))),
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
            add(rows, to),
            vec![("a", whole(&own("conv1"))), ("b", Source::Given(embedding))],
        ),
        call(
            &own("norm2"),
            kernels::norm(&norm(to)),
            vec![
                (
                    "x",
                    Source::Picked(own("embedded"), gathered(Pixels::Spread(first), to)),
                ),
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
            add(rows, to),
            vec![("a", whole(&own("conv2"))), ("b", skip)],
        ),
    ]
}

/// A residual block of `from` to `to` channels; its result stands in the rows that a convolution leaves.
pub fn resnet(side: usize, channels: [usize; 2], give: Give) -> Vec<Call> {
    residual("", side, channels, None, give)
}

/// Two residual blocks and a convolution with step 2.
pub fn down(side: usize, channels: usize, give: Give) -> Vec<Call> {
    let plane = |step| Padded {
        plane: [side, side, channels],
        channels,
        step,
    };
    let mut calls = residual("first-", side, [channels; 2], None, give);
    let second = residual("second-", side, [channels; 2], Some(("first-sum", plane(1))), give);
    calls.extend(second);
    calls.push(call(
        "down",
        kernels::convolution(&plane(2), Tiling::default()),
        vec![
            ("x", Source::Picked("second-sum".to_owned(), compact(plane(1)))),
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
        if keys < padded {
            let mask = (0..f.query_block * f.block).map(|at| if at % f.block < keys % f.block { 0.0 } else { LOWEST });
            inputs.push(("mask", Source::Given(mask.collect())));
        }
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
