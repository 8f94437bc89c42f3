package notifytest

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/aws/smithy-go"

	"rollcall/shared/incident"
	"rollcall/shared/outbox"
	"rollcall/shared/report"
	"rollcall/shared/silence"
	"rollcall/shared/store"
)

// Table is the table, in memory: each record is JSON and has a version.
type Table struct {
	mu    sync.Mutex
	Items map[report.Key]Record
	Away  time.Time // until when it does not answer
	// clusters is what report remembers of them beside.
	clusters map[string]outbox.ClusterRecord
	Writes   int
}

type Record struct {
	body    []byte
	version int
	due     bool // Slack or the bus was not told all of it
	seen    time.Time
}

// Available tells that the table answers.
func (s *Table) Available() error {
	if time.Now().Before(s.Away) {
		return &smithy.GenericAPIError{Code: "InternalServerError", Message: "The request processing has failed", Fault: smithy.FaultServer}
	}
	return nil
}

func (s *Table) Incidents(_ context.Context, cluster string) ([]incident.Incident, error) {
	if err := s.Available(); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	var list []incident.Incident
	for key, it := range s.Items {
		if key.Cluster != cluster {
			continue
		}
		var inc incident.Incident
		if err := json.Unmarshal(it.body, &inc); err != nil {
			return nil, err
		}
		list = append(list, inc)
	}
	// As the table sorts them.
	slices.SortFunc(list, func(a, b incident.Incident) int {
		return strings.Compare(string(a.Key.Check)+"#"+a.Key.Resource, string(b.Key.Check)+"#"+b.Key.Resource)
	})
	return list, nil
}

func (s *Table) SaveIncident(ctx context.Context, inc incident.Incident) (incident.Incident, error) {
	time.Sleep(5 * time.Millisecond) // what a write takes
	if err := errors.Join(ctx.Err(), s.Available()); err != nil {
		return incident.Incident{}, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.Writes++
	if inc.Version != s.Items[inc.Key].version {
		return incident.Incident{}, &store.Conflict{}
	}
	inc.Version++
	body, err := json.Marshal(inc)
	unsaid := slices.ContainsFunc(inc.Delivery.Notes, func(n incident.Note) bool { return n.TS == "" })
	s.Items[inc.Key] = Record{body, inc.Version, inc.Number > 0 && (inc.Delivery.TS == "" || inc.Delivery.Dirty || unsaid || len(inc.PendingEvents) > 0), inc.Seen}
	return inc, err
}

func (s *Table) Postings(context.Context, string) ([]outbox.Posting, error) { return nil, nil }
func (s *Table) SavePosting(_ context.Context, p outbox.Posting) (outbox.Posting, error) {
	return p, errors.New("this table has none of them")
}

func (s *Table) ClusterRecord(_ context.Context, cluster string) (outbox.ClusterRecord, error) {
	if err := s.Available(); err != nil {
		return outbox.ClusterRecord{Cluster: cluster}, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if r, known := s.clusters[cluster]; known {
		return r, nil
	}
	return outbox.ClusterRecord{Cluster: cluster}, nil
}

func (s *Table) ClusterRecords(context.Context) (list []outbox.ClusterRecord, _ error) {
	if err := s.Available(); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, r := range s.clusters {
		list = append(list, r)
	}
	return list, nil
}

func (s *Table) SaveClusterRecord(_ context.Context, r outbox.ClusterRecord) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if r.Version != s.clusters[r.Cluster].Version {
		return &store.Conflict{}
	}
	if s.clusters == nil {
		s.clusters = map[string]outbox.ClusterRecord{}
	}
	r.Version++
	s.clusters[r.Cluster] = r
	return nil
}

// Silences are none in this table.
func (s *Table) Silences(context.Context, string) ([]silence.Silence, error) {
	return nil, s.Available()
}

func (s *Table) SaveSilence(_ context.Context, x silence.Silence) (silence.Silence, error) {
	return x, errors.New("this table has none of them")
}

// Due is how many incidents have something that Slack was not told.
func (s *Table) Due() (n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, it := range s.Items {
		if it.due {
			n++
		}
	}
	return n
}

// Stalest is how old the newest observation is of the cluster of which it is oldest.
func (s *Table) Stalest(clusters []string) (age time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	newest := map[string]time.Time{}
	for key, it := range s.Items {
		if it.seen.After(newest[key.Cluster]) {
			newest[key.Cluster] = it.seen
		}
	}
	for _, cluster := range clusters {
		if at := newest[cluster]; !at.IsZero() {
			age = max(age, time.Since(at))
		}
	}
	return age
}
