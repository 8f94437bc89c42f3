// Package specs lists the functions that are deployed.
package specs

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"time"

	changecheck "rollcall/functions/change-check/spec"
	enicleanup "rollcall/functions/eni-cleanup/spec"
	joincheck "rollcall/functions/join-check/spec"
	launchwatch "rollcall/functions/launch-watch/spec"
	nodegroupwatch "rollcall/functions/nodegroup-watch/spec"
	notifytargets "rollcall/functions/notify-targets/spec"
	relayspec "rollcall/functions/relay/spec"
	remediate "rollcall/functions/remediate/spec"
	report "rollcall/functions/report/spec"
	slackactions "rollcall/functions/slack-actions/spec"
	spotreport "rollcall/functions/spot-report/spec"
	subnetwatch "rollcall/functions/subnet-watch/spec"
	sweep "rollcall/functions/sweep/spec"
	zonewatch "rollcall/functions/zone-watch/spec"
	"rollcall/shared/config"
	"rollcall/shared/gather"
	"rollcall/shared/relay"
	"rollcall/shared/spec"
)

// Deployed are the functions of a deployment: those that hang on a setting only
// where it is neither "off" nor "none", without the permissions that one withholds.
func Deployed(list []spec.Spec, environment map[spec.Variable]string) []spec.Spec {
	list = slices.DeleteFunc(slices.Clone(list), func(s spec.Spec) bool { return s.Only != "" && !chosen(environment[s.Only]) })
	if environment[config.InstanceData] == "off" {
		for i := range list {
			list[i].Reads = gather.WithoutInstanceData(list[i].Reads)
		}
	}
	return list
}

// chosen reports whether a setting has something deployed.
func chosen(value string) bool { return value != "" && value != "off" && value != "none" }

// All is every function, in the order in which an event passes through them.
// A function that is not listed here is not deployed.
func All() []spec.Spec {
	return []spec.Spec{
		launchwatch.Spec(),
		joincheck.Spec(),
		sweep.Spec(),
		nodegroupwatch.Spec(),
		subnetwatch.Spec(),
		zonewatch.Spec(),
		spotreport.Spec(),
		enicleanup.Spec(),
		remediate.Spec(),
		report.Spec(),
		slackactions.Spec(),
		notifytargets.Spec(),
		changecheck.Spec(),
	}
}

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

// IsRead reports whether an IAM action only reads, by its verb.
func IsRead(action string) bool {
	_, verb, found := strings.Cut(action, ":")
	if !found || strings.Contains(verb, "*") {
		return false
	}
	return slices.ContainsFunc(readVerbs, func(v string) bool { return strings.HasPrefix(verb, v) })
}

// RelayTag is the tag of a relay's function whose value is the digest of the template and program
// that it was made of.
const RelayTag = "RollcallRelay"

// relayed is what a relay does, as far as who asks it can tell.
type relayed struct {
	Paths []asked
	// Request and Answer are what the two say to each other.
	Request, Answer []string
	MostBody        int
	Told            []spec.Variable
	Memory          spec.MiB
	Timeout         time.Duration
}

type asked struct {
	Path string
	Keys []string
}

// RelayDigest is the same for all releases whose relays do the same: which lists they hand
// on, how they are asked and answer, their parameters, and how large they are.
func RelayDigest() string { return relayOf().digest() }

func relayOf() relayed {
	s := relayspec.Spec()
	r := relayed{
		Request: fields[relay.Request](), MostBody: relay.MostBody, Told: s.Environment, Memory: s.Memory, Timeout: s.Timeout,
	}
	r.Answer = append(append(fields[relay.Answer](), fields[relay.Refusal]()...), fields[relay.Failure]()...)
	for _, p := range relay.Paths() {
		r.Paths = append(r.Paths, asked{p.String(), p.Keys()})
	}
	return r
}

// fields are those of a struct, as they are written.
func fields[T any]() []string {
	var list []string
	for _, f := range reflect.VisibleFields(reflect.TypeFor[T]()) {
		list = append(list, f.Tag.Get("json")+" "+f.Type.String())
	}
	return list
}

