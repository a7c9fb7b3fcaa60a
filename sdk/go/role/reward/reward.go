// Package reward exports the role reward, which judges the candidates of a task. A component has the role if its code imports this package.
package reward

import (
	"github.com/syrch/syrch-host/sdk/go/internal/about"
	"github.com/syrch/syrch-host/sdk/go/syrch"
)

var role = about.Missing[syrch.RewardRole]("reward")

// Export makes the plugin the component's reward. Call it in a function init.
func Export[P syrch.RewardRole](plugin *syrch.Plugin[P]) {
	role = about.Role(plugin, func(plugin P) syrch.RewardRole { return plugin })
}
