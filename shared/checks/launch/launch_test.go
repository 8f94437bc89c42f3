package launch

import (
	stdcmp "cmp"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"rollcall/shared/checkid"
	"rollcall/shared/checks/check"
	"rollcall/shared/checks/checktest"
	"rollcall/shared/node/activity"
	"rollcall/shared/node/autolog"
	"rollcall/shared/node/text"
	"rollcall/shared/snapshot"
	"rollcall/shared/snapshot/snapshottest"
	"rollcall/tools/expect"
)

func checkOf(id checkid.ID) check.Check { return checktest.One(Checks(), id) }

func TestCases(t *testing.T) {
	checktest.RunTable(t, Checks(), map[checkid.ID][]checktest.Case{
		checkid.LaunchAccountValidation: launchOutcomes(
			"Your request for accessing resources in this region is being validated, and you will not be able to launch additional resources in this region until the validation is complete. Launching EC2 instance failed.",
			"fail 123456789012 [eks-workers] [] workers cannot launch: AWS has not validated the account",
		),
		checkid.LaunchAMI: launchOutcomes(
			"The image id '[ami-02c7e84c65fcfecee]' does not exist. Launching EC2 instance failed.",
			"fail ami-02c7e84c65fcfecee [eks-workers] [] workers cannot launch: its AMI cannot be used",
		),
		checkid.LaunchCapacityReservation: launchOutcomes(
			"The requested reservation does not have sufficient compatible and available capacity for this request. Launching EC2 instance failed.",
			"fail eks-workers [eks-workers] [] workers cannot launch: its capacity reservation rejects it",
		),
		checkid.LaunchEncryptionControls: launchEncryptionControlsCases(),
		checkid.LaunchFleetLimit: launchOutcomes(
			"You've reached your quota for maximum Fleet Requests for this account. Launching EC2 instance failed.",
			"fail 123456789012 [eks-workers] [] workers cannot launch: the quota of fleet requests is used up",
		),
		checkid.LaunchIMDSEnforced: launchOutcomes(
			"You can't launch instances with IMDSv1 because httpTokensEnforced is enabled for this account. Either launch the instance with httpTokens=required or contact your account owner to disable httpTokensEnforced using the ModifyInstanceMetadataDefaults API or the account settings in the EC2 console. Launching EC2 instance failed.",
			"fail lt-0a [eks-workers] [] workers cannot launch: the account enforces IMDSv2",
		),
		checkid.LaunchInsufficientCapacity: launchOutcomes(
			"We currently do not have sufficient m5.large capacity in the Availability Zone you requested (us-west-2a). Launching EC2 instance failed.",
			"fail eks-workers [eks-workers] [] workers cannot launch: EC2 has no capacity",
		),
		checkid.LaunchKMSKey: launchOutcomes(
			"One or more of the attached Amazon EBS volumes are encrypted with an inaccessible AWS KMS key.",
			"fail eks-workers [eks-workers] [] workers cannot launch: a volume's KMS key cannot be used",
		),
		checkid.LaunchProfile: launchOutcomes(
			"Value (eks-d8c6d9f9) for parameter iamInstanceProfile.name is invalid. Invalid IAM Instance Profile name",
			"fail eks-d8c6d9f9 [eks-workers] [] workers cannot launch: its instance profile does not exist",
		),
		checkid.LaunchPlacement: launchOutcomes(
			"The placement group 'hpc' is in use in another availability zone: us-west-2b. Launching EC2 instance failed.",
			"fail eks-workers [eks-workers] [] workers cannot launch: its placement group or host rejects it",
		),
		checkid.LaunchSecurityGroup: launchOutcomes(
			"The security group 'sg-0a1b2c3d' does not exist. Launching EC2 instance failed.",
			"fail sg-0a1b2c3d [eks-workers] [] workers cannot launch: a security group is missing or invalid",
		),
		checkid.LaunchServiceRole: launchOutcomes(
			"AuthFailure.ServiceLinkedRoleCreationNotPermitted: The provided credentials do not have permission to create the service-linked role for EC2 Spot Instances.",
			"fail 123456789012 [eks-workers] [] workers cannot launch: a service-linked role is missing",
		),
		checkid.LaunchSpotLimit: launchOutcomes(
			"Could not launch Spot Instances. MaxSpotInstanceCountExceeded - Max spot instance count exceeded. Launching EC2 instance failed.",
			"fail L-34B43A08 [eks-workers] [] workers cannot launch: the quota of Spot vCPUs is used up",
		),
		checkid.LaunchSpotPrice: launchOutcomes(
			"Could not launch Spot Instances. SpotMaxPriceTooLow - Your Spot request price of 0.02 is lower than the minimum required Spot request fulfillment price of 0.0216. Launching EC2 instance failed.",
			"fail eks-workers [eks-workers] [] workers cannot launch: Spot price above the maximum",
		),
		checkid.LaunchSubnetFull: launchOutcomes(
			"There are not enough free addresses in subnet 'subnet-0private' to satisfy the requested number of instances. Launching EC2 instance failed.",
			"fail subnet-0private [eks-workers] [] workers cannot launch: the subnet has no free address",
		),
		checkid.LaunchSuspended: launchSuspendedCases(),
		checkid.LaunchTemplate: append(launchOutcomes(
			"You must use a valid fully-formed launch template. The key pair 'ops' does not exist",
			"fail lt-0a [eks-workers] [] workers cannot launch: the launch template is invalid",
		), checktest.Case{"the subnet was deleted", checktest.Attempted(lostSubnetText), []string{
			"fail subnet-0dead [eks-workers] [] workers cannot launch: subnet-0dead does not exist",
		}}),
		checkid.LaunchThrottled: launchOutcomes(
			"Request limit exceeded. Launching EC2 instance failed.",
			"fail 123456789012 [eks-workers] [] workers cannot launch: the account's calls are throttled",
		),
		checkid.LaunchUnauthorized: launchOutcomes(
			"You are not authorized to perform this operation. Encoded authorization failure message: abcDEF-_123 Launching EC2 instance failed.",
			"fail eks-workers [eks-workers] [] workers cannot launch: the launching role lacks a permission",
		),
		checkid.LaunchUnclassified: launchOutcomes(
			"The moon is in the wrong house. Launching EC2 instance failed.",
			"fail eks-workers [eks-workers] [] workers cannot launch: unrecognized AWS error",
		),
		checkid.LaunchUnsupportedType: launchOutcomes(
			"Your requested instance type (m5.large) is not supported in your requested Availability Zone (us-west-2d). Launching EC2 instance failed.",
			"fail eks-workers [eks-workers] [] workers cannot launch: the instance type is not supported there",
		),
		checkid.LaunchVCPULimit: launchOutcomes(
			"You have requested more vCPU capacity than your current vCPU limit of 8 allows for the instance bucket that the specified instance type belongs to. Launching EC2 instance failed.",
			"fail L-1216C47A [eks-workers] [] workers cannot launch: the quota of vCPUs is used up",
		),
		checkid.LaunchVolumeLimit: launchOutcomes(
			"Instance became unhealthy while waiting for instance to be in InService state. Client.VolumeLimitExceeded: Volume limit exceeded",
			"fail 123456789012 [eks-workers] [] workers cannot launch: the limit for EBS volumes is reached",
		),
	})
}

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
			if got := checktest.Lines(checktest.EvalOne(t, checkOf(checkid.LaunchKMSKey), tt.world)); strings.Join(got, "\n") != strings.Join(tt.want, "\n") {
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
	got := checktest.Failed(t, checkOf(checkid.LaunchKMSKey), s)
	if got.Resource != key || !strings.Contains(got.Fix.Command, "aws kms describe-key --region us-west-2 --key-id "+key) {
		t.Errorf("%s: %s", got.Resource, got.Fix.Command)
	}
	if want := "arn:aws:iam::123456789012:role/aws-service-role/autoscaling.amazonaws.com/AWSServiceRoleForAutoScaling"; !strings.Contains(got.Fix.Text, want) {
		t.Errorf("Fix = %q, want %q in it", got.Fix.Text, want)
	}
	s.Groups[0].ServiceRole = "arn:aws:iam::123456789012:role/aws-service-role/autoscaling.amazonaws.com/AWSServiceRoleForAutoScaling_own"
	if got := checktest.Failed(t, checkOf(checkid.LaunchKMSKey), s); !strings.Contains(got.Fix.Text, "AutoScaling_own") {
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
		got := checktest.Failed(t, checkOf(checkid.LaunchVCPULimit), s)
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
		over := fmt.Sprint(checktest.Lines(checktest.EvalOne(t, checkOf(checkid.LaunchInsufficientCapacity), s))) == "[pass prod [eks-workers]]"
		if over != tt.over {
			t.Errorf("failed in %q, succeeded in %q: over is %v", tt.zone, tt.later, over)
		}
	}
}

