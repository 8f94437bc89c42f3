package settings

import "rollcall/shared/config"

// Key documents one CDK context key.
type Key struct {
	Name    string
	Default string
	About   string
}

// The tag of every resource of the stack that takes one: costs are found by it, and what
// others have made has none.
const (
	TagKey   = "Application"
	TagValue = "Rollcall"
)

// The keys that are the stack's own; the others are settings of the functions.
const (
	StackName          = "stackName"
	SlackSecretKMSKey  = "slackSecretKmsKeyArn"
	TargetSecretKMSKey = "targetSecretKmsKeyArn"
	KubernetesAccess   = "kubernetesAccess"
	AccessClusters     = "accessClusters"
	ConfigMapClusters  = "configMapClusters"
	AlarmTopicARN      = "alarmTopicArn"
	AlarmEmail         = "alarmEmail"
	LogRetentionDays   = "logRetentionDays"
	Dashboard          = "dashboard"
	TargetEmail        = "targetEmail"

	SpokeTemplate = "spoke"
	Organization  = "organization"

	VPCSubnetIDs        = "vpcSubnetIds"
	VPCSecurityGroupIDs = "vpcSecurityGroupIds"
)

// AssistantPolicy and ViewPolicy are the EKS access policies that the stack gives the
// reader where the setting kubernetesAccess is "policy".
const (
	AssistantPolicy = "AmazonAIOpsAssistantPolicy"
	ViewPolicy      = "AmazonEKSViewPolicy"
)

// AIOpsGives is what AmazonAIOpsAssistantPolicy lets a principal read: the
// list in the CloudWatch user guide, "Integration with Amazon EKS", of
// 9 August 2025.
const AIOpsGives = "which also gives the logs of all pods and every ConfigMap of the cluster, and which AWS may extend"

// Keys are all keys that an operator can set with `-c key=value`.
func Keys() []Key {
	var keys []Key
	for _, s := range config.Settings() {
		keys = append(keys, Key{Name: s.Context, Default: s.Default, About: s.About})
	}
	return append(keys,
		Key{SlackSecretKMSKey, "", "ARN of the customer key that encrypts slackSecretArn and slackSigningSecretArn, if one does; report and slack-actions may then decrypt with it, through Secrets Manager only."},
		Key{TargetSecretKMSKey, "", "ARN of the customer key that encrypts the secrets of targets, if one does; notify-targets may then decrypt these with it, through Secrets Manager only. The key's policy must let the account's roles use it."},
		Key{KubernetesAccess, string(AccessPolicy), `How join-check, sweep, nodegroup-watch, subnet-watch, zone-watch, remediate and spot-report may read in clusters: "group" (recommended: the Kubernetes group rollcall, whose ClusterRole deploy/clusterrole.yaml names every object that is read; the output ClusterRoleCommand applies it), "policy" (EKS access policies AmazonAIOpsAssistantPolicy, ` + AIOpsGives + `, and AmazonEKSViewPolicy for kube-system) or "none" (you grant it yourself).`},
		Key{AccessClusters, "", "Clusters in which the stack makes the access entry, separated by commas; if not set, those of clusters. With clusters=all the stack cannot know them: name them here, or run the output KubernetesAccessCommand once for each."},
		Key{ConfigMapClusters, "", "Clusters in authentication mode CONFIG_MAP, separated by commas: EKS refuses access entries there, and the whole stack would roll back, so none is made. make deploy and make diff ask EKS and fill this in; the output AwsAuthRoles says what to add to aws-auth instead."},
		Key{VPCSubnetIDs, "", "Private subnets in which join-check, sweep, nodegroup-watch, subnet-watch, zone-watch, remediate and spot-report run, separated by commas, best two or more in different zones. Needed when a watched cluster's API has a private endpoint only. From there it must reach the APIs of EC2, Auto Scaling, EKS, EventBridge, SQS and DynamoDB (with autoModeLogs CloudWatch Logs too) through a NAT gateway or VPC endpoints."},
		Key{VPCSecurityGroupIDs, "", "Security groups of join-check, sweep, nodegroup-watch, subnet-watch, zone-watch, remediate and spot-report in those subnets, separated by commas. They must let them out to port 443, and the clusters' security groups must let them in on port 443."},
		Key{AlarmTopicARN, "", "ARN of an SNS topic for alarms, whose policy lets cloudwatch.amazonaws.com publish. Without it the stack makes one without a KMS key: SNS encrypts its disks, and no more. If yours has a KMS key, it must be a customer key whose policy allows cloudwatch.amazonaws.com kms:GenerateDataKey* and kms:Decrypt: with the key aws/sns no alarm arrives."},
		Key{AlarmEmail, "", "Address that gets the alarms of the stack's own topic (it is asked to confirm)."},
		Key{TargetEmail, "", "Addresses that hear of incidents by mail, separated by commas: they are subscribed to the topic that the stack makes for sns among targets, and each is asked to confirm."},
		Key{LogRetentionDays, "30", "How long logs are kept, one of the numbers of days that CloudWatch Logs accepts."},
		Key{Dashboard, "on", `"off" leaves out the CloudWatch dashboard (launches, joins, addresses left, incidents, Rollcall's own health). An account's first three dashboards are free, each further one costs $3.00 a month; opening it searches the log groups ($0.005 for a GB).`},
		Key{SpokeTemplate, "", `Which spoke's template "make spoke-template" writes: "any" (looks and forwards, and changes nothing: one file for all accounts), or an account and a region (222233334444/eu-west-1), with what its clusters have opted in to.`},
		Key{Organization, "", "Id of the organization (o-…) of the hub: a spoke's roles then trust the hub only while it is in it. For a spoke outside the organization leave it out."},
		Key{StackName, "Rollcall", "Name of the stack; in lower case it begins the name of every function and queue, and is the name of the bus."},
	)
}
