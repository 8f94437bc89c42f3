package main

import (
	"bytes"
	"fmt"
	"net/netip"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"rollcall/shared/access/policy"
	"rollcall/shared/checkid"
	"rollcall/shared/checks"
	"rollcall/shared/network/filter"
	"rollcall/shared/network/path"
	"rollcall/shared/node/userdata"
	"rollcall/shared/snapshot"
)

// AWSSupport-TroubleshootEKSWorkerNode as documented: a
// pure rule for each step of its document of June 2026. The steps' own code is
// an attachment that is not public. Where the document leaves open how a step
// judges, the rule takes the reading that is best for the runbook: it finds
// what the step's description covers.

// Subject is one run: the runbook takes a cluster and one instance.
type Subject struct {
	// Account is what the APIs return to a caller who may read everything.
	Account *snapshot.Snapshot
	Node    snapshot.Instance
	// Secondary is how many addresses the node's interfaces have beside their
	// primary ones, delegated prefixes among them.
	Secondary int
	// Ready is set for a Ready node, which so has reached what it needs.
	Ready bool
	// Unreachable are the services that the node itself cannot reach: what a
	// command on the node would see.
	Unreachable []string
}

// Finding is one warning or error of the report.
type Finding struct {
	Step string // its number
	Text string
	// Names are the causes, by Rollcall's ids, that a reader of the warning
	// would know.
	Names []checkid.ID
	// Symptom is set where the warning says what does not work, and not why.
	Symptom bool
}

// Skip is a step that did not look, or whose answer cannot be known here.
type Skip struct{ Step, Why string }

// Report is what a run comes to, in the order of the steps, which is that of
// the runbook's own report.
type Report struct {
	// Stopped is why no step ran; empty if they did.
	Stopped  string
	Findings []Finding
	Skipped  []Skip
}

// answer is what a step's rule says.
type answer struct {
	findings []Finding
	skipped  string
}

func passed() answer              { return answer{} }
func skipped(why string) answer   { return answer{skipped: why} }
func flagged(f ...Finding) answer { return answer{findings: f} }

func cause(text string, names ...checkid.ID) Finding { return Finding{Text: text, Names: names} }

func symptom(text string, names ...checkid.ID) Finding {
	return Finding{Text: text, Names: names, Symptom: true}
}

// Run goes through the steps.
func Run(s Subject) Report {
	if r, stopped := gates(s); stopped {
		return r
	}
	var r Report
	for _, step := range Steps() {
		if step.judge == nil {
			continue
		}
		a := step.judge(s)
		if a.skipped != "" {
			r.Skipped = append(r.Skipped, Skip{step.Number, a.skipped})
		}
		for _, f := range a.findings {
			f.Step = step.Number
			r.Findings = append(r.Findings, f)
		}
	}
	return r
}

const notOnline = "the SSM agent cannot be online"

// daemons is step 21. No API answer holds the state of a daemon.
func daemons(s Subject) answer {
	if !Online(s) {
		return skipped(notOnline)
	}
	return skipped("not knowable: the worlds have no daemons")
}

// connectivity is step 22.
func connectivity(s Subject) answer {
	if !Online(s) {
		return skipped(notOnline)
	}
	if len(s.Unreachable) > 0 {
		return flagged(symptom("not reached from the node: "+strings.Join(s.Unreachable, ", "), ofNetwork()...))
	}
	return passed()
}

// ofNetwork are the causes of which a service out of reach is the symptom.
func ofNetwork() []checkid.ID {
	var list []checkid.ID
	for _, c := range checks.All() {
		switch group, _, _ := strings.Cut(string(c.ID), "/"); group {
		case "route", "endpoint", "sg", "nacl", "dns":
			list = append(list, c.ID)
		}
	}
	return list
}

// Online reports whether the SSM agent of the node can be online: it is part of
// the images of EKS, and needs the metadata service, name resolution, its
// permission, and a way to its service.
func Online(s Subject) bool {
	role, ok := roleOf(s)
	if !ok || !assumed(s, role) || !allows(s, role, "ssm:UpdateInstanceInformation") || s.Node.Metadata.Endpoint == "disabled" {
		return false
	}
	dns, ok := find(s.Account.VPCAttributes, func(v snapshot.VPCAttributes) bool { return v.VPC == s.Node.VPC })
	if ok && !dns.DNSSupport {
		return false
	}
	f := filter.New(s.Account)
	if slices.ContainsFunc([]string{"ssm", "ssmmessages"}, func(service string) bool { return !has(s, f, service) }) {
		return internet(s, f)
	}
	return f.Outbound(s.Node.Groups, filter.Peer{Ranges: ranges(s), Groups: endpointGroups(s)}, filter.TCP, 443).Admits != filter.None
}

func has(s Subject, f *filter.Filters, service string) bool {
	return slices.ContainsFunc(s.Account.Endpoints, func(e snapshot.Endpoint) bool {
		return e.VPC == s.Node.VPC && strings.HasSuffix(e.Service, "."+s.Account.Region+"."+service) && e.PrivateDNS && path.Available(e) &&
			f.Inbound(e.Groups, peer(s.Node), filter.TCP, 443).Admits != filter.None
	})
}

