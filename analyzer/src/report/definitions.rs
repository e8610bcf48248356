//! What every figure and every column means. The same words stand in the report.

use crate::analysis::{Analysis, CaseRow, WorkloadRow};

/// A figure of the report: its name, its label (measured, modelled, derived), what it is where nothing special is to be
/// said.
static FIGURES: &[(&str, &str, &str)] = &[
    (
        "ratio",
        "measured",
        "median over all counted pairs of (call of the case / neighbouring call of the control); below 1 the case is \
         faster. Without a call of the control beside it: value over the median of the control's own values. The control's own \
         is 1 by definition (with an interval where it stands by itself and varies), in every rank, correlation and regret; \
         what it measured beside itself is the noise",
    ),
    (
        "interval",
        "derived",
        "distribution-free 95 % interval of that median by order statistics (Thompson 1936); `-` below 6 pairs, and for \
         the control. A case is shown to be faster than the control when its interval lies wholly below 1 and the control does not \
         tie with the winner; where the winner was confirmed, when the interval of the confirmations lies below 1",
    ),
    (
        "noise",
        "measured",
        "a call of the control as a case / the neighbouring call of the control as the control: median, interval, and quantiles of \
         single pairs; 1 but for noise",
    ),
    (
        "pairs",
        "measured",
        "counted pairs of calls, warm-up left out, of the attempt that counts",
    ),
    (
        "value",
        "measured",
        "median of the case's own counted calls, in the objective's unit",
    ),
    (
        "normalised value",
        "derived",
        "median over pairs of value x p / P, with p the peak probe beside that pair and P the median of all probes of \
         the workload: what the case would have taken had the machine always given its median. Pairs with a \
         disturbed probe are left out; `-` when none is left",
    ),
    (
        "GFLOP/s",
        "derived",
        "floating-point operations of the workload's matrix products / median time",
    ),
    (
        "share of peak",
        "derived",
        "median over pairs of (operations / time / peak probe beside that pair), without operations that a causal mask hides; \
         pairs with a disturbed probe are left out; `-` when none is left",
    ),
    (
        "limit (roofline)",
        "derived",
        "the largest of the times that a resource alone needs for every plan (Williams, Waterman and Patterson 2009): \
         operations of matrix products over the peak (measured beside the calls, or published); for each level of the memory \
         the bytes of all operands, each read once, less all that caches may hold when a call begins (a shared last one \
         counts once, where the system tells it), over what all workers read if each reads as much as one by itself (of one \
         measured, of several derived from it). What a case beats by more than 5 % is no limit. What a case reaches of it: that time over its own median; of \
         a probed peak the share of peak. What its busiest worker moves is modelled; in the time that it takes at what one \
         worker reads (derived)",
    ),
    (
        "disturbed probe",
        "derived",
        "a peak probe beside a pair of which a call reached more than 105 %: something kept the probe from the machine",
    ),
    (
        "ties",
        "derived",
        "cases in the simultaneous 95 % winner set: a max-statistic bootstrap of the paired ratios that leaves out a truly \
         best case in about 5 % of the sweeps, with or without a race of finalists; for a case with fewer than 6 pairs the errors of all cases together are \
         drawn, not its own few values, and one with a single pair is told from nothing",
    ),
    (
        "samples",
        "derived",
        "cases that judge an estimate: measured, chosen before anything was measured, and predicted by it. Crosses and \
         confirmations are left out, since results chose them",
    ),
    (
        "Spearman",
        "derived",
        "rank correlation (mid-ranks) of prediction and ratio; `-` under 3 samples or if either side is constant",
    ),
    ("Kendall", "derived", "tau-b of the same"),
    (
        "interval of a correlation",
        "derived",
        "95 % percentile bootstrap over the cases, seeded (Efron 1979). Beyond 20,000 cases (1,000 for Kendall) each \
         resample draws fewer, and the interval is shrunk accordingly (m out of n); how many stands in statistics.json",
    ),
    (
        "ceiling",
        "derived",
        "about the Spearman that a perfect model would reach: median ratios of even against odd rounds, Spearman-Brown, \
         square root (approximate, and so is its interval). Where every case was measured in one round and beside no control, \
         its repeats are taken as rounds: not paired, so what lasts longer than one case is not seen. An estimate can't be \
         judged beyond it",
    ),
    (
        "inversions",
        "derived",
        "pairs of cases that an estimate puts in the wrong order, of those that differ by more than the noise: \
         |a - b| > sqrt(ha^2 + hb^2), with h the half-widths of the intervals of the two ratios a and b; a case without \
         an interval is comparable with no other, but for the control, whose h is 0. Beyond 12,000 cases one threshold from \
         the median half-width; where the definition gives a threshold, that; where values do not vary, any difference",
    ),
    (
        "regret",
        "derived",
        "ratio of the case with the smallest prediction (the first among equals) over the best ratio among the samples; \
         in time: the difference of the two ratios x the control's normalised median",
    ),
    (
        "cross-fitted regret",
        "derived",
        "the same ratio with the best case chosen on odd rounds and compared on even ones, and the other way round \
         (geometric mean): the least of noisy values no longer flatters the best, so it may fall below 1; `-` where \
         values do not vary, or a sample has a single round",
    ),
    (
        "first k: regret, hits",
        "derived",
        "the best of the k smallest predictions over the best of all; share of the k best measured cases among the k best \
         predicted ones",
    ),
    (
        "best flips",
        "derived",
        "share of resamples of every case's own pairs in which another sample comes out as the best: 0 where values do not vary; \
         `-` where they do and one that can win has a single pair",
    ),
    (
        "line, log slope",
        "derived",
        "Theil-Sen line of the normalised value over the prediction x, and the slope of that of their logarithms: 1 where \
         both are proportional, less where the estimate spreads cases too far",
    ),
    (
        "of: a kind of phase",
        "derived",
        "the same for the normalised time of all phases of one kind, where parts of the estimate have the kind's name or \
         names of its phases",
    ),
    (
        "simplest first",
        "derived",
        "cases of the winner set by the number of attributes that differ from the control's plan, then by the length of \
         the canonical text, then by ratio",
    ),
    (
        "drift",
        "derived",
        "Mann-Whitney test of the control's median times in the first half of the rounds against the second, in order of \
         time; a round is disturbed beyond 5 scaled median absolute deviations from the median of all (Hampel 1974)",
    ),
    (
        "single plan",
        "derived",
        "of the plans measured on every workload the one with the smallest weighted geometric mean of its regrets",
    ),
    (
        "rank of best",
        "derived",
        "at which place the estimate puts the best sample: so many cases one would have to try to find it",
    ),
    (
        "bias",
        "derived",
        "median of predicted / normalised value; `-` for estimates in another unit than the objective's",
    ),
    (
        "MdAPE",
        "derived",
        "median of 100 |predicted - normalised value| / normalised value, in percent; `-` likewise",
    ),
    (
        "estimates",
        "modelled",
        "predictions made from the plan (before the cohort was frozen) or from its build (before its first run)",
    ),
    (
        "combinations",
        "derived",
        "product over the operations of their screened geometries, over all orientations",
    ),
];

