package facts

import (
	"errors"
	"fmt"
	"strings"

	"rollcall/shared/node/userdata"
	"rollcall/shared/snapshot"
)

// BootConfig is how the scope's instances were started: from which template and
// image, and with what user data.
type BootConfig struct {
	InstanceIndex
	nodegroups map[string]*snapshot.Nodegroup
	Images     map[string]*snapshot.Image
	// own is the place of an instance's user data among the snapshot's, and
	// told what that says: decoded once for all that share it, and only when
	// it is asked for.
	own     map[string]int
	decoded map[int]*DecodedUserData
	// templates is the user data of launch templates, decoded when it is asked for.
	templates map[*snapshot.LaunchTemplate]*DecodedUserData
}

// DecodedUserData is decoded user data, and what it was read from.
type DecodedUserData struct {
	userdata.Document
	From string
	Err  error
}

func newBootConfig(s *View) *BootConfig {
	st := &BootConfig{
		InstanceIndex: s.Index(),
		nodegroups:    make(map[string]*snapshot.Nodegroup, len(s.Nodegroups)),
		Images:        make(map[string]*snapshot.Image, len(s.Images)),
		own:           map[string]int{},
		decoded:       map[int]*DecodedUserData{},
		templates:     map[*snapshot.LaunchTemplate]*DecodedUserData{},
	}
	for i := range s.Nodegroups {
		st.nodegroups[s.Nodegroups[i].Name] = &s.Nodegroups[i]
	}
	for i := range s.LaunchedImages {
		st.Images[s.LaunchedImages[i].ID] = &s.LaunchedImages[i]
	}
	for i := range s.Images {
		st.Images[s.Images[i].ID] = &s.Images[i]
	}
	for n, u := range s.UserData {
		for _, id := range u.Instances {
			st.own[id] = n
		}
	}
	return st
}

func decode(data []byte, from string) *DecodedUserData {
	d, err := userdata.Decode(data)
	return &DecodedUserData{Document: d, From: from, Err: err}
}

// Undecoded is why what was read could not be decoded; without a source it was.
func (t *DecodedUserData) Undecoded() snapshot.Failure {
	if t == nil || t.Err == nil {
		return snapshot.Failure{}
	}
	f := snapshot.Failure{Source: snapshot.UserDataOf, Reason: snapshot.Broken, Message: fmt.Sprintf("%s: %v", t.From, t.Err)}
	if errors.As(t.Err, new(*userdata.OverBudget)) {
		f.Reason = snapshot.OverBudget
	}
	return f
}

// Data is the user data of an instance: its own, else that of its launch
// template where its own could not be read.
func (st *BootConfig) Data(i *snapshot.Instance) (*DecodedUserData, snapshot.Failure) {
	if n, ok := st.own[i.ID]; ok {
		return st.ownData(n), snapshot.Failure{}
	}
	why, lacks := st.S.Lacks(snapshot.UserDataOf, i.ID)
	if !lacks {
		why = snapshot.Failure{Source: snapshot.UserDataOf, Reason: snapshot.NotRead, Message: i.ID + ": its user data is not among what was read"}
	}
	if !st.S.Has(snapshot.UserDataOf) {
		why = st.S.Why(snapshot.UserDataOf)
	}
	lt := st.Template(TemplateOf(i))
	if lt == nil {
		return nil, why
	}
	return st.TemplateData(lt), snapshot.Failure{}
}

// Denied is why an instance's own user data was kept from being read: its launch template's
// stands for it then, of which EKS and others make the instance's.
func (st *BootConfig) Denied(i *snapshot.Instance) (why snapshot.Failure, denied bool) {
	if _, read := st.own[i.ID]; read {
		return why, false
	}
	why, lacks := st.S.Lacks(snapshot.UserDataOf, i.ID)
	if !lacks {
		why = st.S.Failures[snapshot.UserDataOf]
	}
	return why, why.Call != "" && (why.Reason != snapshot.NotRead || why.Code == snapshot.NotCaptured)
}

// ownData is the n-th user data of the snapshot, decoded.
func (st *BootConfig) ownData(n int) *DecodedUserData {
	if st.decoded[n] == nil {
		st.decoded[n] = decode(st.S.UserData[n].Data, st.S.UserData[n].From)
	}
	return st.decoded[n]
}

// TemplateData is the user data of a launch template, decoded.
func (st *BootConfig) TemplateData(lt *snapshot.LaunchTemplate) *DecodedUserData {
	if st.templates[lt] == nil {
		st.templates[lt] = decode(lt.UserData, fmt.Sprintf("%s version %s", lt.ID, lt.Version))
	}
	return st.templates[lt]
}

// Template is a version of a launch template, if it was read.
func (st *BootConfig) Template(ref snapshot.TemplateRef) *snapshot.LaunchTemplate {
	if ref.ID == "" && ref.Name == "" {
		return nil
	}
	for i := range st.S.LaunchTemplates {
		lt := &st.S.LaunchTemplates[i]
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

// TemplateOf is the template that an instance came from. EC2 tags instances
// with it too.
func TemplateOf(i *snapshot.Instance) snapshot.TemplateRef {
	if i.Template.ID != "" {
		return i.Template
	}
	return snapshot.TemplateRef{ID: i.Tags["aws:ec2launchtemplate:id"], Version: i.Tags["aws:ec2launchtemplate:version"]}
}

// Nodegroup is the managed node group of an instance. Managed tells that it
// has one, also where it was not read.
func (st *BootConfig) Nodegroup(i *snapshot.Instance) (group *snapshot.Nodegroup, managed bool) {
	name := i.Tags["eks:nodegroup-name"]
	return st.nodegroups[name], name != ""
}

// Origin is the stable thing that a change of an instance's start would
// change: the template that somebody gave to its node group, else its own
// template, else the instance.
func (st *BootConfig) Origin(i *snapshot.Instance) string {
	if group, _ := st.Nodegroup(i); group != nil && group.Template.ID != "" {
		return group.Template.ID
	}
	if id := TemplateOf(i).ID; id != "" {
		return id
	}
	return i.ID
}

// Merges tells that EKS adds its own part to the user data of an instance: a
// managed node group whose image EKS chose. Where the node group was not read
// nobody knows.
func (st *BootConfig) Merges(i *snapshot.Instance) (merges, known bool) {
	group, managed := st.Nodegroup(i)
	switch {
	case !managed:
		// EKS Auto Mode starts instances itself, without any group.
		return st.S.Cluster.AutoMode && i.Tags["aws:autoscaling:groupName"] == "", true
	case group == nil || group.AMIType == "":
		return false, false
	}
	return group.AMIType != "CUSTOM", true
}

// Belongs tells that tags say that an instance is the cluster's, and no tag
// says that it is another's.
func (st *BootConfig) Belongs(i *snapshot.Instance) bool {
	const prefix = "kubernetes.io/cluster/"
	mine := i.Tags["eks:cluster-name"] == st.S.Cluster.Name
	for key := range i.Tags {
		name, ok := strings.CutPrefix(key, prefix)
		if ok && name != st.S.Cluster.Name {
			return false
		}
		mine = mine || ok
	}
	return mine
}
