package remediate

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/eventbridge"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/smithy-go"

	"rollcall/shared/bus"
	"rollcall/shared/detect"
	"rollcall/shared/event"
	"rollcall/shared/event/inbox"
	"rollcall/shared/gather"
	"rollcall/shared/incident"
	"rollcall/shared/lambda"
	"rollcall/shared/network/leak"
	"rollcall/shared/node/outcome"
	"rollcall/shared/queue"
	"rollcall/shared/relay/via"
	"rollcall/shared/remedy"
	"rollcall/shared/remedy/action"
	"rollcall/shared/remedy/awscall"
	"rollcall/shared/remedy/optin"
	"rollcall/shared/remedy/remedies"
	"rollcall/shared/remedy/replaceinstance"
	"rollcall/shared/report"
	"rollcall/shared/snapshot"
	"rollcall/shared/spec"
	"rollcall/shared/spoke"
	"rollcall/shared/store"
)

// lease is how long what was written ahead keeps others from a plan: the run
// that wrote it ends within its timeout (spec), and is at it no more after.
const lease = 2 * time.Minute

// deedID names a run by its plan and its approval: the same approval is good
// for one run. A policy approves a plan once each time that the incident is
// opened.
func runID(inc incident.Incident, p remedy.Plan, approved *incident.Offer) string {
	if approved == nil {
		return fmt.Sprintf("%s/auto-%s", p.Hash(), inc.Opened.UTC().Format("20060102T150405.000Z"))
	}
	return fmt.Sprintf("%s/%s", approved.Hash, approved.Decided.UTC().Format("20060102T150405.000Z"))
}

func (h handler) newRun(inc incident.Incident, p remedy.Plan, approved *incident.Offer) remedy.Run {
	d := remedy.Run{Format: remedy.Format, ID: runID(inc, p, approved), Plan: p, Hash: p.Hash(), Policy: optin.Auto, Began: h.now()}
	if approved != nil {
		d.Policy, d.ApprovedBy, d.Approved = optin.Approve, approved.By.ID, approved.Decided
	}
	return d
}

// act does what a person approved, unless the limit is reached. An approval that
// was refused is used up: nothing is done an hour later without them.
func (h handler) act(ctx context.Context, inc incident.Incident, o order, approved *incident.Offer) error {
	d := h.newRun(inc, o.plan, approved)
	room, err := h.memory.CountRun(ctx, d, h.limit)
	if err != nil {
		return err
	}
	if !room.IsZero() {
		d = refusedRun(d, limitReached, fmt.Sprintf("%s It is offered again at %s. This approval is used up; the new offer needs its own.", h.limitSays(), clock(room)))
		d.Next = &remedy.Next{At: room, Reason: report.LimitReached, Says: h.limitSays()}
		return h.refuse(ctx, inc, d)
	}
	return h.carryOut(ctx, inc, d, o.left)
}

// refuse records that an approval is not acted upon, and tells it.
func (h handler) refuse(ctx context.Context, inc incident.Incident, d remedy.Run) error {
	there, claimed, err := h.memory.ClaimRun(ctx, d)
	if err != nil {
		return err
	}
	if !claimed {
		return fmt.Errorf("another run is working on %s", d.ID)
	}
	return h.sendResult(ctx, inc, there)
}

// carryOut does a plan that is counted, once: it is written ahead, done, recorded,
// told. What one plan leaves is looked at again later.
func (h handler) carryOut(ctx context.Context, inc incident.Incident, d remedy.Run, left int) error {
	d, claimed, err := h.memory.ClaimRun(ctx, d)
	if err != nil {
		return err
	}
	if !claimed {
		return fmt.Errorf("another run is working on %s", d.ID)
	}
	result := h.do.Do(ctx, d.Plan, d.ID)
	d.Result, d.Reason, d.Says, d.Changed, d.Requests = result.Status, result.Reason, result.Says, result.Changed, result.Requests
	h.count("RemedyRuns", 1)
	if d.Result == remedy.Uncertain {
		d = h.find(ctx, inc, d)
	}
	if left > 0 && d.Result != remedy.Failed {
		d.Next = h.rest(ctx, d, left)
	}
	return h.finish(ctx, inc, d)
}

// done reports whether a run was done by an earlier run. One that is being done
// comes again when it is not any more (settle).
func (h handler) done(ctx context.Context, inc incident.Incident, id string) (bool, error) {
	list, err := h.memory.Runs(ctx, inc.Key.Cluster)
	if err != nil {
		return false, err
	}
	return slices.ContainsFunc(list, func(d remedy.Run) bool { return d.ID == id }), nil
}

// find looks what came of a run whose answer was lost.
func (h handler) find(ctx context.Context, inc incident.Incident, d remedy.Run) remedy.Run {
	r := remedies.ByName(d.Plan.Remedy)
	s, err := h.look(ctx, inc, r.Sources(""), r.More.GroupMembers)
	if err != nil {
		d.Result, d.Says = remedy.Uncertain, "No response, and the current state could not be read."
		return d
	}
	switch done, known := remedies.Applied(d.Plan, s); {
	case !known:
		d.Result, d.Says = remedy.Uncertain, "No response, and the current state could not be read."
	case done:
		d.Result, d.Says = remedy.Done, "No response, but the current state is as planned."
	default:
		// It may still come about: EC2's answers lag behind by seconds.
		d.Result, d.Says = remedy.Uncertain, "No response, and the current state is not as planned. Not retried."
	}
	return d
}

