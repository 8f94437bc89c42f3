//go:build cli

package clitest

// step is one command of the workshop and what a person would expect it to
// print on AWS.
type step struct {
	// say is the text before it on the page.
	say string
	// run is the command. <name> stands for what an earlier step learned.
	run string
	// want are expressions that must match what is printed, on any line; named
	// groups are learned. not must not match.
	want, not []string
	// fails tells that the exit status must not be 0.
	fails bool
	// await repeats the command until it prints what is wanted.
	await bool
	// stop ends the test if the step goes wrong: the rest needs it.
	stop bool
	// slack waits for Rollcall's message to say this, instead of a command.
	slack string
}

const (
	nodegroup = "--cluster-name eks-workshop --nodegroup-name new_nodegroup_2"
	tagged    = "--filters Name=tag:eks:nodegroup-name,Values=new_nodegroup_2 Name=instance-state-name,Values=pending,running"
	nodes     = "kubectl get nodes --selector=eks.amazonaws.com/nodegroup=new_nodegroup_2"
	routes    = "--query 'RouteTables[].{Id:RouteTableId,Routes:Routes[].[DestinationCidrBlock,GatewayId||NatGatewayId,State]}'"
	// kubectl without a kubeconfig, with a token made by hand.
	kubectl = "KUBECONFIG=/dev/null kubectl --insecure-skip-tls-verify --server $(aws eks describe-cluster --name eks-workshop --query cluster.endpoint --output text) "
	token   = "--token $(aws eks get-token --cluster-name "
	route   = "aws ec2 create-route --route-table-id <table> --destination-cidr-block 0.0.0.0/0 --nat-gateway-id <nat>"
)

