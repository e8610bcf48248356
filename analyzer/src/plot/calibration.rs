//! Predicted against measured, for one estimate.

use super::axis::Axis;
use super::frame::frame;
use super::palette::{CONTROL, Families, GREY, INK, Mark, short_names};
use super::picture::{Anchor, Item, Picture, Shape};
use crate::analysis::{CaseRow, EstimateRow, WorkloadRow};
use crate::dataset::Objective;
use crate::format::{counted, grouped, or_dash, percent, significant};

const SIZE: (f64, f64) = (1000.0, 700.0);
/// Left, top, right, bottom of the plot in the picture.
const FRAME: (f64, f64, f64, f64) = (90.0, 80.0, 680.0, 630.0);
const LEGEND_AT: f64 = 710.0;
const MOST_CHARS: usize = 34;

struct Point<'a> {
    case: &'a CaseRow,
    measured: f64,
    predicted: f64,
}

/// Predicted value over measured value of every measured case that has the estimate. For an estimate in the
/// objective's unit both axes are logarithmic and equal, and points on the diagonal are exact; the measured value is
/// the normalised median. For any other the score stands over the median paired ratio, and only the order means
/// anything. Cases chosen by results are hollow: they are shown, and not part of the statistics.
///
/// `None` when no case has both. Errors: text that can't be measured.
pub fn calibration(
    workload: &WorkloadRow,
    estimate: &EstimateRow,
    objective: &Objective,
    origin: &str,
) -> Result<Option<Picture>, String> {
    let in_unit = objective.has_bias(&estimate.unit);
    let (unit, one) = (objective.heading(), objective.shown_unit().1);
    let point = |case| point(case, estimate, in_unit, one);
    let all: Vec<Point> = workload.cases.iter().filter_map(point).collect();
    // A logarithm shows positive values only; what it can't show is counted below.
    let points: Vec<&Point> = all.iter().filter(|point| !in_unit || point.predicted > 0.0).collect();
    let measured: Vec<f64> = points.iter().map(|point| point.measured).collect();
    let predicted: Vec<f64> = points.iter().map(|point| point.predicted).collect();
    let both: Vec<f64> = measured.iter().chain(&predicted).copied().collect();
    let (left, top, right, bottom) = FRAME;
    let spread = predicted.iter().copied().fold(0.0, f64::max) / predicted.iter().copied().fold(f64::MAX, f64::min);
    let axes = if in_unit {
        (
            Axis::over(&both, true, (left, right)),
            Axis::over(&both, true, (bottom, top)),
        )
    } else {
        (
            Axis::over(&measured, true, (left, right)),
            Axis::over(&predicted, spread > 10.0, (bottom, top)),
        )
    };
    let (Some(x), Some(y)) = axes else {
        return Ok(None);
    };

    let title = format!("Estimate {} against measurement, {}", estimate.name, workload.name);
    let mut picture = Picture::new(&title, SIZE);
    heading(&mut picture, workload, estimate);
    frame(&mut picture, FRAME, &x, &y);
    let names = if in_unit {
        (
            match workload.median_peak_gflops {
                Some(_) => format!("{origin}, normalised by the peak probe ({unit})"),
                None => format!("{origin} ({unit})"),
            },
            format!("predicted ({unit})"),
        )
    } else {
        (
            format!("{origin}: median ratio to the control"),
            format!("predicted ({})", estimate.unit),
        )
    };
    picture.words(
        (f64::midpoint(left, right), bottom + 44.0),
        &names.0,
        15.0,
        Anchor::Middle,
        INK,
    );
    picture.items.push(Item::Words {
        at: (left - 66.0, f64::midpoint(top, bottom)),
        text: names.1,
        size: 15.0,
        anchor: Anchor::Middle,
        upwards: true,
        colour: INK,
    });
    if in_unit {
        picture.items.push(Item::Dashes {
            from: (left, bottom),
            to: (right, top),
            colour: GREY,
        });
    }
    let families = Families::of(workload);
    draw_points(&mut picture, &points, &families, workload, estimate, (&x, &y));
    legend(
        &mut picture,
        &points,
        &families,
        workload,
        estimate,
        all.len() - points.len(),
    );
    Ok(Some(picture))
}

fn point<'a>(case: &'a CaseRow, estimate: &EstimateRow, in_unit: bool, one: f64) -> Option<Point<'a>> {
    let predicted = *case.estimates.get(&estimate.name)?;
    Some(if in_unit {
        Point {
            case,
            measured: case.normalised_value? / one,
            predicted: predicted / one,
        }
    } else {
        Point {
            case,
            measured: case.ratio?.median,
            predicted,
        }
    })
}

