package correlate

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"rollcall/shared/checkid"
	"rollcall/shared/checks"
	"rollcall/shared/diagnose"
	"rollcall/shared/incident"
	"rollcall/shared/report"
)

func repeated(u *incident.Update) { u.Repeated = true }

// A failure of addresses is brought into the incident that explains it, or comes
// late from when that was there; else it is told of by itself.
func TestAttachToKnown(t *testing.T) {
	cause := func(check checks.ID, changes ...func(*diagnose.Cause)) diagnose.Cause {
		c := diagnose.Cause{Check: check, Resource: subnet, Title: "title"}
		for _, change := range changes {
			change(&c)
		}
		return c
	}
	blames := func(c *diagnose.Cause) { c.Contributing = []checks.ID{route, leak} }
	hides := func(c *diagnose.Cause) { c.Hidden = []diagnose.Hidden{{Check: route}, {Check: leak}} }
	hidesAnother := func(c *diagnose.Cause) {
		c.Hidden, c.Contributing = []diagnose.Hidden{{Check: route}}, []checks.ID{route}
	}
	seenNow := func(u *incident.Update) { u.Seen = at(9) }
	closed := func(minute int) func(*incident.Update) { return state(incident.Closed, minute) }
	for name, test := range map[string]struct {
		u              *incident.Update
		cause          diagnose.Cause
		o              report.Observation
		told, attached bool
	}{
		"a runway of a leak":                        {open(leak, subnet), cause(runway), report.Observation{}, true, true},
		"what is no address's":                      {open(leak, subnet, effect(incident.Effect{Check: route, Told: at(6)})), cause(route), report.Observation{}, false, false},
		"of another subnet":                         {open(leak, "subnet-0"), cause(runway), report.Observation{}, false, false},
		"its own":                                   {open(leak, subnet, effect(incident.Effect{Check: leak, Told: at(6)})), cause(leak), report.Observation{}, false, false},
		"of a leak that passes now":                 {open(leak, subnet), cause(runway), passes(leak, subnet), false, false},
		"of a leak that is pending":                 {open(leak, subnet, state(incident.Pending, 0)), cause(runway), report.Observation{}, false, false},
		"of a leak that was gone before":            {open(leak, subnet, state(incident.Cleared, 8)), cause(runway), report.Observation{}, false, false},
		"of a leak that was there then":             {open(leak, subnet, state(incident.Cleared, 9)), cause(runway), report.Observation{}, true, false},
		"of a leak that is over, and was there":     {open(leak, subnet, closed(9)), cause(runway), report.Observation{}, true, false},
		"of a leak that was over":                   {open(leak, subnet, closed(8)), cause(runway), report.Observation{}, false, false},
		"of one that is pending, and was there":     {open(leak, subnet, state(incident.Pending, 9)), cause(runway), report.Observation{}, false, false},
		"a shortage that blames the leak":           {open(leak, subnet), cause(empty, blames), report.Observation{}, false, false},
		"a shortage that explains the leak":         {open(leak, subnet), cause(empty, hides), report.Observation{}, false, false},
		"a shortage that explains another":          {open(leak, subnet), cause(empty, hidesAnother), report.Observation{}, true, true},
		"a shortage that blames it, of an old look": {open(leak, subnet, seenNow), cause(empty, blames), report.Observation{}, true, true},
		"a runway that blames the leak":             {open(leak, subnet), cause(runway, blames), report.Observation{}, true, true},
		"a runway that blames a shortage":           {open(empty, subnet), cause(runway, func(c *diagnose.Cause) { c.Contributing = []checks.ID{empty} }), report.Observation{}, false, false},
	} {
		told := look(test.o, test.u).attachToKnown(test.cause)
		e, _ := test.u.KnownEffect(test.cause.Check)
		if attached := e.Title == "title"; told != test.told || attached != test.attached {
			t.Errorf("%s: told %t, attached %t", name, told, attached)
		}
	}
}

