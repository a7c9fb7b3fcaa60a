//go:build wasip1

package planner

import (
	"github.com/syrch/syrch-host/sdk/go/internal/wasm"
	"github.com/syrch/syrch-host/sdk/go/syrch"
)

//go:wasmexport syrch:plugin/planner@0.1.0#plan
func plan(arguments uintptr) uintptr {
	return wasm.Call(wasm.Graph, wasm.Host{}.Note, func() (syrch.Graph, error) {
		given := wasm.NewArguments(arguments)
		problem := wasm.Next(given, wasm.Problem)
		catalog := wasm.Next(given, wasm.Catalog)
		plugin, err := role()
		if err != nil {
			return syrch.Graph{}, err
		}
		return plugin.Plan(wasm.Host{}, problem, catalog)
	})
}

//go:wasmexport syrch:plugin/planner@0.1.0#next
func next(arguments uintptr) uintptr {
	return wasm.Call(wasm.Step, wasm.Host{}.Note, func() (syrch.Step, error) {
		given := wasm.NewArguments(arguments)
		problem := wasm.Next(given, wasm.Problem)
		catalog := wasm.Next(given, wasm.Catalog)
		graph := wasm.Next(given, wasm.Graph)
		seen := wasm.List(given, wasm.Observation)
		fresh := min(int(wasm.Number(given)), len(seen))
		plugin, err := role()
		if err != nil {
			return syrch.Step{}, err
		}
		next, follows := plugin.(syrch.PlannerNext)
		if !follows {
			return syrch.Step{Memo: graph.Memo}, nil
		}
		return next.Next(wasm.Host{}, problem, catalog, graph, seen, fresh)
	})
}
