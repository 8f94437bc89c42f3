package checks

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"rollcall/shared/shell"
	"rollcall/shared/snapshot"
)

func userData() Check {
	return usingStart(Check{
		ID:         "instance/user-data",
		Title:      "User data does not lead the instance to its cluster",
		Confidence: Certain,
		Explains:   []ID{AnyJoinCause},
		// Nodegroups and images tell who has to bring the bootstrap; where
		// they were not read only those verdicts are Unknown.
		Needs:    []snapshot.Source{snapshot.Clusters, snapshot.Instances, snapshot.UserDataOf},
		After:    []ID{"instance/forbidden-node-label"},
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
	sure Confidence
	// says ends the title: "User data of lt-0a says …".
	says     string
	why      string
	evidence []Evidence
	fix      string
}

func runUserData(s *View) []Finding {
	st := s.Boot()
	suspects, well := st.s.Suspects()
	var passed, inDoubt []string
	var list []Finding
	var order []string
	groups := map[string]*told{}
	flaws := map[string][]flaw{}
	members := map[string][]*snapshot.Instance{}
	blind := map[snapshot.Failure][]string{}
	for _, i := range suspects {
		t, why := st.data(i)
		if t == nil {
			blind[why] = append(blind[why], i.ID)
			continue
		}
		found, why := st.judge(i, t)
		switch {
		case len(found) > 0:
			key := st.origin(i)
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
	if passed = append(passed, ids(well)...); len(passed) > 0 {
		list = append(list, Finding{Outcome: Pass, Resource: s.Cluster.Name, Covers: passed})
	}
	if len(inDoubt) > 0 {
		list = append(list, Finding{Outcome: Pass, Resource: s.Cluster.Name, Covers: inDoubt, Evidence: []Evidence{
			{What: "User data", Value: "all that can be compared is right; its scripts do more than can be followed"},
		}})
	}
	list = append(list, unlooked(s, blind)...)
	for _, key := range order {
		list = append(list, st.userData(members[key], groups[key], flaws[key]))
	}
	return list
}

// unlooked are the Unknowns: one for each thing that could not be looked at.
func unlooked(s *View, blind map[snapshot.Failure][]string) []Finding {
	var list []Finding
	for why, instances := range blind {
		slices.Sort(instances)
		list = append(list, Finding{Outcome: Unknown, Resource: s.Cluster.Name, Covers: instances, Blocked: []snapshot.Failure{why}})
	}
	slices.SortFunc(list, func(a, b Finding) int { return slices.Compare(a.Covers, b.Covers) })
	return list
}

// strength orders confidences, the strongest first.
func strength(c Confidence) int {
	return slices.Index([]Confidence{Certain, Likely, Possible}, c)
}

func (st *starts) userData(of []*snapshot.Instance, t *told, flaws []flaw) Finding {
	slices.SortStableFunc(flaws, func(a, b flaw) int { return cmp.Compare(strength(a.sure), strength(b.sure)) })
	first := flaws[0]
	origin := st.origin(of[0])
	f := Finding{
		Outcome: Fail, Resource: origin, Covers: ids(of), Instances: ids(of),
		Title: title("User data of %s %s", origin, first.says),
	}
	if first.sure != Certain {
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
	f.Evidence = append(f.Evidence, Evidence{What: "User data, read from " + t.from, Value: cmp.Or(and(kinds), "empty")})
	f.Evidence = append(f.Evidence, st.image(of[0]))
	f.Fix = Fix{Text: first.fix, Console: st.console(origin)}
	if len(flaws) > 1 {
		f.Fix.Text = "Correct all of these. " + first.fix
	}
	if strings.HasPrefix(origin, "lt-") {
		f.Resources = []string{of[0].AMI}
		f.Fix.Text += fmt.Sprintf(" Make a new version of %s, use it in the group, and replace the instances: user data is read at the first start only.", origin)
		f.Fix.Command = shell.Pipe(aws(st.s, "ec2 describe-launch-template-versions", "--launch-template-id", origin, "--versions", "$Latest",
			"--query", "LaunchTemplateVersions[0].LaunchTemplateData.UserData", "--output", "text"), "base64 -d")
	}
	return f
}

// image is the evidence of what image an instance runs.
func (st *starts) image(i *snapshot.Instance) Evidence {
	value := "its name and owner could not be read"
	if image := st.images[i.AMI]; image != nil {
		value = fmt.Sprintf("%s, of %s", image.Name, cmp.Or(image.OwnerAlias, image.Owner))
	}
	if group, _ := st.nodegroup(i); group != nil && group.AMIType != "" {
		value += "; AMI type " + group.AMIType
	}
	return Evidence{What: "Image " + i.AMI, Value: value}
}

func (st *starts) console(origin string) string {
	if strings.HasPrefix(origin, "lt-") {
		return ec2Console(st.s, "LaunchTemplateDetails:launchTemplateId="+origin)
	}
	return ec2Console(st.s, "InstanceDetails:instanceId="+origin)
}
