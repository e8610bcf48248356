//! Foreign measurements of kernels: tables with named columns, CSV or a JSON list of objects.
//!
//! Columns by name: `kernel` (or one kernel for the whole file); what was measured under its unit (`cycles`, `ns`), or as
//! `value` or `time`, with the unit behind it (`time_ns`, `time (ns)`) or without; `calls`, `certified`, `times`, `disturbed` as in
//! [`KernelSample`]; `logical.NAME` and `physical.NAME` are extents; every other column is a scalar argument, and an empty cell
//! none.

use std::collections::BTreeMap;

use formats::{Source, measured_in};
use planner::Value;
use target_api::{Clock, KernelProfile, KernelSample};

use crate::error::CalibrateError;

/// How a table is read.
#[derive(Debug, Clone)]
pub struct ImportOptions {
    /// Name of what counted.
    pub clock: String,
    /// What it counts, where the table does not say it.
    pub unit: Option<String>,
    /// Its frequency, where cycles are to be compared with time.
    pub hz: Option<f64>,
    /// The kernel of every row, where the table has no column `kernel`.
    pub kernel: Option<String>,
    /// Columns that say nothing of a call: notes, sources.
    pub ignore: Vec<String>,
}

/// Reads a table, and adds to `notes` what had to be left out. A JSON file may also be a [`KernelProfile`] itself.
///
/// Errors: a file of another form, a table without rows or without a column that was measured, a cell that is not what its
/// column wants.
pub fn read(
    source: &Source,
    options: &ImportOptions,
    notes: &mut Vec<String>,
) -> Result<KernelProfile, CalibrateError> {
    let failed = |message: String| CalibrateError::Import {
        path: source.name.clone(),
        message,
    };
    let text = source.text()?;
    let start = text.trim_start();
    if start.starts_with('{') {
        return serde_json::from_str(text).map_err(|error| failed(format!("no kernel profile: {error}")));
    }
    let (header, rows) = if start.starts_with('[') {
        json_rows(text).map_err(failed)?
    } else {
        let table = formats::rows(source, notes)?;
        let rows = table.lines.into_iter();
        let rows = rows.map(|(line, cells)| (format!("line {line}"), cells)).collect();
        (table.header, rows)
    };
    if rows.is_empty() {
        return Err(failed("it has no rows".to_owned()));
    }
    let (column, unit) = measured(&header, options).map_err(failed)?;
    let each = rows
        .into_iter()
        .map(|(place, cells)| sample(cells, &column, options).map_err(|message| failed(format!("{place}: {message}"))));
    Ok(KernelProfile {
        samples: each.collect::<Result<_, _>>()?,
        clock: Clock {
            name: options.clock.clone(),
            unit,
            hz: options.hz,
        },
    })
}

/// Where a row stands, and its cells that are not empty.
type Row = (String, Vec<(String, Value)>);

fn json_rows(text: &str) -> Result<(Vec<String>, Vec<Row>), String> {
    let rows: Vec<BTreeMap<String, Option<Value>>> =
        serde_json::from_str(text).map_err(|error| format!("expected a list of flat objects: {error}"))?;
    let mut header: Vec<String> = rows.iter().flat_map(BTreeMap::keys).cloned().collect();
    header.sort_unstable();
    header.dedup();
    let row = |(at, cells): (usize, BTreeMap<String, Option<Value>>)| {
        let cells = cells.into_iter().filter_map(|(name, value)| Some((name, value?)));
        (format!("object {}", at + 1), cells.collect())
    };
    Ok((header, rows.into_iter().enumerate().map(row).collect()))
}

/// The column that was measured, and its unit.
fn measured(header: &[String], options: &ImportOptions) -> Result<(String, String), String> {
    let wanted = options.unit.as_deref();
    let counts = header.iter().filter(|name| !options.ignore.contains(name));
    let said: Vec<(&String, Option<String>)> = counts
        .filter_map(|name| match measured_in(name) {
            Some((_, unit)) => Some((name, unit)),
            // Units of other kinds (`J`, `ticks`) as they were asked for.
            None => (wanted == Some(name.as_str())).then(|| (name, Some(name.clone()))),
        })
        .collect();
    let fits = |unit: &Option<String>| wanted.is_none() || unit.is_none() || unit.as_deref() == wanted;
    let example = wanted.unwrap_or("cycles");
    match (
        said.iter()
            .filter(|(_, unit)| fits(unit))
            .collect::<Vec<_>>()
            .as_slice(),
        said.as_slice(),
    ) {
        ([(name, unit)], _) => match unit.as_deref().or(wanted) {
            Some(unit) => Ok(((*name).clone(), unit.to_owned())),
            None => Err(format!(
                "nothing says in which unit `{name}` is: `--unit cycles` does, or a header that ends in it, as `time_ns` does"
            )),
        },
        ([(a, _), (b, _), ..], _) => Err(format!(
            "`{a}` and `{b}` may both be what was measured: leave one out with `--column ignore=HEADER`"
        )),
        ([], [(name, unit), ..]) => Err(format!(
            "`{name}` is in {}, and `--unit` says {example}",
            unit.as_deref().unwrap_or("another unit")
        )),
        ([], []) => Err(format!(
            "it has no value: expected a column `{example}`, `value` or `time_{example}`"
        )),
    }
}

