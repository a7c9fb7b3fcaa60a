//! The requirements of a planner on a task's statement. They travel in the task's context, where a
//! reward reads them.

use serde_json::{Map, Value, json};

use crate::bindings::types::Task;
use crate::replies::{JoinKey, join_context};
use crate::text::line;

// The most items of one list, and the most characters of an item.
const ITEMS: usize = 12;
const ITEM: usize = 200;

// The keys under which models state a part.
const METRICS: &[&str] = &["metrics", "metric", "measures"];
const AGGREGATIONS: &[&str] = &["aggregation", "aggregations"];
const FILTERS: &[&str] = &["filters", "filter", "conditions", "condition", "where"];
const DIMENSIONS: &[&str] = &["dimensions", "dimension", "group_by"];
const TIMES: &[&str] = &["time_range", "time", "date_range", "period"];
const OTHERS: &[&str] = &["grain", "lenient", "metric_details", "tables", "unread"];
/// The keys of a name, a condition in words, and the ends of a range.
const NAMES: &[&str] = &["name", "column", "field", "attribute", "dimension", "metric", "table"];
const COLUMNS: &[&str] = &["column", "field", "attribute"];
const PREDICATES: &[&str] =
    &["predicate", "semantic", "condition", "expression", "filter", "sql", "text"];
const STARTS: &[&str] = &["from", "start", "start_date", "begin", "first", "since", "after", "gte"];
const ENDS: &[&str] = &["to", "end", "end_date", "until", "last", "before", "through", "lte"];
/// The words for an operator, and how SQL writes it.
const OPERATORS: &[(&[&str], &str)] = &[
    (&["=", "==", "eq", "equals", "equal", "equal to", "is"], "="),
    (&["<>", "!=", "≠", "ne", "neq", "not equal", "not equals", "not equal to", "is not"], "<>"),
    (&[">", "gt", "greater", "greater than", "more than", "after"], ">"),
    (&[">=", "≥", "gte", "ge", "at least", "greater than or equal to", "since"], ">="),
    (&["<", "lt", "less", "less than", "before"], "<"),
    (&["<=", "≤", "lte", "le", "at most", "less than or equal to", "until"], "<="),
    (&["in", "any of", "one of"], "IN"),
    (&["not in", "nin", "none of"], "NOT IN"),
    (&["between"], "BETWEEN"),
    (&["like", "ilike", "contains", "starts with", "ends with", "startswith"], "LIKE"),
    (&["not like", "not contains", "does not contain"], "NOT LIKE"),
    (&["is null", "null", "missing"], "IS NULL"),
    (&["is not null", "not null", "exists"], "IS NOT NULL"),
];

/// A quantity that is measured.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Metric {
    /// Its name, such as `revenue`.
    pub name: String,
    /// The function that aggregates its values: `sum`, `count`, `avg`, `min`, `max`, or another
    /// word; `None` if it is taken as it is.
    pub aggregation: Option<String>,
}

/// The parts that the statement of a task must have. Lists are empty, and options `None`, where
/// nothing is required.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Requirements {
    /// The measured quantities.
    pub metrics: Vec<Metric>,
    /// The aggregation of the whole statement, where no metric has one of its own.
    pub aggregation: Option<String>,
    /// Conditions on rows, such as `year = 2014`.
    pub filters: Vec<String>,
    /// The things that rows are grouped or described by.
    pub dimensions: Vec<String>,
    /// The thing that one row of the result stands for, such as `month`.
    pub grain: Option<String>,
    /// The first and the last moment that count, such as `2014-01-01` and `2014-12-31`; either may
    /// be empty.
    pub time_range: Option<(String, String)>,
    /// The tables to read.
    pub tables: Vec<String>,
    /// Further requirements in a form that cannot be read, each as one line. No statement can be
    /// shown to have them.
    pub unread: Vec<String>,
    /// True if a statement that lacks something is accepted all the same, since others were tried
    /// in vain.
    pub lenient: bool,
}

