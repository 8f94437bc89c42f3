package enicleanup

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"rollcall/local/simaws"

	"rollcall/local/stage/stagetest"
	"rollcall/shared/network/leak"
	"rollcall/shared/snapshot"
)

// TestDenied: a delete that EC2 denies is told with the permission's name, is
// tried once in a run and not for each interface, and leaves nothing behind
// that looks like a delete.
func TestDenied(t *testing.T) {
	s := open(t, stagetest.Options{Faults: []simaws.FaultRule{{Call: "ec2:DeleteNetworkInterface", Deny: true, Times: 30}}})
	for range 40 {
		s.make(s.left())
	}
	s.sweep()
	s.sent()
	s.Counts()
	s.sweep()
	obs, summaries := s.sent()
	want := snapshot.Failure{Source: deletes, Reason: snapshot.Denied, Call: "ec2:DeleteNetworkInterface", Code: "UnauthorizedOperation"}
	if len(obs) != 1 || len(obs[0].Blind) != 1 || len(summaries) > 0 {
		t.Fatalf("sent %+v, %+v", obs, summaries)
	}
	got := obs[0].Blind[0]
	got.Message = ""
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("blind (-want +got):\n%s", diff)
	}
	counts := s.Counts()
	if counts["DeletesRefused"] == 0 || counts["DeletesRefused"] > 2*parallel || counts["LeftForNextRun"] != 40 || counts["Leaked"] != 40 || counts["Deleted"] != 0 {
		t.Errorf("counts %v", counts)
	}
	if !strings.Contains(s.Logs(), "ec2:DeleteNetworkInterface") || len(s.audits()) > 0 || len(s.told()) > 0 {
		t.Errorf("audits %v, told %v", s.audits(), s.told())
	}
	sightings, err := s.Store.At(s.Now).Sightings(t.Context(), vpc)
	if err != nil || len(sightings) != 40 {
		t.Fatalf("%d sightings, %v", len(sightings), err)
	}
	for id, x := range sightings {
		if x.Deleting != nil {
			t.Errorf("%s: what was written ahead is not taken back", id)
		}
	}
	// A run that is denied asks once at least: after thirty nothing is denied.
	for runs := 0; runs < 34 && len(s.audits()) < 40; runs++ {
		s.sweep()
	}
	if n := len(s.audits()); n != 40 {
		t.Errorf("%d deleted once EC2 allows it, want 40", n)
	}
	// The proof that it works is what ends the incident.
	obs, _ = s.sent()
	proved := false
	for _, o := range obs {
		for _, source := range o.Read {
			proved = proved || source == deletes
		}
	}
	if !proved {
		t.Error("that it works again is not told")
	}
}

// TestThrottled: no delete fails because EC2 is asked too much.
func TestThrottled(t *testing.T) {
	s := open(t, stagetest.Options{Faults: []simaws.FaultRule{{Call: "ec2:DeleteNetworkInterface", Throttle: 0.5, Times: 20}}})
	for range 30 {
		s.make(s.left())
	}
	s.sweep()
	s.sweep()
	if counts := s.Counts(); counts["Deleted"] != 30 || counts["Throttled"] != 20 || counts["AddressesReturned"] != 90 || counts["LeftForNextRun"] != 0 {
		t.Errorf("counts %v", counts)
	}
	if p, err := s.Store.At(s.Now).Pace(t.Context(), s.Template.AccountID, s.Template.Region); err != nil || p.Rate >= leak.Refill || p.At.IsZero() {
		t.Errorf("pace %+v, %v; want one that others slow down", p, err)
	}
}

// TestUncertain: a delete that EC2 did not answer is settled by the next run,
// whether it was done or not.
func TestUncertain(t *testing.T) {
	s := open(t, stagetest.Options{Faults: []simaws.FaultRule{{Call: "ec2:DeleteNetworkInterface", Fail: 0.5, Times: 5}}})
	for range 10 {
		s.make(s.left())
	}
	for range 4 {
		s.sweep()
	}
	if got := s.audits(); len(got) != 10 || len(s.told()) != 10 {
		t.Errorf("%d audit records, %d told, want 10", len(got), len(s.told()))
	}
	if n := s.Counts()["DeletesUncertain"]; n != 5 {
		t.Errorf("%d uncertain, want 5", n)
	}
}

