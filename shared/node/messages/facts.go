package messages

import (
	"rollcall/shared/lazyregexp"
)

// Program is who wrote a message.
type Program string

// The programs.
const (
	Kubelet         Program = "the kubelet"
	Nodeadm         Program = "nodeadm"
	Containerd      Program = "containerd"
	CloudInit       Program = "cloud-init"
	Bootstrap       Program = "bootstrap.sh"
	Bottlerocket    Program = "Bottlerocket"
	IPAMD           Program = "aws-node"
	Karpenter       Program = "Karpenter"
	Autoscaler      Program = "the Cluster Autoscaler"
	cloudController Program = "the cloud controller"
	Scheduler       Program = "the scheduler"
	CSI             Program = "the EBS CSI driver"
	Systemd         Program = "systemd"
	Kubectl         Program = "kubectl"
	Terraform       Program = "Terraform"
	Eksctl          Program = "eksctl"
	CloudFormation  Program = "CloudFormation"
	Runbook         Program = "AWS's runbook"
	CloudTrail      Program = "CloudTrail"
	UnknownProgram  Program = ""
)

// Mark is what tells a program: what stands in its prefix, and words of its
// own messages.
type Mark struct {
	Program Program
	Prefix  []string
	Words   []string
}

// Marks are in the order in which they count: a message of Karpenter may name
// the kubelet, and hardly the other way.
func Marks() []Mark {
	return []Mark{
		{Runbook, []string{"awssupport"}, []string{"awssupport-troubleshooteks"}},
		{Karpenter, []string{"karpenter"}, []string{"karpenter", "nodeclaim", "ec2nodeclass", "nodepool", "nodeclass", "launch template configs",
			"subnetsready", "securitygroupsready", "amisready", "instanceprofileready", "controller.provision", "with fleet error"}},
		{IPAMD, []string{"aws-k8s-agent", "ipamd", "cni.go"}, []string{"ipamd", "aws-node", "aws-cni", "awscni", "amazon-k8s-cni", "vpc-cni", "awsutils",
			"rpc_handler", "missingiampermissions", "discovercustomsecuritygroups", "ipam daemon", "ipam-d", "ipam connectivity", "aws-k8s-agent", "datastore",
			"eniconfig", "amazoneksvpccnirole"}},
		{CSI, []string{"ebs-csi"}, []string{"ebs-csi", "ebs.csi.aws.com", "attachvolume.attach", "provisioningfailed", "failed to provision volume"}},
		{Nodeadm, []string{"nodeadm"}, []string{"nodeadm", "nodeconfig"}},
		{Bottlerocket, []string{"pluto", "sundog", "early-boot-config", "host-ctr", "thar-be-settings"}, []string{"bottlerocket", "pluto", "sundog",
			"early-boot-config", "host-containers", "thar-be-settings"}},
		{Autoscaler, []string{"cluster-autoscaler", "static_autoscaler.go", "auto_scaling_groups.go", "scale_up.go", "orchestrator.go", "clusterstate.go"},
			[]string{"cluster-autoscaler", "scale-up", "static_autoscaler", "auto_scaling_groups.go", "placeholder-cannot-be-fulfilled", "outofresource"}},
		{cloudController, []string{"node_controller.go", "node_lifecycle_controller.go", "aws-cloud-controller-manager"}, []string{"cloud-controller-manager",
			"at cloudprovider", "cloud-node-lifecycle-controller", "according to cloud provider", "according to the cloud provider"}},
		{CloudInit, []string{"cloud-init", "util.py", "cc_scripts_user.py", "ec2"}, []string{"cloud-init", "cc_scripts", "/var/lib/cloud/instance", "modules:final"}},
		{Bootstrap, nil, []string{"bootstrap.sh", "eks-bootstrap"}},
		{Kubelet, []string{"kubelet", "kubelet.go", "kubelet_node_status.go", "server.go", "run.go", "reflector.go", "csi_plugin.go", "controller.go",
			"certificate_manager.go", "pod_workers.go", "container_manager_linux.go", "transport.go", "kuberuntime_manager.go", "event.go",
			"eviction_manager.go", "nodelease.go", "log.go", "remote_runtime.go", "remote_image.go", "kubelet_network.go", "csi_plugin.go", "tags.go",
			"desired_state_of_world_populator.go"}, []string{"kubelet"}},
		{Containerd, []string{"containerd", "dockerd", "pull-sandbox-image.sh", "cri-tools", "crictl"}, []string{"containerd"}},
		{Scheduler, []string{"default-scheduler"}, []string{"default-scheduler", "failedscheduling", "nodes are available:"}},
		{Systemd, []string{"systemd"}, []string{"systemd", "dependency failed for", "main process exited", "failed with result"}},
		{CloudTrail, nil, []string{"eventsource: ", "eventname: "}},
		{Kubectl, nil, []string{"unable to connect to the server", "kubernetes cluster unreachable", "you must be logged in", "the connection to the server",
			"kubectl", "kubeconfig"}},
	}
}

