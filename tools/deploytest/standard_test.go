package deploytest

import (
	"bufio"
	"context"
	"crypto/sha256"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/autoscaling"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	"github.com/aws/aws-sdk-go-v2/service/lambda"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"
	"github.com/aws/aws-sdk-go-v2/service/sts"

	"rollcall/command/deploy"
	"rollcall/command/doctor"
	relay "rollcall/functions/relay/spec"
	"rollcall/infra/settings"
	"rollcall/infra/specs"
	"rollcall/infra/standard/parameters"
	"rollcall/shared/config"
	"rollcall/shared/kube"
	"rollcall/shared/s3"
	"rollcall/shared/spec"
	"rollcall/shared/spoke"
	"rollcall/stage"
	"rollcall/stage/programs"
	"rollcall/stage/simaws/worldfile"
	"rollcall/tools/testfile"
)

// releaseFolder writes an unpacked release: the templates as they are, and packages that are only
// names, as the stage runs its own programs.
func releaseFolder(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	files := map[string][]byte{
		"clusterrole.yaml": testfile.Read(t, "../../deploy/clusterrole.yaml"),
	}
	for _, name := range []string{deploy.HubTemplate, deploy.SpokeTemplate, deploy.RelayTemplate} {
		files[name] = testfile.Read(t, "../../infra/"+name)
	}
	for _, s := range append(specs.All(), relay.Spec()) {
		files["functions/"+s.Name+".zip"] = []byte(s.Name)
	}
	var sums strings.Builder
	for name, body := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, body, 0o644); err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&sums, "%x  %s\n", sha256.Sum256(body), name)
	}
	if err := os.WriteFile(filepath.Join(dir, "SHA256SUMS"), []byte(sums.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	return dir
}

// empty is a stage on which nothing is deployed, and a release.
type empty struct {
	*stage.Stage
	t       *testing.T
	release deploy.Release
}

func startEmpty(t *testing.T, o stage.Options) empty {
	t.Helper()
	o.Empty, o.Rate, o.Pace, o.Programs = true, 1, time.Second, programs.All()
	o.Out, o.Log = t.Output(), slog.New(slog.NewTextHandler(t.Output(), &slog.HandlerOptions{Level: slog.LevelWarn}))
	s, err := stage.Start(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	release, err := deploy.ReadRelease(releaseFolder(t), "0.1.0")
	if err != nil {
		t.Fatal(err)
	}
	return empty{s, t, release}
}

// deployment is a run of rollcall deploy by whoever has the credentials, who types yes.
func (e empty) deployment(cfg aws.Config, account string) *deploy.Deployment {
	return &deploy.Deployment{
		Account: account, Region: cfg.Region, Release: e.release, Tags: map[string]string{settings.TagKey: settings.TagValue},
		Bucket:         s3.Bucket{Client: s3.New(cfg), Name: "rollcall-" + account + "-" + cfg.Region, Account: account},
		CloudFormation: cloudformation.NewFromConfig(cfg), Secrets: secretsmanager.NewFromConfig(cfg), EKS: eks.NewFromConfig(cfg), Functions: lambda.NewFromConfig(cfg),
		Kubernetes: func(ctx context.Context, c deploy.Cluster, o deploy.Object) error {
			token, err := kube.Token(ctx, sts.NewPresignClient(sts.NewFromConfig(cfg)), c.Name)
			if err != nil {
				return err
			}
			return deploy.Apply(ctx, e.HTTPClient().Transport, c, token, o)
		},
		Workspace: func(context.Context, string) (string, error) { return "Rollcall stage", nil },
		Examine:   func(context.Context) error { return nil },
		Terminal: deploy.Terminal{
			In: bufio.NewReader(strings.NewReader("yes\n")), Out: e.t.Output(), Interactive: true,
			Password: func() (string, error) { return stage.SlackToken, nil },
		},
		Now: e.Clock.Now, Sleep: func(ctx context.Context, d time.Duration) error { time.Sleep(d); return ctx.Err() },
	}
}

// hub deploys the hub with settings beside its channel and its cluster.
func (e empty) hub(given map[string]any) {
	e.t.Helper()
	given["slackChannel"], given["clusters"] = stage.Channel, "eks-workshop"
	chosen, err := settings.Parse(given)
	if err != nil {
		e.t.Fatal(err)
	}
	d := e.deployment(e.AsAdmin(), e.Template.AccountID)
	d.Template, d.Stack, d.Clusters = deploy.HubTemplate, chosen.StackName, chosen.AccessClusters
	if d.Parameters, err = parameters.Values(chosen); err != nil {
		e.t.Fatal(err)
	}
	e.run(d.Run)
}

// Another account, and what its roles require of the hub.
var payments = spoke.ID{Account: "222233334444", Region: "us-west-2"}

const (
	externalID = "rollcall-deploytest"
	rights     = "../../deploy/clusterrole.yaml"
	world      = "../../stage/worlds/route.yaml"
)

// spoke deploys a spoke, with the credentials of its account, and gives its reader access to the cluster.
func (e empty) spoke(id spoke.ID) {
	e.t.Helper()
	cfg := e.AsAdminIn(id)
	d := e.deployment(cfg, id.Account)
	if err := d.Spoke(e.Template.AccountID+"/"+e.Template.Region, externalID); err != nil {
		e.t.Fatal(err)
	}
	e.run(d.Run)
	if _, err := eks.NewFromConfig(cfg).CreateAccessEntry(e.t.Context(), &eks.CreateAccessEntryInput{
		ClusterName: aws.String("eks-workshop"), PrincipalArn: aws.String(config.SpokeRoleARN("rollcall", spec.SpokeReader, id)), KubernetesGroups: []string{"rollcall"},
	}); err != nil {
		e.t.Fatal(err)
	}
}

// destroy deletes a stack.
func (e empty) destroy(cfg aws.Config, account, stack string) {
	e.t.Helper()
	d := e.deployment(cfg, account)
	d.Stack = stack
	e.run(d.Destroy)
}

// run runs a command that must succeed.
func (e empty) run(command func(context.Context) error) {
	e.t.Helper()
	if err := command(e.t.Context()); err != nil {
		e.t.Fatal(err)
	}
}

// posted counts the messages that have all the words.
func (e empty) posted(words ...string) (n int) {
	for _, m := range e.Slack.Messages(stage.Channel) {
		if !slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(e.Slack.Text(m), w) }) {
			n++
		}
	}
	return n
}

