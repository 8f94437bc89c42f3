package gather

import (
	"cmp"
	"slices"
	"strings"

	"rollcall/shared/gather/vpc"
	"rollcall/shared/snapshot"
)

// vpcsOf are the VPCs to look into: the cluster's, and others in which nodes
// of the scope are, as self-managed nodes can be.
func vpcsOf(s *snapshot.Snapshot, q Query) []string {
	ids := []string{cmp.Or(s.Cluster.VPC, q.VPC)}
	if ids[0] == "" {
		return nil
	}
	for _, i := range s.Instances {
		if i.VPC != "" && slices.Contains(s.Scope.Instances, i.ID) && !slices.Contains(ids, i.VPC) && len(ids) <= vpc.MaxFurther {
			ids = append(ids, i.VPC)
		}
	}
	return ids
}

// ClusterOf tells which cluster an instance belongs to by its tags, strongest
// first: EKS's own, EKS's system tag on nodes, then the tags that Kubernetes
// and the autoscalers use, which other distributions use too.
func ClusterOf(tags map[string]string) (cluster string, ok bool) {
	for _, key := range []string{"eks:cluster-name", "aws:eks:cluster-name", "eks:eks-cluster-name", "alpha.eksctl.io/cluster-name"} {
		if v := tags[key]; v != "" {
			return v, true
		}
	}
	for _, prefix := range []string{"kubernetes.io/cluster/", "k8s.io/cluster/", "k8s.io/cluster-autoscaler/"} {
		var names []string
		for key := range tags {
			if name, found := strings.CutPrefix(key, prefix); found && name != "" && name != "enabled" && !strings.Contains(name, "/") {
				names = append(names, name)
			}
		}
		if len(names) > 0 {
			return slices.Min(names), true
		}
	}
	return "", false
}
