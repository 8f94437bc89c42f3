package state

import (
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
