package syrch

import "strings"

// This file has the canonical replies: one schema for each purpose that the providers without a model know too, and its reader. A schema's
// title is the mark by which those providers know it; a request with another schema is `unsupported` to them.

// PlanSchema is the schema of the reply to ForPlanning: subtasks with their dependencies, and how their results join.
const PlanSchema = `{"$schema":"https://json-schema.org/draft/2020-12/schema","title":"syrch-plan","type":"object","properties":{"subtasks":{"type":"array","minItems":1,"items":{"type":"object","properties":{"id":{"type":"string"},"description":{"type":"string"},"depends_on":{"type":"array","items":{"type":"string"}},"is_atomic":{"type":"boolean"},"expected_output":{"type":"string"},"join_keys":{"type":"array","items":{"type":"object","properties":{"left":{"type":"string"},"left_col":{"type":"string"},"right":{"type":"string"},"right_col":{"type":"string"},"how":{"type":"string","enum":["inner","left","right","outer"]}},"required":["left","left_col","right","right_col"]}}},"required":["id","description"]}}},"required":["subtasks"]}`

// VerdictSchema is the schema of the reply to ForJudging: whether a statement answers its task, how well, and why.
const VerdictSchema = `{"$schema":"https://json-schema.org/draft/2020-12/schema","title":"syrch-verdict","type":"object","properties":{"accepted":{"type":"boolean"},"score":{"type":"number","minimum":0,"maximum":1},"reason":{"type":"string"}},"required":["accepted","score"]}`

// A JoinKey is a pair of columns by which the results of two tasks join. How is inner, left, right or outer.
type JoinKey struct {
	Left     string `json:"left"`
	LeftCol  string `json:"left_col"`
	Right    string `json:"right"`
	RightCol string `json:"right_col"`
	How      string `json:"how"`
}

// JoinContext returns a task's context that carries join keys; nil if there are none.
func JoinContext(keys []JoinKey) *string {
	if len(keys) == 0 {
		return nil
	}
	var context struct {
		JoinKeys []JoinKey `json:"join_keys"`
	}
	for _, key := range keys {
		key.How = joinHow(key.How)
		context.JoinKeys = append(context.JoinKeys, key)
	}
	return new(JSON(context))
}

// JoinKeysOf returns the join keys in a task's context; none in a context of another kind.
func JoinKeysOf(task *Task) []JoinKey {
	return joinKeys(document(task.Context)["join_keys"])
}

// PlanContext returns a task's context that carries the steps of a plan for its statement; nil if there are none.
func PlanContext(steps []string) *string {
	if len(steps) == 0 {
		return nil
	}
	return new(JSON(map[string][]string{"plan": steps}))
}

// PlanOf returns the steps of the plan in a task's context; none in a context of another kind.
func PlanOf(task *Task) []string {
	list, _ := document(task.Context)["plan"].([]any)
	var steps []string
	for _, step := range list {
		if text, isText := step.(string); isText {
			steps = append(steps, text)
		}
	}
	return steps
}

// A Subtask is one of a plan, as the model wrote it. DependsOn names each dependency once.
type Subtask struct {
	ID             string
	Description    string
	DependsOn      []string
	IsAtomic       bool
	ExpectedOutput *string
	JoinKeys       []JoinKey
}

// SubtasksOf reads the reply to ForPlanning. It forgives what models get wrong without harm, such as a list that is null, a missing flag, or a
// dependency that is named twice. The result is nil if there is no subtask with an id and a description.
func SubtasksOf(reply *Reply) []Subtask {
	list, _ := document(reply.Parsed)["subtasks"].([]any)
	var subtasks []Subtask
	for _, item := range list {
		fields, _ := item.(map[string]any)
		subtask := Subtask{
			ID: word(fields, "id"), Description: word(fields, "description"), IsAtomic: true, JoinKeys: joinKeys(fields["join_keys"]),
		}
		if subtask.ID == "" || subtask.Description == "" {
			continue
		}
		if isAtomic, isGiven := fields["is_atomic"].(bool); isGiven {
			subtask.IsAtomic = isAtomic
		}
		if expected := word(fields, "expected_output"); expected != "" {
			subtask.ExpectedOutput = &expected
		}
		subtask.DependsOn = distinct(fields["depends_on"])
		subtasks = append(subtasks, subtask)
	}
	return subtasks
}

// SQLOf reads the reply to ForGenerating or ForRepair: the statement, and the confidence that the model states, 0 to 1. The statement is empty
// if the reply has none.
func SQLOf(reply *Reply) (sql string, confidence *float64) {
	fields := document(reply.Parsed)
	sql = word(fields, "sql")
	if stated, isNumber := fields["confidence"].(float64); isNumber {
		confidence = new(Clamp01(stated))
	}
	return sql, confidence
}

// VerdictOf reads the reply to ForJudging; it is unavailable if the reply says neither yes nor no.
func VerdictOf(reply *Reply) Verdict {
	fields := document(reply.Parsed)
	accepted, isGiven := fields["accepted"].(bool)
	if !isGiven {
		return CannotJudge("the judge said neither yes nor no")
	}
	verdict := Reject(0, "")
	if accepted {
		verdict = Accept(1, "")
	}
	if score, isNumber := fields["score"].(float64); isNumber {
		verdict.Score = Clamp01(score)
	}
	verdict.Reason, _ = fields["reason"].(string)
	return verdict
}

// document returns the fields of a JSON object; none of what is none.
func document(text *string) map[string]any {
	var fields map[string]any
	if text == nil || ReadJSON(*text, &fields) != nil {
		return nil
	}
	return fields
}

// word returns a field's text without white space around it; empty if it is none.
func word(fields map[string]any, name string) string {
	text, _ := fields[name].(string)
	return strings.TrimSpace(text)
}

func distinct(value any) []string {
	list, _ := value.([]any)
	var out []string
	known := map[string]bool{}
	for _, item := range list {
		text, _ := item.(string)
		if text = strings.TrimSpace(text); text != "" && !known[text] {
			known[text] = true
			out = append(out, text)
		}
	}
	return out
}

func joinKeys(value any) []JoinKey {
	list, _ := value.([]any)
	var keys []JoinKey
	for _, item := range list {
		fields, _ := item.(map[string]any)
		key := JoinKey{word(fields, "left"), word(fields, "left_col"), word(fields, "right"), word(fields, "right_col"), "inner"}
		if key.Left == "" || key.LeftCol == "" || key.Right == "" || key.RightCol == "" {
			continue
		}
		key.How = joinHow(word(fields, "how"))
		keys = append(keys, key)
	}
	return keys
}

// joinHow returns the kind of join of that name; inner for a name that is none.
func joinHow(name string) string {
	switch name = asciiLower(strings.TrimSpace(name)); name {
	case "left", "right", "outer":
		return name
	case "full", "full outer":
		return "outer"
	}
	return "inner"
}