// Wrappings are the tools that quote messages of others.
func Wrappings() []Mark {
	return []Mark{
		{Eksctl, nil, []string{"eksctl", "[✖]", "[ℹ]"}},
		{Terraform, nil, []string{"terraform", "aws_eks_", "with module.", "waiting for eks ", "creating eks ", "module.", "wanted target",
			"while waiting for state to become"}},
		{CloudFormation, nil, []string{"resource handler returned", "handlererrorcode", "cloudformation", "aws::"}},
	}
}

// Failure is how something failed.
type Failure string

// The ways to fail.
const (
	TimedOut   Failure = "did not respond in time"
	Refused    Failure = "refused the connection"
	NoRoute    Failure = "is unreachable: no route"
	Unresolved Failure = "could not be resolved"
	Untrusted  Failure = "has a certificate that is not trusted"
	TooEarly   Failure = "has a certificate that is not valid yet: the clock is behind"
	TooLate    Failure = "has a certificate or token that is no longer valid"
	unknownID  Failure = "did not accept the credentials" // 401
	Denied     Failure = "denied the call"                // 403
	Throttled  Failure = "throttled the call"
	Proxied    Failure = "was called through a proxy that did not forward the call"
)

// Said is a failure and the words for it. They are those of Go's net, crypto
// and http packages, of the C library, curl, Python's requests and botocore,
// Java's SDK, and of HTTP (RFC 9110).
type Said struct {
	Failure Failure
	Words   []string
}

// Failures are the ways to fail and their words.
func Failures() []Said {
	return []Said{
		{Proxied, []string{"proxyconnect tcp", "proxy authentication required", "unable to connect to proxy", "tunnel connection failed", "from proxy after connect"}},
		{Unresolved, []string{"no such host", " enotfound", " eai_again", "server misbehaving", "temporary failure in name resolution", "name or service not known",
			"could not resolve host", "getaddrinfo", "nodename nor servname", "unknownhostexception", "name resolution",
			"couldnt resolve host", "unable to resolve", "lookup …:53: read udp", "lookup …:53: dial udp"}},
		{Untrusted, []string{"signed by unknown authority", "certificate is valid for", "certificate_verify_failed", "certificate verify failed",
			"unable to get local issuer", "self signed certificate", "self-signed certificate", "certificate is not trusted", "tls: bad certificate",
			"doesnt match certificate", "cannot validate certificate"}},
		{TooEarly, []string{"is before 20", "is not yet valid: current time", "signature not yet current", "not yet valid", "issued in the future", "used before issued"}},
		{TooLate, []string{"is after 20", "signature expired", "requestexpired", "expiredtoken", "token is expired", "token has expired",
			"certificate has expired", "request has expired"}},
		{Throttled, []string{"rate exceeded", "too many requests", "toomanyrequests", "requestlimitexceeded", "throttl", "request limit exceeded", "rate limit"}},
		{TimedOut, []string{"i/o timeout", "connection timed out", "connect: timed out", "handshake timeout", "context deadline exceeded", "client.timeout",
			"connect timeout", "read timeout", "operation timed out", "request canceled while waiting", "dial tcp timeout", "deadline has elapsed", "timed out",
			"connecttimeout", "connection timeout", "max retries exceeded", "exceeded max wait time", "connection reset by peer", "timeout exceeded",
			"unexpected eof", "could not connect to the endpoint", "timeout awaiting", "curl: (28)", " etimedout", ": eof", "request canceled, context deadline",
			"timeout was reached", "connection was aborted", "forcibly closed", "connection attempt failed"}},
		{Refused, []string{"connection refused", " econnrefused", "actively refused", "curl: (7)"}},
		{NoRoute, []string{"no route to host", " ehostunreach", " enetunreach", "network is unreachable", "host is unreachable", "network unreachable"}},
		{Denied, []string{"403 forbidden", "statuscode: 403", "status code: 403", "status: 403", "accessdenied", "access denied", "unauthorizedoperation",
			"not authorized to perform", "is not authorized", "unauthorized operation", "permission denied", "not authorized to", "403 response",
			"allowed: false", "authorization failed", "missing permissions"}},
		{unknownID, []string{"unauthorized", " 401", "no basic auth credentials", "must be logged in", "authentication failed", "invalid token", "unauthenticated"}},
	}
}

