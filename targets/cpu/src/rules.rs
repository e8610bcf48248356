//! What is legal, as named rules with numbers. Only what is wrong is refused: a plan that exceeds a cache is merely slow.
//!
//! Each rule is a function of the few values it looks at. [`gemm`] judges one product by itself, [`between`] a product
//! and the layout it finds, [`plan`] what several products and their workers must agree on.

pub mod between;
pub mod gemm;
pub mod plan;

/// Why something is refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refused {
    /// Name of the rule.
    pub rule: &'static str,
    /// What is wrong, with the numbers that decided it.
    pub message: String,
}

/// `None`: the rule is kept.
pub type Verdict = Option<Refused>;

pub(crate) fn refuse_if(wrong: bool, rule: &'static str, message: impl FnOnce() -> String) -> Verdict {
    wrong.then(|| Refused {
        rule,
        message: message(),
    })
}
