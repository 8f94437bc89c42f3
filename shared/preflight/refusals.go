package preflight

import (
	"cmp"
	"fmt"
	"net/netip"
	"regexp"
	"slices"
	"strings"

	"rollcall/shared/checkid"
	"rollcall/shared/checks/check"
	"rollcall/shared/checks/finding"
	"rollcall/shared/diagnosis"
	"rollcall/shared/snapshot"
)

// Refusal is why AWS would not make what is planned, or would give it up.
type Refusal struct {
	// ID tells refusals apart, "refused/subnet-vpc"; none of them is a check.
	ID    checkid.ID
	Field string // of the file
	Title string
	Why   string
	Fix   string
	// Source is the page of AWS that says so.
	Source string
	// about are the things of which it tells all: a cause that hangs on one of
	// them says it again.
	about []string
}

// refused begins the ids of refusals.
const refused = "refused/"

// IsRefusal tells the id of a refusal from that of a check.
func IsRefusal(id checkid.ID) bool { return strings.HasPrefix(string(id), refused) }

// The pages.
const (
	createNodegroup = "https://docs.aws.amazon.com/eks/latest/APIReference/API_CreateNodegroup.html"
	scalingPage     = "https://docs.aws.amazon.com/eks/latest/APIReference/API_NodegroupScalingConfig.html"
	updatePage      = "https://docs.aws.amazon.com/eks/latest/APIReference/API_NodegroupUpdateConfig.html"
	templatesPage   = "https://docs.aws.amazon.com/eks/latest/userguide/launch-templates.html"
	subnetsPage     = "https://docs.aws.amazon.com/eks/latest/userguide/network-reqs.html"
	al2Page         = "https://docs.aws.amazon.com/eks/latest/userguide/eks-ami-deprecation-faqs.html"
	typesPage       = "https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_DescribeInstanceTypes.html"
	rolePage        = "https://docs.aws.amazon.com/eks/latest/userguide/create-node-role.html"
	imdsPage        = "https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/configuring-IMDS-new-instances.html"
	capacityPage    = "https://docs.aws.amazon.com/eks/latest/userguide/capacity-blocks-mng.html"
)

// refusing collects refusals, and what kept from judging.
type refusing struct {
	*Draft
	list    []Refusal
	unknown []diagnosis.Unknown
	// advice is what is said and keeps nothing from being made.
	advice []diagnosis.Cause
}

func (d *Draft) refusals() *refusing {
	r := &refusing{Draft: d}
	d.Plan.maker().refuse(r)
	return r
}

// imds judges the metadata options of nodes by the account's enforcement of IMDSv2: EC2
// refuses a launch that does not require tokens. What a launch leaves out the account's
// defaults say, then the image (EC2 user guide, "Configure instance metadata options for new
// instances", order of precedence, and "Enforce IMDSv2 at the account level").
func (r *refusing) imds(field string, n *nodes) {
	d := r.S.MetadataDefaults
	switch {
	case n.metadata.Tokens == "required" || n.auto:
	case !r.S.Has(snapshot.MetadataDefaultsOf):
		if f := r.S.Why(snapshot.MetadataDefaultsOf); kept(f.Reason) {
			r.blind("imds-enforced", field, f)
		}
	case d == nil || !d.Enforced || n.metadata.Tokens == "" && d.Tokens == "required":
	case n.metadata.Tokens == "":
		r.blind("imds-enforced", field, snapshot.Failure{Source: snapshot.Images, Reason: snapshot.NotRead,
			Message: "the account enforces IMDSv2 and the launch sets no HttpTokens: whether the image requires tokens (ImdsSupport) is not read"})
	default:
		r.refuse("imds-enforced", field, imdsPage, "Set HttpTokens to required, with a hop limit of 2 where pods read the metadata.", "The account enforces IMDSv2 and the launch allows IMDSv1",
			"HttpTokens is %s, and httpTokensEnforced of the account (managed by %s) has EC2 refuse launches that do not require tokens.", n.metadata.Tokens, cmp.Or(d.ManagedBy, "account"))
	}
}

// concerns sets all that the last refusal is about.
func (r *refusing) concerns(ids ...string) { r.list[len(r.list)-1].about = ids }

func (r *refusing) refuse(id checkid.ID, field, source, fix, title, why string, args ...any) {
	r.list = append(r.list, Refusal{ID: refused + id, Field: field, Title: title, Why: fmt.Sprintf(why, args...), Fix: fix, Source: source})
}

// blind notes what a rule needed and could not see.
func (r *refusing) blind(id checkid.ID, field string, f snapshot.Failure) {
	r.unknown = append(r.unknown, diagnosis.Unknown{Check: refused + id, Covers: []string{field}, Blocked: []snapshot.Failure{f}})
}

