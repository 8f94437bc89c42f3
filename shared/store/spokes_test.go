package store

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"

	"rollcall/shared/incident"
	"rollcall/shared/network/leak"
	"rollcall/shared/node/outcome"
	"rollcall/shared/nodegroup"
	"rollcall/shared/outbox"
	"rollcall/shared/remedy"
	"rollcall/shared/remedy/optin"
	"rollcall/shared/report"
	"rollcall/shared/snapshot"
	"rollcall/shared/spoke"
)

// What has the same names in the hub's own account, in another account, and in that one's
// other region.
var namesakes = []spoke.ID{{}, {Account: "222233334444", Region: "us-west-2"}, {Account: "222233334444", Region: "eu-west-1"}}

// fill writes a record of each kind that is a spoke's, and fails if one is there.
func fill(ctx context.Context, s *Store, id spoke.ID) error {
	l := launch("i-1", 0)
	open, err := s.CreateLaunch(ctx, l)
	l.Instance, l.End, l.Status = "i-2", snapshot.Joined, outcome.Joined
	ended, wrong := s.CreateLaunch(ctx, l)
	inc := incidentOf("route/no-egress", "rtb-1")
	inc.Key.Spoke = id
	_, failed := s.SaveIncident(ctx, inc)
	audit := leak.Audit{Cluster: "prod", Interface: "eni-1", At: start}
	_, audited, refusedAudit := s.RecordAudit(ctx, audit)
	acted, refusedAct := s.RecordAct(ctx, incident.ActRecord{ID: "act-1", At: start, Key: inc.Key})
	run := remedy.Run{ID: "deed-1", Began: start, Plan: remedy.Plan{Cluster: "prod", Remedy: optin.AddNATRoute, Account: id.Account, Region: id.Region}}
	_, claimed, refusedRun := s.ClaimRun(ctx, run)
	room, refusedCount := s.CountRun(ctx, run, 1)
	if !open || !ended || !audited || !acted || !claimed || !room.IsZero() {
		return errors.New("it was there already")
	}
	_, first := s.SaveNodegroup(ctx, nodegroup.Record{Format: nodegroup.Format, Cluster: "prod", Nodegroup: "workers"})
	_, second := s.SavePosting(ctx, outbox.Posting{Summary: report.Summary{Cluster: "prod", ID: "day", At: start}})
	_, third := s.SaveSighting(ctx, "vpc-1", leak.Sighting{Interface: "eni-1"})
	return errors.Join(err, wrong, failed, refusedAudit, refusedAct, refusedRun, refusedCount, first, second, third,
		s.SaveJoinTimes(ctx, "prod", JoinTimes{Nodegroup: "workers"}),
		s.SaveRefusedLaunch(ctx, RefusedRecord{Cluster: "prod", RefusedLaunch: snapshot.RefusedLaunch{Launcher: "karpenter", Last: start}}),
		s.SaveClusterRecord(ctx, outbox.ClusterRecord{Cluster: "prod", Open: true}),
		s.RecordSamples(ctx, []snapshot.Sample{{Subnet: "subnet-1", At: start, Free: 1, Total: 2}}),
		s.RollUp(ctx, "subnet-1", start),
		s.SaveAlias(ctx, Alias{At: start, Alias: "shop"}),
		s.SaveCleanupTold(ctx, "prod", "2026-11-20", "digest of "+id.String()))
}

