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

// WarmPool returns whether a scaling activity with this description moved an instance
// into or out of its group's warm pool: "Launching a new EC2 instance into warm pool:
// i-…", "… from warm pool: i-…" (aws-samples/amazon-ec2-auto-scaling-group-examples,
// features/warm-pools). DescribeAutoScalingGroups lists no instance of a warm pool.
func WarmPool(description string) (into, is bool) {
	into = strings.HasPrefix(description, "Launching a new EC2 instance into warm pool")
	return into, into || strings.HasPrefix(description, "Launching a new EC2 instance from warm pool")
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
// writes Cancelled both for an activity that was called off, which is no failure,
// and for an instance that did not come into service: the message then holds its
// termination reason, or that a launch hook was abandoned. Its event calls both a
// failed launch. An instance that EC2 reclaimed was no failed launch: under a
// launch hook (EKS sets one) it had run for minutes.
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
		case strings.TrimSpace(message) == "", calledOff(message), strings.HasPrefix(reason, "Client.User"):
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

// Abandoned reports whether a status message says that a launch hook gave an
// instance up (Amazon EC2 Auto Scaling User Guide, "Tutorial: Use data script and
// instance metadata to retrieve lifecycle state": "… was abandoned: Lifecycle Action
// Completed with ABANDON Result"; AWS CodeDeploy User Guide: "… Heartbeat Timeout").
func Abandoned(message string) bool {
	return says(normal(message), "failed to complete users lifecycle action")
}

// calledOff reports whether a message says that the instance was not wanted any more.
// The first text is of the field: "Spot instance request: sir-bcpgayih has been
// cancelled. Group size decreased while waiting for Spot instance request to be
// fulfilled."; the others are the words of the causes of activities (user guide,
// "Verify a scaling activity").
func calledOff(message string) bool {
	if Abandoned(message) {
		return false
	}
	plain := normal(message)
	for _, phrase := range []string{"group size decreased", "shrinking the capacity", "desired capacity", "in response to a user request", "instance refresh"} {
		if says(plain, phrase) {
			return true
		}
	}
	return false
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