func (p *NodegroupPlan) refuse(r *refusing) {
	n := r.fleets[0]
	r.named()
	r.scaling()
	r.role("nodeRole", n)
	r.placed("subnets", p.Subnets)
	r.launchTemplate()
	r.instanceTypes("instanceTypes", n)
	r.architecture()
	r.offered("instanceTypes", n)
	r.image()
	r.settings()
	r.imds("launchTemplate", n)
}

// nodegroupName is what EKS takes (EKS user guide, "Create a managed node group
// for your cluster": at most 63 characters, begins with a letter or a digit, may
// contain hyphens and underscores).
var nodegroupName = regexp.MustCompile(`^[0-9A-Za-z][0-9A-Za-z_-]{0,62}$`)

func (r *refusing) named() {
	p := r.Plan.Nodegroup
	if r.exists {
		r.refuse("name-taken", "nodegroupName", createNodegroup, "Choose another name, or update the nodegroup that is there (update-nodegroup-config, update-nodegroup-version).",
			"There is a nodegroup "+p.NodegroupName+" already", "EKS answers ResourceInUseException to a second nodegroup %s of %s.", p.NodegroupName, r.S.Cluster.Name)
	}
	if !nodegroupName.MatchString(p.NodegroupName) {
		r.refuse("name", "nodegroupName", "https://docs.aws.amazon.com/eks/latest/userguide/create-managed-node-group.html", "Choose another name.",
			"The name is none that EKS takes", "%q: a name begins with a letter or a digit, goes on with letters, digits, hyphens and underscores, and has at most 63 characters.", p.NodegroupName)
	}
	if s := r.S.Cluster.Status; s != "" && s != "ACTIVE" && s != "UPDATING" {
		r.refuse("cluster-status", "clusterName", createNodegroup, "Wait until the cluster is ACTIVE.", "The cluster is "+s, "EKS makes nodegroups of a cluster that is ACTIVE; %s is %s.", r.S.Cluster.Name, s)
	}
}

func (r *refusing) scaling() {
	least, most, desired := r.Plan.Nodegroup.sizes()
	switch {
	case most < 1:
		r.refuse("scaling", "scalingConfig.maxSize", scalingPage, "Set maxSize to 1 or more.", "maxSize is below 1", "maxSize is %d; EKS takes 1 and more.", most)
	case least < 0 || desired < 0:
		r.refuse("scaling", "scalingConfig.minSize", scalingPage, "Set sizes of 0 or more.", "A size is below 0", "minSize is %d and desiredSize is %d.", least, desired)
	case least > most, desired < least, desired > most:
		r.refuse("scaling", "scalingConfig.desiredSize", scalingPage, "Set minSize <= desiredSize <= maxSize.", "The sizes contradict each other",
			"minSize is %d, desiredSize %d and maxSize %d (what the file leaves out is 1, 2 and 2): the desired size must be from the least to the most.", least, desired, most)
	}
}

// roleARN is an IAM role's.
var roleARN = regexp.MustCompile(`^arn:aws[a-z-]*:iam::[0-9]{12}:role/.+$`)

// role judges the role that a service would pass to the nodes.
func (r *refusing) role(field string, n *nodes) {
	if !roleARN.MatchString(n.role) {
		r.refuse("role", field, createNodegroup, "Give the role's ARN: arn:aws:iam::111122223333:role/NAME.", field+" is no role's ARN", "%s is %q, and EKS takes the ARN of an IAM role.", field, n.role)
		return
	}
	if account := strings.Split(n.role, ":")[4]; r.S.Account != "" && account != r.S.Account {
		r.refuse("role", field, createNodegroup, "Give a role of the cluster's own account.", field+" is another account's",
			"%s is of account %s, and the cluster of %s: EKS cannot pass it.", n.role, account, r.S.Account)
		return
	}
	if f, lacks := r.S.Lacks(snapshot.Roles, n.role); lacks && f.Code == check.NoSuchEntity {
		r.refuse("role", field, rolePage, "Make the role, with its trust and its policies, or name one that is there.", "The role does not exist", "IAM has no role %s (iam:GetRole: NoSuchEntity).", n.role)
		r.concerns(n.role, n.profile)
	}
}

