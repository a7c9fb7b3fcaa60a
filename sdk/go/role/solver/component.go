//go:build wasip1

package solver

import (
	"github.com/syrch/syrch-host/sdk/go/internal/wasm"
	"github.com/syrch/syrch-host/sdk/go/syrch"
)

//go:wasmexport syrch:plugin/solver@0.1.0#solve
func solve(arguments uintptr) uintptr {
	return wasm.Call(wasm.Outcome, wasm.Host{}.Note, func() (syrch.Outcome, error) {
		given := wasm.NewArguments(arguments)
		problem := wasm.Next(given, wasm.Problem)
		catalog := wasm.Next(given, wasm.Catalog)
		task := wasm.Next(given, wasm.Task)
		parents := wasm.List(given, wasm.Parent)
		plugin, err := role()
		if err != nil {
			return syrch.Outcome{}, err
		}
		for _, parent := range parents {
			if parent.Relation != nil {
				defer parent.Relation.Results.Close()
			}
		}
		return plugin.Solve(wasm.Host{}, problem, catalog, task, parents)
	})
}
