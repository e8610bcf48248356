//! JSON that may be cut off in its last record.

use planner::Value;
use serde::de::DeserializeOwned;

use crate::error::ImportError;
use crate::source::Source;

/// How many characters of what was dropped are shown.
const SHOWN: usize = 60;

/// Reads one document. A tuner that was killed leaves its file without its end: then everything up to the last whole
/// record counts, a record being what stands at depth two (`cache` or `results`), and a note says what was dropped.
pub(crate) fn document<T: DeserializeOwned>(source: &Source, notes: &mut Vec<String>) -> Result<T, ImportError> {
    let text = source.text()?;
    let failed = |error: serde_json::Error| ImportError::Json {
        file: source.name.clone(),
        message: error.to_string(),
    };
    match serde_json::from_str(text) {
        Err(error) if error.is_eof() => {
            let Some((end, closed)) = whole_records(text) else {
                return Err(failed(error));
            };
            let dropped = text[end..].trim_matches(|c: char| c.is_whitespace() || c == ',');
            notes.push(if dropped.is_empty() {
                format!(
                    "`{}` lacks its end, as files of a tuner that was stopped do; no record was cut",
                    source.name
                )
            } else {
                let shown: String = dropped
                    .chars()
                    .take(SHOWN)
                    .map(|c| if c.is_control() { ' ' } else { c })
                    .collect();
                format!(
                    "`{}` is cut off: its last record was dropped ({} bytes: `{shown}`{})",
                    source.name,
                    dropped.len(),
                    if dropped.chars().count() > SHOWN { " ..." } else { "" }
                )
            });
            serde_json::from_str(&format!("{}{closed}", &text[..end])).map_err(failed)
        }
        other => other.map_err(failed),
    }
}

/// Where the last whole record ends, and what closes the document there.
fn whole_records(text: &str) -> Option<(usize, String)> {
    let mut open: Vec<u8> = Vec::new();
    let mut last = None;
    let (mut in_text, mut escaped) = (false, false);
    for (at, byte) in text.bytes().enumerate() {
        if in_text {
            match byte {
                _ if escaped => escaped = false,
                b'\\' => escaped = true,
                b'"' => in_text = false,
                _ => {}
            }
            continue;
        }
        match byte {
            b'"' => in_text = true,
            b'{' => open.push(b'}'),
            b'[' => open.push(b']'),
            b'}' | b']' => {
                open.pop();
                if open.len() == 2 {
                    let closed = open.iter().rev().map(|&b| char::from(b)).collect();
                    last = Some((at + 1, closed));
                }
            }
            _ => {}
        }
    }
    last
}

/// A value of a configuration: a list or a table becomes its JSON text. `None` for `null`.
pub(crate) fn value(json: &serde_json::Value) -> Option<Value> {
    Some(match json {
        serde_json::Value::Null => return None,
        serde_json::Value::Bool(b) => Value::Boolean(*b),
        serde_json::Value::Number(n) => match (n.as_i64(), n.as_f64()) {
            (Some(n), _) => Value::Integer(n),
            (None, Some(x)) => Value::Float(x),
            (None, None) => return None,
        },
        serde_json::Value::String(word) => Value::Text(word.clone()),
        other => Value::Text(other.to_string()),
    })
}

/// Entries of an object, in the order of the file.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Ordered<T>(pub(crate) Vec<(String, T)>);

impl<T> Ordered<T> {
    pub(crate) fn get(&self, name: &str) -> Option<&T> {
        self.0.iter().find(|(own, _)| own == name).map(|(_, value)| value)
    }
}

impl<'de, T: serde::Deserialize<'de>> serde::Deserialize<'de> for Ordered<T> {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Entries<T>(std::marker::PhantomData<T>);
        impl<'de, T: serde::Deserialize<'de>> serde::de::Visitor<'de> for Entries<T> {
            type Value = Ordered<T>;
            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("an object")
            }
            fn visit_map<A: serde::de::MapAccess<'de>>(self, mut map: A) -> Result<Ordered<T>, A::Error> {
                let mut entries = Vec::new();
                while let Some(entry) = map.next_entry()? {
                    entries.push(entry);
                }
                Ok(Ordered(entries))
            }
        }
        deserializer.deserialize_map(Entries(std::marker::PhantomData))
    }
}

#[cfg(test)]
mod tests {
    use super::whole_records;

    #[test]
    fn the_last_whole_record_is_found() {
        let whole = r#"{"cache": {"a": {"t": [1, 2], "s": "}]\"{"}, "b": {"t": [3]}"#;
        assert_eq!(whole_records(whole), Some((whole.len(), "}}".to_owned())));
        let cut = &whole[..whole.len() - 1];
        assert_eq!(
            &whole[..whole_records(cut).unwrap().0],
            r#"{"cache": {"a": {"t": [1, 2], "s": "}]\"{"}"#
        );
        assert_eq!(
            whole_records(r#"{"results": [{"a": 1}, {"#),
            Some((21, "]}".to_owned()))
        );
        assert_eq!(whole_records(r#"{"cache": "#), None);
    }
}
