//! The metrics and dimensions of semantics files as a search shows them to its plugins, and those
//! that a question mentions.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use syrch_core::{Catalog, Term, TermKind, TermLabel};

use crate::compile::{find_metric, find_operands, find_table, qualify};
use crate::read::stems;
use crate::{
    Aggregate, Dimension, Expression, Label, Literal, Measure, Metric, MetricKind, Semantics,
};

/// The limit on the number of terms, and on their texts, in bytes.
const TERMS: usize = 64;
const BYTES: usize = 16 << 10;
/// The fewest bytes in which another term may fit.
const LEAST: usize = 32;
/// The limit on the values of one dimension.
const LABELS: usize = 24;
/// The limit on the metrics that one is computed from.
const PARTS: usize = 256;
/// The limit on the words of a question that are read.
const WORDS: usize = 1_000;

/// Returns the metrics and dimensions as a search shows them: those that the question mentions
/// first, then the others in the order of the files, as far as the limits allow. `shows_values`:
/// whether the values of dimensions may be shown.
#[must_use]
pub fn describe_terms(
    semantics: &Semantics,
    catalog: &Catalog,
    question: &str,
    shows_values: bool,
) -> Vec<Term> {
    let mentioned = Mentioned::new(semantics, question);
    let metrics = semantics.metrics.iter().enumerate();
    let metrics = metrics.map(|(at, it)| (mentioned.metrics.contains(&at), Defined::Metric(it)));
    let dimensions = semantics.dimensions.iter().enumerate();
    let dimensions =
        dimensions.map(|(at, it)| (mentioned.dimensions.contains(&at), Defined::Dimension(it)));
    let mut all: Vec<(bool, Defined<'_>)> = metrics.chain(dimensions).collect();
    all.sort_by_key(|(is_mentioned, _)| !is_mentioned);
    let mut left = BYTES;
    let mut terms: Vec<Term> = Vec::new();
    for (is_mentioned, one) in all {
        if terms.len() == TERMS || left < LEAST {
            break;
        }
        let term = match one {
            Defined::Metric(metric) => describe_metric(semantics, catalog, metric, is_mentioned),
            Defined::Dimension(dimension) => {
                let tables = std::slice::from_ref(&dimension.table);
                let tables = list_sources(semantics, catalog, tables);
                describe_dimension(dimension, tables, shows_values, is_mentioned)
            }
        };
        let bytes = count_bytes(&term);
        if bytes <= left {
            left -= bytes;
            terms.push(term);
        }
    }
    terms
}

/// A term as the files have it.
enum Defined<'a> {
    Metric(&'a Metric),
    Dimension(&'a Dimension),
}

/// The metrics whose words the question has.
pub(crate) fn find_mentioned<'a>(semantics: &'a Semantics, question: &str) -> Vec<&'a Metric> {
    let mentioned = Mentioned::new(semantics, question);
    let metrics = semantics.metrics.iter().enumerate();
    metrics.filter(|(at, _)| mentioned.metrics.contains(at)).map(|(_, metric)| metric).collect()
}

/// The dimensions whose words the question has.
pub(crate) fn find_mentioned_dimensions<'a>(
    semantics: &'a Semantics,
    question: &str,
) -> Vec<&'a Dimension> {
    let mentioned = Mentioned::new(semantics, question);
    let dimensions = semantics.dimensions.iter().enumerate();
    let found = dimensions.filter(|(at, _)| mentioned.dimensions.contains(at));
    found.map(|(_, dimension)| dimension).collect()
}

/// The terms whose words a question has, by their places. Words that are a part of a longer name
/// which the question has do not count: in `sales agent` nothing is about sales.
struct Mentioned {
    metrics: HashSet<usize>,
    dimensions: HashSet<usize>,
}

