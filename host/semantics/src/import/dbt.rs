//! dbt's semantic models and metrics, as its versions 1.6 to 1.11 have them
//! (<https://docs.getdbt.com/docs/build/semantic-models>,
//! <https://docs.getdbt.com/docs/build/measures>,
//! <https://docs.getdbt.com/docs/build/metrics-overview>).

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};
use sqlparser::ast::{Expr, Ident, VisitMut, VisitorMut};

use super::{Dimension, Draft, Join, Metric, Table, entries, synonym, text};
use crate::read::{Scope, admit, is_plain_column, parse};
use crate::write::{clean, scalar, sql_column, sql_name};

/// A measure of a semantic model.
struct Measure {
    table: String,
    /// The aggregate; the reason if it cannot be written.
    aggregate: Result<String, String>,
    time: Option<String>,
    is_metric: bool,
    label: Option<String>,
    description: Option<String>,
}

/// The parts of models that metrics and joins refer to.
#[derive(Default)]
struct Known {
    measures: BTreeMap<String, Measure>,
    /// The tables, by the names of their primary entities.
    entities: BTreeMap<String, String>,
    /// The columns of primary and unique entities, by table and entity.
    keys: BTreeMap<(String, String), String>,
    /// The foreign entities of models.
    references: Vec<Reference>,
    /// The expressions of dimensions, by table and name.
    dimensions: BTreeMap<(String, String), String>,
    used: BTreeSet<String>,
    /// The metrics that a metric is made of.
    inputs: BTreeMap<String, Vec<String>>,
}

impl Known {
    fn note_inputs(&mut self, metric: &Map<String, Value>, inputs: Vec<String>) {
        self.inputs.insert(clean(text(metric, "name").unwrap_or_default()), inputs);
    }
}

/// Translates a file.
pub(super) fn translate(document: &Map<String, Value>) -> Draft {
    let mut draft = Draft { origin: "dbt's semantic layer", ..Draft::default() };
    let mut known = Known::default();
    for model in entries(document, "semantic_models") {
        read_model(model, &mut draft, &mut known);
    }
    add_joins(&mut draft, &known);
    for metric in entries(document, "metrics") {
        let Some(name) = text(metric, "name") else { continue };
        let what = format!("metric `{name}`");
        match read_metric(metric, &what, &mut draft, &mut known) {
            Ok(Some(keys)) => {
                let mut translated = Metric { name: clean(name), keys };
                translated.describe(text(metric, "label"), text(metric, "description"));
                draft.metrics.push(translated);
            }
            Ok(None) => {}
            Err(reason) => draft.leave_out(&what, reason),
        }
    }
    for saved in entries(document, "saved_queries") {
        let name = text(saved, "name").unwrap_or("?");
        draft.leave_out(&format!("saved query `{name}`"), "a semantics file has no queries");
    }
    add_measures(&mut draft, &known);
    leave_out_dependents(&mut draft, &known);
    draft
}

/// Leaves out metrics that are made of one that is not there, and those that are made of these.
fn leave_out_dependents(draft: &mut Draft, known: &Known) {
    loop {
        let names: BTreeSet<String> =
            draft.metrics.iter().map(|metric| metric.name.to_lowercase()).collect();
        let lacking = draft.metrics.iter().enumerate().find_map(|(at, metric)| {
            let mut inputs = known.inputs.get(&metric.name)?.iter();
            Some((at, inputs.find(|input| !names.contains(&input.to_lowercase()))?))
        });
        let Some((at, input)) = lacking else { return };
        let metric = draft.metrics.remove(at);
        let what = format!("metric `{}`", metric.name);
        draft.leave_out(&what, format!("it is made of `{input}`, which is no metric here"));
    }
}

