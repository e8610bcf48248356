//! The canonical text of a plan: short, readable, and equal exactly when two plans are the same.
//!
//! `up:2x1x1:1x1:6x16u8:rkc.cr:panels:packed:tiles:streamed:rows.contiguous.t1:cb:fused | down:... | carry threads=2`
//! reads: operation; blocks of rows x columns x inner (`swapped` before them in that orientation); result factors;
//! micro-kernel and unroll; order of the outer and inner loops; weights; activations; output; staging; split, deal and
//! transposition of tiles; what is prefetched (`cb`, `c`, `b` or `-`); the element-wise step, where there is one.

use planner::Refusal;

use crate::geometry::{
    Activation, Activations, CpuPlan, Deal, GemmGeometry, Inside, Order, Orientation, Output, Split, Staging, Weights,
};

/// Canonical text of one product's geometry.
#[must_use]
pub fn gemm_text(operation: &str, geometry: &GemmGeometry) -> String {
    let g = geometry;
    let orientation = match g.orientation {
        Orientation::Normal => "",
        Orientation::Swapped => "swapped ",
    };
    let prefetch = match (g.prefetch_c, g.prefetch_b) {
        (true, true) => "cb",
        (true, false) => "c",
        (false, true) => "b",
        (false, false) => "-",
    };
    let mut text = format!(
        "{operation}:{orientation}{}x{}x{}:{}x{}:{}x{}u{}:{}.{}:{}:{}:{}:{}:{}.{}.t{}:{prefetch}",
        g.rows,
        g.columns,
        g.inner,
        g.result_rows,
        g.result_columns,
        g.height,
        g.width,
        g.unroll,
        g.order,
        g.inside,
        g.weights,
        g.activations,
        g.output,
        g.staging,
        g.split,
        g.deal,
        g.transpose,
    );
    if let Some(activation) = g.activation {
        text.push(':');
        text.push_str(activation.word());
    }
    text
}

/// Canonical text of a plan.
#[must_use]
pub fn plan_text(plan: &CpuPlan) -> String {
    let carry = if plan.carry { "carry " } else { "" };
    let mut parts: Vec<String> = plan
        .gemms
        .iter()
        .map(|(name, geometry)| gemm_text(name, geometry))
        .collect();
    parts.push(format!("{carry}threads={}", plan.threads));
    parts.join(" | ")
}

fn unreadable(text: &str, expected: &str) -> Refusal {
    Refusal::new("plan-text", format!("can't read `{text}`: expected {expected}"))
}

fn number(text: &str) -> Option<u32> {
    // No signs and no leading zeros: one plan has one text.
    let plain = text.bytes().all(|byte| byte.is_ascii_digit()) && !text.starts_with('0');
    text.parse().ok().filter(|_| plain)
}

fn numbers<const N: usize>(text: &str) -> Option<[u32; N]> {
    let list: Vec<u32> = text.split('x').map(number).collect::<Option<_>>()?;
    list.try_into().ok()
}

/// Reads what [`gemm_text`] writes: the operation's name and its geometry.
pub fn parse_gemm(text: &str) -> Result<(String, GemmGeometry), Refusal> {
    let parsed = parse_fields(text).ok_or_else(|| {
        unreadable(
            text,
            "`up:2x1x1:1x1:6x16u8:rkc.cr:panels:packed:tiles:streamed:rows.contiguous.t1:cb:fused`",
        )
    })?;
    // `batch-02` and the like parse, but are not canonical.
    let canonical = gemm_text(&parsed.0, &parsed.1);
    if canonical == text {
        Ok(parsed)
    } else {
        Err(unreadable(text, &format!("`{canonical}`")))
    }
}

fn parse_fields(text: &str) -> Option<(String, GemmGeometry)> {
    let fields: Vec<&str> = text.split(':').collect();
    let activation = match fields.len() {
        11 => None,
        12 => Some(Activation::parse(fields[11])?),
        _ => return None,
    };
    let (orientation, blocks) = match fields[1].strip_prefix("swapped ") {
        Some(blocks) => (Orientation::Swapped, blocks),
        None => (Orientation::Normal, fields[1]),
    };
    let [rows, columns, inner] = numbers(blocks)?;
    let [result_rows, result_columns] = numbers(fields[2])?;
    let (kernel, unroll) = fields[3].split_once('u')?;
    let [height, width] = numbers(kernel)?;
    let (order, inside) = fields[4].split_once('.')?;
    let [split, deal, transpose] = fields[9].split('.').collect::<Vec<_>>().try_into().ok()?;
    let (prefetch_c, prefetch_b) = match fields[10] {
        "cb" => (true, true),
        "c" => (true, false),
        "b" => (false, true),
        "-" => (false, false),
        _ => return None,
    };
    let geometry = GemmGeometry {
        orientation,
        rows,
        columns,
        inner,
        height,
        width,
        unroll: number(unroll)?,
        order: Order::parse(order)?,
        inside: Inside::parse(inside)?,
        weights: Weights::parse(fields[5])?,
        activations: Activations::parse(fields[6])?,
        output: Output::parse(fields[7])?,
        staging: Staging::parse(fields[8])?,
        result_rows,
        result_columns,
        split: Split::parse(split)?,
        deal: Deal::parse(deal)?,
        transpose: number(transpose.strip_prefix('t')?)?,
        prefetch_c,
        prefetch_b,
        activation,
    };
    Some((fields[0].to_owned(), geometry))
}

/// Reads what [`plan_text`] writes.
pub fn parse_plan(text: &str) -> Result<CpuPlan, Refusal> {
    let mut parts: Vec<&str> = text.split(" | ").collect();
    let last = parts.pop().unwrap_or_default();
    let (carry, rest) = last.strip_prefix("carry ").map_or((false, last), |rest| (true, rest));
    let threads = rest.strip_prefix("threads=").and_then(number);
    let threads = threads.ok_or_else(|| unreadable(last, "`threads=N` or `carry threads=N`"))?;
    let gemms = parts.into_iter().map(parse_gemm).collect::<Result<_, _>>()?;
    Ok(CpuPlan { threads, carry, gemms })
}