// What a failure changes of the incident that it is brought into.
func TestWhatAttachChanges(t *testing.T) {
	cause := diagnose.Cause{Check: empty, Resource: subnet, Title: "title", Evidence: []checks.Evidence{{What: "w"}}, Nodegroups: []string{"b", "a"}}
	hurts := cause
	hurts.Instances = []string{"i-1", "i-2"}
	had := func(change func(*incident.Effect)) func(*incident.Update) {
		e := incident.Effect{Check: empty, Title: "before", Since: at(4), Last: at(6)}
		change(&e)
		return effect(e)
	}
	note := func(u *incident.Update, id string, c diagnose.Cause) incident.Note {
		return incident.Note{ID: id, Times: u.Number, At: at(10), Reason: incident.HasJoined, Says: "title", Evidence: cause.Evidence, Count: len(c.Instances), Instances: c.Instances, Then: u.ForNote()}
	}
	same := func(*incident.Effect) {}
	again := open(leak, subnet)
	again.Number = 2
	unsaid := open(leak, subnet)
	unsaid.Number = 0
	noted := open(leak, subnet)
	noted.Delivery.Notes = []incident.Note{{ID: "joined-ip-subnet-exhausted"}}
	joined := open(leak, subnet)
	joined.JoinedNotes = []incident.Note{{ID: "joined-ip-subnet-exhausted"}}
	for name, test := range map[string]struct {
		u           *incident.Update
		cause       diagnose.Cause
		since, last int
		effect      incident.Effect
		reasons     []incident.Reason
		touched     bool
		note        string
	}{
		"the first time":                {open(leak, subnet), cause, 7, 8, incident.Effect{Since: at(7), Last: at(8), Title: "title"}, []incident.Reason{incident.BetterKnown}, true, "joined-ip-subnet-exhausted"},
		"of an incident that came back": {again, cause, 7, 8, incident.Effect{Since: at(7), Last: at(8), Title: "title"}, []incident.Reason{incident.BetterKnown}, true, "joined-ip-subnet-exhausted-2"},
		"of one that nobody was told":   {unsaid, cause, 7, 8, incident.Effect{Since: at(7), Last: at(8), Title: "title"}, []incident.Reason{incident.BetterKnown}, true, ""},
		"that the thread has":           {noted, cause, 7, 8, incident.Effect{Since: at(7), Last: at(8), Title: "title"}, []incident.Reason{incident.BetterKnown}, true, ""},
		"that the thread will have":     {joined, cause, 7, 8, incident.Effect{Since: at(7), Last: at(8), Title: "title"}, []incident.Reason{incident.BetterKnown}, true, ""},
		"with instances":                {open(leak, subnet), hurts, 7, 8, incident.Effect{Since: at(7), Last: at(8), Title: "title"}, []incident.Reason{incident.MoreAffected}, true, "joined-ip-subnet-exhausted"},
		"with instances that are known": {open(leak, subnet, launched(report.Missed, "i-1", "i-2"), had(same)), hurts, 5, 6, incident.Effect{Since: at(4), Last: at(6), Title: "before"}, nil, false, ""},
		"with one that is not":          {open(leak, subnet, launched(report.Missed, "i-2"), had(same)), hurts, 5, 6, incident.Effect{Since: at(4), Last: at(6), Title: "before"}, []incident.Reason{incident.MoreAffected}, true, ""},
		"once more":                     {open(leak, subnet, had(same)), cause, 7, 8, incident.Effect{Since: at(4), Last: at(8), Title: "title"}, nil, true, ""},
		"from before":                   {open(leak, subnet, had(same)), cause, 3, 5, incident.Effect{Since: at(3), Last: at(6), Title: "before"}, nil, true, ""},
		"that a look told of only": {open(leak, subnet, effect(incident.Effect{Check: empty, Told: at(6)})), cause, 7, 8,
			incident.Effect{Told: at(6), Since: at(7), Last: at(8), Title: "title"}, []incident.Reason{incident.BetterKnown}, true, "joined-ip-subnet-exhausted"},
		"that was over":                 {open(leak, subnet, had(func(e *incident.Effect) { e.Over = at(7) })), cause, 8, 8, incident.Effect{Since: at(8), Last: at(8), Over: at(7), Title: "title"}, []incident.Reason{incident.BetterKnown}, true, "joined-ip-subnet-exhausted"},
		"that was over by then":         {open(leak, subnet, had(func(e *incident.Effect) { e.Over = at(8) })), cause, 7, 8, incident.Effect{Since: at(4), Last: at(8), Over: at(8), Title: "title"}, nil, true, ""},
		"that was over before the last": {open(leak, subnet, had(func(e *incident.Effect) { e.Over = at(5) })), cause, 7, 8, incident.Effect{Since: at(4), Last: at(8), Over: at(5), Title: "title"}, nil, true, ""},
	} {
		before := with(test.u)
		look(report.Observation{}, test.u).attach(test.u, test.cause, at(test.since), at(test.last))
		test.effect.Check = empty
		if diff := cmp.Diff([]incident.Effect{test.effect}, test.u.Effects); diff != "" || test.u.Touched != test.touched {
			t.Errorf("%s: touched %t, effect (-want +got):\n%s", name, test.u.Touched, diff)
		}
		if diff := cmp.Diff(test.reasons, test.u.Reasons); diff != "" || !slices.Equal(test.u.Cause.Nodegroups, []string{"a", "b"}) {
			t.Errorf("%s: nodegroups %v, reasons (-want +got):\n%s", name, test.u.Cause.Nodegroups, diff)
		}
		want := before.JoinedNotes
		if test.note != "" {
			want = append(want, note(test.u, test.note, test.cause))
		}
		if diff := cmp.Diff(want, test.u.JoinedNotes); diff != "" {
			t.Errorf("%s: notes (-want +got):\n%s", name, diff)
		}
	}
	twice := open(leak, subnet, repeated)
	if look(report.Observation{}, twice).attach(twice, hurts, at(7), at(8)); twice.Touched || len(twice.Effects) != 0 || twice.Affected != 0 {
		t.Errorf("of what came twice: %+v", twice.Effects)
	}
}

