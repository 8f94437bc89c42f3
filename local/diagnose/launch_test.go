package diagnose

import (
	"strings"
	"testing"
)

const everyGroup = "AutoScalingGroups.AutoScalingGroupName=" + asg

// failedLaunch is an activity that failed at a time, in a subnet.
func failedLaunch(id, when, where, message string) change {
	return set(activities, "Activities.+", `{"ActivityId": "`+id+`", "AutoScalingGroupName": "`+asg+`", "Description": "Launching a new EC2 instance.  Status Reason: `+message+`",
	"Cause": "At 2026-11-20T14:58:10Z an instance was started in response to a difference between desired and actual capacity, increasing the capacity from 0 to 1.", "StartTime": "`+when+`", "EndTime": "`+when+`",
	"StatusCode": "Failed", "StatusMessage": "`+message+`", "Progress": 100, "Details": "{\"Subnet ID\":\"`+where+`\",\"Availability Zone\":\"us-west-2a\"}"}`)
}

const noCapacity = "We currently do not have sufficient m5.large capacity in the Availability Zone you requested (us-west-2a). Our system will be working on provisioning additional capacity. Launching EC2 instance failed."

// noInstance is a group whose instance was never launched.
func noInstance(t *testing.T, dir string) {
	noNode()(t, dir)
	with(activities+".json", `{"Activities": []}`)(t, dir)
	cut(instances, "Reservations", young)(t, dir)
	cut(statuses, "InstanceStatuses", young)(t, dir)
	set(groups, everyGroup+".Instances", `[]`)(t, dir)
}

// ended makes the instance a terminated one, as EC2 describes it: no subnet,
// no VPC, no interfaces, no groups.
func ended(when, code, message string) change {
	return edited(instances, func(v any) {
		for _, r := range at(v, "Reservations").([]any) {
			for _, in := range at(r, "Instances").([]any) {
				if at(in, "InstanceId") != young {
					continue
				}
				in := in.(map[string]any)
				for _, gone := range []string{"SubnetId", "VpcId", "PrivateIpAddress", "IamInstanceProfile", "MetadataOptions", "SourceDestCheck"} {
					delete(in, gone)
				}
				in["NetworkInterfaces"], in["SecurityGroups"], in["PrivateDnsName"] = []any{}, []any{}, ""
				in["State"] = map[string]any{"Code": 48, "Name": "terminated"}
				in["StateReason"] = map[string]any{"Code": code, "Message": message}
				in["StateTransitionReason"] = "User initiated (" + when + ")"
			}
		}
	})
}

// terminating is the activity that ended the instance.
func terminating(when, cause string) change {
	return set(activities, "Activities.+", `{"ActivityId": "term-1", "AutoScalingGroupName": "`+asg+`", "Description": "Terminating EC2 instance: `+young+`", "Cause": "`+cause+`",
	"StartTime": "`+when+`", "EndTime": "`+when+`", "StatusCode": "Successful", "Progress": 100, "Details": "{\"Subnet ID\":\"`+subnet+`\",\"Availability Zone\":\"us-west-2a\"}"}`)
}

func nodeEvent(reason, when string) change {
	return set("kubectl-get-events.eks-workshop", "items.+", `{"apiVersion": "v1", "kind": "Event", "metadata": {"name": "e1", "namespace": "default"}, "involvedObject": {"kind": "Node", "name": "ip-10-42-192-4.us-west-2.compute.internal", "uid": "x"}, "reason": "`+reason+`", "message": "m", "type": "Normal", "count": 1, "firstTimestamp": "`+when+`", "lastTimestamp": "`+when+`"}`)
}

