package preflight

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"rollcall/shared/access/awsauth"
	"rollcall/shared/snapshot"
)

func (p *NodegroupPlan) first() []snapshot.Source { return where(snapshot.Nodegroups) }

func (p *NodegroupPlan) second() []snapshot.Source {
	return []snapshot.Source{snapshot.LaunchTemplates}
}

// announce puts a planned nodegroup into the snapshot, as EKS would describe it
// before anything was launched.
func (p *NodegroupPlan) announce(d *Draft) {
	s := d.S
	d.exists = slices.ContainsFunc(s.Nodegroups, func(n snapshot.Nodegroup) bool { return n.Name == p.NodegroupName })
	least, most, desired := p.sizes()
	n := &nodes{owner: p.NodegroupName, ref: p.ref(), subnets: distinct(p.Subnets)}
	d.fleets = []*nodes{n}
	s.Nodegroups = []snapshot.Nodegroup{{
		Name: p.NodegroupName, Cluster: s.Cluster.Name, Status: "CREATING", Subnets: n.subnets, Groups: []string{groupName(p.NodegroupName)},
		Min: least, Max: most, Desired: desired, Spot: p.CapacityType == "SPOT", Role: p.NodeRole, AMIType: p.AMIType, Version: p.Version, Release: p.ReleaseVersion,
		Template: n.ref, Types: p.InstanceTypes, Labels: p.Labels, Tags: p.Tags, Taints: p.taints(), Created: s.Time, Modified: s.Time, Since: s.Time,
	}}
	s.Read[snapshot.Nodegroups] = true
	delete(s.Failures, snapshot.Nodegroups)
	s.Groups = []snapshot.Group{managedGroup(d, &s.Nodegroups[0])}
}

// managedGroup is the Auto Scaling group that EKS makes for a nodegroup.
func managedGroup(d *Draft, g *snapshot.Nodegroup) snapshot.Group {
	return snapshot.Group{
		Name: groupName(g.Name), Min: g.Min, Max: g.Max, Desired: g.Desired, Subnets: g.Subnets, Types: g.Types, Created: d.S.Time,
		Tags: map[string]string{"eks:cluster-name": d.S.Cluster.Name, "eks:nodegroup-name": g.Name},
	}
}

// groupName is the start of the planned Auto Scaling group's name: EKS puts a UUID
// behind it.
func groupName(nodegroup string) string { return "eks-" + nodegroup }

func (n *NodegroupPlan) taints() []snapshot.Taint {
	effects := map[string]string{"NO_SCHEDULE": "NoSchedule", "NO_EXECUTE": "NoExecute", "PREFER_NO_SCHEDULE": "PreferNoSchedule"}
	var list []snapshot.Taint
	for _, t := range n.Taints {
		list = append(list, snapshot.Taint{Key: t.Key, Value: t.Value, Effect: effects[t.Effect]})
	}
	return list
}

// settle says what EKS launches for a nodegroup.
func (p *NodegroupPlan) settle(d *Draft) {
	n := d.fleets[0]
	n.template = d.template(n.ref)
	d.manage(n, 0)
}

// manage says what EKS launches for the i-th nodegroup of the snapshot: its launch
// template is made of the one that a user gives (EKS user guide, "Customize
// managed nodes with launch templates").
func (d *Draft) manage(n *nodes, i int) {
	s := d.S
	g := &s.Nodegroups[i]
	n.types = g.Types
	if t := n.template; t != nil && len(n.types) == 0 && t.Type != "" {
		n.types = []string{t.Type}
	}
	if len(n.types) == 0 {
		n.types = []string{defaultType}
	}
	n.role, n.made, n.spot = g.Role, true, g.Spot
	n.from = "the part that EKS adds"
	n.metadata = snapshot.Metadata{Endpoint: "enabled", HopLimit: 2, Tokens: "required"} // what EKS's own templates have
	if s.Cluster.SecurityGroup != "" {
		n.groups = []string{s.Cluster.SecurityGroup}
	}
	if t := n.template; t != nil {
		n.take(t)
		n.data, n.from = t.UserData, fmt.Sprintf("%s version %s", t.ID, t.Version)
		if n.image = t.Image; t.Image != "" {
			g.AMIType = "CUSTOM"
		}
	}
	g.Types = n.types
	for k := range s.Groups {
		if s.Groups[k].Name == groupName(g.Name) {
			s.Groups[k].Types = n.types
		}
	}
	n.windows = strings.HasPrefix(g.AMIType, "WINDOWS_")
	n.tags = map[string]string{
		"eks:cluster-name": s.Cluster.Name, "eks:nodegroup-name": g.Name, "kubernetes.io/cluster/" + s.Cluster.Name: "owned",
		"aws:autoscaling:groupName": groupName(g.Name),
	}
}

