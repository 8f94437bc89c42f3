package preflight

import (
	"cmp"
	"encoding/base64"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"rollcall/shared/snapshot"
)

func (p *TemplatePlan) first() []snapshot.Source { return where(snapshot.Nodegroups) }

func (p *TemplatePlan) second() []snapshot.Source { return []snapshot.Source{snapshot.LaunchTemplates} }

// announce keeps the nodegroups that use the template, with the version that they
// would be updated to. Where there is none, a nodegroup of an impossible name
// stands for what to read: the template.
func (p *TemplatePlan) announce(d *Draft) {
	s := d.S
	var using []snapshot.Nodegroup
	for _, g := range s.Nodegroups {
		if t := g.Template; t.ID != "" && t.ID == p.ref.ID || t.Name != "" && t.Name == p.ref.Name {
			d.around = append(d.around, g.Subnets...)
			g.Template = p.read()
			using = append(using, g)
			continue
		}
		d.around = append(d.around, g.Subnets...)
	}
	d.around = distinct(d.around)
	s.Nodegroups, s.Groups = using, nil
	if len(using) == 0 && p.there() {
		s.Groups = []snapshot.Group{{Name: plannedPrefix + "group", Template: p.read(), Created: s.Time}}
	}
}

// there reports whether there is something to read: a template that is only named may be
// a new one.
func (p *TemplatePlan) there() bool { return p.data == nil || p.base != "" || p.ref.ID != "" }

// read is the version that is read: of a planned one that on which it builds.
func (p *TemplatePlan) read() snapshot.TemplateRef {
	ref := p.ref
	if p.data != nil && ref.Version == plannedVersion {
		ref.Version = cmp.Or(p.base, "$Default")
	}
	if ref.ID != "" {
		ref.Name = ""
	}
	return ref
}

func (p *TemplatePlan) settle(d *Draft) {
	s := d.S
	t := p.settled(d)
	if len(s.Nodegroups) > 0 {
		for i := range s.Nodegroups {
			g := &s.Nodegroups[i]
			g.Template = snapshot.TemplateRef{ID: p.ref.ID, Name: p.ref.Name, Version: p.ref.Version}
			n := &nodes{owner: g.Name, ref: g.Template, subnets: distinct(g.Subnets), template: t}
			s.Groups = append(s.Groups, managedGroup(d, g))
			d.fleets = append(d.fleets, n)
			d.manage(n, i)
		}
		return
	}
	n := &nodes{owner: cmp.Or(p.ref.ID, p.ref.Name), ref: p.ref, template: t}
	d.fleets = []*nodes{n}
	if t == nil {
		return
	}
	p.selfManaged(d, n)
}

// settled is the version that is judged: what the file says, laid over the version
// that it builds on, or what was read; nil where that could not be.
func (p *TemplatePlan) settled(d *Draft) *snapshot.LaunchTemplate {
	s := d.S
	base := d.template(p.read())
	switch {
	case p.data == nil:
		return base
	case p.base == "":
		t := *p.data
		if base != nil { // the template itself is there
			t.ID, t.Name = base.ID, base.Name
		}
		s.LaunchTemplates = []snapshot.LaunchTemplate{t}
	case base == nil:
		return nil
	default:
		s.LaunchTemplates = []snapshot.LaunchTemplate{*over(*base, *p.data)}
	}
	s.Read[snapshot.LaunchTemplates] = true
	delete(s.Failures, snapshot.LaunchTemplates)
	return &s.LaunchTemplates[0]
}

// selfManaged says what an Auto Scaling group launches with the template, in the
// subnet that it names, else where a user says, else where nodegroups stand, else
// in the cluster's own subnets.
func (p *TemplatePlan) selfManaged(d *Draft, n *nodes) {
	s, t := d.S, n.template
	n.subnets = d.Plan.In
	switch {
	case len(n.subnets) > 0:
	case t.Subnet != "":
		n.subnets = []string{t.Subnet}
	default:
		n.subnets = cmpOr(d.around, s.Cluster.Subnets)
	}
	n.subnets = distinct(n.subnets)
	n.types = []string{t.Type}
	if t.Type == "" {
		n.types, n.unlike = []string{defaultType}, true
	}
	n.metadata = snapshot.Metadata{Endpoint: "enabled"} // the rest is the image's (EC2 user guide, "Order of precedence for instance metadata options")
	n.image, n.spot = t.Image, t.Spot
	n.take(t)
	if len(n.groups) == 0 {
		n.groups = d.defaultGroup()
	}
	if t.Profile != "" && !strings.HasPrefix(t.Profile, "arn:") {
		n.profile = fmt.Sprintf("arn:%s:iam::%s:instance-profile/%s", cmp.Or(s.Partition, "aws"), s.Account, t.Profile)
	} else {
		n.profile = t.Profile
	}
	n.data, n.from, n.told = t.UserData, title(t), true
	s.Groups = []snapshot.Group{{Name: plannedPrefix + "group", Template: snapshot.TemplateRef{ID: t.ID, Version: t.Version}, Subnets: n.subnets, Types: n.types, Max: len(n.subnets), Created: s.Time}}
	n.tags = map[string]string{
		"kubernetes.io/cluster/" + s.Cluster.Name: "owned", // the group's, without which the node's cluster is not found
		"aws:autoscaling:groupName":               plannedPrefix + "group",
		"aws:ec2launchtemplate:id":                t.ID, "aws:ec2launchtemplate:version": t.Version,
	}
}

