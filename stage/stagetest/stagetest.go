// Package stagetest plays the local stage to one function's handler in a
// test, in one process without ports: the handler is the real one with real
// SDK clients, in its own role; time stands still until the test moves it.
// Whatever the handler calls is held against the role's policy in the
// committed template.
package stagetest

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"rollcall/shared/config"
	"rollcall/shared/event"
	"rollcall/shared/incident"
	"rollcall/shared/incident/reconcile"
	"rollcall/shared/lambda"
	"rollcall/shared/nodegroup"
	"rollcall/shared/report"
	"rollcall/shared/spec"
	"rollcall/shared/store"
	"rollcall/stage"
	"rollcall/stage/platform/template"
	"rollcall/stage/simaws"
)

// Names in the worlds that extend route.yaml.
const (
	Cluster   = "eks-workshop"
	Nodegroup = "new_nodegroup_2"
	Group     = "eks-new_nodegroup_2-e2ca4e02-248f-cb7e-45a7-6fa9b0230007"
	Subnet    = "subnet-0c30000000000000d"
	Table     = "rtb-0cd20000000000002"
)

// Options say what to play.
type Options struct {
	// World is a file of stage/worlds; route.yaml if it is empty.
	World string
	// Over is YAML that changes the world.
	Over string
	// Faults go wrong with the function's calls.
	Faults []simaws.FaultRule
	// Settings are put over the function's environment.
	Settings map[string]string
	// TargetSecrets are what the secrets of targets besides Slack hold, by name, and Others
	// the hosts that the function reaches beside AWS and Slack.
	TargetSecrets map[string]string
	Others        map[string]http.Handler
	// ClusterRole gives the rights of deploy/clusterrole.yaml in the clusters, in
	// place of EKS's access policies.
	ClusterRole bool
	// Kill, if any, ends the function's invocations.
	Kill *Kill
}

// prefix is the stack's, which begins the deployed names.
const prefix = "rollcall-"

// Bench is a stage with one function's handler on it.
type Bench struct {
	*stage.Stage
	Function template.Function
	// Store reads and writes the table as an administrator.
	Store *store.Store

	t       testing.TB
	build   lambda.Build
	handler lambda.Handler
	env     lambda.Env
	kill    *Kill
	// scheduled is set where a schedule wakes the function.
	scheduled bool
	around    []lambda.Around
	metrics   *lambda.Metrics
	numbers   *bytes.Buffer

	mu sync.Mutex
	// turns are the messages by which sweep gives clusters their turn.
	turns   []string
	calls   []call
	counted int // of the cloud's calls
	logs    bytes.Buffer
}

