package instance

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"rollcall/shared/checks/command"
	"rollcall/shared/checks/facts"
	"rollcall/shared/checks/finding"
	"rollcall/shared/checks/link"
	"rollcall/shared/checks/phrase"
	"rollcall/shared/snapshot"
)

// versioned are the instances of one owner that did not join, and the version
// of the first one's kubelet.
type versioned struct {
	owner     string
	kubelet   minor
	instances []string
	sure      bool
	ready     *snapshot.Node // that has the same version
	evidence  []finding.Evidence
}

func runVersionSkew(s *facts.View) []finding.Finding {
	plane := minorOf(s.Cluster.Version)
	if plane == 0 {
		return []finding.Finding{{
			Outcome: finding.Unknown, Resource: s.Cluster.Name, Covers: []string{s.Cluster.Name},
			Blocked: []snapshot.Failure{{Source: snapshot.Clusters, Reason: snapshot.Broken, Message: fmt.Sprintf("the version %q of the cluster is not understood", s.Cluster.Version)}},
		}}
	}
	l := s.Index()
	images := imagesByID(s)
	suspects, well := l.S.Suspects()
	var untold []string
	groups := map[string]*versioned{}
	var order []string
	for _, i := range suspects {
		kubelet, e := kubeletOf(l, i, images)
		switch {
		case kubelet == 0 && facts.OfAutoMode(i): // EKS brings it along with the control plane
			well = append(well, i)
		case kubelet == 0 && l.Due(i.ID):
			untold = append(untold, i.ID)
		case kubelet == 0:
		case skew(kubelet, plane) == "":
			well = append(well, i)
		default:
			owner := cmp.Or(i.Owner(), i.ID)
			g := groups[owner]
			if g == nil {
				g = &versioned{owner: owner, kubelet: kubelet, evidence: []finding.Evidence{{What: s.Cluster.Name, Value: "control plane " + s.Cluster.Version}}}
				groups[owner] = g
				order = append(order, owner)
			}
			if !slices.Contains(g.evidence, e) {
				g.evidence = append(g.evidence, e)
			}
			g.instances = append(g.instances, i.ID)
			// A kubelet that is a little too new often works all the same:
			// it is no cause before the node has failed, and a name is only
			// as good as who gave it.
			image := images[i.AMI]
			g.sure = g.sure || l.Due(i.ID) && (l.Nodes[i.ID] != nil || image.OwnerAlias == "amazon")
			g.ready = readyWith(s, kubelet)
		}
	}
	var list []finding.Finding
	list = finding.Passing(list, s.Cluster.Name, facts.IDs(well))
	if len(untold) > 0 {
		list = append(list, finding.Unread(s.Cluster.Name, untold, snapshot.Failure{
			Source: snapshot.Images, Reason: snapshot.NotRead, Message: "neither a node nor the image's name tells the kubelet's version of " + phrase.Some(untold, 3),
		}))
	}
	for _, key := range order {
		list = append(list, versionSkewFinding(l, groups[key], plane))
	}
	return list
}

// readyWith is a Ready node with a kubelet of a version; nil for none. Such a node joined in
// spite of its version, or before the control plane was rolled back.
func readyWith(s *facts.View, kubelet minor) *snapshot.Node {
	for i := range s.Nodes {
		if n := &s.Nodes[i]; n.Joined() && minorOf(n.Kubelet) == kubelet {
			return n
		}
	}
	return nil
}

// kubeletOf is the version of an instance's kubelet and where it stands: the
// node's own word, else the image's name, else the managed nodegroup's version.
func kubeletOf(l facts.InstanceIndex, i *snapshot.Instance, images map[string]snapshot.Image) (minor, finding.Evidence) {
	if n := l.Nodes[i.ID]; n != nil {
		if m := minorOf(n.Kubelet); m > 0 {
			return m, finding.Evidence{What: n.Name, Value: "kubelet " + n.Kubelet}
		}
	}
	if image, known := images[i.AMI]; known {
		if m := minorOfImage(image.Name); m > 0 {
			return m, finding.Evidence{What: i.AMI, Value: image.Name}
		}
	}
	for _, g := range l.S.Nodegroups {
		// A group of custom images has no version of its own.
		if g.Name == i.Tags["eks:nodegroup-name"] && g.AMIType != "CUSTOM" && g.AMIType != "" {
			if m := minorOf(g.Version); m > 0 {
				return m, finding.Evidence{What: g.Name, Value: "nodegroup version " + g.Version}
			}
		}
	}
	return 0, finding.Evidence{}
}

