package karpenter

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
)

const (
	// poolMemory is how many launches of a NodePool count for its health, and half of
	// it how many failed ones make it ill (KC pkg/state/nodepoolhealth).
	poolMemory = 4
	healthy    = "NodeRegistrationHealthy"
)

// heldPools brings the NodePools' conditions and sums up to date
// (KC controllers/nodepool/readiness, /counter).
func (c *Controller) heldPools() {
	for _, o := range c.k.Objects["nodepools"] {
		c.heldInit(kindPool, o)
		c.heldSet(kindPool, o, "ValidationSucceeded", yes, "", "")
		name := specOf[poolSpec](o).Template.Spec.NodeClassRef.Name
		class := c.k.Find("ec2nodeclasses", "", name)
		switch ready := conditionOf(class, "Ready"); {
		case class == nil:
			c.heldSet(kindPool, o, "NodeClassReady", no, "NodeClassNotFound", "NodeClass not found on cluster")
		case ready.status == unknown:
			c.heldSet(kindPool, o, "NodeClassReady", no, "NodeClassReadinessUnknown", "Node Class Readiness Unknown")
		case ready.status == no:
			c.heldSet(kindPool, o, "NodeClassReady", no, ready.reason, ready.message)
		default:
			c.heldSet(kindPool, o, "NodeClassReady", yes, "", "")
		}
		c.heldShiftEvents(o)
		status, _ := o["status"].(map[string]any)
		cpu, memory, nodes := c.heldUsed(text(o, "metadata", "name"))
		status["resources"] = map[string]any{"cpu": strconv.Itoa(cpu), "memory": fmt.Sprintf("%dMi", memory), "nodes": strconv.Itoa(nodes)}
	}
}

// heldShiftEvents says once of a NodePool that a zone into which it can launch is shifted
// away from, and once that it no longer is (KP pkg/controllers/arczonalshift and
// pkg/cloudprovider/events).
func (c *Controller) heldShiftEvents(pool map[string]any) {
	spec := specOf[poolSpec](pool).Template.Spec
	x := c.classes[spec.NodeClassRef.Name]
	if x == nil {
		return
	}
	for _, s := range x.subnets {
		zone, id := aws.ToString(s.AvailabilityZone), aws.ToString(s.AvailabilityZoneId)
		allowed := !slices.ContainsFunc(spec.Requirements, func(r requirement) bool {
			return r.Key == labelZone && !r.admits(map[string]string{labelZone: zone})
		})
		key := text(pool, "metadata", "name") + "/" + id
		shifted := allowed && c.heldShifted(id)
		switch {
		case shifted && !c.shifted[key]:
			c.heldSay(kindPool, pool, "ZonalShiftActive", "Warning", fmt.Sprintf("Zonal shift detected: offerings in zone %s (%s) are unavailable for this NodePool", zone, id))
		case !shifted && c.shifted[key]:
			c.heldSay(kindPool, pool, "ZonalShiftCleared", "Normal", fmt.Sprintf("Zonal shift cleared: offerings in zone %s (%s) are restored for this NodePool", zone, id))
		}
		c.shifted[key] = shifted
	}
}

// heldUsed is what a NodePool's NodeClaims have.
func (c *Controller) heldUsed(pool string) (cpu, memory, nodes int) {
	for _, x := range c.claims {
		if x.pool != pool {
			continue
		}
		nodes++
		if info := c.w.InstanceTypes.Get(x.labels[labelType]); info != nil && info.VCpuInfo != nil && info.MemoryInfo != nil {
			cpu += int(aws.ToInt32(info.VCpuInfo.DefaultVCpus))
			memory += int(aws.ToInt64(info.MemoryInfo.SizeInMiB))
		}
	}
	return cpu, memory, nodes
}

// heldLimited tells that a NodePool has what it may have: one more node of the
// smallest type would be too much.
func (c *Controller) heldLimited(pool string, limits map[string]json.RawMessage, smallest string) bool {
	cpu, memory, nodes := c.heldUsed(pool)
	if info := c.w.InstanceTypes.Get(smallest); info != nil && info.VCpuInfo != nil && info.MemoryInfo != nil {
		cpu += int(aws.ToInt32(info.VCpuInfo.DefaultVCpus))
		memory += int(aws.ToInt64(info.MemoryInfo.SizeInMiB))
	}
	over := func(name string, have int) bool {
		raw, ok := limits[name]
		if !ok {
			return false
		}
		text := strings.Trim(string(raw), `"`)
		scale := 1.0
		if name == "memory" {
			for unit, mib := range map[string]float64{"Gi": 1024, "Mi": 1, "Ti": 1024 * 1024} {
				if strings.HasSuffix(text, unit) {
					text, scale = strings.TrimSuffix(text, unit), mib
				}
			}
		}
		most, err := strconv.ParseFloat(text, 64)
		return err == nil && float64(have) > most*scale
	}
	return over("cpu", cpu) || over("memory", memory) || over("nodes", nodes+1)
}

// heldOutcome remembers how a NodeClaim's launch ended. Failed ones of which there
// are half as many as count make the NodePool's registration health False, with the
// launch's reason where it did not launch (KC lifecycle/liveness.go, registration.go).
func (c *Controller) heldOutcome(x *claim, joined bool) {
	o := c.k.Find("nodepools", "", x.pool)
	if o == nil {
		return
	}
	list := append(c.pools[x.pool], joined)
	list = list[max(0, len(list)-poolMemory):]
	c.pools[x.pool] = list
	failed := 0
	for _, well := range list {
		if !well {
			failed++
		}
	}
	launched := conditionOf(x.object, "Launched")
	switch {
	case joined && 2*failed < poolMemory:
		c.heldSet(kindPool, o, healthy, yes, "", "")
	case joined || 2*failed < poolMemory || conditionOf(o, healthy).status == no:
	case launched.status == yes:
		c.heldSet(kindPool, o, healthy, no, "RegistrationFailed", "Failed to register node")
	default:
		c.heldSet(kindPool, o, healthy, no, launched.reason, launched.message)
	}
}
