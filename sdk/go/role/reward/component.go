//go:build wasip1

package reward

import (
	"github.com/syrch/syrch-host/sdk/go/internal/wasm"
	"github.com/syrch/syrch-host/sdk/go/syrch"
)

//go:wasmexport syrch:plugin/reward@0.1.0#judge
func judge(arguments uintptr) uintptr {
	return wasm.Call(wasm.Verdicts, wasm.Host{}.Note, func() ([]syrch.Verdict, error) {
		given := wasm.NewArguments(arguments)
		problem := wasm.Next(given, wasm.Problem)
		catalog := wasm.Next(given, wasm.Catalog)
		task := wasm.Next(given, wasm.Task)
		rivals := wasm.List(given, wasm.Rival)
		plugin, err := role()
		if err != nil {
			return nil, err
		}
		for _, rival := range rivals {
			defer rival.Results.Close()
		}
		return plugin.Judge(wasm.Host{}, problem, catalog, task, rivals)
	})
}
