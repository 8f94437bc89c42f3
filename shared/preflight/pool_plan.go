package preflight

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"rollcall/shared/snapshot"
)

// PoolsPlan is NodePools with their classes, as kubectl applies them.
type PoolsPlan struct {
	pools   []nodePool
	classes []nodeClass
}

// The groups and kinds of the manifests (kubernetes-sigs/karpenter and
// aws/karpenter-provider-aws pkg/apis/crds, v1 of both; EKS user guide, "Create a
// Node Class").
const (
	poolGroup, poolKind = "karpenter.sh", "NodePool"
	karpenterKind       = "EC2NodeClass"
	autoKind            = "NodeClass"
)

type objectMeta struct {
	Name string `json:"name"`
}

// nodePool has the fields of karpenter.sh_nodepools.yaml; what no rule asks for is
// not looked into.
type nodePool struct {
	APIVersion string     `json:"apiVersion"`
	Kind       string     `json:"kind"`
	Metadata   objectMeta `json:"metadata"`
	Spec       struct {
		Template struct {
			Metadata struct {
				Labels      map[string]string `json:"labels"`
				Annotations any               `json:"annotations"`
			} `json:"metadata"`
			Spec struct {
				NodeClassRef struct {
					Group string `json:"group"`
					Kind  string `json:"kind"`
					Name  string `json:"name"`
				} `json:"nodeClassRef"`
				Requirements []struct {
					Key       string   `json:"key"`
					Operator  string   `json:"operator"`
					Values    []string `json:"values"`
					MinValues any      `json:"minValues"`
				} `json:"requirements"`
				Taints                 []manifestTaint `json:"taints"`
				StartupTaints          any             `json:"startupTaints"`
				ExpireAfter            any             `json:"expireAfter"`
				TerminationGracePeriod any             `json:"terminationGracePeriod"`
			} `json:"spec"`
		} `json:"template"`
		Disruption any `json:"disruption"`
		Limits     any `json:"limits"`
		Replicas   any `json:"replicas"`
		Weight     any `json:"weight"`
	} `json:"spec"`
	Status any `json:"status"`
}

type manifestTaint struct {
	Key       string `json:"key"`
	Value     string `json:"value"`
	Effect    string `json:"effect"`
	TimeAdded any    `json:"timeAdded"`
}

// nodeClass has the fields of karpenter.k8s.aws_ec2nodeclasses.yaml, and those of
// EKS Auto Mode's NodeClass, which has some of them and some of its own.
type nodeClass struct {
	APIVersion string     `json:"apiVersion"`
	Kind       string     `json:"kind"`
	Metadata   objectMeta `json:"metadata"`
	Spec       struct {
		AMIFamily                  string            `json:"amiFamily"`
		AMISelectorTerms           []selector        `json:"amiSelectorTerms"`
		SubnetSelectorTerms        []selector        `json:"subnetSelectorTerms"`
		SecurityGroupSelectorTerms []selector        `json:"securityGroupSelectorTerms"`
		Role                       string            `json:"role"`
		InstanceProfile            string            `json:"instanceProfile"`
		UserData                   string            `json:"userData"`
		Tags                       map[string]string `json:"tags"`
		AssociatePublicIPAddress   *bool             `json:"associatePublicIPAddress"`
		MetadataOptions            *struct {
			HTTPEndpoint            string `json:"httpEndpoint"`
			HTTPProtocolIPv6        string `json:"httpProtocolIPv6"`
			HTTPPutResponseHopLimit *int   `json:"httpPutResponseHopLimit"`
			HTTPTokens              string `json:"httpTokens"`
		} `json:"metadataOptions"`
		Kubelet                          any `json:"kubelet"`
		BlockDeviceMappings              any `json:"blockDeviceMappings"`
		CapacityReservationSelectorTerms any `json:"capacityReservationSelectorTerms"`
		ConnectionTracking               any `json:"connectionTracking"`
		Context                          any `json:"context"`
		CPUOptions                       any `json:"cpuOptions"`
		DetailedMonitoring               any `json:"detailedMonitoring"`
		InstanceStorePolicy              any `json:"instanceStorePolicy"`
		IPPrefixCount                    any `json:"ipPrefixCount"`
		NetworkInterfaces                any `json:"networkInterfaces"`
		PlacementGroupSelector           any `json:"placementGroupSelector"`
		// EKS Auto Mode's own.
		PodSubnetSelectorTerms        any `json:"podSubnetSelectorTerms"`
		PodSecurityGroupSelectorTerms any `json:"podSecurityGroupSelectorTerms"`
		NetworkPolicy                 any `json:"networkPolicy"`
		NetworkPolicyEventLogs        any `json:"networkPolicyEventLogs"`
		SNATPolicy                    any `json:"snatPolicy"`
		EphemeralStorage              any `json:"ephemeralStorage"`
		CertificateBundles            any `json:"certificateBundles"`
		AdvancedNetworking            any `json:"advancedNetworking"`
		AdvancedSecurity              any `json:"advancedSecurity"`
	} `json:"spec"`
	Status any `json:"status"`
}

