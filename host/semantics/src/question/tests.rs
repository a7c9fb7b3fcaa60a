//! Questions that have no request, and the reasons for it.

use super::*;
use crate::compile::tests::kit::{
    day, derive, dimension, filter, join, measure, parse, period, request, shop,
};
use crate::{Aggregate, Comparison, Filter, Grain, Operator, Semantics};

fn make_shop() -> Semantics {
    let mut semantics = shop();
    semantics.metrics.push(derive("refunded amount", "refunds / 100"));
    semantics.dimensions.push(dimension("orders", "title", false));
    semantics
}

fn read_shop(question: &str) -> Reading {
    let values = ["cancelled", "delivered"];
    let cells =
        values.map(|value| Cell { dimension: "orders.status".to_owned(), value: value.to_owned() });
    read_question(&make_shop(), question, &cells, day("2025-06-30"))
}

fn understand(question: &str) -> Request {
    match read_shop(question) {
        Reading::Understood(read) => read.request,
        Reading::Unread(unread) => panic!("{question}: {unread}"),
    }
}

fn refuse(question: &str) -> Unread {
    match read_shop(question) {
        Reading::Understood(read) => panic!("{question}: {:?}", read.request),
        Reading::Unread(unread) => unread,
    }
}

#[test]
fn a_ranking_within_groups_has_words_for_them() {
    for (question, limit, within) in [
        ("which category has the highest revenue in each country", 1, "customers.country"),
        ("top 2 categories per country by revenue", 2, "customers.country"),
        ("top category in each country by revenue", 1, "customers.country"),
        ("the 3 countries with the highest revenue in each month", 3, "time"),
        ("which month had the highest revenue in each country", 1, "customers.country"),
        ("top 2 categories by revenue for each year", 2, "time"),
        ("bottom 2 categories by revenue within each country", 2, "customers.country"),
    ] {
        let request = understand(question);
        assert_eq!(request.limit, Some(limit), "{question}");
        assert_eq!(request.within, [within], "{question}");
        assert_eq!(request.by.len() + usize::from(request.grain.is_some()), 2, "{question}");
    }
    // What is ranked, and within what, is not said.
    for question in ["revenue by category and country, top 3", "top 2 categories by country"] {
        assert!(matches!(refuse(question), Unread::Unsupported(_) | Unread::NoMetric));
    }
    let words = understand("top 2 categories per country by revenue").describe();
    assert!(
        words.ends_with("the 2 with the greatest revenue in each customers.country"),
        "{words}"
    );
    let whole = understand("top 2 categories by revenue");
    assert_eq!((whole.limit, whole.within.len()), (Some(2), 0));
    assert!(matches!(refuse("top 0 categories by revenue"), Unread::Unsupported(_)));
    // Several orders may have one title.
    assert!(matches!(refuse("which order has the highest revenue"), Unread::Words(_)));
}

#[test]
fn a_unit_of_time_in_another_is_not_ranked() {
    for question in [
        "top 3 months by revenue in each year",
        "which month had the highest revenue in each year?",
        "share of revenue by month within each year",
        "cumulative revenue by month in each year",
    ] {
        let unread = refuse(question).to_string();
        assert!(unread.starts_with("a unit of time within another"), "{question}: {unread}");
    }
    assert_eq!(understand("revenue by year and month").grain, Some(crate::Grain::Month));
}

#[test]
fn a_share_has_its_condition_behind_the_verb() {
    let mut semantics = make_shop();
    for metric in &mut semantics.metrics {
        if metric.name == "cancellation rate" {
            metric.format = crate::Format::Percent;
        }
        if metric.name == "orders" {
            *metric = measure("orders", Aggregate::Count, "orders.order_id", "orders", None);
        }
    }
    for dimension in &mut semantics.dimensions {
        if dimension.name == "status" {
            dimension.expression = parse("orders.status");
        }
    }
    let cells = [("orders.status", "cancelled"), ("customers.country", "Germany")];
    let cells =
        cells.map(|(dimension, value)| Cell { dimension: dimension.into(), value: value.into() });
    for (question, is_read) in [
        ("what percent of orders were cancelled", true),
        ("what percent of orders in 2024 were cancelled", true),
        ("what percent of orders from Germany were cancelled", true),
        ("what percent of orders were cancelled and from Germany", false),
        ("what percent of orders were cancelled in Germany", false),
        ("what percent of orders cancelled are from Germany", false),
        ("what percent of cancelled orders are from Germany", false),
        ("what percent of cancelled orders were in 2024", false),
    ] {
        let read = read_question(&semantics, question, &cells, day("2025-06-30"));
        match read {
            Reading::Understood(read) => {
                assert!(is_read, "{question}: {:?}", read.request);
                assert_eq!(read.request.metrics, ["cancellation rate"], "{question}");
            }
            Reading::Unread(unread) => assert!(!is_read, "{question}: {unread}"),
        }
    }
}

