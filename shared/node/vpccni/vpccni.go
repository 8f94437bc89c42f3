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

// Before reports whether a version is an older one.
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

// Rule is what versions of the plugin and of Kubernetes do not go together.
type Rule struct {
	// From and Below bound the releases, From included; zero for no bound.
	From, Below Version
	// Since and Until are minor versions of Kubernetes 1, both included; 0 for no
	// bound.
	Since, Until int
	// OS, if any, is the one node image that it is about: AL2023.
	OS string
	// What happens, and where it stands.
	What, Source string
	// Certain reports whether the plugin does not run at all.
	Certain bool
	// To is the release to go to.
	To Version
}

// Rules are all, read on the day of Read.
func Rules() []Rule {
	return []Rule{
		{
			Below: Version{1, 12, 0}, Since: 26, Certain: true, To: Version{1, 12, 0},
			What:   "Kubernetes 1.26 took CRI v1alpha2 away, which the plugin asks for before 1.12: it crashes",
			Source: "https://docs.aws.amazon.com/eks/latest/userguide/kubernetes-versions-extended.html",
		},
		{
			From: Version{1, 16, 0}, Below: Version{1, 16, 2}, Until: 23, Certain: true, To: Version{1, 16, 2},
			What:   "1.16.0 and 1.16.1 write their configuration by version 1.0.0 of the CNI specification, which takes Kubernetes 1.24",
			Source: "https://docs.aws.amazon.com/eks/latest/userguide/managing-vpc-cni.html",
		},
		{
			Below: Version{1, 16, 2}, OS: "AL2023", To: Version{1, 16, 2},
			What:   "nodes of Amazon Linux 2023 take 1.16.2 or later",
			Source: "https://docs.aws.amazon.com/eks/latest/userguide/al2023.html",
		},
	}
}

// Read is when the rules and what IPv6 takes were read off the sources.
const Read = "2026-11-23"

// Against reports whether the rule is about a release beside a minor version of
// Kubernetes 1, on nodes of an image.
func (r Rule) Against(v Version, minor int, os string) bool {
	return !v.Before(r.From) && (r.Below == Version{} || v.Before(r.Below)) &&
		(r.Since == 0 || minor >= r.Since) && (r.Until == 0 || minor <= r.Until) && (r.OS == "" || r.OS == os)
}

// IPv6 is the first release that gives pods IPv6 addresses (EKS user guide, "Learn about
// IPv6 addresses to clusters, Pods, and services": version 1.10.1 or later).
func IPv6() Version { return Version{1, 10, 1} }

// IPv6Source is where the plugin says what IPv6 takes: ENABLE_IPv6 with
// ENABLE_PREFIX_DELEGATION, no ENABLE_IPv4 and no custom networking beside it, on
// instances of the Nitro system or bare metal (pkg/ipamd/ipamd.go,
// isConfigValid: "IPv6 is only supported in Prefix delegation Mode").
const IPv6Source = "https://docs.aws.amazon.com/eks/latest/userguide/cni-ipv6.html"

// Minor is the minor version of Kubernetes 1 in "1.34" or "v1.34.1-eks-113cf36"; 0 where
// there is none.
func Minor(version string) int {
	rest, ok := strings.CutPrefix(strings.TrimPrefix(version, "v"), "1.")
	if !ok {
		return 0
	}
	if i := strings.IndexFunc(rest, func(r rune) bool { return r < '0' || r > '9' }); i >= 0 {
		rest = rest[:i]
	}
	n, err := strconv.Atoi(rest)
	if err != nil {
		return 0
	}
	return n
}

// Releases are those whose tables of instance types are known.
type Releases struct {
	// Newest is the last of them, of the date Date (2026-09-29); Sum is the module's
	// checksum.
	Newest    Version
	Date, Sum string
	tables    []table
}

// table is the instance types that a release knows without asking EC2.
type table struct {
	version Version
	types   map[string]bool
}

// Source is where the tables are from.
const Source = "pkg/vpc/vpc_ip_resource_limit.go of github.com/aws/amazon-vpc-cni-k8s"

// ReadReleases reads the data that is built in.
func ReadReleases() Releases {
	var r Releases
	known := map[string]bool{}
	for line := range strings.Lines(releasesText) {
		words := strings.Fields(line)
		switch {
		case len(words) > 4 && words[0] == "#" && words[1] == "newest":
			r.Newest, _ = parse(words[2])
			r.Sum, r.Date = words[3], words[4]
		case len(words) < 2 || words[0] == "#":
		default:
			version, _ := parse(words[0])
			next := make(map[string]bool, len(known)+len(words))
			for name := range known {
				next[name] = true
			}
			for _, name := range words[2:] {
				if old, gone := strings.CutPrefix(name, "-"); gone {
					delete(next, old)
				} else {
					next[name] = true
				}
			}
			known = next
			r.tables = append(r.tables, table{version, known})
		}
	}
	return r
}

// Know reports whether a release has a type in its own table. Told is false where the
// data does not say: for a release that is older or newer than all, or between two
// that differ in the type.
func (r Releases) Know(v Version, instanceType string) (knows, told bool) {
	i, exact := slices.BinarySearchFunc(r.tables, v, func(t table, v Version) int { return slices.Compare(t.version[:], v[:]) })
	switch {
	case exact:
		return r.tables[i].types[instanceType], true
	case i == 0:
		return false, false
	case i == len(r.tables):
		knows = r.tables[i-1].types[instanceType]
		return knows, knows // the next one may have it
	}
	before, after := r.tables[i-1].types[instanceType], r.tables[i].types[instanceType]
	return before, before == after
}