// TestLaunches holds the rules for launches and for instances that ended.
func TestLaunches(t *testing.T) {
	const soon, late = "2026-11-20T15:05:00.000Z", "2026-11-20T13:30:00.000Z"
	succeeded := func(when, where string) change {
		return set(activities, "Activities.+", `{"ActivityId": "ok-1", "AutoScalingGroupName": "`+asg+`", "Description": "Launching a new EC2 instance: i-0ok", "Cause": "c", "StartTime": "`+when+`", "EndTime": "`+when+`", "StatusCode": "Successful", "Progress": 100, "Details": "{\"Subnet ID\":\"`+where+`\",\"Availability Zone\":\"us-west-2a\"}"}`)
	}
	well := said{}
	const client = "Client.UserInitiatedShutdown"
	tests := map[string]struct {
		want    said
		changes []change
	}{
		"capacity":                        {one("launch/insufficient-capacity", asg, subnet), []change{noInstance, failedLaunch("f1", soon, subnet, noCapacity)}},
		"capacity, long ago":              {well, []change{noInstance, failedLaunch("f1", late, subnet, noCapacity)}},
		"then succeeded there":            {well, []change{noInstance, failedLaunch("f1", soon, subnet, noCapacity), succeeded("2026-11-20T15:07:00.000Z", subnet)}},
		"then succeeded elsewhere":        {one("launch/insufficient-capacity", asg), []change{noInstance, failedLaunch("f1", soon, subnet, noCapacity), succeeded("2026-11-20T15:07:00.000Z", "subnet-0b20000000000000b")}},
		"succeeded before":                {one("launch/insufficient-capacity", asg), []change{noInstance, succeeded("2026-11-20T15:01:00.000Z", subnet), failedLaunch("f1", soon, subnet, noCapacity)}},
		"subnet full":                     {one("launch/subnet-full", asg, subnet), []change{noInstance, set(subnets, "Subnets.SubnetId="+subnet+".AvailableIpAddressCount", "0"), failedLaunch("f1", soon, subnet, "There are not enough free addresses in subnet '"+subnet+"' to satisfy the requested number of instances. Launching EC2 instance failed.")}},
		"a subnet without addresses":      {one("ip/subnet-exhausted", subnet), []change{set(subnets, "Subnets.SubnetId="+subnet+".AvailableIpAddressCount", "0")}},
		"a subnet with few addresses":     {said{0, []string{"ip/subnet-exhausted advice"}, []string{subnet}, ""}, []change{set(subnets, "Subnets.SubnetId="+subnet+".AvailableIpAddressCount", "4")}},
		"AMI gone":                        {one("launch/ami", asg, image), []change{noInstance, failedLaunch("f1", soon, subnet, "The image id '["+image+"]' does not exist. Launching EC2 instance failed."), with("ec2-get-allowed-images-settings.json", `{"State": "disabled", "ManagedBy": "account"}`)}},
		"AMI gone, or hidden by settings": {likely("launch/ami", asg, image), []change{noInstance, failedLaunch("f1", soon, subnet, "The image id '["+image+"]' does not exist. Launching EC2 instance failed.")}},
		"key":                             {one("launch/template", asg, lt), []change{noInstance, failedLaunch("f1", soon, subnet, "The key pair 'ops' does not exist. Launching EC2 instance failed.")}},
		"security group":                  {one("launch/security-group", "sg-0123456789abcdef0"), []change{noInstance, failedLaunch("f1", soon, subnet, "The security group 'sg-0123456789abcdef0' does not exist. Launching EC2 instance failed.")}},
		"profile":                         {one("launch/profile", asg), []change{noInstance, failedLaunch("f1", soon, subnet, "Invalid IAM Instance Profile name (nodes). Launching EC2 instance failed.")}},
		"KMS key":                         {one("launch/kms-key", asg), []change{noInstance, failedLaunch("f1", soon, subnet, "Instance became unhealthy while waiting for instance to be in InService state. Termination Reason: Client.InvalidKMSKey.InvalidState: The KMS key provided is in an incorrect state")}},
		"Spot":                            {one("launch/spot-limit", asg), []change{noInstance, failedLaunch("f1", soon, subnet, "Could not launch Spot Instances. MaxSpotInstanceCountExceeded - Max spot instance count exceeded. Launching EC2 instance failed.")}},
		"nobody knows":                    {one("launch/unclassified", asg), []change{noInstance, failedLaunch("f1", soon, subnet, "The moon is in the wrong house.")}},
		"suspended":                       {one("launch/suspended", asg), []change{noInstance, set(groups, everyGroup+".SuspendedProcesses", `[{"ProcessName": "Launch", "SuspensionReason": "User suspended at 2026-11-20T14:00:00Z"}]`)}},
		"suspended with nothing to do":    {well, []change{set(groups, everyGroup+".SuspendedProcesses", `[{"ProcessName": "Launch", "SuspensionReason": "User suspended at 2026-11-20T14:00:00Z"}]`)}},
		"add-on degraded":                 {one("addon/degraded", "vpc-cni"), []change{set("eks-describe-addon.eks-workshop.vpc-cni", "addon.status", `"DEGRADED"`), set("eks-describe-addon.eks-workshop.vpc-cni", "addon.health.issues", `[{"code": "AccessDenied", "message": "no", "resourceIds": []}]`)}},
		"cluster unwell":                  {one("cluster/health", cluster), []change{set(described, "cluster.health", `{"issues": [{"code": "Ec2SubnetNotFound", "message": "subnet gone", "resourceIds": ["subnet-0gone"]}]}`)}},
		"cluster failed":                  {one("cluster/health", cluster), []change{set(described, "cluster.status", `"FAILED"`)}},
		"nodegroups file missing":         {said{2, nil, nil, "nodegroup/health"}, []change{without("eks-list-nodegroups.eks-workshop.json")}},
		"activities missing":              {said{2, nil, nil, "the capture has no autoscaling-describe-scaling-activities.json"}, []change{without(activities + ".json")}},
		"activities refused":              {said{2, nil, nil, "autoscaling:DescribeScalingActivities: denied"}, []change{refused(activities + " AccessDenied")}},
		"add-ons refused":                 {said{2, nil, nil, "addon/degraded"}, []change{refused("eks-list-addons.eks-workshop AccessDeniedException")}},
		"groups missing":                  {said{2, nil, nil, "launch/"}, []change{without(groups + ".json")}},
		"subnets missing":                 {said{2, nil, nil, "ip/subnet-exhausted"}, []change{without(subnets + ".json")}},
		"instances missing":               {said{2, nil, nil, "DescribeInstances"}, []change{without(instances + ".json")}},
		"cluster missing":                 {said{2, nil, nil, "DescribeCluster"}, []change{without(described + ".json")}},
		"reclaimed":                       {said{0, []string{"spot/reclaimed-before-join advice"}, []string{"new_nodegroup_2"}, ""}, []change{noNode(), ended("2026-11-20 15:00:10 GMT", "Server.SpotInstanceTermination", "Server.SpotInstanceTermination: Spot instance termination")}},
		"scaled in":                       {well, []change{noNode(), ended("2026-11-20 15:00:10 GMT", client, client), terminating("2026-11-20T15:00:00.000Z", "At 2026-11-20T14:59:55Z a user request explicitly set group desired capacity changing the desired capacity from 1 to 0.  At 2026-11-20T15:00:00Z an instance was taken out of service in response to a difference between desired and actual capacity, shrinking the capacity from 1 to 0.")}},
		"scaled in later":                 {well, []change{noNode(), ended("2026-11-20 15:08:10 GMT", client, client), terminating("2026-11-20T15:08:00.000Z", "At 2026-11-20T15:08:00Z an instance was taken out of service in response to a difference between desired and actual capacity, shrinking the capacity from 1 to 0.")}},
		"ended by a person, late":         {said{1, []string{"instance/ended-early likely"}, []string{young}, ""}, []change{noNode(), ended("2026-11-20 15:08:10 GMT", client, client)}},
		"ended by a person":               {one("instance/ended-early", young), []change{noNode(), ended("2026-11-20 15:00:10 GMT", client, client)}},
		"had joined by events":            {well, []change{noNode(), ended("2026-11-20 15:08:10 GMT", "Server.SpotInstanceTermination", "Server.SpotInstanceTermination: Spot instance termination"), nodeEvent("RegisteredNode", "2026-11-20T15:00:00Z"), set(instances, it+".PrivateDnsName", `"ip-10-42-192-4.us-west-2.compute.internal"`)}},
		"unhealthy, only terminating":     {well, []change{noNode(), ended("2026-11-20 15:08:10 GMT", client, client), terminating("2026-11-20T15:08:00.000Z", "At 2026-11-20T15:08:00Z an instance was taken out of service in response to an EC2 health check indicating it has been terminated or stopped.")}},
		"KMS key, told by the instance":   {one("launch/kms-key", asg), []change{noNode(), ended("2026-11-20 14:58:20 GMT", "Client.InvalidKMSKey.InvalidState", "Client.InvalidKMSKey.InvalidState: The KMS key provided is in an incorrect state"), with(activities+".json", `{"Activities": []}`)}},
		"internal error":                  {one("launch/kms-key", asg), []change{noNode(), ended("2026-11-20 14:58:20 GMT", "Client.InternalError", "Client.InternalError: Client error on launch"), with(activities+".json", `{"Activities": []}`)}},
		"two faults":                      {said{1, certain("route/no-egress", "launch/insufficient-capacity"), []string{table}, ""}, []change{noNode(), noWayOut(), failedLaunch("f1", soon, "subnet-0b20000000000000a", noCapacity)}},
		"failed activity by event of old": {well, []change{noInstance, with("event.json", strings.ReplaceAll(launchFailed, "TIME", "2026-11-20T13:00:00Z"))}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tell(t, tt.want, tt.changes...)
		})
	}
}

// launchFailedNow is the same event of minutes ago.
func launchFailedNow() string {
	return strings.ReplaceAll(launchFailed, "TIME", "2026-11-20T15:05:00Z")
}

// launchFailed is the event of a failed launch.
const launchFailed = `{"version": "0", "id": "468fe059-f4b7-445f-bb22-2a271b94974d", "detail-type": "EC2 Instance Launch Unsuccessful", "source": "aws.autoscaling", "account": "111122223333", "time": "TIME", "region": "us-west-2",
"resources": ["arn:aws:autoscaling:us-west-2:111122223333:autoScalingGroup:3899141e-68ab-37b5-0ea6-485246433f29:autoScalingGroupName/` + asg + `"],
"detail": {"Origin": "EC2", "Destination": "AutoScalingGroup", "StatusCode": "Failed", "AutoScalingGroupName": "` + asg + `", "ActivityId": "1cabc0a2", "Details": {"Availability Zone": "us-west-2a", "Subnet ID": "` + subnet + `"}, "RequestId": "1cabc0a2", "StatusMessage": "` + noCapacity + `", "EndTime": "TIME", "EC2InstanceId": "", "StartTime": "TIME", "Cause": "c"}}`
