//! The geometries of one product that are worth combining with those of others.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use planner::GemmExtents;
use target_api::{SearchStep, Survival};

use super::geometries;
use super::steps::UNPRICED;
use crate::costs::{CostTable, Unpriced};
use crate::estimate::compact_alone;
use crate::geometry::Geometry;
use crate::program::Product;
use crate::shards::Shards;
use crate::text;

/// Product of a chain, without a geometry.
pub(super) struct Open<'a> {
    pub(super) name: &'a str,
    pub(super) extents: GemmExtents,
    pub(super) gelu: bool,
    /// Whether its activations come from the host.
    pub(super) first: bool,
}

/// Where the owners of a sum lie: what the list is kept diverse in, with the number of inner partitions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Scatter {
    Collapsed,
    Rows,
    Columns,
    Both,
}

fn scatter(g: &Geometry) -> Scatter {
    match (g.result_rows > 1, g.result_columns > 1) {
        (false, false) => Scatter::Collapsed,
        (true, false) => Scatter::Rows,
        (false, true) => Scatter::Columns,
        (true, true) => Scatter::Both,
    }
}

/// Order of scored geometries: of those with the same score the one that uses more tiles comes first.
fn place((score, g): &(usize, Geometry)) -> (usize, Reverse<usize>, String) {
    (*score, used(g), text::print(0, g))
}

fn used(g: &Geometry) -> Reverse<usize> {
    Reverse(g.tiles() + g.owners())
}

/// Geometries of one kind, the best of them sorted.
#[derive(Default)]
struct Kind {
    found: Vec<(usize, Geometry)>,
}

impl Kind {
    fn add(&mut self, scored: (usize, Geometry), most: usize) {
        self.found.push(scored);
        if self.found.len() >= 4 * most.max(16) {
            self.cut(most);
        }
    }

    fn cut(&mut self, most: usize) {
        self.found.sort_by_cached_key(place);
        self.found.truncate(most);
    }
}

/// The shortlist of one product. Half of it are the best by the compact estimate of this product alone. The other half
/// are the best of each kind (inner partitions and scatter direction) by the same estimate without the price of
/// fragments, then the second best of each kind, and so on: the two disagree most where a gather is long.
pub(super) fn shortlist(
    open: &Open<'_>,
    costs: &CostTable,
    most: usize,
    watch: &[(String, Geometry)],
) -> (Vec<Geometry>, SearchStep) {
    let lanes = costs.without_fragments();
    let mut product = None;
    let mut scores = |g: &Geometry| -> Result<[usize; 2], Unpriced> {
        let product = product.get_or_insert_with(|| Product {
            name: open.name.to_owned(),
            extents: open.extents,
            geometry: *g,
            shards: Shards::new(open.extents, g),
            weight_offset: 0,
            gelu: open.gelu,
        });
        product.geometry = *g;
        product.shards = Shards::new(open.extents, g);
        let own = compact_alone(product, open.first, costs)?;
        Ok([own, compact_alone(product, open.first, &lanes)?])
    };
    // Without a price there is no score, and no rank.
    let watched: Vec<(&str, Geometry, Option<usize>)> = watch
        .iter()
        .map(|(name, g)| (name.as_str(), *g, scores(g).ok().map(|[own, _]| own)))
        .collect();
    let mut better = vec![0; watched.len()];
    let mut seen = vec![false; watched.len()];
    let mut kinds: BTreeMap<(usize, Scatter), Kind> = BTreeMap::new();
    let mut overall = Kind::default();
    let (mut looked_at, mut unpriced) = (0, 0);
    let mut dropped = geometries::each(open.name, open.extents, &mut |g| {
        looked_at += 1;
        let Ok([own, bare]) = scores(&g) else {
            unpriced += 1;
            return;
        };
        for (at, (_, watched, theirs)) in watched.iter().enumerate() {
            let first = theirs.is_some_and(|theirs| (own, used(&g)) < (theirs, used(watched)));
            better[at] += usize::from(first);
            seen[at] |= g == *watched;
        }
        kinds.entry((g.inner, scatter(&g))).or_default().add((bare, g), most);
        overall.add((own, g), most);
    });
    for kind in kinds.values_mut() {
        kind.cut(most);
    }
    overall.cut(most);
    let list = pick(&overall, &kinds, most);
    dropped.insert("rank".to_owned(), looked_at - unpriced - list.len());
    if unpriced > 0 {
        dropped.insert(UNPRICED.to_owned(), unpriced);
    }
    let kept: BTreeSet<&Geometry> = list.iter().collect();
    let watched = watched.iter().enumerate().map(|(at, (name, g, _))| {
        let survival = Survival {
            rank: seen[at].then_some(better[at] + 1),
            survived: kept.contains(g),
        };
        ((*name).to_owned(), survival)
    });
    let step = SearchStep {
        name: format!("shortlist of {}", open.name),
        by: "compact estimate of the product alone; half of the places for the best of each K split and scatter direction \
             without the price of fragments"
            .to_owned(),
        looked_at,
        kept: list.len(),
        dropped,
        watched: watched.collect(),
    };
    (list, step)
}

fn pick(overall: &Kind, kinds: &BTreeMap<(usize, Scatter), Kind>, most: usize) -> Vec<Geometry> {
    let mut picked: Vec<Geometry> = overall.found.iter().take(most / 2).map(|(_, g)| *g).collect();
    let mut known: BTreeSet<Geometry> = picked.iter().copied().collect();
    for turn in 0..most {
        let mut round: Vec<&(usize, Geometry)> = kinds.values().filter_map(|kind| kind.found.get(turn)).collect();
        round.sort_by_cached_key(|scored| place(scored));
        for (_, g) in round {
            if picked.len() == most {
                return picked;
            }
            if known.insert(*g) {
                picked.push(*g);
            }
        }
    }
    picked
}
