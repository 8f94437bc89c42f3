package joincheck

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awsmiddleware "github.com/aws/aws-sdk-go-v2/aws/middleware"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	"github.com/aws/smithy-go"
	"github.com/aws/smithy-go/middleware"
	"github.com/google/go-cmp/cmp"

	"rollcall/functions/join-check/spec"
	"rollcall/shared/checkid"
	"rollcall/shared/checks/finding"
	"rollcall/shared/config"
	"rollcall/shared/detect"
	"rollcall/shared/diagnosis"
	"rollcall/shared/event/inbox"
	"rollcall/shared/incident"
	"rollcall/shared/incident/reconcile"
	"rollcall/shared/lambda"
	"rollcall/shared/node/outcome"
	"rollcall/shared/outbox"
	"rollcall/shared/report"
	"rollcall/shared/snapshot"
	"rollcall/shared/spoke"
	"rollcall/shared/store"
	"rollcall/stage/simaws"
	"rollcall/stage/stagetest"
	"rollcall/tools/testfile"
)

// A group that is gone is absent for every incident that says why it could not
// launch; a subnet is for others to miss.
func TestAbsentGroups(t *testing.T) {
	s := &snapshot.Snapshot{Read: map[snapshot.Source]bool{snapshot.Groups: true}, Groups: []snapshot.Group{{Name: "eks-here"}}}
	for check, want := range map[checkid.ID][]string{
		"launch/subnet-full": {"eks-gone"}, "ip/leaked-interfaces": {"eks-gone"}, "spot/burst-exceeds-subnet": {"eks-gone"}, "ip/subnet-exhausted": nil,
	} {
		covers := []string{"eks-here", "eks-gone"}
		if check != "launch/subnet-full" {
			covers = append(covers, "subnet-0123")
		}
		r := roll{sweep: true, incidents: []incident.Incident{{Key: report.Key{Check: check}, Covers: covers}}}
		if got := absent(s, r); !slices.Equal(got, want) {
			t.Errorf("%s: absent %q, want %q", check, got, want)
		}
	}
}

// claimed is a world with an instance of Karpenter in a subnet without a route to the internet,
// and its NodeClaim.
const claimed = `
timeline: []
ec2:
  Instances:
    - {InstanceId: i-0a700000000000001, InstanceType: m5.large, SubnetId: subnet-0c30000000000000d, LaunchTime: 2026-11-20T14:50:00Z, Tags: [{Key: karpenter.sh/nodepool, Value: gpu}, {Key: eks:eks-cluster-name, Value: eks-workshop}, {Key: kubernetes.io/cluster/eks-workshop, Value: owned}]}
kubernetes:
  eks-workshop:
    NodePools:
      - metadata: {name: gpu, generation: 1}
        spec: {template: {spec: {nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: gpu}}}}
    EC2NodeClasses:
      - metadata: {name: gpu, generation: 1}
        status: {conditions: [{type: Ready, status: "True", reason: Ready, observedGeneration: 1}]}
    NodeClaims:
      - metadata: {name: gpu-x7k2p, generation: 1, labels: {karpenter.sh/nodepool: gpu}}
        spec: {nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: gpu}}
        status:
          providerID: aws:///us-west-2a/i-0a700000000000001
          conditions:
            - {type: Launched, status: "True", reason: Launched, lastTransitionTime: "2026-11-20T14:50:02Z"}
            - {type: Registered, status: Unknown, reason: NodeNotFound, message: Node not registered with cluster, lastTransitionTime: "2026-11-20T14:49:58Z"}
`

// TestNodeClaimIsEvidence: what the NodeClaim says stands beside the cause, and
// still does when Karpenter has ended the instance and deleted it.
func TestNodeClaimIsEvidence(t *testing.T) {
	const id = "i-0a700000000000001"
	b := bench(t, stagetest.Options{World: "route.yaml", ClusterRole: true, Over: claimed})
	evidence := func(o report.Observation) (all []string) {
		i := slices.IndexFunc(o.Diagnosis.Causes, func(c diagnosis.Cause) bool {
			return c.Check == checkid.RouteNoEgress && slices.Contains(c.Instances, id)
		})
		if i < 0 {
			t.Fatalf("causes %v, want route/no-egress of %s", stagetest.Causes(o), id)
		}
		for _, e := range o.Diagnosis.Causes[i].Evidence {
			all = append(all, e.What+": "+e.Value)
		}
		return all
	}
	const says = "NodeClaim gpu-x7k2p: Launched since 14:50:02 UTC; not Registered since 14:49:58 UTC: NodeNotFound (Node not registered with cluster)"
	if got := evidence(sweep(t, b)); !slices.Contains(got, says) {
		t.Errorf("evidence %q, want %q", got, says)
	}
	l, _ := b.Launch(id)
	if l.Status != outcome.Missed || l.Claim == nil || l.Claim.Name != "gpu-x7k2p" {
		t.Fatalf("record %+v, want one that missed the roll, with its NodeClaim", l)
	}
	// Karpenter ends it, deletes the NodeClaim, and launches none.
	over, _, _ := strings.Cut(claimed, "    NodeClaims:")
	over = strings.Replace(over, "LaunchTime:", "State: {Name: terminated, Code: 48}, StateReason: {Code: Client.UserInitiatedShutdown, Message: 'Client.UserInitiatedShutdown: User initiated shutdown'}, "+
		"StateTransitionReason: 'User initiated (2026-11-20 15:04:57 GMT)', LaunchTime:", 1)
	b = bench(t, stagetest.Options{World: "route.yaml", ClusterRole: true, Over: over})
	b.Advance(10 * time.Minute)
	if _, err := b.Store.CreateLaunch(t.Context(), l); err != nil {
		t.Fatal(err)
	}
	got := evidence(sweep(t, b))
	if !slices.ContainsFunc(got, func(e string) bool {
		return strings.HasPrefix(e, says+"; that was its state at ") && strings.HasSuffix(e, ", before it was deleted")
	}) {
		t.Errorf("evidence %q, want what the NodeClaim said", got)
	}
	if !slices.ContainsFunc(got, func(e string) bool {
		return strings.HasPrefix(e, "End of "+id+": 14m57s after its launch: Karpenter terminates")
	}) {
		t.Errorf("evidence %q, want why it ended", got)
	}
	if l, _ := b.Launch(id); l.End != snapshot.NotJoined || l.Cause != checkid.RouteNoEgress || l.Claim == nil {
		t.Errorf("record %+v, want one that did not join for its route", l)
	}
}

