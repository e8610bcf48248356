//! How well measurements this noisy can tell cases apart, whatever the model.

use schemars::JsonSchema;
use serde::Serialize;
use stats::interval::Bootstrap;
use stats::noise::{noise_ceiling, noise_ceiling_interval};

use crate::format::{counted, or_dash};
use crate::judge::SPEARMAN;
use crate::judgement::Ends;

/// About the highest Spearman that a perfect model would reach: the square root of the Spearman-Brown-corrected correlation
/// of odd and even rounds. Approximate.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Ceiling {
    /// The ceiling over the cases with at least 2 rounds; `null` when undefined.
    pub ceiling: Option<f64>,
    /// Its interval; approximate.
    pub ceiling_interval: Option<Ends>,
    /// Cases that it comes from.
    pub ceiling_samples: usize,
}

/// The ceiling of cases with these values, round by round; those with fewer than 2 rounds say nothing.
pub(crate) fn ceiling<'a>(rounds: impl Iterator<Item = &'a [f64]>, plan: Bootstrap) -> Ceiling {
    let rounds: Vec<&[f64]> = rounds.filter(|rounds| rounds.len() >= 2).collect();
    Ceiling {
        ceiling: noise_ceiling(&rounds).map(|found| found.ceiling),
        ceiling_interval: noise_ceiling_interval(&rounds, plan, SPEARMAN)
            .ok()
            .map(|(lower, upper)| Ends {
                lower,
                upper,
                drawn: SPEARMAN.of(rounds.len()),
            }),
        ceiling_samples: rounds.len(),
    }
}

impl Ceiling {
    /// `0.98 [0.95, 0.99], approximate, from 40 cases`, or why there is none.
    #[must_use]
    pub fn words(&self) -> String {
        let samples = counted(self.ceiling_samples, "case");
        match self.ceiling {
            Some(ceiling) => {
                let ends = or_dash(self.ceiling_interval, |ends| {
                    format!("[{:.3}, {:.3}]", ends.lower, ends.upper)
                });
                format!("{ceiling:.3} {ends}, approximate, from {samples}")
            }
            None if self.ceiling_samples < 3 => {
                format!("undefined: {samples} with at least 2 rounds, 3 are needed")
            }
            None => format!("undefined: over {samples} even and odd rounds do not agree on an order, noise hides it"),
        }
    }
}
