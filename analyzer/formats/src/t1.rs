//! T1 inputs: the definition of a search space, in the common format of the autotuning community, and CAFF, from which it
//! came. They become a sweep definition of target `command` that only lacks what builds and runs a configuration.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use planner::expression::Expression;
use planner::parameters::{Choices, ParameterTable, Parameters};
use planner::{Assignment, Value};
use serde::Deserialize;
use serde_json::Value as Json;

use crate::error::ImportError;
use crate::json;
use crate::registry::{Format, Ranks};
use crate::source::{Options, Source};
use crate::table::Contents;
use crate::values;

pub(crate) const FORMAT: Format = Format {
    name: "t1",
    about: "a search space in the FAIR format T1, or in CAFF (JSON); becomes a sweep definition",
    suits: |source| source.text().is_ok_and(|text| text.contains("\"ConfigurationSpace\"")),
    ranks: Ranks::Nothing,
    read,
};

/// Spaces up to this size are tried whole.
const WHOLE: u128 = 1_000;

#[derive(Deserialize)]
struct File {
    #[serde(rename = "ConfigurationSpace")]
    space: Option<Space>,
    #[serde(rename = "KernelSpecification", default)]
    kernel: BTreeMap<String, Json>,
}

#[derive(Deserialize)]
struct Space {
    #[serde(rename = "TuningParameters")]
    parameters: Option<Vec<Tuned>>,
    #[serde(rename = "Conditions", default)]
    conditions: Vec<Condition>,
}

#[derive(Deserialize)]
struct Tuned {
    #[serde(rename = "Name")]
    name: Option<String>,
    #[serde(rename = "Values")]
    values: Option<Json>,
    #[serde(rename = "Default")]
    default: Option<Json>,
}

#[derive(Deserialize)]
struct Condition {
    #[serde(rename = "Expression")]
    expression: Option<String>,
}

fn read(source: &Source, _: &Options, notes: &mut Vec<String>) -> Result<Contents, ImportError> {
    let file: File = json::document(source, notes)?;
    let space = file
        .space
        .ok_or_else(|| source.lacks("the file", &["ConfigurationSpace"]))?;
    let tuned = space.parameters;
    let tuned = tuned.ok_or_else(|| source.lacks("`ConfigurationSpace`", &["TuningParameters"]))?;
    let mut table = ParameterTable::default();
    let mut default = Assignment::new();
    for (at, one) in tuned.iter().enumerate() {
        let (Some(name), Some(written)) = (&one.name, &one.values) else {
            let lacking = [("Name", one.name.is_none()), ("Values", one.values.is_none())];
            let lacking = lacking.into_iter().filter(|(_, lacks)| *lacks).map(|(field, _)| field);
            return Err(source.lacks(format!("parameter {}", at + 1), &lacking.collect::<Vec<_>>()));
        };
        table
            .parameters
            .push((name.clone(), Choices::List(listed(source, name, written)?)));
        if let Some(value) = one.default.as_ref().and_then(json::value) {
            default.set(name, value);
        }
    }
    for (at, condition) in space.conditions.iter().enumerate() {
        let text = condition.expression.as_ref();
        let text = text.ok_or_else(|| source.lacks(format!("condition {}", at + 1), &["Expression"]))?;
        Expression::parse(text).map_err(|error| ImportError::Condition {
            file: source.name.clone(),
            text: text.clone(),
            source: Box::new(error),
        })?;
        table.constraints.push(text.clone());
    }
    let parameters = Parameters::new(&table).map_err(|error| source.bad("`ConfigurationSpace`", error.to_string()))?;
    let (space, _) = parameters.space();
    let whole = space.count().is_ok_and(|count| count <= WHOLE);
    let complete = default.len() == table.parameters.len();
    let has_control = complete && space.judge(&default).is_ok();
    if !has_control {
        notes.push("no default of every parameter that the conditions allow: the definition has no control".to_owned());
    }
    let kernel = ["KernelName", "KernelFile", "Language"].map(|field| file.kernel.get(field).and_then(Json::as_str));
    Ok(Contents::Definition(definition(
        source,
        &table,
        kernel,
        has_control.then_some(&default),
        whole,
    )))
}

fn listed(source: &Source, name: &str, written: &Json) -> Result<Vec<Value>, ImportError> {
    let failed = |message: String| ImportError::Values {
        file: source.name.clone(),
        parameter: name.to_owned(),
        text: written.as_str().map_or_else(|| written.to_string(), str::to_owned),
        message,
    };
    match written {
        Json::String(text) => values::parse(text.trim()).map_err(failed),
        Json::Array(all) => {
            let values: Option<Vec<Value>> = all.iter().map(json::value).collect();
            values.ok_or_else(|| failed("`null` is no value".to_owned()))
        }
        _ => Err(failed("expected a list".to_owned())),
    }
}

fn definition(
    source: &Source,
    table: &ParameterTable,
    [kernel, file, language]: [Option<&str>; 3],
    control: Option<&Assignment>,
    whole: bool,
) -> String {
    let mut out = format!(
        "# Parameters and conditions are those of `{}`. What builds and runs a configuration is not in it: put your own\n\
         # commands in place of `./run-one`, which must print `time_ms=...` and, if the result is right, `pass`.\n",
        one_line(&source.name)
    );
    if let Some(kernel) = kernel {
        let (file, language) = (file.unwrap_or("-"), language.unwrap_or("-"));
        let _ = writeln!(
            out,
            "# Kernel: {} in {} ({}).",
            one_line(kernel),
            one_line(file),
            one_line(language)
        );
    }
    out.push_str("\ntarget = \"command\"\n");
    if control.is_some() {
        out.push_str("control = \"default\"\n");
    }
    let arguments = table
        .parameters
        .iter()
        .map(|(name, _)| quoted(&format!("{name}={{{name}}}")));
    let arguments: Vec<String> = arguments.collect();
    let _ = write!(
        out,
        "\n[command]\nrun = [\n    \"./run-one\",\n    {},\n]\n\n[command.result]\n\
         time = {{ regex = '^time_ms=(\\S+)$', unit = \"ms\" }}\npass = {{ regex = '^pass$' }}\nobjective = \"time\"\n\n\
         [parameters]\n",
        arguments.join(",\n    ")
    );
    for (name, choices) in &table.parameters {
        let Choices::List(values) = choices else { continue };
        let values: Vec<String> = values.iter().map(written).collect();
        let _ = writeln!(out, "{name} = [{}]", values.join(", "));
    }
    if !table.constraints.is_empty() {
        let constraints: Vec<String> = table.constraints.iter().map(|text| quoted(text)).collect();
        let _ = writeln!(out, "constraints = [\n    {},\n]", constraints.join(",\n    "));
    }
    if let Some(control) = control {
        let plan: Vec<String> = control
            .iter()
            .map(|(name, value)| format!("{name} = {}", written(value)))
            .collect();
        let _ = write!(
            out,
            "\n[[case]]\nname = \"default\"\nfamily = \"control\"\nreason = \"the defaults of the file\"\nplan = {{ {} }}\n",
            plan.join(", ")
        );
    }
    let how = if whole {
        "exhaustive = true"
    } else {
        "random = { count = 100, seed = 1 }"
    };
    let _ = write!(out, "\n[explore]\n{how}\n\n[measure]\nrounds = 3\n");
    out
}

fn quoted(text: &str) -> String {
    toml::Value::String(text.to_owned()).to_string()
}

fn written(value: &Value) -> String {
    match value {
        Value::Text(word) => quoted(word),
        Value::Float(x) => format!("{x:?}"),
        other => other.to_string(),
    }
}

fn one_line(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}
