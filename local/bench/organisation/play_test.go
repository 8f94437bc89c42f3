// Package organisation plays Rollcall for a company: fifty accounts, two regions, a
// thousand clusters.
package organisation

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	ekstypes "github.com/aws/aws-sdk-go-v2/service/eks/types"

	sweepspec "rollcall/functions/sweep/spec"
	"rollcall/local/bench/bill"
	"rollcall/local/fakeslack"
	"rollcall/local/platform/lambdaruntime"
	"rollcall/local/platform/wire"
	"rollcall/local/programs"
	"rollcall/local/simaws"
	"rollcall/local/simaws/world"
	"rollcall/local/stage"
	"rollcall/shared/config"
	"rollcall/shared/lambda"
	"rollcall/shared/report"
	"rollcall/shared/snapshot"
	"rollcall/shared/spoke"
	"rollcall/shared/store"
)

// route is the world with the missing route.
const route = "../../worlds/route.yaml"

// callTime is how long AWS and Kubernetes take for an answer.
const callTime = 40 * time.Millisecond

// dropped is a cluster's API that drops all packets: a connection is given up after as long
// as package kube waits for one.
type dropped struct{}

func (dropped) RoundTrip(req *http.Request) (*http.Response, error) {
	select {
	case <-time.After(4 * time.Second):
	case <-req.Context().Done():
	}
	return nil, &net.OpError{Op: "dial", Net: "tcp", Err: errors.New("no route to host")}
}

func functions() []lambda.Program {
	list := programs.All()
	for i := range list {
		build := list[i].Build
		list[i].Build = func(ctx context.Context, e lambda.Env) (lambda.Handler, error) {
			of := e.Endpoints
			e.Endpoints = func(cluster string) (string, []byte, http.RoundTripper, bool) {
				endpoint, ca, via, ok := of(cluster)
				if silent(cluster) {
					via = dropped{}
				}
				return endpoint, ca, via, ok
			}
			return build(ctx, e)
		}
	}
	return list
}

// kept is what is kept of a play.
type kept struct {
	mu      sync.Mutex
	out     bytes.Buffer
	invoked map[string]int
	busy    map[string]time.Duration
	failed  int
	began   time.Time
	// told is by tick and cluster: whether the nodes were read.
	told map[int]map[string]bool
}

// Write takes what the functions log.
func (k *kept) Write(p []byte) (int, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.out.Write(p)
}

func (k *kept) observe(i lambdaruntime.Invocation) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.invoked[i.Function]++
	k.busy[i.Function] += i.Result.Duration
	if i.Result.FunctionError != "" {
		k.failed++
	}
}

