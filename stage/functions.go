package stage

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/eventbridge"

	enicleanup "rollcall/functions/eni-cleanup/spec"
	joincheck "rollcall/functions/join-check/spec"
	launchwatch "rollcall/functions/launch-watch/spec"
	nodegroupwatch "rollcall/functions/nodegroup-watch/spec"
	notifytargets "rollcall/functions/notify-targets/spec"
	remediate "rollcall/functions/remediate/spec"
	spotreport "rollcall/functions/spot-report/spec"
	subnetwatch "rollcall/functions/subnet-watch/spec"
	sweep "rollcall/functions/sweep/spec"
	zonewatch "rollcall/functions/zone-watch/spec"
	"rollcall/shared/config"
	"rollcall/shared/lambda"
	"rollcall/shared/spec"
	"rollcall/shared/spoke"
	"rollcall/stage/fakeslack"
	"rollcall/stage/platform/lambdaruntime"
	"rollcall/stage/platform/router"
	"rollcall/stage/platform/template"
	"rollcall/stage/platform/wire"
	"rollcall/stage/simaws"
	"rollcall/stage/simaws/kubeapi"
	"rollcall/stage/simaws/kubestate"
	"rollcall/stage/simaws/trail"
	"rollcall/stage/simaws/world"
	"rollcall/stage/simaws/worldfile"
)

// startFunctions makes the functions known and lets events wake them.
func (s *Stage) startFunctions(set set) error {
	s.Runtime = lambdaruntime.New(lambdaruntime.Options{
		Clock: s.Clock, NewID: ids(), Region: s.Template.Region, AccountID: s.Template.AccountID,
		Log: s.line, Observe: s.options.Observe, CPU: s.options.CPU, Send: s.Queues.SendText,
	})
	s.onClose(s.Runtime.Close)
	if s.options.Binaries != "" {
		// Absolute, as a function's process starts in a folder of its own.
		folder, err := filepath.Abs(s.options.Binaries)
		if err != nil {
			return err
		}
		s.options.Binaries = folder
	}
	if s.options.Empty {
		return nil
	}
	if err := s.addFunctions(); err != nil {
		return err
	}
	if _, err := s.route(s.ctx, set.faults, set.start); err != nil {
		return err
	}
	if !s.options.Quiet {
		s.slackFaults(set.faults)
	}
	return nil
}

// addFunctions gives the runtime the functions of the template that it does not have, and the
// others their settings.
func (s *Stage) addFunctions() error {
	for _, f := range s.Template.Functions {
		var err error
		switch {
		case slices.Contains(s.Runtime.Names(), f.Name):
			err = s.Runtime.Configure(f.Name, s.environment(f))
		case s.options.Programs != nil:
			err = s.addProgram(f)
		case s.options.Binaries != "":
			err = s.Runtime.Add(s.function(f))
		}
		if err != nil {
			return fmt.Errorf("function %s: %w", f.Name, err)
		}
	}
	return s.serveURLs()
}

// route lets the template's rules, queues and schedules wake the functions until the context ends.
func (s *Stage) route(ctx context.Context, faults []worldfile.Fault, start time.Time) (*router.Router, error) {
	r, err := router.New(router.Options{
		Template: s.Template, Functions: s.Runtime, Queues: s.Queues, Clock: s.Clock, NewID: ids(),
		Faults: s.eventFault(faults, start), Trace: s.traced,
	})
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	s.Router = r
	s.mu.Unlock()
	if !s.options.Quiet {
		s.background(func() { r.Run(ctx) })
	}
	return r, nil
}

