package checks

import (
	"fmt"
	"slices"
	"strings"

	"rollcall/shared/node/userdata"
	"rollcall/shared/snapshot"
)

// judge is what is wrong with an instance's user data. A failure with a source
// is why it cannot be told; neither means that nothing is wrong.
func (st *starts) judge(i *snapshot.Instance, t *told) ([]flaw, snapshot.Failure) {
	if t.err != nil {
		return nil, t.undecoded()
	}
	merges, known := st.merges(i)
	if !t.Joins() {
		if found := refused(t, st.familyName(i)); len(found) > 0 {
			return found, snapshot.Failure{}
		}
		switch {
		case !known:
			return nil, st.unread(i)
		case merges:
			// What is seen is what somebody gave; EKS's own part is beside it.
			return nil, snapshot.Failure{}
		}
		return st.without(i, t)
	}
	if f, ok := st.forAnother(i, t, merges); ok {
		return []flaw{f}, snapshot.Failure{}
	}
	found := refused(t, st.familyName(i))
	if len(found) > 0 {
		// What cannot be parsed has no settings to compare.
		return found, snapshot.Failure{}
	}
	found = append(st.lacking(i, t, merges || !known), st.wrong(i, t)...)
	if len(found) == 0 && t.Calls > 1 {
		found = append(found, flaw{
			sure: Possible, says: "bootstraps more than once",
			why:      fmt.Sprintf("It calls the bootstrap script %d times. The last call overwrites what those before it set, and where EKS adds a call of its own that one is the last.", t.Calls),
			evidence: []Evidence{{What: "Calls of the bootstrap script", Value: fmt.Sprint(t.Calls)}},
			fix:      "Leave one call: in a managed node group whose image EKS chooses that is the one of EKS.",
		})
	}
	return found, snapshot.Failure{}
}

func (st *starts) familyName(i *snapshot.Instance) string {
	family, _ := st.family(i)
	return family
}

// unread is why it is not known whether EKS adds its own part.
func (st *starts) unread(i *snapshot.Instance) snapshot.Failure {
	if !st.s.Has(snapshot.Nodegroups) {
		return st.s.Why(snapshot.Nodegroups)
	}
	return snapshot.Failure{
		Source: snapshot.Nodegroups, Reason: snapshot.NotRead,
		Message: fmt.Sprintf("node group %s is not among those that were read: whether EKS adds the bootstrap is not known", i.Tags["eks:nodegroup-name"]),
	}
}

// without judges user data with nothing in it that makes a node join, where
// EKS adds nothing.
func (st *starts) without(i *snapshot.Instance, t *told) ([]flaw, snapshot.Failure) {
	family, stock := st.family(i)
	f := flaw{
		says: "has no bootstrap", sure: Likely,
		evidence: []Evidence{{What: "Bootstrap", Value: "none, and EKS adds none here"}},
		fix:      "Add what the image needs to join: " + joinsBy(family) + ".",
	}
	who := "It is in no managed node group, so EKS adds none."
	if _, managed := st.nodegroup(i); managed {
		who = "The node group has an image of its own (AMI type CUSTOM), so EKS adds none."
	}
	switch {
	case t.Empty() && st.joinsWithout(i.AMI):
		return nil, snapshot.Failure{} // the image has it in itself
	case !st.s.Has(snapshot.Images):
		return nil, st.s.Why(snapshot.Images)
	case t.Empty() && stock && family != "":
		f.sure, f.says = Certain, "is empty"
		f.why = fmt.Sprintf("Nothing tells %s which cluster to join. %s %s is an image of Amazon's: it knows no cluster by itself.", i.ID, who, i.AMI)
	case t.Empty():
		f.says = "is empty"
		f.why = fmt.Sprintf("Nothing tells %s which cluster to join, unless %s has it built in. %s", i.ID, i.AMI, who)
	case t.Has(userdata.Noise):
		return nil, notTold(t, "its format is not understood")
	case len(t.Scripted) > 0:
		return nil, notTold(t, "its script does what cannot be followed ("+strings.Join(t.Scripted, ", ")+")")
	case !stock:
		return nil, notTold(t, "it has no bootstrap, and whether the image has one built in cannot be read")
	default:
		f.why = fmt.Sprintf("It sets the instance up, but nothing in it makes %s join a cluster. %s", i.ID, who)
	}
	return []flaw{f}, snapshot.Failure{}
}

