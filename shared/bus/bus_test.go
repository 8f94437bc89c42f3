package bus

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/eventbridge"
	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"rollcall/shared/checks/finding"
	"rollcall/shared/diagnosis"
	"rollcall/shared/incident"
	"rollcall/shared/incident/reconcile"
	"rollcall/shared/incident/response"
	"rollcall/shared/network/leak"
	"rollcall/shared/nodegroup"
	"rollcall/shared/remedy"
	"rollcall/shared/remedy/optin"
	"rollcall/shared/report"
	"rollcall/shared/slack"
	"rollcall/shared/snapshot"
	"rollcall/tools/testfile"
)

var update = flag.Bool("update", false, "write the samples in events/out anew")

// put is one entry of a PutEvents call as it is on the wire.
type put struct {
	EventBusName, Source, DetailType, Detail string
	Time                                     float64
}

// eventBridge stands in for EventBridge: it keeps what it was given, and
// refuses what refuse says.
type eventBridge struct {
	calls  [][]put
	refuse func(call int, p put) string
}

func (e *eventBridge) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var in struct{ Entries []put }
	body, err := io.ReadAll(r.Body)
	if err == nil {
		err = json.Unmarshal(body, &in)
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	e.calls = append(e.calls, in.Entries)
	failed := 0
	var results []string
	for i, p := range in.Entries {
		code := ""
		if e.refuse != nil {
			code = e.refuse(len(e.calls), p)
		}
		if code == "" {
			results = append(results, fmt.Sprintf(`{"EventId":"%d"}`, i))
			continue
		}
		failed++
		results = append(results, fmt.Sprintf(`{"ErrorCode":%q,"ErrorMessage":"no"}`, code))
	}
	w.Header().Set("Content-Type", "application/x-amz-json-1.1")
	fmt.Fprintf(w, `{"FailedEntryCount":%d,"Entries":[%s]}`, failed, strings.Join(results, ","))
}

func bus(t *testing.T, e *eventBridge) *Bus {
	t.Helper()
	server := httptest.NewServer(e)
	t.Cleanup(server.Close)
	return New(eventbridge.New(eventbridge.Options{
		Region: "us-west-2", BaseEndpoint: aws.String(server.URL), Retryer: aws.NopRetryer{},
		Credentials: aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
			return aws.Credentials{AccessKeyID: "a", SecretAccessKey: "b"}, nil
		}),
	}), "rollcall")
}

const samples = "../../events/out"

// envelope is an event as a rule's target gets it.
type envelope struct {
	Version    string          `json:"version"`
	ID         string          `json:"id"`
	DetailType string          `json:"detail-type"`
	Source     string          `json:"source"`
	Account    string          `json:"account"`
	Time       time.Time       `json:"time"`
	Region     string          `json:"region"`
	Resources  []string        `json:"resources"`
	Detail     json.RawMessage `json:"detail"`
}

// The samples are what the code really sends.
func TestSamplesAreWhatIsSent(t *testing.T) {
	var e eventBridge
	if err := bus(t, &e).Tell(t.Context(), story()); err != nil {
		t.Fatal(err)
	}
	if len(e.calls) != 1 || len(e.calls[0]) != 8 {
		t.Fatalf("calls are %v, want one with eight events", e.calls)
	}
	for i, p := range e.calls[0] {
		var detail incident.Event
		testfile.Parse(t, []byte(p.Detail), &detail)
		file := filepath.Join(samples, strings.ReplaceAll(strings.ToLower(strings.TrimPrefix(p.DetailType, "Rollcall ")), " ", "-")+".json")
		holdSample(t, file, envelope{
			Version: "0", ID: fmt.Sprintf("%d0c1d2e3-4f5a-6b7c-8d9e-0f1a2b3c4d5e", i+1), DetailType: p.DetailType, Source: p.Source,
			Account: detail.Account, Time: time.Unix(int64(p.Time), 0).UTC(), Region: detail.Region, Resources: []string{}, Detail: json.RawMessage(p.Detail),
		})
		if p.EventBusName != "rollcall" || !detail.At.Truncate(time.Second).Equal(time.Unix(int64(p.Time), 0)) {
			t.Errorf("entry for bus %q at %v, want rollcall at %v", p.EventBusName, p.Time, detail.At)
		}
	}
}

