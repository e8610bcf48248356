//! Whether a tile's instructions for a phase can be encoded.
//!
//! Two controls in one cycle are one instruction of two words that must begin at an even word of the row.

use super::tile::{Control, ControlKind, Tile};

/// Most items that a control, or the first word of a send, carries along.
const CARRIED: i64 = 64;
/// Most cycles that one delay or send word covers.
const COVERED: i64 = 4096;
/// Most cycles that a pointer or format control can wait by itself.
const SHORT_WAIT: i64 = 128;

/// All controls of one cycle.
#[derive(Debug, Clone, Copy)]
struct Event {
    at: i64,
    pair: bool,
    long_wait: bool,
}

/// Position in a row: cycles that are covered, and words that are written. A control is issued one cycle before it
/// takes effect.
#[derive(Debug, Clone, Copy)]
struct Row {
    covered: i64,
    words: u64,
}

/// Whether all rows of a tile can be encoded.
pub(super) fn alignable(tile: &Tile) -> bool {
    let events = events(&tile.controls);
    // Without shared cycles nothing has to begin at an even word.
    if events.iter().all(|event| !event.pair) {
        return true;
    }
    let mut row = Row { covered: 0, words: 0 };
    let mut rest = events.as_slice();
    for &(start, end) in &tile.sends {
        let (before, after) = rest.split_at(rest.partition_point(|event| event.at < start));
        let (inside, after) = after.split_at(after.partition_point(|event| event.at < end));
        if !row.idle(before, start) || !row.send(start, end, inside) {
            return false;
        }
        rest = after;
    }
    row.idle(rest, i64::MAX)
}

fn events(controls: &[Control]) -> Vec<Event> {
    controls
        .chunk_by(|a, b| a.at == b.at)
        .filter_map(|shared| {
            let first = shared.first()?;
            let long_wait = matches!(first.kind, ControlKind::Select | ControlKind::Neutral);
            Some(Event {
                at: first.at,
                pair: shared.len() > 1,
                long_wait,
            })
        })
        .collect()
}

impl Row {
    /// Controls outside sends; the next send starts at `end`.
    fn idle(&mut self, events: &[Event], end: i64) -> bool {
        for (i, event) in events.iter().enumerate() {
            let issue = event.at - 1;
            let wait = issue - self.covered;
            if event.pair {
                let odd = !self.words.is_multiple_of(2);
                if odd && wait <= 0 {
                    return false;
                }
                self.words += match (odd, wait > 1) {
                    (true, _) => 1,
                    (false, true) => 2,
                    (false, false) => 0,
                };
                self.words += 2;
                let next = events.get(i + 1).map_or(end, |next| next.at);
                self.covered = (issue + CARRIED).min(next - 2).max(issue + 1);
            } else {
                let most = if event.long_wait { COVERED } else { SHORT_WAIT };
                self.words += 1 + u64::from(wait > most);
                self.covered = issue + 1;
            }
        }
        true
    }

    /// A send, with the controls that lie in it.
    fn send(&mut self, start: i64, end: i64, events: &[Event]) -> bool {
        self.words += u64::from(start - 1 > self.covered);
        self.covered = start;
        for (i, event) in events.iter().enumerate() {
            let issue = event.at - 1;
            let items = issue - self.covered;
            self.words += words(items, i == 0);
            if event.pair && !self.words.is_multiple_of(2) {
                if items < 2 {
                    return false;
                }
                self.words += 1;
            }
            self.words += if event.pair { 2 } else { 1 };
            let next = events.get(i + 1);
            let until = next.map_or(end, |next| next.at - 1) - issue;
            let odd_pair = next.is_some_and(|next| next.pair) && !self.words.is_multiple_of(2);
            // One item left over becomes a word of its own, so that the pair begins at an even one.
            let carried = if odd_pair && until > 1 {
                CARRIED.min(until - 1)
            } else {
                CARRIED.min(until)
            };
            self.covered = issue + carried;
        }
        self.words += words(end - self.covered, events.is_empty());
        self.covered = end;
        true
    }
}

/// Words for items of a send without a control: the first one of a send holds few.
fn words(items: i64, first: bool) -> u64 {
    let chunks = |items: i64| {
        u64::try_from(items.max(0))
            .unwrap_or(0)
            .div_ceil(COVERED.unsigned_abs())
    };
    match (items > 0, first) {
        (false, _) => 0,
        (true, true) => 1 + chunks(items - CARRIED),
        (true, false) => chunks(items),
    }
}
