package main

import (
	"github.com/syrch/syrch-host/sdk/go/role/reward"
	"github.com/syrch/syrch-host/sdk/go/syrch"
)

func init() { reward.Export(plugin) }

// Judge rejects results with more rows than usual.
func (p Plugin) Judge(
	_ syrch.RewardHost, _ syrch.Problem, _ syrch.Catalog, _ syrch.Task, rivals []syrch.Rival,
) ([]syrch.Verdict, error) {
	verdicts := make([]syrch.Verdict, len(rivals))
	for at, rival := range rivals {
		rows := rival.Results.Profile().Rows
		if rows > uint64(p.Most) {
			verdicts[at] = syrch.Reject(0, syrch.Count(rows, "row")+" are too many")
		} else {
			verdicts[at] = syrch.Accept(1, syrch.Count(rows, "row"))
		}
	}
	return verdicts, nil
}
