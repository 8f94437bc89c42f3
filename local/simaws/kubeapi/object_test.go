package kubeapi

import (
	"encoding/json"
	"testing"
)

// By itself an object says what it is; in a list only a custom resource does.
func TestWhatAnObjectIs(t *testing.T) {
	node, pool := Kind{Kind: "Node", Version: "v1"}, Kind{Kind: "NodePool", Group: "karpenter.sh", Version: "v1", Custom: true}
	csr := Kind{Kind: "CertificateSigningRequest", Group: "certificates.k8s.io", Version: "v1"}
	for name, tt := range map[string]struct {
		kind        Kind
		raw         string
		alone, item string
	}{
		"a node without":         {node, `{"metadata":{"name":"a"}}`, `{"apiVersion":"v1","kind":"Node","metadata":{"name":"a"}}`, `{"metadata":{"name":"a"}}`},
		"a node with":            {node, `{"apiVersion":"v1","kind":"Node","metadata":{"name":"a"}}`, `{"apiVersion":"v1","kind":"Node","metadata":{"name":"a"}}`, `{"metadata":{"name":"a"}}`},
		"a kind of an own group": {csr, `{"metadata":{"name":"a"}}`, `{"apiVersion":"certificates.k8s.io/v1","kind":"CertificateSigningRequest","metadata":{"name":"a"}}`, `{"metadata":{"name":"a"}}`},
		"a custom resource":      {pool, `{"metadata":{"name":"a"}}`, `{"apiVersion":"karpenter.sh/v1","kind":"NodePool","metadata":{"name":"a"}}`, `{"apiVersion":"karpenter.sh/v1","kind":"NodePool","metadata":{"name":"a"}}`},
	} {
		o, err := newObject(tt.kind, json.RawMessage(tt.raw))
		if err != nil {
			t.Fatal(err)
		}
		alone, err := o.alone()
		if err != nil || string(alone) != tt.alone {
			t.Errorf("%s, alone: %s, %v", name, alone, err)
		}
		item, err := o.item(tt.kind)
		if err != nil || string(item) != tt.item {
			t.Errorf("%s, in a list: %s, %v", name, item, err)
		}
	}
}
