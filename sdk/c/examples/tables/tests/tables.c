#include "fakes.h"

int main(void) {
  syrch_fake_reset();
  syrch_problem_t problem = {.question = syrch_text("Which CUSTOMERS have orders?")};
  syrch_catalog_t catalog = {0};
  const char *names[] = {"orders", "products", "Customers"};
  for (size_t i = 0; i < 3; i++) syrch_push(&catalog.tables, (syrch_table_t){.name = syrch_text(names[i])});
  syrch_first_plan_t in = {.problem = &problem, .catalog = &catalog};
  syrch_graph_t plain = {0}, split = {0};
  SYRCH_CHECK(syrch_plan(&in, &plain) && plain.tasks.len == 1 && !plain.tasks.ptr[0].tolerant);
  SYRCH_CHECK_TEXT(plain.answer, "A");
  syrch_fake_settings("{\"per_table\": true}");
  SYRCH_CHECK(syrch_plan(&in, &split) && split.tasks.len == 3);
  SYRCH_CHECK_TEXT(syrch_at(&split.tasks, 0)->text, "Which CUSTOMERS have orders? (table orders)");
  SYRCH_CHECK_TEXT(syrch_at(&split.tasks, 1)->text, "Which CUSTOMERS have orders? (table Customers)");
  SYRCH_CHECK(syrch_at(&split.tasks, 2)->tolerant);
  SYRCH_CHECK_TEXT(*syrch_at(&syrch_at(&split.tasks, 2)->depends_on, 1), "T2");
  syrch_reset();
  return syrch_failed != 0;
}
