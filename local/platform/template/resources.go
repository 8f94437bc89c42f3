package template

import (
	"encoding/json"
	"time"
)

// add reads one resource into the template.
func (t *Template) add(r *resolver, id string, properties map[string]any) ([]attachedPolicy, error) {
	res := r.doc.Resources[id]
	n, err := r.named(id, place{id, "Properties"})
	if err != nil {
		return nil, err
	}
	switch res.Type {
	case "AWS::Lambda::Function":
		return nil, t.addFunction(id, n, res, properties)
	case "AWS::Lambda::EventSourceMapping":
		return nil, t.addMapping(id, properties)
	case "AWS::Lambda::EventInvokeConfig":
		return nil, t.addInvokeConfig(id, properties)
	case "AWS::Lambda::Url":
		return nil, t.addURL(id, n, properties)
	case "AWS::Lambda::Permission":
		return nil, t.addPermission(id, properties)
	case "AWS::SQS::Queue":
		return nil, t.addQueue(id, n, properties)
	case "AWS::SQS::QueuePolicy":
		return nil, t.addQueuePolicy(id, properties)
	case "AWS::Events::Rule":
		return nil, t.addRule(id, n, properties)
	case "AWS::Events::EventBus":
		t.Buses = append(t.Buses, EventBus{LogicalID: id, Name: n.name, ARN: n.arn})
	case "AWS::Events::EventBusPolicy":
		return nil, t.addBusPolicy(id, properties)
	case "AWS::Scheduler::Schedule":
		return nil, t.addSchedule(id, n, properties)
	case "AWS::DynamoDB::Table", "AWS::DynamoDB::GlobalTable":
		return nil, t.addTable(id, n, properties)
	case "AWS::SecretsManager::Secret":
		t.Secrets = append(t.Secrets, Secret{LogicalID: id, Name: n.name, ARN: n.arn})
	case "AWS::SNS::Topic":
		t.Topics = append(t.Topics, Topic{LogicalID: id, ARN: n.arn})
	case "AWS::S3::Bucket":
		return nil, t.addS3Bucket(id, n, properties)
	case "AWS::S3::BucketPolicy":
		return nil, t.addS3BucketPolicy(id, properties)
	case "AWS::IAM::Role":
		return t.addRole(id, n, properties)
	case "AWS::IAM::Policy", "AWS::IAM::ManagedPolicy":
		return attached(id, n, properties)
	case "AWS::CloudWatch::Alarm":
		return nil, t.addAlarm(id, n, properties)
	default:
		t.Ignored = append(t.Ignored, Ignored{LogicalID: id, Type: res.Type})
	}
	return nil, nil
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
	for _, name := range sortedKeys(p.Environment.Variables) {
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
		FilterCriteria                            struct{ Filters []struct{ Pattern string } }
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
			return at.at("FunctionResponseTypes").refuse("%q is not understood", s)
		}
		m.ReportFailures = true
	}
	for i, f := range p.FilterCriteria.Filters {
		if !json.Valid([]byte(f.Pattern)) {
			return at.at("FilterCriteria").refuse("filter %d is not JSON", i)
		}
		m.Filters = append(m.Filters, json.RawMessage(f.Pattern))
	}
	// The rules by which Lambda refuses a mapping.
	switch {
	case m.BatchSize < 1 || m.BatchSize > 10000:
		return at.at("BatchSize").refuse("%d is not between 1 and 10000", m.BatchSize)
	case m.BatchSize > 10 && m.Window < time.Second:
		return at.at("BatchSize").refuse("more than 10 needs a batching window of at least 1 second")
	case m.Window < 0 || m.Window > 300*time.Second:
		return at.at("MaximumBatchingWindowInSeconds").refuse("%v is not between 0 and 300 s", m.Window)
	case p.ScalingConfig.MaximumConcurrency != nil && (m.MaximumConcurrency < 2 || m.MaximumConcurrency > 1000):
		return at.at("ScalingConfig.MaximumConcurrency").refuse("%d is not between 2 and 1000", m.MaximumConcurrency)
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
