package simaws

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/eks"
	ekstypes "github.com/aws/aws-sdk-go-v2/service/eks/types"

	"rollcall/local/platform/wire"
	"rollcall/local/simaws/kubeapi"
)

// worldOfMode is a world whose cluster has an authentication mode.
type worldOfMode struct {
	smallWorld
	mode ekstypes.AuthenticationMode
}

func (w worldOfMode) DescribeCluster(in *eks.DescribeClusterInput) (*eks.DescribeClusterOutput, error) {
	out, err := w.smallWorld.DescribeCluster(in)
	if err == nil {
		out.Cluster.AccessConfig = &ekstypes.AccessConfigResponse{AuthenticationMode: w.mode}
	}
	return out, err
}

func (w worldOfMode) DescribeAccessEntry(in *eks.DescribeAccessEntryInput) (*eks.DescribeAccessEntryOutput, error) {
	if w.mode == ekstypes.AuthenticationModeConfigMap {
		return nil, &wire.Error{Code: "InvalidRequestException", Status: 400, Message: "The cluster's authentication mode must be set to one of [API, API_AND_CONFIG_MAP] to perform this operation."}
	}
	return w.smallWorld.DescribeAccessEntry(in)
}

// TestOtherKeysOfAWSAuth: a role's ARN in mapUsers counts, after mapRoles; its
// account in mapAccounts makes it known, and no more; a key in another case is none.
func TestOtherKeysOfAWSAuth(t *testing.T) {
	const (
		role = "arn:aws:iam::123456789012:role/join-check"
		user = "- userarn: " + role + "\n  groups: [rollcall]\n"
	)
	for name, tt := range map[string]struct {
		data map[string]string
		code int
	}{
		"mapUsers":                  {map[string]string{"mapUsers": user}, 200},
		"mapUsers, as a role":       {map[string]string{"mapUsers": "- rolearn: " + role + "\n  groups: [rollcall]\n"}, 401},
		"mapRoles counts":           {map[string]string{"mapUsers": user, "mapRoles": "- rolearn: " + role + "\n"}, 403},
		"mapAccounts":               {map[string]string{"mapAccounts": "- \"123456789012\"\n"}, 403},
		"mapAccounts, another":      {map[string]string{"mapAccounts": "- \"210987654321\"\n"}, 401},
		"a key in another case":     {map[string]string{"maproles": "- rolearn: " + role + "\n  groups: [rollcall]\n"}, 401},
		"mapRoles, quoted to empty": {map[string]string{"mapRoles": "''", "mapUsers": user}, 200},
	} {
		t.Run(name, func(t *testing.T) {
			c := start(t, func(cfg *Config) {
				cfg.World, cfg.Clusters = worldOfMode{smallWorld{}, ekstypes.AuthenticationModeConfigMap}, []string{"prod"}
				cfg.Groups = map[string][]kubeapi.Rule{"rollcall": {{Groups: []string{""}, Resources: []string{"nodes"}, Verbs: []string{"list"}}}}
				cfg.Objects = func(_, plural string) ([]json.RawMessage, string, error) {
					if plural != "configmaps" {
						return nil, "7", nil
					}
					raw, err := json.Marshal(map[string]any{"metadata": map[string]any{"name": "aws-auth", "namespace": "kube-system"}, "data": tt.data})
					return []json.RawMessage{raw}, "7", err
				}
			})
			if code, body := c.nodes(t, RoleIdentity(testAccount, "join-check"), "prod", "prod"); code != tt.code {
				t.Errorf("status = %d %s, want %d", code, body, tt.code)
			}
		})
	}
}

// Who is let in depends on the cluster's authentication mode: an entry is
// nothing to a cluster of mode CONFIG_MAP, and aws-auth nothing to one of API.
func TestAuthenticationModes(t *testing.T) {
	const (
		role  = "arn:aws:iam::123456789012:role/join-check"
		lines = "- rolearn: " + role + "\n  username: rollcall\n  groups:\n  - rollcall\n"
		path  = "- rolearn: arn:aws:iam::123456789012:role/ops/join-check\n  groups: [rollcall]\n"
	)
	entry := map[string][]string{"prod " + role: {"rollcall"}}
	powerless := map[string][]string{"prod " + role: nil}
	both, configMap, api := ekstypes.AuthenticationModeApiAndConfigMap, ekstypes.AuthenticationModeConfigMap, ekstypes.AuthenticationModeApi
	for _, tt := range []struct {
		name     string
		mode     ekstypes.AuthenticationMode
		entries  map[string][]string
		mapRoles string
		code     int
	}{
		{"CONFIG_MAP, mapped", configMap, nil, lines, 200},
		{"CONFIG_MAP, an entry alone", configMap, entry, "", 401},
		{"CONFIG_MAP, mapped with the path", configMap, nil, path, 401},
		{"CONFIG_MAP, mapped to another group", configMap, nil, "- rolearn: " + role + "\n  groups: [others]\n", 403},
		{"CONFIG_MAP, not a list", configMap, nil, "rolearn: x", 401},
		{"API, mapped alone", api, nil, lines, 401},
		{"API, entry", api, entry, "", 200},
		{"both, mapped alone", both, nil, lines, 200},
		{"both, entry alone", both, entry, "", 200},
		{"both, the entry counts", both, powerless, lines, 403},
		{"both, neither", both, nil, "", 401},
		// As the authenticator's own tests and ParseMap have it.
		{"keys in any case", configMap, nil, "- RoLeArN: " + strings.ToUpper(role) + "\n  GROUPS: [rollcall]\n", 200},
		{"the last of two", configMap, nil, lines + "- rolearn: " + strings.ToUpper(role) + "\n  groups: [others]\n", 403},
		{"the last of two, turned round", configMap, nil, "- rolearn: " + role + "\n  groups: [others]\n" + lines, 200},
		{"wrong entries beside it", configMap, nil, "- a text\n- rolearn: x\n  groups: others\n- username: y\n" + lines, 200},
		{"groups as one text", configMap, nil, "- rolearn: " + role + "\n  groups: rollcall\n", 403},
		{"a tab", configMap, nil, "- rolearn: " + role + "\n\tgroups: [rollcall]\n", 401},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := start(t, func(cfg *Config) {
				cfg.World, cfg.Clusters = worldOfMode{smallWorld{groups: tt.entries}, tt.mode}, []string{"prod"}
				cfg.Groups = map[string][]kubeapi.Rule{"rollcall": {{Groups: []string{""}, Resources: []string{"nodes"}, Verbs: []string{"list"}}}}
				cfg.Objects = func(_, plural string) ([]json.RawMessage, string, error) {
					if plural != "configmaps" {
						return nil, "7", nil
					}
					object := map[string]any{"metadata": map[string]any{"name": "aws-auth", "namespace": "kube-system"}, "data": map[string]string{"mapRoles": tt.mapRoles}}
					raw, err := json.Marshal(object)
					return []json.RawMessage{raw}, "7", err
				}
			})
			if code, body := c.nodes(t, RoleIdentity(testAccount, "join-check"), "prod", "prod"); code != tt.code {
				t.Errorf("status = %d %s, want %d", code, body, tt.code)
			}
		})
	}
}
