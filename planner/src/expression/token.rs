//! Text to tokens.

use super::error::{ExpressionError, ExpressionErrorKind};
use super::tree::Span;

/// One token; numbers keep their value, names their text.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Token {
    /// Below or equal to 2^63: the parser decides, as it sees the minus before it.
    Integer(u64),
    Float(f64),
    Text(String),
    /// A parameter, a function, or a word of the language.
    Word(String),
    /// One of [`SIGNS`].
    Sign(&'static str),
    End,
}

impl Token {
    /// As messages name it.
    pub(super) fn describe(&self) -> String {
        match self {
            Self::Integer(n) => format!("`{n}`"),
            Self::Float(x) => format!("`{x:?}`"),
            Self::Text(_) => "a text".to_owned(),
            Self::Word(word) => format!("`{word}`"),
            Self::Sign(sign) => format!("`{sign}`"),
            Self::End => "the end".to_owned(),
        }
    }
}

/// Longest first, so that `**` is not read as two `*`.
const SIGNS: [&str; 19] = [
    "**", "//", "==", "!=", "<=", ">=", "+", "-", "*", "/", "%", "<", ">", "(", ")", "[", "]", ",", "=",
];

/// Signs of other languages, with what is written here.
const FOREIGN: [(&str, &str); 8] = [
    ("&&", "write `and`"),
    ("||", "write `or`"),
    ("!", "write `not`"),
    ("^", "powers are written `**`"),
    ("&", "bit operations are not supported; for booleans write `and`"),
    ("|", "bit operations are not supported; for booleans write `or`"),
    ("~", "bit operations are not supported; for booleans write `not`"),
    ("{", "lists are written `(1, 2)` or `[1, 2]`"),
];

/// Longest text that is accepted, in bytes.
pub(super) const MAX_BYTES: usize = 16_384;

/// All tokens of `text` with their places; the last one is [`Token::End`].
pub(super) fn tokens(text: &str) -> Result<Vec<(Token, Span)>, ExpressionError> {
    if text.len() > MAX_BYTES {
        let kind = ExpressionErrorKind::TooLong {
            bytes: text.len(),
            limit: MAX_BYTES,
        };
        // Only the beginning is shown: the text itself is the trouble.
        let shown: String = text.chars().take(40).collect();
        let span = Span::new(0, shown.len());
        return Err(ExpressionError::new(&shown, span, kind));
    }
    let mut lexer = Lexer { text, at: 0 };
    let mut tokens = Vec::new();
    loop {
        lexer.skip_space();
        let start = lexer.at;
        let token = lexer.token()?;
        let end = token == Token::End;
        tokens.push((token, Span::new(start, lexer.at)));
        if end {
            return Ok(tokens);
        }
    }
}

struct Lexer<'a> {
    text: &'a str,
    at: usize,
}

