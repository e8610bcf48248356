//! Reads what the compiler made of the micro-kernels: an inner loop that touches the stack has spilled.
//!
//! The generator leaves a comment `layout-sweep k-loop NAME` inside each inner loop. The loop is what lies between the
//! nearest label before the comment that a later jump goes back to, and that jump.

use std::collections::HashMap;

/// The text that marks an inner loop; the kernel's name follows.
pub const MARKER: &str = "layout-sweep k-loop ";

/// An inner loop that keeps everything in registers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KernelLoop {
    /// Name of the kernel.
    pub kernel: String,
    /// Instructions in one iteration.
    pub instructions: u32,
}

/// Why an object is not fit to be measured.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Spill {
    /// The inner loop reads or writes the stack.
    #[error("the inner loop of `{kernel}` touches the stack in line {line}: `{text}`")]
    Stack {
        /// Name of the kernel.
        kernel: String,
        /// Line of the assembly text, from 1.
        line: usize,
        /// The instruction.
        text: String,
    },
    /// A marker that lies in no loop.
    #[error("the marker of `{kernel}` lies in no loop: the compiler has changed it beyond recognition")]
    NoLoop {
        /// Name of the kernel.
        kernel: String,
    },
    /// No marker at all.
    #[error("no inner loop is marked: this is not the assembly of a generated source")]
    NoMarker,
}

/// Finds every marked inner loop and refuses those that touch the stack.
///
/// # Errors
///
/// [`Spill`] for the first loop with a stack operand, for a marker outside every loop, and for a text without markers.
pub fn check(assembly: &str) -> Result<Vec<KernelLoop>, Spill> {
    let lines: Vec<&str> = assembly.lines().collect();
    let labels: HashMap<&str, usize> = lines
        .iter()
        .enumerate()
        .filter_map(|(n, line)| Some((line.split_once(':')?.0, n)))
        .filter(|(name, _)| !name.is_empty() && !name.contains(char::is_whitespace))
        .collect();
    // Backward jumps as (label's line, jump's line).
    let loops: Vec<(usize, usize)> = lines
        .iter()
        .enumerate()
        .filter_map(|(n, line)| Some((*labels.get(jump_target(line)?)?, n)))
        .filter(|(label, jump)| label < jump)
        .collect();
    let mut found: Vec<KernelLoop> = Vec::new();
    let mut astray: Option<String> = None;
    for (n, line) in lines.iter().enumerate() {
        let Some((_, name)) = line.split_once(MARKER) else {
            continue;
        };
        let kernel = name.split_whitespace().next().unwrap_or_default().to_owned();
        let innermost = loops
            .iter()
            .filter(|(label, jump)| *label < n && n < *jump)
            .max_by_key(|(label, _)| *label);
        let Some((label, jump)) = innermost else {
            astray.get_or_insert(kernel);
            continue;
        };
        let body = lines
            .iter()
            .enumerate()
            .take(jump + 1)
            .skip(label + 1)
            .filter(|(_, text)| is_instruction(text));
        let stack = stack_operands(&lines, n);
        let mut instructions = 0;
        for (at, text) in body {
            if touches_stack(text, &stack) {
                return Err(Spill::Stack {
                    kernel,
                    line: at + 1,
                    text: text.trim().to_owned(),
                });
            }
            instructions += 1;
        }
        found.push(KernelLoop { kernel, instructions });
    }
    // A compiler may peel an iteration, marker included; the loop itself must still be there.
    match astray {
        Some(kernel) if !found.iter().any(|known| known.kernel == kernel) => Err(Spill::NoLoop { kernel }),
        _ if found.is_empty() => Err(Spill::NoMarker),
        _ => Ok(found),
    }
}

/// Label that a jump goes to: x86-64 `j..`, `AArch64` `b`, `b.cond`, `cbnz` and their like.
fn jump_target(line: &str) -> Option<&str> {
    let mut words = line.split_whitespace();
    let mnemonic = words.next()?;
    let jumps = mnemonic.starts_with('j')
        || mnemonic == "b"
        || mnemonic.starts_with("b.")
        || [
            "beq", "bne", "bgt", "bge", "blt", "ble", "bhi", "bhs", "blo", "bls", "bcs", "bcc", "bmi", "bpl", "bany",
        ]
        .contains(&mnemonic)
        || ["cbz", "cbnz", "tbz", "tbnz"].contains(&mnemonic);
    if !jumps {
        return None;
    }
    words.last().map(|target| target.trim_start_matches(','))
}

fn is_instruction(line: &str) -> bool {
    let text = line.trim();
    !(text.is_empty() || text.starts_with(['.', '#', '/', '@']) || text.ends_with(':'))
}

/// Registers that address the stack in the function around line `at`: the stack pointer, and the frame pointer where the
/// function sets one up (gcc does so to align spilled vectors; elsewhere `%rbp` is a register like any other).
fn stack_operands(lines: &[&str], at: usize) -> Vec<&'static str> {
    let mut operands = vec!["(%rsp", "[sp"];
    let start = (0..at).rev().find(|n| is_function_label(lines[*n])).unwrap_or(0);
    for line in &lines[start..at] {
        let words: String = line.split_whitespace().collect::<Vec<_>>().join(" ");
        if words.starts_with("movq %rsp, %rbp") {
            operands.push("(%rbp");
        }
        if words.starts_with("mov x29, sp") || words.starts_with("add x29, sp") {
            operands.push("[x29");
        }
    }
    operands
}

fn is_function_label(line: &str) -> bool {
    line.split_once(':')
        .is_some_and(|(name, _)| !name.is_empty() && !name.starts_with('.') && !name.contains(char::is_whitespace))
}

fn touches_stack(line: &str, operands: &[&str]) -> bool {
    operands.iter().any(|operand| line.contains(operand))
        || line.trim_start().starts_with("push")
        || line.trim_start().starts_with("pop")
}
