// Package enicleanup deletes the network interfaces that dead nodes left behind,
// by rules that each have a reason, and only where the operator opted in.
package enicleanup

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/eventbridge"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"golang.org/x/sync/errgroup"

	"rollcall/functions/eni-cleanup/spec"
	"rollcall/shared/bus"
	"rollcall/shared/config"
	"rollcall/shared/detect"
	"rollcall/shared/event"
	"rollcall/shared/gather"
	"rollcall/shared/incident"
	"rollcall/shared/lambda"
	"rollcall/shared/network/leak"
	"rollcall/shared/queue"
	"rollcall/shared/remedy"
	"rollcall/shared/remedy/action"
	"rollcall/shared/remedy/awscall"
	"rollcall/shared/remedy/deleteleakedinterfaces"
	"rollcall/shared/remedy/optin"
	"rollcall/shared/report"
	"rollcall/shared/snapshot"
	roles "rollcall/shared/spec"
	"rollcall/shared/spoke"
	"rollcall/shared/store"
)

// room is kept before the deadline to write down what was done, and to tell:
// a delete that was sent is answered or given up within ten seconds. What is
// not told in it the next run tells. EC2's bucket is full after 20 seconds in
// which nothing is deleted: more room is time lost.
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
	case t.Told == string(incident.EventApproved):
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
	r := &tour{handler: h, work: work, id: cmp.Or(t.ID, h.Now().UTC().Format(time.RFC3339Nano)), left: h.limit, only: only}
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
	last, err := r.notes.Pace(ctx, account, r.Region)
	if err != nil {
		return nil, err
	}
	r.account = account
	r.pace = &pacer{pace: leak.Begin(last, r.Now()), now: r.Now, sleep: r.sleep}
	return r.pace, nil
}

// rest leaves the pace to the next run.
func (r *tour) rest(ctx context.Context) error {
	if r.pace == nil {
		return nil
	}
	return r.notes.SavePace(ctx, r.account, r.Region, r.pace.left())
}

// job is one interface to delete, or in a dry run to ask for.
type job struct {
	leak.Verdict
	dry bool
}

// fresh is how long a look at an interface counts: what was described longer
// ago is described again before it is deleted.
const fresh = time.Minute

// act deletes what is planned, some at a time, until all is done or the time
// is over. What it did not come to, the next run does.
func (v *visit) act(ctx context.Context) error {
	var queue []job
	for _, x := range v.plan.Delete {
		queue = append(queue, job{Verdict: x})
	}
	for _, x := range v.plan.Ask {
		queue = append(queue, job{x, true})
	}
	if len(queue) == 0 {
		return nil
	}
	pace, err := v.paced(ctx, v.homes[0].Account)
	if err != nil {
		return fmt.Errorf("read the pace of deletes: %w", err)
	}
	for len(queue) > 0 && v.work.Err() == nil && err == nil {
		n := min(pace.batch(), len(queue))
		var again []job
		again, err = v.some(ctx, pace, queue[:n])
		queue = slices.Concat(again, queue[n:])
	}
	for _, j := range queue {
		v.leave(j)
	}
	return err
}

// leave notes an interface that this run does not come to.
func (v *visit) leave(j job) { v.undone[v.clusterOf(j.Verdict)]++ }

// some describes some interfaces again and deletes those that are as they
// were. It gives back those that are to be described once more.
func (v *visit) some(ctx context.Context, pace *pacer, jobs []job) (again []job, _ error) {
	described := v.Now()
	ids := make([]string, len(jobs))
	for i, j := range jobs {
		ids[i] = j.Interface.ID
	}
	list, failed := v.reader.InterfacesByID(ctx, ids)
	if failed != nil {
		return jobs, fmt.Errorf("describe %d interfaces again: %s %s: %s", len(jobs), failed.Call, failed.Reason, failed.Message)
	}
	now := map[string]*snapshot.Interface{}
	for i := range list {
		now[list[i].ID] = &list[i]
	}
	b := &batch{visit: v, pace: pace, until: described.Add(fresh)}
	var g errgroup.Group
	g.SetLimit(parallel)
	for i, j := range jobs {
		if why := leak.Confirm(now[j.Interface.ID], j.Verdict); why != leak.Leaked {
			v.Log.InfoContext(ctx, "not deleted: it is another now", "interface", j.Interface.ID, "why", string(why))
			v.Count("RaceLost", 1)
			continue
		}
		if b.halted(j) {
			continue
		}
		if !v.Now().Before(b.until) || b.broken() || pace.wait(v.work) != nil {
			b.back(jobs[i:]...)
			break
		}
		g.Go(func() error {
			if !v.Now().Before(b.until) {
				pace.note((*leak.Pace).Give)
				b.back(j)
				return nil
			}
			b.do(ctx, j)
			return nil
		})
	}
	_ = g.Wait() // each says what went wrong in b
	if err := v.finish(ctx, b.done); err != nil {
		return b.again, err
	}
	return b.again, b.err
}

