//! One estimate against one quantity, from samples that are put together already.

use std::collections::BTreeMap;

use stats::interval::Bootstrap;
use stats::noise::halves;
use stats::order::{median, median_absolute_percentage_error, median_ratio};
use stats::paired::flips;
use stats::rank::{
    Draws, Inversions, RankInterval, inversions, inversions_beyond, kendall_interval, kendall_tau_b, spearman,
    spearman_interval,
};
use stats::regret::{cross_fitted_regret, regret, top_k};
use stats::theil_sen::theil_sen;

use crate::analysis::Figure;
use crate::ceiling::{Repeated, ceiling};
use crate::dataset::Objective;
use crate::evaluate::comparable;
use crate::judgement::{AtK, Ends, Judgement, LineFigure, TieRule};

/// Cases that a resample draws for Spearman: all by weights, as long as that takes a second.
pub(crate) const SPEARMAN: Draws = Draws {
    all_up_to: 20_000,
    then: 2_000,
};
/// The same for Kendall, where each resample is sorted.
const KENDALL: Draws = Draws {
    all_up_to: 1_000,
    then: 1_000,
};
/// Up to so many cases comparable pairs are looked at one by one.
const PAIR_BY_PAIR: usize = 12_000;
/// Budgets.
const KS: [usize; 8] = [1, 3, 5, 10, 30, 100, 300, 1_000];

/// Why a figure can't be computed: a bug, since samples were checked when they were collected.
type Fault = Box<dyn std::error::Error + Send + Sync>;

/// One case that judges an estimate.
pub(crate) struct Sample<'a> {
    pub(crate) name: &'a str,
    pub(crate) predicted: f64,
    /// What it is ranked by, with its interval.
    pub(crate) ranked: Figure,
    /// The same, measurement by measurement; one value where it does not vary.
    pub(crate) draws: Vec<f64>,
    /// The same, round by round.
    pub(crate) rounds: Vec<f64>,
    /// Normalised value in the objective's unit; `None` when every probe was disturbed.
    pub(crate) normalised: Option<f64>,
}

/// What is common to all samples.
pub(crate) struct Terms<'a> {
    /// What is shown of values.
    pub(crate) objective: &'a Objective,
    /// Whether values vary.
    pub(crate) varies: bool,
    /// What there are several of.
    pub(crate) repeated: Repeated,
    /// What one of what cases are ranked by is, in the objective's unit.
    pub(crate) one: Option<f64>,
    /// The definition's tie threshold, in the objective's unit.
    pub(crate) tie: Option<f64>,
    /// Whether predictions are in the objective's unit.
    pub(crate) with_bias: bool,
    pub(crate) plan: Bootstrap,
}

/// Every figure of one estimate and one quantity.
pub(crate) fn judge(
    samples: &[Sample],
    left_out: BTreeMap<String, usize>,
    terms: &Terms<'_>,
) -> Result<Judgement, Fault> {
    let predicted: Vec<f64> = samples.iter().map(|sample| sample.predicted).collect();
    let ranked: Vec<f64> = samples.iter().map(|sample| sample.ranked.median).collect();
    // Bias, error and lines are of the numbers as people know them.
    let objective = terms.objective;
    let told_number = |value| if terms.with_bias { objective.shown(value) } else { value };
    let (told, normalised): (Vec<f64>, Vec<f64>) = samples
        .iter()
        .filter_map(|sample| Some((told_number(sample.predicted), objective.shown(sample.normalised?))))
        .unzip();
    let (tie_rule, tie_threshold, counts) = comparisons(samples, &predicted, &ranked, terms)?;
    let chosen = regret(&predicted, &ranked)?;
    let ceiling = ceiling(
        terms.repeated,
        samples.iter().map(|sample| sample.rounds.as_slice()),
        terms.plan,
    );
    let named = |index: usize| samples[index].name.to_owned();
    let plan = terms.plan;
    Ok(Judgement {
        samples: samples.len(),
        left_out,
        spearman: spearman(&predicted, &ranked),
        spearman_interval: spearman_interval(&predicted, &ranked, plan, SPEARMAN).ok().map(ends),
        kendall: kendall_tau_b(&predicted, &ranked),
        kendall_interval: kendall_interval(&predicted, &ranked, plan, KENDALL).ok().map(ends),
        ceiling,
        tie_rule,
        tie_threshold,
        comparable_pairs: counts.comparable_pairs,
        inversions: counts.inversions,
        ties_predicted: counts.ties_predicted,
        selected: chosen.map(|found| named(found.selected)),
        best: chosen.map(|found| named(found.best)),
        regret_ratio: chosen.map(|found| found.ratio),
        regret_value: chosen.zip(terms.one).map(|(found, one)| {
            let number = |index: usize| objective.shown(ranked[index] * one);
            if objective.larger_is_better {
                number(found.best) - number(found.selected)
            } else {
                found.difference * one
            }
        }),
        cross_fitted_regret: cross_fitted(samples, &predicted, terms)?,
        rank_of_best: chosen.map(|found| found.rank_of_best),
        at_k: top_k(&predicted, &ranked, &KS)?
            .into_iter()
            .map(|found| AtK {
                k: found.k,
                regret_ratio: found.regret,
                hit_rate: found.hit_rate,
            })
            .collect(),
        winner_flip_rate: flip_rate(
            samples.iter().map(|sample| (&sample.ranked, sample.draws.as_slice())),
            terms.varies,
            plan,
        )?,
        bias: median_ratio(&told, &normalised).filter(|_| terms.with_bias),
        mdape_percent: median_absolute_percentage_error(&told, &normalised).filter(|_| terms.with_bias),
        line: line(&told, &normalised),
        log_line: logs(&told).zip(logs(&normalised)).and_then(|(x, y)| line(&x, &y)),
    })
}

