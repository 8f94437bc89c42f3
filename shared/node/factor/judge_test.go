package factor

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"rollcall/shared/checkid"
	"rollcall/shared/snapshot"
)

func noon() time.Time { return time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC) }

// row is some launches with a value each of some kinds, the first at a time before
// noon.
func row(n int, ago, step time.Duration, failed bool, of map[Kind]string) []Launch {
	var list []Launch
	for i := range n {
		l := Launch{Started: noon().Add(-ago + time.Duration(i)*step), Failed: failed}
		for k, name := range of {
			l.Of[index(k)] = name
		}
		l.ID = fmt.Sprintf("%v %v", l.Started, l.Of)
		list = append(list, l)
	}
	return list
}

func with(name string) map[Kind]string { return map[Kind]string{AMI: name} }

const quarter = 15 * time.Minute

// before is a good week: a launch in each of 80 hours.
func before() []Launch { return row(80, 90*time.Hour, time.Hour, false, with("old")) }

func TestJudge(t *testing.T) {
	const hour = time.Hour
	for _, tt := range []struct {
		name string
		list []Launch
		want Reason
	}{
		{"nothing failed", before(), NoFailure},
		{"bad beside good", slices.Concat(before(), row(8, 4*hour, 20*time.Minute, true, with("new")), row(8, 4*hour, 20*time.Minute, false, with("old"))), Named},
		{"twenty at once are one witness", slices.Concat(before(), row(20, hour, time.Second, true, with("new"))), TooFew},
		{"three witnesses are too few", slices.Concat(before(), row(3, hour, quarter, true, with("new"))), TooFew},
		{"nothing to compare with", row(20, 6*hour, quarter, true, with("new")), TooFew},
		{"5 of 5 and 12 of 12 happen in 90 days", slices.Concat(row(12, 14*hour, hour, false, with("old")), row(5, 5*hour, hour, true, with("new"))), ByChance},
		{"a loss that nobody would mind", slices.Concat(row(500, 160*hour, quarter, false, with("old")), row(80, 30*hour, quarter, false, with("new")), row(12, 5*hour, 20*time.Minute, true, with("new"))), ByChance},
		{"all fail in those hours", slices.Concat(before(), row(12, 3*hour, quarter, true, with("new")), row(12, 3*hour, quarter, true, with("old"))), OfItsHour},
		{"nothing else was launched, and it is four hours old", slices.Concat(before(), row(16, 4*hour, quarter, true, with("new"))), OfItsHour},
		{"nothing else was launched in five hours", slices.Concat(before(), row(17, 5*hour, quarter, true, with("new"))), Named},
		{"nothing else but one that failed", slices.Concat(before(), row(17, 5*hour, quarter, true, with("new")), row(1, 2*hour, 0, true, with("old"))), OfItsHour},
		{"it works again", slices.Concat(before(), row(8, 6*hour, 20*time.Minute, true, with("new")), row(8, 6*hour, 20*time.Minute, false, with("old")), row(3, hour, quarter, false, with("new"))), WorksAgain},
		{"two of the last four joined", slices.Concat(before(), row(8, 6*hour, 20*time.Minute, true, with("new")), row(8, 6*hour, 20*time.Minute, false, with("old")), row(2, hour, quarter, false, with("new"))), Named},
		{"it is a week old", slices.Concat(row(80, 300*hour, hour, false, with("old")), row(12, 172*hour, 20*time.Minute, true, with("new")), row(1, hour, 0, true, with("old"))), TooFew},
		{"7 of 7 at once beside 40 of 40 of the same hour", slices.Concat(row(7, hour, time.Second, true, with("new")), row(40, hour, time.Minute, false, with("old"))), Named},
		{"6 of 6 beside 18 of 18", slices.Concat(row(6, hour, 5*time.Minute, true, with("new")), row(18, hour, 2*time.Minute, false, with("old"))), Named},
		{"5 of 5 beside 40 of 40", slices.Concat(row(5, hour, time.Second, true, with("new")), row(40, hour, time.Minute, false, with("old"))), TooFew},
		{"7 of 7 beside 17 of 17", slices.Concat(row(7, hour, time.Second, true, with("new")), row(17, hour, time.Minute, false, with("old"))), TooFew},
		{"7 of 7 beside 40 of 41", slices.Concat(row(7, hour, time.Second, true, with("new")), row(40, hour, time.Minute, false, with("old")), row(1, hour, 0, true, with("old"))), TooFew},
		{"7 of 8 beside 40 of 40", slices.Concat(row(7, hour, time.Second, true, with("new")), row(1, hour/2, 0, false, with("new")), row(40, hour, time.Minute, false, with("old"))), TooFew},
		{"7 of 7, and the others joined the day before", slices.Concat(row(7, hour, time.Second, true, with("new")), row(40, 24*hour, time.Minute, false, with("old"))), TooFew},
		{"of what is not known nothing is said", slices.Concat(row(80, 90*hour, hour, false, nil), row(17, 5*hour, quarter, true, with("new"))), TooFew},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := Judge(tt.list, noon())
			if got.Reason != tt.want {
				t.Errorf("%+v, want %s", got, tt.want)
			}
			slices.Reverse(tt.list)
			if diff := cmp.Diff(got, Judge(tt.list, noon())); diff != "" {
				t.Errorf("in another order (-one +other):\n%s", diff)
			}
		})
	}
}