// placed judges subnets: they must be there, and of the cluster's VPC (EKS user
// guide, "Subnet requirements for nodes": "The subnets must be in the VPC that your
// cluster uses").
func (r *refusing) placed(field string, subnets []string) {
	s := r.S
	var gone, foreign []string
	for _, id := range distinct(subnets) {
		i := slices.IndexFunc(s.Subnets, func(x snapshot.Subnet) bool { return x.ID == id })
		switch {
		case i >= 0 && s.Cluster.VPC != "" && s.Subnets[i].VPC != s.Cluster.VPC:
			foreign = append(foreign, id+" of "+s.Subnets[i].VPC)
		case i < 0 && s.Has(snapshot.Subnets):
			gone = append(gone, id)
		}
	}
	if len(gone) > 0 {
		r.refuse("subnet", field, subnetsPage, "Name subnets of "+s.Cluster.VPC+".", "A subnet is not in the cluster's VPC",
			"EC2 lists no %s among the subnets of %s, the VPC of %s: it does not exist, or is of another VPC.", strings.Join(gone, ", "), s.Cluster.VPC, s.Cluster.Name)
	}
	if len(foreign) > 0 {
		r.refuse("subnet", field, subnetsPage, "Name subnets of "+s.Cluster.VPC+".", "A subnet is of another VPC",
			"Nodes stand in the cluster's VPC, %s, and not so: %s.", s.Cluster.VPC, strings.Join(foreign, ", "))
	}
}

func (r *refusing) settings() {
	p := r.Plan.Nodegroup
	const mostTaints = 50 // "Managed node groups quotas": 50 taints for each
	if len(p.Taints) > mostTaints {
		r.refuse("taints", "taints", "https://docs.aws.amazon.com/eks/latest/userguide/node-taints-managed-node-groups.html", "Give fewer taints.", "There are more than 50 taints", "%d taints; EKS takes 50.", len(p.Taints))
	}
	for _, t := range p.Taints {
		if !slices.Contains([]string{"NO_SCHEDULE", "NO_EXECUTE", "PREFER_NO_SCHEDULE"}, t.Effect) {
			r.refuse("taints", "taints", "https://docs.aws.amazon.com/eks/latest/APIReference/API_Taint.html", "Write NO_SCHEDULE, NO_EXECUTE or PREFER_NO_SCHEDULE.", "A taint has an effect that EKS does not know",
				"%s has the effect %q, and EKS's are NO_SCHEDULE, NO_EXECUTE and PREFER_NO_SCHEDULE.", t.Key, t.Effect)
		}
	}
	if c := p.CapacityType; c != "" && !slices.Contains([]string{"ON_DEMAND", "SPOT", "CAPACITY_BLOCK"}, c) {
		r.refuse("capacity-type", "capacityType", createNodegroup, "Write ON_DEMAND, SPOT or CAPACITY_BLOCK.", "EKS does not know the capacity type", "capacityType is %q.", c)
	}
	if p.CapacityType == "CAPACITY_BLOCK" && p.LaunchTemplate == nil {
		r.refuse("capacity-type", "capacityType", capacityPage, "Give a launch template that names the reservation.", "A capacity block needs a launch template",
			"Which reservation is meant stands in a launch template (InstanceMarketOptions and CapacityReservationSpecification), and the file names none.")
	}
	if u := p.UpdateConfig; u != nil && u.MaxUnavailable != nil && u.Percentage != nil {
		r.refuse("update-config", "updateConfig", updatePage, "Give one of the two.", "updateConfig has a number and a percentage", "maxUnavailable and maxUnavailablePercentage exclude each other.")
	}
}

// launchTemplate judges what a nodegroup and its launch template may not both
// say (EKS API reference, CreateNodegroup, and the user guide, "Customize managed
// nodes with launch templates").
func (r *refusing) launchTemplate() {
	p := r.Plan.Nodegroup
	if p.LaunchTemplate == nil {
		return
	}
	if p.DiskSize != nil {
		r.refuse("disk-size", "diskSize", createNodegroup, "Leave diskSize out, and set the volume in the launch template.", "diskSize beside a launch template",
			"With launchTemplate the disk's size is the template's; EKS refuses diskSize.")
	}
	if p.RemoteAccess != nil {
		r.refuse("remote-access", "remoteAccess", createNodegroup, "Leave remoteAccess out, and set the key and the security groups in the launch template.", "remoteAccess beside a launch template",
			"With launchTemplate the key and the groups are the template's; EKS refuses remoteAccess.")
	}
	n := r.fleets[0]
	if n.template == nil {
		r.templateUnseen("launchTemplate", n.ref)
		return
	}
	r.managedTemplate("launchTemplate", n, p.InstanceTypes)
	if n.template.Image == "" {
		return
	}
	for _, f := range []struct{ field, value string }{{"amiType", p.AMIType}, {"version", p.Version}, {"releaseVersion", p.ReleaseVersion}} {
		if f.value != "" && f.value != "CUSTOM" {
			r.refuse("custom-image", f.field, createNodegroup, "Leave "+f.field+" out.", f.field+" beside an image of one's own",
				"%s uses the image %s, and %s is %s; with both the deployment fails.", title(n.template), n.template.Image, f.field, f.value)
		}
	}
}