#[test]
fn a_sum_of_a_ranking_and_two_times_at_once_are_refused() {
    for (question, why) in [
        ("total of the top 3 categories by revenue", "the sum of the first"),
        ("total revenue for the top 3 categories", "the sum of the first"),
        ("buyers in both 2023 and 2024", "`both` times"),
        ("buyers in 2023 and 2024 both", "`both` times"),
        ("buyers as of 2023", "`as of` a time"),
    ] {
        let unread = refuse(question).to_string();
        assert!(unread.contains(why), "{question}: {unread}");
    }
    let request = understand("top 3 categories by total revenue");
    assert_eq!((request.by.len(), request.limit), (1, Some(3)));
}

#[test]
fn two_places_of_one_table_may_be_those_of_two_things() {
    let mut semantics = make_shop();
    semantics.dimensions.push(dimension("customers", "city", false));
    let read = |question: &str| {
        let cells = [("customers.city", "Paris"), ("customers.country", "France")];
        let cells = cells.map(|(dimension, value)| Cell {
            dimension: dimension.to_owned(),
            value: value.to_owned(),
        });
        read_question(&semantics, question, &cells, day("2025-06-30"))
    };
    for question in [
        "orders from France in Paris",
        "revenue from Paris to France",
        "revenue in Paris and France",
        "how many orders from France were at Paris",
    ] {
        let reading = read(question);
        let Reading::Unread(Unread::Ambiguous { choices, .. }) = &reading else {
            panic!("{question}: {reading:?}")
        };
        assert!(choices.iter().any(|one| one.contains("two things")), "{choices:?}");
    }
    for question in [
        "orders in Paris, France",
        "orders in Paris in France",
        "orders of customers from the city Paris in France",
    ] {
        let Reading::Understood(read) = read(question) else { panic!("{question}") };
        assert_eq!(read.request.filters.len(), 2, "{question}");
    }
}

#[test]
fn rows_of_a_table_without_a_count_may_be_counted_otherwise() {
    for question in ["how many categories are there", "number of categories in 2024"] {
        assert!(matches!(refuse(question), Unread::Rows(_)), "{question}");
    }
    for question in ["how many margins", "how many mean prices"] {
        assert!(!matches!(refuse(question), Unread::Rows(_)), "{question}");
    }
}

#[test]
fn a_number_in_a_word_is_a_value() {
    for question in ["orders with a status of five", "orders with a status of 5"] {
        let filters = understand(question).filters;
        assert_eq!(filters[0].values, [crate::Literal::Number("5".to_owned())], "{question}");
    }
    assert_eq!(
        understand("orders with a status over three").filters[0].operator,
        crate::Operator::Greater
    );
    assert!(matches!(refuse("orders with status five"), Unread::Words(_)));
}

#[test]
fn values_that_are_compared_are_groups() {
    for question in ["revenue by category cancelled vs delivered", "revenue cancelled vs delivered"]
    {
        let by = understand(question).by;
        assert_eq!(by.last().map(String::as_str), Some("orders.status"), "{question}: {by:?}");
    }
    assert_eq!(understand("compare cancelled and delivered by revenue").by, ["orders.status"]);
}

#[test]
fn a_share_in_each_group_is_not_the_share_of_each_group() {
    for question in [
        "what percent of orders are delivered per month",
        "percentage of orders that were delivered by country",
        "what share of orders is delivered by country",
    ] {
        let unread = refuse(question);
        assert!(matches!(unread, Unread::Unsupported(_)), "{question}: {unread:?}");
    }
    for question in
        ["share of revenue from cancelled orders", "what percent of revenue is cancelled"]
    {
        let request = understand(question);
        assert_eq!(request.comparison, Some(Comparison::ShareOfAll), "{question}");
        assert_eq!(request.by, ["orders.status"], "{question}");
        assert_eq!(request.filters[0].dimension, "orders.status", "{question}");
    }
    // Things that several groups have add up to more than all, and two values may be one part.
    for question in
        ["share of buyers from cancelled orders", "share of revenue cancelled or delivered"]
    {
        assert!(matches!(refuse(question), Unread::Unsupported(_)), "{question}");
    }
    let request = understand("share of revenue by category");
    assert_eq!(request.comparison, Some(Comparison::ShareOfTotal));
    assert!(request.within.is_empty());
    let request = understand("share of revenue by category within each country");
    assert_eq!(request.comparison, Some(Comparison::ShareOfTotal));
    assert_eq!(request.within, ["customers.country"]);
}

