//! Errors as one line of text, for records and events.

use std::error::Error;

/// The error and its causes, joined by `: `.
pub(crate) fn chain(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut next = error.source();
    while let Some(cause) = next {
        text.push_str(": ");
        text.push_str(&cause.to_string());
        next = cause.source();
    }
    text
}
