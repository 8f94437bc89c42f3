package template

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// Statement is one statement of a policy.
type Statement struct {
	// Source is the logical id of the resource that holds it.
	Source       string
	SID          string
	Effect       string
	Actions      []string
	NotActions   []string
	Resources    []string
	NotResources []string
	// Principals are "Service:events.amazonaws.com", "AWS:…" or "*"; only
	// resource and trust policies have them.
	Principals []string
	// Conditions are operator, key and values.
	Conditions map[string]map[string][]string
}

// texts is a string or a list of strings; booleans and numbers, which JSON
// policies allow in conditions, become strings.
type texts []string

// UnmarshalJSON reads "a", ["a", "b"], true and 5.
func (t *texts) UnmarshalJSON(b []byte) error {
	var one any
	if err := json.Unmarshal(b, &one); err != nil {
		return err
	}
	list, ok := one.([]any)
	if !ok {
		list = []any{one}
	}
	for _, v := range list {
		switch v := v.(type) {
		case string:
			*t = append(*t, v)
		case bool, float64:
			*t = append(*t, fmt.Sprint(v))
		default:
			return fmt.Errorf("%s is not a string or a list of strings", b)
		}
	}
	return nil
}

// policyDocument is an IAM policy as written.
type policyDocument struct {
	Version, Id string
	Statement   statements
}

type statements []statement

// UnmarshalJSON reads one statement or a list.
func (s *statements) UnmarshalJSON(b []byte) error {
	if len(b) > 0 && b[0] == '{' {
		b = append(append([]byte("["), b...), ']')
	}
	var list []statement
	dec := json.NewDecoder(strings.NewReader(string(b)))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&list); err != nil {
		return err
	}
	*s = list
	return nil
}

type statement struct {
	Sid, Effect                              string
	Action, NotAction, Resource, NotResource texts
	Principal                                principals
	Condition                                map[string]map[string]texts
}

type principals []string

// UnmarshalJSON reads "*" and {"Service": …, "AWS": …}.
func (p *principals) UnmarshalJSON(b []byte) error {
	var star string
	if json.Unmarshal(b, &star) == nil {
		*p = principals{star}
		return nil
	}
	var kinds map[string]texts
	if err := json.Unmarshal(b, &kinds); err != nil {
		return err
	}
	for _, kind := range slices.Sorted(maps.Keys(kinds)) {
		for _, v := range kinds[kind] {
			*p = append(*p, kind+":"+v)
		}
	}
	return nil
}

// ReadPolicy reads a policy document, as JSON. source is what its statements are
// said to be of.
func ReadPolicy(source, document string) ([]Statement, error) {
	var d policyDocument
	if err := json.Unmarshal([]byte(document), &d); err != nil {
		return nil, fmt.Errorf("read the policy %s: %w", source, err)
	}
	return d.read(source), nil
}

func (d policyDocument) read(source string) []Statement {
	var out []Statement
	for _, s := range d.Statement {
		st := Statement{
			Source: source, SID: s.Sid, Effect: s.Effect, Actions: s.Action, NotActions: s.NotAction,
			Resources: s.Resource, NotResources: s.NotResource, Principals: s.Principal,
		}
		for operator, keys := range s.Condition {
			for key, values := range keys {
				if st.Conditions == nil {
					st.Conditions = map[string]map[string][]string{}
				}
				if st.Conditions[operator] == nil {
					st.Conditions[operator] = map[string][]string{}
				}
				st.Conditions[operator][key] = values
			}
		}
		out = append(out, st)
	}
	return out
}

func (t *Template) addRole(id string, n named, properties map[string]any) error {
	var p struct {
		RoleName, Description, Path string
		AssumeRolePolicyDocument    policyDocument
		Policies                    []struct {
			PolicyName     string
			PolicyDocument policyDocument
		}
		Tags tags
		// A permissions boundary is another account's guard, which the stage does not play.
		MaxSessionDuration, PermissionsBoundary inert
	}
	if err := decode(id, properties, &p); err != nil {
		return err
	}
	role := Role{LogicalID: id, Name: n.name, ARN: n.arn, Trust: p.AssumeRolePolicyDocument.read(id)}
	for _, inline := range p.Policies {
		role.Statements = append(role.Statements, inline.PolicyDocument.read(id)...)
	}
	role.Tags = p.Tags.read()
	t.Roles = append(t.Roles, role)
	return nil
}

