package remediate

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"rollcall/functions/remediate/spec"
	"rollcall/shared/checks/finding"
	"rollcall/shared/diagnosis"
	"rollcall/shared/event"
	"rollcall/shared/gather"
	"rollcall/shared/incident"
	"rollcall/shared/incident/response"
	"rollcall/shared/lambda"
	"rollcall/shared/network/leak"
	"rollcall/shared/node/outcome"
	"rollcall/shared/remedy"
	"rollcall/shared/remedy/action"
	"rollcall/shared/remedy/addnatroute"
	"rollcall/shared/remedy/optin"
	"rollcall/shared/remedy/remedytest"
	"rollcall/shared/report"
	"rollcall/shared/snapshot"
	"rollcall/shared/snapshot/snapshottest"
	"rollcall/stage/simaws"
	"rollcall/stage/stagetest"
)

func TestApprovedIsDoneOnce(t *testing.T) {
	s := start(t, byPerson, stagetest.Options{})
	s.approve(s.offered())
	if n := s.tell(approval); n != 0 {
		t.Fatalf("%d messages came back: %s", n, s.Logs())
	}
	list, runs := s.said()
	if len(list) != 0 || len(runs) != 1 {
		t.Fatalf("proposals %+v, runs %+v", list, runs)
	}
	d := runs[0]
	if d.Result != remedy.Done || d.ApprovedBy != "U0ONCALL01" || d.Policy != optin.Approve || len(d.Requests) != 1 || d.Changed[0] != stagetest.Table || d.Ended.IsZero() || d.Hash != d.Plan.Hash() {
		t.Errorf("run %+v", d)
	}
	if rows := s.routes(); rows["0.0.0.0/0"] != nat {
		t.Errorf("routes %v", rows)
	}
	if n := s.wanted(); n != 1 {
		t.Errorf("%d checks wanted, want one", n)
	}
	kept, err := s.Store.Runs(t.Context(), stagetest.Cluster)
	if err != nil || len(kept) != 1 || kept[0].Result != remedy.Done {
		t.Errorf("audit %+v, %v", kept, err)
	}
	// Delivered again before report has taken in what came of it: nothing is said.
	s.tell(approval)
	if list, again := s.said(); len(list) != 0 || len(again) > 1 || len(again) == 1 && (again[0].Result != remedy.Done || again[0].ID != d.ID) {
		t.Errorf("proposals %+v, runs %+v", list, again)
	}
	// Taken out by hand, and the approval delivered again: it is used up.
	s.Call("ec2:DeleteRoute", `{"RouteTableId":"`+stagetest.Table+`","DestinationCidrBlock":"0.0.0.0/0"}`)
	for range 3 {
		s.tell(approval)
	}
	if rows := s.routes(); len(rows) != 1 {
		t.Errorf("routes %v: the same approval acted twice", rows)
	}
	if n := s.Calls()["ec2:CreateRoute"]; n != 1 {
		t.Errorf("%d calls of CreateRoute", n)
	}
}

// Whatever has changed between the approval and the run: nothing is done, and
// that is said.
func TestApprovedAndNotDone(t *testing.T) {
	route := func(s *harness) {
		s.Call("ec2:CreateRoute", `{"RouteTableId":"`+stagetest.Table+`","DestinationCidrBlock":"0.0.0.0/0","GatewayId":"igw-0d40000000000000e"}`)
	}
	for _, test := range []struct {
		name  string
		wrong func(*harness)
		want  remedy.Reason
	}{
		{"it expired", func(s *harness) { s.Advance(61 * time.Minute) }, approvalExpired},
		{"somebody was faster", route, addnatroute.HasDefault},
		{"the gateway is being deleted", func(s *harness) { s.Call("ec2:DeleteNatGateway", `{"NatGatewayId":"`+nat+`"}`) }, addnatroute.NoNAT},
		{"the cause is gone", func(s *harness) {
			s.inc.State, s.inc.Cleared = incident.Cleared, s.Now()
			s.save(s.inc)
		}, remedy.NotSo},
		{"the incident is closed", func(s *harness) {
			s.inc.State, s.inc.Resolved = incident.Closed, s.Now()
			s.save(s.inc)
		}, remedy.NotSo},
		{"another plan was approved", func(s *harness) {
			s.inc.Offers[0].Hash = strings.Repeat("0", 32)
			s.save(s.inc)
		}, planChanged},
	} {
		s := start(t, byPerson, stagetest.Options{})
		s.approve(s.offered())
		test.wrong(s)
		before := len(s.routes())
		if n := s.tell(approval); n != 0 {
			t.Errorf("%s: %d messages came back", test.name, n)
		}
		_, runs := s.said()
		if len(runs) != 1 || runs[0].Result != remedy.Refused || runs[0].Reason != string(test.want) || runs[0].Says == "" {
			t.Errorf("%s: runs %+v, want refused as %s", test.name, runs, test.want)
		}
		if len(s.routes()) != before || s.Calls()["ec2:CreateRoute"] != 0 {
			t.Errorf("%s: routes %v", test.name, s.routes())
		}
	}
}

func TestByPolicy(t *testing.T) {
	s := start(t, byItself, stagetest.Options{})
	if n := s.tell(opened); n != 0 {
		t.Fatalf("%d messages came back: %s", n, s.Logs())
	}
	list, runs := s.said()
	if len(list) != 1 || list[0].Policy != optin.Auto || len(runs) != 1 || runs[0].Result != remedy.Done || runs[0].Policy != optin.Auto || runs[0].ApprovedBy != "" {
		t.Fatalf("proposals %+v, runs %+v", list, runs)
	}
	if s.routes()["0.0.0.0/0"] != nat {
		t.Errorf("routes %v", s.routes())
	}
	// What it did itself is no news.
	s.tell("Rollcall Incident Changed")
	if list, _ := s.said(); len(list) != 0 {
		t.Errorf("proposals %+v", list)
	}
	s.Call("ec2:DeleteRoute", `{"RouteTableId":"`+stagetest.Table+`","DestinationCidrBlock":"0.0.0.0/0"}`)
	s.tell("Rollcall Incident Changed")
	if rows := s.routes(); len(rows) != 1 {
		t.Errorf("routes %v: it acts against a hand that took the route out", rows)
	}
	// It came back as a new time of the incident, and the route is taken out
	// each time: a person is asked, once, and may say yes.
	inc := s.inc
	inc.Opened, inc.Number = s.Now(), 2
	s.save(inc)
	s.tell("Rollcall Incident Reopened")
	list, runs = s.said()
	if len(s.routes()) != 1 || len(runs) != 0 || len(list) != 1 || list[0].Policy != optin.Approve || !strings.Contains(list[0].Says, "has been reverted since") {
		t.Fatalf("routes %v, proposals %+v, runs %+v: it fights whoever takes the route out", s.routes(), list, runs)
	}
	s.approve(list[0])
	s.tell(approval)
	if _, runs := s.said(); len(runs) != 1 || runs[0].Policy != optin.Approve || s.routes()["0.0.0.0/0"] != nat {
		t.Errorf("routes %v, runs %+v", s.routes(), runs)
	}
	// A day later the policy does it again.
	s.Call("ec2:DeleteRoute", `{"RouteTableId":"`+stagetest.Table+`","DestinationCidrBlock":"0.0.0.0/0"}`)
	s.Advance(oneDay + time.Minute)
	inc = s.inc
	inc.Opened, inc.Number = s.Now(), 3
	s.save(inc)
	s.tell("Rollcall Incident Reopened")
	if s.routes()["0.0.0.0/0"] != nat {
		t.Errorf("routes %v: reopened a day later", s.routes())
	}
}

