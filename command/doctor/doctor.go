// Package doctor examines a deployment of Rollcall: whether each part of it is there
// and works, and with which command what is wrong is mended. It only reads, and posts a
// test message where one is asked for.
package doctor

import (
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	"github.com/aws/aws-sdk-go-v2/service/eks/types"
	"github.com/aws/aws-sdk-go-v2/service/eventbridge"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/lambda"
	lambdatypes "github.com/aws/aws-sdk-go-v2/service/lambda/types"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sts"
	"github.com/aws/smithy-go"

	"rollcall/infra/clusterrole"
	"rollcall/infra/deadletters"
	"rollcall/infra/specs"
	"rollcall/shared/awsjson"
	"rollcall/shared/bus"
	"rollcall/shared/config"
	"rollcall/shared/kube"
	"rollcall/shared/outbox"
	"rollcall/shared/relay"
	"rollcall/shared/s3"
	"rollcall/shared/shell"
	"rollcall/shared/slack/hook"
	"rollcall/shared/slack/slacktext"
	"rollcall/shared/spec"
	"rollcall/shared/spoke"
	"rollcall/shared/store"
)

// Prefix is what the names of the deployment's functions and queues begin with.
const Prefix = "rollcall"

// State is how a part of a deployment is.
type State string

// The states.
const (
	Well  State = "ok"
	Wrong State = "wrong"
	// Unknown is a part that could not be checked.
	Unknown State = "unknown"
	// Off is a part that the settings leave out.
	Off State = "off"
)