// opened has an incident of a cluster in the table, as report leaves it.
func opened(t *testing.T, b *stagetest.Bench, cluster string) {
	t.Helper()
	obs := report.Observation{Format: report.Format, ID: "x", By: "join-check", At: b.Now(), Cluster: cluster}
	obs.Diagnosis.Causes = []diagnosis.Cause{{Check: "addon/degraded", Resource: "vpc-cni", Covers: []string{"vpc-cni"}, Confidence: finding.Certain, Title: "x"}}
	for _, d := range reconcile.Decide(nil, obs, b.Now(), incident.Policy{}) {
		if _, err := b.Store.SaveIncident(t.Context(), d.Incident); err != nil {
			t.Fatal(err)
		}
	}
	r := outbox.ClusterRecord{Cluster: cluster}
	r.Follow(true, false, b.Now())
	if err := b.Store.SaveClusterRecord(t.Context(), r); err != nil {
		t.Fatal(err)
	}
}

// observationsOf are the observations of a cluster.
func observationsOf(b *stagetest.Bench, cluster string) []report.Observation {
	return slices.DeleteFunc(b.Observations(), func(o report.Observation) bool { return o.Cluster != cluster })
}

const deleted = "deleted-cluster"

// A cluster with open incidents is asked for by its name, whether it is listed or not:
// only EKS's answer that it has none closes them.
func TestDeletedCluster(t *testing.T) {
	for name, test := range map[string]struct {
		faults  []simaws.FaultRule
		cluster string
		named   string
		want    bool
	}{
		"deleted":                            {nil, deleted, "", true},
		"deleted, and named by the settings": {nil, deleted, deleted, true},
		"it may not be described":            {[]simaws.FaultRule{{Call: "eks:DescribeCluster", Deny: true}}, deleted, "", false},
		"EKS throttles":                      {[]simaws.FaultRule{{Call: "eks:DescribeCluster", Throttle: 1}}, deleted, "", false},
		"EKS fails":                          {[]simaws.FaultRule{{Call: "eks:DescribeCluster", Fail: 1}}, deleted, "", false},
		"it is there":                        {nil, stagetest.Cluster, "", false},
	} {
		t.Run(name, func(t *testing.T) {
			o := stagetest.Options{World: healthy.World, Over: healthy.Over, Faults: test.faults}
			if test.named != "" {
				o.Settings = map[string]string{"ROLLCALL_CLUSTERS": test.named}
			}
			b := bench(t, o)
			opened(t, b, test.cluster)
			if _, err := b.Handle(b.SweepOf(test.cluster)); err != nil {
				t.Fatal(err)
			}
			told := observationsOf(b, test.cluster)
			if len(told) != 1 || told[0].ClusterGone != test.want || !told[0].Sweep || told[0].Account != "111122223333" || told[0].Partition != "aws" {
				t.Errorf("told %+v, want once, and that it is gone: %t", told, test.want)
			}
		})
	}
}

// A cluster that nothing is open of is not asked for, and nothing is reported of one
// that other tools' tags name.
func TestForeignClusterIsNotDeleted(t *testing.T) {
	b := bench(t, stagetest.Options{World: healthy.World, Over: healthy.Over, Settings: map[string]string{"ROLLCALL_CLUSTERS": deleted}})
	if _, err := b.Handle(b.SweepOf(deleted)); err != nil {
		t.Fatal(err)
	}
	if told := observationsOf(b, deleted); len(told) > 0 {
		t.Errorf("told %+v", told)
	}
}

// While EKS deletes a cluster it is there; then it is not.
func TestClusterWhileItIsDeleted(t *testing.T) {
	b := bench(t, healthy)
	opened(t, b, stagetest.Cluster)
	groups, err := b.World.EKS().ListNodegroups(&eks.ListNodegroupsInput{ClusterName: aws.String(stagetest.Cluster)})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range groups.Nodegroups {
		b.Call("eks:DeleteNodegroup", `{"clusterName":"`+stagetest.Cluster+`","nodegroupName":"`+name+`"}`)
	}
	b.Advance(30 * time.Minute)
	b.Call("eks:DeleteCluster", `{"name":"`+stagetest.Cluster+`"}`)
	for _, want := range []bool{false, true} {
		if _, err := b.Handle(b.Sweep()); err != nil {
			t.Fatal(err)
		}
		told := observationsOf(b, stagetest.Cluster)
		if last := told[len(told)-1]; last.ClusterGone != want {
			t.Errorf("gone: %t, want %t", last.ClusterGone, want)
		}
		b.Advance(5 * time.Minute)
	}
}

// EKS is away for an hour while an instance is launched: each look says what it
// cannot see and none that the cluster was deleted, the outcome is not guessed, and
// afterwards it is what it is.
func TestEKSAwayForAnHour(t *testing.T) {
	away := true
	// EKS API reference, "Common Errors": ServiceUnavailableException, 503.
	refuse := middleware.InitializeMiddlewareFunc("EKSAway", func(ctx context.Context, in middleware.InitializeInput, next middleware.InitializeHandler) (middleware.InitializeOutput, middleware.Metadata, error) {
		if away && awsmiddleware.GetServiceID(ctx) == "EKS" {
			return middleware.InitializeOutput{}, middleware.Metadata{}, &smithy.OperationError{
				ServiceID: "EKS", OperationName: awsmiddleware.GetOperationName(ctx),
				Err: &smithy.GenericAPIError{Code: "ServiceUnavailableException", Message: "Service is unavailable.", Fault: smithy.FaultServer},
			}
		}
		return next.HandleInitialize(ctx, in)
	})
	b := stagetest.Start(t, spec.Spec(), func(ctx context.Context, e lambda.Env) (lambda.Handler, error) {
		e.AWS.APIOptions = append(slices.Clone(e.AWS.APIOptions), func(s *middleware.Stack) error { return s.Initialize.Add(refuse, middleware.After) })
		return Build(ctx, e)
	}, healthy)
	b.Scale(1)
	news := b.LaunchEvents(0)
	id := b.Instance(news[0])
	opened(t, b, stagetest.Cluster)
	until := b.Now().Add(time.Hour)
	b.Advance(5 * time.Minute)
	b.Send(news...)
	for b.Now().Before(until) {
		if _, err := b.Handle(b.Sweep()); err != nil {
			t.Fatal(err)
		}
		if l, recorded := b.Launch(id); recorded && l.Status.Final() {
			t.Fatalf("%s: the record is %+v, and nobody can know", b.Now(), l)
		}
		all := b.Observations()
		for _, o := range all {
			const call = "eks:DescribeCluster"
			if o.ClusterGone || !slices.ContainsFunc(o.Blind, func(f snapshot.Failure) bool { return f.Call == call && f.Reason == snapshot.Unreachable }) {
				t.Errorf("%s: of %s: gone %t, blind %+v; want %s named", o.At, o.Cluster, o.ClusterGone, o.Blind, call)
			}
		}
		if len(all) == 0 {
			t.Errorf("%s: nothing is told of the cluster", b.Now())
		}
		b.Advance(5 * time.Minute)
	}
	away = false
	if _, err := b.Handle(b.Sweep()); err != nil {
		t.Fatal(err)
	}
	last := observationsOf(b, stagetest.Cluster)
	if len(last) != 1 || len(last[0].Blind) > 0 || len(last[0].Launches) != 1 || last[0].Launches[0].Status != outcome.Joined {
		t.Fatalf("afterwards: %+v; want that it joined", last)
	}
	if l, _ := b.Launch(id); l.Status != outcome.Joined || l.Ready.IsZero() || l.Ready.After(until.Add(-50*time.Minute)) {
		t.Errorf("the record is %+v, want joined, and within its first minutes", l)
	}
}

