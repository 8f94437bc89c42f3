package bus

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"rollcall/shared/event"
	"rollcall/shared/nodegroup"
	"rollcall/shared/snapshot"
)

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
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
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
	text, err := os.ReadFile("../../events/schema/eks-nodegroup-status-change.json")
	if err != nil {
		t.Fatal(err)
	}
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

func TestLookAtNodegroup(t *testing.T) {
	q := &queue{}
	now := time.Date(2026, 11, 20, 15, 0, 0, 0, time.UTC)
	if err := (Queues{Client: q, Nodegroups: "nodegroups"}).LookAtNodegroup(t.Context(), "prod", "workers", now, time.Minute); err != nil {
		t.Fatal(err)
	}
	got, err := event.Parse([]byte(aws.ToString(q.sent[0].MessageBody)))
	if err != nil || got.Kind != event.Reminder || got.Cluster != "prod" || got.Nodegroup != "workers" || q.sent[0].DelaySeconds != 60 || aws.ToString(q.sent[0].QueueUrl) != "nodegroups" {
		t.Errorf("sent %+v (%v) after %d s to %s", got, err, q.sent[0].DelaySeconds, aws.ToString(q.sent[0].QueueUrl))
	}
	q = &queue{refuse: 1}
	if err := (Queues{Client: q}).LookAtNodegroup(t.Context(), "prod", "workers", now, 0); err == nil {
		t.Error("no error of a queue that refuses")
	}
}
