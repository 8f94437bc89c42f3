package diagnose

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"rollcall/local/capture"
	"rollcall/local/exit"
	"rollcall/local/result"
	"rollcall/local/stage"
	"rollcall/local/testfull"
	"rollcall/shared/config"

	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

// ask looks at a subject as the command does: the result, the status with which the
// command would end, and what is wrong.
func ask(t *testing.T, subject string) (result.Result, int, string) {
	t.Helper()
	var notes bytes.Buffer
	r, err := Examine(t.Context(), Subject{Path: subject}, &notes)
	var misuse *exit.MisuseError
	var bad *capture.Error
	switch {
	case errors.As(err, &misuse), errors.As(err, &bad):
		return result.Result{}, exit.BadInput, notes.String() + err.Error()
	case err != nil:
		t.Fatal(err)
	}
	printed := printed(t, r)
	valid(t, []byte(printed))
	// In make test-full each capture of the tests is looked at by the functions on the
	// stage, too: TestAsOnTheStage shows it of some.
	if testfull.Asked() {
		asOnTheStage(t, subject, printed)
	}
	status := r.Status()
	// Of the healthy capture too it is said that three zones leave by one NAT
	// gateway.
	r.Incidents = slices.DeleteFunc(r.Incidents, func(i result.Incident) bool {
		return i.Cause == "route/cross-zone-nat" && slices.Contains(i.Resources, "rtb-0b200000000000abc")
	})
	return r, status, notes.String()
}