// TestWithoutKubernetes: who could not be asked has not joined, nothing is
// final, and the message says why.
func TestWithoutKubernetes(t *testing.T) {
	const nodes = "kubernetes:list nodes"
	for _, test := range []struct {
		name    string
		fault   simaws.FaultRule
		entry   bool // the access entry is there
		reason  snapshot.Reason
		code    string
		message string
	}{
		{"no access entry", simaws.FaultRule{}, false, snapshot.Denied, "Unauthorized", "Unauthorized"},
		{"no permission", simaws.FaultRule{Call: nodes, Deny: true}, true, snapshot.Denied, "Forbidden", "nodes is forbidden"},
		{"no connection", simaws.FaultRule{Call: nodes, Reset: true}, true, snapshot.Unreachable, "", "the connection was cut"},
		{"throttled", simaws.FaultRule{Call: nodes, Throttle: 1}, true, snapshot.Throttled, "TooManyRequests", ""},
		{"broken", simaws.FaultRule{Call: nodes, Fail: 1}, true, snapshot.Broken, "InternalError", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			o := healthy
			if test.fault.Call != "" {
				o.Faults = []simaws.FaultRule{test.fault}
			}
			b, id, news := launched(t, o)
			if !test.entry {
				b.Call("eks:DeleteAccessEntry", `{"clusterName":"`+stagetest.Cluster+`","principalArn":"`+b.Env().Config.ReaderRole+`"}`)
			}
			b.Advance(6 * time.Minute)
			b.Send(news...)
			seen := b.Observation()
			if len(seen.Blind) != 1 {
				t.Fatalf("blind %+v, want the nodes", seen.Blind)
			}
			f := seen.Blind[0]
			if f.Source != snapshot.Nodes || f.Call != "kubernetes: list nodes" || f.Reason != test.reason || f.Code != test.code || !strings.Contains(f.Message, test.message) {
				t.Errorf("blind %+v, want %s with code %q and %q", f, test.reason, test.code, test.message)
			}
			if len(seen.Launches) != 1 || seen.Launches[0].Status != outcome.Missed {
				t.Errorf("launches %+v, want one that is not known to have joined", seen.Launches)
			}
			for _, p := range seen.Diagnosis.Passed {
				if strings.HasPrefix(string(p.Check), "node/") {
					t.Errorf("%s passes without the nodes", p.Check)
				}
			}
			if slices.Contains(seen.Read, snapshot.Nodes) {
				t.Error("the nodes count as read")
			}
			if l, _ := b.Launch(id); l.Status.Final() {
				t.Errorf("record %+v is final", l)
			}
		})
	}
}

// TestSweepWithoutKubernetes: not every node of the cluster is recorded as
// missing because none can be seen.
func TestSweepWithoutKubernetes(t *testing.T) {
	o := healthy
	o.Faults = []simaws.FaultRule{{Call: "kubernetes:list nodes", Deny: true}}
	b := bench(t, o)
	seen := sweep(t, b)
	if len(seen.Launches) > 0 || len(seen.Blind) != 1 || seen.Blind[0].Source != snapshot.Nodes {
		t.Errorf("launches %+v, blind %+v; want no launch, and that the nodes are unseen", seen.Launches, seen.Blind)
	}
	if _, recorded := b.Launch("i-0d0000000000000a1"); recorded {
		t.Error("a node of old was recorded as a launch")
	}
}

// A cluster is read by one role, the reader, and by no other that it lets in: what keeps a
// function from being the reader is named.
func TestReaderIsNotLetIn(t *testing.T) {
	for _, test := range []struct {
		name string
		// reader and own have access entries.
		reader, own bool
		faults      []simaws.FaultRule
		blind       string
	}{
		{"the reader", true, false, nil, ""},
		{"its own role alone", false, true, nil, "kubernetes: list nodes denied Unauthorized"},
		{"nobody", false, false, nil, "kubernetes: list nodes denied Unauthorized"},
		{"the reader, and it cannot be assumed", true, false, []simaws.FaultRule{{Call: "sts:AssumeRole", Deny: true}}, "sts:AssumeRole denied AccessDenied"},
		{"both, and the reader cannot be assumed", true, true, []simaws.FaultRule{{Call: "sts:AssumeRole", Deny: true}}, "sts:AssumeRole denied AccessDenied"},
	} {
		t.Run(test.name, func(t *testing.T) {
			o := healthy
			o.Faults = test.faults
			b, _, news := launched(t, o)
			reader, own := b.Env().Config.ReaderRole, simaws.RoleIdentity(b.Template.AccountID, b.Function.Name).RoleARN
			if !test.reader {
				b.Call("eks:DeleteAccessEntry", `{"clusterName":"`+stagetest.Cluster+`","principalArn":"`+reader+`"}`)
			}
			if test.own {
				b.Call("eks:CreateAccessEntry", `{"clusterName":"`+stagetest.Cluster+`","principalArn":"`+own+`"}`)
				b.Call("eks:AssociateAccessPolicy", `{"clusterName":"`+stagetest.Cluster+`","principalArn":"`+own+
					`","policyArn":"arn:aws:eks::aws:cluster-access-policy/AmazonEKSClusterAdminPolicy","accessScope":{"type":"cluster"}}`)
			}
			b.Advance(6 * time.Minute)
			b.Send(news...)
			var blind []string
			for _, f := range b.Observation().Blind {
				blind = append(blind, string(f.Call)+" "+string(f.Reason)+" "+f.Code)
			}
			if got := strings.Join(blind, ", "); got != test.blind {
				t.Errorf("blind %q, want %q", got, test.blind)
			}
		})
	}
}

