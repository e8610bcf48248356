//! Texts with placeholders: `{name}`, and `{{` and `}}` for braces.

use planner::{Attributes, Value};
use target_api::OptionError;

use crate::constraint_text;
use crate::place::{Place, Role};

/// A text that was taken apart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Template(Vec<Piece>);

/// A part of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Piece {
    Text(String),
    Parameter(String),
    Place(Place),
}

/// What placeholders are filled with.
#[derive(Debug, Clone, Default)]
pub(crate) struct Filling<'a> {
    /// Names of the workload's operations, in order.
    pub(crate) operations: Vec<&'a str>,
    /// The plan's attributes.
    pub(crate) attributes: Option<&'a Attributes>,
    pub(crate) artifact: Option<String>,
    pub(crate) case_dir: String,
    pub(crate) cohort: String,
    pub(crate) run_log: String,
    pub(crate) device: String,
    pub(crate) device_lock: Option<String>,
    pub(crate) plan: String,
    pub(crate) mapping: String,
    /// Whether the tile mapping changes nothing.
    pub(crate) identity: bool,
}

/// A text with everything filled in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Filled {
    pub(crate) text: String,
    /// Whether a placeholder in it has nothing to say.
    pub(crate) silent: bool,
}

impl Template {
    /// Takes `text` apart; `key` is its path in the definition. Names must be those of parameters or places.
    pub(crate) fn parse(key: &str, text: &str, role: Role, parameters: &[&str]) -> Result<Self, OptionError> {
        let wrong = |start: usize, end: usize, message: String| OptionError {
            key: format!("{key}:{start}..{end}"),
            message,
        };
        let mut pieces = Vec::new();
        let mut plain = String::new();
        let mut at = 0;
        while let Some(rest) = text.get(at..).filter(|rest| !rest.is_empty()) {
            let brace = rest.find(['{', '}']).unwrap_or(rest.len());
            plain.push_str(&rest[..brace]);
            at += brace;
            let rest = &rest[brace..];
            if rest.is_empty() {
                break;
            }
            if rest.starts_with("{{") || rest.starts_with("}}") {
                plain.push_str(&rest[..1]);
                at += 2;
                continue;
            }
            if rest.starts_with('}') {
                let message = "a `}` that closes nothing\nhelp: a brace itself is written twice: `}}`".to_owned();
                return Err(wrong(at, at + 1, message));
            }
            let Some(end) = rest.find('}') else {
                let message = "a `{` that nothing closes\nhelp: a brace itself is written twice: `{{`".to_owned();
                return Err(wrong(at, text.len(), message));
            };
            let name = &rest[1..end];
            let span = (at, at + end + 1);
            if !plain.is_empty() {
                pieces.push(Piece::Text(std::mem::take(&mut plain)));
            }
            pieces.push(piece(name, role, parameters).map_err(|message| wrong(span.0, span.1, message))?);
            at += end + 1;
        }
        if !plain.is_empty() {
            pieces.push(Piece::Text(plain));
        }
        Ok(Self(pieces))
    }

    /// The places that it names.
    pub(crate) fn places(&self) -> impl Iterator<Item = &Place> {
        self.0.iter().filter_map(|piece| match piece {
            Piece::Place(place) => Some(place),
            Piece::Text(_) | Piece::Parameter(_) => None,
        })
    }

    /// The parameters that it names.
    pub(crate) fn parameters(&self) -> impl Iterator<Item = &str> {
        self.0.iter().filter_map(|piece| match piece {
            Piece::Parameter(name) => Some(name.as_str()),
            Piece::Text(_) | Piece::Place(_) => None,
        })
    }

    /// The text with everything filled in.
    pub(crate) fn fill(&self, with: &Filling<'_>) -> Filled {
        let mut filled = Filled {
            text: String::new(),
            silent: false,
        };
        for piece in &self.0 {
            match piece {
                Piece::Text(text) => filled.text.push_str(text),
                Piece::Parameter(name) => {
                    let value = with.attributes.and_then(|attributes| attributes.get(name));
                    let value = value.map(Value::to_string).unwrap_or_default();
                    filled.silent |= value.is_empty();
                    filled.text.push_str(&value);
                }
                Piece::Place(place) => {
                    let (text, silent) = with.place(place);
                    filled.silent |= silent;
                    filled.text.push_str(&text);
                }
            }
        }
        filled
    }
}

