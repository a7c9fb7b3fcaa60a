//! Questions of which a word is easily dropped: the statement makes use of it, or the confidence tells.

use super::fixture;

/// Below this an answer counts as unsure.
const SURE: f64 = 0.8;

fn assert_reads(questions: &[&str], sql: &str) {
    let read = |question: &&str| (question.to_string(), fixture::best(question, &fixture::shop()).0);
    let wrong: Vec<(String, String)> = questions.iter().map(read).filter(|(_, read)| read != sql).collect();
    assert!(wrong.is_empty(), "not {sql}: {wrong:#?}");
}

fn assert_unsure(questions: &[&str]) {
    let read = |question: &&str| (question.to_string(), fixture::best(question, &fixture::shop()));
    let sure: Vec<_> = questions.iter().map(read).filter(|(_, (_, confidence))| *confidence >= SURE).collect();
    assert!(sure.is_empty(), "{sure:#?}");
}

#[test]
fn groups_that_fulfil_a_condition_are_counted() {
    assert_reads(
        &["How many products have more than 3 reviews?", "How many products have been reviewed more than 3 times?"],
        "SELECT COUNT(*) FROM product WHERE id IN (SELECT product.id FROM product JOIN review ON review.product_id = product.id GROUP BY product.id HAVING COUNT(*) > 3)",
    );
}

const ADA: &str = "(SELECT manager_id FROM employee WHERE name = 'Ada Kern')";

#[test]
fn the_manager_of_somebody_is_found_by_the_reference() {
    assert_reads(
        &[
            "who is the manager of Ada Kern",
            "Who is Ada Kern's manager?",
            "Who manages Ada Kern?",
            "What is the name of the manager of Ada Kern?",
            "To whom does Ada Kern report?",
            "Who does Ada Kern report to?",
            "Ada Kern's manager",
        ],
        &format!("SELECT name FROM employee WHERE id IN {ADA}"),
    );
    assert_reads(
        &["What is the salary of the manager of Ada Kern?"],
        &format!("SELECT salary FROM employee WHERE id IN {ADA}"),
    );
}

#[test]
fn those_whom_somebody_manages_are_found_by_the_reference() {
    let reports = "WHERE manager_id IN (SELECT id FROM employee WHERE name = 'Ada Kern')";
    assert_reads(
        &[
            "how many employees report to Ada Kern",
            "How many employees does Ada Kern manage?",
            "How many employees are managed by Ada Kern?",
            "number of employees who report to Ada Kern",
            "How many employees have Ada Kern as their manager?",
            "How many employees have the manager Ada Kern?",
        ],
        &format!("SELECT COUNT(*) FROM employee {reports}"),
    );
    assert_reads(
        &[
            "Who reports to Ada Kern?",
            "Which employees report to Ada Kern?",
            "employees reporting to Ada Kern",
            "employees whose manager is Ada Kern",
            "Whom does Ada Kern manage?",
        ],
        &format!("SELECT name FROM employee {reports}"),
    );
    assert_reads(
        &["How many employees report to the Sales Manager?"],
        &format!("SELECT COUNT(*) FROM employee {}", reports.replace("name = 'Ada Kern'", "title = 'Sales Manager'")),
    );
    assert_reads(
        &["Which employees report to Ada Kern or Ben Roth?"],
        &format!(
            "SELECT name FROM employee {}",
            reports.replace("name = 'Ada Kern'", "(name = 'Ada Kern' OR name = 'Ben Roth')")
        ),
    );
    assert_reads(
        &["Which employees do not report to Ada Kern?"],
        &format!("SELECT name FROM employee {}", reports.replace(" IN ", " NOT IN ")),
    );
}

#[test]
fn a_reference_to_nobody_is_unsure() {
    assert_unsure(&[
        "Who is the manager of Bob?",
        "How many employees report to Bob?",
        "How many products report to Kettle?",
        "employees and their managers",
        "Which manager has the most employees?",
        "number of employees per manager",
        "Who is the manager of the manager of Ada Kern?",
        "Which employees earn more than their manager?",
    ]);
}
