package userdata

import (
	"fmt"
	"strings"
)

// group and version of the NodeConfig that nodeadm knows (nodeadm/api of
// github.com/awslabs/amazon-eks-ami).
const (
	nodeConfigGroup   = "node.eks.aws"
	nodeConfigVersion = "v1alpha1"
)

func looksLikeNodeConfig(text string) bool {
	return strings.Contains(text, nodeConfigGroup+"/") ||
		strings.Contains(text, "apiVersion") && strings.Contains(text, "NodeConfig")
}

// nodeConfig reads a NodeConfig and joins it with those of earlier parts as
// nodeadm does (its documentation, "Merging multiple configuration objects",
// and internal/api/merge.go): what is later wins, the kubelet's config is
// merged key by key, lists in it are replaced, and only the kubelet's flags
// are appended. Of several YAML documents in one part only the first is read.
func (d *reader) nodeConfig(text string, part int) {
	d.add(NodeConfig)
	fault := func(kind FaultKind, line int, format string, args ...any) {
		d.Faults = append(d.Faults, Fault{Kind: kind, Line: line, Part: part, Detail: fmt.Sprintf(format, args...)})
	}
	first, later, err := d.budget.documents(text)
	if err != nil {
		fault(BadYAML, lineOf(err), "the NodeConfig is no valid YAML")
		return
	}
	d.Later += later
	root := d.budget.object(first)
	if root == nil {
		fault(BadYAML, 1, "the NodeConfig is no mapping of keys to values")
		return
	}
	if kind := root.get("kind"); kind.text() != "NodeConfig" {
		fault(BadKind, kind.line(), "kind is not NodeConfig")
		return
	}
	version := root.get("apiVersion")
	group, number, _ := strings.Cut(version.text(), "/")
	if group != nodeConfigGroup || number != nodeConfigVersion {
		kind := BadVersion
		if group == nodeConfigGroup && isVersion(number) {
			kind = NewVersion
		}
		fault(kind, version.line(), "apiVersion is not %s/%s", nodeConfigGroup, nodeConfigVersion)
		return
	}

	spec := root.get("spec")
	cluster := spec.get("cluster")
	for _, f := range []struct {
		key string
		to  *Setting
	}{{"name", &d.Name}, {"apiServerEndpoint", &d.Endpoint}, {"certificateAuthority", &d.CA}, {"cidr", &d.ServiceCIDR}} {
		v := cluster.get(f.key)
		switch {
		case v == nil || v.null() || v.isString() && v.text() == "":
			// Empty values do not override earlier ones.
		case !v.isString():
			fault(BadType, v.line(), "spec.cluster.%s is not a string", f.key)
		default:
			f.to.set(Setting{Value: strings.TrimSpace(v.text()), Given: true})
		}
	}
	kubelet := spec.get("kubelet")
	if flags := kubelet.get("flags"); flags != nil && !flags.null() {
		if list, ok := flags.list(); ok {
			d.Flags = append(d.Flags, list...)
		} else {
			fault(BadType, flags.line(), "spec.kubelet.flags is not a list of strings")
		}
	}
	if v := kubelet.get("maxPodsExpression"); v != nil && !v.null() && v.text() != "" {
		d.MaxPodsExpression = v.text()
	}
	if list, ok := spec.get("instance").get("network").get("nameservers").list(); ok {
		d.NameServers = list
	}
	config := kubelet.get("config")
	if v := config.get("maxPods"); v != nil && !v.null() {
		d.MaxPods.set(Setting{Value: v.text(), Given: true})
	}
	if list, ok := config.get("clusterDNS").list(); ok {
		d.DNS = list
	}
}

// isVersion tells a version as Kubernetes writes them: v1, v1beta2.
func isVersion(s string) bool {
	digits := func(s string) string { return strings.TrimLeft(s, "0123456789") }
	rest, ok := strings.CutPrefix(s, "v")
	stage := digits(rest)
	if !ok || stage == rest {
		return false
	}
	for _, name := range []string{"alpha", "beta"} {
		if n, ok := strings.CutPrefix(stage, name); ok {
			return n != "" && digits(n) == ""
		}
	}
	return stage == ""
}
