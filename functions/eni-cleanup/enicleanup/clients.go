package enicleanup

import (
	"context"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/eventbridge"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"rollcall/functions/eni-cleanup/spec"
	"rollcall/shared/bus"
	"rollcall/shared/config"
	"rollcall/shared/detect"
	"rollcall/shared/gather"
	"rollcall/shared/incident"
	"rollcall/shared/lambda"
	"rollcall/shared/network/leak"
	"rollcall/shared/remedy/awscall"
	"rollcall/shared/remedy/deleteleakedinterfaces"
	"rollcall/shared/remedy/optin"
	"rollcall/shared/report"
	roles "rollcall/shared/spec"
	"rollcall/shared/spoke"
	"rollcall/shared/store"

	"rollcall/shared/snapshot"
)

// Reader reads AWS.
type Reader interface {
	detect.Reader
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
	detect.Sender
	SendSummary(ctx context.Context, s report.Summary) error
	SendRemedyResult(ctx context.Context, d report.RemedyResult) error
}

var (
	_ Reader = (*gather.Reader)(nil)
	_ Memory = (*store.Store)(nil)
	_ Notes  = (*store.Store)(nil)
	_ Desk   = (*store.Store)(nil)
	_ Teller = (*bus.Bus)(nil)
	_ Sender = bus.Queues{}
)

// settings are what the operator chose.
type settings struct {
	modes    func(cluster string) leak.Mode
	grace    time.Duration
	limit    int // of deletes in a run
	share    int // percent
	untagged []string
	// remedied is what the remedy delete-leaked-interfaces may do in a cluster.
	remedied func(cluster string) optin.Policy
	// of is the account and region in which it deletes; zero where it is not known.
	of spoke.ID
}

type handler struct {
	detect.Detector
	settings
	reader Reader
	memory Memory
	notes  Notes
	desk   Desk
	delete deleteleakedinterfaces.Calls
	bus    Teller
	send   Sender
	sleep  func(context.Context, time.Duration) error
}

// Build makes the handler of eni-cleanup from what its invocations share.
func Build(_ context.Context, e lambda.Env) (lambda.Handler, error) {
	return assemble(e, gather.New(e.Watched())).handle, nil
}

func assemble(e lambda.Env, r Reader) handler {
	table := store.New(dynamodb.NewFromConfig(e.AWS), e.Config.TableName).At(e.Now).In(e.Config.Spoke)
	queues := bus.Queues{Client: sqs.NewFromConfig(e.AWS), Results: e.Config.ResultQueueURL, Spoke: e.Config.Spoke}
	return handler{
		Detector: detect.New(spec.Name, e, r, queues),
		settings: chosen(e.Config), reader: r, memory: table, notes: table, desk: table,
		delete: awscall.NewInterfaces(e.As(roles.SpokeCleaner)),
		bus:    bus.New(eventbridge.NewFromConfig(e.AWS), e.Config.BusName),
		send:   queues,
		sleep:  e.Sleep,
	}
}

func chosen(c config.Config) settings {
	return settings{
		modes: func(cluster string) leak.Mode { return leak.Mode(c.CleanupOf(cluster)) },
		grace: c.CleanupGrace, limit: c.CleanupCap, share: c.CleanupShare, untagged: c.CleanupUntagged,
		of:       c.Where(),
		remedied: func(cluster string) optin.Policy { return c.RemedyOf(cluster, optin.DeleteLeakedInterfaces) },
	}
}