// defaultGroup is the security group that EC2 takes where none is named (EC2 user
// guide, "Default security groups for your VPCs").
func (d *Draft) defaultGroup() []string {
	for _, g := range d.S.SecurityGroups {
		if g.VPC == d.S.Cluster.VPC && g.Name == "default" {
			return []string{g.ID}
		}
	}
	return nil
}

func (p *TemplatePlan) choose(d *Draft) {
	for i := range d.S.Nodegroups {
		d.chooseImage(d.fleets[i], i)
	}
}

func (p *TemplatePlan) admit(d *Draft) {
	// Of a nodegroup that is there EKS has done it; whoever runs nodes himself must.
	n := d.fleets[0]
	if i := slices.IndexFunc(d.S.Images, func(i snapshot.Image) bool { return i.ID == n.image }); i >= 0 && len(d.S.Nodegroups) == 0 && d.S.Images[i].Windows {
		for k := range d.S.Instances {
			d.S.Instances[k].Windows = true
		}
	}
}

// TemplatePlan is a version of a launch template: one that is there, or the data
// of one that is to be made.
type TemplatePlan struct {
	ref snapshot.TemplateRef
	// data is what a file says of it; nil where it is to be read.
	data *snapshot.LaunchTemplate
	// base is the version that the data builds on (SourceVersion).
	base string
	// requirements reports whether its data chooses types by what they have.
	requirements bool
}

// templateDoc is what ec2 create-launch-template-version, create-launch-template
// and describe-launch-template-versions take or print of one version.
type templateDoc struct {
	LaunchTemplateId   string       `json:"LaunchTemplateId"`
	LaunchTemplateName string       `json:"LaunchTemplateName"`
	SourceVersion      string       `json:"SourceVersion"`
	VersionDescription string       `json:"VersionDescription"`
	VersionNumber      *int         `json:"VersionNumber"`
	DefaultVersion     *bool        `json:"DefaultVersion"`
	CreateTime         any          `json:"CreateTime"`
	CreatedBy          string       `json:"CreatedBy"`
	LaunchTemplateData templateData `json:"LaunchTemplateData"`
	ClientToken        string       `json:"ClientToken"`
	DryRun             *bool        `json:"DryRun"`
	ResolveAlias       *bool        `json:"ResolveAlias"`
	Operator           any          `json:"Operator"`
	TagSpecifications  any          `json:"TagSpecifications"`
}

// templateVersions is what describe-launch-template-versions prints.
type templateVersions struct {
	LaunchTemplateVersions []templateDoc `json:"LaunchTemplateVersions"`
	NextToken              *string       `json:"NextToken"`
}

