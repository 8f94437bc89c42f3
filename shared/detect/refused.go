package detect

import (
	"cmp"
	"time"

	"rollcall/shared/checkid"
	"rollcall/shared/node/activity"
	"rollcall/shared/node/outcome"
	"rollcall/shared/snapshot"
	"rollcall/shared/store"
)

// Refused is the record of a launch that came to nothing, by the scaling
// activity that tells of it; false for an activity that is none. The same
// activity is the same record, whether its event or a sweep brought it. One
// that names an instance is that instance's launch.
func Refused(cluster string, g snapshot.Group, a snapshot.Activity, allowed outcome.Allowance) (store.LaunchRecord, bool) {
	text := activity.Reason(a.About, a.Message)
	if a.ID == "" || !activity.Launching(a.About, a.Message) || activity.StatusOf(a.Status, text) != activity.Failed {
		return store.LaunchRecord{}, false
	}
	v := activity.Classify(text)
	if a.Instance != "" && v.Class == checkid.LaunchUnclassified {
		return store.LaunchRecord{}, false // it was there, and EC2 says how it ended
	}
	started := a.Started
	if started.IsZero() {
		started = a.Ended
	}
	l := store.LaunchRecord{
		Launch:   outcome.Launch{Instance: a.Instance, Nodegroup: g.Owner(), Group: g.Name, Subnet: cmp.Or(a.Subnet, v.Named.Subnet), Zone: a.Zone, Started: started},
		Activity: a.ID,
		Cluster:  cluster,
		Due:      started.Add(allowed.For),
	}
	l.Learn(refusedFor(v, text))
	return l, true
}

func refusedFor(v activity.Verdict, text string) outcome.Facts {
	return outcome.Facts{Refused: v.Class, Reason: outcome.EndReason{Message: activity.Clean(text)}}
}

// recent is how long a failed launch is looked for among the scaling
// activities: a sweep comes every five minutes.
const recent = time.Hour

// RefusedOf are the refused launches of the last hour that the groups' scaling
// activities tell of, oldest first as they were read.
func RefusedOf(cluster string, s *snapshot.Snapshot, learned Learned) []store.LaunchRecord {
	groups := map[string]snapshot.Group{}
	for _, g := range s.Groups {
		groups[g.Name] = g
	}
	var list []store.LaunchRecord
	for _, a := range s.Activities {
		g, ours := groups[a.Group]
		if !ours {
			continue
		}
		if l, refused := Refused(cluster, g, a, learned.Allow(g.Owner())); refused && s.Time.Sub(l.Started) <= recent {
			list = append(list, l)
		}
	}
	return list
}
