//! Two tables on plans that the fit never saw.

use planner::costs::CostTable;
use schemars::JsonSchema;
use serde::Serialize;
use stats::interval::{Bootstrap, Level, bootstrap_indices};
use stats::noise::noise_ceiling;
use stats::order::{median, median_ratio};
use stats::rank::{Draws, spearman, spearman_interval};
use stats::regret::regret;

use crate::database::Database;
use crate::error::CalibrateError;
use crate::fit::{FitOptions, rows, same_units};
use crate::residual::{Component, Misled, components, misled};

/// Most cases of which all are drawn in each resample of a rank correlation, and how many are drawn of more.
const DRAWS: Draws = Draws {
    all_up_to: 2_000,
    then: 1_000,
};

/// One estimate of one plan.
#[derive(Debug, Clone, PartialEq)]
pub struct Predicted {
    /// The whole.
    pub value: f64,
    /// Its parts.
    pub parts: Vec<(String, f64)>,
}

/// One phase of a plan, as it was measured.
#[derive(Debug, Clone, PartialEq)]
pub struct PhaseTime {
    /// Its kind: `exchange`, `compute`.
    pub kind: String,
    /// In the objective's unit.
    pub value: f64,
}

/// A held-out plan.
#[derive(Debug, Clone, PartialEq)]
pub struct HeldOutCase {
    /// Its name.
    pub name: String,
    /// Its workload.
    pub workload: String,
    /// What was measured, in the objective's unit.
    pub value: f64,
    /// Its values round by round, in any unit: what tells how well its place is known.
    pub rounds: Vec<f64>,
    /// Its phases; empty where they were not measured.
    pub phases: Vec<PhaseTime>,
    /// Time of its exchange beyond what the busiest lanes need, where a profile tells it.
    pub beyond_lanes: Option<f64>,
    /// What the old table predicts.
    pub old: Predicted,
    /// What the new table predicts.
    pub new: Predicted,
}

/// A figure with its 95 % interval (bootstrap over cases), where there is one.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct Ranged {
    /// The figure.
    pub point: f64,
    /// Lower end.
    pub lower: Option<f64>,
    /// Upper end.
    pub upper: Option<f64>,
}

/// How one table does.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Side {
    /// Spearman's correlation of prediction and measurement; `null` where either does not vary.
    pub spearman: Option<Ranged>,
    /// The plan that it would choose.
    pub chosen: String,
    /// What that plan was measured to take.
    pub chosen_value: f64,
    /// Its measured value over that of the best plan.
    pub regret: Ranged,
    /// Their difference, in the objective's unit.
    pub regret_difference: f64,
    /// Median of predicted over measured; `null` for an estimate in another unit.
    pub median_ratio: Option<Ranged>,
}

/// What two tables do for one estimate of one workload.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Judgement {
    /// The estimate.
    pub estimate: String,
    /// The workload.
    pub workload: String,
    /// Held-out plans.
    pub cases: usize,
    /// The best of them.
    pub best: String,
    /// What it takes.
    pub best_value: f64,
    /// The largest Spearman that measurements this noisy leave to be reached ([`noise_ceiling`]); `null` where rounds do
    /// not tell it.
    pub ceiling: Option<f64>,
    /// The old table.
    pub old: Side,
    /// The new table.
    pub new: Side,
    /// Residuals by kind of phase.
    pub components: Vec<Component>,
    /// Which phase misleads the new table, where its choice is slower than the old one's.
    pub misled: Option<Misled>,
}

impl Judgement {
    /// *Regret before -> after*, and how sure that is.
    #[must_use]
    pub fn headline(&self) -> String {
        let side = |side: &Side| {
            let interval = side.regret.lower.zip(side.regret.upper);
            let interval = interval.map_or(String::new(), |(lower, upper)| format!(" [{lower:.3}, {upper:.3}]"));
            format!("{:.3}{interval}", side.regret.point)
        };
        format!("regret {} -> {}", side(&self.old), side(&self.new))
    }
}

/// Errors of both tables on the keys of one family that the fit never saw.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct HeldOutFamily {
    /// The family.
    pub family: String,
    /// Keys.
    pub keys: usize,
    /// Median absolute error of the old table, as a share of what was measured.
    pub old: f64,
    /// The same of the new table.
    pub new: f64,
}

