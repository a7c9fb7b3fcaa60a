// Package planner exports the role planner, which makes a graph of tasks from a question. A component has the role if its code imports this package.
package planner

import (
	"github.com/syrch/syrch-host/sdk/go/internal/about"
	"github.com/syrch/syrch-host/sdk/go/syrch"
)

var role = about.Missing[syrch.PlannerRole]("planner")

// Export makes the plugin the component's planner. Call it in a function init.
func Export[P syrch.PlannerRole](plugin *syrch.Plugin[P]) {
	role = about.Role(plugin, func(plugin P) syrch.PlannerRole { return plugin })
}
