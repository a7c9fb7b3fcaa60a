//! The parts of a request with the tables that they need: measures by the rows that they aggregate,
//! and for each such group the joins, all of which lead to at most one row.

use crate::joins::{Graph, Paths, Step, describe_path};
use crate::{
    Comparison, Dimension, Expression, Filter, Grain, Measure, Metric, MetricKind, Period, Request,
    Semantics, Table,
};

use super::CompileError;
use super::derive::find_operands;
use super::filters::check_contradictions;
use super::names::{are_equal, find_dimensions, find_metric, find_named, find_table, qualify};

/// The limit on the metrics of a request, those that others are computed from included.
const METRICS: usize = 64;
/// The limit on the dimensions of a request.
const DIMENSIONS: usize = 32;
/// The limit on the filters of a request.
const FILTERS: usize = 64;
/// The limit on the values of all filters of a request.
const VALUES: usize = 2_000;

/// A request whose names are resolved.
pub(super) struct Plan<'a> {
    pub(super) semantics: &'a Semantics,
    pub(super) request: &'a Request,
    /// The metrics of the request.
    pub(super) metrics: Vec<&'a Metric>,
    /// All metrics that take part, each behind those that it is computed from.
    pub(super) involved: Vec<&'a Metric>,
    pub(super) by: Vec<&'a Dimension>,
    /// The groups that the limit and the share of the total count in.
    pub(super) within: Within<'a>,
    /// The key columns by which rows of one name stay apart, each with its table.
    pub(super) keys: Vec<(&'a str, &'a str)>,
    pub(super) filters: Vec<(&'a Dimension, &'a Filter)>,
    pub(super) groups: Vec<Group<'a>>,
}

/// The groups that a limit or a share counts in.
#[derive(Default)]
pub(super) struct Within<'a> {
    /// Dimensions of the request.
    pub(super) by: Vec<&'a Dimension>,
    /// True for each period, too.
    pub(super) has_time: bool,
}

impl Within<'_> {
    /// Returns true for the whole result.
    pub(super) fn is_all(&self) -> bool {
        self.by.is_empty() && !self.has_time
    }
}

/// Measures that aggregate the same rows.
pub(super) struct Group<'a> {
    pub(super) base: &'a Table,
    /// The dimension that dates a row, where time matters.
    pub(super) time: Option<&'a Dimension>,
    pub(super) leaves: Vec<Leaf<'a>>,
    /// The joins, each behind those that it starts from.
    pub(super) joins: Vec<(Step<'a>, &'a Table)>,
}

/// A metric that is an aggregate.
#[derive(Clone, Copy)]
pub(super) struct Leaf<'a> {
    pub(super) metric: &'a Metric,
    pub(super) measure: &'a Measure,
}

impl<'a> Plan<'a> {
    pub(super) fn new(
        semantics: &'a Semantics,
        request: &'a Request,
    ) -> Result<Self, CompileError> {
        check_sizes(request)?;
        let mut metrics: Vec<&Metric> = Vec::new();
        let mut involved: Vec<&Metric> = Vec::new();
        for name in &request.metrics {
            let metric = find_metric(semantics, name)?;
            if metrics.iter().any(|other| std::ptr::eq(*other, metric)) {
                return Err(CompileError::Twice { name: name.clone() });
            }
            metrics.push(metric);
            involve(semantics, metric, &mut involved, &mut Vec::new())?;
        }
        let graph = Graph::from_index(semantics);
        let leaves = involved.iter().filter_map(|metric| match &metric.kind {
            MetricKind::Measure(measure) => Some(Leaf { metric, measure }),
            MetricKind::Ratio { .. } | MetricKind::Derived(_) => None,
        });
        let leaves: Vec<Leaf<'_>> = leaves.collect();
        let resolver = Resolver { semantics, graph: &graph, leaves: &leaves };
        let mut by: Vec<&Dimension> = Vec::new();
        for name in &request.by {
            let dimension = resolver.resolve(name)?;
            if by.iter().any(|other| std::ptr::eq(*other, dimension)) {
                return Err(CompileError::Twice { name: name.clone() });
            }
            by.push(dimension);
        }
        let within = resolver.find_within(request, &by)?;
        let mut filters = Vec::new();
        for filter in &request.filters {
            filters.push((resolver.resolve(&filter.dimension)?, filter));
        }
        check_contradictions(&filters)?;
        let needs_time = request.grain.is_some() || bounds(request).is_some();
        let mut groups: Vec<Group<'_>> = Vec::new();
        for leaf in &leaves {
            let base = find_base(semantics, leaf)?;
            let time = if needs_time { Some(resolver.find_time(leaf, base)?) } else { None };
            let group = groups.iter_mut().find(|group| {
                std::ptr::eq(group.base, base)
                    && match (group.time, time) {
                        (Some(one), Some(other)) => std::ptr::eq(one, other),
                        (None, None) => true,
                        _ => false,
                    }
            });
            match group {
                Some(group) => group.leaves.push(*leaf),
                None => {
                    groups.push(Group { base, time, leaves: vec![*leaf], joins: Vec::new() });
                }
            }
        }
        for group in &mut groups {
            group.joins = resolver.join(group, &by, &filters)?;
        }
        let keys = find_keys(semantics, &by);
        Ok(Self { semantics, request, metrics, involved, by, within, keys, filters, groups })
    }