func internet(s Subject, f *filter.Filters) bool {
	way := path.New(s.Account).Internet(s.Node.Subnet)
	if !way.Good() || way.Verdict == path.NeedsPublicIP && !s.Node.PublicIP.IsValid() {
		return false
	}
	if f.Outbound(s.Node.Groups, filter.Peer{Ranges: filter.Internet()}, filter.TCP, 443).Admits == filter.None {
		return false
	}
	a, ok := f.ACL(s.Node.Subnet)
	return !ok || !denies(a, true, filter.Port(443), filter.Internet()) && !denies(a, false, filter.Ephemeral(s.Node.Windows), filter.Internet())
}

const amazonDNS = "AmazonProvidedDNS"

// maxDomain leaves room for "ip-10-0-0-1." in the 63 characters of a label.
const maxDomain = 63 - len("ip-10-0-0-1.")

// dhcpOptions is step 2. One custom domain name passes: what the step holds
// against it is not documented.
func dhcpOptions(s Subject) answer {
	vpc, _ := find(s.Account.VPCs, func(v snapshot.VPC) bool { return v.ID == s.Node.VPC })
	o, ok := find(s.Account.DHCPOptions, func(o snapshot.DHCPOptions) bool { return o.ID == vpc.DHCP })
	if !ok {
		return passed()
	}
	if !slices.Contains(o.DomainNameServers, amazonDNS) {
		return flagged(cause(o.ID+" has other name servers than "+amazonDNS, checkid.DNSDHCPOptions))
	}
	if domain := strings.Join(o.DomainNames, " "); len(domain) > maxDomain {
		return flagged(cause(o.ID+" has a domain name that makes too long a node name", checkid.DNSDHCPOptions))
	}
	if len(strings.Fields(strings.Join(o.DomainNames, " "))) != 1 {
		return flagged(cause(o.ID+" has no domain name, or several", checkid.DNSDHCPOptions))
	}
	return passed()
}

// addons is step 4. One that is being made or updated passes.
func addons(s Subject) answer {
	var found []Finding
	for _, a := range s.Account.Addons {
		if a.Status == "DEGRADED" || strings.HasSuffix(a.Status, "_FAILED") || len(a.Issues) > 0 {
			found = append(found, cause(a.Name+" is "+a.Status, checkid.AddonDegraded))
		}
	}
	return flagged(found...)
}

// clusterInterfaces is step 5.
func clusterInterfaces(s Subject) answer {
	for _, i := range s.Account.Interfaces {
		if i.Description == "Amazon EKS "+s.Account.Cluster.Name {
			return passed()
		}
	}
	return skipped("not knowable: the world does not draw the control plane's interfaces")
}

// vpcDNS is step 6.
func vpcDNS(s Subject) answer {
	v, ok := find(s.Account.VPCAttributes, func(v snapshot.VPCAttributes) bool { return v.VPC == s.Account.Cluster.VPC })
	if !ok {
		return passed()
	}
	var found []Finding
	if !v.DNSSupport {
		found = append(found, cause("DNS support of "+v.VPC+" is off", checkid.DNSSupportOff))
	}
	if !v.DNSHostnames {
		found = append(found, cause("DNS hostnames of "+v.VPC+" are off", checkid.DNSHostnamesOff))
	}
	return flagged(found...)
}

// health is step 7. An event that EC2 marks as over is none.
func health(s Subject) answer {
	st, ok := find(s.Account.Statuses, func(st snapshot.InstanceStatus) bool { return st.Instance == s.Node.ID })
	if !ok {
		return passed()
	}
	var found []Finding
	if st.System == "impaired" || st.OS == "impaired" {
		found = append(found, cause("status checks: system "+st.System+", instance "+st.OS, checkid.InstanceStatusCheck))
	}
	for _, e := range st.Events {
		if !strings.HasPrefix(e.Description, "[Completed]") && !strings.HasPrefix(e.Description, "[Canceled]") {
			found = append(found, cause("EC2 has scheduled "+e.Code, checkid.InstanceScheduledEvent))
		}
	}
	return flagged(found...)
}

// clusterGroups is step 1. It has no branch before it: it also runs where only
// the public endpoint is in use.
func clusterGroups(s Subject) answer {
	c := s.Account.Cluster
	groups := append([]string{c.SecurityGroup}, c.SecurityGroups...)
	if filter.New(s.Account).Inbound(groups, peer(s.Node), filter.TCP, 443).Admits == filter.None {
		return flagged(cause(c.SecurityGroup+" does not admit the node on 443", checkid.SGClusterIngress))
	}
	return passed()
}

