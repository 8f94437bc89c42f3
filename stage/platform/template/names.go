package template

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// ref is the value of {"Ref": id}.
func (r *resolver) ref(id string, p place) (any, error) {
	switch id {
	case "AWS::AccountId":
		return r.o.AccountID, nil
	case "AWS::Region":
		return r.o.Region, nil
	case "AWS::Partition":
		return "aws", nil
	case "AWS::URLSuffix":
		return "amazonaws.com", nil
	case "AWS::StackName":
		return r.o.StackName, nil
	case "AWS::NoValue":
		return none{}, nil
	case "AWS::StackId":
		return r.arn("cloudformation", "stack/"+r.o.StackName+"/00000000-0000-4000-8000-000000000000"), nil
	}
	if v, ok := r.parameters[id]; ok {
		return v, nil
	}
	if _, ok := r.doc.Parameters[id]; ok {
		return nil, p.refuse("parameter %q has no default and no value is given", id)
	}
	n, err := r.named(id, p)
	if err != nil {
		return nil, err
	}
	return n.ref, nil
}

// getAtt is the value of {"Fn::GetAtt": [id, attribute]}.
func (r *resolver) getAtt(arg any, p place) (any, error) {
	var id, attribute string
	switch v := arg.(type) {
	case string:
		id, attribute, _ = strings.Cut(v, ".")
	case []any:
		if len(v) == 2 {
			id, _ = v[0].(string)
			attribute, _ = v[1].(string)
		}
	}
	if id == "" || attribute == "" {
		return nil, p.refuse("must be a resource and an attribute")
	}
	n, err := r.named(id, p)
	if err != nil {
		return nil, err
	}
	if v, ok := n.attributes[attribute]; ok {
		return v, nil
	}
	if n.strict {
		return nil, p.refuse("%s has no attribute %q that the stage knows", r.doc.Resources[id].Type, attribute)
	}
	// A type that the stage does not run: any value that is the same each
	// time will do.
	return id + "." + attribute, nil
}

// named are the values by which others refer to a resource.
type named struct {
	name       string
	arn        string
	ref        string
	attributes map[string]string
	// strict is set for types whose attributes are all known here.
	strict bool
}

func (r *resolver) arn(service, resource string) string {
	return "arn:aws:" + service + ":" + r.o.Region + ":" + r.o.AccountID + ":" + resource
}

// nameProperty is the property with which a template names the resource.
func nameProperty(resourceType string) string {
	switch resourceType {
	case "AWS::Lambda::Function":
		return "FunctionName"
	case "AWS::SQS::Queue":
		return "QueueName"
	case "AWS::Events::Rule", "AWS::Events::EventBus", "AWS::SecretsManager::Secret":
		return "Name"
	case "AWS::DynamoDB::Table":
		return "TableName"
	case "AWS::IAM::Role":
		return "RoleName"
	case "AWS::IAM::ManagedPolicy":
		return "ManagedPolicyName"
	case "AWS::Logs::LogGroup":
		return "LogGroupName"
	case "AWS::SNS::Topic":
		return "TopicName"
	case "AWS::CloudWatch::Alarm":
		return "AlarmName"
	case "AWS::CloudWatch::Dashboard":
		return "DashboardName"
	case "AWS::S3::Bucket":
		return "BucketName"
	}
	return ""
}

// named makes the names of a resource. Names that AWS would generate are the
// stack's name and the logical id, so that they are the same each time.
func (r *resolver) named(id string, p place) (named, error) {
	res, ok := r.doc.Resources[id]
	if !ok {
		return named{}, p.refuse("%q is no resource or parameter of the template", id)
	}
	if r.busy["name "+id] {
		return named{}, p.refuse("the name of %q refers to itself", id)
	}
	r.busy["name "+id] = true
	defer delete(r.busy, "name "+id)

	name := r.o.StackName + "-" + id
	if property := nameProperty(res.Type); property != "" && res.Properties[property] != nil {
		v, err := r.value(res.Properties[property], place{id, "Properties." + property})
		if err != nil {
			return named{}, err
		}
		if s, ok := scalar(v); ok {
			name = s
		}
	} else if res.Type == "AWS::SQS::Queue" {
		if fifo, _ := scalar(res.Properties["FifoQueue"]); fifo == "true" {
			name += ".fifo"
		}
	}
	return r.values(id, res, name)
}

