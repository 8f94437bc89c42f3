package mcp

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/google/go-cmp/cmp"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"rollcall/command/callertest"
	"rollcall/command/diagnose"
	"rollcall/command/result"
	"rollcall/command/subject"
	"rollcall/shared/checkid"
	"rollcall/shared/diagnosis"
	record "rollcall/shared/incident"
	"rollcall/shared/outbox"
	"rollcall/shared/report"
	"rollcall/shared/store"
	"rollcall/stage/examine"
	"rollcall/tools/testfile"
)

// walledOffNodegroup is planned in the cluster of the route story, in the subnet without
// a way out.
const walledOffNodegroup = `{"clusterName": "eks-workshop", "nodegroupName": "batch", "subnets": ["subnet-0c30000000000000d"],
	"nodeRole": "arn:aws:iam::111122223333:role/eksctl-eks-workshop-NodeInstanceRole"}`

// assisted is a client of the official SDK that speaks with an assistant's server over
// a folder.
func assisted(t *testing.T, dir string) *sdk.ClientSession {
	t.Helper()
	a, err := newAssistant(dir, examine.Worlds{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { a.root.Close() })
	here, there := sdk.NewInMemoryTransports()
	if _, err := a.server("v1").Connect(t.Context(), there, nil); err != nil {
		t.Fatal(err)
	}
	s, err := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "v1"}, nil).Connect(t.Context(), here, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// asked calls a tool, and decodes what it answered for a program into out. It returns
// what it answered for a reader.
func asked(t *testing.T, s *sdk.ClientSession, tool string, args map[string]any, out any) (text string, failed bool) {
	t.Helper()
	r, err := s.CallTool(t.Context(), &sdk.CallToolParams{Name: tool, Arguments: args})
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Content) != 1 {
		t.Fatalf("%s answered with %d parts", tool, len(r.Content))
	}
	text = r.Content[0].(*sdk.TextContent).Text
	if r.IsError {
		return text, true
	}
	testfile.Parse(t, testfile.JSON(t, r.StructuredContent), out)
	if !strings.HasPrefix(text, asData) {
		t.Errorf("%s does not say that its answer is data: %.80q", tool, text)
	}
	return text, false
}

// Every tool says what it takes and gives, and that it changes nothing.
func TestToolsChangeNothing(t *testing.T) {
	list, err := assisted(t, "../../stage/worlds").ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, tool := range list.Tools {
		names = append(names, tool.Name)
		if a := tool.Annotations; a == nil || !a.ReadOnlyHint {
			t.Errorf("%s: %+v", tool.Name, a)
		}
		if tool.InputSchema == nil || tool.OutputSchema == nil || tool.Description == "" {
			t.Errorf("%s has no schema, or says nothing of itself", tool.Name)
		}
		// Several model APIs refuse union types.
		if schemas := string(testfile.JSON(t, []any{tool.InputSchema, tool.OutputSchema})); strings.Contains(schemas, `"type":[`) || strings.Contains(schemas, `"type": [`) || strings.Contains(schemas, `"null"`) {
			t.Errorf("%s has a union type: %s", tool.Name, schemas)
		}
		// A model chooses by this: when to use it, and what comes back.
		if !strings.HasPrefix(tool.Description, "Use it ") || !strings.Contains(tool.Description, "Returns ") {
			t.Errorf("%s does not say when to use it and what it returns: %s", tool.Name, tool.Description)
		}
	}
	if diff := cmp.Diff([]string{"diagnose", "explain", "incidents", "preflight", "show"}, names); diff != "" {
		t.Error(diff)
	}
}

