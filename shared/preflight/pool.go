package preflight

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"rollcall/shared/checks/check"
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
// is false where they could not be read.
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
	// What is planned has no condition yet, and what the class finds is reported here.
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
	// The CRD's defaults, and Auto Mode's, which no user changes.
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

// selectedBy reports whether one of the terms selects a thing: by id, by name, or by all
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

// aliased reports whether Karpenter chooses the image.
func aliased(class *snapshot.NodeClass) bool {
	return slices.ContainsFunc(class.Images, func(t snapshot.SelectorTerm) bool { return t.Alias != "" })
}

// searches reports whether a class selects images by name or tags.
func searches(class *snapshot.NodeClass) bool { return slices.ContainsFunc(class.Images, byNameOrTags) }

func byNameOrTags(t snapshot.SelectorTerm) bool {
	return t.ID == "" && t.Alias == "" && (t.Name != "" || len(t.Tags) > 0)
}

// selectedImages are the images of a class that selects by name or tags: the newest of each
// architecture (aws/karpenter-provider-aws pkg/providers/amifamily/types.go, AMIs.Sort). It
// is false where that was not read.
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
// that the class names without one, and which types a custom image is
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
		ref := snapshot.TemplateRef{ID: check.ClassKey(n.pool.Class), Version: "1"}
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

// PoolsPlan is NodePools with their classes, as kubectl applies them.
type PoolsPlan struct {
	pools   []nodePool
	classes []nodeClass
}

// The groups and kinds of the manifests (kubernetes-sigs/karpenter and
// aws/karpenter-provider-aws pkg/apis/crds, v1 of both; EKS user guide, "Create a
// Node Class").
const (
	poolGroup, poolKind = "karpenter.sh", "NodePool"
	karpenterKind       = "EC2NodeClass"
	autoKind            = "NodeClass"
)

type objectMeta struct {
	Name string `json:"name"`
}

// nodePool has the fields of karpenter.sh_nodepools.yaml; what no rule asks for is
// not looked into.
type nodePool struct {
	APIVersion string     `json:"apiVersion"`
	Kind       string     `json:"kind"`
	Metadata   objectMeta `json:"metadata"`
	Spec       struct {
		Template struct {
			Metadata struct {
				Labels      map[string]string `json:"labels"`
				Annotations any               `json:"annotations"`
			} `json:"metadata"`
			Spec struct {
				NodeClassRef struct {
					Group string `json:"group"`
					Kind  string `json:"kind"`
					Name  string `json:"name"`
				} `json:"nodeClassRef"`
				Requirements []struct {
					Key       string   `json:"key"`
					Operator  string   `json:"operator"`
					Values    []string `json:"values"`
					MinValues any      `json:"minValues"`
				} `json:"requirements"`
				Taints                 []manifestTaint `json:"taints"`
				StartupTaints          any             `json:"startupTaints"`
				ExpireAfter            any             `json:"expireAfter"`
				TerminationGracePeriod any             `json:"terminationGracePeriod"`
			} `json:"spec"`
		} `json:"template"`
		Disruption any `json:"disruption"`
		Limits     any `json:"limits"`
		Replicas   any `json:"replicas"`
		Weight     any `json:"weight"`
	} `json:"spec"`
	Status any `json:"status"`
}

type manifestTaint struct {
	Key       string `json:"key"`
	Value     string `json:"value"`
	Effect    string `json:"effect"`
	TimeAdded any    `json:"timeAdded"`
}

