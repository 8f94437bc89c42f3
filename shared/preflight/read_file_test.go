package preflight

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const someNodegroup = `{"clusterName": "prod", "nodegroupName": "batch", "subnets": ["subnet-0private"], "nodeRole": "arn:aws:iam::123456789012:role/node"}`

func TestParseNodegroup(t *testing.T) {
	p, err := Parse([]byte("\xef\xbb\xbf " + someNodegroup))
	if err != nil {
		t.Fatal(err)
	}
	want := Plan{Kind: Nodegroup, Name: "batch", Cluster: "prod", Nodegroup: &NodegroupPlan{
		ClusterName: "prod", NodegroupName: "batch", Subnets: []string{"subnet-0private"}, NodeRole: "arn:aws:iam::123456789012:role/node",
	}}
	if diff := cmp.Diff(want, p); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestMisunderstood(t *testing.T) {
	with := func(field string) string { return strings.TrimSuffix(someNodegroup, "}") + ", " + field + "}" }
	for _, tt := range []struct{ name, text, at, why string }{
		{"nothing", " \n", "", "the file is empty"},
		{"a text", "hello", "", "none of what can be judged"},
		{"no JSON", "{\n  \"clusterName\": prod\n}", "", "it is not JSON: line 2"},
		{"cut", `{"clusterName": "prod"`, "", "it ends too early"},
		{"two documents", someNodegroup + someNodegroup, "", "more than one JSON document"},
		{"something else", `{"Reservations": []}`, "", "none of what can be judged"},
		{"what exists", `{"nodegroup": {"nodegroupName": "batch"}}`, "nodegroup", "this nodegroup exists"},
		{"a field that nobody has", with(`"colour": "red"`), "colour", "create-nodegroup has no such field"},
		{"capitals", with(`"InstanceTypes": ["m5.large"]`), "InstanceTypes", "no such field"},
		{"a field below", with(`"scalingConfig": {"min": 1}`), "scalingConfig.min", "no such field"},
		{"a field in a list", with(`"taints": [{"key": "a", "operator": "Equal"}]`), "taints[0].operator", "no such field"},
		{"a text in place of a number", with(`"diskSize": "20"`), "diskSize", "want a whole number, got string"},
		{"a text in place of a list", with(`"instanceTypes": "m5.large"`), "instanceTypes", "want a list, got string"},
		{"no role", strings.Replace(someNodegroup, `"nodeRole"`, `"tags": {}, "version"`, 1), "nodeRole", "create-nodegroup requires it"},
		{"no subnets", strings.Replace(someNodegroup, `["subnet-0private"]`, "[]", 1), "subnets", "requires it"},
		{"too large", "{" + strings.Repeat(" ", most) + "}", "", "larger than 1024 KiB"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := Parse([]byte(tt.text))
			var m *Misunderstood
			if !errors.As(err, &m) || m.At != tt.at || !strings.Contains(m.Why, tt.why) || strings.Contains(m.Error(), "\n") {
				t.Errorf("got %v, want %q: …%s…, in one line", err, tt.at, tt.why)
			}
		})
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(someNodegroup))
	f.Add([]byte("apiVersion: karpenter.sh/v1\nkind: NodePool\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		p, err := Parse(data)
		var m *Misunderstood
		if err != nil && !errors.As(err, &m) || err == nil && p.Kind == "" {
			t.Errorf("%v, %v", p, err)
		}
	})
}
