package correlate

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"rollcall/shared/catalog"
	"rollcall/shared/checkid"
	"rollcall/shared/checks/finding"
	"rollcall/shared/diagnosis"
	"rollcall/shared/incident"
	"rollcall/shared/report"
)

func repeated(u *incident.Update) { u.Repeated = true }

// A failure of addresses is brought into the incident that explains it, or comes
// late from when that was there; else it has a message of its own.
func TestAttachToKnown(t *testing.T) {
	cause := func(check checkid.ID, changes ...func(*diagnosis.Cause)) diagnosis.Cause {
		c := diagnosis.Cause{Check: check, Resource: subnet, Title: "title"}
		for _, change := range changes {
			change(&c)
		}
		return c
	}
	blames := func(c *diagnosis.Cause) { c.Contributing = []checkid.ID{route, leak} }
	hides := func(c *diagnosis.Cause) { c.Hidden = []diagnosis.Hidden{{Check: route}, {Check: leak}} }
	hidesAnother := func(c *diagnosis.Cause) {
		c.Hidden, c.Contributing = []diagnosis.Hidden{{Check: route}}, []checkid.ID{route}
	}
	seenNow := func(u *incident.Update) { u.Seen = at(9) }
	closed := func(minute int) func(*incident.Update) { return state(incident.Closed, minute) }
	for name, test := range map[string]struct {
		u              *incident.Update
		cause          diagnosis.Cause
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
		"a runway that blames a shortage":           {open(empty, subnet), cause(runway, func(c *diagnosis.Cause) { c.Contributing = []checkid.ID{empty} }), report.Observation{}, false, false},
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
	cause := diagnosis.Cause{Check: empty, Resource: subnet, Title: "title", Evidence: []finding.Evidence{{What: "w"}}, Nodegroups: []string{"b", "a"}}
	hurts := cause
	hurts.Instances = []string{"i-1", "i-2"}
	had := func(change func(*incident.Effect)) func(*incident.Update) {
		e := incident.Effect{Check: empty, Title: "before", Since: at(4), Last: at(6)}
		change(&e)
		return effect(e)
	}
	note := func(u *incident.Update, id string, c diagnosis.Cause) incident.Note {
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
		cause       diagnosis.Cause
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
	nodes := func(ids ...string) diagnosis.Cause {
		return diagnosis.Cause{Check: checkid.NodeNotReady, Title: "title", Instances: ids}
	}
	covered := diagnosis.Cause{Check: checkid.NodeNotReady, Title: "title", Covers: []string{"i-1"}}
	both := covered
	both.Instances = []string{"i-1"}
	both.Covers = []string{"i-1", "i-2"}
	for name, test := range map[string]struct {
		u     *incident.Update
		cause diagnosis.Cause
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
		"of what does not starve":                   {open(leak, subnet), diagnosis.Cause{Check: "node/not-registered", Instances: []string{"i-1"}}, report.Observation{}, false, ""},
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

func at(minute int) time.Time {
	return time.Date(2026, 11, 20, 12, minute, 0, 0, time.UTC)
}

const (
	subnet = "subnet-0ab1"
	leak   = checkid.IPLeakedInterfaces
	empty  = checkid.IPSubnetExhausted
	runway = checkid.IPRunway
	route  = checkid.ID("route/no-egress")
)

// open is an incident of a resource, seen in minute 5.
func open(check checkid.ID, resource string, changes ...func(*incident.Update)) *incident.Update {
	u := &incident.Update{Incident: incident.Incident{
		Key: report.Key{Cluster: "prod", Check: check, Resource: resource}, State: incident.Open, Number: 1, Began: at(3), Opened: at(4), Seen: at(5), Covers: []string{resource},
	}}
	u.Cause = diagnosis.Cause{Check: check, Resource: resource, Confidence: catalog.Certain, Title: string(check)}
	for _, change := range changes {
		change(u)
	}
	return u
}

func state(s incident.State, cleared int) func(*incident.Update) {
	return func(u *incident.Update) {
		if u.State = s; cleared > 0 {
			u.Cleared = at(cleared)
		}
	}
}

func sure(c catalog.Confidence) func(*incident.Update) {
	return func(u *incident.Update) { u.Cause.Confidence = c }
}

func effect(e incident.Effect) func(*incident.Update) {
	return func(u *incident.Update) { u.Effects = append(u.Effects, e) }
}

func launched(status report.LaunchStatus, ids ...string) func(*incident.Update) {
	return func(u *incident.Update) {
		for _, id := range ids {
			u.AddAffected(report.Launch{Instance: id, Subnet: subnet, Status: status})
		}
	}
}

func with(u *incident.Update, changes ...func(*incident.Update)) *incident.Update {
	c := *u
	c.Incident = u.Clone()
	for _, change := range changes {
		change(&c)
	}
	return &c
}

// look is an observation of minute 9, on its way through incidents.
func look(o report.Observation, updates ...*incident.Update) *Look {
	o.At = at(9)
	return &Look{Observation: o, Now: at(10), Policy: incident.Policy{ProofTime: time.Hour}, Updates: updates}
}

func passes(check checkid.ID, covers ...string) report.Observation {
	return report.Observation{Diagnosis: diagnosis.Diagnosis{Passed: []diagnosis.Passed{{Check: check, Covers: covers}}}}
}

func TestWhatExplainsUnreadyNodes(t *testing.T) {
	held := diagnosis.Cause{Check: leak, Confidence: catalog.Certain, Resource: subnet}
	block := diagnosis.Cause{Check: checkid.IPFragmented, Confidence: catalog.Certain, Resource: "subnet-pods", Resources: []string{subnet}}
	own := block
	own.Resource, own.Resources = subnet, nil
	likely, other := held, held
	likely.Confidence, other.Check = catalog.Likely, empty
	node := diagnosis.Cause{Check: checkid.NodeNotReady}
	behind := func(ids ...checkid.ID) diagnosis.Cause {
		return diagnosis.Cause{Check: checkid.NodeCNINotReady, Behind: append([]checkid.ID{}, ids...)}
	}
	for name, test := range map[string]struct {
		cause, unready diagnosis.Cause
		subnet         string
		want           bool
	}{
		"a leak in its subnet":               {held, node, subnet, true},
		"a leak elsewhere":                   {held, node, "subnet-0", false},
		"a likely leak":                      {likely, node, subnet, false},
		"a node in no known subnet":          {diagnosis.Cause{Check: leak, Confidence: catalog.Certain}, node, "", false},
		"what is no symptom of addresses":    {held, diagnosis.Cause{Check: "node/not-registered"}, subnet, false},
		"no block in the pods' subnet":       {block, node, subnet, true},
		"no block in the node's own":         {own, node, subnet, true},
		"no block elsewhere":                 {block, node, "subnet-0", false},
		"what explains no node":              {other, node, subnet, false},
		"only a leak explains it":            {held, behind(leak), subnet, true},
		"only something else explains it":    {held, behind(checkid.IPFragmented), subnet, false},
		"nothing explains it":                {held, behind(), subnet, false},
		"only a block, and there is none":    {own, behind(leak, checkid.IPFragmented), subnet, true},
		"whatever comes before explains it":  {held, diagnosis.Cause{Check: checkid.NodeCNINotReady}, subnet, true},
		"a leak that its own look sees only": {diagnosis.Cause{}, node, subnet, false},
	} {
		if got := ExplainsUnready(test.cause, test.unready, test.subnet); got != test.want {
			t.Errorf("%s: %t", name, got)
		}
	}
	// Of an incident its own key counts, whatever its newest cause says.
	u := open(leak, subnet, func(u *incident.Update) { u.Cause.Check, u.Cause.Resource = "ip/other", "subnet-0" })
	if !explainsUnready(u, node, report.Launch{Subnet: subnet}) {
		t.Error("an incident does not explain by its own key")
	}
}

// What a look says of how failures belong together, the newest last.
func TestRelationsOfALook(t *testing.T) {
	cause := diagnosis.Cause{
		Check: leak, Resource: subnet, Hidden: []diagnosis.Hidden{{Check: empty}, {Check: route}, {Check: leak}}, Contributing: []checkid.ID{runway}, Symptoms: []checkid.ID{checkid.NodeNotReady},
	}
	o := report.Observation{Diagnosis: diagnosis.Diagnosis{Causes: []diagnosis.Cause{
		cause, {Check: checkid.IPScaleOutWillNotFit, Resource: subnet}, {Check: checkid.SpotBurstExceedsSubnet, Resource: "subnet-0"}, {Check: route, Resource: subnet}, {Check: checkid.NodeCNINotReady, Resource: subnet},
	}}}
	u := open(leak, subnet, effect(incident.Effect{Check: runway, Told: at(8), Apart: true}), effect(incident.Effect{Check: empty, Told: at(9)}))
	look(o).RecordRelations(u, cause)
	want := []incident.Effect{
		{Check: runway, Told: at(9)}, {Check: checkid.IPScaleOutWillNotFit, Told: at(9), Apart: true}, {Check: empty, Told: at(9)}, {Check: checkid.NodeNotReady, Told: at(9)},
	}
	if diff := cmp.Diff(want, u.Effects); diff != "" || !u.Touched {
		t.Errorf("touched %t (-want +got):\n%s", u.Touched, diff)
	}
	again := with(u)
	again.Touched = false
	if look(o).RecordRelations(again, cause); again.Touched {
		t.Error("the same look changes it again")
	}
	// A look without a time says that it does not know; what is new is kept.
	undated := look(o)
	undated.Observation.At = time.Time{}
	fresh := open(leak, subnet)
	if undated.RecordRelations(fresh, cause); len(fresh.Effects) != 4 || !fresh.Touched {
		t.Errorf("%+v", fresh.Effects)
	}
	other := open(route, "rtb-1")
	if look(o).RecordRelations(other, diagnosis.Cause{Check: route, Hidden: cause.Hidden}); len(other.Effects) != 0 {
		t.Errorf("a route has %+v", other.Effects)
	}
}

// Since when an incident explains what another check finds in the same subnet.
func TestClaims(t *testing.T) {
	told := func(check checkid.ID, minute int, apart bool) func(*incident.Update) {
		return effect(incident.Effect{Check: check, Told: at(minute), Apart: apart})
	}
	for name, test := range map[string]struct {
		u      *incident.Update
		check  checkid.ID
		minute int // 0: it does not
	}{
		"its own":                                    {open(leak, subnet, told(leak, 6, false)), leak, 0},
		"nothing by what is only foreseen":           {open(runway, subnet, told(empty, 6, false)), empty, 0},
		"a runway by a leak":                         {open(leak, subnet), runway, 5},
		"a runway by a shortage":                     {open(empty, subnet), runway, 5},
		"a runway by no block":                       {open(checkid.IPFragmented, subnet), runway, 0},
		"a scale-out by a leak":                      {open(leak, subnet), checkid.IPScaleOutWillNotFit, 5},
		"a scale-out by a shortage":                  {open(empty, subnet), checkid.IPScaleOutWillNotFit, 0},
		"what was told to be apart":                  {open(leak, subnet, told(empty, 5, true)), empty, 0},
		"what was told to be apart before":           {open(leak, subnet, told(empty, 4, true)), empty, 5},
		"a shortage by a certain leak":               {open(leak, subnet), empty, 5},
		"a shortage that was told of since":          {open(leak, subnet, told(empty, 6, false)), empty, 6},
		"a shortage by a likely leak":                {open(leak, subnet, sure(catalog.Likely)), empty, 0},
		"a shortage that was told of a likely leak":  {open(leak, subnet, sure(catalog.Likely), told(empty, 4, false)), empty, 4},
		"a shortage by another":                      {open(checkid.IPFragmented, subnet), empty, 0},
		"what is no shortage, by a certain leak":     {open(leak, subnet), checkid.IPFragmented, 0},
		"what a look told of":                        {open(checkid.IPFragmented, subnet, told(empty, 4, false)), empty, 4},
		"what a look told to be apart, before":       {open(checkid.IPFragmented, subnet, told(empty, 4, true)), empty, 0},
		"what no look told of, but one saw":          {open(checkid.IPFragmented, subnet, effect(incident.Effect{Check: empty, Last: at(4)})), empty, 0},
		"what was told to be apart, and seen before": {open(checkid.IPFragmented, subnet, told(empty, 6, true)), empty, 0},
	} {
		got, does := claimsSince(test.u, test.check)
		if does != (test.minute > 0) || does && !got.Equal(at(test.minute)) {
			t.Errorf("%s: %t, since %s", name, does, got)
		}
	}
	undated := open(leak, subnet, func(u *incident.Update) { u.Seen = time.Time{} })
	if _, does := claimsSince(undated, empty); !does {
		t.Error("of an incident without a time nothing is known to be apart")
	}
}

// Of two incidents of one subnet, which one says what both do.
func TestWhichIncidentClaims(t *testing.T) {
	told := func(check checkid.ID, minute int) func(*incident.Update) {
		return effect(incident.Effect{Check: check, Told: at(minute)})
	}
	block := checkid.IPFragmented
	for name, test := range map[string]struct {
		u, other   *incident.Update
		claims, is bool // the first the second, and back
	}{
		"a leak a runway":                       {open(leak, subnet), open(runway, subnet), true, false},
		"elsewhere it does not":                 {open(leak, subnet), open(runway, "subnet-0"), false, false},
		"what is no address's":                  {open(leak, subnet, told(route, 6)), open(route, subnet), false, false},
		"what is no address's, by itself":       {open(route, subnet, told(leak, 6)), open(leak, subnet), false, false},
		"the newer look":                        {open(block, subnet, told(empty, 7)), open(empty, subnet, told(block, 6)), true, false},
		"of two at one time neither":            {open(block, subnet, told(empty, 6)), open(empty, subnet, told(block, 6)), false, false},
		"of two at one time the leak":           {open(leak, subnet, told(block, 6)), open(block, subnet, told(leak, 6)), true, false},
		"the newer look, also against the leak": {open(leak, subnet, told(block, 5)), open(block, subnet, told(leak, 6)), false, true},
		"neither has said so":                   {open(block, subnet), open(empty, subnet), false, false},
	} {
		if claims, is := claimsIncident(test.u, test.other), claimsIncident(test.other, test.u); claims != test.claims || is != test.is {
			t.Errorf("%s: %t, and back %t", name, claims, is)
		}
	}
	if u := open(leak, subnet, told(leak, 6)); claimsIncident(u, u) {
		t.Error("an incident claims itself")
	}
}

func TestWhatPassesNow(t *testing.T) {
	advice := func(check checkid.ID, resource string, c catalog.Confidence) report.Observation {
		return report.Observation{Diagnosis: diagnosis.Diagnosis{Causes: []diagnosis.Cause{{Check: check, Resource: resource, Confidence: c}}}}
	}
	verdict := func(minute int) func(*incident.Update) {
		return func(u *incident.Update) { u.RecordVerdict(subnet, incident.Failing, at(minute)) }
	}
	for name, test := range map[string]struct {
		u    *incident.Update
		o    report.Observation
		want bool
	}{
		"it passes":                         {open(leak, subnet), passes(leak, "subnet-0", subnet), true},
		"it passes elsewhere":               {open(leak, subnet), passes(leak, "subnet-0"), false},
		"another check passes":              {open(leak, subnet), passes(empty, subnet), false},
		"it passes at the time of the last": {open(leak, subnet, verdict(9)), passes(leak, subnet), true},
		"a newer look is known":             {open(leak, subnet, verdict(10)), passes(leak, subnet), false},
		"it only advises":                   {open(leak, subnet), advice(leak, subnet, catalog.Advice), true},
		"it advises elsewhere":              {open(leak, subnet), advice(leak, "subnet-0", catalog.Advice), false},
		"another check advises":             {open(leak, subnet), advice(empty, subnet, catalog.Advice), false},
		"it fails":                          {open(leak, subnet), advice(leak, subnet, catalog.Likely), false},
		"what is no address's advises":      {open(route, "rtb-1"), advice(route, "rtb-1", catalog.Advice), false},
	} {
		if got := look(test.o).passesNow(test.u); got != test.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}

const symptom = checkid.ID("node/not-registered")

// Which symptoms need no message of their own.
func TestExplainedSymptoms(t *testing.T) {
	of := func(check checkid.ID, c catalog.Confidence, ids ...string) diagnosis.Cause {
		return diagnosis.Cause{Check: check, Confidence: c, Instances: ids}
	}
	covers := diagnosis.Cause{Check: symptom, Confidence: catalog.Symptom, Covers: []string{"i-1"}}
	named := of(symptom, catalog.Symptom, "i-1")
	named.Covers = []string{"i-1", "i-9"}
	cause := func(changes ...func(*incident.Update)) *incident.Update {
		return open(route, "rtb-1", append(changes, launched(report.Missed, "i-1", "i-2"))...)
	}
	ended := func(how incident.Resolution, minute int) func(*incident.Update) {
		return func(u *incident.Update) { u.State, u.Resolution, u.Resolved = incident.Closed, how, at(minute) }
	}
	node := open(symptom, "workers", sure(catalog.Symptom), launched(report.Missed, "i-1"))
	group := open("nodegroup/status", "workers", sure(catalog.Symptom), launched(report.Missed, "i-1"))
	one := of(symptom, catalog.Symptom, "i-1")
	for name, test := range map[string]struct {
		u     *incident.Update
		cause diagnosis.Cause
		want  bool
	}{
		"of one instance":                   {cause(), one, true},
		"of both":                           {cause(), of(symptom, catalog.Symptom, "i-1", "i-2"), true},
		"of one that is not affected":       {cause(), of(symptom, catalog.Symptom, "i-1", "i-9"), false},
		"of what it covers":                 {cause(), covers, true},
		"of those that it names":            {cause(), named, true},
		"of nobody":                         {cause(), of(symptom, catalog.Symptom), false},
		"what is no symptom":                {cause(), of(symptom, catalog.Certain, "i-1"), false},
		"by what is only possible":          {cause(sure(catalog.Possible)), one, false},
		"by what is likely":                 {cause(sure(catalog.Likely)), one, true},
		"by what is gone":                   {cause(state(incident.Cleared, 8)), one, true},
		"by what is pending":                {cause(state(incident.Pending, 0)), one, false},
		"by what was proved to be gone":     {cause(ended(incident.Proved, 9)), one, true},
		"by what was proved an hour ago":    {cause(ended(incident.Proved, -50)), one, false},
		"by what was proved almost so":      {cause(ended(incident.Proved, -49)), one, true},
		"by what ended otherwise":           {cause(ended(incident.Withdrawn, 9)), one, false},
		"by another symptom":                {node, one, false},
		"what EKS says of their nodegroup":  {node, of("nodegroup/health", catalog.Symptom, "i-1"), true},
		"by what EKS says of the nodegroup": {group, of("nodegroup/health", catalog.Symptom, "i-1"), false},
		"by what is possible, of EKS":       {cause(sure(catalog.Possible)), of("nodegroup/health", catalog.Symptom, "i-1"), false},
	} {
		if got := look(report.Observation{}, test.u).Explained(test.cause); got != test.want {
			t.Errorf("%s: %t", name, got)
		}
	}
	if !look(report.Observation{}, open(leak, subnet)).Explained(diagnosis.Cause{Check: runway, Resource: subnet}) {
		t.Error("what belongs to an incident of addresses is told of by itself")
	}
	starved := report.Observation{Launches: []report.Launch{{Instance: "i-1", Subnet: subnet}}}
	if !look(starved, open(leak, subnet)).Explained(of(checkid.NodeNotReady, catalog.Certain, "i-1")) {
		t.Error("nodes that starve are told of by themselves")
	}
}

// Which incident gives way to which.
func TestSupersededBy(t *testing.T) {
	node := func(changes ...func(*incident.Update)) *incident.Update {
		return open(symptom, "workers", append([]func(*incident.Update){sure(catalog.Symptom), launched(report.Missed, "i-1"), launched(report.Joined, "i-2")}, changes...)...)
	}
	cause := func(changes ...func(*incident.Update)) *incident.Update {
		return open(route, "rtb-1", append([]func(*incident.Update){launched(report.Missed, "i-1")}, changes...)...)
	}
	ready := func(changes ...func(*incident.Update)) *incident.Update {
		return open("node/other", "workers", append([]func(*incident.Update){sure(catalog.Symptom), launched(report.Missed, "i-1")}, changes...)...)
	}
	blind := open(incident.CannotLook, "ec2:DescribeVpcs", sure(catalog.Symptom), launched(report.Missed, "i-1"))
	gone := state(incident.Cleared, 8)
	seen := func(minute int) func(*incident.Update) { return func(u *incident.Update) { u.Seen = at(minute) } }
	hides := func(id checkid.ID) func(*incident.Update) {
		return func(u *incident.Update) { u.Cause.Hidden = []diagnosis.Hidden{{Check: "x"}, {Check: id}} }
	}
	degraded, issue := checkid.ID("nodegroup/status"), checkid.ID("nodegroup/health")
	cni := func(changes ...func(*incident.Update)) *incident.Update {
		return open(checkid.NodeCNINotReady, "aws-node", append([]func(*incident.Update){launched(report.Missed, "i-1")}, changes...)...)
	}
	held := func(changes ...func(*incident.Update)) *incident.Update {
		return open(leak, subnet, append([]func(*incident.Update){launched(report.Missed, "i-1")}, changes...)...)
	}
	for name, test := range map[string]struct {
		u, o *incident.Update
		want bool
	}{
		"a symptom to its cause":                  {node(), cause(), true},
		"a symptom to a cause of others":          {node(), open(route, "rtb-1", launched(report.Missed, "i-2")), false},
		"a symptom of two to a cause of one":      {node(launched(report.Missed, "i-3")), cause(), false},
		"a symptom to what is possible":           {node(), cause(sure(catalog.Possible)), false},
		"a symptom to what is gone":               {node(), cause(gone), false},
		"a symptom that waits for nobody":         {open(symptom, "workers", sure(catalog.Symptom), launched(report.Joined, "i-1")), cause(), false},
		"a cause to another":                      {cause(), open("dns/x", "vpc-1", launched(report.Missed, "i-1")), false},
		"a cause that is gone to another":         {cause(gone), open("dns/x", "vpc-1", launched(report.Missed, "i-1")), true},
		"a cause that is gone to a symptom":       {cause(gone), ready(), false},
		"a symptom to another":                    {node(), ready(), false},
		"a symptom that is gone to the next":      {node(gone), ready(), true},
		"a symptom that is gone to a possibility": {node(gone), cause(sure(catalog.Possible)), false},
		"a symptom that is over":                  {node(state(incident.Closed, 8)), cause(), false},
		"a symptom that is pending":               {node(state(incident.Pending, 0)), cause(), false},
		"what cannot be seen":                     {blind, cause(), false},

		"a status to its issue":                {open(degraded, "workers", seen(8)), open(issue, "workers", seen(9), hides(degraded)), true},
		"a status to the same look's":          {open(degraded, "workers", seen(9)), open(issue, "workers", seen(9), hides(degraded)), false},
		"a status to an older look's":          {open(degraded, "workers", seen(7)), open(issue, "workers", seen(8), hides(degraded)), false},
		"a status to another's issue":          {open(degraded, "workers", seen(8)), open(issue, "others", seen(9), hides(degraded)), false},
		"a status to what does not explain it": {open(degraded, "workers", seen(8)), open(issue, "workers", seen(9), hides("y")), false},
		"a status to what is over":             {open(degraded, "workers", seen(8)), open(issue, "workers", seen(9), hides(degraded), state(incident.Closed, 8)), false},
		"a status that is over":                {open(degraded, "workers", seen(8), state(incident.Pending, 0)), open(issue, "workers", seen(9), hides(degraded)), false},
		"what is not by itself, to its issue":  {open("dns/x", "workers", seen(8)), open(issue, "workers", seen(9), hides("dns/x")), false},
		"a runway to a leak":                   {open(runway, subnet), open(leak, subnet), true},
		"a runway to a leak that is gone":      {open(runway, subnet), open(leak, subnet, gone), false},

		"a leak that is gone to what is short still":  {open(leak, subnet, gone), open(empty, subnet, seen(8)), true},
		"a leak that is gone to what was short":       {open(leak, subnet, gone), open(empty, subnet, seen(7)), false},
		"a leak that is gone to a shortage elsewhere": {open(leak, subnet, gone), open(empty, "subnet-0", seen(8)), false},
		"a leak that is gone to what is over":         {open(leak, subnet, gone), open(empty, subnet, seen(8), gone), false},
		"a leak that is gone to no shortage":          {open(leak, subnet, gone), open(checkid.IPFragmented, subnet, seen(8)), false},
		"a leak that is there to a shortage":          {open(leak, subnet), open(empty, subnet, seen(8)), false},
		"no block, that is gone, to a shortage":       {open(checkid.IPFragmented, subnet, gone), open(empty, subnet, seen(8)), false},

		"a plugin that starves":                  {cni(), held(), true},
		"a plugin that starves, and is over":     {cni(gone, launched(report.Missed, "i-3")), held(), false},
		"a plugin that starves, and is pending":  {cni(state(incident.Pending, 0)), held(), false},
		"nodes that starve, of another check":    {open(checkid.NodeNotReady, "workers", launched(report.Missed, "i-1")), held(), false},
		"a plugin that starves for what is gone": {cni(), held(gone), false},
		"a plugin that starves elsewhere too": {cni(func(u *incident.Update) {
			u.AddAffected(report.Launch{Instance: "i-0", Subnet: "subnet-0", Status: report.Missed})
		}), held(launched(report.Missed, "i-0")), false},
		"a plugin that starves what is not its":    {cni(launched(report.Missed, "i-0")), held(), false},
		"a plugin that starved":                    {open(checkid.NodeCNINotReady, "aws-node", launched(report.Joined, "i-1")), held(), false},
		"a plugin that starves, and one that did":  {cni(launched(report.Joined, "i-0")), held(), true},
		"a plugin that starves the first of three": {cni(launched(report.Missed, "i-3", "i-4")), held(launched(report.Missed, "i-4")), false},
	} {
		want := with(test.u)
		if test.want {
			want.Apply(incident.SupersededBy(test.o.Key, at(9)), at(10))
		}
		look(report.Observation{}, test.u, test.o).Supersede(test.u)
		if diff := cmp.Diff(want, test.u); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	// A symptom is no explanation of itself.
	alone := node(func(u *incident.Update) { u.Cause.Confidence = catalog.Symptom }, gone)
	if look(report.Observation{}, alone).Supersede(alone); alone.State != incident.Cleared {
		t.Errorf("alone it is %s by %v", alone.State, alone.By)
	}
	own := open(degraded, "workers", seen(8), hides(degraded))
	if look(report.Observation{}, own).Supersede(own); own.State != incident.Open {
		t.Errorf("alone it is %s by %v", own.State, own.By)
	}
}

// The launches that still wait go over to what is short still.
func TestHandOver(t *testing.T) {
	u := open(leak, subnet, launched(report.Missed, "i-1", "i-3"), launched(report.Joined, "i-2"), state(incident.Cleared, 8))
	for name, test := range map[string]struct {
		o        *incident.Update
		affected []string
		reasons  []incident.Reason
	}{
		"those that wait":    {open(empty, subnet, func(u *incident.Update) { u.Seen = at(8) }), []string{"i-1", "i-3"}, []incident.Reason{incident.MoreAffected}},
		"those that it has":  {open(empty, subnet, launched(report.Missed, "i-1", "i-3"), func(u *incident.Update) { u.Seen = at(8) }), []string{"i-1", "i-3"}, nil},
		"none, if it is old": {open(empty, subnet, repeated, func(u *incident.Update) { u.Seen = at(8) }), nil, nil},
	} {
		given := with(u)
		look(report.Observation{}, given, test.o).Supersede(given)
		var affected []string
		for _, l := range test.o.Launches {
			affected = append(affected, l.Instance)
		}
		if diff := cmp.Diff(test.affected, affected); diff != "" || given.By == nil || *given.By != test.o.Key {
			t.Errorf("%s: by %v, affected (-want +got):\n%s", name, given.By, diff)
		}
		if diff := cmp.Diff(test.reasons, test.o.Reasons); diff != "" {
			t.Errorf("%s: reasons (-want +got):\n%s", name, diff)
		}
	}
}

func TestLaunchesOf(t *testing.T) {
	obs := report.Observation{Launches: []report.Launch{{Instance: "i-1", Status: report.Joined}, {Instance: "i-2", Status: report.Missed}}}
	ofNodes := diagnosis.Cause{Check: checkid.IPLeakedInterfaces, Instances: []string{"i-1", "i-2", "i-3"}}
	ofPods := ofNodes
	ofPods.Symptoms = []checkid.ID{checkid.IPPodWithoutAddress}
	for name, test := range map[string]struct {
		cause diagnosis.Cause
		want  []string
	}{
		"of launches":     {ofNodes, []string{"i-1", "i-2", "i-3"}},
		"of Ready nodes'": {ofPods, []string{"i-2", "i-3"}},
	} {
		var got []string
		for _, l := range LaunchesOf(obs, test.cause) {
			got = append(got, l.Instance)
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}
