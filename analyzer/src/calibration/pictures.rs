//! Pictures of one family.

use calibrate::fit::{FamilyFit, Point};

use crate::plot::picture::{Anchor, Item, Picture, Shape};
use crate::plot::{Axis, GREY, INK, NEW, OLD, frame};

const SIZE: (f64, f64) = (760.0, 520.0);
/// Left, top, right, bottom of the plot in the picture.
const FRAME: (f64, f64, f64, f64) = (90.0, 60.0, 730.0, 450.0);
/// Residuals beyond this share are drawn at the edge.
const MOST: f64 = 1.0;

/// Predicted against measured, by both tables; `None` without positive values.
pub(super) fn predicted(family: &FamilyFit) -> Option<Picture> {
    let (left, top, right, bottom) = FRAME;
    let all = family
        .points
        .iter()
        .flat_map(|point| [point.measured, point.old, point.new]);
    let all: Vec<f64> = all.filter(|value| *value > 0.0).collect();
    let x = Axis::over(&all, true, (left, right))?;
    let y = Axis::over(&all, true, (bottom, top))?;
    let title = format!("{}: predicted against measured, {}", family.family, family.unit);
    let mut picture = framed(&title, &x, &y);
    picture.items.push(Item::Dashes {
        from: (left, bottom),
        to: (right, top),
        colour: GREY,
    });
    names(
        &mut picture,
        &format!("measured ({})", family.unit),
        &format!("predicted ({})", family.unit),
    );
    for point in &family.points {
        for (value, colour) in [(point.old, OLD), (point.new, NEW)] {
            if value > 0.0 {
                picture.marker(
                    (x.at(point.measured), y.at(value)),
                    shape(point),
                    4.0,
                    colour,
                    colour == OLD,
                );
            }
        }
    }
    legend(&mut picture);
    Some(picture)
}

/// Residuals of both tables against an argument; `None` where it is no number or never varies.
pub(super) fn against_argument(family: &FamilyFit, argument: &str) -> Option<Picture> {
    let (left, top, right, bottom) = FRAME;
    let value = |point: &Point| point.arguments.get(argument).and_then(planner::Value::as_float);
    let values: Option<Vec<f64>> = family.points.iter().map(value).collect();
    let values = values?;
    let residual = |predicted: f64, point: &Point| (predicted / point.measured - 1.0).clamp(-MOST, MOST);
    let all = family
        .points
        .iter()
        .flat_map(|point| [residual(point.old, point), residual(point.new, point)]);
    let most = all.map(f64::abs).fold(0.001, f64::max) * 1.1;
    let least = values.iter().copied().min_by(f64::total_cmp)?;
    if values.iter().all(|value| value.total_cmp(&least).is_eq()) {
        return None;
    }
    let x = Axis::over(&values, true, (left, right))?;
    let y = Axis::between(-100.0 * most, 100.0 * most, (bottom, top));
    let title = format!("{}: residuals against {argument}", family.family);
    let mut picture = framed(&title, &x, &y);
    picture.line((left, y.at(0.0)), (right, y.at(0.0)), 1.0, GREY);
    names(&mut picture, argument, "predicted over measured, less 1 (%)");
    for (point, at) in family.points.iter().zip(values) {
        for (predicted, colour) in [(point.old, OLD), (point.new, NEW)] {
            let place = (x.at(at), y.at(100.0 * residual(predicted, point)));
            picture.marker(place, shape(point), 4.0, colour, colour == OLD);
        }
    }
    legend(&mut picture);
    Some(picture)
}

/// Outliers are squares.
fn shape(point: &Point) -> Shape {
    if point.weight < 0.01 {
        Shape::Square
    } else {
        Shape::Circle
    }
}

fn framed(title: &str, x: &Axis, y: &Axis) -> Picture {
    let mut picture = Picture::new(title, SIZE);
    picture.words((FRAME.0, 26.0), title, 17.0, Anchor::Start, INK);
    frame(&mut picture, FRAME, x, y);
    picture
}

fn names(picture: &mut Picture, x: &str, y: &str) {
    let (left, top, right, bottom) = FRAME;
    picture.words(
        (f64::midpoint(left, right), bottom + 44.0),
        x,
        15.0,
        Anchor::Middle,
        INK,
    );
    picture.items.push(Item::Words {
        at: (left - 66.0, f64::midpoint(top, bottom)),
        text: y.to_owned(),
        size: 15.0,
        anchor: Anchor::Middle,
        upwards: true,
        colour: INK,
    });
}

fn legend(picture: &mut Picture) {
    let entries = [("old table", OLD, true), ("new table", NEW, false)];
    for (at, (words, colour, hollow)) in entries.into_iter().enumerate() {
        let y = FRAME.1 + 16.0 + 20.0 * at as f64;
        picture.marker((FRAME.0 + 16.0, y), Shape::Circle, 5.0, colour, hollow);
        picture.words((FRAME.0 + 30.0, y), words, 14.0, Anchor::Start, INK);
    }
}
