//go:build wasip1

package calibrator

import (
	"os"
	"strings"

	"github.com/syrch/syrch-host/sdk/go/internal/wasm"
	"github.com/syrch/syrch-host/sdk/go/syrch"
)

// The role cannot fail and reaches no port. So a panic ends the call, after its place and its text were printed: they become a part of the host's
// error.
//
//go:wasmexport syrch:plugin/calibrator@0.1.0#calibrate
func calibrate(claims, length uint32) uintptr {
	place := ""
	note := func(_ syrch.Level, message string) { place, _, _ = strings.Cut(message, "\n") }
	numbers, failure := syrch.Guard(note, func() ([]float64, error) {
		plugin, err := role()
		if err != nil {
			return nil, err
		}
		return plugin.Calibrate(wasm.LiftClaims(claims, length)), nil
	})
	if failure != nil {
		if place == "" {
			place = failure.Message
		}
		println(place)
		os.Exit(2)
	}
	return wasm.LowerNumbers(numbers)
}