func notTold(t *told, why string) snapshot.Failure {
	return snapshot.Failure{Source: snapshot.UserDataOf, Reason: snapshot.NotRead, Message: t.from + ": " + why}
}

// joinsWithout tells that a Ready node runs the same image with empty user
// data.
func (st *starts) joinsWithout(image string) bool {
	return slices.ContainsFunc(st.s.Instances, func(i snapshot.Instance) bool {
		n := st.nodes[i.ID]
		if i.AMI != image || n == nil || !n.Joined() {
			return false
		}
		t, _ := st.data(&i)
		return t != nil && t.err == nil && t.Empty()
	})
}

// forAnother judges user data for another kind of image.
func (st *starts) forAnother(i *snapshot.Instance, t *told, merges bool) (flaw, bool) {
	family, stock := st.family(i)
	want := bootstrapOf(family)
	if want == "" || t.Has(want) {
		return flaw{}, false
	}
	// What was read from a template lacks the part that EKS adds to it.
	if merges && strings.HasPrefix(t.from, "lt-") {
		return flaw{}, false
	}
	kind := t.Kinds[slices.IndexFunc(t.Kinds, func(k userdata.Kind) bool {
		return k == userdata.NodeConfig || k == userdata.Bootstrap || k == userdata.Bottlerocket || k == userdata.Windows
	})]
	f := flaw{
		sure: Likely, says: "is for another kind of image",
		why:      fmt.Sprintf("It holds a %s, but %s is %s, which joins by %s.", kind, i.AMI, family, joinsBy(family)),
		evidence: []Evidence{{What: "Bootstrap", Value: string(kind)}},
		fix:      "Give " + joinsBy(family) + ".",
	}
	if kind == userdata.Bootstrap && family == familyAL2023 {
		f.why += " Its bootstrap.sh only prints that it was removed, and ends."
	}
	if stock && len(t.Scripted) == 0 {
		f.sure = Certain
	}
	return f, true
}

func bootstrapOf(family string) userdata.Kind {
	switch family {
	case familyAL2023:
		return userdata.NodeConfig
	case familyAL2, familyUbuntu:
		return userdata.Bootstrap
	case familyBottlerocket:
		return userdata.Bottlerocket
	case familyWindows:
		return userdata.Windows
	}
	return ""
}

// joinsBy is what makes an image of a family join.
func joinsBy(family string) string {
	switch family {
	case familyAL2023:
		return "a NodeConfig (name, apiServerEndpoint, certificateAuthority and cidr of the cluster)"
	case familyAL2, familyUbuntu:
		return "a call of /etc/eks/bootstrap.sh with the cluster's name"
	case familyBottlerocket:
		return "settings.kubernetes in TOML (cluster-name, api-server, cluster-certificate)"
	case familyWindows:
		return "a call of Start-EKSBootstrap.ps1 with -EKSClusterName"
	}
	return "the bootstrap of its family, with the cluster's name, endpoint and certificate authority"
}

// refused are the faults for which the image's reader takes nothing at all.
func refused(t *told, family string) []flaw {
	var list []flaw
	for _, fault := range t.Faults {
		sure := Likely
		switch fault.Kind {
		case userdata.BadMIME, userdata.BadYAML, userdata.BadVersion, userdata.BadKind, userdata.BadType:
			// nodeadm refuses the whole user data for one bad part.
			if family == familyAL2023 || family == familyBottlerocket && fault.Kind == userdata.BadType {
				sure = Certain
			}
			if t.Has(userdata.Bootstrap) && fault.Kind == userdata.BadMIME && family != familyAL2023 {
				continue // cloud-init finds the script all the same
			}
		case userdata.BadTOML:
			if family == familyBottlerocket {
				sure = Certain
			}
		}
		if sure == Certain && slices.Contains(t.Scripted, "nodeadm") {
			sure = Likely // a script may give nodeadm another configuration
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
			evidence: []Evidence{{What: string(fault.Kind), Value: where}},
			fix:      "Correct it: " + where + ".",
		})
	}
	return list
}
