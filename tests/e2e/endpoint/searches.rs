//! Whole searches: plan, parallel tasks, repair, join, answer; and what the document reports of
//! them.

use serde_json::{Value, json};
use syrch_kit::{MockEndpoint, Reply, Script, Usage};

use super::{
    PLAN, REPAIR, Said, ask, candidates, for_task, plan, rows_alone, search, subtask, whole,
};
use crate::shop;

const FRENCH: &str = "the customers from France";
const WORTH: &str = "the worth of each order";
const SPENT: &str = "what each of them spent";
const GOOD_WORTH: &str = "SELECT o.customer_id, o.quantity * p.price AS worth FROM orders o \
                          JOIN products p ON p.id = o.product_id";

/// A reply with a usage that is easy to add up.
fn sql(statement: &str, confidence: f64) -> Reply {
    Reply::sql(statement, confidence).usage(Usage::Tokens(1_000, 40))
}

/// Two independent tasks, of which one needs two repairs, and a third that stands on both.
fn diamond() -> Script {
    let tasks =
        [subtask("A", FRENCH, &[]), subtask("B", WORTH, &[]), subtask("C", SPENT, &["A", "B"])];
    let french = for_task(FRENCH);
    let worth = for_task(WORTH);
    let spent = for_task(SPENT);
    Script::new()
        .once([PLAN], plan(&tasks).usage(Usage::Tokens(2_000, 300)))
        .on(
            [&french],
            sql("SELECT id, name FROM customers WHERE country = 'France'", 0.95).delay_ms(500),
        )
        .once(
            [&worth],
            sql("SELECT customer_id, quantity * cost AS worth FROM orders", 0.9).delay_ms(500),
        )
        .once(
            [&worth],
            sql("SELECT customer_id, quantity * price AS worth FROM orders, prodcts", 0.9),
        )
        .once([&worth], sql(GOOD_WORTH, 0.95))
        .on(
            [&spent],
            sql(
                "SELECT a.name, SUM(b.worth) AS total FROM task_A a \
                 JOIN task_B b ON b.customer_id = a.id GROUP BY a.name ORDER BY total DESC",
                0.95,
            ),
        )
}

fn search_diamond() -> (MockEndpoint, tempfile::TempDir, Said) {
    let folder = syrch_kit::scratch();
    let endpoint = MockEndpoint::start(diamond());
    let said =
        ask(&endpoint, &shop(folder.path()), "How much did each customer from France spend?", &[]);
    (endpoint, folder, said)
}

#[test]
fn a_plan_is_solved_in_parallel_repaired_and_answered() {
    let (endpoint, folder, said) = search_diamond();
    let document = said.document(0);
    assert_eq!(document["schema"], "syrch.answer/1");
    assert_eq!(document["answer"]["columns"], json!(["name", "total"]));
    assert_eq!(document["answer"]["rows"], json!([["Ada", 190.0], ["Cleo", 20.0]]));
    assert_eq!(document["answer"]["row_count"], 2);
    assert_eq!(document["clarify"], Value::Null);

    // One statement with the tasks in it, which needs nothing beside the database.
    let statement = document["sql"].as_str().unwrap();
    assert!(
        statement.starts_with("WITH")
            && statement.contains("task_A")
            && statement.contains("task_B"),
        "{statement}"
    );
    assert_eq!(
        rows_alone(&folder.path().join("shop.sqlite"), &document["sql"]),
        document["answer"]["rows"]
    );

    let prompts: Vec<String> =
        endpoint.requests().iter().map(syrch_kit::Recorded::prompt).collect();
    assert_eq!(prompts.len(), 6, "{prompts:#?}");
    assert!(prompts[0].contains(PLAN));
    assert!(prompts[1..3].iter().any(|prompt| prompt.contains(&for_task(FRENCH))));
    assert!(prompts[1..3].iter().any(|prompt| prompt.contains(&for_task(WORTH))));
    assert!(prompts[5].contains(&for_task(SPENT)), "the third task starts after both others");
    assert!(endpoint.peak() >= 2, "the independent tasks did not overlap");
}

