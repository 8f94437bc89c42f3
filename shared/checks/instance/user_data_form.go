package instance

import (
	"fmt"
	"slices"
	"strings"

	"rollcall/shared/checks/facts"
	"rollcall/shared/checks/finding"
	"rollcall/shared/node/userdata"
	"rollcall/shared/snapshot"
)

// judge is what is wrong with an instance's user data. A failure with a source
// is why it cannot be told; neither means that nothing is wrong.
func judge(st *facts.BootConfig, i *snapshot.Instance, t *facts.DecodedUserData) ([]flaw, snapshot.Failure) {
	if t.Err != nil {
		return nil, t.Undecoded()
	}
	merges, known := st.Merges(i)
	if !t.Joins() {
		if found := refused(t, familyName(st, i)); len(found) > 0 {
			return found, snapshot.Failure{}
		}
		switch {
		case !known:
			return nil, unread(st, i)
		case merges:
			// What is seen is what somebody gave; EKS's own part is beside it.
			return nil, snapshot.Failure{}
		}
		return without(st, i, t)
	}
	if f, ok := forAnother(st, i, t, merges); ok {
		return []flaw{f}, snapshot.Failure{}
	}
	found := refused(t, familyName(st, i))
	if len(found) > 0 {
		// What cannot be parsed has no settings to compare.
		return found, snapshot.Failure{}
	}
	found = append(lacking(st, i, t, merges || !known), wrong(st, i, t)...)
	if len(found) == 0 && t.Calls > 1 {
		found = append(found, flaw{
			sure: finding.Possible, says: "bootstraps more than once",
			why:      fmt.Sprintf("It calls the bootstrap script %d times. The last call overwrites what those before it set, and where EKS adds a call of its own that one is the last.", t.Calls),
			evidence: []finding.Evidence{{What: "Calls of the bootstrap script", Value: fmt.Sprint(t.Calls)}},
			fix:      "Leave one call: in a managed node group whose image EKS chooses that is the one of EKS.",
		})
	}
	return found, snapshot.Failure{}
}

func familyName(st *facts.BootConfig, i *snapshot.Instance) string {
	family, _ := st.Family(i)
	return family
}

// unread is why it is not known whether EKS adds its own part.
func unread(st *facts.BootConfig, i *snapshot.Instance) snapshot.Failure {
	if !st.S.Has(snapshot.Nodegroups) {
		return st.S.Why(snapshot.Nodegroups)
	}
	return snapshot.Failure{
		Source: snapshot.Nodegroups, Reason: snapshot.NotRead,
		Message: fmt.Sprintf("node group %s is not among those that were read: whether EKS adds the bootstrap is not known", i.Tags["eks:nodegroup-name"]),
	}
}

// without judges user data with nothing in it that makes a node join, where
// EKS adds nothing.
func without(st *facts.BootConfig, i *snapshot.Instance, t *facts.DecodedUserData) ([]flaw, snapshot.Failure) {
	family, stock := st.Family(i)
	f := flaw{
		says: "has no bootstrap", sure: finding.Likely,
		evidence: []finding.Evidence{{What: "Bootstrap", Value: "none, and EKS adds none here"}},
		fix:      "Add what the image needs to join: " + joinsBy(family) + ".",
	}
	who := "It is in no managed node group, so EKS adds none."
	if _, managed := st.Nodegroup(i); managed {
		who = "The node group has an image of its own (AMI type CUSTOM), so EKS adds none."
	}
	switch {
	case joinsWithout(st, i.AMI):
		return nil, snapshot.Failure{} // the image has it in itself
	case !st.S.Has(snapshot.Images):
		return nil, st.S.Why(snapshot.Images)
	case t.Empty() && stock && family != "":
		f.sure, f.says = finding.Certain, "is empty"
		f.why = fmt.Sprintf("Nothing tells %s which cluster to join. %s %s is an image of Amazon's: it knows no cluster by itself.", i.ID, who, i.AMI)
	case t.Empty():
		f.says = "is empty"
		f.why = fmt.Sprintf("Nothing tells %s which cluster to join, unless %s has it built in. %s", i.ID, i.AMI, who)
	case t.Has(userdata.Noise):
		return nil, notTold(t, "its format is not understood")
	case len(t.Scripted) > 0:
		return nil, notTold(t, "its script does what cannot be followed ("+strings.Join(t.Scripted, ", ")+")")
	case !stock && t.Speaks:
		return nil, notTold(t, "it calls no bootstrap and speaks of a cluster: what it writes may be for a bootstrap that the image has built in")
	case !stock:
		f.why = fmt.Sprintf("It sets the instance up, but nothing in it makes %s join a cluster, unless %s has that built in: no Ready node shows that it has. %s", i.ID, i.AMI, who)
	default:
		f.why = fmt.Sprintf("It sets the instance up, but nothing in it makes %s join a cluster. %s", i.ID, who)
	}
	return []flaw{f}, snapshot.Failure{}
}

