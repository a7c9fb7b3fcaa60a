// Problems, catalogs and rows as prompt text: in the order in which they came, bounded, one fact a line. The bytes are those of the Rust SDK.

#include "syrch.h"

#include <inttypes.h>

#define COMMENT 160u
// The most characters of a note, and bytes of a solved example: a longer example is left out, since a part of a statement is none.
#define NOTE 4000u
// The most hints, and the most bytes of all. One that does not fit is left out whole.
#define MOST 20u
#define HINTS (12u * 1024u)
// The most bytes of all terms. One that does not fit is left out whole.
#define TERMS (8u * 1024u)
// The most characters of a term's definition, and of its values.
#define DEFINITION 400u
#define CELL 60u
#define QUESTION (8u * 1024u)

typedef enum detail { COMMENTS, TYPES, NAMES } detail;

static void put_line(syrch_buffer *out, const char *label, syrch_string_t text) {
  syrch_puts(out, label);
  syrch_put(out, text);
  syrch_puts(out, "\n");
}

// A text of a hit's payload; false if there is none.
static bool payload_text(const syrch_hit_t *hit, const char *key, syrch_string_t *out) {
  return hit->payload.is_some && syrch_json_string(syrch_json_get(syrch_json_read(hit->payload.val, NULL), key), out);
}

bool syrch_example_of(const syrch_hit_t *hit, syrch_example_t *out) {
  syrch_string_t question, sql;
  if (hit->corpus.tag != SYRCH_CORPUS_EXAMPLES || !payload_text(hit, "question", &question) || !payload_text(hit, "sql", &sql)) return false;
  *out = (syrch_example_t){.question = syrch_line(question, NOTE), .sql = syrch_trim(sql)};
  return out->sql.len > 0 && out->question.len + out->sql.len <= NOTE;
}

bool syrch_is_fact(const syrch_hit_t *hit) { return hit->corpus.tag == SYRCH_CORPUS_CELLS && !hit->column.is_some; }

size_t syrch_hit_most(const syrch_hit_t *hit) {
  bool is_told = hit->corpus.tag == SYRCH_CORPUS_NOTES || hit->corpus.tag == SYRCH_CORPUS_EXAMPLES;
  return is_told || syrch_is_fact(hit) ? NOTE : COMMENT;
}

// A hit as prompt text; empty for a solved example that is too long.
static syrch_string_t hint_text(const syrch_hit_t *hit) {
  if (hit->corpus.tag == SYRCH_CORPUS_EXAMPLES && hit->payload.is_some) {
    syrch_example_t example;
    if (!syrch_example_of(hit, &example)) return syrch_text("");
    return syrch_concat(syrch_text("Solved before: "), example.question, syrch_text("\n```sql\n"), example.sql, syrch_text("\n```\n"));
  }
  syrch_string_t text = syrch_text("");
  bool is_some = hit->corpus.tag == SYRCH_CORPUS_NOTES && payload_text(hit, "note", &text);
  if (!is_some && hit->snippet.is_some) text = hit->snippet.val;
  syrch_string_t path = syrch_line(hit->path, COMMENT);
  if (!is_some && !hit->snippet.is_some) return syrch_concat(syrch_text("Hint: "), path, syrch_text("\n"));
  return syrch_concat(syrch_text("Hint: "), path, syrch_text(": "), syrch_line(text, syrch_hit_most(hit)), syrch_text("\n"));
}

syrch_string_t syrch_prompt_hints(syrch_list_hit_t hits) {
  syrch_buffer out = {0};
  size_t left = HINTS;
  for (size_t i = 0; i < hits.len && i < MOST; i++) {
    syrch_string_t hint = hint_text(&hits.ptr[i]);
    if (hint.len > left) continue;
    left -= hint.len;
    syrch_put(&out, hint);
  }
  return syrch_built(&out);
}

static const char METRIC_REQUEST[] =
    "\nThe lines that begin with `Metric` and `Dimension` are definitions. If the question asks for metrics and nothing else, write in "
    "place of the statement a request, whose statement is made by the definitions: a ```json fence with "
    "{\"metrics\": [\"revenue\"], \"by\": [dimensions, or day, week, month, quarter or year], "
    "\"where\": \"country = 'France' AND channel IN ('web', 'shop')\", \"period\": \"2024, 2024-Q1, 2024-03..2024-06, 2024.. or last_month\", "
    "\"order\": \"revenue:desc\", \"limit\": 3, "
    "\"within\": [those of by in each of whose groups limit and share_of_total count], "
    "\"compare\": \"previous_period, same_period_last_year, growth, growth_last_year, share_of_total or running_total\"}, "
    "without the keys that it does not need.";

syrch_string_t syrch_metric_request(const syrch_problem_t *problem) {
  for (size_t i = 0; i < problem->terms.len; i++) {
    const syrch_term_t *term = &problem->terms.ptr[i];
    if (term->mentioned && term->kind.tag == SYRCH_TERM_KIND_METRIC) return syrch_text(METRIC_REQUEST);
  }
  return syrch_text("");
}