// Muted keeps people from being called, not a remedy from being done.
func TestMutedIsRemedied(t *testing.T) {
	s := start(t, byItself, stagetest.Options{})
	s.inc.Mute = &incident.Mute{At: s.Now(), Until: s.Now().Add(time.Hour)}
	s.save(s.inc)
	s.tell(opened)
	if s.routes()["0.0.0.0/0"] != nat {
		t.Errorf("routes %v", s.routes())
	}
}

func TestLimit(t *testing.T) {
	s := start(t, byPerson, stagetest.Options{Settings: settingsOf(byPerson, "ROLLCALL_REMEDY_LIMIT", "1")})
	s.approve(s.offered())
	s.tell(approval)
	s.said()
	for n := 2; n < 4; n++ {
		s.Call("ec2:DeleteRoute", `{"RouteTableId":"`+stagetest.Table+`","DestinationCidrBlock":"0.0.0.0/0"}`)
		s.Advance(time.Duration(n-1) * 10 * time.Minute)
		inc := s.inc
		inc.Opened, inc.Number = s.Now(), n
		s.save(inc)
		s.approve(s.offered())
		s.tell(approval)
		if _, runs := s.said(); len(runs) != 1 || runs[0].Result != remedy.Refused || runs[0].Reason != string(limitReached) {
			t.Fatalf("runs %+v, want that the limit is reached", runs)
		}
		if len(s.routes()) != 1 {
			t.Fatal("it acted over its limit")
		}
		s.Call("ec2:CreateRoute", `{"RouteTableId":"`+stagetest.Table+`","DestinationCidrBlock":"0.0.0.0/0","NatGatewayId":"`+nat+`"}`)
	}
}

// slowly takes its time to look.
type slowly struct {
	Reader
	during func()
}

func (r slowly) Read(ctx context.Context, q gather.Query) (*snapshot.Snapshot, error) {
	r.during()
	return r.Reader.Read(ctx, q)
}

// An approval counts when it is acted upon, not when the look before it began.
func TestApprovalEndsWhileItIsLooked(t *testing.T) {
	s := start(t, byPerson, stagetest.Options{})
	s.approve(s.offered())
	now, late := s.h.now, time.Duration(0)
	s.h.now = func() time.Time { return now().Add(late) }
	s.h.reader = slowly{s.h.reader, func() { late = 61 * time.Minute }}
	s.tell(approval)
	_, runs := s.said()
	if len(runs) != 1 || runs[0].Result != remedy.Refused || runs[0].Reason != string(approvalExpired) {
		t.Errorf("runs %+v, want one refused as %s", runs, approvalExpired)
	}
	if n := s.Calls()["ec2:CreateRoute"]; n != 0 {
		t.Errorf("%d routes were made", n)
	}
}

// A fresh plan after an offer ran out is another proposal, or report and its queue would
// drop it as one that they had; the same state of things gives the same one.
func TestAnOfferThatRanOutIsAnotherProposal(t *testing.T) {
	noon := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	offer := func(state incident.OfferState, hour int) incident.Offer {
		made := noon.Add(time.Duration(hour) * time.Hour)
		return incident.Offer{Plan: remedy.Plan{Remedy: optin.AddNATRoute}, State: state, Made: made, Expires: made.Add(time.Hour)}
	}
	seen := map[string]string{}
	for _, test := range []struct {
		name   string
		now    time.Time
		offers []incident.Offer
	}{
		{"none", noon, nil},
		{"ran out", noon.Add(90 * time.Minute), []incident.Offer{offer(incident.Offered, 0)}},
		{"offered again, and ran out", noon.Add(3 * time.Hour), []incident.Offer{offer(incident.Expired, 0), offer(incident.Expired, 1)}},
		{"and the first is forgotten", noon.Add(4 * time.Hour), []incident.Offer{offer(incident.Expired, 1), offer(incident.Expired, 2)}},
	} {
		h := handler{now: func() time.Time { return test.now }}
		id := h.proposalID(incident.Incident{Offers: test.offers}, optin.AddNATRoute, "hash")
		if before, taken := seen[id]; taken {
			t.Errorf("%s has the id of %s: %s", test.name, before, id)
		}
		seen[id] = test.name
		if again := h.proposalID(incident.Incident{Offers: test.offers}, optin.AddNATRoute, "hash"); again != id {
			t.Errorf("%s: %s, then %s", test.name, id, again)
		}
	}
	h := handler{now: func() time.Time { return noon.Add(time.Minute) }}
	if stands, none := h.proposalID(incident.Incident{Offers: []incident.Offer{offer(incident.Offered, 0)}}, optin.AddNATRoute, "hash"), h.proposalID(incident.Incident{}, optin.AddNATRoute, "hash"); stands != none {
		t.Errorf("an offer that stands makes another proposal: %s and %s", stands, none)
	}
}

const (
	leakyDead   = "i-0dead000000000001" // EC2 does not know it
	leakySubnet = "subnet-0b20000000000000b"
)

// leave makes an interface that a dead node left behind, of a cluster.
func (s *harness) leave(cluster string) string {
	s.t.Helper()
	tag := func(k, v string) ec2types.Tag { return ec2types.Tag{Key: aws.String(k), Value: aws.String(v)} }
	out, err := s.World.EC2().CreateNetworkInterface(&ec2.CreateNetworkInterfaceInput{
		SubnetId: aws.String(leakySubnet), Description: aws.String("aws-K8S-" + leakyDead), SecondaryPrivateIpAddressCount: aws.Int32(30),
		TagSpecifications: []ec2types.TagSpecification{{ResourceType: ec2types.ResourceTypeNetworkInterface, Tags: []ec2types.Tag{
			tag(leak.TagInstance, leakyDead), tag(leak.TagCluster, cluster), tag(leak.TagCreated, s.Now().Add(-3*time.Hour).UTC().Format(time.RFC3339)),
		}}},
	})
	if err != nil {
		s.t.Fatal(err)
	}
	return aws.ToString(out.NetworkInterface.NetworkInterfaceId)
}

