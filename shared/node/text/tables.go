package text

import (
	"cmp"
	"slices"
	"strings"

	"rollcall/shared/checkid"
	"rollcall/shared/lazyregexp"
	"rollcall/shared/node/activity"
	"rollcall/shared/node/console"
	"rollcall/shared/node/match"
	"rollcall/shared/nodegroup"
)

// rows are all rows in the order in which they count among equals.
func rows() []row {
	return slices.Concat(identityRows(), pathRows(), karpenterRows(), bootRows(), eksRows(), kubernetesRows(), printedRows(), apiRows())
}

// byConsole asks the table of consoles. A line that names no more than a unit,
// or a service that does not answer, is a symptom: the text does not say why.
func byConsole(f facts, v vocabulary) Told {
	// A user of IAM is a person, or what a person runs; instances have roles.
	if f.by(karpenter, terraform, kubectl, autoscaler) || strings.Contains(f.low, ":user/") {
		return Told{}
	}
	m, ok := console.Line(f.words)
	if !ok || !v.knowsRow("console/"+m.ID) {
		return Told{}
	}
	if m.ID == "token-failed" && !f.by(kubelet) {
		return Told{} // kubectl and helm ask the same way
	}
	t := Told{Check: m.Check, Meaning: strings.TrimSuffix(lowerFirst(m.Means), "."), Next: m.Next}
	if m.Unanswered || !m.Certain || m.Check == "" || vague(m.ID) {
		t.Check, t.Symptom = checkid.InstanceConsoleError, true
		if m.Check != "" {
			t.Look = append(t.Look, m.Check)
		}
		if m.Check == "" {
			t.Look = []checkid.ID{checkid.InstanceUserData, checkid.InstanceAMI, checkid.IAMRolePolicies, checkid.EndpointMissing}
		}
		if m.Unanswered {
			for _, id := range pathAnywhere() {
				if id != m.Check {
					t.Look = append(t.Look, id)
				}
			}
		}
	}
	return t
}

// vague are the console's rows that see a line which does not say why.
func vague(id string) bool {
	return slices.Contains([]string{"nodeadm-unit", "kubelet-unit", "sandbox-unit", "sandbox-failed", "nodeadm-failed", "kubelet-failed", "kubelet-cloud-init",
		"bootstrap-failed", "pluto-failed", "kubelet-anonymous", "token-failed", "containerd-down"}, id)
}

// byLaunch asks the table of failed launches, and of why instances ended. What
// a node's own programs say, and calls that start nothing, are no launches,
// whatever their codes.
func byLaunch(f facts, v vocabulary) Told {
	if f.by(kubelet, nodeadm, containerd, cloudInit, bootstrap, bottlerocket, ipamd, csi, kubectl, scheduler) {
		return Told{}
	}
	if len(f.calls) > 0 && !slices.ContainsFunc(f.calls, func(c string) bool { return slices.Contains(launchCalls(), c) }) {
		return Told{}
	}
	if verdict := activity.Classify(f.words); verdict.Class != checkid.LaunchUnclassified {
		if !v.knows(verdict.By, "") || verdict.Class == checkid.LaunchSuspended && otherProcess.MatchString(f.low) {
			return Told{}
		}
		return Told{Check: verdict.Class, Meaning: verdict.Meaning, Next: verdict.Next}
	}
	if len(f.calls) > 0 && slices.ContainsFunc(f.codes, func(c string) bool { return strings.HasPrefix(c, "InvalidParameter") }) && !f.by(eksctl, cloudFormation) {
		_, next := activity.Words(checkid.LaunchTemplate)
		return Told{Check: checkid.LaunchTemplate, Meaning: "EC2 does not take a parameter of the launch; the words behind the code say which", Next: next}
	}
	if verdict, ok := activity.Ended(f.words); ok {
		return Told{Check: verdict.Class, Meaning: verdict.Meaning, Next: verdict.Next}
	}
	return Told{}
}

