package instance

import (
	"bytes"
	"cmp"
	"crypto/x509"
	"fmt"
	"maps"
	"slices"

	"rollcall/shared/checks/command"
	"rollcall/shared/checks/facts"
	"rollcall/shared/checks/finding"
	"rollcall/shared/checks/link"
	"rollcall/shared/checks/phrase"
	"rollcall/shared/node/userdata"
	"rollcall/shared/shell"
	"rollcall/shared/snapshot"
)

// bundle is a cluster's authorities: the one that signs is listed first since the order was
// fixed on 11 September 2026 (aws/containers-roadmap#2638). The others are its successor or
// retired: a cluster has two at most (EKS API reference, CreateCertificateAuthority).
type bundle struct {
	active []byte
	others [][]byte
	// successor reports that one of the others is newer than the active one.
	successor bool
}

// bundleOf is a cluster's bundle; false where it has a single authority. A newer one behind
// the first is the successor. Where the dates do not tell, a customer who activated the first
// one retired the other.
func bundleOf(c snapshot.Cluster) (bundle, bool) {
	list := userdata.Certificates(c.CA)
	if len(list) < 2 {
		return bundle{}, false
	}
	b := bundle{active: list[0], others: list[1:], successor: c.CAActivatedBy != "CUSTOMER"}
	first, err := x509.ParseCertificate(b.active)
	other, err2 := x509.ParseCertificate(b.others[0])
	if err == nil && err2 == nil && !first.NotBefore.Equal(other.NotBefore) {
		b.successor = other.NotBefore.After(first.NotBefore)
	}
	return b, true
}

// trusts reports whether user data names the authority that signs, and another one of the
// bundle.
func (b bundle) trusts(t *facts.DecodedUserData) (active, other bool) {
	for _, c := range userdata.Authorities(t.CA.Value) {
		active = active || bytes.Equal(c, b.active)
		other = other || slices.ContainsFunc(b.others, func(o []byte) bool { return bytes.Equal(o, c) })
	}
	return active, other
}

func runClusterCA(s *facts.View) []finding.Finding {
	b, two := bundleOf(s.Cluster)
	st := s.Boot()
	suspects, well := st.S.Suspects()
	passed := append(facts.IDs(well), s.Cluster.Name)
	if !two {
		return []finding.Finding{{Outcome: finding.Pass, Resource: s.Cluster.Name, Covers: append(passed, facts.IDs(suspects)...)}}
	}
	var list []finding.Finding
	blind := map[snapshot.Failure][]string{}
	g := facts.NewGrouped(st)
	for _, i := range suspects {
		t, why := st.Data(i)
		switch {
		case t == nil:
			blind[why] = append(blind[why], i.ID)
			continue
		case t.Err != nil:
			blind[t.Undecoded()] = append(blind[t.Undecoded()], i.ID)
			continue
		case !t.CA.Known() || t.CA.Value == "" || t.Describes && !t.Has(userdata.NodeConfig):
			passed = append(passed, i.ID)
			continue
		}
		if active, other := b.trusts(t); active || !other { // none of them: instance/user-data
			passed = append(passed, i.ID)
			continue
		}
		g.Add(i)
	}
	told := map[string]bool{}
	for origin, of := range g.All() {
		i := st.Instances[of[0]]
		t, _ := st.Data(i)
		told[origin], told[facts.TemplateOf(i).ID] = true, true
		list = append(list, userDataFinding(st, instancesOf(st, of), t, []flaw{b.flaw(trust(st, i, t), t)}))
	}
	list = append(list, b.templates(st, told)...)
	list = append(list, unlooked(s, blind)...)
	return append(list, finding.Finding{Outcome: finding.Pass, Resource: s.Cluster.Name, Covers: passed})
}

func instancesOf(st *facts.BootConfig, ids []string) []*snapshot.Instance {
	list := make([]*snapshot.Instance, len(ids))
	for n, id := range ids {
		list[n] = st.Instances[id]
	}
	return list
}

// flaw is user data without the authority that signs.
func (b bundle) flaw(sure finding.Confidence, t *facts.DecodedUserData) flaw {
	what := "a retired authority"
	if b.successor {
		what = "a successor authority"
	}
	got := userdata.Authorities(t.CA.Value)
	return flaw{
		sure: sure, says: "trusts " + what + " alone",
		why:      fmt.Sprintf("The certificate authority in it is %s, and the cluster's endpoint has a certificate of %s: the kubelet does not trust it.", fingerprint(got[0]), fingerprint(b.active)),
		evidence: []finding.Evidence{{What: "The certificate authority in user data", Value: fingerprint(got[0])}, {What: "The active certificate authority", Value: fingerprint(b.active)}},
		fix:      "Set the certificate authority to the cluster's whole bundle (certificateAuthority.data).",
	}
}

