//! Text that the shipped font can draw.

use std::fmt::Write as _;
use std::sync::OnceLock;

use ab_glyph::{Font, FontRef};

use super::picture::FONT;

/// Characters of a text with escapes at most, unless it was longer without them: labels are laid out for so many.
const MOST: usize = 40;

/// The text with every character that the shipped font lacks (Chinese, say) as its code, `\u6a21`, where an empty box
/// would say nothing; the middle is left out of what grows too long. Text that the font has comes back as it is.
pub(super) fn drawable(text: &str) -> String {
    if text.is_ascii() || text.chars().all(is_there) {
        return text.to_owned();
    }
    let mut escaped = String::new();
    for c in text.chars() {
        match u32::from(c) {
            _ if is_there(c) => escaped.push(c),
            code @ 0..0x1_0000 => {
                let _ = write!(escaped, "\\u{code:04x}");
            }
            code => {
                let _ = write!(escaped, "\\u{{{code:x}}}");
            }
        }
    }
    let most = MOST.max(text.chars().count());
    let chars: Vec<char> = escaped.chars().collect();
    if chars.len() <= most {
        return escaped;
    }
    let (head, tail) = ((most - 1).div_ceil(2), (most - 1) / 2);
    let (head, tail) = (chars[..head].iter(), chars[chars.len() - tail..].iter());
    format!("{}…{}", head.collect::<String>(), tail.collect::<String>())
}

/// Whether the font has it. A font that can't be read is an error elsewhere.
fn is_there(c: char) -> bool {
    static READ: OnceLock<Option<FontRef<'static>>> = OnceLock::new();
    let font = READ.get_or_init(|| FontRef::try_from_slice(FONT).ok());
    font.as_ref().is_none_or(|font| font.glyph_id(c).0 != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_font_lacks_is_told_by_its_code() {
        assert_eq!(drawable("größe 4×8 …"), "größe 4×8 …");
        assert_eq!(drawable("模型 a"), "\\u6a21\\u578b a");
        assert_eq!(drawable("x\u{20000}"), "x\\u{20000}");
        let long = drawable(&"模".repeat(12));
        assert_eq!(long.chars().count(), 40);
        assert!(long.starts_with("\\u6a21\\u6a21") && long.contains('…') && long.ends_with("\\u6a21"));
        assert_eq!(drawable(&"a".repeat(90)).len(), 90);
    }
}
