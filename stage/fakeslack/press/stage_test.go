//go:build chromium

package press

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	ekstypes "github.com/aws/aws-sdk-go-v2/service/eks/types"

	"rollcall/shared/config"
	"rollcall/stage"
	"rollcall/tools/binaries"
)

const broken = "rtb-0cd20000000000002"

// programs builds the functions as they are deployed, but for this machine.
func programs(t *testing.T) string {
	t.Helper()
	dir, err := binaries.Build("../../..")
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// brokenStage starts the route story and waits for its offer on the page.
func brokenStage(t *testing.T) *stage.Stage {
	t.Helper()
	s, err := stage.Start(context.Background(), stage.Options{
		World: "../../worlds/route.yaml", Template: "../../../infra/Rollcall.template.json", Binaries: programs(t), Rate: 60, Slow: 10,
		Settings: map[string]string{
			string(config.SlackActions): "on", string(config.Approvers): stage.Approvers,
			string(config.Remedies): "eks-workshop/add-nat-route=approve", string(config.RemedyVPCs): "vpc-0a1b2c3d4e5f60718",
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	if _, err := eks.NewFromConfig(s.AsAdmin()).UpdateNodegroupConfig(t.Context(), &eks.UpdateNodegroupConfigInput{
		ClusterName: aws.String("eks-workshop"), NodegroupName: aws.String("new_nodegroup_2"),
		ScalingConfig: &ekstypes.NodegroupScalingConfig{MinSize: aws.Int32(0), MaxSize: aws.Int32(1), DesiredSize: aws.Int32(1)},
	}); err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(2 * time.Minute); ; time.Sleep(20 * time.Millisecond) {
		if m := s.Slack.Messages(stage.Channel); len(m) > 0 && strings.Contains(string(m[0].Blocks), "Approve this fix") {
			return s
		}
		if time.Now().After(end) {
			t.Fatal("no fix is offered")
		}
	}
}

// routed reports whether the table has a default route.
func routed(t *testing.T, s *stage.Stage) bool {
	t.Helper()
	out, err := ec2.NewFromConfig(s.AsAdmin()).DescribeRouteTables(t.Context(), &ec2.DescribeRouteTablesInput{
		RouteTableIds: []string{broken}, Filters: []types.Filter{{Name: aws.String("route.destination-cidr-block"), Values: []string{"0.0.0.0/0"}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return len(out.RouteTables) == 1
}

// TestApproveOnTheStage: the page of the real stage, with all real programs
// behind it. Who may not gets a reply of their own; who may presses, is asked
// whether they are sure, and the route is there.
func TestApproveOnTheStage(t *testing.T) {
	s := brokenStage(t)
	b := newBrowser(t, false)
	shown, err := b.Press(minute(t), Press{Page: s.Slack.URL(), As: stage.Dev, Message: broken, Button: "Approve this fix", Until: "You are not allowed to approve"})
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(shown.Channel, "Only visible to you") || !strings.Contains(shown.Channel, "Nothing was done.") || shown.Warning != "" {
		t.Errorf("who may not is shown %+v", shown)
	}
	picture(t, b, "stage-refused")
	if routed(t, s) {
		t.Fatal("the route is there before anybody approved it who may")
	}
	shown, err = b.Press(minute(t), Press{Page: s.Slack.URL(), As: stage.OnCall, Message: broken, Button: "Approve this fix", Until: ", approved by "})
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(shown.Asked, "Rollcall will add 0.0.0.0/0 → nat-0aa40000000000001 to "+broken) {
		t.Errorf("the dialog asked %q", shown.Asked)
	}
	if !routed(t, s) {
		t.Error("the page says that it is done, and there is no route")
	}
	if strings.Contains(shown.Channel, "You are not allowed to approve") || !strings.Contains(shown.Channel, "Done ") || shown.Warning != "" {
		t.Errorf("the page shows %+v", shown)
	}
	picture(t, b, "stage-approved")
}

// picture keeps what the page shows, where pictures are wanted.
func picture(t *testing.T, b *Browser, name string) {
	t.Helper()
	if dir := os.Getenv("ROLLCALL_PICTURES"); dir != "" {
		if err := b.Picture(minute(t), filepath.Join(dir, name+".png")); err != nil {
			t.Error(err)
		}
	}
}
