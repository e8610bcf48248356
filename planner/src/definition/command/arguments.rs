//! One entry of an argument list.

use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::{SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};

/// One entry of an argument list; both forms may hold placeholders.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Argument {
    /// One argument.
    One(String),
    /// Several arguments that are left out together where a placeholder in them has nothing to say: the identity as
    /// tile mapping, a device lock where there is none, an empty text.
    Group(Vec<String>),
}

impl Argument {
    /// The arguments, each with its place in the group (`None` outside one).
    pub fn texts(&self) -> impl Iterator<Item = (Option<usize>, &str)> {
        let (one, group) = match self {
            Self::One(text) => (Some((None, text.as_str())), [].as_slice()),
            Self::Group(texts) => (None, texts.as_slice()),
        };
        let group = group.iter().enumerate().map(|(at, text)| (Some(at), text.as_str()));
        one.into_iter().chain(group)
    }
}

impl<'de> Deserialize<'de> for Argument {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct TextOrList;
        impl<'de> Visitor<'de> for TextOrList {
            type Value = Argument;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a text, or a list of texts that are left out together")
            }
            fn visit_str<E>(self, text: &str) -> Result<Argument, E> {
                Ok(Argument::One(text.to_owned()))
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Argument, A::Error> {
                let mut texts = Vec::new();
                while let Some(text) = items.next_element()? {
                    texts.push(text);
                }
                Ok(Argument::Group(texts))
            }
        }
        deserializer.deserialize_any(TextOrList)
    }
}

impl JsonSchema for Argument {
    fn schema_name() -> Cow<'static, str> {
        "Argument".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        schemars::json_schema!({
            "description": "one argument, or a list of arguments that are left out together where a placeholder in them has nothing to say",
            "anyOf": [{ "type": "string" }, { "type": "array", "items": { "type": "string" } }]
        })
    }
}
