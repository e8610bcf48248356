//! What a fit says.

use std::collections::BTreeMap;

use planner::Value;
use schemars::JsonSchema;
use serde::Serialize;

/// How the new coefficient of a term came about.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(tag = "decision", rename_all = "kebab-case")]
pub enum Decision {
    /// Fitted.
    Fitted,
    /// The table says that it is known: taken as it is.
    Known,
    /// Kept: the family has no sample that can be used.
    NoSamples,
    /// Kept: the term is zero in every sample.
    Absent,
    /// Kept: the samples only tell it together with others.
    Collinear {
        /// The others.
        with: Vec<String>,
    },
    /// Kept: its interval is too wide to tell it from half or one and a half times its value, and holds the old one.
    Imprecise,
    /// Kept: fitted beside the terms that are kept, the family would be worse than before.
    Worse,
}

impl Decision {
    /// Whether the samples decided the coefficient.
    #[must_use]
    pub fn is_decided(&self) -> bool {
        matches!(self, Self::Fitted | Self::Known)
    }

    /// In words.
    #[must_use]
    pub fn words(&self) -> String {
        match self {
            Self::Fitted => "fitted".to_owned(),
            Self::Known => "known: not fitted".to_owned(),
            Self::NoSamples => "kept: no samples".to_owned(),
            Self::Absent => "kept: zero in every sample".to_owned(),
            Self::Collinear { with } => format!("kept: only told together with `{}`", with.join("`, `")),
            Self::Imprecise => "kept: the samples leave it open".to_owned(),
            Self::Worse => "kept: the fit beside kept terms is worse than the old table".to_owned(),
        }
    }
}

/// One term of a family.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct TermFit {
    /// Its name.
    pub term: String,
    /// What it counts.
    pub of: String,
    /// The coefficient of the old table, in the family's unit.
    pub old: f64,
    /// The coefficient of the new table.
    pub new: f64,
    /// What the fit found, where it found anything: equal to `new` if the samples decided.
    pub found: Option<f64>,
    /// Ends of the 95 % interval of `found` (bootstrap over keys); `null` where there is none. Of a kept term it is what
    /// the samples allow: the kept value need not be inside.
    pub lower: Option<f64>,
    /// See `lower`.
    pub upper: Option<f64>,
    /// How `new` came about.
    #[serde(flatten)]
    pub decision: Decision,
}

impl TermFit {
    /// The 95 % interval of the new coefficient: none of what is kept.
    #[must_use]
    pub fn interval(&self) -> Option<[f64; 2]> {
        let ends = self.lower.zip(self.upper).map(|(lower, upper)| [lower, upper]);
        ends.filter(|_| self.decision.is_decided())
    }

    /// The interval, with ends as `number` writes them; of a kept term it says that it is not the kept value's.
    pub fn interval_words(&self, number: impl Fn(f64) -> String) -> Option<String> {
        let (lower, upper) = self.lower.zip(self.upper)?;
        let words = format!("[{}, {}]", number(lower), number(upper));
        Some(match self.interval() {
            Some(_) => words,
            None => format!("samples allow {words}"),
        })
    }
}

/// One key as the fit saw it.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Point {
    /// The arguments that the family looks at.
    pub arguments: BTreeMap<String, Value>,
    /// Median of its samples.
    pub measured: f64,
    /// What the old table predicts.
    pub old: f64,
    /// What the new table predicts.
    pub new: f64,
    /// Robust weight in the fit: 1 fits, 0 was left out as an outlier.
    pub weight: f64,
}

/// What became of one family.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct FamilyFit {
    /// Its name.
    pub family: String,
    /// Its kernel.
    pub kernel: String,
    /// Unit of prices and coefficients.
    pub unit: String,
    /// Keys that were fitted on.
    pub keys: usize,
    /// Samples behind them.
    pub samples: u64,
    /// Whether every sample agrees with the new coefficients exactly.
    pub exact: bool,
    /// Terms that can be told apart.
    pub rank: usize,
    /// Condition of the scaled terms; `null` where it is infinite.
    pub condition: Option<f64>,
    /// Its terms.
    pub terms: Vec<TermFit>,
    /// Robust scale of relative differences, as a share.
    pub scale: Option<f64>,
    /// Median absolute error of the old table on the fitted keys, as a share of what was measured.
    pub error_old: Option<f64>,
    /// The same of the new table.
    pub error_new: Option<f64>,
    /// Largest absolute error of the new table on the fitted keys, as a share.
    pub worst_new: Option<f64>,
    /// Median absolute error on keys that were left out of the fit, one geometry after the other, as a share.
    pub left_out: Option<f64>,
    /// Keys that can't be used, by reason.
    pub excluded: BTreeMap<String, u64>,
    /// Keys that are used although only their extents without padding are known.
    pub logical_only: usize,
    /// Keys that the robust fit left out as outliers.
    pub outliers: usize,
    /// What a reader must know.
    pub notes: Vec<String>,
    /// The keys.
    pub points: Vec<Point>,
}

impl FamilyFit {
    /// Terms whose coefficients the samples could not decide.
    pub fn undecided(&self) -> impl Iterator<Item = &TermFit> {
        self.terms.iter().filter(|term| !term.decision.is_decided())
    }
}
