//! Texts of requests, and texts that are none.
#![allow(clippy::unwrap_used, reason = "a test may fail loudly")]

use chrono::NaiveDate;

use super::*;
use crate::{Filter, Literal, Operator, Period};

fn day(text: &str) -> NaiveDate {
    text.parse().unwrap()
}

fn period(text: &str) -> Result<Period, RequestError> {
    read_period(text, day("2025-05-14"), WeekStart::Monday)
}

#[test]
fn a_period_without_a_last_day_has_no_end() {
    let today = NaiveDate::from_ymd_opt(2024, 6, 30).unwrap();
    for text in ["2022..9999", "2022..9999-12", "2022..9999-Q4", "2022..9999-12-31"] {
        let period = read_period(text, today, WeekStart::Monday).unwrap();
        assert_eq!(period.from, NaiveDate::from_ymd_opt(2022, 1, 1), "{text}");
        assert_eq!(period.until, None, "{text}");
    }
}

#[test]
fn periods_have_their_days() {
    for (text, from, until) in [
        ("2024", "2024-01-01", "2025-01-01"),
        ("2024-Q1", "2024-01-01", "2024-04-01"),
        ("2024-q4", "2024-10-01", "2025-01-01"),
        ("2024-02", "2024-02-01", "2024-03-01"),
        ("2024-02-29", "2024-02-29", "2024-03-01"),
        ("2024-01..2024-06", "2024-01-01", "2024-07-01"),
        ("2023..2024-Q1", "2023-01-01", "2024-04-01"),
        ("today", "2025-05-14", "2025-05-15"),
        ("yesterday", "2025-05-13", "2025-05-14"),
        ("this_week", "2025-05-12", "2025-05-19"),
        ("last month", "2025-04-01", "2025-05-01"),
        ("last_quarter", "2025-01-01", "2025-04-01"),
        ("last_12_months", "2024-05-01", "2025-05-01"),
        ("last-7-days", "2025-05-07", "2025-05-14"),
        ("last_1_years", "2024-01-01", "2025-01-01"),
    ] {
        let expected = Period { from: Some(day(from)), until: Some(day(until)) };
        assert_eq!(period(text), Ok(expected), "{text}");
    }
    assert_eq!(period("2024.."), Ok(Period { from: Some(day("2024-01-01")), until: None }));
    assert_eq!(period("..2024"), Ok(Period { from: None, until: Some(day("2025-01-01")) }));
    let sunday = read_period("this_week", day("2025-05-14"), WeekStart::Sunday).unwrap();
    assert_eq!(sunday.from, Some(day("2025-05-11")));
}

#[test]
fn texts_that_are_no_periods_are_refused() {
    for text in [
        "",
        "..",
        "24",
        "2024-13",
        "2024-Q5",
        "2024-Q0",
        "2024-02-30",
        "next_month",
        "last_0_days",
        "last_99999_days",
        "2024-1",
        "2024-01-01-01",
        "2024-QQ",
        "last_4294967296_years",
        "2024-Qé",
        "99999",
        "é",
    ] {
        assert!(matches!(period(text), Err(RequestError::Period { .. })), "{text}");
    }
    let error = period("2024..2023").unwrap_err();
    assert_eq!(error.to_string(), "the period `2024..2023` ends before it begins");
}

fn text(value: &str) -> Literal {
    Literal::Text(value.to_owned())
}

fn number(value: &str) -> Literal {
    Literal::Number(value.to_owned())
}

fn filter(dimension: &str, operator: Operator, values: Vec<Literal>) -> Filter {
    Filter { dimension: dimension.to_owned(), operator, values }
}

#[test]
fn conditions_become_filters() {
    for (condition, filters) in [
        ("country = 'France'", vec![filter("country", Operator::In, vec![text("France")])]),
        (
            "'France' <> customers.country AND (age < 5)",
            vec![
                filter("customers.country", Operator::NotIn, vec![text("France")]),
                filter("age", Operator::Less, vec![number("5")]),
            ],
        ),
        (
            "\"sales channel\" IN ('a', 'b''c') AND 3 <= x",
            vec![
                filter("sales channel", Operator::In, vec![text("a"), text("b'c")]),
                filter("x", Operator::AtLeast, vec![number("3")]),
            ],
        ),
        (
            "x BETWEEN -1 AND 2.5",
            vec![
                filter("x", Operator::AtLeast, vec![number("-1")]),
                filter("x", Operator::AtMost, vec![number("2.5")]),
            ],
        ),
        ("x IS NULL", vec![filter("x", Operator::In, vec![Literal::Null])]),
        ("NOT x IS NULL", vec![filter("x", Operator::NotIn, vec![Literal::Null])]),
        (
            "x = 'a' OR x = 'b' OR x IS NULL",
            vec![filter("x", Operator::In, vec![text("a"), text("b"), Literal::Null])],
        ),
        ("x LIKE '%ab%'", vec![filter("x", Operator::Contains, vec![text("ab")])]),
        ("is_new = TRUE", vec![filter("is_new", Operator::In, vec![Literal::Bool(true)])]),
        (
            "d >= DATE '2024-03-04'",
            vec![filter("d", Operator::AtLeast, vec![Literal::Date(day("2024-03-04"))])],
        ),
    ] {
        assert_eq!(read_condition(condition), Ok(filters), "{condition}");
    }
}

