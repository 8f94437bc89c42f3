package remediate

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/eventbridge"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"rollcall/shared/bus"
	"rollcall/shared/event"
	"rollcall/shared/gather"
	"rollcall/shared/incident"
	"rollcall/shared/lambda"
	"rollcall/shared/network/leak"
	"rollcall/shared/relay/via"
	"rollcall/shared/remedy"
	"rollcall/shared/remedy/action"
	"rollcall/shared/remedy/awscall"
	"rollcall/shared/remedy/optin"
	"rollcall/shared/report"
	"rollcall/shared/snapshot"
	"rollcall/shared/spec"
	"rollcall/shared/spoke"
	"rollcall/shared/store"
)

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
	_ Executor = remedy.Executor{}
	_ Sender   = bus.Queues{}
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
	memory := store.New(dynamodb.NewFromConfig(e.AWS), c.TableName).At(e.Now).In(c.Spoke)
	return handler{
		settings: settings{
			region: c.Region, watches: c.Watches, policy: c.RemedyOf, vpcs: c.RemedyVPCs, roles: c.RemedyRoles, limit: c.RemedyLimit,
			approval: c.ApprovalTime, joinTime: c.JoinTime, grace: c.CleanupGrace, of: c.Where(),
		},
		memory: memory,
		reader: gather.New(e.Watched()).WithEndpoints(e.Endpoints).InClustersAs(e.AWSAsReader).Relaying(via.New(e.AsksRelays(), c.RolePrefix, c.Relays, memory)),
		do:     remedy.Executor{Calls: awscall.New(as), Of: c.Where()},
		role:   role,
		send:   bus.Queues{Client: sqs.NewFromConfig(e.AWS), Results: c.ResultQueueURL, Remedies: c.RemedyQueueURL, Spoke: c.Spoke},
		bus:    bus.New(eventbridge.NewFromConfig(e.AWS), c.BusName),
		now:    e.Now, log: e.Log, count: e.Metrics.Count,
	}
}

// handle takes what the bus told of incidents.
func (h handler) handle(ctx context.Context, raw json.RawMessage) (any, error) {
	messages, ok := event.Batch(raw)
	if !ok {
		return nil, errors.New("remediate is woken by its queue alone")
	}
	var failed []string
	for _, m := range messages {
		if err := h.message(ctx, m); err != nil {
			h.log.ErrorContext(ctx, "a message goes back to the queue", "message", m.ID, "received", m.Received, "error", err.Error())
			h.count("FailedMessages", 1)
			failed = append(failed, m.ID)
		}
	}
	return event.Failures(failed), nil
}

// message trusts nothing in an event but whom it is about: whoever may put
// events could say anything there. All else is in the table, which report alone
// writes.
func (h handler) message(ctx context.Context, m event.Message) error {
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
		h.log.InfoContext(ctx, "there is no such incident", "cluster", t.Cluster, "check", t.Check, "resource", t.Resource)
		return nil
	}
	return h.incident(ctx, list[i], m.Body)
}

// mayAnything tells that a cluster has opted in to some remedy.
func (h handler) mayAnything(cluster string) bool {
	return slices.ContainsFunc(remedy.All(), func(r remedy.Remedy) bool { return h.policy(cluster, r.Name) != optin.Off })
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
		// somebody may be at work there: nothing is planned, and what a person approved
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
	for _, r := range remedy.All() {
		o := latest(inc, r.Name, incident.Approved)
		open := inc.State == incident.Open || inc.State == incident.Cleared
		if o == nil || o.Policy != optin.Approve || r.Elsewhere != "" || open && slices.ContainsFunc(remediesFor(inc), func(x remedy.Remedy) bool { return x.Name == r.Name }) {
			continue
		}
		if done, err := h.done(ctx, inc, runID(inc, o.Plan, o)); err != nil {
			return err
		} else if done {
			continue
		}
		if err := h.decline(ctx, inc, *o, action.NotSo, "The incident does not need it any more."); err != nil {
			return err
		}
	}
	return nil
}

// remediesFor are the remedies that an incident may need: its cause's, while
// it is there; those for what failed for it, once it is gone.
func remediesFor(inc incident.Incident) []remedy.Remedy {
	return slices.DeleteFunc(remedy.All(), func(r remedy.Remedy) bool {
		if inc.State == incident.Cleared {
			return !r.AfterCause
		}
		return r.AfterCause || string(r.Name) != inc.Cause.Fix.Remedy
	})
}
