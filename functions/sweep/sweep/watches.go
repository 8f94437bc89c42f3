package sweep

import (
	"context"
	"encoding/json"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/eventbridge"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"rollcall/functions/join-check/joincheck"
	joincheckspec "rollcall/functions/join-check/spec"
	"rollcall/functions/nodegroup-watch/nodegroupwatch"
	nodegroupwatchspec "rollcall/functions/nodegroup-watch/spec"
	subnetwatchspec "rollcall/functions/subnet-watch/spec"
	"rollcall/functions/subnet-watch/subnetwatch"
	"rollcall/functions/sweep/spec"
	zonewatchspec "rollcall/functions/zone-watch/spec"
	"rollcall/functions/zone-watch/zonewatch"
	"rollcall/shared/askonce"
	"rollcall/shared/awsconf"
	"rollcall/shared/bus"
	"rollcall/shared/cloudwatchlogs"
	"rollcall/shared/config"
	"rollcall/shared/detect"
	"rollcall/shared/evidence"
	"rollcall/shared/gather"
	"rollcall/shared/lambda"
	"rollcall/shared/node/text"
	"rollcall/shared/overview"
	"rollcall/shared/store"
)

// What the detectors of one turn share is bounded: in bytes, beside what each makes of
// it, and in time, as a look that takes long must not end with what it began with.
const (
	mostShared = 16 << 20
	sharedFor  = time.Minute
)

// Build makes the handler of sweep from what its invocations share.
func Build(_ context.Context, e lambda.Env) (lambda.Handler, error) {
	client := sqs.NewFromConfig(e.AWS)
	queues := bus.Queues{Client: client, Results: e.Config.ResultQueueURL, Joins: e.Config.JoinQueueURL, Nodegroups: e.Config.NodegroupQueueURL, Spoke: e.Config.Spoke}
	table := store.New(dynamodb.NewFromConfig(e.AWS), e.Config.TableName).At(e.Now).In(e.Config.Spoke)
	limits := &awsconf.Limits{Shares: e.Config.SweepConcurrency, Now: e.Now, Sleep: e.Sleep}
	if e.Config.Clock.Slower() {
		limits.Now, limits.Sleep = config.Clock{}.Now, config.Clock{}.Sleep
	}
	p := parts{env: e, limits: limits, queues: queues, table: table, bus: bus.New(eventbridge.NewFromConfig(e.AWS), e.Config.BusName), keepers: map[string]*evidence.Keeper{}}
	for _, by := range []string{joincheckspec.Name, nodegroupwatchspec.Name, subnetwatchspec.Name, zonewatchspec.Name} {
		p.keepers[by] = detect.KeepEvidence(e)
	}
	var names *naming
	if e.Config.WantsAlias() {
		names = &naming{ask: gather.Alias(e.Watched()), names: table}
	}
	return handler{
		Detector: detect.New(spec.Name, e, detect.NewReader(e, nil), queues),
		known:    table, memory: table,
		turns:   bus.Sweeps{Client: client, Queue: e.Config.SweepQueueURL, Spoke: e.Config.Spoke},
		watches: p.watches,
		naming:  names,
	}.handle, nil
}

// parts are what the detectors of all turns are made of.
type parts struct {
	env    lambda.Env
	limits *awsconf.Limits
	queues bus.Queues
	table  *store.Store
	bus    *bus.Bus
	// keepers keep the evidence of each detector, by its name.
	keepers map[string]*evidence.Keeper
}

// watches are the detectors of one turn, as their own functions make them, but that they
// ask each question once. join-check is the first: the others look up what it takes down.
func (p parts) watches(account string, c *gather.Contact, soonest func(overview.Subnet)) []watch {
	once := &askonce.Once{Most: mostShared, For: sharedFor, Now: p.env.Now}
	// What is known takes no token.
	read := p.env.Reading(func(cfg aws.Config) aws.Config { return once.Client(p.limits.Client(cfg, account)) })
	return []watch{
		p.watch(joincheckspec.Name, read, once, c, func(e lambda.Env, d detect.Detector, r *gather.Reader) lambda.Handler {
			r = r.Decoding(e.Config.DecodeDenied).ReadingLogs(cloudwatchlogs.New(e.Watched()), e.Config.AutoModeLogs, text.CauseOfKarpenter)
			d.Reader = r
			return joincheck.New(joincheck.Parts{Detector: d, Config: e.Config, Table: p.table, Reader: r, Remind: p.queues})
		}),
		p.watch(nodegroupwatchspec.Name, read, once, c, func(e lambda.Env, d detect.Detector, r *gather.Reader) lambda.Handler {
			return nodegroupwatch.New(nodegroupwatch.Parts{Detector: d, Config: e.Config, Table: p.table, Reader: r, Remind: p.queues, Tell: p.bus})
		}),
		p.watch(subnetwatchspec.Name, read, once, c, func(e lambda.Env, d detect.Detector, r *gather.Reader) lambda.Handler {
			return subnetwatch.New(subnetwatch.Parts{Detector: d, Config: e.Config, Table: p.table, Reader: func() subnetwatch.Reader { return r.Counting() }, Gauge: e.Metrics.Gauge, Soonest: soonest})
		}),
		p.watch(zonewatchspec.Name, read, once, c, func(e lambda.Env, d detect.Detector, r *gather.Reader) lambda.Handler {
			return zonewatch.New(zonewatch.Parts{Detector: d, Table: p.table, Reader: r, Gauge: e.Metrics.Gauge})
		}),
	}
}

// watch makes a detector when it is its turn, so that what one has read is not held while
// another looks.
func (p parts) watch(by string, reading lambda.Env, once *askonce.Once, c *gather.Contact, build func(lambda.Env, detect.Detector, *gather.Reader) lambda.Handler) watch {
	return watch{by, func(ctx context.Context, turn json.RawMessage) (any, error) {
		e, keep := p.env, p.keepers[by]
		e.Log = e.Log.With("by", by)
		keep.Begin(turn)
		reader := detect.NewReader(reading, keep).Sharing(once.Cluster).Contacting(c)
		out, err := build(e, detect.New(by, e, reader, p.queues).Keeping(keep), reader)(ctx, turn)
		keep.Flush(ctx)
		keep.Begin(nil)
		return out, err
	}}
}