#[test]
fn conditions_that_are_more_than_filters_are_refused() {
    for condition in [
        "",
        "country",
        "country = (SELECT 1)",
        "country = 'a' OR city = 'b'",
        "country = city",
        "lower(country) = 'a'",
        "1 = 1",
        "x = 1; DROP TABLE t",
        "x = 1 -- ' OR 1=1",
        "x LIKE 'a%'",
        "x NOT LIKE '%a%'",
        "x = NULL",
        "a.b.c = 1",
        "NOT x < 5",
        "x = X'00'",
        "EXISTS (SELECT 1)",
    ] {
        let refused = matches!(read_condition(condition), Err(RequestError::Condition { .. }));
        // A comment is no part of the condition.
        assert_eq!(refused, !condition.contains("--"), "{condition}");
    }
    let long = format!("x = '{}'", "a".repeat(64 << 10));
    assert!(matches!(read_condition(&long), Err(RequestError::TooLong { .. })));
    let deep = format!("{}x = 1{}", "(".repeat(9_000), ")".repeat(9_000));
    assert!(read_condition(&deep).is_err());
    let wide = vec!["x = 1"; 5_000].join(" AND ");
    assert_eq!(read_condition(&wide).map(|filters| filters.len()), Ok(5_000));
}

#[test]
fn json_is_the_same_as_flags() {
    let json = r#"{"metrics": ["revenue"], "by": ["category", "Month"],
        "where": "country = 'France'",
        "period": "2024", "order": "Revenue:desc", "limit": 5, "compare": "growth"}"#;
    let request = RequestText::from_json(json).unwrap();
    let request = request.read(day("2025-05-14"), WeekStart::Monday).unwrap();
    assert_eq!(request.grain, Some(Grain::Month));
    assert_eq!(request.by, ["category"]);
    assert_eq!(request.order, Some(Order { by: "Revenue".to_owned(), descending: true }));
    assert_eq!(request.comparison, Some(Comparison::Growth));
    assert_eq!(
        request.describe(),
        "revenue by category and month, in 2024, where country = 'France', with the growth from \
         the \
         period before, the 5 with the greatest Revenue"
    );
    for wrong in
        ["{}", "[]", r#"{"metrics": ["a"], "sql": "x"}"#, r#"{"metrics": ["a"], "limit": -1}"#]
    {
        assert!(matches!(RequestText::from_json(wrong), Err(RequestError::Json { .. })), "{wrong}");
    }
    let two = RequestText {
        by: vec!["year".to_owned()],
        grain: Some(Grain::Day),
        ..RequestText::default()
    };
    assert_eq!(
        two.read(day("2025-05-14"), WeekStart::Monday).unwrap_err().to_string(),
        "a request has one grain, not `day` and `year`"
    );
    assert!(read_comparison("Growth-last-year").is_ok());
    assert!(read_comparison("shrinkage").unwrap_err().to_string().contains("share_of_total"));
}

#[test]
fn the_schema_has_the_fields_of_the_form() {
    let schema: serde_json::Value = serde_json::from_str(REQUEST_SCHEMA).unwrap();
    let full = RequestText {
        metrics: vec!["a".to_owned()],
        by: vec!["b".to_owned()],
        grain: Some(Grain::Day),
        condition: Some("x = 1".to_owned()),
        period: Some("2024".to_owned()),
        order: Some("a".to_owned()),
        limit: Some(1),
        within: vec!["b".to_owned()],
        compare: Some(Comparison::Growth),
    };
    let full = serde_json::to_value(full).unwrap();
    let fields: Vec<&String> = full.as_object().unwrap().keys().collect();
    let declared: Vec<&String> = schema["properties"].as_object().unwrap().keys().collect();
    let mut sorted = fields.clone();
    sorted.sort();
    let mut expected = declared.clone();
    expected.sort();
    assert_eq!(sorted, expected);
}

#[test]
fn a_request_groups_by_what_its_limit_counts_within() {
    let text = r#"{"metrics": ["m"], "by": ["a"], "within": ["b", "month"], "limit": 1}"#;
    let read = RequestText::from_json(text).unwrap().read(day("2025-05-14"), WeekStart::Monday);
    let request = read.unwrap();
    assert_eq!((request.by, request.grain), (vec!["b".into(), "a".into()], Some(Grain::Month)));
    assert_eq!(request.within, ["b", "time"]);
    let text = r#"{"metrics": ["m"], "by": ["A", "year"], "within": ["a"], "limit": 1}"#;
    let read = RequestText::from_json(text).unwrap().read(day("2025-05-14"), WeekStart::Monday);
    assert_eq!(read.unwrap().by, ["A"]);
}
