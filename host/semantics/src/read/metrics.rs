//! Resolves the metrics of a draft: the table whose rows a measure aggregates, the time that dates
//! them, and the metrics that others are made of.

use std::collections::HashMap;

use super::draft::{KindDraft, MetricDraft, Written};
use super::expression::{self, AdmittedMeasure, Scope};
use super::names::Names;
use super::problem::Problems;
use super::resolve::{admit_text, texts};
use syrch_core::text::nearest;

use crate::joins::{Graph, Paths, Step, list_tables};
use crate::{Expression, Measure, Metric, MetricKind, Place, Semantics};

/// The limits on a metric that is made of others: how many steps lead to a measure, and how many
/// measures it comes to once it is written out.
const STEPS: usize = 16;
const MEASURES: usize = 256;

/// Resolves the metrics and adds them to the semantics.
pub(super) fn resolve(
    drafts: Vec<MetricDraft>,
    tables: &Names,
    semantics: &mut Semantics,
    problems: &mut Problems,
) {
    let mut names = Names::default();
    let mut places: Vec<Place> = Vec::new();
    let mut unique = Vec::new();
    for draft in drafts {
        match names.add(&draft.name.text) {
            Ok(()) => {
                places.push(draft.name.place.clone());
                unique.push(draft);
            }
            Err(earlier) => {
                let message = format!(
                    "metric `{}` is declared at {} already",
                    draft.name.text, places[earlier]
                );
                problems.add(&draft.name.place, message);
            }
        }
    }
    let graph = Graph::from_semantics(semantics);
    let mut reader = Reader {
        tables,
        names: &names,
        graph,
        paths: HashMap::new(),
        filters: HashMap::new(),
        times: HashMap::new(),
        semantics,
        problems,
    };
    let mut metrics = Vec::new();
    let mut parts = Vec::new();
    for draft in unique {
        if reader.problems.is_full() {
            return;
        }
        let (kind, made_of) = reader.kind(draft.kind);
        parts.push(made_of);
        metrics.extend(kind.map(|kind| Metric {
            name: draft.name.text,
            synonyms: texts(draft.synonyms),
            description: draft.description,
            kind,
            format: draft.format,
            unit: draft.unit,
            place: draft.name.place,
        }));
    }
    check_parts(&parts, &names, &places, problems);
    semantics.metrics = metrics;
}

struct Reader<'a> {
    tables: &'a Names,
    names: &'a Names,
    graph: Graph<'a>,
    /// The paths that were searched before, by the names of both tables.
    paths: HashMap<[String; 2], Paths<'a>>,
    /// The filters that were admitted before, by their text and the stated table.
    filters: HashMap<(String, Option<String>), Expression>,
    /// The times that date measures without one of their own, by their base.
    times: HashMap<String, Option<String>>,
    semantics: &'a Semantics,
    problems: &'a mut Problems,
}

