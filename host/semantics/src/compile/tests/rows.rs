//! Requests over the shop, each beside the statement that a person would write.

use crate::{Comparison, Filter, Grain, Literal, Operator, Order, Request};

use super::kit::{assert_rows, compile_for, day, filter, period, request, shop};

const ITEMS: &str = "order_items i LEFT JOIN orders o ON o.order_id = i.order_id \
    LEFT JOIN customers c ON c.customer_id = o.customer_id AND c.deleted = 0 \
    LEFT JOIN products p ON p.product_id = i.product_id \
    LEFT JOIN categories g ON g.category_id = p.category_id";

#[test]
fn a_sum_without_groups_is_one_row() {
    assert_rows(&request(&["revenue"], &[]), "SELECT SUM(quantity * price) FROM order_items");
}

#[test]
fn rows_that_meet_no_row_of_a_joined_table_remain() {
    assert_rows(
        &request(&["revenue", "cost"], &["category"]),
        &format!(
            "SELECT g.category, SUM(i.quantity * i.price), SUM(i.quantity * p.cost) FROM {ITEMS} \
             GROUP BY 1 ORDER BY 1 NULLS LAST"
        ),
    );
}

#[test]
fn the_orders_of_a_deleted_customer_remain_without_a_country() {
    assert_rows(
        &request(&["orders"], &["country"]),
        "SELECT country, COUNT(*) FROM orders o LEFT JOIN customers c \
         ON c.customer_id = o.customer_id AND deleted = 0 GROUP BY 1 ORDER BY 1 NULLS LAST",
    );
}

#[test]
fn every_grain_has_its_text() {
    for (grain, label) in [
        (Grain::Year, "substr(order_date, 1, 4)"),
        (
            Grain::Quarter,
            "substr(order_date, 1, 4) || '-Q' || ((substr(order_date, 6, 2) + 2) / 3)",
        ),
        (Grain::Month, "substr(order_date, 1, 7)"),
        (Grain::Week, "date(order_date, '-6 days', 'weekday 1')"),
        (Grain::Day, "order_date"),
    ] {
        let request = Request {
            grain: Some(grain),
            period: period("2023-02-01", "2024-06-01"),
            ..request(&["orders"], &[])
        };
        assert_rows(
            &request,
            &format!(
                "SELECT {label}, COUNT(*) FROM orders WHERE order_date >= '2023-02-01' \
                 AND order_date < '2024-06-01' GROUP BY 1 ORDER BY 1"
            ),
        );
    }
}

#[test]
fn a_condition_of_a_measure_leaves_other_measures_as_they_are() {
    assert_rows(
        &request(&["cancelled orders", "orders", "cancellation rate"], &["country"]),
        "SELECT country, SUM(status = 'cancelled'), COUNT(*), \
         1.0 * SUM(status = 'cancelled') / COUNT(*) FROM orders o LEFT JOIN customers c \
         ON c.customer_id = o.customer_id AND deleted = 0 GROUP BY 1 ORDER BY 1 NULLS LAST",
    );
}

#[test]
fn a_group_is_shown_if_a_row_counts_for_a_measure() {
    assert_rows(
        &request(&["cancelled orders"], &["country"]),
        "SELECT country, COUNT(*) FROM orders o LEFT JOIN customers c \
         ON c.customer_id = o.customer_id AND deleted = 0 WHERE status = 'cancelled' \
         GROUP BY 1 ORDER BY 1 NULLS LAST",
    );
}

#[test]
fn measures_of_different_tables_are_joined_on_their_groups() {
    assert_rows(
        &request(&["net revenue", "refunds", "return rate"], &["category"]),
        &format!(
            "WITH r AS (SELECT g.category AS k, SUM(i.quantity * i.price) AS v FROM {ITEMS} \
             GROUP BY 1), \
             f AS (SELECT g.category AS k, SUM(r.amount) AS v FROM returns r \
               LEFT JOIN products p ON p.product_id = r.product_id \
               LEFT JOIN categories g ON g.category_id = p.category_id GROUP BY 1) \
             SELECT COALESCE(r.k, f.k), r.v - f.v, f.v, f.v / r.v FROM r FULL JOIN f ON r.k IS f.k \
             ORDER BY 1 NULLS LAST"
        ),
    );
    assert_rows(
        &request(&["refunds", "orders", "revenue"], &[]),
        "SELECT (SELECT SUM(amount) FROM returns), (SELECT COUNT(*) FROM orders), \
         (SELECT SUM(quantity * price) FROM order_items)",
    );
}