impl Mentioned {
    fn new(semantics: &Semantics, question: &str) -> Self {
        let stemmed = stems(question);
        let words: Vec<&str> = stemmed.split(' ').take(WORDS).collect();
        let mut metrics: Vec<(usize, Range<usize>)> = Vec::new();
        let mut dimensions: Vec<(usize, Range<usize>)> = Vec::new();
        let index = semantics.index();
        let stems = index.stems(semantics);
        for (at, word) in words.iter().enumerate() {
            for (name, term) in stems.by_first.get(*word).into_iter().flatten() {
                let end = at + name.len();
                if words.get(at..end).is_some_and(|part| part == name.as_slice()) {
                    match term {
                        Place::Metric(metric) => metrics.push((*metric, at..end)),
                        Place::Dimension(dimension) => dimensions.push((*dimension, at..end)),
                    }
                }
            }
        }
        let all: Vec<Range<usize>> =
            metrics.iter().chain(&dimensions).map(|(_, place)| place.clone()).collect();
        Self { metrics: select_whole(metrics, &all), dimensions: select_whole(dimensions, &all) }
    }
}

/// The place of a term among the metrics or the dimensions.
enum Place {
    Metric(usize),
    Dimension(usize),
}

/// The names of terms as stems, by the first of these.
#[derive(Default)]
pub(crate) struct Stems {
    by_first: HashMap<String, Vec<(Vec<String>, Place)>>,
}

impl Stems {
    /// Collects the names, synonyms and words of labels.
    pub(crate) fn new(semantics: &Semantics) -> Self {
        let mut all = Self::default();
        for (at, metric) in semantics.metrics.iter().enumerate() {
            for name in std::iter::once(&metric.name).chain(&metric.synonyms) {
                all.add(name, Place::Metric(at));
            }
        }
        for (at, dimension) in semantics.dimensions.iter().enumerate() {
            let labels = dimension.labels.iter().flat_map(|label| &label.synonyms);
            let names = std::iter::once(&dimension.name).chain(&dimension.synonyms);
            for name in names.chain(labels) {
                all.add(name, Place::Dimension(at));
            }
        }
        all
    }

    fn add(&mut self, name: &str, place: Place) {
        let stemmed = stems(name);
        let words: Vec<String> = stemmed.split(' ').map(str::to_owned).collect();
        if let Some(first) = words.first().filter(|first| !first.is_empty()) {
            self.by_first.entry(first.clone()).or_default().push((words, place));
        }
    }
}

/// The terms of which some place is no part of a longer one.
fn select_whole(found: Vec<(usize, Range<usize>)>, all: &[Range<usize>]) -> HashSet<usize> {
    let whole = found.into_iter().filter(|(_, place)| {
        let is_part = all.iter().any(|other| {
            other.start <= place.start && place.end <= other.end && other.len() > place.len()
        });
        !is_part
    });
    whole.map(|(at, _)| at).collect()
}

fn describe_metric(
    semantics: &Semantics,
    catalog: &Catalog,
    metric: &Metric,
    mentioned: bool,
) -> Term {
    let tables = list_sources(semantics, catalog, &list_tables(semantics, metric));
    Term {
        kind: TermKind::Metric,
        name: metric.name.clone(),
        synonyms: metric.synonyms.clone(),
        definition: define_metric(semantics, metric),
        description: metric.description.clone(),
        tables,
        labels: Vec::new(),
        mentioned,
    }
}

fn describe_dimension(
    dimension: &Dimension,
    tables: Vec<String>,
    shows_values: bool,
    mentioned: bool,
) -> Term {
    let labels = dimension.labels.iter().take(if shows_values { LABELS } else { 0 });
    Term {
        kind: TermKind::Dimension,
        name: qualify(dimension),
        synonyms: dimension.synonyms.clone(),
        definition: dimension.expression.tree.to_string(),
        description: dimension.description.clone(),
        tables,
        labels: labels.map(describe_label).collect(),
        mentioned,
    }
}

fn describe_label(label: &Label) -> TermLabel {
    TermLabel { value: show(&label.value), words: label.synonyms.clone() }
}

