//! Each operator on a statement, and all of them on anything.

use proptest::prelude::*;
use syrch_core::{Column, Dialect, Table};

use super::*;

fn catalog() -> Catalog {
    fn table(name: &str, columns: &[&str]) -> Table {
        Table {
            name: name.to_owned(),
            columns: columns
                .iter()
                .map(|name| Column { name: (*name).to_owned(), ..Column::default() })
                .collect(),
            ..Table::default()
        }
    }
    let tables = vec![
        table("singer", &["id", "name", "age"]),
        table("song", &["song_id", "singer_id", "order"]),
    ];
    Catalog { database: "music".to_owned(), dialect: Dialect::Sqlite, tables }
}

fn make_texts(operator: Operator, sql: &str) -> Vec<String> {
    operator.texts(&parse(sql, &Dialect::Sqlite).unwrap(), &catalog())
}

const JOIN: &str = "SELECT T1.name FROM singer AS T1 JOIN song AS T2 ON T1.id = T2.singer_id";

#[test]
fn every_operator_makes_its_mistakes() {
    use Operator::*;
    for (operator, sql, expected) in [
        (
            Join,
            JOIN,
            "SELECT T1.name FROM singer AS T1 LEFT JOIN song AS T2 ON T1.id = T2.singer_id",
        ),
        (Join, JOIN, "SELECT T1.name FROM singer AS T1 JOIN song AS T2 ON T1.id = T2.song_id"),
        (
            Join,
            "SELECT a FROM singer LEFT JOIN song ON id = singer_id",
            "SELECT a FROM singer JOIN song ON id = singer_id",
        ),
        (SelectCol, "SELECT name FROM singer", "SELECT age FROM singer"),
        (SelectCol, "SELECT name FROM singer", "SELECT song_id FROM singer"),
        (SelectCol, "SELECT COUNT(*) FROM singer", "SELECT COUNT(song_id) FROM singer"),
        (
            SelectCol,
            JOIN,
            "SELECT T2.\"order\" FROM singer AS T1 JOIN song AS T2 ON T1.id = T2.singer_id",
        ),
        (SelectCol, "SELECT max(age) FROM singer", "SELECT max(id) FROM singer"),
        (WhereCol, "SELECT name FROM singer WHERE age > 3", "SELECT name FROM singer WHERE id > 3"),
        (
            WhereCol,
            "SELECT id FROM singer WHERE id IN (SELECT singer_id FROM song WHERE song_id = 1)",
            "SELECT id FROM singer WHERE id IN (SELECT singer_id FROM song WHERE singer_id = 1)",
        ),
        (Cmp, "SELECT name FROM singer WHERE age > 3", "SELECT name FROM singer WHERE age >= 3"),
        (
            Cmp,
            "SELECT name FROM singer WHERE name LIKE 'a%'",
            "SELECT name FROM singer WHERE name NOT LIKE 'a%'",
        ),
        (
            Cmp,
            "SELECT name FROM singer WHERE name IS NULL",
            "SELECT name FROM singer WHERE name IS NOT NULL",
        ),
        (
            Cmp,
            "SELECT name FROM singer WHERE age BETWEEN 1 AND 2",
            "SELECT name FROM singer WHERE age NOT BETWEEN 1 AND 2",
        ),
        (Literal, "SELECT name FROM singer WHERE age > 3", "SELECT name FROM singer WHERE age > 4"),
        (
            Literal,
            "SELECT id FROM singer WHERE name = 'Joe Sharp'",
            "SELECT id FROM singer WHERE name = 'joe sharp'",
        ),
        (
            Literal,
            "SELECT id FROM singer WHERE name = \"Joe\"",
            "SELECT id FROM singer WHERE name = 'JOE'",
        ),
        (
            Literal,
            "SELECT name FROM singer GROUP BY name HAVING COUNT(*) > 1",
            "SELECT name FROM singer GROUP BY name HAVING COUNT(*) > 2",
        ),
        (Agg, "SELECT min(age) FROM singer", "SELECT MAX(age) FROM singer"),
        (Agg, "SELECT avg(age) FROM singer", "SELECT age FROM singer"),
        (Agg, "SELECT COUNT(*) FROM singer", "SELECT COUNT(DISTINCT name) FROM singer"),
        (Distinct, "SELECT name FROM singer", "SELECT DISTINCT name FROM singer"),
        (Distinct, "SELECT DISTINCT name FROM singer", "SELECT name FROM singer"),
        (Distinct, "SELECT COUNT(DISTINCT name) FROM singer", "SELECT COUNT(name) FROM singer"),
        (
            Nest,
            "SELECT id FROM singer WHERE id IN (SELECT singer_id FROM song WHERE song_id = 1)",
            "SELECT id FROM singer WHERE id NOT IN (SELECT singer_id FROM song WHERE song_id = 1)",
        ),
        (
            Nest,
            "SELECT id FROM singer WHERE age > (SELECT avg(age) FROM singer WHERE id > 1)",
            "SELECT id FROM singer WHERE age > (SELECT avg(age) FROM singer)",
        ),
        (JoinDrop, JOIN, "SELECT T1.name FROM singer AS T1"),
        (
            JoinDrop,
            "SELECT T2.song_id FROM singer AS T1 JOIN song AS T2 ON T1.id = T2.singer_id",
            "SELECT T1.song_id FROM singer AS T1",
        ),
        (JoinDrop, "SELECT name FROM singer, song", "SELECT name FROM singer"),
        (
            DropPred,
            "SELECT name FROM singer WHERE age > 3 AND id = 1",
            "SELECT name FROM singer WHERE age > 3",
        ),
        (DropPred, "SELECT name FROM singer WHERE age > 3", "SELECT name FROM singer"),
        (
            Setop,
            "SELECT id FROM singer UNION SELECT singer_id FROM song",
            "SELECT id FROM singer INTERSECT SELECT singer_id FROM song",
        ),
        (Setop, "SELECT id FROM singer EXCEPT SELECT singer_id FROM song", "SELECT id FROM singer"),
        (
            Setop,
            "SELECT id FROM singer UNION SELECT singer_id FROM song",
            "SELECT id FROM singer UNION ALL SELECT singer_id FROM song",
        ),
        (Table, "SELECT COUNT(*) FROM singer", "SELECT COUNT(*) FROM song"),
        (GroupCol, "SELECT name FROM singer GROUP BY name", "SELECT name FROM singer GROUP BY age"),
        (
            GroupDrop,
            "SELECT name FROM singer GROUP BY name HAVING COUNT(*) > 1",
            "SELECT name FROM singer",
        ),
        (
            Order,
            "SELECT name FROM singer ORDER BY age",
            "SELECT name FROM singer ORDER BY age DESC",
        ),
        (
            Order,
            "SELECT name FROM singer ORDER BY age DESC LIMIT 1",
            "SELECT name FROM singer LIMIT 1",
        ),
        (
            OrderCol,
            "SELECT name FROM singer ORDER BY age DESC LIMIT 1",
            "SELECT name FROM singer ORDER BY id DESC LIMIT 1",
        ),
        (
            OrderCol,
            "SELECT name FROM singer GROUP BY name ORDER BY count(*)",
            "SELECT name FROM singer GROUP BY name ORDER BY age",
        ),
        (AddCol, "SELECT name FROM singer", "SELECT name, age FROM singer"),
        (
            Limit,
            "SELECT name FROM singer ORDER BY age LIMIT 1",
            "SELECT name FROM singer ORDER BY age LIMIT 2",
        ),
        (
            Limit,
            "SELECT name FROM singer ORDER BY age LIMIT 1",
            "SELECT name FROM singer ORDER BY age",
        ),
        (
            Limit,
            "SELECT name FROM singer ORDER BY age",
            "SELECT name FROM singer ORDER BY age LIMIT 1",
        ),
        (DropCol, "SELECT name, age FROM singer", "SELECT age FROM singer"),
        (
            Having,
            "SELECT name FROM singer GROUP BY name HAVING COUNT(*) > 1",
            "SELECT name FROM singer GROUP BY name",
        ),
        (
            Having,
            "SELECT name FROM singer GROUP BY name HAVING COUNT(*) > 1",
            "SELECT name FROM singer GROUP BY name HAVING COUNT(*) >= 1",
        ),
    ] {
        let made = make_texts(operator, sql);
        assert!(
            made.iter().any(|one| one == expected),
            "{operator:?} of {sql}\nlacks {expected}\n{made:#?}"
        );
    }
}