// otherProcess is a process of an Auto Scaling group other than that which launches.
var otherProcess = lazyregexp.New(`processname: (?:terminate|azrebalance|healthcheck|replaceunhealthy|alarmnotification|scheduledactions|addtoloadbalancer|instancerefresh)\b|\b(?:terminate|azrebalance) process`)

// byNodegroup knows EKS's own codes, as its console, its API, CloudFormation
// and Terraform quote them: of a nodegroup's health issue, or of why an update
// failed.
func byNodegroup(f facts, _ vocabulary) Told {
	if f.by(kubelet, containerd, karpenter, ipamd, csi, cloudInit) || strings.Contains(f.low, "rpc error") {
		return Told{} // "code = Unknown" is gRPC's
	}
	words := strings.FieldsFunc(f.words, func(r rune) bool { return !('a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9') })
	for i, word := range words {
		quoted := i > 0 && slices.Contains([]string{"code", "errorcode"}, strings.ToLower(words[i-1]))
		if capitals(word) < 2 && word != "Unknown" || len(words) > 1 && !quoted && common(word) {
			continue
		}
		if c := nodegroup.OfIssue(word); c.Known {
			return Told{Check: checkid.NodegroupHealth, Symptom: c.Symptom, Meaning: c.Meaning, Next: c.Next, Look: behind(c)}
		}
		if c := nodegroup.OfUpdate(word); c.Known {
			return Told{Check: checkid.NodegroupUpdateFailed, Meaning: c.Meaning, Next: c.Next, Look: behind(c)}
		}
	}
	return Told{}
}

// behind are the checks behind a code of EKS, by its class.
func behind(c nodegroup.Code) []checkid.ID {
	switch c.Class {
	case nodegroup.Join:
		return notJoining()
	case nodegroup.Launch:
		return launches()
	case nodegroup.IAM:
		return []checkid.ID{checkid.IAMAccessMissing, checkid.IAMAWSAuthInvalid, checkid.IAMRolePolicies, checkid.IAMProfileMissing}
	case nodegroup.Address:
		return []checkid.ID{checkid.IPSubnetExhausted, checkid.LaunchSubnetFull}
	}
	return nil
}

// common are codes that other services use too, and words that any text may
// hold: in a longer text they count only where it calls them a code.
func common(code string) bool {
	return slices.Contains([]string{"AccessDenied", "LimitExceeded", "InternalFailure", "OperationNotPermitted", "Unknown"}, code)
}

func lowerFirst(s string) string {
	if len(s) > 1 && 'A' <= s[0] && s[0] <= 'Z' && !('A' <= s[1] && s[1] <= 'Z') && s[1] >= 'a' && strings.HasPrefix(s, "The ") {
		return "t" + s[1:]
	}
	return s
}

// kind says what kind of text it is, and who quotes it.
func (f facts) kind() string {
	what := "a text"
	switch {
	case f.program == cloudTrail:
		what = "an event of CloudTrail"
	case f.program == runbook:
		what = "a finding of AWS's runbook for worker nodes"
	case f.program == karpenter && conditionForm.MatchString(f.low):
		what = "a condition or an event of Karpenter's objects"
	case f.program == unknownProgram && launchForm.MatchString(f.low):
		what = "a status message of Auto Scaling"
	case f.program == unknownProgram && stateForm.MatchString(f.words):
		what = "a state reason of EC2"
	case conditionForm.MatchString(f.low) && f.program == unknownProgram:
		what = "a condition of Kubernetes"
	case taintForm.MatchString(f.low):
		what = "a taint of a node"
	case f.program == kubectl:
		what = "an answer of kubectl"
	case f.program != unknownProgram:
		what = "a message of " + string(f.program)
	case len(f.calls) > 0 || goCode.MatchString(f.words) || pythonError.MatchString(f.words):
		what = "an error of an AWS API"
	case slices.ContainsFunc(f.codes, func(c string) bool { return c != "Unknown" && nodegroup.OfIssue(c).Known }):
		what = "a health issue of EKS"
	case len(f.fails) > 0 && (len(f.hosts) > 0 || f.failed1(timedOut, refused, noRoute, unresolved, untrusted, tooEarly, tooLate, proxied)):
		what = "a failed connection"
	}
	if f.wrapped != "" && f.wrapped != f.program {
		what += ", as " + string(f.wrapped) + " quotes it"
	}
	return what
}

