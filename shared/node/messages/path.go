package messages

import (
	"rollcall/shared/checkid"
)

// pathRows are about the way to what a node needs: who was asked, and how
// that failed.
func pathRows() []Row {
	const (
		lost   = "no response came: packets, or the responses to them, are lost on the way"
		path   = "Check the path to the address that the line names: endpoint or route, security groups, network ACLs."
		closed = "the address refuses connections: nothing listens there, or something on the path rejects them"
		naming = "Check the VPC's DNS support and hostnames, its DHCP options, and whether port 53 is allowed."
	)
	late := []Failure{TimedOut, NoRoute}
	aws := []Host{ec2API, eksAPI, eksAuth, ecr, s3, ssm}
	return []Row{
		{Check: checkid.RouteIGWDetached, Codes: []string{"Gateway.NotAttached"}, Source: apiDoc,
			Sample: "An error occurred (Gateway.NotAttached) when calling the CreateNatGateway operation: Network vpc-0469a416cc6fcd470 has no Internet gateway attached"},
		{Check: checkid.RouteBlackhole, Codes: []string{"NatGatewayNotFound", "InvalidNatGatewayID.NotFound"}, Source: apiDoc,
			Meaning: "the NAT gateway no longer exists, and routes may still point to it", Next: "Point the route to a working NAT gateway.",
			Sample: "NatGatewayNotFound: The Nat gateway nat-0460de55eeb540794 was not found"},
		{Check: checkid.RouteBlackhole, All: [][]string{{"blackhole"}}, Not: []Program{Karpenter}, Source: apiDoc,
			Sample: `"State": "blackhole", "DestinationCidrBlock": "0.0.0.0/0", "NatGatewayId": "nat-0460de55eeb540794"`},
		{Check: checkid.RouteNoEgress, Codes: []string{"AddressLimitExceeded", "NatGatewayLimitExceeded"}, Look: []checkid.ID{checkid.RouteNATUnusable}, Source: apiDoc,
			Meaning: "a quota blocks a new NAT gateway, without which private subnets have no route to the internet",
			Next:    "Free addresses or gateways, or request a higher quota; then create the gateway and the route.",
			Sample:  "Error creating EIP: AddressLimitExceeded: The maximum number of addresses has been reached."},
		{Check: checkid.RouteNATUnusable, All: [][]string{{"nat gateway"}, {"state: failed", "failed state", "in state failed", "unexpected state failed",
			"state failed", "is deleted", "deleting"}}, Source: apiDoc,
			Sample: "Error: waiting for EC2 NAT Gateway (nat-0abc12345678def01) create: unexpected state 'failed', wanted target 'available'"},

		// Names, before time-outs: a resolver that does not answer times out too.
		{Check: checkid.DNSSupportOff, By: []Program{Runbook}, All: [][]string{{"dns support", "enablednssupport"}}, Source: runbookDoc,
			Sample: "[ERROR]: The VPC vpc-0469a416cc6fcd470 has DNS support turned off."},
		{Check: checkid.DNSHostnamesOff, By: []Program{Runbook}, All: [][]string{{"dns hostnames", "enablednshostnames"}}, Source: runbookDoc,
			Sample: "[ERROR]: The VPC vpc-0469a416cc6fcd470 has DNS hostnames turned off."},
		{Check: checkid.IAMSTSEndpoint, On: []Host{stsAPI}, Fails: []Failure{TimedOut, NoRoute, Refused, Unresolved}, None: []string{"imds"}, Source: apiDoc,
			Look: []checkid.ID{checkid.EndpointMissing, checkid.EndpointSecurityGroup, checkid.RouteNoEgress, checkid.SGNodeEgress,
				checkid.IAMSTSRegionDeactivated, checkid.DNSSupportOff},
			Sample: `DescribeInstanceTypes, WebIdentityErr: failed to retrieve credentials\ncaused by: RequestError: send request failed\ncaused by: Post \"https://sts.ap-south-1.amazonaws.com/\": dial tcp 52.95.84.35:443: i/o timeout`},
		{Check: checkid.InstanceConsoleError, Symptom: true, On: []Host{clusterAPI}, Fails: []Failure{Unresolved}, Not: []Program{Kubectl}, Source: kubeletDoc,
			Look:    append(NameLookup(), checkid.ClusterHealth, checkid.InstanceUserData),
			Meaning: "the name of the cluster's API does not resolve here: the name server does not respond or does not know it, or the cluster was deleted", Next: naming,
			Sample: `Get "https://ABCD.gr7.us-west-2.eks.amazonaws.com/version": dial tcp: lookup ABCD.gr7.us-west-2.eks.amazonaws.com on 10.0.0.2:53: no such host`},
		{Check: checkid.InstanceConsoleError, Symptom: true, On: []Host{nameServer}, Fails: []Failure{TimedOut, Refused, NoRoute}, Source: "Go, net",
			Look: NameLookup(), Meaning: "the name server does not respond", Next: naming,
			Sample: "dial tcp: read udp 10.0.1.36:41217->10.0.0.2:53: i/o timeout"},
		{Check: checkid.InstanceConsoleError, Symptom: true, Fails: []Failure{Unresolved}, On: append(aws, stsAPI, elsewhere), Not: []Program{Kubectl, Terraform, Eksctl}, Source: kubeletDoc,
			Look: NameLookup(), None: []string{"failed to resolve reference", "github.com"},
			Meaning: "a name could not be resolved", Next: naming,
			Sample: `operation error EKS: DescribeCluster, https response error StatusCode: 0, RequestID: , request send failed, Get "https://eks.us-west-2.amazonaws.com/clusters/prod": dial tcp: lookup eks.us-west-2.amazonaws.com on 10.0.0.2:53: no such host`},
		{Check: checkid.InstanceConsoleError, Symptom: true, Fails: []Failure{Unresolved}, By: []Program{Kubelet, Nodeadm, Containerd, CloudInit, Bootstrap, Bottlerocket, IPAMD},
			Source: kubeletDoc, Look: NameLookup(), None: []string{"failed to resolve reference"},
			Meaning: "a name could not be resolved", Next: naming,
			Sample: "nodeadm[1491]: dial tcp: lookup cdn.example.com: no such host"},

		// The metadata service.
		{Info: true, Check: checkid.IAMProfileMissing, On: []Host{imds}, All: [][]string{{"404", "no ec2 imds role", "no ec2 instance role", "no role found"}},
			None: []string{"user-data", "canceled", "deadline"}, Source: "AWS SDKs: credentials/ec2rolecreds", Look: []checkid.ID{checkid.InstanceIMDS,
				checkid.IAMRoleTrust},
			Meaning: "the metadata service knows no role: the instance has no instance profile, or its role was deleted",
			Sample:  "Aug 28 19:12:30 localhost nodeadm[1491]: SDK 2024/08/28 19:12:30 DEBUG request failed with unretryable error http response error StatusCode: 404, request to EC2 IMDS failed"},
		{Check: checkid.IAMProfileMissing, All: [][]string{{"unable to locate credentials", "nocredentialproviders", "no valid providers in chain",
			"no valid credential sources", "could not find credentials"}}, By: []Program{Nodeadm, Kubelet, CloudInit, Bootstrap, Bottlerocket, Containerd},
			Source: "AWS SDKs: credential chains", Look: []checkid.ID{checkid.InstanceIMDS},
			Sample: `Sep 22 12:17:04 ip-10-50-85-81.eu-west-1.compute.internal pull-sandbox-image.sh[3906]: Unable to locate credentials. You can configure credentials by running "aws configure".`},
		{Check: checkid.InstanceIMDS, On: []Host{imds}, Fails: []Failure{TimedOut, Refused, NoRoute, unknownID, Denied}, Source: "EC2 user guide, Instance metadata options",
			Sample: `\"http://*********/latest/meta-data/placement/availability-zone\": dial tcp **********: connectex: An established connection was aborted by the`},
		{Check: checkid.InstanceIMDS, All: [][]string{{"failed to get…from metadata", "failed to fetch…metadata", "unable to retrieve…metadata",
			"could not get…instance metadata", "failed to retrieve…instance metadata", "get region from metadata", "getting region from metadata",
			"instance metadata service…not"}}, Source: "EC2 user guide, Instance metadata options",
			Sample: `{"level":"error","ts":"2026-11-28T10:00:00.000Z","caller":"awsutils.go:10","msg":"Failed to retrieve region data from instance metadata something"}`},
		{Check: checkid.AddonDegraded, Symptom: true, On: []Host{podIdentity}, Fails: []Failure{TimedOut, Refused, NoRoute}, Source: eksDoc,
			Look:    []checkid.ID{checkid.AddonDegraded, checkid.InstanceIMDS},
			Meaning: "the Pod Identity agent on the node does not respond", Next: "Check the eks-pod-identity-agent add-on and its pod on the node.",
			Sample: `W0527 16:24:25.831530       1 pod_identity_credential_provider.go:142] IPv4 endpoint attempt failed: HTTP request to pod identity agent failed: Get "http://169.254.170.23/v1/credentials": context deadline exceeded (Client.Timeout exceeded while awaiting headers)`},

		// A proxy.
		{Check: checkid.InstanceConsoleError, Symptom: true, Fails: []Failure{Proxied}, Look: []checkid.ID{checkid.InstanceUserData, checkid.SGNodeEgress,
			checkid.RouteNoEgress},
			Source:  "Go, net/http",
			Meaning: "a proxy on the path did not forward the call",
			Next:    "Check the proxy's address in user data and NO_PROXY, which must include the metadata service, the VPC's range and the cluster's endpoint.",
			Sample:  "proxyconnect tcp: dial tcp 10.0.0.9:3128: i/o timeout"},

		// Certificates.
		{Check: checkid.InstanceConsoleError, Symptom: true, Fails: []Failure{TooEarly}, Source: "Go, crypto/x509", Look: []checkid.ID{checkid.InstanceUserData},
			Meaning: "the instance's clock is behind, so certificates or tokens are not valid yet",
			Next:    "Let the instance reach the time service (169.254.169.123), or correct the time in the image.",
			Sample:  "x509: certificate has expired or is not yet valid: current time 2019-01-01T00:00:00Z is before 2024-08-01T00:00:00Z"},
		{Check: checkid.InstanceConsoleError, Symptom: true, Fails: []Failure{TooLate}, None: []string{"kubectl", "the security token included in the request"}, Not: []Program{Kubectl, Terraform, Eksctl},
			Source: "Go, crypto/x509", Look: []checkid.ID{checkid.InstanceUserData, checkid.IAMProfileMissing},
			Meaning: "a certificate or token has expired, or the instance's clock is ahead",
			Next:    "Compare the instance's clock with the times in the line; renew what has expired.",
			Sample:  "An error occurred (RequestExpired) when calling the RunInstances operation: some words."},
		{Check: checkid.InstanceConsoleError, Symptom: true, Fails: []Failure{Untrusted}, On: aws, Source: "Go, crypto/x509",
			Look:    []checkid.ID{checkid.SGNodeEgress, checkid.RouteLeavesView},
			Meaning: "an AWS service presents a certificate that the image does not trust: something on the path intercepts TLS",
			Next:    "Exempt AWS services from TLS inspection, or add the proxy's certificate authority to the image.",
			Sample:  `Head "https://602401143452.dkr.ecr.us-west-2.amazonaws.com/v2/eks/pause/manifests/3.5": tls: failed to verify certificate: x509: certificate signed by unknown authority`},
		{Check: checkid.InstanceUserData, Fails: []Failure{Untrusted}, By: []Program{Kubelet, Nodeadm, Bootstrap}, None: []string{"webhook", "10250", "metrics"},
			Source:  kubeletDoc,
			Meaning: "the node trusts a different certificate authority than the cluster's",
			Next:    "Put the cluster's certificateAuthority.data into the launch template's user data.",
			Sample:  "pkg/kubelet/kubelet.go:386: Failed to list *api.Node: Get https://mykuberedacted.net/api/v1/nodes?fieldSelector=metadata.name%3Dip-10-10-103-37.ec2.internal&resourceVersion=0: x509: certificate signed by unknown authority"},
		{Check: checkid.InstanceUserData, Fails: []Failure{Untrusted}, On: []Host{clusterAPI}, Not: []Program{Kubectl, Terraform, Eksctl, Karpenter},
			None: []string{"webhook", "10250", "metrics"}, Source: kubeletDoc,
			Meaning: "the node trusts a different certificate authority than the cluster's",
			Next:    "Put the cluster's certificateAuthority.data into the launch template's user data.",
			Sample:  `Get "https://ABCD.gr7.us-west-2.eks.amazonaws.com/api/v1/services": x509: certificate signed by unknown authority`},
		{Check: checkid.InstanceConsoleError, Symptom: true, Fails: []Failure{Untrusted}, Not: []Program{Kubectl, Terraform, Eksctl}, None: []string{"webhook",
			"10250", "metrics"}, Source: "Go, crypto/x509", Look: []checkid.ID{checkid.InstanceUserData, checkid.RouteLeavesView},
			Meaning: "a certificate was not trusted: the cluster API's if user data has another cluster's authority, an AWS service's if something on the path intercepts TLS",
			Next:    "Check which address the line names; compare the authority in user data with the cluster's.",
			Sample:  "tls: failed to verify certificate: x509: certificate signed by unknown authority"},

		// The runtime and the IPAM daemon are on the node itself.
		{Check: checkid.InstanceConsoleError, Symptom: true, On: []Host{runtimeSock}, Fails: []Failure{TimedOut, Refused}, Source: kubeletDoc,
			Look:    []checkid.ID{checkid.InstanceUserData, checkid.InstanceAMI},
			Meaning: "the container runtime does not respond to the kubelet", Next: "Read containerd's log on the instance (journalctl -u containerd).",
			Sample: `rpc error: code = Unavailable desc = connection error: desc = "transport: Error while dialing: dial unix /run/containerd/containerd.sock: connect: connection refused"`},
		{Check: checkid.NodeCNINotReady, Symptom: true, On: []Host{ipamdPort}, Look: Network(), Source: cniDoc,
			Sample: `Readiness probe failed: {"level":"info","ts":"2020-11-21T10:29:30.590Z","caller":"/usr/local/go/src/runtime/proc.go:203","msg":"timeout: failed to connect service \":50051\" within 1s"}`},

		// What did not answer.
		{Check: checkid.NodeCNINotReady, Symptom: true, By: []Program{IPAMD}, Fails: []Failure{TimedOut, NoRoute, Refused, Unresolved}, None: []string{"failed to pull image"}, Look: append(Network(),
			pathToCluster()...), Source: cniDoc,
			Meaning: "aws-node cannot reach what it needs: the cluster's API or the EC2 API",
			Next:    "Check which address the line names. For a service address (172.20.0.1, 10.100.0.1) check kube-proxy first.",
			Sample:  `{"level":"error","ts":"2026-11-28T10:00:00.000Z","caller":"main.go:10","msg":"Timed out waiting for IPAM daemon to start"}`},
		{Check: checkid.InstanceConsoleError, Symptom: true, On: []Host{clusterAPI, serviceIP}, Fails: late, Not: []Program{Kubectl, Terraform, Eksctl},
			Source: kubeletDoc, Look: append(pathToCluster(), checkid.AddonDegraded), Meaning: "the cluster's API: " + lost, Next: path,
			Sample: "F0715 16:55:30.458743       1 main.go:319] Failed to get nodes from apiserver: Get https://100.64.0.1:443/api/v1/nodes: dial tcp 100.64.0.1:443: i/o timeout"},
		{Check: checkid.InstanceConsoleError, Symptom: true, On: []Host{clusterAPI, serviceIP}, Fails: []Failure{Refused}, Not: []Program{Kubectl, Terraform,
			Eksctl}, Source: kubeletDoc, Look: []checkid.ID{checkid.InstanceUserData, checkid.ClusterHealth, checkid.AddonDegraded, checkid.SGClusterIngress},
			Meaning: "the cluster's API: " + closed,
			Next:    "Compare the endpoint in user data with the cluster's; at a service address, check kube-proxy.",
			Sample:  `csi_plugin.go:1021] Failed to contact API server when waiting for CSINode publishing: Get "https://127.0.0.1/apis/storage.k8s.io/v1/csinodes/i-xxxx": dial tcp 127.0.0.1:443: connect: connection refused`},
		{Check: checkid.InstanceConsoleError, Symptom: true, On: aws, Fails: append(late, Refused), Not: []Program{Kubectl, Terraform, Eksctl}, Source: apiDoc,
			Look: pathToAWS(), Meaning: "an AWS service that nodes need: " + lost, Next: path,
			Sample: `Post "https://api.ecr.us-east-1.amazonaws.com/": dial tcp 52.46.136.20:443: i/o timeout`},
		{Check: checkid.InstanceConsoleError, Symptom: true, On: []Host{elsewhere}, Fails: append(late, Refused), Not: []Program{Terraform, Eksctl}, Source: apiDoc,
			None:    []string{"docker: error", "failed to solve", "npm err", "pip "},
			Look:    []checkid.ID{checkid.RouteNoEgress, checkid.SGNodeEgress, checkid.NACLEgress, checkid.NACLReturn, checkid.RouteNATUnusable},
			Meaning: "a registry outside AWS: " + lost,
			Next:    "Private subnets reach it only through a NAT gateway; otherwise copy the image to ECR.",
			Sample:  `Head "https://registry-1.docker.io/v2/library/busybox/manifests/latest": dial tcp 54.198.86.24:443: i/o timeout`},
		{Check: checkid.SGKubeletIngress, On: []Host{kubeletPort}, Fails: append(late, Refused), Source: kubeletDoc,
			Look:    []checkid.ID{checkid.SGKubeletIngress, checkid.NACLEgress},
			Meaning: "the cluster cannot reach the kubelet of a node", Next: "Allow port 10250 from the cluster's security group on the nodes.",
			Sample: `Error from server: Get "https://10.0.1.36:10250/containerLogs/default/web/web": dial tcp 10.0.1.36:10250: i/o timeout`},
		{Check: checkid.InstanceConsoleError, Symptom: true, Fails: append(late, Refused), All: [][]string{{":443", "send request failed", "error listing aws instances"}}, Not: []Program{Kubectl, Terraform, Eksctl,
			CloudFormation, Karpenter, CSI}, None: []string{"probe failed", "webhook", "readiness", "liveness"}, Source: "Go, net", Look: PathAnywhere(),
			Meaning: lost, Next: path,
			Sample: "Error: connect ETIMEDOUT 192.0.2.26:443"},
		{Check: checkid.InstanceConsoleError, Symptom: true, By: []Program{Kubelet, Nodeadm, Containerd, Bootstrap, Bottlerocket, CloudInit}, Fails: append(late,
			Refused), Source: "Go, net", Look: PathAnywhere(), None: []string{"pod", "probe", "volume", "wait until node is registered"},
			Meaning: lost, Next: path,
			Sample: "pluto[1534]: Timed out retrieving private DNS name from EC2: deadline has elapsed"},
	}
}
