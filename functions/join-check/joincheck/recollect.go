package joincheck

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"rollcall/shared/checks"
	"rollcall/shared/detect"
	"rollcall/shared/diagnose"
	"rollcall/shared/node/outcome"
	"rollcall/shared/snapshot"
	"rollcall/shared/state"
)

// lately is how far back the history goes that the checks of a launch see: a
// burst is over in minutes.
const lately = time.Hour

// learn reads how long a cluster's launches have to join. Where it cannot be
// read the setting counts.
func (h handler) learn(ctx context.Context, cluster string) detect.Learned {
	learned, err := detect.Learn(ctx, h.memory, cluster, h.joinTime, h.now())
	if err != nil {
		h.log.WarnContext(ctx, "could not read how long nodes take to join: the setting counts", "cluster", cluster, "error", err.Error())
		h.count("JoinTimesUnread", 1)
	}
	return learned
}

// recollect puts the launches of the last hour into the snapshot, and what the
// subnets of the scope had. It gives the instance types of those launches.
func (h handler) recollect(ctx context.Context, s *snapshot.Snapshot) []string {
	since := s.Time.Add(-lately)
	history, err := h.memory.History(ctx, s.Cluster.Name, since)
	s.History = history
	for _, subnet := range s.Scope.Subnets {
		samples, failed := h.memory.Samples(ctx, subnet, since)
		s.Samples = append(s.Samples, samples...)
		err = errors.Join(err, failed)
	}
	if err != nil {
		s.Failures[snapshot.LaunchHistory] = unrecalled(err)
	} else {
		s.Read[snapshot.LaunchHistory] = true
	}
	var types []string
	for _, p := range history {
		types = append(types, p.Type)
	}
	return unique(types)
}

// unrecalled is a history that could not be read in full.
func unrecalled(err error) snapshot.Failure {
	f := snapshot.Failure{Source: snapshot.LaunchHistory, Reason: snapshot.Broken, Call: "dynamodb:Query", Message: err.Error()}
	var limit *state.AtLimit
	switch {
	case errors.As(err, &limit):
		f.Reason, f.Code = snapshot.Throttled, limit.Code
	case errors.Is(err, context.DeadlineExceeded):
		f.Reason = snapshot.TimedOut
	}
	return f
}

// hadJoined corrects the verdict on instances that are gone, and whose nodes
// went with them, where Kubernetes' events tell that they had been Ready.
func hadJoined(entries []entry, verdicts []outcome.Verdict, s *snapshot.Snapshot) {
	if !s.Has(snapshot.NodeEventsOf) {
		return
	}
	for i, e := range entries {
		if verdicts[i].Standing != outcome.Gone || e.instance == nil {
			continue
		}
		registered, ready, _ := checks.Trace(s, e.instance)
		verdicts[i].Registered = registered
		if !ready.IsZero() {
			verdicts[i].Standing, verdicts[i].Ready = outcome.Joined, ready
		}
	}
}

// known are the facts that this look adds to a launch.
func known(e entry, v outcome.Verdict, s *snapshot.Snapshot, root outcome.Root) outcome.Facts {
	f := outcome.Facts{Registered: v.Registered, Ready: v.Ready}
	seen := !v.Blind && !s.Time.Before(e.launch.Due)
	switch v.Standing {
	case outcome.Joined:
		if f.Ready.IsZero() {
			f.Ready = s.Time // Ready, and since when it does not say
		}
		if e.instance != nil && e.instance.Ended() {
			f = outcome.Merge(f, end(e.instance))
		}
	case outcome.Gone:
		f = outcome.Merge(f, gone(e, s))
		if !e.launch.Missed.IsZero() && root.Check != endedEarly {
			f.Root = root
		}
	case outcome.Missed, outcome.GivenUp:
		if v.Standing == outcome.GivenUp {
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

const endedEarly = "instance/ended-early"

// gone are the facts of an instance that has ended.
func gone(e entry, s *snapshot.Snapshot) outcome.Facts {
	if e.instance == nil {
		return outcome.Facts{Forgotten: s.Time}
	}
	f := end(e.instance)
	f.Over = s.Time
	f = outcome.Merge(f, endedBy(e.instance, s))
	// Its node is gone with it: what was not seen while it was there only
	// Kubernetes' events tell.
	brief := !f.Ended.IsZero() && f.Ended.Sub(e.launch.Started) < outcome.Shortest
	switch _, _, perhaps := checks.Trace(s, e.instance); {
	case brief:
	case !s.Read[snapshot.Nodes]:
		f.Unseen = blindness(s)
	case !s.Has(snapshot.NodeEventsOf):
		f.Unseen = couldNot(s.Why(snapshot.NodeEventsOf))
	case s.Time.Sub(e.launch.Started) > eventsKept:
		f.Unseen = "nobody looked for an hour, and Kubernetes keeps events no longer"
	case perhaps:
		f.Unseen = "a node registered meanwhile whose name nobody knows any more"
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

// eventsKept is how long Kubernetes keeps events (kube-apiserver --event-ttl, an
// hour; EKS leaves it at that).
const eventsKept = time.Hour

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
				all[id] = outcome.Root{Check: string(c.Check), Sure: c.Confidence == checks.Certain, At: now}
			}
		}
	}
	return all
}

// losing tells that an instance has ended that had joined not long before, and
// that nobody has taken it down yet.
func losing(l state.Launch, in *snapshot.Instance) bool {
	return in != nil && in.Ended() && l.Losing(in.StateReason.When)
}
