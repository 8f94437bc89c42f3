package world

import (
	"errors"
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
			k := &cluster{objects: map[string][]map[string]any{"daemonsets": {
				{"metadata": map[string]any{"name": "kube-proxy"}},
				{"metadata": map[string]any{"name": "aws-node"}, "spec": map[string]any{"template": map[string]any{"spec": map[string]any{
					"containers": []any{map[string]any{"name": "aws-eks-nodeagent"}, map[string]any{"name": "aws-node", "env": env}},
				}}}},
			}}}
			if diff := cmp.Diff(k.cniSettings().wants(tt.interfaces, tt.per), tt.want); diff != "" {
				t.Errorf("wants (-got +want):\n%s", diff)
			}
		})
	}
}

func TestKarpenterIsThereWithItsDefinitions(t *testing.T) {
	f, err := Load("../../worlds/ips.yaml")
	if err != nil {
		t.Fatal(err)
	}
	plain := f.Kubernetes["eks-workshop"]
	for plural, put := range map[string]func(k *KubernetesFile, list []map[string]any){
		"nodepools":      func(k *KubernetesFile, list []map[string]any) { k.NodePools = list },
		"nodeclaims":     func(k *KubernetesFile, list []map[string]any) { k.NodeClaims = list },
		"ec2nodeclasses": func(k *KubernetesFile, list []map[string]any) { k.EC2NodeClasses = list },
		"nodeclasses":    func(k *KubernetesFile, list []map[string]any) { k.NodeClasses = list },
	} {
		for name, list := range map[string][]map[string]any{"not installed": nil, "none": {}, "one": {{"metadata": map[string]any{"name": "default"}}}} {
			k := plain
			put(&k, list)
			f.Kubernetes["eks-workshop"] = k
			w, err := New(f, Options{})
			if err != nil {
				t.Fatal(err)
			}
			o, err := w.Kubernetes("eks-workshop", plural)
			if (list == nil) != errors.Is(err, ErrNoKind) || list != nil && err != nil || len(o.Items) != len(list) {
				t.Errorf("%s, %s: %d objects, %v", plural, name, len(o.Items), err)
			}
		}
	}
}

func TestENIConfigsAreThereWithTheirDefinition(t *testing.T) {
	f, err := Load("../../worlds/ips.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, installed := range []bool{false, true} {
		if installed {
			k := f.Kubernetes["eks-workshop"]
			k.ENIConfigs = []map[string]any{{"metadata": map[string]any{"name": "us-west-2a"}, "spec": map[string]any{"subnet": "subnet-0e5000000000025aa"}}}
			f.Kubernetes["eks-workshop"] = k
		}
		w, err := New(f, Options{})
		if err != nil {
			t.Fatal(err)
		}
		o, err := w.Kubernetes("eks-workshop", "eniconfigs")
		if installed != (err == nil) || !installed && !errors.Is(err, ErrNoKind) || installed != (len(o.Items) == 1) {
			t.Errorf("installed %t: %d objects, %v", installed, len(o.Items), err)
		}
	}
}
