package diagnose

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"rollcall/shared/catalog"
	"rollcall/shared/checkid"
	"rollcall/shared/checks/check"
	"rollcall/shared/checks/finding"
	"rollcall/shared/diagnosis"
	"rollcall/shared/snapshot"
)

// catalogue is a small one: two certain causes, of which the second is
// explained by the first, a weak one and a symptom.
func catalogue() []check.Check {
	return []check.Check{
		{Entry: catalog.Entry{ID: "a/cause", Confidence: finding.Certain}},
		{Entry: catalog.Entry{ID: "b/after-a", Confidence: finding.Certain, After: []checkid.ID{"a/cause"}}},
		{Entry: catalog.Entry{ID: "c/likely", Confidence: finding.Likely}},
		{Entry: catalog.Entry{ID: "d/symptom", Confidence: finding.Symptom, Title: "No node registered in time"}},
		{Entry: catalog.Entry{ID: "e/advice", Confidence: finding.Advice}},
	}
}

func fail(check checkid.ID, resource string, covers, instances []string) finding.Result {
	return finding.Result{Check: check, Finding: finding.Finding{
		Outcome: finding.Fail, Resource: resource, Covers: covers, Instances: instances, Title: resource + " is broken",
	}}
}

func sign(id string) finding.Result { return fail("d/symptom", id, []string{id}, []string{id}) }

func ids(list ...string) []string { return list }

// line is a cause on one line.
func line(c diagnosis.Cause) string {
	text := fmt.Sprintf("%s %s %s %v", c.Confidence, c.Check, c.Resource, c.Instances)
	if len(c.Nodegroups) > 0 {
		text += fmt.Sprintf(" of %v", c.Nodegroups)
	}
	if len(c.Contributing) > 0 {
		text += fmt.Sprintf(" contributing %v", c.Contributing)
	}
	if len(c.Symptoms) > 0 {
		text += fmt.Sprintf(" symptoms %v", c.Symptoms)
	}
	if len(c.Hidden) > 0 {
		text += fmt.Sprintf(" hidden %v", c.Hidden)
	}
	return text
}

func TestRank(t *testing.T) {
	tests := []struct {
		name    string
		results []finding.Result
		want    []string
	}{
		{"nothing failed", nil, nil},
		{"a symptom belongs to its cause",
			[]finding.Result{sign("i-1"), fail("a/cause", "rtb-1", ids("subnet-1"), ids("i-1"))},
			[]string{"certain a/cause rtb-1 [i-1] of [workers] symptoms [d/symptom]"}},
		{"a symptom without a cause is one of its own, by nodegroup",
			[]finding.Result{sign("i-1"), sign("i-2"), sign("i-9")},
			[]string{"symptom d/symptom workers [i-1 i-2] of [workers]", "symptom d/symptom i-9 [i-9]"}},
		{"only what is not explained is left over",
			[]finding.Result{fail("a/cause", "rtb-1", ids("subnet-1"), ids("i-1")), sign("i-1"), sign("i-2")},
			[]string{"certain a/cause rtb-1 [i-1] of [workers] symptoms [d/symptom]", "symptom d/symptom workers [i-2] of [workers]"}},
		{"After hides",
			[]finding.Result{fail("a/cause", "rtb-1", ids("subnet-1"), ids("i-1")), fail("b/after-a", "vpc-1", ids("subnet-1"), ids("i-1"))},
			[]string{"certain a/cause rtb-1 [i-1] of [workers] hidden [{b/after-a a/cause}]"}},
		{"After hides only what it explains in full",
			[]finding.Result{fail("a/cause", "rtb-1", ids("subnet-1"), ids("i-1")), fail("b/after-a", "vpc-1", ids("subnet-1", "subnet-2"), ids("i-1", "i-2"))},
			[]string{"certain b/after-a vpc-1 [i-1 i-2] of [workers]", "certain a/cause rtb-1 [i-1] of [workers]"}},
		{"a likely finding where nothing failed yet is advice",
			[]finding.Result{fail("c/likely", "subnet-1", ids("subnet-1"), ids("i-1"))},
			[]string{"advice c/likely subnet-1 [i-1] of [workers]"}},
		{"a likely finding explains what failed",
			[]finding.Result{fail("c/likely", "subnet-1", ids("subnet-1"), ids("i-1")), sign("i-1")},
			[]string{"likely c/likely subnet-1 [i-1] of [workers] symptoms [d/symptom]"}},
		{"a likely finding beside a certain one contributes",
			[]finding.Result{fail("c/likely", "subnet-1", ids("subnet-1"), ids("i-1")), sign("i-1"), fail("a/cause", "rtb-1", ids("subnet-1"), ids("i-1"))},
			[]string{"certain a/cause rtb-1 [i-1] of [workers] contributing [c/likely] symptoms [d/symptom]"}},
		{"an instance that ended has failed",
			[]finding.Result{fail("c/likely", "subnet-1", ids("subnet-1"), ids("i-ended"))},
			[]string{"likely c/likely subnet-1 [i-ended] of [workers]"}},
		{"order: confidence, then how many, then the catalogue, then the name",
			[]finding.Result{
				fail("e/advice", "nat-1", ids("subnet-1", "subnet-2", "subnet-3"), nil),
				fail("b/after-a", "vpc-1", ids("subnet-9"), ids("i-7")),
				fail("a/cause", "rtb-2", ids("subnet-3"), ids("i-4")),
				fail("a/cause", "rtb-1", ids("subnet-2"), ids("i-3")),
				fail("a/cause", "rtb-3", ids("subnet-4"), ids("i-5", "i-6")),
			},
			[]string{
				"certain a/cause rtb-3 [i-5 i-6]", "certain a/cause rtb-1 [i-3]", "certain a/cause rtb-2 [i-4]",
				"certain b/after-a vpc-1 [i-7]", "advice e/advice nat-1 [] of [spare]",
			}},
	}
	s := &snapshot.Snapshot{
		Instances: []snapshot.Instance{
			{ID: "i-1", Tags: map[string]string{"eks:nodegroup-name": "workers"}},
			{ID: "i-2", Tags: map[string]string{"eks:nodegroup-name": "workers"}},
			{ID: "i-ended", State: "terminated", Tags: map[string]string{"eks:nodegroup-name": "workers"}},
		},
		Nodegroups: []snapshot.Nodegroup{{Name: "spare", Subnets: []string{"subnet-3"}}, {Name: "elsewhere", Subnets: []string{"subnet-8"}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var got []string
			for _, c := range Rank(catalogue(), tt.results, s).Causes {
				got = append(got, line(c))
			}
			if diff := cmp.Diff(got, tt.want); diff != "" {
				t.Errorf("causes (-got +want):\n%s", diff)
			}
		})
	}
}