// TestNamesakesShareNothing: of two accounts, or two regions, with the same names, each has
// its own records, in the table and in its indexes.
func TestNamesakesShareNothing(t *testing.T) {
	now := start
	s := open(t, &now)
	for _, id := range namesakes {
		if err := fill(t.Context(), s.In(id), id); err != nil {
			t.Fatalf("%s: %v", id, err)
		}
	}
	keys := map[string][]string{}
	for _, item := range scan(t, s) {
		for _, name := range []string{attrPK, attrOpen, attrDay} {
			v, is := item[name].(*types.AttributeValueMemberS)
			if !is {
				continue
			}
			whose := ""
			for _, id := range namesakes[1:] {
				if strings.Contains(v.Value, id.String()+"/") {
					whose = id.String()
				}
			}
			keys[whose] = append(keys[whose], name+" "+strings.Replace(v.Value, whose+"/", "", 1))
		}
	}
	for _, list := range keys {
		slices.Sort(list)
	}
	if len(keys[""]) < 16 {
		t.Errorf("the hub's own keys are %q", keys[""])
	}
	for _, id := range namesakes[1:] {
		if diff := cmp.Diff(keys[""], keys[id.String()]); diff != "" {
			t.Errorf("keys of %s beside the hub's own, without account and region (-hub +spoke):\n%s", id, diff)
		}
	}
	for _, id := range namesakes {
		own := s.In(id)
		list, err := own.Incidents(t.Context(), "prod")
		if err != nil || len(list) != 1 || list[0].Key.Spoke != id {
			t.Errorf("%s: incidents %+v, %v", id, list, err)
		}
		launches, err := own.OpenLaunches(t.Context(), "prod")
		if err != nil || len(launches) != 1 {
			t.Errorf("%s: %d open launches, %v", id, len(launches), err)
		}
		past, err := own.History(t.Context(), "prod", start.Add(-1))
		if err != nil || len(past) != 2 {
			t.Errorf("%s: %d launches, %v", id, len(past), err)
		}
		records, err := own.ClusterRecords(t.Context())
		if err != nil || len(records) != 1 {
			t.Errorf("%s: %d records of clusters, %v", id, len(records), err)
		}
		told, err := own.CleanupsTold(t.Context(), "prod")
		if err != nil || told["2026-11-20"] != "digest of "+id.String() {
			t.Errorf("%s: told %v, %v", id, told, err)
		}
	}
}

// TestAnothersRecordIsRefused: a store writes no incident, press or run of another spoke.
func TestAnothersRecordIsRefused(t *testing.T) {
	now := start
	s := open(t, &now)
	for _, own := range namesakes {
		for _, other := range namesakes {
			if own == other {
				continue
			}
			in := s.In(own)
			inc := incidentOf("route/no-egress", "rtb-1")
			inc.Key.Spoke = other
			if _, err := in.SaveIncident(t.Context(), inc); !errors.Is(err, ErrForeign) {
				t.Errorf("an incident of %q in %q: %v", other, own, err)
			}
			if _, err := in.RecordAct(t.Context(), incident.ActRecord{ID: "act-1", At: start, Key: inc.Key}); !errors.Is(err, ErrForeign) {
				t.Errorf("a press of %q in %q: %v", other, own, err)
			}
			run := remedy.Run{ID: "deed-1", Began: start, Plan: remedy.Plan{Cluster: "prod", Account: other.Account, Region: other.Region}}
			if _, _, err := in.ClaimRun(t.Context(), run); !own.Hub() && !errors.Is(err, ErrForeign) {
				t.Errorf("a run of %q in %q: %v", other, own, err)
			}
		}
	}
}

// TestRecordsOfEarlierReleases: what the releases before there were spokes wrote is the
// hub's own, and of no spoke.
func TestRecordsOfEarlierReleases(t *testing.T) {
	now := start
	s := open(t, &now)
	if _, err := s.SaveIncident(t.Context(), incidentOf("route/no-egress", "rtb-1")); err != nil {
		t.Fatal(err)
	}
	item := scan(t, s)[0]
	if pk := item[attrPK].(*types.AttributeValueMemberS).Value; pk != "incident#prod" {
		t.Errorf("the hub's own key is %s, which an earlier release would not find", pk)
	}
	if body := item[attrBody].(*types.AttributeValueMemberS).Value; strings.Contains(body, "spoke") {
		t.Errorf("the hub's own record is %s, as no earlier release wrote it", body)
	}
	for _, id := range namesakes[1:] {
		if list, err := s.In(id).Incidents(t.Context(), "prod"); err != nil || len(list) != 0 {
			t.Errorf("%s: %+v, %v", id, list, err)
		}
	}
}
