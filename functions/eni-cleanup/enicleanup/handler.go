package enicleanup

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/eventbridge"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"rollcall/shared/bus"
	"rollcall/shared/config"
	"rollcall/shared/event"
	"rollcall/shared/gather"
	"rollcall/shared/incident"
	"rollcall/shared/network/leak"
	"rollcall/shared/remedy/awscall"
	"rollcall/shared/remedy/deleteleakedinterfaces"
	"rollcall/shared/remedy/optin"
	"rollcall/shared/report"
	"rollcall/shared/run"
	"rollcall/shared/snapshot"
	"rollcall/shared/state"
)

// Reader reads AWS.
type Reader interface {
	Clusters(ctx context.Context) ([]string, *snapshot.Failure)
	Read(ctx context.Context, q gather.Query) (*snapshot.Snapshot, error)
	More(ctx context.Context, s *snapshot.Snapshot, q gather.Query, sources ...snapshot.Source)
	// InterfacesByID describes interfaces again.
	InterfacesByID(ctx context.Context, ids []string) ([]snapshot.Interface, *snapshot.Failure)
}

// Memory is what outlives a run.
type Memory interface {
	Sightings(ctx context.Context, vpc string) (map[string]leak.Sighting, error)
	SaveSighting(ctx context.Context, vpc string, s leak.Sighting) (leak.Sighting, error)
	ForgetSighting(ctx context.Context, vpc string, s leak.Sighting) error
	RecordAudit(ctx context.Context, a leak.Audit) (there leak.Audit, created bool, err error)
	Audits(ctx context.Context, cluster string, since time.Time) ([]leak.Audit, error)
}

// Notes are what runs tell the next one beside that.
type Notes interface {
	Pace(ctx context.Context, account, region string) (leak.Pace, error)
	SavePace(ctx context.Context, account, region string, p leak.Pace) error
	CleanupsTold(ctx context.Context, cluster string) (map[string]string, error)
	SaveCleanupTold(ctx context.Context, cluster, day, digest string) error
}

// Teller tells the bus.
type Teller interface {
	TellInterfaces(ctx context.Context, events []leak.Event) error
	Tell(ctx context.Context, events []incident.Event) error
}

// Desk has the incidents, which report alone writes.
type Desk interface {
	Incidents(ctx context.Context, cluster string) ([]incident.Incident, error)
}

// Sender tells report.
type Sender interface {
	SendResult(ctx context.Context, o report.Observation) error
	SendSummary(ctx context.Context, s report.Summary) error
	SendDeed(ctx context.Context, d report.RemedyResult) error
}

var (
	_ Reader = (*gather.Reader)(nil)
	_ Memory = (*state.Store)(nil)
	_ Notes  = (*state.Store)(nil)
	_ Desk   = (*state.Store)(nil)
	_ Teller = (*bus.Bus)(nil)
	_ Sender = bus.Queues{}
)

// settings are what the operator chose.
type settings struct {
	clusters []string // nil: all of the region
	region   string
	modes    func(cluster string) leak.Mode
	grace    time.Duration
	limit    int // of deletes in a run
	share    int // percent
	untagged []string
	// remedied is what the remedy delete-leaked-interfaces may do in a cluster.
	remedied func(cluster string) optin.Policy
}

type handler struct {
	settings
	reader Reader
	memory Memory
	notes  Notes
	desk   Desk
	delete deleteleakedinterfaces.Calls
	bus    Teller
	send   Sender
	now    func() time.Time
	sleep  func(context.Context, time.Duration) error
	log    *slog.Logger
	count  func(name string, n int)
}

// Build makes the handler of eni-cleanup from what its invocations share.
func Build(_ context.Context, e run.Env) (run.Handler, error) {
	return assemble(e, gather.New(e.AWS)).handle, nil
}

