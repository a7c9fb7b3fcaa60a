//! Files that are read, and the problems that are reported about them.

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use proptest::prelude::*;

use super::*;
use crate::{Aggregate, Cardinality, Literal, Measure, MetricKind};

const SHOP: &str = include_str!("../../../../examples/shop.semantics.yml");

fn source(text: &str) -> Source {
    Source { file: "f.yml".to_owned(), text: text.to_owned() }
}

fn read(text: &str) -> Semantics {
    Semantics::read(&[source(text)]).unwrap_or_else(|problems| panic!("{}", lines(&problems)))
}

fn lines(problems: &[Problem]) -> String {
    problems.iter().map(|problem| format!("{problem}\n")).collect()
}

fn problems(text: &str) -> String {
    Semantics::read(&[source(text)]).err().map(|problems| lines(&problems)).unwrap_or_default()
}

fn measure<'a>(semantics: &'a Semantics, name: &str) -> &'a Measure {
    let metric = semantics.metrics.iter().find(|metric| metric.name == name).unwrap();
    match &metric.kind {
        MetricKind::Measure(measure) => measure,
        other => panic!("{name}: {other:?}"),
    }
}

#[test]
fn the_example_is_read() {
    let shop = read(SHOP);
    assert_eq!(shop.today.unwrap().to_string(), "2024-12-31");
    let revenue = measure(&shop, "revenue");
    assert_eq!(revenue.base, "order_items");
    assert_eq!(revenue.aggregate, Aggregate::Sum);
    // The order is nearer than the customer, who has a time of his own.
    assert_eq!(revenue.time.as_deref(), Some("orders.order_date"));
    assert_eq!(revenue.filter.as_ref().unwrap().tables, ["orders"]);
    assert_eq!(measure(&shop, "cost of goods").base, "order_items");
    assert_eq!(measure(&shop, "active customers").aggregate, Aggregate::CountDistinct);
    assert_eq!(measure(&shop, "customers").time.as_deref(), Some("customers.signup_date"));
    assert_eq!(measure(&shop, "products").time, None);
    let customer = shop.dimensions.iter().find(|found| found.name == "customer").unwrap();
    assert_eq!(customer.expression.tree.to_string(), "customers.name");
    let discontinued =
        shop.dimensions.iter().find(|found| found.name == "is_discontinued").unwrap();
    assert_eq!(discontinued.labels[0].value, Literal::Number("1".to_owned()));
    let profit = shop.metrics.iter().find(|metric| metric.name == "profit").unwrap();
    let MetricKind::Derived(expression) = &profit.kind else { panic!("{profit:?}") };
    assert_eq!(expression.text, "revenue - \"cost of goods\"");
    assert_eq!(profit.place.to_string().split(':').next(), Some("f.yml"));
}

/// Tables that the tests of metrics use.
const TABLES: &str = "tables:
  orders: {time: day, dimensions: {day: {type: time}, status: }}
  items: {key: [order_id, line], dimensions: [sku]}
  customers:
joins:
  - {from: items.order_id, to: orders.id}
  - {from: orders.customer_id, to: customers.id}
metrics:
";

#[test]
fn several_files_are_one_whole() {
    let metrics = Source { file: "m.yml".into(), text: "metrics: {n: count(orders.*)}".into() };
    let read = Semantics::read(&[source(&format!("{TABLES}  rows: count(items.*)")), metrics]);
    let semantics = read.unwrap();
    assert_eq!(semantics.metrics[1].place.to_string(), "m.yml:1:11");
    let again = Source { file: "m.yml".into(), text: "tables: {Orders: }".into() };
    let wrong = Semantics::read(&[source(TABLES), again]).unwrap_err();
    assert_eq!(lines(&wrong), "m.yml:1:10: table `Orders` is declared at f.yml:2:3 already\n");
}

