//! Values of options that several subcommands take, read so that the message says what was expected.

use std::fmt::Display;
use std::ops::RangeBounds;
use std::time::Duration;

use planner::definition::TimeLimit;

/// A time as a person writes it.
pub(crate) fn time(text: &str) -> Result<Duration, String> {
    TimeLimit::parse(text).map(TimeLimit::duration)
}

/// A whole number of at least `least`.
pub(crate) fn at_least<T: TryFrom<u64>>(least: u64) -> impl Fn(&str) -> Result<T, String> + Clone + Send + Sync {
    move |text| whole(text, least.., &format!("of at least {least}"))
}

/// A whole number from 1 to `most`.
pub(crate) fn up_to<T: TryFrom<u64>>(most: u64) -> impl Fn(&str) -> Result<T, String> + Clone + Send + Sync {
    move |text| whole(text, 1..=most, &format!("from 1 to {most}"))
}

fn whole<T: TryFrom<u64>>(text: &str, range: impl RangeBounds<u64>, words: &dyn Display) -> Result<T, String> {
    // `parse` takes a sign, which no such number needs.
    let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if !digits {
        return Err(format!("expected a whole number {words}, found \"{text}\""));
    }
    let number = text.parse().ok().filter(|number| range.contains(number));
    let number = number.ok_or_else(|| format!("expected a whole number {words}, found {text}"))?;
    T::try_from(number).map_err(|_| format!("{text} is too large"))
}
