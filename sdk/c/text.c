// Texts: comparing, single lines, limits, numbers. The same rules as those of the Rust SDK, so that prompts have the same bytes.

#include "syrch.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool syrch_equal(syrch_string_t a, syrch_string_t b) {
  return a.len == b.len && (a.len == 0 || memcmp(a.ptr, b.ptr, a.len) == 0);
}

bool syrch_is(syrch_string_t text, const char *other) { return syrch_equal(text, syrch_text(other)); }

int syrch_compare(syrch_string_t a, syrch_string_t b) {
  size_t shorter = a.len < b.len ? a.len : b.len;
  int order = shorter == 0 ? 0 : memcmp(a.ptr, b.ptr, shorter);
  return order != 0 ? order : (a.len > b.len) - (a.len < b.len);
}

bool syrch_starts_with(syrch_string_t text, syrch_string_t start) {
  return text.len >= start.len && syrch_equal(syrch_slice(text, 0, start.len), start);
}

syrch_string_t syrch_slice(syrch_string_t text, size_t from, size_t to) {
  if (to > text.len) to = text.len;
  if (from > to) from = to;
  return (syrch_string_t){.ptr = text.len == 0 ? text.ptr : text.ptr + from, .len = to - from};
}

bool syrch_contains(syrch_string_t text, syrch_string_t part) {
  for (size_t at = 0; part.len <= text.len && at <= text.len - part.len; at++) {
    if (syrch_equal(syrch_slice(text, at, at + part.len), part)) return true;
  }
  return false;
}

syrch_string_t syrch_replace(syrch_string_t text, const char *old, const char *by) {
  syrch_string_t part = syrch_text(old);
  syrch_buffer out = {0};
  size_t done = 0;
  for (size_t at = 0; part.len > 0 && part.len <= text.len && at <= text.len - part.len;) {
    if (!syrch_equal(syrch_slice(text, at, at + part.len), part)) {
      at++;
      continue;
    }
    syrch_put(&out, syrch_slice(text, done, at));
    syrch_puts(&out, by);
    at = done = at + part.len;
  }
  syrch_put(&out, syrch_slice(text, done, text.len));
  return syrch_built(&out);
}

size_t syrch_next_char(syrch_string_t text, size_t at, uint32_t *code) {
  static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
  uint8_t first = text.ptr[at];
  size_t length = first < 0x80 ? 1 : first >= 0xc2 && first < 0xe0 ? 2 : first >= 0xe0 && first < 0xf0 ? 3 : first >= 0xf0 && first < 0xf5 ? 4 : 0;
  *code = 0xfffd;
  if (length == 0 || length > text.len - at) return at + 1;
  uint32_t value = length == 1 ? first : first & (0x7fu >> length);
  for (size_t i = 1; i < length; i++) {
    if ((text.ptr[at + i] & 0xc0) != 0x80) return at + 1;
    value = value << 6 | (text.ptr[at + i] & 0x3fu);
  }
  if (value < least[length] || value > 0x10ffff || (value >= 0xd800 && value < 0xe000)) return at + 1;
  *code = value;
  return at + length;
}

void syrch_put_char(syrch_buffer *buffer, uint32_t code) {
  uint8_t bytes[4];
  size_t length = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
  if (length == 1) {
    bytes[0] = (uint8_t)code;
  } else {
    bytes[0] = (uint8_t)((0xf0u << (4 - length)) | code >> (6 * (length - 1)));
    for (size_t i = 1; i < length; i++) bytes[i] = (uint8_t)(0x80u | ((code >> (6 * (length - 1 - i))) & 0x3fu));
  }
  syrch_put(buffer, (syrch_string_t){.ptr = bytes, .len = length});
}

bool syrch_is_space(uint32_t code) {
  return (code >= 0x09 && code <= 0x0d) || code == 0x20 || code == 0x85 || code == 0xa0 || code == 0x1680 || (code >= 0x2000 && code <= 0x200a) ||
         code == 0x2028 || code == 0x2029 || code == 0x202f || code == 0x205f || code == 0x3000;
}

bool syrch_is_control(uint32_t code) { return code < 0x20 || (code >= 0x7f && code <= 0x9f); }

syrch_string_t syrch_trim(syrch_string_t text) {
  size_t start = 0, end = 0;
  bool begun = false;
  for (size_t at = 0; at < text.len;) {
    uint32_t code;
    size_t next = syrch_next_char(text, at, &code);
    if (!syrch_is_space(code)) {
      if (!begun) start = at;
      begun = true;
      end = next;
    }
    at = next;
  }
  return syrch_slice(text, start, end);
}

syrch_string_t syrch_line(syrch_string_t text, size_t limit) {
  syrch_buffer out = {0};
  size_t length = 0;
  bool between = false;
  for (size_t at = 0; at < text.len;) {
    uint32_t code;
    size_t next = syrch_next_char(text, at, &code);
    if (syrch_is_space(code) || syrch_is_control(code)) {
      between = true;
    } else {
      if (between && length > 0) {
        syrch_puts(&out, " ");
        length++;
      }
      between = false;
      if (length + 1 >= limit && limit > 0) {
        syrch_puts(&out, "…");
        return syrch_built(&out);
      }
      syrch_put_char(&out, code);
      length++;
    }
    at = next;
  }
  return syrch_built(&out);
}

