package report

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"rollcall/shared/diagnose"
	"rollcall/shared/event"
	"rollcall/shared/incident"
	"rollcall/shared/report"
	"rollcall/shared/snapshot"
	"rollcall/shared/store"
)

func TestRouteStory(t *testing.T) {
	b := newBench(t)
	for _, s := range routeStory() {
		b.must(s.minute, s.obs)
	}
	posts := b.channel.posts()
	if len(posts) != 1 || posts[0].edits != 3 {
		t.Errorf("posts are %+v, want one with three edits", posts)
	}
	if got := strings.Join(b.channel.notes(), " "); got != allNotes {
		t.Errorf("the thread has %q, want %q", got, allNotes)
	}
	if got := b.bus.kinds(); got != "Opened Changed Changed Resolved" {
		t.Errorf("the bus was told %q", got)
	}
	inc := b.incident()
	if inc.State != incident.Closed || inc.Resolution != incident.Proved || inc.Delivery.Dirty || len(inc.PendingEvents) > 0 {
		t.Errorf("the record is %q, %q, behind %v, %d untold", inc.State, inc.Resolution, inc.Delivery.Dirty, len(inc.PendingEvents))
	}
	for _, n := range inc.Delivery.Notes {
		if n.TS == "" || n.Then != nil || !n.Sending.IsZero() {
			t.Errorf("note %q is kept as %+v", n.ID, n)
		}
	}
	if strings.Contains(strings.Join(b.channel.calls, " "), "find") {
		t.Errorf("Slack was searched without need: %q", b.channel.calls)
	}
	version := inc.Version
	b.must(20, sweep())
	if got := b.incident().Version; got != version {
		t.Errorf("a quiet sweep wrote the record: version %d, was %d", got, version)
	}
}

// One batch says once what its observations come to.
func TestOneBatch(t *testing.T) {
	b := newBench(t)
	var list []report.Observation
	for i := range 10 {
		var launches []report.Launch
		for j := range 20 {
			launches = append(launches, launch(fmt.Sprintf("i-%03d", i*20+j), 0, report.Waiting))
		}
		list = append(list, failing(launches...))
	}
	b.must(0, list...)
	if diff := cmp.Diff([]string{"post", "reply opened"}, b.channel.calls); diff != "" {
		t.Errorf("calls of Slack (-want +got):\n%s", diff)
	}
	if got := b.incident().Affected; got != 200 {
		t.Errorf("%d are affected, want 200", got)
	}
	if got := b.channel.posts()[0].text; !strings.Contains(got, "200 instances") {
		t.Errorf("the message is %q, want the count in it", got)
	}
}

func TestDuplicates(t *testing.T) {
	b := newBench(t)
	obs := failing(launch(i1, 0, report.Waiting))
	obs.ID, obs.At = "the same", start
	b.must(0, obs, obs)
	for minute := range 4 {
		b.must(minute, obs)
	}
	if diff := cmp.Diff([]string{"post", "reply opened"}, b.channel.calls); diff != "" {
		t.Errorf("calls of Slack (-want +got):\n%s", diff)
	}
	if b.bus.kinds() != "Opened" || b.counts["RepeatedObservations"] != 5 {
		t.Errorf("the bus was told %q; %d repeats counted, want 5", b.bus.kinds(), b.counts["RepeatedObservations"])
	}
}

// A missing permission is said with its name, and nothing says fine.
func TestDenied(t *testing.T) {
	b := newBench(t)
	obs := observation()
	denied := snapshot.Failure{Source: snapshot.RouteTables, Reason: snapshot.Denied, Call: "ec2:DescribeRouteTables", Code: "UnauthorizedOperation"}
	obs.Blind = []snapshot.Failure{denied}
	obs.Diagnosis.Unknown = []diagnose.Unknown{{Check: "route/no-egress", Covers: []string{subnet}, Blocked: obs.Blind}}
	obs.Launches = []report.Launch{launch(i1, 0, report.Waiting)}
	b.must(0, obs)
	posts := b.channel.posts()
	if len(posts) != 1 || !strings.Contains(posts[0].text, "ec2:DescribeRouteTables") {
		t.Errorf("posts are %+v, want one that names the permission", posts)
	}
}

