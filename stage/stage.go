// Package stage is the local stage: a simulated AWS, the functions' real
// binaries, the rules, queues and schedules of the synthesised template, and
// a stand-in for Slack, on one machine, in a time that may run faster than
// the wall clock.
package stage

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"rollcall/shared/spoke"
	"rollcall/stage/fakeslack"
	"rollcall/stage/platform/dynamo"
	"rollcall/stage/platform/lambdaruntime"
	"rollcall/stage/platform/loopback"
	"rollcall/stage/platform/queue"
	"rollcall/stage/platform/router"
	"rollcall/stage/platform/template"
	"rollcall/stage/simaws"
	"rollcall/stage/simaws/deployment"
	"rollcall/stage/simaws/kubeapi"
	"rollcall/stage/simaws/s3"
	"rollcall/stage/simaws/world"
	"rollcall/stage/simclock"
)

// Stage is a running stage.
type Stage struct {
	Clock *simclock.Clock
	// World is nil where a capture is played.
	World    *world.World
	Cloud    *simaws.Cloud
	Slack    *fakeslack.Server
	Queues   *queue.Queues
	Router   *router.Router
	Template *template.Template
	Table    *dynamo.Server
	Runtime  *lambdaruntime.Runtime
	// Buckets are EC2's request buckets; nil where the stage has none.
	Buckets *simaws.Buckets
	// Deployment is what Lambda and EventBridge tell of the stack.
	Deployment *deployment.API
	// RBAC are the roles and bindings of all clusters.
	RBAC *kubeapi.RBAC
	// S3 has the buckets of the template.
	S3 *s3.Server

	options Options
	// network is the stage's own, where it has no ports; else nil.
	network *loopback.Network
	log     *slog.Logger
	ctx     context.Context
	cancel  context.CancelFunc
	work    sync.WaitGroup
	closers []func()
	// overridden are the clusters that are not described with the stage's own
	// endpoint.
	overridden []string
	// clusters are those with a Kubernetes API.
	clusters []string
	// spokes are the other accounts and regions.
	spokes map[spoke.ID]*spokeStage
	// organization is the one that the hub's account is in; "" is none.
	organization string
	// relays are those that are deployed, by their functions' ARNs.
	relays map[string]*relayStage
	// urls are the addresses of functions that have one, by their names.
	urls map[string]string

	mu sync.Mutex
	// policies are those that hang on the settings, by function.
	policies map[string][]template.Statement
	// applied are the roles and bindings that were applied in the clusters, by their names.
	applied map[string]*kubeapi.RBAC
	// unroute stops the rules of the stack that was deployed last, on a stage that began empty.
	unroute context.CancelFunc
	// release is that whose programs run, if another than the template's.
	release *template.Template
	// admits lets the roles of a release into the clusters; nil where none can be.
	admits func(*template.Template) error
	events []Put
	trace  []router.Entry
}

// Put is an event that was put on a bus.
type Put struct {
	Wall  time.Time
	Stage time.Time
	Bus   string
	Event json.RawMessage
}

// Start starts a stage. Close ends it and all that it started.
func Start(ctx context.Context, o Options) (_ *Stage, err error) {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Rate == 0 {
		o.Rate = 1
	}
	s := &Stage{options: o, log: o.Log, urls: map[string]string{}}
	if o.Programs != nil || o.Still {
		s.network = loopback.New()
		for host, h := range o.Others {
			s.network.Serve(host, h)
		}
	}
	s.ctx, s.cancel = context.WithCancel(ctx)
	defer func() {
		if err != nil {
			s.Close()
		}
	}()
	set, err := s.open()
	if err != nil {
		return nil, err
	}
	start := set.start
	if !o.At.IsZero() {
		if o.At.Before(start) {
			return nil, fmt.Errorf("start at %s: the world starts at %s", o.At.Format(time.RFC3339), start.Format(time.RFC3339))
		}
		start = o.At
	}
	if err := s.startClock(start); err != nil {
		return nil, err
	}
	defer s.Clock.Work()()
	if err := s.startServers(ctx, set); err != nil {
		return nil, err
	}
	s.clusters = set.clusters
	if set.described {
		s.overridden = set.clusters
	}
	if err := s.synthesise(); err != nil {
		return nil, err
	}
	if err := s.startFunctions(set); err != nil {
		return nil, err
	}
	for _, c := range s.options.Relays {
		if err := s.DeployRelay(c, nil); err != nil {
			return nil, fmt.Errorf("the relay of %s: %w", c.Name, err)
		}
	}
	if s.World != nil {
		s.World.Advance(start)
		if !o.Still {
			s.background(s.drive)
		}
	}
	return s, nil
}

