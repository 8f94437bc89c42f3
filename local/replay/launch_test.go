package replay

import (
	"io"
	"slices"
	"testing"
	"time"

	"rollcall/functions/launch-watch/launchwatch"
	launchspec "rollcall/functions/launch-watch/spec"
	"rollcall/local/capture"
	"rollcall/local/diagnose"
	"rollcall/local/stage/stagetest"
	"rollcall/shared/checkid"
	"rollcall/shared/report"
)

// TestAtLaunch: what launch-watch saw of an instance seconds after its launch, and of a
// launch that failed, is found again in what it kept.
func TestAtLaunch(t *testing.T) {
	for name, test := range map[string]struct {
		options stagetest.Options
		scale   bool
		cause   checkid.ID
	}{
		"an instance without a way out": {stagetest.Options{}, true, checkid.RouteNoEgress},
		"a launch that failed":          {stagetest.Options{World: "subnet-exhausted.yaml", Over: "ec2: {Subnets: [{SubnetId: " + stagetest.Subnet + ", AvailableIpAddressCount: 0}]}\n"}, false, checkid.LaunchSubnetFull},
		"a fleet that was refused":      {stagetest.Options{World: "corpus/launch-policy-denied-karpenter.yaml"}, false, ""},
	} {
		t.Run(name, func(t *testing.T) {
			b := stagetest.Start(t, launchspec.Spec(), launchwatch.Build, test.options)
			if test.scale {
				b.Scale(1)
			} else {
				b.Advance(time.Minute)
			}
			if back := b.Send(b.News(0)...); len(back) > 0 {
				t.Fatalf("gave back %q", back)
			}
			seen := b.Observations()
			i := slices.IndexFunc(seen, func(o report.Observation) bool { return o.Evidence != "" })
			if i < 0 {
				t.Fatalf("nothing is kept of %+v", seen)
			}
			o := seen[i]
			if test.cause == "" {
				test.cause = o.Diagnosis.Causes[0].Check
			}
			dir := t.TempDir()
			about, err := Unpack(b.S3.Object(b.Template.S3Buckets[0].Name, o.Evidence), dir)
			if err != nil || about.By != launchspec.Name {
				t.Fatalf("%+v, %v", about, err)
			}
			if c, err := capture.Open(dir, time.Now()); err != nil || len(c.Warnings) > 0 {
				t.Fatalf("%v, %+v", err, c)
			}
			r, err := diagnose.Examine(t.Context(), diagnose.Subject{Path: dir}, io.Discard)
			if err != nil {
				t.Fatal(err)
			}
			if len(r.Incidents) == 0 || r.Incidents[0].Cause != string(test.cause) {
				t.Errorf("replayed %+v, want %s; unknown %+v", r.Incidents, test.cause, r.Unknown)
			}
		})
	}
}
