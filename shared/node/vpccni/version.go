// Package vpccni knows the releases of the Amazon VPC CNI, the network plugin: which
// instance types each has in its own table, which versions go with which of
// Kubernetes, and what IPv6 takes. It is data, with its source and its date.
package vpccni

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Version is the number of a release.
type Version [3]int

func (v Version) String() string { return fmt.Sprintf("v%d.%d.%d", v[0], v[1], v[2]) }

// Before tells that a version is an older one.
func (v Version) Before(other Version) bool { return slices.Compare(v[:], other[:]) < 0 }

// OfImage reads "…/amazon-k8s-cni:v1.22.1-eksbuild.2"; false for a tag of another
// form, and an image that is named by its digest alone.
func OfImage(image string) (Version, bool) {
	image, _, _ = strings.Cut(image, "@")
	i := strings.LastIndex(image, ":v")
	if i < 0 {
		return Version{}, false
	}
	return parse(image[i+1:])
}

// parse reads "v1.22.1", whatever stands behind a hyphen.
func parse(text string) (v Version, ok bool) {
	number, _, _ := strings.Cut(strings.TrimPrefix(text, "v"), "-")
	parts := strings.Split(number, ".")
	if len(parts) != len(v) {
		return Version{}, false
	}
	for k, part := range parts {
		n, err := strconv.Atoi(part)
		if err != nil || n < 0 {
			return Version{}, false
		}
		v[k] = n
	}
	return v, true
}