func notTold(t *facts.DecodedUserData, why string) snapshot.Failure {
	return snapshot.Failure{Source: snapshot.UserDataOf, Reason: snapshot.NotRead, Message: t.From + ": " + why}
}

// joinsWithout tells that a Ready node runs the same image with user data that has no
// bootstrap: a unit of the image joins.
func joinsWithout(st *facts.BootConfig, image string) bool {
	return slices.ContainsFunc(st.S.Instances, func(i snapshot.Instance) bool {
		n := st.Nodes[i.ID]
		if i.AMI != image || n == nil || !n.Joined() {
			return false
		}
		t, _ := st.Data(&i)
		if merges, known := st.Merges(&i); merges || !known {
			return false
		}
		return t != nil && t.Err == nil && !t.Joins() && len(t.Scripted) == 0
	})
}

// forAnother judges user data for another kind of image.
func forAnother(st *facts.BootConfig, i *snapshot.Instance, t *facts.DecodedUserData, merges bool) (flaw, bool) {
	family, stock := st.Family(i)
	want := bootstrapOf(family)
	if want == "" || t.Has(want) {
		return flaw{}, false
	}
	// What was read from a template lacks the part that EKS adds to it.
	if merges && strings.HasPrefix(t.From, "lt-") {
		return flaw{}, false
	}
	kind := t.Kinds[slices.IndexFunc(t.Kinds, func(k userdata.Kind) bool {
		return k == userdata.NodeConfig || k == userdata.Bootstrap || k == userdata.Bottlerocket || k == userdata.Windows
	})]
	f := flaw{
		sure: finding.Likely, says: "is for another kind of image",
		why:      fmt.Sprintf("It holds a %s, but %s is %s, which joins by %s.", kind, i.AMI, family, joinsBy(family)),
		evidence: []finding.Evidence{{What: "Bootstrap", Value: string(kind)}},
		fix:      "Give " + joinsBy(family) + ".",
	}
	if kind == userdata.Bootstrap && family == facts.FamilyAL2023 {
		f.why += " Its bootstrap.sh only prints that it was removed, and ends."
	}
	if stock && len(t.Scripted) == 0 {
		f.sure = finding.Certain
	}
	return f, true
}

func bootstrapOf(family string) userdata.Kind {
	switch family {
	case facts.FamilyAL2023:
		return userdata.NodeConfig
	case facts.FamilyAL2, facts.FamilyUbuntu:
		return userdata.Bootstrap
	case facts.FamilyBottlerocket:
		return userdata.Bottlerocket
	case facts.FamilyWindows:
		return userdata.Windows
	}
	return ""
}

// joinsBy is what makes an image of a family join.
func joinsBy(family string) string {
	switch family {
	case facts.FamilyAL2023:
		return "a NodeConfig (name, apiServerEndpoint, certificateAuthority and cidr of the cluster)"
	case facts.FamilyAL2, facts.FamilyUbuntu:
		return "a call of /etc/eks/bootstrap.sh with the cluster's name"
	case facts.FamilyBottlerocket:
		return "settings.kubernetes in TOML (cluster-name, api-server, cluster-certificate)"
	case facts.FamilyWindows:
		return "a call of Start-EKSBootstrap.ps1 with -EKSClusterName"
	}
	return "the bootstrap of its family, with the cluster's name, endpoint and certificate authority"
}

// refused are the faults for which the image's reader takes nothing at all.
func refused(t *facts.DecodedUserData, family string) []flaw {
	var list []flaw
	for _, fault := range t.Faults {
		sure := finding.Likely
		switch fault.Kind {
		case userdata.BadMIME, userdata.BadYAML, userdata.BadVersion, userdata.BadKind, userdata.BadType:
			// nodeadm refuses the whole user data for one bad part.
			if family == facts.FamilyAL2023 || family == facts.FamilyBottlerocket && fault.Kind == userdata.BadType {
				sure = finding.Certain
			}
			if t.Has(userdata.Bootstrap) && fault.Kind == userdata.BadMIME && family != facts.FamilyAL2023 {
				continue // cloud-init finds the script all the same
			}
		case userdata.BadTOML:
			if family == facts.FamilyBottlerocket {
				sure = finding.Certain
			}
		}
		if sure == finding.Certain && slices.Contains(t.Scripted, "nodeadm") {
			sure = finding.Likely // a script may give nodeadm another configuration
		}
		where := fault.Detail
		if fault.Line > 0 {
			where += fmt.Sprintf(" (line %d)", fault.Line)
		}
		if fault.Part > 0 && !strings.Contains(where, "part ") {
			where += fmt.Sprintf(" in part %d", fault.Part)
		}
		list = append(list, flaw{
			sure: sure, says: "cannot be read: " + fault.Detail,
			why:      fmt.Sprintf("The instance takes nothing from it: %s.", where),
			evidence: []finding.Evidence{{What: string(fault.Kind), Value: where}},
			fix:      "Correct it: " + where + ".",
		})
	}
	return list
}
