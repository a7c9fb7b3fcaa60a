// The rules of each SQL dialect for prompts, and names in SQL. The texts are those of the Rust SDK.

#include "syrch.h"

#include <string.h>

static const char SQLITE[] =
    "- Names in double quotes, texts in single quotes; a quote inside is doubled.\n"
    "- Dates are texts such as '2024-05-31': date(d, '-7 days'), strftime('%Y-%m', d), CAST(strftime('%Y', d) AS INTEGER); days between: julianday(a) - julianday(b). There is no EXTRACT, INTERVAL or date_trunc.\n"
    "- Texts: a || b, substr, instr, group_concat(x, ', '). LIKE ignores the case of letters, = does not; there is no ILIKE.\n"
    "- / between integers drops the fraction: write 1.0 * a / b.\n"
    "- Booleans are 0 and 1. NULL sorts as the least value. Limits: LIMIT n OFFSET m.\n";

static const char POSTGRES[] =
    "- Names with capitals or odd characters in double quotes, since others are folded to lower case; texts in single quotes, a quote inside is doubled.\n"
    "- Dates: d - INTERVAL '7 days', date_trunc('month', d), EXTRACT(YEAR FROM d), to_char(d, 'YYYY-MM'); a date minus a date is a number of days. There is no strftime, datediff or julianday.\n"
    "- Texts: a || b, substring(x FROM 1 FOR 3), position('a' IN x), string_agg(x, ', '). ILIKE ignores the case of letters, LIKE and = do not.\n"
    "- / between integers drops the fraction: write a::numeric / b. ROUND(x, 2) needs a numeric.\n"
    "- A text is not compared with a number, nor a boolean with 0 or 1: cast, write TRUE and FALSE.\n"
    "- All that is selected beside aggregates stands in GROUP BY. NULL sorts as the greatest value: write DESC NULLS LAST. Limits: LIMIT n OFFSET m.\n";

static const char DUCKDB[] =
    "- Names in double quotes, texts in single quotes; a quote inside is doubled. Names do not depend on letter case.\n"
    "- Dates: d - INTERVAL 7 DAY, date_trunc('month', d), EXTRACT(YEAR FROM d), strftime(d, '%Y-%m'); days from a to b: date_diff('day', a, b). There is no julianday or to_char. A text is no date until it is cast: CAST(x AS DATE).\n"
    "- Texts: a || b, substr, instr, string_agg(x, ', '). ILIKE ignores the case of letters, LIKE and = do not.\n"
    "- / gives a fraction, // drops it. A text column is not compared with a number or added up: TRY_CAST(x AS DOUBLE) gives NULL where it is none.\n"
    "- Booleans are TRUE and FALSE. All that is selected beside aggregates stands in GROUP BY.\n"
    "- NULL sorts last, ascending and descending. Limits: LIMIT n OFFSET m.\n";

static const char SPARK[] =
    "- Names in `backticks`; texts in single quotes, a quote inside as \\'. Double quotes hold a text, too, not a name.\n"
    "- Dates: d - INTERVAL 7 DAYS, date_add(d, 7), add_months(d, 1), date_trunc('MONTH', d), year(d), date_format(d, 'yyyy-MM'); days: datediff(end, start). There is no strftime, julianday or to_char of dates.\n"
    "- Texts: concat(a, b) or a || b, NULL where one is NULL; substring, instr, array_join(collect_list(x), ', '). ILIKE ignores the case of letters, LIKE and = do not.\n"
    "- / gives a fraction, a div b drops it. TRY_CAST(x AS DOUBLE) gives NULL where a text is no number; CAST fails.\n"
    "- A boolean is not compared with 0 or 1: write TRUE and FALSE. The types are STRING and TIMESTAMP, not TEXT and DATETIME.\n"
    "- All that is selected beside aggregates stands in GROUP BY; after DISTINCT, ORDER BY has only what is selected.\n"
    "- NULL sorts as the least value. Limits: LIMIT n OFFSET m, no FETCH FIRST.\n";

static const char MYSQL[] =
    "- Names in `backticks`, texts in single quotes, a quote inside is doubled.\n"
    "- Dates: d - INTERVAL 7 DAY, YEAR(d), DATE_FORMAT(d, '%Y-%m'); days: DATEDIFF(end, start).\n"
    "- Texts: CONCAT(a, b), since || is OR; SUBSTRING, LOCATE, GROUP_CONCAT(x SEPARATOR ', '). = and LIKE ignore the case of letters by default.\n"
    "- / gives a fraction, DIV drops it. Booleans are 1 and 0. NULL sorts as the least value. Limits: LIMIT n OFFSET m; there is no FULL JOIN.\n";