// nodeGroups is step 16: the groups must let 443 out to the control plane or
// to where the node's branch leads, and DNS to its name server.
func nodeGroups(s Subject) answer {
	f := filter.New(s.Account)
	c := s.Account.Cluster
	vpc := ranges(s)
	inside := filter.Peer{Ranges: vpc, Groups: append([]string{c.SecurityGroup}, c.SecurityGroups...)}
	if c.EndpointPrivate && f.Outbound(s.Node.Groups, inside, filter.TCP, 443).Admits == filter.None {
		return flagged(cause("nothing lets 443 out to the control plane", checkid.SGNodeEgress))
	}
	kind, _ := branch(s)
	if kind == snapshot.ToNATGateway || kind == snapshot.ToInternetGateway {
		out := filter.Peer{Ranges: filter.Internet()}
		if f.Outbound(s.Node.Groups, out, filter.TCP, 443).Admits == filter.None {
			return flagged(cause("nothing lets 443 out to the internet", checkid.SGNodeEgress))
		}
	}
	if kind == noDefault && f.Outbound(s.Node.Groups, filter.Peer{Ranges: vpc, Groups: endpointGroups(s)}, filter.TCP, 443).Admits == filter.None {
		return flagged(cause("nothing lets 443 out to the endpoints", checkid.SGNodeEgress))
	}
	if kind == noDefault && storage(s, f) {
		return flagged(cause("nothing lets 443 out to the gateway endpoint for S3", checkid.SGNodeEgress))
	}
	return nameServer(s, f)
}

// storage reports whether S3 is behind a gateway endpoint, and that its addresses
// are shut.
func storage(s Subject, f *filter.Filters) bool {
	gateway := slices.ContainsFunc(s.Account.Endpoints, func(e snapshot.Endpoint) bool {
		return e.VPC == s.Node.VPC && e.Kind == "Gateway" && strings.HasSuffix(e.Service, ".s3")
	})
	list, ok := find(s.Account.PrefixLists, func(l snapshot.PrefixList) bool { return strings.HasSuffix(l.Name, ".s3") })
	return gateway && ok && f.Outbound(s.Node.Groups, filter.Peer{Ranges: list.CIDRs}, filter.TCP, 443).Admits == filter.None
}

// nameServer is DNS to servers of one's own: security groups do not filter
// what goes to Amazon's (VPC user guide, "Security group basics").
func nameServer(s Subject, f *filter.Filters) answer {
	vpc, _ := find(s.Account.VPCs, func(v snapshot.VPC) bool { return v.ID == s.Node.VPC })
	o, _ := find(s.Account.DHCPOptions, func(o snapshot.DHCPOptions) bool { return o.ID == vpc.DHCP })
	var servers []netip.Prefix
	for _, text := range o.DomainNameServers {
		a, err := netip.ParseAddr(text)
		if err != nil {
			return passed()
		}
		servers = append(servers, netip.PrefixFrom(a, a.BitLen()))
	}
	if len(servers) > 0 && f.Outbound(s.Node.Groups, filter.Peer{Ranges: servers}, filter.UDP, 53).Admits == filter.None {
		return flagged(cause("nothing lets DNS out to the VPC's name servers", checkid.SGNodeEgress))
	}
	return passed()
}

func endpointGroups(s Subject) []string {
	var groups []string
	for _, e := range s.Account.Endpoints {
		if e.VPC == s.Node.VPC {
			groups = append(groups, e.Groups...)
		}
	}
	return groups
}

func ranges(s Subject) []netip.Prefix {
	v, _ := find(s.Account.VPCs, func(v snapshot.VPC) bool { return v.ID == s.Node.VPC })
	return v.CIDRs
}

// acls is step 18, the basic rules: 443 out of the node's subnet and the
// answers back, and 443 into the cluster's subnets and the answers out.
func acls(s Subject) answer {
	f := filter.New(s.Account)
	remote := ranges(s)
	if kind, _ := branch(s); kind == snapshot.ToNATGateway || kind == snapshot.ToInternetGateway {
		remote = filter.Internet()
	}
	var found []Finding
	if a, ok := f.ACL(s.Node.Subnet); ok {
		if denies(a, true, filter.Port(443), remote) || denies(a, true, filter.Port(443), ranges(s)) {
			found = append(found, cause(a.ID+" denies 443 out", checkid.NACLEgress))
		}
		if back := filter.Ephemeral(s.Node.Windows); denies(a, false, back, remote) || denies(a, false, back, ranges(s)) {
			found = append(found, cause(a.ID+" denies answers", checkid.NACLReturn))
		}
	}
	if s.Account.Cluster.EndpointPrivate {
		found = append(found, clusterACLs(s, f)...)
	}
	return flagged(append(found, natACL(s, f)...)...)
}

func clusterACLs(s Subject, f *filter.Filters) []Finding {
	var seen []string
	var found []Finding
	own, hasOwn := f.ACL(s.Node.Subnet)
	from, _ := find(s.Account.Subnets, func(n snapshot.Subnet) bool { return n.ID == s.Node.Subnet })
	node := []netip.Prefix{from.CIDR}
	for _, subnet := range s.Account.Cluster.Subnets {
		to, _ := find(s.Account.Subnets, func(n snapshot.Subnet) bool { return n.ID == subnet })
		if plane := []netip.Prefix{to.CIDR}; hasOwn && to.CIDR.IsValid() && subnet != s.Node.Subnet {
			if denies(own, true, filter.Port(443), plane) {
				found = append(found, cause(own.ID+" denies 443 to "+subnet, checkid.NACLEgress))
			}
			if denies(own, false, filter.Ephemeral(s.Node.Windows), plane) {
				found = append(found, cause(own.ID+" denies answers of "+subnet, checkid.NACLReturn))
			}
		}
		a, ok := f.ACL(subnet)
		if !ok || subnet == s.Node.Subnet || !from.CIDR.IsValid() || slices.Contains(seen, a.ID) {
			continue
		}
		seen = append(seen, a.ID)
		if denies(a, false, filter.Port(443), node) {
			found = append(found, cause(a.ID+" denies 443 to the cluster's subnets", checkid.NACLEgress))
		}
		if denies(a, true, filter.Ephemeral(s.Node.Windows), node) {
			found = append(found, cause(a.ID+" denies the control plane's answers", checkid.NACLReturn))
		}
	}
	return found
}

