//! Text of users in HTML and in scripts.

use std::fmt::Write as _;

use crate::format::one_line;

/// Text inside an element or a quoted attribute, on one line: control characters become spaces.
pub(crate) fn text(text: &str) -> String {
    lines(&one_line(text))
}

/// Text inside an element that may have several lines; other control characters become spaces.
pub(crate) fn lines(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            '\n' => escaped.push('\n'),
            c if c.is_control() => escaped.push(' '),
            c => escaped.push(c),
        }
    }
    escaped
}

/// JSON inside a `script` element: without `<`, so that nothing in it can end the element or begin a comment.
pub(crate) fn json(json: &str) -> String {
    json.replace('<', "\\u003c")
}

/// A word for a POSIX shell.
pub(crate) fn shell(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=+,@%".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', "'\\''"))
    }
}

/// A relative reference to a file: every byte that has a meaning in a URL is encoded.
pub(crate) fn path(parts: &[String]) -> String {
    let encode = |part: &String| {
        let mut out = String::new();
        for byte in part.bytes() {
            if byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte) {
                out.push(char::from(byte));
            } else {
                let _ = write!(out, "%{byte:02X}");
            }
        }
        out
    };
    parts.iter().map(encode).collect::<Vec<String>>().join("/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_gets_out() {
        assert_eq!(text("</script>\n\"'&"), "&lt;/script&gt; &quot;&#39;&amp;");
        assert_eq!(lines("a\n\tb"), "a\n b");
        assert_eq!(json("[\"</script><!--\"]"), "[\"\\u003c/script>\\u003c!--\"]");
        assert_eq!(shell("up-03"), "up-03");
        assert_eq!(shell("it's $HOME"), "'it'\\''s $HOME'");
        assert_eq!(shell(""), "''");
        assert_eq!(path(&["..".to_owned(), "a b#ä".to_owned()]), "../a%20b%23%C3%A4");
    }
}