#[test]
fn somebody_whom_no_word_names_is_not_read() {
    for (question, word) in
        [("how many orders did she have?", "she"), ("how many orders did they make", "they")]
    {
        assert_eq!(refuse(question), Unread::Words(vec![word.to_owned()]));
    }
}

#[test]
fn a_misspelled_name_is_said() {
    for (question, why) in [
        ("revenue by categry", "not understood: categry (`category`?)"),
        ("revenue by weekday", "not understood: weekday"),
        ("revenue by", "not understood: by"),
    ] {
        assert_eq!(refuse(question).to_string(), why);
    }
}

#[test]
fn two_values_at_once_are_not_one_of_two() {
    assert!(matches!(refuse("orders both cancelled and delivered"), Unread::Ambiguous { .. }));
    let request = understand("orders cancelled and delivered");
    assert!(request.describe().ends_with("orders.status is 'cancelled' or 'delivered'"));
    assert_eq!(understand("buyers cancelled or delivered").filters.len(), 1);
    // A buyer may have orders of both kinds.
    for question in ["buyers cancelled and delivered", "how many buyers are cancelled, delivered"] {
        assert!(matches!(refuse(question), Unread::Ambiguous { .. }), "{question}");
    }
}

#[test]
fn a_place_that_two_tables_have_is_asked_back() {
    let mut semantics = make_shop();
    semantics.dimensions.push(dimension("orders", "ship_country", false));
    let places = ["orders.ship_country", "customers.country"];
    // Whatever the order of the values that were found.
    for places in [places, [places[1], places[0]]] {
        let cells = places.map(|place| Cell { dimension: place.into(), value: "France".into() });
        for question in
            ["orders in France", "how many orders from France", "orders by month in France"]
        {
            let read = read_question(&semantics, question, &cells, day("2025-06-30"));
            let Reading::Unread(Unread::Ambiguous { choices, .. }) = &read else {
                panic!("{question}: {read:?}")
            };
            assert_eq!(choices.len(), 2, "{question}: {choices:?}");
        }
        for (question, place) in [
            ("orders in the country France", "customers.country"),
            ("orders from customers in France", "customers.country"),
            ("orders with ship country France", "orders.ship_country"),
        ] {
            let read = read_question(&semantics, question, &cells, day("2025-06-30"));
            let Reading::Understood(read) = &read else { panic!("{question}: {read:?}") };
            assert_eq!(read.request.filters[0].dimension, place, "{question}");
        }
    }
}

#[test]
fn a_time_that_is_not_certain_is_refused_with_the_reason() {
    for (question, why) in [
        ("revenue since March", "the year is not said"),
        ("revenue from 2023", "may mean that time alone"),
        ("revenue until 2023", "may include it or not"),
        ("revenue from 2024 to 2023", "ends before it begins"),
        ("revenue in the last month", "a unit of the calendar or the days"),
    ] {
        let unread = refuse(question).to_string();
        assert!(unread.contains(why), "{question}: {unread}");
    }
    for (question, from, until) in [
        ("revenue before 2023-02", None, Some("2023-02-01")),
        ("revenue Q1 to Q3 2024", Some("2024-01-01"), Some("2024-10-01")),
        ("revenue until the end of 2023", None, Some("2024-01-01")),
        ("revenue by category from 2023 to 2024", Some("2023-01-01"), Some("2025-01-01")),
    ] {
        let period = understand(question).period.unwrap();
        assert_eq!((period.from, period.until), (from.map(day), until.map(day)), "{question}");
    }
    let compared = understand("compare revenue in 2024 to 2023");
    assert_eq!(compared.comparison, Some(Comparison::PreviousPeriod));
}

