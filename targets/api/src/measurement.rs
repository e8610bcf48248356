//! What one round of one case gave.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// Output of a run that can't be read: a crash in disguise, never a number.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the run's output can't be read: {0}")]
pub struct Malformed(pub String);

/// Whose call a sample is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Of {
    /// The case's.
    Case,
    /// The control's.
    Control,
}

/// Part of a sample: phases of one sample add up to its value (waiting is a phase too).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Phase {
    /// `up.pack`, `up`, `wait`.
    pub name: String,
    /// `pack`, `compute`, `reduce`, `elementwise`, `wait`: what both sides of a comparison know.
    pub kind: String,
    /// In the objective's unit.
    pub value: f64,
}

/// One call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Sample {
    /// Whose call.
    pub of: Of,
    /// Whether it only warmed up; such samples are kept and never counted.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub warm_up: bool,
    /// Value of the objective; positive and finite.
    pub value: f64,
    /// Its parts.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub phases: Vec<Phase>,
    /// Other numbers, with the unit in the name: `tsc_cycles`, `involuntary_switches`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub extra: BTreeMap<String, f64>,
}

/// What the machine could give just before a pair of calls.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PeakProbe {
    /// Floating-point operations per second over all cores that the plan uses, in GFLOP/s.
    pub peak_gflops: f64,
    /// Core clock in GHz, where it can be told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clock_ghz: Option<f64>,
}

/// How far a result lay from the reference.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct NumericalError {
    /// Largest absolute difference over all checked calls; `None` when one was not finite.
    pub max_absolute: Option<f64>,
    /// Root mean square of the reference, the scale of the tolerance.
    pub reference_rms: f64,
    /// Largest absolute difference that passes.
    pub tolerance: f64,
    /// Elements compared per call.
    pub elements: u64,
    /// Calls compared.
    pub calls: u64,
}

/// Whether the device computed what it should.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "verdict", rename_all = "kebab-case")]
pub enum Verdict {
    /// Every call was right.
    Correct,
    /// Some call was wrong: never a slow layout.
    Incorrect {
        /// What was found.
        reason: String,
    },
}

/// One round.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Measurement {
    /// Whether it counts.
    #[serde(flatten)]
    pub verdict: Verdict,
    /// Its numerical error, where results are compared.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<NumericalError>,
    /// Every call, in order of time.
    pub samples: Vec<Sample>,
    /// One before each pair, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub probes: Vec<PeakProbe>,
    /// Other facts: `huge_pages = granted`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub facts: BTreeMap<String, String>,
}

impl Measurement {
    /// The fact that says which numbers were looked for and not found, and why.
    pub const MISSING: &str = "missing";

    /// Numbers that were looked for and not found, each with what was looked for: `` `energy`: nothing matches ... ``.
    /// The measurement counts without them.
    #[must_use]
    pub fn missing(&self) -> Option<&str> {
        self.facts.get(Self::MISSING).map(String::as_str)
    }

    /// One measurement of runs of case and control that were alternated ([`crate::Pairing::AlternatingCommands`]): each
    /// is what one command of its side gave, in order of time. Wrong results of either side are kept; facts of the
    /// case win.
    #[must_use]
    pub fn alternated(runs: impl IntoIterator<Item = (Of, Self)>) -> Self {
        let mut all = Self {
            verdict: Verdict::Correct,
            error: None,
            samples: Vec::new(),
            probes: Vec::new(),
            facts: BTreeMap::new(),
        };
        for (of, run) in runs {
            if let (Verdict::Correct, Verdict::Incorrect { reason }) = (&all.verdict, &run.verdict) {
                let reason = match of {
                    Of::Case => reason.clone(),
                    Of::Control => format!("control: {reason}"),
                };
                all.verdict = Verdict::Incorrect { reason };
            }
            if of == Of::Case {
                all.error = run.error.or(all.error);
                all.facts.extend(run.facts);
            }
            all.samples
                .extend(run.samples.into_iter().map(|sample| Sample { of, ..sample }));
            all.probes.extend(run.probes);
        }
        all
    }

    /// `(case, control)` values of neighbouring calls, in order: the k-th counted call of each.
    #[must_use]
    pub fn pairs(&self) -> Vec<(f64, f64)> {
        self.values(Of::Case)
            .into_iter()
            .zip(self.values(Of::Control))
            .collect()
    }

    /// Counted values of one side, in order.
    #[must_use]
    pub fn values(&self, of: Of) -> Vec<f64> {
        self.samples
            .iter()
            .filter(|s| s.of == of && !s.warm_up)
            .map(|s| s.value)
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(value: f64, verdict: Verdict) -> Measurement {
        Measurement {
            verdict,
            error: None,
            samples: vec![Sample {
                of: Of::Case,
                warm_up: false,
                value,
                phases: Vec::new(),
                extra: BTreeMap::new(),
            }],
            probes: Vec::new(),
            facts: BTreeMap::from([("value".to_owned(), value.to_string())]),
        }
    }

    #[test]
    fn alternated_runs_become_pairs() {
        let right = |value| run(value, Verdict::Correct);
        let all = Measurement::alternated([
            (Of::Control, right(4.0)),
            (Of::Case, right(1.0)),
            (Of::Case, right(2.0)),
            (Of::Control, right(5.0)),
        ]);
        assert_eq!(all.verdict, Verdict::Correct);
        assert_eq!(all.pairs(), [(1.0, 4.0), (2.0, 5.0)]);
        assert_eq!(all.facts["value"], "2", "facts are the case's");

        let reason = || "row 3".to_owned();
        let wrong = run(9.0, Verdict::Incorrect { reason: reason() });
        let all = Measurement::alternated([(Of::Case, right(1.0)), (Of::Control, wrong)]);
        let reason = format!("control: {}", reason());
        assert_eq!(all.verdict, Verdict::Incorrect { reason });
    }
}
