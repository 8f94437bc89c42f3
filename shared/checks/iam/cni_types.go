package iam

import (
	"fmt"
	"slices"
	"strings"

	"rollcall/shared/checks/facts"
	"rollcall/shared/checks/finding"
	"rollcall/shared/node/vpccni"
	"rollcall/shared/snapshot"
)

// describeTypes is the action by which the plugin learns of a type that is not in
// its own table. Without it, it ends: "Failed calling DescribeInstanceTypes for
// `c9g.large`: … UnauthorizedOperation" (aws/amazon-vpc-cni-k8s pkg/awsutils/awsutils.go,
// FetchInstanceTypeLimits).
const describeTypes = "ec2:DescribeInstanceTypes"

// typesKnown are the instance types of some instances by what the running version of
// the plugin knows of them.
type typesKnown struct {
	version  vpccni.Version
	unknown  []string // that are not in its table
	untold   []string // of which the data does not say
	unread   *snapshot.Failure
	releases vpccni.Releases
}

// knownTypes looks the types of instances up in the table of the running version.
func knownTypes(s *facts.View, list []*snapshot.Instance) typesKnown {
	var k typesKnown
	var types []string
	for _, i := range list {
		if i.Type != "" && !i.Windows && !slices.Contains(types, i.Type) {
			types = append(types, i.Type)
		}
	}
	slices.Sort(types)
	if s.CNI == nil || len(types) == 0 {
		return k
	}
	version, ok := vpccni.OfImage(s.CNI.Image)
	if !ok {
		k.untold = types
		k.unread = &snapshot.Failure{Source: snapshot.AWSNode, Reason: snapshot.Broken,
			Message: fmt.Sprintf("the version in the image %q is not understood: whether it knows %s without asking EC2 cannot be told", s.CNI.Image, strings.Join(types, ", "))}
		return k
	}
	k.version, k.releases = version, vpccni.ReadReleases()
	for _, name := range types {
		switch knows, told := k.releases.Know(version, name); {
		case !told:
			k.untold = append(k.untold, name)
		case !knows:
			k.unknown = append(k.unknown, name)
		}
	}
	if len(k.untold) > 0 {
		k.unread = &snapshot.Failure{Source: snapshot.AWSNode, Reason: snapshot.NotRead,
			Message: fmt.Sprintf("whether %s knows %s without asking EC2 is not in the data, which goes up to %s of %s", version, strings.Join(k.untold, ", "), k.releases.Newest, k.releases.Date)}
	}
	return k
}

// why ends the reason of a finding.
func (k typesKnown) why() string {
	return fmt.Sprintf(" %s of the plugin does not know %s without asking EC2.", k.version, strings.Join(k.unknown, ", "))
}

// evidence is what the plugin does not know, and from where that is known.
func (k typesKnown) evidence() []finding.Evidence {
	if len(k.unknown) == 0 {
		return nil
	}
	return []finding.Evidence{
		{What: "Not in the table of " + k.version.String(), Value: strings.Join(k.unknown, ", ")},
		{What: "Tables of instance types", Value: fmt.Sprintf("%s, up to %s of %s", vpccni.Source, k.releases.Newest, k.releases.Date)},
	}
}

// lacksTypes tells that a role may not ask for types.
func lacksTypes(lacks []refusal) bool {
	return slices.ContainsFunc(lacks, func(r refusal) bool { return r.action == describeTypes })
}
