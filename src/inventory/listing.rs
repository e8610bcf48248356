//! Which networks ship, and what a network file can say.

use planner::network::{BUILT_IN, FieldAbout, OPERATIONS, parse};
use serde::Serialize;

use super::Form;
use super::spreadsheet;
use crate::failure::Failure;
use crate::output::{print, print_json, table};

#[derive(Serialize)]
struct Listed {
    network: &'static str,
    models: String,
    parameters: String,
    about: String,
}

#[derive(Serialize)]
struct Operation {
    op: &'static str,
    fields: Vec<String>,
    about: &'static str,
}

/// Lists networks, or operations.
pub(super) fn list(operations: bool, form: Form) -> Result<(), Failure> {
    if operations {
        return operations_of(form);
    }
    let listed = BUILT_IN
        .iter()
        .map(|file| {
            let network = parse(file.path, file.text, &[]).map_err(|error| Failure::usage(error.to_string()))?;
            let models = network
                .models
                .iter()
                .map(|model| format!("{} x{}", model.name, model.passes));
            let parameters = network
                .parameters
                .iter()
                .map(|(name, value)| format!("{name} = {value}"));
            Ok(Listed {
                network: file.name,
                models: models.collect::<Vec<_>>().join(", "),
                parameters: parameters.collect::<Vec<_>>().join(", "),
                about: network.about.clone(),
            })
        })
        .collect::<Result<Vec<Listed>, Failure>>()?;
    if form == Form::Json {
        return print_json(&listed);
    }
    let head = ["network", "models and passes", "parameters", "what it is"];
    let rows: Vec<Vec<String>> = listed
        .into_iter()
        .map(|own| vec![own.network.to_owned(), own.models, own.parameters, own.about])
        .collect();
    show(&head, rows, form)
}

fn operations_of(form: Form) -> Result<(), Failure> {
    let listed = OPERATIONS.iter().map(|operation| Operation {
        op: operation.name,
        fields: operation.fields.iter().map(FieldAbout::words).collect(),
        about: operation.about,
    });
    if form == Form::Json {
        return print_json(&listed.collect::<Vec<_>>());
    }
    let rows = listed
        .map(|own| vec![own.op.to_owned(), own.fields.join(", "), own.about.to_owned()])
        .collect();
    show(&["op", "fields", "what it is"], rows, form)
}

fn show(head: &[&str], rows: Vec<Vec<String>>, form: Form) -> Result<(), Failure> {
    if form == Form::Csv {
        print(&spreadsheet::csv(head, &rows)?);
    } else {
        print(&table(head, rows));
    }
    Ok(())
}
