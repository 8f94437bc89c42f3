package preflight

import (
	"fmt"
	"slices"
	"strings"

	"rollcall/shared/checks"
	"rollcall/shared/checks/facts"
	"rollcall/shared/snapshot"
)

const (
	classPage = "https://karpenter.sh/docs/concepts/nodeclasses/"
	poolPage  = "https://karpenter.sh/docs/concepts/nodepools/"
	autoPage  = "https://docs.aws.amazon.com/eks/latest/userguide/create-node-class.html"
)

// refuse says of what Karpenter or EKS Auto Mode would make no node: a class that
// would not be ready, requirements that nothing meets (karpenter.md of the facts;
// aws/karpenter-provider-aws pkg/controllers/nodeclass).
func (p *PoolsPlan) refuse(r *refusing) {
	for _, planned := range p.pools {
		pool := planned.observed()
		if pool.Class.Group == snapshot.AutoModeGroup && r.S.Has(snapshot.Clusters) && !r.S.Cluster.AutoMode {
			r.refuse("auto-mode", "nodeClassRef", autoPage, "Switch Auto Mode on, or name an EC2NodeClass of Karpenter.", "The cluster does not run EKS Auto Mode",
				"The NodePool %s names a NodeClass of eks.amazonaws.com, and nothing in %s makes nodes of one: compute is not enabled.", pool.Name, r.S.Cluster.Name)
			r.about(facts.ClassKey(pool.Class))
			continue
		}
		class, known := p.classOf(r.Draft, pool.Class)
		if class == nil {
			r.classUnseen(pool, known)
			continue
		}
		r.classItself(pool, class)
	}
	for _, n := range r.fleets {
		r.pooled(n)
	}
}

func (r *refusing) classUnseen(pool snapshot.NodePool, known bool) {
	ref := pool.Class
	if !known {
		source := snapshot.EC2NodeClassesOf
		if ref.Group == snapshot.AutoModeGroup {
			source = snapshot.AutoNodeClassesOf
		}
		r.blind("node-class", ref.Kind+" "+ref.Name, r.S.Why(source))
		return
	}
	r.refuse("node-class", "nodeClassRef", pageOf(ref),
		fmt.Sprintf("Put the %s %s into the file, or name one that %s has.", ref.Kind, ref.Name, r.S.Cluster.Name), "The class of the NodePool is not there",
		"The NodePool %s names the %s %s, which is neither in the file nor in %s (NodeClassNotFound).", pool.Name, ref.Kind, ref.Name, r.S.Cluster.Name)
}

func pageOf(ref snapshot.ClassRef) string {
	if ref.Group == snapshot.AutoModeGroup {
		return autoPage
	}
	return classPage
}

// classItself is what the schema of a class, or its controller, refuses of it.
func (r *refusing) classItself(pool snapshot.NodePool, c *snapshot.NodeClass) {
	page := pageOf(pool.Class)
	bad := func(id checks.ID, field, fix, title, why string, args ...any) {
		r.refuse(id, field, page, fix, title, "The %s %s: %s", pool.Class.Kind, c.Name, fmt.Sprintf(why, args...))
		r.about(facts.ClassKey(pool.Class), plannedPrefix+"image-AL2_x86_64", plannedPrefix+"image-AL2_ARM_64")
	}
	switch {
	case c.Role != "" && c.Profile != "":
		bad("role", "role", "Name one of the two.", "The class names a role and an instance profile", "role is %s and instanceProfile %s; it takes one of them.", c.Role, c.Profile)
	case c.Role == "" && c.Profile == "":
		bad("role", "role", "Name the role of the nodes.", "The class names no role", "it has neither role nor instanceProfile.")
	}
	for _, f := range []struct {
		field string
		terms []snapshot.SelectorTerm
	}{{"subnetSelectorTerms", c.Subnets}, {"securityGroupSelectorTerms", c.Groups}} {
		if len(f.terms) == 0 {
			bad("selector", f.field, "Select by id or by tags.", "The class selects nothing", "it has no %s.", f.field)
		}
		for _, t := range f.terms {
			if t.ID == "" && t.Name == "" && len(t.Tags) == 0 {
				bad("selector", f.field, "Select by id or by tags.", "A term of the class selects nothing", "a term of %s is empty.", f.field)
			}
		}
	}
	if pool.Class.Group == snapshot.AutoModeGroup {
		return // EKS chooses its images
	}
	r.classImages(bad, c)
}

