//! Geometries as named attributes, and back.

use planner::{Assignment, Attributes, Refusal, Value, Workload};

use crate::beyond::Beyond;
use crate::geometry::Geometry;
use crate::program::chain;
use crate::{mapping, text};

/// The attribute of the whole plan that says where planned tiles lie.
pub const MAPPING: &str = "mapping";
/// The attribute of an operation that lists what goes beyond the published planner; it is there only where it does.
const BEYOND: &str = "beyond";

/// Attributes of one product's geometry, named after its operation.
pub fn of_geometry<'a>(operation: &'a str, g: &Geometry) -> impl Iterator<Item = (String, Value)> + use<'a> {
    let number = |n: usize| Value::Integer(i64::try_from(n).unwrap_or(i64::MAX));
    let word = |word: &dyn ToString| Value::Text(word.to_string());
    [
        ("rows", number(g.rows)),
        ("columns", number(g.columns)),
        ("inner", number(g.inner)),
        ("result_rows", number(g.result_rows)),
        ("result_columns", number(g.result_columns)),
        ("width", number(g.width)),
        ("memory", word(&g.memory)),
        ("orientation", word(&g.orientation)),
        ("reduction", word(&g.staging)),
        ("local", word(&g.local)),
    ]
    .into_iter()
    .chain((!g.beyond.fields().is_empty()).then(|| (BEYOND, Value::Text(g.beyond.fields().join(" ")))))
    .map(move |(own, value)| (format!("{operation}.{own}"), value))
}

/// The geometry of one operation.
pub fn geometry(operation: &str, attributes: &Attributes) -> Result<Geometry, Refusal> {
    let get = |own: &str| {
        let name = format!("{operation}.{own}");
        let value = attributes.get(&name);
        value.ok_or_else(|| Refusal::new("attributes", format!("`{name}` is missing")))
    };
    let number = |own: &str| {
        let value = get(own)?;
        let n = value
            .as_integer()
            .and_then(|n| usize::try_from(n).ok())
            .filter(|n| *n > 0);
        n.ok_or_else(|| {
            Refusal::new(
                "attributes",
                format!("`{operation}.{own}` is {value}: expected a whole number of at least 1"),
            )
        })
    };
    let word = |own: &str| get(own).map(ToString::to_string);
    let wrong = |message: String| Refusal::new("attributes", format!("`{operation}`: {message}"));
    let mut beyond = Beyond::default();
    if let Some(fields) = attributes.get(&format!("{operation}.{BEYOND}")) {
        for field in fields.to_string().split(' ') {
            beyond.read(field).map_err(wrong)?;
        }
    }
    Ok(Geometry {
        rows: number("rows")?,
        columns: number("columns")?,
        inner: number("inner")?,
        result_rows: number("result_rows")?,
        result_columns: number("result_columns")?,
        width: number("width")?,
        memory: text::parse_memory(&word("memory")?).map_err(wrong)?,
        orientation: text::parse_orientation(&word("orientation")?).map_err(wrong)?,
        staging: text::parse_staging(&word("reduction")?).map_err(wrong)?,
        local: text::parse_local(&word("local")?).map_err(wrong)?,
        beyond,
    })
}

/// A plan of the whole workload.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TypedPlan {
    /// One geometry for each product.
    pub geometries: Vec<Geometry>,
    /// Name of the mapping, as [`mapping::parse`] reads it.
    pub mapping: String,
}

/// The typed plan of these attributes.
pub fn plan(workload: &Workload, attributes: &Assignment) -> Result<TypedPlan, Refusal> {
    let name = attributes
        .get(MAPPING)
        .map_or_else(|| "identity".to_owned(), Value::to_string);
    mapping::parse(&name).map_err(|message| Refusal::new("tile-mapping", message))?;
    let chain = chain(workload)?;
    let geometries = chain
        .iter()
        .map(|(operation, ..)| geometry(operation, attributes))
        .collect::<Result<_, _>>()?;
    Ok(TypedPlan {
        geometries,
        mapping: name,
    })
}

/// Constraint text of one operation; its index counts all operations of the workload.
#[must_use]
pub fn operation_text(workload: &Workload, operation: &str, g: &Geometry) -> String {
    let index = workload
        .operations
        .iter()
        .position(|o| o.name == operation)
        .unwrap_or(0);
    text::print(index, g)
}

/// Canonical text of a plan: constraint texts, and the mapping where it is not the identity.
#[must_use]
pub fn plan_text(workload: &Workload, plan: &TypedPlan) -> String {
    let gemms = workload.gemms().zip(&plan.geometries);
    let mut words: Vec<String> = gemms.map(|((name, _), g)| operation_text(workload, name, g)).collect();
    if plan.mapping != "identity" {
        words.push(format!("mapping={}", plan.mapping));
    }
    words.join(" ")
}