#[test]
fn no_operator_is_without_a_case() {
    let sql = "SELECT DISTINCT T1.name, max(T1.age) FROM singer AS T1 \
               JOIN song AS T2 ON T1.id = T2.singer_id WHERE T1.age > 3 \
               AND T1.id IN (SELECT singer_id FROM song WHERE song_id = 1) \
               GROUP BY T1.name HAVING COUNT(*) > 1 ORDER BY T1.age LIMIT 3";
    for (operator, weight) in Operator::ALL {
        let from = if operator == Operator::Setop { "SELECT 1 UNION SELECT 2" } else { sql };
        // A table that is not read yet.
        let from = if operator == Operator::Table { "SELECT name FROM singer" } else { from };
        assert!(weight > 0.0 && !make_texts(operator, from).is_empty(), "{operator:?}");
    }
}

#[test]
fn what_there_is_nothing_to_change_in_is_left_alone() {
    for operator in [
        Operator::Join,
        Operator::JoinDrop,
        Operator::Nest,
        Operator::Having,
        Operator::Order,
        Operator::GroupCol,
    ] {
        assert_eq!(
            make_texts(operator, "SELECT name FROM singer"),
            Vec::<String>::new(),
            "{operator:?}"
        );
    }
    assert_eq!(
        make_texts(Operator::SelectCol, "SELECT x FROM (SELECT 1 AS x)"),
        Vec::<String>::new()
    );
}

