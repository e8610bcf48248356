//! `report.html`: its bytes, its escaping, and what it does in a browser.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

mod browser;
mod common;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use analyzer::Analysis;
use analyzer::page::{self, Input, Links, Profiled};
use browser::{Browser, chromium};
use common::{Fixture, typical};
use planner::Value;
use proptest::prelude::*;
use serde_json::json;
use target_api::{Lane, Span, Timeline};

/// The page of an analysis.
fn rendered(analysis: &Analysis) -> String {
    let (links, parameters) = (Links::default(), BTreeMap::new());
    let input = Input {
        analysis,
        links: &links,
        parameters: &parameters,
        timelines: &BTreeMap::new(),
    };
    String::from_utf8(page::render(&input).unwrap()).unwrap()
}

/// The page of a cohort.
fn page_of(it: &Fixture) -> String {
    rendered(&it.analysis())
}

/// [`typical`] with attributes: two that vary, one that does not.
fn rich() -> Fixture {
    let mut it = typical();
    for (index, case) in (0..).zip(&mut it.cases) {
        case.plan.attributes.set("up.rows", Value::Integer(1 << (index % 3)));
        case.plan
            .attributes
            .set("up.order", Value::text(if index % 2 == 0 { "ckr" } else { "rkc" }));
        case.plan.attributes.set("threads", Value::Integer(2));
    }
    it
}

static RICH: LazyLock<Analysis> = LazyLock::new(|| rich().analysis());

/// The same with a second number beside the time, of which the fastest cases have most.
static TWO_NUMBERS: LazyLock<Analysis> = LazyLock::new(|| {
    let mut analysis = RICH.clone();
    for row in &mut analysis.workloads[0].cases {
        if let Some(ratio) = row.ratio {
            row.other
                .insert("dram_words".to_owned(), (900.0 / ratio.median).round());
        }
    }
    analysis
});

/// Writes a page into a folder of its own.
fn written(page: &str) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("report.html");
    std::fs::write(&file, page).unwrap();
    (folder, file)
}

#[test]
fn the_same_cohort_gives_the_same_bytes() {
    assert!(page_of(&rich()) == rendered(&RICH));
}

#[test]
fn the_library_is_the_one_that_is_named() {
    let version = format!("t.version=\"{}\"", page::assets::ECHARTS_VERSION);
    assert!(page::assets::ECHARTS.contains(&version));
    assert!(
        !page::assets::ECHARTS.contains("</script"),
        "it would end its own element"
    );
}

#[test]
fn the_answer_and_the_first_cases_stand_before_any_script() {
    let page = rendered(&RICH);
    let before = &page[..page.find("<script").unwrap()];
    for wanted in [
        "Take <a class=\"case\"",
        "cross-0-0",
        "row-major",
        "confirm-cross-0-0",
        "down-03",
        "measured",
    ] {
        assert!(before.contains(wanted), "{wanted}");
    }
    assert!(before.len() < 100_000, "{} bytes", before.len());
    assert!(page.contains("default-src 'none'"));
}

#[test]
fn the_winner_is_repeated_from_its_parameters_alone() {
    let page_with = |parameters: &BTreeMap<String, Vec<String>>| {
        let mut analysis = RICH.clone();
        let workload = &mut analysis.workloads[0];
        let winner = workload.winner.as_ref().unwrap().case.clone();
        let row = workload.cases.iter_mut().find(|row| row.name == winner).unwrap();
        row.attributes.set("up.rows", Value::Integer(4));
        row.attributes.set("up.bytes", Value::Integer(4096));
        let input = Input {
            analysis: &analysis,
            links: &Links::default(),
            parameters,
            timelines: &BTreeMap::new(),
        };
        String::from_utf8(page::render(&input).unwrap()).unwrap()
    };
    let known = page_with(&BTreeMap::from([("mlp".to_owned(), vec!["up.rows".to_owned()])]));
    assert!(known.contains("try cohorts/example.toml --plan plan.toml"));
    assert!(known.contains("<pre>[up]\nrows = 4</pre>"));
    let unknown = page_with(&BTreeMap::new());
    assert!(unknown.contains("some may follow from others") && unknown.contains("bytes = 4096"));
}

