package inspect

import (
	"time"

	"rollcall/shared/outcome"
	"rollcall/shared/report"
	"rollcall/shared/snapshot"
	"rollcall/shared/state"
)

// Launch is an instance's launch as report knows it, not due yet.
func Launch(in snapshot.Instance, started time.Time) report.Launch {
	return report.Launch{
		Instance: in.ID, Nodegroup: NodegroupOf(in), Group: GroupOf(in),
		Subnet: in.Subnet, Zone: in.Zone, Type: in.Type,
		Started: started, Standing: outcome.Waiting,
	}
}

// Record is a launch as it is remembered.
func Record(cluster string, l report.Launch, joinTime time.Duration) state.Launch {
	return state.Launch{
		Instance: l.Instance, Cluster: cluster, Nodegroup: l.Nodegroup, Group: l.Group,
		Subnet: l.Subnet, Zone: l.Zone, Type: l.Type,
		Started: l.Started, Due: l.Started.Add(joinTime), Standing: l.Standing,
		Registered: l.Registered, Ready: l.Ready, Ended: l.Ended, EndedWhy: l.EndedWhy,
	}
}

// Recall fills in what EC2 forgets of an instance that has ended: where it was.
func Recall(in snapshot.Instance, l state.Launch) snapshot.Instance {
	if in.Subnet == "" {
		in.Subnet = l.Subnet
	}
	if in.Zone == "" {
		in.Zone = l.Zone
	}
	return in
}
