package checks

import "strings"

// ending is what a state reason code means, and what to do next.
type ending struct {
	code    string // a code, or the part before a dot that codes begin with
	meaning string
	next    string
	// neverRan tells that an instance with this code did not get as far as a
	// node could have.
	neverRan bool
}

// endings are the codes that EC2 gives for an instance that ended (API
// reference, StateReason; messages seen in the field). A longer code comes
// before a shorter one that it begins with. Unknown codes are shown raw.
func endings() []ending {
	return []ending{
		{"Server.SpotInstanceTermination", "EC2 took the Spot capacity back",
			"Nothing is wrong with the node. More instance types and zones make it rarer.", false},
		{"Server.SpotInstanceShutdown", "EC2 took the Spot capacity back",
			"Nothing is wrong with the node. More instance types and zones make it rarer.", false},
		{"Server.InsufficientInstanceCapacity", "EC2 had no capacity of this type in the zone",
			"Allow more instance types or zones, or wait.", true},
		{"Server.ScheduledStop", "EC2 stopped it for scheduled maintenance",
			"Let the group replace it.", false},
		{"Server.InternalError", "a fault inside EC2",
			"Let the group try again; where it repeats, look for a KMS key that the launcher may not use.", true},
		{"Client.InvalidKMSKey", "the KMS key of an encrypted volume cannot be used",
			"Enable the key, and let AWSServiceRoleForAutoScaling use it and create grants (the key's policy).", true},
		{"Client.InternalError", "the launch failed on the client's side, nearly always because the KMS key of an encrypted volume may not be used",
			"Let AWSServiceRoleForAutoScaling use the volume's key and create grants (the key's policy).", true},
		{"Client.VolumeLimitExceeded", "the account's limit for EBS volumes is reached",
			"Delete volumes that nothing uses, or ask for a higher quota.", true},
		{"Client.InvalidSnapshot", "the snapshot of a volume was not found or may not be used",
			"Correct the launch template's block device mapping, or share the snapshot.", true},
		{"Client.InstanceInitiatedShutdown", "its own operating system shut it down",
			"Read the console output: user data or a boot script ends in a shutdown.", false},
		{"Client.InstanceTerminated", "it was shut down while it started",
			"Read the scaling activity of its group.", false},
		{"Client.UserInitiatedHibernate", "somebody hibernated it", "Ask CloudTrail for the StopInstances call.", false},
		{"Client.UserInitiatedShutdown", "somebody, or its Auto Scaling group, ended it",
			"Ask CloudTrail for the TerminateInstances or StopInstances call, and read the scaling activity of its group.", false},
	}
}

// userInitiated is the code both of a person's call and of a group's scale-in.
const userInitiated = "Client.UserInitiatedShutdown"

// explain finds the meaning of a code.
func explain(code string) ending {
	for _, e := range endings() {
		if code == e.code || strings.HasPrefix(code, e.code+".") {
			return e
		}
	}
	meaning := "EC2 gives no reason"
	if code != "" {
		meaning = "EC2 says " + code
	}
	return ending{code: code, meaning: meaning, next: "Read the scaling activity of its group and the instance's state transition reason."}
}