#[test]
fn without_any_result_the_page_says_so() {
    let mut it = Fixture::new(&[("mlp", "control")]);
    it.case("mlp", "control", "control", &[]);
    let page = page_of(&it);
    assert!(page.contains("No plan can be recommended"));
    assert!(page.contains("Not run to the end yet: all of 1 case;") && page.contains("layout-sweep run COHORT"));
    assert!(!page.contains("See what failed"));
    // What has nothing to say has no section, no link and no chart.
    for section in ["models", "rejected", "calibration", "drift", "phases", "pareto"] {
        assert!(!page.contains(&format!("id=\"{section}\"")), "{section}");
    }
    assert!(!page.contains(">Models</a>") && !page.contains(">Charts</a>") && page.contains(">Answer</a>"));
}

/// Opening and closing tags outside of scripts and styles, without attributes; an attribute's value can't hold `>` or
/// `<` unless escaping failed. What folds is left out: long texts do.
fn skeleton(page: &str) -> Vec<&str> {
    let visible = &page[page.find("</style>").unwrap()..page.find("<script type=\"application/json\"").unwrap()];
    let tags = visible.split('<').skip(1);
    let names = tags.map(|tag| tag.split(['>', ' ']).next().unwrap());
    names
        .filter(|name| !["details", "/details", "summary", "/summary"].contains(name))
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// Whatever a case is called and says, the page has the same elements, and its data holds the very text.
    #[test]
    fn text_of_users_stays_text(words in proptest::collection::vec(
        "(</?[sS]cript>|<!--|-->|\\]\\]>|&lt;|[\"'<>&`=/ ]|\\$\\{x\\}|[a-zäß日\u{2028}\u{7f}\u{1}\u{202e}]|\\\\){1,12}", 6))
    {
        let of = |words: &[String]| {
            let mut analysis = RICH.clone();
            let setup = &mut analysis.setup;
            setup.definition_path.clone_from(&words[0]);
            setup.options = [(words[1].clone(), words[2].clone())].into();
            let workload = &mut analysis.workloads[0];
            workload.failures[0].reason.clone_from(&words[3]);
            workload.estimates[0].name.clone_from(&words[4]);
            // A number keeps names apart.
            let name = format!("{} 1", words[0]);
            let winner = workload.winner.as_mut().unwrap();
            let row = workload.cases.iter_mut().find(|row| row.name == winner.case).unwrap();
            winner.case.clone_from(&name);
            row.name.clone_from(&name);
            row.family = format!("{} f", words[1]);
            row.because.clone_from(&words[2]);
            row.plan.clone_from(&words[3]);
            row.attributes.set("up.order", Value::text(&words[4]));
            row.attributes.set(&words[5], Value::text(&words[5]));
            (rendered(&analysis), name)
        };
        let plain: Vec<String> = (0..6).map(|index| format!("plain{index}")).collect();
        let (page, name) = of(&words);
        let (benign, _) = of(&plain);
        prop_assert_eq!(skeleton(&page), skeleton(&benign));
        let data = page.split("<script type=\"application/json\"").nth(1).unwrap();
        let data = &data[data.find('>').unwrap() + 1..data.find("</script>").unwrap()];
        let data: serde_json::Value = serde_json::from_str(data).unwrap();
        let winner = usize::try_from(data["workloads"][0]["winner"].as_u64().unwrap()).unwrap();
        prop_assert_eq!(&data["cases"]["name"][winner], &json!(name));
        prop_assert_eq!(&data["cases"]["plan"][winner], &json!(words[3]));
    }
}

