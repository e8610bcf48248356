//! The published sweep of the `SigLIP` MLP on 1,472 tiles, written as data: its 4,619 screened geometries and its 55
//! cases come out of the general rules, in order and with the gap in their names.

#![expect(clippy::unwrap_used, reason = "helpers of tests may end them")]

use planner::select::select;
use planner::{
    Assignment, Attributes, Definition, Domain, GemmExtents, Parameter, Refusal, Rules, Space, Value, Workload,
};

const TILES: i64 = 1472;

/// As little of that machine as its screening needs.
struct Tiles;

fn list(name: &str, words: &[&str]) -> Parameter {
    let values = words.iter().map(|word| Value::text(word)).collect();
    Parameter {
        name: name.to_owned(),
        domain: Domain::List(values),
        about: String::new(),
    }
}

fn range(name: &str, stop: i64) -> Parameter {
    Parameter {
        name: name.to_owned(),
        domain: Domain::Range { start: 1, stop },
        about: String::new(),
    }
}

fn number(plan: &Assignment, operation: &str, own: &str) -> i64 {
    plan.get(&format!("{operation}.{own}"))
        .and_then(Value::as_integer)
        .unwrap()
}

fn word(plan: &Assignment, operation: &str, own: &str) -> String {
    plan.get(&format!("{operation}.{own}")).unwrap().to_string()
}

/// Extents of the product that is computed, and elements of one tile's rows, inner steps and columns.
struct Shape {
    rows: i64,
    inner: i64,
    columns: i64,
    lr: i64,
    lk: i64,
    lc: i64,
}

fn extents(workload: &Workload, operation: &str) -> GemmExtents {
    workload.gemms().find(|(name, _)| *name == operation).unwrap().1
}

fn shape(workload: &Workload, operation: &str, plan: &Assignment, grid: (i64, i64, i64)) -> Shape {
    let e = extents(workload, operation);
    let [mut rows, inner, mut columns] = [e.rows, e.inner, e.columns].map(|n| i64::try_from(n).unwrap());
    if word(plan, operation, "orientation") == "swapped" {
        std::mem::swap(&mut rows, &mut columns);
    }
    let (r, c, k) = grid;
    Shape {
        rows,
        inner,
        columns,
        lr: 2 * ceil_div(ceil_div(rows, r), 2),
        lk: 16 * ceil_div(ceil_div(inner, 16), k),
        lc: 16 * ceil_div(ceil_div(columns, 16), c),
    }
}

fn ceil_div(n: i64, by: i64) -> i64 {
    (n + by - 1) / by
}

impl Rules for Tiles {
    fn space(&self, workload: &Workload) -> Result<Space, Refusal> {
        let mut space = Space::default();
        for (operation, _) in workload.gemms() {
            let name = |own: &str| format!("{operation}.{own}");
            space.parameters.push(range(&name("rows"), TILES));
            space.parameters.push(range(&name("columns"), TILES));
            space.parameters.push(range(&name("inner"), 64));
            space.parameters.push(range(&name("width"), 8192));
            space
                .parameters
                .push(list(&name("memory"), &["interleaved", "standard"]));
            space
                .parameters
                .push(list(&name("orientation"), &["normal", "swapped"]));
            space
                .parameters
                .push(list(&name("result"), &["distributed", "collapsed"]));
            space
                .parameters
                .push(list(&name("reduction"), &["complete", "streamed"]));
        }
        Ok(space)
    }

    fn defaults(&self, workload: &Workload) -> Result<Assignment, Refusal> {
        let space = self.space(workload)?;
        Ok(space
            .parameters
            .iter()
            .filter_map(|p| Some((p.name.clone(), p.domain.at(0)?)))
            .collect())
    }

    fn text(&self, workload: &Workload, plan: &Assignment) -> String {
        let texts: Vec<String> = workload
            .gemms()
            .map(|(operation, _)| self.operation_text(workload, operation, plan))
            .collect();
        texts.join(" ")
    }

    fn operation_text(&self, workload: &Workload, operation: &str, plan: &Assignment) -> String {
        let at = workload.operations.iter().position(|o| o.name == operation).unwrap();
        let of = |own: &str| number(plan, operation, own);
        let (r, c, k, width) = (of("rows"), of("columns"), of("inner"), of("width"));
        let [memory, orientation, result, reduction] =
            ["memory", "orientation", "result", "reduction"].map(|own| word(plan, operation, own));
        let owners = if result == "distributed" { k } else { 1 };
        format!("{at}:{r}x{c}x{k}:{owners}x1:{width}:{memory}:{orientation}:{reduction}:direct")
    }

