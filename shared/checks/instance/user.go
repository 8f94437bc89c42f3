package instance

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"crypto/x509"
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strings"

	"rollcall/shared/checks/check"
	"rollcall/shared/node/userdata"
	"rollcall/shared/shell"
	"rollcall/shared/snapshot"
)

// flaw is one thing that is wrong with an instance's user data.
type flaw struct {
	sure check.Confidence
	// titleEnd ends the title: "User data of lt-0a says …".
	titleEnd string
	why      string
	evidence []check.Evidence
	fix      string
}

func runUserData(s *check.View) []check.Finding {
	st := s.Boot()
	suspects, well := st.S.Pending()
	o := newSorting(st, well)
	var order, inDoubt []string
	groups := map[string]*check.DecodedUserData{}
	flaws := map[string][]flaw{}
	members := map[string][]*snapshot.Instance{}
	for _, i := range suspects {
		if st.S.Index().Nodes[i.ID] != nil {
			o.pass(i) // it registered with what it was told: the node failed later
			continue
		}
		t, why := st.Data(i)
		if t == nil {
			o.unread(i, why)
			continue
		}
		found, why := judge(st, i, t)
		switch {
		case len(found) > 0:
			if f, denied := st.Denied(i); denied {
				found = fromTemplate(found, f)
			}
			key := st.Origin(i)
			for _, f := range found {
				key += "\n" + string(f.sure) + f.titleEnd
			}
			if groups[key] == nil {
				order = append(order, key)
				groups[key], flaws[key] = t, found
			}
			members[key] = append(members[key], i)
		case why.Source != "":
			o.unread(i, why)
		case len(t.Scripted) > 0:
			inDoubt = append(inDoubt, i.ID)
		default:
			o.pass(i)
		}
	}
	list := o.rest()
	if len(inDoubt) > 0 {
		list = append(list, check.Passed(s.Cluster.Name, inDoubt...).
			Noting("User data", "all comparable values match; its scripts do more than can be followed"))
	}
	for _, key := range order {
		list = append(list, userDataFinding(st, members[key], groups[key], flaws[key]))
	}
	return list
}

// fromTemplate are flaws of a launch template's user data where the instance's own was not
// read.
func fromTemplate(list []flaw, why snapshot.Failure) []flaw {
	list = slices.Clone(list)
	for k := range list {
		if list[k].sure == check.Certain {
			list[k].sure = check.Likely
		}
	}
	list[0].evidence = append(slices.Clone(list[0].evidence), check.Evidence{What: "User data of the instance", Value: fmt.Sprintf("not checked: %s %s", why.Call, why.Reason)})
	return list
}

// strength orders confidences, the strongest first.
func strength(c check.Confidence) int {
	return slices.Index([]check.Confidence{check.Certain, check.Likely, check.Possible}, c)
}

func userDataFinding(st *check.BootConfig, of []*snapshot.Instance, t *check.DecodedUserData, flaws []flaw) check.Finding {
	slices.SortStableFunc(flaws, func(a, b flaw) int { return cmp.Compare(strength(a.sure), strength(b.sure)) })
	first := flaws[0]
	origin := st.Origin(of[0])
	f := check.Failed(origin, check.IDs(of)...).Affecting(check.IDs(of)...).
		Titled("User data of %s %s", origin, first.titleEnd)
	if first.sure != check.Certain {
		f.Confidence = first.sure
	}
	var why []string
	for _, w := range flaws {
		why = append(why, w.why)
		f = f.Showing(w.evidence...)
	}
	f.Why = strings.Join(why, " ")
	kinds := make([]string, len(t.Kinds))
	for n, k := range t.Kinds {
		kinds[n] = string(k)
	}
	f = f.Noting("User data, read from "+t.From, cmp.Or(check.And(kinds), "empty"))
	f = f.Showing(image(st, of[0]))
	f.Fix = check.Fix{Text: first.fix, Console: console(st, origin)}
	if len(flaws) > 1 {
		f.Fix.Text = "Correct all of these. " + first.fix
	}
	if strings.HasPrefix(origin, "lt-") {
		f.Resources = []string{of[0].AMI}
		f.Fix.Text += fmt.Sprintf(" Make a new version of %s, use it in the group, and replace the instances: user data is read at the first start only.", origin)
		f.Fix.Command = shell.Pipe(st.S.AWSCommand("ec2 describe-launch-template-versions", "--launch-template-id", origin, "--versions", "$Latest",
			"--query", "LaunchTemplateVersions[0].LaunchTemplateData.UserData", "--output", "text"), "base64 -d")
	}
	return f
}

