package demo

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/autoscaling"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/aws/aws-sdk-go-v2/service/eks"

	"rollcall/shared/config"
	"rollcall/stage"
	"rollcall/stage/fakeslack"
)

// The story's names, from the workshop where it happened.
const (
	cluster   = "eks-workshop"
	nodegroup = "new_nodegroup_2"
)

// ownTime is how soon the message must stand, of our own time (README,
// "Figures").
const ownTime = 2 * time.Second

// story is the route story's cast, found in the world.
type story struct {
	stage      *stage.Stage
	ec2        *ec2.Client
	eks        *eks.Client
	groups     *autoscaling.Client
	subnet     string
	table      string
	group      string
	subnetFree int32
}

// routeSettings let Rollcall add the route once a person has approved it, and
// replace what hangs by itself.
func routeSettings() map[string]string {
	return map[string]string{
		string(config.SlackActions): "on", string(config.Approvers): onCall, string(config.RemedyVPCs): "vpc-0a1b2c3d4e5f60718",
		string(config.Remedies): cluster + "/add-nat-route=approve," + cluster + "/replace-instance=auto",
	}
}

// route plays the route story through AWS's own API, as people do, and what
// they did by hand is approved in Slack.
func route(ctx context.Context, s *stage.Stage, n *narrator) error {
	if err := needs(s, "slack-actions", "remediate", "change-check"); err != nil {
		return err
	}
	cfg := s.AsAdmin()
	st := &story{stage: s, ec2: ec2.NewFromConfig(cfg), eks: eks.NewFromConfig(cfg), groups: autoscaling.NewFromConfig(cfg)}
	if err := st.setting(ctx, n); err != nil {
		return err
	}
	if err := st.breaks(ctx, n); err != nil {
		return err
	}
	if err := st.approved(ctx, n); err != nil {
		return err
	}
	if err := st.mended(ctx, n); err != nil {
		return err
	}
	return st.ends(ctx, n)
}

// setting looks at the world before anything happens: all seems well.
func (st *story) setting(ctx context.Context, n *narrator) error {
	ng, err := st.eks.DescribeNodegroup(ctx, &eks.DescribeNodegroupInput{ClusterName: aws.String(cluster), NodegroupName: aws.String(nodegroup)})
	if err != nil {
		return err
	}
	st.subnet = ng.Nodegroup.Subnets[0]
	st.group = aws.ToString(ng.Nodegroup.Resources.AutoScalingGroups[0].Name)
	tables, err := st.ec2.DescribeRouteTables(ctx, &ec2.DescribeRouteTablesInput{Filters: filter("association.subnet-id", st.subnet)})
	if err != nil {
		return err
	}
	if len(tables.RouteTables) != 1 {
		return fmt.Errorf("%d route tables are associated with %s, want 1", len(tables.RouteTables), st.subnet)
	}
	st.table = aws.ToString(tables.RouteTables[0].RouteTableId)
	subnets, err := st.ec2.DescribeSubnets(ctx, &ec2.DescribeSubnetsInput{SubnetIds: []string{st.subnet}})
	if err != nil {
		return err
	}
	st.subnetFree = aws.ToInt32(subnets.Subnets[0].AvailableIpAddressCount)
	n.say("cluster %s, nodegroup %s: %s, %d health issues, %s has %d free addresses; %s has %s",
		cluster, nodegroup, ng.Nodegroup.Status, len(ng.Nodegroup.Health.Issues), st.subnet, st.subnetFree, st.table, routesOf(tables.RouteTables[0]))
	return nil
}

