package slack

import (
	"encoding/json"
	"fmt"
	"html"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	slackgo "github.com/slack-go/slack"

	"rollcall/shared/catalog"
	"rollcall/shared/checkid"
	"rollcall/shared/checks/finding"
	"rollcall/shared/diagnosis"
	"rollcall/shared/incident"
	"rollcall/shared/overview"
	"rollcall/shared/ownership"
	"rollcall/shared/remedy"
	"rollcall/shared/remedy/optin"
	"rollcall/shared/report"
	"rollcall/shared/silence"
	"rollcall/shared/slack/slackapi"
	"rollcall/shared/slack/slacktext"
	"rollcall/shared/snapshot"
	"rollcall/shared/spoke"
	"rollcall/tools/testfull"
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
func noEgress() diagnosis.Cause {
	return diagnosis.Cause{
		Check: "route/no-egress", Confidence: catalog.Certain,
		Resource: "rtb-0cd2e3f4a5b6c7d8e", Covers: []string{"subnet-0ab1c2d3e4f5a6b7c"},
		Title: "subnet-0ab1c2d3e4f5a6b7c has no route to the internet",
		Why:   "rtb-0cd2e3f4a5b6c7d8e (us-west-2a) has only 10.42.0.0/16 → local. Nodes must reach the cluster API, EC2, ECR, S3 and STS; this VPC has no endpoints for them.",
		Evidence: []finding.Evidence{
			{What: "Routes of rtb-0cd2e3f4a5b6c7d8e", Value: "10.42.0.0/16 → local"},
			{What: "subnet-0ab1c2d3e4f5a6b7c", Value: "10.42.192.0/19, us-west-2a, 8186 free addresses; associated with rtb-0cd2e3f4a5b6c7d8e"},
			{What: "Path to cluster API, EC2, ECR (api), ECR (dkr), S3 and STS", Value: "no route of rtb-0cd2e3f4a5b6c7d8e matches"},
			{What: "Endpoints", Value: "none"},
		},
		Fix: finding.Fix{
			Text:    "nat-0aa4b5c6d7e8f9a0b: available, same zone",
			Command: "aws ec2 create-route --region us-west-2 --route-table-id rtb-0cd2e3f4a5b6c7d8e --destination-cidr-block 0.0.0.0/0 --nat-gateway-id nat-0aa4b5c6d7e8f9a0b",
			Console: "https://us-west-2.console.aws.amazon.com/vpcconsole/home?region=us-west-2#RouteTableDetails:RouteTableId=rtb-0cd2e3f4a5b6c7d8e",
			Remedy:  "add-nat-route",
		},
		Nodegroups: []string{"workers"},
		Hidden:     []diagnosis.Hidden{{Check: "node/not-registered", Because: "route/no-egress"}},
	}
}

func incidentOf(c diagnosis.Cause, list []report.Launch) incident.Incident {
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

func clearedBy() []finding.Evidence {
	return []finding.Evidence{{What: "rtb-0cd2e3f4a5b6c7d8e", Value: "0.0.0.0/0 → nat-0aa4b5c6d7e8f9a0b"}}
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

func notRegistered() diagnosis.Cause {
	return diagnosis.Cause{
		Check: "node/not-registered", Confidence: catalog.Symptom, Resource: launch(0, "").Instance,
		Title: launch(0, "").Instance + " has not registered as a node",
		Why:   launch(0, "").Instance + " has been running for 5 min 2 s; no node of the cluster has its provider id.",
		Evidence: []finding.Evidence{
			{What: "instance", Value: "running since 14:59:03 UTC"},
			{What: "nodes", Value: "14 in the cluster, none with this provider id"},
		},
		Fix: finding.Fix{
			Text:    "Read the console output of i-0ef3000003a5b0000.",
			Command: "aws ec2 get-console-output --region us-west-2 --latest --output text --instance-id " + launch(0, "").Instance,
		},
		Nodegroups: []string{"workers"},
	}
}

func cannotLook() diagnosis.Cause {
	return diagnosis.Cause{
		Check: incident.CannotLook, Confidence: catalog.Possible, Resource: "ec2:DescribeRouteTables",
		Title:    "cannot read the route tables: ec2:DescribeRouteTables is denied",
		Why:      "Whether instances can join is unknown until this can be read. Checks that depend on it are skipped, and nothing they cover is reported healthy.",
		Evidence: []finding.Evidence{{What: "Checks not run", Value: "endpoint/missing, route/blackhole, route/no-egress"}, {What: "Error code", Value: "UnauthorizedOperation"}},
		Fix:      finding.Fix{Text: "Allow ec2:DescribeRouteTables to Rollcall's functions: deploy the stack again if the permission is missing in their roles, else look for a permissions boundary or a service control policy that denies it."},
	}
}

// scenes are what the goldens show.
func scenes() []scene {
	likely := noEgress()
	likely.Check, likely.Confidence = "ip/subnet-exhausted", catalog.Likely
	likely.Resource, likely.Title = "subnet-0ab1c2d3e4f5a6b7c", "subnet-0ab1c2d3e4f5a6b7c has 3 free addresses"
	likely.Why = "A node of m5.large takes 20 addresses at its start (2 interfaces of 10); 3 of 251 are free."
	likely.Fix = finding.Fix{Text: "Free addresses in subnet-0ab1c2d3e4f5a6b7c, or add a larger subnet to the nodegroup."}
	shared := noEgress()
	shared.Check, shared.Confidence = "instance/common-factor", catalog.Likely
	shared.Resource, shared.Title = "ami-0bad000000000002b", "7 of 7 with ami-0bad000000000002b failed, 20 of 20 others joined"
	shared.Why = "7 of 7 launches with ami-0bad000000000002b failed, the first launched 2026-11-20 13:18 UTC; 20 of 20 others of the last 7 days joined. These are also exactly the launches with lt-0e200000000000001 version 2: any of these can be the cause."
	shared.Evidence = []finding.Evidence{
		{What: "AMI", Value: "ami-0bad000000000002b"}, {What: "launch template version", Value: "lt-0e200000000000001 version 2"},
		{What: "Launches compared", Value: "7 of 7 failed with it, in 7 quarters of an hour; without it 0 of 20"},
		{What: "Chance", Value: "p = 0.0021, corrected for 4 values and 348 inspections (90 days)"},
	}
	shared.Fix = finding.Fix{
		Text:    "Compare ami-0bad000000000002b with ami-0a1e2d3c4b5a69788, with which launches join, and go back to that if nothing else is found. The console output of i-0bad0000000000000 may show how it fails.",
		Command: "aws ec2 describe-images --region us-west-2 --image-ids ami-0bad000000000002b ami-0a1e2d3c4b5a69788",
		Console: "https://us-west-2.console.aws.amazon.com/ec2/home?region=us-west-2#ImageDetails:imageId=ami-0bad000000000002b",
	}
	sharedIncident := incidentOf(shared, launches(7, report.Missed))
	possible := likely
	possible.Confidence = catalog.Possible

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
	early := diagnosis.Cause{
		Check: "instance/ended-early", Confidence: catalog.Certain, Resource: ended1[0].Instance,
		Title: ended1[0].Instance + " ended before it was a node",
		Why:   ended1[0].Instance + " was terminated 40 s after its launch. EC2 gives the reason Client.InvalidKMSKey.InvalidState: The KMS key provided is in an incorrect state.",
		Fix:   finding.Fix{Text: "Enable the KMS key of the launch template's volumes, or use another one."}, Nodegroups: []string{"workers"},
	}

	predicted := incidentOf(noEgress(), launches(1, report.Waiting))
	missed := with(incidentOf(noEgress(), launches(12, report.Missed)), func(i *incident.Incident) {
		i.Changed, i.Pods = began.Add(5*time.Minute), &incident.PodImpact{At: began, Count: 12, Owners: 2, Workloads: []diagnosis.Workload{{Namespace: "batch", Owner: "Job render", Pods: 10}, {Namespace: "shop", Owner: "Deployment frontend", Pods: 2}}}
	})
	pods := func(p incident.PodImpact) incident.Incident {
		return with(missed, func(i *incident.Incident) { i.Pods = &p })
	}
	nobody := with(incidentOf(noEgress(), nil), func(i *incident.Incident) { i.Pods = &incident.PodImpact{At: began} })
	one := []diagnosis.Workload{{Namespace: "shop", Owner: "StatefulSet redis", Pods: 1}}
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
		i.Cause.Evidence = []finding.Evidence{{What: "```\n<!channel>", Value: "``` <@U012AB3CD>\n\x1b[31mred\x00"}}
		i.Cause.Fix.Text = "see <https://evil.example|here>."
	})
	huge := with(incidentOf(noEgress(), launches(incident.MaxLaunches, report.Missed)), func(i *incident.Incident) {
		i.Affected = 1200
		for n := range 300 {
			i.Cause.Evidence = append(i.Cause.Evidence, finding.Evidence{What: fmt.Sprintf("route %d", n), Value: fmt.Sprintf("10.%d.0.0/16 → pcx-0%012x", n%250, n)})
		}
		i.Cause.Why = strings.Repeat("This VPC has a great many routes. ", 200)
	})

	addon := incidentOf(diagnosis.Cause{
		Check: "addon/degraded", Confidence: catalog.Certain, Resource: "vpc-cni", Title: "add-on vpc-cni is degraded: access denied",
		Why:      "EKS reports that the add-on vpc-cni v1.20.4-eksbuild.1 is DEGRADED. AccessDenied: it lacks a permission.",
		Evidence: []finding.Evidence{{What: "AccessDenied", Value: "aws-node lacks ec2:AssignPrivateIpAddresses"}},
		Fix:      finding.Fix{Text: "Give the add-on's role the policy AmazonEKS_CNI_Policy.", Command: "aws eks describe-addon --region us-west-2 --cluster-name prod --addon-name vpc-cni --query addon.[status,health]"},
	}, nil)
	refused := incidentOf(diagnosis.Cause{
		Check: "launch/vcpu-limit", Confidence: catalog.Certain, Resource: "L-1216C47A", Title: "workers cannot launch: the quota of on-demand vCPUs is used up",
		Why:        "EC2 refused 4 launches of eks-workers: You have requested more vCPU capacity than your current vCPU limit of 32 allows.",
		Evidence:   []finding.Evidence{{What: "Scaling activity", Value: "14:59:03 Failed: You have requested more vCPU capacity than your current vCPU limit of 32 allows for the instance bucket that the specified instance type belongs to."}},
		Fix:        finding.Fix{Text: "Ask for a higher quota L-1216C47A, or launch types of another bucket.", Command: "aws service-quotas request-service-quota-increase --region us-west-2 --service-code ec2 --quota-code L-1216C47A --desired-value 64"},
		Nodegroups: []string{"workers"},
	}, nil)

	quota := incidentOf(diagnosis.Cause{
		Check: "nodegroup/health", Confidence: catalog.Certain, Resource: "workers", Title: "nodegroup workers is degraded: instance limit exceeded",
		Why:        "EKS reports InstanceLimitExceeded: the account has reached its quota of instances of this kind.",
		Evidence:   []finding.Evidence{{What: "workers", Value: "DEGRADED, min 1 max 6 desired 4"}, {What: "InstanceLimitExceeded", Value: "Your account is currently unable to launch more instances of type m5.24xlarge"}},
		Fix:        finding.Fix{Text: "Request a higher quota of running vCPUs (Service Quotas, EC2), or terminate instances.", Command: "aws eks describe-nodegroup --region us-west-2 --cluster-name prod --nodegroup-name workers --query 'nodegroup.[status,health]'"},
		Nodegroups: []string{"workers"},
	}, nil)
	update := incidentOf(diagnosis.Cause{
		Check: "nodegroup/update-failed", Confidence: catalog.Certain, Resource: "workers", Title: "nodegroup workers failed to update: pod eviction failure",
		Why:        "The version update of workers that began at 2026-11-20 14:20 UTC failed. EKS reports PodEvictionFailure: pods could not be evicted from the old nodes in time, usually because a disruption budget allows no evictions.",
		Evidence:   []finding.Evidence{{What: "Update 7d3f5b0a-8c1e-3f5d-9d64-2d9b8f7a6c10", Value: "VersionUpdate of 2026-11-20 14:20:00: Failed"}, {What: "PodEvictionFailure", Value: "Reached max retries while trying to evict pods from nodes in node group workers"}},
		Fix:        finding.Fix{Text: "Find the budget (kubectl get pdb -A, ALLOWED DISRUPTIONS 0), give its pods another replica, and update again; or update with --force, which deletes them.", Command: "kubectl get pdb --all-namespaces"},
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
			i.ClearedBy = []finding.Evidence{{What: "workers", Value: "EKS still reports DEGRADED; i-0f15a6b7c8d9e0f1a, started later (15:10:04 UTC), is a Ready node"}}
		}), nil},
		{"nodegroup-update", update, []incident.Note{note(update, incident.Opened, update.Opened)}},
		{"addon", addon, []incident.Note{note(addon, incident.Opened, addon.Opened)}},
		{"addon-well", with(addon, ended(incident.Proved), func(i *incident.Incident) {
			i.ClearedBy = []finding.Evidence{{What: "vpc-cni", Value: "is ACTIVE"}}
		}), nil},
		{"launch-refused", refused, []incident.Note{note(refused, incident.Opened, refused.Opened)}},
		{"owner", with(missed, func(i *incident.Incident) {
			i.Logs = report.Logs{Group: "/aws/eks/prod/cluster", Region: "us-west-2"}
			i.Owner = ownership.Owner{{Field: ownership.Team, Text: "payments"}, {Field: ownership.Service, Text: "shop"},
				{Field: ownership.Runbook, Text: "wiki.example.com/nodes", URL: "https://wiki.example.com/nodes"}, {Field: ownership.Dashboard, Text: "ops.grafana.net/d/1", URL: "https://ops.grafana.net/d/1"}}
		}), nil},
		{"owner-hostile", with(missed, func(i *incident.Incident) {
			i.Logs = report.Logs{Group: "/aws/lambda/x <!channel>", Region: "us-west-2"}
			i.Owner = ownership.Owner{{Field: ownership.Team, Text: "<!channel> \u202eevil <@U012AB3CD> *bold* " + strings.Repeat("x", 300)},
				{Field: ownership.Runbook, Text: "evil.example/x"}, {Field: ownership.Dashboard, Text: "evil.example", URL: "javascript:alert(1)"}}
		}), nil},
		{"predicted", predicted, []incident.Note{note(predicted, incident.Opened, predicted.Opened)}},
		{"missed", missed, []incident.Note{note(missed, incident.Opened, missed.Opened), note(missed, incident.HasMissed, began.Add(5*time.Minute))}},
		{"pods-unsure", pods(incident.PodImpact{Unsure: 3}), nil},
		{"pods-and-unsure", pods(incident.PodImpact{Count: 1, Owners: 1, Workloads: one, Unsure: 2}), nil},
		{"pods-served", pods(incident.PodImpact{Count: 1, Owners: 1, Workloads: one, Elsewhere: report.NodeSource{Name: "spot"}, Served: 1}), nil},
		{"pods-many-owners", pods(incident.PodImpact{Count: 1204, Owners: 9, Workloads: []diagnosis.Workload{{Namespace: "batch", Owner: "Job render", Pods: 1190}, {Namespace: "shop", Owner: "Deployment frontend", Pods: 4}, {Namespace: "shop", Owner: "Pod once", Pods: 1}}, Elsewhere: report.NodeSource{Name: "general", Group: "eks-general-1"}, Served: 900}), nil},
		{"pods-of-cluster", pods(incident.PodImpact{OfCluster: true, Count: 1, Owners: 1, Workloads: one}), nil},
		{"pods-none-in-cluster", pods(incident.PodImpact{OfCluster: true}), nil},
		{"pods-denied", pods(incident.PodImpact{Unread: &snapshot.Failure{Source: snapshot.WaitingPods, Reason: snapshot.Denied, Call: "kubernetes: list pods"}}), nil},
		{"pods-timed-out", pods(incident.PodImpact{Unread: &snapshot.Failure{Source: snapshot.WaitingPods, Reason: snapshot.TimedOut, Call: "kubernetes: list pods"}}), nil},
		{"pods-not-read-any-more", pods(incident.PodImpact{Unread: &snapshot.Failure{Source: snapshot.WaitingPods, Reason: snapshot.NotRead}}), nil},
		{"pods-hostile", pods(incident.PodImpact{Count: 1, Owners: 1, Workloads: []diagnosis.Workload{{Namespace: "<!channel>", Owner: "Job `rm` \u202eevil <@U012AB3CD>", Pods: 1}}}), nil},
		{"capacity-short", short, []incident.Note{note(short, incident.Opened, short.Opened)}},
		{"capacity-enough", enough, nil},
		{"some-joined", incidentOf(noEgress(), mixed), nil},
		{"all-joined", incidentOf(noEgress(), joined), nil},
		{"nobody-yet", nobody, []incident.Note{note(nobody, incident.Opened, nobody.Opened)}},
		{"cleared", with(missed, clearedAt), []incident.Note{note(missed, incident.CauseGone, began.Add(12*time.Minute)), note(missed, incident.FailedAgain, began.Add(13*time.Minute))}},
		{"cleared-karpenter", with(missed, clearedAt, func(i *incident.Incident) {
			i.Launches = launches(1, report.Missed)
			i.Launches[0].Group, i.Launches[0].Nodegroup = "", "batch"
		}), nil},
		{"cleared-before-due", with(predicted, clearedAt), nil},
		{"proved", proved, []incident.Note{note(proved, incident.IsProved, proved.Resolved)}},
		{"act-proved-feedback", with(proved, func(i *incident.Incident) {
			i.Feedback = []incident.Feedback{{By: dev(), Number: 1, Says: report.SayRight}, {By: oncall(), Number: 1, Says: report.SayWrong, Text: "it was the proxy"}, {By: report.User{ID: "U0X"}, Number: 9, Says: report.SayNotUseful}}
		}), nil},
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

// TestNeverPastTheLimits draws odd and huge incidents and holds each message
// against Slack's limits.
func TestNeverPastTheLimits(t *testing.T) {
	// Each of thirty wild incidents has all the texts too long, too odd or too many.
	for seed := range uint64(testfull.Count(120, 30)) {
		w := wild{rand.New(rand.NewPCG(seed, 2))}
		i := w.incident()
		messages := []slackapi.Message{Render(i, Options{Actions: true, Now: w.time()})}
		for _, n := range i.Delivery.Notes {
			messages = append(messages, RenderNote(i, n))
		}
		for n, m := range messages {
			for _, problem := range problems(m) {
				t.Errorf("seed %d, message %d: %s", seed, n, problem)
			}
		}
		if t.Failed() {
			return
		}
	}
}

// problems are the limits that a message breaks.
func problems(m slackapi.Message) []string {
	var list []string
	text := calls().ReplaceAllString(m.Text, "")
	if text == "" || slacktext.Length(m.Text) > slacktext.MaxText || strings.ContainsAny(text, "<>\n") || strings.Contains(strings.NewReplacer("&amp;", "", "&lt;", "", "&gt;", "").Replace(m.Text), "&") {
		list = append(list, "text "+m.Text)
	}
	if len(m.Blocks) == 0 || len(m.Blocks) > slacktext.MaxBlocks {
		list = append(list, "number of blocks "+slacktext.Number(len(m.Blocks)))
	}
	if n := slacktext.Size(m.Blocks); n > slacktext.MaxSize {
		list = append(list, "size "+slacktext.Number(n))
	}
	for _, b := range m.Blocks {
		if image, is := b.(*slackgo.ImageBlock); is {
			if image.SlackFile == nil || image.SlackFile.ID == "" || image.AltText == "" || slacktext.Length(image.AltText) > slackapi.MaxAlt {
				list = append(list, "a picture without a file or a text")
			}
			continue
		}
		if row, is := b.(*slackgo.ActionBlock); is {
			list = append(list, buttonProblems(row)...)
			continue
		}
		block := b.(*slackgo.RichTextBlock)
		if len(block.Elements) == 0 {
			list = append(list, "an empty block")
		}
		for _, e := range block.Elements {
			list = append(list, partProblems(e)...)
		}
	}
	return list
}

func partProblems(e slackgo.RichTextElement) (list []string) {
	var items []slackgo.RichTextSectionElement
	switch e := e.(type) {
	case *slackgo.RichTextSection:
		items = e.Elements
		for _, item := range items {
			text := ""
			switch item := item.(type) {
			case *slackgo.RichTextSectionTextElement:
				text = item.Text
			case *slackgo.RichTextSectionLinkElement:
				text = item.Text
			}
			// A line of its own in a sentence could be taken for one of Rollcall's.
			if strings.ContainsAny(text, "\n\r\v\f\u0085\u2028\u2029") {
				list = append(list, "a broken line: "+strconv.Quote(text))
			}
		}
	case *slackgo.RichTextPreformatted:
		items = e.Elements
	case *slackgo.RichTextList:
		for _, item := range e.Elements {
			list = append(list, partProblems(item)...)
		}
		if len(e.Elements) == 0 {
			list = append(list, "an empty list")
		}
		return list
	}
	if len(items) == 0 {
		list = append(list, "an empty section")
	}
	for _, item := range items {
		switch item := item.(type) {
		case *slackgo.RichTextSectionTextElement:
			list = append(list, textProblems(item.Text)...)
		case *slackgo.RichTextSectionLinkElement:
			list = append(list, textProblems(item.Text)...)
			if !strings.HasPrefix(item.URL, "https://") || slacktext.Length(item.URL) > 3000 {
				list = append(list, "link to "+item.URL)
			}
		case *slackgo.RichTextSectionDateElement:
			if item.Timestamp < 0 || item.Fallback == nil || !strings.HasSuffix(*item.Fallback, " UTC") {
				list = append(list, "a time that cannot be read")
			}
		case *slackgo.RichTextSectionUserElement:
			if !slices.Contains([]string{"U0ONCALL01", "U0DEV00001"}, item.UserID) {
				list = append(list, "a mention of "+item.UserID)
			}
		case *slackgo.RichTextSectionUserGroupElement:
			if item.UsergroupID != "S0LEADS001" {
				list = append(list, "a mention of the group "+item.UsergroupID)
			}
		case *slackgo.RichTextSectionBroadcastElement:
			if item.Range != "here" {
				list = append(list, "a mention of "+item.Range)
			}
		default:
			list = append(list, "an element that could mention people")
		}
	}
	return list
}

func textProblems(s string) []string {
	switch {
	case s == "":
		return []string{"an empty text"}
	case slacktext.Length(s) > slacktext.MaxPiece:
		return []string{"a text of " + slacktext.Number(slacktext.Length(s))}
	case !utf8.ValidString(s):
		return []string{"a text that is not UTF-8"}
	case strings.ContainsFunc(s, func(r rune) bool {
		return r != '\n' && (unicode.IsControl(r) || unicode.Is(unicode.Cf, r))
	}):
		return []string{"control characters"}
	}
	return nil
}

// TestSayWhatIsLeftOut: what does not fit is counted, and a command is whole
// or not there.
func TestSayWhatIsLeftOut(t *testing.T) {
	long := strings.Repeat("aws ec2 create-route --route-table-id rtb-0cd2 ", 100)
	i := incidentOf(noEgress(), launches(200, report.Missed))
	i.Cause.Fix.Command = long
	got := read([]slackapi.Message{Render(i, Options{})})
	if strings.Contains(got, "aws ec2 create-route") || !strings.Contains(got, "The command is too long to show here.") {
		t.Errorf("a long command was cut and not left out:\n%s", got)
	}
	got = read([]slackapi.Message{RenderNote(i, note(i, incident.Opened, began))})
	if want := "… and 175 more instances left out here"; !strings.Contains(got, want) {
		t.Errorf("the thread does not say %q:\n%s", want, got)
	}
}

// TestSizeIsWhatIsSent keeps the measure honest.
func TestSizeIsWhatIsSent(t *testing.T) {
	m := Render(incidentOf(noEgress(), nil), Options{})
	sent, err := json.Marshal(m.Blocks)
	if err != nil {
		t.Fatal(err)
	}
	if got := slacktext.Size(m.Blocks); got != len(sent) {
		t.Errorf("size = %d, want %d", got, len(sent))
	}
}

var paymentsEU = spoke.ID{Account: "222233334444", Region: "eu-west-1"}

// someOverview has one of all.
func someOverview() overview.Overview {
	now := time.Date(2026, 11, 20, 15, 30, 0, 0, time.UTC)
	broken := scenes()[0].incident
	broken.Delivery.Channel, broken.Delivery.TS = "C0123456789", "1763650800.000100"
	muted, hidden := broken, broken
	muted.Key.Resource, muted.Mute = "rtb-2", &incident.Mute{By: report.User{ID: "U0DANA0001"}, At: now.Add(-time.Hour), Until: now.Add(3 * time.Hour)}
	hidden.Key.Resource = "rtb-3"
	hidden.Delivery = incident.Delivery{}
	hidden.Silence = &incident.Silenced{ID: "ab12cd34", By: report.User{ID: "U0ONCALL01"}, At: now.Add(-time.Hour), Until: now.Add(30 * time.Hour), Reason: "node upgrade"}
	of := func(id spoke.ID, name, whose string, swept time.Time, open int, failed ...string) overview.Cluster {
		return overview.Cluster{Cluster: spoke.Cluster{ID: id, Name: name}, Whose: whose, Swept: swept, Open: open, Failed: failed}
	}
	person := silence.Person{ID: "U0ONCALL01", Name: "oncall"}
	return overview.Overview{
		Now: now, Site: "https://acme.slack.com/",
		Clusters: []overview.Cluster{
			of(spoke.ID{}, "prod", "platform", now.Add(-2*time.Minute), 3), of(spoke.ID{}, "dev", "platform", now.Add(-3*time.Minute), 0),
			of(paymentsEU, "prod", "payments", now.Add(-40*time.Minute), 0), of(paymentsEU, "batch", "payments", time.Time{}, 0),
			of(paymentsEU, "stage", "payments", now.Add(-time.Minute), 0, "zone-watch"),
		},
		Incidents: []incident.Incident{broken, muted, hidden},
		Silences: []overview.Silence{
			{Silence: silence.Silence{ID: "ab12cd34", Cluster: "prod", From: now.Add(-time.Hour), Until: now.Add(30 * time.Hour), At: now.Add(-time.Hour), By: person, Reason: "node upgrade"}, Whose: "platform"},
			{Silence: silence.Silence{
				ID: "00ff00ff", Spoke: paymentsEU, Cluster: "prod", Tag: &silence.Tag{Key: "team", Value: "payments"}, Check: "route/no-egress", From: now.Add(24 * time.Hour), Until: now.Add(20 * 24 * time.Hour), At: now, By: person,
				Weekly: &silence.Window{Day: time.Saturday, From: 2 * time.Hour, To: 6*time.Hour + 30*time.Minute}, Reason: "weekly rotation <@U1> *not bold*",
			}, Whose: "payments"},
		},
		Unread: []string{"silences in staging: the table did not answer; the error is in report's log"},
	}
}

func askedReport() report.Period {
	o := someOverview()
	return report.Period{
		From: o.Now.Add(-24 * time.Hour), To: o.Now, At: o.Now, Clusters: 40, Launches: report.Tally{All: 214, Joined: 209, Failed: 3, Reclaimed: 1, Waiting: 1},
		Opened: 2, Resolved: 1, Open: 1, LeftOut: 12,
		Joining: &report.Joining{Median: 62 * time.Second, Most95: 118 * time.Second, N: 209}, Causes: []report.CauseCount{{Check: "route/no-egress", N: 2}, {Check: "launch/capacity", N: 1}},
	}
}

// asked are the answers to commands, by the names of their golden files.
func askedFor() map[string][]slackapi.Message {
	o := someOverview()
	calm := overview.Overview{Now: o.Now, Clusters: o.Clusters[:2]}
	for i := range calm.Clusters {
		calm.Clusters[i].Open = 0
	}
	calm.Clusters = slices.Clone(calm.Clusters)
	o = someOverview()
	s := o.Silences[0].Silence
	ended := s
	ended.Ended, ended.EndedBy = o.Now.Add(-time.Minute), silence.Person{ID: "U0DANA0001"}
	shows := Options{Actions: true, Now: o.Now}
	found := overview.Found{
		Cluster: overview.Cluster{Cluster: spoke.Cluster{Name: "prod"}, Whose: "platform"}, Region: "us-west-2", Nodegroup: "workers", Type: "m5.large", Zone: "us-west-2a", Subnet: "subnet-0ab1c2d3e4f5a6b7c",
		Started: o.Now.Add(-31 * time.Minute), Due: o.Now.Add(-26 * time.Minute), End: snapshot.NotJoined, Cause: "route/no-egress", Says: "rtb-1 has no default route", Incidents: o.Incidents[:1],
	}
	return map[string][]slackapi.Message{
		"asked-status":   {RenderStatus(o), RenderStatus(calm), RenderStatus(overview.Overview{Now: o.Now})},
		"asked-clusters": {RenderClusters(o), RenderClusters(overview.Overview{Now: o.Now})},
		"asked-silences": {RenderSilences(o, true), RenderSilences(calm, true)},
		"asked-silence":  {RenderSilenced(s, "platform", o.Incidents[:1], o.Now), RenderSilence(s, "platform", shows), RenderSilence(ended, "platform", shows)},
		"asked-why": {
			RenderWhy(overview.Why{Instance: "i-0ef3", Now: o.Now, Site: o.Site, Found: []overview.Found{found}}),
			RenderWhy(overview.Why{Instance: "i-0ef4", Now: o.Now}),
		},
		"asked-report":  {RenderReport(askedReport())},
		"asked-home":    {RenderHome(o, "Ended: the silence of dev."), RenderHome(calm, "")},
		"asked-refused": {RenderRefusal(incident.Answer{Reason: incident.NotResponder}, o.Now), RenderRefusal(incident.Answer{Reason: incident.OtherWorkspace}, o.Now), RenderRefusal(incident.Answer{Reason: incident.WorkspaceNotRead}, o.Now)},
	}
}

func TestAskedGolden(t *testing.T) {
	for name, messages := range askedFor() {
		kept.Sent(t, name, wire(t, messages))
		kept.Text(t, name, []byte(read(messages)))
	}
}

// However much there is, a page is one that Slack takes, and says what it leaves out.
func TestAskedMuch(t *testing.T) {
	o := someOverview()
	for range 7 {
		o.Clusters = append(o.Clusters, o.Clusters...)
		o.Incidents = append(o.Incidents, o.Incidents...)
		o.Silences = append(o.Silences, o.Silences...)
		o.Unread = append(o.Unread, o.Unread...)
	}
	for name, m := range map[string]slackapi.Message{
		"status": RenderStatus(o), "clusters": RenderClusters(o), "silences": RenderSilences(o, true), "home": RenderHome(o, ""),
	} {
		if len(m.Blocks) > slacktext.MaxBlocks || slacktext.Size(m.Blocks) > slacktext.MaxSize {
			t.Errorf("%s has %d blocks of %d characters", name, len(m.Blocks), slacktext.Size(m.Blocks))
		}
		if text := read([]slackapi.Message{m}); !strings.Contains(text, " more") {
			t.Errorf("%s does not say that it leaves something out:\n%s", name, text)
		}
	}
}

// TestWordsAreTheMessages: whoever hears of an incident elsewhere reads what the message in
// Slack says: the same headline, and of each line the same beginning, as plain text that no
// mail program or card takes for anything else.
func TestWordsAreTheMessages(t *testing.T) {
	for _, s := range scenes() {
		w := Words(s.incident, s.options())
		m := Render(s.incident, s.options())
		// The notification's text begins with a colour.
		if _, said, _ := strings.Cut(html.UnescapeString(m.Text), " "); said != w.Headline && !strings.HasPrefix(w.Headline, strings.TrimSuffix(said, "…")) {
			t.Errorf("%s: Slack says %q, the others %q", s.name, said, w.Headline)
		}
		shown := strings.Join(strings.Fields(read([]slackapi.Message{m})), " ")
		for _, l := range append(w.Lines, incident.Line{Label: "Command", Text: w.Command}) {
			if strings.ContainsAny(l.Text, "`\n") && l.Label != "Command" || l.Label == "" || slacktext.Length(l.Text) > maxCommand {
				t.Errorf("%s: %s is no plain line: %q", s.name, l.Label, l.Text)
			}
			if l.Label == "Impact" || l.Label == "Since" || l.Label == "When" || l.Label == "Was" || l.Label == "Command" || l.Label == "Do" || l.Label == "Run" || l.Label == "Look" || strings.Contains(l.Text, " UTC") {
				continue // with times, which Slack shows in each reader's zone, and what is offered with buttons instead
			}
			if words := strings.Fields(l.Text); !strings.Contains(shown, strings.Join(words[:min(4, len(words))], " ")) {
				t.Errorf("%s: Slack does not say %q", s.name, l.Text)
			}
		}
		for _, address := range []string{w.Console, w.Docs} {
			if address != "" && !strings.HasPrefix(address, "https://") {
				t.Errorf("%s: leads to %q", s.name, address)
			}
		}
	}
}

func TestInUTC(t *testing.T) {
	at := time.Date(2026, 11, 20, 14, 59, 3, 0, time.FixedZone("", -8*3600))
	for want, from := range map[string]time.Time{"22:59 UTC": at.Add(time.Hour), "2026-11-20 22:59 UTC": at.Add(24 * time.Hour)} {
		if got := inUTC(at, from); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// A command that is too long to be shown whole is not shown: half a command must not be
// pasted.
func TestWordsOfALongCommand(t *testing.T) {
	i := scenes()[0].incident
	i.State = incident.Open
	i.Cause.Fix.Command = "aws " + strings.Repeat("x", maxCommand)
	w := Words(i, Options{})
	if diff := cmp.Diff(incident.Line{Label: "Do", Text: "The command is too long to show here."}, w.Lines[len(w.Lines)-1]); diff != "" || w.Command != "" {
		t.Errorf("command of %d, (-want +got):\n%s", len(w.Command), diff)
	}
}

// planScenes show a plan of each remedy as it is offered.
func planScenes(told func(incident.Reason, func(*incident.Note)) incident.Note) []scene {
	base := incidentOf(noEgress(), launches(3, report.Missed))
	var left []string
	for n := range 60 {
		left = append(left, fmt.Sprintf("eni-0aa%014x", n))
	}
	var list []scene
	for _, p := range []remedy.Plan{
		{Remedy: optin.ReplaceInstance, Replace: &remedy.ReplaceInstance{Instances: []remedy.Replaced{
			{Instance: "i-0ef3000003a5b0000", Group: "eks-workers-a1b2", Nodegroup: "workers", Zone: "us-west-2a"},
			{Instance: "i-0ef3000003a5b0011", Group: "eks-workers-a1b2", Nodegroup: "workers", Zone: "us-west-2a"},
		}}},
		{Remedy: optin.OpenEndpointSecurityGroup, Open: &remedy.OpenEndpointSecurityGroup{VPC: "vpc-0123456789abcdef0", SecurityGroup: "sg-0aaaabbbbccccdddd", Endpoints: []string{"vpce-0123456789abcdef0"}, Port: 443, From: []string{"sg-0eeeeffff00001111"}}},
		{Remedy: optin.CoverZones, Cover: &remedy.CoverZones{Nodegroup: "workers", From: 2, To: 3, Max: 6, Zones: []string{"us-west-2a", "us-west-2b", "us-west-2c"}, Without: []string{"us-west-2c"}}},
		{Remedy: optin.DeleteLeakedInterfaces, Cleanup: &remedy.DeleteLeakedInterfaces{VPC: "vpc-0123456789abcdef0", Subnet: "subnet-0ab1c2d3e4f5a6b7c", Interfaces: left, Addresses: 420}},
		{Remedy: optin.CreateAccessEntry, Access: &remedy.CreateAccessEntry{Principal: "arn:aws:iam::111122223333:role/eks/nodes/workers-node-role", Type: "EC2_LINUX"}},
	} {
		p.Format, p.Partition, p.Account, p.Region, p.Cluster, p.Check, p.Resource = remedy.Format, "aws", "111122223333", "us-west-2", "prod", base.Key.Check, base.Key.Resource
		of := offer(incident.Offered, func(of *incident.Offer) { of.Plan, of.Hash = p, p.Hash() })
		done := with(base, offers(offer(incident.Acted, func(of *incident.Offer) { of.Plan, of.Hash = p, p.Hash() })))
		list = append(list,
			scene{"act-plan-" + string(p.Remedy), with(base, offers(of)), []incident.Note{told(incident.IsProposed, nil)}},
			scene{"act-plan-" + string(p.Remedy) + "-done", done, []incident.Note{told(incident.RemedyDone, nil)}},
		)
	}
	return list
}

// TestThreadTellsHowToReplay: what opens or comes back says so once, where there is
// something to replay, and whatever a name holds is one word of the command.
func TestThreadTellsHowToReplay(t *testing.T) {
	kept := &incident.Evidence{Opened: "a", Newest: "a"}
	for name, test := range map[string]struct {
		evidence *incident.Evidence
		reason   incident.Reason
		resource string
		want     string
	}{
		"opened":        {kept, incident.Opened, "rtb-1", "rollcall replay prod:route/no-egress:rtb-1"},
		"back":          {kept, incident.Reopened, "rtb-1", "rollcall replay prod:route/no-egress:rtb-1"},
		"a strange one": {kept, incident.Opened, "a; rm -rf $HOME", "rollcall replay 'prod:route/no-egress:a; rm -rf $HOME'"},
		"of no bucket":  {nil, incident.Opened, "rtb-1", ""},
		"resolved":      {kept, incident.IsProved, "rtb-1", ""},
	} {
		i := incident.Incident{Key: report.Key{Cluster: "prod", Check: "route/no-egress", Resource: test.resource}, Evidence: test.evidence}
		raw, err := json.Marshal(RenderNote(i, incident.Note{Reason: test.reason}).Blocks)
		if err != nil {
			t.Fatal(err)
		}
		text := string(raw)
		if n := strings.Count(text, "rollcall replay"); n > 1 || (n == 1) != (test.want != "") || !strings.Contains(text, test.want) {
			t.Errorf("%s: %s", name, text)
		}
	}
}

// The colour of a message and the severity by which people are called are one
// judgement.
func TestColourIsSeverity(t *testing.T) {
	for _, s := range scenes() {
		colour, _ := verdict(s.incident)
		want := incident.Info
		switch colour {
		case red:
			want = incident.Critical
		case orange:
			want = incident.Warning
		}
		if got := s.incident.Severity(); got != want {
			t.Errorf("%s is %s and %s", s.name, colour, got)
		}
	}
}

// TestVerdictWhereNoLaunchMetIt: a cause that keeps pods of Ready nodes from starting does
// not foretell what launches will do.
func TestVerdictWhereNoLaunchMetIt(t *testing.T) {
	const title = "metadata of i-0a is out of pods' reach"
	for _, x := range []struct {
		sure catalog.Confidence
		pods []string
		want string
	}{
		{catalog.Likely, nil, "new instances will probably not join: " + title},
		{catalog.Possible, nil, "new instances may not join: " + title},
		{catalog.Likely, []string{"shop/web-0"}, "pods wait on Ready nodes: " + title},
		{catalog.Certain, []string{"shop/web-0", "shop/web-1"}, "pods wait on Ready nodes: " + title},
	} {
		i := incident.Incident{State: incident.Open, Number: 1, Key: report.Key{Cluster: "prod", Check: checkid.InstanceIMDS, Resource: "lt-0a"}}
		i.Cause.Title, i.Cause.Confidence, i.Cause.Pods = title, x.sure, x.pods
		if colour, got := verdict(i); got != x.want || colour != orange {
			t.Errorf("%s, %d pods: %s %q, want %q", x.sure, len(x.pods), colour, got, x.want)
		}
	}
}

func TestChange(t *testing.T) {
	for _, tt := range []struct {
		list []finding.Evidence
		want string
	}{
		{nil, ""},
		{[]finding.Evidence{{What: "rtb-0cd2", Value: "0.0.0.0/0 → nat-0aa4"}}, "rtb-0cd2 has 0.0.0.0/0 → nat-0aa4"},
		{[]finding.Evidence{{What: "rtb-0cd2", Value: "no internet needed: endpoints for EC2 and S3"}}, "rtb-0cd2: no internet needed: endpoints for EC2 and S3"},
		{[]finding.Evidence{{What: "vpc-0cd2", Value: "has endpoints for EC2"}}, "vpc-0cd2 has endpoints for EC2"},
		{[]finding.Evidence{{What: "Addresses of subnet-0ab1", Value: "20 free"}}, "Addresses of subnet-0ab1: 20 free"},
		{[]finding.Evidence{{What: "rtb-0cd2", Value: "a\nb"}}, ""},
		{[]finding.Evidence{{What: "rtb-0cd2"}}, ""},
		{[]finding.Evidence{{What: "a", Value: "b"}, {What: "c", Value: "d"}}, ""},
	} {
		if got := change(tt.list); got != tt.want {
			t.Errorf("change(%v) = %q, want %q", tt.list, got, tt.want)
		}
	}
}

func TestConsole(t *testing.T) {
	for _, tt := range []struct {
		place place
		id    string
		want  string
	}{
		{place{"aws", "us-west-2"}, "rtb-0cd2", "https://us-west-2.console.aws.amazon.com/vpcconsole/home?region=us-west-2#RouteTableDetails:RouteTableId=rtb-0cd2"},
		{place{"aws-cn", "cn-north-1"}, "i-0ef3", "https://cn-north-1.console.amazonaws.cn/ec2/home?region=cn-north-1#InstanceDetails:instanceId=i-0ef3"},
		{place{"aws-us-gov", "us-gov-west-1"}, "subnet-0ab1", "https://us-gov-west-1.console.amazonaws-us-gov.com/vpcconsole/home?region=us-gov-west-1#SubnetDetails:subnetId=subnet-0ab1"},
		{place{"aws", "evil.example/"}, "rtb-0cd2", ""},
		{place{"", "us-west-2"}, "rtb-0cd2", ""},
		{place{"aws", "us-west-2"}, "prod/workers", ""},
		{place{"aws", "us-west-2"}, "rtb-0cd2&x=y", ""},
		{place{"aws", "us-west-2"}, "", ""},
	} {
		if got := tt.place.console(tt.id); got != tt.want {
			t.Errorf("%v.console(%q) = %q, want %q", tt.place, tt.id, got, tt.want)
		}
	}
}

func TestWeb(t *testing.T) {
	for address, ok := range map[string]bool{
		"https://us-west-2.console.aws.amazon.com/vpcconsole/home?region=us-west-2#X:y=z": true,
		"https://us-west-2.console.amazonaws.cn/ec2/home":                                 true,
		"https://us-gov-west-1.console.amazonaws-us-gov.com/ec2/home":                     true,
		"https://console.aws.amazon.com/":                                                 true,
		"https://docs.aws.amazon.com/eks/latest/userguide/":                               true,
		"https://evil.example/":                                                           false,
		"https://us-west-2.console.aws.amazon.com.evil.example/":                          false,
		"https://evilconsole.aws.amazon.com/":                                             false,
		"https://x.y.console.aws.amazon.com/":                                             false,
		"https://s3.amazonaws.com/evil":                                                   false,
		"https://us-west-2.console.aws.amazon.com:8443/":                                  false,
		"https://us-west-2.console.aws.amazon.com\\@evil.example/":                        false,
		"http://console.aws.amazon.com/":                                                  false,
		"javascript:alert(1)":                                                             false,
		"https://user@host/":                                                              false,
		"https://":                                                                        false,
		"":                                                                                false,
	} {
		want := ""
		if ok {
			want = address
		}
		if got := web(address); got != want {
			t.Errorf("web(%q) = %q, want %q", address, got, want)
		}
	}
}

// TestDigest: the same for what reads the same, another for what does not.
func TestDigest(t *testing.T) {
	i := incidentOf(noEgress(), launches(2, "missed"))
	same := i
	same.Version, same.Applied, same.Seen = 7, []string{"x"}, began.Add(time.Hour)
	if a, b := Render(i, Options{}).Digest(), Render(same, Options{}).Digest(); a != b {
		t.Errorf("digests %q and %q of one message differ", a, b)
	}
	if got, want := Render(i, Options{}).Digest(), Render(i, Options{}).Digest(); got != want {
		t.Errorf("digest %q, then %q", got, want)
	}
	other := i
	other.Affected = 3
	if a, b := Render(i, Options{}).Digest(), Render(other, Options{}).Digest(); a == b {
		t.Errorf("one digest %q for two messages", a)
	}
}

// TestDigestOfButtons: the id of a block is nothing that anybody sees; what a button
// does is, and a message with another plan is edited, whatever it reads like.
func TestDigestOfButtons(t *testing.T) {
	row := func(id, value string) slackapi.Message {
		return slackapi.Message{Text: "t", Blocks: []slackgo.Block{slackgo.NewActionBlock(id, newButton(report.ApprovePlan, "Approve", value))}}
	}
	a := row("1", "plan a")
	if got := row("2", "plan a").Digest(); got != a.Digest() {
		t.Errorf("the id of a block changes the digest: %q and %q", got, a.Digest())
	}
	if got := row("1", "plan b").Digest(); got == a.Digest() {
		t.Errorf("another plan behind the button leaves the digest %q", got)
	}
	if id := a.Blocks[0].(*slackgo.ActionBlock).BlockID; id != "1" {
		t.Errorf("the digest changed the block's id to %q", id)
	}
}

// TestMenuIsAnotherAfterItWasUsed: a client keeps a choice as long as the block's id
// stays, and nothing else than a use changes it.
func TestMenuIsAnotherAfterItWasUsed(t *testing.T) {
	i := incidentOf(noEgress(), launches(2, "missed"))
	used := i
	used.Mutes = 1
	later := i
	later.Changed, later.State = i.Changed.Add(time.Hour), incident.Cleared
	if handleID(used) == handleID(i) || handleID(later) != handleID(i) {
		t.Errorf("ids %q, used %q, later %q", handleID(i), handleID(used), handleID(later))
	}
}

// TestTaintIsNoCall: what follows = in a taint looks like service:Call, and is not
// set in monospace by itself.
func TestTaintIsNoCall(t *testing.T) {
	code := &slackgo.RichTextSectionTextStyle{Code: true}
	for text, want := range map[string][]slackgo.RichTextSectionElement{
		"x/agent-not-ready=true:NoExecute": {slackgo.NewRichTextSectionTextElement("x/agent-not-ready=true:NoExecute", nil)},
		"to ec2:CreateFleet":               {slackgo.NewRichTextSectionTextElement("to ", nil), slackgo.NewRichTextSectionTextElement("ec2:CreateFleet", code)},
	} {
		l := (&line{page: newPage(place{"aws", "us-west-2"}, time.Time{}, 100)}).prose(text)
		if diff := cmp.Diff(want, l.items); diff != "" {
			t.Errorf("%s (-want +got):\n%s", text, diff)
		}
	}
}

// TestLinkHasText: Slack refuses a message with a link that has an empty text. A field that
// another version wrote can be a name of invisible characters only.
func TestLinkHasText(t *testing.T) {
	i := incidentOf(noEgress(), launches(1, report.Missed))
	i.Owner = ownership.Owner{{Field: " \u200b", Text: "x", URL: "https://wiki.example.com/x"}}
	m := Render(i, Options{Now: began})
	for _, problem := range problems(m) {
		t.Error(problem)
	}
}

// TestDialogIsWhole: what is approved is read in the dialog, where Slack allows 300 characters:
// nothing of it is cut, least of all the cost at its end.
func TestDialogIsWhole(t *testing.T) {
	seen := 0
	for _, s := range scenes() {
		if slices.Contains([]string{"hostile", "huge", "long-names"}, s.name) {
			continue
		}
		for _, b := range Render(s.incident, Options{Actions: true, Now: began}).Blocks {
			row, is := b.(*slackgo.ActionBlock)
			if !is {
				continue
			}
			for _, e := range row.Elements.ElementSet {
				if yes, is := e.(*slackgo.ButtonBlockElement); is && yes.Confirm != nil && yes.ActionID == string(report.ApprovePlan) {
					if seen++; strings.Contains(yes.Confirm.Text.Text, "…") {
						t.Errorf("%s: %s", s.name, yes.Confirm.Text.Text)
					}
				}
			}
		}
	}
	if seen < 10 {
		t.Errorf("%d dialogs: they are elsewhere", seen)
	}
}
