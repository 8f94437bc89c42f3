package vpc

import (
	"strings"

	"rollcall/shared/gather/source"
	"rollcall/shared/network/leak"
	"rollcall/shared/snapshot"
)

// holds tells that an interface proves that an instance of the account is
// there. Another account's instance is unknown to our EC2 and lives all the
// same (shared VPCs), so it proves nothing of what EC2 should know.
func holds(v *source.View, i snapshot.Interface) bool {
	account := v.Snapshot.Account
	if part := strings.Split(v.Snapshot.Cluster.ARN, ":"); account == "" && len(part) > 4 {
		account = part[4]
	}
	return i.Attached && i.Instance != "" && (account == "" || i.Account == "" || i.Account == account)
}

// tenantsOf are the clusters that an interface names: in the VPC CNI's tag, in
// that which Kubernetes' controllers and older VPC CNIs give, and in the
// description of the control plane's own (EKS user guide, "View Amazon EKS
// networking requirements": "Amazon EKS" and the cluster's name). EC2 says of
// those that no service manages them (RequesterManaged is false, the requester
// is EKS's role: as printed for re:Invent 2018, NET410), and most bear no tag: the
// description alone tells. Whoever else writes the like keeps interfaces from
// being deleted, no more. An empty name is nobody's.
func tenantsOf(i snapshot.Interface) []string {
	names := []string{i.Tags[leak.TagCluster]}
	for key := range i.Tags {
		if name, ok := strings.CutPrefix(key, "kubernetes.io/cluster/"); ok {
			names = append(names, name)
		}
	}
	if name, ok := strings.CutPrefix(i.Description, "Amazon EKS "); ok {
		names = append(names, name)
	}
	return source.Distinct(names)
}
