package main

import (
	"strings"

	"github.com/syrch/syrch-host/sdk/go/role/linker"
	"github.com/syrch/syrch-host/sdk/go/syrch"
)

func init() { linker.Export(plugin) }

// Link selects the tables that the question names.
func (p Plugin) Link(_ syrch.LinkerHost, problem syrch.Problem, catalog syrch.Catalog) (syrch.Linked, error) {
	question := strings.ToLower(problem.Question)
	// Without a table the catalog stays as it is.
	var linked syrch.Linked
	for _, table := range catalog.Tables {
		if len(linked.Tables) < int(p.Most) && strings.Contains(question, strings.ToLower(table.Name)) {
			// No columns means all of them.
			linked.Tables = append(linked.Tables, syrch.Relevant{
				Table: catalog.TableName(&table), Score: 1, Reason: "the question names it",
			})
		}
	}
	return linked, nil
}
