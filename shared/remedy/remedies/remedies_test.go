package remedies

import (
	"context"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"rollcall/shared/checks"
	"rollcall/shared/node/outcome"
	"rollcall/shared/remedy"
	"rollcall/shared/remedy/action"
	"rollcall/shared/remedy/optin"
	"rollcall/shared/snapshot"
	"rollcall/shared/snapshot/snapshottest"
	"rollcall/shared/spec"
	"rollcall/shared/spoke"
)

// One remedy, one folder: its name without dashes. Its tests begin with the wrong
// targets.
func TestOneRemedyOneFolder(t *testing.T) {
	var names []optin.Remedy
	for _, r := range All() {
		names = append(names, r.Name)
		if r.Cures == "" || len(r.sources) == 0 {
			t.Errorf("%s cures %q, and needs %v", r.Name, r.Cures, r.sources)
		}
		folder := strings.ReplaceAll(string(r.Name), "-", "")
		tree, err := parser.ParseFile(token.NewFileSet(), filepath.Join("..", folder, folder+"_test.go"), nil, 0)
		if err != nil {
			t.Errorf("%s: %v", r.Name, err)
			continue
		}
		i := slices.IndexFunc(tree.Decls, func(d ast.Decl) bool { _, is := d.(*ast.FuncDecl); return is })
		if i < 0 || tree.Decls[i].(*ast.FuncDecl).Name.Name != "TestWrongTargets" {
			t.Errorf("%s: its tests do not begin with the wrong targets", r.Name)
		}
	}
	want := optin.Remedies()
	slices.Sort(want)
	slices.Sort(names)
	if diff := cmp.Diff(want, names); diff != "" {
		t.Errorf("remedies (-named +listed):\n%s", diff)
	}
}

// Each pointer of a plan is one remedy's, and finds it.
func TestEachPartHasItsRemedy(t *testing.T) {
	var found []optin.Remedy
	parts := 0
	for i := range reflect.TypeFor[remedy.Plan]().NumField() {
		var p remedy.Plan
		part := reflect.ValueOf(&p).Elem().Field(i)
		if part.Kind() != reflect.Pointer {
			continue
		}
		parts++
		part.Set(reflect.New(part.Type().Elem()))
		if r := planned(p); r.Name != "" {
			found = append(found, r.Name)
		}
	}
	slices.Sort(found)
	if n := len(slices.Compact(found)); n != parts || n != len(All()) {
		t.Errorf("%d parts find %d of %d remedies: %v", parts, n, len(All()), found)
	}
}

// What is not known is not planned, not done, and allows nothing.
func TestAnUnknownRemedy(t *testing.T) {
	s := snapshottest.PrivateWithNAT()
	r := ByName("reboot")
	p, no := r.Make(s, action.Subject{Cluster: snapshottest.ClusterName})
	if no == nil || no.Reason != remedy.NoSuchRemedy || no.Says != "reboot is not a remedy." {
		t.Errorf("planned %+v, refused %+v, want %s", p, no, remedy.NoSuchRemedy)
	}
	if got := r.Grants(action.OptIn{Clusters: []string{"prod"}, VPCs: []string{"vpc-0a"}}); len(got) != 0 {
		t.Errorf("granted %+v", got)
	}
	for name, p := range map[string]remedy.Plan{
		"nothing":       {},
		"a name alone":  {Remedy: optin.AddNATRoute},
		"eni-cleanup's": {Remedy: optin.DeleteLeakedInterfaces, Cleanup: &remedy.DeleteLeakedInterfaces{Interfaces: []string{"eni-1"}}},
	} {
		if got := (Executor{}).Do(t.Context(), p, "token"); got.Status != remedy.Refused || got.Reason != string(remedy.NoSuchRemedy) || got.Says == "" {
			t.Errorf("%s: %+v, want refused as %s", name, got, remedy.NoSuchRemedy)
		}
		if done, known := Applied(p, s); done || known {
			t.Errorf("%s: applied %v, known %v", name, done, known)
		}
	}
	if got := (remedy.Plan{}).Title(); got != "Nothing" {
		t.Errorf("title %q", got)
	}
}

