package simclock

import (
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"slices"
	"sync"
	"time"
)

// patient is a clock that slows down while anybody works.
type patient struct {
	rate, slow float64 // while nobody works, and while anybody does

	mu      sync.Mutex
	stage   time.Time // the anchor, moved whenever the pace changes
	wall    time.Time
	working int
	// next is the pace from when nobody works: those that work read the line of theirs.
	next   *[2]float64
	timers []*patientTimer // those that have not fired, in no order
	file   *os.File
	err    error // the first of the file
}

type patientTimer struct {
	at   time.Time
	ch   chan<- time.Time
	wake *time.Timer
}

// NewPatient returns a clock that shows stage at the wall time wall, and runs
// rate times as fast as the wall while nobody works, and slow times while anybody
// does. It tells other processes the time by a file at path, which it creates;
// Close removes it.
//
// Only those that work may read the file: it holds the line on which the time runs
// while anybody works.
func NewPatient(stage, wall time.Time, rate, slow float64, path string) (*Clock, error) {
	c := New(stage, wall, rate)
	file, err := os.Create(path)
	if err != nil {
		return nil, fmt.Errorf("the stage clock's file: %w", err)
	}
	if !(slow > 0) {
		slow = 1
	}
	c.patient = &patient{rate: c.rate, slow: min(slow, c.rate), stage: stage, wall: wall, file: file}
	c.patient.tell()
	return c, c.patient.err
}

// Close removes the file of a patient clock; other clocks have nothing to close.
// The error is that of the first write that failed: from then on other processes
// had a wrong time.
func (c *Clock) Close() error {
	if c.patient == nil {
		return nil
	}
	p := c.patient
	p.mu.Lock()
	defer p.mu.Unlock()
	p.file.Close()
	if err := os.Remove(p.file.Name()); err != nil && p.err == nil {
		p.err = err
	}
	return p.err
}

// Work slows a patient clock down until the function that it returns is called
// for the first time. Other clocks take no notice.
func (c *Clock) Work() (done func()) {
	if c.patient == nil {
		return func() {}
	}
	c.patient.work(1)
	return sync.OnceFunc(func() { c.patient.work(-1) })
}

func (p *patient) work(n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	before := p.working
	if p.working += n; (before > 0) == (p.working > 0) {
		return
	}
	// The line goes on from here with another slope.
	wall := time.Now()
	slope := p.rate
	if before > 0 {
		slope = p.slow
	}
	p.stage, p.wall = p.stage.Add(time.Duration(float64(wall.Sub(p.wall))*slope)), wall
	if p.working > 0 {
		p.tell()
	} else if p.next != nil {
		p.rate, p.slow, p.next = p.next[0], p.next[1], nil
	}
	for _, t := range p.timers {
		t.wake.Reset(p.until(t.at))
	}
}

// SetPace has a patient clock run rate times as fast as the wall while nobody works, and
// slow times while anybody does: from now on, or from when the last one has ended. Other
// clocks take no notice, and Rate stays what it was.
func (c *Clock) SetPace(rate, slow float64) {
	if c.patient == nil {
		return
	}
	p := c.patient
	p.mu.Lock()
	p.next = &[2]float64{rate, min(slow, rate)}
	p.mu.Unlock()
	c.Work()() // whose end applies it, if nobody else works
}

// pace is how many times as fast as the wall it runs now.
func (p *patient) pace() float64 {
	if p.working > 0 {
		return p.slow
	}
	return p.rate
}

func (p *patient) at(wall time.Time) time.Time {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.line(wall)
}

func (p *patient) line(wall time.Time) time.Time {
	return p.stage.Add(time.Duration(float64(wall.Sub(p.wall)) * p.pace()))
}

// until is how long it takes on the wall to reach t, if the pace stays.
func (p *patient) until(t time.Time) time.Duration {
	return max(time.Duration(float64(t.Sub(p.line(time.Now())))/p.pace()), 0)
}

// add is the timer that fires after d; stop tells whether that was before it fired.
func (p *patient) add(d time.Duration, ch chan<- time.Time) (stop func() bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	t := &patientTimer{at: p.line(time.Now()).Add(d), ch: ch}
	p.timers = append(p.timers, t)
	t.wake = time.AfterFunc(p.until(t.at), func() { p.fire(t) })
	return func() bool {
		p.mu.Lock()
		defer p.mu.Unlock()
		t.wake.Stop()
		return p.remove(t)
	}
}

// fire fires a timer, unless it was stopped, or woke before its time because the
// pace changed as it did.
func (p *patient) fire(t *patientTimer) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if left := p.until(t.at); left > 0 {
		t.wake.Reset(left)
		return
	}
	if p.remove(t) {
		t.ch <- p.line(time.Now()) // it has room for one
	}
}

func (p *patient) remove(t *patientTimer) bool {
	i := slices.Index(p.timers, t)
	if i < 0 {
		return false
	}
	p.timers = slices.Delete(p.timers, i, i+1)
	return true
}

// tell writes the line of those that work: the stage time and the wall time of the
// anchor, and the slope, of eight bytes each. It is written while nobody reads it.
func (p *patient) tell() {
	var line [24]byte
	for i, v := range []uint64{uint64(p.stage.UnixNano()), uint64(p.wall.UnixNano()), math.Float64bits(p.slow)} {
		binary.LittleEndian.PutUint64(line[8*i:], v)
	}
	if _, err := p.file.WriteAt(line[:], 0); err != nil && p.err == nil {
		p.err = fmt.Errorf("write the stage clock's file: %w", err)
	}
}