// TestCapacityReservationStands: EC2 says the same of a reservation that is full, over
// or another type's; what it is tells which.
func TestCapacityReservationStands(t *testing.T) {
	const text = "The requested reservation does not have sufficient compatible and available capacity for this request. Launching EC2 instance failed."
	world := func(r snapshot.CapacityReservation, changes ...func(*snapshot.Snapshot)) *snapshot.Snapshot {
		s := checktest.Attempted(text)
		s.LaunchTemplates = []snapshot.LaunchTemplate{{ID: "lt-0workers", Version: "3", Type: "p5.48xlarge", Reservation: "cr-0a"}}
		s.Groups[0].Template = snapshot.TemplateRef{ID: "lt-0workers", Version: "3"}
		r.ID = "cr-0a"
		s.CapacityReservations = []snapshot.CapacityReservation{r}
		return checktest.Change(s, changes...)
	}
	ours := func(state string, total, free int) snapshot.CapacityReservation {
		return snapshot.CapacityReservation{State: state, Type: "p5.48xlarge", Zone: snapshottest.Zone, Total: total, Free: free}
	}
	other := func(change func(*snapshot.CapacityReservation)) snapshot.CapacityReservation {
		r := ours("active", 16, 4)
		change(&r)
		return r
	}
	const head, plain = "workers cannot launch: ", "its capacity reservation rejects it"
	for name, tt := range map[string]struct {
		world *snapshot.Snapshot
		title string
		says  string
	}{
		"used up":   {world(ours("active", 16, 0)), "its capacity reservation is used up: all 16 are taken", "active; 0 of 16 free, of p5.48xlarge in us-west-2a"},
		"over":      {world(ours("expired", 16, 0)), "its capacity reservation is over", "expired; 0 of 16 free, of p5.48xlarge in us-west-2a"},
		"cancelled": {world(ours("cancelled", 0, 0)), "its capacity reservation is over", "cancelled; 0 of 0 free, of p5.48xlarge in us-west-2a"},
		"a block of later": {world(snapshot.CapacityReservation{State: "scheduled", Type: "p5.48xlarge", Zone: snapshottest.Zone, Total: 16, Block: true,
			Start: time.Date(2026, 11, 21, 11, 30, 0, 0, time.UTC), End: time.Date(2026, 11, 22, 11, 30, 0, 0, time.UTC)}),
			"its capacity reservation is not active yet", "a capacity block, scheduled; 0 of 16 free, of p5.48xlarge in us-west-2a, from 2026-11-21 11:30, until 2026-11-22 11:30"},
		"being paid":      {world(ours("payment-pending", 16, 0)), "its capacity reservation is not active yet", "payment-pending; 0 of 16 free, of p5.48xlarge in us-west-2a"},
		"unsupported":     {world(ours("unsupported", 16, 0)), "its capacity reservation is unsupported", "unsupported; 0 of 16 free, of p5.48xlarge in us-west-2a"},
		"of another type": {world(other(func(r *snapshot.CapacityReservation) { r.Type = "p4d.24xlarge" })), "its capacity reservation is for p4d.24xlarge, not p5.48xlarge", "active; 4 of 16 free, of p4d.24xlarge in us-west-2a"},
		"in another zone": {world(other(func(r *snapshot.CapacityReservation) { r.Zone = "us-west-2z" })), "its capacity reservation is in us-west-2z, where the group has no s…", "active; 4 of 16 free, of p5.48xlarge in us-west-2z"},
		"its zone, where a subnet of the group is not known": {world(other(func(r *snapshot.CapacityReservation) { r.Zone = "us-west-2z" }), func(s *snapshot.Snapshot) {
			s.Groups[0].Subnets = append(s.Groups[0].Subnets, "subnet-0gone")
		}), plain, "active; 4 of 16 free, of p5.48xlarge in us-west-2z"},
		"it has room":               {world(ours("active", 16, 4)), plain, "active; 4 of 16 free, of p5.48xlarge in us-west-2a"},
		"it is not there":           {world(ours("active", 16, 4), func(s *snapshot.Snapshot) { s.CapacityReservations = nil }), "its capacity reservation does not exist", "is not among those that EC2 lists here"},
		"nobody could look":         {world(ours("active", 16, 4), checktest.Unread(snapshot.CapacityReservations)), plain, "not read: test:Read capacity reservations denied"},
		"the template names none":   {world(ours("expired", 16, 0), func(s *snapshot.Snapshot) { s.LaunchTemplates[0].Reservation = "" }), plain, ""},
		"the template was not read": {world(ours("expired", 16, 0), checktest.Unread(snapshot.LaunchTemplates)), plain, ""},
	} {
		r := checktest.Failed(t, checkOf(checkid.LaunchCapacityReservation), tt.world)
		got := strings.Join(evidenceOf(r, "Capacity reservation cr-0a"), "; and ")
		if r.Title != head+tt.title && !strings.HasPrefix(head+tt.title, strings.TrimSuffix(r.Title, "…")) || got != tt.says {
			t.Errorf("%s: %q, %q; want %q, %q", name, r.Title, got, head+tt.title, tt.says)
		}
	}
}

func addGroup(s *snapshot.Snapshot, name string) {
	s.Groups = append(s.Groups, snapshot.Group{Name: name, Subnets: []string{snapshottest.Private}, Max: 3})
}

// launchOutcomes are the cases that every check of failed launches must hold,
// for a text of its class: fail is the finding.
func launchOutcomes(text, fail string) []checktest.Case {
	pass := []string{"pass prod [eks-workers]"}
	both := []string{fail, "pass prod [eks-others]"}
	if strings.Fields(fail)[1] > "prod" { // findings are ordered by resource
		slices.Reverse(both)
	}
	return []checktest.Case{
		{"no failed launch", snapshottest.PrivateWithNAT(), pass},
		{"its text", checktest.Attempted(text), []string{fail}},
		{"no message, and the text in the description", checktest.Attempted(text, func(a *snapshot.Activity) { a.Message = "" }), []string{fail}},
		{"a text of another class", checktest.Attempted(another(text)), pass},
		{"an hour ago", checktest.Change(snapshottest.PrivateWithNAT(), func(s *snapshot.Snapshot) { checktest.Fails(s, text, 61*time.Minute) }), pass},
		{"of a group that is not the cluster's", checktest.Attempted(text, func(a *snapshot.Activity) { a.Group = "other" }), pass},
		{"it ended an instance", checktest.Attempted(text, func(a *snapshot.Activity) { a.About = "Terminating EC2 instance: i-0other" }), pass},
		{"called off", checktest.Attempted(text, func(a *snapshot.Activity) {
			a.Status, a.About, a.Message = "Cancelled", "Launching a new EC2 instance: i-0new", ""
		}), pass},
		{"called off, with its text", checktest.Attempted(text, func(a *snapshot.Activity) { a.Status = "Cancelled" }), []string{fail}},
		{"still under way", checktest.Attempted(text, func(a *snapshot.Activity) { a.Status = "InProgress" }), pass},
		{"a status newer than this program", checktest.Attempted(text, func(a *snapshot.Activity) { a.Status = "Wobbling" }), []string{
			`unknown eks-workers [eks-workers] scaling activities: broken: whether a scaling activity of eks-workers (Wobbling, 14:50:00 UTC) succeeded is unknown`,
		}},
		{"no status at all", checktest.Attempted(text, func(a *snapshot.Activity) { a.Status = "" }), []string{
			`unknown eks-workers [eks-workers] scaling activities: broken: whether a scaling activity of eks-workers (no status, 14:50:00 UTC) succeeded is unknown`,
		}},
		{"without a time", checktest.Attempted(text, func(a *snapshot.Activity) { a.Started, a.Ended = time.Time{}, time.Time{} }), []string{
			`unknown eks-workers [eks-workers] scaling activities: broken: whether a scaling activity of eks-workers (Failed, an unknown time) succeeded is unknown`,
		}},
		{"a later launch in the subnet succeeded", checktest.Change(checktest.Attempted(text), func(s *snapshot.Snapshot) {
			checktest.Fails(s, "", 5*time.Minute, func(a *snapshot.Activity) {
				a.Status, a.About, a.Instance = "Successful", "Launching a new EC2 instance: i-0new", "i-0new"
			})
		}), pass},
		{"a later launch in another subnet succeeded", checktest.Change(checktest.Attempted(text), func(s *snapshot.Snapshot) {
			checktest.Fails(s, "", 5*time.Minute, func(a *snapshot.Activity) {
				a.Status, a.About, a.Instance, a.Subnet = "Successful", "Launching a new EC2 instance: i-0new", "i-0new", "subnet-0other"
			})
		}), []string{fail}},
		{"a later instance runs there, its activity still open", checktest.Change(checktest.Attempted(text), func(s *snapshot.Snapshot) {
			snapshottest.Launch(s, "i-0new", snapshottest.Private, 2*time.Minute)
		}), pass},
		{"it failed, then succeeded, then failed again", checktest.Change(checktest.Attempted(text), func(s *snapshot.Snapshot) {
			checktest.Fails(s, "", 5*time.Minute, func(a *snapshot.Activity) { a.Status, a.About = "Successful", "Launching a new EC2 instance: i-0new" })
			checktest.Fails(s, text, time.Minute)
		}), []string{fail}},
		{"another group is well", checktest.Change(checktest.Attempted(text), func(s *snapshot.Snapshot) { addGroup(s, "eks-others") }), both},
		{"one group's activities could not be read", checktest.Change(snapshottest.PrivateWithNAT(), func(s *snapshot.Snapshot) {
			s.Lack(snapshot.Activities, checktest.WorkersGroup, snapshot.Failure{Source: snapshot.Activities, Reason: snapshot.Throttled, Call: "autoscaling:DescribeScalingActivities"})
		}), []string{"unknown eks-workers [eks-workers] scaling activities: throttled"}},
		{"activities unread", checktest.Change(checktest.Attempted(text), checktest.Unread(snapshot.Activities)), []string{"unknown prod [] scaling activities: denied"}},
		{"groups unread", checktest.Change(checktest.Attempted(text), checktest.Unread(snapshot.Groups)), []string{"unknown prod [] auto scaling groups: denied"}},
	}
}