func (r *refusing) classImages(bad func(checks.ID, string, string, string, string, ...any), c *snapshot.NodeClass) {
	family := familyOf(c)
	families := []string{"al2", "al2023", "bottlerocket", "custom", "windows2019", "windows2022", "windows2025"}
	switch {
	case len(c.Images) == 0:
		bad("ami-selector", "amiSelectorTerms", "Write an alias, as al2023@latest.", "The class selects no image", "it has no amiSelectorTerms, which v1 requires.")
	case aliased(c) && len(c.Images) > 1:
		bad("ami-selector", "amiSelectorTerms", "Keep the alias alone.", "An alias beside other terms", "a term with alias must be the only one.")
	case aliased(c) && c.Family != "" && !strings.EqualFold(c.Family, family):
		bad("ami-selector", "amiFamily", "Leave amiFamily out.", "The image family is not the alias's", "amiFamily is %s and the alias is of %s.", c.Family, family)
	case !aliased(c) && c.Family == "":
		bad("ami-selector", "amiFamily", "Say of which family the images are, as AL2023, or Custom.", "The class does not say of which family its images are", "without an alias amiFamily is required.")
	case family != "" && !slices.Contains(families, family) || aliased(c) && family == "custom":
		bad("ami-selector", "amiSelectorTerms", "Write an alias of al2023, bottlerocket or windows2022, as al2023@latest.",
			"Karpenter does not know the alias", "the alias is of %q, and Karpenter's are %s.",
			family, strings.Join(slices.DeleteFunc(families, func(f string) bool { return f == "custom" }), ", "))
	case aliased(c) && family == "al2" && newer(r.S.Cluster.Version, lastAL2):
		bad("ami-selector", "amiSelectorTerms", "Write al2023@latest.", "There is no Amazon Linux 2 image for Kubernetes "+r.S.Cluster.Version,
			"1.%d is the last version for which EKS has images of Amazon Linux 2 (AMINotFound).", lastAL2)
	}
	for _, t := range c.Images {
		if t.ID == "" && t.Alias == "" && t.SSMParameter != "" {
			r.blind("ami-selector", "amiSelectorTerms", snapshot.Failure{Source: snapshot.Images, Reason: snapshot.NotRead,
				Message: "the class " + c.Name + " selects images by a parameter: which those are is not looked up; name their ids"})
			return
		}
	}
	if !searches(c) {
		return
	}
	switch list, known := r.selectedImages(c); {
	case !known:
		r.blind("ami-selector", "amiSelectorTerms", r.S.Why(snapshot.Images))
	case len(list) == 0:
		bad("ami-selector", "amiSelectorTerms", "Correct the terms, or the owner: without one only images of this account and of Amazon are selected.", "The class selects no image",
			"no available image fits amiSelectorTerms: %s (AMINotFound).", termsText(c.Images))
	}
}