var (
	conditionForm = lazyregexp.New(`\b(?:type|status|reason|condition)s?: |status condition transitioned|lasttransitiontime|\b(?:false|unknown|true) \w{3}, \d\d `)
	taintForm     = lazyregexp.New(`\btaints?\b|:no(?:schedule|execute)`)
	launchForm    = lazyregexp.New(`launching (?:a new )?ec2 instance|status reason:|could not launch (?:spot|on-demand)|inservice state|statusmessage|placing spot`)
	stateForm     = lazyregexp.New(`\b(?:Client|Server)\.(?:Insufficient|Instance|Internal|Invalid|Scheduled|Spot|User|Volume)`)
)

// failed says what failed, in words of this package.
func (f facts) failed() string {
	call := ""
	for _, known := range knownCalls() {
		if slices.Contains(f.calls, strings.ToLower(known)) {
			call = "the call " + known
			break
		}
	}
	switch {
	case len(f.fails) == 0:
		return ""
	case len(f.hosts) > 0 && !f.failed1(denied):
		return string(f.hosts[0]) + " " + string(f.fails[0])
	case call != "" && f.failed1(denied):
		return call + " was denied"
	case call != "" && f.failed1(timedOut):
		return call + " was not answered in time"
	case call != "" && f.failed1(throttled):
		return call + " was throttled"
	}
	return cmp.Or(call, "")
}

// row is what a set of facts means. What is left empty does not count; all
// that is set must hold.
type row struct {
	check   checkid.ID
	symptom bool
	look    []checkid.ID
	// meaning and next are those of the check where they are empty.
	meaning, next string

	by    []program // one of them wrote it
	not   []program // none of them did
	calls []string  // one of these operations, in lower case
	codes []string  // one of these codes; "InvalidGroup.*" stands for all below
	fails []failure // it failed in one of these ways
	on    []host    // one of these was talked to
	node  bool      // an instance's own role made the call
	// info tells that the program writes it as information.
	info bool
	// all must each have one of their phrases in the text: lower case, without
	// quotes; "…" is a gap within a sentence.
	all  [][]string
	none []string
	// only is the whole text, where nothing else is said.
	only []string
	// source is where the phrases and codes are documented, by AWS or by the
	// program's own source. A row without one was learned from texts alone.
	source string
}

// The documents that rows are made from.
const (
	apiDoc       = "API references and botocore's models of EC2, EKS and Auto Scaling"
	kubeletDoc   = "github.com/kubernetes/kubernetes: pkg/kubelet, cmd/kubelet, plugin/pkg/admission/noderestriction, node authorizer, taint and condition constants"
	cniDoc       = "github.com/aws/amazon-vpc-cni-k8s: pkg/ipamd, pkg/awsutils, cmd/routed-eni-cni-plugin, docs/troubleshooting.md"
	karpenterDoc = "github.com/aws/karpenter-provider-aws and github.com/kubernetes-sigs/karpenter, v1: conditions, events and reasons in pkg/apis, pkg/controllers, pkg/errors"
	nodeadmDoc   = "github.com/awslabs/amazon-eks-ami: nodeadm, templates"
	iamDoc       = "IAM user guide, Troubleshooting access denied error messages"
	runbookDoc   = "Systems Manager runbook AWSSupport-TroubleshootEKSWorkerNode"
	eksDoc       = "EKS user guide, Troubleshooting"
)