// tags are those of a resource.
type tags []struct{ Key, Value string }

func (t tags) read() map[string]string {
	var all map[string]string
	for _, tag := range t {
		if all == nil {
			all = map[string]string{}
		}
		all[tag.Key] = tag.Value
	}
	return all
}

// attachedPolicy is a managed policy of the template: where remedies are opted into for
// many clusters, a role's own policy has not the room.
type attachedPolicy struct {
	id         string
	roles      []string
	statements []Statement
}

func (t *Template) addManagedPolicy(id string, properties map[string]any) error {
	var p struct {
		ManagedPolicyName, Description, Path string
		PolicyDocument                       policyDocument
		Roles                                []string
	}
	if err := decode(id, properties, &p); err != nil {
		return err
	}
	t.attached = append(t.attached, attachedPolicy{id: id, roles: p.Roles, statements: p.PolicyDocument.read(id)})
	return nil
}

// attach gives managed policies to the roles that they name, in the order of their ids.
func (t *Template) attach() error {
	for _, p := range t.attached {
		for _, name := range p.roles {
			i := t.role(name)
			if i < 0 {
				return place{p.id, "Properties.Roles"}.refuse("role %q is not in the template", name)
			}
			t.Roles[i].Statements = append(t.Roles[i].Statements, p.statements...)
		}
	}
	return nil
}

func (t *Template) role(nameOrARN string) int {
	for i, r := range t.Roles {
		if r.Name == nameOrARN || r.ARN == nameOrARN {
			return i
		}
	}
	return -1
}

func (t *Template) addQueuePolicy(id string, properties map[string]any) error {
	var p struct {
		Queues         []string
		PolicyDocument policyDocument
	}
	if err := decode(id, properties, &p); err != nil {
		return err
	}
	t.QueuePolicies = append(t.QueuePolicies, QueuePolicy{LogicalID: id, QueueURLs: p.Queues, Statements: p.PolicyDocument.read(id)})
	return nil
}

// addBusPolicy reads a statement of a bus's policy. Its resource is the bus.
func (t *Template) addBusPolicy(id string, properties map[string]any) error {
	var p struct {
		EventBusName, StatementId string
		Statement                 statements
	}
	if err := decode(id, properties, &p); err != nil {
		return err
	}
	t.BusPolicies = append(t.BusPolicies, policyDocument{Statement: p.Statement}.read(id)...)
	return nil
}

// add reads one resource into the template.
func (t *Template) add(r *resolver, id string, properties map[string]any) error {
	res := r.doc.Resources[id]
	n, err := r.named(id, place{id, "Properties"})
	if err != nil {
		return err
	}
	switch res.Type {
	case "AWS::Lambda::Function":
		return t.addFunction(id, n, res, properties)
	case "AWS::Lambda::EventSourceMapping":
		return t.addMapping(id, properties)
	case "AWS::Lambda::EventInvokeConfig":
		return t.addInvokeConfig(id, properties)
	case "AWS::Lambda::Url":
		return t.addURL(id, n, properties)
	case "AWS::Lambda::Permission":
		return t.addPermission(id, properties)
	case "AWS::SQS::Queue":
		return t.addQueue(id, n, properties)
	case "AWS::SQS::QueuePolicy":
		return t.addQueuePolicy(id, properties)
	case "AWS::Events::Rule":
		return t.addRule(id, n, properties)
	case "AWS::Events::EventBus":
		t.Buses = append(t.Buses, EventBus{LogicalID: id, Name: n.name, ARN: n.arn})
	case "AWS::Events::EventBusPolicy":
		return t.addBusPolicy(id, properties)
	case "AWS::DynamoDB::Table":
		return t.addTable(id, n, properties)
	case "AWS::SecretsManager::Secret":
		t.Secrets = append(t.Secrets, Secret{LogicalID: id, Name: n.name, ARN: n.arn})
	case "AWS::SNS::Topic":
		t.Topics = append(t.Topics, Topic{LogicalID: id, ARN: n.arn})
	case "AWS::S3::Bucket":
		return t.addS3Bucket(id, n, properties)
	case "AWS::S3::BucketPolicy":
		return t.addS3BucketPolicy(id, properties)
	case "AWS::IAM::Role":
		return t.addRole(id, n, properties)
	case "AWS::CloudWatch::Alarm":
		return t.addAlarm(id, n, properties)
	case "AWS::IAM::ManagedPolicy":
		return t.addManagedPolicy(id, properties)
	case "AWS::IAM::Policy", "AWS::Scheduler::Schedule", "AWS::DynamoDB::GlobalTable":
		// Rollcall's templates have none, and to leave one out would be a guess.
		return place{id, "Type"}.refuse("%s is not understood", res.Type)
	default:
		t.Ignored = append(t.Ignored, Ignored{LogicalID: id, Type: res.Type})
	}
	return nil
}

