//go:build wasip1

package wasm

import (
	"unsafe"

	"github.com/syrch/syrch-host/sdk/go/syrch"
)

// This file has what functions of ports return.

// listOf is the function of a list.
func listOf[T any](one func(*Codec, *T)) func(*Codec, *[]T) {
	return func(c *Codec, values *[]T) { list(c, values, one) }
}

// answer is the result of a port whose error has the type E.
func answer[T, E any, P interface {
	*E
	error
}](one func(*Codec, *T), fail func(*Codec, *E)) func(*Codec, *syrch.Result[T]) {
	return func(c *Codec, result *syrch.Result[T]) {
		failed := new(E)
		if isFailure(c, unsafe.Pointer(&result.Value), erased(one), unsafe.Pointer(failed), erased(fail)) {
			result.Err = P(failed)
		}
	}
}

func isFailure(c *Codec, value unsafe.Pointer, one pass, failed unsafe.Pointer, fail pass) bool {
	var tag uint8
	variant(c, &tag, func(c *Codec, tag uint8) {
		if tag == 0 {
			within(c, value, one)
		} else {
			fail(c, failed)
		}
	}, 0, 1)
	return tag == 1
}

// answers are the results of concurrent calls.
func answers[T any](one func(*Codec, *syrch.Result[T])) func(*Codec, *[]syrch.Result[T]) {
	return listOf(one)
}

// ended is the result of a call that may be in flight.
func ended[T any](one func(*Codec, *syrch.Result[T])) func(*Codec, **syrch.Result[T]) {
	return func(c *Codec, result **syrch.Result[T]) { option(c, result, one) }
}

// receive makes a call that writes its result, and reads it.
func receive[T any](one func(*Codec, *T), call func(area uintptr)) T {
	return Lift(called(erased(one), call), one)
}

func called(one pass, call func(area uintptr)) uintptr {
	size, _ := layout(one)
	area := allocate(size)
	call(area)
	return area
}

// optional receives a text that there may not be.
func optional(call func(area uintptr)) *string {
	return receive(func(c *Codec, value **string) { option(c, value, text) }, call)
}

// pair splits a result.
func pair[T any](result syrch.Result[T]) (T, error) { return result.Value, result.Err }

// taken splits the result of a call that may be in flight.
func taken[T any](result *syrch.Result[T]) (syrch.Result[T], bool) {
	return syrch.Or(result, syrch.Result[T]{}), result != nil
}
