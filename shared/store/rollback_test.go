package store

import (
	"context"
	"errors"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"

	"rollcall/shared/incident"
	"rollcall/shared/interaction"
	"rollcall/shared/network/leak"
	"rollcall/shared/nodegroup"
	"rollcall/shared/outbox"
	"rollcall/shared/remedy"
	"rollcall/shared/remedy/optin"
	"rollcall/shared/report"
	"rollcall/shared/snapshot"
)

// TestRollbackDestroysNothing: after a rollback the older release finds records
// of the newer one. Whatever it tries to write over them is refused, and they
// stay as they were.
func TestRollbackDestroysNothing(t *testing.T) {
	run := remedy.Run{ID: "deed-1", Began: start, Plan: remedy.Plan{Cluster: "prod", Remedy: optin.AddNATRoute}}
	for name, write := range map[string]func(context.Context, *Store) error{
		"launch": func(ctx context.Context, s *Store) error {
			l := launch("i-1", 0)
			if created, err := s.CreateLaunch(ctx, l); err != nil || created {
				return err
			}
			l.Version = 1
			return s.SaveLaunch(ctx, l)
		},
		"incident": func(ctx context.Context, s *Store) error {
			inc := incidentOf("route/no-egress", "rtb-1")
			_, err := s.SaveIncident(ctx, inc)
			if err != nil {
				inc.Version = 1
				_, err = s.SaveIncident(ctx, inc)
			}
			return err
		},
		"join times": func(ctx context.Context, s *Store) error {
			err := s.SaveJoinTimes(ctx, "prod", JoinTimes{Nodegroup: "workers"})
			if err != nil {
				err = s.SaveJoinTimes(ctx, "prod", JoinTimes{Nodegroup: "workers", Version: 1})
			}
			return err
		},
		"nodegroup": func(ctx context.Context, s *Store) error {
			r := nodegroup.Record{Format: nodegroup.Format, Cluster: "prod", Nodegroup: "workers"}
			_, err := s.SaveNodegroup(ctx, r)
			if err != nil {
				r.Version = 1
				_, err = s.SaveNodegroup(ctx, r)
			}
			return err
		},
		"summary": func(ctx context.Context, s *Store) error {
			p := outbox.Posting{Summary: report.Summary{Cluster: "prod", ID: "day", At: start}}
			_, err := s.SavePosting(ctx, p)
			if err != nil {
				p.Version = 1
				_, err = s.SavePosting(ctx, p)
			}
			return err
		},
		"sighting": func(ctx context.Context, s *Store) error {
			x := leak.Sighting{Interface: "eni-1"}
			_, err := s.SaveSighting(ctx, "vpc-1", x)
			if err != nil {
				x.Version = 1
				_, err = s.SaveSighting(ctx, "vpc-1", x)
			}
			return err
		},
		"deed": func(ctx context.Context, s *Store) error {
			_, err := s.SaveRun(ctx, run)
			if err != nil {
				again := run
				again.Version = 1
				_, err = s.SaveRun(ctx, again)
			}
			return err
		},
		"count of runs": func(ctx context.Context, s *Store) error {
			_, err := s.CountRun(ctx, run, 5)
			return err
		},
		"audit": func(ctx context.Context, s *Store) error {
			a := leak.Audit{Cluster: "prod", Interface: "eni-1", At: start}
			_, created, err := s.RecordAudit(ctx, a)
			return refused(created, err)
		},
		"act": func(ctx context.Context, s *Store) error {
			created, err := s.RecordAct(ctx, incident.ActRecord{ID: "act-1", At: start, Key: report.Key{Cluster: "prod"}})
			return refused(created, err)
		},
		"refusal": func(ctx context.Context, s *Store) error {
			created, err := s.RecordRefusal(ctx, interaction.Record{At: start, Request: "r-1", Reason: interaction.Replayed})
			return refused(created, err)
		},
		"cluster": func(ctx context.Context, s *Store) error {
			r := outbox.ClusterRecord{Cluster: "prod", Open: true}
			err := s.SaveClusterRecord(ctx, r)
			if err != nil {
				r.Version = 1
				err = s.SaveClusterRecord(ctx, r)
			}
			return err
		},
		"pace": func(ctx context.Context, s *Store) error { return s.SavePace(ctx, "1", "r", leak.Pace{}) },
		"cleanup": func(ctx context.Context, s *Store) error {
			return s.SaveCleanupTold(ctx, "prod", "2026-11-20", "digest")
		},
		"sample": func(ctx context.Context, s *Store) error {
			return s.RecordSamples(ctx, []snapshot.Sample{{Subnet: "subnet-1", At: start, Free: 1, Total: 2}})
		},
		"hour of samples": func(ctx context.Context, s *Store) error {
			if err := s.RecordSamples(ctx, []snapshot.Sample{{Subnet: "subnet-1", At: start, Free: 1, Total: 2}}); err != nil {
				return err
			}
			return s.RollUp(ctx, "subnet-1", start)
		},
	} {
		t.Run(name, func(t *testing.T) {
			now := start
			s := open(t, &now)
			if err := write(t.Context(), s); err != nil {
				t.Fatalf("into an empty table: %v", err)
			}
			newer := withNewerFormat(t, s)
			err := write(t.Context(), s)
			var format *NewerFormat
			var conflict *Conflict
			if !errors.As(err, &format) && !errors.As(err, &conflict) {
				t.Errorf("writing over a record of a newer release gave %v, want it refused", err)
			}
			if diff := cmp.Diff(newer, contents(t, s)); diff != "" {
				t.Errorf("the newer release's records (-before +after):\n%s", diff)
			}
		})
	}
}

// refused is what a write that leaves alone what is there comes to.
func refused(created bool, err error) error {
	if err == nil && !created {
		return &Conflict{}
	}
	return err
}

// withNewerFormat makes all records those of a newer release, and gives them.
func withNewerFormat(t *testing.T, s *Store) map[string]string {
	t.Helper()
	for _, item := range scan(t, s) {
		format, _, err := integer(item[attrFormat])
		if err != nil {
			t.Fatal(err)
		}
		item[attrFormat], item[attrBody] = number(format+1), text(`{"of":"a newer release"}`)
		if _, err := server.Client().PutItem(t.Context(), &dynamodb.PutItemInput{TableName: &s.table, Item: item}); err != nil {
			t.Fatal(err)
		}
	}
	return contents(t, s)
}

func scan(t *testing.T, s *Store) []map[string]types.AttributeValue {
	t.Helper()
	out, err := server.Client().Scan(t.Context(), &dynamodb.ScanInput{TableName: &s.table, ConsistentRead: aws.Bool(true)})
	if err != nil {
		t.Fatal(err)
	}
	if len(out.Items) == 0 {
		t.Fatal("the table is empty")
	}
	return out.Items
}

// contents are the bodies of all records, by key and format.
func contents(t *testing.T, s *Store) map[string]string {
	t.Helper()
	out := map[string]string{}
	for _, item := range scan(t, s) {
		word := func(name string) string {
			switch v := item[name].(type) {
			case *types.AttributeValueMemberS:
				return v.Value
			case *types.AttributeValueMemberN:
				return v.Value
			}
			return ""
		}
		out[word(attrPK)+" "+word(attrSK)+" "+word(attrFormat)] = word(attrBody)
	}
	return out
}
