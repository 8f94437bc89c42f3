package stage

import (
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/lambda"
	"github.com/aws/smithy-go"

	"rollcall/local/simaws/worldfile"
	"rollcall/shared/config"
	"rollcall/shared/relay"
	"rollcall/shared/spoke"
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
		o.RelayTemplate, o.Relays = "../../infra/RollcallRelay.template.json", relays
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
		r.until("what the relay says", r.posted("eks-workshop (payments)", "its relay refuses", string(relay.OtherEndpoint), "make deploy-relay"))
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

// ask invokes a relay as somebody.
func (r *running) ask(cfg aws.Config, function string, payload any) (relay.Answer, string) {
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

// TestConfusedRelay: nobody invokes a relay but who reads in its account's clusters; and who
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
			if _, code := r.ask(x.as, x.function, good); code != x.want {
				t.Errorf("%s: %q, want %q", x.name, code, x.want)
			}
		}
		// Whom the cluster does not know, the relay does not know better.
		if a, _ := r.ask(r.AsAdmin(), ownRelay, good); a.Status != http.StatusUnauthorized {
			t.Errorf("with a token of nobody: %+v", a)
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
			a, code := r.ask(r.AsAdmin(), ownRelay, ask)
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