func TestWholeBatchFails(t *testing.T) {
	for _, test := range []struct {
		fault simaws.FaultRule
		want  string
	}{
		{simaws.FaultRule{Call: "ec2:DescribeInstances", Deny: true}, "ec2:DescribeInstances denied"},
		{simaws.FaultRule{Call: "ec2:DescribeInstances", Throttle: 1}, "ec2:DescribeInstances throttled"},
		{simaws.FaultRule{Call: "dynamodb:Query", Deny: true}, "read the incidents"},
		{simaws.FaultRule{Call: "dynamodb:PutItem", Throttle: 1}, "at its limit"},
		{simaws.FaultRule{Call: "sqs:SendMessage", Deny: true}, "send the observation"},
	} {
		t.Run(test.fault.Call, func(t *testing.T) {
			b, _, news := launched(t, stagetest.Options{Faults: []simaws.FaultRule{test.fault}})
			_, err := b.TrySend(news[0])
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error %v, want %q", err, test.want)
			}
		})
	}
}

func TestDeniedRouteTables(t *testing.T) {
	b, _, news := launched(t, stagetest.Options{Faults: []simaws.FaultRule{{Call: "ec2:DescribeRouteTables", Deny: true}}})
	b.Advance(6 * time.Minute)
	b.Send(news...)
	o := b.Observation()
	if len(o.Blind) != 1 || o.Blind[0].Call != "ec2:DescribeRouteTables" {
		t.Errorf("blind %+v, want ec2:DescribeRouteTables", o.Blind)
	}
	for _, p := range o.Diagnosis.Passed {
		if strings.HasPrefix(string(p.Check), "route/") {
			t.Errorf("%s passes without the route tables", p.Check)
		}
	}
	if _, found := stagetest.Causes(o)["node/not-registered"]; !found {
		t.Errorf("causes %v, want at least the symptom", stagetest.Causes(o))
	}
}

// TestWithoutInstanceData: where the setting forbids it, neither user data nor consoles are
// read; what they alone would show is unknown, with the permissions, and no incident.
func TestWithoutInstanceData(t *testing.T) {
	const console = checkid.InstanceConsoleError
	for _, setting := range []string{"on", "off"} {
		b := bench(t, stagetest.Options{World: "corpus/instance-console-error.yaml", Settings: map[string]string{string(config.InstanceData): setting}})
		b.Advance(12 * time.Minute)
		o := sweeps(t, b)
		_, found := stagetest.Causes(o)[string(console)]
		if made := b.Calls(); found != (setting == "on") || (made["ec2:GetConsoleOutput"] > 0 || made["ec2:DescribeInstanceAttribute"] > 0) != found {
			t.Errorf("%s: causes %v, calls %v", setting, stagetest.Causes(o), made)
		}
		if setting == "on" {
			continue
		}
		want := []snapshot.Failure{
			{Source: snapshot.Consoles, Reason: snapshot.NotRead, Call: "ec2:GetConsoleOutput", Code: snapshot.Withheld, Message: "the setting instanceData is off"},
			{Source: snapshot.UserDataOf, Reason: snapshot.NotRead, Call: "ec2:DescribeInstanceAttribute", Code: snapshot.Withheld, Message: "the setting instanceData is off"},
		}
		if diff := cmp.Diff(want, o.Blind); diff != "" {
			t.Errorf("blind (-want +got):\n%s", diff)
		}
		if passed(o, console) || !slices.ContainsFunc(o.Diagnosis.Unknown, func(u diagnosis.Unknown) bool {
			return u.Check == console && slices.Contains(u.Blocked, want[0])
		}) {
			t.Errorf("unknown %+v", o.Diagnosis.Unknown)
		}
		for _, d := range reconcile.Decide(nil, o, b.Now(), incident.Policy{}) {
			if d.Incident.Key.Check == incident.CannotLook {
				t.Errorf("an incident of %+v", d.Incident.Key)
			}
		}
	}
}

// TestWithoutGroups: an instance that only its group's tags could claim is not
// called foreign because the group cannot be read.
func TestWithoutGroups(t *testing.T) {
	b := bench(t, stagetest.Options{Over: strangers, Faults: []simaws.FaultRule{{Call: "autoscaling:DescribeAutoScalingGroups", Throttle: 1}}})
	if back := b.Send(running("i-0aaaaaaaaaaaaaaa1"), running("i-0aaaaaaaaaaaaaaa1"), running("i-0aaaaaaaaaaaaaaa4")); !slices.Equal(back, []string{"m0", "m1"}) {
		t.Errorf("gave back %q, want both messages of the instance in a group", back)
	}
}

func bench(t *testing.T, o stagetest.Options) *stagetest.Bench {
	t.Helper()
	return stagetest.Start(t, spec.Spec(), Build, o)
}

// launched is a bench on which one instance was launched, with the events of
// its launch.
func launched(t *testing.T, o stagetest.Options) (b *stagetest.Bench, instance string, news []string) {
	t.Helper()
	b = bench(t, o)
	b.Scale(1)
	news = b.LaunchEvents(0)
	return b, b.Instance(news[0]), news
}

// healthy is a world in which nodes join, and which launches none by itself.
var healthy = stagetest.Options{World: "healthy-nat.yaml", Over: "timeline: []\n"}

func sample(t *testing.T, name string) string {
	t.Helper()
	return string(testfile.Read(t, filepath.Join("../../../events/in", name)))
}

func TestMissed(t *testing.T) {
	b, id, news := launched(t, stagetest.Options{})
	b.Advance(5 * time.Minute)
	if back := b.Send(append(news, news...)...); len(back) > 0 {
		t.Errorf("gave back %q", back)
	}
	o := b.Observation()
	if len(o.Launches) != 1 || o.Launches[0].Instance != id || o.Launches[0].Status != outcome.Missed {
		t.Errorf("launches %+v, want that %s missed the roll", o.Launches, id)
	}
	if got := stagetest.Causes(o)["route/no-egress"]; got != stagetest.Table {
		t.Errorf("causes %v, want %s", stagetest.Causes(o), stagetest.Table)
	}
	l, ok := b.Launch(id)
	if !ok || l.Status != outcome.Missed || l.Looks != 1 || !l.Due.Equal(l.Started.Add(5*time.Minute)) {
		t.Errorf("record %+v (%v)", l, ok)
	}
	if got := b.Counts(); got["Missed"] != 1 || got["Joined"] != 0 {
		t.Errorf("counts %v, want one missed", got)
	}
	if got := b.Reminders(); len(got) > 0 {
		t.Errorf("reminders %v; the sweep looks again", got)
	}
}

