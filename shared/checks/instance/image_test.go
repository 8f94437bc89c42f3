package instance

import (
	"testing"
)

func TestMinorOfImage(t *testing.T) {
	for name, want := range map[string]minor{
		"amazon-eks-node-al2023-x86_64-standard-1.35-v20261112":                           35,
		"amazon-eks-node-al2023-arm64-nvidia-1.33-v20251015":                              33,
		"amazon-eks-node-1.30-v20241109":                                                  30,
		"amazon-eks-arm64-node-1.29-v20240202":                                            29,
		"amazon-eks-gpu-node-1.32-v20251120":                                              32,
		"bottlerocket-aws-k8s-1.26-x86_64-v1.15.1-264e294c":                               26,
		"bottlerocket-aws-k8s-1.31-nvidia-x86_64-v1.26.1-943d9a41":                        31,
		"bottlerocket-aws-ecs-2-x86_64-v1.26.1-943d9a41":                                  0,
		"Windows_Server-2022-English-Core-EKS_Optimized-1.33-2025.10.14":                  33,
		"ubuntu-eks/k8s_1.33/images/hvm-ssd-gp3/ubuntu-noble-24.04-amd64-server-20251015": 33,
		"al2023-ami-2023.6.20241010.0-kernel-6.1-x86_64":                                  0,
		"golden-1.31":                           0,
		"amazon-eks-":                           0,
		"amazon-eks-node-1.99999999999999999-v": 0,
		"":                                      0,
	} {
		if got := minorOfImage(name); got != want {
			t.Errorf("minorOfImage(%q) = %d, want %d", name, got, want)
		}
	}
}

func TestOfAL2(t *testing.T) {
	for name, want := range map[string]bool{
		"amazon-eks-node-1.30-v20241109": true, "amazon-eks-gpu-node-1.32-v20251120": true, "amazon-eks-arm64-node-1.29-v1": true,
		"amazon-eks-node-al2023-x86_64-standard-1.35-v20261112": false, "bottlerocket-aws-k8s-1.26-x86_64-v1": false, "": false,
	} {
		if got := ofAL2(name); got != want {
			t.Errorf("ofAL2(%q) = %t, want %t", name, got, want)
		}
	}
}

func TestSkew(t *testing.T) {
	tests := []struct {
		kubelet, plane minor
		want           string
	}{
		{35, 35, ""}, {32, 35, ""}, {25, 28, ""}, {24, 26, ""}, {0, 35, ""}, {35, 0, ""},
		{36, 35, "Kubernetes 1.36 is newer than the control plane's 1.35"},
		{31, 35, "Kubernetes 1.31 is too old for the control plane's 1.35, which takes 1.32 and newer"},
		{24, 27, "Kubernetes 1.24 is too old for the control plane's 1.27, which takes 1.25 and newer"},
		{24, 28, "Kubernetes 1.24 is too old for the control plane's 1.28, which takes 1.25 and newer"},
		{21, 24, "Kubernetes 1.21 is too old for the control plane's 1.24, which takes 1.22 and newer"},
	}
	for _, tt := range tests {
		if got := skew(tt.kubelet, tt.plane); got != tt.want {
			t.Errorf("skew(%s, %s) = %q, want %q", tt.kubelet, tt.plane, got, tt.want)
		}
	}
}

func FuzzMinorOfImage(f *testing.F) {
	f.Add("amazon-eks-node-al2023-x86_64-standard-1.35-v20261112")
	f.Add("bottlerocket-aws-k8s-1.26-x86_64-v1.15.1-264e294c")
	f.Add("ubuntu-eks/k8s_1.")
	f.Fuzz(func(t *testing.T, name string) {
		if m := minorOfImage(name); m < 0 || m > 999 {
			t.Errorf("minorOfImage(%q) = %d", name, m)
		}
	})
}