// function is a function of the template as the runtime runs it.
func (s *Stage) function(f template.Function) lambdaruntime.Function {
	out := lambdaruntime.Function{
		Name: f.Name, ARN: f.ARN, Handler: f.Handler,
		Binary: filepath.Join(s.options.Binaries, Folder(f), "bootstrap"),
		Env:    s.environment(f), Timeout: s.timeout(f.Timeout), Memory: f.Memory,
		MaxRetries: -1, DeadLetterARN: f.DeadLetterARN, Concurrency: max(f.ReservedConcurrency, 0),
	}
	if s.options.Memory > 0 {
		out.Memory = s.options.Memory
	}
	for _, c := range s.Template.InvokeConfigs {
		if c.FunctionName == f.Name {
			out.MaxRetries, out.MaxAge, out.OnFailureARN, out.OnSuccessARN = c.MaxRetries, c.MaxAge, c.OnFailureARN, c.OnSuccessARN
		}
	}
	return out
}

func (s *Stage) timeout(d time.Duration) time.Duration {
	if s.options.StageTimeouts {
		return s.Clock.Wall(d-s.options.Room) + s.options.Room
	}
	return d
}

// Deploy changes the functions' settings, and the permissions that hang on
// them, as a deployment with others does. What runs ends with the old settings.
func (s *Stage) Deploy(settings map[string]string) error {
	merged := maps.Clone(s.options.Settings)
	if merged == nil {
		merged = map[string]string{}
	}
	maps.Copy(merged, settings)
	s.options.Settings = merged
	if err := s.synthesise(); err != nil {
		return err
	}
	for _, f := range s.Template.Functions {
		if err := s.Runtime.Configure(f.Name, s.environment(f)); err != nil {
			return err
		}
	}
	return nil
}

// DeployRelease gives the functions the programs of another release, and the
// environment and the permissions that its template says. What runs ends with the
// old ones. Rules and queues stay those of the stage's own template, and so do
// functions that the other release does not have; what hangs on settings is not in
// its template but in its code, and is granted as this release does (synthesise).
func (s *Stage) DeployRelease(binaries, templatePath string) error {
	folder, err := filepath.Abs(binaries)
	if err != nil {
		return fmt.Errorf("deploy the programs of %s: %w", binaries, err)
	}
	source, err := os.ReadFile(templatePath)
	if err != nil {
		return fmt.Errorf("read the template: %w", err)
	}
	other, err := template.Parse(source, template.Options{AccountID: s.Template.AccountID, Region: s.Template.Region})
	if err != nil {
		return fmt.Errorf("read the template: %w", err)
	}
	s.mu.Lock()
	s.release = other
	s.mu.Unlock()
	// Its stack makes its access entries, or an operator does; those of the release before
	// it stay until an operator deletes them.
	if s.admits != nil {
		if err := s.admits(other); err != nil {
			return err
		}
	}
	for _, f := range other.Functions {
		if _, ok := s.Template.Function(f.Name); !ok {
			continue
		}
		if err := s.Runtime.Replace(f.Name, filepath.Join(folder, Folder(f), "bootstrap")); err != nil {
			return err
		}
		if err := s.Runtime.Configure(f.Name, s.environment(f)); err != nil {
			return err
		}
	}
	return nil
}

// Folder is the folder of a function below functions/: its deployed name
// without the stack's prefix.
func Folder(f template.Function) string {
	const prefix = "rollcall-"
	if len(f.Name) > len(prefix) && f.Name[:len(prefix)] == prefix {
		return f.Name[len(prefix):]
	}
	return f.Name
}

// Function is the function of the template whose folder has the name.
func (s *Stage) Function(folder string) (template.Function, bool) {
	i := slices.IndexFunc(s.Template.Functions, func(f template.Function) bool { return Folder(f) == folder })
	if i < 0 {
		return template.Function{}, false
	}
	return s.Template.Functions[i], true
}

// line writes one line of a function's log.
func (s *Stage) line(l lambdaruntime.Line) {
	if s.options.Out == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	fmt.Fprintf(s.options.Out, "%s %-12s %s\n", l.Time.Format("15:04:05.000"), l.Function, l.Text)
}

// putOn puts an event on a bus and keeps it.
func (s *Stage) putOn(bus string, event json.RawMessage) error {
	s.mu.Lock()
	s.events = append(s.events, Put{Wall: time.Now(), Stage: s.Clock.Now(), Bus: bus, Event: event})
	to := s.Router
	s.mu.Unlock()
	if to == nil {
		return nil // no rule is there
	}
	_, err := to.Put(event, bus)
	return err
}