// breaks scales the group up: the node cannot join, and Rollcall says why.
func (st *story) breaks(ctx context.Context, n *narrator) error {
	if err := scale(ctx, st.eks, nodegroup, 1, 1); err != nil {
		return err
	}
	n.say("aws eks update-nodegroup-config … desiredSize=1: an instance is launched")
	var first fakeslack.Call
	if err := n.wait(ctx, "waiting for Rollcall's message", func() (bool, error) {
		for _, c := range st.stage.Slack.Calls() {
			if c.Method == "chat.postMessage" && c.Error == "" && c.Params["thread_ts"] == "" {
				first = c
				return true, nil
			}
		}
		return false, nil
	}); err != nil {
		return err
	}
	launched, instance, err := st.launchEvent()
	if err != nil {
		return err
	}
	took := first.Wall.Sub(launched)
	text := everything(shown(st.stage)[0])
	for _, want := range []string{st.table, st.subnet} {
		if !strings.Contains(text, want) {
			return fmt.Errorf("the message does not name %s:\n%s", want, text)
		}
	}
	if took > ownTime {
		return fmt.Errorf("the message came %s after the launch event, it must come within %s", took, ownTime)
	}
	n.say("Slack, %.2f s after the first launch event of %s: %s", took.Seconds(), instance, firstLine(text))
	return st.missed(ctx, n)
}

// missed waits until the same message says that the roll was missed, while
// everything that a person would look at says that all is well.
func (st *story) missed(ctx context.Context, n *narrator) error {
	before := len(shown(st.stage)[0].Versions)
	if err := n.wait(ctx, "waiting for the join check (5 minutes of stage time)", func() (bool, error) {
		m := shown(st.stage)
		return len(m[0].Versions) > before && strings.Contains(everything(m[0]), "cannot join"), st.alone()
	}); err != nil {
		return err
	}
	ng, err := st.eks.DescribeNodegroup(ctx, &eks.DescribeNodegroupInput{ClusterName: aws.String(cluster), NodegroupName: aws.String(nodegroup)})
	if err != nil {
		return err
	}
	activities, err := st.groups.DescribeScalingActivities(ctx, &autoscaling.DescribeScalingActivitiesInput{AutoScalingGroupName: aws.String(st.group)})
	if err != nil {
		return err
	}
	if len(activities.Activities) == 0 {
		return errors.New("the group has no scaling activity")
	}
	n.say("join check: no node after 5 min. AWS reports: nodegroup %s, %d health issues, scaling activity %s", ng.Nodegroup.Status, len(ng.Nodegroup.Health.Issues), activities.Activities[0].StatusCode)
	return nil
}

// alone holds that the story has one message.
func (st *story) alone() error {
	if n := len(shown(st.stage)); n != 1 {
		return fmt.Errorf("there are %d messages in the channel, want 1", n)
	}
	return nil
}

// launchEvent is when the group's first launch event was put, and its
// instance.
func (st *story) launchEvent() (time.Time, string, error) {
	for _, p := range st.stage.Events() {
		var e struct {
			Source string `json:"source"`
			Type   string `json:"detail-type"`
			Detail struct {
				Group    string `json:"AutoScalingGroupName"`
				Instance string `json:"EC2InstanceId"`
				Other    string `json:"instance-id"`
				State    string `json:"state"`
			} `json:"detail"`
		}
		if err := json.Unmarshal(p.Event, &e); err != nil {
			return time.Time{}, "", err
		}
		switch {
		case e.Source == "aws.autoscaling" && e.Detail.Group == st.group:
			return p.Wall, e.Detail.Instance, nil
		case e.Source == "aws.ec2" && e.Detail.State == "running":
			return p.Wall, e.Detail.Other, nil
		}
	}
	return time.Time{}, "", errors.New("no launch event was put")
}

func filter(name, value string) []types.Filter {
	return []types.Filter{{Name: aws.String(name), Values: []string{value}}}
}

func routesOf(t types.RouteTable) string {
	var rows []string
	for _, r := range t.Routes {
		target := aws.ToString(r.GatewayId)
		if r.NatGatewayId != nil {
			target = *r.NatGatewayId
		}
		rows = append(rows, aws.ToString(r.DestinationCidrBlock)+" -> "+target)
	}
	return strings.Join(rows, ", ")
}

// everything is all that a message says: its text and its blocks.
func everything(m fakeslack.Message) string {
	return m.Text + "\n" + strings.ReplaceAll(string(m.Blocks), `\u003e`, ">")
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return line
}

// remediator is who acts: the function's name, which is its role's too.
const remediator = "rollcall-remediate"

