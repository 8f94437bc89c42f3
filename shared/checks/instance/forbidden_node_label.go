package instance

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"rollcall/shared/checkid"
	"rollcall/shared/checks/check"
	"rollcall/shared/checks/command"
	"rollcall/shared/checks/facts"
	"rollcall/shared/checks/finding"
	"rollcall/shared/checks/link"
	"rollcall/shared/checks/phrase"
	"rollcall/shared/snapshot"
)

func ForbiddenNodeLabel() check.Check {
	return usingStart(check.Check{
		ID:         checkid.InstanceForbiddenNodeLabel,
		Title:      "The kubelet may not set one of the node's labels",
		Confidence: finding.Certain,
		Explains:   []checkid.ID{checkid.AnyJoinCause},
		// User data is looked at where it was read; labels of a node group
		// can be judged without it.
		Needs:    []snapshot.Source{snapshot.Clusters, snapshot.Instances, snapshot.Nodegroups},
		AtLaunch: true,
		Cause:    "A label in the node group, or in the user data's --node-labels, has a prefix of kubernetes.io or k8s.io that Kubernetes keeps for itself. The kubelet does not start with it. Allowed are kubelet.kubernetes.io/, node.kubernetes.io/ (and what ends in them) and a few names such as topology.kubernetes.io/zone.",
		Fix:      "Take the label out of the node group or the user data, or give it a prefix of your own. A controller or kubectl may set it once the node is there.",
		Links: []string{
			"https://kubernetes.io/docs/reference/access-authn-authz/admission-controllers/#noderestriction",
			"https://kubernetes.io/docs/reference/command-line-tools-reference/kubelet/",
		},
		Run: runForbiddenNodeLabel,
	})
}

// forbidden are those labels that the kubelet refuses to start with, sorted
// (ValidateKubeletFlags and IsKubeletLabel in pkg/kubelet/apis of Kubernetes).
func forbidden(labels map[string]string) []string {
	var list []string
	for _, key := range slices.Sorted(maps.Keys(labels)) {
		if reserved(key) && !allowed(key) {
			list = append(list, key)
		}
	}
	return list
}

func reserved(key string) bool {
	namespace, _, ok := strings.Cut(key, "/")
	return ok && (within(namespace, "kubernetes.io") || within(namespace, "k8s.io"))
}

func within(namespace, domain string) bool {
	return namespace == domain || strings.HasSuffix(namespace, "."+domain)
}

func allowed(key string) bool {
	switch key {
	case "kubernetes.io/hostname", "kubernetes.io/os", "kubernetes.io/arch",
		"topology.kubernetes.io/zone", "topology.kubernetes.io/region",
		"failure-domain.beta.kubernetes.io/zone", "failure-domain.beta.kubernetes.io/region",
		"beta.kubernetes.io/instance-type", "beta.kubernetes.io/os", "beta.kubernetes.io/arch":
		return true
	}
	namespace, _, _ := strings.Cut(key, "/")
	return within(namespace, "kubelet.kubernetes.io") || within(namespace, "node.kubernetes.io")
}

func runForbiddenNodeLabel(s *facts.View) []finding.Finding {
	st := s.Boot()
	suspects, well := st.S.Suspects()
	passed := facts.IDs(well)
	blind := map[snapshot.Failure][]string{}
	var order []string
	found := map[string]*labelled{}
	for _, i := range suspects {
		l, why := labels(st, i)
		switch {
		case l != nil:
			key := l.resource + "\n" + strings.Join(l.keys, ",") + string(l.sure)
			if found[key] == nil {
				found[key] = l
				order = append(order, key)
			}
			found[key].instances = append(found[key].instances, i.ID)
		case why.Source != "":
			blind[why] = append(blind[why], i.ID)
		default:
			passed = append(passed, i.ID)
		}
	}
	var list []finding.Finding
	if len(passed) > 0 {
		list = append(list, finding.Finding{Outcome: finding.Pass, Resource: s.Cluster.Name, Covers: passed})
	}
	list = append(list, unlooked(s, blind)...)
	for _, key := range order {
		list = append(list, found[key].finding(s))
	}
	return list
}