func (r row) told() Told {
	t := Told{Check: r.check, Symptom: r.symptom, Look: r.look, Meaning: r.meaning, Next: r.next}
	w := words(r.check)
	if t.Meaning == "" {
		t.Meaning = w.meaning
	}
	if t.Next == "" {
		t.Next = w.next
	}
	return t
}

func (r row) fits(f facts, v vocabulary) bool {
	if len(r.by) > 0 && !f.by(r.by...) || len(r.not) > 0 && f.by(r.not...) || r.node && !f.node {
		return false
	}
	if len(r.fails) > 0 && !f.failed1(r.fails...) {
		return false
	}
	if len(r.on) > 0 && !slices.ContainsFunc(r.on, func(h host) bool { return slices.Contains(f.hosts, h) }) {
		return false
	}
	if len(r.calls) > 0 && !slices.ContainsFunc(r.calls, func(c string) bool { return slices.Contains(f.calls, c) }) {
		return false
	}
	if len(r.codes) > 0 && !slices.ContainsFunc(r.codes, func(c string) bool { return hasCode(f, c) && v.knows(c, r.source) }) {
		return false
	}
	if len(r.only) > 0 && !slices.Contains(r.only, strings.Trim(f.low, ".: ")) {
		return false
	}
	if len(r.all) > 0 && !r.inOrder(f.low, r.all, v) {
		return false
	}
	return !slices.ContainsFunc(r.none, func(phrase string) bool { return match.Says(f.low, phrase, maxGap) })
}

// inOrder reports whether one of each choice follows one of the choice before, close by.
func (r row) inOrder(low string, choices [][]string, v vocabulary) bool {
	if len(choices) == 0 {
		return true
	}
	for _, phrase := range choices[0] {
		if !v.knows(phrase, r.source) {
			continue
		}
		for from := 0; ; {
			at := strings.Index(low[from:], first(phrase))
			if at < 0 {
				break
			}
			from += at
			if end, ok := match.Follows(low[from:], phrase, maxGap); ok && r.inOrder(low[from+end:min(len(low), from+end+maxGap*2)], choices[1:], v) {
				return true
			}
			from++
		}
	}
	return false
}

func first(phrase string) string {
	part, _, _ := strings.Cut(phrase, match.Gap)
	return part
}

func hasCode(f facts, code string) bool {
	family, isFamily := strings.CutSuffix(code, "*")
	return slices.ContainsFunc(f.codes, func(c string) bool { return c == code || isFamily && strings.HasPrefix(c, family) })
}

// maxGap bounds what "…" stands for: a sentence, not a log.
const maxGap = 140

// The ways that a packet or a name can be lost, in the order in which to look.
func pathToCluster() []checkid.ID {
	return []checkid.ID{checkid.SGClusterIngress, checkid.SGNodeEgress, checkid.RouteNoEgress, checkid.RouteAPIPublicCIDR, checkid.RouteAPIPrivateUnreachable, checkid.NACLEgress,
		checkid.NACLReturn, checkid.RouteBlackhole, checkid.RouteNATUnusable, checkid.DNSSupportOff}
}

func pathToAWS() []checkid.ID {
	return []checkid.ID{checkid.EndpointMissing, checkid.RouteNoEgress, checkid.EndpointSecurityGroup, checkid.SGNodeEgress, checkid.NACLEgress, checkid.NACLReturn, checkid.RouteBlackhole,
		checkid.RouteNATUnusable, checkid.RouteIGWNoPublicIP, checkid.EndpointPrivateDNSOff, checkid.EndpointS3RouteMissing}
}

func pathAnywhere() []checkid.ID {
	list := pathToAWS()
	for _, id := range pathToCluster() {
		if !slices.Contains(list, id) {
			list = append(list, id)
		}
	}
	return list
}

func nameLookup() []checkid.ID {
	return []checkid.ID{checkid.DNSSupportOff, checkid.DNSDHCPOptions, checkid.SGNodeEgress, checkid.NACLEgress, checkid.DNSHostnamesOff, checkid.EndpointPrivateDNSOff, checkid.RouteNoEgress,
		checkid.EndpointMissing}
}

