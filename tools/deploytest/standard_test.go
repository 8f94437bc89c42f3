package deploytest

import (
	"bufio"
	"context"
	"crypto/sha256"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
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
	"rollcall/infra/settings"
	"rollcall/infra/specs"
	"rollcall/infra/standard/parameters"
	"rollcall/shared/kube"
	"rollcall/shared/s3"
	"rollcall/stage"
	"rollcall/stage/programs"
	"rollcall/tools/testfile"
)

// releaseFolder writes an unpacked release: the templates as they are, and packages that are only
// names, as the stage runs its own programs.
func releaseFolder(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	files := map[string][]byte{
		deploy.HubTemplate: testfile.Read(t, "../../infra/RollcallStandard.template.json"), "clusterrole.yaml": testfile.Read(t, "../../deploy/clusterrole.yaml"),
	}
	for _, s := range specs.All() {
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

// TestStandardTemplateToTheFirstMessage deploys the release's own template into an account in which
// nothing is, and waits for the first message in Slack.
func TestStandardTemplateToTheFirstMessage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, err := stage.Start(t.Context(), stage.Options{
			World: "../../stage/worlds/route.yaml", Empty: true, Rate: 1, Pace: time.Second, Programs: programs.All(),
			Out: t.Output(), Log: slog.New(slog.NewTextHandler(t.Output(), &slog.HandlerOptions{Level: slog.LevelWarn})),
		})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		dir, cfg := releaseFolder(t), s.AsAdmin()
		release, err := deploy.ReadRelease(dir, "0.1.0")
		if err != nil {
			t.Fatal(err)
		}
		chosen, err := settings.Parse(map[string]any{"slackChannel": stage.Channel, "clusters": "eks-workshop"})
		if err != nil {
			t.Fatal(err)
		}
		values, err := parameters.Values(chosen)
		if err != nil {
			t.Fatal(err)
		}
		account, region := s.Template.AccountID, s.Template.Region
		var out strings.Builder
		d := &deploy.Deployment{
			Account: account, Region: region, Release: release, Template: deploy.HubTemplate, Stack: chosen.StackName,
			Parameters: values, Tags: map[string]string{settings.TagKey: settings.TagValue}, Clusters: chosen.AccessClusters,
			Bucket:         s3.Bucket{Client: s3.New(cfg), Name: "rollcall-" + account + "-" + region, Account: account},
			CloudFormation: cloudformation.NewFromConfig(cfg), Secrets: secretsmanager.NewFromConfig(cfg), EKS: eks.NewFromConfig(cfg), Functions: lambda.NewFromConfig(cfg),
			Kubernetes: func(ctx context.Context, c deploy.Cluster, o deploy.Object) error {
				token, err := kube.Token(ctx, sts.NewPresignClient(sts.NewFromConfig(cfg)), c.Name)
				if err != nil {
					return err
				}
				return deploy.Apply(ctx, s.HTTPClient().Transport, c, token, o)
			},
			Workspace: func(context.Context, string) (string, error) { return "Rollcall stage", nil },
			Examine:   func(context.Context) error { return nil },
			Terminal: deploy.Terminal{
				In: bufio.NewReader(strings.NewReader("yes\n")), Out: &out, Interactive: true,
				Password: func() (string, error) { return stage.SlackToken, nil },
			},
			Now: s.Clock.Now, Sleep: func(ctx context.Context, d time.Duration) error { time.Sleep(d); return ctx.Err() },
		}
		if err := d.Run(t.Context()); err != nil {
			t.Fatalf("%v\n%s", err, out.String())
		}
		deployed := s.Clock.Now()
		// A node is wanted in the subnet that has no route out.
		if _, err := autoscaling.NewFromConfig(cfg).SetDesiredCapacity(t.Context(), &autoscaling.SetDesiredCapacityInput{
			AutoScalingGroupName: aws.String("eks-new_nodegroup_2-e2ca4e02-248f-cb7e-45a7-6fa9b0230007"), DesiredCapacity: aws.Int32(1),
		}); err != nil {
			t.Fatal(err)
		}
		for range 120 {
			if list := s.Slack.Messages(stage.Channel); len(list) > 0 {
				t.Logf("the first message came %s after the launch: %s", s.Clock.Now().Sub(deployed), list[0].Text)
				if !strings.Contains(list[0].Text, "route") {
					t.Errorf("the first message is about something else: %s", list[0].Text)
				}
				return
			}
			time.Sleep(10 * time.Second)
		}
		t.Fatalf("no message after %s\n%s", s.Clock.Now().Sub(deployed), out.String())
	})
}
