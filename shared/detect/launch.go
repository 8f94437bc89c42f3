package detect

import (
	"maps"
	"strings"
	"time"

	"rollcall/shared/node/outcome"
	"rollcall/shared/snapshot"
	"rollcall/shared/store"
)

// Launch is an instance's launch that is not due yet.
func Launch(in snapshot.Instance, started time.Time) outcome.Launch {
	return outcome.Launch{
		Instance: in.ID, Nodegroup: in.Owner(), Group: GroupOf(in),
		Subnet: in.Subnet, Zone: in.Zone, Type: in.Type,
		Started: started, Status: outcome.Waiting,
	}
}

// Fresh is the record of a launch that nobody has recorded. It began when EC2
// says, or earlier where an event knows better.
func Fresh(cluster string, in snapshot.Instance, clock time.Time, learned Learned) store.LaunchRecord {
	started := in.Launched
	if started.IsZero() || !clock.IsZero() && clock.Before(started) {
		started = clock
	}
	return Record(cluster, in, Launch(in, started), learned.Allow(in.Owner()))
}

// Record is a launch as it is remembered, with what the instance was started
// with.
func Record(cluster string, in snapshot.Instance, l outcome.Launch, allowed outcome.Allowance) store.LaunchRecord {
	return store.LaunchRecord{
		Launch: l, Cluster: cluster, Spot: in.Spot,
		Due: l.Started.Add(allowed.For), Usual: allowed.Usual, Samples: allowed.Samples,
		Machine: machine(in),
	}
}

// Expected is what the checks are told of a launch.
func Expected(l store.LaunchRecord) snapshot.ExpectedJoin {
	e := snapshot.ExpectedJoin{
		Instance: l.Instance, Started: l.Started, Due: l.Due, Samples: l.Samples, Usual: l.Usual,
		Noticed: l.Noticed, Rebalance: l.Rebalance, Cause: l.Root,
	}
	e.Claim, e.ClaimSeen = recallClaim(l)
	return e
}

// machine is what is worth keeping of an instance; nil for one that has ended
// already, of which EC2 tells little.
func machine(in snapshot.Instance) *store.Machine {
	if in.VPC == "" {
		return nil
	}
	m := &store.Machine{
		VPC: in.VPC, PrivateIP: in.PrivateIP, PublicIP: in.PublicIP, PrivateDNS: in.PrivateDNS,
		Architecture: in.Architecture, AMI: in.AMI, Groups: in.Groups, Profile: in.Profile,
		Template: in.Template.ID, Version: in.Template.Version,
		Metadata: in.Metadata.Endpoint, HopLimit: in.Metadata.HopLimit,
	}
	for key, value := range in.Tags {
		if owner(key) {
			if m.Tags == nil {
				m.Tags = map[string]string{}
			}
			m.Tags[key] = value
		}
	}
	return m
}

// owner tells a tag that says whose an instance is; the others are nobody's
// business here.
func owner(key string) bool {
	for _, prefix := range []string{"aws:", "eks:", "kubernetes.io/cluster/", "k8s.io/", "karpenter.", "alpha.eksctl.io/"} {
		if strings.HasPrefix(key, prefix) {
			return true
		}
	}
	return false
}

// Recall fills in what EC2 forgets of an instance that has ended: where it
// was, and what it was started with.
func Recall(in snapshot.Instance, l store.LaunchRecord) snapshot.Instance {
	fill(&in.Subnet, l.Subnet)
	fill(&in.Zone, l.Zone)
	fill(&in.Type, l.Type)
	m := l.Machine
	if m == nil || !in.Ended() {
		return in
	}
	fill(&in.VPC, m.VPC)
	fill(&in.PrivateDNS, m.PrivateDNS)
	fill(&in.Architecture, m.Architecture)
	fill(&in.AMI, m.AMI)
	fill(&in.Profile, m.Profile)
	fill(&in.Template.ID, m.Template)
	fill(&in.Template.Version, m.Version)
	fill(&in.Metadata.Endpoint, m.Metadata)
	if in.Metadata.HopLimit == 0 {
		in.Metadata.HopLimit = m.HopLimit
	}
	if !in.PrivateIP.IsValid() {
		in.PrivateIP = m.PrivateIP
	}
	if !in.PublicIP.IsValid() {
		in.PublicIP = m.PublicIP
	}
	if len(in.Groups) == 0 {
		in.Groups = m.Groups
	}
	tags := maps.Clone(m.Tags)
	if tags == nil {
		tags = map[string]string{}
	}
	maps.Copy(tags, in.Tags)
	in.Tags = tags
	return in
}

func fill(have *string, remembered string) {
	if *have == "" {
		*have = remembered
	}
}