// labelled is a source of labels, of which the kubelet refuses some.
type labelled struct {
	resource  string
	from      string
	keys      []string
	sure      finding.Confidence
	doubt     string
	group     string
	instances []string
}

// labels finds labels of an instance that the kubelet refuses, or why it
// cannot be told.
func labels(st *facts.BootConfig, i *snapshot.Instance) (*labelled, snapshot.Failure) {
	t, why := st.Data(i)
	if t != nil && t.Err != nil {
		t, why = nil, t.Undecoded()
	}
	if t != nil {
		if keys := forbidden(t.Labels); len(keys) > 0 {
			l := &labelled{resource: st.Origin(i), from: "user data, read from " + t.From, keys: keys, sure: finding.Certain}
			if t.Branch || t.Calls > 1 {
				l.sure, l.doubt = finding.Likely, " A later call of the bootstrap script may leave it out."
			}
			if group, _ := st.Nodegroup(i); group != nil && len(forbidden(group.Labels)) > 0 {
				l.resource, l.group = group.Name, group.Name
			}
			return l, snapshot.Failure{}
		}
	}
	group, managed := st.Nodegroup(i)
	if managed && group == nil && t == nil {
		return nil, unread(st, i)
	}
	// EKS writes a node group's labels into the user data for the image that
	// it chose. With an image of somebody's own it sets them later itself.
	if group != nil && group.AMIType != "CUSTOM" {
		if keys := forbidden(group.Labels); len(keys) > 0 {
			l := &labelled{resource: group.Name, group: group.Name, from: "labels of node group " + group.Name, keys: keys, sure: finding.Certain}
			switch {
			case t != nil && len(t.Labels) > 0:
				l.sure, l.doubt = finding.Likely, " The user data of this instance has other labels: the node group's may be newer than it."
			case groupJoins(st, group.Name):
				l.sure, l.doubt = finding.Likely, " The node group has Ready nodes: the label may be newer than they are."
			}
			return l, snapshot.Failure{}
		}
	}
	if t == nil {
		return nil, why
	}
	return nil, snapshot.Failure{}
}

// groupJoins tells that a managed node group has a Ready node.
func groupJoins(st *facts.BootConfig, name string) bool {
	return slices.ContainsFunc(st.S.Instances, func(i snapshot.Instance) bool {
		n := st.Nodes[i.ID]
		return i.Tags["eks:nodegroup-name"] == name && n != nil && n.Joined()
	})
}

func (l *labelled) finding(s *facts.View) finding.Finding {
	f := finding.Finding{
		Outcome: finding.Fail, Resource: l.resource, Covers: l.instances, Instances: slices.Clone(l.instances),
		Title: phrase.Title("kubelet refuses label %s", l.keys[0]),
		Why: fmt.Sprintf("The kubelet of %s does not start: %s %s in a namespace of Kubernetes that a node may not set for itself.%s",
			phrase.Subject(l.instances, "instance"), phrase.Some(l.keys, 3), phrase.Verb(l.keys, "is", "are"), l.doubt),
		Evidence: []finding.Evidence{{What: "Refused, from " + l.from, Value: phrase.Some(l.keys, 10)}},
		Fix: finding.Fix{
			Text:    fmt.Sprintf("Take %s out of the user data, or give it a prefix of your own; kubectl may set it once the node is there. Then replace %s.", phrase.Some(l.keys, 3), phrase.Subject(l.instances, "instance")),
			Console: link.EC2(s, "InstanceDetails:instanceId="+l.instances[0]),
		},
	}
	if l.sure != finding.Certain {
		f.Confidence = l.sure
	}
	if l.group != "" {
		f.Fix.Text = fmt.Sprintf("Take %s out of node group %s, or give it a prefix of your own; kubectl may set it once the node is there. Then replace %s.", phrase.Some(l.keys, 3), l.group, phrase.Subject(l.instances, "instance"))
		f.Fix.Command = command.AWS(s, "eks update-nodegroup-config", "--cluster-name", s.Cluster.Name, "--nodegroup-name", l.group, "--labels", "removeLabels="+strings.Join(l.keys, ","))
	}
	return f
}