// take takes over what a launch template says of the machine.
func (n *nodes) take(t *snapshot.LaunchTemplate) {
	n.groups, n.public = cmpOr(t.Groups, n.groups), t.PublicIP
	n.metadata.Endpoint = cmp.Or(t.Metadata.Endpoint, n.metadata.Endpoint)
	n.metadata.HopLimit = cmp.Or(t.Metadata.HopLimit, n.metadata.HopLimit)
	n.metadata.Tokens = cmp.Or(t.Metadata.Tokens, n.metadata.Tokens)
}

func (p *NodegroupPlan) choose(d *Draft) { d.chooseImage(d.fleets[0], 0) }

// chooseImage is the image that EKS would choose for the i-th nodegroup, once the
// types were described.
func (d *Draft) chooseImage(n *nodes, i int) {
	g := &d.S.Nodegroups[i]
	if g.AMIType == "" {
		g.AMIType = d.defaultAMIType(n)
	}
	if g.AMIType != "CUSTOM" {
		n.stocks = []*snapshot.Image{stockImage(g.AMIType, d.S.Cluster.Version, d.S.Region)}
	}
}

// defaultType is taken where neither the nodegroup nor its template names one
// (EKS API reference, CreateNodegroup, instanceTypes).
const defaultType = "t3.medium"

// defaultAMIType is what EKS takes where none is said: Amazon Linux 2023 (2 for
// versions before 1.30) for the types' architecture (EKS user guide,
// "Amazon Linux 2023": the default for new nodegroups of 1.30 and later).
func (d *Draft) defaultAMIType(n *nodes) string {
	arm := false
	for _, t := range d.S.InstanceTypes {
		arm = arm || slices.Contains(t.Architectures, "arm64") && slices.Contains(n.types, t.Name)
	}
	if arm {
		return "AL2023_ARM_64_STANDARD"
	}
	return "AL2023_x86_64_STANDARD"
}

// stockImage is the image that EKS would choose for an AMI type: of the
// control plane's version, which is the only one that it takes (API reference,
// CreateNodegroup, version). The names are those of EKS's own images.
func stockImage(amiType, version, region string) *snapshot.Image {
	i := &snapshot.Image{ID: "planned-image-" + amiType, Architecture: architectureOf(amiType), State: "available", OwnerAlias: "amazon", Public: true}
	short := i.Architecture
	switch {
	case strings.HasPrefix(amiType, "AL2023_"):
		i.Name = "amazon-eks-node-al2023-" + short + "-standard-" + version + "-v"
	case strings.HasPrefix(amiType, "AL2_"):
		i.Name = "amazon-eks-node-" + version + "-v"
	case strings.HasPrefix(amiType, "BOTTLEROCKET_"):
		i.Name = "bottlerocket-aws-k8s-" + version + "-" + strings.Replace(short, "arm64", "aarch64", 1)
	case strings.HasPrefix(amiType, "WINDOWS_"):
		i.Name, i.Windows = "Windows_Server-English-EKS_Optimized-"+version, true
	}
	return i
}

// architectureOf is what an AMI type's image is for; empty for CUSTOM and for
// what is not understood.
func architectureOf(amiType string) string {
	switch {
	case strings.Contains(amiType, "ARM_64"):
		return "arm64"
	case strings.Contains(amiType, "x86_64"):
		return "x86_64"
	}
	return ""
}

// admit adds what EKS does for the role of a managed nodegroup: an access entry
// in the modes that have them, else a mapping in aws-auth (EKS user guide,
// "Creating access entries" and "Grant IAM users access with a ConfigMap"). What
// stands there already is left as it is.
func (p *NodegroupPlan) admit(d *Draft) { d.letIn(d.fleets[0]) }

// letIn makes the entry or the mapping of a nodegroup's role.
func (d *Draft) letIn(n *nodes) {
	s := d.S
	if s.Cluster.AuthMode != "" && s.Cluster.AuthMode != "CONFIG_MAP" {
		if !s.Has(snapshot.Access) || slices.ContainsFunc(s.AccessEntries, func(e snapshot.AccessEntry) bool { return e.Principal == n.role }) {
			return
		}
		kind := "EC2_LINUX"
		if n.windows {
			kind = "EC2_WINDOWS"
		}
		s.AccessEntries = append(s.AccessEntries, snapshot.AccessEntry{Principal: n.role, Type: kind, Username: nodeUser, Groups: []string{"system:nodes"}})
		s.Principals = append(s.Principals, n.role)
		return
	}
	if !s.Has(snapshot.AWSAuthMap) {
		return
	}
	roles := ""
	if s.AWSAuth != nil {
		roles = s.AWSAuth.MapRoles
	}
	if have, err := awsauth.Roles(roles); err != nil || len(awsauth.ForRole(have, n.role)) > 0 {
		return
	}
	mapping := map[string]any{"rolearn": awsauth.Canonical(n.role), "username": nodeUser, "groups": []string{"system:bootstrappers", "system:nodes"}}
	if n.windows {
		mapping["groups"] = []string{"system:bootstrappers", "system:nodes", "eks:kube-proxy-windows"}
	}
	var list []any
	if err := yaml.Unmarshal([]byte(roles), &list); err != nil {
		return
	}
	text, err := yaml.Marshal(append(list, mapping))
	if err != nil {
		return
	}
	made := snapshot.AWSAuth{MapRoles: string(text)}
	if s.AWSAuth != nil {
		made.MapUsers = s.AWSAuth.MapUsers
	}
	s.AWSAuth = &made
}

