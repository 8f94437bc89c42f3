package instance

import (
	"fmt"
	"rollcall/shared/checkid"
	"slices"
	"strings"

	"rollcall/shared/checks/check"
	"rollcall/shared/checks/command"
	"rollcall/shared/checks/facts"
	"rollcall/shared/checks/finding"
	"rollcall/shared/checks/link"
	"rollcall/shared/checks/phrase"
	"rollcall/shared/snapshot"
)

func IMDS() check.Check {
	return usingStart(check.Check{
		ID:         checkid.InstanceIMDS,
		Title:      "The instance's metadata service is off or out of reach",
		Confidence: finding.Certain,
		Needs:      []snapshot.Source{snapshot.Clusters, snapshot.Instances},
		Uses:       []snapshot.Source{snapshot.WaitingPods, snapshot.PodEventsOf},
		Proof:      check.ByPassingUnmet,
		AtLaunch:   true,
		Cause:      "The metadata service is off: the instance cannot read its user data, its identity or its role's credentials, so nothing of the bootstrap works. Or tokens are required and may take one hop only: pods that are not on the host's network get no answer, and with it no region and no credentials.",
		Fix:        "Switch the metadata service on, with a hop limit of 2 where pods need it, in the launch template and on the instances.",
		Links: []string{
			"https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/configuring-instance-metadata-options.html",
			"https://docs.aws.amazon.com/eks/latest/best-practices/identity-and-access-management.html",
		},
		Run: runIMDS,
	})
}

func runIMDS(s *facts.View) []finding.Finding {
	st := s.Boot()
	suspects, well := s.WithStarving()
	starving, want := facts.IDs(s.Starving()), s.WithoutMetadata()
	for _, i := range want {
		if !slices.Contains(suspects, i) {
			suspects = append(suspects, i)
		}
	}
	passed := facts.IDs(facts.Except(well, want))
	blind := map[snapshot.Failure][]string{}
	off, near, asked := facts.NewGrouped(st), facts.NewGrouped(st), facts.NewGrouped(st)
	for _, i := range suspects {
		m := i.Metadata
		switch {
		case m.Endpoint == "disabled":
			off.Add(i)
		case m.Endpoint != "enabled":
			why := snapshot.Failure{Source: snapshot.Instances, Reason: snapshot.NotRead, Message: "EC2 does not say whether the metadata service is on"}
			blind[why] = append(blind[why], i.ID)
		case slices.Contains(want, i) && m.HopLimit == 1 && m.Tokens != "optional":
			asked.Add(i)
		case slices.Contains(starving, i.ID): // the plugin is on the host's network
			passed = append(passed, i.ID)
		case m.HopLimit == 1 && m.Tokens != "optional" && !facts.OfAutoMode(i):
			// The limit counts for the answer with the token only: where
			// requests without one are allowed, pods use those. Auto Mode means it so.
			near.Add(i)
		default:
			passed = append(passed, i.ID)
		}
	}
	var list []finding.Finding
	if len(passed) > 0 {
		list = append(list, finding.Finding{Outcome: finding.Pass, Resource: s.Cluster.Name, Covers: passed})
	}
	list = append(list, unlooked(s, blind)...)
	for origin, of := range off.All() {
		var sure finding.Confidence
		if joined := slices.Concat(starving, facts.IDs(want)); !slices.ContainsFunc(of, func(id string) bool { return !slices.Contains(joined, id) }) {
			sure = finding.Likely // it joined, and was cut off since
		}
		list = append(list, metadataFinding(st, origin, of, sure,
			fmt.Sprintf("the metadata service of %s is off", phrase.Subject(of, "instance")),
			fmt.Sprintf("%s cannot read %s user data, identity and role's credentials: nothing of the bootstrap works.", phrase.Subject(of, "instance"), phrase.Verb(of, "its", "their")),
			finding.Evidence{What: "HttpEndpoint", Value: "disabled"}, "--http-endpoint enabled"))
	}
	for origin, of := range near.All() {
		list = append(list, outOfReach(st, origin, of, finding.Possible))
	}
	for origin, of := range asked.All() {
		list = append(list, outOfReach(st, origin, of, finding.Likely))
	}
	return list
}

// outOfReach is the finding on instances whose tokens take one hop: likely where the warning
// about a pod there names metadata.
func outOfReach(st *facts.BootConfig, origin string, of []string, sure finding.Confidence) finding.Finding {
	f := metadataFinding(st, origin, of, sure,
		fmt.Sprintf("metadata of %s is out of pods' reach", phrase.Subject(of, "instance")),
		"Tokens are required and their hop limit is 1: pods that are not on the host's network get no answer. Those that ask for the region, the instance or the role's credentials fail; the kubelet and the network plugin are on the host's network and do not.",
		finding.Evidence{What: "HttpPutResponseHopLimit, HttpTokens", Value: "1, required"}, "--http-put-response-hop-limit 2")
	for _, w := range st.S.PodWaits() {
		if slices.Contains(of, w.Instance) && w.ForMetadata() {
			f.Evidence = append(f.Evidence, finding.Evidence{What: "Pod " + w.Pod, Value: w.Event.Reason + ": " + phrase.Clip(w.Event.Message)})
			break
		}
	}
	return f
}

func metadataFinding(st *facts.BootConfig, origin string, of []string, sure finding.Confidence, says, why string, evidence finding.Evidence, option string) finding.Finding {
	return finding.Finding{
		Outcome: finding.Fail, Confidence: sure, Resource: origin, Covers: of, Instances: of,
		Title: phrase.Title("%s", says), Pods: st.S.WaitingFor(of), Why: why, Evidence: []finding.Evidence{evidence},
		Fix: finding.Fix{
			Text:    fmt.Sprintf("Set it on %s, and in a new version of the launch template for those to come.", phrase.Subject(of, "instance")),
			Command: command.AWS(st.S, "ec2 modify-instance-metadata-options", "--instance-id", of[0], strings.Fields(option)),
			Console: link.EC2(st.S, "InstanceDetails:instanceId="+of[0]),
		},
	}
}