#[test]
fn a_repair_carries_all_earlier_feedback_and_a_dependent_sees_its_parents() {
    let (endpoint, _folder, said) = search_diamond();
    said.document(0);
    let prompts: Vec<String> =
        endpoint.requests().iter().map(syrch_kit::Recorded::prompt).collect();
    let repairs: Vec<&String> = prompts.iter().filter(|prompt| prompt.contains(REPAIR)).collect();
    assert_eq!(repairs.len(), 2);
    assert!(
        repairs[0].contains("quantity * cost") && repairs[0].contains("`cost`"),
        "{}",
        repairs[0]
    );
    for reported in
        ["quantity * cost", "`cost`", "FROM orders, prodcts", "`prodcts`", "near: products"]
    {
        assert!(
            repairs[1].contains(reported),
            "the second repair does not say `{reported}`:\n{}",
            repairs[1]
        );
    }
    let last = prompts.last().unwrap();
    for reported in ["task_A", "task_B", "customer_id", "worth", "2 rows", "4 rows", "Ada"] {
        assert!(
            last.contains(reported),
            "the dependent's prompt does not say `{reported}`:\n{last}"
        );
    }
}

#[test]
fn the_document_tells_every_candidate_and_what_it_cost() {
    let (endpoint, _folder, said) = search_diamond();
    let document = said.document(0);
    let mut known = candidates(&document);
    known.sort();
    let short: Vec<(&str, &str)> =
        known.iter().map(|(id, status, _)| (id.as_str(), status.as_str())).collect();
    let expected = [
        ("A.1", "kept"),
        ("B.1", "dropped"),
        ("B.2", "dropped"),
        ("B.3", "kept"),
        ("C.1", "answer"),
    ];
    assert_eq!(short, expected);
    assert!(known[1].2.contains("cost") && known[2].2.contains("prodcts"), "{known:?}");
    assert!(
        known.iter().all(|(_, _, reason)| !reason.is_empty() && reason != "proposed and not used"),
        "{known:?}"
    );
    for candidate in document["candidates"].as_array().unwrap() {
        let has_result = candidate["status"] != "dropped";
        assert_eq!(candidate["cluster"].is_number(), has_result, "{candidate}");
        assert_eq!(candidate["confidence"].is_number(), has_result, "{candidate}");
    }
    // The third attempt of B lost the default shares for two schema errors and two retries, and C
    // none.
    let of = |id: &str| {
        let all = document["candidates"].as_array().unwrap();
        all.iter().find(|known| known["id"] == id).unwrap()["confidence"].as_f64().unwrap()
    };
    assert!(
        (of("C.1") - 0.95).abs() < 1e-9
            && (of("B.3") - 0.95 * 0.95 * (1.0 - 0.05 * 2.0 / 3.0)).abs() < 1e-9
    );
    assert_eq!(document["confidence"]["raw"], 0.95);
    let calibrated = document["confidence"]["calibrated"].as_f64().unwrap();
    assert!(calibrated > 0.9 && calibrated <= 0.95, "{calibrated}");

    let cost = &document["cost"];
    assert_eq!(cost["calls"], endpoint.count());
    assert_eq!(
        cost["by_purpose"]["plan"],
        json!({"calls": 1, "cached": 0, "input_tokens": 2_000, "output_tokens": 300})
    );
    assert_eq!(
        cost["by_purpose"]["generate"],
        json!({"calls": 3, "cached": 0, "input_tokens": 3_000, "output_tokens": 120})
    );
    assert_eq!(
        cost["by_purpose"]["repair"],
        json!({"calls": 2, "cached": 0, "input_tokens": 2_000, "output_tokens": 80})
    );
    assert_eq!((&cost["input_tokens"], &cost["output_tokens"]), (&json!(7_000), &json!(500)));
    assert_eq!(cost["usd"], Value::Null);
    let roles: Vec<&str> = document["plugins"]
        .as_array()
        .unwrap()
        .iter()
        .map(|plugin| plugin["role"].as_str().unwrap())
        .collect();
    assert_eq!(
        roles,
        ["linker", "planner", "solver", "calibrator", "reward", "clarifier", "aggregator"]
    );
    let basis = document["answer"]["basis"].to_string();
    for step in [FRENCH, WORTH, SPENT] {
        assert!(basis.contains(step), "the basis does not mention `{step}`: {basis}");
    }
}

