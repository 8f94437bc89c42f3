package stage

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/autoscaling"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	"github.com/aws/aws-sdk-go-v2/service/eks/types"
	"github.com/aws/aws-sdk-go-v2/service/lambda"
	"github.com/aws/aws-sdk-go-v2/service/sts"
	"github.com/aws/smithy-go"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"rollcall/shared/config"
	"rollcall/shared/incident"
	"rollcall/shared/relay"
	"rollcall/shared/report"
	"rollcall/shared/spoke"
	"rollcall/shared/store"
	"rollcall/stage/fakeslack"
	"rollcall/stage/faketargets"
	"rollcall/stage/platform/loopback"
	"rollcall/stage/platform/router"
	"rollcall/stage/simaws/kubeapi"
	"rollcall/stage/simaws/worldfile"
	"rollcall/tools/testfull"
)

// theirs is the other account's cluster, and own the hub's of that name.
var (
	theirs = spoke.Cluster{ID: payments, Name: "eks-workshop"}
	own    = spoke.Cluster{Name: "eks-workshop"}
)

// private makes the APIs of a world's clusters answer in their VPCs alone.
func private(f *worldfile.File) {
	for i := range f.EKS.Clusters {
		vpc := f.EKS.Clusters[i].ResourcesVpcConfig
		vpc.EndpointPublicAccess, vpc.EndpointPrivateAccess = false, true
	}
}

// relaying watches the other account, whose clusters have a private endpoint only, with some
// relays.
func relaying(relays ...spoke.Cluster) func(*Options) {
	return func(o *Options) {
		watching(nil)(o)
		o.Spokes[0].Change = private
		o.Settings[string(config.Relays)] = theirs.String() + "," + own.String()
		o.RelayTemplate, o.Relays = "../infra/RollcallRelay.template.json", relays
	}
}

const theirRelay = "arn:aws:lambda:us-west-2:222233334444:function:rollcall-relay-eks-workshop"

// TestPrivateCluster: in a cluster whose API answers its relay alone, launches are judged as
// in any other: the message has what Kubernetes knows, and all that was asked came through
// the relay.
func TestPrivateCluster(t *testing.T) {
	virtual(t, func(t *testing.T) {
		r := start(t, "route", relaying(theirs))
		r.scale(1, 1)
		r.scaleSpoke(1)
		r.until("the message of the hub's own", r.posted("eks-workshop (111122223333)", table))
		r.until("the missed roll calls", func() bool { return r.posted("eks-workshop (payments)", table, "1 instance cannot join")() })
		r.pass(6 * time.Minute) // a sweep
		if n := len(r.messages()); n != 2 {
			t.Errorf("%d messages, want one for each account", n)
		}
		if r.posted("eks-workshop (payments)", "Not checked")() {
			t.Errorf("what was read through the relay is said not to be")
		}
		lists, invokes := 0, 0
		for _, c := range r.spokes[payments].cloud.Calls() {
			switch {
			case c.Service == "kubernetes":
				lists++
			case c.Action() == "lambda:InvokeFunction" && c.Code == "":
				invokes++
			case c.Action() == "lambda:InvokeFunction":
				t.Errorf("%s: %s", c.Principal.ARN, c.Code)
			}
		}
		if lists == 0 || lists != invokes {
			t.Errorf("%d lists by %d invocations, want one for each", lists, invokes)
		}
		r.nothingLost()
	})
}

// TestHubsPrivateCluster: the hub's own cluster too is read through a relay, by the functions
// that are in no VPC.
func TestHubsPrivateCluster(t *testing.T) {
	virtual(t, func(t *testing.T) {
		r := start(t, "route", relaying(own, theirs), func(o *Options) { o.Change = private })
		r.scale(1, 1)
		r.until("the missed roll call", func() bool { return r.posted("eks-workshop (111122223333)", table, "1 instance cannot join")() })
		if r.posted("Not checked")() {
			t.Errorf("what was read through the relay is said not to be")
		}
		r.nothingLost()
	})
}

// TestRestrictedCluster: a public endpoint that is open to some ranges alone does not answer
// functions, which leave from any address of AWS: that is said with the command, and the relay
// ends it.
func TestRestrictedCluster(t *testing.T) {
	virtual(t, func(t *testing.T) {
		r := start(t, "route", relaying(), func(o *Options) {
			o.Spokes[0].Change = func(f *worldfile.File) {
				private(f)
				for i := range f.EKS.Clusters {
					vpc := f.EKS.Clusters[i].ResourcesVpcConfig
					vpc.EndpointPublicAccess, vpc.PublicAccessCidrs = true, []string{"203.0.113.0/24"}
				}
			}
		})
		r.until("what cannot be looked at", r.posted("eks-workshop (payments)", "its public API endpoint is not open to Rollcall (publicAccessCidrs)", "open to 203.0.113.0/24 alone", "make deploy-relay"))
		r.pass(11 * time.Minute) // two ticks
		if n := len(r.messages()); n != 1 {
			t.Errorf("%d messages of one thing that is missing", n)
		}
		if err := r.DeployRelay(theirs, nil); err != nil {
			t.Fatal(err)
		}
		r.until("the end of it", func() bool {
			for _, i := range r.incidentsOf("eks-workshop") {
				if i.State == "open" {
					return false
				}
			}
			return true
		})
		r.scaleSpoke(1)
		r.until("the missed roll call", func() bool { return r.posted("eks-workshop (payments)", table, "1 instance cannot join")() })
		r.nothingLost()
	})
}

