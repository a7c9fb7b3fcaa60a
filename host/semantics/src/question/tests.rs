//! Questions that have no request, and the reasons for it.

use super::*;
use crate::compile::tests::kit::{day, derive, dimension, join, shop};
use crate::{Comparison, Semantics};

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
fn a_ranking_within_groups_is_refused() {
    for question in [
        "which category has the highest revenue in each country",
        "top 2 categories per country by revenue",
        "top category in each country by revenue",
        "revenue by category and country, top 3",
    ] {
        let unread = refuse(question);
        let Unread::Unsupported(why) = &unread else { panic!("{question}: {unread:?}") };
        assert!(why.contains("within each group"), "{question}: {why}");
    }
    assert_eq!(understand("top 2 categories by revenue").limit, Some(2));
    // Several orders may have one title.
    assert!(matches!(refuse("which order has the highest revenue"), Unread::Words(_)));
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
    let request = understand("share of revenue by category");
    assert_eq!(request.comparison, Some(Comparison::ShareOfTotal));
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
    assert_eq!(understand("orders cancelled and delivered").filters.len(), 1);
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
fn a_question_for_a_metric_is_told_from_one_for_rows() {
    // The number of orders has nothing to do with categories.
    assert!(matches!(refuse("orders by category"), Unread::Unsupported(_)));
    assert!(matches!(refuse("list orders"), Unread::Rows(_)));
    let mut semantics = make_shop();
    semantics.joins.push(join(("orders", "buyer_id"), ("customers", "customer_id")));
    let read = read_question(&semantics, "orders by country", &[], day("2025-06-30"));
    let Reading::Unread(unread) = read else { panic!("{read:?}") };
    assert!(unread.to_string().ends_with("several paths of joins lead to `customers`"));
    for (question, names) in [
        ("revenue by weekday", true),
        ("average refunded amount", true),
        ("orders by weekday", false),
        ("customers called Anna", false),
    ] {
        assert_eq!(names_metric(&make_shop(), question), names, "{question}");
    }
}
