package preflight

import (
	"context"
	"io"
	"strings"
	"testing"

	"rollcall/local/diagnose"
	"rollcall/local/exit"
	"rollcall/local/platform/wire"
	"rollcall/local/result"
)

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
			a, err := diagnose.OpenAccount(diagnose.Subject{Path: "../worlds/corpus/" + tt.world + ".yaml"}, io.Discard)
			if err != nil {
				t.Fatal(err)
			}
			if tt.denied != "" {
				a.Faults = deniedCall(tt.denied)
			}
			r, err := in(t.Context(), p, "", a)
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