// seen writes down that an earlier run of eni-cleanup saw them so.
func (s *harness) seen(ids ...string) {
	s.t.Helper()
	list, failed := gather.New(s.AsAdmin()).InterfacesByID(s.t.Context(), ids)
	if failed != nil {
		s.t.Fatal(failed)
	}
	for _, i := range list {
		if _, err := s.Store.WithClock(s.Now).SaveSighting(s.t.Context(), vpc, leak.Sighting{Interface: i.ID, First: s.Now().Add(-time.Hour), Print: leak.Print(i)}); err != nil {
			s.t.Fatal(err)
		}
	}
}

// The plan names what this cluster left behind and was seen twice, and nothing
// else; it is eni-cleanup that is woken to delete, by report, once.
func TestLeakedInterfacesArePlannedOnly(t *testing.T) {
	var twice, once, theirs string
	x := tale{
		remedy: optin.DeleteLeakedInterfaces, check: "ip/leaked-interfaces",
		begin: func(s *harness) {
			twice, theirs = s.leave(stagetest.Cluster), s.leave("payments")
			s.seen(twice, theirs)
			once = s.leave(stagetest.Cluster)
		},
	}
	for _, policy := range []optin.Policy{optin.Approve, optin.Auto} {
		s := bench(t, "", stagetest.Options{Settings: settingsOf(fmt.Sprintf("%s/%s=%s", stagetest.Cluster, x.remedy, policy))})
		x.begin(s)
		s.save(incident.Incident{
			Key: report.Key{Cluster: stagetest.Cluster, Check: x.check, Resource: leakySubnet}, Format: report.Format,
			Account: s.Template.AccountID, Region: s.Template.Region, Partition: "aws", State: incident.Open, Number: 1, Events: 1,
			Began: s.Now().Add(-time.Hour), Opened: s.Now().Add(-time.Hour), Covers: []string{leakySubnet},
		})
		s.inc.Cause.Fix.Remedy, s.inc.Cause.Covers = string(x.remedy), []string{leakySubnet}
		s.save(s.inc)
		p := s.offered()
		if p.Policy != policy || p.Plan.Cleanup == nil || !slices.Equal(p.Plan.Cleanup.Interfaces, []string{twice}) {
			t.Fatalf("%s: proposal %+v of %+v; %s was seen once, %s is payments's", policy, p, p.Plan.Cleanup, once, theirs)
		}
		d := response.Propose(s.inc, p, s.Now())
		s.save(d.Incident)
		if policy == optin.Approve {
			x.press(s, p)
		}
		n := 0
		for _, e := range s.inc.PendingEvents {
			if e.Kind == incident.EventApproved && e.Offer != nil && e.Offer.Hash == p.Hash {
				n++
			}
		}
		if n != 1 {
			t.Errorf("%s: eni-cleanup is woken %d times by report", policy, n)
		}
		for range 2 {
			s.tell(approval)
			s.tell("Rollcall Incident Changed")
		}
		if list, runs := s.said(); len(list) != 0 || len(runs) != 0 || s.conform() != 0 {
			t.Errorf("%s: said %+v, %+v; %d events of its own", policy, list, runs, s.conform())
		}
		if calls := s.Calls(); calls["ec2:DeleteNetworkInterface"] != 0 {
			t.Errorf("%s: calls %v", policy, calls)
		}
	}
}

// conform holds the events on Rollcall's bus against the published schema, and
// tells how many there are.
func (s *harness) conform() (n int) {
	s.t.Helper()
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	schema, err := c.Compile("../../../events/schema/rollcall-incident.json")
	if err != nil {
		s.t.Fatal(err)
	}
	for _, p := range s.Events() {
		if p.Bus == "default" {
			continue
		}
		n++
		e, err := jsonschema.UnmarshalJSON(strings.NewReader(string(p.Event)))
		if err != nil {
			s.t.Fatal(err)
		}
		if err := schema.Validate(e); err != nil {
			s.t.Errorf("%s: %v", p.Event, err)
		}
	}
	return n
}

// What this function itself puts on the bus is as published.
func TestEventsConform(t *testing.T) {
	for _, x := range tales() {
		s := x.open(t, optin.Approve)
		x.press(s, x.propose(s))
		x.act(s)
		if n := s.conform(); n != 1 {
			t.Errorf("%s: %d events, want one", x.remedy, n)
		}
	}
}

// What an interrupted run left is reported, but no look at what is over is requested.
func TestClosedIsNotLookedAt(t *testing.T) {
	s := start(t, byItself, stagetest.Options{})
	s.h.do = &executor{Executor: s.h.do, after: func(action.Result) action.Result { panic("killed") }}
	killed(s, opened)
	s.Advance(lease * 2)
	s.inc.State, s.inc.Resolved = incident.Closed, s.Now()
	s.save(s.inc)
	s.said()
	if n := s.tell("Rollcall Incident Changed"); n != 0 {
		t.Errorf("%d messages came back", n)
	}
	if _, runs := s.said(); len(runs) != 1 || runs[0].Result != remedy.Done || s.conform() != 0 {
		t.Errorf("runs %+v, %d events", runs, s.conform())
	}
}

var (
	errBroken = errors.New("broken")
	errGone   = gather.ErrNoCluster
)

// fake is all that the handler talks to, in memory. It writes down each call in a
// line.
type fake struct {
	clock time.Time
	// world changes what is seen, from the second look on if it is later.
	world, later func(*snapshot.Snapshot)
	incidents    []incident.Incident
	runs         []remedy.Run
	taken        bool // another run has claimed it
	room         time.Time
	result       action.Result
	groups       []snapshot.Group
	failed       map[string]*snapshot.Failure
	errs         map[string]error

	lines  []string
	counts map[string]int
	times  map[string]int
}

const (
	table  = "rtb-0new"
	placed = "subnet-0new"
)

func newFake() *fake {
	return &fake{
		clock: minute(30), result: action.Result{Status: remedy.Done, Says: "Done.", Changed: []string{table}, Requests: []string{"req"}},
		failed: map[string]*snapshot.Failure{}, errs: map[string]error{}, counts: map[string]int{}, times: map[string]int{},
	}
}