func TestRankConfidenceOfTheFindingWins(t *testing.T) {
	weak := fail("a/cause", "rtb-1", ids("subnet-1"), ids("i-1"))
	weak.Confidence = finding.Possible
	d := Rank(catalogue(), []finding.Result{weak, sign("i-1")}, &snapshot.Snapshot{})
	if len(d.Causes) != 1 || d.Causes[0].Confidence != finding.Possible {
		t.Errorf("causes = %+v, want one that is possible", d.Causes)
	}
}

// TestOptional holds that what was not looked at beside the rest is no Unknown, and is
// reported with a symptom that has no cause, for the instances that it is about.
func TestOptional(t *testing.T) {
	list := append(catalogue(), check.Check{Entry: catalog.Entry{ID: "f/optional", Optional: true, Confidence: finding.Likely}})
	denied := func(covers ...string) finding.Result {
		return finding.Result{Check: "f/optional", Finding: finding.Finding{Outcome: finding.Unknown, Covers: covers,
			Blocked: []snapshot.Failure{{Source: snapshot.DNSFirewall, Reason: snapshot.Denied, Call: "route53resolver:ListFirewallRules"}}}}
	}
	s := &snapshot.Snapshot{Instances: []snapshot.Instance{{ID: "i-1", Subnet: "subnet-1"}}}
	told := []finding.Evidence{{What: "Not checked", Value: "f/optional, dns firewall (denied: route53resolver:ListFirewallRules)"}}
	for _, tt := range []struct {
		name    string
		results []finding.Result
		want    []finding.Evidence
	}{
		{"of all", []finding.Result{sign("i-1"), denied()}, told},
		{"of the instance", []finding.Result{sign("i-1"), denied("i-1")}, told},
		{"of its subnet", []finding.Result{sign("i-1"), denied("subnet-1")}, told},
		{"of another subnet", []finding.Result{sign("i-1"), denied("subnet-2")}, nil},
		{"a cause is found", []finding.Result{sign("i-1"), fail("a/cause", "rtb-1", ids("subnet-1"), ids("i-1")), denied()}, nil},
	} {
		d := Rank(list, tt.results, s)
		if len(d.Causes) != 1 || len(d.Unknown) != 0 {
			t.Fatalf("%s: causes %+v, unknown %+v, want one cause", tt.name, d.Causes, d.Unknown)
		}
		if diff := cmp.Diff(tt.want, d.Causes[0].Evidence); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
}

// Optional checks that lack the same permission are one piece of evidence.
func TestOptionalOnce(t *testing.T) {
	list := catalogue()
	results := []finding.Result{sign("i-1")}
	for n, call := range []string{"ec2:DescribeRouteTables", "ec2:DescribeRouteTables", "route53resolver:ListFirewallRules"} {
		id := checkid.ID(fmt.Sprintf("f/optional-%d", n))
		list = append(list, check.Check{Entry: catalog.Entry{ID: id, Optional: true, Confidence: finding.Likely}})
		results = append(results, finding.Result{Check: id, Finding: finding.Finding{Outcome: finding.Unknown,
			Blocked: []snapshot.Failure{{Source: snapshot.RouteTables, Reason: snapshot.Denied, Call: call}}}})
	}
	want := []finding.Evidence{
		{What: "Not checked", Value: "f/optional-0, f/optional-1, route tables (denied: ec2:DescribeRouteTables)"},
		{What: "Not checked", Value: "f/optional-2, route tables (denied: route53resolver:ListFirewallRules)"},
	}
	d := Rank(list, results, &snapshot.Snapshot{Instances: []snapshot.Instance{{ID: "i-1", Subnet: "subnet-1"}}})
	if diff := cmp.Diff(want, d.Causes[0].Evidence); diff != "" {
		t.Errorf("evidence (-want +got):\n%s", diff)
	}
}

// A cause that has no instances is reported with the nodegroups of its groups.
func TestNodegroupsOfGroups(t *testing.T) {
	s := &snapshot.Snapshot{Groups: []snapshot.Group{
		{Name: "eks-workers-1", Subnets: []string{"subnet-1"}, Tags: map[string]string{"eks:nodegroup-name": "workers"}},
		{Name: "self-managed", Subnets: []string{"subnet-1"}},
		{Name: "elsewhere", Subnets: []string{"subnet-2"}},
	}}
	for covered, want := range map[string]string{"eks-workers-1": "[workers]", "subnet-1": "[self-managed workers]", "subnet-9": "[]"} {
		d := Rank(catalogue(), []finding.Result{fail("a/cause", "x", ids(covered), nil)}, s)
		if len(d.Causes) != 1 || fmt.Sprint(d.Causes[0].Nodegroups) != want {
			t.Errorf("%s: %+v, want one cause of %s", covered, d.Causes, want)
		}
	}
}

func TestSymptomsOfAGroupAreOneMessage(t *testing.T) {
	var results []finding.Result
	s := &snapshot.Snapshot{}
	long := strings.Repeat("n", 63) // the longest name of a nodegroup
	for i := range 100 {
		r := sign(fmt.Sprintf("i-%03d", i))
		r.Why = r.Resource + " is not there."
		r.Evidence = []finding.Evidence{{What: r.Resource, Value: strings.Repeat("x", 5000)}}
		results = append(results, r)
		s.Instances = append(s.Instances, snapshot.Instance{ID: r.Resource, Tags: map[string]string{"eks:nodegroup-name": long}})
	}
	d := Rank(catalogue(), results, s)
	if len(d.Causes) != 1 {
		t.Fatalf("%d causes, want 1", len(d.Causes))
	}
	c := d.Causes[0]
	if n := len([]rune(c.Title)); n > 70 || !strings.HasPrefix(c.Title, "100 instances of nnn") {
		t.Errorf("Title = %q with %d runes, want at most 70 and the count", c.Title, n)
	}
	if want := "i-000 is not there. The same is true of 99 more."; c.Why != want {
		t.Errorf("Why = %q, want %q", c.Why, want)
	}
	if len(c.Instances) != 100 || len(c.Covers) != 100 || c.Resource != long {
		t.Errorf("%d instances, %d covers, resource %q", len(c.Instances), len(c.Covers), c.Resource)
	}
	if len(c.Evidence) != maxEvidence+1 || len([]rune(c.Evidence[0].Value)) != maxValue {
		t.Errorf("%d lines of evidence, the first with %d runes, want %d and %d", len(c.Evidence), len([]rune(c.Evidence[0].Value)), maxEvidence+1, maxValue)
	}
}

func TestPassedAndUnknown(t *testing.T) {
	denied := []snapshot.Failure{{Source: snapshot.RouteTables, Reason: snapshot.Denied, Call: "ec2:DescribeRouteTables"}}
	unknown := func(check checkid.ID, covers ...string) finding.Result {
		return finding.Result{Check: check, Finding: finding.Finding{Outcome: finding.Unknown, Covers: covers, Blocked: denied}}
	}
	got := Rank(catalogue(), []finding.Result{
		{Check: "a/cause", Finding: finding.Finding{Outcome: finding.Pass, Covers: ids("subnet-1"), Evidence: []finding.Evidence{{What: "rtb-1", Value: "0.0.0.0/0 → nat-1"}}}},
		unknown("a/cause", "subnet-3"), unknown("a/cause", "subnet-2", "subnet-3"), unknown("b/after-a"),
	}, &snapshot.Snapshot{})
	want := diagnosis.Diagnosis{
		Passed: []diagnosis.Passed{{Check: "a/cause", Covers: ids("subnet-1"), Evidence: []finding.Evidence{{What: "rtb-1", Value: "0.0.0.0/0 → nat-1"}}}},
		Unknown: []diagnosis.Unknown{
			{Check: "a/cause", Covers: ids("subnet-2", "subnet-3"), Blocked: denied},
			{Check: "b/after-a", Blocked: denied},
		},
	}
	if diff := cmp.Diff(got, want); diff != "" {
		t.Errorf("Rank (-got +want):\n%s", diff)
	}
}

// A diagnosis travels as JSON and comes back as it was.
func TestDiagnosisRoundTrip(t *testing.T) {
	r := fail("a/cause", "rtb-1", ids("subnet-1"), ids("i-1"))
	r.Fix = finding.Fix{Text: "t", Command: "c", Console: "l", Remedy: "r"}
	want := Rank(catalogue(), []finding.Result{r, sign("i-1"), fail("b/after-a", "vpc-1", ids("subnet-1"), ids("i-1"))}, &snapshot.Snapshot{})
	text, err := json.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	var got diagnosis.Diagnosis
	if err := json.Unmarshal(text, &got); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(got, want); diff != "" {
		t.Errorf("round trip (-got +want):\n%s", diff)
	}
}

// The order in which results come does not matter but for ties that the
// catalogue breaks.
func TestRankIsStable(t *testing.T) {
	results := []finding.Result{
		fail("a/cause", "rtb-1", ids("subnet-1"), ids("i-1")), fail("a/cause", "rtb-2", ids("subnet-2"), ids("i-2")),
		fail("c/likely", "subnet-1", ids("subnet-1"), ids("i-1")), sign("i-1"), sign("i-2"), sign("i-3"),
	}
	want := Rank(catalogue(), results, &snapshot.Snapshot{})
	slices.Reverse(results)
	got := Rank(catalogue(), results, &snapshot.Snapshot{})
	if diff := cmp.Diff(got, want); diff != "" {
		t.Errorf("reversed results (-got +want):\n%s", diff)
	}
}

// TestLessCertainNamesWhatWasNotRead: a cause that is weaker than its check can be names what
// the check requested and could not read.
func TestLessCertainNamesWhatWasNotRead(t *testing.T) {
	list := []check.Check{{Entry: catalog.Entry{ID: "a/check", Confidence: finding.Certain, Predictive: true}, Uses: []snapshot.Source{snapshot.EC2NodeClassesOf, snapshot.Usage}}}
	s := &snapshot.Snapshot{Failures: map[snapshot.Source]snapshot.Failure{
		snapshot.EC2NodeClassesOf: {Source: snapshot.EC2NodeClassesOf, Reason: snapshot.Denied, Call: "kubernetes: list ec2nodeclasses"},
		snapshot.Usage:            {Source: snapshot.Usage, Reason: snapshot.NotRead},
		snapshot.VolumesOf:        {Source: snapshot.VolumesOf, Reason: snapshot.Denied, Call: "ec2:DescribeVolumes"},
	}}
	for confidence, want := range map[finding.Confidence][]finding.Evidence{
		finding.Certain: nil,
		finding.Advice:  nil,
		finding.Likely:  {{What: "Not checked", Value: "ec2nodeclasses (denied: kubernetes: list ec2nodeclasses)"}},
	} {
		d := Rank(list, []finding.Result{{Check: "a/check", Finding: finding.Finding{Outcome: finding.Fail, Resource: "x", Confidence: confidence}}}, s)
		if len(d.Causes) != 1 || !cmp.Equal(d.Causes[0].Evidence, want) {
			t.Errorf("%s: %+v, want the evidence %+v", confidence, d.Causes, want)
		}
	}
}

// rules is a catalogue with a check for each way in which one belongs to
// another.
func rules() []check.Check {
	return append(catalogue(),
		check.Check{Entry: catalog.Entry{ID: "p/possible", Confidence: finding.Possible}},
		check.Check{Entry: catalog.Entry{ID: "n/ahead", Confidence: finding.Likely, Predictive: true}},
		check.Check{Entry: catalog.Entry{ID: "m/adds-to-a", Confidence: finding.Certain, Adds: []checkid.ID{"a/cause"}}},
		check.Check{Entry: catalog.Entry{ID: "m/adds-to-b", Confidence: finding.Certain, Adds: []checkid.ID{"b/after-a"}}},
		check.Check{Entry: catalog.Entry{ID: "g/symptom", Confidence: finding.Symptom, After: []checkid.ID{"a/cause", "b/after-a", "c/likely"}}},
		check.Check{Entry: catalog.Entry{ID: "s/sum", Confidence: finding.Symptom, After: []checkid.ID{"d/symptom"}}},
		check.Check{Entry: catalog.Entry{ID: "z/new", Confidence: "new"}},
		check.Check{Entry: catalog.Entry{ID: "f/shared", Title: "They share it", Confidence: finding.Likely, Circumstantial: true}},
	)
}

func stands(r finding.Result) finding.Result { r.Unconditional = true; return r }

func resources(r finding.Result, list ...string) finding.Result { r.Resources = list; return r }

func TestRankRules(t *testing.T) {
	due := time.Date(2026, 11, 20, 15, 0, 0, 0, time.UTC)
	s := &snapshot.Snapshot{
		Time: due,
		Instances: []snapshot.Instance{
			{ID: "i-1", Tags: map[string]string{"eks:nodegroup-name": "workers"}},
			{ID: "i-2", Tags: map[string]string{"eks:nodegroup-name": "workers"}},
			{ID: "i-3", Tags: map[string]string{"eks:nodegroup-name": "others"}},
		},
		Launches: []snapshot.ExpectedJoin{{Instance: "i-early", Due: due.Add(time.Second)}, {Instance: "i-due", Due: due}},
	}
	a := fail("a/cause", "rtb-1", ids("subnet-1"), ids("i-1"))
	for _, test := range []struct {
		name    string
		results []finding.Result
		want    []string
	}{
		{"the order of confidences, whatever they have",
			[]finding.Result{
				fail("z/new", "r-6", nil, ids("i-71", "i-72", "i-73", "i-74", "i-75", "i-76")),
				fail("e/advice", "r-5", nil, ids("i-61", "i-62", "i-63", "i-64", "i-65")),
				fail("d/symptom", "r-4", nil, ids("i-51", "i-52", "i-53", "i-54")),
				fail("p/possible", "r-3", nil, ids("i-51", "i-42", "i-43")),
				fail("c/likely", "r-2", nil, ids("i-51", "i-32")),
				fail("a/cause", "r-1", nil, ids("i-21")),
			},
			[]string{
				"certain a/cause r-1 [i-21]", "likely c/likely r-2 [i-51 i-32] symptoms [d/symptom]", "possible p/possible r-3 [i-51 i-42 i-43] symptoms [d/symptom]",
				"symptom d/symptom r-4 [i-51 i-52 i-53 i-54]", "advice e/advice r-5 [i-61 i-62 i-63 i-64 i-65]", "new z/new r-6 [i-71 i-72 i-73 i-74 i-75 i-76]",
			}},
		{"a likely finding of an instance that still has time to join is not told",
			[]finding.Result{fail("c/likely", "subnet-1", nil, ids("i-early"))}, nil},
		{"of one that is due it is advice",
			[]finding.Result{fail("c/likely", "subnet-1", nil, ids("i-due"))}, []string{"advice c/likely subnet-1 [i-due]"}},
		{"of several, one of which is due, too",
			[]finding.Result{fail("c/likely", "subnet-1", nil, ids("i-early", "i-due"))}, []string{"advice c/likely subnet-1 [i-early i-due]"}},
		{"what is certain is told early",
			[]finding.Result{fail("a/cause", "rtb-1", nil, ids("i-early"))}, []string{"certain a/cause rtb-1 [i-early]"}},
		{"after a certain finding a likely one is weighed all the same",
			[]finding.Result{a, fail("c/likely", "subnet-1", nil, ids("i-2"))},
			[]string{"certain a/cause rtb-1 [i-1] of [workers]", "advice c/likely subnet-1 [i-2] of [workers]"}},
		{"what sees ahead stays, and explains itself",
			[]finding.Result{a, fail("n/ahead", "subnet-1", ids("subnet-1"), ids("i-1"))},
			[]string{"certain a/cause rtb-1 [i-1] of [workers]", "likely n/ahead subnet-1 [i-1] of [workers]"}},
		{"what stands without an instance stays, beside what has the same subnet",
			[]finding.Result{a, stands(fail("c/likely", "subnet-1", ids("subnet-1"), nil)), stands(fail("p/possible", "subnet-2", ids("subnet-2"), nil))},
			[]string{"certain a/cause rtb-1 [i-1] of [workers]", "likely c/likely subnet-1 []", "possible p/possible subnet-2 []"}},
		{"what stands, and has an instance that has not failed, does not",
			[]finding.Result{stands(fail("c/likely", "subnet-1", nil, ids("i-2")))}, []string{"advice c/likely subnet-1 [i-2] of [workers]"}},
		{"what stands, and has an instance that failed, contributes",
			[]finding.Result{a, sign("i-1"), stands(fail("c/likely", "subnet-1", nil, ids("i-1")))},
			[]string{"certain a/cause rtb-1 [i-1] of [workers] contributing [c/likely] symptoms [d/symptom]"}},

		{"what launches share contributes to a likely cause of all of them",
			[]finding.Result{sign("i-1"), sign("i-2"), fail("f/shared", "ami-1", nil, ids("i-1", "i-2")), fail("c/likely", "subnet-1", nil, ids("i-1", "i-2"))},
			[]string{"likely c/likely subnet-1 [i-1 i-2] of [workers] contributing [f/shared] symptoms [d/symptom]"}},
		{"and to a certain one",
			[]finding.Result{a, sign("i-1"), fail("f/shared", "ami-1", nil, ids("i-1"))},
			[]string{"certain a/cause rtb-1 [i-1] of [workers] contributing [f/shared] symptoms [d/symptom]"}},
		{"beside a likely cause of one of them it stands last, though it has more",
			[]finding.Result{sign("i-1"), sign("i-2"), fail("f/shared", "ami-1", nil, ids("i-1", "i-2")), fail("c/likely", "subnet-1", nil, ids("i-1"))},
			[]string{"likely c/likely subnet-1 [i-1] of [workers] symptoms [d/symptom]", "likely f/shared ami-1 [i-1 i-2] of [workers] symptoms [d/symptom]"}},
		{"a mere possibility does not take it away",
			[]finding.Result{sign("i-1"), fail("f/shared", "ami-1", nil, ids("i-1")), fail("p/possible", "sg-1", nil, ids("i-1"))},
			[]string{"likely f/shared ami-1 [i-1] of [workers] symptoms [d/symptom]", "possible p/possible sg-1 [i-1] of [workers] symptoms [d/symptom]"}},

		{"of no instance, and of more than the cause covers, nothing is hidden",
			[]finding.Result{a, fail("b/after-a", "vpc-1", ids("subnet-1", "subnet-2"), nil)},
			[]string{"certain a/cause rtb-1 [i-1] of [workers]", "certain b/after-a vpc-1 []"}},
		{"advice hides nothing",
			[]finding.Result{func() finding.Result { a := a; a.Confidence = finding.Advice; return a }(), fail("b/after-a", "vpc-1", ids("subnet-1"), ids("i-1"))},
			[]string{"certain b/after-a vpc-1 [i-1] of [workers]", "advice a/cause rtb-1 [i-1] of [workers]"}},
		{"a mere possibility hides nothing that is certain",
			[]finding.Result{sign("i-1"), func() finding.Result { a := a; a.Confidence = finding.Possible; return a }(), fail("b/after-a", "vpc-1", ids("subnet-1"), ids("i-1"))},
			[]string{"certain b/after-a vpc-1 [i-1] of [workers] contributing [a/cause] symptoms [d/symptom]"}},
		{"a symptom of an instance that only what is hidden has stays",
			[]finding.Result{a, fail("b/after-a", "vpc-1", ids("subnet-1"), ids("i-1", "i-2")), sign("i-2")},
			[]string{"certain a/cause rtb-1 [i-1] of [workers] hidden [{b/after-a a/cause}]", "symptom d/symptom workers [i-2] of [workers]"}},

		{"facts of the same resource are added, with their instances",
			[]finding.Result{a, fail("m/adds-to-a", "rtb-1", nil, ids("i-2")), sign("i-2"), fail("c/likely", "subnet-1", nil, ids("i-2"))},
			[]string{"certain a/cause rtb-1 [i-1 i-2] of [workers] contributing [m/adds-to-a c/likely] symptoms [d/symptom]"}},
		{"facts of a resource that the cause names are added",
			[]finding.Result{resources(a, "nat-1"), fail("m/adds-to-a", "nat-1", nil, nil)}, []string{"certain a/cause rtb-1 [i-1] of [workers] contributing [m/adds-to-a]"}},
		{"facts that name the cause's resource are added",
			[]finding.Result{a, resources(fail("m/adds-to-a", "nat-1", nil, nil), "rtb-1")}, []string{"certain a/cause rtb-1 [i-1] of [workers] contributing [m/adds-to-a]"}},
		{"facts of another resource are not",
			[]finding.Result{a, fail("m/adds-to-a", "rtb-2", nil, nil)}, []string{"certain a/cause rtb-1 [i-1] of [workers]", "certain m/adds-to-a rtb-2 []"}},
		{"nothing is added to what is hidden",
			[]finding.Result{a, fail("b/after-a", "vpc-1", nil, ids("i-1")), fail("m/adds-to-b", "vpc-1", nil, ids("i-2"))},
			[]string{"certain a/cause rtb-1 [i-1] of [workers] hidden [{b/after-a a/cause}]", "certain m/adds-to-b vpc-1 [i-2] of [workers]"}},

		{"symptoms of one check are told once",
			[]finding.Result{fail("a/cause", "rtb-1", nil, ids("i-1", "i-2")), sign("i-1"), sign("i-2")},
			[]string{"certain a/cause rtb-1 [i-1 i-2] of [workers] symptoms [d/symptom]"}},
		{"a symptom is explained when all its instances are",
			[]finding.Result{a, fail("d/symptom", "asg-1", nil, ids("i-3", "i-1"))},
			[]string{"certain a/cause rtb-1 [i-1] of [workers] symptoms [d/symptom]", "symptom d/symptom others [i-3 i-1] of [others workers]"}},
		{"symptoms of a nodegroup are one, in order, with all their nodegroups",
			[]finding.Result{sign("i-2"), fail("d/symptom", "i-1", ids("i-1"), ids("i-1", "i-3"))},
			[]string{"symptom d/symptom workers [i-1 i-2 i-3] of [others workers]"}},

		{"a symptom of no instance belongs to the cause of a resource that it names",
			[]finding.Result{fail("a/cause", "rtb-1", ids("subnet-1"), nil), resources(fail("g/symptom", "asg-1", nil, nil), "subnet-1")},
			[]string{"certain a/cause rtb-1 [] symptoms [g/symptom]"}},
		{"not to advice, but to what comes after it",
			[]finding.Result{fail("c/likely", "subnet-1", ids("subnet-1"), nil),
				fail("a/cause", "rtb-1", ids("subnet-1"), nil), resources(fail("g/symptom", "asg-1", nil, nil), "subnet-1")},
			[]string{"certain a/cause rtb-1 [] symptoms [g/symptom]", "advice c/likely subnet-1 []"}},
		{"not to advice alone",
			[]finding.Result{fail("c/likely", "subnet-1", ids("subnet-1"), nil), resources(fail("g/symptom", "asg-1", nil, nil), "subnet-1")},
			[]string{"symptom g/symptom asg-1 []", "advice c/likely subnet-1 []"}},
		{"not to what is hidden",
			[]finding.Result{a, fail("b/after-a", "vpc-1", ids("subnet-2"), ids("i-1")), resources(fail("g/symptom", "asg-1", nil, nil), "subnet-2")},
			[]string{"certain a/cause rtb-1 [i-1] of [workers] hidden [{b/after-a a/cause}]", "symptom g/symptom asg-1 []"}},
		{"not to a check that it does not come after",
			[]finding.Result{fail("m/adds-to-a", "rtb-1", ids("subnet-1"), nil), resources(fail("g/symptom", "asg-1", nil, nil), "subnet-1")},
			[]string{"certain m/adds-to-a rtb-1 []", "symptom g/symptom asg-1 []"}},
		{"not to a cause of another resource",
			[]finding.Result{fail("a/cause", "rtb-1", ids("subnet-1"), nil), resources(fail("g/symptom", "asg-1", nil, nil), "subnet-2")},
			[]string{"certain a/cause rtb-1 []", "symptom g/symptom asg-1 []"}},

		{"of two symptoms of the same things one is only the sum",
			[]finding.Result{fail("s/sum", "asg-1", ids("i-1"), ids("i-1")), sign("i-1")},
			[]string{"symptom d/symptom workers [i-1] of [workers] symptoms [s/sum]"}},
		{"of other things it is not",
			[]finding.Result{fail("s/sum", "asg-1", ids("i-2"), ids("i-2")), sign("i-1")},
			[]string{"symptom d/symptom workers [i-1] of [workers]", "symptom s/sum workers [i-2] of [workers]"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			var got []string
			for _, c := range Rank(rules(), test.results, s).Causes {
				got = append(got, line(c))
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("causes (-want +got):\n%s", diff)
			}
		})
	}
}

// The words of symptoms that nothing explains: one is printed as it is, several
// with their count.
func TestWordsOfSymptoms(t *testing.T) {
	s := &snapshot.Snapshot{}
	for _, id := range []string{"i-1", "i-2"} {
		s.Instances = append(s.Instances, snapshot.Instance{ID: id, Tags: map[string]string{"eks:nodegroup-name": "workers"}})
	}
	one := Rank(catalogue(), []finding.Result{sign("i-1")}, s).Causes[0]
	if one.Title != "i-1 is broken" || one.Why != "" || one.Resource != "workers" {
		t.Errorf("one: %q, %q, of %s", one.Title, one.Why, one.Resource)
	}
	two := Rank(catalogue(), []finding.Result{sign("i-2"), sign("i-1")}, s).Causes[0]
	if want := "2 instances of workers: no node registered in time"; two.Title != want {
		t.Errorf("two: %q, want %q", two.Title, want)
	}
	if fmt.Sprint(two.Covers, two.Instances) != "[i-1 i-2] [i-1 i-2]" {
		t.Errorf("two: covers %v, instances %v", two.Covers, two.Instances)
	}
}

func TestLower(t *testing.T) {
	for title, want := range map[string]string{
		"": "", "A node": "a node", "Zone": "zone", "zone": "zone", "a node": "a node", "2 nodes": "2 nodes", "[x]": "[x]", "@x": "@x", "Ärger": "Ärger",
	} {
		if got := lower(title); got != want {
			t.Errorf("%q: %q, want %q", title, got, want)
		}
	}
}

// What fits is printed whole; one more is counted or cut.
func TestBounded(t *testing.T) {
	lines := func(n int) []finding.Evidence {
		var list []finding.Evidence
		for i := range n {
			list = append(list, finding.Evidence{What: fmt.Sprint(i), Value: strings.Repeat("é", maxValue)})
		}
		return list
	}
	if diff := cmp.Diff(lines(maxEvidence), bounded(lines(maxEvidence))); diff != "" {
		t.Errorf("what fits (-want +got):\n%s", diff)
	}
	over := bounded(lines(maxEvidence + 2))
	if want := (finding.Evidence{What: "More", Value: "2 more lines were left out"}); len(over) != maxEvidence+1 || over[maxEvidence] != want {
		t.Errorf("%d lines, the last %+v, want %+v", len(over), over[len(over)-1], want)
	}
	long := []finding.Evidence{{Value: strings.Repeat("é", maxValue+1)}}
	if got, want := bounded(long)[0].Value, strings.Repeat("é", maxValue-1)+"…"; got != want {
		t.Errorf("cut to %d runes", len([]rune(got)))
	}
}

// One check that could not run for two reasons names both.
func TestUnknownByReason(t *testing.T) {
	unknown := func(call string) finding.Result {
		return finding.Result{Check: "a/cause", Finding: finding.Finding{Outcome: finding.Unknown, Blocked: []snapshot.Failure{{Call: call}}}}
	}
	if got := Rank(catalogue(), []finding.Result{unknown("x"), unknown("y"), unknown("x")}, &snapshot.Snapshot{}).Unknown; len(got) != 2 {
		t.Errorf("%+v, want two", got)
	}
}

// What launches share is evidence of the cause that explains them.
func TestSharedIsEvidence(t *testing.T) {
	shared := fail("f/shared", "ami-1", nil, ids("i-1"))
	shared.Why = "5 of 5 launches with ami-1 failed"
	d := Rank(rules(), []finding.Result{sign("i-1"), shared, fail("c/likely", "subnet-1", nil, ids("i-1"))}, &snapshot.Snapshot{})
	want := finding.Evidence{What: "They share it", Value: shared.Why}
	if len(d.Causes) != 1 || !slices.Contains(d.Causes[0].Evidence, want) {
		t.Errorf("causes %+v, want one with %v", d.Causes, want)
	}
}
