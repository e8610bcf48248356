//! Which buffers of an attention lie in staging memory; the others lie in the memory of the mesh.

use planner::Value;

/// Buffers with one attribute, whose value says which of them lie in staging memory.
#[derive(Debug)]
pub struct Group {
    /// `operands`.
    pub attribute: &'static str,
    /// What it decides, in a sentence.
    pub about: &'static str,
    /// Its buffers, or what stands for several.
    names: &'static [&'static str],
    /// Those that the word `staging` means, one bit each.
    staging: u8,
}

/// Buffers of the running state: one word stands for them.
const STATE: (&str, [&str; 4]) = ("state", ["maximum", "sum", "correction", "running"]);
/// The word for what lies in the memory of the mesh.
pub const DRAM: &str = "dram";
const STAGING: &str = "staging";

/// Operands, what each step leaves for the next one, and what goes on from step to step.
pub static GROUPS: [Group; 3] = [
    Group {
        attribute: "operands",
        about: "which memory queries, keys and values lie in: those named in staging; `staging` means `k+v`",
        names: &["q", "k", "v"],
        staging: 0b110,
    },
    Group {
        attribute: "temporaries",
        about: "which memory scores, weights and partial results lie in: those named in staging, or all",
        names: &["scores", "weights", "part_o"],
        staging: 0b111,
    },
    Group {
        attribute: "state",
        about: "which memory the running maximum, sum, correction and result lie in",
        names: &[STATE.0],
        staging: 0b1,
    },
];

impl Group {
    fn word(&self, staged: u8) -> String {
        match staged {
            0 => DRAM.to_owned(),
            all if all == self.staging => STAGING.to_owned(),
            some => self.names_of(some).join("+"),
        }
    }

    fn names_of(&self, staged: u8) -> Vec<&'static str> {
        let named = self.names.iter().enumerate().filter(|(at, _)| staged >> at & 1 == 1);
        named.map(|(_, name)| *name).collect()
    }

    fn sets(&self) -> impl Iterator<Item = u8> {
        // The two plain words come first.
        let others = (1..1 << self.names.len()).filter(|set| *set != self.staging);
        [0, self.staging].into_iter().chain(others)
    }

    /// Its values.
    #[must_use]
    pub fn words(&self) -> Vec<Value> {
        self.sets().map(|set| Value::text(&self.word(set))).collect()
    }

    fn parse(&self, word: &str) -> Option<u8> {
        self.sets().find(|set| self.word(*set) == word)
    }
}

/// What lies in staging memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Staged([u8; GROUPS.len()]);

impl Staged {
    /// From the values of the attributes, in the order of [`GROUPS`].
    ///
    /// # Errors
    /// The group whose word is none of its own.
    pub fn parse(words: [&str; GROUPS.len()]) -> Result<Self, &'static Group> {
        let mut staged = Self::default();
        for ((group, word), slot) in GROUPS.iter().zip(words).zip(&mut staged.0) {
            *slot = group.parse(word).ok_or(group)?;
        }
        Ok(staged)
    }

    /// The values of the attributes.
    #[must_use]
    pub fn words(self) -> [String; GROUPS.len()] {
        std::array::from_fn(|at| GROUPS[at].word(self.0[at]))
    }

    /// Names of what lies there: buffers, or `state`.
    #[must_use]
    pub fn names(self) -> Vec<&'static str> {
        let own = GROUPS.iter().zip(self.0);
        own.flat_map(|(group, staged)| group.names_of(staged)).collect()
    }

    /// Whether a buffer lies there, by its name in the program.
    #[must_use]
    pub fn holds(self, buffer: &str) -> bool {
        // The state of a later part of the keys has its number behind the name.
        let plain = buffer.split_once('-').map_or(buffer, |(name, _)| name);
        let name = if STATE.1.contains(&plain) { STATE.0 } else { buffer };
        self.names().contains(&name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_set_has_one_word_and_old_words_mean_what_they_did() {
        for group in &GROUPS {
            let words = group.words();
            assert_eq!(words.len(), 1 << group.names.len());
            for word in &words {
                let text = word.as_text().expect("a word");
                assert_eq!(group.parse(text).map(|set| group.word(set)).as_deref(), Some(text));
            }
        }
        let staged = Staged::parse(["staging", "weights+part_o", "dram"]).expect("words");
        assert_eq!(staged.words(), ["staging", "weights+part_o", "dram"]);
        assert_eq!(staged.names(), ["k", "v", "weights", "part_o"]);
        for (buffer, there) in [("v", true), ("given-v", false), ("scores", false), ("sum-1", false)] {
            assert_eq!(staged.holds(buffer), there, "{buffer}");
        }
        let state = Staged::parse(["dram", "dram", "staging"]).expect("words");
        assert!(state.holds("sum") && state.holds("running-3") && !state.holds("weights"));
        assert_eq!(
            Staged::parse(["k+q", "dram", "dram"]).map_err(|group| group.attribute),
            Err("operands")
        );
    }
}
