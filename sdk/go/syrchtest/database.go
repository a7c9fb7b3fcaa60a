package syrchtest

import (
	"fmt"
	"slices"
	"strings"

	"github.com/syrch/syrch-host/sdk/go/syrch"
)

// A Database answers by statement. A statement that the test did not script fails its check as `syntax` and its run as `other`.
type Database struct {
	// GrantedRows is how many rows of a result a role may read; nil if the grant is missing.
	GrantedRows *uint32
	// Hits are those of phrases.
	Hits map[string][]syrch.Hit
	// Values are the samples of tables.
	Values map[string][]syrch.Sample
	// Stats are the statistics of tables.
	Stats map[string][]syrch.ColumnStats
	// Metrics has what CompileMetric answers for a request.
	Metrics map[string]syrch.Compiled
	// Plans are those of statements.
	Plans map[string]syrch.Plan
	// Log has the statements that were run, in order.
	Log    []string
	checks map[string]syrch.Result[syrch.Facts]
	runs   map[string]syrch.Result[syrch.ResultSet]
}

// Results are a result that a test made.
type Results struct {
	profile syrch.Profile
	rows    [][]syrch.Value
	// Closed counts the calls of Close.
	Closed int
}

// Rows returns a result with these columns and rows; its profile is counted from them.
func Rows(columns []string, rows ...[]syrch.Value) *Results {
	profile := syrch.Profile{Rows: uint64(len(rows))}
	for at, name := range columns {
		column := syrch.ColumnProfile{Column: syrch.Column{Name: name, Nullable: true}}
		for _, row := range rows {
			if at >= len(row) || row[at].Kind == syrch.KindNull {
				column.Nulls++
			}
		}
		profile.Columns = append(profile.Columns, column)
	}
	return &Results{profile: profile, rows: rows}
}

// Counted changes the number of rows in the profile, for results that are too long to write down.
func (r *Results) Counted(rows uint64) *Results {
	r.profile.Rows = rows
	return r
}

// Profile returns the shape of the result.
func (r *Results) Profile() syrch.Profile { return r.profile }

// Close counts the call.
func (r *Results) Close() { r.Closed++ }

// Fingerprint returns the rows as text.
func (r *Results) Fingerprint(under syrch.Equality) *string {
	rows := make([]string, len(r.rows))
	for at, row := range r.rows {
		rows[at] = fmt.Sprintf("%#v", row)
	}
	switch under {
	case syrch.Ordered:
	case syrch.Bag:
		slices.Sort(rows)
	case syrch.Set:
		slices.Sort(rows)
		rows = slices.Compact(rows)
	default:
		return nil
	}
	return new(strings.Join(rows, "\n"))
}

// Answer makes a statement pass its check and give these rows.
func (d *Database) Answer(sql string, rows *Results) {
	d.set(sql, syrch.Result[syrch.Facts]{Value: syrch.Facts{Normalized: sql, Skeleton: sql}}, syrch.Result[syrch.ResultSet]{Value: rows})
}

// FailCheck makes a statement fail its check.
func (d *Database) FailCheck(sql string, kind syrch.SQLErrorKind, message string) {
	err := &syrch.SQLError{Kind: kind, Message: message}
	d.set(sql, syrch.Result[syrch.Facts]{Err: err}, syrch.Result[syrch.ResultSet]{Err: err})
}

// FailRun makes a statement pass its check and fail when it runs.
func (d *Database) FailRun(sql string, kind syrch.SQLErrorKind, message string) {
	err := &syrch.SQLError{Kind: kind, Message: message}
	d.set(sql, syrch.Result[syrch.Facts]{Value: syrch.Facts{Normalized: sql, Skeleton: sql}}, syrch.Result[syrch.ResultSet]{Err: err})
}

func (d *Database) set(sql string, check syrch.Result[syrch.Facts], run syrch.Result[syrch.ResultSet]) {
	if d.checks == nil {
		d.checks, d.runs = map[string]syrch.Result[syrch.Facts]{}, map[string]syrch.Result[syrch.ResultSet]{}
	}
	d.checks[sql], d.runs[sql] = check, run
}

func (d *Database) check(sql string) (syrch.Facts, error) {
	if known, isKnown := d.checks[sql]; isKnown {
		return known.Value, known.Err
	}
	return syrch.Facts{}, &syrch.SQLError{Kind: syrch.SyntaxError, Message: "nothing scripted for this statement"}
}

func (d *Database) explain(sql string) (syrch.Plan, error) {
	if plan, isKnown := d.Plans[sql]; isKnown {
		return plan, nil
	}
	return syrch.Plan{}, &syrch.SQLError{Kind: syrch.OtherSQLError, Message: "no plan scripted for this statement"}
}

func (d *Database) run(sql string) (syrch.ResultSet, error) {
	d.Log = append(d.Log, sql)
	if known, isKnown := d.runs[sql]; isKnown {
		return known.Value, known.Err
	}
	return nil, &syrch.SQLError{Kind: syrch.OtherSQLError, Message: "nothing scripted for this statement"}
}

func (d *Database) columnStats(table string, columns []string) ([]syrch.ColumnStats, error) {
	all, isKnown := d.Stats[table]
	if !isKnown {
		return nil, &syrch.PortError{Kind: syrch.PortUnknownName, Text: table}
	}
	return slices.DeleteFunc(slices.Clone(all), func(stats syrch.ColumnStats) bool { return !slices.Contains(columns, stats.Column) }), nil
}

func (d *Database) compileMetric(request string) (syrch.Compiled, error) {
	compiled, isKnown := d.Metrics[request]
	if !isKnown {
		return syrch.Compiled{}, &syrch.PortError{Kind: syrch.PortUnsupported}
	}
	return compiled, nil
}

func (d *Database) granted() error {
	if d.GrantedRows == nil {
		return &syrch.PortError{Kind: syrch.PortDenied, Text: "rows are not granted"}
	}
	return nil
}

func (d *Database) read(of syrch.ResultSet, offset uint64, limit uint32) (syrch.Page, error) {
	if err := d.granted(); err != nil {
		return syrch.Page{}, err
	}
	results, isFake := of.(*Results)
	if !isFake {
		return syrch.Page{}, &syrch.PortError{Kind: syrch.PortUnsupported}
	}
	start := min(int(offset), len(results.rows))
	asked := min(len(results.rows)-start, int(limit))
	shown := max(min(asked, int(*d.GrantedRows)-start), 0)
	page := syrch.Page{Rows: results.rows[start : start+shown], Clipped: shown < asked}
	for _, column := range results.profile.Columns {
		page.Columns = append(page.Columns, column.Column.Name)
	}
	return page, nil
}

func (d *Database) samples(table string, columns []string, limit uint32) ([]syrch.Sample, error) {
	if err := d.granted(); err != nil {
		return nil, err
	}
	all, isKnown := d.Values[table]
	if !isKnown {
		return nil, &syrch.PortError{Kind: syrch.PortUnknownName, Text: table}
	}
	var samples []syrch.Sample
	for _, sample := range all {
		if slices.Contains(columns, sample.Column) {
			sample.Frequent = sample.Frequent[:min(len(sample.Frequent), int(limit))]
			samples = append(samples, sample)
		}
	}
	return samples, nil
}

func (d *Database) find(phrases []string, limit uint32) ([][]syrch.Hit, error) {
	if err := d.granted(); err != nil {
		return nil, err
	}
	lists := make([][]syrch.Hit, len(phrases))
	for at, phrase := range phrases {
		lists[at] = d.Hits[phrase][:min(len(d.Hits[phrase]), int(limit))]
	}
	return lists, nil
}