func (k *kept) sent(_, body string) {
	m, err := report.DecodeMessage([]byte(body))
	if err != nil || m.Observation == nil || !m.Observation.Sweep || m.Observation.By != "join-check" {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	n, o := int(time.Since(k.began)/sweepspec.Every), m.Observation
	if k.told[n] == nil {
		k.told[n] = map[string]bool{}
	}
	k.told[n][spoke.ID{Account: o.Account, Region: o.Region}.In(o.Cluster)] = slices.Contains(o.Read, snapshot.Nodes)
}

// played is a play.
type played struct {
	*stage.Stage
	*kept
	t      *testing.T
	c      company
	places []spoke.ID // all
	meter  *simaws.Meter
	opened time.Time // in stage time
	sizes  map[string]int32
	next   int
	// launched are the launches by place, cluster and nodegroup.
	launched map[string]int
}

// start starts the company's stage, within a bubble.
func start(t *testing.T, c company, atOnce int) *played {
	t.Helper()
	p := &played{t: t, c: c, places: append([]spoke.ID{hub}, c.places()...), meter: &simaws.Meter{}, sizes: map[string]int32{}, launched: map[string]int{},
		kept: &kept{invoked: map[string]int{}, busy: map[string]time.Duration{}, told: map[int]map[string]bool{}, began: time.Now()}}
	var slow []simaws.FaultRule
	for _, service := range []string{"ec2", "eks", "autoscaling", "iam", "kubernetes", "sts", "cloudtrail"} {
		slow = append(slow, simaws.FaultRule{Call: service + ":*", Latency: callTime})
	}
	o := stage.Options{
		World: route, Change: c.fill(broken(0)), Rate: 1, Programs: functions(), CallFaults: slow,
		Template: withTurns(t, atOnce), SpokeTemplate: "../../../infra/RollcallSpoke.template.json", Rights: "../../../deploy/clusterrole.yaml",
		Settings: map[string]string{string(config.ExternalID): stage.SpokeExternalID, string(config.SweepConcurrency): fmt.Sprint(atOnce), string(config.GiveUp): "15m"},
		Slack:    fakeslack.Limits{PostsPerSecond: 1, PostBurst: 4, UpdatesPerMinute: 50, UpdateBurst: 10}, Meter: p.meter,
		Out: p.kept, Log: slog.New(slog.NewTextHandler(p.kept, nil)), Observe: p.observe, Sent: p.sent,
	}
	var named []string
	for i, id := range p.places[1:] {
		o.Spokes = append(o.Spokes, stage.Spoke{ID: id, World: route, Change: c.fill(broken(i + 1)), Faults: slow})
		named = append(named, id.String())
	}
	o.Settings[string(config.Spokes)] = strings.Join(named, ",")
	var err error
	if p.Stage, err = stage.Start(context.Background(), o); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	p.opened = p.Clock.Now()
	return p
}

// withTurns is the template with another number of turns at once.
func withTurns(t *testing.T, atOnce int) string {
	t.Helper()
	source, err := os.ReadFile("../../../infra/Rollcall.template.json")
	if err != nil {
		t.Fatal(err)
	}
	var doc map[string]any
	if err := json.Unmarshal(source, &doc); err != nil {
		t.Fatal(err)
	}
	set := false
	for id, r := range doc["Resources"].(map[string]any) {
		if r := r.(map[string]any); r["Type"] == "AWS::Lambda::EventSourceMapping" && strings.HasPrefix(id, "SweepMessages") {
			r["Properties"].(map[string]any)["ScalingConfig"] = map[string]any{"MaximumConcurrency": atOnce}
			set = true
		}
	}
	if !set {
		t.Fatal("sweep reads no queue")
	}
	if source, err = json.Marshal(doc); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "template.json")
	if err := os.WriteFile(path, source, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func (p *played) worldAt(id spoke.ID) *world.World {
	if id == hub {
		return p.World
	}
	return p.SpokeWorld(id)
}

// grow launches another instance of a nodegroup.
func (p *played) grow(id spoke.ID, cluster, nodegroup string) {
	p.t.Helper()
	at := id.In(cluster) + "/" + nodegroup
	if _, known := p.sizes[at]; !known && nodegroup == grows {
		p.sizes[at] = int32(p.c.nodes)
	}
	_, err := p.worldAt(id).API().UpdateNodegroupConfig(&eks.UpdateNodegroupConfigInput{
		ClusterName: aws.String(cluster), NodegroupName: aws.String(nodegroup),
		ScalingConfig: &ekstypes.NodegroupScalingConfig{MinSize: aws.Int32(0), MaxSize: aws.Int32(200), DesiredSize: aws.Int32(p.sizes[at] + 1)},
	})
	if inUse := new(ekstypes.ResourceInUseException); errors.As(err, &inUse) {
		return // the one before is under way
	}
	if err != nil {
		p.t.Fatal(err)
	}
	p.sizes[at]++
	p.launched[at]++
}

// pass lets time go by.
func (p *played) pass(d time.Duration) {
	p.t.Helper()
	if err := p.Clock.Sleep(p.t.Context(), d); err != nil {
		p.t.Fatal(err)
	}
}

// broken launches one in each nodegroup without a route.
func (p *played) broken() {
	for i, id := range p.places {
		if broken(i) {
			p.grow(id, clusterName(0), noRoute)
		}
	}
}

// launches lets so many minutes go by with so many launches an hour, evenly over all
// clusters.
func (p *played) launches(minutes, hourly int) {
	for m := range minutes {
		for n := (m+1)*hourly/60 - m*hourly/60; n > 0; n-- {
			// The next place each time, and the next cluster after each round.
			place, cluster := p.next%len(p.places), p.next/len(p.places)%p.c.clusters
			p.grow(p.places[place], clusterName(cluster), grows)
			p.next++
		}
		p.pass(time.Minute)
	}
}

// ends are the outcomes of the launches, by place, cluster and nodegroup.
func (p *played) ends() map[string]map[snapshot.End]int {
	p.t.Helper()
	all := map[string]map[snapshot.End]int{}
	for _, id := range p.places {
		records := store.New(p.Table.Client(), p.Template.Tables[0].Name).At(p.Clock.Now)
		if id != hub {
			records = records.In(id)
		}
		for i := range p.c.clusters {
			history, err := records.History(p.t.Context(), clusterName(i), p.opened)
			if err != nil {
				p.t.Fatal(err)
			}
			for _, l := range history {
				at := id.In(clusterName(i)) + "/" + l.Nodegroup
				if all[at] == nil {
					all[at] = map[snapshot.End]int{}
				}
				all[at][l.End]++
			}
		}
	}
	return all
}

// lowest is the least that was left in any account's bucket of an API, of its size, and
// how many calls were throttled.
func (p *played) lowest() (left map[string]float64, throttled int) {
	left = map[string]float64{}
	for _, id := range p.places {
		b := p.Buckets
		if id != hub {
			b = p.SpokeBuckets(id)
		}
		for api, c := range b.Counts() {
			if n, ok := left[api]; !ok || c.Lowest < n {
				left[api] = c.Lowest
			}
			throttled += c.Throttled
		}
	}
	return left, throttled
}

// usage is what a span of time took, which began with mark.
type mark struct {
	at                  time.Time
	used                map[string]simaws.Used
	trace, hub, written int
	spokes              map[spoke.ID]int
	invoked             map[string]int
}

func (p *played) mark() mark {
	m := mark{at: p.Clock.Now(), used: p.meter.Used(), trace: len(p.Trace()), hub: len(p.Cloud.Calls()), spokes: map[spoke.ID]int{}}
	for _, id := range p.places[1:] {
		m.spokes[id] = len(p.SpokeCalls(id))
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	m.written, m.invoked = p.out.Len(), maps.Clone(p.invoked)
	return m
}

func (p *played) since(m mark) (u bill.Usage, calls []wire.Call) {
	u = bill.Usage{Nodes: p.c.nodes * p.c.clusters * len(p.places), Subnets: 4 * len(p.places), Hours: p.Clock.Now().Sub(m.at).Hours(), Invocations: map[string]int{}, Calls: map[string]int{}}
	p.mu.Lock()
	text := string(p.out.Bytes()[m.written:])
	for name, n := range p.invoked {
		if n -= m.invoked[name]; n > 0 {
			u.Invocations[name] = n
		}
	}
	p.mu.Unlock()
	calls = slices.Clone(p.Cloud.Calls()[m.hub:])
	for _, id := range p.places[1:] {
		calls = append(calls, p.SpokeCalls(id)[m.spokes[id]:]...)
	}
	u.Logged(text)
	u.Stored(m.used, p.meter.Used())
	u.Called(calls)
	u.Routed(p.Trace()[m.trace:])
	return u, calls
}
