package command

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"rollcall/local/exit"
	"rollcall/local/result"
	"rollcall/shared/node/outcome"
	"rollcall/shared/report"
)

// one look after the other: what it finds, how launches stand, what went wrong.
type nextLook struct {
	r        result.Result
	launches []report.Launch
	err      error
}

func stands(id string, s outcome.LaunchStatus) report.Launch {
	l := report.Launch{Instance: id, Nodegroup: "workers", Status: s, Started: time.Date(2026, 11, 20, 15, 0, 0, 0, time.UTC)}
	switch s {
	case outcome.Joined:
		l.Ready = l.Started.Add(58 * time.Second)
	case outcome.Gone:
		l.EndedWhy = "Client.UserInitiatedShutdown"
	}
	return l
}

// watched plays looks in a time that passes at once, and gives what was printed.
func watched(t *testing.T, asJSON bool, looks []nextLook, stop int) (out, notes string, status, looked int, took time.Duration, err error) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		var o, n bytes.Buffer
		began := time.Now()
		w := watching{
			subject: "prod", json: asJSON, out: &o, notes: &n,
			now: func() time.Time { return time.Date(2026, 11, 20, 15, 5, 0, 0, time.UTC).Add(time.Since(began)) },
			look: func(ctx context.Context) (result.Result, []report.Launch, error) {
				if looked++; looked == stop {
					cancel()
				}
				l := looks[min(looked, len(looks))-1]
				return l.r, l.launches, l.err
			},
		}
		status, err = w.run(ctx)
		out, notes, took = o.String(), n.String(), time.Since(began)
	})
	return out, notes, status, looked, took, err
}

func faulty() result.Result {
	return result.Result{
		Incidents: []result.Incident{{Cause: "route/no-egress", Confidence: "certain", Cluster: "prod", Nodegroups: []string{"workers"}, Title: "rtb-1 has no route to the internet", Resource: "rtb-1"}},
		Unknown:   []result.Unknown{{Check: "dns/dhcp-options", Resource: "prod", Reason: "denied"}},
	}
}

// What changes is printed, until every instance has joined and nothing is wrong.
func TestWatch(t *testing.T) {
	well := result.Result{Healthy: true}
	out, notes, status, looked, took, err := watched(t, false, []nextLook{
		{r: faulty(), launches: []report.Launch{stands("i-1", outcome.Missed), stands("i-2", outcome.Waiting)}},
		{r: faulty(), launches: []report.Launch{stands("i-1", outcome.Missed), stands("i-2", outcome.Waiting)}},
		{err: errors.New("no network")},
		{r: result.Result{Incidents: []result.Incident{{Cause: "iam/access-missing", Confidence: "likely", Cluster: "prod", Title: "no entry"}}}, launches: []report.Launch{stands("i-1", outcome.Gone), stands("i-2", outcome.Missed), stands("i-3", outcome.Waiting)}},
		{r: well, launches: []report.Launch{stands("i-2", outcome.Joined), stands("i-3", outcome.Waiting)}},
		{r: well, launches: []report.Launch{stands("i-2", outcome.Joined), stands("i-3", outcome.Joined)}},
	}, 0)
	_, changes, _ := strings.Cut(out, "Could not look\n  dns/dhcp-options  prod: denied\n\n")
	want := `15:05:30  + FAULT prod · no entry (iam/access-missing)
15:05:30  - FAULT prod / workers · rtb-1 has no route to the internet (route/no-egress)
15:05:30  - could not look: dns/dhcp-options  prod: denied
15:05:30    i-1 (workers) ended: Client.UserInitiatedShutdown
15:05:30    i-2 (workers) has not joined in its time
15:05:30    i-3 (workers) was launched, and has time left
15:05:40  - FAULT prod · no entry (iam/access-missing)
15:05:40    i-2 (workers) joined, 58s after its launch
15:05:50    i-3 (workers) joined, 58s after its launch
15:05:50  prod: all have joined
`
	if diff := cmp.Diff(want, changes); diff != "" || !strings.HasPrefix(out, "FAULT prod / workers · rtb-1 has no route to the internet\n") {
		t.Errorf("printed %q (-want +got):\n%s", out, diff)
	}
	if notes != "note: 15:05:20: this look failed: no network\n" || status != 0 || err != nil || looked != 6 || took != 5*again {
		t.Errorf("notes %q, status %d, %v, %d looks in %s", notes, status, err, looked, took)
	}
}

// As JSON each look that brought something is a line.
func TestWatchAsJSON(t *testing.T) {
	out, _, status, _, _, err := watched(t, true, []nextLook{
		{r: faulty(), launches: []report.Launch{stands("i-1", outcome.Missed)}}, {r: faulty(), launches: []report.Launch{stands("i-1", outcome.Missed)}}, {r: result.Result{Healthy: true}},
	}, 0)
	lines := strings.Split(strings.TrimSpace(out), "\n")
	if len(lines) != 2 || decoded(t, []byte(lines[0])).Incidents[0].Cause != "route/no-egress" || !decoded(t, []byte(lines[1])).Healthy || status != 0 || err != nil {
		t.Errorf("status %d, %v, printed %q, want two results", status, err, out)
	}
}

// Whoever ends it gets the status of what was seen last; a first look that fails is
// told, and where all is well there is but one.
func TestWatchEnds(t *testing.T) {
	failed := errors.New("no network")
	for name, tt := range map[string]struct {
		looks  []nextLook
		stop   int
		status int
		err    error
		looked int
	}{
		"ended by a person":        {[]nextLook{{r: faulty(), launches: []report.Launch{stands("i-1", outcome.Missed)}}}, 3, 1, nil, 3},
		"before anything was seen": {[]nextLook{{r: faulty()}}, 1, 2, context.Canceled, 1},
		"the first look fails":     {[]nextLook{{err: failed}}, 0, 2, failed, 1},
		"all is well":              {[]nextLook{{r: result.Result{Healthy: true}}}, 0, 0, nil, 1},
		"a fault of no instance":   {[]nextLook{{r: faulty()}}, 2, 1, nil, 2},
		"somebody missed it":       {[]nextLook{{r: result.Result{}, launches: []report.Launch{stands("i-1", outcome.Missed)}}}, 2, 0, nil, 2},
		"somebody is given up":     {[]nextLook{{r: result.Result{}, launches: []report.Launch{stands("i-1", outcome.GivenUp)}}}, 2, 0, nil, 2},
	} {
		t.Run(name, func(t *testing.T) {
			_, _, status, looked, _, err := watched(t, false, tt.looks, tt.stop)
			if status != tt.status || !errors.Is(err, tt.err) || looked != tt.looked {
				t.Errorf("status %d, %v after %d looks, want %d, %v after %d", status, err, looked, tt.status, tt.err, tt.looked)
			}
		})
	}
}

// full is a disk without room.
type full struct{ error }

func (f full) Write([]byte) (int, error) { return 0, f.error }

// What cannot be printed ends it.
func TestWatchThatCannotPrint(t *testing.T) {
	full := full{errors.New("no space left")}
	for _, asJSON := range []bool{false, true} {
		w := watching{json: asJSON, out: full, notes: full, now: time.Now, look: func(context.Context) (result.Result, []report.Launch, error) { return faulty(), nil, nil }}
		if status, err := w.run(t.Context()); !errors.Is(err, full.error) || status != exit.Causes {
			t.Errorf("JSON %v: status %d, %v, want that it could not be printed", asJSON, status, err)
		}
	}
}