/// The computation of a metric in SQL, with the conditions on its rows.
pub(crate) fn define_metric(semantics: &Semantics, metric: &Metric) -> String {
    match &metric.kind {
        MetricKind::Ratio { numerator, denominator } => format!("{numerator} / {denominator}"),
        MetricKind::Derived(expression) => expression.text.clone(),
        MetricKind::Measure(measure) => {
            let base = find_table(semantics, &measure.base).and_then(|it| it.filter.as_ref());
            let conditions: Vec<String> = [measure.filter.as_ref(), base]
                .into_iter()
                .flatten()
                .map(|condition: &Expression| condition.tree.to_string())
                .collect();
            let computed = define_measure(measure);
            match conditions.is_empty() {
                true => computed,
                false => format!("{computed} where {}", conditions.join(" and ")),
            }
        }
    }
}

/// The aggregate of a measure in SQL.
pub(crate) fn define_measure(measure: &Measure) -> String {
    let argument = match &measure.argument {
        Some(argument) => argument.tree.to_string(),
        None => format!("{}.*", measure.base),
    };
    match measure.aggregate {
        Aggregate::Sum => format!("sum({argument})"),
        Aggregate::Count => format!("count({argument})"),
        Aggregate::CountDistinct => format!("count(distinct {argument})"),
        Aggregate::Avg => format!("avg({argument})"),
        Aggregate::Min => format!("min({argument})"),
        Aggregate::Max => format!("max({argument})"),
    }
}

/// The metrics that a metric is computed from, itself first.
pub(crate) fn list_parts<'a>(semantics: &'a Semantics, metric: &'a Metric) -> Vec<&'a Metric> {
    let mut parts: Vec<&Metric> = vec![metric];
    let mut at = 0;
    while let Some(metric) = parts.get(at).copied().filter(|_| at < PARTS) {
        at += 1;
        for part in find_operands(metric).iter().filter_map(|it| find_metric(semantics, it).ok()) {
            if !parts.iter().any(|known| known.name == part.name) {
                parts.push(part);
            }
        }
    }
    parts
}

/// The measures that a metric is computed from.
pub(crate) fn list_measures<'a>(semantics: &'a Semantics, metric: &'a Metric) -> Vec<&'a Measure> {
    let parts = list_parts(semantics, metric).into_iter();
    parts
        .filter_map(|part| match &part.kind {
            MetricKind::Measure(measure) => Some(measure),
            MetricKind::Ratio { .. } | MetricKind::Derived(_) => None,
        })
        .collect()
}

/// The tables that a metric is computed from, by their names in the files.
fn list_tables(semantics: &Semantics, metric: &Metric) -> Vec<String> {
    let mut tables: Vec<String> = Vec::new();
    for measure in list_measures(semantics, metric) {
        let expressions = [measure.argument.as_ref(), measure.filter.as_ref()];
        tables.push(measure.base.clone());
        tables.extend(expressions.into_iter().flatten().flat_map(|it| it.tables.clone()));
    }
    tables
}

/// The names of the catalog for tables of the files, each once.
fn list_sources(semantics: &Semantics, catalog: &Catalog, tables: &[String]) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for table in tables.iter().filter_map(|name| find_table(semantics, name)) {
        let name = catalog.table(&table.source).map(|found| catalog.table_name(found));
        if let Some(name) = name.filter(|name| !names.contains(name)) {
            names.push(name);
        }
    }
    names
}

/// A value as a person writes it.
fn show(value: &Literal) -> String {
    match value {
        Literal::Text(text) | Literal::Number(text) => text.clone(),
        Literal::Bool(value) => value.to_string(),
        Literal::Date(day) => day.to_string(),
        Literal::Null => "NULL".to_owned(),
    }
}