// finish records what came of a run, and tells it.
func (h handler) finish(ctx context.Context, inc incident.Incident, d remedy.Run) error {
	d.Ended = h.now()
	d, err := h.memory.SaveRun(ctx, d)
	if err != nil {
		return err
	}
	h.log.InfoContext(ctx, "run", "cluster", inc.Key.Cluster, "check", inc.Key.Check, "resource", inc.Key.Resource,
		"run", d.ID, "remedy", d.Plan.Remedy, "policy", d.Policy, "by", d.ApprovedBy, "result", d.Result, "reason", d.Reason, "changed", d.Changed, "requests", d.Requests)
	h.count("RemedyRuns"+string(d.Result), 1)
	return h.sendResult(ctx, inc, d)
}

// finishEarlierRuns finishes what earlier runs left: a run that was written ahead and
// has no end, whichever opening of the incident it was in, and one that was not
// told. What was claimed is never done again.
func (h handler) finishEarlierRuns(ctx context.Context, inc incident.Incident) error {
	list, err := h.memory.Runs(ctx, inc.Key.Cluster)
	if err != nil {
		return err
	}
	for _, d := range list {
		if d.Plan.Check != inc.Key.Check || d.Plan.Resource != inc.Key.Resource {
			continue
		}
		switch {
		case !d.Ended.IsZero() && (knownToReport(inc, d) || replacedByLater(inc, d) || d.Began.Before(inc.Opened)):
		case !d.Ended.IsZero():
			err = h.sendResult(ctx, inc, d)
		case h.now().Sub(d.Began) < lease:
			err = fmt.Errorf("a run is working on %s", d.ID)
		default:
			d = h.find(ctx, inc, d)
			d.Reason = "interrupted"
			err = h.finish(ctx, inc, d)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// knownToReport reports whether report knows of a run.
func knownToReport(inc incident.Incident, d remedy.Run) bool {
	return slices.ContainsFunc(inc.Offers, func(o incident.Offer) bool { return o.Run != nil && o.Run.ID == d.ID && o.Run.Result == d.Result })
}

// replacedByLater reports whether report knew of a run and keeps later ones in its place: what
// is replaced in many parts has more runs than an incident keeps.
func replacedByLater(inc incident.Incident, d remedy.Run) bool {
	return len(inc.Offers) >= incident.MaxOffers && slices.ContainsFunc(inc.Offers, func(o incident.Offer) bool {
		return o.Run != nil && o.Run.Plan.Remedy == d.Plan.Remedy && o.Run.Began.After(d.Began)
	})
}

// oneDay is how long a policy does not do the same plan again: what takes it
// back runs every night at least (a pipeline, an autoscaler, a colleague).
const oneDay = 24 * time.Hour

// takenBack says that exactly this plan was done lately: a person or a program
// took it back, or it would not be planned. A policy does not fight whom it
// cannot see; a person is asked. It is empty where that is not so.
func (h handler) takenBack(ctx context.Context, inc incident.Incident, p remedy.Plan) (string, error) {
	list, err := h.memory.Runs(ctx, inc.Key.Cluster)
	if err != nil {
		return "", err
	}
	var last time.Time
	for _, d := range list {
		// One without an end may have changed it too.
		changed := d.Result == remedy.Done || d.Result == remedy.Partly || d.Result == remedy.Uncertain || d.Ended.IsZero()
		if changed && d.Hash == p.Hash() && h.now().Sub(d.Began) < oneDay && d.Began.After(last) {
			last = d.Began
		}
	}
	if last.IsZero() {
		return "", nil
	}
	h.count("TakenBack", 1)
	return fmt.Sprintf("The same was done at %s and has been reverted since. The policy auto does not repeat it within a day: a person decides.", last.UTC().Format("15:04 UTC on 2 January")), nil
}

// Memory is what remediate reads and writes of the table. Incidents are
// report's: they are read only.
type Memory interface {
	Incidents(ctx context.Context, cluster string) ([]incident.Incident, error)
	Sightings(ctx context.Context, vpc string) (map[string]leak.Sighting, error)
	Runs(ctx context.Context, cluster string) ([]remedy.Run, error)
	ClaimRun(ctx context.Context, d remedy.Run) (there remedy.Run, claimed bool, err error)
	SaveRun(ctx context.Context, d remedy.Run) (remedy.Run, error)
	CountRun(ctx context.Context, d remedy.Run, most int) (room time.Time, err error)
	RoomForRuns(ctx context.Context, cluster string, r optin.Remedy, things, most int, now time.Time) (time.Time, error)
}

// Reader is how it looks.
type Reader interface {
	Find(ctx context.Context, ids, groups []string) ([]snapshot.Instance, *snapshot.Failure)
	Groups(ctx context.Context, names []string) ([]snapshot.Group, *snapshot.Failure)
	GroupsOf(ctx context.Context, cluster string) ([]snapshot.Group, *snapshot.Failure)
	Read(ctx context.Context, q gather.Query) (*snapshot.Snapshot, error)
	InterfacesWith(ctx context.Context, groups []string) ([]snapshot.Interface, *snapshot.Failure)
}

// Executor changes things.
type Executor interface {
	Do(ctx context.Context, p remedy.Plan, token string) action.Result
}

// Sender tells report, and itself later.
type Sender interface {
	SendProposal(ctx context.Context, p report.Proposal) error
	SendRemedyResult(ctx context.Context, d report.RemedyResult) error
	RemedyAgain(ctx context.Context, event string, delay time.Duration) error
}

// Teller tells the bus.
type Teller interface {
	Tell(ctx context.Context, events []incident.Event) error
}

var (
	_ Memory   = (*store.Store)(nil)
	_ Reader   = (*gather.Reader)(nil)
	_ Executor = remedies.Executor{}
	_ Sender   = queue.Queues{}
	_ Teller   = (*bus.Bus)(nil)
)

// settings are what the operator chose.
type settings struct {
	region   string
	watches  func(cluster string) bool
	policy   func(cluster string, r optin.Remedy) optin.Policy
	vpcs     []string
	roles    []string // ARNs
	limit    int
	approval time.Duration
	joinTime time.Duration
	// of is the account and region in which remedies are done; zero where it is not known.
	of    spoke.ID
	grace time.Duration
}

type handler struct {
	settings
	memory Memory
	reader Reader
	do     Executor
	// role asks for the role in which remedies are done; nothing where that is the function's own.
	role  func(context.Context) error
	send  Sender
	bus   Teller
	now   func() time.Time
	log   *slog.Logger
	count func(name string, n int)
}

// Build makes the handler of remediate from what its invocations share.
func Build(_ context.Context, e lambda.Env) (lambda.Handler, error) { return newHandler(e).handle, nil }

func newHandler(e lambda.Env) handler {
	c := e.Config
	as := e.As(spec.SpokeRemediator)
	role := func(context.Context) error { return nil }
	if !c.Spoke.Hub() {
		role = func(ctx context.Context) error {
			_, err := as.Credentials.Retrieve(ctx)
			return err
		}
	}
	memory := store.New(dynamodb.NewFromConfig(e.AWS), c.TableName).WithClock(e.Now).ForSpoke(c.Spoke)
	return handler{
		settings: settings{
			region: c.Region, watches: c.Watches, policy: c.RemedyOf, vpcs: c.RemedyVPCs, roles: c.RemedyRoles, limit: c.RemedyLimit,
			approval: c.ApprovalTime, joinTime: c.JoinTime, grace: c.CleanupGrace, of: c.Where(),
		},
		memory: memory,
		reader: gather.New(e.Watched()).WithEndpoints(e.Endpoints).InClustersAs(e.AWSAsReader).Withholding(c.NoInstanceData).Relaying(via.New(e.AsksRelays(), c.RolePrefix, c.Relays, memory)),
		do:     remedies.Executor{Calls: awscall.New(as), Of: c.Where()},
		role:   role,
		send:   queue.Queues{Client: sqs.NewFromConfig(e.AWS), Results: c.ResultQueueURL, Remedies: c.RemedyQueueURL, Spoke: c.Spoke},
		bus:    bus.New(eventbridge.NewFromConfig(e.AWS), c.BusName),
		now:    e.Now, log: e.Log, count: e.Metrics.Count,
	}
}

// handle takes what the bus told of incidents.
func (h handler) handle(ctx context.Context, raw json.RawMessage) (any, error) {
	messages, ok := inbox.Batch(raw)
	if !ok {
		return nil, errors.New("remediate is invoked by its queue only")
	}
	var failed []string
	for _, m := range messages {
		if err := h.message(ctx, m); err != nil {
			h.log.ErrorContext(ctx, "returned a message to the queue", "message", m.ID, "received", m.Received, "error", err.Error())
			h.count("FailedMessages", 1)
			failed = append(failed, m.ID)
		}
	}
	return inbox.Failures(failed), nil
}

// message trusts nothing in an event but whom it is about: whoever may put
// events could say anything there. All else is in the table, which report alone
// writes.
func (h handler) message(ctx context.Context, m inbox.Message) error {
	t, err := event.Parse([]byte(m.Body))
	if err != nil {
		h.count("MalformedEvents", 1)
		return err
	}
	if t.Kind != event.IncidentTold || t.Told == string(incident.EventResolved) {
		h.count("ForeignEvents", 1)
		return nil
	}
	if !h.watches(t.Cluster) {
		h.count("ForeignClusters", 1)
		return nil
	}
	if !h.mayAnything(t.Cluster) {
		return nil
	}
	list, err := h.memory.Incidents(ctx, t.Cluster)
	if err != nil {
		return err
	}
	i := slices.IndexFunc(list, func(x incident.Incident) bool {
		return string(x.Key.Check) == t.Check && x.Key.Resource == t.Resource
	})
	if i < 0 {
		h.log.InfoContext(ctx, "no such incident", "cluster", t.Cluster, "check", t.Check, "resource", t.Resource)
		return nil
	}
	return h.incident(ctx, list[i], m.Body)
}

// mayAnything reports whether a cluster has opted in to some remedy.
func (h handler) mayAnything(cluster string) bool {
	return slices.ContainsFunc(remedies.All(), func(r remedies.Remedy) bool { return h.policy(cluster, r.Name) != optin.Off })
}

// incident does what is to be done for an incident. First what an earlier run
// left unfinished: while that is not known nothing else is done for it.
func (h handler) incident(ctx context.Context, inc incident.Incident, event string) error {
	if err := h.finishEarlierRuns(ctx, inc); err != nil {
		return err
	}
	errs := []error{h.overtaken(ctx, inc)}
	if inc.State != incident.Open && inc.State != incident.Cleared {
		return errors.Join(errs...)
	}
	for _, r := range remediesFor(inc) {
		// That an incident is muted keeps people from being called, not the
		// remedy that an operator has switched on from being done. A silence does, as
		// people may be at work there: nothing is planned, and what a person approved
		// all the same is done.
		if inc.Silence != nil && approvedBySomebody(inc, r.Name) == nil {
			continue
		}
		if err := h.remedy(ctx, inc, r, event); err != nil {
			errs = append(errs, fmt.Errorf("%s for %s at %s in %s: %w", r.Name, inc.Key.Check, inc.Key.Resource, inc.Key.Cluster, err))
		}
	}
	return errors.Join(errs...)
}

// approvedBySomebody is the plan of a remedy that a person approved.
func approvedBySomebody(inc incident.Incident, r optin.Remedy) *incident.Offer {
	if o := latest(inc, r, incident.Approved); o != nil && o.Policy == optin.Approve {
		return o
	}
	return nil
}

// overtaken says of what a person approved, and what the incident needs no more,
// that it is not done.
func (h handler) overtaken(ctx context.Context, inc incident.Incident) error {
	for _, r := range remedies.All() {
		o := latest(inc, r.Name, incident.Approved)
		open := inc.State == incident.Open || inc.State == incident.Cleared
		if o == nil || o.Policy != optin.Approve || r.Elsewhere != "" || open && slices.ContainsFunc(remediesFor(inc), func(x remedies.Remedy) bool { return x.Name == r.Name }) {
			continue
		}
		if done, err := h.done(ctx, inc, runID(inc, o.Plan, o)); err != nil {
			return err
		} else if done {
			continue
		}
		if err := h.decline(ctx, inc, *o, remedy.NotSo, "The incident no longer needs it."); err != nil {
			return err
		}
	}
	return nil
}

// remediesFor are the remedies that an incident may need: its cause's, while
// it is there; those for what failed for it, once it is gone.
func remediesFor(inc incident.Incident) []remedies.Remedy {
	return slices.DeleteFunc(remedies.All(), func(r remedies.Remedy) bool {
		if inc.State == incident.Cleared {
			return !r.AfterCause
		}
		return r.AfterCause || string(r.Name) != inc.Cause.Fix.Remedy
	})
}

// order is a plan, and how many things it leaves for another one.
type order struct {
	plan remedy.Plan
	left int
}

// plan makes a remedy's plan from a fresh look.
func (h handler) plan(ctx context.Context, inc incident.Incident, r remedies.Remedy) (order, *action.Refusal, error) {
	of := subject(inc)
	of.Most, of.Roles = h.limit, h.roles
	s, err := h.look(ctx, inc, r.Sources(inc.Key.Check), r.More.GroupMembers)
	if errors.Is(err, gather.ErrNoCluster) {
		return order{}, &action.Refusal{Reason: remedy.Gone, Says: fmt.Sprintf("There is no cluster %s.", inc.Key.Cluster)}, nil
	}
	if err != nil {
		return order{}, nil, err
	}
	s.Cleanup = snapshot.Cleanup{Mode: "report", Grace: h.grace}
	if r.More.Sightings {
		if of.Sightings, err = h.memory.Sightings(ctx, s.Cluster.VPC); err != nil {
			return order{}, nil, err
		}
	}
	if r.More.WearersOf != nil {
		var failed *snapshot.Failure
		if of.Wearers, failed = h.reader.InterfacesWith(ctx, r.More.WearersOf(s, of)); failed != nil {
			says := fmt.Sprintf("Could not read which interfaces use the security groups of the endpoint and the nodes: %s, %s.", failed.Call, failed.Reason)
			return order{}, &action.Refusal{Reason: remedy.CouldNotLook, Says: says, Blocked: []snapshot.Failure{*failed}}, nil
		}
	}
	p, no := r.Make(s, of)
	o := order{plan: p}
	if no == nil {
		o.left = r.Left(s, of)
	}
	return o, no, nil
}

// subject is what a plan needs to know of an incident.
func subject(inc incident.Incident) action.Subject {
	of := action.Subject{
		Cluster: inc.Key.Cluster, Check: inc.Key.Check, Resource: inc.Key.Resource,
		Covers: inc.Cause.Covers, Nodegroups: inc.Cause.Nodegroups, Launches: inc.Launches,
	}
	if inc.State == incident.Cleared {
		of.Cleared = inc.Cleared
	}
	return of
}

// look takes a snapshot of all that a plan may rest on: the incident's
// instances and subnets are in scope.
func (h handler) look(ctx context.Context, inc incident.Incident, sources []snapshot.Source, members bool) (*snapshot.Snapshot, error) {
	cluster := inc.Key.Cluster
	q := gather.Query{Account: inc.Account, Region: h.region, Time: h.now(), Cluster: cluster, AllNodegroups: true, Sources: sources}
	fail := func(f *snapshot.Failure) {
		if f != nil {
			q.Failed = append(q.Failed, *f)
		}
	}
	for _, id := range slices.Concat(inc.Cause.Covers, inc.Covers) {
		switch {
		case strings.HasPrefix(id, "subnet-"):
			q.Scope.Subnets = append(q.Scope.Subnets, id)
		case strings.HasPrefix(id, "i-"):
			q.Scope.Instances = append(q.Scope.Instances, id)
		}
	}
	for _, l := range inc.Launches {
		if l.Status == outcome.Waiting || l.Status == outcome.Missed || l.Status == outcome.GivenUp {
			q.Scope.Instances = append(q.Scope.Instances, l.Instance)
			q.Launches = append(q.Launches, h.remembered(l))
		}
	}
	q.Scope.Subnets, q.Scope.Instances = unique(q.Scope.Subnets), unique(q.Scope.Instances)
	var failed *snapshot.Failure
	q.Groups, failed = h.reader.GroupsOf(ctx, cluster)
	fail(failed)
	ids := q.Scope.Instances
	if members {
		for _, g := range q.Groups {
			for _, m := range g.Instances {
				ids = append(ids, m.ID)
			}
		}
	}
	q.Instances, failed = h.reader.Find(ctx, unique(ids), nil)
	fail(failed)
	if len(q.Failed) == 0 {
		var more []snapshot.Group
		more, failed = h.reader.Groups(ctx, missing(q.Instances, q.Groups))
		q.Groups = append(q.Groups, more...)
		fail(failed)
	}
	return h.reader.Read(ctx, q)
}

// remembered is a launch as checks know it. One that missed the roll call is
// overdue, whatever its nodegroup had learned to wait for.
func (h handler) remembered(l report.Launch) snapshot.ExpectedJoin {
	due := l.Started.Add(h.joinTime)
	if l.Status != outcome.Waiting && due.After(h.now()) {
		due = h.now().Add(-time.Second)
	}
	return snapshot.ExpectedJoin{Instance: l.Instance, Started: l.Started, Due: due}
}

// missing are the groups of instances that were not read yet.
func missing(instances []snapshot.Instance, read []snapshot.Group) []string {
	return slices.DeleteFunc(detect.GroupsOf(instances), func(name string) bool {
		return slices.ContainsFunc(read, func(g snapshot.Group) bool { return g.Name == name })
	})
}

func unique(list []string) []string {
	list = slices.Clone(list)
	slices.Sort(list)
	return slices.Compact(list)
}

// The reasons that are this function's own.
const (
	notOptedIn      remedy.Reason = "vpc-not-opted-in"
	approvalExpired remedy.Reason = "approval-expired"
	planChanged     remedy.Reason = "plan-changed"
	limitReached    remedy.Reason = "limit-reached"
	policyOff       remedy.Reason = "policy-off"
)

// remedy plans one remedy for an incident, and offers it or does it.
func (h handler) remedy(ctx context.Context, inc incident.Incident, r remedies.Remedy, event string) error {
	policy := h.policy(inc.Key.Cluster, r.Name)
	approved := latest(inc, r.Name, incident.Approved)
	if r.Elsewhere != "" && approved != nil {
		return nil // who does it is woken by the same approval
	}
	byPerson := approved != nil && approved.Policy == optin.Approve
	if byPerson {
		// report may not have taken in yet what came of it.
		if done, err := h.done(ctx, inc, runID(inc, approved.Plan, approved)); err != nil || done {
			return err
		}
	}
	switch {
	case policy == optin.Off && byPerson:
		return h.decline(ctx, inc, *approved, policyOff, "The remedy has been disabled since.")
	case policy == optin.Off:
		return h.takeBack(ctx, inc, r, &action.Refusal{Reason: policyOff, Says: "The remedy has been disabled since."})
	case byPerson && h.expired(*approved):
		return h.tooLate(ctx, inc, *approved)
	}
	o, no, err := h.plan(ctx, inc, r)
	if err != nil {
		return err
	}
	p := o.plan
	if no == nil && p.VPC() != "" && !slices.Contains(h.vpcs, p.VPC()) {
		no = &action.Refusal{Reason: notOptedIn, Says: fmt.Sprintf("%s is not among the VPCs in which remedies may change the network (setting remedyVpcs).", p.VPC())}
	}
	if no == nil && r.Elsewhere == "" {
		no = h.lacksRole(ctx)
	}
	h.log.InfoContext(ctx, "remedy", "cluster", inc.Key.Cluster, "check", inc.Key.Check, "resource", inc.Key.Resource, "remedy", r.Name, "policy", policy, "refusal", no, "hash", hashOf(p, no))
	switch {
	case no != nil && !no.Again.IsZero() && approved == nil:
		return h.send.RemedyAgain(ctx, event, no.Again.Sub(h.now()))
	case no != nil && byPerson && no.Reason == remedy.CouldNotLook:
		return h.unseen(ctx, inc, *approved, no)
	case no != nil && byPerson:
		return h.decline(ctx, inc, *approved, no.Reason, no.Says)
	case no != nil && h.passes(inc, r.Name, no):
		return h.tryLater(ctx, inc, r.Name, policy, no)
	case no != nil:
		return h.takeBack(ctx, inc, r, no)
	case byPerson && p.Hash() != approved.Hash:
		// What was approved is not what would be done now: that has no approval.
		if err := h.decline(ctx, inc, *approved, planChanged, "The situation has changed since: the plan would be different now."); err != nil {
			return err
		}
		return h.offer(ctx, inc, p, policy, "")
	case byPerson && h.expired(*approved): // while it was looked
		return h.tooLate(ctx, inc, *approved)
	case byPerson:
		return h.act(ctx, inc, o, approved)
	case policy == optin.Auto:
		return h.byPolicy(ctx, inc, o)
	}
	return h.offer(ctx, inc, p, policy, "")
}

// lacksRole refuses what could not be done for want of the spoke's role: no person is asked to
// approve that. Where STS says nothing about the role it is tried.
func (h handler) lacksRole(ctx context.Context) *action.Refusal {
	err := h.role(ctx)
	var api smithy.APIError
	if err == nil || !errors.As(err, &api) || !roleRefused(api.ErrorCode()) {
		return nil
	}
	h.log.WarnContext(ctx, "could not assume the remediator role", "error", err.Error())
	return &action.Refusal{Reason: remedy.RoleNotAssumed, Says: "The remediator role, " + string(spec.SpokeRemediator) +
		", does not trust Rollcall. " + remedies.DeploySpoke(h.of)}
}

// lackedRole reports whether a plan was not done for want of the role: now that it is there,
// which was asked before, it is offered again.
func lackedRole(o incident.Offer) bool {
	return o.Run != nil && o.Run.Reason == string(remedy.RoleNotAssumed)
}

// roleRefused tells the codes of STS that are about the role or its account (API reference,
// AssumeRole, "Errors"): it says AccessDenied too where there is no such role.
func roleRefused(code string) bool {
	return code == "AccessDenied" || code == "RegionDisabledException"
}

func (h handler) expired(o incident.Offer) bool {
	return !o.Expires.IsZero() && h.now().After(o.Expires)
}

func (h handler) tooLate(ctx context.Context, inc incident.Incident, o incident.Offer) error {
	return h.decline(ctx, inc, o, approvalExpired, fmt.Sprintf("The approval was valid until %s.", o.Expires.UTC().Format("15:04:05 UTC")))
}

// byPolicy does a plan that needs no approval. That it is planned is reported
// first, so that what is done stands in the thread behind it.
func (h handler) byPolicy(ctx context.Context, inc incident.Incident, o order) error {
	p, elsewhere := o.plan, remedies.ByName(o.plan.Remedy).Elsewhere != ""
	if last := latest(inc, p.Remedy, incident.Approved, incident.Acted, incident.Helped, incident.Unhelpful); last != nil && last.Hash == p.Hash() && elsewhere {
		return nil
	}
	if done, err := h.done(ctx, inc, runID(inc, p, nil)); err != nil || done {
		return err
	}
	if before, err := h.takenBack(ctx, inc, p); err != nil {
		return err
	} else if before != "" {
		return h.offer(ctx, inc, p, optin.Approve, before)
	}
	if why := p.PersonDecides(); why != "" {
		return h.offer(ctx, inc, p, optin.Approve, why)
	}
	if elsewhere { // report wakes who does it, once the plan is in the incident
		return h.propose(ctx, inc, p, optin.Auto, "")
	}
	d := h.newRun(inc, p, nil)
	if room, err := h.memory.CountRun(ctx, d, h.limit); err != nil {
		return err
	} else if !room.IsZero() {
		return h.wait(ctx, inc, report.Proposal{Remedy: p.Remedy, Policy: optin.Auto, Plan: p, Hash: p.Hash(), Reason: report.LimitReached, Says: h.limitSays(), After: room})
	}
	if err := h.propose(ctx, inc, p, optin.Auto, ""); err != nil {
		return err
	}
	return h.carryOut(ctx, inc, d, o.left)
}

func hashOf(p remedy.Plan, no *action.Refusal) string {
	if no != nil {
		return ""
	}
	return p.Hash()
}

// latest is the newest offer of a remedy since the incident was opened, if it
// is in one of the states.
func latest(inc incident.Incident, r optin.Remedy, states ...incident.OfferState) *incident.Offer {
	for _, o := range slices.Backward(inc.Offers) {
		if o.Plan.Remedy != r || o.Made.Before(inc.Opened) {
			continue
		}
		if slices.Contains(states, o.State) {
			return &o
		}
		return nil
	}
	return nil
}

// offer sends a plan to be approved, unless the same one is offered, was
// refused by a person, or was done already.
func (h handler) offer(ctx context.Context, inc incident.Incident, p remedy.Plan, policy optin.Policy, says string) error {
	last := latest(inc, p.Remedy, incident.Offered, incident.Approved, incident.RefusedByUs, incident.Acted, incident.Helped, incident.Unhelpful)
	if last != nil && last.Hash == p.Hash() && !(last.State == incident.Offered && h.now().After(last.Expires)) && !lackedRole(*last) {
		return nil
	}
	if w := latest(inc, p.Remedy, incident.Deferred); w != nil && w.Reason == report.LimitReached {
		if h.now().Before(w.After) {
			return nil
		}
		if w.Hash != "" && says == "" {
			says = "The hourly limit has room again. The earlier approval was not used and has lapsed; approve it again."
		}
	}
	return h.propose(ctx, inc, p, policy, says)
}

func (h handler) propose(ctx context.Context, inc incident.Incident, p remedy.Plan, policy optin.Policy, says string) error {
	h.count("Proposals", 1)
	return h.send.SendProposal(ctx, report.Proposal{
		Head:   report.Head{ID: h.proposalID(inc, p.Remedy, p.Hash()), At: h.now(), Key: inc.Key},
		Remedy: p.Remedy, Policy: policy, Plan: p, Hash: p.Hash(), Lasts: h.approval, Says: says,
		Follows: follows(inc, p, h.policy(inc.Key.Cluster, optin.ReplaceInstance)),
	})
}

// follows is what this function will do after a plan mended the cause, which whoever approves
// the plan approves with it, or will offer; empty where nothing of the incident can be
// replaced: it has no instance that hangs in an Auto Scaling group.
func follows(inc incident.Incident, p remedy.Plan, policy optin.Policy) string {
	hangs := slices.ContainsFunc(inc.Launches, func(l report.Launch) bool {
		return l.Group != "" && l.Status != report.Joined && l.Status != report.Gone
	})
	if remedy.ByName(p.Remedy).AfterCause || !hangs {
		return ""
	}
	wait := int(replaceinstance.Settle.Minutes())
	switch policy {
	case optin.Auto:
		return fmt.Sprintf("Then it replaces instances that have not joined %d min after the cause is gone (policy auto).", wait)
	case optin.Approve:
		return fmt.Sprintf("Then it offers to replace instances that have not joined %d min after the cause is gone.", wait)
	}
	return ""
}

// takeBack says why there is no plan, once for each reason; an offer that
// stands falls with it. That there is nothing to do, or not any more, is said of
// an offer alone.
func (h handler) takeBack(ctx context.Context, inc incident.Incident, r remedies.Remedy, no *action.Refusal) error {
	stands := latest(inc, r.Name, incident.Offered, incident.Deferred) != nil
	if stands && no.Reason == remedy.CouldNotLook {
		// That it could not be looked is nothing against the plan: once approved,
		// it is looked at again before anything is done.
		return nil
	}
	quiet := append([]remedy.Reason{policyOff, remedy.NothingToDo, remedy.NotSo, remedy.Gone, remedy.TooSoon, remedy.CauseIsThere, remedy.AlreadyThere}, r.Quiet...)
	if !stands && slices.Contains(quiet, no.Reason) {
		return nil
	}
	h.count("Refusals", 1)
	return h.send.SendProposal(ctx, report.Proposal{
		Head:   report.Head{ID: h.proposalID(inc, r.Name, "none/"+string(no.Reason)), At: h.now(), Key: inc.Key},
		Remedy: r.Name, Policy: h.policy(inc.Key.Cluster, r.Name), Reason: string(no.Reason), Says: no.Says,
	})
}

// proposalID is the same for the same proposal of the same state of things. An offer that
// ran out is another state, however many there were before.
func (h handler) proposalID(inc incident.Incident, r optin.Remedy, what string) string {
	n, last := 0, int64(0)
	for _, o := range inc.Offers {
		if live := o.State == incident.Offered && !h.expired(o) || o.State == incident.Approved || o.State == incident.Deferred; o.Plan.Remedy == r && !live {
			n, last = n+1, o.Made.Unix()
		}
	}
	return fmt.Sprintf("%s/%s/%s/%s/%s/%s/%d-%d", inc.Key.Cluster, inc.Key.Check, inc.Key.Resource, inc.Opened.UTC().Format(time.RFC3339Nano), r, what, n, last)
}

// decline says that what a person approved is not done. Nothing was changed.
func (h handler) decline(ctx context.Context, inc incident.Incident, approved incident.Offer, reason remedy.Reason, says string) error {
	h.log.WarnContext(ctx, "approved plan not applied", "cluster", inc.Key.Cluster, "check", inc.Key.Check, "resource", inc.Key.Resource, "hash", approved.Hash, "by", approved.By.ID, "reason", reason)
	return h.sendResult(ctx, inc, refusedRun(h.newRun(inc, approved.Plan, &approved), reason, says))
}

// refusedDeed is a run that was none. It is reported, and claims nothing.
func refusedRun(d remedy.Run, reason remedy.Reason, says string) remedy.Run {
	d.Ended, d.Result, d.Reason, d.Says = d.Began, remedy.Refused, string(reason), says
	return d
}

// sendResult tells report what came of a plan. Where the world may be another now,
// the check that found the cause is wanted at once.
func (h handler) sendResult(ctx context.Context, inc incident.Incident, d remedy.Run) error {
	h.count("RemedyResults", 1)
	told := report.RemedyResult{Head: report.Head{ID: "deed/" + inc.Key.Cluster + "/" + d.ID + "/" + string(d.Result), At: d.Ended, Key: inc.Key}, Run: d}
	if err := h.send.SendRemedyResult(ctx, told); err != nil {
		return err
	}
	if d.Result == remedy.Refused || d.Result == remedy.Failed || inc.State == incident.Closed {
		return nil
	}
	return h.bus.Tell(ctx, []incident.Event{h.event(inc, incident.EventCheckWanted, "deed/"+d.ID)})
}

func (h handler) event(inc incident.Incident, kind incident.EventKind, of string) incident.Event {
	return incident.Event{
		ID: inc.Key.Cluster + "/" + of + "/" + string(kind), Format: incident.EventFormat, Kind: kind, Reason: "remedy", At: h.now(),
		Partition: inc.Partition, Account: inc.Account, Region: inc.Region,
		Cluster: inc.Key.Cluster, Check: inc.Key.Check, Resource: inc.Key.Resource,
		State: inc.State, Number: inc.Number, Sequence: inc.Events, Began: inc.Began, Opened: inc.Opened, Cleared: inc.Cleared,
		Confidence: inc.Cause.Confidence, Title: inc.Cause.Title, Why: inc.Cause.Why, Affected: inc.Affected,
	}
}

// The pace of looks that failed: 5, 10, 20, 40 minutes, then each hour. What is
// denied stays so until it is granted, what is throttled does not.
const (
	firstLook = 5 * time.Minute
	lastLook  = time.Hour
)

func pace(tried int) time.Duration {
	wait := firstLook
	for range tried {
		wait = min(2*wait, lastLook)
	}
	return wait
}

// passes tells of a refusal that may pass by itself. That others are at work in a
// group is waited for only where a remedy waits already: its instances come and
// go because of what the remedy did before.
func (h handler) passes(inc incident.Incident, r optin.Remedy, no *action.Refusal) bool {
	switch no.Reason {
	case remedy.CouldNotLook:
		return latest(inc, r, incident.Offered, incident.Approved) == nil
	case remedy.GroupScales, remedy.AnotherChange:
		return latest(inc, r, incident.Deferred) != nil
	}
	return false
}

// tryLater asks to be woken for another look. A wait that is not over stands,
// whatever else made this look happen.
func (h handler) tryLater(ctx context.Context, inc incident.Incident, r optin.Remedy, policy optin.Policy, no *action.Refusal) error {
	tried := 0
	if w := latest(inc, r, incident.Deferred); w != nil {
		if h.now().Before(w.After) {
			return nil
		}
		tried = w.Tried
	}
	return h.wait(ctx, inc, report.Proposal{Remedy: r, Policy: policy, Reason: string(no.Reason), Says: no.Says, After: h.now().Add(pace(tried)), Tried: tried + 1})
}

// unseen says that what a person approved is not done, as it could not be looked
// at once more. The plan is offered again when it can.
func (h handler) unseen(ctx context.Context, inc incident.Incident, approved incident.Offer, no *action.Refusal) error {
	d := refusedRun(h.newRun(inc, approved.Plan, &approved), no.Reason, no.Says+" It is rechecked at "+clock(h.now().Add(firstLook))+", and offered again if possible. This approval is used up.")
	d.Next = &remedy.Next{At: h.now().Add(firstLook), Reason: string(no.Reason), Says: no.Says}
	return h.refuse(ctx, inc, d)
}

// wait has report wake this function, for a fresh look and a plan made anew. What
// waits already in the same way is not told again.
func (h handler) wait(ctx context.Context, inc incident.Incident, p report.Proposal) error {
	if w := latest(inc, p.Remedy, incident.Deferred); w != nil && w.Reason == p.Reason && w.Hash == p.Hash && w.After.Equal(p.After) {
		return nil
	}
	h.count("Deferred", 1)
	p.ID = h.proposalID(inc, p.Remedy, fmt.Sprintf("wait/%s/%s/%s", p.Reason, p.After.UTC().Format(time.RFC3339Nano), p.Hash))
	p.At, p.Key = h.now(), inc.Key
	return h.send.SendProposal(ctx, p)
}

// rest is when what a plan left is looked at: when the limit has room for it, and
// the group has got others for what was ended. Without an answer the limit is
// taken as reached.
func (h handler) rest(ctx context.Context, d remedy.Run, left int) *remedy.Next {
	next := remedy.Next{At: h.now().Add(firstLook), Reason: report.MoreLeft, Says: fmt.Sprintf("There are %d more to replace.", left)}
	if left == 1 {
		next.Says = "There is one more to replace."
	}
	room, err := h.memory.RoomForRuns(ctx, d.Plan.Cluster, d.Plan.Remedy, min(left, h.limit, remedies.ByName(d.Plan.Remedy).Most), h.limit, h.now())
	if err != nil {
		h.log.WarnContext(ctx, "could not read when the limit has room", "run", d.ID, "error", err.Error())
		room = h.now().Add(lastLook)
	}
	if room.After(next.At) {
		next.At, next.Reason, next.Says = room, report.LimitReached, next.Says+" "+h.limitSays()
	}
	return &next
}

// limitSays is the limit, for people.
func (h handler) limitSays() string {
	return fmt.Sprintf("The limit of %d an hour (setting remedyLimit) is reached.", h.limit)
}

// clock is a time within hours, for people.
func clock(t time.Time) string { return t.UTC().Format("15:04 UTC") }
