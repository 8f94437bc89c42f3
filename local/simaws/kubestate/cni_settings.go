package kubestate

import (
	"strconv"

	"rollcall/local/simaws/addresses"
)

// CNISettings are the settings of the DaemonSet aws-node that decide how many
// addresses a node takes.
type CNISettings struct {
	warmInterfaces int // WARM_ENI_TARGET
	warmAddresses  int // WARM_IP_TARGET, 0 where it is not set
	minAddresses   int // MINIMUM_IP_TARGET, 0 where it is not set
	warmPrefixes   int // WARM_PREFIX_TARGET
	Prefixes       bool
	Cluster        string // CLUSTER_NAME, empty where it is not set
	PodENI         bool   // ENABLE_POD_ENI
}

// CNISettings reads what the cluster's aws-node runs with. What it does not
// say, and a cluster whose world lists no aws-node, has the CNI's defaults.
func (k *Cluster) CNISettings() CNISettings {
	s := CNISettings{warmInterfaces: 1, warmPrefixes: 1, Cluster: k.Name}
	for _, d := range k.Objects["daemonsets"] {
		if meta, ok := d["metadata"].(map[string]any); !ok || meta["name"] != "aws-node" {
			continue
		}
		containers, _ := At(d, "spec", "template", "spec", "containers").([]any)
		for _, item := range containers {
			c, _ := item.(map[string]any)
			if c["name"] != "aws-node" {
				continue
			}
			list, _ := c["env"].([]any)
			s.Cluster = ""
			for _, item := range list {
				e, _ := item.(map[string]any)
				name, _ := e["name"].(string)
				value, _ := e["value"].(string)
				s.set(name, value)
			}
		}
	}
	return s
}

func (s *CNISettings) set(name, value string) {
	if name == "ENABLE_PREFIX_DELEGATION" {
		s.Prefixes = value == "true"
		return
	}
	if name == "ENABLE_POD_ENI" {
		s.PodENI = value == "true"
		return
	}
	if name == "CLUSTER_NAME" {
		s.Cluster = value
		return
	}
	n, err := strconv.Atoi(value)
	if err != nil || n < 0 {
		return // the CNI keeps its default then
	}
	switch name {
	case "WARM_ENI_TARGET":
		s.warmInterfaces = n
	case "WARM_IP_TARGET":
		s.warmAddresses = n
	case "MINIMUM_IP_TARGET":
		s.minAddresses = n
	case "WARM_PREFIX_TARGET":
		s.warmPrefixes = n
	}
}

// At is what lies at a path of keys.
func At(v any, keys ...string) any {
	for _, key := range keys {
		m, _ := v.(map[string]any)
		v = m[key]
	}
	return v
}

// firstPods is how many pods come to a node as soon as it takes pods. One is
// enough to have the CNI attach its warm interface: with it, the first one is
// no longer a whole interface in reserve.
const firstPods = 1

// Wants is how many slots (addresses, or prefixes of sixteen) each of a node's
// interfaces has beside its own address. It is the CNI's rule: the targets for
// addresses take the place of that for interfaces where they are set.
func (s CNISettings) Wants(interfaces, perInterface int) []int {
	slots := max(perInterface-1, 0)
	total := 0
	switch byAddress := max(s.minAddresses, s.warmAddresses+firstPods); {
	case s.warmAddresses == 0 && s.minAddresses == 0 && s.Prefixes:
		total = s.warmPrefixes + (firstPods+addresses.PrefixSize-1)/addresses.PrefixSize
	case s.warmAddresses == 0 && s.minAddresses == 0:
		total = slots * (s.warmInterfaces + firstPods)
	case s.Prefixes:
		total = (byAddress + addresses.PrefixSize - 1) / addresses.PrefixSize
	default:
		total = byAddress
	}
	var list []int
	for total > 0 && slots > 0 && len(list) < interfaces {
		n := min(total, slots)
		list = append(list, n)
		total -= n
	}
	return list
}