// printed is a result as JSON.
func printed(t *testing.T, r result.Result) string {
	t.Helper()
	text, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// asOnTheStage holds what was printed of a capture against what the functions find on
// the stage, with its table and its queues.
func asOnTheStage(t *testing.T, capture, told string) {
	t.Helper()
	so := stage.Options{Quiet: true, Rate: standstill, Settings: map[string]string{string(config.GiveUp): time.Duration(math.MaxInt64).String()}}
	if err := open(Subject{Path: capture}, &so, io.Discard); err != nil {
		t.Fatal(err)
	}
	r, err := staged(t.Context(), so, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(printed(t, r), told); diff != "" {
		t.Errorf("otherwise than on the stage (-stage +here):\n%s", diff)
	}
}

// valid holds what was printed against the schema.
func valid(t *testing.T, printed []byte) {
	t.Helper()
	schema, err := jsonschema.NewCompiler().Compile(filepath.Join(here(t), "..", "result", "result.schema.json"))
	if err != nil {
		t.Fatal(err)
	}
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(printed))
	if err != nil {
		t.Fatalf("%v in %q", err, printed)
	}
	if err := schema.Validate(v); err != nil {
		t.Errorf("%v\n%s", err, printed)
	}
}

// first is the first incident as cause and confidence, or "".
func first(r result.Result) string {
	if len(r.Incidents) == 0 {
		return ""
	}
	return r.Incidents[0].Cause + " " + r.Incidents[0].Confidence
}

func TestCaptures(t *testing.T) {
	noEgress := []change{noNode(), noWayOut()}
	epochs := edited("autoscaling-describe-auto-scaling-groups", func(v any) {
		for _, g := range at(v, "AutoScalingGroups").([]any) {
			g.(map[string]any)["CreatedTime"] = 1763650000.25
		}
	})
	heartbeat := edited("kubectl-get-nodes.eks-workshop", func(v any) {
		at(v, "items", 0, "status", "conditions", 0).(map[string]any)["lastHeartbeatTime"] = "2026-11-20T15:09:40Z"
	})
	planned := edited("ec2-describe-instance-status", func(v any) {
		at(v, "InstanceStatuses", 0).(map[string]any)["Events"] = []any{map[string]any{"Code": "system-reboot", "NotBefore": "2026-11-25T02:00:00Z", "NotAfter": "2026-11-25T04:00:00Z"}}
	})
	tests := map[string]struct {
		changes []change
		status  int
		// first is the first incident, "" for none.
		first string
		// says must stand on the error output, unknown in a reason.
		says, unknown string
	}{
		"healthy":                  {nil, 0, "", "", ""},
		"no route to the internet": {noEgress, 1, "route/no-egress certain", "", ""},
		"a symptom alone":          {[]change{noNode()}, 1, "node/not-registered symptom", "", ""},
		"a file is missing":        {append(noEgress, without("ec2-describe-route-tables.json")), 2, "node/not-registered symptom", "", "the capture has no ec2-describe-route-tables.json"},
		"a file is empty":          {append(noEgress, with("ec2-describe-route-tables.json", "")), 2, "node/not-registered symptom", "the file is empty", "not read"},
		"half a list":              {append(noEgress, edited("ec2-describe-route-tables", func(v any) { v.(map[string]any)["NextToken"] = "abc" })), 2, "node/not-registered symptom", "first page", "not read"},
		"a call was refused": {append(noEgress, without("ec2-describe-subnets.json"), with("errors.json", `{"ec2-describe-subnets": {"code": "UnauthorizedOperation", "message": "You are not authorized to perform this operation."}}`)),
			2, "node/not-registered symptom", "", "ec2:DescribeSubnets: denied (UnauthorizedOperation"},
		"nothing missing that is needed": {[]change{without("ec2-describe-route-tables.json", "ec2-describe-vpc-endpoints.json")}, 0, "", "", ""},
		"no nodes file":                  {[]change{without("kubectl-get-nodes.eks-workshop.json")}, 2, "", "", "kubernetes: list nodes: not read"},
		"nodes forbidden": {[]change{without("kubectl-get-nodes.eks-workshop.json"), with("errors.json", `{"kubectl-get-nodes.eks-workshop": {"code": "Forbidden", "message": "nodes is forbidden"}}`)},
			2, "", "", "kubernetes: list nodes: denied (Forbidden: nodes is forbidden)"},
		"times of CLI v1":        {append(noEgress, launched(1795186690.0), epochs), 1, "route/no-egress certain", "", ""},
		"times with an offset":   {append(noEgress, launched("2026-11-20T23:58:10+09:00")), 1, "route/no-egress certain", "", ""},
		"no time.txt":            {append(noEgress, without("time.txt"), heartbeat, planned), 1, "route/no-egress certain", "", ""},
		"young":                  {append(noEgress, launched("2026-11-20T15:08:00Z")), 1, "route/no-egress certain", "", ""},
		"young and nothing sure": {[]change{noNode(), launched("2026-11-20T15:08:00Z")}, 0, "", "", ""},
		"young without nodes":    {[]change{noNode(), launched("2026-11-20T15:08:00Z"), without("ec2-describe-route-tables.json")}, 0, "", "", ""},
		"young with its event":   {append(noEgress, launched("2026-11-20T15:09:00Z"), running("2026-11-20T15:09:05Z")), 1, "route/no-egress certain", "", ""},
		"event of a Ready node":  {[]change{noWayOut(), running("2026-11-20T15:09:05Z")}, 0, "", "", ""},
		"event of yesterday":     {append(noEgress, launched("2026-11-20T15:08:00Z"), running("2026-11-19T15:09:05Z")), 1, "route/no-egress certain", "it is not played", ""},
		"another file":           {append(noEgress, with("notes.txt", "x"), with("s3-list-buckets.json", "{}")), 1, "route/no-egress certain", "s3-list-buckets.json: not a file that a capture has", ""},
		"a newer service": {append(noEgress, edited("ec2-describe-instances", func(v any) {
			in := at(v, "Reservations", 0, "Instances", 0).(map[string]any)
			in["Quantum"], in["InstanceType"] = map[string]any{"Spin": []any{1}}, "z99.metal"
		}), edited("eks-describe-cluster.eks-workshop", func(v any) {
			at(v, "cluster").(map[string]any)["status"] = "ACTIVE"
			at(v, "cluster").(map[string]any)["upgradePolicy"] = map[string]any{"supportType": "ETERNAL"}
		})), 1, "route/no-egress certain", "", ""},
		"UTF-16 of PowerShell":  {append(noEgress, utf16("ec2-describe-subnets.json")), 1, "route/no-egress certain", "", ""},
		"no list of clusters":   {append(noEgress, without("eks-list-clusters.json")), 1, "route/no-egress certain", "", ""},
		"nodegroup with a dash": {append(noEgress, replaced("new_nodegroup_2", "new-nodegroup-2")), 1, "route/no-egress certain", "", ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, status, errs := ask(t, folder(t, tt.changes...))
			if status != tt.status || first(r) != tt.first {
				t.Errorf("status %d, first %q, want %d, %q\n%+v\n%s", status, first(r), tt.status, tt.first, r, errs)
			}
			if r.Healthy != (status == exit.Healthy) {
				t.Errorf("healthy %v with status %d", r.Healthy, status)
			}
			if !strings.Contains(errs, tt.says) {
				t.Errorf("says %q, want %q in it", errs, tt.says)
			}
			reasons := ""
			for _, u := range r.Unknown {
				reasons += u.Reason + "\n"
			}
			if !strings.Contains(reasons, tt.unknown) || tt.unknown == "" && reasons != "" {
				t.Errorf("unknown %+v, want %q in it", r.Unknown, tt.unknown)
			}
		})
	}
}

// utf16 writes a file anew as PowerShell's redirection does.
func utf16(name string) change {
	return func(t *testing.T, dir string) {
		data, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		out := []byte{0xFF, 0xFE}
		for _, b := range data {
			out = append(out, b, 0)
		}
		with(name, string(out))(t, dir)
	}
}

