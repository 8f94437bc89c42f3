package demo

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"rollcall/shared/config"
	"rollcall/stage"
	"rollcall/stage/fakeslack"
	"rollcall/stage/simaws/worldfile"
)

// The Karpenter story's names.
const (
	webPool    = "web"
	webClass   = "default"
	batchPool  = "batch"
	batchClass = "batch"
	newSubnet  = "subnet-0c30000000000000d"
	newTable   = "rtb-0cd20000000000002"
	newNAT     = "nat-0aa40000000000001"
	discovery  = "karpenter.sh/discovery"
)

// karpenterSettings let Rollcall decode what EC2 says of a denied launch.
func karpenterSettings() map[string]string {
	return map[string]string{string(config.DecodeDenied): "on"}
}

// costCenter is what the organization wants from one day on: no instance without a
// tag that says who pays for it.
const costCenter = `{"Version": "2012-10-17", "Statement": [{
  "Sid": "RequireCostCenter", "Effect": "Deny", "Action": "ec2:RunInstances", "Resource": "arn:aws:ec2:*:*:instance/*",
  "Condition": {"Null": {"aws:RequestTag/cost-center": "true"}}
}]}`

// karpenterStory is the Karpenter story's cast.
type karpenterStory struct {
	stage *stage.Stage
	ec2   *ec2.Client
}

// karpenter plays the Karpenter story: three things keep two NodePools from their
// nodes, one after the other. Each is reported, mended as people do, and over by itself.
func karpenter(ctx context.Context, s *stage.Stage, n *narrator) error {
	if err := needs(s, "launch-watch", "join-check"); err != nil {
		return err
	}
	st := &karpenterStory{stage: s, ec2: ec2.NewFromConfig(s.AsAdmin())}
	if err := st.setting(ctx, n); err != nil {
		return err
	}
	for _, act := range []func(context.Context, *narrator) error{st.forbidden, st.untagged, st.cutOff} {
		if err := act(ctx, n); err != nil {
			return fmt.Errorf("%w; the channel says:\n%s", err, channel(st.stage))
		}
	}
	return nil
}

// setting looks at the world before anything happens.
func (st *karpenterStory) setting(ctx context.Context, n *narrator) error {
	if err := n.wait(ctx, "waiting for Karpenter's first look", func() (bool, error) {
		o, err := st.object("ec2nodeclasses", webClass)
		return o.conditionLine("Ready") == "True Ready", err
	}); err != nil {
		return err
	}
	n.say("cluster %s with Karpenter: NodePool %s of EC2NodeClass %s, NodePool %s of EC2NodeClass %s; no pod is pending", cluster, webPool, webClass, batchPool, batchClass)
	return nil
}

// forbidden is the first cause: a service control policy. The class was looked at
// before it came, and says that all is well for half an hour.
func (st *karpenterStory) forbidden(ctx context.Context, n *narrator) error {
	st.stage.World.AttachControlPolicies(worldfile.ControlPolicy{Name: "RequireCostCenter", Document: costCenter})
	n.say("1. the organization attaches the service control policy RequireCostCenter: no ec2:RunInstances without the tag cost-center")
	if err := st.apply("shop", "frontend", webPool); err != nil {
		return err
	}
	n.say("kubectl apply -f frontend.yaml: pod shop/frontend-0 is pending, for a node of NodePool %s", webPool)
	m, err := st.awaitMessage(ctx, n, "NodePool "+webPool+" cannot launch", "a service control policy forbids it", "RequireCostCenter", "cost-center", "kubectl patch ec2nodeclass "+webClass)
	if err != nil {
		return err
	}
	claim, class, err := st.two(webClass)
	if err != nil {
		return err
	}
	n.say("meanwhile Karpenter reports: NodeClaim %s, Launched=%s; EC2NodeClass %s, Ready=%s; %d Kubernetes events about the NodeClaim",
		claim.Metadata.Name, claim.conditionLine("Launched"), webClass,
		class.conditionLine("Ready"), st.warnings(claim.Metadata.Name))
	if err := n.picture(ctx, "karpenter-policy", "&message="+m.TS, 1200, 780); err != nil {
		return err
	}
	patch := map[string]any{"spec": map[string]any{"tags": map[string]any{"cost-center": "4711"}}}
	if err := st.stage.World.Patch(cluster, "ec2nodeclasses", "", webClass, patch); err != nil {
		return err
	}
	n.say(`kubectl patch ec2nodeclass %s --type merge -p '{"spec":{"tags":{"cost-center":"4711"}}}'`, webClass)
	return st.over(ctx, n, m, "shop", "frontend-0")
}

