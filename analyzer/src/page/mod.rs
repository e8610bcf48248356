//! `report.html`: the report as one page that needs nothing but itself.
//!
//! [`data`] projects an analysis onto columns, the only part that knows where figures come from; [`html`] writes the
//! page: the answer and the first screen of the table as plain HTML, then the data as JSON, then the scripts. So the
//! first paint waits for none of them, and the page says the most important thing without scripts.
//!
//! Charts are drawn by [Apache ECharts](https://echarts.apache.org) 6.1.0, embedded whole (`assets/page/echarts`, Apache-2.0, which goes with both
//! licences of this project). It has everything that the page needs, log axes, own marks for intervals and timelines,
//! parallel coordinates, ten thousands of points on a canvas and sharp SVG for small charts, patterns beside colours,
//! in 1.1 MB without any further file. Plotly's script is four times as large and starts four times as slowly; uPlot
//! and Chart.js have no parallel coordinates and no marks of one's own. It is started after the first paint, and each
//! chart is drawn when it scrolls into view.
//!
//! A content security policy in the page forbids every request, so that "no network" is enforced, not promised.

mod answer;
pub mod assets;
pub mod columns;
pub mod components;
pub mod data;
pub mod drift;
mod escape;
mod grid;
pub mod html;
pub mod links;
mod models;
pub mod profile;
pub mod regret;
mod sections;
pub mod timelines;

pub use data::Data;
pub use html::{Input, render};
pub use links::Links;
pub use profile::{Profiled, render_profile};
pub use timelines::timelines;
