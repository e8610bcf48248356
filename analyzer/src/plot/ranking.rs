//! All measured cases, best first, with their intervals.

use super::axis::Axis;
use super::palette::{CONTROL, Families, GREY, GRID, INK, short_names};
use super::picture::{Anchor, Item, Picture, text_width};
use crate::analysis::{CaseRow, Figure, WorkloadRow};
use crate::format::ratio;

const WIDTH: f64 = 1000.0;
const MARGIN: f64 = 24.0;
/// Logical height of all rows together, at most, unless there are so many that one pixel each is more.
const MOST_HEIGHT: f64 = 4_000.0;
const ROW: f64 = 18.0;
/// Labels closer than this overlap.
const LABEL: f64 = 15.0;
const LABEL_SIZE: f64 = 13.5;
const MOST_CHARS: usize = 40;

/// Every measured case at its median paired ratio with its 95 % interval, sorted, with the control's line at 1. Beyond
/// 222 cases rows grow narrower, and only every second, third, ... is named; winner and control always are.
///
/// `None` when nothing was measured. Errors: text that can't be measured.
pub fn ranking(workload: &WorkloadRow, origin: &str) -> Result<Option<Picture>, String> {
    let ranked = workload.ranked();
    let pitch = (MOST_HEIGHT / ranked.len().max(1) as f64).clamp(1.0, ROW);
    let names: Vec<&str> = ranked.iter().map(|(case, _)| case.name.as_str()).collect();
    let labels = short_names(&names, MOST_CHARS);
    let mut widest = 60.0_f64;
    for label in &labels {
        widest = widest.max(text_width(label, LABEL_SIZE)?);
    }
    let (left, right) = (MARGIN + widest + 12.0, WIDTH - MARGIN - 74.0);
    let mut values: Vec<f64> = vec![1.0];
    for (_, figure) in &ranked {
        values.extend([Some(figure.median), figure.lower, figure.upper].into_iter().flatten());
    }
    let Some(axis) = Axis::over(&values, true, (left, right)).filter(|_| !ranked.is_empty()) else {
        return Ok(None);
    };

    let families = Families::of(workload);
    let mut picture = Picture::new(
        &format!("Cases of {} by their ratio to the control", workload.name),
        (WIDTH, 0.0),
    );
    let name = &short_names(&[&workload.name], 60)[0];
    picture.words(
        (MARGIN, 26.0),
        &format!("Ratio to the control: {name}"),
        20.0,
        Anchor::Start,
        INK,
    );
    let subtitle = format!(
        "{origin}: median of paired ratios and its 95 % interval; left of 1 is better than the control {}",
        short_names(&[&workload.control], 30)[0]
    );
    picture.words((MARGIN, 52.0), &subtitle, 14.0, Anchor::Start, GREY);
    let top = legend(&mut picture, &families, &ranked, &workload.control)? + 30.0;
    let bottom = top + pitch * ranked.len() as f64 + 8.0;
    picture.size.1 = bottom + 60.0;

    for (value, label) in axis.ticks(50.0) {
        let at = axis.at(value);
        picture.line((at, top), (at, bottom), 1.0, GRID);
        for y in [top - 10.0, bottom + 16.0] {
            picture.words((at, y), &label, 14.0, Anchor::Middle, INK);
        }
    }
    picture.line((left, top), (right, top), 1.0, INK);
    picture.line((left, bottom), (right, bottom), 1.0, INK);
    picture.items.push(Item::Dashes {
        from: (axis.at(1.0), top),
        to: (axis.at(1.0), bottom),
        colour: INK,
    });
    let axis_name = "ratio to the control (case / control)";
    picture.words(
        (f64::midpoint(left, right), bottom + 42.0),
        axis_name,
        15.0,
        Anchor::Middle,
        INK,
    );
    let named = named_rows(&ranked, &workload.control, pitch);
    for (index, (case, figure)) in ranked.iter().enumerate() {
        let y = top + 4.0 + pitch * (index as f64 + 0.5);
        if named[index] {
            picture.line((left, y), (right, y), 0.5, GRID);
            picture.words((left - 8.0, y), &labels[index], LABEL_SIZE, Anchor::End, INK);
            picture.words((right + 10.0, y), &ratio(figure.median), LABEL_SIZE, Anchor::Start, INK);
        }
        draw_row(
            &mut picture,
            &axis,
            y,
            case,
            *figure,
            &families,
            (&workload.control, pitch),
        );
    }
    Ok(Some(picture))
}

