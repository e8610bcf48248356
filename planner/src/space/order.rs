//! Which parameters hang together, and in which order counting walks them.

use super::types::Space;

/// More starts than this are not tried when an order is looked for.
const STARTS: usize = 8;

/// Connected parameters with the constraints between them.
pub(super) struct Component {
    /// Parameters, ascending.
    pub(super) members: Vec<usize>,
    /// Constraints that look at two or more values of them.
    pub(super) constraints: Vec<usize>,
}

/// Splits the parameters that have a choice into connected components, and gives the constraints that have none.
pub(super) fn components(space: &Space) -> (Vec<Component>, Vec<usize>) {
    let open: Vec<bool> = space
        .parameters
        .iter()
        .map(|parameter| parameter.domain.size() > 1)
        .collect();
    let mut root: Vec<usize> = (0..open.len()).collect();
    let mut decided = Vec::new();
    for (at, constraint) in space.constraints.iter().enumerate() {
        let mut scope = constraint.scope.iter().copied().filter(|&p| open[p]);
        let Some(first) = scope.next() else {
            decided.push(at);
            continue;
        };
        for other in scope {
            let (a, b) = (find(&root, first), find(&root, other));
            root[a.max(b)] = a.min(b);
        }
    }
    let mut components: Vec<Component> = Vec::new();
    let mut of = vec![usize::MAX; open.len()];
    for p in (0..open.len()).filter(|&p| open[p]) {
        let top = find(&root, p);
        if of[top] == usize::MAX {
            of[top] = components.len();
            components.push(Component {
                members: Vec::new(),
                constraints: Vec::new(),
            });
        }
        components[of[top]].members.push(p);
    }
    for (at, constraint) in space.constraints.iter().enumerate() {
        if let Some(&p) = constraint.scope.iter().find(|&&p| open[p]) {
            components[of[find(&root, p)]].constraints.push(at);
        }
    }
    (components, decided)
}

fn find(root: &[usize], mut p: usize) -> usize {
    while root[p] != p {
        p = root[p];
    }
    p
}

/// The bound parameters that later constraints still look at, before each step of an order.
pub(super) fn frontiers(space: &Space, constraints: &[usize], order: &[usize]) -> Vec<Vec<usize>> {
    let mut step = vec![usize::MAX; space.parameters.len()];
    for (at, &p) in order.iter().enumerate() {
        step[p] = at;
    }
    let mut last_use = vec![0; space.parameters.len()];
    for &constraint in constraints {
        let scope = &space.constraints[constraint].scope;
        let due = scope
            .iter()
            .map(|&p| step[p])
            .filter(|&s| s != usize::MAX)
            .max()
            .unwrap_or(0);
        for &p in scope {
            last_use[p] = last_use[p].max(due);
        }
    }
    (0..order.len())
        .map(|depth| {
            order[..depth]
                .iter()
                .copied()
                .filter(|&p| last_use[p] >= depth)
                .collect()
        })
        .collect()
}

/// Rough number of steps that a memoised walk in this order takes.
fn cost(space: &Space, constraints: &[usize], order: &[usize]) -> f64 {
    let size = |p: usize| space.parameters[p].domain.size() as f64;
    frontiers(space, constraints, order)
        .iter()
        .zip(order)
        .map(|(frontier, &p)| frontier.iter().map(|&q| size(q)).product::<f64>() * size(p))
        .sum()
}

/// An order of the component's members with a small frontier.
pub(super) fn small_frontier(space: &Space, component: &Component) -> Vec<usize> {
    let mut best = component.members.clone();
    let mut least = cost(space, &component.constraints, &best);
    let mut starts = component.members.clone();
    starts.sort_by_key(|&p| {
        component
            .constraints
            .iter()
            .filter(|&&c| space.constraints[c].scope.contains(&p))
            .count()
    });
    for &start in starts.iter().take(STARTS) {
        let order = greedy(space, component, start);
        let steps = cost(space, &component.constraints, &order);
        if steps < least {
            (best, least) = (order, steps);
        }
    }
    best
}

fn greedy(space: &Space, component: &Component, start: usize) -> Vec<usize> {
    let mut bound = vec![false; space.parameters.len()];
    let member = {
        let mut member = vec![false; space.parameters.len()];
        component.members.iter().for_each(|&p| member[p] = true);
        member
    };
    let mut order = vec![start];
    bound[start] = true;
    while order.len() < component.members.len() {
        let mut next: Option<(f64, usize)> = None;
        for &p in &component.members {
            if bound[p] {
                continue;
            }
            bound[p] = true;
            let mut waiting = vec![false; bound.len()];
            let mut size = 0.0;
            for &constraint in &component.constraints {
                let scope = &space.constraints[constraint].scope;
                if scope.iter().all(|&q| bound[q] || !member[q]) {
                    continue;
                }
                for &q in scope.iter().filter(|&&q| bound[q]) {
                    if !std::mem::replace(&mut waiting[q], true) {
                        size += (space.parameters[q].domain.size() as f64).ln();
                    }
                }
            }
            bound[p] = false;
            if next.is_none_or(|(least, _)| size < least) {
                next = Some((size, p));
            }
        }
        let Some((_, p)) = next else { break };
        bound[p] = true;
        order.push(p);
    }
    order
}