impl<'a> Reader<'a> {
    /// The paths of joins from one table to another, which are searched once.
    fn paths(&mut self, from: &str, to: &str) -> &Paths<'a> {
        let ends = [from.to_owned(), to.to_owned()];
        self.paths.entry(ends).or_insert_with(|| self.graph.find_paths(from, to))
    }

    /// The computation of a metric, with the positions of the metrics that it is made of.
    fn kind(&mut self, draft: KindDraft) -> (Option<MetricKind>, Vec<usize>) {
        match draft {
            KindDraft::Measure { aggregate, table, filter, time } => {
                let measure = self.measure(aggregate, table, filter, time);
                (measure.map(MetricKind::Measure), Vec::new())
            }
            KindDraft::Ratio { numerator, denominator } => {
                let parts = [self.metric(&numerator), self.metric(&denominator)];
                let made_of = parts.iter().flatten().map(|(index, _)| *index).collect();
                let [Some((_, numerator)), Some((_, denominator))] = parts else {
                    return (None, made_of);
                };
                (Some(MetricKind::Ratio { numerator, denominator }), made_of)
            }
            KindDraft::Derived(written) => {
                match expression::admit(&written.text, Scope::Metrics(self.names)) {
                    Ok(admitted) => {
                        let made_of: Vec<usize> = admitted
                            .names
                            .iter()
                            .filter_map(|name| self.names.find(name))
                            .collect();
                        if made_of.is_empty() {
                            let message = "a derived metric names at least one other metric";
                            self.problems.add(&written.place, message);
                        }
                        let expression = Expression {
                            text: written.text,
                            tree: admitted.tree,
                            tables: Vec::new(),
                            place: written.place,
                        };
                        (Some(MetricKind::Derived(expression)), made_of)
                    }
                    Err(message) => {
                        self.problems.add(&written.place, message);
                        (None, Vec::new())
                    }
                }
            }
        }
    }

    fn metric(&mut self, written: &Written) -> Option<(usize, String)> {
        let Some(index) = self.names.find(&written.text) else {
            self.problems.add_unknown(&written.place, "metric", &written.text, self.names.iter());
            return None;
        };
        Some((index, self.names.spelling(&written.text)?.to_owned()))
    }

    fn measure(
        &mut self,
        aggregate: Written,
        table: Option<Written>,
        filter: Option<Written>,
        time: Option<Written>,
    ) -> Option<Measure> {
        let stated = match table {
            None => None,
            Some(table) => match self.tables.spelling(&table.text) {
                Some(declared) => Some(declared.to_owned()),
                None => {
                    let known = self.tables.iter();
                    self.problems.add_unknown(&table.place, "table", &table.text, known);
                    return None;
                }
            },
        };
        let scope = Scope::Columns { tables: self.tables, own: stated.as_deref() };
        let admitted = expression::admit_measure(&aggregate.text, scope);
        let filter = match filter {
            None => None,
            Some(filter) => Some(self.filter(filter, stated.as_deref())?),
        };
        let admitted = match admitted {
            Ok(admitted) => admitted,
            Err(message) => {
                self.problems.add(&aggregate.place, message);
                return None;
            }
        };
        let base = self.base(&aggregate.place, stated, &admitted, filter.as_ref())?;
        let time = match time {
            Some(time) => Some(self.read_time(time, &base)?),
            None => self.default_time(&base),
        };
        let argument = admitted.argument.map(|argument| Expression {
            text: argument.tree.to_string(),
            tree: argument.tree,
            tables: argument.names,
            place: aggregate.place,
        });
        Some(Measure { aggregate: admitted.aggregate, argument, base, filter, time })
    }

    /// Admits a filter, which many metrics may have.
    fn filter(&mut self, written: Written, own: Option<&str>) -> Option<Expression> {
        let key = (written.text.clone(), own.map(str::to_owned));
        if let Some(known) = self.filters.get(&key) {
            return Some(Expression { place: written.place, ..known.clone() });
        }
        let scope = Scope::Columns { tables: self.tables, own };
        let admitted = admit_text(written, scope, self.problems)?;
        self.filters.insert(key, admitted.clone());
        Some(admitted)
    }

    /// The table whose rows are aggregated: the stated one, else the one of the argument's tables
    /// from which joins reach all that are named.
    fn base(
        &mut self,
        place: &Place,
        stated: Option<String>,
        admitted: &AdmittedMeasure,
        filter: Option<&Expression>,
    ) -> Option<String> {
        let argument: Vec<&str> = admitted
            .argument
            .iter()
            .flat_map(|argument| &argument.names)
            .chain(&admitted.counted)
            .map(String::as_str)
            .collect();
        let filtered: Vec<&str> =
            filter.iter().flat_map(|filter| &filter.tables).map(String::as_str).collect();
        // A count of rows without a table is that of the table that its filter is about.
        let candidates = match (&stated, argument.as_slice()) {
            (Some(stated), _) => vec![stated.as_str()],
            (None, []) => filtered.clone(),
            (None, argument) => argument.to_vec(),
        };
        let named: Vec<&str> = argument.iter().chain(&filtered).copied().collect();
        if candidates.is_empty() {
            let message = "the measure names no table; write `count(table.*)`, or add `table`";
            self.problems.add(place, message);
            return None;
        }
        let base = candidates
            .iter()
            .copied()
            .find(|&from| named.iter().all(|&to| !matches!(self.paths(from, to), Paths::None)));
        let Some(base) = base else {
            let mut all: Vec<&str> = candidates.clone();
            named.iter().for_each(|name| {
                if !all.contains(name) {
                    all.push(name);
                }
            });
            let all: Vec<String> = all.iter().map(|name| format!("`{name}`")).collect();
            let message = format!(
                "no many-to-one joins lead from {} to all of {}: rows would repeat; add the \
                 missing join, or set `table` to the table whose rows count",
                candidates.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(" or "),
                all.join(", ")
            );
            self.problems.add(place, message);
            return None;
        };
        for to in named {
            if let Paths::Several(one, other) = self.paths(base, to) {
                let message = format!(
                    "several paths of joins lead from `{base}` to `{to}` ({}); declare `{to}` a \
                     second time under another name with `source`, and join that",
                    show_both(one, other.as_deref())
                );
                self.problems.add(place, message);
                return None;
            }
        }
        Some(base.to_owned())
    }

    /// The time dimension that a measure states, as `table.name`.
    fn read_time(&mut self, time: Written, base: &str) -> Option<String> {
        let (table, name) = match time.text.split_once('.') {
            Some((table, name)) => (self.tables.spelling(table), name),
            None => (Some(base), time.text.as_str()),
        };
        let dimension = self.semantics.dimensions.iter().find(|dimension| {
            dimension.name.to_lowercase() == name.to_lowercase()
                && Some(dimension.table.as_str()) == table
        });
        let Some(dimension) = dimension else {
            let times: Vec<String> = self
                .semantics
                .dimensions
                .iter()
                .filter(|dimension| dimension.is_time)
                .map(|dimension| format!("{}.{}", dimension.table, dimension.name))
                .collect();
            let plain = times.iter().filter_map(|time| time.split_once('.'));
            let plain: Vec<&str> = plain.map(|(_, name)| name).collect();
            let written = time.text.to_lowercase();
            let near = nearest(name, plain.iter().copied()).into_iter().next();
            let near = near.and_then(|near| plain.iter().position(|one| *one == near));
            if let Some(near) = near.filter(|_| !written.contains('.')) {
                let message = format!(
                    "there is no time dimension `{}`; did you mean `{}`?",
                    time.text, times[near]
                );
                self.problems.add(&time.place, message);
                return None;
            }
            let known = times.iter().map(String::as_str);
            self.problems.add_unknown(&time.place, "time dimension", &time.text, known);
            return None;
        };
        let message = match self.paths(base, &dimension.table) {
            Paths::One(_) if dimension.is_time => {
                return Some(format!("{}.{}", dimension.table, dimension.name));
            }
            Paths::One(_) => {
                format!("`{0}` is no time; declare it as `type: time`", dimension.name)
            }
            Paths::None => format!(
                "no many-to-one joins lead from `{base}` to `{}`, so that its time cannot date \
                 this metric",
                dimension.table
            ),
            Paths::Several(one, other) => format!(
                "several paths of joins lead from `{base}` to `{}` ({})",
                dimension.table,
                show_both(one, other.as_deref())
            ),
        };
        self.problems.add(&time.place, message);
        None
    }

    /// The time of the base, else that of the nearest table with one, if only one is nearest.
    fn default_time(&mut self, base: &str) -> Option<String> {
        if let Some(known) = self.times.get(base) {
            return known.clone();
        }
        let found = self.find_default_time(base);
        self.times.insert(base.to_owned(), found.clone());
        found
    }

    fn find_default_time(&mut self, base: &str) -> Option<String> {
        let near = self.graph.distances(base).into_iter().find_map(|tables| {
            let times: Vec<(String, String)> = tables
                .into_iter()
                .filter_map(|name| {
                    let table = self.semantics.tables.iter().find(|table| table.name == name)?;
                    Some((table.name.clone(), table.time.clone()?))
                })
                .collect();
            (!times.is_empty()).then_some(times)
        })?;
        let [(table, time)] = near.as_slice() else { return None };
        match self.paths(base, table) {
            Paths::One(_) => Some(format!("{table}.{time}")),
            Paths::None | Paths::Several(..) => None,
        }
    }
}

