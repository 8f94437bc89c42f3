package action

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"rollcall/shared/catalog"
	"rollcall/shared/checkid"
	"rollcall/shared/checks/check"
	"rollcall/shared/checks/finding"
	"rollcall/shared/remedy"
	"rollcall/shared/snapshot"
	"rollcall/shared/spec"
)

func TestInVPCs(t *testing.T) {
	add := spec.Grant{Sid: "Add", Actions: []string{"ec2:CreateRoute"}, Resources: []spec.Resource{"route-table/*"}}
	got := OptIn{Clusters: []string{"prod"}, VPCs: []string{"vpc-0a"}}.InVPCs(add)
	want := []spec.Grant{{
		Sid: "Add", Actions: []string{"ec2:CreateRoute"}, Resources: []spec.Resource{"route-table/*"},
		Conditions: map[string]map[string][]string{"ArnEquals": {"ec2:Vpc": {"arn:${Partition}:ec2:${Region}:${Account}:vpc/vpc-0a"}}},
	}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for name, o := range map[string]OptIn{"no VPC": {Clusters: []string{"prod"}}, "no cluster": {VPCs: []string{"vpc-0a"}}} {
		if got := o.InVPCs(add); len(got) != 0 {
			t.Errorf("%s: granted %+v", name, got)
		}
	}
}

// Each cluster has a statement of its own, by its number among all that have opted
// in to any remedy: remedies share them.
func TestToGroups(t *testing.T) {
	of := func(sid, cluster string) spec.Grant {
		return spec.Grant{
			Sid: sid, Why: "because", Actions: []string{"autoscaling:SetDesiredCapacity"},
			Resources:  []spec.Resource{"arn:${Partition}:autoscaling:${Region}:${Account}:autoScalingGroup:*"},
			Conditions: map[string]map[string][]string{"StringEquals": {"aws:ResourceTag/kubernetes.io/cluster/" + cluster: {"owned"}}},
		}
	}
	got := OptIn{Clusters: []string{"a", "c"}, Any: []string{"a", "b", "c"}}.ToGroups("autoscaling:SetDesiredCapacity", "because")
	if diff := cmp.Diff([]spec.Grant{of("ChangeGroups1", "a"), of("ChangeGroups3", "c")}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// A statement names twenty clusters at most. What is a %s in a name stays.
func TestByARN(t *testing.T) {
	grant := spec.Grant{Sid: "Raise", Why: "because", Actions: []string{"eks:UpdateNodegroupConfig"}}
	got := OptIn{Clusters: []string{"prod"}}.ByARN("nodegroup/%s/%s/*", grant)
	want := []spec.Grant{{Sid: "Raise1", Why: "because", Actions: []string{"eks:UpdateNodegroupConfig"}, Resources: []spec.Resource{"nodegroup/prod/%s/*"}}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("one (-want +got):\n%s", diff)
	}
	var many OptIn
	for n := range 41 {
		many.Clusters = append(many.Clusters, fmt.Sprintf("c%02d", n))
	}
	var said []string
	for _, g := range many.ByARN("%s", grant) {
		said = append(said, fmt.Sprintf("%s: %d from %s", g.Sid, len(g.Resources), g.Resources[0]))
	}
	if diff := cmp.Diff([]string{"Raise1: 20 from c00", "Raise2: 20 from c20", "Raise3: 1 from c40"}, said); diff != "" {
		t.Errorf("many (-want +got):\n%s", diff)
	}
}

// Statements of one id are one, which does what each of them does. Those of a kind
// come together, the kind that came first first, by their number.
func TestJoin(t *testing.T) {
	grant := func(sid, why, action string) spec.Grant {
		return spec.Grant{Sid: sid, Why: why, Actions: []string{action}}
	}
	got := Join([]spec.Grant{
		grant("Groups10", "d", "raise"), grant("Routes", "r", "add"), grant("Groups2", "b", "raise"),
		grant("Groups2", "e", "end"), grant("Admit1", "m", "admit"), grant("Groups10", "e", "end"), grant("Groups1", "e", "end"),
	})
	want := []spec.Grant{
		grant("Groups1", "e", "end"),
		{Sid: "Groups2", Why: "b e", Actions: []string{"raise", "end"}},
		{Sid: "Groups10", Why: "d e", Actions: []string{"raise", "end"}},
		grant("Routes", "r", "add"), grant("Admit1", "m", "admit"),
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	shared := []string{"raise", "kept"}[:1]
	Join([]spec.Grant{{Sid: "Groups1", Actions: shared}, grant("Groups1", "", "end")})
	if got := shared[:2][1]; got != "kept" {
		t.Errorf("what a remedy granted has become %q", got)
	}
}

func TestLaunchedBy(t *testing.T) {
	const owned, pool, class, eks = "kubernetes.io/cluster/prod", "karpenter.sh/nodepool", "karpenter.k8s.aws/ec2nodeclass", "eks:eks-cluster-name"
	counts := func(name string, tags map[string]string) snapshot.Group {
		return snapshot.Group{Name: name, Tags: tags, Instances: []snapshot.GroupInstance{{ID: "i-0other"}, {ID: "i-0a"}}}
	}
	ours := map[string]string{owned: "owned"}
	pooled := map[string]string{pool: "default", class: "default", owned: "owned", eks: "prod"}
	stranger := &Refusal{Reason: remedy.NotLaunchedByIt, Says: "i-0a has the tag of prod, but was launched by none of its Auto Scaling groups, nodegroups or NodePools: " +
		"anybody could have set the tag."}
	others := &Refusal{Reason: remedy.OtherCluster, Says: "a, which launched i-0a, is not tagged as owned by prod."}
	for _, test := range []struct {
		name       string
		tags       map[string]string // of the instance
		groups     []snapshot.Group
		nodegroups []snapshot.Nodegroup
		claims     []snapshot.NodeClaim // nil: not read
		by         string
		proved     bool
		no         *Refusal
	}{
		{name: "no tag at all", no: stranger},
		{name: "a NodePool", tags: pooled, by: "NodePool default"},
		{name: "no NodePool", tags: map[string]string{class: "default", owned: "owned", eks: "prod"}, no: stranger},
		{name: "a NodePool without a class", tags: map[string]string{pool: "default", owned: "owned", eks: "prod"}, no: stranger},
		{name: "a NodePool that shares the cluster", tags: map[string]string{pool: "default", class: "default", owned: "shared", eks: "prod"}, no: stranger},
		{name: "another cluster's NodePool", tags: map[string]string{pool: "default", class: "default", owned: "owned", eks: "dev"}, no: stranger},
		{name: "a group of the cluster", groups: []snapshot.Group{counts("a", ours)}, by: "Auto Scaling group a", proved: true},
		{name: "the second group, whatever a tag says", tags: map[string]string{"aws:autoscaling:groupName": "first"},
			groups: []snapshot.Group{{Name: "first", Tags: ours}, counts("a", ours)}, by: "Auto Scaling group a", proved: true},
		{name: "a group of nobody's", groups: []snapshot.Group{counts("a", nil)}, no: others},
		{name: "a group that shares the cluster", groups: []snapshot.Group{counts("a", map[string]string{owned: "shared"})}, no: others},
		{name: "a nodegroup's group", groups: []snapshot.Group{counts("a", nil)}, nodegroups: []snapshot.Nodegroup{{Name: "workers", Cluster: "prod", Groups: []string{"x", "a"}}},
			by: "nodegroup workers", proved: true},
		{name: "the second nodegroup's group", groups: []snapshot.Group{counts("a", nil)},
			nodegroups: []snapshot.Nodegroup{{Name: "first", Cluster: "prod", Groups: []string{"x"}}, {Name: "workers", Groups: []string{"a"}}}, by: "nodegroup workers", proved: true},
		{name: "a nodegroup of no named cluster", groups: []snapshot.Group{counts("a", nil)}, nodegroups: []snapshot.Nodegroup{{Name: "workers", Groups: []string{"a"}}},
			by: "nodegroup workers", proved: true},
		{name: "another cluster's nodegroup", groups: []snapshot.Group{counts("a", nil)},
			nodegroups: []snapshot.Nodegroup{{Name: "workers", Cluster: "dev", Groups: []string{"a"}}}, no: others},
		{name: "a group that does not count it", tags: map[string]string{"aws:autoscaling:groupName": "a"}, groups: []snapshot.Group{{Name: "x"}, {Name: "a", Tags: ours}},
			no: &Refusal{Reason: remedy.NotTheGroups, Says: "a does not have i-0a among its instances."}},
		{name: "a group that was not read", tags: map[string]string{"aws:autoscaling:groupName": "a"}, groups: []snapshot.Group{{Name: "x"}},
			no: &Refusal{Reason: remedy.CouldNotLook, Says: "No plan without complete data; not read: auto scaling groups, broken.",
				Blocked: []snapshot.Failure{{Source: snapshot.Groups, Reason: snapshot.Broken, Message: "a is not among them"}}}},
		{name: "a NodePool whose NodeClaim names it", tags: pooled, claims: []snapshot.NodeClaim{{Instance: "i-0b"}, {Instance: "i-0a"}}, by: "NodePool default", proved: true},
		{name: "a NodePool none of whose NodeClaims names it", tags: pooled, claims: []snapshot.NodeClaim{{Instance: "i-0b"}},
			no: &Refusal{Reason: remedy.NotLaunchedByIt, Says: "i-0a has the tags of NodePool default, but no NodeClaim of prod names it: anybody could have set the tags."}},
	} {
		s := &snapshot.Snapshot{Groups: test.groups, Nodegroups: test.nodegroups, NodeClaims: test.claims, Read: map[snapshot.Source]bool{snapshot.NodeClaimsOf: test.claims != nil}}
		l := Look{Snapshot: s, Subject: Subject{Cluster: "prod"}}
		by, proved, no := l.LaunchedBy(snapshot.Instance{ID: "i-0a", Tags: test.tags})
		if by != test.by || proved != test.proved {
			t.Errorf("%s: by %q, proved %v; want %q, %v", test.name, by, proved, test.by, test.proved)
		}
		if diff := cmp.Diff(test.no, no); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.name, diff)
		}
	}
}

// whole is a look at prod at which these sources were read.
func whole(read ...snapshot.Source) *snapshot.Snapshot {
	s := &snapshot.Snapshot{
		Account: "123456789012", Region: "us-west-2", Partition: "aws", Cluster: snapshot.Cluster{Name: "prod", VPC: "vpc-0a"}, Read: map[snapshot.Source]bool{},
	}
	for _, source := range read {
		s.Read[source] = true
	}
	return s
}

func TestWhole(t *testing.T) {
	needs := []snapshot.Source{snapshot.Clusters, snapshot.Groups, snapshot.Subnets}
	unread := func(source snapshot.Source) snapshot.Failure {
		return snapshot.Failure{Source: source, Reason: snapshot.NotRead, Message: "nobody asked for it"}
	}
	elsewhere := Missing(snapshot.Clusters, "the observation is not of prod")
	for _, test := range []struct {
		name  string
		read  []snapshot.Source
		wrong func(*snapshot.Snapshot)
		want  *Refusal
	}{
		{"all of it", needs, func(*snapshot.Snapshot) {}, nil},
		{"two sources less", needs[:1], func(*snapshot.Snapshot) {}, &Refusal{
			Reason: remedy.CouldNotLook, Says: "No plan without complete data; not read: auto scaling groups, not read.",
			Blocked: []snapshot.Failure{unread(snapshot.Groups), unread(snapshot.Subnets)},
		}},
		{"another cluster", needs, func(s *snapshot.Snapshot) { s.Cluster.Name = "dev" }, elsewhere},
		{"no VPC", needs, func(s *snapshot.Snapshot) { s.Cluster.VPC = "" }, elsewhere},
		{"no account", needs, func(s *snapshot.Snapshot) { s.Account = "" }, elsewhere},
		{"no region", needs, func(s *snapshot.Snapshot) { s.Region = "" }, elsewhere},
		{"no partition", needs, func(s *snapshot.Snapshot) { s.Partition = "" }, elsewhere},
	} {
		s := whole(test.read...)
		test.wrong(s)
		if diff := cmp.Diff(test.want, Look{Snapshot: s, Subject: Subject{Cluster: "prod"}}.Whole(needs)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.name, diff)
		}
	}
}

const asked checkid.ID = "route/no-egress"

// saying is a look for an incident of rtb-0a, which is about subnet-0a, whose check
// finds this. Another check finds the same, and is not run.
func saying(confidence finding.Confidence, found ...finding.Finding) Look {
	finds := func(list []finding.Finding) func(*check.View) []finding.Finding {
		return func(*check.View) []finding.Finding { return list }
	}
	return Look{
		Snapshot: whole(), Subject: Subject{Cluster: "prod", Check: asked, Resource: "rtb-0a", Covers: []string{"subnet-0a"}},
		Checks: []check.Check{
			{Entry: catalog.Entry{ID: "sg/node-egress", Confidence: finding.Certain}, Run: finds([]finding.Finding{{Outcome: finding.Fail, Resource: "rtb-0a", Covers: []string{"subnet-0other"}}})},
			{Entry: catalog.Entry{ID: asked, Confidence: confidence}, Run: finds(found)},
		},
	}
}

func denied() snapshot.Failure {
	return snapshot.Failure{Source: snapshot.RouteTables, Reason: snapshot.Denied, Call: "ec2:DescribeRouteTables"}
}

func throttled() snapshot.Failure {
	return snapshot.Failure{Source: snapshot.Subnets, Reason: snapshot.Throttled}
}

func here(confidence finding.Confidence) finding.Finding {
	return finding.Finding{Outcome: finding.Fail, Resource: "rtb-0a", Confidence: confidence, Covers: []string{"subnet-0b", "subnet-0a"}}
}

func elsewhere() finding.Finding {
	return finding.Finding{Outcome: finding.Fail, Resource: "rtb-0other", Covers: []string{"subnet-0other"}}
}

func unknown(blocked ...snapshot.Failure) finding.Finding {
	return finding.Finding{Outcome: finding.Unknown, Resource: "prod", Blocked: blocked}
}

func blockedBy(blocked ...snapshot.Failure) *Refusal {
	return &Refusal{Reason: remedy.CouldNotLook, Says: "No plan without complete data; not read: route tables, denied (ec2:DescribeRouteTables).", Blocked: blocked}
}

func TestStill(t *testing.T) {
	gone := &Refusal{Reason: remedy.NotSo, Says: "route/no-egress no longer finds it at rtb-0a."}
	unsure := func(confidence finding.Confidence) *Refusal {
		return &Refusal{
			Reason: remedy.NotCertain, Says: "route/no-egress finds it, but not with certainty (" + string(confidence) + "): something that Rollcall cannot read could make it harmless.",
		}
	}
	for _, test := range []struct {
		name  string
		of    finding.Confidence // of the check
		found []finding.Finding
		want  *Refusal
	}{
		{"found", finding.Certain, []finding.Finding{here("")}, nil},
		{"found, and elsewhere something was not read", finding.Certain, []finding.Finding{here(""), unknown(denied())}, nil},
		{"found as likely by a check that is certain", finding.Certain, []finding.Finding{here(finding.Likely)}, nil},
		{"found by a check that is likely", finding.Likely, []finding.Finding{here("")}, nil},
		{"found as possible by a check that is certain", finding.Certain, []finding.Finding{here(finding.Possible)}, unsure(finding.Possible)},
		{"found with certainty and as possible", finding.Certain, []finding.Finding{here(""), here(finding.Possible)}, unsure(finding.Possible)},
		{"found by a check that is possible", finding.Possible, []finding.Finding{here("")}, unsure(finding.Possible)},
		{"found elsewhere", finding.Certain, []finding.Finding{elsewhere()}, gone},
		{"it passes", finding.Certain, []finding.Finding{{Outcome: finding.Pass, Resource: "rtb-0a"}}, gone},
		{"nothing", finding.Certain, nil, gone},
		{"it is not known", finding.Certain, []finding.Finding{unknown(denied()), unknown(throttled())}, blockedBy(denied(), throttled())},
		{"it is not known, and found elsewhere", finding.Certain, []finding.Finding{elsewhere(), unknown(denied())}, blockedBy(denied())},
	} {
		if diff := cmp.Diff(test.want, saying(test.of, test.found...).Still(finding.Certain, finding.Likely)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.name, diff)
		}
	}
}

