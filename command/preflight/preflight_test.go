package preflight

import (
	"context"
	"errors"
	"io"
	"path/filepath"
	"strings"
	"testing"

	"rollcall/command/exit"
	"rollcall/command/result"
	"rollcall/command/subject"
	"rollcall/stage/examine"
	"rollcall/stage/platform/wire"
	"rollcall/tools/testfile"
)

// plannedIn writes a plan for the cluster of the route story, and returns its path.
func plannedIn(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "plan.json")
	testfile.Write(t, path, []byte(text))
	return path
}

const (
	storyWorld = "../../stage/worlds/route.yaml"
	walledOff  = "subnet-0c30000000000000d"
	natSubnet  = "subnet-0b20000000000000a"
)

func storyNodegroup(subnet, more string) string {
	return `{"clusterName": "eks-workshop", "nodegroupName": "batch", "subnets": ["` + subnet + `"],
		"nodeRole": "arn:aws:iam::111122223333:role/eksctl-eks-workshop-NodeInstanceRole"` + more + `}`
}

// judged judges in the story's world, and holds what is printed or what is wrong.
func judged(t *testing.T, asked Asked, status int, out, wrong string) {
	t.Helper()
	r, err := In(t.Context(), asked, subject.Subject{Path: storyWorld}, examine.Worlds{}, io.Discard)
	var misuse *exit.MisuseError
	switch {
	case status == exit.BadInput:
		if !errors.As(err, &misuse) || !strings.HasSuffix(err.Error()+"\n", wrong) {
			t.Errorf("error %v, want …%s", err, wrong)
		}
	case err != nil:
		t.Error(err)
	case r.Status() != status || !strings.Contains(r.Words(r.Plan, result.Style{}), out):
		t.Errorf("status %d, want %d; %s, want …%s…", r.Status(), status, r.Words(r.Plan, result.Style{}), out)
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

func TestPreflight(t *testing.T) {
	for _, tt := range []struct {
		name, plan string
		asked      Asked
		status     int
		out, err   string
	}{
		{"what joins", storyNodegroup(natSubnet, ""), Asked{}, exit.Healthy, "nodegroup batch: it would be created, and its nodes would join.\n", ""},
		{"what has no route to the internet", storyNodegroup(walledOff, ""), Asked{}, exit.Causes, "WOULD FAIL eks-workshop / batch · " + walledOff + " has no route to the internet", ""},
		{"what EKS refuses", storyNodegroup(natSubnet, `, "instanceTypes": ["m6g.large"], "amiType": "AL2023_x86_64_STANDARD"`), Asked{}, exit.Causes,
			"WOULD BE REFUSED eks-workshop · The AMI type is for another architecture", ""},
		{"a NodePool that joins", storyPool(natSubnet), Asked{}, exit.Healthy, "NodePool batch: it would be created, and its nodes would join.\n", ""},
		{"a NodePool with a subnet that has no route to the internet", storyPool(walledOff), Asked{}, exit.Causes, "WOULD FAIL eks-workshop / batch · " + walledOff + " has no route to the internet", ""},
		{"a NodePool without its class", strings.Split(storyPool(natSubnet), "---")[0], Asked{}, exit.Causes, "WOULD BE REFUSED eks-workshop · The class of the NodePool is not there", ""},
		{"a launch template as a file", `{"LaunchTemplateName": "mine", "LaunchTemplateData": {"InstanceType": "m5.large"}}`, Asked{}, exit.Causes,
			"WOULD BE REFUSED eks-workshop · The launch template names no image", ""},
		{"a planned subnet", `{"VpcId": "vpc-0a1b2c3d4e5f60718", "CidrBlock": "10.43.0.0/20", "AvailabilityZone": "us-west-2a"}`, Asked{}, exit.Causes,
			"WOULD BE REFUSED eks-workshop · The range is not in the VPC's", ""},
		{"a NodePool that names its subnets, and others", storyPool(natSubnet), Asked{Subnets: natSubnet}, exit.BadInput, "", "--subnet cannot be used with a NodePool, which lists its subnets\n"},
		{"YAML that is none", "apiVersion: karpenter.sh/v1\nkind: [NodePool\n", Asked{}, exit.BadInput, "", "it is not YAML: line 1: did not find expected ',' or ']'\n"},
		{"two things", storyNodegroup(natSubnet, ""), Asked{Template: "lt-0abc"}, exit.BadInput, "", "--file and --launch-template cannot be used together\n"},
		{"a field that nobody has", storyNodegroup(natSubnet, `, "instanceType": "m5.large"`), Asked{}, exit.BadInput, "", "plan.json: instanceType: create-nodegroup has no such field\n"},
		{"another cluster", strings.Replace(storyNodegroup(natSubnet, ""), "eks-workshop", "staging", 1), Asked{}, exit.BadInput, "", "there is no cluster staging here, only eks-workshop\n"},
		{"another cluster than the one asked for", storyNodegroup(natSubnet, ""), Asked{Cluster: "staging"}, exit.BadInput, "", "--cluster staging: the file is for eks-workshop\n"},
		{"no file", "", Asked{File: "/nowhere.json"}, exit.BadInput, "", "--file /nowhere.json: no such file, or not readable\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if tt.asked.File == "" {
				tt.asked.File = plannedIn(t, tt.plan)
			}
			judged(t, tt.asked, tt.status, tt.out, tt.err)
		})
	}
}