fn unmet(question: &str, request: &Request) -> Vec<String> {
    let today = day("2025-06-30");
    let added = find_added(&make_shop(), question, request, today);
    [find_missing(&make_shop(), question, request, today), added].concat()
}

#[test]
fn a_request_is_held_to_its_question() {
    let question = "top 2 categories by revenue in 2024";
    let whole = understand(question);
    assert_eq!(unmet(question, &whole), [""; 0]);
    let other_year = crate::compile::tests::kit::period("2023-01-01", "2024-01-01");
    let mut turned = whole.clone();
    turned.order.as_mut().unwrap().descending = false;
    for (request, missing) in [
        (Request { by: vec!["customers.country".into()], ..whole.clone() }, "groups by categories"),
        (Request { period: None, ..whole.clone() }, "says in 2024, and the request counts at any"),
        (Request { period: other_year, ..whole.clone() }, "the request counts in 2023"),
        (Request { limit: Some(5), ..whole.clone() }, "the first 2, and the request shows 5"),
        (Request { limit: None, ..whole.clone() }, "the first 2, and the request shows all"),
        (Request { order: None, ..whole.clone() }, "greatest, and the request has no order"),
        (turned, "the greatest, and the request is in order of revenue"),
        (
            Request { grain: Some(crate::Grain::Month), ..whole.clone() },
            "the request groups by month",
        ),
        (Request { metrics: vec!["cost".into()], ..whole.clone() }, "the request computes cost"),
    ] {
        let found = unmet(question, &request);
        assert!(found.iter().any(|one| one.contains(missing)), "{missing}: {found:?}");
    }
    let question = "monthly revenue";
    let whole = understand(question);
    for (request, missing) in [
        (Request { grain: None, ..whole.clone() }, "groups by month, and the request has none"),
        (
            Request { grain: Some(crate::Grain::Year), ..whole.clone() },
            "the request groups by year",
        ),
        (Request { by: vec!["country".into()], ..whole.clone() }, "groups by country, which the"),
        (Request { limit: Some(3), ..whole.clone() }, "shows the first 3 rows, and all are"),
        (
            Request {
                period: crate::compile::tests::kit::period("2023-01-01", "2024-01-01"),
                ..whole.clone()
            },
            "the question names no time",
        ),
    ] {
        let found = unmet(question, &request);
        assert!(found.iter().any(|one| one.contains(missing)), "{missing}: {found:?}");
    }
    // Words that are not understood may ask for what the request adds.
    let question = "revenue by region of the world";
    assert_eq!(unmet(question, &Request { by: vec!["country".into()], ..whole }), [""; 0]);
    let within = understand("top 2 categories per country by revenue");
    let whole = Request { within: Vec::new(), ..within };
    let found = unmet("top 2 categories per country by revenue", &whole);
    assert!(found.iter().any(|one| one.contains("a ranking in each country")), "{found:?}");
}

#[test]
fn the_share_of_one_group_of_itself_is_none() {
    let question = "share of revenue from France";
    let whole = Request {
        filters: vec![filter("customers.country", Operator::In, &["France"])],
        comparison: Some(Comparison::ShareOfTotal),
        ..request(&["revenue"], &["customers.country"])
    };
    let found = unmet(question, &whole);
    assert!(found.iter().any(|one| one.contains("`share_of_all`")), "{found:?}");
    let several = vec![filter("customers.country", Operator::In, &["France", "Spain"])];
    for sound in [
        Request { comparison: Some(Comparison::ShareOfAll), ..whole.clone() },
        Request { filters: several, ..whole.clone() },
        Request { by: vec!["categories.category".into()], ..whole.clone() },
    ] {
        let found = unmet(question, &sound);
        assert!(!found.iter().any(|one| one.contains("`share_of_all`")), "{found:?}");
    }
}

fn follow_up(previous: &Request, text: &str) -> Reading {
    let mut semantics = make_shop();
    semantics.dimensions.push(dimension("customers", "city", false));
    let cells = [("customers.country", "France"), ("customers.city", "Paris")];
    let cells =
        cells.map(|(dimension, value)| Cell { dimension: dimension.into(), value: value.into() });
    read_follow_up(&semantics, previous, text, &cells, day("2025-06-30"))
}

fn read_change(previous: &Request, text: &str) -> Request {
    match follow_up(previous, text) {
        Reading::Understood(read) => read.request,
        Reading::Unread(unread) => panic!("{text}: {unread}"),
    }
}

