// Package notifytest is what deliveries are tried with, here and in the report function: a
// Slack, a bus and a table in memory, and the observations of one story.
package notifytest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/aws/smithy-go"

	"rollcall/shared/catalog"
	"rollcall/shared/checkid"
	"rollcall/shared/checks/finding"
	"rollcall/shared/diagnosis"
	"rollcall/shared/incident"
	"rollcall/shared/node/spotreport"
	"rollcall/shared/outbox"
	"rollcall/shared/report"
	"rollcall/shared/silence"
	"rollcall/shared/slack/slackapi"
	"rollcall/shared/store"
)

var Start = time.Date(2026, 11, 20, 14, 59, 0, 0, time.UTC)

// The route story.

const (
	Subnet     = "subnet-0ab1c2d3e4f5a6b7c"
	RouteTable = "rtb-0cd2e3f4a5b6c7d8e"
)

func Observation() report.Observation {
	return report.Observation{Format: report.Format, By: "join-check", Account: "111122223333", Region: "us-west-2", Partition: "aws", Cluster: "eks-workshop"}
}

func Launch(id string, started int, standing report.LaunchStatus) report.Launch {
	l := report.Launch{
		Instance: id, Nodegroup: "new_nodegroup_2", Group: "eks-new", Subnet: Subnet, Zone: "us-west-2a", Type: "m5.large",
		Started: Start.Add(time.Duration(started) * time.Minute), Status: standing,
	}
	if standing == report.Joined {
		l.Ready = l.Started.Add(58 * time.Second)
	}
	return l
}

func Failing(launches ...report.Launch) report.Observation {
	obs := Observation()
	cause := diagnosis.Cause{
		Check: checkid.RouteNoEgress, Confidence: catalog.Certain, Resource: RouteTable, Covers: []string{Subnet}, Nodegroups: []string{"new_nodegroup_2"},
		Title: Subnet + " has no route to the internet", Why: RouteTable + " has only 10.42.0.0/16 → local.",
		Evidence: []finding.Evidence{{What: RouteTable, Value: "10.42.0.0/16 → local"}},
	}
	for _, l := range launches {
		cause.Instances = append(cause.Instances, l.Instance)
	}
	obs.Diagnosis.Causes, obs.Launches = []diagnosis.Cause{cause}, launches
	return obs
}

func Passing(launches ...report.Launch) report.Observation {
	obs := Observation()
	obs.Diagnosis.Passed = []diagnosis.Passed{{Check: checkid.RouteNoEgress, Covers: []string{Subnet}, Evidence: []finding.Evidence{{What: RouteTable, Value: "0.0.0.0/0 → nat-0aa4"}}}}
	obs.Launches = launches
	return obs
}

func Sweep() report.Observation {
	obs := Observation()
	obs.Sweep = true
	return obs
}

const Instance1, Instance2 = "i-0ef3c1b2a4d5968f1", "i-0f15a6b7c8d9e0f1a"

// Step is one invocation.
type Step struct {
	Minute int
	Obs    report.Observation
}

func RouteStory() []Step {
	return []Step{
		{0, Failing(Launch(Instance1, 0, report.Waiting))},
		{5, Failing(Launch(Instance1, 0, report.Missed))},
		{10, Passing(Launch(Instance1, 0, report.Missed))},
		{14, Passing(Launch(Instance1, 0, report.Gone), Launch(Instance2, 12, report.Joined))},
		{15, Sweep()},
	}
}

const AllNotes = "opened missed cleared proved"

func Daily(failed int) report.Summary {
	return report.Summary{
		Format: report.SummaryFormat, Kind: report.SpotSummary, ID: "spot/eks-workshop/2026-11-20", By: "spot-report", At: Start, Cluster: "eks-workshop", Region: "us-west-2", Partition: "aws",
		Spot:  spotreport.Report{Cluster: "eks-workshop", From: Start.Add(-24 * time.Hour), To: Start, Spot: spotreport.Funnel{Requested: 412, NotJoined: failed, Joined: 412 - failed}},
		Chart: []byte("\x89PNG"),
	}
}

