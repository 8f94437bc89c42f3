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
	"rollcall/shared/notify/notifytest"
	"rollcall/shared/report"
	"rollcall/shared/snapshot"
	"rollcall/shared/store"
)

func TestRouteStory(t *testing.T) {
	b := newBench(t)
	for _, s := range notifytest.RouteStory() {
		b.must(s.Minute, s.Obs)
	}
	posts := b.channel.Posts()
	if len(posts) != 1 || posts[0].Edits != 3 {
		t.Errorf("posts are %+v, want one with three edits", posts)
	}
	if got := strings.Join(b.channel.Notes(), " "); got != notifytest.AllNotes {
		t.Errorf("the thread has %q, want %q", got, notifytest.AllNotes)
	}
	if got := b.bus.Kinds(); got != "Opened Changed Changed Resolved" {
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
	if strings.Contains(strings.Join(b.channel.Calls, " "), "find") {
		t.Errorf("Slack was searched without need: %q", b.channel.Calls)
	}
	version := inc.Version
	b.must(20, notifytest.Sweep())
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
			launches = append(launches, notifytest.Launch(fmt.Sprintf("i-%03d", i*20+j), 0, report.Waiting))
		}
		list = append(list, notifytest.Failing(launches...))
	}
	b.must(0, list...)
	if diff := cmp.Diff([]string{"post", "reply opened"}, b.channel.Calls); diff != "" {
		t.Errorf("calls of Slack (-want +got):\n%s", diff)
	}
	if got := b.incident().Affected; got != 200 {
		t.Errorf("%d are affected, want 200", got)
	}
	if got := b.channel.Posts()[0].Text; !strings.Contains(got, "200 instances") {
		t.Errorf("the message is %q, want the count in it", got)
	}
}

func TestDuplicates(t *testing.T) {
	b := newBench(t)
	obs := notifytest.Failing(notifytest.Launch(notifytest.Instance1, 0, report.Waiting))
	obs.ID, obs.At = "the same", notifytest.Start
	b.must(0, obs, obs)
	for minute := range 4 {
		b.must(minute, obs)
	}
	if diff := cmp.Diff([]string{"post", "reply opened"}, b.channel.Calls); diff != "" {
		t.Errorf("calls of Slack (-want +got):\n%s", diff)
	}
	if b.bus.Kinds() != "Opened" || b.counts["RepeatedObservations"] != 5 {
		t.Errorf("the bus was told %q; %d repeats counted, want 5", b.bus.Kinds(), b.counts["RepeatedObservations"])
	}
}

// A missing permission is said with its name, and nothing says fine.
func TestDenied(t *testing.T) {
	b := newBench(t)
	obs := notifytest.Observation()
	denied := snapshot.Failure{Source: snapshot.RouteTables, Reason: snapshot.Denied, Call: "ec2:DescribeRouteTables", Code: "UnauthorizedOperation"}
	obs.Blind = []snapshot.Failure{denied}
	obs.Diagnosis.Unknown = []diagnose.Unknown{{Check: "route/no-egress", Covers: []string{notifytest.Subnet}, Blocked: obs.Blind}}
	obs.Launches = []report.Launch{notifytest.Launch(notifytest.Instance1, 0, report.Waiting)}
	b.must(0, obs)
	posts := b.channel.Posts()
	if len(posts) != 1 || !strings.Contains(posts[0].Text, "ec2:DescribeRouteTables") {
		t.Errorf("posts are %+v, want one that names the permission", posts)
	}
}

func TestMalformed(t *testing.T) {
	good, err := json.Marshal(func() report.Observation {
		obs := notifytest.Failing(notifytest.Launch(notifytest.Instance1, 0, report.Waiting))
		obs.ID, obs.At = "good", notifytest.Start
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
			if len(b.channel.Posts()) != 1 || b.counts["MalformedObservations"] != 1 || !strings.Contains(b.log.String(), "cannot be read") {
				t.Errorf("%d posts, %d malformed, log %s", len(b.channel.Posts()), b.counts["MalformedObservations"], b.log)
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
	newer := incident.Incident{Key: report.Key{Cluster: "eks-workshop", Check: "route/no-egress", Resource: notifytest.RouteTable}, Format: report.Format + 1, State: incident.Open}
	if _, err := b.store.SaveIncident(t.Context(), newer); err != nil {
		t.Fatal(err)
	}
	failed, err := b.at(0, notifytest.Failing(notifytest.Launch(notifytest.Instance1, 0, report.Waiting)))
	if err != nil || len(failed) != 1 || len(b.channel.Calls) > 0 {
		t.Errorf("failed %q, %v, Slack %q; want the message to go back and nothing said", failed, err, b.channel.Calls)
	}
	if !strings.Contains(b.log.String(), "newer version") {
		t.Errorf("log is %s", b.log)
	}
}

// One cluster's trouble is not another's.
func TestClustersApart(t *testing.T) {
	b := newBench(t)
	b.Incidents = broken{b.store}
	other := notifytest.Failing(notifytest.Launch(notifytest.Instance1, 0, report.Waiting))
	other.Cluster = "other"
	failed, err := b.at(0, notifytest.Failing(notifytest.Launch(notifytest.Instance1, 0, report.Waiting)), other, notifytest.Failing(notifytest.Launch(notifytest.Instance2, 0, report.Waiting)))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"m0", "m2"}, failed); diff != "" {
		t.Errorf("messages that go back (-want +got):\n%s", diff)
	}
	if len(b.channel.Posts()) != 1 {
		t.Errorf("%d posts, want the other cluster's", len(b.channel.Posts()))
	}
}

type broken struct{ *store.Store }

func (s broken) Incidents(ctx context.Context, cluster string) ([]incident.Incident, error) {
	if cluster == "eks-workshop" {
		return nil, &store.AtLimit{Code: "ProvisionedThroughputExceededException"}
	}
	return s.Store.Incidents(ctx, cluster)
}

// Incidents and summaries of one batch are both said.
func TestSummaryBesideIncidents(t *testing.T) {
	b := newBench(t)
	obs := notifytest.Failing(notifytest.Launch(notifytest.Instance1, 0, report.Waiting))
	obs.ID, obs.At = "x", notifytest.Start
	body, err := json.Marshal(obs)
	if err != nil {
		t.Fatal(err)
	}
	more, err := json.Marshal(notifytest.Daily(31))
	if err != nil {
		t.Fatal(err)
	}
	if failed, err := b.deliverBodies(string(body), string(more), `{"format":101,"kind":"later"}`); err != nil || len(failed) > 0 || len(b.set.messages) != 1 {
		t.Errorf("gave back %q, %v", failed, err)
	}
	if n := len(b.channel.Posts()); n != 2 {
		t.Errorf("%d posts, want the incident and the summary", n)
	}
}
