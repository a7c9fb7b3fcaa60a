//go:build wasip1

package linker

import (
	"github.com/syrch/syrch-host/sdk/go/internal/wasm"
	"github.com/syrch/syrch-host/sdk/go/syrch"
)

//go:wasmexport syrch:plugin/linker@0.1.0#link
func link(arguments uintptr) uintptr {
	return wasm.Call(wasm.Linked, wasm.Host{}.Note, func() (syrch.Linked, error) {
		given := wasm.NewArguments(arguments)
		problem := wasm.Next(given, wasm.Problem)
		catalog := wasm.Next(given, wasm.Catalog)
		plugin, err := role()
		if err != nil {
			return syrch.Linked{}, err
		}
		return plugin.Link(wasm.Host{}, problem, catalog)
	})
}
