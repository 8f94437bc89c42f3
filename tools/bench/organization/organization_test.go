// Package organization plays Rollcall for a company: fifty accounts, two regions, a
// thousand clusters.
package organization

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
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	astypes "github.com/aws/aws-sdk-go-v2/service/autoscaling/types"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	ekstypes "github.com/aws/aws-sdk-go-v2/service/eks/types"

	sweepspec "rollcall/functions/sweep/spec"
	"rollcall/shared/config"
	"rollcall/shared/lambda"
	"rollcall/shared/report"
	"rollcall/shared/snapshot"
	"rollcall/shared/spoke"
	"rollcall/shared/store"
	"rollcall/stage"
	"rollcall/stage/fakeslack"
	"rollcall/stage/platform/lambdaruntime"
	"rollcall/stage/platform/wire"
	"rollcall/stage/programs"
	"rollcall/stage/simaws"
	"rollcall/stage/simaws/world"
	"rollcall/stage/simaws/worldfile"
	"rollcall/tools/bench/bill"
	"rollcall/tools/expect"
	"rollcall/tools/testfull"
)

// route is the world with the missing route.
const route = "../../../stage/worlds/route.yaml"

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
	k.told[n][spoke.ID{Account: o.Account, Region: o.Region}.Qualify(o.Cluster)] = slices.Contains(o.Read, snapshot.Nodes)
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
	expect.OK(t, err)
	var doc map[string]any
	expect.OK(t, json.Unmarshal(source, &doc))
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
	expect.OK(t, os.WriteFile(path, source, 0o600))
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
	at := id.Qualify(cluster) + "/" + nodegroup
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
		records := store.New(p.Table.Client(), p.Template.Tables[0].Name).WithClock(p.Clock.Now)
		if id != hub {
			records = records.ForSpoke(id)
		}
		for i := range p.c.clusters {
			history, err := records.History(p.t.Context(), clusterName(i), p.opened)
			if err != nil {
				p.t.Fatal(err)
			}
			for _, l := range history {
				at := id.Qualify(clusterName(i)) + "/" + l.Nodegroup
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

// virtual runs a test in a time that passes at once while all goroutines wait.
func virtual(t *testing.T, test func(t *testing.T)) {
	synctest.Test(t, func(t *testing.T) {
		// A bubble begins in the year 2000, whose Unix times have nine digits: Slack's
		// signatures have ten.
		time.Sleep(time.Until(time.Date(2026, 11, 20, 15, 0, 0, 0, time.UTC)))
		test(t)
	})
}

// settle is how long the last launches are given to have joined, or to be given up, and that
// to be told: the setting giveUp is a quarter of an hour here.
const settle = 20 * time.Minute

// TestCompany: of clusters in several accounts and regions, whose names and ids are the same
// in all, each that answers has its turn in every tick and each that does not within two; each
// launch has its one true outcome; no account's request bucket is emptied; and there is one
// message for each cause. Two accounts with five clusters each show that nothing is mixed up,
// and ten places that it holds for many; the thousand clusters of fifty accounts are
// played by .ci/run organization.
func TestCompany(t *testing.T) {
	c := company{accounts: testfull.Count(5, 2), regions: testfull.Count(2, 1), clusters: 5, nodes: testfull.Count(20, 2)}
	p := play{company: c, minutes: testfull.Count(10, 2), hourly: testfull.Count(1_000, 300), atOnce: 4}
	virtual(t, func(t *testing.T) { p.run(t) })
}

// play is a company, and what happens to it.
type play struct {
	company
	// hourly launches are begun for so many minutes.
	minutes, hourly int
	// atOnce is the setting sweepConcurrency.
	atOnce int
}

func (y play) run(t *testing.T) result {
	p := start(t, y.company, y.atOnce)
	r := p.measured(y)
	p.pass(settle)
	r.turns, r.late = p.turns(t, y.minutes)
	r.ends = p.outcomes(t)
	r.left = p.withinBuckets(t)
	r.messages = p.messages(t)
	r.edits = p.edits()
	if p.failed > 0 {
		t.Errorf("%d invocations failed", p.failed)
	}
	if text := p.out.String(); strings.Contains(text, "a turn is dropped") || strings.Contains(text, "IAM does not allow") {
		t.Error("turns came too late, or a call was refused")
	}
	if t.Failed() {
		text := p.out.String()
		t.Logf("the end of the logs:\n%s", text[max(0, len(text)-200_000):])
	}
	return r
}

// turns holds that each cluster had its turn, and tells how many clusters that answer were
// read in a tick, and how many not before the next.
func (p *played) turns(t *testing.T, minutes int) (read, late int) {
	t.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	for tick := 1; tick < int((time.Duration(minutes)*time.Minute+settle)/sweepspec.Every); tick++ {
		for _, id := range p.places {
			for i := range p.c.clusters {
				cluster := id.Qualify(clusterName(i))
				got, told := p.told[tick][cluster]
				switch {
				case silent(cluster) && got:
					t.Errorf("tick %d: the nodes of %s were read, which does not answer", tick, cluster)
				case silent(cluster) && !told && tick <= 2 && !p.nodesRead(cluster, tick-1):
					t.Errorf("%s had no turn in the ticks %d and %d", cluster, tick-1, tick)
				case !silent(cluster) && !got:
					// The end of a tick's turns may fall into the next.
					late++
					if !p.told[tick+1][cluster] {
						t.Errorf("%s was not read in the ticks %d and %d", cluster, tick, tick+1)
					}
				case got:
					read++
				}
			}
		}
	}
	t.Logf("%d turns read the nodes of a cluster, %d did not that should have", read, late)
	return read, late
}

func (p *played) nodesRead(cluster string, tick int) bool {
	_, told := p.told[tick][cluster]
	return told
}

// outcomes holds that each launch ended once, and as it must: in a nodegroup without a route
// it has not joined, in the others it has; of one in a silent cluster nothing is said.
func (p *played) outcomes(t *testing.T) (count map[snapshot.End]int) {
	t.Helper()
	ends := p.ends()
	count = map[snapshot.End]int{}
	for at, n := range p.launched {
		want := snapshot.Joined
		place, nodegroup, _ := strings.Cut(at, "/"+grows)
		if nodegroup == "" && strings.HasSuffix(at, noRoute) {
			want, place = snapshot.NotJoined, strings.TrimSuffix(at, "/"+noRoute)
		}
		got := ends[at]
		for end, k := range got {
			count[end] += k
		}
		total := 0
		for _, k := range got {
			total += k
		}
		switch {
		case silent(place):
			if total != n || got[snapshot.Joined]+got[snapshot.NotJoined] > 0 {
				t.Errorf("%s, which does not answer: %d launched, told %v", at, n, got)
			}
		case total != n || got[want] != n:
			t.Errorf("%s: %d launched, told %v, want all %q", at, n, got, want)
		}
		delete(ends, at)
	}
	if len(ends) > 0 {
		t.Errorf("launches that were never made: %v", ends)
	}
	t.Logf("launches ended: %v", count)
	return count
}

// withinBuckets holds that no call was throttled.
func (p *played) withinBuckets(t *testing.T) map[string]float64 {
	t.Helper()
	left, throttled := p.lowest()
	if throttled > 0 {
		t.Errorf("%d calls throttled", throttled)
	}
	for api := range left {
		if strings.Contains(api, "unfiltered") {
			t.Errorf("%s", api)
		}
	}
	t.Logf("the least that was left in any account's buckets: %v", left)
	return left
}

// messages holds that there is one message for each cause: each missing route, and each
// cluster that does not answer.
func (p *played) messages(t *testing.T) map[string]int {
	t.Helper()
	byCause := map[string]int{}
	for _, m := range p.Slack.Messages(stage.Channel) {
		if m.ThreadTS != "" {
			continue
		}
		all := m.Text + string(m.Blocks)
		cause := "another: " + m.Text
		switch {
		case strings.Contains(all, "rtb-0cd20000000000002"):
			cause = "missing routes"
		case strings.Contains(all, "cannot read the cluster"):
			cause = "clusters that do not answer"
		}
		byCause[cause]++
	}
	want := map[string]int{}
	for i := range p.places {
		if broken(i) {
			want["missing routes"]++
		}
		for n := range p.c.clusters {
			if silent(clusterName(n)) {
				want["clusters that do not answer"]++
			}
		}
	}
	if fmt.Sprint(byCause) != fmt.Sprint(want) {
		t.Errorf("messages %v, want %v", byCause, want)
	}
	return byCause
}

// edits is how often messages were edited.
func (p *played) edits() (n int) {
	for _, c := range p.Slack.Calls() {
		if c.Method == "chat.update" {
			n++
		}
	}
	return n
}

// result is what came of a play.
type result struct {
	play
	// launched are the launches, and ends how they ended.
	launched    int
	ends        map[snapshot.End]int
	turns, late int
	// calls are those of a tick, by the API: of all accounts.
	calls map[string]float64
	// peak are the most calls of a second, of all accounts together.
	peak map[string]int
	left map[string]float64
	// messages by cause, and how often they were edited.
	messages map[string]int
	edits    int
	usage    bill.Usage
}

// warm is after how long the measurement begins: the first tick reads what later ones have.
const warm = 5 * time.Minute

// measured lets the launches happen, and counts from the first tick on what they and the
// sweeps take.
func (p *played) measured(y play) result {
	began := min(int(warm/time.Minute), y.minutes-1)
	p.broken()
	p.launches(began, y.hourly)
	m := p.mark()
	p.launches(y.minutes-began, y.hourly)
	usage, calls := p.since(m)
	r := result{play: y, usage: usage, calls: map[string]float64{}, peak: map[string]int{}}
	for _, n := range p.launched {
		r.launched += n
	}
	ticks := float64(y.minutes-began) / 5
	seconds := map[string]map[int64]int{}
	for _, c := range calls {
		if usage.Invocations[c.Caller] == 0 {
			continue
		}
		api := c.Action()
		r.calls[api] += 1 / ticks
		if seconds[api] == nil {
			seconds[api] = map[int64]int{}
		}
		seconds[api][c.Time.Unix()]++
		r.peak[api] = max(r.peak[api], seconds[api][c.Time.Unix()])
	}
	return r
}

// The hub's own account and region are those of the worlds.
var hub = spoke.ID{Account: "111122223333", Region: "us-west-2"}

// company is what is watched: so many accounts in so many regions, with so many clusters
// in each, and nodes in each of those.
type company struct{ accounts, regions, clusters, nodes int }

// places are the accounts and regions but the hub's own.
func (c company) places() []spoke.ID {
	var list []spoke.ID
	for a := range c.accounts {
		for r := range c.regions {
			id := spoke.ID{Account: fmt.Sprintf("2222%08d", a), Region: []string{"us-west-2", "eu-west-1"}[r]}
			if a == 0 {
				id.Account = hub.Account
			}
			if id != hub {
				list = append(list, id)
			}
		}
	}
	return list
}

// Each account has clusters of the same names, with the same ids in them: nothing but the
// account and the region tells them apart.
func clusterName(i int) string {
	if i == 0 {
		return "eks-workshop"
	}
	return fmt.Sprintf("c%02d", i)
}

// silent are those whose API drops all packets: 20 of 100.
func silent(cluster string) bool {
	var i int
	_, err := fmt.Sscanf(cluster[strings.LastIndex(cluster, "/")+1:], "c%d", &i)
	return err == nil && i%5 == 4
}

// broken are the places in which the first cluster has a nodegroup whose subnet has no
// route to the internet: one of ten.
func broken(place int) bool { return place%10 == 1 }

const (
	grows   = "default"
	noRoute = "new_nodegroup_2"
)

// fill makes a place's world of that with the missing route, which it has only where it is
// broken.
func (c company) fill(broken bool) func(*worldfile.File) {
	return func(f *worldfile.File) {
		for i, table := range f.EC2.RouteTables {
			if *table.RouteTableId == "rtb-0cd20000000000002" && !broken {
				f.EC2.RouteTables[i].Routes = append(table.Routes, ec2types.Route{DestinationCidrBlock: aws.String("0.0.0.0/0"), NatGatewayId: aws.String("nat-0aa40000000000001")})
			}
		}
		c.populate(f)
	}
}

// populate makes the clusters and their nodes.
func (c company) populate(f *worldfile.File) {
	f.Timeline, f.Expect = nil, worldfile.Expect{}
	cluster, groups, addons, entries := f.EKS.Clusters[0], f.EKS.Nodegroups, f.EKS.Addons, f.EKS.AccessEntries
	grown := slices.IndexFunc(groups, func(g ekstypes.Nodegroup) bool { return *g.NodegroupName == grows })
	group := slices.IndexFunc(f.AutoScaling.AutoScalingGroups, func(g astypes.AutoScalingGroup) bool { return strings.Contains(*g.AutoScalingGroupName, grows) })
	asg := f.AutoScaling.AutoScalingGroups[group]
	first := f.Kubernetes[*cluster.Name]
	f.EC2.Instances = nil
	for i := range c.clusters {
		name := clusterName(i)
		k := first
		k.Joined = nil
		own := asg
		own.Instances = nil
		for n := range c.nodes {
			id := fmt.Sprintf("i-0e%02d%013d", i, n)
			at := i*c.nodes + n
			zone := at % 3
			f.EC2.Instances = append(f.EC2.Instances, ec2types.Instance{
				InstanceId: aws.String(id), SubnetId: aws.String("subnet-0b20000000000000" + "abc"[zone:zone+1]),
				PrivateIpAddress: aws.String(fmt.Sprintf("10.42.%d.%d", 97+32*zone+at/600, 10+at/3%200)), LaunchTime: aws.Time(f.Time.AddDate(0, 0, -8)),
			})
			k.Joined = append(k.Joined, id)
			own.Instances = append(own.Instances, astypes.Instance{InstanceId: aws.String(id)})
		}
		own.AutoScalingGroupName = aws.String(fmt.Sprintf("eks-default-%08d-1111-4222-8333-000000000001", i))
		own.MinSize, own.MaxSize, own.DesiredCapacity = aws.Int32(0), aws.Int32(200), aws.Int32(int32(c.nodes))
		g := groups[grown]
		g.ClusterName, g.Resources = aws.String(name), &ekstypes.NodegroupResources{AutoScalingGroups: []ekstypes.AutoScalingGroup{{Name: own.AutoScalingGroupName}}}
		g.ScalingConfig = &ekstypes.NodegroupScalingConfig{MinSize: own.MinSize, MaxSize: own.MaxSize, DesiredSize: own.DesiredCapacity}
		f.Kubernetes[name] = k
		if i == 0 {
			f.AutoScaling.AutoScalingGroups[group], f.EKS.Nodegroups[grown] = own, g
			continue
		}
		f.AutoScaling.AutoScalingGroups = append(f.AutoScaling.AutoScalingGroups, own)
		f.EKS.Nodegroups = append(f.EKS.Nodegroups, g)
		another := cluster
		another.Name = aws.String(name)
		f.EKS.Clusters = append(f.EKS.Clusters, another)
		for _, a := range addons {
			a.ClusterName = aws.String(name)
			f.EKS.Addons = append(f.EKS.Addons, a)
		}
		for _, e := range entries {
			e.ClusterName = aws.String(name)
			f.EKS.AccessEntries = append(f.EKS.AccessEntries, e)
		}
	}
}
