package leak

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// some are verdicts of leaked interfaces, one minute younger each.
func some(n int) []Verdict {
	var list []Verdict
	for k := range n {
		i := left()
		i.ID = fmt.Sprintf("eni-%02d", k)
		i.Tags[TagCreated] = now.Add(-5*time.Hour + time.Duration(k)*time.Minute).Format(time.RFC3339)
		list = append(list, Judge(i, ground()))
	}
	return list
}

// seen are sightings of them by an earlier run.
func seen(list []Verdict) map[string]Sighting {
	m := map[string]Sighting{}
	for _, v := range list {
		m[v.Interface.ID] = Sighting{Interface: v.Interface.ID, First: now.Add(-15 * time.Minute), Print: Print(v.Interface), Version: 1}
	}
	return m
}

func rules() Rules {
	return Rules{
		Began: now, Ended: now.Add(10 * time.Second), Modes: func(string) Mode { return Delete }, Untagged: Report,
		Cap: 1000, Interfaces: 100, Share: 50,
	}
}

func ids(list []Verdict) []string {
	var out []string
	for _, v := range list {
		out = append(out, v.Interface.ID)
	}
	return out
}

func whys(p Plan) map[Reason]int {
	m := map[Reason]int{}
	for _, v := range p.Judged {
		m[v.Why]++
	}
	return m
}

func TestDecide(t *testing.T) {
	list := some(3)
	slices.Reverse(list)
	p := Decide(list, seen(list), rules())
	if diff := cmp.Diff([]string{"eni-00", "eni-01", "eni-02"}, ids(p.Delete)); diff != "" {
		t.Errorf("oldest first (-want +got):\n%s", diff)
	}
	if len(p.Ask)+len(p.Remember)+len(p.Forget) > 0 || p.Stopped != nil {
		t.Errorf("plan %+v", p)
	}
}

// What is right at its bound is deleted.
func TestDecideAtTheBounds(t *testing.T) {
	for name, bound := range map[string]func(list []Verdict, s map[string]Sighting, r *Rules){
		"seen long enough ago": func(_ []Verdict, s map[string]Sighting, r *Rules) {
			set(s, func(x *Sighting) { x.First = r.Began.Add(-Apart) })
		},
		"all of the VPC's, and it may": func(_ []Verdict, _ map[string]Sighting, r *Rules) { r.Interfaces, r.Share = 3, 100 },
		"the share to the interface":   func(_ []Verdict, _ map[string]Sighting, r *Rules) { r.Interfaces, r.Share = 4, 75 },
		"approved":                     func(list []Verdict, _ map[string]Sighting, r *Rules) { r.Only = approve(list) },
		"the cap to the interface":     func(_ []Verdict, _ map[string]Sighting, r *Rules) { r.Cap = 3 },
		// Only who asks is asked back.
		"asked for today, as long as it was only asked for": func(list []Verdict, _ map[string]Sighting, r *Rules) { r.Asked = approve(list) },
	} {
		list := some(3)
		s, r := seen(list), rules()
		bound(list, s, &r)
		if p := Decide(list, s, r); len(p.Delete) != 3 || len(p.Ask) > 0 || whys(p)[Leaked] != 3 {
			t.Errorf("%s: deletes %v, %v", name, ids(p.Delete), whys(p))
		}
	}
}

func approve(list []Verdict) map[string]bool {
	m := map[string]bool{}
	for _, v := range list {
		m[v.Interface.ID] = true
	}
	return m
}

// One above the share is over it, however many there are.
func TestDecideTheShareOfMany(t *testing.T) {
	list := some(100)
	r := rules()
	r.Interfaces, r.Share = 202, 50
	if p := Decide(list, seen(list), r); p.Stopped != nil {
		t.Errorf("100 of 202 are stopped at half: %+v", p.Stopped)
	}
	r.Interfaces, r.Share = 199, 50
	if p := Decide(list, seen(list), r); p.Stopped == nil || len(p.Delete) > 0 {
		t.Errorf("100 of 199 are not stopped at half: deletes %d", len(p.Delete))
	}
}