func schema(t *testing.T) *jsonschema.Schema {
	t.Helper()
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	s, err := c.Compile("../../events/schema/rollcall-incident.json")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestSamplesFollowTheSchema(t *testing.T) {
	s := schema(t)
	files, err := filepath.Glob(filepath.Join(samples, "incident-*.json"))
	if err != nil || len(files) != 6 {
		t.Fatalf("samples are %q, %v; want one for each of five kinds, and one of what is due", files, err)
	}
	files = append(files, filepath.Join(samples, "remedy-approved.json"), filepath.Join(samples, "remedy-acted.json"), filepath.Join(samples, "check-wanted.json"))
	for _, file := range files {
		event, err := jsonschema.UnmarshalJSON(strings.NewReader(string(testfile.Read(t, file))))
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Validate(event); err != nil {
			t.Errorf("%s: %v", file, err)
		}
	}
}

// The schema refuses what is wrong, else the test above would prove nothing.
func TestSchemaRefuses(t *testing.T) {
	s := schema(t)
	data := testfile.Read(t, filepath.Join(samples, "incident-resolved.json"))
	for _, test := range []struct{ name, old, new string }{
		{"another source", `"source": "rollcall"`, `"source": "aws.rollcall"`},
		{"an unknown field", `"sequence":`, `"sequense":`},
		{"resolved but open", `"state": "closed"`, `"state": "open"`},
		{"no time", `"began": "2026-`, `"began": "soon-`},
		{"unknown reason", `"reason": "proved"`, `"reason": "because"`},
		{"unknown severity", `"severity": "info"`, `"severity": "urgent"`},
		{"a remedy that nobody knows", `"remedy": "add-nat-route",
        "partition"`, `"remedy": "reboot",
        "partition"`},
		{"no hash", `"hash": "`, `"hash": "x`},
	} {
		t.Run(test.name, func(t *testing.T) {
			changed := strings.Replace(string(data), test.old, test.new, 1)
			if changed == string(data) {
				t.Fatalf("the sample has no %s", test.old)
			}
			event, err := jsonschema.UnmarshalJSON(strings.NewReader(changed))
			if err != nil {
				t.Fatal(err)
			}
			if s.Validate(event) == nil {
				t.Error("the schema takes it")
			}
		})
	}
}

func TestRefusedEventsAreAnError(t *testing.T) {
	e := eventBridge{refuse: func(_ int, p put) string {
		if strings.Contains(p.DetailType, "Changed") {
			return "ThrottlingException"
		}
		return ""
	}}
	err := bus(t, &e).Tell(t.Context(), story())
	var refused *Refused
	if !errors.As(err, &refused) {
		t.Fatalf("error is %v, want refused", err)
	}
	if diff := cmp.Diff(&Refused{Failed: 1, Of: 8, Code: "ThrottlingException", Message: "no"}, refused); diff != "" {
		t.Errorf("refused (-want +got):\n%s", diff)
	}
}

func TestCallsStayWithinTheLimits(t *testing.T) {
	many := make([]incident.Event, 0, 25)
	for i := range 25 {
		many = append(many, incident.Event{ID: fmt.Sprint(i), Kind: incident.EventChanged})
	}
	large := make([]incident.Event, 0, 3)
	for i := range 3 {
		large = append(large, incident.Event{ID: fmt.Sprint(i), Kind: incident.EventChanged, Why: strings.Repeat("x", 100<<10)})
	}
	huge := incident.Event{
		ID: "0", Kind: incident.EventChanged, Affected: 3, Why: strings.Repeat("ü", 200<<10),
		Evidence: []finding.Evidence{{What: "line", Value: strings.Repeat("y", maxBytes)}},
	}
	for _, test := range []struct {
		name   string
		events []incident.Event
		want   []int
	}{
		{"nothing", nil, nil},
		{"ten at once", many, []int{10, 10, 5}},
		{"256 KB at once", large, []int{2, 1}},
		{"one too large goes without its evidence", []incident.Event{huge}, []int{1}},
	} {
		t.Run(test.name, func(t *testing.T) {
			var e eventBridge
			if err := bus(t, &e).Tell(t.Context(), test.events); err != nil {
				t.Fatal(err)
			}
			var got []int
			n := 0
			for _, call := range e.calls {
				got = append(got, len(call))
				size := 0
				for _, p := range call {
					size += len(p.Source) + len(p.DetailType) + len(p.Detail) + 14
					var detail incident.Event
					if err := json.Unmarshal([]byte(p.Detail), &detail); err != nil || detail.ID != fmt.Sprint(n) {
						t.Errorf("event %d has id %q, %v", n, detail.ID, err)
					}
					n++
				}
				if size > maxBytes {
					t.Errorf("a call has %d bytes", size)
				}
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("events by call (-want +got):\n%s", diff)
			}
		})
	}
}

func TestUnreachableBusIsAnError(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusInternalServerError)
	}))
	defer server.Close()
	b := New(eventbridge.New(eventbridge.Options{Region: "us-west-2", BaseEndpoint: aws.String(server.URL), Retryer: aws.NopRetryer{},
		Credentials: aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
			return aws.Credentials{AccessKeyID: "a", SecretAccessKey: "b"}, nil
		})}), "rollcall")
	if err := b.Tell(t.Context(), story()); err == nil {
		t.Error("no error")
	}
}

