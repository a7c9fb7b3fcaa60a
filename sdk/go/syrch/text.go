package syrch

import (
	"fmt"
	"math"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Line returns one line of at most limit characters: white space and control characters become single spaces, and an ellipsis at the end shows
// that something was cut. It is for text from a database or a model before it becomes a part of a prompt.
func Line(text string, limit int) string {
	var out strings.Builder
	length := 0
	gap := func(c rune) bool { return unicode.IsSpace(c) || unicode.IsControl(c) }
	for word := range strings.FieldsFuncSeq(text, gap) {
		if length > 0 {
			out.WriteByte(' ')
			length++
		}
		for _, c := range word {
			if length+1 >= limit && limit > 0 {
				out.WriteRune('…')
				return out.String()
			}
			out.WriteRune(c)
			length++
		}
	}
	return out.String()
}

// Count returns `1 row`, `2 rows`.
func Count(number uint64, noun string) string {
	if number == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", number, noun)
}

// Clip returns at most that many bytes of a text, cut at a character's edge.
func Clip(text string, bytes int) string {
	if len(text) <= bytes {
		return text
	}
	for bytes > 0 && !utf8.RuneStart(text[bytes]) {
		bytes--
	}
	return text[:bytes]
}

// Clamp01 returns a number between 0 and 1; not-a-number becomes 0.
func Clamp01(value float64) float64 {
	if math.IsNaN(value) {
		return 0
	}
	return min(max(value, 0), 1)
}

func asciiLower(text string) string {
	return strings.Map(func(c rune) rune {
		if 'A' <= c && c <= 'Z' {
			return c + ('a' - 'A')
		}
		return c
	}, text)
}

func asciiEqual(one, other string) bool {
	return len(one) == len(other) && asciiLower(one) == asciiLower(other)
}
