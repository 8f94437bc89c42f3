package silence

import (
	"errors"
	"slices"
	"testing"
	"time"
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
		"the furthest ahead":                 {beginning(Ahead), nil},
		"further ahead":                      {beginning(Ahead + 1), ErrBegins},
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
	if of := s.Of(); of.ID != payments || of.Name != "prod" {
		t.Errorf("it is of %+v", of)
	}
}

// TestEnds: what a window hides is told when that ends, or the silence.
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
	if got := s.Time(time.Date(2026, 11, 24, 12, 0, 0, 0, time.UTC).In(tokyo)); got != OutsideWindow {
		t.Errorf("at noon it is %s", got)
	}
	s.From, s.Until = now, now.AddDate(0, 0, 8)
	if got := s.Time(time.Date(2026, 11, 24, 23, 10, 0, 0, time.UTC).In(tokyo)); got != Hides {
		t.Errorf("within the window, by another clock, it is %s", got)
	}
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
	if got, hidden := Of([]Silence{other, long, short}, subject(), now); !hidden || got.ID != "long" {
		t.Errorf("hidden %t by %s", hidden, got.ID)
	}
	if got, hidden := Of([]Silence{other}, subject(), now); hidden || got.ID != "" {
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
