package syrch

import (
	"fmt"
	"math"
	"reflect"
	"sort"
	"strconv"
	"strings"
	"unicode/utf8"
)

// This file reads and writes JSON. The package encoding/json would double the size of a component and the memory that the host needs to
// compile it.

// RawJSON is a JSON document that stands in another one as it is.
type RawJSON string

// JSON returns a value as JSON on one line: a string, a number, a bool, nil, a RawJSON, or a slice, a map with strings as keys, or a struct of
// such values, whose fields have tags such as `json:"name"`. The keys of maps are in order, and no character is escaped without need, so that
// equal values have equal texts in every language. What JSON cannot hold is `null`.
func JSON(value any) string {
	return string(appendJSON(nil, reflect.ValueOf(value)))
}

func appendJSON(out []byte, value reflect.Value) []byte {
	if !value.IsValid() {
		return append(out, "null"...)
	}
	if value.Type() == reflect.TypeFor[RawJSON]() {
		return append(out, value.String()...)
	}
	switch value.Kind() {
	case reflect.Bool:
		return strconv.AppendBool(out, value.Bool())
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return strconv.AppendInt(out, value.Int(), 10)
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return strconv.AppendUint(out, value.Uint(), 10)
	case reflect.Float32, reflect.Float64:
		return appendFloat(out, value)
	case reflect.String:
		return appendString(out, value.String())
	case reflect.Slice, reflect.Array:
		return appendList(out, value)
	case reflect.Map:
		return appendMap(out, value)
	case reflect.Struct:
		return appendStruct(out, value)
	case reflect.Pointer, reflect.Interface:
		return appendJSON(out, value.Elem())
	}
	return append(out, "null"...)
}

// appendFloat writes a number with a point or an exponent, by which it differs from a whole one.
func appendFloat(out []byte, value reflect.Value) []byte {
	number := value.Float()
	if math.IsNaN(number) || math.IsInf(number, 0) {
		return append(out, "null"...)
	}
	bits := value.Type().Bits()
	if size := math.Abs(number); number != 0 && (size < 1e-5 || size >= 1e16) {
		digits, exponent, _ := strings.Cut(strconv.FormatFloat(number, 'e', -1, bits), "e")
		power, _ := strconv.Atoi(exponent)
		return fmt.Appendf(out, "%se%d", digits, power)
	}
	text := strconv.FormatFloat(number, 'f', -1, bits)
	if !strings.Contains(text, ".") {
		text += ".0"
	}
	return append(out, text...)
}

func appendString(out []byte, text string) []byte {
	out = append(out, '"')
	for at := 0; at < len(text); {
		c, size := utf8.DecodeRuneInString(text[at:])
		switch {
		case c == '"' || c == '\\':
			out = append(out, '\\', byte(c))
		case c == '\n':
			out = append(out, '\\', 'n')
		case c == '\r':
			out = append(out, '\\', 'r')
		case c == '\t':
			out = append(out, '\\', 't')
		case c == '\b':
			out = append(out, '\\', 'b')
		case c == '\f':
			out = append(out, '\\', 'f')
		case c < ' ':
			out = fmt.Appendf(out, "\\u%04x", c)
		default:
			// A byte that is no UTF-8 becomes the replacement character.
			out = utf8.AppendRune(out, c)
		}
		at += size
	}
	return append(out, '"')
}

func appendList(out []byte, list reflect.Value) []byte {
	out = append(out, '[')
	for at := range list.Len() {
		if at > 0 {
			out = append(out, ',')
		}
		out = appendJSON(out, list.Index(at))
	}
	return append(out, ']')
}

func appendMap(out []byte, of reflect.Value) []byte {
	if of.IsNil() || of.Type().Key().Kind() != reflect.String {
		return append(out, "null"...)
	}
	keys := of.MapKeys()
	sort.Slice(keys, func(one, other int) bool { return keys[one].String() < keys[other].String() })
	out = append(out, '{')
	for at, key := range keys {
		out = appendField(out, at == 0, key.String(), of.MapIndex(key))
	}
	return append(out, '}')
}

func appendStruct(out []byte, of reflect.Value) []byte {
	out = append(out, '{')
	first := true
	for at := range of.NumField() {
		if name, isField := fieldName(of.Type().Field(at)); isField {
			out, first = appendField(out, first, name, of.Field(at)), false
		}
	}
	return append(out, '}')
}

func appendField(out []byte, first bool, name string, value reflect.Value) []byte {
	if !first {
		out = append(out, ',')
	}
	return appendJSON(append(appendString(out, name), ':'), value)
}