// Nodes that starve are brought into what takes their addresses, each into its
// own; they need no message where that is all of them.
func TestAttachStarvedNodes(t *testing.T) {
	launches := []report.Launch{{Instance: "i-1", Subnet: subnet, Started: at(6)}, {Instance: "i-2", Subnet: "subnet-2", Started: at(6)}, {Instance: "i-3", Subnet: subnet}}
	nodes := func(ids ...string) diagnose.Cause {
		return diagnose.Cause{Check: checkid.NodeNotReady, Title: "title", Instances: ids}
	}
	covered := diagnose.Cause{Check: checkid.NodeNotReady, Title: "title", Covers: []string{"i-1"}}
	both := covered
	both.Instances = []string{"i-1"}
	both.Covers = []string{"i-1", "i-2"}
	for name, test := range map[string]struct {
		u     *incident.Update
		cause diagnose.Cause
		o     report.Observation
		all   bool
		title string // in the incident; empty: it is not brought in
	}{
		"all of them":                               {open(leak, subnet), nodes("i-1", "i-3"), report.Observation{}, true, "title"},
		"one":                                       {open(leak, subnet), nodes("i-1"), report.Observation{}, true, "title"},
		"one of two":                                {open(leak, subnet), nodes("i-1", "i-2"), report.Observation{}, false, "1 of 2: title"},
		"none":                                      {open(leak, subnet), nodes("i-2"), report.Observation{}, false, ""},
		"that are covered only":                     {open(leak, subnet), covered, report.Observation{}, true, "title"},
		"that are named among those it covers":      {open(leak, subnet), both, report.Observation{}, true, "title"},
		"nobody":                                    {open(leak, subnet), nodes(), report.Observation{}, false, ""},
		"of what does not starve":                   {open(leak, subnet), diagnose.Cause{Check: "node/not-registered", Instances: []string{"i-1"}}, report.Observation{}, false, ""},
		"of a leak that passes now":                 {open(leak, subnet), nodes("i-1"), passes(leak, subnet), false, ""},
		"that began before it was gone":             {open(leak, subnet, state(incident.Cleared, 7)), nodes("i-1"), report.Observation{}, true, "title"},
		"that began when it was gone":               {open(leak, subnet, state(incident.Cleared, 6)), nodes("i-1"), report.Observation{}, false, ""},
		"of which nobody knows when":                {open(leak, subnet, state(incident.Cleared, 7)), nodes("i-3"), report.Observation{}, false, ""},
		"seen when it was there":                    {open(leak, subnet, state(incident.Closed, 9)), nodes("i-1"), report.Observation{}, true, ""},
		"seen when it was over":                     {open(leak, subnet, state(incident.Closed, 8)), nodes("i-1"), report.Observation{}, false, ""},
		"of one that is pending":                    {open(leak, subnet, state(incident.Pending, 9)), nodes("i-1"), report.Observation{}, false, ""},
		"that began before one was, and is pending": {open(leak, subnet, state(incident.Pending, 7)), nodes("i-1"), report.Observation{}, false, ""},
	} {
		test.o.Launches = launches
		all := look(test.o, open(leak, "subnet-0"), test.u).attachStarvedNodes(test.cause)
		title := ""
		if len(test.u.Effects) > 0 {
			title = test.u.Effects[0].Title
		}
		if all != test.all || title != test.title || (title != "") != (test.u.Affected > 0) || test.u.Affects("i-2") {
			t.Errorf("%s: all %t, brought in as %q, %d affected", name, all, title, test.u.Affected)
		}
	}
}