type selector struct {
	ID           string            `json:"id"`
	Name         string            `json:"name"`
	Alias        string            `json:"alias"`
	Owner        string            `json:"owner"`
	SSMParameter string            `json:"ssmParameter"`
	Tags         map[string]string `json:"tags"`
}

// parseManifests reads YAML or JSON of Kubernetes: documents, and lists of them.
func parseManifests(data []byte) (Plan, error) {
	p := &PoolsPlan{}
	d := yaml.NewDecoder(bytes.NewReader(data))
	for {
		var doc any
		err := d.Decode(&doc)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return Plan{}, misunderstood("", "it is not YAML: %s", oneLine(err))
		}
		if err := p.add(doc); err != nil {
			return Plan{}, err
		}
	}
	if len(p.pools) == 0 {
		if len(p.classes) > 0 {
			return Plan{}, misunderstood("", "it holds a class and no NodePool: a class alone launches nothing; put the NodePool that names it into the file")
		}
		return Plan{}, misunderstood("", "it is none of what can be judged before it is made: %s", whatFits)
	}
	var names []string
	for _, pool := range p.pools {
		if err := pool.whole(); err != nil {
			return Plan{}, err
		}
		if slices.Contains(names, pool.Metadata.Name) {
			return Plan{}, misunderstood("metadata.name", "the file holds the NodePool %s twice: keep one", pool.Metadata.Name)
		}
		names = append(names, pool.Metadata.Name)
	}
	return Plan{Kind: NodePool, Name: strings.Join(names, ", "), Pools: p}, nil
}

// oneLine is the first line of what the parser says.
func oneLine(err error) string {
	text, _, _ := strings.Cut(strings.TrimPrefix(err.Error(), "yaml: "), "\n")
	return text
}

// add takes one document: a NodePool, a class, a list of them, or nothing.
func (p *PoolsPlan) add(doc any) error {
	tree, ok := doc.(map[string]any)
	if doc == nil {
		return nil // what stands between two "---"
	}
	if !ok {
		return misunderstood("", "it is none of what can be judged before it is made: %s", whatFits)
	}
	version, _ := tree["apiVersion"].(string)
	kind, _ := tree["kind"].(string)
	group, number, _ := strings.Cut(version, "/")
	if kind == "List" || kind == poolKind+"List" || kind == karpenterKind+"List" || kind == autoKind+"List" {
		items, _ := tree["items"].([]any)
		for _, item := range items {
			if err := p.add(item); err != nil {
				return err
			}
		}
		return nil
	}
	named := group == poolGroup && kind == poolKind || group == snapshot.KarpenterGroup && kind == karpenterKind || group == snapshot.AutoModeGroup && kind == autoKind
	switch {
	case kind == "" || version == "":
		return misunderstood("", "it is none of what can be judged before it is made: %s", whatFits)
	case !named && len(p.pools)+len(p.classes) > 0:
		return misunderstood("kind", "it holds a %s of %s beside NodePools: take it out, only NodePools and their classes are judged", kind, version)
	case !named:
		return misunderstood("kind", "%s of %s is none of what can be judged before it is made: %s", kind, version, whatFits)
	case number != "v1":
		return misunderstood("apiVersion", "%s is not understood: write the %s as %s/v1 (Karpenter 1.0 and later)", version, kind, group)
	}
	data, err := json.Marshal(tree)
	if err != nil {
		return misunderstood("", "it is no manifest: %s", oneLine(err))
	}
	// Fields of metadata are Kubernetes' own.
	if meta, ok := tree["metadata"].(map[string]any); ok {
		tree["metadata"] = map[string]any{"name": meta["name"]}
	}
	if kind == poolKind {
		var pool nodePool
		if err := strict(data, tree, &pool, poolKind); err != nil {
			return err
		}
		p.pools = append(p.pools, pool)
		return nil
	}
	var class nodeClass
	if err := strict(data, tree, &class, kind); err != nil {
		return err
	}
	if class.Metadata.Name == "" {
		return misunderstood("metadata.name", "a %s must have a name", kind)
	}
	p.classes = append(p.classes, class)
	return nil
}