func fieldName(field reflect.StructField) (string, bool) {
	name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
	if name == "" {
		name = field.Name
	}
	return name, field.IsExported() && name != "-"
}

// ReadJSON reads a JSON document into the value that a pointer refers to. Fields of structs have tags such as `json:"name"`; what the document
// does not have stays as it is, and what the struct does not have is ignored. Into an `any`, numbers are read as float64. The error says what
// does not fit.
func ReadJSON(text string, into any) error {
	document, err := parseJSON(text)
	if err != nil {
		return err
	}
	return fill(reflect.ValueOf(into).Elem(), document)
}

// fill sets a value to a document.
func fill(into reflect.Value, document any) error {
	wrong := func() error { return fmt.Errorf("%s does not fit %s", shortJSON(document), into.Type()) }
	if into.Kind() == reflect.Interface && into.NumMethod() == 0 {
		if plain := plainJSON(document); plain != nil {
			into.Set(reflect.ValueOf(plain))
		} else {
			into.SetZero()
		}
		return nil
	}
	if document == nil {
		into.SetZero()
		return nil
	}
	if into.Kind() == reflect.Pointer {
		made := reflect.New(into.Type().Elem())
		if err := fill(made.Elem(), document); err != nil {
			return err
		}
		into.Set(made)
		return nil
	}
	switch given := document.(type) {
	case bool:
		if into.Kind() != reflect.Bool {
			return wrong()
		}
		into.SetBool(given)
	case string:
		if into.Kind() != reflect.String {
			return wrong()
		}
		into.SetString(given)
	case jsonNumber:
		if !fillNumber(into, string(given)) {
			return wrong()
		}
	case []any:
		return fillList(into, given, wrong)
	case map[string]any:
		return fillObject(into, given, wrong)
	}
	return nil
}

func fillNumber(into reflect.Value, text string) bool {
	number, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return false
	}
	// 3.0 is a whole number in JSON Schema, too.
	if number == math.Trunc(number) && math.Abs(number) < 1<<53 {
		text = strconv.FormatFloat(number, 'f', 0, 64)
	}
	switch kind := into.Kind(); {
	case kind == reflect.Float64 || kind == reflect.Float32:
		into.SetFloat(number)
		return true
	case reflect.Int <= kind && kind <= reflect.Int64:
		whole, err := strconv.ParseInt(text, 10, into.Type().Bits())
		into.SetInt(whole)
		return err == nil
	case reflect.Uint <= kind && kind <= reflect.Uint64:
		whole, err := strconv.ParseUint(text, 10, into.Type().Bits())
		into.SetUint(whole)
		return err == nil
	}
	return false
}

func fillList(into reflect.Value, list []any, wrong func() error) error {
	switch into.Kind() {
	case reflect.Slice:
		into.Set(reflect.MakeSlice(into.Type(), len(list), len(list)))
	case reflect.Array:
		if into.Len() != len(list) {
			return wrong()
		}
	default:
		return wrong()
	}
	for at, document := range list {
		if err := fill(into.Index(at), document); err != nil {
			return err
		}
	}
	return nil
}

func fillObject(into reflect.Value, object map[string]any, wrong func() error) error {
	switch {
	case into.Kind() == reflect.Map && into.Type().Key().Kind() == reflect.String:
		into.Set(reflect.MakeMap(into.Type()))
		for key, document := range object {
			value := reflect.New(into.Type().Elem()).Elem()
			if err := fill(value, document); err != nil {
				return err
			}
			into.SetMapIndex(reflect.ValueOf(key).Convert(into.Type().Key()), value)
		}
	case into.Kind() == reflect.Struct:
		for at := range into.NumField() {
			name, isField := fieldName(into.Type().Field(at))
			document, isGiven := object[name]
			if isField && isGiven {
				if err := fill(into.Field(at), document); err != nil {
					return err
				}
			}
		}
	default:
		return wrong()
	}
	return nil
}

// plainJSON makes a document of values that Go has.
func plainJSON(document any) any {
	switch document := document.(type) {
	case jsonNumber:
		number, _ := strconv.ParseFloat(string(document), 64)
		return number
	case []any:
		for at := range document {
			document[at] = plainJSON(document[at])
		}
	case map[string]any:
		for key := range document {
			document[key] = plainJSON(document[key])
		}
	}
	return document
}

func shortJSON(document any) string {
	return Line(JSON(document), 80)
}
