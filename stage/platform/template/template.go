// Package template reads a synthesised CloudFormation template into the plain
// structs that the local stage runs: functions, event source mappings,
// queues, rules, buses, tables, secrets and the permissions of
// each role.
//
// What runs locally is to be what would be deployed, so nothing is guessed:
// an intrinsic function, a property or a reference that is not understood is
// an error that names the logical id and the path. Resource types that the
// stage does not run (dashboards, log groups) are resolved like all
// others, so that a broken reference in them is found, and listed in Ignored.
package template

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Options are what CloudFormation would know about the place of the stack.
type Options struct {
	AccountID string // default 123456789012
	Region    string // default us-west-2
	StackName string // default Rollcall
	// Parameters override the defaults of the template's parameters.
	Parameters map[string]string
	// QueueURL is the start of queue URLs, without a slash at the end;
	// default https://sqs.<region>.amazonaws.com.
	QueueURL string
}

// Error says what in a template is not understood, and where.
type Error struct {
	LogicalID string
	// Path is the place in the resource, steps joined by dots.
	Path   string
	Reason string
}

// Error returns the place and the reason.
func (e *Error) Error() string {
	if e.LogicalID == "" {
		return "template: " + e.Reason
	}
	return fmt.Sprintf("template: %s at %s: %s", e.LogicalID, e.Path, e.Reason)
}

// Parse reads a template in JSON. Its errors are *Error, joined if there are
// several.
func Parse(source []byte, o Options) (*Template, error) {
	r, err := open(source, o)
	if err != nil {
		return nil, err
	}
	o = r.o
	t := &Template{AccountID: o.AccountID, Region: o.Region, StackName: o.StackName, Outputs: map[string]string{}}
	var errs []error
	for _, id := range slices.Sorted(maps.Keys(r.doc.Resources)) {
		properties, err := r.properties(id)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		if err := t.add(r, id, properties); err != nil {
			errs = append(errs, err)
		}
	}
	if err := t.attach(); err != nil {
		errs = append(errs, err)
	}
	outputs, err := r.outputs()
	if err != nil {
		errs = append(errs, err)
	}
	t.Outputs = outputs
	if len(errs) > 0 {
		return nil, errors.Join(errs...)
	}
	return t, t.checkReferences()
}

// open reads a template and the values of its parameters, and leaves out what its conditions
// do.
func open(source []byte, o Options) (*resolver, error) {
	if o.AccountID == "" {
		o.AccountID = "123456789012"
	}
	if o.Region == "" {
		o.Region = "us-west-2"
	}
	if o.StackName == "" {
		o.StackName = "Rollcall"
	}
	if o.QueueURL == "" {
		o.QueueURL = "https://sqs." + o.Region + ".amazonaws.com"
	}
	doc, err := readDocument(source)
	if err != nil {
		return nil, &Error{Reason: err.Error()}
	}
	return newResolver(doc, o)
}

// Function returns the function with that name or ARN.
func (t *Template) Function(nameOrARN string) (Function, bool) {
	for _, f := range t.Functions {
		if f.Name == nameOrARN || f.ARN == nameOrARN {
			return f, true
		}
	}
	return Function{}, false
}

// Queue returns the queue with that ARN.
func (t *Template) Queue(arn string) (Queue, bool) {
	for _, q := range t.Queues {
		if q.ARN == arn {
			return q, true
		}
	}
	return Queue{}, false
}

// Policy returns all statements that the role of the function with that name
// holds; none for a function that does not exist.
func (t *Template) Policy(functionName string) []Statement {
	f, ok := t.Function(functionName)
	if !ok {
		return nil
	}
	for _, r := range t.Roles {
		if r.ARN == f.RoleARN {
			return r.Statements
		}
	}
	return nil
}

