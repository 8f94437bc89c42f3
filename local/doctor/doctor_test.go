package doctor

import (
	"context"
	"fmt"
	"net/http"
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

	"rollcall/infra/specs"
	"rollcall/local/fakeslack"
	"rollcall/local/platform/template"
	"rollcall/local/simaws"
	"rollcall/local/simaws/cloudwatch"
	"rollcall/local/stage"
	"rollcall/shared/config"
	"rollcall/shared/kube"
	"rollcall/shared/outbox"
	"rollcall/shared/spec"
	"rollcall/shared/store"
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
		World: "../worlds/healthy-nat.yaml", Template: "../../infra/Rollcall.template.json", Rights: "../../deploy/clusterrole.yaml",
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

// of are the findings of a state, a line each.
func of(list []Finding, s State) []string {
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
		t.Errorf("found\n%s\nnot seen\n%s", strings.Join(of(list, Wrong), "\n"), strings.Join(of(list, Unknown), "\n"))
	}
	count := map[string]int{}
	for _, f := range list {
		count[f.Part]++
	}
	want := map[string]int{
		"function": 13, "queue": 7, "rule": 26, "dead letters": 1, "table": 1, "Slack token": 1, "Slack scope": 1, "Slack channel": 1, "Slack signing secret": 1, "cluster": 1,
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
			want: []string{"function rollcall-zone-watch is not there: "}, do: "make deploy"},
		"an update failed": {damage: func(p *deployed) { p.Deployment.FailUpdate(p.function("join-check").ARN, "InvalidRuntime") },
			want: []string{"function rollcall-join-check its last update failed: InvalidRuntime"}, do: "make deploy"},
		"a role is gone": {damage: func(p *deployed) { p.Deployment.Delete(roleOf(p, "subnet-watch")) },
			want: []string{"role "}, do: "make deploy"},
		"a queue wakes nobody": {damage: func(p *deployed) { p.Deployment.Disable(p.mapping("report")) },
			want: []string{"queue rollcall-results.fifo does not wake rollcall-report: its event source mapping is disabled"}, do: "aws lambda update-event-source-mapping --uuid '"},
		"a mapping is gone": {damage: func(p *deployed) { p.Deployment.Delete(p.mapping("remediate")) },
			want: []string{"queue rollcall-remediate no queue wakes it"}, do: "make deploy"},
		"a rule is disabled": {damage: func(p *deployed) { p.Deployment.Disable(p.rule("JoinCheckLaunchesRule").ARN) },
			want: []string{"JoinCheckLaunchesRule"}, do: "aws events enable-rule --name '"},
		"a rule of the own bus is disabled": {damage: func(p *deployed) { p.Deployment.Disable(p.rule("RemediateIncidentsRule").ARN) },
			want: []string{"RemediateIncidentsRule"}, do: " --event-bus-name 'rollcall'"},
		"a rule has another pattern": {damage: func(p *deployed) {
			p.Deployment.ChangeRule(p.rule("JoinCheckLaunchesRule").ARN, func(r *template.Rule) { r.Pattern = []byte(`{"source":["aws.ec2"]}`) })
		}, want: []string{" has another pattern than this release's. "}, do: "make deploy"},
		"a schedule is gone": {damage: func(p *deployed) { p.Deployment.Delete(p.rule("SweepTickSchedule").ARN) },
			want: []string{"rule SweepTickSchedule is not there, or does not lead to rollcall-sweep. "}, do: "make deploy"},
		"the bus is gone": {damage: func(p *deployed) { p.Deployment.Delete(p.Template.Buses[0].ARN) },
			want: []string{"event bus rollcall is not there: "}, do: "make deploy"},
		"the bucket of the evidence is gone": {damage: func(p *deployed) { p.S3.Remove(p.Template.S3Buckets[0].Name) },
			want: []string{"evidence rollcall-evidence4cc26d68 the bucket is not there: nothing can be replayed"}, do: "make deploy"},
		"dead letters": {damage: func(p *deployed) { p.must(nil, p.Queues.SendText(p.queue("rollcall-joins-dead"), "{}", nil)) },
			want: []string{"dead letters rollcall-joins-dead holds 1"}, do: "make redrive MOVE=1"},
		"events that failed": {damage: func(p *deployed) { p.must(nil, p.Queues.SendText(p.queue("rollcall-failed"), "{}", nil)) },
			want: []string{"dead letters rollcall-failed holds 1"}, do: "aws sqs purge-queue --queue-url "},
		"no token": {damage: func(p *deployed) { p.secret(config.SlackSecretARN, "") },
			want: []string{"the secret is empty: put the bot token"}, do: "put-secret-value --secret-id '"},
		"another kind of token": {damage: func(p *deployed) { p.secret(config.SlackSecretARN, "xoxp-1234567890") },
			want: []string{"the secret holds another kind of Slack token"}, do: "put-secret-value --secret-id '"},
		"a token that Slack does not know": {deployed: deployed{slack: fakeslack.Config{Token: "xoxb-another-one"}},
			want: []string{"Slack does not take it: invalid_auth"}, do: "put-secret-value --secret-id '"},
		"a scope is missing": {deployed: deployed{slack: fakeslack.Config{Scopes: []string{"chat:write", "channels:history", "users:read", "commands"}}},
			want: []string{"Slack scope files:write the token does not have it; it is for pictures of reports"}, do: "put-secret-value --secret-id '"},
		"groups approve, and nobody can tell who is in them": {
			deployed: deployed{settings: map[string]string{string(config.Approvers): "S0ONCALL01"}, slack: fakeslack.Config{Scopes: []string{"chat:write", "channels:history", "files:write", "users:read", "commands"}}},
			want:     []string{"Slack scope usergroups:read the token does not have it; it is for to tell who is in the groups that may approve"}, do: "api.slack.com/apps"},
		"the app is not in the channel": {deployed: deployed{slack: fakeslack.Config{Channels: []fakeslack.Channel{{ID: channel, Name: "eks-oncall", BotAbsent: true}}}},
			want: []string{"Slack channel " + channel + " the app is not in it"}, do: "/invite @Rollcall"},
		"another channel": {deployed: deployed{slack: fakeslack.Config{Channels: []fakeslack.Channel{{ID: "C0OTHER0001", Name: "other"}}}},
			want: []string{"Slack channel " + channel + " there is no such channel"}, do: "/invite @Rollcall"},
		"no signing secret": {damage: func(p *deployed) { p.secret(config.SigningARN, "") },
			want: []string{"is not there: each press of a button is refused"}, do: "put-secret-value --secret-id '"},
		"the reader is gone": {damage: func(p *deployed) { p.Deployment.Delete(*p.reader()) },
			want: []string{"role rollcall-reader-us-west-2 is not there: no cluster that lets it in can be read"}, do: "make deploy"},
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
			want: []string{"cluster staging is not there, and the setting clusters names it"}, do: "make deploy"},
		"a setting that is none": {deployed: deployed{settings: map[string]string{string(config.Clusters): "no cluster?"}},
			want: []string{"settings "}, do: "docs/settings.md"},
		"an alarm rings": {damage: func(p *deployed) { p.ring("QueuesLateAlarm", cloudwatch.Alarm) },
			want: []string{"alarm Rollcall-QueuesLateAlarm rings since 2026-11-20 14:00 UTC: Threshold Crossed"}, do: "Find the queue (SQS, ApproximateAgeOfOldestMessage by queue), then why its function does not read it"},
		"the alarm for silence rings": {deployed: deployed{later: time.Hour}, damage: func(p *deployed) { p.ring("SilentAlarm", cloudwatch.InsufficientData) },
			want: []string{"alarm Rollcall-SilentAlarm rings since 2026-11-20 14:00 UTC: Threshold Crossed"}, do: "See whether its schedule is enabled"},
		"an alarm's actions are disabled": {damage: func(p *deployed) { p.Deployment.Disable(p.alarm("DeadLettersAlarm").ARN) },
			want: []string{"alarm Rollcall-DeadLettersAlarm its actions are disabled: nobody is told when it rings"}, do: "aws cloudwatch enable-alarm-actions --alarm-names 'Rollcall-DeadLettersAlarm'"},
		"an alarm has no actions": {damage: func(p *deployed) { p.Deployment.Mute(p.alarm("FunctionsFailAlarm").Name) },
			want: []string{"alarm Rollcall-FunctionsFailAlarm has no actions: nobody is told when it rings"}, do: "make deploy"},
		"an alarm is gone": {damage: func(p *deployed) { p.Deployment.Delete(p.alarm("ReportUndeliveredAlarm").ARN) },
			want: []string{"alarm ReportUndeliveredAlarm is not there: nobody is told when it should ring"}, do: "make deploy"},
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
		}, want: []string{"delivery eks-workshop slack/" + channel + " has refused what is told of eks-workshop since 2001-09-09 01:46 UTC: is_archived (7 times)"}, do: "tried again by itself"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := deploy(t, &tt.deployed)
			if tt.damage != nil {
				tt.damage(p)
			}
			list := p.examined(false)
			wrong := of(list, Wrong)
			if len(wrong) != len(tt.want) || len(of(list, Unknown)) > 0 {
				t.Fatalf("found\n%s\nnot seen\n%s\nwant %q", strings.Join(wrong, "\n"), strings.Join(of(list, Unknown), "\n"), tt.want)
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
				t.Errorf("found\n%s\nnot seen\n%s", strings.Join(of(list, Wrong), "\n"), strings.Join(of(list, Unknown), "\n"))
			}
			if !slices.ContainsFunc(of(list, Unknown), func(s string) bool { return strings.Contains(s, action) && strings.Contains(s, "was refused") }) {
				t.Errorf("not seen\n%s\nwant %s", strings.Join(of(list, Unknown), "\n"), action)
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
	if diff := cmp.Diff(want, of(p.examined(false), Wrong)); diff != "" {
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
	want := []string{"test message " + other + " was not taken: Slack answers chat.postMessage with is_archived"}
	if diff := cmp.Diff(want, of(list, Wrong)); diff != "" {
		t.Error(diff)
	}
	if !slices.Contains(of(list, Well), "test message "+channel+" was posted") {
		t.Errorf("%q", of(list, Well))
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
