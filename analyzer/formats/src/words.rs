//! Words for how a configuration ended, units, and what is to be maximised.

use crate::table::Failed;

/// How a configuration ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ending {
    /// Its result is right.
    Right,
    /// It has none, or a wrong one.
    Failed(Failed),
}

/// How a configuration ended, by the words that files use: Kernel Tuner's errors, T4's `invalidity`, and our own.
/// `None` for an unknown word.
pub(crate) fn ending(word: &str) -> Option<Ending> {
    Some(Ending::Failed(match word.trim().to_ascii_lowercase().as_str() {
        "correct" | "ok" | "pass" | "passed" | "true" => return Some(Ending::Right),
        "rejected" | "constraints" | "invalidconfig" | "invalid" => Failed::Rejected,
        "build-failed" | "compile" | "compilationfailedconfig" | "compilationfailed" => Failed::BuildFailed,
        "run-failed" | "runtime" | "runtimefailedconfig" | "deviceinterfaceerror" | "failed" | "error" => {
            Failed::RunFailed
        }
        "timed-out" | "timeout" | "timeoutconfig" | "timelimit" => Failed::TimedOut,
        "incorrect" | "correctness" | "validationfailed" | "verificationfailed" | "false" => Failed::Incorrect,
        _ => return None,
    }))
}

impl Failed {
    /// Our word for it.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Rejected => "rejected",
            Self::BuildFailed => "build-failed",
            Self::RunFailed => "run-failed",
            Self::TimedOut => "timed-out",
            Self::Incorrect => "incorrect",
        }
    }

    /// T4's word for it (`invalidity`).
    #[must_use]
    pub fn t4(self) -> &'static str {
        match self {
            Self::Rejected => "constraints",
            Self::BuildFailed => "compile",
            Self::RunFailed => "runtime",
            Self::TimedOut => "timeout",
            Self::Incorrect => "correctness",
        }
    }
}

/// A unit in its usual short form: `miliseconds` (as T4 files spell it) and `milliseconds` are `ms`.
pub(crate) fn unit(word: &str) -> String {
    match word.trim().to_ascii_lowercase().as_str() {
        "miliseconds" | "milliseconds" | "millisecond" | "ms" => "ms",
        "seconds" | "second" | "s" => "s",
        "microseconds" | "microsecond" | "us" | "µs" => "us",
        "nanoseconds" | "nanosecond" | "ns" => "ns",
        _ => word.trim(),
    }
    .to_owned()
}

/// Objectives of which more is better, by what tuners call them (Kernel Tuner's `objective_default_map` among them).
pub(crate) fn more_is_better(objective: &str) -> bool {
    let word = objective.to_ascii_lowercase();
    let rate = [
        "flops",
        "flop/s",
        "flops/w",
        "flop/j",
        "b/s",
        "/second",
        "throughput",
        "bandwidth",
    ];
    matches!(word.as_str(), "score" | "fitness") || rate.iter().any(|end| word.ends_with(end))
}

/// Why `x` is no value of an objective, if it isn't.
pub(crate) fn no_value(x: f64, objective: &str, unit: &str) -> Option<String> {
    let shown = if unit.is_empty() {
        x.to_string()
    } else {
        format!("{x} {unit}")
    };
    (!(x.is_finite() && x > 0.0)).then(|| format!("{objective} of {shown}: no positive finite number"))
}