// decode fills a struct from resolved properties. A property that the struct
// does not name is refused: it might change what the resource does.
func decode(id string, properties map[string]any, into any) error {
	var source bytes.Buffer
	enc := json.NewEncoder(&source)
	enc.SetEscapeHTML(false) // patterns hold < and > and are shown to people
	if err := enc.Encode(properties); err != nil {
		return place{id, "Properties"}.refuse("%v", err)
	}
	dec := json.NewDecoder(&source)
	dec.DisallowUnknownFields()
	if err := dec.Decode(into); err != nil {
		p := place{id, "Properties"}
		var wrong *json.UnmarshalTypeError
		if errors.As(err, &wrong) && wrong.Field != "" {
			p = p.child(wrong.Field)
		}
		return p.refuse("%s", strings.TrimPrefix(err.Error(), "json: "))
	}
	return nil
}

// whole is an integer, which templates also write as a string.
type whole int

// UnmarshalJSON reads 5 and "5".
func (n *whole) UnmarshalJSON(b []byte) error {
	i, err := strconv.Atoi(strings.Trim(string(b), `"`))
	if err != nil {
		return fmt.Errorf("%s is not a whole number", b)
	}
	*n = whole(i)
	return nil
}

// flag is a boolean, which templates also write as a string.
type flag bool

// UnmarshalJSON reads true and "true".
func (f *flag) UnmarshalJSON(b []byte) error {
	v, err := strconv.ParseBool(strings.Trim(string(b), `"`))
	if err != nil {
		return fmt.Errorf("%s is not true or false", b)
	}
	*f = flag(v)
	return nil
}

// seconds is an optional number of seconds.
func seconds(n *whole, otherwise time.Duration) time.Duration {
	if n == nil {
		return otherwise
	}
	return time.Duration(*n) * time.Second
}

func number(n *whole, otherwise int) int {
	if n == nil {
		return otherwise
	}
	return int(*n)
}

// inert stands for a property that is known and has no effect on the stage.
type inert = json.RawMessage

// document is a template as written.
type document struct {
	Parameters map[string]parameter
	Resources  map[string]resource
	Outputs    map[string]output
	Mappings   map[string]map[string]map[string]any
	Conditions map[string]any
	Rules      map[string]rule
	// Transform is refused: the templates have none.
	Transform any
}

type output struct {
	Value     any
	Condition string
}

type resource struct {
	Type       string
	Properties map[string]any
	DependsOn  any
	Metadata   map[string]any
	Condition  string

	DeletionPolicy, UpdateReplacePolicy string
}

func readDocument(source []byte) (*document, error) {
	dec := json.NewDecoder(bytes.NewReader(source))
	dec.UseNumber()
	var doc document
	if err := dec.Decode(&doc); err != nil {
		return nil, fmt.Errorf("read JSON: %w", err)
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("more than one JSON value")
	}
	if doc.Transform != nil {
		return nil, errors.New("transforms are not understood")
	}
	if len(doc.Resources) == 0 {
		return nil, errors.New("no resources")
	}
	return &doc, nil
}

// target is a target as rules write it.
type target struct {
	Arn, Id, RoleArn string
	DeadLetterConfig struct{ Arn string }
	RetryPolicy      struct{ MaximumRetryAttempts, MaximumEventAgeInSeconds *whole }
}

func (x target) read() Target {
	return Target{
		ID: x.Id, ARN: x.Arn, RoleARN: x.RoleArn, DeadLetterARN: x.DeadLetterConfig.Arn,
		MaxAttempts: number(x.RetryPolicy.MaximumRetryAttempts, -1), MaxAge: seconds(x.RetryPolicy.MaximumEventAgeInSeconds, 0),
	}
}

