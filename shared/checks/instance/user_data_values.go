package instance

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"rollcall/shared/checks/facts"
	"rollcall/shared/checks/finding"
	"rollcall/shared/checks/phrase"
	"rollcall/shared/node/userdata"
	"rollcall/shared/snapshot"
)

// trust is how sure a verdict on a setting can be: what a script may change
// after it, or an image may read otherwise, is not certain.
func trust(st *facts.BootConfig, i *snapshot.Instance, t *facts.DecodedUserData) finding.Confidence {
	family, _ := st.Family(i)
	followed := !slices.ContainsFunc(t.Scripted, func(s string) bool { return s != "a script from elsewhere" })
	alone := !t.Has(userdata.NodeConfig) || !t.Has(userdata.Bootstrap)
	// EKS adds its part behind what the node group's own template says.
	group, _ := st.Nodegroup(i)
	merges, known := st.Merges(i)
	draft := group != nil && group.Template.ID != "" && strings.HasPrefix(t.From, group.Template.ID+" ") && (merges || !known)
	// Who launches without a group may override what the template says, in RunInstances as
	// in CreateFleet (EC2 API reference, FleetLaunchTemplateOverridesRequest UserData).
	others := t.From != i.ID && i.Tags["aws:autoscaling:groupName"] == "" && i.Tags["karpenter.sh/nodepool"] == ""
	if draft || others || family == "" || t.Branch || t.Calls > 1 || t.Later > 0 || t.Nested || !followed || !alone {
		return finding.Likely
	}
	return finding.Certain
}

// lacking are required settings that are not there. Added tells that EKS may
// add its own part to what is seen.
func lacking(st *facts.BootConfig, i *snapshot.Instance, t *facts.DecodedUserData, added bool) []flaw {
	type field struct {
		name string
		is   userdata.Setting
	}
	var required []field
	var where string
	switch {
	case t.Has(userdata.NodeConfig):
		where = "spec.cluster"
		required = []field{{"name", t.Name}, {"apiServerEndpoint", t.Endpoint}, {"certificateAuthority", t.CA}, {"cidr", t.ServiceCIDR}}
	case t.Has(userdata.Bottlerocket):
		where = "settings.kubernetes"
		required = []field{{"cluster-name", t.Name}, {"api-server", t.Endpoint}, {"cluster-certificate", t.CA}}
	case t.Has(userdata.Bootstrap):
		where, required = "bootstrap.sh", []field{{"the cluster's name", t.Name}}
	case t.Has(userdata.Windows):
		where, required = "Start-EKSBootstrap.ps1", []field{{"-EKSClusterName", t.Name}}
	}
	var lost []string
	for _, f := range required {
		if !f.is.Computed && f.is.Value == "" {
			lost = append(lost, f.name)
		}
	}
	// The part of EKS has all of them.
	partly := strings.HasPrefix(t.From, "lt-") || len(required) > 1 && len(lost) == len(required)
	if len(lost) == 0 || added && partly {
		return nil
	}
	sure := trust(st, i, t)
	if _, stock := st.Family(i); !stock {
		sure = finding.Likely // an image of one's own may have the rest in itself
	}
	return []flaw{{
		sure: sure, says: "lacks " + phrase.And(lost),
		why:      fmt.Sprintf("%s has no %s, without which %s does not start to join.", where, phrase.And(lost), i.ID),
		evidence: []finding.Evidence{{What: where, Value: "lacks " + phrase.And(lost)}},
		fix:      fmt.Sprintf("Add %s to %s.", phrase.And(lost), where),
	}}
}

// wrong are settings that are not the cluster's.
func wrong(st *facts.BootConfig, i *snapshot.Instance, t *facts.DecodedUserData) []flaw {
	cluster := st.S.Cluster
	trust := trust(st, i, t)
	var list []flaw
	if t.Name.Known() && t.Name.Value != "" && cluster.Name != "" && t.Name.Value != cluster.Name {
		sure := trust
		if !st.Belongs(i) {
			sure = finding.Likely
		}
		list = append(list, differs(sure, "cluster name", shortened(t.Name.Value), cluster.Name,
			"It asks to join another cluster, and its token is for that one"))
	}
	if t.Describes && !t.Has(userdata.NodeConfig) {
		return list // EKS is asked for the rest
	}
	proxy := false
	if t.Endpoint.Known() && t.Endpoint.Value != "" && cluster.Endpoint != "" && !sameEndpoint(t.Endpoint.Value, cluster.Endpoint) {
		sure := trust
		if proxy = !strings.Contains(endpointHost(t.Endpoint.Value), ".eks."); proxy {
			sure = finding.Likely // somebody's name for the endpoint, or a proxy before it
		}
		list = append(list, differs(sure, "endpoint", shortened(t.Endpoint.Value), cluster.Endpoint, "It calls another address than the cluster's"))
	}
	if f, ok := authority(st, t, trust); ok {
		if proxy {
			f.sure = finding.Likely
		}
		list = append(list, f)
	}
	if f, ok := serviceRange(t, cluster.ServiceCIDR, trust); ok {
		list = append(list, f)
	} else if f, ok := ipFamily(t, cluster.IPv6, trust); ok {
		list = append(list, f)
	}
	return list
}

