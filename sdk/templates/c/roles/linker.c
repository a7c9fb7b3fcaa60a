// The linker: selects the tables that the question names.

#include "plugin.h"

bool syrch_link(const syrch_link_t *in, syrch_linked_t *out) {
  syrch_string_t question = syrch_fold(in->problem->question);
  // Without a table the catalog stays as it is.
  for (size_t i = 0; i < in->catalog->tables.len && out->tables.len < syrch_settings.most; i++) {
    const syrch_table_t *table = &in->catalog->tables.ptr[i];
    if (!syrch_contains(question, syrch_fold(table->name))) continue;
    syrch_relevant_t relevant = {
        .table = syrch_table_name(in->catalog, table),
        .columns = {0},  // all
        .score = 1,
        .reason = syrch_text("the question names it"),
    };
    syrch_push(&out->tables, relevant);
  }
  return true;
}
