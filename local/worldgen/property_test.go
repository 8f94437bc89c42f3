package worldgen

import (
	"flag"
	"fmt"
	"hash/fnv"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"rollcall/local/testfull"
	"rollcall/shared/checks"
	"rollcall/shared/diagnose"
	"rollcall/shared/snapshot"
)

// By default the tests are short: all in all as many worlds as there are shapes of a
// way out, twice over, and one for each fault, each with a first seed of its own. For
// more worlds, and more for each fault, make test-full, or:
//
//	go test ./local/worldgen -seeds=5000 -each=50 -timeout=2h
var (
	seeds = flag.Int("seeds", testfull.Of(60, 20), "how many healthy worlds to generate")
	each  = flag.Int("each", testfull.Of(3, 1), "how many worlds to break with each fault")
	only  = flag.Int64("seed", -1, "play this seed alone")
	keep  = flag.String("keep", "", "write the worlds that fail into this folder, as YAML")
)

// mostTried is how many seeds are tried until enough worlds have what a fault
// breaks. The rarest shape is one of about a hundred.
const mostTried = 10_000

// played are the seeds of n worlds of which something is true. Each fault has
// a first seed of its own, so that few worlds for each are many shapes in all.
func played(n int, first uint64, applies func(*World) bool) []uint64 {
	if *only >= 0 {
		return []uint64{uint64(*only)}
	}
	var list []uint64
	for seed := first; seed < first+mostTried && len(list) < n; seed++ {
		if applies(New(seed)) {
			list = append(list, seed)
		}
	}
	return list
}

// firstOf is the first seed of a fault.
func firstOf(f Fault) uint64 {
	h := fnv.New32a()
	_, _ = h.Write([]byte(f.Name)) // a hash takes everything
	return uint64(h.Sum32() % 100_000)
}

// report says how to play a failing world again.
func report(t *testing.T, w *World) {
	if !t.Failed() {
		return
	}
	name, _, _ := strings.Cut(t.Name(), "/seed_")
	t.Logf("%s\nagain: go test ./local/worldgen -run '^%s$' -seed=%d -keep=/tmp", w.Shape, strings.ReplaceAll(name, "/", "$/^"), w.Seed)
	if *keep == "" {
		return
	}
	text, err := w.YAML()
	if err == nil {
		err = os.WriteFile(filepath.Join(*keep, strings.NewReplacer("/", "-", " ", "-").Replace(t.Name())+".yaml"), text, 0o600)
	}
	if err != nil {
		t.Error(err)
	}
}

// TestHealthyWorlds holds that a healthy world has no incident, whatever its
// shape, and that all of it could be read.
func TestHealthyWorlds(t *testing.T) {
	for _, seed := range played(*seeds, 0, always) {
		t.Run(fmt.Sprintf("seed %d", seed), func(t *testing.T) {
			t.Parallel()
			w := New(seed)
			defer report(t, w)
			got := look(t, w, slices.Concat(w.Young, w.Veterans))
			for _, c := range got.diagnosis.Causes {
				if c.Confidence != checks.Advice {
					t.Errorf("accuses %s", line(c))
				}
			}
			got.complete(t, w)
		})
	}
}

// TestNoReasonIsInvented holds that nodes that are missing in a world in which
// nothing is wrong have no cause but the symptom, and that no check fails to
// judge what can be judged.
func TestNoReasonIsInvented(t *testing.T) {
	for _, seed := range played(*seeds, 0, always) {
		t.Run(fmt.Sprintf("seed %d", seed), func(t *testing.T) {
			t.Parallel()
			w := New(seed)
			w.Unjoin()
			defer report(t, w)
			got := look(t, w, w.Young)
			for _, c := range got.diagnosis.Causes {
				if c.Confidence != checks.Advice && c.Check != "node/not-registered" {
					t.Errorf("invents %s", line(c))
				}
			}
			got.complete(t, w)
		})
	}
}

// complete holds that every source was read, and that no check is Unknown but
// those to which the shape hides something.
func (s seen) complete(t *testing.T, w *World) {
	t.Helper()
	for source, f := range s.snapshot.Failures {
		t.Errorf("%s not read: %s %s %s", source, f.Call, f.Code, f.Message)
	}
	for _, u := range s.diagnosis.Unknown {
		if !slices.Contains(hidden(w.Shape.Egress), group(u.Check)) {
			t.Errorf("cannot judge %s: %v", u.Check, u.Blocked)
		}
	}
}

