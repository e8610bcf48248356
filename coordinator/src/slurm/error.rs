//! What Slurm, or its nodes, would not do.

use crate::exit::ExitCode;

/// Why a cohort can't be run on Slurm.
#[derive(Debug, thiserror::Error)]
pub enum SlurmError {
    /// There is none.
    #[error("there is no Slurm here: `{command}` can't be started")]
    Missing {
        /// The command.
        command: &'static str,
        /// Why.
        source: std::io::Error,
    },
    /// It does not take an array.
    #[error("Slurm refuses the array: {0}")]
    Refused(String),
    /// It said something that is no number of a job.
    #[error("`sbatch` said `{0}`, which is no number of a job")]
    NoNumber(String),
    /// No case came any further.
    #[error("nothing was measured by {}: {why}", arrays(.jobs))]
    Fruitless {
        /// Numbers of the arrays.
        jobs: Vec<String>,
        /// What the first of their elements that failed said, and on which node.
        why: String,
    },
    /// Somebody cancelled the array.
    #[error("array {0} was cancelled by somebody else")]
    Cancelled(String),
}

fn arrays(jobs: &[String]) -> String {
    match jobs {
        [] => "no array".to_owned(),
        [one] => format!("array {one}"),
        [first, .., last] => format!("{} arrays in turn, {first} to {last}", jobs.len()),
    }
}

impl SlurmError {
    /// What the program should end with.
    #[must_use]
    pub fn exit_code(&self) -> ExitCode {
        match self {
            Self::Missing { .. } | Self::Refused(_) => ExitCode::Usage,
            Self::NoNumber(_) => ExitCode::Failure,
            Self::Fruitless { .. } => ExitCode::SomeFailed,
            Self::Cancelled(_) => ExitCode::Interrupted,
        }
    }

    /// The next step: a line for `help:`.
    #[must_use]
    pub fn help(&self) -> Option<&'static str> {
        match self {
            Self::Missing { .. } => Some("run it where `sbatch` is, or leave `--executor slurm` out to run it here"),
            Self::Refused(_) => Some(
                "`sinfo` and `scontrol show partition` say what there is; `[executor]` of the definition and \
                 `--slurm ARGUMENT` say what is asked for",
            ),
            Self::NoNumber(_) => None,
            Self::Fruitless { .. } => {
                Some("mend it, or keep away from the node with `--slurm --exclude=NODE`; the same command goes on")
            }
            Self::Cancelled(_) => Some("the same command goes on with what is left"),
        }
    }
}