// templateData has the members of the model (botocore 1.43, ec2,
// RequestLaunchTemplateData); what no rule asks for is not looked into.
type templateData struct {
	IamInstanceProfile *struct {
		Arn  string `json:"Arn"`
		Name string `json:"Name"`
	} `json:"IamInstanceProfile"`
	NetworkInterfaces     []templateInterface `json:"NetworkInterfaces"`
	ImageId               string              `json:"ImageId"`
	InstanceType          string              `json:"InstanceType"`
	UserData              string              `json:"UserData"`
	SecurityGroupIds      []string            `json:"SecurityGroupIds"`
	InstanceMarketOptions *struct {
		MarketType  string `json:"MarketType"`
		SpotOptions any    `json:"SpotOptions"`
	} `json:"InstanceMarketOptions"`
	MetadataOptions *struct {
		State                   string `json:"State"`
		HttpTokens              string `json:"HttpTokens"`
		HttpPutResponseHopLimit int    `json:"HttpPutResponseHopLimit"`
		HttpEndpoint            string `json:"HttpEndpoint"`
		HttpProtocolIpv6        string `json:"HttpProtocolIpv6"`
		InstanceMetadataTags    string `json:"InstanceMetadataTags"`
	} `json:"MetadataOptions"`
	InstanceRequirements              any      `json:"InstanceRequirements"`
	SecurityGroups                    []string `json:"SecurityGroups"`
	KernelId                          any      `json:"KernelId"`
	EbsOptimized                      any      `json:"EbsOptimized"`
	BlockDeviceMappings               any      `json:"BlockDeviceMappings"`
	KeyName                           any      `json:"KeyName"`
	Monitoring                        any      `json:"Monitoring"`
	Placement                         any      `json:"Placement"`
	RamDiskId                         any      `json:"RamDiskId"`
	DisableApiTermination             any      `json:"DisableApiTermination"`
	InstanceInitiatedShutdownBehavior any      `json:"InstanceInitiatedShutdownBehavior"`
	TagSpecifications                 any      `json:"TagSpecifications"`
	ElasticGpuSpecifications          any      `json:"ElasticGpuSpecifications"`
	ElasticInferenceAccelerators      any      `json:"ElasticInferenceAccelerators"`
	CreditSpecification               any      `json:"CreditSpecification"`
	CpuOptions                        any      `json:"CpuOptions"`
	CapacityReservationSpecification  any      `json:"CapacityReservationSpecification"`
	LicenseSpecifications             any      `json:"LicenseSpecifications"`
	HibernationOptions                any      `json:"HibernationOptions"`
	EnclaveOptions                    any      `json:"EnclaveOptions"`
	PrivateDnsNameOptions             any      `json:"PrivateDnsNameOptions"`
	MaintenanceOptions                any      `json:"MaintenanceOptions"`
	DisableApiStop                    any      `json:"DisableApiStop"`
	Operator                          any      `json:"Operator"`
	NetworkPerformanceOptions         any      `json:"NetworkPerformanceOptions"`
	SecondaryInterfaces               any      `json:"SecondaryInterfaces"`
}

type templateInterface struct {
	AssociatePublicIpAddress        *bool    `json:"AssociatePublicIpAddress"`
	DeviceIndex                     int      `json:"DeviceIndex"`
	Groups                          []string `json:"Groups"`
	InterfaceType                   string   `json:"InterfaceType"`
	SubnetId                        string   `json:"SubnetId"`
	NetworkCardIndex                int      `json:"NetworkCardIndex"`
	AssociateCarrierIpAddress       any      `json:"AssociateCarrierIpAddress"`
	DeleteOnTermination             any      `json:"DeleteOnTermination"`
	Description                     any      `json:"Description"`
	Ipv6AddressCount                any      `json:"Ipv6AddressCount"`
	Ipv6Addresses                   any      `json:"Ipv6Addresses"`
	NetworkInterfaceId              any      `json:"NetworkInterfaceId"`
	PrivateIpAddress                any      `json:"PrivateIpAddress"`
	PrivateIpAddresses              any      `json:"PrivateIpAddresses"`
	SecondaryPrivateIpAddressCount  any      `json:"SecondaryPrivateIpAddressCount"`
	Ipv4Prefixes                    any      `json:"Ipv4Prefixes"`
	Ipv4PrefixCount                 any      `json:"Ipv4PrefixCount"`
	Ipv6Prefixes                    any      `json:"Ipv6Prefixes"`
	Ipv6PrefixCount                 any      `json:"Ipv6PrefixCount"`
	PrimaryIpv6                     any      `json:"PrimaryIpv6"`
	EnaSrdSpecification             any      `json:"EnaSrdSpecification"`
	ConnectionTrackingSpecification any      `json:"ConnectionTrackingSpecification"`
	EnaQueueCount                   any      `json:"EnaQueueCount"`
}

// ParseTemplateRef reads "lt-0abc:7", "lt-0abc:$Latest" or "lt-0abc", which is its
// default version.
func ParseTemplateRef(text string) (Plan, error) {
	id, version, given := strings.Cut(text, ":")
	if given && version != "$Latest" && version != "$Default" {
		if n, err := strconv.ParseUint(version, 10, 63); err != nil || n == 0 {
			return Plan{}, misunderstood("", "%s: %q is no version of a launch template: write its number, $Latest or $Default", text, version)
		}
	}
	if !strings.HasPrefix(id, "lt-") || len(id) == len("lt-") {
		return Plan{}, misunderstood("", "%s: want the id of a launch template and its version, lt-0abc:7", text)
	}
	if !given {
		version = "$Default"
	}
	return Plan{Kind: LaunchTemplate, Name: text, Template: &TemplatePlan{ref: snapshot.TemplateRef{ID: id, Version: version}}}, nil
}