func TestIncident(t *testing.T) {
	r, _, _ := ask(t, folder(t, noNode(), noWayOut()))
	if len(r.Incidents) != 1 {
		t.Fatalf("%d incidents, want 1: %+v", len(r.Incidents), r.Incidents)
	}
	got := r.Incidents[0]
	if got.Fix.Command == "" || len(got.Evidence) == 0 || got.Title == "" || got.Why == "" || got.Console == "" {
		t.Errorf("incident %+v lacks words", got)
	}
	got.Title, got.Why, got.Console, got.Evidence, got.Fix = "", "", "", nil, result.Fix{}
	want := result.Incident{
		Cause: "route/no-egress", Confidence: "certain", Cluster: "eks-workshop",
		Resources: []string{table, subnet}, Nodegroups: []string{"new_nodegroup_2"}, Instances: []string{young},
		Contributing: []string{}, Symptoms: []string{"node/not-registered"}, Hidden: []result.Hidden{}, Resource: table, By: "join-check",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestTwoClusters holds that every cluster of a capture is looked at, and that
// each has a Kubernetes API of its own.
func TestTwoClusters(t *testing.T) {
	dir := folder(t, noNode(), noWayOut(),
		with("eks-list-clusters.json", `{"clusters": ["dev", "eks-workshop"]}`),
		with("kubectl-get-nodes.dev.json", `{"apiVersion": "v1", "kind": "List", "items": []}`))
	data, err := os.ReadFile(filepath.Join(dir, "eks-describe-cluster.eks-workshop.json"))
	if err != nil {
		t.Fatal(err)
	}
	with("eks-describe-cluster.dev.json", strings.ReplaceAll(string(data), "eks-workshop", "dev"))(t, dir)
	r, status, errs := ask(t, dir)
	if status != exit.Causes || first(r) != "route/no-egress certain" || r.Incidents[0].Cluster != "eks-workshop" {
		t.Errorf("status %d, %+v\n%s", status, r, errs)
	}
	for _, u := range r.Unknown {
		if u.Resource == "dev" && strings.HasPrefix(u.Check, "node/") {
			t.Errorf("the nodes of dev were not read: %+v", u)
		}
	}
}

func TestBadInput(t *testing.T) {
	missing := filepath.Join(t.TempDir(), "nothing")
	tests := map[string]struct {
		subject string
		says    []string
	}{
		"no such folder":   {missing, []string{missing, "no such folder"}},
		"an empty folder":  {t.TempDir(), []string{"it is not a capture"}},
		"broken JSON":      {folder(t, with("ec2-describe-vpcs.json", "{\n  \"Vpcs\": [}\n")), []string{"ec2-describe-vpcs.json: line 2, column", "invalid character"}},
		"JSON cut off":     {folder(t, with("ec2-describe-vpcs.json", "{\n  \"Vpcs\": [")), []string{"ec2-describe-vpcs.json: line 2, column 11", "ends before it is complete"}},
		"two values":       {folder(t, with("ec2-describe-vpcs.json", `{"Vpcs": []}{"Vpcs": []}`)), []string{"more than one JSON value"}},
		"another form":     {folder(t, with("ec2-describe-vpcs.json", `{"Vpcs": "many"}`)), []string{"ec2-describe-vpcs.json: Vpcs: want a list, got text"}},
		"a list":           {folder(t, with("ec2-describe-vpcs.json", `[]`)), []string{"want a JSON object, got a list"}},
		"a broken time":    {folder(t, with("time.txt", "noon")), []string{"time.txt", "the text is not a time"}},
		"broken errors":    {folder(t, with("errors.json", `{"ec2-describe-vpcs": {}}`)), []string{"errors.json", "ec2-describe-vpcs"}},
		"no event":         {folder(t, with("event.json", `{"detail": {}}`)), []string{"event.json", "not an EventBridge event"}},
		"a world's fault":  {filepath.Join(folder(t, with("w.yaml", "ec2: {Subnts: []}\n")), "w.yaml"), []string{"ec2.Subnts: unknown field"}},
		"JSON is no world": {filepath.Join(folder(t), "ec2-describe-vpcs.json"), []string{"not a capture or world file"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			_, status, errs := ask(t, tt.subject)
			if status != exit.BadInput {
				t.Errorf("status %d, want %d\n%s", status, exit.BadInput, errs)
			}
			for _, s := range tt.says {
				if !strings.Contains(errs, s) {
					t.Errorf("says %q, want %q in it", errs, s)
				}
			}
		})
	}
}

// TestWorlds holds that a world goes the same way as a capture.
func TestWorlds(t *testing.T) {
	for name, want := range map[string]string{
		"healthy-nat": "", "samples": "route/no-egress certain", "nat-unusable": "route/nat-unusable certain", "denied-route-tables": "node/not-registered symptom",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, status, errs := ask(t, filepath.Join(here(t), "..", "worlds", name+".yaml"))
			if first(r) != want {
				t.Errorf("first %q, want %q\n%s", first(r), want, errs)
			}
			if name == "denied-route-tables" && status != exit.Unsure {
				t.Errorf("status %d, want %d", status, exit.Unsure)
			}
		})
	}
}