    /// Returns the columns of a relation that tell its groups apart, besides the period.
    pub(super) fn group_columns(&self, row: &str) -> Vec<String> {
        let shown = (0..self.by.len()).map(|index| format!("{row}.d{index}"));
        shown.chain((0..self.keys.len()).map(|index| format!("{row}.k{index}"))).collect()
    }

    /// Returns the columns of a relation that tell the groups apart in which the limit and the
    /// share of the total count.
    pub(super) fn within_columns(&self, row: &str) -> Vec<String> {
        let time = self.within.has_time.then(|| format!("{row}.t0"));
        let by = self
            .by
            .iter()
            .enumerate()
            .filter(|(_, it)| self.within.by.iter().any(|within| std::ptr::eq(**it, *within)));
        let keys = self.keys.iter().enumerate().filter(|(_, (table, _))| {
            self.within.by.iter().any(|it| it.names_row && are_equal(&it.table, table))
        });
        let by = by.map(|(index, _)| format!("{row}.d{index}"));
        time.into_iter().chain(by).chain(keys.map(|(index, _)| format!("{row}.k{index}"))).collect()
    }

    /// Returns true if the limit counts in each of several groups.
    pub(super) fn limits_within(&self) -> bool {
        self.request.limit.is_some() && !self.within.is_all()
    }

    /// Returns the place of a dimension among the groups if conditions on it leave out groups of
    /// the result, and no rows of what the shares are of.
    pub(super) fn find_shown(&self, dimension: &Dimension) -> Option<usize> {
        let is_of_all = self.request.comparison == Some(Comparison::ShareOfAll);
        self.by.iter().position(|it| std::ptr::eq(*it, dimension)).filter(|_| is_of_all)
    }

    /// Returns true if rows have groups.
    pub(super) fn is_grouped(&self) -> bool {
        self.request.grain.is_some() || !self.by.is_empty()
    }
}

/// Returns the key columns of the tables whose rows dimensions name, each once.
fn find_keys<'a>(semantics: &'a Semantics, by: &[&'a Dimension]) -> Vec<(&'a str, &'a str)> {
    let mut keys = Vec::new();
    for dimension in by.iter().filter(|dimension| dimension.names_row) {
        let Some(table) = find_table(semantics, &dimension.table) else { continue };
        for column in &table.key {
            let key = (table.name.as_str(), column.as_str());
            if !keys.contains(&key) {
                keys.push(key);
            }
        }
    }
    keys
}

/// Returns the request's period if it bounds anything.
pub(super) fn bounds(request: &Request) -> Option<&Period> {
    request.period.as_ref().filter(|period| period.from.is_some() || period.until.is_some())
}

fn check_sizes(request: &Request) -> Result<(), CompileError> {
    let values = request.filters.iter().map(|filter| filter.values.len()).sum();
    for (what, found, most) in [
        ("metrics", request.metrics.len(), METRICS),
        ("dimensions", request.by.len(), DIMENSIONS),
        ("conditions", request.filters.len(), FILTERS),
        ("values in conditions", values, VALUES),
    ] {
        if found > most {
            return Err(CompileError::TooMany { what, found, most });
        }
    }
    if request.limit == Some(0) {
        return Err(CompileError::NoRows);
    }
    if request.metrics.is_empty() { Err(CompileError::NoMetric) } else { Ok(()) }
}

/// Adds a metric behind all that it is computed from.
fn involve<'a>(
    semantics: &'a Semantics,
    metric: &'a Metric,
    involved: &mut Vec<&'a Metric>,
    above: &mut Vec<&'a str>,
) -> Result<(), CompileError> {
    if involved.iter().any(|other| std::ptr::eq(*other, metric)) {
        return Ok(());
    }
    if above.iter().any(|name| are_equal(name, &metric.name)) {
        return Err(CompileError::Cycle { name: metric.name.clone() });
    }
    if involved.len() + above.len() >= METRICS {
        let found = involved.len() + above.len() + 1;
        return Err(CompileError::TooMany { what: "metrics", found, most: METRICS });
    }
    above.push(&metric.name);
    for name in find_operands(metric) {
        let operand = find_named(semantics, &name);
        let operand = operand.ok_or_else(|| CompileError::Undefined {
            name: name.clone(),
            by: metric.name.clone(),
        })?;
        involve(semantics, operand, involved, above)?;
    }
    above.pop();
    involved.push(metric);
    Ok(())
}