// What was opened before its reason is brought into that, with all it affects.
func TestAttachExplained(t *testing.T) {
	titled := incident.Effect{Check: runway, Title: "runs out", Since: at(1), Last: at(2)}
	older := func(u *incident.Update) { u.Cause.Instances = []string{"i-9"} }
	for name, test := range map[string]struct {
		o, u     *incident.Update
		effects  []incident.Effect
		affected []string
		reasons  []incident.Reason
	}{
		"a shortage": {open(leak, subnet), open(empty, subnet, launched(report.Missed, "i-1"), launched(report.Gone, "i-2"), older, effect(titled)),
			[]incident.Effect{titled, {Check: empty, Title: string(empty), Since: at(3), Last: at(5)}}, []string{"i-1", "i-2"}, []incident.Reason{incident.MoreAffected, incident.BetterKnown}},
		"a shortage that affects nobody": {open(leak, subnet), open(empty, subnet, older), []incident.Effect{{Check: empty, Title: string(empty), Since: at(3), Last: at(5)}}, nil, []incident.Reason{incident.BetterKnown}},
		"nodes that starve": {open(leak, subnet), open(checkid.NodeCNINotReady, "aws-node", launched(report.Missed, "i-1"), launched(report.Gone, "i-2"), older),
			[]incident.Effect{{Check: checkid.NodeCNINotReady, Title: string(checkid.NodeCNINotReady), Since: at(3), Last: at(5)}}, []string{"i-1"}, []incident.Reason{incident.MoreAffected, incident.BetterKnown}},
		"nodes that starved":            {open(leak, subnet), open(checkid.NodeCNINotReady, "aws-node", launched(report.Gone, "i-2"), older), nil, nil, nil},
		"what it does not explain":      {open(leak, subnet), open(route, "rtb-1", launched(report.Missed, "i-1")), nil, nil, nil},
		"what is over":                  {open(leak, subnet), open(empty, subnet, state(incident.Closed, 8)), nil, nil, nil},
		"by what is over":               {open(leak, subnet, state(incident.Cleared, 8)), open(empty, subnet, launched(report.Missed, "i-1")), nil, nil, nil},
		"by what came twice":            {open(leak, subnet, repeated), open(empty, subnet, launched(report.Missed, "i-1")), nil, nil, nil},
		"with an instance that is kept": {open(leak, subnet, launched(report.Missed, "i-1")), open(empty, subnet, launched(report.Missed, "i-1")), []incident.Effect{{Check: empty, Title: string(empty), Since: at(3), Last: at(5)}}, []string{"i-1"}, []incident.Reason{incident.BetterKnown}},
	} {
		look(report.Observation{}, test.o, test.u).AttachExplained()
		var affected []string
		for _, l := range test.o.Launches {
			affected = append(affected, l.Instance)
			if l.Subnet != subnet {
				t.Errorf("%s: of %s it does not know the subnet", name, l.Instance)
			}
		}
		if diff := cmp.Diff(test.effects, append([]incident.Effect(nil), test.o.Effects...)); diff != "" {
			t.Errorf("%s: effects (-want +got):\n%s", name, diff)
		}
		if diff := cmp.Diff(test.affected, affected); diff != "" {
			t.Errorf("%s: affected (-want +got):\n%s", name, diff)
		}
		if diff := cmp.Diff(test.reasons, test.o.Reasons); diff != "" {
			t.Errorf("%s: reasons (-want +got):\n%s", name, diff)
		}
	}
}