// image is the evidence of what image an instance runs.
func image(st *check.BootConfig, i *snapshot.Instance) check.Evidence {
	value := "its name and owner could not be read"
	if image := st.Images[i.AMI]; image != nil {
		value = fmt.Sprintf("%s, of %s", image.Name, cmp.Or(image.OwnerAlias, image.Owner))
	} else if why := st.S.Why(snapshot.LaunchedImagesOf); !st.S.Has(snapshot.LaunchedImagesOf) && why.Call != "" {
		value += fmt.Sprintf(" (not checked: %s %s)", why.Call, why.Reason)
	}
	if group, _ := st.Nodegroup(i); group != nil && group.AMIType != "" {
		value += "; AMI type " + group.AMIType
	}
	return check.Evidence{What: "Image " + i.AMI, Value: value}
}

func console(st *check.BootConfig, origin string) string {
	if strings.HasPrefix(origin, "lt-") {
		return st.S.EC2Link("LaunchTemplateDetails:launchTemplateId=" + origin)
	}
	return st.S.EC2Link("InstanceDetails:instanceId=" + origin)
}

// judge is what is wrong with an instance's user data. A failure with a source
// is why it cannot be told; neither means that nothing is wrong.
func judge(st *check.BootConfig, i *snapshot.Instance, t *check.DecodedUserData) ([]flaw, snapshot.Failure) {
	if t.Err != nil {
		return nil, t.Undecoded()
	}
	merges, known := st.Merges(i)
	if !t.Joins() {
		if found := refused(t, familyName(st, i)); len(found) > 0 {
			return found, snapshot.Failure{}
		}
		switch {
		case !known:
			return nil, unread(st, i)
		case merges:
			// What is seen is the user's part; EKS's own part is beside it.
			return nil, snapshot.Failure{}
		}
		return without(st, i, t)
	}
	if f, ok := forAnother(st, i, t, merges); ok {
		return []flaw{f}, snapshot.Failure{}
	}
	found := refused(t, familyName(st, i))
	if len(found) > 0 {
		// What cannot be parsed has no settings to compare.
		return found, snapshot.Failure{}
	}
	found = append(lacking(st, i, t, merges || !known), wrong(st, i, t)...)
	if len(found) == 0 && t.Calls > 1 {
		found = append(found, flaw{
			sure: check.Possible, titleEnd: "bootstraps more than once",
			why:      fmt.Sprintf("It calls the bootstrap script %d times. The last call overwrites the earlier ones, and where EKS adds its own call that is the last.", t.Calls),
			evidence: []check.Evidence{{What: "Calls of the bootstrap script", Value: fmt.Sprint(t.Calls)}},
			fix:      "Keep one call: in a managed node group whose image EKS chooses, EKS's own.",
		})
	}
	return found, snapshot.Failure{}
}

func familyName(st *check.BootConfig, i *snapshot.Instance) string {
	family, _ := st.Family(i)
	return family
}

// unread is why it is not known whether EKS adds its own part.
func unread(st *check.BootConfig, i *snapshot.Instance) snapshot.Failure {
	if !st.S.Has(snapshot.Nodegroups) {
		return st.S.Why(snapshot.Nodegroups)
	}
	return check.NotRead(snapshot.Nodegroups, "node group %s is not among those that were read: whether EKS adds the bootstrap is unknown", i.Tags["eks:nodegroup-name"])
}

