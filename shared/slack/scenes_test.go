package slack

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"rollcall/shared/checks"
	"rollcall/shared/diagnose"
	"rollcall/shared/incident"
	"rollcall/shared/report"
	"rollcall/shared/snapshot"
)

// scene is an incident as it may stand, with the replies that its thread has.
type scene struct {
	name     string
	incident incident.Incident
	notes    []incident.Note
}

// began is the launch of the route story.
var began = time.Date(2026, 3, 14, 14, 59, 3, 0, time.UTC)

func launch(n int, s report.LaunchStatus) report.Launch {
	return report.Launch{
		Instance: fmt.Sprintf("i-0ef3%013x", 0x3a5b0000+n*0x11), Nodegroup: "workers", Group: "eks-workers-a1b2", Subnet: "subnet-0ab1c2d3e4f5a6b7c",
		Zone: "us-west-2a", Type: "m5.large", Started: began.Add(time.Duration(n) * time.Second), Status: s,
	}
}

func launches(n int, s report.LaunchStatus) []report.Launch {
	list := make([]report.Launch, n)
	for i := range list {
		list[i] = launch(i, s)
	}
	return list
}

func names(list []report.Launch) []string {
	ids := make([]string, len(list))
	for i, l := range list {
		ids[i] = l.Instance
	}
	return ids
}

// noEgress is the cause of the route story.
func noEgress() diagnose.Cause {
	return diagnose.Cause{
		Check: "route/no-egress", Confidence: checks.Certain,
		Resource: "rtb-0cd2e3f4a5b6c7d8e", Covers: []string{"subnet-0ab1c2d3e4f5a6b7c"},
		Title: "subnet-0ab1c2d3e4f5a6b7c has no route to the internet",
		Why:   "rtb-0cd2e3f4a5b6c7d8e (us-west-2a) has only 10.42.0.0/16 → local. Nodes must reach the cluster API, EC2, ECR, S3 and STS; this VPC has no endpoints for them.",
		Evidence: []checks.Evidence{
			{What: "Routes of rtb-0cd2e3f4a5b6c7d8e", Value: "10.42.0.0/16 → local"},
			{What: "subnet-0ab1c2d3e4f5a6b7c", Value: "10.42.192.0/19, us-west-2a, 8186 free addresses; associated with rtb-0cd2e3f4a5b6c7d8e"},
			{What: "Path to cluster API, EC2, ECR (api), ECR (dkr), S3 and STS", Value: "no route of rtb-0cd2e3f4a5b6c7d8e matches"},
			{What: "Endpoints", Value: "none"},
		},
		Fix: checks.Fix{
			Text:    "nat-0aa4b5c6d7e8f9a0b: available, same zone",
			Command: "aws ec2 create-route --region us-west-2 --route-table-id rtb-0cd2e3f4a5b6c7d8e --destination-cidr-block 0.0.0.0/0 --nat-gateway-id nat-0aa4b5c6d7e8f9a0b",
			Console: "https://us-west-2.console.aws.amazon.com/vpcconsole/home?region=us-west-2#RouteTableDetails:RouteTableId=rtb-0cd2e3f4a5b6c7d8e",
			Remedy:  "add-nat-route",
		},
		Nodegroups: []string{"workers"},
		Hidden:     []diagnose.Hidden{{Check: "node/not-registered", Because: "route/no-egress"}},
	}
}

func incidentOf(c diagnose.Cause, list []report.Launch) incident.Incident {
	return incident.Incident{
		Key:     report.Key{Cluster: "prod", Check: c.Check, Resource: c.Resource},
		Account: "111122223333", Region: "us-west-2", Partition: "aws",
		State: incident.Open, Number: 1, Began: began, Opened: began.Add(2 * time.Second), Changed: began.Add(2 * time.Second),
		Cause: c, Covers: c.Covers, Launches: list, Affected: len(list),
	}
}

// with changes a copy of an incident.
func with(i incident.Incident, changes ...func(*incident.Incident)) incident.Incident {
	for _, c := range changes {
		c(&i)
	}
	return i
}

