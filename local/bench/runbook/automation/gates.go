package automation

import (
	"strings"

	"rollcall/shared/checkid"
	"rollcall/shared/snapshot"
)

// gates are what ends a run before its checks (document, lines 28 to 110).
func gates(s Subject) (Report, bool) {
	c := s.Account.Cluster
	if c.Status != "" && c.Status != "ACTIVE" {
		// The report still says that the cluster is not ACTIVE.
		f := cause("the cluster is "+c.Status, checkid.ClusterHealth)
		f.Step = "0"
		return Report{Stopped: "the cluster is not ACTIVE", Findings: []Finding{f}}, true
	}
	if s.Node.State != "running" {
		// The document asks for a running instance; that it has ended is said,
		// why is not.
		f := symptom("the instance is "+s.Node.State, checkid.InstanceEndedEarly)
		f.Step = "0"
		return Report{Stopped: "the instance is not running", Findings: []Finding{f}}, true
	}
	if os := unsupported(s); os != "" {
		return Report{Stopped: os + " is not supported"}, true
	}
	return Report{}, false
}

// unsupported is the operating system that the document excludes, or "".
func unsupported(s Subject) string {
	if s.Node.Windows {
		return "Windows"
	}
	image, _ := imageOf(s)
	if strings.Contains(strings.ToLower(image.Name), "bottlerocket") {
		return "Bottlerocket"
	}
	for _, n := range s.Account.Nodegroups {
		if n.Name != "" && n.Name == s.Node.Tags["eks:nodegroup-name"] && strings.HasPrefix(n.AMIType, "BOTTLEROCKET") {
			return "Bottlerocket"
		}
	}
	return ""
}

func imageOf(s Subject) (snapshot.Image, bool) {
	return find(s.Account.Images, func(i snapshot.Image) bool { return i.ID == s.Node.AMI })
}

func find[T any](list []T, is func(T) bool) (T, bool) {
	for _, v := range list {
		if is(v) {
			return v, true
		}
	}
	var none T
	return none, false
}
