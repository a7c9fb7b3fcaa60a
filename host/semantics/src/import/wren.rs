//! The manifest of WrenAI, `mdl.json` (<https://docs.getwren.ai/oss/reference/mdl>,
//! <https://docs.getwren.ai/oss/guides/modeling/cube>, and the schema at
//! <https://github.com/Canner/wren-engine/blob/main/mcp-server/mdl.schema.json>).

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};
use sqlparser::ast::{BinaryOperator, Expr, VisitMut, VisitorMut};

use super::{Dimension, Draft, Join, Metric, Table, entries, synonym, text};
use crate::check::types::Type;
use crate::read::{Scope, admit_measure, is_plain_column, parse};
use crate::write::{clean, scalar};

/// The models that have a table.
#[derive(Default)]
struct Known {
    /// Their names in the file.
    tables: BTreeMap<String, String>,
    /// The columns of tables by the other names that models give them, by model and name.
    columns: BTreeMap<(String, String), String>,
}

impl Known {
    /// The column of a table that a model's column is.
    fn column(&self, model: &str, name: &str) -> String {
        let key = (model.to_owned(), name.to_owned());
        self.columns.get(&key).cloned().unwrap_or_else(|| name.to_owned())
    }
}

/// Translates a manifest.
pub(super) fn translate(document: &Map<String, Value>) -> Draft {
    let mut draft = Draft { origin: "a manifest of WrenAI", ..Draft::default() };
    let mut known = Known::default();
    for model in entries(document, "models") {
        read_model(model, &mut draft, &mut known);
    }
    for relationship in entries(document, "relationships") {
        let name = text(relationship, "name").unwrap_or("?");
        match read_relationship(relationship, &known) {
            Ok(join) => draft.joins.push(join),
            Err(reason) => draft.leave_out(&format!("relationship `{name}`"), reason),
        }
    }
    let mut metrics = BTreeSet::new();
    for metric in entries(document, "metrics") {
        read_aggregates(metric, "measure", &known, &mut metrics, &mut draft);
    }
    for cube in entries(document, "cubes") {
        read_aggregates(cube, "measures", &known, &mut metrics, &mut draft);
    }
    for (key, what) in [
        ("views", "a view is a statement, not a table with a meaning; it can be a `source`"),
        ("enumDefinitions", "values stand as `labels` at their dimension"),
    ] {
        for entry in entries(document, key) {
            let name = text(entry, "name").unwrap_or("?");
            draft.leave_out(&format!("`{name}` of `{key}`"), what);
        }
    }
    draft
}

/// A text among the properties.
fn property<'a>(of: &'a Map<String, Value>, key: &str) -> Option<&'a str> {
    text(of.get("properties")?.as_object()?, key)
}

fn read_model(model: &Map<String, Value>, draft: &mut Draft, known: &mut Known) {
    let Some(given) = text(model, "name") else { return };
    let what = format!("model `{given}`");
    let Some(reference) = model.get("tableReference").and_then(Value::as_object) else {
        return draft.leave_out(&what, "it is a statement or stands on another model, no table");
    };
    let Some(name) = text(reference, "table") else {
        return draft.leave_out(&what, "its table has no name");
    };
    let source = match text(reference, "schema") {
        Some(schema) => format!("{schema}.{name}"),
        None => name.to_owned(),
    };
    for key in ["rowLevelAccessControls", "columnLevelAccessControl"] {
        if model.get(key).and_then(Value::as_array).is_some_and(|rules| !rules.is_empty()) {
            draft.leave_out(&what, format!("`{key}` does not hold here: grant tables instead"));
        }
    }
    for column in entries(model, "columns") {
        if let (Some(name), Some(expression)) = (text(column, "name"), text(column, "expression"))
            && is_plain_column(expression)
        {
            known.columns.insert((given.to_owned(), name.to_owned()), expression.to_owned());
        }
    }
    let key = text(model, "primaryKey");
    let mut table = Table {
        name: clean(given),
        source: Some(source),
        key: key.map(|key| known.column(given, key)).into_iter().collect(),
        time: None,
        description: property(model, "description").map(str::to_owned),
        dimensions: Vec::new(),
    };
    known.tables.insert(given.to_owned(), table.name.clone());
    for column in entries(model, "columns").filter(|column| key != text(column, "name")) {
        read_column(column, &mut table, draft);
    }
    let times: Vec<&Dimension> =
        table.dimensions.iter().filter(|dimension| dimension.is_time).collect();
    if let [time] = times.as_slice() {
        table.time = Some(time.name.clone());
    }
    draft.tables.push(table);
}

