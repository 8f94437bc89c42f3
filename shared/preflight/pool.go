package preflight

import (
	"cmp"
	"encoding/base64"
	"fmt"
	"maps"
	"slices"
	"strings"

	"rollcall/shared/checks/facts"
	"rollcall/shared/node/scheduling"
	"rollcall/shared/snapshot"
)

func (p *PoolsPlan) first() []snapshot.Source {
	list := where(snapshot.NodePoolsOf)
	for _, pool := range p.pools {
		for _, r := range pool.Spec.Template.Spec.Requirements {
			if r.Key == zoneIDLabel {
				return append(list, snapshot.ZonesOf)
			}
		}
	}
	return list
}

func (p *PoolsPlan) second() []snapshot.Source {
	return []snapshot.Source{snapshot.EC2NodeClassesOf, snapshot.AutoNodeClassesOf, snapshot.TypeOfferingsOf}
}

// announce puts the NodePools into the snapshot: of those that are there already
// this is what they would become. Classes are read where a NodePool calls for them.
func (p *PoolsPlan) announce(d *Draft) {
	d.S.NodePools = nil
	for _, pool := range p.pools {
		d.S.NodePools = append(d.S.NodePools, pool.observed())
	}
	if !d.S.Has(snapshot.NodePoolsOf) {
		// They are planned, whoever may not list those that are there.
		d.S.Read[snapshot.NodePoolsOf] = true
		delete(d.S.Failures, snapshot.NodePoolsOf)
	}
}

// classOf is the class that a NodePool names: the file's, else the cluster's; known
// is false where nobody could look.
func (p *PoolsPlan) classOf(d *Draft, ref snapshot.ClassRef) (class *snapshot.NodeClass, known bool) {
	for _, c := range p.classes {
		if c.group() == ref.Group && c.Metadata.Name == ref.Name {
			made := c.observed()
			return &made, true
		}
	}
	list, source := d.S.EC2NodeClasses, snapshot.EC2NodeClassesOf
	if ref.Group == snapshot.AutoModeGroup {
		list, source = d.S.AutoNodeClasses, snapshot.AutoNodeClassesOf
	}
	for i := range list {
		if list[i].Name == ref.Name {
			return &list[i], true
		}
	}
	return nil, d.S.Has(source)
}

func (p *PoolsPlan) settle(d *Draft) {
	for i := range d.S.NodePools {
		pool := d.S.NodePools[i]
		class, _ := p.classOf(d, pool.Class)
		if class == nil {
			continue
		}
		images := []string{""}
		for _, t := range class.Images {
			if t.ID != "" {
				images = append(images, t.ID)
			}
		}
		switch {
		case searches(class):
			images = images[:1] // which those are is read next
		case len(images) > 1:
			images = images[1:]
		}
		for _, image := range images {
			n := d.pooled(pool, class)
			n.image = image
			d.fleets = append(d.fleets, n)
		}
	}
	// What is planned has no condition yet, and what the class finds is told here.
	d.S.NodePools = nil
}