// notJoining is behind a node that is not there.
func notJoining() []checkid.ID {
	return []checkid.ID{checkid.InstanceConsoleError, checkid.IAMAccessMissing, checkid.RouteNoEgress, checkid.EndpointMissing, checkid.EndpointSecurityGroup, checkid.SGClusterIngress,
		checkid.SGNodeEgress, checkid.DNSSupportOff, checkid.IAMRolePolicies, checkid.InstanceUserData, checkid.InstanceEndedEarly}
}

func notReady() []checkid.ID {
	return []checkid.ID{checkid.NodeCNINotReady, checkid.IAMCNIRolePolicies, checkid.AddonDegraded, checkid.IPSubnetExhausted, checkid.IPFragmented, checkid.SGClusterIngress,
		checkid.RouteNoEgress, checkid.InstanceStatusCheck}
}

// network is behind a network plugin that is not up.
func network() []checkid.ID {
	return []checkid.ID{checkid.AddonDegraded, checkid.IAMCNIRolePolicies, checkid.IPSubnetExhausted, checkid.IPFragmented, checkid.EndpointMissing, checkid.SGClusterIngress, checkid.InstanceIMDS}
}

// launches are the checks of a launch that failed, where the text does not say
// why.
func launches() []checkid.ID {
	return []checkid.ID{checkid.LaunchInsufficientCapacity, checkid.LaunchTemplate, checkid.LaunchUnauthorized, checkid.LaunchFleetLimit, checkid.LaunchVCPULimit, checkid.LaunchSubnetFull,
		checkid.LaunchKMSKey, checkid.LaunchAMI}
}

// wording is what a check means where a text points to it, and what to do.
type wording struct{ meaning, next string }

