package preflight

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"rollcall/shared/snapshot"
)

// Draft is a plan beside the account in which it would be carried out. What is
// planned is put into the snapshot in steps, for what is read next depends on
// it: Announce, then Settle, then Place, then Complete.
type Draft struct {
	Plan Plan
	S    *snapshot.Snapshot
	// exists tells that there is one of the name already.
	exists bool
	// around are the subnets of the cluster's nodegroups.
	around []string
	// fleets are what would be launched: one, or one for each group that uses what
	// is planned.
	fleets []*nodes
	// planned are the instances that Place has made up.
	planned []string
}

// nodes are nodes that would be launched, alike but for the place and the type.
type nodes struct {
	owner   string // the nodegroup's, the NodePool's or the template's name
	subnets []string
	types   []string
	// template is the launch template that somebody gives; nil for none, and
	// where it could not be read.
	template *snapshot.LaunchTemplate
	ref      snapshot.TemplateRef
	groups   []string // security groups
	role     string   // ARN
	profile  string   // ARN of the instance profile
	// made tells that the profile is made with the nodes: EKS and Karpenter do.
	made   bool
	image  string // an AMI's id
	stocks []*snapshot.Image
	tags   map[string]string
	// metadata is how the metadata service is set, public what decides on a public
	// address: "true", "false", or empty for the subnet.
	metadata snapshot.Metadata
	public   string
	spot     bool
	windows  bool
	// told tells that data is all that the nodes are told at their start.
	told bool
	data []byte // user data, as far as somebody gives it
	from string // what gives it
	// pool and class are of what a NodePool launches, auto that EKS Auto Mode does.
	pool  *snapshot.NodePool
	class *snapshot.NodeClass
	auto  bool
	// bare tells that it is known of a node only where it stands.
	bare bool
	// unlike tells that it is known of no type what would be launched.
	unlike bool
}

// First are the sources that tell where what is planned would stand.
func (d *Draft) First() []snapshot.Source { return d.Plan.maker().first() }

// where are the sources of every plan.
func where(more ...snapshot.Source) []snapshot.Source {
	return append([]snapshot.Source{snapshot.Clusters, snapshot.Subnets, snapshot.VPCs}, more...)
}

// Announce puts into the snapshot what is launched from: what it names is read
// next, the launch template first.
func (d *Draft) Announce() { d.Plan.maker().announce(d) }

// Second are the sources to read then. Of other VPCs those security groups are read that
// a launch template or a class names.
func (d *Draft) Second() []snapshot.Source {
	return append(d.Plan.maker().second(), snapshot.SecurityGroups, snapshot.GroupAssociations)
}

// Settle says of what the nodes would be made.
func (d *Draft) Settle() { d.Plan.maker().settle(d) }

// Third are the sources to read then, of the types that may be launched.
func (d *Draft) Third() []snapshot.Source {
	list := []snapshot.Source{snapshot.InstanceTypes, snapshot.TypeOfferingsOf}
	if len(d.ImageTerms()) > 0 {
		list = append(list, snapshot.Images)
	}
	return list
}

// ImageTerms are the terms by which the classes select images; none where all of them
// name ids, which are read with the rest.
func (d *Draft) ImageTerms() []snapshot.SelectorTerm {
	var all []snapshot.SelectorTerm
	searched := false
	for _, n := range d.fleets {
		if n.class != nil && !n.auto {
			all = append(all, n.class.Images...)
			searched = searched || searches(n.class)
		}
	}
	if !searched {
		return nil
	}
	return all
}

// Named are the types to look up before Settle; none means that all may be
// launched.
func (d *Draft) Named() []string {
	if d.Plan.Pools != nil {
		return d.Plan.Pools.namedTypes()
	}
	return nil
}

// SecurityGroups are those that a planned version of a launch template names: it is in no
// account yet, and they may be another VPC's.
func (d *Draft) SecurityGroups() []string {
	if t := d.Plan.Template; t != nil && t.data != nil {
		return t.data.Groups
	}
	return nil
}

// Types are the instance types to describe.
func (d *Draft) Types() []string {
	var list []string
	for _, n := range d.fleets {
		list = append(list, n.types...)
	}
	return distinct(list)
}

// template is the version of the launch template that is named, as it was read.
func (d *Draft) template(ref snapshot.TemplateRef) *snapshot.LaunchTemplate {
	for i := range d.S.LaunchTemplates {
		t := &d.S.LaunchTemplates[i]
		named := ref.ID != "" && t.ID == ref.ID || ref.ID == "" && ref.Name != "" && t.Name == ref.Name
		if named && (t.Version == ref.Version || ref.Version == "$Latest" && t.Latest || (ref.Version == "$Default" || ref.Version == "") && t.Default) {
			return t
		}
	}
	return nil
}

