//! From the keys of a database to the rows of a design.

use std::collections::{BTreeMap, BTreeSet};

use planner::costs::{Compiled, Family};
use planner::{Value, counted, grouped};
use stats::linear::{Design, DesignError};

use crate::database::{Database, Measured};

/// What of a database one family can be fitted on.
#[derive(Debug, Clone)]
pub struct Rows<'a> {
    /// Keys, in order.
    pub keys: Vec<&'a Measured>,
    /// The arguments that the family looks at, for each key.
    pub arguments: Vec<Vec<Value>>,
    /// One row for each key: values of the terms, and the median.
    pub design: Design,
    /// Position of each key's geometry: keys with the same arguments under two builds share one.
    pub geometry: Vec<usize>,
    /// Keys that can't be used, by reason.
    pub excluded: BTreeMap<String, u64>,
    /// What a reader must know.
    pub notes: Vec<String>,
}

/// Keys of the family's kernel with the values of its terms.
pub fn rows<'a>(
    database: &'a Database,
    name: &str,
    family: &Family,
    compiled: &Compiled,
) -> Result<Rows<'a>, DesignError> {
    let mut rows = Rows {
        keys: Vec::new(),
        arguments: Vec::new(),
        design: Design::new(compiled.names().len()),
        geometry: Vec::new(),
        excluded: BTreeMap::new(),
        notes: Vec::new(),
    };
    let mut geometries: BTreeMap<Vec<Value>, usize> = BTreeMap::new();
    let kernel = family.kernel(name);
    for measured in database.keys.iter().filter(|measured| measured.key.kernel == kernel) {
        let mut exclude = |why: String| *rows.excluded.entry(why).or_default() += 1;
        let found: Result<Vec<Value>, &String> = compiled
            .slots()
            .iter()
            .map(|slot| measured.key.argument(slot).ok_or(slot))
            .collect();
        let arguments = match found {
            Ok(arguments) => arguments,
            Err(missing) => {
                exclude(format!("argument `{missing}` is not told"));
                continue;
            }
        };
        let values: Vec<&Value> = arguments.iter().collect();
        match compiled.terms(&values) {
            Ok(terms) if terms.iter().all(|term| term.is_finite()) => rows.design.push(&terms, measured.median)?,
            Ok(_) => {
                exclude("a term is not finite".to_owned());
                continue;
            }
            Err(error) => {
                exclude(format!("a term has no value: {}", error.fault));
                continue;
            }
        }
        let next = geometries.len();
        let place = *geometries.entry(arguments.clone()).or_insert(next);
        rows.geometry.push(place);
        rows.keys.push(measured);
        rows.arguments.push(arguments);
    }
    rows.note_builds();
    Ok(rows)
}

impl Rows<'_> {
    /// Says where two builds measured the same call with other values: then one formula can't suit both.
    fn note_builds(&mut self) {
        let builds: BTreeSet<&str> = self.keys.iter().map(|measured| measured.key.build.as_str()).collect();
        let builds = builds.len();
        let mut first: BTreeMap<usize, f64> = BTreeMap::new();
        let mut differ = 0;
        for (measured, geometry) in self.keys.iter().zip(&self.geometry) {
            let earlier = *first.entry(*geometry).or_insert(measured.median);
            differ += usize::from((measured.median / earlier - 1.0).abs() > 0.01);
        }
        if differ > 0 {
            self.notes.push(format!(
                "samples are of {}, and between these {} by more than 1 %: fit one build at a time",
                counted(builds, "build"),
                if differ == 1 {
                    "1 call differs".to_owned()
                } else {
                    format!("{} calls differ", grouped(differ))
                }
            ));
        }
    }

    /// Number of different geometries.
    #[must_use]
    pub fn geometries(&self) -> usize {
        self.geometry.iter().max().map_or(0, |most| most + 1)
    }
}
