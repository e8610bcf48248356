//! Workers of a cohort that is too large for each of them to read all of it.

use crate::support::Bench;

/// 20,000 cases, the control among them, that are built to one program.
const DEFINITION: &str = r#"target = "command"
control = "plain"

[[case]]
name = "plain"
plan = { x = 1, y = 1 }

[command]
build = ["sh", "-c", "echo x >\"$1\"", "sh", "{artifact}"]
run = ["sh", "-c", "test -s \"$3\" && echo ns=$((100 + $1 + $2)) && echo pass", "sh", "{x}", "{y}", "{artifact}"]
devices = []

[command.result]
time = { regex = '^ns=(\d+)$', unit = "ns" }
pass = { regex = '^pass$' }
objective = "time"

[parameters]
x = "1:1000:1"
y = "1:20:1"

[explore]
exhaustive = { limit = 20000 }

[measure]
rounds = 1
finalists = 0
"#;

#[test]
fn a_worker_reads_its_own_part_of_a_large_cohort() {
    let bench = Bench::new();
    bench.define("large", DEFINITION);
    let cohort = "cohorts/large";
    bench.expect(0, &["freeze", "cohorts/large.toml"]);
    let (said, _) = bench.expect(0, &["shards", cohort, "--hand-out", "--size", "4"]);
    assert!(said.contains("5,000 shards with cases left"), "{said}");
    // One without the control, that of the control, and another one.
    for shard in ["1/7", "1/0", "1/9"] {
        let ran = bench.json(&["run", cohort, "--shard", shard, "--no-cache", "--format", "json"]);
        assert_eq!(
            (&ran["counts"]["correct"], &ran["rounds_done"]),
            (&4.into(), &4.into()),
            "{shard}: {ran}"
        );
    }
    // Again: nothing is left, and whoever reads its part knows.
    let ran = bench.json(&["run", cohort, "--shard", "1/7", "--format", "json"]);
    assert_eq!(
        (&ran["counts"]["correct"], &ran["rounds_done"]),
        (&4.into(), &0.into()),
        "{ran}"
    );
    let status = bench.json(&["status", cohort, "--format", "json"]);
    assert_eq!(
        (&status["counts"]["correct"], &status["counts"]["waiting"]),
        (&12.into(), &19_988.into())
    );
    bench.expect(0, &["verify", cohort]);
    let rounds = bench
        .records(cohort)
        .into_iter()
        .filter(|record| record["record"] == "run");
    let mut cases: Vec<String> = rounds.map(|record| record["case"].to_string()).collect();
    cases.sort();
    cases.dedup();
    assert_eq!(cases.len(), 12);
    // Records of others say that the program is there.
    let records = bench.records(cohort);
    let built = records
        .iter()
        .filter(|record| record.to_string().contains("\"build_ms\""));
    assert_eq!(built.count(), 1, "{records:?}");
}
