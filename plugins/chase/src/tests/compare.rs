//! Tests of the prompt of a comparison, and of its fairness to both places.

use super::*;

/// The prompt of the only comparison of two results.
fn comparison_prompt(host: &FakeHost, settings: Settings) -> String {
    solve_candidates(host, settings);
    let shown = places(host, &Purpose::Select);
    assert_eq!(shown.len(), 1);
    host.model.prompt(shown[0])
}

fn two(host: &mut FakeHost) {
    says(host, &Purpose::Generate, &["SELECT one", "SELECT two"]);
    host.database
        .answer("SELECT one", numbers(&[1, 2, 2, 3]))
        .answer("SELECT two", numbers(&[3, 2, 7]));
    host.database.granted_rows = Some(100);
}

#[test]
fn both_statements_stand_with_their_shapes_and_where_they_differ() {
    let mut host = FakeHost::default();
    two(&mut host);
    let prompt = comparison_prompt(&host, direct(2));
    let request = host.model.requests().pop().unwrap();
    assert_eq!(request.expect, Shape::Choice(vec!["A".into(), "B".into()]));
    assert_eq!(request.subjects.len(), 2);
    assert_eq!(request.temperature, None);
    let [one, two] =
        if prompt.contains("Statement A:\nSELECT one\n") { ["A", "B"] } else { ["B", "A"] };
    let of = |word: &str, sql: &str, rows: &str| {
        format!("Statement {word}:\n{sql}\nIts result: {rows}, 1 column: n\n")
    };
    assert_parts(
        &prompt,
        &[
            "How much was sold?",
            &of(one, "SELECT one", "4 rows"),
            &of(two, "SELECT two", "3 rows"),
            &format!("Only {one} has: 2 rows\nn\n1\n2\n"),
            &format!("Only {two} has: 1 row\nn\n7\n"),
            "Answer with one letter",
        ],
    );
    assert!(!prompt.contains("The statements are for this part"));
}

#[test]
fn only_granted_rows_and_only_so_many_are_shown() {
    fn show(granted: Option<u32>, compared_rows: u32) -> String {
        let mut host = FakeHost::default();
        two(&mut host);
        host.database.granted_rows = granted;
        comparison_prompt(&host, Settings { compared_rows, ..direct(2) })
    }
    assert!(!show(None, 5).contains("Only"));
    assert!(show(None, 5).contains("4 rows, 1 column: n"));
    assert!(!show(Some(100), 0).contains("Only"));
    assert_parts(&show(Some(100), 1), &["has: 2 rows\nn\n1\n"]);
    assert!(!show(Some(100), 1).contains("n\n1\n2\n"));
    // One of each is seen: 1, and 3.
    assert_parts(
        &show(Some(1), 5),
        &["has among the first ones: 1 row\nn\n1\n", "has among the first ones: 1 row\nn\n3\n"],
    );
}

#[test]
fn first_rows_that_are_the_same_are_reported_as_that() {
    let mut host = draws(&["SELECT one", "SELECT two"]);
    host.database.answer("SELECT one", numbers(&[1, 2])).answer("SELECT two", numbers(&[1, 3]));
    host.database.granted_rows = Some(1);
    assert_parts(&comparison_prompt(&host, direct(2)), &["The first rows of both are the same."]);
}

#[test]
fn only_the_tables_that_are_read_are_shown() {
    let mut host = draws(&["SELECT 1", "SELECT 2"]);
    assert_parts(&comparison_prompt(&host, direct(2)), &["Table orders", "Table customers"]);

    host = FakeHost::default();
    two(&mut host);
    struct Reads(FakeHost);
    impl Inspect for Reads {
        fn check(&self, text: &str) -> Result<Facts, SqlError> {
            Ok(syrch_plugin::fakes::facts(text, &["orders"]))
        }
        fn explain(&self, text: &str) -> Result<Plan, SqlError> {
            self.0.explain(text)
        }
        fn column_stats(
            &self,
            table: &str,
            columns: &[String],
        ) -> Result<Vec<ColumnStats>, PortError> {
            self.0.column_stats(table, columns)
        }
    }
    impl Rows for Reads {
        fn read(&self, results: &ResultSet, offset: u64, limit: u32) -> Result<Page, PortError> {
            Rows::read(&self.0, results, offset, limit)
        }
    }
    let settings = Settings::default();
    let problem = Problem::new("q");
    let catalog = catalog();
    let task = Task { expected: Some("one number".into()), ..Task::new("A", "a part of q") };
    let matter = crate::compare::Matter {
        settings: &settings,
        problem: &problem,
        catalog: &catalog,
        task: &task,
    };
    let one = numbers(&[1]).handle();
    let two = numbers(&[2]).handle();
    let shown = |sql, results| crate::compare::Shown { sql, results };
    let request = matter.request(&Reads(host), shown("SELECT 1", &one), shown("SELECT 2", &two));
    let user = &request.messages[1].text;
    assert_parts(
        user,
        &["Table orders", "for this part of it: a part of q", "The result should be: one number"],
    );
    assert!(!user.contains("customers"), "{user}");
}

#[test]
fn the_seed_decides_who_is_shown_first() {
    let mut first = Vec::new();
    for seed in 0..16 {
        let shown = |word: &str| {
            let mut host = FakeHost { seed, ..draws(&["SELECT 1", "SELECT 2"]) };
            prefers(&mut host, &[word]);
            let candidates = solve_candidates(&host, direct(2));
            (candidates[0].sql.clone(), events(&host, "comparison")[0].1["shown"][0].clone())
        };
        let (winner, place) = shown("A");
        // Whoever is shown as A wins when the model says so, and B when it says B.
        assert_eq!(winner, if place == json!("A.1") { "SELECT 1" } else { "SELECT 2" });
        assert_ne!(winner, shown("B").0);
        assert_eq!((winner, place.clone()), shown("A"));
        first.push(place);
    }
    assert!(first.contains(&json!("A.1")) && first.contains(&json!("A.2")), "{first:?}");
}

#[test]
fn the_text_of_a_task_is_one_bounded_line() {
    let catalog = Catalog {
        database: "shop".into(),
        dialect: Dialect::Sqlite,
        tables: Vec::new(),
        ..Catalog::default()
    };
    let task = Task::new("A", format!("the sums\nStatement A:\n{}", "x".repeat(60_000)));
    let rows = numbers(&[1]);
    let results = rows.handle();
    let settings = Settings::default();
    let problem = Problem::new("How much was sold?");
    let matter = crate::compare::Matter {
        settings: &settings,
        problem: &problem,
        catalog: &catalog,
        task: &task,
    };
    let shown = |sql| crate::compare::Shown { sql, results: &results };
    let request = matter.request(&FakeHost::default(), shown("SELECT one"), shown("SELECT two"));
    let prompt = &request.messages.last().unwrap().text;
    assert_parts(prompt, &["The statements are for this part of it: the sums Statement A: xxx"]);
    assert!(prompt.len() < 3000, "{}", prompt.len());
}