// nodeClass has the fields of karpenter.k8s.aws_ec2nodeclasses.yaml, and those of
// EKS Auto Mode's NodeClass, which has some of them and some of its own.
type nodeClass struct {
	APIVersion string     `json:"apiVersion"`
	Kind       string     `json:"kind"`
	Metadata   objectMeta `json:"metadata"`
	Spec       struct {
		AMIFamily                  string            `json:"amiFamily"`
		AMISelectorTerms           []selector        `json:"amiSelectorTerms"`
		SubnetSelectorTerms        []selector        `json:"subnetSelectorTerms"`
		SecurityGroupSelectorTerms []selector        `json:"securityGroupSelectorTerms"`
		Role                       string            `json:"role"`
		InstanceProfile            string            `json:"instanceProfile"`
		UserData                   string            `json:"userData"`
		Tags                       map[string]string `json:"tags"`
		AssociatePublicIPAddress   *bool             `json:"associatePublicIPAddress"`
		MetadataOptions            *struct {
			HTTPEndpoint            string `json:"httpEndpoint"`
			HTTPProtocolIPv6        string `json:"httpProtocolIPv6"`
			HTTPPutResponseHopLimit *int   `json:"httpPutResponseHopLimit"`
			HTTPTokens              string `json:"httpTokens"`
		} `json:"metadataOptions"`
		Kubelet                          any `json:"kubelet"`
		BlockDeviceMappings              any `json:"blockDeviceMappings"`
		CapacityReservationSelectorTerms any `json:"capacityReservationSelectorTerms"`
		ConnectionTracking               any `json:"connectionTracking"`
		Context                          any `json:"context"`
		CPUOptions                       any `json:"cpuOptions"`
		DetailedMonitoring               any `json:"detailedMonitoring"`
		InstanceStorePolicy              any `json:"instanceStorePolicy"`
		IPPrefixCount                    any `json:"ipPrefixCount"`
		NetworkInterfaces                any `json:"networkInterfaces"`
		PlacementGroupSelector           any `json:"placementGroupSelector"`
		// EKS Auto Mode's own.
		PodSubnetSelectorTerms        any `json:"podSubnetSelectorTerms"`
		PodSecurityGroupSelectorTerms any `json:"podSecurityGroupSelectorTerms"`
		NetworkPolicy                 any `json:"networkPolicy"`
		NetworkPolicyEventLogs        any `json:"networkPolicyEventLogs"`
		SNATPolicy                    any `json:"snatPolicy"`
		EphemeralStorage              any `json:"ephemeralStorage"`
		CertificateBundles            any `json:"certificateBundles"`
		AdvancedNetworking            any `json:"advancedNetworking"`
		AdvancedSecurity              any `json:"advancedSecurity"`
	} `json:"spec"`
	Status any `json:"status"`
}

type selector struct {
	ID           string            `json:"id"`
	Name         string            `json:"name"`
	Alias        string            `json:"alias"`
	Owner        string            `json:"owner"`
	SSMParameter string            `json:"ssmParameter"`
	Tags         map[string]string `json:"tags"`
}

// parseManifests reads YAML or JSON of Kubernetes: documents, and lists of them.
func parseManifests(data []byte) (Plan, error) {
	p := &PoolsPlan{}
	d := yaml.NewDecoder(bytes.NewReader(data))
	for {
		var doc any
		err := d.Decode(&doc)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return Plan{}, misunderstood("", "it is not YAML: %s", oneLine(err))
		}
		if err := p.add(doc); err != nil {
			return Plan{}, err
		}
	}
	if len(p.pools) == 0 {
		if len(p.classes) > 0 {
			return Plan{}, misunderstood("", "it holds a class and no NodePool: a class alone launches nothing; put the NodePool that names it into the file")
		}
		return Plan{}, misunderstood("", "it is none of what can be judged before it is made: %s", whatFits)
	}
	var names []string
	for _, pool := range p.pools {
		if err := pool.whole(); err != nil {
			return Plan{}, err
		}
		if slices.Contains(names, pool.Metadata.Name) {
			return Plan{}, misunderstood("metadata.name", "the file holds the NodePool %s twice: keep one", pool.Metadata.Name)
		}
		names = append(names, pool.Metadata.Name)
	}
	return Plan{Kind: NodePool, Name: strings.Join(names, ", "), Pools: p}, nil
}

// oneLine is the first line of what the parser says.
func oneLine(err error) string {
	text, _, _ := strings.Cut(strings.TrimPrefix(err.Error(), "yaml: "), "\n")
	return text
}