func (f *fake) handler(policy optin.Policy) handler {
	return handler{
		role: func(context.Context) error { return nil },
		settings: settings{
			region: "us-west-2", watches: func(c string) bool { return c == snapshottest.ClusterName },
			policy: func(string, optin.Remedy) optin.Policy { return policy }, vpcs: []string{snapshottest.VPC},
			limit: 3, approval: time.Hour, joinTime: 10 * time.Minute, grace: time.Hour,
		},
		memory: f, reader: f, do: f, send: f, bus: f, now: func() time.Time { return f.clock },
		log: slog.New(slog.DiscardHandler), count: func(name string, n int) { f.counts[name] += n },
	}
}

// noWayOut is an incident of a table of one subnet that has no route to the internet.
func noWayOut() incident.Incident {
	inc := incident.Incident{
		Key:   report.Key{Cluster: snapshottest.ClusterName, Check: "route/no-egress", Resource: table},
		State: incident.Open, Opened: minute(1), Account: "1", Region: "us-west-2", Partition: "aws",
	}
	inc.Cause.Fix.Remedy, inc.Cause.Covers = string(optin.AddNATRoute), []string{placed}
	return inc
}

// call writes a call down, and tells the error that it is to have.
func (f *fake) call(what, details string, args ...any) error {
	f.times[what]++
	err := cmp.Or(f.errs[what], f.errs[fmt.Sprintf("%s #%d", what, f.times[what])])
	line := what
	if details != "" {
		line += ": " + fmt.Sprintf(details, args...)
	}
	if err != nil {
		line += " !"
	}
	if f.lines = append(f.lines, line); len(f.lines) > 1000 {
		panic("it goes on for ever")
	}
	return err
}

// said is what was called, and counted. What a hash is others hold.
func (f *fake) said(err error) string {
	lines := slices.Clone(f.lines)
	for _, name := range slices.Sorted(maps.Keys(f.counts)) {
		if n := f.counts[name]; n != 0 {
			lines = append(lines, fmt.Sprintf("count %s %d", name, n))
		}
	}
	if err != nil {
		lines = append(lines, "error "+strings.ReplaceAll(err.Error(), "\n", "; "))
	}
	return regexp.MustCompile(`[0-9a-f]{32}`).ReplaceAllString(strings.Join(append(lines, ""), "\n"), "HASH")
}

func at(t time.Time) string {
	if t.IsZero() {
		return "never"
	}
	return t.UTC().Format("02T15:04:05")
}

func (f *fake) Incidents(_ context.Context, cluster string) ([]incident.Incident, error) {
	return f.incidents, f.call("incidents", "%s", cluster)
}

func (f *fake) Sightings(_ context.Context, vpc string) (map[string]leak.Sighting, error) {
	return nil, f.call("sightings", "%s", vpc)
}

func (f *fake) Runs(_ context.Context, cluster string) ([]remedy.Run, error) {
	return f.runs, f.call("runs", "%s", cluster)
}

func remedyText(d remedy.Run) string {
	text := fmt.Sprintf("%s %s %s by %q %s %q %q changed %s by %s from %s to %s",
		d.ID, d.Plan.Remedy, d.Policy, d.ApprovedBy, d.Result, d.Reason, d.Says, d.Changed, d.Requests, at(d.Began), at(d.Ended))
	if d.Next != nil {
		text += fmt.Sprintf(" next %s %s %q", at(d.Next.At), d.Next.Reason, d.Next.Says)
	}
	return text
}

func (f *fake) ClaimRun(_ context.Context, d remedy.Run) (remedy.Run, bool, error) {
	err := f.call("claim", "%s", remedyText(d))
	return d, !f.taken && err == nil, err
}

func (f *fake) SaveRun(_ context.Context, d remedy.Run) (remedy.Run, error) {
	return d, f.call("save", "%s", remedyText(d))
}

func (f *fake) CountRun(_ context.Context, d remedy.Run, most int) (time.Time, error) {
	return f.room, f.call("count", "%s of %d", d.ID, most)
}

func (f *fake) RoomForRuns(_ context.Context, cluster string, r optin.Remedy, things, most int, now time.Time) (time.Time, error) {
	return f.room, f.call("room", "%s %s %d of %d at %s", cluster, r, things, most, at(now))
}

func (f *fake) Find(_ context.Context, ids, groups []string) ([]snapshot.Instance, *snapshot.Failure) {
	_ = f.call("find", "%s %s", ids, groups)
	in := func(id, group string) snapshot.Instance {
		return snapshot.Instance{ID: id, Tags: map[string]string{"aws:autoscaling:groupName": group}}
	}
	return []snapshot.Instance{in("i-1", "other"), in("i-2", "known")}, f.failed["find"]
}

func (f *fake) Groups(_ context.Context, names []string) ([]snapshot.Group, *snapshot.Failure) {
	_ = f.call("groups", "%s", names)
	return []snapshot.Group{{Name: "other"}}, f.failed["groups"]
}

func (f *fake) GroupsOf(_ context.Context, cluster string) ([]snapshot.Group, *snapshot.Failure) {
	_ = f.call("groups of", "%s", cluster)
	return f.groups, f.failed["groups of"]
}

func (f *fake) InterfacesWith(_ context.Context, groups []string) ([]snapshot.Interface, *snapshot.Failure) {
	_ = f.call("interfaces", "%s", groups)
	return nil, f.failed["interfaces"]
}

func (f *fake) Read(_ context.Context, q gather.Query) (*snapshot.Snapshot, error) {
	var groups, launches, failed []string
	for _, g := range q.Groups {
		groups = append(groups, g.Name)
	}
	for _, l := range q.Launches {
		launches = append(launches, fmt.Sprintf("%s %s-%s", l.Instance, at(l.Started), at(l.Due)))
	}
	for _, x := range q.Failed {
		failed = append(failed, x.Call)
	}
	err := f.call("read", "%s %s %s at %s subnets %s instances %s of %d groups %s launches %s failed %s all %t",
		q.Cluster, q.Account, q.Region, at(q.Time), q.Scope.Subnets, q.Scope.Instances, len(q.Instances), groups, launches, failed, q.AllNodegroups)
	if err != nil {
		return nil, err
	}
	s := snapshottest.PrivateWithNAT()
	sub := *snapshottest.Subnet(s, snapshottest.Private)
	sub.ID, sub.Zone = placed, "us-west-2b"
	s.Subnets = append(s.Subnets, sub)
	s.RouteTables = append(s.RouteTables, snapshot.RouteTable{
		ID: table, VPC: snapshottest.VPC, Subnets: []string{placed}, Routes: []snapshot.Route{snapshottest.Local()}, Tags: map[string]string{},
	})
	s.Groups[0].Subnets = append(s.Groups[0].Subnets, placed)
	remedytest.Missed(s)
	snapshottest.Instance(s, remedytest.Stuck).Subnet = placed
	s.Scope.Subnets, s.Scope.Instances = []string{placed}, []string{remedytest.Stuck}
	if f.world != nil {
		f.world(s)
	}
	if f.later != nil && f.times["read"] > 1 {
		f.later(s)
	}
	return s, nil
}

