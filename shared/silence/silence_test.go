package silence

import (
	"errors"
	"slices"
	"testing"
	"time"

	"rollcall/shared/spoke"
	"rollcall/tools/expect"
)

// TestBounds: what is just allowed, and what is just not.
func TestBounds(t *testing.T) {
	lasting := func(d time.Duration) func(*Silence) { return func(s *Silence) { s.Until = s.From.Add(d) } }
	beginning := func(d time.Duration) func(*Silence) {
		return func(s *Silence) { s.From = s.At.Add(d); s.Until = s.From.Add(time.Hour) }
	}
	weekly := func(day time.Weekday, from, to time.Duration) func(*Silence) {
		return func(s *Silence) { s.Weekly = &Window{day, from, to} }
	}
	for name, test := range map[string]struct {
		change func(*Silence)
		want   error
	}{
		"as it is":                           {func(*Silence) {}, nil},
		"without an id":                      {func(s *Silence) { s.ID = "" }, ErrNobody},
		"a nodegroup":                        {func(s *Silence) { s.Nodegroup = "workers" }, nil},
		"a tag":                              {func(s *Silence) { s.Tag = &Tag{"team", "payments"} }, nil},
		"a nodegroup and a tag":              {func(s *Silence) { s.Nodegroup, s.Tag = "workers", &Tag{"team", "payments"} }, ErrNarrowed},
		"the shortest":                       {lasting(Shortest), nil},
		"shorter":                            {lasting(Shortest - 1), ErrShort},
		"a day without a reason":             {lasting(UnreasonedFor), nil},
		"more than a day without a reason":   {lasting(UnreasonedFor + 1), ErrReason},
		"the furthest ahead":                 {beginning(LeadTime), nil},
		"further ahead":                      {beginning(LeadTime + 1), ErrBegins},
		"as late as it may be written":       {beginning(-late), nil},
		"later":                              {beginning(-late - 1), ErrBegins},
		"on Sundays from midnight":           {weekly(time.Sunday, 0, time.Hour), nil},
		"on Saturdays until the last moment": {weekly(time.Saturday, time.Hour, day-1), nil},
		"until midnight":                     {weekly(time.Monday, 22*time.Hour, 0), nil},
		"before Sunday":                      {weekly(time.Sunday-1, 0, time.Hour), ErrWindow},
		"after Saturday":                     {weekly(time.Saturday+1, 0, time.Hour), ErrWindow},
		"from before the day":                {weekly(time.Monday, -1, time.Hour), ErrWindow},
		"from after the day":                 {weekly(time.Monday, day, time.Hour), ErrWindow},
		"to before the day":                  {weekly(time.Monday, time.Hour, -1), ErrWindow},
		"to after the day":                   {weekly(time.Monday, time.Hour, day), ErrWindow},
		"of no time":                         {weekly(time.Monday, time.Hour, time.Hour), ErrWindow},
	} {
		s := whole()
		test.change(&s)
		if err := s.Sound(); !errors.Is(err, test.want) {
			t.Errorf("%s: %v, want %v", name, err, test.want)
		}
	}
}

func TestStanding(t *testing.T) {
	s := whole()
	if !s.Standing(now) || !s.Standing(s.Until.Add(-1)) || s.Standing(s.Until) {
		t.Error("it stands until its end, and no longer")
	}
	s.Ended = now
	if s.Standing(now) {
		t.Error("it stands after a person ended it")
	}
	s.Spoke = payments
	if of := s.SpokeCluster(); of.ID != payments || of.Name != "prod" {
		t.Errorf("it is of %+v", of)
	}
}

