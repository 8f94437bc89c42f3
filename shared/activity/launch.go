package activity

import "strings"

// Launching tells that a scaling activity with this description was to start
// an instance. Descriptions begin with "Launching a new EC2 instance", and
// with "Placing Spot instance request" in groups of the older kind. An
// activity without a description tells by its message; one that has neither
// may have been to start one.
func Launching(description, message string) bool {
	for _, begin := range []string{"Launching", "Placing Spot", "Placed Spot"} {
		if strings.HasPrefix(description, begin) {
			return true
		}
	}
	return description == "" && (message == "" || says(normal(message), "launching ec2 instance failed") ||
		says(normal(message), "spot instance request failed") || Classify(message).Class != Unclassified)
}

// Status is how far a scaling activity has come.
type Status string

// The states that matter.
const (
	Succeeded Status = "succeeded"
	Failed    Status = "failed"
	Pending   Status = "pending"
	Canceled  Status = "canceled"
	Unknown   Status = "unknown" // a code newer than this program, or none
)

// StatusOf reads the status code of an activity that launches. Auto Scaling
// says Cancelled both when an activity was called off, which is no failure,
// and when the instance died before it was in service: then the message holds
// its termination reason.
func StatusOf(code, message string) Status {
	switch code {
	case "Successful":
		return Succeeded
	case "Failed":
		return Failed
	case "Cancelled":
		if died(message) {
			return Failed
		}
		return Canceled
	case "PendingSpotBidPlacement", "WaitingForSpotInstanceRequestId", "WaitingForSpotInstanceId", "WaitingForInstanceId",
		"PreInService", "InProgress", "WaitingForELBConnectionDraining", "MidLifecycleAction", "WaitingForInstanceWarmup",
		"WaitingForConnectionDraining", "WaitingForInPlaceUpdateToStart", "WaitingForInPlaceUpdateToFinalize", "InPlaceUpdateInProgress":
		// The enumeration of the API (ScalingActivityStatusCode).
		return Pending
	}
	return Unknown
}

// died tells that an instance was terminated before it was in service, for a
// reason of EC2's. Client.UserInitiatedShutdown is not one: who terminates an
// instance that starts has called it off.
func died(message string) bool {
	_, reason, ok := strings.Cut(message, "Termination Reason:")
	return ok && !strings.HasPrefix(strings.TrimSpace(reason), "Client.User")
}

// Reason is the text that tells why a launch failed: the status message, else
// the end of the description.
func Reason(description, message string) string {
	if strings.TrimSpace(message) != "" {
		return message
	}
	_, reason, _ := strings.Cut(description, "Status Reason:")
	return strings.TrimSpace(reason)
}

// Administrative tells that Auto Scaling itself suspended a process, because
// launches failed for a day (Auto Scaling user guide, "Suspend and resume
// processes").
func Administrative(reason string) bool {
	return strings.Contains(strings.ToLower(reason), "administrative")
}
