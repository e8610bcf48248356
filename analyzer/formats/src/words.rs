//! Words for how a configuration ended, units, and what is to be maximised.

use crate::error::ImportError;
use crate::source::{Options, Source};
use crate::table::{Failed, NO_UNIT};

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

/// Which way an objective is better, and what says so: a `--direction`, the file, or else its name and unit.
///
/// Errors: nothing says it, or name and unit disagree. A guess would rank backwards without a word.
pub(crate) fn larger_is_better(
    source: &Source,
    options: &Options,
    said: Option<bool>,
    objective: &str,
    unit: &str,
) -> Result<bool, ImportError> {
    let known = options
        .larger_is_better
        .or(said)
        .or_else(|| match (by_name(objective), by_unit(unit)) {
            (Some(name), Some(unit)) => Some(name).filter(|name| *name == unit),
            (name, unit) => name.or(unit),
        });
    known.ok_or_else(|| ImportError::NoDirection {
        file: source.name.clone(),
        objective: objective.to_owned(),
        unit: unit.to_owned(),
    })
}

/// Whether more is better of what is called so, by what tuners call it (Kernel Tuner's `objective_default_map` among
/// them). The last word that is known decides: `frame_time` is a time, `accuracy_loss` a loss.
pub(crate) fn by_name(objective: &str) -> Option<bool> {
    let name = objective.trim().to_ascii_lowercase();
    let rates = [
        "flops",
        "flop/s",
        "flops/w",
        "flop/j",
        "b/s",
        "/second",
        "throughput",
        "bandwidth",
    ];
    if rates.iter().any(|end| name.ends_with(end)) {
        return Some(true);
    }
    let words = name.split(|c: char| !c.is_alphanumeric() && c != '/').rev();
    let mut known = words.filter_map(|word| match word {
        "score" | "fitness" | "fps" | "qps" | "tps" | "rps" | "iops" | "ips" | "ipc" | "speedup" | "accuracy"
        | "efficiency" | "performance" | "rate" | "occupancy" | "utilization" | "utilisation" => Some(true),
        "time" | "times" | "runtime" | "walltime" | "latency" | "duration" | "cycles" | "cycle" | "energy"
        | "power" | "loss" | "error" | "errors" | "cost" | "misses" | "memory" | "ms" | "us" | "ns" | "seconds"
        | "joules" | "watts" => Some(false),
        _ => by_unit(word).filter(|_| word.contains('/')),
    });
    known.next()
}

/// Whether more is better of what has this unit: of anything per second, joule or watt it is; of lengths of time, cycles
/// and energy, and of these per anything, it is not.
pub(crate) fn by_unit(unit: &str) -> Option<bool> {
    let whole = self::unit(unit).to_ascii_lowercase();
    let (over, under) = match whole.split_once('/') {
        Some((over, under)) => (over.trim(), Some(under.trim())),
        None => (whole.as_str(), None),
    };
    let spent = |unit: &str| {
        matches!(
            unit,
            "s" | "sec"
                | "ms"
                | "us"
                | "µs"
                | "ns"
                | "min"
                | "h"
                | "cycle"
                | "cycles"
                | "j"
                | "mj"
                | "uj"
                | "kj"
                | "wh"
                | "kwh"
                | "w"
                | "mw"
                | "kw"
                | "second"
                | "seconds"
                | "joule"
                | "joules"
        )
    };
    match under {
        // Of joules per second, which are watts, less is better as well.
        _ if spent(over) => Some(false),
        Some(under) => spent(under).then_some(true),
        None if matches!(over, "fps" | "qps" | "tps" | "rps" | "iops" | "hz") => Some(true),
        None if over.ends_with("flops") => Some(true),
        None => None,
    }
}

/// Why `x` is no value of an objective, if it isn't.
pub(crate) fn no_value(x: f64, objective: &str, unit: &str) -> Option<String> {
    let shown = if unit == NO_UNIT {
        x.to_string()
    } else {
        format!("{x} {unit}")
    };
    (!(x.is_finite() && x > 0.0)).then(|| format!("{objective} of {shown}: no positive finite number"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_better_higher_and_what_is_spent_lower() {
        let higher = [
            "fps",
            "GFLOP/s",
            "tokens/s",
            "qps",
            "speedup",
            "img/s",
            "accuracy",
            "ops/j",
            "Throughput",
            "score",
        ];
        let lower = [
            "time",
            "frame_time",
            "latency_ms",
            "energy",
            "accuracy_loss",
            "cycles",
            "ps_energy",
            "ns/op",
        ];
        assert!(
            higher.iter().all(|name| by_name(name) == Some(true)),
            "{:?}",
            higher.map(by_name)
        );
        assert!(
            lower.iter().all(|name| by_name(name) == Some(false)),
            "{:?}",
            lower.map(by_name)
        );
        let units = ["frames/s", "GB/s", "ops/J", "1/s", "GFLOPS", "flop/W"].map(by_unit);
        assert!(units.iter().all(|found| *found == Some(true)), "{units:?}");
        let units = ["ms", "miliseconds", "s/frame", "J", "ns/op", "cycles"].map(by_unit);
        assert!(units.iter().all(|found| *found == Some(false)), "{units:?}");
        assert_eq!((by_name("quality"), by_unit("1"), by_unit("GB")), (None, None, None));
    }
}
