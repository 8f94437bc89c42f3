// Package spec says what a function is, as plain data: what wakes it, what it
// may do and why, how large it is. The function imports its own Spec, and
// infra turns the same Spec into resources, so the two cannot differ.
//
// It imports only the standard library.
package spec

import (
	"time"
)

// Spec is everything that a deployment needs to know of one function. The function itself
// uses its name and environment only: its permissions are derived from interfaces by
// reflection, which would make the linker keep every method of every SDK client
// (docs/measured.md has both sizes).
type Spec struct {
	// Name is the folder below functions/ and the function's name, e.g. "launch-watch".
	Name string
	// About is one sentence: what it does.
	About string
	// FailureImpact is what a team loses while this function does not work.
	// It is printed in the alarm's description.
	FailureImpact string

	// URL, if any, is the function's own address on the internet.
	URL *URL
	// Only names a setting: the function is deployed where it is neither "off" nor "none".
	Only Variable

	// Rules are the events that wake it, through Queue where there is one,
	// else directly.
	Rules []Rule
	// Schedules wake it directly, never through Queue.
	Schedules []Schedule
	// Queue, if any, is the queue that it alone reads.
	Queue *Queue

	// Alarms are on its own figures, beside those that every function has.
	Alarms []Alarm

	Memory  MiB
	Timeout time.Duration
	// Environment are the settings and addresses that it reads (package config).
	Environment []Variable

	// Assumes are the roles of spokes that it assumes.
	Assumes []SpokeRole
	// Reads are the calls of the interfaces through which it reads; tests hold them together
	// (package spectest).
	Reads []Read
	// Grants are its writes, each with a reason.
	Grants []Grant
	// Chosen, if any, gives further writes, which depend on the settings that
	// an operator chose: the environment of that deployment.
	Chosen func(getenv func(string) string) ([]Grant, error)
	// Kube are the Kubernetes rights that it needs in each watched cluster.
	Kube []KubeRule
}

// SpokeRole is a role that a spoke has for the hub.
type SpokeRole string

// The roles of a spoke; those that change something are there only where opted in.
const (
	SpokeReader     SpokeRole = "reader"     // Describe, List, Get; the one that reads in the spoke's clusters
	SpokeCleaner    SpokeRole = "cleaner"    // deletes interfaces that nodes left behind
	SpokeRemediator SpokeRole = "remediator" // does what was approved
)

// MiB is an amount of memory in mebibytes.
type MiB int

// URL is a function URL without IAM authentication: who calls is known by the
// signature of the request, which the function checks.
type URL struct {
	// Why says who calls it.
	Why string
	// Concurrency is how many calls at once are let in: whoever floods the
	// address must not use up the account's concurrency. 0 is no bound.
	Concurrency int
}

// Alarm rings when one of the function's own metrics reaches a sum within five
// minutes.
type Alarm struct {
	// Metric is the name by which the function counts it, AtLeast the sum.
	Metric  string
	AtLeast int
	// Why says what has happened, Meanwhile what that means until it is fixed, Do what to do about it.
	Why, Meanwhile, Do string
}

// Rule is one EventBridge rule, on the account's default bus where Bus is empty.
type Rule struct {
	// Bus is the stack's bus for what Rollcall itself tells.
	Bus Resource
	// Name is unique within the function: "launches".
	Name string
	// Why is the rule's description.
	Why string
	// Pattern is the event pattern, EventBridge's own JSON.
	Pattern string
	// Direct wakes the function past its Queue: for what must not wait for the
	// queue's delay, or behind its messages.
	Direct bool
}

// Schedule wakes a function at a fixed rate.
type Schedule struct {
	Name  string
	Why   string
	Every time.Duration
}

// Queue is an SQS queue with its dead-letter queue, read by one function.
type Queue struct {
	// Resource is the queue's name among the stack's resources.
	Resource Resource
	// FIFO queues keep order within a message group and drop duplicates.
	FIFO bool
	// DelayFrom, if set, names the setting (a duration) by which each message
	// is delayed. SQS allows 0 to 15 minutes.
	DelayFrom Variable
	// Batch is the most messages in one invocation; over 10 needs a Window of
	// at least a second (Lambda, CreateEventSourceMapping).
	Batch  int
	Window time.Duration
	// Concurrency is the most invocations at once (2 to 1000; Lambda's minimum is 2).
	Concurrency int
	// ConcurrencyFrom, if set, names the setting (a number) that takes its place.
	ConcurrencyFrom Variable
	// Attempts is how often a message is tried before it goes to the dead-letter queue.
	Attempts int
	// Retention is how long an unread message is kept (1 minute to 14 days).
	Retention time.Duration
	// NotRedriven has what was tried too often put aside where failed events are, as there
	// is no use in putting it back: a queue of its own would have an alarm to be paid for.
	NotRedriven bool
}

