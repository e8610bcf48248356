//! A picture as a list of things to draw, and its two backends.

use std::path::Path;
use std::sync::OnceLock;

use plotters::coord::Shift;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};
use plotters::style::{FontTransform, RGBColor, register_font};

use super::glyphs::drawable;

/// The family of all text. The first font ships with this crate and draws the PNG; a viewer of the SVG takes the first
/// that it has. They are alike in width, so that nothing overlaps in one that does not in the other.
pub const FONT_FAMILY: &str = "DejaVu Sans, Verdana, sans-serif";

pub(super) static FONT: &[u8] = include_bytes!("../../assets/DejaVuSans.ttf");

/// The backends count whole pixels: everything is drawn this much larger, and the SVG is shown at its logical size.
const SCALE: f64 = 2.0;

/// A PNG is drawn at its logical size beyond this logical height, to stay below about 50 MB in memory.
const TALL: f64 = 2_500.0;

/// Where a word stands relative to its point, horizontally.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Anchor {
    /// The point is its left end.
    Start,
    /// The point is its middle.
    Middle,
    /// The point is its right end.
    End,
}

/// The form of a marker.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shape {
    Circle,
    Square,
    TriangleUp,
    Diamond,
    TriangleDown,
    Pentagon,
    Cross,
    Star,
    Ring,
}

/// One thing to draw. Lengths are in logical pixels, y grows downwards.
#[derive(Debug, Clone)]
pub(crate) enum Item {
    Line {
        from: (f64, f64),
        to: (f64, f64),
        width: f64,
        colour: RGBColor,
    },
    Dashes {
        from: (f64, f64),
        to: (f64, f64),
        colour: RGBColor,
    },
    Marker {
        at: (f64, f64),
        shape: Shape,
        radius: f64,
        colour: RGBColor,
        hollow: bool,
    },
    Words {
        at: (f64, f64),
        text: String,
        size: f64,
        anchor: Anchor,
        upwards: bool,
        colour: RGBColor,
    },
}

/// A picture of a logical size in pixels.
#[derive(Debug, Clone)]
pub struct Picture {
    /// What it shows, for people who can't see it.
    pub title: String,
    /// Width and height.
    pub(crate) size: (f64, f64),
    pub(crate) items: Vec<Item>,
}

impl Picture {
    pub(crate) fn new(title: &str, size: (f64, f64)) -> Self {
        Self {
            title: crate::format::one_line(title),
            size,
            items: Vec::new(),
        }
    }

    pub(crate) fn line(&mut self, from: (f64, f64), to: (f64, f64), width: f64, colour: RGBColor) {
        self.items.push(Item::Line {
            from,
            to,
            width,
            colour,
        });
    }

    pub(crate) fn marker(&mut self, at: (f64, f64), shape: Shape, radius: f64, colour: RGBColor, hollow: bool) {
        self.items.push(Item::Marker {
            at,
            shape,
            radius,
            colour,
            hollow,
        });
    }

    /// Words whose middle line lies at `at`.
    pub(crate) fn words(&mut self, at: (f64, f64), text: &str, size: f64, anchor: Anchor, colour: RGBColor) {
        self.items.push(Item::Words {
            at,
            text: crate::format::one_line(text),
            size,
            anchor,
            upwards: false,
            colour,
        });
    }

    /// The picture as SVG.
    pub fn svg(&self) -> Result<String, String> {
        register()?;
        let pixels = self.pixels(SCALE);
        let mut svg = String::new();
        self.draw(
            &SVGBackend::with_string(&mut svg, pixels).into_drawing_area(),
            SCALE,
            None,
        )?;
        // The backend knows one size only: it becomes the inner one, in whole units, and the picture is shown smaller.
        let (width, height) = self.pixels(1.0);
        let head = format!("<svg width=\"{}\" height=\"{}\" ", pixels.0, pixels.1);
        let body = svg.strip_prefix(&head).ok_or("the SVG begins in an unknown way")?;
        let (attributes, rest) = body.split_once('>').ok_or("the SVG has no root")?;
        let title = self.title.replace('&', "&amp;").replace('<', "&lt;");
        Ok(format!(
            "<svg width=\"{width}\" height=\"{height}\" role=\"img\" {attributes}>\n<title>{title}</title>{rest}"
        ))
    }

