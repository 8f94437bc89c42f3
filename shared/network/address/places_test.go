package address

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"rollcall/shared/snapshot"
)

func TestPodSubnets(t *testing.T) {
	const a, b = "us-west-2a", "us-west-2b"
	at := func(id, zone string, free int, tags ...string) snapshot.Subnet {
		n := snapshot.Subnet{ID: id, VPC: "vpc-0a", Zone: zone, Free: free, Tags: map[string]string{}}
		for i := 0; i < len(tags); i += 2 {
			n.Tags[tags[i]] = tags[i+1]
		}
		return n
	}
	node := at("subnet-0node", a, 50)
	shut := at("subnet-0node", a, 50, discoveryTag, "0")
	tagged := at("subnet-0pods", a, 4000, discoveryTag, "1")
	const custom, label = "AWS_VPC_K8S_CNI_CUSTOM_NETWORK_CFG", "ENI_CONFIG_LABEL_DEF"
	byZone := map[string]string{custom: "true", label: "topology.kubernetes.io/zone"}
	config := func(name, subnet string) snapshot.ENIConfig {
		return snapshot.ENIConfig{Name: name, Subnet: subnet}
	}
	old := "amazon-k8s-cni:v1.20.4"
	own := Places{First: true, Further: []string{"subnet-0node"}}
	tests := []struct {
		name    string
		cni     snapshot.CNI
		node    snapshot.Subnet
		others  []snapshot.Subnet
		configs []snapshot.ENIConfig
		want    Places
	}{
		{"no tags", snapshot.CNI{}, node, []snapshot.Subnet{at("subnet-0b", a, 9000)}, nil, own},
		{"a tagged subnet of the zone, with more free", snapshot.CNI{}, node, []snapshot.Subnet{tagged}, nil, Places{First: true, Further: []string{"subnet-0pods", "subnet-0node"}}},
		{"of another zone, another VPC", snapshot.CNI{}, node, []snapshot.Subnet{at("subnet-0pods", b, 4000, discoveryTag, "1"), {ID: "subnet-0x", VPC: "vpc-0x", Zone: a, Tags: map[string]string{discoveryTag: "1"}}}, nil, own},
		{"switched off", snapshot.CNI{Env: map[string]string{"ENABLE_SUBNET_DISCOVERY": "false"}}, node, []snapshot.Subnet{tagged}, nil, own},
		{"the node's own is shut", snapshot.CNI{}, shut, []snapshot.Subnet{tagged}, nil, Places{Further: []string{"subnet-0pods"}}},
		{"shut, and no other", snapshot.CNI{}, shut, nil, nil, Places{Further: []string{}}},
		{"a value of 0 counts since 1.22.1 only", snapshot.CNI{Image: old}, shut, []snapshot.Subnet{at("subnet-0pods", a, 4000, discoveryTag, "0")}, nil, Places{First: true, Further: []string{"subnet-0pods", "subnet-0node"}}},
		{"for this cluster", snapshot.CNI{Env: map[string]string{"CLUSTER_NAME": "prod"}}, node, []snapshot.Subnet{at("subnet-0pods", a, 4000, discoveryTag, "1", clusterTagHead+"prod", "", clusterTagHead+"other", "")}, nil, Places{First: true, Further: []string{"subnet-0pods", "subnet-0node"}}},
		{"for another cluster", snapshot.CNI{Env: map[string]string{"CLUSTER_NAME": "prod"}}, node, []snapshot.Subnet{at("subnet-0pods", a, 4000, discoveryTag, "1", clusterTagHead+"other", "")}, nil, own},
		{"for another cluster, and aws-node knows no name", snapshot.CNI{}, node, []snapshot.Subnet{at("subnet-0pods", a, 4000, discoveryTag, "1", clusterTagHead+"other", "")}, nil, Places{First: true, Further: []string{"subnet-0pods", "subnet-0node"}}},
		{"the node's own without the tag is any cluster's", snapshot.CNI{Env: map[string]string{"CLUSTER_NAME": "prod"}}, at("subnet-0node", a, 50, clusterTagHead+"other", ""), nil, nil, own},
		{"custom networking by zone", snapshot.CNI{Env: byZone}, node, []snapshot.Subnet{tagged, at("subnet-0second", a, 1)}, []snapshot.ENIConfig{config(b, "subnet-0second"), config(a, "subnet-0pods")}, Places{Further: []string{"subnet-0pods"}}},
		{"by zone, and none for it", snapshot.CNI{Env: byZone}, node, []snapshot.Subnet{tagged}, []snapshot.ENIConfig{config(b, "subnet-0pods")}, Places{Further: []string{"subnet-0pods"}, Doubt: NoConfig}},
		{"by a label, one ENIConfig in the zone", snapshot.CNI{Env: map[string]string{custom: "true"}}, node, []snapshot.Subnet{tagged, at("subnet-0far", b, 10)}, []snapshot.ENIConfig{config("blue", "subnet-0pods"), config("green", "subnet-0pods"), config("far", "subnet-0far")}, Places{Further: []string{"subnet-0pods"}}},
		{"by a label, two subnets", snapshot.CNI{Env: map[string]string{custom: "true"}}, node, []snapshot.Subnet{tagged, at("subnet-0second", a, 1)}, []snapshot.ENIConfig{config("blue", "subnet-0pods"), config("default", "subnet-0second")}, Places{Further: []string{"subnet-0pods", "subnet-0second"}, Doubt: NodesChoose}},
		{"custom networking without ENIConfigs", snapshot.CNI{Env: map[string]string{custom: "true"}}, node, nil, nil, Places{Further: []string{}, Doubt: NoConfig}},
		{"an ENIConfig to a subnet that was not read", snapshot.CNI{Env: map[string]string{custom: "true"}}, node, nil, []snapshot.ENIConfig{config("default", "subnet-0gone")}, Places{Further: []string{}, Doubt: NoConfig}},
		{"custom networking goes before discovery", snapshot.CNI{Env: byZone}, shut, []snapshot.Subnet{tagged, at("subnet-0second", a, 1)}, []snapshot.ENIConfig{config(a, "subnet-0second")}, Places{Further: []string{"subnet-0second"}}},
		{"IPv6", snapshot.CNI{Env: map[string]string{"ENABLE_IPv6": "true"}}, node, []snapshot.Subnet{tagged}, nil, Places{}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := SettingsOf(&tt.cni).PodSubnets(tt.node, append([]snapshot.Subnet{tt.node}, tt.others...), tt.configs)
			if diff := cmp.Diff(got, tt.want); diff != "" {
				t.Errorf("PodSubnets (-got +want):\n%s", diff)
			}
		})
	}
}
