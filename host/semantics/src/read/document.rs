//! Walks over the YAML of one file, collects its content, and reports mistakes that need no other
//! file to be seen: unknown keys, values of another kind, names that cannot be used.

use chrono::NaiveDate;
use serde_json::Value;
use syrch_core::text::escape::is_dangerous;
use syrch_yaml::{Bounds, Location, Pair, Spanned, Tree};

use super::Source;
use super::draft::{
    DimensionDraft, Draft, JoinDraft, Kind, KindDraft, LabelDraft, MetricDraft, TableDraft, Written,
};
use super::problem::{Problems, unknown};
use crate::{Cardinality, Format, Literal, Place, WeekStart};

/// The limits on the YAML of one file.
pub const BOUNDS: Bounds = Bounds { bytes: 4 << 20, nodes: 400_000, depth: 16, aliases: 100 };

/// The limits on the numbers of tables, of the dimensions of all, of joins and of metrics.
const TABLES: usize = 2_000;
const DIMENSIONS: usize = 20_000;
const JOINS: usize = 5_000;
const METRICS: usize = 10_000;

/// The limit on the length of a name or a synonym, in characters.
const NAME: usize = 120;

/// The limit on the length of a description, in characters.
const DESCRIPTION: usize = 2_000;

/// The characters that a name cannot have, since requests and expressions separate names by them.
const SEPARATORS: &[char] = &['.', ',', ';', ':', '"', '`', '=', '<', '>'];

/// The name of a metric that would stand for the period in a request.
const RESERVED: &str = "time";

/// Adds the content of a file to the draft.
pub(super) fn read(source: &Source, draft: &mut Draft, problems: &mut Problems) {
    let whole = Place { file: source.file.clone(), line: 0, column: 0 };
    if source.text.len() as u64 > BOUNDS.bytes {
        return problems.add(&whole, format!("is larger than {} MiB", BOUNDS.bytes >> 20));
    }
    if source.text.lines().all(|line| line.trim().is_empty() || line.trim().starts_with('#')) {
        return;
    }
    let mut reader = Reader { file: &source.file, problems };
    match syrch_yaml::read_within(&source.text, &BOUNDS) {
        Ok(tree) => reader.document(tree, draft),
        Err((at, message)) => {
            let place = at.map_or(whole, |at| reader.place(at));
            reader.problems.add(&place, message);
        }
    }
}

struct Reader<'a> {
    file: &'a str,
    problems: &'a mut Problems,
}