// batch is what comes of some deletes at the same time.
type batch struct {
	*visit
	pace *pacer
	// until is how long what was described counts.
	until time.Time

	mu    sync.Mutex
	done  []finished
	again []job
	err   error
}

func (b *batch) back(jobs ...job) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.again = append(b.again, jobs...)
}

func (b *batch) finished(s leak.Sighting, a leak.Audit) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.done = append(b.done, finished{s, a})
	b.did[a.Cluster] = true
}

func (b *batch) fail(err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.err == nil {
		b.err = err
	}
}

func (b *batch) broken() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.err != nil
}

// final tells an answer that the next delete of the run would have too.
func final(o action.Outcome) bool { return o == action.Denied || o == action.NoRole }

// halted reports whether EC2 has denied deletes for the cluster in this run, and
// leaves the interface: EC2 would deny it too.
func (b *batch) halted(j job) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !final(b.failed[b.clusterOf(j.Verdict)].Outcome) {
		return false
	}
	b.leave(j)
	return true
}

// approved deletes what a person, or the policy of an operator, has approved
// for an incident: those interfaces alone, each by all of the rules, within the
// run's cap and share. Of the event nothing is trusted but whom it is about;
// what was approved is read from the table, which report alone writes.
func (h handler) approved(ctx context.Context, t event.Trigger) error {
	list, err := h.desk.Incidents(ctx, t.Cluster)
	if err != nil {
		return err
	}
	i := slices.IndexFunc(list, func(x incident.Incident) bool { return string(x.Key.Check) == t.Check && x.Key.Resource == t.Resource })
	if i < 0 {
		h.Log.InfoContext(ctx, "no such incident", "cluster", t.Cluster, "check", t.Check, "resource", t.Resource)
		return nil
	}
	inc := list[i]
	offer, ok := offerIn(inc)
	policy := h.remedied(inc.Key.Cluster)
	switch {
	case inc.State != incident.Open && inc.State != incident.Cleared, !ok:
		// report tells of an approval after it has saved it: there is none.
		return nil
	}
	d := remedy.Run{
		Format: remedy.Format, ID: fmt.Sprintf("%s/%s", offer.Hash, offer.Decided.UTC().Format("20060102T150405.000Z")),
		Plan: offer.Plan, Hash: offer.Hash, Policy: offer.Policy, ApprovedBy: offer.By.ID, Approved: offer.Decided, Began: h.Now(),
	}
	switch {
	case policy == optin.Off || policy == optin.Approve && offer.Policy != optin.Approve:
		return h.decline(ctx, inc, d, "policy-off", "The remedy has been disabled since.")
	case offer.Policy == optin.Approve && !offer.Expires.IsZero() && h.Now().After(offer.Expires):
		return h.decline(ctx, inc, d, "approval-expired", fmt.Sprintf("The approval was valid until %s.", offer.Expires.UTC().Format("15:04:05 UTC")))
	case !h.of.Hub() && (offer.Plan.Account != h.of.Account || offer.Plan.Region != h.of.Region):
		return h.decline(ctx, inc, d, string(leak.OtherAccount), fmt.Sprintf("The plan is of account %s in %s, and this is %s.", offer.Plan.Account, offer.Plan.Region, h.of))
	case offer.Hash != offer.Plan.Hash() || offer.Plan.Cluster != inc.Key.Cluster || offer.Plan.Resource != inc.Key.Resource:
		return h.decline(ctx, inc, d, "plan-changed", "The plan is not the one that was approved.")
	}
	return h.deleteApproved(ctx, t, inc, d)
}