func TestJoined(t *testing.T) {
	b, id, news := launched(t, healthy)
	b.Advance(5 * time.Minute)
	b.Calls()
	b.Send(news...)
	calls := b.Calls()
	o := b.Observation()
	if len(o.Launches) != 1 || o.Launches[0].Status != outcome.Joined || o.Launches[0].Ready.IsZero() {
		t.Fatalf("launches %+v, want one that joined and when", o.Launches)
	}
	l, _ := b.Launch(id)
	if l.Status != outcome.Joined || !l.Registered.Equal(o.Launches[0].Registered) || !l.Ready.After(l.Registered) || l.Ready.After(b.Now()) {
		t.Errorf("record %+v", l)
	}
	if calls["ec2:DescribeRouteTables"] > 0 {
		t.Errorf("the network was read though all have joined: %v", calls)
	}
	// It is final: whatever comes later costs one read of its record.
	b.Send(news...)
	if n := len(b.Observations()); n > 0 {
		t.Errorf("%d observations of a launch whose outcome is known", n)
	}
	if diff := cmp.Diff(map[string]int{"dynamodb:BatchGetItem": 1}, b.Calls()); diff != "" {
		t.Errorf("calls (-want +got):\n%s", diff)
	}
}

// TestWaiting: who is called before it is due is called again when it is.
func TestWaiting(t *testing.T) {
	b, id, news := launched(t, healthy)
	b.Send(news[0])
	l, _ := b.Launch(id)
	if l.Status != outcome.Waiting {
		t.Fatalf("record %+v, want one that waits", l)
	}
	if got := b.Reminders()[id]; got != detect.Soon {
		t.Errorf("asked again in %s, want %s", got, detect.Soon)
	}
	b.Observations()
	b.Advance(2 * time.Minute)
	reminder, err := inbox.LookAgain(spoke.ID{}, []string{id}, b.Now())
	if err != nil {
		t.Fatal(err)
	}
	b.Send(string(reminder))
	if l, _ := b.Launch(id); l.Status != outcome.Joined {
		t.Errorf("record %+v, want that the second look saw it join", l)
	}
}

func TestWaitingWhileAnIncidentIsOpen(t *testing.T) {
	b, id, news := launched(t, healthy)
	_, err := b.Store.SaveIncident(t.Context(), incident.Incident{
		Format: report.Format, Key: report.Key{Cluster: stagetest.Cluster, Check: "route/no-egress", Resource: stagetest.Table},
		State: incident.Open, Covers: []string{stagetest.Subnet},
	})
	if err != nil {
		t.Fatal(err)
	}
	b.Send(news[0])
	if got := b.Reminders()[id]; got != detect.Soon {
		t.Errorf("asked again in %s, want %s", got, detect.Soon)
	}
	// What the incident is about is judged, so that it can be closed.
	o := b.Observation()
	if !slices.ContainsFunc(o.Diagnosis.Passed, func(p diagnosis.Passed) bool {
		return p.Check == "route/no-egress" && slices.Contains(p.Covers, stagetest.Subnet)
	}) {
		t.Errorf("passed %+v, want route/no-egress for %s", o.Diagnosis.Passed, stagetest.Subnet)
	}
}

func TestGone(t *testing.T) {
	b, id, news := launched(t, stagetest.Options{})
	b.Send(news[0])
	b.Observations()
	b.Call("ec2:TerminateInstances", `{"InstanceIds":["`+id+`"]}`)
	b.Advance(5 * time.Minute)
	b.Send(news[1])
	o := b.Observation()
	i := slices.IndexFunc(o.Launches, func(l report.Launch) bool { return l.Instance == id })
	if i < 0 || o.Launches[i].Status != outcome.Gone || o.Launches[i].Ended.IsZero() || o.Launches[i].EndedWhy == "" {
		t.Errorf("launches %+v, want that %s is gone, when and why", o.Launches, id)
	}
	if l, _ := b.Launch(id); l.Status != outcome.Gone || l.Subnet != stagetest.Subnet {
		t.Errorf("record %+v, want gone, and where it was", l)
	}
}

// TestForgotten: a recorded launch that EC2 does not describe any more is gone.
func TestForgotten(t *testing.T) {
	b := bench(t, stagetest.Options{})
	started := b.Now().Add(-2 * time.Hour)
	if _, err := b.Store.CreateLaunch(t.Context(), store.LaunchRecord{
		Launch:  outcome.Launch{Instance: "i-0ccccccccccccccc1", Subnet: stagetest.Subnet, Started: started, Status: outcome.Waiting},
		Cluster: stagetest.Cluster,
		Due:     started.Add(5 * time.Minute),
	}); err != nil {
		t.Fatal(err)
	}
	if back := b.Send(running("i-0ccccccccccccccc1"), running("i-0ccccccccccccccc2")); len(back) > 0 {
		t.Errorf("gave back %q", back)
	}
	if o := b.Observation(); len(o.Launches) != 1 || o.Launches[0].Status != outcome.Gone {
		t.Errorf("launches %+v, want one that is gone", o.Launches)
	}
	if got := b.Counts(); got["UnknownInstances"] != 1 || got["Gone"] != 1 {
		t.Errorf("counts %v, want one gone, and one that nobody knows", got)
	}
}

func TestGivenUp(t *testing.T) {
	b, id, news := launched(t, stagetest.Options{Over: `
autoscaling:
  LifecycleHooks: []
`})
	b.Advance(3 * time.Hour)
	b.Send(news[0])
	if l, _ := b.Launch(id); l.Status != outcome.GivenUp {
		t.Errorf("record %+v, want given up", l)
	}
	if o := b.Observation(); stagetest.Causes(o)["route/no-egress"] != stagetest.Table {
		t.Errorf("causes %v: what is given up is explained all the same", stagetest.Causes(o))
	}
}

func TestMalformedAloneIsGivenBack(t *testing.T) {
	b, _, news := launched(t, stagetest.Options{})
	if back := b.Send("{", news[0], "[]"); !slices.Equal(back, []string{"m0", "m2"}) {
		t.Errorf("gave back %q, want the two that cannot be read", back)
	}
	if o := b.Observation(); len(o.Launches) != 1 {
		t.Errorf("%d launches, want that of the good message", len(o.Launches))
	}
	if got := b.Counts(); got["MalformedEvents"] != 2 {
		t.Errorf("counts %v, want 2 malformed events", got)
	}
}