impl Requirements {
    /// Reads what a model or a context states, in any of the forms that models use: a metric is a
    /// name or an object with `name`, a filter a text or an object with `predicate` or `semantic`,
    /// or with a column, an operator and a value; one thing may stand for a list of one. What
    /// cannot be read, unknown keys included, is [`Self::unread`].
    #[must_use]
    pub fn read(value: &Value) -> Self {
        let mut stated = Stated { value, rest: Vec::new() };
        let required = stated.read();
        stated.note_unknown_keys();
        Self { unread: join_unread(required.unread, stated.rest), ..required }
    }

    /// Reads what stands beside other things in an object, whose other keys are none of the
    /// requirements.
    #[must_use]
    pub fn read_among(value: &Value) -> Self {
        let mut stated = Stated { value, rest: Vec::new() };
        let required = stated.read();
        Self { unread: join_unread(required.unread, stated.rest), ..required }
    }

    /// The requirements in a task's context; `None` without any.
    #[must_use]
    pub fn from_task(task: &Task) -> Option<Self> {
        let context: Value = serde_json::from_str(task.context.as_deref()?).ok()?;
        Some(Self::read(context.get("requirements")?)).filter(|required| !required.is_empty())
    }

    /// Returns true if nothing is required.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self { lenient: self.lenient, ..Self::default() }
    }

    /// Returns the form in which the requirements travel in a context.
    #[must_use]
    pub fn json(&self) -> Value {
        let metrics: Vec<Value> = self
            .metrics
            .iter()
            .map(|metric| match &metric.aggregation {
                Some(aggregation) => json!({ "name": metric.name, "aggregation": aggregation }),
                None => json!({ "name": metric.name }),
            })
            .collect();
        let mut out = Map::new();
        let mut put = |key: &str, value: Value, is_there: bool| {
            if is_there {
                out.insert(key.to_owned(), value);
            }
        };
        put("metrics", json!(metrics), !metrics.is_empty());
        put("aggregation", json!(self.aggregation), self.aggregation.is_some());
        put("filters", json!(self.filters), !self.filters.is_empty());
        put("dimensions", json!(self.dimensions), !self.dimensions.is_empty());
        put("grain", json!(self.grain), self.grain.is_some());
        put("time_range", json!(self.time_range), self.time_range.is_some());
        put("tables", json!(self.tables), !self.tables.is_empty());
        put("unread", json!(self.unread), !self.unread.is_empty());
        put("lenient", json!(true), self.lenient);
        Value::Object(out)
    }

    /// The requirements in words, for a prompt; empty without any. Tables are not among them.
    #[must_use]
    pub fn words(&self) -> String {
        let mut parts: Vec<String> = self
            .metrics
            .iter()
            .map(|metric: &Metric| match &metric.aggregation {
                Some(aggregation) => format!("the metric {} ({aggregation})", metric.name),
                None => format!("the metric {}", metric.name),
            })
            .collect();
        parts.extend(
            self.aggregation.iter().map(|aggregation| format!("the aggregation {aggregation}")),
        );
        parts.extend(self.filters.iter().map(|filter| format!("the filter `{filter}`")));
        parts.extend(
            self.time_range.iter().map(|range| format!("the time range {}", range_words(range))),
        );
        parts.extend(self.dimensions.iter().map(|dimension| format!("the dimension {dimension}")));
        parts.extend(self.grain.iter().map(|grain| format!("one row for each {grain}")));
        parts.extend(self.unread.iter().map(|unread| format!("what `{unread}` says")));
        parts.join(", ")
    }
}

/// A range in words: `2014-01-01 to 2014-12-31`.
#[must_use]
pub fn range_words((from, to): &(String, String)) -> String {
    match (from.is_empty(), to.is_empty()) {
        (false, true) => format!("from {from}"),
        (true, _) => format!("up to {to}"),
        (false, false) if from == to => from.clone(),
        (false, false) => format!("{from} to {to}"),
    }
}

/// The requirements that could not be read before, and now.
fn join_unread(mut known: Vec<String>, rest: Vec<String>) -> Vec<String> {
    known.extend(rest);
    known.truncate(ITEMS);
    known
}

/// A task's context that carries join keys and requirements; `None` if there are neither.
#[must_use]
pub fn task_context(keys: &[JoinKey], required: &Requirements) -> Option<String> {
    if required.is_empty() {
        return join_context(keys);
    }
    let mut context: Value =
        join_context(keys).and_then(|text| serde_json::from_str(&text).ok()).unwrap_or(json!({}));
    context["requirements"] = required.json();
    Some(context.to_string())
}

