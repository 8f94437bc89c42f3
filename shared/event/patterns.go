package event

// The patterns name what Parse understands. EventBridge's own JSON.
//
// Auto Scaling groups that are not ours wake us too: whose a group is stands
// in its tags, not in the event (only managed nodegroups' names can be told,
// by their "eks-" prefix), so it is decided after a look, and counted.
const (
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
	// EndedPattern tells of instances that end; only those that we wait for matter.
	EndedPattern = `{
  "source": ["aws.ec2"],
  "detail-type": ["EC2 Instance State-change Notification"],
  "detail": {"state": ["terminated", "stopped"]}
}`
)
