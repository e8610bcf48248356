//! Prints how long (in time on a processor) it takes to count, to draw from and to walk through two spaces, and to evaluate one condition:
//! `cargo run --release -p layout-sweep-planner --example space_figures`.

#![allow(clippy::disallowed_methods, reason = "an example may read a clock and files")]
#![allow(clippy::print_stdout)]

use std::error::Error;
use std::hint::black_box;
use std::time::{Duration, Instant};

use planner::Value;
use planner::expression::{Expression, Kind};
use planner::parameters::{ParameterTable, Parameters};

const SPACES: [(&str, &str); 2] = [
    ("hotspot (BAT)", include_str!("../tests/fixtures/spaces/hotspot.toml")),
    (
        "twenty parameters of 1..8",
        include_str!("../tests/fixtures/spaces/twenty.toml"),
    ),
];

/// Plans of a walk that is not walked to its end.
const WALKED: usize = 1_000_000;

/// Time on a processor so far, where the system tells it: on a busy machine the clock on the wall says little. It is
/// counted in ticks of some milliseconds.
fn on_processor() -> Option<Duration> {
    let text = std::fs::read_to_string("/proc/self/schedstat").ok()?;
    text.split_whitespace().next()?.parse().ok().map(Duration::from_nanos)
}

/// What `work` gives, and its time on a processor (or by the clock, where that is not known or too short to be counted).
fn timed<T>(work: impl FnOnce() -> T) -> (T, Duration) {
    let (before, start) = (on_processor(), Instant::now());
    let result = work();
    let (wall, after) = (start.elapsed(), on_processor());
    let spent = before.zip(after).map(|(before, after)| after.saturating_sub(before));
    (
        result,
        spent.filter(|spent| *spent > Duration::from_millis(20)).unwrap_or(wall),
    )
}

fn main() -> Result<(), Box<dyn Error>> {
    for (name, text) in SPACES {
        let table: ParameterTable = toml::from_str(text)?;
        let (parameters, checked) = timed(|| Parameters::new(&table));
        let (space, faults) = parameters?.space();
        let all: f64 = space
            .parameters
            .iter()
            .map(|parameter| parameter.domain.size() as f64)
            .product();
        println!(
            "{name}: {} parameters, {} constraints, {all:.4e} combinations",
            space.parameters.len(),
            space.constraints.len()
        );
        println!("  read and check        {checked:>12.3?}");
        let (count, elapsed) = timed(|| space.count());
        let count = count?;
        println!("  count                 {elapsed:>12.3?}   {count}");
        let (sample, elapsed) = timed(|| space.sample(1, 1_000));
        println!(
            "  draw 1,000            {elapsed:>12.3?}   {} plans, counting included",
            sample?.assignments.len()
        );
        let (nth, elapsed) = timed(|| space.nth(count / 2));
        println!(
            "  the one in the middle {elapsed:>12.3?}   {}",
            if nth?.is_some() { "found" } else { "missing" }
        );
        let (first, elapsed) = timed(|| space.walk().map(|mut walk| walk.advance().is_some()));
        println!(
            "  first of a walk       {elapsed:>12.3?}   {}",
            if first? { "found" } else { "missing" }
        );
        let (walked, elapsed) = timed(|| -> Result<usize, planner::space::SpaceError> {
            let mut walk = space.walk()?;
            Ok((0..WALKED).take_while(|_| walk.advance().is_some()).count())
        });
        println!("  walk                  {elapsed:>12.3?}   {} plans", walked?);
        println!(
            "  without result        {:>12}",
            faults.first().map_or("none".to_owned(), |fault| fault.message.clone())
        );
    }
    evaluate()
}

fn evaluate() -> Result<(), Box<dyn Error>> {
    const ROUNDS: usize = 2_000_000;
    for text in [
        "a * b <= 1024 and a % b == 0",
        "1 <= a <= 64",
        "a in (1, 2, 4, 8)",
        "1 / a + b ** 0.5 > 2.0",
    ] {
        let expression = Expression::parse(text)?;
        let names = expression.names();
        let condition = expression.condition(&[("a", Kind::Integer), ("b", Kind::Integer)], &names)?;
        let values: Vec<[Value; 2]> = (0..64)
            .map(|n| [Value::Integer(8 + n), Value::Integer(1 + n % 7)])
            .collect();
        let (held, elapsed) = timed(|| {
            (0..ROUNDS)
                .filter(|n| {
                    let [a, b] = &values[n % 64];
                    black_box(condition.holds(&[a, b])).unwrap_or(false)
                })
                .count()
        });
        let each = elapsed.as_secs_f64() / ROUNDS as f64 * 1e9;
        println!("{text}: {each:.1} ns each, held {held} of {ROUNDS} times");
    }
    Ok(())
}