// TestLostRace: two invocations look at one launch; the second to write adds
// what it knows to what the first has written.
func TestLostRace(t *testing.T) {
	counts := map[string]int{}
	first := store.LaunchRecord{Launch: outcome.Launch{Instance: "i-1", Status: outcome.Waiting}, Version: 2}
	first.Learn(outcome.Facts{Noticed: time.Unix(100, 0)})
	table := &late{have: first}
	h := handler{Parts{Table: table, Detector: detect.Detector{Count: func(name string, n int) { counts[name] += n }}}}
	mine := store.LaunchRecord{Launch: outcome.Launch{Instance: "i-1", Status: outcome.Missed}, Version: 1}
	mine.Learn(outcome.Facts{Missed: time.Unix(200, 0)})
	if err := h.save(t.Context(), mine); err != nil || counts["LostRaces"] != 1 {
		t.Errorf("error %v, counts %v; want one lost race and no error", err, counts)
	}
	if got := table.have; got.Noticed.IsZero() || got.Missed.IsZero() || got.Status != outcome.Missed || got.Version != 3 {
		t.Errorf("record %+v, want what both knew", got)
	}
}

// late is a table that holds a newer version than was read.
type late struct {
	detect.LaunchTable
	have store.LaunchRecord
}

func (l *late) GetLaunches(context.Context, []string) (map[string]store.LaunchRecord, error) {
	return map[string]store.LaunchRecord{l.have.ID(): l.have}, nil
}

func (l *late) SaveLaunch(_ context.Context, with store.LaunchRecord) error {
	if with.Version != l.have.Version {
		return fmt.Errorf("save: %w", &store.Conflict{Record: "i-1", Over: with.Version})
	}
	with.Version++
	l.have = with
	return nil
}