/// Median absolute errors on held-out keys, family by family; families without such keys are left out.
pub fn held_out_families(
    database: &Database,
    old: &CostTable,
    new: &CostTable,
) -> Result<Vec<HeldOutFamily>, CalibrateError> {
    same_units(database, old)?;
    let mut families = Vec::new();
    for (name, family) in &old.families {
        let Some(other) = new.family(name) else { continue };
        let errors = |family: &planner::costs::Family| -> Result<Vec<f64>, CalibrateError> {
            let compiled = family.compile(name)?;
            let rows = rows(database, name, family, &compiled)?;
            let predicted = (0..rows.design.rows()).map(|row| rows.design.predict(row, compiled.coefficients()));
            Ok(predicted
                .zip(rows.design.measured())
                .map(|(p, y)| (p / y - 1.0).abs())
                .collect())
        };
        let (of_old, of_new) = (errors(family)?, errors(other)?);
        if let Some((old, new)) = median(&of_old).zip(median(&of_new)) {
            families.push(HeldOutFamily {
                family: name.clone(),
                keys: of_old.len(),
                old,
                new,
            });
        }
    }
    Ok(families)
}

/// Judges both tables by one estimate on the held-out cases of one workload. `in_unit` says whether the estimate is in the
/// objective's unit. `None` without cases.
pub fn judge(
    estimate: &str,
    cases: &[HeldOutCase],
    in_unit: bool,
    options: FitOptions,
) -> Result<Option<Judgement>, CalibrateError> {
    let measured: Vec<f64> = cases.iter().map(|case| case.value).collect();
    let old: Vec<f64> = cases.iter().map(|case| case.old.value).collect();
    let new: Vec<f64> = cases.iter().map(|case| case.new.value).collect();
    let Some((of_old, best)) = side(&old, &measured, cases, in_unit, options)? else {
        return Ok(None);
    };
    let Some((of_new, _)) = side(&new, &measured, cases, in_unit, options)? else {
        return Ok(None);
    };
    let find = |name: &str| cases.iter().find(|case| case.name == name);
    let is_worse = of_new.chosen_value > of_old.chosen_value;
    let misled = if is_worse {
        find(&of_new.chosen)
            .zip(find(&of_old.chosen))
            .and_then(|(chosen, other)| misled(chosen, other))
    } else {
        None
    };
    Ok(cases.first().zip(cases.get(best)).map(|(first, best)| Judgement {
        estimate: estimate.to_owned(),
        workload: first.workload.clone(),
        cases: cases.len(),
        best: best.name.clone(),
        best_value: best.value,
        ceiling: noise_ceiling(&cases.iter().map(|case| case.rounds.as_slice()).collect::<Vec<_>>())
            .map(|found| found.ceiling),
        old: of_old,
        new: of_new,
        components: components(cases),
        misled,
    }))
}

/// A figure of predicted and measured values.
type Statistic<'a> = &'a dyn Fn(&[f64], &[f64]) -> Option<f64>;

