package enicleanup

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"rollcall/local/stage/stagetest"
	"rollcall/shared/network/leak"
)

// TestOneRuleBroken: real clients, the mode delete, and beside one interface
// of which every rule holds one for each rule that is broken alone. The one is
// deleted, and nothing else, however often the function runs.
func TestOneRuleBroken(t *testing.T) {
	s := open(t, stagetest.Options{Settings: map[string]string{"ROLLCALL_CLEANUP_GRACE": "2h"}})
	young := func(m *made) { m.tags[leak.TagCreated] = s.Now().Add(24 * time.Hour).UTC().Format(time.RFC3339) }
	owner := func(id string) func(*made) {
		return func(m *made) { m.description, m.tags[leak.TagInstance] = "aws-K8S-"+id, id }
	}
	spoiled := map[string]string{}
	for name, spoil := range map[string]func(*made){
		"small k8s":                   func(m *made) { m.description = "aws-k8s-" + dead },
		"a description of no node":    func(m *made) { m.description = "aws-K8S-" },
		"a person's, with its tags":   func(m *made) { m.description = "mine" },
		"the tag names another":       func(m *made) { m.tags[leak.TagInstance] = "i-0dead000000000002" },
		"no tag names the node":       func(m *made) { delete(m.tags, leak.TagInstance) },
		"the owner runs":              owner(alive),
		"the owner is stopped":        owner(halted),
		"no date":                     func(m *made) { delete(m.tags, leak.TagCreated) },
		"a date that cannot be read":  func(m *made) { m.tags[leak.TagCreated] = "long ago" },
		"the zero date":               func(m *made) { m.tags[leak.TagCreated] = "0001-01-01T00:00:00Z" },
		"too young":                   young,
		"another cluster's":           func(m *made) { m.tags[leak.TagCluster] = "theirs" },
		"a cluster of no name":        func(m *made) { m.tags[leak.TagCluster] = "" },
		"names no cluster":            func(m *made) { delete(m.tags, leak.TagCluster) },
		"a description and no tags":   func(m *made) { m.tags = nil },
		"tags and no description":     func(m *made) { m.description = "" },
		"being attached to a machine": func(m *made) { m.secondary = 0 }, // attached below
	} {
		m := s.left()
		m.tags[leak.TagCreated] = s.Now().Add(-3 * time.Hour).UTC().Format(time.RFC3339)
		spoil(&m)
		spoiled[s.make(m)] = name
	}
	for id, name := range spoiled {
		if name == "being attached to a machine" {
			s.Call("ec2:AttachNetworkInterface", fmt.Sprintf(`{"NetworkInterfaceId":%q,"InstanceId":%q,"DeviceIndex":1}`, id, alive))
		}
	}
	m := s.left()
	m.tags[leak.TagCreated] = s.Now().Add(-3 * time.Hour).UTC().Format(time.RFC3339)
	good := s.make(m)

	s.sweep()
	if !s.there(good) || len(s.audits()) > 0 {
		t.Fatal("it was deleted by the run that saw it first")
	}
	for range 4 {
		s.sweep()
	}
	_, summaries := s.sent()
	// Those that a node may have left behind are told with the rule that keeps
	// them; what is in use, alive, young or not the VPC CNI's is nobody's news.
	kept := map[string]int{string(leak.NoDate): 3, string(leak.OtherCluster): 2, string(leak.TagsDisagree): 3, string(leak.Untagged): 1}
	if len(summaries) != 1 {
		t.Fatalf("%d summaries, want one", len(summaries))
	}
	if diff := cmp.Diff(kept, summaries[0].Cleanup.Kept); diff != "" {
		t.Errorf("kept, by the rule (-want +got):\n%s", diff)
	}
	if s.there(good) {
		t.Error("the one of which every rule holds is still there")
	}
	for id, name := range spoiled {
		if !s.there(id) {
			t.Errorf("%s: deleted", name)
		}
	}
	if list := s.audits(); len(list) != 1 || list[0].Interface != good || list[0].Result != leak.Deleted || list[0].Request == "" || list[0].Addresses() != 3 || list[0].Owner != dead {
		t.Errorf("audit records %+v", list)
	}
}

// TestModes: what is done hangs on the mode of the interface's own cluster.
func TestModes(t *testing.T) {
	for _, test := range []struct {
		name     string
		settings map[string]string
		change   func(*made)
		deleted  bool
		asked    bool
	}{
		{"report", map[string]string{"ROLLCALL_CLEANUP": "report"}, nil, false, false},
		{"another cluster's mode", map[string]string{"ROLLCALL_CLEANUP": "other=delete"}, nil, false, false},
		{"dry-run", map[string]string{"ROLLCALL_CLEANUP": stagetest.Cluster + "=dry-run"}, nil, false, true},
		{"delete", nil, nil, true, true},
		{"untagged, not opted in", nil, func(m *made) { delete(m.tags, leak.TagCluster) }, false, false},
		{"untagged, another VPC opted in", map[string]string{"ROLLCALL_CLEANUP_UNTAGGED": "vpc-0ffffffffffffffff"}, func(m *made) { delete(m.tags, leak.TagCluster) }, false, false},
		{"untagged, opted in", map[string]string{"ROLLCALL_CLEANUP_UNTAGGED": vpc}, func(m *made) { delete(m.tags, leak.TagCluster) }, true, true},
		{"untagged, opted in, in mode report", map[string]string{"ROLLCALL_CLEANUP": "report", "ROLLCALL_CLEANUP_UNTAGGED": vpc}, func(m *made) { delete(m.tags, leak.TagCluster) }, false, false},
		{"over the share", map[string]string{"ROLLCALL_CLEANUP_SHARE": "1"}, nil, false, false},
		{"not watched", map[string]string{"ROLLCALL_CLUSTERS": "other"}, nil, false, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := open(t, stagetest.Options{Settings: test.settings})
			m := s.left()
			if test.change != nil {
				test.change(&m)
			}
			id := s.make(m)
			for range 3 {
				s.sweep()
			}
			if got := !s.there(id); got != test.deleted {
				t.Errorf("deleted: %v, want %v", got, test.deleted)
			}
			if got := s.Calls()["ec2:DeleteNetworkInterface"]; (got > 0) != test.asked || got > 1 {
				t.Errorf("%d requests to delete, want some: %v, and one at most", got, test.asked)
			}
			_, summaries := s.sent()
			told := test.asked || test.name == "over the share"
			if (len(summaries) > 0) != told || len(summaries) > 1 {
				t.Errorf("%d summaries", len(summaries))
			}
			if len(s.told()) > 0 != test.deleted {
				t.Errorf("told %v", s.told())
			}
		})
	}
}