// The correction is by all values that were tried and all looks of 90 days: what is
// named among a few is not among many.
func TestCorrectedForAllThatWasTried(t *testing.T) {
	list := slices.Concat(row(23, 30*time.Hour, time.Hour, false, with("old")), row(6, 6*time.Hour, time.Hour, true, with("new")))
	v := Judge(list, noon())
	if want := (29*90 + 6) / 7; v.Reason != Named || v.Looks != want || v.Tried != 2 || v.Witnesses != 6 {
		t.Fatalf("%+v, want it named in %d looks at 2 values", v, want)
	}
	for i := range list {
		for k := 1; k < kinds; k++ {
			list[i].Of[k] = fmt.Sprint(i % 5)
		}
	}
	if v := Judge(list, noon()); v.Reason != ByChance || v.Tried != 2+5*9 {
		t.Errorf("%+v, want it by chance among 47 values", v)
	}
}

// A zone that fails accuses no type that is launched most of all there.
func TestTheValueThatExplainsIsNamed(t *testing.T) {
	of := func(zone, name string) map[Kind]string { return map[Kind]string{Zone: zone, Type: name} }
	list := slices.Concat(
		row(40, 100*time.Hour, time.Hour, false, of("a", "m5.large")), row(40, 100*time.Hour, time.Hour, false, of("b", "c5.large")), row(10, 100*time.Hour, time.Hour, false, of("b", "m5.large")),
		row(24, 8*time.Hour, 20*time.Minute, true, of("a", "m5.large")), row(3, 6*time.Hour, 2*time.Hour, true, of("a", "c5.large")),
		row(3, 6*time.Hour, 2*time.Hour, false, of("b", "m5.large")), row(24, 8*time.Hour, 20*time.Minute, false, of("b", "c5.large")))
	v := Judge(list, noon())
	if diff := cmp.Diff([]Value{{Zone, "a"}}, v.Shared); v.Reason != Named || diff != "" {
		t.Errorf("%+v, want the zone (-want +got):\n%s", v, diff)
	}
}

