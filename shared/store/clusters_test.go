package store

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"rollcall/shared/outbox"
	"rollcall/shared/overview"
)

func TestClusterRecords(t *testing.T) {
	now := time.Now().UTC().Truncate(time.Second)
	s := open(t, &now)
	empty, err := s.ClusterRecord(t.Context(), "prod")
	if diff := cmp.Diff(outbox.ClusterRecord{Cluster: "prod"}, empty); err != nil || diff != "" {
		t.Fatalf("%v, before there is one (-want +got):\n%s", err, diff)
	}
	prod := empty
	prod.Follow(true, false, now)
	refused := outbox.ClusterRecord{Cluster: "prod-2"}
	refused.Refused(outbox.ToSlack, "token_revoked", now)
	for _, r := range []outbox.ClusterRecord{prod, refused} {
		if err := s.SaveClusterRecord(t.Context(), r); err != nil {
			t.Fatal(err)
		}
	}
	var taken *Conflict
	if err := s.SaveClusterRecord(t.Context(), prod); !errors.As(err, &taken) {
		t.Errorf("written over another: %v, want a conflict", err)
	}
	prod.Version, prod.Format = 1, outbox.ClusterFormat
	refused.Version, refused.Format = 1, outbox.ClusterFormat
	got, err := s.ClusterRecord(t.Context(), "prod") // and not that of prod-2
	if diff := cmp.Diff(prod, got); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	all, err := s.ClusterRecords(t.Context())
	if diff := cmp.Diff([]outbox.ClusterRecord{prod, refused}, all); err != nil || diff != "" {
		t.Errorf("%v, all (-want +got):\n%s", err, diff)
	}
	// With nothing open a record is listed no more, and may be again; its closed incidents are
	// found by it, as long as they are kept.
	got.Follow(false, false, now)
	if err := s.SaveClusterRecord(t.Context(), got); err != nil {
		t.Fatal(err)
	}
	if all, err := s.ClusterRecords(t.Context()); err != nil || len(all) != 1 {
		t.Errorf("%+v, %v; want that of prod-2", all, err)
	}
	for _, tt := range []struct {
		after time.Duration
		want  []string
	}{{0, []string{"prod", "prod-2"}}, {keepClosed, []string{"prod", "prod-2"}}, {keepQuiet, []string{"prod-2"}}} {
		names, err := s.At(func() time.Time { return now.Add(tt.after) }).Clusters(t.Context())
		if diff := cmp.Diff(tt.want, names); err != nil || diff != "" {
			t.Errorf("%v, clusters after %s (-want +got):\n%s", err, tt.after, diff)
		}
	}
	again, err := s.ClusterRecord(t.Context(), "prod")
	if err != nil || again.Version != 2 {
		t.Errorf("%+v, %v", again, err)
	}
	again.Follow(true, false, now)
	if err := s.SaveClusterRecord(t.Context(), again); err != nil {
		t.Error(err)
	}
	newer := outbox.ClusterRecord{Cluster: "prod"}
	if err := s.put(t.Context(), item{pk: clusterPrefix, sk: "later", kind: "cluster", format: outbox.ClusterFormat + 1, version: 1, body: newer}, 0); err != nil {
		t.Fatal(err)
	}
	all, err = s.ClusterRecords(t.Context())
	if unknown := new(NewerFormat); !errors.As(err, &unknown) || len(all) != 2 {
		t.Errorf("%d records, %v; want the others, and that one is newer", len(all), err)
	}
	if err := s.SaveSweep(t.Context(), overview.Sweep{Cluster: "swept", At: now}); err != nil {
		t.Fatal(err)
	}
	names, err := s.Clusters(t.Context())
	if diff := cmp.Diff([]string{"later", "prod", "prod-2", "swept"}, names); err != nil || diff != "" {
		t.Errorf("%v, clusters (-want +got):\n%s", err, diff)
	}
}