// startClock starts the stage's time. All that a patient stage needs to be ready
// is work: it begins at its start, also on a slow machine.
func (s *Stage) startClock(start time.Time) error {
	if s.options.Slow == 0 {
		s.Clock = simclock.New(start, time.Now(), s.options.Rate)
		return nil
	}
	dir, err := os.MkdirTemp("", "rollcall-clock-")
	if err != nil {
		return fmt.Errorf("start the clock: %w", err)
	}
	s.onClose(func() { os.RemoveAll(dir) })
	if s.Clock, err = simclock.NewPatient(start, time.Now(), s.options.Rate, s.options.Slow, filepath.Join(dir, "ahead")); err != nil {
		return fmt.Errorf("start the clock: %w", err)
	}
	s.onClose(func() {
		if err := s.Clock.Close(); err != nil {
			s.log.Error("the stage's clock", "error", err)
		}
	})
	return nil
}

// readTemplate reads what is deployed at the start.
func (s *Stage) readTemplate(set set) error {
	if s.options.Empty {
		s.Template = nothing(set.account, set.region)
		return nil
	}
	source, err := s.options.read(s.options.Template)
	if err != nil {
		return fmt.Errorf("read the template: %w", err)
	}
	s.Template, err = template.Parse(source, template.Options{AccountID: set.account, Region: set.region})
	if err != nil {
		return fmt.Errorf("read the template: %w", err)
	}
	s.undeployed()
	return nil
}

// startServers starts what the functions call.
func (s *Stage) startServers(ctx context.Context, set set) error {
	err := s.readTemplate(set)
	if err != nil {
		return err
	}
	s.Slack, err = fakeslack.New(fakeslack.Config{
		Token: SlackToken, SigningSecret: SigningSecret, Workspace: "Rollcall stage",
		Bot:      fakeslack.Bot{Name: "Rollcall"},
		Channels: []fakeslack.Channel{{ID: Channel, Name: "eks-oncall", Topic: "Rollcall on the local stage: " + set.about}},
		Users:    people(), Groups: groups(), Limits: s.options.Slack,
		Now: s.Clock.Now,
		// A signature is dated in the time in which the request travels, as AWS's
		// own are: five minutes of a fast stage would be over before it arrives.
		// slack-actions judges it in wall time too.
		SignatureClock: time.Now, Network: s.network,
	})
	if err != nil {
		return fmt.Errorf("start the Slack stand-in: %w", err)
	}
	s.onClose(func() { s.Slack.Close() })
	if err := s.startTable(ctx); err != nil {
		return err
	}
	s.Queues = queue.New(queue.Options{Clock: s.Clock, NewID: ids(), Sent: s.options.Sent})
	s.onClose(s.Queues.Close)
	for _, q := range s.Template.Queues {
		if err := s.Queues.Add(queueConfig(q)); err != nil {
			return fmt.Errorf("queue %s: %w", q.Name, err)
		}
	}
	return s.startCloud(set)
}

func queueConfig(q template.Queue) queue.Config {
	return queue.Config{
		Name: q.Name, ARN: q.ARN, URL: q.URL, FIFO: q.FIFO, ContentDedup: q.ContentDedup, DedupByGroup: q.DedupByGroup,
		Delay: q.Delay, Visibility: &q.Visibility, Retention: q.Retention, Wait: q.Wait, MaxBytes: q.MaxBytes,
		DeadLetterARN: q.DeadLetterARN, MaxReceive: q.MaxReceive,
	}
}

// withRBAC lists roles and bindings beside a set's objects.
func (s *Stage) withRBAC(objects func(cluster, plural string) ([]json.RawMessage, string, error)) func(cluster, plural string) ([]json.RawMessage, string, error) {
	return func(cluster, plural string) ([]json.RawMessage, string, error) {
		if items, ok := s.RBAC.List(plural); ok {
			if here := s.applied[cluster]; here != nil {
				more, _ := here.List(plural)
				items = append(items, more...)
			}
			return items, "1", nil
		}
		return objects(cluster, plural)
	}
}