/// Words of the table's rows that are in the document.
const ROWS: &str =
    "[...document.querySelectorAll('#rows tr[data-case]')].map(r => [...r.cells].map(c => c.textContent))";
const NAMES: &str = "[...document.querySelectorAll('#rows tr[data-case] .name span')].map(s => s.textContent)";

fn open(page: &str, program: &Path) -> (tempfile::TempDir, Browser) {
    let (folder, file) = written(page);
    let mut browser = Browser::start(program, 1400, 900);
    browser.open(&file);
    (folder, browser)
}

#[test]
fn one_can_sort_filter_and_pick() {
    let Some(program) = chromium() else { return };
    let page = rendered(&RICH);
    let (_folder, mut browser) = open(&page, &program);

    // What the script draws are the words that were there before it.
    let drawn = browser.eval(ROWS);
    let bytes = serde_json::to_string(&page).unwrap();
    let first = browser.eval(&format!(
        "[...new DOMParser().parseFromString({bytes}, 'text/html').querySelectorAll('#rows tr')].map(r => \
         [...r.cells].map(c => c.textContent))"
    ));
    assert_eq!(drawn, first);
    assert_eq!(drawn.as_array().unwrap().len(), 15);
    assert_eq!(drawn[0][1], "cross-0-0winner");

    // Sorting by name is natural; undefined comes last either way.
    let click = |key: &str| format!("document.querySelector('th[data-key=\"{key}\"] button').click()");
    browser.eval(&click("name"));
    let names = browser.eval(NAMES);
    assert_eq!((&names[0], &names[14]), (&json!("confirm-cross-0-0"), &json!("up-05")));
    browser.eval(&click("value"));
    assert_eq!(browser.eval(NAMES)[0], "cross-0-0");
    browser.eval(&click("value"));
    let values = browser.eval(ROWS);
    assert_eq!(values[0][1], "down-02");
    assert_eq!(values[14][4], "-");
    assert_eq!(
        browser.eval("document.querySelector('th[data-key=value]').getAttribute('aria-sort')"),
        "descending"
    );

    // Filters by outcome and by text, from the keyboard.
    browser.eval("document.querySelector('[data-filter=rejected]').click()");
    assert_eq!(browser.eval(NAMES), json!(["up-03"]));
    browser.eval("document.querySelector('[data-filter=rejected]').click()");
    browser.press("/");
    browser.type_text("UP chosen");
    let found = browser.eval(NAMES);
    assert!(
        found
            .as_array()
            .unwrap()
            .iter()
            .all(|name| name.as_str().unwrap().starts_with("up-"))
    );
    assert_eq!(found.as_array().unwrap().len(), 6);
    assert_eq!(
        browser.eval("document.querySelector('#shown').textContent"),
        "6 of 15 cases"
    );
    browser.press("Escape");
    assert_eq!(browser.eval("document.querySelector('#search').value"), "");

    // The arrow keys move in the table; Escape lets go.
    browser.eval(&click("rank"));
    browser.eval("document.querySelector('#grid').focus()");
    browser.press("ArrowDown");
    browser.press("ArrowDown");
    let shown = "document.querySelector('#detail h2')?.textContent ?? null";
    assert_eq!(browser.eval(shown), "cross-0-1");
    assert_eq!(
        browser.eval("document.querySelector('tr.picked .name span').textContent"),
        "cross-0-1"
    );
    browser.press("Escape");
    assert_eq!(browser.eval("document.querySelector('#detail').hidden"), true);
    assert_eq!(browser.complaints, Vec::<String>::new());
}