// values follows the "Return values" of each type's reference page.
func (r *resolver) values(id string, res resource, name string) (named, error) {
	n := named{name: name, ref: name, strict: true}
	switch res.Type {
	case "AWS::Lambda::Function":
		n.arn = r.arn("lambda", "function:"+name)
	case "AWS::Lambda::Url":
		// The reference is the function's ARN, and the address is Lambda's choice.
		n.ref = id
		n.attributes = map[string]string{"FunctionArn": id, "FunctionUrl": "https://" + strings.ToLower(id) + ".lambda-url." + r.o.Region + ".on.aws/"}
	case "AWS::SQS::Queue":
		n.arn = r.arn("sqs", name)
		n.ref = r.o.QueueURL + "/" + r.o.AccountID + "/" + name
		n.attributes = map[string]string{"Arn": n.arn, "QueueName": name, "QueueUrl": n.ref}
	case "AWS::Events::EventBus":
		n.arn = r.arn("events", "event-bus/"+name)
		n.attributes = map[string]string{"Arn": n.arn, "Name": name}
	case "AWS::Events::Rule":
		bus, err := r.busOf(id, res)
		if err != nil {
			return named{}, err
		}
		n.arn = r.arn("events", "rule/"+name)
		if bus != "default" {
			n.arn = r.arn("events", "rule/"+bus+"/"+name)
			n.ref = bus + "|" + name
		}
	case "AWS::DynamoDB::Table":
		n.arn = r.arn("dynamodb", "table/"+name)
		n.attributes = map[string]string{"Arn": n.arn, "TableId": id}
	case "AWS::SecretsManager::Secret":
		n.arn = r.arn("secretsmanager", "secret:"+name+"-aBcDeF")
		n.ref = n.arn
		n.attributes = map[string]string{"Id": n.arn}
	case "AWS::IAM::Role":
		path := "/"
		if v := res.Properties["Path"]; v != nil {
			value, err := r.value(v, place{id, "Properties.Path"})
			if err != nil {
				return named{}, err
			}
			if value != any(none{}) {
				if path, err = r.text(value, place{id, "Properties.Path"}); err != nil {
					return named{}, err
				}
			}
		}
		n.arn = "arn:aws:iam::" + r.o.AccountID + ":role" + path + name
		n.attributes = map[string]string{"Arn": n.arn, "RoleId": "AROA" + strings.ToUpper(id)}
	case "AWS::IAM::ManagedPolicy":
		n.arn = "arn:aws:iam::" + r.o.AccountID + ":policy/" + name
		n.ref = n.arn
	case "AWS::SNS::Topic":
		n.arn = r.arn("sns", name)
		n.ref = n.arn
		n.attributes = map[string]string{"TopicArn": n.arn, "TopicName": name}
	case "AWS::Logs::LogGroup":
		n.arn = r.arn("logs", "log-group:"+name+":*")
	case "AWS::S3::Bucket":
		// S3's names have no capitals.
		n.name = strings.ToLower(name)
		n.arn, n.ref = "arn:aws:s3:::"+n.name, n.name
		n.attributes = map[string]string{"Arn": n.arn, "DomainName": n.name + ".s3.amazonaws.com"}
	case "AWS::CloudWatch::Alarm":
		n.arn = r.arn("cloudwatch", "alarm:"+name)
	default:
		// AWS::Service::Kind
		parts := strings.Split(res.Type, "::")
		n.arn = r.arn(strings.ToLower(parts[len(parts)/2]), name)
		n.strict = false
	}
	if n.attributes == nil {
		n.attributes = map[string]string{"Arn": n.arn}
	}
	return n, nil
}

// busOf returns the name of the bus of a rule, which a template may give by
// name or by ARN.
func (r *resolver) busOf(id string, res resource) (string, error) {
	v := res.Properties["EventBusName"]
	if v == nil {
		return "default", nil
	}
	s, err := r.text(v, place{id, "Properties.EventBusName"})
	if err != nil {
		return "", err
	}
	return busName(s), nil
}

