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
	"io"
	"log/slog"
	"net/url"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/eks"
	ekstypes "github.com/aws/aws-sdk-go-v2/service/eks/types"

	"rollcall/local/clock"
	"rollcall/local/cloud"
	"rollcall/local/dynamo"
	"rollcall/local/lambdaruntime"
	"rollcall/local/queue"
	"rollcall/local/router"
	"rollcall/local/slackstand"
	"rollcall/local/template"
	"rollcall/local/world"
)

// Options say what to run.
type Options struct {
	// World is the path of the world file.
	World string
	// Template is the path of the synthesised template.
	Template string
	// Binaries is the folder that holds <function>/bootstrap for each function
	// of the template, built for this machine. Without it no function runs:
	// a test then calls handlers itself.
	Binaries string
	// At is the stage time to start at, in place of the world's own: what is
	// due in between happens first.
	At time.Time
	// Rate is how much faster than the wall clock the stage runs.
	Rate float64
	// Quiet stops rules, schedules and queues from waking functions.
	Quiet bool
	// Settings are put over the functions' environment.
	Settings map[string]string
	// Out takes the functions' logs; nil drops them.
	Out io.Writer
	// Log takes what goes wrong in the stage itself; nil drops it.
	Log *slog.Logger
	// Observe takes each finished invocation.
	Observe func(lambdaruntime.Invocation)
	// SlackToken is what Secrets Manager holds instead of the right token.
	SlackToken *string
	// CallFaults go beside the world's own faults of calls.
	CallFaults []cloud.FaultRule
	// EventFaults goes over the world's own event faults.
	EventFaults func(router.Event) router.Fault
}

// Stage is a running stage.
type Stage struct {
	Clock    *clock.Clock
	World    *world.World
	Cloud    *cloud.Cloud
	Slack    *slackstand.Server
	Queues   *queue.Queues
	Router   *router.Router
	Template *template.Template
	Table    *dynamo.Server
	Runtime  *lambdaruntime.Runtime

	options Options
	log     *slog.Logger
	ctx     context.Context
	cancel  context.CancelFunc
	work    sync.WaitGroup
	closers []func()

	mu     sync.Mutex
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
	s := &Stage{options: o, log: o.Log}
	s.ctx, s.cancel = context.WithCancel(ctx)
	defer func() {
		if err != nil {
			s.Close()
		}
	}()
	file, err := world.Load(o.World)
	if err != nil {
		return nil, fmt.Errorf("load the world: %w", err)
	}
	if s.World, err = world.New(file, world.Options{Seed: 1, Events: s.put, Log: o.Log}); err != nil {
		return nil, fmt.Errorf("make the world: %w", err)
	}
	start := s.World.Start()
	if !o.At.IsZero() {
		if o.At.Before(start) {
			return nil, fmt.Errorf("start at %s: the world starts at %s", o.At.Format(time.RFC3339), start.Format(time.RFC3339))
		}
		start = o.At
	}
	s.Clock = clock.New(start, time.Now(), o.Rate)
	if err := s.startServers(ctx, file); err != nil {
		return nil, err
	}
	if err := s.startFunctions(file); err != nil {
		return nil, err
	}
	s.World.Advance(start)
	s.background(s.drive)
	return s, nil
}

// startServers starts what the functions call.
func (s *Stage) startServers(ctx context.Context, file *world.File) error {
	source, err := os.ReadFile(s.options.Template)
	if err != nil {
		return fmt.Errorf("read the template: %w", err)
	}
	s.Template, err = template.Parse(source, template.Options{AccountID: file.Account, Region: file.Region})
	if err != nil {
		return fmt.Errorf("read the template: %w", err)
	}
	s.Slack, err = slackstand.New(slackstand.Config{
		Token: SlackToken, Workspace: "Rollcall stage",
		Bot:      slackstand.Bot{Name: "Rollcall"},
		Channels: []slackstand.Channel{{ID: Channel, Name: "eks-oncall", Topic: "Rollcall on the local stage: " + file.About}},
		Now:      s.Clock.Now,
	})
	if err != nil {
		return fmt.Errorf("start the Slack stand-in: %w", err)
	}
	s.onClose(func() { s.Slack.Close() })
	if s.Table, err = dynamo.Start(ctx, dynamo.Options{}); err != nil {
		return fmt.Errorf("start DynamoDB: %w", err)
	}
	s.onClose(func() { s.Table.Close() })
	if err := s.createTables(ctx); err != nil {
		return err
	}
	s.Queues = queue.New(queue.Options{Clock: s.Clock, NewID: ids()})
	s.onClose(s.Queues.Close)
	for _, q := range s.Template.Queues {
		if err := s.Queues.Add(queueConfig(q)); err != nil {
			return fmt.Errorf("queue %s: %w", q.Name, err)
		}
	}
	return s.startCloud(file)
}

