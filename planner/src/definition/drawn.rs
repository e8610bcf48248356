//! Workloads whose extents are drawn: so many of one kind, spread evenly over orders of magnitude.

use schemars::JsonSchema;
use serde::Deserialize;

use super::document::WorkloadEntry;
use super::error::{DefinitionError, Source};
use super::located::{Located, Named};
use super::values::{at_least_one, at_least_zero};
use crate::space::SplitMix64;

/// Most workloads that one entry draws.
const MOST: u32 = 999;

/// `[workload.drawn]`: this workload many times, with extents that are drawn log-uniformly. They are called `NAME-001` and
/// so on.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Drawn {
    /// How many workloads.
    #[serde(deserialize_with = "at_least_one")]
    #[schemars(range(min = 1, max = 999))]
    pub count: u32,
    /// The same seed draws the same extents on every machine; a larger count keeps those of a smaller one. Default 1.
    #[serde(default = "one", deserialize_with = "at_least_zero")]
    pub seed: u64,
    /// Extent -> smallest and largest value. As many are drawn between 10 and 100 as between 100 and 1000.
    pub extents: Named<[i64; 2]>,
    /// Extent -> a number whose multiples it takes: what is drawn becomes the nearest one. Real extents are multiples of 8, 16
    /// or 64, and rows of such lengths meet in the sets of a cache as others do not. Default 1 each.
    #[serde(default)]
    pub multiples: Named<i64>,
}

const fn one() -> u64 {
    1
}

impl Source {
    /// The workloads that an entry stands for: itself, or those that it draws.
    pub(super) fn drawn(&self, entry: &Located<WorkloadEntry>) -> Result<Vec<Located<WorkloadEntry>>, DefinitionError> {
        let Some(drawn) = &entry.drawn else {
            return Ok(vec![entry.clone()]);
        };
        if drawn.count > MOST {
            let message = format!("`count` is {}: expected at most {MOST}", drawn.count);
            return Err(self.error(&drawn.span, message));
        }
        let mut draft = WorkloadEntry {
            drawn: None,
            ..entry.value.clone()
        };
        for (name, range) in drawn.extents.iter() {
            let [low, high] = range.value;
            if low < 1 || high < low {
                let message = format!(
                    "`{}` is [{low}, {high}]: expected [smallest, largest] from 1",
                    name.value
                );
                return Err(self.error(&range.span, message));
            }
            match draft.extent_mut(name) {
                None => {
                    let message = format!(
                        "there is no extent `{}`: `layout-sweep workloads` lists them",
                        name.value
                    );
                    return Err(self.error(&name.span, message));
                }
                Some(Some(_)) => {
                    let message = format!("`{}` is given and drawn: expected one of both", name.value);
                    return Err(self.error(&name.span, message));
                }
                Some(none) => {
                    *none = Some(Located {
                        value: low,
                        span: range.span.clone(),
                    });
                }
            }
        }
        for (name, multiple) in drawn.multiples.iter() {
            let Some(range) = drawn.extents.get(&name.value) else {
                let message = format!("`{}` has a multiple and is not drawn", name.value);
                return Err(self.error(&name.span, message));
            };
            let [low, high] = range.value;
            let message = if multiple.value < 1 {
                format!(
                    "`{}` = {}: expected a whole number of 1 or more",
                    name.value, multiple.value
                )
            } else if high / multiple.value * multiple.value < low {
                format!(
                    "no multiple of {} lies between {low} and {high}, where `{}` is drawn",
                    multiple.value, name.value
                )
            } else {
                continue;
            };
            return Err(self.error(&multiple.span, message));
        }
        let mut random = SplitMix64::new(drawn.seed);
        let mut all = Vec::new();
        for number in 1..=drawn.count {
            let mut one = draft.clone();
            one.name.value = format!("{}-{number:03}", draft.name.value);
            one.kind = Some(draft.kind.clone().unwrap_or(draft.name.clone()));
            for (name, range) in drawn.extents.iter() {
                if let Some(Some(extent)) = one.extent_mut(name) {
                    let multiple = drawn.multiples.get(&name.value).map_or(1, |multiple| multiple.value);
                    extent.value = nearest(log_uniform(&mut random, range.value), multiple, range.value);
                }
            }
            all.push(Located {
                value: one,
                span: entry.span.clone(),
            });
        }
        Ok(all)
    }
}

