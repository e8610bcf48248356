//! SHA-256 digests: of bytes, of files, of trees of files, and of what is built.

use std::io::{Read, Write};
use std::path::Path;

use sha2::{Digest, Sha256};
use target_api::{BuildUnit, Tool};

use crate::error::CohortError;

/// Takes bytes and gives their SHA-256 at the end.
#[derive(Debug, Clone, Default)]
pub struct Hasher {
    inner: Sha256,
    bytes: u64,
}

impl Hasher {
    /// Nothing taken yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes `bytes`.
    pub fn update(&mut self, bytes: &[u8]) {
        self.inner.update(bytes);
        self.bytes += bytes.len() as u64;
    }

    /// Takes a length and then `bytes`, so that two neighbours can't be read as one or be cut elsewhere.
    pub fn framed(&mut self, bytes: &[u8]) {
        self.update(&(bytes.len() as u64).to_le_bytes());
        self.update(bytes);
    }

    /// Takes a count before a list.
    fn count(&mut self, count: usize) {
        self.update(&(count as u64).to_le_bytes());
    }

    /// Takes a list of texts.
    fn texts(&mut self, texts: &[impl AsRef<str>]) {
        self.count(texts.len());
        for text in texts {
            self.framed(text.as_ref().as_bytes());
        }
    }

    /// How many bytes were taken.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// 64 lower-case hex digits.
    #[must_use]
    pub fn finish(self) -> String {
        hex(&self.inner.finalize())
    }
}

/// Hex digits of `bytes`, lower case, two for each byte.
#[must_use]
pub fn hex(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let mut text = String::with_capacity(2 * bytes.len());
    for byte in bytes {
        text.push(char::from(DIGITS[usize::from(byte >> 4)]));
        text.push(char::from(DIGITS[usize::from(byte & 15)]));
    }
    text
}

/// SHA-256 of `bytes`, 64 lower-case hex digits.
#[must_use]
pub fn sha256_hex(bytes: &[u8]) -> String {
    let mut hasher = Hasher::new();
    hasher.update(bytes);
    hasher.finish()
}

/// Whether `text` is 64 lower-case hex digits. Digests name folders, so nothing else may pass.
#[must_use]
pub fn is_sha256(text: &str) -> bool {
    text.len() == 64 && text.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b))
}

/// SHA-256 and length in bytes of the file at `path`, read as a stream.
pub fn sha256_file(path: &Path) -> Result<(String, u64), CohortError> {
    let mut file = fs_err::File::open(path)?;
    let mut hasher = Hasher::new();
    let mut buffer = vec![0; 1 << 16];
    loop {
        let count = file.read(&mut buffer)?;
        if count == 0 {
            return Ok((hasher.clone().finish(), hasher.bytes()));
        }
        hasher.update(&buffer[..count]);
    }
}

/// SHA-256 of a tree of files: for each, sorted by the bytes of its path, the path, its length and the content, each
/// with its own length before it. The order in which `files` come doesn't matter.
#[must_use]
pub fn tree_digest<'a>(files: impl IntoIterator<Item = (&'a str, &'a [u8])>) -> String {
    let mut files: Vec<_> = files.into_iter().collect();
    files.sort_unstable();
    let mut hasher = Hasher::new();
    hasher.count(files.len());
    for (path, content) in files {
        hasher.framed(path.as_bytes());
        hasher.framed(content);
    }
    hasher.finish()
}

/// Identity of what is built: sources, steps with their environment, names of the artifact and of the files to inspect,
/// and path, version and digest of each tool. The label is left out: two cases may call one artifact by two names.
#[must_use]
pub fn unit_digest(unit: &BuildUnit, tools: &[Tool]) -> String {
    let mut hasher = Hasher::new();
    hasher.framed(b"layout-sweep unit, format 1");
    let sources = unit.sources.iter().map(|s| (s.path.as_str(), s.text.as_bytes()));
    hasher.framed(tree_digest(sources).as_bytes());
    hasher.count(unit.steps.len());
    for step in &unit.steps {
        hasher.framed(step.program.as_bytes());
        hasher.texts(&step.arguments);
        let environment: Vec<_> = step
            .environment
            .iter()
            .flat_map(|(name, value)| [name, value])
            .collect();
        hasher.texts(&environment);
    }
    hasher.framed(unit.artifact.as_bytes());
    hasher.texts(&unit.inspect);
    let said = tools.iter().filter_map(|t| Some((&t.name, t.output.as_ref()?)));
    let outputs: std::collections::BTreeMap<_, _> = said.collect();
    let mut tools: Vec<_> = tools
        .iter()
        .map(|t| [&t.name, &t.path, &t.version, &t.sha256])
        .collect();
    tools.sort_unstable();
    hasher.texts(&tools.concat());
    for (name, output) in outputs {
        hasher.framed(name.as_bytes());
        hasher.framed(output.as_bytes());
    }
    hasher.finish()
}

