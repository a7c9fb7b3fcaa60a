//go:build wasip1

// Package wasm is the host inside a component: it reads and writes the contract's values in the memory that the host and the component share, as the
// component model's canonical ABI lays them out, and calls the ports.
//
// Each type of the contract has one function, which serves for reading, writing and measuring. The bindings that wit-bindgen makes for Go write
// out every value in each function that has it; of these long functions the host would need more memory to compile than it allows.
package wasm

import (
	"runtime/debug"
	"unsafe"

	_ "github.com/syrch/syrch-host/sdk/go/internal/wit/runtime" // exports cabi_realloc
)

// A component must not call the host while the host hands values over, and the collector asks for the time. The store of a component lives for
// one role call, so that there is nothing to collect.
func init() { debug.SetGCPercent(-1) }

type mode uint8

const (
	measuring mode = iota
	lifting
	lowering
)

// A Codec passes over a value in memory, field by field.
type Codec struct {
	mode mode
	// The address of the next field, or its offset when measuring.
	at uintptr
	// The greatest alignment so far.
	align uintptr
	// The address of the value of the last option.
	payload uintptr
}

func up(at, align uintptr) uintptr { return (at + align - 1) &^ (align - 1) }

func pointer(at uintptr) unsafe.Pointer { return unsafe.Add(unsafe.Pointer(nil), at) }

// The memory that allocate gives out next, and what has to live on although only the host knows its address.
var (
	free []uint64
	kept unsafe.Pointer
)

// allocate returns zeroed memory that lives until the end of the call.
func allocate(size uintptr) uintptr {
	words := int(size/8 + 1)
	if words > len(free) {
		free = make([]uint64, max(words, 4096))
	}
	at := unsafe.Pointer(unsafe.SliceData(free))
	free = free[words:]
	return uintptr(at)
}

// place returns the address of the next field, and goes on behind it.
func (c *Codec) place(size, align uintptr) uintptr {
	c.at, c.align = up(c.at, align), max(c.align, align)
	at := c.at
	c.at += size
	return at
}

// A pass is the function of a type, whatever the type is: the generic functions below only name it, so that there is one copy of the work that
// they have in common.
type pass = func(*Codec, unsafe.Pointer)

func erased[T any](one func(*Codec, *T)) pass {
	return *(*pass)(unsafe.Pointer(&one))
}

// zero is what a value of any type is measured with. Measuring does not write.
var zero [256]uint64

// layout returns the size and the alignment of a type.
func layout(one pass) (size, align uintptr) {
	c := Codec{align: 1}
	one(&c, unsafe.Pointer(&zero))
	return up(c.at, c.align), c.align
}

// Lift reads a value.
func Lift[T any](at uintptr, one func(*Codec, *T)) T {
	var out T
	one(&Codec{mode: lifting, at: at}, &out)
	return out
}

// Lower writes a value, and returns its address.
func Lower[T any](value T, one func(*Codec, *T)) uintptr {
	return lower(unsafe.Pointer(&value), erased(one))
}

func lower(value unsafe.Pointer, one pass) uintptr {
	size, _ := layout(one)
	at := allocate(size)
	one(&Codec{mode: lowering, at: at}, value)
	return at
}

// lowerList writes a list, and returns the address and the number of its elements.
func lowerList[T any](list []T, one func(*Codec, *T)) (at, length uint32) {
	return lowerAll(unsafe.Pointer(unsafe.SliceData(list)), len(list), unsafe.Sizeof(*new(T)), erased(one))
}

func lowerAll(list unsafe.Pointer, length int, stride uintptr, one pass) (uint32, uint32) {
	if length == 0 {
		return 0, 0
	}
	size, _ := layout(one)
	start := allocate(size * uintptr(length))
	for place := range uintptr(length) {
		one(&Codec{mode: lowering, at: start + size*place}, unsafe.Add(list, stride*place))
	}
	return uint32(start), uint32(length)
}

// liftList reads a list.
func liftList[T any](at, length uint32, one func(*Codec, *T)) []T {
	if length == 0 {
		return nil
	}
	list := make([]T, length)
	liftAll(unsafe.Pointer(unsafe.SliceData(list)), uintptr(at), uintptr(length), unsafe.Sizeof(*new(T)), erased(one))
	return list
}

func liftAll(list unsafe.Pointer, at, length, stride uintptr, one pass) {
	size, _ := layout(one)
	for place := range length {
		one(&Codec{mode: lifting, at: at + size*place}, unsafe.Add(list, stride*place))
	}
}

