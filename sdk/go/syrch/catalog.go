package syrch

import "strings"

// This file has the names of tables: how the host shows them, and which table a name means. The rules are those of the host.

// NeedsSchema reports whether the plain name of this table means another one, or none, so that its schema has to stand before it.
func (t *Table) NeedsSchema() bool {
	return hasExtra(t.Extra, "needs_schema", "true")
}

// IsView reports whether the table is a view.
func (t *Table) IsView() bool {
	return hasExtra(t.Extra, "kind", `"view"`)
}

func hasExtra(extra []Extra, name, json string) bool {
	for _, field := range extra {
		if field.Name == name && field.JSON == json {
			return true
		}
	}
	return false
}

// Table returns the table that a name means, as hits, facts, foreign keys and models write it, with its schema before it or without; nil
// if there is none.
func (c *Catalog) Table(name string) *Table {
	best, found := 0, (*Table)(nil)
	for at := range c.Tables {
		if rank, fits := c.Tables[at].rank(name); fits && (found == nil || rank < best) {
			best, found = rank, &c.Tables[at]
		}
	}
	return found
}

// TableName returns the name by which the host shows and finds a table: its plain name, with its schema before it where several tables have
// that name or where it needs its schema. It is for what goes back to the host, such as a linker's selection; a statement has FromName.
func (c *Catalog) TableName(table *Table) string {
	same := 0
	for at := range c.Tables {
		if asciiEqual(c.Tables[at].Name, table.Name) {
			same++
		}
	}
	if table.SchemaName != nil && (same > 1 || table.NeedsSchema()) {
		return *table.SchemaName + "." + table.Name
	}
	return table.Name
}

// rank says how well a name fits this table, 0 being best; false if it is the name of another.
func (t *Table) rank(name string) (int, bool) {
	if t.SchemaName != nil {
		schema := *t.SchemaName
		if len(name) > len(schema) && name[len(schema)] == '.' {
			start, rest := name[:len(schema)], name[len(schema)+1:]
			if asciiEqual(rest, t.Name) && asciiEqual(start, schema) {
				if start == schema && rest == t.Name {
					return 0, true
				}
				return 1, true
			}
		}
	}
	if !asciiEqual(name, t.Name) {
		return 0, false
	}
	rank := 2
	if t.NeedsSchema() {
		rank += 2
	}
	if name != t.Name {
		rank++
	}
	return rank, true
}

// names joins what a function makes of each name.
func names(list []string, of func(string) string) string {
	out := make([]string, len(list))
	for at, name := range list {
		out[at] = of(name)
	}
	return strings.Join(out, ", ")
}