func (t *Template) addRule(id string, n named, properties map[string]any) error {
	var p struct {
		Name, Description, EventBusName, ScheduleExpression, State, RoleArn string
		EventPattern                                                        json.RawMessage
		Targets                                                             []target
		Tags                                                                inert
	}
	if err := decode(id, properties, &p); err != nil {
		return err
	}
	rule := Rule{LogicalID: id, Name: n.name, ARN: n.arn, Bus: "default", Pattern: p.EventPattern, Schedule: p.ScheduleExpression}
	if p.EventBusName != "" {
		rule.Bus = busName(p.EventBusName)
	}
	switch p.State {
	case "", "ENABLED", "ENABLED_WITH_ALL_CLOUDTRAIL_MANAGEMENT_EVENTS":
		rule.Enabled = true
	case "DISABLED":
	default:
		return place{id, "Properties.State"}.refuse("%q is not understood", p.State)
	}
	if len(p.EventPattern) == 0 && p.ScheduleExpression == "" {
		return place{id, "Properties"}.refuse("a rule needs an EventPattern or a ScheduleExpression")
	}
	if p.ScheduleExpression != "" && rule.Bus != "default" {
		return place{id, "Properties.ScheduleExpression"}.refuse("schedules are for the default bus only")
	}
	if len(p.Targets) > 5 {
		return place{id, "Properties.Targets"}.refuse("%d targets; a rule may have 5", len(p.Targets))
	}
	for _, x := range p.Targets {
		rule.Targets = append(rule.Targets, x.read())
	}
	t.Rules = append(t.Rules, rule)
	return nil
}

// intrinsic tells if an object is a call of an intrinsic function.
func intrinsic(v map[string]any) (string, any, bool) {
	if len(v) != 1 {
		return "", nil, false
	}
	for k, arg := range v {
		if k == "Ref" || strings.HasPrefix(k, "Fn::") {
			return k, arg, true
		}
	}
	return "", nil, false
}

func (r *resolver) call(name string, arg any, p place) (any, error) {
	switch name {
	case "Ref":
		id, ok := arg.(string)
		if !ok {
			return nil, p.refuse("must be a name")
		}
		return r.ref(id, p)
	case "Fn::GetAtt":
		return r.getAtt(arg, p)
	case "Fn::Sub":
		return r.sub(arg, p)
	case "Fn::Join":
		return r.joined(arg, p)
	case "Fn::If":
		return r.ifElse(arg, p)
	case "Fn::Split":
		return r.split(arg, p)
	case "Fn::Select":
		return r.selected(arg, p)
	case "Fn::FindInMap":
		return r.inMap(arg, p)
	default:
		return nil, p.refuse("intrinsic function %q is not understood", name)
	}
}

// list evaluates an argument that must be an array with n items.
func (r *resolver) list(arg any, n int, p place) ([]any, error) {
	raw, ok := arg.([]any)
	if !ok || len(raw) != n {
		return nil, p.refuse("must be an array of %d", n)
	}
	out := make([]any, n)
	for i, item := range raw {
		v, err := r.value(item, p.child(strconv.Itoa(i)))
		if err != nil {
			return nil, err
		}
		out[i] = v
	}
	return out, nil
}

// text evaluates a value that must be a scalar.
func (r *resolver) text(v any, p place) (string, error) {
	v, err := r.value(v, p)
	if err != nil {
		return "", err
	}
	s, ok := scalar(v)
	if !ok {
		return "", p.refuse("must be a string")
	}
	return s, nil
}

// scalar writes strings, numbers and booleans as CloudFormation does where it
// wants a string.
func scalar(v any) (string, bool) {
	switch v := v.(type) {
	case string:
		return v, true
	case json.Number:
		return v.String(), true
	case bool:
		return strconv.FormatBool(v), true
	}
	return "", false
}

func (r *resolver) joined(arg any, p place) (any, error) {
	args, err := r.list(arg, 2, p)
	if err != nil {
		return nil, err
	}
	delimiter, ok1 := args[0].(string)
	items, ok2 := args[1].([]any)
	if !ok1 || !ok2 {
		return nil, p.refuse("must be a delimiter and a list")
	}
	parts := make([]string, len(items))
	for i, item := range items {
		s, ok := scalar(item)
		if !ok {
			return nil, p.child(strconv.Itoa(i)).refuse("must be a string")
		}
		parts[i] = s
	}
	return strings.Join(parts, delimiter), nil
}

