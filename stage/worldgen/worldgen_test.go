package worldgen

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"hash/fnv"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/google/go-cmp/cmp"

	"rollcall/shared/checkid"
	"rollcall/shared/checks"
	"rollcall/shared/checks/check"
	"rollcall/shared/checks/finding"
	"rollcall/shared/detect"
	"rollcall/shared/diagnose"
	"rollcall/shared/diagnosis"
	"rollcall/shared/event"
	"rollcall/shared/gather"
	"rollcall/shared/snapshot"
	"rollcall/stage/platform/loopback"
	"rollcall/stage/simaws"
	"rollcall/stage/simaws/kubeapi"
	"rollcall/stage/simaws/kubestate"
	"rollcall/stage/simaws/world"
	"rollcall/stage/simaws/worldfile"
	"rollcall/tools/testfull"
)

// TestSeedDecides holds that a seed gives the same world again, and that the
// world survives being written down.
func TestSeedDecides(t *testing.T) {
	for seed := range uint64(20) {
		w := New(seed)
		first, err := w.YAML()
		if err != nil {
			t.Fatal(err)
		}
		again, err := New(seed).YAML()
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(first), string(again)); diff != "" {
			t.Errorf("seed %d (-first +again):\n%s", seed, diff)
		}
		file, err := worldfile.Parse("generated", first)
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		w.File = file
		read, err := w.YAML()
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(first), string(read)); diff != "" {
			t.Errorf("seed %d (-written +read):\n%s", seed, diff)
		}
	}
}

// TestFaultsAreMany holds how many checks have a fault of their own here.
func TestFaultsAreMany(t *testing.T) {
	checks, names := map[string]bool{}, map[string]bool{}
	for _, f := range Faults() {
		if names[f.Name] {
			t.Errorf("two faults are called %q", f.Name)
		}
		names[f.Name], checks[string(f.Check)] = true, true
	}
	if len(checks) < 55 {
		t.Errorf("faults for %d checks, want 55", len(checks))
	}
}

// TestFleetsAreMany holds that worlds have Karpenter's and Auto Mode's NodePools, and
// that most faults can be on nodes of both.
func TestFleetsAreMany(t *testing.T) {
	fleets := map[Fleet]int{}
	for seed := range uint64(200) {
		fleets[New(seed).Shape.Fleet]++
	}
	for _, fleet := range []Fleet{ManagedGroup, SelfManaged, Karpenter, AutoMode} {
		if fleets[fleet] < 20 {
			t.Errorf("%d of 200 worlds are of the fleet %s, want 20", fleets[fleet], fleet)
		}
	}
	for fleet, least := range map[Fleet]int{Karpenter: 70, AutoMode: 50} {
		able := 0
		for _, f := range Faults() {
			if f.Except[fleet] == "" {
				able++
			}
		}
		if able < least {
			t.Errorf("nodes of the fleet %s can have %d faults, want %d", fleet, able, least)
		}
	}
}