func busName(nameOrARN string) string {
	if _, name, ok := strings.Cut(nameOrARN, ":event-bus/"); ok {
		return name
	}
	return nameOrARN
}

// Allows tells if identity policies allow an action on a resource. The
// context holds the condition keys of the request (keys are compared without
// regard to case, as IAM does). A Deny wins over any Allow.
//
// A condition operator that is not understood is an error, whatever the
// other statements say: a wrong answer here would be a hole in a test.
func Allows(statements []Statement, action, resource string, context map[string][]string) (bool, error) {
	keys := make(map[string][]string, len(context))
	for k, v := range context {
		keys[strings.ToLower(k)] = v
	}
	allowed, denied := false, false
	for _, s := range statements {
		fits, err := s.holds(keys)
		if err != nil {
			return false, fmt.Errorf("statement %q of %s: %w", s.SID, s.Source, err)
		}
		if !fits || !s.names(action, resource, keys) {
			continue
		}
		switch s.Effect {
		case "Allow":
			allowed = true
		case "Deny":
			denied = true
		default:
			return false, fmt.Errorf("statement %q of %s: effect %q", s.SID, s.Source, s.Effect)
		}
	}
	return allowed && !denied, nil
}

// names tells if action and resource fit.
func (s Statement) names(action, resource string, keys map[string][]string) bool {
	fold := func(pattern string) bool { return like(strings.ToLower(pattern), strings.ToLower(action)) }
	switch {
	case len(s.Actions) > 0 && !slices.ContainsFunc(s.Actions, fold):
		return false
	case len(s.Actions) == 0 && (len(s.NotActions) == 0 || slices.ContainsFunc(s.NotActions, fold)):
		return false
	}
	exact := func(pattern string) bool {
		filled, ok := fill(pattern, keys)
		return ok && like(filled, resource)
	}
	if len(s.Resources) > 0 {
		return slices.ContainsFunc(s.Resources, exact)
	}
	return len(s.NotResources) > 0 && !slices.ContainsFunc(s.NotResources, exact)
}

// like matches "*" (any characters) and "?" (one character).
func like(pattern, s string) bool {
	star, mark := -1, 0
	i, j := 0, 0
	for j < len(s) {
		switch {
		// The star first: the text may hold a star of its own.
		case i < len(pattern) && pattern[i] == '*':
			star, mark = i, j
			i++
		case i < len(pattern) && (pattern[i] == '?' || pattern[i] == s[j]):
			i++
			j++
		case star >= 0:
			i = star + 1
			mark++
			j = mark
		default:
			return false
		}
	}
	for i < len(pattern) && pattern[i] == '*' {
		i++
	}
	return i == len(pattern)
}

// fill replaces policy variables like ${aws:PrincipalTag/team}. Without a
// value in the request a variable matches nothing.
func fill(pattern string, keys map[string][]string) (string, bool) {
	var b strings.Builder
	for {
		before, rest, found := strings.Cut(pattern, "${")
		b.WriteString(before)
		if !found {
			return b.String(), true
		}
		name, after, closed := strings.Cut(rest, "}")
		if !closed {
			return "", false
		}
		values := keys[strings.ToLower(name)]
		switch {
		case name == "*" || name == "?" || name == "$":
			b.WriteString(name)
		case len(values) == 1:
			b.WriteString(values[0])
		default:
			return "", false
		}
		pattern = after
	}
}

// holds tells if all conditions do.
func (s Statement) holds(keys map[string][]string) (bool, error) {
	all := true
	for _, operator := range slices.Sorted(maps.Keys(s.Conditions)) {
		for _, key := range slices.Sorted(maps.Keys(s.Conditions[operator])) {
			ok, err := condition(operator, s.Conditions[operator][key], keys[strings.ToLower(key)], keys)
			if err != nil {
				return false, fmt.Errorf("condition on %q: %w", key, err)
			}
			all = all && ok
		}
	}
	return all, nil
}