// add takes one document: a NodePool, a class, a list of them, or nothing.
func (p *PoolsPlan) add(doc any) error {
	tree, ok := doc.(map[string]any)
	if doc == nil {
		return nil // what stands between two "---"
	}
	if !ok {
		return misunderstood("", "it is none of what can be judged before it is made: %s", whatFits)
	}
	version, _ := tree["apiVersion"].(string)
	kind, _ := tree["kind"].(string)
	group, number, _ := strings.Cut(version, "/")
	if kind == "List" || kind == poolKind+"List" || kind == karpenterKind+"List" || kind == autoKind+"List" {
		items, _ := tree["items"].([]any)
		for _, item := range items {
			if err := p.add(item); err != nil {
				return err
			}
		}
		return nil
	}
	named := group == poolGroup && kind == poolKind || group == snapshot.KarpenterGroup && kind == karpenterKind || group == snapshot.AutoModeGroup && kind == autoKind
	switch {
	case kind == "" || version == "":
		return misunderstood("", "it is none of what can be judged before it is made: %s", whatFits)
	case !named && len(p.pools)+len(p.classes) > 0:
		return misunderstood("kind", "it holds a %s of %s beside NodePools: take it out, only NodePools and their classes are judged", kind, version)
	case !named:
		return misunderstood("kind", "%s of %s is none of what can be judged before it is made: %s", kind, version, whatFits)
	case number != "v1":
		return misunderstood("apiVersion", "%s is not understood: write the %s as %s/v1 (Karpenter 1.0 and later)", version, kind, group)
	}
	data, err := json.Marshal(tree)
	if err != nil {
		return misunderstood("", "it is no manifest: %s", oneLine(err))
	}
	// Fields of metadata are Kubernetes' own.
	if meta, ok := tree["metadata"].(map[string]any); ok {
		tree["metadata"] = map[string]any{"name": meta["name"]}
	}
	if kind == poolKind {
		var pool nodePool
		if err := strict(data, tree, &pool, poolKind); err != nil {
			return err
		}
		p.pools = append(p.pools, pool)
		return nil
	}
	var class nodeClass
	if err := strict(data, tree, &class, kind); err != nil {
		return err
	}
	if class.Metadata.Name == "" {
		return misunderstood("metadata.name", "a %s must have a name", kind)
	}
	p.classes = append(p.classes, class)
	return nil
}

// whole tells what the schema requires of a NodePool.
func (n nodePool) whole() error {
	ref := n.Spec.Template.Spec.NodeClassRef
	const at = "spec.template.spec.nodeClassRef"
	switch {
	case n.Metadata.Name == "":
		return misunderstood("metadata.name", "a NodePool must have a name")
	case ref.Name == "" || ref.Kind == "" || ref.Group == "":
		return misunderstood(at, "the NodePool %s must name group, kind and name of its class", n.Metadata.Name)
	case ref.Group == snapshot.KarpenterGroup && ref.Kind == karpenterKind, ref.Group == snapshot.AutoModeGroup && ref.Kind == autoKind:
	default:
		return misunderstood(at, "the NodePool %s names a %s of %s: want %s of %s, or %s of %s", n.Metadata.Name, ref.Kind, ref.Group,
			karpenterKind, snapshot.KarpenterGroup, autoKind, snapshot.AutoModeGroup)
	}
	for i, r := range n.Spec.Template.Spec.Requirements {
		if !slices.Contains([]string{"In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt", "Gte", "Lte"}, r.Operator) {
			return misunderstood(fmt.Sprintf("spec.template.spec.requirements[%d].operator", i), "%q is no operator: write In, NotIn, Exists, DoesNotExist, Gt, Lt, Gte or Lte", r.Operator)
		}
	}
	return nil
}

// observed is a planned NodePool as it would be read.
func (n nodePool) observed() snapshot.NodePool {
	t := n.Spec.Template
	p := snapshot.NodePool{
		Name: n.Metadata.Name, Generation: 1, Labels: t.Metadata.Labels,
		Class: snapshot.ClassRef{Group: t.Spec.NodeClassRef.Group, Kind: t.Spec.NodeClassRef.Kind, Name: t.Spec.NodeClassRef.Name},
	}
	for _, r := range t.Spec.Requirements {
		p.Requirements = append(p.Requirements, snapshot.Requirement{Key: r.Key, Operator: r.Operator, Values: r.Values})
	}
	for _, t := range t.Spec.Taints {
		p.Taints = append(p.Taints, snapshot.Taint{Key: t.Key, Value: t.Value, Effect: t.Effect})
	}
	return p
}

// group is the API group of a class.
func (n nodeClass) group() string {
	group, _, _ := strings.Cut(n.APIVersion, "/")
	return group
}

