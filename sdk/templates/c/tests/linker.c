#include "fakes.h"
#include "plugin.h"

static void named_tables_are_selected(void) {
  syrch_problem_t problem = {.question = syrch_text("How many Orders?")};
  syrch_catalog_t catalog = {.database = syrch_text("shop")};
  syrch_push(&catalog.tables, (syrch_table_t){.name = syrch_text("customers")});
  syrch_push(&catalog.tables, (syrch_table_t){.name = syrch_text("orders")});
  syrch_link_t in = {.problem = &problem, .catalog = &catalog};
  syrch_linked_t out = {0};
  SYRCH_CHECK(syrch_link(&in, &out) && out.tables.len == 1);
  SYRCH_CHECK_TEXT(syrch_at(&out.tables, 0)->table, "orders");
}

int main(void) {
  syrch_fake_reset();
  named_tables_are_selected();
  syrch_reset();
  return syrch_failed != 0;
}