// another is a text of a class that the given one is not.
func another(text string) string {
	const limit, none = "VcpuLimitExceeded", "Max spot instance count exceeded. Launching EC2 instance failed."
	if strings.Contains(text, "vCPU") {
		return none
	}
	return limit
}

// Two groups that one quota stops are one finding, and so are a thousand
// launches of one group; the words are the same however many there are.
func TestOneFindingForOneCause(t *testing.T) {
	const text = "You have requested more vCPU capacity than your current vCPU limit of 8 allows for the instance bucket that the specified instance type belongs to. Launching EC2 instance failed."
	s := checktest.Attempted(text)
	once := checktest.Failed(t, checkOf(checkid.LaunchVCPULimit), s)
	addGroup(s, "eks-others")
	s.Nodegroups = append(s.Nodegroups, snapshot.Nodegroup{Name: "others", Groups: []string{"eks-others"}, Types: []string{"c5.large", "r5.large"}})
	for n := range 1000 {
		checktest.Fails(s, text, time.Duration(n)*time.Second, func(a *snapshot.Activity) {
			if n%2 == 0 {
				a.Group = "eks-others"
			}
		})
	}
	got := checktest.Failed(t, checkOf(checkid.LaunchVCPULimit), s)
	if got.Resource != "L-1216C47A" || fmt.Sprint(got.Covers) != "[eks-others eks-workers]" {
		t.Errorf("%s covers %v", got.Resource, got.Covers)
	}
	expect.Equal(t, "Failed launches", checktest.Value(t, got, "Failed launches"), "1001, from 14:43:21 UTC to 15:00:00 UTC")
	if len(got.Evidence) > 4 {
		t.Errorf("evidence repeats itself: %v", got.Evidence)
	}
	s.Groups, s.Activities = s.Groups[:1], s.Activities[:1]
	for n := range 50 {
		checktest.Fails(s, text, time.Duration(n)*time.Second)
	}
	if many := checktest.Failed(t, checkOf(checkid.LaunchVCPULimit), s); many.Why != once.Why || many.Title != once.Title || many.Fix != once.Fix {
		t.Errorf("the words change with how many failed:\n%q\n%q", once.Why, many.Why)
	}
}

func TestLaunchWords(t *testing.T) {
	const text = "There are not enough free addresses in subnet 'subnet-0private' to satisfy the requested number of instances. Launching EC2 instance failed."
	got := checktest.Failed(t, checkOf(checkid.LaunchSubnetFull), checktest.Attempted(text))
	want := `No instance of workers could be started in subnet-0private: the subnet has no free address for the instance. AWS reports: "` + strings.TrimSuffix(text, ".") + `".`
	if got.Why != want {
		t.Errorf("Why = %q, want %q", got.Why, want)
	}
	expect.Equal(t, "Command", got.Fix.Command, "aws ec2 describe-network-interfaces --region us-west-2 --filters Name=subnet-id,Values=subnet-0private Name=status,Values=available")
	expect.Equal(t, "evidence", checktest.Value(t, got, "Scaling activity of eks-workers"), "14:50:00 UTC Failed: "+text)
}

// Names of groups may hold anything: commands can be pasted, links work.
func TestGroupNamesAreQuoted(t *testing.T) {
	const odd = "my group's; rm -rf /"
	s := checktest.Attempted("The moon is wrong.", func(a *snapshot.Activity) { a.Group = odd })
	addGroup(s, odd)
	got := checktest.Failed(t, checkOf(checkid.LaunchUnclassified), s)
	if want := `--auto-scaling-group-name 'my group'\''s; rm -rf /' --max-items`; !strings.Contains(got.Fix.Command, want) {
		t.Errorf("Command = %q, want %q in it", got.Fix.Command, want)
	}
	if strings.ContainsAny(got.Fix.Console, " ';") && !strings.Contains(got.Fix.Console, "id=my%20group") {
		t.Errorf("Console = %q", got.Fix.Console)
	}
}

