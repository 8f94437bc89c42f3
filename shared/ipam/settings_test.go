package ipam

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"rollcall/shared/snapshot"
)

func TestSettingsAtStart(t *testing.T) {
	xlarge4 := snapshot.InstanceType{Name: "m5.4xlarge", Interfaces: 8, IPv4PerInterface: 30, Hypervisor: "nitro"}
	large := snapshot.InstanceType{Name: "m5.large", Interfaces: 3, IPv4PerInterface: 10, Hypervisor: "nitro"}
	xen := snapshot.InstanceType{Name: "m4.large", Interfaces: 2, IPv4PerInterface: 10, Hypervisor: "xen"}
	tests := []struct {
		name string
		of   snapshot.InstanceType
		env  map[string]string
		want Demand
	}{
		{"aws-node says nothing", xlarge4, nil, Demand{1, 30, 30}},
		{"the manifest's own settings", xlarge4, map[string]string{"WARM_ENI_TARGET": "1", "WARM_PREFIX_TARGET": "1", "ENABLE_PREFIX_DELEGATION": "false"}, Demand{1, 30, 30}},
		{"nothing in reserve", xlarge4, map[string]string{"WARM_ENI_TARGET": "0"}, Demand{1, 30, 0}},
		{"two interfaces in reserve", large, map[string]string{"WARM_ENI_TARGET": "2"}, Demand{1, 10, 20}},
		{"never more interfaces than the type has", large, map[string]string{"WARM_ENI_TARGET": "9"}, Demand{1, 10, 20}},
		{"nor than MAX_ENI", large, map[string]string{"WARM_ENI_TARGET": "9", "MAX_ENI": "2"}, Demand{1, 10, 10}},
		{"five addresses in reserve", xlarge4, map[string]string{"WARM_IP_TARGET": "5"}, Demand{1, 6, 0}},
		{"at least twelve: 9 on the first interface, 3 and its own on a second", large, map[string]string{"WARM_IP_TARGET": "2", "MINIMUM_IP_TARGET": "12"}, Demand{1, 10, 4}},
		{"a minimum alone counts too", large, map[string]string{"MINIMUM_IP_TARGET": "4"}, Demand{1, 5, 0}},
		{"more than the type can hold", large, map[string]string{"WARM_IP_TARGET": "500"}, Demand{1, 10, 20}},
		{"one prefix", xlarge4, map[string]string{"ENABLE_PREFIX_DELEGATION": "true"}, Demand{1, 17, 0}},
		{"three prefixes", xlarge4, map[string]string{"ENABLE_PREFIX_DELEGATION": "true", "WARM_PREFIX_TARGET": "3"}, Demand{1, 49, 0}},
		{"addresses in reserve, in whole prefixes", xlarge4, map[string]string{"ENABLE_PREFIX_DELEGATION": "true", "WARM_IP_TARGET": "17"}, Demand{1, 33, 0}},
		{"Xen has no prefixes", xen, map[string]string{"ENABLE_PREFIX_DELEGATION": "true"}, Demand{1, 10, 10}},
		{"pods in another subnet", xlarge4, map[string]string{"AWS_VPC_K8S_CNI_CUSTOM_NETWORK_CFG": "true"}, Demand{1, 1, 0}},
		{"pods with IPv6 addresses", xlarge4, map[string]string{"ENABLE_IPv6": "true"}, Demand{1, 1, 0}},
		{"what is no number is not set", large, map[string]string{"WARM_ENI_TARGET": "many", "WARM_IP_TARGET": "-1", "MAX_ENI": "0"}, Demand{1, 10, 10}},
		{"a type that nothing is known of", snapshot.InstanceType{}, map[string]string{"WARM_IP_TARGET": "8"}, Demand{1, 1, 0}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(SettingsOf(&snapshot.CNI{Env: tt.env}).AtStart(tt.of), tt.want); diff != "" {
				t.Errorf("AtStart (-got +want):\n%s", diff)
			}
		})
	}
}

func TestSettingsWithoutTheCNI(t *testing.T) {
	if diff := cmp.Diff(SettingsOf(nil), Defaults()); diff != "" {
		t.Errorf("SettingsOf(nil) (-got +want):\n%s", diff)
	}
}