// condition evaluates one operator on one key. have are the request's values.
func condition(operator string, want, have []string, keys map[string][]string) (bool, error) {
	base, set := operator, ""
	for _, q := range []string{"ForAllValues:", "ForAnyValue:"} {
		if rest, ok := strings.CutPrefix(operator, q); ok {
			base, set = rest, q
		}
	}
	base, ifExists := strings.CutSuffix(base, "IfExists")
	if base == "Null" {
		if set != "" || ifExists || len(want) != 1 {
			return false, fmt.Errorf("operator %q is not understood", operator)
		}
		absent, err := strconv.ParseBool(want[0])
		return absent == (len(have) == 0), err
	}
	compare, negative, err := comparer(base)
	if err != nil {
		return false, fmt.Errorf("operator %q is not understood", operator)
	}
	if len(have) == 0 {
		// A key that is not in the request: positive operators fail, negative
		// ones hold, and so does ForAllValues.
		return ifExists || negative && set != "ForAnyValue:" || set == "ForAllValues:", nil
	}
	one := func(value string) bool {
		hit := slices.ContainsFunc(want, func(pattern string) bool {
			filled, ok := fill(pattern, keys)
			return ok && compare(filled, value)
		})
		return hit != negative
	}
	if set == "ForAnyValue:" {
		return slices.ContainsFunc(have, one), nil
	}
	// Without a set operator a key has one value, and for one value all is
	// that value.
	return !slices.ContainsFunc(have, func(v string) bool { return !one(v) }), nil
}

// comparer returns how an operator compares the policy's value with that of
// the request, and if the operator is a negated one.
func comparer(operator string) (compare func(want, have string) bool, negative bool, err error) {
	base := operator
	if head, tail, ok := strings.Cut(operator, "Not"); ok {
		base, negative = head+tail, true
	}
	switch base {
	case "StringEquals":
		return func(w, h string) bool { return w == h }, negative, nil
	case "StringEqualsIgnoreCase":
		return strings.EqualFold, negative, nil
	case "StringLike":
		return like, negative, nil
	case "ArnEquals", "ArnLike":
		return arnLike, negative, nil
	case "NumericEquals":
		return numeric(func(w, h float64) bool { return h == w }), negative, nil
	}
	if negative {
		return nil, false, fmt.Errorf("operator %q is not understood", operator)
	}
	switch base {
	case "Bool":
		return strings.EqualFold, false, nil
	case "NumericLessThan":
		return numeric(func(w, h float64) bool { return h < w }), false, nil
	case "NumericLessThanEquals":
		return numeric(func(w, h float64) bool { return h <= w }), false, nil
	case "NumericGreaterThan":
		return numeric(func(w, h float64) bool { return h > w }), false, nil
	case "NumericGreaterThanEquals":
		return numeric(func(w, h float64) bool { return h >= w }), false, nil
	}
	return nil, false, fmt.Errorf("operator %q is not understood", operator)
}

func numeric(f func(want, have float64) bool) func(want, have string) bool {
	return func(want, have string) bool {
		w, err1 := strconv.ParseFloat(want, 64)
		h, err2 := strconv.ParseFloat(have, 64)
		return err1 == nil && err2 == nil && f(w, h)
	}
}

// arnLike matches each of the six parts of an ARN by itself: a star does not
// reach over a colon, except in the last part.
func arnLike(want, have string) bool {
	w, h := strings.SplitN(want, ":", 6), strings.SplitN(have, ":", 6)
	if len(w) != 6 || len(h) != 6 {
		return want == "*"
	}
	for i := range w {
		if !like(w[i], h[i]) {
			return false
		}
	}
	return true
}

// functionName returns the name in a function's name or ARN.
func functionName(nameOrARN string) string {
	if _, name, ok := strings.Cut(nameOrARN, ":function:"); ok {
		name, _, _ = strings.Cut(name, ":") // without a qualifier
		return name
	}
	return nameOrARN
}

