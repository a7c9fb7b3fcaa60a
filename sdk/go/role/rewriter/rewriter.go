// Package rewriter exports the role rewriter, which proposes faster statements with the same result. A component has the role if its code imports this package.
package rewriter

import (
	"github.com/syrch/syrch-host/sdk/go/internal/about"
	"github.com/syrch/syrch-host/sdk/go/syrch"
)

var role = about.Missing[syrch.RewriterRole]("rewriter")

// Export makes the plugin the component's rewriter. Call it in a function init.
func Export[P syrch.RewriterRole](plugin *syrch.Plugin[P]) {
	role = about.Role(plugin, func(plugin P) syrch.RewriterRole { return plugin })
}