// Place puts the nodes into the snapshot, one for each subnet and type, each as
// an instance that runs and has missed its roll call now. What only a launched
// instance has is read, and empty.
func (d *Draft) Place() {
	d.Plan.maker().choose(d)
	s := d.S
	var subnets []string
	for _, n := range d.fleets {
		d.makeProfile(n)
		mine := len(d.planned)
		for _, subnet := range n.subnets {
			for _, t := range d.offeredIn(d.zoneOf(subnet), n.types) {
				in := d.instance(n, subnet, t)
				d.planned = append(d.planned, in.ID)
				s.Instances = append(s.Instances, in)
				s.Launches = append(s.Launches, snapshot.ExpectedJoin{Instance: in.ID, Started: s.Time, Due: s.Time})
			}
		}
		subnets = append(subnets, n.subnets...)
		if n.told || len(n.data) > 0 || n.template == nil {
			s.UserData = append(s.UserData, snapshot.UserData{Instances: slices.Clone(d.planned[mine:]), From: n.from, Data: n.data})
		}
	}
	slices.SortFunc(s.Instances, func(a, b snapshot.Instance) int { return cmp.Compare(a.ID, b.ID) })
	subnets = distinct(subnets)
	s.Scope = snapshot.Scope{Instances: slices.Clone(d.planned), Subnets: subnets, Launchable: slices.Clone(subnets)}
	for _, source := range []snapshot.Source{snapshot.Nodes, snapshot.UserDataOf, snapshot.Instances, snapshot.Groups} {
		s.Read[source] = true
		delete(s.Failures, source)
	}
}

// planName is how a planned node is told: it has no id.
func (d *Draft) planName(n *nodes, subnet, instanceType string) string {
	name := plannedPrefix
	if len(d.fleets) > 1 {
		name += n.owner + "-"
	}
	if len(n.types) > 1 {
		name += instanceType + "-"
	}
	return name + "node-in-" + subnet
}

func (d *Draft) instance(n *nodes, subnet, instanceType string) snapshot.Instance {
	s := d.S
	in := snapshot.Instance{
		ID: d.planName(n, subnet, instanceType), Type: instanceType, State: "running", Launched: s.Time,
		Subnet: subnet, AMI: n.image, Spot: n.spot, Groups: slices.Sorted(slices.Values(n.groups)), Profile: n.profile,
		Tags: maps.Clone(n.tags), Windows: n.windows, SourceCheck: true, Metadata: n.metadata,
	}
	if i := d.stockFor(n, instanceType); i != nil {
		in.AMI = i.ID
	}
	if n.template != nil {
		in.Template = snapshot.TemplateRef{ID: n.template.ID, Version: n.template.Version}
		for _, e := range n.template.EFAs {
			in.EFAs = append(in.EFAs, snapshot.EFA{Groups: cmpOr(e.Groups, in.Groups)})
		}
	}
	i := slices.IndexFunc(s.Subnets, func(x snapshot.Subnet) bool { return x.ID == subnet })
	if i < 0 {
		return in
	}
	in.VPC, in.Zone, in.PrivateDNS = s.Subnets[i].VPC, s.Subnets[i].Zone, hostName(s.Subnets[i], s.Region)
	if n.public == "true" || n.public == "" && s.Subnets[i].AssignPublicIP {
		// It would have a public address, and nobody knows which: as one that
		// does not show it yet. The interface of what is launched decides, else the
		// subnet (EC2 user guide, "Public IPv4 addresses").
		in.State = "pending"
	}
	return in
}

// stockFor is the image that the launcher would choose for a type; nil where
// somebody names one.
func (d *Draft) stockFor(n *nodes, instanceType string) *snapshot.Image {
	if len(n.stocks) == 0 {
		return nil
	}
	for _, i := range n.stocks {
		if slices.ContainsFunc(d.S.InstanceTypes, func(t snapshot.InstanceType) bool {
			return t.Name == instanceType && slices.Contains(t.Architectures, i.Architecture)
		}) {
			return i
		}
	}
	return n.stocks[0]
}

// hostName is the name of a host of a subnet, of the first that EC2 would give
// (EC2 user guide, "EC2 instance hostname types": ip-10-0-0-4.ec2.internal in
// us-east-1). It tells how long names are.
func hostName(n snapshot.Subnet, region string) string {
	if !n.CIDR.IsValid() || !n.CIDR.Addr().Is4() {
		return ""
	}
	a := n.CIDR.Masked().Addr()
	for range 4 { // EC2 keeps the first four
		a = a.Next()
	}
	name := "ip-" + strings.ReplaceAll(a.String(), ".", "-")
	if region == "us-east-1" {
		return name + ".ec2.internal"
	}
	return name + "." + region + ".compute.internal"
}

func cmpOr(list, otherwise []string) []string {
	if len(list) > 0 {
		return list
	}
	return otherwise
}

// makeProfile makes the profile that EKS or Karpenter would make of a role.
func (d *Draft) makeProfile(n *nodes) {
	if !n.made || n.role == "" {
		return
	}
	n.profile = "arn:" + cmp.Or(d.S.Partition, "aws") + ":iam::" + d.S.Account + ":instance-profile/planned-" + n.owner
	d.S.Profiles = append(d.S.Profiles, snapshot.Profile{ARN: n.profile, Name: "planned-" + n.owner, Roles: []string{n.role}})
	d.S.Read[snapshot.Profiles] = true
}

// Complete adds what comes into being with the nodes, and could not stand in the
// snapshot while the rest was read.
func (d *Draft) Complete() {
	for _, n := range d.fleets {
		for _, i := range n.stocks {
			if slices.ContainsFunc(d.S.Images, func(have snapshot.Image) bool { return have.ID == i.ID }) {
				continue
			}
			d.S.Images = append(d.S.Images, *i)
			d.S.Read[snapshot.Images] = true
			delete(d.S.Failures, snapshot.Images)
		}
	}
	d.Plan.maker().admit(d)
}

func distinct(list []string) []string {
	var out []string
	for _, v := range list {
		if v != "" && !slices.Contains(out, v) {
			out = append(out, v)
		}
	}
	return out
}