// An assistant gets what a person at the terminal gets.
func TestAssistantIsToldTheSame(t *testing.T) {
	s := assisted(t, "../../stage/worlds")
	var r result.Result
	text, _ := asked(t, s, "diagnose", map[string]any{"path": "corpus/route-no-egress.yaml"}, &r)
	want, err := diagnose.Examine(t.Context(), subject.Subject{Path: "../../stage/worlds/corpus/route-no-egress.yaml"}, examine.Worlds{}, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	if r.Incidents[0].Cause != "route/no-egress" || r.Incidents[0].Cause != want.Incidents[0].Cause || r.Incidents[0].Confidence != want.Incidents[0].Confidence || !cmp.Equal(want.Incidents[0].Resources, r.Incidents[0].Resources) {
		t.Errorf("diagnose told %+v", r)
	}
	if !strings.Contains(text, "\n  Why       rtb-0cd20000000000002 ") {
		t.Errorf("diagnose does not say why: %s", text)
	}
	var p result.Result
	asked(t, s, "preflight", map[string]any{"path": "route.yaml", "plan": walledOffNodegroup}, &p)
	if p.Incidents[0].Cause != "route/no-egress" {
		t.Errorf("preflight told %+v", p)
	}
	var e explained
	asked(t, s, "explain", map[string]any{"text": "UnfulfillableCapacity: Unable to fulfill capacity due to your request configuration."}, &e)
	if !e.Known || e.Check == "" {
		t.Errorf("explain told %+v", e)
	}
	asked(t, s, "explain", map[string]any{"text": "lorem ipsum"}, &e)
	if e.Known {
		t.Errorf("explain knows %+v", e)
	}
}

// With the credentials of whoever started the server an assistant looks at clusters as
// they are, and at what a deployment knows.
func TestAssistantLooksAtWhatIsThere(t *testing.T) {
	stage, _ := callertest.Serve(t, "../../stage/worlds/route.yaml", examine.Settled)
	callertest.LogIn(t, stage)
	records := store.New(dynamodb.NewFromConfig(stage.AsAdmin()), stage.Template.Tables[0].Name)
	if _, err := records.SaveIncident(t.Context(), record.Incident{
		Key: report.Key{Cluster: "eks-workshop", Check: checkid.RouteNoEgress, Resource: "rtb-1"}, State: record.Open, Cause: diagnosis.Cause{Title: "no route"},
	}); err != nil {
		t.Fatal(err)
	}
	s := assisted(t, t.TempDir())
	var r, p result.Result
	asked(t, s, "diagnose", map[string]any{"clusters": []string{"eks-workshop"}, "region": "us-west-2"}, &r)
	if len(r.Notes) == 0 {
		t.Errorf("diagnose does not say what a live look cannot know: %+v", r)
	}
	asked(t, s, "preflight", map[string]any{"plan": walledOffNodegroup}, &p)
	if p.Incidents[0].Cause != "route/no-egress" {
		t.Errorf("preflight told %+v", p)
	}
	var list incidentsOutput
	asked(t, s, "incidents", map[string]any{"clusters": []string{"eks-workshop"}}, &list)
	var shown showOutput
	asked(t, s, "show", map[string]any{"incident": "eks-workshop:route/no-egress:rtb-1"}, &shown)
	if len(list.Incidents) != 1 || list.Incidents[0].ID != "eks-workshop:route/no-egress:rtb-1" || shown.State != "open" || !strings.Contains(shown.Text, "OPEN eks-workshop · no route") {
		t.Errorf("incidents %+v, show %+v", list, shown)
	}
	inc, err := records.Incidents(t.Context(), "eks-workshop")
	if err != nil {
		t.Fatal(err)
	}
	inc[0].State, inc[0].Resolved = record.Closed, time.Now()
	if _, err := records.SaveIncident(t.Context(), inc[0]); err != nil {
		t.Fatal(err)
	}
	if err := records.SaveClusterRecord(t.Context(), outbox.ClusterRecord{Cluster: "eks-workshop"}); err != nil {
		t.Fatal(err)
	}
	asked(t, s, "incidents", map[string]any{"all": true}, &list)
	asked(t, s, "show", map[string]any{"incident": "rtb-1"}, &shown)
	if len(list.Incidents) != 1 || shown.State != "closed" {
		t.Errorf("closed: incidents %+v, show %+v", list, shown)
	}
	if text, failed := asked(t, s, "diagnose", map[string]any{"clusters": []string{"staging"}}, &r); !failed || !strings.Contains(text, "there is no cluster staging in us-west-2") {
		t.Errorf("a cluster that is not there: %s", text)
	}
}

// What cannot be done is said in words that an assistant can act on.
func TestAssistantIsRefused(t *testing.T) {
	dir := t.TempDir()
	secret := filepath.Join(t.TempDir(), "secret.json")
	testfile.Write(t, secret, []byte(`{"a": "secret"}`))
	if err := os.Symlink(secret, filepath.Join(dir, "link.json")); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"world.yaml": "extends: ../secret.yaml\n", "zero.yaml": "extends: ../../../dev/zero\n", "stolen/sts-get-caller-identity.json": "{}"} {
		if err := os.MkdirAll(filepath.Join(dir, filepath.Dir(name)), 0o700); err != nil {
			t.Fatal(err)
		}
		testfile.Write(t, filepath.Join(dir, name), []byte(text))
	}
	if err := os.Symlink(secret, filepath.Join(dir, "stolen", "time.txt")); err != nil {
		t.Fatal(err)
	}
	s := assisted(t, dir)
	for name, tt := range map[string]struct {
		tool string
		args map[string]any
		says string
	}{
		"a folder above":                        {"diagnose", map[string]any{"path": "../"}, ": no such folder or file in the folder that this server reads: check the spelling; "},
		"another folder":                        {"diagnose", map[string]any{"path": filepath.Dir(secret)}, ": no such folder or file in the folder that this server reads: check the spelling; "},
		"a link out":                            {"diagnose", map[string]any{"path": "link.json"}, ": no such folder or file in the folder that this server reads: check the spelling; "},
		"no capture":                            {"diagnose", map[string]any{"path": "."}, "capture"},
		"nothing to look at":                    {"diagnose", map[string]any{}, "nothing to diagnose: give clusters or path"},
		"two things to look at":                 {"diagnose", map[string]any{"path": ".", "clusters": []string{"prod"}}, "give clusters or path, not both"},
		"no plan":                               {"preflight", map[string]any{"path": "."}, "nothing to check: give plan, launchTemplate or subnet"},
		"a plan that is none":                   {"preflight", map[string]any{"path": ".", "plan": "[nothing"}, "the plan: "},
		"two plans":                             {"preflight", map[string]any{"path": ".", "plan": "{}", "launchTemplate": "lt-0abc"}, "cannot be used together"},
		"a text without words":                  {"explain", map[string]any{"text": " \n"}, "the text is empty"},
		"a world that extends another folder's": {"diagnose", map[string]any{"path": "world.yaml"}, "path escapes"},
		"a world that extends a device":         {"diagnose", map[string]any{"path": "zero.yaml"}, "want the relative path of a YAML file"},
		"a capture whose time is a link":        {"diagnose", map[string]any{"path": "stolen"}, "it is not a regular file"},
	} {
		if text, failed := asked(t, s, tt.tool, tt.args, new(any)); !failed || !strings.HasPrefix(text, asData) || !strings.Contains(text, tt.says) || strings.Contains(text, "secret\"") {
			t.Errorf("%s: %q, want …%s…", name, text, tt.says)
		}
	}
	for _, uri := range []string{"capture:///link.json", "capture:///../secret.json", "capture:///none.json", "capture:///"} {
		if r, err := s.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: uri}); err == nil {
			t.Errorf("%s was read: %+v", uri, r.Contents[0])
		}
	}
}

// The files of captures are listed, and read by their name.
func TestResourcesAreTheCapturesFiles(t *testing.T) {
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "prod"), 0o700); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"prod/eks-list-clusters.json": `{"clusters": ["prod"]}`, "prod/huge.json": strings.Repeat("x", largestFile+1), "prod/notes.txt": "no"} {
		testfile.Write(t, filepath.Join(dir, filepath.FromSlash(name)), []byte(text))
	}
	s := assisted(t, dir)
	list, err := s.ListResources(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, r := range list.Resources {
		names = append(names, r.Name)
	}
	if diff := cmp.Diff([]string{"prod/eks-list-clusters.json", "prod/huge.json"}, names); diff != "" {
		t.Error(diff)
	}
	r, err := s.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: "capture:///prod/eks-list-clusters.json"})
	if err != nil || r.Contents[0].Text != `{"clusters": ["prod"]}` {
		t.Errorf("read %+v, %v", r, err)
	}
	if _, err := s.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: "capture:///prod/huge.json"}); err == nil || !strings.Contains(err.Error(), "larger than 1024 KiB") {
		t.Errorf("the huge file: %v", err)
	}
}
