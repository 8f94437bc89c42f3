package diagnose

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// plannedIn writes a plan for the cluster of the route story, and returns its path.
func plannedIn(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "plan.json")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

const (
	storyWorld = "../worlds/route.yaml"
	walledOff  = "subnet-0c30000000000000d"
	natSubnet  = "subnet-0b20000000000000a"
)

func storyNodegroup(subnet, more string) string {
	return `{"clusterName": "eks-workshop", "nodegroupName": "batch", "subnets": ["` + subnet + `"],
		"nodeRole": "arn:aws:iam::111122223333:role/eksctl-eks-workshop-NodeInstanceRole"` + more + `}`
}

func TestPreflight(t *testing.T) {
	for _, tt := range []struct {
		name, plan string
		args       []string
		status     int
		out, err   string
	}{
		{"what joins", storyNodegroup(natSubnet, ""), nil, healthyStatus, "nodegroup batch: it would be made, and its nodes would join.\n", ""},
		{"what has no way out", storyNodegroup(walledOff, ""), nil, causesStatus, "WOULD FAIL eks-workshop / batch · " + walledOff + " has no way out", ""},
		{"what EKS refuses", storyNodegroup(natSubnet, `, "instanceTypes": ["m6g.large"], "amiType": "AL2023_x86_64_STANDARD"`), nil, causesStatus,
			"WOULD BE REFUSED eks-workshop · The AMI type is for another architecture", ""},
		{"a NodePool that joins", storyPool(natSubnet), nil, healthyStatus, "NodePool batch: it would be made, and its nodes would join.\n", ""},
		{"a NodePool with a subnet that has no way out", storyPool(walledOff), nil, causesStatus, "WOULD FAIL eks-workshop / batch · " + walledOff + " has no way out", ""},
		{"a NodePool without its class", strings.Split(storyPool(natSubnet), "---")[0], nil, causesStatus, "WOULD BE REFUSED eks-workshop · The class of the NodePool is not there", ""},
		{"a launch template as a file", `{"LaunchTemplateName": "mine", "LaunchTemplateData": {"InstanceType": "m5.large"}}`, nil, causesStatus,
			"WOULD BE REFUSED eks-workshop · The launch template names no image", ""},
		{"a planned subnet", `{"VpcId": "vpc-0a1b2c3d4e5f60718", "CidrBlock": "10.43.0.0/20", "AvailabilityZone": "us-west-2a"}`, nil, causesStatus,
			"WOULD BE REFUSED eks-workshop · The range is not in the VPC's", ""},
		{"a NodePool that names its subnets, and others", storyPool(natSubnet), []string{"--subnet", natSubnet}, badStatus, "", "--subnet: a NodePool names its subnets itself\n"},
		{"YAML that is none", "apiVersion: karpenter.sh/v1\nkind: [NodePool\n", nil, badStatus, "", "it is not YAML: line 1: did not find expected ',' or ']'\n"},
		{"two things", storyNodegroup(natSubnet, ""), []string{"--launch-template", "lt-0abc"}, badStatus, "", "--file and --launch-template: one thing is judged at a time\n"},
		{"a field that nobody has", storyNodegroup(natSubnet, `, "instanceType": "m5.large"`), nil, badStatus, "", "plan.json: instanceType: create-nodegroup has no such field\n"},
		{"another cluster", strings.Replace(storyNodegroup(natSubnet, ""), "eks-workshop", "staging", 1), nil, badStatus, "", "there is no cluster staging here, only eks-workshop\n"},
		{"another cluster than the one asked for", storyNodegroup(natSubnet, ""), []string{"--cluster", "staging"}, badStatus, "", "--cluster staging: the file is for eks-workshop\n"},
		{"no file", "", []string{"--file", "/nowhere.json"}, badStatus, "", "--file /nowhere.json: there is no such file, or it cannot be read\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var out, errs bytes.Buffer
			args := append([]string{"preflight", "--file", plannedIn(t, tt.plan), storyWorld}, tt.args...)
			status := command(args, &out, &errs)
			if status != tt.status || !strings.Contains(out.String(), tt.out) || !strings.HasSuffix(errs.String(), tt.err) || strings.Count(errs.String(), "\n") > 1 {
				t.Errorf("status %d, out %q, errors %q; want %d, …%q…, …%q", status, out.String(), errs.String(), tt.status, tt.out, tt.err)
			}
		})
	}
}

func storyPool(subnet string) string {
	return `apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: batch}
spec:
  template:
    spec:
      nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: batch}
      requirements: [{key: karpenter.k8s.aws/instance-category, operator: In, values: [m, c]}]
---
apiVersion: karpenter.k8s.aws/v1
kind: EC2NodeClass
metadata: {name: batch}
spec:
  role: eksctl-eks-workshop-NodeInstanceRole
  amiSelectorTerms: [{alias: al2023@latest}]
  subnetSelectorTerms: [{id: ` + subnet + `}]
  securityGroupSelectorTerms: [{id: sg-0e50000000000000f}]
`
}

