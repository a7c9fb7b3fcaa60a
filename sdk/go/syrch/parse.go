package syrch

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// jsonNumber is a number as it is written.
type jsonNumber = RawJSON

// The most levels of a document; the contract allows 64.
const jsonDepth = 128

var errJSON = errors.New("the document ends too early")

// parseJSON returns nil, bool, string, jsonNumber, []any or map[string]any.
func parseJSON(text string) (any, error) {
	parser := jsonParser{text: text}
	document, err := parser.value(jsonDepth)
	if err == nil {
		parser.space()
		if parser.at < len(text) {
			err = parser.wrong()
		}
	}
	return document, err
}

type jsonParser struct {
	text string
	at   int
}

func (p *jsonParser) wrong() error {
	if p.at >= len(p.text) {
		return errJSON
	}
	return fmt.Errorf("unexpected %q at byte %d", p.text[p.at], p.at)
}

func (p *jsonParser) space() {
	for p.at < len(p.text) && strings.IndexByte(" \t\r\n", p.text[p.at]) >= 0 {
		p.at++
	}
}

// take skips a character, if it is the next one after white space.
func (p *jsonParser) take(c byte) bool {
	p.space()
	if p.at < len(p.text) && p.text[p.at] == c {
		p.at++
		return true
	}
	return false
}

func (p *jsonParser) value(depth int) (any, error) {
	p.space()
	if p.at >= len(p.text) {
		return nil, errJSON
	}
	if depth == 0 {
		return nil, errors.New("the document has too many levels")
	}
	switch p.text[p.at] {
	case '{':
		return p.object(depth - 1)
	case '[':
		return p.list(depth - 1)
	case '"':
		return p.string()
	}
	for word, value := range map[string]any{"null": nil, "true": true, "false": false} {
		if strings.HasPrefix(p.text[p.at:], word) {
			p.at += len(word)
			return value, nil
		}
	}
	return p.number()
}

func (p *jsonParser) object(depth int) (any, error) {
	p.at++
	out := map[string]any{}
	for first := true; !p.take('}'); first = false {
		if !first && !p.take(',') {
			return nil, p.wrong()
		}
		p.space()
		if p.at >= len(p.text) || p.text[p.at] != '"' {
			return nil, p.wrong()
		}
		key, err := p.string()
		if err != nil {
			return nil, err
		}
		if !p.take(':') {
			return nil, p.wrong()
		}
		if out[key], err = p.value(depth); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func (p *jsonParser) list(depth int) (any, error) {
	p.at++
	out := []any{}
	for first := true; !p.take(']'); first = false {
		if !first && !p.take(',') {
			return nil, p.wrong()
		}
		value, err := p.value(depth)
		if err != nil {
			return nil, err
		}
		out = append(out, value)
	}
	return out, nil
}

func (p *jsonParser) number() (any, error) {
	start := p.at
	for p.at < len(p.text) && strings.IndexByte("+-0123456789.eE", p.text[p.at]) >= 0 {
		p.at++
	}
	text := p.text[start:p.at]
	digits := strings.TrimPrefix(text, "-")
	leading := len(digits) > 1 && digits[0] == '0' && digits[1] >= '0' && digits[1] <= '9'
	if _, err := strconv.ParseFloat(text, 64); text == "" || text[0] == '+' || digits == "" || digits[0] == '.' || leading || err != nil {
		p.at = start
		return nil, p.wrong()
	}
	return jsonNumber(text), nil
}

func (p *jsonParser) string() (string, error) {
	p.at++
	var out strings.Builder
	for {
		if p.at >= len(p.text) {
			return "", errJSON
		}
		c := p.text[p.at]
		switch {
		case c == '"':
			p.at++
			return out.String(), nil
		case c == '\\':
			c, err := p.escape()
			if err != nil {
				return "", err
			}
			out.WriteRune(c)
		case c < ' ':
			return "", p.wrong()
		default:
			out.WriteByte(c)
			p.at++
		}
	}
}

func (p *jsonParser) escape() (rune, error) {
	if p.at+1 >= len(p.text) {
		return 0, errJSON
	}
	c := p.text[p.at+1]
	if at := strings.IndexByte(`"\/bfnrt`, c); at >= 0 {
		p.at += 2
		return rune("\"\\/\b\f\n\r\t"[at]), nil
	}
	one, isUnit := p.unit()
	if !isUnit {
		return 0, p.wrong()
	}
	if !utf16.IsSurrogate(one) {
		return one, nil
	}
	back := p.at
	other, isUnit := p.unit()
	if c := utf16.DecodeRune(one, other); isUnit && c != utf8.RuneError {
		return c, nil
	}
	p.at = back
	return utf8.RuneError, nil
}

// unit reads one escape of four digits.
func (p *jsonParser) unit() (rune, bool) {
	if p.at+6 > len(p.text) || p.text[p.at] != '\\' || p.text[p.at+1] != 'u' {
		return 0, false
	}
	number, err := strconv.ParseUint(p.text[p.at+2:p.at+6], 16, 16)
	if err != nil {
		return 0, false
	}
	p.at += 6
	return rune(number), true
}