// TestBusDown: what the bus did not take is told by the next run.
func TestBusDown(t *testing.T) {
	s := open(t, stagetest.Options{Faults: []simaws.FaultRule{{Call: "events:PutEvents", Deny: true, Times: 1}}})
	id := s.make(s.left())
	s.sweep()
	s.Advance(cadence)
	if _, err := s.Handle(s.Sweep()); err == nil || !strings.Contains(err.Error(), "tell of 1 deletes") {
		t.Errorf("error %v", err)
	}
	if len(s.audits()) != 1 || len(s.told()) > 0 {
		t.Fatalf("audits %v, told %v", s.audits(), s.told())
	}
	s.sweep()
	s.sweep()
	if diff := cmp.Diff([]string{stagetest.Cluster + "/" + id + "/deleted"}, s.told()); diff != "" || len(s.audits()) != 1 {
		t.Errorf("told (-want +got):\n%s", diff)
	}
}

// TestBlind: what cannot be read is told, and nothing is deleted.
func TestBlind(t *testing.T) {
	s := open(t, stagetest.Options{Faults: []simaws.FaultRule{{Call: "ec2:DescribeInstances", Deny: true}}})
	id := s.make(s.left())
	for range 3 {
		s.sweep()
	}
	obs, _ := s.sent()
	if len(obs) != 3 || len(obs[2].Blind) == 0 || !s.there(id) {
		t.Errorf("sent %+v", obs)
	}
	if list, err := s.Store.At(s.Now).Sightings(t.Context(), vpc); err != nil || len(list) > 0 {
		t.Errorf("sightings %v, %v: it was judged", list, err)
	}
}

// TestBlindKeepsWhatWasSeen: a look that failed proves nothing of what is
// remembered; the next one that succeeds deletes, and does not begin anew.
func TestBlindKeepsWhatWasSeen(t *testing.T) {
	for _, what := range []string{"ec2:DescribeNetworkInterfaces", "ec2:DescribeInstances", "ec2:DescribeSubnets"} {
		t.Run(what, func(t *testing.T) {
			s := open(t, stagetest.Options{})
			id := s.make(s.left())
			s.sweep()
			s.Advance(cadence)
			if _, err := handlerOf(s.Env(), refusing{s.HTTPClient().Transport, what})(t.Context(), s.Sweep()); err != nil {
				t.Fatal(err)
			}
			list, err := s.Store.At(s.Now).Sightings(t.Context(), vpc)
			if err != nil || len(list) != 1 || !s.there(id) {
				t.Errorf("sightings %v, %v; it is there: %v", list, err, s.there(id))
			}
			s.sweep()
			if s.there(id) {
				t.Error("it is seen for the first time again")
			}
		})
	}
}

// refusing denies one call of EC2.
type refusing struct {
	next http.RoundTripper
	call string
}

func (r refusing) RoundTrip(req *http.Request) (*http.Response, error) {
	if action, _ := about(req); "ec2:"+action != r.call {
		return r.next.RoundTrip(req)
	}
	return &http.Response{
		StatusCode: http.StatusForbidden, Header: http.Header{"Content-Type": {"text/xml"}}, Request: req,
		Body: io.NopCloser(strings.NewReader(`<Response><Errors><Error><Code>UnauthorizedOperation</Code><Message>no</Message></Error></Errors><RequestID>r</RequestID></Response>`)),
	}, nil
}

