package remediate

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"rollcall/shared/gather"
	"rollcall/shared/incident"
	"rollcall/shared/network/leak"
	"rollcall/shared/remedy"
	"rollcall/shared/remedy/action"
	"rollcall/shared/remedy/optin"
	"rollcall/shared/remedy/remedytest"
	"rollcall/shared/report"
	"rollcall/shared/snapshot"
	"rollcall/shared/snapshot/snapshottest"
)

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
		clock: minute(30), result: action.Result{Status: action.Done, Says: "Done.", Changed: []string{table}, Requests: []string{"req"}},
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
