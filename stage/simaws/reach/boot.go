package reach

import (
	"encoding/base64"
	"encoding/json"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	ekstypes "github.com/aws/aws-sdk-go-v2/service/eks/types"
	"go.yaml.in/yaml/v3"

	"rollcall/stage/simaws/iam"
	"rollcall/stage/simaws/ids"
	"rollcall/stage/simaws/state"
	"rollcall/stage/simaws/worldfile"
)

// BootFault is why an instance that reaches all it needs becomes no node: the
// world's own short rule of what a node starts with, apart from the checks. What
// the world does not say stops no node.
type BootFault string

// The faults.
const (
	BootNoMetadata  BootFault = "metadata-off"    // nodeadm and bootstrap.sh ask the metadata service who they are
	BootNoTrust     BootFault = "role-trust"      // EC2 cannot assume the role: no credentials
	BootNoActions   BootFault = "role-policies"   // the role may not what joining takes
	BootNotMapped   BootFault = "aws-auth"        // aws-auth cannot be read, or makes no node of the role
	BootNotTold     BootFault = "user-data"       // nothing tells which cluster to join, or it is another
	BootMisnamed    BootFault = "host-name"       // the host's name is none that the cluster takes
	BootTooNew      BootFault = "kubelet-version" // a kubelet newer than the API server (Kubernetes, "Version Skew Policy")
	mostHostname              = 63                // of the label kubernetes.io/hostname
	masqueradedName           = "system:node:"
)

// BootFaultOf is it, empty for none.
func BootFaultOf(w *state.State, in *ec2types.Instance) BootFault {
	switch {
	case in.MetadataOptions != nil && in.MetadataOptions.HttpEndpoint == ec2types.InstanceMetadataEndpointStateDisabled:
		return BootNoMetadata
	case misnamed(w, in):
		return BootMisnamed
	case unconfigured(w, in), misconfigured(w, in):
		return BootNotTold
	case tooNew(w, in):
		return BootTooNew
	case withoutCredentials(w, in):
		return BootNoTrust
	}
	arn := nodeRole(w, in)
	role := w.Roles.Get(ids.NameInARN(arn))
	if role == nil {
		return ""
	}
	if doc := iam.Plain(role.AssumeRolePolicyDocument); doc != "" && !strings.Contains(doc, "ec2.amazonaws.com") {
		return BootNoTrust
	}
	if !mayJoin(w, role, joinActions(in)) {
		return BootNoActions
	}
	if unmapped(w, w.ClusterOf(aws.ToString(in.InstanceId)), arn) || unknownRole(w, in, arn) {
		return BootNotMapped
	}
	return ""
}

// joinActions are what nodes do before their pods run (EKS user guide, "Amazon
// EKS node IAM role"); those of Auto Mode only pull images ("Create an IAM role for
// EKS Auto Mode nodes").
func joinActions(in *ec2types.Instance) []string {
	if state.IsAutoMode(in) {
		return []string{"ecr:GetAuthorizationToken", "ecr:BatchGetImage"}
	}
	return []string{"ec2:DescribeInstances", "ecr:GetAuthorizationToken", "ecr:BatchGetImage"}
}

// mayJoin asks a role's policies, and its boundary, for what joining takes. One
// whose policies the world does not know may all.
func mayJoin(w *state.State, role *worldfile.RoleFile, actions []string) bool {
	var documents []string
	for _, p := range role.RolePolicyList {
		documents = append(documents, iam.Plain(p.PolicyDocument))
	}
	for _, p := range role.AttachedManagedPolicies {
		text, known := iam.Document(w, p.PolicyArn)
		if !known {
			return true
		}
		documents = append(documents, text)
	}
	boundary := ""
	if b := role.PermissionsBoundary; b != nil {
		boundary, _ = iam.Document(w, b.PermissionsBoundaryArn)
	}
	for _, action := range actions {
		if !slices.ContainsFunc(documents, func(d string) bool { return allows(d, action) }) || boundary != "" && !allows(boundary, action) {
			return false
		}
	}
	return true
}

