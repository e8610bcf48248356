//! The machine: what must stay the same, what is recorded, what was measured.
//!
//! The measured facts are the harness's own report, whole: [`MachineReport`] as JSON in [`Machine::facts`].

use std::collections::BTreeMap;

use target_api::{Captured, Host, Machine, Malformed, Tool};

use crate::compile::FLAGS;
use crate::harness::{ABI, MachineReport};
use crate::isa::Isa;

/// The widest instruction set of this host that kernels are written for.
#[must_use]
pub fn best_isa(host: &Host) -> Isa {
    let has = |flag: &str| host.flags.iter().any(|own| own == flag);
    match host.architecture.as_str() {
        "x86_64" if has("avx512f") && has("fma") => Isa::Avx512,
        "x86_64" if has("avx2") && has("fma") => Isa::Avx2,
        "aarch64" => Isa::Neon,
        _ => Isa::Plain,
    }
}

/// Instruction sets that the host runs, the widest first.
#[must_use]
pub fn runnable(best: Isa) -> Vec<Isa> {
    match best {
        Isa::Avx512 => vec![Isa::Avx512, Isa::Avx2, Isa::Plain],
        Isa::Avx2 => vec![Isa::Avx2, Isa::Plain],
        Isa::Neon => vec![Isa::Neon, Isa::Plain],
        Isa::Plain => vec![Isa::Plain],
    }
}

/// The machine, from what the host says and the harness measured.
///
/// Class, which must match when a cohort goes on: processor, caches as the system reports them, instruction-set flags,
/// governor, compiler (path, version, digest) and its flags, the instruction set chosen by default. Measured figures are
/// not of the class: they vary from minute to minute.
pub fn machine(host: &Host, tools: Vec<Tool>, probe: Option<&Captured>) -> Result<Machine, Malformed> {
    let probe = probe.ok_or_else(|| Malformed("the machine was not measured".to_owned()))?;
    let report = parse_report(probe)?;
    let facts = serde_json::to_value(&report).map_err(|error| Malformed(error.to_string()))?;
    let mut class = BTreeMap::from([
        ("architecture".to_owned(), host.architecture.clone()),
        ("cpu_model".to_owned(), host.cpu_model.clone()),
        ("flags".to_owned(), host.flags.join(" ")),
        ("isa".to_owned(), best_isa(host).word().to_owned()),
        (
            "governor".to_owned(),
            host.governor.clone().unwrap_or_else(|| "unknown".to_owned()),
        ),
        ("compiler.flags".to_owned(), FLAGS.join(" ")),
    ]);
    class.extend(
        host.caches
            .iter()
            .map(|(name, bytes)| (format!("cache.{name}_bytes"), bytes.to_string())),
    );
    for tool in &tools {
        class.insert(format!("{}.path", tool.name), tool.path.clone());
        class.insert(format!("{}.version", tool.name), tool.version.clone());
        class.insert(format!("{}.sha256", tool.name), tool.sha256.clone());
    }
    let instance = BTreeMap::from([
        ("hostname".to_owned(), host.hostname.clone()),
        ("kernel".to_owned(), host.kernel.clone()),
        ("boot_id".to_owned(), host.boot_id.clone()),
    ]);
    Ok(Machine {
        class,
        instance,
        tools,
        facts,
    })
}

/// How a command that should have ended with 0 ended.
pub(crate) fn how_it_ended(captured: &Captured) -> String {
    match (captured.exit_code, captured.signal) {
        (Some(code), _) => format!("ended with exit code {code}"),
        (None, Some(signal)) => format!("was ended by signal {signal}"),
        (None, None) => "ended, nobody knows how".to_owned(),
    }
}

/// Reads what the harness printed in mode `machine`.
pub fn parse_report(captured: &Captured) -> Result<MachineReport, Malformed> {
    if captured.exit_code != Some(0) {
        let message = format!(
            "measuring the machine {}: {}",
            how_it_ended(captured),
            captured.stderr.trim()
        );
        return Err(Malformed(message));
    }
    let report: MachineReport = serde_json::from_str(&captured.stdout).map_err(|error| Malformed(error.to_string()))?;
    if report.kind != "machine" || report.abi != ABI {
        let message = format!(
            "expected a `machine` report of version {ABI}, found `{}` of {}",
            report.kind, report.abi
        );
        return Err(Malformed(message));
    }
    Ok(report)
}

/// The measured facts of a frozen machine.
pub fn facts(machine: &Machine) -> Result<MachineReport, Malformed> {
    serde_json::from_value(machine.facts.clone()).map_err(|error| Malformed(error.to_string()))
}