// TestPreflightWithoutFile holds that what is there is judged by its id.
func TestPreflightWithoutFile(t *testing.T) {
	for _, tt := range []struct {
		name     string
		args     []string
		status   int
		out, err string
	}{
		{"a subnet", []string{"--subnet", natSubnet}, healthyStatus, "subnet " + natSubnet + ": its nodes would join.\n", ""},
		{"a subnet without a way out", []string{"--subnet", walledOff}, causesStatus, "WOULD FAIL eks-workshop / default, new_nodegroup_2 · " + walledOff + " has no way out", ""},
		{"a subnet that is not there", []string{"--subnet", "subnet-0dead"}, causesStatus, "WOULD BE REFUSED eks-workshop · A subnet is not in the cluster's VPC", ""},
		{"a launch template that is not there", []string{"--launch-template", "lt-0dead000000000000:3"}, causesStatus, "WOULD BE REFUSED eks-workshop · The launch template does not exist", ""},
		{"an unknown version", []string{"--launch-template", "lt-0dead:newest"}, badStatus, "", `"newest" is no version of a launch template: write its number, $Latest or $Default` + "\n"},
		{"no launch template", []string{"--launch-template", "workers"}, badStatus, "", "want the id of a launch template and its version, lt-0abc:7\n"},
		{"two subnets", []string{"--subnet", natSubnet + "," + walledOff}, badStatus, "", "--subnet: one subnet is judged at a time; several say where the nodes of --launch-template would stand\n"},
		{"no subnet", []string{"--subnet", "private-a"}, badStatus, "", "want a subnet's id, subnet-0abc\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var out, errs bytes.Buffer
			status := command(append([]string{"preflight"}, append(tt.args, storyWorld)...), &out, &errs)
			if status != tt.status || !strings.Contains(out.String(), tt.out) || !strings.HasSuffix(errs.String(), tt.err) || strings.Count(errs.String(), "\n") > 1 {
				t.Errorf("status %d, out %q, errors %q; want %d, …%q…, …%q", status, out.String(), errs.String(), tt.status, tt.out, tt.err)
			}
		})
	}
}

// TestPreflightJSON holds that the result has the form of every diagnosis.
func TestPreflightJSON(t *testing.T) {
	var out, errs bytes.Buffer
	if status := command([]string{"preflight", "--json", "--file", plannedIn(t, storyNodegroup(walledOff, "")), storyWorld}, &out, &errs); status != causesStatus {
		t.Fatalf("status %d: %s", status, errs.String())
	}
	var r Result
	if err := json.Unmarshal(out.Bytes(), &r); err != nil {
		t.Fatal(err)
	}
	type short struct {
		Cause, Command string
		Nodegroups     []string
	}
	var got []short
	for _, i := range r.Incidents {
		got = append(got, short{i.Cause, i.Fix.Command, i.Nodegroups})
	}
	want := []short{{"route/no-egress", "aws ec2 create-route --region us-west-2 --route-table-id rtb-0cd20000000000002 --destination-cidr-block 0.0.0.0/0 --nat-gateway-id nat-0aa40000000000001", []string{"batch"}}}
	if diff := cmp.Diff(want, got); diff != "" || r.Healthy {
		t.Errorf("healthy %t, incidents (-want +got):\n%s", r.Healthy, diff)
	}
}

// What is planned is judged in the account as it is, as in a capture of it.
func TestPreflightLive(t *testing.T) {
	s, _ := served(t, storyWorld)
	logIn(t, s)
	for name, tt := range map[string]struct {
		plan     string
		args     []string
		status   int
		out, err string
	}{
		"what joins":                      {storyNodegroup(natSubnet, ""), nil, healthyStatus, "nodegroup batch: it would be made, and its nodes would join.\n", ""},
		"what has no way out":             {storyNodegroup(walledOff, ""), []string{"--cluster", "eks-workshop"}, causesStatus, "WOULD FAIL eks-workshop / batch · " + walledOff, ""},
		"the only cluster":                {storyPool(natSubnet), nil, healthyStatus, "NodePool batch: it would be made, and its nodes would join.\n", ""},
		"another cluster than the file's": {storyNodegroup(natSubnet, ""), []string{"--cluster", "staging"}, badStatus, "", "--cluster staging: the file is for eks-workshop\n"},
		"a cluster that is not there":     {storyPool(natSubnet), []string{"--cluster", "staging"}, badStatus, "", "there is no cluster staging in us-west-2 of account 111122223333, only eks-workshop\n"},
		"a capture and a region":          {storyPool(natSubnet), []string{"capture", "--region", "us-west-2"}, badStatus, "", "capture: a capture or a world is looked at without --region and what goes with it\n"},
		"no such profile":                 {storyPool(natSubnet), []string{"--profile", "ops"}, badStatus, "", ""},
	} {
		var out, errs bytes.Buffer
		status := command(append([]string{"preflight", "--file", plannedIn(t, tt.plan)}, tt.args...), &out, &errs)
		if status != tt.status || !strings.Contains(out.String(), tt.out) || !strings.HasSuffix(errs.String(), tt.err) || strings.Count(errs.String(), "\n") > 1 {
			t.Errorf("%s: status %d, out %q, errors %q; want %d, …%q…, …%q", name, status, out.String(), errs.String(), tt.status, tt.out, tt.err)
		}
	}
}
