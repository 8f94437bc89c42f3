package instance

import (
	"testing"

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
		{"hops not said", startWorld(metadata(snapshot.Metadata{Endpoint: "enabled"})), pass},
		{"not said", startWorld(metadata(snapshot.Metadata{})), []string{"unknown prod [i-0node] instances: not read: EC2 does not say whether the metadata service is on"}},
		{"unread", startWorld(checktest.Unread(snapshot.Instances)), []string{"unknown prod [] instances: denied"}},
	}
}

// ofAutoMode makes the first instance one of EKS Auto Mode.
func ofAutoMode(s *snapshot.Snapshot) {
	i := s.Instances[0]
	i.Tags = map[string]string{facts.AutoPoolTag: "general-purpose"}
	s.Instances[0] = i
}
