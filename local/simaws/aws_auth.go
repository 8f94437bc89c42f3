package simaws

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/eks"
	ekstypes "github.com/aws/aws-sdk-go-v2/service/eks/types"
	"go.yaml.in/yaml/v3"

	"rollcall/local/platform/wire"
	"rollcall/local/simaws/kubeapi"
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
		rules, err := accessRules(c.cfg.World, c.cfg.EntryAdmits, cluster, principal, c.cfg.Groups)
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

// mappedRules are the rules of the groups that aws-auth puts a role in, as EKS's
// authenticator reads it (kubernetes-sigs/aws-iam-authenticator, commit 81b1dab:
// pkg/mapper/configmap/mapper.go and configmap.go, pkg/arn/arn.go,
// pkg/server/server.go). What is looked up is the ARN that STS names, in which the
// role has no path. mapRoles comes before mapUsers, which may name a role's ARN
// too; whom neither names, but whose account stands in mapAccounts, is known and
// in no group.
func (c *Cloud) mappedRules(cluster, role string) ([]kubeapi.Rule, error) {
	items, _, err := c.cfg.Objects(cluster, "configmaps")
	if err != nil {
		return nil, fmt.Errorf("config maps of %s: %w", cluster, err)
	}
	for _, item := range items {
		var object struct {
			Metadata struct{ Name, Namespace string }
			Data     map[string]string // its keys count as they are written
		}
		if err := json.Unmarshal(item, &object); err != nil || object.Metadata.Name != "aws-auth" || object.Metadata.Namespace != "kube-system" {
			continue
		}
		principal := withoutPath(role)
		for _, list := range [][]mapping{mappings(object.Data["mapRoles"], mapping.role), mappings(object.Data["mapUsers"], mapping.user)} {
			// Of two for the same, the last one counts: saveMap keeps them by their ARN.
			for _, m := range slices.Backward(list) {
				if strings.EqualFold(m.arn, principal) {
					var rules []kubeapi.Rule
					for _, g := range m.Groups {
						rules = append(rules, c.cfg.Groups[g]...)
					}
					return rules, nil
				}
			}
		}
		var accounts []string
		if err := yaml.Unmarshal([]byte(object.Data["mapAccounts"]), &accounts); err == nil && slices.Contains(accounts, c.cfg.Account) {
			return nil, nil
		}
	}
	return nil, errNotMapped
}

// mapping is an entry of mapRoles or mapUsers. Its keys count in any case, as the
// authenticator reads the YAML as JSON.
type mapping struct {
	RoleARN string `json:"rolearn"`
	UserARN string `json:"userarn"`
	Groups  []string
	arn     string
}

func (m mapping) role() string { return m.RoleARN }
func (m mapping) user() string { return m.UserARN }

// mappings are the entries that have an ARN. What is no YAML has none; an entry of
// which a part is wrong keeps the others (ParseMap, "only saving data that was good").
func mappings(text string, arn func(mapping) string) (list []mapping) {
	var document any
	if err := yaml.Unmarshal([]byte(text), &document); err != nil {
		return nil
	}
	body, err := json.Marshal(document)
	if err != nil {
		return nil
	}
	// A wrong type is an error of encoding/json's only after it has read the rest.
	_ = json.Unmarshal(body, &list)
	for i := range list {
		list[i].arn = arn(list[i])
	}
	return slices.DeleteFunc(list, func(m mapping) bool { return m.arn == "" })
}

// withoutPath is a role's ARN as the authenticator sees it: that of a session
// holds the role's name alone.
func withoutPath(role string) string {
	account, path, _ := strings.Cut(role, ":role/")
	return account + ":role/" + path[strings.LastIndex(path, "/")+1:]
}
