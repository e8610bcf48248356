//! Ranks, paired medians, intervals: pure functions over samples.
