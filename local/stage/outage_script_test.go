package stage

import (
	"fmt"
	"slices"
	"time"

	"rollcall/local/fakeslack"

	"rollcall/shared/checks"
	"rollcall/shared/diagnose"
	"rollcall/shared/report"
)

const (
	outageLasts  = time.Hour
	outageOpens  = 50 * time.Minute // in which all causes begin
	outageSweep  = 5 * time.Minute
	outageAsk    = 30 * time.Second // between two looks at what is unsaid
	outageDrains = 2 * time.Hour    // until when what was unsaid has at most to be said
)

// outageScript is what happens: causes that begin, and may end and come back, in
// clusters that are swept every five minutes.
type outageScript struct {
	clusters int
	tables   []brokenTable
	ends     time.Duration // of the sweeps
}

// brokenTable is one cause.
type brokenTable struct {
	cluster, table, subnet, instance string
	begins, gone, back               time.Duration
}

func newOutage(causes, clusters int, ends time.Duration) outageScript {
	s := outageScript{clusters: clusters, ends: ends}
	for i := range causes {
		b := brokenTable{
			cluster: fmt.Sprintf("cluster-%02d", i%clusters), table: fmt.Sprintf("rtb-%017x", i), subnet: fmt.Sprintf("subnet-%017x", i), instance: fmt.Sprintf("i-%017x", i),
			begins: time.Duration(i+1) * outageOpens / time.Duration(causes), gone: 100 * time.Hour, back: 100 * time.Hour,
		}
		switch i % 4 {
		case 1:
			b.gone = b.begins + 12*time.Minute
		case 2:
			b.gone, b.back = b.begins+12*time.Minute, b.begins+32*time.Minute
		case 3:
			b.gone = outageLasts + 12*time.Minute
		}
		s.tables = append(s.tables, b)
	}
	return s
}

// look is one of join-check's: all of a cluster in a sweep, else the one cause that
// begins then.
type look struct {
	at      time.Duration
	cluster string
	sweep   bool
}

func (s outageScript) looks() (list []look) {
	for _, b := range s.tables {
		list = append(list, look{b.begins, b.cluster, false})
	}
	for at := outageSweep; at <= s.ends; at += outageSweep {
		for c := range s.clusters {
			list = append(list, look{at, fmt.Sprintf("cluster-%02d", c), true})
		}
	}
	slices.SortStableFunc(list, func(a, b look) int { return int(a.at - b.at) })
	return list
}

// observed is what a look sees.
func (s outageScript) observed(start time.Time, l look) report.Observation {
	o := report.Observation{
		Format: report.Format, ID: fmt.Sprint(l.cluster, "/", l.at, "/", l.sweep), By: "join-check", At: start.Add(l.at), Sweep: l.sweep,
		Account: "111122223333", Region: "us-west-2", Partition: "aws", Cluster: l.cluster,
	}
	for _, b := range s.tables {
		if b.cluster != l.cluster || l.at < b.begins || !l.sweep && l.at != b.begins {
			continue
		}
		if l.at >= b.gone && l.at < b.back {
			o.Diagnosis.Passed = append(o.Diagnosis.Passed, diagnose.Passed{Check: "route/no-egress", Covers: []string{b.subnet}})
			continue
		}
		launch := report.Launch{Instance: b.instance, Nodegroup: "workers", Group: "eks-workers", Subnet: b.subnet, Zone: "us-west-2a", Type: "m5.large", Started: start.Add(b.begins), Status: report.Waiting}
		since := b.begins
		if l.at >= b.back {
			launch.Instance, launch.Started, since = "i-b"+b.instance[3:], start.Add(b.back), b.back
		}
		if l.at >= since+outageSweep {
			launch.Status = report.Missed
		}
		o.Launches = append(o.Launches, launch)
		o.Diagnosis.Causes = append(o.Diagnosis.Causes, diagnose.Cause{
			Check: "route/no-egress", Confidence: checks.Certain, Resource: b.table, Covers: []string{b.subnet}, Nodegroups: []string{"workers"},
			Title: b.subnet + " has no route to the internet", Why: b.table + " has only 10.42.0.0/16 → local.", Instances: []string{launch.Instance},
		})
	}
	return o
}

// away is how Slack is away.
type away struct {
	name  string
	steps []awayStep
}

type awayStep struct {
	from  time.Duration
	fault fakeslack.Fault
}

func slackIsWell() away { return away{name: "well"} }

// slackIsDown takes one message and loses the answer, then answers 503.
func slackIsDown() away {
	return away{"503", []awayStep{
		{0, fakeslack.Fault{Method: "chat.postMessage", Reset: true, Applied: true, Times: 1}},
		{0, fakeslack.Fault{Status: 503, For: outageLasts}},
	}}
}

// slackIsAwayInTurn is away in four ways, a quarter of the hour each.
func slackIsAwayInTurn() away {
	const quarter = outageLasts / 4
	return away{"in turn", []awayStep{
		{0, fakeslack.Fault{Status: 503, For: quarter}},
		// Longer than a function's turn, on any clock.
		{quarter, fakeslack.Fault{RetryAfter: 5 * time.Minute, For: quarter}},
		{2 * quarter, fakeslack.Fault{Method: "chat.*", Reset: true, Applied: true, For: quarter}},
		{3 * quarter, fakeslack.Fault{Latency: 15 * time.Second, For: quarter}},
	}}
}