/// Where a mark of a chart is in the window, after scrolling to it: x, y. A pick elsewhere makes the window narrower, and
/// charts are drawn again a moment later: it counts where the mark has come to rest.
fn place(browser: &mut Browser, chart: &str, case: &str) -> (f64, f64) {
    let box_of = format!("document.querySelector('#{chart} .chart')");
    browser.eval(&format!("document.querySelector('#{chart}').scrollIntoView()"));
    browser.wait(&format!("!!(window.echarts && echarts.getInstanceByDom({box_of}))"));
    let at = browser.eval(&format!(
        "(async () => {{
            const number = JSON.parse(document.getElementById('data').textContent).cases.name.indexOf('{case}');
            const find = () => {{
                const made = echarts.getInstanceByDom({box_of});
                const box = {box_of}.getBoundingClientRect();
                if (!made || made.getWidth() !== {box_of}.clientWidth) return null;
                for (const [seriesIndex, series] of made.getOption().series.entries())
                    for (const value of series.data)
                        if (series.type === 'scatter' && Array.isArray(value) && value[2] === number) {{
                            const [x, y] = made.convertToPixel({{ seriesIndex }}, value);
                            return [box.x + x, box.y + y];
                        }}
                return null;
            }};
            for (let before = null, tries = 0; tries < 100; tries++) {{
                await new Promise((done) => setTimeout(done, 200));
                const now = find();
                if (now && before && now.join() === before.join()) return now;
                before = now;
            }}
            return null;
        }})()"
    ));
    (at[0].as_f64().unwrap(), at[1].as_f64().unwrap())
}

#[test]
fn a_click_in_a_chart_picks_the_case_everywhere() {
    let Some(program) = chromium() else { return };
    let (_folder, mut browser) = open(&rendered(&RICH), &program);
    let shown = "document.querySelector('#detail h2')?.textContent ?? null";
    for (chart, case) in [("calibration", "down-01"), ("ranking", "up-02")] {
        let (x, y) = place(&mut browser, chart, case);
        browser.click(x, y);
        browser.wait(&format!("({shown}) === '{case}'"));
        let picked = browser.eval("document.querySelector('tr.picked .name span')?.textContent");
        assert_eq!(picked, case, "in the table");
        // The window is narrower now, and the other charts mark it, too.
        let ring = "(() => { const made = echarts.getInstanceByDom(document.querySelector('#calibration .chart')); \
                    return made.getOption().series.find(one => one.id === 'ring').data.length; })()";
        browser.eval("void document.querySelector('#calibration').scrollIntoView()");
        browser.wait(&format!("({ring}) === 1"));
    }
    // A name in the answer does the same.
    browser.eval("document.querySelector('#answer a.case').click()");
    assert_eq!(browser.eval(shown), "cross-0-0");
    assert_eq!(browser.complaints, Vec::<String>::new());
}

#[test]
fn every_chart_is_drawn_at_every_width_in_light_dark_and_print() {
    let Some(program) = chromium() else { return };
    let (_folder, mut browser) = open(&rendered(&TWO_NUMBERS), &program);
    let charts = [
        "calibration",
        "ranking",
        "pareto",
        "drift",
        "phases",
        "timeline",
        "regret",
        "residuals",
        "parallel",
    ];
    let is_drawn = |chart: &str| {
        format!(
            "(() => {{ const box = document.querySelector('#{chart} .chart'); box.scrollIntoView(); const svg = \
             box.querySelector('svg'); return !!(box.querySelector('canvas') || svg && svg.querySelectorAll('path, \
             rect').length > 5); }})()"
        )
    };
    for (width, scheme) in [(1400, "light"), (820, "dark"), (390, "light")] {
        browser.resize(width, 900);
        browser.media(scheme, "");
        for chart in charts {
            browser.wait(&is_drawn(chart));
        }
        let wider = browser.eval("document.documentElement.scrollWidth - innerWidth");
        assert_eq!(wider, 0, "nothing but tables scrolls sideways at {width}");
        assert_eq!(browser.eval(CUT), json!([]), "no words are cut off at {width}");
    }
    browser.call("Page.printToPDF", &json!({}));
    assert_eq!(browser.complaints, Vec::<String>::new());
}