#[test]
fn short_forms_mean_what_long_ones_say() {
    let semantics = read(&format!(
        "{TABLES}  a: {{measure: count(*), table: orders, filter: \"status = 'x'\"}}\n  b: \
         {{measure: count(orders.*), filter: \"orders.status = 'x'\"}}\n"
    ));
    let [a, b] = [measure(&semantics, "a"), measure(&semantics, "b")];
    assert_eq!((a.base.as_str(), &a.argument), ("orders", &None));
    assert_eq!(a.base, b.base);
    assert_eq!(
        a.filter.as_ref().unwrap().tree.to_string(),
        b.filter.as_ref().unwrap().tree.to_string()
    );
    assert_eq!(semantics.joins[0].cardinality, Cardinality::ManyToOne);
    assert_eq!(semantics.tables[1].key, ["order_id", "line"]);
}

#[test]
fn every_mistake_is_reported_with_its_place_and_what_to_do() {
    for (text, expected) in [
        ("tabels: {}", "f.yml:1:1: there is no key `tabels`; did you mean `tables`?"),
        ("today: 2025-02-30", "f.yml:1:8: today: `2025-02-30` is no day"),
        ("week_start: friday", "f.yml:1:13: week_start: `friday` is neither"),
        ("tables: {a: {tiem: x}}", "f.yml:1:14: there is no key `tiem`; did you mean `time`?"),
        ("tables: {a: {time: day}}", "f.yml:1:20: there is no dimension `day`; the time of"),
        ("tables: {a: {time: d, dimensions: [d]}}", "f.yml:1:20: `d` is no time; declare it as"),
        ("tables: {a.b: }", "f.yml:1:10: the name of a table cannot have `.`"),
        ("tables: {\"\\e[2J\": }", "the name of a table has a control character"),
        ("tables: {a: {dimensions: {b: {type: tiem}}}}", "there is no type `tiem`; did you mean"),
        ("tables: {a: {dimensions: {b: c.d}}}", "f.yml:1:30: `c` is another table"),
        ("tables: {a: , A: }", "f.yml:1:15: table `A` is declared at f.yml:1:10 already"),
        ("tables: {a: {dimensions: [b, B]}}", "dimension `B` of `a` is declared at f.yml:1:27"),
        ("tables: {a: {filter: (select 1)}}", "`a subquery` may not stand here"),
        ("joins: {}", "f.yml:1:8: `joins` must be a list such as"),
        ("joins: [{from: a.x}]", "f.yml:1:9: a join needs `from` and `to`"),
        ("joins: [{from: a.x, to: b.y}]", "f.yml:1:16: there is no table `a`"),
        ("tables: {a: {synonyms: [b]}, b: }", "`b` stands for the table `a` at f.yml:1:10"),
        (
            "tables: {a: {dimensions: {s: {labels: {x: [u], y: [U]}}}}}",
            "f.yml:1:48: `U` stands for `x` already, a value of `s`",
        ),
        ("metrics: {time: 1}", "a metric cannot be called `time`"),
        ("metrics: {a: count(x.*)}", "f.yml:1:14: there is no table `x`"),
        ("a: [", "f.yml:1:4: "),
        ("a: 1\na: 2", "f.yml:2:1: duplicate key `a`"),
    ] {
        let reported = problems(text);
        assert!(reported.contains(expected), "{text}\nexpected {expected}\nreported {reported}");
    }
    assert_eq!(problems(""), "");
    assert_eq!(problems("# nothing\n"), "");
}

