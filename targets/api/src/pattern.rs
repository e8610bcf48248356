//! Names of files with wildcards.

/// A path with wildcards: `*` and `?` within one folder, `**` for any number of folders. Nothing else is special.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct SourcePattern(pub String);

impl SourcePattern {
    /// Whether it stands for `path`: relative, with `/`, without `.` and `..`.
    #[must_use]
    pub fn matches(&self, path: &str) -> bool {
        let pattern: Vec<&str> = self.0.split('/').collect();
        let path: Vec<&str> = path.split('/').collect();
        folders(&pattern, &path)
    }

    /// Whether it holds a wildcard: else it names one file, which must be there.
    #[must_use]
    pub fn is_wild(&self) -> bool {
        self.0.contains(['*', '?'])
    }
}

fn folders(pattern: &[&str], path: &[&str]) -> bool {
    match (pattern.split_first(), path.split_first()) {
        (None, None) => true,
        (Some((&"**", rest)), _) => (0..=path.len()).any(|from| folders(rest, &path[from..])),
        (Some((first, rest)), Some((name, below))) => {
            let (first, name): (Vec<char>, Vec<char>) = (first.chars().collect(), name.chars().collect());
            characters(&first, &name) && folders(rest, below)
        }
        _ => false,
    }
}

fn characters(pattern: &[char], name: &[char]) -> bool {
    match (pattern.split_first(), name.split_first()) {
        (None, None) => true,
        (Some(('*', rest)), _) => (0..=name.len()).any(|from| characters(rest, &name[from..])),
        (Some(('?', rest)), Some((_, below))) => characters(rest, below),
        (Some((a, rest)), Some((b, below))) => a == b && characters(rest, below),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::SourcePattern;

    #[test]
    fn wildcards_stay_in_their_folder_unless_they_are_double() {
        let cases = [
            ("build.sh", "build.sh", true),
            ("build.sh", "a/build.sh", false),
            ("*.c", "a.c", true),
            ("*.c", "a/b.c", false),
            ("a/?.c", "a/b.c", true),
            ("a/?.c", "a/bc.c", false),
            ("kernels/**/*.c", "kernels/a.c", true),
            ("kernels/**/*.c", "kernels/x/y/a.c", true),
            ("kernels/**/*.c", "kernels/x/y/a.h", false),
            ("**", "x/y", true),
            ("x/**", "x/y/z", true),
            ("a*b*c", "a-b-b-c", true),
            ("a*b*c", "a-c", false),
            ("[a].c", "a.c", false),
            ("[a].c", "[a].c", true),
        ];
        for (pattern, path, expected) in cases {
            let found = SourcePattern(pattern.to_owned()).matches(path);
            assert_eq!(found, expected, "{pattern} and {path}");
        }
    }
}