// Host is what was talked to.
type Host string

// The hosts that matter to a node.
const (
	clusterAPI  Host = "the cluster's API"
	serviceIP   Host = "the cluster's API at its service address"
	eksAPI      Host = "the EKS API"
	eksAuth     Host = "the EKS Auth API"
	ec2API      Host = "the EC2 API"
	stsAPI      Host = "STS"
	ecr         Host = "ECR"
	s3          Host = "S3"
	ssm         Host = "Systems Manager"
	iamAPI      Host = "IAM"
	elsewhere   Host = "a host outside AWS"
	imds        Host = "the instance metadata service"
	podIdentity Host = "the Pod Identity agent"
	ntp         Host = "the time service"
	NameServer  Host = "the name server"
	kubeletPort Host = "the kubelet's port"
	runtimeSock Host = "the container runtime"
	ipamdPort   Host = "aws-node's IPAM daemon"
)

// Address is how a host is written. Names are those of AWS's endpoints ("AWS
// service endpoints" of the AWS general reference); addresses are those of the
// link-local services of EC2 and of EKS's Pod Identity; service addresses are
// the first of EKS's two default ranges.
type Address struct {
	Host Host
	Form *lazyregexp.Regexp
	// parts are what the form's texts have one of, at least.
	Parts []string
}

// Addresses are how hosts are written.
func Addresses() []Address {
	return []Address{
		{clusterAPI, apiHost, []string{".eks.", "/api", "healthz", "/version", "openapi", "kubernetes.default", "/leases/", "api server"}},
		{serviceIP, serviceHost, []string{":443"}},
		{eksAuth, eksAuthHost, []string{"eks-auth", "eks auth"}},
		{eksAPI, eksHost, []string{"eks.", "eks:"}},
		{ec2API, ec2Host, []string{"ec2.", "ec2:", "ec2/", "ec2 describe"}},
		{stsAPI, stsHost, []string{"sts.", "sts:", "webidentity"}},
		{ecr, ecrHost, []string{"ecr"}},
		{s3, s3Host, []string{"s3", "starport"}},
		{ssm, ssmHost, []string{"ssm", "ec2messages"}},
		{iamAPI, iamHost, []string{"iam.", "iam:"}},
		{imds, imdsHost, []string{"169.254.169.254", "fd00:ec2::254", "imds", "ec2metadata", "ec2rolerequest", "/latest/"}},
		{podIdentity, podIdentityHost, []string{"169.254.170.23", "fd00:ec2::23"}},
		{ntp, ntpHost, []string{"169.254.169.123", "chrony", "ntp"}},
		{NameServer, nameServerHost, []string{":53"}},
		{kubeletPort, kubeletHost, []string{":10250"}},
		{runtimeSock, runtimeHost, []string{".sock"}},
		{ipamdPort, ipamdHost, []string{":50051", ":61679"}},
		{elsewhere, otherHost, []string{"docker.io", "quay.io", "gcr.io", "registry.k8s.io", "ghcr.io", "mcr.microsoft", "nvcr.io", "github.com/", "pkg.dev"}},
	}
}

