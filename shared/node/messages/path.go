package messages

import (
	"rollcall/shared/checkid"
)

// pathRows are about the way to what a node needs: who was asked, and how
// that failed.
func pathRows() []Row {
	const (
		lost   = "an answer did not come: packets, or the answers to them, are lost on the way"
		path   = "Look at the way to the address that the line names: endpoint or route, security groups, network ACLs."
		closed = "the address refuses connections: nothing listens there, or something on the way says no"
		naming = "Look at DNS support and hostnames of the VPC, at its DHCP options, and whether port 53 is let through."
	)
	late := []Failure{TimedOut, NoRoute}
	aws := []Host{ec2API, eksAPI, eksAuth, ecr, s3, ssm}
	return []Row{
		{Check: checkid.RouteIGWDetached, Codes: []string{"Gateway.NotAttached"}, Source: apiDoc},
		{Check: checkid.RouteBlackhole, Codes: []string{"NatGatewayNotFound", "InvalidNatGatewayID.NotFound"}, Source: apiDoc,
			Meaning: "the NAT gateway is gone, and routes may still lead to it", Next: "Lead the route to a NAT gateway that works."},
		{Check: checkid.RouteBlackhole, All: [][]string{{"blackhole"}}, Not: []Program{Karpenter}, Source: apiDoc},
		{Check: checkid.RouteNoEgress, Codes: []string{"AddressLimitExceeded", "NatGatewayLimitExceeded"}, Look: []checkid.ID{checkid.RouteNATUnusable}, Source: apiDoc,
			Meaning: "a quota keeps a NAT gateway from being made, and private subnets have no route to the internet without it",
			Next:    "Free addresses or gateways, or ask for a higher quota; then make the gateway and the route."},
		{Check: checkid.RouteNATUnusable, All: [][]string{{"nat gateway"}, {"state: failed", "failed state", "in state failed", "unexpected state failed",
			"state failed", "is deleted", "deleting"}}, Source: apiDoc},

		// Names, before time-outs: a resolver that does not answer times out too.
		{Check: checkid.DNSSupportOff, By: []Program{Runbook}, All: [][]string{{"dns support", "enablednssupport"}}, Source: runbookDoc},
		{Check: checkid.DNSHostnamesOff, By: []Program{Runbook}, All: [][]string{{"dns hostnames", "enablednshostnames"}}, Source: runbookDoc},
		{Check: checkid.IAMSTSEndpoint, On: []Host{stsAPI}, Fails: []Failure{TimedOut, NoRoute, Refused, Unresolved}, None: []string{"imds"}, Source: apiDoc,
			Look: []checkid.ID{checkid.EndpointMissing, checkid.EndpointSecurityGroup, checkid.RouteNoEgress, checkid.SGNodeEgress,
				checkid.IAMSTSRegionDeactivated, checkid.DNSSupportOff}},
		{Check: checkid.InstanceConsoleError, Symptom: true, On: []Host{clusterAPI}, Fails: []Failure{Unresolved}, Not: []Program{Kubectl}, Source: kubeletDoc,
			Look:    append(NameLookup(), checkid.ClusterHealth, checkid.InstanceUserData),
			Meaning: "the name of the cluster's API has no address here: the name server does not answer or does not know it, or the cluster is gone", Next: naming},
		{Check: checkid.InstanceConsoleError, Symptom: true, On: []Host{nameServer}, Fails: []Failure{TimedOut, Refused, NoRoute}, Source: "Go, net",
			Look: NameLookup(), Meaning: "the name server does not answer", Next: naming},
		{Check: checkid.InstanceConsoleError, Symptom: true, Fails: []Failure{Unresolved}, On: append(aws, stsAPI, elsewhere), Not: []Program{Kubectl, Terraform, Eksctl}, Source: kubeletDoc,
			Look: NameLookup(), None: []string{"failed to resolve reference", "github.com"},
			Meaning: "a name could not be resolved", Next: naming},
		{Check: checkid.InstanceConsoleError, Symptom: true, Fails: []Failure{Unresolved}, By: []Program{Kubelet, Nodeadm, Containerd, CloudInit, Bootstrap, Bottlerocket, IPAMD},
			Source: kubeletDoc, Look: NameLookup(), None: []string{"failed to resolve reference"},
			Meaning: "a name could not be resolved", Next: naming},

		// The metadata service.
		{Info: true, Check: checkid.IAMProfileMissing, On: []Host{imds}, All: [][]string{{"404", "no ec2 imds role", "no ec2 instance role", "no role found"}},
			None: []string{"user-data", "canceled", "deadline"}, Source: "AWS SDKs: credentials/ec2rolecreds", Look: []checkid.ID{checkid.InstanceIMDS,
				checkid.IAMRoleTrust},
			Meaning: "the metadata service knows no role: the instance has no instance profile, or its role is gone"},
		{Check: checkid.IAMProfileMissing, All: [][]string{{"unable to locate credentials", "nocredentialproviders", "no valid providers in chain",
			"no valid credential sources", "could not find credentials"}}, By: []Program{Nodeadm, Kubelet, CloudInit, Bootstrap, Bottlerocket, Containerd},
			Source: "AWS SDKs: credential chains", Look: []checkid.ID{checkid.InstanceIMDS}},
		{Check: checkid.InstanceIMDS, On: []Host{imds}, Fails: []Failure{TimedOut, Refused, NoRoute, unknownID, Denied}, Source: "EC2 user guide, Instance metadata options"},
		{Check: checkid.InstanceIMDS, All: [][]string{{"failed to get…from metadata", "failed to fetch…metadata", "unable to retrieve…metadata",
			"could not get…instance metadata", "failed to retrieve…instance metadata", "get region from metadata", "getting region from metadata",
			"instance metadata service…not"}}, Source: "EC2 user guide, Instance metadata options"},
		{Check: checkid.AddonDegraded, Symptom: true, On: []Host{podIdentity}, Fails: []Failure{TimedOut, Refused, NoRoute}, Source: eksDoc,
			Look:    []checkid.ID{checkid.AddonDegraded, checkid.InstanceIMDS},
			Meaning: "the Pod Identity agent on the node does not answer", Next: "Look at the eks-pod-identity-agent add-on and its pod on the node."},

		// A proxy.
		{Check: checkid.InstanceConsoleError, Symptom: true, Fails: []Failure{Proxied}, Look: []checkid.ID{checkid.InstanceUserData, checkid.SGNodeEgress,
			checkid.RouteNoEgress},
			Source:  "Go, net/http",
			Meaning: "a proxy stands on the way and did not pass the call on",
			Next:    "Look at the proxy's address in user data and at NO_PROXY, which must hold the metadata service, the VPC's range and the cluster's endpoint."},

		// Certificates.
		{Check: checkid.InstanceConsoleError, Symptom: true, Fails: []Failure{TooEarly}, Source: "Go, crypto/x509", Look: []checkid.ID{checkid.InstanceUserData},
			Meaning: "the clock of the instance is behind, and certificates or tokens are not valid yet for it",
			Next:    "Let the instance reach the time service (169.254.169.123), or correct the time in the image."},
		{Check: checkid.InstanceConsoleError, Symptom: true, Fails: []Failure{TooLate}, None: []string{"kubectl", "the security token included in the request"}, Not: []Program{Kubectl, Terraform, Eksctl},
			Source: "Go, crypto/x509", Look: []checkid.ID{checkid.InstanceUserData, checkid.IAMProfileMissing},
			Meaning: "a certificate or token is out of date, or the clock of the instance is ahead",
			Next:    "Compare the instance's clock with the times in the line; renew what ran out."},
		{Check: checkid.InstanceConsoleError, Symptom: true, Fails: []Failure{Untrusted}, On: aws, Source: "Go, crypto/x509",
			Look:    []checkid.ID{checkid.SGNodeEgress, checkid.RouteLeavesView},
			Meaning: "an AWS service answers with a certificate that the image does not trust: something on the way opens TLS",
			Next:    "Exempt AWS services from TLS inspection, or add the proxy's certificate authority to the image."},
		{Check: checkid.InstanceUserData, Fails: []Failure{Untrusted}, By: []Program{Kubelet, Nodeadm, Bootstrap}, None: []string{"webhook", "10250", "metrics"},
			Source:  kubeletDoc,
			Meaning: "the node trusts another certificate authority than the cluster's",
			Next:    "Put the cluster's certificateAuthority.data into the launch template's user data."},
		{Check: checkid.InstanceUserData, Fails: []Failure{Untrusted}, On: []Host{clusterAPI}, Not: []Program{Kubectl, Terraform, Eksctl, Karpenter},
			None: []string{"webhook", "10250", "metrics"}, Source: kubeletDoc,
			Meaning: "the node trusts another certificate authority than the cluster's",
			Next:    "Put the cluster's certificateAuthority.data into the launch template's user data."},
		{Check: checkid.InstanceConsoleError, Symptom: true, Fails: []Failure{Untrusted}, Not: []Program{Kubectl, Terraform, Eksctl}, None: []string{"webhook",
			"10250", "metrics"}, Source: "Go, crypto/x509", Look: []checkid.ID{checkid.InstanceUserData, checkid.RouteLeavesView},
			Meaning: "a certificate was not trusted: of the cluster's API if the authority in user data is another one's, of an AWS service if something on the way opens TLS",
			Next:    "See which address the line names; compare the authority in user data with the cluster's."},

		// The runtime and the IPAM daemon are on the node itself.
		{Check: checkid.InstanceConsoleError, Symptom: true, On: []Host{runtimeSock}, Fails: []Failure{TimedOut, Refused}, Source: kubeletDoc,
			Look:    []checkid.ID{checkid.InstanceUserData, checkid.InstanceAMI},
			Meaning: "the container runtime does not answer the kubelet", Next: "Read containerd's log on the instance (journalctl -u containerd)."},
		{Check: checkid.NodeCNINotReady, Symptom: true, On: []Host{ipamdPort}, Look: Network(), Source: cniDoc},

		// What did not answer.
		{Check: checkid.NodeCNINotReady, Symptom: true, By: []Program{IPAMD}, Fails: []Failure{TimedOut, NoRoute, Refused, Unresolved}, Look: append(Network(),
			pathToCluster()...), Source: cniDoc,
			Meaning: "aws-node does not reach what it needs: the cluster's API or the EC2 API",
			Next:    "See which address the line names. For a service address (172.20.0.1, 10.100.0.1) look at kube-proxy first."},
		{Check: checkid.InstanceConsoleError, Symptom: true, On: []Host{clusterAPI, serviceIP}, Fails: late, Not: []Program{Kubectl, Terraform, Eksctl},
			Source: kubeletDoc, Look: append(pathToCluster(), checkid.AddonDegraded), Meaning: "the cluster's API: " + lost, Next: path},
		{Check: checkid.InstanceConsoleError, Symptom: true, On: []Host{clusterAPI, serviceIP}, Fails: []Failure{Refused}, Not: []Program{Kubectl, Terraform,
			Eksctl}, Source: kubeletDoc, Look: []checkid.ID{checkid.InstanceUserData, checkid.ClusterHealth, checkid.AddonDegraded, checkid.SGClusterIngress},
			Meaning: "the cluster's API: " + closed,
			Next:    "Compare the endpoint in user data with the cluster's; at a service address, look at kube-proxy."},
		{Check: checkid.InstanceConsoleError, Symptom: true, On: aws, Fails: append(late, Refused), Not: []Program{Kubectl, Terraform, Eksctl}, Source: apiDoc,
			Look: pathToAWS(), Meaning: "a service of AWS that nodes need: " + lost, Next: path},
		{Check: checkid.InstanceConsoleError, Symptom: true, On: []Host{elsewhere}, Fails: append(late, Refused), Not: []Program{Terraform, Eksctl}, Source: apiDoc,
			None:    []string{"docker: error", "failed to solve", "npm err", "pip "},
			Look:    []checkid.ID{checkid.RouteNoEgress, checkid.SGNodeEgress, checkid.NACLEgress, checkid.NACLReturn, checkid.RouteNATUnusable},
			Meaning: "a registry outside AWS: " + lost,
			Next:    "Private subnets reach it through a NAT gateway only; else copy the image to ECR."},
		{Check: checkid.SGKubeletIngress, On: []Host{kubeletPort}, Fails: append(late, Refused), Source: kubeletDoc,
			Look:    []checkid.ID{checkid.SGKubeletIngress, checkid.NACLEgress},
			Meaning: "the cluster does not reach the kubelet of a node", Next: "Admit port 10250 from the cluster's security group on the nodes."},
		{Check: checkid.InstanceConsoleError, Symptom: true, Fails: append(late, Refused), All: [][]string{{":443", "send request failed", "error listing aws instances"}}, Not: []Program{Kubectl, Terraform, Eksctl,
			CloudFormation, Karpenter, CSI}, None: []string{"probe failed", "webhook", "readiness", "liveness"}, Source: "Go, net", Look: PathAnywhere(),
			Meaning: lost, Next: path},
		{Check: checkid.InstanceConsoleError, Symptom: true, By: []Program{Kubelet, Nodeadm, Containerd, Bootstrap, Bottlerocket, CloudInit}, Fails: append(late,
			Refused), Source: "Go, net", Look: PathAnywhere(), None: []string{"pod", "probe", "volume"},
			Meaning: lost, Next: path},
	}
}