// await waits until a number of messages have all the words.
func (e empty) await(n int, words ...string) {
	e.t.Helper()
	for began := e.Clock.Now(); e.posted(words...) != n; time.Sleep(10 * time.Second) {
		if e.Clock.Now().Sub(began) > 40*time.Minute {
			for _, m := range e.Slack.Messages(stage.Channel) {
				e.t.Log(e.Slack.Text(m))
			}
			e.t.Fatalf("%d messages with %q, want %d", e.posted(words...), words, n)
		}
	}
}

// forwarded counts the events that spokes have forwarded.
func (e empty) forwarded() (n int) {
	for _, put := range e.Events() {
		if put.Bus == stage.SpokesBus {
			n++
		}
	}
	return n
}

// examine has rollcall doctor look at the hub and at a spoke of it: nothing may be wrong or unknown.
func (e empty) examine(id spoke.ID, there aws.Config) {
	e.t.Helper()
	kubernetes := func(cfg aws.Config) func(context.Context, doctor.Cluster) (doctor.Kubernetes, error) {
		return func(ctx context.Context, c doctor.Cluster) (doctor.Kubernetes, error) {
			token, err := kube.Token(ctx, sts.NewPresignClient(sts.NewFromConfig(cfg)), c.Name)
			if err != nil {
				return nil, err
			}
			return kube.NewVia(e.HTTPClient().Transport, c.Endpoint, c.CA, token)
		}
	}
	hub, other := doctor.NewClients(e.AsAdmin(), e.HTTPClient()), doctor.NewElsewhere(there)
	hub.Kubernetes, other.Kubernetes = kubernetes(e.AsAdmin()), kubernetes(there)
	hub.Elsewhere = func(context.Context, spoke.ID) (doctor.Elsewhere, error) { return other, nil }
	seen := false
	for _, f := range doctor.Examine(e.t.Context(), hub, doctor.Deployment{Account: e.Template.AccountID, Region: e.Template.Region, Specs: specs.All(), Now: e.Clock.Now()}) {
		seen = seen || f.Part == "spoke" && f.Account == id.Account && f.State == doctor.Well
		if f.State == doctor.Wrong || f.State == doctor.Unknown {
			e.t.Errorf("rollcall doctor: %s %s is %s: %s", f.Part, f.Name, f.State, f.Says)
		}
	}
	if !seen {
		e.t.Errorf("rollcall doctor does not find that %s trusts the hub and forwards to it", id)
	}
}

// Groups of the route story: without nodes and in the subnet that has no route out, and with three nodes.
const (
	routeless = "eks-new_nodegroup_2-e2ca4e02-248f-cb7e-45a7-6fa9b0230007"
	routed    = "eks-default-2ac4941f-d51b-87e0-30e3-fe83f3d78e7f"
)