fn ends(found: RankInterval) -> Ends {
    Ends {
        lower: found.lower,
        upper: found.upper,
        drawn: found.drawn,
    }
}

/// Inversions among pairs that differ by more than the threshold.
fn comparisons(
    samples: &[Sample],
    predicted: &[f64],
    ranked: &[f64],
    terms: &Terms<'_>,
) -> Result<(TieRule, Option<f64>, Inversions), Fault> {
    if let (Some((tie, one)), true) = (terms.tie.zip(terms.one), terms.objective.larger_is_better) {
        // In the number's own unit, turned so that less is better.
        let numbers: Vec<f64> = ranked.iter().map(|ratio| -terms.objective.shown(ratio * one)).collect();
        return Ok((
            TieRule::Definition,
            Some(tie),
            inversions_beyond(predicted, &numbers, tie)?,
        ));
    }
    let (rule, threshold) = match terms.tie.zip(terms.one) {
        Some((tie, one)) => (TieRule::Definition, tie / one),
        None if !terms.varies => (TieRule::AnyDifference, 0.0),
        None if samples.len() <= PAIR_BY_PAIR => {
            let differ = |i: usize, j: usize| comparable(&samples[i].ranked, &samples[j].ranked, true);
            return Ok((TieRule::Intervals, None, inversions(predicted, ranked, differ)?));
        }
        None => {
            let widths: Vec<f64> = samples.iter().filter_map(|sample| sample.ranked.half_width()).collect();
            // For a typical pair the rule of two intervals; without any interval nothing is comparable.
            let typical = median(&widths).map_or(f64::MAX, |width| width.hypot(width));
            (TieRule::MedianInterval, typical)
        }
    };
    Ok((rule, Some(threshold), inversions_beyond(predicted, ranked, threshold)?))
}

fn cross_fitted(samples: &[Sample], predicted: &[f64], terms: &Terms<'_>) -> Result<Option<f64>, Fault> {
    if !terms.varies || samples.iter().any(|sample| sample.rounds.len() < 2) {
        return Ok(None);
    }
    let rounds: Vec<&[f64]> = samples.iter().map(|sample| sample.rounds.as_slice()).collect();
    match halves(&rounds) {
        Some((even, odd)) => Ok(cross_fitted_regret(predicted, &odd, &even)?),
        None => Ok(None),
    }
}

/// How often resampling each case's own measurements changes the best case. Only those are drawn that can win: whose
/// interval reaches the upper end of the best one's (the others are out by a wide margin), or, where one of the two has no
/// interval, whose least measurement reaches the best one's largest. `None` without cases, and where values vary and one of
/// those was measured once: drawing a single value again and again says nothing.
pub(crate) fn flip_rate<'a>(
    cases: impl Iterator<Item = (&'a Figure, &'a [f64])> + Clone,
    varies: bool,
    plan: Bootstrap,
) -> Result<Option<f64>, Fault> {
    let Some((best, draws)) = cases.clone().min_by(|a, b| a.0.median.total_cmp(&b.0.median)) else {
        return Ok(None);
    };
    let largest = draws.iter().copied().fold(best.median, f64::max);
    let can_win = |figure: &Figure, draws: &[f64]| match (figure.lower, best.upper) {
        (Some(lower), Some(upper)) => lower <= upper,
        _ => draws.iter().any(|draw| *draw <= largest),
    };
    let contenders: Vec<(&Figure, &[f64])> = cases.filter(|(figure, draws)| can_win(figure, draws)).collect();
    let is_single = |figure: &Figure| !figure.is_exact() && figure.samples < 2;
    if varies && contenders.iter().any(|(figure, _)| is_single(figure)) {
        return Ok(None);
    }
    let contenders: Vec<&[f64]> = contenders.into_iter().map(|(_, draws)| draws).collect();
    // Ties aside, what does not vary comes out the same each time.
    let differ = |draws: &&[f64]| draws.iter().any(|draw| draw.total_cmp(&draws[0]).is_ne());
    if !contenders.iter().any(differ) {
        return Ok(Some(0.0));
    }
    Ok(flips(&contenders, plan)?.map(|found| found.rate))
}

fn line(x: &[f64], y: &[f64]) -> Option<LineFigure> {
    let line = theil_sen(x, y).ok()?;
    Some(LineFigure {
        slope: line.slope,
        intercept: line.intercept,
    })
}

/// Natural logarithms, if all values are positive.
fn logs(values: &[f64]) -> Option<Vec<f64>> {
    values.iter().map(|value| (*value > 0.0).then(|| value.ln())).collect()
}
