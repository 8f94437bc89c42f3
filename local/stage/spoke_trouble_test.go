package stage

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	"github.com/aws/aws-sdk-go-v2/service/eks/types"

	"rollcall/local/programs"
	"rollcall/shared/incident"
	"rollcall/shared/lambda"
	"rollcall/shared/report"
	"rollcall/shared/spoke"
)

// Bad input of many accounts: each is said once, by name, with what to do; nobody else is
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
	list, err := r.memory().In(id).Incidents(r.t.Context(), report.AllClusters)
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
			r.until("that "+name+" does not let in", r.posted("all clusters ("+name+")", "does not let it in", "left the organization"))
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
		r.until("that search does not let in", r.posted("all clusters (search)", "take it out of the setting spokes"))
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
// once, with what to do; nothing there is called well, and the hub's own goes on.
func TestRegionThatIsNotEnabled(t *testing.T) {
	virtual(t, func(t *testing.T) {
		r := start(t, "route", watching(nil))
		r.pass(7 * time.Minute)
		r.DisableRegion(payments, true)
		r.scale(1, 1)
		r.until("that the region is not enabled", r.posted("all clusters (payments)", "eks:ListClusters", "whose region the account has not enabled", "account:EnableRegion"))
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
			if strings.Contains(m.Text, "(payments)") && strings.Contains(m.Text, "cannot look into the cluster") {
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

// hanging has the APIs of a spoke's clusters answer nobody.
func hanging(of spoke.ID) []lambda.Program {
	list := programs.All()
	for i := range list {
		build := list[i].Build
		list[i].Build = func(ctx context.Context, e lambda.Env) (lambda.Handler, error) {
			if e.Config.Spoke == of {
				found := e.Endpoints
				e.Endpoints = func(cluster string) (string, []byte, http.RoundTripper, bool) {
					endpoint, ca, _, ok := found(cluster)
					return endpoint, ca, nobody{}, ok
				}
			}
			return build(ctx, e)
		}
	}
	return list
}

// TestClusterMadeAgain: a spoke's cluster is deleted and made again under its name. What was
// said of the first is closed with it; the second lets nobody in, as its access entries went
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
		r.until("that the new one lets nobody in", r.posted("eks-workshop (payments)", "🟠", "its Kubernetes API does not know Rollcall"))
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