// Variable is the name of an environment variable.
type Variable string

// Resource names a resource of the stack that a grant or a variable refers
// to; infra knows what it is.
type Resource string

// NoResource is what a grant names whose actions take no resource: a test holds them
// against the service authorization reference.
const NoResource Resource = "*"

// The stack's resources.
const (
	Table       Resource = "table"
	TableIndex  Resource = "table-index" // the table's index over launches without an outcome
	EndedIndex  Resource = "ended-index" // the table's index over launches with one
	Bus         Resource = "bus"
	SpokesBus   Resource = "spokes-bus" // of what spokes forward
	LaunchQueue Resource = "launches"
	JoinQueue   Resource = "joins"
	ResultQueue Resource = "results"
	// ResultDead is the dead-letter queue of the results.
	ResultDead Resource = ResultQueue + "-dead"
	// NodegroupQueue holds the nodegroups to look at.
	NodegroupQueue Resource = "nodegroups"
	SlackSecret    Resource = "slack-secret"
	// ReaderRole is the one role that reads in the clusters.
	ReaderRole Resource = "reader-role"
	// SigningSecret holds the secret by which Slack signs its requests.
	SigningSecret Resource = "signing-secret"
	// RemedyQueue holds the incidents that a remedy may be for.
	RemedyQueue Resource = "remedies"
	// ChangeQueue holds the incidents whose history is to be looked up.
	ChangeQueue Resource = "changes"
	// SweepQueue holds the clusters whose turn it is.
	SweepQueue Resource = "sweeps"
	// TargetQueue holds what targets besides Slack are to be told.
	TargetQueue Resource = "targets"
	TargetDead  Resource = TargetQueue + "-dead"
	// TargetTopic is the stack's topic for mail.
	TargetTopic Resource = "target-topic"
	// EvidenceObjects are the objects in the bucket that evidence is kept in.
	EvidenceObjects Resource = "evidence-objects"
)

// Read is a group of read-only actions on the same resources.
type Read struct {
	Actions []string
	// Resources are names of the stack's resources, or ARNs with ${Partition},
	// ${Region} and ${Account} filled in by infra; "*" where the action takes no resource (all EC2 and Auto
	// Scaling Describe calls).
	Resources []string
}

// Grant is one write permission: named, reasoned, narrowed.
type Grant struct {
	// Sid is the statement's id in the policy.
	Sid string
	// Why says what would break without it.
	Why     string
	Actions []string
	// Resources are the stack's resources, or ARNs as in Read.Resources.
	Resources []Resource
	// Conditions is operator -> key -> values; in values the places of ARNs
	// are filled in too.
	Conditions map[string]map[string][]string
}

// Send allows sending messages to queues.
func Send(sid, why string, queues ...Resource) Grant {
	return Grant{Sid: sid, Why: why, Actions: []string{"sqs:SendMessage"}, Resources: queues}
}

// SendResults allows a detector to send what it found.
func SendResults() Grant {
	return Send("SendResults", "Findings go to report, the only function that posts to people.", ResultQueue)
}

// Publish allows publishing events on the stack's bus.
func Publish(why string) Grant {
	return Grant{Sid: "TellTheBus", Why: why, Actions: []string{"events:PutEvents"}, Resources: []Resource{Bus}}
}

// KubeRule is one rule of the role that a function needs in each cluster.
type KubeRule struct {
	// Namespace narrows it to the objects in one; empty is the whole cluster.
	Namespace string
	Group     string
	Resources []string
	// Names narrow it to these objects; none is all of them.
	Names []string
	Verbs []string
}

// Choices are the grants of several choices together.
func Choices(list ...func(getenv func(string) string) ([]Grant, error)) func(getenv func(string) string) ([]Grant, error) {
	return func(getenv func(string) string) ([]Grant, error) {
		var all []Grant
		for _, chosen := range list {
			grants, err := chosen(getenv)
			if err != nil {
				return nil, err
			}
			all = append(all, grants...)
		}
		return all, nil
	}
}