/// Two loose ends with a join key, joined in that way.
fn search_with_join(how: &str) -> (tempfile::TempDir, Value) {
    let mut orders = subtask("B", "how often each customer ordered", &[]);
    orders["join_keys"] = json!([{
        "left": "A", "left_col": "id", "right": "B", "right_col": "customer_id", "how": how
    }]);
    let endpoint = MockEndpoint::start(
        Script::new()
            .on([PLAN], plan(&[subtask("A", "all customers", &[]), orders]))
            .on([&for_task("all customers")], Reply::sql("SELECT id, name FROM customers", 0.9))
            .on(
                [&for_task("how often each customer ordered")],
                Reply::sql(
                    "SELECT customer_id, COUNT(*) AS n FROM orders GROUP BY customer_id",
                    0.95,
                ),
            ),
    );
    let folder = syrch_kit::scratch();
    let document =
        ask(&endpoint, &shop(folder.path()), "How often did each customer order?", &[]).document(0);
    assert_eq!(endpoint.count(), 3, "a join needs no model");
    (folder, document)
}

#[test]
fn loose_ends_with_join_keys_are_joined() {
    for (how, rows) in [
        ("inner", json!([[1, "Ada", 1, 2], [2, "Ben", 2, 1], [3, "Cleo", 3, 1]])),
        (
            "left",
            json!([[1, "Ada", 1, 2], [2, "Ben", 2, 1], [3, "Cleo", 3, 1], [4, "Dora", null, null]]),
        ),
    ] {
        let (folder, document) = search_with_join(how);
        assert_eq!(
            document["answer"]["columns"],
            json!(["id", "name", "customer_id", "n"]),
            "{how}"
        );
        assert_eq!(document["answer"]["rows"], rows, "{how}");
        assert_eq!(rows_alone(&folder.path().join("shop.sqlite"), &document["sql"]), rows, "{how}");
        assert!(
            document["answer"]["basis"].to_string().contains("joined"),
            "{}",
            document["answer"]["basis"]
        );
        let used = candidates(&document).iter().filter(|(_, status, _)| status == "kept").count();
        assert_eq!(used, 2, "both results are in the answer: {:?}", document["candidates"]);
    }
}

#[test]
fn join_keys_that_name_no_column_leave_the_most_trusted_result() {
    let mut orders = subtask("B", "the orders", &[]);
    orders["join_keys"] =
        json!([{"left": "A", "left_col": "nothing", "right": "B", "right_col": "customer_id"}]);
    let endpoint = MockEndpoint::start(
        Script::new()
            .on([PLAN], plan(&[subtask("A", "the customers", &[]), orders]))
            .on([&for_task("the customers")], Reply::sql("SELECT id FROM customers", 0.9))
            .on([&for_task("the orders")], Reply::sql("SELECT COUNT(*) AS n FROM orders", 0.95)),
    );
    let folder = syrch_kit::scratch();
    let document =
        ask(&endpoint, &shop(folder.path()), "How many orders are there?", &[]).document(0);
    assert_eq!(document["answer"]["rows"], json!([[4]]));
    assert!(
        document["warnings"].to_string().contains("could not be joined"),
        "{}",
        document["warnings"]
    );
}

