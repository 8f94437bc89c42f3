package preflight

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"rollcall/shared/snapshot"
)

func (p *TemplatePlan) first() []snapshot.Source { return where(snapshot.Nodegroups) }

func (p *TemplatePlan) second() []snapshot.Source { return []snapshot.Source{snapshot.LaunchTemplates} }

// announce keeps the nodegroups that use the template, with the version that they
// would be updated to. Where there is none, a nodegroup that is called as nobody is
// stands for what to read: the template.
func (p *TemplatePlan) announce(d *Draft) {
	s := d.S
	var using []snapshot.Nodegroup
	for _, g := range s.Nodegroups {
		if t := g.Template; t.ID != "" && t.ID == p.ref.ID || t.Name != "" && t.Name == p.ref.Name {
			d.around = append(d.around, g.Subnets...)
			g.Template = p.read()
			using = append(using, g)
			continue
		}
		d.around = append(d.around, g.Subnets...)
	}
	d.around = distinct(d.around)
	s.Nodegroups, s.Groups = using, nil
	if len(using) == 0 && p.there() {
		s.Groups = []snapshot.Group{{Name: plannedPrefix + "group", Template: p.read(), Created: s.Time}}
	}
}

// there tells that there is something to read: a template that is only named may be
// a new one.
func (p *TemplatePlan) there() bool { return p.data == nil || p.base != "" || p.ref.ID != "" }

// read is the version that is read: of a planned one that on which it builds.
func (p *TemplatePlan) read() snapshot.TemplateRef {
	ref := p.ref
	if p.data != nil && ref.Version == plannedVersion {
		ref.Version = cmp.Or(p.base, "$Default")
	}
	if ref.ID != "" {
		ref.Name = ""
	}
	return ref
}

func (p *TemplatePlan) settle(d *Draft) {
	s := d.S
	t := p.settled(d)
	if len(s.Nodegroups) > 0 {
		for i := range s.Nodegroups {
			g := &s.Nodegroups[i]
			g.Template = snapshot.TemplateRef{ID: p.ref.ID, Name: p.ref.Name, Version: p.ref.Version}
			n := &nodes{owner: g.Name, ref: g.Template, subnets: distinct(g.Subnets), template: t}
			s.Groups = append(s.Groups, managedGroup(d, g))
			d.fleets = append(d.fleets, n)
			d.manage(n, i)
		}
		return
	}
	n := &nodes{owner: cmp.Or(p.ref.ID, p.ref.Name), ref: p.ref, template: t}
	d.fleets = []*nodes{n}
	if t == nil {
		return
	}
	p.selfManaged(d, n)
}

// settled is the version that is judged: what the file says, laid over the version
// that it builds on, or what was read; nil where that could not be.
func (p *TemplatePlan) settled(d *Draft) *snapshot.LaunchTemplate {
	s := d.S
	base := d.template(p.read())
	switch {
	case p.data == nil:
		return base
	case p.base == "":
		t := *p.data
		if base != nil { // the template itself is there
			t.ID, t.Name = base.ID, base.Name
		}
		s.LaunchTemplates = []snapshot.LaunchTemplate{t}
	case base == nil:
		return nil
	default:
		s.LaunchTemplates = []snapshot.LaunchTemplate{*over(*base, *p.data)}
	}
	s.Read[snapshot.LaunchTemplates] = true
	delete(s.Failures, snapshot.LaunchTemplates)
	return &s.LaunchTemplates[0]
}

// selfManaged says what an Auto Scaling group launches with the template, in the
// subnet that it names, else where somebody says, else where nodegroups stand, else
// in the cluster's own subnets.
func (p *TemplatePlan) selfManaged(d *Draft, n *nodes) {
	s, t := d.S, n.template
	n.subnets = d.Plan.In
	switch {
	case len(n.subnets) > 0:
	case t.Subnet != "":
		n.subnets = []string{t.Subnet}
	default:
		n.subnets = cmpOr(d.around, s.Cluster.Subnets)
	}
	n.subnets = distinct(n.subnets)
	n.types = []string{t.Type}
	if t.Type == "" {
		n.types, n.unlike = []string{defaultType}, true
	}
	n.metadata = snapshot.Metadata{Endpoint: "enabled"} // the rest is the image's (EC2 user guide, "Order of precedence for instance metadata options")
	n.image, n.spot = t.Image, t.Spot
	n.take(t)
	if len(n.groups) == 0 {
		n.groups = d.defaultGroup()
	}
	if t.Profile != "" && !strings.HasPrefix(t.Profile, "arn:") {
		n.profile = fmt.Sprintf("arn:%s:iam::%s:instance-profile/%s", cmp.Or(s.Partition, "aws"), s.Account, t.Profile)
	} else {
		n.profile = t.Profile
	}
	n.data, n.from, n.told = t.UserData, title(t), true
	s.Groups = []snapshot.Group{{Name: plannedPrefix + "group", Template: snapshot.TemplateRef{ID: t.ID, Version: t.Version}, Subnets: n.subnets, Types: n.types, Max: len(n.subnets), Created: s.Time}}
	n.tags = map[string]string{
		"kubernetes.io/cluster/" + s.Cluster.Name: "owned", // the group's, without which nobody finds the node's cluster
		"aws:autoscaling:groupName":               plannedPrefix + "group",
		"aws:ec2launchtemplate:id":                t.ID, "aws:ec2launchtemplate:version": t.Version,
	}
}

// defaultGroup is the security group that EC2 takes where none is named (EC2 user
// guide, "Default security groups for your VPCs").
func (d *Draft) defaultGroup() []string {
	for _, g := range d.S.SecurityGroups {
		if g.VPC == d.S.Cluster.VPC && g.Name == "default" {
			return []string{g.ID}
		}
	}
	return nil
}

func (p *TemplatePlan) choose(d *Draft) {
	for i := range d.S.Nodegroups {
		d.chooseImage(d.fleets[i], i)
	}
}

func (p *TemplatePlan) admit(d *Draft) {
	// Of a nodegroup that is there EKS has done it; whoever runs nodes himself must.
	n := d.fleets[0]
	if i := slices.IndexFunc(d.S.Images, func(i snapshot.Image) bool { return i.ID == n.image }); i >= 0 && len(d.S.Nodegroups) == 0 && d.S.Images[i].Windows {
		for k := range d.S.Instances {
			d.S.Instances[k].Windows = true
		}
	}
}