// Events are the events put so far.
func (s *Stage) Events() []Put {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.events)
}

// Trace is what the router did so far.
func (s *Stage) Trace() []router.Entry {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.trace)
}

func (s *Stage) traced(e router.Entry) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.trace = append(s.trace, e)
	if e.Note != "" {
		s.log.Info(string(e.Kind), "event", e.Event, "type", e.DetailType, "function", e.Function, "target", e.Target, "note", e.Note)
	}
}

// eventFault is what the world's faults do to an event.
func (s *Stage) eventFault(list []worldfile.Fault, start time.Time) func(router.Event) router.Fault {
	return func(e router.Event) router.Fault {
		if s.options.EventFaults != nil {
			if f := s.options.EventFaults(e); f != (router.Fault{}) {
				return f
			}
		}
		since := s.Clock.Now().Sub(start)
		for _, f := range list {
			if f.Event != e.DetailType || since < f.From || f.For > 0 && since > f.From+f.For {
				continue
			}
			return router.Fault{Lose: f.Lose, Copies: max(f.Copies-1, 0), Delay: f.Delay, Reorder: f.Reorder}
		}
		return router.Fault{}
	}
}

// objects lists a cluster's Kubernetes objects.
func objects(w *world.World) func(cluster, plural string) ([]json.RawMessage, string, error) {
	return func(cluster, plural string) ([]json.RawMessage, string, error) {
		o, err := w.Kubernetes(cluster, plural)
		if errors.Is(err, kubestate.ErrNoKind) {
			return nil, "", kubeapi.NotInstalled()
		}
		return o.Items, o.ResourceVersion, err
	}
}

// recorder has the world record calls as CloudTrail does. A capture stands
// still and records nothing.
func (s *Stage) recorder() func(call wire.Call, in, out any, err error) {
	if s.World == nil {
		return nil
	}
	return func(call wire.Call, in, out any, err error) {
		if s.options.Answered != nil {
			s.options.Answered(out, err)
		}
		s.World.Record(trail.Call{
			Operation: call.Action(), CallerARN: call.Principal.ARN, AccessKeyID: call.AccessKeyID,
			RequestID: call.RequestID, Input: in, Output: out, Err: err,
		})
	}
}

// ids makes ids in the form of a UUID that are the same in each run.
func ids() func() string {
	var n atomic.Uint64
	return func() string {
		text := strconv.FormatUint(n.Add(1), 10)
		return fmt.Sprintf("00000000-0000-4000-8000-%012s", text)
	}
}

// AsAdmin is the configuration of an SDK client that a person uses.
func (s *Stage) AsAdmin() aws.Config {
	return s.as(simaws.AdminIdentity(s.Template.AccountID, Admin))
}

// AsFunction is the configuration of a function's own clients.
func (s *Stage) AsFunction(f template.Function) aws.Config {
	return s.as(simaws.RoleIdentity(s.Template.AccountID, f.Name))
}

// AsAdminIn is the same of a person of a spoke's account.
func (s *Stage) AsAdminIn(id spoke.ID) aws.Config {
	cfg := s.as(adminOf(id))
	cfg.Region = id.Region
	return cfg
}

func (s *Stage) as(who simaws.Identity) aws.Config {
	cfg := aws.Config{
		Region: s.Template.Region, BaseEndpoint: aws.String(s.Cloud.Endpoint()),
		Credentials: credentials.NewStaticCredentialsProvider(who.AccessKeyID, who.SecretAccessKey, ""),
	}
	if s.network != nil {
		cfg.HTTPClient = &http.Client{Transport: s.network}
	}
	return cfg
}

// HTTPClient is a client of all that the stage serves.
func (s *Stage) HTTPClient() *http.Client {
	if s.network == nil {
		return &http.Client{}
	}
	return &http.Client{Transport: s.network}
}