// untagged is the second one: a class that finds no subnet. No NodeClaim is made, no
// call, and no event.
func (st *karpenterStory) untagged(ctx context.Context, n *narrator) error {
	if err := st.apply("etl", "nightly", batchPool); err != nil {
		return err
	}
	n.say("2. kubectl apply -f nightly.yaml: pod etl/nightly-0 is pending, for a node of NodePool %s", batchPool)
	title := "EC2NodeClass " + batchClass + " matches no subnets"
	m, err := st.awaitMessage(ctx, n, title)
	if err != nil {
		return err
	}
	if err := n.wait(ctx, "waiting until the message names the pod", func() (bool, error) {
		var said bool
		m, said = messageWith(st.stage, title, "etl/nightly-0")
		return said, nil
	}); err != nil {
		return err
	}
	if tag := "Key=" + discovery + ",Value=" + cluster + "-batch"; !strings.Contains(everything(m), tag) {
		return fmt.Errorf("the message has no command that sets the tag %s:\n%s", tag, everything(m))
	}
	n.say("the same message, edited: pod etl/nightly-0 is pending for minutes, and no other NodePool can run it")
	if wanted := discovery + "=" + cluster + "-batch"; !strings.Contains(thread(m), wanted) {
		return fmt.Errorf("the thread does not say what the class selects by, %q:\n%s", wanted, thread(m))
	}
	if claim, _, err := st.two(batchClass); err != nil || claim.Metadata.Name != "" {
		return errors.Join(err, fmt.Errorf("there is a NodeClaim %q", claim.Metadata.Name))
	}
	n.say("meanwhile Karpenter reports nothing on the pod: no NodeClaim, and no event about one")
	if err := n.picture(ctx, "karpenter-subnets", "", 1200, 900); err != nil {
		return err
	}
	if _, err := st.ec2.CreateTags(ctx, &ec2.CreateTagsInput{
		Resources: []string{newSubnet}, Tags: []types.Tag{{Key: aws.String(discovery), Value: aws.String(cluster + "-batch")}},
	}); err != nil {
		return err
	}
	n.say("aws ec2 create-tags --resources %s --tags Key=%s,Value=%s-batch", newSubnet, discovery, cluster)
	return st.over(ctx, n, m, "", "")
}

// cutOff is the third: the subnet that was found has no route to the internet. The NodeClaim
// launches, and no node comes of it.
func (st *karpenterStory) cutOff(ctx context.Context, n *narrator) error {
	m, err := st.awaitMessage(ctx, n, newTable, newSubnet)
	if err != nil {
		return err
	}
	claim, _, err := st.two(batchClass)
	if err != nil {
		return err
	}
	n.say("meanwhile Karpenter reports: NodeClaim %s, Launched=%s, Registered=%s", claim.Metadata.Name, claim.conditionLine("Launched"), claim.conditionLine("Registered"))
	if err := n.picture(ctx, "karpenter-route", "", 1200, 620); err != nil {
		return err
	}
	if _, err := st.ec2.CreateRoute(ctx, &ec2.CreateRouteInput{
		RouteTableId: aws.String(newTable), DestinationCidrBlock: aws.String("0.0.0.0/0"), NatGatewayId: aws.String(newNAT),
	}); err != nil {
		return err
	}
	n.say("aws ec2 create-route --route-table-id %s --destination-cidr-block 0.0.0.0/0 --nat-gateway-id %s", newTable, newNAT)
	if err := st.over(ctx, n, m, "etl", "nightly-0"); err != nil {
		return err
	}
	if all := shown(st.stage); len(all) != 3 {
		return fmt.Errorf("there are %d messages in the channel, want 3", len(all))
	}
	for _, m := range shown(st.stage) {
		if !strings.Contains(everything(m), "✅") {
			return fmt.Errorf("a message is not resolved: %s", firstLine(everything(m)))
		}
	}
	n.say("three messages, three fixes, each resolved; no other message in the channel")
	return n.picture(ctx, "karpenter-after", "", 1200, 1140)
}

