package messagecheck

import (
	"net/netip"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// claimsOfNames are names and constants that documents give, and those made of others.
func claimsOfNames() []claim {
	return []claim{
		{form(`^[\p{Z}\s]*rollcall replay (\S+)|^(\S+:[a-z]+/[a-z0-9-]+:\S+)$`), func(s said) string {
			_, rest, _ := strings.Cut(s.m[1]+s.m[2], ":")
			check, resource, _ := strings.Cut(rest, ":")
			if strings.ContainsAny(check, "0123456789") && !checksWithDigits.MatchString(check) {
				return "there is no such check"
			}
			if account := regexp.MustCompile(`:(\d{12}):`).FindStringSubmatch(resource); account != nil && account[1] != s.facts.Account {
				return "the account is " + s.facts.Account
			}
			_, named, _ := strings.Cut(resource, "/")
			region, endpoint := strings.CutPrefix(resource, "sts.")
			if endpoint && s.facts.says(":"+strings.TrimSuffix(region, ".amazonaws.com")+":") || quota(resource) || resource == "eks-pod-identity-agent" ||
				named != "" && s.facts.says(`"`+named+`"`) || s.facts.says(resource) {
				return ""
			}
			return "no answer tells of " + resource
		}},
		{form(`\baccount (\d{12})\b`), func(s said) string {
			if s.m[1] != s.facts.Account {
				return "it is " + s.facts.Account
			}
			return ""
		}},
		{form(`\b(arn:aws[a-z-]*:iam::(\d{12}):role/([\w+=,.@-]*\w))`), func(s said) string {
			if !s.facts.says(s.m[1]) && (s.m[2] != s.facts.Account || !s.facts.says(`"RoleName":"`+s.m[3]+`"`)) {
				return "there is no such role"
			}
			return ""
		}},
		// Checks whose names have a digit (the catalogue).
		{checksWithDigits, documented},
		{form(`\b(EC2_[LW][A-Z]*)…`), documented}, // a type of access entry in a title that is cut
		{form(`\b(S3|Route 53|EC2|EC2NodeClass|IMDSv2|gp2|gp3|EC2_LINUX|EC2_WINDOWS|AWS_VPC_K8S_CNI_CUSTOM_NETWORK_CFG|ENABLE_IPv4|ENABLE_IPv6|IPv4|IPv6|ec2\.amazonaws\.com)\b`), documented},
		{form(`(?:^|[^\w.])(SHA-256)\b`), documented},
		{form(`\b((?:sts|ec2|eks|api\.ecr)\.([a-z0-9-]+)\.amazonaws\.com)\b`), func(s said) string {
			if !s.facts.says(":" + s.m[2] + ":") {
				return "no ARN is of " + s.m[2]
			}
			return ""
		}},
		{form(`\b(?:forwards|blocks) the names of (\d+) services`), func(s said) string {
			// The services are listed in the sentence on why.
			listed := regexp.MustCompile(`\bthe names? of ([^.]+(?:, [^.]+)* and [^.,]+)`)
			for _, l := range s.lines {
				if m := listed.FindStringSubmatch(l.Text); m != nil && strconv.Itoa(strings.Count(m[1], ",")+2) == s.m[1] {
					return ""
				}
			}
			return "it lists another number of services"
		}},
		// Amazon VPC CNI's releases: CRI v1 since 1.12 (github.com/aws/amazon-vpc-cni-k8s, release
		// notes of v1.12.0), v1alpha2 gone in Kubernetes 1.26 (kubernetes.io, blog of 1.26).
		{form(`\bKubernetes (1\.26) took CRI (v1alpha2) away, which the plugin asks for before (1\.12)\b`), documented},
		{form(`\b(v1\.12\.0) or later`), documented},
		{form(`\bKubernetes (1\.\d+)\b`), func(s said) string { return s.facts.version(s.m[1]) }},
		{form(`\bkubelet (1\.\d+) beside control plane (1\.\d+)`), func(s said) string {
			if s.m[1] == s.m[2] {
				return "they are the same"
			}
			return s.facts.version(s.m[1]) + s.facts.version(s.m[2])
		}},
		{form(`\bcontrol plane's (1\.\d+) of`), func(s said) string { return s.facts.version(s.m[1]) }},
		{form(`\bimage of Kubernetes (1\.\d+)\b`), func(s said) string { return s.facts.version(s.m[1]) }},
		// Amazon EKS's "AL2 AMI deprecation FAQs" (shared/checks/instance/image.go).
		{form(`\bAmazon Linux (2), whose support ended on (26) November (2025)`), documented},
		{form(`\bAmazon Linux (2023)\b`), func(s said) string {
			if !s.facts.says("al2023") && !s.facts.says("AL2023") {
				return "no image is"
			}
			return ""
		}},
		{form(`\bmore than the (\d+) that quota`), func(s said) string {
			if !s.facts.says("limit of " + s.m[1] + " ") {
				return "no answer says that limit"
			}
			return ""
		}},
		{form(`\b(\d+) Insufficient (?:memory|cpu)\b`), func(s said) string {
			if !s.facts.says(s.m[0]) {
				return "the scheduler says something else"
			}
			return ""
		}},
		{form(`\b(L-[0-9A-F]{8})\b`), func(s said) string {
			if !quota(s.m[1]) {
				return "there is no such quota"
			}
			return ""
		}},
		// github.com/aws/amazon-vpc-resource-controller-k8s, pkg/aws/vpc/limits.go, of that day.
		{form(`\bm5\.large carries (9), (m5\.xlarge) (18); as of (2026-03-20)`), documented},
		// IAM's actions are held by the service authorization reference (make authorization).
		{form(`\b((?:ec2|ecr|s3|sts|eks):[A-Z][A-Za-z0-9]+)\b`), documented},
		{form(`\b([a-z-]+/[a-z0-9-]*[a-z]-\d+)\b`), func(s said) string {
			_, name, _ := strings.Cut(s.m[1], "/")
			if !s.facts.says(`"name":"` + name + `"`) {
				return "there is no pod " + name
			}
			return ""
		}},
		{form(`\b(Ip-[0-9-]+\.[a-z0-9.-]+)\b`), func(s said) string {
			if !s.facts.says("i" + s.m[1][1:]) {
				return "there is no such node"
			}
			return ""
		}},
		// Setting joinTime's default.
		{form(`\bshould have been a node (5) min after its launch`), documented},
		// AWS's waiters (shared/checks/nodegroup/status.go has their arithmetic).
		{form(`\bthat takes at most (40|45) min`), documented},
		{form(`\b(\d+m\d+s|\d+s|\d+ s) after its launch`), func(s said) string {
			took, err := time.ParseDuration(strings.ReplaceAll(s.m[1], " ", ""))
			if err != nil {
				return err.Error()
			}
			for _, began := range s.facts.Launched {
				if s.facts.instants[began.Add(took).Unix()] {
					return ""
				}
			}
			return "nothing happened so long after a launch"
		}},
		{form(`\bALLOWED DISRUPTIONS (0)\b`), documented},
		{form(`\bwith (lt-[0-9a-f]+) version (\d+)\b`), func(s said) string { return fields("VersionNumber")(said{s.facts, s.m[1:], nil}) }},
	}
}

var checksWithDigits = form(`\b(route/ipv6-no-egress|endpoint/s3-route-missing|cni/ipv6)\b`)

// quota tells that there is one by that code (docs.aws.amazon.com/general/latest/gr/ec2-service
// and ebs-service): vCPUs of standard types on demand and as Spot, storage of gp3 and gp2, Elastic IPs.
func quota(code string) bool {
	return slices.Contains([]string{"L-1216C47A", "L-34B43A08", "L-7A658B76", "L-D18FCD1D", "L-0263D0A3"}, code)
}

// version tells that a control plane or a kubelet is of it.
func (f *Facts) version(v string) string {
	if !regexp.MustCompile(`"(?:Version|kubeletVersion|ReleaseVersion)":"v?` + regexp.QuoteMeta(v) + `[".]|-` + regexp.QuoteMeta(v) + `-v?\d`).MatchString(f.text) {
		return "nothing is of " + v
	}
	return ""
}

// within tells that a block is in a network of the world.
func (f *Facts) within(block string) string {
	p, err := netip.ParsePrefix(block)
	if err != nil {
		return err.Error()
	}
	for _, m := range regexp.MustCompile(`[0-9a-f.:]+/\d+`).FindAllString(f.text, -1) {
		if in, err := netip.ParsePrefix(m); err == nil && in.Bits() > 0 && in.Bits() < p.Bits() && in.Contains(p.Addr()) {
			return ""
		}
	}
	return "no network of the world has it"
}