/// A whole number between both, each order of magnitude as likely as another.
#[expect(
    clippy::cast_possible_truncation,
    reason = "between two whole numbers of 64 bits, by the clamp"
)]
fn log_uniform(random: &mut SplitMix64, [low, high]: [i64; 2]) -> i64 {
    // 53 bits: all that a float of this size holds.
    let share = (random.next_u64() >> 11) as f64 / (1_u64 << 53) as f64;
    let (from, to) = (libm::log(low as f64), libm::log(high as f64 + 1.0));
    (libm::floor(libm::exp(from + share * (to - from))) as i64).clamp(low, high)
}

/// The multiple between both bounds that is nearest to `value`; there is one.
fn nearest(value: i64, multiple: i64, [low, high]: [i64; 2]) -> i64 {
    let (least, most) = ((low - 1) / multiple + 1, high / multiple);
    ((value + multiple / 2) / multiple).clamp(least, most) * multiple
}

#[cfg(test)]
mod tests {
    use crate::definition::{Definition, WorkloadChoice};

    const TEXT: &str = r#"
target = "cpu"
[[workload]]
name = "mlp"
hidden = 64
[workload.drawn]
count = 200
seed = 3
extents = { tokens = [8, 4096], features = [16, 16] }
"#;

    fn tokens(text: &str) -> Vec<u64> {
        let definition = Definition::parse("drawn.toml", text).unwrap();
        let rows = |choice: &WorkloadChoice| choice.workload.gemms().next().unwrap().1.rows;
        definition.workloads.iter().map(rows).collect()
    }

    #[test]
    fn extents_are_spread_over_orders_of_magnitude_and_repeat() {
        let definition = Definition::parse("drawn.toml", TEXT).unwrap();
        let names: Vec<&str> = definition.workloads.iter().map(|c| c.workload.name.as_str()).collect();
        assert_eq!((names.len(), names[0], names[199]), (200, "mlp-001", "mlp-200"));
        assert!(definition.workloads.iter().all(|choice| choice.kind == "mlp"));
        let all = tokens(TEXT);
        assert!(all.iter().all(|n| (8..=4096).contains(n)), "{all:?}");
        // Nine doublings: a third of the draws in each three of them, within three deviations of 200 draws.
        for from in [8, 64, 512] {
            let share = all.iter().filter(|n| (from..8 * from).contains(*n)).count();
            assert!((47..=87).contains(&share), "{share} from {from}");
        }
        assert_eq!(tokens(TEXT), all);
        assert_eq!(tokens(&TEXT.replace("count = 200", "count = 5")), all[..5]);
        assert_ne!(tokens(&TEXT.replace("seed = 3", "seed = 4")), all);
    }

    #[test]
    fn extents_become_the_nearest_multiple_within_their_bounds() {
        let text = TEXT.replace("[workload.drawn]", "[workload.drawn]\nmultiples = { tokens = 48 }");
        for (own, near) in tokens(TEXT).into_iter().zip(tokens(&text)) {
            assert!(near.is_multiple_of(48) && (48..=4080).contains(&near), "{near}");
            assert!(own < 48 || own.abs_diff(near) <= 24, "{own} became {near}");
        }
    }

    #[test]
    fn slips_are_shown_where_they_stand() {
        for (from, to, word) in [
            ("tokens = [8, 4096]", "tokens = [9, 8]", "smallest, largest"),
            ("tokens = [8, 4096]", "tokens = [0, 8]", "from 1"),
            ("tokens = [8, 4096]", "hidden = [1, 2]", "given and drawn"),
            ("tokens = [8, 4096]", "tokns = [1, 2]", "no extent `tokns`"),
            ("tokens = [8, 4096]", "rows = [1, 2]", "takes no `rows`"),
            ("count = 200", "count = 1000", "at most 999"),
            ("count = 200", "count = 0", "at least 1"),
            ("seed = 3", "multiples = { tokns = 4 }", "is not drawn"),
            (
                "seed = 3",
                "multiples = 0",
                "integer `0`, expected a table, `{ NAME = VALUE }`",
            ),
            (
                "seed = 3",
                "multiples = { tokens = 0 }",
                "`tokens` = 0: expected a whole number of 1 or more",
            ),
            (
                "seed = 3",
                "multiples = { features = 32 }",
                "no multiple of 32 lies between 16 and 16",
            ),
        ] {
            let text = TEXT.replace(from, to);
            assert_ne!(text, TEXT, "{from}");
            let shown = Definition::parse("drawn.toml", &text).unwrap_err().to_string();
            assert!(shown.contains(word), "{shown}");
        }
    }
}
