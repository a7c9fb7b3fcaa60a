// The memory of a call, panics, and texts with a length.

#include "syrch.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Blocks are aligned to this, which suits every type of the contract.
#define ALIGN 16u
#define CHUNK (64u * 1024u)

// With the address sanitizer each block is an allocation of its own, so that every access beyond a block is found.
#if defined(__SANITIZE_ADDRESS__)
#define SEPARATE_BLOCKS 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SEPARATE_BLOCKS 1
#endif
#endif

typedef struct chunk {
  struct chunk *before;
  size_t used, size;
} chunk;

// A growing list has memory beyond its length. The last few are known by their addresses. One that is shorter than it was known to be is a
// copy of a list that grew since, and gets memory of its own.
typedef struct growing {
  void *at;
  size_t used, capacity;
} growing;

#define GROWING 16u

static chunk *last;
static growing lists[GROWING];
static size_t next_list;

static size_t header(void) { return (sizeof(chunk) + ALIGN - 1) / ALIGN * ALIGN; }

static chunk *new_chunk(size_t size) {
  if (size > SIZE_MAX - header()) syrch_panic("out of memory: %zu bytes", size);
  chunk *made = malloc(header() + size);
  if (made == NULL) syrch_panic("out of memory: %zu bytes", size);
  *made = (chunk){.before = last, .used = 0, .size = size};
  last = made;
  return made;
}

void *syrch_alloc(size_t size) {
  if (size > SIZE_MAX - ALIGN) syrch_panic("out of memory: %zu bytes", size);
#ifdef SEPARATE_BLOCKS
  chunk *at = new_chunk(size == 0 ? 1 : size);
#else
  size = (size + ALIGN - 1) / ALIGN * ALIGN;
  if (size == 0) size = ALIGN;
  chunk *at = last;
  if (at == NULL || at->size - at->used < size) {
    size_t twice = at == NULL ? CHUNK : at->size > SIZE_MAX / 4 ? at->size : at->size * 2;
    if (twice > CHUNK * 64) twice = CHUNK * 64;
    at = new_chunk(size > twice ? size : twice);
  }
#endif
  void *block = (char *)at + header() + at->used;
  at->used += size;
  memset(block, 0, size);
  return block;
}

void *syrch_alloc_array(size_t count, size_t size) {
  if (size != 0 && count > SIZE_MAX / size) syrch_panic("out of memory: %zu elements of %zu bytes", count, size);
  return syrch_alloc(count * size);
}

void syrch_reset(void) {
  syrch_drop_all();
  while (last != NULL) {
    chunk *before = last->before;
    free(last);
    last = before;
  }
  memset(lists, 0, sizeof lists);
}

void *syrch_grow(void *at, size_t length, size_t size) {
  if (length >= SIZE_MAX / size / 2) syrch_panic("out of memory: %zu elements of %zu bytes", length, size);
  size_t used = length * size;
  for (size_t i = 0; i < GROWING && at != NULL; i++) {
    if (lists[i].at != at || lists[i].used != used || lists[i].capacity < used + size) continue;
    lists[i].used += size;
    return at;
  }
  size_t capacity = length < 4 ? 8 * size : used * 2;
  void *grown = syrch_alloc(capacity);
  if (used > 0) memcpy(grown, at, used);
  lists[next_list++ % GROWING] = (growing){.at = grown, .used = used + size, .capacity = capacity};
  return grown;
}

#ifdef __wasm__
#include <wasi/api.h>

static void print(const char *text, size_t length) {
  __wasi_ciovec_t part = {.buf = (const uint8_t *)text, .buf_len = length};
  __wasi_size_t written;
  if (__wasi_fd_write(2, &part, 1, &written) != 0) return;
}

// The canonical ABI puts what the host passes in into memory from here, so that all of it belongs to the call.
__attribute__((export_name("cabi_realloc"))) void *cabi_realloc(void *old, size_t old_size, size_t align, size_t size) {
  (void)align;
  if (size == 0) return (void *)(uintptr_t)ALIGN;
  void *made = syrch_alloc(size);
  if (old_size > 0) memcpy(made, old, old_size < size ? old_size : size);
  return made;
}
#else
static void print(const char *text, size_t length) { fwrite(text, 1, length, stderr); }
#endif

void syrch_panic(const char *format, ...) {
  char message[1024];
  va_list arguments;
  va_start(arguments, format);
  int length = vsnprintf(message, sizeof message - 1, format, arguments);
  va_end(arguments);
  if (length < 0) length = 0;
  size_t end = (size_t)length < sizeof message - 2 ? (size_t)length : sizeof message - 2;
  message[end++] = '\n';
  print(message, end);
#ifdef __wasm__
  __builtin_trap();
#else
  abort();
#endif
}

syrch_string_t syrch_format(const char *format, ...) {
  va_list arguments, again;
  va_start(arguments, format);
  va_copy(again, arguments);
  int length = vsnprintf(NULL, 0, format, arguments);
  va_end(arguments);
  if (length < 0) syrch_panic("syrch_format: the format `%s` cannot be written", format);
  char *text = syrch_alloc((size_t)length + 1);
  vsnprintf(text, (size_t)length + 1, format, again);
  va_end(again);
  return (syrch_string_t){.ptr = (uint8_t *)text, .len = (size_t)length};
}

syrch_string_t syrch_text(const char *text) {
  return (syrch_string_t){.ptr = (uint8_t *)(uintptr_t)text, .len = strlen(text)};
}

syrch_string_t syrch_copy(const void *bytes, size_t length) {
  syrch_string_t copy = {.ptr = syrch_alloc(length), .len = length};
  if (length > 0) memcpy(copy.ptr, bytes, length);
  return copy;
}

const char *syrch_c_string(syrch_string_t text) {
  char *copy = syrch_alloc(text.len + 1);
  if (text.len > 0) memcpy(copy, text.ptr, text.len);
  return copy;
}

syrch_string_t syrch_concat_all(const syrch_string_t *parts, size_t count) {
  size_t length = 0;
  for (size_t i = 0; i < count; i++) {
    if (parts[i].len > SIZE_MAX - length) syrch_panic("out of memory: a text is too long");
    length += parts[i].len;
  }
  syrch_string_t made = {.ptr = syrch_alloc(length), .len = 0};
  for (size_t i = 0; i < count; i++) {
    if (parts[i].len > 0) memcpy(made.ptr + made.len, parts[i].ptr, parts[i].len);
    made.len += parts[i].len;
  }
  return made;
}

void syrch_put(syrch_buffer *buffer, syrch_string_t text) {
  if (text.len > SIZE_MAX / 4 - buffer->len) syrch_panic("out of memory: a text is too long");
  if (buffer->len + text.len > buffer->capacity) {
    size_t capacity = buffer->capacity < 128 ? 256 : buffer->capacity * 2;
    while (capacity < buffer->len + text.len) capacity *= 2;
    uint8_t *grown = syrch_alloc(capacity);
    if (buffer->len > 0) memcpy(grown, buffer->ptr, buffer->len);
    buffer->ptr = grown;
    buffer->capacity = capacity;
  }
  if (text.len > 0) memcpy(buffer->ptr + buffer->len, text.ptr, text.len);
  buffer->len += text.len;
}

void syrch_puts(syrch_buffer *buffer, const char *text) { syrch_put(buffer, syrch_text(text)); }

syrch_string_t syrch_built(const syrch_buffer *buffer) {
  return (syrch_string_t){.ptr = buffer->ptr, .len = buffer->len};
}