func (f *fake) Do(_ context.Context, p remedy.Plan, token string) action.Result {
	_ = f.call("do", "%s by %s", p.Remedy, token)
	return f.result
}

func (f *fake) SendProposal(_ context.Context, p report.Proposal) error {
	return f.call("proposal", "%s of %s/%s at %s: %s %s lasts %s %q %q after %s tried %d hash %q plan of %q",
		p.ID, p.Key.Check, p.Key.Resource, at(p.At), p.Remedy, p.Policy, p.Lasts, p.Reason, p.Says, at(p.After), p.Tried, p.Hash, p.Plan.Resource)
}

func (f *fake) SendRemedyResult(_ context.Context, d report.RemedyResult) error {
	return f.call("run", "%s of %s/%s at %s: %s", d.ID, d.Key.Check, d.Key.Resource, at(d.At), remedyText(d.Run))
}

func (f *fake) RemedyAgain(_ context.Context, event string, delay time.Duration) error {
	return f.call("again", "%s in %s", event, delay)
}

func (f *fake) Tell(_ context.Context, events []incident.Event) error {
	var lines []string
	for _, e := range events {
		lines = append(lines, fmt.Sprintf("%s %s of %s/%s/%s at %s", e.ID, e.Kind, e.Cluster, e.Check, e.Resource, at(e.At)))
	}
	return f.call("tell", "%s", lines)
}

// AWS refuses, throttles or does not answer: the world is as it was, and what
// is said is so.
func TestFailureChangesNothing(t *testing.T) {
	for _, test := range []struct {
		name  string
		fault simaws.FaultRule
		want  remedy.Status
	}{
		{"denied", simaws.FaultRule{Call: "ec2:CreateRoute", Deny: true}, remedy.Failed},
		{"throttled", simaws.FaultRule{Call: "ec2:CreateRoute", Throttle: 1}, remedy.Failed},
		{"a server's fault", simaws.FaultRule{Call: "ec2:CreateRoute", Fail: 1}, remedy.Uncertain},
		{"reset", simaws.FaultRule{Call: "ec2:CreateRoute", Reset: true}, remedy.Uncertain},
	} {
		s := start(t, byItself, stagetest.Options{Settings: settingsOf(byItself), Faults: []simaws.FaultRule{test.fault}})
		if n := s.tell(opened); n != 0 {
			t.Errorf("%s: %d messages came back", test.name, n)
		}
		_, runs := s.said()
		if len(runs) != 1 || runs[0].Result != test.want || runs[0].Says == "" {
			t.Errorf("%s: runs %+v, want %s", test.name, runs, test.want)
		}
		if len(s.routes()) != 1 {
			t.Errorf("%s: routes %v", test.name, s.routes())
		}
		for range 2 {
			s.tell(opened)
		}
		if n := s.Calls()["ec2:CreateRoute"]; n != 1 {
			t.Errorf("%s: %d calls of CreateRoute", test.name, n)
		}
	}
}

// executor does what a test wants around the real run.
type executor struct {
	Executor
	mu     sync.Mutex
	calls  int
	before func() // ends the run before it acts
	after  func(action.Result) action.Result
}

func (d *executor) Do(ctx context.Context, p remedy.Plan, token string) action.Result {
	d.mu.Lock()
	d.calls++
	d.mu.Unlock()
	if d.before != nil {
		d.before()
	}
	result := d.Executor.Do(ctx, p, token)
	if d.after != nil {
		return d.after(result)
	}
	return result
}

// killed plays a run that ends in the middle: nothing after that point is done.
func killed(s *harness, what string) {
	defer func() {
		if recover() == nil {
			s.t.Error("the run was not ended")
		}
	}()
	s.tell(what)
}

func TestKilledBetweenClaimAndRun(t *testing.T) {
	s := start(t, byItself, stagetest.Options{})
	d := &executor{Executor: s.h.do, before: func() { panic("killed") }}
	s.h.do = d
	killed(s, opened)
	s.said()
	if n := s.tell(opened); n != 1 {
		t.Error("while the other run may be at it, the message must come back")
	}
	s.Advance(lease + time.Second)
	d.before = nil
	if n := s.tell(opened); n != 0 {
		t.Errorf("%d messages came back: %s", n, s.Logs())
	}
	_, runs := s.said()
	if len(runs) != 1 || runs[0].Result != remedy.Uncertain || runs[0].Reason != "interrupted" {
		t.Errorf("runs %+v", runs)
	}
	if d.calls != 1 || len(s.routes()) != 1 {
		t.Errorf("%d runs, routes %v: it is never done again", d.calls, s.routes())
	}
}

func TestKilledAfterRun(t *testing.T) {
	s := start(t, byItself, stagetest.Options{})
	d := &executor{Executor: s.h.do, after: func(action.Result) action.Result { panic("killed") }}
	s.h.do = d
	killed(s, opened)
	s.said()
	s.Advance(lease + time.Second)
	for range 2 {
		if n := s.tell(opened); n != 0 {
			t.Errorf("%d messages came back: %s", n, s.Logs())
		}
	}
	_, runs := s.said()
	// It is reported until report's record has it; report takes it in once, by its id.
	for _, x := range runs {
		if x.Result != remedy.Done || x.ID != runs[0].ID {
			t.Errorf("run %+v", x)
		}
	}
	if len(runs) == 0 || d.calls != 1 || s.routes()["0.0.0.0/0"] != nat {
		t.Errorf("%d told, %d done, routes %v", len(runs), d.calls, s.routes())
	}
}

