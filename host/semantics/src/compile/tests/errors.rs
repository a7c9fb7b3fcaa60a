//! Requests without a statement, and the reasons that their errors give.

use syrch_core::Dialect;

use crate::{
    Aggregate, Cardinality, Comparison, CompileError, Filter, Grain, Join, Literal, Operator,
    Order, Request, Semantics, Table,
};

use super::kit::{
    compile_for, derive, dimension, filter, join, measure, parse, period, ratio, request, shop,
    table,
};

fn fail(semantics: &Semantics, request: &Request) -> CompileError {
    compile_for(semantics, request, &Dialect::Sqlite).unwrap_err()
}

fn list(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

#[test]
fn a_limit_within_groups_needs_groups_and_something_else() {
    let by = ["country", "category"];
    let within = list(&["country"]);
    let whole = Request { limit: Some(1), within, ..request(&["revenue"], &by) };
    assert!(compile_for(&shop(), &whole, &Dialect::Sqlite).is_ok());
    for (request, reason) in [
        (Request { limit: None, ..whole.clone() }, "ask for a limit or for the share"),
        (Request { within: list(&by), ..whole.clone() }, "group by something else as well"),
        (Request { within: list(&["status"]), ..whole.clone() }, "group by that dimension"),
        (Request { within: list(&["time"]), ..whole.clone() }, "name the grain"),
        (Request { within: list(&["nothing"]), ..whole.clone() }, "there is no dimension"),
        (Request { limit: Some(0), ..whole.clone() }, "the limit is 0 rows"),
    ] {
        let error = fail(&shop(), &request).to_string();
        assert!(error.contains(reason), "{error}");
    }
}

#[test]
fn unknown_names_suggest_the_nearest() {
    let error = fail(&shop(), &request(&["revenu"], &[]));
    assert_eq!(
        error.to_string(),
        "there is no metric `revenu`: is `revenue` or `net revenue` meant?"
    );
    let error = fail(&shop(), &request(&["revenue"], &["contry"]));
    assert_eq!(
        error.to_string(),
        "there is no dimension `contry`: is `country` or `category` meant?"
    );
    let error = fail(&shop(), &request(&["revenue"], &["xyz"]));
    assert_eq!(error.to_string(), "there is no dimension `xyz`");
    let order = Some(Order { by: "cost".to_owned(), descending: false });
    let error = fail(&shop(), &Request { order, ..request(&["revenue"], &["country"]) });
    assert_eq!(
        error.to_string(),
        "`cost` is no column of the result: order by `country` or `revenue`"
    );
    assert_eq!(fail(&shop(), &request(&[], &[])), CompileError::NoMetric);
    let error = fail(&shop(), &request(&["revenue", "REVENUE"], &[]));
    assert_eq!(error, CompileError::Twice { name: "REVENUE".to_owned() });
}

#[test]
fn a_dimension_on_the_side_of_many_is_refused() {
    let error = fail(&shop(), &request(&["orders"], &["category"])).to_string();
    assert_eq!(
        error,
        "`orders` is computed over the rows of `orders`, and no many-to-one join leads from \
         there to \
         `categories`, where the dimension `category` is: a join from `orders` or `customers` to \
         `categories` would help"
    );
    let mut semantics = shop();
    semantics.dimensions.push(dimension("order_items", "quantity", false));
    let error = fail(&semantics, &request(&["orders"], &["quantity"])).to_string();
    assert!(
        error.ends_with(
            "several rows of `order_items` belong to one of `orders`, which would be counted for \
             each \
             of them; define a metric over the rows of `order_items`"
        ),
        "{error}"
    );
    let filters = vec![filter("category", Operator::In, &["Toys"])];
    let error = fail(&shop(), &Request { filters, ..request(&["revenue", "orders"], &[]) });
    assert!(error.to_string().contains("the dimension `category` of a condition"), "{error}");
}

#[test]
fn two_paths_are_refused_and_named() {
    let mut semantics = shop();
    semantics.joins.push(join(("orders", "payer_id"), ("customers", "customer_id")));
    let error = fail(&semantics, &request(&["revenue"], &["country"])).to_string();
    assert!(
        error.contains("`order_items.order_id -> orders; orders.customer_id -> customers`")
            && error.contains("orders.payer_id -> customers"),
        "{error}"
    );
    // The table twice, each with one of the joins.
    semantics.tables.push(Table { source: "customers".to_owned(), ..table("payers") });
    semantics.joins.pop();
    semantics.joins.push(join(("orders", "payer_id"), ("payers", "customer_id")));
    semantics.dimensions.push(dimension("payers", "country", false));
    let error = fail(&semantics, &request(&["revenue"], &["country"])).to_string();
    assert_eq!(
        error,
        "`country` is a dimension of several tables: write `customers.country` or `payers.country`"
    );
    let request = request(&["revenue"], &["payers.country", "customers.country"]);
    let compiled = compile_for(&semantics, &request, &Dialect::Sqlite).unwrap();
    let names: Vec<&str> = compiled.columns.iter().map(|column| column.name.as_str()).collect();
    assert_eq!(names, ["country", "customers.country", "revenue"]);
}

#[test]
fn a_one_to_one_join_is_followed_in_both_directions() {
    let mut semantics = shop();
    semantics.tables.push(table("details"));
    semantics.joins.push(Join {
        cardinality: Cardinality::OneToOne,
        ..join(("details", "customer_id"), ("customers", "customer_id"))
    });
    semantics.dimensions.push(dimension("details", "language", false));
    let sql = compile_for(&semantics, &request(&["orders"], &["language"]), &Dialect::Sqlite);
    let sql = sql.unwrap().sql;
    assert!(
        sql.contains("LEFT JOIN details AS details ON customers.customer_id = details.customer_id")
    );
}

#[test]
fn a_metric_without_dates_is_refused_where_time_matters() {
    let mut semantics = shop();
    semantics.metrics.push(measure("products", Aggregate::Count, "*", "products", None));
    let by_month = Request { grain: Some(Grain::Month), ..request(&["products"], &[]) };
    assert_eq!(
        fail(&semantics, &by_month).to_string(),
        "nothing says which dates count for `products`: give the metric or its table `products` \
         a `time`"
    );
    semantics.tables[0].time = None;
    semantics.dimensions.push(dimension("orders", "shipped", true));
    let by_month = Request { grain: Some(Grain::Month), ..request(&["orders"], &[]) };
    let error = fail(&semantics, &by_month).to_string();
    assert!(error.contains("which may be `orders.order_date` or `orders.shipped`"), "{error}");
}

fn compare(comparison: Comparison, grain: Option<Grain>, metric: &str) -> Request {
    Request { comparison: Some(comparison), grain, ..request(&[metric], &[]) }
}

#[test]
fn comparisons_need_what_they_compare() {
    for (request, message) in [
        (compare(Comparison::Growth, None, "revenue"), "`growth` needs a grain, such as `month`"),
        (
            compare(Comparison::ShareOfTotal, None, "revenue"),
            "`share_of_total` needs a dimension or a grain",
        ),
        (
            compare(Comparison::RunningTotal, Some(Grain::Month), "mean price"),
            "`running_total` adds the values of `mean price`, which is no sum: it is a mean; \
             compare a sum or a count",
        ),
        (
            compare(Comparison::RunningTotal, Some(Grain::Month), "buyers"),
            "`running_total` adds the values of `buyers`, which is no sum: it is a number of \
             different \
             values; compare a sum or a count",
        ),
        (
            compare(Comparison::ShareOfTotal, Some(Grain::Month), "margin"),
            "`share_of_total` adds the values of `margin`, which is no sum: it is no sum or \
             difference \
             of others; compare a sum or a count",
        ),
        (
            Request {
                period: period("2024-01-15", "2024-06-01"),
                ..compare(Comparison::Growth, Some(Grain::Month), "revenue")
            },
            "`growth` compares whole periods, and 2024-01-15 is within one: begin the period on \
             2024-01-01",
        ),
    ] {
        assert_eq!(fail(&shop(), &request).to_string(), message);
    }
    let profit = compare(Comparison::RunningTotal, Some(Grain::Month), "profit");
    assert!(compile_for(&shop(), &profit, &Dialect::Sqlite).is_ok());
}

#[test]
fn circles_and_explosions_of_metrics_end() {
    let mut semantics = shop();
    semantics.metrics.push(derive("a", "b + 1"));
    semantics.metrics.push(ratio("b", "a", "revenue"));
    assert_eq!(
        fail(&semantics, &request(&["a"], &[])),
        CompileError::Cycle { name: "a".to_owned() }
    );
    let mut semantics = shop();
    semantics.metrics.push(derive("x0", "revenue + revenue"));
    for number in 1..40 {
        let text = format!("x{} * x{}", number - 1, number - 1);
        semantics.metrics.push(derive(&format!("x{number}"), &text));
    }
    let share =
        Request { comparison: Some(Comparison::ShareOfTotal), ..request(&["x39"], &["country"]) };
    assert_eq!(fail(&semantics, &share), CompileError::TooLong { most: 64 << 10 });
    semantics.metrics.push(derive("missing", "revenue - nothing"));
    assert_eq!(
        fail(&semantics, &request(&["missing"], &[])).to_string(),
        "`nothing`, to which `missing` refers, is not defined"
    );
}

#[test]
fn a_request_is_bounded() {
    let values = vec![Literal::Number("1".to_owned()); 2_001];
    let filters = vec![Filter { dimension: "country".to_owned(), operator: Operator::In, values }];
    let error = fail(&shop(), &Request { filters, ..request(&["revenue"], &[]) });
    assert_eq!(
        error.to_string(),
        "the request has 2001 values in conditions, and at most 2000 are allowed"
    );
    let names: Vec<String> = (0..65).map(|number| number.to_string()).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    assert!(matches!(fail(&shop(), &request(&names, &[])), CompileError::TooMany { .. }));
}

#[test]
fn forms_that_are_not_listed_are_refused_with_their_place() {
    for text in [
        "orders.a @> orders.b",
        "(SELECT 1)",
        "sum(orders.a) OVER ()",
        "pg_catalog.f(orders.a)",
        "orders.a COLLATE nocase",
        "X'00'",
        "ARRAY[1]",
    ] {
        let mut semantics = shop();
        semantics.dimensions[1].expression = parse(text);
        let error = fail(&semantics, &request(&["orders"], &["status"])).to_string();
        assert!(error.starts_with("shop.semantics.yml:1:1: `"), "{text}: {error}");
    }
    let mut semantics = shop();
    semantics.tables[1].filter = Some(parse("orders.status = 'x'"));
    let error = fail(&semantics, &request(&["orders"], &["country"])).to_string();
    assert!(
        error.contains("a condition of the table `customers` cannot refer to `orders`"),
        "{error}"
    );
}

#[test]
fn conditions_have_values_that_fit() {
    for (filter, message) in [
        (filter("country", Operator::In, &[]), "give at least one value"),
        (filter("country", Operator::Less, &["a", "b"]), "give one value to compare with"),
        (
            Filter {
                dimension: "country".to_owned(),
                operator: Operator::Contains,
                values: vec![Literal::Bool(true)],
            },
            "only a text can be contained",
        ),
    ] {
        let error = fail(&shop(), &Request { filters: vec![filter], ..request(&["orders"], &[]) });
        assert_eq!(
            error.to_string(),
            format!("the condition on `customers.country` is wrong: {message}")
        );
    }
}

#[test]
fn conditions_that_no_row_meets_at_once_are_refused() {
    let both = vec![
        filter("country", Operator::In, &["France"]),
        filter("customers.country", Operator::In, &["Italy", "Spain"]),
    ];
    let error = fail(&shop(), &Request { filters: both, ..request(&["orders"], &[]) });
    assert_eq!(
        error.to_string(),
        "no row meets both customers.country = 'France' and customers.country is 'Italy' or \
         'Spain': leave one out, or name the values in one list"
    );
    let without = vec![
        filter("country", Operator::NotIn, &["France", "Spain"]),
        filter("country", Operator::In, &["France"]),
    ];
    let error = fail(&shop(), &Request { filters: without, ..request(&["orders"], &[]) });
    assert!(error.to_string().starts_with("no row meets both"), "{error}");
}