// allows asks a document for one action; resources and conditions are not looked
// at.
func allows(document, action string) bool {
	var d struct {
		Statement []struct{ Effect, Action any }
	}
	if json.Unmarshal([]byte(document), &d) != nil {
		return true
	}
	return slices.ContainsFunc(d.Statement, func(s struct{ Effect, Action any }) bool { return s.Effect == "Allow" && matches(s.Action, action) })
}

// unmapped reports whether a cluster that knows its nodes by aws-auth alone makes no
// node of a role: the text is no list, or the role's last mapping is no node's.
// A role that is not in it may have been added by EKS, which adds those of its
// nodegroups.
func unmapped(w *state.State, name, arn string) bool {
	c := w.Clusters.Get(name)
	if c == nil || w.Kubernetes[name] == nil || c.AccessConfig != nil && c.AccessConfig.AuthenticationMode != ekstypes.AuthenticationModeConfigMap {
		return false
	}
	for _, m := range w.Kubernetes[name].Objects["configmaps"] {
		data, _ := m["data"].(map[string]any)
		text, _ := data["mapRoles"].(string)
		var list []struct{ Rolearn, Username string }
		if yaml.Unmarshal([]byte(text), &list) != nil {
			return true
		}
		for _, e := range slices.Backward(list) {
			if path.Base(e.Rolearn) == path.Base(arn) && strings.Count(e.Rolearn, "/") == 1 && strings.Contains(e.Rolearn, ":role/") {
				return !strings.HasPrefix(e.Username, masqueradedName)
			}
		}
	}
	return false
}

// unconfigured reports whether an instance of a custom image got no settings of
// its cluster. EKS gives those to its own images.
func unconfigured(w *state.State, in *ec2types.Instance) bool {
	ng := w.NodegroupOf(aws.ToString(in.InstanceId))
	if ng == nil || ng.AmiType != ekstypes.AMITypesCustom {
		return false
	}
	data, err := base64.StdEncoding.DecodeString(w.UserData[*in.InstanceId])
	return err == nil && !strings.Contains(string(data), aws.ToString(ng.ClusterName))
}

// tooNew reports whether the name of an image of the operator's choice has a newer
// Kubernetes than the cluster. EKS chooses its images by the version.
func tooNew(w *state.State, in *ec2types.Instance) bool {
	c, i := w.Clusters.Get(w.ClusterOf(aws.ToString(in.InstanceId))), w.Images.Get(aws.ToString(in.ImageId))
	if ng := w.NodegroupOf(aws.ToString(in.InstanceId)); c == nil || i == nil || ng != nil && ng.AmiType != ekstypes.AMITypesCustom {
		return false
	}
	minor := func(text string) int {
		_, rest, _ := strings.Cut(text, "1.")
		digits, _, _ := strings.Cut(rest, "-")
		n, err := strconv.Atoi(digits)
		if err != nil {
			return 0
		}
		return n
	}
	_, name, ofEKS := strings.Cut(aws.ToString(i.Name), "-1.")
	return ofEKS && minor("1."+name) > minor(aws.ToString(c.Version))
}

// misnamed reports whether DHCP options give a host a name that is not the one that EC2
// gives it: none, several in one value, or one that is too long for a label.
func misnamed(w *state.State, in *ec2types.Instance) bool {
	vpc := w.Vpcs.Get(aws.ToString(in.VpcId))
	if vpc == nil {
		return false
	}
	o := w.DhcpOptions.Get(aws.ToString(vpc.DhcpOptionsId))
	if o == nil {
		return false
	}
	values := map[string][]string{}
	for _, c := range o.DhcpConfigurations {
		for _, v := range c.Values {
			values[aws.ToString(c.Key)] = append(values[aws.ToString(c.Key)], strings.Fields(aws.ToString(v.Value))...)
		}
	}
	host, _, _ := strings.Cut(aws.ToString(in.PrivateDnsName), ".")
	names := values["domain-name"]
	return len(names) != 1 || len(host)+1+len(names[0]) > mostHostname
}

// EKS does this for its managed nodegroups alone. The other nodes
// get where to join from their user data, and an operator lets their role in.