fn read_column(column: &Map<String, Value>, table: &mut Table, draft: &mut Draft) {
    let Some(given) = text(column, "name") else { return };
    let what = format!("column `{}.{given}`", table.name);
    // The other end of a relationship, which the joins state.
    if column.contains_key("relationship") || column.get("isHidden") == Some(&Value::Bool(true)) {
        return;
    }
    let name = clean(given);
    let expression = text(column, "expression").filter(|expression| *expression != name);
    if column.get("isCalculated") == Some(&Value::Bool(true))
        && expression.is_some_and(|expression| admit_measure(expression, Scope::Table("")).is_ok())
    {
        return draft.leave_out(&what, "it aggregates another model; define a metric for it");
    }
    let dimension = Dimension {
        expression: expression.map(str::to_owned),
        is_time: Type::from_declared(text(column, "type").unwrap_or_default()) == Type::Time,
        synonym: synonym(&name, property(column, "displayName")),
        description: property(column, "description").map(str::to_owned),
        name,
    };
    draft.dimension(table, dimension);
}

fn read_relationship(relationship: &Map<String, Value>, known: &Known) -> Result<Join, String> {
    let models = relationship.get("models").and_then(Value::as_array);
    let models: Vec<&str> = models.into_iter().flatten().filter_map(Value::as_str).collect();
    let [first, second] = models.as_slice() else { return Err("it has no two models".into()) };
    let kind = text(relationship, "joinType").unwrap_or_default().to_ascii_uppercase();
    let (from, to) = match kind.as_str() {
        "MANY_TO_ONE" | "ONE_TO_ONE" => (*first, *second),
        "ONE_TO_MANY" => (*second, *first),
        _ => return Err(format!("joins of the type `{kind}` repeat rows on both sides")),
    };
    let [own_table, other_table] = [from, to].map(|model| {
        known.tables.get(model).ok_or_else(|| format!("the model `{model}` is left out"))
    });
    let own_table = own_table?;
    let other_table = other_table?;
    let mut join = Join { from: Vec::new(), to: Vec::new(), is_one_to_one: kind == "ONE_TO_ONE" };
    let condition = text(relationship, "condition").unwrap_or_default();
    let mut open = vec![parse(condition)?];
    while let Some(part) = open.pop() {
        match part {
            Expr::Nested(inner) => open.push(*inner),
            Expr::BinaryOp { left, op: BinaryOperator::And, right } => {
                open.push(*right);
                open.push(*left);
            }
            Expr::BinaryOp { left, op: BinaryOperator::Eq, right } => {
                let mut ends = [column(&left)?, column(&right)?];
                if ends[0].0 != from {
                    ends.swap(0, 1);
                }
                let [(one, own), (other, key)] = ends;
                if one != from || other != to {
                    return Err(format!("`{condition}` compares other tables than its models"));
                }
                join.from.push(format!("{own_table}.{}", known.column(from, &own)));
                join.to.push(format!("{other_table}.{}", known.column(to, &key)));
            }
            _ => return Err(format!("`{condition}` is no equality of columns")),
        }
    }
    Ok(join)
}