// Cleanup is what eni-cleanup tells after a run.
func Cleanup(minute, interfaces int) report.Summary {
	return report.Summary{
		Format: report.SummaryFormat, Kind: report.CleanupSummary, ID: "cleanup/eks-workshop/2026-11-20", By: "eni-cleanup",
		At: Start.Add(time.Duration(minute) * time.Minute), Cluster: "eks-workshop", Region: "us-west-2", Partition: "aws",
		Cleanup: &report.Cleanup{Mode: "delete", Day: Start.Truncate(24 * time.Hour), VPC: "vpc-0ab1c2d3e4f5a6b7c", Subnets: []report.CleanupSubnet{
			{Subnet: Subnet, Zone: "us-west-2a", Interfaces: interfaces, Addresses: 3 * interfaces, Nodes: 4, Free: 43},
		}},
	}
}

const Oncall, Dana = "U0ONCALL01", "U0DANA0001"

// Bus is a bus that remembers what it was told.
type Bus struct {
	Told  []incident.Event
	Weeks []incident.Week
	Fail  error
}

func (e *Bus) TellWeek(_ context.Context, w incident.Week) error {
	if e.Fail == nil {
		e.Weeks = append(e.Weeks, w)
	}
	return e.Fail
}

func (e *Bus) Tell(_ context.Context, events []incident.Event) error {
	if e.Fail != nil {
		return e.Fail
	}
	e.Told = append(e.Told, events...)
	return nil
}

func (e *Bus) Kinds() string {
	var kinds []string
	for _, event := range e.Told {
		kinds = append(kinds, string(event.Kind))
	}
	return strings.Join(kinds, " ")
}

// RefusingBus refuses until a time, and forgets what it takes.
type RefusingBus struct{ Refuses time.Time }

func (b RefusingBus) Tell(context.Context, []incident.Event) error {
	if time.Now().Before(b.Refuses) {
		return &smithy.GenericAPIError{Code: "AccessDeniedException", Message: "not authorized to perform: events:PutEvents"}
	}
	return nil
}

func (b RefusingBus) TellWeek(ctx context.Context, _ incident.Week) error { return b.Tell(ctx, nil) }

type AgainFunc func(o report.Observation) error

func (f AgainFunc) SendResult(_ context.Context, o report.Observation) error { return f(o) }

// Slack is a Slack in memory: what was said, and how it fails.
type Slack struct {
	Messages []Message
	Files    []slackapi.File
	Shared   []slackapi.File // in threads
	Answers  []string
	Members  map[string][]string // of user groups
	// Enterprise is the app's organization, unplaced why its workspace is not known.
	Enterprise     string
	WorkspaceError error
	// Guests are users that are guests of the workspace; GuestError is why that is not known.
	Guests     []string
	GuestError error
	// Fail, if set, decides on each call: an error before it is done, or, with
	// cut, after it.
	Fail func(call string) (err error, cut bool)
	// Calls are all that were made, in order.
	Calls []string
}

type Message struct {
	Channel, Ts, Thread string
	Text                string
	digest              string
	Tag                 slackapi.Tag
	Picture             string
	Edits               int
	Broadcast           bool
}

func (c *Slack) do(call string, act func()) error {
	c.Calls = append(c.Calls, call)
	if c.Fail != nil {
		if err, cut := c.Fail(call); err != nil {
			if cut {
				act()
			}
			return err
		}
	}
	act()
	return nil
}

func (c *Slack) add(id, thread string, m slackapi.Message) (ts string) {
	ts = fmt.Sprintf("%d.000100", 1700000000+len(c.Messages))
	c.Messages = append(c.Messages, Message{Channel: id, Ts: ts, Thread: thread, Text: m.Text, digest: m.Digest(), Tag: m.Tag, Picture: pictureOf(m)})
	return ts
}

func (c *Slack) Post(_ context.Context, id string, m slackapi.Message) (ts string, err error) {
	err = c.do("post", func() { ts = c.add(id, "", m) })
	if err != nil {
		return "", err
	}
	return ts, nil
}

func (c *Slack) Upload(_ context.Context, f slackapi.File) (id string, err error) {
	err = c.do("upload", func() {
		c.Files = append(c.Files, f)
		id = fmt.Sprintf("F%09d", len(c.Files))
	})
	if err != nil {
		return "", err
	}
	return id, nil
}

func (c *Slack) Share(_ context.Context, _, thread string, f slackapi.File) (id string, err error) {
	err = c.do("share", func() { c.Shared = append(c.Shared, f) })
	if err != nil {
		return "", err
	}
	return thread + "/" + f.Name, nil
}

