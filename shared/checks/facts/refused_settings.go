package facts

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"rollcall/shared/checkid"
	"rollcall/shared/node/activity"
	"rollcall/shared/snapshot"
)

// Template is the version of the launch template that a group launches from;
// the group's reference where the version was not read.
func (a *Attempts) Template(group string) (snapshot.LaunchTemplate, bool) {
	ref := a.Groups[group].Template
	if ref.ID == "" || !a.S.Has(snapshot.LaunchTemplates) {
		return snapshot.LaunchTemplate{ID: ref.ID, Name: ref.Name, Version: ref.Version}, false
	}
	for _, t := range a.S.LaunchTemplates {
		if t.ID == ref.ID && (t.Version == ref.Version || ref.Version == "$Latest" && t.Latest || (ref.Version == "$Default" || ref.Version == "") && t.Default) {
			return t, true
		}
	}
	return snapshot.LaunchTemplate{ID: ref.ID, Name: ref.Name, Version: ref.Version}, false
}

// Types are the instance types that a failed launch can have been of: the one
// that the text names, else those that the group allows.
func (a *Attempts) Types(t Attempt) []string {
	if t.Verdict.Named.Type != "" {
		return []string{t.Verdict.Named.Type}
	}
	if t.Refused != nil {
		return t.Refused.Types
	}
	if g := a.Groups[t.Group]; len(g.Types) > 0 {
		return g.Types
	}
	for _, n := range a.S.Nodegroups {
		for _, g := range n.Groups {
			if g == t.Group && len(n.Types) > 0 {
				return n.Types
			}
		}
	}
	if template, read := a.Template(t.Group); read && template.Type != "" {
		return []string{template.Type}
	}
	return nil
}

// Image is the AMI of a failed launch: the text names it, else the override of the type,
// else the launch template. Where overrides differ and the type is not known it is empty.
func (a *Attempts) Image(t Attempt) string {
	if t.Verdict.Named.AMI != "" {
		return t.Verdict.Named.AMI
	}
	template, _ := a.Template(t.Group)
	var all []string
	for _, name := range a.Types(t) {
		// Auto Scaling API, LaunchTemplateOverrides, ImageId: it replaces the template's.
		all = append(all, cmp.Or(a.Groups[t.Group].Images[name], template.Image))
	}
	switch all = slices.Compact(slices.Sorted(slices.Values(all))); len(all) {
	case 0:
		return template.Image
	case 1:
		return all[0]
	}
	return ""
}

// judgeSettings names the setting of the account, the image or the VPC that refused a
// launch where EC2's text does not: it says of an image that Allowed AMIs hide that it
// does not exist, and its texts for images' rules of types and for VPC Encryption Controls
// are not published.
func (a *Attempts) judgeSettings() {
	for i := range a.List {
		t := &a.List[i]
		switch v := t.Verdict; {
		case v.Class == checkid.LaunchAMI && a.hidden(t):
		case v.Class == checkid.LaunchAMI && NotFound(v):
			t.Likely = t.Likely || a.unsettled(v)
			continue
		case v.Class != checkid.LaunchUnclassified && (v.Class != checkid.LaunchUnsupportedType || !generic(v)):
			continue
		case a.imageRefuses(t), a.unencrypted(t):
		default:
			// What was not read could be the setting that refused it.
			t.Likely = t.Likely || a.unsettled(v)
			continue
		}
		_, t.Verdict.Next = activity.Words(t.Verdict.Class)
	}
}

// unsettled reports whether a setting that could have refused a launch was requested and
// could not be read.
func (a *Attempts) unsettled(v activity.Verdict) bool {
	sources := []snapshot.Source{snapshot.LaunchTemplates, snapshot.Images, snapshot.Subnets, snapshot.VPCs, snapshot.InstanceTypes}
	if v.Class == checkid.LaunchAMI {
		sources = []snapshot.Source{snapshot.LaunchTemplates, snapshot.Images, snapshot.AllowedImagesOf}
	}
	return slices.ContainsFunc(sources, func(source snapshot.Source) bool { return a.S.Failures[source].Call != "" })
}

// generic reports whether EC2 said no more than that the request is not supported.
func generic(v activity.Verdict) bool {
	return strings.HasPrefix(v.By, "Unsupported") || strings.HasPrefix(v.By, "requested configuration")
}

