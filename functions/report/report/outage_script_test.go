package report

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"rollcall/shared/checks"
	"rollcall/shared/diagnose"
	"rollcall/shared/report"
)

// fault is one cause in one cluster: when it begins, when it is gone, and when
// it is back.
type fault struct {
	cluster, table, subnet, instance, next string
	begins, gone, back                     time.Duration
}

func (f fault) failing(at time.Duration) bool {
	return at >= f.begins && (at < f.gone || f.back > 0 && at >= f.back)
}

// outageScript is what happens while Slack is away: faults that begin, change,
// end and come back, and the sweeps that tell of them.
type outageScript struct {
	clusters []string
	faults   []fault
	// end is when nothing new happens any more; sweeps go on.
	end time.Duration
}

const outageSweep = 5 * time.Minute

func newScript(clusters, faults int) outageScript {
	s := outageScript{end: 2 * time.Hour}
	r := rand.New(rand.NewPCG(6, uint64(faults)))
	for c := range clusters {
		s.clusters = append(s.clusters, fmt.Sprintf("cluster-%02d", c))
	}
	for i := range faults {
		f := fault{
			cluster: s.clusters[i%clusters], table: fmt.Sprintf("rtb-%017x", r.Uint64()>>4), subnet: fmt.Sprintf("subnet-%017x", i), instance: fmt.Sprintf("i-%017x", i), next: fmt.Sprintf("i-f%016x", i),
			begins: time.Duration(i+1) * 50 * time.Minute / time.Duration(faults), gone: 1000 * time.Hour,
		}
		switch i % 4 {
		case 1: // ends while Slack is away
			f.gone = f.begins + 12*time.Minute
		case 2: // ends and comes back
			f.gone, f.back = f.begins+12*time.Minute, f.begins+32*time.Minute
		case 3: // ends after
			f.gone = 80*time.Minute + time.Duration(r.IntN(600))*time.Second
		}
		s.faults = append(s.faults, f)
	}
	return s
}

// toldAt is an observation on its way to the queue.
type toldAt struct {
	at  time.Duration
	obs report.Observation
}

// observations are all until a time, in order.
func (s outageScript) observations(from time.Time, until time.Duration) []toldAt {
	var list []toldAt
	for c, cluster := range s.clusters {
		for at := time.Duration(c) * 7 * time.Second; at < until; at += outageSweep {
			list = append(list, s.observe(from, at, cluster, true, func(fault) bool { return true }))
		}
	}
	for _, f := range s.faults {
		list = append(list, s.observe(from, f.begins, f.cluster, false, func(other fault) bool { return other == f }))
	}
	slices.SortStableFunc(list, func(a, b toldAt) int { return int(a.at - b.at) })
	return list
}

func (s outageScript) observe(from time.Time, at time.Duration, cluster string, sweep bool, of func(fault) bool) toldAt {
	o := report.Observation{
		Format: report.Format, ID: fmt.Sprint(cluster, "/", at, "/", sweep), By: "join-check", At: from.Add(at), Sweep: sweep,
		Account: "111122223333", Region: "us-west-2", Partition: "aws", Cluster: cluster,
	}
	for _, f := range s.faults {
		if f.cluster != cluster || at < f.begins || !of(f) {
			continue
		}
		started := f.begins
		if f.back > 0 && at >= f.back {
			started = f.back
		}
		l := report.Launch{Instance: f.instance, Nodegroup: "workers", Group: "eks-workers", Subnet: f.subnet, Zone: "us-west-2a", Type: "m5.large", Started: from.Add(started), Status: report.Waiting}
		if f.back > 0 && at >= f.back {
			l.Instance = "i-b" + f.instance[3:]
		}
		if at >= started+outageSweep {
			l.Status = report.Missed
		}
		evidence := []checks.Evidence{{What: f.table, Value: "10.42.0.0/16 → local"}}
		if f.failing(at) {
			o.Diagnosis.Causes = append(o.Diagnosis.Causes, diagnose.Cause{
				Check: "route/no-egress", Confidence: checks.Certain, Resource: f.table, Covers: []string{f.subnet}, Nodegroups: []string{"workers"},
				Title: f.subnet + " has no route to the internet", Why: f.table + " has only 10.42.0.0/16 → local.", Evidence: evidence, Instances: []string{l.Instance},
			})
			o.Launches = append(o.Launches, l)
			continue
		}
		o.Diagnosis.Passed = append(o.Diagnosis.Passed, diagnose.Passed{Check: "route/no-egress", Covers: []string{f.subnet}, Evidence: []checks.Evidence{{What: f.table, Value: "0.0.0.0/0 → nat-0aa4"}}})
		if at >= f.gone+3*time.Minute && at < f.gone+15*time.Minute {
			l.Instance, l.Started, l.Ready, l.Status = f.next, from.Add(f.gone+time.Minute), from.Add(f.gone+2*time.Minute), report.Joined
			o.Launches = append(o.Launches, l)
		}
	}
	return toldAt{at, o}
}
