package enicleanup

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"

	"rollcall/local/stage/stagetest"
	"rollcall/local/testfull"
	"rollcall/shared/network/leak"
)

// bystanders makes interfaces in all the states in which none may be deleted.
func (s *harness) bystanders(l *deleteLog) {
	for _, spoil := range []func(*made){
		func(m *made) { m.tags[leak.TagCluster] = "theirs" },
		func(m *made) { delete(m.tags, leak.TagCluster) },
		func(m *made) { m.description, m.tags[leak.TagInstance] = "aws-K8S-"+halted, halted },
		func(m *made) { m.description, m.tags[leak.TagInstance] = "aws-K8S-"+alive, alive },
		func(m *made) { m.description = "aws-k8s-branch-eni" },
		func(m *made) { m.tags[leak.TagCreated] = "soon" },
		func(m *made) { m.description, m.tags = "mine", nil },
	} {
		m := s.left()
		spoil(&m)
		l.kept[s.make(m)] = true
	}
}

// TestKilledAtRandomPoints: 200 runs that end in the middle, in several
// worlds. Whatever each had done, the next goes on from there.
func TestKilledAtRandomPoints(t *testing.T) {
	// A run has 45 requests at most, after each of which and before it can be killed:
	// fifty kills are one for every other of these places.
	worlds, kills := testfull.Of(4, 2), testfull.Of(50, 25)
	for world := range worlds {
		t.Run(fmt.Sprint(world), func(t *testing.T) {
			t.Parallel()
			r := rand.New(rand.NewPCG(uint64(world), 2026))
			s, l := open(t, stagetest.Options{}), newDeleteLog()
			s.bystanders(l)
			for killed, rounds := 0, 0; killed < kills; rounds++ {
				if rounds > 6*kills {
					t.Fatalf("%d kills in %d rounds", killed, rounds)
				}
				for range r.IntN(8) {
					l.ready[s.make(s.left())] = true
				}
				s.Advance(cadence)
				line := &lifeline{left: 1 + r.IntN(45), after: r.IntN(2) == 0}
				// Others at work: at most one thing in a run, at any of its requests.
				at, what := r.IntN(45), r.IntN(3)
				line.meanwhile = func(left int) {
					if left != at {
						return
					}
					l.mu.Lock()
					defer l.mu.Unlock()
					for id := range l.ready {
						if l.ours[id] > 0 || l.theirs[id] || !s.there(id) {
							continue
						}
						if what == 0 && s.taken(id) {
							delete(l.ready, id)
							l.kept[id] = true
						} else if what == 1 && s.others("ec2:DeleteNetworkInterface", fmt.Sprintf(`{"NetworkInterfaceId":%q}`, id)) {
							l.theirs[id] = true
						}
						return
					}
				}
				if err := s.once(l, line); line.dead {
					killed++
				} else if err != nil {
					t.Fatalf("a run that was not killed: %v", err)
				}
			}
			for range 4 {
				s.Advance(cadence)
				if err := s.once(l, &lifeline{left: -1}); err != nil {
					t.Fatal(err)
				}
			}
			if len(l.ours) < kills/2 {
				t.Errorf("%d deletes in all: nothing was tested", len(l.ours))
			}
			s.settled(l)
			t.Logf("%d deleted by us, %d by others, %d kept, %d requests to delete", len(l.ours), len(l.theirs), len(l.kept), total(l.sent))
		})
	}
}

// taken has somebody attach an interface to a machine, if the machine takes
// one more.
func (s *harness) taken(id string) bool {
	s.devices++
	return s.others("ec2:AttachNetworkInterface", fmt.Sprintf(`{"NetworkInterfaceId":%q,"InstanceId":%q,"DeviceIndex":%d}`, id, halted, s.devices))
}

// others is a call that somebody else makes, beside the function.
func (s *harness) others(op, input string) bool {
	_, err := s.World.Call(op, json.RawMessage(input))
	return err == nil
}

func total(m map[string]int) int {
	n := 0
	for _, k := range m {
		n += k
	}
	return n
}

// TestTwoAtOnce: runs side by side, some killed. Nothing is deleted twice, and
// each delete is recorded once.
func TestTwoAtOnce(t *testing.T) {
	for world := range 2 {
		t.Run(fmt.Sprint(world), func(t *testing.T) {
			t.Parallel()
			r := rand.New(rand.NewPCG(uint64(world), 7))
			s, l := open(t, stagetest.Options{}), newDeleteLog()
			s.bystanders(l)
			for round := range 8 {
				for range 8 {
					l.ready[s.make(s.left())] = true
				}
				s.Advance(cadence)
				// The second begins when the first is at one request or another.
				at, begun := r.IntN(60), make(chan struct{})
				begin := sync.OnceFunc(func() { close(begun) })
				var both sync.WaitGroup
				for second := range 2 {
					line := &lifeline{left: -1, after: r.IntN(2) == 0}
					if round%2 == 1 {
						line.left = 15 + r.IntN(50)
					}
					if second == 0 {
						line.meanwhile = func(int) {
							if at--; at < 0 {
								begin()
							}
						}
					}
					both.Go(func() {
						if second == 1 {
							<-begun
						} else {
							defer begin()
						}
						if err := s.once(l, line); err != nil && !line.dead {
							t.Errorf("a run that was not killed: %v", err)
						}
					})
				}
				both.Wait()
			}
			for range 4 {
				s.Advance(cadence)
				if err := s.once(l, &lifeline{left: -1}); err != nil {
					t.Fatal(err)
				}
			}
			s.settled(l)
			for id, n := range l.sent {
				if n > 1 {
					t.Errorf("%d requests to delete %s", n, id)
				}
			}
			t.Logf("%d deleted with %d requests", len(l.ours), total(l.sent))
		})
	}
}
