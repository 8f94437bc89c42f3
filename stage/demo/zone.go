package demo

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	ekstypes "github.com/aws/aws-sdk-go-v2/service/eks/types"

	"rollcall/shared/config"
	"rollcall/stage"
	"rollcall/stage/fakeslack"
)

// The zone story's names.
const (
	zoneOld    = "default"
	zoneNew    = "workers"
	zoneVolume = "vol-0c50000000000c0de"
	zoneClaim  = "redash/redis"
	zoneLost   = "us-west-2c"
	zonePod    = "redis-0"
	// zoneBefore is how long all is well: nodegroup-watch sweeps every five
	// minutes, and knows of the end only of what it has seen.
	zoneBefore = 7 * time.Minute
)

// zoneSays is what the message must say, in the words that a person understands
// at once. Each is looked for by itself.
func zoneSays() []string {
	return []string{zoneVolume, zoneClaim, zoneLost, "desired 2", "spread over 3 zones"}
}

// zoneNeighbours are the volumes that look like the stranded one and are not:
// no headline may be about them.
func zoneNeighbours() []string {
	return []string{"vol-0c5000000000ff001", "vol-0c5000000000ff002", "vol-0c50000000000aaaa"}
}

func zoneSettings() map[string]string {
	return map[string]string{
		string(config.SlackActions): "on", string(config.Approvers): onCall, string(config.Remedies): cluster + "/cover-zones=approve",
	}
}

// zoneStory is the zone story's cast.
type zoneStory struct {
	stage *stage.Stage
	eks   *eks.Client
}

// zone plays the zone story: a nodegroup is replaced, a pod waits for a zone
// that has no node any more, Rollcall says why, and a node comes there once a
// person has approved it.
func zone(ctx context.Context, s *stage.Stage, n *narrator) error {
	if err := needs(s, "zone-watch", "slack-actions", "remediate"); err != nil {
		return err
	}
	st := &zoneStory{stage: s, eks: eks.NewFromConfig(s.AsAdmin())}
	if err := st.setting(n); err != nil {
		return err
	}
	if err := n.pass(ctx, zoneBefore); err != nil {
		return err
	}
	if err := st.replaced(ctx, n); err != nil {
		return err
	}
	m, err := st.explained(ctx, n)
	if err != nil {
		return err
	}
	if err := n.approved(ctx, m); err != nil {
		return err
	}
	return st.covered(ctx, n)
}

// setting looks at the world before anything happens.
func (st *zoneStory) setting(n *narrator) error {
	pods, err := st.pods()
	if err != nil {
		return err
	}
	for name, p := range pods {
		if p.phase != "Running" {
			return fmt.Errorf("pod %s is %s at the start", name, p.phase)
		}
	}
	n.say("cluster %s, nodegroup %s: 2 nodes, three zones; %d pods run, %s on the node in %s, where its volume %s is", cluster, zoneOld, len(pods), zonePod, zoneLost, zoneVolume)
	return nil
}

// replaced has a new nodegroup take the old one's place, as people do to change
// an image or a type: the same subnets, the same size.
func (st *zoneStory) replaced(ctx context.Context, n *narrator) error {
	old, err := st.eks.DescribeNodegroup(ctx, &eks.DescribeNodegroupInput{ClusterName: aws.String(cluster), NodegroupName: aws.String(zoneOld)})
	if err != nil {
		return err
	}
	if _, err := st.eks.CreateNodegroup(ctx, &eks.CreateNodegroupInput{
		ClusterName: aws.String(cluster), NodegroupName: aws.String(zoneNew), NodeRole: old.Nodegroup.NodeRole, Subnets: old.Nodegroup.Subnets,
		InstanceTypes: []string{"m5.large"}, AmiType: old.Nodegroup.AmiType,
		ScalingConfig: &ekstypes.NodegroupScalingConfig{MinSize: aws.Int32(2), MaxSize: aws.Int32(4), DesiredSize: aws.Int32(2)},
	}); err != nil {
		return err
	}
	if err := n.wait(ctx, "waiting for the new nodegroup", func() (bool, error) {
		ng, err := st.eks.DescribeNodegroup(ctx, &eks.DescribeNodegroupInput{ClusterName: aws.String(cluster), NodegroupName: aws.String(zoneNew)})
		if err != nil {
			return false, err
		}
		return ng.Nodegroup.Status == ekstypes.NodegroupStatusActive, nil
	}); err != nil {
		return err
	}
	n.say("nodegroup %s is ACTIVE: the same three subnets, desired 2", zoneNew)
	if _, err := st.eks.DeleteNodegroup(ctx, &eks.DeleteNodegroupInput{ClusterName: aws.String(cluster), NodegroupName: aws.String(zoneOld)}); err != nil {
		return err
	}
	var waits string
	if err := n.wait(ctx, "waiting for the old nodes to terminate", func() (bool, error) {
		_, err := st.eks.DescribeNodegroup(ctx, &eks.DescribeNodegroupInput{ClusterName: aws.String(cluster), NodegroupName: aws.String(zoneOld)})
		var gone *ekstypes.ResourceNotFoundException
		if err != nil && !errors.As(err, &gone) {
			return false, err
		}
		pods, podsErr := st.pods()
		waits = pods[zonePod].why
		return gone != nil && strings.Contains(waits, "volume node affinity conflict"), podsErr
	}); err != nil {
		return err
	}
	pods, err := st.pods()
	if err != nil {
		return err
	}
	for name, p := range pods {
		if name != zonePod && p.phase != "Running" {
			return fmt.Errorf("pod %s is %s: %s", name, p.phase, p.why)
		}
	}
	n.say("nodegroup %s is gone; every pod runs again but %s: %s", zoneOld, zonePod, waits)
	return nil
}

