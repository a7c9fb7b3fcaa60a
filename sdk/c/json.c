// A reader and a writer of JSON. What is read belongs to the call and refers to nothing else.

#include "syrch.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

typedef struct reader {
  syrch_string_t text;
  size_t at;
  const char *wrong;
} reader;

static bool fail(reader *from, const char *wrong) {
  if (from->wrong == NULL) from->wrong = wrong;
  return false;
}

static int peek(const reader *from) { return from->at < from->text.len ? from->text.ptr[from->at] : -1; }

static void skip_space(reader *from) {
  for (int c = peek(from); c == ' ' || c == '\t' || c == '\n' || c == '\r'; c = peek(from)) from->at++;
}

static bool take(reader *from, const char *word) {
  if (!syrch_starts_with(syrch_slice(from->text, from->at, from->text.len), syrch_text(word))) return false;
  from->at += strlen(word);
  return true;
}

static bool read_hex(reader *from, uint32_t *code) {
  *code = 0;
  for (int i = 0; i < 4; i++) {
    int c = peek(from);
    int digit = c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
    if (digit < 0) return fail(from, "an escape has four hexadecimal digits");
    *code = *code * 16 + (uint32_t)digit;
    from->at++;
  }
  return true;
}

static bool read_escape(reader *from, syrch_buffer *out) {
  static const char names[] = "\"\\/bfnrt", values[] = "\"\\/\b\f\n\r\t";
  int c = peek(from);
  from->at++;
  const char *name = c > 0 ? strchr(names, c) : NULL;
  if (name != NULL) {
    syrch_put_char(out, (uint8_t)values[name - names]);
    return true;
  }
  uint32_t code, low;
  if (c != 'u') return fail(from, "an unknown escape");
  if (!read_hex(from, &code)) return false;
  if (code >= 0xd800 && code < 0xe000) {
    if (code >= 0xdc00 || !take(from, "\\u") || !read_hex(from, &low) || low < 0xdc00 || low >= 0xe000) return fail(from, "half of a character");
    code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
  }
  syrch_put_char(out, code);
  return true;
}

static bool read_string(reader *from, syrch_string_t *out) {
  if (peek(from) != '"') return fail(from, "a string was expected");
  from->at++;
  size_t start = from->at;
  syrch_buffer made = {0};
  for (;;) {
    int c = peek(from);
    if (c < 0) return fail(from, "a string has no end");
    if (c < 0x20) return fail(from, "a control character in a string");
    if (c != '"' && c != '\\') {
      from->at++;
      continue;
    }
    syrch_put(&made, syrch_slice(from->text, start, from->at));
    from->at++;
    if (c == '"') break;
    if (!read_escape(from, &made)) return false;
    start = from->at;
  }
  *out = syrch_built(&made);
  return true;
}

static size_t skip_digits(reader *from) {
  size_t start = from->at;
  while (peek(from) >= '0' && peek(from) <= '9') from->at++;
  return from->at - start;
}

static bool read_number(reader *from, syrch_json *out) {
  size_t start = from->at;
  bool is_whole = true;
  take(from, "-");
  bool zero = peek(from) == '0';
  size_t digits = skip_digits(from);
  if (digits == 0 || (zero && digits > 1)) return fail(from, "a value was expected");
  if (take(from, ".")) {
    is_whole = false;
    if (skip_digits(from) == 0) return fail(from, "a number ends with a point");
  }
  if (take(from, "e") || take(from, "E")) {
    is_whole = false;
    if (!take(from, "+")) take(from, "-");
    if (skip_digits(from) == 0) return fail(from, "a number ends with its exponent's sign");
  }
  out->kind = SYRCH_JSON_NUMBER;
  out->text = syrch_slice(from->text, start, from->at);
  const char *text = syrch_c_string(out->text);
  out->number = strtod(text, NULL);
  if (out->number - out->number != 0) return fail(from, "a number is out of range");
  errno = 0;
  if (is_whole && text[0] != '-') {
    out->whole = strtoull(text, NULL, 10);
    out->is_whole = errno == 0;
  }
  return true;
}

static bool read_value(reader *from, syrch_json *out, int depth);

