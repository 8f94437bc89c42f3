package autolog

import (
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"rollcall/shared/snapshot"
)

var now = time.Date(2026, 11, 20, 15, 8, 0, 0, time.UTC)

// claim is one of EKS Auto Mode that nothing was launched for since.
func claim(name string, since time.Duration) snapshot.NodeClaim {
	return snapshot.NodeClaim{Name: name, Class: snapshot.ClassRef{Group: snapshot.AutoModeGroup}, Conditions: map[string]snapshot.ObservedCondition{
		"Launched": {Condition: snapshot.Condition{Status: "Unknown", Since: now.Add(-since)}},
	}}
}

func managed(id string, ago time.Duration) snapshot.Instance {
	return snapshot.Instance{ID: id, Launched: now.Add(-ago), Tags: map[string]string{"eks:kubernetes-node-pool-name": "gpu"}}
}

func TestWanted(t *testing.T) {
	launched := claim("gpu-b", time.Hour)
	launched.Instance = "i-1"
	karpenters := claim("web-a", time.Hour)
	karpenters.Class.Group = snapshot.KarpenterGroup
	done := claim("gpu-d", time.Hour)
	done.Conditions["Launched"] = snapshot.ObservedCondition{Condition: snapshot.Condition{Status: "True", Since: now.Add(-time.Hour)}}
	var burst []snapshot.NodeClaim
	for i := range 9 {
		burst = append(burst, claim(fmt.Sprintf("gpu-%d", i), 5*time.Minute))
	}
	far := claim(strings.Repeat("a", 253), 5*time.Minute)
	timeless, odd := claim("gpu-t", 0), claim("gpu-o", time.Hour)
	timeless.Conditions["Launched"] = snapshot.ObservedCondition{Condition: snapshot.Condition{Status: "Unknown"}}
	odd.Instance = "?"
	sized := func(lengths ...int) (list []snapshot.NodeClaim) {
		for i, n := range lengths {
			list = append(list, claim(fmt.Sprint(i)+strings.Repeat("a", n-1), 5*time.Minute))
		}
		return list
	}
	// fitted is the search for the first of them.
	fitted := func(n int, lengths ...int) Search {
		w := Search{From: now.Add(-7 * time.Minute), To: now, Cut: n < len(lengths)}
		for _, c := range sized(lengths...)[:n] {
			w.Names, w.Pattern = append(w.Names, c.Name), strings.TrimPrefix(w.Pattern+` ?"`+c.Name+`"`, " ")
		}
		return w
	}
	long := func(n int) snapshot.NodeClaim {
		c := far
		c.Name = fmt.Sprint(n) + far.Name[1:]
		return c
	}
	for name, tt := range map[string]struct {
		s    snapshot.Snapshot
		want Search
	}{
		"a NodeClaim without an instance": {snapshot.Snapshot{NodeClaims: []snapshot.NodeClaim{claim("gpu-a", 5*time.Minute)}},
			Search{Names: []string{"gpu-a"}, Pattern: `?"gpu-a"`, From: now.Add(-7 * time.Minute), To: now}},
		"one just made":      {snapshot.Snapshot{NodeClaims: []snapshot.NodeClaim{claim("gpu-a", 59*time.Second)}}, Search{From: now.Add(-2 * time.Minute), To: now}},
		"one a minute old":   {snapshot.Snapshot{NodeClaims: []snapshot.NodeClaim{claim("gpu-a", time.Minute)}}, Search{Names: []string{"gpu-a"}, Pattern: `?"gpu-a"`, From: now.Add(-3 * time.Minute), To: now}},
		"Karpenter's own":    {snapshot.Snapshot{NodeClaims: []snapshot.NodeClaim{karpenters}}, Search{From: now.Add(-2 * time.Minute), To: now}},
		"one that launched":  {snapshot.Snapshot{NodeClaims: []snapshot.NodeClaim{done}}, Search{From: now.Add(-2 * time.Minute), To: now}},
		"a name for no file": {snapshot.Snapshot{NodeClaims: []snapshot.NodeClaim{claim(`a" ?"b`, time.Hour)}}, Search{From: now.Add(-2 * time.Minute), To: now}},
		"an instance and its NodeClaim": {snapshot.Snapshot{
			NodeClaims: []snapshot.NodeClaim{launched}, Instances: []snapshot.Instance{managed("i-1", 20*time.Minute), managed("i-2", time.Minute), {ID: "i-3"}, managed("i-4", time.Minute)},
			Scope: snapshot.Scope{Instances: []string{"i-1", "i-3", "i-4"}}, Nodes: []snapshot.Node{{Instance: "i-4", Ready: snapshot.Condition{Status: "True"}}, {Instance: "i-1"}},
		}, Search{Names: []string{"i-1", "gpu-b"}, Pattern: `?"i-1" ?"gpu-b"`, From: now.Add(-22 * time.Minute), To: now}},
		"a NodeClaim that is gone": {snapshot.Snapshot{
			Instances: []snapshot.Instance{managed("i-1", 3*time.Hour)}, Scope: snapshot.Scope{Instances: []string{"i-1"}},
			Launches: []snapshot.ExpectedJoin{{Instance: "i-1", Claim: &launched}, {Instance: "i-2"}},
		}, Search{Names: []string{"i-1", "gpu-b"}, Pattern: `?"i-1" ?"gpu-b"`, From: now.Add(-2 * time.Hour), To: now}},
		"a burst": {snapshot.Snapshot{NodeClaims: burst}, Search{
			Names:   []string{"gpu-0", "gpu-1", "gpu-2", "gpu-3", "gpu-4", "gpu-5", "gpu-6", "gpu-7"},
			Pattern: `?"gpu-0" ?"gpu-1" ?"gpu-2" ?"gpu-3" ?"gpu-4" ?"gpu-5" ?"gpu-6" ?"gpu-7"`, From: now.Add(-7 * time.Minute), To: now, Cut: true,
		}},
		"another NodeClaim is remembered": {snapshot.Snapshot{
			NodeClaims: []snapshot.NodeClaim{launched}, Instances: []snapshot.Instance{managed("i-1", time.Minute)}, Scope: snapshot.Scope{Instances: []string{"i-1"}},
			Launches: []snapshot.ExpectedJoin{{Instance: "i-1", Claim: &done}},
		}, Search{Names: []string{"i-1", "gpu-b"}, Pattern: `?"i-1" ?"gpu-b"`, From: now.Add(-3 * time.Minute), To: now}},
		"one name twice": {snapshot.Snapshot{NodeClaims: []snapshot.NodeClaim{claim("gpu-a", 5*time.Minute), claim("gpu-a", 4*time.Minute)}},
			Search{Names: []string{"gpu-a"}, Pattern: `?"gpu-a"`, From: now.Add(-7 * time.Minute), To: now}},
		"the older first": {snapshot.Snapshot{NodeClaims: []snapshot.NodeClaim{claim("gpu-a", 5*time.Minute), claim("gpu-c", 2*time.Minute)}},
			Search{Names: []string{"gpu-a", "gpu-c"}, Pattern: `?"gpu-a" ?"gpu-c"`, From: now.Add(-7 * time.Minute), To: now}},
		"a condition without a time": {snapshot.Snapshot{NodeClaims: []snapshot.NodeClaim{timeless}}, Search{Names: []string{"gpu-t"}, Pattern: `?"gpu-t"`, From: now.Add(-2 * time.Minute), To: now}},
		"an instance without an id of EC2's": {snapshot.Snapshot{
			NodeClaims: []snapshot.NodeClaim{odd}, Instances: []snapshot.Instance{managed("?", time.Minute)}, Scope: snapshot.Scope{Instances: []string{"?"}},
		}, Search{Names: []string{"gpu-o"}, Pattern: `?"gpu-o"`, From: now.Add(-3 * time.Minute), To: now}},
		"names that just fit": {snapshot.Snapshot{NodeClaims: sized(252, 252, 252, 253)}, fitted(4, 252, 252, 252, 253)},
		"names that do not":   {snapshot.Snapshot{NodeClaims: sized(252, 252, 253, 253)}, fitted(3, 252, 252, 253, 253)},
		"long names": {snapshot.Snapshot{NodeClaims: []snapshot.NodeClaim{long(1), long(2), long(3), long(4)}}, Search{
			Names: []string{long(1).Name, long(2).Name, long(3).Name}, Pattern: `?"` + long(1).Name + `" ?"` + long(2).Name + `" ?"` + long(3).Name + `"`, From: now.Add(-7 * time.Minute), To: now, Cut: true,
		}},
	} {
		tt.s.Time, tt.s.Cluster.AutoMode = now, true
		got, wanted := Wanted(&tt.s)
		if diff := cmp.Diff(tt.want, got); diff != "" || wanted != (len(tt.want.Names) > 0) {
			t.Errorf("%s: wanted %v (-want +got):\n%s", name, wanted, diff)
		}
		tt.s.Cluster.AutoMode = false
		if w, wanted := Wanted(&tt.s); wanted {
			t.Errorf("%s, without EKS Auto Mode: %+v", name, w)
		}
	}
}

