package stage

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	"github.com/aws/aws-sdk-go-v2/service/eks/types"

	"rollcall/local/binaries"
	"rollcall/local/fakeslack"
	"rollcall/local/messagecheck"
	"rollcall/local/programs"

	"rollcall/shared/incident"
	"rollcall/shared/store"
)

// built builds the functions as they are deployed, but for this machine.
var built = sync.OnceValues(func() (string, error) { return binaries.Build("../..") })

// running is a stage under test. The test itself is work: the stage's time runs
// fast only in until and pass, so that a test misses nothing on a slow machine.
type running struct {
	*Stage
	t    *testing.T
	out  *logs
	rest func() // lets the time run
}

// logs keeps what the functions wrote.
type logs struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *logs) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *logs) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// virtual runs a test in a time of its own, which passes at once while nobody works.
func virtual(t *testing.T, test func(t *testing.T)) {
	t.Helper()
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		// A bubble begins in the year 2000, whose Unix times have nine digits: Slack's
		// signatures have ten.
		time.Sleep(time.Until(time.Date(2026, 11, 20, 15, 0, 0, 0, time.UTC)))
		test(t)
	})
}

// inBubble tells whether the time is virtual here: Wait panics where it is not.
func inBubble() (is bool) {
	defer func() { is = recover() == nil }()
	synctest.Wait()
	return true
}

// TestInBubble is why start refuses to be called where time is real.
func TestInBubble(t *testing.T) {
	if inBubble() {
		t.Error("a test is in a bubble of its own accord")
	}
	synctest.Test(t, func(t *testing.T) {
		if !inBubble() {
			t.Error("within synctest.Test it is not in a bubble")
		}
	})
}

// inTime is virtual for subtests.
func inTime(test func(t *testing.T)) func(t *testing.T) {
	return func(t *testing.T) { virtual(t, test) }
}

// start starts a stage for a world of local/worlds, within virtual: its functions are
// called as Go.
func start(t *testing.T, name string, change ...func(*Options)) *running {
	t.Helper()
	if !inBubble() {
		t.Fatal("start is for tests within virtual: hours of its time would be hours of the wall's here")
	}
	// Of virtual time there is enough: where it ran faster than the functions' own, a
	// second's wait for a retry were ten minutes of a queue, whose message came again
	// while the first was worked on, and so without end.
	asItIs := func(o *Options) {
		if o.Rate != 1 {
			t.Fatalf("virtual time at %v times its pace", o.Rate)
		}
	}
	return startWith(t, Options{World: "../worlds/" + name + ".yaml", Rate: 1, Programs: programs.All()}, append(change, asItIs))
}

// startReal starts a stage whose functions are the binaries that are deployed, each a
// process, in a time that runs faster than the wall's.
func startReal(t *testing.T, name string, change ...func(*Options)) *running {
	t.Helper()
	dir, err := built()
	if err != nil {
		t.Fatal(err)
	}
	return startWith(t, Options{World: "../worlds/" + name + ".yaml", Binaries: dir, Rate: 300, Slow: 20}, change)
}