#[test]
fn a_count_of_a_group_that_another_table_adds_is_0() {
    let request = Request {
        grain: Some(Grain::Month),
        period: period("2024-01-01", "2025-01-01"),
        ..request(&["orders", "refunds"], &[])
    };
    assert_rows(
        &request,
        "WITH k AS (SELECT substr(order_date, 1, 7) AS k FROM orders UNION \
           SELECT substr(returned_on, 1, 7) FROM returns) \
         SELECT k, (SELECT COUNT(*) FROM orders WHERE substr(order_date, 1, 7) = k), \
           (SELECT SUM(amount) FROM returns WHERE substr(returned_on, 1, 7) = k) \
         FROM k WHERE k LIKE '2024%' ORDER BY 1",
    );
}

#[test]
fn conditions_keep_rows_as_their_operators_say() {
    let list = [
        (filter("country", Operator::In, &["France"]), "c.country = 'France'"),
        (filter("country", Operator::In, &["France", "Spain"]), "c.country IN ('France', 'Spain')"),
        (filter("country", Operator::NotIn, &["France"]), "c.country IS NOT 'France'"),
        (filter("country", Operator::Contains, &["RAN"]), "c.country LIKE '%ran%'"),
        (filter("order_date", Operator::AtLeast, &["2024-01-31"]), "order_date >= '2024-01-31'"),
        (
            Filter {
                values: vec![Literal::Text("2024-01-31".to_owned())],
                ..filter("order_date", Operator::AtLeast, &[])
            },
            "order_date >= '2024-01-31'",
        ),
        (filter("orders.status", Operator::Less, &["e"]), "status < 'e'"),
    ];
    for (filter, by_hand) in list {
        let request = Request { filters: vec![filter], ..request(&["revenue"], &["status"]) };
        assert_rows(
            &request,
            &format!(
                "SELECT status, SUM(quantity * price) FROM {ITEMS} WHERE {by_hand} GROUP BY 1 \
                 ORDER BY 1"
            ),
        );
    }
}

#[test]
fn the_order_and_the_limit_keep_the_top() {
    let request = Request {
        order: Some(Order { by: "revenue".to_owned(), descending: true }),
        limit: Some(2),
        ..request(&["revenue"], &["category"])
    };
    assert_rows(
        &request,
        &format!(
            "SELECT g.category, SUM(i.quantity * i.price) FROM {ITEMS} GROUP BY 1 ORDER BY 2 \
             DESC LIMIT 2"
        ),
    );
}

#[test]
fn a_limit_counts_in_each_group_that_it_is_within() {
    let by_revenue = Some(Order { by: "revenue".to_owned(), descending: true });
    let first = format!(
        "WITH m AS (SELECT c.country AS k, g.category AS g, SUM(i.quantity * i.price) AS v \
         FROM {ITEMS} GROUP BY 1, 2)"
    );
    let request = Request {
        order: by_revenue.clone(),
        limit: Some(1),
        within: vec!["customers.country".to_owned()],
        ..request(&["revenue"], &["country", "category"])
    };
    assert_rows(
        &request,
        &format!(
            "{first} SELECT k, g, v FROM m WHERE v = (SELECT MAX(b.v) FROM m b WHERE b.k IS m.k) \
             ORDER BY 1 NULLS LAST"
        ),
    );
    let shares = Request {
        comparison: Some(Comparison::ShareOfTotal),
        order: None,
        limit: None,
        ..request.clone()
    };
    assert_rows(
        &shares,
        &format!(
            "{first} SELECT k, g, v, v / (SELECT SUM(b.v) FROM m b WHERE b.k IS m.k) FROM m \
             ORDER BY 1 NULLS LAST, 2 NULLS LAST"
        ),
    );
    let of_years = Request {
        grain: Some(Grain::Year),
        limit: Some(2),
        within: vec!["time".to_owned()],
        ..super::kit::request(&["revenue"], &["category"])
    };
    assert_rows(
        &Request { order: by_revenue, ..of_years },
        &format!(
            "WITH m AS (SELECT substr(o.order_date, 1, 4) AS t, g.category AS g, \
             SUM(i.quantity * i.price) AS v FROM {ITEMS} GROUP BY 1, 2) \
             SELECT t, g, v FROM m WHERE (SELECT COUNT(*) FROM m b WHERE b.t IS m.t AND b.v > m.v) \
             < 2 ORDER BY 1 NULLS LAST, 3 DESC"
        ),
    );
}