// managedTemplate judges what the launch template of a managed nodegroup may not
// say, whose own types are named.
func (r *refusing) managedTemplate(field string, n *nodes, types []string) {
	t := n.template
	name := title(t)
	if t.Profile != "" {
		r.refuse("template-profile", field, createNodegroup, "Take the instance profile out of the launch template: EKS makes one of nodeRole.", "The launch template names an instance profile",
			"%s names %s; with a managed nodegroup the deployment fails.", name, t.Profile)
	}
	if t.Type != "" && len(types) > 0 {
		r.refuse("instance-types", "instanceTypes", createNodegroup, "Name the types in one of the two.", "Instance types in the nodegroup and in its launch template",
			"%s names %s and instanceTypes %s; with both the deployment fails.", name, t.Type, strings.Join(types, ", "))
	}
}

// templateUnseen tells a template that is not there from one that was not read.
func (r *refusing) templateUnseen(field string, ref snapshot.TemplateRef) {
	key := ref.ID
	if key == "" {
		key = ref.Name
	}
	key += " version " + ref.Version
	f, lacks := r.S.Lacks(snapshot.LaunchTemplates, key)
	switch {
	case lacks && f.Reason != snapshot.NotRead && strings.HasPrefix(f.Code, "InvalidLaunchTemplate"):
		r.refuse("template", field, createNodegroup, "Name a template and a version that exist.", "The launch template does not exist", "EC2 has no %s (%s).", key, f.Code)
		r.concerns(ref.ID)
	case lacks:
		r.blind("template", key, f)
	case !r.S.Has(snapshot.LaunchTemplates):
		r.blind("template", key, r.S.Why(snapshot.LaunchTemplates))
	default:
		r.refuse("template", field, createNodegroup, "Name a template and a version that exist.", "The launch template does not exist", "EC2 lists no %s.", key)
	}
}

// unknownType is EC2's code for a name of the request that is no instance type.
const unknownType = "InvalidInstanceType"

// instanceTypes judges the names of types; false where none is known.
func (r *refusing) instanceTypes(field string, n *nodes) bool {
	s := r.S
	const mostTypes = 20 // CreateNodegroup, instanceTypes: "0-20 instance types"
	if r.Plan.Kind == Nodegroup && len(n.types) > mostTypes {
		r.refuse("instance-types", field, createNodegroup, "Name at most 20.", "There are more than 20 instance types", "%d types; EKS takes 20.", len(n.types))
	}
	if !s.Has(snapshot.InstanceTypes) {
		f := s.Why(snapshot.InstanceTypes)
		if f.Code == unknownType {
			r.refuse("instance-types", field, typesPage, "Name types that EC2 has in "+s.Region+".", "EC2 does not know an instance type", "%s", f.Message)
			return false
		}
		r.blind("instance-types", field, f)
		return false
	}
	var unknown []string
	for _, name := range n.types {
		if !slices.ContainsFunc(s.InstanceTypes, func(t snapshot.InstanceType) bool { return t.Name == name }) {
			unknown = append(unknown, name)
		}
	}
	if len(unknown) > 0 {
		r.refuse("instance-types", field, typesPage, "Name types that EC2 has in "+s.Region+".", "EC2 does not know an instance type", "EC2 lists no %s in %s.", strings.Join(unknown, ", "), s.Region)
	}
	return len(unknown) == 0
}

// architecture judges a nodegroup's AMI type beside its types.
func (r *refusing) architecture() {
	s, n := r.S, r.fleets[0]
	amiType := s.Nodegroups[0].AMIType
	want := architectureOf(amiType)
	if want == "" || !s.Has(snapshot.InstanceTypes) {
		return
	}
	var wrong []string
	for _, name := range n.types {
		i := slices.IndexFunc(s.InstanceTypes, func(t snapshot.InstanceType) bool { return t.Name == name })
		if i >= 0 && !slices.Contains(s.InstanceTypes[i].Architectures, want) {
			wrong = append(wrong, name)
		}
	}
	if len(wrong) > 0 {
		r.refuse("ami-type", "amiType", createNodegroup, "Choose an AMI type of the types' architecture, or types of the AMI type's.", "The AMI type is for another architecture",
			"%s is for %s, and not so: %s. EKS answers InvalidParameterException.", amiType, want, strings.Join(wrong, ", "))
		for _, i := range n.stocks {
			r.concerns(i.ID)
		}
	}
}

