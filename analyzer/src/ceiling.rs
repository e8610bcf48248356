//! How well measurements this noisy can tell cases apart, whatever the model.

use schemars::JsonSchema;
use serde::Serialize;
use stats::interval::Bootstrap;
use stats::noise::{noise_ceiling, noise_ceiling_interval};

use crate::format::{counted, or_dash};
use crate::judge::SPEARMAN;
use crate::judgement::Ends;

/// What was done again and again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Repeated {
    /// Rounds over all cases.
    Rounds,
    /// Single repeats of each case's one round, one after the other and beside no control: noise that lasts longer than one
    /// case, such as a drift, is not seen, so the ceiling is too high.
    Repeats,
}

impl Repeated {
    /// One of them.
    fn one(self) -> &'static str {
        match self {
            Self::Rounds => "round",
            Self::Repeats => "repeat",
        }
    }
}

/// About the highest Spearman that a perfect model would reach: the square root of the Spearman-Brown-corrected correlation
/// of odd and even rounds. Approximate.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Ceiling {
    /// What the two halves are made of.
    pub ceiling_from: Repeated,
    /// The ceiling over the cases with at least 2 of them; `null` when undefined.
    pub ceiling: Option<f64>,
    /// Its interval; approximate.
    pub ceiling_interval: Option<Ends>,
    /// Cases that it comes from.
    pub ceiling_samples: usize,
}

/// The ceiling of cases with these values, round by round (or repeat by repeat); those with fewer than 2 say nothing.
pub(crate) fn ceiling<'a>(from: Repeated, rounds: impl Iterator<Item = &'a [f64]>, plan: Bootstrap) -> Ceiling {
    let rounds: Vec<&[f64]> = rounds.filter(|rounds| rounds.len() >= 2).collect();
    Ceiling {
        ceiling_from: from,
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
                let repeats = match self.ceiling_from {
                    Repeated::Rounds => "",
                    Repeated::Repeats => {
                        " with repeats of one round, not paired (what lasts longer than one case is not seen)"
                    }
                };
                format!("{ceiling:.3} {ends}, approximate, from {samples}{repeats}")
            }
            None if self.ceiling_samples < 3 => {
                let one = self.ceiling_from.one();
                format!("undefined: {samples} with at least 2 {one}s, 3 are needed")
            }
            None => {
                let one = self.ceiling_from.one();
                format!("undefined: over {samples} even and odd {one}s do not agree on an order, noise hides it")
            }
        }
    }
}
