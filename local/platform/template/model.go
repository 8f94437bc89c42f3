package template

import (
	"encoding/json"
	"time"
)

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
	Schedules     []Schedule
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
	// Enabled tells whether its actions are.
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
	// Filters are event patterns; a message that matches none is dropped.
	Filters []json.RawMessage
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

// Target is where a rule or a schedule delivers.
type Target struct {
	ID               string
	ARN              string
	Input            string
	InputPath        string
	InputTransformer *InputTransformer
	DeadLetterARN    string
	// MaxAttempts is the number of retries, -1 where the template is silent.
	MaxAttempts int
	// MaxAge is zero where the template is silent.
	MaxAge         time.Duration
	MessageGroupID string
	RoleARN        string
	// DetailType and Source are for a schedule whose target is an event bus.
	DetailType, Source string
}

// InputTransformer makes a target's input out of parts of the event.
type InputTransformer struct {
	Paths    map[string]string
	Template string
}

// EventBus is an AWS::Events::EventBus.
type EventBus struct {
	LogicalID string
	Name      string
	ARN       string
}

// Schedule is an AWS::Scheduler::Schedule.
type Schedule struct {
	LogicalID  string
	Name       string
	ARN        string
	Group      string
	Expression string
	Timezone   string
	Enabled    bool
	Start, End time.Time
	Target     Target
}

// Table is an AWS::DynamoDB::Table or AWS::DynamoDB::GlobalTable.
type Table struct {
	LogicalID     string
	Name          string
	ARN           string
	Keys          []Key
	Attributes    map[string]string // name to S, N or B
	GlobalIndexes []Index
	LocalIndexes  []Index
	TTLAttribute  string
	OnDemand      bool
	StreamView    string
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
	// Private tells that all public access is blocked.
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
	// Statements are those of inline, attached and known managed policies.
	Statements []Statement
	// Managed are the ARNs of the managed policies.
	Managed []string
	Tags    map[string]string
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