#[test]
fn an_order_has_each_mutant_once_and_follows_from_its_chance() {
    fn order(name: &str) -> Vec<String> {
        in_order(
            &parse(JOIN, &Dialect::Sqlite).unwrap(),
            &catalog(),
            &Chance::from_parts([name.as_bytes()]),
        )
    }
    let one = order("a");
    let other = order("b");
    assert_eq!(one, order("a"));
    assert_ne!(one, other);
    fn sort(mut texts: Vec<String>) -> Vec<String> {
        texts.sort();
        texts
    }
    let mut once = sort(one.clone());
    once.dedup();
    assert_eq!(once.len(), one.len());
    assert_eq!(once, sort(other));
    assert!(!one.contains(&parse(JOIN, &Dialect::Sqlite).unwrap().to_string()));
}

/// Recorded figures rest on the mutants and their order.
#[test]
fn the_order_is_what_it_was() {
    let statements = [
        JOIN,
        "SELECT DISTINCT T1.name, max(T1.age), COUNT(*) FROM singer AS T1 \
         JOIN song AS T2 ON T1.id = T2.singer_id WHERE T1.age > 3 AND T1.id IN (SELECT singer_id \
         FROM song WHERE song_id = 1 OR \"order\" LIKE 'a%') GROUP BY T1.name HAVING COUNT(*) > 1 \
         ORDER BY T1.age DESC LIMIT 3",
        "SELECT name FROM singer, song WHERE id = singer_id AND name = \"Joe Sharp\" UNION \
         SELECT 'x' FROM singer WHERE NOT EXISTS (SELECT 1 FROM song WHERE singer_id = id \
         AND song_id BETWEEN 1 AND 2)",
        "SELECT COUNT(*), avg(age) FROM singer LEFT JOIN song ON id = singer_id \
         AND age IS NOT NULL ORDER BY COUNT(*)",
    ];
    let chance = Chance::from_parts([b"order".as_slice()]);
    let all: Vec<String> = statements
        .iter()
        .flat_map(|sql| in_order(&parse(sql, &Dialect::Sqlite).unwrap(), &catalog(), &chance))
        .collect();
    let digest = u64::from_le_bytes(*chance.digest(&all.join("\n")).first_chunk().unwrap());
    assert_eq!((all.len(), digest), (303, 7_166_176_652_354_038_697));
}

#[test]
fn what_is_no_query_or_too_large_is_not_read() {
    let long = format!("SELECT 1 WHERE 1 IN ({}1)", "1,".repeat(9_000));
    let deep = format!("SELECT {}1{}", "(".repeat(700), ")".repeat(700));
    let chain = format!("SELECT 1{}", "+1".repeat(1_600));
    for sql in ["", "DROP TABLE singer", "SELECT 1; SELECT 2", "SELECT (", &long, &deep, &chain] {
        assert!(parse(sql, &Dialect::Sqlite).is_none(), "{}", &sql[..sql.len().min(40)]);
    }
    // Nothing that is read is too deep to be changed.
    let wide = format!("SELECT name FROM singer WHERE {}", vec!["age > 1"; 400].join(" AND "));
    let many = in_order(
        &parse(&wide, &Dialect::Sqlite).unwrap(),
        &catalog(),
        &Chance::from_parts([b"x".as_slice()]),
    );
    assert!(!many.is_empty() && many.len() <= EACH * Operator::ALL.len());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn mutants_are_statements_again(
        columns in prop::collection::vec(
            prop::sample::select(vec!["name", "age", "COUNT(*)", "max(id)"]), 1..3
        ),
        condition in prop::sample::select(
            vec![
                "", " WHERE age > 1", " WHERE name = 'x' OR id IN (1, 2)",
                " WHERE id = (SELECT max(id) FROM singer)"
            ]
        ),
        group in prop::sample::select(
            vec!["", " GROUP BY name", " GROUP BY name HAVING count(*) > 1"]
        ),
        order in prop::sample::select(vec!["", " ORDER BY age", " ORDER BY age DESC LIMIT 2"]),
    ) {
        let sql = format!("SELECT {} FROM singer{condition}{group}{order}", columns.join(", "));
        let statement = parse(&sql, &Dialect::Sqlite).unwrap();
        for (operator, _) in Operator::ALL {
            for text in operator.texts(&statement, &catalog()) {
                prop_assert!(parse(&text, &Dialect::Sqlite).is_some(), "{operator:?}: {text}");
                prop_assert_ne!(&text, &statement.to_string());
            }
        }
    }
}