func versionSkewFinding(l facts.InstanceIndex, g *versioned, plane minor) finding.Finding {
	f := finding.Finding{
		Outcome: finding.Fail, Resource: g.owner, Covers: g.instances, Instances: append([]string(nil), g.instances...),
		Resources: []string{l.S.Cluster.Name},
		Title:     phrase.Title("%s: kubelet %s beside control plane %s", phrase.Subject(g.instances, "instance"), g.kubelet, plane),
		Why:       fmt.Sprintf("%s of %s.", skew(g.kubelet, plane), l.S.Cluster.Name),
		Evidence:  g.evidence,
		Fix: finding.Fix{
			Text:    fmt.Sprintf("Start an image of Kubernetes %s.", plane),
			Console: link.Cluster(l.S),
		},
	}
	// One version newer mostly works, and stands beside a control plane that was rolled back
	// (EKS user guide, "Roll back a cluster to a previous Kubernetes version").
	if !g.sure || g.ready != nil || g.kubelet == plane+1 {
		f.Confidence = finding.Likely
	}
	if g.ready != nil {
		f.Evidence = append(f.Evidence, finding.Evidence{What: g.ready.Name, Value: "a Ready node with kubelet " + g.ready.Kubelet})
	}
	if g.kubelet > plane {
		f.Fix.Text += " Or upgrade the control plane first."
	}
	for _, n := range l.S.Nodegroups {
		if n.Name == g.owner && n.AMIType != "CUSTOM" && g.kubelet < plane {
			f.Fix.Command = command.AWS(l.S, "eks update-nodegroup-version", "--cluster-name", l.S.Cluster.Name, "--nodegroup-name", n.Name, "--kubernetes-version", plane)
		}
	}
	return f
}

// mostUnowned is how many of them are described.
const mostUnowned = 5

func unowned(s *facts.View) []finding.Finding {
	l := s.Index()
	var waiting []string
	var evidence []finding.Evidence
	for _, id := range s.Scope.Unowned {
		i := l.Instances[id]
		if i == nil || i.Ended() || l.Nodes[id] != nil || !l.Due(id) {
			continue
		}
		waiting = append(waiting, id)
		if len(waiting) > mostUnowned {
			continue
		}
		evidence = append(evidence, finding.Evidence{What: id, Value: fmt.Sprintf("%s, %s, %s; launched %s; tags %s",
			i.State, i.Type, i.Subnet, i.Launched.UTC().Format(time.DateTime+" UTC"), tagKeys(i))})
	}
	if len(waiting) == 0 {
		return []finding.Finding{{Outcome: finding.Pass, Resource: s.Cluster.Name, Covers: append(s.Scope.Unowned[:len(s.Scope.Unowned):len(s.Scope.Unowned)], s.Cluster.Name)}}
	}
	cluster := s.Cluster.Name
	return []finding.Finding{{
		Outcome: finding.Fail, Resource: cluster, Covers: append(waiting[:len(waiting):len(waiting)], cluster), Instances: waiting,
		Title: phrase.Title("%s tagged for %s, launched by nothing of it", phrase.Subject(waiting, "instance"), cluster),
		Why: fmt.Sprintf("%s %s the cluster's tags, and no Auto Scaling group, nodegroup or NodeClaim of %s has %s. Anybody who can start an instance can set its tags.",
			phrase.Some(waiting, 3), phrase.Verb(waiting, "has", "have"), cluster, phrase.Verb(waiting, "it", "them")),
		Evidence: evidence,
		Fix: finding.Fix{
			Text: "Find out who started " + phrase.Some(waiting, 3) + ". If nodes are started by hand or with another tool, start them from a group of the cluster; else take the cluster's tags off.",
			Command: command.AWS(s, "cloudtrail lookup-events", "--lookup-attributes", "AttributeKey=ResourceName,AttributeValue="+waiting[0],
				"--query", "Events[].[EventTime,EventName,Username]", "--output", "text"),
			Console: link.EC2(s, "InstanceDetails:instanceId="+waiting[0]),
		},
	}}
}