// TestPrivateClusterWithoutRelay: what cannot be read is said, with the relay that would read
// it and how it is made; no other account is touched; and the relay ends it.
func TestPrivateClusterWithoutRelay(t *testing.T) {
	virtual(t, func(t *testing.T) {
		r := start(t, "route", relaying())
		r.until("what cannot be looked at", r.posted("eks-workshop (payments)", "there is no relay for it", "make deploy-relay", "rollcall-relay-eks-workshop"))
		r.pass(11 * time.Minute) // two ticks
		for _, m := range r.messages()[1:] {
			t.Errorf("one thing is missing, and a further message: %s", m.Text)
		}
		if r.posted("eks-workshop (111122223333)")() {
			t.Error("the hub's own cluster is touched by it")
		}
		if err := r.DeployRelay(theirs, nil); err != nil {
			t.Fatal(err)
		}
		r.until("the end of it", func() bool {
			for _, i := range r.incidentsOf("eks-workshop") {
				if i.State == "open" {
					return false
				}
			}
			return true
		})
		r.nothingLost()
	})
}

// TestRelayOfAnEarlierCluster: a relay that was deployed for a cluster that was made anew
// since goes nowhere, and that is said.
func TestRelayOfAnEarlierCluster(t *testing.T) {
	virtual(t, func(t *testing.T) {
		r := start(t, "route", relaying())
		if err := r.DeployRelay(theirs, map[string]string{"ClusterEndpoint": "https://EARLIER.gr7.us-west-2.eks.amazonaws.com"}); err != nil {
			t.Fatal(err)
		}
		r.until("what the relay says", r.posted("eks-workshop (payments)", "its relay rejects the requests", string(relay.OtherEndpoint), "make deploy-relay"))
	})
}

// TestSilentEndpoint: an endpoint that takes requests and never answers costs its cluster
// alone, and is named with what to look at.
func TestSilentEndpoint(t *testing.T) {
	virtual(t, func(t *testing.T) {
		r := start(t, "route", relaying(theirs))
		r.network.Serve("222233334444-us-west-2.eks-workshop.kubernetes.invalid", http.HandlerFunc(func(_ http.ResponseWriter, req *http.Request) { <-req.Context().Done() }))
		r.until("what hangs", r.posted("eks-workshop (payments)", "Kubernetes API", "from the relay's subnets", "security group"))
		r.pass(11 * time.Minute) // two ticks
		for _, m := range r.messages()[1:] {
			t.Errorf("one endpoint hangs, and a further message: %s", m.Text)
		}
		r.scale(1, 1)
		r.until("the message of the hub's own", r.posted("eks-workshop (111122223333)", table))
	})
}

// invokeRelay invokes a relay as a caller.
func (r *running) invokeRelay(cfg aws.Config, function string, payload any) (relay.Answer, string) {
	r.t.Helper()
	raw, err := json.Marshal(payload)
	if err != nil {
		r.t.Fatal(err)
	}
	out, err := lambda.NewFromConfig(cfg, func(o *lambda.Options) { o.RetryMaxAttempts = 1 }).Invoke(r.t.Context(), &lambda.InvokeInput{FunctionName: &function, Payload: raw})
	var api smithy.APIError
	if errors.As(err, &api) {
		return relay.Answer{}, api.ErrorCode()
	}
	if err != nil {
		r.t.Fatal(err)
	}
	var a relay.Answer
	if err := json.Unmarshal(out.Payload, &a); err != nil {
		r.t.Fatalf("%s: %v", out.Payload, err)
	}
	return a, ""
}