// amiTypes are those of the request model (botocore 1.43, eks, AMITypes).
func amiTypes() []string {
	return []string{
		"AL2_x86_64", "AL2_x86_64_GPU", "AL2_ARM_64", "CUSTOM", "BOTTLEROCKET_ARM_64", "BOTTLEROCKET_x86_64", "BOTTLEROCKET_ARM_64_FIPS", "BOTTLEROCKET_x86_64_FIPS",
		"BOTTLEROCKET_ARM_64_NVIDIA", "BOTTLEROCKET_x86_64_NVIDIA", "BOTTLEROCKET_ARM_64_NVIDIA_FIPS", "BOTTLEROCKET_x86_64_NVIDIA_FIPS",
		"WINDOWS_CORE_2019_x86_64", "WINDOWS_FULL_2019_x86_64", "WINDOWS_CORE_2022_x86_64", "WINDOWS_FULL_2022_x86_64", "WINDOWS_CORE_2025_x86_64", "WINDOWS_FULL_2025_x86_64",
		"AL2023_x86_64_STANDARD", "AL2023_ARM_64_STANDARD", "AL2023_x86_64_NEURON", "AL2023_x86_64_NVIDIA", "AL2023_ARM_64_NVIDIA",
	}
}

// image judges what EKS would start, and how large its disk must be.
func (r *refusing) image() {
	p := r.Plan.Nodegroup
	switch {
	case p.AMIType != "" && !slices.Contains(amiTypes(), p.AMIType):
		r.refuse("ami-type", "amiType", createNodegroup, "Choose one of the API reference.", "EKS does not know the AMI type", "amiType is %q.", p.AMIType)
	case p.AMIType == "CUSTOM" && (p.LaunchTemplate == nil || r.fleets[0].template != nil && r.fleets[0].template.Image == ""):
		r.refuse("ami-type", "amiType", templatesPage, "Name the image in a launch template.", "The AMI type CUSTOM without an image",
			"CUSTOM means the image of a launch template, and none is given.")
	case strings.HasPrefix(p.AMIType, "AL2_") && newer(r.S.Cluster.Version, lastAL2):
		r.refuse("ami-type", "amiType", al2Page, "Choose an AL2023 or Bottlerocket AMI type.", "There is no Amazon Linux 2 image for Kubernetes "+r.S.Cluster.Version,
			"%s: 1.%d is the last version for which EKS has images of Amazon Linux 2, and %s has %s.", p.AMIType, lastAL2, r.S.Cluster.Name, r.S.Cluster.Version)
		r.concerns(r.fleets[0].stocks[0].ID)
	}
	if p.Version != "" && r.S.Cluster.Version != "" && p.Version != r.S.Cluster.Version {
		r.refuse("version", "version", createNodegroup, "Leave version out.", "Another Kubernetes version than the cluster's",
			"version is %s, and %s has %s, which is the only one that EKS takes.", p.Version, r.S.Cluster.Name, r.S.Cluster.Version)
	}
	if p.DiskSize != nil && p.LaunchTemplate == nil && r.fleets[0].image == "" {
		if need := rootSize(r.S.Nodegroups[0].AMIType); *p.DiskSize < need {
			r.refuse("disk-size", "diskSize", createNodegroup, "Set diskSize to that or more, or leave it out.", "The disk is smaller than the image",
				"diskSize is %d GiB, and the image's root volume has %d: EC2 refuses a volume that is smaller than its snapshot (InvalidBlockDeviceMapping).", *p.DiskSize, need)
		}
	}
}

// rootSize is the size in GiB of the root volume of EKS's images (CreateNodegroup,
// diskSize: 20 for Linux and Bottlerocket, 50 for Windows; Bottlerocket's second
// volume, which diskSize is about, may be of any size).
func rootSize(amiType string) int {
	switch {
	case strings.HasPrefix(amiType, "WINDOWS_"):
		return 50
	case strings.HasPrefix(amiType, "BOTTLEROCKET_"):
		return 1
	}
	return 20
}

// lastAL2 is the last minor version of Kubernetes 1 with an image of Amazon Linux 2.
const lastAL2 = 32

func newer(version string, than int) bool {
	text, ok := strings.CutPrefix(version, "1.")
	if !ok {
		return false
	}
	n := 0
	for _, c := range text {
		if c < '0' || c > '9' {
			return false
		}
		n = 10*n + int(c-'0')
	}
	return n > than
}

const offeringsPage = "https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/instance-discovery.html"

// offeredIn are those of some types that a zone has; all where that is not known,
// of a zone or at all.
func (d *Draft) offeredIn(zone string, types []string) []string {
	if !d.S.Has(snapshot.TypeOfferingsOf) || zone == "" {
		return types
	}
	return slices.DeleteFunc(slices.Clone(types), func(name string) bool {
		i := slices.IndexFunc(d.S.TypeOfferings, func(o snapshot.TypeOffering) bool { return o.Type == name })
		return i < 0 || !slices.Contains(d.S.TypeOfferings[i].Zones, zone)
	})
}