func (c *Slack) Reply(_ context.Context, id, thread string, m slackapi.Message) (ts string, err error) {
	if c.find(thread) < 0 {
		return "", &slackapi.Error{Kind: slackapi.MessageGone, Method: "chat.postMessage", Code: "thread_not_found"}
	}
	err = c.do("reply "+m.Tag.Note, func() { ts = c.add(id, thread, m) })
	if err != nil {
		return "", err
	}
	return ts, nil
}

func (c *Slack) Broadcast(ctx context.Context, id, thread string, m slackapi.Message) (ts string, err error) {
	if ts, err = c.Reply(ctx, id, thread, m); err == nil {
		c.Messages[c.find(ts)].Broadcast = true
	}
	return ts, err
}

func (c *Slack) Ephemeral(_ context.Context, id, user, thread string, m slackapi.Message) error {
	return c.do("ephemeral "+user, func() { c.Answers = append(c.Answers, user+": "+m.Text) })
}

// Home is the workspace of the tests' people.
const Home = "T0STAGE001"

// Workspace is known from before, as the session knows it, unless a test says that
// it is not.
func (c *Slack) Workspace(context.Context) (report.Workspace, error) {
	return report.Workspace{ID: Home, Enterprise: c.Enterprise}, c.WorkspaceError
}

// Guest tells of the guests, unless a test says that it cannot be told.
func (c *Slack) Guest(_ context.Context, user string) (bool, error) {
	return slices.Contains(c.Guests, user), c.GuestError
}

func (c *Slack) GroupMembers(_ context.Context, group string) (users []string, err error) {
	err = c.do("members "+group, func() { users = c.Members[group] })
	if err != nil {
		return nil, err
	}
	return users, nil
}

func (c *Slack) Update(_ context.Context, _, ts string, m slackapi.Message) error {
	i := c.find(ts)
	if i < 0 {
		c.Calls = append(c.Calls, "update")
		return &slackapi.Error{Kind: slackapi.MessageGone, Method: "chat.update", Code: "message_not_found"}
	}
	return c.do("update", func() {
		c.Messages[i].Text, c.Messages[i].digest, c.Messages[i].Picture = m.Text, m.Digest(), pictureOf(m)
		c.Messages[i].Edits++
	})
}

func (c *Slack) Find(_ context.Context, s slackapi.Search) (found slackapi.Found, err error) {
	err = c.do("find "+s.Tag.Note, func() {
		for _, m := range c.Messages {
			if m.Channel == s.Channel && m.Thread == s.Thread && m.Tag == s.Tag {
				found.TS = m.Ts
			}
		}
	})
	return found, err
}

// pictureOf is the file that a message shows.
func pictureOf(m slackapi.Message) string {
	body, _ := json.Marshal(m.Blocks)
	_, rest, _ := strings.Cut(string(body), `"slack_file":{"id":"`)
	id, _, _ := strings.Cut(rest, `"`)
	return id
}

func (c *Slack) find(ts string) int {
	return slices.IndexFunc(c.Messages, func(m Message) bool { return m.Ts == ts })
}

// Posts and notes are what a reader of the channel sees.
func (c *Slack) Posts() (list []Message) {
	for _, m := range c.Messages {
		if m.Thread == "" {
			list = append(list, m)
		}
	}
	return list
}

func (c *Slack) Notes() (ids []string) {
	for _, m := range c.Messages {
		if m.Thread != "" {
			ids = append(ids, m.Tag.Note)
		}
	}
	return ids
}

// View is the channel without the number of edits and without timestamps.
func (c *Slack) View() (lines []string) {
	for _, m := range c.Messages {
		lines = append(lines, m.Tag.Key+" "+m.Tag.Note+": "+m.Text+" "+m.digest)
	}
	return lines
}

func Down(string) (error, bool) {
	return &slackapi.Error{Kind: slackapi.Unavailable, Method: "chat.postMessage", Status: 503}, false
}

func RateLimited(string) (error, bool) {
	return &slackapi.Error{Kind: slackapi.RateLimited, Method: "chat.postMessage", Status: 429, RetryAfter: time.Hour}, false
}

func Refused(string) (error, bool) {
	return &slackapi.Error{Kind: slackapi.Auth, Method: "chat.postMessage", Code: "invalid_auth"}, false
}

// CutOff takes the first call of that name and says that it failed.
func CutOff(name string) func(string) (error, bool) {
	done := false
	return func(call string) (error, bool) {
		if call != name || done {
			return nil, false
		}
		done = true
		return &slackapi.Error{Kind: slackapi.Unavailable, Method: "chat.postMessage"}, true
	}
}

