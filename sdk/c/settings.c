// The settings of a plugin: the schema and the reader of what `SYRCH_SETTINGS` declares.

#include "syrch.h"

#include <inttypes.h>
#include <string.h>

static void *field(const syrch_plugin_t *plugin, const syrch_setting_t *setting) { return (char *)plugin->settings + setting->offset; }

static const char *type_name(const syrch_setting_t *setting) {
  static const char *const names[] = {"integer", "number", "boolean", "string", "string", NULL};
  return names[setting->type];
}

static syrch_string_t number_text(const syrch_setting_t *setting, double number) {
  return setting->type == SYRCH_SETTING_INTEGER ? syrch_format("%.0f", number) : syrch_json_decimal(number);
}

static syrch_list_string_t words_of(const syrch_setting_t *setting) {
  syrch_list_string_t words = {0};
  syrch_string_t all = syrch_text(setting->words);
  size_t start = 0;
  for (size_t at = 0; at <= all.len; at++) {
    if (at < all.len && all.ptr[at] != ' ') continue;
    if (at > start) syrch_push(&words, syrch_slice(all, start, at));
    start = at + 1;
  }
  return words;
}

static void write_default(syrch_writer *to, const syrch_setting_t *setting) {
  switch (setting->type) {
    case SYRCH_SETTING_INTEGER:
    case SYRCH_SETTING_NUMBER: syrch_write_json(to, number_text(setting, setting->number)); break;
    case SYRCH_SETTING_BOOLEAN: syrch_write_boolean(to, setting->number != 0); break;
    case SYRCH_SETTING_TEXT:
    case SYRCH_SETTING_WORD: syrch_write_string(to, syrch_text(setting->text)); break;
    case SYRCH_SETTING_DOCUMENT: syrch_write_json(to, syrch_text(setting->text)); break;
  }
}

static void write_property(syrch_writer *to, const syrch_setting_t *setting) {
  syrch_write_key(to, setting->name);
  syrch_write_object(to);
  if (type_name(setting) != NULL) {
    syrch_write_key(to, "type");
    syrch_write_string(to, syrch_text(type_name(setting)));
  } else {
    // The members of a document's own schema, without its braces.
    syrch_string_t schema = syrch_trim(syrch_text(setting->words));
    if (schema.len > 2) syrch_write_json(to, syrch_slice(schema, 1, schema.len - 1));
  }
  syrch_write_key(to, "description");
  syrch_write_string(to, syrch_text(setting->description));
  syrch_write_key(to, "default");
  write_default(to, setting);
  if (setting->type == SYRCH_SETTING_WORD) {
    syrch_list_string_t words = words_of(setting);
    syrch_write_key(to, "enum");
    syrch_write_array(to);
    for (size_t i = 0; i < words.len; i++) syrch_write_string(to, words.ptr[i]);
    syrch_write_end(to);
  }
  if (setting->type == SYRCH_SETTING_INTEGER || setting->type == SYRCH_SETTING_NUMBER) {
    syrch_write_key(to, "minimum");
    syrch_write_json(to, number_text(setting, setting->least));
    syrch_write_key(to, "maximum");
    syrch_write_json(to, number_text(setting, setting->greatest));
  }
  syrch_write_end(to);
}

syrch_string_t syrch_settings_schema(const syrch_plugin_t *plugin) {
  syrch_writer to = {0};
  syrch_write_object(&to);
  syrch_write_key(&to, "$schema");
  syrch_write_string(&to, syrch_text("https://json-schema.org/draft/2020-12/schema"));
  syrch_write_key(&to, "type");
  syrch_write_string(&to, syrch_text("object"));
  syrch_write_key(&to, "properties");
  syrch_write_object(&to);
  for (size_t i = 0; i < plugin->count; i++) write_property(&to, &plugin->declared[i]);
  syrch_write_end(&to);
  syrch_write_key(&to, "additionalProperties");
  syrch_write_boolean(&to, false);
  syrch_write_end(&to);
  return syrch_written(&to);
}

static bool is_one_of(syrch_list_string_t words, syrch_string_t word) {
  for (size_t i = 0; i < words.len; i++) {
    if (syrch_equal(words.ptr[i], word)) return true;
  }
  return false;
}

