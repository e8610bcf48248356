//! Text that the shipped font can draw.

use std::sync::OnceLock;

use ab_glyph::{Font, FontRef};

use super::picture::FONT;

/// Characters of a label with escapes at most: labels are laid out for so many. Longer texts are sentences, which have
/// room.
const MOST: usize = 34;
/// Of so many characters in a row that the font lacks only the first and last two are told.
const ROW: usize = 4;

/// The text with every character that the shipped font lacks (Chinese, say) as its code, `\u6a21`, where an empty box
/// would say nothing; the middle is left out of what grows too long. Text that the font has comes back as it is.
pub(super) fn drawable(text: &str) -> String {
    let chars: Vec<char> = text.chars().collect();
    if chars.iter().copied().all(is_there) {
        return text.to_owned();
    }
    let mut escaped = String::new();
    for row in chars.chunk_by(|a, b| is_there(*a) == is_there(*b)) {
        if row.first().copied().is_some_and(is_there) {
            escaped.extend(row);
        } else if row.len() <= ROW {
            escaped.extend(row.iter().map(|c| code(*c)));
        } else {
            let (head, tail) = (&row[..2], &row[row.len() - 2..]);
            escaped.extend(head.iter().map(|c| code(*c)));
            escaped.push('…');
            escaped.extend(tail.iter().map(|c| code(*c)));
        }
    }
    if chars.len() > MOST {
        return escaped;
    }
    let chars: Vec<char> = escaped.chars().collect();
    if chars.len() <= MOST {
        return escaped;
    }
    let (head, tail) = ((MOST - 1).div_ceil(2), (MOST - 1) / 2);
    let (head, tail) = (chars[..head].iter(), chars[chars.len() - tail..].iter());
    format!("{}…{}", head.collect::<String>(), tail.collect::<String>())
}

/// A character's code, as many languages write it.
fn code(c: char) -> String {
    match u32::from(c) {
        code @ 0..0x1_0000 => format!("\\u{code:04x}"),
        code => format!("\\u{{{code:x}}}"),
    }
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
        assert_eq!(drawable(&"模".repeat(12)), r"\u6a21\u6a21…\u6a21\u6a21");
        let label = drawable("模型甲乙-列主序行-模型");
        assert_eq!(label.chars().count(), 34, "{label}");
        let sentence = "the control over the whole of the sweep: 模型 of mlp";
        assert_eq!(
            drawable(sentence),
            r"the control over the whole of the sweep: \u6a21\u578b of mlp"
        );
        assert_eq!(drawable(&"a".repeat(90)).len(), 90);
    }
}