// offerIn is the newest plan of the incident, if a person approved it, or the
// policy: only report writes down either.
func offerIn(inc incident.Incident) (incident.Offer, bool) {
	for _, o := range slices.Backward(inc.Offers) {
		if o.Plan.Remedy != optin.DeleteLeakedInterfaces || o.Made.Before(inc.Opened) || o.Plan.Cleanup == nil {
			continue
		}
		return o, o.Run == nil && o.State == incident.Approved
	}
	return incident.Offer{}, false
}

// deleteApproved runs for the VPC of the cluster, in mode delete for it alone.
func (h handler) deleteApproved(ctx context.Context, t event.Trigger, inc incident.Incident, d remedy.Run) error {
	only := map[string]bool{}
	for _, id := range d.Plan.Cleanup.Interfaces {
		only[id] = true
	}
	cluster := inc.Key.Cluster
	h.modes = func(name string) leak.Mode {
		if name == cluster {
			return leak.Delete
		}
		return leak.Report
	}
	t.Account = inc.Account
	t.ID = "deed/" + d.ID
	here := func(p place) bool { return p.vpc == d.Plan.Cleanup.VPC && slices.Contains(p.clusters(), cluster) }
	err := h.everywhere(ctx, t, here, only)
	audits, readErr := h.memory.Audits(ctx, cluster, d.Approved.Add(-time.Minute))
	if readErr != nil {
		return readErr // the deletes are audited; Lambda's next try tells them
	}
	addresses := 0
	for _, a := range audits {
		if only[a.Interface] && a.Result == leak.Deleted {
			d.Changed = append(d.Changed, a.Interface)
			addresses += a.Addresses()
			if a.Request != "" {
				d.Requests = append(d.Requests, a.Request)
			}
		}
	}
	slices.Sort(d.Changed)
	d.Ended = h.Now()
	switch n := len(d.Changed); {
	case n == len(only):
		d.Result = remedy.Done
	case n > 0:
		d.Result, d.Reason = remedy.Partly, "not-all"
	case err != nil:
		return err
	default:
		d.Result, d.Reason = remedy.Refused, "none-left"
	}
	d.Says = fmt.Sprintf("%d of %d interfaces were deleted, %d addresses came back.", len(d.Changed), len(only), addresses)
	if d.Result != remedy.Done {
		d.Says += " For the others a rule of eni-cleanup does not hold now, or its limit is reached."
	}
	return h.sendResult(ctx, inc, d)
}

func (h handler) decline(ctx context.Context, inc incident.Incident, d remedy.Run, reason, says string) error {
	d.Ended, d.Result, d.Reason, d.Says = d.Began, remedy.Refused, reason, says
	return h.sendResult(ctx, inc, d)
}

// sendResult tells report what came of it. Where something was deleted, the check
// that found the leak is wanted at once.
func (h handler) sendResult(ctx context.Context, inc incident.Incident, d remedy.Run) error {
	h.Log.InfoContext(ctx, "run", "cluster", inc.Key.Cluster, "resource", inc.Key.Resource, "run", d.ID, "policy", d.Policy,
		"by", d.ApprovedBy, "result", d.Result, "reason", d.Reason, "changed", d.Changed)
	told := report.RemedyResult{Head: report.Head{ID: "deed/" + inc.Key.Cluster + "/" + d.ID + "/" + string(d.Result), At: d.Ended, Key: inc.Key}, Run: d}
	if err := h.send.SendRemedyResult(ctx, told); err != nil || len(d.Changed) == 0 {
		return err
	}
	return h.bus.Tell(ctx, []incident.Event{{
		ID: inc.Key.Cluster + "/deed/" + d.ID, Format: incident.EventFormat, Kind: incident.EventCheckWanted, Reason: "remedy", At: h.Now(),
		Partition: inc.Partition, Account: inc.Account, Region: inc.Region,
		Cluster: inc.Key.Cluster, Check: inc.Key.Check, Resource: inc.Key.Resource,
		State: inc.State, Number: inc.Number, Sequence: inc.Events, Began: inc.Began, Opened: inc.Opened, Cleared: inc.Cleared,
		Confidence: inc.Cause.Confidence, Title: inc.Cause.Title, Why: inc.Cause.Why, Affected: inc.Affected,
	}})
}

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
	CleanupDigests(ctx context.Context, cluster string) (map[string]string, error)
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
	_ Sender = queue.Queues{}
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
	table := detect.Table(e)
	queues := queue.Queues{Client: sqs.NewFromConfig(e.AWS), Results: e.Config.ResultQueueURL, Spoke: e.Config.Spoke}
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