// TestPreflightWithoutFile holds that what is there is judged by its id.
func TestPreflightWithoutFile(t *testing.T) {
	for _, tt := range []struct {
		name     string
		asked    Asked
		status   int
		out, err string
	}{
		{"a subnet", Asked{Subnets: natSubnet}, exit.Healthy, "subnet " + natSubnet + ": its nodes would join.\n", ""},
		{"a subnet without a route to the internet", Asked{Subnets: walledOff}, exit.Causes, "WOULD FAIL eks-workshop / default, new_nodegroup_2 · " + walledOff + " has no route to the internet", ""},
		{"a subnet that is not there", Asked{Subnets: "subnet-0dead"}, exit.Causes, "WOULD BE REFUSED eks-workshop · A subnet is not in the cluster's VPC", ""},
		{"a launch template that is not there", Asked{Template: "lt-0dead000000000000:3"}, exit.Causes, "WOULD BE REFUSED eks-workshop · The launch template does not exist", ""},
		{"an unknown version", Asked{Template: "lt-0dead:newest"}, exit.BadInput, "", `"newest" is no version of a launch template: write its number, $Latest or $Default` + "\n"},
		{"no launch template", Asked{Template: "workers"}, exit.BadInput, "", "want the id of a launch template and its version, lt-0abc:7\n"},
		{"two subnets", Asked{Subnets: natSubnet + "," + walledOff}, exit.BadInput, "", "--subnet: one subnet at a time; several need --launch-template\n"},
		{"no subnet", Asked{Subnets: "private-a"}, exit.BadInput, "", "want a subnet's id, subnet-0abc\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			judged(t, tt.asked, tt.status, tt.out, tt.err)
		})
	}
}

// deniedCall denies one call.
type deniedCall string

func (d deniedCall) Before(_ context.Context, call *wire.Call) error {
	if call.Action() == string(d) {
		return wire.Denied
	}
	return nil
}

