package preflight

import (
	"testing"

	"rollcall/shared/snapshot"
)

// TestTypesByTheirOwnData: requirements are held against what EC2 says of a type, as
// Karpenter does; a label that a type does not have is not there.
func TestTypesByTheirOwnData(t *testing.T) {
	small := snapshot.InstanceType{
		Name: "m5.large", CPUs: 2, Hypervisor: "nitro", Architectures: []string{"x86_64"}, MemoryMiB: 8192, CPUMaker: "Intel", EBSMbps: 4750,
	}
	gpu := snapshot.InstanceType{
		Name: "g5.xlarge", CPUs: 4, Hypervisor: "nitro", Architectures: []string{"x86_64"}, MemoryMiB: 16384, CPUMaker: "AMD", EBSMbps: 3500, LocalNVMeGB: 250, EncryptsInTransit: true,
		GPU: snapshot.Device{Name: "A10G", Maker: "NVIDIA", Count: 1, MemoryMiB: 24576},
	}
	inf := snapshot.InstanceType{Name: "inf2.xlarge", CPUs: 4, Architectures: []string{"x86_64"}, MemoryMiB: 16384, Accelerator: snapshot.Device{Name: "Inferentia 2", Maker: "AWS", Count: 1}}
	for _, tt := range []struct {
		key, operator string
		values        []string
		small, gpu    bool
	}{
		{"instance-memory", "Gt", []string{"8192"}, false, true},
		{"instance-memory", "Gte", []string{"8192"}, true, true},
		{"instance-memory", "In", []string{"8192"}, true, false},
		{"instance-cpu-manufacturer", "In", []string{"amd"}, false, true},
		{"instance-cpu-manufacturer", "NotIn", []string{"amd"}, true, false},
		{"instance-ebs-bandwidth", "Gt", []string{"4000"}, true, false},
		{"instance-local-nvme", "Exists", nil, false, true},
		{"instance-local-nvme", "Gt", []string{"300"}, false, false},
		{"instance-encryption-in-transit-supported", "In", []string{"true"}, false, true},
		{"instance-gpu-count", "Exists", nil, false, true},
		{"instance-gpu-count", "Gt", []string{"1"}, false, false},
		{"instance-gpu-name", "In", []string{"a10g", "t4"}, false, true},
		{"instance-gpu-name", "DoesNotExist", nil, true, false},
		{"instance-gpu-manufacturer", "In", []string{"nvidia"}, false, true},
		{"instance-gpu-memory", "Gte", []string{"24576"}, false, true},
		{"instance-accelerator-count", "DoesNotExist", nil, true, true},
		{"instance-accelerator-name", "In", []string{"inferentia-2"}, false, false},
		{"instance-network-bandwidth", "Gt", []string{"100000"}, true, true}, // nobody but Karpenter has it
	} {
		for _, group := range []string{snapshot.KarpenterGroup, snapshot.AutoModeGroup} {
			n := &nodes{pool: &snapshot.NodePool{Requirements: []snapshot.Requirement{{Key: group + "/" + tt.key, Operator: tt.operator, Values: tt.values}}}}
			if n.fits(small) != tt.small || n.fits(gpu) != tt.gpu {
				t.Errorf("%s/%s %s %v: m5.large %v, g5.xlarge %v", group, tt.key, tt.operator, tt.values, n.fits(small), n.fits(gpu))
			}
		}
	}
	for _, r := range []snapshot.Requirement{
		{Key: "karpenter.k8s.aws/instance-accelerator-name", Operator: "In", Values: []string{"inferentia-2"}}, {Key: "karpenter.k8s.aws/instance-accelerator-manufacturer", Operator: "In", Values: []string{"aws"}},
		{Key: "karpenter.k8s.aws/instance-accelerator-count", Operator: "In", Values: []string{"1"}}, {Key: "karpenter.k8s.aws/instance-gpu-count", Operator: "DoesNotExist"},
	} {
		if n := (&nodes{pool: &snapshot.NodePool{Requirements: []snapshot.Requirement{r}}}); !n.fits(inf) {
			t.Errorf("inf2.xlarge does not meet %+v", r)
		}
	}
	// What nobody read keeps no type out.
	small.MemoryMiB = 0
	if n := (&nodes{pool: &snapshot.NodePool{Requirements: []snapshot.Requirement{{Key: "karpenter.k8s.aws/instance-memory", Operator: "Gt", Values: []string{"1"}}}}}); !n.fits(small) {
		t.Error("a type of which the memory was not read does not fit")
	}
}
