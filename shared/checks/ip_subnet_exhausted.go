package checks

import (
	"cmp"
	"fmt"
	"slices"

	"rollcall/shared/ipam"
	"rollcall/shared/snapshot"
)

func subnetExhausted() Check {
	return Check{
		ID:         "ip/subnet-exhausted",
		Title:      "The subnet has not enough free addresses for one more node",
		Confidence: Certain,
		Needs:      []snapshot.Source{snapshot.Clusters, snapshot.Subnets, snapshot.Instances},
		// What one more node takes matters only where little is free.
		Uses: []snapshot.Source{snapshot.InstanceTypes},
		// A failed launch that names the subnet is the cause; the arithmetic is
		// here.
		Adds:     []ID{"launch/subnet-full"},
		After:    []ID{"spot/burst-exceeds-subnet"},
		AtLaunch: true,
		Cause: "A launch takes one address; the VPC CNI then fills the first interface with addresses for pods, and keeps a second interface in reserve. With no free address nothing starts, and the pods of nodes that started get none: such a node registers, and may be Ready. " +
			"With fewer than the first interface holds, that is likely, unless the CNI has other settings (custom networking, prefix delegation, smaller warm targets, IPv6), which are not read.",
		Fix: "Free addresses (leaked network interfaces, unused load balancers), launch into another subnet, or add a secondary CIDR with new subnets. Lower WARM_ENI_TARGET or set WARM_IP_TARGET where nodes hold more than they use.",
		Links: []string{
			"https://docs.aws.amazon.com/eks/latest/best-practices/ip-opt.html",
			"https://github.com/aws/amazon-vpc-cni-k8s/blob/master/docs/eni-and-ip-target.md",
		},
		Run: func(s *snapshot.Snapshot) []Finding {
			c := look(s)
			var list []Finding
			for _, f := range c.blind {
				if len(f.Blocked) > 0 && f.Blocked[0].Source != snapshot.RouteTables {
					list = append(list, f)
				}
			}
			return append(list, c.freeAddresses()...)
		},
	}
}