// without judges user data with nothing in it that makes a node join, where
// EKS adds nothing.
func without(st *check.BootConfig, i *snapshot.Instance, t *check.DecodedUserData) ([]flaw, snapshot.Failure) {
	family, stock := st.Family(i)
	f := flaw{
		titleEnd: "has no bootstrap", sure: check.Likely,
		evidence: []check.Evidence{{What: "Bootstrap", Value: "none, and EKS adds none here"}},
		fix:      "Add what the image needs to join: " + joinsBy(family) + ".",
	}
	who := "It is in no managed node group, so EKS adds none."
	if _, managed := st.Nodegroup(i); managed {
		who = "The node group has a custom image (AMI type CUSTOM), so EKS adds none."
	}
	switch {
	case joinsWithout(st, i.AMI):
		return nil, snapshot.Failure{} // the image has it in itself
	case !st.S.Has(snapshot.Images):
		return nil, st.S.Why(snapshot.Images)
	case t.Empty() && stock && family != "":
		f.sure, f.titleEnd = check.Certain, "is empty"
		f.why = fmt.Sprintf("Nothing names the cluster that %s should join. %s %s is an Amazon image: it knows no cluster by itself.", i.ID, who, i.AMI)
	case t.Empty():
		f.titleEnd = "is empty"
		f.why = fmt.Sprintf("Nothing names the cluster that %s should join, unless %s has it built in. %s", i.ID, i.AMI, who)
	case t.Has(userdata.Noise):
		return nil, notTold(t, "its format is unknown")
	case len(t.Scripted) > 0:
		return nil, notTold(t, "its script does what cannot be followed ("+strings.Join(t.Scripted, ", ")+")")
	case !stock && t.Speaks:
		return nil, notTold(t, "it calls no bootstrap and mentions a cluster: it may be for a bootstrap that the image has built in")
	case !stock:
		f.why = fmt.Sprintf("It sets the instance up, but nothing in it makes %s join a cluster, unless %s has that built in: no Ready node shows that it has. %s", i.ID, i.AMI, who)
	default:
		f.why = fmt.Sprintf("It sets the instance up, but nothing in it makes %s join a cluster. %s", i.ID, who)
	}
	return []flaw{f}, snapshot.Failure{}
}

func notTold(t *check.DecodedUserData, why string) snapshot.Failure {
	return check.NotRead(snapshot.UserDataOf, "%s: %s", t.From, why)
}

// joinsWithout reports whether a Ready node runs the same image with user data that has no
// bootstrap: a unit of the image joins.
func joinsWithout(st *check.BootConfig, image string) bool {
	return slices.ContainsFunc(st.S.Instances, func(i snapshot.Instance) bool {
		n := st.Nodes[i.ID]
		if i.AMI != image || n == nil || !n.Joined() {
			return false
		}
		t, _ := st.Data(&i)
		if merges, known := st.Merges(&i); merges || !known {
			return false
		}
		return t != nil && t.Err == nil && !t.Joins() && len(t.Scripted) == 0
	})
}

// forAnother judges user data for another kind of image.
func forAnother(st *check.BootConfig, i *snapshot.Instance, t *check.DecodedUserData, merges bool) (flaw, bool) {
	family, stock := st.Family(i)
	want := bootstrapOf(family)
	if want == "" || t.Has(want) {
		return flaw{}, false
	}
	// What was read from a template lacks the part that EKS adds to it.
	if merges && strings.HasPrefix(t.From, "lt-") {
		return flaw{}, false
	}
	kind := t.Kinds[slices.IndexFunc(t.Kinds, func(k userdata.Kind) bool {
		return k == userdata.NodeConfig || k == userdata.Bootstrap || k == userdata.Bottlerocket || k == userdata.Windows
	})]
	f := flaw{
		sure: check.Likely, titleEnd: "is for another kind of image",
		why:      fmt.Sprintf("It has a %s, but %s is %s, which joins with %s.", kind, i.AMI, family, joinsBy(family)),
		evidence: []check.Evidence{{What: "Bootstrap", Value: string(kind)}},
		fix:      "Use " + joinsBy(family) + ".",
	}
	if kind == userdata.Bootstrap && family == check.FamilyAL2023 {
		f.why += " Its bootstrap.sh only prints that it was removed, and exits."
	}
	if stock && len(t.Scripted) == 0 {
		f.sure = check.Certain
	}
	return f, true
}

func bootstrapOf(family string) userdata.Kind {
	switch family {
	case check.FamilyAL2023:
		return userdata.NodeConfig
	case check.FamilyAL2, check.FamilyUbuntu:
		return userdata.Bootstrap
	case check.FamilyBottlerocket:
		return userdata.Bottlerocket
	case check.FamilyWindows:
		return userdata.Windows
	}
	return ""
}

