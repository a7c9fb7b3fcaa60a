package syrch

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// This file makes of one declaration the defaults of a plugin's settings, their JSON schema and their reader. A declaration is a struct whose
// fields have tags:
//
//	type Settings struct {
//		MostRows uint64  `setting:"most_rows" default:"100" least:"1" most:"1000000" help:"Results with more rows are rejected."`
//		Share    float64 `setting:"share" default:"0.5" least:"0" most:"1" help:"How much counts."`
//		Mode     string  `setting:"mode" default:"fast" words:"fast slow" help:"How it is done."`
//	}
//
// A field is a bool, an integer, a float64, a string, or a type that JSON can hold, such as a list, whose default is JSON. A field without the
// tag `setting` is none; an embedded struct adds its fields.

const (
	schemaDialect = "https://json-schema.org/draft/2020-12/schema"
	tagName       = "setting"
)

type setting struct {
	index []int
	name  string
	tag   reflect.StructTag
	kind  reflect.Type
}

func settingsOf(of reflect.Type) []setting {
	if of.Kind() != reflect.Struct {
		panic("settings must be a struct")
	}
	var out []setting
	for _, field := range reflect.VisibleFields(of) {
		if name, isSetting := field.Tag.Lookup(tagName); isSetting {
			out = append(out, setting{field.Index, name, field.Tag, field.Type})
		}
	}
	return out
}

// SettingsSchema returns the JSON schema of the settings, with types, defaults, ranges and descriptions.
func SettingsSchema[S any]() string {
	properties := map[string]any{}
	for _, setting := range settingsOf(reflect.TypeFor[S]()) {
		properties[setting.name] = setting.schema()
	}
	return JSON(map[string]any{
		"$schema": schemaDialect, "type": "object", "properties": properties, "additionalProperties": false,
	})
}

func (s *setting) schema() map[string]any {
	out := typeSchema(s.kind)
	out["description"], out["default"] = s.tag.Get("help"), RawJSON(s.defaultJSON())
	if words := strings.Fields(s.tag.Get("words")); len(words) > 0 {
		out["enum"] = words
	}
	if bound, isGiven := s.tag.Lookup("least"); isGiven {
		out["minimum"] = RawJSON(bound)
	}
	if bound, isGiven := s.tag.Lookup("most"); isGiven {
		out["maximum"] = RawJSON(bound)
	}
	return out
}

// typeSchema returns the JSON schema of a type: of a list with what it holds, and of an array with its length.
func typeSchema(of reflect.Type) map[string]any {
	out := map[string]any{"type": typeName(of)}
	if out["type"] == "array" {
		out["items"] = typeSchema(of.Elem())
	}
	if of.Kind() == reflect.Array {
		out["minItems"], out["maxItems"] = of.Len(), of.Len()
	}
	return out
}

func typeName(of reflect.Type) string {
	switch kind := of.Kind(); {
	case kind == reflect.Bool:
		return "boolean"
	case kind == reflect.String:
		return "string"
	case kind == reflect.Float64 || kind == reflect.Float32:
		return "number"
	case reflect.Int <= kind && kind <= reflect.Uint64:
		return "integer"
	case kind == reflect.Slice || kind == reflect.Array:
		return "array"
	default:
		return "object"
	}
}

func (s *setting) defaultJSON() string {
	text, isGiven := s.tag.Lookup("default")
	switch {
	case s.kind.Kind() == reflect.String:
		return JSON(text)
	case isGiven:
		return text
	default:
		return JSON(reflect.Zero(s.kind).Interface())
	}
}

// ReadSettings reads settings from JSON. What is not given has its default, and an empty text gives all defaults. The error says in words
// what is wrong: no JSON object, an unknown name, a wrong type, or a number out of its range.
func ReadSettings[S any](config string) (S, error) {
	var settings S
	value := reflect.ValueOf(&settings).Elem()
	given := map[string]any{}
	if strings.TrimSpace(config) != "" {
		document, err := parseJSON(config)
		if err != nil {
			return settings, fmt.Errorf("settings are not JSON: %w", err)
		}
		isObject := false
		if given, isObject = document.(map[string]any); !isObject {
			return settings, fmt.Errorf("settings must be a JSON object")
		}
	}
	var known []string
	for _, setting := range settingsOf(value.Type()) {
		known = append(known, setting.name)
		document, isGiven := given[setting.name]
		if !isGiven {
			document, _ = parseJSON(setting.defaultJSON())
		}
		if err := setting.read(document, value.FieldByIndex(setting.index)); err != nil {
			return settings, err
		}
		delete(given, setting.name)
	}
	if len(given) == 0 {
		return settings, nil
	}
	unknown := ""
	for name := range given {
		if unknown == "" || name < unknown {
			unknown = name
		}
	}
	if len(known) == 0 {
		return settings, fmt.Errorf("unknown setting `%s`: there are none", unknown)
	}
	return settings, fmt.Errorf("unknown setting `%s`; known are %s", unknown, strings.Join(known, ", "))
}

func (s *setting) read(document any, field reflect.Value) error {
	text := JSON(document)
	if document == nil || fill(field, document) != nil {
		return fmt.Errorf("`%s` must be of type %s, not %s", s.name, typeName(s.kind), text)
	}
	if words := strings.Fields(s.tag.Get("words")); len(words) > 0 && !slices.Contains(words, field.String()) {
		return fmt.Errorf("`%s` must be one of %s, not %s", s.name, strings.Join(words, ", "), text)
	}
	return s.inRange(text)
}

func (s *setting) inRange(text string) error {
	least, most := s.tag.Get("least"), s.tag.Get("most")
	number, err := strconv.ParseFloat(text, 64)
	if err != nil || least == "" && most == "" {
		return nil
	}
	if bound, err := strconv.ParseFloat(least, 64); err == nil && number < bound {
		return fmt.Errorf("`%s` must be from %s to %s, not %s", s.name, least, most, text)
	}
	if bound, err := strconv.ParseFloat(most, 64); err == nil && number > bound {
		return fmt.Errorf("`%s` must be from %s to %s, not %s", s.name, least, most, text)
	}
	return nil
}
