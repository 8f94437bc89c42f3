package gather

import (
	"testing"

	"rollcall/shared/gather/gathertest"
	"rollcall/shared/snapshot"
)

// refusedWorld is an account with settings that refuse launches, and a group whose launch
// ended with a status.
func refusedWorld(status string) string {
	return `
ec2:
  AllowedImagesSettings: {State: enabled, ManagedBy: declarative-policy, ImageCriteria: [{ImageProviders: [amazon]}]}
  InstanceMetadataDefaults: {HttpTokens: optional, HttpTokensEnforced: enabled, ManagedBy: account, ManagedExceptionMessage: ask}
autoscaling:
  Activities:
    - {ActivityId: a-1, AutoScalingGroupName: eks-default-2ac4941f-d51b-87e0-30e3-fe83f3d78e7f, StatusCode: ` + status + `, Description: "Launching a new EC2 instance.  Status Reason: x. Launching EC2 instance failed.", StatusMessage: "x. Launching EC2 instance failed.", Cause: c, StartTime: 2026-11-20T14:58:00Z, Details: "{}"}
`
}

// TestSettingsOfRefusedLaunches holds that the settings are read where a launch was refused,
// and that they take no call elsewhere.
func TestSettingsOfRefusedLaunches(t *testing.T) {
	for status, calls := range map[string]int{"Failed": 2, "Successful": 0} {
		p := open(t, refusedWorld(status))
		groups, failed := p.Groups(t.Context(), []string{"eks-default-2ac4941f-d51b-87e0-30e3-fe83f3d78e7f"})
		if failed != nil {
			t.Fatal(failed)
		}
		before := len(p.aws.Calls())
		s, err := p.Read(t.Context(), Query{Account: "111122223333", Region: "us-west-2", Time: p.world.Now(), Cluster: "eks-workshop", Groups: groups, Sources: []snapshot.Source{
			snapshot.Activities, snapshot.AllowedImagesOf, snapshot.MetadataDefaultsOf,
		}})
		if err != nil || !s.Has(snapshot.AllowedImagesOf) || !s.Has(snapshot.MetadataDefaultsOf) {
			t.Fatal(err, s.Failures)
		}
		n := 0
		for _, c := range p.aws.Calls()[before:] {
			if c.Action() == "ec2:GetAllowedImagesSettings" || c.Action() == "ec2:GetInstanceMetadataDefaults" {
				n++
			}
		}
		gathertest.Same(t, "calls after a launch that "+status, n, calls)
		if calls == 0 {
			gathertest.Same(t, "settings", s.AllowedImages, (*snapshot.AllowedImages)(nil))
			continue
		}
		gathertest.Same(t, "allowed images", s.AllowedImages, &snapshot.AllowedImages{State: "enabled", ManagedBy: "declarative-policy", Providers: []string{"amazon"}})
		gathertest.Same(t, "metadata defaults", s.MetadataDefaults, &snapshot.MetadataDefaults{Metadata: snapshot.Metadata{Tokens: "optional"}, Enforced: true, ManagedBy: "account", Message: "ask"})
	}
}