// zoneOf is a subnet's zone; empty where it is not known.
func (d *Draft) zoneOf(subnet string) string {
	return strings.Join(d.zonesOf([]string{subnet}), "")
}

// zonesOf are the zones of subnets.
func (d *Draft) zonesOf(subnets []string) []string {
	var list []string
	for _, s := range d.S.Subnets {
		if slices.Contains(subnets, s.ID) {
			list = append(list, s.Zone)
		}
	}
	slices.Sort(list)
	return distinct(list)
}

// offered judges whether EC2 has the types where the nodes would stand: a launch in
// a zone that has none of them fails with Unsupported ("Your requested instance type
// is not supported in your requested Availability Zone"). A group that has one zone
// left launches there.
func (r *refusing) offered(field string, n *nodes) {
	if !r.S.Has(snapshot.TypeOfferingsOf) {
		r.blind("type-offering", field, r.S.Why(snapshot.TypeOfferingsOf))
		return
	}
	var without, with []string
	for _, zone := range r.zonesOf(n.subnets) {
		if zone != "" && len(r.offeredIn(zone, n.types)) == 0 {
			without = append(without, zone)
		} else {
			with = append(with, zone)
		}
	}
	if len(without) == 0 || len(n.types) == 0 {
		return
	}
	what := strings.Join(n.types, ", ")
	if len(with) > 0 {
		r.advice = append(r.advice, diagnosis.Cause{
			Check: refused + "type-offering", Title: strings.Join(without, ", ") + " does not have " + what, Confidence: finding.Advice, Resource: field,
			Why: "EC2 does not offer " + what + " in " + strings.Join(without, ", ") + ": all nodes would stand in " + strings.Join(with, ", ") + ".",
			Fix: finding.Fix{Text: "Name a type that all zones have beside it, or leave the zone's subnets out."},
		})
		return
	}
	r.refuse("type-offering", field, offeringsPage, "Name types that the zones have, or subnets of zones that have the types: "+r.offers(n.types)+".",
		"No zone of the subnets has the types", "EC2 does not offer %s in %s: every launch there fails (Unsupported).", what, strings.Join(without, ", "))
}