#[test]
fn wrong_metrics_are_reported() {
    for (metric, expected) in [
        ("m: orders.id", "a measure is one aggregate"),
        ("m: sum(orders.id) + 1", "a measure is one aggregate"),
        ("m: median(orders.id)", "a measure is one aggregate"),
        ("m: sum(distinct orders.id)", "only count may have DISTINCT"),
        ("m: sum(*)", "sum(*) is not read"),
        ("m: sum(id)", "`id` stands without its table; write `table.id`"),
        ("m: count(*)", "the measure names no table"),
        ("m: sum(sum(orders.id))", "the aggregate sum may only stand around the whole"),
        ("m: sum(orders.id) over ()", "is a window"),
        ("m: sum(orders.id) filter (where true)", "set the key `filter`"),
        ("m: sum(main.orders.id)", "a column is written `table.column`"),
        ("m: sum(order.id)", "there is no table `order`; did you mean `orders`?"),
        ("m: sum(orders.a)); drop table x; --", "`;` is no part of an expression"),
        ("m: sum(orders.a) from orders", "the expression ends before `from`"),
        ("m: \"sum(case when orders.a = $1 then 1 end)\"", "parameters are not read"),
        ("m: sum(random())", "there is no function `random`"),
        ("m: sum(load_extension('x'))", "there is no function `load_extension`"),
        ("m: sum(pg_sleep(1))", "there is no function `pg_sleep`"),
        ("m: count(orders.a in (select 1))", "`a subquery` may not stand here"),
        ("m: sum(julianday('now') - julianday(orders.a))", "'now' is another day each day"),
        ("m: sum(date())", "date needs arguments"),
        ("m: sum(strftime('%s'))", "strftime needs a date"),
        ("m: max(current_date)", "answers differently each day"),
        ("m: \"count(orders.a = 'x\\\\\\\\y')\"", "engines read `\\` in a text differently"),
        ("m: sum(cast(orders.a as blob))", "CAST to BLOB is not read"),
        ("m: {measure: sum(customers.x), filter: items.y = 1}", "rows would repeat"),
        ("m: {measure: count(orders.*), time: items.sku}", "no many-to-one joins lead from"),
        ("m: {measure: count(orders.*), time: status}", "`status` is no time"),
        ("m: {measure: count(orders.*), time: dya}", "did you mean `orders.day`?"),
        ("m: {ratio: [m, m]}", "the metric is made of itself (m → m)"),
        ("m: {ratio: [a]}", "ratio: name two metrics"),
        ("m: {derived: 1 + 1}", "a derived metric names at least one other metric"),
        ("m: {derived: sum(orders.id)}", "the aggregate sum may only stand"),
        ("m: {derived: orders.id}", "`orders.…` is a column"),
        ("m: {derived: nothing}", "there is no metric `nothing`"),
        ("m: {measure: count(orders.*), derived: m}", "and only one"),
        ("m: {}", "needs one of `measure`, `ratio` and `derived`"),
        ("{m: {derived: o, filter: a}, o: count(orders.*)}", "belong to a `measure`"),
        ("{m: count(orders.*), M: count(items.*)}", "metric `M` is declared at"),
        (
            "{m: {measure: count(orders.*), synonyms: [Sale]}, sales: count(items.*)}",
            "`sales` stands for the metric `m`",
        ),
        ("status: count(orders.*)", "`status` stands for the metric `status`"),
        ("{a: {derived: b + 1}, b: {derived: c}, c: {ratio: [a, a]}}", "a → b → c → a"),
        ("m: {measure: count(orders.*), format: procent}", "did you mean `percent`?"),
    ] {
        let reported = problems(&format!("{TABLES}  {metric}\n"));
        assert!(reported.contains(expected), "{metric}\nexpected {expected}\nreported {reported}");
        assert!(reported.starts_with("f.yml:"), "{reported}");
    }
}