// want wants a number of nodes in a group.
func want(t *testing.T, cfg aws.Config, group string, n int32) {
	t.Helper()
	if _, err := autoscaling.NewFromConfig(cfg).SetDesiredCapacity(t.Context(), &autoscaling.SetDesiredCapacityInput{AutoScalingGroupName: &group, DesiredCapacity: &n}); err != nil {
		t.Fatal(err)
	}
}

// TestStandardTemplateToTheFirstMessage deploys the release's own template into an account in which
// nothing is, and waits for the first message in Slack.
func TestStandardTemplateToTheFirstMessage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := startEmpty(t, stage.Options{World: world})
		e.hub(map[string]any{})
		want(t, e.AsAdmin(), routeless, 1)
		e.await(1, "route")
		if n := e.posted(); n != 1 {
			t.Errorf("%d messages", n)
		}
	})
}

// TestDeploySpoke: the hub posts once that it has no access to an account, rollcall deploy spoke
// gives it, a launch that fails there is posted, and without the stack the access is lost.
func TestDeploySpoke(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := startEmpty(t, stage.Options{World: world, Rights: rights, Spokes: []stage.Spoke{{ID: payments, World: world}}})
		e.hub(map[string]any{"spokes": payments.String() + "=payments", "externalId": externalID})
		denied := []string{"🟠 all clusters (payments)", "role there is denied"}
		e.await(1, denied...)
		time.Sleep(20 * time.Minute)
		if n := e.posted(denied...); n != 1 || e.posted() != 1 {
			t.Errorf("%d messages that there is no access, of %d", n, e.posted())
		}

		cfg := e.AsAdminIn(payments)
		e.spoke(payments)
		e.await(1, "all clusters (payments)", "✅")
		e.examine(payments, cfg)
		want(t, cfg, routeless, 1)
		e.await(1, "eks-workshop (payments)", "1 instance will not be able to join")
		if e.forwarded() == 0 {
			t.Error("no event is forwarded: a sweep found the launch")
		}
		e.await(1, "eks-workshop (payments)", "1 instance cannot join", "rtb-0cd20000000000002")

		e.destroy(cfg, payments.Account, "rollcall-spoke")
		before := e.forwarded()
		want(t, cfg, routed, 4)
		e.await(1, append(denied, "for the 2nd time")...)
		if n := e.forwarded() - before; n > 0 {
			t.Errorf("%d events are forwarded without the stack", n)
		}
	})
}

// private makes the API of a world's clusters answer in the VPC alone, and no node of the group that is
// routed Ready.
func private(f *worldfile.File) {
	f.Nodes.Exceptions = append(f.Nodes.Exceptions, worldfile.NodeException{Nodegroup: "default", NeverReady: &worldfile.Condition{Reason: "KubeletNotReady", Message: "PLEG is not healthy"}})
	for _, c := range f.EKS.Clusters {
		c.ResourcesVpcConfig.EndpointPublicAccess, c.ResourcesVpcConfig.EndpointPrivateAccess = false, true
	}
}

// relay deploys the relay of a cluster that cannot be read: then its node that does not become Ready
// is found. Without the stack it cannot be read again.
func (e empty) relay(cfg aws.Config, account, called string) {
	e.t.Helper()
	e.await(1, "🟠 "+called, "there is no relay for it")
	d := e.deployment(cfg, account)
	if err := d.Relay(e.t.Context(), settings.Settings{RolePath: "/"}, "eks-workshop", "rollcall"); err != nil {
		e.t.Fatal(err)
	}
	e.run(d.Run)
	want(e.t, cfg, routed, 4)
	e.await(1, called, "KubeletNotReady")
	e.await(1, "✅ "+called+" · lambda:InvokeFunction works again")
	e.destroy(cfg, account, d.Stack)
	e.await(1, "🟠 "+called, "there is no relay for it", "for the 2nd time")
}

// TestDeployRelay: the cluster is the hub's own.
func TestDeployRelay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := startEmpty(t, stage.Options{World: world, Change: private})
		e.hub(map[string]any{"relays": "eks-workshop"})
		e.relay(e.AsAdmin(), e.Template.AccountID, "eks-workshop")
	})
}

// TestDeployRelayInASpoke: the cluster is another account's.
func TestDeployRelayInASpoke(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := startEmpty(t, stage.Options{World: world, Rights: rights, Spokes: []stage.Spoke{{ID: payments, World: world, Change: private}}})
		e.spoke(payments)
		e.hub(map[string]any{"spokes": payments.String() + "=payments", "externalId": externalID, "relays": payments.Qualify("eks-workshop")})
		e.relay(e.AsAdminIn(payments), payments.Account, "eks-workshop (payments)")
	})
}
