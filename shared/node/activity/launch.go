package activity

import (
	"rollcall/shared/checkid"
	"strings"
)

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
		says(normal(message), "spot instance request failed") || Classify(message).Class != checkid.LaunchUnclassified)
}

// Status is how far a scaling activity has come.
type Status string

// The states that matter.
const (
	Succeeded Status = "succeeded"
	Failed    Status = "failed"
	Pending   Status = "pending"
	Canceled  Status = "canceled"
	TakenBack Status = "taken back" // EC2 took the new Spot instance before it was in service
	Unknown   Status = "unknown"    // a code newer than this program, or none
)

// StatusOf reads the status code of an activity that launches. Auto Scaling
// says Cancelled both when an activity was called off, which is no failure,
// and when the instance died before it was in service: then the message holds
// its termination reason. Its event calls both a failed launch. One whose
// reason is that EC2 took the instance back was no failed launch: under a
// launch hook (EKS sets one) the instance had run for minutes.
func StatusOf(code, message string) Status {
	reason, died := termination(message)
	switch code {
	case "Successful":
		return Succeeded
	case "Failed":
		if died && tookBack(reason) {
			return TakenBack
		}
		return Failed
	case "Cancelled":
		switch {
		case !died || strings.HasPrefix(reason, "Client.User"):
			// Who terminates an instance that starts has called it off.
			return Canceled
		case tookBack(reason):
			return TakenBack
		}
		return Failed
	case "PendingSpotBidPlacement", "WaitingForSpotInstanceRequestId", "WaitingForSpotInstanceId", "WaitingForInstanceId",
		"PreInService", "InProgress", "WaitingForELBConnectionDraining", "MidLifecycleAction", "WaitingForInstanceWarmup",
		"WaitingForConnectionDraining", "WaitingForInPlaceUpdateToStart", "WaitingForInPlaceUpdateToFinalize", "InPlaceUpdateInProgress":
		// The enumeration of the API (ScalingActivityStatusCode).
		return Pending
	}
	return Unknown
}

// termination is why an instance was terminated before it was in service, in
// EC2's words; they begin with its code.
func termination(message string) (reason string, ok bool) {
	_, reason, ok = strings.Cut(message, "Termination Reason:")
	return strings.TrimSpace(reason), ok
}

// tookBack tells that a reason begins with a code of EC2's for Spot capacity
// that it wants back.
func tookBack(reason string) bool {
	code := reason[:len(reason)-len(strings.TrimLeftFunc(reason, partOfCode))]
	r, known := reasonOf(strings.TrimSuffix(code, "."))
	return known && r.class == reclaimed
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