// TestSummary: one for each day, with what came back to each subnet and what
// the subnet has then; sent again only when something was added.
func TestSummary(t *testing.T) {
	s := open(t, stagetest.Options{Settings: map[string]string{"ROLLCALL_CLEANUP_CAP": "3"}})
	for i := range 5 {
		m := s.left()
		if i == 4 {
			m.subnet = other
		}
		s.make(m)
	}
	untagged := s.left()
	delete(untagged.tags, leak.TagCluster)
	s.make(untagged)
	for range 5 {
		s.sweep()
	}
	_, got := s.sent()
	if len(got) != 2 || got[0].ID != "cleanup/"+stagetest.Cluster+"/2026-11-20" || got[1].ID != got[0].ID {
		t.Fatalf("summaries %+v", got)
	}
	first, last := got[0].Cleanup, got[1].Cleanup
	if first.Mode != "delete" || first.Left != 2 || last.Left != 0 || last.Kept[string(leak.Untagged)] != 1 || last.VPC != vpc {
		t.Errorf("first %+v, last %+v", first, last)
	}
	sum := 0
	for _, x := range last.Subnets {
		sum += x.Addresses
		if x.Nodes != 1 || x.Zone == "" || x.Free == 0 {
			t.Errorf("subnet %+v", x)
		}
	}
	if len(last.Subnets) != 2 || sum != 15 || last.Nodes != 1 {
		t.Errorf("subnets %+v of %d nodes, want one node in two", last.Subnets, last.Nodes)
	}
	if back, err := s.Store.At(s.Now).Returned(t.Context(), stagetest.Cluster, s.Now().Add(-2*cadence*10)); err != nil || len(back) != 2 {
		t.Errorf("returned %+v, %v", back, err)
	}
}

// TestDryRunAsksOnceADay: EC2's own dry run, and no delete.
func TestDryRunAsksOnceADay(t *testing.T) {
	s := open(t, stagetest.Options{Settings: map[string]string{"ROLLCALL_CLEANUP": stagetest.Cluster + "=dry-run"}})
	id := s.make(s.left())
	s.sweep()
	s.sweep()
	if list, err := s.Store.At(s.Now).Sightings(t.Context(), vpc); err != nil || len(list) != 1 {
		t.Errorf("sightings %v, %v: what was asked for is still seen", list, err)
	}
	for range 6 {
		s.sweep()
	}
	_, got := s.sent()
	if n := s.Calls()["ec2:DeleteNetworkInterface"]; n != 1 || !s.there(id) || len(got) != 1 || got[0].Cleanup.Mode != "dry-run" || got[0].Cleanup.Subnets[0].Addresses != 3 {
		t.Errorf("%d requests; summaries %+v", n, got)
	}
	if len(s.told()) > 0 {
		t.Errorf("told %v", s.told())
	}
	for range 4 * 24 {
		s.sweep()
	}
	if n := s.Calls()["ec2:DeleteNetworkInterface"]; n != 1 || len(s.audits()) != 2 {
		t.Errorf("%d requests the next day, %d records", n, len(s.audits()))
	}
}

// TestStopped: too many at once, and nothing is done but said.
func TestStopped(t *testing.T) {
	s := open(t, stagetest.Options{Settings: map[string]string{"ROLLCALL_CLEANUP_SHARE": "20"}})
	for range 10 {
		s.make(s.left())
	}
	for range 4 {
		s.sweep()
	}
	_, got := s.sent()
	if len(got) != 1 || got[0].Cleanup.Stopped == nil || got[0].Cleanup.Stopped.Candidates != 10 || len(s.audits()) > 0 {
		t.Errorf("summaries %+v, audits %v", got, s.audits())
	}
}

// TestOnlyTheSchedule wakes it.
func TestOnlyTheSchedule(t *testing.T) {
	s := open(t, stagetest.Options{})
	for raw, want := range map[string]string{
		`{`: "unexpected end",
		`{"id":"1","source":"rollcall","detail-type":"Rollcall Spot Report Wanted","detail":{}}`:                                                                                                          "not by Rollcall Spot Report Wanted",
		`{"id":"1","source":"rollcall","detail-type":"Rollcall Incident Opened","account":"1","region":"x","time":"2026-11-20T12:00:00Z","detail":{"cluster":"a","check":"ip/exhausted","resource":"b"}}`: "not by Rollcall Incident Opened",
	} {
		if _, err := s.Handle([]byte(raw)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", raw, err, want)
		}
	}
}