// joinsBy is what makes an image of a family join.
func joinsBy(family string) string {
	switch family {
	case check.FamilyAL2023:
		return "a NodeConfig (name, apiServerEndpoint, certificateAuthority and cidr of the cluster)"
	case check.FamilyAL2, check.FamilyUbuntu:
		return "a call of /etc/eks/bootstrap.sh with the cluster's name"
	case check.FamilyBottlerocket:
		return "settings.kubernetes in TOML (cluster-name, api-server, cluster-certificate)"
	case check.FamilyWindows:
		return "a call of Start-EKSBootstrap.ps1 with -EKSClusterName"
	}
	return "the bootstrap of its family, with the cluster's name, endpoint and certificate authority"
}

// refused are the faults for which the image's reader takes nothing at all.
func refused(t *check.DecodedUserData, family string) []flaw {
	var list []flaw
	for _, fault := range t.Faults {
		sure := check.Likely
		switch fault.Kind {
		case userdata.BadMIME, userdata.BadYAML, userdata.BadVersion, userdata.BadKind, userdata.BadType:
			// nodeadm refuses the whole user data for one bad part.
			if family == check.FamilyAL2023 || family == check.FamilyBottlerocket && fault.Kind == userdata.BadType {
				sure = check.Certain
			}
			if t.Has(userdata.Bootstrap) && fault.Kind == userdata.BadMIME && family != check.FamilyAL2023 {
				continue // cloud-init finds the script all the same
			}
		case userdata.BadTOML:
			if family == check.FamilyBottlerocket {
				sure = check.Certain
			}
		}
		if sure == check.Certain && slices.Contains(t.Scripted, "nodeadm") {
			sure = check.Likely // a script may give nodeadm another configuration
		}
		where := fault.Detail
		if fault.Line > 0 {
			where += fmt.Sprintf(" (line %d)", fault.Line)
		}
		if fault.Part > 0 && !strings.Contains(where, "part ") {
			where += fmt.Sprintf(" in part %d", fault.Part)
		}
		list = append(list, flaw{
			sure: sure, titleEnd: "cannot be read: " + fault.Detail,
			why:      fmt.Sprintf("The instance applies nothing from it: %s.", where),
			evidence: []check.Evidence{{What: string(fault.Kind), Value: where}},
			fix:      "Correct it: " + where + ".",
		})
	}
	return list
}

// trust is how sure a verdict on a setting can be: what a script may change
// after it, or an image may read otherwise, is not certain.
func trust(st *check.BootConfig, i *snapshot.Instance, t *check.DecodedUserData) check.Confidence {
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
		return check.Likely
	}
	return check.Certain
}

// lacking are required settings that are not there. Added reports whether EKS may
// add its own part to what is seen.
func lacking(st *check.BootConfig, i *snapshot.Instance, t *check.DecodedUserData, added bool) []flaw {
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
		sure = check.Likely // an image of one's own may have the rest in itself
	}
	return []flaw{{
		sure: sure, titleEnd: "lacks " + check.And(lost),
		why:      fmt.Sprintf("%s has no %s, without which %s does not start to join.", where, check.And(lost), i.ID),
		evidence: []check.Evidence{{What: where, Value: "lacks " + check.And(lost)}},
		fix:      fmt.Sprintf("Add %s to %s.", check.And(lost), where),
	}}
}

