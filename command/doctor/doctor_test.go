package doctor

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	"github.com/aws/aws-sdk-go-v2/service/sts"
	"github.com/google/go-cmp/cmp"
	slackgo "github.com/slack-go/slack"
	"go.yaml.in/yaml/v3"

	samples "rollcall/events"
	"rollcall/infra/specs"
	"rollcall/shared/checks/finding"
	"rollcall/shared/config"
	"rollcall/shared/diagnosis"
	"rollcall/shared/incident"
	"rollcall/shared/interaction"
	"rollcall/shared/kube"
	"rollcall/shared/outbox"
	"rollcall/shared/report"
	"rollcall/shared/spec"
	"rollcall/shared/spoke"
	"rollcall/shared/store"
	"rollcall/shared/target/message"
	"rollcall/stage"
	"rollcall/stage/fakeslack"
	"rollcall/stage/platform/template"
	"rollcall/stage/simaws"
	"rollcall/stage/simaws/cloudwatch"
	"rollcall/stage/simaws/worldfile"
	"rollcall/tools/testfile"
)

// deployed is a deployment on the stage, with a Slack of its own.
type deployed struct {
	*stage.Stage
	t        *testing.T
	settings map[string]string
	slack    fakeslack.Config
	refused  []simaws.FaultRule
	later    time.Duration // after it was deployed
	targets  map[string]string
	spokes   []stage.Spoke
	// outsider has no credentials of the spokes' accounts.
	outsider bool
}

const channel = stage.Channel

