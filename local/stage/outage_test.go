package stage

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"rollcall/local/queue"
	"rollcall/local/slackstand"
	"rollcall/shared/checks"
	"rollcall/shared/diagnose"
	"rollcall/shared/report"
)

// The outage of the stage is small: docs/slack.md has the large one.
const (
	outageCauses = 40
	outageLasts  = time.Hour
	outageSweep  = 5 * time.Minute
)

// brokenTable is a cause of the outage: it begins, and may end, and come back.
type brokenTable struct {
	cluster, table, subnet, instance string
	begins, gone, back               time.Duration
}

func brokenTables() (list []brokenTable) {
	for i := range outageCauses {
		b := brokenTable{
			cluster: fmt.Sprintf("cluster-%02d", i%2), table: fmt.Sprintf("rtb-%017x", i), subnet: fmt.Sprintf("subnet-%017x", i), instance: fmt.Sprintf("i-%017x", i),
			begins: time.Duration(i+1) * 75 * time.Second, gone: 100 * time.Hour, back: 100 * time.Hour,
		}
		switch i % 4 {
		case 1:
			b.gone = b.begins + 12*time.Minute
		case 2:
			b.gone, b.back = b.begins+12*time.Minute, b.begins+32*time.Minute
		case 3:
			b.gone = outageLasts + 12*time.Minute
		}
		list = append(list, b)
	}
	return list
}

// observed is what join-check sees at a time: all of a cluster in a sweep, else
// the one that begins then.
func observed(start time.Time, at time.Duration, cluster string, sweep bool) report.Observation {
	o := report.Observation{
		Format: report.Format, ID: fmt.Sprint(cluster, "/", at, "/", sweep), By: "join-check", At: start.Add(at), Sweep: sweep,
		Account: "111122223333", Region: "us-west-2", Partition: "aws", Cluster: cluster,
	}
	for _, b := range brokenTables() {
		if b.cluster != cluster || at < b.begins || !sweep && at != b.begins {
			continue
		}
		if at >= b.gone && at < b.back {
			o.Diagnosis.Passed = append(o.Diagnosis.Passed, diagnose.Passed{Check: "route/no-egress", Covers: []string{b.subnet}})
			continue
		}
		l := report.Launch{Instance: b.instance, Nodegroup: "workers", Group: "eks-workers", Subnet: b.subnet, Zone: "us-west-2a", Type: "m5.large", Started: start.Add(b.begins), Standing: report.Waiting}
		since := b.begins
		if at >= b.back {
			l.Instance, l.Started, since = "i-b"+b.instance[3:], start.Add(b.back), b.back
		}
		if at >= since+outageSweep {
			l.Standing = report.Missed
		}
		o.Launches = append(o.Launches, l)
		o.Diagnosis.Causes = append(o.Diagnosis.Causes, diagnose.Cause{
			Check: "route/no-egress", Confidence: checks.Certain, Resource: b.table, Covers: []string{b.subnet}, Nodegroups: []string{"workers"},
			Title: b.subnet + " has no way out", Why: b.table + " has only 10.42.0.0/16 → local.", Instances: []string{l.Instance},
		})
	}
	return o
}

// tell sends to each stage all that is seen until a time after the outage.
func tell(stages ...*running) {
	const step = 75 * time.Second
	var starts []time.Time
	for _, r := range stages {
		starts = append(starts, r.Clock.Now())
	}
	for n := 1; time.Duration(n)*step <= outageLasts+20*time.Minute; n++ {
		at := time.Duration(n) * step
		for i, r := range stages {
			r.pass(r.Clock.Until(starts[i].Add(at)))
			if n <= outageCauses {
				r.observe(observed(starts[i], at, brokenTables()[n-1].cluster, false))
			}
			if at%outageSweep == 0 {
				r.observe(observed(starts[i], at, "cluster-00", true))
				r.observe(observed(starts[i], at, "cluster-01", true))
			}
		}
	}
}

func (r *running) observe(o report.Observation) {
	r.t.Helper()
	body, err := json.Marshal(o)
	if err != nil {
		r.t.Fatal(err)
	}
	r.send("rollcall-results.fifo", queue.Outgoing{Body: string(body), Group: o.Cluster, Dedup: o.ID})
}

// said is the channel as a reader sees it, times aside: each cluster's
// messages in their order, each with its thread.
func (r *running) said() map[string][][]string {
	when := regexp.MustCompile(`"block_id":"[^"]*"|<!date[^>]*>|\d+:\d\d(:\d\d)?|"fallback":"[^"]*"|"timestamp":\d+|\d+ (s|min|h)\b|\d{10}(\.\d+)?`)
	plain := func(m slackstand.Message) string { return when.ReplaceAllString(m.Text+string(m.Blocks), "T") }
	cluster := regexp.MustCompile(`cluster-\d\d`)
	all := map[string][][]string{}
	for _, m := range r.messages() {
		story := []string{plain(m)}
		for _, reply := range m.Replies {
			story = append(story, plain(reply))
		}
		of := cluster.FindString(m.Text)
		all[of] = append(all[of], story)
	}
	return all
}

// TestSlackAwayForAnHour plays the same 80 minutes twice, for the real
// report and its real queue, table and Slack client: once with Slack there, once
// with Slack away for the first hour. Afterwards the channel is the same.
func TestSlackAwayForAnHour(t *testing.T) {
	t.Parallel()
	hour := func(o *Options) {
		// Nobody else has to do with the clusters, as there are none.
		o.Settings = map[string]string{"ROLLCALL_CLUSTERS": "eks-workshop"}
	}
	well, away := start(t, "healthy-nat", hour), start(t, "healthy-nat", hour)
	for _, f := range []slackstand.Fault{
		{Method: "chat.postMessage", Reset: true, Applied: true, Times: 1}, // taken, and the answer lost
		{Method: "chat.*", Status: 503, For: outageLasts},
	} {
		if err := away.Slack.Inject(f); err != nil {
			t.Fatal(err)
		}
	}
	tell(well, away)
	diff := ""
	for range 120 {
		well.pass(10 * time.Second)
		away.pass(10 * time.Second)
		if diff = cmp.Diff(well.said(), away.said()); diff == "" && len(well.messages()) == outageCauses {
			break
		}
	}
	if diff != "" {
		t.Errorf("the channel is not what it would have been (-well +away):\n%s", strings.Join(slices.Collect(strings.Lines(diff))[:min(60, strings.Count(diff, "\n"))], ""))
	}
	if n := len(well.messages()); n != outageCauses {
		t.Errorf("%d messages while Slack is well, want %d", n, outageCauses)
	}
	refused := 0
	for _, c := range away.Slack.Calls() {
		if c.Fault != "" {
			refused++
		}
	}
	if refused < 10 {
		t.Errorf("Slack refused %d calls: it was not away", refused)
	}
	for _, r := range []*running{well, away} {
		for of, stories := range r.said() {
			for _, story := range stories {
				if replies := story[1:]; len(replies) == 0 || len(slices.Compact(slices.Sorted(slices.Values(replies)))) != len(replies) {
					t.Errorf("%s: a thread that is empty, or says a thing twice: %q", of, replies)
				}
			}
		}
		r.nothingLost()
	}
}
