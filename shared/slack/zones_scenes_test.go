package slack

import (
	"strings"
	"testing"
	"time"

	"rollcall/shared/catalog"
	"rollcall/shared/checks/finding"
	"rollcall/shared/diagnosis"
	"rollcall/shared/incident"
	"rollcall/shared/remedy"
	"rollcall/shared/remedy/optin"
)

// zoneGap is the cause of the zone story.
func zoneGap() diagnosis.Cause {
	return diagnosis.Cause{
		Check: "zone/nodegroup-gap", Confidence: catalog.Certain, Resource: "workers", Covers: []string{"us-west-2c"},
		Resources: []string{"workers", "eks-workers-a1b2", "us-west-2c", "vol-0c50000000000c0de"}, Pods: []string{"redash/redis-0"},
		Title: "No node in us-west-2c for vol-0c50000000000c0de (redash/redis)",
		Why:   "Volume vol-0c50000000000c0de of claim redash/redis is in us-west-2c; no node there (desired 2, spread over 3 zones). Pod redash/redis-0 has been waiting for it since 15:01:12 UTC.",
		Evidence: []finding.Evidence{
			{What: "vol-0c50000000000c0de", Value: "in us-west-2c, claim redash/redis, detached"},
			{What: "Pod redash/redis-0", Value: "waiting since 15:01:12 UTC: 0/2 nodes are available: 2 node(s) had volume node affinity conflict."},
			{What: "Nodes by zone", Value: "us-west-2a 1, us-west-2b 1, us-west-2c 0"},
			{What: "Group eks-workers-a1b2", Value: "us-west-2a, us-west-2b, us-west-2c: min 2, desired 2, max 4"},
		},
		Fix: finding.Fix{
			Text:    "Raise the desired count of workers from 2 to 3 (its maximum is 4). Auto Scaling launches in the zones that have the fewest nodes, so each zone gets one (now none in us-west-2c). Long term: create one nodegroup per zone, as AWS advises for workloads with EBS volumes.",
			Command: "aws eks update-nodegroup-config --region us-west-2 --cluster-name prod --nodegroup-name workers --scaling-config desiredSize=3",
			Remedy:  "cover-zones",
		},
		Nodegroups: []string{"workers"},
	}
}

// covered is the plan of cover-zones in a state.
func covered(state incident.OfferState) incident.Offer {
	p := remedy.Plan{
		Format: remedy.Format, Partition: "aws", Account: "111122223333", Region: "us-west-2", Cluster: "prod", Check: "zone/nodegroup-gap", Resource: "workers",
		Remedy: optin.CoverZones, Cover: &remedy.CoverZones{Nodegroup: "workers", From: 2, To: 3, Max: 4, Zones: []string{"us-west-2a", "us-west-2b", "us-west-2c"}, Without: []string{"us-west-2c"}},
	}
	return offer(state, func(of *incident.Offer) {
		of.Plan, of.Hash = p, p.Hash()
		if of.Run != nil {
			of.Run.Plan, of.Run.Hash, of.Run.Changed = p, p.Hash(), []string{"workers"}
		}
	})
}