// wrong are settings that are not the cluster's.
func wrong(st *check.BootConfig, i *snapshot.Instance, t *check.DecodedUserData) []flaw {
	cluster := st.S.Cluster
	trust := trust(st, i, t)
	var list []flaw
	if t.Name.Known() && t.Name.Value != "" && cluster.Name != "" && t.Name.Value != cluster.Name {
		sure := trust
		if !st.Belongs(i) {
			sure = check.Likely
		}
		list = append(list, differs(sure, "cluster name", shortened(t.Name.Value), cluster.Name,
			"It joins another cluster, and its token is for that one"))
	}
	if t.Describes && !t.Has(userdata.NodeConfig) {
		return list // EKS is asked for the rest
	}
	proxy := false
	if t.Endpoint.Known() && t.Endpoint.Value != "" && cluster.Endpoint != "" && !sameEndpoint(t.Endpoint.Value, cluster.Endpoint) {
		sure := trust
		if proxy = !strings.Contains(endpointHost(t.Endpoint.Value), ".eks."); proxy {
			sure = check.Likely // a user's name for the endpoint, or a proxy before it
		}
		list = append(list, differs(sure, "endpoint", shortened(t.Endpoint.Value), cluster.Endpoint, "It calls a different address than the cluster's"))
	}
	if f, ok := authority(st, t, trust); ok {
		if proxy {
			f.sure = check.Likely
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

func differs(sure check.Confidence, what, got, want, meaning string) flaw {
	return flaw{
		sure: sure, titleEnd: fmt.Sprintf("has the wrong %s", what),
		why:      fmt.Sprintf("%s: the %s in it is %s, and the cluster's is %s.", meaning, what, got, want),
		evidence: []check.Evidence{{What: "The " + what + " in user data", Value: got}, {What: "The " + what + " of the cluster", Value: want}},
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
func authority(st *check.BootConfig, t *check.DecodedUserData, trust check.Confidence) (flaw, bool) {
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
func serviceRange(t *check.DecodedUserData, want netip.Prefix, trust check.Confidence) (flaw, bool) {
	if !t.ServiceCIDR.Known() || t.ServiceCIDR.Value == "" {
		return flaw{}, false
	}
	got, err := netip.ParsePrefix(t.ServiceCIDR.Value)
	switch {
	case err != nil:
		return differs(trust, "service range", shortened(t.ServiceCIDR.Value), prefixOr(want), "It is not a range in CIDR notation"), true
	case !want.IsValid() || got.Masked() == want.Masked():
		return flaw{}, false
	case got.Addr().Is4() != want.Addr().Is4():
		return differs(trust, "service range", got.String(), want.String(), "The kubelet uses the node's address of the wrong family"), true
	}
	return differs(check.Likely, "service range", got.String(), want.String(), "The kubelet gives pods a DNS address that does not exist"), true
}

// ipFamily compares the family that bootstrap.sh works with, where it asks EKS nothing: it
// is IPv4 unless it is set (templates/al2/runtime/bootstrap.sh of
// github.com/awslabs/amazon-eks-ami: "Using IP family"), and decides which address of the
// node the kubelet reports and where pods look for the cluster's DNS. With ipv6 it ends
// where neither --service-ipv6-cidr nor --dns-cluster-ip is given.
func ipFamily(t *check.DecodedUserData, six bool, trust check.Confidence) (flaw, bool) {
	if !t.Has(userdata.Bootstrap) || t.Has(userdata.NodeConfig) || t.Family.Computed || t.ServiceCIDR.Computed {
		return flaw{}, false
	}
	got, want, fix := "ipv4", "ipv4", "Remove --ip-family and --service-ipv6-cidr, and replace the instances."
	if t.Family.Value == "ipv6" {
		got = "ipv6"
	}
	if six {
		want, fix = "ipv6", "Pass --ip-family ipv6 and --service-ipv6-cidr with the cluster's service range to bootstrap.sh, or remove --apiserver-endpoint and --b64-cluster-ca: it then queries EKS."
	}
	f := flaw{
		sure: trust, titleEnd: "is for the other IP family",
		why:      fmt.Sprintf("bootstrap.sh gets the endpoint and the certificate authority, so it does not query EKS and sets the node up for %s; the cluster's family is %s. The kubelet reports an address of the wrong family.", got, want),
		evidence: []check.Evidence{{What: "IP family of bootstrap.sh", Value: cmp.Or(t.Family.Value, "ipv4, as --ip-family is not set")}, {What: "IP family of the cluster", Value: want}},
		fix:      fix,
	}
	switch {
	case got != want:
		return f, true
	case six && t.ServiceCIDR.Value == "" && len(t.DNS) == 0:
		f.titleEnd = "lacks --service-ipv6-cidr"
		f.why = "bootstrap.sh gets --ip-family ipv6, and neither --service-ipv6-cidr nor --dns-cluster-ip: it exits with an error."
		return f, true
	}
	return flaw{}, false
}

func prefixOr(p netip.Prefix) string {
	if !p.IsValid() {
		return "unknown"
	}
	return p.String()
}

// bundle is a cluster's authorities: the one that signs is listed first since the order was
// fixed on 11 September 2026 (aws/containers-roadmap#2638). The others are its successor or
// retired: a cluster has two at most (EKS API reference, CreateCertificateAuthority).
type bundle struct {
	active []byte
	others [][]byte
	// successor reports that one of the others is newer than the active one.
	successor bool
}

// bundleOf is a cluster's bundle; false where it has a single authority. A newer one behind
// the first is the successor. Where the dates do not tell, a customer who activated the first
// one retired the other.
func bundleOf(c snapshot.Cluster) (bundle, bool) {
	list := userdata.Certificates(c.CA)
	if len(list) < 2 {
		return bundle{}, false
	}
	b := bundle{active: list[0], others: list[1:], successor: c.CAActivatedBy != "CUSTOMER"}
	first, err := x509.ParseCertificate(b.active)
	other, err2 := x509.ParseCertificate(b.others[0])
	if err == nil && err2 == nil && !first.NotBefore.Equal(other.NotBefore) {
		b.successor = other.NotBefore.After(first.NotBefore)
	}
	return b, true
}

// trusts reports whether user data names the authority that signs, and another one of the
// bundle.
func (b bundle) trusts(t *check.DecodedUserData) (active, other bool) {
	for _, c := range userdata.Authorities(t.CA.Value) {
		active = active || bytes.Equal(c, b.active)
		other = other || slices.ContainsFunc(b.others, func(o []byte) bool { return bytes.Equal(o, c) })
	}
	return active, other
}

func runClusterCA(s *check.View) []check.Finding {
	b, two := bundleOf(s.Cluster)
	st := s.Boot()
	suspects, well := st.S.Pending()
	o := newSorting(st, well)
	o.passed = append(o.passed, s.Cluster.Name)
	if !two {
		return []check.Finding{check.Passed(s.Cluster.Name, append(o.passed, check.IDs(suspects)...)...)}
	}
	for _, i := range suspects {
		t, why := st.Data(i)
		switch {
		case t == nil:
			o.unread(i, why)
			continue
		case t.Err != nil:
			o.unread(i, t.Undecoded())
			continue
		case !t.CA.Known() || t.CA.Value == "" || t.Describes && !t.Has(userdata.NodeConfig):
			o.pass(i)
			continue
		}
		if active, other := b.trusts(t); active || !other { // none of them: instance/user-data
			o.pass(i)
			continue
		}
		o.fail(i)
	}
	told := map[string]bool{}
	list := o.findings(func(origin string, of []string) check.Finding {
		i := st.Instances[of[0]]
		t, _ := st.Data(i)
		told[origin], told[check.TemplateOf(i).ID] = true, true
		return userDataFinding(st, instancesOf(st, of), t, []flaw{b.flaw(trust(st, i, t), t)})
	})
	return append(list, b.templates(st, told)...)
}

func instancesOf(st *check.BootConfig, ids []string) []*snapshot.Instance {
	list := make([]*snapshot.Instance, len(ids))
	for n, id := range ids {
		list[n] = st.Instances[id]
	}
	return list
}

// flaw is user data without the authority that signs.
func (b bundle) flaw(sure check.Confidence, t *check.DecodedUserData) flaw {
	what := "a retired authority"
	if b.successor {
		what = "a successor authority"
	}
	got := userdata.Authorities(t.CA.Value)
	return flaw{
		sure: sure, titleEnd: "trusts only " + what,
		why:      fmt.Sprintf("The certificate authority in it is %s, and the cluster's endpoint has a certificate of %s: the kubelet does not trust it.", fingerprint(got[0]), fingerprint(b.active)),
		evidence: []check.Evidence{{What: "The certificate authority in user data", Value: fingerprint(got[0])}, {What: "The active certificate authority", Value: fingerprint(b.active)}},
		fix:      "Set the certificate authority to the cluster's whole bundle (certificateAuthority.data).",
	}
}

// templates is the advice on launch templates that trust one of two authorities: those
// without the successor break when it is activated, those without the active one with the
// next launch.
func (b bundle) templates(st *check.BootConfig, told map[string]bool) []check.Finding {
	var list []check.Finding
	for n := range st.S.LaunchTemplates {
		lt := &st.S.LaunchTemplates[n]
		t := st.TemplateData(lt)
		if told[lt.ID] || t.Err != nil || !t.CA.Known() || t.CA.Value == "" {
			continue
		}
		active, other := b.trusts(t)
		if active == other || active && !b.successor {
			continue
		}
		told[lt.ID] = true
		name := cmp.Or(lt.Name, lt.ID)
		nodes := startedFrom(st, lt.ID)
		f := check.Failed(lt.ID, lt.ID).Involving(lt.ID, st.S.Cluster.Name).WithConfidence(check.Advice).
			Titled("%s will not trust %s once its new authority is active", name, st.S.Cluster.Name).
			Because("%s has a successor certificate authority. Version %s of launch template %s (%s) trusts only the present one: when the successor is activated, by someone or by EKS itself before the present one expires, new nodes from it do not join, and joined ones lose the endpoint.",
				st.S.Cluster.Name, lt.Version, name, lt.ID).
			Noting(lt.ID+" version "+lt.Version, fingerprint(userdata.Authorities(t.CA.Value)[0])).
			Noting("Bundle of "+st.S.Cluster.Name, fingerprint(b.active)+" (active), "+fingerprint(b.others[0])).
			Noting("Instances from it", cmp.Or(check.Some(nodes, 5), "none")).
			ToFix("Create a version with the cluster's whole bundle (the command prints it), use it in the group, and replace the nodes before the successor is activated. In a node group whose image EKS chooses, update the node group.").
			Command(st.S.AWSCommand("eks describe-cluster", "--name", st.S.Cluster.Name, "--query", "cluster.certificateAuthority.data", "--output", "text")).
			Console(st.S.EC2Link("LaunchTemplateDetails:launchTemplateId=" + lt.ID))
		if !active {
			f.Title = check.Title("%s does not trust the authority that signs for %s", name, st.S.Cluster.Name)
			f.Why = fmt.Sprintf("Version %s of launch template %s (%s) trusts only a certificate authority that does not sign for %s: the next nodes from it do not join.", lt.Version, name, lt.ID, st.S.Cluster.Name)
		}
		list = append(list, f)
	}
	return list
}

// startedFrom are the instances that run from a launch template.
func startedFrom(st *check.BootConfig, template string) []string {
	var ids []string
	for n := range st.S.Instances {
		if i := &st.S.Instances[n]; !i.Ended() && check.TemplateOf(i).ID == template {
			ids = append(ids, i.ID)
		}
	}
	return ids
}

func runClusterTag(s *check.View) []check.Finding {
	st := s.Boot()
	tag := "kubernetes.io/cluster/" + s.Cluster.Name
	suspects, well := st.S.Pending()
	o := newSorting(st, well)
	o.by = func(i *snapshot.Instance) string {
		if group := i.Tags["aws:autoscaling:groupName"]; group != "" {
			return group
		}
		return i.ID
	}
	for _, i := range suspects {
		_, managed := st.Nodegroup(i)
		_, tagged := i.Tags[tag]
		// Auto Mode starts instances itself, as a managed node group does.
		merges, _ := st.Merges(i)
		switch {
		case managed, tagged, merges:
			o.pass(i)
		case i.Ended() && len(i.Tags) == 0:
			o.unread(i, check.NotRead(snapshot.Instances, "EC2 removes the tags of terminated instances"))
		default:
			o.fail(i)
		}
	}
	return o.findings(func(resource string, of []string) check.Finding {
		f := check.Failed(resource, of...).Affecting(of...).
			Titled("%s %s no tag of cluster %s", check.Subject(of, "instance"), check.Verb(of, "has", "have"), s.Cluster.Name).
			Because("%s %s not tagged %s. The cloud provider and the network plugin use this tag to find the cluster's instances; outside managed node groups only the group's own template sets it.",
				check.Some(of, 3), check.Verb(of, "is", "are"), tag).
			Noting("Tags of "+of[0], tagKeys(st.Instances[of[0]])).
			ToFix("Tag %s with %s = owned.", check.Subject(of, "instance"), tag).
			Command(s.AWSCommand("ec2 create-tags", "--resources", of[:min(len(of), 20)], "--tags", fmt.Sprintf("Key=%s,Value=owned", tag))).
			Console(s.EC2Link("InstanceDetails:instanceId=" + of[0]))
		if resource != of[0] {
			f.Fix.Text = fmt.Sprintf("Tag group %s with %s = owned, propagated at launch, and %s too.", resource, tag, check.Subject(of, "instance"))
			f.Fix.Command = shell.All(s.AWSCommand("autoscaling create-or-update-tags", "--tags",
				fmt.Sprintf("ResourceId=%s,ResourceType=auto-scaling-group,Key=%s,Value=owned,PropagateAtLaunch=true", resource, tag)), f.Fix.Command)
		}
		return f
	})
}

// tagKeys are the names of an instance's tags: values may be private.
func tagKeys(i *snapshot.Instance) string {
	keys := slices.Sorted(maps.Keys(i.Tags))
	if len(keys) == 0 {
		return "none"
	}
	return check.Some(keys, 20)
}
