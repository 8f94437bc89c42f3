package gather

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/aws/smithy-go"
	"github.com/google/go-cmp/cmp"

	"rollcall/shared/checkid"
	"rollcall/shared/cloudwatchlogs"
	"rollcall/shared/config"
	"rollcall/shared/snapshot"
	"rollcall/shared/spec"
)

// logs are the deliveries and log groups of an account. Each event is a page of its own.
type logs struct {
	sources      []cloudwatchlogs.DeliverySource
	deliveries   []cloudwatchlogs.Delivery
	destinations map[string]string
	events       map[string][]string
	refused      map[string]string // codes, by operation
	asked        []string
	filter       cloudwatchlogs.Filter
	endless      bool
}

func (l *logs) call(operation string) error {
	l.asked = append(l.asked, operation)
	if code := l.refused[operation]; code != "" {
		return &smithy.OperationError{ServiceID: "CloudWatch Logs", OperationName: operation, Err: &smithy.GenericAPIError{Code: code, Message: "no"}}
	}
	return nil
}

func (l *logs) DescribeDeliverySources(_ context.Context, token string) ([]cloudwatchlogs.DeliverySource, string, error) {
	if err := l.call("DescribeDeliverySources"); err != nil {
		return nil, "", err
	}
	n := len(token)
	if l.endless || n+1 < len(l.sources) {
		return l.sources[min(n, len(l.sources)-1):][:1], token + "x", nil
	}
	return l.sources[min(n, len(l.sources)):], "", nil
}

func (l *logs) DescribeDeliveries(context.Context, string) ([]cloudwatchlogs.Delivery, string, error) {
	return l.deliveries, "", l.call("DescribeDeliveries")
}

func (l *logs) DescribeDeliveryDestinations(context.Context, string) ([]cloudwatchlogs.DeliveryDestination, string, error) {
	var list []cloudwatchlogs.DeliveryDestination
	for arn, to := range l.destinations {
		d := cloudwatchlogs.DeliveryDestination{ARN: arn}
		d.Configuration.Resource = to
		list = append(list, d)
	}
	return list, "", l.call("DescribeDeliveryDestinations")
}

func (l *logs) FilterLogEvents(_ context.Context, f cloudwatchlogs.Filter) ([]cloudwatchlogs.Event, string, error) {
	l.filter = f
	if err := l.call("FilterLogEvents"); err != nil {
		return nil, "", err
	}
	list, n := l.events[f.Group], len(f.Next)
	if n >= len(list) {
		return nil, "", nil
	}
	return []cloudwatchlogs.Event{{At: f.Start.Add(time.Duration(n) * time.Second), Message: list[n]}}, f.Next + "x", nil
}

const autoCluster = "arn:aws:eks:us-west-2:111122223333:cluster/prod"

// delivered is an account whose cluster has two types of logs delivered.
func delivered(change func(*logs)) *logs {
	const group = "arn:aws:logs:us-west-2:111122223333:log-group:/aws/vendedlogs/eks/prod:*"
	l := &logs{
		sources: []cloudwatchlogs.DeliverySource{
			{Name: "other", Resources: []string{"arn:aws:eks:us-west-2:111122223333:cluster/dev"}, LogType: "AUTO_MODE_COMPUTE_LOGS"},
			{Name: "compute", Resources: []string{autoCluster}, LogType: "AUTO_MODE_COMPUTE_LOGS"},
			{Name: "gateway", Resources: []string{autoCluster}, LogType: "APPLICATION_LOGS"},
			{Name: "ipam", Resources: []string{autoCluster}, LogType: "AUTO_MODE_IPAM_LOGS"},
		},
		deliveries:   []cloudwatchlogs.Delivery{{Source: "other", Destination: "d1"}, {Source: "ipam", Destination: "d2"}, {Source: "compute", Destination: "d1"}, {Source: "gateway", Destination: "d1"}},
		destinations: map[string]string{"d1": group, "d2": "arn:aws:s3:::logs"},
		events:       map[string][]string{"/aws/vendedlogs/eks/prod": {`{"level":"INFO","message":"found gpu-a"}`, `{"level":"ERROR","message":"no gpu-a"}`, `{"level":"WARN","message":"late gpu-a"}`}},
		refused:      map[string]string{},
	}
	change(l)
	return l
}

// classify knows one text.
func classify(line string) checkid.ID {
	if line == "no gpu-a" {
		return checkid.LaunchAMI
	}
	return ""
}