// templates is the advice on launch templates that trust one of two authorities: those
// without the successor break when it is activated, those without the active one with the
// next launch.
func (b bundle) templates(st *facts.BootConfig, told map[string]bool) []finding.Finding {
	var list []finding.Finding
	for n := range st.S.LaunchTemplates {
		lt := &st.S.LaunchTemplates[n]
		t := st.TemplateData(lt)
		if told[lt.ID] || t.Err != nil || !t.CA.Known() || t.CA.Value == "" {
			continue
		}
		active, other := b.trusts(t)
		if active == other || active && !b.successor {
			continue
		}
		told[lt.ID] = true
		name := cmp.Or(lt.Name, lt.ID)
		nodes := startedFrom(st, lt.ID)
		f := finding.Finding{
			Outcome: finding.Fail, Confidence: finding.Advice, Resource: lt.ID, Covers: []string{lt.ID}, Resources: []string{lt.ID, st.S.Cluster.Name},
			Title: phrase.Title("%s will not trust %s once its new authority is active", name, st.S.Cluster.Name),
			Why: fmt.Sprintf("%s has a successor certificate authority. Version %s of launch template %s (%s) trusts the present one alone: when the successor is activated, by somebody or by EKS itself before the present one expires, what starts from it does not join, and the nodes that did lose the endpoint.",
				st.S.Cluster.Name, lt.Version, name, lt.ID),
			Evidence: []finding.Evidence{
				{What: lt.ID + " version " + lt.Version, Value: fingerprint(userdata.Authorities(t.CA.Value)[0])},
				{What: "Bundle of " + st.S.Cluster.Name, Value: fingerprint(b.active) + " (active), " + fingerprint(b.others[0])},
				{What: "Instances from it", Value: cmp.Or(phrase.Some(nodes, 5), "none")},
			},
			Fix: finding.Fix{
				Text:    "Make a version with the cluster's whole bundle (the command prints it), let the group use it, and replace the nodes before the successor is activated. In a node group whose image EKS chooses, update the node group.",
				Command: command.AWS(st.S, "eks describe-cluster", "--name", st.S.Cluster.Name, "--query", "cluster.certificateAuthority.data", "--output", "text"),
				Console: link.EC2(st.S, "LaunchTemplateDetails:launchTemplateId="+lt.ID),
			},
		}
		if !active {
			f.Title = phrase.Title("%s does not trust the authority that signs for %s", name, st.S.Cluster.Name)
			f.Why = fmt.Sprintf("Version %s of launch template %s (%s) trusts only a certificate authority that does not sign for %s: what starts from it next does not join.", lt.Version, name, lt.ID, st.S.Cluster.Name)
		}
		list = append(list, f)
	}
	return list
}

// startedFrom are the instances that run from a launch template.
func startedFrom(st *facts.BootConfig, template string) []string {
	var ids []string
	for n := range st.S.Instances {
		if i := &st.S.Instances[n]; !i.Ended() && facts.TemplateOf(i).ID == template {
			ids = append(ids, i.ID)
		}
	}
	return ids
}

func runClusterTag(s *facts.View) []finding.Finding {
	st := s.Boot()
	tag := "kubernetes.io/cluster/" + s.Cluster.Name
	suspects, well := st.S.Suspects()
	passed := facts.IDs(well)
	blind := map[snapshot.Failure][]string{}
	g := facts.NewGrouped(st)
	g.Of = func(i *snapshot.Instance) string {
		if group := i.Tags["aws:autoscaling:groupName"]; group != "" {
			return group
		}
		return i.ID
	}
	for _, i := range suspects {
		_, managed := st.Nodegroup(i)
		_, tagged := i.Tags[tag]
		// Auto Mode starts instances itself, as a managed node group does.
		merges, _ := st.Merges(i)
		switch {
		case managed, tagged, merges:
			passed = append(passed, i.ID)
		case i.Ended() && len(i.Tags) == 0:
			why := snapshot.Failure{Source: snapshot.Instances, Reason: snapshot.NotRead, Message: "EC2 takes the tags off instances that have ended"}
			blind[why] = append(blind[why], i.ID)
		default:
			g.Add(i)
		}
	}
	var list []finding.Finding
	list = finding.Passing(list, s.Cluster.Name, passed)
	list = append(list, unlooked(s, blind)...)
	for resource, of := range g.All() {
		f := finding.Finding{
			Outcome: finding.Fail, Resource: resource, Covers: of, Instances: of,
			Title: phrase.Title("%s %s no tag of cluster %s", phrase.Subject(of, "instance"), phrase.Verb(of, "has", "have"), s.Cluster.Name),
			Why: fmt.Sprintf("%s %s not tagged %s. By this tag the cloud provider and the network plugin know the cluster's instances; outside of managed node groups nobody sets it but the group's own template.",
				phrase.Some(of, 3), phrase.Verb(of, "is", "are"), tag),
			Evidence: []finding.Evidence{{What: "Tags of " + of[0], Value: tagKeys(st.Instances[of[0]])}},
			Fix: finding.Fix{
				Text:    fmt.Sprintf("Tag %s with %s = owned.", phrase.Subject(of, "instance"), tag),
				Command: command.AWS(s, "ec2 create-tags", "--resources", of[:min(len(of), 20)], "--tags", fmt.Sprintf("Key=%s,Value=owned", tag)),
				Console: link.EC2(s, "InstanceDetails:instanceId="+of[0]),
			},
		}
		if resource != of[0] {
			f.Fix.Text = fmt.Sprintf("Tag group %s with %s = owned, passed on at launch, and %s too.", resource, tag, phrase.Subject(of, "instance"))
			f.Fix.Command = shell.All(command.AWS(s, "autoscaling create-or-update-tags", "--tags",
				fmt.Sprintf("ResourceId=%s,ResourceType=auto-scaling-group,Key=%s,Value=owned,PropagateAtLaunch=true", resource, tag)), f.Fix.Command)
		}
		list = append(list, f)
	}
	return list
}

// tagKeys are the names of an instance's tags: values may be private.
func tagKeys(i *snapshot.Instance) string {
	keys := slices.Sorted(maps.Keys(i.Tags))
	if len(keys) == 0 {
		return "none"
	}
	return phrase.Some(keys, 20)
}
