package stage

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"rollcall/shared/checks/finding"
	"rollcall/shared/diagnosis"
	"rollcall/shared/incident"
	"rollcall/shared/report"
	"rollcall/shared/store"
	"rollcall/stage/fakeslack"
	"rollcall/stage/platform/lambdaruntime"
	"rollcall/stage/platform/queue"
	"rollcall/tools/testfull"
)

// The number of incidents, and the page, of ".ci/run outage"; a test without them is a
// smaller one, which takes less than a minute. Sixteen incidents open, change and end
// while Slack is away, in each of its clusters, as forty do.
var (
	outageCauses = flag.Int("outage.causes", testfull.Count(40, 16), "how many incidents open while Slack is away")
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
		// No other owner has to do with the clusters, as there are none.
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
	start, looks, steps := r.Clock.Now(), script.lookList(), how.steps
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
	// The last sweep is reported, and what is left is posted without another.
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

// said is the channel as a reader sees it, times aside: each cluster's
// messages in their order, each with its thread.
func (r *running) said() map[string][][]string {
	when := regexp.MustCompile(`"block_id":"[^"]*"|<!date[^>]*>|\d+:\d\d(:\d\d)?|"fallback":"[^"]*"|"timestamp":\d+|\d+ (s|min|h)\b|\b\d{10}(\.\d+)?\b`)
	plain := func(m fakeslack.Message) string { return when.ReplaceAllString(m.Text+string(m.Blocks), "T") }
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

// subjects are the subnets of a cluster's messages, in their order.
func subjects(stories [][]string) (list []string) {
	subnet := regexp.MustCompile(`subnet-[0-9a-f]{17}`)
	for _, story := range stories {
		list = append(list, subnet.FindString(story[0]))
	}
	return list
}

// invocations counts what the functions were woken for.
type invocations struct {
	mu     sync.Mutex
	counts map[string]int
	memory map[string]int // MB, the largest
	failed map[string]int
}

func newInvocations() *invocations {
	return &invocations{counts: map[string]int{}, memory: map[string]int{}, failed: map[string]int{}}
}

func (n *invocations) observe(i lambdaruntime.Invocation) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.counts[i.Function]++
	n.memory[i.Function] = max(n.memory[i.Function], i.Result.MaxMemoryMB)
	if i.Result.FunctionError != "" {
		n.failed[i.Function]++
	}
}

// outageResult is what one run came to.
type outageResult struct {
	how      string
	channel  map[string][][]string
	messages int
	replies  int
	edits    int
	searches int
	// refused are the calls that the outage answered, limited those over Slack's limits.
	refused, limited int
	tally            fakeslack.Tally
	twice, lost      int
	sameOrder        bool
	drained          time.Duration // from the end of the outage
	backlog          int           // messages and replies that Slack took until then
	dead             int
	invoked          *invocations
	sizes            map[string]int // the functions' memory, MB
	took             time.Duration  // on the wall
}

// measure reads what the run came to off the stage's records; back is when Slack
// was there again.
func (r *running) measure(res *outageResult, back time.Time) {
	res.channel = r.said()
	res.tally = fakeslack.TallyOf(r.Slack.Messages(Channel))
	for _, stories := range res.channel {
		known := map[string]bool{}
		for i, subject := range subjects(stories) {
			if known[subject] {
				res.twice++
			}
			known[subject] = true
			replies := stories[i][1:]
			res.messages, res.replies = res.messages+1, res.replies+len(replies)
			res.twice += len(replies) - len(slices.Compact(slices.Sorted(slices.Values(replies))))
		}
	}
	for _, c := range r.Slack.Calls() {
		if c.Method == "chat.postMessage" && c.TS != "" && !c.Stage.Before(back) && c.Stage.Before(back.Add(res.drained)) {
			res.backlog++
		}
		switch {
		case c.Status == 429 && c.Fault == "":
			res.limited++
		case c.Fault != "" && !strings.HasPrefix(c.Fault, "latency"):
			res.refused++
		case c.Method == "chat.update" && c.Error == "":
			res.edits++
		case strings.HasPrefix(c.Method, "conversations."):
			res.searches++
		}
	}
	res.sizes = map[string]int{}
	for _, f := range r.Template.Functions {
		res.sizes[f.Name] = f.Memory
	}
	for _, q := range r.Template.Queues {
		if strings.Contains(q.Name, "dead") || strings.Contains(q.Name, "failed") {
			res.dead += r.queued(q.Name)
		}
	}
}

// unsaid is how many incidents have something that Slack was not told.
func (r *running) unsaid(clusters int) (open, n int) {
	r.t.Helper()
	table := store.New(r.Table.Client(), r.Template.Tables[0].Name).WithClock(r.Clock.Now)
	for c := range clusters {
		list, err := table.Incidents(context.Background(), fmt.Sprintf("cluster-%02d", c))
		if err != nil {
			r.t.Fatal(err)
		}
		open += len(list)
		for _, inc := range list {
			note := slices.ContainsFunc(inc.Delivery.Notes, func(n incident.Note) bool { return n.TS == "" })
			if inc.Number > 0 && (inc.Delivery.TS == "" || inc.Delivery.Dirty || note) {
				n++
			}
		}
	}
	return open, n
}

// outageHeading begins the stage's part of docs/slack.md, which is its last.
const outageHeading = "## Played by the real programs\n"

// outageSection is the page with what the stage measured in place of what it had
// measured before.
func outageSection(page string, script outageScript, results []outageResult) string {
	page, _, _ = strings.Cut(page, outageHeading)
	var b strings.Builder
	fmt.Fprintf(&b, `%s
%s
The functions' own binaries, their queues, the table, the bus and the Slack client play %d incidents in %d clusters on the local stage: the same mix, which starts in the first 50 minutes, with a sweep of each cluster every five minutes until %s. Slack is down for the first hour: it accepts a message and loses the response, then answers 503; or, a quarter of an hour each and in turn, it answers 503, answers 429 with Retry-After: 300, accepts a message and resets the connection, and takes 15 seconds to answer. Functions run in real time: a minute of a function is a minute of the clock, in which five minutes of stage time pass. Slack's limits apply in stage time: one message a second, 50 edits a minute.

Afterwards the channel is the same as that of a Slack that was never down, times aside.

| Slack | messages | replies | edits | searches | refused or not answered | over Slack's limits | posted twice | lost | order | complete after | at one a second | dead letters |
|---|---|---|---|---|---|---|---|---|---|---|---|---|
`, strings.TrimRight(page, "\n")+"\n", outageHeading, len(script.tables), script.clusters, hours(script.ends))
	for _, r := range results {
		drained, least, order := "at once", "", "the same"
		if r.refused > 0 {
			// It is asked about every half a minute.
			drained, least = r.drained.Round(10*time.Second).String(), (time.Duration(r.backlog) * time.Second).String()
		}
		if !r.sameOrder {
			order = "another"
		}
		fmt.Fprintf(&b, "| %s | %d | %d | %d | %d | %d | %d | %d | %d | %s | %s | %s | %d |\n", r.how, r.messages, r.replies, r.edits, r.searches, r.refused, r.limited, r.twice, r.lost, order, drained, least, r.dead)
	}
	b.WriteString("\nMessages and replies are those of the whole run. \"At one a second\" is the time that Slack's limit alone requires for those posted from the end of the outage until nothing was left.\n")
	b.WriteString("\n| function | memory, MB | most of it used, MB | failed |")
	for _, r := range results {
		fmt.Fprintf(&b, " invocations, %s |", r.how)
	}
	b.WriteString("\n|---|---|---|---|" + strings.Repeat("---|", len(results)) + "\n")
	for _, name := range woken(results) {
		most, failed, invoked := 0, 0, ""
		for _, r := range results {
			most, failed = max(most, r.invoked.memory[name]), failed+r.invoked.failed[name]
			invoked += fmt.Sprintf(" %d |", r.invoked.counts[name])
		}
		fmt.Fprintf(&b, "| %s | %d | %d | %d |%s\n", strings.TrimPrefix(name, "rollcall-"), results[0].sizes[name], most, failed, invoked)
	}
	return b.String()
}

// woken are the functions that ran.
func woken(results []outageResult) []string {
	names := map[string]bool{}
	for _, r := range results {
		for name := range r.invoked.counts {
			names[name] = true
		}
	}
	return slices.Sorted(maps.Keys(names))
}

// hours is a time of the script, as the stage's clock shows it from zero.
func hours(d time.Duration) string {
	return fmt.Sprintf("%d:%02d", int(d.Hours()), int(d.Minutes())%60)
}

const (
	outageLasts  = time.Hour
	outageOpens  = 50 * time.Minute // in which all causes begin
	outageSweep  = 5 * time.Minute
	outageAsk    = 30 * time.Second // between two looks at what is unsaid
	outageDrains = 2 * time.Hour    // until when what was unsaid has at most to be said
)

// outageScript is what happens: causes that begin, and may end and come back, in
// clusters that are swept every five minutes.
type outageScript struct {
	clusters int
	tables   []brokenTable
	ends     time.Duration // of the sweeps
}

// brokenTable is one cause.
type brokenTable struct {
	cluster, table, subnet, instance string
	begins, gone, back               time.Duration
}

func newOutage(causes, clusters int, ends time.Duration) outageScript {
	s := outageScript{clusters: clusters, ends: ends}
	for i := range causes {
		b := brokenTable{
			cluster: fmt.Sprintf("cluster-%02d", i%clusters), table: fmt.Sprintf("rtb-%017x", i), subnet: fmt.Sprintf("subnet-%017x", i), instance: fmt.Sprintf("i-%017x", i),
			begins: time.Duration(i+1) * outageOpens / time.Duration(causes), gone: 100 * time.Hour, back: 100 * time.Hour,
		}
		switch i % 4 {
		case 1:
			b.gone = b.begins + 12*time.Minute
		case 2:
			b.gone, b.back = b.begins+12*time.Minute, b.begins+32*time.Minute
		case 3:
			b.gone = outageLasts + 12*time.Minute
		}
		s.tables = append(s.tables, b)
	}
	return s
}

// look is one of join-check's: all of a cluster in a sweep, else the one cause that
// begins then.
type look struct {
	at      time.Duration
	cluster string
	sweep   bool
}

func (s outageScript) lookList() (list []look) {
	for _, b := range s.tables {
		list = append(list, look{b.begins, b.cluster, false})
	}
	for at := outageSweep; at <= s.ends; at += outageSweep {
		for c := range s.clusters {
			list = append(list, look{at, fmt.Sprintf("cluster-%02d", c), true})
		}
	}
	slices.SortStableFunc(list, func(a, b look) int { return int(a.at - b.at) })
	return list
}

// observed is what a look sees.
func (s outageScript) observed(start time.Time, l look) report.Observation {
	o := report.Observation{
		Format: report.Format, ID: fmt.Sprint(l.cluster, "/", l.at, "/", l.sweep), By: "join-check", At: start.Add(l.at), Sweep: l.sweep,
		Account: "111122223333", Region: "us-west-2", Partition: "aws", Cluster: l.cluster,
	}
	for _, b := range s.tables {
		if b.cluster != l.cluster || l.at < b.begins || !l.sweep && l.at != b.begins {
			continue
		}
		if l.at >= b.gone && l.at < b.back {
			o.Diagnosis.Passed = append(o.Diagnosis.Passed, diagnosis.Passed{Check: "route/no-egress", Covers: []string{b.subnet}})
			continue
		}
		launch := report.Launch{Instance: b.instance, Nodegroup: "workers", Group: "eks-workers", Subnet: b.subnet, Zone: "us-west-2a", Type: "m5.large", Started: start.Add(b.begins), Status: report.Waiting}
		since := b.begins
		if l.at >= b.back {
			launch.Instance, launch.Started, since = "i-b"+b.instance[3:], start.Add(b.back), b.back
		}
		if l.at >= since+outageSweep {
			launch.Status = report.Missed
		}
		o.Launches = append(o.Launches, launch)
		o.Diagnosis.Causes = append(o.Diagnosis.Causes, diagnosis.Cause{
			Check: "route/no-egress", Confidence: finding.Certain, Resource: b.table, Covers: []string{b.subnet}, Nodegroups: []string{"workers"},
			Title: b.subnet + " has no route to the internet", Why: b.table + " has only 10.42.0.0/16 → local.", Instances: []string{launch.Instance},
		})
	}
	return o
}

// away is how Slack is away.
type away struct {
	name  string
	steps []awayStep
}

type awayStep struct {
	from  time.Duration
	fault fakeslack.Fault
}

func slackIsWell() away { return away{name: "well"} }

// slackIsDown takes one message and loses the answer, then answers 503.
func slackIsDown() away {
	return away{"503", []awayStep{
		{0, fakeslack.Fault{Method: "chat.postMessage", Reset: true, Applied: true, Times: 1}},
		{0, fakeslack.Fault{Status: 503, For: outageLasts}},
	}}
}

// slackIsAwayInTurn is away in four ways, a quarter of the hour each.
func slackIsAwayInTurn() away {
	const quarter = outageLasts / 4
	return away{"in turn", []awayStep{
		{0, fakeslack.Fault{Status: 503, For: quarter}},
		// Longer than a function's turn, on any clock.
		{quarter, fakeslack.Fault{RetryAfter: 5 * time.Minute, For: quarter}},
		{2 * quarter, fakeslack.Fault{Method: "chat.*", Reset: true, Applied: true, For: quarter}},
		{3 * quarter, fakeslack.Fault{Latency: 15 * time.Second, For: quarter}},
	}}
}
