package cloud

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/eks"
	ekstypes "github.com/aws/aws-sdk-go-v2/service/eks/types"
	"go.yaml.in/yaml/v3"

	"rollcall/local/cloud/kubeapi"
	"rollcall/local/wire"
)

// rulesOf are a principal's rules in a cluster. Which of the two lists is asked
// is the cluster's authentication mode (EKS user guide, "Set Cluster
// Authentication Mode"): CONFIG_MAP has aws-auth alone, API access entries
// alone, API_AND_CONFIG_MAP both, and an access entry is what counts where both
// name a principal.
func (c *Cloud) rulesOf(cluster, principal string) ([]kubeapi.Rule, error) {
	out, err := c.cfg.World.DescribeCluster(&eks.DescribeClusterInput{Name: &cluster})
	if err != nil {
		return nil, fmt.Errorf("describe cluster %s: %w", cluster, err)
	}
	var mode ekstypes.AuthenticationMode
	if a := out.Cluster.AccessConfig; a != nil {
		mode = a.AuthenticationMode
	}
	if mode != ekstypes.AuthenticationModeConfigMap {
		rules, err := accessRules(c.cfg.World, cluster, principal, c.cfg.Groups)
		var refused *wire.Error
		unknown := errors.As(err, &refused) && refused.Code == "ResourceNotFoundException"
		if !unknown || mode != ekstypes.AuthenticationModeApiAndConfigMap {
			return rules, err
		}
	}
	return c.mappedRules(cluster, principal)
}

// errNotMapped tells that aws-auth does not name a principal.
var errNotMapped = errors.New("aws-auth does not map the principal")

// mappedRules are the rules of the groups that aws-auth puts a role in. The
// role's ARN must be there without its path (aws-iam-authenticator,
// pkg/arn.Canonicalize); capitals do not count (pkg/mapper/configmap).
func (c *Cloud) mappedRules(cluster, role string) ([]kubeapi.Rule, error) {
	items, _, err := c.cfg.Objects(cluster, "configmaps")
	if err != nil {
		return nil, fmt.Errorf("config maps of %s: %w", cluster, err)
	}
	for _, item := range items {
		var object struct {
			Metadata struct{ Name, Namespace string }
			Data     struct {
				MapRoles string `json:"mapRoles"`
			}
		}
		if err := json.Unmarshal(item, &object); err != nil || object.Metadata.Name != "aws-auth" || object.Metadata.Namespace != "kube-system" {
			continue
		}
		var mapped []struct {
			RoleARN string `yaml:"rolearn"`
			Groups  []string
		}
		if err := yaml.Unmarshal([]byte(object.Data.MapRoles), &mapped); err != nil {
			return nil, fmt.Errorf("mapRoles of aws-auth in %s: %w", cluster, err)
		}
		for _, m := range mapped {
			if strings.EqualFold(m.RoleARN, withoutPath(role)) {
				var rules []kubeapi.Rule
				for _, g := range m.Groups {
					rules = append(rules, c.cfg.Groups[g]...)
				}
				return rules, nil
			}
		}
	}
	return nil, errNotMapped
}

// withoutPath is a role's ARN as the authenticator sees it: that of a session
// holds the role's name alone.
func withoutPath(role string) string {
	account, path, _ := strings.Cut(role, ":role/")
	return account + ":role/" + path[strings.LastIndex(path, "/")+1:]
}