// pending is a cluster of EKS Auto Mode whose NodeClaim waits for its launch.
func pending() *snapshot.Snapshot {
	s := &snapshot.Snapshot{Time: time.Date(2026, 11, 20, 15, 8, 0, 0, time.UTC), Failures: map[snapshot.Source]snapshot.Failure{}, Read: map[snapshot.Source]bool{snapshot.NodeClaimsOf: true}}
	s.Cluster.AutoMode, s.Cluster.ARN = true, autoCluster
	s.NodeClaims = []snapshot.NodeClaim{{Name: "gpu-a", Class: snapshot.ClassRef{Group: snapshot.AutoModeGroup}, Conditions: map[string]snapshot.ObservedCondition{
		"Launched": {Condition: snapshot.Condition{Status: "Unknown", Since: s.Time.Add(-4 * time.Minute)}},
	}}}
	return s
}

func TestReadLogs(t *testing.T) {
	const group = "/aws/vendedlogs/eks/prod"
	to := "arn:aws:logs:us-west-2:111122223333:log-group:" + group + ":*"
	failure := func(call string, reason snapshot.Reason, code string) *snapshot.Failure {
		return &snapshot.Failure{Source: snapshot.AutoModeLogsOf, Call: call, Reason: reason, Code: code, Message: "no"}
	}
	start := pending().Time.Add(-6 * time.Minute)
	records := []snapshot.LogRecord{
		{At: start.Add(time.Second), Type: "AUTO_MODE_COMPUTE_LOGS", Level: "ERROR", Text: "no gpu-a", Cause: checkid.LaunchAMI, Names: []string{"gpu-a"}},
		{At: start.Add(2 * time.Second), Type: "AUTO_MODE_COMPUTE_LOGS", Level: "WARN", Text: "late gpu-a", Names: []string{"gpu-a"}},
	}
	compute := snapshot.LogDelivery{Type: "AUTO_MODE_COMPUTE_LOGS", Destination: to, Group: group}
	ipam := snapshot.LogDelivery{Type: "AUTO_MODE_IPAM_LOGS", Destination: "arn:aws:s3:::logs"}
	with := func(d snapshot.LogDelivery, change func(*snapshot.LogDelivery)) snapshot.LogDelivery {
		change(&d)
		return d
	}
	refuse := func(operation, code string) func(*logs) { return func(l *logs) { l.refused[operation] = code } }
	for name, tt := range map[string]struct {
		change     func(*logs)
		deliveries []snapshot.LogDelivery
		records    []snapshot.LogRecord
		failure    *snapshot.Failure
		asked      string
		cut        bool
	}{
		"a log group and a bucket": {func(*logs) {}, []snapshot.LogDelivery{compute, ipam}, records, nil, "SSSSDWFFFF", false},
		"no delivery":              {func(l *logs) { l.deliveries = nil }, nil, nil, nil, "SSSSD", false},
		"no source":                {func(l *logs) { l.sources = nil }, nil, nil, nil, "S", false},
		"another account's": {func(l *logs) { delete(l.destinations, "d1") }, []snapshot.LogDelivery{with(compute, func(d *snapshot.LogDelivery) { d.Destination, d.Group = "d1", "" }), ipam},
			nil, nil, "SSSSDW", false},
		"a group of its name in another account": {func(l *logs) { l.destinations["d1"] = strings.Replace(to, "1111", "9999", 1) },
			[]snapshot.LogDelivery{with(compute, func(d *snapshot.LogDelivery) { d.Destination, d.Group = strings.Replace(to, "1111", "9999", 1), "" }), ipam}, nil, nil, "SSSSDW", false},
		"a group of its name in another Region": {func(l *logs) { l.destinations["d1"] = strings.Replace(to, "west", "east", 1) },
			[]snapshot.LogDelivery{with(compute, func(d *snapshot.LogDelivery) { d.Destination, d.Group = strings.Replace(to, "west", "east", 1), "" }), ipam}, nil, nil, "SSSSDW", false},
		"a group that nobody named": {func(l *logs) { l.destinations["d1"] = "arn:aws:logs:us-west-2:111122223333:log-group:mine" },
			[]snapshot.LogDelivery{{Type: compute.Type, Destination: "arn:aws:logs:us-west-2:111122223333:log-group:mine", Group: "mine", Unnamed: true}, ipam}, nil, nil, "SSSSDW", false},
		"both in one group": {func(l *logs) { l.destinations["d2"] = to }, []snapshot.LogDelivery{compute, with(compute, func(d *snapshot.LogDelivery) { d.Type = ipam.Type })}, records, nil, "SSSSDWFFFF", false},
		"the group is gone": {refuse("FilterLogEvents", "ResourceNotFoundException"), []snapshot.LogDelivery{with(compute, func(d *snapshot.LogDelivery) { d.Gone = true }), ipam}, nil, nil, "SSSSDWF", false},
		"a refused group": {refuse("FilterLogEvents", "AccessDeniedException"),
			[]snapshot.LogDelivery{with(compute, func(d *snapshot.LogDelivery) {
				d.Failure = failure("logs:FilterLogEvents", snapshot.Denied, "AccessDeniedException")
			}), ipam},
			nil, failure("logs:FilterLogEvents", snapshot.Denied, "AccessDeniedException"), "SSSSDWF", false},
		"a throttled list": {refuse("DescribeDeliveries", "ThrottlingException"), nil, nil, failure("logs:DescribeDeliveries", snapshot.Throttled, "ThrottlingException"), "SSSSD", false},
		"refused sources":  {refuse("DescribeDeliverySources", "AccessDeniedException"), nil, nil, failure("logs:DescribeDeliverySources", snapshot.Denied, "AccessDeniedException"), "S", false},
		"refused places":   {refuse("DescribeDeliveryDestinations", "AccessDeniedException"), nil, nil, failure("logs:DescribeDeliveryDestinations", snapshot.Denied, "AccessDeniedException"), "SSSSDW", false},
		"a list without end": {func(l *logs) { l.endless = true }, nil, nil, &snapshot.Failure{Source: snapshot.AutoModeLogsOf, Call: "logs:FilterLogEvents", Reason: snapshot.NotRead, Message: "there are more than are read"},
			"SSSSSSSSSS", false},
		"more pages than are read": {func(l *logs) { l.events[group] = append(l.events[group], "", "", "") }, []snapshot.LogDelivery{compute, ipam}, records, nil, "SSSSDWFFFFF", true},
	} {
		l, s := delivered(tt.change), pending()
		(&Reader{patience: time.Second}).ReadingLogs(l, config.LogGroups{"/aws/*"}, classify).readLogs(t.Context(), s)
		want := &snapshot.AutoModeLogs{Names: []string{"gpu-a"}, Deliveries: tt.deliveries, Records: tt.records, Cut: tt.cut}
		if diff := cmp.Diff(want, s.AutoModeLogs); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		failures := map[snapshot.Source]snapshot.Failure{}
		if tt.failure != nil {
			failures[snapshot.AutoModeLogsOf] = *tt.failure
		}
		if diff := cmp.Diff(failures, s.Failures); diff != "" || s.Has(snapshot.AutoModeLogsOf) != (tt.failure == nil) {
			t.Errorf("%s: failures (-want +got):\n%s", name, diff)
		}
		if got := letters(l.asked); got != tt.asked {
			t.Errorf("%s: asked %s, want %s", name, got, tt.asked)
		}
	}
}

