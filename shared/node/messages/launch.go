package messages

import "rollcall/shared/checkid"

// LaunchRows are what is known of failed launches, in the order in which a text is
// asked. Limits of the account come before shortages: a text that names
// both (a fleet that tried several ways) is cured by the limit. Sources are
// public issues and AWS documentation; "code search" marks a text that was
// found in a public repository's file whose address is not known. The samples
// beside those of the tests are in testdata/samples.json.
func LaunchRows() []Row {
	const (
		launchDoc = "https://docs.aws.amazon.com/autoscaling/ec2/userguide/ts-as-instancelaunchfailure.html"
		amiDoc    = "https://docs.aws.amazon.com/autoscaling/ec2/userguide/ts-as-ami.html"
	)
	return []Row{
		// Both say what the codes around them leave out: UnsupportedOperation, UnauthorizedOperation.
		{Check: checkid.LaunchIMDSEnforced, Exact: true, All: [][]string{{"httptokensenforced is enabled"}},
			Sample: "You can't launch instances with IMDSv1 because httpTokensEnforced is enabled for this account. Either launch the instance with httpTokens=required or contact your account owner to disable httpTokensEnforced using the ModifyInstanceMetadataDefaults API or the account settings in the EC2 console.",
			Source: "https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/troubleshooting-launch.html#launching-an-imdsv1-enabled-instance-fails"},
		{Check: checkid.LaunchPolicyDenied, Exact: true, All: [][]string{{"declarative policy"}}, Meaning: "a declarative policy of the organization forbids it",
			Next:   "Launch as the policy requires, or contact whoever manages the organization: its management account lists the policy's effect with aws ec2 describe-declarative-policies-reports (ec2:DescribeDeclarativePoliciesReports).",
			Sample: "This functionality has been disabled by a Declarative Policy. Custom Message: AMIs of this provider are not approved.", Source: "AWS Organizations user guide, Custom error messages for declarative policies"},
		{Check: checkid.LaunchAccountValidation, Codes: []string{"PendingVerification"},
			All:    [][]string{{"is being validated, and you will not be able to launch", "account is currently being verified"}},
			Sample: "Your request for accessing resources in this region is being validated, and you will not be able to launch additional resources in this region until the validation is complete.", Source: "https://github.com/appvia/kore/issues/585"},
		{Check: checkid.LaunchAccountValidation, Codes: []string{"Blocked"}, All: [][]string{{"account is currently blocked"}}, Meaning: "AWS has blocked the account",
			Sample: "This account is currently blocked and not recognized as a valid account. Launching EC2 instance failed.", Source: "https://github.com/thecodeteam/labs/issues/43"},
		{Check: checkid.LaunchAccountValidation, All: [][]string{{"you are not subscribed to this service"}}, Meaning: "the account is not signed up for EC2",
			Sample: "You are not subscribed to this service. Please see https://aws.amazon.com/.", Source: launchDoc},

		{Check: checkid.LaunchServiceRole, Codes: []string{"ServiceLinkedRoleCreationNotPermitted"}, All: [][]string{{"permission to create the service-linked role"}},
			Meaning: "the service-linked role for Spot does not exist, and the launching role is not allowed to create it",
			Sample:  "AuthFailure.ServiceLinkedRoleCreationNotPermitted: The provided credentials do not have permission to create the service-linked role for EC2 Spot Instances.", Source: "https://github.com/eksctl-io/eksctl/issues/6064"},
		{Check: checkid.LaunchServiceRole, All: [][]string{{"when attempting to assume role"}}, Meaning: "Auto Scaling is not allowed to assume its service-linked role: it was deleted, or is too new",
			Sample: "Access denied when attempting to assume role arn:aws:iam::111122223333:role/aws-service-role/autoscaling.amazonaws.com/AWSServiceRoleForAutoScaling. Validating load balancer configuration failed.", Source: "https://github.com/pelias-deprecated/kubernetes/issues/32"},
		{Check: checkid.LaunchServiceRole, All: [][]string{{"authentication failure. launching ec2 instance failed"}}, Meaning: "EC2 does not know the service-linked role of Auto Scaling: it was deleted, or is seconds old",
			Sample: "Authentication Failure. Launching EC2 instance failed.", Source: "code search: a Terraform module's comment on the first apply in an account"},

		{Check: checkid.LaunchKMSKey, Codes: []string{"InvalidKMSKey.*", "KMSKeyNotAccessibleFault", "CustomerKeyHasBeenRevoked"}, All: [][]string{{"kms key provided is in an incorrect state"}}, Meaning: "the KMS key of an encrypted volume is disabled, pending deletion or deleted, or its policy denies the launching role",
			Sample: "Client.InvalidKMSKey.InvalidState: The KMS key provided is in an incorrect state", Source: "https://github.com/aws/karpenter-provider-aws/issues/5039"},
		{Check: checkid.LaunchKMSKey, Codes: []string{"Client.InternalError"}, All: [][]string{{"client error on launch"}}, Meaning: "the launch failed on the client's side, nearly always because the KMS key of an encrypted volume cannot be used",
			Sample: "Client.InternalError: Client error on launch", Source: "https://github.com/aws-quickstart/quickstart-redhat-openshift/issues/130"},
		{Check: checkid.LaunchKMSKey, All: [][]string{{"encrypted with an inaccessible aws kms key"}},
			Sample: "One or more of the attached Amazon EBS volumes are encrypted with an inaccessible AWS KMS key.", Source: "https://github.com/aws/aws-cdk/issues/34491"},

		{Check: checkid.LaunchFleetLimit, Codes: []string{"MaxFleetCountExceeded", "MaxSpotFleetRequestCountExceeded", "RequestResourceCountExceeded"}, All: [][]string{{"quota for maximum fleet requests", "quota for maximum spot fleet requests"}},
			Sample: "You've reached your quota for maximum Fleet Requests for this account. Launching EC2 instance failed.", Source: "https://github.com/terraform-aws-modules/terraform-aws-eks/issues/2149"},
		{Check: checkid.LaunchSpotLimit, Codes: []string{"MaxSpotInstanceCountExceeded"}, All: [][]string{{"max spot instance count exceeded"}},
			Sample: "Placing Spot instance request. Status Reason: Max spot instance count exceeded. Placing Spot instance request failed.", Source: "https://github.com/aws/aws-parallelcluster/issues/340"},
		{Check: checkid.LaunchVCPULimit, Codes: []string{"VcpuLimitExceeded"}, All: [][]string{{"more vcpu capacity than your current vcpu limit"}},
			Sample: "You have requested more vCPU capacity than your current vCPU limit of 384 allows for the instance bucket that the specified instance type belongs to. Please visit http://aws.amazon.com/contact-us/ec2-request to request an adjustment to this limit. Launching EC2 instance failed.", Source: "https://github.com/kubernetes/kops/pull/15778"},
		{Check: checkid.LaunchVCPULimit, Codes: []string{"InstanceLimitExceeded"}, All: [][]string{{"requested more instances…than your current instance limit", "your quota allows for…more running instance", "instance(s) are already running. launching ec2 instance failed"}}, Meaning: "the account's limit of running instances is reached",
			Sample: "You have requested more instances (7) than your current instance limit of 6 allows for the specified instance type. Please visit http://aws.amazon.com/contact-us/ec2-request to request an adjustment to this limit. Launching EC2 instance failed.", Source: "https://github.com/kubernetes/autoscaler/issues/1263"},
		{Check: checkid.LaunchVolumeLimit, Codes: []string{"VolumeLimitExceeded", "MaxIOPSLimitExceeded"}, All: [][]string{{"volume limit exceeded", "maximum number of active volumes", "exceeded your maximum…storage limit"}},
			Sample: "Instance became unhealthy while waiting for instance to be in InService state. Termination Reason: Client.VolumeLimitExceeded: Volume limit exceeded", Source: "code search: a Kubernetes autoscaler's list of Auto Scaling messages"},
		{Check: checkid.LaunchSpotPrice, Codes: []string{"SpotMaxPriceTooLow"}, All: [][]string{{"lower than the minimum required spot request fulfillment price", "spot bid price is less than spot market price", "status code is price-too-low"}},
			Sample: "Could not launch Spot Instances. SpotMaxPriceTooLow - Your Spot request price of 0.24156000000000002 is lower than the minimum required Spot request fulfillment price of 0.6034. Launching EC2 instance failed.", Source: "https://github.com/redhat-developer/mapt/issues/576"},

		{Check: checkid.LaunchSubnetFull, Codes: []string{"InsufficientFreeAddressesInSubnet", "InsufficientFreeAddresses"}, All: [][]string{{"not enough free addresses in", "does not have enough free addresses to satisfy"}},
			Sample: "There are not enough free addresses in subnet 'subnet-66d3dd2c' to satisfy the requested number of instances. Launching EC2 instance failed.", Source: "https://github.com/PrairieLearn/PrairieLearn/issues/3271"},
		{Check: checkid.LaunchSecurityGroup, Codes: []string{"InvalidGroup.*", "InvalidGroupId.*", "InvalidSecurityGroupID.*", "InvalidSecurityGroupId.*", "SecurityGroupLimitExceeded", "SecurityGroupsPerInstanceLimitExceeded", "SecurityGroupsPerInterfaceLimitExceeded"}, All: [][]string{{"the security group…does not exist", "security groups per interface has been reached"}},
			Sample: "The security group 'sg-00000000' does not exist. Launching EC2 instance failed.", Source: launchDoc},
		{Check: checkid.LaunchSecurityGroup, All: [][]string{{"security group…and subnet…belong to different networks", "security groups in the launch…not linked to the vpc"}}, Meaning: "a security group of the launch template is in another VPC than the subnet",
			Sample: "Security group sg-01048a5f724140078 and subnet subnet-a78bf4fc belong to different networks.", Source: "https://github.com/QT-DevOps/DevOpsIssues/issues/256"},

		{Check: checkid.LaunchAMI, Codes: []string{"InvalidAMIID.*", "AmiIdNotFound", "InvalidManifest", "InvalidKernelId.*", "InvalidRamDiskId.*"}, All: [][]string{{"image id…does not exist", "the ami id…does not exist"}}, Meaning: "the AMI does not exist: deregistered, in another region, or never there",
			Sample: "The image id '[ami-02c7e84c65fcfecee]' does not exist. Launching EC2 instance failed.", Source: "code search: a test of the AWS provider of Cluster API"},
		{Check: checkid.LaunchAMI, All: [][]string{{"not authorized for images"}}, Meaning: "the AMI is private and not shared with this account (or no longer is)",
			Sample: "AuthFailure: Not authorized for images: [ami-03a5b89a2fbe7dd3d]", Source: "https://github.com/Orange-Cyberdefense/GOAD/issues/304"},
		{Check: checkid.LaunchAMI, All: [][]string{{"architecture…does not match the architecture"}}, Meaning: "the AMI is built for another processor architecture than the instance type's",
			Sample: "The requested instance type's architecture (x86_64) does not match the architecture in the manifest for ami-0ef72f9111fdc5f97 (arm64). Launching EC2 instance failed.", Source: "https://github.com/pulumi/pulumi-eks/issues/110"},
		{Check: checkid.LaunchAMI, All: [][]string{{"is pending, and cannot be run", "is disabled, and cannot be run"}}, Meaning: "the AMI is pending or disabled, and cannot be run",
			Sample: "AMI 'ami-00000000' is disabled, and cannot be run. Launching EC2 instance failed.", Source: amiDoc},
		{Check: checkid.LaunchAMI, All: [][]string{{"marketplace product you need to accept terms"}}, Meaning: "the AMI is a Marketplace product whose terms this account has not accepted",
			Sample: "In order to use this AWS Marketplace product you need to accept terms and subscribe. To do so please visit https://aws.amazon.com/marketplace/pp?sku=14onryp2ljrzlajty34nw8o2z. Launching EC2 instance failed.", Source: "https://github.com/ansible/ansible/issues/43375"},
		{Check: checkid.LaunchAMI, All: [][]string{{"image is not eligible for free tier", "virtualization type…may only be used with", "using an ami that is enabled for ena", "parameter amiidlist cannot be empty"}}, Meaning: "the AMI cannot be run with this type, or by this account",
			Sample: "The specified image is not eligible for Free Tier. For a list of Free Tier images, run 'describe-images' with the filter 'free-tier-eligible=true'.", Source: "https://github.com/bitnami/vms/issues/1838"},

		// Codes are those of the EC2 API reference, "Error codes". A reservation or
		// a placement that does not take an instance is no shortage of EC2's: other
		// zones and types do not help, and it does not pass by itself.
		{Check: checkid.LaunchCapacityReservation, Exact: true, Codes: []string{"ReservationCapacityExceeded"}, All: [][]string{{"reservation does not have sufficient compatible and available capacity"}},
			Meaning: "the capacity reservation has no free place for this type, zone and platform",
			Sample:  "The requested reservation does not have sufficient compatible and available capacity for this request.", Source: "https://github.com/scylladb/scylla-cluster-tests/issues/8839"},
		{Check: checkid.LaunchCapacityReservation, Exact: true, All: [][]string{{"capacity block reservation…is not active yet", "capacity reservation…is not active", "capacity block…is not active"}}, Meaning: "the capacity reservation or capacity block is not active: it starts later, or is over",
			Sample: "Your Capacity Block reservation cr-0b75117488af6ca9a is not active yet. Launching EC2 instance failed.", Source: launchDoc},
		{Check: checkid.LaunchCapacityReservation, Codes: []string{"InvalidCapacityReservationId.*", "InvalidCapacityReservationIdNotFoundException", "InvalidCapacityReservationIdMalformedException", "InvalidLaunchTargets"}, All: [][]string{{"the capacity reservation…does not exist"}}, Meaning: "the capacity reservation that the launch template names does not exist here",
			Sample: "InvalidCapacityReservationId.NotFound: The capacity reservation 'cr-0a1b2c3d4e5f60718' does not exist.", Source: "EC2 API reference, Error codes"},
		{Check: checkid.LaunchCapacityReservation, Exact: true, All: [][]string{{"the market type (purchasing) option is not valid"}}, Meaning: "the market type and the capacity reservation are incompatible: a capacity block needs the market type capacity-block, and nothing else accepts it",
			Sample: "InvalidParameterValue: The market type (purchasing) option is not valid. Choose a different market type and try again", Source: "https://github.com/terraform-aws-modules/terraform-aws-ec2-instance/issues/404"},
		{Check: checkid.LaunchPlacement, Exact: true, All: [][]string{{"limit of instances in this spread placement group"}}, Meaning: "the spread placement group is full: it holds seven instances in each zone",
			Sample: "InsufficientInstanceCapacity: You've reached the limit of instances in this spread placement group. A spread placement group can have up to seven instances per Availability Zone.", Source: "https://github.com/aws/karpenter-provider-aws/blob/main/pkg/errors/errors.go"},
		{Check: checkid.LaunchPlacement, Exact: true, Codes: []string{"InvalidPlacementGroup.InUse"}, All: [][]string{{"the placement group…is in use in another availability zone", "placement group is spread across availability zones"}},
			Meaning: "the cluster placement group is in use in another zone: all of its instances are in one",
			Sample:  "The placement group 'null' is in use in another availability zone: null. Launching EC2 instance failed.", Source: "https://github.com/hashicorp/terraform/issues/8064"},
		{Check: checkid.LaunchPlacement, Codes: []string{"InvalidPlacementGroup.Unknown", "InvalidPlacementGroupId.*", "InvalidHostId", "InvalidHostId.*", "InvalidHostID.*"}, All: [][]string{{"the placement group…is unknown"}}, Meaning: "the placement group that the launch template names does not exist here",
			Sample: "InvalidPlacementGroup.Unknown: The Placement Group 'hpc' is unknown.", Source: "EC2 API reference, Error codes"},
		{Check: checkid.LaunchPlacement, Codes: []string{"InvalidHostState", "InvalidHostConfiguration", "IncompatibleHostRequirements", "UnavailableHostRequirements", "UnsupportedInstanceTypeOnHost", "UnsupportedHostConfiguration", "InvalidAffinity", "InvalidTenancy", "UnsupportedTenancy"}, Meaning: "the dedicated host or tenancy of the launch template rejects the instance",
			Sample: "UnsupportedTenancy: The specified tenancy is unsupported.", Source: "EC2 API reference, Error codes"},
		{Check: checkid.LaunchPlacement, Exact: true, All: [][]string{{"placement groups are not supported by the"}}, Meaning: "the placement group's strategy does not support this instance type",
			Next:   "Launch a type that the strategy supports (aws ec2 describe-instance-types, PlacementGroupInfo.SupportedStrategies; burstable types support no cluster placement group), or remove the placement group from the launch template.",
			Sample: "InvalidParameterCombination: Cluster placement groups are not supported by the 't3.xlarge' instance type. Specify a supported instance type or change the placement group strategy, and try again.", Source: "https://github.com/dstackai/dstack/issues/2872"},
		{Check: checkid.LaunchPlacement, Exact: true, All: [][]string{{"cannot launch an instance with a tenancy of", "placement tenancy is not supported"}}, Meaning: "the tenancy of the launch template is incompatible with its placement group or market type",
			Next:   "Remove either the tenancy or the placement group from the launch template.",
			Sample: "You cannot launch an instance with a tenancy of ''host'' into a placement group. Either remove the placement group from the request, or specify a different tenancy.", Source: "https://github.com/crossplane-contrib/provider-aws/issues/1538"},
		{Check: checkid.LaunchPlacement, Exact: true, All: [][]string{{"placement groups may not be used with instances of type"}}, Meaning: "the placement group does not support this instance type",
			Sample: "Placement groups may not be used with instances of type 'm1.large'. Launching EC2 instance failed.", Source: launchDoc},
		{Check: checkid.LaunchPlacement, Exact: true, Codes: []string{"InsufficientCapacityOnHost"}, All: [][]string{{"into placement group", "in placement group"}}, Meaning: "the placement group or the host has no room for the instance where its others are",
			Sample: "InsufficientInstanceCapacity: We currently do not have sufficient capacity to launch all of the additional requested instances into Placement Group 'hpc'. Launching EC2 instance failed.", Source: "EC2 user guide, Placement strategies: an insufficient capacity error in a cluster placement group"},

		{Check: checkid.LaunchProfile, Codes: []string{"IamInstanceProfileNotFound", "InvalidIamInstanceProfileArn.*", "InvalidIAMInstanceProfile"}, All: [][]string{{"invalid iam instance profile", "invalid iaminstanceprofile", "parameter iaminstanceprofile"}},
			Sample: "You must use a valid fully-formed launch template. Value (eks-d8c6d9f9-90bb-c537-cb25-40c5255cf213) for parameter iamInstanceProfile.name is invalid. Invalid IAM Instance Profile name", Source: "https://github.com/terraform-aws-modules/terraform-aws-eks/issues/2926"},
		{Check: checkid.LaunchUnsupportedType, Codes: []string{"Ec2InstanceTypeDoesNotExist", "InvalidAvailabilityZone", "InvalidZone.*"}, All: [][]string{{"requested instance type…is not supported in your requested availability zone", "requested availability zone is no longer supported"}}, Meaning: "the instance type is not offered in this zone",
			Sample: "InvalidFleetConfiguration - Your requested instance type (c5.large) is not supported in your requested Availability Zone (us-east-1e).", Source: "https://github.com/compiler-explorer/infra/issues/601"},
		{Check: checkid.LaunchUnsupportedType, All: [][]string{{"instance type is not eligible for free tier"}}, Meaning: "the account is on the Free plan, which launches Free Tier types only",
			Next:   "Upgrade the account's plan, or launch a Free Tier type: aws ec2 describe-instance-types --filters Name=free-tier-eligible,Values=true lists them.",
			Sample: "Could not launch On-Demand Instances. InvalidParameterCombination - The specified instance type is not eligible for Free Tier. For a list of Free Tier instance types, run 'describe-instance-types' with the filter 'free-tier-eligible=true'. Launching EC2 instance failed.", Source: "https://github.com/LinkedInLearning/learning-terraform-3087701/issues/345"},

		{Check: checkid.LaunchTemplate, Codes: []string{"InvalidKeyPair.*", "InvalidKey.Format"}, All: [][]string{{"the key pair…does not exist"}}, Meaning: "the key pair that the launch template names does not exist",
			Sample: "You must use a valid fully-formed launch template. The key pair 'ppp-stg_key_pair' does not exist", Source: "https://github.com/Guimove/terraform-aws-bastion/issues/173"},
		{Check: checkid.LaunchTemplate, Codes: []string{"InvalidBlockDeviceMapping", "InvalidSnapshot.*", "InvalidSnapshotID.*", "InvalidUserData.*", "UnknownVolumeType", "VolumeTypeNotAvailableInZone", "BootForVolumeTypeUnsupported", "EncryptedVolumesNotSupported", "VolumeIOPSLimit", "NonEBSInstance"}, All: [][]string{{"volume of size…is smaller than", "invalid device name", "parameter virtualname is invalid", "ebs block device mappings not supported", "user data is limited to"}}, Meaning: "EC2 rejects a volume or the user data of the launch template",
			Sample: "Could not launch Spot Instances. InvalidBlockDeviceMapping - Volume of size 22GB is smaller than  snapshot 'snap-0b5c5ea11d58e1fec', expect size >= 30GB. Launching EC2 instance failed.", Source: "https://github.com/DNXLabs/terraform-aws-ecs/pull/24"},
		{Check: checkid.LaunchTemplate, Codes: []string{"InvalidSubnetID.*", "InvalidSubnet"}, All: [][]string{{"the subnet id…does not exist"}}, Meaning: "the group's subnet does not exist",
			Sample: "Error launching source instance: InvalidSubnetID.NotFound: The subnet ID 'subnet-ed4ddcb6' does not exist", Source: "https://github.com/terraform-aws-modules/terraform-aws-ec2-instance/issues/20"},
		{Check: checkid.LaunchTemplate, Codes: []string{"InvalidLaunchTemplateId.*", "InvalidLaunchTemplateName.*", "InvalidLaunchTemplateVersion.*", "Ec2LaunchTemplateNotFound", "SourceEc2LaunchTemplateNotFound"},
			All: [][]string{{"specified launch template…does not exist", "launch template associated with this auto scaling group cannot be found", "invalid launch template"}}, Meaning: "the launch template or its version does not exist, or cannot be parsed",
			Sample: "InvalidLaunchTemplateId.NotFound: The specified launch template, with template ID lt-019c5be5798f24ca7, does not exist.", Source: "https://github.com/aws/karpenter-provider-aws/pull/5665"},

		{Check: checkid.LaunchTemplate, Codes: []string{"InvalidNetworkInterface.*", "InvalidNetworkInterfaceID.*", "InvalidNetworkInterfaceId.*", "InvalidInterface.*", "AttachmentLimitExceeded", "PrivateIpAddressLimitExceeded", "InvalidIPAddress.InUse", "VPCIdNotSpecified", "VPCResourceNotSpecified", "DefaultVpcDoesNotExist"}, Meaning: "the network interfaces of the launch template are not valid for this instance type and subnet",
			Sample: "AttachmentLimitExceeded: Interface count 4 exceeds the limit for t3.medium", Source: "EC2 API reference, Error codes"},
		{Check: checkid.LaunchTemplate, All: [][]string{{"for the device index exceeds the maximum number of network interfaces"}}, Meaning: "the launch template has more network interfaces on a card than this instance type supports",
			Sample: "The specified number '2' for the device index exceeds the maximum number of network interfaces supported by the network card at network card index 2.", Source: "https://github.com/eksctl-io/eksctl/issues/7520"},
		{Check: checkid.LaunchTemplate, Codes: []string{"InvalidTagKey.*", "TagLimitExceeded", "UnsupportedHibernationConfiguration", "InvalidCpuCredits.*", "InstanceCreditSpecification.NotSupported", "InvalidInstanceAttributeValue", "MaxTemplateLimitExceeded", "MaxTemplateVersionLimitExceeded"}, Meaning: "EC2 rejects an option of the launch template",
			Sample: "InvalidTagKey.Malformed: The specified tag key is not valid. Tag keys cannot be empty or null, and cannot start with aws:.", Source: "EC2 API reference, Error codes"},

		{Check: checkid.LaunchThrottled, Codes: []string{"RequestLimitExceeded", "Throttling", "ThrottlingException", "TooManyRequestsException", "EC2ThrottledException", "RequestThrottled", "RequestThrottledException", "AutoScalingGroupRateLimitExceeded"}, All: [][]string{{"request limit exceeded", "rate exceeded"}},
			Sample: "Request limit exceeded. Account 111122223333 has been throttled on ec2:RunInstances because it exceeded its request rate limit.", Source: "https://github.com/CloudSnorkel/cdk-github-runners/issues/946"},
		{Check: checkid.LaunchSuspended, All: [][]string{{"suspensionreason", "user suspended at", "administrative suspension", "administratively suspended"}},
			Sample: "suspensionReason: 'User suspended at 2016-01-12T22:59:46Z'", Source: "code search: a deployment tool's test of suspended processes"},
		// The sentence behind it says which policy refuses (package denial): it counts
		// before this row where it is one above the launcher's own.
		{Check: checkid.LaunchUnauthorized, Codes: []string{"UnauthorizedOperation"}, All: [][]string{{"you are not authorized to perform this operation", "not authorized to use launch template", "is not authorized to perform: ec2:", "is not authorized to perform: iam:passrole"}},
			Sample: "UnauthorizedOperation: You are not authorized to perform this operation. Encoded authorization failure message: g4oZPBqZ4Bni8dE5dGjxYTnOZ", Source: "https://github.com/aws/karpenter-provider-aws/issues/7370"},

		{Check: checkid.LaunchInsufficientCapacity, Codes: []string{"InsufficientInstanceCapacity", "InsufficientCapacity", "InsufficientHostCapacity", "InsufficientReservedInstanceCapacity", "InsufficientReservedInstancesCapacity", "InsufficientVolumeCapacity", "SpotInstanceCapacityNotAvailable"},
			All:    [][]string{{"do not have sufficient…capacity", "no spot capacity available", "insufficient capacity", "capacity-not-available", "capacity-oversubscribed", "all requested instance types were unavailable during launch"}},
			Sample: "We currently do not have sufficient g4dn.8xlarge capacity in the Availability Zone you requested (us-east-1a). Our system will be working on provisioning additional capacity.", Source: "https://github.com/ITISFoundation/osparc-simcore/issues/3629"},

		{Check: checkid.LaunchUnsupportedType, Weak: true, Codes: []string{"Unsupported", "UnsupportedOperation", "InvalidInstanceType", "InvalidInstanceFamily"}, All: [][]string{{"requested configuration is currently not supported"}}, Meaning: "the instance type, the zone and the options of the launch template are incompatible",
			Sample: "The requested configuration is currently not supported. Please check the documentation for supported configurations. Launching EC2 instance failed.", Source: "https://github.com/gruntwork-io/intro-to-terraform/issues/6"},
		// A text that names a placement group or a tenancy, and nothing that is known better.
		{Check: checkid.LaunchPlacement, Weak: true, All: [][]string{{"placement group", "dedicated tenancy", "host resource group"}},
			Sample: "InvalidParameterValue: The placement group hpc has 3 partitions.", Source: "EC2 user guide, Placement groups; with other words"},
		{Check: checkid.LaunchInsufficientCapacity, Weak: true, Codes: []string{"UnfulfillableCapacity"}, All: [][]string{{"unable to fulfill capacity due to your request configuration"}}, Meaning: "no pool of the request has capacity (usually Spot): its types, zones and price leave none",
			Sample: "Could not launch Spot Instances. UnfulfillableCapacity - Unable to fulfill capacity due to your request configuration. Please adjust your request and try again. Launching EC2 instance failed.", Source: "https://github.com/buildkite/elastic-ci-stack-for-aws/issues/851"},
		{Check: checkid.LaunchAccountValidation, Weak: true, Codes: []string{"OptInRequired", "AutoScalingGroupOptInRequired"}, Meaning: "the account is not signed up for EC2",
			Sample: "OptInRequired: The AWS Access Key Id needs a subscription for the service", Source: "https://github.com/aws-amplify/amplify-js/issues/2796"},
		{Check: checkid.LaunchTemplate, Weak: true, Codes: []string{"InvalidFleetConfiguration", "InvalidSpotFleetRequestConfig"}, Meaning: "EC2 rejects the fleet's configuration; the message names the reason",
			Sample: "InvalidFleetConfiguration: The fleet configuration contains duplicate instance pools", Source: "in the form of github.com/aws/karpenter-provider-aws/issues/476, with other words"},
		{Check: checkid.LaunchTemplate, Weak: true, All: [][]string{{"fully-formed launch template"}}, Meaning: "Auto Scaling cannot use the launch template as it is",
			Sample: "You must use a valid fully-formed launch template. Value () for parameter groupId is invalid. The value cannot be empty", Source: "https://github.com/ryanmurakami/hbfl/issues/58"},
		{Check: checkid.LaunchUnclassified, Exact: true, All: [][]string{{"failed to complete users lifecycle action…heartbeat timeout"}}, Meaning: "a launch lifecycle hook of the group timed out, and its default result is ABANDON",
			Next:   "Find out what should complete the hook (user data, a Lambda function, CodeDeploy, a queue's consumer) and why it did not in time: its log, and the instance's console output. If the instance only needs longer, raise the hook's heartbeat timeout.",
			Sample: "Instance failed to complete user's Lifecycle Action: Lifecycle Action with token 95c60857-3c0a-4a67-8518-6dc18797e421 was abandoned: Heartbeat Timeout", Source: "https://repost.aws/knowledge-center/lifecycle-actions-code-deploy"},
		{Check: checkid.LaunchUnclassified, Exact: true, All: [][]string{{"failed to complete users lifecycle action"}}, Meaning: "a launch lifecycle hook of the group abandoned the instance",
			Next:   "Find out what completes the hook with ABANDON (user data, a Lambda function, CodeDeploy, a queue's consumer) and why: its log, and the instance's console output.",
			Sample: "Instance failed to complete user's Lifecycle Action: Lifecycle Action with token e85eb647-4fe0-4909-b341-a6c42d8aba1f was abandoned: Lifecycle Action Completed with ABANDON Result", Source: "https://docs.aws.amazon.com/autoscaling/ec2/userguide/CHAP_Troubleshooting.html"},
		{Check: checkid.LaunchUnclassified, Weak: true, Codes: []string{"Server.InternalError"}, All: [][]string{{"internal error on launch"}}, Meaning: "a fault inside EC2 ended the launch; if it repeats, the launching role cannot use a KMS key",
			Sample: "Instance became unhealthy while waiting for instance to be in InService state. Termination Reason: Server.InternalError: Internal error on launch", Source: "https://github.com/cloudcaptainsh/cloudcaptain/issues/204"},
	}
}
