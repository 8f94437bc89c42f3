package store

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"rollcall/shared/spec"

	"rollcall/shared/nodegroup"
)

func record(cluster, name, status string) nodegroup.Record {
	return nodegroup.Record{
		Format: nodegroup.Format, Cluster: cluster, Nodegroup: name, Status: status, Since: start, First: start, Seen: start,
		Issues: []nodegroup.Issue{{Code: "AccessDenied", Since: start}}, Events: 1, Untold: []nodegroup.Event{{ID: "1", Status: status}},
	}
}

func TestNodegroups(t *testing.T) {
	now := start
	s := open(t, &now)
	for _, r := range []nodegroup.Record{record("prod", "b", "ACTIVE"), record("prod", "a", "DEGRADED"), record("dev", "a", "ACTIVE")} {
		saved, err := s.SaveNodegroup(t.Context(), r)
		if err != nil || saved.Version != 1 {
			t.Fatalf("%s: version %d, %v", r.Nodegroup, saved.Version, err)
		}
	}
	got, err := s.Nodegroups(t.Context(), "prod")
	if err != nil {
		t.Fatal(err)
	}
	a, b := record("prod", "a", "DEGRADED"), record("prod", "b", "ACTIVE")
	a.Version, b.Version = 1, 1
	if diff := cmp.Diff(map[string]nodegroup.Record{"a": a, "b": b}, got); diff != "" {
		t.Errorf("nodegroups (-want +got):\n%s", diff)
	}
	// Two who read the same version: the second to write has lost.
	if _, err := s.SaveNodegroup(t.Context(), a); err != nil {
		t.Fatal(err)
	}
	var conflict *Conflict
	if _, err := s.SaveNodegroup(t.Context(), a); !errors.As(err, &conflict) || conflict.Over != 1 {
		t.Errorf("the second write over version 1 gave %v", err)
	}
	if _, err := s.SaveNodegroup(t.Context(), record("prod", "a", "ACTIVE")); !errors.As(err, &conflict) || conflict.Over != 0 {
		t.Errorf("a record that was never read gave %v", err)
	}
}

// What was deleted is remembered for a month; what is there, for ever.
func TestDeletedNodegroupsExpire(t *testing.T) {
	now := start
	s := open(t, &now)
	for _, r := range []nodegroup.Record{record("prod", "a", nodegroup.Deleted), record("prod", "b", "ACTIVE")} {
		if _, err := s.SaveNodegroup(t.Context(), r); err != nil {
			t.Fatal(err)
		}
	}
	for after, want := range map[time.Duration]int{29 * 24 * time.Hour: 2, 31 * 24 * time.Hour: 1} {
		now = start.Add(after)
		if got, err := s.Nodegroups(t.Context(), "prod"); err != nil || len(got) != want {
			t.Errorf("after %s: %d records, %v; want %d", after, len(got), err, want)
		}
	}
}

func TestNewerNodegroupIsLeftAlone(t *testing.T) {
	now := start
	s := open(t, &now)
	newer := record("prod", "b", "ACTIVE")
	newer.Format = nodegroup.Format + 1
	for _, r := range []nodegroup.Record{record("prod", "a", "ACTIVE"), newer} {
		if _, err := s.SaveNodegroup(t.Context(), r); err != nil {
			t.Fatal(err)
		}
	}
	got, err := s.Nodegroups(t.Context(), "prod")
	var format *NewerFormat
	if !errors.As(err, &format) || len(got) != 1 || got["a"].Status != "ACTIVE" {
		t.Errorf("records %v, error %v; want the one that is known, and the other's format", got, err)
	}
}

func TestNodegroupGrants(t *testing.T) {
	if diff := cmp.Diff([]spec.Read{{Actions: []string{"dynamodb:BatchGetItem", "dynamodb:Query"}, Resources: []string{"table"}}}, ReadNodegroups()); diff != "" {
		t.Errorf("reads (-want +got):\n%s", diff)
	}
	if got := RecordNodegroups().Conditions["ForAllValues:StringLike"]["dynamodb:LeadingKeys"]; len(got) != 1 || got[0] != nodegroupPrefix+"*" {
		t.Errorf("the grant is for %q, the store writes %q", got, nodegroupPrefix)
	}
}