// Table is the table, in memory: each record is JSON and has a version.
type Table struct {
	mu    sync.Mutex
	Items map[report.Key]Record
	Away  time.Time // until when it does not answer
	// clusters is what report remembers of them beside.
	clusters map[string]outbox.ClusterRecord
	Writes   int
}

type Record struct {
	body    []byte
	version int
	due     bool // Slack or the bus was not told all of it
	seen    time.Time
}

// Available reports whether the table answers.
func (s *Table) Available() error {
	if time.Now().Before(s.Away) {
		return &smithy.GenericAPIError{Code: "InternalServerError", Message: "The request processing has failed", Fault: smithy.FaultServer}
	}
	return nil
}

func (s *Table) Incidents(_ context.Context, cluster string) ([]incident.Incident, error) {
	if err := s.Available(); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	var list []incident.Incident
	for key, it := range s.Items {
		if key.Cluster != cluster {
			continue
		}
		var inc incident.Incident
		if err := json.Unmarshal(it.body, &inc); err != nil {
			return nil, err
		}
		list = append(list, inc)
	}
	// As the table sorts them.
	slices.SortFunc(list, func(a, b incident.Incident) int {
		return strings.Compare(string(a.Key.Check)+"#"+a.Key.Resource, string(b.Key.Check)+"#"+b.Key.Resource)
	})
	return list, nil
}

func (s *Table) SaveIncident(ctx context.Context, inc incident.Incident) (incident.Incident, error) {
	time.Sleep(5 * time.Millisecond) // what a write takes
	if err := errors.Join(ctx.Err(), s.Available()); err != nil {
		return incident.Incident{}, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.Writes++
	if inc.Version != s.Items[inc.Key].version {
		return incident.Incident{}, &store.Conflict{}
	}
	inc.Version++
	body, err := json.Marshal(inc)
	unsaid := slices.ContainsFunc(inc.Delivery.Notes, func(n incident.Note) bool { return n.TS == "" })
	s.Items[inc.Key] = Record{body, inc.Version, inc.Number > 0 && (inc.Delivery.TS == "" || inc.Delivery.Dirty || unsaid || len(inc.PendingEvents) > 0), inc.Seen}
	return inc, err
}

func (s *Table) Postings(context.Context, string) ([]outbox.Posting, error) { return nil, nil }
func (s *Table) SavePosting(_ context.Context, p outbox.Posting) (outbox.Posting, error) {
	return p, errors.New("this table has none of them")
}

func (s *Table) ClusterRecord(_ context.Context, cluster string) (outbox.ClusterRecord, error) {
	if err := s.Available(); err != nil {
		return outbox.ClusterRecord{Cluster: cluster}, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if r, known := s.clusters[cluster]; known {
		return r, nil
	}
	return outbox.ClusterRecord{Cluster: cluster}, nil
}

func (s *Table) ClusterRecords(context.Context) (list []outbox.ClusterRecord, _ error) {
	if err := s.Available(); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, r := range s.clusters {
		list = append(list, r)
	}
	return list, nil
}

func (s *Table) SaveClusterRecord(_ context.Context, r outbox.ClusterRecord) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if r.Version != s.clusters[r.Cluster].Version {
		return &store.Conflict{}
	}
	if s.clusters == nil {
		s.clusters = map[string]outbox.ClusterRecord{}
	}
	r.Version++
	s.clusters[r.Cluster] = r
	return nil
}

// Silences are none in this table.
func (s *Table) Silences(context.Context, string) ([]silence.Silence, error) {
	return nil, s.Available()
}

func (s *Table) SaveSilence(_ context.Context, x silence.Silence) (silence.Silence, error) {
	return x, errors.New("this table has none of them")
}

// Due is how many incidents have something that Slack was not told.
func (s *Table) Due() (n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, it := range s.Items {
		if it.due {
			n++
		}
	}
	return n
}

// Stalest is how old the newest observation is of the cluster of which it is oldest.
func (s *Table) Stalest(clusters []string) (age time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	newest := map[string]time.Time{}
	for key, it := range s.Items {
		if it.seen.After(newest[key.Cluster]) {
			newest[key.Cluster] = it.seen
		}
	}
	for _, cluster := range clusters {
		if at := newest[cluster]; !at.IsZero() {
			age = max(age, time.Since(at))
		}
	}
	return age
}
