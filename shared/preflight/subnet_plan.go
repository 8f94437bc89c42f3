package preflight

import (
	"cmp"
	"net/netip"
	"slices"
	"strings"

	"rollcall/shared/checkid"
	"rollcall/shared/snapshot"
)

// SubnetPlan is a subnet: one that is there and takes no nodes yet, or one that is
// to be made.
type SubnetPlan struct {
	id   string
	made *subnetDoc // nil for one that is there
	// others are the subnets of the VPC beside it.
	others []snapshot.Subnet
}

// subnetDoc is what ec2 create-subnet takes (botocore 1.43, ec2,
// CreateSubnetRequest).
type subnetDoc struct {
	VpcId             string `json:"VpcId"`
	CidrBlock         string `json:"CidrBlock"`
	Ipv6CidrBlock     string `json:"Ipv6CidrBlock"`
	AvailabilityZone  string `json:"AvailabilityZone"`
	ZoneID            string `json:"AvailabilityZoneId"`
	TagSpecifications []struct {
		ResourceType string `json:"ResourceType"`
		Tags         []struct {
			Key   string `json:"Key"`
			Value string `json:"Value"`
		} `json:"Tags"`
	} `json:"TagSpecifications"`
	Ipv6Native        *bool `json:"Ipv6Native"`
	OutpostArn        any   `json:"OutpostArn"`
	Ipv4IpamPoolId    any   `json:"Ipv4IpamPoolId"`
	Ipv4NetmaskLength any   `json:"Ipv4NetmaskLength"`
	Ipv6IpamPoolId    any   `json:"Ipv6IpamPoolId"`
	Ipv6NetmaskLength any   `json:"Ipv6NetmaskLength"`
	DryRun            *bool `json:"DryRun"`
}

// ParseSubnet reads a subnet's id.
func ParseSubnet(id string) (Plan, error) {
	if !strings.HasPrefix(id, "subnet-") || len(id) == len("subnet-") {
		return Plan{}, misunderstood("", "%s: want a subnet's id, subnet-0abc", id)
	}
	return Plan{Kind: Subnet, Name: id, Subnet: &SubnetPlan{id: id}}, nil
}

func parseSubnet(data []byte, tree map[string]any) (Plan, error) {
	var doc subnetDoc
	if err := strict(data, tree, &doc, "create-subnet"); err != nil {
		return Plan{}, err
	}
	switch {
	case doc.VpcId == "":
		return Plan{}, misunderstood("VpcId", "create-subnet requires it")
	case doc.CidrBlock == "":
		return Plan{}, misunderstood("CidrBlock", "it is needed here: what a pool of IPAM would give is not known")
	}
	for _, cidr := range []struct{ at, text string }{{"CidrBlock", doc.CidrBlock}, {"Ipv6CidrBlock", doc.Ipv6CidrBlock}} {
		if _, err := netip.ParsePrefix(cidr.text); cidr.text != "" && err != nil {
			return Plan{}, misunderstood(cidr.at, "%q is no range: write it as 10.0.64.0/20", cidr.text)
		}
	}
	return Plan{Kind: Subnet, Name: doc.CidrBlock + " of " + doc.VpcId, Subnet: &SubnetPlan{id: plannedPrefix + "subnet", made: &doc}}, nil
}

func (p *SubnetPlan) first() []snapshot.Source {
	return where(snapshot.Nodegroups, snapshot.NetworkACLs, snapshot.ZonesOf)
}

func (p *SubnetPlan) second() []snapshot.Source { return []snapshot.Source{snapshot.LaunchTemplates} }

