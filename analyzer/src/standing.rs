//! What may be said of the winner against the control.

use crate::analysis::{CaseRow, Figure, WorkloadRow};

/// How the answer stands.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Standing<'a> {
    /// The control, or what stands for it, is the best.
    Control,
    /// The control failed as a case, so that it can't be taken, and nothing is a gain over it.
    ControlFailed(&'a CaseRow),
    /// Fresh builds that did not choose the winner show no gain.
    Unconfirmed(Figure),
    /// No case is shown to be better than the control.
    Nothing,
    /// The winner has the best median, but only others are shown to be better than the control: this one with the best
    /// median of these.
    Another(&'a CaseRow, Figure),
    /// The winner is shown to be better.
    Winner,
}

impl WorkloadRow {
    /// How the answer stands; `None` without a winner.
    pub(crate) fn standing(&self) -> Option<Standing<'_>> {
        let winner = self.winner.as_ref()?;
        if winner.case == self.control {
            return Some(Standing::Control);
        }
        let control = self.case(&self.control);
        if let Some(failed) = control.filter(|control| control.ratio.is_none() && control.outcome.is_failure()) {
            return Some(Standing::ControlFailed(failed));
        }
        let confirmed = winner.confirmed_ratio;
        if let Some(shown) = confirmed.and_then(|figure| self.is_gain(figure)) {
            let unconfirmed = confirmed.filter(|_| !shown);
            return Some(unconfirmed.map_or(Standing::Winner, Standing::Unconfirmed));
        }
        // Of many cases some lie below the control by chance: the winner set looks at all of them at once.
        let tied = winner.ties.as_ref().is_some_and(|ties| ties.contains(&self.control));
        let shown = |(case, figure): &(&CaseRow, Figure)| {
            !tied && case.name != self.control && self.is_gain(*figure) == Some(true)
        };
        Some(match self.best().into_iter().find(shown) {
            Some((case, _)) if case.name == winner.case => Standing::Winner,
            Some((case, figure)) => Standing::Another(case, figure),
            None => confirmed.map_or(Standing::Nothing, Standing::Unconfirmed),
        })
    }

    /// Whether any case but confirmations is shown to be better than the control: the control does not tie with the winner,
    /// and the case's interval lies wholly below 1, or, where the control stands by itself and varies, wholly below the
    /// control's own; where values do not vary, its ratio lies below 1. Where the winner was confirmed with enough pairs for an
    /// interval, these decide: the rounds that chose it flatter it.
    #[must_use]
    pub fn shows_a_gain(&self) -> bool {
        matches!(self.standing(), Some(Standing::Winner | Standing::Another(..)))
    }

    /// Whether a ratio is shown to be better than the control's; `None` where it, or the control's, has no interval.
    fn is_gain(&self, figure: Figure) -> Option<bool> {
        if !self.varies {
            return Some(figure.median < 1.0);
        }
        let control = self.case(&self.control).and_then(|control| control.ratio);
        // A control that was called beside the cases is 1 by definition.
        let least = match control.filter(|control| !control.is_exact()) {
            Some(control) => control.lower?,
            None => 1.0,
        };
        figure.upper.map(|upper| upper < least)
    }
}