// letters are the calls: of sources, deliveries, where they go, and filters.
func letters(calls []string) (text string) {
	for _, c := range calls {
		text += map[string]string{"DescribeDeliverySources": "S", "DescribeDeliveries": "D", "DescribeDeliveryDestinations": "W", "FilterLogEvents": "F"}[c]
	}
	return text
}

func TestLogsAreAskedForTheLaunchAlone(t *testing.T) {
	l, s := delivered(func(l *logs) {
		for i := range 4 {
			l.events["/aws/vendedlogs/eks/prod"][min(i, 2)] = fmt.Sprintf("ERROR %d gpu-a", i)
		}
	}), pending()
	r := (&Reader{patience: time.Second}).ReadingLogs(l, config.LogGroups{"/aws/*"}, classify)
	r.readLogs(t.Context(), s)
	n := len(l.asked)
	if r.readLogs(t.Context(), s); len(l.asked) != n {
		t.Errorf("the logs are read twice: %v", l.asked)
	}
	want := cloudwatchlogs.Filter{Group: "/aws/vendedlogs/eks/prod", Pattern: `?"gpu-a"`, Start: s.Time.Add(-6 * time.Minute), End: s.Time, Most: 100, Next: "xxx"}
	if diff := cmp.Diff(want, l.filter); diff != "" {
		t.Errorf("the last filter (-want +got):\n%s", diff)
	}
	for name, change := range map[string]func(*Reader, *snapshot.Snapshot){
		"off": func(r *Reader, _ *snapshot.Snapshot) {
			*r = *(&Reader{patience: time.Second}).ReadingLogs(l, nil, classify)
		},
		"no EKS Auto Mode":        func(_ *Reader, s *snapshot.Snapshot) { s.Cluster.AutoMode = false },
		"nothing waits":           func(_ *Reader, s *snapshot.Snapshot) { s.NodeClaims = nil },
		"NodeClaims are not read": func(_ *Reader, s *snapshot.Snapshot) { delete(s.Read, snapshot.NodeClaimsOf) },
	} {
		l.asked = nil
		r, s := (&Reader{patience: time.Second}).ReadingLogs(l, config.LogGroups{"/aws/*"}, classify), pending()
		change(r, s)
		if r.readLogs(t.Context(), s); len(l.asked) > 0 || s.AutoModeLogs != nil || len(s.Failures) > 0 || s.Read[snapshot.AutoModeLogsOf] {
			t.Errorf("%s: asked %v, read %+v", name, l.asked, s.AutoModeLogs)
		}
	}
}

