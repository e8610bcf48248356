//! What a target is: spaces, estimates, sources, commands, and what their output means.