// apply brings the one pod of a workload that wants the nodes of a NodePool.
func (st *karpenterStory) apply(namespace, name, pool string) error {
	return st.stage.World.Apply(cluster, worldfile.SetFile{Namespace: namespace, Name: name, NodeSelector: map[string]string{"karpenter.sh/nodepool": pool}})
}

// awaitMessage waits for the message that says some things, and tells how long it took.
func (st *karpenterStory) awaitMessage(ctx context.Context, n *narrator, parts ...string) (fakeslack.Message, error) {
	began := st.stage.Clock.Now()
	var m fakeslack.Message
	if err := n.wait(ctx, "waiting for the message about "+parts[0], func() (bool, error) {
		var said bool
		m, said = messageWith(st.stage, parts...)
		return said && !strings.Contains(everything(m), "✅"), nil
	}); err != nil {
		return m, err
	}
	n.say("Slack, %s later:", st.stage.Clock.Now().Sub(began).Round(time.Second))
	n.message(m)
	return m, nil
}

// over waits until a message is resolved, and the pod runs that was waiting.
func (st *karpenterStory) over(ctx context.Context, n *narrator, m fakeslack.Message, namespace, pod string) error {
	began := st.stage.Clock.Now()
	if err := n.wait(ctx, "waiting for the message to be resolved", func() (bool, error) {
		for _, now := range shown(st.stage) {
			if now.TS == m.TS {
				m = now
			}
		}
		return strings.Contains(everything(m), "✅"), nil
	}); err != nil {
		return err
	}
	n.say("the same message, %s later, resolved by itself: %s", st.stage.Clock.Now().Sub(began).Round(time.Second), firstLine(everything(m)))
	if pod == "" {
		return nil
	}
	var node string
	if err := n.wait(ctx, "waiting for the pod", func() (bool, error) {
		p, err := st.object("pods", pod)
		node = p.Spec.NodeName
		return p.Metadata.Namespace == namespace && p.Status.Phase == "Running", err
	}); err != nil {
		return err
	}
	n.say("%s/%s runs on %s", namespace, pod, node)
	return nil
}

// object is one by its name, empty where there is none.
func (st *karpenterStory) object(plural, name string) (kubeObject, error) {
	all, err := objects(st.stage, plural)
	for _, o := range all {
		if o.Metadata.Name == name {
			return o, err
		}
	}
	return kubeObject{}, err
}

// two are a class and the NodeClaim of it, if there is one.
func (st *karpenterStory) two(class string) (claim, of kubeObject, err error) {
	claims, err := objects(st.stage, "nodeclaims")
	if err != nil {
		return claim, of, err
	}
	for _, o := range claims {
		if o.Spec.NodeClassRef.Name == class {
			claim = o
		}
	}
	of, err = st.object("ec2nodeclasses", class)
	return claim, of, err
}

// warnings counts the events of trouble about an object.
func (st *karpenterStory) warnings(name string) int {
	events, err := objects(st.stage, "events")
	if err != nil {
		return -1
	}
	n := 0
	for _, e := range events {
		if e.InvolvedObject.Name == name && e.Type == "Warning" {
			n++
		}
	}
	return n
}
