//go:build wasip1

package about

import (
	"github.com/syrch/syrch-host/sdk/go/internal/wasm"
)

//go:wasmexport syrch:plugin/about@0.1.0#describe
func describe() uintptr { return wasm.Lower(identity, wasm.Identity) }

// No port is available here, so that a stack cannot be noted.
//
//go:wasmexport syrch:plugin/about@0.1.0#configure
func configureWith(config, length uint32) uintptr {
	return wasm.Call(wasm.Unit, nil, func() (struct{}, error) {
		settings = wasm.TextOf(config, length)
		return struct{}{}, configure(settings)
	})
}