// What a plan is for counts, not what it is named: it is done as what it says.
func TestThePartDecides(t *testing.T) {
	p := remedy.Plan{Remedy: optin.ReplaceInstance, Route: &remedy.AddNATRoute{VPC: "vpc-0a", Table: "rtb-0a"}}
	if p.VPC() != "vpc-0a" {
		t.Errorf("VPC %q: a route could be added in a VPC that nobody named", p.VPC())
	}
	calls := &routes{}
	if got := (Executor{Calls: calls}).Do(t.Context(), p, "token"); got.Status != remedy.Done || calls.table != "rtb-0a" {
		t.Errorf("%+v, asked for %q", got, calls.table)
	}
}

type routes struct {
	Calls
	table string
}

func (r *routes) CreateRoute(_ context.Context, table, _, _ string) action.Answer {
	r.table = table
	return action.Answer{Outcome: action.Done}
}

// What each remedy is beside its plan. The limit of an hour, who is notified, and what
// is read hang on it.
func TestEachRemedy(t *testing.T) {
	type is struct {
		Name                             optin.Remedy
		AfterCause                       bool
		Elsewhere                        string
		Most                             int
		Quiet                            []remedy.Reason
		GroupMembers, Sightings, Wearers bool
	}
	var got []is
	for _, name := range optin.Remedies() {
		r := ByName(name)
		got = append(got, is{r.Name, r.AfterCause, r.Elsewhere, r.Most, r.Quiet, r.More.GroupMembers, r.More.Sightings, r.More.WearersOf != nil})
	}
	want := []is{
		{Name: "add-nat-route", Most: 1, Quiet: []remedy.Reason{"has-default-route"}},
		{Name: "replace-instance", AfterCause: true, Most: 5},
		{Name: "open-endpoint-security-group", Most: 1, Wearers: true},
		{Name: "cover-zones", Most: 1, GroupMembers: true},
		{Name: "delete-leaked-interfaces", Elsewhere: "eni-cleanup", Most: 1, Sightings: true},
		{Name: "create-access-entry", Most: 1},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// Nothing is granted where no cluster has opted in, whatever VPCs and roles are
// named.
func TestGrants(t *testing.T) {
	opted := action.OptIn{Clusters: []string{"prod"}, Any: []string{"prod"}, VPCs: []string{"vpc-0a"}, Roles: []string{"arn:aws:iam::123456789012:role/workers"}}
	nobody := opted
	nobody.Clusters = nil
	for name, want := range map[optin.Remedy][]string{
		optin.AddNATRoute:               {"AddRoutes"},
		optin.ReplaceInstance:           {"ChangeGroups1"},
		optin.OpenEndpointSecurityGroup: {"OpenEndpoints"},
		optin.CoverZones:                {"ChangeGroups1", "RaiseNodegroups1"},
		optin.DeleteLeakedInterfaces:    nil, // eni-cleanup's own
		optin.CreateAccessEntry:         {"AdmitRoles1"},
	} {
		var got []string
		for _, g := range ByName(name).Grants(opted) {
			got = append(got, g.Sid)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		if got := ByName(name).Grants(nobody); len(got) != 0 {
			t.Errorf("%s: nobody has opted in: %+v", name, got)
		}
	}
	asked := false
	r := Remedy{grants: func(action.OptIn) []spec.Grant { asked = true; return []spec.Grant{{Sid: "Any"}} }}
	if got := r.Grants(nobody); len(got) != 0 || asked {
		t.Errorf("nobody has opted in: granted %+v, asked %v", got, asked)
	}
}

// Each remedy that has a cause of its own stands on a check, and each that stands
// on one is there.
func TestRemediesStandOnChecks(t *testing.T) {
	offered := map[optin.Remedy]bool{}
	for _, c := range checks.All() {
		if c.Remedy == "" {
			continue
		}
		name := optin.Remedy(c.Remedy)
		if !slices.Contains(optin.Remedies(), name) {
			t.Errorf("%s has the remedy %q, which is none", c.ID, c.Remedy)
		}
		offered[name] = true
	}
	for _, r := range All() {
		if offered[r.Name] == r.AfterCause {
			t.Errorf("%s: after its cause is %v, and a check has it is %v", r.Name, r.AfterCause, offered[r.Name])
		}
	}
}

// A plan says where it is done and for which incident, beside what the remedy
// plans.
func TestMake(t *testing.T) {
	s := snapshottest.PrivateWithNAT()
	snapshottest.Unjoin(s, snapshottest.Node)
	snapshottest.Table(s, snapshottest.PrivateRTB).Routes = []snapshot.Route{snapshottest.Local()}
	of := action.Subject{Cluster: snapshottest.ClusterName, Check: "route/no-egress", Resource: snapshottest.PrivateRTB, Covers: []string{snapshottest.Private}}
	p, no := ByName(optin.AddNATRoute).Make(s, of)
	if no != nil {
		t.Fatalf("refused as %s: %s", no.Reason, no.Says)
	}
	want := remedy.Plan{
		Format: 1, Remedy: "add-nat-route", Partition: "aws", Account: "123456789012", Region: "us-west-2", Cluster: "prod",
		Check: "route/no-egress", Resource: "rtb-0private",
		Route: &remedy.AddNATRoute{
			VPC: "vpc-0a", Table: "rtb-0private", Destination: "0.0.0.0/0", NAT: "nat-0a", NATZone: "us-west-2a",
			Zones: []string{"us-west-2a"}, Subnets: []string{"subnet-0private"},
		},
	}
	if diff := cmp.Diff(want, p); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	of.Resource = "rtb-0gone"
	p, no = ByName(optin.AddNATRoute).Make(s, of)
	refused := &action.Refusal{Reason: remedy.Gone, Says: "There is no route table rtb-0gone in vpc-0a."}
	if diff := cmp.Diff(refused, no); diff != "" || !cmp.Equal(p, remedy.Plan{}) {
		t.Errorf("planned %+v (-want +got):\n%s", p, diff)
	}
}

// What one plan does not hold is left for the next.
func TestLeft(t *testing.T) {
	s := snapshottest.PrivateWithNAT()
	of := action.Subject{
		Cluster: snapshottest.ClusterName, Check: "route/no-egress", Resource: snapshottest.PrivateRTB, Covers: []string{snapshottest.Private},
		Cleared: s.Time.Add(-5 * time.Minute), Most: 1,
	}
	for _, id := range []string{"i-0a", "i-0b", "i-0c"} {
		snapshottest.Launch(s, id, snapshottest.Private, 20*time.Minute)
		s.Groups[0].Instances = append(s.Groups[0].Instances, snapshot.GroupInstance{ID: id, Lifecycle: "InService"})
		s.Groups[0].Desired = len(s.Groups[0].Instances)
		of.Launches = append(of.Launches, outcome.Launch{Instance: id, Started: s.Time.Add(-20 * time.Minute), Status: outcome.Missed})
	}
	if got := ByName(optin.ReplaceInstance).Left(s, of); got != 2 {
		t.Errorf("replace-instance leaves %d, want 2", got)
	}
	if got := ByName(optin.AddNATRoute).Left(s, of); got != 0 {
		t.Errorf("add-nat-route leaves %d, want none", got)
	}
}

// Its own sources and those of the incident's check are read, each once; the
// launch history is no source that is read of AWS.
func TestSources(t *testing.T) {
	own := []snapshot.Source{"cluster", "creators of network interfaces", "unattached network interfaces", "use of addresses"}
	r := ByName(optin.DeleteLeakedInterfaces)
	if diff := cmp.Diff(own, r.Sources("no/check")); diff != "" {
		t.Errorf("no check (-want +got):\n%s", diff)
	}
	withRunway := []snapshot.Source{
		"auto scaling groups", "aws-node", "cluster", "creators of network interfaces", "ec2nodeclasses", "instance types", "nodeclaims", "nodeclasses", "nodepools",
		"subnets", "unattached network interfaces", "use of addresses",
	}
	if diff := cmp.Diff(withRunway, r.Sources("ip/runway")); diff != "" {
		t.Errorf("ip/runway (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(own, r.Sources("no/check")); diff != "" {
		t.Errorf("no check, asked again (-want +got):\n%s", diff)
	}
}

// Whether a plan was done is asked of its remedy.
func TestApplied(t *testing.T) {
	s := &snapshot.Snapshot{Read: map[snapshot.Source]bool{snapshot.Groups: true}, Groups: []snapshot.Group{{Name: "a", Desired: 3}}}
	for to, want := range map[int]bool{3: true, 4: false} {
		if done, known := Applied(remedy.Plan{Cover: &remedy.CoverZones{Group: "a", To: to}}, s); done != want || !known {
			t.Errorf("to %d: done %v, known %v; want %v, true", to, done, known, want)
		}
	}
}

// TestAPlanIsDoneInItsOwnAccountAlone: with the credentials of one account and region no
// plan of another is begun. Calls is nil: any call would panic.
func TestAPlanIsDoneInItsOwnAccountAlone(t *testing.T) {
	own := spoke.ID{Account: "222233334444", Region: "eu-west-1"}
	for name, of := range map[string]spoke.ID{
		"another account": {Account: "111122223333", Region: "eu-west-1"},
		"another region":  {Account: "222233334444", Region: "us-west-2"},
		"nobody's":        {},
	} {
		for _, r := range All() {
			p := remedy.Plan{Format: remedy.Format, Remedy: r.Name, Account: of.Account, Region: of.Region, Cluster: "prod", Route: &remedy.AddNATRoute{}}
			got := Executor{Of: own}.Do(t.Context(), p, "token")
			if got.Status != remedy.Failed || got.Reason != string(remedy.OtherAccount) || len(got.Changed) > 0 {
				t.Errorf("%s of %s: %+v", r.Name, name, got)
			}
		}
	}
	// Where a function does not know where it runs, as in releases before there were spokes,
	// there is no other account.
	if got := (Executor{}).Do(t.Context(), remedy.Plan{Format: remedy.Format, Remedy: "none", Account: own.Account, Region: own.Region}, "token"); got.Reason != string(remedy.NoSuchRemedy) {
		t.Errorf("without an account of its own: %+v", got)
	}
	defer func() {
		if recover() == nil {
			t.Error("a plan of the own account and region was not begun")
		}
	}()
	Executor{Of: own}.Do(t.Context(), remedy.Plan{Format: remedy.Format, Remedy: optin.AddNATRoute, Account: own.Account, Region: own.Region, Route: &remedy.AddNATRoute{}}, "token")
}

// refusing is an AWS that answers a route so.
type refusing struct {
	Calls
	answer action.Answer
}

func (r refusing) CreateRoute(context.Context, string, string, string) action.Answer { return r.answer }

// What was not done for want of the spoke's role says what to deploy, and where; what failed
// otherwise does not.
func TestWithoutTheRoleWhatToDeployIsSaid(t *testing.T) {
	own := spoke.ID{Account: "222233334444", Region: "eu-west-1"}
	p := remedy.Plan{Format: remedy.Format, Remedy: optin.AddNATRoute, Account: own.Account, Region: own.Region, Route: &remedy.AddNATRoute{Table: "rtb-0a"}}
	for outcome, want := range map[action.Outcome]bool{action.NoRole: true, action.Denied: false, action.Done: false} {
		got := Executor{Calls: refusing{answer: action.Answer{Outcome: outcome, Code: "AccessDenied"}}, Of: own}.Do(t.Context(), p, "token")
		if says := strings.Contains(got.Says, "make deploy-spoke … SPOKE=222233334444/eu-west-1 SET="); says != want || (got.Reason == string(remedy.RoleNotAssumed)) != want {
			t.Errorf("%s: %+v", outcome, got)
		}
	}
}
