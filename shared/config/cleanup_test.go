package config

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParseCleanup(t *testing.T) {
	for text, want := range map[string]map[string]CleanupMode{
		"report":                   nil,
		"prod=delete":              {"prod": Delete},
		"prod=delete, dev=dry-run": {"prod": Delete, "dev": DryRun},
		"prod=report":              {"prod": Report},
	} {
		got, err := parseCleanup(text)
		if diff := cmp.Diff(got, want); err != nil || diff != "" {
			t.Errorf("parseCleanup(%q): %v (-got +want):\n%s", text, err, diff)
		}
	}
	for _, text := range []string{"", "delete", "dry-run", "all=", "*=delete", "prod=Delete", "prod=delete,prod=report", "prod=delete,", "=delete"} {
		if got, err := parseCleanup(text); err == nil {
			t.Errorf("parseCleanup(%q) = %v, want an error", text, got)
		}
	}
	c := Config{Cleanups: map[string]CleanupMode{"prod": Delete}}
	if c.CleanupOf("prod") != Delete || c.CleanupOf("dev") != Report {
		t.Error("a cluster that did not opt in is not merely reported")
	}
}

func TestParseVPCs(t *testing.T) {
	got, err := parseVPCs("vpc-0b, vpc-0a1b2c3d4e5f60718")
	if err == nil {
		t.Errorf("parseVPCs took vpc-0b: %v", got)
	}
	got, err = parseVPCs("vpc-0a1b2c3d4e5f60718,vpc-01234567")
	if diff := cmp.Diff(got, []string{"vpc-01234567", "vpc-0a1b2c3d4e5f60718"}); err != nil || diff != "" {
		t.Errorf("%v (-got +want):\n%s", err, diff)
	}
	if got, err := parseVPCs("none"); got != nil || err != nil {
		t.Errorf("none = %v, %v", got, err)
	}
}

// Whatever the settings are, nothing is deleted in a cluster or a VPC that they
// do not name.
func FuzzCleanup(f *testing.F) {
	f.Add("report", "none")
	f.Add("prod=delete, dev=dry-run", "vpc-0a1b2c3d4e5f60718,vpc-01234567")
	f.Add("delete", "vpc-")
	f.Add("prod=delete,prod=report", ",")
	f.Fuzz(func(t *testing.T, modes, vpcs string) {
		named, err := parseCleanup(modes)
		if err == nil {
			for cluster := range named {
				if !clusterName.MatchString(cluster) || !strings.Contains(modes, cluster) {
					t.Fatalf("%q names no %q", modes, cluster)
				}
			}
			if mode := (Config{Cleanups: named}).CleanupOf("another of these"); mode != Report {
				t.Fatalf("%q: %s for a cluster that is not named", modes, mode)
			}
		} else if named != nil {
			t.Fatalf("%q: %v beside an error", modes, named)
		}
		ids, err := parseVPCs(vpcs)
		for _, id := range ids {
			if err != nil || !strings.HasPrefix(id, "vpc-") || !strings.Contains(vpcs, id) {
				t.Fatalf("%q: %q, %v", vpcs, id, err)
			}
		}
	})
}
