package state

import (
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	ekstypes "github.com/aws/aws-sdk-go-v2/service/eks/types"
)

// IDOfRole is the id that a role has now, by its ARN; "" for what is no role or is not there.
func (w *State) IDOfRole(arn string) string {
	if w.RoleID != nil {
		if id, there := w.RoleID(arn); there {
			return id
		}
	}
	if r := w.Roles.Get(arn[strings.LastIndex(arn, "/")+1:]); r != nil && aws.ToString(r.Arn) == arn {
		return aws.ToString(r.RoleId)
	}
	return ""
}

// Admits reports whether an access entry is of the role that its ARN names now: "If you
// don't delete the access entry and ever recreate the IAM principal, even if it has the same
// ARN, the access entry won't work", as EKS keeps the role's id with it (EKS API reference,
// AccessEntry, "principalArn").
func (w *State) Admits(a *ekstypes.AccessEntry) bool {
	id := w.EntryIDs[NodegroupKey(aws.ToString(a.ClusterName), aws.ToString(a.PrincipalArn))]
	return id == "" || id == w.IDOfRole(aws.ToString(a.PrincipalArn))
}

// AdmitsAutoRole reports whether EKS Auto Mode takes a role for the nodes of a NodeClass: the
// cluster has an access entry of type EC2 of it, with AmazonEKSAutoNodePolicy for all of the
// cluster (EKS user guide, "Create a Node Class for Amazon EKS"). Auto Mode looks for the entry
// by the role's name, without a path (aws/containers-roadmap#2486).
func (w *State) AdmitsAutoRole(cluster, name string) bool {
	key := NodegroupKey(cluster, "arn:aws:iam::"+w.Account+":role/"+name)
	e := w.AccessEntries.Get(key)
	return e != nil && aws.ToString(e.Type) == "EC2" && w.Admits(e) && w.HasAutoPolicy(key)
}

// HasAutoPolicy reports whether an access entry gives the rights of Auto Mode's nodes.
func (w *State) HasAutoPolicy(entry string) bool {
	return slices.ContainsFunc(w.AccessPolicies[entry], func(p ekstypes.AssociatedAccessPolicy) bool {
		return strings.HasSuffix(aws.ToString(p.PolicyArn), ":cluster-access-policy/AmazonEKSAutoNodePolicy") && (p.AccessScope == nil || p.AccessScope.Type != ekstypes.AccessScopeTypeNamespace)
	})
}