func clearedBy() []checks.Evidence {
	return []checks.Evidence{{What: "rtb-0cd2e3f4a5b6c7d8e", Value: "0.0.0.0/0 → nat-0aa4b5c6d7e8f9a0b"}}
}

func clearedAt(i *incident.Incident) {
	i.State, i.Cleared, i.ClearedBy = incident.Cleared, began.Add(12*time.Minute), clearedBy()
	i.Changed = i.Cleared
}

func provedAt(i *incident.Incident) {
	clearedAt(i)
	started := began.Add(13 * time.Minute)
	i.State, i.Resolution, i.Resolved = incident.Closed, incident.Proved, began.Add(14*time.Minute+time.Second)
	i.Changed = i.Resolved
	i.Proof = &report.Launch{
		Instance: "i-0f15a2b3c4d5e6f70", Nodegroup: "workers", Subnet: "subnet-0ab1c2d3e4f5a6b7c", Zone: "us-west-2a", Type: "m5.large",
		Started: started, Registered: started.Add(41 * time.Second), Ready: started.Add(58 * time.Second), Status: report.Joined,
	}
}

func ended(how incident.Resolution) func(*incident.Incident) {
	return func(i *incident.Incident) {
		clearedAt(i)
		i.State, i.Resolution, i.Resolved = incident.Closed, how, began.Add(72*time.Minute)
		i.Changed = i.Resolved
	}
}

func denied() []snapshot.Failure {
	return []snapshot.Failure{{
		Source: snapshot.RouteTables, Reason: snapshot.Denied, Call: "ec2:DescribeRouteTables", Code: "UnauthorizedOperation",
		Message: "You are not authorized to perform this operation.",
	}}
}

func facts() []report.Fact {
	return []report.Fact{
		{What: "Nodegroup workers", Value: "ACTIVE, no health issue, desired 12, ON_DEMAND"},
		{What: "Scaling activity", Value: "Successful at 14:59:03 UTC: Launching a new EC2 instance: i-0ef3a5b0000"},
		{What: "Instance", Value: "running, both status checks ok"},
	}
}

func note(i incident.Incident, why incident.Reason, at time.Time) incident.Note {
	n := incident.Note{ID: string(why), Reason: why, Times: 1, At: at}
	switch why {
	case incident.Opened, incident.Reopened:
		n.Count, n.Instances, n.Evidence, n.Facts = i.Affected, names(i.Launches), i.Cause.Evidence, facts()
		n.Blind = i.Blind
	case incident.HasMissed:
		n.Count, n.Instances, n.Within = i.Affected, names(i.Launches), 5*time.Minute
	case incident.CauseGone, incident.IsUnproved:
		n.Evidence = clearedBy()
	case incident.IsProved:
		n.Evidence, n.Launch = i.ClearedBy, i.Proof
	}
	return n
}

// shownToAll is a note that the channel shows too.
func shownToAll(n incident.Note) incident.Note {
	n.Line = true
	return n
}

func about(n incident.Note, of incident.Offer) incident.Note {
	n.Offer = &of
	return n
}

func notRegistered() diagnose.Cause {
	return diagnose.Cause{
		Check: "node/not-registered", Confidence: checks.Symptom, Resource: launch(0, "").Instance,
		Title: launch(0, "").Instance + " has not registered as a node",
		Why:   launch(0, "").Instance + " has been running for 5 min 2 s; no node of the cluster has its provider id.",
		Evidence: []checks.Evidence{
			{What: "instance", Value: "running since 14:59:03 UTC"},
			{What: "nodes", Value: "14 in the cluster, none with this provider id"},
		},
		Fix: checks.Fix{
			Text:    "Read the instance's console output for what the bootstrap said.",
			Command: "aws ec2 get-console-output --region us-west-2 --latest --output text --instance-id " + launch(0, "").Instance,
		},
		Nodegroups: []string{"workers"},
	}
}

