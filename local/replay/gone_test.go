package replay

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"rollcall/local/diagnose"
	"rollcall/local/incidents"
	"rollcall/local/payload"
	"rollcall/local/simaws"
	"rollcall/local/stage"
	"rollcall/shared/checkid"
	"rollcall/shared/incident"
	"rollcall/shared/s3"
	"rollcall/shared/store"
)

const route = "../worlds/corpus/route-no-egress.yaml"

// told has report take what was sent so far.
func (p *played) told(t *testing.T) {
	t.Helper()
	f, ok := p.Function("report")
	if !ok {
		t.Fatal("there is no function report")
	}
	p.mu.Lock()
	sent := slices.Clone(p.sent)
	p.mu.Unlock()
	for _, body := range sent {
		raw, _, err := payload.Wrap([]byte(body), f, p.Template, p.Clock.Now())
		if err != nil {
			t.Fatal(err)
		}
		if r, err := p.Runtime.Invoke(t.Context(), f.Name, raw); err != nil || r.FunctionError != "" {
			t.Fatalf("report: %v %s %s", err, r.FunctionError, r.Payload)
		}
	}
}

func (p *played) call(t *testing.T, op, input string) {
	t.Helper()
	if _, err := p.World.Call(op, json.RawMessage(input)); err != nil {
		t.Fatal(err)
	}
}

// incident is the one that has no route to the internet, as report keeps it.
func (p *played) incident(t *testing.T) incident.Incident {
	t.Helper()
	inc, err := incidents.Find(t.Context(), store.New(dynamodb.NewFromConfig(p.AsAdmin()), p.Template.Tables[0].Name), "route/no-egress")
	if err != nil {
		t.Fatal(err)
	}
	return inc
}

// TestAllIsGone: a launch fails, an incident opens, and its thread says how to diagnose it
// again. When instance, nodegroup and route table are gone that gives the same cause.
func TestAllIsGone(t *testing.T) {
	s := worldStage(t, route, nil)
	before := causesOf(sweepsOf(t, s, "join-check"))
	s.told(t)
	inc := s.incident(t)
	if inc.Evidence == nil || inc.Evidence.Opened == "" || inc.Evidence.Opened != inc.Evidence.Newest {
		t.Fatalf("the incident has the evidence %+v", inc.Evidence)
	}
	command := "rollcall replay " + inc.Key.Name()
	said := false
	for _, m := range s.Slack.Messages(stage.Channel) {
		raw, err := json.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		said = said || strings.Contains(string(raw), command)
	}
	if !said {
		t.Errorf("nobody is told %q", command)
	}

	// Nothing is left of what it was about.
	s.call(t, "eks:DeleteNodegroup", `{"clusterName":"eks-workshop","nodegroupName":"new_nodegroup_2"}`)
	s.World.Advance(s.World.Now().Add(2 * time.Hour))
	s.call(t, "ec2:DeleteSubnet", `{"SubnetId":"subnet-0c30000000000000d"}`)
	s.call(t, "ec2:DeleteRouteTable", `{"RouteTableId":"rtb-0cd20000000000002"}`)
	s.mu.Lock()
	s.sent = nil
	s.mu.Unlock()
	if now := causesOf(sweepsOf(t, s, "join-check")); slices.Contains(now, before[0]) {
		t.Fatalf("it is still there: %q", now)
	}

	kept, err := Find(t.Context(), s3.New(s.AsAdmin()), s.Template.S3Buckets[0].Name, inc, false)
	if err != nil || kept.Instead || kept.Key != inc.Evidence.Opened {
		t.Fatalf("found %s, %v", kept.Key, err)
	}
	dir := t.TempDir()
	about, err := Unpack(kept.Data, dir)
	if err != nil || about.By != "join-check" || about.Cluster != "eks-workshop" {
		t.Fatalf("evidence of %+v, %v", about, err)
	}
	r, err := diagnose.Examine(t.Context(), diagnose.Subject{Path: dir}, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Incidents) == 0 || r.Incidents[0].Cause != string(inc.Key.Check) || r.Incidents[0].Confidence != "certain" || !slices.Contains(r.Incidents[0].Resources, inc.Key.Resource) ||
		!slices.Contains(r.Incidents[0].Nodegroups, "new_nodegroup_2") || len(r.Incidents[0].Instances) == 0 {
		t.Errorf("replayed %+v, want %v", r.Incidents, inc.Key)
	}
}

