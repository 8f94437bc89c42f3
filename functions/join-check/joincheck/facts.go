package joincheck

import (
	"fmt"
	"strings"
	"time"

	"rollcall/shared/checkid"
	"rollcall/shared/checks"
	"rollcall/shared/diagnose"
	"rollcall/shared/node/outcome"
	"rollcall/shared/snapshot"
	"rollcall/shared/store"
)

// correctJoined corrects the verdict on instances that are gone, and whose nodes
// went with them, where Kubernetes' events tell that they had been Ready.
func correctJoined(entries []entry, verdicts []outcome.Verdict, s *snapshot.Snapshot) {
	if !s.Has(snapshot.NodeEventsOf) {
		return
	}
	for i, e := range entries {
		if verdicts[i].Status != outcome.Gone || e.instance == nil {
			continue
		}
		registered, ready, _ := checks.Trace(s, e.instance)
		verdicts[i].Registered = registered
		if !ready.IsZero() {
			verdicts[i].Status, verdicts[i].Ready = outcome.Joined, ready
		}
	}
}

// known are the facts that this look adds to a launch.
func known(e entry, v outcome.Verdict, s *snapshot.Snapshot, root outcome.Root) outcome.Facts {
	f := outcome.Facts{Registered: v.Registered, Ready: v.Ready}
	seen := !v.Blind && !s.Time.Before(e.launch.Due)
	switch v.Status {
	case outcome.Joined:
		switch {
		case v.Reason == outcome.Tagged:
			f.Tagged = s.Time
		case f.Ready.IsZero():
			f.Ready = s.Time // Ready, and since when it does not say
		}
		if e.instance != nil && e.instance.Ended() {
			f = outcome.Merge(f, end(e.instance))
		}
	case outcome.Gone:
		f = outcome.Merge(f, gone(e, v.Reason, s))
		if !e.launch.Missed.IsZero() && root.Check != endedEarly {
			f.Root = root
		}
	case outcome.Missed, outcome.GivenUp:
		if v.Status == outcome.GivenUp {
			f.GivenUp = s.Time
		}
		if seen {
			// Missed when the look ended: the nodes are read after the instances, and
			// the node of one that ended in between is gone.
			f.Missed, f.Alive, f.Root = s.Taken, s.Time, root
		} else {
			f.Blind = blindness(s)
		}
	}
	return f
}

const endedEarly = checkid.InstanceEndedEarly

// gone are the facts of an instance that has ended.
func gone(e entry, why outcome.Reason, s *snapshot.Snapshot) outcome.Facts {
	if e.instance == nil {
		return outcome.Facts{Forgotten: s.Time}
	}
	f := end(e.instance)
	f.Over = s.Time
	f = outcome.Merge(f, endedBy(e.instance, s))
	// Its node is gone with it: what was not seen while it was there only
	// Kubernetes' events tell.
	brief := !f.Ended.IsZero() && f.Ended.Sub(e.launch.Started) < outcome.Shortest
	registered, _, past := checks.Trace(s, e.instance)
	// The event of a Ready node is kept as long as that of its registration: where
	// this is there and that is not, it was not Ready when it ended.
	early := !f.Ended.IsZero() && f.Ended.Before(e.launch.Due)
	unready := early && !registered.IsZero() && s.Has(snapshot.NodeEventsOf) && s.Time.Sub(e.launch.Started) <= checks.EventsKept
	switch {
	case brief, why == outcome.Untagged, past == checks.Never, unready:
	case past == checks.Served:
		f.Unseen = "it was a node, and nobody saw whether it became Ready"
	case !s.Read[snapshot.Nodes]:
		f.Unseen = blindness(s)
	case !s.Has(snapshot.NodeEventsOf):
		f.Unseen = couldNot(s.Why(snapshot.NodeEventsOf))
	case s.Time.Sub(e.launch.Started) > checks.EventsKept:
		f.Unseen = "nobody looked for an hour, and Kubernetes keeps events no longer"
	default:
		f.Unseen = "it was in a warm pool, or a node registered meanwhile whose name is not known any more"
	}
	return f
}

// endedBy is what the activities of an instance's group tell of its end.
func endedBy(in *snapshot.Instance, s *snapshot.Snapshot) (f outcome.Facts) {
	for _, a := range s.Activities {
		if a.Instance == in.ID && strings.HasPrefix(a.About, "Terminating") {
			f.By, f.Over = a.Cause, earliest(f.Over, a.Started)
		}
	}
	return f
}

func earliest(a, b time.Time) time.Time {
	if a.IsZero() || b.Before(a) {
		return b
	}
	return a
}

// end is how an instance ended, as EC2 tells it.
func end(in *snapshot.Instance) outcome.Facts {
	return outcome.Facts{
		Ended:  in.StateReason.When,
		Reason: outcome.EndReason{Code: in.StateReason.Code, Message: in.StateReason.Message},
	}
}

func blindness(s *snapshot.Snapshot) string {
	for _, source := range []snapshot.Source{snapshot.Instances, snapshot.Nodes} {
		if f, failed := s.Failures[source]; failed {
			return couldNot(f)
		}
	}
	return "the nodes were not read"
}

func couldNot(f snapshot.Failure) string {
	return fmt.Sprintf("the %s could not be read: %s %s", f.Source, f.Call, f.Reason)
}

// roots are the causes that explain launches, by instance: of each the first
// that is certain or likely.
func roots(causes []diagnose.Cause, now time.Time) map[string]outcome.Root {
	all := map[string]outcome.Root{}
	for _, c := range causes {
		if c.Confidence != checks.Certain && c.Confidence != checks.Likely {
			continue
		}
		for _, id := range c.Instances {
			if _, told := all[id]; !told {
				all[id] = outcome.Root{Check: c.Check, Sure: c.Confidence == checks.Certain, At: now}
			}
		}
	}
	return all
}

// losing tells that an instance has ended that had joined not long before, and
// that nobody has taken it down yet.
func losing(l store.LaunchRecord, in *snapshot.Instance) bool {
	return in != nil && in.Ended() && l.Losing(in.StateReason.When)
}
