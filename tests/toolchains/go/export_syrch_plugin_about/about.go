// Package export_syrch_plugin_about says who the plugin is.
package export_syrch_plugin_about

import (
	"runtime/debug"

	about "wit_component/syrch_plugin_about"
	"wit_component/syrch_plugin_types"

	wit "go.bytecodealliance.org/pkg/wit/types"
)

// Name is the plugin's own, and the origin of its candidates.
const Name = "toolchain-go"

// The collector may not run while the host hands arguments over: it asks for the time, and a component may call nothing then
// (the adapter in jco 1.35.0 pauses the monotonic clock for this, but not the wall clock). A store lives for one call, so there is nothing to collect.
func init() {
	debug.SetGCPercent(-1)
}

func Describe() about.Identity {
	return about.Identity{
		Name:         Name,
		Version:      "0.1.0",
		Summary:      "one task and one statement, from Go",
		ConfigSchema: `{"type":"object","additionalProperties":false}`,
	}
}

func Configure(string) wit.Result[wit.Unit, syrch_plugin_types.Failure] {
	return wit.Ok[wit.Unit, syrch_plugin_types.Failure](wit.Unit{})
}