// TestWithoutS3: whatever is the matter with the bucket, what was found is told, and the
// command says in a line why there is nothing to replay.
func TestWithoutS3(t *testing.T) {
	for name, test := range map[string]struct {
		settings map[string]string
		faults   []simaws.FaultRule
		gone     bool
		says     string
	}{
		"denied":       {nil, []simaws.FaultRule{{Call: "s3:PutObject", Deny: true}}, false, "is not there any more, or could not be written then"},
		"broken":       {nil, []simaws.FaultRule{{Call: "s3:PutObject", Fail: 1}}, false, "is not there any more, or could not be written then"},
		"no bucket":    {nil, nil, true, "is not there any more, or could not be written then"},
		"switched off": {map[string]string{"ROLLCALL_EVIDENCE": "off"}, nil, false, "nothing was kept of this incident"},
	} {
		t.Run(name, func(t *testing.T) {
			s := worldStage(t, route, test.settings, test.faults...)
			bucket := s.Template.S3Buckets[0].Name
			if test.gone {
				s.S3.Remove(bucket)
			}
			found := causesOf(sweepsOf(t, s, "join-check"))
			if !slices.ContainsFunc(found, func(c string) bool { return strings.HasPrefix(c, string(checkid.RouteNoEgress)) }) {
				t.Fatalf("found %q", found)
			}
			s.told(t)
			if keys := s.S3.Keys(bucket); len(keys) > 0 {
				t.Errorf("kept %q", keys)
			}
			var gone *GoneError
			if _, err := Find(t.Context(), s3.New(s.AsAdmin()), bucket, s.incident(t), false); !errors.As(err, &gone) || !strings.Contains(err.Error(), test.says) {
				t.Errorf("%v, want %q", err, test.says)
			}
		})
	}
}

// TestLifecycle: evidence goes when its days are over, and what is newer is taken instead.
func TestLifecycle(t *testing.T) {
	s := worldStage(t, route, nil)
	sweepsOf(t, s, "join-check")
	s.told(t)
	inc, bucket, from := s.incident(t), s.Template.S3Buckets[0].Name, s3.New(s.AsAdmin())
	first := inc.Evidence.Opened
	s.World.Advance(s.World.Now().Add(20 * 24 * time.Hour))
	newer := strings.Replace(first, "/2026/", "/2027/", 1)
	if err := from.Create(t.Context(), bucket, newer, "application/gzip", []byte("newer")); err != nil {
		t.Fatal(err)
	}
	if err := from.Create(t.Context(), bucket, newer, "application/gzip", []byte("again")); !errors.Is(err, s3.ErrThere) {
		t.Errorf("it is replaced: %v", err)
	}
	inc.Evidence = &incident.Evidence{Opened: first, Newest: newer}
	for _, want := range []Kept{{Key: first}, {Key: newer, Instead: true}} {
		if got, err := Find(t.Context(), from, bucket, inc, false); err != nil || got.Key != want.Key || got.Instead != want.Instead {
			t.Errorf("%s: %+v, %v; want %+v", s.World.Now(), got, err, want)
		}
		s.World.Advance(s.World.Now().Add(12 * 24 * time.Hour))
		if got, err := Find(t.Context(), from, bucket, inc, true); err != nil || got.Key != newer || got.Instead || string(got.Data) != "newer" {
			t.Errorf("the newest: %+v, %v", got, err)
		}
	}
	s.World.Advance(s.World.Now().Add(40 * 24 * time.Hour))
	var gone *GoneError
	if _, err := Find(t.Context(), from, bucket, inc, false); !errors.As(err, &gone) || !strings.Contains(err.Error(), "of 2026-11-20 1") {
		t.Errorf("%v, want that it is gone, and of when it was", err)
	}
	if _, err := Find(t.Context(), failing{}, bucket, inc, false); errors.As(err, &gone) || err == nil {
		t.Errorf("%v, want that it could not be read", err)
	}
}

// failing is S3 when it refuses.
type failing struct{}

// Get refuses.
func (failing) Get(context.Context, string, string, int64) ([]byte, error) {
	return nil, errors.New("AccessDenied")
}

// TestWriteSample writes the evidence that the command's tests replay, where a folder for it is named.
func TestWriteSample(t *testing.T) {
	dir := os.Getenv("ROLLCALL_EVIDENCE_SAMPLE")
	if dir == "" {
		t.Skip("ROLLCALL_EVIDENCE_SAMPLE names no folder")
	}
	s := worldStage(t, route, nil)
	for _, o := range sweepsOf(t, s, "join-check") {
		if o.Evidence != "" {
			if err := os.WriteFile(filepath.Join(dir, "route-no-egress.tar.gz"), s.S3.Object(s.Template.S3Buckets[0].Name, o.Evidence), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
}
