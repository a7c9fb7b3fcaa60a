// Package calibrator exports the role calibrator, which turns stated confidences into probabilities. A component has the role if its code imports this package.
package calibrator

import (
	"github.com/syrch/syrch-host/sdk/go/internal/about"
	"github.com/syrch/syrch-host/sdk/go/syrch"
)

var role = about.Missing[syrch.CalibratorRole]("calibrator")

// Export makes the plugin the component's calibrator. Call it in a function init.
func Export[P syrch.CalibratorRole](plugin *syrch.Plugin[P]) {
	role = about.Role(plugin, func(plugin P) syrch.CalibratorRole { return plugin })
}
