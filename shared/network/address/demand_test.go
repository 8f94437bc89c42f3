package address

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"rollcall/shared/snapshot"
)

func TestAtStart(t *testing.T) {
	tests := []struct {
		name  string
		of    snapshot.InstanceType
		want  Demand
		total int
	}{
		{"m5.4xlarge: the 60 of the Spot story", snapshot.InstanceType{Name: "m5.4xlarge", Interfaces: 8, IPv4PerInterface: 30}, Demand{Own: 1, First: 30, Warm: 30}, 60},
		{"t3.nano", snapshot.InstanceType{Name: "t3.nano", Interfaces: 2, IPv4PerInterface: 2}, Demand{Own: 1, First: 2, Warm: 2}, 4},
		{"one interface only", snapshot.InstanceType{Interfaces: 1, IPv4PerInterface: 10}, Demand{Own: 1, First: 10}, 10},
		{"a type that nothing is known of", snapshot.InstanceType{}, Demand{Own: 1, First: 1}, 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := AtStart(tt.of)
			if diff := cmp.Diff(got, tt.want); diff != "" {
				t.Errorf("AtStart (-got +want):\n%s", diff)
			}
			if got.Total() != tt.total {
				t.Errorf("Total() = %d, want %d", got.Total(), tt.total)
			}
		})
	}
}