// pooled is what a NodePool launches of its class (aws/karpenter-provider-aws
// pkg/providers/{subnet,securitygroup,amifamily,launchtemplate}; EKS user guide,
// "Create a Node Class for Amazon EKS").
func (d *Draft) pooled(pool snapshot.NodePool, class *snapshot.NodeClass) *nodes {
	s := d.S
	n := &nodes{owner: pool.Name, pool: &pool, class: class, auto: pool.Class.Group == snapshot.AutoModeGroup, told: true}
	zones := map[string]bool{}
	for _, subnet := range s.Subnets {
		if selectedBy(class.Subnets, subnet.ID, "", subnet.Tags) && d.allowsZone(pool, subnet.Zone) {
			n.subnets = append(n.subnets, subnet.ID)
			zones[subnet.Zone] = true
		}
	}
	for _, g := range s.SecurityGroups {
		if (g.VPC == s.Cluster.VPC || g.Associated[s.Cluster.VPC] == associated) && selectedBy(class.Groups, g.ID, g.Name, g.Tags) {
			n.groups = append(n.groups, g.ID)
		}
	}
	n.types = d.candidates(n, zones)
	n.public = class.PublicIP
	// The CRD's defaults, and Auto Mode's, which nobody changes.
	n.metadata = snapshot.Metadata{Endpoint: "enabled", HopLimit: 1, Tokens: "required"}
	if !n.auto {
		n.metadata.Endpoint = cmp.Or(class.Metadata.Endpoint, n.metadata.Endpoint)
		n.metadata.HopLimit = cmp.Or(class.Metadata.HopLimit, n.metadata.HopLimit)
		n.metadata.Tokens = cmp.Or(class.Metadata.Tokens, n.metadata.Tokens)
	}
	switch {
	case class.Profile != "":
		n.profile = fmt.Sprintf("arn:%s:iam::%s:instance-profile/%s", cmp.Or(s.Partition, "aws"), s.Account, class.Profile)
	case class.Role != "":
		n.made = true
		n.role = class.Role // Karpenter takes the name, EKS Auto Mode the ARN too
		if !strings.HasPrefix(n.role, "arn:") {
			n.role = fmt.Sprintf("arn:%s:iam::%s:role/%s", cmp.Or(s.Partition, "aws"), s.Account, class.Role)
		}
	}
	n.spot = allows(pool, capacityLabel, "spot") && !allows(pool, capacityLabel, "on-demand")
	n.tags = map[string]string{
		"kubernetes.io/cluster/" + s.Cluster.Name: "owned", "eks:eks-cluster-name": s.Cluster.Name,
		"karpenter.sh/nodepool": pool.Name, "karpenter.k8s.aws/ec2nodeclass": class.Name,
	}
	if n.auto {
		n.tags = map[string]string{
			"kubernetes.io/cluster/" + s.Cluster.Name: "owned", "eks:eks-cluster-name": s.Cluster.Name,
			"eks:kubernetes-node-pool-name": pool.Name, "eks:kubernetes-node-class-name": class.Name,
		}
	}
	n.windows = strings.HasPrefix(familyOf(class), "windows")
	n.data, n.from = d.bootstrap(n, class), "what is made for the class "+class.Name
	return n
}

// selectedBy tells that one of the terms selects a thing: by id, by name, or by all
// of its tags, of which "*" takes any value.
func selectedBy(list []snapshot.SelectorTerm, id, name string, tags map[string]string) bool {
	return slices.ContainsFunc(list, func(t snapshot.SelectorTerm) bool {
		if t.ID != "" || t.Name != "" && len(t.Tags) == 0 {
			return t.ID != "" && t.ID == id || t.ID == "" && t.Name == name
		}
		if t.Name != "" && t.Name != name {
			return false
		}
		for key, want := range t.Tags {
			if value, has := tags[key]; !has || want != "*" && value != want {
				return false
			}
		}
		return len(t.Tags) > 0
	})
}

const zoneIDLabel = "topology.k8s.aws/zone-id"

func (d *Draft) allowsZone(pool snapshot.NodePool, zone string) bool {
	id := ""
	for _, z := range d.S.Zones {
		if z.Name == zone {
			id = z.ID
		}
	}
	return allows(pool, scheduling.ZoneLabel, zone) && (id == "" || allows(pool, zoneIDLabel, id))
}

// familyOf is the image family of a class in small letters: al2023, al2,
// bottlerocket, windows2022, custom; empty where its terms leave it open.
func familyOf(class *snapshot.NodeClass) string {
	for _, t := range class.Images {
		if family, _, ok := strings.Cut(t.Alias, "@"); ok {
			return strings.ToLower(family)
		}
	}
	return strings.ToLower(class.Family)
}

// aliased tells that Karpenter chooses the image.
func aliased(class *snapshot.NodeClass) bool {
	return slices.ContainsFunc(class.Images, func(t snapshot.SelectorTerm) bool { return t.Alias != "" })
}

// searches tells that a class selects images by name or tags.
func searches(class *snapshot.NodeClass) bool { return slices.ContainsFunc(class.Images, byNameOrTags) }

func byNameOrTags(t snapshot.SelectorTerm) bool {
	return t.ID == "" && t.Alias == "" && (t.Name != "" || len(t.Tags) > 0)
}

