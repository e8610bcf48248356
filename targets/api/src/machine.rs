//! What a cohort freezes of the machine it runs on.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// A program that a target needs; the coordinator finds and digests it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolSpec {
    /// What it is to the target: `compiler`.
    pub name: &'static str,
    /// An environment variable that names it, if set.
    pub variable: Option<&'static str>,
    /// The program otherwise.
    pub program: String,
    /// Arguments that make it print its version.
    pub version_arguments: Vec<String>,
}

/// A program that was found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tool {
    /// What it is to the target: `compiler`.
    pub name: String,
    /// Absolute path, links resolved.
    pub path: String,
    /// First line of what it says of itself.
    pub version: String,
    /// Everything that it says of itself, without space at the ends, where that is more than the first line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<String>,
    /// SHA-256 of the file.
    pub sha256: String,
}

/// What the operating system says about this host.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Host {
    /// `x86_64`, `aarch64`.
    pub architecture: String,
    /// Model name of the processor.
    pub cpu_model: String,
    /// Instruction-set flags, sorted.
    pub flags: Vec<String>,
    /// One logical CPU of each distinct physical core that this process may use, ascending.
    pub cores: Vec<u32>,
    /// Cache sizes as the system reports them: `L1d` -> bytes. What a guest really gets may be less.
    pub caches: BTreeMap<String, u64>,
    /// Frequency governor, where there is one.
    pub governor: Option<String>,
    /// Host name.
    pub hostname: String,
    /// Kernel release.
    pub kernel: String,
    /// Identity of this boot.
    pub boot_id: String,
}

/// Machine as a target sees it: what must match (`class`), what is only recorded (`instance`), what was measured.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Machine {
    /// Must be equal for a cohort to go on: model, caches, instruction set, governor, compiler.
    pub class: BTreeMap<String, String>,
    /// Recorded: host name, kernel, boot.
    pub instance: BTreeMap<String, String>,
    /// Tools that were found.
    pub tools: Vec<Tool>,
    /// Measured facts in the target's own form; frozen with the cohort, never compared.
    pub facts: serde_json::Value,
}

impl Machine {
    /// The tool called `name`.
    #[must_use]
    pub fn tool(&self, name: &str) -> Option<&Tool> {
        self.tools.iter().find(|tool| tool.name == name)
    }
}