// An activity that says nothing is one that cannot be told to have succeeded.
func TestEmptyActivitiesAreUnknown(t *testing.T) {
	s := snapshottest.PrivateWithNAT()
	s.Activities = []snapshot.Activity{{}, {Group: checktest.WorkersGroup}, {Group: checktest.WorkersGroup, About: "Launching a new EC2 instance"}, {Group: checktest.WorkersGroup, Status: "Failed"}}
	got := checktest.Lines(check.Eval([]check.Check{checkOf(checkid.LaunchUnclassified)}, s))
	want := `unknown eks-workers [eks-workers] scaling activities: broken: whether a scaling activity of eks-workers (Failed, an unknown time) succeeded is unknown`
	if len(got) != 1 || got[0] != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// refusedClaim is a cluster with a NodePool and a NodeClaim that says why it is not
// launched.
func refusedClaim(reason, message string, ago time.Duration, changes ...func(*snapshot.Snapshot)) *snapshot.Snapshot {
	s := snapshottest.PrivateWithNAT()
	s.NodePools = []snapshot.NodePool{{Name: "web"}}
	s.NodeClaims = []snapshot.NodeClaim{{Name: "web-x7k2p", Generation: 1, Pool: "web", Conditions: map[string]snapshot.ObservedCondition{
		"Launched": {Condition: snapshot.Condition{Status: "Unknown", Reason: reason, Message: message, Since: s.Time.Add(-ago)}, Generation: 1},
	}}}
	return checktest.Change(s, changes...)
}

// TestNodeClaimsThatAreRefused: what Karpenter says on a NodeClaim is a refused launch
// of its pool, by reason, else by message.
func TestNodeClaimsThatAreRefused(t *testing.T) {
	const (
		min  = time.Minute
		deny = "Error creating fleet request: UnauthorizedOperation: You are not authorized to perform this operation. User: arn:aws:sts::111122223333:assumed-role/karpenter/1 is not authorized to perform: ec2:RunInstances with an explicit deny in a service control policy"
		nets = "Error creating fleet request: InvalidParameter: Security group sg-0a and subnet subnet-0b belong to different networks."
	)
	for name, tt := range map[string]struct {
		world *snapshot.Snapshot
		want  checkid.ID
	}{
		"denied by a policy":            {refusedClaim("Unauthorized", deny, 2*min), checkid.LaunchPolicyDenied},
		"Karpenter's own words of it":   {refusedClaim("Unauthorized", "due to a service control policy", 2*min), checkid.LaunchPolicyDenied},
		"nothing allows it":             {refusedClaim("Unauthorized", "because no identity-based policy allows it", 2*min), checkid.LaunchUnauthorized},
		"the image":                     {refusedClaim("AMINotFound", "no", min), checkid.LaunchAMI},
		"the profile, lately":           {refusedClaim("InstanceProfileNameInvalid", "no", 4*min), ""},
		"the profile, for five minutes": {refusedClaim("InstanceProfileNameInvalid", "no", 5*min), checkid.LaunchProfile},
		"the template":                  {refusedClaim("LaunchTemplateNotFound", "no", min), checkid.LaunchTemplate},
		"the account":                   {refusedClaim("AccountPendingVerification", "no", min), checkid.LaunchAccountValidation},
		"a role":                        {refusedClaim("SpotSLRCreationFailed", "no", min), checkid.LaunchServiceRole},
		"a quota that may free itself":  {refusedClaim("VCPULimitExceeded", "no", 4*min), ""},
		"a quota":                       {refusedClaim("VCPULimitExceeded", "no", 5*min), checkid.LaunchVCPULimit},
		"a reason that tells nothing":   {refusedClaim("LaunchFailed", nets, 2*min), checkid.LaunchSecurityGroup},
		"it was made just now":          {refusedClaim("Unauthorized", deny, 59*time.Second), ""},
		"nobody has looked":             {refusedClaim("AwaitingReconciliation", "object is awaiting reconciliation", 10*min), ""},
		"its class is not ready":        {refusedClaim("NodeClassReadinessUnknown", "NodeClass is in Ready=Unknown", 10*min), ""},
		"it is launched":                {refusedClaim("Unauthorized", deny, 2*min, func(s *snapshot.Snapshot) { s.NodeClaims[0].Instance = "i-0new" }), ""},
		"it is deleted":                 {refusedClaim("Unauthorized", deny, 2*min, func(s *snapshot.Snapshot) { s.NodeClaims[0].Deleting = true }), ""},
		"of what it was before":         {refusedClaim("Unauthorized", deny, 2*min, func(s *snapshot.Snapshot) { s.NodeClaims[0].Generation = 2 }), ""},
		"the pool got an instance since": {refusedClaim("Unauthorized", deny, 5*min, func(s *snapshot.Snapshot) {
			i := snapshottest.Instance(s, snapshottest.Node)
			i.State, i.Launched, i.Tags = "running", s.Time.Add(-min), map[string]string{"karpenter.sh/nodepool": "web"}
		}), ""},
	} {
		var got checkid.ID
		for _, c := range []check.Check{checkOf(checkid.LaunchPolicyDenied), checkOf(checkid.LaunchUnauthorized), checkOf(checkid.LaunchAMI), checkOf(checkid.LaunchProfile), checkOf(checkid.LaunchTemplate), checkOf(checkid.LaunchAccountValidation), checkOf(checkid.LaunchServiceRole), checkOf(checkid.LaunchVCPULimit), checkOf(checkid.LaunchSecurityGroup), checkOf(checkid.LaunchThrottled), checkOf(checkid.LaunchUnclassified)} {
			for _, r := range check.Eval([]check.Check{c}, tt.world) {
				if r.Outcome == check.Fail {
					if got != "" || r.Resource != "nodepool/web" || !cmp.Equal(r.Covers, []string{"nodepool/web"}) {
						t.Errorf("%s: %s of %s covers %q, beside %q", name, r.Check, r.Resource, r.Covers, got)
					}
					got = r.Check
					if claims := evidenceOf(r, "NodeClaims that report it"); !cmp.Equal(claims, []string{"web-x7k2p"}) {
						t.Errorf("%s: the NodeClaims %q are named", name, claims)
					}
				}
			}
		}
		if got != tt.want {
			t.Errorf("%s: %q, want %q", name, got, tt.want)
		}
	}
}

// waitsFor adds a pod that the scheduler has found no node for since some time.
func waitsFor(ago time.Duration, changes ...func(*snapshot.WaitingPod)) func(*snapshot.Snapshot) {
	return func(s *snapshot.Snapshot) {
		w := snapshot.WaitingPod{Namespace: "ml", Name: "train-0", Created: s.Time.Add(-ago), Scheduled: snapshot.Condition{Status: "False", Reason: "Unschedulable", Since: s.Time.Add(-ago)}}
		for _, change := range changes {
			change(&w)
		}
		s.WaitingPods = append(s.WaitingPods, w)
	}
}

// TestRefusalsThatKarpenterReports: without CloudTrail, a NodeClaim, its event or that of
// its NodePool shows a refused launch, as soon as a pod waits for it.
func TestRefusalsThatKarpenterReports(t *testing.T) {
	const (
		min   = time.Minute
		short = "NodeClaim web-x7k2p event: creating instance, insufficient capacity, with fleet error(s), InsufficientInstanceCapacity: We currently do not have sufficient g6.xlarge capacity in the Availability Zone you requested (us-west-2a). Our system will be working on provisioning addi..."
		none  = "NodeClaim web-x7k2p event: creating instance, insufficient capacity, all requested instance types were unavailable during launch"
		quota = "NodeClaim web-x7k2p event: creating instance, insufficient capacity, with fleet error(s), VcpuLimitExceeded: You have requested more vCPU capacity than your current vCPU limit of 64 allows for the instance bucket"
		spots = "NodeClaim web-x7k2p event: creating instance, insufficient capacity, with fleet error(s), MaxSpotInstanceCountExceeded: Max spot instance count exceeded; InsufficientInstanceCapacity: There is no Spot capacity available that matches your request."
		block = "NodeClaim web-x7k2p event: creating instance, insufficient capacity, with fleet error(s), ReservationCapacityExceeded: The requested reservation does not have sufficient compatible and available capacity for this request."
		full  = "NodeClaim web-x7k2p event: creating instance, insufficient capacity, with fleet error(s), InsufficientFreeAddressesInSubnet: There are insufficient free addresses in that subnet to run instance"
		role  = `Attempted to launch a spot instance but failed due to "AuthFailure.ServiceLinkedRoleCreationNotPermitted"`
	)
	pool := func(events ...snapshot.PoolEvent) func(...func(*snapshot.Snapshot)) *snapshot.Snapshot {
		return func(changes ...func(*snapshot.Snapshot)) *snapshot.Snapshot {
			s := snapshottest.PrivateWithNAT()
			s.NodePools = []snapshot.NodePool{{Name: "web"}, {Name: "web-large", Taints: []snapshot.Taint{{Key: "large", Effect: "NoSchedule"}}}}
			for _, e := range events {
				e.First, e.Last = s.Time.Add(e.First.Sub(time.Time{})-24*time.Hour), s.Time.Add(e.Last.Sub(time.Time{})-24*time.Hour)
				s.PoolEvents = append(s.PoolEvents, e)
			}
			return checktest.Change(s, changes...)
		}
	}
	event := func(kind, name, reason, message string, first, last time.Duration) snapshot.PoolEvent {
		at := func(ago time.Duration) time.Time { return time.Time{}.Add(24*time.Hour - ago) }
		return snapshot.PoolEvent{Kind: kind, Name: name, Reason: reason, Message: message, First: at(first), Last: at(last)}
	}
	claim := func(message string, ago time.Duration) snapshot.PoolEvent {
		return event("NodeClaim", "web-x7k2p", "InsufficientCapacityError", message, ago, ago)
	}
	claimed := func(reason string, ago time.Duration) func(...func(*snapshot.Snapshot)) *snapshot.Snapshot {
		return func(changes ...func(*snapshot.Snapshot)) *snapshot.Snapshot {
			return refusedClaim(reason, "no", ago, changes...)
		}
	}
	unreadPods := checktest.Unread(snapshot.WaitingPods)
	started := func(ago time.Duration) func(*snapshot.Snapshot) {
		return func(s *snapshot.Snapshot) {
			s.NodeClaims = append(s.NodeClaims, snapshot.NodeClaim{Name: "web-new", Pool: "web", Instance: "i-0new", Conditions: map[string]snapshot.ObservedCondition{
				"Launched": {Condition: snapshot.Condition{Status: "True", Since: s.Time.Add(-ago)}},
			}})
		}
	}
	three := 3
	for name, tt := range map[string]struct {
		world *snapshot.Snapshot
		want  string
	}{
		"one event, a pod waits":               {pool(claim(short, 2*min))(waitsFor(3 * min)), "certain launch/insufficient-capacity"},
		"one event of 50 minutes ago":          {pool(claim(short, 50*min))(waitsFor(55 * min)), "certain launch/insufficient-capacity"},
		"of an hour ago":                       {pool(claim(short, 61*min))(waitsFor(65 * min)), ""},
		"a pod that waits for something newer": {pool(claim(short, 50*min))(waitsFor(10 * min)), ""},
		"a pod that waits for seconds":         {pool(claim(short, min/2))(waitsFor(min / 2)), ""},
		"no pod waits, for a moment":           {pool(claim(short, 2*min))(), ""},
		"no pod waits, for long":               {pool(claim(short, 20*min), claim(short, 9*min))(), "advice launch/insufficient-capacity"},
		"no pod waits for it":                  {pool(claim(short, 20*min), claim(short, 9*min))(waitsFor(30*min, func(w *snapshot.WaitingPod) { w.Selector = map[string]string{"team": "x"} })), "advice launch/insufficient-capacity"},
		"a gated pod":                          {pool(claim(short, 2*min))(waitsFor(30*min, func(w *snapshot.WaitingPod) { w.Gated = true })), ""},
		"an event that repeats":                {pool(event("NodeClaim", "web-x7k2p", "InsufficientCapacityError", short, 20*min, 9*min))(), "advice launch/insufficient-capacity"},
		"launched since":                       {pool(claim(short, 5*min))(waitsFor(20*min), started(min)), ""},
		"launched before":                      {pool(claim(short, 5*min))(waitsFor(20*min), started(8*min)), "certain launch/insufficient-capacity"},
		"Karpenter asked for none":             {pool(claim(none, 2*min))(waitsFor(3 * min)), "certain launch/insufficient-capacity"},
		"vCPUs":                                {pool(claim(quota, 2*min))(waitsFor(3 * min)), "certain launch/vcpu-limit"},
		"Spot vCPUs before no capacity":        {pool(claim(spots, 2*min))(waitsFor(3 * min)), "certain launch/spot-limit"},
		"a reservation":                        {pool(claim(block, 2*min))(waitsFor(3 * min)), "certain launch/capacity-reservation"},
		"a full subnet":                        {pool(claim(full, 2*min))(waitsFor(3 * min)), "certain launch/subnet-full"},
		"the Spot role, without a reason":      {pool(event("NodeClaim", "web-x7k2p", "", role, 2*min, 2*min))(), "certain, idle launch/service-role"},
		"a class that does not resolve":        {pool(event("NodeClaim", "web-x7k2p", "", "Failed resolving NodeClass", 2*min, 2*min))(waitsFor(3 * min)), ""},
		"of the pool with the longer name":     {pool(event("NodeClaim", "web-large-x7k2p", "InsufficientCapacityError", short, 20*min, 9*min))(waitsFor(30 * min)), "advice launch/insufficient-capacity"},
		"of a pool that is gone":               {pool(event("NodeClaim", "batch-x7k2p", "InsufficientCapacityError", short, 2*min, 2*min))(waitsFor(3 * min)), ""},
		"a NodeClaim made by hand":             {pool(event("NodeClaim", "mine", "InsufficientCapacityError", short, 2*min, 2*min))(waitsFor(3 * min)), ""},
		"pods unread":                          {pool(claim(short, 2*min))(unreadPods), "unknown launch/insufficient-capacity"},
		"pods unread, for long":                {pool(claim(short, 20*min), claim(short, 9*min))(unreadPods), "likely launch/insufficient-capacity"},
		"a static pool": {pool(claim(short, 2*min))(func(s *snapshot.Snapshot) {
			s.NodePools[0].Replicas, s.NodePools[0].Used = &three, snapshot.Amounts{"nodes": "2"}
		}), "certain launch/insufficient-capacity"},
		"a static pool that has all": {pool(claim(short, 2*min))(func(s *snapshot.Snapshot) {
			s.NodePools[0].Replicas, s.NodePools[0].Used = &three, snapshot.Amounts{"nodes": "3"}
		}), ""},
		"no type fits":                          {pool(event("NodePool", "web", "NoCompatibleInstanceTypes", "NodePool requirements filtered out all compatible available instance types", 9*min, 2*min))(waitsFor(10 * min)), "certain launch/unsupported-type"},
		"no type fits for lack of capacity":     {pool(event("NodePool", "web", "NoCompatibleInstanceTypes", "NodePool requirements filtered out all compatible available instance types", 9*min, 2*min), claim(short, 3*min))(waitsFor(10 * min)), "certain launch/insufficient-capacity"},
		"the condition of it became False":      {pool(event("NodeClaim", "web-x7k2p", "Launched", "Status condition transitioned, Type: Launched, Status: Unknown -> False, Reason: SecurityGroupSubnetVPCMismatch, Message: Security groups and subnets must be in the same VPC.", 2*min, 2*min))(waitsFor(3 * min)), "certain launch/security-group"},
		"the condition of it became True":       {pool(event("NodeClaim", "web-x7k2p", "Launched", "Status condition transitioned, Type: Launched, Status: Unknown -> True, Reason: Launched", 2*min, 2*min))(waitsFor(3 * min)), ""},
		"groups of another VPC, for 70 seconds": {claimed("SecurityGroupSubnetVPCMismatch", 70*time.Second)(), "certain launch/security-group"},
		"a quota, for 70 seconds, a pod waits":  {claimed("VCPULimitExceeded", 70*time.Second)(waitsFor(2 * min)), "certain launch/vcpu-limit"},
		"anything, for 70 seconds, a pod waits": {claimed("LaunchFailed", 70*time.Second)(waitsFor(2 * min)), "certain launch/unclassified"},
		"a reason newer than this, a pod waits": {claimed("MoonInTheWrongPhase", 4*min)(waitsFor(5 * min)), "certain launch/unclassified"},
		"a quota, pods unread":                  {claimed("VCPULimitExceeded", 70*time.Second)(unreadPods), "certain launch/vcpu-limit"},
		"a NodeClaim that says False": {claimed("VCPULimitExceeded", 70*time.Second)(waitsFor(2*min), func(s *snapshot.Snapshot) {
			l := s.NodeClaims[0].Conditions["Launched"]
			l.Status = "False"
			s.NodeClaims[0].Conditions["Launched"] = l
		}), "certain launch/vcpu-limit"},
		"CloudTrail, one call, a pod waits":      {checktest.Change(refusedPool(checkid.LaunchInsufficientCapacity, noCapacity, 6*min, 6*min), gpuPool, waitsFor(20*min)), "certain launch/insufficient-capacity"},
		"CloudTrail, two calls, a pod waits":     {checktest.Change(refusedPool(checkid.LaunchSpotLimit, "MaxSpotInstanceCountExceeded: x", 6*min, 2*min), gpuPool, waitsFor(20*min)), "certain launch/spot-limit"},
		"events unread, a pod waits":             {pool()(waitsFor(6*min), checktest.Unread(snapshot.PoolEventsOf)), "unknown launch/insufficient-capacity"},
		"events unread, a pod waits for moments": {pool()(waitsFor(4*min), checktest.Unread(snapshot.PoolEventsOf)), ""},
		"events unread, a NodeClaim is refused":  {claimed("AMINotFound", 4*min)(waitsFor(6*min), checktest.Unread(snapshot.PoolEventsOf)), "certain launch/ami"},
		"CloudTrail, no pod waits":               {checktest.Change(refusedPool(checkid.LaunchInsufficientCapacity, noCapacity, 6*min, 2*min), gpuPool), ""},
		"CloudTrail, for long, no pod waits":     {checktest.Change(refusedPool(checkid.LaunchInsufficientCapacity, noCapacity, 20*min, 2*min), gpuPool), "advice launch/insufficient-capacity"},
		"CloudTrail, not allowed, no pod waits":  {checktest.Change(refusedPool(checkid.LaunchUnauthorized, notAllowed, 6*min, 2*min), gpuPool), "certain, idle launch/unauthorized"},
		"CloudTrail, one call, pods unread":      {checktest.Change(refusedPool(checkid.LaunchInsufficientCapacity, noCapacity, 6*min, 6*min), gpuPool, unreadPods), "unknown launch/insufficient-capacity"},
		"CloudTrail, one call, NodePools unread": {checktest.Change(refusedPool(checkid.LaunchInsufficientCapacity, noCapacity, 6*min, 6*min), waitsFor(20*min), checktest.Unread(snapshot.NodePoolsOf)), "unknown launch/insufficient-capacity"},
	} {
		var got []string
		for _, c := range []check.Check{checkOf(checkid.LaunchInsufficientCapacity), checkOf(checkid.LaunchVCPULimit), checkOf(checkid.LaunchSpotLimit), checkOf(checkid.LaunchCapacityReservation), checkOf(checkid.LaunchSubnetFull), checkOf(checkid.LaunchServiceRole), checkOf(checkid.LaunchUnsupportedType), checkOf(checkid.LaunchSecurityGroup), checkOf(checkid.LaunchAMI), checkOf(checkid.LaunchUnauthorized), checkOf(checkid.LaunchUnclassified)} {
			for _, r := range check.Eval([]check.Check{c}, tt.world) {
				switch {
				case r.Outcome == check.Fail && r.Idle:
					got = append(got, "certain, idle "+string(r.Check))
				case r.Outcome == check.Fail:
					got = append(got, string(stdcmp.Or(r.Confidence, check.Certain))+" "+string(r.Check))
				case r.Outcome == check.Unknown:
					got = append(got, "unknown "+string(r.Check))
				}
				if idle := strings.HasSuffix(r.Why, " now."); idle != (r.Idle || r.Confidence == check.Advice) {
					t.Errorf("%s: %s", name, r.Why)
				}
			}
		}
		if strings.Join(got, ", ") != tt.want {
			t.Errorf("%s: got %q, want %q", name, got, tt.want)
		}
	}
}

// gpuPool adds the NodePool of refusedPool.
func gpuPool(s *snapshot.Snapshot) { s.NodePools = append(s.NodePools, snapshot.NodePool{Name: "gpu"}) }

// TestLogTellsWhatTheNodeClaimDoesNot: of a NodeClaim that says only that its launch
// failed, the log of EKS Auto Mode may say why. Of one that says why it adds the words.
func TestLogTellsWhatTheNodeClaimDoesNot(t *testing.T) {
	const (
		min    = time.Minute
		vague  = "Instance launch failed"
		denies = "Reconciler error: creating fleet, operation error EC2: CreateFleet, api error UnauthorizedOperation: You are not authorized to perform this operation. User: arn:aws:sts::111122223333:assumed-role/cluster/1 is not authorized to perform: ec2:RunInstances with an explicit deny in a service control policy"
		short  = "Reconciler error: creating instance, insufficient capacity, with fleet error(s), InsufficientInstanceCapacity: We currently do not have sufficient g5.xlarge capacity"
	)
	logs := func(records ...snapshot.LogRecord) func(*snapshot.Snapshot) {
		return func(s *snapshot.Snapshot) {
			for i := range records {
				records[i].At = s.Time.Add(time.Duration(i-10) * time.Second)
			}
			s.AutoModeLogs = &snapshot.AutoModeLogs{Names: []string{"web-x7k2p"}, Deliveries: []snapshot.LogDelivery{{Type: autolog.Compute, Group: "g"}}, Records: records}
		}
	}
	says := func(level, line string) snapshot.LogRecord {
		return snapshot.LogRecord{Type: autolog.Compute, Level: level, Text: line, Cause: text.CauseOfKarpenter(line), Names: []string{"web-x7k2p"}}
	}
	others := says("ERROR", denies)
	others.Names = []string{"web-other"}
	ipam := says("ERROR", denies)
	ipam.Type = autolog.IPAM
	for name, tt := range map[string]struct {
		world *snapshot.Snapshot
		want  checkid.ID
	}{
		"it says why":                           {refusedClaim("LaunchFailed", vague, 2*min, logs(says("ERROR", denies))), checkid.LaunchPolicyDenied},
		"nobody reads it":                       {refusedClaim("LaunchFailed", vague, 2*min), ""},
		"nobody reads it, after five minutes":   {refusedClaim("LaunchFailed", vague, 5*min), checkid.LaunchUnclassified},
		"the newest line counts":                {refusedClaim("LaunchFailed", vague, 6*min, logs(says("ERROR", denies), says("ERROR", short))), checkid.LaunchInsufficientCapacity},
		"a shortage may pass":                   {refusedClaim("LaunchFailed", vague, 2*min, logs(says("ERROR", short))), ""},
		"a warning is none":                     {refusedClaim("LaunchFailed", vague, 5*min, logs(says("WARN", denies))), checkid.LaunchUnclassified},
		"of another NodeClaim":                  {refusedClaim("LaunchFailed", vague, 5*min, logs(others)), checkid.LaunchUnclassified},
		"not the component that launches":       {refusedClaim("LaunchFailed", vague, 5*min, logs(ipam)), checkid.LaunchUnclassified},
		"a line that tells nothing":             {refusedClaim("LaunchFailed", vague, 5*min, logs(says("ERROR", "Reconciler error: no"))), checkid.LaunchUnclassified},
		"how it shows is no cause":              {refusedClaim("LaunchFailed", vague, 5*min, logs(says("ERROR", "NodeClaim failed: registration timeout"))), checkid.LaunchUnclassified},
		"the NodeClaim itself says why":         {refusedClaim("AMINotFound", "no", 2*min, logs(says("ERROR", denies))), checkid.LaunchAMI},
		"a NodeClaim that nobody looked at yet": {refusedClaim("AwaitingReconciliation", "object is awaiting reconciliation", 10*min, logs(says("ERROR", denies))), ""},
		"it is launched":                        {refusedClaim("LaunchFailed", vague, 2*min, logs(says("ERROR", denies)), func(s *snapshot.Snapshot) { s.NodeClaims[0].Instance = "i-0new" }), ""},
	} {
		var got checkid.ID
		for _, c := range []check.Check{checkOf(checkid.LaunchPolicyDenied), checkOf(checkid.LaunchUnauthorized), checkOf(checkid.LaunchAMI), checkOf(checkid.LaunchInsufficientCapacity), checkOf(checkid.LaunchUnclassified)} {
			for _, r := range check.Eval([]check.Check{c}, tt.world) {
				if r.Outcome == check.Fail {
					got += r.Check
				}
			}
		}
		if got != tt.want {
			t.Errorf("%s: %q, want %q", name, got, tt.want)
		}
	}
	r := fails(refusedClaim("LaunchFailed", vague, 2*min, logs(says("ERROR", denies))))["launch/policy-denied"]
	said := "UnauthorizedOperation: You are not authorized to perform this operation. User: arn:aws:sts::111122223333:assumed-role/cluster/1 is not authorized to perform: ec2:RunInstances with an explicit deny in a service control policy"
	for what, want := range map[string]string{
		"CreateFleet for NodePool web":   snapshottest.PrivateWithNAT().Time.Add(-2*min).UTC().Format("15:04:05 UTC") + " refused, according to the log of EKS Auto Mode: " + said,
		"By":                             "an explicit deny in a service control policy",
		"Log of EKS Auto Mode (compute)": snapshottest.PrivateWithNAT().Time.Add(-10*time.Second).UTC().Format("15:04:05 UTC") + " ERROR: " + denies,
	} {
		expect.Same(t, fmt.Sprint(what), evidenceOf(r, what), []string{want})
	}
}

// TestNodeClaimsBesideCloudTrail: what CloudTrail has of the pool is reported once.
func TestNodeClaimsBesideCloudTrail(t *testing.T) {
	s := refusedClaim("Unauthorized", "because no identity-based policy allows it", 2*time.Minute, func(s *snapshot.Snapshot) {
		s.NodeClaims = append(s.NodeClaims, s.NodeClaims[0])
		s.NodeClaims[1].Name = "web-second"
		s.Refused = []snapshot.RefusedLaunch{{Launcher: "nodepool/web", Class: checkid.LaunchUnauthorized, Call: "CreateFleet", Text: "UnauthorizedOperation", First: s.Time.Add(-time.Hour / 2), Last: s.Time}}
		s.Read[snapshot.RefusedLaunches] = true
	})
	r := checktest.Failed(t, checkOf(checkid.LaunchUnauthorized), s)
	if claims := evidenceOf(r, "NodeClaims that report it"); claims != nil {
		t.Errorf("the NodeClaims %q are told too", claims)
	}
	s.Refused = nil
	both := checktest.Failed(t, checkOf(checkid.LaunchUnauthorized), s)
	if claims := evidenceOf(both, "NodeClaims that report it"); !cmp.Equal(claims, []string{"web-x7k2p and web-second"}) {
		t.Errorf("two NodeClaims of one cause: %q", claims)
	}
}

const blind = "You are not authorized to perform this operation. Encoded authorization failure message: "

// teamless is the denial of a launch without a tag that a statement asks for.
func teamless(change func(*snapshot.Denial)) *snapshot.Denial {
	d := &snapshot.Denial{
		Who: "arn:aws:sts::111122223333:assumed-role/launcher", Action: "ec2:RunInstances", Resource: "arn:aws:ec2:us-west-2:111122223333:instance/*", Explicit: true,
		Statements: []snapshot.DeniedStatement{{ID: "AskTeamId", Conditions: []snapshot.DeniedCondition{
			{Key: "aws:RequestTag/team-id", Names: []string{"true"}}, {Key: "ec2:InstanceType", Names: []string{"t3a.micro"}, Has: []string{"m5.large"}},
		}}},
	}
	change(d)
	return d
}

// encodedWorld is a group whose launches were denied with encoded messages, and what
// was decoded of them.
func encodedWorld(texts []string, messages ...snapshot.DecodedMessage) *snapshot.Snapshot {
	s := snapshottest.PrivateWithNAT()
	for n, text := range texts {
		checktest.Fails(s, text, time.Duration(5+n)*time.Minute)
	}
	s.Denials = messages
	s.Read[snapshot.DenialsOf] = true
	return s
}

// fails are the failures of a world's checks, by their id.
func fails(s *snapshot.Snapshot) map[string]check.Result {
	found := map[string]check.Result{}
	for _, r := range check.Eval([]check.Check{checkOf(checkid.LaunchPolicyDenied), checkOf(checkid.LaunchUnauthorized)}, s) {
		if r.Outcome == check.Fail {
			found[string(r.Check)] = r
		}
	}
	return found
}

func evidenceOf(r check.Result, what string) (values []string) {
	for _, e := range r.Evidence {
		if e.What == what {
			values = append(values, e.Value)
		}
	}
	return values
}

func TestDecodedMessageNamesThePolicy(t *testing.T) {
	decoded := snapshot.DecodedMessage{Encoded: "new", Denial: teamless(func(*snapshot.Denial) {})}
	none := func(*snapshot.Denial) {}
	for name, tt := range map[string]struct {
		world *snapshot.Snapshot
		check string
		title string
		by    []string
		fix   string
	}{
		"a statement denies it": {encodedWorld([]string{blind + "new", blind + "old"}, decoded), "launch/policy-denied", "workers cannot launch: denied by statement AskTeamId",
			[]string{"an explicit deny; the message does not name the kind of policy"}, "Add the tag team-id"},
		"the sentence names the kind": {encodedWorld([]string{strings.ReplaceAll(denied("with an explicit deny in an identity-based policy: arn:aws:iam::111122223333:policy/Own"), "Launching EC2", "Encoded authorization failure message: new. Launching EC2")}, decoded),
			"launch/unauthorized", "workers cannot launch: denied by statement AskTeamId", []string{"an explicit deny in an identity-based policy, arn:aws:iam::111122223333:policy/Own"}, "Add the tag team-id"},
		"nothing allows it": {encodedWorld([]string{blind + "new"}, snapshot.DecodedMessage{Encoded: "new", Denial: teamless(func(d *snapshot.Denial) { d.Explicit, d.Statements = false, nil })}),
			"launch/unauthorized", "workers cannot launch: the launching role lacks a permission", nil, "Decode the authorization message"},
		"no tag is asked for": {encodedWorld([]string{blind + "new"}, snapshot.DecodedMessage{Encoded: "new", Denial: teamless(func(d *snapshot.Denial) { d.Statements[0].Conditions = d.Statements[0].Conditions[1:] })}),
			"launch/policy-denied", "workers cannot launch: denied by statement AskTeamId", []string{"an explicit deny; the message does not name the kind of policy"}, "Allow this launch in the policy"},
		"a statement without a Sid": {encodedWorld([]string{blind + "new"}, snapshot.DecodedMessage{Encoded: "new", Denial: teamless(func(d *snapshot.Denial) { d.Statements[0].ID = "" })}),
			"launch/policy-denied", "workers cannot launch: a policy denies it explicitly", []string{"an explicit deny; the message does not name the kind of policy"}, "Add the tag team-id"},
		"another group's message": {encodedWorld([]string{blind + "new"}, snapshot.DecodedMessage{Encoded: "other", Denial: teamless(none)}),
			"launch/unauthorized", "workers cannot launch: the launching role lacks a permission", nil, "Decode the authorization message"},
	} {
		found := fails(tt.world)
		r, is := found[tt.check]
		if !is || len(found) != 1 {
			t.Errorf("%s: found %v, want %s alone", name, found, tt.check)
			continue
		}
		if r.Title != tt.title || !strings.HasPrefix(r.Fix.Text, tt.fix) {
			t.Errorf("%s: %q, %q; want %q, %q", name, r.Title, r.Fix.Text, tt.title, tt.fix)
		}
		expect.Same(t, fmt.Sprintf("%s: by", name), evidenceOf(r, "By"), tt.by)
	}
	r := fails(encodedWorld([]string{blind + "new", blind + "old"}, decoded))["launch/policy-denied"]
	for what, want := range map[string]string{
		"Denied":              "ec2:RunInstances on arn:aws:ec2:us-west-2:111122223333:instance/*, requested by arn:aws:sts::111122223333:assumed-role/launcher",
		"Statement AskTeamId": "aws:RequestTag/team-id names true, the request has none; ec2:InstanceType names t3a.micro, the request has m5.large",
	} {
		expect.Same(t, fmt.Sprint(what), evidenceOf(r, what), []string{want})
	}
}

// TestEachDenialIsItsOwn: two launches of one group that two policies denied are reported by
// each one's own statement.
func TestEachDenialIsItsOwn(t *testing.T) {
	other := func(d *snapshot.Denial) { d.Statements = []snapshot.DeniedStatement{{ID: "NoGPUs"}} }
	first, second := snapshot.DecodedMessage{Encoded: "new", Denial: teamless(func(*snapshot.Denial) {})}, snapshot.DecodedMessage{Encoded: "old", Denial: teamless(other)}
	r := fails(encodedWorld([]string{blind + "new", blind + "old"}, first, second))["launch/policy-denied"]
	for what, want := range map[string][]string{
		"Statement AskTeamId": {"aws:RequestTag/team-id names true, the request has none; ec2:InstanceType names t3a.micro, the request has m5.large"},
		"Statement NoGPUs":    {"denies it without a condition"},
	} {
		expect.Same(t, fmt.Sprint(what), evidenceOf(r, what), want)
	}
	if want := "workers cannot launch: the launching role lacks a permission, or a policy forbids it"; strings.Contains(r.Title, "statement") {
		t.Errorf("the title is %q, want one that names no statement for both: %q", r.Title, want)
	}
	// One that its role may not, and one that a policy above it denies, are two causes.
	mine := func(d *snapshot.Denial) { d.Explicit, d.Statements = false, nil }
	found := fails(encodedWorld([]string{blind + "new", blind + "old"}, first, snapshot.DecodedMessage{Encoded: "old", Denial: teamless(mine)}))
	for check, statements := range map[string]int{"launch/policy-denied": 1, "launch/unauthorized": 0} {
		if r, is := found[check]; !is || len(evidenceOf(r, "Statement AskTeamId")) != statements {
			t.Errorf("%s: found %v, %+v", check, is, r.Evidence)
		}
	}
	// What was not decoded goes with what was, unless its own sentence says otherwise.
	sentence := func(kind, message string) string {
		return strings.ReplaceAll(denied("with an explicit deny in "+kind), "Launching EC2", "Encoded authorization failure message: "+message+". Launching EC2")
	}
	const scp, own = "a service control policy", "an identity-based policy"
	for name, tt := range map[string]struct {
		texts []string
		want  map[string]string
	}{
		"the same sentence":  {[]string{sentence(scp, "new"), sentence(scp, "old")}, map[string]string{"launch/policy-denied": "workers cannot launch: denied by statement AskTeamId"}},
		"another sentence":   {[]string{sentence(scp, "new"), sentence(own, "old")}, map[string]string{"launch/policy-denied": "workers cannot launch: denied by statement AskTeamId", "launch/unauthorized": "workers cannot launch: denied by an identity-based policy"}},
		"no sentence at all": {[]string{blind + "new", blind + "old", blind + "older"}, map[string]string{"launch/policy-denied": "workers cannot launch: denied by statement AskTeamId"}},
	} {
		titles := map[string]string{}
		for check, r := range fails(encodedWorld(tt.texts, first)) {
			titles[check] = r.Title
		}
		expect.Same(t, name, titles, tt.want)
	}
}

// TestUndecodedMessageSaysWhy: what was not decoded is said, with the permission.
func TestUndecodedMessageSaysWhy(t *testing.T) {
	failed := func(f snapshot.Failure) snapshot.DecodedMessage {
		f.Source, f.Call = snapshot.DenialsOf, "sts:DecodeAuthorizationMessage"
		return snapshot.DecodedMessage{Encoded: "new", Failure: &f}
	}
	for name, tt := range map[string]struct {
		world *snapshot.Snapshot
		want  []string
	}{
		"the setting is off": {checktest.Change(encodedWorld([]string{blind + "new"}), func(s *snapshot.Snapshot) { delete(s.Read, snapshot.DenialsOf) }),
			[]string{"not decoded: Rollcall lacks sts:DecodeAuthorizationMessage, which the setting decodeDenied=on grants"}},
		"it was cut":            {encodedWorld([]string{blind + "new..."}), []string{"not decoded: only a part of it was kept, which cannot be decoded"}},
		"not valid":             {encodedWorld([]string{blind + "new"}, failed(snapshot.Failure{Reason: snapshot.Broken, Code: "InvalidAuthorizationMessageException"})), []string{"not decoded: STS rejects it: it has expired, belongs to another account, or is incomplete"}},
		"denied":                {encodedWorld([]string{blind + "new"}, failed(snapshot.Failure{Reason: snapshot.Denied, Code: "AccessDenied"})), []string{"not decoded: sts:DecodeAuthorizationMessage: denied, AccessDenied"}},
		"no answer":             {encodedWorld([]string{blind + "new"}, failed(snapshot.Failure{Reason: snapshot.TimedOut})), []string{"not decoded: sts:DecodeAuthorizationMessage: timed out"}},
		"others came first":     {encodedWorld([]string{blind + "new"}), []string{"not decoded: others were decoded first"}},
		"there is no message":   {encodedWorld([]string{"You are not authorized to perform this operation."}), nil},
		"one of two is decoded": {encodedWorld([]string{blind + "new", blind + "old"}, snapshot.DecodedMessage{Encoded: "new", Denial: teamless(func(d *snapshot.Denial) { d.Explicit, d.Statements = false, nil })}), nil},
	} {
		r, is := fails(tt.world)["launch/unauthorized"]
		if diff := cmp.Diff(tt.want, evidenceOf(r, "Encoded message")); diff != "" || !is {
			t.Errorf("%s (found %v, -want +got):\n%s", name, is, diff)
		}
	}
}

// TestRefusedCallWasDenied: a run of calls has what its first call was told.
func TestRefusedCallWasDenied(t *testing.T) {
	run := func(change func(*snapshot.RefusedLaunch)) *snapshot.Snapshot {
		s := snapshottest.PrivateWithNAT()
		r := snapshot.RefusedLaunch{Launcher: snapshot.PoolKey("gpu"), Class: "launch/unauthorized", Call: "CreateFleet", Text: "UnauthorizedOperation: You are not authorized to perform this operation.", First: s.Time.Add(-10 * time.Minute), Last: s.Time}
		change(&r)
		s.Refused = []snapshot.RefusedLaunch{r}
		s.Read[snapshot.RefusedLaunches] = true
		return s
	}
	denied := fails(run(func(r *snapshot.RefusedLaunch) { r.Denial = teamless(func(*snapshot.Denial) {}) }))
	if r, is := denied["launch/policy-denied"]; !is || len(denied) != 1 || r.Title != "NodePool gpu cannot launch: denied by statement AskTeamId" || !strings.Contains(r.Fix.Text, "spec.tags of the NodePool's class") {
		t.Errorf("found %+v", denied)
	}
	classed := run(func(r *snapshot.RefusedLaunch) { r.Denial = teamless(func(*snapshot.Denial) {}) })
	classed.NodePools = []snapshot.NodePool{{Name: "gpu", Class: snapshot.ClassRef{Group: snapshot.KarpenterGroup, Kind: "EC2NodeClass", Name: "fast"}}}
	want := `kubectl patch ec2nodeclass fast --type merge -p '{"spec":{"tags":{"team-id":"<value of team-id>"}}}'`
	if got := fails(classed)["launch/policy-denied"].Fix.Command; got != want {
		t.Errorf("the command that sets the tag is %q, want %q", got, want)
	}
	undecoded := fails(run(func(r *snapshot.RefusedLaunch) { r.Undecoded = "no" }))
	if got := evidenceOf(undecoded["launch/unauthorized"], "Encoded message"); !cmp.Equal(got, []string{"not decoded: no"}) {
		t.Errorf("evidence %q of %+v", got, undecoded)
	}
}

func launchEncryptionControlsCases() []checktest.Case {
	pass := []string{"pass prod [eks-workers]"}
	fails := []string{"fail eks-workers [eks-workers] [] workers cannot launch: its types do not encrypt in transit"}
	in := func(enforced, encrypts bool, kind, text string) *snapshot.Snapshot {
		return checktest.Change(ruled(text, kind, nil, nil), func(s *snapshot.Snapshot) {
			s.VPCs[0].Encrypts = enforced
			s.InstanceTypes = append(s.InstanceTypes, snapshot.InstanceType{Name: "t3.large", EncryptsInTransit: encrypts})
		})
	}
	return []checktest.Case{
		{"activities unread", checktest.Change(checktest.Attempted(unsupported), checktest.Unread(snapshot.Activities)), []string{"unknown prod [] scaling activities: denied"}},
		{"enforced, and the type does not encrypt", in(true, false, "t3.large", unsupported), fails},
		{"a text that is not known", in(true, false, "t3.large", "Something new. Launching EC2 instance failed."), fails},
		{"not enforced", in(false, false, "t3.large", unsupported), pass},
		{"the type encrypts", in(true, true, "t3.large", unsupported), pass},
		{"the type is not known", in(true, false, "x9.large", unsupported), pass},
		{"another cause", in(true, false, "t3.large", "Max spot instance count exceeded. Launching EC2 instance failed."), pass},
	}
}

const missingImage = "The image id '[ami-02c7e84c65fcfecee]' does not exist. Launching EC2 instance failed."

// allowing sets the account's Allowed AMIs, and lists the image of missingImage where
// ImageAllowed is given.
func allowing(state, allowed string, more ...func(*snapshot.Snapshot)) *snapshot.Snapshot {
	return checktest.Change(checktest.Attempted(missingImage), append(more, func(s *snapshot.Snapshot) {
		s.AllowedImages = &snapshot.AllowedImages{State: state, ManagedBy: "account", Providers: []string{"amazon"}}
		if allowed != "" {
			s.Images = append(s.Images, snapshot.Image{ID: "ami-02c7e84c65fcfecee", Name: "ours", Allowed: allowed})
		}
	})...)
}

func TestLaunchImageNotAllowed(t *testing.T) {
	checktest.RunCases(t, checkOf(checkid.LaunchImageNotAllowed), launchImageNotAllowedCases())
	// What the one check has, the other has not.
	for state, want := range map[string]string{"enabled": "pass prod [eks-workers]", "disabled": "fail ami-02c7e84c65fcfecee [eks-workers] [] workers cannot launch: its AMI cannot be used"} {
		expect.Same(t, fmt.Sprint(state), checktest.Lines(checktest.EvalOne(t, checkOf(checkid.LaunchAMI), allowing(state, ""))), []string{want})
	}
}

const unsupported = "The requested configuration is currently not supported. Please check the documentation for supported configurations. Launching EC2 instance failed."

// ruled gives the AMI rules of types, and has launches of a type refused with a text.
func ruled(text, kind string, supported, not []string) *snapshot.Snapshot {
	return checktest.Change(checktest.Attempted(text), func(s *snapshot.Snapshot) {
		s.LaunchTemplates[0].Type, s.Nodegroups[0].Types, s.Groups[0].Types = kind, nil, nil
		s.Groups[0].Template = snapshot.TemplateRef{ID: snapshottest.Template, Version: "1"}
		for i := range s.Images {
			s.Images[i].Supported, s.Images[i].Unsupported = supported, not
		}
	})
}

func launchImageNotAllowedCases() []checktest.Case {
	const fails = "ami-02c7e84c65fcfecee [eks-workers] [] workers cannot launch: its AMI is not allowed here"
	const zone = "Your requested instance type (t3.large) is not supported in your requested Availability Zone (us-west-2d). Launching EC2 instance failed."
	pass := []string{"pass prod [eks-workers]"}
	excluded := []string{"fail " + snapshottest.AMI + " [eks-workers] [] workers cannot launch: its AMI is not for t3.large"}
	return []checktest.Case{
		{"activities unread", checktest.Change(checktest.Attempted(unsupported), checktest.Unread(snapshot.Activities)), []string{"unknown prod [] scaling activities: denied"}},
		{"EC2 does not list it", allowing("enabled", ""), []string{"fail (likely) " + fails}},
		{"EC2 lists it as not allowed", allowing("enabled", "false"), []string{"fail " + fails}},
		{"EC2 lists it as allowed", allowing("enabled", "true"), pass},
		{"audit mode", allowing("audit-mode", "false"), pass},
		{"disabled", allowing("disabled", ""), pass},
		{"the settings were not read", checktest.Attempted(missingImage), pass},
		{"the settings were not read, and EC2 lists it as not allowed", checktest.Change(allowing("", "false"), func(s *snapshot.Snapshot) { s.AllowedImages = nil }), []string{"fail (likely) " + fails}},
		{"the images were not read", allowing("enabled", "", checktest.Unread(snapshot.Images)), pass},
		{"its rules exclude the type", ruled(unsupported, "t3.large", nil, []string{"t3.*"}), excluded},
		{"its rules name other types", ruled(unsupported, "t3.large", []string{"m5.*", "c5.large"}, nil), excluded},
		{"its rules name the type", ruled(unsupported, "m5.large", []string{"m5.*"}, nil), pass},
		{"its rules exclude the type, and the zone has it not", ruled(zone, "t3.large", nil, []string{"t3.*"}), pass},
	}
}

// What the text of a failed launch names is among the resources.
func TestNamedResources(t *testing.T) {
	f := launchFault{resource: "lt-0a1b2c3d", list: []check.Attempt{
		{Group: "g", Subnet: "subnet-1", Verdict: activity.Verdict{Named: activity.Named{AMI: "ami-1", SecurityGroup: "sg-1", Profile: "nodes"}}},
		{Group: "g", Subnet: "subnet-1", Verdict: activity.Verdict{Named: activity.Named{Key: "arn:aws:kms:us-west-2:111122223333:key/1"}}},
	}}
	want := []string{"lt-0a1b2c3d", "g", "subnet-1", "ami-1", "sg-1", "nodes", "arn:aws:kms:us-west-2:111122223333:key/1"}
	if got := f.resources(); !slices.Equal(got, want) {
		t.Errorf("resources %q, want %q", got, want)
	}
}

// An override's image replaces the launch template's; where several can be meant, none is
// named.
func TestImageOfOverride(t *testing.T) {
	s := snapshottest.PrivateWithNAT()
	s.LaunchTemplates = []snapshot.LaunchTemplate{{ID: "lt-1", Version: "1", Image: "ami-template"}}
	s.Groups = []snapshot.Group{{Name: "g", Template: snapshot.TemplateRef{ID: "lt-1", Version: "1"}, Types: []string{"m5.large", "c5.large"}, Images: map[string]string{"m5.large": "ami-override"}}}
	a := check.NewView(s).Attempts()
	for name, tt := range map[string]struct {
		of   activity.Named
		want string
	}{
		"the text names it":              {activity.Named{AMI: "ami-text", Type: "m5.large"}, "ami-text"},
		"the type has an override":       {activity.Named{Type: "m5.large"}, "ami-override"},
		"the type has none":              {activity.Named{Type: "c5.large"}, "ami-template"},
		"the text names no type, of two": {activity.Named{}, ""},
	} {
		expect.Equal(t, name, a.Image(check.Attempt{Group: "g", Verdict: activity.Verdict{Named: tt.of}}), tt.want)
	}
	s.Groups[0].Images = nil
	if got := check.NewView(s).Attempts().Image(check.Attempt{Group: "g"}); got != "ami-template" {
		t.Errorf("without overrides: %q, want the template's", got)
	}
}

// denied is what EC2 says to Auto Scaling's role.
func denied(by string) string {
	return "You are not authorized to use launch template: lt-0a1b2c3d. User: arn:aws:sts::111122223333:assumed-role/AWSServiceRoleForAutoScaling/AutoScaling " +
		"is not authorized to perform: ec2:RunInstances on resource: arn:aws:ec2:us-west-2:111122223333:instance/* " + by + ". Launching EC2 instance failed."
}

func TestLaunchPolicyDenied(t *testing.T) {
	for by, says := range map[string]string{
		"with an explicit deny in a service control policy":                  "a service control policy forbids it",
		"with an explicit deny in a resource control policy":                 "a resource control policy forbids it",
		"because no permissions boundary allows the ec2:RunInstances action": "the permissions boundary forbids it",
		"with an explicit deny in a session policy":                          "the session policy forbids it",
	} {
		t.Run(by, func(t *testing.T) {
			checktest.RunCases(t, checkOf(checkid.LaunchPolicyDenied), launchOutcomes(denied(by), "fail eks-workers [eks-workers] [] workers cannot launch: "+says))
		})
	}
}

// What the launcher's own policy lacks is not above it.
func TestItsOwnPolicyIsNotAboveIt(t *testing.T) {
	for _, by := range []string{
		"because no identity-based policy allows the ec2:RunInstances action", "with an explicit deny in an identity-based policy",
		"because no resource-based policy allows the ec2:RunInstances action", "",
	} {
		expect.Equal(t, fmt.Sprintf("%q", by), activity.Classify(denied(by)).Class, checkOf(checkid.LaunchUnauthorized).ID)
	}
}

// Several kinds in one group's texts: no headline names one of them.
func TestPoliciesOfSeveralKinds(t *testing.T) {
	var f launchFault
	for _, by := range []string{"with an explicit deny in a service control policy", "with an explicit deny in a session policy"} {
		f.list = append(f.list, check.Attempt{Group: "g", Verdict: activity.Classify(denied(by))})
	}
	expect.Equal(t, "says", whichPolicy(f), "")
}
