package specs

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"rollcall/shared/config"
	"rollcall/shared/spec"
)

// What AWS accepts; a Spec beyond it would fail in the middle of a deployment.
const (
	// Lambda, CreateEventSourceMapping: most messages in a batch.
	maxBatchStandard = 10_000
	maxBatchFIFO     = 10
	maxWindow        = 300 * time.Second
	// Above this many messages Lambda wants a window of at least a second.
	batchWithoutWindow = 10
	minConcurrency     = 2
	maxConcurrency     = 1000
	// Lambda, CreateFunction.
	maxTimeout = 15 * time.Minute
	minMemory  = 128
	maxMemory  = 10_240
	// SQS, CreateQueue.
	minRetention = time.Minute
	maxRetention = 14 * 24 * time.Hour
	// SQS, RedrivePolicy: most receives before the dead-letter queue.
	maxAttempts = 1000
)

// functionName keeps "<prefix>-<name>" within what a log group, a queue and a
// function may be called.
var functionName = regexp.MustCompile(`^[a-z][a-z0-9]*(-[a-z0-9]+)*$`)

// Check tells what in the specs AWS or the stack would refuse; all at once.
func Check(list []spec.Spec) error {
	var wrong []error
	names := map[string]bool{}
	readers := map[spec.Resource]string{}
	for _, s := range list {
		for _, err := range check(s) {
			wrong = append(wrong, fmt.Errorf("function %s: %w", s.Name, err))
		}
		if names[s.Name] {
			wrong = append(wrong, fmt.Errorf("function %s is listed twice", s.Name))
		}
		names[s.Name] = true
		if s.Queue == nil {
			continue
		}
		if other, taken := readers[s.Queue.Resource]; taken {
			wrong = append(wrong, fmt.Errorf("queue %s is read by both %s and %s", s.Queue.Resource, other, s.Name))
		}
		readers[s.Queue.Resource] = s.Name
	}
	return errors.Join(wrong...)
}

func check(s spec.Spec) []error {
	var wrong []error
	bad := func(format string, values ...any) { wrong = append(wrong, fmt.Errorf(format, values...)) }
	if !functionName.MatchString(s.Name) {
		bad("the name %q is not made of lower-case words joined by hyphens", s.Name)
	}
	if s.About == "" || s.FailureImpact == "" {
		bad("About and FailureImpact must be said")
	}
	if slices.Contains(s.Environment, config.Spokes) && len(s.Assumes) == 0 && slices.ContainsFunc(s.Reads, func(r spec.Read) bool {
		return slices.ContainsFunc(r.Actions, func(a string) bool { return strings.HasPrefix(a, "ec2:") || strings.HasPrefix(a, "eks:") })
	}) {
		bad("it reads accounts and watches spokes, and assumes no role there (Assumes)")
	}
	if s.Memory < minMemory || s.Memory > maxMemory {
		bad("memory %d MiB is outside %d to %d", s.Memory, minMemory, maxMemory)
	}
	if s.Timeout < time.Second || s.Timeout > maxTimeout {
		bad("timeout %s is outside 1s to %s", s.Timeout, maxTimeout)
	}
	if reads, may := len(s.Kube) > 0, slices.ContainsFunc(s.Grants, func(g spec.Grant) bool { return slices.Contains(g.Resources, spec.ReaderRole) }); reads != may ||
		reads != slices.Contains(s.Environment, config.ReaderRole) {
		bad("who reads in clusters, and nobody else, may assume the reader and is told its name")
	}
	wakers := map[string]bool{}
	for _, r := range s.Rules {
		if wakers[r.Name] {
			bad("two rules or schedules are called %s", r.Name)
		}
		wakers[r.Name] = true
		if r.Bus != "" && r.Bus != spec.Bus {
			bad("rule %s: %s is no bus", r.Name, r.Bus)
		}
		var pattern map[string]any
		if err := json.Unmarshal([]byte(r.Pattern), &pattern); err != nil || len(pattern) == 0 {
			bad("rule %s: pattern %q is not a JSON object with something in it", r.Name, r.Pattern)
		}
	}
	for _, e := range s.Schedules {
		if wakers[e.Name] {
			bad("two rules or schedules are called %s", e.Name)
		}
		wakers[e.Name] = true
		if e.Every < time.Minute || e.Every%time.Minute != 0 {
			bad("schedule %s: %s is not a whole number of minutes", e.Name, e.Every)
		}
	}
	for _, a := range s.Alarms {
		if a.Metric == "" || a.AtLeast < 1 || a.Why == "" || a.Do == "" {
			bad("the alarm on %q does not say on what it rings, why, and what to do", a.Metric)
		}
	}
	if s.URL != nil && (s.URL.Why == "" || s.URL.Concurrency < 0) {
		bad("the address must say who calls it, and let in none or more at once")
	}
	if s.URL != nil && s.Queue != nil {
		bad("what has an address answers at once: it reads no queue")
	}
	sids := map[string]bool{}
	for _, g := range s.Grants {
		if sids[g.Sid] {
			bad("two grants are called %s", g.Sid)
		}
		sids[g.Sid] = true
		if g.Why == "" {
			bad("grant %s has no reason", g.Sid)
		}
		if len(g.Resources) == 0 {
			bad("grant %s is on no resource", g.Sid)
		}
		for _, a := range g.Actions {
			if strings.Contains(a, "*") {
				bad("grant %s: %s is a wildcard", g.Sid, a)
			}
		}
	}
	for _, r := range s.Reads {
		for _, a := range r.Actions {
			if !IsRead(a) {
				bad("%s among the reads is not a read", a)
			}
		}
	}
	if s.Queue != nil {
		wrong = append(wrong, checkQueue(*s.Queue, queued(s.Rules))...)
	}
	return wrong
}

