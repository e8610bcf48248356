//! Foreign measurements of kernels: tables with named columns, CSV or a JSON list of objects.
//!
//! Columns by name: `kernel` (or one kernel for the whole file); the value under the clock's unit (`cycles`, `ns`) or
//! `value`; `calls`, `certified`, `times`, `disturbed` as in [`KernelSample`]; `logical.NAME` and `physical.NAME` are
//! extents; every other column is a scalar argument, and an empty cell none.

use std::collections::BTreeMap;

use planner::Value;
use target_api::{Clock, KernelProfile, KernelSample};

use crate::error::CalibrateError;

/// How a table is read.
#[derive(Debug, Clone)]
pub struct ImportOptions {
    /// What counted.
    pub clock: Clock,
    /// The kernel of every row, where the table has no column `kernel`.
    pub kernel: Option<String>,
    /// Columns that say nothing of a call: notes, sources.
    pub ignore: Vec<String>,
}

/// Reads a table; `path` is only shown in messages. A JSON file may also be a [`KernelProfile`] itself.
pub fn read(path: &str, text: &str, options: &ImportOptions) -> Result<KernelProfile, CalibrateError> {
    let failed = |message: String| CalibrateError::Import {
        path: path.to_owned(),
        message,
    };
    let start = text.trim_start();
    if start.starts_with('{') {
        return serde_json::from_str(text).map_err(|error| failed(format!("no kernel profile: {error}")));
    }
    let rows = if start.starts_with('[') {
        json_rows(text)
    } else {
        csv_rows(text)
    }
    .map_err(failed)?;
    let mut samples = Vec::new();
    for (place, cells) in rows {
        let sample = sample(cells, options).map_err(|message| failed(format!("{place}: {message}")))?;
        samples.push(sample);
    }
    if samples.is_empty() {
        return Err(failed("it has no rows".to_owned()));
    }
    Ok(KernelProfile {
        clock: options.clock.clone(),
        samples,
    })
}

/// Where a row stands, and its cells that are not empty.
type Row = (String, Vec<(String, Value)>);

fn json_rows(text: &str) -> Result<Vec<Row>, String> {
    let rows: Vec<BTreeMap<String, Option<Value>>> =
        serde_json::from_str(text).map_err(|error| format!("expected a list of flat objects: {error}"))?;
    let row = |(at, cells): (usize, BTreeMap<String, Option<Value>>)| {
        let cells = cells.into_iter().filter_map(|(name, value)| Some((name, value?)));
        (format!("object {}", at + 1), cells.collect())
    };
    Ok(rows.into_iter().enumerate().map(row).collect())
}

fn csv_rows(text: &str) -> Result<Vec<Row>, String> {
    let mut reader = csv::ReaderBuilder::new()
        .trim(csv::Trim::All)
        .from_reader(text.as_bytes());
    let header = reader.headers().map_err(|error| error.to_string())?.clone();
    let mut rows = Vec::new();
    for record in reader.records() {
        let record = record.map_err(|error| error.to_string())?;
        let line = record.position().map_or(0, csv::Position::line);
        let cells = header.iter().zip(&record).filter(|(_, cell)| !cell.is_empty());
        let cells = cells.map(|(name, cell)| (name.to_owned(), value(cell))).collect();
        rows.push((format!("line {line}"), cells));
    }
    Ok(rows)
}

fn value(cell: &str) -> Value {
    if let Ok(n) = cell.parse::<i64>() {
        Value::Integer(n)
    } else if let Some(x) = cell.parse::<f64>().ok().filter(|x| x.is_finite()) {
        Value::Float(x)
    } else if let Ok(b) = cell.parse::<bool>() {
        Value::Boolean(b)
    } else {
        Value::text(cell)
    }
}

fn sample(cells: Vec<(String, Value)>, options: &ImportOptions) -> Result<KernelSample, String> {
    let mut sample = KernelSample::call("", [], f64::NAN);
    let mut arguments = BTreeMap::new();
    let mut kernel = options.kernel.clone();
    for (name, value) in cells {
        let wrong = |expected: &str| format!("`{name}` is {value}: expected {expected}");
        let count = || value.as_integer().and_then(|n| u64::try_from(n).ok());
        let count = || count().ok_or_else(|| wrong("a whole number of zero or more"));
        let truth = || value.as_boolean().ok_or_else(|| wrong("`true` or `false`"));
        match name.as_str() {
            _ if options.ignore.contains(&name) => {}
            "kernel" => kernel = Some(value.to_string()),
            "calls" => sample.calls = count()?,
            "times" => sample.times = count()?,
            "certified" => sample.certified = truth()?,
            "disturbed" => sample.disturbed = truth()?,
            "value" => sample.value = value.as_float().ok_or_else(|| wrong("a number"))?,
            unit if unit == options.clock.unit => sample.value = value.as_float().ok_or_else(|| wrong("a number"))?,
            own => match own.split_once('.') {
                Some(("logical", extent)) => _ = sample.logical.insert(extent.to_owned(), count()?),
                Some(("physical", extent)) => _ = sample.physical.insert(extent.to_owned(), count()?),
                _ => _ = arguments.insert(own.to_owned(), value.clone()),
            },
        }
    }
    if sample.value.is_nan() {
        return Err(format!(
            "it has no value: expected a column `{}` or `value`",
            options.clock.unit
        ));
    }
    sample.kernel = kernel.ok_or("it has no `kernel`: expected a column, or one kernel for the whole file")?;
    sample.arguments = (!arguments.is_empty()).then_some(arguments);
    Ok(sample)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options() -> ImportOptions {
        ImportOptions {
            clock: Clock {
                name: "tile".to_owned(),
                unit: "cycles".to_owned(),
                hz: None,
            },
            kernel: None,
            ignore: vec!["source".to_owned()],
        }
    }

    #[test]
    fn both_forms_say_the_same() {
        let csv = "kernel,rows,alpha,physical.k,calls,certified,cycles,source\n\
                   gemm,184,0.5,288,2,true,97308,a\ngemm,,,,,,5,b\n";
        let json = r#"[
            {"kernel": "gemm", "rows": 184, "alpha": 0.5, "physical.k": 288, "calls": 2, "certified": true, "cycles": 97308},
            {"kernel": "gemm", "rows": null, "cycles": 5.0, "source": "b"}]"#;
        let (a, b) = (
            read("a.csv", csv, &options()).unwrap(),
            read("b.json", json, &options()).unwrap(),
        );
        assert_eq!(a, b);
        assert_eq!((a.samples[0].calls, a.samples[0].certified), (2, true));
        assert_eq!(a.samples[0].physical["k"], 288);
        assert_eq!(a.samples[1].arguments, None);
        let again = serde_json::to_string(&a).unwrap();
        assert_eq!(read("c.json", &again, &options()).unwrap(), a);
    }

    #[test]
    fn slips_are_named_with_their_place() {
        for (text, words) in [
            ("kernel,rows\ngemm,3\n", "line 2: it has no value"),
            ("rows,cycles\n3,4\n", "line 2: it has no `kernel`"),
            ("kernel,calls,cycles\ngemm,many,4\n", "expected a whole number"),
            ("kernel,cycles\n", "no rows"),
            ("[{\"kernel\": \"gemm\", \"cycles\": [1]}]", "flat objects"),
        ] {
            let shown = read("x", text, &options()).unwrap_err().to_string();
            assert!(shown.contains(words), "{shown}");
        }
    }
}
