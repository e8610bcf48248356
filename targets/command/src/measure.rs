//! From what the commands of a round printed to a verdict and a measurement.

use std::collections::BTreeMap;

use planner::Attributes;
use planner::definition::command::{Direction, When};
use serde_json::Value;
use target_api::{Captured, Malformed, Measurement, Of, RoundCaptured, Sample, Verdict};

use crate::configured::PROGRAM;
use crate::number::{From, NumberSpec, Output, column};
use crate::reading::Reading;

/// Standard output, then standard error: a first match prefers the former.
pub(crate) fn log_of(captured: &Captured) -> String {
    let gap = if captured.stdout.is_empty() || captured.stdout.ends_with('\n') {
        ""
    } else {
        "\n"
    };
    format!("{}{gap}{}", captured.stdout, captured.stderr)
}

/// What numbers of a round are read from.
struct RoundOutput<'a> {
    log: &'a str,
    captured: &'a RoundCaptured,
}

impl Output for RoundOutput<'_> {
    fn log(&self) -> &str {
        self.log
    }

    fn json(&self, from: &From) -> Result<Value, String> {
        let (text, name) = match from {
            From::Log { .. } => return Err("it stands in the log".to_owned()),
            From::File { path, .. } => (self.captured.run.files.get(path), path),
            From::Report { name, .. } => {
                let report = self.captured.reports.get(name);
                let report = report.ok_or_else(|| format!("report `{name}` was not made"))?;
                if report.exit_code != Some(0) {
                    return Err(format!("report `{name}` failed: {}", how(report)));
                }
                (Some(&report.stdout), name)
            }
        };
        let text = text.ok_or_else(|| format!("`{name}` is not there"))?;
        serde_json::from_str(text).map_err(|error| format!("`{name}` is no JSON: {error}"))
    }
}

/// How a command ended, with its last words.
fn how(captured: &Captured) -> String {
    let end = match (captured.exit_code, captured.signal) {
        (Some(code), _) => format!("exit code {code}"),
        (None, Some(signal)) => format!("signal {signal}"),
        (None, None) => "no exit code".to_owned(),
    };
    let log = log_of(captured);
    match log.lines().rev().find(|line| !line.trim().is_empty()) {
        Some(line) => format!(
            "{end}; last line: {}",
            line.trim().chars().take(200).collect::<String>()
        ),
        None => format!("{end}, nothing printed"),
    }
}

/// A number that the build printed, from its record.
fn recorded(captured: &RoundCaptured, number: &NumberSpec) -> Result<f64, String> {
    let facts = captured.build.get(PROGRAM);
    let text = facts
        .and_then(|facts| facts.get(&number.name))
        .ok_or_else(|| format!("the build did not print it: {}", number.from))?;
    text.parse()
        .map_err(|_| format!("the build's record has `{text}`, which is no number"))
}

impl Reading {
    /// Whether the result of a round is right, as far as run and check tell.
    pub(crate) fn verdict(&self, captured: &RoundCaptured) -> Result<Verdict, Malformed> {
        let log = log_of(&captured.run);
        let incorrect = |reason: String| Ok(Verdict::Incorrect { reason });
        let loaded = self.loaded.as_ref().map(|pattern| pattern.is_match(&log));
        let passed = self.pass.as_ref().map(|pattern| pattern.is_match(&log));
        let fine = captured.run.exit_code == Some(0);
        let how = || how(&captured.run);
        match (passed, loaded) {
            (Some(false), Some(true)) => return incorrect(format!("it was loaded and did not pass: {}", how())),
            (Some(false), Some(false)) => return Err(Malformed(format!("it ended before it was loaded: {}", how()))),
            (Some(false), None) if fine => return incorrect(format!("it ended well and did not pass: {}", how())),
            (Some(false), None) => return Err(Malformed(format!("it ended before it passed: {}", how()))),
            // Only the check can tell; a run that failed was not checked.
            (None, Some(true)) if !fine => return incorrect(format!("it was loaded and failed: {}", how())),
            (None, _) if !fine => return Err(Malformed(format!("it failed: {}", how()))),
            (Some(true) | None, _) => {}
        }
        match &captured.check {
            Some(check) if check.exit_code == Some(0) => Ok(Verdict::Correct),
            // What shells and `env` say of a program that is not there or can't be started: it accuses nobody.
            Some(check) if matches!(check.exit_code, Some(126 | 127)) => {
                Err(Malformed(format!("the check could not run: {}", self::how(check))))
            }
            Some(check) => incorrect(format!("the check says no: {}", self::how(check))),
            None if self.checks => Err(Malformed("the check did not run".to_owned())),
            None => Ok(Verdict::Correct),
        }
    }