// pooled is what would keep a NodePool from launching anything.
func (r *refusing) pooled(n *nodes) {
	page := pageOf(n.pool.Class)
	c, s := n.class, r.S
	if n.role != "" {
		r.role("role", n)
	}
	r.imds("metadataOptions", n)
	switch {
	case !s.Has(snapshot.Subnets):
		r.blind("subnet-selector", "subnetSelectorTerms", s.Why(snapshot.Subnets))
	case len(n.subnets) == 0 && slices.ContainsFunc(s.Subnets, func(x snapshot.Subnet) bool { return selectedBy(c.Subnets, x.ID, "", x.Tags) }):
		r.refuse("zone", "requirements", poolPage, "Allow the zone of a subnet, or let the class select one in the zone.", "The class has no subnet in a zone that the NodePool allows",
			"The class %s selects %s, and the requirements of %s leave none of these zones open.", c.Name, r.zonesSelected(c), n.pool.Name)
	case len(n.subnets) == 0 && len(c.Subnets) > 0:
		r.refuse("subnet-selector", "subnetSelectorTerms", page, "Correct the terms, or tag the subnets.", "The class selects no subnet",
			"No subnet of %s fits subnetSelectorTerms of %s (SubnetsNotFound): %s. %s", s.Cluster.VPC, c.Name, termsText(c.Subnets), r.subnetsThere())
	}
	switch {
	case !s.Has(snapshot.SecurityGroups):
		r.blind("group-selector", "securityGroupSelectorTerms", s.Why(snapshot.SecurityGroups))
	case len(n.groups) == 0 && len(c.Groups) > 0:
		r.refuse("group-selector", "securityGroupSelectorTerms", page, "Correct the terms, or tag the security groups.", "The class selects no security group",
			"No security group of %s fits securityGroupSelectorTerms of %s (SecurityGroupsNotFound): %s.", s.Cluster.VPC, c.Name, termsText(c.Groups))
	}
	switch {
	case n.unlike || !s.Has(snapshot.TypeOfferingsOf):
		r.blind("type-offering", "requirements", s.Why(snapshot.TypeOfferingsOf))
	case len(n.types) == 0 && len(n.subnets) > 0 && s.Has(snapshot.InstanceTypes):
		r.refuse("requirements", "requirements", poolPage, "Loosen the requirements.", "No instance type meets the requirements",
			"No type that EC2 offers in %s meets the requirements of %s and has an image of %s (NoCompatibleInstanceTypes).", strings.Join(r.zonesOf(n.subnets), ", "), n.pool.Name, c.Name)
	case len(n.types) == 0 && !s.Has(snapshot.InstanceTypes):
		r.blind("requirements", "requirements", s.Why(snapshot.InstanceTypes))
	}
	if os := map[bool]string{true: "windows", false: "linux"}[n.windows]; !allows(*n.pool, osLabel, os) {
		r.refuse("requirements", "requirements", poolPage, "Allow kubernetes.io/os "+os+", or choose an image family of the other.", "The NodePool asks for another operating system than its class has",
			"The images of %s are of %s, and the requirements of %s do not allow that.", c.Name, os, n.pool.Name)
	}
}

func (r *refusing) zonesSelected(c *snapshot.NodeClass) string {
	var ids []string
	for _, x := range r.S.Subnets {
		if selectedBy(c.Subnets, x.ID, "", x.Tags) {
			ids = append(ids, x.ID+" in "+x.Zone)
		}
	}
	return strings.Join(ids, ", ")
}

// subnetsThere is what the VPC has instead.
func (r *refusing) subnetsThere() string {
	var list []string
	for _, x := range r.S.Subnets {
		if x.VPC == r.S.Cluster.VPC {
			list = append(list, x.ID)
		}
	}
	const shown = 4
	if len(list) > shown {
		return fmt.Sprintf("It has %s and %d others.", strings.Join(list[:shown], ", "), len(list)-shown)
	}
	return "It has " + strings.Join(list, ", ") + "."
}

func termsText(list []snapshot.SelectorTerm) string {
	var out []string
	for _, t := range list {
		switch {
		case t.ID != "":
			out = append(out, t.ID)
		default:
			var parts []string
			if t.Name != "" {
				parts = append(parts, "name "+t.Name)
			}
			for _, key := range sortedKeys(t.Tags) {
				parts = append(parts, key+"="+t.Tags[key])
			}
			out = append(out, strings.Join(parts, " and "))
		}
	}
	return strings.Join(out, ", or ")
}
