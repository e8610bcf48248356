//! What a definition says of how its results are judged.

use std::collections::BTreeMap;

/// Terms of the evaluation. They decide nothing of what is built or measured, so that a cohort keeps them only in its
/// definition's text.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Judged {
    /// `tie` of `[measure]`, in the objective's unit.
    pub tie: Option<f64>,
    /// `weight` of each `[[workload]]` that gives one, by name.
    pub weights: BTreeMap<String, f64>,
}

/// Reads the terms from a definition that was checked when its cohort was frozen. A text that is no definition (a cohort
/// that was imported has none) gives no terms.
#[must_use]
pub fn judged(text: &str) -> Judged {
    let table = text.parse::<toml::Table>().unwrap_or_default();
    let number = |value: &toml::Value| {
        value
            .as_float()
            .or_else(|| value.as_integer().map(|whole| whole as f64))
    };
    let workloads = table.get("workload").and_then(toml::Value::as_array);
    let weights = workloads.into_iter().flatten().filter_map(|workload| {
        let name = workload.get("name")?.as_str()?;
        Some((name.to_owned(), number(workload.get("weight")?)?))
    });
    Judged {
        tie: table.get("measure").and_then(|measure| number(measure.get("tie")?)),
        weights: weights.collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn terms_of_a_definition() {
        let text = "target = \"cpu\"\n[[workload]]\nname = \"a\"\nweight = 3\n[[workload]]\nname = \"b\"\n\
                    [[workload]]\nname = \"c\"\nweight = 0.5\n[measure]\ntie = 24\n";
        let found = judged(text);
        assert_eq!(found.tie, Some(24.0));
        let weights = [("a".to_owned(), 3.0), ("c".to_owned(), 0.5)];
        assert_eq!(found.weights, BTreeMap::from(weights));
        assert_eq!(judged("target = \"cpu\""), Judged::default());
        assert_eq!(judged("{ no definition"), Judged::default());
    }
}