func (t *Template) addFunction(id string, n named, res resource, properties map[string]any) error {
	var p struct {
		Code                                                               struct{ S3Bucket, S3Key, S3ObjectVersion, ImageUri, ZipFile string }
		Handler, Runtime, Role, FunctionName, Description                  string
		Architectures                                                      []string
		MemorySize, Timeout, ReservedConcurrentExecutions                  *whole
		Environment                                                        struct{ Variables map[string]any }
		DeadLetterConfig                                                   struct{ TargetArn string }
		EphemeralStorage, KmsKeyArn, LoggingConfig, PackageType, VpcConfig inert
		RuntimeManagementConfig, TracingConfig, RecursiveLoop              inert
		Tags                                                               tags
	}
	if err := decode(id, properties, &p); err != nil {
		return err
	}
	f := Function{
		LogicalID: id, Name: n.name, ARN: n.arn, Handler: p.Handler, Runtime: p.Runtime, RoleARN: p.Role,
		// The defaults of Lambda: x86_64, 128 MB, 3 seconds.
		Architecture: "x86_64", Memory: number(p.MemorySize, 128), Timeout: seconds(p.Timeout, 3*time.Second),
		Environment: map[string]string{}, Tags: p.Tags.read(), AssetKey: p.Code.S3Key, DeadLetterARN: p.DeadLetterConfig.TargetArn,
		ReservedConcurrency: number(p.ReservedConcurrentExecutions, -1),
	}
	if len(p.Architectures) > 0 {
		f.Architecture = p.Architectures[0]
	}
	f.AssetPath, _ = res.Metadata["aws:asset:path"].(string)
	for _, name := range slices.Sorted(maps.Keys(p.Environment.Variables)) {
		s, ok := p.Environment.Variables[name].(string)
		if !ok {
			// Numbers and booleans become what is written; see scalar.
			raw, err := json.Marshal(p.Environment.Variables[name])
			if err != nil || len(raw) == 0 || raw[0] == '{' || raw[0] == '[' || raw[0] == 'n' {
				return place{id, "Properties.Environment.Variables." + name}.refuse("must be a string")
			}
			s = string(raw)
		}
		f.Environment[name] = s
	}
	t.Functions = append(t.Functions, f)
	return nil
}

func (t *Template) addAlarm(id string, n named, properties map[string]any) error {
	var p struct {
		AlarmName, AlarmDescription              string
		ActionsEnabled                           *flag
		AlarmActions, InsufficientDataActions    []string
		ComparisonOperator, DatapointsToAlarm    inert
		Dimensions, EvaluationPeriods, Metrics   inert
		MetricName, Namespace, OKActions, Period inert
		Statistic, Tags, Threshold, Unit         inert
		TreatMissingData, ExtendedStatistic      inert
		EvaluateLowSampleCountPercentile         inert
		EvaluationCriteria, EvaluationInterval   inert
		ThresholdMetricId                        inert
	}
	if err := decode(id, properties, &p); err != nil {
		return err
	}
	t.Alarms = append(t.Alarms, Alarm{
		LogicalID: id, Name: n.name, ARN: n.arn, Description: p.AlarmDescription, Enabled: p.ActionsEnabled == nil || bool(*p.ActionsEnabled),
		Actions: p.AlarmActions, SilentActions: p.InsufficientDataActions,
	})
	return nil
}

