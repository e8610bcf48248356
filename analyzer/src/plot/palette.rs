//! Colours, shapes and names of families: told apart without colour, and by people who see few colours.

use std::collections::BTreeSet;

use plotters::style::RGBColor;

use super::picture::Shape;
use crate::analysis::{CaseRow, WorkloadRow};

/// Text and axes.
pub(crate) const INK: RGBColor = RGBColor(0x22, 0x22, 0x22);
/// Secondary text.
pub(crate) const GREY: RGBColor = RGBColor(0x5f, 0x5f, 0x5f);
/// What an old and a new cost table predict: Okabe and Ito's vermilion and blue.
pub(crate) const OLD: RGBColor = RGBColor(0xd5, 0x5e, 0x00);
/// See [`OLD`].
pub(crate) const NEW: RGBColor = RGBColor(0x00, 0x72, 0xb2);
/// Grid lines.
pub(crate) const GRID: RGBColor = RGBColor(0xe2, 0xe2, 0xe2);

/// Okabe and Ito's palette ("Color Universal Design", 2008) without black, which marks the control, and without its
/// yellow, which is too pale for small marks on white; a dark grey takes its place.
const COLOURS: [RGBColor; 7] = [
    RGBColor(0x00, 0x72, 0xb2),
    RGBColor(0xd5, 0x5e, 0x00),
    RGBColor(0x00, 0x9e, 0x73),
    RGBColor(0xcc, 0x79, 0xa7),
    RGBColor(0xe6, 0x9f, 0x00),
    RGBColor(0x56, 0xb4, 0xe9),
    RGBColor(0x77, 0x77, 0x77),
];

const SHAPES: [Shape; 7] = [
    Shape::Circle,
    Shape::Square,
    Shape::TriangleUp,
    Shape::Diamond,
    Shape::TriangleDown,
    Shape::Pentagon,
    Shape::Cross,
];

/// How one family is marked.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Mark {
    pub(crate) colour: RGBColor,
    pub(crate) shape: Shape,
}

/// The control's mark.
pub(crate) const CONTROL: Mark = Mark {
    colour: RGBColor(0, 0, 0),
    shape: Shape::Star,
};

/// Families in order of their first case, the control's own left out unless it has others.
#[derive(Debug, Clone)]
pub(crate) struct Families {
    names: Vec<String>,
}

impl Families {
    /// The families of a workload: a family has the same mark in all its plots.
    pub(crate) fn of(workload: &WorkloadRow) -> Self {
        let mut names: Vec<String> = Vec::new();
        for case in workload.cases.iter().filter(|case| case.name != workload.control) {
            if !names.contains(&case.family) {
                names.push(case.family.clone());
            }
        }
        Self { names }
    }

    /// How a family is marked: 49 marks, then they repeat.
    pub(crate) fn mark(&self, family: &str) -> Mark {
        let index = self.names.iter().position(|name| name == family).unwrap_or_default();
        Mark {
            colour: COLOURS[index % 7],
            shape: SHAPES[(index + index / 7) % 7],
        }
    }

    /// Families that cases other than the control belong to: name, mark, number of cases, in order.
    pub(crate) fn shown<'a>(
        &self,
        cases: impl Iterator<Item = &'a CaseRow>,
        control: &str,
    ) -> Vec<(&str, Mark, usize)> {
        let mut counts = vec![0_usize; self.names.len()];
        for case in cases.filter(|case| case.name != control) {
            if let Some(index) = self.names.iter().position(|name| *name == case.family) {
                counts[index] += 1;
            }
        }
        let all = self.names.iter().zip(counts);
        let shown = all.filter(|(_, count)| *count > 0);
        shown
            .map(|(name, count)| (name.as_str(), self.mark(name), count))
            .collect()
    }
}

/// Names short enough for a plot and still different from one another: long ones lose their middle, and what would be
/// equal then gets a number.
pub(crate) fn short_names(names: &[&str], most: usize) -> Vec<String> {
    let mut taken = BTreeSet::new();
    let shorten = |name: &str, most: usize| {
        let chars: Vec<char> = name.chars().collect();
        if chars.len() <= most {
            return name.to_owned();
        }
        let (head, tail) = ((most - 1).div_ceil(2), (most - 1) / 2);
        let ends = (chars[..head].iter(), chars[chars.len() - tail..].iter());
        format!("{}…{}", ends.0.collect::<String>(), ends.1.collect::<String>())
    };
    let mut short = Vec::with_capacity(names.len());
    for name in names {
        let mut candidate = shorten(&crate::format::one_line(name), most);
        let mut number = 2_usize;
        while !taken.insert(candidate.clone()) {
            let suffix = format!(" ({number})");
            candidate = shorten(name, most - suffix.len()) + &suffix;
            number += 1;
        }
        short.push(candidate);
    }
    short
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_names_stay_apart() {
        let a = format!("{}1{}", "x".repeat(100), "y".repeat(100));
        let b = format!("{}2{}", "x".repeat(100), "y".repeat(100));
        let short = short_names(&[&a, &b, "short"], 20);
        assert_eq!(short, ["xxxxxxxxxx…yyyyyyyyy", "xxxxxxxx…yyyyyyy (2)", "short"]);
    }

    #[test]
    fn forty_nine_families_differ() {
        let families = Families {
            names: (0..49).map(|index| index.to_string()).collect(),
        };
        let marks: Vec<Mark> = families.names.iter().map(|name| families.mark(name)).collect();
        for (i, a) in marks.iter().enumerate() {
            assert!(marks[i + 1..].iter().all(|b| a != b));
        }
    }
}
