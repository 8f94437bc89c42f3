package detect

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"rollcall/shared/node/outcome"
	"rollcall/shared/snapshot"
	"rollcall/shared/store"
)

// contested is a table whose record others write: so many times between a read
// and the write that follows it.
type contested struct {
	have    *store.LaunchRecord
	others  int
	read    int
	written int
}

func (c *contested) GetLaunches(context.Context, []string) (map[string]store.LaunchRecord, error) {
	c.read++
	if c.have == nil {
		return nil, nil
	}
	return map[string]store.LaunchRecord{c.have.ID(): *c.have}, nil
}

func (c *contested) CreateLaunch(_ context.Context, l store.LaunchRecord) (bool, error) {
	if c.have != nil {
		return false, nil
	}
	c.have = &l
	return true, nil
}

func (c *contested) SaveLaunch(_ context.Context, l store.LaunchRecord) error {
	if c.others > 0 {
		c.others--
		return fmt.Errorf("save: %w", &store.Conflict{Record: l.ID(), Over: l.Version})
	}
	c.have, c.written = &l, c.written+1
	return nil
}

// TestSaveLaunch: what is known of a launch gets into its record, whoever else
// writes it, and nothing is taken out of it.
func TestSaveLaunch(t *testing.T) {
	noticed, missed := time.Unix(100, 0), time.Unix(200, 0)
	theirs := store.LaunchRecord{Version: 2}
	theirs.Instance, theirs.Status = "i-1", outcome.Waiting
	theirs.Learn(outcome.Facts{Noticed: noticed})
	mine := store.LaunchRecord{Version: 1}
	mine.Instance, mine.Status = "i-1", outcome.Missed
	mine.Learn(outcome.Facts{Missed: missed})
	for name, test := range map[string]struct {
		recorded  bool
		table     contested
		lost      int
		fails     bool
		both      bool
		unwritten bool
	}{
		"a new record":                       {false, contested{}, 0, false, false, false},
		"a record of nobody else":            {true, contested{}, 0, false, false, false},
		"somebody else recorded it":          {false, contested{have: &theirs}, 1, false, true, false},
		"somebody else wrote it":             {true, contested{have: &theirs, others: 1}, 1, false, true, false},
		"somebody else wrote it three times": {true, contested{have: &theirs, others: 3}, 3, false, true, false},
		"somebody else writes it always":     {true, contested{have: &theirs, others: 9}, 3, true, false, true},
		"it expired meanwhile":               {true, contested{others: 1}, 1, false, false, true},
		"somebody else knows all that":       {true, contested{have: &mine, others: 1}, 1, false, false, true},
	} {
		s, table := newStand(), test.table
		err := s.SaveLaunch(t.Context(), &table, test.recorded, mine)
		if lost := new(LostRaces); errors.As(err, &lost) != test.fails || err != nil && !test.fails {
			t.Errorf("%s: %v", name, err)
		}
		if s.counts["LostRaces"] != test.lost {
			t.Errorf("%s: %d races lost, want %d", name, s.counts["LostRaces"], test.lost)
		}
		if test.unwritten {
			if table.written > 0 {
				t.Errorf("%s: it was written", name)
			}
			continue
		}
		if got := table.have; !got.Missed.Equal(missed) || got.Noticed.Equal(noticed) != test.both || got.Status != outcome.Missed {
			t.Errorf("%s: the record is %+v", name, got)
		}
	}
}

// TestFresh: a launch begins with the earliest of what is known.
func TestFresh(t *testing.T) {
	learned := Learned{Setting: 5 * time.Minute, Now: began}
	earlier, later := began.Add(-10*time.Second), began.Add(10*time.Second)
	for name, test := range map[string]struct{ launched, clock, want time.Time }{
		"EC2 alone":         {began, time.Time{}, began},
		"an event before":   {began, earlier, earlier},
		"an event after":    {began, later, began},
		"EC2 does not tell": {time.Time{}, later, later},
	} {
		l := Fresh("prod", snapshot.Instance{ID: "i-1", Launched: test.launched}, test.clock, learned)
		if !l.Started.Equal(test.want) || !l.Due.Equal(test.want.Add(5*time.Minute)) || l.Cluster != "prod" || l.Instance != "i-1" {
			t.Errorf("%s: %+v", name, l)
		}
	}
}

func TestNamedByUserData(t *testing.T) {
	got := NamedByUserData([]snapshot.UserData{
		{Instances: []string{"i-1", "i-2"}, Data: []byte("#!/bin/bash\n/etc/eks/bootstrap.sh prod\n")},
		{Instances: []string{"i-3"}, Data: []byte("#!/bin/bash\necho hello\n")},
	})
	if len(got) != 2 || got["i-1"] != "prod" || got["i-2"] != "prod" {
		t.Errorf("%v", got)
	}
}