/// Shows two paths by their tables.
fn show_both(one: &[Step<'_>], other: Option<&[Step<'_>]>) -> String {
    let other = other.map_or_else(|| "more than can be searched".to_owned(), list_tables);
    format!("{}; {other}", list_tables(one))
}

/// Reports metrics that are made of each other in a circle, or of more than can be written out.
fn check_parts(parts: &[Vec<usize>], names: &Names, places: &[Place], problems: &mut Problems) {
    let mut used_by = vec![Vec::new(); parts.len()];
    let mut open: Vec<usize> = vec![0; parts.len()];
    for (metric, made_of) in parts.iter().enumerate() {
        open[metric] = made_of.len();
        made_of.iter().for_each(|&part| used_by[part].push(metric));
    }
    let mut ready: Vec<usize> = (0..parts.len()).filter(|&metric| open[metric] == 0).collect();
    let mut steps = vec![0_usize; parts.len()];
    let mut measures = vec![1_usize; parts.len()];
    let mut is_large = false;
    while let Some(metric) = ready.pop() {
        let made_of = &parts[metric];
        if !made_of.is_empty() {
            steps[metric] = 1 + made_of.iter().map(|&part| steps[part]).max().unwrap_or(0);
            measures[metric] =
                made_of.iter().fold(0, |sum: usize, &part| sum.saturating_add(measures[part]));
        }
        if !is_large && (steps[metric] > STEPS || measures[metric] > MEASURES) {
            is_large = true;
            let message = format!(
                "written out, this metric comes to more than {STEPS} steps or {MEASURES} \
                 measures; define it by fewer"
            );
            problems.add(&places[metric], message);
        }
        for &user in &used_by[metric] {
            open[user] -= 1;
            if open[user] == 0 {
                ready.push(user);
            }
        }
    }
    let Some(mut metric) = (0..parts.len()).find(|&metric| open[metric] > 0) else { return };
    let mut walk = Vec::new();
    while !walk.contains(&metric) {
        walk.push(metric);
        // Each metric that is left is made of another that is left.
        let Some(&next) = parts[metric].iter().find(|&&part| open[part] > 0) else { return };
        metric = next;
    }
    let declared: Vec<&str> = names.iter().collect();
    let start = walk.iter().position(|&other| other == metric).unwrap_or(0);
    let circle: Vec<&str> =
        walk[start..].iter().chain([&metric]).map(|&index| declared[index]).collect();
    let message = format!(
        "the metric is made of itself ({}); define one of them by a measure",
        circle.join(" → ")
    );
    problems.add(&places[metric], message);
}