// natACL is the same for the NAT gateway's subnet, where that is one of the
// cluster's.
func natACL(s Subject, f *filter.Filters) []Finding {
	kind, row := branch(s)
	nat, ok := find(s.Account.NATGateways, func(n snapshot.NATGateway) bool { return n.ID == row.Target.ID })
	if kind != snapshot.ToNATGateway || !ok || !slices.Contains(s.Account.Cluster.Subnets, nat.Subnet) {
		return nil
	}
	a, ok := f.ACL(nat.Subnet)
	if !ok {
		return nil
	}
	var found []Finding
	if denies(a, true, filter.Port(443), filter.Internet()) {
		found = append(found, cause(a.ID+" denies 443 out", checkid.NACLEgress))
	}
	if denies(a, false, filter.EphemeralNAT(), filter.Internet()) {
		found = append(found, cause(a.ID+" denies answers to "+nat.ID, checkid.NACLReturn))
	}
	return found
}

// denies reports whether an ACL shuts all or some of the ports for all of remote.
func denies(a snapshot.NetworkACL, egress bool, ports filter.Ports, remote []netip.Prefix) bool {
	return len(filter.Sum(filter.Decide(a, egress, filter.TCP, ports, remote)).Shut) > 0
}

// gates are what ends a run before its checks (document, lines 28 to 110).
func gates(s Subject) (Report, bool) {
	c := s.Account.Cluster
	if c.Status != "" && c.Status != "ACTIVE" {
		// The report still says that the cluster is not ACTIVE.
		f := cause("the cluster is "+c.Status, checkid.ClusterHealth)
		f.Step = "0"
		return Report{Stopped: "the cluster is not ACTIVE", Findings: []Finding{f}}, true
	}
	if s.Node.State != "running" {
		// The document asks for a running instance; that it has ended is said,
		// why is not.
		f := symptom("the instance is "+s.Node.State, checkid.InstanceEndedEarly)
		f.Step = "0"
		return Report{Stopped: "the instance is not running", Findings: []Finding{f}}, true
	}
	if os := unsupported(s); os != "" {
		return Report{Stopped: os + " is not supported"}, true
	}
	return Report{}, false
}

// unsupported is the operating system that the document excludes, or "".
func unsupported(s Subject) string {
	if s.Node.Windows {
		return "Windows"
	}
	image, _ := imageOf(s)
	if strings.Contains(strings.ToLower(image.Name), "bottlerocket") {
		return "Bottlerocket"
	}
	for _, n := range s.Account.Nodegroups {
		if n.Name != "" && n.Name == s.Node.Tags["eks:nodegroup-name"] && strings.HasPrefix(n.AMIType, "BOTTLEROCKET") {
			return "Bottlerocket"
		}
	}
	return ""
}

func imageOf(s Subject) (snapshot.Image, bool) {
	return find(s.Account.Images, func(i snapshot.Image) bool { return i.ID == s.Node.AMI })
}

func find[T any](list []T, is func(T) bool) (T, bool) {
	for _, v := range list {
		if is(v) {
			return v, true
		}
	}
	var none T
	return none, false
}

// userData is step 12.
func userData(s Subject) answer {
	u, ok := find(s.Account.UserData, func(u snapshot.UserData) bool { return slices.Contains(u.Instances, s.Node.ID) })
	if !ok {
		return skipped("the user data could not be read")
	}
	bad := func(format string, args ...any) answer {
		return flagged(cause(fmt.Sprintf(format, args...), checkid.InstanceUserData))
	}
	d, err := userdata.Decode(u.Data)
	c := s.Account.Cluster
	switch {
	case s.Ready && d.Empty():
		return skipped("not knowable: the world does not draw the user data of this node")
	case err != nil || len(d.Faults) > 0:
		return bad("the user data cannot be read")
	case !d.Joins() && len(d.Scripted) == 0:
		return bad("no call of bootstrap.sh and no NodeConfig")
	case d.Name.Known() && d.Name.Value != c.Name:
		return bad("the user data names another cluster")
	case wrongFormat(s, d):
		return bad("bootstrap.sh on AL2023, or a NodeConfig on AL2")
	case d.Endpoint.Known() && c.Endpoint != "" && !strings.EqualFold(strings.TrimRight(d.Endpoint.Value, "/"), c.Endpoint):
		return bad("the user data has another endpoint")
	case d.CA.Known() && len(c.CA) > 0 && !sameCA(d.CA.Value, c.CA):
		return bad("the user data has another certificate authority")
	case d.ServiceCIDR.Known() && c.ServiceCIDR.IsValid() && d.ServiceCIDR.Value != c.ServiceCIDR.String():
		return bad("the user data has another service range")
	}
	return passed()
}

