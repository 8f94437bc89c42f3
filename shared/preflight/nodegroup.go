package preflight

import (
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"rollcall/shared/access/awsauth"
	"rollcall/shared/snapshot"
)

// announceNodegroup puts a planned nodegroup into the snapshot, as EKS would
// describe it before anything was launched.
func (d *Draft) announceNodegroup() {
	p, s := d.Plan.Nodegroup, d.S
	d.exists = slices.ContainsFunc(s.Nodegroups, func(n snapshot.Nodegroup) bool { return n.Name == p.NodegroupName })
	least, most, desired := p.sizes()
	d.nodes.owner, d.nodes.ref = p.NodegroupName, p.ref()
	d.nodes.subnets = distinct(p.Subnets)
	s.Nodegroups = []snapshot.Nodegroup{{
		Name: p.NodegroupName, Cluster: s.Cluster.Name, Status: "CREATING", Subnets: d.nodes.subnets, Groups: []string{groupName(p.NodegroupName)},
		Min: least, Max: most, Desired: desired, Spot: p.CapacityType == "SPOT", Role: p.NodeRole, AMIType: p.AMIType, Version: p.Version, Release: p.ReleaseVersion,
		Template: d.nodes.ref, Types: p.InstanceTypes, Labels: p.Labels, Tags: p.Tags, Taints: p.taints(), Created: s.Time, Modified: s.Time, Since: s.Time,
	}}
	s.Read[snapshot.Nodegroups] = true
	delete(s.Failures, snapshot.Nodegroups)
	s.Groups = []snapshot.Group{{
		Name: groupName(p.NodegroupName), Min: least, Max: most, Desired: desired, Subnets: d.nodes.subnets, Types: p.InstanceTypes, Created: s.Time,
		Tags: map[string]string{"eks:cluster-name": s.Cluster.Name, "eks:nodegroup-name": p.NodegroupName},
	}}
}

// groupName is what the planned Auto Scaling group is told by: EKS puts a UUID
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

// fillNodegroup says what EKS launches for a nodegroup: its launch template is
// made of the one that somebody gives (EKS user guide, "Customize managed nodes
// with launch templates").
func (d *Draft) fillNodegroup() {
	p, s, n := d.Plan.Nodegroup, d.S, &d.nodes
	n.role, n.made, n.spot = p.NodeRole, true, p.CapacityType == "SPOT"
	n.from = "the part that EKS adds"
	n.metadata = snapshot.Metadata{Endpoint: "enabled", HopLimit: 2, Tokens: "required"} // what EKS's own templates have
	if s.Cluster.SecurityGroup != "" {
		n.groups = []string{s.Cluster.SecurityGroup}
	}
	amiType := p.AMIType
	if t := n.template; t != nil {
		n.groups = cmpOr(t.Groups, n.groups)
		if t.Metadata.Endpoint != "" {
			n.metadata.Endpoint = t.Metadata.Endpoint
		}
		if t.Metadata.HopLimit != 0 {
			n.metadata.HopLimit = t.Metadata.HopLimit
		}
		n.data, n.from = t.UserData, fmt.Sprintf("%s version %s", t.ID, t.Version)
		if t.Image != "" {
			n.image, amiType = t.Image, "CUSTOM"
		}
	}
	if amiType == "" {
		amiType = d.defaultAMIType()
	}
	s.Nodegroups[0].AMIType, s.Nodegroups[0].Types, s.Groups[0].Types = amiType, n.types, n.types
	n.windows = strings.HasPrefix(amiType, "WINDOWS_")
	if amiType != "CUSTOM" {
		n.stock = stockImage(amiType, s.Cluster.Version, s.Region)
	}
	n.tags = map[string]string{
		"eks:cluster-name": s.Cluster.Name, "eks:nodegroup-name": p.NodegroupName, "kubernetes.io/cluster/" + s.Cluster.Name: "owned",
		"aws:autoscaling:groupName": groupName(p.NodegroupName),
	}
}

// defaultAMIType is what EKS takes where none is said: Amazon Linux 2023 (2 for
// versions before 1.30) for the types' architecture (EKS user guide,
// "Amazon Linux 2023": the default for new nodegroups of 1.30 and later).
func (d *Draft) defaultAMIType() string {
	arm := false
	for _, t := range d.S.InstanceTypes {
		arm = arm || slices.Contains(t.Architectures, "arm64") && slices.Contains(d.nodes.types, t.Name)
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
func (d *Draft) admit() {
	s, n := d.S, d.nodes
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
	if have, err := awsauth.Roles(roles); err != nil || len(awsauth.Of(have, n.role)) > 0 {
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

func distinct(list []string) []string {
	var out []string
	for _, v := range list {
		if v != "" && !slices.Contains(out, v) {
			out = append(out, v)
		}
	}
	return out
}
