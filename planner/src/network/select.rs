//! Which nodes a figure is about.

use super::tree::Found;

/// Whether a path has this form: components apart, `*` is any part of one, `**` any number of them.
pub(super) fn matches(pattern: &str, path: &str) -> bool {
    let pattern: Vec<&str> = pattern.split('/').collect();
    let path: Vec<&str> = path.split('/').collect();
    components(&pattern, &path)
}

fn components(pattern: &[&str], path: &[&str]) -> bool {
    match (pattern.split_first(), path.split_first()) {
        (None, None) => true,
        (Some((&"**", rest)), _) => (0..=path.len()).any(|skipped| components(rest, &path[skipped..])),
        (Some((own, rest)), Some((name, others))) => {
            within(own.as_bytes(), name.as_bytes()) && components(rest, others)
        }
        _ => false,
    }
}

fn within(pattern: &[u8], name: &[u8]) -> bool {
    match (pattern.split_first(), name.split_first()) {
        (None, None) => true,
        (Some((b'*', rest)), _) => (0..=name.len()).any(|skipped| within(rest, &name[skipped..])),
        (Some((own, rest)), Some((byte, others))) => own == byte && within(rest, others),
        _ => false,
    }
}

/// Whether a node stands inside of a use of `template`, or is one.
pub(super) fn inside(found: &Found<'_>, template: &str) -> bool {
    found.templates.contains(&template)
}

#[cfg(test)]
mod tests {
    use super::matches;

    #[test]
    fn patterns_of_paths() {
        let cases = [
            ("unet/**", "unet/input 64/res", true),
            ("unet/**", "vae/res", false),
            ("**", "a/b/c", true),
            ("unet/input *", "unet/input 64", true),
            ("unet/input *", "unet/input 64/res", false),
            ("unet/*/res*/conv?", "unet/a/res-2/conv1", false),
            ("unet/*/res*/conv*", "unet/a/res-2/conv1", true),
            ("**/conv1", "unet/a/conv1", true),
            ("**/conv1", "unet/a/conv12", false),
        ];
        for (pattern, path, expected) in cases {
            assert_eq!(matches(pattern, path), expected, "{pattern} and {path}");
        }
    }
}