// offers says which zones have types.
func (d *Draft) offers(types []string) string {
	var list []string
	for _, name := range types {
		where := "no zone of " + d.S.Region
		if i := slices.IndexFunc(d.S.TypeOfferings, func(o snapshot.TypeOffering) bool { return o.Type == name }); i >= 0 {
			where = strings.Join(d.S.TypeOfferings[i].Zones, ", ")
		}
		list = append(list, name+" is in "+where)
	}
	return strings.Join(list, "; ")
}

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
			r.concerns(check.ClassKey(pool.Class))
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
	bad := func(id checkid.ID, field, fix, title, why string, args ...any) {
		r.refuse(id, field, page, fix, title, "The %s %s: %s", pool.Class.Kind, c.Name, fmt.Sprintf(why, args...))
		r.concerns(check.ClassKey(pool.Class), plannedPrefix+"image-AL2_x86_64", plannedPrefix+"image-AL2_ARM_64")
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

func (r *refusing) classImages(bad func(checkid.ID, string, string, string, string, ...any), c *snapshot.NodeClass) {
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

const (
	createSubnetPage = "https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_CreateSubnet.html"
	subnetSizePage   = "https://docs.aws.amazon.com/vpc/latest/userguide/subnet-sizing.html"
)

// refuse says what EC2 would not make of a subnet, and of what no node can be in it.
func (p *SubnetPlan) refuse(r *refusing) {
	s := r.S
	if p.made == nil {
		r.placed("subnet", []string{p.id})
	} else {
		if p.made.VpcId != s.Cluster.VPC && s.Cluster.VPC != "" {
			r.refuse("subnet", "VpcId", subnetsPage, "Make it in "+s.Cluster.VPC+".", "The subnet would be of another VPC",
				"Nodes stand in the cluster's VPC, %s, and the subnet would be of %s.", s.Cluster.VPC, p.made.VpcId)
			return
		}
		r.list = append(r.list, p.refusedRange(s)...)
		p.refusedZone(r)
	}
	for i, n := range r.fleets {
		if n.template == nil && (n.ref.ID != "" || n.ref.Name != "") {
			r.templateUnseen("nodegroup "+s.Nodegroups[i].Name, n.ref)
		}
		if !n.bare && r.instanceTypes("nodegroup "+n.owner, n) {
			r.offered("nodegroup "+n.owner, n)
		}
	}
}

// refusedRange judges the range of a planned subnet: its size, the VPC's ranges, the
// other subnets (EC2 API reference, CreateSubnet; VPC user guide, "Subnet CIDR
// blocks": between /28 and /16, within the VPC's, not overlapping; IPv6 /44 to /64
// in steps of 4).
func (p *SubnetPlan) refusedRange(s *snapshot.Snapshot) []Refusal {
	var list []Refusal
	refuse := func(field, title, why, fix string) {
		list = append(list, Refusal{ID: refused + "range", Field: field, Title: title, Why: why, Fix: fix, Source: createSubnetPage})
	}
	four, err := netip.ParsePrefix(p.made.CidrBlock)
	if err != nil || !four.Addr().Is4() || four.Bits() < 16 || four.Bits() > 28 {
		refuse("CidrBlock", "The range is of no size that EC2 takes", p.made.CidrBlock+": a subnet has from /16 to /28 of IPv4 (InvalidSubnet.Range).", "Choose a range from /16 to /28.")
		list[0].Source = subnetSizePage
		return list
	}
	i := slices.IndexFunc(s.VPCs, func(v snapshot.VPC) bool { return v.ID == p.made.VpcId })
	if i < 0 {
		return list
	}
	v := s.VPCs[i]
	within := func(ranges []netip.Prefix, x netip.Prefix) bool {
		return slices.ContainsFunc(ranges, func(of netip.Prefix) bool { return of.Bits() <= x.Bits() && of.Contains(x.Addr()) })
	}
	if len(v.CIDRs) > 0 && !within(v.CIDRs, four) {
		refuse("CidrBlock", "The range is not in the VPC's",
			fmt.Sprintf("%s is in none of %s, the ranges of %s (InvalidSubnet.Range).", four, prefixes(v.CIDRs), v.ID), "Choose a free range of the VPC, or associate another range with it first.")
	}
	var taken []string
	for _, other := range p.others {
		if other.VPC == v.ID && other.CIDR.IsValid() && other.CIDR.Overlaps(four) {
			taken = append(taken, other.ID+" ("+other.CIDR.String()+")")
		}
	}
	if len(taken) > 0 {
		refuse("CidrBlock", "The range is taken", fmt.Sprintf("%s overlaps %s (InvalidSubnet.Conflict).", four, strings.Join(taken, ", ")), "Choose a free range of the VPC.")
	}
	if six, err := netip.ParsePrefix(p.made.Ipv6CidrBlock); err == nil {
		if !within(v.IPv6, six) || six.Bits() < 44 || six.Bits() > 64 || six.Bits()%4 != 0 {
			refuse("Ipv6CidrBlock", "The IPv6 range is not in the VPC's",
				fmt.Sprintf("%s is no /44 to /64, in steps of 4, of %s, the IPv6 ranges of %s (InvalidSubnet.Range).", six, prefixes(v.IPv6), v.ID), "Choose a free /64 of the VPC.")
		}
	}
	return list
}

func prefixes(list []netip.Prefix) string {
	if len(list) == 0 {
		return "no ranges"
	}
	var out []string
	for _, p := range list {
		out = append(out, p.String())
	}
	return strings.Join(out, ", ")
}

func (p *SubnetPlan) refusedZone(r *refusing) {
	asked := p.made.AvailabilityZone + p.made.ZoneID
	if asked == "" {
		return
	}
	if !r.S.Has(snapshot.ZonesOf) {
		r.blind("zone", "AvailabilityZone", r.S.Why(snapshot.ZonesOf))
		return
	}
	var names []string
	for _, z := range r.S.Zones {
		if z.Name == asked || z.ID == asked {
			return
		}
		names = append(names, z.Name)
	}
	r.refuse("zone", "AvailabilityZone", createSubnetPage, "Name one of "+strings.Join(names, ", ")+".", "The zone does not exist",
		"EC2 has no zone %s in %s for this account (InvalidParameterValue).", asked, r.S.Region)
}

const (
	groupTemplatePage = "https://docs.aws.amazon.com/autoscaling/ec2/userguide/create-launch-template.html"
	templateDataPage  = "https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_RequestLaunchTemplateData.html"
	userDataPage      = "https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/user-data.html"
)

// refuse says what EC2 or EKS would not launch of a version of a launch template.
func (p *TemplatePlan) refuse(r *refusing) {
	const field = "LaunchTemplateData"
	n := r.fleets[0]
	t := n.template
	if f, lacks := r.S.Lacks(snapshot.LaunchTemplates, p.read().ID); t == nil || lacks && f.Reason != snapshot.NotRead && p.there() {
		r.templateUnseen("LaunchTemplateId", p.read())
		return
	}
	r.templateItself(t)
	for i, n := range r.fleets {
		r.imds(field+".MetadataOptions", n)
		if len(r.S.Nodegroups) > 0 {
			r.managedTemplate(field, n, p.typesOf(r.S.Nodegroups[i], t))
		}
		if !n.unlike && r.instanceTypes(field+".InstanceType", n) {
			r.offered(field+".InstanceType", n)
		}
	}
	if len(r.S.Nodegroups) > 0 {
		return
	}
	r.placed("subnets", n.subnets)
	if t.Image == "" {
		r.refuse("image", field+".ImageId", groupTemplatePage, "Name the image. If it is meant for a managed nodegroup, whose image EKS chooses, judge the nodegroup: its file names the template.",
			"The launch template names no image", "%s has no ImageId, and no nodegroup of %s uses it: an Auto Scaling group, or RunInstances, rejects it (the request must contain the parameter ImageId).", title(t), r.S.Cluster.Name)
	}
	if t.Type == "" || p.requirements {
		r.blind("instance-types", field+".InstanceType", snapshot.Failure{Source: snapshot.InstanceTypes, Reason: snapshot.NotRead,
			Message: title(t) + " names no instance type: which ones are launched says the group"})
	}
}

// typesOf are the types that a nodegroup has of its own: what it shows may be its
// template's.
func (p *TemplatePlan) typesOf(g snapshot.Nodegroup, t *snapshot.LaunchTemplate) []string {
	if len(g.Types) == 1 && g.Types[0] == t.Type {
		return nil
	}
	return g.Types
}

// templateItself is what is wrong with a version whoever launches it.
func (r *refusing) templateItself(t *snapshot.LaunchTemplate) {
	const field = "LaunchTemplateData"
	name := title(t)
	if t.GroupsTwice {
		r.refuse("groups-twice", field+".SecurityGroupIds", templateDataPage, "Name the security groups in the network interface alone.", "Security groups for the instance beside a network interface",
			"%s has SecurityGroupIds and NetworkInterfaces: EC2 refuses the launch (InvalidParameterCombination).", name)
	}
	if !r.S.Has(snapshot.SecurityGroups) {
		r.blind("security-group", field+".SecurityGroupIds", r.S.Why(snapshot.SecurityGroups))
	} else {
		gone, blind := r.foreignGroups(t.Groups)
		if len(gone) > 0 {
			r.refuse("security-group", field+".SecurityGroupIds", templateDataPage, "Name security groups of "+r.S.Cluster.VPC+", or associate them with it.", "A security group is not in the cluster's VPC",
				"%s cannot be used in %s: it does not exist (InvalidGroup.NotFound), or is of another VPC and not associated with this one (InvalidParameter).", strings.Join(gone, ", "), r.S.Cluster.VPC)
			r.concerns(gone...)
		}
		for _, f := range blind {
			r.blind("security-group", field+".SecurityGroupIds", f)
		}
	}
	const mostUserData = 16 << 10 // "User data is limited to 16 KB, in raw form, before it is base64-encoded."
	if len(t.UserData) > mostUserData {
		r.refuse("user-data-size", field+".UserData", userDataPage, "Make it smaller: compress it, or load the rest from S3.",
			"The user data is too large", "%s has %d bytes of user data; EC2 takes %d.", name, len(t.UserData), mostUserData)
	}
}

// associated is the state in which a security group can be used in a further VPC.
const associated = "associated"

// foreignGroups are the groups that cannot be used in the cluster's VPC, and why that is
// not known of others. A group of another VPC can be associated with it (VPC user guide,
// "Associate security groups with multiple VPCs").
func (r *refusing) foreignGroups(ids []string) (gone []string, blind []snapshot.Failure) {
	for _, id := range ids {
		i := slices.IndexFunc(r.S.SecurityGroups, func(g snapshot.SecurityGroup) bool { return g.ID == id })
		switch {
		case i >= 0 && (r.S.SecurityGroups[i].VPC == r.S.Cluster.VPC || r.S.SecurityGroups[i].Associated[r.S.Cluster.VPC] == associated):
		case i >= 0 && !r.S.Has(snapshot.GroupAssociations):
			blind = append(blind, r.S.Why(snapshot.GroupAssociations))
		case i >= 0 && strings.HasSuffix(r.S.SecurityGroups[i].Associated[r.S.Cluster.VPC], "associating"):
			// It is being associated, or no longer.
			blind = append(blind, snapshot.Failure{Source: snapshot.SecurityGroups, Reason: snapshot.NotRead,
				Message: id + " is " + r.S.SecurityGroups[i].Associated[r.S.Cluster.VPC] + " with " + r.S.Cluster.VPC})
		default:
			gone = append(gone, id)
		}
	}
	return gone, blind
}
