// Package doctor examines a deployment of Rollcall: whether each part of it is there
// and works, and with which command what is wrong is mended. It only reads, and posts a
// test message where one is asked for.
package doctor

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/eks"
	"github.com/aws/aws-sdk-go-v2/service/eventbridge"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/lambda"
	"github.com/aws/smithy-go"

	"rollcall/infra/deadletters"
	"rollcall/shared/bus"
	"rollcall/shared/config"
	"rollcall/shared/outbox"
	"rollcall/shared/slack/slackapi"
	"rollcall/shared/spec"
	"rollcall/shared/spoke"
)

// Prefix is what the names of the deployment's functions and queues begin with.
const Prefix = "rollcall"

// State is how a part of a deployment is.
type State string

// The states.
const (
	Well  State = "ok"
	Wrong State = "wrong"
	// Unknown is a part that could not be looked at.
	Unknown State = "unknown"
	// Off is a part that the settings leave out.
	Off State = "off"
)

// Finding is how one part is.
type Finding struct {
	Part  string `json:"part"`  // "function", "rule", "Slack token"
	Name  string `json:"name"`  // which one
	State State  `json:"state"` // ok, wrong, unknown, off
	Says  string `json:"says"`
	// Do is what to do about it; Command what to run, empty where it is no command.
	Do      string `json:"do,omitempty"`
	Command string `json:"command,omitempty"`
	// Cluster is the cluster that it is about, if it is about one; Account, Region and Whose
	// are whose that is, or which spoke it is about.
	Cluster string `json:"cluster,omitempty"`
	Account string `json:"account,omitempty"`
	Region  string `json:"region,omitempty"`
	Whose   string `json:"whose,omitempty"`
}

// Functions is what it takes of Lambda.
type Functions interface {
	GetFunctionConfiguration(context.Context, *lambda.GetFunctionConfigurationInput, ...func(*lambda.Options)) (*lambda.GetFunctionConfigurationOutput, error)
	GetPolicy(context.Context, *lambda.GetPolicyInput, ...func(*lambda.Options)) (*lambda.GetPolicyOutput, error)
	ListEventSourceMappings(context.Context, *lambda.ListEventSourceMappingsInput, ...func(*lambda.Options)) (*lambda.ListEventSourceMappingsOutput, error)
	ListTags(context.Context, *lambda.ListTagsInput, ...func(*lambda.Options)) (*lambda.ListTagsOutput, error)
}

// Rules is what it takes of EventBridge.
type Rules interface {
	ListRuleNamesByTarget(context.Context, *eventbridge.ListRuleNamesByTargetInput, ...func(*eventbridge.Options)) (*eventbridge.ListRuleNamesByTargetOutput, error)
	DescribeRule(context.Context, *eventbridge.DescribeRuleInput, ...func(*eventbridge.Options)) (*eventbridge.DescribeRuleOutput, error)
}

// Roles is what it takes of IAM.
type Roles interface {
	GetRole(context.Context, *iam.GetRoleInput, ...func(*iam.Options)) (*iam.GetRoleOutput, error)
}

// Clusters is what it takes of EKS.
type Clusters interface {
	ListClusters(context.Context, *eks.ListClustersInput, ...func(*eks.Options)) (*eks.ListClustersOutput, error)
	DescribeCluster(context.Context, *eks.DescribeClusterInput, ...func(*eks.Options)) (*eks.DescribeClusterOutput, error)
	ListAccessEntries(context.Context, *eks.ListAccessEntriesInput, ...func(*eks.Options)) (*eks.ListAccessEntriesOutput, error)
	DescribeAccessEntry(context.Context, *eks.DescribeAccessEntryInput, ...func(*eks.Options)) (*eks.DescribeAccessEntryOutput, error)
	ListAssociatedAccessPolicies(context.Context, *eks.ListAssociatedAccessPoliciesInput, ...func(*eks.Options)) (*eks.ListAssociatedAccessPoliciesOutput, error)
}

// Records is what it takes of the table.
type Records interface {
	ClusterRecords(context.Context) ([]outbox.ClusterRecord, error)
}

// Slack is what it takes of Slack.
type Slack interface {
	// Scopes are those of the token, and the workspace that it is for.
	Scopes(ctx context.Context) (workspace string, scopes []string, err error)
	// Reads asks for the newest message of a channel.
	Reads(ctx context.Context, channel string) error
	Post(ctx context.Context, channel, text string) error
}