// AdminEnv is the environment in which the AWS CLI and kubectl work on the
// stage.
func (s *Stage) AdminEnv() map[string]string {
	who := simaws.AdminIdentity(s.Template.AccountID, Admin)
	return map[string]string{
		"AWS_ENDPOINT_URL":      s.Cloud.Endpoint(),
		"AWS_ACCESS_KEY_ID":     who.AccessKeyID,
		"AWS_SECRET_ACCESS_KEY": who.SecretAccessKey,
		"AWS_REGION":            s.Template.Region,
		"AWS_DEFAULT_REGION":    s.Template.Region,
		"AWS_PAGER":             "",
	}
}

// callFaults are the world's faults of AWS and Kubernetes calls.
func callFaults(list []worldfile.Fault, start time.Time) []simaws.FaultRule {
	var rules []simaws.FaultRule
	for _, f := range list {
		if f.Call == "" {
			continue
		}
		r := simaws.FaultRule{
			Call: f.Call, Deny: f.Deny, Throttle: f.Throttle, Fail: f.Fail,
			Latency: f.Latency, Reset: f.Reset, Times: f.Times, From: start.Add(f.From),
		}
		if f.For > 0 {
			r.Until = r.From.Add(f.For)
		}
		rules = append(rules, r)
	}
	return rules
}

// slackFaults arms the world's faults of Slack, each when its time comes.
func (s *Stage) slackFaults(list []worldfile.Fault) {
	for _, f := range list {
		if f.Slack == nil {
			continue
		}
		s.background(func() {
			if s.Clock.Sleep(s.ctx, f.Slack.From) == nil {
				if err := s.Slack.Inject(fakeslack.Fault{Status: f.Slack.Status, For: f.Slack.For}); err != nil {
					s.log.Error("slack fault", "error", err)
				}
			}
		})
	}
}

// judged reports whether IAM is asked about a call: all of EC2, CloudTrail, CloudWatch Logs, SNS and
// Secrets Manager, and what changes something in Auto Scaling, EKS and DynamoDB or invokes in Lambda.
// What those return is held against the grants by the functions' own tests.
func judged(service, operation string) bool {
	switch service {
	case "ec2", "cloudtrail", "cloudwatchlogs", "sns", "secretsmanager":
		return true
	case "autoscaling", "eks", "dynamodb", "s3", "lambda":
		return !reads(operation)
	case "iam":
		return operation == "ListAccountAliases"
	}
	return false
}

// admitCall decides whether AWS takes a call: its request buckets first, then IAM.
func (s *Stage) admitCall(ctx context.Context, call *wire.Call, in any) error {
	if s.Buckets != nil {
		if err := s.Buckets.Admit(ctx, call, in); err != nil {
			return err
		}
	}
	if put, is := in.(*eventbridge.PutEventsInput); is {
		if ok, err := s.mayPut(call.Principal, put); err != nil || !ok {
			return cmp.Or(err, error(wire.Denied))
		}
	}
	if !judged(call.Service, call.Operation) || s.World == nil {
		return nil
	}
	i := -1
	for n, f := range s.Template.Functions {
		if f.Name == call.Principal.Name {
			i = n
		}
	}
	if i < 0 {
		return nil // the person at the keyboard, who may do everything
	}
	policy, assumed := s.assumedPolicy(call.Principal)
	if !assumed {
		policy = s.Policy(s.Template.Functions[i].Name)
	}
	if o, is := in.(wire.Object); is {
		policy = slices.Concat(policy, s.things().bucketPolicy(o.Bucket))
	}
	ok, err := mayCall(policy, call.Action(), in, s.things())
	if err != nil {
		return fmt.Errorf("the policy of %s: %w", call.Principal.Name, err)
	}
	if !ok {
		s.log.Warn("IAM does not allow a call", "function", call.Principal.Name, "action", call.Action())
		return wire.Denied
	}
	return nil
}

