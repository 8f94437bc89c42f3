package diagnose

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"rollcall/shared/checks"
	"rollcall/shared/snapshot"
	w "rollcall/shared/snapshot/snapshottest"
)

// refused makes the nodegroup's group fail to launch, five minutes ago.
func refused(message string) func(*snapshot.Snapshot) {
	return func(s *snapshot.Snapshot) {
		s.Activities = append(s.Activities, snapshot.Activity{
			ID: "a-1", Group: "eks-" + w.Nodegroup, Status: "Failed", About: "Launching a new EC2 instance.  Status Reason: " + message, Message: message,
			Started: s.Time.Add(-5 * time.Minute), Ended: s.Time.Add(-5 * time.Minute), Subnet: w.Private, Zone: w.Zone,
		})
	}
}

const fullText = "There are not enough free addresses in subnet 'subnet-0private' to satisfy the requested number of instances. Launching EC2 instance failed."

// died makes the node an instance that EC2 could not bring up.
func died(code string) func(*snapshot.Snapshot) {
	return func(s *snapshot.Snapshot) {
		i := w.Instance(s, w.Node)
		i.State, i.Subnet = "terminated", ""
		i.StateReason = snapshot.StateReason{Code: code, When: i.Launched.Add(10 * time.Second)}
	}
}

func TestFailedLaunches(t *testing.T) {
	type list = []func(*snapshot.Snapshot)
	joined := func(s *snapshot.Snapshot) { w.Join(s, w.Node) }
	tests := []struct {
		name   string
		faults list
		want   said
	}{
		{"a launch failed, all nodes are Ready", list{joined, refused("Max spot instance count exceeded. Launching EC2 instance failed.")}, said{
			Causes: []string{"launch/spot-limit L-34B43A08"},
		}},
		{"a launch failed, and a node did not register", list{refused("Max spot instance count exceeded. Launching EC2 instance failed.")}, said{
			// The one that runs is not explained by those that never came.
			Causes: []string{"launch/spot-limit L-34B43A08", "node/not-registered " + w.Nodegroup},
		}},
		{"the text names a full subnet, and it has no free address", list{joined, full, refused(fullText)}, said{
			Causes:       []string{"launch/subnet-full " + w.Private},
			Contributing: []checks.ID{"ip/subnet-exhausted"},
		}},
		{"the same, and one of its nodes is not Ready", list{unready, full, refused(fullText)}, said{
			Causes:       []string{"launch/subnet-full " + w.Private},
			Contributing: []checks.ID{"ip/subnet-exhausted"},
			Symptoms:     []checks.ID{"node/not-ready"},
		}},
		{"the text names a full subnet, and a few addresses are free again", list{joined, tight, refused(fullText)}, said{
			Causes:       []string{"launch/subnet-full " + w.Private},
			Contributing: []checks.ID{"ip/subnet-exhausted"},
		}},
		{"no launch has failed: a subnet that is merely empty", list{joined, full}, said{
			Causes: []string{"ip/subnet-exhausted " + w.Private},
		}},
		{"another subnet is empty", list{joined, refused(fullText), func(s *snapshot.Snapshot) {
			w.Subnet(s, w.Public).Free = 0
			s.Scope.Subnets = append(s.Scope.Subnets, w.Public)
		}}, said{
			Causes: []string{"launch/subnet-full " + w.Private, "ip/subnet-exhausted " + w.Public},
		}},
		{"a KMS key: not that the instance ended early", list{died("Client.InternalError")}, said{
			Causes: []string{"launch/kms-key eks-" + w.Nodegroup},
		}},
		{"the limit of volumes", list{died("Client.VolumeLimitExceeded")}, said{
			Causes: []string{"launch/volume-limit 123456789012"},
		}},
		{"a KMS key, and what its group does cannot be read", list{died("Client.InternalError"), func(s *snapshot.Snapshot) { w.Without(s, snapshot.Activities) }}, said{
			Causes: []string{"instance/ended-early " + w.Nodegroup},
		}},
		{"Spot took it back", list{reclaimed}, said{Causes: []string{"spot/reclaimed-before-join " + w.Nodegroup}}},
		{"suspended", list{joined, func(s *snapshot.Snapshot) {
			s.Groups[0].Suspended = []snapshot.Suspended{{Process: "Launch"}}
		}}, said{Causes: []string{"launch/suspended eks-" + w.Nodegroup}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := w.PrivateWithNAT()
			w.Unjoin(s, w.Node)
			w.Instance(s, w.Node).Launched = s.Time.Add(-10 * time.Minute)
			for _, breakIt := range tt.faults {
				breakIt(s)
			}
			if diff := cmp.Diff(tt.want, short(diagnosis(s))); diff != "" {
				t.Errorf("diagnosis (-want +got):\n%s", diff)
			}
		})
	}
}

