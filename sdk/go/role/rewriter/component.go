//go:build wasip1

package rewriter

import (
	"github.com/syrch/syrch-host/sdk/go/internal/wasm"
	"github.com/syrch/syrch-host/sdk/go/syrch"
)

//go:wasmexport syrch:plugin/rewriter@0.1.0#rewrite
func rewrite(arguments uintptr) uintptr {
	return wasm.Call(wasm.MaybeProposal, wasm.Host{}.Note, func() (*syrch.Proposal, error) {
		given := wasm.NewArguments(arguments)
		original, best := wasm.Text(given), wasm.Text(given)
		plan := wasm.Next(given, wasm.Plan)
		catalog := wasm.Next(given, wasm.Catalog)
		history := wasm.List(given, wasm.Attempt)
		plugin, err := role()
		if err != nil {
			return nil, err
		}
		return plugin.Rewrite(wasm.Host{}, original, best, plan, catalog, history)
	})
}