impl Reader<'_> {
    fn place(&self, at: Location) -> Place {
        Place { file: self.file.to_owned(), line: at.line(), column: at.column() }
    }

    fn problem(&mut self, at: Location, message: impl Into<String>) {
        let place = self.place(at);
        self.problems.add(&place, message);
    }

    fn unknown_key(&mut self, key: &Spanned<String>, what: &str, known: &[&str]) {
        let message = unknown("key", &key.value, known.iter().copied());
        let message = match message.contains("did you mean") {
            true => format!("{message} (in {what})"),
            false => format!("{message} in {what}; there are {}", known.join(", ")),
        };
        self.problem(key.referenced, message);
    }

    fn pairs(&mut self, what: &str, tree: Spanned<Tree>) -> Vec<Pair> {
        match tree.value {
            Tree::Map(pairs) => pairs,
            Tree::Leaf(Value::Null) => Vec::new(),
            Tree::Leaf(_) | Tree::List(_) => {
                let message = format!("{what} must be a mapping of keys and values");
                self.problem(tree.referenced, message);
                Vec::new()
            }
        }
    }

    fn document(&mut self, tree: Spanned<Tree>, draft: &mut Draft) {
        const KEYS: &[&str] = &["today", "week_start", "tables", "joins", "metrics"];
        for (key, tree) in self.pairs("a semantics file", tree) {
            match key.value.as_str() {
                "today" => self.today(tree, draft),
                "week_start" => self.week_start(tree, draft),
                "tables" => {
                    for (name, tree) in self.pairs("`tables`", tree) {
                        if draft.tables.len() >= TABLES {
                            let message = format!("more than {TABLES} tables; leave some out");
                            self.problem(name.referenced, message);
                            break;
                        }
                        self.table(name, tree, draft);
                    }
                }
                "joins" => self.joins(tree, draft),
                "metrics" => {
                    for (name, tree) in self.pairs("`metrics`", tree) {
                        if draft.metrics.len() >= METRICS {
                            let message = format!("more than {METRICS} metrics; leave some out");
                            self.problem(name.referenced, message);
                            break;
                        }
                        draft.metrics.extend(self.metric(name, tree));
                    }
                }
                _ => self.unknown_key(&key, "a semantics file", KEYS),
            }
        }
    }

    fn today(&mut self, tree: Spanned<Tree>, draft: &mut Draft) {
        let Some(written) = self.text("today", tree) else { return };
        let Some(day) = parse_day(&written.text) else {
            let message = format!("today: `{}` is no day such as 2025-06-30", written.text);
            return self.problems.add(&written.place, message);
        };
        match &draft.today {
            Some((earlier, place)) if *earlier != day => {
                let message = format!("today is {earlier} at {place}; keep one of the two");
                self.problems.add(&written.place, message);
            }
            _ => draft.today = Some((day, written.place)),
        }
    }

    fn week_start(&mut self, tree: Spanned<Tree>, draft: &mut Draft) {
        let Some(written) = self.text("week_start", tree) else { return };
        let start = match written.text.to_lowercase().as_str() {
            "monday" => WeekStart::Monday,
            "sunday" => WeekStart::Sunday,
            _ => {
                let message =
                    format!("week_start: `{}` is neither monday nor sunday", written.text);
                return self.problems.add(&written.place, message);
            }
        };
        match &draft.week_start {
            Some((earlier, place)) if *earlier != start => {
                let message = format!("week_start has another value at {place}; keep one");
                self.problems.add(&written.place, message);
            }
            _ => draft.week_start = Some((start, written.place)),
        }
    }

    fn table(&mut self, name: Spanned<String>, tree: Spanned<Tree>, draft: &mut Draft) {
        const KEYS: &[&str] =
            &["source", "grain", "key", "time", "synonyms", "description", "filter", "dimensions"];
        let Some(name) = self.name("a table", name, SEPARATORS) else { return };
        let mut table = TableDraft {
            name,
            source: None,
            synonyms: Vec::new(),
            description: None,
            grain: None,
            key: Vec::new(),
            time: None,
            filter: None,
            dimensions: Vec::new(),
        };
        for (key, tree) in self.pairs("a table", tree) {
            match key.value.as_str() {
                "source" => table.source = self.short("source", tree).map(|source| source.text),
                "grain" => table.grain = self.short("grain", tree).map(|grain| grain.text),
                "key" => {
                    let columns = self.shorts("key", tree);
                    table.key = columns.into_iter().map(|column| column.text).collect();
                }
                "time" => table.time = self.short("time", tree),
                "synonyms" => table.synonyms = self.synonyms(tree),
                "description" => table.description = self.description(tree),
                "filter" => table.filter = self.text("filter", tree),
                "dimensions" => {
                    let before: usize =
                        draft.tables.iter().map(|table| table.dimensions.len()).sum();
                    table.dimensions = self.dimensions(tree, DIMENSIONS - before);
                }
                _ => self.unknown_key(&key, "a table", KEYS),
            }
        }
        draft.tables.push(table);
    }

    fn dimensions(&mut self, tree: Spanned<Tree>, left: usize) -> Vec<DimensionDraft> {
        let mut dimensions = Vec::new();
        let at = tree.referenced;
        let pairs = match tree.value {
            // The names of columns alone.
            Tree::List(items) => items
                .into_iter()
                .filter_map(|item| {
                    let at = item.referenced;
                    let name = self.text("dimensions", item)?.text;
                    let nothing = Spanned::new(Tree::Leaf(Value::Null), at, at);
                    Some((Spanned::new(name, at, at), nothing))
                })
                .collect(),
            _ => self.pairs("`dimensions`", tree),
        };
        if pairs.len() > left {
            let message = format!("more than {DIMENSIONS} dimensions; leave some out");
            self.problem(at, message);
            return dimensions;
        }
        for (name, tree) in pairs {
            dimensions.extend(self.dimension(name, tree));
        }
        dimensions
    }

    fn dimension(&mut self, name: Spanned<String>, tree: Spanned<Tree>) -> Option<DimensionDraft> {
        const KEYS: &[&str] = &["type", "expression", "synonyms", "labels", "description"];
        let mut dimension = DimensionDraft {
            name: self.name("a dimension", name, SEPARATORS)?,
            expression: None,
            kind: None,
            synonyms: Vec::new(),
            labels: Vec::new(),
            description: None,
        };
        if matches!(tree.value, Tree::Leaf(Value::String(_))) {
            dimension.expression = self.text("expression", tree);
            return Some(dimension);
        }
        let mut labels = None;
        for (key, tree) in self.pairs("a dimension", tree) {
            match key.value.as_str() {
                "type" => dimension.kind = self.kind(tree),
                "expression" => dimension.expression = self.text("expression", tree),
                "synonyms" => dimension.synonyms = self.synonyms(tree),
                "labels" => labels = Some(tree),
                "description" => dimension.description = self.description(tree),
                _ => self.unknown_key(&key, "a dimension", KEYS),
            }
        }
        // After the type, which says how the values are to be read.
        if let Some(tree) = labels {
            dimension.labels = self.labels(tree, dimension.kind);
        }
        Some(dimension)
    }

    fn kind(&mut self, tree: Spanned<Tree>) -> Option<Kind> {
        let written = self.text("type", tree)?;
        let kind = match written.text.as_str() {
            "time" | "date" => Some(Kind::Time),
            "name" => Some(Kind::Name),
            "text" => Some(Kind::Text),
            "number" => Some(Kind::Number),
            "boolean" => Some(Kind::Boolean),
            _ => None,
        };
        if kind.is_none() {
            let known = ["time", "name", "text", "number", "boolean"];
            self.problems.add_unknown(&written.place, "type", &written.text, known);
        }
        kind
    }

    fn labels(&mut self, tree: Spanned<Tree>, kind: Option<Kind>) -> Vec<LabelDraft> {
        let mut labels = Vec::new();
        if let Tree::List(items) = tree.value {
            for item in items {
                let place = self.place(item.referenced);
                let Some(value) = literal_from(item.value.value(), kind) else {
                    self.problems.add(&place, "labels: a value must be a text or a number");
                    continue;
                };
                labels.push(LabelDraft { value, synonyms: Vec::new(), place });
            }
            return labels;
        }
        for (key, tree) in self.pairs("`labels`", tree) {
            let place = self.place(key.referenced);
            let synonyms = self.synonyms(tree);
            labels.push(LabelDraft { value: literal_from_key(key.value, kind), synonyms, place });
        }
        labels
    }

    fn joins(&mut self, tree: Spanned<Tree>, draft: &mut Draft) {
        let items = match tree.value {
            Tree::List(items) => items,
            Tree::Leaf(Value::Null) => return,
            Tree::Leaf(_) | Tree::Map(_) => {
                let message = "`joins` must be a list such as `- {from: orders.customer_id, to: \
                               customers.id}`";
                return self.problem(tree.referenced, message);
            }
        };
        for item in items {
            if draft.joins.len() >= JOINS {
                let message = format!("more than {JOINS} joins; leave some out");
                return self.problem(item.referenced, message);
            }
            draft.joins.extend(self.join(item));
        }
    }

    fn join(&mut self, tree: Spanned<Tree>) -> Option<JoinDraft> {
        const KEYS: &[&str] = &["from", "to", "cardinality"];
        let at = tree.referenced;
        let mut from = Vec::new();
        let mut to = Vec::new();
        let mut cardinality = Cardinality::ManyToOne;
        for (key, tree) in self.pairs("a join", tree) {
            match key.value.as_str() {
                "from" => from = self.shorts("from", tree),
                "to" => to = self.shorts("to", tree),
                "cardinality" => cardinality = self.cardinality(tree)?,
                _ => self.unknown_key(&key, "a join", KEYS),
            }
        }
        if from.is_empty() || from.len() != to.len() {
            let message = "a join needs `from` and `to` with as many columns, such as `{from: \
                           orders.customer_id, to: customers.id}`";
            self.problem(at, message);
            return None;
        }
        Some(JoinDraft { from, to, cardinality, place: self.place(at) })
    }

    fn cardinality(&mut self, tree: Spanned<Tree>) -> Option<Cardinality> {
        let written = self.text("cardinality", tree)?;
        let message = match written.text.as_str() {
            "many_to_one" => return Some(Cardinality::ManyToOne),
            "one_to_one" => return Some(Cardinality::OneToOne),
            "one_to_many" => "one_to_many is the same join from the other side: swap `from` and \
                              `to`"
                .to_owned(),
            "many_to_many" => "many_to_many repeats rows on both sides: declare the table between \
                               them, and a join from it to each"
                .to_owned(),
            other => unknown("cardinality", other, ["many_to_one", "one_to_one"]),
        };
        self.problems.add(&written.place, message);
        None
    }

    fn metric(&mut self, name: Spanned<String>, tree: Spanned<Tree>) -> Option<MetricDraft> {
        const KEYS: &[&str] = &[
            "measure",
            "ratio",
            "derived",
            "table",
            "filter",
            "time",
            "synonyms",
            "description",
            "format",
            "unit",
        ];
        let name = self.name("a metric", name, SEPARATORS)?;
        if name.text.eq_ignore_ascii_case(RESERVED) {
            let message = "a metric cannot be called `time`, which stands for the period";
            self.problems.add(&name.place, message);
            return None;
        }
        let mut parts = Parts::default();
        let mut metric = MetricDraft {
            name,
            kind: KindDraft::Derived(Written {
                text: String::new(),
                place: self.place(tree.referenced),
            }),
            synonyms: Vec::new(),
            description: None,
            format: Format::Number,
            unit: None,
        };
        if matches!(tree.value, Tree::Leaf(Value::String(_))) {
            parts.measure = self.text("measure", tree);
        } else {
            for (key, tree) in self.pairs("a metric", tree) {
                match key.value.as_str() {
                    "measure" => parts.measure = self.text("measure", tree),
                    "ratio" => {
                        let place = self.place(tree.referenced);
                        parts.ratio = Some((self.shorts("ratio", tree), place));
                    }
                    "derived" => parts.derived = self.text("derived", tree),
                    "table" => parts.table = self.short("table", tree),
                    "filter" => parts.filter = self.text("filter", tree),
                    "time" => parts.time = self.short("time", tree),
                    "synonyms" => metric.synonyms = self.synonyms(tree),
                    "description" => metric.description = self.description(tree),
                    "format" => metric.format = self.format(tree),
                    "unit" => metric.unit = self.short("unit", tree).map(|unit| unit.text),
                    _ => self.unknown_key(&key, "a metric", KEYS),
                }
            }
        }
        metric.kind = self.metric_kind(&metric.name, parts)?;
        Some(metric)
    }

    fn metric_kind(&mut self, name: &Written, parts: Parts) -> Option<KindDraft> {
        let only_measures = [&parts.table, &parts.filter, &parts.time];
        let misplaced = only_measures.into_iter().flatten().next().cloned();
        let kind = match (parts.measure, parts.ratio, parts.derived) {
            (Some(aggregate), None, None) => {
                return Some(KindDraft::Measure {
                    aggregate,
                    table: parts.table,
                    filter: parts.filter,
                    time: parts.time,
                });
            }
            (None, Some((names, place)), None) => match <[Written; 2]>::try_from(names) {
                Ok([numerator, denominator]) => KindDraft::Ratio { numerator, denominator },
                Err(_) => {
                    let message = "ratio: name two metrics, as in `[cancelled orders, orders]`";
                    self.problems.add(&place, message);
                    return None;
                }
            },
            (None, None, Some(expression)) => KindDraft::Derived(expression),
            _ => {
                let message = format!(
                    "metric `{}` needs one of `measure`, `ratio` and `derived`, and only one",
                    name.text
                );
                self.problems.add(&name.place, message);
                return None;
            }
        };
        if let Some(written) = misplaced {
            let message = "`table`, `filter` and `time` belong to a `measure`; set them at the \
                           metrics that this one is made of";
            self.problems.add(&written.place, message);
        }
        Some(kind)
    }

    fn format(&mut self, tree: Spanned<Tree>) -> Format {
        let Some(written) = self.text("format", tree) else { return Format::Number };
        match written.text.as_str() {
            "number" => Format::Number,
            "percent" => Format::Percent,
            "currency" => Format::Currency,
            other => {
                let known = ["number", "percent", "currency"];
                self.problems.add_unknown(&written.place, "format", other, known);
                Format::Number
            }
        }
    }

    /// A name that the file gives to something.
    fn name(&mut self, what: &str, name: Spanned<String>, separators: &[char]) -> Option<Written> {
        let written = Written { text: name.value, place: self.place(name.referenced) };
        let written = self.check_name(what, written)?;
        if let Some(found) = written.text.chars().find(|c| separators.contains(c)) {
            let message = format!(
                "the name of {what} cannot have `{found}`; use letters, digits, spaces and `_`"
            );
            self.problems.add(&written.place, message);
            return None;
        }
        Some(written)
    }

    fn check_name(&mut self, what: &str, written: Written) -> Option<Written> {
        let text = &written.text;
        let reason = if text.trim().len() != text.len() || text.is_empty() {
            "is empty or has spaces around it".to_owned()
        } else if text.chars().count() > NAME {
            format!("is longer than {NAME} characters")
        } else if !text.chars().any(char::is_alphanumeric) {
            "has neither a letter nor a digit".to_owned()
        } else if text.chars().any(is_dangerous) {
            "has a control character".to_owned()
        } else {
            return Some(written);
        };
        self.problems.add(&written.place, format!("the name of {what} {reason}"));
        None
    }

    /// A text, if it is one; nothing behind the key is none.
    fn text(&mut self, key: &str, tree: Spanned<Tree>) -> Option<Written> {
        let at = tree.referenced;
        match tree.value {
            Tree::Leaf(Value::String(text)) if !text.contains('\0') => {
                Some(Written { text, place: self.place(at) })
            }
            Tree::Leaf(Value::Null) => None,
            Tree::Leaf(Value::Number(_) | Value::Bool(_)) => {
                self.problem(at, format!("{key}: the value is no text; put it in quotes"));
                None
            }
            _ => {
                self.problem(at, format!("{key}: the value must be a text"));
                None
            }
        }
    }

    /// A text of one line.
    fn short(&mut self, key: &str, tree: Spanned<Tree>) -> Option<Written> {
        let written = self.text(key, tree)?;
        let text = &written.text;
        let is_short = text.chars().count() <= 4 * NAME;
        if !is_short || text.trim().is_empty() || text.chars().any(is_dangerous) {
            let message = format!(
                "{key}: must be one line of 1 to {} characters, without control characters",
                4 * NAME
            );
            self.problems.add(&written.place, message);
            return None;
        }
        Some(written)
    }

    /// One text or a list of them.
    fn shorts(&mut self, key: &str, tree: Spanned<Tree>) -> Vec<Written> {
        match tree.value {
            Tree::List(items) => {
                items.into_iter().filter_map(|item| self.short(key, item)).collect()
            }
            _ => self.short(key, tree).into_iter().collect(),
        }
    }

    fn synonyms(&mut self, tree: Spanned<Tree>) -> Vec<Written> {
        let synonyms = self.shorts("synonyms", tree);
        synonyms.into_iter().filter_map(|synonym| self.check_name("a synonym", synonym)).collect()
    }

    fn description(&mut self, tree: Spanned<Tree>) -> Option<String> {
        let written = self.text("description", tree)?;
        let text = written.text.trim();
        if text.chars().count() > DESCRIPTION || text.chars().any(|c| c != '\n' && is_dangerous(c))
        {
            let message = format!(
                "description: at most {DESCRIPTION} characters, without control characters"
            );
            self.problems.add(&written.place, message);
            return None;
        }
        Some(text.to_owned()).filter(|text| !text.is_empty())
    }
}

