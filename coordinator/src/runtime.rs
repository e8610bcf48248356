//! The coordinator's runtime: one thread. A parent-death signal follows the thread that spawned, so there is only one.

/// Runs a future to its end.
pub(crate) fn block_on<F: Future>(future: F) -> std::io::Result<F::Output> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    Ok(runtime.block_on(future))
}
