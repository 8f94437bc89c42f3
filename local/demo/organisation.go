package demo

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/autoscaling"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/eks"

	"rollcall/local/fakeslack"
	"rollcall/local/stage"
	"rollcall/shared/config"
	"rollcall/shared/spec"
	"rollcall/shared/spoke"
)

// The other account, in another region; with whom the messages say that the clusters are.
var paymentsSpoke = spoke.ID{Account: "222233334444", Region: "eu-west-1"}

const (
	shopName     = "shop, us-west-2"
	paymentsName = "payments, eu-west-1"
)

// spokeTemplate is what is deployed in an account that is watched from another.
const spokeTemplate = "infra/RollcallSpoke.template.json"

// relayTemplate is what is deployed beside a cluster that only its VPC reaches.
const relayTemplate = "infra/RollcallRelay.template.json"

// organisationSettings name both accounts.
func organisationSettings() map[string]string {
	return map[string]string{
		string(config.Spokes):     "111122223333/us-west-2=shop," + paymentsSpoke.String() + "=payments",
		string(config.ExternalID): stage.SpokeExternalID,
	}
}

// account is one of the two, with its own clients: a story as the route story is.
type account struct {
	story
	name string // as messages have it
}

// organisationStory is the cast.
type organisationStory struct {
	stage          *stage.Stage
	shop, payments account
}

// organisation plays the same broken route in two accounts that have everything alike, down
// to the ids. Then one of them loses the role by which it is looked at.
func organisation(ctx context.Context, s *stage.Stage, n *narrator) error {
	if err := needs(s, "launch-watch", "join-check", "sweep"); err != nil {
		return err
	}
	in := func(cfg aws.Config, name string) account {
		return account{story{stage: s, ec2: ec2.NewFromConfig(cfg), eks: eks.NewFromConfig(cfg), groups: autoscaling.NewFromConfig(cfg)}, name}
	}
	st := &organisationStory{stage: s, shop: in(s.AsAdmin(), shopName), payments: in(s.AsAdminIn(paymentsSpoke), paymentsName)}
	for _, act := range []func(context.Context, *narrator) error{st.setting, st.breaks, st.mended, st.lost, st.returns} {
		if err := act(ctx, n); err != nil {
			return fmt.Errorf("%w; the channel says:\n%s", err, st.channel())
		}
	}
	return nil
}

// setting looks at both accounts before anything happens.
func (st *organisationStory) setting(ctx context.Context, n *narrator) error {
	for _, a := range []*account{&st.shop, &st.payments} {
		n.say("account %s:", a.name)
		if err := a.setting(ctx, n); err != nil {
			return err
		}
	}
	if st.shop.table != st.payments.table || st.shop.subnet != st.payments.subnet {
		return fmt.Errorf("%s and %s are not alike", st.shop.table, st.payments.table)
	}
	told, err := st.payments.eks.DescribeCluster(ctx, &eks.DescribeClusterInput{Name: aws.String(cluster)})
	if err != nil {
		return err
	}
	if vpc := told.Cluster.ResourcesVpcConfig; vpc.EndpointPublicAccess || !vpc.EndpointPrivateAccess {
		return fmt.Errorf("the cluster of %s can be reached from outside its VPC", paymentsName)
	}
	n.say("the cluster of payments has a private endpoint only: Rollcall reads it through a relay in its VPC")
	return nil
}

// relayed waits until all that was read in the private cluster is known to have come through
// its relay: a list for each invocation. What came another way has none, and is not waited out.
func (st *organisationStory) relayed(ctx context.Context, n *narrator) (lists int, err error) {
	err = n.wait(ctx, "counting what was read through the relay", func() (bool, error) {
		invokes := 0
		lists = 0
		for _, c := range st.stage.SpokeCalls(paymentsSpoke) {
			switch {
			case c.Service == "kubernetes":
				lists++
			case c.Action() == "lambda:InvokeFunction" && c.Code == "":
				invokes++
			}
		}
		return lists > 0 && lists == invokes, nil
	})
	return lists, err
}