// explained waits for the message, and for the fix that it offers.
func (st *zoneStory) explained(ctx context.Context, n *narrator) (fakeslack.Message, error) {
	var m fakeslack.Message
	if err := n.wait(ctx, "waiting for the message that names the zone, the volume and the claim", func() (bool, error) {
		var said bool
		m, said = messageWith(st.stage, zoneSays()...)
		return said && offers(m), nil
	}); err != nil {
		return m, fmt.Errorf("%w; the channel says:\n%s", err, channel(st.stage))
	}
	n.say("Slack:")
	n.message(m)
	for _, other := range shown(st.stage) {
		if headline := firstLine(everything(other)); slices.ContainsFunc(zoneNeighbours(), func(id string) bool { return strings.Contains(headline, id) }) {
			return m, fmt.Errorf("a message accuses a volume that nobody waits for: %s", headline)
		}
	}
	if text := everything(m); strings.Contains(text, "more volume") {
		return m, fmt.Errorf("the message counts a volume that nobody waits for:\n%s", text)
	}
	if called(st.stage, "UpdateNodegroupConfig", remediator) {
		return m, errors.New("the nodegroup was changed before anybody approved it")
	}
	if err := n.picture(ctx, "zone-narrow", "", 390, 1100); err != nil {
		return m, err
	}
	return m, n.picture(ctx, "zone-incident", "", 1200, 760)
}

// covered waits until a node is in the zone, the pod runs and the message is
// resolved.
func (st *zoneStory) covered(ctx context.Context, n *narrator) error {
	began := st.stage.Clock.Now()
	if err := n.wait(ctx, "waiting for Rollcall to raise the desired count", func() (bool, error) {
		ng, err := st.eks.DescribeNodegroup(ctx, &eks.DescribeNodegroupInput{ClusterName: aws.String(cluster), NodegroupName: aws.String(zoneNew)})
		if err != nil {
			return false, err
		}
		return aws.ToInt32(ng.Nodegroup.ScalingConfig.DesiredSize) == 3 && called(st.stage, "UpdateNodegroupConfig", remediator), nil
	}); err != nil {
		return err
	}
	n.say("desired count of %s: 3 of at most 4, set by Rollcall", zoneNew)
	if err := n.wait(ctx, "waiting for the pod", func() (bool, error) {
		pods, err := st.pods()
		return pods[zonePod].phase == "Running" && pods[zonePod].zone == zoneLost, err
	}); err != nil {
		return err
	}
	n.say("%s runs in %s, %s after the approval", zonePod, zoneLost, st.stage.Clock.Now().Sub(began).Round(time.Second))
	var m fakeslack.Message
	if err := n.wait(ctx, "waiting for the message to be resolved", func() (bool, error) {
		var said bool
		m, said = messageWith(st.stage, "✅", "approved by")
		return said, nil
	}); err != nil {
		return fmt.Errorf("%w; the channel says:\n%s", err, channel(st.stage))
	}
	n.say("the same message, resolved: %s", firstLine(everything(m)))
	if undo := "aws eks update-nodegroup-config "; !strings.Contains(thread(m), undo) {
		return fmt.Errorf("the thread does not say how to take it back, with %q:\n%s", undo, thread(m))
	}
	return n.picture(ctx, "zone-resolved", "", 1200, 560)
}

// zonePodState is where a pod is, or why it is nowhere.
type zonePodState struct{ phase, zone, why string }

// pods are those of the story's namespace, by name.
func (st *zoneStory) pods() (map[string]zonePodState, error) {
	nodes, err := objects(st.stage, "nodes")
	if err != nil {
		return nil, err
	}
	zones := map[string]string{}
	for _, node := range nodes {
		zones[node.Metadata.Name] = node.Metadata.Labels["topology.kubernetes.io/zone"]
	}
	pods, err := objects(st.stage, "pods")
	if err != nil {
		return nil, err
	}
	namespace, _, _ := strings.Cut(zoneClaim, "/")
	out := map[string]zonePodState{}
	for _, pod := range pods {
		if pod.Metadata.Namespace != namespace {
			continue
		}
		p := zonePodState{phase: pod.Status.Phase, zone: zones[pod.Spec.NodeName]}
		for _, c := range pod.Status.Conditions {
			if c.Type == "PodScheduled" && c.Status == "False" {
				p.why = c.Message
			}
		}
		out[pod.Metadata.Name] = p
	}
	return out, nil
}