fn heading(picture: &mut Picture, workload: &WorkloadRow, estimate: &EstimateRow) {
    let names = short_names(&[&estimate.name, &workload.name], 44);
    picture.words(
        (FRAME.0, 26.0),
        &format!("Estimate {} against measurement: {}", names[0], names[1]),
        20.0,
        Anchor::Start,
        INK,
    );
    let line = format!(
        "{} {} it · Spearman {} of about {} · regret {} · bias {} · MdAPE {} · inversions {} of {}",
        counted(estimate.whole.samples, "case"),
        if estimate.whole.samples == 1 { "judges" } else { "judge" },
        or_dash(estimate.whole.spearman, |rho| format!("{rho:.2}")),
        or_dash(estimate.whole.ceiling.ceiling, |rho| format!("{rho:.2}")),
        or_dash(estimate.whole.regret_ratio, |ratio| format!("{ratio:.3}")),
        or_dash(estimate.whole.bias, |bias| significant(bias, 3)),
        or_dash(estimate.whole.mdape_percent, |error| percent(error / 100.0)),
        grouped(estimate.whole.inversions),
        grouped(estimate.whole.comparable_pairs),
    );
    picture.words((FRAME.0, 54.0), &line, 14.0, Anchor::Start, GREY);
}

fn draw_points(
    picture: &mut Picture,
    points: &[&Point],
    families: &Families,
    workload: &WorkloadRow,
    estimate: &EstimateRow,
    (x, y): (&Axis, &Axis),
) {
    let radius = if points.len() > 200 { 4.0 } else { 5.5 };
    let at = |point: &Point| (x.at(point.measured), y.at(point.predicted));
    let (control, others): (Vec<&&Point>, Vec<&&Point>) =
        points.iter().partition(|point| point.case.name == workload.control);
    for point in &others {
        let Mark { colour, shape } = families.mark(&point.case.family);
        picture.marker(at(point), shape, radius, colour, point.case.chosen.is_adaptive());
    }
    for point in control {
        picture.marker(at(point), CONTROL.shape, 10.0, CONTROL.colour, false);
    }
    for point in points {
        let name = Some(&point.case.name);
        if name == estimate.whole.selected.as_ref() {
            picture.marker(at(point), Shape::Ring, 11.0, SELECTED, false);
        }
        if name == estimate.whole.best.as_ref() {
            picture.marker(at(point), Shape::Ring, 14.0, BEST, false);
        }
    }
}

const SELECTED: plotters::style::RGBColor = plotters::style::RGBColor(0xd5, 0x5e, 0x00);
const BEST: plotters::style::RGBColor = INK;

fn legend(
    picture: &mut Picture,
    points: &[&Point],
    families: &Families,
    workload: &WorkloadRow,
    estimate: &EstimateRow,
    not_shown: usize,
) {
    let mut y = FRAME.1 + 12.0;
    let entry = |picture: &mut Picture, mark: Option<(Mark, f64, bool)>, text: &str, y: &mut f64| {
        if let Some((mark, radius, hollow)) = mark {
            picture.marker((LEGEND_AT + 10.0, *y), mark.shape, radius, mark.colour, hollow);
        }
        picture.words((LEGEND_AT + 28.0, *y), text, 14.0, Anchor::Start, INK);
        *y += 22.0;
    };
    if points.iter().any(|point| point.case.name == workload.control) {
        let name = &short_names(&[&workload.control], MOST_CHARS - 9)[0];
        entry(picture, Some((CONTROL, 9.0, false)), &format!("control {name}"), &mut y);
    }
    let most = 16;
    let cases = points.iter().map(|point| point.case);
    let shown = families.shown(cases, &workload.control);
    for (family, mark, cases) in shown.iter().take(most) {
        let text = format!("{} ({cases})", short_names(&[family], MOST_CHARS - 7)[0]);
        entry(picture, Some((*mark, 6.0, false)), &text, &mut y);
    }
    if shown.len() > most {
        entry(
            picture,
            None,
            &format!("and {} more families", shown.len() - most),
            &mut y,
        );
    }
    let ring = |colour| Mark {
        colour,
        shape: Shape::Ring,
    };
    y += 10.0;
    for (title, name, colour, radius) in [
        ("the model's choice:", &estimate.whole.selected, SELECTED, 8.0),
        ("best measured of these:", &estimate.whole.best, BEST, 9.0),
    ] {
        if let Some(name) = name {
            entry(picture, Some((ring(colour), radius, false)), title, &mut y);
            entry(picture, None, &short_names(&[name], MOST_CHARS)[0], &mut y);
        }
    }
    y += 10.0;
    if points.iter().any(|point| point.case.chosen.is_adaptive()) {
        let hollow = Mark {
            colour: GREY,
            shape: Shape::Square,
        };
        entry(picture, Some((hollow, 6.0, true)), "hollow: chosen by results,", &mut y);
        entry(picture, None, "not in the statistics", &mut y);
    }
    if not_shown > 0 {
        entry(picture, None, &format!("{not_shown} not shown (not positive)"), &mut y);
    }
}
