package launch

import (
	stdcmp "cmp"
	"strings"
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

// waitsFor adds a pod that the scheduler has found no node for since some time.
func waitsFor(ago time.Duration, changes ...func(*snapshot.WaitingPod)) func(*snapshot.Snapshot) {
	return func(s *snapshot.Snapshot) {
		w := snapshot.WaitingPod{Namespace: "ml", Name: "train-0", Created: s.Time.Add(-ago), Scheduled: snapshot.Condition{Status: "False", Reason: "Unschedulable", Since: s.Time.Add(-ago)}}
		for _, change := range changes {
			change(&w)
		}
		s.WaitingPods = append(s.WaitingPods, w)
	}
}

// TestRefusalsThatKarpenterReports: without CloudTrail, a NodeClaim, its event or that of
// its NodePool tells of a refused launch, as soon as a pod waits for it.
func TestRefusalsThatKarpenterReports(t *testing.T) {
	const (
		min   = time.Minute
		short = "NodeClaim web-x7k2p event: creating instance, insufficient capacity, with fleet error(s), InsufficientInstanceCapacity: We currently do not have sufficient g6.xlarge capacity in the Availability Zone you requested (us-west-2a). Our system will be working on provisioning addi..."
		none  = "NodeClaim web-x7k2p event: creating instance, insufficient capacity, all requested instance types were unavailable during launch"
		quota = "NodeClaim web-x7k2p event: creating instance, insufficient capacity, with fleet error(s), VcpuLimitExceeded: You have requested more vCPU capacity than your current vCPU limit of 64 allows for the instance bucket"
		spots = "NodeClaim web-x7k2p event: creating instance, insufficient capacity, with fleet error(s), MaxSpotInstanceCountExceeded: Max spot instance count exceeded; InsufficientInstanceCapacity: There is no Spot capacity available that matches your request."
		block = "NodeClaim web-x7k2p event: creating instance, insufficient capacity, with fleet error(s), ReservationCapacityExceeded: The requested reservation does not have sufficient compatible and available capacity for this request."
		full  = "NodeClaim web-x7k2p event: creating instance, insufficient capacity, with fleet error(s), InsufficientFreeAddressesInSubnet: There are insufficient free addresses in that subnet to run instance"
		role  = `Attempted to launch a spot instance but failed due to "AuthFailure.ServiceLinkedRoleCreationNotPermitted"`
	)
	pool := func(events ...snapshot.PoolEvent) func(...func(*snapshot.Snapshot)) *snapshot.Snapshot {
		return func(changes ...func(*snapshot.Snapshot)) *snapshot.Snapshot {
			s := snapshottest.PrivateWithNAT()
			s.NodePools = []snapshot.NodePool{{Name: "web"}, {Name: "web-large", Taints: []snapshot.Taint{{Key: "large", Effect: "NoSchedule"}}}}
			for _, e := range events {
				e.First, e.Last = s.Time.Add(e.First.Sub(time.Time{})-24*time.Hour), s.Time.Add(e.Last.Sub(time.Time{})-24*time.Hour)
				s.PoolEvents = append(s.PoolEvents, e)
			}
			return checktest.Change(s, changes...)
		}
	}
	event := func(kind, name, reason, message string, first, last time.Duration) snapshot.PoolEvent {
		at := func(ago time.Duration) time.Time { return time.Time{}.Add(24*time.Hour - ago) }
		return snapshot.PoolEvent{Kind: kind, Name: name, Reason: reason, Message: message, First: at(first), Last: at(last)}
	}
	claim := func(message string, ago time.Duration) snapshot.PoolEvent {
		return event("NodeClaim", "web-x7k2p", "InsufficientCapacityError", message, ago, ago)
	}
	claimed := func(reason string, ago time.Duration) func(...func(*snapshot.Snapshot)) *snapshot.Snapshot {
		return func(changes ...func(*snapshot.Snapshot)) *snapshot.Snapshot {
			return refusedClaim(reason, "no", ago, changes...)
		}
	}
	unreadPods := checktest.Unread(snapshot.WaitingPods)
	started := func(ago time.Duration) func(*snapshot.Snapshot) {
		return func(s *snapshot.Snapshot) {
			s.NodeClaims = append(s.NodeClaims, snapshot.NodeClaim{Name: "web-new", Pool: "web", Instance: "i-0new", Conditions: map[string]snapshot.ObservedCondition{
				"Launched": {Condition: snapshot.Condition{Status: "True", Since: s.Time.Add(-ago)}},
			}})
		}
	}
	three := 3
	for name, tt := range map[string]struct {
		world *snapshot.Snapshot
		want  string
	}{
		"one event, a pod waits":               {pool(claim(short, 2*min))(waitsFor(3 * min)), "certain launch/insufficient-capacity"},
		"one event of 50 minutes ago":          {pool(claim(short, 50*min))(waitsFor(55 * min)), "certain launch/insufficient-capacity"},
		"of an hour ago":                       {pool(claim(short, 61*min))(waitsFor(65 * min)), ""},
		"a pod that waits for something newer": {pool(claim(short, 50*min))(waitsFor(10 * min)), ""},
		"a pod that waits for seconds":         {pool(claim(short, min/2))(waitsFor(min / 2)), ""},
		"no pod waits, for a moment":           {pool(claim(short, 2*min))(), ""},
		"no pod waits, for long":               {pool(claim(short, 20*min), claim(short, 9*min))(), "advice launch/insufficient-capacity"},
		"no pod waits for it":                  {pool(claim(short, 20*min), claim(short, 9*min))(waitsFor(30*min, func(w *snapshot.WaitingPod) { w.Selector = map[string]string{"team": "x"} })), "advice launch/insufficient-capacity"},
		"a gated pod":                          {pool(claim(short, 2*min))(waitsFor(30*min, func(w *snapshot.WaitingPod) { w.Gated = true })), ""},
		"an event that repeats":                {pool(event("NodeClaim", "web-x7k2p", "InsufficientCapacityError", short, 20*min, 9*min))(), "advice launch/insufficient-capacity"},
		"launched since":                       {pool(claim(short, 5*min))(waitsFor(20*min), started(min)), ""},
		"launched before":                      {pool(claim(short, 5*min))(waitsFor(20*min), started(8*min)), "certain launch/insufficient-capacity"},
		"Karpenter asked for none":             {pool(claim(none, 2*min))(waitsFor(3 * min)), "certain launch/insufficient-capacity"},
		"vCPUs":                                {pool(claim(quota, 2*min))(waitsFor(3 * min)), "certain launch/vcpu-limit"},
		"Spot vCPUs before no capacity":        {pool(claim(spots, 2*min))(waitsFor(3 * min)), "certain launch/spot-limit"},
		"a reservation":                        {pool(claim(block, 2*min))(waitsFor(3 * min)), "certain launch/capacity-reservation"},
		"a full subnet":                        {pool(claim(full, 2*min))(waitsFor(3 * min)), "certain launch/subnet-full"},
		"the Spot role, without a reason":      {pool(event("NodeClaim", "web-x7k2p", "", role, 2*min, 2*min))(), "certain, idle launch/service-role"},
		"a class that does not resolve":        {pool(event("NodeClaim", "web-x7k2p", "", "Failed resolving NodeClass", 2*min, 2*min))(waitsFor(3 * min)), ""},
		"of the pool with the longer name":     {pool(event("NodeClaim", "web-large-x7k2p", "InsufficientCapacityError", short, 20*min, 9*min))(waitsFor(30 * min)), "advice launch/insufficient-capacity"},
		"of a pool that is gone":               {pool(event("NodeClaim", "batch-x7k2p", "InsufficientCapacityError", short, 2*min, 2*min))(waitsFor(3 * min)), ""},
		"a NodeClaim made by hand":             {pool(event("NodeClaim", "mine", "InsufficientCapacityError", short, 2*min, 2*min))(waitsFor(3 * min)), ""},
		"pods unread":                          {pool(claim(short, 2*min))(unreadPods), "unknown launch/insufficient-capacity"},
		"pods unread, for long":                {pool(claim(short, 20*min), claim(short, 9*min))(unreadPods), "likely launch/insufficient-capacity"},
		"a static pool": {pool(claim(short, 2*min))(func(s *snapshot.Snapshot) {
			s.NodePools[0].Replicas, s.NodePools[0].Used = &three, snapshot.Amounts{"nodes": "2"}
		}), "certain launch/insufficient-capacity"},
		"a static pool that has all": {pool(claim(short, 2*min))(func(s *snapshot.Snapshot) {
			s.NodePools[0].Replicas, s.NodePools[0].Used = &three, snapshot.Amounts{"nodes": "3"}
		}), ""},
		"no type fits":                          {pool(event("NodePool", "web", "NoCompatibleInstanceTypes", "NodePool requirements filtered out all compatible available instance types", 9*min, 2*min))(waitsFor(10 * min)), "certain launch/unsupported-type"},
		"no type fits for lack of capacity":     {pool(event("NodePool", "web", "NoCompatibleInstanceTypes", "NodePool requirements filtered out all compatible available instance types", 9*min, 2*min), claim(short, 3*min))(waitsFor(10 * min)), "certain launch/insufficient-capacity"},
		"the condition of it became False":      {pool(event("NodeClaim", "web-x7k2p", "Launched", "Status condition transitioned, Type: Launched, Status: Unknown -> False, Reason: SecurityGroupSubnetVPCMismatch, Message: Security groups and subnets must be in the same VPC.", 2*min, 2*min))(waitsFor(3 * min)), "certain launch/security-group"},
		"the condition of it became True":       {pool(event("NodeClaim", "web-x7k2p", "Launched", "Status condition transitioned, Type: Launched, Status: Unknown -> True, Reason: Launched", 2*min, 2*min))(waitsFor(3 * min)), ""},
		"groups of another VPC, for 70 seconds": {claimed("SecurityGroupSubnetVPCMismatch", 70*time.Second)(), "certain launch/security-group"},
		"a quota, for 70 seconds, a pod waits":  {claimed("VCPULimitExceeded", 70*time.Second)(waitsFor(2 * min)), "certain launch/vcpu-limit"},
		"anything, for 70 seconds, a pod waits": {claimed("LaunchFailed", 70*time.Second)(waitsFor(2 * min)), "certain launch/unclassified"},
		"a reason newer than this, a pod waits": {claimed("MoonInTheWrongPhase", 4*min)(waitsFor(5 * min)), "certain launch/unclassified"},
		"a quota, pods unread":                  {claimed("VCPULimitExceeded", 70*time.Second)(unreadPods), "certain launch/vcpu-limit"},
		"a NodeClaim that says False": {claimed("VCPULimitExceeded", 70*time.Second)(waitsFor(2*min), func(s *snapshot.Snapshot) {
			l := s.NodeClaims[0].Conditions["Launched"]
			l.Status = "False"
			s.NodeClaims[0].Conditions["Launched"] = l
		}), "certain launch/vcpu-limit"},
		"CloudTrail, one call, a pod waits":      {checktest.Change(refusedPool(checkid.LaunchInsufficientCapacity, noCapacity, 6*min, 6*min), gpuPool, waitsFor(20*min)), "certain launch/insufficient-capacity"},
		"CloudTrail, two calls, a pod waits":     {checktest.Change(refusedPool(checkid.LaunchSpotLimit, "MaxSpotInstanceCountExceeded: x", 6*min, 2*min), gpuPool, waitsFor(20*min)), "certain launch/spot-limit"},
		"events unread, a pod waits":             {pool()(waitsFor(6*min), checktest.Unread(snapshot.PoolEventsOf)), "unknown launch/insufficient-capacity"},
		"events unread, a pod waits for moments": {pool()(waitsFor(4*min), checktest.Unread(snapshot.PoolEventsOf)), ""},
		"events unread, a NodeClaim is refused":  {claimed("AMINotFound", 4*min)(waitsFor(6*min), checktest.Unread(snapshot.PoolEventsOf)), "certain launch/ami"},
		"CloudTrail, no pod waits":               {checktest.Change(refusedPool(checkid.LaunchInsufficientCapacity, noCapacity, 6*min, 2*min), gpuPool), ""},
		"CloudTrail, for long, no pod waits":     {checktest.Change(refusedPool(checkid.LaunchInsufficientCapacity, noCapacity, 20*min, 2*min), gpuPool), "advice launch/insufficient-capacity"},
		"CloudTrail, not allowed, no pod waits":  {checktest.Change(refusedPool(checkid.LaunchUnauthorized, notAllowed, 6*min, 2*min), gpuPool), "certain, idle launch/unauthorized"},
		"CloudTrail, one call, pods unread":      {checktest.Change(refusedPool(checkid.LaunchInsufficientCapacity, noCapacity, 6*min, 6*min), gpuPool, unreadPods), "unknown launch/insufficient-capacity"},
		"CloudTrail, one call, NodePools unread": {checktest.Change(refusedPool(checkid.LaunchInsufficientCapacity, noCapacity, 6*min, 6*min), waitsFor(20*min), checktest.Unread(snapshot.NodePoolsOf)), "unknown launch/insufficient-capacity"},
	} {
		var got []string
		for _, c := range []check.Check{InsufficientCapacity(), VCPULimit(), SpotLimit(), CapacityReservation(), SubnetFull(), ServiceRole(), UnsupportedType(), SecurityGroup(), AMI(), Unauthorized(), Unclassified()} {
			for _, r := range check.Eval([]check.Check{c}, tt.world) {
				switch {
				case r.Outcome == finding.Fail && r.Idle:
					got = append(got, "certain, idle "+string(r.Check))
				case r.Outcome == finding.Fail:
					got = append(got, string(stdcmp.Or(r.Confidence, finding.Certain))+" "+string(r.Check))
				case r.Outcome == finding.Unknown:
					got = append(got, "unknown "+string(r.Check))
				}
				if idle := strings.HasSuffix(r.Why, " now."); idle != (r.Idle || r.Confidence == finding.Advice) {
					t.Errorf("%s: %s", name, r.Why)
				}
			}
		}
		if strings.Join(got, ", ") != tt.want {
			t.Errorf("%s: got %q, want %q", name, got, tt.want)
		}
	}
}

// gpuPool adds the NodePool of refusedPool.
func gpuPool(s *snapshot.Snapshot) { s.NodePools = append(s.NodePools, snapshot.NodePool{Name: "gpu"}) }

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
