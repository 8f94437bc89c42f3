package reconcile_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"rollcall/shared/catalog"
	"rollcall/shared/checkid"
	"rollcall/shared/checks/finding"
	"rollcall/shared/incident"
	"rollcall/shared/incident/incidenttest"
	"rollcall/shared/incident/reconcile"
	"rollcall/shared/report"
	"rollcall/shared/snapshot"
	"rollcall/tools/expect"
)

func TestDecide(t *testing.T) {
	type reasons = map[report.Key]incident.Reason
	type states = map[report.Key]incident.State
	opened := incidenttest.Step{Name: "launch", Obs: incidenttest.Observe(incidenttest.Route("i-1"), incidenttest.Launched("i-1", 0, report.Waiting)), Want: reasons{incidenttest.TheRoute: incident.Opened}, State: states{incidenttest.TheRoute: incident.Open}}
	gone := incidenttest.Step{Name: "route added", Minute: 10, Obs: incidenttest.Observe(incidenttest.Passed("route/no-egress", incidenttest.Subnet)), Want: reasons{incidenttest.TheRoute: incident.CauseGone}, State: states{incidenttest.TheRoute: incident.Cleared}}
	proved := incidenttest.Step{Name: "joined", Minute: 14, Obs: incidenttest.Observe(incidenttest.Launched("i-2", 12, report.Joined)), Want: reasons{incidenttest.TheRoute: incident.IsProved}, State: states{incidenttest.TheRoute: incident.Closed}}

	for _, test := range []struct {
		name  string
		steps []incidenttest.Step
		// notes and events are those of the first incident at the end.
		notes  string
		events string
	}{
		{"the route story", []incidenttest.Step{
			opened,
			{Name: "missed", Minute: 5, Obs: incidenttest.Observe(incidenttest.Route("i-1"), incidenttest.Launched("i-1", 0, report.Missed)), Want: reasons{incidenttest.TheRoute: incident.HasMissed}},
			gone,
			{Name: "old one replaced", Minute: 11, Obs: incidenttest.Observe(incidenttest.Passed("route/no-egress", incidenttest.Subnet), incidenttest.Launched("i-1", 0, report.Gone)), Want: reasons{incidenttest.TheRoute: incident.NothingNew}},
			proved,
			{Name: "still well", Minute: 20, Obs: incidenttest.Observe(incidenttest.Passed("route/no-egress", incidenttest.Subnet)), Want: reasons{incidenttest.TheRoute: incident.NothingNew}},
			{Name: "quiet", Minute: 25, Obs: incidenttest.Observe()},
		}, "opened missed cleared proved", "Opened Changed Resolved"},
		{"nobody saw that the next one was Ready: only Karpenter's tag tells that it registered", []incidenttest.Step{
			opened,
			gone,
			{Name: "tagged", Minute: 14, Obs: incidenttest.Observe(incidenttest.Launched("i-2", 12, report.Joined), incidenttest.TaggedAt(14)), State: states{incidenttest.TheRoute: incident.Cleared}},
		}, "opened cleared", "Opened Changed"},
		{"gone and proved at once", []incidenttest.Step{
			opened,
			{Name: "both", Minute: 14, Obs: incidenttest.Observe(incidenttest.Passed("route/no-egress", incidenttest.Subnet), incidenttest.Launched("i-2", 12, report.Joined)), Want: reasons{incidenttest.TheRoute: incident.IsProved}},
		}, "opened proved", "Opened Resolved"},
		{"proof seen before the cause is known to be gone", []incidenttest.Step{
			opened,
			{Name: "joined", Minute: 14, Obs: incidenttest.Observe(incidenttest.Launched("i-2", 12, report.Joined)), Want: reasons{incidenttest.TheRoute: incident.NothingNew}, State: states{incidenttest.TheRoute: incident.Open}},
			{Name: "passed", Minute: 15, Obs: incidenttest.Observe(incidenttest.Passed("route/no-egress", incidenttest.Subnet)), Want: reasons{incidenttest.TheRoute: incident.IsProved}},
		}, "opened proved", "Opened Resolved"},
		{"joined while the cause held is no proof", []incidenttest.Step{
			{Name: "launch", Minute: 14, Obs: incidenttest.Observe(incidenttest.Route("i-1"), incidenttest.Launched("i-1", 0, report.Waiting)), Want: reasons{incidenttest.TheRoute: incident.Opened}},
			{Name: "passed", Minute: 15, Obs: incidenttest.Observe(incidenttest.Passed("route/no-egress", incidenttest.Subnet), incidenttest.Launched("i-9", 12, report.Joined)), Want: reasons{incidenttest.TheRoute: incident.CauseGone}},
			{Name: "later", Minute: 80, Obs: incidenttest.Observe(), Want: reasons{incidenttest.TheRoute: incident.IsUnproved}},
		}, "opened cleared unproved", "Opened Changed Resolved"},
		{"a join that the cause outlived is dropped", []incidenttest.Step{
			opened,
			{Name: "joined", Minute: 14, Obs: incidenttest.Observe(incidenttest.Launched("i-2", 12, report.Joined)), Want: reasons{incidenttest.TheRoute: incident.NothingNew}},
			{Name: "still failing", Minute: 15, Obs: incidenttest.Observe(incidenttest.Route("i-1")), Want: reasons{incidenttest.TheRoute: incident.NothingNew}},
			{Name: "passed", Minute: 16, Obs: incidenttest.Observe(incidenttest.Passed("route/no-egress", incidenttest.Subnet)), Want: reasons{incidenttest.TheRoute: incident.CauseGone}},
		}, "opened cleared", "Opened Changed"},
		{"advice alone calls nobody", []incidenttest.Step{
			{Name: "launch", Obs: incidenttest.Observe(incidenttest.Likely(catalog.Advice), incidenttest.Launched("i-1", 0, report.Waiting))},
		}, "", ""},
		{"a likely cause is acquitted by a node that joined in spite of it", []incidenttest.Step{
			{Name: "missed", Minute: 5, Obs: incidenttest.Observe(incidenttest.Likely(catalog.Likely, "i-1"), incidenttest.Launched("i-1", 0, report.Missed)), Want: reasons{incidenttest.TheOptions: incident.Opened}, State: states{incidenttest.TheOptions: incident.Open}},
			{Name: "another launch is not due", Minute: 6, Obs: incidenttest.Observe(incidenttest.Likely(catalog.Advice), incidenttest.Launched("i-2", 6, report.Waiting))},
			{Name: "it joined", Minute: 8, Obs: incidenttest.Observe(incidenttest.Likely(catalog.Advice), incidenttest.Launched("i-2", 6, report.Joined)), Want: reasons{incidenttest.TheOptions: incident.IsProved}, State: states{incidenttest.TheOptions: incident.Closed}},
		}, "opened proved", "Opened Resolved"},
		{"an add-on is well when EKS says so", []incidenttest.Step{
			{Name: "degraded", Obs: incidenttest.Observe(incidenttest.Degraded()), Want: reasons{incidenttest.TheAddon: incident.Opened}, State: states{incidenttest.TheAddon: incident.Open}},
			{Name: "active", Minute: 14, Obs: incidenttest.Observe(incidenttest.Passed("addon/degraded", "vpc-cni")), Want: reasons{incidenttest.TheAddon: incident.IsProved}, State: states{incidenttest.TheAddon: incident.Closed}},
		}, "opened proved", "Opened Resolved"},
		{"a Spot pool is well when it works again, or is left", []incidenttest.Step{
			{Name: "fails", Obs: incidenttest.Observe(incidenttest.PoolFails()), Want: reasons{incidenttest.ThePool: incident.Opened}, State: states{incidenttest.ThePool: incident.Open}},
			{Name: "another pool is well", Minute: 60, Obs: incidenttest.Observe(incidenttest.Passed("spot/pool-failing", "m5.large/us-west-2b"))},
			{Name: "works", Minute: 120, Obs: incidenttest.Observe(incidenttest.Passed("spot/pool-failing", "c5.large/us-west-2b")), Want: reasons{incidenttest.ThePool: incident.IsProved}, State: states{incidenttest.ThePool: incident.Closed}},
		}, "opened proved", "Opened Resolved"},
		{"a healthy subnet of the nodegroup proves nothing", []incidenttest.Step{
			opened, gone,
			{Name: "elsewhere", Minute: 14, Obs: incidenttest.Observe(incidenttest.Launched("i-2", 12, report.Joined), incidenttest.InSubnet("subnet-well"))},
		}, "opened cleared", "Opened Changed"},
		{"nobody came to prove it", []incidenttest.Step{
			opened, gone,
			{Name: "not yet", Minute: 69, Obs: incidenttest.Observe()},
			{Name: "time is up", Minute: 70, Obs: incidenttest.Observe(), Want: reasons{incidenttest.TheRoute: incident.IsUnproved}, State: states{incidenttest.TheRoute: incident.Closed}},
		}, "opened cleared unproved", "Opened Changed Resolved"},
		{"fails again before the proof", []incidenttest.Step{
			opened, gone,
			{Name: "again", Minute: 12, Obs: incidenttest.Observe(incidenttest.Route("i-1")), Want: reasons{incidenttest.TheRoute: incident.FailedAgain}, State: states{incidenttest.TheRoute: incident.Open}},
			{Name: "gone again", Minute: 13, Obs: incidenttest.Observe(incidenttest.Passed("route/no-egress", incidenttest.Subnet)), Want: reasons{incidenttest.TheRoute: incident.CauseGone}},
		}, "opened cleared failed-again cleared-2", "Opened Changed"},
		{"comes back within the time", []incidenttest.Step{
			opened, gone, proved,
			{Name: "back", Minute: 60, Obs: incidenttest.Observe(incidenttest.Route("i-5"), incidenttest.Launched("i-5", 60, report.Waiting)), Want: reasons{incidenttest.TheRoute: incident.Reopened}, State: states{incidenttest.TheRoute: incident.Open}},
			{Name: "missed", Minute: 65, Obs: incidenttest.Observe(incidenttest.Route("i-5"), incidenttest.Launched("i-5", 60, report.Missed)), Want: reasons{incidenttest.TheRoute: incident.HasMissed}},
		}, "opened cleared proved reopened missed", "Opened Changed Resolved Reopened Changed"},
		{"comes back much later: a new message", []incidenttest.Step{
			opened, gone, proved,
			{Name: "back", Minute: 14 + 24*60 + 1, Obs: incidenttest.Observe(incidenttest.Route("i-5")), Want: reasons{incidenttest.TheRoute: incident.Opened}},
		}, "opened", "Opened"},
		{"more are affected", []incidenttest.Step{
			opened,
			{Name: "burst", Minute: 1, Obs: incidenttest.Observe(incidenttest.Route("i-1", "i-2", "i-3")), Want: reasons{incidenttest.TheRoute: incident.MoreAffected}},
			{Name: "no more", Minute: 2, Obs: incidenttest.Observe(incidenttest.Route("i-2")), Want: reasons{incidenttest.TheRoute: incident.NothingNew}},
		}, "opened", "Opened Changed"},
		{"better known", []incidenttest.Step{
			opened,
			{Name: "words", Minute: 1, Obs: incidenttest.Observe(incidenttest.Route("i-1"), incidenttest.Wordier), Want: reasons{incidenttest.TheRoute: incident.BetterKnown}},
			{Name: "same words", Minute: 2, Obs: incidenttest.Observe(incidenttest.Route("i-1"), incidenttest.Wordier), Want: reasons{incidenttest.TheRoute: incident.NothingNew}},
		}, "opened", "Opened Changed"},
		{"the same twice", []incidenttest.Step{
			{Name: "first", Obs: incidenttest.Observe(incidenttest.Route("i-1"), incidenttest.Named("x")), Want: reasons{incidenttest.TheRoute: incident.Opened}},
			{Name: "second", Minute: 1, Obs: incidenttest.Observe(incidenttest.Route("i-1", "i-2"), incidenttest.Named("x")), Want: reasons{incidenttest.TheRoute: incident.AlreadyApplied}},
		}, "opened", "Opened"},
		{"a late failure does not undo the pass", []incidenttest.Step{
			opened, gone,
			{Name: "late", Minute: 9, Now: 11, Obs: incidenttest.Observe(incidenttest.Route("i-1")), Want: reasons{incidenttest.TheRoute: incident.NothingNew}, State: states{incidenttest.TheRoute: incident.Cleared}},
			proved,
			{Name: "from before the node was Ready", Minute: 11, Now: 19, Obs: incidenttest.Observe(incidenttest.Route("i-1")), Want: reasons{incidenttest.TheRoute: incident.OutOfDate}, State: states{incidenttest.TheRoute: incident.Closed}},
			{Name: "later still", Minute: 10, Now: 20, Obs: incidenttest.Observe(incidenttest.Route("i-1")), Want: reasons{incidenttest.TheRoute: incident.OutOfDate}, State: states{incidenttest.TheRoute: incident.Closed}},
		}, "opened cleared proved", "Opened Changed Resolved"},
		{"a late pass does not hide the failure", []incidenttest.Step{
			{Name: "launch", Minute: 5, Obs: incidenttest.Observe(incidenttest.Route("i-1")), Want: reasons{incidenttest.TheRoute: incident.Opened}},
			{Name: "late", Minute: 4, Now: 6, Obs: incidenttest.Observe(incidenttest.Passed("route/no-egress", incidenttest.Subnet)), State: states{incidenttest.TheRoute: incident.Open}},
		}, "opened", "Opened"},
		{"unknown clears nothing", []incidenttest.Step{
			opened,
			{Name: "throttled", Minute: 5, Obs: incidenttest.Observe(incidenttest.BlindTo("ec2:DescribeRouteTables", snapshot.RouteTables, snapshot.Throttled)), Want: reasons{incidenttest.ThePermit: incident.NotYet}, State: states{incidenttest.TheRoute: incident.Open}},
		}, "opened", "Opened"},
		{"half of the subnets pass", []incidenttest.Step{
			{Name: "two subnets", Obs: incidenttest.Observe(incidenttest.Route("i-1"), func(o *report.Observation) { o.Diagnosis.Causes[0].Covers = []string{incidenttest.Subnet, "subnet-2"} }), Want: reasons{incidenttest.TheRoute: incident.Opened}},
			{Name: "one", Minute: 5, Obs: incidenttest.Observe(incidenttest.Passed("route/no-egress", incidenttest.Subnet)), Want: reasons{incidenttest.TheRoute: incident.NothingNew}, State: states{incidenttest.TheRoute: incident.Open}},
			{Name: "the other", Minute: 6, Obs: incidenttest.Observe(incidenttest.Passed("route/no-egress", "subnet-2")), Want: reasons{incidenttest.TheRoute: incident.CauseGone}},
		}, "opened cleared", "Opened Changed"},
		{"the subnet is gone", []incidenttest.Step{
			opened,
			{Name: "deleted", Minute: 5, Obs: incidenttest.Observe(incidenttest.Absent(incidenttest.Subnet)), Want: reasons{incidenttest.TheRoute: incident.IsWithdrawn}, State: states{incidenttest.TheRoute: incident.Closed}},
		}, "opened withdrawn", "Opened Resolved"},
		{"another table, as bad", []incidenttest.Step{
			opened,
			{Name: "associated", Minute: 5, Obs: incidenttest.Observe(incidenttest.OtherTable("i-1")), Want: reasons{incidenttest.OtherRoute: incident.Opened, incidenttest.TheRoute: incident.IsSuperseded}, State: states{incidenttest.TheRoute: incident.Closed, incidenttest.OtherRoute: incident.Open}},
		}, "opened superseded", "Opened Resolved"},
		{"the route leads into a hole", []incidenttest.Step{
			opened,
			{Name: "hole", Minute: 5, Obs: incidenttest.Observe(incidenttest.Passed("route/no-egress", incidenttest.Subnet), incidenttest.Blackhole("i-1")), Want: reasons{incidenttest.TheHole: incident.Opened, incidenttest.TheRoute: incident.IsSuperseded}},
		}, "opened superseded", "Opened Resolved"},
		{"a symptom, then its cause", []incidenttest.Step{
			{Name: "missed", Minute: 5, Obs: incidenttest.Observe(incidenttest.NotRegistered("i-1"), incidenttest.Launched("i-1", 0, report.Missed)), Want: reasons{incidenttest.TheSymptom: incident.Opened}},
			{Name: "explained", Minute: 6, Obs: incidenttest.Observe(incidenttest.Route("i-1"), incidenttest.Launched("i-1", 0, report.Missed)), Want: reasons{incidenttest.TheSymptom: incident.IsSuperseded, incidenttest.TheRoute: incident.Opened}},
			{Name: "late symptom", Minute: 5, Now: 7, Obs: incidenttest.Observe(incidenttest.NotRegistered("i-1")), State: states{incidenttest.TheSymptom: incident.Closed}},
		}, "opened superseded", "Opened Resolved"},
		{"a symptom of a known cause has no message", []incidenttest.Step{
			opened,
			{Name: "routes unseen", Minute: 5, Obs: incidenttest.Observe(incidenttest.NotRegistered("i-1"), incidenttest.Launched("i-1", 0, report.Missed)), Want: reasons{incidenttest.TheRoute: incident.HasMissed}},
			{Name: "cause gone, still not there", Minute: 10, Obs: incidenttest.Observe(incidenttest.NotRegistered("i-1"), incidenttest.Passed("route/no-egress", incidenttest.Subnet)), Want: reasons{incidenttest.TheRoute: incident.CauseGone}},
			proved,
			{Name: "waits for its replacement", Minute: 20, Obs: incidenttest.Observe(incidenttest.NotRegistered("i-1"))},
			{Name: "nobody replaced it", Minute: 80, Obs: incidenttest.Observe(incidenttest.NotRegistered("i-1")), Want: reasons{incidenttest.TheSymptom: incident.Opened}},
		}, "opened missed cleared proved", "Opened Changed Resolved"},
		{"a symptom heals", []incidenttest.Step{
			{Name: "missed", Minute: 5, Obs: incidenttest.Observe(incidenttest.NotRegistered("i-1"), incidenttest.Launched("i-1", 0, report.Missed)), Want: reasons{incidenttest.TheSymptom: incident.Opened}},
			{Name: "joined", Minute: 10, Obs: incidenttest.Observe(incidenttest.Launched("i-1", 0, report.Joined), incidenttest.ReadyAt(9)), Want: reasons{incidenttest.TheSymptom: incident.IsProved}, State: states{incidenttest.TheSymptom: incident.Closed}},
		}, "opened proved", "Opened Resolved"},
		{"a symptom's instance is gone", []incidenttest.Step{
			{Name: "missed", Minute: 5, Obs: incidenttest.Observe(incidenttest.NotRegistered("i-1", "i-2"), incidenttest.Launched("i-1", 0, report.Missed)), Want: reasons{incidenttest.TheSymptom: incident.Opened}},
			{Name: "one", Minute: 10, Obs: incidenttest.Observe(incidenttest.Launched("i-1", 0, report.Gone)), Want: reasons{incidenttest.TheSymptom: incident.NothingNew}, State: states{incidenttest.TheSymptom: incident.Open}},
			{Name: "both", Minute: 11, Obs: incidenttest.Observe(incidenttest.Launched("i-2", 0, report.Gone)), Want: reasons{incidenttest.TheSymptom: incident.IsWithdrawn}},
		}, "opened withdrawn", "Opened Resolved"},
		{"a symptom's instance is given up", []incidenttest.Step{
			{Name: "missed", Minute: 5, Obs: incidenttest.Observe(incidenttest.NotRegistered("i-1", "i-2"), incidenttest.Launched("i-1", 0, report.Missed), incidenttest.Launched("i-2", 0, report.Missed)), Want: reasons{incidenttest.TheSymptom: incident.Opened}},
			{Name: "one", Minute: 125, Obs: incidenttest.Observe(incidenttest.NotRegistered("i-1", "i-2"), incidenttest.Launched("i-1", 0, report.GivenUp), incidenttest.Launched("i-2", 0, report.Missed)), Want: reasons{incidenttest.TheSymptom: incident.NothingNew}, State: states{incidenttest.TheSymptom: incident.Open}},
			{Name: "both", Minute: 126, Obs: incidenttest.Observe(incidenttest.NotRegistered("i-1", "i-2"), incidenttest.Launched("i-1", 0, report.GivenUp), incidenttest.Launched("i-2", 0, report.GivenUp)), Want: reasons{incidenttest.TheSymptom: incident.IsGivenUpOn}, State: states{incidenttest.TheSymptom: incident.Closed}},
			{Name: "seen again", Minute: 127, Obs: incidenttest.Observe(incidenttest.NotRegistered("i-1", "i-2")), Want: reasons{incidenttest.TheSymptom: incident.OutOfDate}, State: states{incidenttest.TheSymptom: incident.Closed}},
			{Name: "another one", Minute: 130, Obs: incidenttest.Observe(incidenttest.NotRegistered("i-3"), incidenttest.Launched("i-3", 125, report.Missed)), Want: reasons{incidenttest.TheSymptom: incident.Reopened}, State: states{incidenttest.TheSymptom: incident.Open}},
			{Name: "joined late", Minute: 135, Obs: incidenttest.Observe(incidenttest.Launched("i-3", 125, report.Joined), incidenttest.ReadyAt(134)), Want: reasons{incidenttest.TheSymptom: incident.IsProved}},
		}, "opened given-up reopened proved", "Opened Resolved Reopened Resolved"},
		{"registered, and then not Ready", []incidenttest.Step{
			{Name: "missed", Minute: 5, Obs: incidenttest.Observe(incidenttest.NotRegistered("i-1"), incidenttest.Launched("i-1", 0, report.Missed)), Want: reasons{incidenttest.TheSymptom: incident.Opened}},
			{Name: "not Ready", Minute: 10, Obs: incidenttest.Observe(incidenttest.Passed("node/not-registered", "i-1"), incidenttest.NotReady("i-1"), incidenttest.Launched("i-1", 0, report.Missed)), Want: reasons{incidenttest.TheSymptom: incident.IsSuperseded, incidenttest.TheNode: incident.Opened}},
		}, "opened superseded", "Opened Resolved"},
		{"the end was no fault after all", []incidenttest.Step{
			{Name: "ended", Minute: 2, Obs: incidenttest.Observe(incidenttest.EndedSoon("i-1"), incidenttest.Launched("i-1", 0, report.Gone)), Want: reasons{incidenttest.TheEnd: incident.Opened}},
			{Name: "it had been a node", Minute: 3, Obs: incidenttest.Observe(incidenttest.Passed(checkid.InstanceEndedEarly, "i-1")), Want: reasons{incidenttest.TheEnd: incident.CauseGone}, State: states{incidenttest.TheEnd: incident.Cleared}},
		}, "opened cleared", "Opened Changed"},
		{"an instance ended early; the next one joins", []incidenttest.Step{
			{Name: "ended", Minute: 2, Obs: incidenttest.Observe(incidenttest.EndedSoon("i-1"), incidenttest.Launched("i-1", 0, report.Gone)), Want: reasons{incidenttest.TheEnd: incident.Opened}},
			{Name: "seen again", Minute: 3, Obs: incidenttest.Observe(incidenttest.EndedSoon("i-1"), incidenttest.Launched("i-1", 0, report.Gone)), Want: reasons{incidenttest.TheEnd: incident.NothingNew}, State: states{incidenttest.TheEnd: incident.Open}},
			{Name: "next", Minute: 6, Obs: incidenttest.Observe(incidenttest.Launched("i-2", 3, report.Joined), incidenttest.InSubnet("subnet-2")), Want: reasons{incidenttest.TheEnd: incident.IsProved}},
			{Name: "seen once more", Minute: 7, Obs: incidenttest.Observe(incidenttest.EndedSoon("i-1"), incidenttest.Launched("i-1", 0, report.Gone)), Want: reasons{incidenttest.TheEnd: incident.OutOfDate}, State: states{incidenttest.TheEnd: incident.Closed}},
		}, "opened proved", "Opened Resolved"},
		{"an instance ended early; none comes after it", []incidenttest.Step{
			{Name: "ended", Minute: 2, Obs: incidenttest.Observe(incidenttest.EndedSoon("i-1"), incidenttest.Launched("i-1", 0, report.Gone)), Want: reasons{incidenttest.TheEnd: incident.Opened}},
			{Name: "an hour later", Minute: 62, Obs: incidenttest.Observe(), Want: reasons{incidenttest.TheEnd: incident.IsUnproved}},
		}, "opened unproved", "Opened Resolved"},
		{"a permission is denied", []incidenttest.Step{
			{Name: "denied", Obs: incidenttest.Observe(incidenttest.BlindTo("ec2:DescribeRouteTables", snapshot.RouteTables, snapshot.Denied)), Want: reasons{incidenttest.ThePermit: incident.Opened}, State: states{incidenttest.ThePermit: incident.Open}},
			{Name: "not asked", Minute: 5, Obs: incidenttest.Observe(incidenttest.CouldRead(snapshot.Subnets)), State: states{incidenttest.ThePermit: incident.Open}},
			{Name: "granted", Minute: 10, Obs: incidenttest.Observe(incidenttest.CouldRead(snapshot.RouteTables)), Want: reasons{incidenttest.ThePermit: incident.IsProved}, State: states{incidenttest.ThePermit: incident.Closed}},
		}, "opened proved", "Opened Resolved"},
		{"throttled for a while", []incidenttest.Step{
			{Name: "one", Obs: incidenttest.Observe(incidenttest.BlindTo("ec2:DescribeRouteTables", snapshot.RouteTables, snapshot.Throttled)), Want: reasons{incidenttest.ThePermit: incident.NotYet}, State: states{incidenttest.ThePermit: incident.Pending}},
			{Name: "two", Minute: 5, Obs: incidenttest.Observe(incidenttest.BlindTo("ec2:DescribeRouteTables", snapshot.RouteTables, snapshot.TimedOut)), Want: reasons{incidenttest.ThePermit: incident.NotYet}},
			{Name: "three", Minute: 10, Obs: incidenttest.Observe(incidenttest.BlindTo("ec2:DescribeRouteTables", snapshot.RouteTables, snapshot.Throttled)), Want: reasons{incidenttest.ThePermit: incident.Opened}, State: states{incidenttest.ThePermit: incident.Open}},
		}, "opened", "Opened"},
		{"throttled once is said by nobody", []incidenttest.Step{
			{Name: "one", Obs: incidenttest.Observe(incidenttest.BlindTo("ec2:DescribeRouteTables", snapshot.RouteTables, snapshot.Throttled)), Want: reasons{incidenttest.ThePermit: incident.NotYet}},
			{Name: "well", Minute: 5, Obs: incidenttest.Observe(incidenttest.CouldRead(snapshot.RouteTables)), Want: reasons{incidenttest.ThePermit: incident.NotYet}, State: states{incidenttest.ThePermit: incident.Closed}},
			{Name: "and one", Minute: 10, Obs: incidenttest.Observe(incidenttest.BlindTo("ec2:DescribeRouteTables", snapshot.RouteTables, snapshot.Throttled)), Want: reasons{incidenttest.ThePermit: incident.NotYet}, State: states{incidenttest.ThePermit: incident.Pending}},
		}, "", ""},
		{"missed and blind at once", []incidenttest.Step{
			{Name: "symptom only", Minute: 5, Obs: incidenttest.Observe(incidenttest.NotRegistered("i-1"), incidenttest.Launched("i-1", 0, report.Missed), incidenttest.BlindTo("ec2:DescribeRouteTables", snapshot.RouteTables, snapshot.Denied)),
				Want: reasons{incidenttest.TheSymptom: incident.Opened, incidenttest.ThePermit: incident.Opened}},
		}, "opened", "Opened"},
		{"another cluster is another matter", []incidenttest.Step{
			opened,
			{Name: "other", Minute: 5, Obs: incidenttest.Observe(incidenttest.Passed("route/no-egress", incidenttest.Subnet), func(o *report.Observation) { o.Cluster = "other" }), State: states{incidenttest.TheRoute: incident.Open}},
		}, "opened", "Opened"},
	} {
		t.Run(test.name, func(t *testing.T) {
			incidents := incidenttest.Play(t, test.steps)
			var key report.Key
			for k := range test.steps[0].Want {
				if key == (report.Key{}) || k != incidenttest.ThePermit {
					key = k
				}
			}
			for _, inc := range incidents {
				if inc.Key != key {
					continue
				}
				var notes, events []string
				for _, n := range inc.Delivery.Notes {
					notes = append(notes, n.ID)
				}
				for _, e := range inc.PendingEvents {
					events = append(events, string(e.Kind))
				}
				expect.Equal(t, "notes are", strings.Join(notes, " "), test.notes)
				expect.Equal(t, "events are", strings.Join(events, " "), test.events)
			}
		})
	}
}

