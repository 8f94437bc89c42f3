// Package deleteleakedinterfaces gives back the addresses of interfaces that dead
// nodes left behind. remediate plans it; eni-cleanup deletes them, each by all of
// its own rules.
package deleteleakedinterfaces

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"rollcall/shared/network/leak"
	"rollcall/shared/remedy"
	"rollcall/shared/remedy/action"
	"rollcall/shared/remedy/optin"
	"rollcall/shared/snapshot"
	"rollcall/shared/spec"
)

// Remedy is the remedy.
func Remedy() action.Remedy[remedy.DeleteLeakedInterfaces, any] {
	return action.Remedy[remedy.DeleteLeakedInterfaces, any]{
		Name:    optin.DeleteLeakedInterfaces,
		Sources: []snapshot.Source{snapshot.Clusters, snapshot.Usage, snapshot.Unattached, snapshot.CreatorsOf},
		More:    action.More{Sightings: true},
		Plan:    func(l action.Look) (*remedy.DeleteLeakedInterfaces, *action.Refusal) { return look{l}.plan() },
	}
}

// Calls are what eni-cleanup asks of AWS.
type Calls interface {
	// DeleteNetworkInterface deletes an interface, or, in a dry run, asks EC2 whether
	// it would.
	DeleteNetworkInterface(ctx context.Context, id string, dryRun bool) action.Answer
}

// listed is how many clusters a statement names at most: with the longest names
// that EKS takes (100 characters) they are 2,100 characters, so that a
// statement fits into a managed policy, which takes 6,144.
const listed = 20

// Grants allow eni-cleanup to delete what nodes of these clusters left behind,
// and in the VPCs what names no cluster. EC2 itself then refuses what is not the
// VPC CNI's, or of another cluster, whatever a fault in our code asks for.
//
// Both condition keys count for a network interface that is deleted:
// aws:ResourceTag in AWS's own policies (AmazonWorkSpacesWebServiceRolePolicy,
// AmazonEKSServiceRolePolicy), ec2:Vpc by the service authorization reference
// of EC2, as mirrored in udondan/iam-floyd (ec2.ts, ifVpc).
func Grants(clusters, untagged []string) []spec.Grant {
	const tag = "aws:ResourceTag/"
	grant := spec.Grant{
		Why:     "Deleting interfaces of terminated nodes frees their addresses. EC2's dry run needs the permission too.",
		Actions: []string{"ec2:DeleteNetworkInterface"},
		// An interface has its id only when it is there.
		Resources: []spec.Resource{"arn:${Partition}:ec2:${Region}:${Account}:network-interface/*"},
	}
	var grants []spec.Grant
	for names := range slices.Chunk(clusters, listed) {
		grant.Sid = "DeleteLeakedInterfaces"
		if n := len(grants); n > 0 {
			grant.Sid = action.Numbered(grant.Sid, n)
		}
		grant.Conditions = map[string]map[string][]string{
			"StringLike":   {tag + leak.TagInstance: {"i-*"}},
			"StringEquals": {tag + leak.TagCluster: names},
		}
		grants = append(grants, grant)
	}
	if len(untagged) == 0 {
		return grants
	}
	var vpcs []string
	for _, id := range untagged {
		// A shared VPC bears its owner's account.
		vpcs = append(vpcs, "arn:${Partition}:ec2:${Region}:*:vpc/"+id)
	}
	grant.Sid = "DeleteLeakedInterfacesWithoutCluster"
	grant.Why = "The VPC CNI without CLUSTER_NAME names no cluster; the operator opted these VPCs in."
	grant.Conditions = map[string]map[string][]string{
		"StringLike": {tag + leak.TagInstance: {"i-*"}},
		"Null":       {tag + leak.TagCluster: {"true"}},
		"ArnLike":    {"ec2:Vpc": vpcs},
	}
	return append(grants, grant)
}

// NotSeenTwice is that no interface was seen left behind by an earlier run.
const NotSeenTwice remedy.Reason = "not-seen-twice"

