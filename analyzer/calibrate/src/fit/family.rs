//! One family.

use std::num::NonZeroU32;

use planner::costs::{Compiled, Family};
use stats::interval::{Bootstrap, BootstrapError, Level, bootstrap_indices};
use stats::linear::{Design, DesignError, Identifiability, RobustFit, Sign, identify, robust, solve};
use stats::order::{median, quantile};

use super::exact::exact;
use super::held_out::left_out;
use super::report::{Decision, FamilyFit, Point, TermFit};
use super::rows::Rows;

/// An interval wider than this share of its value, to one side, leaves the value open.
const WIDE: f64 = 0.5;
/// What an open coefficient may add to a prediction at most without mattering: then it is decided to be small.
const SMALL: f64 = 1e-3;
/// Robust weights below this are outliers.
const OUTLIER: f64 = 0.01;

/// A median error that is larger by no more than this is no worse.
const ROUNDING: f64 = 1e-12;

/// A coefficient's interval: lower and upper end.
type Ends = Option<(f64, f64)>;

/// What is known of the terms so far, in the order of the family.
struct Terms {
    decisions: Vec<Option<Decision>>,
    found: Vec<Option<f64>>,
    ends: Vec<Ends>,
    new: Vec<f64>,
    is_exact: bool,
}

impl Terms {
    fn new(family: &Family, old: &[f64], is_empty: bool) -> Self {
        let decision = |known: bool| match (known, is_empty) {
            (true, _) => Some(Decision::Known),
            (false, true) => Some(Decision::NoSamples),
            (false, false) => None,
        };
        Self {
            decisions: family.terms.values().map(|term| decision(term.known)).collect(),
            found: vec![None; old.len()],
            ends: vec![None; old.len()],
            new: old.to_vec(),
            is_exact: false,
        }
    }

    /// Terms that are still to be fitted.
    fn open(&self) -> Vec<usize> {
        let is_open = |decision: &Option<Decision>| matches!(decision, None | Some(Decision::Fitted));
        (0..self.new.len())
            .filter(|term| is_open(&self.decisions[*term]))
            .collect()
    }

    /// Terms that no value of any sample could decide keep theirs. Says whether there are any: then the others are fitted
    /// beside what these give.
    fn keep(&mut self, open: &[usize], known: &Identifiability, names: &[String]) -> bool {
        for term in &known.absent {
            self.decisions[open[*term]] = Some(Decision::Absent);
        }
        for group in &known.collinear {
            for term in group {
                let others = group.iter().filter(|other| *other != term);
                let with = others.map(|other| names[open[*other]].clone()).collect();
                self.decisions[open[*term]] = Some(Decision::Collinear { with });
            }
        }
        !(known.absent.is_empty() && known.collinear.is_empty())
    }

    /// Whether a term is kept that gives something to what the samples measured: then the others were fitted beside a value
    /// that the samples did not decide.
    fn is_beside_kept(&self) -> bool {
        let gives = |decision: &Decision| matches!(decision, Decision::Collinear { .. } | Decision::Imprecise);
        self.decisions.iter().flatten().any(gives)
    }

    /// Keeps the terms that were fitted, too.
    fn keep_all(&mut self, old: &[f64]) {
        for term in self.open() {
            self.decisions[term] = Some(Decision::Worse);
        }
        self.new = old.to_vec();
    }

    /// Takes the fit if every sample agrees with it exactly: then there is nothing to resample.
    fn settle(&mut self, rows: &Rows<'_>, open: &[usize], fit: &RobustFit) -> bool {
        if self.decisions.iter().flatten().any(|decision| !decision.is_decided()) {
            return false;
        }
        let mut whole = self.new.clone();
        for (term, value) in open.iter().zip(&fit.coefficients) {
            whole[*term] = *value;
        }
        let Some(exact) = exact(rows, &whole) else {
            return false;
        };
        for term in open {
            self.decisions[*term] = Some(Decision::Fitted);
            (self.found[*term], self.ends[*term]) = (Some(exact[*term]), Some((exact[*term], exact[*term])));
        }
        self.new = exact;
        self.is_exact = true;
        true
    }