// do deletes one interface, or asks for it: its turn has come.
func (b *batch) do(ctx context.Context, j job) {
	s := b.sighting(j)
	draft := leak.Draft(j.Verdict, s, b.id, b.Now())
	home := b.home(j.Cluster)
	draft.Cluster, draft.Account, draft.Region, draft.Partition = home.Cluster.Name, home.Account, home.Region, home.Partition
	if j.dry {
		// One record for each interface and day.
		draft.At = midnight(draft.At)
		b.conclude(ctx, j, s, draft, b.ask(ctx, j))
		return
	}
	// Written ahead, and over the version that was read: a run that ends in the
	// middle is found out, and of two runs one alone goes on.
	s.Deleting = &draft
	s, err := b.memory.SaveSighting(ctx, b.vpc, s)
	if err != nil {
		b.pace.note((*leak.Pace).Give)
		var taken *store.Conflict
		if errors.As(err, &taken) {
			b.Count("RaceLost", 1)
			return
		}
		b.fail(fmt.Errorf("write ahead that %s is deleted: %w", j.Interface.ID, err))
		b.back(j)
		return
	}
	b.conclude(ctx, j, s, draft, b.ask(ctx, j))
}

func (b *batch) sighting(j job) leak.Sighting {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.sightings[j.Interface.ID]
}

// ask sends the request, again and again as long as EC2 is asked too much.
func (b *batch) ask(ctx context.Context, j job) action.Answer {
	for {
		sent := b.Now()
		a := b.delete.DeleteNetworkInterface(ctx, j.Interface.ID, j.dry)
		switch a.Outcome {
		case action.Throttled:
			b.Count("Throttled", 1)
			b.pace.note(func(p *leak.Pace) { p.Throttled(sent, b.Now()) })
			if b.pace.wait(b.work) != nil {
				return a
			}
			if !b.Now().Before(b.until) {
				b.pace.note((*leak.Pace).Give)
				return a
			}
			continue
		case action.Uncertain:
			b.pace.note((*leak.Pace).Lost)
		default:
			b.pace.note((*leak.Pace).Went)
		}
		return a
	}
}

// conclude goes by EC2's answer.
func (b *batch) conclude(ctx context.Context, j job, s leak.Sighting, draft leak.Audit, a action.Answer) {
	draft.Request = a.Request
	log := b.Log.With("cluster", draft.Cluster, "interface", draft.Interface, "subnet", draft.Subnet, "owner", draft.Owner)
	switch a.Outcome {
	case action.Done:
		log.InfoContext(ctx, "deleted", "addresses", draft.Addresses(), "ec2Request", a.Request)
		draft.Result = leak.Deleted
		b.finished(s, draft)
	case action.WouldDo:
		log.InfoContext(ctx, "would be deleted", "addresses", draft.Addresses())
		draft.Result = leak.WouldDelete
		b.finished(s, draft)
	case action.InUse, action.NotThere:
		log.InfoContext(ctx, "not deleted: already gone or in use", "why", a.Outcome)
		b.Count("RaceLost", 1)
		if j.dry {
			return
		}
		draft.Result = leak.LostInUse
		if a.Outcome == action.NotThere {
			draft.Result = leak.LostGone
		}
		b.finished(s, draft)
	case action.Throttled:
		b.takeBack(ctx, j, s, true)
	case action.Denied, action.Refused, action.NoRole:
		log.ErrorContext(ctx, "EC2 does not delete it", "call", deleteCall, "outcome", a.Outcome, "code", a.Code, "message", a.Message)
		b.Count("DeletesRefused", 1)
		b.mu.Lock()
		if !final(b.failed[draft.Cluster].Outcome) {
			b.failed[draft.Cluster] = a
		}
		b.leave(j)
		b.mu.Unlock()
		b.takeBack(ctx, j, s, false)
	default:
		// It may have been done: what was written ahead stays, and the next run
		// finds out.
		log.WarnContext(ctx, "EC2 gave no answer to a delete", "code", a.Code, "message", a.Message)
		b.Count("DeletesUncertain", 1)
		b.mu.Lock()
		b.leave(j)
		b.mu.Unlock()
	}
}

