package launch

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"rollcall/shared/checkid"
	"rollcall/shared/checks/check"
	"rollcall/shared/checks/checktest"
	"rollcall/shared/checks/finding"
	"rollcall/shared/node/autolog"
	"rollcall/shared/node/text"
	"rollcall/shared/snapshot"
	"rollcall/shared/snapshot/snapshottest"
)

// refusedClaim is a cluster with a NodePool and a NodeClaim that says why it is not
// launched.
func refusedClaim(reason, message string, ago time.Duration, changes ...func(*snapshot.Snapshot)) *snapshot.Snapshot {
	s := snapshottest.PrivateWithNAT()
	s.NodePools = []snapshot.NodePool{{Name: "web"}}
	s.NodeClaims = []snapshot.NodeClaim{{Name: "web-x7k2p", Generation: 1, Pool: "web", Conditions: map[string]snapshot.ObservedCondition{
		"Launched": {Condition: snapshot.Condition{Status: "Unknown", Reason: reason, Message: message, Since: s.Time.Add(-ago)}, Generation: 1},
	}}}
	return checktest.Change(s, changes...)
}

// TestNodeClaimsThatAreRefused: what Karpenter says on a NodeClaim is a refused launch
// of its pool, by reason, else by message.
func TestNodeClaimsThatAreRefused(t *testing.T) {
	const (
		min  = time.Minute
		deny = "Error creating fleet request: UnauthorizedOperation: You are not authorized to perform this operation. User: arn:aws:sts::111122223333:assumed-role/karpenter/1 is not authorized to perform: ec2:RunInstances with an explicit deny in a service control policy"
		nets = "Error creating fleet request: InvalidParameter: Security group sg-0a and subnet subnet-0b belong to different networks."
	)
	for name, tt := range map[string]struct {
		world *snapshot.Snapshot
		want  checkid.ID
	}{
		"denied by a policy":            {refusedClaim("Unauthorized", deny, 2*min), checkid.LaunchPolicyDenied},
		"Karpenter's own words of it":   {refusedClaim("Unauthorized", "due to a service control policy", 2*min), checkid.LaunchPolicyDenied},
		"nothing allows it":             {refusedClaim("Unauthorized", "because no identity-based policy allows it", 2*min), checkid.LaunchUnauthorized},
		"the image":                     {refusedClaim("AMINotFound", "no", min), checkid.LaunchAMI},
		"the profile, lately":           {refusedClaim("InstanceProfileNameInvalid", "no", 4*min), ""},
		"the profile, for five minutes": {refusedClaim("InstanceProfileNameInvalid", "no", 5*min), checkid.LaunchProfile},
		"the template":                  {refusedClaim("LaunchTemplateNotFound", "no", min), checkid.LaunchTemplate},
		"the account":                   {refusedClaim("AccountPendingVerification", "no", min), checkid.LaunchAccountValidation},
		"a role":                        {refusedClaim("SpotSLRCreationFailed", "no", min), checkid.LaunchServiceRole},
		"a quota that may free itself":  {refusedClaim("VCPULimitExceeded", "no", 4*min), ""},
		"a quota":                       {refusedClaim("VCPULimitExceeded", "no", 5*min), checkid.LaunchVCPULimit},
		"a reason that tells nothing":   {refusedClaim("LaunchFailed", nets, 2*min), checkid.LaunchSecurityGroup},
		"it was made just now":          {refusedClaim("Unauthorized", deny, 59*time.Second), ""},
		"nobody has looked":             {refusedClaim("AwaitingReconciliation", "object is awaiting reconciliation", 10*min), ""},
		"its class is not ready":        {refusedClaim("NodeClassReadinessUnknown", "NodeClass is in Ready=Unknown", 10*min), ""},
		"it is launched":                {refusedClaim("Unauthorized", deny, 2*min, func(s *snapshot.Snapshot) { s.NodeClaims[0].Instance = "i-0new" }), ""},
		"it is deleted":                 {refusedClaim("Unauthorized", deny, 2*min, func(s *snapshot.Snapshot) { s.NodeClaims[0].Deleting = true }), ""},
		"of what it was before":         {refusedClaim("Unauthorized", deny, 2*min, func(s *snapshot.Snapshot) { s.NodeClaims[0].Generation = 2 }), ""},
		"the pool got an instance since": {refusedClaim("Unauthorized", deny, 5*min, func(s *snapshot.Snapshot) {
			i := snapshottest.Instance(s, snapshottest.Node)
			i.State, i.Launched, i.Tags = "running", s.Time.Add(-min), map[string]string{"karpenter.sh/nodepool": "web"}
		}), ""},
	} {
		var got checkid.ID
		for _, c := range []check.Check{PolicyDenied(), Unauthorized(), AMI(), Profile(), Template(), AccountValidation(), ServiceRole(), VCPULimit(), SecurityGroup(), Throttled(), Unclassified()} {
			for _, r := range check.Eval([]check.Check{c}, tt.world) {
				if r.Outcome == finding.Fail {
					if got != "" || r.Resource != "nodepool/web" || !cmp.Equal(r.Covers, []string{"nodepool/web"}) {
						t.Errorf("%s: %s of %s covers %q, beside %q", name, r.Check, r.Resource, r.Covers, got)
					}
					got = r.Check
					if claims := evidenceOf(r, "NodeClaims that say so"); !cmp.Equal(claims, []string{"web-x7k2p"}) {
						t.Errorf("%s: the NodeClaims %q are named", name, claims)
					}
				}
			}
		}
		if got != tt.want {
			t.Errorf("%s: %q, want %q", name, got, tt.want)
		}
	}
}