// mayPut reports whether no policy of a bus denies events to a caller.
func (s *Stage) mayPut(caller wire.Principal, in *eventbridge.PutEventsInput) (bool, error) {
	principal := caller.ARN
	for _, f := range s.Template.Functions {
		if f.Name == caller.Name {
			principal = f.RoleARN
		}
	}
	allow := template.Statement{Effect: "Allow", Actions: []string{"*"}, Resources: []string{"*"}}
	for _, e := range in.Entries {
		name := aws.ToString(e.EventBusName)
		bus := "arn:aws:events:" + s.Template.Region + ":" + s.Template.AccountID + ":event-bus/" + name[strings.LastIndex(name, "/")+1:]
		ok, err := template.Allows(append([]template.Statement{allow}, s.Template.BusPolicies...), "events:PutEvents", bus, map[string][]string{
			"aws:PrincipalArn": {principal}, "events:detail-type": {aws.ToString(e.DetailType)}, "events:source": {aws.ToString(e.Source)},
		})
		if err != nil || !ok {
			return false, err
		}
	}
	return true, nil
}

// mayCall reports whether policies allow a call. Writes are judged by their
// resource and its condition keys, as in AWS (service authorization reference
// of each service), and so is who reads which secret. Other reads are judged by their
// action: which resource each takes is held by the functions' own tests.
func mayCall(policy []template.Statement, action string, in any, t things) (bool, error) {
	_, operation, _ := strings.Cut(action, ":")
	keys := map[string][]string{"aws:RequestedRegion": {t.region}, "aws:PrincipalAccount": {t.account}}
	if reads(operation) && action != "secretsmanager:GetSecretValue" {
		anywhere := make([]template.Statement, len(policy))
		for i, st := range policy {
			anywhere[i] = st
			if st.Effect == "Allow" {
				anywhere[i].Resources, anywhere[i].NotResources = []string{"*"}, nil
			}
		}
		return template.Allows(anywhere, action, "*", keys)
	}
	resource, more, ok := t.resource(in)
	if !ok {
		return template.Allows(policy, action, "*", keys)
	}
	maps.Copy(keys, more)
	return template.Allows(policy, action, resource, keys)
}

func reads(operation string) bool {
	for _, verb := range []string{"Describe", "Get", "Search", "List", "Lookup", "Query", "Scan", "BatchGet", "Filter"} {
		if strings.HasPrefix(operation, verb) {
			return true
		}
	}
	return false
}

// buckets are EC2's request buckets, if the stage has them.
func (s *Stage) buckets() *simaws.Buckets {
	if s.options.Unlimited {
		return nil
	}
	return simaws.NewBuckets(s.now, s.options.Rivals...)
}

// now is the stage time: the clock's, or the world's where a test has moved it
// ahead by hand.
func (s *Stage) now() time.Time {
	now := s.Clock.Now()
	if s.World != nil {
		if w := s.World.Now(); w.After(now) {
			return w
		}
	}
	return now
}

// object is what IAM sees of a write of S3: the object's ARN, and of the request the
// headers that are condition keys. One that is not sent is no key (service authorization
// reference, "Condition keys for Amazon S3"). The stage's own address stands for S3's, to
// which the functions speak TLS.
func (t things) object(o wire.Object) (arn string, keys map[string][]string, ok bool) {
	keys = map[string][]string{"aws:SecureTransport": {"true"}, "aws:ResourceAccount": {t.account}}
	for key, header := range map[string]string{"s3:if-none-match": "If-None-Match", "s3:x-amz-server-side-encryption": "X-Amz-Server-Side-Encryption"} {
		if value := o.Header.Get(header); value != "" {
			keys[key] = []string{value}
		}
	}
	return "arn:aws:s3:::" + o.Bucket + "/" + o.Key, keys, true
}

// bucketPolicy is what a bucket's own policy refuses.
func (t things) bucketPolicy(name string) []template.Statement {
	for _, b := range t.buckets {
		if strings.EqualFold(b.Name, name) {
			return b.Statements
		}
	}
	return nil
}