// Finding is how one part is.
type Finding struct {
	Part  string `json:"part"`  // "function", "rule", "Slack token"
	Name  string `json:"name"`  // which one; empty where there is only one
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
	Secrets  hook.SecretReader
	Clusters Clusters
	Alarms   Alarms
	Objects  Objects
	Buses    Buses
	// Elsewhere opens a spoke's account and region; ErrNoWay where no way is set.
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
	// TestMessage reports whether a message is posted into each channel, and told to each target.
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

// Healthy reports whether nothing is wrong; whole, that everything could be looked at too.
func Healthy(list []Finding) (healthy, whole bool) {
	has := func(s State) bool { return slices.ContainsFunc(list, func(f Finding) bool { return f.State == s }) }
	return !has(Wrong), !has(Unknown)
}

// coded reports whether an error has one of AWS's codes.
func coded(err error, codes ...string) bool {
	var api smithy.APIError
	return errors.As(err, &api) && slices.Contains(codes, api.ErrorCode())
}

// unseen is a part that could not be read.
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

// Alarms is what it takes of CloudWatch.
type Alarms interface {
	// Alarms are the metric alarms whose names begin so.
	Alarms(ctx context.Context, prefix string) ([]Alarm, error)
}

// Alarm is an alarm, with the members of CloudWatch's MetricAlarm.
type Alarm struct {
	Name, Description string
	Enabled           bool     // its actions
	Actions           []string // in ALARM
	SilentActions     []string // in INSUFFICIENT_DATA
	State, Reason     string
	// Since is how long it is in its state, Configured when it was changed last.
	Since, Configured time.Time
}

// alarmIDs are the logical ids with which the stack's alarms begin (infra/alarms.go).
func alarmIDs(there []functionOf) []string {
	ids := []string{"FunctionsFail", "DeadLetters", "QueuesLate"}
	for _, f := range there {
		if f.spec.Queue != nil && f.spec.Queue.Resource == spec.JoinQueue {
			ids = append(ids, "Silent")
		}
		for _, a := range f.spec.Alarms {
			ids = append(ids, camel(f.spec.Name)+a.Metric)
		}
	}
	for i := range ids {
		ids[i] += "Alarm"
	}
	return ids
}

// alarms looks at the stack's alarms. CloudFormation makes their names of the stack's and
// the logical id.
func (c Clients) alarms(ctx context.Context, d Deployment, stack string, there []functionOf) []Finding {
	found, err := c.Alarms.Alarms(ctx, stack+"-")
	if err != nil {
		return []Finding{unseen("alarm", stack, "cloudwatch:DescribeAlarms", err)}
	}
	var list []Finding
	for _, id := range alarmIDs(there) {
		gone := true
		for _, a := range found {
			if strings.HasPrefix(a.Name, stack+"-"+id) {
				gone = false
				list = append(list, alarmState(a, d.Now))
			}
		}
		if gone {
			list = append(list, redeploy(Finding{Part: "alarm", Name: id, Says: "does not exist: no notification when it should fire"}))
		}
	}
	return list
}

// firstFigures is how long an alarm may be without figures after it was made: three
// periods of five minutes, as infra makes it.
const firstFigures = 15 * time.Minute

// alarmState is how an alarm is: who would not be told is worse than that it rings.
func alarmState(a Alarm, now time.Time) Finding {
	f := Finding{Part: "alarm", Name: a.Name, State: Well, Says: "OK"}
	silent := len(a.SilentActions) > 0
	switch {
	case !a.Enabled:
		f.State, f.Says = Wrong, "its actions are disabled: no notification when it fires"
		f.Do, f.Command = "Enable them.", "aws cloudwatch enable-alarm-actions --alarm-names '"+a.Name+"'"
	case len(a.Actions) == 0 && !silent:
		return redeploy(Finding{Part: f.Part, Name: a.Name, Says: "has no actions: no notification when it fires"})
	case a.State == "ALARM", a.State == "INSUFFICIENT_DATA" && silent && now.Sub(a.Configured) >= firstFigures:
		// The one that watches for silence never comes into ALARM.
		f.State, f.Says = Wrong, fmt.Sprintf("firing since %s: %s", a.Since.UTC().Format("2006-01-02 15:04 UTC"), a.Reason)
		f.Do = "Do what its description says."
		if _, do, told := strings.Cut(a.Description, " Do: "); told {
			f.Do = strings.ToUpper(do[:1]) + do[1:]
		}
		f.Command = "aws cloudwatch describe-alarm-history --alarm-name '" + a.Name + "' --history-item-type StateUpdate"
	case a.State == "INSUFFICIENT_DATA" && silent:
		f.State, f.Says, f.Do = Unknown, "was created a moment ago, and has no data yet", "Run doctor again in 15 minutes."
	}
	return f
}

// cloudWatch calls CloudWatch. Members and bounds are those of botocore's model
// (cloudwatch/2010-08-01), by whose protocol JSON 1.0 it is asked: of the SDK's client,
// with its forty operations, one would be used.
type cloudWatch struct{ calls *awsjson.Client }

// newCloudWatch makes a client of what all AWS clients are made of. A page has at most
// 100 alarms, of which each is some kilobytes.
func newCloudWatch(cfg aws.Config) cloudWatch {
	return cloudWatch{awsjson.New(cfg, awsjson.Service{
		ID: "CloudWatch", Name: "monitoring", Target: "GraniteServiceVersion20100801.", Version: "1.0", MostBytes: 8 << 20,
	})}
}

// Alarms are the metric alarms whose names begin so: those are given where AlarmTypes is
// left out.
func (c cloudWatch) Alarms(ctx context.Context, prefix string) ([]Alarm, error) {
	in := struct {
		AlarmNamePrefix string
		MaxRecords      int
		NextToken       string `json:",omitempty"`
	}{prefix, 100, ""}
	var list []Alarm
	for {
		var out struct {
			MetricAlarms []struct {
				AlarmName, AlarmDescription                               string
				ActionsEnabled                                            bool
				AlarmActions, InsufficientDataActions                     []string
				StateValue, StateReason                                   string
				StateUpdatedTimestamp, AlarmConfigurationUpdatedTimestamp float64 // seconds since 1970
			}
			NextToken string
		}
		if err := c.calls.Call(ctx, "DescribeAlarms", "", in, &out); err != nil {
			return nil, err
		}
		for _, a := range out.MetricAlarms {
			list = append(list, Alarm{
				Name: a.AlarmName, Description: a.AlarmDescription, Enabled: a.ActionsEnabled, Actions: a.AlarmActions, SilentActions: a.InsufficientDataActions,
				State: a.StateValue, Reason: a.StateReason, Since: seconds(a.StateUpdatedTimestamp), Configured: seconds(a.AlarmConfigurationUpdatedTimestamp),
			})
		}
		if in.NextToken = out.NextToken; in.NextToken == "" {
			return list, nil
		}
	}
}

func seconds(since float64) time.Time { return time.UnixMilli(int64(since * 1000)) }

// NewElsewhere makes the clients of a spoke's account and region, of credentials of it.
func NewElsewhere(cfg aws.Config) Elsewhere {
	c := NewClients(cfg, nil)
	return Elsewhere{Functions: c.Functions, Rules: c.Rules, Roles: c.Roles, Clusters: c.Clusters, Kubernetes: c.Kubernetes}
}

// NewClients makes the clients of given credentials. Slack is reached by via.
func NewClients(cfg aws.Config, via *http.Client) Clients {
	return Clients{
		Functions: lambda.NewFromConfig(cfg), Rules: eventbridge.NewFromConfig(cfg), Bus: eventbridge.NewFromConfig(cfg), Roles: iam.NewFromConfig(cfg), Queues: sqs.NewFromConfig(cfg),
		Secrets: secretsmanager.NewFromConfig(cfg), Clusters: eks.NewFromConfig(cfg),
		Alarms: newCloudWatch(cfg), Objects: s3.New(cfg),
		Kubernetes: func(ctx context.Context, c Cluster) (Kubernetes, error) {
			token, err := kube.Token(ctx, sts.NewPresignClient(sts.NewFromConfig(cfg)), c.Name)
			if err != nil {
				return nil, err
			}
			via, err := kube.Transport(c.CA)
			if err != nil {
				return nil, err
			}
			via.Proxy = http.ProxyFromEnvironment
			return kube.NewVia(via, c.Endpoint, c.CA, token)
		},
		Incidents: func(table string, of spoke.ID) Incidents {
			return store.New(dynamodb.NewFromConfig(cfg), table).ForSpoke(of)
		},
		Elsewhere: func(context.Context, spoke.ID) (Elsewhere, error) { return Elsewhere{}, ErrNoWay },
		Buses:     eventbridge.NewFromConfig(cfg),
		Records:   func(table string) Records { return store.New(dynamodb.NewFromConfig(cfg), table) },
		Slack:     func(api, token string) (Slack, error) { return NewSlack(api, token, via), nil },
	}
}

// clusters looks at the watched clusters, and whether each lets in the role that reads
// in it.
func (c Clients) clusters(ctx context.Context, d Deployment, there []functionOf) []Finding {
	readers := readersOf(there)
	if len(readers) == 0 {
		return nil
	}
	first := readers[0].functions[0]
	cfg, err := settingsOf(first, append(config.SpokeVariables(), config.Clusters)...)
	if err != nil {
		return []Finding{redeploy(Finding{Part: "settings", Name: Prefix + "-" + first.spec.Name, Says: err.Error(), Do: "Correct the setting (docs/settings.md), and deploy."})}
	}
	names := cfg.ForSpoke(spoke.ID{}).Clusters
	if names == nil {
		if names, err = c.all(ctx); err != nil {
			return []Finding{unseen("cluster", d.Region, "eks:ListClusters", err)}
		}
	}
	if len(names) == 0 && len(cfg.Others()) > 0 {
		return []Finding{{Part: "cluster", Name: d.Region, State: Off, Says: "none in the hub's own account and region"}}
	}
	if len(names) == 0 {
		return []Finding{{Part: "cluster", Name: d.Region, State: Wrong, Says: "there is no cluster to watch in this account and region", Do: "Deploy it where the clusters are, or wait: each new one is watched by itself."}}
	}
	var list []Finding
	for i := range readers {
		list = append(list, c.assumed(ctx, &readers[i])...)
	}
	for _, name := range names {
		for _, f := range c.cluster(ctx, d, name, readers) {
			f.Cluster, f.Account, f.Region, f.Whose = name, d.Account, d.Region, nameOfHub(cfg)
			list = append(list, f)
		}
	}
	return list
}

// nameOfHub is the name that the settings give the hub's own account and region.
func nameOfHub(cfg config.Config) string {
	for _, s := range cfg.Spokes {
		if s.ID == cfg.Hub {
			return s.Name
		}
	}
	return ""
}

func (c Clients) all(ctx context.Context) ([]string, error) {
	var names []string
	in := &eks.ListClustersInput{}
	for {
		out, err := c.Clusters.ListClusters(ctx, in)
		if err != nil {
			return nil, err
		}
		names = append(names, out.Clusters...)
		if in.NextToken = out.NextToken; in.NextToken == nil {
			return names, nil
		}
	}
}

// cluster looks at one cluster.
func (c Clients) cluster(ctx context.Context, d Deployment, name string, readers []reader) []Finding {
	out, err := c.Clusters.DescribeCluster(ctx, &eks.DescribeClusterInput{Name: aws.String(name)})
	switch {
	case coded(err, "ResourceNotFoundException"):
		return []Finding{{Part: "cluster", Name: name, State: Wrong, Says: "does not exist, and the setting clusters names it", Do: "Remove it from the setting clusters, and deploy.", Command: "make deploy"}}
	case err != nil:
		return []Finding{unseen("cluster", name, "eks:DescribeCluster", err)}
	}
	if a := out.Cluster.AccessConfig; a != nil && a.AuthenticationMode == types.AuthenticationModeConfigMap {
		return []Finding{{
			Part: "cluster", Name: name, State: Unknown, Says: "does not support access entries (authentication mode CONFIG_MAP): whether its aws-auth names the role only Kubernetes knows",
			Do: "Compare it with the stack's output AwsAuthRoles.", Command: "kubectl -n kube-system get configmap aws-auth -o yaml",
		}}
	}
	var list []Finding
	var byGroup []functionOf
	for _, r := range readers {
		x, inGroup := c.entry(ctx, d, name, r)
		if x.State != Well {
			list = append(list, x)
		}
		if inGroup {
			byGroup = append(byGroup, r.functions...)
		}
	}
	if len(list) == 0 {
		list = []Finding{{Part: "cluster", Name: name, State: Well, Says: "reader has access"}}
	}
	list = append(list, c.relay(ctx, out.Cluster, readers[0].functions[0])...)
	if len(byGroup) > 0 {
		list = append(list, c.rights(ctx, clusterOf(out.Cluster), byGroup))
	}
	return list
}

// clusterOf is a cluster as its API is reached. A broken authority is the reader's to tell.
func clusterOf(c *types.Cluster) Cluster {
	out := Cluster{Name: aws.ToString(c.Name), Endpoint: aws.ToString(c.Endpoint)}
	if c.CertificateAuthority != nil {
		out.CA, _ = base64.StdEncoding.DecodeString(aws.ToString(c.CertificateAuthority.Data))
	}
	return out
}

// skew is by how much the clocks of IAM and EKS may differ: IAM's dates are whole seconds.
const skew = time.Minute

// entry looks at the access entry of a role in a cluster, and whether it is by the
// group that it is let in.
func (c Clients) entry(ctx context.Context, d Deployment, cluster string, f reader) (found Finding, inGroup bool) {
	role := f.role[strings.LastIndex(f.role, "/")+1:]
	out, err := c.Clusters.DescribeAccessEntry(ctx, &eks.DescribeAccessEntryInput{ClusterName: aws.String(cluster), PrincipalArn: aws.String(f.role)})
	finding := Finding{Part: "access entry", Name: cluster + " " + f.name, State: Wrong}
	of := fmt.Sprintf(" --region '%s' --cluster-name '%s' --principal-arn '%s'", d.Region, cluster, f.role)
	where := of + " --kubernetes-groups " + clusterrole.Group
	switch {
	case coded(err, "ResourceNotFoundException"):
		finding.Says = "there is none for the role " + role + ": nodes, pods and volumes of " + cluster + " cannot be read"
		finding.Do, finding.Command = "Make it, and apply deploy/clusterrole.yaml in the cluster where that was not done.", "aws eks create-access-entry"+where
		return finding, false
	case err != nil:
		return unseen("access entry", finding.Name, "eks:DescribeAccessEntry", err), false
	}
	if made := aws.ToTime(out.AccessEntry.CreatedAt); made.Add(skew).Before(f.made) {
		// EKS API reference, AccessEntry, "principalArn": after the principal was made again the
		// entry won't work, even if it has the same ARN.
		finding.Says = fmt.Sprintf("it is of %s, and the role %s was made again on %s: EKS goes by the id of the role, not by its name, and answers 401 Unauthorized. Nodes, pods and volumes of %s cannot be read",
			made.UTC().Format("2006-01-02 15:04 UTC"), role, f.made.UTC().Format("2006-01-02 15:04 UTC"), cluster)
		finding.Do = "Delete it and make it again, and apply deploy/clusterrole.yaml in the cluster where that was not done."
		finding.Command = "aws eks delete-access-entry" + of + " && aws eks create-access-entry" + where
		return finding, false
	}
	if slices.Contains(out.AccessEntry.KubernetesGroups, clusterrole.Group) {
		return Finding{Part: "access entry", Name: finding.Name, State: Well, Says: "present"}, true
	}
	policies, err := c.Clusters.ListAssociatedAccessPolicies(ctx, &eks.ListAssociatedAccessPoliciesInput{ClusterName: aws.String(cluster), PrincipalArn: aws.String(f.role)})
	if err != nil {
		return unseen("access entry", finding.Name, "eks:ListAssociatedAccessPolicies", err), false
	}
	if len(policies.AssociatedAccessPolicies) > 0 {
		return Finding{Part: "access entry", Name: finding.Name, State: Well, Says: "present, with access policies"}, false
	}
	finding.Says = "it gives the role " + role + " neither the group " + clusterrole.Group + " nor an access policy: it may read nothing"
	finding.Do, finding.Command = "Put it into the group, and apply deploy/clusterrole.yaml in the cluster where that was not done.", "aws eks update-access-entry"+where
	return finding, false
}

// copies looks at the rules on the bus of spokes: of each rule on what AWS tells there is a
// copy, by which what is forwarded wakes the same functions (infra/rules.go, onBuses).
func (c Clients) copies(ctx context.Context, h hub) []Finding {
	const on = Prefix + "-spokes"
	var list []Finding
	for _, f := range h.there {
		wants := copiesOf(f.spec)
		if len(wants) == 0 {
			continue
		}
		found, err := c.rulesOf(ctx, f, on)
		switch {
		case coded(err, "ResourceNotFoundException"): // the bus, of which busOfSpokes says so
			return nil
		case err != nil:
			list = append(list, unseen("rule", Prefix+"-"+f.spec.Name, "events:ListRuleNamesByTarget", err))
			continue
		}
		for _, w := range wants {
			list = append(list, c.rule(ctx, f, w, on, found))
		}
	}
	return list
}

// copiesOf are the copies of a function's rules.
func copiesOf(s spec.Spec) []waker {
	var list []waker
	for _, r := range s.Rules {
		if specs.OfAWS(r) {
			list = append(list, waker{id: camel(s.Name) + camel(r.Name) + "OfSpokesRule", why: "It is for what spokes forward. " + r.Why, pattern: r.Pattern})
		}
	}
	return list
}

// Objects is what it takes of S3: the error of a bucket that is not there is s3.ErrNone.
type Objects interface {
	FindBucket(ctx context.Context, bucket string) error
}

// evidence looks at the bucket in which the detectors keep what they read.
func (c Clients) evidence(ctx context.Context, there []functionOf) []Finding {
	bucket := ""
	for _, f := range there {
		if f.setting(config.Evidence) != "off" && f.setting(config.EvidenceBucket) != "" {
			bucket = f.setting(config.EvidenceBucket)
		}
	}
	if bucket == "" {
		return []Finding{{Part: "evidence", Name: "bucket", State: Off, Says: "none kept (setting evidence)"}}
	}
	f := Finding{Part: "evidence", Name: bucket, State: Well, Says: "bucket exists"}
	switch err := c.Objects.FindBucket(ctx, bucket); {
	case errors.Is(err, s3.ErrNone):
		f.Says = "the bucket does not exist: findings from now on cannot be replayed"
		f = redeploy(f)
	case err != nil:
		f = unseen("evidence", bucket, "s3:ListBucket", err)
	}
	return []Finding{f}
}

// title returns the part with its name; some parts, such as dead letters, have none.
func (f Finding) title() string { return strings.TrimSpace(f.Part + " " + f.Name) }

// Print writes findings for a person: wrong parts first, each with what to do, then the
// parts that could not be checked, then one line for each kind of healthy part.
func Print(w io.Writer, list []Finding) error {
	var b strings.Builder
	for _, s := range []State{Wrong, Unknown} {
		for _, f := range list {
			if f.State != s {
				continue
			}
			fmt.Fprintf(&b, "%s %s %s %s\n", mark(s), f.Part, f.Name, strings.TrimSpace(f.Says))
			if f.Do != "" {
				fmt.Fprintf(&b, "    %s\n", f.Do)
			}
			if f.Command != "" {
				fmt.Fprintf(&b, "    %s\n", f.Command)
			}
		}
	}
	var parts []string
	count := map[string]int{}
	for _, f := range list {
		if f.State != Well {
			continue
		}
		if count[f.Part]++; count[f.Part] == 1 {
			parts = append(parts, f.Part)
		}
	}
	for _, part := range parts {
		for _, f := range list {
			if f.State != Well || f.Part != part {
				continue
			}
			if n := count[part]; n > 1 {
				fmt.Fprintf(&b, "%s %s: %d OK\n", mark(Well), slacktext.Plural(part), n)
			} else {
				fmt.Fprintf(&b, "%s %s: %s\n", mark(Well), f.title(), f.Says)
			}
			break
		}
	}
	for _, f := range list {
		if f.State == Off {
			fmt.Fprintf(&b, "%s %s: %s\n", mark(Off), f.title(), f.Says)
		}
	}
	if _, err := io.WriteString(w, b.String()); err != nil {
		return fmt.Errorf("print the findings: %w", err)
	}
	return printClusters(w, list)
}

// mark is what a line begins with: not everybody sees colours.
func mark(s State) string {
	switch s {
	case Well:
		return "✓"
	case Wrong:
		return "✗"
	case Off:
		return "-"
	}
	return "?"
}

// PrintJSON writes them for a program.
func PrintJSON(w io.Writer, list []Finding) error {
	healthy, whole := Healthy(list)
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(struct {
		Healthy  bool      `json:"healthy"`
		Whole    bool      `json:"whole"`
		Findings []Finding `json:"findings"`
	}{healthy, whole, list}); err != nil {
		return fmt.Errorf("print the findings: %w", err)
	}
	return nil
}

// queues looks for what was given up.
func (c Clients) queues(ctx context.Context) []Finding {
	found, err := deadletters.Find(ctx, c.Queues, Prefix)
	if err != nil {
		return []Finding{unseen("dead letters", Prefix, "sqs:ListQueues and sqs:GetQueueAttributes", err)}
	}
	if len(found) == 0 {
		return []Finding{{Part: "dead letters", State: Well, Says: "none"}}
	}
	var list []Finding
	for _, l := range found {
		f := Finding{Part: "dead letters", Name: l.Queue, State: Wrong, Says: fmt.Sprintf("holds %d", l.Messages)}
		if l.Movable() {
			f.Do, f.Command = "Mend what they failed of (the functions' logs say it), then move them back.", "make redrive MOVE=1"
		} else {
			f.Do = "They are events that reached no queue, and cannot be moved back; the next sweep finds what they were about. Purge the queue when the functions' logs say why."
			f.Command = "aws sqs purge-queue --queue-url \"$(aws sqs get-queue-url --queue-name '" + l.Queue + "' --query QueueUrl --output text)\""
		}
		list = append(list, f)
	}
	return list
}

// table looks whether the table can be read, and what Slack and the bus refused of
// which cluster.
func (c Clients) table(ctx context.Context, there []functionOf) []Finding {
	name := ""
	for _, f := range there {
		if t := f.setting(config.TableName); t != "" {
			name = t
		}
	}
	if name == "" {
		return []Finding{redeploy(Finding{Part: "table", Name: string(config.TableName), Says: "no function has a table"})}
	}
	records, err := c.Records(name).ClusterRecords(ctx)
	switch {
	case coded(err, "ResourceNotFoundException"):
		return []Finding{redeploy(Finding{Part: "table", Name: name, Says: "does not exist: no incident can be stored or posted"})}
	case err != nil:
		return []Finding{unseen("table", name, "dynamodb:Query on "+name, err)}
	}
	list := []Finding{{Part: "table", Name: name, State: Well, Says: "readable"}}
	for _, r := range records {
		for _, refusal := range r.Refusals {
			list = append(list, refusedDelivery(r.Cluster, refusal))
		}
	}
	return list
}

// refusedDelivery is what a target does not take of a cluster.
func refusedDelivery(cluster string, r outbox.Refusal) Finding {
	f := Finding{
		Part: "delivery", Name: cluster, State: Wrong, Says: fmt.Sprintf("%s has rejected messages about %s since %s: %s (%d times)", r.Target, cluster, r.Since.UTC().Format("2006-01-02 15:04 UTC"), r.Code, r.Times),
		Do: "It is retried automatically, within 15 minutes of the fix.",
	}
	if r.Target == outbox.ToBus {
		f.Do = "Look at the event bus's policy and quota. " + f.Do
	}
	return f
}

// functions looks at each function, and at the role and the queue that it has. Where
// there is none at all, that is the one finding.
func (c Clients) functions(ctx context.Context, d Deployment) (there []functionOf, list []Finding) {
	refused := 0
	var off []spec.Spec
	for _, s := range d.Specs {
		name := Prefix + "-" + s.Name
		out, err := c.Functions.GetFunctionConfiguration(ctx, &lambda.GetFunctionConfigurationInput{FunctionName: aws.String(name)})
		switch {
		case coded(err, "ResourceNotFoundException") && s.Only != "":
			off = append(off, s)
			continue
		case coded(err, "ResourceNotFoundException"):
			list = append(list, redeploy(Finding{Part: "function", Name: name, Says: "does not exist: " + s.FailureImpact}))
			continue
		case err != nil:
			refused++
			list = append(list, unseen("function", name, "lambda:GetFunctionConfiguration", err))
			continue
		}
		f := functionOf{spec: s, arn: aws.ToString(out.FunctionArn), role: aws.ToString(out.Role), settings: map[string]string{}}
		if out.Environment != nil {
			f.settings = out.Environment.Variables
		}
		there = append(there, f)
		list = append(list, functionState(name, s, out))
		list = append(list, c.role(ctx, f)...)
		if s.Queue != nil {
			list = append(list, c.mapping(ctx, f))
		}
	}
	if len(there) == 0 && refused == 0 {
		return nil, []Finding{{
			Part: "deployment", Name: d.Account + " " + d.Region, State: Wrong, Says: "Rollcall is not deployed in this account and region", Do: "Deploy it, or choose another account or region with --profile and --region.", Command: "make deploy",
		}}
	}
	for _, s := range off {
		list = append(list, c.only(s, there))
	}
	return there, list
}

// functionState is how a function is by what Lambda tells of it.
func functionState(name string, s spec.Spec, out *lambda.GetFunctionConfigurationOutput) Finding {
	f := Finding{Part: "function", Name: name, State: Well, Says: "active"}
	switch {
	case out.LastUpdateStatus == lambdatypes.LastUpdateStatusFailed:
		f.Says = "its last update failed: " + aws.ToString(out.LastUpdateStatusReason)
		f.Do = "Deploy again when what the reason names is mended."
		return redeploy(f)
	case out.State == lambdatypes.StateFailed:
		f.Says = "cannot run: " + aws.ToString(out.StateReason) + ": " + s.FailureImpact
		f.Do = "Deploy again when what the reason names is mended."
		return redeploy(f)
	case out.State == lambdatypes.StatePending, out.LastUpdateStatus == lambdatypes.LastUpdateStatusInProgress:
		f.State, f.Says, f.Do = Unknown, "is being deployed", "Run doctor again in a minute."
	}
	return f
}

// only is a function that is deployed where a setting is on, and is not there.
func (c Clients) only(s spec.Spec, there []functionOf) Finding {
	name := Prefix + "-" + s.Name
	for _, f := range there {
		if strings.EqualFold(f.setting(s.Only), "on") {
			return redeploy(Finding{Part: "function", Name: name, Says: fmt.Sprintf("does not exist, and %s is on: %s", s.Only, s.FailureImpact)})
		}
	}
	return Finding{Part: "function", Name: name, State: Off, Says: fmt.Sprintf("not deployed (%s is off)", s.Only)}
}

// role looks whether a function's role is there: without it each of its calls is
// refused, and Lambda does not say so before it runs.
func (c Clients) role(ctx context.Context, f functionOf) []Finding {
	name := f.role[strings.LastIndex(f.role, "/")+1:]
	_, err := c.Roles.GetRole(ctx, &iam.GetRoleInput{RoleName: aws.String(name)})
	switch {
	case coded(err, "NoSuchEntity"):
		return []Finding{redeploy(Finding{Part: "role", Name: name, Says: "of " + Prefix + "-" + f.spec.Name + " does not exist: all of its calls are denied"})}
	case err != nil:
		return []Finding{unseen("role", name, "iam:GetRole", err)}
	}
	return nil
}

// mapping looks whether a function's queue wakes it.
func (c Clients) mapping(ctx context.Context, f functionOf) Finding {
	name := Prefix + "-" + f.spec.Name
	out, err := c.Functions.ListEventSourceMappings(ctx, &lambda.ListEventSourceMappingsInput{FunctionName: aws.String(f.arn)})
	if err != nil {
		return unseen("queue", name, "lambda:ListEventSourceMappings", err)
	}
	if len(out.EventSourceMappings) == 0 {
		return redeploy(Finding{Part: "queue", Name: name, Says: "no queue triggers it: its event source mapping does not exist"})
	}
	m := out.EventSourceMappings[0]
	queue := aws.ToString(m.EventSourceArn)
	queue = queue[strings.LastIndex(queue, ":")+1:]
	switch state := aws.ToString(m.State); state {
	case "Enabled", "Creating", "Enabling", "Updating":
		return Finding{Part: "queue", Name: queue, State: Well, Says: "triggers " + name}
	default:
		return Finding{
			Part: "queue", Name: queue, State: Wrong, Says: "does not trigger " + name + ": its event source mapping is " + strings.ToLower(state), Do: "Enable it. Messages in the queue are kept meanwhile.",
			Command: "aws lambda update-event-source-mapping --uuid '" + aws.ToString(m.UUID) + "' --enabled",
		}
	}
}

// relay looks at the relay of a cluster whose API is not open to all, where the functions
// that read in it are not in its VPC themselves.
func (c Clients) relay(ctx context.Context, cluster *types.Cluster, by functionOf) []Finding {
	vpc := cluster.ResourcesVpcConfig
	if vpc == nil || vpc.EndpointPublicAccess && (len(vpc.PublicAccessCidrs) == 0 || slices.Contains(vpc.PublicAccessCidrs, "0.0.0.0/0")) || by.setting(config.InVPC) == "on" && at(by.arn) == at(aws.ToString(cluster.Arn)) {
		return nil
	}
	name := relay.FunctionName(Prefix, aws.ToString(cluster.Name))
	again := Finding{
		Part: "relay", Name: name, State: Wrong, Do: "Deploy it, with a bucket of this region for its program (docs/deploy.md).",
		Command: shell.Command("make", "deploy-relay", "CLUSTER="+aws.ToString(cluster.Name), "BUCKET=a-bucket-of-this-region"),
	}
	out, err := c.Functions.GetFunctionConfiguration(ctx, &lambda.GetFunctionConfigurationInput{FunctionName: aws.String(name)})
	switch {
	case coded(err, "ResourceNotFoundException"):
		again.Says = "does not exist, and the API of " + aws.ToString(cluster.Name) + " has a private endpoint only: its nodes, pods and volumes cannot be read"
		if vpc.EndpointPublicAccess {
			again.Says = "does not exist, and the public endpoint of the API of " + aws.ToString(cluster.Name) + " is open to " + strings.Join(vpc.PublicAccessCidrs, ", ") + " alone: its nodes, pods and volumes cannot be read from the functions' addresses, which are AWS's"
			if by.setting(config.InVPC) == "on" {
				again.State, again.Says = Unknown, "does not exist, and the public endpoint of the API of "+aws.ToString(cluster.Name)+" is open to "+strings.Join(vpc.PublicAccessCidrs, ", ")+" alone: whether the address of the functions' NAT gateway is among these is not checked"
			}
		}
		if !vpc.EndpointPrivateAccess {
			again.Do = "Turn on the private endpoint, which a relay needs, and deploy the relay, with a bucket of this region for its program (docs/deploy.md)."
			again.Command = shell.Command("aws", "eks", "update-cluster-config", "--name", aws.ToString(cluster.Name), "--resources-vpc-config", "endpointPrivateAccess=true") + " && " + again.Command
		}
		return []Finding{again}
	case err != nil:
		return []Finding{unseen("relay", name, "lambda:GetFunctionConfiguration", err)}
	}
	environment := map[string]string{}
	if out.Environment != nil {
		environment = out.Environment.Variables
	}
	switch {
	case environment[string(config.RelayCluster)] != aws.ToString(cluster.Arn) || environment[string(config.RelayEndpoint)] != aws.ToString(cluster.Endpoint):
		again.Says = "is of another cluster than the one that has the name now, and rejects all requests"
		return []Finding{again}
	case out.State == lambdatypes.StateFailed, out.LastUpdateStatus == lambdatypes.LastUpdateStatusFailed:
		again.Says = "cannot run: " + cmp.Or(aws.ToString(out.LastUpdateStatusReason), aws.ToString(out.StateReason))
		return []Finding{again}
	}
	named := strings.FieldsFunc(strings.TrimPrefix(by.setting(config.Relays), "none"), func(r rune) bool { return r == ',' || r == ' ' })
	line := aws.ToString(cluster.Name)
	if where := at(aws.ToString(cluster.Arn)); where != at(by.arn) {
		line = spoke.ID{Account: where[1], Region: where[0]}.Qualify(line)
	}
	if !slices.Contains(named, line) {
		again.Says = "is not named by the setting relays: one that was used before there was the setting is asked for 30 days from the upgrade, any other is not"
		again.Do = "Name it, once you know that it is yours: anybody who can create functions can create one of this name."
		again.Command = "SET=" + shell.Quote("relays="+strings.Join(append(named, line), ","))
		return []Finding{again}
	}
	list := c.relayRelease(ctx, aws.ToString(out.FunctionArn), again)
	// Its template gives it no policy: who invokes it has the permission himself.
	policy, err := c.Functions.GetPolicy(ctx, &lambda.GetPolicyInput{FunctionName: aws.String(name)})
	switch {
	case err == nil:
		list = append(list, Finding{
			Part: "relay", Name: name, State: Wrong, Says: "has a resource policy that allows others to invoke it, and needs none: " + aws.ToString(policy.Policy),
			Do: "Remove each statement that has no known reason.", Command: shell.Command("aws", "lambda", "get-policy", "--function-name", name),
		})
	case !coded(err, "ResourceNotFoundException"):
		list = append(list, unseen("relay", name, "lambda:GetPolicy", err))
	}
	if list != nil {
		return list
	}
	return []Finding{{Part: "relay", Name: name, State: Well, Says: "present, of this cluster and this release, without a resource policy"}}
}

// relayRelease looks whether a relay does what this release asks of one; that is in a tag,
// which GetFunctionConfiguration does not have (Lambda API reference).
func (c Clients) relayRelease(ctx context.Context, arn string, again Finding) []Finding {
	again.Do = "Deploy it again with this release, with a bucket of its region for its program (docs/deploy.md)."
	out, err := c.Functions.ListTags(ctx, &lambda.ListTagsInput{Resource: aws.String(arn)})
	if err != nil {
		return []Finding{unseen("relay", again.Name, "lambda:ListTags", err)}
	}
	switch out.Tags[specs.RelayTag] {
	case specs.RelayDigest():
		return nil
	case "":
		again.Says = "reports no release: it is an earlier one, and may reject requests of this release"
	default:
		again.Says = "is of another release: the requests that it forwards differ from those of this release"
	}
	return []Finding{again}
}

// at is the region and account of an ARN: functions in a VPC of the hub's reach the clusters
// of its own account and region themselves, and ask the relays of others (docs/deploy.md).
func at(arn string) [2]string {
	if part := strings.SplitN(arn, ":", 6); len(part) == 6 {
		return [2]string{part[3], part[4]}
	}
	return [2]string{}
}