// TestEnds: what a window hides is posted when that ends, or the silence.
func TestEnds(t *testing.T) {
	s := whole()
	s.Weekly = &Window{time.Tuesday, 11 * time.Hour, 12*time.Hour + 30*time.Minute}
	if got := s.Ends(now); !got.Equal(now.Add(30 * time.Minute)) {
		t.Errorf("within the window it ends %s", got)
	}
	if got := s.Ends(now.Add(45 * time.Minute)); !got.Equal(s.Until) {
		t.Errorf("outside of it, it ends %s", got)
	}
	s.Until = now.Add(10 * time.Minute)
	if got := s.Ends(now); !got.Equal(s.Until) {
		t.Errorf("a silence that is over before its window ends %s", got)
	}
	// Elsewhere it is another day by then.
	s = whole()
	s.Weekly = &Window{time.Tuesday, 23 * time.Hour, 23*time.Hour + 30*time.Minute}
	tokyo := time.FixedZone("JST", 9*60*60)
	expect.Equal(t, "at noon it", s.Time(time.Date(2026, 11, 24, 12, 0, 0, 0, time.UTC).In(tokyo)), OutsideWindow)
	s.From, s.Until = now, now.AddDate(0, 0, 8)
	expect.Equal(t, "within the window, by another clock, it", s.Time(time.Date(2026, 11, 24, 23, 10, 0, 0, time.UTC).In(tokyo)), Hides)
	if got := s.Ends(time.Date(2026, 12, 1, 23, 10, 0, 0, time.UTC)); !got.Equal(time.Date(2026, 12, 1, 23, 30, 0, 0, time.UTC)) {
		t.Errorf("a week later it ends %s", got)
	}
}

// TestOf: what does not hide does not stand before what does, and keys are asked for once
// for each silence that has one.
func TestOf(t *testing.T) {
	other, short, long := whole(), whole(), whole()
	other.Cluster = "prod-2"
	short.ID, long.ID = "short", "long"
	long.Until = now.Add(2 * time.Hour)
	if got, hidden := Hiding([]Silence{other, long, short}, subject(), now); !hidden || got.ID != "long" {
		t.Errorf("hidden %t by %s", hidden, got.ID)
	}
	if got, hidden := Hiding([]Silence{other}, subject(), now); hidden || got.ID != "" {
		t.Errorf("hidden by %s of another cluster", got.ID)
	}
	tagged := whole()
	tagged.Tag = &Tag{"team", "payments"}
	if got := TagKeys([]Silence{short, tagged}); !slices.Equal(got, []string{"team"}) {
		t.Errorf("keys %q", got)
	}
}

// TestLast: a window that begins later today began last a week ago.
func TestLast(t *testing.T) {
	w := Window{time.Tuesday, 13 * time.Hour, 14 * time.Hour}
	if got := w.last(now); !got.Equal(now.Add(time.Hour).AddDate(0, 0, -7)) {
		t.Errorf("it began %s", got)
	}
	if got := w.last(now.Add(time.Hour)); !got.Equal(now.Add(time.Hour)) {
		t.Errorf("at its beginning it began %s", got)
	}
}

// A Tuesday.
var now = time.Date(2026, 11, 24, 12, 0, 0, 0, time.UTC)

func whole() Silence {
	return Silence{
		ID: "ab12cd34", Format: Format, Cluster: "prod", From: now.Add(-time.Hour), Until: now.Add(time.Hour), At: now.Add(-time.Hour),
		By: Person{ID: "U0ONCALL01"},
	}
}

func subject() Subject {
	return Subject{
		Cluster: "prod", Check: "route/no-egress", Nodegroups: []string{"workers"},
		Tags: map[string]map[string]string{"workers": {"team": "payments"}},
	}
}

var payments = spoke.ID{Account: "222233334444", Region: "eu-west-1"}

