//! What a cohort is on disk, and its state.
