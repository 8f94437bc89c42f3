package world

import (
	"errors"
	"testing"

	"rollcall/local/simaws/kubestate"
	"rollcall/local/simaws/worldfile"
)

func TestKarpenterIsThereWithItsDefinitions(t *testing.T) {
	f, err := worldfile.Load("../../worlds/ips.yaml")
	if err != nil {
		t.Fatal(err)
	}
	plain := f.Kubernetes["eks-workshop"]
	for plural, put := range map[string]func(k *worldfile.KubernetesFile, list []map[string]any){
		"nodepools":      func(k *worldfile.KubernetesFile, list []map[string]any) { k.NodePools = list },
		"nodeclaims":     func(k *worldfile.KubernetesFile, list []map[string]any) { k.NodeClaims = list },
		"ec2nodeclasses": func(k *worldfile.KubernetesFile, list []map[string]any) { k.EC2NodeClasses = list },
		"nodeclasses":    func(k *worldfile.KubernetesFile, list []map[string]any) { k.NodeClasses = list },
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
			if (list == nil) != errors.Is(err, kubestate.ErrNoKind) || list != nil && err != nil || len(o.Items) != len(list) {
				t.Errorf("%s, %s: %d objects, %v", plural, name, len(o.Items), err)
			}
		}
	}
}

func TestENIConfigsAreThereWithTheirDefinition(t *testing.T) {
	f, err := worldfile.Load("../../worlds/ips.yaml")
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
		if installed != (err == nil) || !installed && !errors.Is(err, kubestate.ErrNoKind) || installed != (len(o.Items) == 1) {
			t.Errorf("installed %t: %d objects, %v", installed, len(o.Items), err)
		}
	}
}
