package stage

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/autoscaling"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	"github.com/aws/aws-sdk-go-v2/service/eks/types"
	"github.com/aws/aws-sdk-go-v2/service/sts"
	"github.com/aws/smithy-go"

	"rollcall/shared/incident"
	"rollcall/shared/spoke"
	"rollcall/shared/store"
)

// Another account, in which everything has the very ids that it has in the hub's own.
var payments = spoke.ID{Account: "222233334444", Region: "us-west-2"}

// watching has the stage's stack watch that account, whose stack has the parameters.
func watching(parameters map[string]string) func(*Options) {
	return func(o *Options) {
		o.Rights, o.SpokeTemplate = "../../deploy/clusterrole.yaml", "../../infra/RollcallSpoke.template.json"
		o.Spokes = []Spoke{{ID: payments, World: o.World, Parameters: parameters}}
		o.Settings = map[string]string{"ROLLCALL_SPOKES": payments.String() + "=payments", "ROLLCALL_EXTERNAL_ID": SpokeExternalID}
	}
}

// scaleSpoke sets the desired size of the nodegroup in the other account.
func (r *running) scaleSpoke(desired int32) {
	r.t.Helper()
	if _, err := r.SpokeWorld(payments).API().UpdateNodegroupConfig(&eks.UpdateNodegroupConfigInput{
		ClusterName: aws.String("eks-workshop"), NodegroupName: aws.String("new_nodegroup_2"),
		ScalingConfig: &types.NodegroupScalingConfig{MinSize: aws.Int32(0), MaxSize: aws.Int32(desired), DesiredSize: aws.Int32(desired)},
	}); err != nil {
		r.t.Fatal(err)
	}
}

// incidentsOf are the incidents of the other account's cluster.
func (r *running) incidentsOf(cluster string) []incident.Incident {
	r.t.Helper()
	list, err := store.New(r.Table.Client(), r.Template.Tables[0].Name).At(r.Clock.Now).In(payments).Incidents(r.t.Context(), cluster)
	if err != nil {
		r.t.Fatal(err)
	}
	return list
}

// posted tells whether a message of the channel has all the words.
func (r *running) posted(words ...string) func() bool {
	return func() bool {
		for _, m := range r.messages() {
			if !slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(m.Text+string(m.Blocks), w) }) {
				return true
			}
		}
		return false
	}
}

// TestTwoAccounts: the same broken route in clusters of one name, with the same ids, in two
// accounts: a message each, which nobody can take for the other's; what is repaired in one is
// proved in that one, and the other stays as it is.
func TestTwoAccounts(t *testing.T) {
	virtual(t, func(t *testing.T) {
		r := start(t, "route", watching(nil))
		r.scale(1, 1)
		r.scaleSpoke(1)
		r.until("the message of the hub's own", r.posted("eks-workshop (111122223333)", table))
		r.until("the message of payments", r.posted("eks-workshop (payments)", table))
		r.until("the missed roll calls", func() bool { return r.posted("eks-workshop (payments)", "1 instance cannot join")() })
		if n := len(r.messages()); n != 2 {
			t.Errorf("%d messages, want one for each account", n)
		}
		world := r.SpokeWorld(payments)
		if _, err := world.API().CreateRoute(&ec2.CreateRouteInput{RouteTableId: aws.String(table), DestinationCidrBlock: aws.String("0.0.0.0/0"), NatGatewayId: aws.String(nat)}); err != nil {
			t.Fatal(err)
		}
		theirs := r.incidentsOf("eks-workshop")
		if len(theirs) != 1 || theirs[0].Account != payments.Account || theirs[0].Key.Spoke != payments {
			t.Fatalf("payments has the incidents %+v", theirs)
		}
		for _, l := range theirs[0].Launches {
			if _, err := world.API().TerminateInstanceInAutoScalingGroup(&autoscaling.TerminateInstanceInAutoScalingGroupInput{
				InstanceId: aws.String(l.Instance), ShouldDecrementDesiredCapacity: aws.Bool(false),
			}); err != nil {
				t.Fatal(err)
			}
		}
		r.until("the proof in payments", r.posted("eks-workshop (payments)", "joined again after"))
		if own := r.incidents(); len(own) != 1 || own[0].State != incident.Open || own[0].Account == payments.Account {
			t.Errorf("the hub's own incident is %+v, want it open as before", own)
		}
		for _, c := range r.spokes[payments].cloud.Calls() {
			if c.Code == "" && (strings.HasPrefix(c.Operation, "Create") || strings.HasPrefix(c.Operation, "Terminate") || strings.HasPrefix(c.Operation, "Delete")) {
				t.Errorf("%s called %s in the other account", c.Caller, c.Action())
			}
		}
		r.nothingLost()
	})
}