// checkReferences finds what CloudFormation would accept and what then fails
// quietly at run time: targets and sources that are not there, and the rules
// by which Lambda and SQS refuse resources that do not fit together.
func (t *Template) checkReferences() error {
	var errs []error
	refuse := func(id, path, format string, args ...any) {
		errs = append(errs, place{id, path}.refuse(format, args...))
	}
	for _, f := range t.Functions {
		if t.role(f.RoleARN) < 0 {
			refuse(f.LogicalID, "Properties.Role", "role %q is not in the template", f.RoleARN)
		}
		t.checkQueue(f.LogicalID, "Properties.DeadLetterConfig.TargetArn", f.DeadLetterARN, refuse)
	}
	for _, m := range t.Mappings {
		f, ok := t.Function(m.FunctionName)
		if !ok {
			refuse(m.LogicalID, "Properties.FunctionName", "function %q is not in the template", m.FunctionName)
		}
		q, found := t.Queue(m.QueueARN)
		switch {
		case !found:
			refuse(m.LogicalID, "Properties.EventSourceArn", "queue %q is not in the template", m.QueueARN)
		case q.Visibility < f.Timeout:
			refuse(q.LogicalID, "Properties.VisibilityTimeout", "%v is less than the timeout of function %s, %v", q.Visibility, f.Name, f.Timeout)
		case q.FIFO && m.BatchSize > 10:
			refuse(m.LogicalID, "Properties.BatchSize", "%d is more than 10, the limit for FIFO queues", m.BatchSize)
		case q.FIFO && m.Window > 0:
			refuse(m.LogicalID, "Properties.MaximumBatchingWindowInSeconds", "a FIFO queue has no batching window")
		}
	}
	for _, q := range t.Queues {
		if q.DeadLetterARN == "" {
			continue
		}
		dead, ok := t.Queue(q.DeadLetterARN)
		if !ok || dead.FIFO != q.FIFO {
			refuse(q.LogicalID, "Properties.RedrivePolicy", "dead-letter queue %q is not in the template or not of the same kind", q.DeadLetterARN)
		}
	}
	for _, r := range t.Rules {
		if !t.hasBus(r.Bus) {
			refuse(r.LogicalID, "Properties.EventBusName", "bus %q is not in the template", r.Bus)
		}
		for _, x := range r.Targets {
			t.checkTarget(r.LogicalID, "Properties.Targets", x, refuse)
		}
	}
	for _, c := range t.InvokeConfigs {
		if _, ok := t.Function(c.FunctionName); !ok {
			refuse(c.LogicalID, "Properties.FunctionName", "function %q is not in the template", c.FunctionName)
		}
		t.checkQueue(c.LogicalID, "Properties.DestinationConfig.OnFailure", c.OnFailureARN, refuse)
		t.checkQueue(c.LogicalID, "Properties.DestinationConfig.OnSuccess", c.OnSuccessARN, refuse)
	}
	for _, p := range t.Permissions {
		if _, ok := t.Function(p.FunctionName); !ok {
			refuse(p.LogicalID, "Properties.FunctionName", "function %q is not in the template", p.FunctionName)
		}
	}
	for _, u := range t.URLs {
		t.checkURL(u, refuse)
	}
	return errors.Join(errs...)
}

// checkQueue refuses an optional ARN that is no queue of the template.
func (t *Template) checkQueue(id, path, arn string, refuse func(id, path, format string, args ...any)) {
	if _, ok := t.Queue(arn); arn != "" && !ok {
		refuse(id, path, "%q is no queue of the template", arn)
	}
}

func (t *Template) hasBus(name string) bool {
	if name == "default" {
		return true
	}
	for _, b := range t.Buses {
		if b.Name == name {
			return true
		}
	}
	return false
}

func (t *Template) checkTarget(id, path string, x Target, refuse func(id, path, format string, args ...any)) {
	t.checkQueue(id, path+".DeadLetterConfig.Arn", x.DeadLetterARN, refuse)
	service := ""
	if parts := strings.SplitN(x.ARN, ":", 6); len(parts) == 6 {
		service = parts[2]
	}
	switch service {
	case "lambda":
		if _, ok := t.Function(x.ARN); !ok {
			refuse(id, path+".Arn", "function %q is not in the template", x.ARN)
		}
	case "sqs":
		q, ok := t.Queue(x.ARN)
		if !ok {
			refuse(id, path+".Arn", "queue %q is not in the template", x.ARN)
		} else if q.FIFO {
			refuse(id, path+".Arn", "a FIFO queue needs a message group, which the stage's rules do not have")
		}
	case "events":
		// Another account's or region's is not this template's to hold.
		here := strings.HasPrefix(x.ARN, "arn:aws:events:"+t.Region+":"+t.AccountID+":")
		if here && !t.hasBus(busName(x.ARN)) {
			refuse(id, path+".Arn", "bus %q is not in the template", x.ARN)
		}
	default:
		refuse(id, path+".Arn", "the stage cannot deliver to %q", x.ARN)
	}
}

