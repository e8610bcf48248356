//! What one tile already does in a phase.

use super::job::{Arrival, Span};
use crate::device::{INTERLEAVED_BASE, INTERLEAVED_ELEMENT, STANDARD_ELEMENT};

/// What a control does. A pointer may share its cycle with an ordinary selection or deselection; nothing else may.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ControlKind {
    /// Selects the source.
    Select,
    /// Deselects it.
    Neutral,
    /// Sets the address that words are written to.
    Pointer,
    /// Switches to or from the wide format.
    Format,
}

/// One control of a tile.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Control {
    /// Its cycle.
    pub at: i64,
    /// What it does.
    pub kind: ControlKind,
    /// Whether it belongs to a paired transfer.
    pub paired: bool,
}

impl Control {
    fn shares_with(self, other: Self) -> bool {
        let pointer = self.kind == ControlKind::Pointer || other.kind == ControlKind::Pointer;
        let selection = |c: Self| matches!(c.kind, ControlKind::Select | ControlKind::Neutral) && !c.paired;
        pointer && (selection(self) || selection(other))
    }
}

/// A use of memory in time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Use {
    start: i64,
    end: i64,
    first: usize,
    last: usize,
}

/// Number of the memory element of an address.
fn element(address: usize) -> usize {
    let standard = INTERLEAVED_BASE / STANDARD_ELEMENT;
    if address < INTERLEAVED_BASE {
        address / STANDARD_ELEMENT
    } else {
        standard + (address - INTERLEAVED_BASE) / INTERLEAVED_ELEMENT
    }
}

/// The last receive of a tile.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Last {
    listen_end: i64,
    write_end: i64,
    address_end: usize,
    paired: bool,
    direction: u8,
    format_end: i64,
}

/// What one tile already does in a phase.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Tile {
    /// Own sends, ascending.
    pub sends: Vec<(i64, i64)>,
    /// All controls, ascending.
    pub controls: Vec<Control>,
    lane_reserved: i64,
    last: Option<Last>,
    reads: Vec<Use>,
    writes: Vec<Use>,
}

/// The controls that one more receive adds, and the one or two that it makes unnecessary.
#[derive(Debug, Default)]
struct Change {
    add: [Option<Control>; 4],
    drop: [Option<Control>; 2],
}

impl Tile {
    /// End of everything that occupies the send lane.
    #[must_use]
    pub fn lane_end(&self) -> i64 {
        self.sends.last().map_or(0, |send| send.1).max(self.lane_reserved)
    }

    /// End of the last payload that arrives.
    #[must_use]
    pub fn receive_end(&self) -> i64 {
        self.last.map_or(0, |last| last.write_end)
    }

    /// First start, not before `start`, of a send of `items` cycles. It may fill a gap, but not before the end of a
    /// lane's reservation.
    #[must_use]
    pub fn send_slot(&self, start: i64, items: i64) -> i64 {
        let mut start = start.max(self.lane_reserved);
        let first = self.sends.partition_point(|send| send.1 <= start);
        for send in &self.sends[first..] {
            if start + items <= send.0 {
                break;
            }
            start = start.max(send.1);
        }
        start
    }

    /// First offset, not before `offset`, at which this arrival comes behind all earlier ones.
    #[must_use]
    pub fn arrival_slot(&self, offset: i64, arrival: &Arrival) -> i64 {
        let Some(last) = self.last else { return offset };
        let mut offset = offset
            .max(last.listen_end - arrival.listen)
            .max(last.write_end - arrival.write);
        if let (Some(format), false) = (arrival.format, last.paired) {
            offset = offset.max(last.write_end - format);
        }
        offset
    }

    fn change(&self, arrival: &Arrival, offset: i64, items: i64, address: usize) -> Change {
        let mut change = Change::default();
        let paired = arrival.format.is_some();
        let control = |at: i64, kind| {
            Some(Control {
                at: offset + at,
                kind,
                paired,
            })
        };
        let last = self.last;
        let format_goes_on = last.is_some_and(|last| {
            last.paired
                && last.direction == arrival.direction
                && arrival.format.is_some_and(|format| format + offset == last.format_end)
        });
        if arrival.selects {
            change.add[0] = control(arrival.listen, ControlKind::Select);
            change.add[1] = control(arrival.listen + items, ControlKind::Neutral);
            let previous = last.is_some_and(|last| last.paired);
            if previous == paired && (!paired || format_goes_on) {
                change.drop[0] = control(arrival.listen, ControlKind::Neutral);
            }
        }
        match arrival.format {
            Some(format) => {
                change.add[2] = control(arrival.write, ControlKind::Pointer);
                if format_goes_on {
                    change.drop[1] = control(format, ControlKind::Format);
                } else {
                    change.add[3] = control(format, ControlKind::Format);
                }
            }
            None => {
                if !last.is_some_and(|last| !last.paired && last.address_end == address) {
                    change.add[2] = control(arrival.write, ControlKind::Pointer);
                }
            }
        }
        change
    }