// hidden are the groups of checks from which a way out hides what it does: the
// gateways of another account, the packets in an appliance, the network ACLs
// behind a transit gateway.
func hidden(e Egress) []string {
	switch e {
	case SharedVPC:
		return []string{"route", "endpoint", "nacl"}
	case NATInstance, Transit:
		return []string{"nacl"}
	}
	return nil
}

func group(id checks.ID) string {
	name, _, _ := strings.Cut(string(id), "/")
	return name
}

func line(c diagnose.Cause) string {
	text := fmt.Sprintf("%s (%s) %s: %s", c.Check, c.Confidence, c.Resource, c.Why)
	for _, e := range c.Evidence {
		text += "\n    " + e.What + ": " + e.Value
	}
	return text
}

// TestOneFault holds that each single fault is named first, in worlds of
// several shapes, and that nothing else is certain beside it.
func TestOneFault(t *testing.T) {
	for _, f := range Faults() {
		t.Run(f.Name, func(t *testing.T) {
			t.Parallel()
			list := played(*each, firstOf(f), f.Applies)
			if len(list) == 0 {
				t.Fatal("applies to no world")
			}
			for _, seed := range list {
				t.Run(fmt.Sprintf("seed %d", seed), func(t *testing.T) {
					w := New(seed)
					if !f.Applies(w) {
						t.Skip("does not apply")
					}
					failing := f.Break(w)
					defer report(t, w)
					f.named(t, look(t, w, failing))
				})
			}
		})
	}
}

// TestOneFaultOfNodePools holds that each fault is named first on nodes of Karpenter's
// and of Auto Mode's NodePools too, but for those that they cannot have.
func TestOneFaultOfNodePools(t *testing.T) {
	for _, f := range Faults() {
		for n, fleet := range []Fleet{Karpenter, AutoMode} {
			if uint64(n) != firstOf(f)%2 && !testfull.Asked() { // half of the faults on either
				continue
			}
			t.Run(f.Name+"/"+string(fleet), func(t *testing.T) {
				t.Parallel()
				if f.Except[fleet] != "" {
					return
				}
				list := played(testfull.Of(2, 1), firstOf(f)+1000, func(w *World) bool { return w.Shape.Fleet == fleet && f.Applies(w) })
				if len(list) == 0 {
					t.Fatal("applies to no world, and why is not said")
				}
				for _, seed := range list {
					w := New(seed)
					failing := f.Break(w)
					defer report(t, w)
					f.named(t, look(t, w, failing))
				}
			})
		}
	}
}

// named holds the diagnosis of a fault.
func (f Fault) named(t *testing.T, got seen) {
	t.Helper()
	right := func(id checks.ID) bool { return id == f.Check || slices.Contains(f.Or, id) }
	for source, failure := range got.snapshot.Failures {
		t.Errorf("%s not read: %s %s %s", source, failure.Call, failure.Code, failure.Message)
	}
	first := checks.ID("")
	for i, c := range got.diagnosis.Causes {
		if i == 0 {
			first = c.Check
		}
		if !right(c.Check) && (i == 0 || c.Confidence == checks.Certain) {
			t.Errorf("names %s", line(c))
		}
	}
	if !right(first) {
		t.Errorf("%q is first, want %s", first, f.Check)
	}
	if !t.Failed() {
		return
	}
	for _, u := range got.diagnosis.Unknown {
		t.Logf("cannot judge %s: %v", u.Check, u.Blocked)
	}
}

// TestKarpenterLaunches holds that Karpenter gets a node for a pod that waits in healthy
// worlds of every shape, and that nobody is accused meanwhile: neither its dry runs nor
// its fleets are a fault.
func TestKarpenterLaunches(t *testing.T) {
	for _, seed := range played(testfull.Of(40, 8), 0, func(w *World) bool {
		return w.Shape.Fleet == Karpenter && w.Shape.Egress != SharedVPC // whose owner's routes the world does not know
	}) {
		t.Run(fmt.Sprintf("seed %d", seed), func(t *testing.T) {
			t.Parallel()
			w := New(seed)
			w.wantsFleet()
			defer report(t, w)
			got := look(t, w, w.Young)
			for _, c := range got.diagnosis.Causes {
				if c.Confidence != checks.Advice {
					t.Errorf("accuses %s", line(c))
				}
			}
			joined := slices.ContainsFunc(got.snapshot.NodeClaims, func(c snapshot.NodeClaim) bool {
				return !slices.ContainsFunc(w.Young, func(id string) bool { return claimName(id) == c.Name }) && c.Conditions["Registered"].Status == "True"
			})
			if !joined {
				t.Errorf("no new node: %+v", got.snapshot.NodeClaims)
			}
		})
	}
}
