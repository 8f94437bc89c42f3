// Package launchwatch looks at every launch at once: can an instance in this
// subnet become a node?
package launchwatch

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"rollcall/shared/checks"
	"rollcall/shared/detect"
	"rollcall/shared/event"
	"rollcall/shared/gather"
)

// errNoBatch: launch-watch is woken by its queue alone.
var errNoBatch = errors.New("the event is not a batch of SQS messages: launch-watch is woken by its queue")

// handle takes a batch of events. A message that cannot be read, or whose
// launch could not be looked at, goes back to the queue and in the end to the
// dead-letter queue; the others of its batch do not wait for it.
func (h handler) handle(ctx context.Context, raw json.RawMessage) (any, error) {
	messages, ok := event.Batch(raw)
	if !ok {
		return nil, errNoBatch
	}
	b := h.sort(messages)
	if err := h.skipKnown(ctx, &b); err != nil {
		return nil, err
	}
	if b.empty() {
		return event.Failures(b.failed), nil
	}
	if err := h.lookAt(ctx, &b); err != nil {
		return nil, err
	}
	return event.Failures(b.failed), nil
}

// lookAt finds whose the launches are and looks at each cluster.
func (h handler) lookAt(ctx context.Context, b *batch) error {
	instances, failed := h.reader.Find(ctx, b.ids(), b.groups())
	if failed != nil {
		// Without the instances nothing can be told apart: the messages come again.
		return fmt.Errorf("find the launched instances: %s %s: %s", failed.Call, failed.Reason, failed.Message)
	}
	instances, err := h.lose(ctx, b, h.young(b, instances))
	if err != nil {
		return err
	}
	if err := h.widen(ctx, b, &instances); err != nil {
		return err
	}
	groups, groupsFailed := h.reader.Groups(ctx, detect.Distinct(detect.GroupsOf(instances), b.groups()))
	evidence := detect.Evidence{Groups: groups, GroupsUnread: groupsFailed != nil, Recorded: b.known, Watches: h.Watches}
	a := detect.Assign(instances, evidence)
	if evidence.Named = h.namedByUserData(ctx, b, instances, groups, a.Foreign); len(evidence.Named) > 0 {
		a = detect.Assign(instances, evidence)
	}
	h.Count("ForeignInstances", b.named(a.Foreign))
	h.Count("WarmPoolInstances", b.named(a.Warm))
	h.unseen(b, instances)
	h.unsure(b, a.Unsure)
	cases := h.cases(b, a, groups, groupsFailed != nil)
	h.refusedCalls(ctx, b, cases)
	for _, name := range sortedKeys(cases) {
		c := cases[name]
		c.failed = detect.Failures(groupsFailed)
		if err := h.check(ctx, name, c); err != nil {
			return fmt.Errorf("look at cluster %s: %w", name, err)
		}
	}
	return nil
}

// check looks at one cluster's launches, tells report, and remembers them.
// Telling comes first: what is remembered is not looked at again, so a crash
// in between must lead to telling twice (which report notices), not to silence.
func (h handler) check(ctx context.Context, cluster string, c clusterCase) error {
	runs, err := h.runs(ctx, cluster, c)
	if err != nil {
		return err
	}
	if !runs.Began(h.Now()) && len(c.instances)+len(c.told) == 0 {
		return h.saveRuns(ctx, cluster, c, runs) // known, or for the sweep to tell
	}
	learned := h.Learn(ctx, h.launches, cluster, h.joinTime)
	q := c.query(h.Query(cluster, c.account), learned)
	s, err := h.Read(ctx, q)
	if errors.Is(err, gather.ErrNoCluster) {
		// The tags of other Kubernetes distributions look the same.
		h.Log.WarnContext(ctx, "instances of a cluster that EKS does not have", "cluster", cluster, "instances", len(c.instances))
		h.Count("ForeignInstances", len(c.instances))
		h.Count("ForeignLaunchCalls", len(c.calls))
		return h.saveRuns(ctx, cluster, c, runs) // so that EKS is not asked at each call
	}
	if err != nil {
		return err
	}
	addActivities(s, c.told)
	s.Refused = runs.Launches()
	launches := c.launches(cluster, s.Time, learned)
	if _, err := h.Run(ctx, s, detect.Look{Checks: checks.AtLaunch(), Launches: launches}); err != nil {
		return err
	}
	if err := h.launches.RecordSamples(ctx, detect.Samples(s, s.Scope.Subnets)); err != nil {
		// They only tell later how full a subnet was: no launch waits for them.
		h.Log.WarnContext(ctx, "could not record what the subnets had", "cluster", cluster, "error", err.Error())
	}
	return errors.Join(h.record(ctx, s, c, launches, learned), h.recordRefused(ctx, s, c, learned), h.saveRuns(ctx, cluster, c, runs))
}
