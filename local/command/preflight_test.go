package command

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"rollcall/local/callertest"
	"rollcall/local/diagnose"
	"rollcall/local/exit"
	"rollcall/local/result"

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

// What is planned is taken from a file, by its id, or not at all.
func TestPreflight(t *testing.T) {
	for _, tt := range []struct {
		name     string
		args     []string
		status   int
		out, err string
	}{
		{"a file", []string{"--file", plannedIn(t, storyNodegroup(natSubnet, ""))}, exit.Healthy, "nodegroup batch: it would be made, and its nodes would join.\n", ""},
		{"a file, as the AWS CLI names it", []string{"--cli-input-json", "file://" + plannedIn(t, storyNodegroup(walledOff, ""))}, exit.Causes, "WOULD FAIL eks-workshop / batch · " + walledOff + " has no route to the internet", ""},
		{"a subnet", []string{"--subnet", walledOff}, exit.Causes, "WOULD FAIL eks-workshop / default, new_nodegroup_2 · " + walledOff + " has no route to the internet", ""},
		{"a launch template", []string{"--launch-template", "lt-0dead000000000000:3"}, exit.Causes, "WOULD BE REFUSED eks-workshop · The launch template does not exist", ""},
		{"another cluster", []string{"--file", plannedIn(t, storyNodegroup(natSubnet, "")), "--cluster", "staging"}, exit.BadInput, "", "--cluster staging: the file is for eks-workshop\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var out, errs bytes.Buffer
			status := command(append([]string{"preflight", storyWorld}, tt.args...), &out, &errs)
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

// TestPreflightJSON holds that the result has the form of every diagnosis.
func TestPreflightJSON(t *testing.T) {
	var out, errs bytes.Buffer
	if status := command([]string{"preflight", "--json", "--file", plannedIn(t, storyNodegroup(walledOff, "")), storyWorld}, &out, &errs); status != exit.Causes {
		t.Fatalf("status %d: %s", status, errs.String())
	}
	var r result.Result
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
	s, _ := callertest.Serve(t, storyWorld, diagnose.Settled)
	callertest.LogIn(t, s)
	for name, tt := range map[string]struct {
		plan     string
		args     []string
		status   int
		out, err string
	}{
		"what joins":                        {storyNodegroup(natSubnet, ""), nil, exit.Healthy, "nodegroup batch: it would be made, and its nodes would join.\n", ""},
		"what has no route to the internet": {storyNodegroup(walledOff, ""), []string{"--cluster", "eks-workshop"}, exit.Causes, "WOULD FAIL eks-workshop / batch · " + walledOff, ""},
		"the only cluster":                  {storyPool(natSubnet), nil, exit.Healthy, "NodePool batch: it would be made, and its nodes would join.\n", ""},
		"another cluster than the file's":   {storyNodegroup(natSubnet, ""), []string{"--cluster", "staging"}, exit.BadInput, "", "--cluster staging: the file is for eks-workshop\n"},
		"a cluster that is not there":       {storyPool(natSubnet), []string{"--cluster", "staging"}, exit.BadInput, "", "there is no cluster staging in us-west-2 of account 111122223333, only eks-workshop\n"},
		"a capture and a region":            {storyPool(natSubnet), []string{"capture", "--region", "us-west-2"}, exit.BadInput, "", "capture: a capture or a world is looked at without --region and what goes with it\n"},
		"no such profile":                   {storyPool(natSubnet), []string{"--profile", "ops"}, exit.BadInput, "", ""},
	} {
		var out, errs bytes.Buffer
		status := command(append([]string{"preflight", "--file", plannedIn(t, tt.plan)}, tt.args...), &out, &errs)
		if status != tt.status || !strings.Contains(out.String(), tt.out) || !strings.HasSuffix(errs.String(), tt.err) || strings.Count(errs.String(), "\n") > 1 {
			t.Errorf("%s: status %d, out %q, errors %q; want %d, …%q…, …%q", name, status, out.String(), errs.String(), tt.status, tt.out, tt.err)
		}
	}
}