    /// Writes the picture as PNG.
    pub fn png(&self, path: &Path) -> Result<(), String> {
        register()?;
        let scale = if self.size.1 > TALL { 1.0 } else { SCALE };
        // This backend centres the font's box, which reaches further above capitals than below them.
        self.draw(
            &BitMapBackend::new(path, self.pixels(scale)).into_drawing_area(),
            scale,
            Some(0.13),
        )
    }

    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "sizes are positive and a few thousand"
    )]
    fn pixels(&self, scale: f64) -> (u32, u32) {
        ((self.size.0 * scale).ceil() as u32, (self.size.1 * scale).ceil() as u32)
    }

    /// `drop` is how far words stand too high, as a share of their size, where they are drawn with the shipped font;
    /// `None` where a viewer draws them.
    fn draw<B: DrawingBackend>(
        &self,
        area: &DrawingArea<B, Shift>,
        scale: f64,
        drop: Option<f64>,
    ) -> Result<(), String> {
        let failed = |error: DrawingAreaErrorKind<B::ErrorType>| error.to_string();
        area.fill(&WHITE).map_err(failed)?;
        for item in &self.items {
            draw_item(item, area, scale, drop).map_err(failed)?;
        }
        area.present().map_err(failed)
    }
}

/// Width of a text in logical pixels, in whichever backend it is wider.
pub(crate) fn text_width(text: &str, size: f64) -> Result<f64, String> {
    register()?;
    let font = FontDesc::from((FONT_FAMILY, size * SCALE));
    let mut widest = 0;
    for text in [text, &drawable(text)] {
        let ((left, _), (right, _)) = font.layout_box(text).map_err(|error| error.to_string())?;
        widest = widest.max(right - left);
    }
    Ok(f64::from(widest) / SCALE)
}

fn register() -> Result<(), String> {
    static REGISTERED: OnceLock<bool> = OnceLock::new();
    let good = *REGISTERED.get_or_init(|| register_font(FONT_FAMILY, FontStyle::Normal, FONT).is_ok());
    if good {
        Ok(())
    } else {
        Err("the font that ships can't be read".to_owned())
    }
}

type Drawn<B> = Result<(), DrawingAreaErrorKind<<B as DrawingBackend>::ErrorType>>;

#[expect(clippy::cast_possible_truncation, reason = "coordinates are a few thousand pixels")]
fn pixel(value: f64, scale: f64) -> i32 {
    (value * scale).round() as i32
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "widths are a few pixels, and at least one"
)]
fn stroke(width: f64, scale: f64) -> u32 {
    (width * scale).round().max(1.0) as u32
}

