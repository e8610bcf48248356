//! A scatter of two quantities as SVG.

use std::fmt::Write as _;

/// One point.
pub(crate) struct Point {
    pub(crate) x: f64,
    pub(crate) y: f64,
    pub(crate) label: String,
    pub(crate) hollow: bool,
}

const SIZE: f64 = 560.0;
const MARGIN: f64 = 70.0;

/// Points on equal logarithmic axes, with the diagonal on which both agree.
pub(crate) fn scatter(title: &str, x: &str, y: &str, points: &[Point]) -> String {
    let values = || points.iter().flat_map(|point| [point.x, point.y]);
    let low = values().fold(f64::INFINITY, f64::min) * 0.985;
    let high = values().fold(0.0, f64::max) * 1.015;
    let inside = SIZE - 2.0 * MARGIN;
    let place = |value: f64| (value / low).ln() / (high / low).ln() * inside;
    let (left, bottom) = (MARGIN, SIZE - MARGIN);
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {SIZE} {SIZE}\" font-family=\"DejaVu Sans, Verdana, \
         sans-serif\" font-size=\"11\" role=\"img\"><title>{title}</title>\n<rect width=\"{SIZE}\" height=\"{SIZE}\" \
         fill=\"#ffffff\"/>\n<text x=\"{}\" y=\"24\" text-anchor=\"middle\" font-size=\"14\">{title}</text>\n",
        SIZE / 2.0
    );
    // Writing to a string can't fail.
    for step in 0..=4 {
        let value = low * (high / low).powf(f64::from(step) / 4.0);
        let (at_x, at_y) = (left + place(value), bottom - place(value));
        let thousands = value / 1000.0;
        _ = writeln!(
            svg,
            "<line x1=\"{at_x:.1}\" y1=\"{MARGIN}\" x2=\"{at_x:.1}\" y2=\"{bottom}\" stroke=\"#e0e0e0\"/><line \
             x1=\"{left}\" y1=\"{at_y:.1}\" x2=\"{}\" y2=\"{at_y:.1}\" stroke=\"#e0e0e0\"/><text x=\"{at_x:.1}\" \
             y=\"{}\" text-anchor=\"middle\">{thousands:.0}k</text><text x=\"{}\" y=\"{:.1}\" \
             text-anchor=\"end\">{thousands:.0}k</text>",
            SIZE - MARGIN,
            bottom + 16.0,
            left - 6.0,
            at_y + 4.0
        );
    }
    _ = writeln!(
        svg,
        "<line x1=\"{left}\" y1=\"{bottom}\" x2=\"{}\" y2=\"{MARGIN}\" stroke=\"#909090\" \
         stroke-dasharray=\"4 3\"/><text x=\"{}\" y=\"{}\" text-anchor=\"middle\">{x}</text><text \
         transform=\"translate(18 {}) rotate(-90)\" text-anchor=\"middle\">{y}</text>",
        SIZE - MARGIN,
        SIZE / 2.0,
        SIZE - 24.0,
        SIZE / 2.0
    );
    for point in points {
        let (at_x, at_y) = (left + place(point.x), bottom - place(point.y));
        let fill = if point.hollow { "#ffffff" } else { "#0060a8" };
        _ = writeln!(
            svg,
            "<circle cx=\"{at_x:.1}\" cy=\"{at_y:.1}\" r=\"4\" fill=\"{fill}\" stroke=\"#0060a8\"><title>{}</title></circle>",
            point.label
        );
    }
    svg += "</svg>\n";
    svg
}
