package worldgen

import (
	"time"

	"rollcall/shared/checkid"

	"github.com/aws/aws-sdk-go-v2/aws"
	astypes "github.com/aws/aws-sdk-go-v2/service/autoscaling/types"
)

// refused makes the group want one more instance, whose launch fails with a
// message.
func refused(message string) func(*World) {
	return func(w *World) {
		g := w.scalingGroup()
		g.DesiredCapacity = aws.Int32(*g.DesiredCapacity + 1)
		began := w.now().Add(-2 * time.Minute)
		w.File.AutoScaling.Activities = append(w.File.AutoScaling.Activities, astypes.Activity{
			ActivityId: aws.String("f-refused"), AutoScalingGroupName: &w.group, StatusCode: astypes.ScalingActivityStatusCodeFailed, Progress: aws.Int32(100),
			Description: aws.String("Launching a new EC2 instance.  Status Reason: " + message), StatusMessage: &message,
			Cause:     aws.String("An instance was started in response to a difference between desired and actual capacity, increasing the capacity from 1 to 2."),
			StartTime: &began, EndTime: aws.Time(began.Add(time.Second)),
		})
	}
}

// refusedLaunch is how the names of faults begin that keep launches from instances.
const refusedLaunch = "launch refused: "

func launchFaults() []Fault {
	var list []Fault
	for _, f := range []struct {
		check   checkid.ID
		message string
	}{
		{checkid.LaunchInsufficientCapacity, "We currently do not have sufficient m5.large capacity in the Availability Zone you requested (us-west-2a). Our system will be working on provisioning additional capacity. Launching EC2 instance failed."},
		{checkid.LaunchSpotLimit, "Max spot instance count exceeded. Launching EC2 instance failed."},
		{checkid.LaunchVCPULimit, "You have requested more vCPU capacity than your current vCPU limit of 32 allows for the instance bucket that the specified instance type belongs to. Please visit http://aws.amazon.com/contact-us/ec2-request to request an adjustment to this limit. Launching EC2 instance failed."},
		{checkid.LaunchSubnetFull, "There are not enough free addresses in subnet 'subnet-0a' to satisfy the requested number of instances. Launching EC2 instance failed."},
		{checkid.LaunchTemplate, "The specified launch template, with template ID lt-0dead, does not exist. Launching EC2 instance failed."},
		{checkid.LaunchAMI, "The image id '[ami-0dead]' does not exist. Launching EC2 instance failed."},
		{checkid.LaunchSecurityGroup, "The security group 'sg-0dead' does not exist. Launching EC2 instance failed."},
		{checkid.LaunchProfile, "Invalid IAM Instance Profile name. Launching EC2 instance failed."},
		{checkid.LaunchUnauthorized, "You are not authorized to perform this operation. Encoded authorization failure message: abcdef. Launching EC2 instance failed."},
		{checkid.LaunchPolicyDenied, "You are not authorized to perform this operation. User: arn:aws:sts::111122223333:assumed-role/AWSServiceRoleForAutoScaling/AutoScaling is not authorized to perform: ec2:RunInstances on resource: arn:aws:ec2:us-west-2:111122223333:instance/* with an explicit deny in a service control policy. Launching EC2 instance failed."},
		{checkid.LaunchUnsupportedType, "Your requested instance type (m5.large) is not supported in your requested Availability Zone (us-west-2e). Please retry your request by not specifying an Availability Zone or choosing us-west-2a, us-west-2b. Launching EC2 instance failed."},
		{checkid.LaunchAccountValidation, "Your request for accessing resources in this region is being validated, and you will not be able to launch additional resources in this region until the validation is complete. Launching EC2 instance failed."},
		{checkid.LaunchUnclassified, "The moon is in the wrong house. Launching EC2 instance failed."},
	} {
		activity, fleet := refused(f.message), fleetFaults()[f.check]
		list = append(list, Fault{
			Name: refusedLaunch + string(f.check), Check: f.check, Or: ofClass(f.check), reach: noLaunch,
			applies: func(w *World) bool { return grouped(w) || w.Shape.Fleet == Karpenter },
			breaks: func(w *World) {
				if w.Shape.Fleet != Karpenter {
					activity(w)
					return
				}
				w.wantsFleet()
				fleet(w)
			},
		})
	}
	return append(list, Fault{Name: "launches suspended", Check: checkid.LaunchSuspended, reach: noLaunch, applies: grouped, breaks: func(w *World) {
		g := w.scalingGroup()
		g.DesiredCapacity = aws.Int32(*g.DesiredCapacity + 1)
		g.SuspendedProcesses = []astypes.SuspendedProcess{{ProcessName: aws.String("Launch"), SuspensionReason: aws.String("User suspended at 2026-11-19T10:00:00Z")}}
	}})
}