func TestTheVerySameLaunchesAreNamedTogether(t *testing.T) {
	of := func(ami, version string) map[Kind]string {
		return map[Kind]string{AMI: ami, Template: "lt-1 version " + version, Type: "m5.large", Family: "m5"}
	}
	list := slices.Concat(row(80, 90*time.Hour, time.Hour, false, of("old", "1")), row(18, 6*time.Hour, quarter, true, of("new", "2")))
	v := Judge(list, noon())
	want := Verdict{
		Reason: Named, Shared: []Value{{AMI, "new"}, {Template, "lt-1 version 2"}}, Failed: 18, Launches: 18, Others: 80, Witnesses: 18,
		P: v.P, Tried: 4, Looks: v.Looks, First: noon().Add(-6 * time.Hour), IDs: v.IDs,
	}
	if diff := cmp.Diff(want, v); diff != "" || len(v.IDs) != 18 {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if got := Instead(list, v.Shared[0]); got != "old" {
		t.Errorf("instead of the AMI %q", got)
	}
	if got := Instead(list, Value{Template, "lt-2 version 2"}); got != "" {
		t.Errorf("instead of another template's version %q", got)
	}
	// One that joined has the version and not the AMI: too few to tell them apart.
	list = append(list, row(1, 2*time.Hour, 0, false, of("old", "2"))...)
	v = Judge(list, noon())
	if diff := cmp.Diff([][]Value{{{AMI, "new"}}, {{Template, "lt-1 version 2"}}}, [][]Value{v.Shared, v.Near}); v.Reason != Named || diff != "" {
		t.Errorf("%+v (-want +got):\n%s", v, diff)
	}
	if len(v.Shared) > 0 && v.Among.Kind != "" {
		t.Errorf("among them %v", v.Among)
	}
}

// A type that alone stands for its family says the same twice.
func TestFamilyOfOneType(t *testing.T) {
	of := func(name string) map[Kind]string { return map[Kind]string{Type: name, Family: familyOf(name)} }
	list := slices.Concat(row(80, 90*time.Hour, time.Hour, false, of("m5.large")), row(20, 6*time.Hour, quarter, true, of("c5.large")))
	if diff := cmp.Diff([]Value{{Type, "c5.large"}}, Judge(list, noon()).Shared); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	list = append(list, row(8, 6*time.Hour, 40*time.Minute, true, of("c5.xlarge"))...)
	if diff := cmp.Diff([]Value{{Family, "c5"}}, Judge(list, noon()).Shared); diff != "" {
		t.Errorf("with another type of it (-want +got):\n%s", diff)
	}
}

func TestLaunchOf(t *testing.T) {
	full := snapshot.Past{
		ID: "i-1", Nodegroup: "workers", Group: "eks-workers", Type: "m6g.large", Zone: "us-west-2a", Subnet: "subnet-1", Spot: true,
		Template: snapshot.TemplateRef{ID: "lt-1", Version: "3"}, AMI: "ami-1", Architecture: "arm64", Plugin: "v1.20.4", Started: noon(), End: snapshot.Joined,
	}
	l, says := LaunchOf(full)
	want := Launch{ID: "i-1", Started: noon(), Of: [kinds]string{"ami-1", "lt-1 version 3", "v1.20.4", "workers", "m6g.large", "m6g", "arm64", "Spot", "subnet-1", "us-west-2a"}}
	if diff := cmp.Diff(want, l); !says || diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for _, tt := range []struct {
		end          snapshot.End
		cause        checkid.ID
		missed       bool
		says, failed bool
	}{
		{end: snapshot.NotJoined, says: true, failed: true},
		{end: snapshot.NotJoined, cause: checkid.NodeNotRegistered, says: true, failed: true},
		{end: snapshot.NotJoined, cause: checkid.InstanceCommonFactor, says: true, failed: true},
		{end: snapshot.NotJoined, cause: checkid.RouteNoEgress},
		{end: snapshot.Open, missed: true, says: true, failed: true},
		{end: snapshot.Open},
		{end: snapshot.Refused}, {end: snapshot.Reclaimed}, {end: snapshot.Terminated}, {end: snapshot.Unclear},
	} {
		p := full
		if p.End, p.Cause = tt.end, tt.cause; tt.missed {
			p.Missed = noon()
		}
		if l, says := LaunchOf(p); says != tt.says || l.Failed != tt.failed {
			t.Errorf("%q for %q: says %v, failed %v", tt.end, tt.cause, says, l.Failed)
		}
	}
}