fn count_bytes(term: &Term) -> usize {
    let labels =
        term.labels.iter().flat_map(|label| std::iter::once(&label.value).chain(&label.words));
    let texts = term.synonyms.iter().chain(&term.tables).chain(&term.description).chain(labels);
    term.name.len() + term.definition.len() + texts.map(|text| text.len() + 2).sum::<usize>()
}

#[cfg(test)]
mod tests {
    use syrch_core::Dialect;

    use super::*;
    use crate::Source;

    fn read(text: &str) -> Semantics {
        let file = "shop.yml".to_owned();
        Semantics::read(&[Source { file, text: text.to_owned() }]).unwrap()
    }

    fn shop() -> Semantics {
        read(
            "tables:\n  orders: {key: id, filter: \"deleted = 0\", dimensions: {status: {labels: \
             {open: [waiting]}}, agent: {synonyms: [sales agent]}}}\n  items: {}\njoins:\n  - \
             {from: items.order_id, to: orders.id}\nmetrics:\n  revenue: {measure: \
             sum(items.price), synonyms: [sales], filter: \"orders.status <> 'open'\"}\n  \
             orders: count(orders.id)\n  order value: {ratio: [revenue, orders]}\n",
        )
    }

    fn catalog() -> Catalog {
        let names = ["Items", "orders"].into_iter();
        let tables =
            names.map(|name| syrch_core::Table { name: name.into(), ..Default::default() });
        let tables = tables.collect();
        Catalog { database: "shop".into(), dialect: Dialect::Sqlite, tables }
    }

    #[test]
    fn terms_that_the_question_mentions_come_first() {
        let terms = describe_terms(&shop(), &catalog(), "Sales by status?", true);
        let [revenue, status, ..] = terms.as_slice() else { panic!("{terms:?}") };
        assert_eq!((revenue.name.as_str(), revenue.mentioned), ("revenue", true));
        assert_eq!(revenue.definition, "sum(items.price) where orders.status <> 'open'");
        assert_eq!(revenue.tables, ["Items", "orders"]);
        let open = TermLabel { value: "open".to_owned(), words: vec!["waiting".to_owned()] };
        assert_eq!(status.labels, [open]);
        let of_value = terms.iter().find(|term| term.name == "order value").unwrap();
        assert_eq!(of_value.tables, ["Items", "orders"]);
        assert_eq!(of_value.definition, "revenue / orders");
        assert_eq!(terms.len(), 5);
        let hidden = describe_terms(&shop(), &catalog(), "Sales by status?", false);
        assert!(hidden.iter().all(|term| term.labels.is_empty()));
    }

    #[test]
    fn a_part_of_a_longer_name_is_no_mention() {
        let shop = shop();
        for (question, expected) in [
            ("Which sales agent is the oldest?", None),
            ("Sales of each sales agent", Some("revenue")),
            ("What is the order value?", Some("order value")),
            ("", None),
        ] {
            let found = find_mentioned(&shop, question);
            let names: Vec<&str> = found.iter().map(|metric| metric.name.as_str()).collect();
            assert_eq!(names, Vec::from_iter(expected), "{question}");
        }
    }

    #[test]
    fn terms_are_bounded() {
        let metrics: String =
            (0..200).map(|at| format!("  m{at}: {{measure: sum(items.price)}}\n")).collect();
        let many = read(&format!("tables:\n  items: {{}}\nmetrics:\n{metrics}"));
        let terms = describe_terms(&many, &catalog(), "What is m199?", true);
        assert_eq!((terms.len(), terms[0].name.as_str()), (TERMS, "m199"));
        let long = read(&format!(
            "tables:\n  items: {{}}\nmetrics:\n{}",
            (0..40)
                .map(|at| format!(
                    "  m{at}: {{measure: sum(items.price), description: {}}}\n",
                    "x".repeat(900)
                ))
                .collect::<String>()
        ));
        let terms = describe_terms(&long, &catalog(), "", true);
        assert!((10..20).contains(&terms.len()), "{}", terms.len());
    }
}
