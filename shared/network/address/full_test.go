package address

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"rollcall/shared/snapshot"
)

func TestFull(t *testing.T) {
	xlarge4 := snapshot.InstanceType{Name: "m5.4xlarge", Interfaces: 8, IPv4PerInterface: 30, Hypervisor: "nitro", CPUs: 16}
	large := snapshot.InstanceType{Name: "m5.large", Interfaces: 3, IPv4PerInterface: 10, Hypervisor: "nitro", CPUs: 2}
	xlarge24 := snapshot.InstanceType{Name: "m5.24xlarge", Interfaces: 15, IPv4PerInterface: 50, Hypervisor: "nitro", CPUs: 96}
	nano := snapshot.InstanceType{Name: "t3.nano", Interfaces: 2, IPv4PerInterface: 2, Hypervisor: "nitro", CPUs: 2}
	xen := snapshot.InstanceType{Name: "m4.large", Interfaces: 2, IPv4PerInterface: 10, Hypervisor: "xen", CPUs: 2}
	const prefixes, custom = "ENABLE_PREFIX_DELEGATION", "AWS_VPC_K8S_CNI_CUSTOM_NETWORK_CFG"
	tests := []struct {
		name string
		of   snapshot.InstanceType
		env  map[string]string
		pods int
		want Demand
	}{
		{"all interfaces, all addresses", xlarge4, nil, 0, Demand{Own: 1, First: 30, Warm: 210}},
		{"MAX_ENI", xlarge4, map[string]string{"MAX_ENI": "2"}, 0, Demand{Own: 1, First: 30, Warm: 30}},
		{"110 pods: four whole interfaces of 29", xlarge4, nil, 110, Demand{Own: 1, First: 30, Warm: 90}},
		{"110 pods, address by address", xlarge4, map[string]string{"WARM_IP_TARGET": "2"}, 110, Demand{Own: 1, First: 30, Warm: 84}},
		{"more pods than addresses", large, nil, 500, Demand{Own: 1, First: 10, Warm: 20}},
		{"prefixes: 110 pods are 7 blocks", xlarge4, map[string]string{prefixes: "true"}, 0, Demand{Own: 1, First: 113, Blocks: 7}},
		{"prefixes on 96 CPUs: 250 pods are 16 blocks", xlarge24, map[string]string{prefixes: "true"}, 0, Demand{Own: 1, First: 257, Blocks: 16}},
		{"prefixes: no more than its slots", nano, map[string]string{prefixes: "true"}, 0, Demand{Own: 1, First: 17, Warm: 17, Blocks: 2}},
		{"prefixes, the kubelet allows 20", xlarge4, map[string]string{prefixes: "true"}, 20, Demand{Own: 1, First: 33, Blocks: 2}},
		{"Xen has no prefixes", xen, map[string]string{prefixes: "true"}, 0, Demand{Own: 1, First: 10, Warm: 10}},
		{"custom networking: all but the first interface", xlarge4, map[string]string{custom: "true"}, 0, Demand{Own: 1, First: 1, Elsewhere: 210}},
		{"custom networking and prefixes", large, map[string]string{custom: "true", prefixes: "true"}, 0, Demand{Own: 1, First: 1, Elsewhere: 113, Blocks: 7}},
		{"custom networking on one interface", snapshot.InstanceType{Interfaces: 1, IPv4PerInterface: 4}, map[string]string{custom: "true"}, 0, Demand{Own: 1, First: 1}},
		{"IPv6", xlarge4, map[string]string{"ENABLE_IPv6": "true"}, 0, Demand{Own: 1, First: 1}},
		{"a type that nothing is known of", snapshot.InstanceType{}, nil, 110, Demand{Own: 1, First: 1}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := SettingsOf(&snapshot.CNI{Env: tt.env})
			s.MaxPods = tt.pods
			if diff := cmp.Diff(s.Full(tt.of), tt.want); diff != "" {
				t.Errorf("Full (-got +want):\n%s", diff)
			}
		})
	}
}

// Whatever the settings, a node that is full holds at least what it took as it
// started, unless its kubelet allows fewer pods than the plugin keeps ready.
func TestFullIsNotLessThanAtStart(t *testing.T) {
	for _, row := range limits(t) {
		for _, env := range []map[string]string{
			nil, {"ENABLE_PREFIX_DELEGATION": "true"}, {"AWS_VPC_K8S_CNI_CUSTOM_NETWORK_CFG": "true"}, {"WARM_IP_TARGET": "5"}, {"MAX_ENI": "2"},
			{"AWS_VPC_K8S_CNI_CUSTOM_NETWORK_CFG": "true", "ENABLE_PREFIX_DELEGATION": "true", "WARM_IP_TARGET": "20"},
		} {
			s := SettingsOf(&snapshot.CNI{Env: env})
			start, full := s.AtStart(row.of), s.Full(row.of)
			if full.Total() < start.Total() || full.Elsewhere < start.Elsewhere || full.Blocks < start.Blocks {
				t.Errorf("%s, %v: full %+v, at start %+v", row.of.Name, env, full, start)
			}
		}
	}
}
