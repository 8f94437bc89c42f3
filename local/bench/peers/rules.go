package main

import (
	"regexp"
	"slices"
	"strings"
	"time"

	"rollcall/shared/network/leak"
	"rollcall/shared/snapshot"
)

// Rule is how a peer decides. Where a source leaves something open, the reading
// is taken that deletes less of what lives and more of what is left behind.
type Rule struct {
	Name string
	// Source says where the rule is written, Note how it was read.
	Source, Note string
	// Deletes tells whether the peer asks EC2 to delete the interface.
	Deletes func(Item, time.Time) bool
	// Forces: it also detaches what is attached, or ends the instance.
	Forces bool
	// Empties: it is made to empty an account, or to end a cluster, and not to
	// keep one clean that is in use.
	Empties bool
}

// rules are the peers.
func rules() []Rule {
	return []Rule{
		{Name: "VPC CNI, with CLUSTER_NAME", Source: "amazon-vpc-cni-k8s, getLeakedENIs",
			Note:    "every hour on every node; the cluster must have a node, and IPv4",
			Deletes: func(i Item, now time.Time) bool { return cni(i.Now, now, prod) }},
		{Name: "VPC CNI, without", Source: "amazon-vpc-cni-k8s, getLeakedENIs",
			Note:    "as above; without CLUSTER_NAME it goes over all clusters of the VPC",
			Deletes: func(i Item, now time.Time) bool { return cni(i.Now, now, "") }},
		{Name: "VPC resource controller", Source: "amazon-vpc-resource-controller-k8s, ENI cleaner",
			Note:    "the sweep of every half hour, with both sightings; not the cleanup at a node's end, which waits for nothing",
			Deletes: func(i Item, _ time.Time) bool { return !i.Gone && controller(i.Now) && controller(i.Later) }},
		{Name: "Cilium operator", Source: "cilium, ENI garbage collection",
			Note:    "goes by Cilium's own tags, which the VPC CNI does not set",
			Deletes: func(i Item, _ time.Time) bool { return !i.Gone && cilium(i.Now) && cilium(i.Later) }},
		{Name: "eksctl", Source: "eksctl, findDanglingENIs", Empties: true,
			Note:    "it runs when its cluster is deleted, and looks at no age; here the nodes are all in groups that eksctl made",
			Deletes: func(i Item, _ time.Time) bool { return eksctl(i) }},
		{Name: "Config remediation", Source: "AWSConfigRemediation-DeleteUnusedENI",
			Note:    "Config hands it what is not in use; it asks for no owner, age or tag",
			Deletes: func(i Item, _ time.Time) bool { return i.Now.Status == "available" }},
		{Name: "the story's script", Source: "the cron job of the ips story",
			Note:    "every 15 minutes; status available and a description like aws-K8S-*",
			Deletes: func(i Item, _ time.Time) bool { return script(i.Now) }},
		{Name: "cloud-nuke", Source: "cloud-nuke, network interfaces", Forces: true, Empties: true,
			Note:    "with --older-than 1h, and first seen when they were made; it ends the instances that hold them",
			Deletes: func(i Item, now time.Time) bool { return i.Now.Kind == "interface" && now.Sub(i.Made) > time.Hour }},
		{Name: "aws-nuke", Source: "aws-nuke, EC2NetworkInterface", Forces: true, Empties: true,
			Note:    "without a filter in its configuration; it detaches first",
			Deletes: func(Item, time.Time) bool { return true }},
	}
}

// cni is the rule of ipamd. A date that cannot be read makes it write a new one
// and go on with the zero time, which is older than any grace; a date that is
// missing makes it write one and leave the interface for the next time.
func cni(i snapshot.Interface, now time.Time, cluster string) bool {
	_, owned := i.Tags[leak.TagInstance]
	if i.Status != "available" || i.VPC != vpc || !owned || !strings.HasPrefix(i.Description, "aws-K8S-") {
		return false
	}
	if cluster != "" && i.Tags[leak.TagCluster] != cluster {
		return false
	}
	text, dated := i.Tags[leak.TagCreated]
	if !dated {
		return false
	}
	created, err := time.Parse(time.RFC3339, text)
	return err != nil || now.Sub(created) > 5*time.Minute
}

// controller is one sighting of the VPC resource controller.
func controller(i snapshot.Interface) bool {
	owners := []string{"eks-vpc-resource-controller", "amazon-vpc-cni"}
	ours := i.Tags[leak.TagCluster] == prod || i.Tags[tagOwned+prod] == "owned"
	return i.Status == "available" && i.VPC == vpc && slices.Contains(owners, i.Tags[tagOwner]) && ours
}

func cilium(i snapshot.Interface) bool {
	return i.Status == "available" && i.Tags["io.cilium/cilium-managed"] == "true" && i.Tags["io.cilium/cluster-name"] == prod
}

func eksctl(i Item) bool {
	form := regexp.MustCompile(`^eksctl-` + prod + `-(cluster|nodegroup)-.+$`)
	return i.Now.Status == "available" && i.Now.VPC == vpc && form.MatchString(i.Group)
}

// script is the rule of the ips story's cron job.
func script(i snapshot.Interface) bool {
	return i.Status == "available" && strings.HasPrefix(i.Description, "aws-K8S-")
}

// refuses tells whether EC2 refuses to delete an interface: one that is in use,
// one that a service of AWS holds, and another account's.
func refuses(i snapshot.Interface, forced bool) bool {
	return i.RequesterManaged || i.Account != account || i.Attached && !forced
}