// wrongFormat reports whether the user data is for the other Amazon Linux.
func wrongFormat(s Subject, d userdata.Document) bool {
	image, _ := imageOf(s)
	switch {
	case strings.Contains(image.Name, "al2023"):
		return d.Has(userdata.Bootstrap) && !d.Has(userdata.NodeConfig)
	case strings.HasPrefix(image.Name, al2):
		return d.Has(userdata.NodeConfig) && !d.Has(userdata.Bootstrap)
	}
	return false
}

func sameCA(given string, ca []byte) bool {
	return slices.EqualFunc(userdata.Authorities(given), userdata.Certificates(ca), bytes.Equal)
}

// nodeTags is step 13.
func nodeTags(s Subject) answer {
	key := "kubernetes.io/cluster/" + s.Account.Cluster.Name
	if _, ok := s.Node.Tags[key]; !ok {
		return flagged(cause("the tag "+key+" is missing", checkid.InstanceClusterTag))
	}
	return passed()
}

// al2 begins the names of EKS's images with Amazon Linux 2: a version follows.
const al2 = "amazon-eks-node-1."

// nodeAMI is step 14: the image is held against the public ones of EKS.
func nodeAMI(s Subject) answer {
	image, ok := imageOf(s)
	switch {
	case !ok || image.State != "available":
		return flagged(cause(s.Node.AMI+" is not available", checkid.InstanceAMI))
	case image.OwnerAlias != "amazon" || !strings.HasPrefix(image.Name, "amazon-eks-"):
		return flagged(cause(image.ID+" is no image of EKS", checkid.InstanceAMI))
	case !image.Deprecated.IsZero() && image.Deprecated.Before(s.Account.Time):
		return flagged(cause(image.ID+" is deprecated", checkid.InstanceAMI))
	}
	// EKS publishes no image with Amazon Linux 2 since 26 November 2025 (EKS user guide).
	if strings.HasPrefix(image.Name, al2) && s.Account.Time.After(time.Date(2025, 11, 26, 0, 0, 0, 0, time.UTC)) {
		return flagged(cause(image.ID+" has Amazon Linux 2", checkid.InstanceAMI))
	}
	node, okNode := minor(image.Name)
	cluster, okCluster := minor("-" + s.Account.Cluster.Version + "-")
	// A kubelet may be three minor versions older, and none newer (Kubernetes
	// version skew policy).
	if okNode && okCluster && (node > cluster || node < cluster-3) {
		return flagged(cause(fmt.Sprintf("the image is for 1.%d, the cluster is 1.%d", node, cluster), checkid.InstanceAMI, checkid.InstanceVersionSkew))
	}
	return passed()
}

func minor(name string) (int, bool) {
	m := regexp.MustCompile(`-1\.(\d+)-`).FindStringSubmatch(name)
	if m == nil {
		return 0, false
	}
	n, err := strconv.Atoi(m[1])
	return n, err == nil
}

// nodeCNI is step 15.
func nodeCNI(s Subject) answer {
	if s.Secondary > 0 {
		return passed()
	}
	if s.Ready {
		return skipped("not knowable: the world does not draw the interfaces of this node")
	}
	return flagged(symptom("no secondary addresses on the node", checkid.NodeCNINotReady, checkid.IAMCNIRolePolicies))
}

// stsEndpoint is step 19. No API returns whether STS is on in a region; the
// runbook would call it. What a node that is not Ready wrote of it stands for
// that call.
func stsEndpoint(s Subject) answer {
	if s.Ready {
		return passed()
	}
	c, _ := find(s.Account.Consoles, func(c snapshot.Console) bool { return c.Instance == s.Node.ID })
	for _, line := range []string{"RegionDisabledException", "STS is not activated"} {
		if strings.Contains(c.Text, line) {
			return flagged(cause("STS is not active in the region", checkid.IAMSTSRegionDeactivated, checkid.IAMSTSEndpoint))
		}
	}
	return passed()
}

// imds is step 20.
func imds(s Subject) answer {
	if s.Node.Metadata.Endpoint == "disabled" {
		return flagged(cause("the metadata endpoint is disabled", checkid.InstanceIMDS))
	}
	return passed()
}