// queued counts the rules that fill the queue.
func queued(rules []spec.Rule) int {
	n := 0
	for _, r := range rules {
		if !r.Direct {
			n++
		}
	}
	return n
}

func checkQueue(q spec.Queue, rules int) []error {
	var wrong []error
	bad := func(format string, values ...any) {
		wrong = append(wrong, fmt.Errorf("queue %s: %w", q.Resource, fmt.Errorf(format, values...)))
	}
	most := maxBatchStandard
	if q.FIFO {
		most = maxBatchFIFO
		if q.Window != 0 {
			bad("FIFO queues have no batch window")
		}
		if q.DelayFrom != "" {
			bad("a delay on a FIFO queue would hold back its whole group")
		}
		if rules > 0 {
			bad("a rule cannot fill a FIFO queue whose groups it does not know")
		}
	}
	if q.Batch < 1 || q.Batch > most {
		bad("batch %d is outside 1 to %d", q.Batch, most)
	}
	if q.Batch > batchWithoutWindow && q.Window < time.Second {
		bad("a batch of %d needs a window of at least a second", q.Batch)
	}
	if q.Window < 0 || q.Window > maxWindow || q.Window%time.Second != 0 {
		bad("window %s is not whole seconds within 0 to %s", q.Window, maxWindow)
	}
	if q.Concurrency < minConcurrency || q.Concurrency > maxConcurrency {
		bad("concurrency %d is outside %d to %d", q.Concurrency, minConcurrency, maxConcurrency)
	}
	if q.Attempts < 1 || q.Attempts > maxAttempts {
		bad("attempts %d is outside 1 to %d", q.Attempts, maxAttempts)
	}
	if q.Retention < minRetention || q.Retention > maxRetention {
		bad("retention %s is outside %s to %s", q.Retention, minRetention, maxRetention)
	}
	return wrong
}

// readVerbs begin the names of the calls that change nothing.
var readVerbs = []string{"Search", "Lookup", "Describe", "Get", "List", "BatchGet", "Query"}

// IsRead tells whether an IAM action only reads, by its verb.
func IsRead(action string) bool {
	_, verb, found := strings.Cut(action, ":")
	if !found || strings.Contains(verb, "*") {
		return false
	}
	return slices.ContainsFunc(readVerbs, func(v string) bool { return strings.HasPrefix(verb, v) })
}