func startWith(t *testing.T, o Options, change []func(*Options)) *running {
	t.Helper()
	out := &logs{}
	o.Template, o.Out, o.Log = "../../infra/Rollcall.template.json", out, slog.New(slog.NewTextHandler(out, nil))
	for _, c := range change {
		c(&o)
	}
	s, err := Start(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	r := &running{s, t, out, s.Clock.Work()}
	t.Cleanup(func() {
		s.Close()
		for _, c := range s.Cloud.Calls() {
			if c.Misfit != "" {
				t.Errorf("%s sent %s a request that AWS refuses: %s", c.Caller, c.Action(), c.Misfit)
			}
		}
		r.consistent()
		if t.Failed() || os.Getenv("STAGELOG") != "" {
			text := out.String()
			if len(text) > 400_000 {
				text = "…" + text[len(text)-400_000:]
			}
			t.Logf("the functions' logs:\n%s", text)
		}
	})
	return r
}

// consistent holds that no message that was ever posted or edited to, in whichever test,
// says one thing against another.
func (r *running) consistent() {
	r.t.Helper()
	for _, c := range r.Slack.Calls() {
		if c.Method != "chat.postMessage" && c.Method != "chat.update" || c.Params["blocks"] == "" {
			continue
		}
		found, err := messagecheck.Contradictions([]byte(c.Params["blocks"]), c.Params["thread_ts"] != "")
		if errors.Is(err, messagecheck.ErrUnread) {
			r.t.Error(err)
		}
		if err != nil {
			continue // what is no block the stand-in refuses
		}
		for _, says := range found {
			r.t.Errorf("a message says one thing against another: %s\n%s", says, c.Params["text"])
		}
	}
}

// scale sets the desired size of the route story's new nodegroup.
func (r *running) scale(desired, most int32) {
	r.t.Helper()
	_, err := eks.NewFromConfig(r.AsAdmin()).UpdateNodegroupConfig(context.Background(), &eks.UpdateNodegroupConfigInput{
		ClusterName: aws.String("eks-workshop"), NodegroupName: aws.String("new_nodegroup_2"),
		ScalingConfig: &types.NodegroupScalingConfig{MinSize: aws.Int32(0), MaxSize: aws.Int32(most), DesiredSize: aws.Int32(desired)},
	})
	if err != nil {
		r.t.Fatal(err)
	}
}

// until waits until something is so: for hours of a virtual time, and of the wall's
// with much to spare.
func (r *running) until(what string, seen func() bool) {
	r.t.Helper()
	deadline, step := time.Now().Add(4*time.Minute), 10*time.Millisecond
	if r.network != nil {
		deadline, step = time.Now().Add(6*time.Hour), 5*time.Second
	}
	for {
		rest := r.Clock.Work()
		r.rest()
		if r.rest = rest; seen() {
			return
		}
		if time.Now().After(deadline) {
			r.t.Fatalf("%s: not seen by %s of stage time", what, r.Clock.Now().Format(time.TimeOnly))
		}
		r.rest()
		time.Sleep(step)
	}
}

// pass lets a span of stage time go by.
func (r *running) pass(d time.Duration) {
	r.t.Helper()
	r.rest()
	defer func() { r.rest = r.Clock.Work() }()
	if err := r.Clock.Sleep(context.Background(), d); err != nil {
		r.t.Fatal(err)
	}
}

// messages are the channel's messages.
func (r *running) messages() []fakeslack.Message {
	return slices.DeleteFunc(r.Slack.Messages(Channel), func(m fakeslack.Message) bool { return m.ThreadTS != "" })
}

// says tells whether there is one message, with all of the texts in it.
func (r *running) says(texts ...string) func() bool {
	return func() bool {
		m := r.messages()
		if len(m) != 1 {
			return false
		}
		all := whole(m[0])
		for _, text := range texts {
			if !strings.Contains(all, text) {
				return false
			}
		}
		return true
	}
}

// whole is all that a message says.
func whole(m fakeslack.Message) string {
	all := m.Text + "\n" + string(m.Blocks)
	for _, reply := range m.Replies {
		all += "\n" + reply.Text + "\n" + string(reply.Blocks)
	}
	return strings.ReplaceAll(all, `\u003e`, ">")
}

// incidents are the incidents of the workshop's cluster.
func (r *running) incidents() []incident.Incident {
	r.t.Helper()
	table := store.New(r.Table.Client(), r.Template.Tables[0].Name).At(r.Clock.Now)
	list, err := table.Incidents(context.Background(), "eks-workshop")
	if err != nil {
		r.t.Fatal(err)
	}
	return list
}

// queued counts the messages of a queue, by its deployed name.
func (r *running) queued(name string) int {
	r.t.Helper()
	for _, q := range r.Template.Queues {
		if q.Name == name {
			d, err := r.Queues.Depth(q.ARN)
			if err != nil {
				r.t.Fatal(err)
			}
			return d.Visible + d.InFlight + d.Delayed
		}
	}
	r.t.Fatalf("no queue %s", name)
	return 0
}
