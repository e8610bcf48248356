//! Constraint texts: `OP:RxCxK:RRxRC:COLUMNS:MEMORY:ORIENTATION:REDUCTION:LOCAL`, and behind these what goes beyond the
//! published planner ([`Beyond::read`]).

use crate::beyond::Beyond;
use crate::geometry::{Geometry, Local, Memory, Orientation, Staging};

/// A constraint text that can't be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{text}`: {message}")]
pub struct TextError {
    /// The whole text.
    pub text: String,
    /// The field, what was found and what was expected.
    pub message: String,
}

/// The constraint text of the operation at `index` in its workload.
#[must_use]
pub fn print(index: usize, g: &Geometry) -> String {
    let mut text = format!(
        "{index}:{}x{}x{}:{}x{}:{}:{}:{}:{}:{}",
        g.rows,
        g.columns,
        g.inner,
        g.result_rows,
        g.result_columns,
        g.width,
        g.memory,
        g.orientation,
        g.staging,
        g.local
    );
    for field in g.beyond.fields() {
        text.push(':');
        text.push_str(&field);
    }
    text
}

/// Reads a constraint text: the operation's index and its geometry.
pub fn parse(text: &str) -> Result<(usize, Geometry), TextError> {
    fields(text).map_err(|message| TextError {
        text: text.to_owned(),
        message,
    })
}

fn fields(text: &str) -> Result<(usize, Geometry), String> {
    let fields: Vec<&str> = text.split(':').collect();
    let [
        index,
        grid,
        factors,
        width,
        memory,
        orientation,
        staging,
        local,
        ref further @ ..,
    ] = fields[..]
    else {
        return Err(format!(
            "expected 8 fields `OP:RxCxK:RRxRC:COLUMNS:MEMORY:ORIENTATION:REDUCTION:LOCAL`, found {}",
            fields.len()
        ));
    };
    let mut beyond = Beyond::default();
    for field in further {
        beyond.read(field)?;
    }
    let index = index
        .parse()
        .map_err(|_| format!("operation: expected its index, found `{index}`"))?;
    let [rows, columns, inner] = numbers(grid, "grid", "RxCxK")?;
    let [result_rows, result_columns] = numbers(factors, "result factors", "RRxRC")?;
    let [width] = numbers(width, "columns", "the local columns")?;
    let geometry = Geometry {
        rows,
        columns,
        inner,
        result_rows,
        result_columns,
        width,
        memory: parse_memory(memory)?,
        orientation: parse_orientation(orientation)?,
        staging: parse_staging(staging)?,
        local: parse_local(local)?,
        beyond,
    };
    Ok((index, geometry))
}

/// Reads `interleaved` or `standard`.
pub fn parse_memory(word: &str) -> Result<Memory, String> {
    match word {
        "interleaved" => Ok(Memory::Interleaved),
        "standard" => Ok(Memory::Standard),
        _ => Err(format!("memory: expected interleaved or standard, found `{word}`")),
    }
}

/// Reads `normal` or `swapped`.
pub fn parse_orientation(word: &str) -> Result<Orientation, String> {
    match word {
        "normal" => Ok(Orientation::Normal),
        "swapped" => Ok(Orientation::Swapped),
        _ => Err(format!("orientation: expected normal or swapped, found `{word}`")),
    }
}

/// Reads `complete`, `streamed` or `batch-N`.
pub fn parse_staging(word: &str) -> Result<Staging, String> {
    let wrong = || format!("reduction: expected complete, streamed or batch-N with N of at least 1, found `{word}`");
    match word {
        "complete" => Ok(Staging::Complete),
        "streamed" => Ok(Staging::Streamed),
        _ => {
            let digits = word.strip_prefix("batch-").ok_or_else(wrong)?;
            positive(digits).map(Staging::Batch).ok_or_else(wrong)
        }
    }
}

/// Reads `direct` or `match-remote`.
pub fn parse_local(word: &str) -> Result<Local, String> {
    match word {
        "direct" => Ok(Local::Direct),
        "match-remote" => Ok(Local::MatchRemote),
        _ => Err(format!("local: expected direct or match-remote, found `{word}`")),
    }
}

/// Signs and leading zeros are no canonical text: the number must print as it was written.
fn positive(digits: &str) -> Option<usize> {
    let n: usize = digits.parse().ok()?;
    (n > 0 && n.to_string() == digits).then_some(n)
}

fn numbers<const N: usize>(text: &str, field: &str, form: &str) -> Result<[usize; N], String> {
    let parts: Option<Vec<usize>> = text.split('x').map(positive).collect();
    parts
        .and_then(|parts| parts.try_into().ok())
        .ok_or_else(|| format!("{field}: expected {form} in whole numbers of at least 1, found `{text}`"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_come_back_as_they_were() {
        for text in [
            "0:4x92x4:4x1:48:interleaved:normal:complete:direct",
            "2:4x24x15:5x3:48:standard:normal:batch-7:direct",
            "2:16x23x4:4x1:32:interleaved:swapped:streamed:match-remote",
            "2:4x24x15:15x1:48:standard:normal:complete:direct:k-grain-16:order-rows-inner-columns:sum-tree",
        ] {
            let (index, geometry) = parse(text).unwrap();
            assert_eq!(print(index, &geometry), text);
        }
    }

    #[test]
    fn what_is_wrong_is_named() {
        let cases = [
            ("0:4x92x4", "expected 8 fields"),
            ("a:4x92x4:4x1:48:interleaved:normal:complete:direct", "operation"),
            ("0:4x92:4x1:48:interleaved:normal:complete:direct", "grid"),
            ("0:4x092x4:4x1:48:interleaved:normal:complete:direct", "grid"),
            ("0:4x92x4:4x0:48:interleaved:normal:complete:direct", "result factors"),
            ("0:4x92x4:4x1:+48:interleaved:normal:complete:direct", "columns"),
            ("0:4x92x4:4x1:48:fast:normal:complete:direct", "memory"),
            ("0:4x92x4:4x1:48:standard:turned:complete:direct", "orientation"),
            ("0:4x92x4:4x1:48:standard:normal:batch-0:direct", "reduction"),
            ("0:4x92x4:4x1:48:standard:normal:complete:near", "local"),
            ("0:4x92x4:4x1:48:standard:normal:complete:direct:cyclic", "`cyclic`"),
        ];
        for (text, field) in cases {
            let message = parse(text).unwrap_err().to_string();
            assert!(message.contains(field), "{message}");
        }
    }
}