fn in_france() -> Vec<Filter> {
    vec![filter("customers.country", Operator::In, &["France"])]
}

#[test]
fn a_share_stays_one_of_all() {
    let by_country = request(&["revenue"], &["customers.country"]);
    let shares = Request { comparison: Some(Comparison::ShareOfTotal), ..by_country.clone() };
    let share = Request {
        filters: in_france(),
        comparison: Some(Comparison::ShareOfAll),
        ..by_country.clone()
    };
    assert_eq!(read_change(&shares, "only France"), share);
    let part = Request { filters: in_france(), ..by_country };
    assert_eq!(read_change(&part, "as a share"), share);
    for text in ["as a share", "by category", "buyers instead of revenue"] {
        let reading = follow_up(&share, text);
        assert!(matches!(reading, Reading::Unread(_)), "{text}: {reading:?}");
    }
}

#[test]
fn a_step_back_of_a_year_stays_one() {
    let year = Request {
        grain: Some(Grain::Year),
        period: period("2024-01-01", "2025-01-01"),
        comparison: Some(Comparison::PreviousPeriod),
        ..request(&["revenue"], &[])
    };
    let months = read_change(&year, "by month");
    assert_eq!(months.grain, Some(Grain::Month));
    assert_eq!(months.comparison, Some(Comparison::SamePeriodLastYear));
    let growth = Request { comparison: Some(Comparison::Growth), ..year.clone() };
    let month =
        Request { grain: Some(Grain::Month), period: period("2024-05-01", "2024-06-01"), ..year };
    for (before, text) in [(growth, "by month"), (month, "by day")] {
        let reading = follow_up(&before, text);
        assert!(matches!(reading, Reading::Unread(_)), "{text}: {reading:?}");
    }
}

#[test]
fn a_place_beside_another_one_is_not_taken() {
    let part = Request { filters: in_france(), ..request(&["revenue"], &[]) };
    let reading = follow_up(&part, "in Paris");
    assert!(matches!(reading, Reading::Unread(Unread::Unsupported(_))), "{reading:?}");
    let whole = request(&["revenue"], &[]);
    assert_eq!(read_change(&whole, "in Paris").filters[0].dimension, "customers.city");
}

#[test]
fn a_multiple_of_a_sum_is_a_sum() {
    for question in ["total refunded amount", "sum of refunded amount"] {
        assert_eq!(understand(question).metrics, ["refunded amount"]);
    }
    assert!(matches!(refuse("average refunded amount"), Unread::Unsupported(_)));
    assert!(matches!(refuse("refunded amount in May"), Unread::Unsupported(_)));
}

#[test]
fn a_question_about_what_stands_before_is_not_one_of_its_own() {
    for question in ["how many orders is that?", "what revenue was that"] {
        assert!(matches!(refuse(question), Unread::Words(_)), "{question}");
    }
    understand("orders that were cancelled");
}

#[test]
fn a_question_for_a_metric_is_told_from_one_for_rows() {
    // The number of orders has nothing to do with categories.
    assert!(matches!(refuse("orders by category"), Unread::Unsupported(_)));
    for question in [
        "list orders",
        "show me the orders of 2024",
        "please show all orders",
        "Give me the orders",
    ] {
        assert!(matches!(refuse(question), Unread::Rows(_)), "{question}");
    }
    for question in
        ["show revenue", "show orders by month", "show me how many orders there were", "orders"]
    {
        understand(question);
    }
    let mut semantics = make_shop();
    semantics.joins.push(join(("orders", "buyer_id"), ("customers", "customer_id")));
    let read = read_question(&semantics, "orders by country", &[], day("2025-06-30"));
    let Reading::Unread(unread) = read else { panic!("{read:?}") };
    assert!(unread.to_string().ends_with("several paths of joins lead to `customers`"));
    semantics.joins.clear();
    let read = read_question(&semantics, "orders by country", &[], day("2025-06-30"));
    let Reading::Unread(unread) = read else { panic!("{read:?}") };
    assert_eq!(
        unread.to_string(),
        "orders cannot be split by country: no joins lead to `customers`"
    );
    for (question, names) in [
        ("revenue by weekday", true),
        ("average refunded amount", true),
        ("orders by weekday", false),
        ("customers called Anna", false),
    ] {
        assert_eq!(names_metric(&make_shop(), question), names, "{question}");
    }
}
