package stage

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	"github.com/aws/aws-sdk-go-v2/service/eks/types"
	"github.com/aws/aws-sdk-go-v2/service/sts"
	"github.com/aws/smithy-go"

	"rollcall/shared/config"
	"rollcall/shared/incident"
	"rollcall/shared/lambda"
	"rollcall/shared/network/leak"
	"rollcall/shared/remedy"
	"rollcall/shared/report"
	"rollcall/shared/slack/button"
	"rollcall/shared/spoke"
	"rollcall/shared/store"
	"rollcall/stage/fakeslack"
	"rollcall/stage/platform/template"
	"rollcall/stage/programs"
)

// approvableThere has the route offered in the other account, and not in the hub's own,
// whose cluster has the same name and the same ids.
func approvableThere() map[string]string {
	return map[string]string{
		string(config.Remedies): payments.Qualify("eks-workshop") + "/add-nat-route=approve", string(config.RemedyVPCs): workshopVPC,
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
	list, err := store.New(r.Table.Client(), r.Template.Tables[0].Name).WithClock(r.Clock.Now).ForSpoke(payments).Runs(r.t.Context(), "eks-workshop")
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

// routedThere reports whether the table in the other account has a default route.
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
		// The account has no such role: no API is called, and what to deploy is said.
		r.until("that there is no role", says("does not trust Rollcall", "make deploy-spoke", payments.String()))
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
			r.sign(OnCall, button.Value{Key: report.Key{Cluster: "eks-workshop", Check: own.Key.Check, Resource: table}, Plan: offer.Hash}, own.Delivery.TS)
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
		if run.Result == remedy.Done || run.Reason != string(remedy.RoleNotAssumed) {
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
			return len(list) == 2 && (list[0].Result == remedy.Done || list[1].Result == remedy.Done)
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
// session may do nothing there.
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

// refusedBy reports whether IAM refused a call.
func refusedBy(err error) bool {
	var api smithy.APIError
	return errors.As(err, &api) && (api.ErrorCode() == "UnauthorizedOperation" || api.ErrorCode() == "AccessDenied")
}

// TestCleanupInASpoke: interfaces that dead nodes left behind in another account are deleted
// there, as that account's role cleaner; those of the namesake in the hub's own account stay,
// and where the role was not deployed that is said, with what to deploy.
func TestCleanupInASpoke(t *testing.T) {
	virtual(t, func(t *testing.T) {
		deletes := map[string]string{string(config.Cleanup): payments.Qualify("eks-workshop") + "=delete"}
		r := start(t, "route", watching(nil), withSettings(deletes), withSettings(map[string]string{"ROLLCALL_CLEANUP_SHARE": "100"}))
		const dead = "i-0dead000000000001"
		ours := r.leave(dead, nil)
		there := r.leaveThere(dead)
		r.until("that nothing can be deleted there", r.posted("eks-workshop (payments)", "cannot delete leaked interfaces", "make deploy-spoke", "cleanup="))
		if !r.isThere(there) || !r.interfaceIsThere(ours) {
			t.Fatal("an interface is gone that no function may delete")
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

// TestASpokeIsTakenOut: what is open of an account that the settings do not name any more is
// closed in its own message; the hub's own of the same ids is not.
func TestASpokeIsTakenOut(t *testing.T) {
	virtual(t, func(t *testing.T) {
		r := start(t, "route", watching(nil))
		r.scale(1, 1)
		r.scaleSpoke(1)
		r.until("the missed roll calls", func() bool {
			return r.posted("eks-workshop (payments)", "1 instance cannot join")() && r.posted("eks-workshop (111122223333)", "1 instance cannot join")()
		})
		if err := r.Deploy(map[string]string{"ROLLCALL_SPOKES": "none"}); err != nil {
			t.Fatal(err)
		}
		r.until("the end in payments", r.posted("eks-workshop (payments)", "closed, no longer watched, may still fail"))
		theirs, own := r.incidentsOf("eks-workshop"), r.incidents()
		if len(theirs) != 1 || theirs[0].State != incident.Closed || theirs[0].Resolution != incident.Unwatched {
			t.Errorf("payments has %+v", theirs)
		}
		if len(own) != 1 || own[0].State != incident.Open {
			t.Errorf("the hub's own are %+v", own)
		}
		if n := len(r.messages()); n != 2 {
			t.Errorf("%d messages, want one for each account", n)
		}
	})
}

// Bad input of many accounts: each is said once, by name, with what to do; no other is
// touched; nothing is taken for healthy; and it is taken back when it is over.

// A third account.
var search = spoke.ID{Account: "333344445555", Region: "us-west-2"}

// watchingBoth has the stage's stack watch two other accounts.
func watchingBoth(organization string) func(*Options) {
	return func(o *Options) {
		watching(nil)(o)
		o.Spokes = append(o.Spokes, Spoke{ID: search, World: o.World})
		for i := range o.Spokes {
			o.Spokes[i].Organization = organization
		}
		o.Settings["ROLLCALL_SPOKES"] = payments.String() + "=payments," + search.String() + "=search"
	}
}

// saidOf counts the messages whose first line names an account.
func (r *running) saidOf(whose string) int {
	n := 0
	for _, m := range r.messages() {
		line, _, _ := strings.Cut(m.Text, "\n")
		if strings.Contains(line, "("+whose+")") {
			n++
		}
	}
	return n
}

// blindOf is what cannot be looked at in all of a spoke.
func (r *running) blindOf(id spoke.ID) []incident.Incident {
	r.t.Helper()
	list, err := r.memory().ForSpoke(id).Incidents(r.t.Context(), report.AllClusters)
	if err != nil {
		r.t.Fatal(err)
	}
	return slices.DeleteFunc(list, func(i incident.Incident) bool { return i.State == incident.Closed })
}

// TestHubThatNoSpokeTrusts: the hub's account has left the organization that the spokes want
// (aws:PrincipalOrgID is that of who assumes: IAM user guide, "AWS global condition context
// keys"). Each is said once, by its name; the hub's own goes on; and it is over when the hub
// is back.
func TestHubThatNoSpokeTrusts(t *testing.T) {
	virtual(t, func(t *testing.T) {
		r := start(t, "route", watchingBoth("o-a1b2c3d4e5"))
		r.scale(1, 1)
		for _, name := range []string{"payments", "search"} {
			r.until("that "+name+" does not let in", r.posted("all clusters ("+name+")", "role there is denied", "left the organization"))
		}
		r.until("the message of the hub's own", r.posted("eks-workshop (111122223333)", "cannot join", table))
		r.pass(20 * time.Minute)
		if n := len(r.messages()); n != 3 {
			t.Errorf("%d messages, want one for each spoke, and one of the hub's own", n)
		}
		if list := append(r.incidentsOf("eks-workshop"), r.incidentsOf("(all)")...); len(list) != 1 {
			t.Errorf("of payments there are %d incidents", len(list))
		}
		r.JoinOrganization("o-a1b2c3d4e5")
		r.until("that they let in again", func() bool { return len(r.blindOf(payments))+len(r.blindOf(search)) == 0 })
	})
}

// TestAccountThatLeft: an account that left the organization loses the stack that a StackSet
// had made in it (CloudFormation user guide, "Automatic deployments": stacks of accounts that
// leave are deleted). It alone is said, and when it is taken out of the settings nothing more
// is asked of it.
func TestAccountThatLeft(t *testing.T) {
	virtual(t, func(t *testing.T) {
		r := start(t, "route", watchingBoth(""))
		r.pass(6 * time.Minute)
		r.LoseSpoke(search)
		r.until("that search does not let in", r.posted("all clusters (search)", "remove it from the setting spokes"))
		r.scaleSpoke(1)
		r.until("the message of payments", r.posted("eks-workshop (payments)", "cannot join", table))
		if n := r.saidOf("search"); n != 1 || len(r.messages()) != 2 {
			t.Errorf("%d messages of search of %d", n, len(r.messages()))
		}
		if err := r.Deploy(map[string]string{"ROLLCALL_SPOKES": payments.String() + "=payments"}); err != nil {
			t.Fatal(err)
		}
		r.pass(time.Minute) // what was under way
		asked := r.refusedRoles()
		r.pass(20 * time.Minute)
		if n := r.refusedRoles(); n != asked || len(r.messages()) != 2 {
			t.Errorf("asked %d times for a role of what is not watched any more; %d messages", n-asked, len(r.messages()))
		}
	})
}

// refusedRoles counts how often a role was asked for that did not let in.
func (r *running) refusedRoles() int {
	n := 0
	for _, c := range r.Cloud.Calls() {
		if c.Operation == "AssumeRole" && c.Code != "" {
			n++
		}
	}
	return n
}

// TestRegionThatIsNotEnabled: the region of a spoke is disabled in its account. That is said
// once, with what to do; nothing there is reported healthy, and the hub's own goes on.
func TestRegionThatIsNotEnabled(t *testing.T) {
	virtual(t, func(t *testing.T) {
		r := start(t, "route", watching(nil))
		r.pass(7 * time.Minute)
		r.DisableRegion(payments, true)
		r.scale(1, 1)
		r.until("that the region is not enabled", r.posted("all clusters (payments)", "eks:ListClusters", "If the account has not enabled the spoke's region", "account:EnableRegion"))
		r.until("the message of the hub's own", r.posted("eks-workshop (111122223333)", "cannot join", table))
		r.pass(25 * time.Minute)
		if n := len(r.messages()); n != 2 {
			t.Errorf("%d messages, want one of the spoke and one of the hub's own", n)
		}
		r.DisableRegion(payments, false)
		r.until("that it can be looked at again", func() bool { return len(r.blindOf(payments)) == 0 })
	})
}

// TestHangingEndpointInASpoke: the Kubernetes API of a spoke's cluster takes connections and
// does not answer. That is said of that cluster, once; of its namesake in the hub's own
// account everything is known as before.
func TestHangingEndpointInASpoke(t *testing.T) {
	virtual(t, func(t *testing.T) {
		r := start(t, "route", watching(nil), func(o *Options) { o.Programs = hanging(payments) })
		r.scale(1, 1)
		r.scaleSpoke(1)
		r.until("the roll call of the hub's own", r.posted("eks-workshop (111122223333)", "cannot join", table))
		r.until("that it hangs", r.posted("eks-workshop (payments)", "its Kubernetes API cannot be reached"))
		r.pass(30 * time.Minute)
		n := 0
		for _, m := range r.messages() {
			all := whole(m)
			if strings.Contains(m.Text, "(payments)") && strings.Contains(m.Text, "cannot read the cluster") {
				n++
			}
			if strings.Contains(m.Text, "(111122223333)") && strings.Contains(all, "gives no answer") || strings.Contains(m.Text, "✅") {
				t.Errorf("said: %s", m.Text)
			}
		}
		if n != 1 {
			t.Errorf("that it hangs is said %d times", n)
		}
	})
}

// hanging has the APIs of a spoke's clusters answer no one.
func hanging(of spoke.ID) []lambda.Program {
	list := programs.All()
	for i := range list {
		build := list[i].Build
		list[i].Build = func(ctx context.Context, e lambda.Env) (lambda.Handler, error) {
			if e.Config.Spoke == of {
				found := e.Endpoints
				e.Endpoints = func(cluster string) (string, []byte, http.RoundTripper, bool) {
					endpoint, ca, _, ok := found(cluster)
					return endpoint, ca, blackhole{}, ok
				}
			}
			return build(ctx, e)
		}
	}
	return list
}

// TestClusterMadeAgain: a spoke's cluster is deleted and made again under its name. What was
// said of the first is closed with it; the second admits no reader, as its access entries went
// with the first, which is said of it and taken for no health; let in, it is watched, and
// what was known of the first says nothing of it. The namesake in the hub's own account is
// another one all along.
func TestClusterMadeAgain(t *testing.T) {
	virtual(t, func(t *testing.T) {
		r := start(t, "route", watching(nil))
		r.scale(1, 1)
		r.scaleSpoke(1)
		r.until("the message of payments", r.posted("eks-workshop (payments)", "1 instance cannot join", table))
		r.until("the message of the hub's own", r.posted("eks-workshop (111122223333)", "1 instance cannot join", table))
		client := eks.NewFromConfig(r.AsAdminIn(payments))
		name := aws.String("eks-workshop")
		must := func(_ any, err error) {
			t.Helper()
			if err != nil {
				t.Fatal(err)
			}
		}
		was, err := client.DescribeCluster(t.Context(), &eks.DescribeClusterInput{Name: name})
		must(nil, err)
		for _, n := range []string{"default", "new_nodegroup_2"} {
			must(client.DeleteNodegroup(t.Context(), &eks.DeleteNodegroupInput{ClusterName: name, NodegroupName: aws.String(n)}))
		}
		r.until("that the nodegroups are gone", func() bool {
			out, err := client.ListNodegroups(t.Context(), &eks.ListNodegroupsInput{ClusterName: name})
			must(nil, err)
			return len(out.Nodegroups) == 0
		})
		must(client.DeleteCluster(t.Context(), &eks.DeleteClusterInput{Name: name}))
		r.until("that it is closed with its cluster", func() bool { return r.theirs().Resolution == incident.ClusterDeleted })
		first := r.theirs()
		if own := r.incident(); own.State != incident.Open {
			t.Fatalf("the hub's own incident is %s", own.State)
		}
		must(client.CreateCluster(t.Context(), &eks.CreateClusterInput{
			Name: name, RoleArn: was.Cluster.RoleArn, Version: was.Cluster.Version,
			ResourcesVpcConfig: &types.VpcConfigRequest{SubnetIds: was.Cluster.ResourcesVpcConfig.SubnetIds, SecurityGroupIds: []string{"sg-0e50000000000000f"}},
		}))
		r.until("that the new one lets nobody in", r.posted("eks-workshop (payments)", "🟠", "its Kubernetes API rejects Rollcall's credentials"))
		n := len(r.messages())
		r.pass(20 * time.Minute)
		if got := len(r.messages()); got != n {
			t.Errorf("%d messages, want %d: it is said once", got, n)
		}
		role := roleOf(r.SpokeTemplate(payments), "reader")
		must(client.CreateAccessEntry(t.Context(), &eks.CreateAccessEntryInput{ClusterName: name, PrincipalArn: &role, KubernetesGroups: []string{"rollcall"}}))
		r.until("that it is let in", func() bool {
			return !slices.ContainsFunc(r.incidentsOf("eks-workshop"), func(i incident.Incident) bool { return i.State == incident.Open })
		})
		if now := r.theirs(); now.Number != first.Number || now.State != incident.Closed || now.Resolution != incident.ClusterDeleted {
			t.Errorf("what was of the first cluster is %s, %s now", now.State, now.Resolution)
		}
	})
}