// breaks scales both groups up: the same two ids are named in two messages, each of which
// says in its first line whose they are.
func (st *organisationStory) breaks(ctx context.Context, n *narrator) error {
	for _, a := range []*account{&st.shop, &st.payments} {
		if err := a.scale(ctx, 1); err != nil {
			return err
		}
	}
	n.say("aws eks update-nodegroup-config … desiredSize=1, in both accounts: an instance is launched in each")
	for i, a := range []*account{&st.shop, &st.payments} {
		other := []string{paymentsName, shopName}[i]
		var m fakeslack.Message
		if err := n.wait(ctx, "waiting for the roll call that the node of "+a.name+" misses", func() (bool, error) {
			var said bool
			m, said = st.of(a.name, "cannot join", a.table, a.subnet)
			return said, st.most(2)
		}); err != nil {
			return err
		}
		if all := everything(m) + thread(m); strings.Contains(all, other) {
			return fmt.Errorf("the message of %s names %s:\n%s", a.name, other, all)
		}
		n.say("Slack: %s", firstLine(everything(m)))
	}
	n.say("two messages about the same ids; each first line says whose they are")
	return n.picture(ctx, "organisation", "", 1200, 950)
}

// mended adds the route in the other account, as its people do: its message closes, and the
// one of the hub's own account stays as it is.
func (st *organisationStory) mended(ctx context.Context, n *narrator) error {
	if err := st.payments.addRoute(ctx, n); err != nil {
		return err
	}
	if err := n.wait(ctx, "waiting for the proof in "+paymentsName, func() (bool, error) {
		_, said := st.of(paymentsName, "joined again after")
		return said, st.most(2)
	}); err != nil {
		return err
	}
	if _, open := st.of(shopName, "cannot join"); !open {
		return fmt.Errorf("the message of %s is closed with the other", shopName)
	}
	n.say("payments is resolved; shop, with the same route table id, is not: nothing was changed there")
	return nil
}

// addRoute makes the route by hand, and ends the instance that does not try again.
func (a *account) addRoute(ctx context.Context, n *narrator) error {
	if _, err := a.ec2.CreateRoute(ctx, &ec2.CreateRouteInput{RouteTableId: &a.table, DestinationCidrBlock: aws.String("0.0.0.0/0"), NatGatewayId: aws.String(newNAT)}); err != nil {
		return err
	}
	n.say("account %s: aws ec2 create-route --route-table-id %s --destination-cidr-block 0.0.0.0/0 --nat-gateway-id %s", a.name, a.table, newNAT)
	out, err := a.groups.DescribeAutoScalingGroups(ctx, &autoscaling.DescribeAutoScalingGroupsInput{AutoScalingGroupNames: []string{a.group}})
	if err != nil {
		return err
	}
	for _, g := range out.AutoScalingGroups {
		for _, i := range g.Instances {
			if _, err := a.groups.TerminateInstanceInAutoScalingGroup(ctx, &autoscaling.TerminateInstanceInAutoScalingGroupInput{
				InstanceId: i.InstanceId, ShouldDecrementDesiredCapacity: aws.Bool(false),
			}); err != nil {
				return err
			}
		}
	}
	return nil
}

// lost is what the people of payments do by mistake: they delete the stack by which they
// are watched. It is said once, with what to do, and the hub's own account goes on.
func (st *organisationStory) lost(ctx context.Context, n *narrator) error {
	st.stage.LoseSpoke(paymentsSpoke)
	n.say("account %s: aws cloudformation delete-stack --stack-name rollcall-spoke", paymentsName)
	if err := n.wait(ctx, "waiting until it is told that payments lets nobody in", func() (bool, error) {
		m, said := st.of(paymentsName, "does not let it in")
		return said && strings.Contains(everything(m), "make deploy-spoke"), st.most(3)
	}); err != nil {
		return err
	}
	m, _ := st.of(paymentsName, "does not let it in")
	n.say("Slack: %s", firstLine(everything(m)))
	if err := n.picture(ctx, "organisation-role", "", 1200, 1180); err != nil {
		return err
	}
	if err := st.shop.addRoute(ctx, n); err != nil {
		return err
	}
	if err := n.wait(ctx, "waiting for the proof in "+shopName, func() (bool, error) {
		_, said := st.of(shopName, "joined again after")
		return said, st.most(3)
	}); err != nil {
		return err
	}
	n.say("shop is watched as before, and resolved, while payments cannot be")
	// Two more ticks in which nothing of payments can be read.
	if err := n.pass(ctx, 11*time.Minute); err != nil {
		return err
	}
	if err := st.most(3); err != nil {
		return err
	}
	n.say("ten minutes later that is still said once, and nothing of payments is called well")
	return nil
}

