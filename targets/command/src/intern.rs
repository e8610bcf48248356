//! Names that come from a definition, where the contracts want names that live as long as the program.

use std::collections::BTreeSet;
use std::sync::{Mutex, OnceLock, PoisonError};

/// The same text for as long as the program runs. Each distinct text is kept once, so a program that configures the same
/// definition again and again keeps no more.
pub(crate) fn intern(text: &str) -> &'static str {
    static KNOWN: OnceLock<Mutex<BTreeSet<&'static str>>> = OnceLock::new();
    let mut known = KNOWN
        .get_or_init(Mutex::default)
        .lock()
        .unwrap_or_else(PoisonError::into_inner);
    if let Some(there) = known.get(text) {
        return there;
    }
    let kept: &'static str = Box::leak(text.to_owned().into_boxed_str());
    known.insert(kept);
    kept
}

#[cfg(test)]
mod tests {
    use super::intern;

    #[test]
    fn a_text_is_kept_once() {
        let (a, b) = (intern("cycles"), intern(&String::from("cycles")));
        assert!(std::ptr::eq(a, b));
        assert_ne!(intern("ns"), a);
    }
}