/// Adds measures that are metrics themselves, and lists those that no metric uses.
fn add_measures(draft: &mut Draft, known: &Known) {
    for (name, measure) in &known.measures {
        let what = format!("measure `{name}`");
        if !measure.is_metric {
            if !known.used.contains(name) {
                draft.leave_out(&what, "no metric uses it");
            }
            continue;
        }
        match &measure.aggregate {
            Ok(aggregate) => {
                let Some(mut keys) = draft.measure(&what, &measure.table, aggregate) else {
                    continue;
                };
                keys.extend(measure.time.iter().map(|time| ("time", scalar(time))));
                let mut metric = Metric { name: clean(name), keys };
                metric.describe(measure.label.as_deref(), measure.description.as_deref());
                draft.metrics.push(metric);
            }
            Err(reason) => draft.leave_out(&what, reason),
        }
    }
}

/// A foreign entity of a table, with its column.
struct Reference {
    table: String,
    column: String,
    entity: String,
}

fn read_model(model: &Map<String, Value>, draft: &mut Draft, known: &mut Known) {
    let Some(name) = text(model, "name").map(clean) else {
        return draft.leave_out("a semantic model", "it has no name");
    };
    let source = text(model, "model").and_then(read_reference);
    if source.is_none() {
        draft.leave_out(
            &format!("the table of `{name}`"),
            "`model` is neither ref('…') nor source('…', '…'); set `source`",
        );
    }
    let defaults = model.get("defaults").and_then(Value::as_object);
    let mut table = Table {
        source,
        key: Vec::new(),
        time: defaults.and_then(|defaults| text(defaults, "agg_time_dimension")).map(clean),
        description: text(model, "description").map(str::to_owned),
        dimensions: Vec::new(),
        name,
    };
    for entity in entries(model, "entities") {
        read_entity(entity, &mut table, draft, known);
    }
    if let Some(entity) = text(model, "primary_entity") {
        known.entities.insert(entity.to_owned(), table.name.clone());
    }
    for dimension in entries(model, "dimensions") {
        read_dimension(dimension, &mut table, draft, known);
    }
    if !table.time.as_ref().is_none_or(|time| {
        table.dimensions.iter().any(|dimension| dimension.is_time && dimension.name == *time)
    }) {
        let what = format!("the time of `{}`", table.name);
        draft.leave_out(&what, "`agg_time_dimension` is no time dimension of the model");
        table.time = None;
    }
    for measure in entries(model, "measures") {
        if let Some(name) = text(measure, "name") {
            let measure = read_measure(measure, &table.name, name);
            known.measures.insert(name.to_owned(), measure);
        }
    }
    draft.tables.push(table);
}

/// The table of `ref('x')`, `ref('package', 'x')` and `source('schema', 'x')`, with braces or
/// without.
fn read_reference(model: &str) -> Option<String> {
    let call = model.trim_start_matches('{').trim_end_matches('}').trim();
    let (function, arguments) = call.split_once('(')?;
    let arguments = arguments.trim_end().strip_suffix(')')?;
    let names: Option<Vec<&str>> = arguments
        .split(',')
        .map(|name| {
            let name = name.trim();
            let inner = name.strip_prefix('\'').and_then(|name| name.strip_suffix('\''));
            inner.or_else(|| name.strip_prefix('"').and_then(|name| name.strip_suffix('"')))
        })
        .collect();
    match (function.trim(), names?.as_slice()) {
        ("ref", [.., name]) => Some((*name).to_owned()),
        ("source", [schema, name]) => Some(format!("{schema}.{name}")),
        _ => None,
    }
}

fn read_entity(
    entity: &Map<String, Value>,
    table: &mut Table,
    draft: &mut Draft,
    known: &mut Known,
) {
    let Some(name) = text(entity, "name") else { return };
    let column = text(entity, "expr").unwrap_or(name);
    let what = format!("entity `{name}` of `{}`", table.name);
    if !is_plain_column(column) {
        return draft.leave_out(&what, "its expression is no column");
    }
    match text(entity, "type").unwrap_or_default().to_ascii_lowercase().as_str() {
        "primary" => {
            table.key = vec![column.to_owned()];
            known.entities.insert(name.to_owned(), table.name.clone());
            known.keys.insert((table.name.clone(), name.to_owned()), column.to_owned());
        }
        "unique" => {
            known.entities.entry(name.to_owned()).or_insert_with(|| table.name.clone());
            known.keys.insert((table.name.clone(), name.to_owned()), column.to_owned());
        }
        "foreign" => known.references.push(Reference {
            table: table.name.clone(),
            column: column.to_owned(),
            entity: name.to_owned(),
        }),
        other => {
            let reason = format!("entities of the type `{other}` have no counterpart");
            draft.leave_out(&what, reason);
        }
    }
}

