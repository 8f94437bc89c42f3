package launch

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"rollcall/shared/checks/checktest"
	"rollcall/shared/snapshot"
	"rollcall/shared/snapshot/snapshottest"
)

// stillborn is an instance that EC2 could not bring up, ten minutes ago.
func stillborn(code, message string) *snapshot.Snapshot {
	s := checktest.Ended(code, 10*time.Second)
	snapshottest.Instance(s, snapshottest.Node).StateReason.Message = message
	return s
}

const kmsDeath = "Instance became unhealthy while waiting for instance to be in InService state. Termination Reason: Client.InvalidKMSKey.InvalidState: The KMS key provided is in an incorrect state"

func TestInstancesThatDiedWhileTheyStarted(t *testing.T) {
	fail := []string{"fail eks-workers [eks-workers] [i-0node] workers cannot launch: a volume's KMS key cannot be used"}
	pass := []string{"pass prod [eks-workers]"}
	cancelled := func(s *snapshot.Snapshot) {
		a := &s.Activities[0]
		a.Status, a.Message, a.Subnet = "Cancelled", kmsDeath, snapshottest.Private
	}
	karpenter := func(s *snapshot.Snapshot) {
		snapshottest.Instance(s, snapshottest.Node).Tags = map[string]string{"karpenter.sh/nodepool": "pool"}
		s.Groups, s.Activities = nil, nil
	}
	tests := []struct {
		name  string
		world *snapshot.Snapshot
		want  []string
	}{
		{"its reason alone", stillborn("Client.InvalidKMSKey.InvalidState", ""), fail},
		{"the reason is in the message", stillborn("Server.InternalError", "Client.InternalError: Client error on launch"), fail},
		{"Auto Scaling calls the activity cancelled", checktest.Change(stillborn("Client.InvalidKMSKey.InvalidState", ""), cancelled), fail},
		{"the activity says nothing exact", checktest.Change(stillborn("Client.InternalError", ""), func(s *snapshot.Snapshot) {
			s.Activities[0].Status, s.Activities[0].Message = "Failed", "Something went wrong. Launching EC2 instance failed."
		}), fail},
		{"it runs", snapshottest.PrivateWithNAT(), pass},
		{"it was a node", checktest.Change(stillborn("Client.InternalError", ""), func(s *snapshot.Snapshot) { snapshottest.Join(s, snapshottest.Node) }), pass},
		{"ended for another reason", stillborn("Server.SpotInstanceTermination", ""), pass},
		{"EC2 took it back under its launch hook", checktest.Change(stillborn("Server.SpotInstanceTermination", ""), func(s *snapshot.Snapshot) {
			cancelled(s)
			s.Activities[0].Message = "Instance became unhealthy while waiting for instance to be in InService state. Termination Reason: Server.SpotInstanceTermination: Spot instance termination"
		}), pass},
		{"a later one runs", checktest.Change(stillborn("Client.InternalError", ""), func(s *snapshot.Snapshot) {
			snapshottest.Instance(s, snapshottest.Node).Subnet = snapshottest.Private
			snapshottest.Launch(s, "i-0new", snapshottest.Private, 2*time.Minute)
		}), pass},
		{"two hours ago", checktest.Change(stillborn("Client.InternalError", ""), func(s *snapshot.Snapshot) {
			i := snapshottest.Instance(s, snapshottest.Node)
			i.Launched, i.StateReason.When, s.Activities = s.Time.Add(-2*time.Hour), s.Time.Add(-2*time.Hour), nil
		}), pass},
		{"out of scope", checktest.Change(stillborn("Client.InternalError", ""), func(s *snapshot.Snapshot) { s.Scope.Instances = nil }), pass},
		{"of a node pool", checktest.Change(stillborn("Client.InternalError", ""), karpenter), []string{"fail nodepool/pool [nodepool/pool] [i-0node] NodePool pool cannot launch: a volume's KMS key cannot be used"}},
		{"a node pool that is well", checktest.Change(snapshottest.PrivateWithNAT(), karpenter), []string{"pass prod [nodepool/pool]"}},
		{"instances unread: the activity tells", checktest.Change(stillborn("", ""), cancelled, checktest.Unread(snapshot.Instances)), []string{
			"fail eks-workers [eks-workers] [] workers cannot launch: a volume's KMS key cannot be used",
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := checktest.Lines(checktest.EvalOne(t, KMSKey(), tt.world)); strings.Join(got, "\n") != strings.Join(tt.want, "\n") {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

// The key and the role are named where they are known.
func TestKMSKeyIsNamed(t *testing.T) {
	const key = "arn:aws:kms:us-west-2:123456789012:key/0a1b2c3d"
	s := stillborn("Client.InternalError", "")
	s.LaunchTemplates[0].KMSKeys = []string{key}
	got := checktest.Failed(t, KMSKey(), s)
	if got.Resource != key || !strings.Contains(got.Fix.Command, "aws kms describe-key --region us-west-2 --key-id "+key) {
		t.Errorf("%s: %s", got.Resource, got.Fix.Command)
	}
	if want := "arn:aws:iam::123456789012:role/aws-service-role/autoscaling.amazonaws.com/AWSServiceRoleForAutoScaling"; !strings.Contains(got.Fix.Text, want) {
		t.Errorf("Fix = %q, want %q in it", got.Fix.Text, want)
	}
	s.Groups[0].ServiceRole = "arn:aws:iam::123456789012:role/aws-service-role/autoscaling.amazonaws.com/AWSServiceRoleForAutoScaling_own"
	if got := checktest.Failed(t, KMSKey(), s); !strings.Contains(got.Fix.Text, "AutoScaling_own") {
		t.Errorf("Fix = %q", got.Fix.Text)
	}
}

// A quota is named where all that the group launches count against one.
func TestQuotaIsNamed(t *testing.T) {
	const text = "Could not launch On-Demand Instances. VcpuLimitExceeded - You have requested more vCPU capacity than your current vCPU limit of 8 allows."
	for _, tt := range []struct {
		types    []string
		resource string
		command  string
	}{
		{[]string{"g4dn.xlarge", "g5.xlarge"}, "L-DB2E81BA", "get-service-quota --region us-west-2 --service-code ec2 --quota-code L-DB2E81BA"},
		{[]string{"m5.large", "p4d.24xlarge"}, checktest.WorkersGroup, "list-service-quotas --region us-west-2 --service-code ec2 --query 'Quotas[?contains(QuotaName,`Running On-Demand`)].[QuotaCode,QuotaName,Value]' --output table"},
		{[]string{"qq1.large"}, checktest.WorkersGroup, "list-service-quotas"},
		{nil, checktest.WorkersGroup, "list-service-quotas"},
	} {
		s := checktest.Attempted(text)
		s.Nodegroups[0].Types = tt.types
		got := checktest.Failed(t, VCPULimit(), s)
		if got.Resource != tt.resource || !strings.Contains(got.Fix.Command, tt.command) {
			t.Errorf("%v: %s, %q, want %s, %q", tt.types, got.Resource, got.Fix.Command, tt.resource, tt.command)
		}
	}
}

// A failed launch without a subnet is over when one in its zone succeeded, or
// any where it names no zone either.
func TestRecoveryWithoutASubnet(t *testing.T) {
	const text = "Could not launch Spot Instances. UnfulfillableCapacity - Unable to fulfill capacity due to your request configuration."
	for _, tt := range []struct {
		zone, later string
		over        bool
	}{{"us-west-2a", "us-west-2a", true}, {"us-west-2a", "us-west-2b", false}, {"", "us-west-2b", true}} {
		s := checktest.Attempted(text, func(a *snapshot.Activity) { a.Subnet, a.Zone = "", tt.zone })
		checktest.Fails(s, "", 5*time.Minute, func(a *snapshot.Activity) {
			a.Status, a.About, a.Zone, a.Subnet = "Successful", "Launching a new EC2 instance: i-0new", tt.later, "subnet-0x"
		})
		over := fmt.Sprint(checktest.Lines(checktest.EvalOne(t, InsufficientCapacity(), s))) == "[pass prod [eks-workers]]"
		if over != tt.over {
			t.Errorf("failed in %q, succeeded in %q: over is %v", tt.zone, tt.later, over)
		}
	}
}
