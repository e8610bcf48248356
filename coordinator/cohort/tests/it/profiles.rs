//! Profiles are what the records of their cases speak of.

use cohort::{Frozen, Record, RecordKind, Records, Snapshot, edited_profiles, sha256_hex};

use crate::made;

const CASE: &str = "other";

/// A round that left this profile.
fn left(round: u32, profile: Option<&str>) -> RecordKind {
    let mut kind = made::correct(round);
    if let RecordKind::Run { profile_sha256, .. } = &mut kind {
        *profile_sha256 = profile.map(|text| sha256_hex(text.as_bytes()));
    }
    kind
}

/// A cohort of which these things happened to a case, in this order.
fn recorded(frozen: &Frozen, kinds: Vec<RecordKind>) -> Snapshot {
    let record = |(number, kind)| made::record("w", number, CASE, 1, kind);
    let records: Vec<Record> = (0..).zip(kinds).map(record).collect();
    let (frozen, dropped) = (frozen.clone(), Vec::new());
    let records = Records { records, dropped };
    Snapshot { frozen, records }
}

#[test]
fn a_profile_is_what_a_round_of_its_case_left() {
    let (_folder, frozen) = made::frozen();
    let path = frozen.dir().case_profile(CASE);
    fs_err::create_dir_all(path.parent().unwrap()).unwrap();
    let rounds = |first, second| {
        let (one, two) = (left(0, first), left(1, second));
        vec![made::built(), made::began(0), one, made::began(1), two]
    };
    let cut_off = || {
        let mut kinds = rounds(Some("one"), Some("two"));
        kinds.pop();
        kinds
    };
    // What happened, what lies there, whether it differs, and whether nothing is known of it.
    for (kinds, there, differs, unknown) in [
        (rounds(Some("one"), Some("two")), Some("two"), false, 0),
        (rounds(Some("one"), Some("two")), Some("edited"), true, 0),
        (rounds(Some("one"), Some("two")), None, false, 0),
        // Of an earlier version.
        (rounds(None, None), Some("any"), false, 1),
        (rounds(None, None), None, false, 0),
        // The second round was cut off, before it wrote a profile or after.
        (cut_off(), Some("one"), false, 0),
        (cut_off(), Some("two"), false, 1),
    ] {
        match there {
            Some(text) => fs_err::write(&path, text).unwrap(),
            None => fs_err::remove_file(&path).unwrap(),
        }
        let snapshot = recorded(&frozen, kinds);
        let found = edited_profiles(&snapshot).unwrap();
        assert_eq!(found.len(), usize::from(differs), "{there:?}: {found:?}");
        for difference in found {
            assert!(difference.name.starts_with("cases/other-") && difference.name.ends_with("/profile.json"));
            assert_eq!(difference.expected.unwrap(), sha256_hex(b"two"));
            assert_eq!(difference.found.unwrap(), sha256_hex(b"edited"));
        }
        let audit = cohort::audit(&snapshot).unwrap();
        assert_eq!(audit.differences, edited_profiles(&snapshot).unwrap());
        assert_eq!(audit.unknown_profiles, unknown, "{there:?}");
    }
}
