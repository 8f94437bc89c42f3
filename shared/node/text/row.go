package text

import (
	"slices"
	"strings"

	"rollcall/shared/checkid"
)

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
	for _, choice := range r.all {
		if !slices.ContainsFunc(choice, func(phrase string) bool { return says(f.low, phrase) && v.knows(phrase, r.source) }) {
			return false
		}
	}
	return !slices.ContainsFunc(r.none, func(phrase string) bool { return says(f.low, phrase) })
}

func hasCode(f facts, code string) bool {
	family, isFamily := strings.CutSuffix(code, "*")
	return slices.ContainsFunc(f.codes, func(c string) bool { return c == code || isFamily && strings.HasPrefix(c, family) })
}

// maxGap bounds what "…" stands for: a sentence, not a log.
const maxGap = 140

// says tells that the parts of a phrase follow each other in a text.
func says(low, phrase string) bool {
	first, rest, gaps := strings.Cut(phrase, "…")
	if !gaps {
		return strings.Contains(low, phrase)
	}
	for from, tries := 0, 0; tries < 64; tries++ {
		at := strings.Index(low[from:], first)
		if at < 0 {
			return false
		}
		from += at + len(first)
		end := min(len(low), from+maxGap+len(rest))
		if says(low[from:end], rest) {
			return true
		}
	}
	return false
}

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
