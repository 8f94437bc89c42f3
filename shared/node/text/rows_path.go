package text

import "rollcall/shared/checkid"

// pathRows are about the way to what a node needs: who was asked, and how
// that failed.
func pathRows() []row {
	const (
		lost   = "an answer did not come: packets, or the answers to them, are lost on the way"
		path   = "Look at the way to the address that the line names: endpoint or route, security groups, network ACLs."
		closed = "the address refuses connections: nothing listens there, or something on the way says no"
		naming = "Look at DNS support and hostnames of the VPC, at its DHCP options, and whether port 53 is let through."
	)
	late := []failure{timedOut, noRoute}
	aws := []host{ec2API, eksAPI, eksAuth, ecr, s3, ssm}
	return []row{
		{check: checkid.RouteIGWDetached, codes: []string{"Gateway.NotAttached"}, source: apiDoc},
		{check: checkid.RouteBlackhole, codes: []string{"NatGatewayNotFound", "InvalidNatGatewayID.NotFound"}, source: apiDoc,
			meaning: "the NAT gateway is gone, and routes may still lead to it", next: "Lead the route to a NAT gateway that works."},
		{check: checkid.RouteBlackhole, all: [][]string{{"blackhole"}}, not: []program{karpenter}, source: apiDoc},
		{check: checkid.RouteNoEgress, codes: []string{"AddressLimitExceeded", "NatGatewayLimitExceeded"}, look: []checkid.ID{checkid.RouteNATUnusable}, source: apiDoc,
			meaning: "a quota keeps a NAT gateway from being made, and private subnets have no route to the internet without it",
			next:    "Free addresses or gateways, or ask for a higher quota; then make the gateway and the route."},
		{check: checkid.RouteNATUnusable, all: [][]string{{"nat gateway"}, {"state: failed", "failed state", "in state failed", "unexpected state failed",
			"state failed", "is deleted", "deleting"}}, source: apiDoc},

		// Names, before time-outs: a resolver that does not answer times out too.
		{check: checkid.DNSSupportOff, by: []program{runbook}, all: [][]string{{"dns support", "enablednssupport"}}, source: runbookDoc},
		{check: checkid.DNSHostnamesOff, by: []program{runbook}, all: [][]string{{"dns hostnames", "enablednshostnames"}}, source: runbookDoc},
		{check: checkid.IAMSTSEndpoint, on: []host{stsAPI}, fails: []failure{timedOut, noRoute, refused, unresolved}, none: []string{"imds"}, source: apiDoc,
			look: []checkid.ID{checkid.EndpointMissing, checkid.EndpointSecurityGroup, checkid.RouteNoEgress, checkid.SGNodeEgress,
				checkid.IAMSTSRegionDeactivated, checkid.DNSSupportOff}},
		{check: checkid.InstanceConsoleError, symptom: true, on: []host{clusterAPI}, fails: []failure{unresolved}, not: []program{kubectl}, source: kubeletDoc,
			look:    append(nameLookup(), checkid.ClusterHealth, checkid.InstanceUserData),
			meaning: "the name of the cluster's API has no address here: the name server does not answer or does not know it, or the cluster is gone", next: naming},
		{check: checkid.InstanceConsoleError, symptom: true, on: []host{nameServer}, fails: []failure{timedOut, refused, noRoute}, source: "Go, net",
			look: nameLookup(), meaning: "the name server does not answer", next: naming},
		{check: checkid.InstanceConsoleError, symptom: true, fails: []failure{unresolved}, not: []program{kubectl, terraform, eksctl}, source: kubeletDoc,
			look: nameLookup(), none: []string{"failed to resolve reference"},
			meaning: "a name could not be resolved", next: naming},

		// The metadata service.
		{check: checkid.IAMProfileMissing, on: []host{imds}, all: [][]string{{"404", "no ec2 imds role", "no ec2 instance role", "no role found"}},
			none: []string{"user-data", "canceled", "deadline"}, source: "AWS SDKs: credentials/ec2rolecreds", look: []checkid.ID{checkid.InstanceIMDS,
				checkid.IAMRoleTrust},
			meaning: "the metadata service knows no role: the instance has no instance profile, or its role is gone"},
		{check: checkid.IAMProfileMissing, all: [][]string{{"unable to locate credentials", "nocredentialproviders", "no valid providers in chain",
			"no valid credential sources", "could not find credentials"}}, by: []program{nodeadm, kubelet, cloudInit, bootstrap, bottlerocket, containerd},
			source: "AWS SDKs: credential chains", look: []checkid.ID{checkid.InstanceIMDS}},
		{check: checkid.InstanceIMDS, on: []host{imds}, fails: []failure{timedOut, refused, noRoute, unknownID, denied}, source: "EC2 user guide, Instance metadata options"},
		{check: checkid.InstanceIMDS, all: [][]string{{"failed to get…from metadata", "failed to fetch…metadata", "unable to retrieve…metadata",
			"could not get…instance metadata", "failed to retrieve…instance metadata", "get region from metadata", "getting region from metadata",
			"instance metadata service…not"}}, source: "EC2 user guide, Instance metadata options"},
		{check: checkid.AddonDegraded, symptom: true, on: []host{podIdentity}, fails: []failure{timedOut, refused, noRoute}, source: eksDoc,
			look:    []checkid.ID{checkid.AddonDegraded, checkid.InstanceIMDS},
			meaning: "the Pod Identity agent on the node does not answer", next: "Look at the eks-pod-identity-agent add-on and its pod on the node."},

		// A proxy.
		{check: checkid.InstanceConsoleError, symptom: true, fails: []failure{proxied}, look: []checkid.ID{checkid.InstanceUserData, checkid.SGNodeEgress,
			checkid.RouteNoEgress},
			source:  "Go, net/http",
			meaning: "a proxy stands on the way and did not pass the call on",
			next:    "Look at the proxy's address in user data and at NO_PROXY, which must hold the metadata service, the VPC's range and the cluster's endpoint."},

		// Certificates.
		{check: checkid.InstanceConsoleError, symptom: true, fails: []failure{tooEarly}, source: "Go, crypto/x509", look: []checkid.ID{checkid.InstanceUserData},
			meaning: "the clock of the instance is behind, and certificates or tokens are not valid yet for it",
			next:    "Let the instance reach the time service (169.254.169.123), or correct the time in the image."},
		{check: checkid.InstanceConsoleError, symptom: true, fails: []failure{tooLate}, none: []string{"kubectl"}, not: []program{kubectl, terraform, eksctl},
			source: "Go, crypto/x509", look: []checkid.ID{checkid.InstanceUserData, checkid.IAMProfileMissing},
			meaning: "a certificate or token is out of date, or the clock of the instance is ahead",
			next:    "Compare the instance's clock with the times in the line; renew what ran out."},
		{check: checkid.InstanceConsoleError, symptom: true, fails: []failure{untrusted}, on: aws, source: "Go, crypto/x509",
			look:    []checkid.ID{checkid.SGNodeEgress, checkid.RouteLeavesView},
			meaning: "an AWS service answers with a certificate that the image does not trust: something on the way opens TLS",
			next:    "Exempt AWS services from TLS inspection, or add the proxy's certificate authority to the image."},
		{check: checkid.InstanceUserData, fails: []failure{untrusted}, by: []program{kubelet, nodeadm, bootstrap}, none: []string{"webhook", "10250", "metrics"},
			source:  kubeletDoc,
			meaning: "the node trusts another certificate authority than the cluster's",
			next:    "Put the cluster's certificateAuthority.data into the launch template's user data."},
		{check: checkid.InstanceUserData, fails: []failure{untrusted}, on: []host{clusterAPI}, not: []program{kubectl, terraform, eksctl, karpenter},
			none: []string{"webhook", "10250", "metrics"}, source: kubeletDoc,
			meaning: "the node trusts another certificate authority than the cluster's",
			next:    "Put the cluster's certificateAuthority.data into the launch template's user data."},
		{check: checkid.InstanceConsoleError, symptom: true, fails: []failure{untrusted}, not: []program{kubectl, terraform, eksctl}, none: []string{"webhook",
			"10250", "metrics"}, source: "Go, crypto/x509", look: []checkid.ID{checkid.InstanceUserData, checkid.RouteLeavesView},
			meaning: "a certificate was not trusted: of the cluster's API if the authority in user data is another one's, of an AWS service if something on the way opens TLS",
			next:    "See which address the line names; compare the authority in user data with the cluster's."},

		// The runtime and the IPAM daemon are on the node itself.
		{check: checkid.InstanceConsoleError, symptom: true, on: []host{runtimeSock}, fails: []failure{timedOut, refused}, source: kubeletDoc,
			look:    []checkid.ID{checkid.InstanceUserData, checkid.InstanceAMI},
			meaning: "the container runtime does not answer the kubelet", next: "Read containerd's log on the instance (journalctl -u containerd)."},
		{check: checkid.NodeCNINotReady, symptom: true, on: []host{ipamdPort}, look: network(), source: cniDoc},

		// What did not answer.
		{check: checkid.NodeCNINotReady, symptom: true, by: []program{ipamd}, fails: []failure{timedOut, noRoute, refused, unresolved}, look: append(network(),
			pathToCluster()...), source: cniDoc,
			meaning: "aws-node does not reach what it needs: the cluster's API or the EC2 API",
			next:    "See which address the line names. For a service address (172.20.0.1, 10.100.0.1) look at kube-proxy first."},
		{check: checkid.InstanceConsoleError, symptom: true, on: []host{clusterAPI, serviceIP}, fails: late, not: []program{kubectl, terraform, eksctl},
			source: kubeletDoc, look: append(pathToCluster(), checkid.AddonDegraded), meaning: "the cluster's API: " + lost, next: path},
		{check: checkid.InstanceConsoleError, symptom: true, on: []host{clusterAPI, serviceIP}, fails: []failure{refused}, not: []program{kubectl, terraform,
			eksctl}, source: kubeletDoc, look: []checkid.ID{checkid.InstanceUserData, checkid.ClusterHealth, checkid.AddonDegraded, checkid.SGClusterIngress},
			meaning: "the cluster's API: " + closed,
			next:    "Compare the endpoint in user data with the cluster's; at a service address, look at kube-proxy."},
		{check: checkid.InstanceConsoleError, symptom: true, on: aws, fails: append(late, refused), not: []program{kubectl, terraform, eksctl}, source: apiDoc,
			look: pathToAWS(), meaning: "a service of AWS that nodes need: " + lost, next: path},
		{check: checkid.InstanceConsoleError, symptom: true, on: []host{elsewhere}, fails: append(late, refused), not: []program{terraform, eksctl}, source: apiDoc,
			look:    []checkid.ID{checkid.RouteNoEgress, checkid.SGNodeEgress, checkid.NACLEgress, checkid.NACLReturn, checkid.RouteNATUnusable},
			meaning: "a registry outside AWS: " + lost,
			next:    "Private subnets reach it through a NAT gateway only; else copy the image to ECR."},
		{check: checkid.SGKubeletIngress, on: []host{kubeletPort}, fails: append(late, refused), source: kubeletDoc,
			look:    []checkid.ID{checkid.SGKubeletIngress, checkid.NACLEgress},
			meaning: "the cluster does not reach the kubelet of a node", next: "Admit port 10250 from the cluster's security group on the nodes."},
		{check: checkid.InstanceConsoleError, symptom: true, fails: append(late, refused), all: [][]string{{"dial tcp", "dial udp", "send request failed",
			"https://", "http://", ":443", "error listing aws instances", "connect to", "connecting to"}}, not: []program{kubectl, terraform, eksctl,
			cloudFormation, karpenter, csi}, none: []string{"probe failed", "webhook", "readiness", "liveness"}, source: "Go, net", look: pathAnywhere(),
			meaning: lost, next: path},
		{check: checkid.InstanceConsoleError, symptom: true, by: []program{kubelet, nodeadm, containerd, bootstrap, bottlerocket, cloudInit}, fails: append(late,
			refused), source: "Go, net", look: pathAnywhere(), none: []string{"pod", "probe", "volume"},
			meaning: lost, next: path},
	}
}
