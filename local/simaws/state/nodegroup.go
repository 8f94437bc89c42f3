package state

import (
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	ekstypes "github.com/aws/aws-sdk-go-v2/service/eks/types"
)

// Nodegroup is a managed nodegroup with its updates.
type Nodegroup struct {
	ekstypes.Nodegroup
	Updates []*ekstypes.Update
	// Failing is what the group's launches fail with, nil while they work.
	Failing *ekstypes.Issue
	// Rolling is what a rolling update brings, nil without one.
	Rolling *Release
	// Degraded is when it last became DEGRADED.
	Degraded time.Time
	// Stacked is the last status that its stack told of.
	Stacked string
}

// NodegroupKey is where something of a cluster is kept by its name: a nodegroup, an
// add-on, an access entry.
func NodegroupKey(cluster, name string) string { return cluster + "/" + name }

// NodegroupOf is the nodegroup that an instance's tags name, nil without one.
func (w *State) NodegroupOf(id string) *Nodegroup {
	in := w.Instances.Get(id)
	if in == nil {
		return nil
	}
	return w.Nodegroups.Get(NodegroupKey(TagValue(in.Tags, "eks:cluster-name"), TagValue(in.Tags, "eks:nodegroup-name")))
}

// NodegroupOfGroup is the nodegroup that a group's tags name, nil without one.
func (w *State) NodegroupOfGroup(g *Group) *Nodegroup {
	return w.Nodegroups.Get(NodegroupKey(g.Tag("eks:cluster-name"), g.Tag("eks:nodegroup-name")))
}

// GroupsOf are the Auto Scaling groups of a nodegroup.
func (w *State) GroupsOf(ng *Nodegroup) []*Group {
	var out []*Group
	if ng.Resources == nil {
		return nil
	}
	for _, a := range ng.Resources.AutoScalingGroups {
		if g := w.Groups.Get(aws.ToString(a.Name)); g != nil {
			out = append(out, g)
		}
	}
	return out
}

// Release is what a version update changes of a nodegroup.
type Release struct {
	Version  string
	Release  string
	Template *ekstypes.LaunchTemplateSpecification
}

// Joining is the release that a nodegroup's nodes join with: that of the
// rolling update while there is one.
func (ng *Nodegroup) Joining() Release {
	if ng.Rolling != nil {
		return *ng.Rolling
	}
	return Release{aws.ToString(ng.Version), aws.ToString(ng.ReleaseVersion), ng.LaunchTemplate}
}