// TestConfusedRelay: only who reads in its account's clusters invokes a relay; and who
// may invoke one makes it ask nothing but what it is for. What it refuses is counted.
func TestConfusedRelay(t *testing.T) {
	virtual(t, func(t *testing.T) {
		r := start(t, "route", relaying(own, theirs), func(o *Options) { o.Change = private })
		function := func(name string) aws.Config {
			f, ok := r.Function(name)
			if !ok {
				t.Fatalf("there is no function %s", name)
			}
			return r.AsFunction(f)
		}
		good := relay.Request{
			Cluster: "arn:aws:eks:us-west-2:111122223333:cluster/eks-workshop", Endpoint: "https://eks-workshop.kubernetes.invalid", Path: "/api/v1/nodes", Token: "k8s-aws-v1.AAAA",
		}
		const ownRelay = "rollcall-relay-eks-workshop"
		for _, x := range []struct {
			name, function, want string
			as                   aws.Config
		}{
			{"the hub's person, in another account", theirRelay, "AccessDeniedException", r.AsAdmin()},
			{"a relay that is not there, in another account", theirRelay + "-x", "AccessDeniedException", r.AsAdmin()},
			{"a function that reads, past the reader", ownRelay, "AccessDeniedException", function("join-check")},
			{"a function that talks", ownRelay, "AccessDeniedException", function("report")},
			{"a function that reads, in another account", theirRelay, "AccessDeniedException", function("sweep")},
			{"a relay that is not there", ownRelay + "-x", "ResourceNotFoundException", r.AsAdmin()},
			{"who may", ownRelay, "", r.AsAdmin()},
		} {
			if _, code := r.invokeRelay(x.as, x.function, good); code != x.want {
				t.Errorf("%s: %q, want %q", x.name, code, x.want)
			}
		}
		// Whom the cluster does not know, the relay does not know better.
		if a, _ := r.invokeRelay(r.AsAdmin(), ownRelay, good); a.Status != http.StatusUnauthorized {
			t.Errorf("with an unknown token: %+v", a)
		}
		refused := 0
		for _, x := range []struct {
			name   string
			change func(*relay.Request)
			want   relay.Reason
		}{
			{"another account's cluster", func(a *relay.Request) { a.Cluster = "arn:aws:eks:us-west-2:222233334444:cluster/eks-workshop" }, relay.OtherCluster},
			{"another region's", func(a *relay.Request) { a.Cluster = "arn:aws:eks:eu-west-1:111122223333:cluster/eks-workshop" }, relay.OtherCluster},
			{"another host", func(a *relay.Request) { a.Endpoint = "https://169.254.169.254" }, relay.OtherEndpoint},
			{"secrets", func(a *relay.Request) { a.Path = "/api/v1/secrets" }, relay.ForbiddenPath},
			{"a shell", func(a *relay.Request) { a.Path = "/api/v1/namespaces/default/pods/x/exec" }, relay.ForbiddenPath},
		} {
			ask := good
			x.change(&ask)
			a, code := r.invokeRelay(r.AsAdmin(), ownRelay, ask)
			if code != "" || a.Refused == nil || a.Refused.Reason != x.want {
				t.Errorf("%s: %+v, %s; want %s", x.name, a, code, x.want)
			}
			refused++
		}
		if n := strings.Count(r.out.String(), `"RefusedRequests":1`); n < refused {
			t.Errorf("%d refusals are counted, want %d", n, refused)
		}
		for _, c := range r.Cloud.Calls() {
			if c.Service == "kubernetes" && (strings.Contains(c.Operation, "secrets") || strings.Contains(c.Operation, "exec")) {
				t.Errorf("the cluster was asked: %s", c.Operation)
			}
		}
	})
}

func TestRightsOfTheManifest(t *testing.T) {
	group, rules, err := Options{Rights: "../deploy/clusterrole.yaml"}.rights()
	if err != nil {
		t.Fatal(err)
	}
	if group != "rollcall" {
		t.Errorf("the group is %q", group)
	}
	may := func(a kubeapi.Attributes) bool {
		return slices.ContainsFunc(rules, func(r kubeapi.Rule) bool { return r.Allows(a) })
	}
	for _, a := range []kubeapi.Attributes{
		{Verb: "list", Resource: "nodes"},
		{Verb: "list", Resource: "pods", Namespace: "default"}, // those that wait
		{Verb: "list", Group: "certificates.k8s.io", Resource: "certificatesigningrequests"},
		{Verb: "get", Group: "apps", Resource: "daemonsets", Namespace: "kube-system", Name: "aws-node"},
	} {
		if !may(a) {
			t.Errorf("the manifest does not allow %+v", a)
		}
	}
	for _, a := range []kubeapi.Attributes{
		{Verb: "list", Resource: "secrets", Namespace: "default"},
		{Verb: "delete", Resource: "pods", Namespace: "default"},
		{Verb: "get", Resource: "configmaps", Namespace: "kube-system", Name: "another"},
		{Verb: "delete", Resource: "nodes"},
	} {
		if may(a) {
			t.Errorf("the manifest allows %+v", a)
		}
	}
}

func TestRightsThatAreNotOneGroups(t *testing.T) {
	for name, text := range map[string]string{
		"nobody's":    "kind: ClusterRole\nrules: [{apiGroups: [\"\"], resources: [nodes], verbs: [list]}]\n",
		"a user's":    "kind: ClusterRoleBinding\nsubjects: [{kind: User, name: a}]\n",
		"two groups'": "kind: RoleBinding\nsubjects: [{kind: Group, name: a}, {kind: Group, name: b}]\n",
		"no YAML":     "kind: [",
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "rights.yaml")
			if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			if _, _, err := (Options{Rights: path}).rights(); err == nil {
				t.Error("it is taken for a group's rights")
			}
		})
	}
	if _, _, err := (Options{Rights: "nowhere.yaml"}).rights(); err == nil {
		t.Error("a file that is not there gives rights")
	}
}

// TestFunctionsAreSmall guards against the reflection that makes the linker
// keep every method of every SDK client: a function then weighs 44 MB or more
// instead of 12 to 14 (26 where it is four functions and draws), and starts three times as slowly.
func TestFunctionsAreSmall(t *testing.T) {
	dir, err := built()
	if err != nil {
		t.Fatal(err)
	}
	const most = 29 << 20 // sweep holds what four others do; 44 MB where the linker keeps what is not called
	folders, err := os.ReadDir(dir)
	if err != nil || len(folders) == 0 {
		t.Fatalf("%d functions were built: %v", len(folders), err)
	}
	for _, folder := range folders {
		name := folder.Name()
		info, err := os.Stat(filepath.Join(dir, name, "bootstrap"))
		if err != nil {
			t.Fatal(err)
		}
		if info.Size() > most {
			t.Errorf("%s is %d MB, want at most %d", name, info.Size()>>20, most>>20)
		}
	}
}