// takeBack drops what was written ahead of a delete that is sure not to have
// been done. Where that fails, the next run does it.
func (b *batch) takeBack(ctx context.Context, j job, s leak.Sighting, again bool) {
	if !j.dry {
		s.Deleting = nil
		saved, err := b.memory.SaveSighting(ctx, b.vpc, s)
		if err != nil {
			b.fail(fmt.Errorf("take back that %s is deleted: %w", j.Interface.ID, err))
			return
		}
		b.mu.Lock()
		b.sightings[j.Interface.ID] = saved
		b.mu.Unlock()
	}
	if again {
		b.back(j)
	}
}

// finished is a delete of which it is known what came of it.
type finished struct {
	// sighting holds what was written ahead.
	sighting leak.Sighting
	audit    leak.Audit
}

// finish audits deletes, tells of them, and only then drops what was written
// ahead: whoever comes after a run that ended in between does the rest. The
// audit record is written once; an event may be sent twice, with the same id.
func (v *visit) finish(ctx context.Context, list []finished) error {
	if len(list) == 0 {
		return nil
	}
	audits := make([]leak.Audit, len(list))
	var g errgroup.Group
	g.SetLimit(parallel)
	for i, f := range list {
		g.Go(func() error {
			a, created, err := v.memory.RecordAudit(ctx, f.audit)
			if err != nil {
				return fmt.Errorf("record what came of %s: %w", f.audit.Interface, err)
			}
			audits[i] = a
			if created && a.Result == leak.Deleted {
				v.Count("Deleted", 1)
				v.Count("AddressesReturned", a.Addresses())
			}
			return nil
		})
	}
	if err := g.Wait(); err != nil {
		return err
	}
	var events []leak.Event
	for _, a := range audits {
		if a.Result == leak.Deleted {
			events = append(events, a.Event())
		}
	}
	if len(events) > 0 {
		if err := v.bus.TellInterfaces(ctx, events); err != nil {
			return fmt.Errorf("tell of %d deletes: %w", len(events), err)
		}
	}
	for _, f := range list {
		if f.audit.Result == leak.WouldDelete {
			continue // it is still there, and still seen
		}
		g.Go(func() error { return unlessConflict(v.memory.ForgetSighting(ctx, v.vpc, f.sighting)) })
	}
	return g.Wait()
}

const (
	// deleteCall is the one permission to write in EC2 that there is.
	deleteCall = "ec2:DeleteNetworkInterface"
	// deletes stands for it where report tells what cannot be done.
	deletes snapshot.Source = "leaked network interfaces"
)

// observe tells report what of a cluster could be read, and what could not.
func (h handler) observe(ctx context.Context, s *snapshot.Snapshot, answer *action.Answer) error {
	if answer != nil {
		f := snapshot.Failure{Source: deletes, Reason: snapshot.Broken, Call: deleteCall, Code: answer.Code, Message: answer.Message}
		switch answer.Outcome {
		case action.Denied:
			f.Reason = snapshot.Denied
		case action.NoRole:
			f.Reason, f.Code = snapshot.Denied, report.NoCleaner
		}
		s.Failures[deletes] = f
	}
	o, err := h.Run(ctx, s, detect.Look{})
	h.Count("Blind", len(o.Blind))
	if err != nil {
		return fmt.Errorf("tell report of cluster %s: %w", s.Cluster.Name, err)
	}
	return nil
}

// observeAll tells of all clusters of the VPC. It was looked at once, for all
// of them.
func (r *tour) observeAll(ctx context.Context, v *visit) error {
	var errs []error
	for _, s := range v.homes {
		name := s.Cluster.Name
		for _, source := range []snapshot.Source{snapshot.Usage, snapshot.Unattached, snapshot.CreatorsOf, snapshot.Subnets} {
			if v.homes[0].Read[source] {
				s.Read[source] = true
			}
			if f, failed := v.homes[0].Failures[source]; failed {
				s.Failures[source] = f
			}
		}
		var answer *action.Answer
		if a, failed := v.failed[name]; failed {
			answer = &a
		} else if v.did[name] {
			s.Read[deletes] = true
		}
		errs = append(errs, r.observe(ctx, s, answer))
	}
	return errors.Join(errs...)
}

// pacer is the pace of several deletes at once.
type pacer struct {
	mu    sync.Mutex
	pace  leak.Pace
	now   func() time.Time
	sleep func(context.Context, time.Duration) error
}

// wait waits until a request may be sent, or until the context ends.
func (p *pacer) wait(ctx context.Context) error {
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		p.mu.Lock()
		wait := p.pace.Take(p.now())
		p.mu.Unlock()
		if wait == 0 {
			return nil
		}
		if err := p.sleep(ctx, wait); err != nil {
			return err
		}
	}
}