static syrch_string_t labels_text(syrch_list_term_label_t labels) {
  syrch_list_string_t texts = {0};
  for (size_t i = 0; i < labels.len; i++) {
    const syrch_term_label_t *label = &labels.ptr[i];
    syrch_string_t words = syrch_join(label->words.ptr, label->words.len, ", ");
    syrch_push(&texts, label->words.len == 0 ? label->value : syrch_concat(label->value, syrch_text(" ("), words, syrch_text(")")));
  }
  return syrch_line(syrch_join(texts.ptr, texts.len, "; "), DEFINITION);
}

static syrch_string_t term_text(const syrch_term_t *term) {
  syrch_buffer out = {0};
  bool is_metric = term->kind.tag == SYRCH_TERM_KIND_METRIC;
  syrch_puts(&out, is_metric ? "Metric " : term->kind.tag == SYRCH_TERM_KIND_DIMENSION ? "Dimension " : "Term ");
  syrch_put(&out, syrch_concat(syrch_line(term->name, COMMENT), syrch_text(": "), syrch_line(term->definition, DEFINITION)));
  if (term->synonyms.len > 0) {
    syrch_string_t synonyms = syrch_line(syrch_join(term->synonyms.ptr, term->synonyms.len, ", "), COMMENT);
    syrch_put(&out, syrch_concat(syrch_text(" (also: "), synonyms, syrch_text(")")));
  }
  if (term->labels.len > 0) syrch_put(&out, syrch_concat(syrch_text(" values: "), labels_text(term->labels)));
  if (term->description.is_some) syrch_put(&out, syrch_concat(syrch_text(" -- "), syrch_line(term->description.val, COMMENT)));
  syrch_puts(&out, "\n");
  return syrch_built(&out);
}

// The terms that fit, as prompt text.
static syrch_string_t terms_text(syrch_list_term_t terms) {
  syrch_buffer out = {0};
  size_t left = TERMS;
  for (size_t i = 0; i < terms.len; i++) {
    syrch_string_t term = term_text(&terms.ptr[i]);
    if (term.len > left) continue;
    left -= term.len;
    syrch_put(&out, term);
  }
  return syrch_built(&out);
}

syrch_string_t syrch_prompt_problem(const syrch_problem_t *problem) {
  syrch_buffer out = {0};
  put_line(&out, "Question: ", syrch_clip(syrch_trim(problem->question), QUESTION));
  if (problem->evidence.is_some) put_line(&out, "Explanation: ", syrch_clip(syrch_trim(problem->evidence.val), QUESTION));
  if (problem->goal.is_some) put_line(&out, "Goal: ", syrch_line(problem->goal.val, 400));
  for (size_t i = 0; i < problem->answers.len; i++) {
    syrch_string_t question = syrch_line(problem->answers.ptr[i].f0, 400), answer = syrch_line(problem->answers.ptr[i].f1, 400);
    put_line(&out, "Clarified: ", syrch_concat(question, syrch_text(" Answer: "), answer));
  }
  syrch_put(&out, terms_text(problem->terms));
  syrch_put(&out, syrch_prompt_hints(problem->hints));
  return syrch_built(&out);
}

// A table's name as it stands in FROM, on one line.
static syrch_string_t shown_table(const syrch_syntax_t *syntax, const syrch_table_t *table) {
  syrch_string_t name = syrch_shown(syntax, table->name);
  if (!table->schema_name.is_some) return name;
  return syrch_concat(syrch_shown(syntax, table->schema_name.val), syrch_text("."), name);
}

static syrch_string_t target(const syrch_catalog_t *catalog, const syrch_foreign_key_t *key) {
  const syrch_table_t *table = syrch_find_table(catalog, key->ref_table);
  return table == NULL ? syrch_shown(&catalog->syntax, key->ref_table) : shown_table(&catalog->syntax, table);
}

static void put_names(syrch_buffer *out, const syrch_syntax_t *syntax, syrch_list_string_t names) {
  for (size_t i = 0; i < names.len; i++) {
    if (i > 0) syrch_puts(out, ", ");
    syrch_put(out, syrch_shown(syntax, names.ptr[i]));
  }
}

static void put_comment(syrch_buffer *out, syrch_option_string_t comment, detail how) {
  if (!comment.is_some || how != COMMENTS || syrch_trim(comment.val).len == 0) return;
  syrch_puts(out, " -- ");
  syrch_put(out, syrch_line(comment.val, COMMENT));
}

static bool has_name(syrch_list_string_t names, syrch_string_t name) {
  for (size_t i = 0; i < names.len; i++) {
    if (syrch_equal(names.ptr[i], name)) return true;
  }
  return false;
}