func (r relayed) digest() string {
	text, err := json.Marshal(r)
	if err != nil {
		panic(err) // texts and numbers alone
	}
	return short(text)
}

// SpokeTag is the tag of a spoke's role reader whose value is its template's digest.
const SpokeTag = "RollcallSpoke"

// AskRelays is what the reader may do beside reading: ask the relays of its account's
// clusters, functions of the name that package relay gives them.
const AskRelays = "lambda:InvokeFunction"

// SpokeDigest is the same for all releases whose spokes do the same: what the reader reads,
// which relays it asks, what is forwarded, and which functions are let in as what. What
// settings add to that (an organization, what clusters opted in to) is no part of it.
func SpokeDigest(list []spec.Spec) string {
	return digest(list, []string{AskRelays, relay.FunctionName("", "*")})
}

func digest(list []spec.Spec, asks []string) string {
	type rule struct{ Name, Pattern string }
	var of struct {
		Reads   []spec.Read
		Rules   []rule
		Assumes map[string][]spec.SpokeRole
		Asks    []string
	}
	of.Asks = asks
	of.Reads, of.Assumes = ReaderReads(list), map[string][]spec.SpokeRole{}
	for _, r := range Forwarded(list) {
		of.Rules = append(of.Rules, rule{r.Name, r.Pattern})
	}
	for _, s := range list {
		if len(s.Assumes) > 0 {
			of.Assumes[s.Name] = s.Assumes
		}
	}
	text, err := json.Marshal(of)
	if err != nil {
		panic(err) // texts alone
	}
	return short(text)
}

// short is a digest as a tag has it.
func short(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:6])
}

// ReaderReads is what a spoke's reader reads: what the hub's own functions read of an
// account, each action of the same resources once; and the account's alias, for which a hub
// asks of its own account only where there are spokes.
func ReaderReads(list []spec.Spec) []spec.Read {
	reads := []spec.Read{gather.ListAccountAliases()}
	for _, s := range list {
		if !slices.Contains(s.Assumes, spec.SpokeReader) {
			continue
		}
		for _, r := range s.Reads {
			if ofAccount(r) {
				reads = append(reads, r)
			}
		}
	}
	return joined(reads)
}

// ofAccount tells what is read of the account, and not of the hub's own stack.
func ofAccount(r spec.Read) bool {
	return !slices.ContainsFunc(r.Resources, func(of string) bool { return of != "*" && !strings.HasPrefix(of, "arn:") })
}

// joined has each action of the same resources once.
func joined(reads []spec.Read) []spec.Read {
	var all []spec.Read
	for _, r := range reads {
		i := slices.IndexFunc(all, func(x spec.Read) bool { return slices.Equal(x.Resources, r.Resources) })
		if i < 0 {
			all = append(all, spec.Read{Resources: r.Resources})
			i = len(all) - 1
		}
		all[i].Actions = append(all[i].Actions, r.Actions...)
	}
	for i := range all {
		slices.Sort(all[i].Actions)
		all[i].Actions = slices.Compact(all[i].Actions)
	}
	return all
}

// Forwarded are the rules on what AWS tells, each pattern once: those that spokes have, too.
func Forwarded(list []spec.Spec) []spec.Rule {
	var rules []spec.Rule
	for _, s := range list {
		for _, r := range s.Rules {
			if OfAWS(r) && !slices.ContainsFunc(rules, func(x spec.Rule) bool { return x.Pattern == r.Pattern }) {
				r.Name = s.Name + "-" + r.Name
				rules = append(rules, r)
			}
		}
	}
	return rules
}

// OfAWS reports whether a rule is on the default bus and for events of AWS alone.
func OfAWS(r spec.Rule) bool {
	return r.Bus == "" && len(SourcesOf(r)) > 0 && !slices.ContainsFunc(SourcesOf(r), func(s string) bool { return !strings.HasPrefix(s, "aws.") })
}

// SourcesOf are the sources that a rule's pattern names.
func SourcesOf(r spec.Rule) []string {
	var pattern struct {
		Source []string `json:"source"`
	}
	if json.Unmarshal([]byte(r.Pattern), &pattern) != nil {
		return nil // infra refuses what is no pattern
	}
	return pattern.Source
}