/// The keys of a metric that say how it is computed.
#[derive(Default)]
struct Parts {
    measure: Option<Written>,
    ratio: Option<(Vec<Written>, Place)>,
    derived: Option<Written>,
    table: Option<Written>,
    filter: Option<Written>,
    time: Option<Written>,
}

/// A day of the years 1 to 9999.
pub(super) fn parse_day(text: &str) -> Option<NaiveDate> {
    let is_plain = text.len() == 10 && text.bytes().all(|b| b == b'-' || b.is_ascii_digit());
    NaiveDate::parse_from_str(text, "%Y-%m-%d").ok().filter(|_| is_plain)
}

/// The value of a label that is a key: a number or a truth value where it reads as one and the
/// dimension is not stated to be a text.
fn literal_from_key(key: String, kind: Option<Kind>) -> Literal {
    match kind {
        Some(Kind::Text | Kind::Name) => Literal::Text(key),
        Some(Kind::Time) => match parse_day(&key) {
            Some(day) => Literal::Date(day),
            None => Literal::Text(key),
        },
        Some(Kind::Number | Kind::Boolean) | None => match key.as_str() {
            "true" => Literal::Bool(true),
            "false" => Literal::Bool(false),
            _ if is_number(&key) => Literal::Number(key),
            _ => Literal::Text(key),
        },
    }
}

fn literal_from(value: Value, kind: Option<Kind>) -> Option<Literal> {
    match value {
        Value::String(text) if kind.is_none() => Some(Literal::Text(text)),
        Value::String(text) => Some(literal_from_key(text, kind)),
        Value::Number(number) => Some(literal_from_key(number.to_string(), kind)),
        Value::Bool(value) => Some(Literal::Bool(value)),
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    }
}

/// Returns true for digits with a sign or a point, without superfluous zeros, which could be those
/// of a postcode.
fn is_number(text: &str) -> bool {
    let digits = text.strip_prefix('-').unwrap_or(text);
    let whole = digits.split('.').next().unwrap_or_default();
    let is_plain = digits.len() < 30
        && digits.bytes().all(|b| b.is_ascii_digit() || b == b'.')
        && digits.matches('.').count() < 2
        && digits.ends_with(|c: char| c.is_ascii_digit());
    is_plain && !whole.is_empty() && (whole == "0" || !whole.starts_with('0'))
}
