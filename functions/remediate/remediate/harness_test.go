package remediate

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"

	"rollcall/functions/remediate/spec"
	"rollcall/local/stage/stagetest"
	"rollcall/shared/checks"
	"rollcall/shared/diagnose"
	"rollcall/shared/event"
	"rollcall/shared/incident"
	"rollcall/shared/lambda"
	"rollcall/shared/node/outcome"
	"rollcall/shared/remedy"
	"rollcall/shared/remedy/optin"
	"rollcall/shared/report"
)

const vpc = "vpc-0a1b2c3d4e5f60718"

// harness is a bench on which one instance cannot join for want of a route.
type harness struct {
	*stagetest.Bench
	t   *testing.T
	id  string // of the instance
	inc incident.Incident
	// h is the handler, whose parts a test may change.
	h *handler
}

func settingsOf(remedies string, more ...string) map[string]string {
	s := map[string]string{"ROLLCALL_REMEDIES": remedies, "ROLLCALL_REMEDY_VPCS": vpc, "ROLLCALL_REMEDY_ROLES": nodeRole}
	for i := 0; i+1 < len(more); i += 2 {
		s[more[i]] = more[i+1]
	}
	return s
}

// bench is the function on a stage, without an incident.
func bench(t *testing.T, remedies string, o stagetest.Options) *harness {
	t.Helper()
	if o.Settings == nil {
		o.Settings = settingsOf(remedies)
	}
	s := &harness{t: t}
	s.Bench = stagetest.Start(t, spec.Spec(), func(ctx context.Context, e lambda.Env) (lambda.Handler, error) {
		if built, err := Build(ctx, e); built == nil || err != nil {
			t.Fatal("no handler is built", err)
		}
		h := newHandler(e)
		s.h = &h
		return func(ctx context.Context, raw json.RawMessage) (any, error) { return s.h.handle(ctx, raw) }, nil
	}, o)
	return s
}

func start(t *testing.T, remedies string, o stagetest.Options) *harness {
	t.Helper()
	s := bench(t, remedies, o)
	s.Scale(1)
	s.id = s.Instance(s.News(0)[0])
	s.Advance(6 * time.Minute)
	s.save(incident.Incident{
		Key:    report.Key{Cluster: stagetest.Cluster, Check: "route/no-egress", Resource: stagetest.Table},
		Format: report.Format, Account: s.Template.AccountID, Region: s.Template.Region, Partition: "aws",
		State: incident.Open, Number: 1, Began: s.Now().Add(-6 * time.Minute), Opened: s.Now().Add(-time.Minute), Changed: s.Now(), Seen: s.Now(),
		Cause: diagnose.Cause{
			Check: "route/no-egress", Confidence: checks.Certain, Resource: stagetest.Table, Covers: []string{stagetest.Subnet},
			Title: "no route to the internet", Fix: checks.Fix{Remedy: string(optin.AddNATRoute)}, Nodegroups: []string{stagetest.Nodegroup},
		},
		Covers:   []string{stagetest.Subnet},
		Launches: []report.Launch{{Instance: s.id, Nodegroup: stagetest.Nodegroup, Group: stagetest.Group, Subnet: stagetest.Subnet, Started: s.Now().Add(-6 * time.Minute), Status: outcome.Missed}},
		Affected: 1,
	})
	return s
}

// save writes the incident as report does.
func (s *harness) save(inc incident.Incident) {
	s.t.Helper()
	saved, err := s.Store.SaveIncident(s.t.Context(), inc)
	if err != nil {
		s.t.Fatal(err)
	}
	s.inc = saved
}

// told is an event of the incident on the bus.
func (s *harness) told(what string) string {
	return s.of(what, s.inc.Key)
}

func (s *harness) of(what string, k report.Key) string {
	return fmt.Sprintf(`{"version":"0","id":"e-1","source":"rollcall","detail-type":%q,"account":"999999999999","region":"x","time":%q,"detail":{"cluster":%q,"check":%q,"resource":%q}}`,
		what, s.Now().UTC().Format(time.RFC3339), k.Cluster, k.Check, k.Resource)
}

const (
	opened   = "Rollcall Incident Opened"
	approval = "Rollcall Remedy Approved"
)

// tell gives the handler an event, and tells how many messages came back.
func (s *harness) tell(what string) int {
	s.t.Helper()
	return len(s.Send(s.told(what)))
}

// said is what was sent to report since the last time.
func (s *harness) said() (proposals []report.Proposal, runs []remedy.Run) {
	s.t.Helper()
	for _, m := range s.Results() {
		if m.Proposal != nil {
			proposals = append(proposals, *m.Proposal)
		}
		if m.RemedyResult != nil {
			runs = append(runs, m.RemedyResult.Run)
		}
	}
	return proposals, runs
}

// approve is what report does with a proposal and a press.
func (s *harness) approve(p report.Proposal) {
	s.t.Helper()
	inc := s.inc
	inc.Offers = append(inc.Offers, incident.Offer{
		Plan: p.Plan, Hash: p.Hash, Policy: p.Policy, State: incident.Approved, Made: p.At, Expires: p.At.Add(p.Lasts),
		By: report.User{ID: "U0ONCALL01"}, Decided: s.Now(),
	})
	s.save(inc)
}

// offered proposes the plan, and gives it.
func (s *harness) offered() report.Proposal {
	s.t.Helper()
	if n := s.tell(opened); n != 0 {
		s.t.Fatalf("%d messages came back: %s", n, s.Logs())
	}
	list, runs := s.said()
	if len(list) != 1 || len(runs) != 0 || list[0].Hash == "" {
		s.t.Fatalf("proposals %+v, runs %+v", list, runs)
	}
	return list[0]
}

// routes are the rows of the table in question, by destination.
func (s *harness) routes() map[string]string {
	s.t.Helper()
	out, err := s.World.EC2().DescribeRouteTables(&ec2.DescribeRouteTablesInput{RouteTableIds: []string{stagetest.Table}})
	if err != nil {
		s.t.Fatal(err)
	}
	rows := map[string]string{}
	for _, r := range out.RouteTables[0].Routes {
		rows[aws.ToString(r.DestinationCidrBlock)] = aws.ToString(r.NatGatewayId) + aws.ToString(r.GatewayId)
	}
	return rows
}

// wanted are the checks that were asked for on the bus.
func (s *harness) wanted() (n int) {
	s.t.Helper()
	for _, p := range s.Events() {
		if t, err := event.Parse(p.Event); err == nil && t.Kind == event.CheckWanted {
			n++
		}
	}
	return n
}

// untouched holds that the world and the records are as they were.
func (s *harness) untouched() {
	s.t.Helper()
	if rows := s.routes(); len(rows) != 1 || s.wanted() != 0 {
		s.t.Errorf("routes %v, %d checks wanted; want none of it", rows, s.wanted())
	}
}
