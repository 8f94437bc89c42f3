package kubeapi

import (
	"encoding/json"
	"strings"
	"testing"
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
		raw(t, "", "c", "eks.amazonaws.com/nodegroup=spot,zone=us-west-2c,i=9"),
		raw(t, "", "a", "eks.amazonaws.com/nodegroup=workers,zone=us-west-2a,i=10"),
		raw(t, "", "b", "zone=us-west-2b,special=,i=x"),
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
		{"i>9", "a"},
		{"i > 8", "a c"},
		{"i<10", "c"},
		{"nothing<10", ""},
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
	for _, text := range []string{",", "a,", "a in b", "a=b c", "-a", "a=(", "a in (b", "=x", "a in (b c)", "über=1", "a>b", "a<", ">1"} {
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
