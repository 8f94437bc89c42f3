package instance

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"rollcall/shared/checks/facts"
	"rollcall/shared/snapshot"
)

// minor is a minor version of Kubernetes 1: 35 for 1.35. The zero value is
// "not known".
type minor int

// String writes it as people do: "1.35".
func (m minor) String() string { return fmt.Sprintf("1.%d", int(m)) }

// minorOf reads "1.35", "v1.35.0-eks-1234567" and "1.35+".
func minorOf(version string) minor {
	rest, ok := strings.CutPrefix(strings.TrimPrefix(version, "v"), "1.")
	if !ok {
		return 0
	}
	if i := strings.IndexFunc(rest, func(r rune) bool { return r < '0' || r > '9' }); i >= 0 {
		rest = rest[:i]
	}
	n, err := strconv.Atoi(rest)
	if err != nil || n > 999 {
		return 0
	}
	return minor(n)
}

// minorOfImage is the Kubernetes version in the name of an image of EKS
// (Amazon Linux, Bottlerocket, Windows, Ubuntu's for EKS):
//
//	amazon-eks-node-al2023-x86_64-standard-1.35-v20261112
//	amazon-eks-gpu-node-1.32-v20251120
//	bottlerocket-aws-k8s-1.31-nvidia-x86_64-v1.26.1-943d9a41
//	Windows_Server-2022-English-Core-EKS_Optimized-1.33-2025.10.14
//	ubuntu-eks/k8s_1.33/images/hvm-ssd-gp3/ubuntu-noble-24.04-amd64-server-20251015
//
// Zero for every other name: nothing obliges a name to tell the version.
func minorOfImage(name string) minor {
	for _, mark := range []string{"bottlerocket-aws-k8s-", "EKS_Optimized-", "ubuntu-eks/k8s_"} {
		if _, rest, ok := strings.Cut(name, mark); ok {
			return minorOf(rest)
		}
	}
	if !strings.HasPrefix(name, "amazon-eks-") {
		return 0
	}
	for part := range strings.SplitSeq(name, "-") {
		if m := minorOf(part); m > 0 {
			return m
		}
	}
	return 0
}

// ofAL2 tells the names of EKS images with Amazon Linux 2, which say no system.
func ofAL2(name string) bool {
	for _, prefix := range []string{"amazon-eks-node-1.", "amazon-eks-gpu-node-1.", "amazon-eks-arm64-node-1."} {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return false
}

// endOfAL2 is when EKS ended its support for AL2 images (EKS user guide, "EKS
// AL2 AMI deprecation FAQs": 26 November 2025; 1.32 is the last version that
// has one).
func endOfAL2() time.Time { return time.Date(2025, time.November, 26, 0, 0, 0, 0, time.UTC) }

// skew tells what is wrong with a kubelet's version beside a control plane's;
// empty for nothing. A kubelet may not be newer, and at most three minor
// versions older; before 1.25 at most two (kubernetes.io, "Version Skew
// Policy").
func skew(kubelet, plane minor) string {
	oldest := max(plane-3, min(plane-2, 25))
	switch {
	case kubelet == 0, plane == 0:
		return ""
	case kubelet > plane:
		return fmt.Sprintf("Kubernetes %s is newer than the control plane's %s", kubelet, plane)
	case kubelet < oldest:
		return fmt.Sprintf("Kubernetes %s is too old for the control plane's %s, which takes %s and newer", kubelet, plane, oldest)
	}
	return ""
}

// imagesByID are the images that EC2 listed.
func imagesByID(s *facts.View) map[string]snapshot.Image {
	list := make(map[string]snapshot.Image, len(s.Images))
	for _, i := range slices.Concat(s.LaunchedImages, s.Images) {
		list[i.ID] = i
	}
	return list
}