// Another account, in which everything has the very ids that it has in the hub's own.
var payments = spoke.ID{Account: "222233334444", Region: "us-west-2"}

// watching has the stage's stack watch that account, whose stack has the parameters.
func watching(parameters map[string]string) func(*Options) {
	return func(o *Options) {
		o.Rights, o.SpokeTemplate = "../deploy/clusterrole.yaml", "../infra/RollcallSpoke.template.json"
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
	list, err := store.New(r.Table.Client(), r.Template.Tables[0].Name).WithClock(r.Clock.Now).ForSpoke(payments).Incidents(r.t.Context(), cluster)
	if err != nil {
		r.t.Fatal(err)
	}
	return list
}

// posted reports whether a message of the channel has all the words.
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
// accounts: a message each, which no reader can take for the other's; what is repaired in one is
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
		r.until("the proof in payments", r.posted("eks-workshop (payments)", "fixed after"))
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
		r.until("that the spoke does not let in", r.posted("all clusters (payments)", "role there is denied", "make deploy-spoke"))
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
		r.until("that the cluster does not know the role", r.posted("eks-workshop (payments)", "its Kubernetes API rejects Rollcall's credentials", "An access entry older than a redeployed reader stack no longer works"))
		entry := &eks.DeleteAccessEntryInput{ClusterName: aws.String("eks-workshop"), PrincipalArn: aws.String("arn:aws:iam::222233334444:role/rollcall-reader-us-west-2")}
		if _, err := r.SpokeWorld(payments).API().CreateAccessEntry(&eks.CreateAccessEntryInput{ClusterName: entry.ClusterName, PrincipalArn: entry.PrincipalArn}); err == nil {
			t.Error("the entry of the role before is not in the way")
		}
		if _, err := r.SpokeWorld(payments).API().DeleteAccessEntry(entry); err != nil {
			t.Fatal(err)
		}
		if _, err := r.SpokeWorld(payments).API().CreateAccessEntry(&eks.CreateAccessEntryInput{ClusterName: entry.ClusterName, PrincipalArn: entry.PrincipalArn, KubernetesGroups: []string{"rollcall"}}); err != nil {
			t.Fatal(err)
		}
		r.until("that it knows the role", func() bool {
			list, err := r.memory().ForSpoke(payments).Incidents(r.t.Context(), "eks-workshop")
			return err == nil && !slices.ContainsFunc(list, func(i incident.Incident) bool { return i.State != incident.Closed })
		})
		r.scaleSpoke(1)
		r.until("the message of payments", r.posted("eks-workshop (payments)", "cannot join", table))
	})
}

// TestConfusedDeputy: a spoke's roles let in those functions of its own hub that need them,
// with its external id, and no others.
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

// TestForgedEvents: what names another account's things, or comes from one that is not
// watched, wakes no look at anybody's, and is counted.
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

const (
	table = "rtb-0cd20000000000002"
	nat   = "nat-0aa40000000000001"
)

// repair adds the route and replaces the instances that did not join.
func (r *running) repair() {
	r.t.Helper()
	if _, err := ec2.NewFromConfig(r.AsAdmin()).CreateRoute(context.Background(), &ec2.CreateRouteInput{
		RouteTableId: aws.String(table), DestinationCidrBlock: aws.String("0.0.0.0/0"), NatGatewayId: aws.String(nat),
	}); err != nil {
		r.t.Fatal(err)
	}
	r.replaceLaunches()
}

// replaceLaunches replaces the instances that did not join.
func (r *running) replaceLaunches() {
	r.t.Helper()
	groups := autoscaling.NewFromConfig(r.AsAdmin())
	for _, l := range r.incidents()[0].Launches {
		if _, err := groups.TerminateInstanceInAutoScalingGroup(context.Background(), &autoscaling.TerminateInstanceInAutoScalingGroupInput{
			InstanceId: aws.String(l.Instance), ShouldDecrementDesiredCapacity: aws.Bool(false),
		}); err != nil {
			r.t.Fatal(err)
		}
	}
}

// TestRouteStory is the main job, from the launch to the proof.
func TestRouteStory(t *testing.T) { virtual(t, routeStory) }

func routeStory(t *testing.T) {
	r := start(t, "route")
	r.scale(1, 1)
	r.until("the message at launch", r.hasMessage("will not be able to join", table, "subnet-0c30000000000000d", "--nat-gateway-id "+nat))
	r.until("the missed roll call", r.hasMessage("1 instance cannot join"))
	r.repair()
	r.until("the proof", r.hasMessage("fixed after", table+" has 0.0.0.0/0 → "+nat))
	r.dashboardReads(4)
	i := r.incidents()
	if len(i) != 1 || i[0].State != incident.Closed || i[0].Resolution != incident.Proved || i[0].Proof == nil {
		t.Fatalf("incidents %+v; want one, closed and proved", i)
	}
	if i[0].Proof.Ready.Before(i[0].Cleared.Add(-10*time.Minute)) || i[0].Proof.Instance == i[0].Launches[0].Instance {
		t.Errorf("the proof is %+v, which is not the new node", i[0].Proof)
	}
	var posts, updates int
	for _, c := range r.Slack.Calls() {
		switch {
		case c.Method == "chat.postMessage" && c.Params["thread_ts"] == "":
			posts++
		case c.Method == "chat.update":
			updates++
		}
	}
	if posts != 1 || updates == 0 {
		t.Errorf("%d posts and %d edits; want one post and its edits", posts, updates)
	}
	r.nothingLost()
}