// Elements until the closing bracket; with keys in an object.
static bool read_elements(reader *from, syrch_json *out, int depth, bool has_keys) {
  char end = has_keys ? '}' : ']';
  struct {
    syrch_json *ptr;
    size_t len;
  } values = {0};
  syrch_list_string_t keys = {0};
  from->at++;
  skip_space(from);
  while (peek(from) != end) {
    if (values.len > 0) {
      if (!take(from, ",")) return fail(from, "a comma or the end was expected");
      skip_space(from);
    }
    if (has_keys) {
      syrch_string_t key;
      if (!read_string(from, &key)) return false;
      skip_space(from);
      if (!take(from, ":")) return fail(from, "a colon was expected");
      syrch_push(&keys, key);
    }
    syrch_json value = {0};
    if (!read_value(from, &value, depth + 1)) return false;
    syrch_push(&values, value);
    skip_space(from);
  }
  from->at++;
  out->kind = has_keys ? SYRCH_JSON_OBJECT : SYRCH_JSON_ARRAY;
  out->items = values.ptr;
  out->len = values.len;
  out->keys = keys.ptr;
  return true;
}

static bool read_value(reader *from, syrch_json *out, int depth) {
  if (depth >= SYRCH_JSON_DEPTH) return fail(from, "it is too deep");
  skip_space(from);
  int c = peek(from);
  if (c == '{' || c == '[') return read_elements(from, out, depth, c == '{');
  if (c == '"') {
    out->kind = SYRCH_JSON_STRING;
    return read_string(from, &out->text);
  }
  out->kind = SYRCH_JSON_BOOLEAN;
  out->boolean = take(from, "true");
  if (out->boolean || take(from, "false")) return true;
  out->kind = SYRCH_JSON_NULL;
  return take(from, "null") || read_number(from, out);
}

const syrch_json *syrch_json_read(syrch_string_t text, syrch_string_t *wrong) {
  reader from = {.text = text};
  syrch_json *value = SYRCH_NEW(syrch_json);
  bool done = read_value(&from, value, 0);
  skip_space(&from);
  if (done && from.at < text.len) done = fail(&from, "something follows the value");
  if (done) return value;
  if (wrong != NULL) *wrong = syrch_format("%s at byte %zu", from.wrong == NULL ? "a value was expected" : from.wrong, from.at);
  return NULL;
}

const syrch_json *syrch_json_get(const syrch_json *object, const char *key) {
  if (object == NULL || object->kind != SYRCH_JSON_OBJECT) return NULL;
  // Of equal keys the last one counts.
  for (size_t i = object->len; i > 0; i--) {
    if (syrch_is(object->keys[i - 1], key)) return &object->items[i - 1];
  }
  return NULL;
}

const syrch_json *syrch_json_at(const syrch_json *array, size_t place) {
  return array != NULL && array->kind == SYRCH_JSON_ARRAY && place < array->len ? &array->items[place] : NULL;
}

size_t syrch_json_length(const syrch_json *value) {
  return value != NULL && (value->kind == SYRCH_JSON_ARRAY || value->kind == SYRCH_JSON_OBJECT) ? value->len : 0;
}

bool syrch_json_string(const syrch_json *value, syrch_string_t *out) {
  if (value == NULL || value->kind != SYRCH_JSON_STRING) return false;
  *out = value->text;
  return true;
}

bool syrch_json_number(const syrch_json *value, double *out) {
  if (value == NULL || value->kind != SYRCH_JSON_NUMBER) return false;
  *out = value->number;
  return true;
}

bool syrch_json_whole(const syrch_json *value, uint64_t *out) {
  if (value == NULL || value->kind != SYRCH_JSON_NUMBER || !value->is_whole) return false;
  *out = value->whole;
  return true;
}

bool syrch_json_boolean(const syrch_json *value, bool *out) {
  if (value == NULL || value->kind != SYRCH_JSON_BOOLEAN) return false;
  *out = value->boolean;
  return true;
}

// What a level of a writer is.
#define BEGUN 1u
#define OBJECT 2u