// Start starts a stage and builds the function's handler. The test's end ends
// it, and fails if the handler made a call that its policy does not allow.
func Start(t testing.TB, function spec.Spec, build lambda.Build, o Options) *Bench {
	t.Helper()
	root := root(t)
	for i := range o.Faults {
		o.Faults[i].Caller = prefix + function.Name
	}
	rights := ""
	if o.ClusterRole {
		rights = filepath.Join(root, "deploy/clusterrole.yaml")
	}
	b := &Bench{t: t, build: build, kill: o.Kill, scheduled: len(function.Schedules) > 0, numbers: &bytes.Buffer{}}
	s, err := stage.Start(t.Context(), stage.Options{
		Sent:   b.sent,
		Rights: rights, World: world(t, root, o), Template: filepath.Join(root, "infra/Rollcall.template.json"),
		Quiet: true, CallFaults: o.Faults, Settings: o.Settings, TargetSecrets: o.TargetSecrets, Others: o.Others, Still: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	b.Stage = s
	if b.kill != nil {
		b.kill.t, b.kill.b = t, b
	}
	var ok bool
	if b.Function, ok = s.Function(function.Name); !ok || b.Function.Name != prefix+function.Name {
		t.Fatalf("the template has no function %q", prefix+function.Name)
	}
	env := func(name string) string {
		if v, set := o.Settings[name]; set {
			return v
		}
		switch name {
		case "AWS_REGION":
			return s.Template.Region
		case string(config.SlackSecretARN), string(config.SigningARN):
			if secret, ok := s.SecretFor(spec.Variable(name)); ok {
				return simaws.SecretARN(s.Template.Region, s.Template.AccountID, secret.Name)
			}
		}
		return b.Function.Environment[name]
	}
	c, err := config.Load(env, function.Environment)
	if err != nil {
		t.Fatal(err)
	}
	b.metrics = lambda.NewMetrics(function.Name, b.Function.Name, b.numbers)
	way := s.HTTPClient().Transport
	b.env = lambda.Env{
		Config: c, AWS: b.client(), Metrics: b.metrics, Now: b.Now, Sleep: b.sleep, HTTP: way, Endpoints: s.Endpoints(way),
		Log:      slog.New(slog.NewTextHandler(locked{b}, nil)),
		Register: func(a lambda.Around) { b.around = append(b.around, a) },
	}.WithReader(b.Function.Name)
	b.restart()
	b.Store = store.New(dynamodb.NewFromConfig(s.AsAdmin()), c.TableName).WithClock(b.Now)
	t.Cleanup(b.checkCalls)
	return b
}

// client is the function's SDK configuration. It retries once and at once: a
// fault that is to be met is met.
func (b *Bench) client() aws.Config {
	cfg := b.AsFunction(b.Function)
	cfg.Retryer = func() aws.Retryer {
		return retry.NewStandard(func(o *retry.StandardOptions) { o.MaxAttempts, o.MaxBackoff = 2, time.Millisecond })
	}
	cfg.APIOptions = append(cfg.APIOptions, b.record)
	if b.kill != nil {
		cfg.HTTPClient = &http.Client{Transport: b.kill.Via(b.HTTPClient().Transport)}
	}
	return cfg
}

// restart builds the handler: one that knows nothing of earlier ones.
func (b *Bench) restart() {
	b.t.Helper()
	var err error
	b.around = nil
	if b.handler, err = b.build(b.t.Context(), b.env); err != nil {
		b.t.Fatal(err)
	}
}

// Now is the time on this stage.
func (b *Bench) Now() time.Time { return b.World.Now() }

// Env is what the handler was built with.
func (b *Bench) Env() lambda.Env { return b.env }

// sleep lets the time pass at once.
func (b *Bench) sleep(ctx context.Context, d time.Duration) error {
	if ctx.Err() == nil {
		b.Advance(d)
	}
	return ctx.Err()
}

// Advance moves the time.
func (b *Bench) Advance(d time.Duration) { b.World.Advance(b.Now().Add(d)) }

// Scale asks for so many instances in the nodegroup, and lets Auto Scaling
// launch them: they are running, and their launch hook waits.
func (b *Bench) Scale(n int) {
	b.t.Helper()
	b.Call("eks:UpdateNodegroupConfig", fmt.Sprintf(`{"clusterName":%q,"nodegroupName":%q,"scalingConfig":{"minSize":0,"maxSize":%d,"desiredSize":%d}}`, Cluster, Nodegroup, max(n, 1), n))
	b.Advance(20 * time.Second)
}

// Call makes a call to the world, such as "ec2:CreateRoute".
func (b *Bench) Call(op, input string) {
	b.t.Helper()
	if _, err := b.World.Call(op, json.RawMessage(input)); err != nil {
		b.t.Fatal(err)
	}
}

// Handle gives the handler an event.
func (b *Bench) Handle(raw json.RawMessage) (any, error) {
	ctx, cancel := context.WithTimeout(b.t.Context(), b.Function.Timeout)
	defer cancel()
	for _, a := range b.around {
		a.Begin(raw)
	}
	answer, err := b.handler(ctx, raw)
	for _, a := range b.around {
		a.Flush(ctx)
	}
	return answer, err
}

// locked writes the handler's log.
type locked struct{ *Bench }

func (l locked) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.logs.Write(p)
}

// Logs is what the handler has logged.
func (b *Bench) Logs() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.logs.String()
}

func root(t testing.TB) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
		if dir == filepath.Dir(dir) {
			t.Fatal("no go.mod above the test")
		}
		dir = filepath.Dir(dir)
	}
}