func TestMalformed(t *testing.T) {
	good, err := json.Marshal(func() report.Observation {
		obs := failing(launch(i1, 0, report.Waiting))
		obs.ID, obs.At = "good", start
		return obs
	}())
	if err != nil {
		t.Fatal(err)
	}
	for name, bad := range map[string]string{
		"not JSON":        `{`,
		"foreign":         `{"version":"0","source":"aws.ec2"}`,
		"a newer format":  `{"format":99,"id":"x","cluster":"eks-workshop","at":"2026-11-20T14:59:00Z"}`,
		"nothing at all":  ``,
		"not an object":   `[1]`,
		"without cluster": `{"format":1,"id":"x","at":"2026-11-20T14:59:00Z"}`,
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			failed, err := b.deliverBodies(bad, string(good))
			if err != nil {
				t.Fatal(err)
			}
			if len(failed) > 0 {
				t.Errorf("%q go back: their group would wait for them", failed)
			}
			want := []event.Message{{ID: "m0", Body: bad, Received: 1, Group: "eks-workshop"}}
			if diff := cmp.Diff(want, b.set.messages); diff != "" || b.set.reasons[0] == "" {
				t.Errorf("set aside for %q (-want +got):\n%s", b.set.reasons, diff)
			}
			// What cannot be set aside is not lost: it goes back, and it alone.
			b.set.fail = errors.New("no queue")
			if failed, err = b.deliverBodies(bad, string(good)); err != nil || !slices.Equal(failed, []string{"m0"}) {
				t.Errorf("gave back %q, %v; want the one that could not be set aside", failed, err)
			}
			b.counts["MalformedObservations"]--
			if len(b.channel.posts()) != 1 || b.counts["MalformedObservations"] != 1 || !strings.Contains(b.log.String(), "cannot be read") {
				t.Errorf("%d posts, %d malformed, log %s", len(b.channel.posts()), b.counts["MalformedObservations"], b.log)
			}
		})
	}
	b := newBench(t)
	if _, err := b.handle(t.Context(), json.RawMessage(`{"detail-type":"Scheduled Event"}`)); !errors.Is(err, errNoBatch) {
		t.Errorf("an event that is no batch gave %v", err)
	}
}

// A record of a newer version is left alone, and its observations wait.
func TestNewerRecord(t *testing.T) {
	b := newBench(t)
	newer := incident.Incident{Key: report.Key{Cluster: "eks-workshop", Check: "route/no-egress", Resource: table}, Format: report.Format + 1, State: incident.Open}
	if _, err := b.store.SaveIncident(t.Context(), newer); err != nil {
		t.Fatal(err)
	}
	failed, err := b.at(0, failing(launch(i1, 0, report.Waiting)))
	if err != nil || len(failed) != 1 || len(b.channel.calls) > 0 {
		t.Errorf("failed %q, %v, Slack %q; want the message to go back and nothing said", failed, err, b.channel.calls)
	}
	if !strings.Contains(b.log.String(), "newer version") {
		t.Errorf("log is %s", b.log)
	}
}

// One cluster's trouble is not another's.
func TestClustersApart(t *testing.T) {
	b := newBench(t)
	b.incidents = broken{b.store}
	other := failing(launch(i1, 0, report.Waiting))
	other.Cluster = "other"
	failed, err := b.at(0, failing(launch(i1, 0, report.Waiting)), other, failing(launch(i2, 0, report.Waiting)))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"m0", "m2"}, failed); diff != "" {
		t.Errorf("messages that go back (-want +got):\n%s", diff)
	}
	if len(b.channel.posts()) != 1 {
		t.Errorf("%d posts, want the other cluster's", len(b.channel.posts()))
	}
}

type broken struct{ *store.Store }

func (s broken) Incidents(ctx context.Context, cluster string) ([]incident.Incident, error) {
	if cluster == "eks-workshop" {
		return nil, &store.AtLimit{Code: "ProvisionedThroughputExceededException"}
	}
	return s.Store.Incidents(ctx, cluster)
}