func (t *Template) addMapping(id string, properties map[string]any) error {
	var p struct {
		FunctionName, EventSourceArn              string
		BatchSize, MaximumBatchingWindowInSeconds *whole
		Enabled                                   *flag
		FunctionResponseTypes                     []string
		ScalingConfig                             struct{ MaximumConcurrency *whole }
		Tags, MetricsConfig, LoggingConfig        inert
		KmsKeyArn                                 inert
	}
	if err := decode(id, properties, &p); err != nil {
		return err
	}
	at := place{id, "Properties"}
	m := EventSourceMapping{
		LogicalID: id, QueueARN: p.EventSourceArn, BatchSize: number(p.BatchSize, 10), Enabled: p.Enabled == nil || bool(*p.Enabled),
		Window: seconds(p.MaximumBatchingWindowInSeconds, 0), MaximumConcurrency: number(p.ScalingConfig.MaximumConcurrency, 0),
	}
	m.FunctionName = functionName(p.FunctionName)
	for _, s := range p.FunctionResponseTypes {
		if s != "ReportBatchItemFailures" {
			return at.child("FunctionResponseTypes").refuse("%q is not understood", s)
		}
		m.ReportFailures = true
	}
	// The rules by which Lambda refuses a mapping.
	switch {
	case m.BatchSize < 1 || m.BatchSize > 10000:
		return at.child("BatchSize").refuse("%d is not between 1 and 10000", m.BatchSize)
	case m.BatchSize > 10 && m.Window < time.Second:
		return at.child("BatchSize").refuse("more than 10 needs a batching window of at least 1 second")
	case m.Window < 0 || m.Window > 300*time.Second:
		return at.child("MaximumBatchingWindowInSeconds").refuse("%v is not between 0 and 300 s", m.Window)
	case p.ScalingConfig.MaximumConcurrency != nil && (m.MaximumConcurrency < 2 || m.MaximumConcurrency > 1000):
		return at.child("ScalingConfig.MaximumConcurrency").refuse("%d is not between 2 and 1000", m.MaximumConcurrency)
	}
	t.Mappings = append(t.Mappings, m)
	return nil
}

func (t *Template) addInvokeConfig(id string, properties map[string]any) error {
	var p struct {
		FunctionName, Qualifier                        string
		MaximumEventAgeInSeconds, MaximumRetryAttempts *whole
		DestinationConfig                              struct{ OnFailure, OnSuccess struct{ Destination string } }
	}
	if err := decode(id, properties, &p); err != nil {
		return err
	}
	t.InvokeConfigs = append(t.InvokeConfigs, EventInvokeConfig{
		LogicalID: id, FunctionName: functionName(p.FunctionName),
		MaxRetries: number(p.MaximumRetryAttempts, -1), MaxAge: seconds(p.MaximumEventAgeInSeconds, 0),
		OnFailureARN: p.DestinationConfig.OnFailure.Destination, OnSuccessARN: p.DestinationConfig.OnSuccess.Destination,
	})
	return nil
}

func (t *Template) addPermission(id string, properties map[string]any) error {
	var p struct {
		FunctionName, Action, Principal, SourceArn, SourceAccount string
		FunctionUrlAuthType                                       string
		InvokedViaFunctionUrl                                     flag
	}
	if err := decode(id, properties, &p); err != nil {
		return err
	}
	t.Permissions = append(t.Permissions, Permission{
		LogicalID: id, FunctionName: functionName(p.FunctionName),
		Action: p.Action, Principal: p.Principal, SourceARN: p.SourceArn, URLAuthType: p.FunctionUrlAuthType, ViaURL: bool(p.InvokedViaFunctionUrl),
	})
	return nil
}

