package report

import (
	"slices"
	"time"
)

// AllClusters stands for the region in what is about no cluster in particular: the
// list of clusters cannot be read. No cluster has such a name (EKS: letters,
// digits, hyphens and underscores, the first a letter or digit).
const AllClusters = "(all)"

// maxUnseen is how long an incident stays open of which nothing is heard any more:
// neither its cause nor anything that it covers was judged, because its cluster is
// watched no longer or cannot be looked at. Sweeps come every five minutes.
const maxUnseen = 14 * 24 * time.Hour

// bury closes all incidents of a cluster that EKS does not have any more. What was
// observed before, and comes late, does not open them again.
func (d *desk) bury(f *draft) {
	if f.State == Closed || d.obs.At.Before(f.Seen) {
		return
	}
	f.Settled = d.obs.At
	if f.State == Pending { // never said, so there is nothing to take back
		f.State, f.Ending, f.Resolved, f.Times = Closed, ClusterDeleted, d.now, 0
		f.because(NotYet)
		return
	}
	d.end(f, ClusterDeleted)
}

// age closes an incident of which nothing was heard for long. It is not called
// well: nobody knows.
func (inc *Incident) age(now time.Time) Reason {
	if inc.State != Open && inc.State != Cleared || now.Sub(inc.Heard()) < maxUnseen {
		return NothingNew
	}
	inc.State, inc.Ending, inc.Resolved, inc.Changed = Closed, Unseen, now, now
	inc.Times, inc.Joins = 0, nil
	inc.outdate("the incident is over", func(Offer) bool { return true })
	inc.addNote(IsWithdrawn, now)
	inc.tell(IsWithdrawn, now)
	return IsWithdrawn
}

// Heard is when something was last heard of an incident.
func (inc Incident) Heard() time.Time {
	at := inc.Opened
	for _, t := range []time.Time{inc.Seen, inc.Cleared} {
		if t.After(at) {
			at = t
		}
	}
	return slices.MaxFunc(append([]Verdict{{At: at}}, inc.Verdicts...), func(a, b Verdict) int { return a.At.Compare(b.At) }).At
}
