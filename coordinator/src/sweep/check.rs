//! Whether the cohort is what was frozen, and the machine what it was frozen on. Before anything runs.

use std::collections::BTreeSet;

use cohort::{Difference, Frozen, machine_differences, verify, verify_by};

use super::error::RunError;
use super::filter::{FilterError, matches};
use super::node_digests::NodeDigests;
use super::options::RunOptions;

/// Whether somebody may consent to a difference of this name. Files of the cohort are never among them: what was
/// measured with one source and what is measured with another must not be mixed.
pub(crate) fn can_be_accepted(name: &str) -> bool {
    name.starts_with("machine.") || name.starts_with("tool.")
}

/// What differs, and nobody objects.
pub(super) struct Checked {
    /// What somebody consented to: measured here is compared with what was measured elsewhere all the same.
    pub(super) accepted: Vec<Difference>,
    /// In what this machine is another one: what it measures is kept apart.
    pub(super) unlike: Vec<Difference>,
}

/// Everything that must be equal: files, target and its options, machine class and tools. Gives the differences that
/// were consented to, now or (`given`) earlier, and those in which machines may be unlike.
pub(super) fn check(frozen: &Frozen, options: &RunOptions<'_>, given: &[Difference]) -> Result<Checked, RunError> {
    if let Some(name) = options.accept.iter().find(|name| !can_be_accepted(name)) {
        return Err(FilterError::Accept(name.clone()).into());
    }
    let mut differences = match &options.node_cache {
        // Another worker on this node may have hashed the files before this one.
        Some(cache) => {
            let mut digests = NodeDigests::open(cache, frozen.dir(), (options.clock)());
            let differences = verify_by(frozen, &mut |path| digests.digest(path))?;
            digests.keep();
            differences
        }
        None => verify(frozen)?,
    };
    differences.extend(target_differences(frozen, options));
    differences.extend(machine_differences(&frozen.manifest().machine, options.machine));
    let consent = |difference: &Difference| {
        can_be_accepted(&difference.name) && (options.accept.contains(&difference.name) || given.contains(difference))
    };
    let (accepted, others): (Vec<_>, Vec<_>) = differences.into_iter().partition(consent);
    let may_be = |difference: &Difference| {
        let name = &difference.name;
        can_be_accepted(name) && options.unlike.iter().any(|pattern| matches(pattern, name))
    };
    let (unlike, mut refused): (Vec<_>, Vec<_>) = others.into_iter().partition(may_be);
    if refused.is_empty() {
        return Ok(Checked { accepted, unlike });
    }
    let difference = refused.remove(0);
    Err(RunError::Mismatch {
        difference,
        others: refused.len(),
    })
}

fn target_differences(frozen: &Frozen, options: &RunOptions<'_>) -> Vec<Difference> {
    let manifest = frozen.manifest();
    let differ = |name: String, expected: Option<&str>, found: Option<&str>| {
        (expected != found).then(|| Difference {
            name,
            expected: expected.map(str::to_owned),
            found: found.map(str::to_owned),
        })
    };
    let now = options.target.options();
    let keys: BTreeSet<_> = manifest.options.keys().chain(now.keys()).collect();
    let target = differ(
        "target".to_owned(),
        Some(&manifest.target),
        Some(options.target.target()),
    );
    let each = keys.into_iter().filter_map(|key| {
        let (expected, found) = (manifest.options.get(key), now.get(key));
        differ(
            format!("option.{key}"),
            expected.map(String::as_str),
            found.map(String::as_str),
        )
    });
    target.into_iter().chain(each).collect()
}