fn draw_row(
    picture: &mut Picture,
    axis: &Axis,
    y: f64,
    case: &CaseRow,
    figure: Figure,
    families: &Families,
    (control, pitch): (&str, f64),
) {
    let mark = if case.name == control {
        CONTROL
    } else {
        families.mark(&case.family)
    };
    if let Some((lower, upper)) = figure.lower.zip(figure.upper) {
        let (from, to) = (axis.at(lower), axis.at(upper));
        picture.line((from, y), (to, y), 2.0, mark.colour);
        if pitch >= 8.0 {
            for end in [from, to] {
                picture.line((end, y - 3.0), (end, y + 3.0), 1.5, mark.colour);
            }
        }
    }
    let radius = if case.name == control {
        8.0
    } else {
        (pitch * 0.32).clamp(2.0, 5.0)
    };
    picture.marker(
        (axis.at(figure.median), y),
        mark.shape,
        radius,
        mark.colour,
        case.chosen.is_adaptive(),
    );
}

/// Which rows get a name: as many as fit, and in any case the first and the control.
fn named_rows(ranked: &[(&CaseRow, Figure)], control: &str, pitch: f64) -> Vec<bool> {
    let mut named = vec![false; ranked.len()];
    let fixed: Vec<usize> = (0..ranked.len())
        .filter(|i| *i == 0 || ranked[*i].0.name == control)
        .collect();
    let apart = |a: usize, b: usize| a.abs_diff(b) as f64 * pitch >= LABEL;
    let mut last: Option<usize> = None;
    for (index, named) in named.iter_mut().enumerate() {
        let is_fixed = fixed.contains(&index);
        let free = last.is_none_or(|last| apart(index, last)) && fixed.iter().all(|f| *f == index || apart(index, *f));
        if is_fixed || free {
            *named = true;
            last = Some(index);
        }
    }
    named
}

/// Draws the legend in lines below the heading; returns the y below it.
fn legend(
    picture: &mut Picture,
    families: &Families,
    ranked: &[(&CaseRow, Figure)],
    control: &str,
) -> Result<f64, String> {
    let has_control = ranked.iter().any(|(case, _)| case.name == control);
    let has_adaptive = ranked.iter().any(|(case, _)| case.chosen.is_adaptive());
    let mut entries = Vec::new();
    if has_control {
        entries.push((Some((CONTROL, false)), "control".to_owned()));
    }
    let most = 24;
    let shown = families.shown(ranked.iter().map(|(case, _)| *case), control);
    for (family, mark, _) in shown.iter().take(most) {
        entries.push((Some((*mark, false)), short_names(&[family], 30)[0].clone()));
    }
    if shown.len() > most {
        entries.push((None, format!("and {} more families", shown.len() - most)));
    }
    if has_adaptive {
        entries.push((None, "hollow: chosen by results".to_owned()));
    }
    let without = ranked
        .iter()
        .filter(|(_, figure)| figure.half_width().is_none())
        .count();
    if without > 0 {
        entries.push((None, format!("{without} without an interval (too few pairs)")));
    }
    let (mut x, mut y) = (MARGIN, 80.0);
    for (mark, text) in entries {
        let width = text_width(&text, 14.0)?;
        let lead = if mark.is_some() { 20.0 } else { 0.0 };
        if x > MARGIN && x + lead + width > WIDTH - MARGIN {
            (x, y) = (MARGIN, y + 22.0);
        }
        if let Some((mark, hollow)) = mark {
            picture.marker((x + 7.0, y), mark.shape, 6.0, mark.colour, hollow);
        }
        picture.words((x + lead, y), &text, 14.0, Anchor::Start, INK);
        x += lead + width + 24.0;
    }
    Ok(y)
}