/// Passes bytes on and digests them on the way.
#[derive(Debug)]
pub(crate) struct HashingWriter<W> {
    pub(crate) inner: W,
    pub(crate) hasher: Hasher,
}

impl<W: Write> Write for HashingWriter<W> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        let count = self.inner.write(bytes)?;
        self.hasher.update(&bytes[..count]);
        Ok(count)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.inner.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use target_api::{CommandSpec, SourceFile};

    #[test]
    fn published_vectors() {
        // FIPS 180-4 examples.
        let cases = [
            (
                &b""[..],
                "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
            ),
            (
                b"abc",
                "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
            ),
        ];
        for (bytes, digest) in cases {
            assert_eq!(sha256_hex(bytes), digest);
        }
        assert_eq!(hex(&[0, 1, 0xab]), "0001ab");
    }

    #[test]
    fn leading_zeros_are_kept() {
        let text = (0..10_000)
            .map(|i| i.to_string())
            .find(|t| Sha256::digest(t)[0] == 0)
            .unwrap();
        let digest = sha256_hex(text.as_bytes());
        assert!(digest.starts_with("00") && is_sha256(&digest), "{digest}");
    }

    #[test]
    fn only_digests_are_digests() {
        let good = sha256_hex(b"");
        assert!(is_sha256(&good));
        for bad in [&good[1..], &good.to_uppercase(), &format!("{good}0"), "../x", ""] {
            assert!(!is_sha256(bad), "{bad}");
        }
    }

    #[test]
    fn trees_differ_where_bytes_move() {
        let trees: [&[(&str, &[u8])]; 7] = [
            &[],
            &[("", b"")],
            &[("a", b"bc")],
            &[("ab", b"c")],
            &[("a", b"b"), ("c", b"")],
            &[("a", b""), ("b", b"c")],
            &[("a", b""), ("c", b"b")],
        ];
        let digests: std::collections::BTreeSet<_> = trees.iter().map(|t| tree_digest(t.iter().copied())).collect();
        assert_eq!(digests.len(), trees.len());
        let (one, two) = (("a.c", &b"1"[..]), ("B.c", &b"2"[..]));
        assert_eq!(tree_digest([one, two]), tree_digest([two, one]));
    }

    #[test]
    fn tree_golden() {
        // Computed apart from this code, from the description above.
        assert_eq!(
            tree_digest([("main.c", &b"int main;\n"[..]), ("lib/x.h", b"")]),
            "8268a69b5a4e40d73606e17ee2ba9951800ae36ee828c16602cbf41841dfa90c"
        );
    }

    fn unit() -> BuildUnit {
        BuildUnit {
            label: "up".into(),
            sources: vec![SourceFile {
                path: "k.c".into(),
                text: "int k;".into(),
            }],
            steps: vec![CommandSpec {
                program: "/usr/bin/cc".into(),
                arguments: vec!["-O2".into(), "k.c".into()],
                environment: [("LANG".to_owned(), "C".to_owned())].into(),
            }],
            artifact: "k.so".into(),
            inspect: vec!["k.s".into()],
        }
    }

    #[test]
    fn unit_identity() {
        let tool = Tool {
            name: "cc".into(),
            path: "/usr/bin/cc".into(),
            version: "14".into(),
            output: None,
            sha256: "00".into(),
        };
        let whole = unit_digest(&unit(), std::slice::from_ref(&tool));
        let relabelled = BuildUnit {
            label: "down".into(),
            ..unit()
        };
        assert_eq!(whole, unit_digest(&relabelled, std::slice::from_ref(&tool)));
        assert_eq!(
            whole,
            "09a84321cbeaeee7ca8ea60de23d03b8b015dc3ca703539212e981f1c66d0249"
        );

        let change_unit: [fn(&mut BuildUnit); 8] = [
            |u| u.sources[0].text.push('\n'),
            |u| u.sources[0].path = "l.c".into(),
            |u| u.steps[0].program.push('1'),
            |u| u.steps[0].arguments[0] = "-O3".into(),
            |u| u.steps[0].arguments = vec!["-O2k.c".into()],
            |u| u.steps[0].environment.clear(),
            |u| u.artifact.push('1'),
            |u| u.inspect.clear(),
        ];
        let change_tool: [fn(&mut Tool); 3] = [
            |t| t.path.push('1'),
            |t| t.version.push('1'),
            |t| t.sha256 = "01".into(),
        ];
        let mut seen = std::collections::BTreeSet::from([whole]);
        for change in change_unit {
            let mut changed = unit();
            change(&mut changed);
            assert!(seen.insert(unit_digest(&changed, std::slice::from_ref(&tool))));
        }
        for change in change_tool {
            let mut changed = tool.clone();
            change(&mut changed);
            assert!(seen.insert(unit_digest(&unit(), &[changed])));
        }
    }
}
