package preflight

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const someNodegroup = `{"clusterName": "prod", "nodegroupName": "batch", "subnets": ["subnet-0private"], "nodeRole": "arn:aws:iam::123456789012:role/node"}`

const somePool = `apiVersion: karpenter.sh/v1
kind: NodePool
metadata:
  name: batch
spec:
  template:
    spec:
      nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
      requirements:
      - {key: node.kubernetes.io/instance-type, operator: In, values: [m5.large]}
`

const someClass = `apiVersion: karpenter.k8s.aws/v1
kind: EC2NodeClass
metadata: {name: default}
spec:
  role: workers
  amiSelectorTerms: [{alias: al2023@latest}]
  subnetSelectorTerms: [{tags: {karpenter.sh/discovery: prod}}]
  securityGroupSelectorTerms: [{id: sg-0a}]
`

// TestParseManifests holds that documents, lists and JSON are read alike, and what a
// NodePool of a cluster has beside its spec is no fault.
func TestParseManifests(t *testing.T) {
	list := "apiVersion: v1\nkind: List\nitems:\n- " + strings.ReplaceAll(strings.TrimSpace(somePool), "\n", "\n  ") + "\n- " + strings.ReplaceAll(strings.TrimSpace(someClass), "\n", "\n  ") + "\n"
	read := strings.Replace(somePool, "  name: batch\n", "  name: batch\n  uid: 0a\n  generation: 3\n", 1) + "status: {conditions: []}\n"
	inJSON := `{"apiVersion": "karpenter.sh/v1", "kind": "NodePool", "metadata": {"name": "batch"}, "spec": {"template": {"spec": {"nodeClassRef": {"group": "karpenter.k8s.aws", "kind": "EC2NodeClass", "name": "default"}}}}}`
	for name, text := range map[string]string{"documents": somePool + "---\n" + someClass + "---\n", "a list": list, "as read": read, "JSON": inJSON} {
		p, err := Parse([]byte(text))
		if err != nil || p.Kind != NodePool || p.Name != "batch" || len(p.Pools.pools) != 1 {
			t.Errorf("%s: %+v, %v", name, p, err)
		}
	}
}

func TestParseTemplateRef(t *testing.T) {
	for text, want := range map[string]string{
		"lt-0abc:7": "7", "lt-0abc": "$Default", "lt-0abc:$Latest": "$Latest", "lt-0abc:": "", "lt-0abc:0": "", "lt-0abc:newest": "", "workers:1": "", "lt-": "",
	} {
		p, err := ParseTemplateRef(text)
		var m *Misunderstood
		switch {
		case want == "" && !errors.As(err, &m):
			t.Errorf("%s: %+v, %v", text, p, err)
		case want != "" && (err != nil || p.Template.ref.ID != "lt-0abc" || p.Template.ref.Version != want):
			t.Errorf("%s: %+v, %v", text, p.Template, err)
		}
	}
}

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
		{"two kinds at once", with(`"CidrBlock": "10.0.0.0/24", "VpcId": "vpc-0a"`), "", "two kinds of things at once"},
		{"what describe-subnets printed", `{"Subnets": []}`, "Subnets", "name one by its id, with -subnet"},
		{"a template without a name", `{"LaunchTemplateData": {}}`, "LaunchTemplateName", "requires LaunchTemplateId or LaunchTemplateName"},
		{"a template's field that nobody has", `{"LaunchTemplateName": "a", "LaunchTemplateData": {"Subnet": "subnet-0a"}}`, "LaunchTemplateData.Subnet", "no such field"},
		{"several versions", `{"LaunchTemplateVersions": [{"LaunchTemplateId": "lt-0a"}, {"LaunchTemplateId": "lt-0a"}]}`, "LaunchTemplateVersions", "it holds 2 versions"},
		{"a subnet without a VPC", `{"CidrBlock": "10.0.0.0/24"}`, "VpcId", "create-subnet requires it"},
		{"a subnet without a range", `{"VpcId": "vpc-0a"}`, "CidrBlock", "needed here"},
		{"a range that is none", `{"VpcId": "vpc-0a", "CidrBlock": "10.0.0.0"}`, "CidrBlock", "is no range"},
		{"broken YAML", "kind: [NodePool\napiVersion: karpenter.sh/v1\n", "", "it is not YAML: line 1"},
		{"a class alone", someClass, "", "a class alone launches nothing"},
		{"another kind", "apiVersion: apps/v1\nkind: Deployment\n", "kind", "Deployment of apps/v1 is none of what can be judged"},
		{"another kind beside", somePool + "---\napiVersion: apps/v1\nkind: Deployment\n", "kind", "a Deployment of apps/v1 beside NodePools: take it out"},
		{"an unknown version", strings.Replace(somePool, "karpenter.sh/v1", "karpenter.sh/v1beta1", 1), "apiVersion", "write the NodePool as karpenter.sh/v1"},
		{"a NodePool twice", somePool + "---\n" + somePool, "metadata.name", "holds the NodePool batch twice"},
		{"a NodePool's field that nobody has", strings.Replace(somePool, "requirements:", "provider:", 1), "spec.template.spec.provider", "NodePool has no such field"},
		{"an operator that is none", strings.Replace(somePool, "operator: In", "operator: Is", 1), "spec.template.spec.requirements[0].operator", `"Is" is no operator`},
		{"a class of nobody's", strings.Replace(somePool, "kind: EC2NodeClass", "kind: NodeClass", 1), "spec.template.spec.nodeClassRef", "want EC2NodeClass of karpenter.k8s.aws, or NodeClass of eks.amazonaws.com"},
		{"no class", strings.Replace(somePool, "name: default", "name: ''", 1), "spec.template.spec.nodeClassRef", "must name group, kind and name"},
		{"a NodePool without a name", strings.Replace(somePool, "name: batch", "labels: {}", 1), "metadata.name", "must have a name"},
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
