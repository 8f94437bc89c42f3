package detect

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"rollcall/shared/report"
	"rollcall/shared/snapshot"
)

// maxActivities is how many scaling activities of a group are told: the last
// ones show what is happening, the rest is a link away.
const maxActivities = 3

// Facts are what a person would look up next: how the nodegroup, its group
// and the cluster say they are. They often say that all is well; that is why
// the incident is hard to find by hand.
func Facts(s *snapshot.Snapshot) []report.Fact {
	var facts []report.Fact
	if s.Read[snapshot.Clusters] && s.Cluster.Status != "" {
		facts = append(facts, report.Fact{What: "Cluster", Value: fmt.Sprintf("%s, Kubernetes %s, endpoint %s%s", s.Cluster.Status, s.Cluster.Version, access(s.Cluster), egress(s.Cluster))})
	}
	for _, n := range s.Nodegroups {
		facts = append(facts, report.Fact{What: "Nodegroup " + n.Name, Value: fmt.Sprintf("%s, %s, min %d max %d desired %d", n.Status, health(n.Issues), n.Min, n.Max, n.Desired)})
	}
	for _, g := range s.Groups {
		told := 0
		for _, a := range s.Activities {
			if a.Group != g.Name || told == maxActivities {
				continue
			}
			told++
			facts = append(facts, report.Fact{What: "Scaling activity", Value: scaling(a)})
		}
	}
	return facts
}

func access(c snapshot.Cluster) string {
	switch {
	case c.EndpointPublic && c.EndpointPrivate:
		return "public and private"
	case c.EndpointPrivate:
		return "private only"
	case c.EndpointPublic:
		return "public only"
	}
	return "access not told"
}

func health(issues []snapshot.Issue) string {
	if len(issues) == 0 {
		return "no health issue"
	}
	var texts []string
	for _, i := range issues {
		texts = append(texts, strings.TrimSuffix(i.Code+": "+i.Message, "."))
	}
	return strings.Join(texts, "; ")
}

// egress is how the control plane reaches webhooks, nodes and the rest, where the owner
// chose it (EKS API, VpcConfigResponse, controlPlaneEgressMode).
func egress(c snapshot.Cluster) string {
	if c.EgressMode == "" || c.EgressMode == "AWS_MANAGED" {
		return ""
	}
	return ", control plane egress " + c.EgressMode
}

func scaling(a snapshot.Activity) string {
	text := fmt.Sprintf("%s %s: %s", a.Started.UTC().Format(time.TimeOnly), a.Status, a.About)
	if a.Message != "" && !strings.Contains(a.About, a.Message) {
		text += " (" + a.Message + ")"
	}
	return text
}

// Blind are the sources that could not be read, sorted; one of those that the
// same answer kept from being read.
func Blind(s *snapshot.Snapshot) []snapshot.Failure {
	var list []snapshot.Failure
	told := map[snapshot.Failure]bool{}
	sources := slices.Sorted(maps.Keys(s.Failures))
	// Of what the Kubernetes API kept from being read the nodes matter most.
	slices.SortStableFunc(sources, func(a, b snapshot.Source) int { return isNodes(b) - isNodes(a) })
	for _, source := range sources {
		f := s.Failures[source]
		key := f
		key.Source = ""
		if f.Reason == snapshot.NotRead && f.Code != snapshot.NotCaptured || told[key] {
			continue // what kept us from asking has a failure of its own
		}
		told[key] = true
		list = append(list, f)
	}
	slices.SortStableFunc(list, func(a, b snapshot.Failure) int { return strings.Compare(string(a.Source), string(b.Source)) })
	return list
}

func isNodes(s snapshot.Source) int {
	if s == snapshot.Nodes {
		return 1
	}
	return 0
}