// TestRead: the first line is Karpenter's own form (aws/karpenter-provider-aws#8482,
// #8923); no public sample of a delivery of EKS Auto Mode has a failure in it.
func TestRead(t *testing.T) {
	const failed = "creating instance, creating fleet, operation error EC2: CreateFleet, %sapi error UnauthorizedOperation: no"
	record := func(level, text string, names ...string) snapshot.LogRecord {
		return snapshot.LogRecord{At: now, Type: Compute, Level: level, Text: text, Names: names}
	}
	for message, want := range map[string]snapshot.LogRecord{
		`{"level":"ERROR","time":"2026-11-20T15:07:02Z","logger":"controller","message":"failed launching nodeclaim","controller":"nodeclaim.lifecycle","NodeClaim":{"name":"gpu-a"},"error":"` + fmt.Sprintf(failed, "https response error StatusCode: 403, RequestID: 80085587-0001, ") + `"}`: record("ERROR", "failed launching nodeclaim: "+fmt.Sprintf(failed, ""), "gpu-a"),
		`{"event_timestamp":1,"resource_arn":"arn","Level":"error","Message":"gpu-a: no","Err":"why"}`:                                              record("ERROR", "gpu-a: no: why", "gpu-a"),
		`{"level":"WARN","message":"i-1 of gpu-a: late","error":"late"}`:                                                                            record("WARN", "i-1 of gpu-a: late", "gpu-a", "i-1"),
		`{"resource_arn":"arn","message":"{\"level\":\"error\",\"message\":\"Reconciler error\",\"NodeClaim\":\"gpu-a\",\"error\":\"throttled\"}"}`: record("ERROR", "Reconciler error: throttled", "gpu-a"),
		"2026-11-20T15:07:02Z ERROR controller gpu-a failed":                                                                                        record("ERROR", "controller gpu-a failed", "gpu-a"),
		`{"level":"error","message":"Reconciler error gpu-a"}`:                                                                                      record("ERROR", "Reconciler error gpu-a", "gpu-a"),
		"[WARNING]: gpu-a is late":                               record("WARN", "gpu-a is late", "gpu-a"),
		`{"level":"dpanic","message":"gpu-a is gone"}`:           record("ERROR", "gpu-a is gone", "gpu-a"),
		`{"level":"PANIC","message":"gpu-a is gone","error":""}`: record("ERROR", "gpu-a is gone", "gpu-a"),
		`{"message":"{\"message\":\"{\\\"level\\\":\\\"ERROR\\\",\\\"message\\\":\\\"gpu-a\\\"}\",\"level\":\"WARN\"}"}`: record("WARN", `{"level":"ERROR","message":"gpu-a"}`, "gpu-a"),
		"a b c ERROR gpu-a":                         record("ERROR", "gpu-a", "gpu-a"),
		`{"level":"FATAL","error":"gpu-a is gone"}`: record("ERROR", "gpu-a is gone", "gpu-a"),
		`{"level":"error","message":"gpu-a: You are not authorized to perform this operation. Encoded authorization failure message: g4oZPBqZ4Bni8dE5"}`: record("ERROR", "gpu-a: You are not authorized to perform this operation. (encoded message left out)", "gpu-a"),
	} {
		got, is := Read(Compute, now, message, []string{"gpu-a", "i-1"})
		if diff := cmp.Diff(want, got); diff != "" || !is {
			t.Errorf("%s: read %v (-want +got):\n%s", message, is, diff)
		}
	}
	for _, message := range []string{
		"", "gpu-a", `{"level":"INFO","message":"launched nodeclaim","NodeClaim":{"name":"gpu-a"}}`, `{"level":"ERROR","message":"failed","NodeClaim":{"name":"web-b"}}`,
		`{"level":"ERROR","NodeClaim":{"name":"gpu-a"}}`, "one two three four ERROR gpu-a", `{"level":"ERROR","message":"` + strings.Repeat("x", 70000) + `gpu-a"}`,
	} {
		if got, is := Read(Compute, now, message, []string{"gpu-a", "i-1"}); is {
			t.Errorf("%.80s is read as %+v", message, got)
		}
	}
}

func TestIs(t *testing.T) {
	for logType, want := range map[string]bool{Compute: true, IPAM: true, BlockStorage: true, LoadBalancing: true, "APPLICATION_LOGS": false, "": false} {
		if got := Is(logType); got != want {
			t.Errorf("%q: %v", logType, got)
		}
	}
}

// FuzzRead: whatever a log group holds, what is taken of it can be shown.
func FuzzRead(f *testing.F) {
	for _, seed := range []string{"", `{"level":"ERROR","message":"gpu-a","error":"no"}`, "2026-11-20T15:07:02Z ERROR gpu-a failed", `{"message":"{\"level\":\"warn\",\"message\":\"gpu-a\"}"}`, "\xff gpu-a ERROR"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, message string) {
		r, is := Read(Compute, time.Unix(0, 0), message, []string{"gpu-a"})
		if is && (!utf8.ValidString(r.Text) || utf8.RuneCountInString(r.Text) > 500 || r.Text == "" || r.Level != "ERROR" && r.Level != "WARN" || len(r.Names) != 1) {
			t.Errorf("%q is read as %+v", message, r)
		}
	})
}