// Options say what to run.
type Options struct {
	// World is the path of the world file.
	World string
	// Root is what World is below, with all that it extends; nil for no such bound.
	Root *os.Root
	// Template is the path of the synthesised template.
	Template string
	// Files, if any, are where Template and Rights are, in place of this machine's.
	Files fs.FS
	// Spokes are other accounts and regions, whose stacks are made of SpokeTemplate, or, on a
	// stage that began empty, by CloudFormation's calls. Their worlds are not described with
	// endpoints.
	Spokes        []Spoke
	SpokeTemplate string
	// Relays are deployed at the start. With the template, RelayTemplate, the clusters that have
	// a private endpoint only answer their relays alone, here and in the spokes, as they do on a
	// stage that began empty: else they answer whom they would in the VPC.
	Relays        []spoke.Cluster
	RelayTemplate string
	// Empty starts an account in which Rollcall is not deployed: CloudFormation's calls create
	// it, with Binaries or Programs as its functions. Template is not read.
	Empty bool
	// Pace is how long CloudFormation takes for each resource, in stage time.
	Pace time.Duration
	// Refuse, if any, is why AWS refuses a resource of a stack; nil makes it.
	Refuse func(template.Resource) error
	// Binaries is the folder that holds <function>/bootstrap for each function
	// of the template, built for this machine. Without it no function runs:
	// a test then calls handlers itself.
	Binaries string
	// Programs, if any, are called as Go in place of binaries, by the folders' names.
	// All of the stage is then in this process, without ports: in a bubble of
	// testing/synctest its time passes at once while all goroutines wait.
	Programs []lambda.Program
	// Still has a world whose time nothing moves but its Advance, on a stage without
	// ports, as with Programs.
	Still bool
	// At is the stage time to start at, in place of the world's own: what is
	// due in between happens first.
	At time.Time
	// Rate is how much faster than the wall clock the stage runs.
	Rate float64
	// Slow, if any, is how fast it runs while a function works, an event is on its
	// way or a test holds Clock.Work. Stories and tests then hang far less on how
	// fast the machine is; what measures a load wants the straight line.
	Slow float64
	// Quiet stops rules, schedules and queues from waking functions.
	Quiet bool
	// Settings are put over the functions' environment.
	Settings map[string]string
	// Out takes the functions' logs; nil drops them.
	Out io.Writer
	// Log takes what goes wrong in the stage itself; nil drops it.
	Log *slog.Logger
	// Observe takes each finished invocation.
	Observe func(lambdaruntime.Invocation)
	// Answered takes what each call of AWS was answered with. It runs before the caller
	// has its answer.
	Answered func(out any, err error)
	// SlackToken is what Secrets Manager holds instead of the right token.
	SlackToken *string
	// TargetSecrets are what the secrets of targets besides Slack hold, by name.
	TargetSecrets map[string]string
	// Others are hosts besides AWS and Slack that functions reach, on a stage without ports.
	Others map[string]http.Handler
	// Slack are Slack's rate limits, in wall time; zero has none.
	Slack fakeslack.Limits
	// CallFaults go beside the world's own faults of calls.
	CallFaults []simaws.FaultRule
	// Rights is the path of a manifest of Kubernetes rights. The functions then
	// are in its group (kubernetesAccess=group), in place of having the access
	// policy, which leaves out some of what they can read.
	Rights string
	// Unlimited leaves out EC2's request buckets.
	Unlimited bool
	// Rivals call EC2 beside the functions, and take from the same buckets.
	Rivals []simaws.Rival
	// StageTimeouts has the functions' timeouts pass in stage time: a function of
	// 15 minutes then has a minute and a half on a stage that runs ten times as
	// fast as the clock. Without it they pass in wall time, as a function's own
	// work does.
	StageTimeouts bool
	// Room is what functions keep free before their timeout, of which they know in
	// wall time. It is left to them whole: with StageTimeouts what comes before it
	// passes in stage time, and the room itself in wall time.
	Room time.Duration
	// Change, if any, changes the world before it begins.
	Change func(*worldfile.File)
	// Meter, if any, counts what the calls of DynamoDB take.
	Meter *simaws.Meter
	// Sent, if any, takes each message that a queue took in.
	Sent func(queue, body string)
	// CPU holds functions to the share of a core that their memory gives them on
	// Lambda; nil gives them whole cores.
	CPU lambdaruntime.CPULimiter
	// Memory, if any, is each function's memory in MB, in place of the template's.
	Memory int
	// EventFaults goes over the world's own event faults.
	EventFaults func(router.Event) router.Fault
}