/// The fixed columns of `summary.csv`: name, what it holds.
static COLUMNS: &[(&str, &str)] = &[
    ("workload", "the workload's name"),
    ("case", "the case's name"),
    ("family", "its group in plots and tables"),
    ("chosen", "`initial`, or by results: `cross`, `confirmation`"),
    (
        "outcome",
        "`correct`, `unfinished` (some rounds are still wanted), `rejected`, `build-failed`, `run-failed`, `timed-out`, \
         `incorrect`, `lost` or `waiting`",
    ),
    ("is_control", "whether it is the workload's control: `true` or `false`"),
    (
        "rank",
        "its place by ratio among the measured cases of its workload, confirmations left out, from 1",
    ),
    (
        "ratio",
        "median paired ratio to the control (measured); 1 for the control, without interval",
    ),
    ("ratio_lower", "lower end of its 95 % interval (derived)"),
    ("ratio_upper", "upper end of its 95 % interval (derived)"),
    ("pairs", "counted pairs of calls (measured)"),
    ("rounds", "rounds that they come from (measured)"),
    ("value", "median of its calls in the objective's unit (measured)"),
    (
        "normalised_value",
        "the same, normalised by the peak probe beside each call (derived)",
    ),
    ("unit", "the objective's unit"),
    (
        "direction",
        "`lower` where smaller values are better, `higher` where larger ones are: a ratio below 1 is better either way",
    ),
    ("gflops", "operations / value in GFLOP/s (derived)"),
    ("share_of_peak", "share of the probed peak, from 0 to 1 (derived)"),
    (
        "share_of_limit",
        "least time that any plan needs (roofline) over its own, from 0 to 1 (derived)",
    ),
    (
        "disturbed_rounds",
        "rounds in which the control beside it took another time than usual (derived)",
    ),
    (
        "max_absolute_error",
        "largest absolute difference from the float64 reference (measured)",
    ),
    ("tolerance", "largest difference that passes (derived)"),
    ("attempts", "how many attempts there were"),
    ("reason", "why it failed"),
    ("because", "why it was chosen"),
    ("repeat_of", "the case whose plan it repeats on purpose"),
    ("plan", "canonical text of its plan"),
];

