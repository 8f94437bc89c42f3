package stage

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/aws/aws-sdk-go-v2/service/sts"
	"github.com/aws/smithy-go"

	"rollcall/local/fakeslack"
	"rollcall/local/platform/template"
	"rollcall/shared/config"
	"rollcall/shared/incident"
	"rollcall/shared/network/leak"
	"rollcall/shared/remedy"
	"rollcall/shared/remedy/action"
	"rollcall/shared/report"
	"rollcall/shared/slack"
	"rollcall/shared/store"
)

// approvableThere has the route offered in the other account, and not in the hub's own,
// whose cluster has the same name and the same ids.
func approvableThere() map[string]string {
	return map[string]string{
		string(config.Remedies): payments.In("eks-workshop") + "/add-nat-route=approve", string(config.RemedyVPCs): workshopVPC,
	}
}

// withSettings adds to what watching sets.
func withSettings(more map[string]string) func(*Options) {
	return func(o *Options) {
		for k, v := range more {
			o.Settings[k] = v
		}
	}
}

// theirs is the incident of the route in the other account.
func (r *running) theirs() incident.Incident {
	for _, inc := range r.incidentsOf("eks-workshop") {
		if inc.Key.Resource == table {
			return inc
		}
	}
	return incident.Incident{}
}

// theirOffer is the newest offer there.
func (r *running) theirOffer() incident.Offer {
	if list := r.theirs().Offers; len(list) > 0 {
		return list[len(list)-1]
	}
	return incident.Offer{}
}

func (r *running) theirRuns() []remedy.Run {
	r.t.Helper()
	list, err := store.New(r.Table.Client(), r.Template.Tables[0].Name).At(r.Clock.Now).In(payments).Runs(r.t.Context(), "eks-workshop")
	if err != nil {
		r.t.Fatal(err)
	}
	return list
}

// writes are the calls that changed something in AWS, by Rollcall, in both accounts.
func (r *running) writes() (own, theirs []string) {
	own = r.wrote()
	for _, c := range r.SpokeCalls(payments) {
		if strings.HasPrefix(c.Caller, "rollcall-") && c.Service != "kubernetes" && !reads(c.Operation) {
			theirs = append(theirs, c.Caller+" "+c.Action()+" "+c.Code)
		}
	}
	return own, theirs
}

// routedThere tells whether the table in the other account has a default route.
func (r *running) routedThere() bool {
	r.t.Helper()
	out, err := r.SpokeWorld(payments).API().DescribeRouteTables(&ec2.DescribeRouteTablesInput{RouteTableIds: []string{table}})
	if err != nil {
		r.t.Fatal(err)
	}
	for _, x := range out.RouteTables[0].Routes {
		if aws.ToString(x.DestinationCidrBlock) == "0.0.0.0/0" {
			return true
		}
	}
	return false
}