#[test]
fn rows_of_one_name_are_groups_of_their_own() {
    // The customers 1 and 3 are both of France, and so are groups of their own by their key.
    let mut semantics = super::kit::shop();
    semantics.tables[1].key = vec!["customer_id".to_owned()];
    semantics.dimensions[2].names_row = true;
    semantics.tables[1].filter = None;
    let request = Request {
        order: Some(Order { by: "orders".to_owned(), descending: true }),
        limit: Some(1),
        within: vec!["country".to_owned()],
        ..request(&["orders"], &["country", "status"])
    };
    let sql = super::kit::compile_for(&semantics, &request, &syrch_core::Dialect::Sqlite).unwrap();
    let found = super::kit::rows(&super::kit::open(super::kit::SHOP), &sql.sql);
    let of_france = found.iter().filter(|row| row[0] == "France").count();
    assert_eq!(of_france, 2, "{}", sql.sql);
}

fn compare(comparison: Comparison, grain: Grain, by: &[&str]) -> Request {
    Request {
        grain: Some(grain),
        comparison: Some(comparison),
        period: period("2024-01-01", "2025-01-01"),
        ..request(&["revenue"], by)
    }
}

/// Revenue by month and country, in which a gap stays a gap.
const MONTHLY: &str = "m AS (SELECT substr(o.order_date, 1, 7) AS t, c.country AS k, \
    SUM(i.quantity * i.price) AS v, \
    CAST(substr(o.order_date, 1, 4) AS INTEGER) * 12 + substr(o.order_date, 6, 2) AS n FROM ";

#[test]
fn a_missing_month_is_no_month_before() {
    for (comparison, distance) in
        [(Comparison::PreviousPeriod, 1), (Comparison::SamePeriodLastYear, 12)]
    {
        assert_rows(
            &compare(comparison, Grain::Month, &["country"]),
            &format!(
                "WITH {MONTHLY} {ITEMS} GROUP BY 1, 2, 4) SELECT m.t, m.k, m.v, b.v FROM m \
                 LEFT JOIN m b ON b.n = m.n - {distance} AND b.k IS m.k WHERE m.t LIKE '2024%' \
                 ORDER BY 1, 2 NULLS LAST"
            ),
        );
    }
    for (comparison, distance) in [(Comparison::Growth, 1), (Comparison::GrowthLastYear, 12)] {
        assert_rows(
            &compare(comparison, Grain::Month, &[]),
            &format!(
                "WITH {MONTHLY} {ITEMS} GROUP BY 1, 4), s AS (SELECT t, n, SUM(v) AS v FROM m \
                 GROUP BY 1) \
                 SELECT s.t, s.v, (s.v - b.v) / b.v FROM s LEFT JOIN s b ON b.n = s.n - {distance} \
                 WHERE s.t LIKE '2024%' ORDER BY 1"
            ),
        );
    }
}

#[test]
fn days_weeks_quarters_and_years_have_periods_before() {
    for (grain, label, before, year) in [
        (Grain::Day, "o.order_date", "date(s.t, '-1 day')", "date(s.t, '-1 year')"),
        (
            Grain::Week,
            "date(o.order_date, '-6 days', 'weekday 1')",
            "date(s.t, '-7 days')",
            "date(s.t, '-364 days')",
        ),
        (
            Grain::Quarter,
            "substr(o.order_date, 1, 4) || '-Q' || ((substr(o.order_date, 6, 2) + 2) / 3)",
            "CASE substr(s.t, 7) WHEN '1' THEN (s.t - 1) || '-Q4' \
             ELSE substr(s.t, 1, 6) || (substr(s.t, 7) - 1) END",
            "(s.t - 1) || substr(s.t, 5)",
        ),
        (Grain::Year, "substr(o.order_date, 1, 4)", "(s.t - 1) || ''", "(s.t - 1) || ''"),
    ] {
        for (comparison, other) in
            [(Comparison::PreviousPeriod, before), (Comparison::SamePeriodLastYear, year)]
        {
            let request = Request { period: None, ..compare(comparison, grain, &[]) };
            assert_rows(
                &request,
                &format!(
                    "WITH s AS (SELECT {label} AS t, SUM(i.quantity * i.price) AS v FROM {ITEMS} \
                     GROUP BY 1) \
                     SELECT s.t, s.v, b.v FROM s LEFT JOIN s b ON b.t = {other} ORDER BY 1 NULLS \
                     LAST"
                ),
            );
        }
    }
}