// By default the tests are short: all in all as many worlds as there are shapes of a
// way out, twice over, and one for each fault, each with a first seed of its own. For
// more worlds, and more for each fault, make test-full, or:
//
//	go test ./stage/worldgen -seeds=5000 -each=50 -timeout=2h
var (
	seeds = flag.Int("seeds", testfull.Count(60, 20), "how many healthy worlds to generate")
	each  = flag.Int("each", testfull.Count(3, 1), "how many worlds to break with each fault")
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
	t.Logf("%s\nagain: go test ./stage/worldgen -run '^%s$' -seed=%d -keep=/tmp", w.Shape, strings.ReplaceAll(name, "/", "$/^"), w.Seed)
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
				if c.Confidence != finding.Advice {
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
				if c.Confidence != finding.Advice && c.Check != "node/not-registered" {
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

func group(id checkid.ID) string {
	name, _, _ := strings.Cut(string(id), "/")
	return name
}

func line(c diagnosis.Cause) string {
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
				list := played(testfull.Count(2, 1), firstOf(f)+1000, func(w *World) bool { return w.Shape.Fleet == fleet && f.Applies(w) })
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
	right := func(id checkid.ID) bool { return id == f.Check || slices.Contains(f.Or, id) }
	for source, failure := range got.snapshot.Failures {
		t.Errorf("%s not read: %s %s %s", source, failure.Call, failure.Code, failure.Message)
	}
	first := checkid.ID("")
	for i, c := range got.diagnosis.Causes {
		if i == 0 {
			first = c.Check
		}
		if !right(c.Check) && (i == 0 || c.Confidence == finding.Certain) {
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
// worlds of every shape, and that nothing is flagged meanwhile: neither its dry runs nor
// its fleets are a fault.
func TestKarpenterLaunches(t *testing.T) {
	for _, seed := range played(testfull.Count(40, 8), 0, func(w *World) bool {
		return w.Shape.Fleet == Karpenter && w.Shape.Egress != SharedVPC // whose owner's routes the world does not know
	}) {
		t.Run(fmt.Sprintf("seed %d", seed), func(t *testing.T) {
			t.Parallel()
			w := New(seed)
			w.wantsFleet()
			defer report(t, w)
			got := look(t, w, w.Young)
			for _, c := range got.diagnosis.Causes {
				if c.Confidence != finding.Advice {
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

// joinTime is how long a node has until it is missed.
const joinTime = 5 * time.Minute

// seen is what a look at a world gave.
type seen struct {
	snapshot  *snapshot.Snapshot
	diagnosis diagnosis.Diagnosis
}

// look serves a world as AWS and Kubernetes, reads it with the
// functions' own reader, and diagnoses it: the way that join-check goes, for
// the instances in question.
func look(t *testing.T, w *World, scope []string) seen {
	t.Helper()
	var told []json.RawMessage
	made, err := world.New(w.File, world.Options{Seed: 1, Events: func(e json.RawMessage) { told = append(told, e) }})
	if err != nil {
		t.Fatal(err)
	}
	made.Advance(made.Now().Add(w.wait))
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	admin, network := simaws.AdminIdentity(account, "test"), loopback.New()
	served, err := simaws.Start(ctx, simaws.Config{
		Account: account, Region: region, Identities: []simaws.Identity{admin},
		World:    made.API(),
		Clusters: made.Clusters(), Endpoints: true,
		Objects: func(name, plural string) ([]json.RawMessage, string, error) {
			list, err := made.Kubernetes(name, plural)
			if errors.Is(err, kubestate.ErrNoKind) {
				return nil, "", kubeapi.NotInstalled()
			}
			return list.Items, list.ResourceVersion, err
		},
		Network: network, Now: made.Now, Wall: time.Now,
	})
	if err != nil {
		t.Fatal(err)
	}
	defer served.Close()
	reader := gather.New(aws.Config{
		Region: region, BaseEndpoint: aws.String(served.Endpoint()), HTTPClient: &http.Client{Transport: network},
		Credentials: credentials.NewStaticCredentialsProvider(admin.AccessKeyID, admin.SecretAccessKey, ""),
		Retryer:     func() aws.Retryer { return retry.AddWithMaxAttempts(retry.NewStandard(), 2) },
	}).WithEndpoints(func(cluster string) (endpoint string, ca []byte, via http.RoundTripper, ok bool) {
		endpoint, ca, ok = served.Kubernetes(cluster)
		return endpoint, ca, network, ok
	})
	all := slices.Concat(w.Young, w.Veterans)
	instances, failed := reader.Find(ctx, all, nil)
	if failed != nil {
		t.Fatal(failed)
	}
	groups, failed := reader.Groups(ctx, detect.GroupsOf(instances))
	if failed != nil {
		t.Fatal(failed)
	}
	list := checks.All()
	q := gather.Query{
		Account: account, Region: region, Time: made.Now(), Cluster: cluster, VPC: w.vpc, Instances: instances, Groups: groups,
		Nodegroups: detect.ManagedOf(instances), Sources: gather.JoinSources(list),
		Scope: snapshot.Scope{Instances: scope, Launchable: w.Subnets},
	}
	for _, in := range instances {
		q.Launches = append(q.Launches, snapshot.ExpectedJoin{Instance: in.ID, Started: in.Launched, Due: in.Launched.Add(joinTime)})
		if slices.Contains(scope, in.ID) {
			q.Scope.Subnets = append(q.Scope.Subnets, in.Subnet)
		}
	}
	// The nodes first: what is read of an instance depends on whether it is one.
	s, err := reader.Read(ctx, q)
	if err != nil {
		t.Fatal(err)
	}
	// A world that stands still has no launches behind it, and its subnets had
	// yesterday what they have.
	s.Samples = level(s, w.Subnets)
	s.Read[snapshot.LaunchHistory] = true
	delete(s.Failures, snapshot.LaunchHistory)
	s.Refused = refusedCalls(t, told, instances)
	s.Read[snapshot.RefusedLaunches] = true
	delete(s.Failures, snapshot.RefusedLaunches)
	// What its subnets have, they had all day.
	for _, n := range s.Subnets {
		for ago := 24 * time.Hour; ago >= 0; ago -= 5 * time.Minute {
			s.Samples = append(s.Samples, snapshot.Sample{Subnet: n.ID, At: s.Time.Add(-ago), Free: n.Free})
		}
	}
	return seen{s, diagnose.Rank(list, check.Eval(list, s), s)}
}

// refusedCalls are what launch-watch keeps of what a world told its bus.
func refusedCalls(t *testing.T, told []json.RawMessage, instances []snapshot.Instance) []snapshot.RefusedLaunch {
	t.Helper()
	runs := detect.NewRuns(nil)
	for _, e := range told {
		trigger, err := event.Parse(e)
		if err != nil {
			t.Fatal(err)
		}
		if trigger.Kind == event.LaunchRefused {
			runs.Take(cluster, detect.RefusedCall(trigger, trigger.Refusal.Tags))
		}
	}
	runs.Started(instances)
	return runs.Launches()
}

// level is a day in which some subnets had what they have now, as subnet-watch
// records it.
func level(s *snapshot.Snapshot, subnets []string) []snapshot.Sample {
	const every, day = 5 * time.Minute, 24 * time.Hour
	var list []snapshot.Sample
	for _, x := range detect.Samples(s, subnets) {
		for age := day; age >= 0; age -= every {
			x.At = s.Time.Add(-age)
			list = append(list, x)
		}
	}
	return list
}