// parseTemplate reads the data of a version.
func parseTemplate(data []byte, tree map[string]any) (Plan, error) {
	var doc templateDoc
	if _, listed := tree["LaunchTemplateVersions"]; listed {
		var all templateVersions
		if err := strict(data, tree, &all, "describe-launch-template-versions"); err != nil {
			return Plan{}, err
		}
		if len(all.LaunchTemplateVersions) != 1 {
			return Plan{}, misunderstood("LaunchTemplateVersions", "it holds %d versions, and one is judged at a time: print it alone with --versions, or name it as lt-0abc:7", len(all.LaunchTemplateVersions))
		}
		doc = all.LaunchTemplateVersions[0]
	} else if err := strict(data, tree, &doc, "create-launch-template-version"); err != nil {
		return Plan{}, err
	}
	if doc.LaunchTemplateId == "" && doc.LaunchTemplateName == "" {
		return Plan{}, misunderstood("LaunchTemplateName", "create-launch-template-version requires LaunchTemplateId or LaunchTemplateName")
	}
	name := doc.LaunchTemplateName
	if name == "" {
		name = doc.LaunchTemplateId
	}
	p := &TemplatePlan{ref: snapshot.TemplateRef{ID: doc.LaunchTemplateId, Name: doc.LaunchTemplateName, Version: plannedVersion}, base: doc.SourceVersion}
	if doc.VersionNumber != nil {
		p.ref.Version = strconv.Itoa(*doc.VersionNumber)
	}
	p.data = doc.LaunchTemplateData.version(p.ref)
	p.requirements = doc.LaunchTemplateData.InstanceRequirements != nil
	return Plan{Kind: LaunchTemplate, Name: name, Template: p}, nil
}

// plannedVersion is what a version is called that has no number yet.
const plannedVersion = "planned"

// version is the data as it would be read.
func (d templateData) version(ref snapshot.TemplateRef) *snapshot.LaunchTemplate {
	t := &snapshot.LaunchTemplate{ID: ref.ID, Name: ref.Name, Version: ref.Version, Image: d.ImageId, Type: d.InstanceType, Groups: slices.Clone(d.SecurityGroupIds)}
	if t.ID == "" {
		t.ID = ref.Name
	}
	if data, err := base64.StdEncoding.DecodeString(d.UserData); err == nil {
		t.UserData = data
	} else {
		t.UserData = []byte(d.UserData)
	}
	if m := d.MetadataOptions; m != nil {
		t.Metadata = snapshot.Metadata{Endpoint: m.HttpEndpoint, HopLimit: m.HttpPutResponseHopLimit, Tokens: m.HttpTokens}
	}
	if p := d.IamInstanceProfile; p != nil {
		if t.Profile = p.Arn; t.Profile == "" {
			t.Profile = p.Name
		}
	}
	t.Spot = d.InstanceMarketOptions != nil && d.InstanceMarketOptions.MarketType == "spot"
	t.GroupsTwice = len(d.SecurityGroupIds) > 0 && len(d.NetworkInterfaces) > 0
	for _, n := range d.NetworkInterfaces {
		t.Groups = append(t.Groups, n.Groups...)
		if strings.HasPrefix(n.InterfaceType, "efa") {
			t.EFAs = append(t.EFAs, snapshot.EFA{Groups: slices.Sorted(slices.Values(n.Groups))})
		}
		if n.DeviceIndex != 0 || n.NetworkCardIndex != 0 {
			continue
		}
		t.Subnet = n.SubnetId
		if n.AssociatePublicIpAddress != nil {
			t.PublicIP = strconv.FormatBool(*n.AssociatePublicIpAddress)
		}
	}
	t.Groups = distinct(t.Groups)
	return t
}

// over lays the data over a version: what the data leaves out is the version's
// (EC2 API reference, CreateLaunchTemplateVersion, SourceVersion).
func over(base snapshot.LaunchTemplate, data snapshot.LaunchTemplate) *snapshot.LaunchTemplate {
	t := data
	if t.Image == "" {
		t.Image = base.Image
	}
	if t.Type == "" {
		t.Type = base.Type
	}
	if len(t.Groups) == 0 {
		t.Groups = base.Groups
	}
	if len(t.UserData) == 0 {
		t.UserData = base.UserData
	}
	if t.Metadata == (snapshot.Metadata{}) {
		t.Metadata = base.Metadata
	}
	if t.Profile == "" {
		t.Profile = base.Profile
	}
	if t.PublicIP == "" {
		t.PublicIP = base.PublicIP
	}
	if t.Subnet == "" {
		t.Subnet = base.Subnet
	}
	if len(t.EFAs) == 0 {
		t.EFAs = base.EFAs
	}
	t.ID, t.Name = base.ID, base.Name
	return &t
}

// title names a version for people.
func title(t *snapshot.LaunchTemplate) string {
	if t.Version == plannedVersion {
		return fmt.Sprintf("the planned version of %s", t.ID)
	}
	return fmt.Sprintf("%s version %s", t.ID, t.Version)
}
