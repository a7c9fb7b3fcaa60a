// Package main is the plugin {{name}}: its settings, and its roles in files of their own, each of which exports its role.
package main

import "github.com/syrch/syrch-host/sdk/go/syrch"

// Settings are what the user may set, such as -P {{role}}.most=20.
type Settings struct {
	Most uint32 `setting:"most" default:"10" least:"1" most:"1000000" help:"The most rows, tables, attempts, questions or proposals that count as usual."`
}

// Plugin is made anew for each call of a role.
type Plugin struct{ Settings }

var plugin = syrch.New("{{name}}", "0.1.0", "says in one line what the plugin does", func(settings Settings) Plugin {
	return Plugin{settings}
})

func main() {}