// workshop is the whole session.
var workshop = []step{
	{
		say:  "## Before\n\nWho am I, and what is here?",
		run:  "aws sts get-caller-identity",
		want: []string{`"Account": "111122223333"`, `"Arn": "arn:aws:iam::111122223333:user/admin"`, `"UserId": "AID\w{10,}"`},
	},
	{
		run:  "aws eks list-clusters",
		want: []string{`^        "eks-workshop"$`},
	},
	{
		run:  "aws eks update-kubeconfig --name eks-workshop",
		want: []string{`^Added new context arn:aws:eks:us-west-2:111122223333:cluster/eks-workshop to /\S+/\.kube/config$`},
		stop: true,
	},
	{
		run:  "kubectl get nodes",
		want: []string{`^NAME +STATUS +ROLES +AGE +VERSION$`, `^ip-10-42-101-17\.us-west-2\.compute\.internal +Ready +<none> +\S+ +v1\.34\.\d+-eks-\w+$`, `^(ip-10-42\S+ +Ready .*\n){3}`},
	},
	{
		say:  "The new nodegroup gets its first instance.",
		run:  "aws eks update-nodegroup-config " + nodegroup + " --scaling-config minSize=0,maxSize=1,desiredSize=1 --query 'update.[type,status,params[].[type,value]]'",
		want: []string{`"ConfigUpdate"`, `"InProgress"`, `"DesiredSize"`},
		stop: true,
	},
	{
		say:  "AWS says that all is well: the nodegroup is `ACTIVE` without a health issue,",
		run:  "aws eks describe-nodegroup " + nodegroup + " --query 'nodegroup.{status:status,capacity:capacityType,scaling:scalingConfig,subnets:subnets,health:health,group:resources.autoScalingGroups[0].name}'",
		want: []string{`"status": "ACTIVE"`, `"capacity": "ON_DEMAND"`, `"minSize": 0,\n +"maxSize": 1,\n +"desiredSize": 1`, `"(?P<subnet>subnet-0c\w+)"`, `"issues": \[\]`, `"group": "(?P<group>eks-new_nodegroup_2-[\w-]+)"`},
		stop: true, await: true,
	},
	{
		say:   "the scaling activity `Successful`,",
		run:   "aws autoscaling describe-scaling-activities --auto-scaling-group-name <group> --query 'Activities[].[StatusCode,Description,Cause]'",
		want:  []string{`"Successful"`, `"Launching a new EC2 instance: i-\w{17}"`, `"At 2026-11-20T\S+Z a user request .*from 0 to 1`},
		await: true,
	},
	{
		say:   "the instance `running`",
		run:   "aws ec2 describe-instances " + tagged + " --query 'Reservations[].Instances[].[InstanceId,State.Name,InstanceType,SubnetId,PrivateIpAddress]'",
		want:  []string{`"(?P<old>i-\w{17})"`, `"running"`, `"m5.large"`, `"<subnet>"`, `"10\.42\.\d+\.\d+"`},
		await: true,
		stop:  true,
	},
	{
		say:  "and there is no node.",
		run:  nodes,
		want: []string{`\ANo resources found\n\z`},
	},
	{
		say:  "The subnet has addresses,",
		run:  "aws ec2 describe-subnets --subnet-ids <subnet> --query 'Subnets[].[SubnetId,AvailabilityZone,CidrBlock,AvailableIpAddressCount,State]' --output text",
		want: []string{`\A<subnet>\tus-west-2a\t10\.42\.192\.0/19\t81\d\d\tavailable\n\z`},
	},
	{
		say:  "but its route table has only the local route,",
		run:  "aws ec2 describe-route-tables --filters Name=association.subnet-id,Values=<subnet> " + routes,
		want: []string{`"Id": "(?P<table>rtb-0cd\w+)"`, `"10.42.0.0/16",\n +"local",\n +"active"`},
		not:  []string{`0\.0\.0\.0/0`},
		stop: true,
	},
	{
		say:  "and the VPC has no endpoints, only a NAT gateway in another subnet.",
		run:  "aws ec2 describe-vpc-endpoints --filters Name=vpc-id,Values=vpc-0a1b2c3d4e5f60718",
		want: []string{`"VpcEndpoints": \[\]`},
	},
	{
		run:  "aws ec2 describe-nat-gateways --filter Name=state,Values=available --query 'NatGateways[].[NatGatewayId,State,SubnetId,NatGatewayAddresses[0].PublicIp]' --output text",
		want: []string{`\A(?P<nat>nat-\w+)\tavailable\tsubnet-0a10000000000000a\t203\.0\.113\.25\n\z`},
		stop: true,
	},
	{
		say:   "What Rollcall says in Slack meanwhile:",
		slack: "no route to the internet",
	},
	{
		say:  "## The fix\n\nThe route is added.",
		run:  route,
		want: []string{`"Return": true`},
		stop: true,
	},
	{
		run:  "aws ec2 describe-route-tables --route-table-ids <table> " + routes,
		want: []string{`"Id": "<table>"`, `"local",\n +"active"`, `"0.0.0.0/0",\n +"<nat>",\n +"active"`},
	},
	{
		say:   "A second route for the same destination is refused.",
		run:   "aws ec2 create-route --route-table-id <table> --destination-cidr-block 0.0.0.0/0 --gateway-id igw-0d40000000000000e",
		want:  []string{`An error occurred \(RouteAlreadyExists\) when calling the CreateRoute operation: The route identified by 0\.0\.0\.0/0 already exists\.$`},
		fails: true,
	},
	{
		say:   "The instance does not try again by itself, so it is replaced: down to 0, and up to 1.",
		run:   "aws eks update-nodegroup-config " + nodegroup + " --scaling-config desiredSize=0 --query update.id --output text",
		want:  []string{`\A(?P<update>[0-9a-f]{8}-[0-9a-f-]{27})\n\z`},
		await: true,
	},
	{
		run:   "aws eks describe-update --name eks-workshop --nodegroup-name new_nodegroup_2 --update-id <update> --query update.status",
		want:  []string{`"Successful"`},
		await: true,
	},
	{
		run:   "aws ec2 describe-instances --instance-ids <old> --query 'Reservations[].Instances[].[InstanceId,State.Name]' --output text",
		want:  []string{`^<old>\tterminated$`},
		await: true,
	},
	{
		run:   "aws eks update-nodegroup-config " + nodegroup + " --scaling-config desiredSize=1 --query update.status",
		want:  []string{`"InProgress"`},
		await: true,
	},
	{
		say:   "## After",
		run:   nodes,
		want:  []string{`^(?P<node>ip-10-42-\d+-\d+\.us-west-2\.compute\.internal) +Ready +<none> +\w+ +v1\.34\.\d+-eks-\w+$`},
		not:   []string{`\n.*\n.*\n`, `NotReady`},
		await: true,
	},
	{
		run:  "aws ec2 describe-instances " + tagged + " --query 'Reservations[].Instances[].[InstanceId,State.Name,PrivateDnsName]' --output text",
		want: []string{`\A(?P<new>i-\w{17})\trunning\t<node>\n\z`},
		not:  []string{`<old>`},
	},
	{
		run:  "kubectl get node <node> -o jsonpath='{.spec.providerID}{\"\\n\"}'",
		want: []string{`\Aaws:///us-west-2a/<new>\n\z`},
	},
	{
		say:   "And the same message in Slack:",
		slack: "joined again after",
	},
	{
		say:   "## What is refused\n\nMore than the nodegroup's maximum:",
		run:   "aws eks update-nodegroup-config " + nodegroup + " --scaling-config desiredSize=2",
		want:  []string{`An error occurred \(InvalidParameterException\) when calling the UpdateNodegroupConfig operation: .*[dD]esired capacity 2 can't be greater than max size 1`},
		fails: true,
	},
	{
		say:   "What does not exist:",
		run:   "aws eks describe-nodegroup --cluster-name eks-workshop --nodegroup-name new_nodegroup_3",
		want:  []string{`An error occurred \(ResourceNotFoundException\) when calling the DescribeNodegroup operation: No node group found for name: new_nodegroup_3\.$`},
		fails: true,
	},
	{
		run:   "aws eks describe-cluster --name eks-workshops",
		want:  []string{`An error occurred \(ResourceNotFoundException\) when calling the DescribeCluster operation: No cluster found for name: eks-workshops\.$`},
		fails: true,
	},
	{
		run:   "aws ec2 describe-route-tables --route-table-ids rtb-0123456789abcdef0",
		want:  []string{`An error occurred \(InvalidRouteTableID\.NotFound\) when calling the DescribeRouteTables operation: The routeTable ID 'rtb-0123456789abcdef0' does not exist$`},
		fails: true,
	},
	{
		say:  "kubectl's token comes from the CLI, and is a request to STS signed for this cluster alone:",
		run:  "aws eks get-token --cluster-name eks-workshop | grep -o 'client.authentication[^\"]*\\|k8s-aws-v1.\\{16\\}'",
		want: []string{`^client\.authentication\.k8s\.io/v1(beta1|alpha1)?$`, `^k8s-aws-v1\.\w{15,}$`},
	},
	{
		run:  kubectl + token + "eks-workshop | grep -o 'k8s-aws-v1[^\"]*') get --raw /version | grep -o '\"gitVersion\":\"[^\"]*\"'",
		want: []string{`\A"gitVersion":"v1\.34\.\d+`},
	},
	{
		say:   "A token for another cluster is not let in:",
		run:   kubectl + token + "another | grep -o 'k8s-aws-v1[^\"]*') get nodes",
		want:  []string{`^error: You must be logged in to the server \(.*Unauthorized.*\)$`},
		fails: true,
	},
	{
		say:   "And who may not use AWS may not use the cluster:",
		run:   "AWS_SECRET_ACCESS_KEY=wrong kubectl get nodes",
		want:  []string{`^error: You must be logged in to the server \(.*Unauthorized.*\)$`},
		fails: true,
	},
}