// observed is a planned class as it would be read.
func (n nodeClass) observed() snapshot.NodeClass {
	s := n.Spec
	c := snapshot.NodeClass{
		Name: n.Metadata.Name, Generation: 1, Subnets: terms(s.SubnetSelectorTerms), Groups: terms(s.SecurityGroupSelectorTerms), Images: terms(s.AMISelectorTerms),
		Role: s.Role, Profile: s.InstanceProfile, Family: s.AMIFamily, UserData: s.UserData,
	}
	if s.AssociatePublicIPAddress != nil {
		c.PublicIP = fmt.Sprint(*s.AssociatePublicIPAddress)
	}
	if m := s.MetadataOptions; m != nil {
		c.Metadata = snapshot.Metadata{Endpoint: m.HTTPEndpoint, Tokens: m.HTTPTokens, HopLimit: or(m.HTTPPutResponseHopLimit, 0)}
	}
	return c
}

func terms(list []selector) []snapshot.SelectorTerm {
	var out []snapshot.SelectorTerm
	for _, t := range list {
		out = append(out, snapshot.SelectorTerm{ID: t.ID, Name: t.Name, Alias: t.Alias, SSMParameter: t.SSMParameter, Owner: t.Owner, Tags: t.Tags})
	}
	return out
}

const (
	typeLabel     = "node.kubernetes.io/instance-type"
	archLabel     = "kubernetes.io/arch"
	osLabel       = "kubernetes.io/os"
	capacityLabel = "karpenter.sh/capacity-type"
)

// namedTypes are the types that the NodePools name; none where one of them leaves
// it to what zones offer.
func (p *PoolsPlan) namedTypes() []string {
	var list []string
	for _, pool := range p.pools {
		named := typesNamed(pool.observed())
		if len(named) == 0 {
			return nil
		}
		list = append(list, named...)
	}
	return distinct(list)
}

func typesNamed(p snapshot.NodePool) []string {
	for _, r := range p.Requirements {
		if r.Key == typeLabel && r.Operator == "In" {
			return r.Values
		}
	}
	if name := p.Labels[typeLabel]; name != "" {
		return []string{name}
	}
	return nil
}

// allows reports whether a NodePool's requirements and labels take a value of a label.
func allows(p snapshot.NodePool, key, value string) bool {
	if have, fixed := p.Labels[key]; fixed && have != value {
		return false
	}
	return !slices.ContainsFunc(p.Requirements, func(r snapshot.Requirement) bool { return r.Key == key && !meets(r, value) })
}

// meets reports whether a value meets a requirement (kubernetes-sigs/karpenter
// pkg/scheduling/requirement.go).
func meets(r snapshot.Requirement, value string) bool {
	number := func(text string) float64 {
		n, err := strconv.ParseFloat(text, 64)
		if err != nil {
			return math.NaN() // which is neither above nor below anything
		}
		return n
	}
	bound := math.NaN()
	if len(r.Values) > 0 {
		bound = number(r.Values[0])
	}
	switch r.Operator {
	case "In":
		return slices.Contains(r.Values, value)
	case "NotIn":
		return !slices.Contains(r.Values, value)
	case "DoesNotExist":
		return value == ""
	case "Exists":
		return value != ""
	case "Gt":
		return number(value) > bound
	case "Gte":
		return number(value) >= bound
	case "Lt":
		return number(value) < bound
	case "Lte":
		return number(value) <= bound
	}
	return true
}

// typeName takes the category and the generation of a type's name apart, as
// Karpenter does (aws/karpenter-provider-aws pkg/providers/instancetype/types.go,
// instanceTypeScheme).
var typeName = regexp.MustCompile(`^([a-z]+)(?:-[0-9]+tb)?([0-9]+).*\.`)

// labelsOfName are the labels that a type's name gives.
func labelsOfName(name string) map[string]string {
	labels := map[string]string{"instance-family": "", "instance-size": ""}
	labels["instance-family"], labels["instance-size"], _ = strings.Cut(name, ".")
	if m := typeName.FindStringSubmatch(name); m != nil {
		labels["instance-category"], labels["instance-generation"] = m[1], m[2]
	}
	return labels
}

// takes reports whether a NodePool takes a type, as far as labels under Karpenter's and
// Auto Mode's prefixes are known here.
func takes(p snapshot.NodePool, labels map[string]string) bool {
	for key, value := range labels {
		if !allows(p, snapshot.KarpenterGroup+"/"+key, value) || !allows(p, snapshot.AutoModeGroup+"/"+key, value) {
			return false
		}
	}
	return true
}