func deleted() leak.Audit {
	at := time.Date(2026, 11, 20, 15, 15, 4, 0, time.UTC)
	return leak.Audit{
		Format: leak.AuditFormat, Account: "111122223333", Region: "us-west-2", Partition: "aws", Cluster: "eks-workshop",
		VPC: "vpc-0a1b2c3d4e5f60718", Subnet: "subnet-0b20000000000000a", Zone: "us-west-2a", Interface: "eni-0c1d2e3f4a5b60718",
		Owner: "i-0ef3c1b2a4d5968f1", Created: at.Add(-3 * time.Hour), First: at.Add(-30 * time.Minute), At: at, Result: leak.Deleted,
		IPs:      []netip.Addr{netip.MustParseAddr("10.42.101.20"), netip.MustParseAddr("10.42.101.21")},
		Prefixes: []netip.Prefix{netip.MustParsePrefix("10.42.101.32/28")},
		Run:      "b1c2d3e4-5f6a-7b8c-9d0e-1f2a3b4c5d6e", Request: "e1c6d73b-edaa-4e62-9909-6611404e1739",
	}
}

func interfaceSchema(t *testing.T) *jsonschema.Schema {
	t.Helper()
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	s, err := c.Compile("../../events/schema/rollcall-interface-deleted.json")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestInterfaceSampleIsWhatIsSent(t *testing.T) {
	var e eventBridge
	if err := bus(t, &e).TellInterfaces(t.Context(), []leak.Event{deleted().Event()}); err != nil {
		t.Fatal(err)
	}
	p := e.calls[0][0]
	file := filepath.Join(samples, "interface-deleted.json")
	holdSample(t, file, envelope{
		Version: "0", ID: "1c1d2e3f-5f6a-7b8c-9d0e-1f2a3b4c5d6e", DetailType: p.DetailType, Source: p.Source, Account: "111122223333",
		Time: time.Unix(int64(p.Time), 0).UTC(), Region: "us-west-2", Resources: []string{}, Detail: json.RawMessage(p.Detail),
	})
	if p.EventBusName != "rollcall" || p.Source != "rollcall" || p.DetailType != "Rollcall Interface Deleted" {
		t.Errorf("entry for %q: %q from %q", p.EventBusName, p.DetailType, p.Source)
	}
	if err := interfaceSchema(t).Validate(parsed(t, file, "", "")); err != nil {
		t.Error(err)
	}
}

func TestInterfaceSchemaRefuses(t *testing.T) {
	s, file := interfaceSchema(t), filepath.Join(samples, "interface-deleted.json")
	for _, test := range []struct{ name, old, replacement string }{
		{"another source", `"source": "rollcall"`, `"source": "aws.ec2"`},
		{"an unknown field", `"run":`, `"rnu":`},
		{"no interface", `"eni-0c1d2e3f4a5b60718",`, `"",`},
		{"no instance", `"i-0ef3c1b2a4d5968f1"`, `""`},
		{"a count that is none", `"addresses": 18`, `"addresses": -1`},
	} {
		if s.Validate(parsed(t, file, test.old, test.replacement)) == nil {
			t.Errorf("%s: the schema takes it", test.name)
		}
	}
}

func TestTellInterfaces(t *testing.T) {
	var e eventBridge
	list := make([]leak.Event, 25)
	for i := range list {
		list[i] = deleted().Event()
	}
	if err := bus(t, &e).TellInterfaces(t.Context(), list); err != nil || len(e.calls) != 3 {
		t.Errorf("25 events in %d calls, %v", len(e.calls), err)
	}
	e = eventBridge{refuse: func(int, put) string { return "ThrottlingException" }}
	var refused *Refused
	if err := bus(t, &e).TellInterfaces(t.Context(), list[:2]); !errors.As(err, &refused) || refused.Failed != 2 {
		t.Errorf("error %v, want two refused", err)
	}
}

// degrading is a nodegroup's story, as it is compared: the samples' events.
func degrading() []nodegroup.Event {
	begin := time.Date(2026, 11, 20, 14, 55, 0, 0, time.UTC)
	var r nodegroup.Record
	look := func(after time.Duration, wokenBy, status string, change func(*snapshot.Nodegroup)) {
		n := &snapshot.Nodegroup{
			Name: "new_nodegroup_2", Cluster: "eks-workshop", Status: status, Created: begin.Add(-24 * time.Hour),
			ARN: "arn:aws:eks:us-west-2:111122223333:nodegroup/eks-workshop/new_nodegroup_2/e2ca4e02-248f-cb7e-45a7-6fa9b0230007",
		}
		if change != nil {
			change(n)
		}
		l := nodegroup.Look{
			At: begin.Add(after), Account: "111122223333", Region: "us-west-2", Partition: "aws",
			Cluster: "eks-workshop", Nodegroup: "new_nodegroup_2", WokenBy: wokenBy, Seen: n, UpdatesRead: true,
		}
		if status == "" {
			l.Seen = nil
		}
		r, _ = nodegroup.Compare(r, l)
	}
	update := func(status string, errors ...snapshot.Issue) func(*snapshot.Nodegroup) {
		return func(n *snapshot.Nodegroup) {
			n.Updates = []snapshot.Update{{ID: "7d3f5b0a-8c1e-3f5d-9d64-2d9b8f7a6c10", Type: "VersionUpdate", Status: status, Created: begin.Add(30 * time.Minute), Errors: errors}}
		}
	}
	issue := func(n *snapshot.Nodegroup) {
		n.Issues = []snapshot.Issue{{Code: "NodeCreationFailure", Message: "Instances failed to join the kubernetes cluster", Resources: []string{"i-0ef3c1b2a4d5968f1"}}}
	}
	look(0, "sweep", "ACTIVE", nil)
	look(20*time.Minute, "sweep", "DEGRADED", issue)
	look(25*time.Minute, "sweep", "DEGRADED", func(n *snapshot.Nodegroup) {
		issue(n)
		n.Issues[0].Resources = append(n.Issues[0].Resources, "i-0d77e8f9a0b1c2d3e")
	})
	look(31*time.Minute, "UpdateNodegroupVersion", "DEGRADED", func(n *snapshot.Nodegroup) {
		issue(n)
		n.Issues[0].Resources = append(n.Issues[0].Resources, "i-0d77e8f9a0b1c2d3e")
		update("InProgress")(n)
	})
	look(48*time.Minute, "reminder", "ACTIVE", update("Failed", snapshot.Issue{Code: "PodEvictionFailure", Message: "Reached max retries while trying to evict pods from nodes in node group new_nodegroup_2", Resources: []string{"ip-10-42-192-10.us-west-2.compute.internal"}}))
	look(90*time.Minute, "sweep", "", nil)
	return r.Untold
}

func sampleOf(e nodegroup.Event) string {
	name := string(e.Reason)
	if e.Update != nil {
		name += "-" + strings.ToLower(e.Update.Status)
	} else if e.Reason == nodegroup.StatusChanged {
		name += "-" + strings.ToLower(e.Status)
	}
	return filepath.Join(samples, "nodegroup-status-change-"+name+".json")
}

func TestNodegroupSamplesAreWhatIsSent(t *testing.T) {
	var e eventBridge
	story := degrading()
	if err := bus(t, &e).TellNodegroups(t.Context(), story); err != nil {
		t.Fatal(err)
	}
	if len(e.calls) != 1 || len(e.calls[0]) != len(story) || len(story) != 6 {
		t.Fatalf("%d calls for %d events, want one with six", len(e.calls), len(story))
	}
	for i, p := range e.calls[0] {
		file := sampleOf(story[i])
		holdSample(t, file, envelope{
			Version: "0", ID: fmt.Sprintf("%d1c2d3e4-5f6a-7b8c-9d0e-1f2a3b4c5d6e", i+1), DetailType: p.DetailType, Source: p.Source,
			Account: story[i].Account, Time: time.Unix(int64(p.Time), 0).UTC(), Region: story[i].Region, Resources: []string{}, Detail: json.RawMessage(p.Detail),
		})
		if p.EventBusName != "rollcall" || p.Source != "rollcall" || p.DetailType != "EKS Nodegroup Status Change" {
			t.Errorf("entry for %q: %q from %q", p.EventBusName, p.DetailType, p.Source)
		}
	}
}

func nodegroupSchema(t *testing.T) *jsonschema.Schema {
	t.Helper()
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	s, err := c.Compile("../../events/schema/eks-nodegroup-status-change.json")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestNodegroupSamplesFollowTheSchema(t *testing.T) {
	s := nodegroupSchema(t)
	files, err := filepath.Glob(filepath.Join(samples, "nodegroup-*.json"))
	if err != nil || len(files) != 6 {
		t.Fatalf("samples are %q, %v; want six", files, err)
	}
	for _, file := range files {
		if err := s.Validate(parsed(t, file, "", "")); err != nil {
			t.Errorf("%s: %v", file, err)
		}
	}
}

func TestNodegroupSchemaRefuses(t *testing.T) {
	s := nodegroupSchema(t)
	file := filepath.Join(samples, "nodegroup-status-change-status-changed-degraded.json")
	for _, test := range []struct{ name, old, new string }{
		{"another source", `"source": "rollcall"`, `"source": "aws.eks"`},
		{"an unknown field", `"previous":`, `"prevoius":`},
		{"an unknown reason", `"reason": "status-changed"`, `"reason": "because"`},
		{"an update that is not told", `"reason": "status-changed"`, `"reason": "update-changed"`},
		{"deleted and there", `"reason": "status-changed"`, `"reason": "deleted"`},
		{"an unknown class", `"class": "join"`, `"class": "luck"`},
		{"no status", `"status": "DEGRADED"`, `"status": ""`},
	} {
		if s.Validate(parsed(t, file, test.old, test.new)) == nil {
			t.Errorf("%s: the schema takes it", test.name)
		}
	}
}

// parsed is a sample with a change.
func parsed(t *testing.T, file, old, replacement string) any {
	t.Helper()
	data := testfile.Read(t, file)
	changed := string(data)
	if old != "" {
		if changed = strings.Replace(changed, old, replacement, 1); changed == string(data) {
			t.Fatalf("%s has no %s", file, old)
		}
	}
	out, err := jsonschema.UnmarshalJSON(strings.NewReader(changed))
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// What the schema knows of classes is what the code has.
func TestSchemaHasEveryClass(t *testing.T) {
	text := testfile.Read(t, "../../events/schema/eks-nodegroup-status-change.json")
	for _, c := range []nodegroup.Class{
		nodegroup.Join, nodegroup.Launch, nodegroup.Network, nodegroup.Address, nodegroup.IAM, nodegroup.Quota,
		nodegroup.Drift, nodegroup.Config, nodegroup.Update, nodegroup.Limit, nodegroup.EKS, nodegroup.Other,
	} {
		if !strings.Contains(string(text), fmt.Sprintf("%q", c)) {
			t.Errorf("the schema lacks the class %q", c)
		}
	}
}

func TestRefusedNodegroupEvents(t *testing.T) {
	e := eventBridge{refuse: func(int, put) string { return "ThrottlingException" }}
	var refused *Refused
	if err := bus(t, &e).TellNodegroups(t.Context(), degrading()); !errors.As(err, &refused) || refused.Failed != 6 {
		t.Errorf("error %v, want six refused", err)
	}
}

// holdSample holds that a file of the sample events is what is really sent.
func holdSample(t *testing.T, file string, sent envelope) {
	t.Helper()
	want, err := json.MarshalIndent(sent, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	if *update {
		testfile.Write(t, file, append(want, '\n'))
	}
	got := testfile.Read(t, file)
	if diff := cmp.Diff(string(want)+"\n", string(got)); diff != "" {
		t.Errorf("%s is not what is sent; if that is meant: go test ./shared/bus -update (-sent +sample):\n%s", file, diff)
	}
}

// story is the route story, as report decides it: the events of the samples.
func story() []incident.Event {
	start := time.Date(2026, 11, 20, 14, 59, 3, 0, time.UTC)
	at := func(d time.Duration) time.Time { return start.Add(d) }
	launch := func(id string, started time.Duration, s report.LaunchStatus) report.Launch {
		return report.Launch{
			Instance: id, Nodegroup: "new_nodegroup_2", Group: "eks-new_nodegroup_2-c8c9d5b6", Subnet: "subnet-0ab1c2d3e4f5a6b7c",
			Zone: "us-west-2a", Type: "m5.large", Started: at(started), Status: s,
		}
	}
	route := diagnosis.Cause{
		Check: "route/no-egress", Confidence: finding.Certain, Resource: "rtb-0cd2e3f4a5b6c7d8e",
		Covers: []string{"subnet-0ab1c2d3e4f5a6b7c"}, Nodegroups: []string{"new_nodegroup_2"}, Instances: []string{"i-0ef3c1b2a4d5968f1"},
		Title: "subnet-0ab1c2d3e4f5a6b7c has no route to the internet",
		Why:   "rtb-0cd2e3f4a5b6c7d8e (us-west-2a) has only 10.42.0.0/16 → local.",
		Evidence: []finding.Evidence{
			{What: "rtb-0cd2e3f4a5b6c7d8e", Value: "10.42.0.0/16 → local"},
		},
		Fix: finding.Fix{
			Text:    "Add a default route to a NAT gateway.",
			Command: "aws ec2 create-route --route-table-id rtb-0cd2e3f4a5b6c7d8e --destination-cidr-block 0.0.0.0/0 --nat-gateway-id nat-0aa4b5c6d7e8f9a0b",
			Console: "https://us-west-2.console.aws.amazon.com/vpcconsole/home?region=us-west-2#RouteTableDetails:RouteTableId=rtb-0cd2e3f4a5b6c7d8e",
			Remedy:  "add-nat-route",
		},
	}
	failing := diagnosis.Diagnosis{Causes: []diagnosis.Cause{route}}
	proved := launch("i-0f15a6b7c8d9e0f1a", 12*time.Minute, report.Joined)
	proved.Ready = at(12*time.Minute + 58*time.Second)
	again := route
	again.Instances = []string{"i-0d77e8f9a0b1c2d3e"}

	var incidents []incident.Incident
	helped := func() {
		p := remedy.Plan{
			Format: remedy.Format, Remedy: optin.AddNATRoute, Partition: "aws", Account: "111122223333", Region: "us-west-2", Cluster: "eks-workshop",
			Check: route.Check, Resource: route.Resource,
			Route: &remedy.AddNATRoute{VPC: "vpc-0a1b2c3d4e5f60718", Table: route.Resource, Destination: "0.0.0.0/0", NAT: "nat-0aa4b5c6d7e8f9a0b", NATZone: "us-west-2a", Zones: []string{"us-west-2a"}, Subnets: route.Covers},
		}
		key := incidents[0].Key
		take := func(d incident.Decision) { incidents[0] = worded(d.Incident) }
		press := func(id string, action report.Action, after time.Duration) {
			d, _ := response.Act(incidents[0], report.Press{Head: report.Head{ID: id, At: at(after), Key: key}, Action: action, Plan: p.Hash(), User: report.User{ID: "U0ONCALL01", Name: "oncall"}}, response.Who{May: response.MayYes}, at(after))
			take(d)
		}
		take(response.Propose(incidents[0], report.Proposal{Head: report.Head{ID: "p", At: at(6 * time.Minute), Cluster: key.Cluster, Key: key}, Remedy: p.Remedy, Policy: optin.Approve, Plan: p, Hash: p.Hash(), Lasts: time.Hour}, at(6*time.Minute)))
		press("a", report.ApprovePlan, 7*time.Minute)
		press("c", report.Acknowledge, 7*time.Minute+30*time.Second)
		take(response.ApplyRemedyResult(incidents[0], report.RemedyResult{Head: report.Head{ID: "d", At: at(8 * time.Minute), Cluster: key.Cluster, Key: key}, Run: remedy.Run{
			Format: 1, ID: p.Hash() + "/a", Plan: p, Hash: p.Hash(), Policy: optin.Approve, ApprovedBy: "U0ONCALL01", Approved: at(7 * time.Minute),
			Began: at(7*time.Minute + time.Second), Ended: at(7*time.Minute + 2*time.Second), Result: remedy.Done, Changed: []string{p.Resource}, Version: 2,
		}}, at(8*time.Minute)))
		press("b", report.CheckAgain, 9*time.Minute)
	}
	for i, o := range []struct {
		after    time.Duration
		d        diagnosis.Diagnosis
		launches []report.Launch
		blind    []snapshot.Failure
	}{
		{time.Second, failing, []report.Launch{launch("i-0ef3c1b2a4d5968f1", 0, report.Waiting)}, nil},
		{5 * time.Minute, failing, []report.Launch{launch("i-0ef3c1b2a4d5968f1", 0, report.Missed)}, []snapshot.Failure{
			{Source: snapshot.InternetGateways, Reason: snapshot.Throttled, Call: "ec2:DescribeInternetGateways", Code: "RequestLimitExceeded", Message: "Request limit exceeded."},
		}},
		{14 * time.Minute, diagnosis.Diagnosis{Passed: []diagnosis.Passed{{Check: "route/no-egress", Covers: route.Covers}}}, []report.Launch{proved}, nil},
		{3 * time.Hour, diagnosis.Diagnosis{Causes: []diagnosis.Cause{again}}, []report.Launch{launch("i-0d77e8f9a0b1c2d3e", 3*time.Hour-time.Second, report.Waiting)}, nil},
	} {
		obs := report.Observation{
			Format: report.Format, ID: fmt.Sprint(i), By: "join-check", At: at(o.after), Account: "111122223333", Region: "us-west-2", Partition: "aws",
			Cluster: "eks-workshop", Diagnosis: o.d, Launches: o.launches, Blind: o.blind,
		}
		for _, d := range reconcile.Decide(incidents, obs, at(o.after), incident.Policy{ProofTime: time.Hour, ReopenTime: 24 * time.Hour}) {
			if d.Incident.Key.Check == route.Check {
				incidents = []incident.Incident{worded(d.Incident)}
			}
		}
		if i == 1 {
			helped()
		}
	}
	return incidents[0].PendingEvents
}

// worded gives the events their words, as report does when it has decided.
func worded(inc incident.Incident) incident.Incident {
	inc.Word(slack.Words(inc, slack.Options{}))
	return inc
}

// week is a week with an open incident, and something that was not looked at.
func week() report.Summary {
	to := time.Date(2026, 11, 23, 0, 0, 0, 0, time.UTC)
	at := to.Add(8*time.Hour + 4*time.Minute)
	return report.Weekly("spot-report", report.Period{
		From: to.AddDate(0, 0, -7), To: to, At: at, Clusters: 12,
		Launches: report.Tally{All: 2530, Joined: 2512, Failed: 11, Reclaimed: 5, Waiting: 1, Other: 1},
		Joining:  &report.Joining{Median: 62 * time.Second, Most95: 118 * time.Second, N: 2512},
		Causes:   []report.CauseCount{{Check: "route/no-egress", N: 11}},
		Opened:   2, Resolved: 1, Open: 1, Critical: 1, Seen: 2,
		Incidents: []report.PeriodIncident{
			{
				Whose: "payments", Cluster: "prod", Nodegroups: []string{"workers"}, Check: "route/no-egress", Title: "subnet-0ab1c2d3e4f5a6b7c has no route to the internet",
				Severity: "critical", Opened: at.Add(-40 * time.Hour), Affected: 9, Number: 1, Approval: true, Channel: "C0123456789", TS: "1795000000.000100",
			},
			{
				Whose: "platform", Cluster: "batch", Check: "launch/subnet-full", Title: "subnet-0b20000000000000b has no free address",
				Severity: "info", Opened: at.Add(-130 * time.Hour), Closed: at.Add(-122 * time.Hour), Affected: 12, Number: 2, Ending: "proved",
			},
		},
		Remedies: []report.PeriodRemedy{{Remedy: "add-nat-route", Came: report.RemedyWaits, N: 1}},
		Looks:    report.Looks{Made: 23_900, Silent: 40},
		Unseen:   []report.Unseen{{Reason: report.APISilent, Whose: "platform", Cluster: "edge", N: 40, Of: 2016}},
	})
}

func weekSchema(t *testing.T) *jsonschema.Schema {
	t.Helper()
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	s, err := c.Compile("../../events/schema/rollcall-weekly-report.json")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

const weekFile = "weekly-report.json"

// The sample is what the code really sends.
func TestWeekSampleIsWhatIsSent(t *testing.T) {
	var e eventBridge
	if err := bus(t, &e).TellWeek(t.Context(), slack.WeekEvent(week())); err != nil {
		t.Fatal(err)
	}
	p := e.calls[0][0]
	file := filepath.Join(samples, weekFile)
	holdSample(t, file, envelope{
		Version: "0", ID: "5b7f3e7a-0c3d-4f0e-9a55-2f6c1d8b9e10", DetailType: p.DetailType, Source: p.Source, Account: "111122223333",
		Time: time.Unix(int64(p.Time), 0).UTC(), Region: "us-west-2", Resources: []string{}, Detail: json.RawMessage(p.Detail),
	})
	if p.EventBusName != "rollcall" || p.Source != "rollcall" || p.DetailType != "Rollcall Weekly Report" {
		t.Errorf("entry for %q: %q from %q", p.EventBusName, p.DetailType, p.Source)
	}
	if err := weekSchema(t).Validate(parsed(t, file, "", "")); err != nil {
		t.Error(err)
	}
}

func TestWeekSchemaRefuses(t *testing.T) {
	s, file := weekSchema(t), filepath.Join(samples, weekFile)
	for _, test := range []struct{ name, old, replacement string }{
		{"another source", `"source": "rollcall"`, `"source": "aws.ec2"`},
		{"an unknown field", `"unseenCount":`, `"unseen-count":`},
		{"another result", `"result": "critical"`, `"result": "bad"`},
		{"a count that is none", `"joined": 2512`, `"joined": -1`},
		{"no words", `"headline": "Week`, `"head": "Week`},
		{"a reason that there is not", `"kubernetes-silent"`, `"tired"`},
	} {
		if s.Validate(parsed(t, file, test.old, test.replacement)) == nil {
			t.Errorf("%s: the schema takes it", test.name)
		}
	}
}

// However long what is in it is, an event fits into an entry with room for the message in
// which each target gets it; what it lists is left out first, and counted.
func TestWeekFits(t *testing.T) {
	s := week()
	w := slack.WeekEvent(s)
	for range 500 {
		w.Open = append(w.Open, report.PeriodIncident{Title: strings.Repeat("<", 300)})
		w.Unseen = append(w.Unseen, report.Unseen{Says: strings.Repeat("<", 300)})
	}
	w.UnseenCount = 500
	var e eventBridge
	if err := bus(t, &e).TellWeek(t.Context(), w); err != nil {
		t.Fatal(err)
	}
	var sent incident.Week
	p := e.calls[0][0]
	testfile.Parse(t, []byte(p.Detail), &sent)
	if len(p.Detail) > incident.MaxWeek || len(sent.Open)+len(sent.Unseen) > 0 || sent.UnseenCount != 500 || len(sent.Words.Lines) != len(w.Words.Lines) {
		t.Errorf("%d bytes: %d open, %d of %d unseen, %d lines", len(p.Detail), len(sent.Open), len(sent.Unseen), sent.UnseenCount, len(sent.Words.Lines))
	}
	w.Words.Headline = strings.Repeat("<", incident.MaxWeek)
	if err := bus(t, &e).TellWeek(t.Context(), w); !errors.Is(err, ErrTooLarge) || len(e.calls) != 1 {
		t.Errorf("larger than that: %v, %d calls", err, len(e.calls))
	}
	e = eventBridge{refuse: func(int, put) string { return "ThrottlingException" }}
	var refused *Refused
	if err := bus(t, &e).TellWeek(t.Context(), slack.WeekEvent(s)); !errors.As(err, &refused) || refused.Code != "ThrottlingException" {
		t.Errorf("refused: %v", err)
	}
}