// approved presses the button that offers the route, first as a person who is
// not allowed to, and sees the route that Rollcall made.
func (st *story) approved(ctx context.Context, n *narrator) error {
	if err := n.wait(ctx, "waiting for the offer of the route", func() (bool, error) {
		text := everything(only(st.stage))
		return offers(only(st.stage)) && strings.Contains(text, st.table) && strings.Contains(text, "nat-"), st.alone()
	}); err != nil {
		return err
	}
	if err := changed(ctx, n, st.stage, st.table, "ci-deploy"); err != nil {
		return err
	}
	n.say("the message now:")
	n.message(only(st.stage))
	if err := n.picture(ctx, "before", "", 1200, 760); err != nil {
		return err
	}
	if err := n.picture(ctx, "narrow", "", 390, 1160); err != nil {
		return err
	}
	if err := refusedTo(ctx, n, st.stage, only(st.stage), dev); err != nil {
		return err
	}
	if has, err := st.routed(ctx); err != nil || has {
		return fmt.Errorf("%s has a default route before anybody approved it (%w)", st.table, err)
	}
	if err := n.approved(ctx, only(st.stage)); err != nil {
		return err
	}
	if err := n.wait(ctx, "waiting for the route", func() (bool, error) { return st.routed(ctx) }); err != nil {
		return err
	}
	if !called(st.stage, "CreateRoute", remediator) {
		return fmt.Errorf("the route is there, and %s did not make it", remediator)
	}
	n.say("Rollcall added 0.0.0.0/0 to %s", st.table)
	return nil
}

// routed reports whether the table has a default route.
func (st *story) routed(ctx context.Context) (bool, error) {
	out, err := st.ec2.DescribeRouteTables(ctx, &ec2.DescribeRouteTablesInput{RouteTableIds: []string{st.table}, Filters: filter("route.destination-cidr-block", "0.0.0.0/0")})
	if err != nil {
		return false, err
	}
	return len(out.RouteTables) == 1, nil
}

// mended waits until the instance that hung is replaced, and its successor is a
// Ready node.
func (st *story) mended(ctx context.Context, n *narrator) error {
	_, instance, err := st.launchEvent()
	if err != nil {
		return err
	}
	if err := n.wait(ctx, "waiting for "+instance+" to be replaced", func() (bool, error) {
		return called(st.stage, "TerminateInstanceInAutoScalingGroup", remediator), st.alone()
	}); err != nil {
		return err
	}
	n.say("Rollcall replaced %s through its Auto Scaling group; it would not have retried", instance)
	var node string
	if err := n.wait(ctx, "waiting for the new node", func() (bool, error) {
		for _, o := range readyNodes(st.stage, nodegroup) {
			if !strings.HasSuffix(o.Spec.ProviderID, "/"+instance) {
				node = o.Metadata.Name
			}
		}
		return node != "", nil
	}); err != nil {
		return err
	}
	n.say("node %s is Ready", node)
	return nil
}

// ends waits for the message to close itself: it says who approved, and the
// thread how to take it back.
func (st *story) ends(ctx context.Context, n *narrator) error {
	if err := n.wait(ctx, "waiting for the message to be resolved", func() (bool, error) {
		return strings.Contains(everything(only(st.stage)), "fixed after"), st.alone()
	}); err != nil {
		return err
	}
	m := only(st.stage)
	if text := everything(m); !strings.Contains(text, "approved by") || !strings.Contains(text, "0.0.0.0/0") {
		return fmt.Errorf("the resolved message does not say what was done and who approved it:\n%s", text)
	}
	if undo := "aws ec2 delete-route "; !strings.Contains(thread(m), undo) {
		return fmt.Errorf("the thread does not say how to take it back, with %q:\n%s", undo, thread(m))
	}
	n.say("the same message, resolved: %s", firstLine(everything(m)))
	n.say("one message, edited %d times, %d replies in its thread; the undo command is there", len(m.Versions), public(m))
	for _, p := range []struct {
		name, query   string
		width, height int
	}{{"after", "", 1200, 680}, {"thread", "&thread=" + m.TS, 640, 2830}} {
		if err := n.picture(ctx, p.name, p.query, p.width, p.height); err != nil {
			return err
		}
	}
	return st.alone()
}