// What no rule lets be deleted does not stop the others, and one that is told
// of another state of itself is not left behind for it.
func TestDecideCountsCandidatesAlone(t *testing.T) {
	list := some(4)
	list[2].Why, list[3].Why = InUse, OwnerLives
	r := rules()
	r.Interfaces, r.Share = 4, 50
	if p := Decide(list, seen(list), r); p.Stopped != nil || len(p.Delete) != 2 {
		t.Errorf("2 of 4 at half: stopped %+v, deletes %v", p.Stopped, ids(p.Delete))
	}
}

// What EC2 was asked about today says so.
func TestDecideAsksOnceADay(t *testing.T) {
	list := some(2)
	r := rules()
	r.Modes, r.Asked = func(string) Mode { return DryRun }, map[string]bool{"eni-00": true}
	p := Decide(list, seen(list), r)
	if diff := cmp.Diff([]string{"eni-01"}, ids(p.Ask)); diff != "" || whys(p)[AskedToday] != 1 || len(p.Delete) > 0 {
		t.Errorf("%v; to ask for (-want +got):\n%s", whys(p), diff)
	}
}

// Sightings to forget come in the order of their names, whatever the map's.
func TestDecideForgetsInOrder(t *testing.T) {
	s := map[string]Sighting{}
	var want []string
	for i := range 40 {
		id := fmt.Sprintf("eni-%02d", i)
		s[id] = Sighting{Interface: id, Version: 1}
		want = append(want, id)
	}
	var got []string
	for _, x := range Decide(nil, s, rules()).Forget {
		got = append(got, x.Interface)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// Only one rule is broken in each, and nothing is deleted.
func TestDecideHolds(t *testing.T) {
	for _, test := range []struct {
		name  string
		spoil func(list []Verdict, s map[string]Sighting, r *Rules)
		want  Reason
	}{
		{"in mode report", func(_ []Verdict, _ map[string]Sighting, r *Rules) { r.Modes = func(string) Mode { return Report } }, NotOptedIn},
		{"in a mode that is not known", func(_ []Verdict, _ map[string]Sighting, r *Rules) { r.Modes = func(string) Mode { return "DELETE" } }, NotOptedIn},
		{"in no mode", func(_ []Verdict, _ map[string]Sighting, r *Rules) { r.Modes = func(string) Mode { return "" } }, NotOptedIn},
		{"another cluster opted in", func(_ []Verdict, _ map[string]Sighting, r *Rules) {
			r.Modes = func(c string) Mode { return map[string]Mode{"dev": Delete}[c] }
		}, NotOptedIn},
		{"never seen", func(_ []Verdict, s map[string]Sighting, _ *Rules) { clear(s) }, NotSeenBefore},
		{"seen by this run", func(_ []Verdict, s map[string]Sighting, _ *Rules) { set(s, func(x *Sighting) { x.First = now }) }, NotSeenBefore},
		{"seen by a run beside this one", func(_ []Verdict, s map[string]Sighting, _ *Rules) {
			set(s, func(x *Sighting) { x.First = now.Add(-Apart + time.Second) })
		}, NotSeenBefore},
		{"seen in the future", func(_ []Verdict, s map[string]Sighting, _ *Rules) {
			set(s, func(x *Sighting) { x.First = now.Add(time.Hour) })
		}, NotSeenBefore},
		{"seen in another state", func(_ []Verdict, s map[string]Sighting, _ *Rules) { set(s, func(x *Sighting) { x.Print = "other" }) }, NotSeenBefore},
		{"seen, and not written", func(_ []Verdict, s map[string]Sighting, _ *Rules) { set(s, func(x *Sighting) { x.Version = 0 }) }, NotSeenBefore},
		{"seen without a print", func(_ []Verdict, s map[string]Sighting, _ *Rules) { set(s, func(x *Sighting) { x.Print = "" }) }, NotSeenBefore},
		{"another run is at it", func(_ []Verdict, s map[string]Sighting, _ *Rules) {
			set(s, func(x *Sighting) { x.Deleting = &Audit{At: now.Add(-Lease + time.Second)} })
		}, Claimed},
		{"no cap", func(_ []Verdict, _ map[string]Sighting, r *Rules) { r.Cap = 0 }, OverCap},
		{"a cap that others used", func(_ []Verdict, _ map[string]Sighting, r *Rules) { r.Cap = -3 }, OverCap},
		{"over the share", func(_ []Verdict, _ map[string]Sighting, r *Rules) { r.Interfaces = 5 }, OverShare},
		{"all of the VPC's", func(_ []Verdict, _ map[string]Sighting, r *Rules) { r.Interfaces, r.Share = 2, 100 }, OverShare},
		{"more than the VPC has", func(_ []Verdict, _ map[string]Sighting, r *Rules) { r.Interfaces, r.Share = 2, 1000 }, OverShare},
		{"others were approved", func(_ []Verdict, _ map[string]Sighting, r *Rules) { r.Only = map[string]bool{"eni-99": true} }, NotOptedIn},
		{"none was approved", func(_ []Verdict, _ map[string]Sighting, r *Rules) { r.Only = map[string]bool{} }, NotOptedIn},
		{"the VPC's interfaces were not counted", func(_ []Verdict, _ map[string]Sighting, r *Rules) { r.Interfaces, r.Share = 0, 100 }, OverShare},
		{"no share", func(_ []Verdict, _ map[string]Sighting, r *Rules) { r.Share = 0 }, OverShare},
		{"untagged, all in mode report", func(list []Verdict, _ map[string]Sighting, _ *Rules) {
			for i := range list {
				list[i].Cluster = ""
			}
		}, NotOptedIn},
	} {
		list := some(3)
		s, r := seen(list), rules()
		test.spoil(list, s, &r)
		p := Decide(list, s, r)
		if len(p.Delete)+len(p.Ask) > 0 || whys(p)[test.want] != 3 {
			t.Errorf("%s: deletes %v, asks %v, %v; want three that are %q", test.name, ids(p.Delete), ids(p.Ask), whys(p), test.want)
		}
	}
	// A verdict is a verdict: nothing here overrules it.
	for _, why := range []Reason{InUse, NotPlain, RequesterManaged, OtherAccount, OtherVPC, PublicAddress, NotByCNI, TagsDisagree, OwnerUnread, OwnerLives, NoDate, TooYoung, OtherCluster, Untagged, Strangers, HalfRead} {
		list := some(3)
		s := seen(list)
		for i := range list {
			list[i].Why = why
		}
		if p := Decide(list, s, rules()); len(p.Delete)+len(p.Ask) > 0 || whys(p)[why] != 3 {
			t.Errorf("%s: deletes %v", why, ids(p.Delete))
		}
	}
}

func set(s map[string]Sighting, change func(*Sighting)) {
	for id, x := range s {
		change(&x)
		s[id] = x
	}
}

func TestDecideWithinTheCap(t *testing.T) {
	list := some(6)
	r := rules()
	r.Cap = 4
	// The oldest are in mode dry-run: they do not keep others from being deleted.
	for i := range 3 {
		list[i].Cluster = "dev"
	}
	r.Modes = func(c string) Mode { return map[string]Mode{"dev": DryRun, "prod": Delete}[c] }
	p := Decide(list, seen(list), r)
	if diff := cmp.Diff([]string{"eni-03", "eni-04", "eni-05"}, ids(p.Delete)); diff != "" {
		t.Errorf("to delete (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"eni-00"}, ids(p.Ask)); diff != "" {
		t.Errorf("to ask for (-want +got):\n%s", diff)
	}
	if n := whys(p)[OverCap]; n != 2 {
		t.Errorf("%d over the cap", n)
	}
	r.Asked = map[string]bool{"eni-00": true}
	if p := Decide(list, seen(list), r); !slices.Equal(ids(p.Ask), []string{"eni-01"}) {
		t.Errorf("asks %v, want what was not asked for today", ids(p.Ask))
	}
}

func TestDecideUntagged(t *testing.T) {
	list := some(2)
	for i := range list {
		list[i].Cluster = ""
	}
	r := rules()
	r.Untagged = DryRun
	if p := Decide(list, seen(list), r); len(p.Ask) != 2 || len(p.Delete) > 0 {
		t.Errorf("deletes %v, asks %v", ids(p.Delete), ids(p.Ask))
	}
}

func TestDecideTheShare(t *testing.T) {
	list := some(10)
	for interfaces, stopped := range map[int]bool{20: false, 19: true, 21: false, 9: true, 10: true} {
		r := rules()
		r.Interfaces = interfaces
		p := Decide(list, seen(list), r)
		if (p.Stopped != nil) != stopped || stopped && *p.Stopped != (Stop{10, interfaces, 50}) {
			t.Errorf("10 of %d: stopped %+v", interfaces, p.Stopped)
		}
	}
	// Those that no earlier run saw count as well: so many at once is what stops it.
	r := rules()
	r.Interfaces = 12
	if p := Decide(list, seen(list[:2]), r); p.Stopped == nil || len(p.Delete) > 0 {
		t.Errorf("plan %+v", p)
	}
	// What nobody opted in for does not.
	r.Modes = func(string) Mode { return Report }
	if p := Decide(list, nil, r); p.Stopped != nil {
		t.Errorf("stopped %+v", p.Stopped)
	}
}

func TestDecideRemembers(t *testing.T) {
	list := some(6)
	s := seen(list)
	list[1].Why = InUse                                                          // in use again
	list[2].Why = OwnerUnread                                                    // neither here nor there
	list[3].Why = Untagged                                                       // left behind all the same
	delete(s, list[3].Interface.ID)                                              // and new
	x := s[list[4].Interface.ID]                                                 // touched
	x.Print, x.Version, x.Deleting = "other", 7, &Audit{At: now.Add(-time.Hour)} // and unsettled
	s[list[4].Interface.ID] = x
	y := s[list[5].Interface.ID] // another run is at it
	y.Print, y.Deleting = "other", &Audit{At: now}
	s[list[5].Interface.ID] = y
	s["eni-gone"] = Sighting{Interface: "eni-gone", Version: 3}
	s["eni-now"] = Sighting{Interface: "eni-now", Version: 3, Deleting: &Audit{At: now.Add(-time.Minute)}} // another run is deleting it
	for _, mode := range []Mode{Report, DryRun, Delete} {
		r := rules()
		r.Modes = func(string) Mode { return mode }
		p := Decide(list, s, r)
		want := []Sighting{
			{Interface: "eni-03", First: r.Ended, Print: Print(list[3].Interface)},
			{Interface: "eni-04", First: r.Ended, Print: Print(list[4].Interface), Version: 7},
		}
		if diff := cmp.Diff(want, p.Remember); diff != "" {
			t.Errorf("%s: to remember (-want +got):\n%s", mode, diff)
		}
		if diff := cmp.Diff([]Sighting{s["eni-01"], s["eni-gone"]}, p.Forget); diff != "" {
			t.Errorf("%s: to forget (-want +got):\n%s", mode, diff)
		}
	}
}

// A clock that was ahead for one run holds nothing back for as long.
func TestDecideForgetsTheFuture(t *testing.T) {
	list, r := some(1), rules()
	s := seen(list)
	set(s, func(x *Sighting) { x.First = now.Add(365 * 24 * time.Hour) })
	p := Decide(list, s, r)
	want := []Sighting{{Interface: "eni-00", First: r.Ended, Print: Print(list[0].Interface), Version: s["eni-00"].Version}}
	if diff := cmp.Diff(want, p.Remember); diff != "" || len(p.Delete) > 0 {
		t.Errorf("deletes %v; to remember (-want +got):\n%s", ids(p.Delete), diff)
	}
}

func TestLeast(t *testing.T) {
	for _, test := range []struct {
		modes []Mode
		want  Mode
	}{
		{nil, Report},
		{[]Mode{Delete}, Delete},
		{[]Mode{Delete, Delete}, Delete},
		{[]Mode{Delete, DryRun, Delete}, DryRun},
		{[]Mode{DryRun, Delete}, DryRun},
		{[]Mode{Delete, Report}, Report},
		{[]Mode{Delete, ""}, Report},
		{[]Mode{"all", Delete}, Report},
	} {
		if got := Least(test.modes...); got != test.want {
			t.Errorf("%v: %s, want %s", test.modes, got, test.want)
		}
	}
}