// What is kept of the facts is what the message is made from.
func TestDecideFacts(t *testing.T) {
	incidents := incidenttest.Play(t, []incidenttest.Step{
		{Name: "launch", Minute: 1, Obs: incidenttest.Observe(incidenttest.Route("i-1"), incidenttest.Launched("i-1", 0, report.Waiting)), Want: map[report.Key]incident.Reason{incidenttest.TheRoute: incident.Opened}},
		{Name: "one joins all the same", Minute: 5, Obs: incidenttest.Observe(incidenttest.Route("i-1"), incidenttest.Launched("i-1", 0, report.Joined), incidenttest.ReadyAt(4)), Want: map[report.Key]incident.Reason{incidenttest.TheRoute: incident.NothingNew}},
		{Name: "another", Minute: 6, Obs: incidenttest.Observe(incidenttest.Route("i-2"), incidenttest.Launched("i-2", 6, report.Waiting)), Want: map[report.Key]incident.Reason{incidenttest.TheRoute: incident.IsWorse}},
		{Name: "passed", Minute: 14, Obs: incidenttest.Observe(incidenttest.Passed("route/no-egress", incidenttest.Subnet)), Want: map[report.Key]incident.Reason{incidenttest.TheRoute: incident.CauseGone}},
		{Name: "proved", Minute: 15, Obs: incidenttest.Observe(incidenttest.Launched("i-3", 13, report.Joined)), Want: map[report.Key]incident.Reason{incidenttest.TheRoute: incident.IsProved}},
	})
	inc := incidents[0]
	if got := inc.Count(report.Joined); got != 1 || inc.Affected != 2 {
		t.Errorf("joined %d of %d, want 1 of 2", got, inc.Affected)
	}
	if !inc.Began.Equal(incidenttest.Start) || !inc.Opened.Equal(incidenttest.At(1)) || !inc.Cleared.Equal(incidenttest.At(14)) || !inc.Resolved.Equal(incidenttest.At(15)) {
		t.Errorf("began %v, opened %v, cleared %v, resolved %v", inc.Began, inc.Opened, inc.Cleared, inc.Resolved)
	}
	if inc.Proof == nil || inc.Proof.Instance != "i-3" {
		t.Errorf("proof is %+v, want i-3", inc.Proof)
	}
	expect.Same(t, "cleared by", inc.ClearedBy, []finding.Evidence{{What: incidenttest.Table, Value: "0.0.0.0/0 → nat-0aa4"}})
}

