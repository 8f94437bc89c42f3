package remedy

import (
	"context"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"rollcall/shared/checks"
	"rollcall/shared/remedy/action"
	"rollcall/shared/remedy/addnatroute"
	"rollcall/shared/remedy/call"
	"rollcall/shared/remedy/deleteleakedinterfaces"
	"rollcall/shared/remedy/optin"
	"rollcall/shared/snapshot/snapshottest"
	"rollcall/shared/spec"
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
		for _, file := range []string{"remedy.go", "plan.go", "do.go", "words.go", "grants.go"} {
			if _, err := os.Stat(filepath.Join(folder, file)); err != nil {
				t.Errorf("%s: %v", r.Name, err)
			}
		}
		tree, err := parser.ParseFile(token.NewFileSet(), filepath.Join(folder, "plan_test.go"), nil, 0)
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
	for i := range reflect.TypeFor[Plan]().NumField() {
		var p Plan
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

// What nobody knows is not planned, not done, and allows nothing.
func TestAnUnknownRemedy(t *testing.T) {
	s := snapshottest.PrivateWithNAT()
	r := Of("reboot")
	p, no := r.Make(s, action.Subject{Cluster: snapshottest.ClusterName})
	if no == nil || no.Reason != action.NoSuchRemedy || no.Says != "reboot is no remedy." {
		t.Errorf("planned %+v, refused %+v, want %s", p, no, action.NoSuchRemedy)
	}
	if got := r.Grants(action.OptIn{Clusters: []string{"prod"}, VPCs: []string{"vpc-0a"}}); len(got) != 0 {
		t.Errorf("granted %+v", got)
	}
	for name, p := range map[string]Plan{
		"nothing":       {},
		"a name alone":  {Remedy: optin.AddNATRoute},
		"eni-cleanup's": {Remedy: optin.DeleteLeakedInterfaces, Cleanup: &deleteleakedinterfaces.Plan{Interfaces: []string{"eni-1"}}},
	} {
		if got := (Executor{}).Do(t.Context(), p, "token"); got.Status != action.Refused || got.Reason != string(action.NoSuchRemedy) || got.Says == "" {
			t.Errorf("%s: %+v, want refused as %s", name, got, action.NoSuchRemedy)
		}
		if done, known := p.Applied(s); done || known {
			t.Errorf("%s: applied %v, known %v", name, done, known)
		}
	}
	if got := (Plan{}).Title(); got != "Nothing" {
		t.Errorf("title %q", got)
	}
}

// What a plan is for counts, not what it is named: it is done as what it says.
func TestThePartDecides(t *testing.T) {
	p := Plan{Remedy: optin.ReplaceInstance, Route: &addnatroute.Plan{VPC: "vpc-0a", Table: "rtb-0a"}}
	if p.VPC() != "vpc-0a" {
		t.Errorf("VPC %q: a route could be added in a VPC that nobody named", p.VPC())
	}
	calls := &routes{}
	if got := (Executor{Calls: calls}).Do(t.Context(), p, "token"); got.Status != action.Done || calls.table != "rtb-0a" {
		t.Errorf("%+v, asked for %q", got, calls.table)
	}
}

type routes struct {
	Calls
	table string
}

func (r *routes) CreateRoute(_ context.Context, table, _, _ string) call.Answer {
	r.table = table
	return call.Answer{Outcome: call.Done}
}

// What each remedy is beside its plan. The limit of an hour, who is told, and what
// is read hang on it.
func TestEachRemedy(t *testing.T) {
	type is struct {
		Name                             optin.Remedy
		AfterCause                       bool
		Elsewhere                        string
		Most                             int
		Quiet                            []action.Reason
		GroupMembers, Sightings, Wearers bool
	}
	var got []is
	for _, name := range optin.Remedies() {
		r := Of(name)
		got = append(got, is{r.Name, r.AfterCause, r.Elsewhere, r.Most, r.Quiet, r.More.GroupMembers, r.More.Sightings, r.More.WearersOf != nil})
	}
	want := []is{
		{Name: "add-nat-route", Most: 1, Quiet: []action.Reason{"has-default-route"}},
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
		for _, g := range Of(name).Grants(opted) {
			got = append(got, g.Sid)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		if got := Of(name).Grants(nobody); len(got) != 0 {
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
