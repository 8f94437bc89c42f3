// Package cni holds the checks of cni: whether the version and the settings of the
// network plugin go with Kubernetes, with the nodes and with IPv6.
package cni

import (
	"fmt"
	"slices"

	"rollcall/shared/checks/check"
	"rollcall/shared/checks/facts"
	"rollcall/shared/checks/finding"
	"rollcall/shared/checks/link"
	"rollcall/shared/node/vpccni"
	"rollcall/shared/snapshot"
)

// usingPlugin is a check of the plugin, which tells Amazon's images apart by name and
// by AMI type.
func usingPlugin(c check.Check) check.Check {
	c.Needs = []snapshot.Source{snapshot.Clusters, snapshot.Instances, snapshot.AWSNode}
	return check.Using([]snapshot.Source{snapshot.Images, snapshot.LaunchedImagesOf, snapshot.Nodegroups, snapshot.Nodes, snapshot.InstanceTypes, snapshot.Addons}, c)
}

// plugin is the running network plugin, and the instances that are to run it.
type plugin struct {
	version       vpccni.Version
	suspects      []*snapshot.Instance
	well, passing []*snapshot.Instance // passing run no plugin of Amazon's as a pod
}

// pluginOf is the plugin of the cluster. Where it is not to be judged, found is what is
// to be said: nobody is to run it, or its version is not understood.
func pluginOf(s *facts.View) (p plugin, found []finding.Finding, judge bool) {
	suspects, well := s.Suspects()
	p.well = well
	for _, i := range suspects {
		if s.CNI == nil || i.Windows || facts.OfAutoMode(i) {
			p.passing = append(p.passing, i)
			continue
		}
		p.suspects = append(p.suspects, i)
	}
	if len(p.suspects) == 0 {
		return p, p.pass(s, nil), false
	}
	version, ok := vpccni.OfImage(s.CNI.Image)
	if p.version = version; ok {
		return p, nil, true
	}
	return p, append(p.pass(s, nil), finding.Finding{
		Outcome: finding.Unknown, Resource: s.Cluster.Name, Covers: facts.IDs(p.suspects),
		Blocked: []snapshot.Failure{{Source: snapshot.AWSNode, Reason: snapshot.Broken, Message: fmt.Sprintf("the version in the image %q of aws-node is not understood", s.CNI.Image)}},
	}), false
}

// pass is the finding on the instances that are well, run another plugin, or have
// nothing against them.
func (p plugin) pass(s *facts.View, good []*snapshot.Instance) []finding.Finding {
	list := facts.IDs(slices.Concat(p.well, p.passing, good))
	if len(list) == 0 {
		return nil
	}
	slices.Sort(list)
	return []finding.Finding{{Outcome: finding.Pass, Resource: s.Cluster.Name, Covers: list}}
}

// imageOf is the evidence of the running version.
func imageOf(s *facts.View) finding.Evidence {
	return finding.Evidence{What: "Image of aws-node", Value: s.CNI.Image}
}

// dated is the evidence of where a rule stands, and when it was read.
func dated(source string) finding.Evidence {
	return finding.Evidence{What: "Read " + vpccni.Read, Value: source}
}

// daemonSet is the resource of findings on the plugin.
const daemonSet = "kube-system/aws-node"

// update is how the plugin gets another version.
func update(s *facts.View, to vpccni.Version) finding.Fix {
	f := finding.Fix{Console: link.Cluster(s), Text: fmt.Sprintf("Update the plugin to %s or later, one minor version at a time.", to)}
	if slices.ContainsFunc(s.Addons, func(a snapshot.Addon) bool { return a.Name == "vpc-cni" }) {
		f.Text += " It is the add-on vpc-cni: its versions for this Kubernetes are listed by the command."
		f.Command = versions(s)
	}
	return f
}