impl Filling<'_> {
    /// What a place is, and whether it has nothing to say.
    fn place(&self, place: &Place) -> (String, bool) {
        match place {
            Place::Artifact => (self.artifact.clone().unwrap_or_default(), self.artifact.is_none()),
            Place::CaseDir => (self.case_dir.clone(), false),
            Place::Cohort => (self.cohort.clone(), false),
            Place::RunLog => (self.run_log.clone(), false),
            Place::Device => (self.device.clone(), false),
            Place::DeviceLock => (self.device_lock.clone().unwrap_or_default(), self.device_lock.is_none()),
            Place::Plan => (self.plan.clone(), false),
            Place::Mapping => (self.mapping.clone(), self.identity),
            Place::Constraint(operation) => {
                let index = self.operations.iter().position(|own| own == operation);
                let text = index.zip(self.attributes);
                let text = text.map(|(index, attributes)| constraint_text::text(index, operation, attributes));
                (text.unwrap_or_default(), false)
            }
        }
    }
}

fn piece(name: &str, role: Role, parameters: &[&str]) -> Result<Piece, String> {
    if parameters.contains(&name) {
        return Ok(Piece::Parameter(name.to_owned()));
    }
    let Some(place) = Place::named(name) else {
        let allowed = Place::names().filter(|name| {
            let place = Place::named(name);
            place.is_some_and(|place| role.refuses(&place).is_none())
        });
        let quoted = |name: &str| format!("`{{{name}}}`");
        let own = parameters.iter().map(|name| quoted(name));
        let names: Vec<String> = own.chain(allowed.map(quoted)).collect();
        return Err(format!(
            "no placeholder is called `{{{name}}}`: expected {}\nhelp: a brace itself is written twice: `{{{{`",
            names.join(", ")
        ));
    };
    match role.refuses(&place) {
        Some(reason) => Err(format!("`{{{name}}}` can't stand here: {reason}")),
        None => Ok(Piece::Place(place)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fill(text: &str) -> Filled {
        let attributes: Attributes = [
            ("tile".to_owned(), Value::Integer(8)),
            ("mode".to_owned(), Value::text("a b")),
            ("empty".to_owned(), Value::text("")),
        ]
        .into_iter()
        .collect();
        let filling = Filling {
            attributes: Some(&attributes),
            artifact: Some("/x/artifact".to_owned()),
            run_log: "/x/run.log".to_owned(),
            identity: true,
            mapping: "/x/tile-mapping.json".to_owned(),
            ..Filling::default()
        };
        Template::parse("k", text, Role::Round, &["tile", "mode", "empty"])
            .unwrap()
            .fill(&filling)
    }

    #[test]
    fn placeholders_are_filled_and_braces_are_doubled() {
        for (text, expected, silent) in [
            ("", "", false),
            ("plain", "plain", false),
            ("-DTILE={tile}", "-DTILE=8", false),
            ("{tile}{tile}", "88", false),
            ("{{tile}}", "{tile}", false),
            ("{{{tile}}}", "{8}", false),
            ("{{\"a\": {tile}}}", "{\"a\": 8}", false),
            ("é{tile}é", "é8é", false),
            ("{mode}", "a b", false),
            ("$(rm) `x` {artifact}", "$(rm) `x` /x/artifact", false),
            ("{run_log}", "/x/run.log", false),
            ("{empty}", "", true),
            ("{device_lock}", "", true),
            ("--map={mapping}", "--map=/x/tile-mapping.json", true),
        ] {
            let expected = Filled {
                text: expected.to_owned(),
                silent,
            };
            assert_eq!(fill(text), expected, "{text}");
        }
    }

    #[test]
    fn every_slip_has_its_place() {
        for (text, role, key) in [
            ("-D{tiel}", Role::Round, "k:2..8"),
            ("é{}", Role::Round, "k:2..4"),
            ("a}b", Role::Round, "k:1..2"),
            ("ab{tile", Role::Round, "k:2..7"),
            ("{{{", Role::Round, "k:2..3"),
            ("{case_dir}", Role::Build, "k:0..10"),
            ("x{artifact}", Role::Environment, "k:1..11"),
        ] {
            assert_eq!(
                Template::parse("k", text, role, &["tile"]).unwrap_err().key,
                key,
                "{text}"
            );
        }
    }
}