// LoadWorld reads the world's file.
func (o Options) LoadWorld() (*worldfile.File, error) {
	if o.Root != nil {
		return worldfile.LoadIn(o.Root, o.World)
	}
	return worldfile.Load(o.World)
}

// The people of the stage's Slack. Whoever is on call is the first, who presses
// on the page; the lead is a member of a user group; the developer may approve
// nothing where the approvers are Approvers.
const (
	OnCall = "U0ONCALL01"
	Dev    = "U0DEV00001"
	Lead   = "U0LEAD0001"
	Leads  = "S0LEADS001"
	// Guest is of another company: the channel is shared with it (Slack Connect).
	Guest = "U0GUEST001"
	// Approvers is the setting approvers by which the first may approve by name,
	// and the lead through the group.
	Approvers = OnCall + "," + Leads
)

func people() []fakeslack.User {
	return []fakeslack.User{
		{ID: OnCall, Name: "oncall", Timezone: "UTC"},
		{ID: Dev, Name: "dev", Timezone: "Europe/Berlin"},
		{ID: Lead, Name: "lead", Timezone: "America/New_York"},
		{ID: Guest, Name: "guest", Timezone: "Europe/London", Team: "T0OTHER001"},
	}
}

func groups() []fakeslack.Group {
	return []fakeslack.Group{{ID: Leads, Handle: "leads", Users: []string{Lead}}}
}

// SecretFor is the secret of the template to which the functions' variable
// refers.
func (s *Stage) SecretFor(v spec.Variable) (template.Secret, bool) {
	for _, f := range s.Template.Functions {
		if secret, ok := s.secretOf(f.Environment[string(v)]); ok {
			return secret, true
		}
	}
	return template.Secret{}, false
}

// secretValue is what Secrets Manager holds.
func (s *Stage) secretValue(secret template.Secret) string {
	signing, ok := s.SecretFor(config.SigningARN)
	switch {
	case ok && secret.ARN == signing.ARN:
		return SigningSecret
	case s.options.SlackToken != nil:
		return *s.options.SlackToken
	}
	return SlackToken
}

// Policy is what a function's role allows, by the function's deployed name.
// The template on the disk was synthesised with one set of settings; what
// hangs on settings is of those that are deployed here.
func (s *Stage) Policy(function string) []template.Statement {
	s.mu.Lock()
	defer s.mu.Unlock()
	if p, ok := s.policies[function]; ok {
		return p
	}
	if s.release != nil {
		if _, ok := s.release.Function(function); ok {
			return s.release.Policy(function)
		}
	}
	return s.Template.Policy(function)
}

// byChoice are the functions whose grants hang on settings.
func byChoice() []spec.Spec {
	return []spec.Spec{
		enicleanup.Spec(), remediate.Spec(), launchwatch.Spec(), joincheck.Spec(),
		nodegroupwatch.Spec(), spotreport.Spec(), subnetwatch.Spec(), sweep.Spec(), zonewatch.Spec(),
		notifytargets.Spec(),
	}
}