/// Joins each foreign entity to the table whose primary or unique entity has its name.
fn add_joins(draft: &mut Draft, known: &Known) {
    for Reference { table, column, entity } in &known.references {
        let target = known
            .entities
            .get(entity)
            .and_then(|target| Some((target, known.keys.get(&(target.clone(), entity.clone()))?)));
        match target {
            Some((target, key)) if target != table => draft.joins.push(Join {
                from: vec![format!("{table}.{column}")],
                to: vec![format!("{target}.{key}")],
                is_one_to_one: false,
            }),
            _ => {
                let what = format!("entity `{entity}` of `{table}`");
                draft.leave_out(&what, "no other model has it as its primary entity");
            }
        }
    }
}

fn read_dimension(
    dimension: &Map<String, Value>,
    table: &mut Table,
    draft: &mut Draft,
    known: &mut Known,
) {
    let Some(given) = text(dimension, "name") else { return };
    let name = clean(given);
    let expression = text(dimension, "expr").filter(|expression| *expression != name);
    let key = (table.name.clone(), given.to_owned());
    known.dimensions.insert(key, expression.unwrap_or(given).to_owned());
    let kind = text(dimension, "type").unwrap_or_default();
    let translated = Dimension {
        synonym: synonym(&name, text(dimension, "label")),
        expression: expression.map(str::to_owned),
        is_time: kind.eq_ignore_ascii_case("time"),
        description: text(dimension, "description").map(str::to_owned),
        name,
    };
    draft.dimension(table, translated);
}

fn read_measure(measure: &Map<String, Value>, table: &str, name: &str) -> Measure {
    let expression = match measure.get("expr") {
        Some(Value::Number(number)) => number.to_string(),
        _ => text(measure, "expr").unwrap_or(name).to_owned(),
    };
    let aggregate = text(measure, "agg").unwrap_or_default().to_ascii_lowercase();
    let written = match aggregate.as_str() {
        "sum" | "min" | "max" => Ok(format!("{aggregate}({expression})")),
        "average" => Ok(format!("avg({expression})")),
        "count" if ["1", "*"].contains(&expression.as_str()) => Ok("count(*)".to_owned()),
        "count" => Ok(format!("count({expression})")),
        "count_distinct" => Ok(format!("count(distinct {expression})")),
        "sum_boolean" => Ok(format!("sum(case when {expression} then 1 else 0 end)")),
        other => Err(format!("the aggregation `{other}` has no counterpart")),
    };
    let is_additive = measure.get("non_additive_dimension").is_none_or(Value::is_null);
    Measure {
        table: table.to_owned(),
        aggregate: match is_additive {
            true => written,
            false => Err("`non_additive_dimension` has no counterpart".to_owned()),
        },
        time: text(measure, "agg_time_dimension").map(clean),
        is_metric: measure.get("create_metric") == Some(&Value::Bool(true)),
        label: text(measure, "label").map(str::to_owned),
        description: text(measure, "description").map(str::to_owned),
    }
}