static void put_column(syrch_buffer *out, const syrch_catalog_t *catalog, const syrch_table_t *table, const syrch_column_t *column, detail how) {
  const syrch_syntax_t *syntax = &catalog->syntax;
  syrch_puts(out, "  ");
  syrch_put(out, syrch_shown(syntax, column->name));
  if (column->sql_type.len > 0) {
    syrch_puts(out, " ");
    syrch_put(out, syrch_line(column->sql_type, 40));
  }
  if (has_name(table->primary_key, column->name)) syrch_puts(out, " primary key");
  for (size_t i = 0; i < table->foreign_keys.len; i++) {
    const syrch_foreign_key_t *key = &table->foreign_keys.ptr[i];
    if (key->columns.len != 1 || !syrch_equal(key->columns.ptr[0], column->name)) continue;
    syrch_puts(out, " -> ");
    syrch_put(out, target(catalog, key));
    if (key->ref_columns.len > 0) {
      syrch_puts(out, ".");
      syrch_put(out, syrch_shown(syntax, key->ref_columns.ptr[0]));
    }
    break;
  }
  put_comment(out, column->comment, how);
  syrch_puts(out, "\n");
}

static void put_table(syrch_buffer *out, const syrch_catalog_t *catalog, const syrch_table_t *table, detail how) {
  const syrch_syntax_t *syntax = &catalog->syntax;
  syrch_puts(out, syrch_is_view(table) ? "View " : "Table ");
  syrch_put(out, shown_table(syntax, table));
  if (how == NAMES) {
    syrch_list_string_t names = {0};
    for (size_t i = 0; i < table->columns.len; i++) syrch_push(&names, table->columns.ptr[i].name);
    syrch_puts(out, " (");
    put_names(out, syntax, names);
    syrch_puts(out, ")\n");
    return;
  }
  if (table->row_estimate.is_some) {
    syrch_puts(out, " (about ");
    syrch_put(out, syrch_count(table->row_estimate.val, "row"));
    syrch_puts(out, ")");
  }
  put_comment(out, table->comment, how);
  syrch_puts(out, "\n");
  for (size_t i = 0; i < table->columns.len; i++) put_column(out, catalog, table, &table->columns.ptr[i], how);
  for (size_t i = 0; i < table->foreign_keys.len; i++) {
    const syrch_foreign_key_t *key = &table->foreign_keys.ptr[i];
    if (key->columns.len < 2) continue;
    syrch_puts(out, "  (");
    put_names(out, syntax, key->columns);
    syrch_puts(out, ") -> ");
    syrch_put(out, target(catalog, key));
    syrch_puts(out, " (");
    put_names(out, syntax, key->ref_columns);
    syrch_puts(out, ")\n");
  }
}

syrch_string_t syrch_prompt_catalog(const syrch_catalog_t *catalog, size_t bytes) {
  for (detail how = COMMENTS; how <= NAMES; how++) {
    syrch_buffer out = {0};
    for (size_t i = 0; i < catalog->tables.len; i++) put_table(&out, catalog, &catalog->tables.ptr[i], how);
    if (out.len <= bytes) return syrch_built(&out);
  }
  syrch_buffer out = {0};
  for (size_t i = 0; i < catalog->tables.len; i++) {
    syrch_buffer text = {0};
    put_table(&text, catalog, &catalog->tables.ptr[i], NAMES);
    if (out.len + text.len > bytes) {
      syrch_put(&out, syrch_format("(%.*s more not shown)\n", SYRCH_F(syrch_count(catalog->tables.len - i, "table"))));
      break;
    }
    syrch_put(&out, syrch_built(&text));
  }
  return syrch_built(&out);
}

syrch_string_t syrch_prompt_cell(const syrch_value_t *value) {
  switch (value->tag) {
    case SYRCH_VALUE_NULL: return syrch_text("NULL");
    case SYRCH_VALUE_BOOLEAN: return syrch_text(value->val.boolean ? "true" : "false");
    case SYRCH_VALUE_INTEGER: return syrch_format("%" PRId64, value->val.integer);
    case SYRCH_VALUE_REAL: return syrch_decimal(value->val.real);
    case SYRCH_VALUE_BYTES: return syrch_count(value->val.bytes.len, "byte");
    default: return syrch_line(value->val.text, CELL);
  }
}

syrch_string_t syrch_prompt_rows(const syrch_page_t *page) {
  syrch_buffer out = {0};
  for (size_t i = 0; i < page->columns.len; i++) {
    if (i > 0) syrch_puts(&out, " | ");
    syrch_put(&out, syrch_line(page->columns.ptr[i], CELL));
  }
  syrch_puts(&out, "\n");
  for (size_t i = 0; i < page->rows.len; i++) {
    syrch_list_value_t row = page->rows.ptr[i];
    for (size_t at = 0; at < row.len; at++) {
      if (at > 0) syrch_puts(&out, " | ");
      syrch_put(&out, syrch_prompt_cell(&row.ptr[at]));
    }
    syrch_puts(&out, "\n");
  }
  return syrch_built(&out);
}