// Clients are how the deployment is reached.
type Clients struct {
	Functions Functions
	Rules     Rules
	// Bus takes a test message for the targets besides Slack.
	Bus      bus.Putter
	Roles    Roles
	Queues   deadletters.Client
	Secrets  slackapi.SecretReader
	Clusters Clusters
	Alarms   Alarms
	Objects  Objects
	Buses    Buses
	// Elsewhere opens a spoke's account and region; ErrNoWay where nobody said how.
	Elsewhere func(ctx context.Context, of spoke.ID) (Elsewhere, error)
	// Kubernetes opens a cluster's API, with the caller's own rights.
	Kubernetes func(ctx context.Context, c Cluster) (Kubernetes, error)
	// Records opens the table, Slack the workspace of a token at the address of
	// Slack's API.
	Records func(table string) Records
	// Incidents opens what the table has of a spoke.
	Incidents func(table string, of spoke.ID) Incidents
	Slack     func(api, token string) (Slack, error)
}

// Deployment is what is to be there.
type Deployment struct {
	Account, Region string
	Specs           []spec.Spec
	// TestMessage tells that a message is posted into each channel, and told to each target.
	TestMessage bool
	Now         time.Time
}

// Cluster is a cluster as EKS describes it.
type Cluster struct {
	Name, Endpoint string
	CA             []byte // PEM
}

// functionOf is a function that is there.
type functionOf struct {
	spec     spec.Spec
	arn      string
	role     string
	settings map[string]string
}

// environment is what it runs with: what it was given, and the region, which Lambda sets and
// does not tell (developer guide, "Defined runtime environment variables").
func (f functionOf) environment(name string) string {
	if name == "AWS_REGION" {
		if part := strings.Split(f.arn, ":"); len(part) > 3 {
			return part[3]
		}
	}
	return f.settings[name]
}

// setting is what a function was given.
func (f functionOf) setting(v spec.Variable) string { return f.settings[string(v)] }

// Examine examines a deployment. Parts that nothing is known of are Unknown, with
// the call that was refused.
func Examine(ctx context.Context, c Clients, d Deployment) []Finding {
	there, list := c.functions(ctx, d)
	if len(there) == 0 {
		return list // nothing else can be known
	}
	rules, stack := c.rules(ctx, d, there)
	list = append(list, rules...)
	list = append(list, c.alarms(ctx, d, stack, there)...)
	list = append(list, c.queues(ctx)...)
	cfg := map[string]functionOf{}
	for _, f := range there {
		cfg[f.spec.Name] = f
	}
	list = append(list, c.table(ctx, there)...)
	list = append(list, c.evidence(ctx, there)...)
	if report, ok := cfg["report"]; ok {
		list = append(list, c.slack(ctx, d, report)...)
	}
	if actions, ok := cfg["slack-actions"]; ok {
		list = append(list, c.signing(ctx, actions)...)
	}
	if targets, ok := cfg["notify-targets"]; ok {
		list = append(list, c.targets(ctx, d, targets, busOf(there))...)
	}
	list = append(list, c.spokes(ctx, d, there)...)
	return append(list, c.clusters(ctx, d, there)...)
}

// Healthy tells that nothing is wrong; whole, that everything could be looked at too.
func Healthy(list []Finding) (healthy, whole bool) {
	has := func(s State) bool { return slices.ContainsFunc(list, func(f Finding) bool { return f.State == s }) }
	return !has(Wrong), !has(Unknown)
}

// coded tells whether an error has one of AWS's codes.
func coded(err error, codes ...string) bool {
	var api smithy.APIError
	return errors.As(err, &api) && slices.Contains(codes, api.ErrorCode())
}

// unseen is a part that could not be looked at.
func unseen(part, name, permission string, err error) Finding {
	f := Finding{Part: part, Name: name, State: Unknown, Says: "could not be read: " + err.Error()}
	if coded(err, "AccessDenied", "AccessDeniedException", "UnauthorizedOperation") {
		f.Says, f.Do = permission+" was refused", "Run it with credentials that have "+permission+"."
	}
	return f
}

// redeploy is how what the stack makes comes back.
func redeploy(f Finding) Finding {
	f.State, f.Command = Wrong, "make deploy"
	if f.Do == "" {
		f.Do = "Deploy the stack again. If CloudFormation finds nothing to change, it has not noticed that this was deleted by hand: delete the stack and deploy it anew (incidents and history begin anew)."
	}
	return f
}

// settingsOf are the settings of a function that its program reads, as config reads
// them.
func settingsOf(f functionOf, names ...spec.Variable) (config.Config, error) {
	cfg, err := config.Load(f.environment, names)
	if err != nil {
		return cfg, fmt.Errorf("the settings of %s: %w", f.spec.Name, err)
	}
	return cfg, nil
}
