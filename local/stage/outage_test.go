package stage

import (
	"encoding/json"
	"flag"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"rollcall/local/fakeslack"
	"rollcall/local/platform/queue"
	"rollcall/local/testfull"

	"rollcall/shared/report"
)

// The number of incidents, and the page, of "make outage"; a test without them is a
// smaller one, which takes less than a minute. Sixteen incidents open, change and end
// while Slack is away, in each of its clusters, as forty do.
var (
	outageCauses = flag.Int("outage.causes", testfull.Of(40, 16), "how many incidents open while Slack is away")
	outagePage   = flag.String("outage.page", "", "write what was measured into this file, and keep Slack's own limits")
)

// outagePace is how fast the large outage runs while a function works. A minute of a
// function, which knows the wall's alone, is then five of the stage: one less than
// the queue's visibility timeout. Slack's limits are those of the stage's time.
const outagePace = 5

// limited are Slack's own limits: a message a second in a channel and 50 edits a
// minute. Retry-After is at least a second, in which a stage of that pace is owed as
// many messages: they come at once.
func limited(o *Options) {
	o.Slow = outagePace
	o.Slack = fakeslack.Limits{PostsPerSecond: outagePace, PostBurst: outagePace, UpdatesPerMinute: 50 * outagePace, UpdateBurst: outagePace}
}

