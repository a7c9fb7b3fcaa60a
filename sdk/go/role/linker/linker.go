// Package linker exports the role linker, which selects the part of a large catalog that a question needs. A component has the role if its code imports this package.
package linker

import (
	"github.com/syrch/syrch-host/sdk/go/internal/about"
	"github.com/syrch/syrch-host/sdk/go/syrch"
)

var role = about.Missing[syrch.LinkerRole]("linker")

// Export makes the plugin the component's linker. Call it in a function init.
func Export[P syrch.LinkerRole](plugin *syrch.Plugin[P]) {
	role = about.Role(plugin, func(plugin P) syrch.LinkerRole { return plugin })
}