// The incident that a run was ended in is over, and opens again before anybody
// comes back to what the run left: that is still found out, recorded and told,
// and the policy counts it as done. It was taken back meanwhile.
func TestKilledInAnEarlierOpening(t *testing.T) {
	s := start(t, byItself, stagetest.Options{})
	d := &executor{Executor: s.h.do, after: func(action.Result) action.Result { panic("killed") }}
	s.h.do = d
	killed(s, opened)
	s.said()
	d.after = nil
	s.Call("ec2:DeleteRoute", `{"RouteTableId":"`+stagetest.Table+`","DestinationCidrBlock":"0.0.0.0/0"}`)
	s.Advance(30 * time.Minute)
	inc := s.inc
	inc.Opened, inc.Number = s.Now(), 2
	s.save(inc)
	if n := s.tell("Rollcall Incident Reopened"); n != 0 {
		t.Fatalf("%d messages came back: %s", n, s.Logs())
	}
	list, runs := s.said()
	if len(runs) != 1 || runs[0].Result != remedy.Uncertain || runs[0].Reason != "interrupted" {
		t.Errorf("runs %+v", runs)
	}
	kept, err := s.Store.Runs(t.Context(), stagetest.Cluster)
	if err != nil || len(kept) != 1 || kept[0].Ended.IsZero() {
		t.Errorf("audit %+v, %v", kept, err)
	}
	if d.calls != 1 || len(s.routes()) != 1 || len(list) != 1 || list[0].Policy != optin.Approve || list[0].Says == "" {
		t.Errorf("%d runs, routes %v, proposals %+v: the policy does not fight whoever took it back", d.calls, s.routes(), list)
	}
}

// The answer is lost, and what is so now is looked up.
func TestLostAnswer(t *testing.T) {
	s := start(t, byItself, stagetest.Options{})
	s.h.do = &executor{Executor: s.h.do, after: func(action.Result) action.Result { return action.Result{Status: remedy.Uncertain} }}
	s.tell(opened)
	if _, runs := s.said(); len(runs) != 1 || runs[0].Result != remedy.Done || !strings.Contains(runs[0].Says, "No response") {
		t.Errorf("runs %+v", runs)
	}
}

// deaf cannot tell report.
type deaf struct {
	Sender
	deaf bool
}

func (d *deaf) SendRemedyResult(ctx context.Context, x report.RemedyResult) error {
	if d.deaf {
		return errors.New("the queue does not answer")
	}
	return d.Sender.SendRemedyResult(ctx, x)
}

func TestToldLater(t *testing.T) {
	s := start(t, byItself, stagetest.Options{})
	ear := &deaf{Sender: s.h.send, deaf: true}
	s.h.send = ear
	if n := s.tell(opened); n != 1 {
		t.Fatal("what is not told must come back")
	}
	ear.deaf = false
	s.tell(opened)
	if _, runs := s.said(); len(runs) != 1 || runs[0].Result != remedy.Done {
		t.Errorf("runs %+v", runs)
	}
	if n := s.Calls()["ec2:CreateRoute"]; n != 1 {
		t.Errorf("%d calls of CreateRoute", n)
	}
}

func TestTwoAtOnce(t *testing.T) {
	s := start(t, byPerson, stagetest.Options{})
	s.approve(s.offered())
	d := &executor{Executor: s.h.do}
	s.h.do = d
	body := s.incidentEvent(approval)
	var all sync.WaitGroup
	for range 6 {
		all.Go(func() { _, _ = s.TrySend(body) })
	}
	all.Wait()
	if d.calls != 1 || s.routes()["0.0.0.0/0"] != nat {
		t.Errorf("%d runs, routes %v", d.calls, s.routes())
	}
}

// Another client, or the incident of another cluster with the same table, is
// faster by the blink between the last look and the call: AWS refuses a second
// route, theirs stays, and nothing is claimed.
func TestAnotherIsFaster(t *testing.T) {
	s := start(t, byItself, stagetest.Options{})
	s.h.do = &executor{Executor: s.h.do, before: func() {
		s.Call("ec2:CreateRoute", `{"RouteTableId":"`+stagetest.Table+`","DestinationCidrBlock":"0.0.0.0/0","GatewayId":"igw-0d40000000000000e"}`)
	}}
	s.tell(opened)
	if _, runs := s.said(); len(runs) != 1 || runs[0].Result != remedy.Failed || runs[0].Reason != "RouteAlreadyExists" || len(runs[0].Changed) != 0 {
		t.Errorf("runs %+v", runs)
	}
	if s.routes()["0.0.0.0/0"] != "igw-0d40000000000000e" {
		t.Errorf("routes %v: theirs is gone", s.routes())
	}
}

// A clock that jumps never makes a remedy act twice, nor late.
func TestClockJumps(t *testing.T) {
	for name, jump := range map[string]time.Duration{"back": -3 * time.Hour, "ahead": 3 * time.Hour} {
		s := start(t, byPerson, stagetest.Options{})
		s.approve(s.offered())
		now := s.h.now
		s.tell(approval)
		s.said()
		s.Call("ec2:DeleteRoute", `{"RouteTableId":"`+stagetest.Table+`","DestinationCidrBlock":"0.0.0.0/0"}`)
		s.h.now = func() time.Time { return now().Add(jump) }
		s.tell(approval)
		if n := s.Calls()["ec2:CreateRoute"]; n != 1 || len(s.routes()) != 1 {
			t.Errorf("%s: %d calls, routes %v", name, n, s.routes())
		}
		late := start(t, byPerson, stagetest.Options{})
		late.approve(late.offered())
		now = late.h.now
		late.h.now = func() time.Time { return now().Add(3 * time.Hour) }
		late.tell(approval)
		if n := late.Calls()["ec2:CreateRoute"]; n != 0 {
			t.Errorf("%s: an approval that is over acts", name)
		}
	}
}

const (
	byPerson = stagetest.Cluster + "/add-nat-route=approve"
	byItself = stagetest.Cluster + "/add-nat-route=auto"
	nat      = "nat-0aa40000000000001"
)