// deploy starts a deployment in which nothing is wrong.
func deploy(t *testing.T, p *deployed) *deployed {
	t.Helper()
	var err error
	p.Stage, err = stage.Start(t.Context(), stage.Options{
		World: "../../stage/worlds/healthy-nat.yaml", Template: "../../infra/Rollcall.template.json", Rights: "../../deploy/clusterrole.yaml",
		Quiet: true, Still: true, Settings: p.settings, CallFaults: p.refused, TargetSecrets: p.targets, Spokes: p.spokes, SpokeTemplate: "../../infra/RollcallSpoke.template.json",
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	p.t = t
	if p.slack.Token == "" {
		p.slack.Token = stage.SlackToken
	}
	if p.slack.Channels == nil {
		p.slack.Channels = []fakeslack.Channel{{ID: channel, Name: "eks-oncall"}}
	}
	return p
}

// examined is what is found in it.
func (p *deployed) examined(test bool) []Finding {
	p.t.Helper()
	cfg := p.AsAdmin()
	cfg.Retryer = func() aws.Retryer { return retry.AddWithMaxAttempts(retry.NewStandard(), 1) }
	c := NewClients(cfg, p.HTTPClient())
	c.Elsewhere = p.elsewhere
	slack, err := fakeslack.New(p.slack)
	if err != nil {
		p.t.Fatal(err)
	}
	p.t.Cleanup(func() { slack.Close() })
	c.Kubernetes = func(ctx context.Context, of Cluster) (Kubernetes, error) {
		token, err := kube.Token(ctx, sts.NewPresignClient(sts.NewFromConfig(cfg)), of.Name)
		if err != nil {
			return nil, err
		}
		return kube.NewVia(p.HTTPClient().Transport, of.Endpoint, of.CA, token)
	}
	c.Slack = func(_, token string) (Slack, error) { return NewSlack(slack.APIURL(), token, &http.Client{}), nil }
	return Examine(p.t.Context(), c, Deployment{Account: p.Template.AccountID, Region: p.Template.Region, Specs: specs.All(), TestMessage: test, Now: p.Clock.Now().Add(p.later)})
}

func (p *deployed) function(name string) template.Function {
	p.t.Helper()
	f, ok := p.Template.Function(Prefix + "-" + name)
	if !ok {
		p.t.Fatalf("there is no function %s", name)
	}
	return f
}

func (p *deployed) rule(begin string) template.Rule {
	p.t.Helper()
	i := slices.IndexFunc(p.Template.Rules, func(r template.Rule) bool { return strings.HasPrefix(r.LogicalID, begin) })
	if i < 0 {
		p.t.Fatalf("there is no rule %s", begin)
	}
	return p.Template.Rules[i]
}

func (p *deployed) must(_ any, err error) {
	p.t.Helper()
	if err != nil {
		p.t.Fatal(err)
	}
}

// findingLines are the findings of a state, a line each.
func findingLines(list []Finding, s State) []string {
	var lines []string
	for _, f := range list {
		if f.State == s {
			lines = append(lines, f.Part+" "+f.Name+" "+f.Says)
		}
	}
	return lines
}

// In a deployment in which nothing is wrong nothing is found, and all is looked at.
func TestWell(t *testing.T) {
	p := deploy(t, &deployed{})
	list := p.examined(false)
	if healthy, whole := Healthy(list); !healthy || !whole {
		t.Errorf("found\n%s\nnot seen\n%s",
			strings.Join(findingLines(list, Wrong), "\n"), strings.Join(findingLines(list, Unknown), "\n"))
	}
	count := map[string]int{}
	for _, f := range list {
		count[f.Part]++
	}
	want := map[string]int{
		"function": 13, "queue": 7, "rule": 26, "dead letters": 1, "table": 1, "Slack token": 1, "Slack scopes": 1, "Slack channel": 1, "Slack signing secret": 1, "cluster": 1,
		"alarm": 8, "ClusterRole": 1, "role": 1, "evidence": 1,
	}
	if diff := cmp.Diff(want, count); diff != "" {
		t.Error(diff)
	}
}

// Whatever is wrong is found by its name, with what to do, and nothing else is found.
func TestEachThingThatCanBeWrong(t *testing.T) {
	for name, tt := range map[string]struct {
		deployed deployed
		damage   func(*deployed)
		// want is what is said of each thing that is wrong, do what is to be done about
		// the first.
		want []string
		do   string
	}{
		"a function is gone": {damage: func(p *deployed) { p.Deployment.Delete(p.function("zone-watch").ARN) },
			want: []string{"function rollcall-zone-watch does not exist: "}, do: "make deploy"},
		"an update failed": {damage: func(p *deployed) { p.Deployment.FailUpdate(p.function("join-check").ARN, "InvalidRuntime") },
			want: []string{"function rollcall-join-check its last update failed: InvalidRuntime"}, do: "make deploy"},
		"a role is gone": {damage: func(p *deployed) { p.Deployment.Delete(roleOf(p, "subnet-watch")) },
			want: []string{"role "}, do: "make deploy"},
		"a queue wakes nobody": {damage: func(p *deployed) { p.Deployment.Disable(p.mapping("report")) },
			want: []string{"queue rollcall-results.fifo does not trigger rollcall-report: its event source mapping is disabled"}, do: "aws lambda update-event-source-mapping --uuid '"},
		"a mapping is gone": {damage: func(p *deployed) { p.Deployment.Delete(p.mapping("remediate")) },
			want: []string{"queue rollcall-remediate no queue triggers it"}, do: "make deploy"},
		"a rule is disabled": {damage: func(p *deployed) { p.Deployment.Disable(p.rule("JoinCheckLaunchesRule").ARN) },
			want: []string{"JoinCheckLaunchesRule"}, do: "aws events enable-rule --name '"},
		"a rule of the own bus is disabled": {damage: func(p *deployed) { p.Deployment.Disable(p.rule("RemediateIncidentsRule").ARN) },
			want: []string{"RemediateIncidentsRule"}, do: " --event-bus-name 'rollcall'"},
		"a rule has another pattern": {damage: func(p *deployed) {
			p.Deployment.ChangeRule(p.rule("JoinCheckLaunchesRule").ARN, func(r *template.Rule) { r.Pattern = []byte(`{"source":["aws.ec2"]}`) })
		}, want: []string{" has another pattern than this release's. "}, do: "make deploy"},
		"a schedule is gone": {damage: func(p *deployed) { p.Deployment.Delete(p.rule("SweepTickSchedule").ARN) },
			want: []string{"rule SweepTickSchedule does not exist, or does not target rollcall-sweep. "}, do: "make deploy"},
		"the bus is gone": {damage: func(p *deployed) { p.Deployment.Delete(p.Template.Buses[0].ARN) },
			want: []string{"event bus rollcall does not exist: "}, do: "make deploy"},
		"the bucket of the evidence is gone": {damage: func(p *deployed) { p.S3.Remove(p.Template.S3Buckets[0].Name) },
			want: []string{"evidence rollcall-evidence4cc26d68 the bucket does not exist: findings from now on cannot be replayed"}, do: "make deploy"},
		"dead letters": {damage: func(p *deployed) { p.must(nil, p.Queues.SendText(p.queue("rollcall-joins-dead"), "{}", nil)) },
			want: []string{"dead letters rollcall-joins-dead holds 1"}, do: "make redrive MOVE=1"},
		"events that failed": {damage: func(p *deployed) { p.must(nil, p.Queues.SendText(p.queue("rollcall-failed"), "{}", nil)) },
			want: []string{"dead letters rollcall-failed holds 1"}, do: "aws sqs purge-queue --queue-url "},
		"no token": {damage: func(p *deployed) { p.secret(config.SlackSecretARN, "") },
			want: []string{"the secret is empty: put the bot token"}, do: "put-secret-value --secret-id '"},
		"another kind of token": {damage: func(p *deployed) { p.secret(config.SlackSecretARN, "xoxp-1234567890") },
			want: []string{"the secret holds another kind of Slack token"}, do: "put-secret-value --secret-id '"},
		"a token that Slack does not know": {deployed: deployed{slack: fakeslack.Config{Token: "xoxb-another-one"}},
			want: []string{"Slack rejects it: invalid_auth"}, do: "put-secret-value --secret-id '"},
		"a scope is missing": {deployed: deployed{slack: fakeslack.Config{Scopes: []string{"chat:write", "channels:history", "users:read", "commands"}}},
			want: []string{"Slack scope files:write missing from the token; needed for pictures of reports"}, do: "put-secret-value --secret-id '"},
		"groups approve, and nobody can tell who is in them": {
			deployed: deployed{settings: map[string]string{string(config.Approvers): "S0ONCALL01"}, slack: fakeslack.Config{Scopes: []string{"chat:write", "channels:history", "files:write", "users:read", "commands"}}},
			want:     []string{"Slack scope usergroups:read missing from the token; needed for listing the members of the groups that can approve"}, do: "api.slack.com/apps"},
		"the app is not in the channel": {deployed: deployed{slack: fakeslack.Config{Channels: []fakeslack.Channel{{ID: channel, Name: "eks-oncall", BotAbsent: true}}}},
			want: []string{"Slack channel " + channel + " the app is not in it"}, do: "/invite @Rollcall"},
		"another channel": {deployed: deployed{slack: fakeslack.Config{Channels: []fakeslack.Channel{{ID: "C0OTHER0001", Name: "other"}}}},
			want: []string{"Slack channel " + channel + " there is no such channel"}, do: "/invite @Rollcall"},
		"no signing secret": {damage: func(p *deployed) { p.secret(config.SigningARN, "") },
			want: []string{"is missing: each press of a button is rejected"}, do: "put-secret-value --secret-id '"},
		"the reader is gone": {damage: func(p *deployed) { p.Deployment.Delete(*p.reader()) },
			want: []string{"role rollcall-reader-us-west-2 does not exist: clusters that grant it access cannot be read"}, do: "make deploy"},
		"the reader does not let a function in": {damage: func(p *deployed) { p.Deployment.Disable(roleOf(p, "zone-watch")) },
			want: []string{"role rollcall-reader-us-west-2 does not let rollcall-zone-watch assume it"}, do: "make deploy"},
		"the reader is not let in": {damage: func(p *deployed) {
			p.must(eks.NewFromConfig(p.AsAdmin()).DeleteAccessEntry(p.t.Context(), &eks.DeleteAccessEntryInput{ClusterName: aws.String("eks-workshop"), PrincipalArn: p.reader()}))
		}, want: []string{"access entry eks-workshop rollcall-reader-us-west-2 there is none for the role rollcall-reader-us-west-2: nodes, pods and volumes of eks-workshop cannot be read"}, do: "aws eks create-access-entry --region 'us-west-2' --cluster-name 'eks-workshop' --principal-arn 'arn:aws:iam::"},
		"the reader was made again": {damage: func(p *deployed) { p.Deployment.Remake(*p.reader(), p.Clock.Now().Add(time.Hour)) },
			want: []string{"access entry eks-workshop rollcall-reader-us-west-2 it is of 2026-"},
			do:   "' && aws eks create-access-entry --region 'us-west-2' --cluster-name 'eks-workshop' --principal-arn 'arn:aws:iam::111122223333:role/rollcall-reader-us-west-2' --kubernetes-groups rollcall"},
		"a role may read nothing": {damage: func(p *deployed) {
			in := &eks.DeleteAccessEntryInput{ClusterName: aws.String("eks-workshop"), PrincipalArn: p.reader()}
			p.must(eks.NewFromConfig(p.AsAdmin()).DeleteAccessEntry(p.t.Context(), in))
			p.must(eks.NewFromConfig(p.AsAdmin()).CreateAccessEntry(p.t.Context(), &eks.CreateAccessEntryInput{ClusterName: in.ClusterName, PrincipalArn: in.PrincipalArn}))
		}, want: []string{"access entry eks-workshop rollcall-reader-us-west-2 it gives the role "}, do: "aws eks update-access-entry --region 'us-west-2'"},
		"a cluster that is not there": {deployed: deployed{settings: map[string]string{string(config.Clusters): "eks-workshop,staging"}},
			want: []string{"cluster staging does not exist, and the setting clusters names it"}, do: "make deploy"},
		"a setting that is none": {deployed: deployed{settings: map[string]string{string(config.Clusters): "no cluster?"}},
			want: []string{"settings "}, do: "docs/settings.md"},
		"an alarm rings": {damage: func(p *deployed) { p.ring("QueuesLateAlarm", cloudwatch.Alarm) },
			want: []string{"alarm Rollcall-QueuesLateAlarm firing since 2026-11-20 14:00 UTC: Threshold Crossed"}, do: "Find the queue (SQS, ApproximateAgeOfOldestMessage by queue). Then find out why its function does not read it"},
		"the alarm for silence rings": {deployed: deployed{later: time.Hour}, damage: func(p *deployed) { p.ring("SilentAlarm", cloudwatch.InsufficientData) },
			want: []string{"alarm Rollcall-SilentAlarm firing since 2026-11-20 14:00 UTC: Threshold Crossed"}, do: "Check whether its schedule is enabled"},
		"an alarm's actions are disabled": {damage: func(p *deployed) { p.Deployment.Disable(p.alarm("DeadLettersAlarm").ARN) },
			want: []string{"alarm Rollcall-DeadLettersAlarm its actions are disabled: no notification when it fires"}, do: "aws cloudwatch enable-alarm-actions --alarm-names 'Rollcall-DeadLettersAlarm'"},
		"an alarm has no actions": {damage: func(p *deployed) { p.Deployment.Mute(p.alarm("FunctionsFailAlarm").Name) },
			want: []string{"alarm Rollcall-FunctionsFailAlarm has no actions: no notification when it fires"}, do: "make deploy"},
		"an alarm is gone": {damage: func(p *deployed) { p.Deployment.Delete(p.alarm("ReportUndeliveredAlarm").ARN) },
			want: []string{"alarm ReportUndeliveredAlarm does not exist: no notification when it should fire"}, do: "make deploy"},
		"nothing is granted": {damage: func(p *deployed) { p.must(nil, p.RBAC.Replace(nil)) },
			want: []string{"ClusterRole eks-workshop nothing is granted to the group rollcall: nodes, pods and volumes cannot be read"}, do: "kubectl apply -f deploy/clusterrole.yaml"},
		"the ClusterRole is older": {damage: func(p *deployed) {
			p.older("  - apiGroups: [karpenter.sh]\n    resources: [nodepools]\n    verbs: [list]\n")
		},
			want: []string{"ClusterRole eks-workshop is of another release: the group rollcall may not list nodepools.karpenter.sh"}, do: "Apply the deploy/clusterrole.yaml of this release in the cluster. kubectl apply -f deploy/clusterrole.yaml"},
		"a binding is of another group": {damage: func(p *deployed) {
			p.older("    kind: Group\n    name: rollcall\n---\napiVersion: rbac.authorization.k8s.io/v1\nkind: Role\n")
		},
			want: []string{"may not list certificatesigningrequests.certificates.k8s.io, list ec2nodeclasses.karpenter.k8s.aws, "}, do: "kubectl apply -f deploy/clusterrole.yaml"},
		"Slack refuses what is told": {damage: func(p *deployed) {
			s := store.New(dynamodb.NewFromConfig(p.AsAdmin()), p.Template.Tables[0].Name)
			p.must(nil, s.SaveClusterRecord(p.t.Context(), outbox.ClusterRecord{Cluster: "eks-workshop", Refusals: []outbox.Refusal{{Target: outbox.ToChannel(channel), Code: "is_archived", Since: time.Unix(1e9, 0), Times: 7}}}))
		}, want: []string{"delivery eks-workshop slack/" + channel + " has rejected messages about eks-workshop since 2001-09-09 01:46 UTC: is_archived (7 times)"}, do: "retried automatically"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := deploy(t, &tt.deployed)
			if tt.damage != nil {
				tt.damage(p)
			}
			list := p.examined(false)
			wrong := findingLines(list, Wrong)
			if len(wrong) != len(tt.want) || len(findingLines(list, Unknown)) > 0 {
				t.Fatalf("found\n%s\nnot seen\n%s\nwant %q", strings.Join(wrong, "\n"), strings.Join(findingLines(list, Unknown), "\n"), tt.want)
			}
			for i, want := range tt.want {
				if !strings.Contains(wrong[i], want) {
					t.Errorf("found %q, want %q in it", wrong[i], want)
				}
			}
			for _, f := range list {
				if f.State == Wrong && !strings.Contains(f.Do+" "+f.Command, tt.do) {
					t.Errorf("to do is %q %q, want %q in it", f.Do, f.Command, tt.do)
				}
			}
		})
	}
}

// reader is the role that the clusters let in.
func (p *deployed) reader() *string {
	return aws.String(p.function("join-check").Environment[string(config.ReaderRole)])
}

// roleOf is the role with which a function reads clusters.
func roleOf(p *deployed, name string) string {
	return simaws.RoleIdentity(p.Template.AccountID, p.function(name).Name).RoleARN
}

func (p *deployed) mapping(function string) string {
	for _, m := range p.Template.Mappings {
		if m.FunctionName == Prefix+"-"+function {
			return m.LogicalID
		}
	}
	p.t.Fatalf("nothing wakes %s", function)
	return ""
}

func (p *deployed) queue(name string) string {
	for _, q := range p.Template.Queues {
		if q.Name == name {
			return q.ARN
		}
	}
	p.t.Fatalf("there is no queue %s", name)
	return ""
}

// What may not be read is not known, by the name of the permission, and nothing is
// said to be wrong for it.
func TestRefusedIsUnknown(t *testing.T) {
	for _, action := range []string{
		"lambda:GetFunctionConfiguration", "lambda:ListEventSourceMappings", "events:ListRuleNamesByTarget", "events:DescribeRule", "iam:GetRole", "sqs:ListQueues",
		"cloudwatch:DescribeAlarms", "secretsmanager:GetSecretValue", "eks:DescribeCluster", "eks:DescribeAccessEntry", "eks:ListClusters",
	} {
		t.Run(action, func(t *testing.T) {
			t.Parallel()
			p := deploy(t, &deployed{refused: []simaws.FaultRule{{Call: action, Deny: true}}})
			list := p.examined(false)
			healthy, whole := Healthy(list)
			if !healthy || whole {
				t.Errorf("found\n%s\nnot seen\n%s",
					strings.Join(findingLines(list, Wrong), "\n"), strings.Join(findingLines(list, Unknown), "\n"))
			}
			if !slices.ContainsFunc(findingLines(list, Unknown), func(s string) bool { return strings.Contains(s, action) && strings.Contains(s, "was refused") }) {
				t.Errorf("not seen\n%s\nwant %s", strings.Join(findingLines(list, Unknown), "\n"), action)
			}
		})
	}
}

// Where nothing is deployed that is all that is said.
func TestNotDeployed(t *testing.T) {
	p := deploy(t, &deployed{})
	for _, f := range p.Template.Functions {
		p.Deployment.Delete(f.ARN)
	}
	want := []string{fmt.Sprintf("deployment %s us-west-2 Rollcall is not deployed in this account and region", p.Template.AccountID)}
	if diff := cmp.Diff(want, findingLines(p.examined(false), Wrong)); diff != "" {
		t.Error(diff)
	}
}

// A test message goes into each channel once, and only where it is asked for.
func TestMessage(t *testing.T) {
	const other = "C0OTHER0001"
	p := deploy(t, &deployed{
		settings: map[string]string{string(config.Routes): "eks-workshop=" + other},
		slack:    fakeslack.Config{Channels: []fakeslack.Channel{{ID: channel, Name: "eks-oncall"}, {ID: other, Name: "other", Archived: true}}},
	})
	list := p.examined(true)
	want := []string{"test message " + other + " rejected: Slack answers chat.postMessage with is_archived"}
	if diff := cmp.Diff(want, findingLines(list, Wrong)); diff != "" {
		t.Error(diff)
	}
	if !slices.Contains(findingLines(list, Well), "test message "+channel+" posted") {
		t.Errorf("%q", findingLines(list, Well))
	}
	if slices.ContainsFunc(p.examined(false), func(f Finding) bool { return f.Part == "test message" }) {
		t.Error("a message is posted that nobody asked for")
	}
}

// secret changes the secret that a setting names.
func (p *deployed) secret(v spec.Variable, value string) {
	p.t.Helper()
	secret, ok := p.SecretFor(v)
	if !ok {
		p.t.Fatalf("there is no secret for %s", v)
	}
	p.Cloud.SetSecret(secret.Name, value)
}

// ring puts an alarm into a state.
func (p *deployed) ring(id, state string) {
	p.Deployment.Ring(p.alarm(id).Name, state, "Threshold Crossed: 1 datapoint", time.Date(2026, 11, 20, 14, 0, 0, 0, time.UTC))
}

func (p *deployed) alarm(id string) template.Alarm {
	p.t.Helper()
	i := slices.IndexFunc(p.Template.Alarms, func(a template.Alarm) bool { return a.LogicalID == id })
	if i < 0 {
		p.t.Fatalf("there is no alarm %s", id)
	}
	return p.Template.Alarms[i]
}

// The alarms that are looked for are the template's, and no others.
func TestAlarmsAreTheTemplates(t *testing.T) {
	p := deploy(t, &deployed{})
	var there []functionOf
	for _, s := range specs.All() {
		there = append(there, functionOf{spec: s})
	}
	var want []string
	for _, a := range p.Template.Alarms {
		want = append(want, a.LogicalID)
	}
	got := alarmIDs(there)
	slices.Sort(got)
	slices.Sort(want)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// An alarm that was made a moment ago, and has no figures, does not ring yet.
func TestNewAlarms(t *testing.T) {
	now := time.Date(2026, 11, 20, 15, 0, 0, 0, time.UTC)
	for name, tt := range map[string]struct {
		alarm Alarm
		want  State
	}{
		"new":              {Alarm{Enabled: true, Actions: []string{"t"}, State: "INSUFFICIENT_DATA", Configured: now}, Well},
		"for silence, new": {Alarm{Enabled: true, SilentActions: []string{"t"}, State: "INSUFFICIENT_DATA", Configured: now.Add(-14 * time.Minute)}, Unknown},
		"for silence":      {Alarm{Enabled: true, SilentActions: []string{"t"}, State: "INSUFFICIENT_DATA", Configured: now.Add(-15 * time.Minute)}, Wrong},
		"well":             {Alarm{Enabled: true, SilentActions: []string{"t"}, State: "OK", Configured: now.Add(-time.Hour)}, Well},
	} {
		if got := alarmState(tt.alarm, now); got.State != tt.want {
			t.Errorf("%s: %+v, want %s", name, got, tt.want)
		}
	}
}

// TestEvidenceUnseen: a bucket that may not be looked at is unknown by the permission, and
// where nothing is kept none is looked for.
func TestEvidenceUnseen(t *testing.T) {
	for state, tt := range map[State]struct {
		p    deployed
		says string
	}{
		Unknown: {deployed{refused: []simaws.FaultRule{{Call: "s3:ListObjectsV2", Deny: true}}}, "s3:ListBucket was refused"},
		Off:     {deployed{settings: map[string]string{"ROLLCALL_EVIDENCE": "off"}}, "none kept"},
	} {
		list := deploy(t, &tt.p).examined(false)
		if !slices.ContainsFunc(findingLines(list, state), func(s string) bool { return strings.HasPrefix(s, "evidence ") && strings.Contains(s, tt.says) }) {
			t.Errorf("%s: %q, want %q", state, findingLines(list, state), tt.says)
		}
	}
}

// privately is a world whose clusters answer in their VPC alone.
func privately(f *worldfile.File) {
	for i := range f.EKS.Clusters {
		f.EKS.Clusters[i].ResourcesVpcConfig.EndpointPublicAccess, f.EKS.Clusters[i].ResourcesVpcConfig.EndpointPrivateAccess = false, true
	}
}

// TestRelays: what can be wrong with the relay of a cluster that answers in its VPC alone.
func TestRelays(t *testing.T) {
	cluster := spoke.Cluster{Name: "eks-workshop"}
	const function = "arn:aws:lambda:us-west-2:111122223333:function:rollcall-relay-eks-workshop"
	tagged := func(tags map[string]string) func(*deployed) error {
		return func(p *deployed) error { p.Deployment.Tag(function, tags); return nil }
	}
	openTo := func(private bool, ranges ...string) func(*worldfile.File) {
		return func(f *worldfile.File) {
			for i := range f.EKS.Clusters {
				vpc := f.EKS.Clusters[i].ResourcesVpcConfig
				vpc.EndpointPublicAccess, vpc.EndpointPrivateAccess, vpc.PublicAccessCidrs = true, private, ranges
			}
		}
	}
	for name, x := range map[string]struct {
		change  func(*worldfile.File)
		want    string
		command string
	}{
		"open to all": {openTo(true, "203.0.113.0/24", "0.0.0.0/0"), "", ""},
		"open to some": {openTo(true, "203.0.113.0/24", "198.51.100.7/32"), "relay rollcall-relay-eks-workshop does not exist, and the public endpoint of the API of eks-workshop is open to 203.0.113.0/24, 198.51.100.7/32 alone:" +
			" its nodes, pods and volumes cannot be read from the functions' addresses, which are AWS's", "make deploy-relay CLUSTER=eks-workshop"},
		"open to some, not within": {openTo(false, "203.0.113.0/24"), "relay rollcall-relay-eks-workshop does not exist, and the public endpoint of the API of eks-workshop is open to 203.0.113.0/24 alone:" +
			" its nodes, pods and volumes cannot be read from the functions' addresses, which are AWS's", "aws eks update-cluster-config --name eks-workshop --resources-vpc-config endpointPrivateAccess=true && make deploy-relay CLUSTER=eks-workshop"},
	} {
		t.Run(name, func(t *testing.T) {
			s, err := stage.Start(t.Context(), stage.Options{
				World: "../../stage/worlds/healthy-nat.yaml", Template: "../../infra/Rollcall.template.json", Rights: "../../deploy/clusterrole.yaml", RelayTemplate: "../../infra/RollcallRelay.template.json", Quiet: true, Still: true, Change: x.change,
			})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(s.Close)
			p := &deployed{Stage: s, t: t, slack: fakeslack.Config{Token: stage.SlackToken, Channels: []fakeslack.Channel{{ID: channel, Name: "eks-oncall"}}}}
			got, command := "", ""
			for _, f := range p.examined(false) {
				if f.Part == "relay" {
					got, command = f.Part+" "+f.Name+" "+f.Says, f.Command
				}
			}
			if got != x.want || !strings.HasPrefix(strings.ReplaceAll(command, "'", ""), x.command) {
				t.Errorf("found %q, %s; want %q, %s", got, command, x.want, x.command)
			}
		})
	}
	for name, x := range map[string]struct {
		settings map[string]string
		deploy   bool
		damage   func(*deployed) error
		state    State
		want     string
		command  string
	}{
		"there": {nil, true, nil, Well, "relay rollcall-relay-eks-workshop present, of this cluster and this release, without a resource policy", ""},
		"not named": {map[string]string{string(config.Relays): "dev"}, true, nil, Wrong,
			"relay rollcall-relay-eks-workshop is not named by the setting relays: one that was used before there was the setting is asked for 30 days from the upgrade, any other is not", "SET=relays=dev,eks-workshop"},
		"not there":      {nil, false, nil, Wrong, "relay rollcall-relay-eks-workshop does not exist, and the API of eks-workshop has a private endpoint only: its nodes, pods and volumes cannot be read", "make deploy-relay CLUSTER="},
		"within the VPC": {map[string]string{string(config.InVPC): "on"}, false, nil, Wrong, "", ""},
		"of another time": {nil, false, func(p *deployed) error {
			return p.DeployRelay(cluster, map[string]string{"ClusterEndpoint": "https://EARLIER.eks.test"})
		}, Wrong, "relay rollcall-relay-eks-workshop is of another cluster than the one that has the name now, and rejects all requests", "make deploy-relay"},
		"cannot run": {nil, true, func(p *deployed) error {
			p.Deployment.FailUpdate(function, "The subnet is gone")
			return nil
		}, Wrong, "relay rollcall-relay-eks-workshop cannot run: The subnet is gone", "make deploy-relay"},
		"of another release": {nil, true, tagged(map[string]string{specs.RelayTag: "0123456789ab"}), Wrong,
			"relay rollcall-relay-eks-workshop is of another release: the requests that it forwards differ from those of this release",
			"make deploy-relay CLUSTER=eks-workshop BUCKET=a-bucket-of-this-region"},
		"of a release that wrote no tag": {nil, true, tagged(map[string]string{"app": "rollcall"}), Wrong,
			"relay rollcall-relay-eks-workshop reports no release: it is an earlier one, and may reject requests of this release",
			"make deploy-relay CLUSTER=eks-workshop BUCKET=a-bucket-of-this-region"},
	} {
		t.Run(name, func(t *testing.T) {
			o := stage.Options{
				World: "../../stage/worlds/healthy-nat.yaml", Template: "../../infra/Rollcall.template.json", Rights: "../../deploy/clusterrole.yaml", RelayTemplate: "../../infra/RollcallRelay.template.json",
				Quiet: true, Still: true, Change: privately, Settings: x.settings,
			}
			if x.deploy {
				o.Relays = []spoke.Cluster{cluster}
			}
			s, err := stage.Start(t.Context(), o)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(s.Close)
			p := &deployed{Stage: s, t: t}
			p.slack = fakeslack.Config{Token: stage.SlackToken, Channels: []fakeslack.Channel{{ID: channel, Name: "eks-oncall"}}}
			if x.damage != nil {
				if err := x.damage(p); err != nil {
					t.Fatal(err)
				}
			}
			var got []string
			command := ""
			for _, f := range p.examined(false) {
				if f.Part == "relay" {
					if f.State != x.state {
						t.Errorf("%s: %s", f.State, f.Says)
					}
					got, command = append(got, f.Part+" "+f.Name+" "+f.Says), f.Command
				}
			}
			var want []string
			if x.want != "" {
				want = []string{x.want}
			}
			if diff := cmp.Diff(want, got); diff != "" || !strings.HasPrefix(strings.ReplaceAll(command, "'", ""), x.command) {
				t.Errorf("command %s (-want +got):\n%s", command, diff)
			}
		})
	}
}

// TestRelayThatMayNotBeRead: what of a relay may not be read is not known, by the name of the
// permission.
func TestRelayThatMayNotBeRead(t *testing.T) {
	s, err := stage.Start(t.Context(), stage.Options{
		World: "../../stage/worlds/healthy-nat.yaml", Template: "../../infra/Rollcall.template.json", Rights: "../../deploy/clusterrole.yaml", RelayTemplate: "../../infra/RollcallRelay.template.json",
		Quiet: true, Still: true, Change: privately, Relays: []spoke.Cluster{{Name: "eks-workshop"}}, CallFaults: []simaws.FaultRule{{Call: "lambda:ListTags", Deny: true}},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	p := &deployed{Stage: s, t: t}
	p.slack = fakeslack.Config{Token: stage.SlackToken, Channels: []fakeslack.Channel{{ID: channel, Name: "eks-oncall"}}}
	list := p.examined(false)
	if diff := cmp.Diff([]string{"relay rollcall-relay-eks-workshop lambda:ListTags was refused"}, findingLines(list, Unknown)); diff != "" || len(findingLines(list, Wrong)) > 0 {
		t.Errorf("wrong %q, not seen (-want +got):\n%s", findingLines(list, Wrong), diff)
	}
}

// TestRelayOfASpoke: it is looked for in the spoke's account, and also where the hub's own
// functions are in a VPC, from where they reach the hub's own clusters alone.
func TestRelayOfASpoke(t *testing.T) {
	cluster := spoke.Cluster{ID: payments, Name: "eks-workshop"}
	const named = "relay rollcall-relay-222233334444/eu-west-1/eks-workshop "
	for name, x := range map[string]struct {
		relays   []spoke.Cluster
		settings map[string]string
		damage   func(*deployed)
		state    State
		want     string
		command  string // of the hub
	}{
		"there": {relays: []spoke.Cluster{cluster}, state: Well, want: named + "present, of this cluster and this release, without a resource policy"},
		"not there": {state: Wrong, settings: map[string]string{string(config.InVPC): "on"},
			want: named + "does not exist, and the API of eks-workshop has a private endpoint only: its nodes, pods and volumes cannot be read"},
		"of another release": {relays: []spoke.Cluster{cluster}, state: Wrong, damage: func(p *deployed) {
			p.SpokeDeployment(payments).Tag("arn:aws:lambda:eu-west-1:222233334444:function:rollcall-relay-eks-workshop", map[string]string{specs.RelayTag: "0123456789ab"})
		}, want: named + "is of another release: the requests that it forwards differ from those of this release"},
		"not named": {relays: []spoke.Cluster{cluster}, state: Wrong, settings: map[string]string{string(config.Relays): "dev"}, command: "SET=relays=dev,222233334444/eu-west-1/eks-workshop",
			want: named + "is not named by the setting relays: one that was used before there was the setting is asked for 30 days from the upgrade, any other is not"},
	} {
		t.Run(name, func(t *testing.T) {
			settings := watching(nil).settings
			maps.Copy(settings, x.settings)
			s, err := stage.Start(t.Context(), stage.Options{
				World: "../../stage/worlds/healthy-nat.yaml", Template: "../../infra/Rollcall.template.json", Rights: "../../deploy/clusterrole.yaml", RelayTemplate: "../../infra/RollcallRelay.template.json",
				SpokeTemplate: "../../infra/RollcallSpoke.template.json", Spokes: []stage.Spoke{{ID: payments, World: "../../stage/worlds/route.yaml", Change: privately}},
				Quiet: true, Still: true, Settings: settings, Relays: x.relays,
			})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(s.Close)
			p := &deployed{Stage: s, t: t}
			p.slack = fakeslack.Config{Token: stage.SlackToken, Channels: []fakeslack.Channel{{ID: channel, Name: "eks-oncall"}}}
			if x.damage != nil {
				x.damage(p)
			}
			var got []string
			for _, f := range p.examined(false) {
				if f.Part == "relay" {
					there := strings.Contains(f.Do, "with credentials of account 222233334444")
					if got = append(got, f.Part+" "+f.Name+" "+f.Says); f.State != x.state || f.State == Wrong && there == (x.command != "") || x.command != "" && f.Command != x.command {
						t.Errorf("%s, to do is %q, %s", f.State, f.Do, f.Command)
					}
				}
			}
			if diff := cmp.Diff([]string{x.want}, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// older takes something out of the roles that are installed.
func (p *deployed) older(without string) {
	p.t.Helper()
	manifest, err := os.ReadFile("../../deploy/clusterrole.yaml")
	if err != nil || !strings.Contains(string(manifest), without) {
		p.t.Fatalf("%v: the manifest has no %q", err, without)
	}
	with := ""
	if strings.Contains(without, "name: rollcall") {
		with = strings.Replace(without, "name: rollcall", "name: others", 1)
	}
	p.must(nil, p.RBAC.Replace([]byte(strings.Replace(string(manifest), without, with, 1))))
}

// What the cluster does not let the caller see is not known, and named.
func TestRightsThatMayNotBeRead(t *testing.T) {
	for _, call := range []string{"list clusterrolebindings", "list rolebindings", "get clusterroles", "get roles"} {
		t.Run(call, func(t *testing.T) {
			t.Parallel()
			p := deploy(t, &deployed{refused: []simaws.FaultRule{{Call: "kubernetes:" + call, Deny: true}}})
			list := p.examined(false)
			want := []string{"ClusterRole eks-workshop " + call + ".rbac.authorization.k8s.io was refused"}
			if diff := cmp.Diff(want, findingLines(list, Unknown)); diff != "" || len(findingLines(list, Wrong)) > 0 {
				t.Errorf("wrong %q, not seen (-want +got):\n%s", findingLines(list, Wrong), diff)
			}
		})
	}
}

// A right is given by a rule of its group, its namespace and its name.
func TestMissing(t *testing.T) {
	list := right{"", "", "nodes", "list", ""}
	one := right{"kube-system", "", "configmaps", "get", "aws-auth"}
	for name, tt := range map[string]struct {
		want  right
		grant grant
		given bool
	}{
		"the rule":               {list, grant{"", []string{""}, []string{"nodes"}, []string{"list"}, nil}, true},
		"everything":             {one, grant{"", []string{"*"}, []string{"*"}, []string{"*"}, nil}, true},
		"another verb":           {list, grant{"", []string{""}, []string{"nodes"}, []string{"get"}, nil}, false},
		"another group":          {list, grant{"", []string{"apps"}, []string{"nodes"}, []string{"list"}, nil}, false},
		"another kind":           {list, grant{"", []string{""}, []string{"pods"}, []string{"list"}, nil}, false},
		"in a namespace alone":   {list, grant{"kube-system", []string{""}, []string{"nodes"}, []string{"list"}, nil}, false},
		"of some names alone":    {list, grant{"", []string{""}, []string{"nodes"}, []string{"list"}, []string{"a"}}, false},
		"in its namespace":       {one, grant{"kube-system", []string{""}, []string{"configmaps"}, []string{"get"}, []string{"aws-auth"}}, true},
		"another one's name":     {one, grant{"kube-system", []string{""}, []string{"configmaps"}, []string{"get"}, []string{"coredns"}}, false},
		"in all namespaces, all": {one, grant{"", []string{""}, []string{"configmaps"}, []string{"get"}, nil}, true},
	} {
		if got := missing([]right{tt.want}, []grant{tt.grant}); (len(got) == 0) != tt.given {
			t.Errorf("%s: missing %q, want given %t", name, got, tt.given)
		}
	}
}

// The manifests to paste are ones that Slack knows (slack-go's types are of its reference),
// and an app made of one has every scope that is asked for, and no more.
func TestSlackAppManifest(t *testing.T) {
	plain := manifestOf(t, "slack-app.yaml", config.Config{Approvers: []string{"S0ONCALL01"}}, 5)
	acting := manifestOf(t, "slack-app-actions.yaml", config.Config{Approvers: []string{"S0ONCALL01"}, SlackActions: true}, 7)
	if plain.Display != acting.Display || plain.Features.BotUser != acting.Features.BotUser {
		t.Error("the two are not the same app")
	}
	if len(plain.Features.SlashCommands) > 0 || plain.Settings.Interactivity.IsEnabled || plain.Settings.EventSubscriptions != nil {
		t.Error("an app without an address is asked for one")
	}
	// Slack sends buttons, commands and events to three addresses, which are one of ours.
	c, e := acting.Features.SlashCommands, acting.Settings.EventSubscriptions
	if len(c) != 1 || e == nil || c[0].Url == "" || c[0].Url != acting.Settings.Interactivity.RequestUrl || c[0].Url != e.RequestUrl || !acting.Settings.Interactivity.IsEnabled {
		t.Errorf("commands %+v, events %+v, interactivity %+v", c, e, acting.Settings.Interactivity)
	}
	if c[0].Command != fakeslack.CommandName || c[0].ShouldEscape || len(c[0].Description) > 2000 || len(c[0].UsageHint) > 1000 {
		t.Errorf("the command is %+v", c[0])
	}
	if !slices.Equal(e.BotEvents, []string{interaction.HomeOpened}) || !acting.Features.AppHome.HomeTabEnabled {
		t.Errorf("events %q, home page %+v", e.BotEvents, acting.Features.AppHome)
	}
	missing := scopesOf(config.Config{SlackActions: true}, plain.OAuthConfig.Scopes.Bot, "")
	if len(missing) != 2 || missing[0].State != Wrong || missing[0].Name != "users:read" || missing[1].Name != "commands" {
		t.Errorf("found %+v, want that the command's scopes are missing", missing)
	}
}

// manifestOf reads a manifest strictly, and holds it against the settings.
func manifestOf(t *testing.T, name string, cfg config.Config, scopes int) slackgo.Manifest {
	t.Helper()
	text := testfile.Read(t, "../../deploy/"+name)
	var any map[string]any
	if err := yaml.Unmarshal(text, &any); err != nil {
		t.Fatal(err)
	}
	raw := testfile.JSON(t, any)
	var m slackgo.Manifest
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	if err := d.Decode(&m); err != nil {
		t.Fatal(err)
	}
	// A name has 35 characters at most, a description 140 (docs.slack.dev, app manifest
	// reference).
	if n := len(m.Display.Name); n == 0 || n > 35 || len(m.Display.Description) > 140 {
		t.Errorf("name %q, description %q", m.Display.Name, m.Display.Description)
	}
	found := scopesOf(cfg, m.OAuthConfig.Scopes.Bot, "")
	if len(found) != 1 || found[0].State != Well {
		t.Errorf("found %+v", found)
	}
	if has := m.OAuthConfig.Scopes.Bot; len(has) != scopes {
		t.Errorf("scopes %q, want no more than are used", has)
	}
	return m
}

// payments is another account and region that the deployment of the tests watches.
var payments = spoke.ID{Account: "222233334444", Region: "eu-west-1"}

// watching is a deployment that watches it.
func watching(change func(*deployed)) *deployed {
	p := &deployed{
		spokes:   []stage.Spoke{{ID: payments, World: "../../stage/worlds/route.yaml"}},
		settings: map[string]string{"ROLLCALL_SPOKES": "111122223333/us-west-2=shop," + payments.String() + "=payments", "ROLLCALL_EXTERNAL_ID": stage.SpokeExternalID},
	}
	if change != nil {
		change(p)
	}
	return p
}

// elsewhere opens the other account for a person who has credentials of it.
func (p *deployed) elsewhere(_ context.Context, id spoke.ID) (Elsewhere, error) {
	if p.outsider {
		return Elsewhere{}, ErrNoWay
	}
	cfg := p.AsAdminIn(id)
	cfg.Retryer = func() aws.Retryer { return retry.AddWithMaxAttempts(retry.NewStandard(), 1) }
	e := NewElsewhere(cfg)
	e.Kubernetes = func(ctx context.Context, of Cluster) (Kubernetes, error) {
		token, err := kube.Token(ctx, sts.NewPresignClient(sts.NewFromConfig(cfg)), of.Name)
		if err != nil {
			return nil, err
		}
		return kube.NewVia(p.HTTPClient().Transport, of.Endpoint, of.CA, token)
	}
	return e, nil
}

// spokeRule is the ARN of a rule of the spoke.
func (p *deployed) spokeRule(begin string) string {
	p.t.Helper()
	for _, r := range p.SpokeTemplate(payments).Rules {
		if strings.HasPrefix(r.LogicalID, begin) {
			return r.ARN
		}
	}
	p.t.Fatalf("there is no rule %s", begin)
	return ""
}

// copyOf is the ARN of a copy of the hub's rules on the bus of spokes.
func (p *deployed) copyOf(begin string) string {
	arn := strings.Replace(p.rule(begin).ARN, ":rule/", ":rule/"+stage.SpokesBus+"/", 1)
	i := strings.LastIndex(arn, "Rule")
	return arn[:i] + "OfSpokes" + arn[i:]
}

// reader is the role that the spoke's clusters let in.
func readerThere() *string {
	return aws.String("arn:aws:iam::" + payments.Account + ":role/rollcall-reader-" + payments.Region)
}

// Where nothing is wrong with a spoke nothing is found, its clusters are looked at too, and
// the table at the end says whose each cluster is.
func TestSpokeIsWell(t *testing.T) {
	p := deploy(t, watching(nil))
	list := p.examined(false)
	if healthy, whole := Healthy(list); !healthy || !whole {
		t.Fatalf("found\n%s\nnot seen\n%s",
			strings.Join(findingLines(list, Wrong), "\n"), strings.Join(findingLines(list, Unknown), "\n"))
	}
	for _, want := range []string{
		"spoke payments (222233334444/eu-west-1) trusts the hub, and forwards to it", "event bus rollcall-spokes accepts events of the spokes",
		"cluster 222233334444/eu-west-1/eks-workshop reader has access", "cluster eks-workshop reader has access", "ClusterRole 222233334444/eu-west-1/eks-workshop grants what this release reads",
	} {
		if !slices.Contains(findingLines(list, Well), want) {
			t.Errorf("of what is well there is\n%s\nwant %s", strings.Join(findingLines(list, Well), "\n"), want)
		}
	}
	var b strings.Builder
	if err := Print(&b, list); err != nil {
		t.Fatal(err)
	}
	want := `
   CLUSTER       ACCOUNT       REGION     NAME
✓  eks-workshop  222233334444  eu-west-1  payments
✓  eks-workshop  111122223333  us-west-2  shop
`
	if !strings.HasSuffix(b.String(), want) {
		t.Errorf("it ends with\n%s\nwant\n%s", b.String()[max(0, b.Len()-400):], want)
	}
}

// Whatever is wrong with a spoke is found by its name, with what to do, and nothing else is
// found.
func TestEachThingThatCanBeWrongWithASpoke(t *testing.T) {
	const named = "spoke payments (222233334444/eu-west-1) "
	optedIn := map[string]string{string(config.Cleanup): payments.Qualify("eks-workshop") + "=delete"}
	remedied := map[string]string{string(config.Remedies): payments.Qualify("eks-workshop") + "/add-nat-route=approve", string(config.RemedyVPCs): "vpc-0a1b2c3d4e5f60718"}
	entry := func(p *deployed, group ...string) {
		client := eks.NewFromConfig(p.AsAdminIn(payments))
		p.must(client.DeleteAccessEntry(p.t.Context(), &eks.DeleteAccessEntryInput{ClusterName: aws.String("eks-workshop"), PrincipalArn: readerThere()}))
		if group != nil {
			p.must(client.CreateAccessEntry(p.t.Context(), &eks.CreateAccessEntryInput{ClusterName: aws.String("eks-workshop"), PrincipalArn: readerThere(), KubernetesGroups: group}))
		}
	}
	for name, tt := range map[string]struct {
		deployed func(*deployed)
		damage   func(*deployed)
		want     []string
		do       string
	}{
		"its stack is not there": {damage: func(p *deployed) { p.LoseSpoke(payments) },
			want: []string{named + "its stack does not exist: there is no role rollcall-reader-eu-west-1, and nothing of it is watched"},
			do:   "make deploy-spoke HUB='111122223333/us-west-2' EXTERNAL_ID='" + stage.SpokeExternalID + "'"},
		"it trusts another hub": {damage: func(p *deployed) { p.must(nil, p.Redeploy(payments, map[string]string{"HubAccount": "999999999999"})) },
			want: []string{named + "its role rollcall-reader-eu-west-1 does not trust the hub: it trusts 999999999999, and the hub is 111122223333", named + "none of its 11 rules exists and forwards to this hub's bus"}, do: "make deploy-spoke HUB="},
		"it wants another external id": {damage: func(p *deployed) {
			p.must(nil, p.Redeploy(payments, map[string]string{"ExternalId": "another-customer"}))
		},
			want: []string{named + "its role rollcall-reader-eu-west-1 does not trust the hub: it wants another external id than the hub's setting externalId"}, do: "make deploy-spoke HUB="},
		"it is of a hub in another region": {damage: func(p *deployed) { p.must(nil, p.Redeploy(payments, map[string]string{"HubRegion": "us-east-1"})) },
			want: []string{named + "none of its 11 rules exists and forwards to this hub's bus"}, do: "make deploy-spoke HUB="},
		"its rules are gone, but one": {damage: func(p *deployed) {
			for _, r := range p.SpokeTemplate(payments).Rules[1:] {
				p.SpokeDeployment(payments).Delete(r.ARN)
			}
		}, want: slices.Repeat([]string{named + "its rule Forward"}, 10), do: "make deploy-spoke HUB="},
		"a rule is gone": {damage: func(p *deployed) {
			p.SpokeDeployment(payments).Delete(p.spokeRule("ForwardLaunchWatchRunningRule"))
		}, want: []string{named + "its rule ForwardLaunchWatchRunningRule does not exist, or does not forward to this hub's bus. "}, do: "make deploy-spoke HUB="},
		"a rule is disabled": {damage: func(p *deployed) {
			p.SpokeDeployment(payments).Disable(p.spokeRule("ForwardLaunchWatchLaunchesRule"))
		}, want: []string{"ForwardLaunchWatchLaunchesRule"}, do: "aws events enable-rule --region 'eu-west-1' --name '"},
		"it is of another release": {damage: func(p *deployed) {
			p.SpokeDeployment(payments).Tag(*readerThere(), map[string]string{specs.SpokeTag: "0123456789ab"})
		}, want: []string{named + "its stack is of another release: "}, do: "make deploy-spoke HUB="},
		"it is of a release that wrote no tag": {damage: func(p *deployed) { p.SpokeDeployment(payments).Tag(*readerThere(), nil) },
			want: []string{named + "its stack is of another release: "}, do: "make deploy-spoke HUB="},
		"it does not know a function": {damage: func(p *deployed) {
			p.SpokeDeployment(payments).Distrust(*readerThere(), roleOf(p, "sweep"))
		}, want: []string{named + "its role rollcall-reader-eu-west-1 does not trust the hub: it does not know rollcall-sweep"}, do: "make deploy-spoke HUB="},
		"the region is not enabled": {damage: func(p *deployed) { p.DisableRegion(payments, true) },
			want: []string{named + "the region eu-west-1 is not enabled in account 222233334444: nothing of it can be watched"}, do: "aws account enable-region --region-name 'eu-west-1'"},
		"the hub's bus does not take it in": {damage: func(p *deployed) {
			p.Deployment.AddBus(stage.SpokesBus, `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Principal":{"AWS":"arn:aws:iam::333344445555:root"},"Action":"events:PutEvents","Resource":"*"}]}`)
		}, want: []string{"event bus rollcall-spokes does not accept events of payments (222233334444/eu-west-1)"}, do: "make deploy"},
		"the hub has no such bus": {damage: func(p *deployed) { p.Deployment.AddBus(stage.SpokesBus, "") },
			want: []string{"event bus rollcall-spokes does not exist: "}, do: "make deploy"},
		"a copy of a rule is gone": {damage: func(p *deployed) { p.Deployment.Delete(p.copyOf("LaunchWatchRunningRule")) },
			want: []string{"rule LaunchWatchRunningOfSpokesRule does not exist, or does not target rollcall-launch-watch. It is for what spokes forward. "}, do: "make deploy"},
		"a copy of a rule leads nowhere": {damage: func(p *deployed) {
			p.Deployment.ChangeRule(p.copyOf("LaunchWatchRunningRule"), func(r *template.Rule) { r.Targets = nil })
		}, want: []string{"rule LaunchWatchRunningOfSpokesRule does not exist, or does not target rollcall-launch-watch. It is for what spokes forward. "}, do: "make deploy"},
		"a copy of a rule is disabled": {damage: func(p *deployed) { p.Deployment.Disable(p.copyOf("LaunchWatchLaunchesRule")) },
			want: []string{" is disabled. It is for what spokes forward. "}, do: " --event-bus-name 'rollcall-spokes'"},
		"a copy of a rule has another pattern": {damage: func(p *deployed) {
			p.Deployment.ChangeRule(p.copyOf("LaunchWatchLaunchesRule"), func(r *template.Rule) { r.Pattern = []byte(`{"source":["aws.autoscaling"]}`) })
		}, want: []string{" has another pattern than this release's. It is for what spokes forward. "}, do: " --event-bus-name 'rollcall-spokes' --event-pattern '{"},
		"a cluster does not let the reader in": {damage: func(p *deployed) { entry(p) },
			want: []string{"access entry 222233334444/eu-west-1/eks-workshop rollcall-reader-eu-west-1 there is none for the role rollcall-reader-eu-west-1"},
			do:   "aws eks create-access-entry --region 'eu-west-1' --cluster-name 'eks-workshop' --principal-arn 'arn:aws:iam::222233334444:role/rollcall-reader-eu-west-1'"},
		"its stack was deleted and deployed again": {damage: func(p *deployed) {
			p.LoseSpoke(payments)
			p.must(nil, p.Redeploy(payments, nil))
			p.SpokeDeployment(payments).Remake("arn:aws:iam::222233334444:role/rollcall-reader-eu-west-1", p.Clock.Now().Add(time.Hour))
		}, want: []string{"access entry 222233334444/eu-west-1/eks-workshop rollcall-reader-eu-west-1 it is of 2026-"}, do: "aws eks delete-access-entry --region 'eu-west-1' --cluster-name 'eks-workshop'"},
		"a cluster lets the reader read nothing": {damage: func(p *deployed) { entry(p, "others") },
			want: []string{"access entry 222233334444/eu-west-1/eks-workshop rollcall-reader-eu-west-1 it gives the role "}, do: "with credentials of account 222233334444"},
		"a cluster that is not there": {deployed: func(p *deployed) { p.settings[string(config.Clusters)] = "eks-workshop," + payments.Qualify("staging") },
			want: []string{"cluster 222233334444/eu-west-1/staging does not exist, and the setting clusters names it"}, do: "make deploy"},
		"opted in to deletes at the hub alone": {deployed: func(p *deployed) { p.settings[string(config.Cleanup)] = optedIn[string(config.Cleanup)] },
			want: []string{named + "a cluster of it has opted in at the hub (cleanup), and there is no role rollcall-cleaner-eu-west-1 there: none of it takes effect"},
			do:   `SPOKE='222233334444/eu-west-1' SET="cleanup=222233334444/eu-west-1/eks-workshop=delete"`},
		"opted in to remedies at the hub alone": {deployed: func(p *deployed) {
			for k, v := range remedied {
				p.settings[k] = v
			}
		}, want: []string{named + "a cluster of it has opted in at the hub (remedies), and there is no role rollcall-remediator-eu-west-1 there: none of it takes effect"},
			do: `SPOKE='222233334444/eu-west-1' SET="remedies=`},
		"opted in to deletes in the spoke alone": {deployed: func(p *deployed) { p.spokes[0].OptedIn = optedIn },
			want: []string{named + "it has a role rollcall-cleaner-eu-west-1 that changes things, and no cluster of it has opted in at the hub (cleanup)"}, do: "make deploy-spoke HUB="},
		"opted in to remedies in the spoke alone": {deployed: func(p *deployed) { p.spokes[0].OptedIn = remedied },
			want: []string{named + "it has a role rollcall-remediator-eu-west-1 that changes things, and no cluster of it has opted in at the hub (remedies)"}, do: "make deploy-spoke HUB="},
		"the hub is out of its organization": {deployed: func(p *deployed) { p.spokes[0].Organization = "o-a1b2c3d4e5" }, damage: func(p *deployed) { p.cannotLook() },
			want: []string{named + "cannot read this account and region: sts:AssumeRole of Rollcall's role there is denied, since 2001-09-09 01:46 UTC"}, do: "the account has left the organization"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := deploy(t, watching(tt.deployed))
			if tt.damage != nil {
				tt.damage(p)
			}
			list := p.examined(false)
			wrong := findingLines(list, Wrong)
			if len(wrong) != len(tt.want) || len(findingLines(list, Unknown)) > 0 {
				t.Fatalf("found\n%s\nnot seen\n%s\nwant %q", strings.Join(wrong, "\n"), strings.Join(findingLines(list, Unknown), "\n"), tt.want)
			}
			for i, want := range tt.want {
				if !strings.Contains(wrong[i], want) {
					t.Errorf("found %q, want %q in it", wrong[i], want)
				}
			}
			for _, f := range list {
				if f.State == Wrong && !strings.Contains(f.Do+" "+f.Command, tt.do) {
					t.Errorf("to do is %q %q, want %q in it", f.Do, f.Command, tt.do)
				}
			}
		})
	}
}

// What of the hub may not be read about spokes is not known, by the name of the permission.
func TestBusThatMayNotBeRead(t *testing.T) {
	const action = "events:DescribeEventBus"
	p := deploy(t, watching(func(p *deployed) { p.refused = []simaws.FaultRule{{Call: action, Deny: true}} }))
	list := p.examined(false)
	if diff := cmp.Diff([]string{"event bus rollcall-spokes " + action + " was refused"}, findingLines(list, Unknown)); diff != "" || len(findingLines(list, Wrong)) > 0 {
		t.Errorf("wrong %q, not seen (-want +got):\n%s", findingLines(list, Wrong), diff)
	}
}

// What was opted in to on both sides is well.
func TestSpokeThatOptedIn(t *testing.T) {
	chosen := map[string]string{
		string(config.Cleanup): payments.Qualify("eks-workshop") + "=delete", string(config.RemedyVPCs): "vpc-0a1b2c3d4e5f60718",
		string(config.Remedies): payments.Qualify("eks-workshop") + "/add-nat-route=approve",
	}
	p := deploy(t, watching(func(p *deployed) {
		p.spokes[0].OptedIn = chosen
		for k, v := range chosen {
			p.settings[k] = v
		}
	}))
	if list := p.examined(false); len(findingLines(list, Wrong))+len(findingLines(list, Unknown)) > 0 {
		t.Errorf("found %q, not seen %q", findingLines(list, Wrong), findingLines(list, Unknown))
	}
}

// Without credentials of the account what is deployed there is not known, and how it could be
// is said; that the hub is not let in is known all the same.
func TestSpokeWithoutCredentials(t *testing.T) {
	p := deploy(t, watching(func(p *deployed) { p.outsider = true }))
	list := p.examined(false)
	want := []string{"spoke payments (222233334444/eu-west-1) its deployment was not checked: no credentials of that account were given"}
	if diff := cmp.Diff(want, findingLines(list, Unknown)); diff != "" || len(findingLines(list, Wrong)) > 0 {
		t.Errorf("wrong %q, not seen (-want +got):\n%s", findingLines(list, Wrong), diff)
	}
	for _, f := range list {
		if f.State == Unknown && !strings.Contains(f.Do, "--spoke-role") {
			t.Errorf("to do is %q", f.Do)
		}
	}
	if got := rows(list); len(got) != 2 || got[0] != (clusterRow{"eks-workshop", "111122223333", "us-west-2", "shop", Well}) || got[1] != (clusterRow{unlooked, payments.Account, payments.Region, "payments", Unknown}) {
		t.Errorf("the table has %+v", got)
	}
	p.cannotLook()
	if wrong := findingLines(p.examined(false), Wrong); len(wrong) != 1 || !strings.Contains(wrong[0], "Rollcall's role there is denied, since 2001-09-09 01:46 UTC") {
		t.Errorf("found %q", wrong)
	}
}

// cannotLook is the hub's own record that the spoke does not let it in.
func (p *deployed) cannotLook() {
	p.t.Helper()
	s := store.New(dynamodb.NewFromConfig(p.AsAdmin()), p.Template.Tables[0].Name).ForSpoke(payments)
	p.must(s.SaveIncident(p.t.Context(), incident.Incident{
		Key: report.Key{Cluster: report.AllClusters, Check: incident.CannotLook, Resource: report.AssumeRole, Spoke: payments}, State: incident.Open, Began: time.Unix(1e9, 0),
		Cause: diagnosis.Cause{Title: "cannot read this account and region: sts:AssumeRole of Rollcall's role there is denied", Fix: finding.Fix{Text: "Deploy it again, or the account has left the organization."}},
	}))
}

// A cluster of a spoke that does not let the hub in is not well, however it is itself.
func TestClustersOfABrokenSpoke(t *testing.T) {
	list := []Finding{
		{Part: "cluster", State: Well, Cluster: "prod", Account: "1", Region: "r"}, {Part: "access entry", State: Unknown, Cluster: "dev", Account: "1", Region: "r"},
		{Part: "cluster", State: Well, Cluster: "prod", Account: "2", Region: "r"}, {Part: "spoke", State: Wrong, Account: "1", Region: "r"}, {Part: "spoke", State: Well, Account: "2", Region: "r"},
	}
	want := []clusterRow{{"prod", "1", "r", "", Wrong}, {"dev", "1", "r", "", Wrong}, {"prod", "2", "r", "", Well}}
	if diff := cmp.Diff(want, rows(list), cmp.AllowUnexported(clusterRow{})); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// A role's form matches roles of a function, and none of another account or name.
func TestFits(t *testing.T) {
	const form = "arn:aws:iam::111122223333:role/Rollcall-SweepRole*"
	for arn, want := range map[string]bool{
		"arn:aws:iam::111122223333:role/Rollcall-SweepRole1A2B-3C": true, "arn:aws:iam::999999999999:role/Rollcall-SweepRole1A2B-3C": false,
		"arn:aws:iam::111122223333:role/Rollcall-ReportRole1A2B-3C": false, "arn:aws:iam::111122223333:role/Rollcall-SweepRole1/x": false,
	} {
		if got := fits(form, arn); got != want {
			t.Errorf("%s: %t", arn, got)
		}
	}
}

// Without a Slack app nothing of Slack is missing, and it says what an incoming webhook cannot do.
func TestFirstLook(t *testing.T) {
	p := deploy(t, &deployed{
		settings: map[string]string{string(config.Channel): config.NoChannel, string(config.SlackActions): "off", string(config.Targets): "slackwebhook=hook,slackwebhook=flow"},
		targets:  map[string]string{"hook": "https://hooks.slack.com/services/T0A1B2C3D/B0A1B2C3D/s3cr3t", "flow": "https://hooks.slack.com/triggers/T0A1B2C3D/1/s3cr3t"},
	})
	var got []string
	for _, state := range []State{Well, Wrong, Unknown} {
		for _, l := range findingLines(p.examined(false), state) {
			if strings.HasPrefix(l, "target ") || strings.HasPrefix(l, "Slack ") && !strings.HasPrefix(l, "Slack signing secret") {
				got = append(got, l)
			}
		}
	}
	want := []string{
		"Slack app not used (slackChannel=none): targets get all messages, without buttons, threads, edits and pictures",
		"target slackwebhook=hook its secret has the required form; an incoming webhook has no buttons, threads or edits, for which it needs the Slack app (docs/install.md)",
		"target slackwebhook=flow its secret holds no incoming webhook: that is https://hooks.slack.com/services/T…/B…/…",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// Each target's secret is looked at, and none is in what is found; a test message goes on
// the bus once, for all of them.
func TestTargets(t *testing.T) {
	const key = "e93facc04764012d7bfb002500d5d1a6"
	p := deploy(t, &deployed{
		settings: map[string]string{string(config.Targets): "sns,pagerduty=pd,pagerduty=pd-back,pagerduty=pd-of-another,teams=t,webhook=w,webhook=short,teams=none-yet"},
		targets: map[string]string{
			"pd": key, "pd-back": `{"key":"` + key + `","apiToken":"u+` + key + `"}`, "pd-of-another": key + "x", "t": "https://prod.westus.logic.azure.com/?sig=" + key, "w": `{"url":"http://hooks.example.com","key":"` + key + `"}`,
			"short": `{"url":"https://hooks.example.com","key":"x"}`,
		},
	})
	list := p.examined(true)
	about := func(s State) (lines []string) {
		for _, l := range findingLines(list, s) {
			if strings.HasPrefix(l, "target ") || strings.HasPrefix(l, "test message targets") {
				lines = append(lines, l)
			}
		}
		return lines
	}
	want := []string{
		"target pagerduty=pd-of-another its secret is not a routing key, which has 32 characters",
		"target webhook=w the address in its secret: is not an https address, or contains a user name or password",
		"target webhook=short the key in its secret is shorter than 32 characters",
		"target teams=none-yet its secret is empty",
	}
	if diff := cmp.Diff(want, about(Wrong)); diff != "" {
		t.Error(diff)
	}
	if well := about(Well); len(well) != 5 || !strings.Contains(well[1], "do not come back") || !strings.HasSuffix(well[2], "; acknowledgements made there come back within five minutes") || !strings.HasPrefix(well[4], "test message targets published") {
		t.Errorf("well: %q", well)
	}
	if strings.Contains(fmt.Sprint(list), key) {
		t.Error("a secret is in what is found")
	}
	events := p.Events()
	if len(events) != 1 || events[0].Bus != "rollcall" {
		t.Fatalf("events %v", events)
	}
	if n, err := message.Parse(events[0].Event); err != nil || n.Type != message.Test || !strings.Contains(n.Words.Headline, p.Template.AccountID) {
		t.Errorf("on the bus is %+v, %v", n, err)
	}
	schemas, err := samples.ReadSchemas("../../events/schema")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := schemas.Validate(events[0].Event); err != nil {
		t.Error(err)
	}
}