/// The keys of a metric. `None` if it is listed already.
fn read_metric(
    metric: &Map<String, Value>,
    what: &str,
    draft: &mut Draft,
    known: &mut Known,
) -> Result<Option<Vec<(&'static str, String)>>, String> {
    let nothing = Map::new();
    let parameters = metric.get("type_params").and_then(Value::as_object).unwrap_or(&nothing);
    let kind = text(metric, "type").unwrap_or_default();
    let filters = read_filters(metric.get("filter"));
    match kind {
        "simple" => {
            let input = Input::read(parameters.get("measure")).ok_or("it names no measure")?;
            let filters = [filters, input.filters.clone()].concat();
            known.used.insert(input.name.clone());
            let measure = known
                .measures
                .get(&input.name)
                .ok_or_else(|| format!("there is no measure `{}`", input.name))?;
            if input.fills {
                draft.leave_out(what, "`fill_nulls_with` and `join_to_timespine` are ignored");
            }
            let aggregate = measure.aggregate.clone()?;
            let filter = translate_filters(&filters, known)?;
            let Some(mut keys) = draft.measure(what, &measure.table, &aggregate) else {
                return Ok(None);
            };
            keys.extend(filter.map(|filter| ("filter", scalar(&filter))));
            keys.extend(measure.time.iter().map(|time| ("time", scalar(time))));
            Ok(Some(keys))
        }
        _ if !filters.is_empty() => {
            Err("a filter on what is made of metrics has no counterpart; set it at these".into())
        }
        "ratio" => {
            let mut names = Vec::new();
            for part in ["numerator", "denominator"] {
                let input =
                    Input::read(parameters.get(part)).ok_or_else(|| format!("it has no {part}"))?;
                input.check_is_plain()?;
                names.push(clean(&input.name));
            }
            known.note_inputs(metric, names.clone());
            Ok(Some(vec![("ratio", super::scalars(&names))]))
        }
        "derived" => {
            let expression = text(parameters, "expr").ok_or("it has no `expr`")?;
            let mut aliases = BTreeMap::new();
            let inputs = parameters.get("metrics").and_then(Value::as_array);
            for input in inputs.into_iter().flatten() {
                let input = Input::read(Some(input)).ok_or("an input has no name")?;
                input.check_is_plain()?;
                let alias = input.alias.clone().unwrap_or_else(|| input.name.clone());
                aliases.insert(alias, clean(&input.name));
            }
            known.note_inputs(metric, aliases.values().cloned().collect());
            let mut tree = parse(expression)?;
            // The visitor never breaks off.
            let _ = tree.visit(&mut Renaming(&aliases));
            Ok(Some(vec![("derived", scalar(&tree.to_string()))]))
        }
        other => Err(format!("metrics of the type `{other}` have no counterpart")),
    }
}

/// Writes metrics in place of their aliases.
struct Renaming<'a>(&'a BTreeMap<String, String>);

impl VisitorMut for Renaming<'_> {
    type Break = ();

    fn post_visit_expr(&mut self, expr: &mut Expr) -> std::ops::ControlFlow<()> {
        if let Expr::Identifier(name) = expr
            && let Some(metric) = self.0.get(&name.value)
        {
            *name = match sql_name(metric).starts_with('"') {
                true => Ident::with_quote('"', metric),
                false => Ident::new(metric),
            };
        }
        std::ops::ControlFlow::Continue(())
    }
}

/// Returns true if a key has a value that is not false.
fn is_set(of: &Map<String, Value>, key: &str) -> bool {
    of.get(key).is_some_and(|value| !value.is_null() && *value != Value::Bool(false))
}

/// A measure or a metric that another metric names.
#[derive(Default)]
struct Input {
    name: String,
    alias: Option<String>,
    filters: Vec<String>,
    is_shifted: bool,
    fills: bool,
}

impl Input {
    fn read(value: Option<&Value>) -> Option<Self> {
        match value? {
            Value::String(name) => Some(Self { name: name.clone(), ..Self::default() }),
            Value::Object(of) => Some(Self {
                name: text(of, "name")?.to_owned(),
                alias: text(of, "alias").map(str::to_owned),
                filters: read_filters(of.get("filter")),
                is_shifted: is_set(of, "offset_window") || is_set(of, "offset_to_grain"),
                fills: is_set(of, "fill_nulls_with") || is_set(of, "join_to_timespine"),
            }),
            _ => None,
        }
    }