/// A value of which the requirements are read, and what of it could not be read.
struct Stated<'v> {
    value: &'v Value,
    rest: Vec<String>,
}

impl Stated<'_> {
    /// Reads the parts under known keys.
    fn read(&mut self) -> Requirements {
        let details = self.list(&["metric_details"], metric);
        let mut known: Vec<Metric> = Vec::new();
        for metric in self.list(METRICS, metric).into_iter().chain(details) {
            match known.iter_mut().find(|known| known.name == metric.name) {
                Some(known) => known.aggregation = known.aggregation.take().or(metric.aggregation),
                None => known.push(metric),
            }
        }
        known.truncate(ITEMS);
        let time_range = self.list(TIMES, moments).into_iter().next();
        let mut aggregations = self.list(AGGREGATIONS, text).into_iter();
        let aggregation = aggregations.next();
        self.rest.extend(aggregations.map(|other| format!("aggregation: {other}")));
        Requirements {
            metrics: known,
            aggregation,
            filters: self.list(FILTERS, condition),
            dimensions: self.list(DIMENSIONS, read_name),
            grain: self.list(&["grain"], read_name).iter().find_map(|text| grain(text)),
            time_range,
            tables: self.list(&["tables"], read_name),
            unread: self.list(&["unread"], text),
            lenient: self.value.get("lenient").and_then(Value::as_bool).unwrap_or(false),
        }
    }

    /// The items of the lists under these keys. One item may stand for a list.
    fn list<T>(&mut self, keys: &[&str], read: impl Fn(&Value) -> Option<T>) -> Vec<T> {
        let mut found: Vec<T> = Vec::new();
        for (key, value) in keys.iter().filter_map(|key| Some((key, self.value.get(key)?))) {
            if let Some(one) = read(value) {
                found.push(one);
                continue;
            }
            let items = value.as_array().map_or(std::slice::from_ref(value), Vec::as_slice);
            for item in items.iter().take(ITEMS).filter(|item| !is_nothing(item)) {
                match read(item) {
                    Some(one) => found.push(one),
                    None => self.rest.push(line(&format!("{key}: {item}"), ITEM)),
                }
            }
            if let Some(more) = items.len().checked_sub(ITEMS).filter(|more| *more > 0) {
                self.rest.push(format!("{key}: {more} more"));
            }
        }
        found.truncate(ITEMS);
        found
    }

    fn note_unknown_keys(&mut self) {
        let value = self.value;
        let known = [METRICS, AGGREGATIONS, FILTERS, DIMENSIONS, TIMES, OTHERS];
        match value.as_object() {
            Some(keys) => {
                let unknown = keys.iter().filter(|(key, value)| {
                    !known.iter().any(|known| known.contains(&key.as_str())) && !is_nothing(value)
                });
                let rest = unknown.map(|(key, value)| line(&format!("{key}: {value}"), ITEM));
                self.rest.extend(rest.take(ITEMS));
            }
            None if is_nothing(value) => {}
            None => self.rest.push(line(&value.to_string(), ITEM)),
        }
    }
}

/// Returns true for a value that states nothing.
fn is_nothing(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(_) => text(value).is_none(),
        Value::Array(items) => items.iter().all(is_nothing),
        Value::Object(keys) => keys.values().all(is_nothing),
        Value::Bool(_) | Value::Number(_) => false,
    }
}

fn text(value: &Value) -> Option<String> {
    let text = line(value.as_str()?, ITEM);
    let is_nothing =
        ["", "null", "none", "n/a"].iter().any(|nothing| text.eq_ignore_ascii_case(nothing));
    (!is_nothing).then_some(text)
}

fn text_of(value: &Value, key: &str) -> Option<String> {
    value.get(key).and_then(text)
}