// TestSpokeThatDoesNotLetIn: a spoke that has lost its roles, while the hub has sessions of
// them, is said once, by its name, with what to do; the hub's own is watched as before; and
// when the spoke lets it in again that is over. Why a role does not let in, STS does not
// tell: TestConfusedDeputy has the ways.
func TestSpokeThatDoesNotLetIn(t *testing.T) {
	virtual(t, func(t *testing.T) {
		r := start(t, "route", watching(nil))
		r.pass(7 * time.Minute)
		r.LoseSpoke(payments)
		r.scale(1, 1)
		r.until("that the spoke does not let in", r.posted("all clusters (payments)", "does not let it in", "make deploy-spoke"))
		r.until("the message of the hub's own", r.posted("eks-workshop (111122223333)", table))
		r.pass(10 * time.Minute)
		if n := len(r.messages()); n != 2 {
			t.Errorf("%d messages, want one of the spoke and one of the hub's own", n)
		}
		if list := r.incidentsOf("eks-workshop"); len(list) != 0 {
			t.Errorf("of what could not be read there is %+v", list)
		}
		if err := r.Redeploy(payments, nil); err != nil {
			t.Fatal(err)
		}
		r.until("that it lets in again", func() bool {
			list := r.incidentsOf("(all)")
			return len(list) == 1 && list[0].State == incident.Closed && list[0].Resolution == incident.Proved
		})
		// Its cluster does not know the new role, which has the ARN of the one before.
		r.until("that the cluster does not know the role", r.posted("eks-workshop (payments)", "its Kubernetes API does not know Rollcall", "does not work any more, although it has the right ARN"))
		entry := &eks.DeleteAccessEntryInput{ClusterName: aws.String("eks-workshop"), PrincipalArn: aws.String("arn:aws:iam::222233334444:role/rollcall-reader-us-west-2")}
		if _, err := r.SpokeWorld(payments).API().CreateAccessEntry(&eks.CreateAccessEntryInput{ClusterName: entry.ClusterName, PrincipalArn: entry.PrincipalArn}); err == nil {
			t.Error("the entry of the role before is in nobody's way")
		}
		if _, err := r.SpokeWorld(payments).API().DeleteAccessEntry(entry); err != nil {
			t.Fatal(err)
		}
		if _, err := r.SpokeWorld(payments).API().CreateAccessEntry(&eks.CreateAccessEntryInput{ClusterName: entry.ClusterName, PrincipalArn: entry.PrincipalArn, KubernetesGroups: []string{"rollcall"}}); err != nil {
			t.Fatal(err)
		}
		r.until("that it knows the role", func() bool {
			list, err := r.memory().In(payments).Incidents(r.t.Context(), "eks-workshop")
			return err == nil && !slices.ContainsFunc(list, func(i incident.Incident) bool { return i.State != incident.Closed })
		})
		r.scaleSpoke(1)
		r.until("the message of payments", r.posted("eks-workshop (payments)", "cannot join", table))
	})
}

// TestConfusedDeputy: a spoke's roles let in those functions of its own hub that need them,
// with its external id, and nobody else.
func TestConfusedDeputy(t *testing.T) {
	virtual(t, func(t *testing.T) {
		r := start(t, "route", watching(nil), func(o *Options) { o.Quiet = true })
		reader := "arn:aws:iam::" + payments.Account + ":role/rollcall-reader-" + payments.Region
		for name, x := range map[string]struct {
			function, role, externalID string
			parameters                 map[string]string
			in                         bool
		}{
			"as it is meant":               {"rollcall-join-check", reader, SpokeExternalID, nil, true},
			"with another external id":     {"rollcall-join-check", reader, "another-customer", nil, false},
			"without an external id":       {"rollcall-join-check", reader, "", nil, false},
			"a function that looks not":    {"rollcall-report", reader, SpokeExternalID, nil, false},
			"the one open to the internet": {"rollcall-slack-actions", reader, SpokeExternalID, nil, false},
			"a role that nobody opted in":  {"rollcall-remediate", strings.Replace(reader, "reader", "remediator", 1), SpokeExternalID, nil, false},
			"a role of another region":     {"rollcall-join-check", strings.Replace(reader, "us-west-2", "eu-west-1", 1), SpokeExternalID, nil, false},
			"a role of another account":    {"rollcall-join-check", strings.Replace(reader, payments.Account, "999999999999", 1), SpokeExternalID, nil, false},
			"a spoke of another hub":       {"rollcall-join-check", reader, SpokeExternalID, map[string]string{"HubAccount": "999999999999"}, false},
		} {
			if err := r.Redeploy(payments, x.parameters); err != nil {
				t.Fatal(err)
			}
			f, ok := r.Template.Function(x.function)
			if !ok {
				t.Fatal(x.function)
			}
			in := &sts.AssumeRoleInput{RoleArn: &x.role, RoleSessionName: aws.String("test")}
			if x.externalID != "" {
				in.ExternalId = &x.externalID
			}
			_, err := sts.NewFromConfig(r.AsFunction(f)).AssumeRole(t.Context(), in)
			var api smithy.APIError
			if in := err == nil; in != x.in || !in && (!errors.As(err, &api) || api.ErrorCode() != "AccessDenied") {
				t.Errorf("%s: %v, want it let in: %t", name, err, x.in)
			}
		}
	})
}

// TestForgedEvents: what names another account's things, or comes from one that nobody
// watches, wakes no look at anybody's, and is counted.
func TestForgedEvents(t *testing.T) {
	virtual(t, func(t *testing.T) {
		r := start(t, "route", watching(nil))
		event := func(account, of string) json.RawMessage {
			return json.RawMessage(`{"version":"0","id":"` + account + of + `","source":"aws.ec2","detail-type":"EC2 Instance State-change Notification","account":"` + account +
				`","region":"us-west-2","time":"2026-11-20T14:58:00Z","resources":["arn:aws:ec2:us-west-2:` + of + `:instance/i-0ef3c1b2a4d5968f1"],"detail":{"instance-id":"i-0ef3c1b2a4d5968f1","state":"running"}}`)
		}
		for _, e := range []json.RawMessage{event(payments.Account, "111122223333"), event("111122223333", payments.Account), event("999999999999", "999999999999")} {
			r.put(e)
		}
		r.until("that they are refused", func() bool {
			return strings.Count(r.out.String(), "an event is not whose it says, and is refused") == 2 && strings.Count(r.out.String(), "of an account and region that are not watched") == 1
		})
		for _, c := range slices.Concat(r.Cloud.Calls(), r.spokes[payments].cloud.Calls()) {
			if c.Caller == "rollcall-launch-watch" && c.Service == "ec2" {
				t.Errorf("it was looked at: %s", c.Action())
			}
		}
	})
}