// instanceProfile is step 10.
func instanceProfile(s Subject) answer {
	role, ok := roleOf(s)
	if !ok {
		return flagged(cause("no instance profile with a role", checkid.IAMProfileMissing))
	}
	var found []Finding
	cni := "ec2:AttachNetworkInterface"
	if s.Account.Cluster.IPv6 {
		cni = "ec2:AssignIpv6Addresses" // the CNI's policy for IPv6 attaches nothing
	}
	for _, n := range []struct {
		what    string
		actions []string
		names   []checkid.ID
	}{
		{"worker node", []string{"ec2:DescribeInstances"}, field(checkid.IAMRolePolicies)},
		{"image pull", []string{"ecr:GetAuthorizationToken", "ecr:BatchGetImage"}, field(checkid.IAMRolePolicies)},
		{"CNI", []string{cni}, field(checkid.IAMRolePolicies, checkid.IAMCNIRolePolicies)},
	} {
		if slices.ContainsFunc(n.actions, func(action string) bool { return !allows(s, role, action) }) {
			found = append(found, cause("the node role lacks the "+n.what+" policy", n.names...))
		}
	}
	if !assumed(s, role) {
		found = append(found, cause("EC2 may not assume the node role", checkid.IAMRoleTrust))
	}
	// A path hurts where the role is mapped in aws-auth alone.
	if role.Path != "" && role.Path != "/" && s.Account.Cluster.AuthMode == "CONFIG_MAP" {
		found = append(found, cause("the node role has a path", checkid.IAMAccessWrongARN))
	}
	return flagged(found...)
}

func roleOf(s Subject) (snapshot.Role, bool) {
	p, ok := find(s.Account.Profiles, func(p snapshot.Profile) bool { return p.ARN == s.Node.Profile })
	if !ok || s.Node.Profile == "" || len(p.Roles) == 0 {
		return snapshot.Role{}, false
	}
	return find(s.Account.Roles, func(r snapshot.Role) bool { return r.ARN == p.Roles[0] })
}

// allows reports whether the role's policies allow it; what hangs on a condition is
// taken as allowed.
func allows(s Subject, role snapshot.Role, action string) bool {
	var list []policy.Document
	for _, p := range role.Policies {
		d, err := policy.Parse(p.Document)
		if err != nil {
			return true
		}
		list = append(list, d)
	}
	var limits []policy.Document
	if role.Boundary != nil {
		d, err := policy.Parse(role.Boundary.Document)
		if err != nil {
			return true
		}
		limits = append(limits, d)
	}
	v := policy.Effective(list, limits, policy.Request{
		Action: action, Resource: policy.Unscoped, Caller: policy.Caller{ARN: role.ARN, Account: s.Account.Account},
	}).Verdict
	return v == policy.Allowed || v == policy.Depends
}

func assumed(s Subject, role snapshot.Role) bool {
	d, err := policy.Parse(role.Trust)
	if err != nil {
		return false
	}
	service := "ec2.amazonaws.com"
	if s.Account.Partition == "aws-cn" {
		service += ".cn"
	}
	v := d.Decide(policy.Request{Action: "sts:AssumeRole", Resource: policy.Unscoped, Caller: policy.Caller{Service: service}}).Verdict
	return v == policy.Allowed || v == policy.Depends
}

// accessEntries is step 11.
func accessEntries(s Subject) answer {
	mode := s.Account.Cluster.AuthMode
	if mode == "" || mode == "CONFIG_MAP" {
		return skipped("the cluster has no access entries")
	}
	role, ok := roleOf(s)
	if !ok {
		return skipped("the instance has no role")
	}
	if !slices.Contains(s.Account.Principals, role.ARN) {
		// An access entry would also do where aws-auth is what is wrong.
		return flagged(cause(role.ARN+" has no access entry", checkid.IAMAccessMissing, checkid.IAMAccessWrongARN, checkid.IAMAWSAuthInvalid, checkid.IAMAccessDuplicateMapping))
	}
	e, ok := find(s.Account.AccessEntries, func(e snapshot.AccessEntry) bool { return e.Principal == role.ARN })
	if ok && !strings.HasPrefix(e.Type, "EC2") {
		return flagged(cause("the access entry is "+e.Type, checkid.IAMAccessWrongType))
	}
	return passed()
}

// somewhere stands for the public addresses of AWS.
func somewhere() netip.Addr { return netip.AddrFrom4([4]byte{52, 94, 0, 1}) }

// noDefault is the branch of a subnet without a default route.
const noDefault snapshot.TargetKind = "no default route"

// branch is the one of the three network checks that a run takes (document,
// line 353): a transit gateway, a NAT instance and the like are none of them.
func branch(s Subject) (kind snapshot.TargetKind, row snapshot.Route) {
	table, ok := path.New(s.Account).Table(s.Node.Subnet)
	if !ok {
		return "", row
	}
	row, ok = path.Best(table.Routes, somewhere(), nil)
	if !ok {
		return noDefault, row
	}
	return row.Target.Kind, row
}

// private is step 9a. That the gateway must be public is from the code of
// 2022; that its own subnet must lead out is the description's "connectivity
// through NAT gateway" read in its favour.
func private(s Subject) answer {
	kind, row := branch(s)
	if kind != snapshot.ToNATGateway {
		return passed()
	}
	nat, ok := find(s.Account.NATGateways, func(n snapshot.NATGateway) bool { return n.ID == row.Target.ID })
	switch {
	case !ok && row.State != "blackhole":
		return skipped("the NAT gateway is another account's")
	case !ok || nat.State != "available":
		return flagged(cause(row.Target.ID+" is not available", checkid.RouteNATUnusable, checkid.RouteBlackhole))
	case !nat.Public:
		return flagged(cause(nat.ID+" is a private NAT gateway", checkid.RouteNATUnusable))
	case nat.Subnet != "" && !leadsOut(s, nat):
		return flagged(cause("the subnet of "+nat.ID+" has no way to an internet gateway of its VPC", checkid.RouteNATNoInternet, checkid.RouteIGWDetached))
	}
	var from []netip.Addr
	for _, a := range nat.Addresses {
		from = append(from, a.IP)
	}
	return publicOnly(s, from)
}

