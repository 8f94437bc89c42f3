package instance

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"rollcall/shared/checkid"
	"rollcall/shared/checks/check"
	"rollcall/shared/checks/command"
	"rollcall/shared/checks/facts"
	"rollcall/shared/checks/finding"
	"rollcall/shared/checks/link"
	"rollcall/shared/checks/phrase"
	"rollcall/shared/shell"
	"rollcall/shared/snapshot"
)

func UserData() check.Check {
	return usingStart(check.Check{
		ID:         checkid.InstanceUserData,
		Title:      "User data does not lead the instance to its cluster",
		Confidence: finding.Certain,
		Explains:   []checkid.ID{checkid.AnyJoinCause},
		// Nodegroups and images tell who has to bring the bootstrap; where
		// they were not read only those verdicts are Unknown.
		Needs:    []snapshot.Source{snapshot.Clusters, snapshot.Instances, snapshot.UserDataOf},
		After:    []checkid.ID{checkid.InstanceForbiddenNodeLabel},
		AtLaunch: true,
		Cause:    "The user data has no bootstrap where EKS adds none (a custom image, a node group of one's own), or it is for another kind of image, cannot be parsed, lacks a required setting, or names another cluster, endpoint, certificate authority or service range. What a script works out when it runs is not compared, and neither is what another image may hold.",
		Fix:      "Put into a new version of the launch template what the image needs: a NodeConfig with the cluster's name, endpoint, certificate authority and service range for Amazon Linux 2023, a call of bootstrap.sh for Amazon Linux 2, TOML for Bottlerocket. Then replace the instances.",
		Links: []string{
			"https://awslabs.github.io/amazon-eks-ami/nodeadm/",
			"https://docs.aws.amazon.com/eks/latest/userguide/launch-templates.html#launch-template-user-data",
			"https://docs.aws.amazon.com/eks/latest/userguide/launch-node-bottlerocket.html",
		},
		Run: runUserData,
	})
}

// flaw is one thing that is wrong with an instance's user data.
type flaw struct {
	sure finding.Confidence
	// says ends the title: "User data of lt-0a says …".
	says     string
	why      string
	evidence []finding.Evidence
	fix      string
}

func runUserData(s *facts.View) []finding.Finding {
	st := s.Boot()
	suspects, well := st.S.Suspects()
	var passed, inDoubt []string
	var list []finding.Finding
	var order []string
	groups := map[string]*facts.DecodedUserData{}
	flaws := map[string][]flaw{}
	members := map[string][]*snapshot.Instance{}
	blind := map[snapshot.Failure][]string{}
	for _, i := range suspects {
		if st.S.Index().Nodes[i.ID] != nil {
			passed = append(passed, i.ID) // it registered with what it was told: the node failed later
			continue
		}
		t, why := st.Data(i)
		if t == nil {
			blind[why] = append(blind[why], i.ID)
			continue
		}
		found, why := judge(st, i, t)
		switch {
		case len(found) > 0:
			if f, denied := st.Denied(i); denied {
				found = fromTemplate(found, f)
			}
			key := st.Origin(i)
			for _, f := range found {
				key += "\n" + string(f.sure) + f.says
			}
			if groups[key] == nil {
				order = append(order, key)
				groups[key], flaws[key] = t, found
			}
			members[key] = append(members[key], i)
		case why.Source != "":
			blind[why] = append(blind[why], i.ID)
		case len(t.Scripted) > 0:
			inDoubt = append(inDoubt, i.ID)
		default:
			passed = append(passed, i.ID)
		}
	}
	if passed = append(passed, facts.IDs(well)...); len(passed) > 0 {
		list = append(list, finding.Finding{Outcome: finding.Pass, Resource: s.Cluster.Name, Covers: passed})
	}
	if len(inDoubt) > 0 {
		list = append(list, finding.Finding{Outcome: finding.Pass, Resource: s.Cluster.Name, Covers: inDoubt, Evidence: []finding.Evidence{
			{What: "User data", Value: "all that can be compared is right; its scripts do more than can be followed"},
		}})
	}
	list = append(list, unlooked(s, blind)...)
	for _, key := range order {
		list = append(list, userDataFinding(st, members[key], groups[key], flaws[key]))
	}
	return list
}