syrch_string_t syrch_clip(syrch_string_t text, size_t bytes) {
  if (bytes >= text.len) return text;
  while (bytes > 0 && (text.ptr[bytes] & 0xc0) == 0x80) bytes--;
  return syrch_slice(text, 0, bytes);
}

syrch_string_t syrch_join(const syrch_string_t *parts, size_t count, const char *between) {
  syrch_buffer out = {0};
  for (size_t i = 0; i < count; i++) {
    if (i > 0) syrch_puts(&out, between);
    syrch_put(&out, parts[i]);
  }
  return syrch_built(&out);
}

syrch_string_t syrch_lower(syrch_string_t text) {
  syrch_string_t lower = syrch_copy(text.ptr, text.len);
  for (size_t i = 0; i < lower.len; i++) {
    if (lower.ptr[i] >= 'A' && lower.ptr[i] <= 'Z') lower.ptr[i] = (uint8_t)(lower.ptr[i] + ('a' - 'A'));
  }
  return lower;
}

static uint32_t folded(uint32_t code) {
  if ((code >= 'A' && code <= 'Z') || (code >= 0xc0 && code <= 0xde && code != 0xd7)) return code + 32;
  if ((code >= 0x391 && code <= 0x3a9 && code != 0x3a2) || (code >= 0x410 && code <= 0x42f)) return code + 32;
  if (code >= 0x400 && code <= 0x40f) return code + 80;
  bool is_even_upper = (code >= 0x100 && code <= 0x137 && code != 0x130 && code != 0x131) || (code >= 0x14a && code <= 0x177);
  bool is_odd_upper = (code >= 0x139 && code <= 0x148) || (code >= 0x179 && code <= 0x17e);
  if (is_even_upper) return code | 1;
  if (is_odd_upper) return code % 2 == 1 ? code + 1 : code;
  return code == 0x178 ? 0xff : code;
}

syrch_string_t syrch_fold(syrch_string_t text) {
  syrch_buffer out = {0};
  for (size_t at = 0; at < text.len;) {
    uint32_t code;
    at = syrch_next_char(text, at, &code);
    syrch_put_char(&out, folded(code));
  }
  return syrch_built(&out);
}

syrch_string_t syrch_count(uint64_t number, const char *noun) {
  return syrch_format("%" PRIu64 " %s%s", number, noun, number == 1 ? "" : "s");
}

double syrch_clamp01(double value) { return !(value > 0) ? 0 : value > 1 ? 1 : value; }

// The fewest digits that give the number again, and the place of the decimal point behind the first `*point` digits.
static size_t digits_of(double value, char digits[static 32], int *point) {
  char text[40];
  // A number with at most 15 digits is found at once, as 15 digits and zeros; only the least numbers have fewer correct ones.
  for (int precision = value < DBL_MIN ? 0 : DBL_DIG - 1; precision < 17; precision++) {
    snprintf(text, sizeof text, "%.*e", precision, value);
    if (strtod(text, NULL) == value) break;
  }
  size_t count = 0;
  char *exponent = strchr(text, 'e');
  for (char *at = text; at < exponent; at++) {
    if (*at >= '0' && *at <= '9') digits[count++] = *at;
  }
  while (count > 1 && digits[count - 1] == '0') count--;
  *point = (int)strtol(exponent + 1, NULL, 10) + 1;
  return count;
}

static void put_plain(syrch_buffer *out, const char *digits, size_t count, int point) {
  if (point <= 0) {
    syrch_puts(out, "0.");
    for (int i = point; i < 0; i++) syrch_puts(out, "0");
    syrch_put(out, syrch_copy(digits, count));
    return;
  }
  for (size_t i = 0; i < count || i < (size_t)point; i++) {
    if (i == (size_t)point) syrch_puts(out, ".");
    syrch_put_char(out, i < count ? (uint8_t)digits[i] : '0');
  }
}

syrch_string_t syrch_decimal(double value) {
  if (isnan(value)) return syrch_text("NaN");
  if (isinf(value)) return syrch_text(value < 0 ? "-inf" : "inf");
  syrch_buffer out = {0};
  if (signbit(value)) syrch_puts(&out, "-");
  if (value == 0) {
    syrch_puts(&out, "0");
    return syrch_built(&out);
  }
  char digits[32];
  int point;
  size_t count = digits_of(fabs(value), digits, &point);
  put_plain(&out, digits, count, point);
  return syrch_built(&out);
}

syrch_string_t syrch_json_decimal(double value) {
  if (!isfinite(value)) return syrch_text("null");
  if (value == 0) return syrch_text(signbit(value) ? "-0.0" : "0.0");
  syrch_buffer out = {0};
  if (value < 0) syrch_puts(&out, "-");
  char digits[32];
  int point;
  size_t count = digits_of(fabs(value), digits, &point);
  if (point > -5 && point <= 16) {
    put_plain(&out, digits, count, point);
    if (point > 0 && (size_t)point >= count) syrch_puts(&out, ".0");
    return syrch_built(&out);
  }
  syrch_put_char(&out, (uint8_t)digits[0]);
  if (count > 1) syrch_puts(&out, ".");
  syrch_put(&out, syrch_copy(digits + 1, count - 1));
  syrch_put(&out, syrch_format("e%d", point - 1));
  return syrch_built(&out);
}
