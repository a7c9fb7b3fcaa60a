// Package clarifier exports the role clarifier, which decides what to ask the user. A component has the role if its code imports this package.
package clarifier

import (
	"github.com/syrch/syrch-host/sdk/go/internal/about"
	"github.com/syrch/syrch-host/sdk/go/syrch"
)

var role = about.Missing[syrch.ClarifierRole]("clarifier")

// Export makes the plugin the component's clarifier. Call it in a function init.
func Export[P syrch.ClarifierRole](plugin *syrch.Plugin[P]) {
	role = about.Role(plugin, func(plugin P) syrch.ClarifierRole { return plugin })
}
