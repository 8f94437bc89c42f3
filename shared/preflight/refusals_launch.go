package preflight

import (
	"slices"
	"strings"

	"rollcall/shared/snapshot"
)

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
		r.about(ref.ID)
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
			r.about(i.ID)
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
		r.about(r.fleets[0].stocks[0].ID)
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