// TestLogTellsWhatTheNodeClaimDoesNot: of a NodeClaim that says only that its launch
// failed, the log of EKS Auto Mode may say why. Of one that says why it adds the words.
func TestLogTellsWhatTheNodeClaimDoesNot(t *testing.T) {
	const (
		min    = time.Minute
		vague  = "Instance launch failed"
		denies = "Reconciler error: creating fleet, operation error EC2: CreateFleet, api error UnauthorizedOperation: You are not authorized to perform this operation. User: arn:aws:sts::111122223333:assumed-role/cluster/1 is not authorized to perform: ec2:RunInstances with an explicit deny in a service control policy"
		short  = "Reconciler error: creating instance, insufficient capacity, with fleet error(s), InsufficientInstanceCapacity: We currently do not have sufficient g5.xlarge capacity"
	)
	logs := func(records ...snapshot.LogRecord) func(*snapshot.Snapshot) {
		return func(s *snapshot.Snapshot) {
			for i := range records {
				records[i].At = s.Time.Add(time.Duration(i-10) * time.Second)
			}
			s.AutoModeLogs = &snapshot.AutoModeLogs{Names: []string{"web-x7k2p"}, Deliveries: []snapshot.LogDelivery{{Type: autolog.Compute, Group: "g"}}, Records: records}
		}
	}
	says := func(level, line string) snapshot.LogRecord {
		return snapshot.LogRecord{Type: autolog.Compute, Level: level, Text: line, Cause: text.CauseOfKarpenter(line), Names: []string{"web-x7k2p"}}
	}
	others := says("ERROR", denies)
	others.Names = []string{"web-other"}
	ipam := says("ERROR", denies)
	ipam.Type = autolog.IPAM
	for name, tt := range map[string]struct {
		world *snapshot.Snapshot
		want  checkid.ID
	}{
		"it says why":                           {refusedClaim("LaunchFailed", vague, 2*min, logs(says("ERROR", denies))), checkid.LaunchPolicyDenied},
		"nobody reads it":                       {refusedClaim("LaunchFailed", vague, 2*min), ""},
		"nobody reads it, after five minutes":   {refusedClaim("LaunchFailed", vague, 5*min), checkid.LaunchUnclassified},
		"the newest line counts":                {refusedClaim("LaunchFailed", vague, 6*min, logs(says("ERROR", denies), says("ERROR", short))), checkid.LaunchInsufficientCapacity},
		"a shortage may pass":                   {refusedClaim("LaunchFailed", vague, 2*min, logs(says("ERROR", short))), ""},
		"a warning is none":                     {refusedClaim("LaunchFailed", vague, 5*min, logs(says("WARN", denies))), checkid.LaunchUnclassified},
		"of another NodeClaim":                  {refusedClaim("LaunchFailed", vague, 5*min, logs(others)), checkid.LaunchUnclassified},
		"not the component that launches":       {refusedClaim("LaunchFailed", vague, 5*min, logs(ipam)), checkid.LaunchUnclassified},
		"a line that tells nothing":             {refusedClaim("LaunchFailed", vague, 5*min, logs(says("ERROR", "Reconciler error: no"))), checkid.LaunchUnclassified},
		"how it shows is no cause":              {refusedClaim("LaunchFailed", vague, 5*min, logs(says("ERROR", "NodeClaim failed: registration timeout"))), checkid.LaunchUnclassified},
		"the NodeClaim itself says why":         {refusedClaim("AMINotFound", "no", 2*min, logs(says("ERROR", denies))), checkid.LaunchAMI},
		"a NodeClaim that nobody looked at yet": {refusedClaim("AwaitingReconciliation", "object is awaiting reconciliation", 10*min, logs(says("ERROR", denies))), ""},
		"it is launched":                        {refusedClaim("LaunchFailed", vague, 2*min, logs(says("ERROR", denies)), func(s *snapshot.Snapshot) { s.NodeClaims[0].Instance = "i-0new" }), ""},
	} {
		var got checkid.ID
		for _, c := range []check.Check{PolicyDenied(), Unauthorized(), AMI(), InsufficientCapacity(), Unclassified()} {
			for _, r := range check.Eval([]check.Check{c}, tt.world) {
				if r.Outcome == finding.Fail {
					got += r.Check
				}
			}
		}
		if got != tt.want {
			t.Errorf("%s: %q, want %q", name, got, tt.want)
		}
	}
	r := fails(refusedClaim("LaunchFailed", vague, 2*min, logs(says("ERROR", denies))))["launch/policy-denied"]
	said := "UnauthorizedOperation: You are not authorized to perform this operation. User: arn:aws:sts::111122223333:assumed-role/cluster/1 is not authorized to perform: ec2:RunInstances with an explicit deny in a service control policy"
	for what, want := range map[string]string{
		"CreateFleet for NodePool web":   snapshottest.PrivateWithNAT().Time.Add(-2*min).UTC().Format("15:04:05 UTC") + " refused, as the log of EKS Auto Mode says: " + said,
		"By":                             "an explicit deny in a service control policy",
		"Log of EKS Auto Mode (compute)": snapshottest.PrivateWithNAT().Time.Add(-10*time.Second).UTC().Format("15:04:05 UTC") + " ERROR: " + denies,
	} {
		if diff := cmp.Diff([]string{want}, evidenceOf(r, what)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", what, diff)
		}
	}
}