/// The timeline of a run of so many lanes, each a little later than the one above.
fn lanes(count: u32) -> Timeline {
    let lane = |at: u32| {
        let late = 1e5 * f64::from(at % 7);
        let span = |phase: &str, start: f64, end: f64| Span {
            phase: phase.to_owned(),
            start,
            end,
        };
        Lane {
            name: format!("worker {at} (core {at})"),
            spans: vec![
                span("up", 0.0, 8e5 + late),
                span("gelu", 15e5, 17e5),
                span("down", 17e5, 30e5 - late),
            ],
        }
    };
    Timeline {
        about: "call 3 of 8 in its last round; lanes are workers".to_owned(),
        origin: "measured".to_owned(),
        unit: "ns".to_owned(),
        end: 30e5,
        lanes: (0..count).map(lane).collect(),
        meetings: Vec::new(),
    }
}

/// Words in charts that reach beyond the edge of their chart by more than a pixel; those of legends that scroll are clipped.
const CUT: &str = r"
(() => [...document.querySelectorAll('.chart')].flatMap((box) => {
  const chart = echarts.getInstanceByDom(box);
  if (!chart) return [];
  const [width, height] = [chart.getWidth(), chart.getHeight()];
  return chart.getZr().storage.getDisplayList(true).filter((word) => word.type === 'tspan' && !word.__clipPaths?.length).flatMap((word) => {
    const at = word.getBoundingRect().clone();
    if (word.transform) at.applyTransform(word.transform);
    const within = at.x >= -1 && at.y >= -1 && at.x + at.width <= width + 1 && at.y + at.height <= height + 1;
    return within ? [] : [`${box.closest('[id]').id}: ${word.style.text}`];
  });
}))()";

/// Rectangles of a timeline: so many spans are drawn, and as many names of lanes.
const DRAWN: &str = "(() => { const made = echarts.getInstanceByDom(document.querySelector('#timeline .chart')); const \
                     option = made.getOption(); return [option.series.reduce((sum, one) => sum + one.data.length, 0), \
                     option.yAxis[0].data.length]; })()";

#[test]
fn the_timeline_has_workers_where_a_run_left_a_profile() {
    let Some(program) = chromium() else { return };
    let timelines = BTreeMap::from([
        ("cross-0-0".to_owned(), lanes(4)),
        ("row-major".to_owned(), lanes(4)),
        ("up-00".to_owned(), lanes(32)),
        ("down-00".to_owned(), lanes(1)),
    ]);
    let page = page::render(&Input {
        analysis: &RICH,
        links: &Links::default(),
        parameters: &BTreeMap::new(),
        timelines: &timelines,
    });
    let (_folder, mut browser) = open(&String::from_utf8(page.unwrap()).unwrap(), &program);
    browser.eval("void document.querySelector('#timeline').scrollIntoView()");
    browser.wait("!!echarts.getInstanceByDom(document.querySelector('#timeline .chart'))");
    // The winner above the control: four workers and a heading each.
    assert_eq!(browser.eval(DRAWN), json!([24, 10]));
    let said = "document.querySelector('#timeline .where').textContent";
    assert!(browser.eval(said).as_str().unwrap().contains("cross-0-0: call 3 of 8"));
    let pick = |case: &str| {
        format!(
            "[...document.querySelectorAll('#rows tr')].find(row => row.querySelector('.name span')?.textContent === '{case}').click()"
        )
    };
    browser.eval(&pick("up-00"));
    browser.eval("void document.querySelector('#timeline').scrollIntoView()");
    browser.wait(&format!("({DRAWN})[1] === 38"));
    // A single lane has the case's name, and no empty one above it.
    browser.eval(&pick("down-00"));
    browser.eval("void document.querySelector('#timeline').scrollIntoView()");
    browser.wait(&format!("({DRAWN})[1] === 6"));
    // Without a profile its medians stand for it, and how to see more is said.
    browser.eval(&pick("up-01"));
    browser.eval("void document.querySelector('#timeline').scrollIntoView()");
    browser.wait(&format!("({DRAWN})[1] === 2"));
    assert!(browser.eval(said).as_str().unwrap().contains("--html FILE"));
    assert_eq!(browser.complaints, Vec::<String>::new());
}

