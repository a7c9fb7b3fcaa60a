package main

import (
	"strings"

	"github.com/syrch/syrch-host/sdk/go/role/rewriter"
	"github.com/syrch/syrch-host/sdk/go/syrch"
)

func init() { rewriter.Export(plugin) }

// Rewrite drops a condition that always holds.
func (p Plugin) Rewrite(
	_ syrch.RewriterHost, _, best string, _ syrch.Plan, _ syrch.Catalog, history []syrch.Attempt,
) (*syrch.Proposal, error) {
	sql := strings.ReplaceAll(best, " WHERE 1 = 1", "")
	isKnown := sql == best
	for _, attempt := range history {
		isKnown = isKnown || attempt.SQL == sql
	}
	if isKnown || len(history) >= int(p.Most) {
		// Nil ends the optimization.
		return nil, nil
	}
	return &syrch.Proposal{SQL: sql, Family: "drop-condition", Reason: "the condition always holds"}, nil
}