#[test]
fn joins_that_leave_the_meaning_open_are_reported() {
    let tables = "tables: {a: , b: , c: , d: }\njoins:\n";
    for (joins, metric, expected) in [
        ("- {from: a.x, to: a.y}", "count(a.*)", "`a` is joined with itself"),
        (
            "- {from: a.x, to: b.y}\n- {from: a.z, to: b.y}",
            "count(a.*)",
            "f.yml:4:3: `a` and `b` are joined at f.yml:3:3 already",
        ),
        (
            "- {from: a.x, to: b.y}\n- {from: b.x, to: c.y}\n- {from: c.x, to: a.y}",
            "count(a.*)",
            "f.yml:3:3: the joins lead in a circle (a → b → c → a)",
        ),
        (
            "- {from: a.x, to: b.y}\n- {from: a.z, to: c.y}\n- {from: b.x, to: d.y}\n- {from: \
             c.x, to: d.y}",
            "sum(a.x + d.y)",
            "f.yml:7:14: several paths of joins lead from `a` to `d` (a → b → d; a → c → d)",
        ),
        (
            "- {from: a.x, to: b.y, cardinality: many_to_many}",
            "count(a.*)",
            "declare the table between them",
        ),
        ("- {from: [a.x, b.y], to: [c.x, c.y]}", "count(a.*)", "one end of a join is one table"),
    ] {
        let reported = problems(&format!("{tables}{joins}\nmetrics: {{m: {metric}}}\n"));
        assert!(reported.contains(expected), "{joins}\nexpected {expected}\nreported {reported}");
    }
}

#[test]
fn hostile_sizes_are_refused_quickly() {
    let started = Instant::now();
    let mut many = String::from("tables: {t: }\nmetrics:\n");
    (0..100_000).for_each(|n| writeln!(many, "  m{n}: count(t.*)").unwrap());
    assert!(problems(&many).contains("f.yml:10003:3: more than 10000 metrics"));
    let large = format!("# {}", "x".repeat(5 << 20));
    assert!(problems(&large).contains("is larger than 4 MiB"));
    for expression in [
        format!("{}1{}", "(".repeat(60), ")".repeat(60)),
        format!("{}1{}", "abs(".repeat(60), ")".repeat(60)),
        "case when ".repeat(300),
        "case t.a when 1 then ".repeat(150),
        format!("{}1", "not ".repeat(900)),
        format!("{}1", "- ".repeat(900)),
        format!("1{}", " + 1".repeat(400)),
        "a".repeat(5_000),
        format!("t.a in ({}1)", "1,".repeat(1_500)),
        format!("{}t.a{}", "cast(".repeat(15), " as int)".repeat(15)) + " + (",
    ] {
        let text = format!("tables: {{t: }}\nmetrics: {{m: \"sum({expression})\"}}");
        assert!(problems(&text).starts_with("f.yml:2:14: "), "{expression}");
    }
    // Each metric doubles the one before.
    let mut doubled = String::from("tables: {t: }\nmetrics:\n  m0: count(t.*)\n");
    (1..40).for_each(|n| {
        writeln!(doubled, "  m{n}: {{derived: m{0} + m{0}}}", n - 1).unwrap();
    });
    assert!(problems(&doubled).contains("f.yml:12:3: written out, this metric comes to more"));
    assert!(started.elapsed() < Duration::from_secs(60), "{:?}", started.elapsed());
}

#[test]
fn no_more_than_a_hundred_problems_are_reported() {
    let mut text = String::from("metrics:\n");
    (0..5_000).for_each(|n| writeln!(text, "  m{n}: sum(t{n}.x)").unwrap());
    let reported = problems(&text);
    assert_eq!(reported.lines().count(), 101);
    assert!(reported.ends_with("further problems are not listed; correct those above first\n"));
}

/// Lines that are those of a semantics file, mixed up, and any others.
fn anything() -> impl Strategy<Value = String> {
    let line = prop_oneof![
        Just("tables:".to_owned()),
        Just("metrics:".to_owned()),
        Just("joins:".to_owned()),
        Just("  orders: {time: day, dimensions: {day: {type: time}}}".to_owned()),
        Just("  - {from: a.x, to: orders.y}".to_owned()),
        Just("  m: {ratio: [n, m]}".to_owned()),
        "  [a-z]{1,3}: \\PC{0,30}",
        "  n: (sum|count)\\((orders|a)\\.[a-z]{1,3}( [-+*/<=] \\PC{0,10})?\\)",
        "\\PC{0,40}",
    ];
    proptest::collection::vec(line, 0..12).prop_map(|lines| lines.join("\n"))
}