func TestCovered(t *testing.T) {
	passes := finding.Finding{Outcome: finding.Pass, Resource: "rtb-0a", Covers: []string{"subnet-0passes"}}
	got := saying(finding.Certain, elsewhere(), passes, here(""), here(finding.Possible)).Covered()
	if diff := cmp.Diff([]string{"subnet-0a", "subnet-0b", "subnet-0a", "subnet-0b"}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestCauseGone(t *testing.T) {
	there := func(at string) *Refusal {
		return &Refusal{Reason: remedy.CauseIsThere, Says: "route/no-egress still finds it at " + at + ": a new instance would fail the same way."}
	}
	silent := snapshot.Failure{Source: "check route/no-egress", Reason: snapshot.NotRead, Message: "it judged nothing"}
	about := elsewhere()
	about.Covers = []string{"subnet-0z", "subnet-0a"}
	resource := finding.Finding{Outcome: finding.Fail, Resource: "rtb-0a"}
	for _, test := range []struct {
		name  string
		found []finding.Finding
		want  *Refusal
	}{
		{"it passes", []finding.Finding{{Outcome: finding.Pass, Resource: "rtb-0a", Covers: []string{"subnet-0a"}}}, nil},
		{"it fails elsewhere", []finding.Finding{elsewhere()}, nil},
		{"it fails at the resource", []finding.Finding{resource}, there("rtb-0a")},
		{"it fails at another resource for what the incident covers", []finding.Finding{elsewhere(), about}, there("rtb-0other")},
		{"it is not known", []finding.Finding{unknown(denied()), unknown(throttled())}, blockedBy(denied(), throttled())},
		{"it passes here, and elsewhere it is not known", []finding.Finding{{Outcome: finding.Pass, Resource: "rtb-0a"}, unknown(denied())}, blockedBy(denied())},
		{"nothing was judged", nil, &Refusal{
			Reason: remedy.CouldNotLook, Says: "No plan without complete data; not read: check route/no-egress, not read.", Blocked: []snapshot.Failure{silent},
		}},
	} {
		if diff := cmp.Diff(test.want, saying(finding.Certain, test.found...).CauseGone()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.name, diff)
		}
	}
}

// What could not be read first is said, with the call where there was one.
func TestUnread(t *testing.T) {
	denied := snapshot.Failure{Source: snapshot.Groups, Reason: snapshot.Denied, Call: "autoscaling:DescribeAutoScalingGroups", Message: "no"}
	broken := snapshot.Failure{Source: snapshot.Subnets, Reason: snapshot.Broken, Message: "subnet-0a is not among them"}
	for _, test := range []struct {
		got  *Refusal
		want Refusal
	}{
		{Unread(denied, broken), Refusal{
			Says: "No plan without complete data; not read: auto scaling groups, denied (autoscaling:DescribeAutoScalingGroups).", Blocked: []snapshot.Failure{denied, broken},
		}},
		{Missing(snapshot.Subnets, "subnet-0a is not among them"), Refusal{
			Says: "No plan without complete data; not read: subnets, broken.", Blocked: []snapshot.Failure{broken},
		}},
	} {
		test.want.Reason = remedy.CouldNotLook
		if diff := cmp.Diff(&test.want, test.got); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
}

// A remedy is asked for a plan only where all of its sources were read.
func TestMakeLooksFirst(t *testing.T) {
	planned := 0
	r := Remedy[string, any]{
		Sources: []snapshot.Source{snapshot.Groups},
		Plan:    func(l Look) (*string, *Refusal) { planned++; return &l.Subject.Cluster, nil },
	}
	p, no := r.Make(Look{Snapshot: whole(snapshot.Groups), Subject: Subject{Cluster: "prod"}})
	if no != nil || p == nil || *p != "prod" {
		t.Errorf("all was read: planned %v, refused %+v", p, no)
	}
	p, no = r.Make(Look{Snapshot: whole(), Subject: Subject{Cluster: "prod"}})
	want := &Refusal{
		Reason: remedy.CouldNotLook, Says: "No plan without complete data; not read: auto scaling groups, not read.",
		Blocked: []snapshot.Failure{{Source: snapshot.Groups, Reason: snapshot.NotRead, Message: "nobody asked for it"}},
	}
	if diff := cmp.Diff(want, no); diff != "" || p != nil || planned != 1 {
		t.Errorf("the groups were not read: planned %v, asked %d times (-want +got):\n%s", p, planned, diff)
	}
}

// Only what AWS says that it did is changed; what no answer tells is not known;
// all else changed nothing.
func TestOne(t *testing.T) {
	refused := Result{Status: remedy.Failed, Reason: "Broken", Says: "Nothing was changed: AWS returned Broken: because", Requests: []string{"r-1"}}
	for outcome, want := range map[Outcome]Result{
		Done:      {Status: remedy.Done, Changed: []string{"rtb-0a"}, Requests: []string{"r-1"}},
		Uncertain: {Status: remedy.Uncertain, Reason: "Broken", Says: "No response confirms whether it was done.", Requests: []string{"r-1"}},
		WouldDo:   refused, InUse: refused, NotThere: refused, Throttled: refused, Denied: refused, Refused: refused,
		"": refused,
	} {
		got := One("rtb-0a", Answer{Outcome: outcome, Request: "r-1", Code: "Broken", Message: "because"})
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%q (-want +got):\n%s", outcome, diff)
		}
	}
	for name, a := range map[string]Answer{
		"STS says no":      {Outcome: NoRole, Code: "AccessDenied", Message: "User: … is not authorized", Request: "r-1"},
		"STS says nothing": {Outcome: NoRole, Message: "AccessDenied", Request: "r-1"},
	} {
		want := Result{Status: remedy.Failed, Reason: "role-not-assumed", Says: "Nothing was changed: Rollcall cannot assume the remediator role (AccessDenied).", Requests: []string{"r-1"}}
		if diff := cmp.Diff(want, One("rtb-0a", a)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	want := Result{Status: remedy.Failed, Reason: "NotARaise", Says: "Nothing was changed: AWS returned NotARaise: because"}
	if diff := cmp.Diff(want, One("g", NotAsked("NotARaise", "because"))); diff != "" {
		t.Errorf("not asked (-want +got):\n%s", diff)
	}
}

// An instance in a subnet proves that the cluster launches there only where a group of the
// cluster launched it: anybody may start one with its tags.
func TestLaunchesInto(t *testing.T) {
	owned := map[string]string{"kubernetes.io/cluster/prod": "owned"}
	pooled := map[string]string{"karpenter.sh/nodepool": "default", "karpenter.k8s.aws/ec2nodeclass": "default", "kubernetes.io/cluster/prod": "owned", "eks:eks-cluster-name": "prod"}
	grouped := map[string]string{"kubernetes.io/cluster/prod": "owned", "aws:autoscaling:groupName": "a"}
	group := func(tags map[string]string) snapshot.Group {
		return snapshot.Group{Name: "a", Tags: tags, Instances: []snapshot.GroupInstance{{ID: "i-0a"}}}
	}
	for name, tt := range map[string]struct {
		s    snapshot.Snapshot
		want bool
	}{
		"nothing is there":              {snapshot.Snapshot{}, false},
		"a group of the cluster has it": {snapshot.Snapshot{Instances: []snapshot.Instance{{ID: "i-0a", Subnet: "subnet-0a", Tags: grouped}}, Groups: []snapshot.Group{group(owned)}}, true},
		"in another subnet":             {snapshot.Snapshot{Instances: []snapshot.Instance{{ID: "i-0a", Subnet: "subnet-0b", Tags: grouped}}, Groups: []snapshot.Group{group(owned)}}, false},
		"a tagged stranger":             {snapshot.Snapshot{Instances: []snapshot.Instance{{ID: "i-0z", Subnet: "subnet-0a", Tags: owned}}, Groups: []snapshot.Group{group(owned)}}, false},
		"a group that has no instance":  {snapshot.Snapshot{Groups: []snapshot.Group{{Name: "a", Tags: owned, Subnets: []string{"subnet-0a"}}}}, true},
		"only tags name a NodePool":     {snapshot.Snapshot{Instances: []snapshot.Instance{{ID: "i-0a", Subnet: "subnet-0a", Tags: pooled}}}, false},
		"of another cluster's group":    {snapshot.Snapshot{Instances: []snapshot.Instance{{ID: "i-0a", Subnet: "subnet-0a", Tags: grouped}}, Groups: []snapshot.Group{group(nil)}}, false},
	} {
		tt.s.Cluster.Name = "prod"
		l := Look{Snapshot: &tt.s}
		l.Subject.Cluster = "prod"
		if got := l.LaunchesInto("subnet-0a"); got != tt.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}

// What is not asked of AWS is sure to have changed nothing, and has no request.
func TestNotAsked(t *testing.T) {
	want := Answer{Outcome: Refused, Code: "NotARaise", Message: "because"}
	if diff := cmp.Diff(want, NotAsked("NotARaise", "because")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
