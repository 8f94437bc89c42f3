package preflight

import (
	"encoding/base64"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"rollcall/shared/snapshot"
)

// TemplatePlan is a version of a launch template: one that is there, or the data
// of one that is to be made.
type TemplatePlan struct {
	ref snapshot.TemplateRef
	// data is what a file says of it; nil where it is to be read.
	data *snapshot.LaunchTemplate
	// base is the version that the data builds on (SourceVersion).
	base string
	// requirements tells that its data chooses types by what they have.
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
