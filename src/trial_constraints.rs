//! Plans of `try` that are given as constraint texts, and other prices.

use std::path::Path;

use clap::Args;
use coordinator::ExitCode;
use planner::select::{Chosen, SelectedWorkload, Selection};
use target_api::{Constraints, Mapping};

use crate::costs::Costs;
use crate::failure::Failure;
use crate::freezing;
use crate::planning::Planning;
use crate::registry;

/// Arguments of `try` for targets whose plans have constraint texts.
#[derive(Args)]
pub(crate) struct Constrained {
    /// A plan from constraint texts, one for each operation; operations without one are as in the control.
    #[arg(long = "constraint", value_name = "OP:...")]
    pub(crate) constraints: Vec<String>,
    /// Tile mapping: a name that the target knows (`identity`, `transpose:W`, `block:B:W`), or a file with the
    /// permutation.
    #[arg(long, requires = "constraints", conflicts_with_all = ["case", "plan"], value_name = "NAME|FILE")]
    mapping: Option<String>,
    /// Other prices than the definition's: a name that the target knows, or a file with a table.
    #[arg(long, value_name = "NAME|FILE")]
    costs: Option<String>,
}

impl Constrained {
    /// The cost table, if a file with one was given.
    pub(crate) fn table(&self) -> Result<Option<Costs>, Failure> {
        let Some(costs) = &self.costs else { return Ok(None) };
        match file(costs, "the prices can't be read")? {
            Some(_) => Costs::read(Path::new(costs)).map(Some),
            None => Ok(None),
        }
    }

    /// Puts prices that the target knows by name in the place of the definition's.
    pub(crate) fn reprice(&self, planning: &mut Planning) -> Result<(), Failure> {
        let Some(costs) = self.costs.as_ref().filter(|_| planning.costs.is_none()) else {
            return Ok(());
        };
        let name = toml::Value::String(costs.clone());
        planning.definition.options.insert("costs".to_owned(), name);
        let target = registry::target(&planning.definition.target.value);
        let target = target.ok_or_else(|| Failure::new(ExitCode::Failure, "the target was lost"))?;
        planning.configured = target
            .configure(&planning.definition.options, &planning.machine)
            .map_err(|error| Failure::usage(format!("`--costs {costs}`: {error}")))?;
        Ok(())
    }

    /// The plan that the texts describe, in the workload called `workload` (or the only one).
    pub(crate) fn plan<'a>(
        &self,
        planning: &Planning,
        selection: &'a Selection,
        workload: Option<&str>,
    ) -> Result<(&'a SelectedWorkload, Chosen), Failure> {
        let selected = one_workload(selection, workload)?;
        let content = match &self.mapping {
            Some(mapping) => file(mapping, "the mapping can't be read")?,
            None => None,
        };
        let mapping = match (&content, &self.mapping) {
            (Some(content), _) => Some(Mapping::Content(content)),
            (None, Some(name)) => Some(Mapping::Named(name)),
            (None, None) => None,
        };
        let its = freezing::workload(planning, &selected.name)?;
        let assignment = texts(planning)?
            .constrained(its, &self.constraints, mapping, base(selected))
            .map_err(|refusal| Failure::usage(refusal.to_string()))?;
        let chosen = Chosen {
            name: "try".to_owned(),
            workload: selected.name.clone(),
            family: "explicit".to_owned(),
            reason: "constraint texts".to_owned(),
            text: planning.configured.text(its, &assignment),
            assignment,
            repeat_of: None,
        };
        Ok((selected, chosen))
    }
}

/// What the definition's target offers for constraint texts.
pub(crate) fn texts(planning: &Planning) -> Result<&dyn Constraints, Failure> {
    planning.configured.constraints().ok_or_else(|| {
        Failure::usage(format!(
            "plans of target `{}` have no constraint texts",
            planning.configured.target()
        ))
    })
}

/// The workload called `name`, or the only one.
pub(crate) fn one_workload<'a>(selection: &'a Selection, name: Option<&str>) -> Result<&'a SelectedWorkload, Failure> {
    let mut workloads = selection.workloads.iter();
    let found = match name {
        Some(name) => workloads.find(|workload| workload.name == name),
        None => workloads.next().filter(|_| selection.workloads.len() == 1),
    };
    found.ok_or_else(|| {
        let names: Vec<&str> = selection
            .workloads
            .iter()
            .map(|workload| workload.name.as_str())
            .collect();
        Failure::usage(format!("`--workload`: expected one of {}", names.join(", ")))
    })
}

/// The plan that supplies what no text names: the control.
pub(crate) fn base(selected: &SelectedWorkload) -> &planner::Assignment {
    let control = selected
        .cases
        .iter()
        .find(|case| Some(&case.name) == selected.control.as_ref());
    control.map_or(&selected.base, |case| &case.assignment)
}

/// The content of a file; none where there is no such file, so that the word is a name.
fn file(word: &str, what: &str) -> Result<Option<String>, Failure> {
    match fs_err::read_to_string(word) {
        Ok(content) => Ok(Some(content)),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound && !word.contains(['/', '.']) => Ok(None),
        Err(error) => Err(Failure::because(ExitCode::Usage, what, error)),
    }
}