    /// Verdict, value and everything else of a round.
    pub(crate) fn measurement(&self, plan: &Attributes, captured: &RoundCaptured) -> Result<Measurement, Malformed> {
        let verdict = self.verdict(captured)?;
        let log = log_of(&captured.run);
        let (numbers, missing) = self.numbers(plan, &log, captured);
        let mut facts = BTreeMap::new();
        if !missing.is_empty() {
            let words: Vec<String> = missing.iter().map(|(name, why)| format!("`{name}`: {why}")).collect();
            facts.insert(Measurement::MISSING.to_owned(), words.join("; "));
        }
        // Of a build they stand in its own record.
        let printed = self
            .numbers
            .iter()
            .filter(|number| number.moment == When::Build && !self.builds);
        let printed: Vec<String> = printed
            .filter(|number| numbers.contains_key(&number.name))
            .map(|number| column(&number.name, number.unit.as_deref()))
            .collect();
        if !printed.is_empty() {
            facts.insert("estimates".to_owned(), printed.join(", "));
        }
        let units = self.units();
        let extra = numbers
            .iter()
            .filter(|(name, _)| **name != self.objective || self.direction == Direction::Higher);
        let extra = extra.map(|(name, value)| {
            let unit = units.get(name.as_str()).copied().flatten();
            (column(name, unit), *value)
        });
        let extra: BTreeMap<String, f64> = extra.collect();
        let samples = match (self.value(&numbers, &missing), &verdict) {
            (Ok(value), _) => vec![Sample {
                of: Of::Case,
                warm_up: false,
                value,
                phases: Vec::new(),
                extra,
            }],
            (Err(_), Verdict::Incorrect { .. }) => Vec::new(),
            (Err(message), Verdict::Correct) => return Err(Malformed(message)),
        };
        Ok(Measurement {
            verdict,
            error: None,
            samples,
            probes: Vec::new(),
            facts,
        })
    }

    /// Every number that can be read, and why the others can't.
    fn numbers(
        &self,
        plan: &Attributes,
        log: &str,
        captured: &RoundCaptured,
    ) -> (BTreeMap<String, f64>, BTreeMap<String, String>) {
        let mut numbers = BTreeMap::new();
        let mut missing = BTreeMap::new();
        let mut take = |name: &str, read: Result<f64, String>| match read {
            Ok(number) => {
                numbers.insert(name.to_owned(), number);
            }
            Err(why) => {
                missing.insert(name.to_owned(), why);
            }
        };
        // An estimate must not have seen a result: what is printed after loading is none.
        let before = self.loaded.as_ref().and_then(|pattern| pattern.find(log));
        let before = before.map_or(log, |found| &log[..found.start()]);
        for number in &self.numbers {
            let log = match number.moment {
                When::Run => log,
                When::Build if self.builds => {
                    take(&number.name, recorded(captured, number));
                    continue;
                }
                When::Build => before,
            };
            take(&number.name, number.read(&RoundOutput { log, captured }));
        }
        for derived in &self.derived {
            match derived.evaluate(plan, &numbers) {
                Ok(number) => _ = numbers.insert(derived.name.clone(), number),
                Err(why) => _ = missing.insert(derived.name.clone(), why),
            }
        }
        (numbers, missing)
    }

    /// The value that is compared.
    fn value(&self, numbers: &BTreeMap<String, f64>, missing: &BTreeMap<String, String>) -> Result<f64, String> {
        let name = &self.objective;
        let Some(&number) = numbers.get(name) else {
            let why = missing.get(name).map_or("it is not there", String::as_str);
            return Err(format!("`{name}` can't be read: {why}"));
        };
        if number <= 0.0 {
            return Err(format!("`{name}` is {number}, expected a number above zero"));
        }
        Ok(match self.direction {
            Direction::Lower => number,
            Direction::Higher => 1.0 / number,
        })
    }

    /// Estimates that a build printed, by name; what it did not print is left out.
    pub(crate) fn printed_by_build(&self, captured: &Captured) -> BTreeMap<String, f64> {
        let log = log_of(captured);
        let round = RoundCaptured::default();
        let output = RoundOutput {
            log: &log,
            captured: &round,
        };
        let own = self.numbers.iter().filter(|number| number.moment == When::Build);
        own.filter_map(|number| Some((number.name.clone(), number.read(&output).ok()?)))
            .collect()
    }

    /// The target's own words, where output says that it refuses.
    pub(crate) fn refusal(&self, captured: &Captured) -> Option<String> {
        let log = log_of(captured);
        let found = self.rejected.as_ref()?.captures(&log)?;
        let words = found.get(1).or_else(|| found.get(0))?;
        Some(words.as_str().trim().to_owned())
    }
}
