package incidenttest

import (
	"rollcall/shared/checkid"
	"rollcall/shared/checks"
	"rollcall/shared/diagnose"
	"rollcall/shared/report"
)

var (
	TheLeak    = report.Key{Cluster: Cluster, Check: checkid.IPLeakedInterfaces, Resource: Subnet}
	TheRunway  = report.Key{Cluster: Cluster, Check: checkid.IPRunway, Resource: Subnet}
	TheEmpty   = report.Key{Cluster: Cluster, Check: checkid.IPSubnetExhausted, Resource: Subnet}
	TheBurst   = report.Key{Cluster: Cluster, Check: checkid.SpotBurstExceedsSubnet, Resource: Subnet}
	TheRefusal = report.Key{Cluster: Cluster, Check: checkid.LaunchSubnetFull, Resource: Subnet}
	ThePlugin  = report.Key{Cluster: Cluster, Check: checkid.NodeCNINotReady, Resource: "aws-node"}
)

// Fails is a cause of the subnet's addresses.
func Fails(check checks.ID, confidence checks.Confidence, title string, more ...func(*diagnose.Cause)) func(*report.Observation) {
	return func(o *report.Observation) {
		c := diagnose.Cause{Check: check, Confidence: confidence, Resource: Subnet, Covers: []string{Subnet}, Title: title, Nodegroups: []string{"workers"}}
		for _, m := range more {
			m(&c)
		}
		o.Diagnosis.Causes = append(o.Diagnosis.Causes, c)
	}
}

func Hides(ids ...checks.ID) func(*diagnose.Cause) {
	return func(c *diagnose.Cause) {
		for _, id := range ids {
			c.Hidden = append(c.Hidden, diagnose.Hidden{Check: id, Because: c.Check})
		}
	}
}

func WorsenedBy(ids ...checks.ID) func(*diagnose.Cause) {
	return func(c *diagnose.Cause) { c.Contributing = ids }
}

func KeepsOut(ids ...string) func(*diagnose.Cause) {
	return func(c *diagnose.Cause) { c.Instances = ids }
}

func Leaks(more ...func(*diagnose.Cause)) func(*report.Observation) {
	return Fails(checkid.IPLeakedInterfaces, checks.Certain, "31 addresses of "+Subnet+" are held by 4 dead nodes", more...)
}

func LeaksSome(more ...func(*diagnose.Cause)) func(*report.Observation) {
	return Fails(checkid.IPLeakedInterfaces, checks.Likely, "31 addresses of "+Subnet+" are held by 4 dead nodes", more...)
}

func RunsOut(more ...func(*diagnose.Cause)) func(*report.Observation) {
	return Fails(checkid.IPRunway, checks.Likely, Subnet+" runs out of addresses at about 16:40 UTC", more...)
}

func IsEmpty(more ...func(*diagnose.Cause)) func(*report.Observation) {
	return Fails(checkid.IPSubnetExhausted, checks.Certain, Subnet+" has no free address", more...)
}

func RefusesLaunches(more ...func(*diagnose.Cause)) func(*report.Observation) {
	return func(o *report.Observation) {
		Fails(checkid.LaunchSubnetFull, checks.Certain, "workers cannot launch: the subnet has no free address", more...)(o)
		o.Diagnosis.Causes[len(o.Diagnosis.Causes)-1].Covers = []string{"eks-workers"}
	}
}

func Burst(more ...func(*diagnose.Cause)) func(*report.Observation) {
	return Fails(checkid.SpotBurstExceedsSubnet, checks.Certain, "12 launches needed 720 addresses", more...)
}

func PluginDown(instances ...string) func(*report.Observation) {
	return func(o *report.Observation) {
		Fails(checkid.NodeCNINotReady, checks.Certain, "aws-node does not come up", KeepsOut(instances...))(o)
		c := &o.Diagnosis.Causes[len(o.Diagnosis.Causes)-1]
		c.Resource, c.Covers = "aws-node", instances
	}
}

func AddressesBack(o *report.Observation) {
	o.Diagnosis.Passed = append(o.Diagnosis.Passed, diagnose.Passed{
		Check: checkid.IPLeakedInterfaces, Covers: []string{Subnet}, Evidence: []checks.Evidence{{What: Subnet, Value: "31 addresses back; 12 interfaces of 4 dead nodes"}},
	})
}
