package state

import (
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"rollcall/local/simaws/kubestate"
)

// SecurityGroupIDs are the ids of security groups.
func SecurityGroupIDs(groups []ec2types.SecurityGroupIdentifier) []string {
	out := make([]string, 0, len(groups))
	for _, g := range groups {
		out = append(out, aws.ToString(g.GroupId))
	}
	return out
}

// ClusterOf is the cluster that an instance's tags name, empty without one.
func (w *State) ClusterOf(id string) string {
	in := w.Instances.Get(id)
	if in == nil {
		return ""
	}
	if name := TagValue(in.Tags, "eks:cluster-name"); name != "" {
		return name
	}
	for _, t := range in.Tags {
		if name, ok := strings.CutPrefix(aws.ToString(t.Key), "kubernetes.io/cluster/"); ok && aws.ToString(t.Value) == "owned" {
			return name
		}
	}
	return ""
}

// TerminatedTime is how long a terminated instance is still described.
const TerminatedTime = time.Hour

// InstanceGroups are the ids of an instance's security groups.
func InstanceGroups(in *ec2types.Instance) []string {
	out := make([]string, 0, len(in.SecurityGroups))
	for _, g := range in.SecurityGroups {
		out = append(out, aws.ToString(g.GroupId))
	}
	return out
}

// NodeOf is the node object of an instance, nil where it is none.
func (w *State) NodeOf(id string) (*kubestate.Cluster, *map[string]any) {
	for _, name := range slices.Sorted(maps.Keys(w.Kubernetes)) {
		k := w.Kubernetes[name]
		if n := k.Nodes.Get(id); n != nil {
			return k, n
		}
	}
	return nil, nil
}

// AutoModePrincipal is who manages what EKS Auto Mode starts.
const AutoModePrincipal = "eks.amazonaws.com"

// IsAutoMode tells that EKS Auto Mode runs an instance.
func IsAutoMode(in *ec2types.Instance) bool {
	return IsManaged(in.Operator) && aws.ToString(in.Operator.Principal) == AutoModePrincipal
}

// NodeName is what the Node of an instance is called.
func NodeName(in *ec2types.Instance) string {
	if IsAutoMode(in) {
		return aws.ToString(in.InstanceId)
	}
	return aws.ToString(in.PrivateDnsName)
}

// IsManaged tells that an AWS service manages a resource.
func IsManaged(o *ec2types.OperatorResponse) bool { return o != nil && aws.ToBool(o.Managed) }

// ManagedBy is the operator of what a service makes; nil for nobody.
func ManagedBy(principal string) *ec2types.OperatorResponse {
	if principal == "" {
		return nil
	}
	return &ec2types.OperatorResponse{Managed: aws.Bool(true), Principal: aws.String(principal)}
}

// MetadataOptions are those that EKS's launch templates give.
func MetadataOptions() *ec2types.InstanceMetadataOptionsResponse {
	return &ec2types.InstanceMetadataOptionsResponse{
		State: ec2types.InstanceMetadataOptionsStateApplied, HttpEndpoint: ec2types.InstanceMetadataEndpointStateEnabled,
		HttpTokens: ec2types.HttpTokensStateRequired, HttpPutResponseHopLimit: aws.Int32(2),
	}
}

// IsReady tells that an instance is a Ready node.
func (w *State) IsReady(id string) bool {
	_, n := w.NodeOf(id)
	if n == nil {
		return false
	}
	status, _ := (*n)["status"].(map[string]any)
	list, _ := status["conditions"].([]any)
	for _, item := range list {
		if c, ok := item.(map[string]any); ok && c["type"] == "Ready" {
			return c["status"] == "True"
		}
	}
	return false
}

// RunningTime is how long an instance stays pending.
func (w *State) RunningTime() time.Duration {
	return time.Duration(w.File.Nodes.RunningSeconds) * time.Second
}

// DefaultGroup is the VPC's group called default, which EC2 takes where an
// instance names none.
func (w *State) DefaultGroup(vpc string) []string {
	for _, g := range w.SecurityGroups.All() {
		if aws.ToString(g.VpcId) == vpc && aws.ToString(g.GroupName) == "default" {
			return []string{*g.GroupId}
		}
	}
	return nil
}

// Ended tells that an instance is shutting down or terminated.
func Ended(in *ec2types.Instance) bool {
	return in.State.Name == ec2types.InstanceStateNameShuttingDown || in.State.Name == ec2types.InstanceStateNameTerminated
}

// InstanceState is a state with its number.
func InstanceState(name ec2types.InstanceStateName) *ec2types.InstanceState {
	codes := map[ec2types.InstanceStateName]int32{
		ec2types.InstanceStateNamePending: 0, ec2types.InstanceStateNameRunning: 16,
		ec2types.InstanceStateNameShuttingDown: 32, ec2types.InstanceStateNameTerminated: 48,
		ec2types.InstanceStateNameStopping: 64, ec2types.InstanceStateNameStopped: 80,
	}
	return &ec2types.InstanceState{Name: name, Code: aws.Int32(codes[name])}
}

// TagValue is the value of a tag, empty without it.
func TagValue(tags []ec2types.Tag, key string) string {
	for _, t := range tags {
		if aws.ToString(t.Key) == key {
			return aws.ToString(t.Value)
		}
	}
	return ""
}