// Ready nodes are compared with what failed, recorded or not; what has a record
// counts once, as it is recorded.
func TestReadyNodesAreCompared(t *testing.T) {
	at := time.Date(2026, 11, 20, 15, 0, 0, 0, time.UTC)
	launched := func(id string, ago time.Duration) snapshot.Instance {
		return snapshot.Instance{ID: id, Type: "m5.large", AMI: "ami-1", Launched: at.Add(-ago), Tags: map[string]string{"karpenter.sh/nodepool": "general"}}
	}
	node := func(id, ready string) snapshot.Node {
		return snapshot.Node{Instance: id, Ready: snapshot.Condition{Status: ready}}
	}
	s := &snapshot.Snapshot{
		Time: at,
		Instances: []snapshot.Instance{
			launched("i-joined", time.Hour), launched("i-recorded", 2*time.Hour), launched("i-unready", time.Hour), launched("i-none", time.Hour), launched("i-old", 169*time.Hour),
		},
		Nodes: []snapshot.Node{node("i-joined", "True"), node("i-recorded", "True"), node("i-unready", "False"), node("i-old", "True")},
	}
	recorded := snapshot.Past{ID: "i-recorded", Started: at.Add(-2 * time.Hour), End: snapshot.NotJoined}
	later := snapshot.Past{ID: "i-later", Started: at.Add(-time.Minute), End: snapshot.Joined}
	got := withJoined([]snapshot.Past{recorded, later}, joinedLaunches(s))
	want := []snapshot.Past{
		recorded,
		{ID: "i-joined", Nodegroup: "general", Type: "m5.large", AMI: "ami-1", Started: at.Add(-time.Hour), End: snapshot.Joined},
		later,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestSweepSeesKarpenter: a NodePool that cannot launch nodes makes no event; the sweep
// finds it, and it is reported even where every instance joins.
func TestSweepSeesKarpenter(t *testing.T) {
	b := bench(t, stagetest.Options{World: healthy.World, ClusterRole: true, Over: healthy.Over + `
kubernetes:
  eks-workshop:
    NodePools:
      - metadata: {name: gpu, generation: 1}
        spec: {template: {spec: {nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: gpu}}}}
    EC2NodeClasses:
      - metadata: {name: gpu, generation: 1}
        status: {conditions: [{type: SubnetsReady, status: "False", reason: SubnetsNotFound, message: none, observedGeneration: 1}, {type: Ready, status: "False", reason: UnhealthyDependents, observedGeneration: 1}]}
`})
	o := sweep(t, b)
	if got := stagetest.Causes(o)[string(checkid.KarpenterNodeclassNotReady)]; got != "gpu" || len(o.Launches) > 0 || len(o.Blind) > 0 {
		t.Errorf("because of %v, launches %+v, blind %v", stagetest.Causes(o), o.Launches, o.Blind)
	}
	for _, source := range []snapshot.Source{snapshot.NodePoolsOf, snapshot.NodeClaimsOf, snapshot.EC2NodeClassesOf} {
		if !slices.Contains(o.Read, source) {
			t.Errorf("%s was not read", source)
		}
	}
}

// TestOlderRights: a cluster whose role does not have Karpenter's objects loses
// nothing; that they may not be listed is said where a node tells of Karpenter.
func TestOlderRights(t *testing.T) {
	const node = `
kubernetes:
  eks-workshop:
    joined: [i-0d0000000000000b2, i-0d0000000000000c3]
    Nodes:
      - metadata: {name: ip-10-42-96-10, labels: {karpenter.sh/nodepool: gpu}, creationTimestamp: "2026-11-20T10:00:00Z"}
        spec: {providerID: "aws:///us-west-2a/i-0d0000000000000a1"}
        status: {conditions: [{type: Ready, status: "True", lastTransitionTime: "2026-11-20T10:01:00Z"}]}
`
	for name, tt := range map[string]struct {
		over string
		want []checkid.ID
	}{
		"nothing tells of Karpenter": {"", nil},
		"a node does":                {node, []checkid.ID{checkid.KarpenterNodeclassNotReady, checkid.KarpenterNodepoolLimit, checkid.NodeNotInitialized}},
	} {
		t.Run(name, func(t *testing.T) {
			b := bench(t, stagetest.Options{World: healthy.World, Over: healthy.Over + tt.over}) // with an access policy of EKS
			o := sweep(t, b)
			var got []checkid.ID
			for _, u := range o.Diagnosis.Unknown {
				got = append(got, u.Check)
				for _, f := range u.Blocked {
					if f.Reason != snapshot.Denied || f.Source != snapshot.NodePoolsOf && f.Source != snapshot.NodeClaimsOf || !strings.Contains(f.Message, "deploy/clusterrole.yaml") {
						t.Errorf("%s is unknown for %+v", u.Check, f)
					}
				}
			}
			slices.Sort(got)
			if diff := cmp.Diff(tt.want, got); diff != "" || len(o.Blind) > 0 || len(stagetest.Causes(o)) > 0 {
				t.Errorf("blind %v, causes %v, unknown (-want +got):\n%s", o.Blind, stagetest.Causes(o), diff)
			}
		})
	}
}

// TestKarpenterObjectsThatAreGone: what an incident is about is gone with the
// object, and nothing is gone that could not be listed.
func TestKarpenterObjectsThatAreGone(t *testing.T) {
	class := snapshot.ClassRef{Group: snapshot.KarpenterGroup, Kind: "EC2NodeClass", Name: "kept"}
	s := &snapshot.Snapshot{
		Read:       map[snapshot.Source]bool{snapshot.NodePoolsOf: true, snapshot.NodeClaimsOf: true, snapshot.Groups: true},
		NodePools:  []snapshot.NodePool{{Name: "kept", Class: class}, {Name: "going", Deleting: true, Class: snapshot.ClassRef{Group: snapshot.KarpenterGroup, Name: "unused"}}},
		NodeClaims: []snapshot.NodeClaim{{Name: "kept"}, {Name: "going", Deleting: true}},
	}
	about := func(check checkid.ID, covers ...string) incident.Incident {
		return incident.Incident{Key: report.Key{Check: check}, State: incident.Open, Covers: covers}
	}
	r := roll{sweep: true, incidents: []incident.Incident{
		about(checkid.KarpenterNodeclassNotReady, "ec2nodeclass/kept", "ec2nodeclass/unused", "nodeclass/kept", "nodepool/kept", "nodepool/going"),
		about(checkid.NodeNotInitialized, "nodeclaim/kept", "nodeclaim/going", "nodeclaim/gone", "something/else"),
		// A nodegroup of the same name is no object of Karpenter's.
		about(checkid.NodegroupHealth, "going"),
	}}
	want := []string{"ec2nodeclass/unused", "nodeclass/kept", "nodepool/going", "nodeclaim/going", "nodeclaim/gone"}
	if diff := cmp.Diff(want, absent(s, r)); diff != "" {
		t.Errorf("gone (-want +got):\n%s", diff)
	}
	s.Read = map[snapshot.Source]bool{snapshot.Groups: true}
	if got := absent(s, r); len(got) > 0 {
		t.Errorf("gone %q, and nobody could look", got)
	}
}

// TestKilledAtEachWrite: the outcome of a launch is recorded and told, what it
// teaches is learned, and one that is not due is looked at again, wherever the
// function ends.
func TestKilledAtEachWrite(t *testing.T) {
	for name, test := range map[string]struct {
		options stagetest.Options
		after   time.Duration
		asks    bool // to be called again
	}{
		"missed":  {stagetest.Options{}, 5 * time.Minute, false},
		"joined":  {healthy, 2 * time.Minute, false},
		"waiting": {stagetest.Options{Settings: map[string]string{"ROLLCALL_JOIN_TIME": "15m"}}, 0, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			stagetest.KilledAtEachWrite(t, []string{"PutItem", "SendMessage"}, func(t *testing.T, k *stagetest.Kill) any {
				o := test.options
				o.Kill = k
				b := stagetest.Start(t, spec.Spec(), Build, o)
				b.Scale(1)
				news := b.LaunchEvents(0)
				b.Advance(test.after)
				k.Invoke(stagetest.Batch(news[0]))
				if asked := len(b.Reminders()) > 0; asked != test.asks {
					t.Errorf("it is called again: %v, want %v", asked, test.asks)
				}
				return map[string]any{"records": b.Kept(), "told": b.Concluded(b.Observations())}
			})
		})
	}
}

// TestLogsOfAutoMode: the log tells what a NodeClaim does not. Without it, and where it
// may not be read, all else is judged as if it was not requested; the permission is named.
func TestLogsOfAutoMode(t *testing.T) {
	const world, denied = "corpus/launch-policy-denied-auto-mode.yaml", "launch/policy-denied"
	calls := []string{"DescribeDeliverySources", "DescribeDeliveries", "DescribeDeliveryDestinations", "FilterLogEvents"}
	for name, tt := range map[string]struct {
		setting string
		fault   simaws.FaultRule
		causes  map[string]string
		blind   string
		calls   int // of the four
	}{
		"read":               {"/aws/vendedlogs/eks/*", simaws.FaultRule{}, map[string]string{denied: gpu}, "", 4},
		"off":                {"off", simaws.FaultRule{}, map[string]string{}, "", 0},
		"another log group":  {"/aws/vendedlogs/vpc/*", simaws.FaultRule{}, map[string]string{}, "", 3},
		"no record":          {"/aws/vendedlogs/eks/*", simaws.FaultRule{Call: "logs:FilterLogEvents", Deny: true}, map[string]string{}, "logs:FilterLogEvents", 4},
		"no list":            {"/aws/vendedlogs/eks/*", simaws.FaultRule{Call: "logs:DescribeDeliverySources", Deny: true}, map[string]string{}, "logs:DescribeDeliverySources", 1},
		"the list is slowed": {"/aws/vendedlogs/eks/*", simaws.FaultRule{Call: "logs:DescribeDeliveries", Throttle: 1}, map[string]string{}, "logs:DescribeDeliveries", 2},
	} {
		t.Run(name, func(t *testing.T) {
			o := stagetest.Options{World: world, ClusterRole: true, Settings: map[string]string{string(config.AutoModeLogs): tt.setting}}
			if tt.fault.Call != "" {
				o.Faults = []simaws.FaultRule{tt.fault}
			}
			b := bench(t, o)
			b.Advance(12 * time.Minute)
			seen := sweeps(t, b)
			causes := stagetest.Causes(seen)
			delete(causes, "route/cross-zone-nat") // the advice of every such world
			if diff := cmp.Diff(tt.causes, causes); diff != "" {
				t.Errorf("causes (-want +got):\n%s", diff)
			}
			blind := ""
			for _, f := range seen.Blind {
				if f.Source == snapshot.AutoModeLogsOf {
					blind = f.Call
				}
			}
			if blind != tt.blind || len(seen.Blind) > 0 != (tt.blind != "") {
				t.Errorf("could not read %+v, want %q alone", seen.Blind, tt.blind)
			}
			n, made := 0, b.Calls()
			for _, call := range calls {
				if made["logs:"+call] > 0 {
					n++
				}
			}
			if n != tt.calls {
				t.Errorf("%d of the calls were made, want %d: %v", n, tt.calls, made)
			}
		})
	}
}

// autoNode is EKS Auto Mode's instance in the corpus: EC2's lists hide it, and
// no Auto Scaling group has it.
const autoNode = "i-0a070000000000001"

// TestAnAutoModeInstanceIsDiagnosed as any other: it is found by its cluster's
// tag, and the route that its subnet lacks is named.
func TestAnAutoModeInstanceIsDiagnosed(t *testing.T) {
	b := bench(t, stagetest.Options{World: "corpus/route-no-egress-auto-mode.yaml"})
	o := sweep(t, b)
	if len(o.Launches) != 1 || o.Launches[0].Instance != autoNode || o.Launches[0].Status != outcome.Missed {
		t.Fatalf("launches %+v, want that %s missed the roll", o.Launches, autoNode)
	}
	if got := stagetest.Causes(o)["route/no-egress"]; got != stagetest.Table {
		t.Errorf("causes %v, want %s", stagetest.Causes(o), stagetest.Table)
	}
	for _, c := range o.Diagnosis.Causes {
		if c.Check == "route/no-egress" && !slices.Contains(c.Instances, autoNode) {
			t.Errorf("the cause names %v, want %s", c.Instances, autoNode)
		}
	}
}

// TestAnAutoModeNodeHasJoined: nothing is said of one that is well.
func TestAnAutoModeNodeHasJoined(t *testing.T) {
	b := bench(t, stagetest.Options{World: "corpus/route-no-egress-auto-mode-healthy.yaml"})
	if o := sweep(t, b); len(stagetest.Causes(o)) > 0 || len(o.Blind) > 0 {
		t.Errorf("causes %v, blind %+v, launches %+v", stagetest.Causes(o), o.Blind, o.Launches)
	}
}

const strangers = `
ec2:
  Instances:
    - {InstanceId: i-0aaaaaaaaaaaaaaa1, SubnetId: subnet-0b20000000000000a, PrivateIpAddress: 10.42.101.21, LaunchTime: 2026-11-20T14:57:50Z}
    - {InstanceId: i-0aaaaaaaaaaaaaaa4, SubnetId: subnet-0b20000000000000a, PrivateIpAddress: 10.42.101.24, LaunchTime: 2026-11-20T14:57:50Z, Tags: [{Key: "kubernetes.io/cluster/kops.example.com", Value: owned}]}
autoscaling:
  AutoScalingGroups:
    - {AutoScalingGroupName: web, MinSize: 0, MaxSize: 1, DesiredCapacity: 1, VPCZoneIdentifier: subnet-0b20000000000000a, Instances: [{InstanceId: i-0aaaaaaaaaaaaaaa1}]}
`

func running(instance string) string {
	return `{"version":"0","id":"2","detail-type":"EC2 Instance State-change Notification","source":"aws.ec2","account":"111122223333","time":"2026-11-20T14:57:59Z","region":"us-west-2","resources":[],` +
		`"detail":{"instance-id":"` + instance + `","state":"running"}}`
}

// TestNothingToCall: failed launches have no instance, and warm ones are not
// expected.
func TestNothingToCall(t *testing.T) {
	b := bench(t, stagetest.Options{})
	back := b.Send(sample(t, "autoscaling-launch-unsuccessful.json"), sample(t, "autoscaling-launch-lifecycle-action-warm-pool.json"), sample(t, "schedule-rule.json"))
	if n := len(b.Observations()); len(back) > 0 || n > 0 {
		t.Errorf("gave back %q, %d observations", back, n)
	}
	if diff := cmp.Diff(map[string]int{"WarmPoolInstances": 1, "ForeignEvents": 1}, b.Counts()); diff != "" {
		t.Errorf("counts (-want +got):\n%s", diff)
	}
}

func TestWarmPool(t *testing.T) {
	b := bench(t, stagetest.Options{})
	b.Call("autoscaling:PutWarmPool", `{"AutoScalingGroupName":"`+stagetest.Group+`","PoolState":"Running","MinSize":1}`)
	b.Advance(10 * time.Minute)
	var bodies []string
	for _, body := range b.LaunchEvents(0) {
		if strings.Contains(body, `"state":"running"`) {
			bodies = append(bodies, body)
		}
	}
	if len(bodies) == 0 {
		t.Fatal("no warm instance was started")
	}
	b.Send(bodies...)
	// One that was taken for a launch once is not gone because it is warm.
	id := b.Instance(bodies[0])
	if _, err := b.Store.CreateLaunch(t.Context(), store.LaunchRecord{Launch: outcome.Launch{Instance: id, Started: b.World.Start(), Status: outcome.Waiting}, Cluster: stagetest.Cluster, Due: b.World.Start().Add(5 * time.Minute)}); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Handle(b.Sweep()); err != nil {
		t.Fatal(err)
	}
	if l, _ := b.Launch(id); l.Status != outcome.Waiting {
		t.Errorf("record %+v, want that it is left alone", l)
	}
	for _, o := range b.Observations() {
		if len(o.Launches) > 0 || len(stagetest.Causes(o)) > 0 {
			t.Errorf("launches %+v, causes %v of warm instances", o.Launches, stagetest.Causes(o))
		}
	}
	if got := b.Counts(); got["WarmPoolInstances"] != len(bodies) || got["Missed"] > 0 {
		t.Errorf("counts %v, want %d warm instances", got, len(bodies))
	}
}

func TestOthersAreCountedAndIgnored(t *testing.T) {
	b, id, news := launched(t, stagetest.Options{Over: strangers})
	if back := b.Send(running("i-0aaaaaaaaaaaaaaa1"), running("i-0aaaaaaaaaaaaaaa4"), news[0]); len(back) > 0 {
		t.Errorf("gave back %q", back)
	}
	if o := b.Observation(); o.Cluster != stagetest.Cluster || len(o.Launches) != 1 || o.Launches[0].Instance != id {
		t.Errorf("observation of %q with %+v", o.Cluster, o.Launches)
	}
	if got := b.Counts(); got["ForeignInstances"] != 2 {
		t.Errorf("counts %v, want 2 foreign instances", got)
	}
	if !strings.Contains(b.Logs(), "cluster=kops.example.com") {
		t.Errorf("the log does not name the cluster that EKS does not have:\n%s", b.Logs())
	}
}

func TestNotItsEvent(t *testing.T) {
	b := bench(t, stagetest.Options{})
	for raw, want := range map[string]string{
		"{":                                      "the envelope",
		"null":                                   "the envelope",
		sample(t, "ec2-state-running.json"):      "is woken by its queue, by sweeps and by wishes",
		sample(t, "ec2-state-terminated.json"):   "is woken by its queue, by sweeps and by wishes",
		`{"Records":[{"eventSource":"aws:s3"}]}`: "the envelope",
	} {
		if _, err := b.Handle([]byte(raw)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error %v, want %q", raw, err, want)
		}
	}
}