fn draw_item<B: DrawingBackend>(item: &Item, area: &DrawingArea<B, Shift>, scale: f64, drop: Option<f64>) -> Drawn<B> {
    let point = |(x, y): (f64, f64)| (pixel(x, scale), pixel(y, scale));
    match item {
        Item::Line {
            from,
            to,
            width,
            colour,
        } => {
            let style = colour.stroke_width(stroke(*width, scale));
            area.draw(&PathElement::new([point(*from), point(*to)], style))
        }
        Item::Dashes { from, to, colour } => {
            let (dx, dy) = (to.0 - from.0, to.1 - from.1);
            let length = dx.hypot(dy).max(1.0);
            let mut at = 0.0;
            while at < length {
                let (a, b) = (at / length, (at + 6.0).min(length) / length);
                let ends = [(from.0 + dx * a, from.1 + dy * a), (from.0 + dx * b, from.1 + dy * b)];
                area.draw(&PathElement::new(
                    ends.map(point),
                    colour.stroke_width(stroke(1.0, scale)),
                ))?;
                at += 10.0;
            }
            Ok(())
        }
        Item::Marker {
            at,
            shape,
            radius,
            colour,
            hollow,
        } => draw_marker(area, point, *at, *shape, *radius, *colour, *hollow, scale),
        Item::Words {
            at,
            text,
            size,
            anchor,
            upwards,
            colour,
        } => {
            let horizontal = match anchor {
                Anchor::Start => HPos::Left,
                Anchor::Middle => HPos::Center,
                Anchor::End => HPos::Right,
            };
            let mut font = FontDesc::from((FONT_FAMILY, size * scale));
            if *upwards {
                font = font.transform(FontTransform::Rotate270);
            }
            let style = font.color(colour).pos(Pos::new(horizontal, VPos::Center));
            let lower = drop.unwrap_or_default() * size;
            let (right, down) = if *upwards { (lower, 0.0) } else { (0.0, lower) };
            let text = if drop.is_some() { drawable(text) } else { text.clone() };
            area.draw(&Text::new(text, point((at.0 + right, at.1 + down)), style))
        }
    }
}

#[expect(clippy::too_many_arguments, reason = "one call, from the fields of one item")]
fn draw_marker<B: DrawingBackend>(
    area: &DrawingArea<B, Shift>,
    point: impl Fn((f64, f64)) -> (i32, i32),
    at: (f64, f64),
    shape: Shape,
    radius: f64,
    colour: RGBColor,
    hollow: bool,
    scale: f64,
) -> Drawn<B> {
    let thin = colour.stroke_width(stroke(1.3, scale));
    // Corners on circles around the point: as many as given, the first at an angle from above, every other at an
    // inner radius for a star.
    let corners = |count: u32, first: f64, inner: f64| -> Vec<(i32, i32)> {
        let corner = |k: u32| {
            let angle = (first + 360.0 * f64::from(k) / f64::from(count)).to_radians();
            let r = if k % 2 == 1 { radius * inner } else { radius };
            point((at.0 + r * angle.sin(), at.1 - r * angle.cos()))
        };
        (0..count).map(corner).collect()
    };
    let outline = match shape {
        Shape::Circle => {
            let size = stroke(radius * 0.9, scale);
            if hollow {
                area.draw(&Circle::new(point(at), size, WHITE.filled()))?;
            }
            let style = if hollow { thin } else { colour.filled() };
            return area.draw(&Circle::new(point(at), size, style));
        }
        Shape::Ring => {
            let style = colour.stroke_width(stroke(1.6, scale));
            return area.draw(&Circle::new(point(at), stroke(radius, scale), style));
        }
        Shape::Cross => {
            let r = radius * 0.8;
            for sign in [-1.0, 1.0] {
                let ends = [(at.0 - r, at.1 - sign * r), (at.0 + r, at.1 + sign * r)];
                area.draw(&PathElement::new(
                    ends.map(&point),
                    colour.stroke_width(stroke(if hollow { 1.0 } else { 2.0 }, scale)),
                ))?;
            }
            return Ok(());
        }
        Shape::Square => corners(4, 45.0, 1.0),
        Shape::TriangleUp => corners(3, 0.0, 1.0),
        Shape::TriangleDown => corners(3, 180.0, 1.0),
        Shape::Diamond => corners(4, 0.0, 1.0),
        Shape::Pentagon => corners(5, 0.0, 1.0),
        Shape::Star => corners(10, 0.0, 0.45),
    };
    if hollow {
        let closed: Vec<(i32, i32)> = outline.iter().chain(outline.first()).copied().collect();
        area.draw(&Polygon::new(outline, WHITE.filled()))?;
        area.draw(&PathElement::new(closed, thin))
    } else {
        area.draw(&Polygon::new(outline, colour.filled()))
    }
}