impl Lexer<'_> {
    fn rest(&self) -> &str {
        &self.text[self.at..]
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn skip_space(&mut self) {
        self.take_while(char::is_whitespace);
    }

    fn take_while(&mut self, mut keep: impl FnMut(char) -> bool) {
        while let Some(c) = self.peek().filter(|c| keep(*c)) {
            self.at += c.len_utf8();
        }
    }

    fn error(&self, start: usize, kind: ExpressionErrorKind) -> ExpressionError {
        ExpressionError::new(self.text, Span::new(start, self.at), kind)
    }

    fn token(&mut self) -> Result<Token, ExpressionError> {
        let Some(c) = self.peek() else { return Ok(Token::End) };
        let after = self.rest().chars().nth(1);
        if c.is_ascii_digit() || (c == '.' && after.is_some_and(|c| c.is_ascii_digit())) {
            return self.number();
        }
        if c == '\'' || c == '"' {
            return self.quoted(c);
        }
        if starts_name(c) {
            return Ok(self.word());
        }
        if let Some(sign) = SIGNS.into_iter().find(|sign| self.rest().starts_with(sign)) {
            self.at += sign.len();
            return Ok(Token::Sign(sign));
        }
        let start = self.at;
        let foreign = FOREIGN.into_iter().find(|(sign, _)| self.rest().starts_with(sign));
        let (sign, help) = match foreign {
            Some((sign, help)) => (sign.to_owned(), Some(help)),
            None => (c.to_string(), None),
        };
        self.at += sign.len();
        Err(self.error(start, ExpressionErrorKind::UnknownSign { sign, help }))
    }

    fn word(&mut self) -> Token {
        let start = self.at;
        loop {
            self.take_while(continues_name);
            let mut next = self.rest().chars();
            if next.next() == Some('.') && next.next().is_some_and(starts_name) {
                self.at += 1;
            } else {
                return Token::Word(self.text[start..self.at].to_owned());
            }
        }
    }

    fn number(&mut self) -> Result<Token, ExpressionError> {
        let start = self.at;
        let lower = self.rest().get(..2).unwrap_or_default().to_ascii_lowercase();
        let radix = match lower.as_str() {
            "0x" => 16,
            "0o" => 8,
            "0b" => 2,
            _ => 10,
        };
        let mut float = false;
        if radix == 10 {
            self.take_while(is_digit);
            if self.peek() == Some('.') {
                float = true;
                self.at += 1;
                self.take_while(is_digit);
            }
            let mut next = self.rest().chars();
            if matches!(next.next(), Some('e' | 'E')) {
                let sign = usize::from(matches!(next.clone().next(), Some('+' | '-')));
                if next.nth(sign).is_some_and(|c| c.is_ascii_digit()) {
                    float = true;
                    self.at += 1 + sign;
                    self.take_while(is_digit);
                }
            }
        } else {
            self.at += 2;
        }
        // Whatever is glued to the number belongs to the mistake: `2x`, `0x1g`, `1.5.2`.
        self.take_while(|c| continues_name(c) || c == '.');
        let written = &self.text[start..self.at];
        let misplaced = written.ends_with('_') || ["__", "_.", "._", "_e", "e_"].iter().any(|s| written.contains(s));
        let digits = written.replace('_', "");
        let value = if misplaced {
            None
        } else if float {
            digits.parse().ok().filter(|x: &f64| x.is_finite()).map(Token::Float)
        } else if radix != 10 {
            u64::from_str_radix(&digits[2..], radix).ok().map(Token::Integer)
        } else if digits.len() > 1 && digits.starts_with('0') && digits.contains(|c| c != '0') {
            // Python refuses `010` too: it once was an octal number.
            None
        } else {
            digits.parse().ok().map(Token::Integer)
        };
        let fits = |token: &Token| !matches!(token, Token::Integer(n) if *n > 1 << 63);
        value.filter(fits).ok_or_else(|| {
            self.error(
                start,
                ExpressionErrorKind::BadNumber {
                    written: written.to_owned(),
                },
            )
        })
    }

    fn quoted(&mut self, quote: char) -> Result<Token, ExpressionError> {
        let start = self.at;
        self.at += 1;
        let mut value = String::new();
        while let Some(c) = self.peek() {
            self.at += c.len_utf8();
            if c == quote {
                return Ok(Token::Text(value));
            }
            if c != '\\' {
                value.push(c);
                continue;
            }
            let escape_at = self.at - 1;
            let Some(escaped) = self.peek() else { break };
            self.at += escaped.len_utf8();
            value.push(match escaped {
                '\\' | '\'' | '"' => escaped,
                'n' => '\n',
                't' => '\t',
                _ => return Err(self.error(escape_at, ExpressionErrorKind::UnknownEscape { escaped })),
            });
        }
        Err(self.error(start, ExpressionErrorKind::UnclosedText { quote }))
    }
}

fn is_digit(c: char) -> bool {
    c.is_ascii_digit() || c == '_'
}

fn starts_name(c: char) -> bool {
    c.is_alphabetic() || c == '_'
}

fn continues_name(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// Whether `text` is one word, as names of parameters must be: `tile`, `up.inner`.
pub(super) fn is_word(text: &str) -> bool {
    let mut lexer = Lexer { text, at: 0 };
    lexer.peek().is_some_and(starts_name) && lexer.word() == Token::Word(text.to_owned())
}