    fn check_is_plain(&self) -> Result<(), String> {
        if self.is_shifted {
            return Err(format!(
                "the offset of `{}` has no counterpart; a request compares with earlier periods",
                self.name
            ));
        }
        match self.filters.is_empty() {
            true => Ok(()),
            false => Err(format!(
                "the filter on `{}` has no counterpart; define a metric with this filter, and name \
                 that",
                self.name
            )),
        }
    }
}

fn read_filters(value: Option<&Value>) -> Vec<String> {
    match value {
        Some(Value::String(filter)) if !filter.trim().is_empty() => vec![filter.trim().to_owned()],
        Some(Value::Array(filters)) => {
            filters.iter().flat_map(|filter| read_filters(Some(filter))).collect()
        }
        Some(Value::Object(of)) => read_filters(of.get("where_filters")),
        _ => Vec::new(),
    }
}

/// Filters as one condition, with columns in place of `{{ Dimension('entity__name') }}`.
fn translate_filters(filters: &[String], known: &Known) -> Result<Option<String>, String> {
    let mut parts = Vec::new();
    for filter in filters {
        let mut rest = filter.as_str();
        let mut out = String::new();
        while let Some((before, after)) = rest.split_once("{{") {
            let (call, after) = after.split_once("}}").ok_or("a `{{` has no `}}`")?;
            out.push_str(before);
            out.push_str(&translate_call(call.trim(), known)?);
            rest = after;
        }
        out.push_str(rest);
        parts.push(out.split_whitespace().collect::<Vec<_>>().join(" "));
    }
    Ok(match parts.as_slice() {
        [] => None,
        [part] => Some(part.clone()),
        parts => {
            let parts: Vec<String> = parts.iter().map(|part| format!("({part})")).collect();
            Some(parts.join(" AND "))
        }
    })
}

fn translate_call(call: &str, known: &Known) -> Result<String, String> {
    let refused = format!("`{{{{ {call} }}}}` in a filter has no counterpart");
    let Some((function, arguments)) = call.split_once('(') else { return Err(refused) };
    // A call behind it, such as `.grain('month')`, changes its values.
    let Some(arguments) = arguments.strip_suffix(')').filter(|inner| !inner.contains(')')) else {
        return Err(refused);
    };
    let mut arguments = arguments.split(',').map(|one| one.trim().trim_matches(['\'', '"']));
    let path = arguments.next().unwrap_or_default();
    match (function.trim(), arguments.next(), arguments.next()) {
        ("Dimension" | "TimeDimension", None, None) => {}
        _ => return Err(refused),
    }
    let mut parts: Vec<&str> = path.split("__").collect();
    let name = parts.pop().unwrap_or_default();
    let Some(entity) = parts.pop() else { return Err(refused) };
    let table = known
        .entities
        .get(entity)
        .ok_or_else(|| format!("{refused}: there is no primary entity `{entity}`"))?;
    let expression = known
        .dimensions
        .get(&(table.clone(), name.to_owned()))
        .ok_or_else(|| format!("{refused}: `{table}` has no dimension `{name}`"))?;
    match is_plain_column(expression) {
        true => Ok(sql_column(table, expression)),
        false => {
            admit(expression, Scope::Table(table))?;
            let mut tree = parse(expression)?;
            // The visitor never breaks off.
            let _ = tree.visit(&mut Qualifying(table));
            Ok(format!("({tree})"))
        }
    }
}

/// Writes columns with their table.
struct Qualifying<'a>(&'a str);

impl VisitorMut for Qualifying<'_> {
    type Break = ();

    fn post_visit_expr(&mut self, expr: &mut Expr) -> std::ops::ControlFlow<()> {
        if let Expr::Identifier(name) = expr {
            let table = match sql_name(self.0).starts_with('"') {
                true => Ident::with_quote('"', self.0),
                false => Ident::new(self.0),
            };
            *expr = Expr::CompoundIdentifier(vec![table, name.clone()]);
        }
        std::ops::ControlFlow::Continue(())
    }
}