func assemble(e run.Env, r Reader) handler {
	store := state.New(dynamodb.NewFromConfig(e.AWS), e.Config.TableName).At(e.Now)
	return handler{
		settings: chosen(e.Config), reader: r, memory: store, notes: store, desk: store,
		delete: awscall.NewInterfaces(e.AWS),
		bus:    bus.New(eventbridge.NewFromConfig(e.AWS), e.Config.BusName),
		send:   bus.Queues{Client: sqs.NewFromConfig(e.AWS), Results: e.Config.ResultQueueURL},
		now:    e.Now, sleep: e.Sleep, log: e.Log, count: e.Metrics.Count,
	}
}

func chosen(c config.Config) settings {
	return settings{
		clusters: c.Clusters, region: c.Region,
		modes: func(cluster string) leak.Mode { return leak.Mode(c.CleanupOf(cluster)) },
		grace: c.CleanupGrace, limit: c.CleanupCap, share: c.CleanupShare, untagged: c.CleanupUntagged,
		remedied: func(cluster string) optin.Policy { return c.RemedyOf(cluster, optin.DeleteLeakedInterfaces) },
	}
}

// room is kept before the deadline to write down what was done, and to tell:
// a delete that was sent is answered or given up within ten seconds. What is
// not told in it the next run tells. EC2's bucket is full after 20 seconds in
// which nobody deletes: more room is time lost.
const room = 20 * time.Second

// handle takes the schedule, or an approval of what it may delete. VPCs come one after the other: the cap and EC2's
// bucket are for all of them. One VPC's trouble does not keep the others from
// being cleaned up.
func (h handler) handle(ctx context.Context, raw json.RawMessage) (any, error) {
	t, err := event.Parse(raw)
	if err != nil {
		return nil, err
	}
	switch {
	case t.Kind == event.Sweep:
		return nil, h.everywhere(ctx, t, nil, nil)
	case t.Kind == event.IncidentTold && t.Told == string(incident.EventApproved):
		return nil, h.approved(ctx, t)
	}
	return nil, fmt.Errorf("eni-cleanup is woken by its schedule and by approvals, not by %s", t.Type)
}

// everywhere cleans up in all VPCs, or in those alone that are wanted, and only
// the interfaces that are named, if any are.
func (h handler) everywhere(ctx context.Context, t event.Trigger, wanted func(place) bool, only map[string]bool) error {
	work := ctx
	if deadline, ok := ctx.Deadline(); ok {
		var cancel context.CancelFunc
		work, cancel = context.WithDeadline(ctx, deadline.Add(-room))
		defer cancel()
	}
	places, err := h.places(ctx, t)
	errs := []error{err}
	r := &tour{handler: h, work: work, id: cmp.Or(t.ID, h.now().UTC().Format(time.RFC3339Nano)), left: h.limit, only: only}
	for _, p := range places {
		if wanted != nil && !wanted(p) {
			continue
		}
		if err := r.clean(ctx, p); err != nil {
			errs = append(errs, fmt.Errorf("clean up in %s: %w", p.vpc, err))
		}
	}
	return errors.Join(append(errs, r.rest(ctx))...)
}

// tour is one run over all VPCs.
type tour struct {
	handler
	// work ends some time before the context of the run.
	work context.Context
	id   string
	left int // of the cap
	// only are the interfaces that the run is about; nil: all.
	only map[string]bool
	// pace is nil until the first delete.
	pace *pacer
	// account is whose bucket it is.
	account string
}

// paced gives the pace. It is read from the table once it is needed.
func (r *tour) paced(ctx context.Context, account string) (*pacer, error) {
	if r.pace != nil {
		return r.pace, nil
	}
	last, err := r.notes.Pace(ctx, account, r.region)
	if err != nil {
		return nil, err
	}
	r.account = account
	r.pace = &pacer{pace: leak.Begin(last, r.now()), now: r.now, sleep: r.sleep}
	return r.pace, nil
}

// rest leaves the pace to the next run.
func (r *tour) rest(ctx context.Context) error {
	if r.pace == nil {
		return nil
	}
	return r.notes.SavePace(ctx, r.account, r.region, r.pace.left())
}