// TestNearMisses: what is nearly meant is posted. Each case differs from one that is hidden
// in one thing.
func TestNearMisses(t *testing.T) {
	for name, test := range map[string]struct {
		silence func(*Silence)
		subject func(*Subject)
		want    Verdict
	}{
		"another cluster":                        {func(s *Silence) { s.Cluster = "prod-2" }, nil, OtherCluster},
		"in capitals":                            {func(s *Silence) { s.Cluster = "Prod" }, nil, OtherCluster}, // EKS: names are case-sensitive
		"the same name in another account":       {nil, func(s *Subject) { s.Spoke = payments }, OtherAccount},
		"the same name in another region":        {func(s *Silence) { s.Spoke = payments }, func(s *Subject) { s.Spoke = spoke.ID{Account: "222233334444", Region: "us-west-2"} }, OtherAccount},
		"the hub's, meant in another account":    {func(s *Silence) { s.Spoke = payments }, nil, OtherAccount},
		"another check":                          {func(s *Silence) { s.Check = "route/blackhole" }, nil, OtherCheck},
		"another nodegroup":                      {func(s *Silence) { s.Nodegroup = "batch" }, nil, OtherNodegroup},
		"one nodegroup of two":                   {func(s *Silence) { s.Nodegroup = "workers" }, func(s *Subject) { s.Nodegroups = []string{"workers", "batch"} }, OtherNodegroup},
		"a nodegroup, and none is known":         {func(s *Silence) { s.Nodegroup = "workers" }, func(s *Subject) { s.Nodegroups = nil }, NoNodegroup},
		"another value of the tag":               {func(s *Silence) { s.Tag = &Tag{"team", "search"} }, nil, OtherTag},
		"another key of the tag":                 {func(s *Silence) { s.Tag = &Tag{"Team", "payments"} }, nil, OtherTag},
		"an empty value, and there is no tag":    {func(s *Silence) { s.Tag = &Tag{"owner", ""} }, nil, OtherTag},
		"the tag of one nodegroup of two":        {func(s *Silence) { s.Tag = &Tag{"team", "payments"} }, func(s *Subject) { s.Nodegroups = []string{"workers", "batch"} }, OtherTag},
		"the tag of another one of its cluster":  {func(s *Silence) { s.Tag = &Tag{"team", "payments"} }, func(s *Subject) { s.Nodegroups = []string{"batch"} }, OtherTag},
		"a tag, and no nodegroup is known":       {func(s *Silence) { s.Tag = &Tag{"team", "payments"} }, func(s *Subject) { s.Nodegroups = nil }, NoNodegroup},
		"it has not begun":                       {func(s *Silence) { s.From = now.Add(time.Nanosecond) }, nil, NotBegun},
		"it ended this very moment":              {func(s *Silence) { s.Until = now }, nil, RanOut},
		"a person ended it":                      {func(s *Silence) { s.Ended = now.Add(-time.Second) }, nil, EndedEarly},
		"the window is of another day":           {func(s *Silence) { s.Weekly = &Window{time.Wednesday, 11 * time.Hour, 13 * time.Hour} }, nil, OutsideWindow},
		"the window ends now":                    {func(s *Silence) { s.Weekly = &Window{time.Tuesday, 11 * time.Hour, 12 * time.Hour} }, nil, OutsideWindow},
		"the window begins in a moment":          {func(s *Silence) { s.Weekly = &Window{time.Tuesday, 12*time.Hour + time.Second, 13 * time.Hour} }, nil, OutsideWindow},
		"the window over midnight ended today":   {func(s *Silence) { s.Weekly = &Window{time.Monday, 22 * time.Hour, 2 * time.Hour} }, nil, OutsideWindow},
		"Rollcall cannot see":                    {nil, func(s *Subject) { s.Own = true }, OwnTrouble},
		"Rollcall cannot see, meant by its name": {func(s *Silence) { s.Check = "rollcall/cannot-look" }, func(s *Subject) { s.Own, s.Check = true, "rollcall/cannot-look" }, OwnTrouble},

		"all of the cluster":       {nil, nil, Hides},
		"the check":                {func(s *Silence) { s.Check = "route/no-egress" }, nil, Hides},
		"the nodegroup":            {func(s *Silence) { s.Nodegroup = "workers" }, nil, Hides},
		"the tag":                  {func(s *Silence) { s.Tag = &Tag{"team", "payments"} }, nil, Hides},
		"in its account":           {func(s *Silence) { s.Spoke = payments }, func(s *Subject) { s.Spoke = payments }, Hides},
		"it begins now":            {func(s *Silence) { s.From = now }, nil, Hides},
		"the window":               {func(s *Silence) { s.Weekly = &Window{time.Tuesday, 12 * time.Hour, 13 * time.Hour} }, nil, Hides},
		"the window over midnight": {func(s *Silence) { s.Weekly = &Window{time.Monday, 22 * time.Hour, 13 * time.Hour} }, nil, Hides},
	} {
		s, of := whole(), subject()
		if test.silence != nil {
			test.silence(&s)
		}
		if test.subject != nil {
			test.subject(&of)
		}
		expect.Equal(t, name, s.Judge(of, now), test.want)
		if _, hidden := Hiding([]Silence{s}, of, now); hidden != (test.want == Hides) {
			t.Errorf("%s: hidden %t", name, hidden)
		}
	}
}

