package gather

import (
	"context"
	"fmt"
	"slices"
	"time"

	gatherec2 "rollcall/shared/gather/ec2"
	"rollcall/shared/gather/ec2api"
	"rollcall/shared/snapshot"
)

// lingers is how long a node may be silent whose instance is not shown before
// that is said: one that has just ended leaves its node behind for some minutes,
// and is no longer in its VPC, which is where a capture lists instances.
const lingers = time.Hour

// NamedByNodes are the instances that the cluster's nodes name and the snapshot
// does not hold, each with the node that names it. A node whose kubelet has just
// fallen silent is left out: its instance may have ended.
func NamedByNodes(s *snapshot.Snapshot) map[string]string {
	named := map[string]string{}
	for _, n := range s.Nodes {
		justSilent := n.Ready.Status == "Unknown" && s.Time.Sub(n.Ready.Since) < lingers
		if n.Instance != "" && !justSilent {
			named[n.Instance] = "node " + n.Name
		}
	}
	return unheld(s, named)
}

// launches is how long EC2 may take to show an instance that a NodeClaim names, and a
// node to join: the join time of a cluster without a history.
const launches = 5 * time.Minute

// NamedByClaims are the instances that NodeClaims launched, that are no nodes, and that
// are not held, each with the NodeClaim that names it.
func NamedByClaims(s *snapshot.Snapshot, held []snapshot.Instance) map[string]string {
	named := map[string]string{}
	for _, c := range s.NodeClaims {
		if c.Instance != "" && !c.Deleting && s.Time.Sub(c.Conditions["Launched"].Since) >= launches {
			named[c.Instance] = "NodeClaim " + c.Name
		}
	}
	for _, in := range held {
		delete(named, in.ID)
	}
	for _, n := range s.Nodes {
		delete(named, n.Instance)
	}
	return unheld(s, named)
}

// NamedByVolumes are the instances that volumes are attached to and the snapshot
// does not hold, each with the volume that names it.
func NamedByVolumes(s *snapshot.Snapshot) map[string]string {
	named := map[string]string{}
	for _, v := range s.Volumes {
		for _, id := range v.Attached {
			named[id] = "volume " + v.ID
		}
	}
	return unheld(s, named)
}

func unheld(s *snapshot.Snapshot, named map[string]string) map[string]string {
	for _, in := range s.Instances {
		delete(named, in.ID)
	}
	return named
}

// Unshown asks EC2 for instances that something names (by id, with what names
// each), and notes those that it does not show as missing from the snapshot's
// instances. EC2 shows an instance of this account for an hour after its end: one
// that is not shown is hidden (an AWS service manages it), of another account, or
// long gone, and nothing can be said of it.
func (r *Reader) Unshown(ctx context.Context, s *snapshot.Snapshot, named map[string]string) {
	var ids []string
	for id := range named {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	whole := ec2api.InstanceIDs()
	asked := slices.DeleteFunc(slices.Clone(ids), func(id string) bool { return !whole.MatchString(id) })
	ctx, cancel := context.WithTimeout(ctx, r.patience)
	defer cancel()
	states, err := gatherec2.StatesOf(ctx, r.ec2, asked)
	for _, id := range ids {
		switch {
		case err != nil && slices.Contains(asked, id):
			s.Lack(snapshot.Instances, id, *known(snapshot.Instances).Failure(err))
		case states[id] == "":
			s.Lack(snapshot.Instances, id, snapshot.Failure{
				Source: snapshot.Instances, Reason: snapshot.NotShown, Call: known(snapshot.Instances).Call(),
				Message: fmt.Sprintf("%s names %s, which EC2 does not show: it is hidden (an AWS service manages it), of another account, or gone", named[id], id),
			})
		}
	}
}