/// One table's side, and the position of the best case.
fn side(
    predicted: &[f64],
    measured: &[f64],
    cases: &[HeldOutCase],
    in_unit: bool,
    options: FitOptions,
) -> Result<Option<(Side, usize)>, CalibrateError> {
    let plan = Bootstrap {
        level: Level::P95,
        resamples: options.resamples,
        seed: options.seed,
    };
    let failed = |message: String| CalibrateError::Statistic {
        statistic: "regret",
        message,
    };
    let Some(found) = regret(predicted, measured).map_err(|error| failed(error.to_string()))? else {
        return Ok(None);
    };
    let pick =
        |rows: &[usize]| -> (Vec<f64>, Vec<f64>) { rows.iter().map(|row| (predicted[*row], measured[*row])).unzip() };
    let over_cases = |point: f64, statistic: Statistic<'_>| {
        let interval = bootstrap_indices(measured.len(), plan, |rows| {
            let (predicted, measured) = pick(rows);
            statistic(&predicted, &measured)
        });
        let interval = interval.ok().filter(|_| measured.len() > 1);
        Ranged {
            point,
            lower: interval.map(|interval| interval.lower),
            upper: interval.map(|interval| interval.upper),
        }
    };
    let rho = spearman(predicted, measured).map(|point| {
        let interval = spearman_interval(predicted, measured, plan, DRAWS).ok();
        Ranged {
            point,
            lower: interval.map(|interval| interval.lower),
            upper: interval.map(|interval| interval.upper),
        }
    });
    let chosen = cases
        .get(found.selected)
        .map_or_else(String::new, |case| case.name.clone());
    let side = Side {
        spearman: rho,
        chosen,
        chosen_value: measured[found.selected],
        regret: over_cases(found.ratio, &|p, y| {
            regret(p, y).ok().flatten().map(|found| found.ratio)
        }),
        regret_difference: found.difference,
        median_ratio: median_ratio(predicted, measured)
            .filter(|_| in_unit)
            .map(|point| over_cases(point, &|p, y| median_ratio(p, y))),
    };
    Ok(Some((side, found.best)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::residual::Cause;

    fn case(name: &str, exchange: f64, compute: f64, old: [f64; 2], new: [f64; 2]) -> HeldOutCase {
        let told = |[exchange, gemm]: [f64; 2]| Predicted {
            value: exchange + gemm,
            parts: vec![("exchange".to_owned(), exchange), ("gemm".to_owned(), gemm)],
        };
        let phase = |kind: &str, value| PhaseTime {
            kind: kind.to_owned(),
            value,
        };
        HeldOutCase {
            name: name.to_owned(),
            workload: "w".to_owned(),
            value: exchange + compute,
            rounds: vec![exchange + compute; 2],
            phases: vec![phase("exchange", exchange), phase("compute", compute)],
            beyond_lanes: None,
            old: told(old),
            new: told(new),
        }
    }

    /// `b` computes faster and exchanges longer than any model says; the new table prices kernels exactly and chooses it.
    fn misleading() -> Vec<HeldOutCase> {
        vec![
            case("a", 10.0, 100.0, [10.0, 80.0], [10.0, 100.0]),
            case("b", 40.0, 90.0, [10.0, 85.0], [10.0, 90.0]),
            case("c", 30.0, 130.0, [30.0, 130.0], [30.0, 130.0]),
        ]
    }

    #[test]
    fn a_worse_choice_names_the_phase_that_misleads() {
        let found = judge("compact", &misleading(), true, FitOptions::default())
            .unwrap()
            .unwrap();
        assert_eq!((found.old.chosen.as_str(), found.new.chosen.as_str()), ("a", "b"));
        assert!((found.old.regret.point - 1.0).abs() < 1e-12 && (found.new.regret.point - 130.0 / 110.0).abs() < 1e-12);
        assert!(
            found.headline().starts_with("regret 1.000 [") && found.headline().contains("-> 1.182"),
            "{}",
            found.headline()
        );
        let misled = found.misled.unwrap();
        assert_eq!((misled.kind.as_str(), misled.cause), ("exchange", Cause::Exchange));
        // 30 longer than `a`, and the table said none of it.
        assert!((misled.surprise - 30.0).abs() < 1e-12 && (misled.predicted + 10.0).abs() < 1e-12);
        assert!(
            misled.words("cycles").contains("exchange"),
            "{}",
            misled.words("cycles")
        );
        let exchange = &found.components[1];
        assert_eq!(exchange.kind, "exchange");
        assert!(exchange.spread.unwrap() > found.components[0].spread.unwrap());
    }

    #[test]
    fn a_longer_schedule_than_its_lanes_need_is_placement() {
        let mut cases = misleading();
        cases[0].beyond_lanes = Some(0.0);
        cases[1].beyond_lanes = Some(25.0);
        let found = judge("compact", &cases, true, FitOptions::default()).unwrap().unwrap();
        assert_eq!(found.misled.unwrap().cause, Cause::Placement);
    }

    #[test]
    fn work_that_no_term_speaks_of_is_a_missing_term() {
        let mut cases = misleading();
        for (case, clears) in cases.iter_mut().zip([1.0, 60.0, 1.0]) {
            case.value += clears;
            case.phases.push(PhaseTime {
                kind: "clear".to_owned(),
                value: clears,
            });
        }
        let found = judge("compact", &cases, true, FitOptions::default()).unwrap().unwrap();
        let misled = found.misled.unwrap();
        assert_eq!((misled.kind.as_str(), misled.cause), ("clear", Cause::MissingTerm));
        let clear = found.components.iter().find(|one| one.kind == "clear").unwrap();
        assert_eq!((clear.new, clear.spread), (None, None));
    }

    #[test]
    fn a_better_choice_misleads_nobody() {
        let mut cases = misleading();
        for case in &mut cases {
            std::mem::swap(&mut case.old, &mut case.new);
        }
        let found = judge("compact", &cases, true, FitOptions::default()).unwrap().unwrap();
        assert_eq!(found.misled, None);
        assert!(found.old.regret.point > found.new.regret.point);
        assert_eq!(judge("compact", &[], true, FitOptions::default()).unwrap(), None);
    }
}