// TestCaptureWithoutLogs: nobody took them along, so nothing is said of them.
func TestCaptureWithoutLogs(t *testing.T) {
	s := pending()
	(&Reader{patience: time.Second}).ReadingLogs(delivered(func(l *logs) { l.refused["DescribeDeliverySources"] = "NotCaptured" }), config.LogGroups{"/aws/*"}, classify).readLogs(t.Context(), s)
	if f := s.Failures[snapshot.AutoModeLogsOf]; s.AutoModeLogs != nil || f.Reason != snapshot.NotRead {
		t.Errorf("read %+v, failed %+v", s.AutoModeLogs, f)
	}
}

func TestManyRecordsAreCut(t *testing.T) {
	l, s := delivered(func(l *logs) { l.destinations["d2"] = l.destinations["d1"] }), pending()
	r := (&Reader{patience: time.Second}).ReadingLogs(l, config.LogGroups{"/aws/*"}, classify)
	found := &snapshot.AutoModeLogs{}
	for i := range 19 {
		found.Records = append(found.Records, snapshot.LogRecord{Text: fmt.Sprint(i)})
	}
	r.readLogs(t.Context(), s)
	search := snapshot.AutoModeLogs{Records: append(found.Records, s.AutoModeLogs.Records...)}
	if capped(&search); len(search.Records) != 20 || !search.Cut || search.Records[19].Text != "no gpu-a" {
		t.Errorf("%d records, cut %v", len(search.Records), search.Cut)
	}
	if capped(found); found.Cut {
		t.Error("nineteen are cut")
	}
}

func TestAutoModeLogsGrants(t *testing.T) {
	env := func(value string) func(string) string {
		return func(name string) string {
			return map[string]string{"AWS_REGION": "us-west-2", string(config.AutoModeLogs): value}[name]
		}
	}
	for _, off := range []string{"", "off"} {
		if grants, err := AutoModeLogs(env(off)); err != nil || grants != nil {
			t.Errorf("%q grants %+v, %v", off, grants, err)
		}
	}
	grants, err := AutoModeLogs(env("/aws/vendedlogs/eks/*,mine"))
	if err != nil || len(grants) != 2 || grants[0].Why == "" || grants[1].Why == "" {
		t.Fatalf("%+v, %v", grants, err)
	}
	for i := range grants {
		grants[i].Why = ""
	}
	want := []spec.Grant{
		{
			Sid: "FindAutoModeLogs", Actions: []string{"logs:DescribeDeliveries", "logs:DescribeDeliveryDestinations", "logs:DescribeDeliverySources"},
			Resources: []spec.Resource{"*"}, Conditions: map[string]map[string][]string{"StringEquals": {"aws:RequestedRegion": {"${Region}"}}},
		},
		{
			Sid: "ReadAutoModeLogs", Actions: []string{"logs:FilterLogEvents"},
			Resources: []spec.Resource{"arn:${Partition}:logs:${Region}:${Account}:log-group:/aws/vendedlogs/eks/*:*", "arn:${Partition}:logs:${Region}:${Account}:log-group:mine:*"},
		},
	}
	if diff := cmp.Diff(want, grants); diff != "" {
		t.Errorf("grants (-want +got):\n%s", diff)
	}
	var bad *config.SettingError
	if _, err := AutoModeLogs(env("on")); !errors.As(err, &bad) || bad.Variable != config.AutoModeLogs {
		t.Errorf("a bad setting: %v", err)
	}
}