var (
	apiHost         = lazyregexp.New(`[0-9a-zx<*.-]+>?\.(?:\w+\.)?[a-z0-9<>-]+\.eks\.amazonaws\.com|\.eks\.[a-z0-9-]+\.api\.aws|/apis?/[a-z]|:(?:443|6443)/(?:api|healthz|version|openapi)|kubernetes\.default|/leases/|to api server|with api server|contact api server`)
	serviceHost     = lazyregexp.New(`\b(?:172\.20\.0\.1|10\.100\.0\.1|10\.96\.0\.1|\[?fd[0-9a-f:]+::1\]?):443`)
	eksHost         = lazyregexp.New(`(?:^|[^.\w-])(?:fips\.)?eks\.[a-z<][a-z0-9<>-]+\.(?:amazonaws|api\.aws)|operation error eks:|eks: describecluster`)
	eksAuthHost     = lazyregexp.New(`eks-auth\.|operation error eks auth:`)
	ec2Host         = lazyregexp.New(`(?:^|[^.\w-])ec2\.[a-z<][a-z0-9<>-]+\.(?:amazonaws|api\.aws)|operation error ec2:|\bec2/[a-z]|ec2 describe`)
	stsHost         = lazyregexp.New(`(?:^|[^\w-])sts\.(?:[a-z<][a-z0-9<>-]+\.)?(?:amazonaws|api\.aws)|operation error sts:|assumerolewithwebidentity|webidentityerr`)
	ecrHost         = lazyregexp.New(`\.ecr\.|\bdkr-ecr|ecr-fips|operation error ecr:|\becr:[a-z]|public\.ecr\.aws|ecr: getauth`)
	s3Host          = lazyregexp.New(`(?:^|[^\w])s3[.-][a-z0-9.-]*amazonaws|starport-layer-bucket|operation error s3:|\.s3\.`)
	ssmHost         = lazyregexp.New(`(?:^|[^\w-])ssm\.[a-z0-9-]+\.amazonaws|operation error ssm:|ec2messages|ssmmessages`)
	iamHost         = lazyregexp.New(`(?:^|[^\w-])iam\.amazonaws|operation error iam:`)
	imdsHost        = lazyregexp.New(`169\.254\.169\.254|fd00:ec2::254|ec2 ?imds|ec2metadata|imds://|ec2rolerequest|https?://\S*/latest/(?:meta-data|api/token|dynamic|user-data)`)
	podIdentityHost = lazyregexp.New(`169\.254\.170\.23|fd00:ec2::23`)
	ntpHost         = lazyregexp.New(`169\.254\.169\.123|chrony|\bntp\b`)
	nameServerHost  = lazyregexp.New(`(?:\d|\]):53\b`)
	kubeletHost     = lazyregexp.New(`:10250\b`)
	runtimeHost     = lazyregexp.New(`containerd\.sock|dockershim\.sock|crio\.sock`)
	ipamdHost       = lazyregexp.New(`:50051\b|:61679\b`)
	otherHost       = lazyregexp.New(`docker\.io|quay\.io|gcr\.io|registry\.k8s\.io|ghcr\.io|mcr\.microsoft|nvcr\.io|github\.com/|pkg\.dev`)
)

// LaunchCalls are what starts instances, in lower case.
func LaunchCalls() []string {
	return []string{"runinstances", "createfleet", "requestspotinstances", "startinstances", "createlaunchtemplate", "createlaunchtemplateversion",
		"createautoscalinggroup", "updateautoscalinggroup", "setdesiredcapacity", "launchinstances", "passrole", "createnodegroup", "createtags", "modifyfleet",
		"requestspotfleet"}
}

// KnownCalls are operations that are found by their name alone.
func KnownCalls() []string {
	return []string{"RunInstances", "CreateFleet", "CreateLaunchTemplate", "CreateNodegroup", "CreateNetworkInterface", "AttachNetworkInterface",
		"AssignPrivateIpAddresses", "AssignIpv6Addresses", "DescribeNetworkInterfaces",
		"DescribeInstances", "DescribeInstanceTypes", "DescribeCluster", "DescribeSubnets", "DescribeSecurityGroups", "DescribeTags", "GetAuthorizationToken",
		"AssumeRoleWithWebIdentity", "PassRole", "CreateServiceLinkedRole", "AssumeRoleForPodIdentity", "PutObject", "GetParameter"}
}
