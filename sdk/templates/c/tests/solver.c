#include "fakes.h"
#include "plugin.h"

static void the_statement_of_the_model_is_the_candidate(void) {
  const syrch_value_t cells[] = {syrch_integer(7)};
  syrch_fake_sql("SELECT count(*) FROM orders", 0.9);
  syrch_fake_answer("SELECT count(*) FROM orders", syrch_fake_column("n", 1, cells));
  syrch_problem_t problem = {.question = syrch_text("How many orders?")};
  syrch_catalog_t catalog = {.database = syrch_text("shop")};
  syrch_task_t task = syrch_task(syrch_text("A"), problem.question);
  syrch_solve_t in = {.problem = &problem, .catalog = &catalog, .task = &task};
  syrch_outcome_t out = {0};
  SYRCH_CHECK(syrch_solve(&in, &out) && out.candidates.len == 1);
  SYRCH_CHECK_TEXT(syrch_at(&out.candidates, 0)->sql, "SELECT count(*) FROM orders");
  SYRCH_CHECK_TEXT(*syrch_at(&syrch_fake.log, 1), "keep A.1: it ran");
}

int main(void) {
  syrch_fake_reset();
  the_statement_of_the_model_is_the_candidate();
  syrch_reset();
  return syrch_failed != 0;
}
