package checks

import (
	"errors"
	"fmt"
	"strings"

	"rollcall/shared/node/userdata"
	"rollcall/shared/snapshot"
)

// starts is how the scope's instances were started: from which template and
// image, and with what user data.
type starts struct {
	ledger
	nodegroups map[string]*snapshot.Nodegroup
	images     map[string]*snapshot.Image
	// own is the place of an instance's user data among the snapshot's, and
	// told what that says: decoded once for all that share it, and only when
	// it is asked for.
	own  map[string]int
	told map[int]*told
	// drafts is the user data of launch templates, decoded when it is asked for.
	drafts map[*snapshot.LaunchTemplate]*told
}

// told is decoded user data, and what it was read from.
type told struct {
	userdata.Document
	from string
	err  error
}

func newStarts(s *View) *starts {
	st := &starts{
		ledger:     s.Index(),
		nodegroups: make(map[string]*snapshot.Nodegroup, len(s.Nodegroups)),
		images:     make(map[string]*snapshot.Image, len(s.Images)),
		own:        map[string]int{},
		told:       map[int]*told{},
		drafts:     map[*snapshot.LaunchTemplate]*told{},
	}
	for i := range s.Nodegroups {
		st.nodegroups[s.Nodegroups[i].Name] = &s.Nodegroups[i]
	}
	for i := range s.Images {
		st.images[s.Images[i].ID] = &s.Images[i]
	}
	for n, u := range s.UserData {
		for _, id := range u.Instances {
			st.own[id] = n
		}
	}
	return st
}

func decode(data []byte, from string) *told {
	d, err := userdata.Decode(data)
	return &told{Document: d, from: from, err: err}
}

// undecoded is why what was read could not be decoded; without a source it was.
func (t *told) undecoded() snapshot.Failure {
	if t == nil || t.err == nil {
		return snapshot.Failure{}
	}
	f := snapshot.Failure{Source: snapshot.UserDataOf, Reason: snapshot.Broken, Message: fmt.Sprintf("%s: %v", t.from, t.err)}
	if errors.As(t.err, new(*userdata.OverBudget)) {
		f.Reason = snapshot.OverBudget
	}
	return f
}

// data is the user data of an instance: its own, else that of its launch
// template where its own could not be read.
func (st *starts) data(i *snapshot.Instance) (*told, snapshot.Failure) {
	if n, ok := st.own[i.ID]; ok {
		return st.ownData(n), snapshot.Failure{}
	}
	why, lacks := st.s.Lacks(snapshot.UserDataOf, i.ID)
	if !lacks {
		why = snapshot.Failure{Source: snapshot.UserDataOf, Reason: snapshot.NotRead, Message: i.ID + ": its user data is not among what was read"}
	}
	if !st.s.Has(snapshot.UserDataOf) {
		why = st.s.Why(snapshot.UserDataOf)
	}
	lt := st.template(templateOf(i))
	if lt == nil {
		return nil, why
	}
	return st.draft(lt), snapshot.Failure{}
}

// ownData is the n-th user data of the snapshot, decoded.
func (st *starts) ownData(n int) *told {
	if st.told[n] == nil {
		st.told[n] = decode(st.s.UserData[n].Data, st.s.UserData[n].From)
	}
	return st.told[n]
}

// draft is the user data of a launch template, decoded.
func (st *starts) draft(lt *snapshot.LaunchTemplate) *told {
	if st.drafts[lt] == nil {
		st.drafts[lt] = decode(lt.UserData, fmt.Sprintf("%s version %s", lt.ID, lt.Version))
	}
	return st.drafts[lt]
}

// template is a version of a launch template, if it was read.
func (st *starts) template(ref snapshot.TemplateRef) *snapshot.LaunchTemplate {
	if ref.ID == "" && ref.Name == "" {
		return nil
	}
	for i := range st.s.LaunchTemplates {
		lt := &st.s.LaunchTemplates[i]
		if ref.ID != "" && lt.ID != ref.ID || ref.ID == "" && lt.Name != ref.Name {
			continue
		}
		switch ref.Version {
		case lt.Version:
			return lt
		case "$Latest":
			if lt.Latest {
				return lt
			}
		case "$Default", "":
			if lt.Default {
				return lt
			}
		}
	}
	return nil
}

// templateOf is the template that an instance came from. EC2 tags instances
// with it too.
func templateOf(i *snapshot.Instance) snapshot.TemplateRef {
	if i.Template.ID != "" {
		return i.Template
	}
	return snapshot.TemplateRef{ID: i.Tags["aws:ec2launchtemplate:id"], Version: i.Tags["aws:ec2launchtemplate:version"]}
}

// nodegroup is the managed node group of an instance. Managed tells that it
// has one, also where it was not read.
func (st *starts) nodegroup(i *snapshot.Instance) (group *snapshot.Nodegroup, managed bool) {
	name := i.Tags["eks:nodegroup-name"]
	return st.nodegroups[name], name != ""
}

// origin is the stable thing that a change of an instance's start would
// change: the template that somebody gave to its node group, else its own
// template, else the instance.
func (st *starts) origin(i *snapshot.Instance) string {
	if group, _ := st.nodegroup(i); group != nil && group.Template.ID != "" {
		return group.Template.ID
	}
	if id := templateOf(i).ID; id != "" {
		return id
	}
	return i.ID
}

// merges tells that EKS adds its own part to the user data of an instance: a
// managed node group whose image EKS chose. Where the node group was not read
// nobody knows.
func (st *starts) merges(i *snapshot.Instance) (merges, known bool) {
	group, managed := st.nodegroup(i)
	switch {
	case !managed:
		// EKS Auto Mode starts instances itself, without any group.
		return st.s.Cluster.AutoMode && i.Tags["aws:autoscaling:groupName"] == "", true
	case group == nil || group.AMIType == "":
		return false, false
	}
	return group.AMIType != "CUSTOM", true
}

// belongs tells that tags say that an instance is the cluster's, and no tag
// says that it is another's.
func (st *starts) belongs(i *snapshot.Instance) bool {
	const prefix = "kubernetes.io/cluster/"
	mine := i.Tags["eks:cluster-name"] == st.s.Cluster.Name
	for key := range i.Tags {
		name, ok := strings.CutPrefix(key, prefix)
		if ok && name != st.s.Cluster.Name {
			return false
		}
		mine = mine || ok
	}
	return mine
}
