#include "fakes.h"
#include "plugin.h"

static void the_question_comes_last(void) {
  syrch_problem_t problem = {.question = syrch_text("How many orders?")};
  syrch_catalog_t catalog = {.database = syrch_text("shop")};
  syrch_push(&catalog.tables, (syrch_table_t){.name = syrch_text("orders")});
  syrch_first_plan_t in = {.problem = &problem, .catalog = &catalog};
  syrch_graph_t out = {0};
  SYRCH_CHECK(syrch_plan(&in, &out) && out.tasks.len == 2);
  SYRCH_CHECK_TEXT(syrch_at(&out.tasks, 0)->text, "How many orders? (table orders)");
  SYRCH_CHECK_TEXT(*syrch_at(&syrch_at(&out.tasks, 1)->depends_on, 0), "T1");
  SYRCH_CHECK_TEXT(out.answer, "A");
}

int main(void) {
  syrch_fake_reset();
  the_question_comes_last();
  syrch_reset();
  return syrch_failed != 0;
}
