//go:build wasip1

package clarifier

import (
	"github.com/syrch/syrch-host/sdk/go/internal/wasm"
	"github.com/syrch/syrch-host/sdk/go/syrch"
)

//go:wasmexport syrch:plugin/clarifier@0.1.0#assess
func assess(arguments uintptr) uintptr {
	return wasm.Call(wasm.Questions, wasm.Host{}.Note, func() ([]syrch.Question, error) {
		given := wasm.NewArguments(arguments)
		problem := wasm.Next(given, wasm.Problem)
		catalog := wasm.Next(given, wasm.Catalog)
		graph := wasm.Next(given, wasm.Graph)
		seen := wasm.List(given, wasm.Observation)
		plugin, err := role()
		if err != nil {
			return nil, err
		}
		return plugin.Assess(wasm.Host{}, problem, catalog, graph, seen)
	})
}
