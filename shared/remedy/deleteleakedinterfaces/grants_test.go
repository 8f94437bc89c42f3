package deleteleakedinterfaces

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"rollcall/shared/spec"
)

// EC2 itself refuses what is not the VPC CNI's, and what is another cluster's.
func TestGrants(t *testing.T) {
	named := func(sid string, clusters ...string) spec.Grant {
		return spec.Grant{
			Sid: sid, Why: "Interfaces of dead nodes give their addresses back. EC2's dry run takes the permission too.",
			Actions: []string{"ec2:DeleteNetworkInterface"}, Resources: []spec.Resource{"arn:${Partition}:ec2:${Region}:${Account}:network-interface/*"},
			Conditions: map[string]map[string][]string{
				"StringLike":   {"aws:ResourceTag/node.k8s.amazonaws.com/instance_id": {"i-*"}},
				"StringEquals": {"aws:ResourceTag/cluster.k8s.amazonaws.com/name": clusters},
			},
		}
	}
	unnamed := spec.Grant{
		Sid: "DeleteLeakedInterfacesWithoutCluster", Why: "The VPC CNI without CLUSTER_NAME names no cluster; the operator opted these VPCs in.",
		Actions: []string{"ec2:DeleteNetworkInterface"}, Resources: []spec.Resource{"arn:${Partition}:ec2:${Region}:${Account}:network-interface/*"},
		Conditions: map[string]map[string][]string{
			"StringLike": {"aws:ResourceTag/node.k8s.amazonaws.com/instance_id": {"i-*"}},
			"Null":       {"aws:ResourceTag/cluster.k8s.amazonaws.com/name": {"true"}},
			"ArnLike":    {"ec2:Vpc": {"arn:${Partition}:ec2:${Region}:*:vpc/vpc-0a"}},
		},
	}
	var many []string
	for n := range 21 {
		many = append(many, fmt.Sprintf("c%02d", n))
	}
	for _, test := range []struct {
		name               string
		clusters, untagged []string
		want               []spec.Grant
	}{
		{"nobody", nil, nil, nil},
		{"two clusters", []string{"dev", "prod"}, nil, []spec.Grant{named("DeleteLeakedInterfaces", "dev", "prod")}},
		{"more than a statement holds", many, nil, []spec.Grant{named("DeleteLeakedInterfaces", many[:20]...), named("DeleteLeakedInterfaces2", "c20")}},
		{"a VPC without a cluster's name", []string{"prod"}, []string{"vpc-0a"}, []spec.Grant{named("DeleteLeakedInterfaces", "prod"), unnamed}},
	} {
		if diff := cmp.Diff(test.want, Grants(test.clusters, test.untagged)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.name, diff)
		}
	}
}