func TestSettingsAtStart(t *testing.T) {
	xlarge4 := snapshot.InstanceType{Name: "m5.4xlarge", Interfaces: 8, IPv4PerInterface: 30, Hypervisor: "nitro"}
	large := snapshot.InstanceType{Name: "m5.large", Interfaces: 3, IPv4PerInterface: 10, Hypervisor: "nitro"}
	cards := snapshot.InstanceType{Name: "p4d.24xlarge", Interfaces: 15, IPv4PerInterface: 50, Cards: []int{15, 15}, Hypervisor: "nitro"}
	xen := snapshot.InstanceType{Name: "m4.large", Interfaces: 2, IPv4PerInterface: 10, Hypervisor: "xen"}
	tests := []struct {
		name string
		of   snapshot.InstanceType
		env  map[string]string
		want Demand
	}{
		{"aws-node says nothing", xlarge4, nil, Demand{Own: 1, First: 30, Warm: 30}},
		{"the manifest's own settings", xlarge4, map[string]string{"WARM_ENI_TARGET": "1", "WARM_PREFIX_TARGET": "1", "ENABLE_PREFIX_DELEGATION": "false"}, Demand{Own: 1, First: 30, Warm: 30}},
		{"nothing in reserve", xlarge4, map[string]string{"WARM_ENI_TARGET": "0"}, Demand{Own: 1, First: 30, Warm: 0}},
		{"two interfaces in reserve", large, map[string]string{"WARM_ENI_TARGET": "2"}, Demand{Own: 1, First: 10, Warm: 20}},
		{"never more interfaces than the type has", large, map[string]string{"WARM_ENI_TARGET": "9"}, Demand{Own: 1, First: 10, Warm: 20}},
		{"nor than MAX_ENI", large, map[string]string{"WARM_ENI_TARGET": "9", "MAX_ENI": "2"}, Demand{Own: 1, First: 10, Warm: 10}},
		{"five addresses in reserve", xlarge4, map[string]string{"WARM_IP_TARGET": "5"}, Demand{Own: 1, First: 6, Warm: 0}},
		{"at least twelve: 9 on the first interface, 3 and its own on a second", large, map[string]string{"WARM_IP_TARGET": "2", "MINIMUM_IP_TARGET": "12"}, Demand{Own: 1, First: 10, Warm: 4}},
		{"a minimum alone counts too", large, map[string]string{"MINIMUM_IP_TARGET": "4"}, Demand{Own: 1, First: 5, Warm: 0}},
		{"more than the type can hold", large, map[string]string{"WARM_IP_TARGET": "500"}, Demand{Own: 1, First: 10, Warm: 20}},
		{"one prefix", xlarge4, map[string]string{"ENABLE_PREFIX_DELEGATION": "true"}, Demand{Own: 1, First: 17, Warm: 16, Blocks: 2}},
		{"three prefixes", xlarge4, map[string]string{"ENABLE_PREFIX_DELEGATION": "true", "WARM_PREFIX_TARGET": "3"}, Demand{Own: 1, First: 49, Warm: 16, Blocks: 4}},
		{"addresses in reserve, in whole prefixes", xlarge4, map[string]string{"ENABLE_PREFIX_DELEGATION": "true", "WARM_IP_TARGET": "17"}, Demand{Own: 1, First: 33, Blocks: 2}},
		{"Xen has no prefixes", xen, map[string]string{"ENABLE_PREFIX_DELEGATION": "true"}, Demand{Own: 1, First: 10, Warm: 10}},
		{"ENABLE_MULTI_NIC: one whole interface on each further card", cards, map[string]string{"ENABLE_MULTI_NIC": "true"}, Demand{Own: 1, First: 50, Warm: 50 + 2*50}},
		{"five addresses on each", cards, map[string]string{"ENABLE_MULTI_NIC": "true", "WARM_IP_TARGET": "5"}, Demand{Own: 1, First: 6, Warm: 2 * 6}},
		{"a prefix on each", cards, map[string]string{"ENABLE_MULTI_NIC": "true", "ENABLE_PREFIX_DELEGATION": "true"}, Demand{Own: 1, First: 17, Warm: 16 + 2*17, Blocks: 4}},
		{"custom networking, and a card with one interface", snapshot.InstanceType{Interfaces: 4, IPv4PerInterface: 50, Cards: []int{1}, Hypervisor: "nitro"}, map[string]string{"ENABLE_MULTI_NIC": "true", "AWS_VPC_K8S_CNI_CUSTOM_NETWORK_CFG": "true"}, Demand{Own: 1, First: 1, Elsewhere: 150}},
		{"the default card alone", cards, nil, Demand{Own: 1, First: 50, Warm: 50}},
		{"pods in another subnet", xlarge4, map[string]string{"AWS_VPC_K8S_CNI_CUSTOM_NETWORK_CFG": "true"}, Demand{Own: 1, First: 1, Elsewhere: 60}},
		{"pods in another subnet, addresses in reserve", large, map[string]string{"AWS_VPC_K8S_CNI_CUSTOM_NETWORK_CFG": "true", "WARM_IP_TARGET": "12"}, Demand{Own: 1, First: 1, Elsewhere: 14}},
		{"pods in another subnet, in prefixes", large, map[string]string{"AWS_VPC_K8S_CNI_CUSTOM_NETWORK_CFG": "true", "ENABLE_PREFIX_DELEGATION": "true"}, Demand{Own: 1, First: 1, Elsewhere: 33, Blocks: 2}},
		{"pods in another subnet, and no interface for them", large, map[string]string{"AWS_VPC_K8S_CNI_CUSTOM_NETWORK_CFG": "true", "MAX_ENI": "1"}, Demand{Own: 1, First: 1}},
		{"a prefix that needs a second interface", snapshot.InstanceType{Interfaces: 2, IPv4PerInterface: 2, Hypervisor: "nitro"}, map[string]string{"ENABLE_PREFIX_DELEGATION": "true"}, Demand{Own: 1, First: 17, Warm: 17, Blocks: 2}},
		{"pods with IPv6 addresses", xlarge4, map[string]string{"ENABLE_IPv6": "true"}, Demand{Own: 1, First: 1, Warm: 0}},
		{"what is no number is not set", large, map[string]string{"WARM_ENI_TARGET": "many", "WARM_IP_TARGET": "-1", "MAX_ENI": "0"}, Demand{Own: 1, First: 10, Warm: 10}},
		{"a type that nothing is known of", snapshot.InstanceType{}, map[string]string{"WARM_IP_TARGET": "8"}, Demand{Own: 1, First: 1, Warm: 0}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(SettingsOf(&snapshot.CNI{Env: tt.env}).AtStart(tt.of), tt.want); diff != "" {
				t.Errorf("AtStart (-got +want):\n%s", diff)
			}
		})
	}
}
