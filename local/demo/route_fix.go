package demo

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/ec2"
)

// remediator is who acts: the function's name, which is its role's too.
const remediator = "rollcall-remediate"

// approved presses the button that offers the route, first as somebody who may
// not, and sees the route made by Rollcall's own hand.
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
	n.say("%s has 0.0.0.0/0, by Rollcall's own hand", st.table)
	return nil
}

// routed tells that the table has a default route.
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
	n.say("%s is replaced through its group, by Rollcall: it would not have tried again", instance)
	var node string
	if err := n.wait(ctx, "waiting for the new node", func() (bool, error) {
		var err error
		node, err = st.readyNode(instance)
		return node != "", err
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
		return strings.Contains(everything(only(st.stage)), "joined again after"), st.alone()
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

// readyNode is the Ready node of the nodegroup that is not of the old instance.
func (st *story) readyNode(old string) (string, error) {
	o, err := st.stage.World.Kubernetes(cluster, "nodes")
	if err != nil {
		return "", err
	}
	for _, item := range o.Items {
		var node struct {
			Metadata struct {
				Name   string            `json:"name"`
				Labels map[string]string `json:"labels"`
			} `json:"metadata"`
			Spec   struct{ ProviderID string }
			Status struct {
				Conditions []struct{ Type, Status string }
			}
		}
		if err := json.Unmarshal(item, &node); err != nil {
			return "", err
		}
		if node.Metadata.Labels["eks.amazonaws.com/nodegroup"] != nodegroup || strings.HasSuffix(node.Spec.ProviderID, "/"+old) {
			continue
		}
		for _, c := range node.Status.Conditions {
			if c.Type == "Ready" && c.Status == "True" {
				return node.Metadata.Name, nil
			}
		}
	}
	return "", nil
}
