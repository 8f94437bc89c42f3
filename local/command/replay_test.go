package command

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"rollcall/local/callertest"
	"rollcall/local/diagnose"
	"rollcall/local/exit"
	"rollcall/local/result"
	"rollcall/shared/checkid"
	ranked "rollcall/shared/diagnose"
	record "rollcall/shared/incident"
	"rollcall/shared/report"
	"rollcall/shared/s3"
	"rollcall/shared/store"
)

// TestReplay: an incident is diagnosed from what the bucket has of it, whatever the
// account is like now, and a file of it likewise; what cannot be replayed is one line.
func TestReplay(t *testing.T) {
	packed, err := os.ReadFile("testdata/route-no-egress.tar.gz")
	if err != nil {
		t.Fatal(err)
	}
	s, _ := callertest.Serve(t, "../worlds/healthy-nat.yaml", diagnose.Settled)
	callertest.LogIn(t, s)
	bucket := s.Template.S3Buckets[0].Name
	const kept, hostile, expired = "111122223333/us-west-2/eks-workshop/2026/11/20/15/join-check-0.tar.gz", "1/hostile.tar.gz", "1/2/3/2026/11/20/15/expired.tar.gz"
	for key, body := range map[string][]byte{kept: packed, hostile: []byte("hello")} {
		if err := s3.New(s.AsAdmin()).Create(t.Context(), bucket, key, "application/gzip", body); err != nil {
			t.Fatal(err)
		}
	}
	records := store.New(dynamodb.NewFromConfig(s.AsAdmin()), s.Template.Tables[0].Name)
	for resource, evidence := range map[string]*record.Evidence{
		"rtb-kept": {Opened: kept, Newest: expired}, "rtb-gone": {Opened: expired, Newest: expired}, "rtb-hostile": {Opened: hostile, Newest: hostile}, "rtb-earlier": nil,
	} {
		inc := record.Incident{Key: report.Key{Cluster: "eks-workshop", Check: checkid.RouteNoEgress, Resource: resource}, State: record.Open, Cause: ranked.Cause{Title: "no route"}, Evidence: evidence}
		if _, err := records.SaveIncident(t.Context(), inc); err != nil {
			t.Fatal(err)
		}
	}
	run := func(args ...string) (status int, out, errs string) {
		var o, e bytes.Buffer
		status = command(append([]string{"replay"}, args...), &o, &e)
		return status, o.String(), e.String()
	}
	id := func(resource string) string { return "eks-workshop:route/no-egress:" + resource }
	const of = "what join-check read of eks-workshop at 2026-11-20 "
	for _, tt := range []struct {
		args         []string
		status       int
		says, errors string
	}{
		{[]string{id("rtb-kept")}, exit.Causes, "has no route to the internet", of},
		{[]string{"--newest", id("rtb-kept")}, exit.Causes, "has no route to the internet", "note: what is wanted is not there any more: this is of another time (" + kept},
		{[]string{"testdata/route-no-egress.tar.gz"}, exit.Causes, "has no route to the internet", of},
		{[]string{id("rtb-gone")}, exit.Unsure, "", "is not there any more, or could not be written then (of 2026-11-20 15:00 UTC)"},
		{[]string{id("rtb-earlier")}, exit.Unsure, "", "nothing was kept of this incident"},
		{[]string{id("rtb-hostile")}, exit.BadInput, "", "it is no kept evidence: it is no .tar.gz"},
		{[]string{id("rtb-none")}, exit.BadInput, "", "there is no such incident"},
		{[]string{"none.tar.gz"}, exit.BadInput, "", "there is no such file"},
		{[]string{"--out", "testdata", id("rtb-kept")}, exit.BadInput, "", "is not an empty folder"},
		{[]string{"--mask", id("rtb-kept")}, exit.BadInput, "", "--mask masks the folder of --out, which is not given"},
		{nil, exit.BadInput, "", "which incident?"},
	} {
		status, out, errs := run(tt.args...)
		if status != tt.status || !strings.Contains(out, tt.says) || tt.says == "" && out != "" || !strings.Contains(errs, tt.errors) || strings.Count(errs, "\n") > 2 {
			t.Errorf("replay %q: status %d, %q, errors %q; want %d, %q, %q", tt.args, status, out, errs, tt.status, tt.says, tt.errors)
		}
	}

	dir := filepath.Join(t.TempDir(), "kept")
	page := filepath.Join(t.TempDir(), "page.html")
	status, out, errs := run("--json", "--out", dir, "--html", page, id("rtb-kept"))
	var r result.Result
	if err := json.Unmarshal([]byte(out), &r); err != nil || status != exit.Causes || first(r) != "route/no-egress certain" {
		t.Errorf("status %d, %v, %s%s", status, err, out, errs)
	}
	if text, err := os.ReadFile(page); err != nil || !bytes.Contains(text, []byte("has no route to the internet")) {
		t.Errorf("the page: %v", err)
	}
	// What is left in the folder is a capture like others.
	var o, e bytes.Buffer
	if status := command([]string{"diagnose", "--json", dir}, &o, &e); status != exit.Causes || o.String() != out || e.String() != "" {
		t.Errorf("diagnose of the folder: status %d, %s%s", status, o.String(), e.String())
	}
	masked := filepath.Join(t.TempDir(), "masked")
	if status, _, errs := run("--mask", "--out", masked, id("rtb-kept")); status != exit.Causes {
		t.Errorf("replay --mask: status %d, %s", status, errs)
	}
	o.Reset()
	if status := command([]string{"diagnose", "--json", masked}, &o, &e); status != exit.Causes || strings.Contains(o.String(), "eks-workshop") || !strings.Contains(o.String(), "route/no-egress") {
		t.Errorf("diagnose of the masked folder: status %d, %s%s", status, o.String(), e.String())
	}
	if list, err := filepath.Glob(filepath.Join(masked, "*.json")); err != nil || len(list) == 0 {
		t.Errorf("the masked folder: %q, %v", list, err)
	} else {
		for _, name := range list {
			if text, err := os.ReadFile(name); err != nil || strings.Contains(string(text)+name, "111122223333") || strings.Contains(string(text)+name, "eks-workshop") {
				t.Errorf("%s holds the account or the cluster: %v", name, err)
			}
		}
	}
}
