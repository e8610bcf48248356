//! Tables as CSV.

use coordinator::ExitCode;
use planner::network::Inventory;

use crate::failure::Failure;

/// Rows with a head.
pub(super) fn csv(head: &[&str], rows: &[Vec<String>]) -> Result<String, Failure> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    let wrong = |error: csv::Error| Failure::because(ExitCode::Failure, "the result can't be written as CSV", error);
    writer.write_record(head).map_err(wrong)?;
    for row in rows {
        writer.write_record(row).map_err(wrong)?;
    }
    let bytes = writer.into_inner().map_err(|error| {
        Failure::new(
            ExitCode::Failure,
            format!("the result can't be written as CSV: {error}"),
        )
    })?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// One line for each distinct layer of a network.
pub(super) fn shapes(inventory: &Inventory) -> Result<String, Failure> {
    let names: Vec<String> = inventory
        .models
        .iter()
        .map(|model| format!("{}_uses_per_pass", model.name))
        .collect();
    let mut head = vec![
        "class",
        "shape",
        "macs",
        "times",
        "macs_all",
        "parameters_each",
        "outputs",
        "label",
    ];
    head.extend(names.iter().map(String::as_str));
    let rows: Vec<Vec<String>> = inventory
        .shapes
        .iter()
        .map(|shape| {
            let uses = inventory
                .models
                .iter()
                .map(|model| shape.uses.get(&model.name).copied().unwrap_or(0).to_string());
            let own = [
                shape.class.clone(),
                shape.shape.clone(),
                shape.macs.to_string(),
                shape.times.to_string(),
                shape.macs_all.to_string(),
                shape.layer.parameters().total().to_string(),
                shape.layer.outputs().to_string(),
                inventory.label.to_owned(),
            ];
            own.into_iter().chain(uses).collect()
        })
        .collect();
    csv(&head, &rows)
}
