package checks

import (
	"slices"
	"strings"

	"rollcall/shared/snapshot"
)

// The families of images that EKS supports. Each has its own way to join.
const (
	familyAL2          = "Amazon Linux 2"
	familyAL2023       = "Amazon Linux 2023"
	familyBottlerocket = "Bottlerocket"
	familyUbuntu       = "Ubuntu"
	familyWindows      = "Windows"
)

// family is the kind of an instance's image, by the image's name, else by the
// node group's AMI type; empty when neither tells. Stock tells that the image
// is Amazon's own: nothing about a cluster can be in it.
func (st *starts) family(i *snapshot.Instance) (family string, stock bool) {
	group, _ := st.nodegroup(i)
	ofEKS := group != nil && group.AMIType != "" && group.AMIType != "CUSTOM"
	if image := st.images[i.AMI]; image != nil {
		stock = image.OwnerAlias == "amazon"
		if family = imageFamily(image.Name); family != "" {
			return family, stock || ofEKS
		}
	}
	if ofEKS {
		return typeFamily(group.AMIType), true
	}
	if i.Windows {
		return familyWindows, stock
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
		return familyAL2023
	case prefixed("amazon-eks-node-", "amazon-eks-gpu-node-", "amazon-eks-arm64-node-"):
		return familyAL2
	case prefixed("bottlerocket-"):
		return familyBottlerocket
	case prefixed("ubuntu-eks"):
		return familyUbuntu
	case prefixed("Windows_Server-") && strings.Contains(name, "EKS"):
		return familyWindows
	}
	return ""
}

func typeFamily(amiType string) string {
	for prefix, family := range map[string]string{"AL2_": familyAL2, "AL2023_": familyAL2023, "BOTTLEROCKET_": familyBottlerocket, "WINDOWS_": familyWindows} {
		if strings.HasPrefix(amiType, prefix) {
			return family
		}
	}
	return ""
}
