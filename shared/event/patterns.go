package event

// The patterns name what Parse understands. EventBridge's own JSON.
//
// Auto Scaling groups that are not ours wake us too: whose a group is stands
// in its tags, not in the event (only managed nodegroups' names can be told,
// by their "eks-" prefix), so it is decided after a look, and counted.
const (
	// JoinCheckWanted, NodegroupCheckWanted and AddressCheckWanted are wishes to
	// look at a cause now, by the check's group: each goes to the function whose
	// sweep judges it.
	JoinCheckWanted = `{
  "source": ["rollcall"],
  "detail-type": ["Rollcall Check Wanted"],
  "detail": {"check": [
    {"prefix": "launch/"}, {"prefix": "route/"}, {"prefix": "endpoint/"}, {"prefix": "sg/"}, {"prefix": "nacl/"},
    {"prefix": "dns/"}, {"prefix": "iam/"}, {"prefix": "instance/"}, {"prefix": "node/"}
  ]}
}`
	NodegroupCheckWanted = `{
  "source": ["rollcall"],
  "detail-type": ["Rollcall Check Wanted"],
  "detail": {"check": [{"prefix": "nodegroup/"}, {"prefix": "addon/"}, {"prefix": "cluster/"}]}
}`
	AddressCheckWanted = `{
  "source": ["rollcall"],
  "detail-type": ["Rollcall Check Wanted"],
  "detail": {"check": [{"prefix": "ip/"}]}
}`
	// RemedyPattern is what a remedy may follow from: an incident that is open,
	// and a plan that a person approved.
	RemedyPattern = `{
  "source": ["rollcall"],
  "detail-type": ["Rollcall Incident Opened", "Rollcall Incident Reopened", "Rollcall Incident Changed", "Rollcall Remedy Approved"]
}`
	// CleanupPattern is an approval of what eni-cleanup does.
	CleanupPattern = `{
  "source": ["rollcall"],
  "detail-type": ["Rollcall Remedy Approved"],
  "detail": {"offer": {"plan": {"remedy": ["delete-leaked-interfaces"]}}}
}`
	// LaunchPattern is each word that Auto Scaling has for a launch. The
	// lifecycle action is the early one: "Launch Successful" comes when the
	// launch hook ends, up to half an hour later for a node that never joins.
	LaunchPattern = `{
  "source": ["aws.autoscaling"],
  "detail-type": ["EC2 Instance-launch Lifecycle Action", "EC2 Instance Launch Successful", "EC2 Instance Launch Unsuccessful"]
}`
	// RunningPattern is how launches without an Auto Scaling group (Karpenter)
	// are seen; for the others it is a second source.
	RunningPattern = `{
  "source": ["aws.ec2"],
  "detail-type": ["EC2 Instance State-change Notification"],
  "detail": {"state": ["running"]}
}`
	// FleetRefusedPattern is CreateFleet refused as a whole, FleetEmptyPattern one
	// that was taken and brought no instance: its errors stand in the answer, with
	// those that it brought beside them where there are any. (A trail that logs
	// management events is needed.) Only calls that name a cluster in a tag, or
	// that leave the tags to their launch template, are asked for; calls of Auto
	// Scaling and dry runs are left out. What EventBridge cannot tell apart
	// (a list of one, an answer that CloudTrail left out) launchCall does.
	FleetRefusedPattern = `{
  "source": ["aws.ec2"],
  "detail-type": ["AWS API Call via CloudTrail"],
  "detail": {
    "eventSource": ["ec2.amazonaws.com"],
    "eventName": ["CreateFleet"],
    "errorCode": [{"anything-but": ["Client.DryRunOperation"]}],
    "sourceIPAddress": [{"anything-but": ["autoscaling.amazonaws.com"]}],
    "requestParameters": {"CreateFleetRequest": {
      "DryRun": [{"exists": false}, false, "false"],
      "TagSpecification": {"Tag": {"Key": [` + clusterKeys + `, {"exists": false}]}}
    }}
  }
}`
	FleetEmptyPattern = `{
  "source": ["aws.ec2"],
  "detail-type": ["AWS API Call via CloudTrail"],
  "detail": {
    "eventSource": ["ec2.amazonaws.com"],
    "eventName": ["CreateFleet"],
    "errorCode": [{"exists": false}],
    "sourceIPAddress": [{"anything-but": ["autoscaling.amazonaws.com"]}],
    "requestParameters": {"CreateFleetRequest": {
      "Type": ["instant"],
      "TagSpecification": {"Tag": {"Key": [` + clusterKeys + `, {"exists": false}]}}
    }},
    "responseElements": {"CreateFleetResponse": {"fleetInstanceSet": {"item": {"instanceIds": {"item": [{"exists": false}]}}}}}
  }
}`
	// RunRefusedPattern is RunInstances refused. A fleet makes such calls itself
	// and tells of them in its answer.
	RunRefusedPattern = `{
  "source": ["aws.ec2"],
  "detail-type": ["AWS API Call via CloudTrail"],
  "detail": {
    "eventSource": ["ec2.amazonaws.com"],
    "eventName": ["RunInstances"],
    "errorCode": [{"anything-but": ["Client.DryRunOperation"]}],
    "sourceIPAddress": [{"anything-but": ["autoscaling.amazonaws.com", "ec2fleet.amazonaws.com", "spotfleet.amazonaws.com"]}],
    "$or": [
      {"requestParameters": {"tagSpecificationSet": {"items": {"tags": {"key": [` + clusterKeys + `]}}}}},
      {"requestParameters": {"tagSpecificationSet": {"items": {"tags": {"key": [{"exists": false}]}}}, "launchTemplate": {"launchTemplateId": [{"exists": true}]}}},
      {"requestParameters": {"tagSpecificationSet": {"items": {"tags": {"key": [{"exists": false}]}}}, "launchTemplate": {"launchTemplateName": [{"exists": true}]}}}
    ]
  }
}`
	// clusterKeys are the keys of the tags that name a cluster (gather.ClusterOf).
	clusterKeys = `{"prefix": "kubernetes.io/cluster/"}, {"prefix": "k8s.io/cluster"}, "eks:eks-cluster-name", "eks:cluster-name", "alpha.eksctl.io/cluster-name"`
	// EndedPattern tells of instances that end; only those that we wait for matter.
	EndedPattern = `{
  "source": ["aws.ec2"],
  "detail-type": ["EC2 Instance State-change Notification"],
  "detail": {"state": ["terminated", "stopped"]}
}`
	// NoticePattern tells that EC2 takes an instance of Spot, or of an interruptible
	// capacity reservation, back, or is likely to.
	// Only those that we wait for, or that have just joined, matter.
	NoticePattern = `{
  "source": ["aws.ec2"],
  "detail-type": ["EC2 Spot Instance Interruption Warning", "EC2 Capacity Reservation Instance Interruption Warning", "EC2 Instance Rebalance Recommendation"]
}`
	// MaintenancePattern tells that EC2 plans something for instances.
	MaintenancePattern = `{
  "source": ["aws.health"],
  "detail-type": ["AWS Health Event"],
  "detail": {"service": ["EC2"], "eventTypeCategory": ["scheduledChange"]}
}`
	// EKSCallPattern is each call that changes a nodegroup, as CloudTrail tells
	// of it (a trail that logs management events is needed). Refused calls are
	// left out: they change nothing.
	EKSCallPattern = `{
  "source": ["aws.eks"],
  "detail-type": ["AWS API Call via CloudTrail"],
  "detail": {
    "eventSource": ["eks.amazonaws.com"],
    "eventName": ["CreateNodegroup", "UpdateNodegroupConfig", "UpdateNodegroupVersion", "DeleteNodegroup"],
    "errorCode": [{"exists": false}]
  }
}`
	// AddonPattern is what EKS itself tells of an add-on's health.
	AddonPattern = `{
  "source": ["aws.eks"],
  "detail-type": ["EKS Addon Health Degraded", "EKS Addon Health Restored", "EKS Addon Creation Failed", "EKS Addon Update Failed"]
}`
	// NodegroupResourcePattern is what CloudFormation tells of the nodegroups of
	// its stacks (eksctl's and CDK's among them).
	NodegroupResourcePattern = `{
  "source": ["aws.cloudformation"],
  "detail-type": ["CloudFormation Resource Status Change"],
  "detail": {"resource-type": ["AWS::EKS::Nodegroup"]}
}`
)
