//! The requirements of a planner on a task's statement. They travel in the task's context, where a
//! reward reads them.

use serde_json::{Map, Value, json};

use crate::bindings::types::Task;
use crate::replies::{JoinKey, join_context};
use crate::text::line;

// The most items of one list, and the most characters of an item.
const ITEMS: usize = 12;
const ITEM: usize = 200;

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
    /// True if a statement that lacks something is accepted all the same, since others were tried
    /// in vain.
    pub lenient: bool,
}

impl Requirements {
    /// Reads what a model or a context states. What has another form is left out: a metric is a
    /// name or an object with `name`, a filter a text or an object with `predicate` or `semantic`.
    #[must_use]
    pub fn read(value: &Value) -> Self {
        let metrics = items(value, "metrics", metric).chain(items(value, "metric_details", metric));
        let mut known: Vec<Metric> = Vec::new();
        for metric in metrics {
            match known.iter_mut().find(|known| known.name == metric.name) {
                Some(known) => known.aggregation = known.aggregation.take().or(metric.aggregation),
                None => known.push(metric),
            }
        }
        known.truncate(ITEMS);
        Self {
            metrics: known,
            aggregation: text_of(value, "aggregation"),
            filters: items(value, "filters", |item| {
                text(item).or_else(|| first_of(item, &["predicate", "semantic"]))
            })
            .collect(),
            dimensions: items(value, "dimensions", text).collect(),
            grain: text_of(value, "grain").and_then(|text| grain(&text)),
            time_range: time_range(value.get("time_range")),
            tables: items(value, "tables", text).collect(),
            lenient: value.get("lenient").and_then(Value::as_bool).unwrap_or(false),
        }
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
        parts.join(", ")
    }
}

/// A range in words: `2014-01-01 to 2014-12-31`.
#[must_use]
pub fn range_words((from, to): &(String, String)) -> String {
    match (from.is_empty(), to.is_empty()) {
        (false, true) => format!("from {from}"),
        (true, _) => format!("up to {to}"),
        (false, false) => format!("{from} to {to}"),
    }
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

fn items<'a, T>(
    value: &'a Value,
    key: &str,
    read: impl Fn(&'a Value) -> Option<T> + 'a,
) -> impl Iterator<Item = T> + 'a {
    value.get(key).and_then(Value::as_array).into_iter().flatten().filter_map(read).take(ITEMS)
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

fn first_of(value: &Value, keys: &[&str]) -> Option<String> {
    keys.iter().find_map(|key| text_of(value, key))
}

fn metric(value: &Value) -> Option<Metric> {
    match value {
        Value::String(_) => Some(Metric { name: text(value)?, aggregation: None }),
        _ => Some(Metric {
            name: text_of(value, "name")?,
            aggregation: text_of(value, "aggregation"),
        }),
    }
}

fn time_range(value: Option<&Value>) -> Option<(String, String)> {
    let value = value?;
    fn moment(value: Option<&Value>) -> String {
        match value {
            Some(Value::Number(number)) => number.to_string(),
            other => other.and_then(text).unwrap_or_default(),
        }
    }
    let (from, to) = match value {
        Value::Array(both) => (moment(both.first()), moment(both.get(1))),
        Value::Object(both) => (moment(both.get("from")), moment(both.get("to"))),
        _ => return None,
    };
    (!from.is_empty() || !to.is_empty()).then_some((from, to))
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
             row for each month"
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
            json!({ "metrics": {}, "filters": "x", "time_range": [null, ""], "grain": 1 }),
        ] {
            assert!(Requirements::read(&nonsense).is_empty(), "{nonsense}");
        }
    }

    #[test]
    fn lists_and_texts_are_bounded() {
        let filters: Vec<String> =
            (0..500).map(|number| format!("x{number} = '{}'", "y".repeat(9000))).collect();
        let required = Requirements::read(&json!({ "filters": filters, "metrics": filters }));
        assert_eq!((required.filters.len(), required.metrics.len()), (ITEMS, ITEMS));
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
