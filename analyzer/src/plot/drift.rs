//! The control's own times over the sweep.

use super::axis::Axis;
use super::palette::{CONTROL, GREY, GRID, INK, short_names};
use super::picture::{Anchor, Item, Picture, Shape};
use crate::analysis::{Drift, WorkloadRow};
use crate::dataset::Objective;
use crate::format::{counted, significant};
use plotters::style::RGBColor;

const SIZE: (f64, f64) = (1000.0, 460.0);
/// Left, top, right, bottom of the plot in the picture.
const FRAME: (f64, f64, f64, f64) = (90.0, 100.0, 970.0, 390.0);
const QUIET: RGBColor = RGBColor(0x00, 0x72, 0xb2);
const DISTURBED: RGBColor = RGBColor(0xd5, 0x5e, 0x00);
/// Disturbed rounds with a name.
const NAMED: usize = 5;

/// The control's median in every round over the time of the sweep, with the medians of both halves of the rounds;
/// disturbed rounds are crosses. `None` where the control was measured in fewer than 2 rounds.
pub fn drift(workload: &WorkloadRow, objective: &Objective, origin: &str) -> Option<Picture> {
    let drift = workload.drift.as_ref()?;
    let (unit, one) = (objective.heading(), objective.shown_unit().1);
    let (left, top, right, bottom) = FRAME;
    let (minutes, time_unit) = time_scale(drift);
    let times: Vec<f64> = drift.points.iter().map(|point| point.seconds / minutes).collect();
    let values: Vec<f64> = drift.points.iter().map(|point| point.control / one).collect();
    let last = times.iter().copied().fold(0.0, f64::max);
    let x = Axis::between(0.0, if last > 0.0 { 1.01 * last } else { 1.0 }, (left, right));
    let least = values.iter().copied().min_by(f64::total_cmp)?;
    let most = values.iter().copied().max_by(f64::total_cmp)?;
    let margin = if most > least {
        0.08 * (most - least)
    } else {
        0.05 * most
    };
    let y = Axis::between(least - margin, most + margin, (bottom, top));

    let title = format!("The control of {} over the sweep", workload.name);
    let mut picture = Picture::new(&title, SIZE);
    heading(&mut picture, workload, drift);
    for (value, label) in y.ticks(34.0) {
        let at = y.at(value);
        picture.line((left, at), (right, at), 1.0, GRID);
        picture.words((left - 8.0, at), &label, 14.0, Anchor::End, INK);
    }
    for (value, label) in x.ticks(70.0) {
        let at = x.at(value);
        picture.line((at, bottom), (at, bottom + 5.0), 1.0, INK);
        picture.words((at, bottom + 18.0), &label, 14.0, Anchor::Middle, INK);
    }
    picture.line((left, bottom), (right, bottom), 1.0, INK);
    picture.line((left, top), (left, bottom), 1.0, INK);
    let below = (f64::midpoint(left, right), bottom + 46.0);
    let axis_name = format!("time since the first round ({time_unit})");
    picture.words(below, &axis_name, 15.0, Anchor::Middle, INK);
    picture.items.push(Item::Words {
        at: (left - 68.0, f64::midpoint(top, bottom)),
        text: format!("control ({unit}), {origin}"),
        size: 15.0,
        anchor: Anchor::Middle,
        upwards: true,
        colour: INK,
    });
    // Many points make room for one another.
    let radius = (600.0 / drift.points.len().max(1) as f64).clamp(1.2, 4.0);
    for (point, (time, value)) in drift.points.iter().zip(times.iter().zip(&values)) {
        let at = (x.at(*time), y.at(*value));
        if point.disturbed {
            picture.marker(at, Shape::Cross, 6.0, DISTURBED, false);
        } else {
            picture.marker(at, Shape::Circle, radius, QUIET, false);
        }
    }
    halves(&mut picture, drift, &times, one, (&x, &y));
    names(&mut picture, drift, &times, &values, (&x, &y));
    Some(picture)
}

/// Seconds, minutes or hours: how long one is, and its name.
fn time_scale(drift: &Drift) -> (f64, &'static str) {
    let last = drift.points.iter().map(|point| point.seconds).fold(0.0, f64::max);
    match last {
        last if last >= 3.0 * 3600.0 => (3600.0, "h"),
        last if last >= 180.0 => (60.0, "min"),
        _ => (1.0, "s"),
    }
}

fn heading(picture: &mut Picture, workload: &WorkloadRow, drift: &Drift) {
    let names = short_names(&[&workload.control, &workload.name], 36);
    let title = format!("The control over the sweep: {} of {}", names[0], names[1]);
    picture.words((FRAME.0, 26.0), &title, 20.0, Anchor::Start, INK);
    let test = drift.test.map_or_else(
        || "too few rounds, or too little variation, for a test".to_owned(),
        |test| {
            format!(
                "first half against second: Mann-Whitney p = {}",
                significant(test.p_two_sided, 2)
            )
        },
    );
    let line = format!(
        "median of the control in each of {} · {test} · {} disturbed (crosses)",
        counted(drift.rounds, "round"),
        drift.disturbed.len()
    );
    picture.words((FRAME.0, 54.0), &line, 14.0, Anchor::Start, GREY);
    let line = "black lines: medians of the first and of the second half of the rounds";
    picture.words((FRAME.0, 76.0), line, 14.0, Anchor::Start, GREY);
}

fn halves(picture: &mut Picture, drift: &Drift, times: &[f64], one: f64, (x, y): (&Axis, &Axis)) {
    let (Some(first), Some(last)) = (times.first(), times.last()) else {
        return;
    };
    let middle = times.get(times.len() / 2).copied().unwrap_or(*last);
    for (from, to, value) in [
        (*first, middle, drift.first_half / one),
        (middle, *last, drift.second_half / one),
    ] {
        let at = y.at(value);
        picture.line((x.at(from), at), (x.at(to), at), 2.0, CONTROL.colour);
    }
}

/// Names of the rounds that lie farthest out.
fn names(picture: &mut Picture, drift: &Drift, times: &[f64], values: &[f64], (x, y): (&Axis, &Axis)) {
    let far = |index: usize| (drift.points[index].control / drift.first_half).ln().abs();
    let mut disturbed: Vec<usize> = (0..drift.points.len())
        .filter(|index| drift.points[*index].disturbed)
        .collect();
    disturbed.sort_by(|a, b| far(*b).total_cmp(&far(*a)));
    let mut taken: Vec<f64> = Vec::new();
    for index in disturbed.into_iter().take(NAMED) {
        let at = (x.at(times[index]), y.at(values[index]));
        if taken.iter().any(|other| (other - at.1).abs() < 16.0) {
            continue;
        }
        taken.push(at.1);
        let point = &drift.points[index];
        let text = format!("{}, round {}", short_names(&[&point.case], 30)[0], point.round + 1);
        let (anchor, aside) = if at.0 > f64::midpoint(FRAME.0, FRAME.2) {
            (Anchor::End, -10.0)
        } else {
            (Anchor::Start, 10.0)
        };
        picture.words((at.0 + aside, at.1), &text, 13.0, anchor, INK);
    }
}