// words are those of a check, where a row has none of its own.
func words(check checkid.ID) wording {
	switch check {
	case checkid.AddonDegraded:
		return wording{"an add-on of the cluster is not healthy", "Read its health: aws eks describe-addon, and its pods in kube-system."}
	case checkid.ClusterHealth:
		return wording{"EKS reports a fault of the cluster itself", "Read the cluster's health issues: aws eks describe-cluster."}
	case checkid.DNSDHCPOptions:
		return wording{"the node's name does not match an instance, mostly because of the VPC's DHCP options",
			"Look at the domain name and the name servers in the VPC's DHCP options."}
	case checkid.DNSHostnamesOff:
		return wording{"the VPC gives instances no private DNS name", "Switch DNS hostnames on in the VPC."}
	case checkid.DNSSupportOff:
		return wording{"the VPC does not resolve names", "Switch DNS support on in the VPC."}
	case checkid.EndpointMissing:
		return wording{"a service that nodes need has no VPC endpoint, and there is no other way to it", "Make the endpoint, or give the subnet a route to the internet."}
	case checkid.EndpointPolicyDenies:
		return wording{"the policy of a VPC endpoint denies the call", "Let the endpoint's policy allow what the line names."}
	case checkid.EndpointSecurityGroup:
		return wording{"the security group of a VPC endpoint does not admit the node", "Admit 443 from the nodes on the endpoint's security group."}
	case checkid.IAMAccessMissing:
		return wording{"the cluster does not accept the node's role: it has no access entry and no mapping in aws-auth",
			"Give the node role an access entry of type EC2_LINUX (EC2_WINDOWS), or map it in aws-auth."}
	case checkid.IAMAccessWrongType:
		return wording{"the node role's access entry is not of a type for nodes", "Make it again with type EC2_LINUX, EC2_WINDOWS or EC2."}
	case checkid.IAMCNIRolePolicies:
		return wording{"the role that aws-node uses lacks an action that the CNI calls",
			"Attach AmazonEKS_CNI_Policy (and for IPv6 its IPv6 form) to the role that aws-node uses: that of its service account or Pod Identity association, else the node role."}
	case checkid.IAMProfileMissing:
		return wording{"the instance has no role: its instance profile is missing, or the role in it", "Give the launch template an instance profile with the node role in it."}
	case checkid.IAMRolePolicies:
		return wording{"the node role does not allow what a node calls before it is Ready",
			"Attach AmazonEKSWorkerNodePolicy and AmazonEC2ContainerRegistryPullOnly to the node role; look for a deny."}
	case checkid.IAMRoleTrust:
		return wording{"EC2 may not assume the node role", "Let the role's trust policy allow ec2.amazonaws.com sts:AssumeRole."}
	case checkid.IAMSTSEndpoint:
		return wording{"STS does not answer: without it there is no token for the cluster",
			"Give the subnet a way to the regional STS endpoint: NAT gateway, or an endpoint whose security group admits 443."}
	case checkid.IAMSTSRegionDeactivated:
		return wording{"STS is switched off in this region", "Activate STS for the region in IAM, Account settings."}
	case checkid.InstanceAMI:
		return wording{"the image does not fit", "Start an EKS image of the instance type's architecture and the cluster's version."}
	case checkid.InstanceClusterTag:
		return wording{"the instance lacks the tag kubernetes.io/cluster/<name>", "Tag the instance, in its launch template or group."}
	case checkid.InstanceForbiddenNodeLabel:
		return wording{"a node label of the kubernetes.io or k8s.io namespace that is reserved", "Take the label out, or use a prefix of your own."}
	case checkid.InstanceIMDS:
		return wording{"the instance metadata service did not serve whoever asked", "Let the metadata endpoint be on; for pods without host network the hop limit must be 2."}
	case checkid.InstanceMaxPods:
		return wording{"the instance's interfaces hold no more addresses", "Lower the node's max pods, use prefix delegation or a larger type."}
	case checkid.InstanceScheduledEvent:
		return wording{"EC2 has a scheduled event for the instance", "Let the group replace it."}
	case checkid.InstanceStatusCheck:
		return wording{"EC2's status check of the instance failed", "Read the console output; replace the instance."}
	case checkid.InstanceUserData:
		return wording{"what user data gives the node does not fit",
			"Compare the user data with the cluster's name, endpoint, certificate authority and service range, and with what the image takes."}
	case checkid.InstanceVersionSkew:
		return wording{"the kubelet's version is outside what the control plane takes", "Use an image of the cluster's version, or one not more than its skew older."}
	case checkid.IPBranchInterfaces:
		return wording{"security groups for pods: no branch interface is free",
			"Look at the trunk's limit of the instance type, at branch interfaces that were left behind, and at the subnet."}
	case checkid.IPFragmented:
		return wording{"the subnet has no free aligned /28 for a prefix", "Reserve a range for prefixes in the subnet (create-subnet-cidr-reservation), or use a new subnet."}
	case checkid.IPSubnetExhausted:
		return wording{"there is no address left for another interface or pod", "Look at the subnet's free addresses, and at how many the instance type can hold."}
	case checkid.KarpenterNodeclassNotReady:
		return wording{"the NodeClass is not ready: nothing fits its selectors, or what it names cannot be used",
			"Read its conditions (kubectl describe ec2nodeclass or nodeclass), and compare its selectors with the tags of subnets, security groups and images."}
	case checkid.KarpenterNodepoolLimit:
		return wording{"the NodePool has reached its limits", "Raise spec.limits of the NodePool, or free what it has."}
	case checkid.NACLEgress, checkid.NACLReturn:
		return wording{"a network ACL denies what nodes send or get back", "Let the subnet's ACL pass 443 out and 1024-65535 back."}
	case checkid.NodeCNINotReady:
		return wording{"the network plugin on the node is not up: a symptom", "Look at the aws-node pod on the node: its state, its log, its role."}
	case checkid.NodeCSRPending:
		return wording{"the kubelet has no serving certificate", "Look at the certificate signing requests: kubectl get csr."}
	case checkid.NodeNotInitialized:
		return wording{"the node joined, and Karpenter waits for what must be on it: a startup taint that nobody takes away, or a resource that the node does not show",
			"See who should take the taint away or publish the resource (device plugin, CSI driver, CNI), and whether it runs on the node."}
	case checkid.NodeNotReady:
		return wording{"a node registered and is not Ready: a symptom", "Read its Ready condition (kubectl describe node) and the pods of aws-node and kube-proxy on it."}
	case checkid.NodeNotRegistered:
		return wording{"an instance runs and no node registered: a symptom", "Look at routes, endpoints, security groups, the node role's access and the console output."}
	case checkid.NodeUninitialized:
		return wording{"the taint of the cloud provider stays: nobody has initialised the node",
			"EKS runs the cloud controller. See that the kubelet is of the cluster, and that the node's provider id and name match an instance."}
	case checkid.NodegroupUpdateFailed:
		return wording{"an update of the nodegroup failed: pods did not leave their nodes", "Look at the PodDisruptionBudgets of the pods that stay, or update with force."}
	case checkid.ZoneShifted:
		return wording{"a zonal shift keeps launches out of a zone: nothing is broken in the NodePool",
			"See who started it and when it ends (aws arc-zonal-shift list-zonal-shifts, list-autoshifts). It is cancelled, or expires, once the zone is well."}
	case checkid.RouteBlackhole:
		return wording{"a route leads to something that is gone", "Lead the route to a gateway that works."}
	case checkid.RouteIGWDetached:
		return wording{"the internet gateway is not attached to the VPC", "Attach it."}
	case checkid.RouteIGWNoPublicIP:
		return wording{"the subnet leads to an internet gateway and gives instances no public address",
			"Let the subnet assign public addresses, or give it a route to a NAT gateway."}
	case checkid.RouteNATUnusable:
		return wording{"the NAT gateway does not work", "Read its failure message (aws ec2 describe-nat-gateways), and make another one."}
	case checkid.RouteNoEgress:
		return wording{"there is no route from the subnet to the internet", "Give the subnet a route to a NAT gateway, or endpoints for what nodes need."}
	case checkid.SGClusterIngress:
		return wording{"the cluster's security group does not admit the node", "Admit 443 from the nodes' security group in the cluster's."}
	case checkid.SGKubeletIngress:
		return wording{"the cluster does not reach the kubelet of a node", "Admit port 10250 from the cluster's security group on the nodes."}
	case checkid.SGNodeEgress:
		return wording{"no security group of the node lets it out", "Allow 443 out, and 53 for names."}
	case checkid.SpotReclaimedBeforeJoin:
		return wording{"EC2 took the Spot capacity back", "Nothing is wrong with the node. More instance types and zones make it rarer."}
	case checkid.ZoneNodegroupGap:
		return wording{"no node group can serve the zone of the volume", "Let a group launch in the volume's zone."}
	case checkid.ZonePodUnschedulable:
		return wording{"no node that fits is in the zone of the volume", "Let a group run nodes in the volume's zone."}
	case checkid.ZoneVolumeStranded:
		return wording{"a volume is in a zone without nodes for it", "Let a group run nodes in the volume's zone."}
	}
	return launchWords(check)
}

// launchWords are those of failed launches that rows tell by their facts.
func launchWords(check checkid.ID) wording {
	switch check {
	case checkid.LaunchPolicyDenied:
		return wording{"a policy above the caller's own denies the launch: a service control policy, a resource control policy, a permissions boundary or a session policy, as the message says",
			"Decode the message (aws sts decode-authorization-message) to see the statement, and look for a tag or condition that it wants."}
	case checkid.LaunchUnauthorized:
		return wording{"whoever launches is not allowed to",
			"Bring its policy up to what the message names; decode the message where it is encoded (aws sts decode-authorization-message)."}
	}
	meaning, next := activity.Words(check)
	return wording{meaning, next}
}