static void before(syrch_writer *to) {
  bool is_first = to->depth == 0 || (to->levels[to->depth] & BEGUN) == 0;
  if (!to->after_key && !is_first) syrch_puts(&to->text, ",");
  to->after_key = false;
  to->levels[to->depth] |= BEGUN;
}

static void begin(syrch_writer *to, bool is_object) {
  before(to);
  if (to->depth >= SYRCH_JSON_DEPTH) syrch_panic("JSON may have %d levels", SYRCH_JSON_DEPTH);
  to->levels[++to->depth] = is_object ? OBJECT : 0;
  syrch_puts(&to->text, is_object ? "{" : "[");
}

void syrch_write_object(syrch_writer *to) { begin(to, true); }
void syrch_write_array(syrch_writer *to) { begin(to, false); }

void syrch_write_end(syrch_writer *to) {
  if (to->depth == 0) syrch_panic("JSON ends more often than it begins");
  syrch_puts(&to->text, (to->levels[to->depth--] & OBJECT) != 0 ? "}" : "]");
}

static void put_string(syrch_buffer *out, syrch_string_t text) {
  syrch_puts(out, "\"");
  size_t done = 0;
  for (size_t i = 0; i < text.len; i++) {
    uint8_t c = text.ptr[i];
    if (c >= 0x20 && c != '"' && c != '\\') continue;
    syrch_put(out, syrch_slice(text, done, i));
    done = i + 1;
    const char *name = c == '"' ? "\\\"" : c == '\\' ? "\\\\" : c == '\n' ? "\\n" : c == '\r' ? "\\r" : c == '\t' ? "\\t" : c == '\b' ? "\\b" : c == '\f' ? "\\f" : NULL;
    syrch_put(out, name != NULL ? syrch_text(name) : syrch_format("\\u%04x", c));
  }
  syrch_put(out, syrch_slice(text, done, text.len));
  syrch_puts(out, "\"");
}

void syrch_write_key(syrch_writer *to, const char *key) { syrch_write_key_text(to, syrch_text(key)); }

void syrch_write_key_text(syrch_writer *to, syrch_string_t key) {
  before(to);
  put_string(&to->text, key);
  syrch_puts(&to->text, ":");
  to->after_key = true;
}

void syrch_write_string(syrch_writer *to, syrch_string_t text) {
  before(to);
  put_string(&to->text, text);
}

void syrch_write_number(syrch_writer *to, double number) { syrch_write_json(to, syrch_json_decimal(number)); }
void syrch_write_whole(syrch_writer *to, int64_t number) { syrch_write_json(to, syrch_format("%" PRId64, number)); }
void syrch_write_boolean(syrch_writer *to, bool value) { syrch_write_json(to, syrch_text(value ? "true" : "false")); }
void syrch_write_null(syrch_writer *to) { syrch_write_json(to, syrch_text("null")); }

void syrch_write_json(syrch_writer *to, syrch_string_t json) {
  before(to);
  syrch_put(&to->text, json);
}

void syrch_write_value(syrch_writer *to, const syrch_json *value) {
  switch (value->kind) {
    case SYRCH_JSON_NULL: syrch_write_null(to); break;
    case SYRCH_JSON_BOOLEAN: syrch_write_boolean(to, value->boolean); break;
    case SYRCH_JSON_NUMBER: syrch_write_json(to, value->text); break;
    case SYRCH_JSON_STRING: syrch_write_string(to, value->text); break;
    case SYRCH_JSON_ARRAY:
    case SYRCH_JSON_OBJECT:
      begin(to, value->kind == SYRCH_JSON_OBJECT);
      for (size_t i = 0; i < value->len; i++) {
        if (value->kind == SYRCH_JSON_OBJECT) syrch_write_key_text(to, value->keys[i]);
        syrch_write_value(to, &value->items[i]);
      }
      syrch_write_end(to);
  }
}

syrch_string_t syrch_json_text(const syrch_json *value) {
  syrch_writer to = {0};
  syrch_write_value(&to, value);
  return syrch_written(&to);
}

syrch_string_t syrch_written(const syrch_writer *writer) {
  if (writer->depth > 0) syrch_panic("JSON has %u brackets without an end", writer->depth);
  return syrch_built(&writer->text);
}