#[test]
fn a_profile_is_a_page_of_its_own() {
    let timeline = lanes(4);
    let page = page::render_profile(&Profiled {
        case: "a <b> case",
        workload: "mlp",
        plan: "up:1x1x1",
        timeline: &timeline,
    });
    let page = String::from_utf8(page.unwrap()).unwrap();
    assert!(page.contains("a &lt;b&gt; case") && page.contains("3.000 ms (measured)"));
    let row = "<td>worker 1 (core 1)</td><td class=\"n\">0.9000</td><td class=\"n\">0.2000</td><td \
               class=\"n\">1.200</td><td class=\"n\">0.7000</td><td class=\"n\">76.7 %</td>";
    assert!(page.contains(row));
    let Some(program) = chromium() else { return };
    let (_folder, mut browser) = open(&page, &program);
    for (width, scheme) in [(1400, "light"), (820, "dark"), (390, "light")] {
        browser.resize(width, 900);
        browser.media(scheme, "");
        browser.wait("document.documentElement.dataset.ready === 'true'");
        assert_eq!(browser.eval(DRAWN), json!([12, 4]));
        let wider = browser.eval("document.documentElement.scrollWidth - innerWidth");
        assert_eq!(wider, 0, "nothing but the table scrolls sideways at {width}");
    }
    browser.call("Page.printToPDF", &json!({}));
    assert_eq!(browser.complaints, Vec::<String>::new());
}

#[test]
fn odd_cohorts_open_without_a_complaint() {
    let Some(program) = chromium() else { return };
    let mut nothing = Fixture::new(&[("mlp", "control")]);
    nothing.case("mlp", "control", "control", &[]);

    let mut one = Fixture::new(&[("mlp", "control")]);
    one.case("mlp", "control", "control", &[("model", 1e6, "ns")]);
    one.measure("control", 1.0);

    // Two workloads; names that are markup; zero and negative scores; equal predictions.
    let mut odd = Fixture::new(&[("a <script>", "c'a"), ("b", "cb")]);
    for (workload, names) in [
        ("a <script>", ["c'a", "<b>x</b></script>"]),
        ("b", ["cb", "größer \"日本\""]),
    ] {
        for (name, ratio) in names.into_iter().zip([1.0, 0.7]) {
            odd.case(
                workload,
                name,
                "fam<i>",
                &[("score", ratio - 1.0, "score"), ("same", 1e6, "ns")],
            );
            odd.measure(name, ratio);
        }
    }
    for it in [&nothing, &one, &odd] {
        let (_folder, mut browser) = open(&page_of(it), &program);
        browser.eval("document.querySelectorAll('figure').forEach(f => f.scrollIntoView())");
        browser.call("Page.printToPDF", &json!({}));
        browser.eval("document.querySelector('#rows tr[data-case]:last-child').click()");
        let last = it.cases.last().unwrap().name.as_str();
        let shown = browser.eval(&format!("({NAMES}).includes({})", json!(last)));
        assert_eq!(shown, true, "{last} is shown as it is written");
        assert_eq!(browser.complaints, Vec::<String>::new());
    }
}