// fromTemplate are flaws of a launch template's user data where the instance's own was not
// read.
func fromTemplate(list []flaw, why snapshot.Failure) []flaw {
	list = slices.Clone(list)
	for k := range list {
		if list[k].sure == finding.Certain {
			list[k].sure = finding.Likely
		}
	}
	list[0].evidence = append(slices.Clone(list[0].evidence), finding.Evidence{What: "User data of the instance", Value: fmt.Sprintf("not checked: %s %s", why.Call, why.Reason)})
	return list
}

// unlooked are the Unknowns: one for each thing that could not be looked at.
func unlooked(s *facts.View, blind map[snapshot.Failure][]string) []finding.Finding {
	var list []finding.Finding
	for why, instances := range blind {
		slices.Sort(instances)
		list = append(list, finding.Finding{Outcome: finding.Unknown, Resource: s.Cluster.Name, Covers: instances, Blocked: []snapshot.Failure{why}})
	}
	slices.SortFunc(list, func(a, b finding.Finding) int { return slices.Compare(a.Covers, b.Covers) })
	return list
}

// strength orders confidences, the strongest first.
func strength(c finding.Confidence) int {
	return slices.Index([]finding.Confidence{finding.Certain, finding.Likely, finding.Possible}, c)
}

func userDataFinding(st *facts.BootConfig, of []*snapshot.Instance, t *facts.DecodedUserData, flaws []flaw) finding.Finding {
	slices.SortStableFunc(flaws, func(a, b flaw) int { return cmp.Compare(strength(a.sure), strength(b.sure)) })
	first := flaws[0]
	origin := st.Origin(of[0])
	f := finding.Finding{
		Outcome: finding.Fail, Resource: origin, Covers: facts.IDs(of), Instances: facts.IDs(of),
		Title: phrase.Title("User data of %s %s", origin, first.says),
	}
	if first.sure != finding.Certain {
		f.Confidence = first.sure
	}
	var why []string
	for _, w := range flaws {
		why = append(why, w.why)
		f.Evidence = append(f.Evidence, w.evidence...)
	}
	f.Why = strings.Join(why, " ")
	kinds := make([]string, len(t.Kinds))
	for n, k := range t.Kinds {
		kinds[n] = string(k)
	}
	f.Evidence = append(f.Evidence, finding.Evidence{What: "User data, read from " + t.From, Value: cmp.Or(phrase.And(kinds), "empty")})
	f.Evidence = append(f.Evidence, image(st, of[0]))
	f.Fix = finding.Fix{Text: first.fix, Console: console(st, origin)}
	if len(flaws) > 1 {
		f.Fix.Text = "Correct all of these. " + first.fix
	}
	if strings.HasPrefix(origin, "lt-") {
		f.Resources = []string{of[0].AMI}
		f.Fix.Text += fmt.Sprintf(" Make a new version of %s, use it in the group, and replace the instances: user data is read at the first start only.", origin)
		f.Fix.Command = shell.Pipe(command.AWS(st.S, "ec2 describe-launch-template-versions", "--launch-template-id", origin, "--versions", "$Latest",
			"--query", "LaunchTemplateVersions[0].LaunchTemplateData.UserData", "--output", "text"), "base64 -d")
	}
	return f
}

// image is the evidence of what image an instance runs.
func image(st *facts.BootConfig, i *snapshot.Instance) finding.Evidence {
	value := "its name and owner could not be read"
	if image := st.Images[i.AMI]; image != nil {
		value = fmt.Sprintf("%s, of %s", image.Name, cmp.Or(image.OwnerAlias, image.Owner))
	} else if why := st.S.Why(snapshot.LaunchedImagesOf); !st.S.Has(snapshot.LaunchedImagesOf) && why.Call != "" {
		value += fmt.Sprintf(" (not checked: %s %s)", why.Call, why.Reason)
	}
	if group, _ := st.Nodegroup(i); group != nil && group.AMIType != "" {
		value += "; AMI type " + group.AMIType
	}
	return finding.Evidence{What: "Image " + i.AMI, Value: value}
}

func console(st *facts.BootConfig, origin string) string {
	if strings.HasPrefix(origin, "lt-") {
		return link.EC2(st.S, "LaunchTemplateDetails:launchTemplateId="+origin)
	}
	return link.EC2(st.S, "InstanceDetails:instanceId="+origin)
}
