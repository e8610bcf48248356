//! What a placeholder may stand for, and where it may stand.

/// A placeholder that is no parameter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Place {
    /// What the build makes.
    Artifact,
    /// The case's folder.
    CaseDir,
    /// The cohort's folder.
    Cohort,
    /// What the run printed.
    RunLog,
    /// The device's name.
    Device,
    /// The device's lock.
    DeviceLock,
    /// A JSON file with the plan.
    Plan,
    /// A JSON file with the tile mapping.
    Mapping,
    /// The text of one operation's geometry.
    Constraint(String),
}

/// Names of places without an operation.
const NAMES: [(&str, Place, &str); 8] = [
    ("artifact", Place::Artifact, "what `build` makes of the case: a path"),
    (
        "case_dir",
        Place::CaseDir,
        "the case's own folder, which its commands may write to",
    ),
    ("cohort", Place::Cohort, "the cohort's folder"),
    (
        "run_log",
        Place::RunLog,
        "file with what the run printed on standard output",
    ),
    (
        "device",
        Place::Device,
        "the device's name, as in `devices`; `host` without these",
    ),
    (
        "device_lock",
        Place::DeviceLock,
        "the device's lock file; says nothing where `devices` is empty",
    ),
    (
        "plan",
        Place::Plan,
        "JSON file with workload, plan and parameters of the case",
    ),
    (
        "mapping",
        Place::Mapping,
        "JSON file with the permutation that the parameter `mapping` names, of `tiles` tiles; says nothing for the identity",
    ),
];

/// The place that has an operation in its name.
const CONSTRAINT: (&str, &str) = (
    "constraint:OPERATION",
    "geometry of one operation of the workload as OP:RxCxK:RRxRC:COLUMNS:MEMORY:ORIENTATION:REDUCTION:LOCAL",
);

impl Place {
    /// The place of this name.
    pub(crate) fn named(name: &str) -> Option<Self> {
        if let Some(operation) = name.strip_prefix("constraint:") {
            return Some(Self::Constraint(operation.to_owned()));
        }
        NAMES
            .iter()
            .find(|(own, _, _)| *own == name)
            .map(|(_, place, _)| place.clone())
    }

    /// All names, for messages.
    pub(crate) fn names() -> impl Iterator<Item = &'static str> {
        Self::described().map(|(name, _)| name)
    }

    /// All names with what they stand for.
    pub(crate) fn described() -> impl Iterator<Item = (&'static str, &'static str)> {
        NAMES.iter().map(|(name, _, about)| (*name, *about)).chain([CONSTRAINT])
    }
}

/// Where a text stands: what may stand in it differs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    /// `build`: one build may serve many cases, and is shared between cohorts.
    Build,
    /// `run`, `check`, hooks and reports.
    Round,
    /// A variable of the environment, of builds and rounds alike.
    Environment,
}

impl Role {
    /// Why this place can't stand here, if so.
    pub(crate) fn refuses(self, place: &Place) -> Option<&'static str> {
        match (self, place) {
            (Self::Round, _)
            | (_, Place::Constraint(_))
            | (Self::Build, Place::Artifact | Place::Plan | Place::Mapping) => None,
            (Self::Build, _) => Some("one build may serve many cases, so it can't depend on where a case is run"),
            (Self::Environment, _) => {
                Some("variables are set for builds and runs alike, so they can only hold parameters")
            }
        }
    }
}
