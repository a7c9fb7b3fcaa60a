// Package solver exports the role solver, which finds statements that solve one task. A component has the role if its code imports this package.
package solver

import (
	"github.com/syrch/syrch-host/sdk/go/internal/about"
	"github.com/syrch/syrch-host/sdk/go/syrch"
)

var role = about.Missing[syrch.SolverRole]("solver")

// Export makes the plugin the component's solver. Call it in a function init.
func Export[P syrch.SolverRole](plugin *syrch.Plugin[P]) {
	role = about.Role(plugin, func(plugin P) syrch.SolverRole { return plugin })
}
