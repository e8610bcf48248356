//! Why a file can't be read.

use planner::expression::ExpressionError;

/// What is wrong with a file, or with how it was asked for.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs, reason = "the messages say what each variant and field is")]
pub enum ImportError {
    #[error("`{file}` has no known form")]
    Unknown { file: String, known: Vec<&'static str> },
    #[error("there is no format called `{name}`")]
    NoFormat { name: String, known: Vec<&'static str> },
    #[error("`{file}` is no text in UTF-8: byte {at} can't be read")]
    NoText { file: String, at: usize },
    #[error("`{file}` can't be unpacked: {message}")]
    Gzip { file: String, message: String },
    #[error("`{file}` is no JSON: {message}")]
    Json { file: String, message: String },
    #[error("`{file}`: {place} lacks {}", listed(.fields))]
    Lacks {
        file: String,
        place: String,
        fields: Vec<String>,
    },
    #[error("`{file}`: {place}: {message}")]
    Bad {
        file: String,
        place: String,
        message: String,
    },
    #[error("`{file}` holds no configuration")]
    Empty { file: String },
    #[error(
        "`{file}`: of `{objective}` more is better, and {place} has {value} of it: of what is not above zero there is no ratio"
    )]
    NotAboveZero {
        file: String,
        objective: String,
        place: String,
        value: f64,
        others: Vec<String>,
    },
    #[error(
        "`{file}`: {place} has {least}, the least number to rank by, which does not lie above that of `--above {above}`"
    )]
    NotBelowAll {
        file: String,
        above: f64,
        place: String,
        least: f64,
        instead: Option<String>,
    },
    #[error("`--above {above}` is no way to rank `{file}`")]
    Above {
        file: String,
        above: f64,
        format: &'static str,
    },
    #[error(
        "`--above {above}` lies so far below the numbers of `{file}`, from {least} to {most}, that their distances above it \
         are all the same"
    )]
    TooFarAbove {
        file: String,
        above: f64,
        least: f64,
        most: f64,
    },
    #[error("`{file}`: {point}, and {comma}: a point in one number and a comma in another")]
    DecimalSign { file: String, point: String, comma: String },
    #[error("`--column {column}`: {message}")]
    Column { column: String, message: String },
    #[error("`{file}` has no column `{column}`: it has {}", listed(.has))]
    NoColumn {
        file: String,
        column: String,
        has: Vec<String>,
    },
    #[error("`{file}`: nothing says in which unit `{column}` is")]
    NoUnit { file: String, column: String },
    #[error("`{file}`: nothing says whether more or less of `{objective}` in `{unit}` is better")]
    NoDirection {
        file: String,
        objective: String,
        unit: String,
    },
    #[error("`{file}`: the values of `{parameter}` can't be read: `{text}`: {message}")]
    Values {
        file: String,
        parameter: String,
        text: String,
        message: String,
    },
    #[error("`{file}`: the condition `{text}` can't be read")]
    Condition {
        file: String,
        text: String,
        source: Box<ExpressionError>,
    },
}

impl ImportError {
    /// What to do next, where that is known.
    #[must_use]
    pub fn help(&self) -> Option<String> {
        match self {
            Self::Unknown { known, .. } => Some(format!("say which it is with `--format`: {}", known.join(", "))),
            Self::NoFormat { known, .. } => Some(format!("there are: {}", known.join(", "))),
            Self::NotAboveZero { others, .. } => Some(format!(
                "`--above X` ranks by how far it lies above X, a number below the least of them: the order stays, and ratios \
                 are of that distance{}",
                if others.is_empty() {
                    String::new()
                } else {
                    format!(
                        "; `--objective NAME` ranks by another number of the file: {}",
                        others.join(", ")
                    )
                }
            )),
            Self::NotBelowAll { instead, .. } => Some(format!(
                "take a number below it{}; a number that stands for a failure needs an outcome that says so",
                instead
                    .as_ref()
                    .map_or_else(String::new, |it| format!(", such as `--above {it}`"))
            )),
            Self::Above { format, .. } => Some(format!(
                "X is a finite number, and the file one of results that may be zero or less: `{format}` holds none, or counts"
            )),
            Self::TooFarAbove { least, most, .. } => Some(format!(
                "take a number of their magnitude, such as `--above {}`",
                crate::above::of_their_magnitude(*least, *most)
            )),
            Self::DecimalSign { .. } => Some(
                "write all numbers of the file with the same decimal sign and without any sign between thousands"
                    .to_owned(),
            ),
            Self::NoColumn { .. } | Self::Column { .. } => Some(
                "`--column ROLE=HEADER`, as in `--column value=time_ms`; see `layout-sweep import --help`".to_owned(),
            ),
            Self::NoUnit { .. } => Some("`--unit ms` does, or a header that ends in it, as `time_ms` does".to_owned()),
            Self::NoDirection { .. } => Some("`--direction higher` or `--direction lower` does".to_owned()),
            _ => None,
        }
    }
}

/// Names in backticks, joined with commas.
pub(crate) fn listed(names: &[String]) -> String {
    let quoted: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    quoted.join(", ")
}