func TestSound(t *testing.T) {
	for name, test := range map[string]struct {
		change func(*Silence)
		want   error
	}{
		"as it is":               {func(*Silence) {}, nil},
		"no cluster":             {func(s *Silence) { s.Cluster = "" }, ErrCluster},
		"nobody's":               {func(s *Silence) { s.By = Person{Name: "x"} }, ErrNobody},
		"a minute":               {func(s *Silence) { s.Until = s.From.Add(time.Minute) }, ErrShort},
		"backwards":              {func(s *Silence) { s.Until = s.From.Add(-time.Hour) }, ErrShort},
		"a day":                  {func(s *Silence) { s.Until = s.From.Add(UnreasonedFor) }, nil},
		"more, without a reason": {func(s *Silence) { s.Until = s.From.Add(UnreasonedFor + time.Second) }, ErrReason},
		"more, with blanks":      {func(s *Silence) { s.Until, s.Reason = s.From.Add(UnreasonedFor+time.Second), " \n" }, ErrReason},
		"the longest":            {func(s *Silence) { s.Until, s.Reason = s.From.Add(Longest), "upgrade" }, nil},
		"longer":                 {func(s *Silence) { s.Until, s.Reason = s.From.Add(Longest+time.Second), "upgrade" }, ErrLong},
		"in the past":            {func(s *Silence) { s.From = s.At.Add(-late - time.Second) }, ErrBegins},
		"in two months":          {func(s *Silence) { s.From = s.At.Add(LeadTime + time.Second); s.Until = s.From.Add(time.Hour) }, ErrBegins},
		"both":                   {func(s *Silence) { s.Nodegroup, s.Tag = "a", &Tag{"b", "c"} }, ErrNarrowed},
		"an empty window":        {func(s *Silence) { s.Weekly = &Window{time.Monday, time.Hour, time.Hour} }, ErrWindow},
		"a window of no day":     {func(s *Silence) { s.Weekly = &Window{7, 0, time.Hour} }, ErrWindow},
	} {
		s := whole()
		test.change(&s)
		if err := s.Sound(); !errors.Is(err, test.want) || (test.want == nil) != (err == nil) {
			t.Errorf("%s: %v, want %v", name, err, test.want)
		}
	}
}

// Of several the one that hides longest counts, by the window's end too.
func TestTheLongest(t *testing.T) {
	short, long, weekly := whole(), whole(), whole()
	short.ID, long.ID, weekly.ID = "short", "long", "weekly"
	long.Until = now.Add(3 * time.Hour)
	weekly.Until, weekly.Weekly = now.Add(100*time.Hour), &Window{time.Tuesday, 11 * time.Hour, 14 * time.Hour}
	got, _ := Hiding([]Silence{short, weekly, long}, subject(), now)
	if got.ID != "long" || !weekly.Ends(now).Equal(now.Add(2*time.Hour)) {
		t.Errorf("%s, the window ends at %s", got.ID, weekly.Ends(now))
	}
}

// A window covers as much of each week as it lasts, whatever the day.
func TestWindowsOfAWeek(t *testing.T) {
	for _, w := range []Window{{time.Sunday, 22 * time.Hour, 2 * time.Hour}, {time.Saturday, 0, 23 * time.Hour}, {time.Wednesday, 5 * time.Hour, 6 * time.Hour}} {
		minutes := 0
		for at := now; at.Before(now.AddDate(0, 0, 7)); at = at.Add(time.Minute) {
			if ends, yes := w.covers(at); yes {
				minutes++
				if left := ends.Sub(at); left <= 0 || left > w.lasts() {
					t.Fatalf("%v at %s: %s are left", w, at, left)
				}
			}
		}
		if got := time.Duration(minutes) * time.Minute; got != w.lasts() {
			t.Errorf("%v covers %s of a week, want %s", w, got, w.lasts())
		}
	}
}