// TestRemedyInASpoke: what is offered for a cluster of another account is done there, as that
// account's role remediator, and there only. First the wrong things: the plan against the
// namesake in the hub's own account, by a button and by an event; then an account whose
// role was not deployed, which says so and what to deploy.
func TestRemedyInASpoke(t *testing.T) {
	virtual(t, func(t *testing.T) {
		woken := &counts{text: "Rollcall Remedy Approved"}
		r := start(t, "route", watching(nil), withSettings(map[string]string{string(config.SlackActions): "on", string(config.Approvers): Approvers}),
			withSettings(approvableThere()), woken.observe)
		before := r.routes()
		r.scale(1, 1)
		r.scaleSpoke(1)
		says := func(words ...string) func() bool {
			return func() bool {
				for _, m := range r.messages() {
					if m.TS == r.theirs().Delivery.TS && !slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(whole(m), w) }) {
						return true
					}
				}
				return false
			}
		}
		// The account has no such role: nobody is asked, and what to deploy is said.
		r.until("that there is no role", says("does not let Rollcall in", "make deploy-spoke", payments.String()))
		if list := r.theirRuns(); len(list) > 0 || r.theirOffer().State == incident.Offered {
			t.Fatalf("offered %+v, run %+v", r.theirOffer(), list)
		}
		if err := r.OptIn(payments, approvableThere()); err != nil {
			t.Fatal(err)
		}
		r.until("the offer in payments", func() bool { return r.theirOffer().State == incident.Offered })
		r.until("the message of the hub's own", func() bool { return r.incident().Key.Resource == table && r.incident().Delivery.TS != "" })
		offer, own := r.theirOffer(), r.incident()
		if len(own.Offers) > 0 {
			t.Fatalf("the hub's own has the offers %+v, and has opted in to nothing", own.Offers)
		}
		if offer.Plan.Account != payments.Account || offer.Plan.Region != payments.Region {
			t.Fatalf("the plan is of %s %s", offer.Plan.Account, offer.Plan.Region)
		}

		untouched := func(what string) {
			t.Helper()
			own, theirs := r.writes()
			if now := r.routes(); now != before || len(own) > 0 || len(theirs) > 0 || r.routedThere() || len(r.runs()) > 0 {
				t.Fatalf("%s: the hub's routes are\n%s\ncalls %q in the hub's own account, %q in payments; runs %+v", what, now, own, theirs, r.runs())
			}
		}
		// The button of the hub's own message, with the plan of the other account.
		r.answers("the plan at the namesake", OnCall, incident.NoSuchPlan, func() {
			r.sign(OnCall, slack.Value{Key: report.Key{Cluster: "eks-workshop", Check: own.Key.Check, Resource: table}, Plan: offer.Hash}, own.Delivery.TS)
		})
		untouched("the plan at the namesake")
		// An event of the bus that says that it was approved for the namesake.
		r.forge(woken.so, approvalOf(t, own, offer.Plan))
		untouched("forged for the namesake")

		// Approved by whom may, while the account has lost the role since.
		if err := r.OptIn(payments, nil); err != nil {
			t.Fatal(err)
		}
		r.pass(2 * time.Minute) // the hub has had its session for longer than a moment
		press := func(ts string) {
			t.Helper()
			if err := r.Slack.Press(t.Context(), fakeslack.Press{Channel: Channel, TS: ts, ActionID: string(report.ApprovePlan), User: OnCall}); err != nil {
				t.Fatal(err)
			}
		}
		press(r.theirs().Delivery.TS)
		r.until("what came of it", func() bool { return len(r.theirRuns()) == 1 && !r.theirRuns()[0].Ended.IsZero() })
		run := r.theirRuns()[0]
		if run.Result == action.Done || run.Reason != string(action.RoleNotAssumed) {
			t.Fatalf("the run without a role is %s, %s: %s", run.Result, run.Reason, run.Says)
		}
		untouched("without the role")
		r.until("that it is said", says("Nothing was changed", "make deploy-spoke"))

		// The role is back: the plan is offered anew, approved and done.
		if err := r.OptIn(payments, approvableThere()); err != nil {
			t.Fatal(err)
		}
		r.until("the offer again", func() bool { return r.theirOffer().State == incident.Offered })
		press(r.theirs().Delivery.TS)
		r.until("the route in payments", r.routedThere)
		r.until("that it is done", func() bool {
			list := r.theirRuns()
			return len(list) == 2 && (list[0].Result == action.Done || list[1].Result == action.Done)
		})
		if now := r.routes(); now != before {
			t.Errorf("the hub's own routes are\n%s", now)
		}
		ours, theirs := r.writes()
		if len(ours) > 0 || len(theirs) != 1 || theirs[0] != "rollcall-remediate ec2:CreateRoute " {
			t.Errorf("calls %q in the hub's own account, %q in payments", ours, theirs)
		}
		for _, c := range r.SpokeCalls(payments) {
			if c.Operation == "CreateRoute" && c.Principal.ARN != "arn:aws:sts::"+payments.Account+":assumed-role/rollcall-remediator-us-west-2/rollcall-remediate" {
				t.Errorf("the route was made by %s", c.Principal.ARN)
			}
		}
		if o := r.incident(); o.State != incident.Open {
			t.Errorf("the hub's own incident is %s", o.State)
		}
		r.nothingLost()
	})
}

// TestRemediatorsReach: what the session of a spoke's remediator may do is what the spoke
// opted in to; the hub's own function may not do it in the hub's own account, and the
// session is nobody there.
func TestRemediatorsReach(t *testing.T) {
	virtual(t, func(t *testing.T) {
		r := start(t, "route", watching(nil), withSettings(approvableThere()), func(o *Options) { o.Quiet = true; o.Spokes[0].OptedIn = approvableThere() })
		f, _ := r.Template.Function(remediator)
		as, err := r.assume(f, "arn:aws:iam::"+payments.Account+":role/rollcall-remediator-us-west-2")
		if err != nil {
			t.Fatal(err)
		}
		route := &ec2.CreateRouteInput{RouteTableId: aws.String(table), DestinationCidrBlock: aws.String("0.0.0.0/0"), NatGatewayId: aws.String(nat)}
		if _, err := ec2.NewFromConfig(r.AsFunction(f)).CreateRoute(t.Context(), route); !refusedBy(err) {
			t.Errorf("in the hub's own account the function is answered %v", err)
		}
		client := ec2.NewFromConfig(as)
		for name, call := range map[string]func() error{
			"deletes a route": func() error {
				_, err := client.DeleteRoute(t.Context(), &ec2.DeleteRouteInput{RouteTableId: aws.String(table), DestinationCidrBlock: aws.String("0.0.0.0/0")})
				return err
			},
			"opens a security group": func() error {
				_, err := client.AuthorizeSecurityGroupIngress(t.Context(), &ec2.AuthorizeSecurityGroupIngressInput{GroupId: aws.String("sg-0e50000000000000f")})
				return err
			},
			"deletes an interface": func() error {
				_, err := client.DeleteNetworkInterface(t.Context(), &ec2.DeleteNetworkInterfaceInput{NetworkInterfaceId: aws.String("eni-0f100000000000001")})
				return err
			},
		} {
			if err := call(); !refusedBy(err) {
				t.Errorf("a remediator that opted in to a route %s: %v", name, err)
			}
		}
		if _, err := client.CreateRoute(t.Context(), route); err != nil || !r.routedThere() || strings.Contains(r.routes(), table+" 0.0.0.0/0") {
			t.Errorf("the route was not made in payments alone: %v", err)
		}
	})
}