func leadsOut(s Subject, nat snapshot.NATGateway) bool {
	table, ok := path.New(s.Account).Table(nat.Subnet)
	if !ok {
		return true // not seen: nothing to warn of
	}
	row, ok := path.Best(table.Routes, somewhere(), nil)
	return ok && row.State != "blackhole" && row.Target.Kind == snapshot.ToInternetGateway && attached(s, row.Target.ID)
}

func attached(s Subject, id string) bool {
	g, ok := find(s.Account.InternetGateways, func(g snapshot.InternetGateway) bool { return g.ID == id })
	return ok && slices.Contains(g.Attached, s.Node.VPC)
}

// public is step 9b.
func public(s Subject) answer {
	kind, row := branch(s)
	switch {
	case kind != snapshot.ToInternetGateway:
		return passed()
	case row.State == "blackhole" || !attached(s, row.Target.ID):
		return flagged(cause(row.Target.ID+" is not attached to "+s.Node.VPC, checkid.RouteIGWDetached, checkid.RouteBlackhole))
	case !s.Node.PublicIP.IsValid():
		return flagged(cause(s.Node.ID+" has no public address", checkid.RouteIGWNoPublicIP))
	}
	return publicOnly(s, []netip.Addr{s.Node.PublicIP})
}

// publicOnly is what both steps do with the input ClusterPublicOnly: in the
// code of 2022 the ranges are held against the node's address.
func publicOnly(s Subject, from []netip.Addr) answer {
	c := s.Account.Cluster
	if c.EndpointPrivate || !c.EndpointPublic || len(c.PublicAccessCIDRs) == 0 {
		return passed()
	}
	for _, a := range from {
		if !slices.ContainsFunc(c.PublicAccessCIDRs, func(p netip.Prefix) bool { return p.Contains(a) }) {
			return flagged(cause(a.String()+" is not in the ranges of the public endpoint", checkid.RouteAPIPublicCIDR))
		}
	}
	return passed()
}

// endpoints is step 9c. Policies are not looked at; private DNS and the state
// are taken as part of "connectivity".
func endpoints(s Subject) answer {
	if kind, _ := branch(s); kind != noDefault {
		return passed()
	}
	var found []Finding
	for _, service := range []string{"ec2", "ecr.api", "ecr.dkr", "sts", "s3"} {
		if f, bad := endpoint(s, service); bad {
			found = append(found, f)
		}
	}
	return flagged(found...)
}

func endpoint(s Subject, service string) (Finding, bool) {
	var worst Finding
	fault := func(text string, names ...checkid.ID) { worst = cause(text, names...) }
	fault("no endpoint for "+service, checkid.EndpointMissing, checkid.RouteNoEgress)
	table, _ := path.New(s.Account).Table(s.Node.Subnet)
	filters := filter.New(s.Account)
	for _, e := range s.Account.Endpoints {
		if e.VPC != s.Node.VPC || !strings.HasSuffix(e.Service, "."+s.Account.Region+"."+service) {
			continue
		}
		switch {
		case !path.Available(e):
			fault(e.ID+" is "+e.State, checkid.EndpointNotAvailable)
		case e.Kind == "Gateway" && !path.InTable(e, table.RouteTable):
			fault(e.ID+" is not in the subnet's route table", checkid.EndpointS3RouteMissing)
		case e.Kind == "Interface" && !e.PrivateDNS:
			fault(e.ID+" has private DNS off", checkid.EndpointPrivateDNSOff)
		case e.Kind == "Interface" && filters.Inbound(e.Groups, peer(s.Node), filter.TCP, 443).Admits == filter.None:
			fault(e.ID+" does not admit 443 from the node", checkid.EndpointSecurityGroup)
		default:
			return Finding{}, false
		}
	}
	return worst, true
}

// peer is the node as the other end of a connection.
func peer(in snapshot.Instance) filter.Peer {
	p := filter.Peer{Groups: in.Groups}
	if in.PrivateIP.IsValid() {
		p.Ranges = []netip.Prefix{netip.PrefixFrom(in.PrivateIP, in.PrivateIP.BitLen())}
	}
	return p
}

// Document is the text that is modelled: an automatic mirror of AWS's public
// documents. Lines are lines of it.
const Document = "https://github.com/ceshihao/ssm-public-documents/blob/85e10c9/documents/AWSSupport-TroubleshootEKSWorkerNode.json"

// Step is a step of the document.
type Step struct {
	Number string
	Name   string
	// Line is where the step begins in the document.
	Line int
	// Checks are Rollcall's for the same.
	Checks []checkid.ID
	// Note says what the model takes for granted, or what it cannot know.
	Note  string
	judge func(Subject) answer
}