func (p *pacer) note(what func(*leak.Pace)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	what(&p.pace)
}

// left is the pace as it is now.
func (p *pacer) left() leak.Pace {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.pace
}

// ahead is how long before its delete an interface is described again, at
// most, when all goes as the pace says.
const ahead = 4 * time.Second

// The least and the most interfaces that are described again at once.
const (
	fewest = 10
	most   = 50
)

// batch is how many interfaces to describe again at once.
func (p *pacer) batch() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return min(max(p.pace.Ready(p.now(), ahead), fewest), most)
}

// place is a VPC and the watched clusters in it, by name.
type place struct {
	vpc   string
	homes []*snapshot.Snapshot
	// blind are the watched clusters that could not be read: each may be in this
	// VPC.
	blind []string
}

func (p place) clusters() []string {
	var names []string
	for _, s := range p.homes {
		names = append(names, s.Cluster.Name)
	}
	return names
}

// places reads the watched clusters and puts them together by VPC. One that
// cannot be read is reported as blind; as long as it is, it is unknown which
// VPC's interfaces without a cluster's name may be its own, and its mode counts
// for those of all VPCs.
func (h handler) places(ctx context.Context, t event.Trigger) ([]place, error) {
	names := h.Clusters
	if names == nil {
		list, failed := h.reader.Clusters(ctx)
		if failed != nil {
			return nil, fmt.Errorf("list the clusters: %s %s: %s", failed.Call, failed.Reason, failed.Message)
		}
		names = list
	}
	var places []place
	var blind []string
	var errs []error
	for _, name := range slices.Sorted(slices.Values(names)) {
		s, err := h.Read(ctx, h.Query(name, t.Account))
		if err != nil {
			if err := h.IgnoreNoCluster(ctx, name, err); err != nil {
				blind, errs = append(blind, name), append(errs, fmt.Errorf("read cluster %s: %w", name, err))
			}
			continue
		}
		// Instances and groups were not read: that is no proof that
		// they could be read.
		delete(s.Read, snapshot.Instances)
		delete(s.Read, snapshot.Groups)
		if !s.Read[snapshot.Clusters] || s.Cluster.VPC == "" {
			blind, errs = append(blind, name), append(errs, h.observe(ctx, s, nil))
			continue
		}
		i := slices.IndexFunc(places, func(p place) bool { return p.vpc == s.Cluster.VPC })
		if i < 0 {
			i, places = len(places), append(places, place{vpc: s.Cluster.VPC})
		}
		places[i].homes = append(places[i].homes, s)
	}
	for i := range places {
		places[i].blind = blind
	}
	slices.SortFunc(places, func(a, b place) int { return cmp.Compare(a.vpc, b.vpc) })
	return places, errors.Join(errs...)
}

// look describes the VPC, once for all its clusters. It tells false where
// something could not be read: then nothing is judged.
func (h handler) look(ctx context.Context, p place) bool {
	s := p.homes[0]
	q := gather.Query{Account: s.Account, Region: s.Region, Time: s.Time, Cluster: s.Cluster.Name, VPC: p.vpc}
	sources := []snapshot.Source{snapshot.Usage, snapshot.Unattached, snapshot.CreatorsOf}
	h.reader.More(ctx, s, q, sources...)
	for _, source := range sources {
		if !s.Read[source] {
			return false
		}
	}
	return true
}

// judge asks the rules of all unattached interfaces.
func (h handler) judge(p place) []leak.Verdict {
	s := p.homes[0]
	g := leak.Ground{
		Now: s.Time, Account: s.Account, VPC: p.vpc, Clusters: p.clusters(), Grace: h.grace,
		Untagged: slices.Contains(h.untagged, p.vpc), Tenants: s.Tenants, Creators: map[string]snapshot.Creator{},
	}
	for _, c := range s.Creators {
		g.Creators[c.Instance] = c
	}
	var verdicts []leak.Verdict
	for _, i := range s.Idle {
		verdicts = append(verdicts, leak.Judge(i, g))
	}
	return verdicts
}

// interfaces is how many the VPC has.
func interfaces(s *snapshot.Snapshot) int {
	n := 0
	for _, u := range s.Uses {
		n += u.Interfaces
	}
	return n
}
