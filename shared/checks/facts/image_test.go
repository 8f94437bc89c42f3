package facts

import (
	"testing"
)

func TestImageFamily(t *testing.T) {
	for name, want := range map[string]string{
		"amazon-eks-node-al2023-arm64-standard-1.35-v20261112":           FamilyAL2023,
		"amazon-eks-node-al2023-x86_64-nvidia-1.35-v20261112":            FamilyAL2023,
		"amazon-eks-node-1.29-v20240202":                                 FamilyAL2,
		"amazon-eks-gpu-node-1.29-v20240202":                             FamilyAL2,
		"amazon-eks-arm64-node-1.29-v20240202":                           FamilyAL2,
		"bottlerocket-aws-k8s-1.35-x86_64-v1.50.0-0a":                    FamilyBottlerocket,
		"ubuntu-eks/k8s_1.29/images/hvm-ssd/ubuntu-jammy-22.04":          FamilyUbuntu,
		"Windows_Server-2022-English-Core-EKS_Optimized-1.35-2026.11.12": FamilyWindows,
		"Windows_Server-2022-English-Full-Base-2026.11.12":               "",
		"al2023-ami-2023.6.20260101.0-kernel-6.1-x86_64":                 "",
		"my-al2023-golden": "",
	} {
		if got := imageFamily(name); got != want {
			t.Errorf("imageFamily(%q) = %q, want %q", name, got, want)
		}
	}
}