// What is not this function's to do changes nothing.
func TestChangesNothing(t *testing.T) {
	for _, test := range []struct {
		name     string
		remedies string
		wrong    func(*harness)
		event    string
	}{
		{"the remedy is off", "off", nil, opened},
		{"another remedy is on", stagetest.Cluster + "/replace-instance=auto", nil, opened},
		{"another cluster's is on", "dev/add-nat-route=auto", nil, opened},
		{"the incident is resolved", byItself, nil, "Rollcall Incident Resolved"},
		{"the incident is closed", byItself, func(s *harness) { s.inc.State, s.inc.Resolved = incident.Closed, s.Now() }, opened},
		{"the incident is not said yet", byItself, func(s *harness) { s.inc.State = incident.Pending }, opened},
		{"somebody silenced it", byItself, func(s *harness) { s.inc.Silence = &incident.Silenced{ID: "ab12cd34", Until: s.Now().Add(time.Hour)} }, opened},
		{"somebody silenced it, and nobody is asked", byPerson, func(s *harness) { s.inc.Silence = &incident.Silenced{ID: "ab12cd34", Until: s.Now().Add(time.Hour)} }, opened},
		{"the cause has no remedy", byItself, func(s *harness) { s.inc.Cause.Fix.Remedy = "" }, opened},
		{"a remedy that is not known", byItself, func(s *harness) { s.inc.Cause.Fix.Remedy = "reboot-everything" }, opened},
		{"an approval that nobody gave", byPerson, func(s *harness) {
			s.inc.Offers = []incident.Offer{{Plan: remedy.Plan{Remedy: optin.AddNATRoute}, Hash: "x", State: incident.RefusedByUs, Made: s.Now()}}
		}, approval},
		{"the approval of a time before", byPerson, func(s *harness) {
			s.inc.Offers = []incident.Offer{{Plan: remedy.Plan{Remedy: optin.AddNATRoute}, Hash: "x", Policy: optin.Approve, State: incident.Approved, Made: s.inc.Opened.Add(-time.Hour)}}
		}, approval},
	} {
		s := start(t, test.remedies, stagetest.Options{})
		if test.wrong != nil {
			test.wrong(s)
			s.save(s.inc)
		}
		if n := s.tell(test.event); n != 0 {
			t.Errorf("%s: %d messages came back: %s", test.name, n, s.Logs())
		}
		_, runs := s.said()
		if len(runs) != 0 {
			t.Errorf("%s: runs %+v", test.name, runs)
		}
		s.untouched()
	}
}

// Anybody who may put events could say anything: an incident that the table
// does not have is none, and what cannot be read goes to the dead letters.
func TestTrustsNoEvent(t *testing.T) {
	s := start(t, byItself, stagetest.Options{})
	for _, k := range []report.Key{
		{Cluster: stagetest.Cluster, Check: "route/no-egress", Resource: "rtb-0a700000000000001"},
		{Cluster: "dev", Check: "route/no-egress", Resource: stagetest.Table},
		{Cluster: stagetest.Cluster, Check: "sg/node-egress", Resource: stagetest.Table},
	} {
		if back := s.Send(s.eventFor(approval, k)); len(back) != 0 {
			t.Errorf("%+v came back", k)
		}
	}
	for _, body := range []string{"", "{", `{"source":"rollcall","detail-type":"Rollcall Remedy Approved","time":"2026-11-20T15:00:00Z","detail":{}}`} {
		if back := s.Send(body); len(back) != 1 {
			t.Errorf("%q did not come back", body)
		}
	}
	if _, err := s.Handle(s.Sweep()); err == nil {
		t.Error("a schedule wakes it")
	}
	if p, d := s.said(); len(p)+len(d) != 0 {
		t.Errorf("said %+v, %+v", p, d)
	}
	s.untouched()
}

func TestOffersOnce(t *testing.T) {
	s := start(t, byPerson, stagetest.Options{})
	p := s.offered()
	if p.Policy != optin.Approve || p.Plan.Route == nil || p.Plan.Route.NAT != nat || p.Plan.Route.Table != stagetest.Table || p.Lasts != time.Hour || p.Hash != p.Plan.Hash() {
		t.Errorf("proposal %+v of %+v", p, p.Plan.Route)
	}
	s.untouched()
	for _, state := range []incident.OfferState{incident.Offered, incident.RefusedByUs, incident.Unhelpful} {
		inc := s.inc
		inc.Offers = []incident.Offer{{Plan: p.Plan, Hash: p.Hash, Policy: p.Policy, State: state, Made: p.At, Expires: p.At.Add(time.Hour)}}
		s.save(inc)
		s.tell("Rollcall Incident Changed")
		if list, _ := s.said(); len(list) != 0 {
			t.Errorf("%s: the same plan is offered again: %+v", state, list)
		}
	}
	// Without the gateway there is no plan, and the offer falls.
	inc := s.inc
	inc.Offers[0].State = incident.Offered
	s.save(inc)
	s.Call("ec2:DeleteNatGateway", `{"NatGatewayId":"`+nat+`"}`)
	s.Advance(5 * time.Minute)
	s.tell("Rollcall Incident Changed")
	list, _ := s.said()
	if len(list) != 1 || list[0].Hash != "" || list[0].Reason != string(addnatroute.NoNAT) || list[0].Says == "" {
		t.Errorf("proposals %+v, want that it is taken back", list)
	}
}

// The approval of a VPC is the operator's: without it there is no offer.
func TestVPCNotOptedIn(t *testing.T) {
	s := start(t, byItself, stagetest.Options{Settings: map[string]string{"ROLLCALL_REMEDIES": byItself}})
	s.tell(opened)
	list, runs := s.said()
	if len(list) != 1 || list[0].Hash != "" || list[0].Reason != string(notOptedIn) || len(runs) != 0 {
		t.Errorf("proposals %+v, runs %+v", list, runs)
	}
	s.untouched()
}

// What cannot be read is not planned.
func TestBlindPlansNothing(t *testing.T) {
	s := start(t, byItself, stagetest.Options{Settings: settingsOf(byItself), Faults: []simaws.FaultRule{{Call: "ec2:DescribeNatGateways", Deny: true}}})
	s.tell(opened)
	list, runs := s.said()
	if len(list) != 1 || list[0].Reason != string(remedy.CouldNotLook) || !strings.Contains(list[0].Says, "ec2:DescribeNatGateways") || len(runs) != 0 {
		t.Errorf("proposals %+v, runs %+v", list, runs)
	}
	s.untouched()
}

// A look that fails is nothing against a plan that was made from one that did
// not: the offer stands, and is looked at again once it is approved.
func TestBlindTakesNothingBack(t *testing.T) {
	s := start(t, byPerson, stagetest.Options{Settings: settingsOf(byPerson), Faults: []simaws.FaultRule{{Call: "ec2:DescribeNatGateways", Deny: true}}})
	p := remedy.Plan{Format: remedy.Format, Remedy: optin.AddNATRoute, Cluster: s.inc.Key.Cluster, Check: s.inc.Key.Check, Resource: s.inc.Key.Resource, Route: &remedy.AddNATRoute{Table: stagetest.Table, NAT: nat}}
	inc := s.inc
	inc.Offers = []incident.Offer{{Plan: p, Hash: p.Hash(), Policy: optin.Approve, State: incident.Offered, Made: inc.Opened.Add(time.Second), Expires: inc.Opened.Add(time.Hour)}}
	s.save(inc)
	s.tell("Rollcall Incident Changed")
	if list, runs := s.said(); len(list) != 0 || len(runs) != 0 {
		t.Errorf("proposals %+v, runs %+v", list, runs)
	}
	s.untouched()
}

