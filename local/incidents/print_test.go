package incidents

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"rollcall/shared/checkid"
	"rollcall/shared/checks"
	"rollcall/shared/incident"
	"rollcall/shared/report"
	"rollcall/shared/snapshot"
)

func TestPrint(t *testing.T) {
	rows, err := List(t.Context(), both(), Query{Closed: true})
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	if err := Print(&b, rows[1:3], at(150)); err != nil {
		t.Fatal(err)
	}
	want := `STATE   SINCE (UTC)       FOR     AFFECTED  WHAT               INCIDENT
open    2026-11-20 15:20  2 h     2         rtb-2 has a fault  prod:route/no-egress:rtb-2
closed  2026-11-20 15:30  10 min  2         rtb-9 has a fault  staging:route/no-egress:rtb-9
`
	if diff := cmp.Diff(want, b.String()); diff != "" {
		t.Error(diff)
	}
	b.Reset()
	rows[1].Whose = "payments"
	if err := Print(&b, rows[1:3], at(150)); err != nil {
		t.Fatal(err)
	}
	want = `STATE   SINCE (UTC)       FOR     AFFECTED  OF        WHAT               INCIDENT
open    2026-11-20 15:20  2 h     2         payments  rtb-2 has a fault  prod:route/no-egress:rtb-2
closed  2026-11-20 15:30  10 min  2                   rtb-9 has a fault  staging:route/no-egress:rtb-9
`
	if diff := cmp.Diff(want, b.String()); diff != "" {
		t.Error(diff)
	}
	b.Reset()
	if err := Print(&b, nil, at(0)); err != nil || b.String() != "No incident is open.\n" {
		t.Errorf("%q, %v", b.String(), err)
	}
}

// All that is known of an incident is said, and nothing that is not.
func TestShow(t *testing.T) {
	inc := made("prod", checkid.RouteNoEgress, "rtb-2", incident.Open, 20)
	inc.Account, inc.Region, inc.Number = "111122223333", "us-west-2", 2
	inc.Cause.Nodegroups, inc.Cause.Why = []string{"workers"}, "It has no route."
	inc.Cause.Evidence = []checks.Evidence{{What: "Routes", Value: "local"}, {What: "Subnet", Value: "a\nb"}}
	inc.Cause.Fix = checks.Fix{Text: "Add one.", Command: "aws ec2 create-route"}
	inc.Evidence = &incident.Evidence{Opened: "a", Newest: "b"}
	inc.Launches = []report.Launch{{Instance: "i-1", Status: report.Missed}}
	inc.RecentChanges = &report.RecentChanges{Changes: []report.Change{{At: at(10), Actor: "ann", Call: "DeleteRoute", Resource: "rtb-2"}}}
	inc.Offers = []incident.Offer{{State: incident.Offered, Made: at(21)}}
	inc.Ack = &incident.Ack{By: report.User{ID: "U1"}, At: at(22)}
	inc.Mute = &incident.Mute{By: report.User{ID: "U1", Name: "ann"}, At: at(22), Until: at(60)}
	inc.Blind = []snapshot.Failure{{Source: snapshot.NetworkACLs, Call: "ec2:DescribeNetworkAcls", Reason: snapshot.Denied}}
	var b strings.Builder
	if err := Show(&b, inc, at(50)); err != nil {
		t.Fatal(err)
	}
	want := `OPEN prod / workers · rtb-2 has a fault
  Incident  prod:route/no-egress:rtb-2
  Account   111122223333 us-west-2
  Cause     route/no-egress (certain)
  Why       It has no route.
  When      since 2026-11-20 15:20 UTC, for 30 min
  Again     it is the 2. time
  Affected  2 launches
            i-1 missed
  Seen      Routes: local
            Subnet: a
            b
  Replay    rollcall replay prod:route/no-egress:rtb-2 (from what was read then)
  Do        Add one.
            aws ec2 create-route
  Changed   2026-11-20 15:10 UTC ann called DeleteRoute on rtb-2
  Remedies  2026-11-20 15:21 : offered
  Taken by  U1 at 2026-11-20 15:22
  Muted     until 2026-11-20 16:00 by ann
  Unread    network acls: ec2:DescribeNetworkAcls denied
`
	if diff := cmp.Diff(want, b.String()); diff != "" {
		t.Error(diff)
	}
	b.Reset()
	if err := Show(&b, made("prod", checkid.RouteNoEgress, "rtb-2", incident.Closed, 20), at(50)); err != nil {
		t.Fatal(err)
	}
	want = `CLOSED prod · rtb-2 has a fault
  Incident  prod:route/no-egress:rtb-2
  Cause     route/no-egress (certain)
  When      2026-11-20 15:20 UTC to 2026-11-20 15:30 UTC, 10 min (proved)
  Affected  2 launches
`
	if diff := cmp.Diff(want, b.String()); diff != "" {
		t.Error(diff)
	}
}