// selectedImages are the images of a class that selects by name or tags: the newest of each
// architecture (aws/karpenter-provider-aws pkg/providers/amifamily/types.go, AMIs.Sort). It
// is false where nobody looked.
func (d *Draft) selectedImages(class *snapshot.NodeClass) (list []*snapshot.Image, known bool) {
	if !searches(class) || !d.S.Has(snapshot.Images) {
		return nil, false
	}
	var ids []string
	for _, t := range class.Images {
		if t.ID != "" {
			ids = append(ids, t.ID)
		}
		if !byNameOrTags(t) {
			continue
		}
		i := slices.IndexFunc(d.S.SelectedImages, func(s snapshot.SelectedImages) bool {
			return s.Term.Name == t.Name && s.Term.Owner == t.Owner && maps.Equal(s.Term.Tags, t.Tags)
		})
		if i < 0 {
			return nil, false
		}
		ids = append(ids, d.S.SelectedImages[i].Images...)
	}
	var found []snapshot.Image
	for _, i := range d.S.Images {
		if slices.Contains(ids, i.ID) && i.State == "available" {
			found = append(found, i)
		}
	}
	slices.SortFunc(found, func(a, b snapshot.Image) int { return cmp.Or(b.Created.Compare(a.Created), cmp.Compare(a.ID, b.ID)) })
	for i := range found {
		if !slices.ContainsFunc(list, func(have *snapshot.Image) bool { return have.Architecture == found[i].Architecture }) {
			list = append(list, &found[i])
		}
	}
	return list, true
}

// poolImages are the images that would be chosen for the nodes of a class.
func (d *Draft) poolImages(n *nodes) []*snapshot.Image {
	version := d.S.Cluster.Version
	if n.auto {
		var list []*snapshot.Image
		for _, arch := range []string{"x86_64", "arm64"} {
			list = append(list, &snapshot.Image{
				ID: "planned-image-auto-" + arch, Name: "eks-auto-standard-" + version + "-" + arch, Architecture: arch, State: "available", OwnerAlias: "amazon", Public: true,
			})
		}
		return list
	}
	if !aliased(n.class) {
		list, _ := d.selectedImages(n.class)
		return list
	}
	kinds := map[string][]string{
		"al2023": {"AL2023_x86_64_STANDARD", "AL2023_ARM_64_STANDARD"}, "al2": {"AL2_x86_64", "AL2_ARM_64"}, "bottlerocket": {"BOTTLEROCKET_x86_64", "BOTTLEROCKET_ARM_64"},
		"windows2019": {"WINDOWS_CORE_2019_x86_64"}, "windows2022": {"WINDOWS_CORE_2022_x86_64"}, "windows2025": {"WINDOWS_CORE_2025_x86_64"},
	}[familyOf(n.class)]
	var list []*snapshot.Image
	for _, kind := range kinds {
		list = append(list, stockImage(kind, version, d.S.Region))
	}
	return list
}

// bootstrap is the user data that Karpenter gives a node, without what the class
// adds (aws/karpenter-provider-aws pkg/providers/amifamily/bootstrap); of the
// family Custom it is the class's own.
func (d *Draft) bootstrap(n *nodes, class *snapshot.NodeClass) []byte {
	c := d.S.Cluster
	ca := base64.StdEncoding.EncodeToString(c.CA)
	cidr := ""
	if c.ServiceCIDR.IsValid() {
		cidr = c.ServiceCIDR.String()
	}
	switch family := familyOf(class); {
	case n.auto:
		return nil
	case family == "al2023":
		return []byte(fmt.Sprintf("MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=\"//\"\n\n--//\nContent-Type: application/node.eks.aws\n\n"+
			"apiVersion: node.eks.aws/v1alpha1\nkind: NodeConfig\nspec:\n  cluster:\n    name: %s\n    apiServerEndpoint: %s\n    certificateAuthority: %s\n    cidr: %s\n\n--//--\n",
			c.Name, c.Endpoint, ca, cidr))
	case family == "al2":
		return []byte(fmt.Sprintf("#!/bin/bash\n/etc/eks/bootstrap.sh '%s' --apiserver-endpoint '%s' --b64-cluster-ca '%s'\n", c.Name, c.Endpoint, ca))
	case family == "bottlerocket":
		return []byte(fmt.Sprintf("[settings.kubernetes]\napi-server = %q\ncluster-certificate = %q\ncluster-name = %q\n", c.Endpoint, ca, c.Name))
	case strings.HasPrefix(family, "windows"):
		return []byte(fmt.Sprintf("<powershell>\n[string]$EKSBootstrapScriptFile = \"$env:ProgramFiles\\Amazon\\EKS\\Start-EKSBootstrap.ps1\"\n"+
			"& $EKSBootstrapScriptFile -EKSClusterName '%s' -APIServerEndpoint '%s' -Base64ClusterCA '%s'\n</powershell>\n", c.Name, c.Endpoint, ca))
	}
	return []byte(class.UserData)
}

