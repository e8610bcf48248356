//! How much a phase moves, and what bounds it from below.

use super::transfer::Transfer;
use crate::costs::{CostTable, Cycles};
use crate::device::{TILES, WORD_BYTES};

/// Fewest words of a transfer that borrows its partner's lane.
const PAIRED_WORDS: usize = 128;

/// Whether a transfer may use the lanes of its source's pair and go to whole pairs, 8 bytes per cycle.
#[must_use]
pub fn paired_eligible(t: &Transfer) -> bool {
    let aligned = t.from.offset.is_multiple_of(8) && t.to.offset.is_multiple_of(8);
    let whole_pairs = t.destinations.chunks(2).all(|pair| match *pair {
        [a, b] => a % 2 == 0 && b == a + 1,
        _ => false,
    });
    let own_pair = t.destinations.iter().any(|&tile| tile / 2 == t.source / 2);
    t.words >= PAIRED_WORDS && t.words.is_multiple_of(2) && aligned && whole_pairs && !own_pair
}

/// Traffic of one phase.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Stats {
    /// Transfers.
    pub transfers: usize,
    /// Receivers of all transfers.
    pub endpoints: usize,
    /// Words that leave a tile.
    pub source_words: usize,
    /// Words that arrive at a tile.
    pub delivered_words: usize,
    /// Most words that one tile sends.
    pub max_send_words: usize,
    /// Most words that one tile receives.
    pub max_receive_words: usize,
    /// Most transfers that one tile receives.
    pub max_receive_fragments: usize,
    /// Most transfers that one tile sends.
    pub max_send_fragments: usize,
    /// Most words that a pair of tiles sends.
    pub max_pair_words: usize,
    /// Most transfers that a pair of tiles sends.
    pub max_pair_fragments: usize,
    /// Transfers that may be paired.
    pub eligible_paired: usize,
    /// Cycles of the busiest lane when every eligible transfer is paired.
    pub paired_bound: usize,
}

impl Stats {
    /// Of these transfers.
    #[must_use]
    pub fn new(transfers: &[Transfer]) -> Self {
        let mut stats = Self {
            transfers: transfers.len(),
            ..Self::default()
        };
        let lanes = || vec![0usize; TILES];
        let (mut send, mut receive, mut sent, mut received) = (lanes(), lanes(), lanes(), lanes());
        let (mut send_lane, mut receive_lane) = (lanes(), lanes());
        for t in transfers {
            stats.endpoints += t.destinations.len();
            stats.source_words += t.words;
            stats.delivered_words += t.words * t.destinations.len();
            let paired = paired_eligible(t);
            stats.eligible_paired += usize::from(paired);
            let items = if paired { t.words / 2 } else { t.words };
            send[t.source] += t.words;
            sent[t.source] += 1;
            send_lane[t.source] += items;
            if paired {
                send_lane[t.source ^ 1] += items;
            }
            for &tile in t.destinations.iter() {
                receive[tile] += t.words;
                received[tile] += 1;
                receive_lane[tile] += items;
            }
        }
        let most = |lane: &[usize]| lane.iter().copied().max().unwrap_or(0);
        let pairs = |lane: &[usize]| lane.chunks(2).map(|pair| pair.iter().sum::<usize>()).max().unwrap_or(0);
        stats.max_send_words = most(&send);
        stats.max_receive_words = most(&receive);
        stats.max_send_fragments = most(&sent);
        stats.max_receive_fragments = most(&received);
        stats.max_pair_words = pairs(&send);
        stats.max_pair_fragments = pairs(&sent);
        stats.paired_bound = most(&send_lane).max(most(&receive_lane));
        stats
    }

    /// Cycles of the busiest lane without paired transfers.
    #[must_use]
    pub fn ordinary_bound(&self) -> usize {
        self.max_send_words.max(self.max_receive_words)
    }

    /// Price of the phase before it is scheduled. The planner of the sweep summed the sends of a pair (`shared`),
    /// although the two tiles send independently.
    ///
    /// # Errors
    /// Where the table has no price for it.
    pub fn price(&self, costs: &CostTable, shared: bool) -> Cycles {
        let (words, fragments) = if shared {
            (self.max_pair_words, self.max_pair_fragments)
        } else {
            (self.max_send_words, self.max_send_fragments)
        };
        let bytes = WORD_BYTES * words.max(self.max_receive_words);
        let fragments = fragments.max(self.max_receive_fragments);
        costs.phase(bytes, fragments)
    }
}