// MostInterfaces is how many interfaces one plan names: an approval must be
// small enough to be kept with its incident. The next plan has the others.
const MostInterfaces = 200

// look is one look at the world, for this remedy.
type look struct{ action.Look }

// plan plans to give back what dead nodes left behind in a subnet. It is
// strict where eni-cleanup may be told to be less so: only what names this
// cluster. eni-cleanup asks all of its rules again.
func (l look) plan() (*remedy.DeleteLeakedInterfaces, *action.Refusal) {
	ground := leak.Ground{
		Now: l.Snapshot.Time, Account: l.Snapshot.Account, VPC: l.Snapshot.Cluster.VPC, Clusters: []string{l.Subject.Cluster},
		Grace: l.Snapshot.Cleanup.Grace, Tenants: l.Snapshot.Tenants, Creators: map[string]snapshot.Creator{},
	}
	for _, c := range l.Snapshot.Creators {
		ground.Creators[c.Instance] = c
	}
	var dead []leak.Verdict
	unseen, young, here := 0, 0, 0
	for _, i := range l.Snapshot.Idle {
		if i.Subnet != l.Subject.Resource {
			continue
		}
		here++
		v := leak.Judge(i, ground)
		if v.Why == leak.TooYoung && v.Cluster == l.Subject.Cluster {
			young++
		}
		if v.Why != leak.Leaked || v.Cluster != l.Subject.Cluster {
			continue
		}
		s := l.Subject.Sightings[i.ID]
		// A sighting that was never written down, or is none, has no version.
		if s.Version == 0 || s.Print == "" || s.Print != leak.Print(i) || l.Snapshot.Time.Sub(s.First) < leak.Apart {
			unseen++
			continue
		}
		dead = append(dead, v)
	}
	switch {
	case len(dead) == 0 && unseen > 0:
		return nil, action.Refuse(NotSeenTwice, "%d interfaces look leaked in %s, but no earlier run of eni-cleanup has seen them like this.", unseen, l.Subject.Resource)
	case len(dead) == 0:
		return nil, action.Refuse(remedy.NothingToDo, "None of %d idle interfaces in %s was leaked by a terminated node of %s.", here, l.Subject.Resource, l.Subject.Cluster)
	}
	slices.SortFunc(dead, func(a, b leak.Verdict) int {
		// Those of one node bear the same time.
		return cmp.Or(a.Created.Compare(b.Created), cmp.Compare(a.Interface.ID, b.Interface.ID))
	})
	c := &remedy.DeleteLeakedInterfaces{VPC: l.Snapshot.Cluster.VPC, Subnet: l.Subject.Resource}
	for _, v := range dead[:min(len(dead), MostInterfaces)] {
		c.Interfaces = append(c.Interfaces, v.Interface.ID)
		c.Addresses += leak.Draft(v, leak.Sighting{}, "", l.Snapshot.Time).Addresses()
	}
	slices.Sort(c.Interfaces)
	c.Held = held(young, unseen, len(dead)-len(c.Interfaces), max(ground.Grace, leak.LeastGrace))
	return c, nil
}

// held is how many interfaces look left behind and are held back, and why: those younger
// than the grace period, those that one look alone has seen so, those beyond one plan.
func held(young, unseen, beyond int, grace time.Duration) string {
	var why []string
	for _, h := range []struct {
		n   int
		why string
	}{
		{young, fmt.Sprintf("younger than %d min", int(grace.Minutes()))},
		{unseen, "seen by only one run"},
		{beyond, "over the limit of one plan"},
	} {
		if h.n > 0 {
			why = append(why, fmt.Sprintf("%d %s", h.n, h.why))
		}
	}
	switch of := young + unseen + beyond; len(why) {
	case 0:
		return ""
	case 1:
		return fmt.Sprintf("%d more held back, %s.", of, strings.TrimPrefix(why[0], fmt.Sprint(of, " ")))
	default:
		return fmt.Sprintf("%d more held back: %s.", of, strings.Join(why, ", "))
	}
}
