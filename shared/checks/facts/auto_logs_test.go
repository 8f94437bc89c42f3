package facts

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"rollcall/shared/checks/finding"
	"rollcall/shared/node/autolog"
	"rollcall/shared/snapshot"
)

// logged is a cluster of EKS Auto Mode whose compute log says that of gpu-a, a second
// apart each.
func logged(texts ...string) *snapshot.AutoModeLogs {
	l := &snapshot.AutoModeLogs{Names: []string{"gpu-a", "i-1"}, Deliveries: []snapshot.LogDelivery{{Type: autolog.Compute, Destination: "arn", Group: "group"}}}
	for n, text := range texts {
		l.Records = append(l.Records, snapshot.LogRecord{At: claimedAt.Add(time.Duration(n) * time.Second), Type: autolog.Compute, Level: "ERROR", Text: text, Names: []string{"gpu-a"}})
	}
	return l
}

func TestLogEvidence(t *testing.T) {
	const what, whole = "Log of EKS Auto Mode (compute)", "Logs of EKS Auto Mode"
	line := func(value string) finding.Evidence { return finding.Evidence{What: what, Value: value} }
	with := func(change func(*snapshot.AutoModeLogs)) *snapshot.AutoModeLogs {
		l := logged()
		change(l)
		return l
	}
	refused := &snapshot.Failure{Source: snapshot.AutoModeLogsOf, Call: "logs:FilterLogEvents", Reason: snapshot.Denied, Code: "AccessDeniedException"}
	late := &snapshot.Failure{Source: snapshot.AutoModeLogsOf, Call: "logs:DescribeDeliveries", Reason: snapshot.TimedOut}
	one := func(change func(*snapshot.LogDelivery)) *snapshot.AutoModeLogs {
		return with(func(l *snapshot.AutoModeLogs) { change(&l.Deliveries[0]) })
	}
	for name, tt := range map[string]struct {
		logs    *snapshot.AutoModeLogs
		failure *snapshot.Failure
		names   []string
		want    []finding.Evidence
	}{
		"nobody was to look":    {nil, nil, []string{"gpu-a"}, nil},
		"of another NodeClaim":  {logged("no"), nil, []string{"web-a"}, nil},
		"a line":                {logged("no"), nil, []string{"gpu-a"}, []finding.Evidence{line("14:48:00 UTC ERROR: no")}},
		"the same again":        {logged("no", "no", "late"), nil, []string{"gpu-a"}, []finding.Evidence{line("14:48:00 UTC ERROR: no"), line("14:48:02 UTC ERROR: late")}},
		"more than three":       {logged("1", "2", "3", "4", "5"), nil, []string{"gpu-a"}, []finding.Evidence{line("14:48:00 UTC ERROR: 1"), line("14:48:01 UTC ERROR: 2"), line("14:48:02 UTC ERROR: 3"), {What: "More", Value: "the logs of EKS Auto Mode have other lines about it"}}},
		"nothing of the other":  {logged("no"), nil, []string{"i-1"}, []finding.Evidence{{What: whole, Value: "no warning and no error about it in those that are delivered (compute)"}}},
		"nothing that was read": {with(func(l *snapshot.AutoModeLogs) { l.Cut = true }), nil, []string{"i-1"}, []finding.Evidence{{What: whole, Value: "no warning and no error about it in those that are delivered (compute), as far as they were read"}}},
		"nobody has them": {with(func(l *snapshot.AutoModeLogs) { l.Deliveries = nil }), nil, []string{"gpu-a"},
			[]finding.Evidence{{What: whole, Value: "nobody has them delivered: what its Karpenter, IPAM and storage say of this is not known"}}},
		"the list is late": {with(func(l *snapshot.AutoModeLogs) { l.Deliveries = nil }), late, []string{"gpu-a"}, []finding.Evidence{{What: whole, Value: "not read: logs:DescribeDeliveries, timed out"}}},
		"in a bucket":      {one(func(d *snapshot.LogDelivery) { d.Group = "" }), nil, []string{"gpu-a"}, []finding.Evidence{{What: "Logs of EKS Auto Mode (compute)", Value: "go to arn, where Rollcall does not read"}}},
		"not named":        {one(func(d *snapshot.LogDelivery) { d.Unnamed = true }), nil, []string{"gpu-a"}, []finding.Evidence{{What: "Logs of EKS Auto Mode (compute)", Value: "go to the log group group, which the setting autoModeLogs does not name"}}},
		"gone":             {one(func(d *snapshot.LogDelivery) { d.Gone = true }), nil, []string{"gpu-a"}, []finding.Evidence{{What: "Logs of EKS Auto Mode (compute)", Value: "go to the log group group, which is not there"}}},
		"refused": {one(func(d *snapshot.LogDelivery) { d.Type, d.Failure = autolog.IPAM, refused }), refused, []string{"gpu-a"},
			[]finding.Evidence{{What: "Logs of EKS Auto Mode (IPAM)", Value: "in the log group group, not read: logs:FilterLogEvents, denied, AccessDeniedException"}}},
	} {
		s := &snapshot.Snapshot{AutoModeLogs: tt.logs}
		if tt.failure != nil {
			s.Failures = map[snapshot.Source]snapshot.Failure{snapshot.AutoModeLogsOf: *tt.failure}
		}
		if diff := cmp.Diff(tt.want, LogEvidence(s, tt.names...)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	for logType, want := range map[string]string{autolog.BlockStorage: "block storage", autolog.LoadBalancing: "load balancing", "NEW_LOGS": "NEW_LOGS"} {
		if got := component(logType); got != want {
			t.Errorf("%s is %q, want %q", logType, got, want)
		}
	}
}

// TestClaimEvidenceHasItsLog: what the log says of an instance or its NodeClaim stands
// behind what the NodeClaim says.
func TestClaimEvidenceHasItsLog(t *testing.T) {
	claim := unregistered("gpu-a", "i-1")
	for name, s := range map[string]snapshot.Snapshot{
		"a NodeClaim that is there": {NodeClaims: []snapshot.NodeClaim{claim}},
		"one that is remembered":    {Launches: []snapshot.ExpectedJoin{{Instance: "i-1", Claim: &claim}}},
	} {
		s.AutoModeLogs = logged("no")
		list := ClaimEvidence(&s, []string{"i-1"})
		if n := len(list); n != 2 || list[0].What != "NodeClaim gpu-a" || list[1].Value != "14:48:00 UTC ERROR: no" {
			t.Errorf("%s: %+v", name, list)
		}
	}
}
