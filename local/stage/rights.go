package stage

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/aws/aws-sdk-go-v2/service/eks"
	ekstypes "github.com/aws/aws-sdk-go-v2/service/eks/types"
	"go.yaml.in/yaml/v3"

	"rollcall/local/platform/template"
	"rollcall/local/platform/wire"
	"rollcall/local/simaws/kubeapi"
	"rollcall/local/simaws/world"
)

// manifestObject is what is read of an object of a manifest of rights.
type manifestObject struct {
	Kind     string
	Metadata struct{ Namespace string }
	Rules    []struct {
		APIGroups     []string `yaml:"apiGroups"`
		Resources     []string
		Verbs         []string
		ResourceNames []string `yaml:"resourceNames"`
	}
	Subjects []struct{ Kind, Name string }
}

// rights reads a manifest that gives one Kubernetes group its rights, as
// kubectl apply would. All roles of such a manifest are that group's.
func (o Options) rights() (group string, rules []kubeapi.Rule, err error) {
	path := o.Rights
	manifest, err := o.read(path)
	if err != nil {
		return "", nil, fmt.Errorf("read the Kubernetes rights: %w", err)
	}
	for objects := yaml.NewDecoder(bytes.NewReader(manifest)); ; {
		var o manifestObject
		if err := objects.Decode(&o); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return "", nil, fmt.Errorf("read the Kubernetes rights in %s: %w", path, err)
		}
		for _, r := range o.Rules {
			rule := kubeapi.Rule{Groups: r.APIGroups, Resources: r.Resources, Verbs: r.Verbs, Names: r.ResourceNames}
			if o.Metadata.Namespace != "" {
				rule.Namespaces = []string{o.Metadata.Namespace}
			}
			rules = append(rules, rule)
		}
		for _, s := range o.Subjects {
			if s.Kind != "Group" || group != "" && s.Name != group {
				return "", nil, fmt.Errorf("the Kubernetes rights in %s are not one group's: %s %s", path, s.Kind, s.Name)
			}
			group = s.Name
		}
	}
	if group == "" || len(rules) == 0 {
		return "", nil, fmt.Errorf("the Kubernetes rights in %s are nobody's, or none", path)
	}
	return group, rules, nil
}

// readers are the access policies that the deployment's documented command
// (and its switch kubernetesAccess=policy) gives the reader in each cluster.
func readers() []eks.AssociateAccessPolicyInput {
	policy := func(name string, scope ekstypes.AccessScope) eks.AssociateAccessPolicyInput {
		arn := "arn:aws:eks::aws:cluster-access-policy/" + name
		return eks.AssociateAccessPolicyInput{PolicyArn: &arn, AccessScope: &scope}
	}
	return []eks.AssociateAccessPolicyInput{
		policy("AmazonAIOpsAssistantPolicy", ekstypes.AccessScope{Type: ekstypes.AccessScopeTypeCluster}),
		policy("AmazonEKSViewPolicy", ekstypes.AccessScope{Type: ekstypes.AccessScopeTypeNamespace, Namespaces: []string{"kube-system"}}),
	}
}

// admit does in every cluster what an operator does once: the stack's
// KubernetesAccessCommand. It is with the access policies where there is no
// group. A cluster in authentication mode CONFIG_MAP takes no access entries:
// what the stack's AwsAuthRoles says is in the world's aws-auth, or it is not.
func (s *Stage) admit(t *template.Template, w world.API, group string) error {
	for _, role := range admittedRoles(t) {
		for _, cluster := range s.World.Clusters() {
			if out, err := w.DescribeCluster(&eks.DescribeClusterInput{Name: &cluster}); err == nil && out.Cluster.AccessConfig != nil &&
				out.Cluster.AccessConfig.AuthenticationMode == ekstypes.AuthenticationModeConfigMap {
				continue
			}
			var conflict *wire.Error
			err := admitTo(w, cluster, role, group)
			if errors.As(err, &conflict) && conflict.Code == "ResourceInUseException" {
				continue // let in by an earlier deployment
			}
			if err != nil {
				return fmt.Errorf("admit %s to cluster %s: %w", role, cluster, err)
			}
		}
	}
	return nil
}

func admitTo(w world.API, cluster, role, group string) error {
	entry := &eks.CreateAccessEntryInput{ClusterName: &cluster, PrincipalArn: &role}
	if group != "" {
		entry.KubernetesGroups = []string{group}
	}
	if _, err := w.CreateAccessEntry(entry); err != nil || group != "" {
		return err
	}
	for _, in := range readers() {
		in.ClusterName, in.PrincipalArn = &cluster, &role
		if _, err := w.AssociateAccessPolicy(&in); err != nil {
			return err
		}
	}
	return nil
}

// read reads one of the repository's files.
func (o Options) read(path string) ([]byte, error) {
	if o.Files != nil {
		return fs.ReadFile(o.Files, path)
	}
	return os.ReadFile(path)
}
