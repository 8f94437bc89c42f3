package facts

import (
	"slices"
	"strings"

	"rollcall/shared/snapshot"
)

// The families of images that EKS supports. Each has its own way to join.
const (
	FamilyAL2          = "Amazon Linux 2"
	FamilyAL2023       = "Amazon Linux 2023"
	FamilyBottlerocket = "Bottlerocket"
	FamilyUbuntu       = "Ubuntu"
	FamilyWindows      = "Windows"
)

// Family is the kind of an instance's image, by the image's name, else by the
// node group's AMI type; empty when neither tells. Stock tells that the image
// is Amazon's own: nothing about a cluster can be in it.
func (st *BootConfig) Family(i *snapshot.Instance) (family string, stock bool) {
	group, _ := st.Nodegroup(i)
	ofEKS := group != nil && group.AMIType != "" && group.AMIType != "CUSTOM"
	if image := st.Images[i.AMI]; image != nil {
		stock = image.OwnerAlias == "amazon"
		if family = imageFamily(image.Name); family != "" {
			return family, stock || ofEKS
		}
	}
	if ofEKS {
		return typeFamily(group.AMIType), true
	}
	if i.Windows {
		return FamilyWindows, stock
	}
	return "", false
}

// imageFamily knows the names that EKS, Bottlerocket and Canonical give.
func imageFamily(name string) string {
	prefixed := func(prefixes ...string) bool {
		return slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(name, p) })
	}
	switch {
	case prefixed("amazon-eks-node-al2023-", "amazon-eks-al2023-"):
		return FamilyAL2023
	case prefixed("amazon-eks-node-", "amazon-eks-gpu-node-", "amazon-eks-arm64-node-"):
		return FamilyAL2
	case prefixed("bottlerocket-"):
		return FamilyBottlerocket
	case prefixed("ubuntu-eks"):
		return FamilyUbuntu
	case prefixed("Windows_Server-") && strings.Contains(name, "EKS"):
		return FamilyWindows
	}
	return ""
}

func typeFamily(amiType string) string {
	for prefix, family := range map[string]string{"AL2_": FamilyAL2, "AL2023_": FamilyAL2023, "BOTTLEROCKET_": FamilyBottlerocket, "WINDOWS_": FamilyWindows} {
		if strings.HasPrefix(amiType, prefix) {
			return family
		}
	}
	return ""
}