// nothingLost holds that every dead-letter queue is empty.
func (r *running) nothingLost(but ...string) {
	r.t.Helper()
	for _, q := range r.Template.Queues {
		if slices.Contains(but, q.Name) {
			continue
		}
		if !strings.Contains(q.Name, "dead") && !strings.Contains(q.Name, "failed") {
			continue
		}
		if n := r.queued(q.Name); n > 0 {
			r.t.Errorf("%d messages in %s", n, q.Name)
		}
	}
}

// TestSameLaunchFiveTimes delivers each of the three kinds of event of a
// launch five times, and out of order.
func TestSameLaunchFiveTimes(t *testing.T) { virtual(t, sameLaunchFiveTimes) }

func sameLaunchFiveTimes(t *testing.T) {
	n := 0
	r := start(t, "route", func(o *Options) {
		o.EventFaults = func(e router.Event) router.Fault {
			n++
			return router.Fault{Copies: 4, Reorder: n%2 == 1}
		}
	})
	r.scale(1, 1)
	r.until("the missed roll call", r.hasMessage("1 instance cannot join"))
	r.pass(8 * time.Minute)
	m := r.messages()
	if len(m) != 1 {
		t.Fatalf("%d messages, want 1", len(m))
	}
	var notes []string
	for _, reply := range m[0].Replies {
		notes = append(notes, reply.Text)
	}
	slices.Sort(notes)
	if len(slices.Compact(slices.Clone(notes))) != len(notes) {
		t.Errorf("the thread says a thing twice: %q", notes)
	}
	i := r.incidents()
	if len(i) != 1 || i[0].Affected != 1 {
		t.Errorf("incidents %v with %d affected; want one with one", i[0].Key, i[0].Affected)
	}
	r.nothingLost()
}

// TestLostEventsAreFound loses every event of the launch: the sweep finds it.
func TestLostEventsAreFound(t *testing.T) { virtual(t, lostEventsAreFound) }

func lostEventsAreFound(t *testing.T) {
	r := start(t, "route", func(o *Options) {
		o.EventFaults = func(router.Event) router.Fault { return router.Fault{Lose: true} }
	})
	r.scale(1, 1)
	r.until("the missed roll call", r.hasMessage("1 instance cannot join", table))
}

// calls counts a function's reads of AWS and Kubernetes by action.
func (r *running) calls(function string) map[string]int {
	counts := map[string]int{}
	for _, c := range r.Cloud.Calls() {
		if c.Caller != "rollcall-"+function || c.Service == "dynamodb" || c.Service == "sqs" {
			continue
		}
		counts[c.Action()]++
	}
	return counts
}

// TestBurst launches a thousand instances at once into the broken subnet: one
// message with the count, and hardly more calls than for one instance. Two hundred are
// twice what is asked for by the hundred.
func TestBurst(t *testing.T) { virtual(t, burst) }

func burst(t *testing.T) {
	one := start(t, "route")
	one.scale(1, 1)
	one.until("the missed roll call", one.hasMessage("1 instance cannot join"))
	instances := testfull.Count(1000, 200)
	many := start(t, "route")
	many.scale(int32(instances), int32(instances))
	many.until("the missed roll call of all", many.hasMessage(" instances cannot join"))
	var affected []int
	for _, i := range many.incidents() {
		affected = append(affected, i.Affected)
	}
	if !slices.Equal(affected, []int{instances}) {
		t.Errorf("incidents with %v affected; want one with %d", affected, instances)
	}
	for _, function := range []string{"launch-watch", "join-check"} {
		a, b := one.calls(function), many.calls(function)
		var sumA, sumB int
		for _, action := range slices.Sorted(maps.Keys(b)) {
			t.Logf("%-12s %-42s %4d for 1 instance, %4d for %d", function, action, a[action], b[action], instances)
			sumA, sumB = sumA+a[action], sumB+b[action]
		}
		t.Logf("%-12s %-42s %4d for 1 instance, %4d for %d", function, "in all", sumA, sumB, instances)
		// One look serves a burst: the calls do not grow with the instances.
		// The allowance is for the few batches that overlap.
		if sumB > 4*sumA {
			t.Errorf("%s made %d calls for %d instances, %d for one", function, sumB, instances, sumA)
		}
	}
	if n := len(many.messages()); n != 1 {
		t.Errorf("%d messages, want 1", n)
	}
	many.nothingLost()
}

// TestDeniedPermissionIsNamed holds that what could not be read is reported
// with the missing permission, and that nothing says that all is well.
func TestDeniedPermissionIsNamed(t *testing.T) { virtual(t, deniedPermissionIsNamed) }

func deniedPermissionIsNamed(t *testing.T) {
	r := start(t, "denied-route-tables")
	r.until("both are said", func() bool { return len(r.messages()) == 2 })
	r.pass(12 * time.Minute)
	for _, m := range r.messages() {
		text := whole(m)
		if !strings.Contains(text, "ec2:DescribeRouteTables") {
			t.Errorf("the message does not name the permission:\n%s", m.Text)
		}
		if strings.Contains(text, "✅") || strings.Contains(text, "no cause found") {
			t.Errorf("the message sounds as if all had been looked at:\n%s", m.Text)
		}
	}
	for _, i := range r.incidents() {
		for _, v := range i.Verdicts {
			if v.Found == incident.Passing && strings.HasPrefix(string(i.Key.Check), "route/") {
				t.Errorf("%v passed without the route tables", i.Key)
			}
		}
	}
}