func world(t testing.TB, root string, o Options) string {
	t.Helper()
	if o.World == "" {
		o.World = "route.yaml"
	}
	file := filepath.Join(root, "stage/worlds", o.World)
	if o.Over == "" {
		return file
	}
	dir := t.TempDir()
	base, err := filepath.Rel(dir, file)
	if err != nil {
		t.Fatal(err)
	}
	over := filepath.Join(dir, "world.yaml")
	text := fmt.Sprintf("extends: %s\nname: test\nabout: Made by a test.\n%s", base, o.Over)
	if err := os.WriteFile(over, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return over
}

// Kept are the records of the table, by their keys, without their times. What
// subnets had at one minute or another is left out: a later look adds its own.
func (b *Bench) Kept() map[string]any {
	b.t.Helper()
	list, err := b.Stage.Records(b.t.Context())
	if err != nil {
		b.t.Fatal(err)
	}
	kept := map[string]any{}
	text := func(v types.AttributeValue) string {
		if s, ok := v.(*types.AttributeValueMemberS); ok {
			return s.Value
		}
		return ""
	}
	for _, item := range list {
		if strings.HasPrefix(text(item["pk"]), "sample#") {
			continue
		}
		var body any
		if err := json.Unmarshal([]byte(text(item["body"])), &body); err != nil {
			b.t.Fatal(err)
		}
		if record, ok := body.(map[string]any); ok {
			delete(record, "version") // it counts the writes
		}
		key := Timeless(b.t, text(item["pk"])+" "+text(item["sk"])).(string)
		for kept[key] != nil {
			key += " and another"
		}
		kept[key] = Timeless(b.t, map[string]any{"body": body, "open": text(item["open"])})
	}
	return kept
}

// Concluded is what report makes of observations: of those that arrive twice, and
// of a look that was taken again later, it makes no more than of one.
func (b *Bench) Concluded(list []report.Observation) []any {
	b.t.Helper()
	var incidents []incident.Incident
	for _, o := range list {
		for _, d := range reconcile.Decide(incidents, o, o.At, incident.Policy{ProofTime: time.Hour, ReopenTime: 24 * time.Hour}) {
			i := slices.IndexFunc(incidents, func(inc incident.Incident) bool { return inc.Key == d.Incident.Key })
			switch {
			case !d.Changed:
			case i < 0:
				incidents = append(incidents, d.Incident)
			default:
				incidents[i] = d.Incident
			}
		}
	}
	slices.SortFunc(incidents, func(a, b incident.Incident) int {
		return cmp.Or(cmp.Compare(a.Key.Check, b.Key.Check), cmp.Compare(a.Key.Resource, b.Key.Resource))
	})
	var all []any
	for _, inc := range incidents {
		notes := []string{}
		for _, n := range inc.Delivery.Notes {
			notes = append(notes, n.ID)
		}
		all = append(all, Timeless(b.t, map[string]any{
			"key": inc.Key, "state": inc.State, "number": inc.Number, "cause": inc.Cause, "covers": inc.Covers,
			"launches": inc.Launches, "affected": inc.Affected, "notes": notes, "events": inc.Events,
		}))
	}
	return all
}

// times are RFC 3339's, those in the ids of records and that are said to people,
// and Slack's timestamps. requests are the ids that AWS gives to requests.
var (
	times    = regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)|\d{8}T\d{6}\.\d{3}Z|\d\d:\d\d(:\d\d)? UTC|\b\d{10}\.\d{6}\b`)
	requests = regexp.MustCompile(`[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}`)
)

// Timeless is a value as JSON has it, without its times and requests: an
// invocation that is killed is done again later.
func Timeless(t interface {
	Helper()
	Fatal(...any)
}, v any) any {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	var out any
	text = times.ReplaceAllFunc(text, func(at []byte) []byte {
		if bytes.HasPrefix(at, []byte("0001-")) {
			return at // the zero time: not yet, or never
		}
		return []byte("TIME")
	})
	if err := json.Unmarshal(requests.ReplaceAll(text, []byte("REQUEST")), &out); err != nil {
		t.Fatal(err)
	}
	return out
}

// Waiting is how many messages are in a queue, those with a delay too.
func (b *Bench) Waiting(queue string) int {
	b.t.Helper()
	for _, q := range b.Template.Queues {
		if q.Name == queue {
			depth, err := b.Queues.Depth(q.ARN)
			if err != nil {
				b.t.Fatal(err)
			}
			return depth.Visible + depth.Delayed
		}
	}
	b.t.Fatalf("the template has no queue %s", queue)
	return 0
}

// NodegroupEvents are the changes of nodegroups on the Rollcall bus so far.
func (b *Bench) NodegroupEvents() []nodegroup.Event {
	b.t.Helper()
	var list []nodegroup.Event
	for _, p := range b.Events() {
		var e struct {
			DetailType string          `json:"detail-type"`
			Detail     nodegroup.Event `json:"detail"`
		}
		if p.Bus == "default" {
			continue
		}
		if err := json.Unmarshal(p.Event, &e); err != nil {
			b.t.Fatal(err)
		}
		if e.DetailType == nodegroup.DetailType {
			list = append(list, e.Detail)
		}
	}
	return list
}

// NodegroupReminders are the messages by which the handler reminded itself of
// nodegroups so far, in order, and the delay of the last.
func (b *Bench) NodegroupReminders() (bodies []string, delay time.Duration) {
	b.t.Helper()
	for _, c := range b.recorded() {
		in, ok := c.input.(*sqs.SendMessageInput)
		if !ok || c.failed {
			continue
		}
		if t, err := event.Parse([]byte(*in.MessageBody)); err == nil && t.Kind == event.Reminder && t.Nodegroup != "" {
			bodies, delay = append(bodies, *in.MessageBody), time.Duration(in.DelaySeconds)*time.Second
		}
	}
	return bodies, delay
}

// NodegroupRecord is what is remembered of a nodegroup of the cluster.
func (b *Bench) NodegroupRecord(name string) (r nodegroup.Record, ok bool) {
	b.t.Helper()
	records, err := b.Store.Nodegroups(b.t.Context(), Cluster)
	if err != nil {
		b.t.Fatal(err)
	}
	r, ok = records[name]
	return r, ok
}
