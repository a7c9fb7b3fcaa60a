//go:build wasip1

package wasm

import (
	"unsafe"

	"github.com/syrch/syrch-host/sdk/go/syrch"
)

// This file has what roles are called with and what they return.

// Arguments reads the arguments of a role's function, one after the other.
type Arguments struct{ codec Codec }

// NewArguments starts at that address.
func NewArguments(at uintptr) *Arguments {
	return &Arguments{Codec{mode: lifting, at: at}}
}

// Next reads the next argument.
func Next[T any](arguments *Arguments, one func(*Codec, *T)) T {
	var out T
	record(&arguments.codec, &out, one)
	return out
}

// List reads the next argument, a list.
func List[T any](arguments *Arguments, one func(*Codec, *T)) []T {
	return Next(arguments, listOf(one))
}

// Text reads the next argument, a text.
func Text(arguments *Arguments) string { return Next(arguments, text) }

// Number reads the next argument, a number.
func Number(arguments *Arguments) uint32 { return Next(arguments, number[uint32]) }

// Call calls a role, and writes what it returns. A panic and an error become a failure.
func Call[T any](one func(*Codec, *T), note func(syrch.Level, string), call func() (T, error)) uintptr {
	value, failure := syrch.Guard(note, call)
	return lowerResult(unsafe.Pointer(&value), erased(one), failure)
}

func lowerResult(value unsafe.Pointer, one pass, failure *syrch.Failure) uintptr {
	var tag uint8
	if failure != nil {
		tag = 1
	}
	return lower(value, func(c *Codec, value unsafe.Pointer) {
		variant(c, &tag, func(c *Codec, tag uint8) {
			switch {
			case tag == 0:
				within(c, value, one)
			case c.mode == measuring:
				Failure(c, &syrch.Failure{})
			default:
				Failure(c, failure)
			}
		}, 0, 1)
	})
}

// LowerNumbers writes a list of numbers as the result of a function.
func LowerNumbers(numbers []float64) uintptr {
	return Lower(numbers, listOf(number[float64]))
}

// LiftClaims reads the argument of a calibrator.
func LiftClaims(at, length uint32) []syrch.Claim { return liftList(at, length, Claim) }
