//! Workloads that a CPU plan can be made for: a chain of products, each with at most one element-wise step behind it.

use planner::{GemmExtents, OperationKind, Refusal, Workload};

use crate::problem::{Extents, Product};

/// Products that the harness can hold.
pub const MOST_PRODUCTS: usize = 16;
/// Longest name of an operation.
const LONGEST_NAME: usize = 60;

fn refuse<T>(rule: &str, message: String) -> Result<T, Refusal> {
    Err(Refusal::new(rule, message))
}

fn extents(name: &str, e: GemmExtents) -> Result<Extents, Refusal> {
    let fit = |extent: u64| u32::try_from(extent).ok().filter(|n| (1..=1 << 30).contains(n));
    match (fit(e.rows), fit(e.inner), fit(e.columns)) {
        (Some(tokens), Some(inner), Some(features)) => Ok(Extents {
            tokens,
            inner,
            features,
        }),
        _ => refuse(
            "extents",
            format!(
                "`{name}` is {} x {} x {}: each extent must lie between 1 and 2^30",
                e.rows, e.inner, e.columns
            ),
        ),
    }
}

/// Refuses the name of an operation that the harness's command line can't hold.
pub(crate) fn check_name(name: &str) -> Result<(), Refusal> {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
    if name.is_empty() || name.len() > LONGEST_NAME || name == "-" || !name.bytes().all(plain) {
        let message = format!("operation `{name}`: a name has 1 to {LONGEST_NAME} letters, digits, `-` or `_`");
        return refuse("operation-name", message);
    }
    Ok(())
}

/// The products of `workload`, in order.
///
/// Refused: no product or more than 16, a workload that begins with an element-wise step or has two in a row, extents
/// that don't fit their neighbours, and names that the harness's command line can't hold.
pub fn products(workload: &Workload) -> Result<Vec<Product>, Refusal> {
    let mut products: Vec<Product> = Vec::new();
    for operation in &workload.operations {
        let name = operation.name.as_str();
        check_name(name)?;
        let last = products.last_mut();
        match (operation.kind, last) {
            (OperationKind::Gemm(own), last) => {
                let own = extents(name, own)?;
                if let Some(before) = last
                    && (before.extents.tokens, before.extents.features) != (own.tokens, own.inner)
                {
                    return refuse(
                        "chain",
                        format!(
                            "`{name}` reads {} x {}, but `{}` leaves {} x {}",
                            own.tokens, own.inner, before.name, before.extents.tokens, before.extents.features
                        ),
                    );
                }
                products.push(Product {
                    name: name.to_owned(),
                    extents: own,
                    activation: None,
                });
            }
            (OperationKind::Elementwise { rows, columns, .. }, Some(before)) if before.activation.is_none() => {
                let left = (u64::from(before.extents.tokens), u64::from(before.extents.features));
                if left != (rows, columns) {
                    let message = format!(
                        "`{name}` is {rows} x {columns}, but `{}` leaves {} x {}",
                        before.name, left.0, left.1
                    );
                    return refuse("chain", message);
                }
                before.activation = Some(name.to_owned());
            }
            (OperationKind::Elementwise { .. }, _) => {
                return refuse("elementwise", format!("`{name}` must follow a product directly"));
            }
            (OperationKind::Attention(_), _) => {
                let message = format!("`{name}` is an attention: this target compiles it alone, or chains of products");
                return refuse("attention", message);
            }
        }
    }
    match products.len() {
        1..=MOST_PRODUCTS => Ok(products),
        count => refuse(
            "products",
            format!(
                "a plan has 1 to {MOST_PRODUCTS} products, `{}` has {count}",
                workload.name
            ),
        ),
    }
}

#[cfg(test)]
mod tests {
    use planner::{Elementwise, Operation};

    use super::*;

    fn gemm(name: &str, rows: u64, inner: u64, columns: u64) -> Operation {
        Operation {
            name: name.to_owned(),
            kind: OperationKind::Gemm(GemmExtents { rows, inner, columns }),
        }
    }

    fn gelu(rows: u64, columns: u64) -> Operation {
        let kind = OperationKind::Elementwise {
            function: Elementwise::GeluTanh,
            rows,
            columns,
        };
        Operation {
            name: "gelu".to_owned(),
            kind,
        }
    }

    fn rule(operations: Vec<Operation>) -> String {
        products(&Workload {
            name: "w".to_owned(),
            operations,
        })
        .map_or_else(|r| r.rule, |_| "legal".to_owned())
    }

    #[test]
    fn chains_become_products() {
        let operations = vec![gemm("up", 3, 5, 7), gelu(3, 7), gemm("down", 3, 7, 5)];
        let products = products(&Workload {
            name: "w".to_owned(),
            operations,
        })
        .unwrap();
        let read: Vec<_> = products
            .iter()
            .map(|p| (p.name.as_str(), p.activation.as_deref()))
            .collect();
        assert_eq!(read, [("up", Some("gelu")), ("down", None)]);
        assert_eq!(
            products[1].extents,
            Extents {
                tokens: 3,
                inner: 7,
                features: 5
            }
        );
    }

    #[test]
    fn what_is_no_chain_is_refused() {
        assert_eq!(rule(vec![]), "products");
        assert_eq!(
            rule((0..17).map(|n| gemm(&format!("g{n}"), 4, 4, 4)).collect()),
            "products"
        );
        assert_eq!(rule(vec![gelu(3, 7), gemm("up", 3, 7, 5)]), "elementwise");
        assert_eq!(rule(vec![gemm("up", 3, 5, 7), gelu(3, 7), gelu(3, 7)]), "elementwise");
        assert_eq!(rule(vec![gemm("up", 3, 5, 7), gelu(3, 8)]), "chain");
        assert_eq!(rule(vec![gemm("up", 3, 5, 7), gemm("down", 3, 8, 5)]), "chain");
        assert_eq!(rule(vec![gemm("up", 3, 5, 7), gemm("down", 4, 7, 5)]), "chain");
        assert_eq!(rule(vec![gemm("up", 0, 5, 7)]), "extents");
        assert_eq!(rule(vec![gemm("up", 1 << 40, 5, 7)]), "extents");
        assert_eq!(rule(vec![gemm("a:b", 3, 5, 7)]), "operation-name");
    }
}
