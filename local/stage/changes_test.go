package stage

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"rollcall/local/fakeslack"
	"rollcall/local/simaws"
	"rollcall/local/simaws/worldfile"
	"rollcall/shared/report"
)

// changing is a stage on which an instance of the route world cannot join, and
// CloudTrail has what was done before only after a time.
func changing(t *testing.T, behind time.Duration, faults ...simaws.FaultRule) *running {
	t.Helper()
	r := start(t, "route", func(o *Options) {
		o.CallFaults = faults
		o.Change = func(f *worldfile.File) { f.Trail.Lag, f.Trail.Spread = behind, 0 }
	})
	r.scale(1, 1)
	return r
}

// lookups counts the answers that change-check had from CloudTrail, by their
// error code.
func (r *running) lookups() map[string]int {
	codes := map[string]int{}
	for _, c := range r.Cloud.Calls() {
		if c.Service == "cloudtrail" && c.Principal.Name == "rollcall-change-check" {
			codes[c.Code]++
		}
	}
	return codes
}

// head is the message without its thread.
func (r *running) head() string {
	m := r.messages()
	if len(m) != 1 {
		return ""
	}
	m[0].Replies = nil
	return whole(m[0])
}

// changes are the replies about what was changed.
func (r *running) changes() (list []string) {
	for _, m := range r.messages() {
		for _, reply := range m.Replies {
			if text := whole(fakeslack.Message{Text: reply.Text, Blocks: reply.Blocks}); strings.Contains(text, "changes to these resources ") {
				list = append(list, text)
			}
		}
	}
	return list
}

// trail is what the incident knows of CloudTrail.
func (r *running) trail() *report.RecentChanges {
	if i := r.incidents(); len(i) == 1 {
		return i[0].RecentChanges
	}
	return nil
}

// TestWhatChangedIsSaid holds that the message says who changed what it is
// about, and when, and the thread all of it; and that CloudTrail, which has
// nothing at first, is asked again until it has.
func TestWhatChangedIsSaid(t *testing.T) { virtual(t, whatChangedIsSaid) }

func whatChangedIsSaid(t *testing.T) {
	r := changing(t, 26*time.Minute) // the table was made 18 minutes before the launch
	r.until("CloudTrail is asked", func() bool { return r.trail() != nil })
	if first := r.trail(); !first.Open || len(first.Changes) > 0 || len(r.changes()) > 0 || strings.Contains(r.head(), "ci-deploy") {
		t.Errorf("before CloudTrail has anything: %+v, said is %q", first, r.changes())
	}
	r.until("the message says what changed", func() bool { return strings.Contains(r.head(), "ci-deploy") })
	r.until("CloudTrail is not asked any more", func() bool { return !r.trail().Open })
	r.until("the thread has all of it", func() bool { return len(r.changes()) == 2 })
	made := time.Date(2026, 11, 20, 14, 41, 9, 0, time.UTC)
	for _, want := range []string{`"Changed"`, fmt.Sprint(made.Unix()), "platform/ci-deploy associated", table, "(AssociateRouteTable)", "through cloudformation", "; more in the thread"} {
		if !strings.Contains(r.head(), want) {
			t.Errorf("the message does not say %q:\n%s", want, r.head())
		}
	}
	// Eve's call came later, and was refused: it is why of nothing.
	early, all := r.changes()[0], r.changes()[1]
	for _, want := range []string{"platform/ci-deploy created", "(CreateSubnet)", "(CreateRouteTable)", "(AssociateRouteTable)"} {
		if !strings.Contains(early, want) || !strings.Contains(all, want) {
			t.Errorf("the thread does not say %q:\n%s\n%s", want, early, all)
		}
	}
	for _, late := range []string{"eve tried CreateRoute", "UnauthorizedOperation"} {
		if strings.Contains(early, late) || !strings.Contains(all, late) || strings.Contains(r.head(), late) {
			t.Errorf("%q is not where it belongs:\n%s\n%s", late, early, all)
		}
	}
	if text := r.head() + early + all; strings.Contains(text, "rtb-0b200000000000abc") {
		t.Errorf("another table is listed:\n%s", text)
	}
	r.nothingLost()
}

// TestDeniedCloudTrailIsNamed holds that the thread says at once which
// permission is missing, and nothing sounds as if there were no changes.
func TestDeniedCloudTrailIsNamed(t *testing.T) { virtual(t, deniedCloudTrailIsNamed) }

func deniedCloudTrailIsNamed(t *testing.T) {
	r := changing(t, 0, simaws.FaultRule{Call: "cloudtrail:LookupEvents", Deny: true})
	r.until("the permission is named", func() bool {
		list := r.changes()
		return len(list) == 1 && strings.Contains(list[0], "cloudtrail:LookupEvents AccessDenied") && strings.Contains(list[0], "There may be more changes")
	})
	if now := r.Clock.Now(); now.After(r.incidents()[0].Opened.Add(4 * time.Minute)) {
		t.Errorf("it was said only at %s", now.Format(time.TimeOnly))
	}
	if text := r.head() + r.changes()[0]; strings.Contains(text, "None") || strings.Contains(text, `"Changed"`) {
		t.Errorf("it sounds as if it had been looked at:\n%s", text)
	}
	if codes := r.lookups(); codes["AccessDeniedException"] != 1 || len(codes) != 1 {
		t.Errorf("answers of CloudTrail by code: %v; want one, and no more of the same look", codes)
	}
	r.nothingLost()
}

// TestThrottledCloudTrailIsAskedLater holds that nothing is said of changes
// while CloudTrail asks to slow down, and that they are there later.
func TestThrottledCloudTrailIsAskedLater(t *testing.T) { virtual(t, throttledCloudTrailIsAskedLater) }

func throttledCloudTrailIsAskedLater(t *testing.T) {
	until := time.Date(2026, 11, 20, 15, 14, 0, 0, time.UTC)
	r := changing(t, 0, simaws.FaultRule{Call: "cloudtrail:LookupEvents", Throttle: 1, Until: until})
	r.until("CloudTrail is asked", func() bool { return r.lookups()["ThrottlingException"] > 0 })
	for r.Clock.Now().Before(until.Add(-time.Minute)) {
		if tr := r.trail(); len(r.changes()) > 0 || tr != nil && !tr.Open {
			t.Fatalf("while it is throttled: %+v, said is %q", tr, r.changes())
		}
		r.pass(20 * time.Second)
	}
	r.until("the message says what changed", func() bool { return strings.Contains(r.head(), "ci-deploy") })
	r.until("the thread has it", func() bool { return len(r.changes()) == 1 })
	if tr := r.trail(); tr.Blind != "" || strings.Contains(r.changes()[0], "throttled") {
		t.Errorf("at %s: %+v", r.Clock.Now().Format(time.TimeOnly), tr)
	}
	r.nothingLost()
}
