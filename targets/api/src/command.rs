//! Sources, commands, and what running them left behind.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// One file of source text.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct SourceFile {
    /// Path relative to the unit's folder, with `/`.
    pub path: String,
    /// Its content. A file that begins with `#!` is written executable.
    pub text: String,
}

/// A command as an argument list; never a shell.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct CommandSpec {
    /// The program: an absolute path, a path relative to the folder it runs in that begins with `./`, or a name
    /// without `/` that is looked for on `PATH`.
    pub program: String,
    /// Its arguments.
    pub arguments: Vec<String>,
    /// Variables that are set in addition to the inherited ones.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub environment: BTreeMap<String, String>,
}

/// Something that is compiled once and may serve many cases. Two units with equal sources, steps and tools are the
/// same artifact.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BuildUnit {
    /// What it is in its case: `up`, `down`, `harness`. Not part of its identity.
    pub label: String,
    /// Source files, sorted by path.
    pub sources: Vec<SourceFile>,
    /// Run one after another in a folder that holds the sources; the first that fails ends the build.
    pub steps: Vec<CommandSpec>,
    /// The file that the last step leaves in this folder.
    pub artifact: String,
    /// Text files that the steps leave and [`crate::Configured::parse_build`] wants to read.
    pub inspect: Vec<String>,
}

/// What a finished command left behind.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Captured {
    /// Standard output.
    pub stdout: String,
    /// Standard error.
    pub stderr: String,
    /// Exit code; `None` when a signal ended it.
    pub exit_code: Option<i32>,
    /// Signal that ended it.
    pub signal: Option<i32>,
    /// Files asked for by [`BuildUnit::inspect`], by name.
    pub files: BTreeMap<String, String>,
}

/// What a successful build tells.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct BuildInfo {
    /// Named facts about the artifact: kernels found, instructions in the inner loop.
    #[serde(default)]
    pub facts: BTreeMap<String, String>,
}

/// Why a build whose commands succeeded is no good, or why it counts as the target's refusal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
pub enum BuildFailure {
    /// The target's compiler says no: a result, not a failure.
    #[error("rejected by the target's compiler: {reason}")]
    Rejected {
        /// The target's words.
        reason: String,
    },
    /// The artifact is not what the plan asked for (a spilled accumulator, say).
    #[error("{reason}")]
    Failed {
        /// What was found, and where.
        reason: String,
    },
}
