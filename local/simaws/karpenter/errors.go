package karpenter

import (
	"slices"
	"strings"

	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"github.com/aws/aws-sdk-go-v2/aws"
)

// failureKind is what Karpenter does about a launch that failed
// (KC lifecycle/launch.go).
type failureKind string

const (
	none failureKind = ""
	// short: there is no capacity. An event, and the NodeClaim is deleted at once.
	short failureKind = "insufficient capacity"
	// unresolved: the class is gone, which counts as no capacity.
	unresolved failureKind = "class not found"
	// notReady: the class is not ready. The NodeClaim is deleted without a word.
	notReady failureKind = "class not ready"
	// refused: anything else. Launched stays Unknown with the reason, and it is tried
	// again until the launch timeout.
	refused failureKind = "refused"
)

// failure is why a launch failed.
type failure struct {
	kind failureKind
	// text is the error, for the event of a shortage.
	text            string
	reason, message string
}

// shortCodes are those that mean a shortage (KP pkg/errors,
// unfulfillableCapacityErrorCodes and IsServiceLinkedRoleCreationNotPermitted).
func shortCodes() []string {
	return []string{
		"InsufficientInstanceCapacity", "MaxSpotInstanceCountExceeded", "VcpuLimitExceeded", "UnfulfillableCapacity", "Unsupported",
		"InsufficientFreeAddressesInSubnet", "MaxFleetCountExceeded", "ReservationCapacityExceeded", "AuthFailure.ServiceLinkedRoleCreationNotPermitted",
	}
}

// fleetFailure is what errors in a fleet's answer are together: a shortage only
// where each of them is one (KP pkg/providers/instance, combineFleetErrors).
func fleetFailure(errs []ec2types.CreateFleetError) failure {
	var texts []string
	all := true
	for _, e := range errs {
		if s := aws.ToString(e.ErrorCode) + ": " + aws.ToString(e.ErrorMessage); !slices.Contains(texts, s) {
			texts = append(texts, s)
		}
		all = all && slices.Contains(shortCodes(), aws.ToString(e.ErrorCode))
	}
	said := strings.Join(texts, "; ")
	if all {
		return failure{kind: short, text: "creating instance, insufficient capacity, with fleet error(s), " + said}
	}
	f := failure{kind: refused, text: said}
	f.reason, f.message = reasonOf(said)
	return f
}

// reasonOf is Karpenter's word for an error, and its sentence, in the order of
// KP pkg/errors, ToReasonMessage.
func reasonOf(said string) (reason, message string) {
	has := func(parts ...string) bool {
		return slices.ContainsFunc(parts, func(p string) bool { return strings.Contains(said, p) })
	}
	switch {
	case has("AuthFailure.ServiceLinkedRoleCreationNotPermitted"):
		return "SpotSLRCreationFailed", "User does not have sufficient permission to create the Spot ServiceLinkedRole to launch spot instances"
	case has("UnauthorizedOperation", "AccessDenied", "AuthFailure"):
		switch {
		case has("with an explicit deny in a permissions boundary"):
			return "Unauthorized", "User is not authorized to perform this operation due to a permission boundary"
		case has("with an explicit deny in a service control policy"):
			return "Unauthorized", "User is not authorized to perform this operation due to a service control policy"
		}
		return "Unauthorized", "User is not authorized to perform this operation because no identity-based policy allows it"
	case has("InvalidParameter") && has("belong to different networks"):
		return "SecurityGroupSubnetVPCMismatch", "Security groups and subnets must be in the same VPC."
	case has("iamInstanceProfile.name is invalid"):
		return "InstanceProfileNameInvalid", "Instance profile name used from EC2NodeClass status does not exist"
	case has("InvalidLaunchTemplateId.NotFound"):
		return "LaunchTemplateNotFound", "Launch template used for instance launch wasn't found"
	case has("User data is limited to"):
		return "UserDataSizeLimitExceeded", "Rendered user data exceeds the EC2 user data size limit"
	case has("InvalidAMIID.NotFound"):
		return "AMINotFound", "AMI used for instance launch either does not exist or you don't have permissions to use it"
	case has("RequestLimitExceeded"):
		return "RequestLimitExceeded", "Request limit exceeded"
	case has("InternalError"):
		return "InternalError", "An internal error has occurred"
	case has("MaxFleetCountExceeded"):
		return "FleetQuotaExceeded", "A fleet launch was requested but this would exceed your fleet request quota"
	case has("PendingVerification"):
		return "AccountPendingVerification", "An instance launch was requested but the request for launching resources in this region is still being verified"
	case has("MaxSpotInstanceCountExceeded"):
		return "SpotQuotaExceeded", "A spot instance launch was requested but this would exceed your spot instance quota"
	case has("VcpuLimitExceeded"):
		return "VCPULimitExceeded", "An instance was requested that would exceed your VCPU quota"
	case has("InsufficientFreeAddressesInSubnet"):
		return "InsufficientFreeAddressesInSubnet", "There are not enough free IP addresses to launch an instance in this subnet"
	}
	return "LaunchFailed", "Instance launch failed"
}

// mostSaid is where Karpenter cuts a text (KC lifecycle/launch.go, truncateMessage).
const mostSaid = 300

func truncated(s string) string {
	if len(s) < mostSaid {
		return s
	}
	return s[:mostSaid] + "..."
}