    /// Takes what the noise leaves no doubt about; says whether a term was left open and the others are to be fitted again
    /// without it. One at a time, the widest first: with that at its old value the others may be told.
    fn take(&mut self, open: &[usize], old: &[f64], free: &Free, fit: &RobustFit, intervals: &[Ends]) -> bool {
        let mut left_open: Vec<(usize, f64)> = Vec::new();
        for (at, term) in open.iter().enumerate() {
            let value = fit.coefficients[at];
            (self.found[*term], self.ends[*term]) = (Some(value), intervals[at]);
            self.decisions[*term] = Some(Decision::Fitted);
            self.new[*term] = value;
            if is_open(&free.design, at, value, old[*term], intervals[at]) {
                let width = intervals[at].map_or(f64::INFINITY, |(lower, upper)| (upper - lower) / value.abs());
                left_open.push((*term, width));
            }
        }
        let Some((widest, _)) = left_open.into_iter().max_by(|a, b| a.1.total_cmp(&b.1)) else {
            return false;
        };
        self.decisions[widest] = Some(Decision::Imprecise);
        self.new[widest] = old[widest];
        true
    }
}

/// Fits a family to its rows: robust, non-negative where it says so, with bootstrap intervals over keys. Terms that the
/// rows can't decide keep the coefficient of `compiled`, and the others are fitted to what these leave of the measurements.
/// Where that has a larger median error than the coefficients of `compiled`, all of them are kept.
pub fn fit_family(
    name: &str,
    family: &Family,
    compiled: &Compiled,
    rows: &Rows<'_>,
    resamples: NonZeroU32,
    seed: u64,
) -> Result<FamilyFit, DesignError> {
    let old = compiled.coefficients();
    let mut terms = Terms::new(family, old, rows.keys.is_empty());
    let mut judged: Option<Identifiability> = None;
    // Each turn fits what is still open; a term that the noise leaves open keeps its old value in the next turn.
    let last = loop {
        let open = terms.open();
        if open.is_empty() {
            // What was fitted until here is not in the table.
            break None;
        }
        let free = Free::new(rows, old, &open, family.non_negative)?;
        let known = identify(&free.design);
        judged.get_or_insert_with(|| known.clone());
        if terms.keep(&open, &known, compiled.names()) {
            continue;
        }
        let fit = robust(&free.design, &free.signs);
        let done = terms.settle(rows, &open, &fit) || {
            let intervals = intervals(&free, known.rank, &fit, resamples, seed);
            !terms.take(&open, old, &free, &fit, &intervals)
        };
        if done {
            break Some((free, fit));
        }
    };
    let mut told = Told {
        compiled,
        rows,
        judged: judged.unwrap_or_else(|| identify(&rows.design)),
        fit: None,
        left_out: None,
        notes: rows.notes.clone(),
    };
    if let Some((free, fit)) = last {
        let (before, after) = (told.error(old), told.error(&terms.new));
        if let (true, Some((before, after))) = (terms.is_beside_kept(), before.zip(after))
            && after > before + ROUNDING
        {
            terms.keep_all(old);
            told.notes.push(format!(
                "the whole family is kept: fitted beside the terms that the samples don't decide, the others would have a \
                 median error of {:.3} % where the old table has {:.3} %",
                100.0 * after,
                100.0 * before
            ));
        } else {
            told.left_out = left_out(rows, &free.design, &free.fixed, &free.signs);
            told.fit = Some(fit);
        }
    }
    Ok(told.report(name, family, terms))
}

/// What a report is made of, beside the terms.
struct Told<'a> {
    compiled: &'a Compiled,
    rows: &'a Rows<'a>,
    judged: Identifiability,
    fit: Option<RobustFit>,
    left_out: Option<f64>,
    notes: Vec<String>,
}

impl Told<'_> {
    fn errors(&self, coefficients: &[f64]) -> Vec<f64> {
        let design = &self.rows.design;
        let predicted = (0..design.rows()).map(|row| design.predict(row, coefficients));
        predicted
            .zip(design.measured())
            .map(|(p, y)| (p / y - 1.0).abs())
            .collect()
    }

    fn error(&self, coefficients: &[f64]) -> Option<f64> {
        median(&self.errors(coefficients))
    }

    fn report(self, name: &str, family: &Family, terms: Terms) -> FamilyFit {
        let rows = self.rows;
        let old = self.compiled.coefficients();
        let weights = self
            .fit
            .as_ref()
            .map_or_else(|| vec![1.0; rows.keys.len()], |fit| fit.weights.clone());
        let (error_old, error_new) = (self.errors(old), self.errors(&terms.new));
        let points = points(rows, self.compiled, &terms.new, &weights);
        let described = family.terms.iter().zip(terms.decisions).enumerate();
        let described = described.map(|(at, ((term, of), decision))| TermFit {
            term: term.clone(),
            of: of.of.clone(),
            old: old[at],
            new: terms.new[at],
            found: terms.found[at],
            lower: terms.ends[at].map(|ends| ends.0),
            upper: terms.ends[at].map(|ends| ends.1),
            decision: decision.unwrap_or(Decision::NoSamples),
        });
        FamilyFit {
            family: name.to_owned(),
            kernel: family.kernel(name).to_owned(),
            unit: family.unit().to_owned(),
            keys: rows.keys.len(),
            samples: rows.keys.iter().map(|measured| measured.samples).sum(),
            exact: terms.is_exact,
            rank: self.judged.rank,
            condition: Some(self.judged.condition).filter(|condition| condition.is_finite()),
            terms: described.collect(),
            scale: self.fit.as_ref().map(|fit| fit.scale),
            error_old: median(&error_old),
            worst_new: error_new.iter().copied().max_by(f64::total_cmp),
            error_new: median(&error_new),
            left_out: self.left_out,
            excluded: rows.excluded.clone(),
            logical_only: rows
                .keys
                .iter()
                .filter(|measured| measured.key.is_logical_only())
                .count(),
            outliers: weights.iter().filter(|weight| **weight < OUTLIER).count(),
            notes: self.notes,
            points,
        }
    }
}