// whole tells what the schema requires of a NodePool.
func (n nodePool) whole() error {
	ref := n.Spec.Template.Spec.NodeClassRef
	const at = "spec.template.spec.nodeClassRef"
	switch {
	case n.Metadata.Name == "":
		return misunderstood("metadata.name", "a NodePool must have a name")
	case ref.Name == "" || ref.Kind == "" || ref.Group == "":
		return misunderstood(at, "the NodePool %s must name group, kind and name of its class", n.Metadata.Name)
	case ref.Group == snapshot.KarpenterGroup && ref.Kind == karpenterKind, ref.Group == snapshot.AutoModeGroup && ref.Kind == autoKind:
	default:
		return misunderstood(at, "the NodePool %s names a %s of %s: want %s of %s, or %s of %s", n.Metadata.Name, ref.Kind, ref.Group,
			karpenterKind, snapshot.KarpenterGroup, autoKind, snapshot.AutoModeGroup)
	}
	for i, r := range n.Spec.Template.Spec.Requirements {
		if !slices.Contains([]string{"In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt", "Gte", "Lte"}, r.Operator) {
			return misunderstood(fmt.Sprintf("spec.template.spec.requirements[%d].operator", i), "%q is no operator: write In, NotIn, Exists, DoesNotExist, Gt, Lt, Gte or Lte", r.Operator)
		}
	}
	return nil
}

// observed is a planned NodePool as it would be read.
func (n nodePool) observed() snapshot.NodePool {
	t := n.Spec.Template
	p := snapshot.NodePool{
		Name: n.Metadata.Name, Generation: 1, Labels: t.Metadata.Labels,
		Class: snapshot.ClassRef{Group: t.Spec.NodeClassRef.Group, Kind: t.Spec.NodeClassRef.Kind, Name: t.Spec.NodeClassRef.Name},
	}
	for _, r := range t.Spec.Requirements {
		p.Requirements = append(p.Requirements, snapshot.Requirement{Key: r.Key, Operator: r.Operator, Values: r.Values})
	}
	for _, t := range t.Spec.Taints {
		p.Taints = append(p.Taints, snapshot.Taint{Key: t.Key, Value: t.Value, Effect: t.Effect})
	}
	return p
}

// group is the API group of a class.
func (n nodeClass) group() string {
	group, _, _ := strings.Cut(n.APIVersion, "/")
	return group
}

// observed is a planned class as it would be read.
func (n nodeClass) observed() snapshot.NodeClass {
	s := n.Spec
	c := snapshot.NodeClass{
		Name: n.Metadata.Name, Generation: 1, Subnets: terms(s.SubnetSelectorTerms), Groups: terms(s.SecurityGroupSelectorTerms), Images: terms(s.AMISelectorTerms),
		Role: s.Role, Profile: s.InstanceProfile, Family: s.AMIFamily, UserData: s.UserData,
	}
	if s.AssociatePublicIPAddress != nil {
		c.PublicIP = fmt.Sprint(*s.AssociatePublicIPAddress)
	}
	if m := s.MetadataOptions; m != nil {
		c.Metadata = snapshot.Metadata{Endpoint: m.HTTPEndpoint, Tokens: m.HTTPTokens, HopLimit: or(m.HTTPPutResponseHopLimit, 0)}
	}
	return c
}

func terms(list []selector) []snapshot.SelectorTerm {
	var out []snapshot.SelectorTerm
	for _, t := range list {
		out = append(out, snapshot.SelectorTerm{ID: t.ID, Name: t.Name, Alias: t.Alias, SSMParameter: t.SSMParameter, Owner: t.Owner, Tags: t.Tags})
	}
	return out
}
