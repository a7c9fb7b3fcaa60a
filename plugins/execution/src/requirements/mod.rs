//! Checks a planner's requirements against the facts of the statement and the columns of its
//! result.
//!
//! Names are compared by the stems of their words with the tables, columns, functions and aliases
//! of the statement, and values with its literals: no part of the text counts because it occurs
//! somewhere in it.

mod comparisons;
mod filter;
mod moment;
mod seen;
mod symbols;

use syrch_plugin::prelude::*;
use syrch_plugin::requirements::{Requirements, range_words};
use syrch_plugin::text::line;

use seen::Seen;

/// The most characters of a name in a lack.
const NAMED: usize = 120;

/// Something required that a statement lacks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Lack {
    /// The name of the requirement, such as a filter with its condition.
    pub(crate) what: String,
    /// The weight of its absence.
    pub(crate) weight: Weight,
}

/// The weight of a lack; a greater one is worse.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Weight {
    /// The score is lower.
    Slight,
    /// The statement is in doubt.
    Doubtful,
    /// The statement is wrong.
    Grave,
}

/// Finds the requirements of the task that the statement does not meet; none if the statement
/// cannot be read.
pub(crate) fn find_lacks(
    host: &impl Inspect,
    catalog: &Catalog,
    required: &Requirements,
    rival: &Rival,
) -> Vec<Lack> {
    match host.check(&rival.candidate.sql) {
        Ok(facts) => lacks(required, &Seen::new(catalog, &facts, &rival.results.profile())),
        Err(_) => Vec::new(),
    }
}

/// Missing metrics, aggregations, filters and times are grave. Dimensions, grain and tables, which
/// a planner states less surely, are not, but without a dimension that is a column the statement is
/// in doubt. A metric that is no column is computed, and its aggregation is enough. A statement
/// that reads the result of an earlier task may have all of it from there, so that all is slight.
fn lacks(required: &Requirements, seen: &Seen) -> Vec<Lack> {
    use Weight::{Doubtful, Grave, Slight};
    let mut lacks: Vec<Lack> = Vec::new();
    let mut require = |is_met: bool, weight: Weight, kind: &str, name: &str| {
        let lack = Lack {
            what: format!("the {kind} `{}`", line(name, NAMED)),
            weight: if seen.reads_tasks { Weight::Slight } else { weight },
        };
        if !is_met && !lacks.contains(&lack) {
            lacks.push(lack);
        }
    };
    let aggregations = required
        .metrics
        .iter()
        .filter_map(|metric| Some((metric.aggregation.as_ref()?, Some(metric.name.as_str()))));
    // The aggregation of the whole is that of the metric, if there is one.
    let only = match required.metrics.as_slice() {
        [metric] => Some(metric.name.as_str()),
        _ => None,
    };
    let of_all = required.aggregation.iter().map(|aggregation| (aggregation, only));
    for metric in &required.metrics {
        let is_computed = metric.aggregation.as_ref().is_some_and(|aggregation| {
            !seen.is_column(&metric.name) && seen.calls(aggregation, &metric.name)
        });
        require(seen.names(&metric.name) || is_computed, Grave, "metric", &metric.name);
    }
    for (aggregation, metric) in aggregations.chain(of_all) {
        require(seen.aggregates(aggregation, metric), Grave, "aggregation", aggregation);
    }
    for condition in &required.filters {
        require(filter::is_met(condition, seen) != Some(false), Grave, "filter", condition);
    }
    if let Some(range) = &required.time_range {
        require(moment::is_met(range, seen), Grave, "time range", &range_words(range));
    }
    for dimension in &required.dimensions {
        let weight = if seen.is_column(dimension) { Doubtful } else { Slight };
        require(seen.names(dimension), weight, "dimension", dimension);
    }
    if let Some(grain) = &required.grain {
        require(seen.has_grain(grain), Slight, "grain", grain);
    }
    for table in &required.tables {
        require(seen.reads(table), Slight, "table", table);
    }
    lacks
}

#[cfg(test)]
mod tests {
    use serde_json::{Value as JsonValue, json};
    use syrch_plugin::fakes::{FakeRows, facts};
    use syrch_plugin::serde_json;

    use super::*;

    fn catalog() -> Catalog {
        let column = |name: &str, sql_type: &str| Column {
            name: name.into(),
            sql_type: sql_type.into(),
            ..Column::default()
        };
        let table = |name: &str, columns: Vec<Column>| Table {
            name: name.into(),
            columns,
            ..Table::default()
        };
        let orders = vec![
            column("id", ""),
            column("year", "INTEGER"),
            column("ordered", "DATE"),
            column("totalPrice", "REAL"),
            column("salary", "INTEGER"),
        ];
        let tables =
            vec![table("orders", orders), table("customers", vec![column("country", "TEXT")])];
        Catalog { database: "shop".into(), dialect: Dialect::Sqlite, tables, ..Catalog::default() }
    }

