package reach

import (
	"encoding/base64"
	"path"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	ekstypes "github.com/aws/aws-sdk-go-v2/service/eks/types"
	"go.yaml.in/yaml/v3"

	"rollcall/local/simaws/state"
)

// Nobody does for nodes without a managed nodegroup what EKS does for its own: their
// user data tells them where to join, and somebody lets their role in.

// misled tells that such an instance is told another cluster's name, endpoint or
// authority, or a label that the kubelet refuses, where the world says what it is told
// (nodeadm, bootstrap.sh; Kubernetes, NodeRestriction and --node-labels).
func misled(w *state.State, in *ec2types.Instance) bool {
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

// withoutCredentials tells that such an instance has no role: no profile, or one
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

// unknownRole tells that a cluster makes no node of such an instance's role: there is
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