// TestSlackAwayForAnHour plays the same time several times, for the real report
// and its real queue, table and Slack client: once with Slack there, and with
// Slack away for the first hour. Afterwards the channel is the same.
//
// At its full number it has real programs, and measures the wall's time too, for the
// page; the smaller one calls the functions as Go, in virtual time.
func TestSlackAwayForAnHour(t *testing.T) {
	t.Parallel()
	script := newOutage(*outageCauses, 2, outageLasts+20*time.Minute)
	hows, large := []away{slackIsWell(), slackIsDown()}, *outagePage != ""
	if large {
		script = newOutage(*outageCauses, 6, outageDrains)
		hows = append(hows, slackIsAwayInTurn())
	}
	results := make([]outageResult, len(hows))
	t.Run("play", func(t *testing.T) {
		for i, how := range hows {
			t.Run(how.name, func(t *testing.T) {
				if !large && !testfull.Asked() {
					virtual(t, func(t *testing.T) { results[i] = playOutage(t, start, script, how, large) })
					return
				}
				t.Parallel()
				results[i] = playOutage(t, startReal, script, how, large)
			})
		}
	})
	if t.Failed() {
		return
	}
	well := results[0]
	if well.messages != *outageCauses {
		t.Errorf("%d messages while Slack is well, want %d", well.messages, *outageCauses)
	}
	for i := range results {
		t.Logf("%s: %+v", results[i].how, results[i].tally)
		results[i].compare(t, well)
	}
	if !large {
		return
	}
	old, err := os.ReadFile(*outagePage)
	if err != nil {
		t.Fatal(err)
	}
	text := outageSection(string(old), script, results)
	if t.Failed() { // the page says that all is well
		t.Log(text)
		return
	}
	if err := os.WriteFile(*outagePage, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// compare holds a channel against that of a Slack that was never away.
func (res *outageResult) compare(t *testing.T, well outageResult) {
	res.sameOrder = true
	for cluster, want := range well.channel {
		got := res.channel[cluster]
		if !slices.Equal(subjects(want), subjects(got)) {
			res.sameOrder = false
		}
		for _, subject := range subjects(want) {
			if !slices.Contains(subjects(got), subject) {
				res.lost++
			}
		}
	}
	if diff := cmp.Diff(well.channel, res.channel); diff != "" {
		t.Errorf("%s: the channel is not what it would have been (-well +away):\n%s", res.how, strings.Join(slices.Collect(strings.Lines(diff))[:min(60, strings.Count(diff, "\n"))], ""))
	}
	if res.how != well.how && res.refused < 10 {
		t.Errorf("%s: Slack refused %d calls: it was not away", res.how, res.refused)
	}
	for name, n := range res.invoked.failed {
		t.Errorf("%s: %s failed %d times", res.how, name, n)
	}
	if res.tally.Unseen > 0 && res.how == well.how {
		t.Errorf("%s: %d edits show nothing new", res.how, res.tally.Unseen)
	}
	if res.twice > 0 || res.lost > 0 || !res.sameOrder {
		t.Errorf("%s: %d said twice, %d lost, the same order %t", res.how, res.twice, res.lost, res.sameOrder)
	}
	for cluster, stories := range res.channel {
		if i := slices.IndexFunc(stories, func(story []string) bool { return len(story) == 1 }); i >= 0 {
			t.Errorf("%s: %s: a thread is empty: %s", res.how, cluster, stories[i][0])
		}
	}
}

// playOutage plays the script on a stage of its own, until all is said.
func playOutage(t *testing.T, begin func(*testing.T, string, ...func(*Options)) *running, script outageScript, how away, large bool) outageResult {
	began := time.Now()
	res := outageResult{how: how.name, invoked: newInvocations()}
	r := begin(t, "healthy-nat", func(o *Options) {
		// Nobody else has to do with the clusters, as there are none.
		o.Settings = map[string]string{"ROLLCALL_CLUSTERS": "eks-workshop"}
		o.Observe = res.invoked.observe
		if large {
			limited(o)
		}
	})
	for _, f := range r.Template.Functions {
		if strings.HasSuffix(f.Name, "-report") && !strings.HasSuffix(f.Name, "-spot-report") {
			env := r.environment(f)
			env["ROLLCALL_CLUSTERS"] = "all" // to report they are watched
			if err := r.Runtime.Configure(f.Name, env); err != nil {
				t.Fatal(err)
			}
		}
	}
	start, looks, steps := r.Clock.Now(), script.looks(), how.steps
	open, unsaid := 0, 0
	ask := func() {
		at := r.Clock.Now().Sub(start)
		if open, unsaid = r.unsaid(script.clusters); unsaid == 0 && at >= outageLasts && res.drained == 0 {
			res.drained = at - outageLasts
		}
	}
	tell := func() {
		ask()
		t.Logf("%s: %s of stage time, %d incidents, %d not wholly said, %d messages, %s on the wall", how.name, r.Clock.Now().Sub(start).Round(time.Second), open, unsaid, len(r.messages()), time.Since(began).Round(time.Second))
	}
	for len(looks) > 0 {
		next := looks[0].at
		if len(steps) > 0 {
			next = min(next, steps[0].from)
		}
		for large && next > outageLasts && res.drained == 0 && r.Clock.Until(start.Add(next)) > outageAsk {
			r.pass(outageAsk)
			ask()
		}
		r.pass(r.Clock.Until(start.Add(next)))
		for len(steps) > 0 && steps[0].from <= next {
			if err := r.Slack.Inject(steps[0].fault); err != nil {
				t.Fatal(err)
			}
			steps = steps[1:]
		}
		for len(looks) > 0 && looks[0].at <= next {
			r.observe(script.observed(start, looks[0]))
			looks = looks[1:]
		}
		if next%outageSweep == 0 {
			tell()
		}
	}
	// The last sweep is told of, and what is left is said without another.
	for range 120 {
		r.pass(10 * time.Second)
		if open, unsaid = r.unsaid(script.clusters); unsaid == 0 && r.queued("rollcall-results.fifo") == 0 {
			break
		}
	}
	tell()
	if unsaid > 0 {
		t.Errorf("%d of %d incidents are not wholly said", unsaid, open)
	}
	r.measure(&res, start.Add(outageLasts))
	r.nothingLost()
	res.took = time.Since(began)
	return res
}

func (r *running) observe(o report.Observation) {
	r.t.Helper()
	body, err := json.Marshal(o)
	if err != nil {
		r.t.Fatal(err)
	}
	r.send("rollcall-results.fifo", queue.Outgoing{Body: string(body), Group: o.Cluster, Dedup: o.ID})
}