func (p *PoolsPlan) choose(d *Draft) {
	for _, n := range d.fleets {
		n.stocks = d.poolImages(n)
		d.represent(n)
	}
}

// admit corrects what could be known only once all was read: the path of a role
// that the class names without one, and which types an image of somebody's own is
// for.
func (p *PoolsPlan) admit(d *Draft) {
	s := d.S
	for _, n := range d.fleets {
		for i, r := range s.Roles {
			if r.ARN != n.role || r.Path == "" || r.Path == "/" || !strings.HasSuffix(n.role, ":role/"+r.Name) {
				continue
			}
			arn := strings.TrimSuffix(n.role, "/"+r.Name) + r.Path + r.Name
			s.Roles[i].ARN = arn
			for k := range s.Profiles {
				if s.Profiles[k].ARN == n.profile {
					s.Profiles[k].Roles = []string{arn}
				}
			}
			n.role = arn
		}
	}
	d.dropUnfit()
	d.nameTemplates()
}

// nameTemplates says that the nodes come of their class: what the launch template
// that is made of it has, the class says.
func (d *Draft) nameTemplates() {
	s := d.S
	for _, n := range d.fleets {
		ref := snapshot.TemplateRef{ID: facts.ClassKey(n.pool.Class), Version: "1"}
		for i := range s.Instances {
			if in := &s.Instances[i]; in.Owner() == n.owner {
				in.Template = ref
			}
		}
		if d.template(ref) == nil {
			s.LaunchTemplates = append(s.LaunchTemplates, snapshot.LaunchTemplate{
				ID: ref.ID, Version: ref.Version, Default: true, Groups: n.groups, UserData: n.data, Metadata: n.metadata, Profile: n.profile, PublicIP: n.public,
			})
		}
	}
	s.Read[snapshot.LaunchTemplates] = true
	delete(s.Failures, snapshot.LaunchTemplates)
}

// dropUnfit takes away the nodes whose image is for another architecture than
// their type's: Karpenter launches types of its images' alone. Where nothing is
// left they stay, and the checks say it.
func (d *Draft) dropUnfit() {
	s := d.S
	var unfit []string
	for _, in := range s.Instances {
		i := slices.IndexFunc(s.Images, func(i snapshot.Image) bool { return i.ID == in.AMI })
		t := slices.IndexFunc(s.InstanceTypes, func(t snapshot.InstanceType) bool { return t.Name == in.Type })
		if i >= 0 && t >= 0 && s.Images[i].Architecture != "" && !slices.Contains(s.InstanceTypes[t].Architectures, s.Images[i].Architecture) {
			unfit = append(unfit, in.ID)
		}
	}
	if len(unfit) == len(s.Instances) {
		return
	}
	gone := func(id string) bool { return slices.Contains(unfit, id) }
	s.Instances = slices.DeleteFunc(s.Instances, func(in snapshot.Instance) bool { return gone(in.ID) })
	s.Launches = slices.DeleteFunc(s.Launches, func(l snapshot.ExpectedJoin) bool { return gone(l.Instance) })
	s.Scope.Instances = slices.DeleteFunc(s.Scope.Instances, gone)
	d.planned = slices.DeleteFunc(d.planned, gone)
	for i := range s.UserData {
		s.UserData[i].Instances = slices.DeleteFunc(s.UserData[i].Instances, gone)
	}
}