// Whose an incident is stays known, though a look could not tell: remedies and
// readers of its events go by it.
func TestDecideKeepsTheAccount(t *testing.T) {
	nameless := func(o *report.Observation) { o.Account = "" }
	incidents := incidenttest.Play(t, []incidenttest.Step{
		{Name: "launch", Minute: 1, Obs: incidenttest.Observe(incidenttest.Route("i-1"), incidenttest.Launched("i-1", 0, report.Waiting)), Want: map[report.Key]incident.Reason{incidenttest.TheRoute: incident.Opened}},
		{Name: "a reminder", Minute: 5, Obs: incidenttest.Observe(incidenttest.Route("i-1"), incidenttest.Launched("i-1", 0, report.Missed), nameless), Want: map[report.Key]incident.Reason{incidenttest.TheRoute: incident.HasMissed}},
	})
	if got, want := incidents[0].Account, incidenttest.Observe().Account; got != want || want == "" {
		t.Errorf("account %q, want %q", got, want)
	}
}

// A record stays within what the table takes, however large the burst.
func TestDecideBounds(t *testing.T) {
	var ids []string
	for i := range incident.MaxLaunches + 700 {
		ids = append(ids, "i-"+string(rune('a'+i%26))+time.Duration(i).String())
	}
	incidents := incidenttest.Play(t, []incidenttest.Step{
		{Name: "burst", Obs: incidenttest.Observe(incidenttest.Route(ids...)), Want: map[report.Key]incident.Reason{incidenttest.TheRoute: incident.Opened}},
		{Name: "again", Minute: 1, Obs: incidenttest.Observe(incidenttest.Route(ids...)), Want: map[report.Key]incident.Reason{incidenttest.TheRoute: incident.NothingNew}},
	})
	if got := incidents[0]; got.Affected != len(ids) || len(got.Launches) != incident.MaxLaunches || len(got.PendingEvents[0].Instances) != incident.MaxNamed {
		t.Errorf("affected %d, kept %d, told %d; want %d, %d, %d", got.Affected, len(got.Launches), len(got.PendingEvents[0].Instances), len(ids), incident.MaxLaunches, incident.MaxNamed)
	}
	flapping := []incidenttest.Step{{Name: "open", Obs: incidenttest.Observe(incidenttest.Route("i-1")), Want: map[report.Key]incident.Reason{incidenttest.TheRoute: incident.Opened}}}
	incidents = incidenttest.Play(t, flapping)
	for i := range 100 {
		obs := incidenttest.Observe(incidenttest.Route("i-1"))
		if i%2 == 0 {
			obs = incidenttest.Observe(incidenttest.Passed("route/no-egress", incidenttest.Subnet))
		}
		obs.ID, obs.At = time.Duration(i).String(), incidenttest.At(1+i)
		for _, d := range reconcile.Decide(incidents, obs, obs.At, incidenttest.Policy) {
			for n := range d.Incident.Delivery.Notes {
				d.Incident.Delivery.Notes[n].TS = "said"
			}
			incidents = incidenttest.With(incidents, d.Incident)
		}
	}
	if got := incidents[0]; len(got.Delivery.Notes) != incident.MaxNotes || len(got.Applied) != incident.MaxApplied || len(got.PendingEvents) > 2 {
		t.Errorf("%d notes, %d applied, %d untold; want %d, %d, at most 2", len(got.Delivery.Notes), len(got.Applied), len(got.PendingEvents), incident.MaxNotes, incident.MaxApplied)
	}
}