// synthesise makes the policies that hang on settings, as infra does.
func (s *Stage) synthesise() error {
	policies := map[string][]template.Statement{}
	for _, function := range byChoice() {
		f, ok := s.Function(function.Name)
		if !ok || function.Chosen == nil {
			continue
		}
		policy, err := s.chosen(function, f)
		if err != nil {
			return fmt.Errorf("the permissions of %s that hang on settings: %w", f.Name, err)
		}
		policies[f.Name] = policy
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.policies = policies
	return nil
}

// chosen is a function's policy of the template, with what the template's own
// settings gave taken away and what those of here give put in.
func (s *Stage) chosen(function spec.Spec, f template.Function) ([]template.Statement, error) {
	before, err := function.Chosen(within(f.Environment, s.Template.Region))
	if err != nil {
		return nil, fmt.Errorf("the template's settings: %w", err)
	}
	now, err := function.Chosen(within(s.environment(f), s.Template.Region))
	if err != nil {
		return nil, err
	}
	policy := slices.DeleteFunc(slices.Clone(s.Template.Policy(f.Name)), func(old template.Statement) bool {
		return slices.ContainsFunc(before, func(g spec.Grant) bool { return g.Sid == old.SID })
	})
	for _, g := range now {
		policy = append(policy, s.statement(g, function.Name, s.Template.Region, s.Template.AccountID))
	}
	return policy, nil
}

// within reads an environment as a function in a region has it.
func within(env map[string]string, region string) func(string) string {
	return func(name string) string {
		if name == "AWS_REGION" {
			return region
		}
		return env[name]
	}
}

func (s *Stage) statement(g spec.Grant, source, region, account string) template.Statement {
	fill := strings.NewReplacer("${Partition}", "aws", "${Region}", region, "${Account}", account).Replace
	out := template.Statement{SID: g.Sid, Effect: "Allow", Actions: g.Actions, Conditions: map[string]map[string][]string{}, Source: source}
	for _, r := range g.Resources {
		if r == spec.TargetTopic {
			_, topic := s.topics()
			out.Resources = append(out.Resources, topic)
			continue
		}
		if r == spec.EvidenceObjects {
			for _, b := range s.Template.S3Buckets {
				out.Resources = append(out.Resources, b.ARN+"/*")
			}
			continue
		}
		out.Resources = append(out.Resources, fill(string(r)))
	}
	for operator, keys := range g.Conditions {
		out.Conditions[operator] = map[string][]string{}
		for key, values := range keys {
			for _, v := range values {
				out.Conditions[operator][key] = append(out.Conditions[operator][key], fill(v))
			}
		}
	}
	return out
}

// addProgram makes a function known that is called as Go.
func (s *Stage) addProgram(f template.Function) error {
	i := slices.IndexFunc(s.options.Programs, func(p lambda.Program) bool { return p.Name == Folder(f) })
	if i < 0 {
		return fmt.Errorf("function %s: it is not among the programs", f.Name)
	}
	known := s.function(f)
	known.Inside = s.inside(f, s.options.Programs[i])
	if err := s.Runtime.Add(known); err != nil {
		return fmt.Errorf("function %s: %w", f.Name, err)
	}
	return nil
}

// inside starts a program, with all that a process would have of its own.
func (s *Stage) inside(f template.Function, p lambda.Program) lambdaruntime.Program {
	return func(life context.Context, env map[string]string, log io.Writer) func(context.Context, json.RawMessage) (any, error) {
		way := alive{life, outside{s.network, s.private}}
		aws := s.AsFunction(f)
		aws.HTTPClient = &http.Client{Transport: way}
		return lambda.New(p.Name, p.Variables, p.Build, func(name string) string { return env[name] }, log).By(lambda.Way{
			AWS: aws, HTTP: way, Endpoints: s.Endpoints(way),
		}).Invoke
	}
}

// Endpoints are those of the stage's clusters, for who reaches them by a way.
func (s *Stage) Endpoints(way http.RoundTripper) lambda.Endpoints {
	overrides := s.overridesOf(s.clusters)
	return func(cluster string) (string, []byte, http.RoundTripper, bool) {
		endpoint, ca, ok := overrides.ForCluster(cluster)
		return endpoint, ca, way, ok
	}
}

// alive is the way of a program's requests until it is killed.
type alive struct {
	life context.Context
	next http.RoundTripper
}

var errKilled = errors.New("the program was killed")

func (a alive) RoundTrip(req *http.Request) (*http.Response, error) {
	if a.life.Err() != nil {
		return nil, errKilled
	}
	return a.next.RoundTrip(req)
}