    /// A statement over orders with these columns, functions, literals and results.
    fn lacking(
        required: JsonValue,
        columns: &[&str],
        functions: &[&str],
        literals: &[&str],
        shown: &[&str],
    ) -> Vec<String> {
        lacking_in("SELECT ?", required, columns, functions, literals, shown)
    }

    fn lacking_in(
        skeleton: &str,
        required: JsonValue,
        columns: &[&str],
        functions: &[&str],
        literals: &[&str],
        shown: &[&str],
    ) -> Vec<String> {
        fn own(names: &[&str]) -> Vec<String> {
            names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>()
        }
        let mut facts = facts(skeleton, &["orders"]);
        (facts.columns, facts.functions) = (own(columns), own(functions));
        facts.literals = literals
            .iter()
            .map(|text: &&str| Literal { table: None, column: None, text: (*text).to_owned() })
            .collect();
        let profile = FakeRows::new(shown, Vec::new()).handle().profile();
        let found = lacks(&Requirements::read(&required), &Seen::new(&catalog(), &facts, &profile));
        fn grave(lack: &Lack) -> &str {
            match lack.weight {
                Weight::Grave => "!",
                Weight::Doubtful => "?",
                Weight::Slight => "",
            }
        }
        found.iter().map(|lack| format!("{}{}", lack.what, grave(lack))).collect()
    }

    #[test]
    fn a_metric_is_a_name_of_the_statement() {
        fn require() -> syrch_plugin::serde_json::Value {
            json!({ "metrics": [{ "name": "total revenue", "aggregation": "sum" }] })
        }
        assert!(lacking(require(), &["orders.totalPrice"], &["sum"], &[], &["Revenue"]).is_empty());
        assert!(
            lacking_in("SELECT SUM(p) AS revenues FROM o", require(), &[], &["sum"], &[], &["n"])
                .is_empty()
        );
        let column = json!({ "metrics": [{ "name": "total price", "aggregation": "sum" }] });
        assert_eq!(
            lacking(column, &["orders.id"], &["sum"], &[], &["n"]),
            ["the metric `total price`!"]
        );
        // What is no column is computed.
        assert!(lacking(require(), &["orders.id"], &["sum"], &[], &["n"]).is_empty());
        assert_eq!(
            lacking(require(), &["orders.id"], &["avg"], &[], &["n"]),
            ["the metric `total revenue`!", "the aggregation `sum`!"]
        );
        assert_eq!(
            lacking(require(), &["orders.totalPrice"], &["avg"], &[], &["revenue"]),
            Vec::<String>::new(),
            "what was added up before needs no function"
        );
        // `revenue` within a longer word is no name.
        let plain = json!({ "metrics": ["revenue"] });
        assert_eq!(lacking(plain, &["orders.revenuesharing"], &["sum"], &[], &["n"]).len(), 1);
        let number = json!({ "metrics": [{ "name": "number of orders", "aggregation": "count" }] });
        assert!(lacking(number.clone(), &[], &["count"], &[], &["n"]).is_empty());
        assert_eq!(
            lacking(number, &["orders.id"], &[], &[], &["id"]),
            ["the aggregation `count`!"]
        );
    }

    #[test]
    fn a_filter_is_met_by_its_values() {
        fn filter(condition: &str) -> syrch_plugin::serde_json::Value {
            json!({ "filters": [condition] })
        }
        assert!(
            lacking(filter("year = 2014"), &["orders.year"], &[], &["2014"], &["n"]).is_empty()
        );
        assert!(
            lacking(
                filter("year = 2014"),
                &["orders.ordered"],
                &["strftime"],
                &["%Y", "2014"],
                &["n"]
            )
            .is_empty()
        );
        assert_eq!(
            lacking(filter("year = 2014"), &["orders.year"], &[], &[], &["n"]),
            ["the filter `year = 2014`!"]
        );
        assert_eq!(
            lacking(filter("year = 2014"), &["orders.year"], &[], &["20145"], &["n"]).len(),
            1
        );
        assert!(
            lacking(filter("ordered is not null"), &["orders.ordered"], &[], &[], &["n"])
                .is_empty()
        );
        assert_eq!(lacking(filter("shipped is null"), &["orders.id"], &[], &[], &["n"]).len(), 1);
        assert!(
            lacking(filter("status = active"), &["orders.is_active"], &[], &["1"], &["n"])
                .is_empty()
        );
        assert_eq!(lacking(filter("is_active = 1"), &["orders.id"], &[], &["1"], &["n"]).len(), 1);
        // Free words cannot be compared.
        assert!(lacking(filter("only the good ones"), &["orders.id"], &[], &[], &["n"]).is_empty());
    }