func differs(sure finding.Confidence, what, got, want, meaning string) flaw {
	return flaw{
		sure: sure, says: fmt.Sprintf("has the wrong %s", what),
		why:      fmt.Sprintf("%s: the %s in it is %s, and the cluster's is %s.", meaning, what, got, want),
		evidence: []finding.Evidence{{What: "The " + what + " in user data", Value: got}, {What: "The " + what + " of the cluster", Value: want}},
		fix:      fmt.Sprintf("Set the %s to %s.", what, want),
	}
}

func shortened(s string) string {
	const limit = 120
	if runes := []rune(s); len(runes) > limit {
		return string(runes[:limit]) + "…"
	}
	return s
}

// endpointHost is the host of an endpoint, in small letters.
func endpointHost(endpoint string) string {
	s := strings.ToLower(strings.TrimSpace(endpoint))
	if _, rest, ok := strings.Cut(s, "://"); ok {
		s = rest
	}
	s, _, _ = strings.Cut(s, "/")
	return strings.TrimSuffix(strings.TrimSuffix(s, ":443"), ".")
}

// sameEndpoint compares hosts. A cluster has one name for IPv4 and one for
// both families, which begin with the same label.
func sameEndpoint(a, b string) bool {
	x, _, _ := strings.Cut(endpointHost(a), ".")
	y, _, _ := strings.Cut(endpointHost(b), ".")
	return endpointHost(a) == endpointHost(b) || x == y && len(x) >= 32
}

// authority compares certificates, not text. More than one may be given.
func authority(st *facts.BootConfig, t *facts.DecodedUserData, trust finding.Confidence) (flaw, bool) {
	want := userdata.Certificates(st.S.Cluster.CA)
	if !t.CA.Known() || t.CA.Value == "" || len(want) == 0 {
		return flaw{}, false
	}
	got := userdata.Authorities(t.CA.Value)
	for _, c := range got {
		if slices.ContainsFunc(want, func(w []byte) bool { return bytes.Equal(w, c) }) {
			return flaw{}, false
		}
	}
	value := "no certificate in PEM and base64"
	if len(got) > 0 {
		value = fingerprint(got[0])
	}
	return differs(trust, "certificate authority", value, fingerprint(want[0]), "It does not trust the cluster's endpoint"), true
}

func fingerprint(der []byte) string {
	sum := sha256.Sum256(der)
	return fmt.Sprintf("SHA-256 %x…", sum[:8])
}

// serviceRange compares the range of services. Of the same family it only
// makes the address of the cluster's DNS: the node may join, and its pods
// resolve nothing.
func serviceRange(t *facts.DecodedUserData, want netip.Prefix, trust finding.Confidence) (flaw, bool) {
	if !t.ServiceCIDR.Known() || t.ServiceCIDR.Value == "" {
		return flaw{}, false
	}
	got, err := netip.ParsePrefix(t.ServiceCIDR.Value)
	switch {
	case err != nil:
		return differs(trust, "service range", shortened(t.ServiceCIDR.Value), prefixOr(want), "It is no range in CIDR notation"), true
	case !want.IsValid() || got.Masked() == want.Masked():
		return flaw{}, false
	case got.Addr().Is4() != want.Addr().Is4():
		return differs(trust, "service range", got.String(), want.String(), "The kubelet takes the node's address from the wrong family"), true
	}
	return differs(finding.Likely, "service range", got.String(), want.String(), "The kubelet gives pods a DNS address that nobody has"), true
}

// ipFamily compares the family that bootstrap.sh works with, where it asks EKS nothing: it
// is IPv4 unless it is told (templates/al2/runtime/bootstrap.sh of
// github.com/awslabs/amazon-eks-ami: "Using IP family"), and decides which address of the
// node the kubelet reports and where pods look for the cluster's DNS. With ipv6 it ends
// where neither --service-ipv6-cidr nor --dns-cluster-ip is given.
func ipFamily(t *facts.DecodedUserData, six bool, trust finding.Confidence) (flaw, bool) {
	if !t.Has(userdata.Bootstrap) || t.Has(userdata.NodeConfig) || t.Family.Computed || t.ServiceCIDR.Computed {
		return flaw{}, false
	}
	got, want, fix := "ipv4", "ipv4", "Leave --ip-family and --service-ipv6-cidr out, and replace the instances."
	if t.Family.Value == "ipv6" {
		got = "ipv6"
	}
	if six {
		want, fix = "ipv6", "Give bootstrap.sh --ip-family ipv6 and --service-ipv6-cidr with the cluster's service range, or leave --apiserver-endpoint and --b64-cluster-ca out: it then asks EKS."
	}
	f := flaw{
		sure: trust, says: "is for the other IP family",
		why:      fmt.Sprintf("bootstrap.sh is given the endpoint and the certificate authority, so it asks EKS nothing and sets the node up for %s; the cluster's family is %s. The kubelet reports an address of the wrong family.", got, want),
		evidence: []finding.Evidence{{What: "IP family of bootstrap.sh", Value: cmp.Or(t.Family.Value, "ipv4, as --ip-family is not given")}, {What: "IP family of the cluster", Value: want}},
		fix:      fix,
	}
	switch {
	case got != want:
		return f, true
	case six && t.ServiceCIDR.Value == "" && len(t.DNS) == 0:
		f.says = "lacks --service-ipv6-cidr"
		f.why = "bootstrap.sh is given --ip-family ipv6, and neither --service-ipv6-cidr nor --dns-cluster-ip: it ends with an error."
		return f, true
	}
	return flaw{}, false
}

func prefixOr(p netip.Prefix) string {
	if !p.IsValid() {
		return "not known"
	}
	return p.String()
}