#[test]
fn shares_are_of_all_groups_before_the_limit() {
    let request = Request {
        comparison: Some(Comparison::ShareOfTotal),
        order: Some(Order { by: "share_of_total".to_owned(), descending: true }),
        limit: Some(1),
        ..request(&["revenue"], &["category"])
    };
    assert_rows(
        &request,
        &format!(
            "SELECT g.category, SUM(i.quantity * i.price), SUM(i.quantity * i.price) / \
             (SELECT SUM(quantity * price) FROM order_items) FROM {ITEMS} GROUP BY 1 \
             ORDER BY 2 DESC LIMIT 1"
        ),
    );
}

#[test]
fn the_share_of_all_counts_the_groups_that_a_condition_leaves_out() {
    let request = Request {
        comparison: Some(Comparison::ShareOfAll),
        filters: vec![filter("country", Operator::In, &["France"])],
        period: period("2024-01-01", "2025-01-01"),
        ..request(&["revenue"], &["country"])
    };
    let of_year = format!("FROM {ITEMS} WHERE o.order_date LIKE '2024%'");
    assert_rows(
        &request,
        &format!(
            "SELECT c.country, SUM(i.quantity * i.price), SUM(i.quantity * i.price) / \
             (SELECT SUM(i.quantity * i.price) {of_year}) {of_year} AND c.country = 'France' \
             GROUP BY 1"
        ),
    );
    // A condition on anything else is one on all.
    let narrow = Request {
        filters: vec![
            filter("country", Operator::In, &["France"]),
            filter("category", Operator::In, &["Toys"]),
        ],
        ..request
    };
    let of_toys = format!("{of_year} AND g.category = 'Toys'");
    assert_rows(
        &narrow,
        &format!(
            "SELECT c.country, SUM(i.quantity * i.price), SUM(i.quantity * i.price) / \
             (SELECT SUM(i.quantity * i.price) {of_toys}) {of_toys} AND c.country = 'France' \
             GROUP BY 1"
        ),
    );
}

#[test]
fn a_part_of_a_period_is_beside_the_same_part_of_the_one_before() {
    for (grain, from, until, earlier) in [
        (Grain::Year, "2024-01-01", "2024-03-16", ("2023-01-01", "2023-03-16")),
        (Grain::Month, "2024-05-01", "2024-05-16", ("2024-04-01", "2024-04-16")),
        (Grain::Quarter, "2024-01-01", "2024-02-16", ("2023-10-01", "2023-11-16")),
    ] {
        let request = Request {
            period: period(from, until),
            ..compare(Comparison::PreviousPeriod, grain, &[])
        };
        let sum = |from: &str, until: &str| {
            format!(
                "SELECT SUM(i.quantity * i.price) FROM {ITEMS} WHERE o.order_date >= '{from}' AND \
                 o.order_date < '{until}'"
            )
        };
        let label = crate::compile::label(grain, day(from), crate::WeekStart::Monday);
        let now = sum(from, until);
        let before = sum(earlier.0, earlier.1);
        assert_rows(
            &request,
            &format!("SELECT '{label}', v, ({before}) FROM (SELECT ({now}) AS v) WHERE v > 0"),
        );
        let compiled = compile_for(&shop(), &request, &syrch_core::Dialect::Sqlite).unwrap();
        let notes = compiled.applied.notes.join("; ");
        assert!(notes.contains("the period before counts up to"), "{notes}");
        assert!(notes.contains("only, to the same day as this one"), "{notes}");
    }
    // The 31st has no counterpart, and two months and a part are no part of one.
    for (from, until) in [("2024-03-01", "2024-03-31"), ("2024-01-01", "2024-03-16")] {
        let request = Request {
            period: period(from, until),
            ..compare(Comparison::PreviousPeriod, Grain::Month, &[])
        };
        let refused = compile_for(&shop(), &request, &syrch_core::Dialect::Sqlite).unwrap_err();
        assert!(matches!(refused, crate::CompileError::Ends { .. }), "{refused}");
    }
}

#[test]
fn a_running_total_begins_with_the_period_in_each_group() {
    assert_rows(
        &compare(Comparison::RunningTotal, Grain::Month, &["country"]),
        &format!(
            "WITH {MONTHLY} {ITEMS} WHERE o.order_date LIKE '2024%' GROUP BY 1, 2, 4) \
             SELECT m.t, m.k, m.v, (SELECT SUM(b.v) FROM m b WHERE b.k IS m.k AND b.t <= m.t) \
             FROM m \
             ORDER BY 1, 2 NULLS LAST"
        ),
    );
}
