// The reward short likes short results.
package main

import (
	"fmt"

	"github.com/syrch/syrch-host/sdk/go/role/reward"
	"github.com/syrch/syrch-host/sdk/go/syrch"
)

// Settings are what the user may set: -P reward.most_rows=20.
type Settings struct {
	MostRows uint64 `setting:"most_rows" default:"100" least:"1" most:"1000000" help:"Results with more rows are rejected."`
}

// Short is the plugin.
type Short struct{ Settings }

var plugin = syrch.New("short", "1.0.0", "likes short results", func(settings Settings) Short { return Short{settings} })

func init() { reward.Export(plugin) }

func main() {}

// Judge accepts the results that are short enough.
func (s Short) Judge(
	_ syrch.RewardHost, _ syrch.Problem, _ syrch.Catalog, _ syrch.Task, rivals []syrch.Rival,
) ([]syrch.Verdict, error) {
	verdicts := make([]syrch.Verdict, len(rivals))
	for at, rival := range rivals {
		rows := rival.Results.Profile().Rows
		if rows > s.MostRows {
			verdicts[at] = syrch.Reject(0, fmt.Sprintf("%d rows are too many", rows))
		} else {
			verdicts[at] = syrch.Accept(1, fmt.Sprintf("%d rows", rows))
		}
	}
	return verdicts, nil
}
