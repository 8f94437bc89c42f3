package kube

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"time"
)

// Karpenter's objects belong to no namespace. Self-managed Karpenter and EKS
// Auto Mode have the same NodePools and NodeClaims, and each its own classes
// (kubernetes-sigs/karpenter pkg/apis/crds, aws/karpenter-provider-aws
// pkg/apis/crds; Amazon EKS User Guide, "Create a Node Class").
const (
	nodePoolsPath       = "/apis/karpenter.sh/v1/nodepools"
	nodeClaimsPath      = "/apis/karpenter.sh/v1/nodeclaims"
	ec2NodeClassesPath  = "/apis/karpenter.k8s.aws/v1/ec2nodeclasses"
	autoNodeClassesPath = "/apis/eks.amazonaws.com/v1/nodeclasses"
)

// The most that is read: a cluster has a NodeClaim for each of its nodes, of
// which EKS takes a hundred thousand and Karpenter is tested with some thousand,
// and tens of pools and classes.
const (
	maxNodeClaims  = 20_000
	maxNodePools   = 2000
	maxNodeClasses = 2000
)

// ObjectMeta is what is read of a custom object's metadata.
type ObjectMeta struct {
	Name string `json:"name"`
	// Generation counts the changes of the object's spec.
	Generation        int64             `json:"generation"`
	CreationTimestamp time.Time         `json:"creationTimestamp"`
	DeletionTimestamp time.Time         `json:"deletionTimestamp"` // zero where nobody deletes it
	Labels            map[string]string `json:"labels"`
}

// ObservedCondition is a condition of a custom object.
type ObservedCondition struct {
	Condition
	// ObservedGeneration is the generation that it is about; 0 where it does not
	// say.
	ObservedGeneration int64 `json:"observedGeneration"`
}

// Quantity is an amount as the object has it: "100", "1000Gi". The schema takes
// numbers too (x-kubernetes-int-or-string).
type Quantity string

// UnmarshalJSON takes a text or a number.
func (q *Quantity) UnmarshalJSON(raw []byte) error {
	if len(raw) > 0 && raw[0] == '"' {
		var text string
		if err := json.Unmarshal(raw, &text); err != nil {
			return err
		}
		*q = Quantity(text)
		return nil
	}
	var n json.Number
	if err := json.Unmarshal(raw, &n); err != nil {
		return err
	}
	*q = Quantity(n)
	return nil
}

// NodeClassRef names a class. The group tells whose it is: karpenter.k8s.aws or
// eks.amazonaws.com.
type NodeClassRef struct {
	Group string `json:"group"`
	Kind  string `json:"kind"`
	Name  string `json:"name"`
}

// NodePool is what is read of a karpenter.sh/v1 NodePool.
type NodePool struct {
	Metadata ObjectMeta `json:"metadata"`
	Spec     struct {
		Weight int                 `json:"weight"`
		Limits map[string]Quantity `json:"limits"`
		// Replicas is set for a static pool (kubernetes-sigs/karpenter pkg/apis/v1/nodepool.go).
		Replicas *int `json:"replicas"`
		Template struct {
			Metadata struct {
				Labels map[string]string `json:"labels"`
			} `json:"metadata"`
			Spec struct {
				NodeClassRef NodeClassRef  `json:"nodeClassRef"`
				Requirements []Requirement `json:"requirements"`
				Taints       []Taint       `json:"taints"`
			} `json:"spec"`
		} `json:"template"`
	} `json:"spec"`
	Status struct {
		// Resources are what its nodes have, those that are being launched among them.
		Resources  map[string]Quantity `json:"resources"`
		Conditions []ObservedCondition `json:"conditions"`
	} `json:"status"`
}

// NodeClaim is what is read of a karpenter.sh/v1 NodeClaim.
type NodeClaim struct {
	Metadata ObjectMeta `json:"metadata"`
	Spec     struct {
		NodeClassRef NodeClassRef `json:"nodeClassRef"`
	} `json:"spec"`
	Status struct {
		// ProviderID is empty until an instance is launched, NodeName until it registers.
		ProviderID string              `json:"providerID"`
		NodeName   string              `json:"nodeName"`
		Conditions []ObservedCondition `json:"conditions"`
	} `json:"status"`
}

// NodeClass is what is read of a karpenter.k8s.aws/v1 EC2NodeClass and of an
// eks.amazonaws.com/v1 NodeClass.
type NodeClass struct {
	Metadata ObjectMeta `json:"metadata"`
	Spec     struct {
		SubnetSelectorTerms        []SelectorTerm `json:"subnetSelectorTerms"`
		SecurityGroupSelectorTerms []SelectorTerm `json:"securityGroupSelectorTerms"`
		AMISelectorTerms           []SelectorTerm `json:"amiSelectorTerms"`
		Role                       string         `json:"role"`
		InstanceProfile            string         `json:"instanceProfile"`
		AMIFamily                  string         `json:"amiFamily"`
		UserData                   string         `json:"userData"`
		AssociatePublicIPAddress   *bool          `json:"associatePublicIPAddress"`
		MetadataOptions            struct {
			HTTPEndpoint            string `json:"httpEndpoint"`
			HTTPPutResponseHopLimit int    `json:"httpPutResponseHopLimit"`
			HTTPTokens              string `json:"httpTokens"`
		} `json:"metadataOptions"`
	} `json:"spec"`
	Status struct {
		// Subnets are those that the terms select (aws/karpenter-provider-aws
		// pkg/apis/v1/ec2nodeclass_status.go).
		Subnets []struct {
			ID   string `json:"id"`
			Zone string `json:"zone"`
		} `json:"subnets"`
		Conditions []ObservedCondition `json:"conditions"`
	} `json:"status"`
}

// SelectorTerm is one way to be selected: all that it names must hold.
type SelectorTerm struct {
	ID    string            `json:"id"`
	Name  string            `json:"name"`
	Alias string            `json:"alias"`
	Tags  map[string]string `json:"tags"`
	// SSMParameter is of an image alone.
	SSMParameter string `json:"ssmParameter"`
	Owner        string `json:"owner"`
}

// NodePools lists the NodePools; none where the cluster does not know the kind.
func (c *Client) NodePools(ctx context.Context) ([]NodePool, error) {
	return installed(list[NodePool](ctx, c, "nodepools", nodePoolsPath, nil, maxNodePools))
}

// NodeClaims lists the NodeClaims; none where the cluster does not know the kind.
func (c *Client) NodeClaims(ctx context.Context) ([]NodeClaim, error) {
	return installed(list[NodeClaim](ctx, c, "nodeclaims", nodeClaimsPath, nil, maxNodeClaims))
}

// EC2NodeClasses lists Karpenter's classes; none where the cluster does not know
// the kind.
func (c *Client) EC2NodeClasses(ctx context.Context) ([]NodeClass, error) {
	return installed(list[NodeClass](ctx, c, "ec2nodeclasses", ec2NodeClassesPath, nil, maxNodeClasses))
}

// AutoNodeClasses lists EKS Auto Mode's classes; none where the cluster does not
// know the kind.
func (c *Client) AutoNodeClasses(ctx context.Context) ([]NodeClass, error) {
	return installed(list[NodeClass](ctx, c, "nodeclasses", autoNodeClassesPath, nil, maxNodeClasses))
}

// installed makes an empty list of the answer that the cluster does not have the
// kind.
func installed[T any](all []T, err error) ([]T, error) {
	var s *StatusError
	if errors.As(err, &s) && s.Code == http.StatusNotFound {
		return nil, nil
	}
	return all, err
}
