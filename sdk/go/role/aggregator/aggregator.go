// Package aggregator exports the role aggregator, which makes the answer from the finished tasks. A component has the role if its code imports this package.
package aggregator

import (
	"github.com/syrch/syrch-host/sdk/go/internal/about"
	"github.com/syrch/syrch-host/sdk/go/syrch"
)

var role = about.Missing[syrch.AggregatorRole]("aggregator")

// Export makes the plugin the component's aggregator. Call it in a function init.
func Export[P syrch.AggregatorRole](plugin *syrch.Plugin[P]) {
	role = about.Role(plugin, func(plugin P) syrch.AggregatorRole { return plugin })
}
