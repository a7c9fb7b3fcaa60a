// Names and texts in SQL: when names need quotes, and which.

#include "syrch.h"

#include <string.h>

// Words that stand unquoted only as keywords in at least one of the dialects.
static const char RESERVED[] =
    " all alter and any as asc between by case cast check collate column constraint create cross current default"
    " delete desc distinct drop else end except exists false fetch for foreign from full grant group having in"
    " index inner insert intersect into is join key left like limit natural not null offset on or order outer over"
    " partition primary range references right row rows select set some table then to transaction trigger true"
    " union unique update user using values view when where window with ";

// The longest name that a database here allows has 255.
#define SHOWN 256u

syrch_string_t syrch_literal(const syrch_syntax_t *syntax, syrch_string_t text) {
  syrch_string_t inner = syntax->backslash_escapes ? syrch_replace(text, "\\", "\\\\") : text;
  inner = syrch_replace(inner, "'", syntax->backslash_escapes ? "\\'" : "''");
  return syrch_concat(syrch_text("'"), inner, syrch_text("'"));
}

syrch_string_t syrch_quote(const syrch_syntax_t *syntax, syrch_string_t name) {
  const char *quote = syntax->backticks ? "`" : "\"";
  syrch_string_t inner = syrch_replace(name, quote, syntax->backticks ? "``" : "\"\"");
  return syrch_concat(syrch_text(quote), inner, syrch_text(quote));
}

static bool is_letter(uint8_t c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

static bool is_word(syrch_string_t name) {
  if (name.len == 0 || !(is_letter(name.ptr[0]) || name.ptr[0] == '_')) return false;
  for (size_t i = 0; i < name.len; i++) {
    uint8_t c = name.ptr[i];
    if (!is_letter(c) && c != '_' && !(c >= '0' && c <= '9')) return false;
  }
  return true;
}

static bool is_plain(const syrch_syntax_t *syntax, syrch_string_t name) {
  if (!is_word(name)) return false;
  syrch_string_t lower = syrch_lower(name);
  if (syntax->folds_names && !syrch_equal(lower, name)) return false;
  return !syrch_contains(syrch_text(RESERVED), syrch_concat(syrch_text(" "), lower, syrch_text(" ")));
}

syrch_string_t syrch_quote_if_odd(const syrch_syntax_t *syntax, syrch_string_t name) {
  return is_plain(syntax, name) ? name : syrch_quote(syntax, name);
}

syrch_string_t syrch_shown(const syrch_syntax_t *syntax, syrch_string_t name) {
  bool breaks = false;
  size_t length = 0;
  for (size_t at = 0; at < name.len; length++) {
    uint32_t code;
    at = syrch_next_char(name, at, &code);
    breaks |= syrch_is_control(code) || code == 0x2028 || code == 0x2029;
  }
  return syrch_quote_if_odd(syntax, breaks || length > SHOWN ? syrch_line(name, SHOWN) : name);
}

syrch_string_t syrch_from_name(const syrch_syntax_t *syntax, const syrch_table_t *table) {
  syrch_string_t name = syrch_quote_if_odd(syntax, table->name);
  if (!table->schema_name.is_some) return name;
  return syrch_concat(syrch_quote_if_odd(syntax, table->schema_name.val), syrch_text("."), name);
}

static bool has_extra(const syrch_table_t *table, const char *key, const char *value) {
  for (size_t i = 0; i < table->extra.len; i++) {
    if (syrch_is(table->extra.ptr[i].f0, key) && syrch_is(table->extra.ptr[i].f1, value)) return true;
  }
  return false;
}

bool syrch_is_view(const syrch_table_t *table) { return has_extra(table, "kind", "\"view\""); }

static bool is_same_word(syrch_string_t a, syrch_string_t b) { return syrch_equal(syrch_lower(a), syrch_lower(b)); }

// How well a name fits this table, 0 being best; -1 if it is the name of another.
static int rank(const syrch_table_t *table, syrch_string_t name) {
  syrch_string_t schema = table->schema_name.val;
  if (table->schema_name.is_some && name.len > schema.len && name.ptr[schema.len] == '.') {
    syrch_string_t start = syrch_slice(name, 0, schema.len), rest = syrch_slice(name, schema.len + 1, name.len);
    if (is_same_word(start, schema) && is_same_word(rest, table->name)) {
      return syrch_equal(start, schema) && syrch_equal(rest, table->name) ? 0 : 1;
    }
  }
  if (!is_same_word(name, table->name)) return -1;
  return 2 + (has_extra(table, "needs_schema", "true") ? 2 : 0) + (syrch_equal(name, table->name) ? 0 : 1);
}

const syrch_table_t *syrch_find_table(const syrch_catalog_t *catalog, syrch_string_t name) {
  const syrch_table_t *best = NULL;
  int best_rank = -1;
  for (size_t i = 0; i < catalog->tables.len; i++) {
    int own = rank(&catalog->tables.ptr[i], name);
    if (own < 0 || (best != NULL && own >= best_rank)) continue;
    best = &catalog->tables.ptr[i];
    best_rank = own;
  }
  return best;
}

syrch_string_t syrch_table_name(const syrch_catalog_t *catalog, const syrch_table_t *table) {
  size_t same = 0;
  for (size_t i = 0; i < catalog->tables.len; i++) same += is_same_word(catalog->tables.ptr[i].name, table->name);
  if (!table->schema_name.is_some || (same < 2 && !has_extra(table, "needs_schema", "true"))) return table->name;
  return syrch_concat(table->schema_name.val, syrch_text("."), table->name);
}
