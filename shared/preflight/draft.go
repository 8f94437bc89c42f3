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
// it: Announce, then Place, then Complete.
type Draft struct {
	Plan Plan
	S    *snapshot.Snapshot
	// exists tells that there is a nodegroup of the name already.
	exists bool
	// nodes is what would be launched, alike but for the place.
	nodes nodes
	// planned are the instances that Place has made up.
	planned []string
}

// nodes are the nodes that would be launched.
type nodes struct {
	owner   string // the nodegroup's name
	subnets []string
	types   []string
	// template is the launch template that somebody gives; nil for none, and
	// where it could not be read.
	template *snapshot.LaunchTemplate
	ref      snapshot.TemplateRef
	groups   []string // security groups
	role     string   // ARN
	profile  string   // ARN of the instance profile
	// made tells that the profile is made with the nodes: EKS does.
	made     bool
	image    string          // an AMI's id
	stock    *snapshot.Image // the image that EKS chooses, which has no id yet
	tags     map[string]string
	metadata snapshot.Metadata
	spot     bool
	windows  bool
	data     []byte // user data, as far as somebody gives it
	from     string // what gives it
}

// First are the sources that tell where what is planned would stand.
func (d *Draft) First() []snapshot.Source {
	return []snapshot.Source{snapshot.Clusters, snapshot.Nodegroups, snapshot.Subnets, snapshot.VPCs, snapshot.SecurityGroups}
}

// Announce puts the nodegroup and its group into the snapshot: what they name is
// read next, the launch template first.
func (d *Draft) Announce() { d.announceNodegroup() }

// Second are the sources to read then.
func (d *Draft) Second() []snapshot.Source { return []snapshot.Source{snapshot.LaunchTemplates} }

// Types are the instance types to describe, once the template was read.
func (d *Draft) Types() []string {
	types := d.Plan.Nodegroup.InstanceTypes
	if t := d.template(); t != nil && len(types) == 0 && t.Type != "" {
		types = []string{t.Type}
	}
	if len(types) == 0 {
		types = []string{defaultType}
	}
	return types
}

// defaultType is taken where neither the nodegroup nor its template names one
// (EKS API reference, CreateNodegroup, instanceTypes).
const defaultType = "t3.medium"

// template is the version of the launch template that the plan names, as it was
// read.
func (d *Draft) template() *snapshot.LaunchTemplate {
	ref := d.nodes.ref
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
	s, n := d.S, &d.nodes
	n.template = d.template()
	n.types = d.Types()
	d.fillNodegroup()
	d.makeProfile()
	for _, subnet := range n.subnets {
		for _, t := range n.types {
			in := d.instance(subnet, t)
			d.planned = append(d.planned, in.ID)
			s.Instances = append(s.Instances, in)
			s.Launches = append(s.Launches, snapshot.ExpectedJoin{Instance: in.ID, Started: s.Time, Due: s.Time})
		}
	}
	slices.SortFunc(s.Instances, func(a, b snapshot.Instance) int { return cmp.Compare(a.ID, b.ID) })
	s.Scope = snapshot.Scope{Instances: slices.Clone(d.planned), Subnets: slices.Clone(n.subnets), Launchable: slices.Clone(n.subnets)}
	if len(n.data) > 0 || n.template == nil {
		s.UserData = append(s.UserData, snapshot.UserData{Instances: slices.Clone(d.planned), From: n.from, Data: n.data})
	}
	for _, source := range []snapshot.Source{snapshot.Nodes, snapshot.UserDataOf, snapshot.Instances, snapshot.Groups} {
		s.Read[source] = true
		delete(s.Failures, source)
	}
}

// planName is how a planned node is told: it has no id.
func planName(subnet, instanceType string, several bool) string {
	if several {
		return "planned-" + instanceType + "-node-in-" + subnet
	}
	return "planned-node-in-" + subnet
}

func (d *Draft) instance(subnet, instanceType string) snapshot.Instance {
	s, n := d.S, d.nodes
	in := snapshot.Instance{
		ID: planName(subnet, instanceType, len(n.types) > 1), Type: instanceType, State: "running", Launched: s.Time,
		Subnet: subnet, AMI: n.image, Spot: n.spot, Groups: slices.Sorted(slices.Values(n.groups)), Profile: n.profile,
		Tags: maps.Clone(n.tags), Windows: n.windows, SourceCheck: true, Metadata: n.metadata,
	}
	if n.stock != nil {
		in.AMI = n.stock.ID
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
	if assigned(s.Subnets[i], n.template) {
		// It would have a public address, and nobody knows which: as one that
		// does not show it yet.
		in.State = "pending"
	}
	return in
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

// assigned tells that an instance would have a public address: the interface of
// the launch template decides, else the subnet (EC2 user guide, "Public IPv4
// addresses").
func assigned(subnet snapshot.Subnet, t *snapshot.LaunchTemplate) bool {
	if t != nil && t.PublicIP != "" {
		return t.PublicIP == "true"
	}
	return subnet.AssignPublicIP
}

func cmpOr(list, otherwise []string) []string {
	if len(list) > 0 {
		return list
	}
	return otherwise
}

// makeProfile makes the profile that EKS would make of a role.
func (d *Draft) makeProfile() {
	n := &d.nodes
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
	if d.nodes.stock != nil {
		d.S.Images = append(d.S.Images, *d.nodes.stock)
		d.S.Read[snapshot.Images] = true
		delete(d.S.Failures, snapshot.Images)
	}
	d.admit()
}