func (s *Stage) startCloud(set set) error {
	var err error
	identities := []simaws.Identity{simaws.AdminIdentity(set.account, Admin)}
	for _, f := range s.Template.Functions {
		who := simaws.RoleIdentity(set.account, f.Name)
		identities = append(identities, who)
	}
	secrets := map[string]string{}
	for _, secret := range s.Template.Secrets {
		secrets[secret.Name] = s.secretValue(secret)
	}
	s.targetSecrets(secrets)
	topics, _ := s.topics()
	group, groups := "", map[string][]kubeapi.Rule{}
	s.RBAC = &kubeapi.RBAC{}
	if s.options.Rights != "" {
		var rules []kubeapi.Rule
		if group, rules, err = s.options.rights(); err != nil {
			return err
		}
		groups[group] = rules
		manifest, err := s.options.read(s.options.Rights)
		if err != nil {
			return fmt.Errorf("read the Kubernetes rights: %w", err)
		}
		if s.RBAC, err = kubeapi.ReadRBAC(manifest); err != nil {
			return err
		}
	}
	s.applied = map[string]*kubeapi.RBAC{}
	for _, name := range set.clusters {
		s.applied[name] = &kubeapi.RBAC{}
	}
	s.Buckets = s.buckets()
	s.S3 = s3.New(s.Template.S3Buckets, set.account, set.region, s.now)
	s.Deployment = deployment.New(s.Template, s.settings, func(f template.Function) string {
		return simaws.RoleIdentity(s.Template.AccountID, f.Name).RoleARN
	}, s.Clock.Now())
	if err := s.startSpokes(); err != nil {
		return err
	}
	api, _ := set.api.(world.API)
	config := simaws.Config{
		Account: set.account, Region: set.region,
		MayAssume: s.mayAssume,
		World:     set.api, History: set.history, Queues: s.Queues, Identities: identities, Secrets: secrets, Topics: topics,
		Deployment: s.Deployment, Invoke: s.invoke,
		Events: func(_ context.Context, bus string, event json.RawMessage) error { return s.putOn(bus, event) },
		S3:     s.S3, CloudFormation: s.stacks(place{
			spoke.ID{Account: set.account, Region: set.region}, api, s.S3,
			func(t *template.Template) error { return s.deployed(set, t) }, s.deleted,
		}),
		DynamoDB: s.Table, Meter: s.options.Meter, Clusters: set.clusters, Objects: s.withRBAC(set.objects), Endpoints: set.described, Groups: groups,
		Granted: func(cluster, group string) []kubeapi.Rule { return s.applied[cluster].Rules(group) },
		Apply: func(cluster, plural string, object json.RawMessage) (bool, error) {
			return s.applied[cluster].Apply(plural, object)
		},
		Within: s.within(spoke.ID{}),
		Faults: simaws.NewFaultRules(slices.Concat(callFaults(set.faults, set.start), s.options.CallFaults), s.Clock.Now),
		Admit:  s.admitCall,
		Now:    s.Clock.Now, Wall: time.Now, Log: s.log, Observe: s.recorder(), Network: s.network,
	}
	if s.World != nil {
		config.EntryAdmits = s.World.EntryAdmits
	}
	if len(s.spokes) > 0 {
		config.Route, config.Assumed = s.spokeOf, s.sessionIn
	}
	if s.Cloud, err = simaws.Start(s.ctx, config); err != nil {
		return fmt.Errorf("start the simulated AWS: %w", err)
	}
	s.onClose(s.Cloud.Close)
	if w, ok := set.api.(world.API); ok {
		s.World.KnowRoles(s.Deployment.RoleID)
		if !set.described {
			for _, name := range set.clusters {
				if endpoint, ca, ok := s.Cloud.Kubernetes(name); ok {
					s.World.Serve(name, endpoint, ca)
				}
			}
		}
		if s.options.Empty {
			return nil // access entries are the stack's, or an operator's
		}
		s.admits = func(t *template.Template) error { return s.admit(t, w, group) }
		return s.admits(s.Template)
	}
	return nil
}

// onClose adds to what Close does, in reverse order.
func (s *Stage) onClose(f func()) { s.closers = append(s.closers, f) }

// background runs f until the stage closes.
func (s *Stage) background(f func()) {
	s.work.Add(1)
	go func() {
		defer s.work.Done()
		f()
	}()
}

// Close ends the stage: no process, port or goroutine of it is left.
func (s *Stage) Close() {
	s.cancel()
	for i := len(s.closers) - 1; i >= 0; i-- {
		s.closers[i]()
	}
	s.closers = nil
	s.work.Wait()
}

// drive brings the world to the clock's time, again and again.
func (s *Stage) drive() { s.driveWorld(s.World) }

func (s *Stage) driveWorld(w *world.World) {
	for s.ctx.Err() == nil {
		done := s.Clock.Work()
		w.Advance(s.Clock.Now())
		done()
		wait := 10 * time.Millisecond
		if s.network != nil {
			// Of stage time as a rule, and there may be hours of it.
			wait = 250 * time.Millisecond
		}
		if next, ok := w.Next(); ok {
			// Calls make new things due, so it never sleeps for long.
			wait = min(wait, max(s.Clock.Wall(s.Clock.Until(next)), 0))
		}
		select {
		case <-s.ctx.Done():
		case <-time.After(max(wait, time.Millisecond)):
		}
	}
}

// defaultBus is the bus of AWS's own events.
const defaultBus = "default"

// put is the world's sink of events.
func (s *Stage) put(event json.RawMessage) { s.putOrLog(defaultBus, event) }

// putOrLog puts an event of a world on a bus, and logs what fails.
func (s *Stage) putOrLog(bus string, event json.RawMessage) {
	if err := s.putOn(bus, event); err != nil && !errors.Is(err, context.Canceled) {
		s.log.Error("put an event", "error", err)
	}
}