/// What a ratio is where larger values are better.
const RATIO_OF_RATES: &str = "median over all counted pairs of (value of the control / value of the case beside it): below 1 the \
    case is better, so that every ratio says how much worse a case is. Without a call of the control beside it: the median of \
    the control's own values over the value. The control's own is 1 by definition (with an interval where it stands by itself \
    and varies), in every rank, correlation and regret; what it measured beside itself is the noise";

/// The figures that this report has, with what they mean in it: nothing of probes where nothing was probed, nothing of
/// estimates where there are none.
#[must_use]
pub fn figures(analysis: &Analysis) -> Vec<(&'static str, &'static str, String)> {
    let workloads = &analysis.workloads;
    let any = |has: &dyn Fn(&WorkloadRow) -> bool| workloads.iter().any(has);
    let objective = &analysis.setup.objective;
    let probed = any(&|workload| workload.median_peak_gflops.is_some());
    let judged = any(&|workload| !workload.estimates.is_empty());
    let is_there = |figure: &str| match figure {
        "ceiling" => judged || any(&|workload| workload.ceiling.is_some()),
        "noise" => any(&|workload| workload.noise.is_some()),
        "GFLOP/s" => any(&|workload| workload.cases.iter().any(|case| case.gflops.is_some())),
        "normalised value" | "share of peak" | "disturbed probe" => probed,
        "limit (roofline)" => any(&|workload| workload.roofline.is_some()),
        "drift" => any(&|workload| workload.drift.is_some()),
        "single plan" => workloads.len() > 1,
        "combinations" => any(&|workload| workload.coverage.combinations.is_some()),
        "of: a kind of phase" => any(&|workload| workload.estimates.iter().any(|estimate| !estimate.phases.is_empty())),
        "ratio" | "interval" | "pairs" | "value" | "ties" | "simplest first" => true,
        _ => judged,
    };
    let own = FIGURES.iter().filter(|(figure, _, _)| is_there(figure));
    own.map(|(figure, label, meaning)| {
        let mut meaning = match *figure {
            "ratio" if objective.larger_is_better => RATIO_OF_RATES.to_owned(),
            _ => meaning.replace("faster", objective.better()),
        };
        if !probed {
            meaning = meaning
                .replace("normalised value", "measured value")
                .replace("normalised median", "median")
                .replace("normalised time", "time");
        }
        let label = if *label == "measured" {
            analysis.setup.origin()
        } else {
            *label
        };
        (*figure, label, meaning)
    })
    .collect()
}

/// The fixed columns of `summary.csv`, in order, with what they hold: those of probes, rates and errors only where any case
/// has one. A missing figure is an empty cell. After them come `phase.<name>` (median of that phase, in the objective's unit,
/// measured) and `estimate.<name>` (prediction in its own unit, modelled), for every phase and estimate that any case has,
/// and `attribute.<name>`.
#[must_use]
pub fn columns(analysis: &Analysis) -> Vec<&'static (&'static str, &'static str)> {
    let any = |has: &dyn Fn(&CaseRow) -> bool| analysis.workloads.iter().any(|workload| workload.cases.iter().any(has));
    let probed = analysis
        .workloads
        .iter()
        .any(|workload| workload.median_peak_gflops.is_some());
    let is_there = |column: &str| match column {
        "gflops" => any(&|case| case.gflops.is_some()),
        "share_of_peak" | "normalised_value" => probed,
        "share_of_limit" => any(&|case| case.share_of_limit.is_some()),
        "max_absolute_error" | "tolerance" => any(&|case| case.error.is_some()),
        "disturbed_rounds" => analysis.workloads.iter().any(|workload| workload.drift.is_some()),
        _ => true,
    };
    COLUMNS.iter().filter(|(column, _)| is_there(column)).collect()
}