const nodeUser = "system:node:{{EC2PrivateDNSName}}"

// NodegroupPlan is what CreateNodegroup takes, as
// aws eks create-nodegroup --cli-input-json reads it.
type NodegroupPlan struct {
	ClusterName    string            `json:"clusterName"`
	NodegroupName  string            `json:"nodegroupName"`
	ScalingConfig  *scalingConfig    `json:"scalingConfig"`
	DiskSize       *int              `json:"diskSize"` // GiB
	Subnets        []string          `json:"subnets"`
	InstanceTypes  []string          `json:"instanceTypes"`
	AMIType        string            `json:"amiType"`
	RemoteAccess   *remoteAccess     `json:"remoteAccess"`
	NodeRole       string            `json:"nodeRole"`
	Labels         map[string]string `json:"labels"`
	Taints         []taint           `json:"taints"`
	Tags           map[string]string `json:"tags"`
	Token          string            `json:"clientRequestToken"`
	LaunchTemplate *templateRef      `json:"launchTemplate"`
	UpdateConfig   *updateConfig     `json:"updateConfig"`
	RepairConfig   *repairConfig     `json:"nodeRepairConfig"`
	CapacityType   string            `json:"capacityType"`
	Version        string            `json:"version"`
	ReleaseVersion string            `json:"releaseVersion"`
	WarmPool       *warmPool         `json:"warmPoolConfig"`
}

type scalingConfig struct {
	MinSize     *int `json:"minSize"`
	MaxSize     *int `json:"maxSize"`
	DesiredSize *int `json:"desiredSize"`
}

type remoteAccess struct {
	Key    string   `json:"ec2SshKey"`
	Groups []string `json:"sourceSecurityGroups"`
}

type taint struct {
	Key    string `json:"key"`
	Value  string `json:"value"`
	Effect string `json:"effect"`
}

type templateRef struct {
	Name    string `json:"name"`
	Version string `json:"version"`
	ID      string `json:"id"`
}

type updateConfig struct {
	MaxUnavailable *int   `json:"maxUnavailable"`
	Percentage     *int   `json:"maxUnavailablePercentage"`
	Strategy       string `json:"updateStrategy"`
}

type repairConfig struct {
	Enabled             *bool            `json:"enabled"`
	ThresholdCount      *int             `json:"maxUnhealthyNodeThresholdCount"`
	ThresholdPercentage *int             `json:"maxUnhealthyNodeThresholdPercentage"`
	ParallelCount       *int             `json:"maxParallelNodesRepairedCount"`
	ParallelPercentage  *int             `json:"maxParallelNodesRepairedPercentage"`
	Overrides           []repairOverride `json:"nodeRepairConfigOverrides"`
}

type repairOverride struct {
	Condition string `json:"nodeMonitoringCondition"`
	Reason    string `json:"nodeUnhealthyReason"`
	MinWait   *int   `json:"minRepairWaitTimeMins"`
	Action    string `json:"repairAction"`
}

type warmPool struct {
	Enabled  *bool  `json:"enabled"`
	MinSize  *int   `json:"minSize"`
	Prepared *int   `json:"maxGroupPreparedCapacity"`
	State    string `json:"poolState"`
	Reuse    *bool  `json:"reuseOnScaleIn"`
}

// ref is the launch template that the plan names.
func (n *NodegroupPlan) ref() snapshot.TemplateRef {
	if n.LaunchTemplate == nil {
		return snapshot.TemplateRef{}
	}
	t := n.LaunchTemplate
	ref := snapshot.TemplateRef{ID: t.ID, Name: t.Name, Version: t.Version}
	if ref.ID != "" {
		ref.Name = ""
	}
	if ref.Version == "" {
		ref.Version = "$Default" // API reference, LaunchTemplateSpecification
	}
	return ref
}

// sizes are the scaling settings. CreateNodegroup says of none what EKS takes;
// the API's answers show 1, 2 and 2.
func (n *NodegroupPlan) sizes() (least, most, desired int) {
	least, most, desired = 1, 2, 2
	if c := n.ScalingConfig; c != nil {
		least, most, desired = or(c.MinSize, least), or(c.MaxSize, most), or(c.DesiredSize, desired)
	}
	return least, most, desired
}

func or(n *int, otherwise int) int {
	if n == nil {
		return otherwise
	}
	return *n
}