// textAt returns the place of a text. The text must not stand on the stack, which moves when it grows: what a global variable refers to does not.
func textAt(text string) (at, length uint32) {
	kept = unsafe.Pointer(unsafe.StringData(text))
	return uint32(uintptr(kept)), uint32(len(text))
}

// TextOf returns the text at that address.
func TextOf(at, length uint32) string {
	return unsafe.String((*byte)(pointer(uintptr(at))), length)
}

func number[T ~uint8 | uint32 | uint64 | int64 | float32 | float64](c *Codec, value *T) {
	size := unsafe.Sizeof(*value)
	at := (*T)(pointer(c.place(size, size)))
	switch c.mode {
	case lifting:
		*value = *at
	case lowering:
		*at = *value
	}
}

func boolean(c *Codec, value *bool) {
	var flag uint8
	if *value {
		flag = 1
	}
	number(c, &flag)
	*value = flag != 0
}

func text(c *Codec, value *string) {
	at := (*[2]uint32)(pointer(c.place(8, 4)))
	switch c.mode {
	case lifting:
		*value = TextOf(at[0], at[1])
	case lowering:
		at[0], at[1] = textAt(*value)
	}
}

func list[T any](c *Codec, values *[]T, one func(*Codec, *T)) {
	at := (*[2]uint32)(pointer(c.place(8, 4)))
	switch c.mode {
	case lifting:
		*values = liftList(at[0], at[1], one)
	case lowering:
		at[0], at[1] = lowerList(*values, one)
	}
}

func texts(c *Codec, values *[]string) { list(c, values, text) }

// record passes over a value within another one.
func record[T any](c *Codec, value *T, one func(*Codec, *T)) {
	within(c, unsafe.Pointer(value), erased(one))
}

func within(c *Codec, value unsafe.Pointer, one pass) {
	size, align := layout(one)
	at := c.place(size, align)
	if c.mode != measuring {
		one(&Codec{mode: c.mode, at: at}, value)
	}
}

// variant passes over a tag and the payload of its case. The tags are those of the cases that have a payload.
func variant(c *Codec, tag *uint8, payload func(*Codec, uint8), tags ...uint8) {
	size, align := uintptr(0), uintptr(1)
	for _, tag := range tags {
		inner := Codec{align: 1}
		payload(&inner, tag)
		size, align = max(size, inner.at), max(align, inner.align)
	}
	start := up(1, align)
	at := c.place(up(start+size, align), align)
	switch c.mode {
	case measuring:
		return
	case lifting:
		*tag = *(*uint8)(pointer(at))
	case lowering:
		*(*uint8)(pointer(at)) = *tag
	}
	payload(&Codec{mode: c.mode, at: at + start}, *tag)
}

// option passes over an optional value.
func option[T any](c *Codec, value **T, one func(*Codec, *T)) {
	if isSome(c, unsafe.Pointer(*value), erased(one)) {
		*value = new(T)
		one(&Codec{mode: lifting, at: c.payload}, *value)
	}
}

// isSome measures or writes an optional value. It reports whether there is one to read, from the address payload on.
func isSome(c *Codec, value unsafe.Pointer, one pass) bool {
	var tag uint8
	if value != nil {
		tag = 1
	}
	some := false
	variant(c, &tag, func(inner *Codec, tag uint8) {
		switch {
		case tag == 0:
		case inner.mode == measuring:
			one(inner, unsafe.Pointer(&zero))
		case inner.mode == lifting:
			c.payload, some = inner.at, true
		default:
			one(inner, value)
		}
	}, 1)
	return some
}

// words passes over a variant without payloads but that of its last case, which has a name that this version does not know.
func words[W ~string](c *Codec, value *W, known []W) {
	tag, other := wordTag(*value, known)
	variant(c, &tag, func(c *Codec, tag uint8) {
		if int(tag) == len(known) {
			text(c, &other)
		}
	}, uint8(len(known)))
	if c.mode == lifting {
		*value = W(other)
		if int(tag) < len(known) {
			*value = known[tag]
		}
	}
}

// word passes over a word of a closed set.
func word[W ~string](c *Codec, value *W, known []W) {
	tag, _ := wordTag(*value, known)
	number(c, &tag)
	if c.mode == lifting {
		*value = known[tag]
	}
}

func wordTag[W ~string](value W, known []W) (tag uint8, other string) {
	for at, word := range known {
		if word == value {
			return uint8(at), ""
		}
	}
	return uint8(len(known)), string(value)
}
