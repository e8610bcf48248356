//! Plans from constraint texts.

use planner::{Assignment, Refusal, Value, Workload};
use target_api::{Constraints, Mapping, SearchReport, SearchWidth, Why};

use crate::attributes::{self, MAPPING};
use crate::configured::Configuration;
use crate::geometry::Geometry;
use crate::{mapping, search, text, why};

/// Name and geometry of the operation that a constraint text is for.
pub fn read<'a>(workload: &'a Workload, constraint: &str) -> Result<(&'a str, Geometry), Refusal> {
    let (index, geometry) = text::parse(constraint).map_err(|error| Refusal::new("constraint", error.to_string()))?;
    operation(workload, constraint, index).map(|name| (name, geometry))
}

/// The product at this place among all operations.
pub(crate) fn operation<'a>(workload: &'a Workload, constraint: &str, index: usize) -> Result<&'a str, Refusal> {
    let products: Vec<String> = workload
        .gemms()
        .filter_map(|(name, _)| {
            let at = workload.operations.iter().position(|o| o.name == name)?;
            Some(format!("{at} (`{name}`)"))
        })
        .collect();
    let named = workload.operations.get(index).map(|operation| operation.name.as_str());
    let found = workload.gemms().map(|(name, _)| name).find(|name| Some(*name) == named);
    found.ok_or_else(|| {
        Refusal::new(
            "constraint",
            format!(
                "`{constraint}`: operation {index} of `{}` is no product: expected {}",
                workload.name,
                products.join(", ")
            ),
        )
    })
}

/// Sets the geometry of one operation.
pub(crate) fn set(plan: &mut Assignment, operation: &str, geometry: &Geometry) {
    let mut other = Assignment::new();
    for (name, value) in plan.iter() {
        if name.split_once('.').is_none_or(|(of, _)| of != operation) {
            other.set(name, value.clone());
        }
    }
    for (name, value) in attributes::of_geometry(operation, geometry) {
        other.set(&name, value);
    }
    *plan = other;
}

impl Constraints for Configuration {
    fn constrained(
        &self,
        workload: &Workload,
        texts: &[String],
        given: Option<Mapping<'_>>,
        base: &Assignment,
    ) -> Result<Assignment, Refusal> {
        let mut plan = base.clone();
        let mut named = Vec::new();
        for constraint in texts {
            let (operation, geometry) = read(workload, constraint)?;
            if named.contains(&operation) {
                let message = format!("`{constraint}`: there is a constraint for `{operation}` already");
                return Err(Refusal::new("constraint", message));
            }
            named.push(operation);
            set(&mut plan, operation, &geometry);
        }
        if let Some(given) = given {
            let name = match given {
                Mapping::Named(name) => mapping::parse(name).map(|_| name.to_owned()),
                Mapping::Content(content) => mapping::read(content).and_then(|tiles| mapping::explicit(&tiles)),
            };
            let name = name.map_err(|message| Refusal::new("tile-mapping", message))?;
            plan.set(MAPPING, Value::Text(name));
        }
        Ok(plan)
    }

    fn why(&self, workload: &Workload, text: &str, base: &Assignment) -> Result<Why, Refusal> {
        why::why(workload, text, base)
    }

    fn search(
        &self,
        workload: &Workload,
        width: SearchWidth,
        watch: &[(String, Assignment)],
    ) -> Result<SearchReport, Refusal> {
        search::search(workload, self.costs(), width, watch)
    }
}