func queueConfig(q template.Queue) queue.Config {
	return queue.Config{
		Name: q.Name, ARN: q.ARN, URL: q.URL, FIFO: q.FIFO, ContentDedup: q.ContentDedup, DedupByGroup: q.DedupByGroup,
		Delay: q.Delay, Visibility: &q.Visibility, Retention: q.Retention, Wait: q.Wait, MaxBytes: q.MaxBytes,
		DeadLetterARN: q.DeadLetterARN, MaxReceive: q.MaxReceive,
	}
}

func (s *Stage) startCloud(file *world.File) error {
	w := account{s.World.EC2(), s.World.AutoScaling(), s.World.EKS(), s.World.IAM()}
	db, err := url.Parse(s.Table.Endpoint())
	if err != nil {
		return fmt.Errorf("DynamoDB's address: %w", err)
	}
	identities := []cloud.Identity{cloud.AdminIdentity(file.Account, Admin)}
	for _, f := range s.Template.Functions {
		identities = append(identities, cloud.RoleIdentity(file.Account, f.Name))
	}
	secrets := map[string]string{}
	for _, secret := range s.Template.Secrets {
		secrets[secret.Name] = SlackToken
		if s.options.SlackToken != nil {
			secrets[secret.Name] = *s.options.SlackToken
		}
	}
	s.Cloud, err = cloud.Start(s.ctx, cloud.Config{
		Account: file.Account, Region: file.Region,
		World: w, Queues: s.Queues, Identities: identities, Secrets: secrets,
		Events:   func(_ context.Context, bus string, event json.RawMessage) error { return s.putOn(bus, event) },
		DynamoDB: db, Clusters: s.World.Clusters(), Objects: objects(s.World),
		Faults: cloud.NewFaultRules(slices.Concat(callFaults(file.Faults, s.World.Start()), s.options.CallFaults), s.Clock.Now),
		Now:    s.Clock.Now, Wall: time.Now, Log: s.log,
	})
	if err != nil {
		return fmt.Errorf("start the simulated AWS: %w", err)
	}
	s.onClose(s.Cloud.Close)
	return s.admit(w)
}

// nodeReader is the access policy that the deployment's documented command
// (and its switch kubernetesAccess=policy) gives join-check in each cluster.
const nodeReader = "arn:aws:eks::aws:cluster-access-policy/AmazonAIOpsAssistantPolicy"

// admit does in every cluster what an operator does once: the stack's
// JoinCheckAccessCommand.
func (s *Stage) admit(w account) error {
	for _, f := range s.Template.Functions {
		who := cloud.RoleIdentity(s.Template.AccountID, f.Name)
		for _, cluster := range s.World.Clusters() {
			_, err := w.CreateAccessEntry(&eks.CreateAccessEntryInput{ClusterName: &cluster, PrincipalArn: &who.RoleARN})
			if err != nil {
				return fmt.Errorf("admit %s to cluster %s: %w", f.Name, cluster, err)
			}
			policy := nodeReader
			_, err = w.AssociateAccessPolicy(&eks.AssociateAccessPolicyInput{
				ClusterName: &cluster, PrincipalArn: &who.RoleARN, PolicyArn: &policy,
				AccessScope: &ekstypes.AccessScope{Type: ekstypes.AccessScopeTypeCluster},
			})
			if err != nil {
				return fmt.Errorf("admit %s to cluster %s: %w", f.Name, cluster, err)
			}
		}
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
func (s *Stage) drive() {
	for s.ctx.Err() == nil {
		s.World.Advance(s.Clock.Now())
		wait := 10 * time.Millisecond
		if next, ok := s.World.Next(); ok {
			// Calls make new things due, so it never sleeps for long.
			wait = min(wait, max(s.Clock.Wall(s.Clock.Until(next)), 0))
		}
		select {
		case <-s.ctx.Done():
		case <-time.After(max(wait, time.Millisecond)):
		}
	}
}

// put is the world's sink of events.
func (s *Stage) put(event json.RawMessage) {
	if err := s.putOn("default", event); err != nil && !errors.Is(err, context.Canceled) {
		s.log.Error("put an event", "error", err)
	}
}