func zoneScenes() []scene {
	open := incidentOf(zoneGap(), nil)
	idle, advice, many, tags, lost := zoneGap(), zoneGap(), zoneGap(), zoneGap(), zoneGap()
	idle.Confidence, idle.Pods = catalog.Likely, nil
	idle.Why = "Volume vol-0c50000000000c0de of claim redash/redis is in us-west-2c; no node there (desired 2, spread over 3 zones). No pod is waiting for it now."
	advice.Confidence, advice.Pods, advice.Fix = catalog.Advice, nil, finding.Fix{Text: "No claim holds it. If it is needed, give workers a node in every zone; otherwise delete it (take a snapshot first)."}
	advice.Why = "Volume vol-0c5000000000ff003 of claim redash/trial is in us-west-2c; no node there (desired 2, spread over 3 zones)."
	advice.Title = "No node in us-west-2c for vol-0c5000000000ff003 (redash/trial)"
	many.Covers, many.Pods = []string{"us-west-2b", "us-west-2c"}, []string{"redash/redis-0", "shop/db-0", "shop/db-1"}
	tags.Confidence, tags.Pods = catalog.Possible, nil
	tags.Why = "Volume vol-0c50000000000c0de of claim redash/redis is in us-west-2c; no node there (desired 2, spread over 3 zones). It belongs to the cluster by its tags: whether a claim still holds it, and whether a pod waits for it, is unknown."
	lost.Check, lost.Resource, lost.Title, lost.Fix = "zone/volume-stranded", "us-west-2d", "No node can come to us-west-2d for vol-0c50000000000c0de (redash/redis)", finding.Fix{Text: "Give the cluster a nodegroup with a subnet in us-west-2d."}
	lost.Covers, lost.Confidence = []string{"us-west-2d"}, catalog.Likely
	lost.Why = "Volume vol-0c50000000000c0de of claim redash/redis is in us-west-2d; no node is there, and none can come: no group launches in us-west-2d."
	stuck := diagnosis.Cause{
		Check: "zone/pod-unschedulable", Confidence: catalog.Likely, Resource: "us-west-2c", Covers: []string{"us-west-2c"}, Pods: []string{"redash/redis-0"},
		Title: "redash/redis-0 waits for a node in us-west-2c", Nodegroups: []string{"workers"},
		Why: "Pod redash/redis-0 has been waiting since 15:01:12 UTC: vol-0c50000000000c0de (redash/redis) is in us-west-2c. 1 node is there; the scheduler reports for the zone's nodes: 1 Insufficient memory.",
		Fix: finding.Fix{Text: "Make room on a node in us-west-2c, or add one there. The command shows what the zone's nodes run.", Command: "kubectl describe nodes -l topology.kubernetes.io/zone=us-west-2c"},
	}
	bad := diagnosis.Cause{
		Check: "zone/impaired", Confidence: catalog.Certain, Resource: "us-west-2c", Covers: []string{"us-west-2c"}, Title: "us-west-2c (usw2-az3) looks impaired: not your configuration",
		Why: "EC2 reports us-west-2c as impaired.", Fix: finding.Fix{Text: "Wait for AWS, or move workloads to other zones."},
	}
	over := func(list ...finding.Evidence) func(*incident.Incident) {
		return func(i *incident.Incident) {
			i.State, i.Resolution, i.Cleared, i.Resolved, i.ClearedBy = incident.Closed, incident.Proved, began.Add(12*time.Minute), began.Add(12*time.Minute), list
			i.Changed = i.Resolved
		}
	}
	node := finding.Evidence{What: "us-west-2c", Value: "1 node there, 1 volume"}
	solved := with(open, over(node), offers(covered(incident.Helped)))
	return []scene{
		{"zone-waits", with(open, offers(covered(incident.Offered))), []incident.Note{note(open, incident.Opened, open.Opened)}},
		{"zone-nobody-waits", incidentOf(idle, nil), nil},
		{"zone-by-tags", incidentOf(tags, nil), nil},
		{"zone-advice", incidentOf(advice, nil), nil},
		{"zone-many", incidentOf(many, nil), nil},
		{"zone-stranded", incidentOf(lost, nil), nil},
		{"zone-full", incidentOf(stuck, nil), nil},
		{"zone-resolved", solved, []incident.Note{note(solved, incident.IsProved, solved.Resolved)}},
		{"zone-by-hand", with(open, over(node)), nil},
		{"zone-on-its-way", with(open, over(finding.Evidence{What: "us-west-2c", Value: "no node there, 1 on its way, 1 volume"})), nil},
		{"zone-volume-gone", with(open, over()), nil},
		{"zone-impaired", incidentOf(bad, nil), nil},
		{"zone-impaired-well", with(incidentOf(bad, nil), over()), nil},
	}
}

// TestZoneHeadlines: they are about volumes and pods, never about instances
// that join, and claim no more than was seen.
func TestZoneHeadlines(t *testing.T) {
	want := map[string]string{
		"zone-waits":         "🔴 prod / workers · redash/redis-0 cannot start: its volume is in us-west-2c, and no node is there",
		"zone-nobody-waits":  "🟠 prod / workers · no node in us-west-2c for vol-0c50000000000c0de (redash/redis)",
		"zone-by-tags":       "🟠 prod / workers · no node in us-west-2c for vol-0c50000000000c0de (redash/redis), judging by tags only",
		"zone-advice":        "🔵 prod / workers · worth fixing: no node in us-west-2c for vol-0c5000000000ff003 (redash/trial)",
		"zone-many":          "🔴 prod / workers · redash/redis-0 and 2 more pods cannot start: their volumes are in us-west-2b and us-west-2c, and no node is there",
		"zone-stranded":      "🔴 prod / workers · redash/redis-0 has not started, likely cause: its volume is in us-west-2d, and no node can launch there",
		"zone-full":          "🔴 prod / workers · redash/redis-0 waits for a node in us-west-2c",
		"zone-resolved":      "✅ prod / workers · a node is in us-west-2c again after 12 min: desired 2 → 3 (approved by @oncall)",
		"zone-by-hand":       "✅ prod / workers · a node is in us-west-2c again after 12 min",
		"zone-on-its-way":    "✅ prod / workers · a node is on its way to us-west-2c after 12 min",
		"zone-volume-gone":   "✅ prod / workers · no longer failing after 12 min: no node in us-west-2c for vol-0c50000000000c0de (redash/redis)",
		"zone-impaired":      "🟠 prod · us-west-2c (usw2-az3) looks impaired: not your configuration",
		"zone-impaired-well": "✅ prod · us-west-2c is healthy again after 12 min",
	}
	for _, s := range zoneScenes() {
		got := headline(s.incident)
		if got != want[s.name] {
			t.Errorf("%s:\n got %s\nwant %s", s.name, got, want[s.name])
		}
		if strings.Contains(got, "join") || strings.Contains(got, "instance") {
			t.Errorf("%s speaks of instances: %s", s.name, got)
		}
	}
}