/// Milliseconds from before a script until the frame after it, least of eight, and of the processor time that the page
/// spent on it meanwhile, the median: the second is the same on a machine that does other things, too.
fn frame_after(browser: &mut Browser, script: &str) -> (f64, f64) {
    let timed = format!(
        "new Promise(done => {{ const start = performance.now(); {script}; requestAnimationFrame(() => setTimeout(() => \
         done(performance.now() - start))); }})"
    );
    let busy = |browser: &mut Browser| {
        let metrics = browser.call("Performance.getMetrics", &json!({}));
        let metrics = metrics["metrics"].as_array().unwrap();
        let tasks = metrics.iter().find(|metric| metric["name"] == "TaskDuration").unwrap();
        1e3 * tasks["value"].as_f64().unwrap()
    };
    let (mut walls, mut processor) = (Vec::new(), Vec::new());
    for _ in 0..8 {
        // The charts that follow the table are another matter.
        std::thread::sleep(std::time::Duration::from_millis(700));
        let before = busy(browser);
        walls.push(browser.eval(&timed).as_f64().unwrap());
        processor.push(busy(browser) - before);
    }
    walls.sort_by(f64::total_cmp);
    processor.sort_by(f64::total_cmp);
    (walls[0], processor[4])
}

/// The page of so many cases with eight attributes, two estimates and four rounds each. Rows are made from evaluated ones:
/// the page is what is looked at here, not the statistics.
fn page_of_many(count: u32) -> String {
    // A cheap scatter of numbers, the same on every machine.
    let scatter = |index: u32, factor: u32| f64::from(index.wrapping_mul(factor) >> 8) / f64::from(1_u32 << 24);
    let mut analysis = RICH.clone();
    let workload = &mut analysis.workloads[0];
    let (refused, measured) = (
        workload.case("up-03").unwrap().clone(),
        workload.case("up-00").unwrap().clone(),
    );
    workload.cases.clear();
    let points = &mut workload.drift.as_mut().unwrap().points;
    let point = points[0].clone();
    points.clear();
    for index in 0..count {
        let mut row = if index % 50 == 7 {
            refused.clone()
        } else {
            measured.clone()
        };
        let ratio = if index == 0 {
            1.0
        } else {
            0.7 + scatter(index, 2_654_435_761).powi(2)
        };
        row.name = if index == 0 {
            workload.control.clone()
        } else {
            format!("case {index}")
        };
        row.family = format!("family {}", index % 6);
        row.plan = format!(
            "up:{index}x2x4:1x1:6x16u8:ckr.cr:panels:packed:row-major:streamed:rows.contiguous.t1:-:pass | \
             down:10x1x15:1x1:6x16u8:ckr.cr:panels:packed:row-major:streamed:rows.contiguous.t1:- | threads=2"
        );
        for value in [&mut row.value, &mut row.normalised_value] {
            *value = value.map(|value| value * ratio);
        }
        if let Some(figure) = &mut row.ratio {
            (figure.median, figure.lower, figure.upper) = (ratio, Some(0.98 * ratio), Some(1.03 * ratio));
        }
        let off = scatter(index ^ 0x5bd1, 2_246_822_519);
        let predictions = [
            ("analytic", 1e6 * (0.9 + 0.2 * off)),
            ("proxy", 1e8 * (0.6 + 0.8 * off)),
        ];
        row.estimates = predictions.map(|(name, value)| (name.to_owned(), ratio * value)).into();
        for (bit, name) in (0_u32..).zip("rows columns inner height width unroll depth split".split(' ')) {
            row.attributes
                .set(&format!("up.{name}"), Value::from((index >> bit) % (3 + bit)));
        }
        points.extend((0..4).map(|round| {
            let mut point = point.clone();
            point.seconds = f64::from(round * count + index);
            point.control = 1e6 * (1.0 + 0.1 * scatter(index + round, 2_654_435_761));
            point
        }));
        workload.cases.push(row);
    }
    points.sort_by(|a, b| a.seconds.total_cmp(&b.seconds));
    rendered(&analysis)
}

