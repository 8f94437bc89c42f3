package address

import (
	"strconv"
	"strings"

	"rollcall/shared/snapshot"
)

// prefix is how many addresses a prefix has: a /28 (EC2 user guide, "Assign
// prefixes to network interfaces").
const prefix = 16

// Settings are those of the VPC CNI that decide how many addresses a node
// takes, and where (amazon-vpc-cni-k8s, README, docs/eni-and-ip-target.md and
// docs/prefix-and-ip-target.md).
type Settings struct {
	// WarmInterfaces is WARM_ENI_TARGET: whole interfaces in reserve.
	WarmInterfaces int
	// WarmAddresses and MinimumAddresses are WARM_IP_TARGET and
	// MINIMUM_IP_TARGET. Where one of them is set, WarmInterfaces and
	// WarmPrefixes do not count.
	WarmAddresses    int
	MinimumAddresses int
	// Prefixes is ENABLE_PREFIX_DELEGATION, WarmPrefixes WARM_PREFIX_TARGET.
	Prefixes     bool
	WarmPrefixes int
	// Elsewhere is custom networking: pods have their addresses in the subnet of
	// an ENIConfig. ConfigLabel is the label of a node that names its ENIConfig.
	Elsewhere   bool
	ConfigLabel string
	// Discovery is that the plugin also makes interfaces in other subnets of the
	// node's zone, where they have the tag for it. ByValue is that the tag's
	// value counts, and which cluster a subnet is for.
	Discovery bool
	ByValue   bool
	// Cluster is CLUSTER_NAME; empty where it is not set.
	Cluster string
	// IPv6 clusters give pods IPv6 addresses.
	IPv6 bool
	// MaxInterfaces is MAX_ENI; 0 for as many as the type has.
	MaxInterfaces int
	// Cards is ENABLE_MULTI_NIC: the plugin keeps a reserve on each network card.
	Cards bool
	// MaxPods is the kubelet's, which the plugin does not set; 0 for what the
	// type gives.
	MaxPods int
}

// defaultConfigLabel is ENI_CONFIG_LABEL_DEF where it is not set.
const defaultConfigLabel = "k8s.amazonaws.com/eniConfig"

// Defaults are those of an aws-node that nobody changed.
func Defaults() Settings {
	return Settings{WarmInterfaces: 1, WarmPrefixes: 1, ConfigLabel: defaultConfigLabel, Discovery: true, ByValue: true}
}

// SettingsOf reads them from aws-node; without it they are the defaults. What
// is no number counts as not set, as it does in the plugin.
func SettingsOf(cni *snapshot.CNI) Settings {
	s := Defaults()
	if cni == nil {
		return s
	}
	number := func(name string, least, otherwise int) int {
		n, err := strconv.Atoi(cni.Env[name])
		if err != nil || n < least {
			return otherwise
		}
		return n
	}
	on := func(name string, otherwise bool) bool {
		set, err := strconv.ParseBool(cni.Env[name])
		if err != nil {
			return otherwise
		}
		return set
	}
	s.WarmInterfaces = number("WARM_ENI_TARGET", 0, 1)
	s.WarmAddresses = number("WARM_IP_TARGET", 1, 0)
	s.MinimumAddresses = number("MINIMUM_IP_TARGET", 1, 0)
	s.WarmPrefixes = number("WARM_PREFIX_TARGET", 1, 1)
	s.MaxInterfaces = number("MAX_ENI", 1, 0)
	s.Prefixes = on("ENABLE_PREFIX_DELEGATION", false)
	s.Elsewhere = on("AWS_VPC_K8S_CNI_CUSTOM_NETWORK_CFG", false)
	s.IPv6 = on("ENABLE_IPv6", false)
	s.Cards = on("ENABLE_MULTI_NIC", false) && !before(cni.Image, 1, 20, 0)
	if label := cni.Env["ENI_CONFIG_LABEL_DEF"]; label != "" {
		s.ConfigLabel = label
	}
	// Subnet discovery came with 1.18.0; that the tag's value and the cluster
	// count, with 1.22.1 (amazon-vpc-cni-k8s, CHANGELOG).
	s.Discovery = on("ENABLE_SUBNET_DISCOVERY", true) && !before(cni.Image, 1, 18, 0)
	s.ByValue = !before(cni.Image, 1, 22, 1)
	s.Cluster = cni.Env["CLUSTER_NAME"]
	return s
}

// before tells that an image is of an earlier version. One whose version cannot
// be read counts as a current one.
func before(image string, version ...int) bool {
	_, tag, _ := strings.Cut(image[strings.LastIndex(image, "/")+1:], ":v")
	tag, _, _ = strings.Cut(tag, "-")
	parts := strings.Split(tag, ".")
	if len(parts) != len(version) {
		return false
	}
	for i, want := range version {
		n, err := strconv.Atoi(parts[i])
		if err != nil {
			return false
		}
		if n != want {
			return n < want
		}
	}
	return false
}

// OwnOnly are settings with which a node takes its own address alone: another
// plugin gives pods theirs, and where is not known.
func OwnOnly() Settings { return Settings{IPv6: true} }