// returns deploys the stack again: what was said is taken back. The clusters there do not know
// the new role, whose access entry is still that of the old one, until it is made again.
func (st *organisationStory) returns(ctx context.Context, n *narrator) error {
	if err := st.stage.Redeploy(paymentsSpoke, nil); err != nil {
		return err
	}
	n.say("account %s: make deploy-spoke HUB=111122223333/us-west-2 EXTERNAL_ID=…", paymentsName)
	if err := n.wait(ctx, "waiting until it is taken back", func() (bool, error) {
		m, said := st.of(paymentsName, "all clusters")
		return said && strings.Contains(everything(m), "✅"), st.most(3)
	}); err != nil {
		return err
	}
	m, _ := st.of(paymentsName, "all clusters")
	n.say("the same message, taken back: %s", firstLine(everything(m)))
	if err := st.admitted(ctx, n); err != nil {
		return err
	}
	for _, m := range shown(st.stage) {
		if !strings.Contains(everything(m), "✅") {
			return fmt.Errorf("a message is not resolved: %s", firstLine(everything(m)))
		}
	}
	reads := []string{"Describe", "Get", "List", "list", "get", "Lookup"}
	for _, c := range st.stage.SpokeCalls(paymentsSpoke) {
		if strings.HasPrefix(c.Caller, "rollcall-") && c.Action() != "lambda:InvokeFunction" && !slices.ContainsFunc(reads, func(verb string) bool { return strings.HasPrefix(c.Operation, verb) }) {
			return fmt.Errorf("%s called %s in payments, which opted in to nothing", c.Caller, c.Action())
		}
	}
	lists, err := st.relayed(ctx, n)
	if err != nil {
		return err
	}
	n.say("four messages, each resolved; Rollcall has changed nothing in payments: it asked the private cluster for %d lists, each through the relay", lists)
	return n.picture(ctx, "organisation-after", "", 1200, 860)
}

// admitted makes the access entry again, as the message says: EKS keeps the id of the role
// with it, and that is another one.
func (st *organisationStory) admitted(ctx context.Context, n *narrator) error {
	var m fakeslack.Message
	if err := n.wait(ctx, "waiting until it is told that the cluster of payments does not know the new role", func() (bool, error) {
		var said bool
		m, said = st.of(paymentsName, "does not know Rollcall", "before the reader's stack was deleted")
		return said, st.most(4)
	}); err != nil {
		return err
	}
	n.say("Slack: %s", firstLine(everything(m)))
	role := config.SpokeRoleARN("rollcall", spec.SpokeReader, paymentsSpoke)
	if _, err := st.payments.eks.DeleteAccessEntry(ctx, &eks.DeleteAccessEntryInput{ClusterName: aws.String(cluster), PrincipalArn: &role}); err != nil {
		return err
	}
	if _, err := st.payments.eks.CreateAccessEntry(ctx, &eks.CreateAccessEntryInput{ClusterName: aws.String(cluster), PrincipalArn: &role, KubernetesGroups: []string{"rollcall"}}); err != nil {
		return err
	}
	n.say("account %s: aws eks delete-access-entry … && aws eks create-access-entry … --kubernetes-groups rollcall", paymentsName)
	return n.wait(ctx, "waiting until the cluster is read again", func() (bool, error) {
		m, said := st.of(paymentsName, "does not know Rollcall")
		return said && strings.Contains(everything(m), "✅"), st.most(4)
	})
}

// of is the channel's message of an account that says all of it; that it is of the account
// its first line says.
func (st *organisationStory) of(name string, parts ...string) (fakeslack.Message, bool) {
	for _, m := range shown(st.stage) {
		text := everything(m)
		if strings.Contains(firstLine(text), "("+name+")") && !slices.ContainsFunc(parts, func(p string) bool { return !strings.Contains(text, p) }) {
			return m, true
		}
	}
	return fakeslack.Message{}, false
}

// most holds that there are no more messages.
func (st *organisationStory) most(want int) error {
	if n := len(shown(st.stage)); n > want {
		return fmt.Errorf("there are %d messages in the channel, want at most %d", n, want)
	}
	return nil
}

// channel is what the channel says, a line for each message.
func (st *organisationStory) channel() string {
	var lines []string
	for _, m := range shown(st.stage) {
		lines = append(lines, firstLine(everything(m)))
	}
	return strings.Join(lines, "\n")
}