// misconfigured reports whether such an instance gets another cluster's name, endpoint or
// authority, or a label that the kubelet refuses, where the world has its user data
// (nodeadm, bootstrap.sh; Kubernetes, NodeRestriction and --node-labels).
func misconfigured(w *state.State, in *ec2types.Instance) bool {
	id := aws.ToString(in.InstanceId)
	text, told := w.UserData[id]
	c := w.Clusters.Get(w.ClusterOf(id))
	switch {
	case c == nil || w.NodegroupOf(id) != nil || state.IsAutoMode(in):
		return false
	case !told:
		// What a group launches has what its template has.
		return w.GroupOf(id) != nil && w.Images.Get(aws.ToString(in.ImageId)) != nil && in.LaunchTime.After(w.Start)
	}
	raw, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		return false
	}
	data := string(raw)
	if !strings.Contains(data, aws.ToString(c.Name)) || strings.Contains(data, "node-role.kubernetes.io/") {
		return true
	}
	// A cluster that the stage serves has another endpoint and authority than the world's.
	of := aws.ToString(c.Endpoint)
	if !strings.HasSuffix(of, endpointSuffix) || !strings.Contains(data, endpointSuffix) || c.CertificateAuthority == nil {
		return false
	}
	return !strings.Contains(data, of) || !strings.Contains(data, aws.ToString(c.CertificateAuthority.Data))
}

const endpointSuffix = ".eks.amazonaws.com"

// withoutCredentials reports whether such an instance has no role: no profile, or one
// without a role, where the world has profiles.
func withoutCredentials(w *state.State, in *ec2types.Instance) bool {
	if len(w.Profiles.All()) == 0 || w.NodegroupOf(aws.ToString(in.InstanceId)) != nil || state.IsAutoMode(in) {
		return false
	}
	if in.IamInstanceProfile == nil {
		return true
	}
	p := w.ProfileNamed("", aws.ToString(in.IamInstanceProfile.Arn))
	return p != nil && len(p.Roles) == 0
}

// unknownRole reports whether a cluster makes no node of such an instance's role: there is
// neither an access entry of a node's type nor a mapping (EKS user guide, "Grant IAM
// users access"). A cluster whose way of knowing nodes the world does not say lets all
// in.
func unknownRole(w *state.State, in *ec2types.Instance, arn string) bool {
	id := aws.ToString(in.InstanceId)
	name := w.ClusterOf(id)
	c := w.Clusters.Get(name)
	if c == nil || w.NodegroupOf(id) != nil {
		return false
	}
	if c.AccessConfig == nil {
		return false
	}
	mode := c.AccessConfig.AuthenticationMode
	if mode != ekstypes.AuthenticationModeConfigMap {
		for _, e := range w.AccessEntries.All() {
			if aws.ToString(e.ClusterName) != name {
				continue
			}
			if aws.ToString(e.PrincipalArn) == arn {
				return !slices.Contains(nodeEntries(in), aws.ToString(e.Type)) || !w.Admits(e) ||
					state.IsAutoMode(in) && !w.HasAutoPolicy(state.NodegroupKey(name, arn))
			}
		}
	}
	if mode != ekstypes.AuthenticationModeApi && w.Kubernetes[name] != nil {
		for _, m := range w.Kubernetes[name].Objects["configmaps"] {
			data, _ := m["data"].(map[string]any)
			text, _ := data["mapRoles"].(string)
			var list []struct{ Rolearn string }
			if yaml.Unmarshal([]byte(text), &list) != nil {
				return true
			}
			for _, e := range list {
				if path.Base(e.Rolearn) == path.Base(arn) && strings.Count(e.Rolearn, "/") == 1 {
					return false
				}
			}
		}
	}
	return true
}

// nodeEntries are the types of entries that make nodes of an instance's role.
func nodeEntries(in *ec2types.Instance) []string {
	if state.IsAutoMode(in) {
		return []string{"EC2"}
	}
	return []string{"EC2_LINUX", "EC2_WINDOWS", "EC2"}
}
