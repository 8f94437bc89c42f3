package incident

import (
	"slices"
	"strings"
	"time"

	"rollcall/shared/checks"
	"rollcall/shared/checks/check"
	"rollcall/shared/report"
)

// Verdict is the newest that is known of one subnet or instance.
type Verdict struct {
	Of    string    `json:"of"`
	Found Found     `json:"found"`
	At    time.Time `json:"at"`
}

// Found is what an observation found.
type Found string

// What can be found. Absent is a pass of a kind: it is there no more.
const (
	Failing Found = "failing"
	Passing Found = "passing"
	Absent  Found = "absent"
)

// RecordVerdict records a verdict and tells whether it was the newest. Of two at the
// same time the failure counts.
func (inc *Incident) RecordVerdict(of string, found Found, at time.Time) bool {
	i, known := slices.BinarySearchFunc(inc.Verdicts, of, func(v Verdict, of string) int { return strings.Compare(v.Of, of) })
	if !known {
		inc.Verdicts = slices.Insert(inc.Verdicts, i, Verdict{Of: of, Found: found, At: at})
		if i, covered := slices.BinarySearch(inc.Covers, of); !covered {
			inc.Covers = slices.Insert(inc.Covers, i, of)
		}
		return true
	}
	have := inc.Verdicts[i]
	if at.Before(have.At) || at.Equal(have.At) && (found != Failing || have.Found == Failing) {
		return false
	}
	inc.Verdicts[i] = Verdict{Of: of, Found: found, At: at}
	return true
}

func (inc *Incident) VerdictOn(of string) (Verdict, bool) {
	for _, v := range inc.Verdicts {
		if v.Of == of {
			return v, true
		}
	}
	return Verdict{}, false
}

// AllEnded tells that all that the incident is about has ended: no later look
// can find it well, only another launch can show that it was not the rule.
func (inc *Incident) AllEnded() bool {
	if checks.Meaning(inc.Key.Check).Proof == check.Impossible {
		return true
	}
	if inc.IsSymptom() || inc.IsBlind() {
		return false
	}
	for _, cover := range inc.Covers {
		if l, kept := inc.KeptLaunch(cover); !kept || l.Status != report.Gone {
			return false
		}
	}
	return len(inc.Covers) > 0
}

// LastLook is when it was last looked at, as far as the look could tell of it.
func (inc Incident) LastLook() time.Time {
	last := inc.Seen
	for _, v := range inc.Verdicts {
		last = Later(last, v.At)
	}
	return last
}

// HasGivenUp tells that a symptom's instance is no longer looked at: it holds no
// incident open, as nothing more will be heard of it.
func (inc *Incident) HasGivenUp(cover string) bool {
	l, kept := inc.KeptLaunch(cover)
	return kept && l.Status == report.GivenUp && inc.IsSymptom()
}