// hidden decides whether Allowed AMIs refused the image of a launch. An image that EC2
// lists, and does not allow, is refused for certain; one that it does not list may have
// been deregistered as well.
func (a *Attempts) hidden(t *Attempt) bool {
	s, ami := a.S.AllowedImages, a.Image(*t)
	i := slices.IndexFunc(a.S.Images, func(i snapshot.Image) bool { return i.ID == ami })
	switch {
	case ami == "" || !NotFound(t.Verdict) || !a.S.Has(snapshot.Images) || s != nil && s.State != "enabled" || i >= 0 && a.S.Images[i].Allowed != "false" || s == nil && i < 0:
		return false
	case s == nil: // not allowed, by settings that could not be read
		t.Verdict.Class, t.Likely = checkid.LaunchImageNotAllowed, true
		t.Verdict.Meaning = "EC2 lists " + ami + " as not allowed and says of the launch that it does not exist"
		return true
	}
	t.Verdict.Class, t.Verdict.Meaning = checkid.LaunchImageNotAllowed, "the account's Allowed AMIs do not allow "+ami+", and EC2 says of it that it does not exist"
	if t.Likely = i < 0; t.Likely {
		t.Verdict.Meaning = "the account's Allowed AMIs hide what they do not allow, and EC2 does not list " + ami + ": it is hidden, or was deregistered"
	}
	return true
}

// NotFound reports whether a launch was refused for an image that does not exist, as EC2
// says of a hidden one too (EC2 user guide, "Control the discovery and use of AMIs in
// Amazon EC2 with Allowed AMIs").
func NotFound(v activity.Verdict) bool {
	return strings.HasPrefix(v.By, "InvalidAMIID") || v.By == "AmiIdNotFound" || strings.Contains(v.By, "does not exist") || strings.Contains(v.Text, "does not exist")
}

// imageRefuses decides whether the image's own rules refuse every type of a launch.
func (a *Attempts) imageRefuses(t *Attempt) bool {
	ami := a.Image(*t)
	i := slices.IndexFunc(a.S.Images, func(i snapshot.Image) bool { return i.ID == ami })
	list := a.Types(*t)
	if i < 0 || len(list) == 0 || slices.ContainsFunc(list, func(name string) bool { return !ImageRefuses(a.S.Images[i], name) }) {
		return false
	}
	t.Verdict.Class, t.Verdict.Meaning = checkid.LaunchImageNotAllowed, fmt.Sprintf("the rules of %s do not allow the type %s", ami, strings.Join(list, ", "))
	return true
}

// ImageRefuses reports whether the rules of an image exclude an instance type.
func ImageRefuses(i snapshot.Image, name string) bool {
	in := func(pattern string) bool {
		ok, err := path.Match(pattern, name)
		return err == nil && ok
	}
	return len(i.Supported) > 0 && !slices.ContainsFunc(i.Supported, in) || slices.ContainsFunc(i.Unsupported, in)
}

// unencrypted decides whether the VPC enforces encryption in transit, which no type of a
// launch has.
func (a *Attempts) unencrypted(t *Attempt) bool {
	list, vpc := a.Types(*t), a.enforcing(*t)
	if vpc == "" || len(list) == 0 || slices.ContainsFunc(list, func(name string) bool {
		i := slices.IndexFunc(a.S.InstanceTypes, func(k snapshot.InstanceType) bool { return k.Name == name })
		return i < 0 || a.S.InstanceTypes[i].EncryptsInTransit
	}) {
		return false
	}
	t.Verdict.Class = checkid.LaunchEncryptionControls
	t.Verdict.Meaning = fmt.Sprintf("%s enforces encryption in transit, and %s does not encrypt", vpc, strings.Join(list, ", "))
	return true
}

// enforcing is the VPC of a launch whose Encryption Controls enforce encryption; empty for
// none.
func (a *Attempts) enforcing(t Attempt) string {
	subnets := a.Groups[t.Group].Subnets
	if t.Subnet != "" {
		subnets = []string{t.Subnet}
	} else if t.Refused != nil {
		subnets = t.Refused.Subnets
	}
	for _, n := range a.S.Subnets {
		if !slices.Contains(subnets, n.ID) {
			continue
		}
		for _, v := range a.S.VPCs {
			if v.ID == n.VPC && v.Encrypts {
				return v.ID
			}
		}
	}
	return ""
}
