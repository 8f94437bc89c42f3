package activity

import "testing"

func TestLaunching(t *testing.T) {
	tests := []struct {
		description, message string
		want                 bool
	}{
		{"Launching a new EC2 instance: i-0ef3c1b2a4d5968f1", "", true},
		{"Launching a new EC2 instance.  Status Reason: no", "", true},
		{"Placing Spot instance request.", "", true},
		{"Terminating EC2 instance: i-0ef3c1b2a4d5968f1", "There is Launching EC2 instance failed in it", false},
		{"Attaching an existing EC2 instance: i-0ef3c1b2a4d5968f1", "", false},
		{"", "The moon. Launching EC2 instance failed.", true},
		{"", "Placing Spot instance request failed.", true},
		{"", "VcpuLimitExceeded", true},
		{"", "", true},
		{"", "Some other message", false},
	}
	for _, tt := range tests {
		if got := Launching(tt.description, tt.message); got != tt.want {
			t.Errorf("Launching(%q, %q) = %v", tt.description, tt.message, got)
		}
	}
}

func TestStatusOf(t *testing.T) {
	const died = "Instance became unhealthy while waiting for instance to be in InService state. Termination Reason: Client.InternalError: Client error on launch"
	const abandoned = "Instance failed to complete user's Lifecycle Action: Lifecycle Action with token e85eb647-4fe0-4909-b341-a6c42d8aba1f was abandoned: "
	// Auto Scaling's sentence with EC2's own message of such an instance.
	const takenBack = "Instance became unhealthy while waiting for instance to be in InService state. Termination Reason: Server.SpotInstanceTermination: Spot instance termination"
	tests := []struct {
		code, message string
		want          Status
	}{
		{"Successful", "", Succeeded},
		{"Failed", "", Failed},
		{"Cancelled", "", Canceled},
		{"Cancelled", died, Failed},
		{"Cancelled", abandoned + "Heartbeat Timeout", Failed},
		{"Cancelled", abandoned + "Lifecycle Action Completed with ABANDON Result", Failed},
		{"Cancelled", abandoned + "a reason newer than this program", Failed},
		{"Cancelled", "The moon is in the wrong phase.", Failed}, // a text is never dropped
		{"Cancelled", "Spot instance request: sir-bcpgayih has been cancelled. Group size decreased while waiting for Spot instance request to be fulfilled.", Canceled},
		{"Cancelled", "The desired capacity was lowered to 2.", Canceled},
		{"Cancelled", "Termination Reason: Client.UserInitiatedShutdown: User initiated shutdown", Canceled},
		{"Cancelled", takenBack, TakenBack},
		{"Failed", takenBack, TakenBack}, // as the event "EC2 Instance Launch Unsuccessful" is taken down
		{"Cancelled", "Termination Reason: Server.SpotInstanceTermination", TakenBack},
		{"Cancelled", "Termination Reason: Server.SpotInstanceTermination.", TakenBack},
		{"Cancelled", "Termination Reason: Server.SpotInstanceShutdown: x", TakenBack},
		{"Cancelled", "Termination Reason: Server.SpotInstanceTerminationOfAnotherKind", Failed},
		{"Cancelled", "Termination Reason: Server.InternalError: Internal error on launch", Failed},
		{"Cancelled", "Termination Reason: Client.InvalidKMSKey.InvalidState: The KMS key provided is in an incorrect state", Failed},
		{"Cancelled", "Termination Reason:", Failed},
		{"Failed", "Server.SpotInstanceTermination", Failed}, // no instance died
		{"Successful", takenBack, Succeeded},
		{"InProgress", "", Pending},
		{"MidLifecycleAction", "", Pending},
		{"", "", Unknown},
		{"SomethingNew", died, Unknown},
	}
	for _, tt := range tests {
		if got := StatusOf(tt.code, tt.message); got != tt.want {
			t.Errorf("StatusOf(%q, %q) = %s, want %s", tt.code, tt.message, got, tt.want)
		}
	}
}

func TestReason(t *testing.T) {
	tests := [][3]string{
		{"Launching a new EC2 instance.  Status Reason: No room.", "A message.", "A message."},
		{"Launching a new EC2 instance.  Status Reason: No room.", "", "No room."},
		{"Launching a new EC2 instance", " ", ""},
	}
	for _, tt := range tests {
		if got := Reason(tt[0], tt[1]); got != tt[2] {
			t.Errorf("Reason(%q, %q) = %q, want %q", tt[0], tt[1], got, tt[2])
		}
	}
}

func TestAdministrative(t *testing.T) {
	if Administrative("User suspended at 2016-01-12T22:59:46Z") || !Administrative("Administrative suspension") {
		t.Error("a person's suspension and Auto Scaling's own are not told apart")
	}
}
