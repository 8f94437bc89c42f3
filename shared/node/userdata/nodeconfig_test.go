package userdata

import (
	"strings"
	"testing"
)

func TestNodeConfig(t *testing.T) {
	const type1 = "application/node.eks.aws\n\n"
	const kubelet = "apiVersion: node.eks.aws/v1alpha1\nkind: NodeConfig\nspec:\n  kubelet:\n    config:\n      maxPods: 110\n      clusterDNS: [169.254.20.10]\n    flags:\n    - --node-labels=team=b,x=y\n    - --max-pods=58\n"
	merged := func(d *Document) {
		d.Multipart = true
		d.DNS = []string{"169.254.20.10"}
		d.MaxPods = given("58")
		d.Flags = append(d.Flags, "--node-labels=team=b,x=y", "--max-pods=58")
		d.Labels = map[string]string{"team": "b", "eks.amazonaws.com/nodegroup": "workers", "x": "y"}
	}
	fault := func(f Fault) Document { return Document{Kinds: []Kind{NodeConfig}, Faults: []Fault{f}} }
	tests := []struct {
		name string
		text string
		want Document
	}{
		{"two parts: the later wins, flags add up", mixed(type1+plain, type1+kubelet), with(whole(), merged)},
		{"a second document in one part is not read", plain + "---\n" + kubelet, with(whole(), func(d *Document) { d.Later = 1 })},
		{"broken text behind the first document is not read either", plain + "---\na: [\n", with(whole(), func(d *Document) { d.Later = 1 })},
		{"a comment before the document", "# by Karpenter\n" + plain, whole()},
		{"JSON", `{"apiVersion":"node.eks.aws/v1alpha1","kind":"NodeConfig","spec":{"cluster":{"name":"prod"}}}`, Document{Kinds: []Kind{NodeConfig}, Name: given("prod")}},
		{"name servers and an expression", "apiVersion: node.eks.aws/v1alpha1\nkind: NodeConfig\nspec:\n  instance: {network: {nameservers: [10.0.0.2], domains: [corp]}}\n  kubelet: {maxPodsExpression: max_pods - 1}\n", Document{
			Kinds: []Kind{NodeConfig}, NameServers: []string{"10.0.0.2"}, MaxPodsExpression: "max_pods - 1",
		}},
		{"a drop-in wins", mixed("text/cloud-config\n\n#cloud-config\nwrite_files:\n- path: /etc/eks/nodeadm.d/1.yaml\n  content: |\n    apiVersion: node.eks.aws/v1alpha1\n    kind: NodeConfig\n    spec: {cluster: {name: b}}\n", "application/node.eks.aws\n\napiVersion: node.eks.aws/v1alpha1\nkind: NodeConfig\nspec: {cluster: {name: a}}\n"), Document{
			Kinds: []Kind{CloudConfig, NodeConfig}, Multipart: true, Name: given("b"), Scripted: []string{"nodeadm"}, Speaks: true,
		}},
		{"anchors", "apiVersion: node.eks.aws/v1alpha1\nkind: NodeConfig\nx: &c {name: prod}\nspec:\n  cluster:\n    <<: *c\n", Document{Kinds: []Kind{NodeConfig}, Name: given("prod")}},
		{"a key twice: the last one", "apiVersion: node.eks.aws/v1alpha1\nkind: NodeConfig\nspec: {cluster: {name: a, name: b}}\n", Document{Kinds: []Kind{NodeConfig}, Name: given("b")}},
		{"other case: not the setting", "apiVersion: node.eks.aws/v1alpha1\nkind: NodeConfig\nspec: {cluster: {Name: a}}\n", Document{Kinds: []Kind{NodeConfig}}},
		{"misspelt version", "apiVersion: node.eks.aws/v1alpha\nkind: NodeConfig\n", fault(Fault{Kind: BadVersion, Line: 1, Detail: "apiVersion is not node.eks.aws/v1alpha1"})},
		{"a version of another day", "apiVersion: node.eks.aws/v1beta1\nkind: NodeConfig\n", fault(Fault{Kind: NewVersion, Line: 1, Detail: "apiVersion is not node.eks.aws/v1alpha1"})},
		{"misspelt kind", "apiVersion: node.eks.aws/v1alpha1\nkind: Nodeconfig\n", fault(Fault{Kind: BadKind, Line: 2, Detail: "kind is not NodeConfig"})},
		{"broken YAML", strings.Replace(plain, "spec:", "spec", 1), fault(Fault{Kind: BadYAML, Line: 4, Detail: "the NodeConfig is no valid YAML"})},
		{"a tab", strings.Replace(plain, "  cluster:", "\tcluster:", 1), fault(Fault{Kind: BadYAML, Line: 5, Detail: "the NodeConfig is no valid YAML"})},
		{"a list", "- apiVersion: node.eks.aws/v1alpha1\n", fault(Fault{Kind: BadYAML, Line: 1, Detail: "the NodeConfig is no mapping of keys to values"})},
		{"a name of digits without quotes", "apiVersion: node.eks.aws/v1alpha1\nkind: NodeConfig\nspec:\n  cluster:\n    name: 123\n",
			fault(Fault{Kind: BadType, Line: 5, Detail: "spec.cluster.name is not a string"})},
		{"an empty name", "apiVersion: node.eks.aws/v1alpha1\nkind: NodeConfig\nspec:\n  cluster:\n    name: \"\"\n", Document{Kinds: []Kind{NodeConfig}}},
		{"flags that are no list", "apiVersion: node.eks.aws/v1alpha1\nkind: NodeConfig\nspec:\n  kubelet:\n    flags: --x=y\n",
			fault(Fault{Kind: BadType, Line: 5, Detail: "spec.kubelet.flags is not a list of strings"})},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { check(t, []byte(tt.text), tt.want) })
	}
}

func FuzzNodeConfig(f *testing.F) {
	f.Add(plain)
	f.Add("apiVersion: node.eks.aws/v1alpha1\nkind: NodeConfig\nx: &a [*a]\nspec: {<<: *a}\n")
	f.Add("apiVersion: node.eks.aws/v1alpha1\nkind: NodeConfig\nspec: &s {cluster: *s, <<: [*s]}\n")
	f.Fuzz(func(t *testing.T, text string) {
		d := newReader()
		d.nodeConfig(text, 0)
		d.readFlags()
	})
}