// A cause that comes back again and again does not make its record grow for ever.
func TestDecideForgets(t *testing.T) {
	var incidents []incident.Incident
	for day := range 60 {
		id, minute := fmt.Sprint("i-", day), day*20*60
		for i, obs := range []report.Observation{
			incidenttest.Observe(incidenttest.EndedSoon("i-1"), func(o *report.Observation) {
				c := &o.Diagnosis.Causes[0]
				c.Covers, c.Instances = []string{id}, []string{id}
			}, incidenttest.Launched(id, minute, report.Gone)),
			incidenttest.Observe(incidenttest.Launched(id+"-next", minute+3, report.Joined)),
		} {
			obs.ID, obs.At = fmt.Sprint(day, "-", i), incidenttest.At(minute+i*5)
			for _, d := range reconcile.Decide(incidents, obs, obs.At, incidenttest.Policy) {
				incidents = []incident.Incident{d.Incident}
			}
		}
	}
	if got := incidents[0]; got.Number != 60 || got.State != incident.Closed || len(got.Covers) > 4 || len(got.Verdicts) != len(got.Covers) {
		t.Errorf("number %d, %q, %d covers, %d verdicts; want the 60th, closed, with those of two days", got.Number, got.State, len(got.Covers), len(got.Verdicts))
	}
}

// Decide must not write into what it was given.
func TestDecideLeavesItsInputAlone(t *testing.T) {
	incidents := incidenttest.Play(t, []incidenttest.Step{{Name: "launch", Obs: incidenttest.Observe(incidenttest.Route("i-2"), incidenttest.Launched("i-2", 0, report.Waiting)), Want: map[report.Key]incident.Reason{incidenttest.TheRoute: incident.Opened}}})
	before := []incident.Incident{incidents[0].Clone()}
	obs := incidenttest.Observe(incidenttest.Route("i-1", "i-2"), incidenttest.Launched("i-2", 0, report.Missed), incidenttest.Passed("route/no-egress", incidenttest.Subnet))
	obs.ID, obs.At = "later", incidenttest.At(5)
	reconcile.Decide(incidents, obs, incidenttest.At(5), incidenttest.Policy)
	if diff := cmp.Diff(before, incidents); diff != "" {
		t.Errorf("previous was changed (-before +after):\n%s", diff)
	}
}