fn sample(cells: Vec<(String, Value)>, column: &str, options: &ImportOptions) -> Result<KernelSample, String> {
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
            measured if measured == column => sample.value = value.as_float().ok_or_else(|| wrong("a number"))?,
            "kernel" => kernel = Some(value.to_string()),
            "calls" => sample.calls = count()?,
            "times" => sample.times = count()?,
            "certified" => sample.certified = truth()?,
            "disturbed" => sample.disturbed = truth()?,
            own => match own.split_once('.') {
                Some(("logical", extent)) => _ = sample.logical.insert(extent.to_owned(), count()?),
                Some(("physical", extent)) => _ = sample.physical.insert(extent.to_owned(), count()?),
                _ => _ = arguments.insert(own.to_owned(), value.clone()),
            },
        }
    }
    if sample.value.is_nan() {
        return Err(format!("`{column}` is empty: expected a number"));
    }
    sample.kernel = kernel.ok_or("it has no `kernel`: expected a column, or one kernel for the whole file")?;
    sample.arguments = (!arguments.is_empty()).then_some(arguments);
    Ok(sample)
}

#[cfg(test)]
mod tests {
    use formats::Part;

    use super::*;

    fn options() -> ImportOptions {
        ImportOptions {
            clock: "tile".to_owned(),
            unit: Some("cycles".to_owned()),
            hz: None,
            kernel: None,
            ignore: vec!["source".to_owned()],
        }
    }

    fn read_text(text: &str, options: &ImportOptions) -> Result<KernelProfile, CalibrateError> {
        let source = Source {
            name: "x".to_owned(),
            parts: vec![Part {
                path: "x".to_owned(),
                text: text.to_owned(),
            }],
            folder: false,
        };
        read(&source, options, &mut Vec::new())
    }

    #[test]
    fn both_forms_say_the_same() {
        let csv = "kernel,rows,alpha,physical.k,calls,certified,cycles,source\n\
                   gemm,184,0.5,288,2,true,97308,a\ngemm,,,,,,5,b\n";
        let json = r#"[
            {"kernel": "gemm", "rows": 184, "alpha": 0.5, "physical.k": 288, "calls": 2, "certified": true, "cycles": 97308},
            {"kernel": "gemm", "rows": null, "cycles": 5.0, "source": "b"}]"#;
        let (a, b) = (
            read_text(csv, &options()).unwrap(),
            read_text(json, &options()).unwrap(),
        );
        assert_eq!(a, b);
        assert_eq!((a.samples[0].calls, a.samples[0].certified), (2, true));
        assert_eq!(a.samples[0].physical["k"], 288);
        assert_eq!(a.samples[1].arguments, None);
        let again = serde_json::to_string(&a).unwrap();
        assert_eq!(read_text(&again, &options()).unwrap(), a);
    }

    #[test]
    fn semicolons_decimal_commas_and_units_in_headers_say_the_same() {
        let plain = "kernel,rows,alpha,cycles\ngemm,184,0.5,97308.5\ngemm,8,0.25,5.0\n";
        let expected = read_text(plain, &options()).unwrap();
        for text in [
            plain.replace(',', ";"),
            plain.replace(',', ";").replace('.', ","),
            plain.replace(',', "\t"),
            plain.replace('\n', "\r\n"),
            plain.replace("cycles", "time_cycles"),
            plain.replace("cycles", "value (cycles)"),
            plain.replace("cycles", "runtime"),
        ] {
            assert_eq!(read_text(&text, &options()).unwrap(), expected, "{text}");
        }
        // Whoever says no unit takes that of the header.
        let mut untold = options();
        untold.unit = None;
        assert_eq!(read_text(plain, &untold).unwrap(), expected);
        let in_ns = read_text(&plain.replace("cycles", "time_ns"), &untold).unwrap();
        assert_eq!((in_ns.clock.unit.as_str(), in_ns.samples), ("ns", expected.samples));
    }

    #[test]
    fn slips_are_named_with_their_place() {
        for (text, words) in [
            ("kernel,rows\ngemm,3\n", "it has no value: expected a column `cycles`"),
            ("kernel,cycles\ngemm,\ngemm,3\n", "line 2: `cycles` is empty"),
            ("rows,cycles\n3,4\n", "line 2: it has no `kernel`"),
            ("kernel,calls,cycles\ngemm,many,4\n", "expected a whole number"),
            ("kernel,cycles\n", "there is no line below the header"),
            ("[]", "no rows"),
            (
                "kernel,time_ns\ngemm,3\n",
                "`time_ns` is in ns, and `--unit` says cycles",
            ),
            ("kernel,cycles,value\ngemm,3,4\n", "`cycles` and `value` may both be"),
            ("[{\"kernel\": \"gemm\", \"cycles\": [1]}]", "flat objects"),
        ] {
            let shown = read_text(text, &options()).unwrap_err().to_string();
            assert!(shown.contains(words), "{shown}");
        }
        let untold = ImportOptions {
            unit: None,
            ..options()
        };
        let shown = read_text("kernel,value\n", &untold).unwrap_err().to_string();
        assert!(shown.contains("no line below the header"), "{shown}");
        let shown = read_text("kernel,value\ngemm,3\n", &untold).unwrap_err().to_string();
        assert!(shown.contains("nothing says in which unit `value` is"), "{shown}");
    }
}