/// The model and the column of a name.
fn column(tree: &Expr) -> Result<(String, String), String> {
    match tree {
        Expr::CompoundIdentifier(names) if names.len() == 2 => {
            Ok((names[0].value.clone(), names[1].value.clone()))
        }
        other => Err(format!("`{other}` is no column of a model")),
    }
}

/// The measures of a metric or of a cube.
fn read_aggregates(
    of: &Map<String, Value>,
    key: &str,
    known: &Known,
    metrics: &mut BTreeSet<String>,
    draft: &mut Draft,
) {
    let name = text(of, "name").unwrap_or("?");
    let base = text(of, "baseObject").unwrap_or_default();
    let Some(table) = known.tables.get(base) else {
        return draft.leave_out(&format!("`{name}`"), "its base object is no model with a table");
    };
    let own: BTreeSet<String> =
        entries(of, key).filter_map(|measure| text(measure, "name")).map(clean).collect();
    for measure in entries(of, key) {
        let Some(given) = text(measure, "name") else { continue };
        let what = format!("measure `{name}.{given}`");
        let metric = clean(given);
        if !metrics.insert(metric.to_lowercase()) {
            draft.leave_out(&what, "another metric has this name");
            continue;
        }
        let expression = text(measure, "expression").unwrap_or_default();
        let keys = match is_made_of(expression, &own) {
            true => Some(vec![("derived", scalar(expression))]),
            false => draft.measure(&what, table, &write_columns(expression, base, known)),
        };
        if let Some(keys) = keys {
            let mut metric = Metric { name: metric, keys };
            metric.describe(property(measure, "displayName"), property(measure, "description"));
            draft.metrics.push(metric);
        }
    }
    for dimension in entries(of, "dimension").chain(entries(of, "dimensions")) {
        let Some(given) = text(dimension, "name") else { continue };
        let is_known = draft.tables.iter().filter(|one| one.name == *table).any(|table| {
            table.dimensions.iter().any(|known| known.name.eq_ignore_ascii_case(given))
        });
        let expression = text(dimension, "expression").unwrap_or(given);
        if !is_known && !is_plain_column(expression) {
            let what = format!("dimension `{name}.{given}`");
            draft.leave_out(&what, "its expression is no column; declare it at its table");
        }
    }
    if of.get("hierarchies").is_some_and(|value| !value.is_null()) {
        draft.leave_out(&format!("hierarchies of `{name}`"), "they have no counterpart");
    }
}

/// An expression over the columns of a model, with those of its table.
fn write_columns(expression: &str, model: &str, known: &Known) -> String {
    let Ok(mut tree) = parse(expression) else { return expression.to_owned() };
    let mut renaming = Renaming { model, known, is_any: false };
    // The visitor never breaks off.
    let _ = tree.visit(&mut renaming);
    if renaming.is_any { tree.to_string() } else { expression.to_owned() }
}

/// Writes columns of a table in place of those of its model.
struct Renaming<'a> {
    model: &'a str,
    known: &'a Known,
    is_any: bool,
}

impl VisitorMut for Renaming<'_> {
    type Break = ();

    fn post_visit_expr(&mut self, expr: &mut Expr) -> std::ops::ControlFlow<()> {
        if let Expr::Identifier(name) = expr {
            let column = self.known.column(self.model, &name.value);
            self.is_any |= column != name.value;
            name.value = column;
        }
        std::ops::ControlFlow::Continue(())
    }
}

/// Returns true if an expression computes with measures of its cube.
fn is_made_of(expression: &str, measures: &BTreeSet<String>) -> bool {
    let Ok(tree) = parse(expression) else { return false };
    let mut open = vec![&tree];
    let mut found = false;
    while let Some(part) = open.pop() {
        match part {
            Expr::Identifier(name) if measures.contains(&name.value) => found = true,
            Expr::Value(_) => {}
            Expr::Nested(inner) => open.push(inner),
            Expr::BinaryOp { left, right, .. } => open.extend([left.as_ref(), right.as_ref()]),
            _ => return false,
        }
    }
    found
}