// assume is the configuration of a client in a role of payments that a function assumes.
func (r *running) assume(f template.Function, role string) (aws.Config, error) {
	cfg := r.AsFunction(f)
	out, err := sts.NewFromConfig(cfg).AssumeRole(r.t.Context(), &sts.AssumeRoleInput{RoleArn: &role, RoleSessionName: aws.String(f.Name), ExternalId: aws.String(SpokeExternalID)})
	if err != nil {
		return aws.Config{}, err
	}
	cfg.Region = payments.Region
	cfg.Credentials = credentials.NewStaticCredentialsProvider(aws.ToString(out.Credentials.AccessKeyId), aws.ToString(out.Credentials.SecretAccessKey), aws.ToString(out.Credentials.SessionToken))
	return cfg, nil
}

// refusedBy tells whether IAM refused a call.
func refusedBy(err error) bool {
	var api smithy.APIError
	return errors.As(err, &api) && (api.ErrorCode() == "UnauthorizedOperation" || api.ErrorCode() == "AccessDenied")
}

// TestCleanupInASpoke: interfaces that dead nodes left behind in another account are deleted
// there, as that account's role cleaner; those of the namesake in the hub's own account stay,
// and where the role was not deployed that is said, with what to deploy.
func TestCleanupInASpoke(t *testing.T) {
	virtual(t, func(t *testing.T) {
		deletes := map[string]string{string(config.Cleanup): payments.In("eks-workshop") + "=delete"}
		r := start(t, "route", watching(nil), withSettings(deletes), withSettings(map[string]string{"ROLLCALL_CLEANUP_SHARE": "100"}))
		const dead = "i-0dead000000000001"
		ours := r.leave(dead, nil)
		there := r.leaveThere(dead)
		r.until("that nothing can be deleted there", r.posted("eks-workshop (payments)", "cannot delete leaked interfaces", "make deploy-spoke", "cleanup="))
		if !r.isThere(there) || !r.interfaceIsThere(ours) {
			t.Fatal("an interface is gone that nobody may delete")
		}
		n := len(r.messages())
		r.pass(40 * time.Minute)
		if got := len(r.messages()); got != n {
			t.Errorf("%d messages, want %d: it is said once", got, n)
		}
		if err := r.OptIn(payments, deletes); err != nil {
			t.Fatal(err)
		}
		r.until("that it is deleted", func() bool { return !r.isThere(there) })
		if !r.interfaceIsThere(ours) {
			t.Error("the interface of the namesake is gone")
		}
		r.until("that it is taken back", r.posted("eks-workshop (payments)", "✅", "DeleteNetworkInterface"))
		own, theirs := r.writes()
		for _, c := range own {
			t.Errorf("in the hub's own account: %s", c)
		}
		if len(theirs) != 1 || theirs[0] != "rollcall-eni-cleanup ec2:DeleteNetworkInterface " {
			t.Errorf("calls in payments: %q", theirs)
		}
	})
}

// leaveThere makes an interface in the other account that a node left behind.
func (r *running) leaveThere(owner string) string {
	r.t.Helper()
	spec := ec2types.TagSpecification{ResourceType: ec2types.ResourceTypeNetworkInterface}
	for k, v := range map[string]string{leak.TagInstance: owner, leak.TagCreated: r.Clock.Now().Add(-time.Hour).UTC().Format(time.RFC3339), leak.TagCluster: "eks-workshop"} {
		spec.Tags = append(spec.Tags, ec2types.Tag{Key: aws.String(k), Value: aws.String(v)})
	}
	out, err := r.SpokeWorld(payments).EC2().CreateNetworkInterface(&ec2.CreateNetworkInterfaceInput{
		SubnetId: aws.String("subnet-0b20000000000000b"), Description: aws.String("aws-K8S-" + owner), TagSpecifications: []ec2types.TagSpecification{spec},
	})
	if err != nil {
		r.t.Fatal(err)
	}
	return aws.ToString(out.NetworkInterface.NetworkInterfaceId)
}

func (r *running) isThere(id string) bool {
	_, err := r.SpokeWorld(payments).EC2().DescribeNetworkInterfaces(&ec2.DescribeNetworkInterfacesInput{NetworkInterfaceIds: []string{id}})
	return err == nil
}
