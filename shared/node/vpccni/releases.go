package vpccni

import (
	"slices"
	"strings"
)

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

// Know tells whether a release has a type in its own table. Told is false where the
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