// TestScaleToZeroAndBack does what the team of the story did by hand.
func TestScaleToZeroAndBack(t *testing.T) { virtual(t, scaleToZeroAndBack) }

func scaleToZeroAndBack(t *testing.T) {
	r := start(t, "route")
	r.scale(1, 1)
	r.until("the missed roll call", r.hasMessage("1 instance cannot join"))
	r.scale(0, 1)
	r.pass(6 * time.Minute)
	if got := r.incidents(); len(got) != 1 || got[0].State != incident.Open {
		t.Fatalf("scaled to zero with the cause still there: %s", fmt.Sprint(states(got)))
	}
	if _, err := ec2.NewFromConfig(r.AsAdmin()).CreateRoute(context.Background(), &ec2.CreateRouteInput{
		RouteTableId: aws.String(table), DestinationCidrBlock: aws.String("0.0.0.0/0"), NatGatewayId: aws.String(nat),
	}); err != nil {
		t.Fatal(err)
	}
	r.until("the cause is gone", r.hasMessage("cause is gone"))
	r.scale(1, 1)
	r.until("the proof", r.hasMessage("fixed after"))
	if diff := cmp.Diff([]incident.State{incident.Closed}, states(r.incidents())); diff != "" {
		t.Errorf("states (-want +got):\n%s", diff)
	}
}

func states(list []incident.Incident) []incident.State {
	var out []incident.State
	for _, i := range list {
		out = append(out, i.State)
	}
	return out
}

// targets are the stand-ins of all targets, and the settings by which the stage tells them.
type targets struct {
	pagerduty *faketargets.PagerDuty
	teams     *faketargets.Teams
	webhook   *faketargets.Webhook
}

const (
	routingKey = "e93facc04764012d7bfb002500d5d1a6"
	signingKey = "0123456789abcdef0123456789abcdef"
	teamsHost  = "prod-01.westus.logic.azure.com"
)

func withTargets(t *testing.T, o *Options) targets {
	t.Helper()
	var all targets
	var err error
	if all.pagerduty, err = faketargets.NewPagerDuty(routingKey, time.Now); err != nil {
		t.Fatal(err)
	}
	if all.teams, err = faketargets.NewTeams("s3cr3t", time.Now); err != nil {
		t.Fatal(err)
	}
	all.webhook = faketargets.NewWebhook(signingKey, time.Now)
	o.Settings = map[string]string{
		string(config.SlackActions): "on",
		string(config.Targets):      "sns,pagerduty/critical=rollcall/pagerduty,teams=rollcall/teams,webhook=rollcall/webhook",
	}
	o.TargetSecrets = map[string]string{
		"rollcall/pagerduty": routingKey,
		"rollcall/teams":     "https://" + teamsHost + "/workflows/1/triggers/manual/paths/invoke?sig=s3cr3t",
		"rollcall/webhook":   `{"url":"https://hooks.example.com/rollcall","key":"` + signingKey + `"}`,
	}
	o.Others = map[string]http.Handler{"events.pagerduty.com": all.pagerduty, teamsHost: all.teams, "hooks.example.com": all.webhook}
	return all
}

// subjects are what people got by mail.
func (r *running) subjects() []string {
	var list []string
	for _, m := range r.Cloud.Mails() {
		list = append(list, m.Subject)
	}
	return list
}

// urgencies are the words by which the cards begin.
func (c targets) urgencies() []string {
	var list []string
	for _, card := range c.teams.Cards() {
		word, _, _ := strings.Cut(card.Lines[0], " · ")
		list = append(list, word)
	}
	return list
}

// kinds are what the webhook got, each delivery once.
func (c targets) kinds(t *testing.T) (kinds []string, repeats int) {
	t.Helper()
	seen := map[string]bool{}
	for _, d := range c.webhook.Deliveries() {
		var e struct {
			Type string `json:"detail-type"`
		}
		if err := json.Unmarshal([]byte(d.Body), &e); err != nil {
			t.Fatal(err)
		}
		if seen[d.ID] {
			repeats++
			continue
		}
		seen[d.ID] = true
		kinds = append(kinds, strings.TrimPrefix(e.Type, "Rollcall "))
	}
	return kinds, repeats
}

// acknowledge presses the button in Slack.
func (r *running) acknowledge() {
	r.t.Helper()
	if err := r.Slack.Press(r.t.Context(), fakeslack.Press{Channel: Channel, TS: r.messages()[0].TS, ActionID: string(report.Acknowledge), User: OnCall}); err != nil {
		r.t.Fatal(err)
	}
	r.until("the acknowledgement", func() bool { return r.incident().Ack != nil })
}