static const char ANSI[] =
    "- Names in double quotes, texts in single quotes; a quote inside is doubled.\n"
    "- Dates: DATE '2024-05-31', d - INTERVAL '7' DAY, EXTRACT(YEAR FROM d). Texts: a || b, SUBSTRING(x FROM 1 FOR 3), UPPER(a) = UPPER(b).\n"
    "- / between integers may drop the fraction: cast first. Limits: OFFSET m ROWS FETCH FIRST n ROWS ONLY. All that is selected beside aggregates stands in GROUP BY.\n";

// Words that stand unquoted only as keywords in at least one of the dialects.
static const char RESERVED[] =
    " all alter and any as asc between by case cast check collate column constraint create cross current default"
    " delete desc distinct drop else end except exists false fetch for foreign from full grant group having in"
    " index inner insert intersect into is join key left like limit natural not null offset on or order outer over"
    " partition primary range references right row rows select set some table then to transaction trigger true"
    " union unique update user using values view when where window with ";

// The longest name that a database here allows has 255.
#define SHOWN 256u

syrch_string_t syrch_dialect_name(const syrch_dialect_t *dialect) {
  switch (dialect->tag) {
    case SYRCH_DIALECT_SQLITE: return syrch_text("SQLite");
    case SYRCH_DIALECT_POSTGRES: return syrch_text("PostgreSQL");
    case SYRCH_DIALECT_MYSQL: return syrch_text("MySQL");
    case SYRCH_DIALECT_DUCKDB: return syrch_text("DuckDB");
    case SYRCH_DIALECT_DATABRICKS: return syrch_text("Databricks SQL");
    case SYRCH_DIALECT_SPARK: return syrch_text("Spark SQL");
    case SYRCH_DIALECT_ANSI: return syrch_text("standard SQL");
    default: return dialect->val.other;
  }
}

const char *syrch_dialect_rules(const syrch_dialect_t *dialect) {
  switch (dialect->tag) {
    case SYRCH_DIALECT_SQLITE: return SQLITE;
    case SYRCH_DIALECT_POSTGRES: return POSTGRES;
    case SYRCH_DIALECT_MYSQL: return MYSQL;
    case SYRCH_DIALECT_DUCKDB: return DUCKDB;
    case SYRCH_DIALECT_DATABRICKS:
    case SYRCH_DIALECT_SPARK: return SPARK;
    case SYRCH_DIALECT_ANSI: return ANSI;
    default: return "";
  }
}

static bool has_backslashes(const syrch_dialect_t *dialect) {
  return dialect->tag == SYRCH_DIALECT_MYSQL || dialect->tag == SYRCH_DIALECT_DATABRICKS || dialect->tag == SYRCH_DIALECT_SPARK;
}

syrch_string_t syrch_literal(const syrch_dialect_t *dialect, syrch_string_t text) {
  // Spark and Databricks read '' within a text in several ways, by version; all read \'.
  bool escapes_quote = dialect->tag == SYRCH_DIALECT_DATABRICKS || dialect->tag == SYRCH_DIALECT_SPARK;
  syrch_string_t inner = has_backslashes(dialect) ? syrch_replace(text, "\\", "\\\\") : text;
  inner = syrch_replace(inner, "'", escapes_quote ? "\\'" : "''");
  return syrch_concat(syrch_text("'"), inner, syrch_text("'"));
}

syrch_string_t syrch_quote(const syrch_dialect_t *dialect, syrch_string_t name) {
  const char *quote = has_backslashes(dialect) ? "`" : "\"";
  syrch_string_t inner = syrch_replace(name, quote, *quote == '`' ? "``" : "\"\"");
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

static bool is_plain(const syrch_dialect_t *dialect, syrch_string_t name) {
  if (!is_word(name)) return false;
  syrch_string_t lower = syrch_lower(name);
  // PostgreSQL folds unquoted names to lower case.
  if (dialect->tag == SYRCH_DIALECT_POSTGRES && !syrch_equal(lower, name)) return false;
  return !syrch_contains(syrch_text(RESERVED), syrch_concat(syrch_text(" "), lower, syrch_text(" ")));
}

syrch_string_t syrch_quote_if_odd(const syrch_dialect_t *dialect, syrch_string_t name) {
  return is_plain(dialect, name) ? name : syrch_quote(dialect, name);
}

syrch_string_t syrch_shown(const syrch_dialect_t *dialect, syrch_string_t name) {
  bool breaks = false;
  size_t length = 0;
  for (size_t at = 0; at < name.len; length++) {
    uint32_t code;
    at = syrch_next_char(name, at, &code);
    breaks |= syrch_is_control(code) || code == 0x2028 || code == 0x2029;
  }
  return syrch_quote_if_odd(dialect, breaks || length > SHOWN ? syrch_line(name, SHOWN) : name);
}

syrch_string_t syrch_from_name(const syrch_dialect_t *dialect, const syrch_table_t *table) {
  syrch_string_t name = syrch_quote_if_odd(dialect, table->name);
  if (!table->schema_name.is_some) return name;
  return syrch_concat(syrch_quote_if_odd(dialect, table->schema_name.val), syrch_text("."), name);
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
