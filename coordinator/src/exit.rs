//! How the program ends, as scripts see it.

/// Exit codes of `layout-sweep`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum ExitCode {
    /// Done; rejections are results and count as done.
    Done = 0,
    /// A bug, or a failure of the system around it (a full disk, say).
    Failure = 1,
    /// Usage or definition is wrong.
    Usage = 2,
    /// Done, but some cases failed.
    SomeFailed = 3,
    /// The frozen cohort does not match what is here now.
    Mismatch = 4,
    /// The device lock was not to be had in time.
    LockTimeout = 5,
    /// The device computed something wrong.
    Incorrect = 6,
    /// A gate was not met (`compare`, `check`).
    Gate = 7,
    /// Interrupted (128 + SIGINT).
    Interrupted = 130,
}

impl ExitCode {
    /// The number that the process ends with.
    #[must_use]
    pub fn code(self) -> u8 {
        self as u8
    }
}

impl From<ExitCode> for std::process::ExitCode {
    fn from(code: ExitCode) -> Self {
        Self::from(code.code())
    }
}