func (t *Template) addQueue(id string, n named, properties map[string]any) error {
	var p struct {
		QueueName                                               string
		FifoQueue, ContentBasedDeduplication                    flag
		DelaySeconds, VisibilityTimeout, MessageRetentionPeriod *whole
		ReceiveMessageWaitTimeSeconds, MaximumMessageSize       *whole
		RedrivePolicy                                           *struct {
			DeadLetterTargetArn string `json:"deadLetterTargetArn"`
			MaxReceiveCount     *whole `json:"maxReceiveCount"`
		}
		KmsMasterKeyId                                         string
		SqsManagedSseEnabled                                   *flag
		KmsDataKeyReusePeriodSeconds, RedriveAllowPolicy, Tags inert
		DeduplicationScope, FifoThroughputLimit                string
	}
	if err := decode(id, properties, &p); err != nil {
		return err
	}
	q := Queue{
		LogicalID: id, Name: n.name, ARN: n.arn, URL: n.ref, FIFO: bool(p.FifoQueue), ContentDedup: bool(p.ContentBasedDeduplication),
		// The defaults of SQS.
		Delay: seconds(p.DelaySeconds, 0), Visibility: seconds(p.VisibilityTimeout, 30*time.Second),
		Retention: seconds(p.MessageRetentionPeriod, 4*24*time.Hour), Wait: seconds(p.ReceiveMessageWaitTimeSeconds, 0),
		MaxBytes:  number(p.MaximumMessageSize, 1<<20),
		Encrypted: p.KmsMasterKeyId != "" || p.SqsManagedSseEnabled == nil || bool(*p.SqsManagedSseEnabled),
	}
	switch p.DeduplicationScope {
	case "", "queue":
	case "messageGroup":
		q.DedupByGroup = true
	default:
		return place{id, "Properties.DeduplicationScope"}.refuse("%q is not understood", p.DeduplicationScope)
	}
	if p.RedrivePolicy != nil {
		q.DeadLetterARN, q.MaxReceive = p.RedrivePolicy.DeadLetterTargetArn, number(p.RedrivePolicy.MaxReceiveCount, 0)
	}
	t.Queues = append(t.Queues, q)
	return nil
}

func (t *Template) addS3Bucket(id string, n named, properties map[string]any) error {
	var p struct {
		BucketName       string
		BucketEncryption struct {
			ServerSideEncryptionConfiguration []struct {
				ServerSideEncryptionByDefault struct{ SSEAlgorithm, KMSMasterKeyID string }
				BucketKeyEnabled              flag
			}
		}
		LifecycleConfiguration struct {
			Rules []struct {
				Id, Status       string
				ExpirationInDays *whole
			}
		}
		PublicAccessBlockConfiguration struct{ BlockPublicAcls, BlockPublicPolicy, IgnorePublicAcls, RestrictPublicBuckets flag }
		OwnershipControls, Tags        inert
	}
	if err := decode(id, properties, &p); err != nil {
		return err
	}
	b := S3Bucket{LogicalID: id, Name: n.name, ARN: n.arn}
	for _, rule := range p.LifecycleConfiguration.Rules {
		if rule.Status == "Enabled" {
			b.ExpireDays = number(rule.ExpirationInDays, 0)
		}
	}
	for _, rule := range p.BucketEncryption.ServerSideEncryptionConfiguration {
		b.Encryption = rule.ServerSideEncryptionByDefault.SSEAlgorithm
	}
	block := p.PublicAccessBlockConfiguration
	b.Private = bool(block.BlockPublicAcls) && bool(block.BlockPublicPolicy) && bool(block.IgnorePublicAcls) && bool(block.RestrictPublicBuckets)
	t.S3Buckets = append(t.S3Buckets, b)
	return nil
}

func (t *Template) addS3BucketPolicy(id string, properties map[string]any) error {
	var p struct {
		Bucket         string
		PolicyDocument policyDocument
	}
	if err := decode(id, properties, &p); err != nil {
		return err
	}
	for i, b := range t.S3Buckets {
		if b.Name == p.Bucket {
			t.S3Buckets[i].Statements = append(b.Statements, p.PolicyDocument.read(id)...)
			return nil
		}
	}
	return place{id, "Properties.Bucket"}.refuse("bucket %q is not in the template", p.Bucket)
}

type tableKey struct{ AttributeName, KeyType string }

type tableIndex struct {
	IndexName  string
	KeySchema  []tableKey
	Projection struct {
		ProjectionType   string
		NonKeyAttributes []string
	}
}

func (x tableIndex) read() Index {
	return Index{Name: x.IndexName, Keys: keys(x.KeySchema), Projection: x.Projection.ProjectionType, NonKey: x.Projection.NonKeyAttributes}
}