const vpc = "vpc-0a1b2c3d4e5f60718"

// harness is a bench on which one instance cannot join for want of a route.
type harness struct {
	*stagetest.Bench
	t   *testing.T
	id  string // of the instance
	inc incident.Incident
	// h is the handler, whose parts a test may change.
	h *handler
}

func settingsOf(remedies string, more ...string) map[string]string {
	s := map[string]string{"ROLLCALL_REMEDIES": remedies, "ROLLCALL_REMEDY_VPCS": vpc, "ROLLCALL_REMEDY_ROLES": nodeRole}
	for i := 0; i+1 < len(more); i += 2 {
		s[more[i]] = more[i+1]
	}
	return s
}

// bench is the function on a stage, without an incident.
func bench(t *testing.T, remedies string, o stagetest.Options) *harness {
	t.Helper()
	if o.Settings == nil {
		o.Settings = settingsOf(remedies)
	}
	s := &harness{t: t}
	s.Bench = stagetest.Start(t, spec.Spec(), func(ctx context.Context, e lambda.Env) (lambda.Handler, error) {
		if built, err := Build(ctx, e); built == nil || err != nil {
			t.Fatal("no handler is built", err)
		}
		h := newHandler(e)
		s.h = &h
		return func(ctx context.Context, raw json.RawMessage) (any, error) { return s.h.handle(ctx, raw) }, nil
	}, o)
	return s
}

func start(t *testing.T, remedies string, o stagetest.Options) *harness {
	t.Helper()
	s := bench(t, remedies, o)
	s.Scale(1)
	s.id = s.Instance(s.LaunchEvents(0)[0])
	s.Advance(6 * time.Minute)
	s.save(incident.Incident{
		Key:    report.Key{Cluster: stagetest.Cluster, Check: "route/no-egress", Resource: stagetest.Table},
		Format: report.Format, Account: s.Template.AccountID, Region: s.Template.Region, Partition: "aws",
		State: incident.Open, Number: 1, Began: s.Now().Add(-6 * time.Minute), Opened: s.Now().Add(-time.Minute), Changed: s.Now(), Seen: s.Now(),
		Cause: diagnosis.Cause{
			Check: "route/no-egress", Confidence: finding.Certain, Resource: stagetest.Table, Covers: []string{stagetest.Subnet},
			Title: "no route to the internet", Fix: finding.Fix{Remedy: string(optin.AddNATRoute)}, Nodegroups: []string{stagetest.Nodegroup},
		},
		Covers:   []string{stagetest.Subnet},
		Launches: []report.Launch{{Instance: s.id, Nodegroup: stagetest.Nodegroup, Group: stagetest.Group, Subnet: stagetest.Subnet, Started: s.Now().Add(-6 * time.Minute), Status: outcome.Missed}},
		Affected: 1,
	})
	return s
}

// save writes the incident as report does.
func (s *harness) save(inc incident.Incident) {
	s.t.Helper()
	saved, err := s.Store.SaveIncident(s.t.Context(), inc)
	if err != nil {
		s.t.Fatal(err)
	}
	s.inc = saved
}

// incidentEvent is an event of the incident on the bus.
func (s *harness) incidentEvent(what string) string {
	return s.eventFor(what, s.inc.Key)
}

func (s *harness) eventFor(what string, k report.Key) string {
	return fmt.Sprintf(`{"version":"0","id":"e-1","source":"rollcall","detail-type":%q,"account":"999999999999","region":"x","time":%q,"detail":{"cluster":%q,"check":%q,"resource":%q}}`,
		what, s.Now().UTC().Format(time.RFC3339), k.Cluster, k.Check, k.Resource)
}

const (
	opened   = "Rollcall Incident Opened"
	approval = "Rollcall Remedy Approved"
)

// tell gives the handler an event, and tells how many messages came back.
func (s *harness) tell(what string) int {
	s.t.Helper()
	return len(s.Send(s.incidentEvent(what)))
}

// said is what was sent to report since the last time.
func (s *harness) said() (proposals []report.Proposal, runs []remedy.Run) {
	s.t.Helper()
	for _, m := range s.Results() {
		if m.Proposal != nil {
			proposals = append(proposals, *m.Proposal)
		}
		if m.RemedyResult != nil {
			runs = append(runs, m.RemedyResult.Run)
		}
	}
	return proposals, runs
}

// approve is what report does with a proposal and a press.
func (s *harness) approve(p report.Proposal) {
	s.t.Helper()
	inc := s.inc
	inc.Offers = append(inc.Offers, incident.Offer{
		Plan: p.Plan, Hash: p.Hash, Policy: p.Policy, State: incident.Approved, Made: p.At, Expires: p.At.Add(p.Lasts),
		By: report.User{ID: "U0ONCALL01"}, Decided: s.Now(),
	})
	s.save(inc)
}

// offered proposes the plan, and gives it.
func (s *harness) offered() report.Proposal {
	s.t.Helper()
	if n := s.tell(opened); n != 0 {
		s.t.Fatalf("%d messages came back: %s", n, s.Logs())
	}
	list, runs := s.said()
	if len(list) != 1 || len(runs) != 0 || list[0].Hash == "" {
		s.t.Fatalf("proposals %+v, runs %+v", list, runs)
	}
	return list[0]
}

// routes are the rows of the table in question, by destination.
func (s *harness) routes() map[string]string {
	s.t.Helper()
	out, err := s.World.EC2().DescribeRouteTables(&ec2.DescribeRouteTablesInput{RouteTableIds: []string{stagetest.Table}})
	if err != nil {
		s.t.Fatal(err)
	}
	rows := map[string]string{}
	for _, r := range out.RouteTables[0].Routes {
		rows[aws.ToString(r.DestinationCidrBlock)] = aws.ToString(r.NatGatewayId) + aws.ToString(r.GatewayId)
	}
	return rows
}

// wanted are the checks that were asked for on the bus.
func (s *harness) wanted() (n int) {
	s.t.Helper()
	for _, p := range s.Events() {
		if t, err := event.Parse(p.Event); err == nil && t.Kind == event.CheckWanted {
			n++
		}
	}
	return n
}

// untouched holds that the world and the records are as they were.
func (s *harness) untouched() {
	s.t.Helper()
	if rows := s.routes(); len(rows) != 1 || s.wanted() != 0 {
		s.t.Errorf("routes %v, %d checks wanted; want none of it", rows, s.wanted())
	}
}
