package detect

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"rollcall/shared/config"
	"rollcall/shared/incident"
	"rollcall/shared/node/outcome"
	"rollcall/shared/snapshot"
	"rollcall/shared/store"
)

// LaunchTable is what launch-watch and join-check remember by.
type LaunchTable interface {
	Launches
	Times
	RefusedTable
	OpenLaunches(ctx context.Context, cluster string) ([]store.LaunchRecord, error)
	Incidents(ctx context.Context, cluster string) ([]incident.Incident, error)
	SaveJoinTimes(ctx context.Context, cluster string, t store.JoinTimes) error
	RecentHistory(ctx context.Context, cluster string, since time.Time, most int) ([]snapshot.Past, error)
	Samples(ctx context.Context, subnet string, since time.Time) ([]snapshot.Sample, error)
	RecordSamples(ctx context.Context, samples []snapshot.Sample) error
}

// LaunchReader finds instances, and what determines their cluster.
type LaunchReader interface {
	Find(ctx context.Context, ids, groups []string) ([]snapshot.Instance, *snapshot.Failure)
	Groups(ctx context.Context, names []string) ([]snapshot.Group, *snapshot.Failure)
	UserData(ctx context.Context, instances []snapshot.Instance) ([]snapshot.UserData, *snapshot.Failure)
}

// LaunchParts are what the handlers of launch-watch and join-check are made of: each adds
// its own reader. Their Build makes them of AWS; who looks at a cluster with nothing
// deployed has a memory of its own (command/diagnose/look).
type LaunchParts[R LaunchReader] struct {
	Detector
	Config config.Config
	Table  LaunchTable
	Reader R
	Remind Reminder
}

// News is what the messages of a batch say of one instance.
type News struct {
	Group, Account string
	// Clock is when its launch began, zero where no event knows; Latest is the time of the
	// last of its events.
	Clock, Latest time.Time
	// Facts are what EC2 said of its end beforehand. With Early there is no event of its
	// launch yet.
	Facts outcome.Facts
	Early bool
	// Messages brought it; Again reports whether one of them came before.
	Messages []string
	Again    bool
}

// NewsByID is the news of each instance.
type NewsByID map[string]News

// Add takes a message in. Several of one instance are one launch.
func (all NewsByID) Add(m Message) {
	n := all[m.Instance]
	n.Account, n.Group = cmp.Or(m.Account, n.Account), cmp.Or(m.Group, n.Group)
	if clock, ok := m.Clock(); ok && (n.Clock.IsZero() || clock.Before(n.Clock)) {
		n.Clock = clock
	}
	if m.Time.After(n.Latest) {
		n.Latest = m.Time
	}
	if f, ok := Notice(m.Trigger); ok {
		n.Facts = outcome.Merge(n.Facts, f)
	}
	n.Messages, n.Again = append(n.Messages, m.Receipt), n.Again || m.Again
	all[m.Instance] = n
}

// Recorded reads the records of launches by their ids.
func (p LaunchParts[R]) Recorded(ctx context.Context, ids []string) (map[string]store.LaunchRecord, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	known, err := p.Table.GetLaunches(ctx, ids)
	if err != nil {
		return nil, fmt.Errorf("look up %d launches: %w", len(ids), err)
	}
	return known, nil
}

// FindInstances reads instances by their ids and groups. Without them nothing can be told
// apart: of an error the messages come again.
func (p LaunchParts[R]) FindInstances(ctx context.Context, ids, groups []string) ([]snapshot.Instance, error) {
	list, failed := p.Reader.Find(ctx, ids, groups)
	if failed != nil {
		return nil, fmt.Errorf("find the launched instances: %s %s: %s", failed.Call, failed.Reason, failed.Message)
	}
	return list, nil
}

// OwnersOf reads what determines the clusters of instances: their groups, and others that
// the events name, beside the records. Failed is why the groups could not be read.
func (p LaunchParts[R]) OwnersOf(ctx context.Context, instances []snapshot.Instance, groups []string, recorded map[string]store.LaunchRecord) (e Evidence, failed *snapshot.Failure) {
	e = Evidence{Recorded: recorded, Watches: p.Watches}
	e.Groups, failed = p.Reader.Groups(ctx, Distinct(GroupsOf(instances), groups))
	e.GroupsUnread = failed != nil
	return e, failed
}

// NamedByUserData are the clusters that the user data of instances names, by instance.
func (p LaunchParts[R]) NamedByUserData(ctx context.Context, instances []snapshot.Instance) (map[string]string, *snapshot.Failure) {
	if len(instances) == 0 {
		return nil, nil
	}
	data, failed := p.Reader.UserData(ctx, instances)
	return namedByUserData(data), failed
}

// Unsure returns the messages of instances whose cluster is unknown while the groups
// cannot be read. Instances that were found beside others come with events of their own.
func (p LaunchParts[R]) Unsure(news NewsByID, ids []string) (returned []string) {
	for _, id := range ids {
		n, ok := news[id]
		if !ok {
			continue
		}
		p.Log.Warn("could not determine owning cluster", "instance", id, "group", n.Group, "reason", "Auto Scaling groups unavailable", "action", "returned to queue")
		returned = slices.Concat(returned, n.Messages)
	}
	return returned
}