/// The thing that one row stands for: `month` of `per_month` and `one row per month`; `None` for a
/// total.
fn grain(text: &str) -> Option<String> {
    let text = text.replace('_', " ");
    let lead = ["one row per ", "one row for each ", "per ", "each ", "by "];
    let thing = lead.iter().find_map(|lead| text.strip_prefix(lead)).unwrap_or(&text).trim();
    let is_total =
        ["", "total", "overall", "one row"].iter().any(|total| thing.eq_ignore_ascii_case(total));
    (!is_total).then(|| thing.to_owned())
}

/// The first text under one of the keys.
fn first_of(value: &Value, keys: &[&str]) -> Option<String> {
    keys.iter().find_map(|key| text_of(value, key))
}

/// A name: a text, or an object that has one.
fn read_name(value: &Value) -> Option<String> {
    text(value).or_else(|| first_of(value, NAMES))
}

fn metric(value: &Value) -> Option<Metric> {
    Some(Metric {
        name: read_name(value)?,
        aggregation: first_of(value, &["aggregation", "aggregate", "agg", "function"]),
    })
}

/// A condition on rows: a text; an object that has one, or a column, an operator and a value; such
/// three in a list; or an object of columns with their values.
fn condition(value: &Value) -> Option<String> {
    let stated = text(value).or_else(|| first_of(value, PREDICATES));
    let written = stated.or_else(|| match value {
        Value::Array(parts) => {
            let [column, operator, operand] = parts.as_slice() else { return None };
            compare(&text(column)?, operator.as_str()?, operand)
        }
        Value::Object(keys) => {
            let column = first_of(value, COLUMNS);
            let operator = first_of(value, &["operator", "op", "comparison", "comparator"]);
            let operand = ["value", "values", "operand"].iter().find_map(|key| keys.get(*key));
            match (column, operator, operand) {
                (None, None, None) => {
                    let parts = keys.iter().map(|(column, value)| compare_all(column, value));
                    join_all(parts.collect())
                }
                // The operator may be the key of the value.
                (Some(column), None, None) => {
                    let others = keys.iter().filter(|(key, _)| !NAMES.contains(&key.as_str()));
                    join_all(others.map(|(key, value)| compare(&column, key, value)).collect())
                }
                (column, operator, operand) => {
                    let column = column.or_else(|| text_of(value, "name"))?;
                    let operand = operand.unwrap_or(&Value::Null);
                    compare(&column, operator.as_deref().unwrap_or("="), operand)
                }
            }
        }
        _ => None,
    })?;
    Some(line(&written, ITEM))
}

/// The conditions of a column with its value, or with values under operators.
fn compare_all(column: &str, value: &Value) -> Option<String> {
    let Value::Object(operators) = value else { return compare(column, "=", value) };
    join_all(operators.iter().map(|(operator, value)| compare(column, operator, value)).collect())
}

fn join_all(parts: Option<Vec<String>>) -> Option<String> {
    parts.filter(|parts| !parts.is_empty()).map(|parts| parts.join(" AND "))
}

/// A comparison as SQL writes it; `None` for an unknown operator, or a value that is none.
fn compare(column: &str, operator: &str, value: &Value) -> Option<String> {
    let operator = operator.trim_start_matches('$').replace('_', " ").trim().to_lowercase();
    let (_, written) =
        OPERATORS.iter().find(|(words, _)| words.contains(&operator.as_str())).copied()?;
    let written = match (written, value) {
        ("=" | "IS NULL", Value::Null) => return Some(format!("{column} IS NULL")),
        ("<>" | "IS NOT NULL", Value::Null) => return Some(format!("{column} IS NOT NULL")),
        ("IS NULL" | "IS NOT NULL", _) => return Some(format!("{column} {written}")),
        ("=", Value::Array(_)) => "IN",
        ("<>", Value::Array(_)) => "NOT IN",
        (other, _) => other,
    };
    let values: &[Value] = match value {
        Value::Array(values) if values.len() <= ITEMS => values,
        Value::Array(_) => return None,
        one => std::slice::from_ref(one),
    };
    let values: Vec<String> = values.iter().map(operand).collect::<Option<_>>()?;
    match (written, values.as_slice()) {
        ("BETWEEN", [from, to]) => Some(format!("{column} BETWEEN {from} AND {to}")),
        ("IN" | "NOT IN", [_, ..]) => Some(format!("{column} {written} ({})", values.join(", "))),
        ("BETWEEN", _) => None,
        (_, [value]) => Some(format!("{column} {written} {value}")),
        _ => None,
    }
}