    #[test]
    fn a_time_range_is_met_by_its_years() {
        fn range() -> syrch_plugin::serde_json::Value {
            json!({ "time_range": ["2014-01-01", "2014-12-31"] })
        }
        for literal in ["2014", "2014-03", "2014-%", "2015-01-01", "20140301"] {
            assert!(
                lacking(range(), &["orders.ordered"], &[], &[literal], &["n"]).is_empty(),
                "{literal}"
            );
        }
        assert_eq!(
            lacking(range(), &["orders.ordered"], &[], &["1999-01-01"], &["n"]),
            ["the time range `2014-01-01 to 2014-12-31`!"]
        );
        fn vague() -> syrch_plugin::serde_json::Value {
            json!({ "time_range": ["last month", null] })
        }
        assert!(lacking(vague(), &["orders.ordered"], &[], &[], &["n"]).is_empty());
        assert_eq!(
            lacking(vague(), &["orders.id"], &[], &[], &["n"]),
            ["the time range `from last month`!"]
        );
    }

    #[test]
    fn an_aggregation_is_that_of_the_metric() {
        fn lacks(metric: &str, aggregation: &str, call: &str, functions: &[&str]) -> Vec<String> {
            let required = json!({ "metrics": [{ "name": metric, "aggregation": aggregation }] });
            let sql = format!("SELECT {call} FROM orders");
            lacking_in(&sql, required, &["orders.salary"], functions, &[], &["n"])
        }
        for (aggregation, call, functions) in [
            ("avg", "SUM(salary)", &["sum"][..]),
            ("avg", "MAX(salary) AS avg_salary", &["max"]),
            ("avg", "salary", &[]),
            ("max", "MIN(salary)", &["min"]),
            ("min", "AVG(salary)", &["avg"]),
            ("count", "SUM(orders.salary)", &["sum"]),
            ("sum", "COUNT(salary)", &["count"]),
            ("sum", "AVG(salary)", &["avg"]),
        ] {
            let lack = format!("the aggregation `{aggregation}`!");
            assert_eq!(lacks("salary", aggregation, call, functions), [lack], "{call}");
        }
        for (metric, aggregation, call, functions) in [
            ("salary", "avg", "AVG(salary)", &["avg"][..]),
            ("salary", "avg", "SUM(salary) * 1.0 / COUNT(*)", &["sum", "count"]),
            ("salary", "sum", "SUM(salary)", &["sum"]),
            ("salary", "max", "MAX(salary)", &["max"]),
            ("salary", "min", "RANK() OVER (ORDER BY salary)", &["rank"]),
            ("salary", "count", "SUM(CASE WHEN salary > 1 THEN 1 ELSE 0 END)", &["sum"]),
            ("orders", "count", "SUM(n)", &["sum"]),
            ("orders", "sum", "COUNT(*)", &["count"]),
        ] {
            let found = lacks(metric, aggregation, call, functions);
            assert_eq!(found, Vec::<String>::new(), "{call}");
        }
    }

    /// The requirements that a statement with that condition lacks; its literals are those in
    /// quotes.
    fn lacking_where(required: JsonValue, condition: &str) -> Vec<String> {
        let sql = format!("SELECT COUNT(*) FROM orders WHERE {condition}");
        let literals: Vec<&str> = condition.split('\'').skip(1).step_by(2).collect();
        let columns = ["orders.ordered", "orders.salary"];
        lacking_in(&sql, required, &columns, &["count"], &literals, &["n"])
    }

