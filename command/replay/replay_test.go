package replay

import (
	"archive/tar"
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"rollcall"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"rollcall/command/capture"
	"rollcall/command/diagnose"
	"rollcall/command/diagnose/look"
	"rollcall/command/incidents"
	"rollcall/command/subject"
	"rollcall/functions/launch-watch/launchwatch"
	launchspec "rollcall/functions/launch-watch/spec"
	"rollcall/shared/checkid"
	"rollcall/shared/checks/finding"
	"rollcall/shared/event/inbox"
	"rollcall/shared/evidence"
	"rollcall/shared/incident"
	"rollcall/shared/report"
	"rollcall/shared/s3"
	"rollcall/shared/spoke"
	"rollcall/shared/store"
	"rollcall/stage"
	"rollcall/stage/payload"
	"rollcall/stage/platform/template"
	"rollcall/stage/programs"
	"rollcall/stage/simaws"
	"rollcall/stage/simaws/worldfile"
	"rollcall/stage/stagetest"
	"rollcall/tools/testfile"
	"rollcall/tools/testfull"
)

// worldStage is a world on the stage with all functions, in this process, at a time when
// its launches are past their join time.
func worldStage(t *testing.T, world string, settings map[string]string, faults ...simaws.FaultRule) *played {
	t.Helper()
	p := &played{}
	file, err := worldfile.Load(world)
	if err != nil {
		t.Fatal(err)
	}
	s, err := stage.Start(t.Context(), stage.Options{
		World: world, At: file.Time.Add(12 * time.Minute), Quiet: true, Rate: 1e-3, Programs: programs.All(), Files: rollcall.Files(),
		Template: "infra/Rollcall.template.json", Rights: "deploy/clusterrole.yaml", Settings: settings, CallFaults: faults,
		Sent: func(_, body string) {
			p.mu.Lock()
			defer p.mu.Unlock()
			p.sent = append(p.sent, body)
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	p.Stage = s
	return p
}

// played is a stage and what was sent on it.
type played struct {
	*stage.Stage
	mu   sync.Mutex
	sent []string
}

// sweeps has each detector sweep once, and gives what they tell.
func sweeps(t *testing.T, s *played) []report.Observation {
	t.Helper()
	seen := sweepsOf(t, s, "")
	s.sent = nil
	return seen
}

// sweepsOf is the same for one detector, or all.
func sweepsOf(t *testing.T, s *played, one string) []report.Observation {
	t.Helper()
	var seen []report.Observation
	for _, f := range s.Template.Functions {
		name := stage.Folder(f)
		if name != "spot-report" && name != cmp.Or(one, "sweep") || one != "" && name != one {
			continue
		}
		for _, raw := range wakes(t, s, f) {
			if r, err := s.Runtime.Invoke(t.Context(), f.Name, raw); err != nil || r.FunctionError != "" {
				t.Fatalf("%s: %v %s %s", f.Name, err, r.FunctionError, r.Payload)
			}
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, body := range s.sent {
		if m, err := report.DecodeMessage([]byte(body)); err == nil && m.Observation != nil {
			seen = append(seen, *m.Observation)
		}
	}
	return seen
}

// wakes are the events by which a detector looks at all clusters: its schedule's, or the
// turn of each cluster, which comes to sweep by its queue.
func wakes(t *testing.T, s *played, f template.Function) (list [][]byte) {
	t.Helper()
	now := s.Clock.Now().UTC()
	if stage.Folder(f) == "spot-report" {
		raw, err := json.Marshal(map[string]any{
			"version": "0", "id": "a1b2c3d4-0000-4000-8000-000000000000", "detail-type": "Scheduled Event", "source": "aws.events",
			"account": s.Template.AccountID, "region": s.Template.Region, "time": now.Format(time.RFC3339), "resources": []string{}, "detail": map[string]any{},
		})
		if err != nil {
			t.Fatal(err)
		}
		return [][]byte{raw}
	}
	for _, cluster := range s.World.Clusters() {
		raw, err := inbox.SweepCluster(spoke.ID{}, cluster, s.Template.AccountID, s.Template.Region, now)
		if err == nil && stage.Folder(f) == "sweep" {
			raw, _, err = payload.Wrap(raw, f, s.Template, now)
		}
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, raw)
	}
	return list
}

// kept is the evidence under a key, unpacked as a capture.
func kept(t *testing.T, s *played, key string) *capture.Capture {
	t.Helper()
	body := s.S3.Object(s.Template.S3Buckets[0].Name, key)
	if body == nil {
		t.Fatalf("there is no %s among %q", key, s.S3.Keys(s.Template.S3Buckets[0].Name))
	}
	dir := t.TempDir()
	if _, err := Unpack(body, dir); err != nil {
		t.Fatal(err)
	}
	c, err := capture.Open(dir, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range c.Warnings {
		t.Errorf("a warning of the capture: %s", w)
	}
	return c
}

// diagnosed are the causes that today's code finds in a capture, as "check of resource".
func diagnosed(t *testing.T, c *capture.Capture, by string) (causes []string, seen []report.Observation) {
	t.Helper()
	account := subject.OfCapture(c)
	found, err := look.At(t.Context(), look.Account{
		ID: account.ID, Region: account.Region, AWS: account.AWS, Endpoints: account.Endpoints, Clusters: c.Clusters, Functions: []string{by}, Logs: c.LogGroups(),
		Refused: func(context.Context) []look.Record { return c.LaunchCalls() }, Now: func() time.Time { return c.Time }, Log: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range found.Failed {
		t.Errorf("%s failed: %v", f.Function, f.Err)
	}
	return causesOf(found.Observations), found.Observations
}

func causesOf(seen []report.Observation) []string {
	var all []string
	for _, o := range seen {
		for _, c := range o.Diagnosis.Causes {
			if c.Confidence != finding.Advice {
				all = append(all, fmt.Sprintf("%s of %s (%s)", c.Check, c.Resource, c.Confidence))
			}
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// TestSameVerdict: what each function found in each world of the corpus that it finds
// something in is found again in the evidence that it kept. Each twenty-ninth world still
// has every function and most kinds of answers.
func TestSameVerdict(t *testing.T) {
	paths, err := filepath.Glob("../../stage/worlds/corpus/*.yaml")
	if err != nil || len(paths) == 0 {
		t.Fatalf("worlds: %v", err)
	}
	every := testfull.Count(1, 29)
	looked, replayed := 0, 0
	for i, path := range paths {
		name := strings.TrimSuffix(filepath.Base(path), ".yaml")
		if i%every != 0 || name == "unseen" || strings.HasSuffix(name, "-healthy") || strings.HasPrefix(name, "base") {
			continue
		}
		t.Run(name, func(t *testing.T) {
			s := worldStage(t, path, nil)
			seen := sweeps(t, s)
			for _, o := range seen {
				looked++
				want := causesOf([]report.Observation{o})
				if len(want) == 0 {
					continue
				}
				replayed++
				got, again := diagnosed(t, kept(t, s, o.Evidence), o.By)
				for _, cause := range want {
					if !slices.Contains(got, cause) {
						t.Errorf("%s found %s; in its evidence is found %q", o.By, cause, got)
						for _, a := range again {
							for _, f := range a.Blind {
								t.Logf("%s: %s %s %s %s", a.By, f.Source, f.Call, f.Reason, f.Message)
							}
						}
					}
				}
				// Nor is anything found that was not found then.
				for _, cause := range got {
					if !slices.Contains(want, cause) {
						t.Errorf("in the evidence of %s is found %s, which it did not find then: %q", o.By, cause, want)
					}
				}
			}
		})
	}
	if replayed < testfull.Count(200, 5) {
		t.Errorf("%d verdicts of %d were replayed", replayed, looked)
	}
}

const route = "../../stage/worlds/corpus/route-no-egress.yaml"

// runReport has report take what was sent so far.
func (p *played) runReport(t *testing.T) {
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
	s.runReport(t)
	inc := s.incident(t)
	if inc.Evidence == nil || inc.Evidence.Opened == "" || inc.Evidence.Opened != inc.Evidence.Newest {
		t.Fatalf("the incident has the evidence %+v", inc.Evidence)
	}
	command := "rollcall replay " + inc.Key.Name()
	said := false
	for _, m := range s.Slack.Messages(stage.Channel) {
		said = said || strings.Contains(string(testfile.JSON(t, m)), command)
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
	r, err := diagnose.Examine(t.Context(), subject.Subject{Path: dir}, nil, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Incidents) == 0 || r.Incidents[0].Cause != string(inc.Key.Check) || r.Incidents[0].Confidence != "certain" || !slices.Contains(r.Incidents[0].Resources, inc.Key.Resource) ||
		!slices.Contains(r.Incidents[0].Nodegroups, "new_nodegroup_2") || len(r.Incidents[0].Instances) == 0 {
		t.Errorf("replayed %+v, want %v", r.Incidents, inc.Key)
	}
}

// TestWithoutS3: whatever is the matter with the bucket, what was found is reported, and the
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
			s.runReport(t)
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
	s.runReport(t)
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
			testfile.Write(t, filepath.Join(dir, "route-no-egress.tar.gz"), s.S3.Object(s.Template.S3Buckets[0].Name, o.Evidence))
		}
	}
}

// TestAtLaunch: what launch-watch saw of an instance seconds after its launch, and of a
// launch that failed, is found again in what it kept.
func TestAtLaunch(t *testing.T) {
	for name, test := range map[string]struct {
		options stagetest.Options
		scale   bool
		cause   checkid.ID
	}{
		"an instance without a way out": {stagetest.Options{}, true, checkid.RouteNoEgress},
		"a launch that failed":          {stagetest.Options{World: "subnet-exhausted.yaml", Over: "ec2: {Subnets: [{SubnetId: " + stagetest.Subnet + ", AvailableIpAddressCount: 0}]}\n"}, false, checkid.LaunchSubnetFull},
		"a fleet that was refused":      {stagetest.Options{World: "corpus/launch-policy-denied-karpenter.yaml"}, false, ""},
	} {
		t.Run(name, func(t *testing.T) {
			b := stagetest.Start(t, launchspec.Spec(), launchwatch.Build, test.options)
			if test.scale {
				b.Scale(1)
			} else {
				b.Advance(time.Minute)
			}
			if back := b.Send(b.LaunchEvents(0)...); len(back) > 0 {
				t.Fatalf("gave back %q", back)
			}
			seen := b.Observations()
			i := slices.IndexFunc(seen, func(o report.Observation) bool { return o.Evidence != "" })
			if i < 0 {
				t.Fatalf("nothing is kept of %+v", seen)
			}
			o := seen[i]
			if test.cause == "" {
				test.cause = o.Diagnosis.Causes[0].Check
			}
			dir := t.TempDir()
			about, err := Unpack(b.S3.Object(b.Template.S3Buckets[0].Name, o.Evidence), dir)
			if err != nil || about.By != launchspec.Name {
				t.Fatalf("%+v, %v", about, err)
			}
			if c, err := capture.Open(dir, time.Now()); err != nil || len(c.Warnings) > 0 {
				t.Fatalf("%v, %+v", err, c)
			}
			r, err := diagnose.Examine(t.Context(), subject.Subject{Path: dir}, nil, io.Discard)
			if err != nil {
				t.Fatal(err)
			}
			if len(r.Incidents) == 0 || r.Incidents[0].Cause != string(test.cause) {
				t.Errorf("replayed %+v, want %s; unknown %+v", r.Incidents, test.cause, r.Unknown)
			}
		})
	}
}

// packed is an archive of given files.
func packed(t *testing.T, list ...tar.Header) []byte {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	w := tar.NewWriter(z)
	for _, h := range list {
		body := h.Linkname
		if h.Typeflag == 0 {
			h.Typeflag, h.Linkname = tar.TypeReg, ""
			h.Size = int64(len(body))
		}
		if err := w.WriteHeader(&h); err != nil {
			t.Fatal(err)
		}
		if h.Typeflag == tar.TypeReg {
			if _, err := w.Write([]byte(body)); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := errors.Join(w.Close(), z.Close()); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// entry is a file with its text, which the header has no room for but Linkname.
func entry(name, text string) tar.Header { return tar.Header{Name: name, Linkname: text, Mode: 0o600} }

// TestHostileArchives: what a capture does not have is refused by its reason, and nothing
// is written outside the folder.
func TestHostileArchives(t *testing.T) {
	about := entry(evidence.AboutFile, `{"by": "join-check", "cluster": "prod"}`)
	whole := packed(t, about, entry("time.txt", "2026-11-20T15:00:00Z"))
	bomb := func() []byte {
		var b bytes.Buffer
		z := gzip.NewWriter(&b)
		w := tar.NewWriter(z)
		if err := w.WriteHeader(&tar.Header{Name: "kubectl-get-nodes.prod.json", Typeflag: tar.TypeReg, Size: mostUnpacked + 1}); err != nil {
			t.Fatal(err)
		}
		zeros := make([]byte, 1<<20)
		for range mostUnpacked >> 20 {
			if _, err := w.Write(zeros); err != nil {
				t.Fatal(err)
			}
		}
		_, _ = w.Write([]byte{0})
		if err := errors.Join(w.Close(), z.Close()); err != nil {
			t.Fatal(err)
		}
		return b.Bytes()
	}
	for name, test := range map[string]struct {
		data []byte
		want string // "" is accepted
	}{
		"whole":       {whole, ""},
		"upwards":     {packed(t, entry("../evil.json", "{}")), "not a name of a file"},
		"absolute":    {packed(t, entry("/tmp/evil.json", "{}")), "not a name of a file"},
		"a folder's":  {packed(t, entry("a/b.json", "{}")), "not a name of a file"},
		"backslashes": {packed(t, entry(`..\evil.json`, "{}")), "not a name of a file"},
		"hidden":      {packed(t, entry(".profile", "x")), "not a name of a file"},
		"a link":      {packed(t, tar.Header{Name: "a.json", Typeflag: tar.TypeSymlink, Linkname: "/etc/passwd"}), "is not a file"},
		"a hard link": {packed(t, tar.Header{Name: "a.json", Typeflag: tar.TypeLink, Linkname: "/etc/passwd"}), "is not a file"},
		"a device":    {packed(t, tar.Header{Name: "a.json", Typeflag: tar.TypeChar}), "is not a file"},
		"a folder":    {packed(t, tar.Header{Name: "a", Typeflag: tar.TypeDir}), "is not a file"},
		"twice":       {packed(t, about, about), "twice"},
		"of nothing":  {packed(t, entry("time.txt", "x")), "has no evidence.json"},
		"of no JSON":  {packed(t, entry(evidence.AboutFile, "{")), "evidence.json"},
		"no archive":  {[]byte("hello"), "no .tar.gz"},
		"empty":       {nil, "no .tar.gz"},
		"cut":         {whole[:len(whole)/2], "cut or damaged"},
		"a bomb":      {bomb(), "more than 256 MiB"},
	} {
		t.Run(name, func(t *testing.T) {
			outer := t.TempDir()
			dir := outer + "/in"
			if err := os.Mkdir(dir, 0o700); err != nil {
				t.Fatal(err)
			}
			_, err := Unpack(test.data, dir)
			var hostile *Error
			if test.want == "" {
				if err != nil {
					t.Fatal(err)
				}
			} else if !errors.As(err, &hostile) || !strings.Contains(err.Error(), test.want) {
				t.Errorf("%v, want %q", err, test.want)
			}
			if list, _ := os.ReadDir(outer); len(list) != 1 {
				t.Errorf("outside the folder stands %v", list)
			}
		})
	}
}