// candidates are the types that the zones offer and a NodePool takes by their
// names. Where the offers could not be read it is those that it names.
func (d *Draft) candidates(n *nodes, zones map[string]bool) []string {
	named := typesNamed(*n.pool)
	if !d.S.Has(snapshot.TypeOfferingsOf) {
		n.unlike = len(named) == 0
		return cmpOr(slices.Clone(named), []string{defaultType})
	}
	var list []string
	for _, o := range d.S.TypeOfferings {
		offered := slices.ContainsFunc(o.Zones, func(z string) bool { return zones[z] })
		if offered && allows(*n.pool, typeLabel, o.Type) && takes(*n.pool, labelsOfName(o.Type)) {
			list = append(list, o.Type)
		}
	}
	return list
}

// labelsOfType are the labels that EC2's description of a type gives; empty where a type
// has none (aws/karpenter-provider-aws pkg/providers/instancetype/types.go,
// computeRequirements; EKS user guide, "Create a Node Pool for EKS Auto Mode", which has
// the same under its own prefix). The bandwidth of the network is in a table of
// Karpenter's alone.
func labelsOfType(t snapshot.InstanceType) map[string]string {
	kebab := func(text string) string { return strings.ToLower(strings.ReplaceAll(text, " ", "-")) }
	number := func(n int) string {
		if n == 0 {
			return ""
		}
		return strconv.Itoa(n)
	}
	labels := map[string]string{
		"instance-cpu": strconv.Itoa(t.CPUs), "instance-hypervisor": t.Hypervisor, "instance-memory": number(t.MemoryMiB), "instance-cpu-manufacturer": kebab(t.CPUMaker),
		"instance-ebs-bandwidth": number(t.EBSMbps), "instance-local-nvme": number(t.LocalNVMeGB), "instance-encryption-in-transit-supported": strconv.FormatBool(t.EncryptsInTransit),
	}
	for kind, d := range map[string]snapshot.Device{"gpu": t.GPU, "accelerator": t.Accelerator} {
		labels["instance-"+kind+"-name"], labels["instance-"+kind+"-manufacturer"], labels["instance-"+kind+"-count"] = kebab(d.Name), kebab(d.Maker), number(d.Count)
	}
	labels["instance-gpu-memory"] = number(t.GPU.MemoryMiB)
	if t.MemoryMiB == 0 {
		delete(labels, "instance-memory") // EC2 has it of each, and it was not read
	}
	return labels
}

// fits reports whether a NodePool and the images of its class take a described type.
func (n *nodes) fits(t snapshot.InstanceType) bool {
	if !takes(*n.pool, labelsOfType(t)) {
		return false
	}
	return slices.ContainsFunc(t.Architectures, func(a string) bool {
		imaged := len(n.stocks) == 0 || slices.ContainsFunc(n.stocks, func(i *snapshot.Image) bool { return i.Architecture == a })
		return imaged && allows(*n.pool, archLabel, map[string]string{"x86_64": "amd64", "arm64": "arm64"}[a])
	})
}

// represent keeps one type for each architecture: what keeps nodes out is reported
// by it alone. It is the one with the fewest CPUs of two and more, for the
// smallest types take few pods.
func (d *Draft) represent(n *nodes) {
	if n.unlike || !d.S.Has(snapshot.InstanceTypes) {
		n.types = n.types[:min(len(n.types), 1)]
		return
	}
	best := map[string]snapshot.InstanceType{}
	better := func(a, b snapshot.InstanceType) int {
		small := func(t snapshot.InstanceType) int {
			if t.CPUs < 2 {
				return 1
			}
			return 0
		}
		return cmp.Or(cmp.Compare(small(a), small(b)), cmp.Compare(a.CPUs, b.CPUs), cmp.Compare(b.Interfaces*b.IPv4PerInterface, a.Interfaces*a.IPv4PerInterface), strings.Compare(a.Name, b.Name))
	}
	for _, t := range d.S.InstanceTypes {
		if !slices.Contains(n.types, t.Name) || !n.fits(t) || len(t.Architectures) == 0 {
			continue
		}
		arch := t.Architectures[len(t.Architectures)-1] // i386 comes before x86_64
		if have, ok := best[arch]; !ok || better(t, have) < 0 {
			best[arch] = t
		}
	}
	n.types = nil
	for _, arch := range sortedKeys(best) {
		n.types = append(n.types, best[arch].Name)
	}
}
