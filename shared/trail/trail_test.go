package trail

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"rollcall/shared/checkid"
	"rollcall/shared/diagnosis"
	"rollcall/shared/incident"
	"rollcall/shared/report"
	"rollcall/shared/snapshot"
	"rollcall/tools/testfile"
)

const (
	table  = "rtb-0cd2e3f4a5b6c7d8e"
	subnet = "subnet-0ab1c2d3e4f5a6b7c"
)

func incidentOf(check checkid.ID, resource string) incident.Incident {
	return incident.Incident{
		Key: report.Key{Cluster: "prod", Check: check, Resource: resource}, Began: at("14:59:00"), Opened: at("14:59:04"),
		Cause: diagnosis.Cause{Check: check, Resource: resource, Covers: []string{subnet}, Nodegroups: []string{"workers"}},
	}
}

// all is the window of a day.
func all() Window {
	return Window{To: at("14:59:00"), start: at("00:00:00"), oldest: at("00:00:00").Add(-Kept)}
}

// Each record is blamed for the thing that it changed, and for no other.
func TestWhatARecordIsAbout(t *testing.T) {
	for _, test := range []struct {
		record string
		target Target
		about  bool
	}{
		{"delete-route", Target{Kind: RouteTable, Name: table}, true},
		{"delete-route", Target{Kind: RouteTable, Name: "rtb-0fe1d2c3b4a596877"}, false},
		{"create-table", Target{Kind: RouteTable, Name: table}, true},
		{"create-table", Target{Kind: VPC, Name: "vpc-0a1b2c3d4e5f60718"}, false}, // a new table is no change of the VPC
		{"replace-association", Target{Kind: RouteTable, Name: "rtb-0fe1d2c3b4a596877"}, true},
		{"delete-vpc-endpoints", Target{Kind: Endpoint, Name: "vpce-0a1b2c3d4e5f60718"}, true},
		{"delete-nat", Target{Kind: NATGateway, Name: "nat-0a1b2c3d4e5f60718"}, true},
		{"revoke-egress", Target{Kind: SecurityGroup, Name: "sg-0a1b2c3d4e5f60718"}, true},
		{"revoke-egress", Target{Kind: SecurityGroup, Name: "sg-0b1b2c3d4e5f60718"}, false}, // only named in the rule
		{"run-instances", Target{Kind: Subnet, Name: subnet}, false},                        // a launch uses the subnet
		{"create-template-version", Target{Kind: LaunchTemplate, Name: "lt-0a1b2c3d4e5f60718"}, true},
		{"update-nodegroup", Target{Nodegroup, "workers", "prod"}, true},
		{"update-nodegroup", Target{Nodegroup, "workers", "dev"}, false}, // another cluster's of the same name
		{"detach-role-policy", Target{Kind: Role, Name: "nodes"}, true},
		{"detach-role-policy", Target{Kind: Group, Name: "nodes"}, false},
	} {
		list, _ := Changes([]Record{sample(t, test.record)}, []Target{test.target}, all(), nil)
		if (len(list) == 1) != test.about {
			t.Errorf("%s is about %v: %v, want %v", test.record, test.target, len(list) == 1, test.about)
		}
	}
}