// The cause that an incident is about has the arithmetic, the instances and
// the nodegroup.
func TestContributorGivesItsFacts(t *testing.T) {
	s := w.PrivateWithNAT()
	w.Unjoin(s, w.Node)
	for _, breakIt := range []func(*snapshot.Snapshot){unready, full, refused(fullText)} {
		breakIt(s)
	}
	c := diagnosis(s).Causes[0]
	if !slices.ContainsFunc(c.Evidence, func(e checks.Evidence) bool { return e.What == "Addresses of "+w.Private }) {
		t.Errorf("no arithmetic in %v", c.Evidence)
	}
	if !slices.Equal(c.Instances, []string{w.Node}) || !slices.Equal(c.Nodegroups, []string{w.Nodegroup}) {
		t.Errorf("instances %v, nodegroups %v", c.Instances, c.Nodegroups)
	}
	w.Join(s, w.Node)
	s.Nodes = s.Nodes[1:]
	if c := diagnosis(s).Causes[0]; len(c.Instances) != 0 || !slices.Equal(c.Nodegroups, []string{w.Nodegroup}) {
		t.Errorf("without instances: %v, nodegroups %v", c.Instances, c.Nodegroups)
	}
}

// Every class of failed launches is named first and alone among the certain
// ones.
func TestEveryFailedLaunchIsNamedAlone(t *testing.T) {
	texts := map[checks.ID]string{
		"launch/insufficient-capacity": "We currently do not have sufficient m5.large capacity in the Availability Zone you requested (us-west-2a). Launching EC2 instance failed.",
		"launch/capacity-reservation":  "The requested reservation does not have sufficient compatible and available capacity for this request.",
		"launch/placement":             "InsufficientInstanceCapacity: We currently do not have sufficient capacity to launch all of the additional requested instances into Placement Group 'hpc'.",
		"launch/spot-limit":            "Max spot instance count exceeded. Launching EC2 instance failed.",
		"launch/spot-price":            "SpotMaxPriceTooLow",
		"launch/vcpu-limit":            "VcpuLimitExceeded",
		"launch/fleet-limit":           "You've reached your quota for maximum Fleet Requests for this account. Launching EC2 instance failed.",
		"launch/subnet-full":           fullText,
		"launch/kms-key":               "Client.InvalidKMSKey.InvalidState: The KMS key provided is in an incorrect state",
		"launch/template":              "InvalidLaunchTemplateId.NotFound",
		"launch/ami":                   "InvalidAMIID.NotFound",
		"launch/security-group":        "InvalidGroup.NotFound",
		"launch/profile":               "Invalid IAM Instance Profile name",
		"launch/unauthorized":          "UnauthorizedOperation",
		"launch/policy-denied":         "UnauthorizedOperation: You are not authorized to perform this operation. User: arn:aws:sts::111122223333:assumed-role/AWSServiceRoleForAutoScaling/AutoScaling is not authorized to perform: ec2:RunInstances on resource: arn:aws:ec2:us-west-2:111122223333:instance/* with an explicit deny in a service control policy.",
		"launch/unsupported-type":      "The requested configuration is currently not supported.",
		"launch/volume-limit":          "Client.VolumeLimitExceeded: Volume limit exceeded",
		"launch/throttled":             "RequestLimitExceeded",
		"launch/account-validation":    "PendingVerification",
		"launch/service-role":          "Authentication Failure. Launching EC2 instance failed.",
		"launch/unclassified":          "The moon is in the wrong house.",
	}
	for want, text := range texts {
		s := w.PrivateWithNAT()
		refused(text)(s)
		var certain []checks.ID
		for _, c := range diagnosis(s).Causes {
			if c.Confidence == checks.Certain {
				certain = append(certain, c.Check)
			}
		}
		if !slices.Equal(certain, []checks.ID{want}) {
			t.Errorf("%q: causes %v, want %s alone", text, certain, want)
		}
	}
}
