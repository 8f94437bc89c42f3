package inspect

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
		facts = append(facts, report.Fact{What: "Cluster", Value: fmt.Sprintf("%s, Kubernetes %s, endpoint %s", s.Cluster.Status, s.Cluster.Version, access(s.Cluster))})
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
			facts = append(facts, report.Fact{What: "Scaling activity", Value: activity(a)})
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
		texts = append(texts, i.Code+": "+i.Message)
	}
	return strings.Join(texts, "; ")
}

func activity(a snapshot.Activity) string {
	text := fmt.Sprintf("%s %s: %s", a.Started.UTC().Format(time.TimeOnly), a.Status, a.About)
	if a.Message != "" && !strings.Contains(a.About, a.Message) {
		text += " (" + a.Message + ")"
	}
	return text
}

// Blind are the sources that could not be read, sorted.
func Blind(s *snapshot.Snapshot) []snapshot.Failure {
	var list []snapshot.Failure
	for _, source := range slices.Sorted(maps.Keys(s.Failures)) {
		list = append(list, s.Failures[source])
	}
	return list
}
