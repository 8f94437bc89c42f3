package slack

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"rollcall/shared/outbox"
	"rollcall/shared/report"
)

func cleaned(mode string, subnets ...report.CleanupSubnet) report.Summary {
	return report.Summary{
		Format: report.SummaryFormat, Kind: report.CleanupSummary, ID: "cleanup/prod/2026-03-15", By: "eni-cleanup", At: morning,
		Account: "111122223333", Region: "us-west-2", Partition: "aws", Cluster: "prod",
		Cleanup: &report.Cleanup{Mode: mode, Day: morning.Truncate(24 * time.Hour), VPC: "vpc-0ab1c2d3e4f5a6b7c", Subnets: subnets},
	}
}

func cleanupScenes() []summaryScene {
	one := report.CleanupSubnet{Subnet: smallSubnet, Zone: "us-west-2a", Interfaces: 12, Addresses: 31, Nodes: 4, Free: 43}
	two := report.CleanupSubnet{Subnet: "subnet-0bb1c2d3e4f5a6b7c", Zone: "us-west-2b", Interfaces: 75, Addresses: 180, Nodes: 26, Free: 201}
	three := report.CleanupSubnet{Subnet: "subnet-0cc1c2d3e4f5a6b7c", Zone: "us-west-2c", Interfaces: 1, Addresses: 1, Nodes: 1, Free: 7}
	several := cleaned("delete", one, two, three)
	several.Cleanup.Left, several.Cleanup.Nodes = 120, 27 // four of them had interfaces in two of the subnets
	several.Cleanup.Kept = map[string]int{"untagged": 7, "owner lives": 3, "tags disagree": 1, "untagged, and another cluster is in the VPC": 4, "other cluster": 12, "a new reason": 2}
	dry := cleaned("dry-run", one)
	dry.Cleanup.Kept = map[string]int{"untagged": 1}
	stop := cleaned("delete")
	stop.ID += "/stopped"
	stop.Cleanup.Stopped = &report.CleanupStop{Candidates: 480, Interfaces: 900, Share: 50}
	over := cleaned("delete")
	over.ID += "/stopped"
	over.Cleanup.Stopped = &report.CleanupStop{Candidates: 480, Interfaces: 900, Share: 50, Over: morning}
	hostile := cleaned("delete", report.CleanupSubnet{Subnet: "<!channel>", Zone: "`x`\u202e", Interfaces: -1, Addresses: 1 << 40}, one)
	hostile.Cleanup.VPC, hostile.Cleanup.Kept = "vpc-1; rm -rf /", map[string]int{"": 3, strings.Repeat("<!here> ", 400): 1, "in use": -2}
	hostile.Cleanup.Stopped = &report.CleanupStop{}
	huge := cleaned("delete")
	for range 400 {
		huge.Cleanup.Subnets = append(huge.Cleanup.Subnets, one)
	}
	return []summaryScene{
		{"cleanup", cleaned("delete", one), nil, outbox.Picture{}},
		{"cleanup-several", several, nil, outbox.Picture{}},
		{"cleanup-dry-run", dry, nil, outbox.Picture{}},
		{"cleanup-dry-run-several", cleaned("dry-run", one, two), nil, outbox.Picture{}},
		{"cleanup-stopped", stop, nil, outbox.Picture{}},
		{"cleanup-goes-on", over, nil, outbox.Picture{}},
		{"cleanup-hostile", hostile, nil, outbox.Picture{}},
		{"cleanup-huge", huge, nil, outbox.Picture{}},
		{"cleanup-nothing", report.Summary{Kind: report.CleanupSummary, Cluster: "prod", At: morning}, nil, outbox.Picture{}},
	}
}

func TestFirstLinesOfCleanups(t *testing.T) {
	want := map[string]string{
		"cleanup":                 "🧹 prod · 31 addresses back in " + smallSubnet + "; 12 interfaces of 4 dead nodes",
		"cleanup-several":         "🧹 prod · 212 addresses back in 3 subnets; 88 interfaces of 27 dead nodes",
		"cleanup-dry-run":         "🧹 prod · dry run would give back 31 addresses in " + smallSubnet + "; 12 interfaces of 4 dead nodes",
		"cleanup-stopped":         "🔴 prod · the cleanup stopped and deleted nothing: 480 of 900 interfaces of vpc-0ab1c2d3e4f5a6b7c look left behind",
		"cleanup-goes-on":         "✅ prod · the cleanup goes on; it had stopped when 480 of 900 interfaces of vpc-0ab1c2d3e4f5a6b7c looked left behind",
		"cleanup-dry-run-several": "🧹 prod · dry run would give back 211 addresses in 2 subnets; 87 interfaces of 30 dead nodes",
	}
	for _, s := range cleanupScenes() {
		if w, ok := want[s.name]; ok {
			if diff := cmp.Diff(w, RenderSummary(s.summary, s.picture).Text); diff != "" {
				t.Errorf("%s (-want +got):\n%s", s.name, diff)
			}
		}
	}
}

// Nothing foreign gets into a command that is to be pasted.
func TestNoForeignTextInCommands(t *testing.T) {
	for _, s := range cleanupScenes() {
		if strings.Contains(read(s.messages()), "aws ec2") && strings.Contains(read(s.messages()), "Values=vpc-1; rm") {
			t.Errorf("%s:\n%s", s.name, read(s.messages()))
		}
	}
}

// Every reason of package leak has words of its own.
func TestReasonsHaveWords(t *testing.T) {
	for _, reason := range []string{
		"leaked", "in use", "not plain", "requester-managed", "other account", "other VPC", "not made by the VPC CNI", "tags disagree", "owner not read", "owner lives",
		"no date", "too young", "other cluster", "untagged", "not seen before", "over the cap", "too many of the VPC's interfaces", "changed",
		"has a public address", "untagged, and another cluster is in the VPC",
	} {
		if got := keptBecause(reason, true); strings.HasPrefix(got, "kept: ") {
			t.Errorf("%q has no words", reason)
		}
	}
}
