package report

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"rollcall/shared/incident"
	"rollcall/shared/notify"
	"rollcall/shared/notify/notifytest"
	"rollcall/shared/report"
	"rollcall/shared/slack/slackapi"
)

// slowly is a Slack that takes a second for each message.
type slowly struct{ *notifytest.Slack }

func (s slowly) Post(ctx context.Context, id string, m slackapi.Message) (string, error) {
	time.Sleep(time.Second)
	return s.Slack.Post(ctx, id, m)
}

func (s slowly) Reply(ctx context.Context, id, thread string, m slackapi.Message) (string, error) {
	time.Sleep(time.Second)
	return s.Slack.Reply(ctx, id, thread, m)
}

// inMinute runs one invocation with two clusters' results, the first with far
// more to say than a minute is long for.
func inMinute(t *testing.T, said notify.Slack, again notify.Again, first, second int) (wrong error) {
	t.Helper()
	table := &notifytest.Table{Items: map[report.Key]notifytest.Record{}}
	h := handler{naming: &naming{}, Notifier: notify.Notifier{
		Incidents: table, Postings: table, Slack: said, Files: &notifytest.Slack{}, Answers: &notifytest.Slack{},
		Bus: notifytest.RefusingBus{}, Clusters: table, Silences: table, Again: again,
		Policy: incident.Policy{ProofTime: time.Hour, ReopenTime: 24 * time.Hour, Channel: "C0123456789"}, Now: time.Now, Log: slog.New(slog.DiscardHandler),
		Count: func(string, int) {},
	}}
	script := newScript(2, first+second)
	for i := range script.faults {
		script.faults[i].cluster = script.clusters[0]
		if i >= first {
			script.faults[i].cluster = script.clusters[1]
		}
	}
	var batch []queued
	for i, cluster := range script.clusters {
		at := 55 * time.Minute
		obs := script.observe(time.Now().Add(-at), at, cluster, true, func(f fault) bool { return true }).obs
		body, err := marshal(obs)
		if err != nil {
			t.Fatal(err)
		}
		batch = append(batch, queued{id: fmt.Sprint(i), group: cluster, body: body})
	}
	if back, err := invoke(t, h, batch); err != nil || len(back) > 0 {
		return fmt.Errorf("%d messages went back", len(back))
	}
	return nil
}

// The backlog of one cluster does not keep another from being heard, what a
// minute is too short for goes on at once, and no call is cut off by its end.
func TestTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var resumed []string
		said := &notifytest.Slack{}
		err := inMinute(t, slowly{said}, notifytest.AgainFunc(func(o report.Observation) error {
			if _, err := report.Decode([]byte(must(marshal(o)))); err != nil {
				t.Errorf("report could not read its own wish: %v", err)
			}
			resumed = append(resumed, o.Cluster)
			return nil
		}), 200, 3)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]string{"cluster-00"}, resumed); diff != "" {
			t.Errorf("goes on with (-want +got):\n%s", diff)
		}
		if !slices.ContainsFunc(said.Posts(), func(m notifytest.Message) bool { return strings.Contains(m.Text, "cluster-01") }) {
			t.Error("the second cluster was not heard")
		}
		for _, call := range said.Calls {
			if call != "post" && call[:5] != "reply" {
				t.Errorf("Slack was asked to %s: nothing was cut off", call)
			}
		}
	})
}

// While Slack does not answer report does not wake itself: it would only call
// in vain; and what was not tried is not marked, or it would be looked for.
func TestNobodyIsWokenInVain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		said := &notifytest.Slack{Fail: notifytest.Down}
		err := inMinute(t, slowly{said}, notifytest.AgainFunc(func(report.Observation) error { return errors.New("woken") }), 40, 3)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]string{"post"}, said.Calls); diff != "" {
			t.Errorf("calls of Slack (-want +got):\n%s", diff)
		}
	})
}

func marshal(o report.Observation) (string, error) {
	body, err := json.Marshal(o)
	return string(body), err
}

func must(text string, err error) string {
	if err != nil {
		panic(err)
	}
	return text
}