// sub replaces ${Name}, ${Name.Attribute} and ${Variable}; ${!x} is a
// literal ${x}.
func (r *resolver) sub(arg any, p place) (any, error) {
	source, ok := arg.(string)
	variables := map[string]any{}
	if list, isList := arg.([]any); isList && len(list) == 2 {
		source, ok = list[0].(string)
		if m, isMap := list[1].(map[string]any); isMap {
			variables = m
		} else {
			ok = false
		}
	}
	if !ok {
		return nil, p.refuse("must be a string, or a string and its variables")
	}
	var b strings.Builder
	for {
		before, rest, found := strings.Cut(source, "${")
		b.WriteString(before)
		if !found {
			return b.String(), nil
		}
		name, after, closed := strings.Cut(rest, "}")
		if !closed {
			return nil, p.refuse("%q is not closed", "${"+rest)
		}
		source = after
		if literal, ok := strings.CutPrefix(name, "!"); ok {
			b.WriteString("${" + literal + "}")
			continue
		}
		s, err := r.subName(name, variables, p)
		if err != nil {
			return nil, err
		}
		b.WriteString(s)
	}
}

func (r *resolver) subName(name string, variables map[string]any, p place) (string, error) {
	if v, ok := variables[name]; ok {
		return r.text(v, p.child(name))
	}
	var v any
	var err error
	if id, attribute, dotted := strings.Cut(name, "."); dotted {
		v, err = r.getAtt([]any{id, attribute}, p)
	} else {
		v, err = r.ref(name, p)
	}
	if err != nil {
		return "", err
	}
	s, ok := scalar(v)
	if !ok {
		return "", p.refuse("%q is not a string", name)
	}
	return s, nil
}

// Template is a template with all intrinsics resolved. Slices are sorted by
// logical id.
type Template struct {
	AccountID, Region, StackName string

	Functions     []Function
	Mappings      []EventSourceMapping
	Queues        []Queue
	QueuePolicies []QueuePolicy
	Rules         []Rule
	Buses         []EventBus
	BusPolicies   []Statement
	Tables        []Table
	Secrets       []Secret
	Topics        []Topic
	S3Buckets     []S3Bucket
	Roles         []Role
	InvokeConfigs []EventInvokeConfig
	Permissions   []Permission
	URLs          []URL
	Alarms        []Alarm
	// Ignored lists the resources that the stage does not run.
	Ignored []Ignored
	// Outputs are the stack's outputs by logical name.
	Outputs map[string]string

	attached []attachedPolicy
}

// Ignored is a resource that the stage does not run.
type Ignored struct {
	LogicalID string
	Type      string
}

// Alarm is an AWS::CloudWatch::Alarm, as far as who it tells: the stage never rings
// one.
type Alarm struct {
	LogicalID   string
	Name        string
	ARN         string
	Description string
	// Enabled is set where its actions are enabled.
	Enabled bool
	// Actions are done in ALARM, SilentActions in INSUFFICIENT_DATA: ARNs.
	Actions, SilentActions []string
}

// Function is an AWS::Lambda::Function.
type Function struct {
	LogicalID    string
	Name         string
	ARN          string
	Handler      string
	Runtime      string
	Architecture string
	Memory       int // MB
	Timeout      time.Duration
	Environment  map[string]string
	Tags         map[string]string
	RoleARN      string
	// AssetKey is the S3 key of the code, which CDK makes from its hash, and
	// AssetPath the folder in the cloud assembly, if the template says so.
	AssetKey, AssetPath string
	DeadLetterARN       string
	// ReservedConcurrency is -1 where none is set.
	ReservedConcurrency int
}