// TestNodeClaimsBesideCloudTrail: what CloudTrail told of the pool is told once.
func TestNodeClaimsBesideCloudTrail(t *testing.T) {
	s := refusedClaim("Unauthorized", "because no identity-based policy allows it", 2*time.Minute, func(s *snapshot.Snapshot) {
		s.NodeClaims = append(s.NodeClaims, s.NodeClaims[0])
		s.NodeClaims[1].Name = "web-second"
		s.Refused = []snapshot.RefusedLaunch{{Launcher: "nodepool/web", Class: checkid.LaunchUnauthorized, Call: "CreateFleet", Text: "UnauthorizedOperation", First: s.Time.Add(-time.Hour / 2), Last: s.Time}}
		s.Read[snapshot.RefusedLaunches] = true
	})
	r := checktest.Failed(t, Unauthorized(), s)
	if claims := evidenceOf(r, "NodeClaims that say so"); claims != nil {
		t.Errorf("the NodeClaims %q are told too", claims)
	}
	s.Refused = nil
	both := checktest.Failed(t, Unauthorized(), s)
	if claims := evidenceOf(both, "NodeClaims that say so"); !cmp.Equal(claims, []string{"web-x7k2p and web-second"}) {
		t.Errorf("two NodeClaims of one cause: %q", claims)
	}
}