fn find_base<'a>(semantics: &'a Semantics, leaf: &Leaf<'_>) -> Result<&'a Table, CompileError> {
    find_table(semantics, &leaf.measure.base).ok_or_else(|| CompileError::Undefined {
        name: leaf.measure.base.clone(),
        by: leaf.metric.name.clone(),
    })
}

fn refuse_within<T>(request: &Request, reason: &'static str) -> Result<T, CompileError> {
    Err(CompileError::Within { name: request.within.join(" and "), reason })
}

struct Resolver<'a, 'p> {
    semantics: &'a Semantics,
    graph: &'p Graph<'a>,
    leaves: &'p [Leaf<'a>],
}

impl<'a> Resolver<'a, '_> {
    /// Returns the dimension of that name that every measure reaches. A name that several tables
    /// have means the one that is reached, if it is the only one.
    fn resolve(&self, name: &str) -> Result<&'a Dimension, CompileError> {
        let found = find_dimensions(self.semantics, name)?;
        let [first, rest @ ..] = found.as_slice() else {
            return Err(CompileError::UnknownDimension { name: name.to_owned(), nearest: vec![] });
        };
        if rest.is_empty() {
            return Ok(first);
        }
        let reached = found.iter().copied().filter(|dimension| {
            self.leaves.iter().all(|leaf| {
                matches!(self.graph.find_paths(&leaf.measure.base, &dimension.table), Paths::One(_))
            })
        });
        let reached: Vec<&Dimension> = reached.collect();
        match reached.as_slice() {
            [] => Ok(first),
            [only] => Ok(only),
            several => Err(CompileError::AmbiguousDimension {
                name: name.to_owned(),
                choices: several.iter().copied().map(qualify).collect(),
            }),
        }
    }

    /// Returns the groups that the limit and the share of the total count in.
    fn find_within(
        &self,
        request: &Request,
        by: &[&'a Dimension],
    ) -> Result<Within<'a>, CompileError> {
        let mut within = Within::default();
        for name in &request.within {
            if are_equal(name, "time") {
                if request.grain.is_none() {
                    return refuse_within(request, "name the grain that rows are grouped by");
                }
                within.has_time = true;
                continue;
            }
            let dimension = self.resolve(name)?;
            if !by.iter().any(|it| std::ptr::eq(*it, dimension)) {
                return refuse_within(request, "group by that dimension as well");
            }
            within.by.push(dimension);
        }
        if within.is_all() {
            return Ok(within);
        }
        let groups = by.len() + usize::from(request.grain.is_some());
        if within.by.len() + usize::from(within.has_time) >= groups {
            return refuse_within(
                request,
                "group by something else as well, of which the first or the shares are",
            );
        }
        if request.limit.is_none() && !request.comparison.is_some_and(Comparison::is_share) {
            return refuse_within(
                request,
                "ask for a limit or for the share of the total in each group",
            );
        }
        Ok(within)
    }

    /// Returns the dimension that dates the rows of a measure.
    fn find_time(&self, leaf: &Leaf<'_>, base: &'a Table) -> Result<&'a Dimension, CompileError> {
        if let Some(name) = leaf.measure.time.as_ref().or(base.time.as_ref()) {
            let found = self.find_dimension(name, base);
            return found.ok_or_else(|| CompileError::Undefined {
                name: name.clone(),
                by: leaf.metric.name.clone(),
            });
        }
        let own: Vec<&Dimension> =
            self.semantics.dimensions.iter().filter(|it| it.is_time).collect();
        let of_base: Vec<&Dimension> =
            own.iter().copied().filter(|it| are_equal(&it.table, &base.name)).collect();
        if let [only] = of_base.as_slice() {
            return Ok(only);
        }
        let reached = self.graph.find_reached(&base.name);
        let all =
            own.into_iter().filter(|it| reached.iter().any(|table| are_equal(table, &it.table)));
        let all: Vec<&Dimension> = all.collect();
        let stated = all.iter().copied().filter(|it| {
            find_table(self.semantics, &it.table)
                .and_then(|table| table.time.as_deref())
                .is_some_and(|time| are_equal(time, &it.name) || are_equal(time, &qualify(it)))
        });
        let stated: Vec<&Dimension> = stated.collect();
        match (stated.as_slice(), all.as_slice()) {
            ([only], _) | ([], [only]) if of_base.is_empty() => Ok(only),
            _ => Err(CompileError::NoTime {
                metric: leaf.metric.name.clone(),
                base: base.name.clone(),
                dimensions: all.into_iter().map(qualify).collect(),
            }),
        }
    }

    /// Returns the dimension of that name, of the base if no table stands before it.
    fn find_dimension(&self, name: &str, base: &Table) -> Option<&'a Dimension> {
        let dimensions = &self.semantics.dimensions;
        dimensions
            .iter()
            .find(|it| are_equal(&it.table, &base.name) && are_equal(&it.name, name))
            .or_else(|| dimensions.iter().find(|it| are_equal(&qualify(it), name)))
    }

    /// Returns the joins to all tables that a group needs. The path to each is the only one, so the
    /// paths together are a tree.
    fn join(
        &self,
        group: &Group<'a>,
        by: &[&'a Dimension],
        filters: &[(&'a Dimension, &'a Filter)],
    ) -> Result<Vec<(Step<'a>, &'a Table)>, CompileError> {
        let mut joins: Vec<(Step<'a>, &'a Table)> = Vec::new();
        let first = group.leaves.first().map_or("", |leaf| leaf.metric.name.as_str());
        for dimension in by {
            let what = format!("the dimension `{}`", dimension.name);
            self.reach(group.base, &dimension.table, first, &what, &mut joins)?;
        }
        for (dimension, _) in filters {
            let what = format!("the dimension `{}` of a condition", dimension.name);
            self.reach(group.base, &dimension.table, first, &what, &mut joins)?;
        }
        if let Some(time) = group.time {
            let what = format!("the time `{}`", time.name);
            self.reach(group.base, &time.table, first, &what, &mut joins)?;
        }
        for leaf in &group.leaves {
            let parts = [
                (&leaf.measure.argument, "the argument of the measure"),
                (&leaf.measure.filter, "the condition of the measure"),
            ];
            for (expression, what) in parts {
                for table in tables_of(expression.as_ref()) {
                    self.reach(group.base, table, &leaf.metric.name, what, &mut joins)?;
                }
            }
        }
        Ok(joins)
    }

    fn reach(
        &self,
        base: &'a Table,
        table: &str,
        metric: &str,
        what: &str,
        joins: &mut Vec<(Step<'a>, &'a Table)>,
    ) -> Result<(), CompileError> {
        match self.graph.find_paths(&base.name, table) {
            Paths::One(path) => {
                for step in path {
                    if joins.iter().any(|(known, _)| are_equal(known.target(), step.target())) {
                        continue;
                    }
                    let target = find_table(self.semantics, step.target()).ok_or_else(|| {
                        CompileError::Undefined {
                            name: step.target().to_owned(),
                            by: format!("a join of {}", step.source()),
                        }
                    })?;
                    joins.push((step, target));
                }
                Ok(())
            }
            Paths::None => Err(CompileError::NoPath {
                metric: metric.into(),
                base: base.name.as_str().into(),
                table: table.into(),
                what: what.into(),
                hint: self.suggest_join(base, table).into(),
            }),
            Paths::Several(first, second) => Err(CompileError::SeveralPaths {
                metric: metric.into(),
                base: base.name.as_str().into(),
                table: table.into(),
                what: what.into(),
                first: describe_path(&first).into(),
                second: second
                    .map_or_else(|| "further ones".into(), |path| describe_path(&path).into()),
            }),
        }
    }

    fn suggest_join(&self, base: &Table, table: &str) -> String {
        if !matches!(self.graph.find_paths(table, &base.name), Paths::None) {
            return format!(
                "several rows of `{table}` belong to one of `{}`, which would be counted for \
                 each of \
                 them; define a metric over the rows of `{table}`",
                base.name
            );
        }
        let reached = self.graph.find_reached(&base.name);
        let known: Vec<String> = reached.iter().take(8).map(|name| format!("`{name}`")).collect();
        format!("a join from {} to `{table}` would help", known.join(" or "))
    }
}

/// Returns the tables that an expression needs.
pub(super) fn tables_of(expression: Option<&Expression>) -> &[String] {
    expression.map_or(&[], |expression| &expression.tables)
}

/// Returns the grain of a request in a word.
pub(crate) fn grain_name(grain: Grain) -> &'static str {
    match grain {
        Grain::Day => "day",
        Grain::Week => "week",
        Grain::Month => "month",
        Grain::Quarter => "quarter",
        Grain::Year => "year",
    }
}