// EventSourceMapping is an AWS::Lambda::EventSourceMapping of a queue.
type EventSourceMapping struct {
	LogicalID          string
	FunctionName       string
	QueueARN           string
	BatchSize          int
	Window             time.Duration
	Enabled            bool
	MaximumConcurrency int // 0: no limit of its own
	ReportFailures     bool
}

// Queue is an AWS::SQS::Queue.
type Queue struct {
	LogicalID    string
	Name         string
	ARN          string
	URL          string
	FIFO         bool
	ContentDedup bool
	// DedupByGroup makes a deduplication id count within its message group
	// only (DeduplicationScope).
	DedupByGroup  bool
	Delay         time.Duration
	Visibility    time.Duration
	Retention     time.Duration
	Wait          time.Duration
	MaxBytes      int
	DeadLetterARN string
	MaxReceive    int
	Encrypted     bool
}

// QueuePolicy is an AWS::SQS::QueuePolicy.
type QueuePolicy struct {
	LogicalID  string
	QueueURLs  []string
	Statements []Statement
}

// Rule is an AWS::Events::Rule.
type Rule struct {
	LogicalID string
	Name      string
	ARN       string
	Bus       string // name
	Pattern   json.RawMessage
	Schedule  string
	Enabled   bool
	Targets   []Target
}

// Target is where a rule delivers.
type Target struct {
	ID            string
	ARN           string
	DeadLetterARN string
	// MaxAttempts is the number of retries, -1 where the template is silent.
	MaxAttempts int
	// MaxAge is zero where the template is silent.
	MaxAge  time.Duration
	RoleARN string
}

// EventBus is an AWS::Events::EventBus.
type EventBus struct {
	LogicalID string
	Name      string
	ARN       string
}

// Table is an AWS::DynamoDB::Table.
type Table struct {
	LogicalID     string
	Name          string
	ARN           string
	Keys          []Key
	Attributes    map[string]string // name to S, N or B
	GlobalIndexes []Index
	TTLAttribute  string
	OnDemand      bool
}

// Key is one part of a key schema.
type Key struct {
	Name string
	Type string // HASH or RANGE
}

// Index is a secondary index.
type Index struct {
	Name       string
	Keys       []Key
	Projection string
	NonKey     []string
}

// Secret is an AWS::SecretsManager::Secret. Its value is never read.
type Secret struct {
	LogicalID string
	Name      string
	ARN       string
}

// Topic is an AWS::SNS::Topic.
type Topic struct {
	LogicalID string
	ARN       string
}

// S3Bucket is an AWS::S3::Bucket, with the statements of its AWS::S3::BucketPolicy.
type S3Bucket struct {
	LogicalID string
	Name      string
	ARN       string
	// ExpireDays is after how many days its objects are deleted; 0 is never.
	ExpireDays int
	// Encryption is the algorithm of its default encryption.
	Encryption string
	// Private is set where all public access is blocked.
	Private    bool
	Statements []Statement
}

// Role is an AWS::IAM::Role with the statements of all its policies.
type Role struct {
	LogicalID string
	Name      string
	ARN       string
	// Trust is the assume-role policy.
	Trust []Statement
	// Statements are those of its inline policies.
	Statements []Statement
	Tags       map[string]string
}

// EventInvokeConfig is an AWS::Lambda::EventInvokeConfig.
type EventInvokeConfig struct {
	LogicalID    string
	FunctionName string
	// MaxRetries is -1 where the template is silent.
	MaxRetries   int
	MaxAge       time.Duration
	OnFailureARN string
	OnSuccessARN string
}

// Permission is an AWS::Lambda::Permission.
type Permission struct {
	LogicalID    string
	FunctionName string
	Action       string
	Principal    string
	SourceARN    string
	// URLAuthType and ViaURL narrow it to calls of the function's address.
	URLAuthType string
	ViaURL      bool
}
