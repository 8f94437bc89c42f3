package stage

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"

	sweepspec "rollcall/functions/sweep/spec"
	"rollcall/shared/lambda"
	"rollcall/shared/report"
	"rollcall/shared/snapshot"
	"rollcall/stage/platform/lambdaruntime"
	"rollcall/stage/programs"
	"rollcall/stage/simaws"
	"rollcall/stage/simaws/worldfile"
	"rollcall/tools/testfull"
)

// blackhole is a cluster's API whose packets are dropped: a connection is given up after as
// long as package kube waits for one.
type blackhole struct{}

func (blackhole) RoundTrip(req *http.Request) (*http.Response, error) {
	select {
	case <-time.After(4 * time.Second):
	case <-req.Context().Done():
	}
	return nil, &net.OpError{Op: "dial", Net: "tcp", Err: errors.New("no route to host")}
}

// silencing has some clusters' APIs drop all packets.
func silencing(silent func(cluster string) bool) []lambda.Program {
	list := programs.All()
	for i := range list {
		build := list[i].Build
		list[i].Build = func(ctx context.Context, e lambda.Env) (lambda.Handler, error) {
			of := e.Endpoints
			e.Endpoints = func(cluster string) (string, []byte, http.RoundTripper, bool) {
				endpoint, ca, via, ok := of(cluster)
				if silent(cluster) {
					via = blackhole{}
				}
				return endpoint, ca, via, ok
			}
			return build(ctx, e)
		}
	}
	return list
}

// many makes a world of so many clusters, all but the first of which have no nodes.
func many(n int) func(*worldfile.File) {
	return func(f *worldfile.File) {
		f.Timeline = nil
		for i := range n - 1 {
			c := f.EKS.Clusters[0]
			c.Name = aws.String(fmt.Sprintf("c%03d", i))
			f.EKS.Clusters = append(f.EKS.Clusters, c)
			f.Kubernetes[*c.Name] = f.Kubernetes["eks-workshop"]
			k := f.Kubernetes[*c.Name]
			k.Joined = nil
			f.Kubernetes[*c.Name] = k
		}
	}
}

// ticks are what was told of clusters, by the tick in which it was.
type ticks struct {
	mu    sync.Mutex
	began time.Time
	now   func() time.Time
	// told is by tick and cluster: whether the nodes were read.
	told map[int]map[string]bool
	busy []span
}

// span is when a function worked.
type span struct {
	function    string
	from, until time.Time
}

func (k *ticks) sent(_, body string) {
	m, err := report.DecodeMessage([]byte(body))
	if err != nil || m.Observation == nil || !m.Observation.Sweep || m.Observation.By != "join-check" {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	n := int(k.now().Sub(k.began) / sweepspec.Every)
	if k.told[n] == nil {
		k.told[n] = map[string]bool{}
	}
	k.told[n][m.Observation.Cluster] = slices.Contains(m.Observation.Read, snapshot.Nodes)
}

// TestEachClusterHasItsTurn: of a hundred clusters each that answers is looked at in every
// tick, and each of the twenty that do not within two, with no more than sweep's share of
// an account that may have ten invocations at once, and no call is throttled. Five clusters
// and a silent one show that in two ticks; a hundred show that it holds.
func TestEachClusterHasItsTurn(t *testing.T) {
	virtual(t, func(t *testing.T) {
		n, seen := testfull.Count(100, 6), testfull.Count(4, 2)
		silent := func(cluster string) bool {
			var i int
			_, err := fmt.Sscanf(cluster, "c%d", &i)
			return err == nil && i%5 == 4
		}
		k := &ticks{told: map[int]map[string]bool{}}
		var latency []simaws.FaultRule
		for _, service := range []string{"ec2", "eks", "autoscaling", "iam", "kubernetes"} {
			latency = append(latency, simaws.FaultRule{Call: service + ":*", Latency: 40 * time.Millisecond})
		}
		r := start(t, "healthy-nat", func(o *Options) {
			o.Programs, o.Change, o.CallFaults, o.Rights = silencing(silent), many(n), latency, "../deploy/clusterrole.yaml"
			o.Sent = k.sent
			o.Observe = func(i lambdaruntime.Invocation) {
				k.mu.Lock()
				defer k.mu.Unlock()
				k.busy = append(k.busy, span{i.Function, time.Now().Add(-i.Result.Duration), time.Now()})
			}
			k.now = func() time.Time { return time.Now() }
			k.began = time.Now()
		})
		r.pass(time.Duration(seen+1) * sweepspec.Every)
		k.mu.Lock()
		defer k.mu.Unlock()
		within := map[string]bool{}
		for tick := 1; tick <= seen; tick++ {
			for i := range n - 1 {
				name := fmt.Sprintf("c%03d", i)
				read, told := k.told[tick][name]
				if told {
					within[name] = true
				}
				if !silent(name) && !read {
					t.Errorf("tick %d: %s: told %t, nodes read %t", tick, name, told, read)
				}
				if silent(name) && read {
					t.Errorf("tick %d: the nodes of %s were read", tick, name)
				}
			}
			if tick == 2 && len(within) != n-1 {
				t.Errorf("within two ticks %d of %d clusters had a turn: %q", len(within), n-1, slices.Sorted(maps.Keys(within)))
			}
		}
		if strings.Contains(r.out.String(), "a turn is dropped") {
			t.Error("turns came too late")
		}
		if most := mostAtOnce(k.busy, "rollcall-sweep"); most > sweepspec.Concurrency {
			t.Errorf("%d turns at once, want %d at most", most, sweepspec.Concurrency)
		}
		for api, c := range r.Buckets.Counts() {
			if c.Throttled > 0 || strings.Contains(api, "unfiltered") {
				t.Errorf("%s: %d calls, %d throttled", api, c.Calls, c.Throttled)
			}
		}
	})
}

// mostAtOnce is how many invocations of a function there were at one time.
func mostAtOnce(list []span, function string) (most int) {
	for _, a := range list {
		n := 0
		for _, b := range list {
			if a.function == function && b.function == function && !b.from.After(a.from) && a.from.Before(b.until) {
				n++
			}
		}
		most = max(most, n)
	}
	return most
}
