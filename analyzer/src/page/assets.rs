//! The files that every page carries.

/// The chart library.
pub const ECHARTS: &str = include_str!("../../assets/page/echarts/echarts.min.js");

/// Its version; a test holds it against the script.
pub const ECHARTS_VERSION: &str = "6.1.0";

/// Looks.
pub const STYLE: &str = include_str!("../../assets/page/page.css");

/// The page's own scripts, in the order in which they run: one idea each, together one strict function.
pub const SCRIPTS: &[&str] = &[
    include_str!("../../assets/page/base.js"),
    include_str!("../../assets/page/table.js"),
    include_str!("../../assets/page/filter.js"),
    include_str!("../../assets/page/detail.js"),
    include_str!("../../assets/page/marks.js"),
    include_str!("../../assets/page/axes.js"),
    include_str!("../../assets/page/charts.js"),
    include_str!("../../assets/page/calibration.js"),
    include_str!("../../assets/page/ranking.js"),
    include_str!("../../assets/page/drift.js"),
    include_str!("../../assets/page/phases.js"),
    include_str!("../../assets/page/timeline.js"),
    include_str!("../../assets/page/regret.js"),
    include_str!("../../assets/page/residuals.js"),
    include_str!("../../assets/page/parallel.js"),
    include_str!("../../assets/page/main.js"),
];
