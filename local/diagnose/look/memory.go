package look

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"rollcall/shared/incident"
	"rollcall/shared/nodegroup"
	"rollcall/shared/outbox"
	"rollcall/shared/snapshot"
	"rollcall/shared/store"
)

// memory is the table of one look, as package store has it where Rollcall is
// deployed: it begins empty, so that nothing is known but what is seen now, and what
// one function took down in this look the next one finds.
type memory struct {
	mu       sync.Mutex
	launches map[string]store.LaunchRecord
	times    map[string]map[string]store.JoinTimes
	refused  map[string][]store.RefusedRecord
	groups   map[string]map[string]nodegroup.Record
	samples  map[string]map[time.Time]snapshot.Sample
}

func newMemory() *memory {
	return &memory{
		launches: map[string]store.LaunchRecord{}, times: map[string]map[string]store.JoinTimes{}, refused: map[string][]store.RefusedRecord{},
		groups: map[string]map[string]nodegroup.Record{}, samples: map[string]map[time.Time]snapshot.Sample{},
	}
}

// GetLaunches gives those of some instances that are known.
func (m *memory) GetLaunches(_ context.Context, instances []string) (map[string]store.LaunchRecord, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	found := map[string]store.LaunchRecord{}
	for _, id := range instances {
		if l, ok := m.launches[id]; ok {
			found[id] = l
		}
	}
	return found, nil
}

// CreateLaunch takes a launch down unless it is known.
func (m *memory) CreateLaunch(_ context.Context, l store.LaunchRecord) (created bool, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, known := m.launches[l.ID()]; known {
		return false, nil
	}
	l.Version = 1
	m.launches[l.ID()] = l
	return true, nil
}

// SaveLaunch takes a launch down.
func (m *memory) SaveLaunch(_ context.Context, l store.LaunchRecord) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	l.Version++
	m.launches[l.ID()] = l
	return nil
}

// OpenLaunches are those of a cluster whose outcome is not known, oldest first.
func (m *memory) OpenLaunches(_ context.Context, cluster string) ([]store.LaunchRecord, error) {
	return m.launchesOf(func(l store.LaunchRecord) bool { return l.Cluster == cluster && !l.Status.Final() }), nil
}

func (m *memory) launchesOf(wanted func(store.LaunchRecord) bool) []store.LaunchRecord {
	m.mu.Lock()
	defer m.mu.Unlock()
	list := slices.DeleteFunc(slices.Collect(maps.Values(m.launches)), func(l store.LaunchRecord) bool { return !wanted(l) })
	slices.SortFunc(list, func(a, b store.LaunchRecord) int {
		return cmp.Or(a.Started.Compare(b.Started), cmp.Compare(a.ID(), b.ID()))
	})
	return list
}

// RecentHistory is History of at most that many, the newest.
func (m *memory) RecentHistory(ctx context.Context, cluster string, since time.Time, most int) ([]snapshot.Past, error) {
	list, err := m.History(ctx, cluster, since)
	return list[max(0, len(list)-most):], err
}

// History are the launches of a cluster that began since a time, oldest first.
func (m *memory) History(_ context.Context, cluster string, since time.Time) ([]snapshot.Past, error) {
	var list []snapshot.Past
	for _, l := range m.launchesOf(func(l store.LaunchRecord) bool { return l.Cluster == cluster && !l.Started.Before(since) }) {
		list = append(list, l.Past())
	}
	return list, nil
}

// JoinTimes are those of all nodegroups of a cluster.
func (m *memory) JoinTimes(_ context.Context, cluster string) (map[string]store.JoinTimes, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return maps.Clone(m.times[cluster]), nil
}

// SaveJoinTimes takes down those of one nodegroup.
func (m *memory) SaveJoinTimes(_ context.Context, cluster string, t store.JoinTimes) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.times[cluster] == nil {
		m.times[cluster] = map[string]store.JoinTimes{}
	}
	t.Version++
	m.times[cluster][t.Nodegroup] = t
	return nil
}

// Samples are what a subnet had since a time, oldest first.
func (m *memory) Samples(_ context.Context, subnet string, since time.Time) ([]snapshot.Sample, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	list := slices.DeleteFunc(slices.Collect(maps.Values(m.samples[subnet])), func(x snapshot.Sample) bool { return x.At.Before(since) })
	slices.SortFunc(list, func(a, b snapshot.Sample) int { return a.At.Compare(b.At) })
	return list, nil
}

// RecordSamples keeps what subnets had, one sample a minute of each, as the table
// does.
func (m *memory) RecordSamples(_ context.Context, samples []snapshot.Sample) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, x := range samples {
		if m.samples[x.Subnet] == nil {
			m.samples[x.Subnet] = map[time.Time]snapshot.Sample{}
		}
		m.samples[x.Subnet][x.At.UTC().Truncate(time.Minute)] = x
	}
	return nil
}

// CatchUp has no hour to roll up.
func (m *memory) CatchUp(context.Context, string) (hours int, err error) { return 0, nil }

// Returned: nobody cleans up.
func (m *memory) Returned(context.Context, string, time.Time) ([]snapshot.Returned, error) {
	return nil, nil
}

// RefusedLaunches are those of a cluster.
func (m *memory) RefusedLaunches(_ context.Context, cluster string) ([]store.RefusedRecord, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.refused[cluster]), nil
}

// SaveRefusedLaunch takes one down, over the one of its launcher and class.
func (m *memory) SaveRefusedLaunch(_ context.Context, r store.RefusedRecord) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	r.Version++
	list := m.refused[r.Cluster]
	if i := slices.IndexFunc(list, func(x store.RefusedRecord) bool { return x.Launcher == r.Launcher && x.Class == r.Class }); i >= 0 {
		list[i] = r
		return nil
	}
	m.refused[r.Cluster] = append(list, r)
	return nil
}

// waitingTable is the memory of who needs to know what launch-watch took down beside it.
type waitingTable struct {
	*memory
	heard <-chan struct{}
}

// RefusedLaunches waits for it.
func (p waitingTable) RefusedLaunches(ctx context.Context, cluster string) ([]store.RefusedRecord, error) {
	select {
	case <-p.heard:
		return p.memory.RefusedLaunches(ctx, cluster)
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Nodegroups are those of a cluster.
func (m *memory) Nodegroups(_ context.Context, cluster string) (map[string]nodegroup.Record, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return maps.Clone(m.groups[cluster]), nil
}

// SaveNodegroup takes one down.
func (m *memory) SaveNodegroup(_ context.Context, r nodegroup.Record) (nodegroup.Record, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.groups[r.Cluster] == nil {
		m.groups[r.Cluster] = map[string]nodegroup.Record{}
	}
	r.Version++
	m.groups[r.Cluster][r.Nodegroup] = r
	return r, nil
}

// Incidents: none is open before the first look.
func (m *memory) Incidents(context.Context, string) ([]incident.Incident, error) { return nil, nil }

// ClusterRecords: nothing is known of other clusters.
func (m *memory) ClusterRecords(context.Context) ([]outbox.ClusterRecord, error) { return nil, nil }

// Postings: no summary was sent.
func (m *memory) Postings(context.Context, string) ([]outbox.Posting, error) { return nil, nil }