/// A plan that is not usable is repaired once, with what is wrong; a subtask that is not atomic is
/// planned itself.
#[test]
fn plans_are_repaired_and_divided() {
    let circle = plan(&[subtask("A", "one", &["B"]), subtask("B", "two", &["A"])]);
    let mut open = subtask("A", "everything about orders", &[]);
    open["is_atomic"] = json!(false);
    let parts =
        [subtask("x", "the orders of Ada", &[]), subtask("y", "how many these are", &["x"])];
    let endpoint = MockEndpoint::start(
        Script::new()
            .on([PLAN, "Divide this subtask of it"], plan(&parts))
            .on(
                [PLAN, "cannot be used: these subtasks depend on each other in a circle: A, B"],
                plan(&[open]),
            )
            .on([PLAN], circle)
            .on(
                [&for_task("the orders of Ada")],
                Reply::sql("SELECT id FROM orders WHERE customer_id = 1", 0.95),
            )
            .on(
                [&for_task("how many these are")],
                Reply::sql("SELECT COUNT(*) AS n FROM task_A_x", 0.95),
            ),
    );
    let folder = syrch_kit::scratch();
    let document =
        ask(&endpoint, &shop(folder.path()), "How often did Ada order?", &[]).document(0);
    assert_eq!(document["answer"]["rows"], json!([[2]]), "{document:#}");
    assert_eq!(document["cost"]["by_purpose"]["plan"]["calls"], 3);
    assert_eq!(endpoint.count(), 5);
}

/// A plan whose answer is lost is followed by one try of the whole question.
#[test]
fn a_plan_that_comes_to_nothing_falls_back_to_the_whole_question() {
    let endpoint = MockEndpoint::start(
        Script::new()
            .on([PLAN], plan(&[subtask("A", "the one", &[]), subtask("B", "the other", &["A"])]))
            .on([&for_task("the one")], Reply::text("I cannot say."))
            .on(
                ["Question: How many products"],
                Reply::sql("SELECT COUNT(*) AS n FROM products", 0.95),
            ),
    );
    let folder = syrch_kit::scratch();
    let document =
        ask(&endpoint, &shop(folder.path()), "How many products are there?", &[]).document(0);
    assert_eq!(document["answer"]["rows"], json!([[3]]));
    let warnings = document["warnings"].to_string();
    assert!(
        warnings.contains("task A failed") && warnings.contains("task B was skipped"),
        "{warnings}"
    );
}

#[test]
fn people_get_a_sentence_a_table_and_a_footer() {
    let endpoint = MockEndpoint::start(
        Script::new()
            .on([PLAN], whole())
            .on([""], sql("SELECT COUNT(*) AS n FROM customers", 0.95)),
    );
    let folder = syrch_kit::scratch();
    let mut command = search(&endpoint.url(), &shop(folder.path()));
    let said =
        Said::from_output(command.args(["-q", "How many customers are there?"]).output().unwrap());
    assert_eq!(said.code, 0, "{}", said.all());
    assert!(
        said.stdout.starts_with("The answer is 4.") && said.stdout.contains("SELECT COUNT(*)"),
        "{}",
        said.stdout
    );
    assert!(
        said.stderr.contains("(claimed 0.95)") && said.stderr.contains("2 model calls"),
        "{}",
        said.stderr
    );
    assert!(said.stderr.contains("cost unknown"), "{}", said.stderr);
}

/// Names in double quotes that no column has: one that is a text is read as one, any other is
/// repaired.
#[test]
fn a_mistyped_name_in_double_quotes_is_repaired_and_a_text_in_them_is_one() {
    let folder = tempfile::tempdir().unwrap();
    let database = shop(folder.path());
    let endpoint = MockEndpoint::start(
        Script::new()
            .on([REPAIR], sql("SELECT COUNT(*) FROM customers WHERE country = \"France\"", 0.95))
            .on(
                ["How many"],
                sql("SELECT COUNT(*) FROM customers WHERE \"contry\" = 'France'", 0.95),
            ),
    );
    let flags = ["--strategy", "retry3"];
    let document =
        ask(&endpoint, &database, "How many customers are from France?", &flags).document(0);
    assert_eq!(document["sql"], "SELECT COUNT(*) FROM customers WHERE country = 'France'");
    assert_eq!(rows_alone(&database, &document["sql"]), json!([[2]]));
    let repair = &endpoint.requests()[1].prompt();
    assert!(repair.contains("no such column") && repair.contains("country"), "{repair}");
}
