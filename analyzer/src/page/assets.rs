//! The files that every page carries.

/// The chart library.
pub const ECHARTS: &str = include_str!("../../assets/page/echarts/echarts.min.js");

/// Its version; a test holds it against the script.
pub const ECHARTS_VERSION: &str = "6.1.0";

/// Looks.
pub const STYLE: &str = include_str!("../../assets/page/page.css");

const WORDS: &str = include_str!("../../assets/page/words.js");
const LOOKS: &str = include_str!("../../assets/page/looks.js");
const AXES: &str = include_str!("../../assets/page/axes.js");
const TIMELINE: &str = include_str!("../../assets/page/timeline.js");

/// Scripts of the page of one profile.
pub const PROFILE_SCRIPTS: &[&str] = &[
    WORDS,
    LOOKS,
    AXES,
    TIMELINE,
    include_str!("../../assets/page/profile.js"),
];

/// The page's own scripts, in the order in which they run: one idea each, together one strict function.
pub const SCRIPTS: &[&str] = &[
    WORDS,
    LOOKS,
    include_str!("../../assets/page/base.js"),
    include_str!("../../assets/page/table.js"),
    include_str!("../../assets/page/filter.js"),
    include_str!("../../assets/page/detail.js"),
    include_str!("../../assets/page/marks.js"),
    AXES,
    include_str!("../../assets/page/charts.js"),
    include_str!("../../assets/page/calibration.js"),
    include_str!("../../assets/page/ranking.js"),
    include_str!("../../assets/page/pareto.js"),
    include_str!("../../assets/page/drift.js"),
    include_str!("../../assets/page/phases.js"),
    TIMELINE,
    include_str!("../../assets/page/timelines.js"),
    include_str!("../../assets/page/regret.js"),
    include_str!("../../assets/page/residuals.js"),
    include_str!("../../assets/page/parallel.js"),
    include_str!("../../assets/page/main.js"),
];
