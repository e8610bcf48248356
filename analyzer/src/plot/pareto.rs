//! Cases by ratio and a second number of which less is better.

use super::axis::Axis;
use super::frame::frame;
use super::palette::{CONTROL, Families, GREY, INK, Mark, short_names};
use super::picture::{Anchor, Item, Picture};
use crate::analysis::WorkloadRow;
use crate::format::{counted, grouped};
use crate::front::Front;

/// Width and height.
const SIZE: (f64, f64) = (1000.0, 640.0);
/// Left, top, right and bottom of the plot.
const FRAME: (f64, f64, f64, f64) = (110.0, 80.0, 960.0, 560.0);
/// So many unbeaten cases are named.
const NAMED: usize = 8;

/// Every case with both numbers over logarithmic axes (linear where a number is not positive), marked by family; steps join
/// the cases that no other one beats in both, the first of which are named. `None` without any.
pub(crate) fn pareto(workload: &WorkloadRow, front: &Front<'_>, origin: &str) -> Option<Picture> {
    let (left, top, right, bottom) = FRAME;
    let ratios: Vec<f64> = front.points.iter().map(|point| point.0).collect();
    let seconds: Vec<f64> = front.points.iter().map(|point| point.1).collect();
    let x = Axis::over(&ratios, true, (left, right))?;
    let y = Axis::over(&seconds, true, (bottom, top))?;
    let title = format!("Ratio and {}, {}", front.number, workload.name);
    let mut picture = Picture::new(&title, SIZE);
    let names = short_names(&[front.number, &workload.name], 44);
    picture.words(
        (left, 26.0),
        &format!("Ratio and {} beside it: {}", names[0], names[1]),
        20.0,
        Anchor::Start,
        INK,
    );
    let line = format!(
        "{} of {} can't be beaten in both · the star is the control · colours and shapes are families",
        grouped(front.unbeaten.len()),
        counted(front.points.len(), "case")
    );
    picture.words((left, 54.0), &line, 14.0, Anchor::Start, GREY);
    frame(&mut picture, FRAME, &x, &y);
    let below = (f64::midpoint(left, right), bottom + 44.0);
    let ratio_name = format!("{origin}: median ratio to the control");
    picture.words(below, &ratio_name, 15.0, Anchor::Middle, INK);
    picture.items.push(Item::Words {
        at: (left - 84.0, f64::midpoint(top, bottom)),
        text: format!("{} ({origin})", short_names(&[front.number], 44)[0]),
        size: 15.0,
        anchor: Anchor::Middle,
        upwards: true,
        colour: INK,
    });
    let at = |point: &(f64, f64, &crate::analysis::CaseRow)| (x.at(point.0), y.at(point.1));
    for two in front.unbeaten.windows(2) {
        // What is reached at a ratio holds until the next one reaches less.
        let (from, to) = (at(&two[0]), at(&two[1]));
        picture.line(from, (to.0, from.1), 1.5, INK);
        picture.line((to.0, from.1), to, 1.5, INK);
    }
    let families = Families::of(workload);
    for point in &front.points {
        let is_control = point.2.name == workload.control;
        let Mark { colour, shape } = if is_control {
            CONTROL
        } else {
            families.mark(&point.2.family)
        };
        let radius = if is_control { 10.0 } else { 5.5 };
        picture.marker(at(point), shape, radius, colour, point.2.chosen.is_adaptive());
    }
    for point in front.unbeaten.iter().take(NAMED) {
        let (across, down) = at(point);
        // Names stay inside the frame.
        let (anchor, shift) = if across > f64::midpoint(left, right) {
            (Anchor::End, -10.0)
        } else {
            (Anchor::Start, 10.0)
        };
        picture.words(
            (across + shift, down - 12.0),
            &short_names(&[&point.2.name], 30)[0],
            13.0,
            anchor,
            INK,
        );
    }
    Some(picture)
}
