package instance

import (
	"testing"
	"time"

	"rollcall/shared/checks/checktest"
	"rollcall/shared/checks/facts"
	"rollcall/shared/snapshot"
	"rollcall/shared/snapshot/snapshottest"
)

func metadata(m snapshot.Metadata) func(*snapshot.Snapshot) {
	return func(s *snapshot.Snapshot) {
		snapshottest.Unjoin(s, snapshottest.Node)
		snapshottest.Instance(s, snapshottest.Node).Metadata = m
	}
}

func TestImds(t *testing.T) { checktest.RunCases(t, IMDS(), imdsCases()) }

func imdsCases() []checktest.Case {
	pass := []string{"pass prod [i-0node]"}
	near := []string{"fail (possible) lt-0a [i-0node] [i-0node] metadata of i-0node is out of pods' reach"}
	return []checktest.Case{
		{"Ready", snapshottest.PrivateWithNAT(), pass},
		{"on", startWorld(metadata(snapshot.Metadata{Endpoint: "enabled", HopLimit: 2, Tokens: "required"})), pass},
		{"off", startWorld(metadata(snapshot.Metadata{Endpoint: "disabled", HopLimit: 1})), []string{"fail lt-0a [i-0node] [i-0node] the metadata service of i-0node is off"}},
		{"one hop", startWorld(metadata(snapshot.Metadata{Endpoint: "enabled", HopLimit: 1, Tokens: "required"})), near},
		{"one hop, as Auto Mode has it", checktest.Change(startWorld(metadata(snapshot.Metadata{Endpoint: "enabled", HopLimit: 1, Tokens: "required"})), ofAutoMode), pass},
		{"one hop, tokens not required", startWorld(metadata(snapshot.Metadata{Endpoint: "enabled", HopLimit: 1, Tokens: "optional"})), pass},
		{"one hop, and a pod of a Ready node waits for metadata", wantsMetadata(snapshot.Metadata{Endpoint: "enabled", HopLimit: 1, Tokens: "required"}), []string{"fail (likely) lt-0a [i-0node] [i-0node] metadata of i-0node is out of pods' reach"}},
		{"two hops, and a pod of a Ready node waits for metadata", wantsMetadata(snapshot.Metadata{Endpoint: "enabled", HopLimit: 2, Tokens: "required"}), pass},
		{"off since, and a pod of a Ready node waits for metadata", wantsMetadata(snapshot.Metadata{Endpoint: "disabled", HopLimit: 1}), []string{"fail (likely) lt-0a [i-0node] [i-0node] the metadata service of i-0node is off"}},
		{"one hop, and a pod of a Ready node waits for a volume", checktest.Change(startWorld(), ready(snapshot.Metadata{Endpoint: "enabled", HopLimit: 1, Tokens: "required"}), checktest.StuckPod(20*time.Minute, "FailedMount", "timed out waiting for the condition")), pass},
		{"hops not said", startWorld(metadata(snapshot.Metadata{Endpoint: "enabled"})), pass},
		{"not said", startWorld(metadata(snapshot.Metadata{})), []string{"unknown prod [i-0node] instances: not read: EC2 does not say whether the metadata service is on"}},
		{"unread", startWorld(checktest.Unread(snapshot.Instances)), []string{"unknown prod [] instances: denied"}},
	}
}

// ready sets the metadata options of a node that stays Ready.
func ready(m snapshot.Metadata) func(*snapshot.Snapshot) {
	return func(s *snapshot.Snapshot) { snapshottest.Instance(s, snapshottest.Node).Metadata = m }
}

// wantsMetadata is a Ready node with a pod whose volume's driver reads its metadata.
func wantsMetadata(m snapshot.Metadata) *snapshot.Snapshot {
	return checktest.Change(startWorld(), ready(m), checktest.StuckPod(20*time.Minute, "FailedMount",
		"MountVolume.SetUp failed for volume \"secrets\": rpc error: code = Unknown desc = no EC2 IMDS role found, operation error ec2imds: GetMetadata, exceeded maximum number of attempts"))
}

// ofAutoMode makes the first instance one of EKS Auto Mode.
func ofAutoMode(s *snapshot.Snapshot) {
	i := s.Instances[0]
	i.Tags = map[string]string{facts.AutoPoolTag: "general-purpose"}
	s.Instances[0] = i
}
