//! Many cases: everything is a stream or near-linear, so that a million of them is a matter of seconds.

use cohort::{CohortDir, Frozen, state};

use crate::made;

#[test]
fn many_cases() {
    let count = 20_000;
    let folder = tempfile::tempdir().unwrap();
    let dir = CohortDir::new(folder.path().join("sweep"));
    let mut draft = made::draft(folder.path());
    for number in 2..count {
        draft.add_case(made::case("w", &format!("case {number}")));
    }
    let frozen = draft.freeze(&dir, 1).unwrap();
    assert_eq!(Frozen::open(&dir).unwrap().initial_cases().len(), count);
    let kinds = [made::built(), made::began(0), made::correct(0), made::began(1)];
    let mut records = Vec::new();
    for case in frozen.cases() {
        for kind in kinds.clone() {
            records.push(made::record("w", records.len() as u64, &case.name, 1, kind));
        }
    }
    records.reverse();
    let (manifest, cases) = (frozen.manifest(), frozen.initial_cases());
    let state = state(manifest, cases, &[], &records).unwrap();
    let counts = state.counts();
    assert_eq!((counts.partial, counts.lost_rounds), (count as u64, count as u64));
    assert_eq!(state.left().rounds.len(), count);
}
