package endpoint

import (
	"strings"
	"testing"

	"rollcall/shared/checks/checktest"
	"rollcall/shared/checks/finding"
	"rollcall/shared/snapshot"
	"rollcall/shared/snapshot/snapshottest"
)

func policyOf(id, document string) func(*snapshot.Snapshot) {
	return endpointWith(id, func(e *snapshot.Endpoint) { e.Policy = document })
}

func TestEndpointPolicyDenies(t *testing.T) {
	checktest.RunCases(t, PolicyDenies(), endpointPolicyDeniesCases())
}

func endpointPolicyDeniesCases() []checktest.Case {
	world := func(changes ...func(*snapshot.Snapshot)) *snapshot.Snapshot {
		return checktest.Change(checktest.Unjoined(snapshottest.EndpointsOnly()), changes...)
	}
	allow := func(principal, actions, resource string) string {
		return `{"Statement":[{"Effect":"Allow","Principal":` + principal + `,"Action":` + actions + `,"Resource":"` + resource + `"}]}`
	}
	const nodeRole = `{"AWS":"` + snapshottest.NodeRole + `"}`
	return []checktest.Case{
		{"all allowed", world(), []string{"pass prod [i-0node]"}},
		{"no endpoints", checktest.Unjoined(snapshottest.PrivateWithNAT()), []string{"pass prod [i-0node]"}},
		{"for the node role", world(policyOf("vpce-0ec2", allow(nodeRole, `"ec2:Describe*"`, "*"))), []string{"pass prod [i-0node]"}},
		{"for another role", world(policyOf("vpce-0ec2", allow(`{"AWS":"arn:aws:iam::123456789012:role/ci"}`, `"*"`, "*"))), []string{
			"fail vpce-0ec2 [i-0node] [i-0node] vpce-0ec2 for EC2 denies ec2:DescribeInstances",
		}},
		{"other actions", world(policyOf("vpce-0ecr.api", allow(`"*"`, `["ecr:DescribeImages"]`, "*"))), []string{
			"fail vpce-0ecr.api [i-0node] [i-0node] vpce-0ecr.api for ECR (api) denies ecr:GetAuthorizationToken",
		}},
		{"S3 for buckets of one's own", world(policyOf("vpce-0s3", allow(`"*"`, `"s3:*"`, "arn:aws:s3:::our-bucket/*"))), []string{
			"fail vpce-0s3 [i-0node] [i-0node] vpce-0s3 for S3 denies s3:GetObject",
		}},
		{"S3 for ECR's bucket", world(policyOf("vpce-0s3", allow(`"*"`, `"s3:GetObject"`, "arn:aws:s3:::prod-us-west-2-starport-layer-bucket/*"))), []string{"pass prod [i-0node]"}},
		{"a condition that is met", world(policyOf("vpce-0ec2", `{"Statement":{"Effect":"Allow","Principal":"*","Action":"*","Resource":"*","Condition":{"StringEquals":{"aws:SourceVpc":"vpc-0a"}}}}`)), []string{"pass prod [i-0node]"}},
		{"a condition that cannot be known", world(policyOf("vpce-0ec2", `{"Statement":{"Effect":"Allow","Principal":"*","Action":"*","Resource":"*","Condition":{"StringEquals":{"aws:PrincipalOrgID":"o-1"}}}}`)), []string{
			"unknown prod [i-0node] vpc endpoints: not read: whether vpce-0ec2 allows ec2:DescribeInstances hangs on condition StringEquals aws:PrincipalOrgID",
		}},
		{"STS, and the network plugin has the node's role", world(policyOf("vpce-0sts", allow(`"*"`, `"sts:GetCallerIdentity"`, "*"))), []string{"pass prod [i-0node]"}},
		{"STS, and the network plugin has a role of its own", world(policyOf("vpce-0sts", allow(`"*"`, `"sts:GetCallerIdentity"`, "*")), func(s *snapshot.Snapshot) {
			s.CNI.Role = "arn:aws:iam::123456789012:role/cni"
		}), []string{"fail vpce-0sts [i-0node] [i-0node] vpce-0sts for STS denies sts:AssumeRoleWithWebIdentity"}},
		{"a Ready node is not accused", checktest.Change(snapshottest.EndpointsOnly(), policyOf("vpce-0ec2", allow(nodeRole, `"s3:*"`, "*"))), []string{"pass prod [i-0node]"}},
		{"no policy", world(policyOf("vpce-0ec2", "")), []string{"unknown prod [i-0node] vpc endpoints: not read: EC2 gives no policy of vpce-0ec2"}},
		{"unread", world(checktest.Unread(snapshot.Endpoints)), []string{"unknown prod [] vpc endpoints: denied"}},
	}
}

func TestEndpointPolicyThatIsNoneIsUnknown(t *testing.T) {
	for _, document := range []string{"{", "[]", `{"Statement":[]}`, strings.Repeat("x", 1<<17)} {
		s := checktest.Change(checktest.Unjoined(snapshottest.EndpointsOnly()), policyOf("vpce-0ec2", document))
		for _, r := range checktest.EvalOne(t, PolicyDenies(), s) {
			if r.Outcome != finding.Unknown || !strings.HasPrefix(r.Blocked[0].Message, "the policy of vpce-0ec2 is not understood") {
				t.Errorf("%.20q: %s, want unknown", document, checktest.Lines([]finding.Result{r}))
			}
		}
	}
}

func TestEndpointPolicyWords(t *testing.T) {
	s := checktest.Change(checktest.Unjoined(snapshottest.EndpointsOnly()), policyOf("vpce-0ec2", `{"Statement":[{"Sid":"NoDescribe","Effect":"Deny","Principal":"*","Action":"ec2:Describe*","Resource":"*"}]}`))
	got := checktest.Failed(t, PolicyDenies(), s)
	if want := "ec2:DescribeInstances (denied: NoDescribe)"; !strings.Contains(got.Why, want) {
		t.Errorf("Why = %q, want %q in it", got.Why, want)
	}
}