    #[test]
    fn bounds_of_time_lie_in_the_range() {
        fn range() -> syrch_plugin::serde_json::Value {
            json!({ "time_range": ["2014-01-01", "2014-12-31"] })
        }
        for condition in [
            "ordered >= '2013-01-01' AND ordered < '2014-01-01'",
            "ordered > '2014-12-31' AND ordered < '2016-01-01'",
            "ordered < '2015-01-01'",
            "NOT ordered LIKE '2014%'",
            "strftime('%Y', ordered) <> '2014'",
        ] {
            assert_eq!(lacking_where(range(), condition).len(), 1, "{condition}");
        }
        for condition in [
            "ordered >= '2014-01-01' AND ordered < '2015-01-01'",
            "ordered BETWEEN '2014-01-01' AND '2014-12-31'",
            "ordered > '2013-12-31' AND ordered <= '2014-12-31 23:59:59'",
            "strftime('%Y', ordered) = '2014'",
            "ordered LIKE '2014%'",
            "NOT (ordered < '2014-01-01' OR ordered >= '2015-01-01')",
            "ordered >= '2014-01-01' AND ordered < date('2014-01-01', '+1 year')",
            "ordered >= date('now', '-1 year')",
            "begins <= '2014-12-31' AND ends >= '2014-01-01'",
        ] {
            assert_eq!(lacking_where(range(), condition), Vec::<String>::new(), "{condition}");
        }
        fn since() -> syrch_plugin::serde_json::Value {
            json!({ "time_range": ["2014-01-01", null] })
        }
        assert!(lacking_where(since(), "ordered >= '2014-01-01'").is_empty());
        assert_eq!(lacking_where(since(), "ordered < '2014-01-01'").len(), 1);
        fn month() -> syrch_plugin::serde_json::Value {
            json!({ "time_range": ["2014-02-01", "2014-02-28"] })
        }
        assert!(
            lacking_where(month(), "ordered >= '2014-02-01' AND ordered < '2014-03-01'").is_empty()
        );
        assert_eq!(lacking_where(month(), "ordered LIKE '2014-05%'").len(), 1);
    }

    #[test]
    fn a_filter_is_met_by_its_operator() {
        fn lacks(filter: &str, condition: &str) -> bool {
            !lacking_where(json!({ "filters": [filter] }), condition).is_empty()
        }
        for (filter, condition) in [
            ("salary > '50'", "salary < '50'"),
            ("salary > '50'", "salary >= '50'"),
            ("salary > '50'", "NOT salary > '50'"),
            ("salary <> '50'", "salary IN ('50', '60')"),
            ("ordered IS NULL", "ordered IS NOT NULL"),
            ("ordered is not null", "NOT (ordered IS NOT NULL)"),
            ("country <> 'France'", "country = 'France'"),
            ("country = 'France'", "NOT country = 'France'"),
            ("country = 'France'", "country NOT IN ('France')"),
            ("country is not France", "country = 'France'"),
            ("salary at least 50", "salary < 50"),
            ("salary is less than 50", "salary > 50"),
            ("ordered >= '2020-01-01'", "ordered < '2020-01-01'"),
        ] {
            assert!(lacks(filter, condition), "{filter} by {condition}");
        }
        for (filter, condition) in [
            ("salary > '50'", "NOT (salary <= '50')"),
            ("salary > '50'", "'50' < salary"),
            ("salary > '50'", "salary >= '51'"),
            ("salary >= '50' and salary <= '60'", "salary BETWEEN '50' AND '60'"),
            ("ordered IS NULL", "NOT ordered IS NOT NULL"),
            (
                "country <> 'France'",
                "id NOT IN (SELECT id FROM customers WHERE country = 'France')",
            ),
            (
                "country <> 'France'",
                "NOT EXISTS (SELECT 1 FROM customers WHERE country = 'France')",
            ),
            ("country = 'France'", "country LIKE '%France%'"),
            ("country = 'France'", "LOWER(country) = 'france'"),
            ("ordered >= '2014-01-01'", "strftime('%Y', ordered) = '2014'"),
            ("country is not France", "country <> 'France'"),
            ("ordered >= '2020-01-01'", "ordered > '2019-12-31'"),
            ("ordered < '2020-03-01'", "ordered <= '2020-02-29'"),
            ("ordered > '2019-12-31'", "ordered >= '2020-01-01'"),
            ("ordered after 2019-12-31", "ordered >= '2020-01-01'"),
        ] {
            assert!(!lacks(filter, condition), "{filter} by {condition}");
        }
    }

    #[test]
    fn dimensions_grain_and_tables_are_not_grave() {
        let required =
            json!({ "dimensions": ["country"], "grain": "month", "tables": ["main.customers"] });
        assert_eq!(
            lacking(required.clone(), &["orders.id"], &[], &[], &["n"]),
            ["the dimension `country`?", "the grain `month`", "the table `main.customers`"]
        );
        assert_eq!(
            lacking(required, &["orders.ordered", "customers.country"], &[], &[], &["n"]),
            ["the table `main.customers`"]
        );
    }

    #[test]
    fn what_an_earlier_task_may_have_done_is_not_grave() {
        let mut facts = facts("SELECT ?", &[]);
        facts.tasks = vec!["task_A".into()];
        let required =
            Requirements::read(&json!({ "filters": ["year = 2014"], "metrics": ["revenue"] }));
        let found = lacks(&required, &Seen::new(&catalog(), &facts, &Profile::default()));
        assert!(
            found.len() == 2 && found.iter().all(|lack| lack.weight == Weight::Slight),
            "{found:?}"
        );
    }
}