// resolver evaluates intrinsic functions. Values of resources (names, ARNs)
// are made on demand, because the name of one may refer to another.
type resolver struct {
	doc        *document
	o          Options
	parameters map[string]any
	conditions map[string]bool
	// busy holds the resource names under evaluation, so that
	// a circle ends in an error.
	busy map[string]bool
}

// place is where in the template an error is.
type place struct{ id, path string }

func (p place) child(step string) place {
	if p.path == "" {
		return place{p.id, step}
	}
	return place{p.id, p.path + "." + step}
}

func (p place) refuse(format string, args ...any) error {
	return &Error{LogicalID: p.id, Path: p.path, Reason: fmt.Sprintf(format, args...)}
}

func newResolver(doc *document, o Options) (*resolver, error) {
	r := &resolver{doc: doc, o: o, parameters: map[string]any{}, conditions: map[string]bool{}, busy: map[string]bool{}}
	if err := r.take(); err != nil {
		return nil, err
	}
	if err := r.choose(); err != nil {
		return nil, err
	}
	return r, nil
}

// properties returns the resolved properties of a resource.
func (r *resolver) properties(id string) (map[string]any, error) {
	res := r.doc.Resources[id]
	if res.Type == "" {
		return nil, place{id, "Type"}.refuse("missing")
	}
	if err := r.checkDependsOn(id, res.DependsOn); err != nil {
		return nil, err
	}
	v, err := r.value(map[string]any(res.Properties), place{id, "Properties"})
	if err != nil {
		return nil, err
	}
	m, ok := v.(map[string]any)
	if !ok {
		return nil, place{id, "Properties"}.refuse("must be an object")
	}
	return m, nil
}

func (r *resolver) checkDependsOn(id string, depends any) error {
	list, ok := depends.([]any)
	if !ok && depends != nil {
		list = []any{depends}
	}
	for _, d := range list {
		name, ok := d.(string)
		if !ok {
			return place{id, "DependsOn"}.refuse("must be names of resources")
		}
		if _, ok := r.doc.Resources[name]; !ok {
			return place{id, "DependsOn"}.refuse("resource %q does not exist", name)
		}
	}
	return nil
}

func (r *resolver) outputs() (map[string]string, error) {
	out := map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(r.doc.Outputs)) {
		o := r.doc.Outputs[name]
		p := place{name, "Outputs.Value"}
		v, err := r.text(o.Value, p)
		if err != nil {
			return nil, err
		}
		out[name] = v
	}
	return out, nil
}

// value evaluates a value and all that is in it.
func (r *resolver) value(v any, p place) (any, error) {
	switch v := v.(type) {
	case map[string]any:
		if name, arg, ok := intrinsic(v); ok {
			return r.call(name, arg, p.child(name))
		}
		out := make(map[string]any, len(v))
		for _, k := range slices.Sorted(maps.Keys(v)) {
			inner, err := r.value(v[k], p.child(k))
			if err != nil {
				return nil, err
			}
			if inner != any(none{}) {
				out[k] = inner
			}
		}
		return out, nil
	case []any:
		out := make([]any, 0, len(v))
		for i, item := range v {
			inner, err := r.value(item, p.child(strconv.Itoa(i)))
			if err != nil {
				return nil, err
			}
			if inner != any(none{}) {
				out = append(out, inner)
			}
		}
		return out, nil
	case string:
		if strings.Contains(v, "{{resolve:") {
			return nil, p.refuse("dynamic references are not understood")
		}
		return v, nil
	default:
		return v, nil
	}
}
