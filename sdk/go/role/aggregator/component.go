//go:build wasip1

package aggregator

import (
	"github.com/syrch/syrch-host/sdk/go/internal/wasm"
	"github.com/syrch/syrch-host/sdk/go/syrch"
)

//go:wasmexport syrch:plugin/aggregator@0.1.0#aggregate
func aggregate(arguments uintptr) uintptr {
	return wasm.Call(wasm.MaybeAnswer, wasm.Host{}.Note, func() (*syrch.Answer, error) {
		given := wasm.NewArguments(arguments)
		problem := wasm.Next(given, wasm.Problem)
		graph := wasm.Next(given, wasm.Graph)
		finished := wasm.List(given, wasm.Finished)
		seen := wasm.List(given, wasm.Observation)
		plugin, err := role()
		if err != nil {
			return nil, err
		}
		for _, of := range finished {
			defer of.Results.Close()
		}
		return plugin.Aggregate(wasm.Host{}, problem, graph, finished, seen)
	})
}