// TestPreflightSettings holds that settings of the account that stop nodes, or refuse their
// launch, are judged before the launch, and that a denied look at one is never a healthy
// verdict.
func TestPreflightSettings(t *testing.T) {
	const (
		private = "subnet-0c30000000000000d"
		image   = "ami-0a1e2d3c4b5a69788"
	)
	template := func(tokens string) string {
		return `{"LaunchTemplateName": "mine", "LaunchTemplateData": {"InstanceType": "m5.large", "ImageId": "` + image + `", "MetadataOptions": {` + tokens + `}}}`
	}
	const optional = `"HttpTokens": "optional"`
	pool := strings.Replace(storyPool(private), "  role:", "  metadataOptions: {httpTokens: optional}\n  role:", 1)
	const left, enforced = "whether the image requires tokens", "The account enforces IMDSv2 and the launch allows IMDSv1"
	for _, tt := range []struct {
		name, world, plan, denied string
		status                    int
		out                       string
	}{
		{"public access blocked", "route-blocked-public-access", storyNodegroup(private, ""), "", exit.Causes, "VPC Block Public Access"},
		{"public access blocked, for a NodePool", "route-blocked-public-access", storyPool(private), "", exit.Causes, "VPC Block Public Access"},
		{"public access blocked, who blocks it denied", "route-blocked-public-access", storyNodegroup(private, ""), "ec2:DescribeVpcBlockPublicAccessOptions", exit.Causes, "VPC Block Public Access"},
		{"public access blocked, subnets denied", "route-blocked-public-access", storyNodegroup(private, ""), "ec2:DescribeSubnets", exit.Unsure, "ec2:DescribeSubnets: denied"},
		{"an exclusion", "route-blocked-public-access-healthy", storyNodegroup(private, ""), "", exit.Healthy, "its nodes would join"},
		{"what comes in is blocked", "route-blocked-public-access-ingress-healthy", storyNodegroup(private, ""), "", exit.Healthy, "its nodes would join"},

		{"IMDSv2 enforced", "launch-imds-enforced", template(optional), "", exit.Causes, enforced},
		{"IMDSv2 enforced, for a NodePool", "launch-imds-enforced", pool, "", exit.Causes, enforced},
		{"IMDSv2 enforced and required", "launch-imds-enforced", storyPool(private), "", exit.Healthy, "its nodes would join"},
		{"IMDSv2 enforced, EKS's own template", "launch-imds-enforced", storyNodegroup(private, ""), "", exit.Healthy, "its nodes would join"},
		{"IMDSv2 enforced, left to the image", "launch-imds-enforced", template(""), "", exit.Causes, left},
		{"IMDSv2 enforced, the account's default requires tokens", "launch-imds-enforced-healthy", template(""), "", exit.Causes, ""},
		{"IMDSv2 not enforced", "instance-ami-healthy", pool, "", exit.Healthy, "its nodes would join"},
		{"defaults denied", "launch-imds-enforced", pool, "ec2:GetInstanceMetadataDefaults", exit.Unsure, "ec2:GetInstanceMetadataDefaults: denied"},
		{"defaults denied, tokens required", "launch-imds-enforced", storyPool(private), "ec2:GetInstanceMetadataDefaults", exit.Healthy, "its nodes would join"},

		{"DNS firewall denied", "instance-ami-healthy", storyNodegroup(private, ""), "route53resolver:ListFirewallRuleGroupAssociations", exit.Unsure, "route53resolver:ListFirewallRuleGroupAssociations: denied"},
		{"resolver rules denied", "instance-ami-healthy", storyNodegroup(private, ""), "route53resolver:ListResolverRuleAssociations", exit.Unsure, "route53resolver:ListResolverRuleAssociations: denied"},
		{"Route 53 Profiles denied", "instance-ami-healthy", storyNodegroup(private, ""), "route53profiles:ListProfileAssociations", exit.Unsure, "route53profiles:ListProfileAssociations: denied"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			p, err := Asked{Text: tt.plan}.plan()
			if err != nil {
				t.Fatal(err)
			}
			a, err := examine.Account(subject.Subject{Path: "../../stage/worlds/corpus/" + tt.world + ".yaml"})
			if err != nil {
				t.Fatal(err)
			}
			if tt.denied != "" {
				a.Faults = deniedCall(tt.denied)
			}
			served, err := a.Open(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			defer served.Close()
			r, err := in(t.Context(), p, "", served)
			if err != nil {
				t.Fatal(err)
			}
			if words := r.Words(r.Plan, result.Style{}); r.Status() != tt.status || !strings.Contains(words, tt.out) {
				t.Errorf("status %d, want %d; %s, want …%s…", r.Status(), tt.status, words, tt.out)
			} else if tt.out == "" && (strings.Contains(words, left) || strings.Contains(words, enforced)) {
				t.Errorf("%s, want nothing of IMDSv2", words)
			}
		})
	}
}
