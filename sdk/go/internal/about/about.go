// Package about exports the identity of a plugin and its settings. The packages of the roles import it.
package about

import "github.com/syrch/syrch-host/sdk/go/syrch"

var (
	identity  = syrch.Identity{Name: "unnamed", Version: "0.0.0", Summary: "no role is exported", ConfigSchema: `{"type":"object"}`}
	configure = func(string) error { return nil }
	settings  string
)

// Declare sets what the component says of itself, and the function that checks settings.
func Declare(of syrch.Identity, check func(config string) error) {
	identity, configure = of, check
}

// Role returns the function that makes a plugin for a role call.
func Role[R any, P any](plugin *syrch.Plugin[P], as func(P) R) func() (R, error) {
	Declare(plugin.Identity(), func(config string) error {
		_, err := plugin.With(config)
		return err
	})
	return func() (R, error) {
		made, err := plugin.With(settings)
		return as(made), err
	}
}

// Missing is the function of a role that was not exported.
func Missing[R any](role string) func() (R, error) {
	return func() (R, error) {
		var none R
		return none, syrch.Failf(syrch.UnsupportedFailure, "the plugin does not call %s.Export", role)
	}
}
