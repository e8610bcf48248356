//! One group of multiply-adds as a macro: a broadcast value times all held vectors (`ROW`), or, where rows are fewer than
//! vectors, a streaming vector times all held broadcast values (`COLUMN`).
//!
//! Each group is one asm statement. In plain C a compiler may let a sum change its register, and gcc then spills in every
//! shape that fills the register file; a statement with the sums as in-and-out operands leaves it no such choice.

use crate::isa::Isa;

/// What a group is made of: letters of the streaming value and of the held ones, and how many there are.
struct Group {
    by_column: bool,
    count: usize,
}

impl Group {
    fn streaming(&self) -> &'static str {
        if self.by_column { "y" } else { "x" }
    }

    fn held(&self) -> &'static str {
        if self.by_column { "x" } else { "y" }
    }

    fn names(&self, letter: &str) -> Vec<String> {
        (0..self.count).map(|n| format!("{letter}{n}")).collect()
    }
}

/// The macro that the steps of a kernel of `height` rows and `vectors` vectors are written with.
pub(crate) fn group_macro(isa: Isa, height: u32, vectors: u32) -> String {
    let by_column = vectors > height;
    let group = Group {
        by_column,
        count: if by_column { height } else { vectors } as usize,
    };
    let what = if by_column {
        "the vector at &from"
    } else {
        "the value `from`"
    };
    let head = format!(
        "/* Adds the product of {what} with {}n to cn. */\n#define {}(from, {}, {})",
        group.held(),
        if by_column { "COLUMN" } else { "ROW" },
        group.names("c").join(", "),
        group.names(group.held()).join(", ")
    );
    match isa {
        Isa::Avx2 | Isa::Avx512 => format!("{head} \\\n{}\n", statement(&group, &avx(&group), &[])),
        Isa::Neon => format!("{head} \\\n{}\n", statement(&group, &neon(&group), &[])),
        Isa::Plain => format!(
            "#if defined(__x86_64__)\n{head} \\\n{}#else\n{head} \\\n{}#endif\n\n",
            statement(&group, &sse(&group), &["product"]),
            portable(&group)
        ),
    }
}

/// The asm statement. Operands by number: the sums, the streaming value, other temporaries, the source, what is held.
fn statement(group: &Group, code: &[String], temporaries: &[&str]) -> String {
    let mut names = vec![group.streaming()];
    names.extend(temporaries);
    let mut outputs: Vec<String> = group
        .names("c")
        .iter()
        .map(|c| format!("\"+\" LS_VECTOR({c})"))
        .collect();
    outputs.extend(names.iter().map(|name| format!("\"=&\" LS_VECTOR({name})")));
    let source = if group.by_column {
        "*(const memory_vec *)&(from)"
    } else {
        "from"
    };
    let held: Vec<String> = group
        .names(group.held())
        .iter()
        .map(|h| format!("LS_VECTOR({h})"))
        .collect();
    format!(
        "    {{ vec {}; \\\n      __asm__(\"{}\" \\\n              : {} \\\n              : \"m\"({source}), {}); }}\n",
        names.join(", "),
        code.join("\\n\\t"),
        outputs.join(", "),
        held.join(", ")
    )
}

fn avx(group: &Group) -> Vec<String> {
    let n = group.count;
    let load = if group.by_column { "vmovups" } else { "vbroadcastss" };
    let mut code = vec![format!("{load} %{}, %{n}", n + 1)];
    code.extend((0..n).map(|i| format!("vfmadd231ps %{}, %{n}, %{i}", n + 2 + i)));
    code
}

/// A row's value lies in lane 0 and is multiplied by lane; a column's vector meets values that fill all lanes.
fn neon(group: &Group) -> Vec<String> {
    let n = group.count;
    let (load, lane) = if group.by_column { ("%q", "4s") } else { ("%s", "s[0]") };
    let mut code = vec![format!("ldr {load}{n}, %{}", n + 1)];
    code.extend((0..n).map(|i| format!("fmla %{i}.4s, %{}.4s, %{n}.{lane}", n + 2 + i)));
    code
}

/// Multiplication and addition apart; the last product may overwrite the streaming value.
fn sse(group: &Group) -> Vec<String> {
    let n = group.count;
    let (streaming, product, source) = (n, n + 1, n + 2);
    let mut code = if group.by_column {
        vec![format!("movups %{source}, %{streaming}")]
    } else {
        vec![
            format!("movss %{source}, %{streaming}"),
            format!("shufps $0, %{streaming}, %{streaming}"),
        ]
    };
    for i in 0..n {
        let into = if i + 1 == n { streaming } else { product };
        if into == product {
            code.push(format!("movaps %{streaming}, %{product}"));
        }
        code.push(format!("mulps %{}, %{into}", source + 1 + i));
        code.push(format!("addps %{into}, %{i}"));
    }
    code
}

fn portable(group: &Group) -> String {
    let (streaming, held) = (group.streaming(), group.held());
    let load = if group.by_column {
        "load(&(from))"
    } else {
        "splat(from)"
    };
    let adds: Vec<String> = (0..group.count)
        .map(|i| format!("c{i} += {streaming} * {held}{i}; PIN(c{i});"))
        .collect();
    format!(
        "    {{ vec {streaming} = {load}; PIN({streaming}); {} }}\n",
        adds.join(" ")
    )
}
