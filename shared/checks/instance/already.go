package instance

import (
	"slices"
	"strings"

	"rollcall/shared/checks/facts"
	"rollcall/shared/snapshot"
)

// already are the sources that show what a console line's advice asks for.
func already() []snapshot.Source {
	return []snapshot.Source{snapshot.VPCs, snapshot.VPCDNS, snapshot.DHCP, snapshot.Access, snapshot.Profiles, snapshot.Roles, snapshot.Nodegroups}
}

// state is a clause of advice, and whether what it asks for is so already.
type state struct {
	clause string
	is     func(s *facts.View, i *snapshot.Instance) bool
}

// states are the clauses of the console's rows that ask for what a look can show.
func states() []state {
	attached := func(names ...string) func(*facts.View, *snapshot.Instance) bool {
		return func(s *facts.View, i *snapshot.Instance) bool { return holds(s, i, names) }
	}
	return []state{
		{"Switch DNS support of the VPC on, ", dnsOn(func(v snapshot.VPCAttributes) bool { return v.DNSSupport })},
		{"Switch DNS hostnames of the VPC on; where they are, ", dnsOn(func(v snapshot.VPCAttributes) bool { return v.DNSHostnames })},
		{"use AmazonProvidedDNS or forward to it, and ", amazonProvided},
		{", and look at the DHCP options' name servers", amazonProvided},
		{"Give the node role an access entry of type EC2_LINUX (EC2_WINDOWS), or map it", admitted},
		{"Attach AmazonEKSWorkerNodePolicy to the node role; ", attached("AmazonEKSWorkerNodePolicy")},
		{"Attach AmazonEKSWorkerNodePolicy to the node role, or ", attached("AmazonEKSWorkerNodePolicy")},
		{"Attach AmazonEC2ContainerRegistryPullOnly to the node role, and ", attached("AmazonEC2ContainerRegistryPullOnly", "AmazonEC2ContainerRegistryReadOnly", "AmazonEC2ContainerRegistryPowerUser")},
		{"Switch the metadata endpoint on, and ", func(_ *facts.View, i *snapshot.Instance) bool { return i.Metadata.Endpoint == "enabled" }},
	}
}

// withoutWhatIs is advice without what is so already.
func withoutWhatIs(s *facts.View, i *snapshot.Instance, text string) string {
	for _, x := range states() {
		if !strings.Contains(text, x.clause) || !x.is(s, i) {
			continue
		}
		before, after, _ := strings.Cut(text, x.clause)
		if strings.HasPrefix(x.clause, "Give the node role") {
			// The entry is there, and the line is older or of another identity.
			text = "The node role has its access entry: if it was made after the instance started, look again; else compare the identity that the instance has with it."
			continue
		}
		text = before + after
	}
	return strings.ToUpper(text[:1]) + text[1:]
}

func dnsOn(is func(snapshot.VPCAttributes) bool) func(*facts.View, *snapshot.Instance) bool {
	return func(s *facts.View, i *snapshot.Instance) bool {
		return slices.ContainsFunc(s.VPCAttributes, func(v snapshot.VPCAttributes) bool { return v.VPC == i.VPC && is(v) })
	}
}

func amazonProvided(s *facts.View, i *snapshot.Instance) bool {
	n := s.Placements().NameServers(i.VPC)
	return n.Blocked == nil && slices.Equal(n.Options.DomainNameServers, []string{"AmazonProvidedDNS"})
}

// roleOf is the ARN of an instance's node role, where it is known.
func roleOf(s *facts.View, i *snapshot.Instance) string {
	groups, _ := s.RoleGroups()
	for _, g := range groups {
		if slices.Contains(g.All(), i.ID) {
			return g.Role
		}
	}
	return ""
}

func admitted(s *facts.View, i *snapshot.Instance) bool {
	role := roleOf(s, i)
	return role != "" && slices.ContainsFunc(s.AccessEntries, func(e snapshot.AccessEntry) bool {
		return e.Principal == role && (e.Type == "EC2_LINUX" || e.Type == "EC2_WINDOWS" || e.Type == "EC2")
	})
}

func holds(s *facts.View, i *snapshot.Instance, policies []string) bool {
	role, _, why := facts.ReadRole(s, roleOf(s, i))
	return why == nil && slices.ContainsFunc(role.Policies, func(p snapshot.Policy) bool { return slices.Contains(policies, p.Name) })
}