static syrch_string_t wrong_type(const syrch_setting_t *setting, const syrch_json *value) {
  syrch_string_t given = syrch_json_text(value);
  if (setting->type != SYRCH_SETTING_WORD) {
    return syrch_format("`%s` must be of type %s, not %.*s", setting->name, type_name(setting), SYRCH_F(given));
  }
  syrch_list_string_t words = words_of(setting);
  return syrch_format("`%s` must be one of %.*s, not %.*s", setting->name, SYRCH_F(syrch_join(words.ptr, words.len, ", ")), SYRCH_F(given));
}

static bool read_setting(const syrch_plugin_t *plugin, const syrch_setting_t *setting, const syrch_json *value, syrch_string_t *wrong) {
  void *to = field(plugin, setting);
  bool fits = true;
  switch (setting->type) {
    case SYRCH_SETTING_INTEGER: fits = syrch_json_whole(value, to); break;
    case SYRCH_SETTING_NUMBER: fits = syrch_json_number(value, to); break;
    case SYRCH_SETTING_BOOLEAN: fits = syrch_json_boolean(value, to); break;
    case SYRCH_SETTING_TEXT: fits = syrch_json_string(value, to); break;
    case SYRCH_SETTING_WORD: fits = syrch_json_string(value, to) && is_one_of(words_of(setting), value->text); break;
    case SYRCH_SETTING_DOCUMENT: *(const syrch_json **)to = value; break;
  }
  if (!fits) {
    *wrong = wrong_type(setting, value);
    return false;
  }
  bool is_number = setting->type == SYRCH_SETTING_INTEGER || setting->type == SYRCH_SETTING_NUMBER;
  if (is_number && (value->number < setting->least || value->number > setting->greatest)) {
    *wrong = syrch_format("`%s` must be from %.*s to %.*s, not %.*s", setting->name, SYRCH_F(number_text(setting, setting->least)),
                          SYRCH_F(number_text(setting, setting->greatest)), SYRCH_F(value->text));
    return false;
  }
  return true;
}

static void set_defaults(const syrch_plugin_t *plugin) {
  for (size_t i = 0; i < plugin->count; i++) {
    const syrch_setting_t *setting = &plugin->declared[i];
    void *to = field(plugin, setting);
    switch (setting->type) {
      case SYRCH_SETTING_INTEGER: *(uint64_t *)to = (uint64_t)setting->number; break;
      case SYRCH_SETTING_NUMBER: *(double *)to = setting->number; break;
      case SYRCH_SETTING_BOOLEAN: *(bool *)to = setting->number != 0; break;
      case SYRCH_SETTING_TEXT:
      case SYRCH_SETTING_WORD: *(syrch_string_t *)to = syrch_text(setting->text); break;
      case SYRCH_SETTING_DOCUMENT: *(const syrch_json **)to = syrch_json_read(syrch_text(setting->text), NULL); break;
    }
  }
}

static syrch_string_t unknown(const syrch_plugin_t *plugin, syrch_string_t name) {
  if (plugin->count == 0) return syrch_format("unknown setting `%.*s`: there are none", SYRCH_F(name));
  syrch_list_string_t known = {0};
  for (size_t i = 0; i < plugin->count; i++) syrch_push(&known, syrch_text(plugin->declared[i].name));
  return syrch_format("unknown setting `%.*s`; known are %.*s", SYRCH_F(name), SYRCH_F(syrch_join(known.ptr, known.len, ", ")));
}

bool syrch_read_settings(const syrch_plugin_t *plugin, syrch_string_t config, syrch_string_t *wrong) {
  set_defaults(plugin);
  if (syrch_trim(config).len == 0) return true;
  syrch_string_t why;
  const syrch_json *given = syrch_json_read(config, &why);
  if (given == NULL) {
    *wrong = syrch_format("settings are not JSON: %.*s", SYRCH_F(why));
    return false;
  }
  if (given->kind != SYRCH_JSON_OBJECT) {
    *wrong = syrch_text("settings must be a JSON object");
    return false;
  }
  for (size_t i = 0; i < plugin->count; i++) {
    const syrch_json *value = syrch_json_get(given, plugin->declared[i].name);
    if (value != NULL && !read_setting(plugin, &plugin->declared[i], value, wrong)) return false;
  }
  for (size_t i = 0; i < given->len; i++) {
    bool is_known = false;
    for (size_t at = 0; at < plugin->count; at++) is_known |= syrch_is(given->keys[i], plugin->declared[at].name);
    if (is_known) continue;
    *wrong = unknown(plugin, given->keys[i]);
    return false;
  }
  return true;
}