/// The terms that are fitted; what the others give is subtracted from what was measured.
struct Free {
    design: Design,
    signs: Vec<Sign>,
    /// What the other terms give, for each row.
    fixed: Vec<f64>,
}

impl Free {
    fn new(rows: &Rows<'_>, old: &[f64], open: &[usize], non_negative: bool) -> Result<Self, DesignError> {
        let mut design = Design::new(open.len());
        let mut fixed = Vec::new();
        for row in 0..rows.design.rows() {
            let all = rows.design.row(row);
            let others = (0..all.len()).filter(|term| !open.contains(term));
            let other: f64 = others.map(|term| old[term] * all[term]).sum();
            let own: Vec<f64> = open.iter().map(|term| all[*term]).collect();
            let measured = rows.design.measured()[row];
            design.push_scaled(&own, measured - other, measured)?;
            fixed.push(other);
        }
        let sign = if non_negative { Sign::NonNegative } else { Sign::Free };
        Ok(Self {
            signs: vec![sign; open.len()],
            design,
            fixed,
        })
    }
}

/// Whether the samples leave a coefficient open: its interval is wide beside its value and holds the old one, and what it
/// may add to a prediction is not small either.
fn is_open(design: &Design, term: usize, value: f64, old: f64, ends: Ends) -> bool {
    let Some((lower, upper)) = ends else { return true };
    let width = (upper - value).max(value - lower);
    let most = (0..design.rows())
        .map(|row| (design.row(row)[term] * width / design.scale()[row]).abs())
        .fold(0.0, f64::max);
    width > WIDE * value.abs() && most > SMALL && (lower..=upper).contains(&old)
}

/// Percentile intervals over resampled keys, each refitted with the robust weights of the whole fit.
fn intervals(free: &Free, rank: usize, fit: &RobustFit, resamples: NonZeroU32, seed: u64) -> Vec<Ends> {
    let plan = Bootstrap {
        level: Level::P95,
        resamples,
        seed,
    };
    let mut drawn: Vec<Vec<f64>> = Vec::new();
    let whole = bootstrap_indices(free.design.rows(), plan, |rows| {
        let part = free.design.select(rows);
        // A draw that tells fewer terms than the keys do says nothing of any.
        if identify(&part).rank < rank {
            return None;
        }
        let weights = rows
            .iter()
            .map(|row| fit.weights[*row].sqrt() / free.design.scale()[*row]);
        let weights: Vec<f64> = weights.collect();
        drawn.push(solve(&part, &weights, &free.signs));
        Some(0.0)
    });
    let often = match whole {
        Ok(_) => true,
        Err(BootstrapError::TooOftenUndefined { undefined, resamples }) => 2 * undefined < resamples,
        Err(_) => false,
    };
    // The first draw is the data itself.
    let resampled = drawn.get(1..).filter(|_| often).unwrap_or_default();
    let tail = (1.0 - plan.level.get()) / 2.0;
    (0..free.design.terms())
        .map(|term| {
            let values: Vec<f64> = resampled.iter().map(|coefficients| coefficients[term]).collect();
            quantile(&values, tail).zip(quantile(&values, 1.0 - tail))
        })
        .collect()
}

fn points(rows: &Rows<'_>, compiled: &Compiled, new: &[f64], weights: &[f64]) -> Vec<Point> {
    let point = |(row, arguments): (usize, &Vec<planner::Value>)| Point {
        arguments: compiled
            .slots()
            .iter()
            .cloned()
            .zip(arguments.iter().cloned())
            .collect(),
        measured: rows.design.measured()[row],
        old: rows.design.predict(row, compiled.coefficients()),
        new: rows.design.predict(row, new),
        weight: weights.get(row).copied().unwrap_or(1.0),
    };
    rows.arguments.iter().enumerate().map(point).collect()
}