fn operand(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(format!("'{}'", text.trim().replace('\'', "''"))),
        Value::Number(_) | Value::Bool(_) => Some(value.to_string()),
        _ => None,
    }
}

/// The first and the last moment of a range: two in a list, two in an object, a text with both, or
/// one for both ends.
fn moments(value: &Value) -> Option<(String, String)> {
    let (from, to) = match value {
        Value::Array(both) => match both.as_slice() {
            [one] => return moments(one),
            [from, .., to] => (moment(from), moment(to)),
            [] => return None,
        },
        Value::Object(_) => {
            let one = first_moment(value, &["year", "month", "quarter", "date", "day", "on", "in"]);
            let from = first_moment(value, STARTS).or_else(|| one.clone());
            (from, first_moment(value, ENDS).or(one))
        }
        other => return Some(range(&moment(other)?)),
    };
    (from.is_some() || to.is_some()).then(|| (from.unwrap_or_default(), to.unwrap_or_default()))
}

fn first_moment(value: &Value, keys: &[&str]) -> Option<String> {
    keys.iter().find_map(|key| moment(value.get(key)?))
}

fn moment(value: &Value) -> Option<String> {
    match value {
        Value::Number(number) => Some(number.to_string()),
        other => text(other),
    }
}

/// The range of a text: `2023`, `since 2023`, `2023-01-01 to 2023-12-31`.
fn range(text: &str) -> (String, String) {
    fn strip_word<'t>(text: &'t str, words: &[&str]) -> Option<&'t str> {
        let (first, rest) = text.split_once(' ')?;
        words.iter().any(|word| first.eq_ignore_ascii_case(word)).then(|| rest.trim())
    }
    if let Some(both) = strip_word(text, &["from", "between"]).or(Some(text))
        && let Some((from, to)) = [" to ", " and ", " until ", "..", "/", " - ", " – "]
            .iter()
            .find_map(|between| both.split_once(between))
        && [from, to].iter().all(|end| {
            let digits = end.trim().chars().take(4).filter(char::is_ascii_digit);
            digits.count() == 4
        })
    {
        return (from.trim().to_owned(), to.trim().to_owned());
    }
    if let Some(from) = strip_word(text, &["since", "after", "from", ">", ">="]) {
        return (from.to_owned(), String::new());
    }
    if let Some(to) = strip_word(text, &["until", "before", "till", "through", "<", "<="]) {
        return (String::new(), to.to_owned());
    }
    let one = strip_word(text, &["in", "during", "on", "year"]).unwrap_or(text);
    (one.to_owned(), one.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_model_states_is_read_in_any_of_its_forms() {
        let stated = json!({
            "metrics": ["revenue", { "name": "orders", "aggregation": "count" }, 7, {}],
            "metric_details": [{
                "name": "revenue", "aggregation": "sum", "expression_semantics": "price x quantity"
            }],
            "aggregation": "null",
            "filters": [
                "year = 2014", { "semantic": "paid", "predicate": "status = 'paid'" },
                { "semantic": "German" }, null
            ],
            "dimensions": null,
            "grain": " per\nmonth ",
            "time_range": ["2014-01-01", 2015],
            "tables": ["orders"],
        });
        let required = Requirements::read(&stated);
        fn metric(name: &str, aggregation: &str) -> Metric {
            Metric { name: name.into(), aggregation: Some(aggregation.into()) }
        }
        assert_eq!(required.metrics, [metric("revenue", "sum"), metric("orders", "count")]);
        assert_eq!(required.aggregation, None);
        assert_eq!(required.filters, ["year = 2014", "status = 'paid'", "German"]);
        assert_eq!(required.grain.as_deref(), Some("month"));
        assert_eq!(required.time_range, Some(("2014-01-01".into(), "2015".into())));
        assert_eq!(
            required.words(),
            "the metric revenue (sum), the metric orders (count), the filter `year = 2014`, the \
             filter `status = 'paid'`, the filter `German`, the time range 2014-01-01 to 2015, one \
             row for each month, what `metrics: 7` says"
        );
    }

    #[test]
    fn filters_of_another_shape_are_read() {
        for (filters, read) in [
            (json!("country = 'Spain'"), "country = 'Spain'"),
            (json!({ "country": "Spain" }), "country = 'Spain'"),
            (json!([{ "country": "Spain" }]), "country = 'Spain'"),
            (json!(["country", "=", "Spain"]), "country = 'Spain'"),
            (json!([["country", "==", "Spain"]]), "country = 'Spain'"),
            (json!([{ "column": "country", "op": "=", "value": "Spain" }]), "country = 'Spain'"),
            (
                json!({ "field": "country", "operator": "EQ", "value": "Spain" }),
                "country = 'Spain'",
            ),
            (json!([{ "column": "name", "value": "O'Hara" }]), "name = 'O''Hara'"),
            (json!([{ "a": 5, "name": "Ann" }]), "a = 5 AND name = 'Ann'"),
            (json!([{ "condition": "country = 'Spain'" }]), "country = 'Spain'"),
            (json!([{ "column": "n", "op": "greater_than", "value": 5 }]), "n > 5"),
            (json!({ "n": { "$gte": 5, "$lt": 9 } }), "n >= 5 AND n < 9"),
            (json!([{ "column": "n", "op": "in", "values": [1, "b"] }]), "n IN (1, 'b')"),
            (json!([{ "column": "n", "op": "=", "value": ["a", "b"] }]), "n IN ('a', 'b')"),
            (json!([{ "column": "n", "op": "between", "value": [1, 2] }]), "n BETWEEN 1 AND 2"),
            (json!([{ "column": "n", "op": "is not", "value": null }]), "n IS NOT NULL"),
            (json!([{ "column": "n", "equals": "a" }]), "n = 'a'"),
            (json!([{ "name": "n", "op": "<>", "value": "a" }]), "n <> 'a'"),
            (json!([{ "name": "of Spain", "column": "n", "value": "a" }]), "n = 'a'"),
        ] {
            let required = Requirements::read(&json!({ "filters": filters }));
            let found = (required.filters, required.unread);
            assert_eq!(found, (vec![read.to_owned()], vec![]), "{filters}");
        }
        let aliased = Requirements::read(&json!({ "where": "a = 1", "conditions": ["b = 2"] }));
        assert_eq!(aliased.filters, ["b = 2", "a = 1"]);
    }

    #[test]
    fn time_ranges_of_another_shape_are_read() {
        for (range, from, to) in [
            (json!("2023"), "2023", "2023"),
            (json!(2023), "2023", "2023"),
            (json!([2023]), "2023", "2023"),
            (json!({ "year": 2023 }), "2023", "2023"),
            (json!("in 2023"), "2023", "2023"),
            (json!({ "start": "2023-01-01", "end": "2023-12-31" }), "2023-01-01", "2023-12-31"),
            (json!([{ "from": "2023-01-01", "to": null }]), "2023-01-01", ""),
            (json!("2023-01-01 to 2023-12-31"), "2023-01-01", "2023-12-31"),
            (json!("2023-01-01/2023-12-31"), "2023-01-01", "2023-12-31"),
            (json!("between 2023-01-01 and 2023-12-31"), "2023-01-01", "2023-12-31"),
            (json!("since 2023"), "2023", ""),
            (json!("before 2024-01-01"), "", "2024-01-01"),
            (json!("2023/01/15"), "2023/01/15", "2023/01/15"),
            (json!(["2023-01", "2023-02", "2023-03"]), "2023-01", "2023-03"),
            (json!("last month"), "last month", "last month"),
        ] {
            let required = Requirements::read(&json!({ "time_range": range }));
            assert_eq!(required.time_range, Some((from.into(), to.into())), "{range}");
            assert_eq!(required.unread, [] as [String; 0]);
        }
        assert_eq!(range_words(&("2023".into(), "2023".into())), "2023");
    }

    #[test]
    fn one_thing_stands_for_a_list_of_one() {
        let required = Requirements::read(&json!({
            "metrics": { "metric": "orders", "function": "count" }, "dimensions": "country",
            "tables": [{ "name": "orders" }], "aggregation": ["count"], "grain": ["per month"],
        }));
        assert_eq!(
            required.words(),
            "the metric orders (count), the aggregation count, the dimension country, one row for \
             each month"
        );
        assert_eq!(required.tables, ["orders"]);
    }

    #[test]
    fn all_that_cannot_be_read_is_required() {
        for (stated, rest) in [
            (json!("country = 'Spain'"), vec!["\"country = 'Spain'\""]),
            (json!(["odd"]), vec!["[\"odd\"]"]),
            (json!({ "filters": 7, "time_range": true }), vec!["time_range: true", "filters: 7"]),
            (
                json!({ "filters": [{ "column": "a", "op": "~~", "value": 1 }, ["a", 1]] }),
                vec!["filters: {\"column\":\"a\",\"op\":\"~~\",\"value\":1}", "filters: [\"a\",1]"],
            ),
            (
                json!({ "filters": [{ "column": "a" }, { "column": "a", "like so": "b" }] }),
                vec![
                    "filters: {\"column\":\"a\"}",
                    "filters: {\"column\":\"a\",\"like so\":\"b\"}",
                ],
            ),
            (json!({ "only": "Spain", "filters": [] }), vec!["only: \"Spain\""]),
            (json!({ "filters": null, "metrics": "none", "grain": "total", "x": {} }), vec![]),
        ] {
            let required = Requirements::read(&stated);
            assert_eq!(required.unread, rest, "{stated}");
            assert_eq!(required.is_empty(), rest.is_empty(), "{stated}");
            assert_eq!(Requirements::read(&required.json()), required, "{stated}");
        }
        let item = json!({ "id": "A", "filters": 7, "where": "a = 1", "is_atomic": true });
        let required = Requirements::read_among(&item);
        assert_eq!(
            (required.filters, required.unread),
            (vec!["a = 1".into()], vec!["filters: 7".into()])
        );
    }

    #[test]
    fn a_grain_is_what_a_row_stands_for() {
        fn grain(text: &str) -> Option<String> {
            Requirements::read(&json!({ "grain": text })).grain
        }
        for (text, thing) in
            [("per_customer", "customer"), ("one row per month", "month"), ("country", "country")]
        {
            assert_eq!(grain(text).as_deref(), Some(thing));
        }
        assert_eq!(grain("total").or(grain("overall")).or(grain("none")), None);
    }

    #[test]
    fn nonsense_requires_nothing() {
        for nonsense in [
            json!(null),
            json!("x"),
            json!([1]),
            json!({ "metrics": {}, "filters": ["none"], "time_range": [null, ""], "grain": 1 }),
        ] {
            let required = Requirements { unread: Vec::new(), ..Requirements::read(&nonsense) };
            assert!(required.is_empty(), "{nonsense}");
        }
    }

    #[test]
    fn lists_and_texts_are_bounded() {
        let filters: Vec<String> =
            (0..500).map(|number| format!("x{number} = '{}'", "y".repeat(9000))).collect();
        let required = Requirements::read(&json!({ "filters": filters, "metrics": filters }));
        assert_eq!((required.filters.len(), required.metrics.len()), (ITEMS, ITEMS));
        assert_eq!(required.unread, ["metrics: 488 more", "filters: 488 more"]);
        assert!(required.json().to_string().len() < 2 * ITEMS * (ITEM + 40));
    }

    #[test]
    fn requirements_travel_beside_join_keys() {
        let required = Requirements {
            filters: vec!["a = 1".into()],
            tables: vec!["t".into()],
            lenient: true,
            ..Requirements::default()
        };
        let key = JoinKey {
            left: "A".into(),
            left_col: "id".into(),
            right: "B".into(),
            right_col: "id".into(),
            how: crate::replies::JoinHow::Inner,
        };
        let task = Task {
            context: task_context(std::slice::from_ref(&key), &required),
            ..Task::default()
        };
        assert_eq!(Requirements::from_task(&task), Some(required));
        assert_eq!(crate::replies::join_keys_of(&task), [key]);
        assert_eq!(task_context(&[], &Requirements::default()), None);
        assert_eq!(
            Requirements::from_task(&Task { context: Some("{]".into()), ..Task::default() }),
            None
        );
    }
}
