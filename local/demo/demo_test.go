package demo

import (
	"io/fs"
	"testing"

	"rollcall"

	"github.com/google/go-cmp/cmp"
)

func TestChosenStories(t *testing.T) {
	tests := map[string][]string{"route": {"route"}, "spot": {"spot"}, "ips": {"ips"}, "zone": {"zone"}, "karpenter": {"karpenter"}, "organisation": {"organisation"},
		"all": {"route", "spot", "ips", "zone", "karpenter", "organisation"}, "": nil, "zones": nil}
	for name, want := range tests {
		var got []string
		for _, p := range chosen(name) {
			got = append(got, p.name)
		}
		if diff := cmp.Diff(got, want); diff != "" {
			t.Errorf("story %q (-got +want):\n%s", name, diff)
		}
	}
}

// Each story's world is there, among the files that the program carries.
func TestStoriesHaveWorlds(t *testing.T) {
	for _, p := range plays() {
		for _, q := range append([]play{p}, p.then...) {
			if _, err := fs.Stat(rollcall.Files(), "local/worlds/"+q.world+".yaml"); err != nil {
				t.Errorf("%s: %v", q.name, err)
			}
			if q.act == nil || q.rate <= 0 {
				t.Errorf("%s has no act or no rate", q.name)
			}
		}
	}
}
