package stage

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"rollcall/local/fakeslack"
	"rollcall/local/platform/lambdaruntime"

	"rollcall/shared/incident"
	"rollcall/shared/store"
)

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
	table := store.New(r.Table.Client(), r.Template.Tables[0].Name).At(r.Clock.Now)
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