/// Words and signs of SQL in any order.
fn words() -> impl Strategy<Value = String> {
    let word = proptest::sample::select(vec![
        "(",
        ")",
        ",",
        "case",
        "when",
        "then",
        "else",
        "end",
        "in",
        "between",
        "and",
        "or",
        "not",
        "t.a",
        "1",
        "'x'",
        "cast",
        "as",
        "int",
        "extract",
        "year",
        "from",
        "is",
        "null",
        "+",
        "-",
        "*",
        "/",
        "<",
        "like",
        "substring",
        "trim",
        "[",
        "]",
        "{",
        "}",
        "interval",
        "date",
        "->",
        "::",
        "exists",
        "select",
        "array",
        "struct",
        "map",
        "x =>",
        "count",
        "distinct",
        "over",
        "any",
        "position",
        "overlay",
        "convert",
        "\"",
        "'",
    ]);
    proptest::collection::vec(word, 0..80).prop_map(|words| words.join(" "))
}

proptest! {
    #[test]
    fn reading_never_panics_and_ends_soon(text in anything()) {
        let started = Instant::now();
        drop(Semantics::read(&[source(&text)]));
        prop_assert!(started.elapsed() < Duration::from_secs(5));
    }

    #[test]
    fn expressions_never_panic_and_end_soon(words in words()) {
        let started = Instant::now();
        let quoted = words.replace('\'', "''");
        let text = format!("tables: {{t: }}\nmetrics: {{m: 'sum({quoted})'}}\n");
        drop(Semantics::read(&[source(&text)]));
        prop_assert!(started.elapsed() < Duration::from_secs(5), "{words}");
    }
}

fn schema() -> jsonschema::Validator {
    jsonschema::validator_for(&serde_json::from_str(crate::SCHEMA).unwrap()).unwrap()
}

/// A file as JSON, the way editors see it.
fn document(text: &str) -> serde_json::Value {
    syrch_yaml::read_within(text, &BOUNDS).unwrap().value.value()
}

#[test]
fn what_reads_well_fits_the_schema() {
    let schema = schema();
    let short = format!(
        "{TABLES}  a: {{measure: count(*), table: orders, filter: \"status = 'x'\", time: day}}\n  \
         b: {{derived: a + 1, format: percent, unit: x, synonyms: [c, d]}}\n  e: {{ratio: [a, \
         b]}}\n"
    );
    for text in [SHOP, TABLES, short.as_str()] {
        read(text);
        let wrong: Vec<String> =
            schema.iter_errors(&document(text)).map(|error| error.to_string()).collect();
        assert!(wrong.is_empty(), "{wrong:#?}");
    }
}

#[test]
fn broken_shapes_do_not_fit_the_schema() {
    let schema = schema();
    for text in [
        "tabels: {}",
        "week_start: friday",
        "tables: []",
        "tables: {a.b: }",
        "tables: {a: {tiem: x}}",
        "tables: {a: {dimensions: {b: {type: tiem}}}}",
        "tables: {a: {dimensions: {b: {labels: {x: {y: z}}}}}}",
        "joins: {}",
        "joins: [{from: a.x}]",
        "joins: [{from: a, to: b.y}]",
        "joins: [{from: a.x, to: b.y, cardinality: many_to_many}]",
        "metrics: {m: {}}",
        "metrics: {m: {measure: count(a.*), derived: n}}",
        "metrics: {m: {ratio: [a]}}",
        "metrics: {m: {derived: n, filter: a.b}}",
        "metrics: {m: {measure: count(a.*), format: procent}}",
    ] {
        assert!(!schema.is_valid(&document(text)), "{text}");
        assert!(!problems(text).is_empty(), "{text}");
    }
}
