package main

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"rollcall/local/platform/lambdaruntime"
	"rollcall/local/platform/router"
	"rollcall/local/platform/template"
	"rollcall/local/platform/wire"
	"rollcall/local/simaws"
)

// tally is what the functions took.
type tally struct {
	mu sync.Mutex
	// by function
	invocations map[string]int
	failures    map[string]int
	seconds     map[string]float64
	logged      countingWriter
}

func (t *tally) observe(i lambdaruntime.Invocation) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.invocations[i.Function]++
	if i.Result.FunctionError != "" {
		t.failures[i.Function]++
	}
	t.seconds[i.Function] += i.Result.Duration.Seconds()
}

// countingWriter counts what the functions log.
type countingWriter struct {
	mu sync.Mutex
	n  int
	to io.Writer
}

func (w *countingWriter) Write(p []byte) (int, error) {
	w.mu.Lock()
	w.n += len(p)
	w.mu.Unlock()
	return w.to.Write(p)
}

func (w *countingWriter) bytes() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.n
}

// use is one line of the bill, for all launches of the run.
type use struct {
	what  string
	count float64
	// price is in US dollars for one.
	price float64
	note  string
}

// The public prices of us-east-1, November 2026, in US dollars: DynamoDB on
// demand, Lambda on arm64, SQS, EventBridge custom events, CloudWatch Logs.
const (
	priceWrite      = 0.625 / 1e6
	priceRead       = 0.125 / 1e6
	priceInvocation = 0.20 / 1e6
	priceGBSecond   = 0.0000133334
	priceStandard   = 0.40 / 1e6
	priceFIFO       = 0.50 / 1e6
	priceEvent      = 1.00 / 1e6
	priceLogByte    = 0.50 / 1e9
)

// bill counts what a run took.
func bill(t *tally, meter *simaws.Meter, trace []router.Entry, calls []wire.Call, functions []template.Function, ran time.Duration) []use {
	memory := map[string]float64{}
	for _, f := range functions {
		memory[f.Name] = float64(f.Memory) / 1024
	}
	var list []use
	t.mu.Lock()
	invoked, gbs := 0, 0.0
	for _, name := range slices.Sorted(maps.Keys(t.invocations)) {
		n := t.invocations[name]
		invoked += n
		gbs += t.seconds[name] * memory[name]
		list = append(list, use{what: "invocations of " + name, count: float64(n), price: priceInvocation, note: fmt.Sprintf("%.2f s each, %d failed", t.seconds[name]/float64(n), t.failures[name])})
	}
	t.mu.Unlock()
	list = append(list, use{what: "Lambda GB-seconds", count: gbs, price: priceGBSecond, note: "measured on this machine, not on Lambda"})
	reads, writes := 0.0, 0.0
	for op, u := range meter.Used() {
		switch op {
		case "PutItem", "UpdateItem", "DeleteItem", "BatchWriteItem":
			writes += u.Units
			list = append(list, use{what: "table: " + op, count: float64(u.Calls), note: fmt.Sprintf("%.0f write units", u.Units)})
		default:
			reads += u.Units
			list = append(list, use{what: "table: " + op, count: float64(u.Calls), note: fmt.Sprintf("%.0f read units", u.Units)})
		}
	}
	list = append(list, use{what: "table: write units", count: writes, price: priceWrite}, use{what: "table: read units", count: reads, price: priceRead})
	list = append(list, requests(trace, calls, ran)...)
	events := 0
	for _, c := range calls {
		if c.Service == "eventbridge" && c.Operation == "PutEvents" {
			events++
		}
	}
	return append(list,
		use{what: "events on the Rollcall bus (calls)", count: float64(events), price: priceEvent},
		use{what: "log bytes", count: float64(t.logged.bytes()), price: priceLogByte},
	)
}

// pollers is with how many pollers Lambda looks at a queue that is quiet, and
// wait how long each of their requests waits ("Lambda … SQS").
const (
	pollers  = 5
	longPoll = 20 * time.Second
	perCall  = 10 // messages in one ReceiveMessage or DeleteMessageBatch
)

// requests counts what SQS bills: each event that a rule puts into a queue,
// each message that a function sends, and what Lambda's pollers take to
// receive and delete them, and to wait where there is nothing.
func requests(trace []router.Entry, calls []wire.Call, ran time.Duration) []use {
	var sent, batches, received int
	queues := map[string]bool{}
	for _, e := range trace {
		switch {
		case e.Kind == router.Delivered && strings.Contains(e.Target, ":sqs:"):
			sent++
		case e.Kind == router.BatchInvoked:
			queues[e.Target] = true
			batches++
			received += 2 * ((e.Count + perCall - 1) / perCall) // receive, delete
		}
	}
	ours := 0
	for _, c := range calls {
		if c.Service == "sqs" {
			ours++
		}
	}
	idle := float64(len(queues)*pollers) * float64(ran/longPoll)
	return []use{
		{what: "SQS: events put by rules", count: float64(sent), price: priceStandard},
		{what: "SQS: messages sent by functions", count: float64(ours), price: priceFIFO},
		{what: "SQS: receives and deletes", count: float64(received), price: priceStandard, note: fmt.Sprintf("%d batches", batches)},
		{what: "SQS: empty receives of idle pollers", count: idle, price: priceStandard, note: "at most; independent of the load"},
	}
}
