package main

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
		{"a field that nobody has", storyNodegroup(natSubnet, `, "instanceType": "m5.large"`), nil, badStatus, "", "plan.json: instanceType: create-nodegroup has no such field\n"},
		{"another cluster", strings.Replace(storyNodegroup(natSubnet, ""), "eks-workshop", "staging", 1), nil, badStatus, "", "there is no cluster staging here, only eks-workshop\n"},
		{"another cluster than the one asked for", storyNodegroup(natSubnet, ""), []string{"-cluster", "staging"}, badStatus, "", "-cluster staging: the file is for eks-workshop\n"},
		{"no file", "", []string{"-preflight", "/nowhere.json"}, badStatus, "", "-preflight /nowhere.json: there is no such file, or it cannot be read\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var out, errs bytes.Buffer
			args := append([]string{"-preflight", plannedIn(t, tt.plan), storyWorld}, tt.args...)
			status := command(args, &out, &errs)
			if status != tt.status || !strings.Contains(out.String(), tt.out) || !strings.HasSuffix(errs.String(), tt.err) || strings.Count(errs.String(), "\n") > 1 {
				t.Errorf("status %d, out %q, errors %q; want %d, …%q…, …%q", status, out.String(), errs.String(), tt.status, tt.out, tt.err)
			}
		})
	}
}

// TestPreflightJSON holds that the result has the form of every diagnosis.
func TestPreflightJSON(t *testing.T) {
	var out, errs bytes.Buffer
	if status := command([]string{"-json", "-preflight", plannedIn(t, storyNodegroup(walledOff, "")), storyWorld}, &out, &errs); status != causesStatus {
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
