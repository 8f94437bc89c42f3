package kubeapi

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// raw makes an object with labels ("a=1,b=").
func raw(t testing.TB, namespace, name, labels string) json.RawMessage {
	t.Helper()
	m := map[string]string{}
	for pair := range strings.SplitSeq(labels, ",") {
		if k, v, ok := strings.Cut(pair, "="); ok {
			m[k] = v
		}
	}
	b, err := json.Marshal(map[string]any{"metadata": map[string]any{"name": name, "namespace": namespace, "labels": m,
		"creationTimestamp": "2026-11-20T21:00:00Z"}})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestLabelSelector(t *testing.T) {
	nodes := []json.RawMessage{
		raw(t, "", "c", "eks.amazonaws.com/nodegroup=spot,zone=us-west-2c"),
		raw(t, "", "a", "eks.amazonaws.com/nodegroup=workers,zone=us-west-2a"),
		raw(t, "", "b", "zone=us-west-2b,special="),
	}
	tests := []struct {
		selector, want string
	}{
		{"", "a b c"},
		{"eks.amazonaws.com/nodegroup=workers", "a"},
		{"eks.amazonaws.com/nodegroup==workers", "a"},
		{"eks.amazonaws.com/nodegroup = workers", "a"},
		{"eks.amazonaws.com/nodegroup!=workers", "b c"},
		{"zone in (us-west-2a, us-west-2b)", "a b"},
		{"zone in (us-west-2a,us-west-2b),eks.amazonaws.com/nodegroup", "a"},
		{"eks.amazonaws.com/nodegroup notin (workers)", "b c"},
		{"!eks.amazonaws.com/nodegroup", "b"},
		{"special", "b"},
		{"special=", "b"},
		{"zone,!special", "a c"},
		{"zone=nowhere", ""},
	}
	for _, tt := range tests {
		t.Run(tt.selector, func(t *testing.T) {
			rs, err := parseSelector(tt.selector)
			if err != nil {
				t.Fatal(err)
			}
			got, err := selectObjects(request{kind: kinds()[2]}, nodes, rs, nil)
			if err != nil {
				t.Fatal(err)
			}
			var names []string
			for _, o := range got {
				names = append(names, o.name())
			}
			if got := strings.Join(names, " "); got != tt.want {
				t.Errorf("selected %q, want %q", got, tt.want)
			}
		})
	}
}

func TestBrokenSelectors(t *testing.T) {
	for _, text := range []string{",", "a,", "a in b", "a=b c", "-a", "a=(", "a in (b", "=x", "a in (b c)", "über=1"} {
		if rs, err := parseSelector(text); err == nil {
			t.Errorf("selector %q was read as %+v, want an error", text, rs)
		}
	}
	node, _ := findKind("", "v1", "nodes")
	for _, text := range []string{"spec.providerID=aws:///a/i-1", "metadata.name", "metadata.namespace=x"} {
		if rs, err := parseFields(node, text); err == nil {
			t.Errorf("field selector %q was read as %+v, want an error", text, rs)
		}
	}
}

func FuzzParseSelector(f *testing.F) {
	for _, text := range []string{"a=b,c!=d", "a in (b,c),!d", "a notin ()", "((,))"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		rs, err := parseSelector(text)
		if err != nil {
			return
		}
		for _, r := range rs {
			if !labelKey.MatchString(r.key) {
				t.Errorf("selector %q gave the key %q", text, r.key)
			}
			r.matches(map[string]string{"a": "b"})
		}
	})
}

func TestParsePath(t *testing.T) {
	type want struct{ verb, plural, namespace, name string }
	tests := []struct {
		path string
		want *want
	}{
		{"/api/v1/nodes", &want{"list", "nodes", "", ""}},
		{"/api/v1/nodes/ip-10-0-0-1.ec2.internal", &want{"get", "nodes", "", "ip-10-0-0-1.ec2.internal"}},
		{"/api/v1/pods", &want{"list", "pods", "", ""}},
		{"/api/v1/namespaces/kube-system/pods/a%20b", &want{"get", "pods", "kube-system", "a b"}},
		{"/apis/apps/v1/namespaces/kube-system/daemonsets", &want{"list", "daemonsets", "kube-system", ""}},
		{"/api/v1/pods/x", nil},
		{"/api/v1/namespaces/x/nodes", nil},
		{"/api/v1/secrets", nil},
		{"/api/v1/nodes/x/proxy", nil},
		{"/apis/apps/v1", nil},
		{"/", nil},
	}
	for _, tt := range tests {
		r, ok := parsePath(tt.path)
		if ok != (tt.want != nil) {
			t.Errorf("%s: understood = %v, want %v", tt.path, ok, tt.want != nil)
			continue
		}
		if ok {
			if diff := cmp.Diff(want{r.verb, r.kind.Plural, r.namespace, r.name}, *tt.want, cmp.AllowUnexported(want{})); diff != "" {
				t.Errorf("%s (-got +want):\n%s", tt.path, diff)
			}
		}
	}
}
