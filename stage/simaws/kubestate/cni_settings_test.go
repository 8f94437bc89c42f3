package kubestate

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestCNIWants(t *testing.T) {
	tests := []struct {
		name            string
		env             map[string]string
		interfaces, per int
		want            []int
	}{
		{"defaults: two whole interfaces", nil, 8, 30, []int{29, 29}},
		{"no warm interface", map[string]string{"WARM_ENI_TARGET": "0"}, 8, 30, []int{29}},
		{"two warm interfaces", map[string]string{"WARM_ENI_TARGET": "2"}, 8, 30, []int{29, 29, 29}},
		{"more than the type has", map[string]string{"WARM_ENI_TARGET": "3"}, 3, 6, []int{5, 5, 5}},
		{"warm addresses", map[string]string{"WARM_IP_TARGET": "5"}, 8, 30, []int{6}},
		{"warm addresses and a minimum", map[string]string{"WARM_IP_TARGET": "2", "MINIMUM_IP_TARGET": "20"}, 8, 30, []int{20}},
		{"a minimum beyond one interface", map[string]string{"MINIMUM_IP_TARGET": "40"}, 8, 30, []int{29, 11}},
		{"prefixes: one in use, one warm", map[string]string{"ENABLE_PREFIX_DELEGATION": "true"}, 8, 30, []int{2}},
		{"prefixes by addresses", map[string]string{"ENABLE_PREFIX_DELEGATION": "true", "WARM_IP_TARGET": "5", "MINIMUM_IP_TARGET": "33"}, 8, 30, []int{3}},
		{"nonsense is the default", map[string]string{"WARM_ENI_TARGET": "-1", "WARM_IP_TARGET": "many"}, 8, 30, []int{29, 29}},
		{"one interface", nil, 1, 10, []int{9}},
		{"one address", nil, 2, 1, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var env []any
			for name, value := range tt.env {
				env = append(env, map[string]any{"name": name, "value": value})
			}
			k := &Cluster{Objects: map[string][]map[string]any{"daemonsets": {
				{"metadata": map[string]any{"name": "kube-proxy"}},
				{"metadata": map[string]any{"name": "aws-node"}, "spec": map[string]any{"template": map[string]any{"spec": map[string]any{
					"containers": []any{map[string]any{"name": "aws-eks-nodeagent"}, map[string]any{"name": "aws-node", "env": env}},
				}}}},
			}}}
			if diff := cmp.Diff(k.CNISettings().Wants(tt.interfaces, tt.per), tt.want); diff != "" {
				t.Errorf("wants (-got +want):\n%s", diff)
			}
		})
	}
}
