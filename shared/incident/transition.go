package incident

import (
	"rollcall/shared/report"
	"time"
)

// Transition is a step in the life of an incident. The zero Transition is none:
// everything stays as it is.
type Transition struct {
	To State
	// Reason is why.
	Reason Reason
	// Resolution is how it ends, of a step to Closed.
	Resolution Resolution
	// ClearedAt is when the cause was found gone, where that is new.
	ClearedAt time.Time
	// Proof is the launch that shows that the cause is gone.
	Proof *report.Launch
	// SettledAt is up to when late observations change nothing any more.
	SettledAt time.Time
	// By is the incident that says it from now on.
	By *report.Key
}

// None tells that there is no step.
func (t Transition) None() bool { return t.To == "" }

// ends is the step that closes an incident.
func ends(how Resolution) Transition {
	return Transition{To: Closed, Resolution: how, Reason: how.Reason()}
}

// proved is the end by a launch that joined.
func proved(by report.Launch) Transition {
	t := ends(Proved)
	t.Proof, t.SettledAt = &by, by.Ready
	return t
}

// Next is the step that an incident takes by what is known of it: the cause is
// gone, back, proved to be gone, or nobody came to prove it within proofTime.
// One step may open the way to another: who asks goes on until there is none.
func (inc Incident) Next(now time.Time, proofTime time.Duration) Transition {
	switch inc.State {
	case Open, Cleared, Pending:
	default:
		return Transition{}
	}
	k := inc.tally()
	switch {
	case k.failing > 0 && inc.AllEnded():
		return inc.proofSince(inc.Seen, now, proofTime)
	case k.failing > 0 && inc.State == Cleared:
		return Transition{To: Open, Reason: FailedAgain}
	case k.failing > 0:
		return Transition{}
	case inc.State == Pending: // never said, so there is nothing to take back
		return neverSaid(Withdrawn)
	case k.givenUp > 0:
		return ends(GivenUpOn)
	case k.absent == len(inc.Verdicts):
		return ends(Withdrawn)
	case inc.IsBlind(), inc.ByItself():
		t := ends(Proved)
		t.ClearedAt = k.last
		return t
	case inc.State == Open:
		return Transition{To: Cleared, Reason: CauseGone, ClearedAt: k.last}
	case inc.Replacing() && now.Sub(inc.Cleared) < ReplacementWait:
		return Transition{}
	}
	return inc.proofSince(inc.Cleared, now, proofTime)
}

// proofSince ends an incident by the launch that proves it, or after the time
// that one is waited for.
func (inc *Incident) proofSince(since, now time.Time, proofTime time.Duration) Transition {
	if launch, has := inc.FirstJoin(); has {
		return proved(launch)
	}
	if now.Sub(since) >= proofTime {
		return ends(Unproved)
	}
	return Transition{}
}

// neverSaid ends an incident that nobody was told of: nobody is told that it is over.
func neverSaid(how Resolution) Transition {
	return Transition{To: Closed, Resolution: how, Reason: NotYet}
}

// AfterClusterDeleted is the end of an incident whose cluster was found deleted at a
// time. What was observed before, and comes late, does not open it again.
func (inc Incident) AfterClusterDeleted(at time.Time) Transition {
	if inc.State == Closed || at.Before(inc.Seen) {
		return Transition{}
	}
	t := ends(ClusterDeleted)
	if inc.State == Pending {
		t = neverSaid(ClusterDeleted)
	}
	t.SettledAt = at
	return t
}

// AfterUnwatched is the end of an incident whose cluster is not watched any more, since a
// time. It is not called well: nobody looks. What was observed before, and comes late, does
// not open it again.
func (inc Incident) AfterUnwatched(at time.Time) Transition {
	if inc.State == Closed {
		return Transition{}
	}
	t := ends(Unwatched)
	if inc.State == Pending {
		t = neverSaid(Unwatched)
	}
	t.SettledAt = at
	return t
}

// AfterSilence is the end of an incident of which nothing was heard for long. It
// is not called well: nobody knows.
func (inc Incident) AfterSilence(now time.Time) Transition {
	if inc.State != Open && inc.State != Cleared || now.Sub(inc.Heard()) < MaxUnseen {
		return Transition{}
	}
	return ends(Unseen)
}

// SupersededBy is the end of an incident that another one explains since a look.
func SupersededBy(by report.Key, at time.Time) Transition {
	t := ends(Superseded)
	t.By, t.SettledAt = &by, at
	return t
}

// Apply makes a step.
func (inc *Incident) Apply(t Transition, now time.Time) {
	if t.None() {
		return
	}
	inc.State = t.To
	if !t.ClearedAt.IsZero() {
		inc.Cleared = t.ClearedAt
	}
	if !t.SettledAt.IsZero() {
		inc.Settled = t.SettledAt
	}
	switch t.To {
	case Open:
		inc.Cleared, inc.ClearedBy = time.Time{}, nil
		inc.OutdateOffers("the cause is back", IsReplacement)
	case Cleared:
		inc.OutdateOffers("the cause is gone", func(o Offer) bool { return !IsReplacement(o) })
	case Closed:
		if t.Proof != nil {
			inc.Proof = t.Proof
		}
		if t.By != nil {
			inc.By = t.By
		}
		inc.Resolution, inc.Resolved = t.Resolution, now
		inc.Times, inc.Joins = 0, nil
		inc.OutdateOffers("the incident is over", func(Offer) bool { return true })
	}
}

// tally counts the verdicts on what an incident covers.
type tally struct {
	failing, absent, givenUp int
	last                     time.Time
}

func (inc *Incident) tally() (k tally) {
	for _, v := range inc.Verdicts {
		switch {
		case inc.HasGivenUp(v.Of):
			k.givenUp++
		case v.Found == Failing:
			k.failing++
		case v.Found == Absent:
			k.absent++
		}
		if v.At.After(k.last) {
			k.last = v.At
		}
	}
	return k
}
