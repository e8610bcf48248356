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
const NAMES: [(&str, Place); 8] = [
    ("artifact", Place::Artifact),
    ("case_dir", Place::CaseDir),
    ("cohort", Place::Cohort),
    ("run_log", Place::RunLog),
    ("device", Place::Device),
    ("device_lock", Place::DeviceLock),
    ("plan", Place::Plan),
    ("mapping", Place::Mapping),
];

impl Place {
    /// The place of this name.
    pub(crate) fn named(name: &str) -> Option<Self> {
        if let Some(operation) = name.strip_prefix("constraint:") {
            return Some(Self::Constraint(operation.to_owned()));
        }
        NAMES
            .iter()
            .find(|(own, _)| *own == name)
            .map(|(_, place)| place.clone())
    }

    /// All names, for messages.
    pub(crate) fn names() -> impl Iterator<Item = &'static str> {
        NAMES.iter().map(|(name, _)| *name).chain(["constraint:OPERATION"])
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
