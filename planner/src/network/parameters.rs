//! Parameters of a network: the file's own, those that are set, and what must hold of them.

use super::document::{ConstraintEntry, Document};
use super::scope::Scope;
use crate::definition::{DefinitionError, Located, Source};
use crate::expression::is_name;
use crate::value::Value;

/// Larger extents and parameters are an error: products of six extents must stay below 2^127.
pub(super) const MOST_EXTENT: i64 = 1 << 40;

/// Parameters that are set, each with the file's own value.
#[derive(Default)]
pub(super) struct Settings(Vec<(String, i64, Value)>);

impl Settings {
    /// The error, with the parameters that are set: one of them may have led to it.
    pub(super) fn noted(&self, error: DefinitionError) -> DefinitionError {
        if self.0.is_empty() {
            return error;
        }
        let own = error.help.clone().into_iter();
        let set = self
            .0
            .iter()
            .map(|(name, to, own)| format!("`{name}` is set to {to} (the file has {own})"));
        let help: Vec<String> = own.chain(set).collect();
        error.help(help.join("; "))
    }
}

/// All parameters by name. Those that are `given` take other values than the file's own, and what depends on them follows.
pub(super) fn parameters(
    source: &Source,
    document: &Document,
    given: &[(String, i64)],
) -> Result<(Scope, Settings), DefinitionError> {
    for (at, (name, n)) in given.iter().enumerate() {
        if let Some((_, before)) = given[..at].iter().find(|(other, _)| other == name) {
            let message = format!("`{name}` is set twice, to {before} and to {n}: expected one value");
            return Err(source.error(&document.name.span, message));
        }
    }
    let mut scope = Scope::default();
    let mut settings = Settings::default();
    for (name, written) in document.parameters.iter() {
        if !is_name(name) {
            let message = format!("`{}` can't be a name in an expression: expected a word", name.value);
            return Err(source.error(&name.span, message));
        }
        let own = scope
            .evaluate(source, name, written)
            .map_err(|error| settings.noted(error))?;
        match given.iter().find(|(other, _)| *other == name.value) {
            Some((_, n)) => {
                check_setting(source, name, &own, *n)?;
                scope.set(name, Value::Integer(*n));
                settings.0.push((name.value.clone(), *n, own));
            }
            None => scope.set(name, own),
        }
    }
    if let Some((unknown, _)) = given.iter().find(|(name, _)| scope.get(name).is_none()) {
        let known: Vec<String> = scope.values().iter().map(|(name, _)| format!("`{name}`")).collect();
        let message = format!("no parameter is called `{unknown}`: expected {}", known.join(", "));
        return Err(source.error(&document.name.span, message));
    }
    for constraint in &document.constraint {
        check(source, &scope, constraint).map_err(|error| settings.noted(error))?;
    }
    Ok((scope, settings))
}

/// Whether a parameter can be set to `n`: what the file has as at least 1 is an extent or a count, and stays one.
fn check_setting(source: &Source, name: &Located<String>, own: &Value, n: i64) -> Result<(), DefinitionError> {
    let expected = match own {
        Value::Integer(own) if *own >= 1 => format!("expected a whole number from 1 to 2^40; the file has {own}"),
        Value::Integer(own) => format!("expected a whole number from -2^40 to 2^40; the file has {own}"),
        other => format!(
            "the file has the {} {other}, only whole numbers can be set",
            other.kind()
        ),
    };
    let least = match own {
        Value::Integer(1..) => Some(1),
        Value::Integer(_) => Some(-MOST_EXTENT),
        _ => None,
    };
    if least.is_some_and(|least| (least..=MOST_EXTENT).contains(&n)) {
        return Ok(());
    }
    Err(source.error(&name.span, format!("`{}` is set to {n}: {expected}", name.value)))
}

/// Fails where a constraint does not hold, with its reason.
fn check(source: &Source, scope: &Scope, constraint: &ConstraintEntry) -> Result<(), DefinitionError> {
    let holds = &constraint.holds;
    match scope.refusal(source, "holds", holds, &holds.span)? {
        None => Ok(()),
        Some(refusal) => Err(source.error(&holds.span, refusal).help(constraint.because.clone())),
    }
}
