//! Times as tuners write them.

use jiff::{Timestamp, civil::DateTime, tz::Offset};

/// `2023-12-22 09:54:05.502007+00:00`, RFC 3339, or without an offset, which then is UTC's.
pub(crate) fn parse(text: &str) -> Option<Timestamp> {
    let text = text.trim();
    text.parse::<Timestamp>().ok().or_else(|| {
        let civil: DateTime = text.parse().ok()?;
        Offset::UTC.to_timestamp(civil).ok()
    })
}

#[cfg(test)]
mod tests {
    #[test]
    fn as_tuners_write_them() {
        for text in [
            "2023-12-22 09:54:05.502007+00:00",
            "2023-12-22T09:54:05.502007Z",
            "2023-12-22 09:54:05.502007",
            " 2023-12-22T10:54:05.502007+01:00",
        ] {
            assert_eq!(
                super::parse(text).unwrap().as_microsecond(),
                1_703_238_845_502_007,
                "{text}"
            );
        }
        assert_eq!(super::parse("yesterday"), None);
    }
}