    fn derived(&self, _: &Workload, _: &Assignment) -> Attributes {
        Attributes::new()
    }

    fn complete(
        &self,
        workload: &Workload,
        operation: &str,
        _: &[String],
        plan: &Assignment,
    ) -> Result<Option<Assignment>, Refusal> {
        let (c, k) = (number(plan, operation, "columns"), number(plan, operation, "inner"));
        let r = TILES / (k * c);
        if r == 0 {
            return Ok(None);
        }
        let s = shape(workload, operation, plan, (r, c, k));
        let (left, right, partial) = (2 * s.lr * s.lk, 2 * s.lc * s.lk, 2 * s.lr * s.lc);
        let passed_over = k > ceil_div(s.inner, 16)
            || (k - 1) * s.lk >= s.inner
            || c > ceil_div(s.columns, 16)
            || r * k > ceil_div(s.rows, 2)
            || left + right + partial > 360_448
            || right + partial > 262_144;
        if passed_over {
            return Ok(None);
        }
        let mut plan = plan.clone();
        plan.set(&format!("{operation}.rows"), Value::Integer(r));
        plan.set(&format!("{operation}.width"), Value::Integer(s.lc));
        Ok(Some(plan))
    }

    fn proxy(&self, workload: &Workload, operation: &str, plan: &Assignment) -> Option<f64> {
        let of = |own: &str| number(plan, operation, own);
        let k = of("inner");
        let s = shape(workload, operation, plan, (of("rows"), of("columns"), k));
        let (left, partial) = (2 * s.lr * s.lk, 2 * s.lr * s.lc);
        Some(((4 * s.lr + 160) * (s.lk / 16) * (s.lc / 16)) as f64 + (left + partial * (k - 1)) as f64 / 8.0)
    }
}

const SWEEP: &str = r#"
target = "tiles"
control = "historical"
[[workload]]
name = "siglip-mlp"

[[case]]
name = "historical"
plan = { "up.rows" = 4, "up.columns" = 92, "up.inner" = 4, "up.width" = 48, "down.rows" = 4, "down.columns" = 24, "down.inner" = 15, "down.width" = 48 }
[[case]]
name = "default"
like = "historical"
plan = { "down.rows" = 3, "down.columns" = 18, "down.inner" = 27, "down.width" = 64, "down.memory" = "standard" }

[explore]
screen = { "*.inner" = "2:64", "*.columns" = "1:736", "*.orientation" = ["normal", "swapped"], "*.rows" = "derived", "*.width" = "derived" }
strata = [
  { attribute = "*.inner", values = [2, 3, 4, 6, 8, 12, 15, 18, 24, 27, 36], where = { orientation = "normal" } },
  { attribute = "*.rows", values = [1, 2, 3, 4, 6, 8], where = { orientation = "normal" } },
  { attribute = "*.width", values = [16, 32, 48, 64, 96, 128], where = { orientation = "normal" } },
  { attribute = "*.inner", values = [4, 8, 16], where = { orientation = "swapped" } },
]
vary = [
  { attribute = "*.memory", values = ["standard"] },
  { attribute = "*.result", values = ["collapsed"] },
  { attribute = "*.reduction", values = ["streamed"] },
  { set = { "*.result" = "collapsed", "*.reduction" = "streamed" } },
]
joint = [ { attribute = "*.rows", values = [3, 6, 8], where = { orientation = "normal" } } ]

[[case]]
name = "joint-result-rows-4"
like = "historical"
plan = { "down.rows" = 16, "down.columns" = 23, "down.inner" = 4, "down.width" = 64 }
[[case]]
name = "joint-result-rows-8"
like = "joint-result-rows-4"
plan = { "up.rows" = 8, "up.columns" = 90, "up.inner" = 2 }
"#;

#[test]
fn the_published_cases_are_expressed_as_data() {
    let definition = Definition::parse("sweep.toml", SWEEP).unwrap();
    let selection = select(&definition, &Tiles).unwrap();
    let workload = &selection.workloads[0];
    let count = |operation: &str, orientation: &str| workload.screened[operation][orientation];
    assert_eq!((count("up", "normal"), count("up", "swapped")), (2046, 483));
    assert_eq!((count("down", "normal"), count("down", "swapped")), (1231, 859));
    assert!(selection.refused.is_empty());
    let made: Vec<String> = workload
        .cases
        .iter()
        .map(|case| format!("{} {}", case.name, case.text))
        .collect();
    let published: Vec<&str> = include_str!("data/siglip-mlp-ipu21.txt").lines().collect();
    assert_eq!(made, published);
}
