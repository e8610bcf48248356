//! Whole numbers as people read them: the same words in every message, table and report.

use std::fmt::Display;

/// A whole number with commas between groups of three digits: `1,000,000`. A sign stays in front.
#[must_use]
pub fn grouped(number: impl Display) -> String {
    let digits = number.to_string();
    let mut grouped = String::with_capacity(digits.len() * 4 / 3);
    for (at, digit) in digits.chars().enumerate() {
        let after_digit = grouped.ends_with(|c: char| c.is_ascii_digit());
        if after_digit && (digits.len() - at).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

/// A number of things: `1 case`, `2 cases`, `20,000 cases`.
#[must_use]
pub fn counted(number: impl Display, thing: &str) -> String {
    let number = grouped(number);
    let s = if number == "1" { "" } else { "s" };
    format!("{number} {thing}{s}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_stand_in_groups_of_three() {
        for (number, expected) in [
            (0, "0"),
            (999, "999"),
            (1_000, "1,000"),
            (-1_000, "-1,000"),
            (-100_000, "-100,000"),
            (2_567_463_684_i64, "2,567,463,684"),
        ] {
            assert_eq!(grouped(number), expected);
        }
        assert_eq!(grouped("5285610"), "5,285,610");
    }

    #[test]
    fn one_is_no_plural() {
        assert_eq!(
            [0_u32, 1, 2, 20_000].map(|count| counted(count, "case")),
            ["0 cases", "1 case", "2 cases", "20,000 cases"]
        );
    }
}