// announce puts the subnet into the VPC, as EC2 makes it: without a route table or a
// network ACL of its own (EC2 user guide, "Subnets for your VPC"). The nodegroups
// of the cluster say what would be launched there.
func (p *SubnetPlan) announce(d *Draft) {
	s := d.S
	s.Groups = nil
	for i := range s.Nodegroups {
		s.Nodegroups[i].Subnets = []string{p.id}
		s.Groups = append(s.Groups, managedGroup(d, &s.Nodegroups[i]))
	}
	if p.made == nil {
		return
	}
	block, _ := netip.ParsePrefix(p.made.CidrBlock)
	made := snapshot.Subnet{ID: p.id, VPC: p.made.VpcId, Zone: p.zone(s), CIDR: block.Masked(), Free: max(0, 1<<min(30, 32-block.Bits())-reserved), Tags: map[string]string{}}
	for _, v := range s.VPCs {
		if v.ID == made.VPC {
			made.BlockMode = v.BlockMode // nothing excludes what is not there yet
		}
	}
	if six, err := netip.ParsePrefix(p.made.Ipv6CidrBlock); err == nil {
		made.IPv6 = []netip.Prefix{six.Masked()}
	}
	for _, spec := range p.made.TagSpecifications {
		for _, tag := range spec.Tags {
			made.Tags[tag.Key] = tag.Value
		}
	}
	p.others = slices.Clone(s.Subnets)
	if made.VPC != s.Cluster.VPC || len(p.refusedRange(s)) > 0 {
		return
	}
	s.Subnets = append(s.Subnets, made)
	slices.SortFunc(s.Subnets, func(a, b snapshot.Subnet) int { return cmp.Compare(a.ID, b.ID) })
	for i := range s.NetworkACLs {
		if a := &s.NetworkACLs[i]; a.Default && a.VPC == made.VPC {
			a.Subnets = append(slices.Clone(a.Subnets), p.id)
		}
	}
}

// reserved are the addresses of a subnet that EC2 keeps (EC2 user guide, "Subnet
// CIDR blocks").
const reserved = 5

// zone is the zone that is asked for; empty where EC2 chooses.
func (p *SubnetPlan) zone(s *snapshot.Snapshot) string {
	if p.made.AvailabilityZone != "" || p.made.ZoneID == "" {
		return p.made.AvailabilityZone
	}
	for _, z := range s.Zones {
		if z.ID == p.made.ZoneID {
			return z.Name
		}
	}
	return ""
}

// settle launches there what the nodegroups launch; where there is none, a node of
// which nothing is known but that it stands there.
func (p *SubnetPlan) settle(d *Draft) {
	s := d.S
	var subnets []string
	if slices.ContainsFunc(s.Subnets, func(x snapshot.Subnet) bool { return x.ID == p.id }) {
		subnets = []string{p.id}
	}
	for i := range s.Nodegroups {
		g := &s.Nodegroups[i]
		n := &nodes{owner: g.Name, ref: g.Template, subnets: subnets, template: d.template(g.Template)}
		d.fleets = append(d.fleets, n)
		d.manage(n, i)
	}
	if len(d.fleets) > 0 {
		return
	}
	n := &nodes{owner: "node", subnets: subnets, types: []string{defaultType}, bare: true, metadata: snapshot.Metadata{Endpoint: "enabled", HopLimit: 2, Tokens: "required"}}
	if s.Cluster.SecurityGroup != "" {
		n.groups = []string{s.Cluster.SecurityGroup}
	}
	n.tags = map[string]string{"kubernetes.io/cluster/" + s.Cluster.Name: "owned"}
	d.fleets = []*nodes{n}
}

func (p *SubnetPlan) choose(d *Draft) {
	for i := range d.S.Nodegroups {
		d.chooseImage(d.fleets[i], i)
	}
}

// admit leaves all as it is: the nodegroups are there.
func (p *SubnetPlan) admit(*Draft) {}

// ofPlace tells the checks that need only know where a node stands.
func ofPlace(id checkid.ID) bool {
	family, _, _ := strings.Cut(string(id), "/")
	return slices.Contains([]string{"route", "endpoint", "sg", "nacl", "dns", "ip"}, family)
}