#[test]
fn families_of_thousands_of_cases_have_a_panel_each() {
    let Some(program) = chromium() else { return };
    let (_folder, mut browser) = open(&page_of_many(1_600), &program);
    let chart = "echarts.getInstanceByDom(document.querySelector('#calibration .chart'))";
    browser.eval("void document.querySelector('#calibration').scrollIntoView()");
    browser.wait(&format!("!!(window.echarts && {chart})"));
    let panels = format!("{chart}.getOption().grid.length");
    assert_eq!(browser.eval(&panels), 6, "one for each family");
    let titles = browser.eval(&format!("{chart}.getOption().title.map(one => one.text)"));
    assert!(titles[0].as_str().unwrap().starts_with("family "), "{titles}");
    // The picked case is ringed in the panel of its family.
    browser
        .eval("[...document.querySelectorAll('#rows tr[data-case]')].find(row => !row.querySelector('.tag')).click()");
    browser.eval("void document.querySelector('#calibration').scrollIntoView()");
    let ringed = format!(
        "(() => {{ const option = {chart}.getOption(); const ring = option.series.find(one => one.id === 'ring'); if \
         (!ring?.data.length) return false; const data = JSON.parse(document.getElementById('data').textContent); const \
         family = data.cases.family; const word = family.words[family.codes[ring.data[0][2]]]; return \
         option.title[ring.xAxisIndex].text.startsWith(word); }})()"
    );
    browser.wait(&ringed);
    // All in one, on request.
    browser.eval(
        "(() => { const select = document.querySelector('#calibration select[aria-label=families]'); select.value = \
         'together'; select.dispatchEvent(new Event('change')); })()",
    );
    browser.wait(&format!("{panels} === 1"));
    assert_eq!(browser.complaints, Vec::<String>::new());
}

/// `cargo test -p layout-sweep-analyzer --test page -- --ignored --nocapture`
#[test]
#[ignore = "figures: takes a minute"]
#[allow(clippy::print_stderr, reason = "figures are for people")]
fn figures_of_twenty_thousand_cases() {
    let Some(program) = chromium() else { return };
    let page = page_of_many(20_000);
    let (_folder, file) = written(&page);
    let mut browser = Browser::start(&program, 1400, 900);
    browser.call("Performance.enable", &json!({"timeDomain": "threadTicks"}));
    let mut paints: Vec<f64> = (0..5)
        .map(|_| {
            browser.open(&file);
            browser.wait("performance.getEntriesByName('first-contentful-paint').length === 1");
            let paint = browser.eval("performance.getEntriesByName('first-contentful-paint')[0].startTime");
            paint.as_f64().unwrap()
        })
        .collect();
    paints.sort_by(f64::total_cmp);
    let sort = |key: &str| format!("document.querySelector('th[data-key=\"{key}\"] button').click()");
    let filter = |text: &str| {
        format!(
            "const s = document.querySelector('#search'); s.value = s.value === '{text}' ? '' : '{text}'; \
             s.dispatchEvent(new Event('input'))"
        )
    };
    browser.eval("void document.querySelector('#cases').scrollIntoView()");
    let figures = [
        ("sort by name", frame_after(&mut browser, &sort("name"))),
        ("sort by ratio", frame_after(&mut browser, &sort("ratio"))),
        ("sort by an estimate", frame_after(&mut browser, &sort("estimate:1"))),
        ("filter by text", frame_after(&mut browser, &filter("7x2 row"))),
        (
            "filter by outcome",
            frame_after(&mut browser, "document.querySelector('[data-filter=rejected]').click()"),
        ),
    ];
    eprintln!("bytes {}, first paint {paints:.0?} ms", page.len());
    for (what, (wall, processor)) in figures {
        eprintln!("{what}: {wall:.0} ms to the next frame, {processor:.0} ms of the processor");
        assert!(processor < 100.0, "{what}");
    }
    assert!(page.len() < 15 << 20 && paints[0] < 1000.0);
    for chart in [
        "calibration",
        "ranking",
        "drift",
        "phases",
        "regret",
        "residuals",
        "parallel",
    ] {
        browser.eval(&format!("void document.querySelector('#{chart}').scrollIntoView()"));
        browser.wait(&format!(
            "!!document.querySelector('#{chart} .chart').querySelector('canvas, svg')"
        ));
    }
    assert_eq!(browser.complaints, Vec::<String>::new());
}