    fn format_off(arrival: &Arrival, offset: i64, items: i64) -> Option<Control> {
        let at = arrival.format? + items + offset;
        Some(Control {
            at,
            kind: ControlKind::Format,
            paired: true,
        })
    }

    /// Whether the controls of this arrival find their cycles free.
    #[must_use]
    pub fn controls_fit(&self, arrival: &Arrival, offset: i64, items: i64, address: usize) -> bool {
        let change = self.change(arrival, offset, items, address);
        let new = change
            .add
            .into_iter()
            .flatten()
            .chain(Self::format_off(arrival, offset, items));
        for control in new {
            let first = self.controls.partition_point(|c| c.at < control.at);
            let there = self.controls[first..].iter().take_while(|c| c.at == control.at);
            let there = there.filter(|&&c| !change.drop.contains(&Some(c)));
            let mut count = 0;
            for &other in there {
                count += 1;
                if count > 1 || !control.shares_with(other) {
                    return false;
                }
            }
            if self.starts_at(control.at) || self.starts_at(control.at - 1) {
                return false;
            }
        }
        true
    }

    fn starts_at(&self, at: i64) -> bool {
        self.sends.binary_search_by_key(&at, |send| send.0).is_ok()
    }

    /// Whether a send may start at `start`: no control lies in its first two cycles.
    #[must_use]
    pub fn start_fits(&self, start: i64) -> bool {
        let first = self.controls.partition_point(|c| c.at < start);
        self.controls.get(first).is_none_or(|c| c.at > start + 1)
    }

    /// By how much a read that starts at `start` must move so that it clears the writes that it meets.
    #[must_use]
    pub fn read_conflict(&self, start: i64, end: i64, span: Span) -> Option<i64> {
        conflict(&self.writes, start, end, span)
    }

    /// By how much a write that starts at `start` must move so that it clears the reads that it meets.
    #[must_use]
    pub fn write_conflict(&self, start: i64, end: i64, span: Span) -> Option<i64> {
        conflict(&self.reads, start, end, span)
    }

    /// Adds a send.
    pub fn add_send(&mut self, start: i64, items: i64, horizon: i64, span: Span) {
        let at = self.sends.partition_point(|send| send.0 < start);
        self.sends.insert(at, (start, start + items));
        self.reads.push(used(start, horizon, span));
    }

    /// Reserves the send lane for the partner.
    pub fn reserve_lane(&mut self, end: i64) {
        self.lane_reserved = self.lane_reserved.max(end);
    }

    /// Adds a receive.
    pub fn add_arrival(&mut self, arrival: &Arrival, offset: i64, items: i64, span: Span) {
        let change = self.change(arrival, offset, items, span.start);
        for control in change.drop.into_iter().flatten() {
            if let Ok(at) = self.controls.binary_search(&control) {
                self.controls.remove(at);
            }
        }
        let new = change
            .add
            .into_iter()
            .flatten()
            .chain(Self::format_off(arrival, offset, items));
        for control in new {
            let at = self.controls.partition_point(|c| *c < control);
            self.controls.insert(at, control);
        }
        self.last = Some(Last {
            listen_end: offset + arrival.listen + items,
            write_end: offset + arrival.write + items,
            address_end: span.end,
            paired: arrival.format.is_some(),
            direction: arrival.direction,
            format_end: arrival.format.map_or(0, |format| offset + format + items),
        });
        self.writes
            .push(used(offset + arrival.write, offset + arrival.horizon, span));
    }
}

fn used(start: i64, end: i64, span: Span) -> Use {
    Use {
        start,
        end,
        first: element(span.start),
        last: element(span.end.max(span.start + 1) - 1),
    }
}

fn conflict(uses: &[Use], start: i64, end: i64, span: Span) -> Option<i64> {
    let new = used(start, end, span);
    uses.iter()
        .filter(|u| u.first <= new.last && new.first <= u.last && u.start < new.end && new.start < u.end)
        .map(|u| u.end - start)
        .max()
}