// TestTargets plays the route story with a target of each kind: opened, acknowledged in
// Slack, proved. PagerDuty's alert goes the same way; all read the same words.
func TestTargets(t *testing.T) {
	virtual(t, func(t *testing.T) {
		var all targets
		r := start(t, "route", func(o *Options) { all = withTargets(t, o) })
		r.scale(1, 1)
		r.until("the missed roll call", r.hasMessage("1 instance cannot join"))
		r.acknowledge()
		r.until("the acknowledgement in PagerDuty", func() bool {
			a := all.pagerduty.Alerts()
			return len(a) == 1 && a[0].State == faketargets.Acknowledged
		})
		r.repair()
		r.until("the end", func() bool {
			a := all.pagerduty.Alerts()
			return len(a) == 1 && a[0].State == faketargets.Resolved && r.queued("rollcall-targets.fifo") == 0
		})
		if diff := cmp.Diff([]faketargets.Alert{{
			Dedup: "rollcall/111122223333/us-west-2/eks-workshop/route/no-egress#" + table, Severity: "critical", State: faketargets.Resolved,
			Summary: "eks-workshop / new_nodegroup_2 · 1 instance will not be able to join: subnet-0c30000000000000d has no route to the internet",
			Log:     []string{"trigger", "trigger", "acknowledge", "resolve"},
		}}, all.pagerduty.Alerts(), cmpopts.IgnoreFields(faketargets.Alert{}, "At", "Created")); diff != "" {
			t.Errorf("alerts (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff([]string{"Critical", "Critical", "Resolved"}, all.urgencies()); diff != "" {
			t.Errorf("cards (-want +got):\n%s", diff)
		}
		got := r.subjects()
		if len(got) != 3 || !strings.HasPrefix(got[0], "Critical: eks-workshop / new_nodegroup_2 - 1 instance will not") ||
			!strings.HasPrefix(got[2], "Resolved: eks-workshop / new_nodegroup_2 - fixed") {
			t.Errorf("mails %q", got)
		}
		kinds, repeats := all.kinds(t)
		if diff := cmp.Diff([]string{"Incident Opened", "Incident Changed", "Incident Acknowledged", "Incident Changed", "Incident Resolved"}, kinds); diff != "" || repeats != 0 {
			t.Errorf("webhook, %d repeats (-want +got):\n%s", repeats, diff)
		}
		// The same words everywhere: what Slack's headline says, the card says.
		headline := all.teams.Cards()[2].Lines[0]
		if _, words, _ := strings.Cut(headline, " · "); !strings.Contains(r.messages()[0].Text, words) {
			t.Errorf("Slack says %q, Teams %q", r.messages()[0].Text, words)
		}
		for _, secret := range []string{routingKey, signingKey, "s3cr3t"} {
			if strings.Contains(r.out.String(), secret) {
				t.Errorf("the logs hold the secret %q", secret)
			}
		}
		r.nothingLost()
	})
}

// TestAcknowledgedInPagerDuty: an acknowledgement there shows in Slack within two ticks, and
// a resolved alert closes nothing.
func TestAcknowledgedInPagerDuty(t *testing.T) {
	virtual(t, func(t *testing.T) {
		var all targets
		r := start(t, "route", func(o *Options) {
			all = withTargets(t, o)
			o.TargetSecrets["rollcall/pagerduty"] = `{"key":"` + routingKey + `","apiToken":"u+readonly"}`
			o.Others["api.pagerduty.com"], all.pagerduty.Token = all.pagerduty, "u+readonly"
		})
		r.scale(1, 1)
		r.until("the alert", func() bool { return len(all.pagerduty.Alerts()) == 1 })
		key := all.pagerduty.Alerts()[0].Dedup
		all.pagerduty.Respond(key, faketargets.Acknowledged, "Ana Example")
		began := time.Now()
		r.until("the acknowledgement in Slack", func() bool {
			return strings.Contains(r.Slack.Text(r.messages()[0]), "Acknowledged by Ana Example in PagerDuty")
		})
		if took := time.Since(began); took > 11*time.Minute {
			t.Errorf("it took %s", took)
		}
		if inc := r.incident(); inc.State != incident.Open || inc.Ack == nil || inc.Ack.By.Name != "Ana Example" {
			t.Errorf("%s, taken by %+v", inc.State, inc.Ack)
		}
		r.repair()
		r.until("the end", func() bool {
			return all.pagerduty.Alerts()[0].State == faketargets.Resolved && r.incident().State == incident.Closed
		})
		if log := all.pagerduty.Alerts()[0].Log; slices.Contains(log, "acknowledge") {
			t.Errorf("PagerDuty was sent its own acknowledgement: %q", log)
		}
		r.nothingLost()
	})
}

// TestFirstLook: without a Slack app an incident runs its course, and an incoming webhook
// shows the opening, that it got worse, and the end. Slack's Web API is not asked.
func TestFirstLook(t *testing.T) {
	virtual(t, func(t *testing.T) {
		const path = "/services/T0A1B2C3D/B0A1B2C3D/s3cr3ts3cr3ts3cr3t"
		hooks, err := fakeslack.New(fakeslack.Config{Token: "xoxb-of-nobody", Channels: []fakeslack.Channel{{ID: Channel, Name: "first-look", BotAbsent: true}}, Network: loopback.New()})
		if err != nil {
			t.Fatal(err)
		}
		defer hooks.Close()
		r := start(t, "route", func(o *Options) {
			o.Settings = map[string]string{string(config.Channel): config.NoChannel, string(config.Targets): "slackwebhook=rollcall/webhook"}
			o.TargetSecrets = map[string]string{"rollcall/webhook": "https://hooks.slack.com" + path}
			o.Others = map[string]http.Handler{"hooks.slack.com": hooks.Incoming(path, Channel)}
		})
		said := func(word string) func() bool {
			return func() bool {
				list := hooks.Messages(Channel)
				return len(list) > 0 && strings.HasPrefix(list[len(list)-1].Text, word)
			}
		}
		r.scale(1, 1)
		r.until("the opening", said("Critical: "))
		r.until("the missed roll call", func() bool { return len(hooks.Messages(Channel)) == 2 })
		r.repair()
		r.until("the end", said("Resolved: "))
		if inc := r.incident(); inc.State != incident.Closed || len(hooks.Messages(Channel)) != 3 {
			t.Errorf("%s, %d messages", inc.State, len(hooks.Messages(Channel)))
		}
		if first := hooks.Text(hooks.Messages(Channel)[0]); !strings.Contains(first, "Incoming webhook: no buttons, threads or edits") {
			t.Errorf("the opening is %s", first)
		}
		if calls := r.Slack.Calls(); len(calls) != 0 {
			t.Errorf("the Web API was asked %d times: %+v", len(calls), calls[0])
		}
		if strings.Contains(r.out.String(), "s3cr3t") {
			t.Error("the logs hold the secret")
		}
		r.nothingLost()
	})
}

// TestTargetIsDown: PagerDuty is away for an hour, and Teams answers each message with
// 400. The others get theirs at once; PagerDuty hears all of it in order when it is back;
// what Teams does not take is put aside, with its reason.
func TestTargetIsDown(t *testing.T) {
	virtual(t, func(t *testing.T) {
		var all targets
		r := start(t, "route", func(o *Options) { all = withTargets(t, o) })
		down := time.Now().Add(time.Hour)
		all.pagerduty.Trouble(func(at time.Time) (int, time.Duration) {
			switch {
			case at.After(down):
				return 0, 0
			case at.Second()%3 == 0:
				return faketargets.Gone, 0
			case at.Second()%3 == 1:
				return http.StatusTooManyRequests, 90 * time.Second
			}
			return http.StatusServiceUnavailable, 0
		})
		r.Cloud.SetSecret("rollcall/teams", "https://"+teamsHost+"/workflows/1?sig=s3cr3t-of-yesterday")
		all.teams.Trouble(func(time.Time) (int, time.Duration) { return http.StatusBadRequest, 0 })
		began := time.Now()
		r.scale(1, 1)
		r.until("the mail", func() bool { return len(r.Cloud.Mails()) > 0 })
		if took := time.Since(began); took > 3*time.Minute {
			t.Errorf("the mail took %s", took)
		}
		r.until("the missed roll call", r.hasMessage("1 instance cannot join"))
		r.acknowledge()
		r.repair()
		r.until("the proof", func() bool { return r.incident().State == incident.Closed })
		r.until("the mails", func() bool { return len(r.Cloud.Mails()) == 3 })
		if n := len(all.pagerduty.Alerts()); n != 0 || !time.Now().Before(down) {
			t.Fatalf("%d alerts by %s, it is away until %s", n, time.Now(), down)
		}
		asked := all.pagerduty.Requests()
		if asked < 5 || asked > 60 {
			t.Errorf("PagerDuty was asked %d times while it was away", asked)
		}
		r.until("PagerDuty", func() bool { return len(all.pagerduty.Alerts()) == 1 && r.queued("rollcall-targets.fifo") == 0 })
		if late := time.Since(down); late > 6*time.Minute {
			t.Errorf("PagerDuty got it %s after it was back", late)
		}
		if diff := cmp.Diff([]string{"trigger", "trigger", "acknowledge", "resolve"}, all.pagerduty.Alerts()[0].Log); diff != "" {
			t.Errorf("PagerDuty (-want +got):\n%s", diff)
		}
		if got := r.queued("rollcall-targets-dead.fifo"); got != 3 {
			t.Errorf("%d messages were put aside, want the three that Teams did not take", got)
		}
		if kinds, repeats := all.kinds(t); len(kinds) != 5 || repeats != 0 {
			t.Errorf("webhook %v, %d repeats", kinds, repeats)
		}
		if !strings.Contains(r.out.String(), "target teams=rollcall/teams rejects it (HTTP 400)") {
			t.Error("the log does not say who refuses what")
		}
	})
}

// TestSecretIsFilledInLater: an empty secret loses nothing. IAM lets no other be read.
func TestSecretIsFilledInLater(t *testing.T) {
	virtual(t, func(t *testing.T) {
		var all targets
		r := start(t, "route", func(o *Options) {
			all = withTargets(t, o)
			o.TargetSecrets["rollcall/pagerduty"] = ""
		})
		r.scale(1, 1)
		r.until("the missed roll call", r.hasMessage("1 instance cannot join"))
		r.pass(20 * time.Minute)
		if n := all.pagerduty.Requests(); n != 0 {
			t.Errorf("PagerDuty was asked %d times without a key", n)
		}
		r.Cloud.SetSecret("rollcall/pagerduty", routingKey)
		r.until("the alert", func() bool { return len(all.pagerduty.Alerts()) == 1 })
		if !strings.Contains(r.out.String(), `"TargetsUndelivered"`) {
			t.Error("no message says that a target gets nothing")
		}
	})
}