// What belonged to an incident belongs to the one that explains it.
func TestAdoptEffects(t *testing.T) {
	e := func(title string, since, last, over int) incident.Effect {
		e := incident.Effect{Check: runway, Title: title, Since: at(since), Last: at(last)}
		if over > 0 {
			e.Over = at(over)
		}
		return e
	}
	for name, test := range map[string]struct {
		have    []incident.Effect
		list    []incident.Effect
		want    []incident.Effect
		touched bool
	}{
		"what it does not have":    {nil, []incident.Effect{e("new", 3, 5, 4)}, []incident.Effect{e("new", 3, 5, 4)}, true},
		"what is newer":            {[]incident.Effect{e("old", 2, 4, 0)}, []incident.Effect{e("new", 3, 5, 0)}, []incident.Effect{e("new", 2, 5, 0)}, true},
		"what began before":        {[]incident.Effect{e("old", 3, 5, 0)}, []incident.Effect{e("new", 2, 4, 0)}, []incident.Effect{e("old", 2, 5, 0)}, false},
		"the later end":            {[]incident.Effect{e("old", 2, 4, 7)}, []incident.Effect{e("new", 3, 5, 6)}, []incident.Effect{e("new", 2, 5, 7)}, true},
		"not what was only told":   {nil, []incident.Effect{{Check: checkid.IPScaleOutWillNotFit, Told: at(3)}, e("new", 3, 5, 0)}, []incident.Effect{e("new", 3, 5, 0)}, true},
		"not itself":               {nil, []incident.Effect{{Check: leak, Title: "leak", Last: at(3)}, e("new", 3, 5, 0)}, []incident.Effect{e("new", 3, 5, 0)}, true},
		"what has no time, and is": {nil, []incident.Effect{{Check: runway, Title: "new"}}, []incident.Effect{{Check: runway, Title: "new"}}, true},
	} {
		u := open(leak, subnet)
		u.Effects = test.have
		adoptEffects(u, test.list)
		if diff := cmp.Diff(test.want, u.Effects); diff != "" || u.Touched != test.touched {
			t.Errorf("%s: touched %t (-want +got):\n%s", name, u.Touched, diff)
		}
	}
}

func TestMarkRecovered(t *testing.T) {
	e := incident.Effect{Check: runway, Told: at(6), Last: at(7), Over: at(5)}
	for name, test := range map[string]struct {
		u    *incident.Update
		o    report.Observation
		want bool
	}{
		"it passes":            {open(leak, subnet, effect(e)), passes(runway, "subnet-0", subnet), true},
		"another subnet's":     {open(leak, subnet, effect(e)), passes(runway, "subnet-0"), false},
		"another check":        {open(leak, subnet, effect(e)), passes(empty, subnet), false},
		"what is no address's": {open(route, subnet, effect(e)), passes(runway, subnet), false},
		"seen at that time":    {open(leak, subnet, effect(incident.Effect{Check: runway, Last: at(9)})), passes(runway, subnet), false},
		"told at that time":    {open(leak, subnet, effect(incident.Effect{Check: runway, Told: at(9)})), passes(runway, subnet), false},
		"over since then":      {open(leak, subnet, effect(incident.Effect{Check: runway, Over: at(9)})), passes(runway, subnet), false},
	} {
		before := test.u.Effects[0].Over
		look(test.o, test.u).MarkRecovered(test.u)
		want := before
		if test.want {
			want = at(9)
		}
		if got := test.u.Effects[0].Over; !got.Equal(want) || test.u.Touched != test.want {
			t.Errorf("%s: over at %s, touched %t", name, got, test.u.Touched)
		}
	}
}
