//go:build wasip1

package wasm

// This file has the functions that the host offers, as core functions. The linker drops those that are not called.

//go:wasmimport syrch:plugin/run@0.1.0 current-policy
func runCurrentPolicy(area uintptr)

//go:wasmimport syrch:plugin/run@0.1.0 setting
func runSetting(name, length uint32, area uintptr)

//go:wasmimport syrch:plugin/run@0.1.0 remaining
func runRemaining(area uintptr)

//go:wasmimport syrch:plugin/run@0.1.0 seed
func runSeed() uint64

//go:wasmimport syrch:plugin/wait@0.1.0 any
func waitAny(tickets, length uint32, area uintptr)

//go:wasmimport syrch:plugin/wait@0.1.0 pause
func waitPause(milliseconds uint32)

//go:wasmimport syrch:plugin/llm@0.1.0 models
func llmModels(area uintptr)

//go:wasmimport syrch:plugin/llm@0.1.0 complete
func llmComplete(request, area uintptr)

//go:wasmimport syrch:plugin/llm@0.1.0 complete-all
func llmCompleteAll(requests, length uint32, area uintptr)

//go:wasmimport syrch:plugin/llm@0.1.0 start
func llmStart(request uintptr) uint32

//go:wasmimport syrch:plugin/llm@0.1.0 [method]pending.ticket
func llmPendingTicket(handle uint32) uint32

//go:wasmimport syrch:plugin/llm@0.1.0 [method]pending.cancel
func llmPendingCancel(handle uint32)

//go:wasmimport syrch:plugin/llm@0.1.0 [method]pending.get
func llmPendingGet(handle uint32, area uintptr)

//go:wasmimport syrch:plugin/llm@0.1.0 [resource-drop]pending
func llmDropPending(handle uint32)

//go:wasmimport syrch:plugin/inspect@0.1.0 check
func inspectCheck(text, length uint32, area uintptr)

//go:wasmimport syrch:plugin/inspect@0.1.0 explain
func inspectExplain(text, length uint32, area uintptr)

//go:wasmimport syrch:plugin/inspect@0.1.0 column-stats-of
func inspectColumnStatsOf(table, length, columns, number uint32, area uintptr)

//go:wasmimport syrch:plugin/sql@0.1.0 run
func sqlRun(text, length uint32, area uintptr)

//go:wasmimport syrch:plugin/sql@0.1.0 run-all
func sqlRunAll(texts, length uint32, area uintptr)

//go:wasmimport syrch:plugin/sql@0.1.0 start
func sqlStart(text, length uint32) uint32

//go:wasmimport syrch:plugin/sql@0.1.0 [method]result-set.profile
func sqlResultSetProfile(handle uint32, area uintptr)

//go:wasmimport syrch:plugin/sql@0.1.0 [method]result-set.fingerprint
func sqlResultSetFingerprint(handle, tag, other, length uint32, area uintptr)

//go:wasmimport syrch:plugin/sql@0.1.0 [resource-drop]result-set
func sqlDropResultSet(handle uint32)

//go:wasmimport syrch:plugin/sql@0.1.0 [method]running.ticket
func sqlRunningTicket(handle uint32) uint32

//go:wasmimport syrch:plugin/sql@0.1.0 [method]running.cancel
func sqlRunningCancel(handle uint32)

//go:wasmimport syrch:plugin/sql@0.1.0 [method]running.take
func sqlRunningTake(handle uint32, area uintptr)

//go:wasmimport syrch:plugin/sql@0.1.0 [resource-drop]running
func sqlDropRunning(handle uint32)

//go:wasmimport syrch:plugin/rows@0.1.0 read
func rowsRead(handle uint32, offset uint64, limit uint32, area uintptr)

//go:wasmimport syrch:plugin/cells@0.1.0 samples
func cellsSamples(table, length, columns, number, limit uint32, area uintptr)

//go:wasmimport syrch:plugin/cells@0.1.0 find
func cellsFind(phrases, number, tag, other, length, limit uint32, area uintptr)

//go:wasmimport syrch:plugin/evaluate@0.1.0 calibrate
func evaluateCalibrate(claims, length uint32, area uintptr)

//go:wasmimport syrch:plugin/evaluate@0.1.0 reward
func evaluateReward(candidates, length uint32, area uintptr)

//go:wasmimport syrch:plugin/evaluate@0.1.0 start-reward
func evaluateStartReward(candidates, length uint32) uint32

//go:wasmimport syrch:plugin/evaluate@0.1.0 [method]judging.ticket
func evaluateJudgingTicket(handle uint32) uint32

//go:wasmimport syrch:plugin/evaluate@0.1.0 [method]judging.cancel
func evaluateJudgingCancel(handle uint32)

//go:wasmimport syrch:plugin/evaluate@0.1.0 [method]judging.get
func evaluateJudgingGet(handle uint32, area uintptr)

//go:wasmimport syrch:plugin/evaluate@0.1.0 [resource-drop]judging
func evaluateDropJudging(handle uint32)

//go:wasmimport syrch:plugin/search@0.1.0 find
func searchFind(corpusTag, corpus, corpusLength, tag, retriever, retrieverLength, text, length, limit uint32, area uintptr)

//go:wasmimport syrch:plugin/search@0.1.0 find-all
func searchFindAll(queries, length uint32, area uintptr)

//go:wasmimport syrch:plugin/search@0.1.0 embed
func searchEmbed(texts, length uint32, area uintptr)

//go:wasmimport syrch:plugin/trace@0.1.0 note
func traceNote(level, message, length uint32)

//go:wasmimport syrch:plugin/trace@0.1.0 propose
func tracePropose(candidate uintptr)

//go:wasmimport syrch:plugin/trace@0.1.0 keep
func traceKeep(candidate, length, reason, reasonLength uint32)

//go:wasmimport syrch:plugin/trace@0.1.0 discard
func traceDiscard(candidate, length, reason, reasonLength uint32)

//go:wasmimport syrch:plugin/trace@0.1.0 event
func traceEvent(hasCandidate, candidate, length, name, nameLength, data, dataLength uint32)
