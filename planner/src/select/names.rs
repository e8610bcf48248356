//! Names of attributes and cases.

use std::collections::BTreeSet;

use crate::definition::{Definition, DefinitionError, Located};
use crate::space::Space;

/// What the names of a workload's cases begin with: nothing, or `<workload>/` when the definition has several.
#[must_use]
pub fn prefix(definition: &Definition, workload: &str) -> String {
    if definition.workloads.len() > 1 {
        format!("{workload}/")
    } else {
        String::new()
    }
}

/// Operation of an attribute's name; `None` for the whole plan.
pub(super) fn operation_of(name: &str) -> Option<&str> {
    name.split_once('.').map(|(operation, _)| operation)
}

/// The operations that parameters belong to, in the order of the space.
pub(super) fn operations(space: &Space) -> Vec<String> {
    let mut operations: Vec<String> = Vec::new();
    for parameter in &space.parameters {
        if let Some(operation) = operation_of(&parameter.name)
            && operations.iter().all(|known| known != operation)
        {
            operations.push(operation.to_owned());
        }
    }
    operations
}

/// The error about an attribute that no workload has, with the names that come nearest to it.
pub(super) fn unknown(definition: &Definition, known: &BTreeSet<String>, name: &Located<String>) -> DefinitionError {
    let mut expected: BTreeSet<String> = BTreeSet::new();
    let wanted = operation_of(name);
    for attribute in known {
        match (wanted, attribute.split_once('.')) {
            (Some("*"), Some((_, own))) => _ = expected.insert(format!("`*.{own}`")),
            (Some(operation), Some((theirs, _))) if operation == theirs => {
                _ = expected.insert(format!("`{attribute}`"));
            }
            (None, None) => _ = expected.insert(format!("`{attribute}`")),
            _ => {}
        }
    }
    if expected.is_empty() {
        let operations = known.iter().filter_map(|attribute| operation_of(attribute));
        expected = operations
            .map(|operation| format!("`{operation}.`"))
            .chain(["`*.`".to_owned()])
            .collect();
        let expected: Vec<String> = expected.into_iter().collect();
        let message = format!(
            "no attribute is called `{}`: expected a name that begins with {}",
            name.value,
            expected.join(", ")
        );
        return definition.error(&name.span, message);
    }
    let names: Vec<&str> = expected.iter().map(|name| name.trim_matches('`')).collect();
    let nearest = nearest(&name.value, &names).map(|name| format!("did you mean `{name}`?"));
    let expected: Vec<String> = expected.into_iter().collect();
    let message = format!(
        "no attribute is called `{}`: expected {}",
        name.value,
        expected.join(", ")
    );
    let error = definition.error(&name.span, message);
    match nearest {
        Some(help) => error.help(help),
        None => error,
    }
}

/// The name that is most like `wanted`, if one is like it at all. What belongs to an operation is compared by its own
/// part.
fn nearest<'n>(wanted: &str, names: &[&'n str]) -> Option<&'n str> {
    let own = |name: &'n str| name.split_once('.').map_or(name, |(_, own)| own);
    let wanted = wanted.split_once('.').map_or(wanted, |(_, own)| own);
    let scored = names
        .iter()
        .map(|name| (strsim::normalized_damerau_levenshtein(wanted, own(name)), *name));
    let (likeness, name) = scored.max_by(|a, b| a.0.total_cmp(&b.0).then_with(|| b.1.cmp(a.1)))?;
    (likeness >= 0.5).then_some(name)
}