// What was done before the last good launch, or after the first bad one, is not
// to blame.
func TestWindow(t *testing.T) {
	past := func(id, subnet, nodegroup string, end snapshot.End, ready string) snapshot.Past {
		p := snapshot.Past{ID: id, Subnet: subnet, Nodegroup: nodegroup, End: end}
		if ready != "" {
			p.Started, p.Ready = at(ready).Add(-time.Minute), at(ready)
		}
		return p
	}
	history := []snapshot.Past{
		past("i-old", subnet, "workers", snapshot.Joined, "09:00:00"), past("i-good", subnet, "web", snapshot.Joined, "14:00:00"),
		past("i-elsewhere", "subnet-0fffffffffffffff1", "workers", snapshot.Joined, "14:50:00"), // proves nothing of our subnet
		past("i-bad", subnet, "workers", snapshot.NotJoined, ""), past("i-later", subnet, "workers", snapshot.Joined, "15:10:00"),
	}
	now := at("15:00:00")
	group := incidentOf("launch/template", "eks-workers")
	group.Cause.Covers = []string{"eks-workers"}
	alone := group
	alone.Cause.Nodegroups = nil
	for name, test := range map[string]struct {
		inc  incident.Incident
		past []snapshot.Past
		want Window
	}{
		"by subnet":    {incidentOf("route/no-egress", table), history, Window{From: at("14:00:00"), To: at("14:59:00"), LastGood: "i-good", start: at("14:00:00"), oldest: now.Add(-Kept)}},
		"by nodegroup": {group, history, Window{From: at("14:50:00"), To: at("14:59:00"), LastGood: "i-elsewhere", start: at("14:50:00"), oldest: now.Add(-Kept)}},
		"by cluster":   {alone, history, Window{From: at("14:50:00"), To: at("14:59:00"), LastGood: "i-elsewhere", start: at("14:50:00"), oldest: now.Add(-Kept)}},
		"none known":   {incidentOf("route/no-egress", table), nil, Window{To: at("14:59:00"), start: at("14:59:00").Add(-Usual), oldest: now.Add(-Kept)}},
	} {
		if diff := cmp.Diff(test.want, WindowOf(test.inc, test.past, now), cmp.AllowUnexported(Window{})); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	w := WindowOf(incidentOf("route/no-egress", table), history, now)
	for clock, blamed := range map[string]bool{"13:59:59": false, "14:00:00": true, "14:41:07": true, "14:59:00": true, "14:59:01": false} {
		r := sample(t, "delete-route")
		r.At = at(clock)
		if list, _ := Changes([]Record{r}, []Target{{Kind: RouteTable, Name: table}}, w, nil); (len(list) == 1) != blamed {
			t.Errorf("at %s: blamed is %v, want %v", clock, len(list) == 1, blamed)
		}
	}
	old := WindowOf(incidentOf("route/no-egress", table), history, at("14:00:00").Add(Kept+time.Minute))
	if !old.From.Equal(old.oldest) || !old.start.Equal(old.oldest) {
		t.Errorf("a window longer than CloudTrail's memory: %+v", old)
	}
}

// An exchanged association names the new table alone, one that was taken away
// neither table nor subnet: both are traced to the subnet.
func TestAssociationsAreTraced(t *testing.T) {
	records := []Record{sample(t, "disassociate"), sample(t, "replace-association"), sample(t, "associate")}
	records[0].At = at("14:50:00")
	targets := Targets(incidentOf("route/no-egress", table), nil)
	list, _ := Changes(records, targets, all(), nil)
	var got []string
	for _, c := range list {
		got = append(got, c.Call+" "+c.Resource)
	}
	want := []string{"DisassociateRouteTable " + subnet, "ReplaceRouteTableAssociation " + subnet}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	// Another subnet's association is none of ours.
	records[2].Asked = []Text{{"subnetId", "subnet-0fffffffffffffff1"}}
	if list, _ := Changes(records, targets, all(), nil); len(list) != 0 {
		t.Errorf("another subnet's: %v", list)
	}
}

// Whoever takes on a role chooses the name of the session: by it alone no actor
// passes for Rollcall.
func TestSessionNameProvesNothing(t *testing.T) {
	own := []Function{{Session: "rollcall-remediate", Role: "remediate"}, {Session: "rollcall-eni-cleanup", Role: "enicleanup"}}
	for _, test := range []struct {
		actor Actor
		want  string
	}{
		{Actor{Name: "n", Role: "Rollcall-RemediateRoleDEE912F2-1X2Y", Session: "rollcall-remediate"}, "Rollcall"},
		{Actor{Name: "n", Role: "Rollcall-EniCleanupRole33C676CF-1X", Session: "rollcall-eni-cleanup"}, "Rollcall"},
		{Actor{Name: "n", Role: "rollcall-remediate", Session: "rollcall-remediate"}, "Rollcall"},
		{Actor{Name: "admin/rollcall-remediate", Role: "admin", Session: "rollcall-remediate"}, "admin/rollcall-remediate"},
		{Actor{Name: "n", Role: "Rollcall-RemediateRoleDEE912F2-1X2Y", Session: "rollcall-eni-cleanup"}, "n"},
		{Actor{Name: "rollcall-remediate", Session: "rollcall-remediate"}, "rollcall-remediate"},
		{Actor{Name: "n", Role: "Rollcall-RemediateRoleDEE912F2-1X2Y", Session: "dana"}, "n"},
	} {
		r := sample(t, "delete-route")
		r.Actor = test.actor
		if list, _ := Changes([]Record{r}, []Target{{Kind: RouteTable, Name: table}}, all(), own); len(list) != 1 || list[0].Actor != test.want {
			t.Errorf("%+v: %+v, want %s", test.actor, list, test.want)
		}
	}
}

func TestChanges(t *testing.T) {
	route := sample(t, "delete-route")
	records := []Record{route, route, sample(t, "create-table")} // found by name and by call: once
	again := route
	again.ID, again.At = "again", at("14:42:00")
	refused := route
	refused.ID, refused.Error, refused.At = "refused", "UnauthorizedOperation", at("14:43:00")
	dry := route
	dry.ID, dry.Error = "dry", dryRun
	read := route
	read.ID, read.ReadOnly = "read", true
	ours := route
	ours.ID, ours.At, ours.Call = "ours", at("14:44:00"), "CreateRoute"
	ours.Actor = Actor{Name: "Remediate-1X/rollcall-remediate", Principal: "arn:aws:sts::111122223333:assumed-role/Remediate-1X/rollcall-remediate", Role: "Remediate-1X", Session: "rollcall-remediate"}
	got, more := Changes(append(records, again, refused, dry, read, ours), []Target{{Kind: RouteTable, Name: table}}, all(), []Function{{Session: "rollcall-remediate", Role: "remediate"}})
	by := func(c report.Change) report.Change {
		c.Resource, c.Actor, c.Principal = table, "ci-deploy/run-4711", "arn:aws:sts::111122223333:assumed-role/ci-deploy/run-4711"
		return c
	}
	want := []report.Change{
		{ID: "ours", At: at("14:44:00"), Call: "CreateRoute", Resource: table, Actor: "Rollcall", Principal: ours.Actor.Principal},
		by(report.Change{ID: "refused", At: at("14:43:00"), Call: "DeleteRoute", By: "cloudformation.amazonaws.com", Error: "UnauthorizedOperation"}),
		by(report.Change{ID: route.ID, At: at("14:42:00"), Call: "DeleteRoute", By: "cloudformation.amazonaws.com", Times: 2}),
		by(report.Change{ID: "e11", At: at("14:40:59"), Call: "CreateRouteTable"}),
	}
	if diff := cmp.Diff(want, got); diff != "" || more != 0 {
		t.Errorf("%d more (-want +got):\n%s", more, diff)
	}
}

// Of too many the refused go first, then the oldest.
func TestTooManyChanges(t *testing.T) {
	var records []Record
	for i := range 12 {
		r := sample(t, "delete-route")
		r.ID, r.At, r.Call = fmt.Sprint(i), at("14:00:00").Add(time.Duration(i)*time.Minute), fmt.Sprint("RouteCall", i)
		if i >= 10 {
			r.Error = "UnauthorizedOperation"
		}
		records = append(records, r)
	}
	list, more := Changes(records, []Target{{Kind: RouteTable, Name: table}}, all(), nil)
	if len(list) != MaxChanges || more != 4 || list[0].Call != "RouteCall9" || list[7].Call != "RouteCall2" {
		t.Errorf("%d and %d more, from %v to %v", len(list), more, list[0], list[len(list)-1])
	}
}

func TestTargets(t *testing.T) {
	route := incidentOf("route/no-egress", table)
	route.Cause.Resources = []string{table, "nat-0a1b2c3d4e5f60718"}
	route.Launches = []report.Launch{{Group: "eks-workers"}, {Group: "eks-workers"}}
	access := incidentOf("iam/access-missing", "arn:aws:iam::111122223333:role/path/nodes")
	access.Cause.Covers = []string{"i-0ef3c1b2a4d5968f1"}
	addon := incidentOf("addon/degraded", "vpc-cni")
	addon.Cause.Covers, addon.Cause.Nodegroups = []string{"vpc-cni"}, nil
	health := incidentOf("cluster/health", "prod")
	health.Cause.Covers, health.Cause.Nodegroups = nil, nil
	for name, test := range map[string]struct {
		inc       incident.Incident
		templates []string
		want      []Target
	}{
		"route": {route, []string{"lt-0a1b2c3d4e5f60718", "name"}, []Target{
			{Kind: RouteTable, Name: table}, {Kind: NATGateway, Name: "nat-0a1b2c3d4e5f60718"}, {Kind: Subnet, Name: subnet},
			{Kind: LaunchTemplate, Name: "lt-0a1b2c3d4e5f60718"}, {Nodegroup, "workers", "prod"}, {Kind: Group, Name: "eks-workers"},
		}},
		"access":  {access, nil, []Target{{Kind: Role, Name: "nodes"}, {Access, "arn:aws:iam::111122223333:role/path/nodes", "prod"}, {Nodegroup, "workers", "prod"}}},
		"addon":   {addon, nil, []Target{{Addon, "vpc-cni", "prod"}}},
		"cluster": {health, nil, []Target{{Cluster, "prod", "prod"}}},
	} {
		if diff := cmp.Diff(test.want, Targets(test.inc, test.templates)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// A look is bounded: CloudTrail takes two calls a second from the whole account.
func TestLookups(t *testing.T) {
	inc := incidentOf("route/no-egress", table)
	w := WindowOf(inc, nil, at("15:00:00"))
	list := Lookups(Targets(inc, []string{"lt-0a1b2c3d4e5f60718"}), w)
	if len(list) > mostTargets+mostCalls {
		t.Errorf("%d lookups", len(list))
	}
	old := Lookup{Call: "AssociateRouteTable", Start: w.oldest, End: w.To}
	for _, want := range []Lookup{{Resource: table, Start: w.start, End: w.To}, {Call: "DeleteRoute", Start: w.start, End: w.To}, old} {
		if !slices.Contains(list, want) {
			t.Errorf("%+v is not looked up: %+v", want, list)
		}
	}
	role := Lookups([]Target{{Kind: Role, Name: "nodes"}}, w)
	if !role[0].Global || !role[1].Global {
		t.Errorf("IAM's records are in one region: %+v", role)
	}
}

func at(clock string) time.Time {
	t, err := time.Parse(time.RFC3339, "2026-11-20T"+clock+"Z")
	if err != nil {
		panic(err)
	}
	return t
}

// sample reads a record as CloudTrail has it.
func sample(t testing.TB, name string) Record {
	t.Helper()
	r, err := Decode(testfile.Read(t, "testdata/"+name+".json"))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestDecode(t *testing.T) {
	got := sample(t, "delete-route")
	want := Record{
		ID: "5dcff7a9-e414-411a-a43e-88d122a0ad4a", At: at("14:41:07"), Source: ec2, Call: "DeleteRoute",
		Actor: Actor{
			Name: "ci-deploy/run-4711", Principal: "arn:aws:sts::111122223333:assumed-role/ci-deploy/run-4711", By: "cloudformation.amazonaws.com",
			Role: "ci-deploy", Session: "run-4711",
		},
		Asked: []Text{{"destinationCidrBlock", "0.0.0.0/0"}, {"routeTableId", "rtb-0cd2e3f4a5b6c7d8e"}}, Answered: []Text{{"requestId", "0c9f"}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	// Newer calls nest their parameters, in capitals and with places in lists.
	got = sample(t, "delete-vpc-endpoints")
	if !has(got.Asked, "vpce-0a1b2c3d4e5f60718", "vpcEndpointId") || got.Error != "UnauthorizedOperation" {
		t.Errorf("got %+v", got)
	}
}

func TestActors(t *testing.T) {
	for name, test := range map[string]struct {
		text string
		want Actor
	}{
		"user": {
			`{"type":"IAMUser","arn":"arn:aws:iam::111122223333:user/ops/alice","userName":"alice","principalId":"AIDA"}`,
			Actor{Name: "alice", Principal: "arn:aws:iam::111122223333:user/ops/alice"},
		},
		"person by Identity Center": {
			`{"type":"AssumedRole","arn":"arn:aws:sts::111122223333:assumed-role/AWSReservedSSO_Admin_0f/alice@example.com"}`,
			Actor{Name: "alice@example.com", Principal: "arn:aws:sts::111122223333:assumed-role/AWSReservedSSO_Admin_0f/alice@example.com", Role: "AWSReservedSSO_Admin_0f", Session: "alice@example.com"},
		},
		"role without its session": {
			`{"type":"AssumedRole","sessionContext":{"sessionIssuer":{"userName":"ci"}}}`,
			Actor{Name: "ci", Role: "ci"},
		},
		"service": {
			`{"type":"AWSService","invokedBy":"autoscaling.amazonaws.com"}`,
			Actor{Name: "autoscaling.amazonaws.com"},
		},
		"service in a role's name": {
			`{"type":"AssumedRole","arn":"arn:aws:sts::111122223333:assumed-role/AWSServiceRoleForAmazonEKSNodegroup/EKS","invokedBy":"eks-nodegroup.amazonaws.com"}`,
			Actor{Name: "AWSServiceRoleForAmazonEKSNodegroup/EKS", Principal: "arn:aws:sts::111122223333:assumed-role/AWSServiceRoleForAmazonEKSNodegroup/EKS", By: "eks-nodegroup.amazonaws.com", Role: "AWSServiceRoleForAmazonEKSNodegroup", Session: "EKS"},
		},
		"root":          {`{"type":"Root","arn":"arn:aws:iam::111122223333:root"}`, Actor{Name: "root", Principal: "arn:aws:iam::111122223333:root"}},
		"federated":     {`{"type":"FederatedUser","arn":"arn:aws:sts::111122223333:federated-user/bob"}`, Actor{Name: "bob", Principal: "arn:aws:sts::111122223333:federated-user/bob"}},
		"other account": {`{"type":"AWSAccount","accountId":"444455556666","principalId":"AIDAX"}`, Actor{Name: "account 444455556666"}},
		"web identity":  {`{"type":"WebIdentityUser","userName":"sub-1"}`, Actor{Name: "sub-1"}},
		"nothing known": {`{"type":"SomethingNew"}`, Actor{Name: "unknown"}},
	} {
		r, err := Decode([]byte(`{"eventID":"1","eventTime":"2026-11-20T14:41:07Z","eventSource":"ec2.amazonaws.com","eventName":"X","userIdentity":` + test.text + `}`))
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if diff := cmp.Diff(test.want, r.Actor); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestDecodeRefuses(t *testing.T) {
	if _, err := Decode([]byte(`{"eventID":"1"}`)); !errors.Is(err, errNoEvent) {
		t.Errorf("half a record: %v", err)
	}
	if _, err := Decode([]byte(`{"eventID":`)); err == nil {
		t.Error("no JSON was read")
	}
}

// What is long is no name, and may be a secret: it is not kept.
func TestSecretsAreNotKept(t *testing.T) {
	long := make([]byte, longest+1)
	for i := range long {
		long[i] = 'x'
	}
	r, err := Decode([]byte(`{"eventID":"1","eventTime":"2026-11-20T14:41:07Z","eventSource":"ec2.amazonaws.com","eventName":"X","requestParameters":{"userData":"` + string(long) + `","a":{"b":[{"items":[{"c":"d"}]}]},"n":5,"z":null}}`))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]Text{{"c", "d"}}, r.Asked); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func FuzzDecode(f *testing.F) {
	for _, name := range []string{"delete-route", "delete-vpc-endpoints", "replace-association", "revoke-egress", "update-nodegroup", "create-template-version", "detach-role-policy"} {
		text := testfile.Read(f, "testdata/"+name+".json")
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		r, err := Decode(text)
		if err != nil {
			return
		}
		if r.ID == "" || r.Actor.Name == "" || len(r.Asked) > mostTexts {
			t.Errorf("read %+v", r)
		}
		for _, text := range r.Asked {
			if len(text.Value) > longest {
				t.Errorf("kept a text of %d", len(text.Value))
			}
		}
		w := Window{From: r.At, To: r.At, start: r.At, oldest: r.At}
		list, more := Changes([]Record{r, r}, []Target{{Kind: Subnet, Name: "subnet-0ab1c2d3e4f5a6b7c"}, {Kind: Other, Name: "i-1"}}, w, nil)
		if len(list) > 1 || more != 0 {
			t.Errorf("one record made %v", list)
		}
	})
}