// Steps are all steps, in the order of the document.
func Steps() []Step {
	return []Step{
		{"0", "GatherClusterNodeData and its branches", 28, field(checkid.ClusterHealth, checkid.InstanceEndedEarly), "no check runs unless the cluster is ACTIVE and the instance is running; of one that has ended it says that, not why", nil},
		{"1", "CheckClusterSecurityGroup", 111, field(checkid.SGClusterIngress), "443 from the node's address or groups", clusterGroups},
		{"2", "CheckDHCPOptions", 142, field(checkid.DNSDHCPOptions), "Amazon's name server and one domain name", dhcpOptions},
		{"3", "CheckClusterIAMRole", 172, nil, "not knowable: the worlds do not hold the cluster's own role", unknowable("the worlds do not hold the cluster's own role")},
		{"4", "CheckManagedAddons", 202, field(checkid.AddonDegraded), "status and health issues", addons},
		{"5", "CheckClusterENIs", 232, nil, "not knowable where a world does not draw the control plane's interfaces", clusterInterfaces},
		{"6", "CheckVPCDNS", 262, field(checkid.DNSSupportOff, checkid.DNSHostnamesOff), "both attributes, whatever needs them", vpcDNS},
		{"7", "CheckEnhancedInstanceHealth", 292, field(checkid.InstanceStatusCheck, checkid.InstanceScheduledEvent), "EC2's status checks and events", health},
		{"8", "CheckInstanceType", 322, nil, "not knowable: the list of unsupported types is in the attachment", unknowable("the list of types is in the attachment")},
		{"9a", "CheckPrivateNodeConnectivity", 379, field(checkid.RouteBlackhole, checkid.RouteNATUnusable, checkid.RouteNATNoInternet, checkid.RouteIGWDetached, checkid.RouteAPIPublicCIDR), "only if the default route leads to a NAT gateway", private},
		{"9b", "CheckPublicNodeConnectivity", 411, field(checkid.RouteBlackhole, checkid.RouteIGWNoPublicIP, checkid.RouteIGWDetached, checkid.RouteAPIPublicCIDR), "only if it leads to an internet gateway", public},
		{"9c", "CheckVPCEndpointConnectivity", 443, field(checkid.RouteNoEgress, checkid.EndpointMissing, checkid.EndpointSecurityGroup, checkid.EndpointPrivateDNSOff, checkid.EndpointNotAvailable, checkid.EndpointS3RouteMissing), "only if there is no default route", endpoints},
		{"10", "CheckInstanceProfile", 473, field(checkid.IAMProfileMissing, checkid.IAMRolePolicies, checkid.IAMRoleTrust, checkid.IAMCNIRolePolicies, checkid.IAMAccessWrongARN), "policies judged by what they allow, not by name; the CNI's on the node role alone", instanceProfile},
		{"11", "CheckAccessEntries", 503, field(checkid.IAMAccessMissing, checkid.IAMAccessWrongType, checkid.IAMAccessWrongARN, checkid.IAMAWSAuthInvalid, checkid.IAMAccessDuplicateMapping), "not in mode CONFIG_MAP; it does not read aws-auth, but an entry would do instead", accessEntries},
		{"12", "CheckUserData", 534, field(checkid.InstanceUserData), "bootstrap.sh and NodeConfig: form, name, endpoint, CA, service range, the right one for the image", userData},
		{"13", "CheckNodeTags", 565, field(checkid.InstanceClusterTag), "", nodeTags},
		{"14", "CheckNodeAMI", 596, field(checkid.InstanceAMI, checkid.InstanceVersionSkew), "warns of every image that is not a public one of EKS", nodeAMI},
		{"15", "CheckNodeCNI", 627, field(checkid.NodeCNINotReady, checkid.IAMCNIRolePolicies), "a symptom: secondary addresses on the node, which none has before it joined", nodeCNI},
		{"16", "CheckNodeSecurityGroups", 657, field(checkid.SGNodeEgress), "443 and DNS outbound", nodeGroups},
		{"17", "CheckAWSOutposts", 687, nil, "no world is on an Outpost", nil},
		{"18", "CheckNACLs", 717, field(checkid.NACLEgress, checkid.NACLReturn), "443 out and answers back, of the node's and the cluster's subnets", acls},
		{"19", "CheckSTSEndpoint", 748, field(checkid.IAMSTSEndpoint, checkid.IAMSTSRegionDeactivated), "the simulated account cannot be asked; the line on the console stands for it", stsEndpoint},
		{"20", "CheckIMDSEndpoint", 778, field(checkid.InstanceIMDS), "endpoint on or off; not the hop limit", imds},
		{"21", "CheckSystemDaemons", 808, field(checkid.InstanceConsoleError), "needs the SSM agent online; the worlds have no daemons, so its answer is not knowable", daemons},
		{"22", "CheckDNSConnectivity", 839, nil, "needs the SSM agent online; a symptom: what the node cannot reach", connectivity},
		{"23", "AnalyzeEKSEndpointReachability", 886, nil, "off by default; not modelled", nil},
	}
}

// field are the causes that a step is about.
func field(list ...checkid.ID) []checkid.ID { return list }

func unknowable(why string) func(Subject) answer {
	return func(Subject) answer { return skipped("not knowable: " + why) }
}