func cannotLook() diagnose.Cause {
	return diagnose.Cause{
		Check: incident.CannotLook, Confidence: checks.Possible, Resource: "ec2:DescribeRouteTables",
		Title:    "cannot look at the route tables: ec2:DescribeRouteTables is denied",
		Why:      "Whether instances can join cannot be told as long as this is not read. What depends on it is not judged, and nothing is called well.",
		Evidence: []checks.Evidence{{What: "Checks that could not judge", Value: "endpoint/missing, route/blackhole, route/no-egress"}, {What: "Error code", Value: "UnauthorizedOperation"}},
		Fix:      checks.Fix{Text: "Allow ec2:DescribeRouteTables to Rollcall's functions: deploy the stack again if the permission is missing in their roles, else look for a permissions boundary or a service control policy that denies it."},
	}
}

// scenes are what the goldens show.
func scenes() []scene {
	likely := noEgress()
	likely.Check, likely.Confidence = "ip/subnet-exhausted", checks.Likely
	likely.Resource, likely.Title = "subnet-0ab1c2d3e4f5a6b7c", "subnet-0ab1c2d3e4f5a6b7c has 3 free addresses"
	likely.Why = "A node of m5.large takes 20 addresses at its start (2 interfaces of 10); 3 of 251 are free."
	likely.Fix = checks.Fix{Text: "Free addresses in subnet-0ab1c2d3e4f5a6b7c, or add a larger subnet to the nodegroup."}
	shared := noEgress()
	shared.Check, shared.Confidence = "instance/common-factor", checks.Likely
	shared.Resource, shared.Title = "ami-0bad000000000002b", "7 of 7 with ami-0bad000000000002b failed, 20 of 20 others joined"
	shared.Why = "7 of 7 launches with ami-0bad000000000002b failed, the first launched 2026-11-20 13:18 UTC; 20 of 20 others of the last 7 days joined. The very same launches are those with lt-0e200000000000001 version 2: nothing here tells these apart."
	shared.Evidence = []checks.Evidence{
		{What: "AMI", Value: "ami-0bad000000000002b"}, {What: "launch template version", Value: "lt-0e200000000000001 version 2"},
		{What: "Launches compared", Value: "7 of 7 failed with it, in 7 quarters of an hour; without it 0 of 20"},
		{What: "Chance", Value: "p = 0.0021, corrected for 4 values and 348 looks (90 days)"},
	}
	shared.Fix = checks.Fix{
		Text:    "Compare ami-0bad000000000002b with ami-0a1e2d3c4b5a69788, with which launches join, and go back to that if nothing else is found. The console output of i-0bad0000000000000 may tell how it fails.",
		Command: "aws ec2 describe-images --region us-west-2 --image-ids ami-0bad000000000002b ami-0a1e2d3c4b5a69788",
		Console: "https://us-west-2.console.aws.amazon.com/ec2/home?region=us-west-2#ImageDetails:imageId=ami-0bad000000000002b",
	}
	sharedIncident := incidentOf(shared, launches(7, report.Missed))
	possible := likely
	possible.Confidence = checks.Possible

	mixed := launches(12, report.Missed)
	for n := range mixed[:3] {
		mixed[n].Status, mixed[n].Ready = report.Joined, mixed[n].Started.Add(4*time.Minute)
	}
	mixed[11].Status, mixed[11].Ended, mixed[11].EndedWhy = report.Gone, began.Add(6*time.Minute), "Server.SpotInstanceTermination: Spot instance termination"

	joined := launches(2, report.Joined)
	for n := range joined {
		joined[n].Ready = joined[n].Started.Add(7 * time.Minute)
	}

	ended1 := launches(1, report.Gone)
	ended1[0].Ended, ended1[0].EndedWhy = began.Add(40*time.Second), "Client.InvalidKMSKey.InvalidState: The KMS key provided is in an incorrect state"
	early := diagnose.Cause{
		Check: "instance/ended-early", Confidence: checks.Certain, Resource: ended1[0].Instance,
		Title: ended1[0].Instance + " ended before it was a node",
		Why:   ended1[0].Instance + " was terminated 40 s after its launch. EC2 gives the reason Client.InvalidKMSKey.InvalidState: The KMS key provided is in an incorrect state.",
		Fix:   checks.Fix{Text: "Enable the KMS key of the launch template's volumes, or use another one."}, Nodegroups: []string{"workers"},
	}

	predicted := incidentOf(noEgress(), launches(1, report.Waiting))
	missed := with(incidentOf(noEgress(), launches(12, report.Missed)), func(i *incident.Incident) { i.Changed = began.Add(5 * time.Minute) })
	nobody := incidentOf(noEgress(), nil)
	symptomBlind := with(incidentOf(notRegistered(), launches(1, report.Missed)), func(i *incident.Incident) { i.Blind = denied() })
	sight := with(incidentOf(cannotLook(), nil), func(i *incident.Incident) { i.Blind = denied() })
	proved := with(missed, provedAt)
	again := with(incidentOf(noEgress(), launches(1, report.Missed)), func(i *incident.Incident) { i.Number = 2 })

	longNames := with(incidentOf(noEgress(), launches(3, report.Missed)), func(i *incident.Incident) {
		i.Key.Cluster = "payments-production-eu-central-1-blue-2026-with-a-name-as-long-as-eks-allows-it-to-be-0123456789"
		i.Cause.Nodegroups = []string{
			"general-purpose-spot-diversified-m5-m6i-m7i-zone-a-0123456789", "gpu-inference", "general-purpose-on-demand", "batch", "ingress",
		}
	})
	hostile := with(incidentOf(noEgress(), launches(1, report.Missed)), func(i *incident.Incident) {
		i.Cause.Title = "subnet-0ab1 <!channel> *bold* `x` has no route to the internet & more"
		i.Cause.Why = "It said: <@U012AB3CD> <!here> @channel <https://evil.example|AWS console> ```x``` \u202egnihsihp\u202c &lt;b&gt; line one\nline two."
		i.Cause.Evidence = []checks.Evidence{{What: "```\n<!channel>", Value: "``` <@U012AB3CD>\n\x1b[31mred\x00"}}
		i.Cause.Fix.Text = "see <https://evil.example|here>."
	})
	huge := with(incidentOf(noEgress(), launches(incident.MaxLaunches, report.Missed)), func(i *incident.Incident) {
		i.Affected = 1200
		for n := range 300 {
			i.Cause.Evidence = append(i.Cause.Evidence, checks.Evidence{What: fmt.Sprintf("route %d", n), Value: fmt.Sprintf("10.%d.0.0/16 → pcx-0%012x", n%250, n)})
		}
		i.Cause.Why = strings.Repeat("This VPC has a great many routes. ", 200)
	})

	addon := incidentOf(diagnose.Cause{
		Check: "addon/degraded", Confidence: checks.Certain, Resource: "vpc-cni", Title: "add-on vpc-cni is degraded: access denied",
		Why:      "EKS says that the add-on vpc-cni v1.20.4-eksbuild.1 is DEGRADED. AccessDenied: it may not do what it must.",
		Evidence: []checks.Evidence{{What: "AccessDenied", Value: "aws-node may not call ec2:AssignPrivateIpAddresses"}},
		Fix:      checks.Fix{Text: "Give the add-on's role the policy AmazonEKS_CNI_Policy.", Command: "aws eks describe-addon --region us-west-2 --cluster-name prod --addon-name vpc-cni --query addon.[status,health]"},
	}, nil)
	refused := incidentOf(diagnose.Cause{
		Check: "launch/vcpu-limit", Confidence: checks.Certain, Resource: "L-1216C47A", Title: "workers cannot launch: the quota of on-demand vCPUs is used up",
		Why:        "EC2 refused 4 launches of eks-workers: You have requested more vCPU capacity than your current vCPU limit of 32 allows.",
		Evidence:   []checks.Evidence{{What: "Scaling activity", Value: "14:59:03 Failed: You have requested more vCPU capacity than your current vCPU limit of 32 allows for the instance bucket that the specified instance type belongs to."}},
		Fix:        checks.Fix{Text: "Ask for a higher quota L-1216C47A, or launch types of another bucket.", Command: "aws service-quotas request-service-quota-increase --region us-west-2 --service-code ec2 --quota-code L-1216C47A --desired-value 64"},
		Nodegroups: []string{"workers"},
	}, nil)

	quota := incidentOf(diagnose.Cause{
		Check: "nodegroup/health", Confidence: checks.Certain, Resource: "workers", Title: "nodegroup workers is degraded: instance limit exceeded",
		Why:        "EKS reports InstanceLimitExceeded: the account may not run more instances of this kind.",
		Evidence:   []checks.Evidence{{What: "workers", Value: "DEGRADED, min 1 max 6 desired 4"}, {What: "InstanceLimitExceeded", Value: "Your account is currently unable to launch more instances of type m5.24xlarge"}},
		Fix:        checks.Fix{Text: "Ask for a higher quota of running vCPUs (Service Quotas, EC2), or end instances.", Command: "aws eks describe-nodegroup --region us-west-2 --cluster-name prod --nodegroup-name workers --query 'nodegroup.[status,health]'"},
		Nodegroups: []string{"workers"},
	}, nil)
	update := incidentOf(diagnose.Cause{
		Check: "nodegroup/update-failed", Confidence: checks.Certain, Resource: "workers", Title: "nodegroup workers failed to update: pod eviction failure",
		Why:        "The version update of workers that began at 2026-11-20 14:20 UTC failed. EKS reports PodEvictionFailure: pods could not be moved off the old nodes in time, most often for a disruption budget that allows none to go.",
		Evidence:   []checks.Evidence{{What: "Update 7d3f5b0a-8c1e-3f5d-9d64-2d9b8f7a6c10", Value: "VersionUpdate of 2026-11-20 14:20:00: Failed"}, {What: "PodEvictionFailure", Value: "Reached max retries while trying to evict pods from nodes in node group workers"}},
		Fix:        checks.Fix{Text: "Find the budget (kubectl get pdb -A, ALLOWED DISRUPTIONS 0), give its pods another replica, and update again; or update with --force, which ends them.", Command: "kubectl get pdb --all-namespaces"},
		Nodegroups: []string{"workers"},
	}, nil)

	short := with(incidentOf(noEgress(), launches(2, report.Missed)), func(i *incident.Incident) {
		i.Capacity = &incident.Capacity{At: i.Changed, Desired: 12, Ready: 10, Affected: 2}
	})
	enough := with(short, func(i *incident.Incident) {
		i.Capacity = &incident.Capacity{At: i.Changed, Desired: 12, Ready: 12, Affected: 2}
	})

	withdrawn := with(missed, ended(incident.Withdrawn), func(i *incident.Incident) { i.Cleared, i.ClearedBy = time.Time{}, nil })
	return append(slices.Concat(addressScenes(), actScenes(), zoneScenes()), []scene{
		{"nodegroup-quota", quota, []incident.Note{note(quota, incident.Opened, quota.Opened)}},
		{"nodegroup-well", with(quota, ended(incident.Proved), func(i *incident.Incident) {
			i.ClearedBy = []checks.Evidence{{What: "workers", Value: "EKS still says DEGRADED; i-0f15a6b7c8d9e0f1a, started later (15:10:04 UTC), is a Ready node"}}
		}), nil},
		{"nodegroup-update", update, []incident.Note{note(update, incident.Opened, update.Opened)}},
		{"addon", addon, []incident.Note{note(addon, incident.Opened, addon.Opened)}},
		{"addon-well", with(addon, ended(incident.Proved), func(i *incident.Incident) {
			i.ClearedBy = []checks.Evidence{{What: "vpc-cni", Value: "is ACTIVE"}}
		}), nil},
		{"launch-refused", refused, []incident.Note{note(refused, incident.Opened, refused.Opened)}},
		{"predicted", predicted, []incident.Note{note(predicted, incident.Opened, predicted.Opened)}},
		{"missed", missed, []incident.Note{note(missed, incident.Opened, missed.Opened), note(missed, incident.HasMissed, began.Add(5*time.Minute))}},
		{"capacity-short", short, []incident.Note{note(short, incident.Opened, short.Opened)}},
		{"capacity-enough", enough, nil},
		{"some-joined", incidentOf(noEgress(), mixed), nil},
		{"all-joined", incidentOf(noEgress(), joined), nil},
		{"nobody-yet", nobody, []incident.Note{note(nobody, incident.Opened, nobody.Opened)}},
		{"cleared", with(missed, clearedAt), []incident.Note{note(missed, incident.CauseGone, began.Add(12*time.Minute)), note(missed, incident.FailedAgain, began.Add(13*time.Minute))}},
		{"cleared-before-due", with(predicted, clearedAt), nil},
		{"proved", proved, []incident.Note{note(proved, incident.IsProved, proved.Resolved)}},
		{"unproved", with(missed, ended(incident.Unproved)), []incident.Note{note(missed, incident.IsUnproved, began.Add(72*time.Minute))}},
		{"superseded", with(incidentOf(notRegistered(), launches(1, report.Missed)), gaveWayTo("route/no-egress")), []incident.Note{note(with(missed, gaveWayTo("route/no-egress")), incident.IsSuperseded, began.Add(72*time.Minute))}},
		{"withdrawn", withdrawn, []incident.Note{note(withdrawn, incident.IsWithdrawn, withdrawn.Resolved)}},
		{"given-up", with(incidentOf(notRegistered(), launches(1, report.GivenUp)), ended(incident.GivenUpOn)), []incident.Note{note(missed, incident.IsGivenUpOn, began.Add(2*time.Hour))}},
		{"reopened", again, []incident.Note{note(again, incident.Reopened, began)}},
		{"line-reopened", again, []incident.Note{shownToAll(note(again, incident.Reopened, began))}},
		{"line-failed-again", missed, []incident.Note{shownToAll(note(missed, incident.FailedAgain, began.Add(13*time.Minute)))}},
		{"line-worse", missed, []incident.Note{shownToAll(note(missed, incident.IsWorse, began.Add(13*time.Minute)))}},
		{"line-missed", missed, []incident.Note{shownToAll(note(missed, incident.HasMissed, began.Add(5*time.Minute)))}},
		{"line-decision", with(missed, offers(offer(incident.Offered))), []incident.Note{shownToAll(about(note(missed, incident.IsProposed, began.Add(30*time.Minute)), offer(incident.Offered)))}},
		{"line-unhelpful", with(missed, offers(offer(incident.Unhelpful))), []incident.Note{shownToAll(about(note(missed, incident.IsUnhelpful, began.Add(30*time.Minute)), offer(incident.Unhelpful)))}},
		{"symptom", incidentOf(notRegistered(), launches(1, report.Missed)), nil},
		{"symptom-blind", symptomBlind, []incident.Note{note(symptomBlind, incident.Opened, symptomBlind.Opened)}},
		{"cannot-look", sight, []incident.Note{note(sight, incident.Opened, sight.Opened)}},
		{"can-look-again", with(sight, ended(incident.Proved), func(i *incident.Incident) { i.ClearedBy = nil }), []incident.Note{note(sight, incident.IsProved, began)}},
		{"likely", incidentOf(likely, launches(4, report.Missed)), nil},
		{"common-factor", sharedIncident, []incident.Note{note(sharedIncident, incident.Opened, began)}},
		{"possible-early", incidentOf(possible, launches(4, report.Waiting)), nil},
		{"ended-early", incidentOf(early, ended1), []incident.Note{note(incidentOf(early, ended1), incident.Opened, began.Add(time.Minute))}},
		{"ended-early-many", incidentOf(early, launches(7, report.Gone)), nil},
		{"long-names", longNames, nil},
		{"hostile", hostile, []incident.Note{note(hostile, incident.Opened, hostile.Opened)}},
		{"huge", huge, []incident.Note{note(huge, incident.Opened, huge.Opened)}},
		{"unknown-note", predicted, []incident.Note{{ID: "something-new", Reason: "something-new", At: began}}},
	}...)
}