func keys(schema []tableKey) []Key {
	var out []Key
	for _, k := range schema {
		out = append(out, Key{Name: k.AttributeName, Type: k.KeyType})
	}
	return out
}

func (t *Template) addTable(id string, n named, properties map[string]any) error {
	var p struct {
		TableName, BillingMode, TableClass string
		KeySchema                          []tableKey
		AttributeDefinitions               []struct{ AttributeName, AttributeType string }
		GlobalSecondaryIndexes             []tableIndex
		TimeToLiveSpecification            struct {
			AttributeName string
			Enabled       flag
		}
		SSESpecification, PointInTimeRecoverySpecification inert
		DeletionProtectionEnabled, Tags                    inert
	}
	if err := decode(id, properties, &p); err != nil {
		return err
	}
	table := Table{
		LogicalID: id, Name: n.name, ARN: n.arn, Keys: keys(p.KeySchema), Attributes: map[string]string{},
		OnDemand: p.BillingMode == "PAY_PER_REQUEST",
	}
	for _, a := range p.AttributeDefinitions {
		table.Attributes[a.AttributeName] = a.AttributeType
	}
	if p.TimeToLiveSpecification.Enabled {
		table.TTLAttribute = p.TimeToLiveSpecification.AttributeName
	}
	for _, x := range p.GlobalSecondaryIndexes {
		table.GlobalIndexes = append(table.GlobalIndexes, x.read())
	}
	all := [][]Key{table.Keys}
	for _, x := range table.GlobalIndexes {
		all = append(all, x.Keys)
	}
	for _, ks := range all {
		if len(ks) == 0 {
			return place{id, "Properties.KeySchema"}.refuse("missing")
		}
		for _, k := range ks {
			if table.Attributes[k.Name] == "" {
				return place{id, "Properties.AttributeDefinitions"}.refuse("key %q is not defined", k.Name)
			}
		}
	}
	t.Tables = append(t.Tables, table)
	return nil
}

// URL is an AWS::Lambda::Url.
type URL struct {
	LogicalID    string
	FunctionName string
	// AuthType is NONE or AWS_IAM.
	AuthType string
	// Address is what stands for the address that Lambda would choose.
	Address string
}

func (t *Template) addURL(id string, n named, properties map[string]any) error {
	var p struct {
		TargetFunctionArn, AuthType, InvokeMode string
		Cors, Tags                              inert
	}
	if err := decode(id, properties, &p); err != nil {
		return err
	}
	at := place{id, "Properties"}
	if p.AuthType != "NONE" && p.AuthType != "AWS_IAM" {
		return at.child("AuthType").refuse("%q is not NONE or AWS_IAM", p.AuthType)
	}
	if p.InvokeMode != "" && p.InvokeMode != "BUFFERED" {
		return at.child("InvokeMode").refuse("the stage does not serve %q", p.InvokeMode)
	}
	t.URLs = append(t.URLs, URL{LogicalID: id, FunctionName: functionName(p.TargetFunctionArn), AuthType: p.AuthType, Address: n.attributes["FunctionUrl"]})
	return nil
}

// urlActions are what a caller needs of a function with AuthType NONE; since
// October 2025 both (Lambda, "Control access to Lambda function URLs").
func urlActions() []string { return []string{"lambda:InvokeFunctionUrl", "lambda:InvokeFunction"} }

// checkURL refuses an address that no caller could reach.
func (t *Template) checkURL(u URL, refuse func(id, path, format string, args ...any)) {
	if _, ok := t.Function(u.FunctionName); !ok {
		refuse(u.LogicalID, "Properties.TargetFunctionArn", "function %q is not in the template", u.FunctionName)
	}
	if u.AuthType != "NONE" {
		return
	}
	for _, action := range urlActions() {
		let := false
		for _, p := range t.Permissions {
			let = let || p.FunctionName == u.FunctionName && p.Action == action && p.Principal == "*" &&
				(p.URLAuthType == "NONE" || action == "lambda:InvokeFunction" && p.ViaURL)
		}
		if !let {
			refuse(u.LogicalID, "Properties.AuthType", "nobody may %s: Lambda would answer 403", action)
		}
	}
}