// freeAddresses judges every subnet of the scope, whatever its routes are.
func (c *scene) freeAddresses() []Finding {
	types := map[string]snapshot.InstanceType{}
	for _, t := range c.s.InstanceTypes {
		types[t.Name] = t
	}
	ids := slices.Concat(c.s.Scope.Subnets, c.s.Scope.Launchable)
	for id := range c.all {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	var list []Finding
	for _, id := range slices.Compact(ids) {
		if subnet, known := c.net.Subnet(id); known {
			list = append(list, c.freeIn(subnet, c.smallest(id, types)))
		}
	}
	return list
}

// smallest is the type with the smallest demand among the scope's instances
// in the subnet, else among all types that were read: one more node of the
// group may be of any of them, and the subnet is not to be accused wrongly.
func (c *scene) smallest(subnet string, types map[string]snapshot.InstanceType) snapshot.InstanceType {
	var list []snapshot.InstanceType
	for _, i := range c.all[subnet] {
		if t, known := types[i.Type]; known {
			list = append(list, t)
		}
	}
	if len(list) == 0 {
		list = slices.Clone(c.s.InstanceTypes)
	}
	if len(list) == 0 {
		return snapshot.InstanceType{}
	}
	return slices.MinFunc(list, func(a, b snapshot.InstanceType) int {
		return cmp.Or(cmp.Compare(ipam.AtStart(a).First, ipam.AtStart(b).First), cmp.Compare(a.Name, b.Name))
	})
}

// mostFirst is more than the first interface of any type takes (EC2 user guide,
// "Maximum IP addresses per network interface": 50 at most).
const mostFirst = 64

// freeIn holds the rule:
//
//	no free address            Fail, certain: no launch, no pod address
//	fewer than First           Fail, likely: a node starts, its pods run short
//	First or more, or IPv6     Pass: the warm interface can wait
//
// An instance that runs has its own address, so a full subnet does not keep
// it from registering. Those that did register and are not Ready (or whose
// pods have no network) are what the finding explains.
func (c *scene) freeIn(subnet snapshot.Subnet, t snapshot.InstanceType) Finding {
	if !subnet.CIDR.IsValid() {
		// EC2 says "0 free" of a subnet that has IPv6 addresses only.
		return Finding{Outcome: Pass, Resource: subnet.ID, Covers: []string{subnet.ID}, Evidence: []Evidence{{What: subnet.ID, Value: "has no IPv4 range"}}}
	}
	if subnet.Free > 0 && subnet.Free < mostFirst && !c.s.Cluster.IPv6 && !c.s.Has(snapshot.InstanceTypes) {
		return Finding{Outcome: Unknown, Resource: subnet.ID, Covers: []string{subnet.ID}, Blocked: []snapshot.Failure{c.s.Why(snapshot.InstanceTypes)}}
	}
	d := ipam.AtStart(t)
	if c.s.Cluster.IPv6 {
		d = ipam.Demand{Own: 1, First: 1} // pods have IPv6 addresses
	}
	sum := fmt.Sprintf("%d free; one more node needs %d at start", subnet.Free, d.First)
	if d.First > 1 {
		sum = fmt.Sprintf("%d free; one more %s takes %d: 1 for itself and %d for pods on its first interface; %d more are kept warm on a second one",
			subnet.Free, t.Name, d.First, d.First-1, d.Warm)
	}
	arithmetic := []Evidence{{What: "Addresses of " + subnet.ID, Value: sum}}
	if subnet.Free >= d.First {
		return Finding{Outcome: Pass, Resource: subnet.ID, Covers: []string{subnet.ID}, Evidence: arithmetic}
	}
	f := Finding{
		Outcome:   Fail,
		Resource:  subnet.ID,
		Covers:    []string{subnet.ID},
		Instances: c.notReadyIn(subnet.ID),
		Resources: []string{subnet.ID, subnet.VPC},
		Title:     title("%s has no free address", subnet.ID),
		Why: fmt.Sprintf("%s (%s, %s) has no free address. Nothing more can be launched there, and pods on its nodes get no addresses.",
			subnet.ID, subnet.CIDR, subnet.Zone),
		Evidence: append(arithmetic, Evidence{What: subnet.ID, Value: fmt.Sprintf("%s, %s", subnet.CIDR, subnet.Zone)}),
		Fix: Fix{
			Text:    fmt.Sprintf("Delete what holds addresses without use (the command lists interfaces that nothing is attached to), or let the group launch into a subnet other than %s.", subnet.ID),
			Command: fmt.Sprintf("aws ec2 describe-network-interfaces --region %s --filters Name=subnet-id,Values=%s Name=status,Values=available", c.s.Region, subnet.ID),
			Console: console(c.s, "SubnetDetails:subnetId="+subnet.ID),
		},
	}
	if subnet.Free > 0 {
		f.Confidence = Likely
		f.Title = title("%s has only %d free %s", subnet.ID, subnet.Free, plural(subnet.Free, "address", "addresses"))
		f.Why = fmt.Sprintf("%s (%s, %s) has %d free, and one more %s takes %d with the VPC CNI's default settings. It would start, and its pods would run short of addresses.",
			subnet.ID, subnet.CIDR, subnet.Zone, subnet.Free, t.Name, d.First)
	}
	return f
}

// notReadyIn are the scope's instances in a subnet that registered and are
// not Ready.
func (c *scene) notReadyIn(subnet string) []string {
	registered := map[string]bool{}
	for _, n := range c.s.Nodes {
		registered[n.Instance] = true
	}
	var ids []string
	for _, i := range c.here[subnet] {
		if registered[i.ID] {
			ids = append(ids, i.ID)
		}
	}
	return ids
}

func plural(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}
